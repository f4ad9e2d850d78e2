"""Treeplexes: a player's side of a game, rows of the betting tree times states of the cards.

The rows come from a `BettingTree`, the states from `CardStates`; together they are the arrays of
`kernels/array_structs.Treeplex`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.kernels.array_structs import LeafTables, Treeplex, WalkTables
from equilibrist.models.money import Rake


@dataclass(frozen=True, eq=False)
class PlayerRows:
    """One player's rows of a plan, numbered along the betting tree; fields as in `Treeplex`."""

    row: NDArray[np.int32]  # [V] row of the player, in the node's round, that leads to each node
    decision: NDArray[np.int32]  # [V] number of the player's decision at a node, −1 elsewhere
    num_sequences: NDArray[np.int64]
    entry_start: NDArray[np.int64]
    entry_parent: NDArray[np.int32]
    decision_start: NDArray[np.int64]
    decision_parent: NDArray[np.int32]
    decision_first: NDArray[np.int32]
    decision_size: NDArray[np.int32]


def player_rows(tree: BettingTree, player: int) -> PlayerRows:
    """Number a player's rows, round by round: entries first, then actions, parents first."""
    row = np.full(len(tree), -1, np.int32)
    decision = np.full(len(tree), -1, np.int32)
    num_sequences, entry_start, decision_start = [], [0], [0]
    entry_parent: list[int] = []
    found: list[tuple[int, int, int]] = []  # parent row, first row, number of actions
    decides = tree.kind == NodeKind.DECISION
    for r in range(tree.first_round, tree.last_round + 1):
        nodes = np.flatnonzero(tree.round == r)
        # A round's roots are the nodes that no action of the round leads to.
        roots = [v for v in nodes if tree.action_kind[v] == 0]
        for e, v in enumerate(roots):
            row[v] = e
            entry_parent.append(-1 if v == 0 else int(row[tree.parent[v]]))
        next_row = len(roots)
        for v in nodes:
            if not decides[v]:
                continue
            children = tree.children(int(v))
            if tree.player[v] == player:
                decision[v] = len(found)
                found.append((int(row[v]), next_row, len(children)))
                row[children.start : children.stop] = next_row + np.arange(len(children))
                next_row += len(children)
            else:
                row[children.start : children.stop] = row[v]
        num_sequences.append(next_row)
        entry_start.append(len(entry_parent))
        decision_start.append(len(found))
    parents, firsts, sizes = np.array(found, np.int32).reshape(-1, 3).T
    return PlayerRows(
        row=row,
        decision=decision,
        num_sequences=np.array(num_sequences, np.int64),
        entry_start=np.array(entry_start, np.int64),
        entry_parent=np.array(entry_parent, np.int32),
        decision_start=np.array(decision_start, np.int64),
        decision_parent=np.ascontiguousarray(parents),
        decision_first=np.ascontiguousarray(firsts),
        decision_size=np.ascontiguousarray(sizes),
    )


class PrivateStates(Protocol):
    """Boards and private states of a player, by round; boards are numbered from 0 in each."""

    @property
    def board_parent(self) -> list[NDArray[np.int64]]:
        """[boards] board of the round before, for each round."""

    @property
    def num_states(self) -> list[NDArray[np.int64]]:
        """[boards] number of states on each board, for each round."""

    @property
    def state_parent(self) -> list[NDArray[np.int32]]:
        """[states of all boards] state on the parent board, for each round."""


def treeplex(rows: PlayerRows, states: PrivateStates) -> Treeplex:
    """Build a treeplex from rows and states."""
    num_boards = [len(board_states) for board_states in states.num_states]
    board_start = np.cumsum([0, *num_boards])
    num_states = np.concatenate(states.num_states).astype(np.int64)
    rows_of_board = np.repeat(rows.num_sequences, num_boards)
    board_parent = np.concatenate(
        [
            np.full(num_boards[r], -1) if r == 0 else parents + board_start[r - 1]
            for r, parents in enumerate(states.board_parent)
        ]
    ).astype(np.int64)
    # Boards are in the order of their parents, so the children of a board are contiguous.
    child_start = np.searchsorted(board_parent, np.arange(len(num_states) + 1))
    child_start = np.maximum(child_start, board_start[1])
    return Treeplex(
        num_sequences=rows.num_sequences,
        board_start=board_start.astype(np.int64),
        block_start=np.concatenate([[0], np.cumsum(rows_of_board * num_states)]).astype(np.int64),
        num_states=num_states,
        board_parent=board_parent,
        child_start=child_start.astype(np.int64),
        state_start=np.concatenate([[0], np.cumsum(num_states)]).astype(np.int64),
        state_parent=np.concatenate(states.state_parent).astype(np.int32),
        entry_start=rows.entry_start,
        entry_parent=rows.entry_parent,
        decision_start=rows.decision_start,
        decision_parent=rows.decision_parent,
        decision_first=rows.decision_first,
        decision_size=rows.decision_size,
        locked=np.zeros(len(rows.decision_first), np.bool_),
    )


