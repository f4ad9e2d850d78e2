"""Conversion between the two ways in which protocols count the amount of a raise.

`Action.amount`, ACPC's `r<amount>` and all of this package count a raise as the player's chips in
the *whole hand*. PHH's `cbr`, Slumbot's `b` and Pokerbots' `RAISE` count the chips of the *street*:
blinds belong to the first street, antes to no street. The difference is `Betting.opening`.

    holdem-nolimit, blinds 100 and 50:   ACPC r300c/r900   PHH cbr 300, cc, then cbr 600
"""

from __future__ import annotations

from equilibrist.games.betting import Betting


def street_total(betting: Betting, hand_total: int) -> int:
    """Convert a total of the whole hand into the chips put in on this street.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.games.notation import parse_betting
        >>> street_total(parse_betting(get_game("holdem-nolimit"), "r300c/"), 900)
        600
    """
    return hand_total - betting.opening


def hand_total(betting: Betting, street_total: int) -> int:
    """Convert the chips put in on this street into a total of the whole hand.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.games.notation import parse_betting
        >>> hand_total(parse_betting(get_game("holdem-nolimit"), "r300c/"), 600)
        900
    """
    return betting.opening + street_total
