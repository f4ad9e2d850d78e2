"""Tests of the weights of EctomynX's strategy: places of the report's indices, printed start."""

import itertools

import numpy as np
import pytest

from equilibrist.cards.hand import class_name, parse_class
from equilibrist.errors import InvalidValueError
from equilibrist.papers.ectomynx.betting_lines import BB, BU, all_lines
from equilibrist.papers.ectomynx.level_start import (
    big_blind_weights,
    postflop_weights,
    preflop_weights,
)
from equilibrist.papers.ectomynx.level_weights import (
    groups,
    line_block,
    normalise,
    num_weights,
    random_start,
    report_place,
    report_start,
)
from equilibrist.papers.ectomynx.textures import CLASS_NAMES


def strength(name: str) -> int:
    return CLASS_NAMES.index(name)


@pytest.mark.parametrize("seat", [BB, BU])
def test_the_reports_indices_have_places_of_their_own(seat: int) -> None:
    # All bettings of one kind of hand on one texture per street: each place occurs once, and
    # impossible indices are refused.
    found = []
    no_bet = 1 if seat == BB else 7  # level 0 of the kind that bets: as history it is a check
    for preflop, *betting in itertools.product(range(6), *[range(13)] * 3):
        textures = (7, 2 * (betting[1] > 0), 3 * (betting[2] > 0))
        is_last = [not any(betting[i + 1 :]) for i in range(3)]
        if any(code == no_bet and not last for code, last in zip(betting, is_last, strict=True)):
            continue
        try:
            found.append(report_place(seat, (9, *textures, preflop, *betting)))
        except InvalidValueError:
            continue
    assert len(found) == len(set(found))
    assert len(found) == sum(line.num_slots for line in all_lines() if line.street > 0)
    assert max(found) < num_weights()


def test_every_place_has_indices() -> None:
    # Strengths and textures of one line fill its block.
    wanted = set()
    for kind, flop, turn in itertools.product(range(14), range(1, 13), range(1, 5)):
        for code in (*range(1, 7), *range(7, 13)):
            try:
                wanted.add(report_place(BB, (kind, flop, turn, 0, 2, 1 + 1, code, 0)))
            except InvalidValueError:
                continue
    line = next(n for n, ln in enumerate(all_lines()) if ln.history == ((False, 2), (True, 1)))
    weights = np.zeros(num_weights())
    weights[sorted(wanted)] = 1
    assert line_block(weights, line).all()
    assert weights.sum() == line_block(weights, line).size


@pytest.mark.parametrize(
    "indices",
    [
        (0, 1, 0, 0, 0, 1, 1, 1),  # III: "nonsense for the BU because the game would have ended"
        (0, 1, 0, 0, 5, 1, 0, 0),  # all-in before the flop: no chips are left to bet
        (0, 1, 1, 0, 2, 1, 0, 0),  # a turn was dealt without betting
        (14, 1, 0, 0, 2, 1, 0, 0),
        (0, 13, 0, 0, 2, 1, 0, 0),
        (0, 1, 0, 0, 2, 13, 0, 0),
        (0, 1, 1, 6, 2, 1, 1, 1),
        (0, 0, 0, 0, 2, 0, 0, 0),
    ],
)
def test_impossible_indices_are_refused(indices: tuple[int, ...]) -> None:
    with pytest.raises(InvalidValueError, match="no indices of a state"):
        report_place(BU, indices)


def test_preflop_rows_are_the_printed_ones() -> None:
    rows = {class_name(n): row.tolist() for n, row in enumerate(preflop_weights())}
    assert rows["AA"] == [0, 0, 0, 0, 0, 1]
    assert rows["JJ"] == [0, 0, 0, 0.25, 0.5, 0.25]
    assert rows["A9s"] == [0, 0, 0, 0, 0.6, 0.4]  # sixth of the first row printed
    assert rows["K9o"] == [0, 0, 0, 0.2, 0.5, 0.3]
    assert rows["22"] == [0.5, 0.5, 0, 0, 0, 0]
    assert rows["92s"] == [1, 0, 0, 0, 0, 0]
    # Errors in print: 82s had 0.8 too much, 32s summed to zero.
    assert rows["82s"] == [0.7, 0.3, 0, 0, 0, 0]
    assert rows["32s"] == rows["42s"] == rows["52s"] == [1, 0, 0, 0, 0, 0]
    assert all(sum(row) == pytest.approx(1) for row in rows.values())
    assert parse_class("AKs") == 167  # the report's index of hands is ours


def test_three_or_more_is_split_evenly_and_forbidden_levels_go_to_the_highest() -> None:
    flop = postflop_weights(1, 6)
    assert flop[strength("two pair")] == pytest.approx([0.05, 0.1, 0.1, 0.25, 0.25, 0.25])
    assert flop[strength("strong draw")] == pytest.approx([0.1, 0.5, 0.2] + [0.2 / 3] * 3)
    assert postflop_weights(1, 4)[strength("two pair")] == pytest.approx([0.05, 0.1, 0.1, 0.75])
    assert postflop_weights(1, 2)[strength("two pair")] == pytest.approx([0.05, 0.95])
    river = postflop_weights(3, 3)
    assert river[strength("overpair")] == pytest.approx([0.1, 0.6, 0.3])
    assert river[strength("two pair")] == pytest.approx([0.05, 0.35, 0.6])
    assert river[strength("three of a kind")] == pytest.approx([0.05, 0.15, 0.8])
    assert postflop_weights(2, 5)[strength("middle pair")] == pytest.approx([0.5, 0.5, 0, 0, 0])


def test_check_raises_start_less_likely_than_bets() -> None:
    # V: "a small sign error … making check-raising 2.5x more likely than bet-calling".
    for street, num_levels in itertools.product((1, 2, 3), range(2, 7)):
        rows = big_blind_weights(street, num_levels)
        leading, checking = rows[:, :num_levels], rows[:, num_levels:]
        assert checking[:, 2:] * 2.5 == pytest.approx(leading[:, 2:])
        assert checking[:, :2] == pytest.approx(leading[:, :2])


def test_nothing_never_raises_on_the_river() -> None:
    # V: "3-bet shoving the river with 10 high (the probability … initialized to 0)".
    for seat in (BB, BU):
        weights = report_start(seat)
        for number, line in enumerate(all_lines()):
            if line.street == 3:
                block = line_block(weights, number)[: 12 * 4 * 5]  # the first strength: nothing
                levels = np.arange(line.num_slots) % line.num_levels
                assert not block[:, levels > 0].any()


@pytest.mark.parametrize("seat", [BB, BU])
@pytest.mark.parametrize("start", [report_start, lambda seat: random_start(seat, 1)])
def test_groups_sum_to_one(seat: int, start) -> None:
    weights = start(seat)
    again = weights.copy()
    normalise(again, seat)
    np.testing.assert_allclose(again, weights, atol=1e-15)
    for number, line in enumerate(all_lines()):
        slots = [slot for group in groups(line, seat) for slot in range(line.num_slots)[group]]
        assert slots == list(range(line.num_slots))
        for group in groups(line, seat):
            sums = line_block(weights, number)[:, group].sum(axis=1)
            np.testing.assert_allclose(sums, 1, atol=1e-12)


def test_groups_of_zeros_become_uniform() -> None:
    weights = np.zeros(num_weights())
    normalise(weights, BU)
    assert line_block(weights, 0) == pytest.approx(np.full((169, 6), 1 / 6))
