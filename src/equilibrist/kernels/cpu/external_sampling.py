"""External sampling: walks through one deal, all actions of one player, one of the other.

A walk visits the nodes of the betting tree in a queue, parents first, so it needs no recursion:
read backwards, the queue has the value of every child before that of its parent.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from equilibrist.kernels.cpu.leaves import NO_CARD
from equilibrist.kernels.cpu.sampling import find_place, sample_path, uniform
from equilibrist.kernels.decision_rules import LARGEST, SMALLEST
from equilibrist.kernels.parts import kernel, part


def walk_space(rounds: int, nodes: int) -> tuple[Any, ...]:
    """Return the work space of walks through a betting tree of V nodes and R rounds.

    It is (path [R], cells [R, 2], widths [R, 2], signs [R], scratch of `walk`).
    """
    cells, widths = np.empty((2, rounds, 2), np.int64)
    scratch = (np.empty(nodes, np.int64), np.empty(nodes, np.int64), np.empty(nodes))
    return np.empty(rounds, np.int64), cells, widths, np.empty(rounds), scratch


@part(forceinline=False)
def sample_dense(trees, pairs, chance, rng, board):
    """Draw states of both players on a last board, by the probability that they meet there."""
    begin, states = trees[0].state_start[board], trees[0].num_states[board]
    place = find_place(chance.state, begin, begin + states, uniform(rng)) - begin
    width = trees[1].num_states[board]
    start = pairs.matrix_start[board] + place * width
    total = 0.0
    for t in range(width):
        total += pairs.joint[start + t]
    left = uniform(rng) * total
    other = 0
    for t in range(width):
        if pairs.joint[start + t] > 0:  # a pair that can meet, even if rounding leaves a remainder
            other = t
            left -= pairs.joint[start + t]
            if left < 0:
                break
    return place, other


@part(forceinline=False)
def sample_sorted(pairs, rng, board):
    """Draw two hands of a board that share no card, all pairs with equal probability."""
    begin, size = pairs.hand_start[board], pairs.hand_start[board + 1] - pairs.hand_start[board]
    while True:
        one = begin + np.int64(uniform(rng) * size)
        two = begin + np.int64(uniform(rng) * size)
        apart = one != two
        for i in range(2):
            for j in range(2):
                card = pairs.hand_cards[one, i]
                apart = apart and (card == NO_CARD or card != pairs.hand_cards[two, j])
        if apart:
            return one, two


@part(forceinline=False)
def place_deal(trees, pairs, board, one, two, cells, widths, signs):
    """Find where a deal lies in the plans, from its board of the last round up.

    `one` and `two` are the players' states, or hands where hands are sorted. Writes into `cells`
    [R, 2] the index of each player's state in row 0 of the board's block, into `widths` [R, 2] the
    distance between rows, and into `signs` [R] the result of a showdown for player 0: 1, 0, −1 or a
    mean of them.
    """
    sign = 0.0
    if pairs.is_sorted:
        sign = np.float64(np.sign(pairs.hand_value[one] - pairs.hand_value[two]))
        one, two = np.int64(pairs.hand_state[one]), np.int64(pairs.hand_state[two])
    for r in range(len(signs) - 1, -1, -1):
        if not pairs.is_sorted:
            at = pairs.matrix_start[board] + one * trees[1].num_states[board] + two
            sign = pairs.win[at] / pairs.joint[at]
        signs[r] = sign
        cells[r, 0] = trees[0].block_start[board] + one
        cells[r, 1] = trees[1].block_start[board] + two
        widths[r, 0] = trees[0].num_states[board]
        widths[r, 1] = trees[1].num_states[board]
        one = np.int64(trees[0].state_parent[trees[0].state_start[board] + one])
        two = np.int64(trees[1].state_parent[trees[1].state_start[board] + two])
        board = trees[0].board_parent[board]


@part
def _choose(behaviour, at, width, size, rng):
    """Draw an action by its probability; actions are `width` apart, starting at `at`."""
    left = uniform(rng)
    chosen = 0
    for a in range(size):
        if behaviour[at + a * width] > 0:
            chosen = a
            left -= behaviour[at + a * width]
            if left < 0:
                break
    return chosen


@part
def _match_regrets(behaviour, regret, at, width, size, worth, first, mean, weight):
    """Add weighted regrets of the actions' values, and match the regrets."""
    total = 0.0
    for a in range(size):
        i = at + a * width
        regret[i] += weight * (worth[first + a] - mean)
        total += max(regret[i], 0.0)
    is_counted = SMALLEST <= total <= LARGEST
    for a in range(size):
        i = at + a * width
        behaviour[i] = max(regret[i], 0.0) / total if is_counted else 1.0 / size


