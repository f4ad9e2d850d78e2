"""The result without luck and the cost of decisions, as the page shows them."""

import random
import threading
import time

import pytest

import equilibrist as eq
from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.winnings import winnings
from equilibrist.play.luck import LuckAdjuster
from equilibrist.play.session_file import SavedSession
from equilibrist.players.catalog import make_player
from equilibrist.web import luck


@pytest.fixture
def leduc(owner, folder):
    """A table of ten hands against a solution of Leduc, played at random."""
    eq.solve("leduc", iterations=20).save(folder / "solved")
    table = sit(owner, "solution:solved", "leduc")
    play(owner, table, 10)
    return table["id"]


def sit(client, player, game):
    answer = client.post("/api/tables", json={"player": player, "game": game})
    assert answer.status_code == 201, answer.text
    return answer.json()


def play(client, table, hands, seed=1):
    rng = random.Random(seed)
    while table["score"]["hands"] < hands:
        hand = table["hand"]
        action = "next" if hand["is_over"] else rng.choice(hand["buttons"])["action"]
        move = {"action": action, "hand": hand["number"], "actions": hand["actions"]}
        table = client.post(f"/api/tables/{table['id']}/moves", json=move).json()


def known(client, address):
    """The answer when it is known, or why it never will be."""
    for _ in range(2400):  # kernels may be compiled first
        found = client.get(address).json()
        if found["state"] != "working":
            return found
        assert found["reason"]
        time.sleep(0.05)
    raise AssertionError(found)


def test_the_result_without_luck_is_that_of_the_terminal(owner, folder, leduc):
    found = known(owner, f"/api/tables/{leduc}/luck")
    path = folder / "tables" / f"{leduc}.log"
    (folder / "copy.log").write_bytes(path.read_bytes())
    session = SavedSession.resume(folder / "copy.log", make_player).session
    adjusted = session.luck_adjusted()
    names = ("you", session.player.name)
    wanted = winnings(adjusted.chips[0].tolist(), session.rules, names)
    assert found["hands"] == 10
    assert found["win_rate"] == pytest.approx(wanted["win_rate"])
    assert found["ci95"] == pytest.approx(wanted["ci95"])
    assert found["variance_factor"] == pytest.approx(adjusted.variance_factor)
    assert found["curve"][0] == [0, 0, 0]
    last = [10, sum(session.chips), adjusted.chips.sum()]
    assert found["curve"][-1] == pytest.approx(last)
    assert len(found["curve"]) == 11
    assert found["corrections"] == list(adjusted.corrections)


def test_every_decision_of_yours_has_its_cost(owner, leduc):
    total = 0.0
    for number in range(1, 11):
        costs = known(owner, f"/api/tables/{leduc}/hands/{number}/costs")
        review = owner.get(f"/api/tables/{leduc}/hands/{number}").json()
        story = [step for line in review["story"] for step in line["actions"]]
        assert costs["basis"].startswith("Exact values against solved")
        assert costs["total"] == pytest.approx(sum(each["cost"] for each in costs["decisions"]))
        for decision in costs["decisions"]:
            assert decision["is_exact"]
            assert story[decision["before"]].startswith("you ")
            taken = decision["actions"][decision["taken"]]
            assert taken["words"].split()[0] in story[decision["before"]]
            best = max(action["value"] for action in decision["actions"])
            assert decision["cost"] == pytest.approx(best - taken["value"])
            for action in decision["actions"]:
                assert action["action"] != "f" or action["value"] == 0
        for decision in review["decisions"]:
            assert story[decision["before"]].startswith("solved ")
        total += costs["total"]
    assert total > 0  # the person plays at random


@pytest.mark.parametrize(
    ("player", "game", "reason"),
    [
        ("poki", "holdem-limit", "the strategy of neither you nor poki is known"),
        ("uniform", "discard-holdem", "discards"),
    ],
)
def test_where_values_are_unknown_the_reason_is_given(owner, player, game, reason):
    table = sit(owner, player, game)
    play(owner, table, 1)
    for address in ("luck", "hands/1/costs"):
        found = known(owner, f"/api/tables/{table['id']}/{address}")
        assert found["state"] == "unknown"
        assert reason in found["reason"]


def test_a_hand_in_play_has_no_costs(owner, leduc):
    answer = owner.get(f"/api/tables/{leduc}/hands/11/costs")
    assert answer.status_code == 404
    assert answer.json()["error"] == "hand 11 is not finished: finished hands are 1 to 10"


def test_a_public_server_does_not_compute_gigabytes(public):
    for game in ("holdem-limit", "rhode-island"):
        table = sit(public, "uniform", game)
        found = public.get(f"/api/tables/{table['id']}/luck").json()
        assert found["state"] == "unknown"
        assert "public server" in found["reason"]
    table = sit(public, "uniform", "kuhn")
    assert known(public, f"/api/tables/{table['id']}/luck")["state"] == "known"


def test_values_are_not_forgotten_while_they_are_computed(owner, monkeypatch):
    """Also if more strategies are asked for than are kept, and few computations may wait."""
    until, begun = threading.Event(), []

    def wait(*_):
        begun.append(threading.get_ident())
        assert until.wait(60)
        raise InvalidValueError("computed")

    monkeypatch.setattr(LuckAdjuster, "__init__", wait)
    players = [f"mix:0,0.{number:02},0.{100 - number}" for number in range(1, 13)]
    tables = [sit(owner, player, "kuhn")["id"] for player in players]

    def ask():
        return [owner.get(f"/api/tables/{each}/luck").json() for each in tables]

    assert {found["state"] for found in ask() + ask()} == {"working"}
    assert len(begun) == 1
    until.set()
    monkeypatch.setattr(luck, "_WANTED", 60.0)
    while any(found["state"] == "working" for found in ask()):
        time.sleep(0.01)
    assert {found["reason"] for found in ask()} == {"computed"}
    assert len(begun) == len(players)
    monkeypatch.setattr(luck, "_WANTED", 0.0)
    ask()
    assert len(begun) > len(players)  # only the last ones were kept


def test_a_failure_is_said_and_the_table_goes_on(owner, leduc, monkeypatch):
    def fail(*_):
        raise ValueError("secret")

    monkeypatch.setattr(LuckAdjuster, "__init__", fail)
    found = known(owner, f"/api/tables/{leduc}/luck")
    assert found["state"] == "unknown"
    assert "secret" not in found["reason"]
    assert owner.get(f"/api/tables/{leduc}").status_code == 200
