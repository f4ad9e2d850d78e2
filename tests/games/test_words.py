"""Betting as players say it."""

import pytest

from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.catalog import get_game
from equilibrist.games.words import action_labels, node_words, seat_name
from equilibrist.models.spot import Chips, Spot


@pytest.mark.parametrize(
    ("game", "node", "words", "labels"),
    [
        ("kuhn", "", "", ("check", "bet 1")),
        ("kuhn", "cr", "check, bet 1", ("fold", "call 1")),
        ("leduc", "rrc/", "bet 2, raise to 4, call; round 2", ("check", "bet 4")),
        ("holdem-limit", "", "", ("fold", "call 5", "raise to 20")),
        ("holdem-limit", "c", "call", ("check", "raise to 20")),
        (
            "holdem-limit", "crrc/crr", "call, raise to 20, raise to 30, call; flop: check, "
            "bet 10, raise to 20", ("fold", "call 10", "raise to 30"),
        ),
        ("holdem-nolimit", "r300c/", "raise to 300, call; flop",
         ("check", "bet 600", "bet 19,700")),
        ("holdem-nolimit", "r300c/r900", "raise to 300, call; flop: bet 600",
         ("fold", "call 600", "raise to 2,400", "raise to 19,700")),
    ],
)  # fmt: skip
def test_a_node_and_its_actions_are_said_with_chips_of_the_street(game, node, words, labels):
    menu = BetMenu() if get_game(game).is_limit else BetMenu.parse("100%,a", None, None)
    tree = BettingTree.build(get_game(game), menu, last_round=min(1, get_game(game).num_rounds - 1))
    found = tree.parse(node)
    assert node_words(tree, found) == words
    assert action_labels(tree, found) == labels


def test_a_spot_says_the_chips_of_its_node_names():
    """Names of a spot's nodes count chips of the street too, by code of their own."""
    spot = Spot.of(
        "Td9d6hQc", "QQ+", "88-22", Chips(pot=200, stack=900), bets="60%,a", raises="2.5x,a"
    )
    tree = spot.betting
    assert node_words(tree, spot.find("cr120r300c/c")) == (
        "check, bet 120, raise to 300, call; river: check"
    )
    for node in tree.nodes(NodeKind.DECISION).tolist():
        for action, label in zip(spot.actions(node), action_labels(tree, node), strict=True):
            verb, _, chips = label.rpartition(" ") if " " in label else (label, "", "")
            if action[0] == "r":
                assert (verb, chips.replace(",", "")) in (
                    ("bet", action[1:]),
                    ("raise to", action[1:]),
                )
                assert (verb == "bet") == ("f" not in spot.actions(node))
            else:
                assert verb == {"f": "fold", "c": "call" if chips else "check"}[action]


def test_every_seat_has_a_name():
    assert [seat_name(get_game("holdem-nolimit"), p) for p in (0, 1)] == [
        "the big blind",
        "the dealer",
    ]
    assert [seat_name(get_game("leduc"), p) for p in (0, 1)] == ["first to act", "second to act"]
