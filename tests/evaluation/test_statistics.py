"""Win rates and their errors, compared with scipy and with long runs of matches."""

import math

import numpy as np
import pytest
from scipy import stats

from equilibrist.errors import InvalidValueError, UnknownNameError
from equilibrist.evaluation.statistics import Results, learning, match_statistics
from equilibrist.games.catalog import get_game

HOLDEM = get_game("holdem-limit")


def test_interval_and_p_value_are_students(limit):
    results = limit.draw(np.random.default_rng(0), 400)
    ours = match_statistics(results)
    theirs = stats.ttest_1samp(results, 0)
    interval = theirs.confidence_interval()
    assert ours.estimate.p_value == pytest.approx(theirs.pvalue, rel=1e-9)
    assert ours.estimate.ci95 == pytest.approx((interval.low, interval.high), rel=1e-9)
    assert ours.standard_deviation == pytest.approx(results.std(ddof=1))


def test_units_of_limit_holdem():
    results = np.array([30.0, -10.0, 40.0, 20.0])  # 20 chips per hand: two small bets
    rates = {
        unit: match_statistics(results, rules=HOLDEM, unit=unit).win_rate
        for unit in ("mbb/g", "bb/100", "sb/h", "chips")
    }
    assert rates == {"mbb/g": 2000, "bb/100": 200, "sb/h": 2, "chips": 20}
    assert match_statistics(results, rules=HOLDEM).unit == "mbb/g"


def test_a_pair_of_hands_is_one_result():
    # Both hands of a pair win the same: two hands carry no more information than one.
    hands = np.random.default_rng(1).normal(3, 50, 500)
    single = match_statistics(hands)
    paired = match_statistics(2 * hands, hands_each=2)
    assert (paired.hands, single.hands) == (1000, 500)
    assert paired.win_rate == pytest.approx(single.win_rate)
    assert paired.estimate.ci95 == pytest.approx(single.estimate.ci95)
    assert paired.standard_deviation == pytest.approx(math.sqrt(2) * single.standard_deviation)


@pytest.mark.parametrize(
    ("name", "hands", "matches"), [("limit", 200, 20_000), ("nolimit", 20_000, 10_000)]
)
def test_intervals_cover_the_truth_95_times_in_100(name, hands, matches, request):
    outcomes, rng = request.getfixturevalue(name), np.random.default_rng(2)
    covered = 0
    for _ in range(matches):
        low, high = match_statistics(outcomes.draw_sorted(rng, hands)).estimate.ci95
        covered += low <= outcomes.mean <= high
    assert 0.94 <= covered / matches <= 0.96


def test_hands_needed_give_the_precision(limit):
    rng = np.random.default_rng(3)
    wanted = 1.5
    hands = match_statistics(limit.draw(rng, 5000)).hands_needed(wanted)
    low, high = match_statistics(limit.draw(rng, hands)).estimate.ci95
    assert (high - low) / 2 == pytest.approx(wanted, rel=0.1)
    pairs = match_statistics(limit.draw(rng, 5000), hands_each=2)
    assert pairs.hands_needed(wanted) % 2 == 0


def test_the_hands_of_a_verdict_decide_with_probability_four_fifths():
    rng = np.random.default_rng(4)
    start = match_statistics(np.tile([5.5, -4.5], 100))  # 0.5 per hand, deviation 5
    assert start.verdict.startswith("cannot tell: about ")
    decided = [
        match_statistics(rng.normal(0.5, start.standard_deviation, start.hands_to_decide()))
        for _ in range(2000)
    ]
    assert np.mean([match.verdict.startswith("A wins") for match in decided]) == pytest.approx(
        0.8, abs=0.03
    )


def test_verdicts_name_the_winner():
    lost = match_statistics([-3.0, -1.0] * 50, names=("Ann", "Bob"))
    assert lost.verdict == "Bob wins: 2.00 ± 0.20 chips, p < 0.0001, 100 hands"
    assert lost.win_rate == -2
    level = match_statistics([-1.0, 1.0], names=("Ann", "Bob"))
    assert level.verdict.startswith("cannot tell: Ann and Bob are level")
    assert level.hands_to_decide() is None
    assert "level, 0 ± 13 chips" in level.verdict  # and not −0
    assert match_statistics([-1.0, 0.9996] * 50).estimate.text("chips").startswith("0.00 ± ")


