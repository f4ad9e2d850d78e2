"""The responder's positions: betting sequences that a best response need not distinguish.

What a responder can win from the opening of a round on depends on what the opponent believes and on
the chips in the pot, not on how they came there. So the 567 betting sequences to the river of limit
hold'em are 375 positions against a strategy with fewer raises, and 16 against one that ignores its
cards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equilibrist.games.betting_tree import BettingTree
from equilibrist.kernels.cpu.real_game import OpponentSequences, aligned
from equilibrist.kernels.decision_rules import SMALLEST
from equilibrist.models.game import Floats
from equilibrist.strategies.played import RealSeat

_FOLD = 3  # cost of a fold of sixteen lanes, in sweeps of one end


@dataclass(frozen=True, eq=False)
class Positions:
    """Positions of one round: P of them, with E ends each (`kernels.cpu.real_game`)."""

    nodes: list[int]  # [P] one opening of the round for each
    ends: NDArray[np.int64]  # [P, E] nodes where the round ends
    spent: Floats  # [P] chips of each player
    row: NDArray[np.int64]  # [P, E] the opponent's rows; −1 where it never arrives
    scale: Floats  # [P, E]
    following: NDArray[np.int64]  # [P, E] position in the next round


def find_positions(seat: RealSeat) -> list[Positions]:
    """Return the positions of every round but the first, from the second on."""
    tree, found = seat.tree, []
    position = np.full(len(tree) + 1, -1, np.int64)  # of each opening; −1 at the end: absent
    for r in reversed(range(1, tree.rules.num_rounds)):
        number = _numbers(seat, r)
        first = {own: node for node, own in reversed(number.items())}
        nodes = [first[own] for own in range(len(first))]
        ends = np.array([round_ends(tree, node) for node in nodes], np.int64)
        ends = ends.reshape(len(nodes), 2 * tree.rules.max_raises[r] + 1)
        spent = tree.spent[nodes].max(axis=1).astype(np.float64)
        following = position[tree.first_child[ends]]
        found.append(Positions(nodes, ends, spent, seat.row[ends], seat.scale[ends], following))
        position[list(number)] = list(number.values())
    return found[::-1]


def round_ends(tree: BettingTree, node: int) -> list[int]:
    """Return the ends of a round from its opening, in the order of `kernels.cpu.real_game`.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> leduc = BettingTree.build(get_game("leduc"))
        >>> [leduc.name(end) for end in round_ends(leduc, 0)]
        ['cc', 'rc', 'rrc', 'crc', 'crrc']
    """
    most = tree.rules.max_raises[int(tree.round[node])]
    ways = ["cc", *("r" * k + "c" for k in range(1, most + 1))]
    ways += ["c" + "r" * k + "c" for k in range(1, most + 1)]
    found = []
    for way in ways:
        end: int | None = node
        for kind in way:
            assert end is not None
            end = tree.child(end, kind)
        assert end is not None
        found.append(end)
    return found


def _numbers(seat: RealSeat, r: int) -> dict[int, int]:
    """Return the position of each opening of a round that the opponent may reach."""
    known: dict[tuple[int, int], int] = {}
    found = {}
    for node in np.flatnonzero((seat.tree.round == r) & (seat.tree.action_kind == 0)).tolist():
        if seat.row[seat.tree.parent[node]] >= 0:
            key = int(seat.belief[node]), int(seat.tree.spent[node].max())
            found[node] = known.setdefault(key, len(known))
    return found


@dataclass(frozen=True, eq=False)
class Lanes:
    """Positions of the last round as lanes of vectors: B blocks of L lanes, each lane a sequence.

    The numbers say where probabilities go, and do not depend on them.
    """

    row: NDArray[np.int64]  # [B, D, L] rows of the last round at each different end; −1 if none
    first_row: NDArray[np.int64]  # [B, L] row of the first round that multiplies them; −1 if none
    scale: Floats  # [B, E, L] factor of each end; 0 if the opponent never arrives
    end: NDArray[np.int64]  # [E] index of each end among the different ends
    chips: NDArray[np.float32]  # [C, L] chips of each player in the pot, for each case of a block
    case_start: NDArray[np.int64]  # [B + 1] cases of each block
    case: NDArray[np.int64]  # [P] case in which each position is computed
    lane: NDArray[np.int64]  # [P]

    @staticmethod
    def of(seat: RealSeat, last: Positions, num_lanes: int) -> Lanes:
        """Divide positions into lanes.

        A lane is a sequence of the opponent's, and pots are its cases; or a lane is a position, if
        that costs less.
        """
        belief = seat.belief[last.nodes]
        both = np.stack([belief, last.spent], axis=1)
        plans = [_blocks(key, num_lanes) for key in (belief[:, None], both)]
        end, rows = different_ends(last)
        blocks = min(plans, key=lambda plan: sum(len(rows) + _FOLD * len(block) for block in plan))
        return _lanes(seat, last, blocks, end, rows, num_lanes)


Block = list[list[int]]  # at most as many positions as lanes, by case and lane


def _blocks(key: NDArray[np.generic], num_lanes: int) -> list[Block]:
    """Group positions: equal keys share a lane; lanes with equally many cases share a block."""
    _, number = np.unique(key, axis=0, return_inverse=True)
    lanes = [np.flatnonzero(number.ravel() == k).tolist() for k in range(int(number.max()) + 1)]
    lanes.sort(key=lambda lane: -len(lane))
    blocks = []
    for i in range(0, len(lanes), num_lanes):
        some = lanes[i : i + num_lanes]
        blocks.append(
            [[lane[min(case, len(lane) - 1)] for lane in some] for case in range(len(some[0]))]
        )
    return blocks


def different_ends(last: Positions) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the index of each end among the different ones, [E], and their rows: [D, P]."""
    columns: list[tuple[int, ...]] = []
    end = []
    for rows in last.row.T.tolist():
        if max(rows) < 0:
            end.append(0)  # never reached: its scale is zero
            continue
        if tuple(rows) not in columns:
            columns.append(tuple(rows))
        end.append(columns.index(tuple(rows)))
    return np.array(end), np.array(columns)


