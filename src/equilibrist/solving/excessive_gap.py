"""Nesterov's excessive gap technique on sequence-form games, as GS3 used it.

Sources: Nesterov 2005 (excessive gap technique), Hoda, Gilpin, Peña and Sandholm 2010 (its treeplex
form and the aggressive heuristics). Both players maximise: player i's gradient against the other's
plan is g_i, and with a distance d_i (`dilated_entropy.py`) and a smoothing μ_i > 0

    F_i = max_z ⟨g_i, z⟩ − μ_i d_i(z)                       the smoothed best-response value,

attained at the smoothed response r_i. As d_i ≤ D_i, F_i is at most the best-response value and at
least that − μ_i D_i. The *excessive gap condition* on a pair of plans is

    E = −(F_0 + F_1) ≥ 0,   so   NashConv ≤ F_0 + F_1 + μ_0 D_0 + μ_1 D_1 ≤ μ_0 D_0 + μ_1 D_1.

Start (Nesterov, lemma 5.1; Hoda et al., algorithm 1): from the centre c_1 of player 1's treeplex,
z_0 = r_0 against c_1, then z_1 = r_1 against z_0. E ≥ 0 if μ_0 μ_1 is large enough. The least such
μ = μ_0 = μ_1 falls with the game's size (2⁻⁴ of what is at stake on Kuhn, 2⁻¹⁷ on SmallBot), so we
search it among powers of two: from a small one by steps of 16, then between the last two. With
larger steps rounding errors would exceed E.

Step (Nesterov, theorem 5.2): the smoothing of the player i whose μ_i D_i is larger (balancing)
shrinks by 1 − τ; j is the other player:

    z_j' = r_j against (1 − τ) z_i + τ r_i                       with μ_j
    z_j ← (1 − τ) z_j + τ z_j',   μ_i ← (1 − τ) μ_i
    r_i ← r_i against the new z_j                                with the new μ_i
    z_i ← (1 − τ) z_i + τ r_i

The paper's third line is a Bregman projection from the old r_i along g_i(z_j'). For entropy the
logarithms add up, and it is the smoothed response to the new z_j, which the next test of E needs
anyway. Gradients are linear, so those of plans are combined like the plans: an attempt costs two
products, and one more when the other player's turn comes.

τ is found by trial: it is halved until E ≥ 0 holds, and it grows again after every success, so it
is as large as the game allows and at least half of what the theory promises (O(1/ε) steps).

Centring (`centring=True`), after Gilpin, Peña and Sandholm 2012 (iterated smoothing): each time
NashConv has fallen to a fraction of its value at the centre, start again with the present pair as
the centre of the distances, which are then measured from the present pair, not from uniform play.
Until the pair is better the result is the centre. The bound holds but is weak, as D is large
(logarithms of small probabilities). Linear convergence is proved for Euclidean distances only;
measured here: from 10² steps on Kuhn and 10⁴ on Leduc it is far ahead.

Sums that decide (F, E, NashConv) are float64 over vectors of float64 or float32. Condition and
bound are checked at every step: when rounding breaks them the run ends and says so (`GapOutcome`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, NamedTuple

import numpy as np

from equilibrist.errors import InvalidValueError
from equilibrist.models.game import BEST, Floats, SequenceGame, check_zero_sum
from equilibrist.solving.best_response import best_response
from equilibrist.solving.dilated_entropy import (
    WEIGHT_SCHEMES,
    Prox,
    WeightScheme,
    centre_offset,
    centre_plan,
    choices,
    diameter,
    dilation_weights,
    smoothed_response,
)
from equilibrist.solving.solver import State

_PARTS = ("plan", "gradient", "response", "pull")
_SMALLEST_STEP = 1e-12  # a smaller τ has no effect
_ROUNDING = 64  # rounding error of sums over a game, in multiples of the machine's precision
_NEARLY = 1000  # a bound below this × the tolerance cannot improve because of rounding
_CENTRE_FLOOR = 1e-12  # approximate least probability of an action at a centre
_STRIDE = 4  # number of doublings of the first smoothing between two trials
_MOST_DOUBLINGS = 80  # maximum number of doublings


class GapOutcome(Enum):
    """Outcome of a run; `remedy` says what to do next."""

    RUNNING = (0, "continue")
    AT_PRECISION = (1, "the gap is as small as this precision can prove: use float64, or stop here")
    BREAKDOWN = (2, "rounding broke the excessive gap condition: use float64 or farina21 weights")

    def __init__(self, code: int, remedy: str) -> None:
        self.code = code
        self.remedy = remedy

    @classmethod
    def of(cls, state: State) -> GapOutcome:
        """Return the outcome that a state holds."""
        return next(outcome for outcome in cls if outcome.code == int(state["outcome"]))


class _Side(NamedTuple):
    """One player's arrays of the state, updated in place; each [L] of the player or the other."""

    plan: Floats  # [L] z
    gradient: Floats  # [L] g, against the other's plan
    response: Floats  # [L] r, smoothed response to that gradient
    pull: Floats  # [L of the other] the other's gradient against r
    prox: Prox


