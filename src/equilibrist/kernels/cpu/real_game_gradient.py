"""Gradients of a player's plan against best responses in the real game, one board at a time.

The responder's values are folded up a round's betting, its choices are noted, and its hands are
carried down by them: what the player's hands win at every end of the betting, summed by bucket, is
the gradient of the player's rows. All openings of a round have the same betting below them, so a
round is one *template* of N nodes, parents first; nodes of an opening differ in rows and chips.

`respond_last` of `real_game` computes the values alone, of sixteen sequences at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equilibrist.kernels.parts import kernel, part

# Kinds of nodes of a template.
RESPONDS, ACTS, RESPONDER_FOLDS, PLAYER_FOLDS, SHOWDOWN, ENDS = range(6)


class RoundBetting(NamedTuple):
    """Betting of a round below each of its P openings: N nodes, parents first."""

    kind: NDArray[np.int64]  # [N]
    first_child: NDArray[np.int64]  # [N] children are contiguous; −1 if there are none
    num_children: NDArray[np.int64]  # [N]
    row: NDArray[np.int64]  # [P, N] row of the player
    chips: NDArray[np.float64]  # [P, N] what the loser loses at a leaf
    following: NDArray[np.int64]  # [P, N] opening of the next round at an end, −1 elsewhere


class BoardHands(NamedTuple):
    """Hands that a board leaves: n of them, in the last round from worst to best."""

    hand: NDArray[np.int64]  # [n]
    cards: NDArray[np.uint8]  # [n, 2]
    column: NDArray[np.int64]  # [n] the player's bucket
    group: NDArray[np.int64]  # [G + 1] where equal hands start, then n; unused before the end


class GradientSpace(NamedTuple):
    """Work space for a round of N nodes and at most n hands."""

    value: NDArray[np.float64]  # [N, n]
    choice: NDArray[np.uint8]  # [N, n]
    reach: NDArray[np.float64]  # [N, n]
    row: NDArray[np.float64]  # [n]
    sums: NDArray[np.float64]  # [52]


@kernel
def fold_round(betting, hands, plan, dealt, space, values, choices):
    """Write the responder's `values` [P, H] of the openings of a board, and `choices` [P, N, H].

    `plan` [Q, K] are the player's rows; `dealt` [P', H] the values of the next round's openings.
    """
    for p in range(betting.row.shape[0]):
        _fold(betting, p, hands, plan, dealt, space)
        for i in range(len(hands.hand)):
            values[p, hands.hand[i]] = space.value[0, i]
        for node in range(len(betting.kind)):
            if betting.kind[node] == RESPONDS:
                for i in range(len(hands.hand)):
                    choices[p, node, hands.hand[i]] = space.choice[node, i]


@kernel
def fold_last(betting, hands, plan, weight, space, values):
    """Add the responder's values of the openings of a last board, times a weight, to [P, H]."""
    for p in range(betting.row.shape[0]):
        _fold(betting, p, hands, plan, values, space)
        for i in range(len(hands.hand)):
            values[p, hands.hand[i]] += weight * space.value[0, i]


@kernel
def unfold_round(betting, hands, choices, reach, weight, space, gradient, following):
    """Carry the responder's hands down a board: add to `gradient` [Q, K], write `following`.

    `reach` [P, H] are probabilities of the responder's hands at the openings, `following` [P', H]
    those at the next round's openings; `weight` multiplies the gradient.
    """
    for p in range(betting.row.shape[0]):
        for node in range(len(betting.kind)):
            if betting.kind[node] == RESPONDS:
                for i in range(len(hands.hand)):
                    space.choice[node, i] = choices[p, node, hands.hand[i]]
        _unfold(betting, p, hands, reach, weight, space, gradient, following)


@kernel
def unfold_last(betting, hands, plan, reach, weight, space, gradient):
    """Do on a last board what `unfold_round` does; choices are computed again."""
    for p in range(betting.row.shape[0]):
        is_reached = False
        for i in range(len(hands.hand)):
            is_reached = is_reached or reach[p, hands.hand[i]] > 0
        if is_reached:
            _fold(betting, p, hands, plan, reach, space)
            _unfold(betting, p, hands, reach, weight, space, gradient, reach)


