"""Generalized best responses: the best strategy against the worst mixture of a list.

Given strategies Σ′ of one player, a generalized best response (Range of Skill, definition 2) is the
other player's part of an equilibrium of the game in which the first mixes only Σ′: it maximises
what is won against the worst mixture of the list. The first player's part is the *safest mixture*
of the list, against which a best response wins least. There are three methods with the same result:

I, half a double oracle (Algorithm 2):
    1. Start with some response.
    2. Repeat: (a) solve the matrix game of responses and list; (b) add the best response to the
          list's weights to the responses.
  3. Return the mixture of the responses.

II, a linear program (equations 13–18): maximise v over plans p, where p_s = Σ_a p_{s,a} and
p_{s,a} = p_{s′} below it (13, 14), p ≥ 0 (15, 16), p = 1 at the root (17), and

    v ≤ Σ_s p_s u^σ_s   for every σ of the list                                                 (18)

with u^σ the utility vectors that a `RestrictedGame` stores. (13–17) is the sequence form, so this
is the program of `linear_program.py` for a treeplex against a simplex; the prices of (18) are the
safest mixture.

III, CFR+ on the restricted game, for games whose programs are too large: an ε′-generalized best
response in the paper's sense. Lists grow by one plan at a time and their results change little, so
it may start from its final state on the shorter list, with a part of the regrets it had there.

With every method, `value` is what the plan wins against the worst of the list and `bound` what the
best response wins against the mixture. No plan guarantees more than `bound`, so `bound − value`
proves ε′, up to the precision of the list's numbers: products are computed in that precision.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse

from equilibrist import stopping
from equilibrist.errors import InvalidValueError, SolverError, UnknownNameError
from equilibrist.kernels.gpu.memory import download
from equilibrist.models.game import BEST, Floats
from equilibrist.models.restricted import RestrictedGame
from equilibrist.models.sequence_matrix import SequenceMatrix, player_sequences
from equilibrist.solving.cfr import CFR
from equilibrist.solving.double_oracle import is_listed
from equilibrist.solving.linear_program import LinearProgram
from equilibrist.solving.matrix_lp import distribution, solve_matrix
from equilibrist.solving.solver import State

CARRIED = ("regret0", "regret1", "behaviour0", "behaviour1")  # arrays of a state of CFR+
_FIRST_CHECK = 10  # iterations of CFR+ before the gap is first evaluated; later intervals grow
_MOST_ITERATIONS = 1_000_000
_MEMORY = 0.3  # share of earlier regrets that CFR+ starts with on a longer list
_NO_REGRET = 1e-20  # smaller regrets are set to zero, before float32 cannot divide by them


@dataclass(frozen=True, eq=False)
class GeneralizedResponse:
    """ε′-generalized best response with its proof; amounts are in the game's unit."""

    plan: Floats  # [L] of the responder
    weights: Floats  # [K] the safest mixture of the list
    value: float  # what the plan wins against the worst of the list
    bound: float  # what the best response wins against the mixture
    carried: State = field(default_factory=dict)  # state of CFR+, to start from on a longer list

    @property
    def gap(self) -> float:
        """ε′: no plan does better against the worst of the list by more than this."""
        return self.bound - self.value


def generalized_best_response(
    game: RestrictedGame,
    method: str = "lp",
    accuracy: float = 1e-7,
    carried: State | None = None,
) -> GeneralizedResponse:
    """Return the responder's best plan against the worst mixture of the list.

    `method` is lp, half-oracle or cfr+; `accuracy` is ε′, the largest gap allowed, in the game's
    unit. `carried` is that of the response to the first plans of the list, if CFR+ is to continue
    from there. Raises `SolverError` if the accuracy is not reached.

    Example:
        >>> from equilibrist.models.exact import matrix_game
        >>> game = matrix_game([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])  # rock, paper, scissors
        >>> rock_or_scissors = np.array([[1.0, 1, 0, 0], [1.0, 0, 0, 1]])
        >>> response = generalized_best_response(RestrictedGame(game, 1, rock_or_scissors))
        >>> response.plan.round(6).tolist(), round(response.value, 6)
        ([1.0, 0.666667, 0.333333, 0.0], 0.333333)
    """
    if method not in METHODS:
        raise UnknownNameError(
            f"no generalized best response is called {method!r}; methods: {', '.join(METHODS)}",
            value=method,
        )
    if not accuracy > 0:
        raise InvalidValueError(f"the accuracy must be above zero, not {accuracy}", value=accuracy)
    if method == "cfr+":
        response = by_regret_matching(game, accuracy, carried)
    else:
        response = METHODS[method](game, accuracy)
    if not response.gap <= accuracy:
        raise SolverError(
            f"the generalized best response by {method} leaves a gap of {response.gap:.3g} "
            f"{game.unit} where {accuracy:.3g} is allowed; try another method or a larger accuracy",
            value=response,
        )
    return response