def with_states(tree: Treeplex, held: NDArray[np.bool_]) -> Treeplex:
    """Return a treeplex with only some of the states on the boards of the last round.

    `held` marks those among the states of these boards; they are numbered without gaps.
    """
    first = int(tree.board_start[-2])
    start = tree.state_start[first:] - tree.state_start[first]
    before = np.concatenate([[0], np.cumsum(held)])[start]
    length = int(tree.num_sequences[-1])
    kept = tree.state_parent[tree.state_start[first] :][held]
    return tree._replace(
        block_start=np.concatenate(
            [tree.block_start[:first], tree.block_start[first] + length * before]
        ),
        num_states=np.concatenate([tree.num_states[:first], np.diff(before)]),
        state_start=np.concatenate([tree.state_start[:first], tree.state_start[first] + before]),
        state_parent=np.concatenate([tree.state_parent[: tree.state_start[first]], kept]),
    )


def leaf_tables(tree: BettingTree, rows: tuple[PlayerRows, PlayerRows]) -> LeafTables:
    """Build the leaves of a betting tree, with their chips."""
    both = np.stack([rows[0].row, rows[1].row], axis=1)
    rounds = range(tree.first_round, tree.last_round + 1)
    folds = [tree.nodes(NodeKind.FOLD, r) for r in rounds]
    showdowns = [tree.nodes(NodeKind.SHOWDOWN, r) for r in rounds]
    fold_nodes, showdown_nodes = np.concatenate(folds), np.concatenate(showdowns)
    folder = tree.player[fold_nodes]
    lost = tree.spent[fold_nodes, folder].astype(np.float64)
    won = np.where(folder == 1, lost, -lost)
    return LeafTables(
        fold_start=np.cumsum([0, *map(len, folds)]).astype(np.int64),
        fold_rows=np.ascontiguousarray(both[fold_nodes], np.int32),
        fold_payoff=np.stack([won, -won], axis=1),
        showdown_start=np.cumsum([0, *map(len, showdowns)]).astype(np.int64),
        showdown_rows=np.ascontiguousarray(both[showdown_nodes], np.int32),
        showdown_stake=tree.spent[showdown_nodes].min(axis=1).astype(np.float64),
    )


def raked(leaves: LeafTables, rake: Rake) -> LeafTables:
    """Return the leaves of a zero-sum game after the house has taken its rake, in chips of both.

    Uncalled bets are not raked, so the pot is twice what the loser of a leaf loses. A fold costs
    the winner the rake r. At a showdown the winner of stake s wins s − r, the loser loses s, and in
    a tie both lose r / 2: that is a showdown for s − r / 2, and r / 2 less for both whatever they
    hold, which is a fold on the same rows.
    """
    won = leaves.fold_payoff
    cost = rake.taken(2 * np.abs(won[:, :1]))
    half = rake.taken(2 * leaves.showdown_stake) / 2
    ends = leaves.fold_start[1:]
    shown = np.diff(leaves.showdown_start)  # by round; their halves follow the folds of the round
    places = np.repeat(ends, shown)
    both = np.stack([-half, -half], axis=1)
    return leaves._replace(
        fold_start=leaves.fold_start + leaves.showdown_start,
        fold_rows=np.insert(leaves.fold_rows, places, leaves.showdown_rows, axis=0),
        fold_payoff=np.insert(np.where(won > 0, won - cost, won), places, both, axis=0),
        showdown_stake=leaves.showdown_stake - half,
    )


def scaled(leaves: LeafTables, size: int) -> LeafTables:
    """Return leaves in a unit of `size` chips."""
    return leaves._replace(
        fold_payoff=leaves.fold_payoff / size, showdown_stake=leaves.showdown_stake / size
    )


def betting_walk(tree: BettingTree) -> WalkTables:
    """Convert a betting tree to arrays for walks through it; no decision is locked.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> walk = betting_walk(BettingTree.build(get_game("kuhn")))
        >>> walk.actor.tolist(), walk.contested.tolist()
        ([0, 1, 1, -1, 0, -1, -1, -1, -1], [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 2.0, 0.0, 2.0])
    """
    rows = (player_rows(tree, 0), player_rows(tree, 1))
    leaves = leaf_tables(tree, rows)
    fixed, contested = np.zeros(len(tree)), np.zeros(len(tree))
    fixed[tree.nodes(NodeKind.FOLD)] = leaves.fold_payoff[:, 0]
    contested[tree.nodes(NodeKind.SHOWDOWN)] = leaves.showdown_stake
    return WalkTables(
        actor=np.where(tree.kind == NodeKind.DECISION, tree.player, -1).astype(np.int64),
        round=tree.round.astype(np.int64) - tree.first_round,
        first_child=tree.first_child.astype(np.int64),
        num_children=tree.num_children.astype(np.int64),
        row=np.stack([own.row for own in rows], axis=1).astype(np.int64),
        opens=tree.action_kind == 0,
        locked=np.zeros(len(tree), np.bool_),
        fixed=fixed,
        contested=contested,
    )
