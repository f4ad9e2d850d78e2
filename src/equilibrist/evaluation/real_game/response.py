"""Exact best response in limit hold'em itself, to a strategy of any abstraction.

One flop is computed at a time, all betting together: for each turn the rivers by
`kernels.cpu.real_game.respond_last`, their sums folded up to the turn, those to the flop. Cards
that a renaming of suits maps to each other are dealt once and counted; before a maximum is taken,
values are averaged over the renamings that keep the board, so that every hand has its own.
Probabilities of the last round are whole numbers, everything before it is in float64.

Public tree, sorted hands and merged boards are those of Johanson, Waugh, Bowling and Zinkevich
2011, "Accelerating best response calculation in large extensive games"; lanes and ends are ours.
"""

from __future__ import annotations

import functools
import math
import threading
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.cards.card import Cards
from equilibrist.cards.hand import NUM_CLASSES, NUM_HANDS, class_table, hand_table
from equilibrist.cards.isomorphism import DealIndexer
from equilibrist.cards.ranking import rank_tables
from equilibrist.cards.suits import all_renamings, rename, renamed_hands
from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.real_game.positions import Lanes, find_positions, sequences_of
from equilibrist.games.betting_tree import NodeKind
from equilibrist.games.rules import GameRules
from equilibrist.kernels.cpu import real_game as kernel
from equilibrist.kernels.cpu.real_game import (
    HANDS,
    Board,
    OpponentHands,
    OpponentSequences,
    RoundSpace,
    SortedHands,
    Space,
    aligned,
)
from equilibrist.kernels.cpu.real_game_lanes import SIXTEEN
from equilibrist.models.game import Floats
from equilibrist.strategies.played import BucketColumns, FixedMix, TableStrategy


@dataclass(frozen=True)
class Flops:
    """Flops of a game up to suits."""

    boards: NDArray[np.uint8]  # [F, 3]
    multiplicity: NDArray[np.int64]  # [F] number of raw flops that each represents

    @staticmethod
    def of(rules: GameRules) -> Flops:
        """Return all flops of a game.

        Example:
            >>> from equilibrist.games.catalog import get_game
            >>> flops = Flops.of(get_game("holdem-limit"))
            >>> len(flops.boards), int(flops.multiplicity.sum())
            (1755, 22100)
        """
        indexer = DealIndexer((3,), rules.deck)
        boards = indexer.unindex_array(np.arange(indexer.size))
        return Flops(boards, indexer.multiplicities().astype(np.int64))


def is_holdem(rules: GameRules) -> bool:
    """Return whether a game has the cards and the bets of limit hold'em, with any deck.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> is_holdem(get_game("royal-holdem")), is_holdem(get_game("leduc"))
        (True, False)
    """
    return (
        rules.is_limit
        and not rules.stacks
        and (rules.num_hole_cards, rules.num_board_cards) == (2, (0, 3, 1, 1))
        and min(rules.max_raises) > 0
    )


def check_game(rules: GameRules) -> None:
    """Raise `InvalidValueError` for games that are not limit hold'em."""
    if not is_holdem(rules):
        raise InvalidValueError(
            f"{rules.name} is not limit hold'em; real-game best responses need two hole cards, "
            "flop, turn and river, and at least one raise per round",
            value=rules.name,
        )


