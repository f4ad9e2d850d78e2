"""Reference for the four steps of every solver, as array programs that a reader can verify.

`gradient` turns the opponent's plan into values of our rows; `fold_up` carries values from the
leaves to the root by a rule at each decision; `realize` turns behaviour into a plan; `leaf_values`
is the bilinear payoff. Blocks of boards are views [Q, S] of flat vectors [L].
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from equilibrist.kernels.array_structs import LeafTables, PairTables, Treeplex

Floats = NDArray[np.floating]

# Rules of `fold_up`: the value of a decision, and how its behaviour and table change.
EXPECTATION = 0  # mean value under the behaviour; nothing changes
BEST = 1  # value of the best action, which the behaviour then takes (the first of equals)
REGRET = 2  # mean value under the behaviour; the table's regrets grow, and behaviour matches them
SOFTMAX = 3  # smoothed best: w · log Σ exp(value / w), behaviour its softmax; table holds w by row

# Bounds on sums of positive numbers that become probabilities, for every dtype: only sums from
# SMALLEST to LARGEST count (`regret_matching`). docs/findings/small-numbers.md proves it harmless.
SMALLEST, LARGEST = 2.0**-75, 2.0**90


def num_rounds(tree: Treeplex) -> int:
    """Return the number of rounds of a treeplex."""
    return len(tree.num_sequences)


def boards(tree: Treeplex, r: int) -> range:
    """Return the boards of a round."""
    return range(int(tree.board_start[r]), int(tree.board_start[r + 1]))


def block(tree: Treeplex, r: int, board: int, vector: Floats) -> Floats:
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


def realize(tree: Treeplex, behaviour: Floats, plan: Floats) -> None:
    """Write into `plan` [L] the realization plan of `behaviour` [L].

    An action's row is its decision's parent row times its probability; a round's entry is copied
    from the parent state; the very first entry is 1.
    """
    for r in range(num_rounds(tree)):
        for board in boards(tree, r):
            own, probabilities = block(tree, r, board, plan), block(tree, r, board, behaviour)
            entries = entry_rows(tree, r)
            if r == 0:
                own[: len(entries)] = 1.0
            else:
                above = block(tree, r - 1, int(tree.board_parent[board]), plan)
                own[: len(entries)] = above[entries][:, parents_of(tree, board)]
            for _, parent, rows in decisions(tree, r):
                own[rows] = own[parent] * probabilities[rows]


def normalize(tree: Treeplex, plan: Floats, behaviour: Floats) -> None:
    """Write into `behaviour` [L] that of `plan` [L]: uniform where the plan has no weight.

    An action's probability is its share of its decision's actions (`regret_matching`), not of the
    parent row, so that rounding still leaves a distribution. Entries become 1.
    """
    behaviour[:] = 1
    for r in range(num_rounds(tree)):
        for board in boards(tree, r):
            own, probabilities = block(tree, r, board, plan), block(tree, r, board, behaviour)
            for _, parent, rows in decisions(tree, r):
                even = 1 / (rows.stop - rows.start)
                probabilities[rows] = np.where(own[parent] > 0, regret_matching(own[rows]), even)


def gradient(
    own: Treeplex, other: Treeplex, leaves: LeafTables, pairs: PairTables, player: int,
    plan: Floats, out: Floats,
) -> None:  # fmt: skip
    """Write into `out` [L of `player`] the value of each row given the opponent's `plan`.

    A leaf adds stake · M y to our row, where y is the opponent's row on the board and M is the
    probability that states meet (folds) or that times the winner's sign (showdowns).
    """
    out[:] = 0
    sign = 1.0 if player == 0 else -1.0
    for r in range(num_rounds(own)):
        folds = range(int(leaves.fold_start[r]), int(leaves.fold_start[r + 1]))
        showdowns = range(int(leaves.showdown_start[r]), int(leaves.showdown_start[r + 1]))
        for board in boards(own, r):
            values, theirs = block(own, r, board, out), block(other, r, board, plan)
            joint, win = board_matrices(own, other, pairs, board)
            if player == 1:
                joint, win = joint.T, win.T
            for leaf in folds:
                mine, yours = leaves.fold_rows[leaf][[player, 1 - player]]
                values[mine] += sign * leaves.fold_payoff[leaf] * (joint @ theirs[yours])
            for leaf in showdowns:
                mine, yours = leaves.showdown_rows[leaf][[player, 1 - player]]
                values[mine] += sign * leaves.showdown_stake[leaf] * (win @ theirs[yours])


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


def fold_up(
    tree: Treeplex, rule: int, values: Floats, behaviour: Floats, table: Floats, factors: Floats
) -> None:
    """Carry `values` [L] from the leaves to the root.

    In place: `values` becomes the value of each row with everything below it; `behaviour` and
    `table` change as the rule says, except at locked decisions. `factors` are (positive, negative,
    prediction) of the regret rule: regrets are multiplied by the first or second after the update,
    and behaviour matches regret + prediction · (latest regret).
    """
    for r in reversed(range(num_rounds(tree))):
        for board in boards(tree, r):
            own = block(tree, r, board, values)
            probabilities, rows_table = (
                block(tree, r, board, behaviour),
                block(tree, r, board, table),
            )
            for d, parent, rows in reversed(list(decisions(tree, r))):
                chosen = EXPECTATION if tree.locked[d] else rule
                own[parent] += _decide(
                    chosen, own[rows], probabilities[rows], rows_table[rows], factors
                )
            if r > 0:
                above = block(tree, r - 1, int(tree.board_parent[board]), values)
                for e, row in enumerate(entry_rows(tree, r)):
                    np.add.at(above[row], parents_of(tree, board), own[e])


def root_value(tree: Treeplex, values: Floats) -> float:
    """Return the value of the whole tree once `values` [L] are folded up, summed in float64."""
    return sum(
        float(block(tree, 0, board, values)[0].sum(dtype=np.float64)) for board in boards(tree, 0)
    )


def _decide(
    rule: int, values: Floats, probabilities: Floats, table: Floats, factors: Floats
) -> Floats:
    """Return the value [S] of a decision; update `probabilities` and `table` [A, S] in place."""
    if rule == BEST:
        best = values.argmax(axis=0)
        probabilities[:] = np.arange(len(values))[:, None] == best
        return values.max(axis=0)
    if rule == SOFTMAX:
        weight = table[0]
        highest = values.max(axis=0)
        powers = np.exp((values - highest) / weight)
        probabilities[:] = powers / powers.sum(axis=0)
        return highest + weight * np.log(powers.sum(axis=0))
    mean = (probabilities * values).sum(axis=0)
    if rule == REGRET:
        latest = values - mean
        table += latest
        table *= np.where(table > 0, factors[0], factors[1])
        probabilities[:] = regret_matching(table + factors[2] * latest)
    return mean


def regret_matching(regrets: Floats) -> Floats:
    """Return probabilities [A, S] in proportion to positive regrets [A, S]; uniform without any.

    They are also uniform where the sum of the positive ones is below SMALLEST or above LARGEST.
    Averages and rows of plans become probabilities by the same rule.

    Example:
        >>> regret_matching(np.array([[3.0, -1.0, 1e-30], [1.0, 0.0, 0.0]])).tolist()
        [[0.75, 0.5, 0.5], [0.25, 0.5, 0.5]]
    """
    positive = np.maximum(regrets, 0)
    with np.errstate(over="ignore"):
        total = positive.sum(axis=0)
    is_counted = (total >= SMALLEST) & (total <= LARGEST)
    shares = np.where(is_counted, positive, 0) / np.where(is_counted, total, 1)
    return np.where(is_counted, shares, 1 / len(regrets))
