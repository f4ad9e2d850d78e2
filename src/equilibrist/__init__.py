"""Equilibrist: an open laboratory for heads-up poker.

    import equilibrist as eq

    leduc = eq.solve("leduc", to=1e-4)              # value, exploitability, curve
    leduc.strategy("cc/r", board="Ks")              # probabilities by hand
    eq.equity("AhKh", "QQ+,AKs", board="Qh7h2c")    # exact

Names are imported when they are first used, so that `import equilibrist` is quick.
"""

from __future__ import annotations

import importlib
import os as _os
from typing import TYPE_CHECKING, Any

from equilibrist.version import __version__

if _os.name != "posix":
    raise ImportError(
        "Equilibrist needs the file locks of Linux, macOS or another POSIX system; on Windows use "
        "it within WSL"
    )

if TYPE_CHECKING:
    from equilibrist.bots.open import open_strategy as open_strategy
    from equilibrist.cards.card import parse_cards as parse_cards
    from equilibrist.cards.range import Range as Range
    from equilibrist.cards.range import parse_range as parse_range
    from equilibrist.errors import EquilibristError as EquilibristError
    from equilibrist.front_door.bots import exploitability as exploitability
    from equilibrist.front_door.bots import train as train
    from equilibrist.front_door.counters import counter as counter
    from equilibrist.front_door.equities import equity as equity
    from equilibrist.front_door.flop_studies import flops as flops
    from equilibrist.front_door.games import solve as solve
    from equilibrist.front_door.matches import local_best_response as local_best_response
    from equilibrist.front_door.matches import match as match
    from equilibrist.front_door.spots import spot as spot
    from equilibrist.games.catalog import game_names as game_names
    from equilibrist.games.catalog import get_game as get_game
    from equilibrist.games.rules import GameRules as GameRules
    from equilibrist.kernel_warmup import warmup as warmup
    from equilibrist.play.match import Match as Match
    from equilibrist.players.catalog import make_player as make_player
    from equilibrist.players.catalog import player_names as player_names
    from equilibrist.players.player import View as View
    from equilibrist.solving.methods import method_names as method_names
    from equilibrist.strategies.solution import Solution as Solution

_PLACES = {
    "EquilibristError": "errors",
    "GameRules": "games.rules",
    "Match": "play.match",
    "Range": "cards.range",
    "Solution": "strategies.solution",
    "View": "players.player",
    "counter": "front_door.counters",
    "equity": "front_door.equities",
    "exploitability": "front_door.bots",
    "flops": "front_door.flop_studies",
    "game_names": "games.catalog",
    "get_game": "games.catalog",
    "local_best_response": "front_door.matches",
    "make_player": "players.catalog",
    "match": "front_door.matches",
    "method_names": "solving.methods",
    "open_strategy": "bots.open",
    "parse_cards": "cards.card",
    "parse_range": "cards.range",
    "player_names": "players.catalog",
    "solve": "front_door.games",
    "spot": "front_door.spots",
    "train": "front_door.bots",
    "warmup": "kernel_warmup",
}
__all__ = ["__version__", *_PLACES]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'equilibrist' has no attribute {name!r}")
    found = getattr(importlib.import_module(f"equilibrist.{_PLACES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
