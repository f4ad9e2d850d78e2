"""Flops for two ranges: how likely each is, its equity, its texture, and subsets with weights.

Flops that a renaming of suits maps to each other are one flop if the renaming leaves both ranges
alone: 1,755 for ranges that do not distinguish suits. A flop is as likely as the number of raw
flops that it stands for times the weight of all pairs of hands that it and they do not block.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.card import FULL_DECK, RANKS, Card, Cards, Deck, cards_name, parse_cards
from equilibrist.cards.hand import hand_table
from equilibrist.cards.numbers import shown
from equilibrist.cards.range import Range
from equilibrist.cards.ranking import rank_tables
from equilibrist.cards.suits import Renaming, all_renamings, that_keep_weights
from equilibrist.errors import InvalidValueError, ParseError, RangeError

_BLOCK_NUMBERS = 4_000_000  # numbers of all hands on the boards that are played at a time
_SUITS = {1: "monotone", 2: "two-tone", 3: "rainbow"}
_PAIRS = {1: "trips", 2: "paired", 3: "unpaired"}


class Texture(NamedTuple):
    """Kind of a flop, by which results can be grouped."""

    suits: str  # monotone, two-tone or rainbow
    pairs: str  # trips, paired or unpaired
    high: str  # rank of the highest card


TEXTURES = Texture._fields


def texture(board: Sequence[Card]) -> Texture:
    """Return the texture of a flop.

    Example:
        >>> texture(parse_cards("Td9d6h"))
        Texture(suits='two-tone', pairs='unpaired', high='T')
    """
    suits, ranks = {card & 3 for card in board}, {card >> 2 for card in board}
    return Texture(_SUITS[len(suits)], _PAIRS[len(ranks)], RANKS[max(ranks)])


@dataclass(frozen=True, eq=False)
class FlopTable:
    """All flops for two ranges, up to suits: N flops."""

    boards: NDArray[np.uint8]  # [N, 3] one of each class, ascending cards
    sizes: NDArray[np.int64]  # [N] number of raw flops in the class
    probability: NDArray[np.float64]  # [N] of the class, given that both seats hold their ranges
    equity: NDArray[np.float64]  # [N] of the first seat; 0 if no hands can meet
    group: tuple[Renaming, ...]  # renamings of suits that leave both ranges alone

    @property
    def mean_equity(self) -> float:
        """Equity of the first seat over all flops."""
        return float(self.probability @ self.equity)

    @property
    def spread(self) -> float:
        """Standard deviation of the equity over all flops."""
        return _spread(self.probability, self.equity)

    def find(self, board: Sequence[Card]) -> int:
        """Return the number of the class of a flop."""
        code = min(_codes(np.array([board], np.int64), names)[0] for names in self.group)
        return self._numbers[int(code)]

    @functools.cached_property
    def _numbers(self) -> dict[int, int]:
        codes = np.min([_codes(self.boards.astype(np.int64), names) for names in self.group], 0)
        return {int(code): number for number, code in enumerate(codes)}


def flop_table(
    first: Range,
    second: Range,
    deck: Deck = FULL_DECK,
    ranking: str = "standard",
    progress: Callable[[float], None] | None = None,
) -> FlopTable:
    """Compute the probability and exact equity of every flop; all turns and rivers are played.

    `progress` is called with the share of boards that is done. Raises `RangeError` if no hands of
    the ranges can meet on any flop.

    Example:
        >>> from equilibrist.cards.range import parse_range
        >>> found = flop_table(parse_range("AhKh"), parse_range("QsQd"))
        >>> len(found.boards), int(found.sizes.sum()), round(found.mean_equity, 4)
        (12519, 22100, 0.4621)
    """
    live = np.asarray(np.isin(hand_table(), deck.cards).all(axis=1))
    weights = [np.where(live, own.weights, 0.0) for own in (first, second)]
    group = that_keep_weights(all_renamings(deck.num_suits), weights, live)
    boards, class_of, sizes = _classes(deck, group)
    won, total = np.zeros((2, len(boards)))
    rivers, multiplicity = _rivers(deck, group)
    width = int(np.count_nonzero(weights[0] + weights[1]))
    step = max(1, _BLOCK_NUMBERS // (3 * max(width, 1)))
    for start in range(0, len(rivers), step):
        own = slice(start, start + step)
        shares, met = _showdowns(rivers[own], multiplicity[own], weights, ranking)
        for three in itertools.combinations(range(5), 3):
            number = class_of[_code(rivers[own][:, three].astype(np.int64))]
            won += np.bincount(number, shares, len(boards))
            total += np.bincount(number, met, len(boards))
        if progress is not None:
            progress(min(1.0, (start + step) / len(rivers)))
    total[total <= 1e-12 * total.max()] = 0  # rounding errors of hands that cannot meet
    if not total.any():
        raise RangeError(
            f"every hand of {first.brief} shares a card with every hand of {second.brief}",
            value=str(first),
        )
    equity = np.divide(won, total, out=np.zeros(len(won)), where=total > 0)
    return FlopTable(boards, sizes, total / total.sum(), equity, group)


def _code(flops: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a number for flops [N, 3] of ascending cards: [N]."""
    return flops @ np.array([1, 52, 2704])


