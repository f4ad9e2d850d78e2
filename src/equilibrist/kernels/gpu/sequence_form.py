"""Steps of games with one board per round on the GPU, under the names of `cpu/sequence_form.py`.

Games of buckets have one board per round, so a block is [Q, S] with up to thousands of states. A
thread takes one state and one entry of a round and walks the decisions below that entry, so
neighbouring threads read neighbouring numbers; the rounds are one launch each. Sums have a fixed
order: one thread adds the values of the entries below a row.

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
from equilibrist.kernels.gpu.device import jit, part
from equilibrist.kernels.gpu.memory import for_kernels, launch, views
from equilibrist.kernels.treeplex import decisions, entry_rows, num_rounds, parents_of

cuda = _cuda()
Array: TypeAlias = Any  # of CuPy; of NumPy in the simulator


class Round(NamedTuple):
    """A round of a treeplex with one board; E entries, S states, D decisions, J openings.

    All tables are in one array of whole numbers: passing another array to a kernel takes longer
    than many kernels run. Decisions and openings are sorted by the entry above them, decisions with
    parents before children. An opening is a row that leads to entries of the next round.
    """

    start: int  # where its block starts in a plan
    states: int
    above_start: int  # likewise of the round before and of the round after
    above_states: int  # 0 in the first round
    below_start: int
    below_states: int
    num_entries: int
    tables: Array  # [all tables]; the numbers below say where each starts
    state_parent: int  # [S] column in the round before
    entry_parent: int  # [E] row in the round before
    first_decision: int  # [E + 1]
    decisions: int  # [D, 4] row above it, first action row, number of actions, whether locked
    first_opening: int  # [E + 1]
    openings: int  # [J, 3] row, and the first and the end of its part of `entries`
    entries: int  # [entries of the next round] sorted by the row that leads there
    first_child: int  # [S + 1] in the next round, where the children of a state are contiguous


# --- on the CPU: the tables of a treeplex -----------------------------------------------------


def prepare(tree: Treeplex) -> tuple[Round, ...]:
    """Copy a treeplex with one board per round to the GPU: its rounds."""
    return tuple(_round(tree, r) for r in range(num_rounds(tree)))


def _round(tree: Treeplex, r: int) -> Round:
    has_above, has_below = r > 0, r + 1 < num_rounds(tree)
    num_entries, states = len(entry_rows(tree, r)), int(tree.num_states[r])
    entry = np.zeros(int(tree.num_sequences[r]), np.int64)  # the entry above each row
    entry[:num_entries] = np.arange(num_entries)
    found = []
    for d, parent, actions in decisions(tree, r):
        entry[actions] = entry[parent]
        found.append((parent, actions.start, actions.stop - actions.start, tree.locked[d]))
    decided = np.array(found, np.int64).reshape(-1, 4)
    nobody = np.zeros(0, np.int64)
    leading = entry_rows(tree, r + 1) if has_below else nobody
    parents = parents_of(tree, r + 1) if has_below else nobody
    rows, place = np.unique(leading, return_inverse=True)
    ends = np.cumsum(np.bincount(place, minlength=len(rows)))
    opened = np.stack([rows, np.append(0, ends[:-1])[: len(rows)], ends], axis=1).astype(np.int64)
    tables: dict[str, NDArray[Any]] = {
        "state_parent": parents_of(tree, r),
        "entry_parent": entry_rows(tree, r),
        "first_decision": _starts(entry[decided[:, 0]], num_entries),
        "decisions": _sorted(decided, entry[decided[:, 0]]),
        "first_opening": _starts(entry[rows], num_entries),
        "openings": _sorted(opened, entry[rows]),
        "entries": np.argsort(place, kind="stable"),
        "first_child": _starts(parents, states),
    }
    flat = [table.astype(np.int32).ravel() for table in tables.values()]
    places = np.cumsum([0, *map(len, flat)]).tolist()
    return Round(
        start=int(tree.block_start[r]),
        states=states,
        above_start=int(tree.block_start[r - 1]) if has_above else 0,
        above_states=int(tree.num_states[r - 1]) if has_above else 0,
        below_start=int(tree.block_start[r + 1]),
        below_states=int(tree.num_states[r + 1]) if has_below else 0,
        num_entries=num_entries,
        tables=for_kernels(np.concatenate(flat)),
        **dict(zip(tables, places, strict=False)),
    )


def _starts(groups: NDArray[Any], number: int) -> NDArray[np.int64]:
    """Return where each group starts among members sorted by group: [number + 1]."""
    return np.append(0, np.cumsum(np.bincount(groups, minlength=number)))


def _sorted(table: NDArray[np.int64], groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows of a table sorted by group; those of a group stay in order."""
    return table[np.argsort(groups, kind="stable")]


# --- steps ------------------------------------------------------------------------------------


def realize(tree: tuple[Round, ...], behaviour: Array, plan: Array, threads: int = 1) -> None:
    """Write into `plan` [L] the realization plan of `behaviour` [L]."""
    arrays = views(behaviour, plan)
    for own in tree:
        launch(_realize, own.states, own.num_entries, own, *arrays)


def normalize(tree: tuple[Round, ...], plan: Array, behaviour: Array) -> None:
    """Write into `behaviour` [L] that of `plan` [L]; uniform where the plan has no weight."""
    arrays = views(plan, behaviour)
    for own in tree:
        launch(_normalize, own.states, own.num_entries, own, *arrays)


