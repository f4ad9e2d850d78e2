from dataclasses import replace

import numpy as np
import pytest

from equilibrist.errors import InvalidValueError, RecordError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting import Betting
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.catalog import game_names, get_game
from equilibrist.games.sizes import game_sizes

MENU = BetMenu.parse(bets="100%,a")


def build(name: str) -> BettingTree:
    return BettingTree.build(get_game(name), MENU)


@pytest.fixture(scope="module", params=game_names())
def tree(request):
    return build(request.param)


def test_parents_come_before_their_children_and_children_are_contiguous(tree):
    assert tree.parent[0] == -1
    assert (tree.parent[1:] < np.arange(1, len(tree))).all()
    for node in range(len(tree)):
        assert all(tree.parent[child] == node for child in tree.children(node))
    assert tree.num_children.sum() == len(tree) - 1


def test_nodes_of_a_round_are_contiguous(tree):
    assert (np.diff(tree.round.astype(int)) >= 0).all()


def test_kinds_have_the_children_they_should(tree):
    decisions = tree.kind == NodeKind.DECISION
    ends = (tree.kind == NodeKind.FOLD) | (tree.kind == NodeKind.SHOWDOWN)
    assert (tree.num_children[decisions] >= 1).all()
    assert (tree.num_children[ends] == 0).all()
    assert (tree.num_children[tree.kind == NodeKind.ROUND_END] == 1).all()
    assert ((tree.player >= 0) == (decisions | (tree.kind == NodeKind.FOLD))).all()


def test_only_raises_of_no_limit_games_have_amounts(tree):
    is_raise = tree.action_kind == ord("r")
    assert ((tree.action_amount > 0) == (is_raise & (not tree.rules.is_limit))).all()
    assert (tree.action_amount >= 0).all()


