"""Flops for two ranges, compared with enumeration of all deals and with exact equities."""

import itertools
import math

import numpy as np
import pytest

from equilibrist.cards.card import Deck, parse_cards
from equilibrist.cards.equity import equity
from equilibrist.cards.flops import (
    allotted,
    flop_kinds,
    flop_name,
    flop_table,
    listed_flops,
    parse_flops,
    representative_flops,
    texture,
)
from equilibrist.cards.hand import hand_table
from equilibrist.cards.range import parse_range
from equilibrist.cards.ranking import rank_hands
from equilibrist.errors import EquilibristError

ROYAL = Deck(num_ranks=5)
OOP, IP = parse_range("AA,KQs:0.5,JTs,AhKd"), parse_range("QQ,AT:0.25,KcQd")


@pytest.fixture(scope="module")
def royal():
    return flop_table(OOP, IP, ROYAL)


def brute(first, second, deck):
    """Return (won, weight) of each raw flop over all deals, by comparing all pairs of hands."""
    hands, cards = hand_table(), deck.cards
    found = {}
    for flop in itertools.combinations(cards, 3):
        found[flop] = [0.0, 0.0]
    for i, j in itertools.product(np.flatnonzero(first.weights), np.flatnonzero(second.weights)):
        held = {*hands[i].tolist(), *hands[j].tolist()}
        if len(held) < 4 or not held <= set(cards):
            continue
        weight = float(first.weights[i] * second.weights[j])
        boards = np.array(list(itertools.combinations(sorted(set(cards) - held), 5)), np.uint8)
        own, other = (
            rank_hands(np.hstack([np.tile(hands[h], (len(boards), 1)), boards]), "standard")
            for h in (i, j)
        )
        shares = np.where(own > other, 1.0, np.where(own == other, 0.5, 0.0))
        for board, share in zip(boards.tolist(), shares.tolist(), strict=True):
            for flop in itertools.combinations(board, 3):
                found[flop][0] += weight * share
                found[flop][1] += weight
    return found


def test_probabilities_and_equities_are_those_of_all_enumerated_deals():
    """Few hands, because every deal of the small deck is played one by one."""
    first, second = parse_range("AhKd,QsJs:0.5"), parse_range("AcKc,QhJd:0.25")
    table, deals = flop_table(first, second, ROYAL), brute(first, second, ROYAL)
    total = sum(weight for _, weight in deals.values())
    won, weights, sizes = np.zeros((3, len(table.boards)))
    for flop, (share, weight) in deals.items():
        number = table.find(flop)
        sizes[number] += 1
        won[number] += share
        weights[number] += weight
    np.testing.assert_array_equal(sizes, table.sizes)
    np.testing.assert_allclose(table.probability, weights / total, atol=1e-12)
    expected = np.divide(won, weights, out=np.zeros(len(won)), where=weights > 0)
    np.testing.assert_allclose(table.equity, expected, atol=1e-9)
    assert table.mean_equity == pytest.approx(won.sum() / total, abs=1e-12)
    mean = won.sum() / total
    variance = sum(w * (s / w - mean) ** 2 for s, w in zip(won, weights, strict=True) if w) / total
    assert table.spread == pytest.approx(variance**0.5, abs=1e-9)


def test_flops_of_one_class_are_equally_likely_and_have_the_same_equity():
    """A class that merged too many flops would mix those of different equities."""
    first, second = parse_range("AhKh,AhQh"), parse_range("KcQd,KdQc")  # clubs and diamonds
    deals, table = brute(first, second, ROYAL), flop_table(first, second, ROYAL)
    classes = {}
    for flop, (share, weight) in deals.items():
        classes.setdefault(table.find(flop), set()).add((round(share, 6), round(weight, 6)))
    assert all(len(numbers) == 1 for numbers in classes.values())
    assert len(table.boards) < 0.6 * math.comb(20, 3)


def test_in_the_whole_deck_equities_are_those_of_the_card_engine():
    first, second = parse_range("QQ+,AKs,76s:0.5"), parse_range("88-66,AQ:0.25")
    table = flop_table(first, second)
    assert int(table.sizes.sum()) == 22100
    assert table.mean_equity == pytest.approx(equity(first, second).equity, abs=1e-12)
    random = np.random.default_rng(0)
    pairs = {}
    for number in random.choice(np.flatnonzero(table.probability), 6):
        found = equity(first, second, table.boards[number].tolist())
        assert table.equity[number] == pytest.approx(found.equity, abs=1e-12)
        pairs[number] = table.probability[number] / (table.sizes[number] * found.total)
    np.testing.assert_allclose(list(pairs.values()), next(iter(pairs.values())))


