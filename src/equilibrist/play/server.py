"""The ACPC dealer: one match of two clients over TCP, its clocks and its log.

As in the reference dealer:

- Every state is sent to both clients, seat 0 first; only lines of the client to act are read.
  Earlier lines wait and are then ignored unless they answer exactly the state of the turn.
- A finished hand is logged, then its last state is sent. Seats change every hand.
- A client has `response` milliseconds for an answer, `hand` for all its answers in a hand and
  `mean_hand` per hand on average over the whole match. A client that takes longer or hangs up
  terminates the match: the log then contains all complete hands and no SCORE.

Where the reference is unspecified, this dealer decides: time is up as soon as any of the three is
spent; a client that does not read its lines terminates the match too, and so does one that sends
`MOST_IGNORED` lines in one turn that are not answers; hanging up after the last action of the last
hand has no effect. The time during which a client blocks the dealer from sending a line counts
against the client. A client has `greeting` milliseconds to send its version.

The cards are secret: by default a new random seed is drawn (`dealing.secret_seed`), and it appears
neither in the log nor elsewhere before the match is over.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias

from equilibrist.cards.numbers import whole_number
from equilibrist.errors import NetworkError
from equilibrist.games.action import Action
from equilibrist.games.dealing import Dealer, secret_seed
from equilibrist.games.match_log import MatchHeader, score_line
from equilibrist.games.notation import state_line
from equilibrist.games.records import HandRecord, check_names, log_line
from equilibrist.games.rules import GameRules
from equilibrist.games.state import MAX_HAND_NUMBER, HandState
from equilibrist.play.acpc import GREETING, check_version, read_answer
from equilibrist.play.table import check_two_players
from equilibrist.play.wire import WaitingStopped, Wire

Say: TypeAlias = Callable[[str], None]  # called with a line of the log or a warning

MOST_IGNORED = 1000  # maximum number of lines of a client in one turn that are not answers
SENDING = 0.05  # seconds that sending a line may take before the client's clock runs


@dataclass(frozen=True)
class TimeLimits:
    """Time limits of clients in milliseconds; the defaults are those of the reference dealer."""

    response: int = 600_000
    hand: int = 600_000
    mean_hand: int = 7_000
    greeting: int = round(1000 * GREETING)  # from connecting to the version; not in the log

    def __post_init__(self) -> None:
        for name in ("response", "hand", "mean_hand", "greeting"):
            what = f"the {name.replace('_', ' ')} time in milliseconds"
            whole_number(getattr(self, name), what, 1, 10**9)

    @property
    def comments(self) -> tuple[str, ...]:
        """The comment lines of a log that contain the limits of its answers.

        Example:
            >>> TimeLimits(response=1000).comments
            ('#--t_response 1000', '#--t_hand 600000', '#--t_per_hand 7000')
        """
        return (
            f"#--t_response {self.response}",
            f"#--t_hand {self.hand}",
            f"#--t_per_hand {self.mean_hand}",
        )


@dataclass(eq=False)
class ClientSeat:
    """A client and the seconds it has used."""

    name: str
    wire: Wire
    hand_seconds: float = 0.0
    match_seconds: float = 0.0

    @contextlib.contextmanager
    def clock(self, free: float = 0.0) -> Iterator[None]:
        """Count the time of the block as the client's, except for the first `free` seconds."""
        start = time.monotonic()
        try:
            yield
        finally:
            seconds = max(0.0, time.monotonic() - start - free)
            self.hand_seconds += seconds
            self.match_seconds += seconds


Order: TypeAlias = tuple[ClientSeat, ClientSeat]  # players 0 and 1 of a hand


@dataclass(frozen=True)
class NetworkMatch:
    """A match of two clients over TCP: the game, the names of the seats, hands and seed.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> print(NetworkMatch(get_game("leduc"), ("Ann", "Bob"), 10, seed=7).header)
        # name/game/hands/seed Ann.Bob leduc.game 10 7
    """

    rules: GameRules
    names: tuple[str, str]  # in seat order
    hands: int  # number of hands to play
    seed: int | None = None  # None: a secret seed is drawn when the match starts

    def __post_init__(self) -> None:
        whole_number(self.hands, "the number of hands", 1, MAX_HAND_NUMBER)
        check_names(self.names)
        check_two_players(self.rules)

    @property
    def header(self) -> MatchHeader:
        """The first line of the log; it hides a seed that is not drawn yet."""
        return MatchHeader.of(self.rules, self.names, self.hands, self.seed)

    def seats(self, wires: tuple[Wire, Wire]) -> tuple[ClientSeat, ClientSeat]:
        """Return both clients at their connections, with nothing on their clocks."""
        return ClientSeat(self.names[0], wires[0]), ClientSeat(self.names[1], wires[1])


@dataclass(frozen=True, eq=False)
class ServedMatch:
    """The result of a match over TCP."""

    match: NetworkMatch
    seed: int  # of the deals
    chips: list[int] = field(default_factory=list)  # won by seat 0 in each complete hand
    ending: str = ""  # why the match ended early; empty if it did not

    @property
    def header(self) -> MatchHeader:
        """The first line of the log, including the seed."""
        return replace(self.match, seed=self.seed).header

    @property
    def is_finished(self) -> bool:
        """Return whether all hands were played."""
        return len(self.chips) == self.match.hands and not self.ending


