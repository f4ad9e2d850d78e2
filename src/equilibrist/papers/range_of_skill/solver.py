"""The range-of-skill algorithm: a list of strategies, each of which beats all before it.

In a symmetric game a list of strategies σ₁, σ₂, … is *ε-ranked* if u(σᵢ, σⱼ) > ε for all i > j. The
length of the longest such list is ROS_ε, a measure of the game (Range of Skill, definition 1). The
method that carries its name builds such a list (Algorithm 3):

1. Start with one strategy; here, uniform play.
2. Repeat: add σ_T, an ε′-generalized best response to the list so far, to the list.
3. The result is the safest mixture of the list.

Let ε_T = min_{t<T} u(σ_T, σ_t) be the smallest win of σ_T against the list. With exact responses
ε₂ ≥ ε₃ ≥ …, because a longer list is harder to beat (equations 6 and 7), so the list is ε-ranked as
long as ε_T > ε. When a response wins at most ε, then no strategy beats the safest mixture of the
list by more: it is an ε-equilibrium, found after at most ROS_ε(G) responses (Theorem 1).
Conversely, the length of the list is a lower bound on ROS_ε(G).

The safest mixture is the list's part of the equilibrium in which the opponent may play anything
(definition 2); each generalized best response computes it too. An equilibrium of the matrix game
among the list alone would be easy to beat by strategies outside the list.

Games whose seats differ are symmetrised (`models/restricted.py`): a strategy is a plan for each
seat, its utility is the mean over the seats, and ε is exploitability: half of NashConv.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from equilibrist.errors import InvalidValueError
from equilibrist.kernels.gpu.memory import download
from equilibrist.models.exact import matrix_game
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.models.restricted import RestrictedGame, Symmetrised, symmetrise
from equilibrist.solving.generalized_best_response import CARRIED, generalized_best_response
from equilibrist.solving.solver import State

_SHARE = 0.1  # allowed error of the next response, as a share of the last gain
_RESPONSE = "response."  # prefix of state names that belong to the last response


@dataclass(frozen=True)
class RangeOfSkill:
    """Range-of-skill solver (Algorithm 3).

    State: `strategies` [T, L], plans of the symmetrised game, first to last; `utilities` [T, L],
    their utility vectors; `gains` [T], ε₁ = ∞ (there was no strategy to beat), ε₂, …; `weights`
    [T], the safest mixture of the list; `exploitability` (), the best response's gain against it in
    the game's unit; `finished`, whether it is at most ε. The last strategy on the list has weight 0
    until a response to it exists. With CFR+ also `response.regret0` and so on, where the last
    response ended and the next one starts. Locked decisions are played uniformly.

    Example:
        >>> game = number_game(5)
        >>> state = RangeOfSkill().init(game)
        >>> RangeOfSkill().step(game, state, 3)
        >>> skill = RangeOfSkill().report(game, state)
        >>> len(skill.table), skill.table[1, 0].round(6).item()  # the second always says 5
        (2, 0.8)
    """

    epsilon: float = 1e-7  # stop when a response gains at most this, in the game's unit
    method: str = "lp"  # method of the generalized best responses: lp, half-oracle or cfr+
    accuracy: float = 1e-7  # ε′ of the generalized best responses, in the game's unit
    share: float = 0.0  # ε′ may also be this share of the last gain, if that is larger
    stored_dtype: str = "float64"  # dtype of the list; float32 halves the memory, for large ε
    name: str = "range-of-skill"

    def __post_init__(self) -> None:
        if not 0 < self.accuracy <= self.epsilon:
            raise InvalidValueError(
                f"responses accurate to {self.accuracy} cannot prove an exploitability of "
                f"{self.epsilon}; accuracy must be above zero and at most epsilon",
                value=self.accuracy,
            )

    def for_target(self, target: float, dtype: str) -> RangeOfSkill:
        """Return the method by CFR+, with responses accurate to half of the target or better."""
        return replace(
            self,
            epsilon=target,
            method="cfr+",
            accuracy=target / 2,
            share=_SHARE,
            stored_dtype=dtype,
        )

    def init(self, game: SequenceGame, seed: int = 0) -> State:
        """Return the state with uniform play alone on the list; the seed is ignored."""
        symmetric = symmetrise(game).game
        plan = symmetric.realize(0, symmetric.uniform(0)).astype(self.stored_dtype)
        return {
            "iteration": np.array(0),
            "finished": np.array(False),
            "strategies": plan[None],
            "utilities": symmetric.gradient(0, plan)[None],
            "gains": np.array([np.inf]),
            "weights": np.ones(1),
            "exploitability": np.array(np.inf),
        }

    def step(self, game: SequenceGame, state: State, steps: int) -> None:
        """Add up to `steps` generalized best responses; stop once one gains at most ε."""
        symmetric = symmetrise(game).game
        for _ in range(steps):
            if state["finished"]:
                return
            state.update(self._answered(symmetric, state))

    def plans(self, game: SequenceGame, state: State) -> tuple[Floats, Floats]:
        """Return the safest mixture of the list, as a plan for each seat."""
        symmetrised, strategies = symmetrise(game), state["strategies"]
        mixed = np.asarray(state["weights"], strategies.dtype, like=strategies) @ strategies
        if mixed.dtype != np.float64:  # remove the rounding errors of float32
            whole = symmetrised.game
            mixed = whole.realize(0, whole.behaviour(0, mixed.astype(np.float64)))
        return symmetrised.split(mixed)

    def report(self, game: SequenceGame, state: State) -> SkillReport:
        """Return the list with its gains, weights and pairwise results."""
        table = download(state["strategies"] @ state["utilities"].T)
        return SkillReport(
            symmetrise(game),
            state["strategies"],
            state["gains"],
            state["weights"],
            table,
            game.unit,
        )

    def _answered(self, symmetric: SequenceGame, state: State) -> State:
        """Respond to the list and return the changed part of the state.

        A response that gains more than ε is added to the list. The old state is not modified, so
        that it stays valid after an interruption.
        """
        restricted = RestrictedGame(symmetric, 1, state["strategies"], state["utilities"])
        last = float(state["gains"][-1])
        accuracy = max(self.accuracy, self.share * last) if np.isfinite(last) else self.accuracy
        carried = {name: state[_RESPONSE + name] for name in CARRIED if _RESPONSE + name in state}
        response = generalized_best_response(restricted, self.method, accuracy, carried)
        changed: State = {
            "iteration": np.array(state["iteration"] + 1),
            "finished": np.array(response.bound <= self.epsilon),
            "weights": response.weights,
            "exploitability": np.array(response.bound),
            **{_RESPONSE + name: numbers for name, numbers in response.carried.items()},
        }
        if not changed["finished"]:
            grown = restricted.extend(response.plan)
            changed["strategies"], changed["utilities"] = grown.plans, grown.utilities
            changed["gains"] = np.append(state["gains"], response.value)
            changed["weights"] = np.append(response.weights, 0.0)
        return changed


@dataclass(frozen=True, eq=False)
class SkillReport:
    """A list of T strategies and their pairwise results, in the game's unit."""

    symmetrised: Symmetrised
    strategies: Floats  # [T, L] plans of the symmetrised game
    gains: Floats  # [T] ε_T, the smallest win of each against those before it; the first is ∞
    weights: Floats  # [T] the safest mixture
    table: Floats  # [T, T] utility of the row's strategy against the column's
    unit: str

    @property
    def seats(self) -> tuple[Floats, Floats]:
        """The plans of each seat: [T, L0] and [T, L1]."""
        return self.symmetrised.split(self.strategies)

    def ranked(self, epsilon: float) -> list[int]:
        """Return the members of an ε-ranked list, chosen greedily from the first strategy on."""
        return ranked_list(self.table, epsilon)

    def lower_bound(self, epsilon: float) -> int:
        """Return a proven lower bound on ROS_ε of the symmetrised game."""
        return len(self.ranked(epsilon))


