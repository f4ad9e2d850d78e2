"""Strategies in files of other programs: OpenSpiel policies, Gambit games and profiles.

    leduc.json   an OpenSpiel policy (`strategies.openspiel`)
    leduc.efg    the game as Gambit's extensive form (`strategies.efg`); it holds no strategy
    leduc.ne     a strategy of that game, as Gambit's solvers print it

A strategy that is imported becomes a solution with a certificate of its own: best responses to it
are computed here, whatever the other program stated.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np

from equilibrist.errors import InvalidValueError, ParseError, UnknownNameError
from equilibrist.games.files import read_text
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.phases import phase
from equilibrist.solving.best_response import evaluate
from equilibrist.storage.output_file import write_output
from equilibrist.strategies.description import GameDescription
from equilibrist.strategies.efg import parse_profile, profile_text, to_efg
from equilibrist.strategies.evaluation import Evaluation
from equilibrist.strategies.openspiel import parse_policy, policy_text
from equilibrist.strategies.solution import TRACE_COLUMNS, Solution, game_of

Format: TypeAlias = Literal["openspiel", "gambit", "gambit-profile"]
SUFFIXES: dict[str, Format] = {".json": "openspiel", ".efg": "gambit", ".ne": "gambit-profile"}


def file_format(path: Path, given: str | None = None) -> Format:
    """Return the format of a file: as given, or by its suffix.

    Example:
        >>> file_format(Path("leduc.json")), file_format(Path("leduc.txt"), "gambit")
        ('openspiel', 'gambit')
    """
    formats: tuple[Format, ...] = get_args(Format)
    if given is None and path.suffix.lower() in SUFFIXES:
        return SUFFIXES[path.suffix.lower()]
    found = next((name for name in formats if name == given), None)
    if found is None:
        what = f"no format is called {given!r}" if given else f"{path} has no known suffix"
        raise UnknownNameError(
            f"{what}; formats are {', '.join(f'{name} ({end})' for end, name in SUFFIXES.items())}",
            value=given or str(path),
        )
    return found


def exported(folder: str | Path, form: Format) -> tuple[SequenceGame, str]:
    """Return the game of a stored solution, and the text of a file with it or its strategy.

    Raises `InvalidValueError` for solutions of buckets and for games that the other program cannot
    play.
    """
    solution = Solution.load(folder, in_memory=True)
    if not isinstance(solution.game, GameDescription):
        raise InvalidValueError(
            f"{folder} is a solution of {solution.game.name}; only solutions of games with their "
            "real cards can be exported",
            value=str(folder),
        )
    game = game_of(solution)
    first, second = (np.asarray(plan, np.float64) for plan in solution.plans)
    with phase(f"writing {game.num_infosets:,} information sets as {form}"):
        if form == "gambit":
            return game, to_efg(game)
        text_of = policy_text if form == "openspiel" else profile_text
        return game, text_of(game, (first, second))


def export_solution(
    folder: str | Path, path: str | Path, form: str | None = None, *, replace: bool = False
) -> SequenceGame:
    """Write a stored solution to a file of another program, atomically; return its game."""
    game, text = exported(folder, file_format(Path(path), form))
    write_output(path, text, replace=replace)
    return game


@dataclass(frozen=True, eq=False)
class ImportedStrategy:
    """A strategy read from a file of another program, with its certificate."""

    game: SequenceGame
    form: Format
    plans: tuple[Floats, Floats]
    certificate: Evaluation
    spread: float  # largest difference between probabilities of hands that the game merges

    @classmethod
    def read(
        cls, path: str | Path, game: SequenceGame, form: str | None = None
    ) -> ImportedStrategy:
        """Read a strategy of an exact game and compute the best responses to it.

        Raises `ParseError`, which names the file, for a file that is not a strategy of this game.
        """
        found = file_format(Path(path), form)
        if found == "gambit":
            raise ParseError(
                f"{path} is a Gambit game, which holds no strategy; import a profile (.ne), the "
                "line NE,… that Gambit's solvers print",
                value=str(path),
            )
        text, spread = read_text(path, ParseError), 0.0
        try:
            with phase(f"reading a strategy of {game.num_infosets:,} information sets"):
                if found == "openspiel":
                    plans, spread = parse_policy(game, text)
                else:
                    plans = parse_profile(game, text)
        except ParseError as error:
            raise ParseError(f"{path}: {error}", value=error.value) from None
        return cls(game, found, plans, evaluate(game, plans), spread)

    def save(self, folder: str | Path) -> Path:
        """Store the strategy as a solution, replacing an existing one."""
        proof = self.certificate
        row = [0.0, 0.0, proof.exploitability, *proof.best_response, proof.value]
        Solution(
            game=GameDescription.of(self.game),
            plans=self.plans,
            method=f"imported from {self.form}",
            iterations=0,
            seconds=0.0,
            certificate=proof,
            trace=np.array([row]).reshape(1, len(TRACE_COLUMNS)),
            settings={"dtype": "float64"},
        ).save(folder)
        return Path(folder)
