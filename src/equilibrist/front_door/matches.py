"""Matches between players."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equilibrist.bots.train import TrainedBot
from equilibrist.display.notebook import data_frame, table_html
from equilibrist.front_door.displays import converted
from equilibrist.games.catalog import get_game
from equilibrist.games.rules import GameRules
from equilibrist.play.match import Match, MatchSettings
from equilibrist.play.match_run import play_as_set
from equilibrist.play.response_match import LocalResponse, local_response
from equilibrist.players.catalog import make_player
from equilibrist.players.own_player import as_player
from equilibrist.stopping import Stopped

if TYPE_CHECKING:
    from equilibrist.players.player import Player


@dataclass(frozen=True, eq=False, repr=False)
class PlayedMatch(Match):
    """The result of a match, with a table for notebooks."""

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per hand: run (1: seats exchanged), deal, chips of the first player."""
        return [
            {"run": run, "deal": deal, "chips": chips}
            for run, won in enumerate(self.chips.tolist())
            for deal, chips in enumerate(won)
        ]

    def to_pandas(self) -> Any:
        """Return the rows as a pandas data frame; needs pandas."""
        return data_frame(self.rows())

    def plot(self, path: str | Path) -> Path:
        """Draw the first player's cumulative winnings into a picture; needs the extra `plot`."""
        from equilibrist.display.picture import check_plot
        from equilibrist.display.winnings import draw_winnings

        check_plot(Path(path))
        draw_winnings([self], self.names, Path(path))
        return Path(path)

    def _results(self) -> list[tuple[str, str]]:
        """Return the result in words: label and text."""
        first, second = self.names
        rows = [
            ("players", f"{first} against {second}"),
            ("game", self.rules.name),
            ("hands", f"{self.num_hands:,}"),
        ]
        if self.chips.shape[1] < 2:  # an interval needs two deals
            return [*rows, ("chips", f"{int(self.chips.sum()):+,}")]
        found = self.statistics()
        low, high = found.estimate.ci95
        return [
            *rows,
            ("win rate", f"{found.win_rate:.6g} {found.unit}"),
            ("95 % interval", f"{low:.6g} to {high:.6g} {found.unit}"),
            ("verdict", found.verdict),
        ]

    def __repr__(self) -> str:
        rows = dict(self._results())
        won = rows.get("win rate") or f"{rows['chips']} chips"
        return f"<{rows['players']}: {won} in {rows['hands']} hands of {rows['game']}>"

    def _repr_html_(self) -> str:
        return table_html((), self._results(), "match")


def match(
    first: str | Player | TrainedBot,
    second: str | Player | TrainedBot,
    *,
    hands: int = 1000,
    duplicate: bool = False,
    game: str | GameRules = "holdem-limit",
    seed: int = 0,
    aivat: bool = False,
) -> PlayedMatch:
    """Play a match; a player is a name, a trained bot, or an object with a method `act(view)`.

    With `aivat`, the result's `aivat` holds the win rate without luck (`play.luck`); at least one
    player must be a table, such as a mix or a stored strategy.

    Example:
        >>> found = match("always-fold", "always-raise", hands=100, duplicate=True)
        >>> found.statistics().win_rate  # mbb/g: the mean of both blinds
        -750.0
    """
    rules = game if isinstance(game, GameRules) else get_game(game)
    pair = _player(first, rules), _player(second, rules)
    settings = MatchSettings(hands=hands, duplicate=duplicate, seed=seed, aivat=aivat)
    played = play_as_set(rules, pair, settings)
    if not played.is_finished:
        raise Stopped("stopped before the end of the match", partial=played.matches[0])
    return converted(PlayedMatch, played.matches[0])


def local_best_response(
    player: str | Player | TrainedBot,
    setting: str = "c/c/fcpa/fcpa",
    *,
    hands: int = 2000,
    game: str | GameRules = "holdem-nolimit",
    seed: int = 0,
) -> LocalResponse:
    """Play a local best response against a stored strategy or a mix.

    What it wins is at most what a best response wins (`players.local_best_response`).

    Example:
        >>> local_best_response("always-fold", hands=20).statistics().win_rate
        750.0
    """
    rules = game if isinstance(game, GameRules) else get_game(game)
    return local_response(rules, _player(player, rules), setting, hands, seed=seed)


def _player(given: str | Player | TrainedBot, rules: GameRules) -> Player:
    """Return the player of a name, of a trained bot, or of an object that acts."""
    if isinstance(given, TrainedBot):
        given = given.player
    if isinstance(given, str):
        return make_player(given, rules)
    return as_player(given)
