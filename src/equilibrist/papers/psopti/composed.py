"""What preflop models of fewer rounds cost the player that is composed from them.

A model of the first rounds is solved, tells seven postflop models what to believe, and all are
glued as in `psopti2` (Billings et al. 2003, "Composition of preflop and postflop models"). The
whole is a strategy of the game of all rounds with the same buckets, in which hands of one later
class do the same whatever their first bucket was. There a best response to it is exact, and knows
what no model of a part does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.conditioning import LaterClasses, conditioned
from equilibrist.abstraction.joint_counts import Joint
from equilibrist.games.betting_tree import BettingTree
from equilibrist.kernels.reference.sequence_form import block
from equilibrist.models.bucketed import bucket_game, bucket_tree
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.papers.psopti.claims import Solved, postflop
from equilibrist.papers.psopti.composing import beliefs
from equilibrist.papers.rows import PaperRow, Tell
from equilibrist.solving.best_response import best_response
from equilibrist.strategies.composition import GluedBuckets, Part, glue, openings


def composed_rows(
    buckets: Abstraction, counts: Joint, models: Mapping[str, Solved], tell: Tell
) -> Iterator[PaperRow]:
    """What a best response in all rounds wins from the players of some preflop models."""
    for number, (name, opening) in enumerate(models.items()):
        tell(f"postflop models behind {name}", number / len(models))
        won = sum(composed_responses(buckets, counts, opening, tell)) / 2 / opening.small_bet
        what = f"{name}, composed: a best response in all rounds wins"
        yield PaperRow("preflop", what, None, won)


def composed_responses(
    buckets: Abstraction, counts: Joint, opening: Solved, tell: Tell
) -> tuple[float, float]:
    """Chips that best responses in either seat win from the player composed with an opening."""
    assert opening.game.betting is not None
    whole = bucket_game(buckets, counts, opening.game.betting.menu)
    plans = [
        whole.realize(player, behaviour)
        for player, behaviour in enumerate(composed(buckets, counts, opening, whole, tell))
    ]
    first, second = (best_response(whole, seat, plans[1 - seat])[0] for seat in (0, 1))
    return first, second


def composed(
    buckets: Abstraction, counts: Joint, opening: Solved, whole: SequenceGame, tell: Tell
) -> tuple[Floats, Floats]:
    """The behaviour of both players, [L] each, in the `whole` game of these buckets.

    `tell` hears where beliefs had to be given up.
    """
    betting = whole.betting
    assert betting is not None
    columns = GluedBuckets(buckets.tables[0][0].astype(np.int16), buckets)
    later: dict[int, Part] = {}
    for node in openings(betting):
        way = betting.name(node)[:-1]
        priors = beliefs(opening.game, opening.plans, way, lambda text: tell(text, 0.0))
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
    """A glued behaviour with the columns of the whole game: later ones repeat for first buckets."""
    tree, narrow = whole.trees[player], bucket_tree(betting, player, columns)
    out = whole.uniform(player)
    for r in range(betting.rules.num_rounds):
        wide, known = block(tree, r, r, out), block(narrow, r, r, glued)
        wide[:] = np.tile(known, wide.shape[1] // known.shape[1])
    return out
