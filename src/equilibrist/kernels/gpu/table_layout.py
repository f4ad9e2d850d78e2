"""Arrays of a game of two-card hands on the GPU, from those of the CPU (`gpu/tables.py`).

Tables have a row for each state of a round and a column for each row of actions of a player; the
columns are in an order of their own (`places`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equilibrist.errors import DeviceError
from equilibrist.kernels.array_structs import HandPairs, LeafTables, PairTables, Treeplex
from equilibrist.kernels.gpu import device
from equilibrist.kernels.gpu.tables import MANY, NONE, THREADS, Cards, Leaves, Rows


def check_game(trees: tuple[Treeplex, Treeplex], pairs: PairTables) -> None:
    """Raise `DeviceError` unless the kernels can play the game."""
    if not isinstance(pairs, HandPairs):
        raise DeviceError("the GPU plays tables of two-card hands only; use the device cpu")
    first, second = trees
    same = ("num_states", "state_start", "state_parent", "board_parent", "board_start")
    if not all(np.array_equal(getattr(first, name), getattr(second, name)) for name in same):
        raise DeviceError("the GPU needs the same states for both players; use the device cpu")


def num_blocks(threads: int) -> int:
    """Return the number of blocks for a number of threads."""
    return -(-threads // THREADS)


def batches(start: NDArray[np.int64], room: int) -> list[tuple[int, int]]:
    """Divide boards into ranges of at most `room` states, or one board: (first, end)."""
    found, begin, end = [], 0, len(start) - 1
    while begin < end:
        last = int(np.searchsorted(start, start[begin] + room, side="right")) - 1
        found.append((begin, max(last, begin + 1)))
        begin = found[-1][1]
    return found


def cards_of(tree: Treeplex, pairs: PairTables, r: int) -> Cards:
    """Return the boards of a round on the GPU."""
    begin, end = int(tree.board_start[r]), int(tree.board_start[r + 1])
    first, last = int(tree.state_start[begin]), int(tree.state_start[end])
    parent = _parents(tree, r) if r else np.arange(last - first)  # or those of given reaches
    child_start, child = np.zeros(last - first + 1, np.int64), np.zeros(1, np.int64)
    if end < len(tree.num_states):
        below = _parents(tree, r + 1)
        child = np.argsort(below, kind="stable")
        child_start = np.searchsorted(below[child], np.arange(last - first + 1))
    hands = slice(int(pairs.hand_start[begin]), int(pairs.hand_start[end]))
    states = slice(int(pairs.state_start[begin]), int(pairs.state_start[end]))
    to = device.cuda().to_device
    return Cards(
        *(
            to(array.astype(np.uint32))
            for array in (
                state_start(tree, r),
                parent,
                child_start,
                child,
                pairs.hand_start[begin : end + 1] - pairs.hand_start[begin],
                pairs.hand_state[hands],
            )
        ),
        *(
            to(np.ascontiguousarray(array))
            for array in (
                pairs.hand_cards[hands],
                pairs.hand_others[hands].astype(np.uint32),
                pairs.state_size[states],
                pairs.state_order[states].astype(np.uint32),
                pairs.state_cards[states],
                pairs.state_below[states].astype(np.uint32),
                pairs.weight[begin:end],
                *_segments(pairs, begin, end),
            )
        ),
    )


def _segments(
    pairs: PairTables, begin: int, end: int
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Divide the hands and states of boards into segments of about equal length by value."""
    found = np.zeros((2, end - begin, MANY + 1), np.uint32)
    shares = np.arange(MANY + 1) / MANY
    for number, board in enumerate(range(begin, end)):
        hands = slice(int(pairs.hand_start[board]), int(pairs.hand_start[board + 1]))
        states = slice(int(pairs.state_start[board]), int(pairs.state_start[board + 1]))
        num_hands, num_states = hands.stop - hands.start, states.stop - states.start
        first_hands = np.append(np.unique(pairs.hand_others[hands, 0]), num_hands)
        first_states = np.append(np.unique(pairs.state_below[states, 0]), num_states)
        group = np.searchsorted(first_hands, shares * num_hands)
        found[:, number] = first_hands[group], first_states[group]
    return found[0], found[1]


