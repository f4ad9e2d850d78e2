"""Games as sparse matrices: the sequence form of linear programming.

Player 0 plays x, player 1 plays y, player 0 wins xᵀ A y, and plans are all x ≥ 0 with E x = e, all
y ≥ 0 with F y = f (Romanovskii 1962; Koller, Megiddo and von Stengel 1996; von Stengel 1996). The
variables are true sequences only. A plan repeats itself where a round opens, and at a locked
decision it is a given share of the row above, so every number of a plan is a factor times one
variable; rows that are never reached have the factor 0 and no variable. Variable 0 is the empty
sequence, which is 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equilibrist.kernels.array_structs import Treeplex
from equilibrist.kernels.treeplex import (
    block,
    boards,
    decisions,
    entry_rows,
    num_rounds,
    parents_of,
)
from equilibrist.models.game import Floats, SequenceGame

SparseMatrix = Any  # scipy.sparse.csr_array, which has no type hints


@dataclass(frozen=True, eq=False)
class Sequences:
    """One player's n variables, in I information sets.

    `plan = factor * x[variable]`, and x is a plan exactly if x ≥ 0 and `constraints @ x` is
    1, 0, 0, … (`right_side`).
    """

    variable: NDArray[np.int64]  # [L] variable of each number of a plan
    factor: NDArray[np.float64]  # [L] factor of that variable
    constraints: SparseMatrix  # [I + 1, n] the empty sequence, then each information set

    @property
    def right_side(self) -> NDArray[np.float64]:
        """Right side of the constraints: [I + 1], 1 and then zeros."""
        return np.eye(1, self.constraints.shape[0])[0]

    @property
    def expansion(self) -> SparseMatrix:
        """The matrix [L, n] that turns variables into a plan."""
        entries = (self.factor, (np.arange(len(self.variable)), self.variable))
        return sparse.csr_array(entries, (len(self.variable), self.constraints.shape[1]))

    def plan(self, x: Floats) -> NDArray[np.float64]:
        """Return the plan [L] of variables [n]."""
        return self.factor * x[self.variable]


@dataclass(frozen=True, eq=False)
class SequenceMatrix:
    """Zero-sum game as (A, E, F): player 0 wins xᵀ A y."""

    payoff: SparseMatrix  # A, [variables of player 0, variables of player 1], in the game's unit
    sequences: tuple[Sequences, Sequences]


def sequence_matrix(
    game: SequenceGame, behaviour: tuple[Floats, Floats] | None = None
) -> SequenceMatrix:
    """Build the matrices of a game; `behaviour` holds the probabilities of locked decisions.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.models.exact import exact_game
        >>> kuhn = sequence_matrix(exact_game(get_game("kuhn")))
        >>> kuhn.payoff.shape, kuhn.payoff.nnz, kuhn.sequences[0].constraints.shape
        ((13, 13), 30, (7, 13))
    """
    first, second = (
        player_sequences(
            game.trees[player], game.uniform(player) if behaviour is None else behaviour[player]
        )
        for player in (0, 1)
    )
    wins = game.adjusted(payoff_matrix(game))
    payoff = sparse.csr_array(first.expansion.T @ wins @ second.expansion)
    payoff.eliminate_zeros()
    return SequenceMatrix(payoff, (first, second))


def payoff_matrix(game: SequenceGame) -> SparseMatrix:
    """Return what player 0 wins, by both players' rows of a plan: [L0, L1].

    On a board the payoff is F ⊗ J + S ⊗ W + …, where F and S hold the chips of folds and showdowns
    by rows, J is the probability that states meet, W is J times the winner's sign, and the
    remaining terms are expected leaves (`models/leaves.py`). An offer is paid on the payer's first
    entry, where its plan is 1.
    """
    first, second = game.trees
    rows, columns, values = [], [], []
    for r in range(num_rounds(first)):
        for board in boards(first, r):
            for stakes, matrix in zip(game.stakes[r], game.matrices(board), strict=True):
                cells = sparse.kron(stakes, sparse.coo_array(matrix), "coo")
                rows.append(cells.coords[0] + first.block_start[board])
                columns.append(cells.coords[1] + second.block_start[board])
                values.append(cells.data)
    if game.offer is not None:
        player, places, chips = game.offer
        both = [np.zeros_like(places)] * 2
        both[player] = places
        rows.append(both[0])
        columns.append(both[1])
        values.append(chips if player == 0 else -chips)
    cells = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return sparse.csr_array(cells, game.lengths)


def player_sequences(tree: Treeplex, behaviour: Floats) -> Sequences:
    """Build a player's variables and constraints; `behaviour` [L] is used at locked decisions only.

    Example:
        >>> from equilibrist.models.exact import simplex
        >>> player_sequences(simplex(2), np.ones(3)).constraints.toarray().tolist()
        [[1.0, 0.0, 0.0], [-1.0, 1.0, 1.0]]
    """
    numbering = _Numbering(int(tree.block_start[-1]))
    for r in range(num_rounds(tree)):
        entries = entry_rows(tree, r)
        for board in boards(tree, r):
            variable = block(tree, r, board, numbering.variable)
            factor = block(tree, r, board, numbering.factor)
            if r == 0:
                factor[: len(entries)] = 1.0
            else:
                above, up = int(tree.board_parent[board]), parents_of(tree, board)
                for own, whole in ((variable, numbering.variable), (factor, numbering.factor)):
                    own[: len(entries)] = block(tree, r - 1, above, whole)[entries][:, up]
            for d, parent, rows in decisions(tree, r):
                if tree.locked[d]:
                    variable[rows] = variable[parent]
                    factor[rows] = factor[parent] * block(tree, r, board, behaviour)[rows]
                else:
                    numbering.decide(variable, factor, parent, rows)
    return Sequences(numbering.variable, numbering.factor, numbering.constraints())


class _Numbering:
    """Variables numbered so far, and the entries of their constraints."""

    def __init__(self, length: int) -> None:
        self.variable: NDArray[Any] = np.zeros(length, np.int64)  # the empty sequence by default
        self.factor = np.zeros(length)
        self.num_variables = 1
        self.num_rows = 1
        self.entries: list[tuple[NDArray[Any], ...]] = [(np.zeros(1, int),) * 2 + (np.ones(1),)]

    def decide(self, variable: NDArray[Any], factor: Floats, parent: int, rows: slice) -> None:
        """Number the actions of a decision on a board; constrain them to sum to their parent."""
        live = np.flatnonzero(factor[parent] > 0)
        shape = (rows.stop - rows.start, len(live))
        new = self.num_variables + np.arange(shape[0] * shape[1]).reshape(shape)
        row = self.num_rows + np.arange(len(live))
        self.entries.append((np.tile(row, shape[0]), new.ravel(), np.ones(new.size)))
        self.entries.append((row, variable[parent, live], -factor[parent, live]))
        variable[rows, live] = new
        factor[rows, live] = 1.0
        self.num_variables += new.size
        self.num_rows += len(live)

    def constraints(self) -> SparseMatrix:
        """Return the matrix [I + 1, n]."""
        row, column, value = (np.concatenate(part) for part in zip(*self.entries, strict=True))
        return sparse.csr_array((value, (row, column)), (self.num_rows, self.num_variables))
