"""Strategies at a node, and their bulk form, compared with tables and sums."""

from dataclasses import replace

import numpy as np
import pytest

from equilibrist.cards.card import cards_name, parse_cards
from equilibrist.cards.hand import class_table, parse_class
from equilibrist.errors import CardError, EquilibristError, InvalidValueError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.catalog import get_game
from equilibrist.models.exact import exact_game
from equilibrist.models.treeplex import player_rows
from equilibrist.strategies.behaviour_table import behaviour_table
from equilibrist.strategies.node_strategy import node_strategy
from equilibrist.strategies.played import FixedMix, TableStrategy

LIMIT = BettingTree.build(get_game("holdem-limit"))


def random_table(symmetry):
    """Return a game of Leduc, random plans of it, and the table that plays them."""
    game = exact_game(get_game("leduc"), symmetry=symmetry)
    rng = np.random.default_rng(5)
    plans = tuple(
        game.realize(player, game.behaviour(player, rng.random(game.lengths[player])))
        for player in (0, 1)
    )
    return game, plans, TableStrategy.of_game(game, plans)


def every_node(game):
    for node in game.betting.nodes(NodeKind.DECISION).tolist():
        for board in game.states.boards[int(game.betting.round[node])]:
            yield game.betting.name(node), cards_name(board)


def test_a_node_has_the_probabilities_and_reach_of_the_behaviour_table():
    game, plans, strategy = random_table("cards")  # each hand is a state of its own
    for node, board in every_node(game):
        table, found = (
            behaviour_table(game, plans, node, board),
            node_strategy(strategy, node, board),
        )
        places = [found.place_of(hand) for hand in table.hands]
        assert sorted(places) == list(range(len(found.hands)))
        assert (found.player, found.actions) == (table.player, table.actions)
        np.testing.assert_allclose(found.probabilities[places], table.probabilities, atol=1e-12)
        np.testing.assert_allclose(found.weight[places], table.reach, atol=1e-12)


def test_hands_that_play_alike_are_the_states_of_the_game():
    game, plans, strategy = random_table("ranks")
    for node, board in every_node(game):
        table, found = (
            behaviour_table(game, plans, node, board),
            node_strategy(strategy, node, board),
        )
        groups = found.alike()
        names = [
            found.hand_name(group[0]) + (f" ×{len(group)}" if len(group) > 1 else "")
            for group in groups
        ]
        assert names == list(table.hands)
        first = [group[0] for group in groups]
        np.testing.assert_allclose(found.probabilities[first], table.probabilities, atol=1e-12)


def test_shares_count_the_hands_that_the_opponent_may_hold():
    _, _, strategy = random_table("suits")
    mine, theirs = (node_strategy(strategy, node, "Ks") for node in ("rc/c", "rc/"))
    other = theirs.weight * theirs.probabilities[:, theirs.actions.index("c")]
    assert mine.hands.tolist() == theirs.hands.tolist()
    joint = np.outer(mine.weight, other)
    np.fill_diagonal(joint, 0)  # nobody holds the opponent's card
    np.testing.assert_allclose(mine.share, joint.sum(axis=1) / joint.sum())
    np.testing.assert_allclose(mine.frequencies, mine.share @ mine.probabilities)


@pytest.mark.parametrize("kind", ["cards", "suits", "ranks", "mix", "uniform"])
def test_the_bulk_form_holds_the_probabilities_of_every_node_and_board(kind):
    game, _, strategy = random_table(kind if kind in ("cards", "suits", "ranks") else "cards")
    if kind in ("mix", "uniform"):
        strategy = FixedMix(game.betting, (0.1, 0.6, 0.3) if kind == "mix" else None)
    tree = strategy.known
    for node, text in every_node(game):
        v, board = tree.parse(node), parse_cards(text)
        player, r = int(tree.player[v]), int(tree.round[v])
        rows, column = player_rows(tree, player).row, strategy.columns_of(r, board)
        live = [card for card in game.rules.deck.cards if card not in board]
        assert (column[live] >= 0).all()
        found = strategy.table(player, r)[rows[list(tree.children(v))]][:, column[live]]
        np.testing.assert_allclose(found, strategy.probabilities(v, board)[:, live], atol=1e-12)
        np.testing.assert_allclose(found.sum(axis=0), 1)


