"""The engine of MIT Pokerbots 2017: one match of two clients over TCP.

Answers contain no state, so a line is the answer to the GETACTION that it follows: earlier lines
are discarded when the question is sent. Illegal answers become checks or folds. A client has a time
bank for the whole match, which also runs while it blocks the engine from sending. A client that
spends it, hangs up or sends without end terminates the match; the log (in ACPC's format, as for
every match) then contains all complete hands. Values that clients PUT after the last hand are read
for some seconds and not stored.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

from equilibrist.cards.card import card_name
from equilibrist.errors import InvalidValueError, NetworkError
from equilibrist.games.action import Action
from equilibrist.games.state import HandState
from equilibrist.play.pokerbots import (
    check_rules,
    ending,
    happened,
    legal_words,
    posts,
    read_answer,
)
from equilibrist.play.server import (
    MOST_IGNORED,
    SENDING,
    ClientSeat,
    DealerTable,
    NetworkMatch,
    Order,
    Say,
    ServedMatch,
    blame,
    deal_match,
    require_line,
)
from equilibrist.play.wire import WaitingStopped, Wire

TIME_BANK = 20.0  # seconds that a client has for all its answers
FAREWELL = 10.0  # seconds that both clients have together after the last hand
_STAY = 0.2  # seconds after which a connection is not considered a port scan


def serve_pokerbots(
    match: NetworkMatch,
    wires: tuple[Wire, Wire],
    *,
    time_bank: float = TIME_BANK,
    farewell: float = FAREWELL,
    log: Say = lambda line: None,
    warn: Say = lambda line: None,
    watch: Callable[[float], None] = lambda share: None,
) -> ServedMatch:
    """Play a Pokerbots match with two connected clients; see `serve_match`.

    A client has `time_bank` seconds for all its answers; both have `farewell` seconds together
    after the last hand.
    """
    check_engine(match, time_bank)
    log(str(match.header))
    table = _Engine(match, wires, time_bank, warn)
    played = deal_match(match, table, log, watch)
    if played.is_finished:
        table.say_goodbye(farewell)
    return played


def is_greeting(line: str | None, waited: float) -> bool:
    """Return whether a connection has stayed long enough to be a client, which sends nothing first.

    Example:
        >>> is_greeting(None, waited=0.01), is_greeting(None, waited=1.0)
        (False, True)
    """
    if line is not None and line.startswith("VERSION"):
        raise NetworkError(f"sends {line[:40]!r}: it speaks acpc, but this engine pokerbots")
    return waited >= _STAY


def check_engine(match: NetworkMatch, time_bank: float) -> None:
    """Raise `InvalidValueError` if the protocol does not support this match."""
    check_rules(match.rules)
    names = match.names
    for name in names:
        if ":" in name or len(name.split()) != 1:
            raise InvalidValueError(
                f"a Pokerbots name must be one word without a colon, not {name!r}", value=name
            )
    if names[0] == names[1]:
        raise InvalidValueError(
            f"both players are called {names[0]}; names must differ", value=names
        )
    if not 0 < time_bank < 1e9:
        raise InvalidValueError(
            f"a time bank must be a number of seconds above zero, not {time_bank}",
            value=time_bank,
        )


class _Engine(DealerTable):
    """The engine's side of the protocol with both clients."""

    def __init__(
        self, match: NetworkMatch, wires: tuple[Wire, Wire], bank: float, warn: Say
    ) -> None:
        self.rules, self.hands, self.seats = match.rules, match.hands, match.seats(wires)
        self.bank, self.warn = bank, warn
        self.chips = [0, 0]  # won by each seat
        self.last: tuple[list[str], list[str]] = ([], [])  # events not yet sent to each seat

    def greet(self) -> None:
        stack, blind = self.rules.stack_chips[0], self.rules.big_blind
        for seat, other in zip(self.seats, self.seats[::-1], strict=True):
            line = f"NEWGAME {seat.name} {other.name} {stack} {blind} {self.hands}"
            self._send(seat, f"{line} {self._left(seat)}", None)

    def play(self, state: HandState, order: Order) -> HandState:
        names = order[0].name, order[1].name
        self.last = posts(self.rules, names), posts(self.rules, names)
        for place, seat in enumerate(self.seats):
            player = order.index(seat)
            button = "true" if self.rules.first_players[0] == player else "false"
            first, second = map(card_name, state.deal.holes[player])
            banks = f"{self.chips[place]} {self.chips[1 - place]}"
            line = f"NEWHAND {state.hand_number + 1} {button} {first} {second} {banks}"
            self._send(seat, f"{line} {self._left(seat)}", state)
        while (actor := state.actor) is not None:
            action = self._ask(state, order[actor])
            after = state.apply(action)
            for place, seat in enumerate(self.seats):
                words = happened(state, action, after, names, order.index(seat))
                self.last[place].extend(words)
            state = after
        return state

    def send_state(self, state: HandState, order: Order) -> None:
        names, payoffs = (order[0].name, order[1].name), state.payoffs()
        for place, seat in enumerate(self.seats):
            self.chips[place] += payoffs[order.index(seat)]
        for place, seat in enumerate(self.seats):
            self.last[place].extend(ending(state, names))
            banks = f"{self.chips[place]} {self.chips[1 - place]}"
            line = f"HANDOVER {banks} {_counted(_board(state))} {self._news(place)}"
            self._send(seat, f"{line} {self._left(seat)}", state)

    def say_goodbye(self, seconds: float) -> None:
        """Let both clients send values, and discard them."""
        deadline = time.monotonic() + seconds
        for seat in self.seats:
            with contextlib.suppress(NetworkError, WaitingStopped):
                seat.wire.send("REQUESTKEYVALUES", deadline - time.monotonic())
        for seat in self.seats:
            with contextlib.suppress(WaitingStopped):
                if not self._has_finished(seat, deadline):
                    self.warn(f"{seat.name} does not send FINISH after the last hand")

    def _has_finished(self, seat: ClientSeat, deadline: float) -> bool:
        """Read the values of a client until it has finished or time is up."""
        for _ in range(MOST_IGNORED):
            try:
                line = seat.wire.receive(deadline - time.monotonic())
            except NetworkError:
                return False
            if line is None or line.strip() == "FINISH":
                return True
        return False

    def _ask(self, state: HandState, seat: ClientSeat) -> Action:
        place = self.seats.index(seat)
        legal = _counted(legal_words(state))
        line = (
            f"GETACTION {state.betting.pot} {_counted(_board(state))} {self._news(place)} {legal}"
        )
        try:
            seat.wire.drop_pending()
            with seat.clock(SENDING):
                seat.wire.send(f"{line} {self._left(seat)}", self._seconds(seat))
            answer = self._answer(seat)
        except NetworkError as error:
            raise blame(seat, error, state) from None
        action, warning = read_answer(state, answer)
        if warning:
            self.warn(f"hand {state.hand_number + 1}, {seat.name}: {warning}")
        assert action is not None  # illegal answers are checks or folds
        return action

    def _answer(self, seat: ClientSeat) -> str:
        try:
            with seat.clock():
                return require_line(seat.wire.receive(self._seconds(seat)))
        except NetworkError:
            if self._seconds(seat) > 0:
                raise
            raise NetworkError(f"has used up its time bank of {self.bank:.3g} s") from None

    def _news(self, place: int) -> str:
        news = _counted(self.last[place])
        self.last[place].clear()
        return news

    def _seconds(self, seat: ClientSeat) -> float:
        return max(0.0, self.bank - seat.match_seconds)

    def _left(self, seat: ClientSeat) -> str:
        return f"{self._seconds(seat):.6f}"

    def _send(self, seat: ClientSeat, line: str, state: HandState | None) -> None:
        try:
            with seat.clock(SENDING):
                seat.wire.send(line, self._seconds(seat))
        except NetworkError as error:
            raise blame(seat, error, state) from None


def _board(state: HandState) -> list[str]:
    return [card_name(card) for card in state.board]


def _counted(words: list[str]) -> str:
    """Return the number of words and the words, separated by spaces.

    Example:
        >>> _counted(["As", "Kd"])
        '2 As Kd'
    """
    return " ".join([str(len(words)), *words])
