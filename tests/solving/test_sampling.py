import dataclasses
from collections import Counter

import numpy as np
import pytest

from equilibrist.errors import InvalidValueError
from equilibrist.games.catalog import get_game
from equilibrist.kernels.cpu import external_sampling as external
from equilibrist.kernels.cpu import sampling as public
from equilibrist.kernels.parts import kernel
from equilibrist.models.exact import exact_game, matrix_game
from equilibrist.models.game import BEST, REGRET
from equilibrist.models.restricted import symmetrise
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import CFR_VARIANTS
from equilibrist.solving.sampling import (
    ExternalSampling,
    PublicChanceSampling,
    chance_tables,
    walk_tables,
)

pytestmark = pytest.mark.kernels

SAMPLERS = [PublicChanceSampling(), ExternalSampling()]
BY_NAME = pytest.mark.parametrize("solver", SAMPLERS, ids=lambda solver: solver.name)
LEAVES = pytest.mark.parametrize("leaves", ["dense", "sorted"])


# Python cannot call parts, so each gets a kernel of its own here.


@kernel(cache=False)
def update_path(*arguments):
    public.update_path(*arguments)


@kernel(cache=False)
def sample_path(tree, chance, words, path):
    public.sample_path(tree, chance, words, path)


@kernel(cache=False)
def uniform(words):
    return public.uniform(words)


@kernel(cache=False)
def sample_dense(trees, pairs, chance, words, board):
    return external.sample_dense(trees, pairs, chance, words, board)


@kernel(cache=False)
def sample_sorted(pairs, words, board):
    return external.sample_sorted(pairs, words, board)


@kernel(cache=False)
def place_deal(*arguments):
    external.place_deal(*arguments)


@kernel(cache=False)
def walk(*arguments):
    return external.walk(*arguments)


def leduc(leaves="dense", symmetry="suits"):
    return exact_game(get_game("leduc"), leaves=leaves, symmetry=symmetry)


def run(solver, game, steps, seed=1):
    state = solver.init(game, seed)
    solver.step(game, state, steps)
    return state


def nash_conv(solver, game, state):
    return evaluate(game, solver.plans(game, state)).nash_conv


def random_behaviour(game, player, rng, *, pure=False):
    """Return random probabilities, or one random action of each decision in each state."""
    noise = rng.random(game.lengths[player]) + 0.05
    if not pure:
        return game.behaviour(player, game.realize(player, noise))
    behaviour = game.uniform(player)
    game.fold_up(player, BEST, noise, behaviour)
    return behaviour


def swept_regrets(game, player, behaviours):
    """Return what one full sweep adds to a player's regrets: [L]."""
    values = game.gradient(player, game.realize(1 - player, behaviours[1 - player]))
    regret, behaviour = np.zeros_like(values), behaviours[player].copy()
    game.fold_up(player, REGRET, values, behaviour, regret, np.array([1.0, 1.0, 0.0]))
    return regret


# --- the mean of a sample is the full sweep -------------------------------------------------------


@LEAVES
@pytest.mark.parametrize("player", [0, 1])
def test_mean_regrets_over_all_board_paths_are_those_of_a_full_sweep(leaves, player):
    game, rng = leduc(leaves), np.random.default_rng(5)
    behaviours = [random_behaviour(game, seat, rng) for seat in (0, 1)]
    chance, (own, other) = chance_tables(game), (game.trees[player], game.trees[1 - player])
    _, scratch = public.path_space(game.trees, game.pairs, "float64")
    mean = np.zeros(game.lengths[player])
    for board in range(int(own.board_start[1]), int(own.board_start[2])):
        regret, average = np.zeros((2, len(mean)))
        ours = (behaviours[player].copy(), regret, average)
        path = np.array([own.board_parent[board], board])
        update_path(
            player, own, other, game.leaves, game.pairs, chance, path, ours,
            behaviours[1 - player], 1.0, 1.0, scratch,
        )  # fmt: skip
        mean += chance.board[board] * regret
    np.testing.assert_allclose(mean, swept_regrets(game, player, behaviours), atol=1e-13)


