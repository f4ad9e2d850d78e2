"""Bots that are processes of their own, started with the address of the dealer.

A command such as `./startme.sh` gets host and port as its last two words, as at the ACPC, unless it
says where they go: `equilibrist connect {host} {port} always-call`.
"""

from __future__ import annotations

import contextlib
import shlex
import subprocess
from collections.abc import Iterator

from equilibrist.errors import NetworkError

_FAREWELL = 5.0  # seconds a bot has to leave after the match


class Bot:
    """A started process."""

    def __init__(self, command: str, host: str, port: int) -> None:
        self.command = command
        try:
            words = bot_words(command, host, port)
            self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=2)
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

    def stop(self) -> None:
        """See the process out: it has a moment to leave by itself."""
        try:
            self._process.wait(_FAREWELL)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def bot_words(command: str, host: str, port: int) -> list[str]:
    """The words of a command with an address in them.

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
def seen_out(bots: list[Bot]) -> Iterator[None]:
    """Stops all bots at the end, however it ends."""
    try:
        yield
    finally:
        for bot in bots:
            bot.stop()
