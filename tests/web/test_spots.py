"""Ranges, forecasts, the library of spots, runouts, flops and bots, as the API answers them."""

import pytest

from equilibrist.cards.range import parse_range
from equilibrist.games.catalog import get_game
from equilibrist.models.spot import Chips, Spot
from equilibrist.papers.cfr_plus.claims import MEASURED
from equilibrist.solving.flop_study import FlopStudy
from equilibrist.solving.solve import Budget, solve
from equilibrist.solving.spot_run import SolvedSpot, solver
from equilibrist.web import spots
from equilibrist.web.job_requests import SpotRequest

TURN = {
    "kind": "spot", "out": "new", "board": "Td9d6hQc", "oop": "QQ+,AK", "ip": "88-22,AQ",
    "pot": "200", "stack": "900", "bets": "60%,a", "raises": "2.5x",
}  # fmt: skip


def save(name, spot):
    by, built = solver("cfr+", 32), spot.build()
    SolvedSpot(spot, by, solve(built.game, by, Budget(iterations=20)), built).save(name)


@pytest.fixture
def turn(owner):
    """The owner of a folder with a solved turn."""
    save("turn", Spot.of("Td9d6hQc", "AA,76s", "KK,22", Chips(200, 400), bets="60%,a"))
    return owner


@pytest.mark.parametrize("text", ["QQ+, AKs", "random", "T9s:0.5, 72o", "AhKh", "22+, A2s+:0.25"])
def test_a_range_goes_from_text_to_the_grid_and_back(owner, text):
    grid = owner.post("/api/range", json={"text": text}).json()
    found = parse_range(text)
    assert grid["text"] == str(found)
    assert grid["combos"] == pytest.approx(found.num_combos)
    assert len(grid["weights"]) == 169
    assert grid["is_by_class"] == (text != "AhKh")
    again = owner.post("/api/range", json={"weights": grid["weights"]}).json()
    assert again["combos"] == pytest.approx(grid["combos"], rel=1e-3)
    if grid["is_by_class"]:
        assert parse_range(again["text"]) == found


def test_the_grid_of_a_range_begins_with_aces_and_has_suited_hands_above_the_diagonal(owner):
    weights = owner.post("/api/range", json={"text": "AA,AKs:0.5,AKo:0.25,22"}).json()["weights"]
    assert (weights[0], weights[1], weights[13], weights[168]) == (1, 0.5, 0.25, 1)
    assert sum(weights) == 2.75


@pytest.mark.parametrize(
    "body", [{"text": ""}, {"text": "Zz"}, {"weights": [0] * 169}, {"weights": [1] * 168}, {}]
)
def test_a_range_that_cannot_be_read_is_one_sentence(owner, body):
    answer = owner.post("/api/range", json=body)
    assert answer.status_code in (400, 422)
    assert list(answer.json()) == ["error"]


def test_a_forecast_counts_and_refuses_with_advice_that_fits(owner, monkeypatch):
    found = owner.post("/api/spots/forecast", json=TURN).json()
    assert (found["fits"], found["refusal"], found["suggestions"]) == (True, "", [])
    monkeypatch.setattr(spots, "available_bytes", lambda: int(0.7 * found["bytes"]))
    refused = owner.post("/api/spots/forecast", json=TURN).json()
    assert not refused["fits"]
    assert "16 bits needs" in refused["refusal"]
    assert "the button below tries it anyway" in refused["refusal"]
    first = refused["suggestions"][0]
    assert first["changes"] == {"bits": 16}
    smaller = owner.post("/api/spots/forecast", json=TURN | first["changes"]).json()
    assert smaller["fits"]
    assert smaller["bytes"] == first["bytes"]


def test_a_forecast_of_a_study_is_that_of_a_flop(owner):
    body = {k: v for k, v in TURN.items() if k != "board"} | {"kind": "flops", "flops": "3"}
    assert len(owner.post("/api/spots/forecast", json=body).json()["board"]) == 6


@pytest.mark.parametrize(
    ("chips", "options", "lock"),
    [
        (Chips(200, 400, 20), {"bets": "60%,a", "donks": "-"}, "c: c=0.5; r120=0.5"),
        (Chips("5.5bb", "97.25bb,40bb", None, "5%", "3bb"), {"bets": "a", "merge": "10%"}, ""),
        (Chips(45, 97.5), {"bets": "50%,22.5c,a", "max_raises": "2"}, ": c=AA; r22.5=0"),
        (Chips(60), {"game": get_game("holdem-limit")}, "c: c=0.25"),
    ],
)
def test_the_form_of_a_solved_spot_solves_the_same_spot(owner, chips, options, lock):
    locks = [lock] if lock else []
    spot = Spot.of("Td9d6hQc2s", "AA,76s", "KK,22", chips, **options).with_locks(locks)
    save("river", spot)
    form = owner.get("/api/spots/form", params={"name": "river"}).json()
    assert form["lock"] == locks
    assert owner.post("/api/spots/forecast", json=form | {"out": "again"}).json()["locks"] == locks
    assert SpotRequest(**form).spot() == spot


