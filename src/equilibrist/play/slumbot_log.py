"""The log of a match over Slumbot's API: an ACPC log that grows hand by hand and can be continued.

    # name/game/hands/seed uniform.opponent holdem-nolimit.game 1000 ???…
    # server https://slumbot.com
    # token a2f4…
    # hand 0: baseline 50, session 1 hands -100 chips
    STATE:0:r300f:5d5c|9hQd:-100|100:uniform|opponent
    SCORE:-2000|2000:uniform|opponent

Every line is on disk before the next hand begins, so a killed client loses no finished hand. The
comment before a hand has what the server says about the session after it. If it shows that another
hand has ended whose last answer was lost, that hand is a comment only, `# lost hands 1: -200
chips`, and the log gets no SCORE; its chips count in the result. Only the user may read the file:
its token gives access to the session.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Self

from equilibrist.errors import InvalidValueError, RecordError
from equilibrist.games.files import file_errors
from equilibrist.games.match_log import (
    HEADER_KEY,
    LogReader,
    MatchHeader,
    parse_header,
    score_line,
)
from equilibrist.games.records import HandRecord, log_line
from equilibrist.games.rules import GameRules
from equilibrist.storage.growing_file import GrowingFile

OPPONENT = "opponent"  # the server's name in the log

_SERVER, _TOKEN, _NEXT_TOKEN = "# server ", "# token ", "# next token "
_NUMBER = "(-?[0-9]{1,15})"
_HAND = re.compile(
    rf"# hand [0-9]+:(?: baseline {_NUMBER})?(?:,? session {_NUMBER} hands {_NUMBER} chips)?"
)


class Session(NamedTuple):
    """What a server says about a session after a hand."""

    hands: int = 0
    chips: int = 0


@dataclass(eq=False)
class ApiResults:
    """The results of a match over the API so far."""

    chips: list[float] = field(default_factory=list)  # won in each hand, lost ones included
    baselines: list[int] = field(default_factory=list)  # as long as the server sends them
    token: str = ""  # of the session; "" before the first answer
    session: Session | None = field(
        default_factory=Session
    )  # None if the server does not count hands
    num_lost: int = 0  # hands whose last answer was lost
    next_number: int = 0  # number of the next hand in the log

    @property
    def num_hands(self) -> int:
        """Number of finished hands."""
        return len(self.chips)

    @property
    def differences(self) -> list[float] | None:
        """What each hand won beyond the baseline; None if a hand has no baseline."""
        if not self.chips or len(self.baselines) < len(self.chips):
            return None
        return [won - other for won, other in zip(self.chips, self.baselines, strict=True)]

    def take_token(self, token: str, *, is_new: bool) -> None:
        """Remember the token of a session, which is new or has another token from now on."""
        self.token = token
        self.session = Session() if is_new else self.session

    def add(self, number: int, won: int, baseline: int | None, session: Session | None) -> Session:
        """Add a finished hand; return the hands that were lost before it, and their chips."""
        lost = Session()
        if session is not None and self.session is not None:
            lost = Session(
                session.hands - self.session.hands - 1, session.chips - self.session.chips - won
            )
            lost = lost if lost.hands > 0 else Session()
            self.chips += [lost.chips / lost.hands] * lost.hands if lost.hands else []
            self.num_lost += lost.hands
        self.session = session
        self.chips.append(won)
        self.next_number = max(number + 1, len(self.chips))
        if baseline is not None:
            self.baselines.append(baseline)
        return lost


class ApiLog:
    """The file of a match; `create` begins it, `resume` continues one that was not finished."""

    def __init__(
        self, rules: GameRules, names: tuple[str, str], hands: int, file: GrowingFile
    ) -> None:
        self.rules, self.names, self.hands, self._file = rules, names, hands, file
        self.results = ApiResults()

    @classmethod
    def create(cls, path: Path, rules: GameRules, player: str, hands: int, server: str) -> ApiLog:
        """Begin the log of a match of `hands` hands in a new file."""
        names = (player, OPPONENT)
        log = cls(rules, names, hands, GrowingFile.create(path))
        log._file.append(str(MatchHeader.of(rules, names, hands, None)), f"{_SERVER}{server}")
        return log

    @classmethod
    def resume(cls, path: Path, rules: GameRules, player: str, server: str) -> ApiLog:
        """Open the log of a match that was not finished; `RecordError` if it cannot go on."""
        with file_errors("read", path, RecordError):
            text = path.read_text(encoding="utf-8", errors="replace")
        lines = text[: text.rfind("\n") + 1].splitlines()
        header = _check_head(path, lines, f"{player}.{OPPONENT} {rules.name}.game", server)
        results, is_finished = _results(path, rules, player, lines)
        if is_finished or results.num_hands >= header.num_hands:
            raise InvalidValueError(
                f"{path} has all its {header.num_hands:,} hands; choose another name",
                value=str(path),
            )
        log = cls(rules, (player, OPPONENT), header.num_hands, GrowingFile.open(path))
        log.results = results
        return log

    def take_token(self, token: str, *, is_new: bool) -> None:
        """Save the token of a session, which is new or has another token from now on."""
        self.results.take_token(token, is_new=is_new)
        self._file.append(f"{_TOKEN if is_new else _NEXT_TOKEN}{token}")

    def add(
        self, record: HandRecord, won: int, baseline: int | None, session: Session | None
    ) -> None:
        """Save a finished hand."""
        lost = self.results.add(record.hand_number, won, baseline, session)
        lines = [f"# lost hands {lost.hands}: {lost.chips} chips"] if lost.hands else []
        said = [] if baseline is None else [f"baseline {baseline}"]
        said += [] if session is None else [f"session {session.hands} hands {session.chips} chips"]
        comment = f"# hand {record.hand_number}: {', '.join(said)}"
        self._file.append(*lines, comment, log_line(record))

    def finish(self) -> None:
        """Save the score of a match whose hands are all known."""
        total = round(sum(self.results.chips))
        if not self.results.num_lost:
            self._file.append(score_line((total, -total), self.names))

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _check_head(path: Path, lines: list[str], match: str, server: str) -> MatchHeader:
    """Return the header; raise `RecordError` if the log is of another player, game or server."""
    first, second = [*lines, "", ""][:2]
    if not first.startswith(HEADER_KEY) or not second.startswith(_SERVER):
        raise RecordError(f"{path} is not the log of a match over Slumbot's API", value=str(path))
    header = parse_header(first)
    for found, expected in (
        (f"{header.name} {header.game}", match),
        (second.removeprefix(_SERVER), server),
    ):
        if found != expected:
            raise RecordError(
                f"{path} is of {found!r}, not of {expected!r}; choose another name",
                value=str(path),
            )
    return header


def _results(
    path: Path, rules: GameRules, player: str, lines: list[str]
) -> tuple[ApiResults, bool]:
    """Return the results of the lines of a log, and whether it is finished.

    Comments count with the hand after them: without it they are what a crash has left.
    """
    results, reader = ApiResults(), LogReader(rules, lines)
    baseline, session = None, None
    with_hands = any(line.startswith("STATE:") for line in lines)
    try:
        records = list(reader) if with_hands else []
    except RecordError as error:
        raise RecordError(f"{path}, {error}", value=error.value, position=error.position) from None
    hands = iter(records)
    for line in lines:
        if line.startswith(_TOKEN):
            results.take_token(line.removeprefix(_TOKEN), is_new=True)
        elif line.startswith(_NEXT_TOKEN):
            results.take_token(line.removeprefix(_NEXT_TOKEN), is_new=False)
        elif (match := _HAND.fullmatch(line)) is not None:
            said, number, chips = match.groups()
            baseline = None if said is None else int(said)
            session = None if number is None else Session(int(number), int(chips))
        elif line.startswith("STATE:"):
            record = next(hands)
            won = int(record.payoffs[record.names.index(player)])
            results.add(record.hand_number, won, baseline, session)
            baseline, session = None, None
    return results, reader.is_finished
