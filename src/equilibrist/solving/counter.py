"""Counter-strategies: responses to a model of an opponent, for both seats, with what they can lose.

`respond` computes one in a game: a restricted Nash response (`rnr`), a data-biased response (`dbr`)
or a frequentist best response (`fbr`), which trusts its model completely. Each seat is a game of
its own (`solving.restricted_nash`, `solving.data_biased`), solved by CFR+. The result is a pair of
plans of the whole game, so it is stored as a solution: its certificate is the exploitability.

While a run is computed, its folder holds the plans so far and the states of CFR+ to resume from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np

from equilibrist.errors import InvalidValueError, UnknownNameError
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.models.observed import Observed
from equilibrist.solving.best_response import best_response, evaluate
from equilibrist.solving.cfr import CFR
from equilibrist.solving.data_biased import Confidence, DataBiased
from equilibrist.solving.restricted_nash import RestrictedNash, check_share
from equilibrist.solving.solve import Budget, Outcome, Row, Run, solve
from equilibrist.solving.state_schema import check_given_state
from equilibrist.storage.array_file import damaged
from equilibrist.storage.artefact import open_artefact
from equilibrist.storage.checkpoint import another_run, check_same_run
from equilibrist.storage.manifest import MANIFEST
from equilibrist.storage.schema import ArrayRule, check_arrays
from equilibrist.strategies.description import Description, same_game
from equilibrist.strategies.evaluation import Evaluation
from equilibrist.strategies.solution import KIND, STATE, Solution

METHODS: Final = {
    "rnr": "restricted Nash response",
    "dbr": "data-biased response",
    "fbr": "frequentist best response",
}
_GAP = "gap"  # setting of a finished response: how far it is from optimal at most
_TRACE = "trace"  # evaluations of a seat's run, among its arrays


@dataclass(frozen=True, eq=False)
class Model:
    """What is assumed of an opponent: behaviour in both seats, and how often it was observed.

    Of a strategy that sees other buckets than the game, only the `winnings` from it are known.
    """

    behaviour: tuple[Floats, Floats] | None  # [L] of player 0 and of player 1
    observed: tuple[Observed, Observed] | None = None  # None: the strategy is known, not observed
    winnings: tuple[Floats, Floats] | None = None  # [L] of each row of the responder, by its seat

    @property
    def hands(self) -> int | None:
        """Number of hands that were observed; None if the strategy is known."""
        return None if self.observed is None else sum(seat.hands for seat in self.observed)

    def wins(self, game: SequenceGame, seat: int) -> Floats:
        """Return what each row of a responder at a seat wins from the opponent: [L]."""
        if self.behaviour is None:
            assert self.winnings is not None
            return self.winnings[seat]
        theirs = game.realize(1 - seat, np.asarray(self.behaviour[1 - seat], np.float64))
        return game.gradient(seat, theirs)


@dataclass(frozen=True)
class Method:
    """The method of a response, and how far it trusts the model.

    Example:
        >>> Method("dbr", 0.9, "10-step").settings
        {'p': 0.9, 'confidence': '10-step'}
    """

    name: str  # rnr, dbr or fbr
    p: float = 1.0  # probability that the opponent plays as the model, or (dbr) at most; fbr: 1
    confidence: str = "10-curve"  # dbr: P of an observed decision by its number of observations

    def __post_init__(self) -> None:
        if self.name not in METHODS:
            raise UnknownNameError(
                f"no method of responding is called {self.name[:40]!r}; choose "
                f"{', '.join(METHODS)}",
                value=self.name,
            )
        check_share(self.p)
        Confidence.parse(self.confidence, self.p)
        if self.name == "fbr":
            object.__setattr__(self, "p", 1.0)

    @property
    def settings(self) -> dict[str, Any]:
        """Return the settings that the method uses, by name."""
        if self.name == "fbr":
            return {}
        return {"p": self.p} | ({"confidence": self.confidence} if self.name == "dbr" else {})

    @property
    def is_best_response(self) -> bool:
        """Return whether the response is a best response to the model: one fold-up, no solver."""
        return self.name != "dbr" and self.p == 1

    def game(self, game: SequenceGame, model: Model, seat: int) -> SequenceGame:
        """Return the game between the responder at a seat and the opponent as it is assumed."""
        other = 1 - seat
        if self.name != "dbr":
            return RestrictedNash.against(game, other, model.wins(game, seat), self.p)
        if model.behaviour is None:
            raise InvalidValueError(
                "a data-biased response needs the target's actions in the buckets of "
                f"{game.name}, and it plays by others: observe it for some hands (--hands, or "
                "hands=), or use rnr",
                value=self.name,
            )
        behaviour = model.behaviour[other]
        if model.observed is None:
            share = np.full(len(behaviour), self.p)
        else:
            visits = model.observed[other].visits(game)
            share = Confidence.parse(self.confidence, self.p).of(visits)
        return DataBiased.of(game, other, behaviour, share)


@dataclass(eq=False)
class Seats:
    """A response so far: the run of each seat, or its best response."""

    game: SequenceGame
    model: Model
    method: Method
    dtype: str = "float64"
    runs: list[Run | None] = field(default_factory=lambda: [None, None])
    best: list[Floats | None] = field(default_factory=lambda: [None, None])
    stored: Solution | None = None  # a finished response that was opened

    @property
    def solver(self) -> CFR:
        """The solver of both seats: CFR+."""
        return CFR(dtype=self.dtype)

    @property
    def plans(self) -> tuple[Floats, Floats]:
        """Return the plans so far; uniform where nothing is computed."""
        first, second = (self._plan(seat) for seat in (0, 1))
        return first, second

    def _plan(self, seat: int) -> Floats:
        run, best = self.runs[seat], self.best[seat]
        if best is not None:
            return best
        if run is None:
            return self.game.realize(seat, self.game.uniform(seat))
        return np.asarray(self.solver.plans(self.game, run.state)[seat], np.float64)

    @property
    def iterations(self) -> int:
        """Number of iterations of both seats; a best response counts as one."""
        if self.stored is not None:
            return self.stored.iterations
        runs = sum(int(run.state["iteration"]) for run in self.runs if run is not None)
        return runs + sum(best is not None for best in self.best)

    @property
    def seconds(self) -> float:
        """Time of the iterations of both seats."""
        if self.stored is not None:
            return self.stored.seconds
        return sum(run.seconds for run in self.runs if run is not None)

    @property
    def gap(self) -> float | None:
        """Return how far the responses are from optimal at most: the mean of both seats.

        A seat's response is worth less than the best one by at most the sum of what both best
        responses gain in the seat's own game, twice its exploitability. None if a seat has no
        response yet.
        """
        if self.stored is not None:
            gap = self.stored.settings.get(_GAP)
            return None if gap is None else float(gap)
        found = 0.0
        for run, best in zip(self.runs, self.best, strict=True):
            if best is None and (run is None or not run.trace):
                return None
            found += 0.0 if run is None or best is not None else run.evaluation.exploitability
        return found  # the mean of both seats, each twice an exploitability

    def evaluation(self) -> Evaluation:
        """Return the certificate: what best responses win from the plans in the whole game."""
        return evaluate(self.game, self.plans)

    def winnings(self, model: Model) -> tuple[float, float]:
        """Return what the plans win from a model as player 0 and as player 1, per hand."""
        first, second = (
            float(plan @ model.wins(self.game, seat)) for seat, plan in enumerate(self.plans)
        )
        return first, second


class SeatView(Protocol):
    """Shows the runs of a response, such as those of `cli.progress.shown`."""

    def begin(self, name: str, budget: Budget) -> None:
        """Start to show the run of one seat."""

    def __call__(self, run: Run) -> None:
        """Receive the state of the run."""


def respond(
    seats: Seats,
    budget: Budget,
    *,
    view: SeatView | None = None,
    save: Callable[[Seats], None] | None = None,
) -> Outcome:
    """Compute a response for both seats, or continue it; return how it ended.

    A response has reached its target only if both seats have. `save` receives it whenever a
    checkpoint is due, and when a seat ends.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.models.exact import exact_game
        >>> game = exact_game(get_game("kuhn"))
        >>> model = Model((game.uniform(0), game.uniform(1)))
        >>> found = Seats(game, model, Method("rnr", 0.5))
        >>> respond(found, Budget(target=1e-4, iterations=10_000)).name
        'TARGET_REACHED'
        >>> sum(found.winnings(model)) / 2 > 0.25
        True
    """
    outcome = Outcome.FINISHED
    for seat in (0, 1):
        game = seats.method.game(seats.game, seats.model, seat)
        if seats.method.is_best_response:  # the free part does not matter
            free = game.realize(1 - seat, game.uniform(1 - seat))
            behaviour = best_response(game, seat, free)[1]
            seats.best[seat] = seats.game.realize(seat, behaviour)
            continue
        if view is not None:
            view.begin(f"{seats.method.name} as player {seat}", budget)

        def keep(run: Run, seat: int = seat) -> None:
            seats.runs[seat] = run
            if save is not None:
                save(seats)

        run = solve(game, seats.solver, budget, run=seats.runs[seat], watch=view, save=keep)
        seats.runs[seat] = run
        if run.outcome is Outcome.INTERRUPTED:
            return run.outcome
        if outcome in (Outcome.FINISHED, Outcome.TARGET_REACHED):  # else the first seat's
            outcome = run.outcome
    return outcome


@dataclass(frozen=True, eq=False)
class ResponseStore:
    """Stores a response as a solution in a folder, and opens it to resume."""

    folder: Path
    description: Description
    target: Mapping[str, Any]  # the opponent, and what identifies the model

    def save(self, seats: Seats, *, is_finished: bool = False) -> None:
        """Write the response so far; a finished one without the states to resume from.

        A response that has only spent its budget is not finished: more of it continues the run.
        """
        found, iterations = seats.evaluation(), seats.iterations
        row = [iterations, seats.seconds, found.exploitability, *found.best_response, found.value]
        state: dict[str, Any] = {}
        for seat, run in enumerate(seats.runs if not is_finished else ()):
            if run is not None:
                arrays = run.state | {_TRACE: run.trace_array()}
                state |= {f"seat{seat}.{name}": array for name, array in arrays.items()}
        Solution(
            game=self.description,
            plans=seats.plans,
            method=seats.method.name,
            iterations=iterations,
            seconds=seats.seconds,
            certificate=found,
            trace=np.array([row], np.float64),
            settings=self._settings(seats) | ({_GAP: seats.gap} if is_finished else {}),
            state=state,
        ).save(self.folder)

    def _settings(self, seats: Seats) -> dict[str, Any]:
        return {"dtype": seats.dtype, **seats.method.settings, **self.target}

    def open(self, seats: Seats) -> bool:
        """Continue the response in the folder, if there is one; return whether it is finished.

        Raises `StorageError` if it was started in another game, or with other settings.
        """
        if not (self.folder / MANIFEST).exists():
            return False
        artefact = open_artefact(self.folder, KIND, in_memory=True)
        solution = Solution.of(artefact)
        if not same_game(solution.game, self.description):
            raise another_run(self.folder, "game", solution.game.name, self.description.name)
        stored = {"method": solution.method, **solution.settings}
        stored.pop(_GAP, None)
        wanted = {"method": seats.method.name, **self._settings(seats)}
        check_same_run(self.folder, stored, dict.fromkeys(stored) | wanted)
        lengths = zip(("plan0", "plan1"), seats.game.lengths, strict=True)
        rules = {name: ArrayRule("float64", (length,)) for name, length in lengths}
        check_arrays(artefact, rules, only="plan")
        if not solution.state:
            seats.best, seats.stored = [np.array(plan) for plan in solution.plans], solution
            return True
        for seat in (0, 1):
            prefix = f"seat{seat}."
            state = {
                name.removeprefix(prefix): np.array(array)
                for name, array in solution.state.items()
                if name.startswith(prefix)
            }
            trace = state.pop(_TRACE, None)
            if trace is None:
                continue
            if trace.ndim != 2 or trace.shape[1] != 6 or not len(trace):
                name = f"{STATE}{prefix}{_TRACE}"
                raise damaged(artefact.folder / artefact.files[name].file, "is not a trace")
            unit = seats.game.unit
            rows = [
                Row(int(t), seconds, Evaluation(value, (one, two), unit))
                for t, seconds, _, one, two, value in trace.tolist()
            ]
            first = seats.solver.init(seats.method.game(seats.game, seats.model, seat))
            check_given_state(state, seats.solver.name, first)
            seats.runs[seat] = Run(state, rows, rows[-1].seconds, is_checked=True)
        return False
