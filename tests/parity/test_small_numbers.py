"""Very small and very large numbers still become probabilities.

Every combination of NUMBERS is a state of one decision, so each kernel meets all of them at once.
The expected probabilities are computed in rational numbers.
"""

import functools
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from equilibrist.evaluation.real_game.positions import Lanes, find_positions, sequences_of
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.catalog import get_game
from equilibrist.kernels.array_structs import Treeplex
from equilibrist.kernels.cpu import external_sampling, sequence_form, table_sweeps, tables
from equilibrist.kernels.decision_rules import (
    EXPECTATION,
    LARGEST,
    REGRET,
    SMALLEST,
    regret_matching,
)
from equilibrist.kernels.parts import kernel
from equilibrist.kernels.reference import sequence_form as reference
from equilibrist.models.sections import whole_round
from equilibrist.models.spot import Chips, Spot
from equilibrist.papers.ectomynx.kernels import decisions
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import CFR
from equilibrist.solving.lean_cfr import TableCFR
from equilibrist.strategies.played import FixedMix
from equilibrist.strategies.spot_report import WholePlans

pytestmark = pytest.mark.kernels

# Python cannot call parts, so each gets a kernel of its own here.


@kernel(cache=False)
def realize(*arguments):
    tables.realize(*arguments)


@kernel(cache=False)
def fold(*arguments):
    tables.fold(*arguments)


@kernel(cache=False)
def match_regrets(*arguments):
    external_sampling._match_regrets(*arguments)


@kernel(cache=False)
def probability(scores, row, first, last, action):
    return decisions._probability(scores, row, first, last, action)


COMMON = (0.0, -1.0, SMALLEST / 4, SMALLEST, 1e-12, 1.0, 12345.0, LARGEST / 4, 2 * LARGEST)
NUMBERS = {
    "float32": (*COMMON, 1e-45, 2.3e-40, -2.3e-40, 1.2e-38, 3.4e38, -3.4e38),
    "float64": (*COMMON, 5e-324, 1e-310, -1e-310, 1e-200, 1.7e308, -1.7e308),
}
DTYPES = pytest.mark.parametrize("dtype", NUMBERS)


def combinations(dtype: str, size: int = 3) -> np.ndarray:
    """Return all combinations of numbers of actions: [A, S]."""
    return np.ascontiguousarray(np.array(list(product(NUMBERS[dtype], repeat=size)), dtype).T)


def expected(numbers: np.ndarray) -> np.ndarray:
    """Return the rule in rational numbers: [A, S]."""
    return _expected(tuple(map(tuple, numbers.T.tolist())))


@functools.cache
def _expected(columns: tuple[tuple[float, ...], ...]) -> np.ndarray:
    found = []
    for column in columns:
        positive = [Fraction(max(number, 0)) for number in column]
        total = sum(positive)
        is_counted = Fraction(SMALLEST) <= total <= Fraction(LARGEST)
        even = Fraction(1, len(column))
        found.append([float(number / total) if is_counted else float(even) for number in positive])
    return np.array(found).T


def one_decision(num_states: int, size: int = 3, rounds: int = 1) -> Treeplex:
    """Build a tree of one entry and one decision on one board; later rounds have no board."""
    later = [0] * (rounds - 1)

    def starts(*counts):
        return np.concatenate([[0], np.cumsum([*counts, *later])]).astype(np.int64)

    def places(*numbers):
        return np.array(numbers, np.int32)

    return Treeplex(
        num_sequences=np.full(rounds, 1 + size), board_start=starts(1),
        block_start=np.array([0, (1 + size) * num_states]), num_states=np.array([num_states]),
        board_parent=np.array([-1]), child_start=np.array([1, 1]),
        state_start=np.array([0, num_states]), state_parent=np.full(num_states, -1, np.int32),
        entry_start=starts(1), entry_parent=places(-1), decision_start=starts(1),
        decision_parent=places(0), decision_first=places(1), decision_size=places(size),
        locked=np.zeros(1, np.bool_),
    )  # fmt: skip


