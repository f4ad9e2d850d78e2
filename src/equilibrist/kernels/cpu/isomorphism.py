"""A dense index of deals up to a renaming of suits, in which children follow their parent.

GS3 (Gilpin, Sandholm and Sørensen 2007, "Exploiting suit isomorphisms") refines a partial order of
the suits round by round and encodes each round's rank sets by colexicographic ranks, in a case
analysis. Here the cases are generated, for any pattern and deck:

- A *type* is the suits in canonical order, split into classes of suits that nothing has told apart;
  each class has a size and a number of ranks already used.
- The cards of a round give each suit a set of ranks. Within a class, suits are sorted by (number of
  cards, colex rank of the set among the ranks left), highest first; the sorted counts, and which
  neighbours are equal, are the *case*. Suits with equal sets stay one class; the others part.
- Inside a case, the d different sets of suits with equal counts are a d-subset of all such sets,
  again a colex rank: Σ C(v_i, i). These digits form the *local* index, earlier classes minor.

How many deals of a later round lie under a deal depends on its type only. So the index adds, for
every round, the deals that come before its case and `local` times the deals under each: the order
of a depth-first walk. The children of a deal are contiguous, and the indices are 0 … size − 1.

The kernels hold, for each suit, the ranks used (16 bits a suit) and the first position of its class
in the canonical order (a nibble a suit). Decks with fewer suits have a last class of suits with no
ranks left. Helpers are inlined at the level of Numba's own code: passing a tuple of twenty arrays
to a function that is not costs more than all the arithmetic here (0.9 µs a deal instead of 0.1).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numba import njit, prange

from equilibrist.kernels.layout import DealTables

SuitClass: TypeAlias = tuple[int, int]  # suits in the class, ranks used in each
Type: TypeAlias = tuple[SuitClass, ...]
Run: TypeAlias = tuple[int, int]  # equal sets: cards in each, number of suits that hold it
Runs: TypeAlias = tuple[tuple[Run, ...], ...]  # of every class
Case: TypeAlias = tuple[int, Type, Runs, Type]  # round, type before, how the cards fall, type after

POSITIONS = 4
# What sorts a suit within its class: 4 bits of card count above 12 bits of colex rank (≤ 1,716).
ONE_CARD = 1 << 12
COLEX_MASK = ONE_CARD - 1
SET_MASK = 0xFFFF
# A sort key holds the class above that, and the suit below it.
SET_SHIFT = 4
COUNT_SHIFT = SET_SHIFT + 12
CLASS_SHIFT = 20


# --- The case analysis ------------------------------------------------------------------------


def build_tables(rounds: tuple[int, ...], num_ranks: int = 13, num_suits: int = 4) -> DealTables:
    """All types and cases of a deal pattern, and how many deals lie under each."""
    root: Type = ((num_suits, 0),)
    if num_suits < POSITIONS:
        root = (*root, (POSITIONS - num_suits, num_ranks))
    # Types in the order met, and the cases (runs of each class) of every type in every round.
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
    """All ways in which `num_cards` cards fall on the classes of a type."""
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
    """All runs of equal sets, counts not increasing, for a class whose suits have `left` ranks."""
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
    """The digits of a case's local index, minor first: [number of sets N, size d of the subset]."""
    digits = []
    for (_, used), class_runs in zip(parent, runs, strict=True):
        for count, group in itertools.groupby(class_runs, key=lambda run: run[0]):
            digits.append([math.comb(num_ranks - used, count), len(list(group))])
    return digits


def _case_fields(
    parent: Type, runs: Runs, num_ranks: int
) -> tuple[list[int], list[int], list[int], list[int]]:
    """What a case says of each suit position: count, k of its binomial, stride and radix."""
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
    """Offset and size of every case for every target round: [R, K] int64 each.

    Raises `OverflowError` where 64 bits cannot number the deals.
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
            raise OverflowError("more deals than a 64-bit index can number")
        before: dict[tuple[int, Type], int] = {}
        for k, (r, parent, _, _) in enumerate(cases):
            if r <= target:
                offset[target, k] = before.get((r, parent), 0)
                before[r, parent] = int(offset[target, k] + num_locals[k] * size[target, k])
    return offset, size


def _code_tables(
    rounds: tuple[int, ...], types: dict[Type, int], cases: list[Case]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How the kernel finds a case: by code, and by class where a round deals one card."""
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


# --- Kernels ----------------------------------------------------------------------------------


@njit(cache=True, inline="always")
def start_classes(tables):
    """First position of the class of every suit, a nibble a suit, before any card is dealt."""
    classes = np.int64(0)
    for suit in range(tables.num_suits, POSITIONS):
        classes |= tables.num_suits << (4 * suit)
    return classes


