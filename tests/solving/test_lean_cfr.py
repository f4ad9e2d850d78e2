"""CFR by tables compared with the steps it fuses, and the cost of numbers of 16 bits."""

from dataclasses import replace

import numpy as np
import pytest

from equilibrist.games.catalog import get_game
from equilibrist.kernels.decision_rules import regret_matching
from equilibrist.kernels.treeplex import block, boards, decisions, num_rounds
from equilibrist.models.exact import exact_game
from equilibrist.models.game import REGRET, SequenceGame
from equilibrist.models.spot import Chips, Spot
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import CFR_VARIANTS
from equilibrist.solving.forecast import spot_forecast
from equilibrist.solving.lean_cfr import TABLE_METHODS, TableCFR
from equilibrist.solving.lean_plans import TableBoards
from equilibrist.solving.solve import Budget, check_finite, solve
from equilibrist.strategies.spot_report import WholePlans

ROYAL = replace(get_game("holdem-nolimit"), name="royal-nolimit", num_ranks=5)


def royal(board, **options):
    options = {"bets": "50%,a", "raises": "a"} | options
    chips = Chips(options.pop("pot", 40), options.pop("stack", 90))
    ranges, locks = ("JJ,AK,KQs:0.5,QTo", "AQ,QQ,JTo:0.75,KJs"), options.pop("locks", ())
    return Spot.of(board, *ranges, chips, game=ROYAL, **options).with_locks(locks)


GAMES = {
    "kuhn": lambda: exact_game(get_game("kuhn")),
    "leduc": lambda: exact_game(get_game("leduc"), leaves="sorted"),
    "flop": lambda: royal("AsKsQh", bets="a", raises="a").build().game,
    "turn": lambda: royal("AsKsQhTh").build().game,
    "river": lambda: royal("AsKsQhThTd").build().game,
    "locked": lambda: (
        royal("AsKsQhTh", locks=("r20: c=0.5; f=0.25", "cc/: r20=JJ,AK:0.5; r90=0")).build().game
    ),
}


def random_tables(game, rng):
    """Return a state in float64 with random regrets, so that rounding breaks no ties; and them."""
    solver = TableCFR(bits=64)
    state, regrets = solver.init(game), []
    for player, tree in enumerate(game.trees):
        regret = rng.random(game.lengths[player]) - 0.3
        probabilities = game.uniform(player)
        for r in range(num_rounds(tree)):
            for board in boards(tree, r):
                own = block(tree, r, board, regret)
                for d, _, rows in decisions(tree, r):
                    if tree.locked[d]:
                        own[rows] = block(tree, r, board, probabilities)[rows]
        behaviour = matched(game, player, regret)
        trunk, state[f"last_regret{player}"][:] = in_tables(game, player, regret)
        state[f"regret{player}"][:] = trunk
        state[f"trunk_behaviour{player}"][:] = behaviour[: len(trunk)]
        state[f"trunk_plan{player}"][:] = game.realize(player, behaviour)[: len(trunk)]
        regrets.append(regret)
    return solver, state, regrets


def in_tables(game, player, vector):
    """Return the numbers [L] of the trunk, and those of the last round in the order of a table."""
    tree, last = game.trees[player], num_rounds(game.trees[player]) - 1
    entries = int(tree.entry_start[-1] - tree.entry_start[-2])
    first, place, parts = int(tree.board_start[-2]), 0, []
    for board in boards(tree, last):
        own = block(tree, last, board, vector)[entries:]
        if game.held is not None:
            own = own[:, game.held[player][place : place + own.shape[1]]]
        place += int(tree.num_states[board])
        parts.append(own.ravel())
    return vector[: int(tree.block_start[first])], np.concatenate(parts)


def matched(game, player, regret):
    """Return behaviour in proportion to positive regrets, by the reference."""
    tree, behaviour = game.trees[player], game.uniform(player)
    for r in range(num_rounds(tree)):
        for board in boards(tree, r):
            own, table = block(tree, r, board, behaviour), block(tree, r, board, regret)
            for d, _, rows in decisions(tree, r):
                if not tree.locked[d]:
                    own[rows] = regret_matching(table[rows])
    return behaviour


