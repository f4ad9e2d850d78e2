"""Certificates of stored solutions and spots: check that stated numbers follow from the arrays.

A folder states a value, both best responses, their mean (the exploitability), a unit, a number of
iterations and a trace whose last row is the same evaluation. `check` builds the game from its
description, computes the best responses from the arrays, and lists every statement that does not
hold. No other module compares certificates.

How far numbers may be apart. They are computed by the same program from the same arrays, so they
differ only where sums are taken in another order: by another number of threads, or by another
library of matrix products. Measured: at most 2e-16 of the largest payoff in float64 and 6e-8 where
sums are in float32 (spots, and matrices of more than 10⁸ cells). Allowed are 1e-9 and 1e-6 of it,
which is less than any digit that is printed. A plan may miss the constraints of a realization plan
by 1e-9, or by 1e-5 if its numbers were float32, and be as far from the plan that the method's own
arrays give, because some methods mix plans by a product of matrices. What is only copied (the
trace's last row, the number of iterations) must be equal.

Checksums find damage; this finds numbers that the arrays do not support, whoever wrote them. It
does not say who wrote them, nor that the game is the one that is wanted: its name and rules are
part of the report.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from equilibrist import stopping
from equilibrist.errors import InvalidValueError, SolverError
from equilibrist.games.catalog import game_names, get_game
from equilibrist.games.rules import parse_rules
from equilibrist.models.game import SequenceGame
from equilibrist.phases import phase
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.counter import METHODS as RESPONSES
from equilibrist.solving.linear_program import largest_payoff
from equilibrist.solving.methods import get_method, method_names
from equilibrist.solving.solve import check_finite
from equilibrist.solving.spot_run import KIND as SPOT
from equilibrist.solving.spot_run import SolvedSpot
from equilibrist.solving.state_schema import check_state
from equilibrist.storage.artefact import Artefact, open_artefact, read_identity
from equilibrist.storage.schema import Fields
from equilibrist.strategies.description import Description, GameDescription
from equilibrist.strategies.evaluation import Evaluation, PotShares
from equilibrist.strategies.solution import Solution, game_of, plan_error

EXACT, ROUNDED = 1e-9, 1e-6  # differences allowed with float64 and float32, × the largest payoff
PLAN, ROUNDED_PLAN = 1e-9, 1e-5  # how far a plan may miss its constraints


@dataclass(frozen=True, eq=False)
class Proof:
    """Numbers computed from the arrays of a folder, those that it states, and every difference."""

    game: SequenceGame
    method: str
    iterations: int
    found: Evaluation  # computed from the arrays
    stated: Evaluation  # stored in the folder
    plan_error: float  # how far the plans miss their constraints; 0 for spots, which have no plans
    faults: tuple[str, ...]  # sentences without a full stop; empty if everything holds
    seconds: float  # time that the best responses took
    pot: float | None = None  # at the start of a spot, in its unit; None for solutions

    @property
    def shares(self) -> PotShares | None:
        """Return what each seat of a spot expects of its pot; None for solutions."""
        return None if self.pot is None else PotShares(self.found, self.pot)

    @property
    def matches(self) -> bool:
        """Return whether every statement holds."""
        return not self.faults


def check(folder: str | Path) -> Proof:
    """Compute the certificate of the solution or solved spot in a folder again from its arrays.

    Raises `StorageError` for a folder that does not hold a valid one, and `SolverError` if its
    arrays do not give finite numbers.
    """
    try:
        return _check_spot(folder) if read_identity(folder).kind == SPOT else _check_plans(folder)
    except InvalidValueError as error:
        raise SolverError(f"{folder} proves nothing: {error}", value=str(folder)) from None


def agree(found: Evaluation, stated: Evaluation, allowed: float) -> list[str]:
    """Return a sentence for each pair of numbers that differ by more than `allowed`.

    Example:
        >>> agree(Evaluation(0, (1, 1), "chips"), Evaluation(0.5, (1, 1), "chips"), 1e-9)
        ['the value is 0 chips, not 0.5 as stated']
    """
    pairs = {
        "the value": (found.value, stated.value),
        "player 0's best response": (found.best_response[0], stated.best_response[0]),
        "player 1's best response": (found.best_response[1], stated.best_response[1]),
        "the exploitability": (found.exploitability, stated.exploitability),
        "the expected rake": (found.rake or 0.0, stated.rake or 0.0),
    }
    faults = [
        f"{name} is {ours:.12g} {found.unit}, not {theirs:.12g} as stated"
        for name, (ours, theirs) in pairs.items()
        if not abs(ours - theirs) <= allowed
    ]
    if found.unit != stated.unit:
        faults.append(f"the unit is {found.unit}, not {stated.unit!r} as stated")
    return faults


def _check_plans(folder: str | Path) -> Proof:
    artefact = open_artefact(folder, in_memory=True)
    solution = Solution.of(artefact)
    game, stated = game_of(solution), solution.certificate
    is_rounded = solution.settings.get("dtype") == "float32"
    allowed = ROUNDED_PLAN if is_rounded else PLAN
    with phase("checking the strategies"):
        error = max(plan_error(game, player, solution.plans[player]) for player in (0, 1))
    stopping.check()
    start = time.perf_counter()
    found = evaluate(game, solution.plans)
    seconds = time.perf_counter() - start
    certificate = Fields.info(artefact).part("certificate")
    faults = [
        *_game_faults(solution.game, game),
        *_plan_faults(solution, error, allowed),
        *agree(found, stated, _allowed(game)),
        *_exploitability_faults(certificate, stated),
        *_trace_faults(solution.trace, stated, solution.iterations, solution.seconds),
        *_state_faults(artefact, game, solution, allowed),
    ]
    method, iterations = solution.method, solution.iterations
    return Proof(game, method, iterations, found, stated, error, tuple(faults), seconds)


def _check_spot(folder: str | Path) -> Proof:
    spot = SolvedSpot.open(folder, for_resume=True)
    assert spot.subgame is not None
    game, run = spot.subgame.game, spot.run
    check_finite(run.state)
    stopping.check()
    start = time.perf_counter()
    with phase("computing best responses"):
        found = spot.solver.evaluate(game, run.state)
    seconds = time.perf_counter() - start
    stated, artefact = run.evaluation, open_artefact(folder, blockwise=True)
    info = Fields.info(artefact)
    iterations = info.whole("iterations")
    faults = [
        *(
            f"{name} holds negative numbers"
            for name, array in run.state.items()
            if "average" in name and array.size and array.min() < 0
        ),
        *agree(found, stated, ROUNDED * largest_payoff(game)),
        *_exploitability_faults(info, stated),
        *_trace_faults(artefact.arrays["trace"], stated, iterations, run.seconds),
        *_same("number of iterations of its arrays", int(run.state["iteration"]), iterations),
    ]
    name, pot = spot.solver.name, spot.shares.pot
    return Proof(game, name, iterations, found, stated, 0.0, tuple(faults), seconds, pot)


# --- stated numbers -------------------------------------------------------------------------------


def _allowed(game: SequenceGame) -> float:
    is_rounded = game.pairs.joint.dtype == np.float32
    return (ROUNDED if is_rounded else EXACT) * largest_payoff(game)


def _game_faults(described: Description, game: SequenceGame) -> Iterator[str]:
    """Yield a fault if the game is not the one of its name."""
    if described.name != game.name:
        yield f"the game is {game.name}, not {described.name!r} as stated"
    if not isinstance(described, GameDescription) or described.name not in game_names():
        return
    if parse_rules(described.rules, described.name) != get_game(described.name):
        yield f"the rules are not those of {described.name}; another game needs another name"


def _plan_faults(solution: Solution, error: float, allowed: float) -> Iterator[str]:
    for player, plan in enumerate(solution.plans):
        if not plan.min() >= 0:
            yield f"player {player}'s plan holds negative numbers"
    if not error <= allowed:
        yield f"the plans miss the constraints of realization plans by {error:.3g}"


def _exploitability_faults(info: Fields, stated: Evaluation) -> Iterator[str]:
    """Yield a fault if the exploitability or unit differs from that of the certificate."""
    exploitability, unit = info.number("exploitability"), info.text("unit")
    if not is_same(exploitability, stated.exploitability):
        yield (
            f"the stated exploitability {exploitability:.12g} is not the mean of the stated best "
            f"responses, {stated.exploitability:.12g}"
        )
    yield from _same("unit", stated.unit, unit)


def _trace_faults(
    trace: NDArray[np.float64], stated: Evaluation, iterations: int, seconds: float
) -> Iterator[str]:
    """Yield a fault unless a trace grows, is consistent, and ends with the stated numbers."""
    if not len(trace):
        return
    if not np.isfinite(trace).all():
        yield "the trace holds numbers that are not finite"
        return
    if not (np.diff(trace[:, 0]) > 0).all():
        yield "the iterations of the trace do not increase"
    if not (np.diff(trace[:, 1], prepend=0.0) >= 0).all():
        yield "the seconds of the trace decrease"
    yield from _same("last iteration of the trace", int(trace[-1, 0]), iterations)
    if not is_same(float(trace[-1, 1]), seconds):
        yield f"the trace ends after {trace[-1, 1]:.6g} s, not after {seconds:.6g} as stated"
    numbers = (stated.exploitability, *stated.best_response, stated.value, stated.rake or 0.0)
    last = numbers[: trace.shape[1] - 2]
    if not all(map(is_same, trace[-1, 2:].tolist(), last)):
        yield "the last row of the trace is not the certificate"
    gained = trace[:, 3:5].sum(axis=1) + trace[:, 6:].sum(axis=1)  # a rake is in column 6
    if trace.shape[1] > 3 and not np.allclose(trace[:, 2], gained / 2, 1e-12, 1e-12):
        yield "the trace states exploitabilities that are not the mean of its best responses"


def _state_faults(
    artefact: Artefact, game: SequenceGame, solution: Solution, allowed: float
) -> Iterator[str]:
    """Whether the method's own arrays, from which a run goes on, give the plans."""
    if not solution.state:
        return
    if solution.method in RESPONSES:  # stopped early: the states are of other games
        return
    if solution.method not in method_names():
        yield f"no method is called {solution.method!r}"
        return
    solver = get_method(solution.method, solution.settings.get("dtype", "float64"))
    check_state(artefact, solver.name, solver.init(game, solution.seed))
    state = dict(solution.state)
    done = int(state["iteration"])
    yield from _same("number of iterations of its arrays", done, solution.iterations)
    for player, (plan, stored) in enumerate(
        zip(solver.plans(game, state), solution.plans, strict=True)
    ):
        if not np.abs(plan - stored).max() <= allowed:
            yield f"player {player}'s plan is not the one that the method's own arrays give"


def _same(what: str, found: object, stated: object) -> Iterator[str]:
    if found != stated:
        yield f"the {what} is {found}, not {stated!r} as stated"


def is_same(first: float, second: float) -> bool:
    """Return whether numbers are equal except for the rounding of a sum."""
    return math.isclose(first, second, rel_tol=1e-12, abs_tol=1e-12)
