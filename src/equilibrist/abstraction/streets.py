"""The boards of a game, street by street, and the deals that lead from one street to the next.

A street has one board of each class up to suit isomorphism. All tables over a street are
[boards, H], with one column per hand in the program's order of hands (1326 of two cards, or 52
cards), −1 if the board blocks the hand. To look up the hand {Ah, Kh} on a board, the suits of the
board are renamed to those of its class, and the suits of the hand likewise.

Before the last street, the order of the streets (flop, then turn) is part of a board. On the last
street the order no longer matters for the value of a hand, so its boards are plain sets: 134,459 of
five cards instead of 2,554,656.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equilibrist.cards.card import Card, cards_name, check_distinct
from equilibrist.cards.hand import hand_table
from equilibrist.cards.isomorphism import DealIndexer
from equilibrist.errors import CardError, InvalidValueError
from equilibrist.games.rules import GameRules
from equilibrist.kernels.array_structs import DealTables
from equilibrist.phases import phase

_MOST_LINKS = 20_000_000  # maximum number of stored deals onto boards; hold'em has 3.1 million


@dataclass(frozen=True, eq=False)
class Street:
    """The boards of a round and the deals of the next round: B boards, D deals onto each."""

    boards: NDArray[np.uint8]  # [B, cards] one of each class
    multiplicity: NDArray[np.int64]  # [B] number of boards of the class
    child: NDArray[np.int32]  # [B, D] board of the next street; D = 0 on the last
    renaming: NDArray[np.uint8]  # [B, D] suit renaming to that board


@dataclass(frozen=True, eq=False)
class Streets:
    """All streets of a game, with the boards of each.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> streets = Streets.of(get_game("rhode-island"))
        >>> [len(street.boards) for street in streets], streets.num_hands
        ([1, 13, 169], 52)
    """

    rules: GameRules
    ordered: bool  # whether the order of the streets is part of the last street's boards

    @staticmethod
    @functools.lru_cache(maxsize=4)
    def of(rules: GameRules, ordered: bool = False) -> Streets:
        """Return the streets of a game with one or two hole cards.

        With `ordered`, the order of the streets is part of the last street's boards too. Boards are
        numbered on first use; hold'em takes a second or two.
        """
        if rules.num_hole_cards not in (1, 2):
            raise InvalidValueError(
                f"{rules.name} deals {rules.num_hole_cards} hole cards; abstractions need 1 or 2",
                value=rules.num_hole_cards,
            )
        return Streets(rules, ordered)

    @functools.cached_property
    def hands(self) -> NDArray[np.uint8]:
        """All hands of 52 cards in the program's order: [H, 1 or 2]."""
        two = self.rules.num_hole_cards == 2
        return hand_table() if two else np.arange(52, dtype=np.uint8)[:, None]

    @functools.cached_property
    def in_deck(self) -> NDArray[np.int64]:
        """Indices of the hands of the deck: [N]."""
        return np.flatnonzero(np.isin(self.hands, self.rules.deck.cards).all(axis=1))

    @functools.cached_property
    def renamed(self) -> NDArray[np.int16]:
        """Image of each hand under each renaming of suits: [24, H]."""
        return _renamed_hands(self.hands)

    @functools.cached_property
    def tables(self) -> tuple[DealTables | None, ...]:
        """Index tables of the boards of each street; None before the first board card."""
        patterns = [board_pattern(self.rules, r, self.ordered) for r in range(len(self))]
        return tuple(
            DealIndexer(pattern, self.rules.deck).tables if pattern else None
            for pattern in patterns
        )

    @functools.cached_property
    def streets(self) -> tuple[Street, ...]:
        """Boards and deals of every street."""
        return _build(self)

    def __len__(self) -> int:
        return self.rules.num_rounds

    def __getitem__(self, r: int) -> Street:
        return self.streets[r]

    @functools.cached_property
    def _ends(self) -> list[int]:
        """Number of board cards dealt by each street."""
        return list(itertools.accumulate(self.rules.num_board_cards))

    @functools.cached_property
    def _deck_cards(self) -> frozenset[int]:
        return frozenset(self.rules.deck.cards)

    def num_boards(self, r: int) -> int:
        """Return the number of boards of a street, B, without building them."""
        pattern = board_pattern(self.rules, r, self.ordered)
        return DealIndexer(pattern, self.rules.deck).size if pattern else 1

    def boards(self, r: int) -> NDArray[np.uint8]:
        """Return the boards of a street without their deals: [B, cards]."""
        return _boards(self.rules, r, self.ordered)[0]

    def parents(self, r: int) -> NDArray[np.int64]:
        """Return the previous street's board of each board, with the same suits: [B].

        This is defined only for ordered boards.
        """
        if r == len(self) - 1 and not self.ordered:
            raise InvalidValueError("an unordered board has no unique previous board", value=r)
        parents = np.zeros(len(self[r].boards), np.int64)
        parents[self[r - 1].child] = np.arange(len(self[r - 1].boards))[:, None]
        return parents

    @property
    def num_hands(self) -> int:
        """Number of columns of all tables, H."""
        return len(self.hands)

    def locate(self, board: Sequence[Card]) -> tuple[int, int, NDArray[np.int16]]:
        """Return the street of a board, its index there, and the column of each hand: [H].

        Example:
            >>> from equilibrist.cards.card import parse_cards
            >>> from equilibrist.games.catalog import get_game
            >>> holdem = Streets.of(get_game("holdem-limit"))
            >>> holdem.locate(parse_cards("7s8s9s"))[:2] == holdem.locate(parse_cards("7c9c8c"))[:2]
            True
        """
        check_distinct(board)
        ends = self._ends
        if len(board) not in ends:
            raise CardError(
                f"a board of {self.rules.name} has {' or '.join(map(str, ends))} cards, "
                f"not {len(board)}",
                value=len(board),
            )
        r = ends.index(len(board))
        if not board:
            return r, 0, self.renamed[0]
        if not set(board) <= self._deck_cards:
            raise CardError(
                f"{cards_name(board)} has a card outside the deck {self.rules.deck.names}",
                value=cards_name(board),
            )
        from equilibrist.kernels.cpu.rollout import locate_board

        index, renaming = locate_board(
            self.tables[r], _renaming_numbers(), np.array(board, np.uint8)
        )
        return r, int(index), self.renamed[renaming]

    def check_hands(
        self, hands: ArrayLike, boards: ArrayLike
    ) -> tuple[int, NDArray[np.int64], NDArray[np.uint8]]:
        """Check hands and boards [n, cards]; return the round, the hand indices and the cards."""
        numbers, cards = np.asarray(hands), np.asarray(boards)
        if numbers.ndim != 1 or cards.ndim != 2 or len(cards) != len(numbers):
            raise InvalidValueError(
                "hands must be an array [n] and boards an array [n, cards], not "
                f"{list(numbers.shape)} and {list(cards.shape)}",
                value=cards.shape,
            )
        if cards.shape[1] not in self._ends:
            raise CardError(
                f"a board of {self.rules.name} has {' or '.join(map(str, self._ends))} cards, "
                f"not {cards.shape[1]}",
                value=cards.shape[1],
            )
        known = np.zeros(256, np.bool_)
        known[list(self._deck_cards)] = True
        small = cards.astype(np.uint8)
        seen = np.bitwise_or.reduce(np.left_shift(np.uint64(1), small.astype(np.uint64)), axis=1)
        right = known[small].all(axis=1) & (small == cards).all(axis=1)
        right &= np.bitwise_count(seen) == cards.shape[1]
        right &= (numbers >= 0) & (numbers < self.num_hands)
        if not right.all():
            bad = int(right.argmin())
            raise CardError(
                f"row {bad}: hand {numbers[bad]} of {self.num_hands} on the cards "
                f"{cards[bad].tolist()}; cards must be different and in the deck "
                f"{self.rules.deck.names}",
                value=cards[bad].tolist(),
                position=bad,
            )
        return self._ends.index(cards.shape[1]), numbers.astype(np.int64), small

    def look_up(
        self, r: int, table: NDArray[Any], hands: NDArray[np.int64], boards: Boards
    ) -> NDArray[np.int32]:
        """Return the entries of a table [B, H] of street `r` for N hands, each on its own board.

        `hands` [N] are indices; they are assumed to share no card with the boards.
        """
        number, renaming = boards.locate(self, r)
        return table[number, self.renamed[renaming, hands]].astype(np.int32)


