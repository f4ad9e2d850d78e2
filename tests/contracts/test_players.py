"""Contract of every player of the catalogue: legal, repeatable, and blind to hidden cards."""

import pytest

from equilibrist.bots.registry import BOTS
from equilibrist.games.catalog import get_game
from equilibrist.games.notation import parse_state
from equilibrist.games.records import check_names
from equilibrist.play.match import play_match
from equilibrist.players.catalog import make_player, player_entries
from equilibrist.players.player import Player, Result, View

OPTIONS = {"mix": ":0.1,0.6,0.3", "portfolio": ":always-call,always-raise"}
STORED = {"solution", "resolve", *BOTS}  # play what a folder holds (`tests/cli/test_bots.py`)
OTHERS = {"lbr"}  # of another game (`tests/papers/ectomynx/test_local_best_response.py`)
LEFT_OUT = STORED | OTHERS
TEXTS = [e.name + OPTIONS.get(e.name, "") for e in player_entries() if e.name not in LEFT_OUT]
LIMIT = get_game("holdem-limit")


class Remote(Player):
    """A player behind a protocol: all it gets is text."""

    def __init__(self, player):
        self.player, self.name = player, player.name

    def act(self, view):
        return self.player.act(self.received(view))

    def observe(self, result):
        self.player.observe(Result(self.received(result.view), result.chips))

    def reset(self, seed):
        self.player.reset(seed)

    def received(self, view):
        return View(*parse_state(LIMIT, str(view)))


def play(player, hands=24, seed=6):
    """Hands against an opponent that does everything; illegal actions raise."""
    other = make_player("mix:0.1,0.5,0.4", LIMIT)
    return play_match(LIMIT, (player, other), hands, seed=seed, keep_log=True)


@pytest.mark.parametrize("text", TEXTS)
def test_the_same_seed_gives_the_same_hands(text):
    player = make_player(text, LIMIT)
    first, other, again = play(player), play(player, seed=7), play(player)
    assert (first.chips == again.chips).all()
    assert (first.chips != other.chips).any()
    for one, two in zip(first.logs[0].hands, again.logs[0].hands, strict=True):
        assert str(one.state) == str(two.state)


@pytest.mark.parametrize("text", TEXTS)
def test_what_the_protocol_sends_is_enough(text):
    seated, remote = play(make_player(text, LIMIT)), play(Remote(make_player(text, LIMIT)))
    assert [str(r.state) for r in seated.logs[0].hands] == [
        str(r.state) for r in remote.logs[0].hands
    ]


@pytest.mark.parametrize("text", TEXTS)
def test_names_fit_into_logs(text):
    check_names([make_player(text, LIMIT).name])