class _Attempt(NamedTuple):
    """Result of a step for both sides, before it is accepted."""

    answer: Floats  # [L of j] z_j'
    pull: Floats  # [L of j] gradient against the new r_i
    gradients: tuple[Floats, Floats]  # g_i and g_j against the new plans
    responses: tuple[Floats, Floats]  # r_i and r_j to these
    values: tuple[float, float]  # F_i and F_j


@dataclass(frozen=True)
class ExcessiveGap:
    """Hyper-parameters of the excessive gap technique.

    Example:
        >>> from equilibrist.models.exact import matrix_game
        >>> game = matrix_game([[3, 0], [1, 2]])
        >>> egt = ExcessiveGap()
        >>> state = egt.init(game)
        >>> egt.step(game, state, 1000)
        >>> [plan.round(2).tolist() for plan in egt.plans(game, state)]
        [[1.0, 0.25, 0.75], [1.0, 0.5, 0.5]]
    """

    weights: WeightScheme = "farina21"
    centring: bool = False
    step_growth: float = 1.1  # growth of τ after a success
    largest_step: float = 0.5
    restart_factor: float = 0.25  # centring: restart when NashConv is below this × the centre's
    dtype: str = "float64"  # or float32
    name: str = "egt"

    runs_on_gpu: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.weights not in WEIGHT_SCHEMES:
            raise InvalidValueError(
                f"weights must be {', '.join(WEIGHT_SCHEMES)}, not {self.weights}",
                value=self.weights,
            )
        if not (
            self.step_growth >= 1 and 0 < self.largest_step < 1 and 0 < self.restart_factor < 1
        ):
            raise InvalidValueError(
                "the step and the restart factor must be in (0, 1), and the step growth at least 1",
                value=(self.step_growth, self.largest_step, self.restart_factor),
            )

    def init(self, game: SequenceGame, seed: int = 0) -> State:
        """Return the first pair with an excessive gap; nothing is random."""
        check_zero_sum(game)
        state: State = {
            "iteration": np.array(0),
            "outcome": np.array(GapOutcome.RUNNING.code),
            "attempts": np.array(0),  # number of steps tried, accepted or not
            "tau": np.array(self.largest_step),
            "mu": np.ones(2),
            "diameter": np.zeros(2),
            "value": np.zeros(2),  # F
            "nash_conv": np.array(np.inf),
            "restart_below": np.array(0.0),
            "breakdown": np.array(False),
            "finished": np.array(False),
            "pulled": np.zeros(2, np.bool_),  # whether `pull` belongs to `response`
        }
        for i in (0, 1):
            uniform = game.uniform(i, self.dtype)
            state[f"plan{i}"] = game.realize(i, uniform)
            weights = dilation_weights(game, i, self.weights).astype(self.dtype)
            state[f"weights{i}"] = np.asarray(weights, like=uniform)
            state[f"offset{i}"] = np.zeros_like(uniform)
            state[f"response{i}"] = np.zeros_like(uniform)
        for i in (0, 1):
            state[f"gradient{i}"] = np.zeros_like(state[f"plan{i}"])
            state[f"pull{i}"] = np.zeros_like(state[f"plan{1 - i}"])
        scale = _scale(game)
        state["tolerance"] = np.array(_ROUNDING * float(np.finfo(self.dtype).eps) * scale)
        state["first_mu"] = np.array(2.0**-30 * scale)
        self._start(game, state, _sides(game, state))
        return state

    def step(self, game: SequenceGame, state: State, steps: int) -> None:
        """Run `steps` more iterations in place; does nothing unless the outcome is running."""
        sides = _sides(game, state)
        for _ in range(steps):
            if int(state["outcome"]) != GapOutcome.RUNNING.code:
                return
            self._iterate(game, state, sides)

    def plans(self, game: SequenceGame, state: State) -> tuple[Floats, Floats]:
        """Return the pair with the excessive gap, or the centres while these are better."""
        if self.restart_factor * state["nash_conv"] <= state["restart_below"]:
            return state["plan0"], state["plan1"]
        first, second = _sides(game, state)
        return centre_plan(game, 0, first.prox), centre_plan(game, 1, second.prox)

    def _start(self, game: SequenceGame, state: State, sides: tuple[_Side, _Side]) -> None:
        """Centre the distances at the present plans; find the first pair and its smoothing."""
        for i, side in enumerate(sides):
            centre = _inner_behaviour(game, i, side)
            game.realize(i, centre, side.plan)
            side.prox.offset[:] = centre_offset(side.prox, centre)
            state["diameter"][i] = diameter(game, i, side.prox)
        for i, side in enumerate(sides):
            game.gradient(i, sides[1 - i].plan, side.gradient)
        state["restart_below"][()] = self.restart_factor * _nash_conv(game, sides)
        towards = sides[0].gradient.copy()
        least = float(state["first_mu"]) / 4

        def has_gap(doublings: int) -> bool:
            _first_pair(game, state, sides, towards, least * 2.0**doublings)
            return excessive_gap(state) >= -float(state["tolerance"])

        found = least_that(has_gap, _STRIDE, _MOST_DOUBLINGS)
        if state["mu"][0] != least * 2.0**found:
            has_gap(found)
        state["first_mu"][()] = state["mu"][0]
        state["pulled"][:] = False
        state["tau"][()] = self.largest_step
        state["nash_conv"][()] = _nash_conv(game, sides)
        _judge(state)

    def _iterate(self, game: SequenceGame, state: State, sides: tuple[_Side, _Side]) -> None:
        """Run one accepted step, or set an outcome."""
        i = int(np.argmax(state["mu"] * state["diameter"]))
        if not state["pulled"][i]:
            game.gradient(1 - i, sides[i].response, sides[i].pull)
            state["pulled"][i] = True
        tau = float(state["tau"])
        while True:
            attempt = _attempt(game, sides, i, state["mu"], tau)
            state["attempts"] += 1
            if -sum(attempt.values) >= -state["tolerance"]:
                break
            tau /= 2
            if not tau >= _SMALLEST_STEP:
                at_precision = smoothing_bound(state) <= _NEARLY * state["tolerance"]
                _end(state, GapOutcome.AT_PRECISION if at_precision else GapOutcome.BREAKDOWN)
                return
        _accept(state, sides, i, tau, attempt)
        state["tau"][()] = min(tau * self.step_growth, self.largest_step)
        state["nash_conv"][()] = _nash_conv(game, sides)
        state["iteration"] += 1
        _judge(state)
        if self.centring and state["nash_conv"] < state["restart_below"]:
            self._start(game, state, sides)