def state_start(tree: Treeplex, r: int) -> NDArray[np.int64]:
    """Return the first state of each board of a round among those of the round: [boards + 1]."""
    begin, end = int(tree.board_start[r]), int(tree.board_start[r + 1])
    return np.cumsum([0, *tree.num_states[begin:end]]).astype(np.int64)


def _parents(tree: Treeplex, r: int) -> NDArray[np.int64]:
    """Return, for each state of a round, its parent among the states of the round before."""
    begin, end = int(tree.board_start[r]), int(tree.board_start[r + 1])
    first, last = int(tree.state_start[begin]), int(tree.state_start[end])
    board = np.repeat(tree.board_parent[begin:end], tree.num_states[begin:end])
    above = int(tree.state_start[tree.board_start[r - 1]])
    return tree.state_start[board] - above + tree.state_parent[first:last]


def leaf_rows_of(leaves: LeafTables, r: int, player: int) -> NDArray[np.uint32]:
    """Return a player's row at each leaf of a round, folds first."""
    folds = slice(int(leaves.fold_start[r]), int(leaves.fold_start[r + 1]))
    shown = slice(int(leaves.showdown_start[r]), int(leaves.showdown_start[r + 1]))
    return np.concatenate([leaves.fold_rows[folds, player], leaves.showdown_rows[shown, player]])


def leaves_of(
    leaves: LeafTables, r: int, player: int, place: NDArray[np.uint32]
) -> tuple[Leaves, NDArray[np.intp]]:
    """Return the leaves of a round for a player on the GPU, and their order.

    `place` is that of the opponent's rows.
    """
    folds = slice(int(leaves.fold_start[r]), int(leaves.fold_start[r + 1]))
    shown = slice(int(leaves.showdown_start[r]), int(leaves.showdown_start[r + 1]))
    row = place[leaf_rows_of(leaves, r, 1 - player)]
    is_shown = np.arange(len(row)) >= folds.stop - folds.start
    order = np.lexsort((row, is_shown))
    stake = np.concatenate([leaves.fold_payoff[folds, player], leaves.showdown_stake[shown]])
    to = device.cuda().to_device
    return Leaves(to(_some(row[order])), to(_some(stake[order]))), order


def places_of(tree: Treeplex) -> list[NDArray[np.uint32]]:
    """Return where each row stands on the GPU, by round: [Q]; entries stay the first rows.

    Rows of actions are ordered by the decision's number below its entry, its number of actions, the
    action, and the entry.
    """
    found = []
    for r in range(len(tree.num_sequences)):
        num_entries = int(tree.entry_start[r + 1] - tree.entry_start[r])
        entry, number = _below_entries(tree, r)
        decisions = slice(int(tree.decision_start[r]), int(tree.decision_start[r + 1]))
        size = tree.decision_size[decisions]
        row = np.repeat(tree.decision_first[decisions], size)
        action = np.arange(len(row)) - np.repeat(np.cumsum(size) - size, size)
        keys = (np.repeat(entry, size), action, np.repeat(size, size), np.repeat(number, size))
        place = np.arange(int(tree.num_sequences[r]), dtype=np.uint32)
        place[(row + action)[np.lexsort(keys)]] = num_entries + np.arange(len(row))
        found.append(place)
    return found


