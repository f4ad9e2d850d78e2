"""Players that learn: what they come to believe, and what it wins them."""

import numpy as np
import pytest

from equilibrist.errors import InvalidValueError, ParseError
from equilibrist.games.action import RAISE
from equilibrist.games.betting import Betting
from equilibrist.games.catalog import get_game
from equilibrist.games.notation import parse_state
from equilibrist.play.match import play_match
from equilibrist.players.catalog import make_player
from equilibrist.players.context_tree import BINS, KINDS, Contexts, OpponentModel
from equilibrist.players.player import Player, View

LIMIT = get_game("holdem-limit")
ADAPTIVE = ["aadapti", "vexbot", "vexbot:miximix"]


def taught(name, other, hands, seed=2):
    """A player after some hands against another."""
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
    coarse, *_, exact = contexts.decisions
    assert len(set(coarse.tolist())) < 20
    assert len(set(exact.tolist())) == len(tree)


def test_beliefs_start_coarse_and_become_exact(contexts):
    model, tree = OpponentModel(contexts), contexts.tree
    seen, alike, unlike = map(tree.parse, ("cc/r", "rc/r", "cc/"))
    before = model.action_chances().copy()
    assert np.allclose(before[[seen, alike, unlike]].sum(axis=1), 1)
    for _ in range(500):
        model.see_action(seen, "f")
    after = model.action_chances()
    assert after[seen, 0] > 0.98
    assert before[alike, 0] < after[alike, 0]  # never seen itself, but histories like it
    assert (after[unlike] == before[unlike]).all()


def test_showdowns_are_counted_by_history(contexts):
    model, tree = OpponentModel(contexts), contexts.tree
    leaf = tree.parse("cc/cc/cc/crc")
    bluff = np.zeros(BINS)
    bluff[:5] = 1  # what wins from a hand of the lowest quarter only
    nodes, before = model.win_chances(1, bluff)
    for _ in range(200):
        model.see_showdown(leaf, 1, 0.1)
    after = model.win_chances(1, bluff)[1]
    assert before[nodes == leaf] < 0.3
    assert after[nodes == leaf] > 0.95
    assert (
        model.win_chances(0, bluff)[1] == OpponentModel(contexts).win_chances(0, bluff)[1]
    ).all()


def search(player, line, node):
    state, viewer = parse_state(LIMIT, line)
    tree = player.contexts.tree
    place = tree.parse(node)
    values = player.search(View(state, viewer), place)
    return {tree.step(child): values[child] for child in tree.children(place)}


def test_search_knows_what_is_certain():
    # The best hand there is, facing the last raise on the river: whatever the model, a call wins.
    player = make_player("vexbot", LIMIT)
    line = "MATCHSTATE:1:0:cc/cc/cc/crrrr:|AhKh/QhJhTh/2c/3d"
    values = search(player, line, "cc/cc/cc/crrrr")
    assert values["f"] == -70
    assert values["c"] == pytest.approx(90, abs=0.5)


def test_search_learns_to_bluff_who_always_folds():
    line = "MATCHSTATE:1:0:cc/c:|4h3d/QcJcTc"
    values = search(taught("vexbot", "always-fold", 60), line, "cc/c")
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
    after = taught("aadapti", "always-raise", 100).frequencies(flop)
    assert before[2] < after[2] < 0.9
    blinds = Betting.start(LIMIT)
    assert taught("aadapti", "always-fold", 100).frequencies(blinds)[0] > before[0]


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


class Frozen(Player):
    """A player that learns no more and cannot forget."""

    def __init__(self, player):
        self.player, self.name = player, player.name

    def act(self, view):
        return self.player.act(view)

    def reset(self, seed):
        pass


def gain(name, other, lessons, hands):
    """What lessons add to the win rate, on the same deals, in standard errors."""
    rates = [
        play_match(
            LIMIT, (Frozen(player), make_player(other, LIMIT)), hands, duplicate=True
        ).samples
        for player in (make_player(name, LIMIT), taught(name, other, lessons))
    ]
    added = rates[1] - rates[0]
    return added.mean() / (added.std(ddof=1) / np.sqrt(len(added)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "other", "lessons", "hands"),
    [
        ("vexbot", "poki", 1500, 800),
        ("vexbot", "always-raise", 1200, 600),
        ("aadapti", "always-raise", 1500, 600),
    ],
)
def test_learners_win_more_when_taught(name, other, lessons, hands):
    assert gain(name, other, lessons, hands) > 1.96
