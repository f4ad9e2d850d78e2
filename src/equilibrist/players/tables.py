"""Players as tables: action probabilities that depend only on a node and a private state.

Such players need neither a view nor Python code at the table: `play.compiled_match` plays their
hands with compiled code. Static players are tables with one state; strategies are tables over cards
or buckets. A strategy for fewer raises is expanded to the betting tree that is played, so that
extra raises are called and then ignored (`strategies.raise_cap_rule`).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.kernels.array_structs import SeatTable, Treeplex
from equilibrist.models.bucketed import BucketStates
from equilibrist.models.game import Floats
from equilibrist.models.treeplex import player_rows, treeplex
from equilibrist.players.player import Player
from equilibrist.players.static import Mix, Uniform
from equilibrist.players.strategy_player import StrategyPlayer
from equilibrist.strategies.played import mixed_probabilities
from equilibrist.strategies.raise_cap_rule import CALLS, NEVER, follow
from equilibrist.strategies.seat_tables import Columns, OneColumn


@dataclass(frozen=True, eq=False)
class PlayerTable:
    """Tables of one player for both seats of a betting tree."""

    seats: tuple[SeatTable, SeatTable]
    columns: tuple[Columns, Columns]


def player_table(player: Player, tree: BettingTree) -> PlayerTable | None:
    """Return the table of a player on a limit game's betting tree, or None if it has no table.

    An instance of a subclass has no table, because a subclass may behave in any way.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> tree = BettingTree.build(get_game("kuhn"))
        >>> table = player_table(Mix(0.2, 0.5, 0.3), tree)
        >>> table.seats[1].probabilities.tolist()  # check and bet; fold and call
        [1.0, 0.7, 0.3, 0.2, 0.8]
    """
    if type(player) is Mix:
        return _static_table(tree, player.probabilities)
    if type(player) is Uniform:
        return _static_table(tree, None)
    if type(player) is StrategyPlayer:
        return _strategy_table(tree, player)
    return None


@functools.lru_cache(maxsize=16)
def _static_table(tree: BettingTree, mix: tuple[float, float, float] | None) -> PlayerTable:
    """Build the table of a fixed mix, or of equal probabilities if `mix` is None."""
    num_rounds = tree.last_round - tree.first_round + 1
    one_state = BucketStates(
        [np.ones(1, np.int64)] * num_rounds,
        [np.zeros(1, np.int64)] * num_rounds,
        [np.zeros(1, np.int32)] * num_rounds,
    )
    seats = []
    for player in (0, 1):
        rows = player_rows(tree, player)
        own = treeplex(rows, one_state)
        probabilities = np.ones(int(own.block_start[-1]))
        for node in np.flatnonzero(rows.decision >= 0).tolist():
            children = tree.children(node)
            at = int(own.block_start[tree.round[node] - tree.first_round])
            at += int(rows.row[children.start])
            share = 1 / len(children) if mix is None else mixed_probabilities(tree, node, mix)
            probabilities[at : at + len(children)] = share
        seats.append(_seat_table(own, probabilities, rows.row.astype(np.int64), 0.0))
    columns = OneColumn(num_rounds)
    return PlayerTable((seats[0], seats[1]), (columns, columns))


def _strategy_table(tree: BettingTree, player: StrategyPlayer) -> PlayerTable | None:
    zero, one = player.strategy.seat(0), player.strategy.seat(1)
    if zero is None or one is None:
        return None
    row = _translated_rows(tree, player.strategy.tree)
    seats = [
        _seat_table(seat.tree, seat.probabilities, row, player.threshold * seat.sure)
        for seat in (zero, one)
    ]
    return PlayerTable((seats[0], seats[1]), (zero.columns, one.columns))


def _seat_table(
    own: Treeplex, probabilities: Floats, row: NDArray[np.int64], threshold: float
) -> SeatTable:
    board = np.repeat(np.arange(len(own.num_states)), own.num_states)
    place = np.arange(len(board)) - own.state_start[board]
    return SeatTable(
        probabilities=np.ascontiguousarray(probabilities),
        row=row,
        state_start=own.state_start[own.board_start[:-1]],
        cell=own.block_start[board] + place,
        width=own.num_states[board],
        threshold=np.float64(threshold),
    )


@functools.lru_cache(maxsize=16)
def _translated_rows(tree: BettingTree, own: BettingTree) -> NDArray[np.int64]:
    """Return the row on the strategy's own tree that leads to each node of `tree`: [V]; −1 if none.

    After an extra raise, the call is row 0 of the round, which starts the round and always holds 1.
    """
    row = np.full(len(tree), -1, np.int64)
    for player in (0, 1):
        rows, places = player_rows(own, player).row, follow(own, tree, player)
        acts = (tree.kind == NodeKind.DECISION) & (tree.player == player)
        for node in np.flatnonzero(acts).tolist():
            place, _ = places[node]
            for child in tree.children(node):
                kind = chr(tree.action_kind[child])
                if place in (CALLS, NEVER):
                    row[child] = 0 if kind == "c" else -1
                elif (same := own.same_child(place, tree, child)) is not None:
                    row[child] = rows[same]
    return row
