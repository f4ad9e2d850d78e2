"""Finished hands of the table beside solved spots."""

import pytest

from equilibrist.models.spot import Chips, Spot
from equilibrist.solving.solve import Budget, solve
from equilibrist.solving.spot_run import SolvedSpot, solver


def play(client, player, game, wanted):
    """Play a hand by a list of actions, then check or call; return the table."""
    table = client.post("/api/tables", json={"player": player, "game": game}).json()
    while not table["hand"]["is_over"]:
        hand = table["hand"]
        possible = [button["action"] for button in hand["buttons"]]
        action = wanted.pop(0) if wanted else next(each for each in possible if each in "ck")
        move = {"action": action, "hand": 1, "actions": hand["actions"]}
        answer = client.post(f"/api/tables/{table['id']}/moves", json=move)
        assert answer.status_code == 200, answer.text
        table = answer.json()
    return table


def solve_and_save(fields, name, bets="100%,a"):
    chips = Chips(fields["pot"], fields["stack"], blind=fields["blind"])
    spot = Spot.of(fields["board"], "random", "random", chips, bets=bets, raises="a")
    by, built = solver("cfr+", 32), spot.build()
    SolvedSpot(spot, by, solve(built.game, by, Budget(iterations=5)), built).save(name)


def test_decisions_are_valued_by_a_solved_spot_of_the_same_river(owner):
    table = play(owner, "always-call", "holdem-nolimit", ["c", "c", "c", "r200"])
    base = f"/api/tables/{table['id']}/hands/1"
    streets = owner.get(f"{base}/spots").json()
    assert [street["street"] for street in streets] == ["flop", "turn", "river"]
    assert all(street["spots"] == [] for street in streets)
    fields = streets[2]["fields"]
    assert (fields["pot"], fields["stack"], fields["blind"]) == ("200", "19900", "100")
    request = fields | {
        "kind": "spot",
        "out": "x",
        "oop": "random",
        "ip": "random",
        "bets": "100%,a",
    }
    assert owner.post("/api/spots/forecast", json=request).json()["fits"]
    solve_and_save(fields, "river")
    solve_and_save(fields | {"pot": "220"}, "another")
    assert owner.get(f"{base}/spots").json()[2]["spots"] == ["river"]

    costs = owner.get(f"{base}/costs", params={"by": "river"}).json()
    assert costs["state"] == "known"
    assert costs["basis"].startswith("Values of the solution river from ")
    story = [step for line in owner.get(base).json()["story"] for step in line["actions"]]
    assert len(costs["decisions"]) == 1
    for choice in costs["decisions"]:
        assert choice["street"] == "river"
        assert story[choice["before"]] == "you bet 200"
        taken = choice["actions"][choice["taken"]]
        assert taken["words"] == "bet 200"
        best = max(each["value"] for each in choice["actions"])
        assert choice["cost"] == pytest.approx(best - taken["value"])
    report = owner.get(
        "/api/strategy", params={"name": "river", "node": "" if first(owner, base) else "c"}
    ).json()
    hands, hole = report["data"]["hands"], owner.get(base).json()["yours"]
    names = {hole[0] + hole[1], hole[1] + hole[0]}
    row = next(row for row, name in enumerate(hands["names"]) if name in names)
    values = [each["value"] for each in costs["decisions"][0]["actions"]]
    assert values == pytest.approx(hands["values"][row], abs=1e-3)


def first(owner, base):
    """Whether the person acts first after the flop."""
    return owner.get(base).json()["position"] == "the big blind"


def test_what_cannot_be_compared_is_one_sentence(owner):
    table = play(owner, "always-call", "holdem-nolimit", [])
    base = f"/api/tables/{table['id']}/hands/1"
    fields = owner.get(f"{base}/spots").json()[2]["fields"]
    solve_and_save(fields | {"pot": "400", "blind": "200"}, "another")
    for name, words, status in (
        ("another", "this hand does not pass through another", 400),
        ("always-call", "always-call is no solved spot", 400),
        ("../x", "no strategy is called", 404),
    ):
        answer = owner.get(f"{base}/costs", params={"by": name})
        assert answer.status_code == status
        assert words in answer.json()["error"]
    assert owner.get(f"{base.removesuffix('1')}2/spots").status_code == 404
    swaps = play(owner, "always-call", "discard-holdem", [])
    assert owner.get(f"/api/tables/{swaps['id']}/hands/1/spots").json() == []
    leduc = play(owner, "always-call", "leduc", [])
    assert owner.get(f"/api/tables/{leduc['id']}/hands/1/spots").json() == []


def test_streets_of_limit_hold_em_have_the_form_of_a_limit_spot(owner):
    table = play(owner, "always-call", "holdem-limit", [])
    streets = owner.get(f"/api/tables/{table['id']}/hands/1/spots").json()
    assert streets[2]["fields"].keys() == {"game", "board", "pot"}
    request = streets[2]["fields"] | {"kind": "spot", "out": "x", "oop": "AA,76s", "ip": "KK"}
    assert owner.post("/api/spots/forecast", json=request).status_code == 200
