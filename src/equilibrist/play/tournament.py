"""Round-robin tournaments, their cross table and two rankings.

A tournament is a TOML file:

    game = "holdem-limit"                    a game of the catalogue or a .game file
    players = ["always-call", "always-raise", "uniform"]
    hands = 1000                             number of hands per pair
    duplicate = true                         default: true
    seed = 7                                 default: 0; all pairs play the same deals
    agreed_rounds = 0                        default: 0; 1: both call before the flop

A `--seed` given to `equilibrist tournament` replaces that of the file, also a `seed = 0`.

*Bankroll* ranks by chips per hand against all others. *Instant runoff* removes the player with the
smallest bankroll, counts only the matches between the others, and repeats this; it favours players
that lose to nobody over players that win most from the weak. Among equals, the one named last is
removed first.
"""

from __future__ import annotations

import difflib
import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.numbers import shown, whole_number
from equilibrist.errors import InvalidValueError, ParseError
from equilibrist.games.catalog import load_game
from equilibrist.games.files import parse_toml, read_text
from equilibrist.games.state import MAX_HAND_NUMBER
from equilibrist.play.match import Match, MatchSettings, Watch, run_match, watch_part
from equilibrist.players.catalog import make_player
from equilibrist.players.player import MOST_SEED
from equilibrist.stopping import Stopped

MOST_PLAYERS = 1000  # maximum number of players: 499,500 matches


@dataclass(frozen=True)
class Tournament:
    """The settings of a tournament: game, players and number of hands per pair."""

    game: str
    players: tuple[str, ...]  # texts of the players
    hands: int
    duplicate: bool = True
    seed: int = 0
    agreed_rounds: int = 0

    def __post_init__(self) -> None:
        if not 2 <= len(self.players) <= MOST_PLAYERS:
            raise InvalidValueError(
                f"a tournament has 2 to {MOST_PLAYERS:,} players, not {len(self.players):,}",
                value=len(self.players),
            )
        for name, times in Counter(self.players).items():
            if times > 1:
                raise InvalidValueError(
                    f"{name[:60]} is in the tournament twice; players must differ", value=name
                )
        whole_number(self.seed, "a seed", 0, MOST_SEED)
        whole_number(self.hands, "the number of hands", 1, MAX_HAND_NUMBER)

    @property
    def settings(self) -> MatchSettings:
        """The settings of the match of each pair."""
        return MatchSettings(
            hands=self.hands,
            duplicate=self.duplicate,
            seed=self.seed,
            agreed_rounds=self.agreed_rounds,
        )


@dataclass(frozen=True, eq=False)
class CrossTable:
    """The chips per hand that each of P players won from each other: row from column."""

    names: tuple[str, ...]
    rates: NDArray[np.float64]  # [P, P], NaN on the diagonal
    errors: NDArray[np.float64]  # [P, P] standard errors

    @classmethod
    def of(cls, names: Sequence[str], matches: dict[tuple[int, int], Match]) -> CrossTable:
        """Build the table from matches, given by the indices of their players."""
        rates, errors = np.full((2, len(names), len(names)), np.nan)
        for (i, j), match in matches.items():
            samples = match.results.rates
            rates[i, j], rates[j, i] = samples.mean(), 0.0 - samples.mean()  # never −0
            if len(samples) > 1:
                errors[i, j] = errors[j, i] = samples.std(ddof=1) / np.sqrt(len(samples))
        return cls(tuple(names), rates, errors)

    def bankrolls(self, among: Sequence[int] | None = None) -> NDArray[np.float64]:
        """Return the mean chips per hand of each player against the others (`among`: a subset)."""
        chosen = list(range(len(self.names)) if among is None else among)
        return np.nanmean(self.rates[np.ix_(chosen, chosen)], axis=1)

    def bankroll_ranking(self) -> list[int]:
        """Return the indices of the players, largest bankroll first."""
        return np.argsort(-self.bankrolls(), kind="stable").tolist()

    def runoff_ranking(self) -> list[int]:
        """Return the indices of the players, the winner of the runoff first.

        Example:
            >>> rates = np.array([[np.nan, 1, -1], [-1, np.nan, 9], [1, -9, np.nan]])
            >>> table = CrossTable(("a", "b", "c"), rates, rates * 0)
            >>> table.bankroll_ranking(), table.runoff_ranking()
            ([1, 0, 2], [0, 1, 2])
        """
        left, gone = list(range(len(self.names))), []
        while len(left) > 1:
            bankrolls = self.bankrolls(left)
            last = int(np.flatnonzero(bankrolls == bankrolls.min())[-1])
            gone.append(left.pop(last))
        return [*left, *reversed(gone)]


def play_tournament(tournament: Tournament, watch: Watch | None = None) -> CrossTable:
    """Play all pairs; every player is built, and so checked, before the first hand."""
    rules = load_game(tournament.game)
    names = tournament.players
    pairs = list(itertools.combinations(range(len(names)), 2))
    seated = {i: make_player(name, rules) for i, name in enumerate(names)}
    matches = {}
    for number, (i, j) in enumerate(pairs):
        report = watch_part(watch, number, len(pairs))
        try:
            matches[i, j] = run_match(rules, (seated[i], seated[j]), tournament.settings, report)
        except Stopped:
            raise Stopped(
                f"stopped in match {number + 1} of {len(pairs)}; a tournament has no table before "
                "its end and cannot be resumed"
            ) from None
    return CrossTable.of(names, matches)


def read_tournament(path: str | Path) -> Tournament:
    """Read a tournament from a TOML file; a `ParseError` names the file and the invalid entry."""
    return parse_tournament(read_text(path, ParseError), str(path))


def parse_tournament(text: str, what: str = "the tournament") -> Tournament:
    r"""Parse a tournament from a TOML text; `what` names the text in error messages.

    Example:
        >>> parse_tournament('game = "leduc"\nplayers = ["uniform", "always-call"]\nhands = 40')
        Tournament(game='leduc', players=('uniform', 'always-call'), hands=40, duplicate=True,
                   seed=0, agreed_rounds=0)
    """
    entries = parse_toml(text, what, ParseError)
    kinds = {"game": str, "players": list, "hands": int, "duplicate": bool, "seed": int}
    kinds["agreed_rounds"] = int
    for key, value in entries.items():
        if key not in kinds:
            nearest = difflib.get_close_matches(key[:60], kinds, n=1, cutoff=0.4)
            hint = f"did you mean {nearest[0]}?" if nearest else f"entries: {', '.join(kinds)}"
            raise ParseError(f"{what} has an unknown entry {key[:60]!r}; {hint}", value=key)
        is_right = type(value) is kinds[key]
        if key == "players" and is_right:
            is_right = all(isinstance(player, str) for player in value)
        if not is_right:
            expected = {str: "a text", list: "a list of texts", int: "a whole number"}
            right = expected.get(kinds[key], "true or false")
            raise ParseError(f"{what}: {key} must be {right}, not {shown(value)}", value=value)
    for field in fields(Tournament)[:3]:
        if field.name not in entries:
            raise ParseError(f"{what} has no {field.name}; add a line `{field.name} = …`")
    return Tournament(**entries | {"players": tuple(entries["players"])})