class Response:
    """Best response in one seat to a strategy in the other.

    Example:
        >>> from equilibrist.games.betting_tree import BettingTree
        >>> from equilibrist.games.catalog import get_game
        >>> blind = FixedMix(BettingTree.build(get_game("holdem-limit")), (0.1, 0.6, 0.3))
        >>> [len(positions.nodes) for positions in Response(blind, 1).positions]
        [4, 8, 16]
    """

    def __init__(self, strategy: FixedMix | TableStrategy, seat: int) -> None:
        self.seat, self.strategy, self.opponent = seat, strategy, strategy.seat(1 - seat)
        self.tree, self.rules = strategy.tree, strategy.tree.rules
        check_game(self.rules)
        self.positions = find_positions(self.opponent)
        left = len(self.rules.deck) - self.rules.total_board_cards
        self._num_last = math.comb(left, 2)
        last = self.positions[-1]
        self._lanes = Lanes.of(self.opponent, last, SIXTEEN) if last.nodes else None
        self._sequences = (
            sequences_of(self.opponent, self._lanes, self._num_last) if self._lanes else None
        )
        self._own = threading.local()  # work space of each thread

    # --- one flop ---------------------------------------------------------------------------------

    def flop_values(self, flop: Cards, turns: Floats | None = None) -> Floats:
        """Return chips won from each position of the flop round, summed by hand class: [P, 169].

        They are multiplied by the opponent's probability of being there, and averaged over turns
        and rivers. `turns` is the sum of the turns' values, if it is known.
        """
        if not self.positions[0].nodes:
            return np.zeros((0, NUM_CLASSES))
        return by_class(self.values(flop, turns)[:, :NUM_HANDS])

    def turn_values(self, turn: Cards) -> int:
        """Compute one turn and return its number of rivers, which forecasts measure."""
        if not self.positions[0].nodes:
            return 0
        self.values(turn)
        return len(board_cards(self.rules, turn).following)

    def values(self, board: Cards, dealt: Floats | None = None) -> Floats:
        """Return chips won with each hand from each position of the round of a board: [P, 1328].

        0 for hands that the board blocks. `dealt` is the sum of the values of the boards that
        follow, if it is known.
        """
        r, cards = len(board) - 2, board_cards(self.rules, board)
        following = self._dealt(board, r) if dealt is None else dealt
        left = float(len(self.rules.deck) - len(board) - 4)
        renamed = renamed_by(self.rules.num_suits)
        positions = self.positions[r - 1]
        tables = positions.following, self.met_rows[r - 1][1], positions.scale, positions.spent
        out = np.empty((len(positions.nodes), HANDS))
        kernel.respond_board(
            following, Board(left, cards.live, renamed, cards.keeping), self._hands(r, board),
            tables, self.betting(r), self._round_spaces[r - 1], out,
        )  # fmt: skip
        return out

    def betting(self, r: int) -> tuple[float, int, bool]:
        """Return a round's bet in chips, its maximum of raises, and whether the seat acts first."""
        rules = self.rules
        return float(rules.raise_sizes[r]), rules.max_raises[r], rules.first_players[r] == self.seat

    def _dealt(self, board: Cards, r: int) -> Floats:
        """Return the sum over next cards of the values of the next positions: [P', 1328]."""
        cards = board_cards(self.rules, board).following
        if r + 2 == self.rules.num_rounds:
            return self.last_values(board, cards)
        total = np.zeros((len(self.positions[r].nodes), HANDS))
        for card, weight in cards:
            total += weight * self.values((*board, card))
        return total

    def last_values(self, board: Cards, cards: list[tuple[int, int]]) -> Floats:
        """Return the weighted sum over last cards of the last positions' values: [P, 1328]."""
        if self._lanes is None or self._sequences is None:
            return np.zeros((0, HANDS))
        hands = sorted_hands(self.rules, board, tuple(card for card, _ in cards), self._num_last)
        last = self.rules.num_rounds - 1
        columns = self._no_columns[: len(cards)]
        if self.opponent.rows[last].shape[1] > 1:  # it sees its cards
            columns = self._last_columns(board, tuple(card for card, _ in cards), hands)
        weight = np.array([float(many) for _, many in cards])
        sequences = self._sequences
        out = aligned((len(sequences.chips), HANDS, SIXTEEN), np.float64)
        kernel.respond_last(
            hands, columns, self.first_columns, weight, sequences, self.betting(last),
            self._space(sequences), out,
        )  # fmt: skip
        return np.ascontiguousarray(out[self._lanes.case, :, self._lanes.lane])

    def _last_columns(self, board: Cards, cards: Cards, hands: SortedHands) -> NDArray[np.int32]:
        """Return the opponent's columns of the hands of last boards: [N, n]."""
        own = self.strategy.columns if isinstance(self.strategy, TableStrategy) else None
        if isinstance(own, BucketColumns) and isinstance(own.buckets, Abstraction):
            return own.buckets.last_buckets(board, cards, hands.hand)
        columns, last = np.empty(hands.hand.shape, np.int32), self.rules.num_rounds - 1
        for i, card in enumerate(cards):
            columns[i] = self.strategy.columns_of(last, (*board, card))[hands.hand[i]]
        return columns

    def _space(self, sequences: OpponentSequences) -> Space:
        """Return the work space of this thread."""
        if not hasattr(self._own, "space"):
            n = self._num_last
            num_rows, num_ends = sequences.table.shape[1], len(sequences.end)
            whole = np.int32
            self._own.space = Space(
                aligned((n * SIXTEEN,), whole),
                aligned((52 * SIXTEEN,), whole),
                aligned((52 * SIXTEEN,), whole),
                aligned((n * SIXTEEN,), whole),
                aligned((n * num_rows * 2 * SIXTEEN,), whole),
                aligned((num_ends * 2 * SIXTEEN,), np.float32),
            )
        return self._own.space

    @functools.cached_property
    def _no_columns(self) -> NDArray[np.int32]:
        """Column 0 for all hands of boards of the last round: [52, n]."""
        return np.zeros((52, self._num_last), np.int32)

    @functools.cached_property
    def first_columns(self) -> NDArray[np.int32]:
        """Column of every hand in the first round, if it multiplies later ones: [H]."""
        if self.opponent.first_row.max() < 0:
            return np.zeros(NUM_HANDS, np.int32)
        return self.strategy.columns_of(0, ()).astype(np.int32)

    def _hands(self, r: int, board: Cards) -> OpponentHands:
        """Return the opponent's probabilities at the ends of a round, and its columns."""
        opponent = self.opponent
        return OpponentHands(
            opponent.rows[r],
            opponent.rows[0],
            self.met_rows[r - 1][0],
            self.strategy.columns_of(r, board),
            self.first_columns,
            hand_table(),
        )

    @property
    def _round_spaces(self) -> list[RoundSpace]:
        """Work space of this thread for the rounds before the last."""
        if not hasattr(self._own, "rounds"):
            self._own.rounds = [
                RoundSpace(
                    aligned((len(rows), HANDS), np.float64),
                    np.empty(HANDS),
                    np.empty(52),
                    aligned((row.shape[1] * 16,), np.float64),
                )
                for rows, row in self.met_rows
            ]
        return self._own.rounds

    @functools.cached_property
    def met_rows(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Rows and first rows of the opponent at ends, [Q, 2], by round from the second.

        Also the index among them of each position's ends, −1 if never reached: [P, E].
        """
        found = []
        for positions in self.positions:
            first = self.opponent.first_row[positions.ends]
            pairs = np.stack([positions.row, first], axis=-1).reshape(-1, 2)
            kept, number = np.unique(pairs, axis=0, return_inverse=True)
            number = number.reshape(positions.row.shape)
            found.append((kept, np.where(positions.row < 0, -1, number)))
        return found

    # --- before the flop --------------------------------------------------------------------------

    def win(self, sums: Floats) -> float:
        """Return the response's chips per hand, from sums over raw flops of `flop_values`.

        `sums` [P, 169] count each flop with the number of raw flops of its class.
        """
        deck = self.rules.deck
        in_deck = np.isin(hand_table(), deck.cards).all(axis=1)
        sizes = np.bincount(class_table()[in_deck], minlength=NUM_CLASSES)
        flops = math.comb(len(deck) - 4, 3)
        mean = sums / np.maximum(sizes, 1) / flops
        values = self._preflop(0, mean[:, class_table()] * in_deck)
        pairs = in_deck.sum() * math.comb(len(deck) - 2, 2)
        return float((values * in_deck).sum() / pairs)

    def _preflop(self, node: int, flops: Floats) -> Floats:
        """Return the value of every hand from a node of the first round on: [H]."""
        tree, opponent = self.tree, self.opponent
        if tree.kind[node] == NodeKind.DECISION:
            children = np.stack([self._preflop(child, flops) for child in tree.children(node)])
            return children.max(axis=0) if tree.player[node] == self.seat else children.sum(axis=0)
        if opponent.row[node] < 0:
            return np.zeros(NUM_HANDS)
        if tree.kind[node] == NodeKind.ROUND_END:
            return opponent.scale[node] * flops[self._opening(int(tree.first_child[node]))]
        row = opponent.rows[0][opponent.row[node]][self.strategy.columns_of(0, ())]
        live = board_cards(self.rules, ()).live[:NUM_HANDS]
        met = np.zeros(HANDS)
        kernel.meet(opponent.scale[node] * row * live, hand_table(), np.zeros(52), met)
        lost = float(tree.spent[node, tree.player[node]])
        return (-lost if tree.player[node] == self.seat else lost) * met[:NUM_HANDS]

    def _opening(self, node: int) -> int:
        """Return the position of an opening of the second round."""
        first = self.positions[0]
        belief, spent = self.opponent.belief[node], self.tree.spent[node].max()
        same = (self.opponent.belief[first.nodes] == belief) & (first.spent == spent)
        return int(np.flatnonzero(same)[0])


def by_class(values: Floats) -> Floats:
    """Return sums [P, 169] over the classes of hands of values [P, H]."""
    return np.stack([np.bincount(class_table(), own, NUM_CLASSES) for own in values])


# --- cards and suits ------------------------------------------------------------------------------


class BoardCards(NamedTuple):
    """Cards that a board leaves; cached, so that the second seat need not find them again."""

    following: list[tuple[int, int]]  # one card of each class that may come, and the class's size
    live: Floats  # [1328] 1 for hands of the deck that the board does not block, 0 for others
    keeping: NDArray[np.int64]  # [G] renamings that keep the board's rounds, of `renamed_by`


@functools.lru_cache(maxsize=128)
def board_cards(rules: GameRules, board: Cards) -> BoardCards:
    """Return the cards and hands that a board leaves.

    Example:
        >>> from equilibrist.cards.card import parse_cards
        >>> from equilibrist.games.catalog import get_game
        >>> found = board_cards(get_game("holdem-limit"), tuple(parse_cards("2c2d2h")))
        >>> len(found.following), len(found.keeping), int(found.live.sum())
        (25, 6, 1176)
    """
    is_free = np.zeros(52, np.bool_)
    is_free[list(rules.deck.cards)] = True
    sizes, live, keeping = np.zeros(52, np.int64), np.zeros(HANDS), np.empty(24, np.int64)
    own = np.array(board, np.int64)
    found = sizes, live, keeping
    number = kernel.read_board(_renamed_cards(rules.num_suits), hand_table(), own, is_free, found)
    live.flags.writeable = False
    following = [(card, size) for card, size in enumerate(sizes.tolist()) if size]
    return BoardCards(following, live, keeping[:number])


@functools.cache
def _renamed_cards(num_suits: int) -> NDArray[np.int64]:
    """Return the cards that renamings of suits make, identity first: [G, 52]."""
    return np.array(
        [[rename(card, names) for card in range(52)] for names in all_renamings(num_suits)]
    )


@functools.cache
def renamed_by(num_suits: int) -> NDArray[np.int64]:
    """Return the hands that renamings of suits make, identity first: [G, H]."""
    return np.array([renamed_hands(names) for names in all_renamings(num_suits)])


@functools.lru_cache(maxsize=128)
def sorted_hands(rules: GameRules, board: Cards, last: Cards, num_hands: int) -> SortedHands:
    """Return the hands of the boards that follow one board; cached for the second seat."""
    many = len(last)
    found = SortedHands(
        np.empty((many, num_hands), np.int16),
        np.empty((many, num_hands, 2), np.uint8),
        np.empty((many, num_hands + 1), np.int16),
        np.empty(many, np.int64),
    )
    kernel.sort_hands(
        rank_tables(7, rules.ranking),
        np.array(board, np.uint8),
        np.array(last, np.uint8),
        _absent(rules),
        _shuffled_hands(),
        (np.empty(num_hands, np.int32), np.empty(kernel.NUM_VALUES, np.int32)),
        found,
    )
    return found


@functools.cache
def _absent(rules: GameRules) -> np.uint64:
    """Return the masks of the cards that are not in the deck, as one."""
    masks = rank_tables(7, rules.ranking).card_mask
    absent = np.setdiff1d(np.arange(52), rules.deck.cards)
    return np.bitwise_or.reduce(masks[absent], initial=np.uint64(0))


@functools.cache
def _shuffled_hands() -> tuple[NDArray[np.int16], NDArray[np.uint8]]:
    """Return the numbers [H] and cards [H, 2] of all hands in no order."""
    numbers = np.argsort(np.arange(NUM_HANDS) * 40503 & 0xFFFF)
    return numbers.astype(np.int16), hand_table()[numbers]
