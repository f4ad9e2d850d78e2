"""Tests of positions, sizes and lines of a player that decides action by action."""

import functools

import pytest

from equilibrist.papers.ectomynx.betting_lines import BB, BU, STACK
from equilibrist.papers.ectomynx.decision_lines import (
    NUM_POSITIONS,
    SHOVES,
    TENTHS,
    actor_of,
    after_raise,
    after_shove,
    decision_lines,
    decision_numbers,
    mark_of,
    num_bets,
    raise_to,
)
from equilibrist.papers.ectomynx.kernels.decisions import QUEUE


@pytest.mark.parametrize("street", [0, 1])
def test_players_take_turns_raise_three_times_and_may_always_go_all_in(street: int) -> None:
    assert actor_of(street, 0) == (BU if street == 0 else BB)
    for position in range(NUM_POSITIONS):
        for after in (after_raise(street, position), after_shove(position)):
            if after >= 0:
                assert actor_of(street, after) == 1 - actor_of(street, position)
                assert num_bets(after) == num_bets(position) + 1
        is_all_in = position >= SHOVES
        assert (after_shove(position) < 0) == is_all_in
        assert (after_raise(street, position) < 0) == (is_all_in or num_bets(position) == 3)
    assert actor_of(street, 1) == 1 - actor_of(street, 0)
    facing = [actor_of(street, after_shove(position)) for position in range(SHOVES)]
    assert facing.count(BB) == facing.count(BU) == 4


def test_a_mark_contains_the_bets_and_after_the_flop_the_first_bettor() -> None:
    ends = range(1, SHOVES)
    assert sorted({mark_of(1, position) for position in ends}) == list(range(7))
    assert sorted({mark_of(0, position) for position in ends}) == [0, 1, 2, 3]
    # A hand that continues after a bet read as an all-in: number of bets, and first bettor.
    assert [mark_of(1, SHOVES + p) for p in range(8)] == [1, 4, 2, 3, 3, 5, 6, 6]


@pytest.mark.parametrize(
    ("tenths", "size"), [(5, 20), (6, 24), (7, 28), (8, 32), (9, 36), (10, 40)]
)
def test_bets_are_half_a_pot_to_a_pot(tenths: int, size: int) -> None:
    # V: "2 == bet 0.5 * pot … 7 == bet 1.0 * pot".
    assert raise_to(1, 0, pot=40, bet=0, own=0, behind=180, tenths=tenths) == size


def test_raises_are_by_the_pot_and_not_by_the_bet() -> None:
    # V: "a better defense against very small bets": 2 into 40 is raised to 2 + 0.7 · 44, not to 6.
    assert raise_to(1, 2, pot=40, bet=2, own=0, behind=180, tenths=7) == 33
    assert raise_to(2, 6, pot=40, bet=60, own=20, behind=160, tenths=5) == 180  # over 60 %
    assert raise_to(1, 4, pot=4, bet=8, own=2, behind=196, tenths=5) == 198  # a fourth bet


def test_raises_before_the_flop_are_the_printed_ones() -> None:
    sizes = [raise_to(0, p, 0, bet, own, 200 - own, 5) for p, bet, own in
             ((0, 2, 1), (5, 6, 2), (6, 18, 6), (7, 46, 18))]  # fmt: skip
    assert sizes == [6, 18, 46, 200]


def test_all_betting_leads_to_existing_lines_and_positions() -> None:
    """Walk all betting with all sizes of all textures, as the compiled walks do; check lengths.

    A walk takes all actions of one seat and one of the other, here the one that leads to most.
    """
    lines, numbers, met = decision_lines(), decision_numbers(), set()

    @functools.cache
    def longest(seat: int, street: int, line: int, before: int) -> int:
        return max(
            below(seat, street, line, before, tenths, 0, (2, 1) if street == 0 else (0, 0))
            for tenths in set(TENTHS[street])
        )

    @functools.cache
    def below(seat, street, line, before, tenths, position, own) -> int:
        met.add((line, position))
        assert position in lines[line].positions
        actor, bet, stack = actor_of(street, position), max(own), STACK - before
        size = raise_to(street, position, 2 * before, bet, own[actor], stack - own[actor], tenths)
        ways = [1]  # a fold
        if position == 0:
            ways.append(below(seat, street, line, before, tenths, 1, (bet, bet)))
        elif street == 3 or bet == stack:
            ways.append(1)
        else:
            follows = numbers[(*lines[line].marks, mark_of(street, position))]
            swaps = 1 if street < 2 else 0
            ways.append(swaps + longest(seat, street + 1, follows, before + bet))
        raises = {after_shove(position): stack} if bet < stack else {}
        raises |= {after_raise(street, position): size} if size < stack else {}
        for after, amount in raises.items():
            bets = (amount, own[BU]) if actor == BB else (own[BB], amount)
            ways.append(below(seat, street, line, before, tenths, after, bets))
        return 1 + (sum(ways) if actor == seat else max(ways))

    assert max(longest(seat, 0, 0, 0) for seat in (BB, BU)) < QUEUE
    assert met == {(n, position) for n, line in enumerate(lines) for position in line.positions}


def test_lines_continue_existing_lines() -> None:
    marks = {line.marks for line in decision_lines()}
    assert all(line.marks[:-1] in marks for line in decision_lines() if line.marks)
    assert len(marks) == len(decision_lines())
    assert all(line.fewest < 200 for line in decision_lines())