class DealerTable(Protocol):
    """A dealer's side of a network protocol with two clients; problems raise `NetworkError`."""

    seats: tuple[ClientSeat, ClientSeat]

    def greet(self) -> None:
        """Exchange the lines before the first hand."""
        ...

    def play(self, state: HandState, order: Order) -> HandState:
        """Play a hand to its end; `order` are players 0 and 1 of the hand."""
        ...

    def send_state(self, state: HandState, order: Order) -> None:
        """Send both clients the end of a hand."""
        ...


def serve_match(
    match: NetworkMatch,
    wires: tuple[Wire, Wire],
    *,
    limits: TimeLimits | None = None,
    log: Say = lambda line: None,
    warn: Say = lambda line: None,
    watch: Callable[[float], None] = lambda share: None,
) -> ServedMatch:
    """Play an ACPC match with two connected clients; connections stay open.

    `log` is called with every line of the log when it is known, `warn` with every error of a
    client, `watch` with the fraction of the hands played. No behaviour of a client raises an error.
    A match whose wires receive a stop request ends early, as if a client had left.

    Without a seed, the log starts with a header that hides the seed; `ServedMatch.header` shows it.
    """
    limits = limits or TimeLimits()
    table = _Table(match.seats(wires), limits, match.hands, warn)
    for line in (match.header, *limits.comments):
        log(str(line))
    return deal_match(match, table, log, watch)


def deal_match(
    match: NetworkMatch, table: DealerTable, log: Say, watch: Callable[[float], None]
) -> ServedMatch:
    """Play and log the hands of a match with any protocol, after the header of the log."""
    seed = secret_seed() if match.seed is None else match.seed
    chips: list[int] = []
    try:
        table.greet()
        for number, deal in zip(range(match.hands), Dealer(match.rules, seed), strict=False):
            order = table.seats[::-1] if number % 2 else table.seats
            state = table.play(HandState.start(match.rules, deal, number), order)
            record = HandRecord.of(state, (order[0].name, order[1].name))
            log(log_line(record))
            chips.append(int(record.payoffs[number % 2]))
            table.send_state(state, order)
            watch((number + 1) / match.hands)
    except (NetworkError, WaitingStopped) as error:
        if len(chips) < match.hands:
            ending = str(error) or f"the dealer was stopped in hand {len(chips)}"
            return ServedMatch(match, seed, chips, ending)
    log(score_line((sum(chips), -sum(chips)), match.names))
    return ServedMatch(match, seed, chips)


class _Table(DealerTable):
    """The dealer's side of an ACPC match: clients, clocks and limits."""

    def __init__(
        self,
        seats: tuple[ClientSeat, ClientSeat],
        limits: TimeLimits,
        hands: int,
        warn: Say,
    ) -> None:
        self.seats, self.limits, self.warn = seats, limits, warn
        self.match_limit = limits.mean_hand * hands

    def greet(self) -> None:
        """Receive the protocol version of both clients."""
        deadline = time.monotonic() + self.limits.greeting / 1000
        for seat in self.seats:
            try:
                check_version(require_line(seat.wire.receive(deadline - time.monotonic())))
            except NetworkError as error:
                raise blame(seat, error) from None

    def play(self, state: HandState, order: Order) -> HandState:
        """Play a hand to its end; `order` are players 0 and 1 of the hand."""
        for seat in order:
            seat.hand_seconds = 0.0
        while (actor := state.actor) is not None:
            self.send_state(state, order)
            seat = order[actor]
            try:
                state = state.apply(self._answer(state, seat))
            except NetworkError as error:
                raise blame(seat, error, state) from None
        return state

    def send_state(self, state: HandState, order: Order) -> None:
        """Send every client its view of the state."""
        for seat in self.seats:
            try:
                line = state_line(state, order.index(seat))
                with seat.clock(SENDING):
                    seat.wire.send(line, self._left(seat))
            except NetworkError as error:
                raise blame(seat, error, state) from None

    def _answer(self, state: HandState, seat: ClientSeat) -> Action:
        """Return the action of a client in its turn, made legal."""
        start, left = time.monotonic(), self._left(seat)
        for _ in range(MOST_IGNORED):
            try:
                with seat.clock():
                    line = seat.wire.receive(left - (time.monotonic() - start))
            except NetworkError:
                raise NetworkError(f"gave no answer in the {left:.3g} s it had left") from None
            action, warning = read_answer(state, require_line(line))
            if warning:
                self.warn(f"hand {state.hand_number}, {seat.name}: {warning}")
            if action is not None:
                return action
        raise NetworkError(f"sent {MOST_IGNORED:,} lines that are not answers")

    def _left(self, seat: ClientSeat) -> float:
        """Return the seconds that a client may still take for its answer."""
        left = min(
            self.limits.response / 1000,
            self.limits.hand / 1000 - seat.hand_seconds,
            self.match_limit / 1000 - seat.match_seconds,
        )
        return max(left, 0.0)


def require_line(line: str | None) -> str:
    """Return a received line; raise `NetworkError` if the connection was closed instead."""
    if line is None:
        raise NetworkError("has hung up")
    return line


def blame(seat: ClientSeat, error: NetworkError, state: HandState | None = None) -> NetworkError:
    """Build the error that names the client that ended the match, and the hand."""
    when = "before the first hand" if state is None else f"in hand {state.hand_number}"
    return NetworkError(f"{seat.name} {error}, {when}: the match is over", value=seat.name)
