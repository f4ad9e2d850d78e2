"""Winnings from a target in other buckets: against recursion over all deals of Leduc hold'em."""

import itertools

import numpy as np
import pytest

from equilibrist.abstraction.joint_counts import joint, sampled_joint
from equilibrist.abstraction.recipes import build
from equilibrist.abstraction.streets import Boards
from equilibrist.evaluation.other_buckets import counts_alike, shares_deals, winnings_from
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.catalog import get_game
from equilibrist.kernels.treeplex import block, decisions
from equilibrist.models.bucketed import bucket_game, bucket_tree
from equilibrist.strategies.composition import GluedBuckets
from equilibrist.strategies.played import BucketColumns, TableStrategy
from equilibrist.strategies.raise_cap_rule import tables_in

LEDUC, RHODE = get_game("leduc"), get_game("rhode-island")


def menu(caps):
    return BetMenu.parse(None, None, caps)


def random_table(buckets, betting, seed, real=None):
    """Return a strategy of random behaviour; a third of its actions are never taken."""
    rng, behaviour = np.random.default_rng(seed), []
    trees = tuple(bucket_tree(betting, player, buckets) for player in (0, 1))
    for player, tree in enumerate(trees):
        rows = np.maximum(rng.random(int(tree.block_start[-1])) * 3 - 1, 1e-300)
        behaviour.append(normalized(betting, player, tree, rows))
    return TableStrategy(real or betting, betting, trees, tuple(behaviour), BucketColumns(buckets))


def normalized(betting, player, tree, rows):
    out = np.ones_like(rows)
    for r in range(betting.rules.num_rounds):
        from_, to = block(tree, r, r, rows), block(tree, r, r, out)
        for _, _, actions in decisions(tree, r):
            to[actions] = from_[actions] / from_[actions].sum(axis=0)
    return out


def win_by_recursion(betting, seat, own, target):
    """Return what `own` wins from `target` per hand, with the responder at a seat."""
    strategies = (own, target) if seat == 0 else (target, own)
    deck, total, number = LEDUC.deck.cards, 0.0, 0
    for first, second, card in itertools.permutations(deck, 3):
        total += _walk(betting, 0, (first, second), card, strategies)
        number += 1
    return (total if seat == 0 else -total) / number