def fold_up(
    tree: tuple[Round, ...],
    rule: int,
    values: Array,
    behaviour: Array,
    table: Array,
    factors: NDArray[Any],
    threads: int = 1,
) -> None:
    """Carry `values` [L] from the leaves to the root by a rule (see the reference)."""
    if rule not in (REGRET, SOFTMAX):
        table = table[:0]  # unused; the simulator writes back each argument, used or not
    arrays = views(values, behaviour, table)
    for own in reversed(tree):
        launch(_fold, own.states, own.num_entries, own, rule, *arrays, tuple(factors))


# --- kernels ----------------------------------------------------------------------------------


@jit
def _realize(own, behaviour, plan):
    """Write a round's block of the plan; that of the round before is there."""
    state, tables = cuda.grid(1), own.tables
    if state < own.states:
        for entry in range(cuda.blockIdx.y, own.num_entries, cuda.gridDim.y):
            place = own.start + entry * own.states + state
            if own.above_states == 0:
                plan[place] = 1
            else:
                row = tables[own.entry_parent + entry] * own.above_states
                plan[place] = plan[own.above_start + row + tables[own.state_parent + state]]
            first = tables[own.first_decision + entry]
            last = tables[own.first_decision + entry + 1]
            for d in range(own.decisions + 4 * first, own.decisions + 4 * last, 4):
                reach = plan[own.start + tables[d] * own.states + state]
                i = own.start + tables[d + 1] * own.states + state
                for _ in range(tables[d + 2]):
                    plan[i] = reach * behaviour[i]
                    i += own.states


@jit
def _normalize(own, plan, behaviour):
    """Write a round's block of the behaviour of a plan."""
    state, tables = cuda.grid(1), own.tables
    if state < own.states:
        for entry in range(cuda.blockIdx.y, own.num_entries, cuda.gridDim.y):
            behaviour[own.start + entry * own.states + state] = 1
            first = tables[own.first_decision + entry]
            last = tables[own.first_decision + entry + 1]
            for d in range(own.decisions + 4 * first, own.decisions + 4 * last, 4):
                reach = plan[own.start + tables[d] * own.states + state]
                at = own.start + tables[d + 1] * own.states + state
                size = tables[d + 2]
                total = 0.0
                for a in range(size):
                    total += max(plan[at + a * own.states], 0.0)
                reached = total >= SMALLEST and total <= LARGEST and reach > 0
                for a in range(size):
                    i = at + a * own.states
                    behaviour[i] = max(plan[i], 0.0) / total if reached else 1.0 / size


@jit
def _fold(own, rule, values, behaviour, table, factors):
    """Fold the decisions of a round, children first; the values of later rounds are folded."""
    state, tables = cuda.grid(1), own.tables
    if state < own.states:
        for entry in range(cuda.blockIdx.y, own.num_entries, cuda.gridDim.y):
            # Rows that open the next round: add the values of their entries in all child states.
            first = tables[own.first_opening + entry]
            last = tables[own.first_opening + entry + 1]
            for j in range(own.openings + 3 * first, own.openings + 3 * last, 3):
                place = own.start + tables[j] * own.states + state
                value = values[place]
                for e in range(tables[j + 1], tables[j + 2]):
                    below = own.below_start + tables[own.entries + e] * own.below_states
                    child = tables[own.first_child + state]
                    while child < tables[own.first_child + state + 1]:
                        value += values[below + child]
                        child += 1
                values[place] = value
            # Decisions, the last ones first.
            first = tables[own.first_decision + entry]
            last = tables[own.first_decision + entry + 1]
            for d in range(own.decisions + 4 * (last - 1), own.decisions + 4 * first - 1, -4):
                up = own.start + tables[d] * own.states + state
                at = own.start + tables[d + 1] * own.states + state
                chosen = EXPECTATION if tables[d + 3] else rule
                value = _decide(
                    chosen, tables[d + 2], own.states, at, values, behaviour, table, factors
                )
                values[up] += value


@part
def _decide(rule, size, states, at, values, behaviour, table, factors):
    """Return the value of a decision in one state; its actions are `states` apart from `at` on."""
    end, best = at + size * states, at
    mean = behaviour[at] * values[at]
    for i in range(at + states, end, states):
        mean += behaviour[i] * values[i]
        if values[i] > values[best]:
            best = i
    total, value = 0.0, mean
    if rule == REGRET:
        for i in range(at, end, states):
            latest = values[i] - mean
            regret = table[i] + latest
            regret *= factors[0] if regret > 0 else factors[1]
            table[i] = regret
            matched = max(regret + factors[2] * latest, 0.0)
            behaviour[i] = matched
            total += matched
        is_counted = total >= SMALLEST and total <= LARGEST
        for i in range(at, end, states):
            behaviour[i] = behaviour[i] / total if is_counted else 1.0 / size
    elif rule == BEST:
        value = values[best]
        for i in range(at, end, states):
            behaviour[i] = 1 if i == best else 0
    elif rule == SOFTMAX:
        for i in range(at, end, states):
            power = math.exp((values[i] - values[best]) / table[at])
            behaviour[i] = power
            total += power
        for i in range(at, end, states):
            behaviour[i] = behaviour[i] / total
        value = values[best] + table[at] * math.log(total)
    return value
