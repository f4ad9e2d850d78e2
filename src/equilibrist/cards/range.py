"""Ranges: the weight of each two-card hand that a player may hold, and their text form."""

from __future__ import annotations

import functools
import itertools
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.card import RANKS, Card, card_name, parse_cards
from equilibrist.cards.hand import (
    NUM_CLASSES,
    NUM_HANDS,
    Hand,
    HandClass,
    check_hand,
    class_name,
    class_table,
    hand_index,
    hand_name,
    hand_table,
    parse_class,
)
from equilibrist.errors import CardError, RangeError

_CLASSES = re.compile(r"([2-9TJQKA])([2-9TJQKA])([so]?)", re.IGNORECASE | re.ASCII)
_HAND = re.compile(r"(?:[2-9TJQKA][cdhs]){2}", re.IGNORECASE | re.ASCII)
_WEIGHT = re.compile(r"(\d+(\.\d*)?|\.\d+)(e-?\d+)?", re.ASCII)
_Run: TypeAlias = tuple[int, int, int, float]  # first card, lowest and highest kicker, weight
_SHORTEST_LADDER = 3  # minimum number of single classes in step (T9s, 98s, 87s) to form a span


@dataclass(frozen=True, eq=False)
class Range:
    """A weight from 0 to 1 for each of the 1326 hands, at least one of them positive.

    Text form: tokens separated by commas; spaces are ignored; later tokens override earlier ones.

        AA  AKs  AKo  AK        a pair; suited, offsuit, or both
        AhKh                    one hand
        QQ+                     that pair and all higher ones
        A2s+  KTo+  K9+         that kicker and all higher ones below the first card
        TT-77                   a run of pairs, either end first
        A5s-A2s                 the same first card, a run of kickers
        JTs-87s                 both cards in step, with the same gap
        random  *               every hand
        T9s:0.5                 any of these with a weight from 0 to 1; 0 removes hands

    Example:
        >>> aces = parse_range("QQ+, AKs")
        >>> aces.describe()
        'QQ+, AKs  22 combos (1.66 %)'
        >>> aces == parse_range("AKs,AA-QQ")
        True
    """

    weights: NDArray[np.float64]  # [1326], read-only

    def __post_init__(self) -> None:
        weights = np.array(self.weights, np.float64)
        if weights.shape != (NUM_HANDS,):
            raise RangeError(
                f"a range has {NUM_HANDS} weights, not an array of shape {weights.shape}",
                value=weights.shape,
            )
        bad = np.flatnonzero(~((weights >= 0) & (weights <= 1)))
        if len(bad):
            raise RangeError(
                f"the weight {weights[bad[0]]} of {hand_name(int(bad[0]))} is not between 0 and 1",
                value=float(weights[bad[0]]),
                position=int(bad[0]),
            )
        if not weights.any():
            raise RangeError("the range is empty; at least one hand needs a positive weight")
        weights += 0.0  # minus zero becomes zero, so that equal ranges have equal bytes
        weights.flags.writeable = False
        object.__setattr__(self, "weights", weights)

    @classmethod
    def random(cls) -> Range:
        """Return the range of all hands with weight 1."""
        return cls(np.ones(NUM_HANDS))

    @classmethod
    def of_hands(cls, hands: Iterable[Hand]) -> Range:
        """Return the range of the given hands with weight 1.

        Example:
            >>> str(Range.of_hands([1325]))
            'AsAh'
        """
        weights = np.zeros(NUM_HANDS)
        for hand in hands:
            weights[check_hand(hand)] = 1.0
        return cls(weights)

    @property
    def hands(self) -> NDArray[np.int64]:
        """Indices of the hands with a positive weight, ascending."""
        return np.flatnonzero(self.weights)

    @property
    def num_combos(self) -> float:
        """Sum of the weights: 1326 for all hands.

        Example:
            >>> parse_range("AKs:0.5").num_combos
            2.0
        """
        return float(self.weights.sum())

    @property
    def percent(self) -> float:
        """Sum of the weights as a percentage of 1326."""
        return 100 * self.num_combos / NUM_HANDS

    @property
    def brief(self) -> str:
        """The text form for messages, shortened to about 60 characters."""
        return textwrap.shorten(str(self), 60, placeholder=" …")

    def without(self, cards: Sequence[Card]) -> Range:
        """Return the range without the hands that hold any of the given board or dead cards.

        Example:
            >>> parse_range("AA").without(parse_cards("Ah")).num_combos
            3.0
        """
        weights = np.where(blocked_hands(cards), 0.0, self.weights)
        if not weights.any():
            names = " ".join(card_name(card) for card in cards)
            raise RangeError(
                f"no hand of the range {self.brief} can be held without {names} in the deck",
                value=str(self),
            )
        return Range(weights)

    def describe(self, cards: Sequence[Card] = ()) -> str:
        """Return the normalised text with the number of combos and their share of all hands.

        Hands that hold one of the board or dead `cards` are excluded from both numbers.

        Example:
            >>> parse_range("AA").describe(parse_cards("Ah7d2c"))
            'AA  3 combos (0.26 %)'
        """
        blocked = blocked_hands(cards)
        number, hands = self.weights[~blocked].sum(), NUM_HANDS - int(blocked.sum())
        combos = f"{round(float(number), 2):.10g}"
        word = "combo" if combos == "1" else "combos"
        return f"{self}  {combos} {word} ({100 * number / max(1, hands):.2f} %)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Range) and np.array_equal(self.weights, other.weights)

    def __hash__(self) -> int:
        return hash(self.weights.tobytes())

    def __str__(self) -> str:
        return range_text(self)