def by_steps(game, method, regrets, iterations):
    """Run the same iterations by the game's own steps: gradient, fold-up, realize."""
    behaviours = [matched(game, player, regrets[player]) for player in (0, 1)]
    plans = [game.realize(player, behaviours[player]) for player in (0, 1)]
    averages = [np.zeros_like(plan) for plan in plans]
    for average, given in zip(averages, game.given or (), strict=False):
        average[given.places] = given.probabilities
    for positive, negative, _, weight in method.discounting.schedule(0, iterations, 0.0):
        factors = np.array([positive, negative, 0.0])
        for player in (0, 1):
            averages[1 - player] += weight * plans[1 - player]
            values = game.gradient(player, plans[1 - player])
            game.fold_up(player, REGRET, values, behaviours[player], regrets[player], factors)
            game.realize(player, behaviours[player], plans[player])
    return averages


@pytest.mark.parametrize("method", ["cfr+", "dcfr", "log-dcfr+"])
@pytest.mark.parametrize("name", GAMES)
def test_tables_play_what_the_steps_that_they_fuse_play(name, method):
    game = GAMES[name]()
    solver, state, regrets = random_tables(game, np.random.default_rng(6))
    solver = replace(solver, method=CFR_VARIANTS[method])
    solver.step(game, state, 2)
    solver.step(game, state, 2)
    averages = by_steps(game, CFR_VARIANTS[method], regrets, 4)
    for player in (0, 1):
        reach = game.realize(player, game.uniform(player))
        held = reach[: len(state[f"regret{player}"])] > 0  # tables do not value what is not held
        for part, expected in (("regret", regrets), ("average", averages)):
            trunk, last = in_tables(game, player, expected[player])
            np.testing.assert_allclose(state[f"{part}{player}"][held], trunk[held], atol=1e-9)
            np.testing.assert_allclose(state[f"last_{part}{player}"], last, atol=1e-9)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("bits", [16, 32])
def test_its_best_responses_are_those_of_its_plans(name, bits):
    game, solver = GAMES[name](), TableCFR(bits=bits)
    state = solver.init(game)
    for iterations in (0, 7):
        solver.step(game, state, iterations)
        found, exact = solver.evaluate(game, state), evaluate(game, solver.plans(game, state))
        assert found.value == pytest.approx(exact.value, abs=2e-4)
        assert found.best_response == pytest.approx(exact.best_response, abs=2e-4)
        assert found.exploitability > 0


@pytest.mark.parametrize("name", ["flop", "turn"])
def test_sixteen_bits_halve_memory_and_cost_less_than_a_thousandth_of_the_pot(name):
    game, found = GAMES[name](), {}
    for bits in (16, 32):
        run = solve(game, TableCFR(bits=bits), Budget(iterations=1000))
        last = [array.nbytes for key, array in run.state.items() if key.startswith("last_")]
        found[bits] = run.evaluation.exploitability / 40, sum(last)
    assert found[32][0] < 1e-3
    assert found[16][0] < found[32][0] + 1e-3
    assert found[16][1] < 0.7 * found[32][1]  # a scale for each row of some tens of hands


@pytest.mark.parametrize("method", TABLE_METHODS)
@pytest.mark.parametrize("name", ["turn", "locked"])
def test_numbers_of_16_bits_stay_finite_and_lose_little(name, method):
    """Also after a million iterations, whose weights are huge if they are powers of t."""
    game, found = GAMES[name](), []
    for bits in (16, 32):
        solver = replace(TABLE_METHODS[method], bits=bits)
        state = solver.init(game)
        solver.step(game, state, 100)
        found.append(solver.evaluate(game, state))
        state["iteration"][...] = 10**6
        solver.step(game, state, 50)
        check_finite(state)
        late = solver.evaluate(game, state)
        assert 0 <= late.exploitability < 4  # a tenth of the pot: mostly the last 50 iterations
    most = 2 * (found[0].exploitability + found[1].exploitability)
    assert abs(found[0].value - found[1].value) < most
    assert found[0].exploitability < found[1].exploitability + 0.04


