"""Reference for the steps of every solver, as array programs that a reader can verify.

`gradient` turns the opponent's plan into values of our rows; `fold_up` carries values from the
leaves to the root by a rule at each decision; `realize` turns behaviour into a plan, and
`normalize` a plan into behaviour. One thread runs them, whatever `threads` says. Blocks of boards
are views [Q, S] of flat vectors [L].
"""

from __future__ import annotations

import numpy as np

from equilibrist.kernels.array_structs import LeafTables, PairTables, Treeplex
from equilibrist.kernels.decision_rules import (
    BEST,
    EXPECTATION,
    REGRET,
    SOFTMAX,
    regret_matching,
)
from equilibrist.kernels.treeplex import (
    Floats,
    block,
    board_matrices,
    boards,
    decisions,
    entry_rows,
    num_rounds,
    parents_of,
)


def realize(tree: Treeplex, behaviour: Floats, plan: Floats, threads: int = 1) -> None:
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
    trees: tuple[Treeplex, Treeplex],
    leaves: LeafTables,
    pairs: PairTables,
    player: int,
    plan: Floats,
    out: Floats,
    threads: int = 1,
) -> None:
    """Write into `out` [L of `player`] the value of each row given the opponent's `plan`.

    A leaf adds stake · M y to our row, where y is the opponent's row on the board and M is the
    probability that states meet (folds) or that times the winner's sign (showdowns).
    """
    own, other = trees[player], trees[1 - player]
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
                values[mine] += leaves.fold_payoff[leaf, player] * (joint @ theirs[yours])
            for leaf in showdowns:
                mine, yours = leaves.showdown_rows[leaf][[player, 1 - player]]
                values[mine] += sign * leaves.showdown_stake[leaf] * (win @ theirs[yours])


def fold_up(
    tree: Treeplex,
    rule: int,
    values: Floats,
    behaviour: Floats,
    table: Floats,
    factors: Floats,
    threads: int = 1,
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


def fold_up_partly(
    tree: Treeplex,
    rule: int,
    arrays: tuple[Floats, Floats, Floats],
    factors: Floats,
    given: Floats,
    share: Floats,
    threads: int = 1,
) -> None:
    """Carry values from the leaves to the root where decisions are partly given.

    `arrays` are (values, behaviour, table), each [L], as in `fold_up`. At every decision the
    behaviour `given` [L] is played with the probability `share` [L], which is the same for all
    actions of a decision, and the rule decides otherwise.
    """
    values, behaviour, table = arrays
    for r in reversed(range(num_rounds(tree))):
        for board in boards(tree, r):
            own, free, rows_table, fixed, weight = (
                block(tree, r, board, vector) for vector in (values, behaviour, table, given, share)
            )
            for _, parent, rows in reversed(list(decisions(tree, r))):
                known = (fixed[rows] * own[rows]).sum(axis=0)
                chosen = _decide(rule, own[rows], free[rows], rows_table[rows], factors)
                p = weight[rows.start]
                own[parent] += p * known + (1 - p) * chosen
            if r > 0:
                above = block(tree, r - 1, int(tree.board_parent[board]), values)
                for e, row in enumerate(entry_rows(tree, r)):
                    np.add.at(above[row], parents_of(tree, board), own[e])


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
