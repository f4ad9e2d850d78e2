"""Logs of whole matches, as the ACPC dealer writes them.

    # name/game/hands/seed match holdem.limit.2p.reverse_blinds.game 2 7
    #--t_response 600000
    STATE:0:rf:5d5c|9hQd:10|-10:Alice|Bob
    STATE:1:f:8d2s|Ts4c:5|-5:Bob|Alice
    SCORE:5|-5:Alice|Bob

A log has one line per hand (`games.records`), with values and names in *player* order. Players
change seats every hand, so the names rotate. The last line, `SCORE:<totals>:<names>`, is in *seat*
order: seat 0 is player 0 of hand 0. A match that stopped early has no SCORE line. Lines that start
with `#` or `;` are comments; the dealer writes the match's name, game file, number of hands and
seed into the first, then its time limits in milliseconds. As an extension of ACPC, a seed that is
secret during the match is written as `?` and filled in at the end.

Source: the ACPC dealer, protocol 2.0.0.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from equilibrist.cards.card import cards_name
from equilibrist.errors import EquilibristError, InvalidValueError, RecordError
from equilibrist.games.action import Action
from equilibrist.games.betting import Betting
from equilibrist.games.dealing import Dealer
from equilibrist.games.files import file_errors
from equilibrist.games.notation import line_error
from equilibrist.games.records import (
    ROUNDING,
    Chips,
    HandRecord,
    check_names,
    chips_text,
    log_line,
    parse_log_line,
    parse_names,
    parse_values,
    simplest,
)
from equilibrist.games.rules import GameRules
from equilibrist.games.state import Deal, HandState
from equilibrist.storage.output_file import write_output

MOST_REPLAYED = 10**8  # the generator must pass through all earlier hands, which takes seconds

HEADER_KEY = "# name/game/hands/seed"
HIDDEN_SEED = "?" * 39  # as long as a secret seed
_HEADER = re.compile(HEADER_KEY + r" (\S.*) (\S+) ([0-9]{1,10}) ([0-9]{1,39}|\?{39})")


class MatchHeader(NamedTuple):
    """The data about a match in the first comment of its log."""

    name: str
    game: str  # the game definition file
    num_hands: int
    seed: int | None  # None while it is secret

    @classmethod
    def of(
        cls, rules: GameRules, names: tuple[str, str], hands: int, seed: int | None
    ) -> MatchHeader:
        """Return the header of a match of two players; without a seed, one that hides it."""
        game = rules.name.replace(" ", "-") + ".game"
        return cls(f"{names[0]}.{names[1]}", game, hands, seed)

    def __str__(self) -> str:
        seed = HIDDEN_SEED if self.seed is None else self.seed
        return f"{HEADER_KEY} {self.name} {self.game} {self.num_hands} {seed}"


@dataclass(frozen=True)
class MatchLog:
    """The hands and players of one match."""

    rules: GameRules
    seats: tuple[str, ...]  # names in seat order
    hands: tuple[HandRecord, ...]
    header: MatchHeader | None = None
    comments: tuple[str, ...] = ()  # other comment lines, such as `#--t_response 600000`
    is_finished: bool = True  # whether the log closes with a SCORE line

    @property
    def score(self) -> tuple[Chips, ...]:
        """Chips that each seat won in all hands."""
        totals: list[Chips] = [0] * len(self.seats)
        for record in self.hands:
            _add(totals, self.seats, record)
        return tuple(map(simplest, totals))


def read_log(rules: GameRules, source: str | Path | Iterable[str]) -> MatchLog:
    """Read a log from a file or from lines; a `RecordError` names the file and the line.

    Blank lines and carriage returns are skipped. The SCORE must be the sum of the hands.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> lines = ["STATE:0:cc:Ks|Qs:1|-1:Alice|Bob", "STATE:1:rf:Qs|As:1|-1:Bob|Alice",
        ...          "SCORE:0|0:Alice|Bob"]
        >>> log = read_log(get_game("kuhn"), lines)
        >>> log.seats, log.score, len(log.hands)
        (('Alice', 'Bob'), (0, 0), 2)
    """
    reader = LogReader(rules, source)
    hands = tuple(reader)
    return MatchLog(
        rules, reader.seats, hands, reader.header, tuple(reader.comments), reader.is_finished
    )


def iter_log(rules: GameRules, source: str | Path | Iterable[str]) -> Iterator[HandRecord]:
    """Iterate over the hands of a log, checked as in `read_log`, without loading all of them."""
    return iter(LogReader(rules, source))


def log_lines(log: MatchLog) -> Iterator[str]:
    """Yield the lines of a log, without line ends; the inverse of `read_log`."""
    if log.header is not None:
        if parse_header(str(log.header)) != log.header:
            raise InvalidValueError(f"a header line cannot store {log.header}", value=log.header)
        yield str(log.header)
    for comment in log.comments:
        if comment[:1] not in ("#", ";") or len(comment.splitlines()) != 1:
            raise InvalidValueError(f"{comment[:40]!r} is not a comment line", value=comment)
        yield comment
    yield from map(log_line, log.hands)
    if log.is_finished:
        yield score_line(log.score, log.seats)


def score_line(score: Iterable[Chips], seats: tuple[str, ...]) -> str:
    """Return the last line of a log: chips of all hands and names, in seat order.

    Example:
        >>> score_line((75, -75), ("Alice", "Bob"))
        'SCORE:75|-75:Alice|Bob'
    """
    check_names(seats)
    return f"SCORE:{'|'.join(map(chips_text, score))}:{'|'.join(seats)}"


def write_log(log: MatchLog, path: str | Path, *, replace: bool = True) -> None:
    """Write a log to a file atomically; raise `StorageError` if it cannot be written."""
    write_output(path, "".join(f"{line}\n" for line in log_lines(log)), replace=replace)


def replay(log: MatchLog, seed: int | None = None) -> MatchLog:
    """Replay a log on the deals of the ACPC generator; the default seed is the header's.

    A `RecordError` names the first hand whose cards differ from the seed's. The deals of the result
    are complete, including cards that nobody saw. Hands up to number `MOST_REPLAYED` can be dealt.
    """
    if seed is None:
        if log.header is None or log.header.seed is None:
            raise InvalidValueError("the log has no header with a seed; specify the seed")
        seed = log.header.seed
    dealer, hands, dealt = Dealer(log.rules, seed), [], 0
    for record in log.hands:
        number = record.hand_number
        if not dealt <= number <= MOST_REPLAYED:
            raise RecordError(
                f"hand {number} cannot be dealt after {dealt} hands; "
                f"numbers must increase, up to {MOST_REPLAYED}",
                value=number,
                position=number,
            )
        dealer.skip(number - dealt)
        deal, dealt = next(dealer), number + 1
        hands.append(replace(record, state=replay_hand(record.state, deal, seed)))
    return replace(log, hands=tuple(hands))


def replay_hand(played: HandState, deal: Deal, seed: int) -> HandState:
    """Return a hand, finished or not, with the complete deal of a seed.

    Raises `RecordError` if the cards of the hand are not those of the deal.
    """
    state = HandState.start(played.rules, deal, played.hand_number)
    try:
        for action in actions_of(played):
            state = state.apply(action)
    except EquilibristError:
        pass  # the cards differ, and the comparison below reports it
    if str(state) != str(played):
        raise RecordError(
            f"seed {seed} deals {_deal_text(state)} in hand {played.hand_number}, "
            f"but the log has {_deal_text(played)}",
            value=str(played),
            position=played.hand_number,
        )
    return state


def _deal_text(state: HandState) -> str:
    return "|".join(map(cards_name, state.deal.holes)) + "/" + cards_name(state.board)


def actions_of(state: HandState) -> Iterator[Action]:
    """Yield the actions of a hand; swaps include their cards."""
    betting, swaps = Betting.start(state.rules), [iter(swaps) for swaps in state.swaps]
    for action in itertools.chain(*state.betting.history):
        if action.kind == "d":
            swap = next(swaps[betting.to_act[0]], None)
            yield Action("d", card=swap[0] if swap else None)
        else:
            yield action
        betting = betting.apply(action)


def parse_header(line: str) -> MatchHeader:
    """Parse the header line of a log.

    Example:
        >>> parse_header("# name/game/hands/seed match leduc.game 100 7").game
        'leduc.game'
    """
    match = _HEADER.fullmatch(line)
    if match is None:
        form = f"{HEADER_KEY} <name> <game> <hands> <seed>"
        raise line_error(line, 0, f"the header must be {form}", line)
    name, game, hands, seed = match.groups()
    return MatchHeader(name, game, int(hands), None if seed == HIDDEN_SEED else int(seed))


def seat_chips(seats: tuple[str, ...], record: HandRecord) -> list[Chips]:
    """Return the chips that each seat won in a hand.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> line = "STATE:1:rf:Qs|As:1|-1:Bob|Alice"
        >>> seat_chips(("Alice", "Bob"), parse_log_line(get_game("kuhn"), line))
        [-1, 1]
    """
    players = len(seats)
    chips: list[Chips] = [0] * players
    for player, (name, won) in enumerate(zip(record.names, record.payoffs, strict=True)):
        # A name that occurs twice does not identify a seat; the rotation does.
        is_clear = seats.count(name) == 1
        chips[seats.index(name) if is_clear else (player + record.hand_number) % players] = won
    return chips


def seats_of(record: HandRecord) -> tuple[str, ...]:
    """Return the names in seat order, given one hand: player p of hand n has seat p + n mod P."""
    shift = -record.hand_number % len(record.names)
    return record.names[shift:] + record.names[:shift]


def _add(totals: list[Chips], seats: tuple[str, ...], record: HandRecord) -> None:
    """Add the payoffs of a hand to the seats' totals."""
    for seat, chips in enumerate(seat_chips(seats, record)):
        totals[seat] += chips


