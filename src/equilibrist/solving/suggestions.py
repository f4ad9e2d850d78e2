"""Smaller versions of a spot that fits no memory, each with its own forecast.

The changes that are tried, one at a time:

- numbers of 16 bits (`bits`), which leave the game as it is;
- ranges that are averaged over suits (`oop`, `ip`), if that moves little weight and hands that
  differ only by suits can be merged then;
- thresholds of the bet menu: `merge` 10 %, `force_all_in` 20 %;
- without one size of a menu: the size that saves most, and the one that saves least among those
  that suffice;
- a lower cap on raises (`max_raises`), the highest that suffices.

Those that fit are suggested, cheapest cut first: 16 bits, then by the memory that they need, the
largest first, so that little of the game is lost. If fewer than two fit, they are tried again
together with 16 bits; then with 16 bits and the highest cap that suffices; at last with one size
per menu, 16 bits and the highest cap that suffices.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from equilibrist.cards.range import Range, parse_range
from equilibrist.errors import EquilibristError, InvalidValueError
from equilibrist.games.bet_menu import Sizes, SizesOfRounds, parse_sizes, sizes_text
from equilibrist.models.card_states import board_states
from equilibrist.models.spot import Spot
from equilibrist.solving.forecast import SpotForecast, spot_forecast
from equilibrist.storage.memory import available_bytes, gigabytes

_LEAST_BITS = 16
_THRESHOLDS = {"merge": "10%", "force_all_in": "20%"}
_MOST_RAISES = 4  # the highest cap that is tried
_RANGES = ("oop", "ip")
_LEAST_MOVED = 1e-9  # rounding errors are below it
_MOST_MOVED = 0.05  # largest share of a range's weight that averaging over suits may move
_ENOUGH = 2  # suggestions, before more than one change is tried
_LEAST_SAVED = 0.02  # changes that save a smaller share of the memory are left out
_WITHOUT = "without "  # opens the note of a change that drops a size
_LONGEST_VALUE = 60  # characters of a value in a message; the note replaces longer ones

Writer: TypeAlias = Callable[[str, str | int | None], str]  # of an argument and its value, if any


def argument(name: str, value: str | int | None) -> str:
    """Return an argument as Python writes it: `max_raises='2'`."""
    return name if value is None else f"{name}={value!r}"


@dataclass(frozen=True)
class Suggestion:
    """A smaller version of a spot: the arguments that change, and its forecast."""

    changes: Mapping[str, str | int]  # by argument: bits, max_raises, bets, …
    note: str  # what the changes mean, if their values do not say it; otherwise ""
    spot: Spot  # with the changes
    forecast: SpotForecast
    fits: bool  # into the memory that is free

    @property
    def bytes(self) -> int:
        """Memory that solving it needs."""
        return self.forecast.bytes

    def text(self, write: Writer) -> str:
        """Return the changes and the memory in words; `write` writes an argument."""
        long = {name for name, value in self.changes.items() if len(str(value)) > _LONGEST_VALUE}
        left_out = long | set(_RANGES) if long else long
        words = [write(name, self.changes[name]) for name in self.changes if name not in left_out]
        if self.note:
            words.append(f"{self.note}," if long else f"({self.note})")
        return f"{' '.join(words)} needs {gigabytes(self.bytes)}"

    def data(self) -> dict[str, Any]:
        """Return the suggestion as data for JSON."""
        return {
            "changes": dict(self.changes),
            "note": self.note,
            "bytes": self.bytes,
            "actions": self.forecast.actions,
            "seconds_per_iteration": self.forecast.seconds_per_iteration,
            "fits": self.fits,
        }


def suggestions(spot: Spot, needed: SpotForecast, available: int | None = None) -> list[Suggestion]:
    """Return smaller versions of a spot that fit into memory, cheapest cut first.

    `needed` is the forecast of the spot; `available` is the free memory in bytes. The list is empty
    if the spot fits. If no version fits, it has the smallest one, whose `fits` is False.

    Example:
        >>> from equilibrist.models.spot import Chips
        >>> turn = Spot.of("Td9d6hQc", "AA", "KK", Chips(200, 900), bets="50%,a", max_raises="3")
        >>> needed = spot_forecast(turn)
        >>> [found.changes for found in suggestions(turn, needed, int(0.7 * needed.bytes))]
        [{'bits': 16}, {'bets': '50%'}, {'force_all_in': '20%'}, {'max_raises': '1'}, {'bets': 'a'}]
    """
    free = available_bytes() if available is None else available
    if needed.bytes <= free:
        return []
    search = _Search(spot, needed, free)
    caps, cuts = _caps(spot), [*_averaged(spot), *_thresholds(spot), *_sizes(spot)]
    tried = search.all_made([_FEWER_BITS, *cuts, *caps])
    found = search.chosen(tried, [])
    if len(found) < _ENOUGH:
        again = (_changes(one) for one in tried if one.forecast.fewer_bits <= free)
        found += search.chosen(search.all_made(map(_FEWER_BITS.and_then, again)), found)
    for changes in (cuts, _one_size(spot)):
        if len(found) < _ENOUGH:
            capped = [search.highest(_FEWER_BITS.and_then(change), caps) for change in changes]
            made = [one for one in capped if one is not None]
            found += search.chosen(made, found)
            tried += made
    return found or sorted(tried, key=lambda one: one.bytes)[:1]


def check_fits(
    spot: Spot, needed: SpotForecast, write: Writer = argument, available: int | None = None
) -> None:
    """Raise `InvalidValueError` if free memory cannot hold a spot; the error says what would fit.

    `needed` is the forecast of the spot; `write` writes an argument and its value; `available` is
    the free memory in bytes, by default that of this machine.
    """
    free = available_bytes() if available is None else available
    if needed.bytes > free:
        found = suggestions(spot, needed, free)
        raise InvalidValueError(refusal(spot, needed, free, found, write), value=needed.bytes)


def refusal(
    spot: Spot,
    needed: SpotForecast,
    available: int,
    found: Sequence[Suggestion],
    write: Writer = argument,
) -> str:
    """Return the sentence that refuses a spot and names what `suggestions` found."""
    start = f"the spot on {spot.board} needs {gigabytes(needed.bytes)}"
    texts = "; ".join(suggestion.text(write) for suggestion in found)
    if not any(suggestion.fits for suggestion in found):
        texts = f"even {texts}" if found else "nothing smaller was found"
        texts += "; take fewer hands or a later street"
    force = f"{write('force', None)} tries it anyway"
    return f"{start} and {gigabytes(available)} are free: {texts}; {force}"


class _Change(NamedTuple):
    """Arguments of a spot that change, and what that means."""

    arguments: dict[str, str | int]
    note: str = ""

    def and_then(self, other: _Change) -> _Change:
        """Return both changes as one, those of the other first."""
        return _Change({**other.arguments, **self.arguments}, other.note or self.note)


_FEWER_BITS = _Change({"bits": _LEAST_BITS})


def _changes(found: Suggestion) -> _Change:
    return _Change(dict(found.changes), found.note)


class _Search(NamedTuple):
    """A spot, its forecast, and the memory in bytes that is free."""

    spot: Spot
    needed: SpotForecast
    available: int

    def all_made(self, changes: Iterable[_Change]) -> list[Suggestion]:
        """Return the spot with each of the changes, except those that save too little."""
        return [made for made in map(self.made, changes) if made is not None]

    def made(self, change: _Change) -> Suggestion | None:
        """Return the spot with a change; None if it is not possible, or saves too little."""
        arguments: dict[str, Any] = dict(change.arguments)
        bits = arguments.pop("bits", self.needed.bits)
        is_same_cards = not arguments.keys() & set(_RANGES)
        try:
            spot = dataclasses.replace(self.spot, **arguments)
            _ = spot.parsed_locks  # a locked decision may be gone
            states = self.needed.num_states if is_same_cards else None
            forecast = spot_forecast(spot, bits, states)
        except EquilibristError:
            return None
        if forecast.bytes > (1 - _LEAST_SAVED) * self.needed.bytes:
            return None
        fits = forecast.bytes <= self.available
        return Suggestion(change.arguments, change.note, spot, forecast, fits)

    def highest(self, change: _Change, caps: Sequence[_Change]) -> Suggestion | None:
        """Return the spot with a change and the highest cap that fits; if none, with the lowest."""
        found: Suggestion | None = None
        for cap in (*reversed(caps), _Change({})):
            made = self.made(change.and_then(cap))
            if made is None or (found is not None and not made.fits):
                break
            found = made
            if not made.fits:
                break
        return found

    def chosen(self, tried: Sequence[Suggestion], before: Sequence[Suggestion]) -> list[Suggestion]:
        """Return those that fit, cheapest cut first, without the less useful ones of a kind.

        What only adds to a suggestion made before is left out too.
        """
        known = [one.changes.items() for one in before]
        new = [one for one in tried if not any(one.changes.items() >= less for less in known)]
        fitting = [one for one in new if one.fits]
        fitting.sort(key=lambda one: (one.changes != _FEWER_BITS.arguments, -one.bytes))
        of_kind: dict[str, list[Suggestion]] = {}
        for one in fitting:
            of_kind.setdefault(_kind(one), []).append(one)
        dropped = of_kind.get("size", [])[1:-1] + of_kind.get("cap", [])[1:]
        return [one for one in fitting if one not in dropped]


def _kind(found: Suggestion) -> str:
    """Return what a suggestion cuts: a cap on raises, a size, or its own arguments."""
    if "max_raises" in found.changes:
        return "cap"
    return "size" if found.note.startswith(_WITHOUT) else " ".join(found.changes)


# --- changes of a spot ----------------------------------------------------------------------------


def _averaged(spot: Spot) -> list[_Change]:
    """Return both ranges averaged over the suits that the board allows to exchange.

    The list is empty if suits do not differ in the ranges, or differ too much.
    """
    state = board_states(spot.game, "suits", spot.first_round, spot.cards)
    held = state >= 0
    changes: dict[str, str | int] = {}
    most = 0.0
    for seat in _RANGES:
        whole = parse_range(getattr(spot, seat))
        weights = whole.weights.copy()
        total, number = (np.bincount(state[held], some) for some in (weights[held], None))
        weights[held] = np.clip(total / number, 0, 1)[state[held]]
        moved = np.abs(weights - whole.weights)[held].sum() / (2 * whole.weights[held].sum())
        most = max(most, float(moved))
        if moved > _LEAST_MOVED:
            changes[seat] = str(Range(weights))
    if not changes or most > _MOST_MOVED:
        return []
    note = f"averaging the ranges over suits, which moves {100 * most:.2g} % of the weight"
    return [_Change(changes, note)]


def _thresholds(spot: Spot) -> Iterator[_Change]:
    """Return the thresholds that a menu does not have."""
    for name, percent in _THRESHOLDS.items():
        if getattr(spot, name) is None and not spot.game.is_limit:
            yield _Change({name: percent})


def _sizes(spot: Spot) -> Iterator[_Change]:
    """Return the menus without one of their sizes; a seat keeps its only size."""
    for name, menu in _menus(spot):
        for size in dict.fromkeys(size for seats in menu for sizes in seats for size in sizes):
            less = tuple(
                tuple(tuple(other for other in sizes if other != size) or sizes for sizes in seats)
                for seats in menu
            )
            if less != menu:
                yield _Change({name: sizes_text(less)}, f"{_WITHOUT}{size}")


def _one_size(spot: Spot) -> list[_Change]:
    """Return the menus with one size of each seat: the last one below all-in; the last one."""
    found = []
    for is_below in (True, False):
        changes: dict[str, str | int] = {}
        for name, menu in _menus(spot):
            less = tuple(tuple(_last(sizes, is_below) for sizes in seats) for seats in menu)
            if less != menu:
                changes[name] = sizes_text(less)
        found.append(_Change(changes))
    return found


def _last(sizes: Sizes, is_below: bool) -> Sizes:
    """Return the last of some sizes alone; if wanted and possible, the last one below all-in."""
    below = tuple(size for size in sizes if size.kind != "all_in") if is_below else ()
    return (below or sizes)[-1:]


def _menus(spot: Spot) -> list[tuple[str, SizesOfRounds]]:
    """Return the sizes of a spot by the names of its menus."""
    texts = {name: getattr(spot, name) for name in ("bets", "raises", "donks")}
    return [(name, parse_sizes(text or "-")) for name, text in texts.items() if text is not None]


def _caps(spot: Spot) -> list[_Change]:
    """Return lower caps on the raises of a street, the highest first."""
    rules = spot.menu.limit(spot.game, spot.first_round)
    caps = rules.max_raises[spot.first_round :]
    found = []
    for most in range(min(max(caps) - 1, _MOST_RAISES), 0, -1):
        fewer = [min(cap, most) for cap in caps]
        while len(fewer) > 1 and fewer[-1] == fewer[-2]:
            fewer.pop()  # the last cap applies to the streets that are left
        found.append(_Change({"max_raises": " ".join(map(str, fewer))}))
    return found
