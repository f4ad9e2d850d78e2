"""Shared parts of the solving commands: models, forecasts, results and pictures."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.cli.games import menu_of, parse_rounds
from equilibrist.display.curves import Bars, draw_panels
from equilibrist.display.picture import check_plot as check_plot
from equilibrist.errors import InvalidValueError, StorageError
from equilibrist.evaluation.statistics import mbb_per_game as mbb_per_game
from equilibrist.games.bet_menu import MenuTexts
from equilibrist.games.catalog import game_names, load_game
from equilibrist.games.rules import GameRules
from equilibrist.models.game import SequenceGame
from equilibrist.papers.cfr_plus.claims import Curve
from equilibrist.solving.devices import Chosen, choose_device
from equilibrist.solving.methods import METHODS
from equilibrist.solving.problem import Problem
from equilibrist.solving.solve import Run
from equilibrist.solving.solver import Solver
from equilibrist.solving.target import NO_GOAL, Goal
from equilibrist.storage.artefact import check_target
from equilibrist.storage.manifest import MANIFEST
from equilibrist.strategies.description import BucketDescription, Description, ModelRounds
from equilibrist.strategies.evaluation import Evaluation
from equilibrist.strategies.solution import KIND

_FLOAT32_SHOWS = 1e-6  # approximate resolution of float32 sums, relative to the payoffs
_LARGE = 2**30  # bytes from which a forecast is printed


class Rounds(NamedTuple):
    """The rounds of a model, its initial pot, and the bets of rounds after its last one."""

    first: int = 1  # counted from 1
    last: int | None = None  # None: the last round of the game
    pot: int | None = None  # chips; None: the blinds or antes
    bet: float = 0.0  # chips per player that omitted rounds at the end add

    @staticmethod
    def parse(text: str | None, pot: int | None, bet: float) -> Rounds:
        """Return the rounds of a text such as `2-4` or `1`; all rounds for None."""
        if text is None:
            return Rounds(pot=pot, bet=bet)
        return Rounds(*parse_rounds(text), pot, bet)

    def of(self, rules: GameRules) -> ModelRounds:
        """Return the rounds of a model of this game."""
        last = self.last or rules.num_rounds
        if not 1 <= self.first <= last <= rules.num_rounds:
            raise InvalidValueError(
                f"rounds of {rules.name} are 1 to {rules.num_rounds}, not {self.first} to {last}",
                value=last,
            )
        if self.pot is not None and self.first == 1:
            raise InvalidValueError(
                "round 1 starts with the blinds or antes in the pot: leave out --pot",
                value=self.pot,
            )
        is_cut = last < rules.num_rounds
        if not 0 <= self.bet < float("inf") or (self.bet and not is_cut):
            raise InvalidValueError(
                "--last-bet must be at least 0 chips, and 0 unless rounds are left out at the end, "
                f"not {self.bet:g} after round {last} of {rules.num_rounds}",
                value=self.bet,
            )
        return ModelRounds(
            first=self.first - 1, last=last - 1 if is_cut else None, pot=self.pot, bet=self.bet
        )


ALL_ROUNDS = Rounds()


class GameOptions(NamedTuple):
    """The options of a command that say which game is solved."""

    name: str  # a game, a file of rules, or, with `joint`, the folder of an abstraction
    joint: Path | None = None
    bets: str | None = None
    raises: str | None = None
    max_raises: str | None = None
    symmetry: str | None = None
    rounds: Rounds = ALL_ROUNDS

    def problem(self) -> Problem:
        """Return the game that the options describe, before it is built."""
        return self._exact() if self.joint is None else self._buckets(self.joint)

    @property
    def _menu(self) -> MenuTexts:
        return {"bets": self.bets, "raises": self.raises, "max_raises": self.max_raises}

    def _buckets(self, joint: Path) -> Problem:
        if self.symmetry is not None:
            raise InvalidValueError(
                "a game of buckets has no symmetry: leave out --symmetry", value=self.symmetry
            )
        buckets = Abstraction.open(self.name)
        menu = menu_of(buckets.rules, **self._menu)
        rounds = self.rounds.of(buckets.rules)
        found = BucketDescription.of(Path(self.name), joint, menu, rounds)
        return Problem.of_buckets(buckets, found)

    def _exact(self) -> Problem:
        if self.rounds != ALL_ROUNDS:
            raise InvalidValueError(
                "--rounds, --pot and --last-bet need a game of buckets: add --joint, or leave them "
                "out"
            )
        if self.name not in game_names() and (Path(self.name) / MANIFEST).exists():
            raise InvalidValueError(
                f"{self.name} holds buckets; add --joint with the folder of their joint counts",
                value=self.name,
            )
        rules = load_game(self.name)
        menu = menu_of(rules, **self._menu)
        return Problem.exact(rules, menu, self.symmetry)  # type: ignore[arg-type]


def build(
    problem: Problem, dtype: str, methods: Sequence[str], *, force: bool, device: str = "cpu"
) -> tuple[SequenceGame, Description]:
    """Build a game if its forecast fits memory, or by force; print the forecast if it is large."""
    needed = problem.forecast(dtype, methods)
    if not force:
        needed.check(problem.name)
    if needed.bytes > _LARGE:
        print(f"{problem.name}: {problem.forecast(dtype, methods, device)}", file=sys.stderr)
    game, description = problem.build()
    return game.on(device), description


def device_of(wanted: str, problem: Problem, solver: Solver, dtype: str, *, force: bool) -> str:
    """Return where a game is solved, cpu or gpu; print it if it is the GPU, or why it is not."""
    return announced(choose_device(wanted, lambda: problem.check_gpu(solver, dtype, force=force)))


def announced(chosen: Chosen) -> str:
    """Return the name of a device; print it if it is the GPU, or why it is not."""
    if chosen.name == "gpu" or chosen.why:
        print(chosen.text, file=sys.stderr)
    return chosen.name


def warn_precision(target: float | None, dtype: str) -> None:
    """Print a warning if float32 is too coarse for the target."""
    if dtype == "float32" and target is not None and target < _FLOAT32_SHOWS:
        print(f"equilibrist: float32 may not reach {target:g}; use float64", file=sys.stderr)


def default_evaluate_every(solver: Solver) -> int | None:
    """Return the default number of iterations between evaluations; None: that of `solve`."""
    return METHODS[solver.name].evaluate_every if solver.name in METHODS else None


def check_output(out: Path | None, resume: bool, kind: str = KIND) -> None:
    """Raise an error if `out` would be overwritten, or has no run to resume."""
    if resume and out is None:
        raise InvalidValueError("--resume needs --out, the folder of the run to continue")
    if out is None:
        return
    is_there = (out / MANIFEST).exists()
    if resume and not is_there:
        raise StorageError(f"{out} holds no run to resume", value=str(out))
    check_target(out, kind)  # accepts leftovers of a run killed before its first checkpoint
    if is_there and not resume:
        raise StorageError(
            f"{out} holds a {kind}; choose another folder, or --resume to continue it",
            value=str(out),
        )


def result(
    game: SequenceGame, solver: Solver, run: Run, out: Path | None, goal: Goal | None = None
) -> dict[str, Any]:
    """Return the result of a run as JSON."""
    found = run.evaluation
    return {
        "game": game.name,
        "method": solver.name,
        **evaluation_fields(game, found),
        "iterations": int(run.state["iteration"]),
        "seconds": round(run.seconds, 6),
        "infosets": game.num_infosets,
        "outcome": run.outcome.name.lower(),
        "out": None if out is None else str(out),
        **(goal.data() if goal else NO_GOAL),
    }


def evaluation_fields(game: SequenceGame, found: Evaluation) -> dict[str, Any]:
    """Return value, exploitability and both best responses as JSON, with their unit."""
    return {
        "value": found.value,
        "exploitability": found.exploitability,
        "nash_conv": found.nash_conv,
        "best_response": list(found.best_response),
        "unit": found.unit,
        **mbb_per_game(game.rules, found),
    }


def result_text(game: SequenceGame, solver: Solver, run: Run, goal: Goal | None = None) -> str:
    """Return the result of a run in two sentences."""
    found = run.evaluation
    return (
        f"{game.name} by {solver.name}: value {found.value:.9g} {found.unit}, exploitability "
        f"{amount(game, found)} after {int(run.state['iteration']):,} iterations in "
        f"{run.seconds:.2f} s; {outcome_words(run, goal)}"
    )


def outcome_words(run: Run, goal: Goal | None) -> str:
    """Return how a run ended, and its target if it had one."""
    return run.outcome.value if goal is None else f"{run.outcome.value}; target {goal}"


def amount(game: SequenceGame, found: Evaluation) -> str:
    """Return exploitability as text in the game's unit, and in mbb/g if it has a big blind."""
    parts = [f"{share:.6g} {unit}" for unit, share in mbb_per_game(game.rules, found).items()]
    return f"{found.exploitability:.6g} {found.unit}" + "".join(f" ({part})" for part in parts)


def compare_row(solver: Solver, run: Run) -> tuple[object, ...]:
    """Return a run's row of the comparison table."""
    found = run.evaluation
    return (
        solver.name,
        int(run.state["iteration"]),
        f"{run.seconds:.2f}",
        f"{found.exploitability:.3e}",
        f"{found.value:.9f}",
    )


def draw_curves(curves: list[Curve], figure: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw exploitability against iterations, one panel per game, and Figure S1 beside them."""
    panels: dict[str, dict[str, tuple[Any, Any]]] = {}
    for curve in curves:
        panels.setdefault(curve.game, {})[curve.method] = (curve.iterations, curve.exploitability)
    bars = Bars(
        "limit hold'em (Figure S1; ours in orange)",
        "exploitability, mbb/g",
        {row["name"]: row["real_game"] for row in figure},
        [row["name"] for row in figure if row["ours"]],
    )
    draw_panels(panels, "iterations", "exploitability, chips", path, bars)
