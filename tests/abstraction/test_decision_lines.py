"""Positions, sizes and lines of a player that decides action by action."""

import pytest

from equilibrist.abstraction.betting_lines import BB, BU
from equilibrist.abstraction.decision_lines import (
    NUM_POSITIONS,
    actor_of,
    after_raise,
    decision_lines,
    mark_of,
    num_bets,
    raise_to,
)


@pytest.mark.parametrize("street", [0, 1])
def test_players_take_turns_and_raise_four_times_at_most(street: int) -> None:
    assert actor_of(street, 0) == (BU if street == 0 else BB)
    for position in range(NUM_POSITIONS):
        after = after_raise(street, position)
        if after >= 0:
            assert actor_of(street, after) == 1 - actor_of(street, position)
            assert num_bets(after) == num_bets(position) + 1
        assert (after < 0) == (num_bets(position) == 4)
    assert actor_of(street, 1) == 1 - actor_of(street, 0)


def test_a_street_tells_its_bets_and_after_the_flop_who_bet_first() -> None:
    ends = [position for position in range(1, NUM_POSITIONS) if num_bets(position) < 4]
    assert sorted({mark_of(1, position) for position in ends}) == list(range(7))
    assert sorted({mark_of(0, position) for position in ends}) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("tenths", "size"), [(5, 20), (6, 24), (7, 28), (8, 32), (9, 36), (10, 40)]
)
def test_bets_are_half_a_pot_to_a_pot(tenths: int, size: int) -> None:
    # V: "2 == bet 0.5 * pot … 7 == bet 1.0 * pot".
    assert raise_to(1, 0, pot=40, bet=0, own=0, behind=180, tenths=tenths) == size


def test_raises_are_by_the_pot_and_not_by_the_bet() -> None:
    # V: "a better defense against very small bets": 2 into 40 is raised to 2 + 0.7 · 44, not to 6.
    assert raise_to(1, 2, pot=40, bet=2, own=0, behind=180, tenths=7) == 33
    assert raise_to(2, 7, pot=40, bet=60, own=20, behind=160, tenths=5) == 180  # over 60 %
    assert raise_to(1, 4, pot=4, bet=8, own=2, behind=196, tenths=5) == 198  # the fourth bet


def test_raises_before_the_flop_are_the_printed_ones() -> None:
    sizes = [raise_to(0, p, 0, bet, own, 200 - own, 5) for p, bet, own in
             ((0, 2, 1), (6, 6, 2), (7, 18, 6), (8, 46, 18))]  # fmt: skip
    assert sizes == [6, 18, 46, 200]


def test_lines_go_on_from_lines() -> None:
    marks = {line.marks for line in decision_lines()}
    assert all(line.marks[:-1] in marks for line in decision_lines() if line.marks)
    assert len(marks) == len(decision_lines())
    assert all(line.fewest < 200 for line in decision_lines())