def test_ranges_without_suits_have_1755_flops():
    table = flop_table(parse_range("AA"), parse_range("KK"))
    assert len(table.boards) == 1755
    assert table.mean_equity == pytest.approx(equity("AA", "KK").equity, abs=1e-12)


@pytest.mark.parametrize("number", [1, 3, 6, 10, 40])
def test_a_subset_represents_all_flops(royal, number):
    subset = representative_flops(royal, number)
    assert len(subset.boards) == len({royal.find(board) for board in subset.boards}) == number
    assert subset.weights.sum() == pytest.approx(1)
    assert subset.all_equity == royal.mean_equity
    assert subset.mean_equity == pytest.approx(royal.mean_equity, abs=0.03)
    if number >= 6:  # each kind has its own probability
        kinds = flop_kinds(royal.boards)
        own = flop_kinds(np.array(subset.boards, np.uint8))
        for kind in np.unique(kinds[royal.probability > 0]):
            share = royal.probability[kinds == kind].sum()
            assert subset.weights[own == kind].sum() == pytest.approx(share)


def test_the_subset_of_all_flops_is_exact(royal):
    number = int(np.count_nonzero(royal.probability))
    subset = representative_flops(royal, number)
    assert subset.mean_equity == pytest.approx(royal.mean_equity, abs=1e-12)
    assert subset.spread == pytest.approx(subset.all_spread, abs=1e-12)


def test_listed_flops_weigh_their_number_times_the_hands_that_can_meet(royal):
    boards, none = parse_flops("AsKdTc, QsJh9h # a comment\n".replace("9h", "Th"))
    assert none is None
    subset = listed_flops(royal, boards)
    numbers = [royal.find(board) for board in subset.boards]
    shares = royal.probability[numbers]
    np.testing.assert_allclose(subset.weights, shares / shares.sum())
    weighted = listed_flops(royal, boards, [2.0, 6.0])
    per_flop = {n: royal.probability[n] / royal.sizes[n] for n in numbers}
    ratio = {flop_name(b): w for b, w in zip(weighted.boards, weighted.weights, strict=True)}
    expected = 3 * per_flop[royal.find(boards[1])] / per_flop[royal.find(boards[0])]
    assert ratio["QsJhTh"] / ratio["AsKdTc"] == pytest.approx(expected)


def test_flops_keep_the_suits_in_which_they_are_listed(royal):
    subset = listed_flops(royal, parse_flops("TcJcQd")[0])
    assert subset.names == ("QdJcTc",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "list of flops is empty"),
        (" , \n# nothing", "list of flops is empty"),
        ("AsKd", "has three cards"),
        ("AsKdQcJc", "has three cards"),
        ("AsKdAs", "As"),
        ("AsKdXx", "not a card"),
        ("AsKdQc:0", "above zero"),
        ("AsKdQc:-1", "above zero"),
        ("AsKdQc:nan", "above zero"),
        ("AsKdQc:inf", "above zero"),
        ("AsKdQc:x", "above zero"),
        ("AsKdQc:1,KsQdJc", "every flop a weight"),
    ],
)
def test_bad_lists_are_refused(text, message):
    with pytest.raises(EquilibristError, match=message):
        parse_flops(text)


def test_a_flop_cannot_be_listed_twice_or_be_blocked(royal):
    with pytest.raises(EquilibristError, match="AsKdTc and AsKdTc are the same flop up to suits"):
        listed_flops(royal, parse_flops("AsKdTc,TcAsKd")[0])
    table = flop_table(parse_range("AA"), parse_range("QJs"), ROYAL)
    with pytest.raises(EquilibristError, match="the same flop up to suits"):
        listed_flops(table, parse_flops("AsKdTc,AhKcTd")[0])
    with pytest.raises(EquilibristError, match="no hands of the ranges can meet on AsAhAd"):
        listed_flops(table, parse_flops("AsAhAd")[0])
    with pytest.raises(EquilibristError, match="1 to"):
        representative_flops(table, 0)
    with pytest.raises(EquilibristError, match="shares a card"):
        flop_table(parse_range("AhKh"), parse_range("AhQh"), ROYAL)


@pytest.mark.parametrize(
    ("board", "kind"),
    [
        ("AsKsQs", ("monotone", "unpaired", "A")),
        ("9s9h2s", ("two-tone", "paired", "9")),
        ("4s4h4d", ("rainbow", "trips", "4")),
        ("2c7d5h", ("rainbow", "unpaired", "7")),
    ],
)
def test_textures(board, kind):
    assert texture(parse_cards(board)) == kind


def test_no_kind_gets_more_flops_than_it_has():
    assert allotted(np.array([1, 1, 2]), np.array([1, 1, 98]), 3) == {1: 2, 2: 1}
