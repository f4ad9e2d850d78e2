"""The keys with which a person plays at a table.

    A fold · S check or call · D bet or raise, to the size chosen · F next hand · Q leave
    sizes in no-limit: Z smallest, X ½ pot, C ¾ pot, V pot, B 2 × pot, N all-in, or typed digits
    in discard turns: 1, 2, … swap that card, S keeps

Sizes are chips of the street, as people count them, not of the hand.
"""

from __future__ import annotations

from typing import NamedTuple

from equilibrist.cards.card import cards_symbols
from equilibrist.games.action import CALL, FOLD, KEEP, RAISE, Action, raise_to
from equilibrist.games.amounts import hand_total, street_total
from equilibrist.games.bet_menu import parse_size
from equilibrist.games.betting import Betting
from equilibrist.games.words import action_phrase
from equilibrist.players.player import View

_SIZES = {"x": "50%", "c": "75%", "v": "100%", "b": "200%", "n": "a"}
_LABELS = {"z": "min", "x": "½ pot", "c": "¾ pot", "v": "pot", "b": "2× pot", "n": "all-in"}
_MOST_DIGITS = 9
_COLUMNS = 80  # width of a terminal


class Choice(NamedTuple):
    """An action that a person can choose: its key, its words as on a button, and the action."""

    key: str
    words: str  # such as `raise to 20`
    action: Action


class Size(NamedTuple):
    """A size of a no-limit raise that a key chooses."""

    key: str
    label: str  # such as `½ pot`
    chips: int  # of the street


class Pressed(NamedTuple):
    """The effect of a key: an action, another size, or only a remark."""

    action: Action | None = None
    size: str = ""  # the size chosen so far: a key, or digits
    remark: str = ""


def size_keys(betting: Betting) -> dict[str, int]:
    """Return the chips of the street that each size key raises to; empty if no size can be chosen.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> size_keys(Betting.start(get_game("holdem-nolimit")))
        {'z': 200, 'x': 200, 'c': 250, 'v': 300, 'b': 500, 'n': 20000}
    """
    if betting.rules.is_limit or not betting.can_raise:
        return {}
    low, high = betting.min_raise_to, betting.max_raise_to
    totals = {"z": low}
    for key, size in _SIZES.items():
        total = parse_size(size).raise_total(betting)
        totals[key] = min(max(total or low, low), high)
    return {key: street_total(betting, total) for key, total in totals.items()}


def press(view: View, size: str, key: str) -> Pressed:
    """Return the effect of a key in a situation; `size` is the size chosen so far.

    Example:
        >>> from equilibrist.cards.card import parse_cards
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.games.state import Deal, HandState
        >>> deal = Deal(((), parse_cards("AhKh")))
        >>> view = View.of(HandState.start(get_game("holdem-nolimit"), deal), player=1)
        >>> press(view, "v", "d").action
        Action(kind='r', amount=300, card=None)
        >>> press(view, "30", "0").size, press(view, "150", "d").remark
        ('300', '150 is not a legal size; legal sizes are 200 to 20,000')
    """
    key, betting = key.lower(), view.betting
    if betting.is_discarding:
        if key == "s":
            return Pressed(KEEP)
        if key.isdecimal() and 1 <= int(key) <= len(view.hole):
            return Pressed(Action("d", card=view.hole[int(key) - 1]))
        return Pressed(remark=f"1 to {len(view.hole)} swaps a card, S keeps them")
    if key == "a":
        return (
            Pressed(FOLD) if betting.can_fold else Pressed(None, size, "there is no bet to fold to")
        )
    if key == "s":
        return Pressed(CALL)
    if key == "d":
        return _raise(betting, size)
    known = size_keys(betting)
    if key in known:
        return Pressed(size=key)
    if known and key.isdecimal():
        digits = size if size.isdecimal() else ""
        return Pressed(size=(digits + key)[-_MOST_DIGITS:])
    return Pressed(None, size, f"{key!r} is not a key")


def _raise(betting: Betting, size: str) -> Pressed:
    if not betting.can_raise:
        return Pressed(None, size, "no raise is allowed")
    if betting.rules.is_limit:
        return Pressed(RAISE)
    chips = chosen_chips(betting, size)
    action = raise_to(hand_total(betting, chips))
    if betting.can(action):
        return Pressed(action)
    low, high = (street_total(betting, t) for t in (betting.min_raise_to, betting.max_raise_to))
    remark = f"{chips:,} is not a legal size; legal sizes are {low:,} to {high:,}"
    return Pressed(None, "", remark)


def chosen_chips(betting: Betting, size: str) -> int:
    """Return the chips of the street of a chosen size; the default is the pot."""
    return int(size) if size.isdecimal() else size_keys(betting)[size or "v"]


def buttons(view: View, size: str = "") -> list[str]:
    """Return lines that show the effect of each key.

    Example:
        >>> from equilibrist.cards.card import parse_cards
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.games.state import Deal, HandState
        >>> deal = Deal(((), parse_cards("AhKh")))
        >>> for line in buttons(View.of(HandState.start(get_game("holdem-nolimit"), deal), 1)):
        ...     print(line)
        [A] fold  [S] call 50  [D] raise to 300  [Q] leave
        [Z] min 200  [X] ½ pot 200  [C] ¾ pot 250  [V] pot 300  [B] 2× pot 500
        [N] all-in 20,000
    """
    words = [f"[{choice.key.upper()}] {choice.words}" for choice in choices(view, size)]
    lines = ["  ".join([*words, "[Q] leave"])]
    if found := sizes(view):
        lines += _rows([f"[{key.upper()}] {label} {chips:,}" for key, label, chips in found])
    return lines


def choices(view: View, size: str = "") -> list[Choice]:
    """Return the actions among which a person chooses; a no-limit raise is to the size chosen.

    Example:
        >>> from equilibrist.cards.card import parse_cards
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.games.state import Deal, HandState
        >>> deal = Deal(((), parse_cards("AhKh")))
        >>> view = View.of(HandState.start(get_game("holdem-limit"), deal), player=1)
        >>> [(choice.key, choice.words) for choice in choices(view)]
        [('a', 'fold'), ('s', 'call 5'), ('d', 'raise to 20')]
    """
    betting = view.betting
    if betting.is_discarding:
        swaps = [
            Choice(str(number), f"swap {cards_symbols([card])}", Action("d", card=card))
            for number, card in enumerate(view.hole, start=1)
        ]
        return [Choice("s", "keep", KEEP), *swaps]
    found = [Choice("a", "fold", FOLD)] if betting.can_fold else []
    found.append(Choice("s", f"call {betting.to_call:,}" if betting.to_call else "check", CALL))
    if betting.can_raise:
        action = RAISE
        if not betting.rules.is_limit:
            action = raise_to(hand_total(betting, chosen_chips(betting, size)))
        found.append(Choice("d", action_phrase(betting, action, second_person=True), action))
    return found


def sizes(view: View) -> list[Size]:
    """Return the sizes of a no-limit raise that keys choose; [] if no size can be chosen."""
    return [Size(key, _LABELS[key], chips) for key, chips in size_keys(view.betting).items()]


def _rows(words: list[str]) -> list[str]:
    """Arrange words in as few lines of a terminal as possible."""
    rows = [words[0]]
    for word in words[1:]:
        longer = f"{rows[-1]}  {word}"
        if len(longer) < _COLUMNS:
            rows[-1] = longer
        else:
            rows.append(word)
    return rows
