"""Dense indices of deals up to suit isomorphism, for any pattern of rounds and any deck.

The suits of poker are interchangeable, so 56 billion (hole, flop, turn, river) deals are only
2,428,287,420 different ones. A `DealIndexer` numbers them 0 … size − 1 for every round of a
pattern. Children follow their parent: the turns of a flop are a contiguous range of indices.

Source: Gilpin, Sandholm and Sørensen 2007 (GS3), "Exploiting suit isomorphisms".
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equilibrist.cards.card import (
    FULL_DECK,
    Card,
    Cards,
    Deck,
    card_name,
    cards_name,
    check_distinct,
)
from equilibrist.cards.hand import hand_table
from equilibrist.errors import CardError, InvalidValueError
from equilibrist.kernels.array_structs import DealTables

_MOST_CARDS = 13


class DealIndexer:
    """An indexer of canonical deals for a pattern of rounds, such as `(2, 3, 1, 1)` for hold'em.

    The order of cards within a round does not matter; cards are listed one round after the other.
    `round` arguments count from 0 and default to the last round.

    Example:
        >>> from equilibrist.cards.card import parse_cards
        >>> holdem = DealIndexer((2, 3, 1, 1))
        >>> holdem.sizes
        (169, 1286792, 55190538, 2428287420)
        >>> holdem.index(parse_cards("AhKh")) == holdem.index(parse_cards("KcAc"))
        True
    """

    def __init__(self, rounds: Iterable[int], deck: Deck = FULL_DECK) -> None:
        self.rounds = tuple(int(num_cards) for num_cards in rounds)
        self.deck = deck
        _check_pattern(self.rounds, deck)
        self.tables = _tables(self.rounds, deck)  # argument of the kernels
        self.sizes = tuple(self._size(r) for r in range(len(self.rounds)))

    @property
    def size(self) -> int:
        """Number of different deals in the last round."""
        return self.sizes[-1]

    @property
    def raw_sizes(self) -> tuple[int, ...]:
        """Number of deals in every round when suits are distinguished."""
        sizes, left = [1], len(self.deck)
        for num_cards in self.rounds:
            sizes.append(sizes[-1] * math.comb(left, num_cards))
            left -= num_cards
        return tuple(sizes[1:])

    def index(self, cards: Sequence[Card]) -> int:
        """Return the index of a deal in the round that its cards complete.

        Example:
            >>> from equilibrist.cards.card import parse_cards
            >>> DealIndexer((2, 3)).index(parse_cards("7s7h 3dJdAh"))
            1238851
        """
        return self.indices(cards)[-1]

    def indices(self, cards: Sequence[Card]) -> tuple[int, ...]:
        """Return the index of a deal in every round that its cards complete."""
        from equilibrist.kernels.cpu.isomorphism import index_deal

        last = self.check(cards)
        array = np.array(cards, np.uint8)
        return tuple(int(index_deal(self.tables, array, r)) for r in range(last + 1))

    def check(self, cards: Sequence[Card]) -> int:
        """Return the round that these cards complete; raise `CardError` if they are no deal."""
        last = self._round_of(len(cards))
        check_distinct(cards)
        self._check_deck(cards)
        return last

    def index_array(self, deals: ArrayLike) -> NDArray[np.int64]:
        """Return the indices [N] of deals [N, n] in the round that n cards complete (parallel)."""
        from equilibrist.kernels.cpu.isomorphism import index_deals

        array = _as_deals(deals)
        last = self._round_of(array.shape[1])
        out = np.empty(len(array), np.int64)
        index_deals(self.tables, self._check_deals(array), last, out)
        return out

    def unindex(self, index: int, round: int = -1) -> Cards:
        """Return the canonical deal of an index, one round after the other.

        Example:
            >>> from equilibrist.cards.card import cards_name
            >>> cards_name(DealIndexer((2, 3)).unindex(1238851))
            '7c7d3hJhAc'
        """
        number = self._check_index(index, self._round(round))
        return tuple(self.unindex_array([number], round)[0].tolist())

    def unindex_array(self, indices: ArrayLike, round: int = -1) -> NDArray[np.uint8]:
        """Return the canonical deals [N, n] uint8 of indices [N], in parallel."""
        from equilibrist.kernels.cpu.isomorphism import unindex_deals

        target = self._round(round)
        array = np.asarray(indices)
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            raise InvalidValueError(
                f"indices must be an integer array [N], not {array.dtype} of shape {array.shape}",
                value=array.shape,
            )
        self._check_indices(array, target)
        array = array.astype(np.int64)
        out = np.empty((len(array), sum(self.rounds[: target + 1])), np.uint8)
        unindex_deals(self.tables, array, target, out)
        return out

    def multiplicity(self, index: int, round: int = -1) -> int:
        """Return the number of raw deals with an index: a divisor of 24 in the full deck."""
        target = self._round(round)
        return self._relate(index, target, target)[1]

    def multiplicities(self, round: int = -1) -> NDArray[np.uint8]:
        """Return the number of raw deals with each index of a round: [size of the round].

        Example:
            >>> int(DealIndexer((2,)).multiplicities().sum())
            1326
        """
        from equilibrist.kernels.cpu.isomorphism import multiplicities

        target = self._round(round)
        out = np.empty(self.sizes[target], np.uint8)
        multiplicities(self.tables, target, out)
        return out

    def parent(self, index: int, round: int = -1) -> int:
        """Return the index of a deal's parent in the previous round; round 0 has no parents."""
        child_round = self._round(round)
        if child_round == 0:
            raise InvalidValueError("the deals of the first round have no parent", value=round)
        return self._relate(index, child_round, self._round(child_round - 1))[0]

    def children(self, index: int, round: int) -> range:
        """Return the contiguous indices of the next round that follow a deal of this round.

        Example:
            >>> holdem = DealIndexer((2, 3))
            >>> [holdem.parent(child) for child in holdem.children(5, 0)[::5000]]
            [5]
        """
        parent_round = self._round(round)
        child_round = self._round(parent_round + 1)
        start = self._relate(index, parent_round, child_round)[0]
        if index + 1 == self.sizes[parent_round]:
            return range(start, self.sizes[child_round])
        return range(start, self._relate(index + 1, parent_round, child_round)[0])

    def path(self, cards: Sequence[Card]) -> list[tuple[int, int]]:
        """Return how a deal is encoded: for each round, the size of its case and the local index.

        Example:
            >>> from equilibrist.cards.card import parse_cards
            >>> DealIndexer((2, 3)).path(parse_cards("7s7h 3dJdAh"))  # GS3's worked example
            [(13, 5), (936, 455)]
        """
        from equilibrist.kernels.cpu.isomorphism import index_path

        target = self._round_of(len(cards))
        path = np.empty((target + 1, 2), np.int64)
        index_path(self.tables, self.index(cards), target, path)
        return [(int(self.tables.num_locals[case]), local) for case, local in path.tolist()]

    def num_cases(self, round: int = -1) -> int:
        """Return the number of cases that a round distinguishes, over all deals before it."""
        target = self._round(round)
        spans = self.tables.case_span[target]
        return int((spans[:, 1] - spans[:, 0]).sum())

    def _size(self, r: int) -> int:
        final = int(self.tables.case_span[0, 0, 1]) - 1
        tables = self.tables
        return int(tables.offset[r, final] + tables.num_locals[final] * tables.size[r, final])

    def _relate(self, index: int, from_round: int, to_round: int) -> tuple[int, int]:
        from equilibrist.kernels.cpu.isomorphism import relate

        number = self._check_index(index, from_round)
        result, multiplicity = relate(self.tables, number, from_round, to_round)
        return int(result), int(multiplicity)

    def _round(self, r: int) -> int:
        if not -len(self.rounds) <= r < len(self.rounds):
            raise InvalidValueError(
                f"round {r} is outside the pattern {self.rounds} of {len(self.rounds)} rounds",
                value=r,
            )
        return r % len(self.rounds)

    def _round_of(self, num_cards: int) -> int:
        ends = np.cumsum(self.rounds).tolist()
        if num_cards not in ends:
            raise CardError(
                f"{num_cards} cards do not complete a round of the pattern "
                f"{','.join(map(str, self.rounds))}; {' or '.join(map(str, ends))} cards do",
                value=num_cards,
            )
        return ends.index(num_cards)

    def _check_deals(self, deals: NDArray[np.integer]) -> NDArray[np.uint8]:
        from equilibrist.kernels.cpu.ranking import first_bad_hand

        bad = first_bad_hand(deals)
        if bad < len(deals):
            raise CardError(
                f"deal {bad} repeats a card or holds a number outside 0 … 51: "
                f"{deals[bad].tolist()}",
                value=deals[bad].tolist(),
                position=bad,
            )
        if self.deck != FULL_DECK:
            self._check_deck(np.unique(deals).tolist())
        return np.ascontiguousarray(deals, np.uint8)

    def _check_deck(self, cards: Sequence[Card]) -> None:
        for card in cards:
            if card not in self.deck:
                raise CardError(
                    f"{card_name(card)} is not in the deck {self.deck.names}",
                    value=card_name(card),
                )

    def _check_indices(self, indices: NDArray[np.integer], r: int) -> None:
        outside = (indices < 0) | (indices >= self.sizes[r])
        if outside.any():
            self._check_index(int(indices[outside][0]), r)

    def _check_index(self, index: int, r: int) -> int:
        """Return the index as a Python integer; raise if round `r` does not have it."""
        try:
            number = operator.index(index)
        except TypeError:
            raise InvalidValueError(
                f"an index must be a whole number, not {index!r}", value=index
            ) from None
        if not 0 <= number < self.sizes[r]:
            raise InvalidValueError(
                f"index {index} is outside 0 … {self.sizes[r] - 1} of round {r}", value=index
            )
        return number


