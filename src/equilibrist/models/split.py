"""A game divided into a trunk and subgames, so that no machine has to hold all of its tables.

The *trunk* is the rounds before the split: the first, or the first two. A *subgame* is what follows
one way of betting in the trunk (`Way`) on one board of the second round, the flop of hold'em, up to
a renaming of suits. Subgames are numbered board by board, the ways to each board one after another.

A subgame has the treeplexes, leaves and kernels of a spot (`subgame.py`). Its first round is the
board of the trunk from which it is entered, with one locked decision of one action in place of a
range: its probability is the *reach* of each state, what a player's own plan in the trunk gives it.
The values of that row are the counterfactual values that the trunk takes back.

A limit game has the same betting below every way, so ways differ by their stakes only, and the
boards and hands of a subgame (`Deal`) serve all ways to its board.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equilibrist.errors import InvalidValueError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.rules import GameRules
from equilibrist.kernels.array_structs import LeafTables, PairTables, Treeplex
from equilibrist.kernels.cpu.table_sweeps import Game as KernelGame
from equilibrist.models.card_states import CardStates, Symmetry, card_states, default_symmetry
from equilibrist.models.exact import check_exact
from equilibrist.models.game import SequenceGame
from equilibrist.models.leaves import sorted_pairs
from equilibrist.models.sections import LastRound, last_round
from equilibrist.models.treeplex import PlayerRows, leaf_tables, player_rows, treeplex
from equilibrist.phases import phase

SPLITS = {"preflop": 1, "flop": 2}  # rounds of the trunk
_GAME_MENU = BetMenu()
_ENTRY, _REACH = 0, 1  # rows of a subgame's first round: its entry, and the reach in the trunk
_MOST_BYTES = 2**30  # of boards and hands that are kept


class Way(NamedTuple):
    """One way of betting through the trunk."""

    name: str  # as in ACPC's notation, without the `/` of the next deal
    rows: tuple[int, int]  # of the players, in the last round of the trunk
    pot: int  # chips of both players, in equal shares


class Deal(NamedTuple):
    """Boards and hands below one board of the second round, for all ways to it."""

    trees: tuple[Treeplex, Treeplex]
    pairs: PairTables

    @property
    def num_states(self) -> int:
        """Number of states on the trunk's board."""
        return int(self.trees[0].num_states[0])

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return sum(array.nbytes for part in (*self.trees, self.pairs) for array in part)


class _Betting(NamedTuple):
    """Betting below a way: the rows are the same for all ways, the leaves depend on the pot."""

    leaves: LeafTables
    last: LastRound