def _lanes(
    seat: RealSeat,
    last: Positions,
    blocks: list[Block],
    end: NDArray[np.int64],
    rows: NDArray[np.int64],
    num_lanes: int,
) -> Lanes:
    starts = np.cumsum([0, *(len(block) for block in blocks)])
    row = np.full((len(blocks), len(rows), num_lanes), -1, np.int64)
    first_row = np.full((len(blocks), num_lanes), -1, np.int64)
    scale = np.zeros((len(blocks), len(end), num_lanes))
    chips = aligned((int(starts[-1]), num_lanes), np.float32)
    case, lane = (np.zeros(len(last.nodes), np.int64) for _ in range(2))
    for b, block in enumerate(blocks):
        own, many = np.array(block[0]), len(block[0])
        row[b, :, :many] = rows[:, own]
        first_row[b, :many] = seat.first_row[np.array(last.nodes)[own]]
        scale[b, :, :many] = np.where(last.row[own] < 0, 0, last.scale[own]).T
        for c, positions in enumerate(block):
            chips[starts[b] + c, :many] = last.spent[positions]
            case[positions], lane[positions] = starts[b] + c, np.arange(many)
    return Lanes(row, first_row, scale, end, chips, starts, case, lane)


def most_units(num_hands: int) -> tuple[float, float]:
    """Return the number of units of the largest probability of a row, on boards with these hands.

    The most that fit; or a power of two, the second number, if the row has no other probability, so
    that certain actions stay exact, also in float32.
    """
    finest = min(2**23, (2**30 - 2 * num_hands) // num_hands)
    return float(finest), 2.0 ** int(math.log2(finest))


def sequences_of(seat: RealSeat, lanes: Lanes, num_hands: int) -> OpponentSequences:
    """Fill lanes with a seat's probabilities, for boards with `num_hands` hands."""
    unreached = np.zeros(seat.rows[-1].shape[1])  # row −1
    probabilities = np.vstack([seat.rows[-1], unreached])
    largest = probabilities.max(axis=1)
    is_sure = ((probabilities == 0) | (probabilities == largest[:, None])).all(axis=1)
    finest, power = most_units(num_hands)
    most = np.where(is_sure, power, finest)
    units = most / np.where(largest >= SMALLEST, largest, 1)  # else all round to zero units
    first = np.vstack([seat.rows[0], np.ones(seat.rows[0].shape[1])])  # row −1: no opening
    num_blocks, num_rows, num_lanes = lanes.row.shape
    table = aligned((num_blocks, num_rows, probabilities.shape[1], num_lanes), np.float32)
    factor = aligned((num_blocks, first.shape[1], num_lanes), np.float32)
    unit = aligned((num_blocks, len(lanes.end), num_lanes), np.float32)
    for b, own in enumerate(lanes.row):
        table[b] = (probabilities[own] * units[own][..., None]).transpose(0, 2, 1)
        factor[b] = first[lanes.first_row[b]].T
        unit[b] = lanes.scale[b] / 2 / units[own[lanes.end]]
    return OpponentSequences(table, factor, unit, lanes.end, lanes.chips, lanes.case_start)