def test_equal_results_decide_only_if_there_are_enough():
    # Always-fold loses 7.5 chips per hand to always-raise with any cards, once seats are swapped.
    assert match_statistics([-15.0] * 2, hands_each=2).verdict.startswith("cannot tell")
    assert match_statistics([-15.0] * 6, hands_each=2).verdict.startswith(
        "B wins: 7.500 ± 0.000 chips"
    )
    assert match_statistics([0.0] * 100).estimate.p_value == 1


def test_json_holds_the_documented_fields():
    fields = match_statistics([30.0, -10.0] * 5, rules=HOLDEM).to_json()
    assert {"win_rate", "unit", "standard_error", "ci95", "hands", "verdict"} <= set(fields)
    assert (fields["win_rate"], fields["unit"], fields["hands"]) == (1000, "mbb/g", 10)


def test_a_learner_is_seen_to_learn_and_a_fixed_player_is_not(limit):
    rng = np.random.default_rng(5)
    fixed = np.stack([limit.draw(rng, 3000) for _ in range(20)])
    slope = np.linspace(-15, 15, 3000)
    assert learning(fixed).verdict.startswith("cannot tell whether A improves")
    learner = learning(fixed + slope)
    assert learner.verdict.startswith("A improves")
    assert learner.gain.ci95[0] < 27 < learner.gain.ci95[1]  # nine tenths of the way
    assert learning(fixed - slope).verdict.startswith("A gets worse")
    assert learner.overall.hands == 60_000
    assert learner.last.hands == learner.first.hands == 6000
    assert learner.gain.mean == pytest.approx(learner.last.win_rate - learner.first.win_rate)


def test_matches_that_differ_as_wholes_widen_the_error():
    # Hands of a match share its luck; taken as independent their error would be far too small.
    rng = np.random.default_rng(6)
    matches = rng.normal(0, 1, (30, 1000)) + rng.normal(0, 2, (30, 1))
    together = learning(matches).overall.estimate.standard_error
    alone = match_statistics(matches.ravel()).estimate.standard_error
    assert together == pytest.approx(2 / math.sqrt(30), rel=0.3)
    assert alone < together / 10


def test_one_match_is_compared_by_welchs_test(limit):
    results = limit.draw(np.random.default_rng(7), 2000) * np.linspace(1, 3, 2000)
    theirs = stats.ttest_ind(results[-200:], results[:200], equal_var=False)
    gain = learning(results).gain
    assert gain.p_value == pytest.approx(theirs.pvalue, rel=1e-9)
    assert gain.ci95 == pytest.approx(tuple(theirs.confidence_interval()), rel=1e-9)


@pytest.mark.parametrize(
    ("results", "options", "error", "words"),
    [
        ([], {}, InvalidValueError, "at least two"),
        ([4.0], {}, InvalidValueError, "at least two"),
        ([1.0, np.nan], {}, InvalidValueError, "result 1 is nan"),
        ([[1.0, 2.0]], {}, InvalidValueError, "shape"),
        ([1.0, 2.0], {"hands_each": 0}, InvalidValueError, "hands of a result"),
        ([1.0, 2.0], {"hands_each": 10**12 + 1}, InvalidValueError, "hands of a result"),
        ([1.0, 2.0], {"unit": "mbb/g"}, UnknownNameError, "no unit 'mbb/g'; units: chips"),
        ([1.0, 2.0], {"rules": HOLDEM, "unit": "euros"}, UnknownNameError, "mbb/g"),
    ],
)
def test_bad_results_raise_one_sentence(results, options, error, words):
    with pytest.raises(error, match=words):
        match_statistics(results, **options)


def test_results_include_their_hands_which_cannot_be_given_twice():
    pairs = Results(np.array([4.0, -2.0, 7.0]), hands_each=2)
    found = match_statistics(pairs)
    assert found == match_statistics(pairs.chips, hands_each=2)
    assert (found.win_rate, found.hands) == (1.5, 6)
    assert pairs.rates.tolist() == [2, -1, 3.5]
    with pytest.raises(InvalidValueError, match="2 hands each; omit hands_each"):
        match_statistics(pairs, hands_each=2)
    with pytest.raises(InvalidValueError, match="hands of a result"):
        Results([1.0, 2.0], hands_each=0)
    matches = Results(np.arange(40.0).reshape(2, 20), hands_each=2)
    assert learning(matches) == learning(matches.chips, hands_each=2)
    with pytest.raises(InvalidValueError, match="omit hands_each"):
        learning(matches, hands_each=1)


def test_too_few_hands_have_no_tenths():
    with pytest.raises(InvalidValueError, match="at least 20"):
        learning(np.zeros((3, 9)))
    with pytest.raises(InvalidValueError, match="above zero"):
        match_statistics([1.0, 2.0]).hands_needed(0)