class Boards:
    """Complete boards of N deals [N, cards], with cached indices on each street."""

    def __init__(self, cards: NDArray[np.uint8]) -> None:
        self.cards = cards
        self._found: dict[tuple[Streets, int], tuple[NDArray[np.int32], NDArray[np.uint8]]] = {}

    def locate(self, streets: Streets, r: int) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """Return the index of each board on street `r` and its suit renaming: [N] each."""
        if (streets, r) not in self._found:
            number, renaming = (
                np.zeros(len(self.cards), np.int32),
                np.zeros(len(self.cards), np.uint8),
            )
            if (tables := streets.tables[r]) is not None:
                from equilibrist.kernels.cpu.rollout import locate_boards

                seen = np.ascontiguousarray(self.cards[:, : streets._ends[r]])
                locate_boards(tables, _renaming_numbers(), seen, number, renaming)
            self._found[streets, r] = number, renaming
        return self._found[streets, r]


@phase("listing the boards of every round")
def _build(game: Streets) -> tuple[Street, ...]:
    from equilibrist.kernels.cpu.rollout import link_boards

    rules, streets = game.rules, []
    for r in range(len(game)):
        boards, multiplicity = _boards(rules, r, game.ordered)
        if r == len(game) - 1:
            none = np.zeros((len(boards), 0))
            streets.append(
                Street(boards, multiplicity, none.astype(np.int32), none.astype(np.uint8))
            )
            break
        deals = _deals(rules, boards, rules.num_board_cards[r + 1])
        child = np.zeros(deals.shape[:2], np.int32)
        renaming = np.zeros(deals.shape[:2], np.uint8)
        if deals.shape[2]:
            link_boards(game.tables[r + 1], _renaming_numbers(), boards, deals, child, renaming)
        else:  # nothing is dealt: the board stays the same
            child[:, 0] = np.arange(len(boards))
        streets.append(Street(boards, multiplicity, child, renaming))
    return tuple(streets)


