"""Exact solutions by linear programming on the sequence form.

Player 0's best plan x against a best-responding opponent is one linear program (Romanovskii 1962;
Koller, Megiddo and von Stengel 1996): with A, E and F of `models/sequence_matrix.py`,

    maximise fᵀ q   subject to   Fᵀ q − Aᵀ x ≤ 0,   E x = e,   x ≥ 0

where q is the value of each information set of player 1 to player 0, so fᵀ q = q₀ is the game's
value. The dual variables of the inequalities are player 1's plan y. The status that a program
reports is never trusted: plans are made feasible, best responses are computed against both, and
only a pair that is proven good is called solved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equilibrist.errors import InvalidValueError, SolverError, UnknownNameError
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.models.sequence_matrix import SequenceMatrix, SparseMatrix, sequence_matrix
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.solver import State
from equilibrist.strategies.evaluation import Evaluation

Method: TypeAlias = Literal["highs-ipm", "highs-simplex", "clarabel"]
METHODS: tuple[Method, ...] = get_args(Method)

# Up to this number of sequences of both players an interior point is polished to a vertex.
CROSSOVER_SEQUENCES = 5_000


@dataclass(frozen=True, eq=False)
class CertifiedPlans:
    """Plans of both players with the certificate of their quality."""

    plans: tuple[Floats, Floats]  # [L0], [L1]
    certificate: Evaluation  # by best responses, not by the program
    status: str  # what the program reported

    @property
    def value(self) -> float:
        """Value of the game to the first player to act in round one, within NashConv."""
        return self.certificate.value


@dataclass(frozen=True)
class LinearProgram:
    """Solver that finds an exact solution in one step, by HiGHS or Clarabel.

    `tolerance` is the exploitability allowed, as a share of the largest payoff of the game; a worse
    result raises `SolverError`. A state's `behaviour0` and `behaviour1` hold the probabilities of
    locked decisions.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.models.exact import exact_game
        >>> solved = LinearProgram().solve(exact_game(get_game("kuhn")))
        >>> round(solved.value * 18, 9), solved.status
        (-1.0, 'Optimal')
    """

    method: Method = "highs-ipm"
    tolerance: float = 1e-7
    threads: int = 0  # 0: the library's default
    time_limit: float = math.inf  # seconds
    name: str = "lp"

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise UnknownNameError(
                f"no linear programming method is called {self.method!r}; "
                f"the methods are {', '.join(METHODS)}",
                value=self.method,
            )
        if not (self.tolerance > 0 and self.time_limit > 0 and self.threads >= 0):
            raise InvalidValueError(
                "tolerance and time limit must be above zero and threads zero or more, not "
                f"{self.tolerance}, {self.time_limit} and {self.threads}"
            )

    def init(self, game: SequenceGame, seed: int = 0) -> State:
        """Return uniform play; nothing is random."""
        state: State = {"iteration": np.array(0), "finished": np.array(False)}
        for player in (0, 1):
            state[f"behaviour{player}"] = game.uniform(player)
            state[f"plan{player}"] = game.realize(player, state[f"behaviour{player}"])
        return state

    def step(self, game: SequenceGame, state: State, steps: int) -> None:
        """Solve in the first step; further steps do nothing."""
        if steps < 1 or state["finished"]:
            return
        plans = self.solve(game, (state["behaviour0"], state["behaviour1"])).plans
        for player in (0, 1):
            state[f"plan{player}"][:] = plans[player]
        state["iteration"] += 1
        state["finished"][()] = True

    def plans(self, game: SequenceGame, state: State) -> tuple[Floats, Floats]:
        """Return the solution, or uniform play before the first step."""
        return state["plan0"], state["plan1"]

    def solve(
        self, game: SequenceGame, behaviour: tuple[Floats, Floats] | None = None
    ) -> CertifiedPlans:
        """Return both plans, checked; `behaviour` holds the probabilities of locked decisions.

        Raises `SolverError` if the program fails or its plans are worse than `tolerance`.
        """
        given = behaviour or (game.uniform(0), game.uniform(1))
        matrix = sequence_matrix(game, given)
        status, *variables = self.saddle_point(matrix)
        plans = [
            game.realize(player, game.behaviour(player, side.plan(x)))
            for player, (side, x) in enumerate(zip(matrix.sequences, variables, strict=True))
        ]
        certificate = evaluate(game, (plans[0], plans[1]), given)
        allowed = self.tolerance * largest_payoff(game)
        if not certificate.exploitability <= allowed:
            raise SolverError(
                f"{self.method} ended with status {status!r} and plans exploitable by "
                f"{certificate.exploitability:.3g} {game.unit} where {allowed:.3g} are allowed; "
                f"{self._advice()}",
                value=certificate,
            )
        return CertifiedPlans((plans[0], plans[1]), certificate, status)

    def saddle_point(self, matrix: SequenceMatrix) -> tuple[str, Floats, Floats]:
        """Return the status that the library reports, and both players' variables, unchecked.

        Raises `SolverError` if there are no variables.
        """
        program = _Program.of(matrix)
        run = _run_clarabel if self.method == "clarabel" else _run_highs
        status, point, dual = run(self, program)
        num_own, num_other = matrix.payoff.shape
        is_complete = len(point) >= num_own and len(dual) >= num_other
        if not (is_complete and np.isfinite(point).all() and np.isfinite(dual).all()):
            raise SolverError(
                f"{self.method} ended with status {status!r} and no plans; {self._advice()}",
                value=status,
            )
        return status, np.maximum(point[:num_own], 0), np.maximum(dual[:num_other], 0)

    def _advice(self) -> str:
        others = " or ".join(method for method in METHODS if method != self.method)
        return f"try {others}, more time, a larger tolerance, or payoffs of a smaller range"


def largest_payoff(game: SequenceGame) -> float:
    """Return the most that a hand can win or lose, in the game's unit."""
    payoffs = np.concatenate([game.leaves.fold_payoff.ravel(), game.leaves.showdown_stake])
    # For expected leaves only the mean size is known; the largest is more.
    ends = [np.abs(end.matrix).sum() * end.stake.max(initial=0.0) for end in game.expected]
    return float(np.abs([*payoffs, *ends]).max(initial=0.0))