def check(found: np.ndarray, numbers: np.ndarray) -> None:
    """Assert that probabilities [A, S] are those of the rule."""
    assert np.isfinite(found).all()
    assert (found >= 0).all()
    rounding = 8 * np.finfo(found.dtype).eps
    assert (found <= 1 + rounding).all()
    np.testing.assert_allclose(found.sum(axis=0), 1, atol=rounding)
    np.testing.assert_allclose(found, expected(numbers), atol=rounding)


@DTYPES
def test_regret_matching_is_the_rule(dtype):
    numbers = combinations(dtype)
    check(regret_matching(numbers), numbers)


@DTYPES
def test_a_table_of_the_last_round_splits_a_reach(dtype):
    numbers = combinations(dtype)
    states = numbers.shape[1]
    tree, nothing = one_decision(states), np.zeros(0, dtype)
    plan, average = np.empty(4 * states, dtype), np.zeros(3 * states, dtype)
    at, weight = np.uint64(0), np.dtype(dtype).type(2)
    cut = whole_round(tree)
    realize(tree, cut, 0, cut.row, 0, nothing, numbers.ravel(), at, plan, average, weight)
    check(plan[states:].reshape(3, states), numbers)
    np.testing.assert_array_equal(average, 2 * plan[states:])


@pytest.mark.parametrize("reach", [1e-45, 2.3e-40, 1e-30])
def test_a_split_never_exceeds_a_small_reach(reach):
    """The entries of a second round are reached with a small probability."""
    numbers = combinations("float32")
    states, reach = numbers.shape[1], np.float32(reach)
    tree = one_decision(states, rounds=2)._replace(
        board_start=np.array([0, 1, 2]), block_start=np.array([0, 4, 8]) * states,
        num_states=np.array([states, states]), board_parent=np.array([-1, 0]),
        child_start=np.array([1, 2, 2]), state_start=np.array([0, states, 2 * states]),
        state_parent=np.tile(np.arange(states, dtype=np.int32), 2), entry_start=np.array([0, 1, 2]),
        entry_parent=np.array([-1, 1], np.int32), decision_start=np.array([0, 1, 2]),
        decision_parent=np.zeros(2, np.int32), decision_first=np.ones(2, np.int32),
        decision_size=np.full(2, 3, np.int32), locked=np.zeros(2, np.bool_),
    )  # fmt: skip
    trunk, plan = np.full(4 * states, reach), np.empty(4 * states, np.float32)
    at, none = np.uint64(0), np.float32(-1)
    cut = whole_round(tree)
    realize(tree, cut, 0, cut.row, 1, trunk, numbers.ravel(), at, plan, plan, none)
    assert (plan[:states] == reach).all()
    split = plan[states:].reshape(3, states).astype(np.float64)
    # Reach over the sum of the numbers may be off by half the least number of float32.
    bound = 1e-6 * reach + 2.0**-149 * (1 + np.minimum(numbers, LARGEST).max(axis=0).clip(0))
    assert (bound < 2.0**-50).all()
    assert (split >= 0).all()
    assert (split <= reach + bound).all()
    assert (np.abs(split - reach * expected(numbers)) <= bound).all()


@pytest.mark.parametrize("rule", [EXPECTATION, REGRET])
@DTYPES
def test_a_table_of_the_last_round_folds_up_a_mean(dtype, rule):
    numbers = combinations(dtype)
    states = numbers.shape[1]
    gains = np.array([-3.0, 0.25, 7.0], dtype)
    values = np.concatenate([np.zeros(states, dtype), np.repeat(gains, states)])
    table, factors = numbers.ravel().copy(), np.array([0.5, 0.25, 0], dtype)
    tree = one_decision(states)
    cut = whole_round(tree)
    fold(tree, cut, 0, cut.row, rule, 0, values, table, np.uint64(0), factors)
    mean = gains.astype(np.float64) @ expected(numbers)
    np.testing.assert_allclose(values[:states], mean, atol=1e-5)
    assert np.isfinite(table).all()
    if rule == REGRET:
        with np.errstate(over="ignore", under="ignore"):
            regret = numbers + gains[:, None] - values[:states]
        assert ((table.reshape(3, states) > 0) == (regret > 0)).all()


