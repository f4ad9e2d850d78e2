"""PsOpti's buckets: tapered classes of strength and a bucket of draws."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

import numpy as np
import pytest

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.features import Strengths
from equilibrist.abstraction.flop_subsets import chosen_boards
from equilibrist.abstraction.joint_counts import joint
from equilibrist.abstraction.potential import Potential, potentials
from equilibrist.abstraction.recipes.strength_potential import (
    ClassCuts,
    strength_potential,
    strength_potential_clusters,
)
from equilibrist.abstraction.scattergram import k_means
from equilibrist.abstraction.streets import Streets
from equilibrist.cards.card import parse_cards
from equilibrist.cards.hand import hand_index
from equilibrist.errors import InvalidValueError
from equilibrist.games.catalog import get_game

NUMBERS = (2, 4, 3, 5)
FLOPS = [parse_cards("AsKsTd"), parse_cards("9s9dTc")]


@pytest.fixture(scope="module")
def strengths() -> Strengths:
    """A deck of six ranks: draws and straights exist, and everything is small."""
    rules = dataclasses.replace(get_game("royal-holdem"), name="six ranks", num_ranks=6)
    return Strengths.of(Streets.of(rules))


@pytest.fixture(scope="module")
def known(strengths: Strengths) -> tuple[Potential | None, ...]:
    return potentials(strengths.streets)


@pytest.fixture(scope="module")
def psopti(strengths: Strengths, known: tuple[Potential | None, ...]) -> Abstraction:
    return strength_potential(strengths, NUMBERS, known=known)


def class_shares(abstraction: Abstraction, r: int, boards: np.ndarray | None = None) -> np.ndarray:
    """Return the frequency of each class of a street before the last."""
    number = abstraction.configuration["classes"][r]
    chosen = np.arange(len(abstraction.tables[r])) if boards is None else boards
    table = abstraction.tables[r][chosen]
    weights = np.broadcast_to(
        abstraction.streets[r].multiplicity[chosen][:, None], table.shape
    ).astype(float)
    counts = np.bincount(table[table >= 0] % number, weights[table >= 0], number)
    return counts / counts.sum()


def test_every_bucket_has_as_many_children_as_the_round_has_classes(psopti: Abstraction) -> None:
    assert psopti.num_buckets == (2, 8, 24, 120)
    for r, number in enumerate(NUMBERS[1:], start=1):
        np.testing.assert_array_equal(psopti.parents[r], np.arange(psopti.num_buckets[r]) // number)


def test_a_bucket_is_the_class_within_the_bucket_of_the_street_before(psopti: Abstraction) -> None:
    random = np.random.default_rng(0)
    deck = np.array(psopti.rules.deck.cards)
    for _ in range(20):
        board = random.choice(deck, 5, replace=False).tolist()
        before = psopti.buckets([])
        for r, cards in enumerate((3, 4, 5), start=1):
            now = psopti.buckets(board[:cards])
            live = now >= 0
            np.testing.assert_array_equal(now[live] // NUMBERS[r], before[live])
            before = now


def test_draws_are_behind_now_and_improve_often(
    psopti: Abstraction, known: tuple[Potential | None, ...]
) -> None:
    for r in (1, 2):
        potential = known[r]
        assert potential is not None
        live = psopti.tables[r] >= 0
        draws = psopti.tables[r] % NUMBERS[r] == NUMBERS[r] - 1
        wanted = (potential.leading() < 0.5) & (potential.positive() >= 0.2)
        assert 0.01 < draws[live].mean() < 0.5
        np.testing.assert_array_equal(draws[live], wanted[live])


def test_other_classes_are_intervals_of_strength(psopti: Abstraction, strengths: Strengths) -> None:
    for r in (0, 1, 2):
        number = NUMBERS[r]
        found, values = psopti.tables[r] % number, strengths.tables[r]
        last = number if r == 0 else number - 1  # before the flop there is no potential
        spans = [values[(found == c) & (values >= 0)] for c in range(last)]
        for weak, strong in itertools.pairwise(spans):
            assert weak.max() < strong.min()


def test_stronger_classes_are_smaller_by_the_taper(
    strengths: Strengths, known: tuple[Potential | None, ...]
) -> None:
    for taper in (1.0, 1.5, 3.0):
        found = strength_potential(strengths, (1, 4, 5, 2), ClassCuts(taper=taper), known=known)
        for r in (1, 2):
            shares = class_shares(found, r)[:-1]
            np.testing.assert_allclose(shares[:-1] / shares[1:], taper, rtol=0.15)


def test_chosen_flops_alone_decide_where_to_cut(
    strengths: Strengths, known: tuple[Potential | None, ...]
) -> None:
    flop = parse_cards("9s9d9c")
    chosen = chosen_boards(strengths.streets, [flop])
    everywhere = strength_potential(strengths, (1, 6, 6, 3), known=known)
    found = strength_potential(strengths, (1, 6, 6, 3), flops=[flop], known=known)
    wanted = 1.5 ** -np.arange(5.0) / (1.5 ** -np.arange(5.0)).sum()
    for r in (1, 2):
        misses = []
        for each in (found, everywhere):
            shares = class_shares(each, r, chosen[r])[:-1]  # without the draws
            misses.append(np.abs(shares / shares.sum() - wanted).sum())
        assert 2 * misses[0] < misses[1]
    assert found.configuration["flops"] == ["9s9d9c"]


def test_all_deals_after_the_chosen_flops_are_counted(
    strengths: Strengths, known: tuple[Potential | None, ...]
) -> None:
    chosen = chosen_boards(strengths.streets, FLOPS)
    found = strength_potential(strengths, (1, 3, 3, 3), flops=FLOPS, known=known)
    counts = joint(found, boards=chosen[-1])
    # AsKsTd has 12 namings of suits, and so has 9s9dTc; then hands of 21 cards, turn and river.
    assert counts.total == (12 + 12) * (210 * 171) * (17 * 16)
    np.testing.assert_array_equal(counts.met, counts.met.T)
    np.testing.assert_array_equal(counts.wins, counts.losses.T)
    flop = counts.met.sum(axis=1).reshape(3, -1).sum(axis=1) / counts.total
    np.testing.assert_allclose(flop, class_shares(found, 1, chosen[1]))


def test_chosen_boards_continue_the_flops(strengths: Strengths) -> None:
    streets = strengths.streets
    before, flops, turns = chosen_boards(streets, FLOPS)
    assert before.tolist() == [0]
    assert set(flops.tolist()) == {streets.locate(flop)[1] for flop in FLOPS}
    reached = {
        streets.locate([*flop, card])[1]
        for flop in FLOPS
        for card in streets.rules.deck.cards
        if card not in flop
    }
    assert set(turns.tolist()) == reached


@pytest.mark.parametrize("starts", [[], [(51, 47, 43), (51, 47, 43, 39)], [(51, 50, 47, 43, 39)]])
def test_boards_of_one_street_before_the_last_must_be_chosen(
    strengths: Strengths, starts: list[tuple[int, ...]]
) -> None:
    with pytest.raises(InvalidValueError, match="one street before the last"):
        chosen_boards(strengths.streets, starts)


def test_the_river_and_games_without_potential_are_cut_by_strength_alone() -> None:
    streets = Streets.of(get_game("kuhn"))
    kuhn = strength_potential(Strengths.of(streets), [3])
    assert kuhn.num_buckets == (3,)
    assert [kuhn.bucket(int(card)) for card in streets.in_deck] == [0, 1, 2]


def test_draws_of_leduc_are_queens() -> None:
    # A queen leads a tenth of the time at best and sometimes pairs against a king or ace; with
    # a low bar it is a draw, and kings and aces are the two classes of strength.
    streets = Streets.of(get_game("leduc"))
    found = strength_potential(Strengths.of(streets), [3, 2], ClassCuts(low=0.2, high=0.1))
    names = [found.bucket(card) for card in parse_cards("QsKsAs")]
    assert names == [2, 0, 1]


def test_an_abstraction_can_be_written_and_read(psopti: Abstraction, tmp_path: Path) -> None:
    psopti.save(tmp_path / "psopti")
    again = Abstraction.open(tmp_path / "psopti")
    board = parse_cards("AsKdTh9cQc")
    np.testing.assert_array_equal(again.buckets(board), psopti.buckets(board))
    assert again.configuration["classes"] == list(NUMBERS)


def test_clusters_join_hands_alike_in_strength_and_potential(
    strengths: Strengths, known: tuple[Potential | None, ...]
) -> None:
    found = strength_potential_clusters(strengths, (1, 4, 4, 2), known=known)
    assert found.num_buckets == (1, 4, 16, 32)
    potential = known[1]
    assert potential is not None
    live = found.tables[1] >= 0
    labels = found.tables[1][live]
    strength, future = strengths.equity(1)[live], potential.positive()[live].astype(float)
    for each in (strength, future):
        within = sum(each[labels == c].var() * (labels == c).mean() for c in range(4))
        assert within < 0.7 * each.var()
    means = [strength[labels == c].mean() for c in range(4)]
    assert means == sorted(means)


def test_any_rule_may_cluster(strengths: Strengths, known: tuple[Potential | None, ...]) -> None:
    def by_potential(points: np.ndarray, weights: np.ndarray, number: int) -> np.ndarray:
        return (points[:, 1] > 0).astype(int)

    found = strength_potential_clusters(strengths, (1, 2, 1, 1), cluster=by_potential, known=known)
    potential = known[1]
    assert potential is not None
    live = found.tables[1] >= 0
    groups = [potential.positive()[live & (found.tables[1] == c)] for c in range(2)]
    assert groups[0].min() > groups[1].max() or groups[1].min() > groups[0].max()
    assert found.configuration["clusters"] == "by_potential"


def test_clusters_have_the_requested_number_and_are_not_empty() -> None:
    random = np.random.default_rng(3)
    points = np.unique(random.integers(0, 6, (30, 2)), axis=0).astype(float)
    weights = random.integers(1, 9, len(points)).astype(float)
    for number in range(1, len(points) + 1):
        assert set(k_means(points, weights, number)) == set(range(number))
    with pytest.raises(InvalidValueError, match="cannot be divided into"):
        k_means(points, weights, len(points) + 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"numbers": (2, 3)}, "4 rounds: specify for each"),
        ({"numbers": (0, 3, 3, 3)}, "4 rounds: specify for each"),
        ({"cuts": ClassCuts(taper=0.5)}, "at least 1, not 0.5"),
        ({"cuts": ClassCuts(low=1.5)}, "low must be a probability"),
        ({"cuts": ClassCuts(high=-0.1)}, "high must be a probability"),
        ({"numbers": (1, 1, 1, 5000)}, "cannot be cut into 5000"),
        ({"numbers": (40, 1, 1, 1)}, "40 buckets in round 1 are more than the 36 classes"),
    ],
)
def test_impossible_buckets_are_refused_in_a_sentence(
    strengths: Strengths,
    known: tuple[Potential | None, ...],
    options: dict[str, object],
    message: str,
) -> None:
    arguments = {"numbers": NUMBERS, "known": known, **options}
    with pytest.raises(InvalidValueError, match=message):
        strength_potential(strengths, **arguments)  # type: ignore[arg-type]


@pytest.mark.slow
def test_good_draws_of_holdem_are_in_the_special_bucket() -> None:
    strengths = Strengths.of(Streets.of(get_game("holdem-limit")))
    found = strength_potential(strengths, [1, 6, 7, 8])
    assert found.num_buckets == (1, 6, 42, 336)
    for hand, flop in (("8c7d", "9d6c2h"), ("5d4d", "KdTc2d"), ("Td9c", "Jh8c2h")):
        assert found.bucket(hand_index(*parse_cards(hand)), parse_cards(flop)) == 5
    for hand, flop in (("8c7d", "9d5c2h"), ("7c2d", "AhKs9h")):  # an inside straight draw, nothing
        assert found.bucket(hand_index(*parse_cards(hand)), parse_cards(flop)) == 0
    shares = class_shares(found, 1)
    np.testing.assert_allclose(shares, [0.365, 0.243, 0.162, 0.108, 0.072, 0.050], atol=1e-3)