def best_against(game: RestrictedGame, weights: Floats) -> tuple[float, Floats]:
    """Return what the best response to a mixture [K] of the list wins, and its plan [L]."""
    mixed = np.append(1.0, weights)
    utilities = game.utilities
    plan = np.asarray(mixed, utilities.dtype, like=utilities)
    values = game.gradient(game.responder, plan)
    behaviour = game.uniform(game.responder, values.dtype)
    best = game.fold_up(game.responder, BEST, values, behaviour)
    return best, game.realize(game.responder, behaviour)


def by_half_oracle(game: RestrictedGame, accuracy: float) -> GeneralizedResponse:
    """Compute generalized best response I (Algorithm 2)."""
    num_plans = len(game.plans)
    weights = np.full(num_plans, 1 / num_plans)
    bound, answer = best_against(game, weights)
    responses, payoffs = answer[None], (game.utilities @ answer)[None]
    basis = None
    while True:
        stopping.check()
        solution = solve_matrix(payoffs, basis)
        weights, basis = solution.column, solution.basis
        bound, answer = best_against(game, weights)
        if bound - solution.value <= accuracy or is_listed(answer, responses):
            return GeneralizedResponse(solution.row @ responses, weights, solution.value, bound)
        responses = np.vstack([responses, answer])
        payoffs = np.vstack([payoffs, game.utilities @ answer])


def by_linear_program(game: RestrictedGame, accuracy: float) -> GeneralizedResponse:
    """Compute generalized best response II (equations 13–18), to the accuracy that HiGHS has."""
    program = LinearProgram(method="highs-simplex", tolerance=1e-8)
    matrix = restricted_matrix(game)
    variables = program.saddle_point(matrix)[1:]
    plans = [side.plan(x) for side, x in zip(matrix.sequences, variables, strict=True)]
    responder = game.responder
    plan = game.realize(responder, game.behaviour(responder, plans[responder]))
    return _proved(game, plan, distribution(plans[game.player][1:]))


def by_regret_matching(
    game: RestrictedGame, accuracy: float, carried: State | None = None
) -> GeneralizedResponse:
    """Run CFR+ on the restricted game until the gap is at most `accuracy`."""
    solver = CFR(dtype=game.utilities.dtype.name)
    state = solver.init(game)
    if carried:
        _carry(game, state, carried)
    while True:
        stopping.check()
        solver.step(game, state, max(_FIRST_CHECK, int(state["iteration"]) // 4))
        plans = solver.plans(game, state)
        weights = distribution(download(plans[game.player][1:]))
        response = _proved(game, plans[game.responder], weights)
        if response.gap <= accuracy or state["iteration"] >= _MOST_ITERATIONS:
            return replace(response, carried={name: state[name] for name in CARRIED})


def _carry(game: RestrictedGame, state: State, carried: State) -> None:
    """Start CFR+ from its state on a shorter list; plans new on the list have probability 0."""
    for player in (0, 1):
        regret, known = carried[f"regret{player}"], len(carried[f"regret{player}"])
        behaviour = state[f"behaviour{player}"]
        behaviour[:known], behaviour[known:] = carried[f"behaviour{player}"], 0.0
        state[f"regret{player}"][:known] = np.where(regret > _NO_REGRET, _MEMORY * regret, 0.0)
        game.realize(player, behaviour, state[f"plan{player}"])


METHODS: dict[str, Callable[[RestrictedGame, float], GeneralizedResponse]] = {
    "lp": by_linear_program,
    "half-oracle": by_half_oracle,
    "cfr+": by_regret_matching,
}


def restricted_matrix(game: RestrictedGame) -> SequenceMatrix:
    """Write the restricted game as matrices (A, E, F): the constraints of (13–17) and a simplex.

    The simplex has one variable per plan of the list, after the empty sequence; the payoffs are the
    utility vectors of (18), written in the responder's sequences.
    """
    sides = [player_sequences(game.trees[player], game.uniform(player)) for player in (0, 1)]
    vectors = game.utilities @ sides[game.responder].expansion  # [K, n]
    wins = np.vstack([np.zeros(vectors.shape[1]), vectors])
    payoff = wins.T if game.responder == 0 else -wins
    return SequenceMatrix(sparse.csr_array(payoff), (sides[0], sides[1]))


def _proved(game: RestrictedGame, plan: Floats, weights: Floats) -> GeneralizedResponse:
    """Return a plan and a mixture with the least they win and the most they lose."""
    plan = plan.astype(game.utilities.dtype)
    value = float((game.utilities @ plan).min())
    return GeneralizedResponse(plan, weights, value, best_against(game, weights)[0])
