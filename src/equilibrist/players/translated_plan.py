"""Strategies in the same no-limit game with more bet sizes than they know: action translation.

`players.strategy_player` reads a bet that its strategy does not know as one that it knows, at
random by the pseudo-harmonic mapping (`translation`). Here the same is a behaviour of the game with
all sizes, the average over the random readings, so that best responses to it are exact.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equilibrist.errors import InvalidValueError
from equilibrist.games.action import CALL, Action
from equilibrist.games.betting import Betting
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.kernels.treeplex import block, boards, parents_of
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.models.treeplex import player_rows
from equilibrist.players.translation import nearest_raise, readings, real_action


class _Reading(NamedTuple):
    """One way in which a strategy has read the betting at a node."""

    node: int  # of the strategy's tree
    is_extra: bool  # whether it now faces a raise that it read as a call
    is_lost: bool  # whether its tree is all-in and the table is not, so that it only calls
    weight: float  # probability of the random readings that led here
    row: tuple[int, int]  # round and row of its plan: the probability of its own actions so far


def with_more_sizes(small: SequenceGame, large: SequenceGame, player: int, plan: Floats) -> Floats:
    """Return behaviour [L] of `player` in `large` by a plan [L] of `small`, by translation.

    Both must have the same cards. A bet of the strategy that `large` does not have becomes the
    nearest that it has. Uniform where the strategy never arrives.

    Example:
        >>> from equilibrist.games.bet_menu import BetMenu
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.models.exact import exact_game
        >>> from dataclasses import replace
        >>> rules = replace(get_game("kuhn"), betting="nolimit", stacks=(9, 9), raise_sizes=())
        >>> small, large = (exact_game(rules, BetMenu.parse(bets)) for bets in ("100%", "50%,100%"))
        >>> plan = small.realize(1, small.uniform(1))
        >>> behaviour = with_more_sizes(small, large, 1, plan)
        >>> row = player_rows(large.betting, 1).row[large.betting.parse("r2f")]
        >>> block(large.trees[1], 0, 0, behaviour)[row].round(3).tolist()  # read as a bet, or check
        [0.333, 0.333, 0.333]
    """
    known, betting = small.betting, large.betting
    if known is None or betting is None:
        raise InvalidValueError(
            f"{small.name} has no betting tree to add bets to", value=small.name
        )
    if not np.array_equal(small.trees[player].num_states, large.trees[player].num_states):
        raise InvalidValueError(
            f"{small.name} and {large.name} have different cards", value=small.name
        )
    found = np.zeros(large.lengths[player])
    own, rows = player_rows(known, player).row, player_rows(betting, player).row
    for r in range(len(large.trees[player].num_sequences)):
        for board in boards(large.trees[player], r):
            block(large.trees[player], r, board, found)[_entries(large, player, r)] = 1
    ways: list[list[_Reading]] = [[] for _ in range(len(betting))]
    ways[0] = [_Reading(0, False, False, 1.0, (0, int(own[0])))]
    for node in range(len(betting)):
        for reading in ways[node]:
            for child, way in _moves(known, betting, node, reading, player, own):
                ways[child].append(way)
                if betting.player[node] == player:
                    _add(small, large, player, plan, found, int(rows[child]), node, way)
    return large.behaviour(player, found)


def _entries(game: SequenceGame, player: int, r: int) -> slice:
    starts = game.trees[player].entry_start
    return slice(0, int(starts[r + 1] - starts[r]))


def _moves(
    known: BettingTree,
    betting: BettingTree,
    node: int,
    reading: _Reading,
    player: int,
    own: NDArray[np.int32],
) -> list[tuple[int, _Reading]]:
    """Return the nodes that follow a node, each with how the strategy then reads the betting."""
    if not betting.children(node):
        return []
    if betting.kind[node] == NodeKind.ROUND_END:
        return [(betting.children(node)[0], _next_round(known, reading, own))]
    knows = known.kind[reading.node] == NodeKind.DECISION and not reading.is_lost
    if not knows or reading.is_extra:
        called = known.child(reading.node, "c") if knows else None
        after = reading if called is None else reading._replace(node=called)
        kinds = "c" if betting.player[node] == player else "fcr"
        return [
            (child, after) for child in betting.children(node) if _kind(betting, child) in kinds
        ]
    now, found = betting.state(node), []
    if betting.player[node] == player:
        r = int(known.round[reading.node])
        for child in known.children(reading.node):
            there = _child_of(betting, node, now, real_action(known, child, now))
            found.append((there, reading._replace(node=child, row=(r, int(own[child])))))
        return found
    for child in betting.children(node):
        action = betting.action(child)
        assert action is not None
        if action.kind != "r":
            same = known.child(reading.node, action.kind)
            found.append((child, reading if same is None else reading._replace(node=same)))
            continue
        for read, share in readings(known, reading.node, now, action):
            called = known.child(reading.node, "c") if read is None else read
            after = reading._replace(
                node=reading.node if called is None else called,
                is_extra=read is None,
                weight=reading.weight * share,
            )
            found.append((child, after))
    return found


def _next_round(known: BettingTree, reading: _Reading, own: NDArray[np.int32]) -> _Reading:
    if known.kind[reading.node] != NodeKind.ROUND_END or reading.is_lost:
        return reading._replace(is_extra=False, is_lost=True)
    node = known.children(reading.node)[0]
    row = int(known.round[node]), int(own[node])
    return reading._replace(node=node, is_extra=False, row=row)


def _kind(betting: BettingTree, child: int) -> str:
    return chr(betting.action_kind[child])


def _child_of(betting: BettingTree, node: int, now: Betting, action: Action) -> int:
    """Return the child of a node that an action leads to; a raise, to the nearest one."""
    if action.kind == "r":
        child = nearest_raise(betting, node, now, action)
        if child is not None:
            return child
        action = CALL
    found = betting.child(node, action.kind)
    assert found is not None
    return found


def _add(
    small: SequenceGame,
    large: SequenceGame,
    player: int,
    plan: Floats,
    out: Floats,
    row: int,
    node: int,
    way: _Reading,
) -> None:
    """Add the probability of a reading and of the strategy's own actions in it to a row."""
    assert large.betting is not None
    tree, r = large.trees[player], int(large.betting.round[node])
    begin, known_row = way.row
    for board in boards(tree, r):
        states: NDArray[Any] = np.arange(int(tree.num_states[board]))
        above = board
        for _ in range(r - begin):
            states, above = parents_of(tree, above)[states], int(tree.board_parent[above])
        theirs = block(small.trees[player], begin, above, plan)[known_row]
        block(tree, r, board, out)[row] += way.weight * theirs[states]