def _walk(betting, node, holes, card, strategies):
    """Return the chips that player 0 wins from a node on."""
    kind, spent = betting.kind[node], betting.spent[node]
    if kind == NodeKind.FOLD:
        loser = int(betting.player[betting.parent[node]])
        return spent[0] * -1.0 if loser == 0 else float(spent[1])
    children = betting.children(node)
    if not children:  # a showdown: a pair, or else the higher card
        ranks = [hole // 4 + 100 * (hole // 4 == card // 4) for hole in holes]
        return float(np.sign(ranks[0] - ranks[1]) * spent[0])
    if kind != NodeKind.DECISION:
        return _walk(betting, children.start, holes, card, strategies)
    player = int(betting.player[node])
    board = (card,) if betting.round[node] else ()
    shares = strategies[player].probabilities(node, board)[:, holes[player]]
    called = betting.child(node, "c")
    found = 0.0
    for child, share in zip(children, shares, strict=True):
        more = 1 - shares.sum() if child == called else 0.0  # raises that are not in this tree
        if share + more > 1e-15:
            found += (share + more) * _walk(betting, child, holes, card, strategies)
    return found


def check(buckets, columns, own_caps, target_caps):
    game = bucket_game(buckets, counts := joint(buckets), menu(own_caps))
    betting = game.betting
    target = random_table(columns, BettingTree.build(LEDUC, menu(target_caps)), 1, real=betting)
    own = random_table(buckets, betting, 2)
    found = winnings_from(target, game, buckets, counts)
    for seat, won in enumerate(found):
        plan = game.realize(seat, own.behaviour[seat])
        expected = win_by_recursion(betting, seat, own, target)
        assert abs(expected) > 0.01
        assert float(plan @ won) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("caps", [("2 2", "2 2"), ("1 2", "2 1"), ("2 1", "1 2")])
def test_winnings_from_other_buckets_and_raises_are_those_of_all_deals(caps):
    check(build("percentile", LEDUC, [3, 6]), build("percentile", LEDUC, [2, 4]), *caps)


@pytest.mark.parametrize("caps", [("2 2", "2 2"), ("1 2", "2 1")])
def test_winnings_from_a_target_with_an_opening_of_its_own(caps):
    target = build("strength-potential", LEDUC, [1, 3])
    opening = np.full(52, -1, np.int16)  # of the jack, the queen and the king in Leduc's deck
    cards = sorted(LEDUC.deck.cards)
    opening[cards] = np.repeat([0, 1, 2], 2)
    check(build("percentile", LEDUC, [3, 6]), GluedBuckets(opening, target), *caps)


def test_nested_buckets_have_a_column_of_the_opening_and_a_later_class():
    rng, opening = np.random.default_rng(2), np.full(52, -1, np.int16)
    opening[sorted(RHODE.deck.cards)] = np.repeat(np.arange(13) % 3, 4)
    glued = GluedBuckets(opening, build("strength-potential", RHODE, [1, 2, 3]))
    nested = glued.nested()
    assert nested.num_buckets == (3, 6, 18)
    deals = np.array([rng.permutation(52)[:3] for _ in range(500)], np.uint8)
    hands, cards = deals[:, 0].astype(np.int64), Boards(deals[:, 1:])
    apart = glued.follow(hands, cards)
    for r, found in enumerate(nested.follow(hands, cards)):
        later = apart[r] if r else 0
        np.testing.assert_array_equal(found, apart[0] * glued.period(r) + later)
        if r:
            np.testing.assert_array_equal(
                nested.parents[r][found], nested.follow(hands, cards)[r - 1]
            )


def test_columns_of_the_opening_that_play_alike_are_merged():
    whole = build("strength-potential", RHODE, [1, 2, 2])
    opening = np.full(52, -1, np.int16)
    opening[sorted(RHODE.deck.cards)] = np.repeat(np.arange(13), 4)
    tables = [np.arange(13)[None, :] // 5 * 1.0, np.zeros((2, 13))]
    merged, kept = GluedBuckets(opening, whole).merged(tables)
    assert sorted(tables[0][0, kept].tolist()) == [0.0, 1.0, 2.0]
    np.testing.assert_array_equal(
        tables[0][0, kept][merged.opening[opening >= 0]], tables[0][0, opening[opening >= 0]]
    )
    assert (merged.opening[opening < 0] == -1).all()


def test_an_opening_that_distinguishes_suits_is_refused():
    opening = np.full(52, -1, np.int16)
    opening[list(LEDUC.deck.cards)] = np.arange(6)
    with pytest.raises(ValueError, match="distinguishes suits"):
        GluedBuckets(opening, build("strength-potential", LEDUC, [1, 3])).nested()


def test_the_same_deals_are_counted_with_other_buckets():
    first, second = build("percentile", RHODE, [3, 6, 12]), build("percentile", RHODE, [2, 4, 8])
    sampled = sampled_joint(first, num_boards=80, seed=3)
    again = counts_alike(sampled, first, first)
    np.testing.assert_allclose(again.wins, sampled.wins)
    both = counts_alike(sampled, first, second)
    assert both.wins.shape == (12, 8)
    np.testing.assert_allclose(both.met.sum(axis=1), sampled.met.sum(axis=1))
    assert both.total == pytest.approx(sampled.total)
    whole = counts_alike(joint(first), first, second)
    assert whole.total == joint(first).total
    assert shares_deals(first, second)
    assert not shares_deals(first, build("percentile", LEDUC, [3, 6]))


def test_a_raise_that_the_other_tree_does_not_have_is_a_call():
    big, small = (BettingTree.build(LEDUC, menu(caps)) for caps in ("2 2", "0 0"))
    table = random_table(build("percentile", LEDUC, [3, 6]), big, 4)
    found = tables_in(big, small, 0, [table.table(0, r) for r in (0, 1)])
    assert all((own == 1).all() for own in found)
