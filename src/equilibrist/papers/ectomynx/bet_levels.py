"""EctomynX's bet levels: what bets mean, how large ours are, and what a level of play does.

A *level* says how far a player means to go on a street, 0 … 5: before the flop fold, limp, raise,
3-bet, 4-bet, all-in; later check, bet, raise, reraise, … Bets of other sizes are read by
thresholds, before the flop in chips, later in pots x as they were when the street began:

    level         0       1      2      3      4      5
    ideal size    0       2      6     18     46    200      before the flop, raised to
    threshold     0       2      8     24     72    200
    threshold   0.2 x     x     3 x    9 x   27 x   more     after it

The *chip level* of a level is its threshold. Facing a bet one raises if what one would raise to is
within the chip level, calls if the bet is, and folds otherwise; else one bets if the bet is within
it, and checks otherwise. Bets are ⅔ of the pot, raises three times the bet (before the flop the
next ideal size, unless a raise was abnormally large); what would put in over 60 % of the chips
behind is all of them. All amounts are chips of the street.

Source: EctomynX, "Pokerbots Strategy Report", I.a.1, I.b and I.c. Decided here: amounts are rounded
to whole chips; "raise amount" and "bet amount" are those after the 60 % rule, so a level that is
meant is never exceeded; a raise is abnormally large if its level is above the number of bets made.
"""

from __future__ import annotations

from typing import NamedTuple

IDEAL_SIZES = (0, 2, 6, 18, 46, 200)
PREFLOP_THRESHOLDS = (0, 2, 8, 24, 72, 200)
MOST_LEVEL = len(IDEAL_SIZES) - 1
NUM_LEVELS = MOST_LEVEL + 1

FOLD, CALL, RAISE = range(3)  # a check is a call of nothing, a bet a raise


class Spot(NamedTuple):
    """What a player sees of the betting when it is its turn."""

    pot: int  # when the street began; 0 before the flop
    bet: int  # the highest amount put in on the street, blinds included
    own: int  # what the player has put in
    behind: int  # what it has left
    num_bets: int  # bets and raises of the street; the big blind is one
    can_raise: bool = True  # whether the other has chips left

    @property
    def raise_to(self) -> int:
        """What the player would bet or raise to, not asking whether it should."""
        if self.pot == 0:
            level = bet_level(self.bet, 0)
            is_odd = level > self.num_bets or level == MOST_LEVEL
            size = 3 * self.bet if is_odd else IDEAL_SIZES[level + 1]
        else:
            size = 3 * self.bet if self.bet else round_two_thirds(self.pot)
        is_commitment = 10 * (size - self.own) > 6 * self.behind
        return self.own + self.behind if is_commitment else size


def bet_level(amount: int, pot: int) -> int:
    """How a bet, or a raise to an amount, is read; `pot` is 0 before the flop.

    Example:
        >>> [bet_level(bet, 10) for bet in (2, 8, 15)], [bet_level(bet, 0) for bet in (8, 15)]
        ([0, 1, 2], [2, 3])
    """
    if pot == 0:
        thresholds = PREFLOP_THRESHOLDS
        return next((k for k, most in enumerate(thresholds) if amount <= most), MOST_LEVEL)
    if 5 * amount <= pot:
        return 0
    level, most = 1, pot
    while amount > most and level < MOST_LEVEL:
        level, most = level + 1, 3 * most
    return level


def round_two_thirds(pot: int) -> int:
    """⅔ of a pot in whole chips, the nearest number.

    Example:
        >>> [round_two_thirds(pot) for pot in (4, 10, 12)]
        [3, 7, 8]
    """
    return (2 * pot + 1) // 3


def decide(level: int, spot: Spot) -> int:
    """`FOLD`, `CALL` or `RAISE` (to `spot.raise_to`) of a player who means to play to a level.

    Example:
        >>> decide(1, Spot(pot=12, bet=0, own=0, behind=194, num_bets=0)) == RAISE
        True
        >>> decide(0, Spot(pot=384, bet=8, own=0, behind=8, num_bets=1)) == CALL
        True
    """
    can_raise = spot.can_raise and spot.raise_to > spot.bet
    if can_raise and bet_level(spot.raise_to, spot.pot) <= level:
        return RAISE
    if spot.bet == spot.own or bet_level(spot.bet, spot.pot) <= level:
        return CALL
    return FOLD
