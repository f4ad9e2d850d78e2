"""Games in which one player sees buckets and the other sees cards, for small decks.

The optimal plan of the first player is the least exploitable strategy of its buckets in the real
game (Johanson, Bard, Burch and Bowling 2012, "Finding Optimal Abstract Strategies in Extensive-Form
Games"). The cards are the buckets of the recipe `lossless`, so the game is a `bucket_game` of two
sets of buckets, and every solver takes it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.joint_counts import joint
from equilibrist.abstraction.recipes.lossless import lossless
from equilibrist.abstraction.streets import Streets
from equilibrist.games.bet_menu import BetMenu
from equilibrist.kernels.array_structs import Treeplex
from equilibrist.models.bucketed import bucket_game
from equilibrist.models.game import SequenceGame

_GAME_MENU = BetMenu()


def one_sided_games(
    buckets: Abstraction, menu: BetMenu = _GAME_MENU
) -> tuple[SequenceGame, SequenceGame]:
    """Build the games in which player 0, or player 1, sees buckets, and the opponent cards.

    The plans of the player with the buckets have the layout of those of `bucket_game(buckets, …)`.

    Example:
        >>> from equilibrist.abstraction.recipes import build
        >>> from equilibrist.games.catalog import get_game
        >>> first, second = one_sided_games(build("percentile", get_game("leduc"), [3, 3]))
        >>> first.lengths, second.lengths
        ((144, 624), (624, 144))
    """
    cards, ordered = lossless(buckets.rules), with_ordered_boards(buckets)
    counts = joint(ordered, cards)
    numbers = "-".join(map(str, buckets.num_buckets))
    first = bucket_game(ordered, counts, menu, second=cards)
    second = bucket_game(cards, counts.transposed(), menu, second=ordered)
    text = f"{buckets.rules.name}, player {{}} in buckets {numbers}, player {{}} in cards"
    return replace(first, name=text.format(0, 1)), replace(second, name=text.format(1, 0))


def with_ordered_boards(buckets: Abstraction) -> Abstraction:
    """Return the same buckets with last boards that differ by the order of their streets."""
    streets = Streets.of(buckets.rules, ordered=True)
    if buckets.streets.ordered:
        return buckets
    values = np.empty((streets.num_boards(len(streets) - 1), streets.num_hands), np.int64)
    for own, board in zip(values, streets.boards(len(streets) - 1), strict=True):
        _, number, columns = buckets.streets.locate(tuple(board.tolist()))
        own[:] = buckets.values[number].take(columns)
    return replace(buckets, streets=streets, values=values.astype(buckets.values.dtype))


def first_rounds(tree: Treeplex, number: int) -> Treeplex:
    """Return the treeplex of the first rounds only; its plans begin the plans of the whole.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.models.exact import exact_game
        >>> tree = exact_game(get_game("leduc")).trees[0]
        >>> len(first_rounds(tree, 1).num_states), len(first_rounds(tree, 2).num_states)
        (1, 4)
    """
    boards, decisions = int(tree.board_start[number]), int(tree.decision_start[number])
    return Treeplex(
        num_sequences=tree.num_sequences[:number],
        board_start=tree.board_start[: number + 1],
        block_start=tree.block_start[: boards + 1],
        num_states=tree.num_states[:boards],
        board_parent=tree.board_parent[:boards],
        child_start=np.minimum(tree.child_start[: boards + 1], boards),
        state_start=tree.state_start[: boards + 1],
        state_parent=tree.state_parent[: int(tree.state_start[boards])],
        entry_start=tree.entry_start[: number + 1],
        entry_parent=tree.entry_parent[: int(tree.entry_start[number])],
        decision_start=tree.decision_start[: number + 1],
        decision_parent=tree.decision_parent[:decisions],
        decision_first=tree.decision_first[:decisions],
        decision_size=tree.decision_size[:decisions],
        locked=tree.locked[:decisions],
    )
