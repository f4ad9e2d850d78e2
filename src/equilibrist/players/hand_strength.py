"""How good a hold'em hand is, fast enough to ask at every decision.

*Hand strength* is the chance to be ahead now of a random hand, ties for half; *positive potential*
the chance that a hand which is behind will be ahead, *negative potential* that one which is ahead
will be behind (Billings, Papp, Schaeffer and Szafron 1998). Potentials look one card ahead; a hand
that is ahead half of the time and a hand that is tied count alike. Any of these may be against
weighted hands instead of a random one.
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
RUNOUTS = 40  # boards sampled where all would take too long, at every decision
_PREFLOP_RUNOUTS = 1000  # the same before the flop, once a class of hands


class Outlook(NamedTuple):
    """A hand against the hands it may meet, chances from 0 to 1."""

    strength: float  # ahead now
    positive: float  # ahead after the next card, of those behind now
    negative: float  # behind after the next card, of those ahead now

    @property
    def effective(self) -> float:
        """Ahead after the next card."""
        return self.strength * (1 - self.negative) + (1 - self.strength) * self.positive


def check_holdem(rules: GameRules, name: str) -> None:
    """Raise unless a game is limit hold'em with 52 cards, the only one that `name` plays."""
    deals = (rules.num_hole_cards, rules.num_board_cards, len(rules.deck), rules.ranking)
    if deals != (2, (0, 3, 1, 1), 52, "standard") or not rules.is_limit:
        raise InvalidValueError(
            f"{name} plays limit hold'em such as holdem-limit, not {rules.name}", value=rules.name
        )


@functools.lru_cache(maxsize=64)
def hand_values(board: Cards) -> NDArray[np.int32]:
    """Value of every hand on a board of 3 to 5 cards: [1326], −1 where the board blocks it."""
    from equilibrist.kernels.cpu import hand_strength as kernel

    out = np.empty(NUM_HANDS, np.int32)
    kernel.hand_values(
        rank_tables(2 + len(board)), hand_table().copy(), np.array(board, np.uint8), out
    )
    out.flags.writeable = False
    return out


def strengths(board: Cards) -> Floats:
    """Share of all hands on a board that each hand beats, ties for half: [1326]; 0 if blocked.

    Own cards are not taken out of the other hands, so it is a place in the order of hands.

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
    """Share of all hands that each has less equity than: [1326]."""
    _, one_of_class = np.unique(class_table(), return_index=True)
    hands = [tuple(cards) for cards in hand_table()[one_of_class].tolist()]
    equities = np.array([outlook(hand, ()).strength for hand in hands])[class_table()]
    order = np.sort(equities)
    below = np.searchsorted(order, equities, "left") + np.searchsorted(order, equities, "right")
    return below / 2 / len(order)


def possible_hands(cards: Cards) -> Floats:
    """1 for hands that hold none of some cards, 0 for the others: [1326].

    Example:
        >>> float(possible_hands((0, 1)).sum())
        1225.0
    """
    return np.where(_hands_with()[list(cards)].any(axis=0), 0.0, 1.0)


def outlook(hole: Cards, board: Cards, weights: Floats | None = None) -> Outlook:
    """Strength and potentials against a random hand, or against weighted ones [1326].

    Before the flop the strength is the equity, and there are no potentials.

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
        return Outlook(win_chance(hole, board, weights), 0.0, 0.0)
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


def win_chance(hole: Cards, board: Cards, weights: Floats) -> float:
    """Chance to win a showdown against weighted hands [1326], ties for half.

    Exact on turn and river; before, over `RUNOUTS` boards that depend on the cards alone.
    """
    chances = _meetings(hole, _runouts(hole, board, RUNOUTS), _standing(hole, ()), weights)
    wins, ties, losses = chances.sum(axis=(0, 1))
    return _share(wins + ties / 2, wins + ties + losses)


@functools.lru_cache(maxsize=4096)
def final_strengths(hole: Cards, board: Cards) -> Floats:
    """Strength on the river against a random hand, for boards that may come: [boards]."""
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
    """Whether a hand is ahead of each other (0), tied (1) or behind (2), −1 where none can be.

    Without a board all hands that share no card are in class 0.
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
    """Weight of hands that a hand beats, ties and loses to, by board and class: [K, 3, 3]."""
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
    """Complete boards [K, 5]: all where one card or none is to come, else so many by lot."""
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
    """Which hands hold each card: [52, 1326]."""
    return (hand_table()[None] == np.arange(NUM_CARDS)[:, None, None]).any(axis=2)


def _share(part: float, whole: float) -> float:
    """Part of a whole; half where there is nothing to share."""
    return float(part / whole) if whole > 0 else 0.5