class LogReader:
    """A reader that iterates over the hands of a log and collects its header and comments.

    It can be iterated once; the data read before an error remains available.
    """

    def __init__(self, rules: GameRules, source: str | Path | Iterable[str]) -> None:
        self.rules = rules
        self.source = source
        self.header: MatchHeader | None = None
        self.comments: list[str] = []
        self.seats: tuple[str, ...] = ()
        self.totals: list[Chips] = [0] * rules.num_players
        self.num_hands = 0
        self.last_number = -1
        self.is_finished = False

    def __iter__(self) -> Iterator[HandRecord]:
        name = f"{self.source}, " if isinstance(self.source, str | Path) else ""
        number, had_end = 0, False
        for number, line in enumerate(self._lines(), start=1):
            try:
                record = self._read(line.rstrip("\r\n"))
            except RecordError as error:
                is_cut = had_end and not line.endswith(("\r", "\n"))
                hint = "; the line has no end: the log may be cut off" if is_cut else ""
                message = f"{name}line {number}: {error}{hint}"
                raise RecordError(message, value=error.value, position=number) from None
            if record is not None:
                yield record
            had_end = line.endswith(("\r", "\n"))
        if not self.num_hands and not self.is_finished:
            raise RecordError(f"{name}line {number}: the log has no hands", position=number)

    def _lines(self) -> Iterator[str]:
        if not isinstance(self.source, str | Path):
            yield from self.source
            return
        with (
            file_errors("read", self.source, RecordError),
            open(self.source, encoding="utf-8", newline="") as file,
        ):
            yield from file

    def _read(self, line: str) -> HandRecord | None:
        """Process one line; return the record if it is a hand, else None."""
        if line.startswith(HEADER_KEY) and (self.header is None or self.header.seed is None):
            self.header = parse_header(line)
        elif line.startswith(("#", ";")):
            self.comments.append(line)
        elif self.is_finished and line.strip():
            raise line_error(line, 0, f"{line[:40]!r} follows the SCORE, which ends a log", line)
        elif line.startswith("SCORE:"):
            self._read_score(line)
        elif line.strip():
            record = parse_log_line(self.rules, line)
            self._take(line, record)
            return record
        return None

    def _take(self, line: str, record: HandRecord) -> None:
        number = record.hand_number
        if number <= self.last_number:
            message = f"hand {number} follows hand {self.last_number}; numbers must increase"
            raise line_error(line, len("STATE:"), message, number)
        self.seats = self.seats or seats_of(record)
        self._check_players(line, record.names)
        _add(self.totals, self.seats, record)
        self.last_number = number
        self.num_hands += 1

    def _read_score(self, line: str) -> None:
        """Check the SCORE line against the hands and take the seats from it."""
        fields, players = line.split(":"), self.rules.num_players
        if len(fields) != 3:
            message = f"a score must be SCORE:<totals>:<names>, not {line[:60]!r}"
            raise line_error(line, 0, message, line)
        scores = parse_values(line, len("SCORE:"), fields[1], players)
        start = len("SCORE:") + len(fields[1]) + 1
        names = parse_names(line, start, fields[2], players)
        if self.num_hands:
            self._check_players(line, names)
            if len(set(names)) == players:
                self.totals = [self.totals[self.seats.index(name)] for name in names]
        for name, score, total in zip(names, scores, self.totals, strict=True):
            if abs(score - total) > ROUNDING:
                text, right = chips_text(simplest(score)), chips_text(simplest(total))
                message = f"{name}'s score is {text}, but the hands sum to {right}"
                raise line_error(line, len("SCORE:"), message, text)
        if self.header is not None and self.header.num_hands != self.num_hands:
            message = f"the log has {self.num_hands} hands, the header {self.header.num_hands}"
            raise line_error(line, 0, message, self.num_hands)
        self.seats, self.is_finished = names, True

    def _check_players(self, line: str, names: tuple[str, ...]) -> None:
        strangers = list((Counter(names) - Counter(self.seats)).elements())
        if strangers:
            message = f"{strangers[0]} is not one of the match's players {', '.join(self.seats)}"
            raise line_error(line, line.rindex(":") + 1, message, strangers[0])