def _below_entries(tree: Treeplex, r: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return for each decision of a round its entry, and its number below it, parents first."""
    decisions = slice(int(tree.decision_start[r]), int(tree.decision_start[r + 1]))
    parent, first = tree.decision_parent[decisions], tree.decision_first[decisions]
    entry_of = np.arange(int(tree.num_sequences[r]))  # of each row; parents come first
    for above, row, size in zip(parent, first, tree.decision_size[decisions], strict=True):
        entry_of[row : row + size] = entry_of[above]
    entry = entry_of[parent]
    order = np.argsort(entry, kind="stable")
    number = np.empty(len(entry), np.intp)
    number[order] = np.arange(len(entry)) - np.searchsorted(entry[order], entry[order])
    return entry, number


def columns_of(place: NDArray[np.uint32], num_entries: int) -> NDArray[np.uint32]:
    """Return where the rows of actions stand in a table without entries."""
    return place[num_entries:] - np.uint32(num_entries)


def rows_of(
    tree: Treeplex, leaf_rows: NDArray[np.uint32], r: int, place: list[NDArray[np.uint32]]
) -> Rows:
    """Return the rows of a player in a round on the GPU; `leaf_rows` are those of its leaves."""
    entries = slice(int(tree.entry_start[r]), int(tree.entry_start[r + 1]))
    decisions = slice(int(tree.decision_start[r]), int(tree.decision_start[r + 1]))
    num_rows, (entry, number) = int(tree.num_sequences[r]), _below_entries(tree, r)
    first, size = tree.decision_first[decisions], tree.decision_size[decisions]
    second = np.minimum(first + 1, num_rows - 1)
    shape = (max(1, int(number.max(initial=0)) + 1), entries.stop - entries.start)
    to = device.cuda().to_device

    def by_entry(values: NDArray[Any]) -> Any:
        table = np.zeros(shape, np.uint32)
        table[number, entry] = values
        return to(table)

    above = tree.entry_parent[entries]
    below = np.zeros(0, np.int32)
    if r + 1 < len(tree.num_sequences):
        below = tree.entry_parent[int(tree.entry_start[r + 1]) : int(tree.entry_start[r + 2])]
    leaves = _first_two(place[r][leaf_rows], num_rows)
    entered = _by_row(place[r][below], np.arange(len(below)), num_rows)
    return Rows(
        to(place[r - 1][above] if r else np.zeros(len(above), np.uint32)),
        by_entry(place[r][tree.decision_parent[decisions]]),
        by_entry(place[r][first]),
        by_entry(np.where(size > 1, place[r][second].astype(np.int64) - place[r][first], 0)),
        by_entry(size),
        by_entry(tree.locked[decisions]),
        *(to(_some(array)) for array in (*leaves, *entered)),
    )


def _first_two(rows: NDArray[np.uint32], num_rows: int) -> tuple[NDArray[Any], ...]:
    """Return one leaf of each row, another, and lists of the rest: see `Rows`."""
    order = np.argsort(rows, kind="stable")
    number = np.arange(len(rows)) - np.searchsorted(rows[order], rows[order])
    both = np.full((2, num_rows), NONE, np.uint32)
    for i in (0, 1):
        both[i, rows[order[number == i]]] = order[number == i]
    rest = order[number > 1]
    return (*both, *_by_row(rows[rest], rest, num_rows))


def _by_row(
    rows: NDArray[np.uint32], what: NDArray[np.intp], num_rows: int
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return where the list of each row starts, [Q + 1], and the lists of what stands at it."""
    order = np.argsort(rows, kind="stable")
    start = np.searchsorted(rows[order], np.arange(num_rows + 1))
    return start.astype(np.uint32), what[order].astype(np.uint32)


def _some(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array that is not empty, which some drivers cannot copy."""
    return np.ascontiguousarray(array) if len(array) else np.zeros(1, array.dtype)


def block_of_round(
    tree: Treeplex, r: int, trunk: NDArray[Any], place: NDArray[np.uint32]
) -> NDArray[Any]:
    """Return the rows of actions of a round of the trunk: [states, rows of actions]."""
    entries = int(tree.entry_start[r + 1] - tree.entry_start[r])
    blocks = []
    for board in range(int(tree.board_start[r]), int(tree.board_start[r + 1])):
        start, end = int(tree.block_start[board]), int(tree.block_start[board + 1])
        block = trunk[start:end].reshape(int(tree.num_sequences[r]), -1)
        blocks.append(block[entries:].T)
    found = np.concatenate(blocks)
    out = np.empty_like(found)
    out[:, columns_of(place, entries)] = found
    return out
