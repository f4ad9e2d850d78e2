"""Bet menus: the bets and raises that a model of a game allows.

In limit games a menu caps the number of raises per round (ACPC `maxRaises`, blinds not counted), at
most at the cap of the game; in no-limit games it also lists sizes, in a notation that players know:

    50%     half the pot; for a raise, half the pot after calling
    2.5x    raises only: to two and a half times the bet faced, in this round's chips
    100c    one hundred chips more than a call
    2.5bb   two and a half big blinds more than a call
    e       geometric: betting the same share of the pot in every remaining round ends all-in;
            `2e`: all-in after two rounds
    a       all-in, or putting the opponent all-in
    -       alone: no bet at all

Sizes are separated by commas, the rounds of the game by `/`, and the seats of a round by `|`,
player 0 first: `50%,a / 75% | 100%,a / a`. If a menu has fewer rounds than the game, its last round
applies to the remaining ones; the sizes of a single seat apply to both. Amounts are whole chips
(halves round to even). An amount below the smallest raise becomes the smallest raise; an amount
above the actor's stack, or above what any opponent can match, becomes that limit (chips that nobody
can match are returned). Equal amounts are merged. The smallest bet of a round is the big blind; the
smallest raise is the big blind or, if that is more, the last raise of the round.

A *donk bet* is the first bet of a round by a player who called the last raise of the round before
and now acts before that raiser. So a round that was checked through has no donk bets after it, and
neither has the first round of a tree. `donks` are its sizes, by round and without seats.

Three thresholds, each per cent of a pot, change the amounts that the sizes of a menu give, in this
order. In them, a bet is its chips above a call, and the pot includes that call:

    add_all_in    all-in is added if it is a bet of at most this share of the pot, and the menu has
                  a size that applies
    force_all_in  a bet becomes all-in if, after it and a call, each player would have at most this
                  share of the new pot left
    merge         bets that are close to a larger one are dropped. Keep the largest bet, L chips
                  into a pot of P; drop every smaller bet of S chips with
                  P + L < (1 + merge) (P + S); go on in the same way with the largest bet below
                  those dropped, until no bet is left. All-in is a bet like the others.

A threshold of 0 % changes nothing, and is the same as none. PioSolver and postflop-solver have
options of the same names and meaning.
"""

from __future__ import annotations

import operator
import re
from dataclasses import asdict, dataclass, fields, replace
from decimal import Decimal
from typing import Any, Literal, TypeAlias, TypedDict

from equilibrist.cards.numbers import parse_whole
from equilibrist.errors import BetMenuError
from equilibrist.games.action import RAISE, Action, raise_to
from equilibrist.games.betting import Betting
from equilibrist.games.rules import UNLIMITED_RAISES, GameRules

_SIZE = re.compile(
    r"(?P<percent>\d+(?:\.\d+)?)%|(?P<times>\d+(?:\.\d+)?)x|(?P<chips>\d+(?:\.\d{1,3})?)c"
    r"|(?P<blinds>\d+(?:\.\d{1,3})?)bb"
    r"|(?P<geometric>\d*)e|(?P<all_in>a)",
    re.ASCII,
)
_THRESHOLD = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)%", re.ASCII)
_MOST_PERCENT = Decimal(1_000_000)
_NO_SIZES = "-"


