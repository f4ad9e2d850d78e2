"""Tests of adaptive players: their beliefs, and their gains from learning."""

import numpy as np
import pytest

from equilibrist.errors import InvalidValueError, ParseError
from equilibrist.evaluation.statistics import learning
from equilibrist.games.action import RAISE
from equilibrist.games.betting import Betting
from equilibrist.games.betting_tree import NodeKind
from equilibrist.games.catalog import get_game
from equilibrist.games.notation import parse_state
from equilibrist.play.match import MatchSettings, play_match, play_matches
from equilibrist.players.catalog import make_player
from equilibrist.players.context_tree import BINS, KINDS, Contexts, OpponentModel
from equilibrist.players.player import View

LIMIT = get_game("holdem-limit")
ADAPTIVE = ["aadapti", "vexbot", "vexbot:miximix"]


def trained(name, other, hands, seed=2):
    """Return a player after some hands against another."""
    player = make_player(name, LIMIT)
    play_match(LIMIT, (player, make_player(other, LIMIT)), hands, seed=seed)
    return player


@pytest.fixture(scope="module")
def contexts():
    return Contexts.of(LIMIT)


def test_contexts_are_the_nodes_of_the_betting_tree(contexts):
    tree = contexts.tree
    for name in ("", "rc/cr", "crrc/"):
        node = tree.parse(name)
        for kind, child in zip(KINDS, contexts.child[node], strict=True):
            if child < len(tree):
                assert tree.name(int(child)) == name + kind
    coarse, *_, exact = contexts.decisions.of_node
    assert len(set(coarse.tolist())) < 20
    assert len(set(exact.tolist())) == len(tree)


def test_nodes_below_a_node_begin_with_its_name(contexts):
    tree = contexts.tree
    inner, showdowns = contexts.below(tree.parse("crrc/cc/"))
    named = {node for node in range(len(tree)) if tree.name(node).startswith("crrc/cc/")}
    leaves = {node for node in named if tree.kind[node] == NodeKind.SHOWDOWN}
    assert set(showdowns.tolist()) == leaves
    assert set(inner.tolist()) == {node for node in named if tree.num_children[node]}
    assert (np.diff(inner) > 0).all()


def test_beliefs_start_coarse_and_become_exact(contexts):
    model, tree = OpponentModel(contexts), contexts.tree
    seen, alike, unlike = 0, 1, 2
    nodes = np.array([tree.parse(name) for name in ("cc/r", "rc/r", "cc/")])
    before = model.action_probabilities(nodes)
    assert np.allclose(before.sum(axis=1), 1)
    for _ in range(500):
        model.see_action(nodes[seen], "f")
    after = model.action_probabilities(nodes)
    assert after[seen, 0] > 0.98
    assert before[alike, 0] < after[alike, 0]  # never seen itself, but histories like it
    assert (after[unlike] == before[unlike]).all()


def test_showdowns_are_counted_by_history(contexts):
    model, tree = OpponentModel(contexts), contexts.tree
    leaf = np.array([tree.parse("cc/cc/cc/crc")])
    bluff = np.zeros(BINS)
    bluff[:5] = 1  # what wins from a hand of the lowest quarter only
    before = [model.win_probabilities(player, leaf, bluff).item() for player in (0, 1)]
    for _ in range(200):
        model.see_showdown(leaf.item(), 1, 0.1)
    after = [model.win_probabilities(player, leaf, bluff).item() for player in (0, 1)]
    assert max(before) < 0.5
    assert after[1] > 0.9
    assert after[0] < 0.6  # of the other seat only what all showdowns have in common is learnt


def test_showdowns_teach_what_a_raise_means(contexts):
    leaf, random = contexts.tree.parse("rrrc/rrrc/rrrc/rrrc"), np.random.default_rng(3)
    middle = (np.arange(BINS) + 0.5) / BINS
    blind, sound = OpponentModel(contexts), OpponentModel(contexts)
    for strength in random.random(60):
        blind.see_showdown(leaf, 1, strength)
        sound.see_showdown(leaf, 1, strength**0.2)  # density 5x⁴
    # After one raise, which neither has shown: half of all hands lose to a median hand.
    assert blind.shape()[1] @ middle == pytest.approx(0.5, abs=0.08)
    assert sound.shape()[1] @ middle > 0.55
    assert sound.shape()[4] @ middle > sound.shape()[1] @ middle + 0.05


