"""Steps of games with one board per round on the GPU, under the names of `cpu/sequence_form.py`.

Games of buckets have one board per round, so a block is [Q, S] with thousands of states. A thread
takes one state and one entry of a round and walks the decisions below that entry, so neighbouring
threads read neighbouring numbers. Rounds follow each other as launches. Sums have a fixed order:
the value of a row that opens the next round is added up by one thread, entry by entry.

`prepare` copies a treeplex to the GPU once; the other functions take what it returns.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from equilibrist.kernels.array_structs import Treeplex
from equilibrist.kernels.decision_rules import BEST, EXPECTATION, LARGEST, REGRET, SMALLEST, SOFTMAX
from equilibrist.kernels.gpu.device import cuda as _cuda
from equilibrist.kernels.gpu.device import jit
from equilibrist.kernels.gpu.launching import launch
from equilibrist.kernels.gpu.memory import for_kernels
from equilibrist.kernels.treeplex import decisions, entry_rows, num_rounds, parents_of

cuda = _cuda()
Array: TypeAlias = Any  # of CuPy; of NumPy in the simulator


class Round(NamedTuple):
    """A round of a treeplex; decisions are sorted by the entry above them, parents first."""

    start: int  # where its block starts in a plan
    states: int  # S
    above_start: int  # the same of the round before
    above_states: int
    state_parent: Array  # [S] column in the round before
    entry_parent: Array  # [E] row in the round before
    first_decision: Array  # [E + 1]
    decisions: Array  # [D, 4] row above it, first action row, number of actions, whether locked


class Passage(NamedTuple):
    """The rows of a round that open the next one, with their entries and the states' children."""

    start: int  # where the round's block starts
    states: int  # S
    below_start: int  # the same of the next round
    below_states: int
    rows: Array  # [J]
    first_entry: Array  # [J + 1] in `entries`
    entries: Array  # [E of the next round] by row
    first_child: Array  # [S + 1] in `children`
    children: Array  # [S of the next round] by parent


class DeviceTree(NamedTuple):
    """A treeplex on the GPU: its rounds, and the passages from each round to the next."""

    rounds: tuple[Round, ...]
    passages: tuple[Passage, ...]  # one less than rounds


# --- on the CPU: the arrays of a treeplex -----------------------------------------------------


def prepare(tree: Treeplex) -> DeviceTree:
    """Copy a treeplex with one board per round to the GPU."""
    count = num_rounds(tree)
    return DeviceTree(
        tuple(_round(tree, r) for r in range(count)),
        tuple(_passage(tree, r) for r in range(count - 1)),
    )


def _round(tree: Treeplex, r: int) -> Round:
    rows = int(tree.num_sequences[r])
    num_entries = len(entry_rows(tree, r))
    entry = np.zeros(rows, np.int64)  # the entry above each row
    entry[:num_entries] = np.arange(num_entries)
    found = []
    for d, parent, actions in decisions(tree, r):
        entry[actions] = entry[parent]
        found.append((parent, actions.start, actions.stop - actions.start, tree.locked[d]))
    table = np.array(found, np.int32).reshape(-1, 4)
    above = entry[table[:, 0]]
    order = np.argsort(above, kind="stable")
    return Round(
        start=int(tree.block_start[r]),
        states=int(tree.num_states[r]),
        above_start=int(tree.block_start[max(r - 1, 0)]),
        above_states=int(tree.num_states[r - 1]) if r else 0,
        state_parent=for_kernels(parents_of(tree, r)),
        entry_parent=for_kernels(entry_rows(tree, r)),
        first_decision=for_kernels(_starts(above, num_entries)),
        decisions=for_kernels(table[order]),
    )


def _passage(tree: Treeplex, r: int) -> Passage:
    above, parents = entry_rows(tree, r + 1), parents_of(tree, r + 1)
    rows, place = np.unique(above, return_inverse=True)
    states = int(tree.num_states[r])
    return Passage(
        start=int(tree.block_start[r]),
        states=states,
        below_start=int(tree.block_start[r + 1]),
        below_states=int(tree.num_states[r + 1]),
        rows=for_kernels(rows.astype(np.int32)),
        first_entry=for_kernels(_starts(place, len(rows))),
        entries=for_kernels(np.argsort(place, kind="stable").astype(np.int32)),
        first_child=for_kernels(_starts(parents, states)),
        children=for_kernels(np.argsort(parents, kind="stable").astype(np.int32)),
    )


def _starts(groups: NDArray[Any], number: int) -> NDArray[np.int32]:
    """Return where each group starts among members sorted by group: [number + 1]."""
    sizes = np.bincount(groups, minlength=number)
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)


# --- steps ------------------------------------------------------------------------------------


def realize(tree: DeviceTree, behaviour: Array, plan: Array, threads: int = 1) -> None:
    """Write into `plan` [L] the realization plan of `behaviour` [L]."""
    for own in tree.rounds:
        launch(_realize, own.states, len(own.entry_parent), own, behaviour, plan)


def normalize(tree: DeviceTree, plan: Array, behaviour: Array) -> None:
    """Write into `behaviour` [L] that of `plan` [L]; uniform where the plan has no weight."""
    for own in tree.rounds:
        launch(_normalize, own.states, len(own.entry_parent), own, plan, behaviour)


