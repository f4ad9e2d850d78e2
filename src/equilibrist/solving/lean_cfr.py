"""CFR variants for spots that store only regrets and averages.

The iterations are those of `cfr.py`, but the last round has no plans in memory, and a plan is added
to the average when the opponent uses it, so player 0's one iteration earlier
(`kernels/cpu/table_sweeps.py`). Numbers are floats of 32 bits, or of 16 bits in the last round:
each a share of the largest number of its row, a sequence on a board. That halves memory; rounding
to 1 / 32767 of the largest then limits how well a spot can be solved, but not the precision of best
responses. In the last round a player's tables have only the states that the player can hold
(`SequenceGame.seats`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equilibrist.kernels.array_structs import Treeplex
from equilibrist.kernels.cpu import table_sweeps as kernels
from equilibrist.kernels.cpu.tables import MOST
from equilibrist.models.game import BEST, EXPECTATION, Floats, SequenceGame
from equilibrist.models.sections import whole_round
from equilibrist.solving.cfr import CFR, CFR_VARIANTS
from equilibrist.solving.solver import State
from equilibrist.strategies.evaluation import Evaluation

_PARTS = ("regret", "average")
DEFAULT_METHOD = "log-dcfr+"  # needs the fewest iterations (docs/decisions/0007)


@dataclass(frozen=True)
class TableCFR:
    """Hyper-parameters of CFR by tables; `bits` is the size of a number of the last round.

    It is 32 or 16; with 64, all numbers are in float64, to compare with other solvers.

    Example:
        >>> from equilibrist.models.spot import Chips, Spot
        >>> game = Spot.of("Td9d6hQc2s", "AA,76s", "KK", Chips(200, 100), bets="a").build().game
        >>> state = TableCFR().init(game)
        >>> TableCFR().step(game, state, 200)
        >>> TableCFR().evaluate(game, state).exploitability < 1
        True
    """

    method: CFR = CFR_VARIANTS[DEFAULT_METHOD]
    bits: int = 32

    @property
    def name(self) -> str:
        """Name of the method."""
        return self.method.name

    @property
    def dtype(self) -> Any:
        """Type of numbers that are not packed."""
        return np.float64 if self.bits == 64 else np.float32

    def init(self, game: SequenceGame, seed: int = 0) -> State:
        """Return tables of zero regrets; those of locked decisions hold their probabilities."""
        state: State = {"iteration": np.array(0)}
        for player, tree in enumerate(game.seats):
            trunk, last, rows = _lengths(tree)
            places, probabilities = _given(game, player)
            early = places < trunk
            late, held = _last_places(game, player, places[~early])
            late, locked = late[held], probabilities[~early][held]
            for part in _PARTS:
                state[f"{part}{player}"] = np.zeros(trunk, self.dtype)
                state[f"{part}{player}"][places[early]] = probabilities[early]
                table = np.zeros(last, self.dtype)
                table[late] = locked
                state[f"last_{part}{player}"] = table
                if self.bits == 16:
                    numbers, scales = np.zeros(last, np.int16), np.zeros(rows, np.float32)
                    if len(late):
                        kernels.pack_last(tree, whole_round(tree), table, numbers, scales)
                    state[f"last_{part}{player}"] = numbers
                    state[f"last_{part}_scale{player}"] = scales
            plan, behaviour = self.trunk(game, state, "regret", player)
            state[f"trunk_plan{player}"], state[f"trunk_behaviour{player}"] = plan, behaviour
        return state

    def step(self, game: SequenceGame, state: State, steps: int) -> None:
        """Run `steps` more iterations, both players in turn."""
        schedule = self.method.discounting.schedule(int(state["iteration"]), steps, 0.0)
        game.tables(state).sweeps(schedule)
        state["iteration"] += steps

    def evaluate(self, game: SequenceGame, state: State) -> Evaluation:
        """Return the value of the average plans, both best responses, and the expected rake.

        Sums except the last are in the type of the tables: float32 is accurate to about 1e-6 of
        the stakes.
        """
        first, ask_house = game.first_player, not game.is_zero_sum
        halves = [(first, EXPECTATION), (1 - first, EXPECTATION), (0, BEST), (1, BEST)]
        roots, _ = game.tables(state).worth(
            [half for half in halves if half != halves[1] or ask_house]
        )
        value, best = float(roots[0]), (float(roots[-2]), float(roots[-1]))
        rake = -value - float(roots[1]) if ask_house else None
        return Evaluation(value, best, game.unit, rake)

    def trunk_values(
        self, game: SequenceGame, state: State, player: int, rule: int = EXPECTATION
    ) -> Floats:
        """Return the values of a player's rows of the trunk if both play averages: [trunk].

        By the rule `BEST` the player plays a best response to the opponent's average.
        """
        return game.tables(state).worth([(player, rule)])[1]

    def plans(self, game: SequenceGame, state: State) -> tuple[Floats, Floats]:
        """Return the average plans [L], in the dtype of tables; uniform before the first step."""
        return self._plan(game, state, 0), self._plan(game, state, 1)

    def _plan(self, game: SequenceGame, state: State, player: int) -> Floats:
        tree = game.trees[player]
        trunk, _ = self.trunk(game, state, "average", player)
        boards = range(int(tree.board_start[-2]), int(tree.board_start[-1]))
        blocks = [table_block(game, board, state, player).ravel() for board in boards]
        plan = np.empty(game.lengths[player], self.dtype)
        plan[: len(trunk)] = trunk
        kernels.realize_last(tree, whole_round(tree), trunk, np.concatenate(blocks), plan)
        return plan

    def trunk(
        self, game: SequenceGame, state: State, part: str, player: int
    ) -> tuple[Floats, Floats]:
        """Return plan and behaviour before the last round, from a matched table."""
        table = kernels.in_memory(state[f"{part}{player}"])
        return kernels.matched_trunk(game.trees[player], table)


TABLE_METHODS = {
    name: TableCFR(CFR_VARIANTS[name])
    for name in (DEFAULT_METHOD, "dcfr+", "dcfr", "linear-cfr", "cfr+", "cfr")
}


def table_block(
    game: SequenceGame, board: int, state: State, player: int, part: str = "average"
) -> Floats:
    """Return the rows of actions of a board of the last round in a table: [Q − E, S].

    States that the player cannot hold have zeros, or the given probabilities of locked decisions.
    """
    tree, seat = game.trees[player], game.seats[player]
    states, first = int(seat.num_states[board]), int(tree.board_start[-2])
    rows = _num_last_rows(tree)
    start = rows * int(seat.state_start[board] - seat.state_start[first])
    numbers = np.array(state[f"last_{part}{player}"][start : start + rows * states])
    numbers, scales = numbers.reshape(rows, states), state.get(f"last_{part}_scale{player}")
    if scales is not None:
        own = scales[(board - first) * rows : (board - first + 1) * rows]
        numbers = numbers * (own[:, None] / np.float32(MOST))
    if game.lists is None:
        return numbers
    width, place = int(tree.num_states[board]), int(tree.block_start[board + 1])
    whole, (places, probabilities) = np.zeros((rows, width), numbers.dtype), _given(game, player)
    here = (places >= place - whole.size) & (places < place)
    whole.reshape(-1)[places[here] - (place - whole.size)] = probabilities[here]
    before = int(tree.state_start[board] - tree.state_start[first])
    whole[:, game.lists[player][before : before + width]] = numbers
    return whole


def with_all_states(game: SequenceGame, state: State) -> State:
    """Return a state whose tables have all states for both players, as those of the GPU do."""
    found = dict(state)
    for player, tree in enumerate(game.trees):
        boards = range(int(tree.board_start[-2]), int(tree.board_start[-1]))
        for part in _PARTS:
            blocks = [table_block(game, board, state, player, part).ravel() for board in boards]
            table, name = np.concatenate(blocks), f"last_{part}_scale{player}"
            if name in state:
                numbers, scales = np.zeros(len(table), np.int16), np.zeros_like(state[name])
                kernels.pack_last(tree, whole_round(tree), table, numbers, scales)
                table, found[name] = numbers, scales
            found[f"last_{part}{player}"] = table
    return found


def _lengths(tree: Treeplex) -> tuple[int, int, int]:
    """Return the lengths of the trunk and of a table of the last round, and its number of rows."""
    actions = _num_last_rows(tree)
    boards = int(tree.board_start[-1] - tree.board_start[-2])
    return (
        int(tree.block_start[tree.board_start[-2]]),
        actions * _num_last_states(tree),
        (actions * boards),
    )


def table_lengths(game: SequenceGame) -> list[int]:
    """Return the length of each player's tables of the last round."""
    return [_lengths(tree)[1] for tree in game.seats]


