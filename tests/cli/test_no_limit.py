"""A no-limit bot as its user meets it: trained, listed, shown, exploited, played, re-solved."""

import contextlib
import threading
from dataclasses import replace

import pytest

from equilibrist.bots.bot import BucketBot
from equilibrist.bots.registry import BOTS
from equilibrist.games.catalog import GAMES, GameEntry, get_game
from equilibrist.games.rules import rules_text
from equilibrist.play.acpc import play_over
from equilibrist.play.server import NetworkMatch, serve_match
from equilibrist.play.slumbot_client import ApiMatch
from equilibrist.play.slumbot_server import ServedBot, SlumbotServer
from equilibrist.play.wire import Listener, connect
from equilibrist.players.catalog import make_player
from equilibrist.players.static import Uniform

RULES = replace(get_game("holdem-nolimit"), name="royal-nolimit", num_ranks=5, stacks=(2000, 2000))
TINY = BucketBot(
    "tiny-nolimit", "Few buckets of few cards", game="royal-nolimit", recipe="percentile",
    buckets=(2, 4, 8, 16), bets="100%,a", max_raises="2 1 1 1", force_all_in="15%", target=200.0,
    boards=300,
)  # fmt: skip


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder in which the bot is trained; commands run there know it and its game."""
    from equilibrist.bots.train import train

    folder = tmp_path_factory.mktemp("nolimit")
    entry = GameEntry("royal-nolimit", "No-limit hold'em with twenty cards", RULES)
    with pytest.MonkeyPatch.context() as patch, GAMES.added(entry), BOTS.added(TINY):
        patch.chdir(folder)
        yield train("tiny-nolimit")


def test_it_is_trained_and_listed(trained, answer):
    assert trained.models[0].run.outcome.name == "TARGET_REACHED"
    row = next(row for row in answer("bots")["bots"] if row["name"] == "tiny-nolimit")
    assert row["trained"]
    assert row["mbb/g"] <= 200
    assert (row["bets"], row["max_raises"]) == ("100%,a", "2 1 1 1")


def test_it_is_exploited_within_its_buckets(trained, answer):
    found = answer("exploit", trained.folder / "solution")
    assert found["exploitability"] == pytest.approx(trained.models[0].run.evaluation.exploitability)


def test_exploitability_in_the_real_game_is_refused_in_a_sentence(trained, run):
    refused = run("exploit", "tiny-nolimit", "--real-game")
    assert refused.returncode == 2
    assert "royal-nolimit" in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_it_is_shown(trained, run):
    shown = run("show", "tiny-nolimit").stdout
    assert "raise to 300" in shown
    assert "raise to 2,000" in shown or "all-in" in shown


def test_it_plays_matches_with_and_without_solving_again(trained, answer):
    base = ["--game", "royal-nolimit", "--hands", 200, "--seed", 3]
    stored = answer("match", "tiny-nolimit", "always-shove", *base)
    again = answer("match", "resolve:tiny-nolimit,iterations=3", "always-call", *base)
    assert stored["hands"] == again["hands"] == 200


@pytest.mark.parametrize("player", ["tiny-nolimit", "resolve:tiny-nolimit"])
def test_other_stacks_are_refused_in_a_sentence(trained, run, tmp_path, player):
    game = tmp_path / "deep.game"
    game.write_text(rules_text(replace(RULES, name="deep", stacks=(4000, 4000))))
    refused = run("match", player, "always-call", "--game", game, "--hands", 10)
    assert refused.returncode == 2
    assert "stacks of 20 big blinds, not for the 40 big blinds of deep" in refused.stderr


def test_it_answers_every_size_over_both_protocols(trained):
    """Uniform bets any legal amount, almost never one of the bot's."""
    bot, said = make_player("tiny-nolimit", RULES), []
    with Listener() as door, contextlib.ExitStack() as stack:
        threads, wires = [], []
        for player in (bot.twin(), Uniform()):
            link = stack.enter_context(connect("127.0.0.1", door.port))
            wires.append(stack.enter_context(door.accept(5)))
            threads.append(threading.Thread(target=play_over, args=(RULES, link, player)))
            threads[-1].start()
        match = NetworkMatch(RULES, ("Ann", "Bob"), 150, seed=5)
        served = serve_match(match, tuple(wires), warn=said.append)
        for wire in wires:
            wire.close()
        for thread in threads:
            thread.join()
    assert (served.is_finished, said) == (True, [])
    server = SlumbotServer(ServedBot(RULES, bot.twin, seed=5))
    found = ApiMatch(RULES, Uniform(), Direct(server), 300).play()
    assert found.chips == list(server.chips)
    assert len(found.baselines) == 300


class Direct:
    """A server without a network."""

    address = "http://direct"

    def __init__(self, server):
        self.post = server.answer
