"""Best responses of an opponent that sees more than the strategy: finer buckets, or more raises.

Their winnings are a strategy's exploitability in a larger model, as in Range of Skill's Table 1
(Zinkevich, Bowling and Burch 2007). Raises beyond the strategy's caps are called and forgotten.
"""

from __future__ import annotations

from equilibrist import stopping
from equilibrist.abstraction.bucket_tree import BucketTree
from equilibrist.abstraction.joint_counts import Joint
from equilibrist.games.bet_menu import BetMenu
from equilibrist.models.bucketed import bucket_game
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.solving.best_response import best_response
from equilibrist.strategies.raise_cap_rule import with_more_raises


def refined_responses(
    game: SequenceGame,
    plans: tuple[Floats, Floats],
    buckets: BucketTree,
    counts: Joint,
    finer: BucketTree | None,
    menu: BetMenu,
) -> tuple[float, float]:
    """Return the chips that best responses in either seat win from plans of a bucket `game`.

    `counts` are those of the strategy's `buckets` with the responder's, which are `finer` if given;
    the raises are those of `menu`. Without either, the result is the game's own best responses.

    Example:
        >>> from equilibrist.abstraction.joint_counts import joint
        >>> from equilibrist.abstraction.recipes import build
        >>> from equilibrist.games.catalog import get_game
        >>> own, more = (build("percentile", get_game("leduc"), n) for n in ([3, 3], [3, 6]))
        >>> game = bucket_game(own, joint(own))
        >>> plans = tuple(game.realize(player, game.uniform(player)) for player in (0, 1))
        >>> same = refined_responses(game, plans, own, joint(own), None, BetMenu())
        >>> wide = refined_responses(game, plans, own, joint(own, more), more, BetMenu())
        >>> [more > less for more, less in zip(wide, same)]
        [True, True]
    """
    betting = game.betting
    assert betting is not None
    start = betting.first_round
    pot = int(betting.spent[0].sum()) if start else None
    responder, won = finer or buckets, []
    for seat in (0, 1):
        stopping.check()
        if seat == 1:
            wide = bucket_game(buckets, counts, menu, second=responder, first_round=start, pot=pot)
        else:
            wide = bucket_game(
                responder, counts.transposed(), menu, second=buckets, first_round=start, pot=pot
            )
        behaviour = with_more_raises(game, wide, 1 - seat, plans[1 - seat])
        won.append(best_response(wide, seat, wide.realize(1 - seat, behaviour))[0])
    return won[0], won[1]