@pytest.mark.parametrize("prediction", [0.0, 1.0])
@DTYPES
def test_plans_of_cfr_match_regrets(dtype, prediction):
    numbers = combinations(dtype)
    states = numbers.shape[1]
    tree, factors = one_decision(states), np.array([1, 1, prediction], dtype)
    for step in (sequence_form.fold_up, reference.fold_up):
        # Values are zero, so regrets do not change.
        values, behaviour = np.zeros(4 * states, dtype), np.full(4 * states, 0.25, dtype)
        table = np.concatenate([np.zeros(states, dtype), numbers.ravel()])
        step(tree, REGRET, values, behaviour, table, factors)
        np.testing.assert_array_equal(table[states:], numbers.ravel())
        check(behaviour[states:].reshape(3, states), numbers)


@DTYPES
def test_a_trunk_matches_its_table(dtype):
    numbers = combinations(dtype)
    states = numbers.shape[1]
    table = np.concatenate([np.zeros(states, dtype), numbers.ravel()])
    behaviour = np.empty_like(table)
    table_sweeps.match_trunk(one_decision(states, rounds=2), table, behaviour)
    check(behaviour[states:].reshape(3, states), numbers)


@pytest.mark.parametrize("module", [sequence_form, reference], ids=["cpu", "reference"])
@DTYPES
def test_plans_and_averages_are_normalized(dtype, module):
    numbers = combinations(dtype)
    states = numbers.shape[1]
    tree, plan = one_decision(states), np.concatenate([np.ones(states, dtype), numbers.ravel()])
    behaviour = np.empty_like(plan)
    module.normalize(tree, plan, behaviour)
    check(behaviour[states:].reshape(3, states), numbers)
    external_sampling.normalise(tree, plan, behaviour)
    check(behaviour[states:].reshape(3, states), numbers)


@DTYPES
def test_walks_match_regrets(dtype):
    numbers = combinations(dtype, 2)
    behaviour, worth = np.empty_like(numbers), np.zeros(2)
    states = numbers.shape[1]
    for s in range(states):
        match_regrets(behaviour.reshape(-1), numbers.reshape(-1), s, states, 2, worth, 0, 0.0, 1.0)
    check(behaviour, numbers)


def test_scores_of_rows_become_probabilities():
    """Scores are never negative; they are divided one by one, so the smallest count as well."""
    numbers = np.abs(combinations("float32", 4))[:, ::7]
    scores = np.ascontiguousarray(numbers.T)
    rows = [[probability(scores, row, 0, 3, a) for a in range(4)] for row in range(len(scores))]
    found = np.array(rows)
    assert ((found >= 0) & (found <= 1)).all()
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-6)
    gains = np.zeros((1, len(scores), 4), np.int64)
    gains[0, :, 0], visits = 10**9, np.ones((1, len(scores)), np.int64)
    after = scores.copy()
    decisions.multiply_scores(after, gains, gains.copy(), visits, 1.0, 0.01)
    assert ((after >= 0) & (after <= 1)).all()
    # The first action takes all; other rows are zero where their sum is zero or too large.
    rest = scores[:, 1:].sum(axis=1, dtype=np.float64)
    is_row = (scores[:, 0] > 0) | ((rest > 0) & (rest < np.finfo(np.float32).max))
    assert not is_row.all()
    np.testing.assert_allclose(after.sum(axis=1), is_row, atol=1e-6)


@pytest.mark.parametrize("states", [1, 8, 21])
def test_numbers_of_16_bits_come_back_to_half_a_unit(states):
    rng = np.random.default_rng(states)
    numbers = np.array(NUMBERS["float32"], np.float32)
    rows = [np.full(states, number) for number in numbers]  # of one number each, and mixtures
    rows += [rng.choice(numbers, states) * np.float32(scale) for scale in (1, 1e-30, 0.1)]
    # Random numbers up to every power of two.
    rows += [rng.uniform(-1, 1, states) * 2.0**power for power in range(-149, 128, 4)]
    table = np.array(rows, np.float32)
    tree = one_decision(states, len(table))
    packed, scales = np.empty(table.size, np.int16), np.empty(len(table), np.float32)
    table_sweeps.pack_last(tree, whole_round(tree), table.ravel(), packed, scales)
    assert (np.abs(packed.astype(np.int32)) <= tables.MOST).all()
    largest = np.abs(table).max(axis=1)
    np.testing.assert_array_equal(scales, np.where(largest >= SMALLEST, largest, 0))
    found = packed.reshape(table.shape) * (scales / np.float32(tables.MOST))[:, None]
    unit = largest.astype(np.float64) / tables.MOST
    bound = np.where(largest >= SMALLEST, unit * 0.51, SMALLEST)  # rounding in float32 as well
    assert (np.abs(found.astype(np.float64) - table) <= bound[:, None]).all()


