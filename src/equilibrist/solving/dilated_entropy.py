"""Dilated entropy: a strongly convex distance on treeplexes with a cheap smoothed best response.

At an information set I with actions a the plan x splits by behaviour b(a) = x(a) / x(p), where p is
the sequence that leads to I. Around a centre with behaviour c the distance is

    d(x) = Σ_I w_I · x(p_I) · Σ_a b(a) log(b(a) / c(a))   ≥ 0, and 0 at the centre.

At the start the centre is uniform behaviour, where this is the usual Σ_I w_I · x(p_I) · (Σ_a b(a)
log b(a) + log |A_I|). Since x(p) b(a) = x(a), all but the entropy is linear: −Σ w log c(a) · x(a).
A treeplex needs only this vector, the *offset*, and the weights:

    max_x ⟨g, x⟩ − μ d(x) = μ · (fold-up of g/μ − offset by w log Σ exp(v / w))

exactly, with the softmax of v / w as behaviour. d is convex, so its largest value, the *diameter*,
is at a pure plan, where the entropy is 0: the best fold-up of the offset.

Weights, bottom up, with s(a) = Σ w over the information sets that come next after a, on all boards
and in all states that the player may have in the next round:

    kroer17   w = 2 + 2 max_a s(a)       (Kroer, Waugh, Kılınç-Karzan, Sandholm 2020)
    farina21  w = 1 + max_a s(a)         (Farina, Kroer, Sandholm 2021)
    kroer15   w = 2^height · farina21's  (Kroer et al. 2015; farina21's is the largest L1 norm of
                                          the plans below; height 1 where no decision follows)

A locked decision is not a choice: it has no entropy, and its successors count by its probabilities.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from equilibrist.kernels.array_structs import Treeplex
from equilibrist.kernels.treeplex import block, boards, decisions, entry_rows, num_rounds
from equilibrist.models.game import BEST, SOFTMAX, Floats, SequenceGame

WeightScheme: TypeAlias = Literal["kroer17", "farina21", "kroer15"]
WEIGHT_SCHEMES: tuple[WeightScheme, ...] = get_args(WeightScheme)


class Prox(NamedTuple):
    """Distance of one player's treeplex around a centre."""

    behaviour: Floats  # [L] uniform, locked decisions as given; a scratch array for fold-ups
    weights: Floats  # [L] w of the information set, at each of its action rows; 1 at entries
    offset: Floats  # [L] −w log c(a) at action rows; 0 at entries and locked decisions
    chosen: NDArray[np.bool_]  # [L] action rows of decisions that are not locked


def smoothed_response(
    game: SequenceGame, player: int, prox: Prox, gradient: Floats, mu: float
) -> tuple[float, Floats]:
    """Return max_x ⟨gradient, x⟩ − μ d(x) in the game's unit, and the plan [L] that attains it."""
    values = gradient / gradient.dtype.type(mu)
    values -= prox.offset
    value = game.fold_up(player, SOFTMAX, values, prox.behaviour, prox.weights)
    return mu * value, game.realize(player, prox.behaviour)


def distance(game: SequenceGame, player: int, prox: Prox, plan: Floats) -> float:
    """Return d(plan) as in the formula, in float64."""
    probabilities = game.behaviour(player, plan).astype(np.float64)
    plan = plan.astype(np.float64)
    # −w log c is the offset; rows without a choice have no offset and no entropy.
    logs = np.log(np.where(probabilities > 0, probabilities, 1))
    entropy = np.where(prox.chosen, prox.weights * logs, 0.0)
    return float(plan @ (entropy + prox.offset))


def diameter(game: SequenceGame, player: int, prox: Prox) -> float:
    """Return the largest distance from the centre."""
    behaviour = game.uniform(player, prox.offset.dtype)
    return game.fold_up(player, BEST, prox.offset.copy(), behaviour)


def centre_offset(prox: Prox, centre: Floats) -> Floats:
    """Return −w log c(a) at rows of choices, for a centre's behaviour [L] > 0; 0 elsewhere."""
    return -prox.weights * np.log(np.where(prox.chosen, centre, centre.dtype.type(1)))


def centre_plan(game: SequenceGame, player: int, prox: Prox) -> Floats:
    """Return the plan [L] of the centre, from its behaviour c(a) = exp(−offset / w)."""
    given = game.uniform(player, prox.offset.dtype)
    centre = np.where(prox.chosen, np.exp(-prox.offset / prox.weights), given)
    return game.realize(player, centre)