def board_pattern(rules: GameRules, r: int, ordered: bool) -> tuple[int, ...]:
    """Return the dealing pattern of a round's boards: by rounds, or one set on the last street."""
    rounds = tuple(num for num in rules.num_board_cards[: r + 1] if num)
    return rounds if ordered or r < rules.num_rounds - 1 or not rounds else (sum(rounds),)


def _boards(rules: GameRules, r: int, ordered: bool) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    pattern = board_pattern(rules, r, ordered)
    if not pattern:
        return np.zeros((1, 0), np.uint8), np.ones(1, np.int64)
    indexer = DealIndexer(pattern, rules.deck)
    boards = indexer.unindex_array(np.arange(indexer.size))
    return boards, indexer.multiplicities().astype(np.int64)


def _deals(rules: GameRules, boards: NDArray[np.uint8], num_new: int) -> NDArray[np.uint8]:
    """Return the possible next cards of each board: [B, D, num_new]; D = 1 if none are dealt."""
    deck = np.array(rules.deck.cards, np.uint8)
    num_left = len(deck) - boards.shape[1]
    num_deals = math.comb(num_left, num_new)
    if len(boards) * num_deals > _MOST_LINKS:
        raise InvalidValueError(
            f"{rules.name} has {len(boards) * num_deals:,} deals onto boards in a round; "
            f"abstractions support at most {_MOST_LINKS:,}",
            value=num_deals,
        )
    open_cards = (deck != boards[:, :, None]).all(axis=1)  # [B, deck]
    free = deck[np.nonzero(open_cards)[1]].reshape(len(boards), num_left)
    places = np.array(list(itertools.combinations(range(num_left), num_new)), np.intp)
    return np.ascontiguousarray(free[:, places.reshape(num_deals, num_new)])


@functools.cache
def _permutations() -> NDArray[np.int64]:
    """Return all renamings of four suits, identity first: [24, 4]."""
    return np.array(list(itertools.permutations(range(4))))


@functools.cache
def _renaming_numbers() -> NDArray[np.uint8]:
    """Return the number of each renaming by its code of two bits per suit: [256]."""
    numbers = np.zeros(256, np.uint8)
    numbers[(_permutations() << (2 * np.arange(4))).sum(axis=1)] = np.arange(24)
    return numbers


def _renamed_hands(hands: NDArray[np.uint8]) -> NDArray[np.int16]:
    """Return the image of each hand under each renaming: [24, H]."""
    cards = hands.astype(np.int64)
    images = 4 * (cards >> 2) + _permutations()[:, cards & 3]  # [24, H, cards]
    if hands.shape[1] == 1:
        return images[:, :, 0].astype(np.int16)
    low, high = images.min(axis=2), images.max(axis=2)
    return (high * (high - 1) // 2 + low).astype(np.int16)