@dataclass(frozen=True)
class BetSize:
    """One size of a menu; `amount` is a percentage, a factor, chips, blinds, or rounds."""

    kind: Literal["percent", "times", "chips", "blinds", "geometric", "all_in"]
    amount: float = 0.0

    def raise_total(self, betting: Betting) -> int | None:
        """Return the total chips of the whole hand after this bet or raise; None: not applicable.

        Example:
            >>> from equilibrist.games.catalog import get_game
            >>> flop = Betting.start(get_game("holdem-nolimit"), round=1, pot=600)
            >>> [parse_size(text).raise_total(flop) for text in ("50%", "100c", "a", "e")]
            [600, 400, 20000, 1216]
        """
        called = max(betting.spent)  # chips that the actor has put in after calling
        pot = betting.pot + betting.to_call
        if self.kind == "percent":
            return called + round(pot * self.amount / 100)
        if self.kind == "chips":
            return called + round(self.amount)
        if self.kind == "blinds":
            return called + round(self.amount * betting.rules.big_blind)
        if self.kind == "all_in":
            return betting.max_matched_to
        if self.kind == "times":
            faced = called - betting.opening
            return betting.opening + round(faced * self.amount) if faced > 0 else None
        rounds = int(self.amount) or betting.rules.num_rounds - betting.round
        behind = max(0, betting.max_matched_to - called)
        share = ((pot + 2 * behind) / pot) ** (1 / rounds) / 2 - 0.5 if pot else 0.0
        return called + round(pot * share)

    def __str__(self) -> str:
        number = f"{Decimal(repr(self.amount)).normalize():f}"  # all digits, never 1e+06
        return {
            "percent": f"{number}%",
            "times": f"{number}x",
            "chips": f"{number}c",
            "blinds": f"{number}bb",
            "geometric": f"{number if self.amount else ''}e",
            "all_in": "a",
        }[self.kind]


THRESHOLDS = ("add_all_in", "force_all_in", "merge")
Sizes: TypeAlias = tuple[BetSize, ...]
SizesOfRounds: TypeAlias = tuple[tuple[Sizes, ...], ...]  # [round][seat], the last ones repeat


class MenuTexts(TypedDict, total=False):
    """The texts of a bet menu, by the names of its fields; a missing one is None."""

    bets: str | None
    raises: str | None
    max_raises: str | None
    donks: str | None
    add_all_in: str | None
    force_all_in: str | None
    merge: str | None


