"""Range of Skill: what best responses win from SmallBot2298, with more buckets and more raises.

Zinkevich, Bowling and Burch, "A New Algorithm for Generating Equilibria in Massive Zero-Sum Games"
(2007), Table 1: small bets a hand that a best response wins in either seat from a strategy of five
buckets a round and caps 2 3 3 3. The responder has the same buckets or ten a round, and the same
raises or all of them; then the strategy plays by BigBot2298's rule (`strategies.more_raises`).
"""

from __future__ import annotations

from dataclasses import dataclass

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.joint import Joint
from equilibrist.games.bet_menu import BetMenu
from equilibrist.models.bucketed import bucket_game
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.solving.best_response import best_response
from equilibrist.strategies.more_raises import with_more_raises

FINER = (10, 100, 1_000, 10_000)  # the finer buckets of Table 1
# Won by the best response as dealer, as big blind and on average, sb/h, by (finer buckets?, all
# raises?). The last average is printed so; its seats' is 0.0690.
PUBLISHED = {
    (False, False): (0.0936, -0.0725, 0.0106),
    (False, True): (0.1150, -0.0620, 0.0265),
    (True, False): (0.1377, -0.0322, 0.0528),
    (True, True): (0.1584, -0.0204, 0.0648),
}


@dataclass(frozen=True)
class Column:
    """A column of Table 1: what a best response wins, in small bets a hand."""

    is_finer: bool  # whether the responder has the finer buckets
    has_all_raises: bool
    dealer: float  # won in the dealer's seat, from the strategy as big blind
    big_blind: float

    @property
    def average(self) -> float:
        """Over both seats."""
        return (self.dealer + self.big_blind) / 2

    @property
    def published(self) -> tuple[float, float, float]:
        """The paper's: dealer, big blind, average."""
        return PUBLISHED[self.is_finer, self.has_all_raises]


def table_column(
    game: SequenceGame,
    plans: tuple[Floats, Floats],
    buckets: Abstraction,
    counts: Joint,
    finer: Abstraction | None = None,
    *,
    has_all_raises: bool,
) -> Column:
    """Best responses in both seats to plans of a bucket `game`.

    `counts` are those of the strategy's `buckets` with the responder's, which are `finer` if given.
    """
    assert game.betting is not None
    menu = BetMenu() if has_all_raises else game.betting.menu
    won = [_response(game, plans[1 - seat], seat, buckets, counts, finer, menu) for seat in (0, 1)]
    small_bet = buckets.rules.raise_sizes[0]
    return Column(finer is not None, has_all_raises, won[1] / small_bet, won[0] / small_bet)


def _response(
    game: SequenceGame,
    plan: Floats,
    seat: int,
    buckets: Abstraction,
    counts: Joint,
    finer: Abstraction | None,
    menu: BetMenu,
) -> float:
    """Chips that a best response in a seat wins from the other seat's plan."""
    responder = finer or buckets
    if seat == 1:
        wide = bucket_game(buckets, counts, menu, second=responder)
    else:
        wide = bucket_game(responder, counts.turned(), menu, second=buckets)
    behaviour = with_more_raises(game, wide, 1 - seat, plan)
    return best_response(wide, seat, wide.realize(1 - seat, behaviour))[0]