def test_runouts_are_the_nodes_after_every_card(turn):
    found = turn.get("/api/runouts", params={"name": "turn", "node": "cc"}).json()
    assert len(found["cards"]) == 48
    one = next(row for row in found["cards"] if row["card"] == "2s")
    node = turn.get("/api/strategy", params={"name": "turn", "node": "cc/", "runout": "2s"}).json()
    frequencies = [action["frequency"] for action in node["data"]["actions"]]
    assert one["frequencies"] == pytest.approx(frequencies)
    assert one["equity"] == pytest.approx(node["data"]["equity"])
    assert len(found["colours"]) == len(frequencies)
    wrong = turn.get("/api/runouts", params={"name": "turn", "node": "c"})
    assert (wrong.status_code, "no card is dealt" in wrong.json()["error"]) == (400, True)
    wrong = turn.get("/api/runouts", params={"name": "uniform", "node": "c"})
    assert (wrong.status_code, "is no spot" in wrong.json()["error"]) == (400, True)


def test_a_study_of_flops_is_reported_by_flop_and_by_group(owner, folder, serve):
    spot = Spot.of("AsKd2c", "AA,76s", "KK", Chips(20, 20), bets="a / a / a")
    study = FlopStudy.of(spot, solver("cfr+", 32), "AsKd2c:12,Td9d6h:24")
    study.save(folder / "study")
    assert owner.get("/api/spots").json()["studies"][0]["solved"] == 0
    unsolved = owner.get("/api/flops", params={"name": "study"})
    assert (unsolved.status_code, "2 of the 2 flops" in unsolved.json()["error"]) == (404, True)
    report = study.run(Budget(iterations=20), out=folder / "study", nodes=["c"])
    found = owner.get("/api/flops", params={"name": "study", "node": "c", "by": "suits"}).json()
    assert found == study.data(report, "suits", folder / "study") | {
        "out": "study", "nodes": found["nodes"]
    }  # fmt: skip
    assert [node["node"] for node in found["nodes"]] == ["", "c"]
    listed = owner.get("/api/spots").json()["studies"][0]
    assert (listed["name"], listed["flops"], listed["solved"]) == ("study", 2, 2)
    assert owner.get("/api/strategy", params={"name": "study/Td9d6h"}).status_code == 200
    (folder / "study" / "notes").mkdir()
    public = serve(is_public=True)
    public.get("/")
    assert public.get("/api/flops", params={"name": "study", "node": "c"}).status_code == 200
    assert public.get("/api/strategy", params={"name": "study/Td9d6h"}).status_code == 200
    for name in ("study/notes", "study/..", "study/Td9d6h/", "tables/Td9d6h"):
        assert public.get("/api/strategy", params={"name": name}).status_code == 404, name


def test_damaged_folders_are_left_out_of_the_library(turn, folder):
    (folder / "broken").mkdir()
    (folder / "broken" / "manifest.json").write_text("{}")
    (folder / "link").symlink_to(folder / "turn")
    assert [spot["name"] for spot in turn.get("/api/spots").json()["spots"]] == ["turn"]


def test_the_ladder_has_the_published_programs_and_bots_have_pages(owner):
    found = owner.get("/api/bots").json()
    assert {rung["name"]: rung["real_game"] for rung in found["ladder"]} == MEASURED
    values = [rung["real_game"] for rung in found["ladder"]]
    assert values == sorted(values, reverse=True)
    page = owner.get("/api/bots/smallbot").json()
    assert page["command"] == "equilibrist train smallbot"
    assert page["row"]["paper"] == "Zinkevich, Bowling and Burch 2007"
    assert (page["row"]["trained"], page["can_respond"]) == (False, True)
    assert owner.get("/api/bots/nobody").status_code == 404
    assert not owner.get("/api/bots/ectomynx").json()["can_respond"]


def test_a_public_server_shows_bots_without_files_of_this_machine(public, folder):
    (folder / "bots" / "smallbot").mkdir(parents=True)
    for row in public.get("/api/bots").json()["bots"]:
        assert not {"folder", "problem"} & set(row)