@part(forceinline=False)
def _fold(betting, p, hands, plan, dealt, space):
    """Fold the values of one opening up, and note the responder's choices: the first of equals."""
    n = len(hands.hand)
    for node in range(len(betting.kind) - 1, -1, -1):
        kind, value = betting.kind[node], space.value[node]
        if kind == ENDS:
            opening = betting.following[p, node]
            for i in range(n):
                value[i] = dealt[opening, hands.hand[i]]
        elif kind >= RESPONDER_FOLDS:
            own, chips = plan[betting.row[p, node]], betting.chips[p, node]
            for i in range(n):
                space.row[i] = own[hands.column[i]]
            _leaf(kind, chips, hands, space.row, space.sums, value)
        else:
            first = betting.first_child[node]
            for i in range(n):
                value[i] = space.value[first, i]
                space.choice[node, i] = 0
            for a in range(1, betting.num_children[node]):
                for i in range(n):
                    other = space.value[first + a, i]
                    if kind == ACTS:
                        value[i] += other
                    elif other > value[i]:
                        value[i] = other
                        space.choice[node, i] = a


@part(forceinline=False)
def _unfold(betting, p, hands, reach, weight, space, gradient, following):
    """Carry one opening's reach down by the choices in `space`."""
    n = len(hands.hand)
    for i in range(n):
        space.reach[0, i] = reach[p, hands.hand[i]]
    for node in range(len(betting.kind)):
        kind, own = betting.kind[node], space.reach[node]
        if kind == ENDS:
            for i in range(n):
                following[betting.following[p, node], hands.hand[i]] = own[i]
        elif kind >= RESPONDER_FOLDS:
            # The player's side of the leaf: what the responder loses by folding it wins.
            other = kind
            if kind == RESPONDER_FOLDS:
                other = PLAYER_FOLDS
            elif kind == PLAYER_FOLDS:
                other = RESPONDER_FOLDS
            _leaf(other, betting.chips[p, node] * weight, hands, own, space.sums, space.row)
            to = gradient[betting.row[p, node]]
            for i in range(n):
                to[hands.column[i]] += space.row[i]
        else:
            for a in range(betting.num_children[node]):
                child = space.reach[betting.first_child[node] + a]
                for i in range(n):
                    is_taken = kind == ACTS or space.choice[node, i] == a
                    child[i] = own[i] if is_taken else 0.0


@part(forceinline=False)
def _leaf(kind, chips, hands, reach, sums, out):
    """Write what each hand wins at a leaf from hands with probabilities `reach`: [n].

    RESPONDER_FOLDS is a fold of the hands that win or lose here, PLAYER_FOLDS of the others.
    """
    n, cards = len(hands.hand), hands.cards
    for card in range(52):
        sums[card] = 0.0
    total = 0.0
    if kind != SHOWDOWN:
        for i in range(n):
            total += reach[i]
            sums[cards[i, 0]] += reach[i]
            sums[cards[i, 1]] += reach[i]
        sign = -chips if kind == RESPONDER_FOLDS else chips
        for i in range(n):
            out[i] = sign * (total - sums[cards[i, 0]] - sums[cards[i, 1]] + reach[i])
        return
    groups = len(hands.group) - 1
    for g in range(groups):  # the worse hands
        for i in range(hands.group[g], hands.group[g + 1]):
            out[i] = chips * (total - sums[cards[i, 0]] - sums[cards[i, 1]])
        for i in range(hands.group[g], hands.group[g + 1]):
            total += reach[i]
            sums[cards[i, 0]] += reach[i]
            sums[cards[i, 1]] += reach[i]
    for card in range(52):
        sums[card] = 0.0
    total = 0.0
    for g in range(groups - 1, -1, -1):  # the better hands
        for i in range(hands.group[g], hands.group[g + 1]):
            out[i] -= chips * (total - sums[cards[i, 0]] - sums[cards[i, 1]])
        for i in range(hands.group[g], hands.group[g + 1]):
            total += reach[i]
            sums[cards[i, 0]] += reach[i]
            sums[cards[i, 1]] += reach[i]