@njit(cache=True, inline="always")
def deal_round(tables, r, t, classes, used, cards, begin):
    """Deal the cards of round `r`, which stand in `cards` from `begin`, to a deal of type `t`.

    Returns the case, the local index, and the suits' classes and used ranks after the round.
    """
    first_rank, first_suit = 13 - tables.num_ranks, 4 - tables.num_suits
    if tables.round_cards[r] == 1:
        card = np.int64(cards[begin])
        rank, suit = (card >> 2) - first_rank, (card & 3) - first_suit
        return _deal_card(tables, r, t, classes, used, rank, suit)
    end = begin + tables.round_cards[r]
    new = np.int64(0)
    for i in range(begin, end):
        card = np.int64(cards[i])
        new |= np.int64(1) << (16 * ((card & 3) - first_suit) + (card >> 2) - first_rank)
    # The set of every suit: its count and its colex rank among the ranks left, 16 bits a suit.
    sets = np.int64(0)
    for i in range(begin, end):
        card = np.int64(cards[i])
        rank, shift = (card >> 2) - first_rank, 16 * ((card & 3) - first_suit)
        below = (1 << rank) - 1
        place = rank - np.int64(tables.popcount[(used >> shift) & below])
        order = np.int64(tables.popcount[(new >> shift) & below]) + 1
        sets += (ONE_CARD + tables.binomial[place, order]) << shift
    case, local, classes = _sort_suits(tables, r, t, classes, sets)
    return case, local, classes, used | new


@njit(cache=True, inline="always")
def _deal_card(tables, r, t, classes, used, rank, suit):
    """A round of one card: its suit leaves its class for the class's first position."""
    below = ((used >> (16 * suit)) & SET_MASK) & ((1 << rank) - 1)
    local = rank - np.int64(tables.popcount[below])
    first = (classes >> (4 * suit)) & 15
    for other in range(POSITIONS):  # the suits it leaves behind start one position later
        behind = ((classes >> (4 * other)) & 15 == first) & (other != suit)
        classes += np.int64(behind) << (4 * other)
    case = np.int64(tables.case_of_class[r, t, first])
    return case, local, classes, used | (np.int64(1) << (16 * suit + rank))


@njit(cache=True, inline="always")
def _sort_suits(tables, r, t, classes, sets):
    """Case, local index and new classes when the suits get `sets` (16 bits a suit)."""
    # Highest first, by class, count and set: a network of five exchanges.
    a, b = _suit_key(classes, sets, 0), _suit_key(classes, sets, 1)
    c, d = _suit_key(classes, sets, 2), _suit_key(classes, sets, 3)
    a, b = max(a, b), min(a, b)
    c, d = max(c, d), min(c, d)
    a, c = max(a, c), min(a, c)
    b, d = max(b, d), min(b, d)
    b, c = max(b, c), min(b, c)

    # The sorted counts and the equalities of neighbours are the case.
    base = tables.round_cards[r] + 1
    code = ((_count(a) * base + _count(b)) * base + _count(c)) * base + _count(d)
    ab, bc, cd = _same_set(a, b), _same_set(b, c), _same_set(c, d)
    code = code * 8 + ab * 4 + bc * 2 + cd
    case = np.int64(tables.case_of_code[tables.code_start[r, t] + code])
    local = _digit(tables, case, 0, a) + _digit(tables, case, 1, b)
    local += _digit(tables, case, 2, c) + _digit(tables, case, 3, d)

    # A suit equal to its neighbour shares its class, another starts one at its own position.
    second = 1 - ab
    third = second if bc else np.int64(2)
    fourth = third if cd else np.int64(3)
    classes = (second << (4 * (b & 3))) | (third << (4 * (c & 3))) | (fourth << (4 * (d & 3)))
    return case, local, classes


@njit(cache=True, inline="always")
def _suit_key(classes, sets, suit):
    """Sorts suits by class, then by the number of their new cards, then by their set."""
    first = (classes >> (4 * suit)) & 15
    dealt = (sets >> (16 * suit)) & SET_MASK
    return ((POSITIONS - first) << CLASS_SHIFT) | (dealt << SET_SHIFT) | suit


@njit(cache=True, inline="always")
def _same_set(key, other):
    return np.int64(key >> SET_SHIFT == other >> SET_SHIFT)


@njit(cache=True, inline="always")
def _count(key):
    return (key >> COUNT_SHIFT) & 15


@njit(cache=True, inline="always")
def _digit(tables, case, position, key):
    """What the set at a position adds to the local index."""
    colex = (key >> SET_SHIFT) & COLEX_MASK
    return tables.stride[case, position] * tables.subsets[colex, tables.choose[case, position]]


@njit(cache=True, inline="always")
def _index_deal(tables, cards, target):
    index, t, begin = np.int64(0), np.int64(0), np.int64(0)
    classes, used = start_classes(tables), np.int64(0)
    for r in range(target + 1):
        case, local, classes, used = deal_round(tables, r, t, classes, used, cards, begin)
        index += tables.offset[target, case] + local * tables.size[target, case]
        t = np.int64(tables.child[case])
        begin += tables.round_cards[r]
    return index


@njit(cache=True)
def index_deal(tables, cards, target):
    """Index among the deals of round `target` of the first rounds' cards in `cards` [n]."""
    return _index_deal(tables, cards, target)


