"""The range of skill: a line of players, each of whom beats all before, until none can be beaten.

In a symmetric game a list of strategies σ₁, σ₂, … is *ε-ranked* if u(σᵢ, σⱼ) > ε for all i > j. The
length of the longest such list is ROS_ε, a measure of the game (Range of Skill, definition 1). The
method that carries its name builds such a list (Algorithm 3):

1. Begin with one strategy; here, uniform play.
2. Repeat: σ_T, an ε′-generalized best response to the list so far, joins it.
3. The answer is the safest mixture of the list.

Let ε_T = min_{t<T} u(σ_T, σ_t) be what σ_T wins against the worst of the list. With exact responses
ε₂ ≥ ε₃ ≥ …, because a longer list is harder to beat (equations 6 and 7), so the list is ε-ranked as
long as ε_T > ε. When at last a response wins no more than ε, then no strategy beats the safest
mixture of the list by more: it is an ε-equilibrium, found after at most ROS_ε(G) responses
(Theorem 1). Read the other way, the length of the list is a lower bound on ROS_ε(G).

The safest mixture is the list's part of the equilibrium in which the opponent may play anything
(definition 2): each generalized best response brings it along. An equilibrium of the matrix game
among the list alone would be easy to beat by strategies outside of it.

Games whose seats differ are symmetrised (`models/restricted.py`): a strategy is a plan for each
seat, its utility the mean over the seats, and ε is exploitability: half of NashConv.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from equilibrist.errors import InvalidValueError
from equilibrist.models.exact import matrix_game
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.models.restricted import RestrictedGame, Symmetrised, symmetrise
from equilibrist.solving.generalized_best_response import CARRIED, generalized_best_response
from equilibrist.solving.solver import State

_SHARE = 0.1  # of the last gain by which the next response may be off
_RESPONSE = "response."  # in names of a state: of the last answer, not of the game's players


@dataclass(frozen=True)
class RangeOfSkill:
    """Algorithm 3.

    State: `strategies` [T, L], plans of the symmetrised game, first to last; `utilities` [T, L],
    their utility vectors; `gains` [T], ε₁ = ∞ (nobody was there to be beaten), ε₂, …; `weights`
    [T], the safest mixture of the list; `exploitability` (), what the best response wins against it
    in the game's unit; `finished`, that it is no more than ε. The last strategy on the list has
    weight 0 until it has been answered. By CFR+ also `response.regret0` and so on, where its last
    answer ended and the next begins. Locked decisions are played uniformly.

    Example:
        >>> game = number_game(5)
        >>> state = RangeOfSkill().init(game)
        >>> RangeOfSkill().step(game, state, 3)
        >>> skill = RangeOfSkill().report(game, state)
        >>> len(skill.table), skill.table[1, 0].round(6).item()  # the second always says 5
        (2, 0.8)
    """

    epsilon: float = 1e-7  # gain, in the game's unit, up to which a response no longer joins
    method: str = "lp"  # of the generalized best responses: lp, half-oracle or cfr+
    accuracy: float = 1e-7  # ε′ of the generalized best responses, in the game's unit
    share: float = 0.0  # of the last gain, which ε′ may be where that is more
    kept_as: str = "float64"  # numbers of the list; float32, where ε is large, is half the memory
    name: str = "range-of-skill"

    def __post_init__(self) -> None:
        if not 0 < self.accuracy <= self.epsilon:
            raise InvalidValueError(
                f"responses accurate to {self.accuracy} cannot prove an exploitability of "
                f"{self.epsilon}; accuracy is above zero and at most epsilon",
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
            kept_as=dtype,
        )

    def init(self, game: SequenceGame, seed: int = 0) -> State:
        """Uniform play alone on the list; nothing is random."""
        symmetric = symmetrise(game).game
        plan = symmetric.realize(0, symmetric.uniform(0)).astype(self.kept_as)
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
        """Some more generalized best responses; none once one won no more than ε."""
        symmetric = symmetrise(game).game
        for _ in range(steps):
            if state["finished"]:
                return
            state.update(self._answered(symmetric, state))

    def plans(self, game: SequenceGame, state: State) -> tuple[Floats, Floats]:
        """The safest mixture of the list, as a plan for each seat."""
        symmetrised, strategies = symmetrise(game), state["strategies"]
        mixed = state["weights"].astype(strategies.dtype) @ strategies
        if mixed.dtype != np.float64:  # a plan again, not nearly
            whole = symmetrised.game
            mixed = whole.realize(0, whole.behaviour(0, mixed.astype(np.float64)))
        return symmetrised.split(mixed)

    def report(self, game: SequenceGame, state: State) -> SkillReport:
        """The list, who beats whom, and what that says of the game."""
        table = state["strategies"] @ state["utilities"].T
        return SkillReport(
            symmetrise(game),
            state["strategies"],
            state["gains"],
            state["weights"],
            table,
            game.unit,
        )

    def _answered(self, symmetric: SequenceGame, state: State) -> State:
        """What changes when the list is answered; whoever beats it by more than ε joins it.

        The old state is left whole, so that an interruption finds it so.
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
    """A list of T strategies and what they win from each other, in the game's unit."""

    symmetrised: Symmetrised
    strategies: Floats  # [T, L] plans of the symmetrised game
    gains: Floats  # [T] ε_T, what each won against the worst of those before it; the first ∞
    weights: Floats  # [T] the safest mixture
    table: Floats  # [T, T] what the row's strategy wins from the column's
    unit: str

    @property
    def seats(self) -> tuple[Floats, Floats]:
        """The plans of each seat: [T, L0] and [T, L1]."""
        return self.symmetrised.split(self.strategies)

    def ranked(self, epsilon: float) -> list[int]:
        """Members of an ε-ranked list: from the first on, whoever beats all so chosen."""
        return ranked_list(self.table, epsilon)

    def lower_bound(self, epsilon: float) -> int:
        """A proven lower bound on ROS_ε of the symmetrised game."""
        return len(self.ranked(epsilon))


def is_ranked(table: Floats, epsilon: float) -> bool:
    """Whether strategies with pairwise utilities [T, T] are an ε-ranked list (definition 1).

    Example:
        >>> is_ranked(np.array([[0, -1], [1, 0]]), 0.5), is_ranked(np.zeros((2, 2)), 0)
        (True, False)
    """
    later, earlier = np.tril_indices(len(table), -1)
    return bool((table[later, earlier] > epsilon).all())


def ranked_list(table: Floats, epsilon: float) -> list[int]:
    """An ε-ranked part of a list, chosen greedily in its order; not always the longest one.

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
    """What strategies [T, L] of a symmetric game win from each other: [T, T]."""
    return strategies @ np.stack([game.gradient(0, plan) for plan in strategies]).T


def number_game(largest: int) -> SequenceGame:
    """Both say a number from 1 to n, the larger one wins a point (footnote 1).

    The numbers in order are an ε-ranked list for every ε < 1, so the range of skill is at least n,
    in a game that is over after one look.

    Example:
        >>> number_game(3).lengths
        (4, 4)
    """
    if largest < 1:
        raise InvalidValueError(f"numbers go from 1 to at least 1, not {largest}", value=largest)
    numbers: NDArray[np.int64] = np.arange(largest)
    payoffs = np.sign(numbers[:, None] - numbers[None, :])
    return matrix_game(payoffs, name=f"number-choosing-{largest}")
