"""Values of the leaves of a truncated model by playing the missing rounds, as in GS2's phase one.

For each stake with which the rounds of the model can end, the missing rounds are a separate game of
the buckets of those rounds: every deal has its prior probability, and the pot is what both players
have put in. CFR+ solves it, and its average strategies are then fixed: what they win and lose, by
buckets of the last round of the model, are the values of the leaves.

GS2 assumed betting frequencies that had been observed at tables. We have no such hands; solving
needs none, and is deterministic. Like theirs, it assumes that beliefs do not depend on the betting
before.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from equilibrist import stopping
from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.joint_counts import Joint
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree
from equilibrist.models.bucketed import bucket_game
from equilibrist.models.endings import PlayedOut, end_nodes, value_of_play
from equilibrist.solving.cfr import CFR


def play_out(
    buckets: Abstraction,
    counts: Joint,
    menu: BetMenu,
    last_round: int,
    *,
    iterations: int = 200,
    dtype: str = "float32",
    report: Callable[[float], None] = lambda share: None,
) -> PlayedOut:
    """Compute the ending of rounds 0 … `last_round`; `tell` is called with the share done.

    Example:
        >>> from equilibrist.abstraction.joint_counts import joint
        >>> from equilibrist.abstraction.recipes import build
        >>> from equilibrist.games.catalog import get_game
        >>> buckets = build("percentile", get_game("leduc"), [3, 6])
        >>> play_out(buckets, joint(buckets), BetMenu(), 0, iterations=10).stakes.tolist()
        [1.0, 3.0, 5.0]
    """
    kept = BettingTree.build(buckets.rules, menu, last_round=last_round)
    stakes = np.unique(end_nodes(kept)[1])
    solver, values = CFR(dtype=dtype), []
    for number, stake in enumerate(stakes, 1):
        rest = bucket_game(
            buckets, counts, menu, first_round=last_round + 1, pot=2 * round(float(stake))
        )
        stopping.check()
        state = solver.init(rest)
        solver.step(rest, state, iterations)
        values.append(value_of_play(rest, solver.plans(rest, state), buckets))
        report(number / len(stakes))
    return PlayedOut(stakes, np.stack(values))