def deals(game):
    """Return all deals of the last round, as `place_deal` takes them, with their probabilities."""
    tree, pairs = game.trees[0], game.pairs
    for board in range(int(tree.board_start[-2]), int(tree.board_start[-1])):
        if pairs.is_sorted:
            hands = range(int(pairs.hand_start[board]), int(pairs.hand_start[board + 1]))
            apart = [(i, j) for i in hands for j in hands if i != j]  # hands of one card
            yield from ((board, i, j, pairs.weight[board]) for i, j in apart)
        else:
            size = int(tree.num_states[board])
            joint = pairs.joint[pairs.matrix_start[board] :][: size**2].reshape(size, size)
            yield from ((board, s, t, joint[s, t]) for s, t in np.argwhere(joint > 0))


def walk_once(game, player, behaviours, deal, rng):
    """Return regrets of `player` and average of the opponent after one walk through a deal."""
    rounds, nodes = len(game.trees[0].num_sequences), len(walk_tables(game).actor)
    _, cells, widths, signs, scratch = external.walk_space(rounds, nodes)
    place_deal(game.trees, game.pairs, *map(int, deal), cells, widths, signs)
    ours, theirs = (
        (behaviours[seat].copy(), np.zeros(game.lengths[seat]), np.zeros(game.lengths[seat]))
        for seat in (player, 1 - player)
    )
    tables = walk_tables(game)
    walk(player, tables, cells, widths, signs, ours, theirs, 1.0, rng, scratch)
    return ours[1], theirs[2]


@LEAVES
@pytest.mark.parametrize("player", [0, 1])
def test_mean_regrets_over_all_deals_are_those_of_a_full_sweep(leaves, player):
    # Against a pure opponent only the deal is random, so the mean is exact.
    game, rng = leduc(leaves), np.random.default_rng(6)
    words = np.arange(1, 5, dtype=np.uint64)
    behaviours = [random_behaviour(game, seat, rng, pure=seat != player) for seat in (0, 1)]
    mean = sum(
        probability * walk_once(game, player, behaviours, deal, words)[0]
        for *deal, probability in deals(game)
    )
    np.testing.assert_allclose(mean, swept_regrets(game, player, behaviours), atol=1e-13)


def test_mean_regrets_of_sampled_actions_are_those_of_a_full_sweep():
    # A mixed opponent: 4,000 walks of each deal of Kuhn, four standard errors.
    game, rng = exact_game(get_game("kuhn")), np.random.default_rng(7)
    words = np.arange(1, 5, dtype=np.uint64)
    behaviours = [random_behaviour(game, seat, rng) for seat in (0, 1)]
    for player in (0, 1):
        mean, variance = np.zeros((2, game.lengths[player]))
        for *deal, probability in deals(game):
            walks = [walk_once(game, player, behaviours, deal, words)[0] for _ in range(4000)]
            mean += probability * np.mean(walks, axis=0)
            variance += probability**2 * np.var(walks, axis=0) / len(walks)
        error = np.abs(mean - swept_regrets(game, player, behaviours))
        assert (error <= 4 * np.sqrt(variance) + 1e-12).all()


def test_sampled_averages_are_plans_times_probabilities_of_states():
    game, rng = leduc(), np.random.default_rng(8)
    words = np.arange(1, 5, dtype=np.uint64)
    behaviours = [random_behaviour(game, seat, rng, pure=True) for seat in (0, 1)]
    mean = sum(
        probability * walk_once(game, 0, behaviours, deal, words)[1]
        for *deal, probability in deals(game)
    )
    plan, tree = game.realize(1, behaviours[1]), game.trees[1]
    for board in range(len(tree.num_states)):
        size, block = int(tree.num_states[board]), slice(*tree.block_start[board : board + 2])
        joint = game.pairs.joint[game.pairs.matrix_start[board] :][: size**2].reshape(size, size)
        expected = plan[block].reshape(-1, size) * joint.sum(axis=0)
        np.testing.assert_allclose(mean[block].reshape(-1, size), expected, atol=1e-13)


