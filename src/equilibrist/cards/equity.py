"""Equity: the share of the pot a side gets when the rest of the board is dealt without betting.

Every exact result is computed in the same way. The results of *each* hand of one side against the
whole range of the other do not change under the suit permutations G that fix that range, the board
and the dead cards. So one board per orbit of G is played (134,459 instead of 2,598,960 against a
random hand), weighted by the size of its orbit, and the results of hands that G maps to each other
are averaged. The roles of the two sides are chosen so that this is cheapest. All counts are exact
integers when all weights are 0 or 1.

Exact results are always affordable: the largest case, two ranges of all hands that no suit
permutation fixes and an empty board, is 3.4e9 (hand, board) pairs, about a minute on two cores.
Random boards (Monte Carlo) are played only on request.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from equilibrist import stopping
from equilibrist.cards.card import NUM_CARDS, Card, check_distinct
from equilibrist.cards.hand import (
    NUM_CLASSES,
    NUM_HANDS,
    Hand,
    class_table,
    hand_cards,
    hand_table,
)
from equilibrist.cards.numbers import whole_number
from equilibrist.cards.range import Range, blocked_hands, parse_range
from equilibrist.cards.ranking import rank_tables
from equilibrist.errors import CardError, InvalidValueError, RangeError, UnknownNameError
from equilibrist.phases import phase

RangeLike: TypeAlias = Range | str | Hand
Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Progress: TypeAlias = Callable[[float], None]

BOARD_CARDS = 5
METHODS = ("exact", "monte-carlo")

NUM_SAMPLES = 100_000  # default number of boards of a Monte Carlo estimate
MOST_SAMPLES = 10**9

_NUM_CHUNKS = 64  # chunks of exact sums; fixed: results must not depend on the number of threads
_NUM_BATCHES = 100  # batches of Monte Carlo sums, whose spread gives the standard error
_BLOCK = 100_000  # boards played at a time: bounds memory and sets the interval of progress reports
_PAIRS_PER_HAND = 4  # comparisons that cost as much as sorting and sweeping one hand


@dataclass(frozen=True)
class Equity:
    """The first side's share of the pot and the counts it is computed from.

    Counts are weights of (hand, hand, board): integers where all weights are 0 or 1. They cover
    every board when `exact`, the sampled boards otherwise.
    """

    equity: float  # (wins + ties / 2) / total, from 0 to 1
    wins: float
    ties: float
    losses: float
    total: float
    exact: bool
    standard_error: float | None = None  # of `equity`; None when exact


@dataclass(frozen=True, eq=False)
class ClassTable:
    """Results of all 169 classes of hands against each other before the flop, over all boards.

    Counts are sums over all pairs of hands, one of the row's class and one of the column's, that
    share no card, and all C(48, 5) boards. Classes are in the order of `cards/hand.py`.
    """

    wins: Ints  # [169, 169]
    ties: Ints  # [169, 169]

    @property
    def losses(self) -> Ints:
        """Number of deals that the row's class loses: [169, 169]."""
        return self.wins.T

    @property
    def total(self) -> Ints:
        """Number of pairs of hands times number of boards: [169, 169]."""
        return self.wins + self.ties + self.losses

    @property
    def equities(self) -> Floats:
        """Equity of the row's class against the column's: [169, 169]."""
        equities: Floats = (self.wins + self.ties / 2) / self.total
        return equities