@dataclass(frozen=True, eq=False)
class _Program:
    """Minimise `cost` z subject to `matrix` z ≤ 0, then = 1, = 0, …; the first variables ≥ 0."""

    cost: NDArray[np.float64]  # [variables] −1 at q₀
    matrix: SparseMatrix  # [inequalities + equalities, variables], csc
    num_inequalities: int  # variables of player 1
    num_positive: int  # variables of player 0

    @classmethod
    def of(cls, game: SequenceMatrix) -> _Program:
        """Build the program of a game; payoffs are scaled to at most 1, which changes no plan."""
        own, other = (side.constraints for side in game.sequences)
        payoff = game.payoff / (np.abs(game.payoff.data).max(initial=0.0) or 1.0)
        matrix = sparse.block_array([[-payoff.T, other.T], [own, None]], format="csc")
        cost = np.zeros(matrix.shape[1])
        cost[own.shape[1]] = -1.0
        return cls(cost, matrix, other.shape[1], own.shape[1])

    @property
    def right_side(self) -> NDArray[np.float64]:
        """Right side of the constraints: zeros, except 1 for the empty sequence."""
        right = np.zeros(self.matrix.shape[0])
        right[self.num_inequalities] = 1.0
        return right


def _run_highs(method: LinearProgram, program: _Program) -> tuple[str, Floats, Floats]:
    """Return status, variables and multipliers of the inequalities, by HiGHS."""
    import highspy

    highs = highspy.Highs()
    is_simplex = method.method == "highs-simplex"
    polish = program.num_inequalities + program.num_positive <= CROSSOVER_SEQUENCES
    inner = float(np.clip(method.tolerance / 100, 1e-10, 1e-6))
    options: dict[str, Any] = {
        "output_flag": False,
        "solver": "simplex" if is_simplex else "ipm",
        "run_crossover": "on" if polish else "off",
        "primal_feasibility_tolerance": inner,
        "dual_feasibility_tolerance": inner,
        "ipm_optimality_tolerance": inner,
        "time_limit": method.time_limit,
    }
    if method.threads:
        highspy.Highs.resetGlobalScheduler(True)  # threads can only be set before they start
        options["threads"] = method.threads
    for name, value in options.items():
        highs.setOptionValue(name, value)
    highs.passModel(_highs_model(program))
    highs.run()
    status = highs.modelStatusToString(highs.getModelStatus())
    solution = highs.getSolution()
    multipliers = -np.array(solution.row_dual[: program.num_inequalities])
    return status, np.array(solution.col_value), multipliers


def _highs_model(program: _Program) -> Any:
    import highspy

    num_rows, num_columns = program.matrix.shape
    right = program.right_side
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = num_rows, num_columns
    model.col_cost_ = program.cost
    model.col_lower_ = np.where(np.arange(num_columns) < program.num_positive, 0.0, -np.inf)
    model.col_upper_ = np.full(num_columns, np.inf)
    model.row_lower_ = np.where(np.arange(num_rows) < program.num_inequalities, -np.inf, right)
    model.row_upper_ = right
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.num_row_, model.a_matrix_.num_col_ = num_rows, num_columns
    model.a_matrix_.start_ = program.matrix.indptr
    model.a_matrix_.index_ = program.matrix.indices
    model.a_matrix_.value_ = program.matrix.data
    return model


def _run_clarabel(method: LinearProgram, program: _Program) -> tuple[str, Floats, Floats]:
    """Return status, variables and multipliers of the inequalities, by Clarabel."""
    try:
        import clarabel
    except ImportError:
        raise SolverError(
            "Clarabel is not installed; run pip install 'equilibrist[solve]', or use highs-ipm",
            value="clarabel",
        ) from None
    num_rows, num_columns = program.matrix.shape
    positive = sparse.eye_array(program.num_positive, num_columns)
    constraints = sparse.csc_array(sparse.vstack([program.matrix, -positive]))
    right = np.concatenate([program.right_side, np.zeros(program.num_positive)])
    cones = [
        clarabel.NonnegativeConeT(program.num_inequalities),
        clarabel.ZeroConeT(num_rows - program.num_inequalities),
        clarabel.NonnegativeConeT(program.num_positive),
    ]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = method.threads
    settings.time_limit = method.time_limit
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = float(
        np.clip(method.tolerance / 100, 1e-12, 1e-8)
    )
    quadratic = sparse.csc_array((num_columns, num_columns))
    solver = clarabel.DefaultSolver(quadratic, program.cost, constraints, right, cones, settings)
    found = solver.solve()
    return str(found.status), np.array(found.x), np.array(found.z)
