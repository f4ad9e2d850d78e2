"""Split games compared with the same games in one piece, table by table."""

from dataclasses import replace

import numpy as np
import pytest

from equilibrist.errors import InvalidValueError, SolverError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.catalog import get_game
from equilibrist.models.exact import exact_game
from equilibrist.models.split import Split
from equilibrist.models.treeplex import player_rows
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import CFR_VARIANTS
from equilibrist.solving.decomposed import SPLIT_METHODS, DecomposedCFR
from equilibrist.solving.lean_cfr import TableCFR
from equilibrist.solving.solve import Budget, solve
from equilibrist.solving.subgame_engine import Kept, Key, Threads, zeros

HOLDEM = get_game("holdem-limit")
GAMES = {
    "leduc": get_game("leduc"),
    "rhode": replace(get_game("rhode-island"), num_ranks=3, num_suits=2, max_raises=(2, 1, 1)),
    "three": replace(HOLDEM, name="three", num_ranks=3, num_suits=3, max_raises=(1, 1, 1, 1)),
    "four": replace(
        HOLDEM, name="four", num_ranks=4, num_suits=3, max_raises=(2, 1, 1),
        raise_sizes=(10, 10, 20), first_players=(1, 0, 0), num_board_cards=(0, 3, 1),
        discards=(),
    ),
}  # fmt: skip
CASES = [("leduc", "preflop"), ("rhode", "preflop"), ("rhode", "flop")]
CASES += [("three", "preflop"), ("three", "flop"), ("four", "preflop"), ("four", "flop")]


class Whole:
    """A game in one piece, and where the tables of a subgame are in its tables."""

    def __init__(self, rules):
        self.game = exact_game(rules, leaves="sorted")
        self.solver = TableCFR(CFR_VARIANTS["cfr+"], bits=64)
        self.state = self.solver.init(self.game)
        self.rows = [player_rows(self.game.betting, p).row for p in (0, 1)]

    def with_regrets(self, rng):
        """Fill the regrets with positive numbers, so that rounding never decides for a hand.

        The run then stands after its first iteration, with averages of zero.
        """
        self.state["iteration"][...] = 1
        for player in (0, 1):
            for name in (f"regret{player}", f"last_regret{player}"):
                self.state[name][:] = rng.random(len(self.state[name])) + 0.1
            found = self.solver.trunk(self.game, self.state, "regret", player)
            self.state[f"trunk_plan{player}"], self.state[f"trunk_behaviour{player}"] = found
        return self

    def block(self, part, player, r, board):
        """Return the rows of a board [Q, S]; those of entries of the last round are missing."""
        tree = self.game.trees[player]
        at = int(tree.board_start[r]) + board
        states, rows = int(tree.num_states[at]), int(tree.num_sequences[r])
        if r < len(tree.num_sequences) - 1:
            start = int(tree.block_start[at])
            return self.state[f"{part}{player}"][start : start + rows * states].reshape(rows, -1)
        return last_block(tree, self.state[f"last_{part}{player}"], board)


def last_block(tree, table, board):
    """Return the rows of actions of a board of the last round: [Q − E, S]."""
    entries = int(tree.entry_start[-1] - tree.entry_start[-2])
    first, rows = int(tree.board_start[-2]), int(tree.num_sequences[-1]) - entries
    states = int(tree.num_states[first + board])
    start = rows * int(tree.state_start[first + board] - tree.state_start[first])
    return table[start : start + rows * states].reshape(rows, states)


def shared_blocks(whole, split, subgame, key, table):
    """Yield the same rows of actions on the same board, of the whole game and of a subgame."""
    flop, way = split.place(subgame)
    tree, betting = split.deal(flop).trees[key.player], whole.game.betting
    below = BettingTree.build(split.rules, split.menu, first_round=split.rounds, pot=way.pot)
    moved = np.array([betting.parse(f"{way.name}/{below.name(v)}") for v in range(len(below))])
    for r in range(split.rounds, split.rules.num_rounds):
        theirs, ours = boards_of(whole, split, flop, r)
        acts = (below.round == r) & (below.action_kind > 0)
        acts &= below.player[below.parent] == key.player
        nodes, own_round = np.flatnonzero(acts), r - split.rounds + 1
        rows, own = whole.rows[key.player][moved[nodes]], split.rows[key.player].row[nodes]
        for board, their in zip(ours, theirs, strict=True):
            found = whole.block(key.part, key.player, r, their)
            if r < split.rules.num_rounds - 1:
                at = int(tree.board_start[own_round]) + board
                start, end = tree.block_start[at], tree.block_start[at + 1]
                mine = table.trunk[start:end].reshape(int(tree.num_sequences[own_round]), -1)
                yield found, rows, mine, own
            else:
                mine, last = last_block(tree, table.last, board), whole.game.trees[key.player]
                entries = [int(t.entry_start[-1] - t.entry_start[-2]) for t in (last, tree)]
                yield found, rows - entries[0], mine, own - entries[1]