def least_that(holds: Callable[[int], bool], stride: int, most: int) -> int:
    """Return the least number ≥ 0 that passes a test, if all above it do; above `most`, untested.

    Example:
        >>> tried = []
        >>> least_that(lambda number: tried.append(number) or number >= 6, 4, 80), tried
        (6, [0, 4, 8, 6, 5])
    """
    passed = 0
    while passed <= most and not holds(passed):
        passed += stride
    failed = max(passed - stride, -1)
    while passed - failed > 1:
        number = (failed + passed) // 2
        failed, passed = (failed, number) if holds(number) else (number, passed)
    return passed


def excessive_gap(state: State) -> float:
    """Return E = −(F_0 + F_1), in the game's unit."""
    return -float(state["value"].sum())


def smoothing_bound(state: State) -> float:
    """Return μ_0 D_0 + μ_1 D_1, which NashConv does not exceed, in the game's unit."""
    return float(state["mu"] @ state["diameter"])


def _sides(game: SequenceGame, state: State) -> tuple[_Side, _Side]:
    """Return views of a state's arrays by player."""

    def side(i: int) -> _Side:
        weights = state[f"weights{i}"]
        behaviour = game.uniform(i, weights.dtype)
        prox = Prox(behaviour, weights, state[f"offset{i}"], choices(game, i))
        plan, gradient, response, pull = (state[f"{part}{i}"] for part in _PARTS)
        return _Side(plan, gradient, response, pull, prox)

    return side(0), side(1)


