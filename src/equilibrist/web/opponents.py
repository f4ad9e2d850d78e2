"""The players that a person can choose at the table, and the strategies that they share."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from equilibrist.bots.listing import bot_row
from equilibrist.bots.registry import BOTS
from equilibrist.errors import ParseError
from equilibrist.games.catalog import GAMES, get_game
from equilibrist.games.rules import GameRules, rules_text
from equilibrist.players.catalog import PLAYERS, PlayerEntry, make_player
from equilibrist.players.own_player import is_file_text
from equilibrist.players.player import Player
from equilibrist.players.strategy_player import StrategyPlayer
from equilibrist.storage.artefact import read_identity
from equilibrist.strategies.description import GameDescription
from equilibrist.strategies.solution import read_summary
from equilibrist.web.library import Library

_MOST_SHARED = 8  # strategies in memory
_EVERY_GAME, _LIMIT_HOLDEM = "every game", "limit hold'em"  # as the catalogue of players says
_WITHOUT_FILES = ("mix", "vexbot")  # players whose options cannot name a file
_SOLUTION = "solution:"


def playable_games() -> list[str]:
    """Return the names of the games for two players, limit hold'em first."""
    names = [name for name, game in GAMES.items() if game.rules.num_players == 2]
    return sorted(names, key=lambda name: name != "holdem-limit")


class Opponents:
    """Makes players by name; tables against the same strategy share its arrays."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._shared: OrderedDict[tuple[str, str, str], StrategyPlayer] = OrderedDict()
        self._lock = threading.Lock()

    def listing(self) -> list[dict[str, Any]]:
        """Return all players with the games that they play; an untrained bot has its command."""
        games = playable_games()
        found = []
        for entry in PLAYERS.values():
            plays = list(_games(entry, games))
            if plays and (not entry.options or entry.options.startswith("[")):
                row = self._row(entry, plays)
                if not (row["command"] and self.library.is_public):
                    found.append(row)
        return [*found, *self._solutions(games)]

    def _row(self, entry: PlayerEntry, plays: list[str]) -> dict[str, Any]:
        bot = dict(BOTS).get(entry.name)
        state = "" if bot is None else bot_row(bot, bot.folder)["state"]
        is_ready = bot is None or state in ("trained", "playable")
        return {
            "name": entry.name,
            "description": entry.description,
            "games": plays,
            "is_bot": bot is not None,
            "command": None if is_ready else f"equilibrist train {entry.name}",
            "minutes": None if bot is None or is_ready else bot.minutes,
        }

    def _solutions(self, games: list[str]) -> Iterator[dict[str, Any]]:
        """Yield the solved games of the served folder as players."""
        texts = {rules_text(get_game(name)): name for name in games}
        for entry in self.library.stored():
            if entry["kind"] != "solution":
                continue
            game = read_summary(entry["name"]).game
            if isinstance(game, GameDescription) and game.rules in texts:
                yield {
                    "name": _SOLUTION + entry["name"],
                    "description": f"The solution in {entry['name']}",
                    "games": [texts[game.rules]],
                    "is_bot": True,
                    "command": None,
                    "minutes": None,
                }

    def make(self, text: str, rules: GameRules) -> Player:
        """Make the player that a text describes; raise an error if the page may not name it."""
        self._check(text)
        key = text, rules.name, self._identity(text)
        with self._lock:
            if key in self._shared:
                self._shared.move_to_end(key)
                return self._shared[key].twin()
            player = make_player(text, rules)
            if key[2] and isinstance(player, StrategyPlayer):
                self._shared[key] = player
                while len(self._shared) > _MOST_SHARED:
                    self._shared.popitem(last=False)
                return player.twin()
            return player

    def _check(self, text: str) -> None:
        """Raise an error for a text that would read files outside the served folder, or run one."""
        name, colon, options = text.partition(":")
        if text.startswith(_SOLUTION):
            self.library.check(options.partition(",")[0])
        elif is_file_text(text) or (colon and name not in _WITHOUT_FILES):
            raise ParseError(
                f"{text[:60]!r} cannot be played on a page; give the name of a player, a mix such "
                "as mix:0.1,0.6,0.3, or solution:NAME",
                value=text,
            )

    def _identity(self, text: str) -> str:
        """Return the hash of a stored strategy, "" for players without one."""
        if text.startswith(_SOLUTION):
            return read_identity(Path(text.removeprefix(_SOLUTION).partition(",")[0])).hash
        if text not in BOTS or not BOTS[text].strategies:
            return ""
        return read_identity(BOTS[text].stored_strategy()).hash


def _games(entry: PlayerEntry, games: list[str]) -> Iterator[str]:
    """Yield the games of a list that a player plays."""
    for name in games:
        is_limit_holdem = entry.games == _LIMIT_HOLDEM and name == "holdem-limit"
        if entry.games in (_EVERY_GAME, name) or is_limit_holdem:
            yield name