@pytest.mark.parametrize("bits", [16, 32])
def test_a_resumed_run_has_the_same_numbers(bits):
    game, solver = GAMES["turn"](), TableCFR(bits=bits)
    whole, parts = solver.init(game), solver.init(game)
    solver.step(game, whole, 30)
    for steps in (1, 9, 20):
        parts = {name: array.copy() for name, array in parts.items()}
        solver.step(game, parts, steps)
    for name, array in whole.items():
        np.testing.assert_array_equal(array, parts[name])


def test_ranges_and_locks_do_not_change():
    game, solver = GAMES["locked"](), TableCFR()
    state = solver.init(game)
    solver.step(game, state, 50)
    for player, plan in enumerate(solver.plans(game, state)):
        played = game.behaviour(player, plan)
        given = game.given[player]
        places = given.places[plan[given.places] > 1e-6]
        by_place = dict(zip(given.places.tolist(), given.probabilities.tolist(), strict=True))
        expected = [by_place[int(place)] for place in places]
        np.testing.assert_allclose(played[places], expected, atol=1e-5)


@pytest.mark.parametrize("bits", [16, 32])
def test_the_forecast_counts_the_stored_arrays(bits):
    spot = royal("AsKsQhTh")
    needed, state = spot_forecast(spot, bits), TableCFR(bits=bits).init(spot.build().game)
    last = sum(len(state[f"last_average{player}"]) for player in (0, 1))
    trunk = sum(len(state[f"average{player}"]) for player in (0, 1))
    assert last < needed.actions <= last + trunk
    tables = [array.nbytes for name, array in state.items() if "scale" not in name]
    assert sum(tables) < needed.bytes < 2.5 * sum(tables)  # few boards, and hands of three lists


@pytest.mark.parametrize("bits", [32, 16])
@pytest.mark.parametrize("name", ["flop", "river", "locked"])
def test_single_boards_give_the_answers_of_whole_plans(name, bits):
    game, solver = GAMES[name](), TableCFR(bits=bits)
    state = solver.init(game)
    solver.step(game, state, 30)
    for array in state.values():
        array.flags.writeable = False  # as those that are read from the disk
    whole = WholePlans(game, solver.plans(game, state))
    single = TableBoards(game, solver, state)
    for player, tree in enumerate(game.trees):
        for board in range(len(tree.num_states)):
            plan, values = whole.plan(player, board), whole.values(player, board)
            np.testing.assert_allclose(single.plan(player, board), plan, atol=1e-6)
            # Boards that the opponent hardly ever reaches have values of 1e-8 chips.
            rounding = max(1e-5 * np.abs(values).max(), 1e-10)
            # Whole plans lose locked probabilities where they are zero; tables keep them.
            # Hands that a player cannot hold are not valued.
            held = plan > 0 if name == "locked" else (plan[1] if board == 0 else plan.max(0)) > 0
            found = np.where(held, single.values(player, board), values)
            np.testing.assert_allclose(found, values, atol=rounding)


@pytest.mark.parametrize("bits", [32, 16])
def test_the_number_of_threads_does_not_change_a_bit(bits, monkeypatch):
    game = Spot.of("Td9d6h", "AA,KQs", "JJ,T9s", Chips(pot=60, stack=200), bets="a").build().game
    found = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(SequenceGame, "num_threads", threads)
        solver = TableCFR(bits=bits)
        state = solver.init(game)
        solver.step(game, state, 7)
        found.append((state, solver.evaluate(game, state)))
    for state, evaluation in found[1:]:
        assert evaluation == found[0][1]
        assert all((state[name] == array).all() for name, array in found[0][0].items())