def _first_pair(
    game: SequenceGame, state: State, sides: tuple[_Side, _Side], towards: Floats, mu: float
) -> None:
    """Write player 0's smoothed response to the gradient `towards`, and player 1's to it."""
    first, second = sides
    state["mu"][:] = mu
    first.plan[:] = smoothed_response(game, 0, first.prox, towards, mu)[1]
    game.gradient(1, first.plan, second.gradient)
    value, second.plan[:] = smoothed_response(game, 1, second.prox, second.gradient, mu)
    second.response[:] = second.plan
    game.gradient(0, second.plan, first.gradient)
    state["value"][1] = value
    state["value"][0], first.response[:] = smoothed_response(
        game, 0, first.prox, first.gradient, mu
    )


def _inner_behaviour(game: SequenceGame, i: int, side: _Side) -> Floats:
    """Return the behaviour of a side's plan, with every action of a choice at least at a floor."""
    behaviour = game.behaviour(i, side.plan)
    num_actions = 1 / game.uniform(i, behaviour.dtype)  # at choices
    inner = (behaviour + _CENTRE_FLOOR) / (1 + num_actions * _CENTRE_FLOOR)
    return np.where(side.prox.chosen, inner, behaviour).astype(behaviour.dtype)


def _attempt(
    game: SequenceGame, sides: tuple[_Side, _Side], i: int, mu: Floats, tau: float
) -> _Attempt:
    """Try a step of length τ that shrinks player i's smoothing."""
    j = 1 - i
    own, other = sides[i], sides[j]
    towards = _blend(other.gradient, own.pull, tau)
    answer = smoothed_response(game, j, other.prox, towards, float(mu[j]))[1]
    gradient = _blend(own.gradient, game.gradient(i, answer), tau)
    value, response = smoothed_response(game, i, own.prox, gradient, (1 - tau) * float(mu[i]))
    pull = game.gradient(j, response)
    gradients = (gradient, _blend(other.gradient, pull, tau))
    other_value, other_response = smoothed_response(game, j, other.prox, gradients[1], float(mu[j]))
    responses = (response, other_response)
    return _Attempt(answer, pull, gradients, responses, (value, other_value))


def _accept(
    state: State, sides: tuple[_Side, _Side], i: int, tau: float, attempt: _Attempt
) -> None:
    """Copy an attempt into the state."""
    own, other = sides[i], sides[1 - i]
    own.plan[:] = _blend(own.plan, attempt.responses[0], tau)
    other.plan[:] = _blend(other.plan, attempt.answer, tau)
    own.gradient[:], other.gradient[:] = attempt.gradients
    own.response[:], other.response[:] = attempt.responses
    own.pull[:] = attempt.pull
    state["pulled"][1 - i] = False
    state["mu"][i] *= 1 - tau
    state["value"][i], state["value"][1 - i] = attempt.values


def _blend(old: Floats, new: Floats, tau: float) -> Floats:
    """Return (1 − τ) old + τ new."""
    return old + old.dtype.type(tau) * (new - old)


def _nash_conv(game: SequenceGame, sides: tuple[_Side, _Side]) -> float:
    """Return what both best responses win against the plans, from the stored gradients."""
    return sum(
        game.fold_up(i, BEST, side.gradient.copy(), side.prox.behaviour)
        for i, side in enumerate(sides)
    )


def _judge(state: State) -> None:
    """Check the condition and the bound; set an outcome if they fail or are at the precision."""
    tolerance, nash_conv = float(state["tolerance"]), float(state["nash_conv"])
    bound = smoothing_bound(state)
    if not (excessive_gap(state) >= -tolerance and nash_conv <= bound + tolerance):
        _end(state, GapOutcome.BREAKDOWN)
    elif min(bound, nash_conv) <= tolerance:
        _end(state, GapOutcome.AT_PRECISION)


def _end(state: State, outcome: GapOutcome) -> None:
    """Write an outcome into the state."""
    state["outcome"][()] = outcome.code
    state["breakdown"][()] = outcome is GapOutcome.BREAKDOWN
    state["finished"][()] = outcome is GapOutcome.AT_PRECISION


def _scale(game: SequenceGame) -> float:
    """Return the payoffs at stake between uniform play and a best response, all signs positive."""
    uniform = game.realize(0, game.uniform(0))
    response = game.realize(1, best_response(game, 1, uniform)[1])
    return float(uniform @ np.abs(game.gradient(0, response))) or 1.0
