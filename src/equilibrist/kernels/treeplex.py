"""Accessors of a treeplex: its rounds, boards, decisions and blocks as views of NumPy arrays.

Blocks of boards are views [Q, S] of flat vectors [L].
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equilibrist.kernels.array_structs import PairTables, Treeplex

Floats = NDArray[np.floating]


def num_rounds(tree: Treeplex) -> int:
    """Return the number of rounds of a treeplex."""
    return len(tree.num_sequences)


def boards(tree: Treeplex, r: int) -> range:
    """Return the boards of a round."""
    return range(int(tree.board_start[r]), int(tree.board_start[r + 1]))


def block(tree: Treeplex, r: int, board: int, vector: NDArray[Any]) -> NDArray[Any]:
    """Return the [Q, S] view of a board of round `r` in a vector [L]."""
    start, end = tree.block_start[board], tree.block_start[board + 1]
    return vector[start:end].reshape(tree.num_sequences[r], tree.num_states[board])


def decisions(tree: Treeplex, r: int) -> Iterator[tuple[int, int, slice]]:
    """Yield number, parent row and action rows of each decision of a round, parents first."""
    for d in range(int(tree.decision_start[r]), int(tree.decision_start[r + 1])):
        first = int(tree.decision_first[d])
        yield d, int(tree.decision_parent[d]), slice(first, first + int(tree.decision_size[d]))


def parents_of(tree: Treeplex, board: int) -> NDArray[np.int32]:
    """Return, for each state of a board, its column in the parent board's block: [S]."""
    start = tree.state_start[board]
    return tree.state_parent[start : start + tree.num_states[board]]


def entry_rows(tree: Treeplex, r: int) -> NDArray[np.int32]:
    """Return, for each entry of a round, its row in the round before: [E of the round]."""
    return tree.entry_parent[tree.entry_start[r] : tree.entry_start[r + 1]]


def root_value(tree: Treeplex, values: Floats) -> float:
    """Return the value of the whole tree once `values` [L] are folded up, summed in float64."""
    return sum(
        float(block(tree, 0, board, values)[0].sum(dtype=np.float64)) for board in boards(tree, 0)
    )


def board_matrices(
    first: Treeplex, second: Treeplex, pairs: PairTables, board: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the probability that states meet on a board, and that times the sign: [S0, S1]."""
    shape = (int(first.num_states[board]), int(second.num_states[board]))
    if not pairs.is_sorted:
        start = int(pairs.matrix_start[board])
        both = slice(start, start + shape[0] * shape[1])
        return pairs.joint[both].reshape(shape), pairs.win[both].reshape(shape)
    hands = slice(int(pairs.hand_start[board]), int(pairs.hand_start[board + 1]))
    cards, values = pairs.hand_cards[hands].astype(int), pairs.hand_value[hands]
    apart = np.ones((len(cards), len(cards)), bool)
    for i, j in itertools.product(range(2), repeat=2):
        apart &= (cards[:, None, i] != cards[None, :, j]) | (cards[:, None, i] == 52)
    member = (pairs.hand_state[hands, None] == np.arange(max(shape))).astype(float)
    sign = np.sign(values[:, None] - values[None, :])
    weight = pairs.weight[board]
    left, right = member[:, : shape[0]].T, member[:, : shape[1]]
    return weight * (left @ apart @ right), weight * (left @ (apart * sign) @ right)