@dataclass(frozen=True)
class BetMenu:
    """Raise caps and bet sizes of a model; None leaves the rules of the game unchanged.

    `bets` are the sizes when nobody has bet in the round; `raises` are the sizes when somebody has
    (the blinds are bets), by default the same as `bets`; `donks` are those of donk bets, by default
    the same as `bets`. The thresholds are per cent of the pot. The docstring of the module defines
    donk bets and thresholds.

    Example:
        >>> menu = BetMenu.parse("50%,a / 100%,a", "2.5x,a", max_raises="3", merge="10%")
        >>> str(menu)
        'bets 50%,a / 100%,a; raises 2.5x,a; at most 3 raises per round; merge 10%'
    """

    max_raises: tuple[int, ...] | None = None  # per round, the last one repeats
    bets: SizesOfRounds | None = None
    raises: SizesOfRounds | None = None
    donks: SizesOfRounds | None = None
    add_all_in: Decimal | None = None
    force_all_in: Decimal | None = None
    merge: Decimal | None = None

    def __post_init__(self) -> None:
        for name in ("max_raises", "bets", "raises", "donks"):
            of_rounds = getattr(self, name)
            if of_rounds is not None and not (
                of_rounds and all(seats != () for seats in of_rounds)
            ):
                raise BetMenuError(
                    f"{name} of a menu must have at least one round and seat, or be None",
                    value=of_rounds,
                )
        if any(len(seats) > 1 for seats in self.donks or ()):
            raise BetMenuError(
                "donks of a menu have no seats, because only one player of two can make a donk "
                "bet: leave out |",
                value=self.donks,
            )
        for name in THRESHOLDS:
            percent = getattr(self, name)
            if percent is None:
                continue
            is_number = isinstance(percent, Decimal) and percent.is_finite()
            if not (is_number and 0 < percent <= _MOST_PERCENT):
                raise BetMenuError(
                    f"{name} must be a Decimal above 0 and at most {_MOST_PERCENT} per cent, or "
                    f"None, not {percent}",
                    value=percent,
                )

    @classmethod
    def parse(
        cls,
        bets: str | None = None,
        raises: str | None = None,
        max_raises: str | None = None,
        *,
        donks: str | None = None,
        add_all_in: str | None = None,
        force_all_in: str | None = None,
        merge: str | None = None,
    ) -> BetMenu:
        """Parse a menu from its texts; the inverse of `texts`.

        Caps are numbers separated by spaces or commas. Thresholds are percentages such as `20%`.
        Empty `donks` are `-`: no donk bets.
        """
        return cls(
            max_raises=None if max_raises is None else _parse_caps(max_raises),
            bets=None if bets is None else parse_sizes(bets),
            raises=None if raises is None else parse_sizes(raises),
            donks=None if donks is None else parse_sizes(donks.strip() or _NO_SIZES),
            add_all_in=parse_threshold(add_all_in, "add_all_in"),
            force_all_in=parse_threshold(force_all_in, "force_all_in"),
            merge=parse_threshold(merge, "merge"),
        )

    def texts(self) -> MenuTexts:
        """Return the texts of all fields that are not None; the inverse of `parse`.

        Example:
            >>> BetMenu.parse(bets="50%, a", donks="", merge="10.0%", max_raises="3,2").texts()
            {'max_raises': '3 2', 'bets': '50%,a', 'donks': '-', 'merge': '10%'}
        """
        found: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None:
                continue
            if field.name in THRESHOLDS:
                found[field.name] = _percent_text(value)
            elif field.name == "max_raises":
                found[field.name] = " ".join(map(str, value))
            else:
                found[field.name] = sizes_text(value)
        return MenuTexts(**found)  # type: ignore[typeddict-item]

    def sizes(self) -> tuple[SizesOfRounds | None, ...]:
        """Return the sizes of bets, raises and donk bets."""
        return self.bets, self.raises, self.donks

    def limit(
        self, rules: GameRules, first_round: int = 0, last_round: int | None = None
    ) -> GameRules:
        """Return the rules with this menu's raise caps in rounds `first_round` … `last_round`.

        Raises `BetMenuError` if the menu names rounds or seats that the game does not have, or
        allows more raises in one of those rounds than the game does. In the other rounds the game's
        own cap applies if it is lower.

        Example:
            >>> from equilibrist.games.catalog import get_game
            >>> BetMenu.parse(max_raises="2 3").limit(get_game("holdem-limit")).max_raises
            (2, 3, 3, 3)
            >>> BetMenu.parse(max_raises="4").limit(get_game("rhode-island"))
            Traceback (most recent call last):
              ...
            equilibrist.errors.BetMenuError: a cap of 4 raises in round 1 is above the 3 of
            rhode-island; ...
        """
        self._check_fits(rules)
        caps = self._caps(rules)
        last = rules.num_rounds - 1 if last_round is None else last_round
        for r in range(first_round, last + 1):
            if caps[r] > rules.max_raises[r]:
                raise BetMenuError(
                    f"a cap of {caps[r]} raises in round {r + 1} is above the "
                    f"{rules.max_raises[r]} of {rules.name}; its caps are "
                    f"{' '.join(map(str, rules.max_raises))} by round",
                    value=caps[r],
                    position=r,
                )
        return replace(rules, max_raises=tuple(map(min, caps, rules.max_raises)))

    def clipped(self, rules: GameRules) -> BetMenu:
        """Return the menu with its raise caps limited to those of the given rules.

        Files of earlier versions may contain caps above those of the game; the game's caps applied.

        Example:
            >>> from equilibrist.games.catalog import get_game
            >>> BetMenu.parse(max_raises="4").clipped(get_game("holdem-limit")).max_raises
            (3, 4, 4, 4)
        """
        caps = self._caps(rules)
        if all(map(operator.le, caps, rules.max_raises)):
            return self
        return replace(self, max_raises=tuple(map(min, caps, rules.max_raises)))

    def _caps(self, rules: GameRules) -> tuple[int, ...]:
        """Return the raise cap of every round: the menu's, or the game's if the menu has none."""
        caps = rules.max_raises if self.max_raises is None else self.max_raises
        return caps + (caps[-1],) * (rules.num_rounds - len(caps))

    def _check_fits(self, rules: GameRules) -> None:
        for what, of_rounds in (
            ("raise caps", self.max_raises),
            ("rounds of bets", self.bets),
            ("rounds of raises", self.raises),
            ("rounds of donks", self.donks),
        ):
            if of_rounds is not None and len(of_rounds) > rules.num_rounds:
                raise BetMenuError(
                    f"{len(of_rounds)} {what} for the {rules.num_rounds} rounds of {rules.name}",
                    value=of_rounds,
                )
        for menu in (self.bets or (), self.raises or ()):
            seats = max(map(len, menu), default=0)
            if seats > rules.num_players:
                raise BetMenuError(
                    f"sizes of {seats} seats for the {rules.num_players} players of {rules.name}",
                    value=seats,
                )

        texts = self.texts()
        texts.pop("bets", None)  # ignored in limit games; files of earlier versions may have them
        texts.pop("raises", None)
        check_limit_texts(rules, texts)

    def raise_actions(self, betting: Betting) -> tuple[Action, ...]:
        """Return the raises that this menu offers to the actor, smallest first.

        Example:
            >>> from equilibrist.games.catalog import get_game
            >>> start = Betting.start(get_game("holdem-nolimit"))
            >>> [action.amount for action in BetMenu.parse(bets="50%,100%,a").raise_actions(start)]
            [200, 300, 20000]
        """
        if not betting.can_raise:
            return ()
        if betting.rules.is_limit:
            return (RAISE,)
        low = betting.min_raise_to
        high = max(low, betting.max_matched_to)
        found = (size.raise_total(betting) for size in self._sizes(betting))
        totals = {min(max(total, low), high) for total in found if total is not None}
        return tuple(map(raise_to, sorted(self._adjusted(totals, betting, high))))

    def _sizes(self, betting: Betting) -> Sizes:
        """Return the sizes of the actor's round, seat and situation: bet, donk bet or raise."""
        is_raise = max(betting.spent) > betting.opening
        menu = self.bets
        if is_raise and self.raises is not None:
            menu = self.raises
        elif self.donks is not None and betting.is_donk:
            menu = self.donks
        if menu is None:
            raise BetMenuError(
                f"{betting.rules.name} is no-limit: specify which bets a model allows, such as "
                "50%,a"
            )
        actor = betting.actor
        assert actor is not None
        seats = menu[min(betting.round, len(menu) - 1)]
        return seats[min(actor, len(seats) - 1)]

    def _adjusted(self, totals: set[int], betting: Betting, all_in: int) -> set[int]:
        """Return the totals that the thresholds make of those of the sizes; `all_in` is a total."""
        if not totals:
            return totals
        called = max(betting.spent)
        pot = betting.pot + betting.to_call
        if self.add_all_in is not None and 100 * (all_in - called) <= self.add_all_in * pot:
            totals = totals | {all_in}
        if self.force_all_in is not None:
            left = {total: 100 * (all_in - total) for total in totals}
            most = {total: self.force_all_in * (pot + 2 * (total - called)) for total in totals}
            totals = {all_in if left[total] <= most[total] else total for total in totals}
        if self.merge is None:
            return totals
        pots: list[int] = []  # after the bets that are kept
        for total in sorted(totals, reverse=True):
            after = pot + total - called
            if not pots or 100 * pots[-1] >= (100 + self.merge) * after:
                pots.append(after)
        return {after - pot + called for after in pots}

    def __str__(self) -> str:
        parts = []
        if self.bets is not None:
            parts.append(f"bets {sizes_text(self.bets)}")
        if self.raises is not None:
            parts.append(f"raises {sizes_text(self.raises)}")
        if self.donks is not None:
            parts.append(f"donks {sizes_text(self.donks)}")
        if self.max_raises is not None:
            parts.append(f"at most {' '.join(map(str, self.max_raises))} raises per round")
        for name in THRESHOLDS:
            if getattr(self, name) is not None:
                words = name.replace("_", " ").replace("all in", "all-in")
                parts.append(f"{words} {_percent_text(getattr(self, name))}")
        return "; ".join(parts) or "the game's own raises"


