"""Compiled steps compared with the reference, on random behaviour, for every leaf operator."""

import numpy as np
import pytest

from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.catalog import get_game
from equilibrist.games.rules import GameRules
from equilibrist.kernels.cpu import sequence_form as cpu
from equilibrist.kernels.reference import sequence_form as reference
from equilibrist.models.exact import exact_game, matrix_game

pytestmark = pytest.mark.kernels

# Two-round hold'em with eight cards, 2 suits × 4 ranks, and a no-limit toy with early all-ins.
TINY_HOLDEM = GameRules(
    name="tiny-holdem", betting="limit", blinds=(2, 1), raise_sizes=(2, 4), max_raises=(1, 2),
    first_players=(1, 0), num_suits=2, num_ranks=4, num_hole_cards=2, num_board_cards=(0, 3),
)  # fmt: skip
TINY_NOLIMIT = GameRules(
    name="tiny-nolimit", betting="nolimit", blinds=(1, 1), stacks=(8, 8), num_suits=2, num_ranks=3,
    num_hole_cards=1, num_board_cards=(0, 1),
)  # fmt: skip
GAMES = {
    "kuhn": lambda **k: exact_game(get_game("kuhn"), **k),
    "leduc": lambda **k: exact_game(get_game("leduc"), **k),
    "leduc by suits": lambda **k: exact_game(get_game("leduc"), symmetry="suits", **k),
    "tiny hold'em": lambda **k: exact_game(TINY_HOLDEM, **k),
    "tiny hold'em by cards": lambda **k: exact_game(TINY_HOLDEM, symmetry="cards", **k),
}


def random_behaviour(game, player, rng):
    probabilities = game.uniform(player)
    probabilities *= rng.random(len(probabilities)) + 1e-3
    tree = game.trees[player]
    for r in range(reference.num_rounds(tree)):
        for board in reference.boards(tree, r):
            rows_of_board = reference.block(tree, r, board, probabilities)
            for _, _, rows in reference.decisions(tree, r):
                rows_of_board[rows] /= rows_of_board[rows].sum(axis=0)
    return probabilities


STEPS = [(reference, 1), (cpu, 1), (cpu, 3)]  # programs and their number of threads


@pytest.fixture(params=GAMES)
def game(request):
    return GAMES[request.param]()


def test_realize_agrees(game):
    rng = np.random.default_rng(0)
    for player in (0, 1):
        behaviour = random_behaviour(game, player, rng)
        plans = [np.zeros_like(behaviour) for _ in range(2)]
        reference.realize(game.trees[player], behaviour, plans[0])
        for threads in (1, 3):
            cpu.realize(game.trees[player], behaviour, plans[1], threads)
            np.testing.assert_allclose(plans[1], plans[0], rtol=1e-14)


def test_normalize_agrees(game):
    rng = np.random.default_rng(6)
    for player in (0, 1):
        plan = game.realize(player, random_behaviour(game, player, rng))
        plan[rng.random(len(plan)) < 0.2] = 0
        both = [np.zeros_like(plan), np.zeros_like(plan)]
        reference.normalize(game.trees[player], plan, both[0])
        cpu.normalize(game.trees[player], plan, both[1])
        np.testing.assert_allclose(both[1], both[0], rtol=1e-14)


@pytest.mark.parametrize("leaves", ["dense", "sorted"])
@pytest.mark.parametrize("name", GAMES)
def test_gradient_agrees_for_both_leaf_operators(name, leaves):
    game, other = GAMES[name](leaves=leaves), GAMES[name](leaves="dense")
    rng = np.random.default_rng(1)
    for player in (0, 1):
        plan = game.realize(1 - player, random_behaviour(game, 1 - player, rng))
        truth = np.zeros(game.lengths[player])
        reference.gradient(game.trees, other.leaves, other.pairs, player, plan, truth)
        for step, threads in STEPS:
            values = np.full(game.lengths[player], np.nan)
            step.gradient(game.trees, game.leaves, game.pairs, player, plan, values, threads)
            np.testing.assert_allclose(values, truth, atol=1e-14)


