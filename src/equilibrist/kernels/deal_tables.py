"""Tables for the index of deals up to a renaming of suits: the case analysis of all deals.

GS3 (Gilpin, Sandholm and Sørensen 2007, "Exploiting suit isomorphisms") refines a partial order of
the suits round by round and encodes each round's rank sets by colexicographic ranks, in a case
analysis. Here the cases are generated, for any pattern and deck:

- A *type* is the suits in canonical order, split into classes of suits not yet distinguished;
  each class has a size and a number of ranks already used.
- The cards of a round give each suit a set of ranks. Within a class, suits are sorted by (number of
  cards, colex rank of the set among the ranks left), highest first; the sorted counts, and which
    neighbours are equal, are the *case*. Suits with equal sets stay one class; the others separate.
- Inside a case, the d different sets of suits with equal counts are a d-subset of all such sets,
  again a colex rank: Σ C(v_i, i). These digits form the *local* index, earlier classes minor.

The number of deals of a later round under a deal depends only on its type. So the index adds, for
every round, the deals that come before its case and `local` times the deals under each: the order
of a depth-first walk. The children of a deal are contiguous, and the indices are 0 … size − 1.

Decks with fewer suits have a last class of suits with no ranks left.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from equilibrist.kernels.array_structs import DealTables

SuitClass: TypeAlias = tuple[int, int]  # suits in the class, ranks used in each
Type: TypeAlias = tuple[SuitClass, ...]
Run: TypeAlias = tuple[int, int]  # equal sets: cards in each, number of suits that hold it
Runs: TypeAlias = tuple[tuple[Run, ...], ...]  # the runs of every class
Case: TypeAlias = tuple[int, Type, Runs, Type]  # round, type before, how the cards fall, type after

POSITIONS = 4  # suits, in canonical order


def build_tables(rounds: tuple[int, ...], num_ranks: int = 13, num_suits: int = 4) -> DealTables:
    """Build all types and cases of a deal pattern, with the number of deals under each."""
    root: Type = ((num_suits, 0),)
    if num_suits < POSITIONS:
        root = (*root, (POSITIONS - num_suits, num_ranks))
    # Types in order of appearance, and the cases (runs of each class) of every type in every round.
    types: dict[Type, int] = {root: 0}
    cases: list[Case] = []
    level = [root]
    for r, num_cards in enumerate(rounds):
        children: dict[Type, None] = {}
        for parent in level:
            for runs in _cases(parent, num_cards, num_ranks):
                child = tuple(
                    (suits, used + count)
                    for (_, used), class_runs in zip(parent, runs, strict=True)
                    for count, suits in class_runs
                )
                types.setdefault(child, len(types))
                children[child] = None
                cases.append((r, parent, runs, child))
        level = list(children)

    num_locals = [
        math.prod(math.comb(n, d) for n, d in _digits(parent, runs, num_ranks))
        for _, parent, runs, _ in cases
    ]
    offset, size = _descendants(len(rounds), cases, num_locals)
    fields = [_case_fields(parent, runs, num_ranks) for _, parent, runs, _ in cases]
    case_span = np.zeros((len(rounds), len(types), 2), np.int64)
    for k, (r, parent, _, _) in enumerate(cases):
        if case_span[r, types[parent], 1] == 0:
            case_span[r, types[parent], 0] = k
        case_span[r, types[parent], 1] = k + 1
    code_start, case_of_code, case_of_class = _code_tables(rounds, types, cases)
    return DealTables(
        num_ranks=np.int64(num_ranks),
        num_suits=np.int64(num_suits),
        round_cards=np.array(rounds, np.int64),
        multiplicity=np.array([_multiplicity(t, num_suits) for t in types], np.int64),
        code_start=code_start,
        case_of_code=case_of_code,
        case_of_class=case_of_class,
        case_span=case_span,
        child=np.array([types[child] for *_, child in cases], np.int32),
        num_locals=np.array(num_locals, np.int64),
        offset=offset,
        size=size,
        dealt=np.array([field[0] for field in fields], np.uint8),
        choose=np.array([field[1] for field in fields], np.uint8),
        stride=np.array([field[2] for field in fields], np.int64),
        radix=np.array([field[3] for field in fields], np.int64),
        binomial=np.array([[math.comb(n, k) for k in range(14)] for n in range(14)], np.int64),
        subsets=np.array([[math.comb(v, k) for k in range(5)] for v in range(1718)], np.int64),
        popcount=np.array([bits.bit_count() for bits in range(1 << 13)], np.uint8),
    )


def _cases(parent: Type, num_cards: int, num_ranks: int) -> Iterator[Runs]:
    """Yield all ways in which `num_cards` cards fall on the classes of a type."""
    if not parent:
        if num_cards == 0:
            yield ()
        return
    (suits, used), rest = parent[0], parent[1:]
    for here in range(num_cards + 1):
        for runs in _class_runs(suits, here, num_ranks - used, here):
            for others in _cases(rest, num_cards - here, num_ranks):
                yield (runs, *others)


def _class_runs(suits: int, num_cards: int, left: int, most: int) -> Iterator[tuple[Run, ...]]:
    """Yield all runs of equal sets, counts not increasing, of a class with `left` free ranks."""
    if suits == 0:
        if num_cards == 0:
            yield ()
        return
    for count in range(min(most, left, num_cards), -1, -1):
        for run in range(1, suits + 1):
            if count * run > num_cards:
                break
            for others in _class_runs(suits - run, num_cards - count * run, left, count):
                distinct = 1 + sum(c == count for c, _ in others)
                if distinct <= math.comb(left, count):
                    yield ((count, run), *others)


def _digits(parent: Type, runs: Runs, num_ranks: int) -> list[list[int]]:
    """Return the digits of a local index, minor first: [number of sets N, size d of the subset]."""
    digits = []
    for (_, used), class_runs in zip(parent, runs, strict=True):
        for count, group in itertools.groupby(class_runs, key=lambda run: run[0]):
            digits.append([math.comb(num_ranks - used, count), len(list(group))])
    return digits


def _case_fields(
    parent: Type, runs: Runs, num_ranks: int
) -> tuple[list[int], list[int], list[int], list[int]]:
    """Return, for each suit position of a case, its count, k of its binomial, stride and radix."""
    counts: list[int] = []
    chooses: list[int] = []
    strides: list[int] = []
    radices: list[int] = []
    digits = iter(_digits(parent, runs, num_ranks))
    stride = 1
    for class_runs in runs:
        for count, group in itertools.groupby(class_runs, key=lambda run: run[0]):
            num_sets, distinct = next(digits)
            radix = math.comb(num_sets, distinct)
            for i, (_, suits) in enumerate(group):
                counts += [count] * suits
                chooses += [distinct - i] + [0] * (suits - 1)
                strides += [stride] + [0] * (suits - 1)
                radices += [radix] * suits
            stride *= radix
    return counts, chooses, strides, radices


def _descendants(
    num_rounds: int, cases: list[Case], num_locals: list[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return offset and size of every case for every target round: [R, K] int64 each.

    Raises `OverflowError` if 64 bits cannot number the deals.
    """
    offset = np.zeros((num_rounds, len(cases)), np.int64)
    size = np.zeros((num_rounds, len(cases)), np.int64)
    for target in range(num_rounds):
        below: dict[tuple[int, Type], int] = {}  # deals of the target round under (round, type)
        for k in reversed(range(len(cases))):
            r, parent, _, child = cases[k]
            if r <= target:
                each = 1 if r == target else below.get((r + 1, child), 0)
                size[target, k] = each
                below[r, parent] = below.get((r, parent), 0) + num_locals[k] * each
        if max(below.values()) > np.iinfo(np.int64).max:
            raise OverflowError("the deals are too many for a 64-bit index")
        before: dict[tuple[int, Type], int] = {}
        for k, (r, parent, _, _) in enumerate(cases):
            if r <= target:
                offset[target, k] = before.get((r, parent), 0)
                before[r, parent] = int(offset[target, k] + num_locals[k] * size[target, k])
    return offset, size


