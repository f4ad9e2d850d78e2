"""Published and independently recomputed sizes of games."""

import math

import pytest

from equilibrist.cards.isomorphism import DealIndexer
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.catalog import get_game
from equilibrist.games.sizes import game_sizes

# Canonical sizes. Sources: Waugh 2013 and Gilpin et al. 2007 for hold'em; all recomputed here.
CANONICAL = {
    (2,): 169,
    (2, 3): 1_286_792,
    (2, 3, 1): 55_190_538,
    (2, 3, 1, 1): 2_428_287_420,
    (2, 4): 13_960_050,
    (2, 5): 123_156_254,
    (3,): 1_755,
    (3, 1): 63_193,
    (3, 1, 1): 2_554_656,
    (4,): 16_432,
    (5,): 134_459,
    (2, 2): 93_769,
    (2, 2, 3, 1, 1): 2_334_488_579_280,  # GS3's 9-card roll-out
    (1,): 13,
    (1, 1): 325,
    (1, 1, 1): 9_997,  # Rhode Island hold'em
}
RAW = {
    (2,): 1_326,
    (2, 3): 25_989_600,
    (2, 3, 1): 1_221_511_200,
    (2, 3, 1, 1): 56_189_515_200,
    (2, 4): 305_377_800,
    (2, 5): 2_809_475_760,
    (3,): 22_100,
    (3, 1): 1_082_900,
    (3, 1, 1): 51_979_200,
    (4,): 270_725,
    (5,): 2_598_960,
    (2, 2): 1_624_350,
    (2, 2, 3, 1, 1): 55_627_620_048_000,
    (1,): 52,
    (1, 1): 2_652,
    (1, 1, 1): 132_600,
}


@pytest.mark.parametrize("pattern", CANONICAL, ids=str)
def test_canonical_and_raw_sizes(pattern):
    indexer = DealIndexer(pattern)
    assert indexer.size == CANONICAL[pattern]
    assert indexer.raw_sizes[-1] == RAW[pattern]


def test_gs3_saves_a_factor_of_23_1():
    indexer = DealIndexer((2, 3, 1, 1))
    assert sum(indexer.raw_sizes) / sum(indexer.sizes) == pytest.approx(23.1157, abs=5e-5)


def test_limit_holdem_has_the_published_size():
    # ACPC rules; Bowling et al. 2015 quote 3.16e17 decision states, 3.19e14 information sets,
    # 1.38e13 up to suits, and 262 TiB for two 4-byte tables over their actions.
    sizes = game_sizes(BettingTree.build(get_game("holdem-limit")))
    assert sizes.decisions_per_round == [8, 70, 630, 5_670]
    assert sizes.decision_states == 316_207_058_696_146_800
    assert sizes.infosets == 319_365_922_522_608
    assert sizes.canonical_infosets == 13_803_249_787_132
    assert sizes.canonical_infoset_actions == 35_888_449_446_577
    assert 2 * 4 * sizes.canonical_infoset_actions / 2**40 == pytest.approx(261.1, abs=0.05)


def test_limit_holdem_subgames_of_cfr_plus_and_of_the_best_response():
    tree = BettingTree.build(get_game("holdem-limit"))
    flops = DealIndexer((3,)).size
    preflop_ends, flop_ends = tree.counts(NodeKind.ROUND_END)[:2]
    assert flop_ends * flops == 110_565  # CFR+ supplement: 7 * 9 * 1,755
    assert preflop_ends * flops == 12_285


def test_range_of_skill_abstraction_has_3425_leaves():
    # Caps 2 3 3 3; leaves without the preflop folds: 245 * 13 + 35 * 6 + 5 * 6.
    tree = BettingTree.build(get_game("holdem-limit"), BetMenu.parse(max_raises="2 3 3 3"))
    folds, showdowns = tree.counts(NodeKind.FOLD), tree.counts(NodeKind.SHOWDOWN)
    assert sum(folds[1:]) + sum(showdowns) == 3_425
    assert tree.counts(NodeKind.ROUND_END) == [5, 35, 245, 0]


def test_leduc_has_936_information_sets_by_card():
    assert game_sizes(BettingTree.build(get_game("leduc"))).infosets == 936


def test_kuhn_has_twelve_information_sets():
    assert game_sizes(BettingTree.build(get_game("kuhn"))).infosets == 12


def test_gs3_worked_example():
    """GS3, "Indexing": 7s7h 3dJdAh is one of C(13, 2) * 12 canonical flops of its case.

    Its sets are {1, 9} and {11}; the pair is number 5 of 13, so the index within the case of both
    rounds is (colex{1, 9} * 12 + 11) * 13 + 5.
    """
    from equilibrist.cards.card import parse_cards

    indexer = DealIndexer((2, 3))
    deal = parse_cards("7s7h 3dJdAh")
    (pairs, pair), (flops, flop) = indexer.path(deal)
    assert (pairs, flops) == (13, math.comb(13, 2) * 12) == (13, 936)
    assert flop * pairs + pair == 5_920
    # Each canonical flop stands for four, given the hole cards: 24 renamings, 6 of them for 7s7h.
    assert indexer.multiplicity(indexer.index(deal)) == 4 * 6
    assert indexer.multiplicity(indexer.index(deal[:2]), round=0) == 6


def test_the_flop_of_holdem_has_36_cases():
    # Decision 0001: GS3 speaks of 60, but suits that nothing distinguishes are one class.
    indexer = DealIndexer((2, 3, 1, 1))
    assert (indexer.num_cases(0), indexer.num_cases(1)) == (3, 36)
