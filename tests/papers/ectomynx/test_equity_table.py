"""Tests of `reproduce ectomynx`: the report's figures in their places, and ours near them."""

from __future__ import annotations

import math

import pytest

from equilibrist.cards.hand import parse_class
from equilibrist.papers.ectomynx import equity_table
from equilibrist.papers.ectomynx.discard_equity import discard_equity

# Tolerances of the report's rounded figures against the exact ones, in percentage points. Its first
# row neglects that the turn may bring a draw back, its third that a discarded gutshot may return in
# another place; its figures are marked "~", and 67 + 13 + 9 of its own row are not 100.
POINTS = {"flush draw": 6.5, "flush draw and pair": 9.5, "two-way straight draw and pair": 3.5}


def test_printed_equities_are_in_their_places() -> None:
    # 0.b: "row 2 column 3 (0.55715) corresponds to KQs, and row 13 column 12 (0.42844) … 32o".
    printed = equity_table.PUBLISHED_EQUITIES
    places = {"KQs": 0.55715, "32o": 0.42844, "AA": 0.75670, "22": 0.34619, "A2s": 0.53857}
    assert {name: printed[parse_class(name)] for name in places} == places
    lost = [name for name in ("82o", "72o", "62o", "52o") if math.isnan(printed[parse_class(name)])]
    assert len(lost) == 4
    assert sum(map(math.isnan, printed)) == 4


@pytest.mark.parametrize("name", ["AKo", "KQs", "J8s", "T5o", "76s", "54o", "32o", "77", "44"])
def test_equities_are_near_the_printed_ones(name: str) -> None:
    found = discard_equity(name, samples=60_000, seed=1)
    printed = equity_table.PUBLISHED_EQUITIES[parse_class(name)]
    assert abs(found.equity - printed) < 0.01 + 3 * found.standard_error


@pytest.mark.parametrize(
    ("first", "second", "share"), [row for row in equity_table.SITUATIONS if row[0][0] != row[0][1]]
)
def test_situations_without_pairs_are_as_printed(first: str, second: str, share: float) -> None:
    found = discard_equity(first, second, samples=60_000, seed=1)
    assert abs(found.equity - share) < 0.01 + 3 * found.standard_error


@pytest.mark.parametrize("example", equity_table.EXAMPLES, ids=lambda example: example.name)
def test_outcomes_by_the_turn_are_near_the_printed_ones(example: equity_table.Example) -> None:
    for swaps, paper in ((True, example.swap), (False, example.no_swap)):
        ours = equity_table.outcomes(example, swaps=swaps)
        assert sum(ours) == pytest.approx(1)
        if example.name not in POINTS:
            continue
        for printed, probability in zip(paper, ours, strict=True):
            if printed is not None:
                assert abs(100 * probability - printed) < (POINTS[example.name] if swaps else 3.5)


def test_outcomes_of_a_flush_draw_counted_by_hand() -> None:
    # 47 turn cards: 9 hearts, 3 jacks and 3 nines without the heart ones, 32 others.
    ours = equity_table.outcomes(equity_table.EXAMPLES[0], swaps=False)
    assert ours == pytest.approx((0, 32 / 47, 0, 6 / 47, 0, 9 / 47))


def test_not_swapping_a_flush_draw_dominates() -> None:
    # VI.a: "not swapping nearly completely dominates": at least as much at or above every outcome.
    for example in equity_table.EXAMPLES[0], equity_table.EXAMPLES[3]:
        rows = [equity_table.outcomes(example, swaps=swaps) for swaps in (True, False)]
        for least in (1, 3, 4, 5):  # not at a pair, which a swap makes more often
            swap, no_swap = (sum(row[least:]) for row in rows)
            assert no_swap > swap - 1e-9
