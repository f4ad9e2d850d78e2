"""The ACPC dealer: one match of two clients over TCP, its clocks and its log.

As the reference dealer does:

- Every state goes to both clients, seat 0 first; only the client whose turn it is is listened to.
  Lines that came before wait, and then are ignored unless they answer the very state of the turn.
- A finished hand is logged, then its last state is sent. Seats change every hand.
- A client has `response` milliseconds for an answer, `hand` for all its answers in a hand and
  `mean_hand` a hand on average over the whole match. Who takes longer, or hangs up, ends the match:
  the log then holds all whole hands and no SCORE.

What the reference leaves open: time is up as soon as any of the three is spent; a client that does
not read what it is sent ends the match too, and so does one that sends `MOST_IGNORED` lines that
are no answer in one turn; who hangs up after the last action of the last hand spoils nothing. The
time that a client keeps the dealer from sending a line is its own. A client has `GREETING` seconds
to say its version.

Cards are a secret of the dealer: unless a seed is given it is drawn anew (`dealing.secret_seed`),
and neither the log nor anybody is told before the match is over.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from equilibrist.cards.numbers import whole_number
from equilibrist.errors import InvalidValueError, NetworkError
from equilibrist.games.action import Action
from equilibrist.games.dealing import Dealer, secret_seed
from equilibrist.games.match_log import MatchHeader, score_line
from equilibrist.games.notation import state_line
from equilibrist.games.records import HandRecord, check_names, log_line
from equilibrist.games.rules import GameRules
from equilibrist.games.state import MAX_HAND_NUMBER, HandState
from equilibrist.play.acpc import GREETING, check_version, read_answer
from equilibrist.play.wire import Stopped, Wire

Say: TypeAlias = Callable[[str], None]  # told a line: of the log, or a warning

MOST_IGNORED = 1000  # lines of a client in one turn that are no answer
SENDING = 0.05  # seconds that sending a line may take before the client's clock runs


@dataclass(frozen=True)
class TimeLimits:
    """How long clients may take, milliseconds; the reference dealer's unless told."""

    response: int = 600_000
    hand: int = 600_000
    mean_hand: int = 7_000

    def __post_init__(self) -> None:
        for name in ("response", "hand", "mean_hand"):
            what = f"the {name.replace('_', ' ')} time in milliseconds"
            whole_number(getattr(self, name), what, 1, 10**9)

    @property
    def comments(self) -> tuple[str, ...]:
        """The lines of a log that tell them.

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
class Seat:
    """A client and the seconds it has used."""

    name: str
    wire: Wire
    hand_seconds: float = 0.0
    match_seconds: float = 0.0

    @contextlib.contextmanager
    def clock(self, free: float = 0.0) -> Iterator[None]:
        """Count the time inside as the client's, but for the first `free` seconds."""
        start = time.monotonic()
        try:
            yield
        finally:
            seconds = max(0.0, time.monotonic() - start - free)
            self.hand_seconds += seconds
            self.match_seconds += seconds


Order: TypeAlias = tuple[Seat, Seat]  # who is player 0 and 1 of a hand


@dataclass(frozen=True, eq=False)
class ServedMatch:
    """What became of a match."""

    rules: GameRules
    names: tuple[str, str]  # in seat order
    seed: int
    hands: int  # that were to be played
    chips: list[int] = field(default_factory=list)  # won by seat 0 in each whole hand
    ending: str = ""  # why it broke off; empty where it did not

    @property
    def header(self) -> MatchHeader:
        """The first line of the log, now with the seed."""
        return match_header(self.rules, self.names, self.hands, self.seed)

    @property
    def is_finished(self) -> bool:
        """Whether all hands were played."""
        return len(self.chips) == self.hands and not self.ending


class Table(Protocol):
    """A protocol spoken with two clients; whatever goes wrong with one is a `NetworkError`."""

    seats: tuple[Seat, Seat]

    def greet(self) -> None:
        """Whatever comes before the first hand."""
        ...

    def play(self, state: HandState, order: Order) -> HandState:
        """Play a hand to its end; `order` is who is player 0 and 1 of it."""
        ...

    def tell(self, state: HandState, order: Order) -> None:
        """Tell both how a hand ended."""
        ...


def serve_match(
    rules: GameRules,
    wires: tuple[Wire, Wire],
    names: tuple[str, str],
    hands: int,
    *,
    seed: int | None = None,
    limits: TimeLimits | None = None,
    greeting: float = GREETING,
    log: Say = lambda line: None,
    warn: Say = lambda line: None,
    watch: Callable[[float], None] = lambda share: None,
) -> ServedMatch:
    """Play a match of so many hands with two connected clients, who are not hung up on.

    `log` is told every line of the log when it is known, `warn` whatever a client did wrong,
    `watch` the share of the hands that is played. Nothing that a client does raises. A match whose
    wires are to stop ends early, as one that a client leaves.

    Without a seed the log begins with a header that hides it; `ServedMatch.header` does not.
    """
    check_match(rules, names, hands)
    limits = limits or TimeLimits()
    seats = Seat(names[0], wires[0]), Seat(names[1], wires[1])
    table = _Table(seats, limits, hands, warn, greeting)
    for line in (match_header(rules, names, hands, seed), *limits.comments):
        log(str(line))
    return run_match(rules, table, hands, secret_seed() if seed is None else seed, log, watch)