class BoardIndexer:
    """An indexer of the different hands on each canonical board, for boards dealt in rounds.

    Boards are numbered up to suit isomorphism. On each board, hands that are mapped to each other
    by a suit permutation that fixes the board share a *state*, 0 … number of states − 1. Hands
    have one or two cards.

    Example:
        >>> from equilibrist.cards.card import parse_cards
        >>> flops = BoardIndexer((3,))
        >>> states, num_states = flops.states(parse_cards("7s8s9s"))
        >>> states.shape, num_states
        ((1326,), 344)
    """

    def __init__(
        self, rounds: Iterable[int], deck: Deck = FULL_DECK, num_hole_cards: int = 2
    ) -> None:
        if num_hole_cards not in (1, 2):
            raise InvalidValueError(
                f"hands of {num_hole_cards} cards cannot be indexed; those of 1 or 2 can",
                value=num_hole_cards,
            )
        rounds = tuple(rounds)
        self.boards = DealIndexer(rounds, deck)
        self._with_hands = DealIndexer((*rounds, num_hole_cards), deck)
        self._hands = hand_table() if num_hole_cards == 2 else _single_cards()

    @property
    def num_states(self) -> int:
        """Number of states over all boards, that is of different (board, hand) deals."""
        return self._with_hands.size

    def states(self, board: Sequence[Card]) -> tuple[NDArray[np.int64], int]:
        """Return the state of each hand [1326 or 52] on a board (−1: blocked) and their number."""
        from equilibrist.kernels.cpu.isomorphism import index_hands

        self.boards.check(board)
        if len(board) != sum(self.boards.rounds):
            raise CardError(
                f"{cards_name(board)} is not a complete board of {sum(self.boards.rounds)} cards",
                value=cards_name(board),
            )
        out = np.empty(len(self._hands), np.int64)
        array = np.array(board, np.uint8)
        num_states = index_hands(self._with_hands.tables, array, self._hands, out)
        return out, int(num_states)