def test_probabilities_of_the_real_game_that_are_too_small_count_as_zero():
    seat = FixedMix(BettingTree.build(get_game("holdem-limit")), (0.1, 0.6, 0.3)).seat(0)
    rows = [*seat.rows[:-1], np.array([[1e-310]])]
    seat = replace(seat, rows=rows)
    found = sequences_of(seat, Lanes.of(seat, find_positions(seat)[-1], 16), 1081)
    assert np.isfinite(found.table).all()
    assert found.table.max() < 0.5  # units are whole numbers
    assert np.isfinite(found.unit).all()


# --- whole solvers --------------------------------------------------------------------------------

ROYAL = replace(get_game("holdem-nolimit"), name="royal-nolimit", num_ranks=5)
SHORT_LIMIT = replace(get_game("holdem-limit"), name="short-limit", num_ranks=5)


def filled(state, rng, parts):
    """Fill arrays of a state with random numbers of NUMBERS; averages are never negative."""
    for name, array in state.items():
        if not name.startswith(parts):
            continue
        if array.dtype == np.int16:
            array[:] = rng.integers(-tables.MOST, tables.MOST + 1, len(array))
        else:
            array[:] = rng.choice(np.array(NUMBERS[array.dtype.name], array.dtype), len(array))
        if "average" in name or "scale" in name:
            np.abs(array, out=array)


def all_finite(arrays) -> bool:
    return all(np.isfinite(array).all() for array in arrays)


@pytest.mark.parametrize("method", ["32 bits", "16 bits", "float32", "float64"])
@pytest.mark.parametrize("board", ["AsKsQhTh", "AsKsQhThTd"])
def test_iterations_stay_finite_from_any_numbers(board, method):
    spot = Spot.of(
        board,
        "JJ,AK,QTo",
        "AQ,QQ,KJs",
        Chips(pot=40, stack=90),
        bets="50%,a",
        raises="a",
        game=ROYAL,
    )
    game, rng = spot.build().game, np.random.default_rng(5)
    bits = int(method.split()[0]) if "bits" in method else 0
    solver = TableCFR(bits=bits) if bits else CFR(dtype=method)
    parts = ("regret", "last_regret", "average", "last_average")
    state = solver.init(game)
    filled(state, rng, parts)
    solver.step(game, state, 3)
    assert all_finite(array for name, array in state.items())
    plans = solver.plans(game, state)
    for player, plan in enumerate(plans):
        assert ((plan >= 0) & (plan <= 1 + 1e-5)).all()
        behaviour = game.behaviour(player, plan)
        assert ((behaviour >= 0) & (behaviour <= 1 + 1e-5)).all()
    values = [WholePlans(game, plans).values(player, 0) for player in (0, 1)]
    assert all_finite(values)
    found = solver.evaluate(game, state) if bits else evaluate(game, plans)
    assert all_finite([np.array([found.value, *found.best_response])])


@pytest.mark.parametrize(("bits", "iterations"), [(32, 27), (16, 6)])
def test_a_flop_with_tiny_regrets_stays_finite(bits, iterations):
    """Products of six actions that are nearly never taken leave regrets of 1e-45 here."""
    spot = Spot.of("AhJhKd", "KK", "AKs,KK", Chips(pot=4), game=SHORT_LIMIT)
    game, solver = spot.build().game, TableCFR(bits=bits)
    state = solver.init(game)
    solver.step(game, state, iterations)
    assert all_finite(state.values())
    assert 0 < solver.evaluate(game, state).exploitability < 100