def run_match(
    rules: GameRules,
    table: Table,
    hands: int,
    seed: int,
    log: Say,
    watch: Callable[[float], None],
) -> ServedMatch:
    """The hands of a match by any protocol, behind the head of its log."""
    names = table.seats[0].name, table.seats[1].name
    chips: list[int] = []
    try:
        table.greet()
        for number, deal in zip(range(hands), Dealer(rules, seed), strict=False):
            order = table.seats[::-1] if number % 2 else table.seats
            state = table.play(HandState.start(rules, deal, number), order)
            record = HandRecord.of(state, (order[0].name, order[1].name))
            log(log_line(record))
            chips.append(int(record.payoffs[number % 2]))
            table.tell(state, order)
            watch((number + 1) / hands)
    except (NetworkError, Stopped) as error:
        if len(chips) < hands:
            ending = str(error) or f"the dealer was stopped in hand {len(chips)}"
            return ServedMatch(rules, names, seed, hands, chips, ending)
    log(score_line((sum(chips), -sum(chips)), names))
    return ServedMatch(rules, names, seed, hands, chips)


def check_match(rules: GameRules, names: tuple[str, str], hands: int) -> None:
    """Raise unless a match can be played: before anybody is asked to connect."""
    whole_number(hands, "the number of hands", 1, MAX_HAND_NUMBER)
    check_names(names)
    if rules.num_players != 2:
        raise InvalidValueError(
            f"{rules.name} has {rules.num_players} players; matches are of two", value=rules.name
        )


def match_header(
    rules: GameRules, names: tuple[str, str], hands: int, seed: int | None
) -> MatchHeader:
    """The first line of the log; without a seed, one that hides it."""
    game = rules.name.replace(" ", "-") + ".game"
    return MatchHeader(f"{names[0]}.{names[1]}", game, hands, seed)


class _Table(Table):
    """The clients of an ACPC match, the clocks and the limits."""

    def __init__(
        self,
        seats: tuple[Seat, Seat],
        limits: TimeLimits,
        hands: int,
        warn: Say,
        greeting: float,
    ) -> None:
        self.seats, self.limits, self.warn, self.greeting = seats, limits, warn, greeting
        self.match_limit = limits.mean_hand * hands

    def greet(self) -> None:
        """Receive from both which version they speak."""
        deadline = time.monotonic() + self.greeting
        for seat in self.seats:
            try:
                check_version(heard(seat.wire.receive(deadline - time.monotonic())))
            except NetworkError as error:
                raise blame(seat, error) from None

    def play(self, state: HandState, order: Order) -> HandState:
        """Play a hand to its end; `order` is who is player 0 and 1 of it."""
        for seat in order:
            seat.hand_seconds = 0.0
        while (actor := state.actor) is not None:
            self.tell(state, order)
            seat = order[actor]
            try:
                state = state.apply(self._answer(state, seat))
            except NetworkError as error:
                raise blame(seat, error, state) from None
        return state

    def tell(self, state: HandState, order: Order) -> None:
        """Send everybody what it may see."""
        for seat in self.seats:
            try:
                line = state_line(state, order.index(seat))
                with seat.clock(SENDING):
                    seat.wire.send(line, self._left(seat))
            except NetworkError as error:
                raise blame(seat, error, state) from None

    def _answer(self, state: HandState, seat: Seat) -> Action:
        """What a client does in its turn, made legal."""
        start, left = time.monotonic(), self._left(seat)
        for _ in range(MOST_IGNORED):
            try:
                with seat.clock():
                    line = seat.wire.receive(left - (time.monotonic() - start))
            except NetworkError:
                raise NetworkError(f"gave no answer in the {left:.3g} s it had left") from None
            action, warning = read_answer(state, heard(line))
            if warning:
                self.warn(f"hand {state.hand_number}, {seat.name}: {warning}")
            if action is not None:
                return action
        raise NetworkError(f"sent {MOST_IGNORED:,} lines that are no answer")

    def _left(self, seat: Seat) -> float:
        """Seconds that a client may still take for its answer."""
        left = min(
            self.limits.response / 1000,
            self.limits.hand / 1000 - seat.hand_seconds,
            self.match_limit / 1000 - seat.match_seconds,
        )
        return max(left, 0.0)


def heard(line: str | None) -> str:
    """A line that was received; `NetworkError` where there was none."""
    if line is None:
        raise NetworkError("has hung up")
    return line


def blame(seat: Seat, error: NetworkError, state: HandState | None = None) -> NetworkError:
    """The error that names who ended the match, and when."""
    when = "before the first hand" if state is None else f"in hand {state.hand_number}"
    return NetworkError(f"{seat.name} {error}, {when}: the match is over", value=seat.name)