def _single_cards() -> NDArray[np.uint8]:
    """Return all hands of one card: [52, 1]."""
    return np.arange(52, dtype=np.uint8)[:, None]


def _as_deals(deals: ArrayLike) -> NDArray[np.integer]:
    array = np.asarray(deals)
    if array.ndim != 2 or array.dtype.kind not in "iu":
        raise InvalidValueError(
            f"deals must be an integer array [N, cards], not {array.dtype} of shape {array.shape}",
            value=array.shape,
        )
    # Kernels accept native byte order only.
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _check_pattern(rounds: tuple[int, ...], deck: Deck) -> None:
    if not rounds or min(rounds) < 1:
        raise InvalidValueError(
            f"a pattern has one or more rounds of at least one card, not {rounds}", value=rounds
        )
    if sum(rounds) > len(deck):
        raise InvalidValueError(
            f"the pattern {rounds} deals {sum(rounds)} cards from a deck of {len(deck)}",
            value=rounds,
        )
    if sum(rounds) > _MOST_CARDS:
        raise InvalidValueError(
            f"the pattern {rounds} deals {sum(rounds)} cards; at most {_MOST_CARDS} are supported",
            value=rounds,
        )


@functools.cache
def _tables(rounds: tuple[int, ...], deck: Deck) -> DealTables:
    from equilibrist.kernels.deal_tables import build_tables

    try:
        return build_tables(rounds, deck.num_ranks, deck.num_suits)
    except OverflowError:
        raise InvalidValueError(
            f"the pattern {rounds} has more deals than a 64-bit index can number", value=rounds
        ) from None
