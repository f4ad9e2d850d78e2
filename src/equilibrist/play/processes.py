"""Bots that run as separate processes, started with the address of the dealer.

A command such as `./startme.sh` gets host and port as its last two words, as at the ACPC, unless it
has placeholders for them: `equilibrist connect {host} {port} always-call`.

A bot has its own session and process group: a key pressed at the dealer's terminal does not reach
it, and after the match the whole group is terminated, including the processes that the bot has
started.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator

from equilibrist.errors import NetworkError

FAREWELL = 5.0  # seconds that bots have to exit by themselves after the match
_GRACE = 1.0  # seconds that they have after each signal
_GLANCE = 0.02  # seconds between two checks whether they have exited


class BotProcess:
    """A bot process and the processes that it has started."""

    def __init__(self, command: str, host: str, port: int) -> None:
        self.command = command
        try:
            words = bot_words(command, host, port)
            self._process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=2, start_new_session=True
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise NetworkError(f"bot {command!r} does not start: {reason}", value=command) from None

    def check(self) -> None:
        """Raise `NetworkError` if the process has ended."""
        code = self._process.poll()
        if code is not None:
            raise NetworkError(
                f"bot {self.command!r} ended with code {code} before it connected",
                value=self.command,
            )

    @property
    def is_alive(self) -> bool:
        """Return whether the process, or one that it has started, is still running."""
        has_ended = self._process.poll() is not None
        try:
            os.killpg(self._process.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:  # a process of another user, which cannot be terminated
            return not has_ended
        return True

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the process and to those that it has started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


def bot_words(command: str, host: str, port: int) -> list[str]:
    """Split a command into words and insert the address of the dealer.

    Example:
        >>> bot_words("./startme.sh --fast", "127.0.0.1", 4711)
        ['./startme.sh', '--fast', '127.0.0.1', '4711']
        >>> bot_words("equilibrist connect {host} {port} uniform", "127.0.0.1", 4711)
        ['equilibrist', 'connect', '127.0.0.1', '4711', 'uniform']
    """
    words = shlex.split(command)
    if not words:
        raise ValueError("the command is empty")
    if not any("{port}" in word for word in words):
        words += ["{host}", "{port}"]
    return [word.replace("{host}", host).replace("{port}", str(port)) for word in words]


@contextlib.contextmanager
def stopped_at_exit(
    bots: list[BotProcess], is_hurried: Callable[[], bool] = lambda: False
) -> Iterator[None]:
    """Terminate all bots on exit; unless `is_hurried`, they first have time to exit themselves."""
    try:
        yield
    finally:
        _wait_for(bots, 0.0 if is_hurried() else FAREWELL)
        for number in (signal.SIGTERM, signal.SIGKILL):
            for bot in bots:
                if bot.is_alive:
                    bot.send(number)
            _wait_for(bots, _GRACE)


def _wait_for(bots: list[BotProcess], seconds: float) -> None:
    """Wait until all bots have ended, or time is up."""
    deadline = time.monotonic() + seconds
    while any([bot.is_alive for bot in bots]) and time.monotonic() < deadline:  # noqa: C419
        time.sleep(_GLANCE)  # checking a process that has ended also reaps it: check each one
