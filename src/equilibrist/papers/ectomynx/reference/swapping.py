"""Reference version of EctomynX's swap rule, card by card as it is defined.

A hole card is *associated* with a draw if the draw no longer exists without the card. In order:

1. a hole card with the rank of another hole or board card is kept;
2. so is one associated with a flush or a flush draw (four of a suit);
3. so is one associated with a straight;
4. with three or more of a suit on the board straight draws are ignored. Otherwise the *power* of a
   card is the number of straight draws it is associated with, a draw being five ranks in a row of
   which one is missing; a card associated with a two-way draw is kept;
5. if both are kept, there is no swap; if one is kept, the other is swapped; if neither is kept, the
   card of lower power is swapped, and at equal power the one of lower rank.

Source: EctomynX, "Pokerbots Strategy Report", I.d. Points that it leaves open are decided here:

- a card is associated with a straight if without it the hand's best straight is lower or missing;
- a two-way draw is one that two different ranks complete, whichever runs they belong to. So J5 on
  987 is a two-way draw although the power of each card is 1, and 94 on 865, where only a seven
  helps, is not although it has two draws: the report's "unusual circumstances";
- with six cards of a suit neither hole card is needed for the flush.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

KEEP = -1
LOW_ACE = -1  # the rank of an ace below a deuce
RUNS = tuple(tuple(range(low, low + 5)) for low in range(LOW_ACE, 9))  # ranks of straights

Cards = Sequence[int]


def swap_place(hole: Cards, board: Cards) -> int:
    """Return which hole card to swap, 0 or 1, or `KEEP`; `board` has 3 to 5 cards."""
    others = [(hole[1], *board), (hole[0], *board)]
    kept = [is_kept(card, rest, board) for card, rest in zip(hole, others, strict=True)]
    if all(kept):
        return KEEP
    if any(kept):
        return kept.index(False)
    worth = [(power(card, rest, board), card >> 2) for card, rest in zip(hole, others, strict=True)]
    return worth.index(min(worth))


def is_kept(card: int, others: Cards, board: Cards) -> bool:
    """Return whether rules 1 to 4 keep a hole card."""
    if card >> 2 in [other >> 2 for other in others]:
        return True
    if any(is_associated(has, card, others) for has in (has_flush_draw, has_flush)):
        return True
    if best_straight((card, *others)) > best_straight(others):
        return True
    return not has_three_suited(board) and is_associated(has_two_way_draw, card, others)


def is_associated(exists: Callable[[Cards], bool], card: int, others: Cards) -> bool:
    """Return whether something exists with a card but not without it."""
    return exists((card, *others)) and not exists(others)


def power(card: int, others: Cards, board: Cards) -> int:
    """Return the number of straight draws that a card is associated with."""
    if has_three_suited(board):
        return 0
    return len(straight_draws((card, *others)) - straight_draws(others))


def most_of_a_suit(cards: Cards) -> int:
    """Return the number of cards of the longest suit."""
    suits = [card & 3 for card in cards]
    return max(map(suits.count, suits), default=0)


def has_three_suited(board: Cards) -> bool:
    """Return whether a suit has at least three cards."""
    return most_of_a_suit(board) >= 3


def has_flush_draw(cards: Cards) -> bool:
    """Return whether a suit has at least four cards."""
    return most_of_a_suit(cards) >= 4


def has_flush(cards: Cards) -> bool:
    """Return whether a suit has at least five cards."""
    return most_of_a_suit(cards) >= 5


def ranks_of(cards: Cards) -> set[int]:
    """Return the ranks of cards; an ace counts as high and as low."""
    ranks = {card >> 2 for card in cards}
    return ranks | {LOW_ACE} if 12 in ranks else ranks


def best_straight(cards: Cards) -> int:
    """Return the place of the highest straight in the cards, or −1 if there is none."""
    ranks = ranks_of(cards)
    return max((i for i, run in enumerate(RUNS) if ranks.issuperset(run)), default=-1)


def straight_draws(cards: Cards) -> set[int]:
    """Return the places of the runs with exactly one missing rank."""
    ranks = ranks_of(cards)
    return {i for i, run in enumerate(RUNS) if len(ranks.intersection(run)) == 4}


def has_two_way_draw(cards: Cards) -> bool:
    """Return whether two different ranks would each complete a straight."""
    ranks = ranks_of(cards)
    missing = {min(set(RUNS[i]) - ranks) % 13 for i in straight_draws(cards)}
    return len(missing) > 1