def equity(
    first: RangeLike,
    second: RangeLike,
    board: Sequence[Card] = (),
    dead: Sequence[Card] = (),
    *,
    method: str = "exact",
    samples: int = NUM_SAMPLES,
    seed: int = 0,
    progress: Progress | None = None,
) -> Equity:
    """Return the equity of one hand or range against another, given board and dead cards.

    A side is a `Range`, its text, or the index of a hand. The method is "exact", or "monte-carlo":
    an estimate over `samples` random boards, on each of which all hands are compared. `progress`
    is called from time to time with the fraction of the boards played so far, 0 to 1.

    Example:
        >>> from equilibrist.cards.card import parse_cards
        >>> equity("AhKh", "QsQd", parse_cards("2h7h9c"))
        Equity(equity=0.5414..., wins=536, ties=0, losses=454, total=990, exact=True, ...)
        >>> equity("QQ+", "AKs:0.5,76s", parse_cards("2c7d9h")).total
        77220.0
    """
    if method not in METHODS:
        raise UnknownNameError(
            f"no method is called {method!r}; there are {', '.join(METHODS)}", value=method
        )
    samples = whole_number(samples, "the number of samples", _NUM_BATCHES, MOST_SAMPLES)
    own, other = _dealt_weights(first, second, board, dead)
    swapped = False
    if method == "exact":
        plans = [_Plan.make(own, other, board, dead), _Plan.make(other, own, board, dead)]
        swapped = plans[1].work < plans[0].work
        counts = _exact_results(plans[swapped], progress)[None] @ (other if swapped else own)
    else:
        plan = _Plan.make(own, other, board, dead, use_suits=False)
        counts = _sampled_results(plan, samples, seed, progress) @ own
    if swapped:  # the first side wins the deals that the second side neither wins nor ties
        wins, ties, total = counts.T
        counts = np.stack([total - wins - ties, ties, total], axis=1)
    return _summary(counts, is_integer=bool(np.isin([own, other], (0, 1)).all()))


def hand_equities(
    first: RangeLike, second: RangeLike, board: Sequence[Card] = (), dead: Sequence[Card] = ()
) -> Floats:
    """Return the exact equity [1326] of each hand of a range; NaN for hands that cannot be held.

    Example:
        >>> from equilibrist.cards.card import parse_cards
        >>> shares = hand_equities("AA,72o", "KK", parse_cards("2c7d9hJs"))
        >>> int(np.isfinite(shares).sum())  # six pairs of aces, 7 of 12 seven-deuces left
        13
    """
    own, other = _dealt_weights(first, second, board, dead)
    wins, ties, total = _exact_results(_Plan.make(own, other, board, dead))
    can_be_held = (own > 0) & (total > 0)
    return np.divide(wins + ties / 2, total, out=np.full(NUM_HANDS, np.nan), where=can_be_held)


def preflop_equities() -> tuple[Ints, Ints, int]:
    """Return wins [169], ties [169] and total of one hand per class against a random hand.

    The counts cover the C(50, 2) hands of the opponent and the C(48, 5) boards.
    """
    everything = np.ones(NUM_HANDS)
    wins, ties, total = _exact_results(_Plan.make(everything, everything, (), ()))
    _, one_of_class = np.unique(class_table(), return_index=True)
    return wins[one_of_class].astype(int), ties[one_of_class].astype(int), int(total[0])


@functools.cache
def preflop_table() -> ClassTable:
    """Return the results of all 169 classes against each other (first use: about ten seconds)."""
    from equilibrist.kernels.cpu import joint as kernel

    everything = np.ones(NUM_HANDS)
    boards, multiplicity = _canonical_boards(_Plan.make(everything, everything, (), ()))
    wins, ties = np.zeros((2, _NUM_CHUNKS, NUM_CLASSES, NUM_CLASSES))
    kernel.class_showdowns(
        rank_tables(7), boards, multiplicity, hand_table().copy(), class_table().copy(), wins, ties
    )
    sums = [table.sum(axis=0).astype(np.int64) for table in (wins, ties)]
    for table in sums:
        table.flags.writeable = False
    return ClassTable(*sums)


@dataclass(frozen=True, eq=False)
class _Plan:
    """One computation: the hands of one side, the weights of the other, and the boards."""

    weights: Floats  # [1326] weights of the other side
    first: Ints  # hands of this side, closed under `symmetries`
    hands: Ints  # hands of either side
    symmetries: Ints  # suit permutations that fix weights, board and deck, by number; identity 0
    board: tuple[Card, ...]
    deck: tuple[Card, ...]  # cards that may still be dealt to the board

    @classmethod
    def make(
        cls,
        own: Floats,
        other: Floats,
        board: Sequence[Card],
        dead: Sequence[Card],
        use_suits: bool = True,
    ) -> _Plan:
        symmetries = np.zeros(1, np.int64)
        if use_suits:
            fixes = (other[_hand_images()] == other).all(axis=1)
            for cards in (board, dead):
                fixes &= (np.sort(_card_images()[:, list(cards)]) == sorted(cards)).all(axis=1)
            symmetries = np.flatnonzero(fixes)
        reached = own[_hand_images()[symmetries]].max(axis=0) > 0
        # Cards that every hand of a side holds cannot be on the board.
        gone = {*board, *dead, *_common_cards(reached), *_common_cards(other > 0)}
        return cls(
            weights=other,
            first=np.flatnonzero(reached),
            hands=np.flatnonzero(reached | (other > 0)),
            symmetries=symmetries,
            board=tuple(board),
            deck=tuple(card for card in range(NUM_CARDS) if card not in gone),
        )

    @property
    def work(self) -> float:
        """Approximate number of (hand, board) pairs to evaluate."""
        boards = math.comb(len(self.deck), BOARD_CARDS - len(self.board))
        return len(self.hands) * max(1.0, boards / len(self.symmetries))


