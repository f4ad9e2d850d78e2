"""Hosting a match over TCP: listen, start bots, seat both players, deal, and write the log."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from equilibrist.errors import InvalidValueError
from equilibrist.play import acpc, pokerbots_engine
from equilibrist.play.lobby import Greeting, Lobby
from equilibrist.play.processes import BotProcess, stopped_at_exit
from equilibrist.play.server import NetworkMatch, Say, ServedMatch, TimeLimits, serve_match
from equilibrist.play.wire import Listener, WaitingStopped, Wire
from equilibrist.storage.output_file import OutputFile

NetworkProtocol: TypeAlias = tuple[Callable[..., ServedMatch], Greeting]  # server and greeting test


@dataclass(frozen=True)
class HostedMatch:
    """A match that waits for its two players; both seats connect to `ports`, or to the only one."""

    match: NetworkMatch
    host: str = "127.0.0.1"
    ports: tuple[int, ...] = (0,)  # one or two; 0: any free port
    commands: tuple[str, ...] = ()  # started for the first seats, at most two
    patience: float | None = None  # seconds to wait for players; None: no limit

    def __post_init__(self) -> None:
        if len(self.commands) > 2:
            raise InvalidValueError(
                f"give at most two bots, not {len(self.commands)}", value=self.commands
            )

    def acpc(self, limits: TimeLimits) -> NetworkProtocol:
        """Return the ACPC protocol: its server, and its test for a greeting in time."""
        serve = functools.partial(serve_match, limits=limits)
        return serve, functools.partial(acpc.is_greeting, patience=limits.greeting / 1000)

    def pokerbots(self, time_bank: float) -> NetworkProtocol:
        """Return the Pokerbots protocol, with seconds per player for the whole match."""
        pokerbots_engine.check_engine(self.match, time_bank)
        serve = functools.partial(pokerbots_engine.serve_pokerbots, time_bank=time_bank)
        return serve, pokerbots_engine.is_greeting

    def play(
        self,
        protocol: NetworkProtocol,
        bots: list[BotProcess],
        *,
        log: Callable[[], OutputFile] | None,
        say: Say,
        watch: Callable[[float], None],
        should_stop: Callable[[], bool],
    ) -> tuple[ServedMatch, float] | None:
        """Play the match; return it and its seconds, or None if it was stopped before it started.

        `bots` receives the processes that are started; they are stopped at the end. `log` opens
        the file of the log once the ports are open.
        """
        serve, greeting = protocol
        with contextlib.ExitStack() as stack, contextlib.suppress(WaitingStopped):
            doors = [stack.enter_context(Listener(self.host, number)) for number in self.ports]
            file = None if log is None else stack.enter_context(log())
            names = self.match.names
            say(f"{names[0]} at port {doors[0].port}, {names[1]} at port {doors[-1].port}")
            stack.enter_context(stopped_at_exit(bots, should_stop))
            lobby = stack.enter_context(
                Lobby((doors[0], doors[-1]), greeting, names=names, warn=say,
                      should_stop=should_stop)
            )  # fmt: skip
            wires = self._seat_players(lobby, bots)
            start = time.perf_counter()
            played = serve(
                self.match, wires, warn=say, watch=watch,
                log=lambda line: None if file is None else file.write(f"{line}\n"),
            )  # fmt: skip
            seconds = time.perf_counter() - start
            if file is not None:
                file.finish(f"{played.header}\n")
            return played, seconds
        return None

    def _seat_players(self, lobby: Lobby, bots: list[BotProcess]) -> tuple[Wire, Wire]:
        """Wait for both players, starting each bot when its seat is next; return connections."""

        def check() -> None:
            for seat in lobby.free_seats(len(bots)):
                bots[seat].check()

        for seat, command in enumerate(self.commands):
            bots.append(BotProcess(command, self.host, lobby.doors[seat].port))
            lobby.fill(seat + 1, self.patience, check)
        first, second = lobby.fill(2, self.patience, check)
        return first, second
