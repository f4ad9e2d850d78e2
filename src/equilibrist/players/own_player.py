"""Players that a user writes: an object with a method `act(view)`, or a class in a file."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from pathlib import Path
from typing import Any

from equilibrist.errors import InvalidValueError, ParseError
from equilibrist.games.rules import GameRules
from equilibrist.players.player import Player

_METHODS = ("name", "act", "observe", "reset")


class ActingPlayer:
    """A player from an object that may have nothing but `act(view)`.

    Example:
        >>> from equilibrist.games.action import CALL
        >>> class Caller:
        ...     def act(self, view):
        ...         return CALL
        >>> ActingPlayer(Caller()).name
        'Caller'
    """

    def __init__(self, given: Any) -> None:
        if not callable(getattr(given, "act", None)):
            kind = type(given).__name__
            raise InvalidValueError(
                f"a player is an object with a method act(view), and {kind} has none", value=kind
            )
        self._given = given
        self.name = str(getattr(given, "name", type(given).__name__))

    def act(self, view: Any) -> Any:
        """Return the action of the object."""
        return self._given.act(view)

    def observe(self, result: Any) -> None:
        """Pass on the end of a hand, if the object has a method for it."""
        if hasattr(self._given, "observe"):
            self._given.observe(result)

    def reset(self, seed: int) -> None:
        """Pass on a new seed, if the object has a method for it."""
        if hasattr(self._given, "reset"):
            self._given.reset(seed)


def as_player(given: Any) -> Player:
    """Return the object itself if it has all methods of a player, else with the rest added."""
    if all(hasattr(given, name) for name in _METHODS):
        return given
    return ActingPlayer(given)


def is_file_text(text: str) -> bool:
    """Return whether a text such as `bots/mine.py:Careful` names a class in a file."""
    return text.partition(":")[0].endswith(".py")


def load_player(text: str, rules: GameRules) -> Player:
    """Make the player `FILE.py:CLASS`; the class takes the rules of the game, or nothing.

    The file is executed: name only files that you trust.
    """
    file, _, name = text.partition(":")
    path = Path(file)
    if not name.isidentifier():
        raise ParseError(f"write the class behind the file, such as {file}:MyPlayer", value=text)
    if not path.is_file():
        raise InvalidValueError(f"there is no file {file}", value=file)
    module_name = f"equilibrist_player_{path.stem}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module  # dataclasses look themselves up there
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise InvalidValueError(
            f"{file} cannot be loaded: {type(error).__name__}: {error}", value=file
        ) from error
    found: Any = getattr(module, name, None)
    if not inspect.isclass(found):
        raise InvalidValueError(f"{file} has no class {name}", value=name)
    make: Any = found
    takes_rules = bool(inspect.signature(make).parameters)
    try:
        return as_player(make(rules) if takes_rules else make())
    except (TypeError, ValueError) as error:
        raise InvalidValueError(f"{text} cannot be made: {error}", value=text) from error