# --- probabilities --------------------------------------------------------------------------------


@LEAVES
def test_boards_have_the_probability_of_their_cards(leaves):
    game = leduc(leaves)
    assert game.states is not None
    expected = np.concatenate([count / count.sum() for count in game.states.multiplicity])
    np.testing.assert_allclose(chance_tables(game).board, expected, rtol=1e-13)


def test_rhode_island_boards_have_probability_one_in_every_round():
    game = exact_game(get_game("rhode-island"))
    chance, starts = chance_tables(game), game.trees[0].board_start
    assert np.add.reduceat(chance.board, starts[:-1]) == pytest.approx([1, 1, 1], rel=1e-12)
    expected = np.concatenate([count / count.sum() for count in game.states.multiplicity])
    np.testing.assert_allclose(chance.board, expected, rtol=1e-12)


@LEAVES
def test_deals_are_sampled_by_their_probability(leaves):
    game, words = leduc(leaves), np.arange(1, 5, dtype=np.uint64)
    chance, path, seen = chance_tables(game), np.empty(2, np.int64), Counter()
    for _ in range(20_000):
        sample_path(game.trees[0], chance, words, path)
        board = int(path[1])
        if game.pairs.is_sorted:
            deal = sample_sorted(game.pairs, words, board)
        else:
            deal = sample_dense(game.trees, game.pairs, chance, words, board)
        seen[(board, *map(int, deal))] += 1
    expected = {tuple(map(int, deal)): 20_000 * probability for *deal, probability in deals(game)}
    assert set(seen) == set(expected)
    chi_square = sum((seen[deal] - mean) ** 2 / mean for deal, mean in expected.items())
    freedom = len(expected) - 1
    assert abs(chi_square - freedom) < 4 * np.sqrt(2 * freedom)


def test_numbers_are_those_of_the_published_generator():
    # xoshiro256++ from the words 1, 2, 3, 4 (as in the tests of Rust's rand_xoshiro).
    words = np.arange(1, 5, dtype=np.uint64)
    outputs = [41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205]
    numbers = [uniform(words) for _ in outputs]
    assert numbers == [(output >> 11) / 2**53 for output in outputs]


# --- convergence ----------------------------------------------------------------------------------


def test_public_chance_sampling_of_one_board_is_cfr():
    game, cfr, solver = exact_game(get_game("kuhn")), CFR_VARIANTS["cfr"], PublicChanceSampling()
    ours, theirs = run(solver, game, 200), run(cfr, game, 200)
    np.testing.assert_allclose(ours["regret1"], theirs["regret1"], atol=1e-12)
    for own, swept in zip(solver.plans(game, ours), cfr.plans(game, theirs), strict=True):
        np.testing.assert_allclose(own, swept, atol=1e-12)


def test_the_average_is_exact_on_boards_that_were_not_visited():
    game, solver = leduc(), PublicChanceSampling(gamma=1)
    state, total, weight = solver.init(game, 3), np.zeros(game.lengths[0]), 0
    for t in range(1, 30):
        total += t * game.realize(0, state["behaviour0"])
        weight += t
        solver.step(game, state, 1)
    np.testing.assert_allclose(solver.plans(game, state)[0], total / weight, atol=1e-13)


@pytest.mark.parametrize(
    ("solver", "game", "iterations", "level"),
    [
        (PublicChanceSampling(), "kuhn", 10_000, 0.001),
        (PublicChanceSampling(), "leduc", 10_000, 0.06),
        (PublicChanceSampling(gamma=1), "leduc", 10_000, 0.08),
        (ExternalSampling(), "kuhn", 100_000, 0.02),
        (ExternalSampling(), "leduc", 100_000, 0.09),
        (ExternalSampling(gamma=1), "leduc", 100_000, 0.09),
    ],
)
def test_nash_conv_falls_below_its_level(solver, game, iterations, level):
    game = exact_game(get_game(game))
    assert nash_conv(solver, game, run(solver, game, iterations)) < level


