"""Exploitability in the real game of plans of buckets, on flops that are always the same.

Training by any method is measured with it. Plans may know fewer raises than the game has; they call
raises beyond, as stored strategies do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.evaluation.real_game.opponent import check_cards
from equilibrist.evaluation.real_game.response import Response
from equilibrist.evaluation.real_game.run import (
    exploited,
    on_device,
    open_or_start,
    run_flops,
    stratified,
)
from equilibrist.evaluation.statistics import chips_of_unit
from equilibrist.games.betting_tree import BettingTree
from equilibrist.kernels.cpu.sequence_form import normalize
from equilibrist.kernels.gpu.memory import download
from equilibrist.models.bucketed import bucket_tree
from equilibrist.models.game import Floats
from equilibrist.strategies.evaluation import Evaluation
from equilibrist.strategies.played import BucketColumns, IdentifiedStrategy, TableStrategy


@dataclass(frozen=True, eq=False)
class RealGameMeasure:
    """Best responses in limit hold'em to plans of buckets on a sample of flops.

    Example:
        >>> from dataclasses import replace
        >>> from equilibrist.abstraction.recipes import build
        >>> from equilibrist.games.catalog import get_game
        >>> deck = replace(get_game("holdem-limit"), num_ranks=3, num_suits=3)
        >>> buckets = build("percentile", deck, [2, 2, 2, 2])
        >>> RealGameMeasure(BettingTree.build(deck), buckets, 7).number
        7
    """

    betting: BettingTree  # that the plans know
    buckets: Abstraction
    number: int | None = None  # of flops; None: all
    threads: int = 1
    device: str = "cpu"

    def __post_init__(self) -> None:
        check_cards(self.betting, self.buckets)

    def evaluate(self, plans: tuple[Floats, Floats]) -> Evaluation:
        """Return the chips that best responses win; the value of the plans is not computed."""
        strategy = self._strategy(plans)
        responses = Response(strategy, 0), Response(strategy, 1)
        run = open_or_start(IdentifiedStrategy("the plans", strategy, ""), responses, None)
        gpu = on_device(self.device, responses)[1]
        chosen = stratified(run.flops, self.number)
        run_flops(run, responses, chosen, threads=self.threads, engine=gpu)
        found, chips = exploited(run, responses), chips_of_unit(run.rules, None)[1]
        first, second = (won * chips for won in found.best_response)
        return Evaluation(0.0, (first, second), "chips")

    def _strategy(self, plans: tuple[Floats, Floats]) -> TableStrategy:
        """Return the plans as they are played under the rules with all raises."""
        trees, behaviour = [], []
        for player, plan in enumerate(plans):
            trees.append(bucket_tree(self.betting, player, self.buckets))
            exact = np.asarray(download(plan), np.float64)
            behaviour.append(np.empty_like(exact))
            normalize(trees[-1], exact, behaviour[-1])
        real = BettingTree.build(self.buckets.rules)
        columns = BucketColumns(self.buckets)
        both = (trees[0], trees[1]), (behaviour[0], behaviour[1])
        return TableStrategy(real, self.betting, *both, columns)
