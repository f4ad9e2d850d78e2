"""Sequential tests of matches: false alarms, coverage, and the cost of continuous evaluation."""

import numpy as np
import pytest
from scipy.special import ndtri

from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.sequential import MixtureSPRT, SequentialTest

ALPHA = 0.05


def watch(results, rule=None):
    test = SequentialTest(rule or MixtureSPRT(alpha=ALPHA))
    test.add(results)
    return test


def alarms_of_a_naive_peeker(results):
    """Return whether Student's 95 % interval excludes zero at some evaluation after 100 results."""
    count = np.arange(1, len(results) + 1)
    mean = np.cumsum(results) / count
    variance = np.cumsum(results**2) / count - mean**2
    return (mean**2 > 1.96**2 * variance / count)[100:].any()


def false_alarms(outcomes, matches, hands, seed):
    """Return the share of matches of equals decided by the rule, and by a naive peeker."""
    rng, ours, naive = np.random.default_rng(seed), 0, 0
    for _ in range(matches):
        results = outcomes.draw(rng, hands) - outcomes.mean
        ours += watch(results).is_decided
        naive += alarms_of_a_naive_peeker(results)
    return ours / matches, naive / matches


def test_false_alarms_stay_below_the_level_with_continuous_evaluation(limit):
    ours, naive = false_alarms(limit, matches=1000, hands=10_000, seed=0)
    assert ours < ALPHA
    assert naive > 5 * ALPHA


@pytest.mark.slow
@pytest.mark.parametrize("name", ["limit", "nolimit"])
def test_false_alarms_of_long_and_of_skewed_matches(name, request):
    matches = 2000
    ours, naive = false_alarms(request.getfixturevalue(name), matches, hands=30_000, seed=1)
    # A skewness of 15 brings the rate to about its level; two standard errors are allowed for.
    assert ours < ALPHA + (name == "nolimit") * 2 * np.sqrt(ALPHA * (1 - ALPHA) / matches)
    assert naive > 5 * ALPHA


def test_intervals_hold_the_truth_at_all_times(limit):
    rng, held = np.random.default_rng(2), 0
    for _ in range(1000):
        low, high = watch(limit.draw(rng, 5000)).interval
        held += low <= limit.mean <= high
    assert held / 1000 > 1 - ALPHA


def test_parts_add_up_to_the_whole(limit):
    results = limit.draw(np.random.default_rng(3), 3000) + 3
    whole, parts = watch(results), SequentialTest(MixtureSPRT(alpha=ALPHA))
    for part in np.array_split(results, 91):
        parts.add(part)
    assert parts.decided_at == whole.decided_at is not None
    assert (parts.num_results, parts.p_value) == (3000, pytest.approx(whole.p_value, rel=1e-9))
    assert parts.interval == pytest.approx(whole.interval, rel=1e-9)
    assert whole.mean == pytest.approx(results.mean())


def test_p_value_and_interval_agree(limit):
    rng = np.random.default_rng(4)
    for shift in (-4.0, -1.0, 0.0, 2.0):
        test = watch(limit.draw(rng, 4000) + shift)
        assert test.is_decided == (test.p_value < ALPHA)
        assert test.is_decided == (not test.interval[0] <= 0 <= test.interval[1])


def test_the_ratio_is_the_mixture_of_normal_likelihoods():
    rule, n, z = MixtureSPRT(alpha=ALPHA), 400, 2.5
    means = np.linspace(-2, 2, 400_001)  # of a result, in its standard deviations
    prior = np.exp(-(means**2) / (2 * rule.rho)) / np.sqrt(2 * np.pi * rule.rho)
    likelihood = np.exp(n * (means * z / np.sqrt(n) - means**2 / 2))
    ratio = np.trapezoid(prior * likelihood, means)
    assert rule.p_value(n, z) == pytest.approx(1 / ratio, rel=1e-6)


@pytest.mark.parametrize("horizon", [500, 20_000])
def test_no_other_mixture_is_tighter_at_the_horizon(horizon):
    best = float(MixtureSPRT(horizon=horizon).half_width(horizon))
    others = [
        float(MixtureSPRT(horizon=round(horizon * factor)).half_width(horizon))
        for factor in (0.5, 0.8, 0.95, 1.05, 1.25, 2)
    ]
    assert best < min(others)


def test_the_cost_and_savings_of_continuous_evaluation():
    # A fixed number of results finds a win rate of a tenth deviation four times in five.
    rng, effect = np.random.default_rng(5), 0.1
    fixed = round(((ndtri(0.975) + ndtri(0.8)) / effect) ** 2)
    rule = MixtureSPRT(alpha=ALPHA, horizon=fixed)
    as_planned = [watch(rng.normal(effect, 1, 10 * fixed), rule).decided_at for _ in range(500)]
    better = [watch(rng.normal(3 * effect, 1, fixed), rule).decided_at for _ in range(500)]
    assert None not in as_planned  # a test that may continue always decides in the end
    assert fixed < np.mean(as_planned) < 1.5 * fixed
    assert None not in better
    assert np.mean(better) < 0.3 * fixed


def test_nothing_is_decided_too_early():
    results = np.tile([1.0, 1.1], 60)
    assert not watch(results[:99]).is_decided
    assert watch(results).decided_at == 100
    assert not watch(np.ones(1000)).is_decided  # no spread yet: nothing is known
    rare = np.full(2000, -1.0)
    rare[::500] = 400  # mean −0.2, but four results make all the difference
    assert not watch(rare).is_decided


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alpha": 0.0}, "between 0 and 1"),
        ({"alpha": 1.0}, "between 0 and 1"),
        ({"horizon": 0}, "the horizon is a whole number"),
        ({"horizon": 10**12 + 1}, "the horizon is a whole number"),
        ({"first_look": 1}, "the first look is a whole number"),
        ({"most_skew": 0.0}, "above zero"),
    ],
)
def test_bad_rules_raise_one_sentence(options, words):
    with pytest.raises(InvalidValueError, match=words):
        MixtureSPRT(**options)


def test_bad_results_raise_one_sentence():
    with pytest.raises(InvalidValueError, match="finite"):
        SequentialTest().add([1.0, np.inf])
    empty = SequentialTest()
    empty.add([])
    assert (empty.num_results, empty.mean) == (0, 0.0)