def blocked_hands(cards: Sequence[Card]) -> NDArray[np.bool_]:
    """Return a mask [1326] of the hands that hold any of the given cards.

    Example:
        >>> int(blocked_hands(parse_cards("AhKd")).sum())
        101
    """
    held = np.isin(hand_table(), np.array(cards, np.int64))
    return held[:, 0] | held[:, 1]


def parse_range(text: str) -> Range:
    """Parse the text of a range; see `Range` for the grammar.

    Example:
        >>> parse_range("AA, KK:0.5").num_combos
        9.0
        >>> parse_range("random, AA:0") == parse_range("*,AA:0")
        True
        >>> parse_range("AhAh")
        Traceback (most recent call last):
        equilibrist.errors.RangeError: 'AhAh' at character 1 repeats a card; a hand has two ...
    """
    if not text.strip():
        raise RangeError("the range is empty; an example is QQ+,AKs", value=text, position=0)
    weights = np.zeros(NUM_HANDS)
    start = 0
    for piece in text.split(","):
        position = start + len(piece) - len(piece.lstrip())
        hands, weight = _parse_token(piece, position)
        weights[hands] = weight
        start += len(piece) + 1
    if not weights.any():
        raise RangeError(
            f"{text!r} has no hand; at least one needs a positive weight", value=text, position=0
        )
    return Range(weights)


def _parse_token(piece: str, position: int) -> tuple[list[Hand], float]:
    """Parse one token into its hands and weight; `position` is the token's offset in the text."""
    token = "".join(piece.split())
    hands_text, colon, weight_text = token.partition(":")
    try:
        hands = _parse_hands(hands_text.replace("10", "T"))
        weight = _parse_weight(weight_text) if colon else 1.0
    except ValueError as error:
        raise RangeError(
            f"{token[:40]!r} at character {position + 1} {error}", value=token, position=position
        ) from None
    return hands, weight


def _parse_weight(text: str) -> float:
    if _WEIGHT.fullmatch(text) and float(text) <= 1:
        return float(text)
    raise ValueError(f"has the weight {text[:40]!r}; a weight is a number from 0 to 1")


def _parse_hands(text: str) -> list[Hand]:
    """Parse the hands of a token without its weight; a ValueError describes what is wrong."""
    if text.lower() in ("random", "*"):
        return list(range(NUM_HANDS))
    if _HAND.fullmatch(text):
        try:
            return [hand_index(*parse_cards(text))]
        except CardError:
            raise ValueError("repeats a card; a hand has two different cards") from None
    first, dash, last = text.partition("-")
    if dash:
        high, low, suits = _parse_classes(first)
        pairs = _span((high, low), _parse_classes(last)[:2])
        if suits != _parse_classes(last)[2]:
            raise ValueError("mixes suited and offsuit; the ends of a span must agree")
    elif text.endswith("+"):
        high, low, suits = _parse_classes(text[:-1])
        top = (12, 12) if high == low else (high, high - 1)
        pairs = _span((high, low), top)
    else:
        high, low, suits = _parse_classes(text)
        pairs = [(high, low)]
    return [hand for pair in pairs for kind in suits for hand in _hands_of(*pair, kind)]


def _parse_classes(text: str) -> tuple[int, int, tuple[str, ...]]:
    """Parse `AKs`, `AKo`, `AK` or `AA` into higher rank, lower rank and suffixes."""
    match = _CLASSES.fullmatch(text)
    if match is None:
        raise ValueError("is not a hand; examples are AA, AKs, AK, QQ+, A5s-A2s, AhKh, random")
    high, low = sorted((RANKS.index(name.upper()) for name in match.groups()[:2]), reverse=True)
    suffix = match.group(3).lower()
    if high == low and suffix:
        raise ValueError("is not a hand; a pair is neither suited nor offsuit")
    return high, low, ("",) if high == low else ("s", "o") if suffix == "" else (suffix,)


