"""CFR that stores tables but no plans: a sweep computes the last round's plans on the way.

Regrets are matched where they are read, so the last round needs neither behaviour nor plan: on each
of its boards the opponent's block of a plan is computed in the cache from regrets and the round
before, is added to the average, used at the leaves, and discarded. Only regrets and averages are
fetched from memory and written back: half of what `sequence_form.sweeps` stores, or a quarter with
numbers of 16 bits, which are shares of the largest number of their row.

Earlier rounds, the *trunk*, are stored as usual. A locked decision's table holds its probabilities,
which match themselves. The same matching turns averages into average behaviour.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from equilibrist.kernels.array_structs import LeafTables, PairTables, Sections, Treeplex
from equilibrist.kernels.cpu.board import (
    fold_boards,
    gather_boards,
    gradient_boards,
    realize_boards,
)
from equilibrist.kernels.cpu.leaves import gradient_board, leaf_space
from equilibrist.kernels.cpu.simd import LANES
from equilibrist.kernels.cpu.tables import (
    entries,
    fold,
    pack,
    realize,
    states_before,
    table_start,
    unpack,
)
from equilibrist.kernels.cpu.team import meet, take, together
from equilibrist.kernels.decision_rules import LARGEST, REGRET, SMALLEST
from equilibrist.kernels.parts import kernel, part, part_by_type


class Game(NamedTuple):
    """A game, with its last round in sections; there a player may have only some of the states."""

    trees: tuple[Treeplex, Treeplex]
    leaves: LeafTables
    pairs: tuple[PairTables, PairTables]  # of each player's states and the opponent's hands
    sections: tuple[Sections, Sections]
    section_leaves: LeafTables  # of the last round, by section, with their rows there


# --- what solvers call ----------------------------------------------------------------------------


class Tables(NamedTuple):
    """Tables of a state, ready for iterations and best responses; the GPU has a class like this."""

    game: Game
    state: dict[str, Any]
    threads: int

    def sweeps(self, schedule: NDArray[Any]) -> None:
        """Run CFR iterations in place, one per row of `schedule` [steps, 4]."""
        players = []
        for p in (0, 1):
            names = ("trunk_plan", "trunk_behaviour", "regret", "average")
            trunk = tuple(self.state[f"{name}{p}"] for name in names)
            players.append((*trunk, self._last("regret", p), self._last("average", p)))
        sweeps(self.game, (players[0], players[1]), schedule, self.threads)

    def worth(self, halves: list[tuple[int, int]]) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Return what players win by rules against the averages, (player, rule) in `halves`.

        Also the values of the trunk's rows for the last of them.
        """
        players = []
        for p, tree in enumerate(self.game.trees):
            plan, behaviour = matched_trunk(tree, in_memory(self.state[f"average{p}"]))
            last = self._last("average", p)
            # BEST writes into the behaviour, which other halves do not read.
            players.append((plan, behaviour, behaviour, behaviour, last, last))
        still = np.tile([0.0, 0.0, 0.0, -1.0], (len(halves), 1))
        work = run_halves(
            self.game, (players[0], players[1]), np.array(halves, np.int64), still, self.threads
        )
        return work.roots, work.values

    def _last(self, name: str, player: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return a table of the last round: numbers and scales, which are empty for floats."""
        scales = self.state.get(f"last_{name}_scale{player}", np.zeros(0, np.float32))
        return in_memory(self.state[f"last_{name}{player}"]), in_memory(scales)


def open_tables(game: Game, state: dict[str, Any], threads: int = 1) -> Tables:
    """Return the tables of a state, whose arrays they change in place."""
    return Tables(game, state, threads)


def in_memory(array: Any) -> NDArray[Any]:
    """Return an array that kernels may write to; arrays on the disk are checked and copied."""
    return array if isinstance(array, np.ndarray) and array.flags.writeable else np.array(array)


def matched_trunk(tree: Treeplex, table: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return plan and behaviour before the last round, from a matched table."""
    behaviour, plan = np.empty_like(table), np.empty_like(table)
    match_trunk(tree, table, behaviour)
    realize_trunk(tree, behaviour, plan)
    return plan, behaviour


# --- half iterations ------------------------------------------------------------------------------


class Work(NamedTuple):
    """Work space of a team: values of the trunk and of the last round's entries, and by member."""

    values: NDArray[Any]  # [longest trunk]
    ends: NDArray[Any]  # [most entries × states of the last round]
    blocks: NDArray[Any]  # [threads, 2 or 5, longest block of a section] 5 if packed
    sums: NDArray[Any]  # [threads, …] `leaf_space`
    roots: NDArray[np.float64]  # [halves] value of the player's whole tree after each half


def work_space(
    game: Game, dtype: Any, *, is_packed: bool, threads: int = 1, halves: int = 0
) -> Work:
    """Allocate the work space of a team for a game; packed tables need more."""
    trees = game.trees
    first = int(trees[0].board_start[-2])
    trunk = max(int(tree.block_start[first]) for tree in trees)
    widest = max(int(tree.num_states[first:].max()) for tree in trees)
    longest = widest * max(int(own.num_rows.max()) for own in game.sections)
    ends = max(
        int(tree.entry_start[-1] - tree.entry_start[-2]) * int(tree.num_states[first:].sum())
        for tree in trees
    )
    return Work(
        np.empty(trunk, dtype),
        np.empty(ends, dtype),
        np.empty((threads, 5 if is_packed else 2, longest), dtype),
        leaf_space(game.pairs, dtype, threads),
        np.zeros(halves),
    )


def sweeps(game: Game, players: tuple[Any, Any], schedule: NDArray[Any], threads: int = 1) -> None:
    """Run CFR iterations in place, players in turn, one per row of `schedule` [steps, 4].

    A player's plan is added to the average when the opponent uses it: player 1's of the iteration
    before, player 0's of this one.
    """
    halves = np.tile(np.array([(0, REGRET), (1, REGRET)], np.int64), (len(schedule), 1))
    rows = np.repeat(schedule, 2, axis=0)
    run_halves(game, players, halves, rows, threads)


def run_halves(
    game: Game,
    players: tuple[Any, Any],
    halves: NDArray[np.int64],
    rows: NDArray[Any],
    threads: int = 1,
) -> Work:
    """Run half iterations in place: one player's values and regrets, given the opponent's plan.

    `halves` [N, 2] are (player, rule), `rows` [N, 4] the factors of regrets and the weight of the
    opponent's plan in its average, negative to leave the average alone. A player is (plan,
    behaviour, regret, average) of the trunk, and two tables of the last round, regret and average,
    each (numbers, scales). Returns the work space: the values of the last half, and the value of
    the tree after each half.
    """
    dtype, is_packed = players[0][0].dtype, players[0][4][0].dtype.kind == "i"
    work = work_space(game, dtype, is_packed=is_packed, threads=threads, halves=len(halves))
    together(halves_team, game, players, halves, rows.astype(dtype), work, threads=threads)
    return work


@kernel
def halves_team(member, game, players, halves, rows, work):
    """Run `run_halves` as a member of a team."""
    one, two = game.trees
    leaves, last = game.leaves, len(one.num_sequences) - 1
    sums = work.sums[member.number]
    unshifted = (np.int64(0), np.int64(0))  # literals would be compiled separately
    for half in range(len(halves)):
        player, rule = halves[half, 0], halves[half, 1]
        factors, weight = rows[half, :3], rows[half, 3]
        own, other = (one, two) if player == 0 else (two, one)
        pairs = game.pairs[0] if player == 0 else game.pairs[1]
        ours, theirs = (players[0], players[1]) if player == 0 else (players[1], players[0])
        plan, behaviour, regret, trunk = ours[0], ours[1], ours[2], theirs[0]
        if weight >= 0:
            _add_share(member, trunk, weight, theirs[3])
        # The last round. Every second half goes back through the boards: the latest are cached.
        begin, end = own.board_start[last], own.board_start[last + 1]
        boards = take(member, begin, end, 1)
        while boards[0] < boards[1]:
            for at in range(boards[0], boards[1]):
                board = at if half % 2 == 0 else begin + end - 1 - at
                _play_last(
                    player, rule, game, board, ours[4], theirs, weight, factors, work.ends,
                    work.blocks[member.number], sums,
                )  # fmt: skip
            boards = take(member, begin, end, 1)
        meet(member)
        # The trunk: values up to the root, and down again with the new plan.
        for r in range(last - 1, -1, -1):
            begin, end = own.board_start[r], own.board_start[r + 1]
            boards = take(member, begin, end, 1)
            while boards[0] < boards[1]:
                gradient_boards(
                    own,
                    other,
                    leaves,
                    pairs,
                    player,
                    r,
                    boards,
                    trunk,
                    work.values,
                    unshifted,
                    sums,
                )
                if r == last - 1:
                    _gather_ends(own, boards, work.ends, work.values)
                else:
                    gather_boards(own, r, boards[0], boards[1], work.values)
                fold_boards(
                    own, rule, r, boards, work.values, unshifted[0], behaviour, regret, factors
                )
                boards = take(member, begin, end, 1)
            meet(member)
        if member.number == 0:
            work.roots[half] = _root(own, work)
        if last == 0:
            meet(member)  # the next half writes over the values of the root
        if rule == REGRET:
            for r in range(last):
                begin, end = own.board_start[r], own.board_start[r + 1]
                boards = take(member, begin, end, 1)
                while boards[0] < boards[1]:
                    realize_boards(own, r, boards[0], boards[1], behaviour, plan)
                    boards = take(member, begin, end, 1)
                meet(member)


@part
def _root(tree, work):
    """Return the sum of the values of the first row of the first round."""
    values, is_last, total = work.values, len(tree.num_sequences) == 1, 0.0
    if is_last:
        values = work.ends
    for board in range(tree.board_start[1]):
        start = tree.state_start[board] if is_last else tree.block_start[board]
        for s in range(start, start + tree.num_states[board]):
            total += values[s]
    return total


@part
def _add_share(member, plan, weight, average):
    """Add this member's share of the trunk's plan to its average."""
    begin = np.uint64(len(plan) * member.number // member.size)
    end = np.uint64(len(plan) * (member.number + 1) // member.size)
    for i in range(begin, end):
        average[i] += weight * plan[i]


def _play_last(player, rule, game, board, table, theirs, weight, factors, ends, blocks, sums):
    """Run one player's half of an iteration on a board of the last round, section by section.

    `table` is the player's table. The opponent's, matched to a plan below the trunk's, is added to
    its average unless `weight` is negative. The values of the entries are written into `ends`.
    """
    raise NotImplementedError


@part_by_type(_play_last)
def _play_last_by_type(
    player, rule, game, board, table, theirs, weight, factors, ends, blocks, sums
):
    return _play_packed if isinstance(table[0].dtype, types.Integer) else _play_floats


def _play_floats(player, rule, game, board, table, theirs, weight, factors, ends, blocks, sums):
    own, other, ours, their, pairs = _sides(game, player)
    plan, values, nothing = blocks[0], blocks[1], np.int64(0)
    start, base = table_start(other, board), table_start(own, board)
    for k in range(len(ours.num_rows)):
        realize(
            other, their, k, their.row, board, theirs[0], theirs[4][0], start, plan, theirs[5][0],
            weight,
        )  # fmt: skip
        gradient_board(
            own, other, game.section_leaves, pairs, player, k, board, ours.num_rows[k], plan,
            nothing, values, nothing, sums,
        )  # fmt: skip
        fold(own, ours, k, ours.row, rule, board, values, table[0], base, factors)
        _keep_ends(own, ours, k, board, values, ends)


def _play_packed(player, rule, game, board, table, theirs, weight, factors, ends, blocks, sums):
    own, other, ours, their, pairs = _sides(game, player)
    plan, values, own_block, their_block = blocks[0], blocks[1], blocks[2], blocks[3]
    counted, nothing, start = blocks[4], np.int64(0), np.uint64(0)
    for k in range(len(ours.num_rows)):
        unpack(own, ours, k, board, table[0], table[1], own_block)
        unpack(other, their, k, board, theirs[4][0], theirs[4][1], their_block)
        if weight >= 0:
            unpack(other, their, k, board, theirs[5][0], theirs[5][1], counted)
        realize(
            other, their, k, their.place, board, theirs[0], their_block, start, plan, counted,
            weight,
        )  # fmt: skip
        gradient_board(
            own, other, game.section_leaves, pairs, player, k, board, ours.num_rows[k], plan,
            nothing, values, nothing, sums,
        )  # fmt: skip
        fold(own, ours, k, ours.place, rule, board, values, own_block, start, factors)
        _keep_ends(own, ours, k, board, values, ends)
        if rule == REGRET:
            pack(own, ours, k, board, own_block, table[0], table[1], sums)
        if weight >= 0:
            pack(other, their, k, board, counted, theirs[5][0], theirs[5][1], sums)


@part
def _sides(game, player):
    """Return our treeplex and the opponent's, their sections, and our pairs."""
    one, two = game.trees
    first, second = game.sections
    ours, theirs = game.pairs
    return (one, two, first, second, ours) if player == 0 else (two, one, second, first, theirs)


@part
def _keep_ends(tree, cut, k, board, values, ends):
    """Copy the values of a section's entries into `ends`."""
    states, start = np.uint64(tree.num_states[board]), entries(tree) * states_before(tree, board)
    at = np.uint64(0)
    for e in range(cut.entry_start[k], cut.entry_start[k + 1]):
        into = start + np.uint64(cut.entry[e]) * states
        for i in range(states):
            ends[into + i] = values[at + i]
        at += states


@part(forceinline=False)
def _gather_ends(tree, boards, ends, values):
    """Add the entries of the last round to the rows of boards of the round before."""
    r = len(tree.num_sequences) - 1
    for board in range(boards[0], boards[1]):
        start, states = tree.block_start[board], tree.num_states[board]
        for child in range(tree.child_start[board], tree.child_start[board + 1]):
            width, first = np.uint64(tree.num_states[child]), np.uint64(tree.state_start[child])
            below = entries(tree) * states_before(tree, child)
            for e in range(tree.entry_start[r + 1] - tree.entry_start[r]):
                up = np.uint64(start + tree.entry_parent[tree.entry_start[r] + e] * states)
                for s in range(width):
                    values[up + np.uint64(tree.state_parent[first + s])] += ends[below + s]
                below += width


# --- tables and plans -----------------------------------------------------------------------------


@kernel(_nrt=True)
def pack_last(tree, whole, table, numbers, scales):
    """Write a table of floats of the last round as packed numbers; `whole` is its one section."""
    rows = tree.num_sequences[-1] - np.int64(entries(tree))
    lanes = np.empty(LANES, table.dtype)
    for board in range(tree.board_start[-2], tree.board_start[-1]):
        start = np.int64(table_start(tree, board))
        block = table[start : start + rows * tree.num_states[board]]
        pack(tree, whole, 0, board, block, numbers, scales, lanes)


@kernel
def realize_last(tree, whole, trunk, table, plan):
    """Write the last round's blocks of `plan` [L] below a trunk: its table of floats, matched."""
    for board in range(tree.board_start[-2], tree.board_start[-1]):
        block = plan[tree.block_start[board] : tree.block_start[board + 1]]
        realize(
            tree, whole, 0, whole.row, board, trunk, table, table_start(tree, board), block, table,
            plan.dtype.type(-1),
        )  # fmt: skip


@kernel
def match_trunk(tree, table, behaviour):
    """Write into `behaviour` [trunk] a trunk's table, matched; entries become 1."""
    for r in range(len(tree.num_sequences) - 1):
        for board in range(tree.board_start[r], tree.board_start[r + 1]):
            start, states = tree.block_start[board], tree.num_states[board]
            for i in range((tree.entry_start[r + 1] - tree.entry_start[r]) * states):
                behaviour[start + i] = 1.0
            for d in range(tree.decision_start[r], tree.decision_start[r + 1]):
                first, size = start + tree.decision_first[d] * states, tree.decision_size[d]
                for s in range(first, first + states):
                    total = 0.0
                    for a in range(size):
                        total += max(table[s + a * states], 0.0)
                    is_counted = SMALLEST <= total <= LARGEST
                    for a in range(size):
                        number = max(table[s + a * states], 0.0)
                        behaviour[s + a * states] = number / total if is_counted else 1.0 / size


@kernel
def realize_trunk(tree, behaviour, plan):
    """Write the trunk of a plan."""
    for r in range(len(tree.num_sequences) - 1):
        realize_boards(tree, r, tree.board_start[r], tree.board_start[r + 1], behaviour, plan)
