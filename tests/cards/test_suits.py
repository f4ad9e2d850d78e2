"""Renamings of suits, compared with all 24 of them tried card by card."""

import itertools

import numpy as np
import pytest

from equilibrist.cards.card import card_name, parse_cards
from equilibrist.cards.hand import hand_table
from equilibrist.cards.range import parse_range
from equilibrist.cards.suits import (
    all_renamings,
    renamed_hands,
    renaming_name,
    that_keep_board,
    that_keep_weights,
)


def brute_group(board, *ranges):
    """Return names of renamings that keep a flop and ranges, found by names of cards alone."""
    names = [card_name(card) for card in parse_cards(board)]
    hands = [frozenset(map(card_name, hand)) for hand in hand_table().tolist()]
    tables = [dict(zip(hands, parse_range(text).weights.tolist(), strict=True)) for text in ranges]
    live = [hand for hand in hands if not hand & set(names)]
    found = []
    for suits in itertools.permutations("cdhs"):
        to = dict(zip("cdhs", suits, strict=True))
        if {name[0] + to[name[1]] for name in names} != set(names):
            continue
        if all(
            table[hand] == table[frozenset(name[0] + to[name[1]] for name in hand)]
            for table in tables
            for hand in live
        ):
            found.append("".join(suits))
    return found


@pytest.mark.parametrize(
    ("board", "ranges", "number"),
    [
        ("Ts9s6s", ("AA,KQs", "22+"), 6),
        ("Ts9s6s", ("AA,KQs,AhKh", "22+"), 2),
        ("Ts9s6s", ("AhKd,AdKc,AcKh", "QQ"), 3),  # rotations of three suits, no transposition
        ("Ts9s6s", ("AhKh", "AdKd"), 1),
        ("Ts9s6s", ("AhKh,AdKd:0.5", "random"), 1),
        ("Ts9s6s", ("As2s,7s2h,7s2d,7s2c", "random"), 6),
        ("Ts9s6s", ("Ts2h,AA", "random"), 6),  # the board blocks what differs
        ("TsThTd", ("AcKc,AcKs", "random"), 2),
        ("Td9d6h", ("AhKh", "random"), 2),
        ("Td9h6s", ("random", "random"), 1),
    ],
)
def test_the_group_is_that_of_all_24_renamings_tried_card_by_card(board, ranges, number):
    cards = parse_cards(board)
    live = ~np.isin(hand_table(), cards).any(axis=1)
    of_board = that_keep_board(all_renamings(), (cards,))
    weights = [parse_range(text).weights for text in ranges]
    found = that_keep_weights(of_board, weights, live)
    assert [renaming_name(own) for own in found] == brute_group(board, *ranges)
    assert len(found) == number


def test_rounding_errors_do_not_break_a_group_and_differences_do():
    live, weights = np.ones(1326, bool), np.full(1326, 0.3)
    weights[7] += 1e-16
    assert len(that_keep_weights(all_renamings(), [weights], live)) == 24
    weights[7] += 1e-6
    assert len(that_keep_weights(all_renamings(), [weights], live)) < 24


@pytest.mark.parametrize("small", [0.0, 1e-300])
def test_a_hand_that_is_never_held_differs_from_a_rare_one(small):
    weights = np.full(52, small)
    weights[51] = 1e-290
    found = that_keep_weights(all_renamings(), [weights], np.ones(52, bool))
    assert len(found) == 6
    assert all(own[3] == 3 for own in found)


def test_renamed_hands_have_the_renamed_cards():
    for renaming in all_renamings():
        hands = hand_table()[renamed_hands(renaming)]
        image = 4 * (hand_table() // 4) + np.array(renaming)[hand_table() % 4]
        np.testing.assert_array_equal(hands, np.sort(image, axis=1))


def test_small_decks_rename_their_own_suits_only():
    assert len(all_renamings(3)) == 6
    assert all(renaming[0] == 0 for renaming in all_renamings(3))