def _codes(flops: NDArray[np.int64], renaming: Renaming) -> NDArray[np.int64]:
    """Return the numbers of renamed flops: [N]."""
    return _code(np.sort(flops - flops % 4 + np.array(renaming)[flops % 4], axis=1))


def _classes(
    deck: Deck, group: tuple[Renaming, ...]
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """Return one flop of each class [N, 3], the class of each code, and raw flops of each [N]."""
    raw = np.array(list(itertools.combinations(deck.cards, 3)), np.int64)
    raw = raw[np.argsort(-_code(raw))]  # spades first
    least = np.min([_codes(raw, renaming) for renaming in group], axis=0)
    _, first, number, sizes = np.unique(
        least, return_index=True, return_inverse=True, return_counts=True
    )
    class_of = np.full(52**3, -1, np.int64)
    class_of[_code(raw)] = number
    return raw[first].astype(np.uint8), class_of, sizes.astype(np.int64)


def _rivers(deck: Deck, group: tuple[Renaming, ...]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the boards of five cards up to a group [B, 5], and the raw boards of each [B]."""
    from equilibrist.kernels.cpu import equity as kernel

    most = math.comb(len(deck), 5)
    boards, multiplicity = np.empty((most, 5), np.uint8), np.empty(most, np.uint8)
    images = np.array(group, np.uint64)
    cards = np.array(deck.cards, np.uint8)
    found = kernel.canonical_boards(cards, 5, images, boards, multiplicity)
    return boards[:found].copy(), multiplicity[:found].copy()


def _showdowns(
    boards: NDArray[np.uint8],
    multiplicity: NDArray[np.uint8],
    weights: Sequence[NDArray[np.float64]],
    ranking: str,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what the first side wins on each board, ties half, and the weight of pairs: [B]."""
    from equilibrist.kernels.cpu import equity as kernel

    held = np.flatnonzero(weights[0] + weights[1])
    places = tuple(np.searchsorted(held, np.flatnonzero(own)) for own in weights)
    pairwise = len(places[0]) * len(places[1]) <= 4 * len(held)
    out = np.zeros((len(boards), 3, len(held)))  # one chunk per board
    hands = hand_table()[held]
    tables = rank_tables(7, ranking)
    kernel.showdown_boards(
        tables, boards, multiplicity, hands, weights[1][held], places, pairwise, out
    )
    wins, ties, total = (out @ weights[0][held]).T
    return wins + ties / 2, total


# --- subsets --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FlopSubset:
    """Flops that stand for all, with weights that sum to 1; the equity is of the first seat."""

    boards: tuple[Cards, ...]
    weights: NDArray[np.float64]  # [N]
    equity: NDArray[np.float64]  # [N] exact
    all_equity: float  # mean over all flops, exact
    all_spread: float  # standard deviation of the equity over all flops
    num_flops: int  # number of all flops up to suits

    @property
    def mean_equity(self) -> float:
        """Weighted mean of the subset's equities."""
        return float(self.weights @ self.equity)

    @property
    def spread(self) -> float:
        """Standard deviation of the equity over the subset."""
        return _spread(self.weights, self.equity)

    @property
    def names(self) -> tuple[str, ...]:
        """Name of each flop, higher cards first."""
        return tuple(flop_name(board) for board in self.boards)

    def __str__(self) -> str:
        error = 100 * (self.mean_equity - self.all_equity)
        return (
            f"{len(self.boards):,} of {self.num_flops:,} flops: mean equity out of position "
            f"{100 * self.mean_equity:.2f} %, {abs(error):.2f} points "
            f"{'above' if error > 0 else 'below'} that over all flops; its standard deviation "
            f"{100 * self.spread:.2f}, over all flops {100 * self.all_spread:.2f} points"
        )


def _spread(weights: NDArray[np.float64], equity: NDArray[np.float64]) -> float:
    """Return the standard deviation of equities with weights that sum to 1."""
    return math.sqrt(weights @ (equity - weights @ equity) ** 2)


def flop_name(board: Sequence[Card]) -> str:
    """Return the name of a flop, higher cards first.

    Example:
        >>> flop_name(parse_cards("6hTd9d"))
        'Td9d6h'
    """
    return cards_name(sorted(board, reverse=True))


def representative_flops(table: FlopTable, number: int) -> FlopSubset:
    """Choose a number of flops that represent all, without chance.

    Flops of each kind (suits and pairs) are ordered by equity and divided into parts that are about
    equally likely. The flop nearest to the mean equity of each part stands for the part, and its
    weight is the probability of the part. Fewer flops than kinds are chosen by equity alone.
    """
    can_come = np.flatnonzero(table.probability > 0)
    if not 1 <= number <= len(can_come):
        raise InvalidValueError(
            f"the number of flops must be 1 to {len(can_come):,}, not {shown(number)}", value=number
        )
    kinds = flop_kinds(table.boards[can_come])
    if number < len(np.unique(kinds)):
        kinds = np.zeros_like(kinds)
    shares = table.probability[can_come]
    chosen: list[int] = []
    weights: list[float] = []
    for kind, count in allotted(kinds, shares, number).items():
        own = can_come[kinds == kind]
        own = own[np.argsort(table.equity[own], kind="stable")]
        for part in _parts(own, table.probability[own], count):
            share = float(table.probability[part].sum())
            mean = table.probability[part] @ table.equity[part] / share
            chosen.append(int(part[np.argmin(np.abs(table.equity[part] - mean))]))
            weights.append(share)
    return _subset(table, np.array(chosen), np.array(weights))


def flop_kinds(boards: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the numbers of different suits and ranks of flops [N, 3], as one number each: [N]."""
    suits = [len(set(board)) for board in (boards & 3).tolist()]
    ranks = [len(set(board)) for board in (boards >> 2).tolist()]
    return 4 * np.array(suits) + np.array(ranks)


def allotted(
    kinds: NDArray[np.int64], shares: NDArray[np.float64] | NDArray[np.int64], number: int
) -> dict[int, int]:
    """Return how many of `number` flops each kind gets: at least one, and in proportion to shares.

    Example:
        >>> allotted(np.array([7, 7, 7, 8]), np.array([3, 3, 3, 1]), 3)
        {7: 2, 8: 1}
    """
    names = np.unique(kinds)
    share = np.array([shares[kinds == kind].sum() for kind in names])
    sizes = np.array([(kinds == kind).sum() for kind in names])
    counts = np.ones(len(names), np.int64)
    while counts.sum() < number:  # the next goes to the kind that lacks most
        lack = number * share / share.sum() - counts
        counts[np.argmax(np.where(counts < sizes, lack, -np.inf))] += 1
    return dict(zip(names.tolist(), counts.tolist(), strict=True))


def _parts(
    flops: NDArray[np.int64], probability: NDArray[np.float64], count: int
) -> list[NDArray[np.int64]]:
    """Divide flops into `count` runs that are about equally likely, each of at least one flop."""
    wanted = np.arange(1, count) / count * probability.sum()
    cuts = np.searchsorted(np.cumsum(probability) - probability / 2, wanted)
    for i in range(len(cuts)):  # leave at least one flop for each part before and after
        cuts[i] = min(max(cuts[i], (cuts[i - 1] if i else 0) + 1), len(flops) - (len(cuts) - i))
    return np.split(flops, cuts)


def listed_flops(
    table: FlopTable, boards: Sequence[Cards], given: Sequence[float] | None = None
) -> FlopSubset:
    """Return flops with weights, each the number of raw flops that a flop stands for.

    Without weights it is the number of flops that differ by suits only. A flop counts with its
    weight times the pairs of hands that the ranges can hold on it.
    """
    numbers = [table.find(board) for board in boards]
    for place, number in enumerate(numbers):
        if number in numbers[:place]:
            other = flop_name(boards[numbers.index(number)])
            raise InvalidValueError(
                f"{flop_name(boards[place])} and {other} are the same flop up to suits: list it "
                "once",
                value=flop_name(boards[place]),
            )
        if not table.probability[number]:
            raise InvalidValueError(
                f"no hands of the ranges can meet on {flop_name(boards[place])}",
                value=flop_name(boards[place]),
            )
    chosen = np.array(numbers)
    many = table.sizes[chosen] if given is None else np.array(given)
    weights = many * table.probability[chosen] / table.sizes[chosen]
    return _subset(table, chosen, weights, boards)


def _subset(
    table: FlopTable,
    chosen: NDArray[np.int64],
    weights: NDArray[np.float64],
    boards: Sequence[Cards] | None = None,
) -> FlopSubset:
    """Return some flops of a table in order of their weights, the largest first."""
    order = np.argsort(-weights, kind="stable")
    named = boards or [tuple(board) for board in table.boards[chosen].tolist()]
    return FlopSubset(
        boards=tuple(named[place] for place in order),
        weights=weights[order] / weights.sum(),
        equity=table.equity[chosen[order]],
        all_equity=table.mean_equity,
        all_spread=table.spread,
        num_flops=int(np.count_nonzero(table.probability)),
    )


def parse_flops(text: str) -> tuple[list[Cards], list[float] | None]:
    """Parse a list of flops, with a weight for each or for none; lines may end in `#` comments.

    Example:
        >>> boards, weights = parse_flops("AsKd2c:12, Td9d6h:24")
        >>> [flop_name(board) for board in boards], weights
        (['AsKd2c', 'Td9d6h'], [12.0, 24.0])
    """
    lines = (line.partition("#")[0] for line in text.splitlines())
    words = [word.strip() for line in lines for word in line.split(",") if word.strip()]
    if not words:
        raise ParseError("the list of flops is empty; write AsKd2c:12,Td9d6h:24", value=text)
    boards: list[Cards] = []
    weights: list[float] = []
    for word in words:
        name, colon, number = word.partition(":")
        cards = parse_cards(name)
        if len(cards) != 3:
            raise ParseError(f"a flop has three cards, not {name.strip()[:40]!r}", value=name)
        boards.append(cards)
        if colon:
            weights.append(_parse_weight(number, word))
    if weights and len(weights) < len(boards):
        raise ParseError(
            "give every flop a weight, such as AsKd2c:12, or none of them", value=text[:40]
        )
    return boards, weights or None


def _parse_weight(text: str, word: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not 0 < weight < math.inf:
        raise ParseError(
            f"the weight of a flop must be a number above zero, not {text.strip()[:20]!r} in "
            f"{word[:40]!r}",
            value=text,
        )
    return weight
