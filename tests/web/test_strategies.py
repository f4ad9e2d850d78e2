"""The strategy browser's API beside what the library and the command line say."""

import json

import numpy as np
import pytest

from equilibrist.bots.bot import BucketBot
from equilibrist.bots.open import open_strategy
from equilibrist.bots.train import train
from equilibrist.cards.card import parse_cards
from equilibrist.cards.equity import equity
from equilibrist.cards.hand import hand_index
from equilibrist.models.game import BEST
from equilibrist.models.spot import Chips, Spot
from equilibrist.players.bucket_strategy import BucketStrategy
from equilibrist.solving.solve import Budget, solve
from equilibrist.solving.spot_run import SolvedSpot
from equilibrist.solving.spot_run import solver as spot_solver
from equilibrist.strategies.quantized import CompactStrategy

TINY = BucketBot(
    "tiny", "Few buckets of few cards", recipe="percentile", buckets=(2, 4, 8, 16),
    max_raises="1 1 1 1", target=50.0, game="royal-holdem", dtype="float64",
)  # fmt: skip


def node(client, name, expected=200, **place):
    answer = client.get("/api/strategy", params={"name": name, **place})
    assert answer.status_code == expected, answer.text
    return answer.json()


@pytest.fixture
def river(folder):
    """A solved spot in the served folder."""
    spot = Spot.of("Td9d6hQc", "AA,76s", "KK,54s", Chips(pot=200, stack=200), bets="a")
    by, built = spot_solver("cfr+", 32), spot.build()
    solved = SolvedSpot(spot, by, solve(built.game, by, Budget(iterations=30)), built)
    solved.save(folder / "turn")
    return solved


def test_a_mix_is_shown_at_the_first_decision(owner):
    found = node(owner, "mix:0.1,0.6,0.3")
    assert (found["game"], found["node"], found["missing"]) == ("holdem-limit", "", 0)
    data = found["data"]
    assert data["seat"] == "player 1 (the dealer)"
    assert [action["words"] for action in data["actions"]] == ["fold", "call 5", "raise to 20"]
    assert [round(action["frequency"], 6) for action in data["actions"]] == [0.1, 0.6, 0.3]
    assert data["actions"][0]["colours"]["usual"] == "#3b82f6"
    assert np.array(data["grid"]["frequency"]) == pytest.approx(np.tile([0.1, 0.6, 0.3], (169, 1)))
    assert len(data["hands"]["names"]) == 1326
    names = dict(zip(data["hands"]["names"], data["hands"]["cells"], strict=True))
    # Row by row from AA: suited above the diagonal.
    assert (names["AsAh"], names["AsKs"], names["AsKh"], names["2d2c"]) == (0, 1, 13, 168)


def test_the_betting_line_has_every_action_on_the_way(owner):
    found = node(owner, "uniform", node="rc/cr", board="Kh8d3c5s")
    assert found["board"] == "Kh8d3c"  # cut to what the node needs
    steps = found["steps"]
    assert [step["node"] for step in steps] == ["", "r", "rc/", "rc/c", "rc/cr"]
    assert [step["round"] for step in steps] == ["preflop"] * 2 + ["flop"] * 3
    assert [[a["words"] for a in step["actions"] if a["is_taken"]] for step in steps] == [
        ["raise to 20"], ["call 10"], ["check"], ["bet 10"], [],
    ]  # fmt: skip
    last = {action["words"]: action for action in steps[-1]["actions"]}
    assert last["fold"]["ends"] == "fold"
    assert (last["call 10"]["node"], last["call 10"]["ends"]) == ("rc/crc/", "")
    turn = node(owner, "uniform", node=last["call 10"]["node"], board="Kh8d3c")
    assert (turn["missing"], turn["data"], turn["board"]) == (1, None, "Kh8d3c")
    assert node(owner, "uniform", node="rc/crc", board="Kh8d3c")["node"] == "rc/crc/"
    over = node(owner, "uniform", node="rc/crf", board="Kh8d3c")
    assert over["node"] == "rc/cr"  # the decision that ended the hand


