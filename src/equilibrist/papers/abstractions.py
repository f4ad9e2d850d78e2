"""The cost of abstraction in the real game: the question behind GS2, GS3 and Range of Skill.

Solved strategies of several recipes and sizes are lifted into Rhode Island hold'em, where the best
response with real cards is exact. GS3 argues that potential matters where draws matter; this study
measures it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from equilibrist import stopping
from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.joint_counts import joint
from equilibrist.abstraction.recipes import build
from equilibrist.errors import InvalidValueError
from equilibrist.games.catalog import get_game
from equilibrist.games.rules import GameRules
from equilibrist.models.bucketed import bucket_game, lift
from equilibrist.models.exact import exact_game
from equilibrist.models.game import SequenceGame
from equilibrist.phases import phase
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import CFR
from equilibrist.solving.solve import Budget, solve

# Number of buckets in each round of Rhode Island hold'em, from coarse to fine.
SIZES = ((3, 9, 27), (4, 16, 64), (5, 25, 100), (8, 40, 160), (13, 65, 260))
RECIPES = ("percentile", "expectation", "moments", "potential-aware")
_TARGET = 0.01  # target exploitability of each abstract game, in chips (the ante is 5)
_MOST_ITERATIONS = 20_000


@dataclass(frozen=True)
class StudyRow:
    """Exploitability of one abstraction's solution in its own game and in the real game."""

    recipe: str
    buckets: tuple[int, ...]
    abstract: float  # exploitability in the abstract game, chips
    real: float  # exploitability in the real game, chips
    value: float  # of the strategies in the real game, chips
    iterations: int


def study(
    name: str = "rhode-island",
    recipes: Sequence[str] = RECIPES,
    sizes: Sequence[tuple[int, ...]] = SIZES,
    *,
    target: float = _TARGET,
    lossless: bool = True,
    seed: int = 0,
    watch: Callable[[str], None] | None = None,
) -> list[StudyRow]:
    """Solve every recipe at every size and measure the strategies with real cards.

    Example:
        >>> rows = study("leduc", ["percentile"], [(3, 6)], target=0.01)
        >>> [row.recipe for row in rows], rows[0].real > 0.1 > rows[1].real
        (['percentile', 'lossless'], True)
    """
    rules = get_game(name)
    real = exact_game(rules, symmetry="suits")
    say = watch or (lambda text: None)
    rows, total = [], len(recipes) * len(sizes) + lossless
    with phase("measuring abstractions", total=total, unit="abstractions") as work:
        for recipe in recipes:
            for numbers in sizes:
                say(f"{recipe} {'-'.join(map(str, numbers))}")
                rows.append(_measure(real, _build(recipe, rules, numbers, seed), target))
                work.advance()
        if lossless:
            say("lossless")
            rows.append(_measure_lossless(real, _build("lossless", rules, None, seed), target))
    return rows


def _build(recipe: str, rules: GameRules, numbers: Sequence[int] | None, seed: int) -> Abstraction:
    if numbers is not None and len(numbers) != rules.num_rounds:
        raise InvalidValueError(f"{rules.name} has {rules.num_rounds} rounds", value=numbers)
    return build(recipe, rules, numbers, seed=seed)


def _measure_lossless(real: SequenceGame, buckets: Abstraction, target: float) -> StudyRow:
    """Solve and measure the real game itself, whose states are the lossless buckets.

    The real game stores its cells by board. One matrix over all buckets would have 100 million
    cells for Rhode Island, nearly all empty.
    """
    tree = real.trees[0]
    states = np.add.reduceat(tree.num_states, tree.board_start[:-1])
    if tuple(int(number) for number in states) != buckets.num_buckets:
        raise AssertionError("the states of the real game are the classes of hands and boards")
    run = solve(real, CFR(), Budget(target=target, iterations=_MOST_ITERATIONS))
    stopping.check()
    found = run.evaluation
    return StudyRow(
        recipe=buckets.recipe,
        buckets=buckets.num_buckets,
        abstract=found.exploitability,
        real=found.exploitability,
        value=found.value,
        iterations=int(run.state["iteration"]),
    )


def _measure(real: SequenceGame, buckets: Abstraction, target: float) -> StudyRow:
    game = bucket_game(buckets, joint(buckets))
    solver = CFR()
    run = solve(game, solver, Budget(target=target, iterations=_MOST_ITERATIONS))
    stopping.check()
    plans = solver.plans(game, run.state)
    first, second = (
        real.realize(player, lift(real, game, buckets, player, plans[player])) for player in (0, 1)
    )
    found = evaluate(real, (first, second))
    return StudyRow(
        recipe=buckets.recipe,
        buckets=buckets.num_buckets,
        abstract=run.evaluation.exploitability,
        real=found.exploitability,
        value=found.value,
        iterations=int(run.state["iteration"]),
    )
