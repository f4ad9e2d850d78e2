"""Averages of CFR by tables, computed board by board: a spot of gigabytes answers in seconds.

The rounds before the last are computed at once: plans from their tables, and values by one sweep
over all boards of the last round. A board of the last round is read, matched and evaluated alone.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from equilibrist.kernels.treeplex import block
from equilibrist.models.board_game import one_board
from equilibrist.models.game import EXPECTATION, Floats, SequenceGame
from equilibrist.solving.lean_cfr import TableCFR, table_block
from equilibrist.solving.solver import State


@dataclass(frozen=True, eq=False)
class TableBoards:
    """State of `TableCFR` as `strategies.spot_report.BoardStrategies`; arrays may be on disk."""

    game: SequenceGame
    solver: TableCFR
    state: State

    def plan(self, player: int, board: int) -> Floats:
        """Return a board's block of the average plan: [Q, S]."""
        tree = self.game.trees[player]
        if board < tree.board_start[-2]:
            return block(tree, self._round(board), board, self._trunk[player])
        return self._last(player, board)[0]

    def values(self, player: int, board: int, rule: int = EXPECTATION) -> Floats:
        """Return the value of each row with everything below it: [Q, S].

        Before the last round, values of states that the player cannot hold have no meaning.
        """
        tree = self.game.trees[player]
        if board < tree.board_start[-2]:
            return block(tree, self._round(board), board, self._trunk_values(player, rule))
        alone = one_board(self.game, board)
        values = alone.gradient(player, self._last(1 - player, board)[0].ravel())
        alone.fold_up(player, rule, values, self._last(player, board)[1].ravel())
        return values.reshape(-1, int(tree.num_states[board]))

    def _last(self, player: int, board: int) -> tuple[Floats, Floats]:
        """Return plan and behaviour on a board of the last round: [Q, S] each."""
        tree, alone = self.game.trees[player], one_board(self.game, board)
        entries, states = int(alone.trees[player].entry_start[-1]), int(tree.num_states[board])
        reach = np.ones((entries, states), np.float32)
        if board >= tree.board_start[1]:
            above = int(tree.board_parent[board])
            rows = tree.entry_parent[tree.entry_start[-2] :]
            columns = tree.state_parent[tree.state_start[board] : tree.state_start[board + 1]]
            reach = self.plan(player, above)[rows][:, columns]
        table = table_block(self.game, board, self.state, player)
        behaviour = alone.behaviour(player, np.vstack([reach, table]).ravel())
        played = behaviour.reshape(-1, states).copy()
        for decision, parent in enumerate(alone.trees[player].decision_parent):
            if parent < entries:
                first = int(alone.trees[player].decision_first[decision])
                size = int(alone.trees[player].decision_size[decision])
                played[first : first + size] *= reach[parent]
        plan = alone.realize(player, played.ravel()).reshape(-1, states)
        plan[:entries] = reach
        return plan, behaviour

    def _round(self, board: int) -> int:
        return int(np.searchsorted(self.game.trees[0].board_start, board, side="right")) - 1

    @functools.cached_property
    def _trunk(self) -> tuple[Floats, Floats]:
        first, second = (self.solver.trunk(self.game, self.state, "average", p) for p in (0, 1))
        return first[0], second[0]

    def _trunk_values(self, player: int, rule: int) -> Floats:
        if (player, rule) not in self._stored_values:
            found = self.solver.trunk_values(self.game, self.state, player, rule)
            self._stored_values[player, rule] = found
        return self._stored_values[player, rule]

    @functools.cached_property
    def _stored_values(self) -> dict[tuple[int, int], Floats]:
        return {}