def test_a_spot_is_shown_with_values_as_the_library_reports_them(owner, river):
    found = node(owner, "turn", node="c")
    report = river.answers().at("c")
    assert (found["kind"], found["start_board"], found["board"]) == ("spot", "Td9d6hQc", "Td9d6hQc")
    hands, data = found["data"]["hands"], found["data"]
    for place in range(len(report.hands)):
        at = hands["names"].index(report.hand_name(place))
        assert hands["probabilities"][at] == pytest.approx(report.probabilities[place], abs=1e-5)
        assert hands["values"][at] == pytest.approx(report.values[place], abs=1e-5)
        assert hands["equity"][at] == pytest.approx(report.equity[place], abs=1e-5)
    assert data["value"] == pytest.approx(report.mean_value)
    empty = data["grid"]["level"][12 * 13 + 12]  # 22 is in no range
    assert empty == 0
    assert data["grid"]["is_possible"][12 * 13 + 12]
    river_node = node(owner, "turn", node="cc/", runout="2s")
    assert river_node["board"] == "Td9d6hQc2s"
    assert node(owner, "turn", node="cc/", board="Td9d6hQc2s") == river_node
    assert node(owner, "turn", node="cc/")["missing"] == 1
    assert "Qc" in node(owner, "turn", 400, node="cc/", runout="Qc")["error"]
    all_in = node(owner, "turn", node="r200c")
    assert all_in["steps"][-1]["actions"][1]["ends"] == "showdown"


def test_a_trained_bot_shows_what_it_plays(owner, folder, add_bot):
    """Its player looks up hands by code of its own."""
    add_bot(TINY)
    assert "run `equilibrist train tiny`" in node(owner, "tiny", 404)["error"]
    entry = next(e for e in owner.get("/api/strategies").json() if e["name"] == "tiny")
    assert entry["command"] == "equilibrist train tiny"
    train("tiny")
    entry = next(e for e in owner.get("/api/strategies").json() if e["name"] == "tiny")
    assert entry["command"] is None
    found = node(owner, "tiny", node="rc/cr", board="AsKdTh")
    strategy = BucketStrategy.of(CompactStrategy.open(folder / "bots/tiny/strategy"))
    hands = found["data"]["hands"]
    v = strategy.tree.parse("rc/cr")
    reach = strategy.reach(v, int(strategy.tree.player[v]), parse_cards("AsKdTh"))
    for name in ("QsJs", "AhAd", "KsTc"):
        at = hands["names"].index(name)
        assert hands["reach"][at] == pytest.approx(reach[hand_index(*parse_cards(name))], abs=1e-5)
        assert sum(hands["probabilities"][at]) == pytest.approx(1, abs=1e-4)
    table = owner.post("/api/tables", json={"player": "tiny", "game": "royal-holdem"})
    assert table.status_code == 201


def test_games_with_one_card_have_a_list_instead_of_a_grid(owner):
    named = open_strategy("uniform")
    assert named.strategy.tree.rules.num_hole_cards == 2
    listed = owner.get("/api/strategies").json()
    assert {"uniform", "always-call"} <= {entry["name"] for entry in listed}


@pytest.mark.parametrize(
    ("place", "status", "words"),
    [
        ({"name": "smalbot"}, 404, "did you mean smallbot"),
        ({"name": "uniform", "node": "x"}, 400, "leads nowhere"),
        ({"name": "uniform", "node": "rc/", "board": "Zz"}, 400, "Zz"),
        ({"name": "uniform", "node": "rc/", "board": "KhKhKh"}, 400, "Kh"),
        ({"name": "uniform", "node": "r" * 500}, 422, "node is invalid"),
        ({"name": "mix:1,1,1"}, 400, "is not a mix"),
        ({"name": "ectomynx"}, 400, "stores no probabilities"),
        ({"node": "r"}, 422, "name is invalid"),
    ],
)
def test_wrong_input_gives_one_sentence(owner, place, status, words):
    answer = owner.get("/api/strategy", params=place)
    assert answer.status_code == status
    assert words in answer.json()["error"]
    assert list(answer.json()) == ["error"]