@dataclass(frozen=True, kw_only=True)
class StoredMenu:
    """A bet menu as the texts of its fields: the base of what is stored together with a menu."""

    bets: str | None = None
    raises: str | None = None
    max_raises: str | None = None
    donks: str | None = None
    add_all_in: str | None = None
    force_all_in: str | None = None
    merge: str | None = None

    @property
    def written_menu(self) -> BetMenu:
        """Bet menu as it is written."""
        return BetMenu.parse(**{name: getattr(self, name) for name in MENU_FIELDS})

    @property
    def menu(self) -> BetMenu:
        """Bet menu by the rounds of the game."""
        return self.written_menu

    def as_data(self) -> dict[str, Any]:
        """Return all fields as data for JSON; fields that early versions lack only if not None."""
        data = asdict(self)
        return {name: data[name] for name in data if name not in _LATER or data[name] is not None}


MENU_FIELDS = tuple(field.name for field in fields(StoredMenu))
_LATER = MENU_FIELDS[3:]  # fields that folders of early versions do not have


def check_limit_texts(rules: GameRules, texts: MenuTexts) -> None:
    """Raise `BetMenuError` if a menu of a limit game has anything but raise caps."""
    given = {name: text for name, text in texts.items() if text is not None}
    given.pop("max_raises", None)
    if rules.is_limit and given:
        raise BetMenuError(
            f"{rules.name} is a limit game with fixed bets: leave out {' and '.join(given)}",
            value=next(iter(given.values())),
        )


