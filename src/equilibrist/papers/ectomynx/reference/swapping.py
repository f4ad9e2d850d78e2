"""EctomynX's swap rule, card by card as it is defined.

A hole card is *associated* with a draw if the draw no longer exists without the card. In order:

1. a hole card with the rank of another hole or board card is kept;
2. so is one associated with a flush or a flush draw (four of a suit);
3. so is one associated with a straight;
4. with three or more of a suit on the board straight draws are ignored. Otherwise the *power* of a
   card is the number of straight draws it is associated with, a draw being five ranks in a row of
   which one is missing; a card associated with a two-way draw is kept;
5. both kept: no swap. One kept: the other goes. None kept: the one of lower power, then of lower
   rank, goes.

Source: EctomynX, "Pokerbots Strategy Report", I.d. What it leaves open is decided here:

- a straight is associated with a card without which the hand's best straight is lower or none;
- a two-way draw is one that two different ranks complete, whichever runs they belong to. So J5 on
  987 has one though the power of either card is 1, and 94 on 865, where only a seven helps, has
  none though two draws wait for it: the report's "unusual circumstances";
- of six cards of a suit neither hole card is needed for the flush.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

KEEP = -1
LOW_ACE = -1  # the rank of an ace below a deuce
RUNS = tuple(tuple(range(low, low + 5)) for low in range(LOW_ACE, 9))  # ranks of straights

Cards = Sequence[int]


def swap_place(hole: Cards, board: Cards) -> int:
    """Which of two hole cards goes, 0 or 1, or `KEEP`; `board` has 3 to 5 cards."""
    others = [(hole[1], *board), (hole[0], *board)]
    kept = [is_kept(card, rest, board) for card, rest in zip(hole, others, strict=True)]
    if all(kept):
        return KEEP
    if any(kept):
        return kept.index(False)
    worth = [(power(card, rest, board), card >> 2) for card, rest in zip(hole, others, strict=True)]
    return worth.index(min(worth))


def is_kept(card: int, others: Cards, board: Cards) -> bool:
    """Rules 1 to 4: whether a hole card is flagged as not to be discarded."""
    if card >> 2 in [other >> 2 for other in others]:
        return True
    if any(is_associated(has, card, others) for has in (has_flush_draw, has_flush)):
        return True
    if best_straight((card, *others)) > best_straight(others):
        return True
    return not has_three_suited(board) and is_associated(has_two_way_draw, card, others)


def is_associated(exists: Callable[[Cards], bool], card: int, others: Cards) -> bool:
    """Whether something exists with a card and no longer without it."""
    return exists((card, *others)) and not exists(others)


def power(card: int, others: Cards, board: Cards) -> int:
    """Straight draws that a card is associated with."""
    if has_three_suited(board):
        return 0
    return len(straight_draws((card, *others)) - straight_draws(others))


def most_of_a_suit(cards: Cards) -> int:
    """Cards of the longest suit."""
    suits = [card & 3 for card in cards]
    return max(map(suits.count, suits), default=0)


def has_three_suited(board: Cards) -> bool:
    """Whether a suit has three or more cards."""
    return most_of_a_suit(board) >= 3


def has_flush_draw(cards: Cards) -> bool:
    """Whether a suit has four cards or more."""
    return most_of_a_suit(cards) >= 4


def has_flush(cards: Cards) -> bool:
    """Whether a suit has five cards or more."""
    return most_of_a_suit(cards) >= 5


def ranks_of(cards: Cards) -> set[int]:
    """The ranks of cards; an ace is there twice."""
    ranks = {card >> 2 for card in cards}
    return ranks | {LOW_ACE} if 12 in ranks else ranks


def best_straight(cards: Cards) -> int:
    """Place of the highest run that is there, −1 if none."""
    ranks = ranks_of(cards)
    return max((i for i, run in enumerate(RUNS) if ranks.issuperset(run)), default=-1)


def straight_draws(cards: Cards) -> set[int]:
    """Places of the runs of which one rank is missing."""
    ranks = ranks_of(cards)
    return {i for i, run in enumerate(RUNS) if len(ranks.intersection(run)) == 4}


def has_two_way_draw(cards: Cards) -> bool:
    """Whether two different ranks would each make a straight."""
    ranks = ranks_of(cards)
    missing = {min(set(RUNS[i]) - ranks) % 13 for i in straight_draws(cards)}
    return len(missing) > 1