@LEAVES
@BY_NAME
def test_sorted_and_dense_leaves_lead_to_the_same_value(solver, leaves):
    game = leduc(leaves)
    state = run(solver, game, 20_000)
    assert evaluate(game, solver.plans(game, state)).value == pytest.approx(-0.0856, abs=0.03)


@pytest.mark.parametrize(
    ("solver", "times"),
    [(PublicChanceSampling(), [300, 3000, 30_000]), (ExternalSampling(), [3000, 30_000, 300_000])],
)
def test_nash_conv_falls_as_the_square_root_of_iterations(solver, times):
    game = exact_game(get_game("leduc"))
    levels = np.zeros(len(times))
    for seed in range(4):
        state, done = solver.init(game, seed), 0
        for i, time in enumerate(times):
            solver.step(game, state, time - done)
            levels[i] += np.log(nash_conv(solver, game, state)) / 4
            done = time
    slope = np.polyfit(np.log(times), levels, 1)[0]
    assert -0.75 < slope < -0.4


def test_external_sampling_solves_a_matrix_game():
    game, solver = matrix_game([[0, 2, -1], [-1, 0, 1], [1, -1, 0]]), ExternalSampling()
    assert nash_conv(solver, game, run(solver, game, 50_000)) < 0.02


# --- runs -----------------------------------------------------------------------------------------


@BY_NAME
def test_before_the_first_iteration_play_is_uniform(solver):
    game = leduc()
    for player, plan in enumerate(solver.plans(game, solver.init(game, 4))):
        np.testing.assert_allclose(plan, game.realize(player, game.uniform(player)), rtol=1e-14)


@BY_NAME
def test_locked_decisions_stay(solver):
    game = exact_game(get_game("kuhn"))
    locked = np.array([True] + [False] * (len(game.trees[0].locked) - 1))
    trees = (game.trees[0]._replace(locked=locked), game.trees[1])
    game = dataclasses.replace(game, trees=trees)
    tree = game.trees[0]
    first = int(tree.decision_first[0]) * 3
    state = solver.init(game, 1)
    state["behaviour0"][first : first + 6] = [0.25] * 3 + [0.75] * 3
    solver.step(game, state, 1000)
    plan = solver.plans(game, state)[0]
    np.testing.assert_allclose(plan[first : first + 6], [0.25] * 3 + [0.75] * 3, rtol=1e-12)


@BY_NAME
def test_wrong_numbers_are_refused(solver):
    game = exact_game(get_game("kuhn"))
    with pytest.raises(InvalidValueError, match="iterations must be 0 or more, not -1"):
        solver.step(game, solver.init(game), -1)
    with pytest.raises(InvalidValueError, match="seed must be 0 or more, not -2"):
        solver.init(game, -2)
    with pytest.raises(InvalidValueError, match=r"gamma must be 0 or more, not -0\.5"):
        dataclasses.replace(solver, gamma=-0.5)


def test_games_without_a_betting_tree_are_not_walked():
    game = symmetrise(exact_game(get_game("kuhn"))).game
    with pytest.raises(InvalidValueError, match="no betting tree, so external sampling cannot"):
        ExternalSampling().init(game)


def test_games_whose_leaves_are_not_those_of_their_betting_are_not_walked():
    game = exact_game(get_game("kuhn"))
    leaves = game.leaves._replace(fold_payoff=game.leaves.fold_payoff * 2)
    with pytest.raises(InvalidValueError, match="leaves that its betting tree does not have"):
        ExternalSampling().init(dataclasses.replace(game, leaves=leaves))
