"""`equilibrist show`: bots, solutions, mixes and spots at their nodes."""

import re

import numpy as np
import pytest

from equilibrist.bots.bot import BucketBot
from equilibrist.cards.card import parse_cards
from equilibrist.cards.hand import hand_index
from equilibrist.players.bucket_strategy import BucketStrategy
from equilibrist.strategies.quantized import CompactStrategy

TINY = BucketBot(
    "tiny", "Few buckets of few cards", recipe="percentile", buckets=(2, 4, 8, 16),
    max_raises="1 1 1 1", target=50.0, game="royal-holdem", dtype="float64",
)  # fmt: skip


@pytest.fixture
def tiny(add_bot, monkeypatch, tmp_path, answer):
    """The folder of a small trained bot."""
    add_bot(TINY)
    monkeypatch.chdir(tmp_path)
    answer("train", "tiny")
    return tmp_path / "bots/tiny"


def hands_of(data):
    """Return the row of each group's first hand."""
    return {name.split()[0]: place for place, name in enumerate(data["hands"])}


def test_a_bot_shows_its_preflop_chart_and_its_replies(tiny, run, answer):
    first = run("show", "tiny")
    assert first.returncode == 0, first.stderr
    lines = first.stdout.splitlines()
    assert lines[0].startswith("tiny, royal-holdem: player 1 (the dealer) acts first, pot 15, 5 to")
    assert "raise to 20  r" in first.stdout
    assert max(map(len, lines)) <= 80
    assert re.search(r"^A +[fcr] ?\d+", first.stdout, re.MULTILINE)
    data = answer("show", "tiny")
    assert data["actions"] == ["f", "c", "r"]
    assert len(data["hands"]) == 5 * 5  # classes of five ranks
    assert data["reach"] == [1.0] * 25
    reply = answer("show", "tiny", "--node", "r")
    assert (reply["player"], reply["words"], reply["pot"]) == (0, "raise to 20", 30)
    folder = answer("show", tiny)
    assert folder["probabilities"] == data["probabilities"]


def test_a_bot_shows_what_it_plays_on_a_board(tiny, answer, run):
    """Its player looks up the same hands by code of its own."""
    node, board, hand = "rc/cr", "AsKdTh", "QsJs"
    data = answer("show", "tiny", "--node", node, "--board", board, "--table")
    strategy = BucketStrategy.of(CompactStrategy.open(tiny / "strategy"))
    v = strategy.tree.parse(node)
    number = hand_index(*parse_cards(hand))
    reach = strategy.reach(v, int(strategy.tree.player[v]), parse_cards(board))
    alone = answer("show", "tiny", "--node", node, "--board", board, "--hand", hand)
    assert alone["hands"] == [hand]
    assert alone["reach"] == pytest.approx([reach[number]])
    place = hands_of(data)[hand]  # the highest suit comes first among hands that play alike
    assert data["probabilities"][place] == pytest.approx(alone["probabilities"][0])
    bucket = strategy.seat(0).columns.bucket(number, parse_cards(board))
    by_bucket = answer("show", "tiny", "--node", node)
    # It knows one raise per round, so it never raises again.
    assert by_bucket["actions"] == alone["actions"] == ["f", "c", "r"]
    assert by_bucket["probabilities"][bucket] == pytest.approx(alone["probabilities"][0])
    assert alone["probabilities"][0][2] == 0
    assert sum(alone["probabilities"][0]) == pytest.approx(1)
    text = run("show", "tiny", "--node", node, "--board", board, "--hand", hand).stdout
    assert "raise to 20, call; flop: check, bet 10" in text.replace("\n", " ")
    assert f"{hand}: reach" in text


def test_a_solution_of_an_exact_game_is_a_table(answer, run, tmp_path):
    folder = tmp_path / "leduc"
    answer("solve", "leduc", "--iterations", 20, "--out", folder)
    data = answer("show", folder, "--node", "cc/r", "--board", "Ks")
    assert data["hands"] == ["Qs ×2", "Kh", "As ×2"]
    assert data["words"] == "check, check; round 2: bet 4"
    assert np.sum(data["probabilities"], axis=1) == pytest.approx(1)
    text = run("show", folder, "--node", "cc/r", "--board", "Ks").stdout
    assert "hand   reach" in text
    assert "r raise to 8" in text
    assert answer("show", f"solution:{folder}") == {
        **answer("show", folder), "strategy": f"solution:{folder}",
    }  # fmt: skip
    refused = run("show", folder, "--grid")
    assert refused.returncode == 2
    assert "leduc has one card per hand" in refused.stderr


def test_a_spot_is_shown_with_values(answer, run, tmp_path):
    out, picture = tmp_path / "river", tmp_path / "river.png"
    options = ("--board", "Td9d6hQc2s", "--oop", "AA,76s,54s", "--ip", "KK", "--pot", 200)
    answer("spot", *options, "--stack", 200, "--bets", "a", "--iterations", 50, "--out", out)
    data = answer("show", out, "--hand", "AsAh")
    node = answer("spot", out, "--hands", "AsAh")["node"]
    assert data["values"] == [node["hands"][0]["values"]]
    assert data["probabilities"] == [node["hands"][0]["probabilities"]]
    assert data["action_words"] == node["action_words"] == ["check", "bet 200"]
    shown = run("show", out, "--node", "r200", "--plot", picture)
    assert shown.returncode == 0, shown.stderr
    assert "in position acts at 'r200' (bet 200) on Td9d6hQc2s" in shown.stdout.replace("\n", " ")
    assert max(map(len, shown.stdout.splitlines()[2:])) <= 80
    assert picture.read_bytes().startswith(b"\x89PNG")
    refused = run("show", out, "--node", "r200", "--hand", "AsAh")
    assert refused.returncode == 2
    assert "AsAh is not among the 6 hands" in refused.stderr


def test_mixes_are_shown_in_any_limit_game(answer, run):
    data = answer("show", "uniform", "--game", "kuhn", "--node", "cr")
    assert data["hands"] == ["Qs", "Ks", "As"]
    assert data["probabilities"] == [[0.5, 0.5]] * 3
    assert data["checked"] == []
    assert "raise to 20  r     30.0 %" in run("show", "mix:0.1,0.6,0.3").stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("smalbot",), "did you mean smallbot"),
        (("always-call", "--node", "x"), "'x' at character 1"),
        (("always-call", "--node", "cc/"), "0 board cards are given for round 2"),
        (("always-call", "--hand", "Ah"), "'Ah' is not a hand of holdem-limit"),
        (("always-call", "--hand", "AhXx"), "is not a card"),
        (("always-call", "--palette", "grey"), "--palette must be usual or colour-blind"),
        (("always-call", "--plot", "nowhere/a.png"), "its folder does not exist"),
        (("ectomynx",), "stores no probabilities by hand"),
    ],
)
def test_wrong_input_gives_one_sentence(run, arguments, complaint):
    result = run("show", *arguments)
    assert result.returncode == 2
    assert complaint in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