def boards_of(whole, split, flop, r):
    """Return the boards of round `r` below a flop, in the whole game and in a subgame."""
    states = whole.game.states
    theirs = np.array([flop])
    for above in range(2, r + 1):
        theirs = np.flatnonzero(np.isin(states.board_parent[above], theirs))
    return theirs, range(len(theirs))


def solver_with_tables_of(whole, split, **options):
    """Return a decomposed solver and its state, with the tables of a game in one piece."""
    solver = DecomposedCFR.of(split, **options)
    state, tables = solver.init(split.trunk), solver.engine.tables
    state["iteration"][...] = whole.state["iteration"]
    for player in (0, 1):
        length = len(state[f"regret{player}"])
        plan, behaviour = (whole.state[f"trunk_{name}{player}"] for name in ("plan", "behaviour"))
        for name, array in (("plan", plan), ("behaviour", behaviour)):
            state[f"{name}{player}"][:] = array[:length]
        state[f"regret{player}"][:] = whole.state[f"regret{player}"][:length]
        for subgame in range(split.num_subgames):
            keys = Key("regret", player), Key("average", 1 - player)
            own = {key: zeros(split, subgame, key, 64) for key in keys}
            tables.kept[subgame, player] = Kept(player + 1, own, np.zeros(0))
            for found, rows, mine, at in shared_blocks(
                whole, split, subgame, keys[0], own[keys[0]]
            ):
                mine[at] = found[rows]
    return solver, state


@pytest.mark.kernels
@pytest.mark.parametrize(("name", "after"), CASES)
def test_a_split_game_has_the_tables_of_the_game_in_one_piece(name, after):
    whole = Whole(GAMES[name]).with_regrets(np.random.default_rng(3))
    split = Split.of(GAMES[name], after)
    solver, state = solver_with_tables_of(whole, split)
    whole.solver.step(whole.game, whole.state, 6)
    solver.step(split.trunk, state, 6)
    for player in (0, 1):
        for part in ("regret", "average"):
            key, length = Key(part, player), len(state[f"{part}{player}"])
            trunk = whole.state[f"{part}{player}"][:length]
            np.testing.assert_allclose(state[f"{part}{player}"], trunk, rtol=1e-12, atol=1e-12)
            for subgame in range(split.num_subgames):
                half = player if part == "regret" else 1 - player
                table = solver.engine.tables.kept[subgame, half].tables[key]
                for found, rows, mine, own in shared_blocks(whole, split, subgame, key, table):
                    np.testing.assert_allclose(mine[own], found[rows], rtol=1e-12, atol=1e-12)
    ours, theirs = (
        solver.evaluate(split.trunk, state),
        whole.solver.evaluate(whole.game, whole.state),
    )
    assert ours.value == pytest.approx(theirs.value, abs=1e-12)
    assert ours.best_response == pytest.approx(theirs.best_response, abs=1e-12)
    exact = evaluate(whole.game, whole.solver.plans(whole.game, whole.state))
    assert ours.exploitability == pytest.approx(exact.exploitability, abs=1e-12)


@pytest.mark.kernels
@pytest.mark.parametrize("method", SPLIT_METHODS)
@pytest.mark.parametrize("current", [False, True])
def test_every_method_solves_a_split_game(method, current):
    solver = DecomposedCFR.of(
        Split.of(GAMES["leduc"], "preflop"), CFR_VARIANTS[method], current=current
    )
    run = solve(solver.split.trunk, solver, Budget(iterations=400))
    assert run.evaluation.exploitability < (0.05 if not current else 0.7)
    assert run.evaluation.value == pytest.approx(-0.0856, abs=0.01 if not current else 0.7)