def fold_up(
    tree: DeviceTree,
    rule: int,
    values: Array,
    behaviour: Array,
    table: Array,
    factors: NDArray[Any],
    threads: int = 1,
) -> None:
    """Carry `values` [L] from the leaves to the root by a rule (see the reference)."""
    last = len(tree.rounds) - 1
    if rule not in (REGRET, SOFTMAX):
        table = table[:0]  # unused; the simulator writes back each argument, used or not
    for r in range(last, -1, -1):
        if r < last:
            passage = tree.passages[r]
            launch(_gather, passage.states, len(passage.rows), passage, values)
        own = tree.rounds[r]
        launch(
            _fold, own.states, len(own.entry_parent), own, rule, values, behaviour, table,
            tuple(factors),
        )  # fmt: skip


# --- kernels ----------------------------------------------------------------------------------


@jit
def _realize(own, behaviour, plan):
    """Write a round's block of the plan; that of the round before is there."""
    state = cuda.grid(1)
    if state < own.states:
        for entry in range(cuda.blockIdx.y, len(own.entry_parent), cuda.gridDim.y):
            place = own.start + entry * own.states + state
            if own.above_states == 0:
                plan[place] = 1
            else:
                row = own.entry_parent[entry] * own.above_states
                plan[place] = plan[own.above_start + row + own.state_parent[state]]
            for d in range(own.first_decision[entry], own.first_decision[entry + 1]):
                reach = plan[own.start + own.decisions[d, 0] * own.states + state]
                i = own.start + own.decisions[d, 1] * own.states + state
                for _ in range(own.decisions[d, 2]):
                    plan[i] = reach * behaviour[i]
                    i += own.states


@jit
def _normalize(own, plan, behaviour):
    """Write a round's block of the behaviour of a plan."""
    state = cuda.grid(1)
    if state < own.states:
        for entry in range(cuda.blockIdx.y, len(own.entry_parent), cuda.gridDim.y):
            behaviour[own.start + entry * own.states + state] = 1
            for d in range(own.first_decision[entry], own.first_decision[entry + 1]):
                up = own.start + own.decisions[d, 0] * own.states + state
                first = own.start + own.decisions[d, 1] * own.states + state
                size = own.decisions[d, 2]
                total = 0.0
                for a in range(size):
                    total += max(plan[first + a * own.states], 0.0)
                reached = total >= SMALLEST and total <= LARGEST and plan[up] > 0
                for a in range(size):
                    i = first + a * own.states
                    behaviour[i] = max(plan[i], 0.0) / total if reached else 1.0 / size


@jit
def _gather(passage, values):
    """Add the values of the next round's entries to the rows that lead there."""
    state = cuda.grid(1)
    if state < passage.states:
        for row in range(cuda.blockIdx.y, len(passage.rows), cuda.gridDim.y):
            place = passage.start + passage.rows[row] * passage.states + state
            total = values[place]
            for e in range(passage.first_entry[row], passage.first_entry[row + 1]):
                below = passage.below_start + passage.entries[e] * passage.below_states
                for c in range(passage.first_child[state], passage.first_child[state + 1]):
                    total += values[below + passage.children[c]]
            values[place] = total


@jit
def _fold(own, rule, values, behaviour, table, factors):
    """Fold the decisions of a round, children first; the values of later rounds are there."""
    state = cuda.grid(1)
    if state < own.states:
        for entry in range(cuda.blockIdx.y, len(own.entry_parent), cuda.gridDim.y):
            first, last = own.first_decision[entry], own.first_decision[entry + 1]
            for d in range(last - 1, first - 1, -1):
                up = own.start + own.decisions[d, 0] * own.states + state
                at = own.start + own.decisions[d, 1] * own.states + state
                end = at + own.decisions[d, 2] * own.states
                chosen = EXPECTATION if own.decisions[d, 3] else rule
                mean = behaviour[at] * values[at]
                for i in range(at + own.states, end, own.states):
                    mean += behaviour[i] * values[i]
                if chosen == REGRET:
                    total = 0.0
                    for i in range(at, end, own.states):
                        latest = values[i] - mean
                        regret = table[i] + latest
                        regret *= factors[0] if regret > 0 else factors[1]
                        table[i] = regret
                        matched = max(regret + factors[2] * latest, 0.0)
                        behaviour[i] = matched
                        total += matched
                    counts = total >= SMALLEST and total <= LARGEST
                    for i in range(at, end, own.states):
                        even = 1.0 / own.decisions[d, 2]
                        behaviour[i] = behaviour[i] / total if counts else even
                    values[up] += mean
                elif chosen == EXPECTATION:
                    values[up] += mean
                else:
                    best = at
                    for i in range(at + own.states, end, own.states):
                        if values[i] > values[best]:
                            best = i
                    highest = values[best]
                    if chosen == BEST:
                        for i in range(at, end, own.states):
                            behaviour[i] = 1 if i == best else 0
                        values[up] += highest
                    elif chosen == SOFTMAX:
                        total = 0.0
                        for i in range(at, end, own.states):
                            power = math.exp((values[i] - highest) / table[at])
                            behaviour[i] = power
                            total += power
                        for i in range(at, end, own.states):
                            behaviour[i] = behaviour[i] / total
                        values[up] += highest + table[at] * math.log(total)
