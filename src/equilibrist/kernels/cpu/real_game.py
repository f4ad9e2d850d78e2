"""Best responses to all betting of a round at once, on the boards of the real game.

`respond_last` takes the boards of the last round that follow one board. The opponent's sequences of
actions are the lanes of vectors, sixteen at a time, and all lanes walk one list of the board's
hands, from the worst to the best: hand, cards and column are the same for all of them. For every
sequence and every *end* of the round (a way that it can end in a showdown) the walk finds, for each
hand of the responder, how often it meets the opponent's hands and how often it wins, less losses.
That is enough: a player that folds gives up what the ends do not have (`_fold`).

Probabilities are whole numbers of units that are chosen for each sequence and end such that no sum
of 32 bits can overflow. So sums are exact, in any order; only each probability is rounded, once, by
less than 10⁻⁶ of the largest.

The *ends* of a round with a cap of m raises are numbered: 0 both check; k = 1 … m the first player
bets and the k-th raise is called; m + k the first player checks, and so on.

v1: all ends of sixteen sequences walked together. v2: one end after the other, the total in a
register, and equal hands in no order, so that neighbours rarely wait for the sums of a card that
they share. v3: the cap is a parameter, one compilation for all; 2 % slower.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equilibrist.kernels.cpu.ranking import value_with
from equilibrist.kernels.cpu.real_game_lanes import SIXTEEN, convert, larger, minus_half, sixteen
from equilibrist.kernels.cpu.simd import as_wide, load, spread, store
from equilibrist.kernels.parts import kernel, part

HANDS = 1328  # columns of arrays of hands: 1326, and two that nobody holds
_W = np.uint64(SIXTEEN)
_TWO = np.uint64(2 * SIXTEEN)
_EIGHT = np.uint64(8)
NUM_VALUES = 1 << 13  # more than there are values of hands
_USUAL = 4  # raises in a round of limit hold'em: a loop that the compiler unrolls
_U = np.uint64


class SortedHands(NamedTuple):
    """Hands of N boards, n on each, from worst to best; equal hands in no order."""

    hand: NDArray[np.int16]  # [N, n] hand numbers
    cards: NDArray[np.uint8]  # [N, n, 2]
    group: NDArray[np.int16]  # [N, n + 1] where equal hands start, then n
    num_groups: NDArray[np.int64]  # [N]


class OpponentSequences(NamedTuple):
    """Opponent's sequences before the last round: B blocks of sixteen, D different ends."""

    table: NDArray[np.float32]  # [B, D, K, 16] probabilities by column, in units
    first: NDArray[np.float32]  # [B, K1, 16] factors by column of the first round
    unit: NDArray[np.float32]  # [B, E, 16] half a unit, times the factor that all hands share
    end: NDArray[np.int64]  # [E] index of each end among the different ends
    chips: NDArray[np.float32]  # [C, 16] chips of each player in the pot, for each case of a block
    case: NDArray[np.int64]  # [B + 1] cases of each block


class Space(NamedTuple):
    """Work space for n hands on a board; flat arrays."""

    reach: NDArray[np.int32]  # [n, 16]
    sums: NDArray[np.int32]  # [52, 16]
    state: NDArray[np.int32]  # [52, 16]
    below: NDArray[np.int32]  # [n, 16]
    found: NDArray[np.int32]  # [D, n, 2, 16]
    ends: NDArray[np.float32]  # [E, 2, 16]