def parse_size(text: str) -> BetSize:
    """Parse one bet size, such as `50%` or `2.5x`."""
    return _size(text, text, 0)


def parse_sizes(text: str) -> SizesOfRounds:
    """Parse the bet sizes of every round and seat; the inverse of `sizes_text`.

    Example:
        >>> sizes_text(parse_sizes("50%, a / 75% | 100%,a / -"))
        '50%,a / 75% | 100%,a / -'
    """
    rounds = []
    at = 0
    for of_round in text.split("/"):
        seats = []
        for of_seat in of_round.split("|"):
            sizes = []
            is_none = of_seat.strip() == _NO_SIZES
            for token in of_seat.split(","):
                if not is_none:
                    sizes.append(_size(token, text, at))
                at += len(token) + 1
            seats.append(tuple(sizes))
        rounds.append(tuple(seats))
    return tuple(rounds)


def sizes_text(menu: SizesOfRounds) -> str:
    """Return the text of the bet sizes of every round and seat."""
    return " / ".join(
        " | ".join(",".join(map(str, sizes)) or _NO_SIZES for sizes in seats) for seats in menu
    )


def parse_threshold(text: str | None, name: str) -> Decimal | None:
    """Parse a percentage such as `20%`; None if there is no text, or if it is 0 %.

    Example:
        >>> parse_threshold("12.5%", "merge"), parse_threshold("0%", "merge")
        (Decimal('12.5'), None)
    """
    if text is None:
        return None
    match = _THRESHOLD.fullmatch(text.strip())
    if match is None or Decimal(match.group(1)) > _MOST_PERCENT:
        raise BetMenuError(
            f"{name} must be a percentage from 0% to {_MOST_PERCENT}%, such as 20%, not "
            f"{text.strip()[:80]!r}",
            value=text,
        )
    return Decimal(match.group(1)) or None


def _percent_text(percent: Decimal) -> str:
    return f"{percent.normalize():f}%"


def _size(token: str, text: str, position: int) -> BetSize:
    match = _SIZE.fullmatch(token.strip())
    if match is None or match.lastgroup is None:
        raise BetMenuError(
            f"{token.strip()!r} at character {position + 1} of {text!r} is not a bet size; "
            "sizes are 50%, 2.5x, 100c, 2.5bb, e and a, or - alone",
            value=token.strip(),
            position=position,
        )
    digits = match.group(match.lastgroup)
    amount = 0.0 if match.lastgroup == "all_in" or not digits else float(digits)
    if (amount == 0 and digits and match.lastgroup != "all_in") or amount > 2**31:
        raise BetMenuError(
            f"{token.strip()!r} at character {position + 1} of {text!r} is not a valid bet size; "
            "a size is above zero and fits into a stack",
            value=token.strip(),
            position=position,
        )
    return BetSize(match.lastgroup, amount)  # type: ignore[arg-type]


def _parse_caps(text: str) -> tuple[int, ...]:
    caps = []
    for word in text.replace(",", " ").split():
        cap = parse_whole(word, UNLIMITED_RAISES)
        if cap is None:
            raise BetMenuError(
                f"{word!r} in {text!r} is not a raise cap; caps are numbers 0 to 255", value=word
            )
        caps.append(cap)
    if not caps:
        raise BetMenuError("no raise caps are given; write one number per round", value=text)
    return tuple(caps)