def test_a_strategy_that_is_solved_again_is_read_again(owner, river, folder):
    before = node(owner, "turn", node="")
    spot, by = river.spot, river.solver
    again = SolvedSpot(spot, by, solve(river.subgame.game, by, Budget(iterations=3)), river.subgame)
    again.save(folder / "turn")
    after = node(owner, "turn", node="")
    assert json.dumps(before) != json.dumps(after)


def test_a_spot_in_big_blinds_is_shown_in_big_blinds(owner, folder):
    spot = Spot.of("Td9d6hQc2s", "AA,76s", "KK", Chips("5.5bb", "20bb"), bets="2bb")
    by, built = spot_solver("cfr+", 32), spot.build()
    solved = SolvedSpot(spot, by, solve(built.game, by, Budget(iterations=5)), built)
    solved.save(folder / "river")
    found = node(owner, "river", node="r2")
    assert [step["pot"] for step in found["steps"]] == [5.5, 7.5]
    assert found["steps"][0]["actions"][1]["words"] == "bet 2"
    assert (found["data"]["pot"], found["data"]["unit"]) == (7.5, "bb")
    report = solved.answers().at("r2")
    assert found["data"]["value"] == pytest.approx(report.mean_value)
    entry = next(e for e in owner.get("/api/strategies").json() if e["name"] == "river")
    assert entry["description"] == "Td9d6hQc2s, pot 5.5, 20 behind (bb)"


# --- values, equities, filters --------------------------------------------------------------------


def numbers(client, name, expected=200, **place):
    answer = client.get("/api/strategy/values", params={"name": name, **place})
    assert answer.status_code == expected, answer.text
    return answer.json()


def test_values_of_a_spot_are_those_of_its_report_and_of_a_best_response(owner, river):
    found, shown = numbers(owner, "turn", node="c"), node(owner, "turn", node="c")["data"]
    report = river.answers().at("c")
    best = river.answers().at("c", rule=BEST)
    assert found["values"] == shown["hands"]["values"]
    assert found["equity"] == shown["hands"]["equity"]
    assert np.array(found["best"])[::-1] == pytest.approx(best.values, abs=1e-5)
    assert found["value"] == pytest.approx(report.mean_value)
    gains = best.values.max(axis=1) - report.value
    assert found["gain"] == pytest.approx(float(report.share @ gains), abs=1e-6)
    assert found["reason"] == ""


def test_a_mix_has_equities_everywhere_and_values_on_the_river(owner):
    flop = numbers(owner, "uniform", node="rc/", board="Kh8d3c")
    names = node(owner, "uniform", node="rc/", board="Kh8d3c")["data"]["hands"]["names"]
    kings = flop["equity"][names.index("KsKd")]
    assert kings == pytest.approx(equity("KsKd", "random", parse_cards("Kh8d3c")).equity, abs=1e-5)
    assert flop["mean_equity"] == pytest.approx(0.5, abs=1e-9)
    assert flop["values"] is None
    assert "known on the river only" in flop["reason"]
    end = numbers(owner, "always-call", node="cc/cc/cc/", board="Kh8d3c5s2d")
    assert end["reason"] == ""
    assert end["gain"] > 0  # a bet with the best hands is always called
    assert end["values"][names.index("KsKd")][0] > 15


def test_hands_are_named_by_what_they_make_with_the_board(owner):
    data = node(owner, "uniform", node="rc/", board="Kh8d3c")["data"]["hands"]
    made = dict(zip(data["names"], data["made"], strict=True))
    words = {name: data["made_names"][made[name]] for name in ("KsKd", "AsAd", "Kd8c", "7s2d")}
    assert words == {
        "KsKd": "three of a kind", "AsAd": "pair", "Kd8c": "two pair", "7s2d": "high card",
    }  # fmt: skip
    assert node(owner, "uniform")["data"]["hands"]["made"] is None


def test_the_hands_of_a_range_are_listed(owner):
    found = owner.get("/api/hands", params={"range": "QQ+:0.5, AhKh"}).json()["weights"]
    assert len(found) == 19
    assert (found["AsAd"], found["AhKh"]) == (0.5, 1.0)
    wrong = owner.get("/api/hands", params={"range": "QQ+,x"})
    assert wrong.status_code == 400
    assert "x" in wrong.json()["error"]