def _span(one: tuple[int, int], other: tuple[int, int]) -> list[tuple[int, int]]:
    """Return all (high, low) ranks between two inclusive ends: same high card or same gap."""
    (low_high, low_low), (high_high, high_low) = sorted((one, other))
    if low_high - low_low == high_high - high_low:
        return [(low_high + step, low_low + step) for step in range(high_high - low_high + 1)]
    if low_high == high_high and low_low != low_high and high_low != high_high:
        return [(low_high, kicker) for kicker in range(low_low, high_low + 1)]
    raise ValueError(
        "is not a span; its ends must share the first card (A5s-A2s) or the gap (JTs-87s)"
    )


def _hands_of(high: int, low: int, kind: str) -> list[Hand]:
    return _class_hands()[parse_class(RANKS[high] + RANKS[low] + kind)]


@functools.cache
def _class_hands() -> list[list[Hand]]:
    """Return the hands of every class."""
    return [np.flatnonzero(class_table() == c).tolist() for c in range(NUM_CLASSES)]


def range_text(range_: Range) -> str:
    """Return the normalised text: runs of classes of equal weight, then the remaining hands.

    `parse_range` of the text restores exactly the same weights.

    Example:
        >>> range_text(parse_range("KK,AA,A2s,A3s,87s,T9s,98s,AhKh:0.25"))
        'KK+, A3s-A2s, T9s-87s, AhKh:0.25'
    """
    weights = range_.weights
    if (weights == weights[0]).all():
        return "random" + _weight_text(weights[0])
    whole: dict[HandClass, float] = {}  # classes all of whose hands have one positive weight
    left: list[Hand] = []
    for hand_class, hands in enumerate(_class_hands()):
        if (weights[hands] == weights[hands[0]]).all():
            whole[hand_class] = float(weights[hands[0]])
        else:
            left.extend(hand for hand in hands if weights[hand])
    whole = {hand_class: weight for hand_class, weight in whole.items() if weight}
    tokens = _pair_tokens(whole) + _kicker_tokens(whole)
    tokens += [hand_name(hand) + _weight_text(weights[hand]) for hand in sorted(left, reverse=True)]
    return ", ".join(tokens)


def _weight_text(weight: float) -> str:
    return "" if weight == 1 else f":{float(weight)!r}"


def _runs(weights: Sequence[float]) -> list[tuple[int, int, float]]:
    """Return the runs (first, last, weight) of equal positive weights in a sequence."""
    runs = []
    start = 0
    for weight, group in itertools.groupby(weights):
        length = len(list(group))
        if weight:
            runs.append((start, start + length - 1, weight))
        start += length
    return runs


def _pair_tokens(whole: dict[HandClass, float]) -> list[str]:
    tokens = []
    for low, high, weight in reversed(_runs([whole.get(14 * rank, 0.0) for rank in range(13)])):
        name = _run_name(class_name(14 * low), class_name(14 * high), high == 12)
        tokens.append(name + _weight_text(weight))
    return tokens


def _kicker_tokens(whole: dict[HandClass, float]) -> list[str]:
    """Return the tokens of unpaired classes: first both kinds together, then suited, offsuit."""
    runs: dict[str, list[_Run]] = {"": [], "s": [], "o": []}
    for high in range(12, 0, -1):
        suited = _runs([whole.get(13 * high + low, 0.0) for low in range(high)])
        offsuit = _runs([whole.get(13 * low + high, 0.0) for low in range(high)])
        both = set(suited) & set(offsuit)
        runs[""] += [(high, *run) for run in both]
        runs["s"] += [(high, *run) for run in suited if run not in both]
        runs["o"] += [(high, *run) for run in offsuit if run not in both]
    return [token for suffix in runs for token in _tokens_of_runs(runs[suffix], suffix)]


def _tokens_of_runs(runs: list[_Run], suffix: str) -> list[str]:
    """Return the tokens of runs of kickers; single classes in step with one gap become a span."""

    def name(high: int, low: int) -> str:
        return RANKS[high] + RANKS[low] + suffix

    tokens: list[str] = []
    single = {(high, low): weight for high, low, top, weight in runs if low == top}
    for high, low, top, weight in sorted(runs, reverse=True):
        if low < top:
            text = _run_name(name(high, low), name(high, top), top == high - 1)
            tokens.append(text + _weight_text(weight))
        elif (high, low) in single:
            steps = 1
            while single.get((high - steps, low - steps)) == weight:
                steps += 1
            if steps < _SHORTEST_LADDER:
                steps = 1
            for step in range(steps):
                del single[high - step, low - step]
            last = steps - 1
            text = _run_name(name(high - last, low - last), name(high, low), is_open=False)
            tokens.append(text + _weight_text(weight))
    return tokens


def _run_name(low: str, high: str, is_open: bool) -> str:
    if low == high:
        return low
    return f"{low}+" if is_open else f"{high}-{low}"