def _exact_results(plan: _Plan, progress: Progress | None = None) -> Floats:
    """Return wins, ties and total of each hand over all boards: [3, 1326]."""
    with phase("listing boards up to suits"):
        boards, multiplicity = _canonical_boards(plan)
    blocks = (
        (boards[start : start + _BLOCK], multiplicity[start : start + _BLOCK])
        for start in range(0, len(boards), _BLOCK)
    )
    results = _play(plan, blocks, len(boards), _NUM_CHUNKS, progress).sum(axis=0)
    # On the boards left out, a hand has the results of its images on the boards played.
    averaged: Floats = results[:, _hand_images()[plan.symmetries]].sum(axis=1)
    return averaged / len(plan.symmetries)


def _sampled_results(plan: _Plan, samples: int, seed: int, progress: Progress | None) -> Floats:
    """Return wins, ties and total of each hand over random boards: [batches, 3, 1326]."""
    random = np.random.default_rng(seed)
    sizes = (min(_BLOCK, samples - start) for start in range(0, samples, _BLOCK))
    blocks = ((_random_boards(random, plan, size), np.ones(size, np.uint8)) for size in sizes)
    return _play(plan, blocks, samples, _NUM_BATCHES, progress)


def _random_boards(random: np.random.Generator, plan: _Plan, count: int) -> NDArray[np.uint8]:
    """Sample complete boards [count, 5], equally likely and independent."""
    num_new = BOARD_CARDS - len(plan.board)
    cards = np.tile(np.array(plan.deck, np.uint8), (count, 1))
    rows = np.arange(count)
    for i in range(num_new):  # the first steps of a Fisher–Yates shuffle, all boards at once
        j = random.integers(i, len(plan.deck), count)
        cards[rows, i], cards[rows, j] = cards[rows, j], cards[rows, i]
    boards = np.empty((count, BOARD_CARDS), np.uint8)
    boards[:, :num_new], boards[:, num_new:] = cards[:, :num_new], plan.board
    return boards


def _play(
    plan: _Plan,
    blocks: Iterable[tuple[NDArray[np.uint8], NDArray[np.uint8]]],
    num_boards: int,
    num_chunks: int,
    progress: Progress | None,
) -> Floats:
    """Return wins, ties and total of each hand on blocks of boards: [chunks, 3, 1326].

    A block is boards [B, 5] and their multiplicities [B]; each block is split into all chunks.
    """
    from equilibrist.kernels.cpu import equity as kernel

    second = np.flatnonzero(plan.weights)
    hands, weights = hand_table()[plan.hands], plan.weights[plan.hands]
    places = np.searchsorted(plan.hands, plan.first), np.searchsorted(plan.hands, second)
    pairwise = len(plan.first) * len(second) <= _PAIRS_PER_HAND * len(plan.hands)
    tables = rank_tables(7)
    played = np.zeros((num_chunks, 3, len(plan.hands)))
    was_stopped = stopping.is_requested()  # then these equities are needed all the same
    with phase("playing all boards", total=num_boards, unit="boards") as work:
        for boards, multiplicity in blocks:
            if not was_stopped:
                stopping.check()
            kernel.showdown_boards(
                tables, boards, multiplicity, hands, weights, places, pairwise, played
            )
            work.advance(len(boards))
            if progress is not None:
                progress(work.done / num_boards)
    results = np.zeros((num_chunks, 3, NUM_HANDS))
    results[:, :, plan.hands] = played
    return results