@pytest.mark.kernels
def test_sixteen_bits_cost_little():
    solver = DecomposedCFR.of(Split.of(GAMES["rhode"], "flop"), bits=16)
    run = solve(solver.split.trunk, solver, Budget(iterations=100))
    exact = DecomposedCFR.of(solver.split)
    best = solve(exact.split.trunk, exact, Budget(iterations=100))
    assert run.evaluation.value == pytest.approx(best.evaluation.value, abs=0.01)
    assert run.evaluation.exploitability < best.evaluation.exploitability + 0.02


def test_the_number_of_threads_changes_no_bit():
    split, found = Split.of(GAMES["rhode"], "flop"), []
    for threads in (1, 3):
        solver = DecomposedCFR.of(split)
        solver = replace(solver, engine=replace(solver.engine, threads=threads))
        found.append(solve(split.trunk, solver, Budget(iterations=5)).state)
    for name, array in found[0].items():
        assert np.array_equal(array, found[1][name]), name


def test_a_solver_begins_again_with_empty_tables():
    solver = DecomposedCFR.of(Split.of(GAMES["leduc"], "preflop"))
    found = [solve(solver.split.trunk, solver, Budget(iterations=n)) for n in (4, 4, 3)]
    fresh = DecomposedCFR.of(solver.split)
    last = solve(fresh.split.trunk, fresh, Budget(iterations=3))
    assert found[0].evaluation == found[1].evaluation
    assert found[2].evaluation == last.evaluation
    with pytest.raises(SolverError, match=r"cc on Qh .* not those after half iteration 7"):
        solver.step(solver.split.trunk, found[0].state, 1)


def test_a_half_that_is_run_twice_changes_nothing():
    split = Split.of(GAMES["rhode"], "flop")
    once, twice = DecomposedCFR.of(split), DecomposedCFR.of(split)
    sweep = Threads.sweep

    class Repeated(Threads):
        def sweep(self, order, reaches):
            first, second = sweep(self, order, reaches), sweep(self, order, reaches)
            np.testing.assert_array_equal(first, second)
            return second

    twice = replace(twice, engine=Repeated(twice.engine.tables, split))
    found = [solve(split.trunk, solver, Budget(iterations=4)) for solver in (once, twice)]
    assert found[0].evaluation == found[1].evaluation


def test_boards_and_hands_are_kept_within_a_bound(monkeypatch):
    rules, found = GAMES["rhode"], []
    for most in (0, 2**30):
        monkeypatch.setattr("equilibrist.models.split._MOST_BYTES", most)
        solver = DecomposedCFR.of(Split.of(rules, "flop"))
        found.append(solve(solver.split.trunk, solver, Budget(iterations=2)).evaluation)
        kept = solver.split._deals
        assert len(kept) == (1 if most == 0 else len(solver.split.boards))
        assert sum(deal.nbytes for deal in kept.values()) > 0
    assert found[0] == found[1]


def test_raise_caps_of_a_menu_hold_in_trunk_and_subgames():
    split = Split.of(GAMES["leduc"], "preflop", BetMenu.parse(max_raises="1 2"))
    assert [way.name for way in split.ways] == ["cc", "rc", "crc"]
    assert split.rules.max_raises == (1, 2)


@pytest.mark.parametrize(
    ("name", "after", "words"),
    [
        ("leduc", "flop", "leduc has 2 rounds, so it cannot be split after flop"),
        ("kuhn", "preflop", "kuhn has 1 rounds"),
        ("leduc", "turn", "a game is split after preflop or flop, not after 'turn'"),
        ("holdem-nolimit", "flop", "only limit games without stacks can"),
        ("preflop-holdem", "preflop", "cannot be split"),
    ],
)
def test_games_that_cannot_be_split_are_refused(name, after, words):
    with pytest.raises(InvalidValueError, match=words):
        Split.of(get_game(name), after)


def test_methods_with_prediction_are_refused():
    split = Split.of(GAMES["leduc"], "preflop")
    with pytest.raises(InvalidValueError, match=r"not pcfr\+"):
        DecomposedCFR.of(split, CFR_VARIANTS["pcfr+"])
    with pytest.raises(InvalidValueError, match="16, 32 or 64 bits, not 8"):
        DecomposedCFR.of(split, bits=8)
