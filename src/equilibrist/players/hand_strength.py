"""Strength and potential of hold'em hands, fast enough for every decision.

*Hand strength* is the probability to be ahead of a random hand now, with ties counted as half;
*positive potential* is the probability that a hand which is behind will be ahead, *negative
potential* that a hand which is ahead will be behind (Billings, Papp, Schaeffer and Szafron 1998).
Potentials look one card ahead; a hand that is ahead half of the time counts like a hand that is
tied. All of these may be computed against weighted hands instead of a random one.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.card import NUM_CARDS, Cards
from equilibrist.cards.hand import NUM_HANDS, class_table, hand_index, hand_table
from equilibrist.cards.ranking import rank_tables
from equilibrist.errors import InvalidValueError
from equilibrist.games.rules import GameRules

Floats = NDArray[np.float64]

BOARD_CARDS = 5
RUNOUTS = 40  # boards sampled per decision where all boards would take too long
_PREFLOP_RUNOUTS = 1000  # boards sampled before the flop, once per class of hands


class Outlook(NamedTuple):
    """Strength and potentials of a hand, probabilities from 0 to 1."""

    strength: float  # probability to be ahead now
    positive: float  # probability to be ahead after the next card if behind now
    negative: float  # probability to be behind after the next card if ahead now

    @property
    def effective(self) -> float:
        """Probability to be ahead after the next card."""
        return self.strength * (1 - self.negative) + (1 - self.strength) * self.positive


def check_holdem(rules: GameRules, name: str, *, no_limit: bool = False) -> None:
    """Raise InvalidValueError unless a game is limit hold'em with 52 cards, for player `name`.

    With `no_limit` it may be no-limit hold'em too.
    """
    deals = (rules.num_hole_cards, rules.num_board_cards, len(rules.deck), rules.ranking)
    is_holdem = deals == (2, (0, 3, 1, 1), 52, "standard") and not any(rules.discards)
    if not is_holdem or not (rules.is_limit or no_limit):
        raise InvalidValueError(
            f"{name} plays limit hold'em such as holdem-limit, not {rules.name}", value=rules.name
        )


@functools.lru_cache(maxsize=64)
def hand_values(board: Cards) -> NDArray[np.int32]:
    """Return the value of every hand on a board of 3 to 5 cards: [1326]; −1 if blocked."""
    from equilibrist.kernels.cpu import hand_strength as kernel

    out = np.empty(NUM_HANDS, np.int32)
    kernel.hand_values(
        rank_tables(2 + len(board)), hand_table().copy(), np.array(board, np.uint8), out
    )
    out.flags.writeable = False
    return out


def strengths(board: Cards) -> Floats:
    """Return the share of all hands on a board that each hand beats: [1326]; 0 if blocked.

    Ties count as half. Hands that share a card with the hand are included, so the result is the
    hand's place in the order of all hands.

    Example:
        >>> from equilibrist.cards.card import parse_cards
        >>> found = strengths(parse_cards("2c7d9hJsTc"))
        >>> float(found[hand_index(*parse_cards("KhQh"))].round(3))  # the best straight
        0.993
    """
    return _strengths(tuple(board))


@functools.lru_cache(maxsize=64)
def _strengths(board: Cards) -> Floats:
    if not board:
        return _preflop_strengths()
    values = hand_values(board)
    held = values >= 0
    order = np.sort(values[held])
    below = np.searchsorted(order, values, "left") + np.searchsorted(order, values, "right")
    return np.where(held, below / 2 / len(order), 0.0)


@functools.cache
def _preflop_strengths() -> Floats:
    """Return the share of all hands that have less equity before the flop: [1326].

    Ties count as half.
    """
    _, one_of_class = np.unique(class_table(), return_index=True)
    hands = [tuple(cards) for cards in hand_table()[one_of_class].tolist()]
    equities = np.array([outlook(hand, ()).strength for hand in hands])[class_table()]
    order = np.sort(equities)
    below = np.searchsorted(order, equities, "left") + np.searchsorted(order, equities, "right")
    return below / 2 / len(order)


def possible_hands(cards: Cards) -> Floats:
    """Return 1 for hands that contain none of the given cards, 0 for the others: [1326].

    Example:
        >>> float(possible_hands((0, 1)).sum())
        1225.0
    """
    return np.where(_hands_with()[list(cards)].any(axis=0), 0.0, 1.0)


def outlook(hole: Cards, board: Cards, weights: Floats | None = None) -> Outlook:
    """Return strength and potentials against a random hand, or against weighted hands [1326].

    Before the flop the strength is the equity, and both potentials are 0.

    Example:
        >>> from equilibrist.cards.card import parse_cards
        >>> aces = outlook(parse_cards("AhAd"), parse_cards("2c7d9h"))
        >>> draw = outlook(parse_cards("5h4h"), parse_cards("2hKh9c"))
        >>> aces.strength > 0.95, draw.strength < 0.2, draw.positive > 0.2
        (True, True, True)
    """
    if weights is None:
        return _random_outlook(tuple(sorted(hole)), tuple(board))
    return _outlook(hole, board, weights)


@functools.lru_cache(maxsize=4096)
def _random_outlook(hole: Cards, board: Cards) -> Outlook:
    if not board:
        return Outlook(_class_equity(int(class_table()[hand_index(*hole)])), 0.0, 0.0)
    return _outlook(hole, board, np.ones(NUM_HANDS))


def _outlook(hole: Cards, board: Cards, weights: Floats) -> Outlook:
    if not board:
        return Outlook(win_probability(hole, board, weights), 0.0, 0.0)
    now = _standing(hole, board)
    held = np.array([weights[now == place].sum() for place in range(3)])
    strength = _share(held[0] + held[1] / 2, held.sum())
    if len(board) == BOARD_CARDS:
        return Outlook(strength, 0.0, 0.0)
    free = np.setdiff1d(np.arange(NUM_CARDS), (*hole, *board))
    boards = np.hstack([np.tile(board, (len(free), 1)), free[:, None]])
    moved = _meetings(hole, boards, now, weights).sum(axis=0)  # [now, then]
    ahead, tied, behind = moved.sum(axis=1)
    gained = moved[2, 0] + moved[2, 1] / 2 + moved[1, 0] / 2
    lost = moved[0, 2] + moved[0, 1] / 2 + moved[1, 2] / 2
    return Outlook(strength, _share(gained, behind + tied / 2), _share(lost, ahead + tied / 2))


def win_probability(hole: Cards, board: Cards, weights: Floats) -> float:
    """Return the probability to win a showdown against weighted hands [1326]; ties count as half.

    It is exact on turn and river; on earlier rounds it is an average over `RUNOUTS` sampled boards,
    which depend only on the cards.
    """
    probabilities = _meetings(hole, _runouts(hole, board, RUNOUTS), _standing(hole, ()), weights)
    wins, ties, losses = probabilities.sum(axis=(0, 1))
    return _share(wins + ties / 2, wins + ties + losses)


@functools.lru_cache(maxsize=4096)
def final_strengths(hole: Cards, board: Cards) -> Floats:
    """Return the strength on the river against a random hand for each possible board: [boards]."""
    runouts = _runouts(hole, board, RUNOUTS)
    met = _meetings(hole, runouts, _standing(hole, ()), np.ones(NUM_HANDS)).sum(axis=1)
    return (met[:, 0] + met[:, 1] / 2) / met.sum(axis=1)


@functools.cache
def _class_equity(hand_class: int) -> float:
    hole = tuple(hand_table()[np.flatnonzero(class_table() == hand_class)[0]].tolist())
    boards = _runouts(hole, (), _PREFLOP_RUNOUTS)
    met = _meetings(hole, boards, _standing(hole, ()), np.ones(NUM_HANDS)).sum(axis=(0, 1))
    return float((met[0] + met[1] / 2) / met.sum())


def _standing(hole: Cards, board: Cards) -> NDArray[np.int8]:
    """Return whether a hand is ahead (0), tied (1) or behind (2) each hand: [1326].

    It is −1 for hands that are blocked. Without a board all hands that share no card have 0.
    """
    if board:
        values = hand_values(tuple(board))
        own = values[hand_index(*hole)]
        places = (values >= own).astype(np.int8) + (values > own)
        places[values < 0] = -1
    else:
        places = np.zeros(NUM_HANDS, np.int8)
    places[_hands_with()[list(hole)].any(axis=0)] = -1
    return places


def _meetings(
    hole: Cards, boards: NDArray[np.integer], classes: NDArray[np.int8], weights: Floats
) -> Floats:
    """Return the weight of hands beaten, tied and lost to, by board and class: [K, 3, 3]."""
    from equilibrist.kernels.cpu import hand_strength as kernel

    out = np.zeros((len(boards), 3, 3))
    kernel.meetings(
        rank_tables(2 + boards.shape[1]),
        hand_table().copy(),
        np.ascontiguousarray(boards, np.uint8),
        hand_index(*hole),
        classes,
        weights,
        out,
    )
    return out


def _runouts(hole: Cards, board: Cards, most: int) -> NDArray[np.uint8]:
    """Return complete boards [K, 5]: all if at most one card is missing, else `most` samples."""
    num_new = BOARD_CARDS - len(board)
    free = [card for card in range(NUM_CARDS) if card not in hole and card not in board]
    if num_new <= 1:
        new = np.array(free, np.uint8)[:, None] if num_new else np.zeros((1, 0), np.uint8)
    else:
        random = np.random.default_rng([*hole, *board])
        new = random.permuted(np.tile(np.array(free, np.uint8), (most, 1)), axis=1)[:, :num_new]
    old = np.tile(np.array(board, np.uint8), (len(new), 1))
    return np.hstack([old, new])


@functools.cache
def _hands_with() -> NDArray[np.bool_]:
    """Return whether each hand contains each card: [52, 1326]."""
    return (hand_table()[None] == np.arange(NUM_CARDS)[:, None, None]).any(axis=2)


def _share(part: float, whole: float) -> float:
    """Return part / whole, or 0.5 if the whole is zero."""
    return float(part / whole) if whole > 0 else 0.5
