"""EctomynX's bet levels: the levels of bets, the sizes of our bets, and actions by level.

A *level* is the highest bet that a player intends to make or call on a street, 0 … 5: before the
flop fold, limp, raise, 3-bet, 4-bet, all-in; later check, bet, raise, reraise, … The level of a bet
of any size is given by thresholds, before the flop in chips, later in multiples of the pot x at the
start of the street:

    level         0       1      2      3      4      5
    ideal size    0       2      6     18     46    200      before the flop, raised to
    threshold     0       2      8     24     72    200
    threshold   0.2 x     x     3 x    9 x   27 x   more     after it

The *chip level* of a level is its threshold. A player that faces a bet raises if its raise would be
within the chip level, calls if the bet is within it, and folds otherwise; a player that faces no
bet bets if its bet would be within the chip level, and checks otherwise. Bets are ⅔ of the pot,
raises three times the bet (before the flop the next ideal size, unless a raise was abnormally
large); a bet of over 60 % of the chips behind becomes all-in. All amounts are chips put in on the
street.

Source: EctomynX, "Pokerbots Strategy Report", I.a.1, I.b and I.c. Decided here: amounts are rounded
to whole chips; "raise amount" and "bet amount" are those after the 60 % rule, so an intended level
is never exceeded; a raise is abnormally large if its level is above the number of bets made.
"""

from __future__ import annotations

from typing import NamedTuple

IDEAL_SIZES = (0, 2, 6, 18, 46, 200)
PREFLOP_THRESHOLDS = (0, 2, 8, 24, 72, 200)
MOST_LEVEL = len(IDEAL_SIZES) - 1
NUM_LEVELS = MOST_LEVEL + 1

FOLD, CALL, RAISE = range(3)  # a check is a call of zero chips, a bet is a raise


class BettingView(NamedTuple):
    """The betting as a player sees it at its turn; amounts are chips put in on the street."""

    pot: int  # at the start of the street; 0 before the flop
    bet: int  # the highest amount put in on the street, including blinds
    own: int  # the amount that the player has put in
    behind: int  # the chips that it has left
    num_bets: int  # number of bets and raises on the street; the big blind is one
    can_raise: bool = True  # whether the opponent has chips left

    @property
    def raise_to(self) -> int:
        """Amount that the player would bet or raise to, whether or not it should."""
        if self.pot == 0:
            level = bet_level(self.bet, 0)
            is_odd = level > self.num_bets or level == MOST_LEVEL
            size = 3 * self.bet if is_odd else IDEAL_SIZES[level + 1]
        else:
            size = 3 * self.bet if self.bet else round_two_thirds(self.pot)
        is_commitment = 10 * (size - self.own) > 6 * self.behind
        return self.own + self.behind if is_commitment else size


def bet_level(amount: int, pot: int) -> int:
    """Return the level of a bet, or of a raise to an amount; `pot` is 0 before the flop.

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
    """Return ⅔ of a pot, rounded to the nearest whole chip.

    Example:
        >>> [round_two_thirds(pot) for pot in (4, 10, 12)]
        [3, 7, 8]
    """
    return (2 * pot + 1) // 3


def decide(level: int, spot: BettingView) -> int:
    """Return `FOLD`, `CALL` or `RAISE` (to `spot.raise_to`) for a player with a level.

    Example:
        >>> decide(1, BettingView(pot=12, bet=0, own=0, behind=194, num_bets=0)) == RAISE
        True
        >>> decide(0, BettingView(pot=384, bet=8, own=0, behind=8, num_bets=1)) == CALL
        True
    """
    can_raise = spot.can_raise and spot.raise_to > spot.bet
    if can_raise and bet_level(spot.raise_to, spot.pot) <= level:
        return RAISE
    if spot.bet == spot.own or bet_level(spot.bet, spot.pot) <= level:
        return CALL
    return FOLD
