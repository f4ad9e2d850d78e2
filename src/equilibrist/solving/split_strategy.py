"""The strategy of a run on a split game, with the tables of a subgame read when it is asked for."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.card import Cards, cards_name
from equilibrist.games.betting_tree import BettingTree
from equilibrist.kernels.array_structs import Treeplex
from equilibrist.kernels.cpu.tables import MOST
from equilibrist.kernels.decision_rules import regret_matching
from equilibrist.kernels.treeplex import block
from equilibrist.models.card_states import CardStates
from equilibrist.models.game import BEST, Floats
from equilibrist.models.split import Split
from equilibrist.models.treeplex import player_rows
from equilibrist.solving.decomposed import DecomposedCFR
from equilibrist.solving.solver import State
from equilibrist.solving.subgame_engine import Key, Order, Table, Tables
from equilibrist.strategies.behaviour_table import find_board
from equilibrist.strategies.seat_tables import hand_numbers

_MOST_SUBGAMES = 32  # tables kept in memory


@dataclass(frozen=True, eq=False)
class SplitStrategy:
    """Strategy of a state of `DecomposedCFR` in the real game (`strategies.played.RealStrategy`).

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> solver = DecomposedCFR.of(Split.of(get_game("leduc"), "preflop"))
        >>> state = solver.init(solver.split.trunk)
        >>> strategy = SplitStrategy(solver, state, solver.engine.tables)
        >>> strategy.probabilities(strategy.tree.parse("cc/r"), (51,))[:, 50].tolist()
        [0.333..., 0.333..., 0.333...]
    """

    solver: DecomposedCFR
    state: State
    tables: Tables

    @functools.cached_property
    def tree(self) -> BettingTree:
        """Betting of the whole game."""
        return BettingTree.build(self._split.rules, self._split.menu)

    def probabilities(self, node: int, board: Cards) -> Floats:
        """Return the probability of each action of a decision, with each hand: [A, H].

        Hands that the board blocks have those of another hand.
        """
        if int(self.tree.round[node]) < self._split.rounds:
            return self._in_trunk(node, board)
        return self._in_subgame(node, board)

    @property
    def _split(self) -> Split:
        return self.solver.split

    def _in_trunk(self, node: int, board: Cards) -> Floats:
        """Return the probabilities in the trunk, whose nodes are the first of the game's."""
        player, r = int(self.tree.player[node]), int(self.tree.round[node])
        trunk = self._split.trunk
        assert trunk.betting is not None
        assert trunk.states is not None
        found, state = _locate(self._split, trunk.states, r, board, 0)
        tree = trunk.trees[player]
        own = block(tree, r, int(tree.board_start[r]) + found, self._trunk_behaviour[player])
        rows = player_rows(trunk.betting, player).row[list(trunk.betting.children(node))]
        return np.asarray(own[rows][:, state], np.float64)

    def _in_subgame(self, node: int, board: Cards) -> Floats:
        """Return the probabilities in a subgame, from its tables."""
        split, player = self._split, int(self.tree.player[node])
        flop = board[: split.rules.board_cards_by(1)]
        number, _ = _locate(split, split.first_states, 1, flop, 0)
        path = list(self.tree.path(node))
        end = max(v for v in path if self.tree.round[v] < split.rounds)
        way = [found.name for found in split.ways].index(self.tree.name(end))
        below = self._betting(split.ways[way].pot)
        name = self.tree.name(node).removeprefix(f"{split.ways[way].name}/")
        children = list(below.children(below.parse(name)))
        r = int(self.tree.round[node])
        found, state = _locate(split, self._states(number), r - 1, board, 1)
        tree = split.deal(number).trees[player]
        table = self._tables(number * len(split.ways) + way)[player]
        own = table_rows(tree, table, r - split.rounds + 1, found, split.rows[player].row[children])
        return regret_matching(own.astype(np.float64))[:, state]

    @functools.cached_property
    def _trunk_behaviour(self) -> tuple[Floats, Floats]:
        trunk = self._split.trunk
        first, second = self.solver.plans(trunk, self.state)
        return trunk.behaviour(0, first), trunk.behaviour(1, second)

    @functools.cached_property
    def _betting(self) -> Callable[[int], BettingTree]:
        """Betting below a way, by its pot."""
        build, split = BettingTree.build, self._split
        return functools.cache(
            lambda pot: build(split.rules, split.menu, first_round=split.rounds, pot=pot)
        )

    @functools.cached_property
    def _states(self) -> Callable[[int], CardStates]:
        """Boards and states below a board of the second round."""
        return functools.lru_cache(_MOST_SUBGAMES)(self._split.states)

    @functools.cached_property
    def _tables(self) -> Callable[[int], tuple[Table, Table]]:
        """Tables of a subgame."""
        return functools.lru_cache(_MOST_SUBGAMES)(self._read)

    def _read(self, subgame: int) -> tuple[Table, Table]:
        """Read the tables of both players in which the strategy is."""
        part = self.solver.part(self.state)
        done = 2 * int(self.state["iteration"])
        order = Order(done, ((0, BEST), (1, BEST)), (0.0, 0.0, 0.0, -1.0), part)
        found = self.tables.read(subgame, order)
        return found[Key(part, 0)], found[Key(part, 1)]


def table_rows(
    tree: Treeplex, table: Table, r: int, board: int, rows: NDArray[np.int32]
) -> NDArray[np.floating]:
    """Return rows of actions of a subgame's table on a board of its round `r`: [A, S]."""
    at = int(tree.board_start[r]) + board
    if r < len(tree.num_sequences) - 1:
        start, end = int(tree.block_start[at]), int(tree.block_start[at + 1])
        return table.trunk[start:end].reshape(int(tree.num_sequences[r]), -1)[rows]
    entries, first = int(tree.entry_start[-1] - tree.entry_start[-2]), int(tree.board_start[-2])
    size, states = int(tree.num_sequences[-1]) - entries, int(tree.num_states[at])
    start = size * int(tree.state_start[at] - tree.state_start[first])
    own = table.last[start : start + size * states].reshape(size, states)[rows - entries]
    if not len(table.scales):
        return own
    return own * (table.scales[board * size + rows - entries][:, None] / np.float32(MOST))


def _locate(
    split: Split, states: CardStates, r: int, board: Cards, first_round: int
) -> tuple[int, NDArray[np.int64]]:
    """Return the stored board that represents cards, and the state of every hand: [H]."""
    found, _, renaming = find_board(split.rules, states, r, cards_name(board), first_round)
    same = hand_numbers(np.argsort(renaming)[states.hands.astype(np.int64)])
    return found, states.state_of_hand[r][found][same].astype(np.int64)