@part
def _go_down(player, tables, cells, widths, signs, theirs, weight, rng, scratch):
    """Fill the queue and the values of its leaves; return its length."""
    behaviour, _, average = theirs
    queue, below, worth = scratch
    other = 1 - player
    sign = 1.0 if player == 0 else -1.0
    queue[0], length, i = 0, 1, 0
    while i < length:
        v = queue[i]
        r, size, below[i] = tables.round[v], tables.num_children[v], length
        child, width = tables.first_child[v], widths[r, other]
        if tables.opens[v]:
            average[cells[r, other] + tables.row[v, other] * width] += weight
        if size == 0:
            worth[i] = sign * (tables.fixed[v] + tables.contested[v] * signs[r])
        elif tables.actor[v] == other:
            at = cells[r, other] + tables.row[child, other] * width
            for a in range(size):
                average[at + a * width] += weight * behaviour[at + a * width]
            queue[length] = child + _choose(behaviour, at, width, size, rng)
            length += 1
        else:  # all actions of the player, or the only child where cards are dealt
            for a in range(size):
                queue[length + a] = child + a
            length += size
        i += 1
    return length


@part
def _come_up(player, tables, cells, widths, ours, weight, length, scratch):
    """Carry values from the end of the queue to its start, and match regrets on the way."""
    behaviour, regret, _ = ours
    queue, below, worth = scratch
    for back in range(length):
        i = length - 1 - back
        v = queue[i]
        r, size = tables.round[v], tables.num_children[v]
        if tables.actor[v] == player:
            width = widths[r, player]
            at = cells[r, player] + tables.row[tables.first_child[v], player] * width
            mean = 0.0
            for a in range(size):
                mean += behaviour[at + a * width] * worth[below[i] + a]
            worth[i] = mean
            if not tables.locked[v]:
                _match_regrets(behaviour, regret, at, width, size, worth, below[i], mean, weight)
        elif size > 0:
            worth[i] = worth[below[i]]


@part(forceinline=False)
def walk(player, tables, cells, widths, signs, ours, theirs, weight, rng, scratch):
    """Walk through a deal for `player`, in place; return what the player wins, in chips.

    `ours` and `theirs` are (behaviour, regret, average): the player's regrets grow, and the
    opponent's average at the decisions visited. `scratch` is (queue [V], place of the first child
    in the queue [V], value to the player [V]).
    """
    length = _go_down(player, tables, cells, widths, signs, theirs, weight, rng, scratch)
    _come_up(player, tables, cells, widths, ours, weight, length, scratch)
    return scratch[2][0]


@kernel
def external(game, first, second, weights, rng, space):
    """Run iterations of external sampling, one per number of `weights` [steps], in place.

    `game` is (trees, pairs, chance, walk tables), `first` and `second` are the players' (behaviour,
    regret, average), `space` is that of `walk_space`; each iteration deals new cards and walks once
    for either player.
    """
    trees, pairs, chance, tables = game
    path, cells, widths, signs, scratch = space
    for weight in weights:
        for player in range(2):
            sample_path(trees[0], chance, rng, path)
            board = path[len(path) - 1]
            if pairs.is_sorted:
                one, two = sample_sorted(pairs, rng, board)
            else:
                one, two = sample_dense(trees, pairs, chance, rng, board)
            place_deal(trees, pairs, board, one, two, cells, widths, signs)
            if player == 0:
                walk(player, tables, cells, widths, signs, first, second, weight, rng, scratch)
            else:
                walk(player, tables, cells, widths, signs, second, first, weight, rng, scratch)


@kernel
def normalise(tree, average, behaviour):
    """Write into `behaviour` [L] the probabilities in proportion to `average` [L].

    Uniform where the average has no weight; locked decisions do not change.
    """
    for r in range(len(tree.num_sequences)):
        for board in range(tree.board_start[r], tree.board_start[r + 1]):
            states = tree.num_states[board]
            for d in range(tree.decision_start[r], tree.decision_start[r + 1]):
                at = tree.block_start[board] + tree.decision_first[d] * states
                size = tree.decision_size[d]
                for s in range(0 if tree.locked[d] else states):
                    total = 0.0
                    for a in range(size):
                        total += max(average[at + s + a * states], 0.0)
                    is_counted = SMALLEST <= total <= LARGEST
                    for a in range(size):
                        i = at + s + a * states
                        behaviour[i] = max(average[i], 0.0) / total if is_counted else 1.0 / size