def is_ranked(table: Floats, epsilon: float) -> bool:
    """Return whether strategies with pairwise utilities [T, T] are ε-ranked (definition 1).

    Example:
        >>> is_ranked(np.array([[0, -1], [1, 0]]), 0.5), is_ranked(np.zeros((2, 2)), 0)
        (True, False)
    """
    later, earlier = np.tril_indices(len(table), -1)
    return bool((table[later, earlier] > epsilon).all())


def ranked_list(table: Floats, epsilon: float) -> list[int]:
    """Return an ε-ranked part of a list, chosen greedily in order; not always the longest.

    Example:
        >>> ranked_list(np.array([[0, -1, 0], [1, 0, -1], [0, 1, 0]]), 0.5)  # 1 beats 0, 2 only 1
        [0, 1]
    """
    chosen: list[int] = []
    for i, wins in enumerate(table):
        if all(wins[j] > epsilon for j in chosen):
            chosen.append(i)
    return chosen


def skill_table(game: SequenceGame, strategies: Floats) -> Floats:
    """Return the pairwise utilities [T, T] of strategies [T, L] of a symmetric game."""
    return strategies @ np.stack([game.gradient(0, plan) for plan in strategies]).T


def number_game(largest: int) -> SequenceGame:
    """Build the game in which both choose a number from 1 to n and the larger wins (footnote 1).

    The numbers in order are an ε-ranked list for every ε < 1, so the range of skill is at least n,
    in a game with a single move.

    Example:
        >>> number_game(3).lengths
        (4, 4)
    """
    if largest < 1:
        raise InvalidValueError(
            f"the largest number must be at least 1, not {largest}", value=largest
        )
    numbers: NDArray[np.int64] = np.arange(largest)
    payoffs = np.sign(numbers[:, None] - numbers[None, :])
    return matrix_game(payoffs, name=f"number-choosing-{largest}")