def test_all_actions_are_equally_likely_without_a_mix():
    found = node_strategy(FixedMix(LIMIT, None), "cr")
    np.testing.assert_allclose(found.probabilities, 1 / 3)
    np.testing.assert_allclose(found.weight, 1 / 3)  # of fold, call and raise


def test_classes_count_the_hands_that_the_board_leaves():
    found = node_strategy(FixedMix(LIMIT, (0.1, 0.6, 0.3)), "cc/r", "AsAhAd")
    random = np.random.default_rng(3)
    weight = random.random(len(found.hands))
    found = replace(found, weight=weight, probabilities=random.dirichlet([1] * 3, len(weight)))
    classes = found.by_class()
    assert classes.num_possible[parse_class("AA")] == 0
    assert classes.num_possible[parse_class("AKs")] == 1
    assert classes.num_possible[parse_class("AKo")] == 3
    assert classes.num_possible.sum() == 49 * 48 / 2 == len(found.hands)
    for name in ("AKo", "KK", "72s"):
        own = np.flatnonzero(class_table()[found.hands] == parse_class(name))
        mean = np.average(found.probabilities[own], axis=0, weights=weight[own])
        np.testing.assert_allclose(classes.frequency[parse_class(name)], mean)
        assert classes.weight[parse_class(name)] == pytest.approx(weight[own].mean())


def test_a_node_that_nobody_reaches_has_finite_numbers():
    with np.errstate(all="raise"):
        found = node_strategy(FixedMix(LIMIT, (0.0, 1.0, 0.0)), "rr")
        classes = found.by_class()
    assert not found.weight.any()
    assert found.frequencies == pytest.approx([0, 1, 0])
    np.testing.assert_allclose(classes.frequency.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("node", "board", "hand", "complaint"),
    [
        ("cc", "", "", "cards are dealt after 'cc'.*the next decision is 'cc/'"),
        ("f", "", "", "the hand is over after 'f'"),
        ("cx", "", "", "'x' at character 2 of 'cx' leads nowhere"),
        ("cc/", "", "", "0 board cards are given for round 2 .* has 3, such as 2c2d2h"),
        ("", "AsKsQs", "", "3 board cards .* which has 0"),
        ("", "", "Ah", "'Ah' is not a hand of holdem-limit, which has 2 cards, such as AsAh"),
        ("", "", "AhAh", "Ah appears twice"),
        ("cc/", "AsKsQs", "AsKd", "As is on the board AsKsQs"),
    ],
)
def test_wrong_nodes_boards_and_hands_give_one_sentence(node, board, hand, complaint):
    mix = FixedMix(LIMIT, (0.1, 0.6, 0.3))
    with pytest.raises(EquilibristError, match=complaint):
        node_strategy(mix, node, board).place_of(hand)


def test_cards_that_the_deck_lacks_and_hands_that_never_come_are_refused():
    found = node_strategy(FixedMix(BettingTree.build(get_game("kuhn")), None))
    with pytest.raises(CardError, match="2c is not in the deck of kuhn"):
        found.place_of("2c")
    with pytest.raises(CardError, match="kuhn, which has one card, such as As"):
        found.place_of("AsKs")
    without = replace(found, hands=found.hands[:2])
    with pytest.raises(InvalidValueError, match="As is not among the 2 hands that reach this node"):
        without.place_of("As")


def test_raises_of_different_sizes_have_their_own_probabilities():
    rules = replace(
        get_game("leduc"), betting="nolimit", blinds=(10, 10), stacks=(200, 200), raise_sizes=()
    )
    game = exact_game(rules, BetMenu.parse("50%,a", max_raises="1"))
    random = np.random.default_rng(0)
    plans = [game.realize(p, game.behaviour(p, random.random(game.lengths[p]))) for p in (0, 1)]
    strategy = TableStrategy.of_game(game, (plans[0], plans[1]))
    held = list(rules.deck.cards)
    found = strategy.probabilities(0, ())[:, held]
    assert found.sum(axis=0) == pytest.approx(1)
    assert (found[1] != found[2]).all()
    table = node_strategy(strategy, "")
    assert (table.probabilities[:, 1] != table.probabilities[:, 2]).all()
