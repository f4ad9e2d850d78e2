"""Strategies in the same game with more raises than they know: BigBot2298's rule.

A raise beyond its caps is called, and play continues as if the raiser had called instead (Range of
Skill, "Empirical Results"). `players.strategy_player` does so at the table; here it is a behaviour
of the larger game, so that best responses to it are exact.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from equilibrist.errors import InvalidValueError
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.kernels.treeplex import block, boards
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.models.treeplex import player_rows

CALLS, NEVER = -1, -2  # instead of a node: faces a raise beyond the caps; never arrives


def with_more_raises(small: SequenceGame, large: SequenceGame, player: int, plan: Floats) -> Floats:
    """Return behaviour [L] of `player` in `large` by a plan [L] of `small` with lower raise caps.

    The player must see the same cards in both. Uniform where the strategy never arrives.

    Example:
        >>> from equilibrist.games.bet_menu import BetMenu
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.models.exact import exact_game
        >>> rules = get_game("leduc")
        >>> small = exact_game(rules, BetMenu.parse(None, None, "1 1"))
        >>> large = exact_game(rules)
        >>> calls = with_more_raises(small, large, 0, small.realize(0, small.uniform(0)))
        >>> large.realize(0, calls).shape == (large.lengths[0],)
        True
    """
    if small.betting is None or large.betting is None:
        raise InvalidValueError(
            f"{small.name} has no betting tree to add raises to", value=small.name
        )
    if not np.array_equal(small.trees[player].num_states, large.trees[player].num_states):
        raise InvalidValueError(
            f"{small.name} and {large.name} have different cards", value=small.name
        )
    behaviour, out = small.behaviour(player, plan), large.uniform(player)
    sources = _row_sources(small.betting, large.betting, player)
    for r, source in enumerate(sources):
        rows = np.flatnonzero(source > NEVER)
        for board in boards(large.trees[player], r):
            known = block(small.trees[player], r, board, behaviour)
            mine = block(large.trees[player], r, board, out)
            fixed = np.repeat([[1.0], [0.0]], known.shape[1], axis=1)  # rows Q and −1
            mine[rows] = np.concatenate([known, fixed])[source[rows]]
    return out


def tables_in(
    known: BettingTree, other: BettingTree, player: int, tables: Sequence[Floats]
) -> list[Floats]:
    """Return the behaviour of `player` by round [Q, K] in another betting tree of the same game.

    `tables` is its behaviour by round in the tree that it knows. Raises that it does not know are
    called and forgotten; raises that it makes but the other tree does not have count as calls. Rows
    that open a round or that it never reaches hold 1.

    Example:
        >>> from equilibrist.games.bet_menu import BetMenu
        >>> from equilibrist.games.catalog import get_game
        >>> menus = [BetMenu.parse(None, None, caps) for caps in "10"]
        >>> trees = [BettingTree.build(get_game("kuhn"), menu) for menu in menus]
        >>> raises = np.array([[1.0], [0.25], [0.75], [0.5], [0.5]])  # also folds and calls
        >>> tables_in(*trees, 0, [raises])[0].ravel().tolist()  # there is nothing but to check
        [1.0, 1.0]
    """
    found = []
    for source, own in zip(_row_sources(known, other, player), tables, strict=True):
        fixed = np.repeat([[1.0], [1.0], [0.0]], own.shape[1], axis=1)  # rows Q, −2 and −1
        found.append(np.concatenate([own, fixed])[source])
    theirs, mine = player_rows(known, player), player_rows(other, player)
    for v, (place, _) in enumerate(follow(known, other, player)):
        if mine.decision[v] < 0 or place < 0:
            continue
        r = int(other.round[v]) - other.first_round
        called = other.child(v, "c")
        kinds = {_kind(other, child) for child in other.children(v)}
        for child in known.children(place):
            if _kind(known, child) not in kinds:
                assert called is not None
                found[r][mine.row[called]] += tables[r][theirs.row[child]]
    return found


def _row_sources(small: BettingTree, large: BettingTree, player: int) -> list[NDArray[np.int64]]:
    """Return by round, for each of the player's rows in `large`, the row of `small` that it plays.

    −1 for an action that is never taken, the number of rows for one that always is, −2 for rows
    that are not actions or that nobody reaches.
    """
    theirs, mine = player_rows(small, player), player_rows(large, player)
    sources = [np.full(int(number), NEVER, np.int64) for number in mine.num_sequences]
    for v, (place, _) in enumerate(follow(small, large, player)):
        if mine.decision[v] < 0 or place == NEVER:
            continue
        source = sources[int(large.round[v]) - large.first_round]
        always = int(theirs.num_sequences[int(large.round[v]) - large.first_round])
        for child in large.children(v):
            kind = _kind(large, child)
            if place == CALLS:
                source[mine.row[child]] = always if kind == "c" else -1
            else:
                known = small.same_child(place, large, child)
                source[mine.row[child]] = -1 if known is None else theirs.row[known]
    return sources


def follow(small: BettingTree, large: BettingTree, player: int) -> list[tuple[int, int]]:
    """Return for each node of `large` where `player` believes it is: (node, node after a call).

    Both are nodes of `small`. The first is −1 where the player faces a raise beyond the caps, which
    it calls and is then at the second; −2 where it never arrives.
    """
    found = [(0, 0)]
    for v in range(1, len(large)):
        parent, kind = int(large.parent[v]), _kind(large, v)
        place, after = found[parent]
        if place == CALLS:
            found.append((_settle(small, large, after, v), 0) if kind == "c" else (NEVER, 0))
            continue
        known = None if place == NEVER else small.same_child(place, large, v)
        if known is not None:
            found.append((known, 0))
        elif place == NEVER or large.player[parent] == player:
            found.append((NEVER, 0))
        else:
            called = small.child(place, "c")
            assert called is not None
            found.append((CALLS, called))
    return found


def _settle(small: BettingTree, large: BettingTree, node: int, v: int) -> int:
    """Return the node where the round of `small` is over too: a player still to act passes."""
    while small.kind[node] == NodeKind.DECISION and large.kind[v] != NodeKind.DECISION:
        passed = small.child(node, "c")
        assert passed is not None
        node = passed
    return node


def _kind(tree: BettingTree, node: int) -> str:
    """Return the kind of the action that leads to a node; empty where a round opens."""
    return chr(tree.action_kind[node]) if tree.action_kind[node] else ""