def test_node_names_parse_back(tree):
    step = max(1, len(tree) // 2000)
    for node in range(0, len(tree), step):
        assert tree.parse(tree.name(node)) == node


def test_the_tree_agrees_with_the_betting_it_was_built_from(tree):
    rng = np.random.default_rng(5)
    for _ in range(200):
        node, betting = 0, Betting.start(tree.rules)
        while tree.num_children[node]:
            assert betting.spent == tuple(tree.spent[node])
            if tree.kind[node] == NodeKind.DECISION:
                assert betting.actor == tree.player[node]
                assert betting.round == tree.round[node]
            node = int(rng.choice(tree.children(node)))
            if (action := tree.action(node)) is not None:
                betting = betting.apply(action)
        assert betting.is_over
        assert betting.is_showdown == (tree.kind[node] == NodeKind.SHOWDOWN)
        if tree.kind[node] == NodeKind.FOLD:
            assert betting.folded[tree.player[node]]


def test_a_tree_that_opens_with_everybody_all_in_is_a_showdown():
    tree = BettingTree.build(get_game("holdem-nolimit"), MENU, first_round=3, pot=40_000)
    assert len(tree) == 1
    assert (tree.kind[0], tree.round[0], tree.player[0]) == (NodeKind.SHOWDOWN, 3, -1)
    assert game_sizes(tree).decisions_per_round == [0]


def test_nobody_acts_between_an_all_in_and_a_discard():
    tree = BettingTree.build(get_game("discard-holdem"), MENU, pot=400)
    assert (tree.kind[0], tree.round[0], tree.player[0]) == (NodeKind.ROUND_END, 0, -1)
    discard = tree.parse("/")
    assert (tree.kind[discard], tree.round[discard]) == (NodeKind.DECISION, 1)
    rules = replace(get_game("discard-holdem"), discards=(False, False, True, False))
    tree = BettingTree.build(rules, MENU)
    skipped, discard = tree.parse("r200c/"), tree.parse("r200c//")
    assert (tree.kind[skipped], tree.round[skipped]) == (NodeKind.ROUND_END, 1)
    assert (tree.kind[discard], tree.round[discard]) == (NodeKind.DECISION, 2)
    assert tree.kind[tree.parse("r200c//kk")] == NodeKind.SHOWDOWN


def test_a_river_tree_starts_from_its_pot():
    # Caps of four raises: 10 decisions, 8 folds, 9 showdowns (PsOpti counts 19 betting sequences).
    tree = BettingTree.build(get_game("holdem-limit"), first_round=3, pot=80)
    assert tree.counts(NodeKind.DECISION) == [10]
    assert tree.counts(NodeKind.FOLD) == [8]
    assert tree.counts(NodeKind.SHOWDOWN) == [9]
    assert tree.spent[0].tolist() == [40, 40]


def test_rounds_left_out_at_the_end_leave_open_round_ends():
    tree = BettingTree.build(get_game("holdem-limit"), last_round=0)
    ends = tree.nodes(NodeKind.ROUND_END)
    assert len(ends) == 7
    assert (tree.num_children[ends] == 0).all()
    assert tree.counts(NodeKind.SHOWDOWN) == [0]


def test_three_bets_leave_seven_continuations_on_a_later_round():
    # PsOpti and GS3 cap all rounds at three raises.
    tree = BettingTree.build(get_game("holdem-limit"), BetMenu.parse(max_raises="3"), last_round=1)
    assert tree.counts(NodeKind.ROUND_END) == [7, 49]


def test_an_all_in_before_the_last_round_is_a_showdown_there():
    tree = build("holdem-nolimit")
    node = tree.parse("r20000c")
    assert tree.kind[node] == NodeKind.SHOWDOWN
    assert tree.round[node] == 0


def test_discard_turns_are_decisions():
    tree = BettingTree.build(get_game("discard-holdem"), BetMenu.parse(bets="a"))
    node = tree.parse("cc/dk")
    assert tree.kind[node] == NodeKind.DECISION
    assert tree.name(tree.parent[node]) == "cc/d"


@pytest.mark.parametrize(
    ("name", "position"),
    [
        ("x", 0),
        ("cq", 1),
        ("rfc", 2),
        ("cc/rx", 4),
        ("cc/cx", 4),
        ("rrr", 2),
        ("crc//", 4),
        ("r5", 0),
        ("/", 0),
    ],
)
def test_a_name_that_leaves_the_tree_says_where(name, position):
    tree = build("leduc")
    with pytest.raises(RecordError) as caught:
        tree.parse(name)
    assert str(caught.value).count("\n") == 0
    assert caught.value.position == position
    assert f"character {position + 1} of {name!r}" in str(caught.value)


def test_a_name_that_leaves_the_tree_says_what_could_follow():
    tree = build("leduc")
    with pytest.raises(RecordError, match="in leduc; f, c, r can follow 'cr'"):
        tree.parse("crx")
    with pytest.raises(RecordError, match="in leduc; nothing can follow 'rf'"):
        tree.parse("rfc")


def test_a_tree_that_is_too_large_is_refused_and_says_what_to_do():
    with pytest.raises(InvalidValueError, match="more than 1,000 nodes; allow fewer bet sizes"):
        BettingTree.build(get_game("holdem-limit"), most_nodes=1000)


@pytest.mark.parametrize(
    "arguments",
    [{"first_round": 4}, {"first_round": -1}, {"first_round": 2, "last_round": 1},
     {"last_round": 9}, {"first_round": 1, "pot": -2}, {"first_round": 1, "pot": 3}],
)  # fmt: skip
def test_impossible_rounds_and_pots_are_refused(arguments):
    with pytest.raises(InvalidValueError):
        BettingTree.build(get_game("holdem-limit"), **arguments)


def test_a_node_outside_the_tree_is_refused():
    with pytest.raises(InvalidValueError, match="node 99 is outside"):
        build("kuhn").name(99)


@pytest.mark.parametrize("name", ["r0", "r00", "cr0"])
def test_a_node_has_one_name(name: str) -> None:
    with pytest.raises(RecordError, match="leads nowhere"):
        BettingTree.build(get_game("leduc")).parse(name)


def test_state_of_a_node_is_the_betting_that_leads_there():
    tree = BettingTree.build(get_game("holdem-nolimit"), BetMenu.parse("100%,a", max_raises="1"))
    node = tree.parse("r300c/cr900")
    assert tree.state(node).text == "r300c/cr900"
    assert tree.state(node).spent == tuple(tree.spent[node].tolist())


def test_same_child_compares_the_amounts_of_raises():
    rules = get_game("holdem-nolimit")
    few, many = (BettingTree.build(rules, BetMenu.parse(b, max_raises="1")) for b in ("a", "50%,a"))
    found = [few.same_child(0, many, child) for child in many.children(0)]
    assert [None if v is None else few.step(v) for v in found] == ["f", "c", None, "r20000"]