def choices(game: SequenceGame, player: int) -> NDArray[np.bool_]:
    """Return whether each row [L] is an action of a decision that is not locked."""
    tree = game.trees[player]
    chosen = np.zeros(game.lengths[player], np.bool_, like=game.prototype)
    for r in range(num_rounds(tree)):
        is_choice = np.zeros((int(tree.num_sequences[r]), 1), np.bool_)
        for d, _, rows in decisions(tree, r):
            is_choice[rows] = not tree.locked[d]
        by_row = np.asarray(is_choice, like=chosen)
        for board in boards(tree, r):
            block(tree, r, board, chosen)[:] = by_row
    return chosen


def dilation_weights(game: SequenceGame, player: int, scheme: WeightScheme) -> NDArray[np.float64]:
    """Return [L] the weight of its information set at each action row; 1 at entries.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.models.exact import exact_game
        >>> kuhn = exact_game(get_game("kuhn"))
        >>> [float(dilation_weights(kuhn, 0, w).max()) for w in WEIGHT_SCHEMES]
        [6.0, 2.0, 8.0]
    """
    tree = game.trees[player]
    factor = 2.0 if scheme == "kroer17" else 1.0
    given = game.uniform(player)  # holds the probabilities of locked decisions
    heights = _heights(tree) if scheme == "kroer15" else np.zeros(len(tree.decision_size))
    weights = np.ones(game.lengths[player])
    below = np.zeros(game.lengths[player])  # s of each row
    for r in reversed(range(num_rounds(tree))):
        columns = _columns(tree, r)
        for d, parent, rows in reversed(list(decisions(tree, r))):
            at = columns.actions(rows)
            if tree.locked[d]:
                below[columns.row(parent)] += (given[at] * below[at]).sum(axis=0)
                continue
            weight = factor * (1 + below[at].max(axis=0))
            weights[at] = weight * 2.0 ** heights[d]
            below[columns.row(parent)] += weight
        for e, row in enumerate(entry_rows(tree, r) if r else []):
            np.add.at(below, columns.above(row), below[columns.row(e)])
    return weights


class _Columns(NamedTuple):
    """Places of the states of all boards of a round in a plan; N states in total."""

    first: NDArray[np.int64]  # [N] place of row 0
    width: NDArray[np.int64]  # [N] distance from row to row
    parent_first: NDArray[np.int64]  # [N] place of row 0 in the parent state
    parent_width: NDArray[np.int64]  # [N]

    def row(self, row: int) -> NDArray[np.int64]:
        """Return the places [N] of a row."""
        return self.first + row * self.width

    def actions(self, rows: slice) -> NDArray[np.int64]:
        """Return the places [A, N] of some rows."""
        return self.first + np.multiply.outer(np.arange(rows.start, rows.stop), self.width)

    def above(self, row: int) -> NDArray[np.int64]:
        """Return the places [N] of a row of the round before, in the parent states."""
        return self.parent_first + row * self.parent_width


def _columns(tree: Treeplex, r: int) -> _Columns:
    """Return the columns of a round, board by board."""
    boards = np.arange(tree.board_start[r], tree.board_start[r + 1])
    sizes = tree.num_states[boards]
    board = np.repeat(boards, sizes)
    first_state = tree.state_start[boards[0]]
    state = np.arange(len(board)) + first_state - tree.state_start[board]
    parent = tree.board_parent[board]
    return _Columns(
        first=tree.block_start[board] + state,
        width=tree.num_states[board],
        parent_first=tree.block_start[parent]
        + tree.state_parent[first_state : first_state + len(board)],
        parent_width=tree.num_states[parent],
    )


def _heights(tree: Treeplex) -> NDArray[np.int64]:
    """Return [D] the number of decisions on the longest path from each decision to an end."""
    heights = np.zeros(len(tree.decision_size), np.int64)
    below = np.zeros(0, np.int64)  # [entries of the next round] the highest decision under each
    for r in reversed(range(num_rounds(tree))):
        highest = np.zeros(tree.num_sequences[r], np.int64)
        if r + 1 < num_rounds(tree):
            np.maximum.at(highest, entry_rows(tree, r + 1), below)
        for d, parent, rows in reversed(list(decisions(tree, r))):
            heights[d] = highest[rows].max() + (not tree.locked[d])
            highest[parent] = max(highest[parent], heights[d])
        below = highest[: len(entry_rows(tree, r))]
    return heights
