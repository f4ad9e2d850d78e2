"""Log files of any kind, distinguished by their names, read up to the last complete hand.

    match.log            an ACPC log (also any other suffix)
    hand.phh             one PHH hand
    match.phhs           several PHH hands, each under a line `[1]`, `[2]`, …, as PokerKit writes
    folder               its *.phh files in the order of their names

A log that ends in the middle of a hand yields all its complete hands and describes in `rest` what
follows them; any problem before the end raises an error that names its place.

PHH files written by this package store the seed of the deals, if it is known, as `_seed`; PHH
reserves fields that start with `_` for such extensions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from equilibrist.errors import RecordError
from equilibrist.games.catalog import game_names, get_game
from equilibrist.games.files import file_errors, read_text
from equilibrist.games.match_log import (
    HEADER_KEY,
    LogReader,
    MatchHeader,
    MatchLog,
    log_lines,
    parse_header,
    replay,
    seat_chips,
    seats_of,
)
from equilibrist.games.phh import parse_phh, phh_text
from equilibrist.games.records import HandRecord
from equilibrist.games.rules import GameRules
from equilibrist.phases import phase
from equilibrist.storage.output_file import write_output

_ACPC_FILES = {  # game definition files of the ACPC that are games of the catalogue
    "holdem.limit.2p.reverse_blinds": "holdem-limit",
    "holdem.nolimit.2p.reverse_blinds": "holdem-nolimit",
}
_SEED = re.compile(r'^_seed = "([0-9]{1,39})"[ \t\r]*$', re.MULTILINE)
_TABLE = re.compile(r"^\[[^\[\]\n]+\][ \t\r]*$", re.MULTILINE)


class LogFile:
    """A log file whose complete hands can be iterated once; `rest` is known afterwards.

    Without `rules` the log must name its game: PHH always does; an ACPC log does if the file in its
    header is a game of the catalogue.
    """

    def __init__(self, path: str | Path, rules: GameRules | None = None) -> None:
        self.path = Path(path)
        is_phh = self.path.is_dir() or self.path.suffix in (".phh", ".phhs")
        self.form = "PHH" if is_phh else "ACPC"
        self.header: MatchHeader | None = None
        self._phh_seed: int | None = None
        self.seats: tuple[str, ...] = ()
        self.is_finished = is_phh  # PHH has no line that ends a match
        self.rest = ""  # description of what follows the complete hands; empty if nothing does
        self._texts = iter(self._histories()) if is_phh else iter(())
        self._first = self._next_history(rules) if is_phh else None
        if self._first is not None:
            rules = self._first.rules
        self.rules = rules or self._named_game()

    @property
    def seed(self) -> int | None:
        """Seed of the deals, None if the log has no seed or the hands have not been read yet."""
        return self._phh_seed if self.header is None else self.header.seed

    def __iter__(self) -> Iterator[HandRecord]:
        return self._phh_hands() if self.form == "PHH" else self._acpc_hands()

    # --- ACPC -------------------------------------------------------------------------------------

    def _named_game(self) -> GameRules:
        if self.form == "ACPC":
            with (
                file_errors("read", self.path, RecordError),
                open(self.path, encoding="utf-8", errors="replace", newline="") as lines,
            ):
                for line in lines:
                    if line.startswith(HEADER_KEY):
                        name = Path(parse_header(line.rstrip("\r\n")).game).name
                        name = name.removesuffix(".game")
                        name = _ACPC_FILES.get(name, name)
                        if name in game_names():
                            return get_game(name)
                    if line.strip() and not line.startswith(("#", ";")):
                        break
        raise RecordError(
            f"{self.path} does not say which game of the catalogue was played; specify the game",
            value=str(self.path),
        )

    def _acpc_hands(self) -> Iterator[HandRecord]:
        with file_errors("read", self.path, RecordError):
            file = open(  # noqa: SIM115
                self.path, encoding="utf-8", errors="replace", newline=""
            )
        with file:
            lines = map(str, file)  # unlike the file, not closed when the reader stops early
            reader = LogReader(self.rules, lines)
            try:
                yield from reader
            except RecordError as error:
                if any(line.strip() for line in lines):
                    message = f"{self.path}, {error}"
                    raise RecordError(message, value=error.value, position=error.position) from None
                self.rest = f"the log ends early: {error}"
        self.header, self.seats = reader.header, reader.seats
        self.is_finished = reader.is_finished
        if not self.rest and not self.is_finished:
            of = "" if self.header is None else f" of {self.header.num_hands:,}"
            self.rest = f"the match stopped after {reader.num_hands:,}{of} hands: no SCORE line"

    # --- PHH --------------------------------------------------------------------------------------

    def _histories(self) -> Iterator[tuple[str, str]]:
        """Yield the location and the text of each history."""
        if self.path.is_dir():
            for path in sorted(self.path.glob("*.phh")):
                yield str(path), read_text(path, RecordError)
            return
        text = read_text(self.path, RecordError)
        starts = [match.start() for match in _TABLE.finditer(text)]
        if not starts:
            yield str(self.path), text
            return
        for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
            name, _, history = text[start:end].partition("\n")
            yield f"{self.path} {name.strip()}", history

    def _next_history(self, rules: GameRules | None) -> HandRecord | None:
        """Return the next hand, None after the last complete one."""
        place, text = next(self._texts, ("", ""))
        if not place:
            return None
        try:
            record = parse_phh(text, rules)
            if (seed := _SEED.search(text)) is not None:
                self._phh_seed = int(seed[1])
            self.seats = self.seats or seats_of(record)
            if sorted(record.names) != sorted(self.seats):
                message = f"{', '.join(record.names)} are not {', '.join(self.seats)}"
                raise RecordError(message, value=record.names)
            return record
        except RecordError as error:
            message = f"{place}: {error}"
            if next(self._texts, None) is not None:
                raise RecordError(message, value=error.value) from None
            self.rest = f"the log ends early: {message}"
            return None

    def _phh_hands(self) -> Iterator[HandRecord]:
        record = self._first
        while record is not None:
            yield record
            record = self._next_history(self.rules)


@dataclass(frozen=True)
class LogSummary:
    """The players and results of a log of two players."""

    seats: tuple[str, ...]  # both names; () without hands
    chips: tuple[float, ...]  # what the first of them won, by hand
    num_showdowns: int


def summarize(read: LogFile, *, replays: bool = False) -> LogSummary:
    """Read all hands of a log; with `replays`, raise `RecordError` unless its seed deals them."""
    seats: tuple[str, ...] = ()
    chips: list[float] = []
    showdowns, records = 0, []
    with phase("reading hands"):
        for record in read:
            if replays:
                records.append(record)
            seats = seats or seats_of(record)
            chips.append(float(seat_chips(seats, record)[0]))
            showdowns += record.state.betting.is_showdown
    if len(seats) > 2:
        raise RecordError(
            f"{read.path} has {len(seats)} players; win rates are computed for two players only",
            value=str(read.path),
        )
    if replays:
        if read.seed is None:
            raise RecordError(
                f"{read.path} does not state the seed of its deals", value=str(read.path)
            )
        with phase("dealing the hands again"):
            replay(MatchLog(read.rules, read.seats, tuple(records)), read.seed)
    return LogSummary(seats, tuple(chips), showdowns)


def write_hands(log: MatchLog, path: str | Path, *, replace: bool = True) -> None:
    """Write a log in the format given by the path's suffix: `.phhs` is PHH, any other is ACPC."""
    is_phh = Path(path).suffix == ".phhs"
    write_output(path, log_text(log, is_phh=is_phh), replace=replace)


def log_text(log: MatchLog, *, is_phh: bool) -> str:
    """Return a log as the text of an ACPC log or of a file of several PHH hands."""
    if not is_phh:
        return "".join(f"{line}\n" for line in log_lines(log))
    seed = None if log.header is None else log.header.seed
    last = "" if seed is None else f'_seed = "{seed}"\n'
    return "\n".join(
        f"[{number}]\n{phh_text(hand)}{last}" for number, hand in enumerate(log.hands, start=1)
    )
