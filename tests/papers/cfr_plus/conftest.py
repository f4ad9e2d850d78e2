"""Commands run in this process, as `equilibrist` would in its own."""

from command_line import run

__all__ = ["run"]