def _num_last_rows(tree: Treeplex) -> int:
    """Return the number of rows of actions of a board of the last round."""
    return int(tree.num_sequences[-1] - (tree.entry_start[-1] - tree.entry_start[-2]))


def _num_last_states(tree: Treeplex) -> int:
    return int(tree.num_states[tree.board_start[-2] :].sum())


def _given(game: SequenceGame, player: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    if game.given is None:
        return np.zeros(0, np.int64), np.zeros(0)
    return game.given[player]


def _last_places(
    game: SequenceGame, player: int, places: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the places of numbers of a plan's last round in a table, and whether it has them."""
    tree, seat = game.trees[player], game.seats[player]
    first = int(tree.board_start[-2])
    entries = int(tree.entry_start[-1] - tree.entry_start[-2])
    held = np.ones(_num_last_states(tree), np.bool_) if game.lists is None else game.lists[player]
    board = np.searchsorted(tree.block_start, places, side="right") - 1
    row, state = np.divmod(places - tree.block_start[board], tree.num_states[board])
    number = tree.state_start[board] - tree.state_start[first] + state
    before = seat.state_start[board] - seat.state_start[first]
    column = np.cumsum(held)[number] - 1 - before
    start = _num_last_rows(tree) * before
    return start + (row - entries) * seat.num_states[board] + column, held[number]
