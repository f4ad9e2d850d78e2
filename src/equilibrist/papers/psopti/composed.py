"""The cost of preflop models with fewer rounds to the player composed from them.

A model of the first rounds is solved, its beliefs are passed to seven postflop models, and all are
glued as in `psopti2` (Billings et al. 2003, "Composition of preflop and postflop models"). The
result is a strategy of the game of all rounds with the same buckets, in which hands of one later
class play alike whatever their first bucket was. In that game a best response to it is exact, and
it exploits errors that no model of a part can measure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.conditioning import LaterClasses, conditioned
from equilibrist.abstraction.joint_counts import Joint
from equilibrist.games.betting_tree import BettingTree
from equilibrist.kernels.treeplex import block
from equilibrist.models.bucketed import bucket_game, bucket_tree
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.papers.psopti.claims import Solved, postflop
from equilibrist.papers.psopti.composing import beliefs
from equilibrist.papers.rows import PaperRow, ReportProgress
from equilibrist.solving.best_response import best_response
from equilibrist.strategies.composition import GluedBuckets, Part, glue, openings


def composed_rows(
    buckets: Abstraction, counts: Joint, models: Mapping[str, Solved], report: ReportProgress
) -> Iterator[PaperRow]:
    """Yield the win rate of a best response in all rounds against players of preflop models."""
    for number, (name, opening) in enumerate(models.items()):
        report(f"postflop models behind {name}", number / len(models))
        won = sum(composed_responses(buckets, counts, opening, report)) / 2 / opening.small_bet
        what = f"{name}, composed: a best response in all rounds wins"
        yield PaperRow("preflop", what, None, won)


def composed_responses(
    buckets: Abstraction, counts: Joint, opening: Solved, report: ReportProgress
) -> tuple[float, float]:
    """Return the chips that best responses in each seat win from the composed player."""
    assert opening.game.betting is not None
    whole = bucket_game(buckets, counts, opening.game.betting.menu)
    plans = [
        whole.realize(player, behaviour)
        for player, behaviour in enumerate(composed(buckets, counts, opening, whole, report))
    ]
    first, second = (best_response(whole, seat, plans[1 - seat])[0] for seat in (0, 1))
    return first, second


def composed(
    buckets: Abstraction,
    counts: Joint,
    opening: Solved,
    whole: SequenceGame,
    report: ReportProgress,
) -> tuple[Floats, Floats]:
    """Return the behaviour of both players, [L] each, in the `whole` game of these buckets.

    `report` receives a note where beliefs cannot be computed.
    """
    betting = whole.betting
    assert betting is not None
    columns = GluedBuckets(buckets.tables[0][0].astype(np.int16), buckets)
    later: dict[int, Part] = {}
    for node in openings(betting):
        way = betting.name(node)[:-1]
        priors = beliefs(opening.game, opening.plans, way, lambda text: report(text, 0.0))
        model = postflop(
            LaterClasses.of(buckets),
            conditioned(buckets, counts, priors),
            pot=int(betting.spent[node].sum()),
        )
        later[node] = Part.of(model.game, model.plans)
    glued = glue(betting, columns, Part.of(opening.game, opening.plans), later)
    first, second = (
        _in_full(whole, betting, columns, player, behaviour)
        for player, behaviour in enumerate(glued)
    )
    return first, second


def _in_full(
    whole: SequenceGame, betting: BettingTree, columns: GluedBuckets, player: int, glued: Floats
) -> Floats:
    """Expand a glued behaviour to the whole game: later columns repeat for each first bucket."""
    tree, narrow = whole.trees[player], bucket_tree(betting, player, columns)
    out = whole.uniform(player)
    for r in range(betting.rules.num_rounds):
        wide, known = block(tree, r, r, out), block(narrow, r, r, glued)
        wide[:] = np.tile(known, wide.shape[1] // known.shape[1])
    return out