@pytest.mark.parametrize("leaves", ["dense", "sorted"])
@pytest.mark.parametrize("name", GAMES)
def test_a_fold_pays_each_player_its_own_chips(name, leaves):
    game, other = GAMES[name](leaves=leaves), GAMES[name](leaves="dense")
    rng = np.random.default_rng(7)
    payoff = rng.normal(size=game.leaves.fold_payoff.shape)
    paying = game.leaves._replace(fold_payoff=payoff)
    for player in (0, 1):
        plan = game.realize(1 - player, random_behaviour(game, 1 - player, rng))
        # The truth: folds of a zero-sum game in which both players get this player's column.
        own = payoff[:, player] * (1 if player == 0 else -1)
        zero_sum = paying._replace(fold_payoff=np.stack([own, -own], axis=1))
        truth = np.zeros(game.lengths[player])
        reference.gradient(game.trees, zero_sum, other.pairs, player, plan, truth)
        for step, threads in STEPS:
            values = np.full(game.lengths[player], np.nan)
            step.gradient(game.trees, paying, game.pairs, player, plan, values, threads)
            np.testing.assert_allclose(values, truth, atol=1e-13)


@pytest.mark.parametrize(
    "rule", [reference.EXPECTATION, reference.BEST, reference.REGRET, reference.SOFTMAX]
)
def test_fold_up_agrees_for_every_rule(game, rule):
    rng = np.random.default_rng(2)
    for player in (0, 1):
        tree = game.trees[player]
        values = rng.normal(size=game.lengths[player])
        behaviour = random_behaviour(game, player, rng)
        table = rng.normal(size=len(values)) if rule == reference.REGRET else np.ones(len(values))
        factors = np.array([0.9, 0.5, 0.7])
        results = []
        for step, threads in STEPS:
            arrays = [values.copy(), behaviour.copy(), table.copy()]
            step.fold_up(tree, rule, *arrays, factors, threads)
            results.append(arrays)
        for other in results[1:]:
            for ours, theirs in zip(results[0], other, strict=True):
                np.testing.assert_allclose(theirs, ours, atol=1e-12)


def test_locked_decisions_keep_their_probabilities():
    game = GAMES["leduc"]()
    game.trees[0].locked[3] = True
    rng = np.random.default_rng(3)
    behaviour = random_behaviour(game, 0, rng)
    first, size = int(game.trees[0].decision_first[3]), int(game.trees[0].decision_size[3])
    for step in (reference.fold_up, cpu.fold_up):
        after = behaviour.copy()
        step(game.trees[0], reference.BEST, rng.normal(size=len(after)), after, after * 0,
             np.zeros(3))  # fmt: skip
        r = int(np.searchsorted(game.trees[0].decision_start, 3, side="right")) - 1
        for board in reference.boards(game.trees[0], r):
            rows = slice(first, first + size)
            kept = reference.block(game.trees[0], r, board, after)[rows]
            assert (kept == reference.block(game.trees[0], r, board, behaviour)[rows]).all()
        assert (after != behaviour).any()


def test_early_all_ins_take_the_mean_over_boards_to_come():
    game = exact_game(TINY_NOLIMIT, BetMenu.parse(bets="100%,a"))
    rng = np.random.default_rng(4)
    plans = [game.realize(p, random_behaviour(game, p, rng)) for p in (0, 1)]
    values = [float(plans[p] @ game.gradient(p, plans[1 - p])) for p in (0, 1)]
    assert values[0] == pytest.approx(-values[1])


def test_a_matrix_game_is_its_matrix():
    payoffs = np.random.default_rng(5).normal(size=(3, 4))
    game = matrix_game(payoffs)
    x, y = np.array([1, 0.2, 0.3, 0.5]), np.array([1, 0.1, 0.2, 0.3, 0.4])
    np.testing.assert_allclose(game.gradient(0, y)[1:], payoffs @ y[1:])
    np.testing.assert_allclose(game.gradient(1, x)[1:], -payoffs.T @ x[1:])


@pytest.mark.parametrize("rule", [reference.EXPECTATION, reference.BEST, reference.REGRET])
def test_fold_up_of_partly_given_decisions_agrees(game, rule):
    rng = np.random.default_rng(11)
    for player in (0, 1):
        own = random_behaviour(game, player, rng)
        given, share = random_behaviour(game, player, rng), rng.random(len(own))
        plan = game.realize(1 - player, random_behaviour(game, 1 - player, rng))
        values, regrets = game.gradient(player, plan), rng.normal(size=len(own)) / 10
        found = []
        for step, threads in STEPS:
            arrays = values.copy(), own.copy(), regrets.copy()
            step.fold_up_partly(
                game.trees[player], rule, arrays, np.array([1, 0, 0.5]), given, share, threads
            )
            found.append(arrays)
        for other in found[1:]:
            for mine, theirs in zip(other, found[0], strict=True):
                np.testing.assert_allclose(mine, theirs, atol=1e-13)