def aligned(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Allocate zeros that start at a cache line.

    Example:
        >>> aligned((3, 5), np.float32).ctypes.data % 64
        0
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    room = np.zeros(size + 64, np.uint8)
    start = -room.ctypes.data % 64
    return room[start : start + size].view(dtype).reshape(shape)


@kernel
def sort_hands(tables, board, last, absent, hands, space, out):
    """Write the hands of the boards that `last` [N] cards make of `board` (see `SortedHands`).

    `absent` are the masks of cards that are not in the deck; `hands` is (numbers [H], cards [H, 2])
    of all hands, equal ones in the order to write them; `space` is (found [n] int32, starts [8192]
    int32).
    """
    numbers, hand_cards = hands
    found, starts = space
    key, mask = tables.start, np.uint64(0)
    for card in board:
        key += tables.card_key[card]
        mask += tables.card_mask[card]
    for i in range(len(last)):
        dealt = last[i]
        all_keys, all_masks = key + tables.card_key[dealt], mask + tables.card_mask[dealt]
        seen = all_masks | absent
        # Count the hands of each value, so that values have places; then write hands to places.
        for value in range(NUM_VALUES):
            starts[value] = 0
        at = 0
        for h in range(len(numbers)):
            low, high = hand_cards[h, 0], hand_cards[h, 1]
            if seen & (tables.card_mask[low] | tables.card_mask[high]):
                continue
            own = np.int64(value_with(tables, all_keys, all_masks, low, high))
            starts[own] += 1
            found[at] = own << 16 | h
            at += 1
        place, groups = 0, 0
        for value in range(NUM_VALUES):
            size = starts[value]
            starts[value] = place
            if size > 0:
                out.group[i, groups] = place
                groups += 1
                place += size
        out.group[i, groups] = place
        out.num_groups[i] = groups
        for j in range(at):
            value, h = found[j] >> 16, found[j] & 0xFFFF
            place = starts[value]
            starts[value] += 1
            out.hand[i, place] = numbers[h]
            out.cards[i, place, 0], out.cards[i, place, 1] = hand_cards[h, 0], hand_cards[h, 1]


@kernel
def respond_last(hands, columns, first, weight, sequences, betting, space, out):
    """Add into `out` [C, H, 16] what the responder's hands win on boards of the last round.

    `columns` [N, n] are those of the sorted hands, `first` [H] those of the first round, `weight`
    [N] counts boards; `betting` is (bet in chips, maximum number of raises, whether the responder
    acts first).
    """
    bet, raises, is_first = betting
    zero, more = sixteen(np.float32(0)), sixteen(np.float32(bet))
    num_rows = _U(sequences.table.shape[1])
    row_size = _U(sequences.table.shape[2]) * _W
    for b in range(_U(sequences.table.shape[0])):
        factor = b * _U(sequences.first.shape[1]) * _W
        for i in range(hands.hand.shape[0]):
            group = hands.group[i, : hands.num_groups[i] + 1]
            for d in range(num_rows):
                _sweep(
                    hands.cards[i], hands.hand[i], columns[i], group, first, sequences.first,
                    factor, sequences.table, (b * num_rows + d) * row_size, d, space,
                )  # fmt: skip
            for h in range(_U(hands.hand.shape[1])):
                _read_ends(space, h, _U(hands.hand.shape[1]), sequences.end, sequences.unit, b)
                place = _U(hands.hand[i, h]) * _W
                for case in range(_U(sequences.case[b]), _U(sequences.case[b + _U(1)])):
                    spent = load(sequences.chips, case * _W, zero)
                    if raises == _USUAL:
                        value = _fold(space.ends, spent, more, True, _USUAL, is_first, zero, _W)
                    else:
                        value = _fold(space.ends, spent, more, True, raises, is_first, zero, _W)
                    at = case * _U(out.shape[1]) * _W + place
                    value = sixteen(weight[i]) * convert(value, sixteen(0.0))
                    store(out, at, load(out, at, sixteen(0.0)) + value)


@part(forceinline=False)
def _sweep(cards, hand, column, group, first, factor, factor_at, table, table_at, d, space):
    """Count for one end of sixteen sequences how often hands win and meet, doubled, in `found`."""
    nothing, zero = sixteen(np.int32(0)), sixteen(np.float32(0))
    half = sixteen(np.float32(0.5))
    for card in range(_U(52)):
        store(space.sums, card * _W, nothing)
    total = nothing
    for h in range(_U(cards.shape[0])):
        a, b = _U(cards[h, 0]) * _W, _U(cards[h, 1]) * _W
        probability = load(factor, factor_at + _U(first[hand[h]]) * _W, zero)
        probability = probability * load(table, table_at + _U(column[h]) * _W, zero)
        x = convert(probability + half, nothing)
        x = x + x
        total = total + x
        at_a, at_b = load(space.sums, a, nothing) + x, load(space.sums, b, nothing) + x
        store(space.reach, h * _W, x)
        store(space.sums, a, at_a)
        store(space.sums, b, at_b)
    # From here on sums start at minus half of the total, so that they count the hands below less
    # those above; a hand's value is the mean of before and after its equals.
    for card in range(_U(52)):
        store(space.state, card * _W, minus_half(load(space.sums, card * _W, nothing)))
    now = minus_half(total)
    for g in range(_U(group.shape[0] - 1)):
        begin, end = _U(group[g]), _U(group[g + _U(1)])
        for h in range(begin, end):
            a, b = _U(cards[h, 0]) * _W, _U(cards[h, 1]) * _W
            below = now - load(space.state, a, nothing) - load(space.state, b, nothing)
            store(space.below, (h - begin) * _W, below)
        for h in range(begin, end):
            a, b = _U(cards[h, 0]) * _W, _U(cards[h, 1]) * _W
            x = load(space.reach, h * _W, nothing)
            now = now + x
            at_a, at_b = load(space.state, a, nothing) + x, load(space.state, b, nothing) + x
            store(space.state, a, at_a)
            store(space.state, b, at_b)
        for h in range(begin, end):
            a, b = _U(cards[h, 0]) * _W, _U(cards[h, 1]) * _W
            won = now - load(space.state, a, nothing) - load(space.state, b, nothing)
            won = won + load(space.below, (h - begin) * _W, nothing)
            # Hands that share a card are removed by inclusion–exclusion.
            met = total - load(space.sums, a, nothing) - load(space.sums, b, nothing)
            met = met + load(space.reach, h * _W, nothing)
            place = (d * _U(cards.shape[0]) + h) * _TWO
            store(space.found, place, won)
            store(space.found, place + _W, met)


@part
def _read_ends(space, h, num_hands, end, unit, b):
    """Write into `ends`, for every end, what one hand wins per chip and how often it meets."""
    nothing, zero = sixteen(np.int32(0)), sixteen(np.float32(0))
    for e in range(_U(len(end))):
        place = (_U(end[e]) * num_hands + h) * _TWO
        units = load(unit, (b * _U(len(end)) + e) * _W, zero)
        won = convert(load(space.found, place, nothing), zero) * units
        met = convert(load(space.found, place + _W, nothing), zero) * units
        store(space.ends, e * _TWO, won)
        store(space.ends, e * _TWO + _W, met)


class Board(NamedTuple):
    """Cards that a board leaves, and what is left to come."""

    left: float  # number of cards, each of which may come next
    live: NDArray[np.float64]  # [1328] 1 for hands that the board does not block, 0 for others
    renamed: NDArray[np.int64]  # [24, H] hands that renamings of suits make
    keeping: NDArray[np.int64]  # [G] renamings that keep the board's rounds


class OpponentHands(NamedTuple):
    """Opponent's probabilities at the ends of a round, by rows Q."""

    table: NDArray[np.float64]  # [rows, K] probability of arriving there, by column
    first: NDArray[np.float64]  # [rows, K1] those of the first round, which multiply them
    row: NDArray[np.int64]  # [Q, 2] rows of both tables; −1 if nothing of the first multiplies
    column: NDArray[np.int64]  # [H] columns of hands on the board
    first_column: NDArray[np.int32]  # [H]
    cards: NDArray[np.uint8]  # [H, 2]


class RoundSpace(NamedTuple):
    """Work space for a round that is not the last; flat arrays but for `met`."""

    met: NDArray[np.float64]  # [Q, 1328] how often hands meet the opponent's
    reach: NDArray[np.float64]  # [1328]
    sums: NDArray[np.float64]  # [52]
    ends: NDArray[np.float64]  # [E, 16]


@kernel
def respond_board(values, board, opponent, positions, betting, space, out):
    """Write into `out` [P, 1328] what hands win from each position of a round that is not the last.

    `values` [P', 1328] are the sums of those of the boards that follow, and are written over.
    `positions` and `betting` as in `_respond_round`.
    """
    _average(values, board, space.reach)
    for q in range(len(opponent.row)):
        row, above = opponent.row[q]
        for h in range(len(opponent.cards)):
            space.reach[h] = 0.0
            if board.live[h] > 0:
                space.reach[h] = opponent.table[row, opponent.column[h]]
                if above >= 0:
                    space.reach[h] *= opponent.first[above, opponent.first_column[h]]
        _meet(space.reach, opponent.cards, space.sums, space.met[q])
    _respond_round(values, space.met, positions, betting, space.ends, out)
    for p in range(out.shape[0]):
        for h in range(out.shape[1]):
            out[p, h] *= board.live[h]


@part
def _average(values, board, row):
    """Make means over cards of sums, and means over the renamings that keep the board."""
    num_hands, kept = board.renamed.shape[1], board.keeping
    for p in range(values.shape[0]):
        for h in range(values.shape[1]):
            values[p, h] /= board.left
        if len(kept) == 1:
            continue
        for h in range(num_hands):
            row[h] = 0.0
        for g in range(len(kept)):
            image = board.renamed[kept[g]]
            for h in range(num_hands):
                row[h] += values[p, image[h]]
        for h in range(num_hands):
            values[p, h] = row[h] / len(kept)


@part
def _respond_round(values, met, positions, betting, ends, out):
    """Write into `out` [P, H] what hands win from each position of a round that is not the last.

    `positions` is (following, row, scale, spent): `values` [P', H] are those of the positions of
    the next round, one for each end: `following` [P, E]. `met` [Q, H] is how often hands meet the
    opponent's by its `row` [P, E], −1 if never reached; `scale` [P, E] multiplies both. `spent` [P]
    are chips that each player has put in. `betting` as in `respond_last`.
    """
    following, row, scale, spent = positions
    bet, raises, is_first = betting
    zero = spread(0.0)
    more = as_wide(bet, zero)
    num_hands = _U(out.shape[1])
    for p in range(out.shape[0]):
        chips = as_wide(spent[p], zero)
        for h in range(_U(0), num_hands, _EIGHT):
            for e in range(_U(row.shape[1])):
                value, often = zero, zero
                if row[p, e] >= 0:
                    share = as_wide(scale[p, e], zero)
                    value = share * load(values, _U(following[p, e]) * num_hands + h, zero)
                    often = share * load(met, _U(row[p, e]) * num_hands + h, zero)
                store(ends, e * _U(16), value)
                store(ends, e * _U(16) + _EIGHT, often)
            value = _fold(ends, chips, more, False, raises, is_first, zero, _EIGHT)
            store(out, _U(p) * num_hands + h, value)


@part
def _fold(ends, spent, bet, is_last, raises, is_first, zero, width):
    """Return the value of a round to a best responder; both players have `spent` before it.

    `ends` has the value of each end and how often the opponent reaches it; in the last round the
    value is a share of the chips that each player has put in by then. The responder folds, calls or
    raises, whichever is best; the opponent folds what neither calls nor raises.
    """
    two = width + width
    passed, there = load(ends, _U(0), zero), load(ends, width, zero)
    if is_last:
        passed = passed * spent
    if is_first:
        there = there + load(ends, _U(raises + 1) * two + width, zero)
    for _ in range(raises):
        spent = spent + bet
    # Two lines of raises, the last raise first: the one that the responder faces, and the one that
    # the opponent faces. One raise earlier the two change places.
    faced, given = (raises, 0) if is_first == (raises % 2 == 1) else (0, raises)
    worth, other, above = zero, zero, zero
    for k in range(raises, 0, -1):
        mine, theirs = _U(faced + k) * two, _U(given + k) * two
        called, met = load(ends, mine, zero), load(ends, mine + width, zero)
        shown, kept = load(ends, theirs, zero), load(ends, theirs + width, zero)
        before = there if k == 1 else load(ends, theirs - width, zero)
        if is_last:
            called, shown = called * spent, shown * spent
        spent = spent - bet
        best = larger(called, zero - spent * met)
        best = best if k == raises else larger(best, worth)
        worth = shown + other + spent * (before - kept - above)
        other, above = best, met
        faced, given = given, faced
    if is_first:  # check, then the opponent may bet; or bet
        return larger(passed + other, worth)
    return larger(passed, worth) + other


@kernel
def meet(reach, hand_cards, sums, out):
    """Write into `out` [H] how often each hand meets hands of `reach` [H]; `sums` is [52]."""
    _meet(reach, hand_cards, sums, out)


@part
def _meet(reach, hand_cards, sums, out):
    """Run `meet`."""
    total = 0.0
    for card in range(52):
        sums[card] = 0.0
    for h in range(hand_cards.shape[0]):
        x = reach[h]
        total += x
        sums[hand_cards[h, 0]] += x
        sums[hand_cards[h, 1]] += x
    for h in range(hand_cards.shape[0]):
        shared = sums[hand_cards[h, 0]] + sums[hand_cards[h, 1]]
        out[h] = total - shared + reach[h]


@kernel
def read_board(renamed, hand_cards, board, is_free, out):
    """Write what a board leaves, and return the number of renamings that keep its rounds.

    `renamed` [24, 52] are the cards that renamings of suits make, `board` [n] a flop and later
    cards; `is_free` [52] are the cards of the deck, from which those of the board are taken.
    `out` is (sizes [52], live [1328], keeping [24]): the number of cards of each class that
    may come next, at its lowest card; 1 for hands that the board does not block; renamings.
    """
    sizes, live, keeping = out
    flop, num_kept = np.uint64(0), 0
    for i in range(len(board)):
        is_free[board[i]] = False
        if i < 3:
            flop |= np.uint64(1) << np.uint64(board[i])
    for g in range(renamed.shape[0]):
        image, is_same = np.uint64(0), True
        for i in range(len(board)):
            card = renamed[g, board[i]]
            if i < 3:
                image |= np.uint64(1) << np.uint64(card)
            elif card != board[i]:
                is_same = False
        if is_same and image == flop:
            keeping[num_kept] = g
            num_kept += 1
    for card in range(52):
        if is_free[card]:
            lowest = card
            for k in range(num_kept):
                lowest = min(lowest, renamed[keeping[k], card])
            sizes[lowest] += 1
    for h in range(hand_cards.shape[0]):
        if is_free[hand_cards[h, 0]] and is_free[hand_cards[h, 1]]:
            live[h] = 1.0
    return num_kept
