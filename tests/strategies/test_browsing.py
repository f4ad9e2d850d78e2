"""The way to a node, beside the betting of the rules."""

import pytest

from equilibrist.bots.open import open_strategy
from equilibrist.errors import InvalidValueError, RecordError
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.catalog import get_game
from equilibrist.games.notation import parse_betting
from equilibrist.strategies.browsing import betting_line, next_decision, report_at
from equilibrist.strategies.played import FixedMix


@pytest.mark.parametrize("game", ["kuhn", "leduc", "holdem-limit"])
def test_every_step_agrees_with_the_rules(game):
    rules = get_game(game)
    mix = FixedMix(BettingTree.build(rules), None)
    tree = mix.tree
    nodes = tree.nodes(NodeKind.DECISION)
    for v in nodes[:: max(1, len(nodes) // 200)].tolist():
        name = tree.name(v)
        line = betting_line(mix, name)
        assert line[-1].node == name
        for step in line:
            betting = parse_betting(rules, step.node)
            assert (betting.actor, betting.pot) == (step.player, step.pot)
            assert rules.board_cards_by(betting.round) == step.num_board
            for action in step.actions:
                after = parse_betting(rules, action.node)
                assert after.is_over == bool(action.ends)
                assert after.is_showdown == (action.ends == "showdown")
        taken = [[action.is_taken for action in step.actions] for step in line]
        assert [sum(row) for row in taken] == [1] * (len(line) - 1) + [0]


def test_ends_lead_to_the_next_decision_or_the_last_one():
    mix = open_strategy("uniform", get_game("leduc")).strategy
    assert betting_line(mix, "cc")[-1].node == "cc/"
    assert betting_line(mix, "rf")[-1].node == "r"
    assert next_decision(mix.tree, mix.tree.parse("rf")) == mix.tree.parse("rf")
    with pytest.raises(RecordError, match="leads nowhere"):
        betting_line(mix, "cx")
    with pytest.raises(InvalidValueError):
        report_at(mix, "rf")