def _code_tables(
    rounds: tuple[int, ...], types: dict[Type, int], cases: list[Case]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return tables that find a case by code, and by class where a round deals one card."""
    code_start = np.full((len(rounds), len(types)), -1, np.int64)
    case_of_class = np.full((len(rounds), len(types), POSITIONS), -1, np.int32)
    blocks: list[np.ndarray] = []
    length = 0
    for k, (r, parent, runs, _) in enumerate(cases):
        t = types[parent]
        if code_start[r, t] < 0:
            code_start[r, t] = length
            blocks.append(np.full((rounds[r] + 1) ** POSITIONS * 8, -1, np.int32))
            length += len(blocks[-1])
        code = 0
        equal = 0
        position = 0
        for class_runs in runs:
            for count, suits in class_runs:
                for i in range(suits):
                    code = code * (rounds[r] + 1) + count
                    equal |= (i > 0) << (POSITIONS - 1 - position)
                    if rounds[r] == 1 and count == 1:
                        case_of_class[r, t, position] = k
                    position += 1
        blocks[-1][code * 8 + equal] = k
    return code_start, np.concatenate(blocks), case_of_class


def _multiplicity(t: Type, num_suits: int) -> int:
    real = [suits for suits, _ in t]
    if num_suits < POSITIONS:
        real = real[:-1]
    return math.factorial(num_suits) // math.prod(math.factorial(suits) for suits in real)
