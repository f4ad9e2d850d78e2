"""Games of buckets: an abstraction's states instead of cards, one board a round.

J and W of the last round are an abstraction's joint counts; buckets are nested, so those of earlier
rounds are sums over children. The players' abstractions may differ. `lift` reads a bucket strategy
as one of the real game, where every hand plays as its bucket does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.joint import Joint
from equilibrist.abstraction.nesting import sums_over_children
from equilibrist.errors import InvalidValueError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree
from equilibrist.kernels.layout import Treeplex
from equilibrist.kernels.reference.sequence_form import block, boards
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.models.leaves import matrix_pairs
from equilibrist.models.treeplex import leaf_tables, player_rows, treeplex

_GAME_MENU = BetMenu()


@dataclass(frozen=True, eq=False)
class BucketStates:
    """Buckets as private states: one board a round."""

    num_states: list[NDArray[np.int64]]
    board_parent: list[NDArray[np.int64]]
    state_parent: list[NDArray[np.int32]]

    @staticmethod
    def of(abstraction: Abstraction) -> BucketStates:
        """The buckets of every round."""
        rounds = range(len(abstraction.parents))
        return BucketStates(
            num_states=[np.array([number]) for number in abstraction.num_buckets],
            board_parent=[np.array([-1 if r == 0 else 0]) for r in rounds],
            state_parent=[np.maximum(parents, 0) for parents in abstraction.parents],
        )


def bucket_game(
    first: Abstraction,
    counts: Joint,
    menu: BetMenu = _GAME_MENU,
    *,
    second: Abstraction | None = None,
    backend: str = "cpu",
) -> SequenceGame:
    """The game in which player 0 sees the buckets of `first`, player 1 those of `second`.

    `counts` are theirs (`abstraction.joint.joint`). `second` is `first` if not given.

    Example:
        >>> from equilibrist.abstraction.features import Strengths
        >>> from equilibrist.abstraction.joint import joint
        >>> from equilibrist.abstraction.recipes.percentile import percentile
        >>> from equilibrist.abstraction.streets import Streets
        >>> from equilibrist.games.catalog import get_game
        >>> buckets = percentile(Strengths.of(Streets.of(get_game("leduc"))), [3, 6])
        >>> bucket_game(buckets, joint(buckets)).num_infosets
        198
    """
    other = second or first
    counts.check(first, other)
    rules = first.rules
    betting = BettingTree.build(rules, menu)
    rows = (player_rows(betting, 0), player_rows(betting, 1))
    met = sums_over_children(counts.met / counts.total, first, other)
    won = sums_over_children(counts.won / counts.total, first, other)
    return SequenceGame(
        name=bucket_name(first),
        unit="chips",
        trees=(bucket_tree(betting, 0, first), bucket_tree(betting, 1, other)),
        leaves=leaf_tables(betting, rows),
        pairs=matrix_pairs(met, won),
        first_player=rules.first_players[0],
        betting=betting,
        backend=backend,
    )


def bucket_tree(betting: BettingTree, player: int, buckets: Abstraction) -> Treeplex:
    """One player's side of a game of buckets."""
    own, most = betting.rules, buckets.rules.max_raises
    if len(own.max_raises) != len(most) or replace(own, max_raises=most) != buckets.rules:
        raise InvalidValueError(
            f"these are buckets of {buckets.rules.name}, not of {betting.rules.name}",
            value=buckets.rules.name,
        )
    return treeplex(player_rows(betting, player), BucketStates.of(buckets))


def bucket_name(buckets: Abstraction) -> str:
    """What a game of buckets is called."""
    return f"{buckets.rules.name} in buckets {'-'.join(map(str, buckets.num_buckets))}"


def lift(
    game: SequenceGame, abstract: SequenceGame, abstraction: Abstraction, player: int, plan: Floats
) -> Floats:
    """Behaviour [L] of `player` in the exact `game`, hands playing as their buckets in `abstract`.

    The betting of both games must be the same.
    """
    states = game.states
    if states is None or game.trees[player].decision_first.tolist() != (
        abstract.trees[player].decision_first.tolist()
    ):
        raise InvalidValueError(
            f"{abstract.name} has another betting than {game.name}", value=abstract.name
        )
    behaviour = abstract.behaviour(player, plan)
    tree, small = game.trees[player], abstract.trees[player]
    out = game.uniform(player)
    for r in range(len(tree.num_sequences)):
        wide = block(small, r, r, behaviour)  # [Q, K]
        for number, board in enumerate(boards(tree, r)):
            labels = abstraction.buckets(tuple(states.boards[r][number].tolist()))
            held = states.state_of_hand[r][number]
            bucket = np.zeros(int(tree.num_states[board]), np.int64)
            bucket[held[held >= 0]] = labels[held >= 0]
            block(tree, r, board, out)[:] = wide[:, bucket]
    return out
