"""Commands run in this process, as `equilibrist` would in its own."""

from command_line import answer, run

__all__ = ["answer", "run"]