@njit(cache=True, parallel=True)
def index_deals(tables, cards, target, out):
    """Writes into `out` [N] int64 the indices of deals `cards` [N, n] uint8."""
    for i in prange(cards.shape[0]):
        out[i] = _index_deal(tables, cards[i], target)


@njit(cache=True)
def index_hands(tables, board, hands, out):
    """Board first: the state of every k-card hand on a board, in the pattern (…board…, k).

    Writes into `out` [H] int64 the index of each hand of `hands` [H, k] among the orbits of hands
    on this board, −1 if the hand shares a card with the board or is outside the deck. Returns the
    number of orbits.
    """
    last = len(tables.round_cards) - 1
    t, begin = np.int64(0), np.int64(0)
    classes, used = start_classes(tables), np.int64(0)
    for r in range(last):
        case, _, classes, used = deal_round(tables, r, t, classes, used, board, begin)
        t = np.int64(tables.child[case])
        begin += tables.round_cards[r]
    for h in range(hands.shape[0]):
        out[h] = -1
        free = True
        for i in range(hands.shape[1]):
            free &= _is_free(tables, used, hands[h, i])
        if free:
            case, local, _, _ = deal_round(tables, last, t, classes, used, hands[h], 0)
            out[h] = tables.offset[last, case] + local
    final = tables.case_span[last, t, 1] - 1
    return tables.offset[last, final] + tables.num_locals[final]


@njit(cache=True, inline="always")
def _is_free(tables, used, card):
    """Whether a card belongs to the deck and has not been dealt."""
    rank = np.int64(card >> 2) - (13 - tables.num_ranks)
    suit = np.int64(card & 3) - (4 - tables.num_suits)
    return rank >= 0 and suit >= 0 and not (used >> (16 * suit + rank)) & 1


@njit(cache=True, inline="always")
def split_index(tables, t, r, index, target):
    """Case and local index of round `r` under type `t`, and what remains of `index`."""
    low, high = tables.case_span[r, t, 0], tables.case_span[r, t, 1]
    while high - low > 1:
        middle = (low + high) // 2
        if tables.offset[target, middle] <= index:
            low = middle
        else:
            high = middle
    index -= tables.offset[target, low]
    local = index // tables.size[target, low]
    return low, local, index - local * tables.size[target, low]


@njit(cache=True)
def relate(tables, index, from_round, to_round):
    """The ancestor, or the first descendant, in `to_round` of deal `index` of `from_round`.

    Returns it with the multiplicity of the deal it started from.
    """
    t, result = np.int64(0), np.int64(0)
    for r in range(from_round + 1):
        case, local, index = split_index(tables, t, r, index, from_round)
        if r <= to_round:
            result += tables.offset[to_round, case] + local * tables.size[to_round, case]
        t = np.int64(tables.child[case])
    return result, tables.multiplicity[t]


@njit(cache=True, inline="always")
def unindex_deal(tables, index, target, out):
    """Writes into `out` [n] the canonical deal of an index, each round ascending."""
    t, at, used = np.int64(0), 0, np.int64(0)
    first_rank, first_suit = 13 - tables.num_ranks, 4 - tables.num_suits
    for r in range(target + 1):
        case, local, index = split_index(tables, t, r, index, target)
        begin = at
        digit, colex, last_k = np.int64(0), np.int64(0), np.int64(1)
        new = np.int64(0)
        for p in range(POSITIONS):
            k = np.int64(tables.choose[case, p])
            if k > 0:  # a set of its own: the next element of its digit's subset
                if last_k == 1:
                    digit = local // tables.stride[case, p] % tables.radix[case, p]
                colex = k - 1
                while tables.subsets[colex + 1, k] <= digit:
                    colex += 1
                digit -= tables.subsets[colex, k]
                last_k = k
            taken = (used >> (16 * p)) & SET_MASK
            rest = colex
            for count in range(tables.dealt[case, p], 0, -1):
                place = count - 1
                while tables.binomial[place + 1, count] <= rest:
                    place += 1
                rest -= tables.binomial[place, count]
                rank = _free_rank(taken, place)
                new |= np.int64(1) << (16 * p + rank)
                out[at] = 4 * (rank + first_rank) + p + first_suit
                at += 1
        used |= new
        _sort_cards(out, begin, at)
        t = np.int64(tables.child[case])


@njit(cache=True, inline="always")
def _sort_cards(cards, begin, end):
    """Sorts a few cards in place."""
    for i in range(begin + 1, end):
        card, at = cards[i], i
        while at > begin and cards[at - 1] > card:
            cards[at] = cards[at - 1]
            at -= 1
        cards[at] = card


@njit(cache=True, inline="always")
def _free_rank(taken, place):
    """The rank that is number `place` among those not taken."""
    rank = 0
    while True:
        if not (taken >> rank) & 1:
            if place == 0:
                return rank
            place -= 1
        rank += 1


@njit(cache=True, parallel=True)
def unindex_deals(tables, indices, target, out):
    """Writes into `out` [N, n] uint8 the canonical deals of `indices` [N] int64."""
    for i in prange(indices.shape[0]):
        unindex_deal(tables, indices[i], target, out[i])