def search(player, line, node):
    state, viewer = parse_state(LIMIT, line)
    tree = player.contexts.tree
    place = tree.parse(node)
    values = player.search(View(state, viewer), place)
    return {tree.step(child): values[child] for child in tree.children(place)}


def test_search_knows_what_is_certain():
    # The best possible hand faces the last raise on the river: a call wins under any model.
    player = make_player("vexbot", LIMIT)
    line = "MATCHSTATE:1:0:cc/cc/cc/crrrr:|AhKh/QhJhTh/2c/3d"
    values = search(player, line, "cc/cc/cc/crrrr")
    assert values["f"] == -70
    assert values["c"] == pytest.approx(90, abs=0.5)


def test_search_learns_to_bluff_a_player_that_always_folds():
    line = "MATCHSTATE:1:0:cc/c:|4h3d/QcJcTc"
    values = search(trained("vexbot", "always-fold", 60), line, "cc/c")
    assert values["r"] > 9  # nearly the whole pot
    assert values["r"] > values["c"]


def test_miximix_mixes_what_miximax_maximises():
    line = "MATCHSTATE:1:0:cc/c:|AhKh/QcJd2c"
    best = search(make_player("vexbot", LIMIT), line, "cc/c")
    mixed = search(make_player("vexbot:miximix", LIMIT), line, "cc/c")
    assert max(mixed.values()) < max(best.values())


def test_aadapti_learns_frequencies_slowly():
    flop = Betting.start(LIMIT, round=1).apply(RAISE)
    before = make_player("aadapti", LIMIT).frequencies(flop)
    after = trained("aadapti", "always-raise", 100).frequencies(flop)
    assert before[2] < after[2] < 0.9
    blinds = Betting.start(LIMIT)
    assert trained("aadapti", "always-fold", 100).frequencies(blinds)[0] > before[0]


def test_aadapti_learns_which_players_ignore_their_cards():
    blind = trained("aadapti", "mix:0.1,0.5,0.4", 150).doubt
    sound = trained("aadapti", "poki", 150).doubt
    assert blind > 0.6
    assert sound < blind - 0.2


@pytest.mark.parametrize("name", ADAPTIVE)
def test_a_reset_forgets(name):
    player, other = make_player(name, LIMIT), make_player("always-raise", LIMIT)
    first = play_match(LIMIT, (player, other), 30, seed=4).chips
    play_match(LIMIT, (player, make_player("always-fold", LIMIT)), 30, seed=5)
    assert (play_match(LIMIT, (player, other), 30, seed=4).chips == first).all()


def test_wrong_options_and_games_are_refused():
    with pytest.raises(ParseError, match="miximax or miximix"):
        make_player("vexbot:maximin", LIMIT)
    for name in ("vexbot", "aadapti"):
        with pytest.raises(InvalidValueError, match=f"{name} plays limit hold'em"):
            make_player(name, get_game("leduc"))


# Matches and hands per match, in duplicate: enough that the gain seen in trials with other seeds
# is well above half its interval. The mix never folds, and its actions do not depend on its hand.
MATCHES = {
    ("vexbot", "always-raise"): (30, 200),
    ("vexbot", "always-call"): (60, 200),
    ("vexbot", "mix:0,0.5,0.5"): (50, 200),
    ("vexbot", "poki"): (24, 1000),
    ("aadapti", "always-raise"): (30, 200),
    ("aadapti", "always-call"): (80, 600),
    ("aadapti", "mix:0,0.5,0.5"): (50, 400),
    ("aadapti", "poki"): (50, 600),
}


@pytest.mark.slow  # about thirteen minutes in all on one core
@pytest.mark.parametrize(("name", "other"), MATCHES)
def test_learners_win_more_in_the_last_tenth_than_in_the_first(name, other):
    # No weight or initial belief was chosen on these deals.
    seed = 5000 + list(MATCHES).index((name, other))
    players = make_player(name, LIMIT), make_player(other, LIMIT)
    number, hands = MATCHES[name, other]
    settings = MatchSettings(hands=hands, matches=number, seed=seed, duplicate=True, runner="views")
    matches = play_matches(LIMIT, players, settings)
    chips = np.stack([match.chips.sum(axis=0) for match in matches])
    found = learning(chips, rules=LIMIT, unit="sb/h", hands_each=2, names=(name, other))
    for part in (found.overall, found.first, found.last):
        print(part.verdict)
    print(found.verdict)
    assert found.gain.ci95[0] > 0
    if other != "poki":
        assert found.last.estimate.ci95[0] > 0