@dataclass(frozen=True, eq=False)
class Split:
    """A limit game as a trunk and subgames.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> split = Split.of(get_game("leduc"), "preflop")
        >>> [way.name for way in split.ways], len(split.boards), split.num_subgames
        (['cc', 'rc', 'crc', 'rrc', 'crrc'], 3, 15)
    """

    rules: GameRules  # with the raise caps of the menu
    menu: BetMenu
    rounds: int  # number of rounds of the trunk
    trunk: SequenceGame
    ways: tuple[Way, ...]
    first_states: CardStates  # of the first two rounds
    rows: tuple[PlayerRows, PlayerRows]  # of subgames
    _deals: OrderedDict[int, Deal] = field(default_factory=OrderedDict, repr=False)
    _guard: threading.RLock = field(default_factory=threading.RLock, repr=False)

    @classmethod
    def of(
        cls,
        rules: GameRules,
        after: str,
        menu: BetMenu = _GAME_MENU,
        symmetry: Symmetry | None = None,
    ) -> Split:
        """Divide a limit game after its first round (`preflop`) or its second (`flop`)."""
        rounds = checked_rounds(rules, after)
        betting = BettingTree.build(rules, menu, last_round=rounds - 1)
        symmetry = symmetry or default_symmetry(rules)
        with phase("building the trunk: cards, states and betting"):
            states = card_states(rules, symmetry, last_round=1)
            trunk = _trunk(rules, betting, _first_rounds(states, rounds))
        ways, rest = _ways(betting), BettingTree.build(rules, menu, first_round=rounds)
        return cls(
            rules=trunk.betting.rules if trunk.betting else rules,
            menu=menu,
            rounds=rounds,
            trunk=trunk,
            ways=ways,
            first_states=states,
            rows=(_with_reach(player_rows(rest, 0)), _with_reach(player_rows(rest, 1))),
        )

    @property
    def boards(self) -> NDArray[np.uint8]:
        """[F, cards] boards of the second round, one of each class."""
        return self.first_states.boards[1]

    @property
    def num_subgames(self) -> int:
        """Number of subgames: boards times ways."""
        return len(self.boards) * len(self.ways)

    @property
    def symmetry(self) -> Symmetry:
        """Symmetry by which boards and hands are merged."""
        assert self.trunk.states is not None
        return self.trunk.states.symmetry

    def place(self, subgame: int) -> tuple[int, Way]:
        """Return the board of the second round and the way of a subgame."""
        board, way = divmod(subgame, len(self.ways))
        return board, self.ways[way]

    def name(self, subgame: int) -> str:
        """Return the name of a subgame, for messages: its board and its way."""
        from equilibrist.cards.card import cards_name

        board, way = self.place(subgame)
        return f"{way.name} on {cards_name(self.boards[board].tolist())}"

    @cached_property
    def start(self) -> NDArray[np.int64]:
        """Where each subgame's states start in a row of reaches or values: [subgames + 1]."""
        states = [self.trunk.trees[0].num_states[self._trunk_board(b)] for b in range(self._size)]
        return np.cumsum([0, *np.repeat(states, len(self.ways))]).astype(np.int64)

    @cached_property
    def places(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where each player's states in all subgames are in a plan of the trunk: [M]."""
        return self._places(0), self._places(1)

    def _places(self, player: int) -> NDArray[np.int64]:
        tree, found = self.trunk.trees[player], []
        for b in range(self._size):
            board = self._trunk_board(b)
            width = int(tree.num_states[board])
            for way in self.ways:
                start = int(tree.block_start[board]) + way.rows[player] * width
                found.append(np.arange(start, start + width))
        return np.concatenate(found)

    def game(self, subgame: int) -> KernelGame:
        """Return the arrays of a subgame for the kernels."""
        board, way = self.place(subgame)
        deal, betting = self.deal(board), self._betting[way.pot]
        sections, leaves = betting.last
        return KernelGame(deal.trees, betting.leaves, (deal.pairs, deal.pairs), sections, leaves)

    def deal(self, board: int) -> Deal:
        """Return the boards and hands below a board of the second round.

        They are kept, those used latest, as long as they have at most a gigabyte.
        """
        with self._guard:
            if board not in self._deals:
                found = self._build(board)
                while self._deals and self._kept_bytes + found.nbytes > _MOST_BYTES:
                    self._deals.popitem(last=False)
                self._deals[board] = found
            self._deals.move_to_end(board)
            return self._deals[board]

    @property
    def _kept_bytes(self) -> int:
        return sum(deal.nbytes for deal in self._deals.values())

    def states(self, board: int) -> CardStates:
        """Build the boards and states from a board of the second round on."""
        cards = self.boards[board].tolist()
        return card_states(self.rules, self.symmetry, first_round=1, board=cards)

    @property
    def _size(self) -> int:
        return len(self.boards)

    def _trunk_board(self, board: int) -> int:
        """Return the trunk's board from which the subgames on a board are entered."""
        return board + int(self.trunk.trees[0].board_start[1]) if self.rounds == 2 else 0

    def _build(self, board: int) -> Deal:
        """Build the boards and hands below a board of the second round."""
        states = self.states(board)
        if self.rounds == 1:
            assert self.trunk.states is not None
            states = _below(self.trunk.states, states)
        number = self.first_states.multiplicity[1][board]
        often = [own * number for own in states.multiplicity]
        pairs = sorted_pairs(self.rules, replace(states, multiplicity=often))
        return Deal((_locked(self.rows[0], states), _locked(self.rows[1], states)), pairs)

    @cached_property
    def _betting(self) -> dict[int, _Betting]:
        """Leaves of the subgames by pot, and their last round in sections."""
        trees, found = self.deal(0).trees, {}
        for pot in {way.pot for way in self.ways}:
            betting = BettingTree.build(self.rules, self.menu, first_round=self.rounds, pot=pot)
            leaves = _after_reach(leaf_tables(betting, self.rows))
            found[pot] = _Betting(leaves, last_round(trees, leaves))
        return found


def checked_rounds(rules: GameRules, after: str) -> int:
    """Return the rounds of the trunk; raise `InvalidValueError` if the game cannot be split."""
    check_exact(rules)
    if after not in SPLITS:
        raise InvalidValueError(
            f"a game is split after {' or '.join(SPLITS)}, not after {after!r}", value=after
        )
    if rules.betting != "limit" or rules.stacks is not None or rules.rollout_cards:
        raise InvalidValueError(
            f"{rules.name} cannot be split: only limit games without stacks can", value=rules.name
        )
    if not SPLITS[after] < rules.num_rounds:
        raise InvalidValueError(
            f"{rules.name} has {rules.num_rounds} rounds, so it cannot be split after {after}",
            value=after,
        )
    return SPLITS[after]


def _ways(betting: BettingTree) -> tuple[Way, ...]:
    """Return the ways through a trunk, in the order of its nodes."""
    rows = [player_rows(betting, player).row for player in (0, 1)]
    return tuple(
        Way(
            betting.name(int(node)),
            (int(rows[0][node]), int(rows[1][node])),
            int(betting.spent[node].sum()),
        )
        for node in betting.nodes(NodeKind.ROUND_END, betting.last_round)
    )


def _trunk(rules: GameRules, betting: BettingTree, states: CardStates) -> SequenceGame:
    """Build the trunk: folds are leaves, and nothing is won where its last round ends."""
    rows = (player_rows(betting, 0), player_rows(betting, 1))
    return SequenceGame(
        name=rules.name,
        unit="chips",
        trees=(treeplex(rows[0], states), treeplex(rows[1], states)),
        leaves=leaf_tables(betting, rows),
        pairs=sorted_pairs(rules, states, first_round=0),
        first_player=rules.first_players[0],
        betting=betting,
        states=states,
    )


def _first_rounds(states: CardStates, rounds: int) -> CardStates:
    """Return the states of the first rounds."""
    return replace(
        states,
        boards=states.boards[:rounds],
        multiplicity=states.multiplicity[:rounds],
        board_parent=states.board_parent[:rounds],
        num_states=states.num_states[:rounds],
        state_of_hand=states.state_of_hand[:rounds],
        state_parent=states.state_parent[:rounds],
    )


def _below(above: CardStates, states: CardStates) -> CardStates:
    """Return states with the one board of the round before on top of them."""
    own, parents = states.state_of_hand[0][0], above.state_of_hand[0][0]
    parent = np.zeros(int(states.num_states[0][0]), np.int32)
    parent[own[own >= 0]] = parents[own >= 0]
    return replace(
        states,
        boards=[above.boards[0], *states.boards],
        multiplicity=[above.multiplicity[0], *states.multiplicity],
        board_parent=[above.board_parent[0], np.zeros(1, np.int64), *states.board_parent[1:]],
        num_states=[above.num_states[0], *states.num_states],
        state_of_hand=[above.state_of_hand[0], *states.state_of_hand],
        state_parent=[above.state_parent[0], parent, *states.state_parent[1:]],
    )


def _with_reach(rows: PlayerRows) -> PlayerRows:
    """Return the rows of a player with one more round before all others, of one action."""
    return replace(
        rows,
        decision=np.where(rows.decision >= 0, rows.decision + 1, -1).astype(np.int32),
        num_sequences=np.concatenate([[2], rows.num_sequences]),
        entry_start=np.concatenate([[0], rows.entry_start + 1]),
        entry_parent=np.concatenate([[-1, _REACH], rows.entry_parent[1:]]).astype(np.int32),
        decision_start=np.concatenate([[0], rows.decision_start + 1]),
        decision_parent=np.concatenate([[_ENTRY], rows.decision_parent]).astype(np.int32),
        decision_first=np.concatenate([[_REACH], rows.decision_first]).astype(np.int32),
        decision_size=np.concatenate([[1], rows.decision_size]).astype(np.int32),
    )


def _after_reach(leaves: LeafTables) -> LeafTables:
    """Return leaves with a first round that has none."""
    return leaves._replace(
        fold_start=np.concatenate([[0], leaves.fold_start]),
        showdown_start=np.concatenate([[0], leaves.showdown_start]),
    )


def _locked(rows: PlayerRows, states: CardStates) -> Treeplex:
    """Build a player's side of a subgame; the decision of its first round is locked."""
    tree = treeplex(rows, states)
    locked = np.zeros(len(tree.locked), np.bool_)
    locked[0] = True
    return tree._replace(locked=locked)


def reach_places(tree: Treeplex) -> slice:
    """Return where a subgame's reaches are in a player's plan and behaviour, and its values."""
    states = int(tree.num_states[0])
    return slice(_REACH * states, (_REACH + 1) * states)