def _canonical_boards(plan: _Plan) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return complete boards [B, 5] up to the plan's symmetries and their multiplicities [B]."""
    from equilibrist.kernels.cpu import equity as kernel

    num_new = BOARD_CARDS - len(plan.board)
    most = math.comb(len(plan.deck), num_new)
    boards = np.empty((most, BOARD_CARDS), np.uint8)
    boards[:, num_new:] = plan.board
    multiplicity = np.empty(most, np.uint8)
    images = _suit_images()[plan.symmetries].astype(np.uint64)
    deck = np.array(plan.deck, np.uint8)
    found = kernel.canonical_boards(deck, num_new, images, boards, multiplicity)
    return boards[:found].copy(), multiplicity[:found].copy()


def _summary(counts: Floats, is_integer: bool) -> Equity:
    """Combine wins, ties and total [batches, 3] into one result; a single batch is exact."""
    batches = np.maximum(counts, 0.0)  # weighted sums may fall below zero by a rounding error
    wins, ties, total = batches.sum(axis=0)
    if not total and len(batches) == 1:
        raise InvalidValueError(
            "the weights are so small that their product is zero; scale them up"
        )
    if not total:
        raise InvalidValueError("no sampled board leaves both sides a hand; use more samples")
    share = (wins + ties / 2) / total
    error = None
    if len(batches) > 1:  # standard error of a ratio of means
        residuals = batches[:, 0] + batches[:, 1] / 2 - share * batches[:, 2]
        spread = np.sum(residuals**2) * len(batches) / (len(batches) - 1)
        error = float(np.sqrt(spread) / total)
    sums = [wins, ties, max(0.0, total - wins - ties), total]
    wins, ties, losses, total = (round(count) if is_integer else float(count) for count in sums)
    return Equity(float(share), wins, ties, losses, total, error is None, error)


def _dealt_weights(
    first: RangeLike, second: RangeLike, board: Sequence[Card], dead: Sequence[Card]
) -> tuple[Floats, Floats]:
    """Check all arguments and return the weights of both sides without blocked hands."""
    if len(board) > BOARD_CARDS:
        raise CardError(f"a board has at most 5 cards, not {len(board)}", value=len(board))
    check_distinct(board, dead)
    left, wanted = NUM_CARDS - len(board) - len(dead), 4 + BOARD_CARDS - len(board)
    if left < wanted:
        raise CardError(f"{left} cards are left and {wanted} must still be dealt", value=left)
    sides = [_as_range(side) for side in (first, second)]
    single = [hand_cards(int(side.hands[0])) for side in sides if len(side.hands) == 1]
    for hand in single:
        check_distinct(hand, board, dead)
    check_distinct(*single)
    own, other = (side.without((*board, *dead)).weights for side in sides)
    if not _can_meet(own > 0, other > 0):
        raise RangeError(
            f"every hand of {sides[0].brief} shares a card with every hand of {sides[1].brief}",
            value=str(sides[0]),
        )
    return own, other


def _as_range(side: RangeLike) -> Range:
    if isinstance(side, Range):
        return side
    return parse_range(side) if isinstance(side, str) else Range.of_hands([side])


def _can_meet(own: NDArray[np.bool_], other: NDArray[np.bool_]) -> bool:
    """Return whether some hand of one side shares no card with some hand of the other."""
    return any(
        (other & ~blocked_hands(hand_cards(int(hand)))).any() for hand in np.flatnonzero(own)
    )


def _common_cards(hands: NDArray[np.bool_]) -> list[Card]:
    """Return the cards that every one of the given hands holds."""
    cards = hand_table()[hands]
    held = np.bincount(cards.ravel(), minlength=NUM_CARDS) == len(cards)
    common: list[Card] = np.flatnonzero(held).tolist()
    return common


@functools.cache
def _suit_images() -> Ints:
    """Return the image of each suit under each of the 24 permutations: [24, 4], identity first."""
    return np.array(list(itertools.permutations(range(4))), np.int64)


@functools.cache
def _card_images() -> Ints:
    """Return the image of each card under each suit permutation: [24, 52]."""
    cards = np.arange(NUM_CARDS)
    return (cards & ~3) + _suit_images()[:, cards & 3]


@functools.cache
def _hand_images() -> Ints:
    """Return the image of each hand under each suit permutation: [24, 1326]."""
    cards = np.sort(_card_images()[:, hand_table()], axis=2)
    images: Ints = cards[..., 1] * (cards[..., 1] - 1) // 2 + cards[..., 0]
    return images
