"""`equilibrist spot`: solving, opening, asking, locking, resuming, complaining."""

import csv
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from equilibrist.errors import InvalidValueError
from equilibrist.models.spot import Chips, Spot
from equilibrist.solving.forecast import spot_forecast
from equilibrist.solving.suggestions import check_fits
from equilibrist.storage import array_file
from equilibrist.storage.artefact import open_artefact

GAME = """GAMEDEF
nolimit
numPlayers = 2
numRounds = 4
stack = 20000 20000
blind = 100 50
firstPlayer = 2 1 1 1
numSuits = 4
numRanks = 5
numHoleCards = 2
numBoardCards = 0 3 1 1
END GAMEDEF
"""


@pytest.fixture
def turn(tmp_path):
    """Options of a small turn spot, of the cards from ten to ace."""
    path = tmp_path / "royal.game"
    path.write_text(GAME)
    return [
        "--game", path, "--board", "AsKsQhTh", "--oop", "JJ,AK,KQs:0.5,QTo",
        "--ip", "AQ,QQ,JTo:0.75,KJs", "--pot", "40", "--stack", "90", "--bets", "50%,a",
        "--raises", "a",
    ]  # fmt: skip


def test_a_spot_is_solved_to_a_share_of_the_pot_and_opened_again(answer, run, turn, tmp_path):
    out = tmp_path / "solved"
    solved = answer("spot", *turn, "--to", "0.3%", "--out", out)
    assert solved["unit"] == "chips"
    assert solved["exploitability"] <= 0.003 * 40
    assert solved["percent_of_pot"] == pytest.approx(100 * solved["exploitability"] / 40)
    assert solved["outcome"] == "target_reached"
    assert (solved["target"], solved["to"]) == (0.12, "0.3%")
    assert 0 < solved["value"] < 40
    assert "checked" not in solved
    opened = answer("spot", out)
    assert opened["checked"] == ["checksums", "schema"]
    assert opened["exploitability"] == solved["exploitability"]
    assert opened["node"] == solved["node"]
    assert opened["node"]["player"] == "oop"
    assert opened["node"]["actions"] == ["c", "r20", "r90"]
    assert sum(opened["node"]["frequencies"]) == pytest.approx(1)
    assert opened["node"]["value"] == pytest.approx(solved["value"], abs=1e-3)
    proved = answer("exploit", out)
    assert proved["matches"]
    for name in ("value", "values", "best_response", "net_value", "exploitability", "pot",
                 "percent_of_pot", "accounting"):  # fmt: skip
        assert proved[name] == pytest.approx(solved[name]), name
    # Each seat's share of the pot: both sum to it; a best response gains on it.
    assert sum(proved["values"]) == pytest.approx(40)
    assert proved["value"] == proved["values"][0] == pytest.approx(20 + proved["net_value"])
    gains = [
        best - own for best, own in zip(proved["best_response"], proved["values"], strict=True)
    ]
    assert min(gains) >= -1e-6
    assert sum(gains) == pytest.approx(proved["nash_conv"])
    assert sum(proved["net_best_response"]) == pytest.approx(proved["nash_conv"])
    for command in ("spot", "exploit"):
        text = run(command, out).stdout
        first, second = proved["values"]
        assert f"out of position expects {first:.4g}, in position {second:.4g} of 40 chips" in text
        assert "(each seat's share of the pot, net of its later bets)" in text


RIVER = ["--board", "Td9d6hQc2s", "--oop", "QQ+,AK", "--ip", "88-22,AQ", "--bets", "2.5bb,a"]


def test_a_rake_in_big_blinds_is_solved_shown_and_proved(answer, run, tmp_path):
    out = tmp_path / "raked"
    money = ["--pot", "5.5bb", "--stack", "97.25bb,120bb", "--rake", "5%", "--rake-cap", "0.4bb"]
    solved = answer("spot", *RIVER, *money, "--to", "5mbb", "--out", out)
    assert (solved["unit"], solved["pot"], solved["stack"]) == ("bb", 5.5, 97.25)
    assert solved["stacks"] == [97.25, 120]
    assert (solved["rake"], solved["rake_cap"]) == ("5%", "0.4bb")
    assert (solved["target"], solved["to"]) == (0.005, "5mbb")
    assert solved["value"] is None
    assert solved["net_value"] is None
    assert sum(solved["values"]) + solved["expected_rake"] == pytest.approx(5.5, abs=1e-4)
    assert sum(solved["gains"]) / 2 == pytest.approx(solved["exploitability"])
    assert solved["exploitability"] <= 0.005
    assert solved["node"]["actions"] == ["c", "r2.5", "r97.25"]
    assert solved["node"]["action_words"] == ["check", "bet 2.5", "bet 97.25"]
    assert solved["node"]["unit"] == "bb"
    proved = answer("exploit", out)
    assert proved["matches"]
    for name in ("value", "values", "best_response", "gains", "expected_rake", "exploitability",
                 "pot", "accounting"):  # fmt: skip
        assert proved[name] == pytest.approx(solved[name]), name
    node = answer("spot", out, "--node", "r2.5")["node"]
    assert (node["pot"], node["actions"][:2]) == (8, ["f", "c"])
    assert node["action_words"][1] == "call 2.5"
    for command in ("spot", "exploit"):
        text = run(command, out).stdout
        first, second = solved["gains"]
        assert f"gains out of position {first:.4g}, in position {second:.4g} bb, mean" in text
        assert "net of its later bets and of the rake" in text
        assert "exploitability" not in text
        assert "game value" not in text
    shown = run("spot", out).stdout
    assert "pot 5.5 bb, 97.25 bb behind (the effective stack of 97.25 and 120)" in shown
    assert "rake 5% up to 0.4 bb" in shown
    locked = answer("spot", out, "--lock", "r2.5: f=1; c=0; r97.25=0", "--iterations", "5")
    assert (locked["rake"], locked["stacks"]) == ("5%", [97.25, 120])
    refused = run("spot", out, "--rake", "3%")
    assert refused.returncode == 2
    assert "already says what is solved" in refused.stderr


def test_an_odd_pot_is_shown_in_the_chips_that_were_given(answer, turn):
    odd = answer("spot", *turn, "--pot", "41", "--iterations", "5")
    assert (odd["pot"], odd["unit"], odd["node"]["pot"]) == (41, "chips", 41)
    assert odd["node"]["actions"] == ["c", "r20.5", "r90"]
    assert sum(odd["values"]) == pytest.approx(41)


def test_a_large_spot_says_that_only_what_was_read_was_checked(
    answer, run, turn, tmp_path, monkeypatch
):
    monkeypatch.setattr(array_file, "LARGE_BYTES", 1000)
    monkeypatch.setattr(array_file, "BLOCK_BYTES", 512)
    out = tmp_path / "solved"
    answer("spot", *turn, "--iterations", "5", "--out", out)
    assert answer("spot", out)["checked"] == ["checksums of the blocks that were read", "schema"]
    assert run("spot", out).stdout.endswith(
        f"{out}: all checksums of the data read match; `equilibrist verify` checks all data\n"
    )


def test_nodes_runouts_tables_and_pictures(answer, run, turn, tmp_path):
    out = tmp_path / "solved"
    answer("spot", *turn, "--iterations", "50", "--method", "dcfr", "--out", out)
    node = answer("spot", out, "--node", "cr20c/", "--runout", "Jd")["node"]
    assert node["board"] == "AsKsQhThJd"
    assert node["pot"] == 80
    rivers = answer("spot", out, "--node", "cr20c", "--runouts")["runouts"]
    for option in ("--plot", "--csv"):
        refused = run("spot", out, "--node", "cr20c", "--runouts", option, tmp_path / "none.png")
        assert refused.returncode == 2
        assert "leave out --runouts" in refused.stderr
    assert not (tmp_path / "none.png").exists()
    assert len(rivers) == 16
    same = next(river for river in rivers if river["board"].endswith("Jd"))
    assert same["frequencies"] == node["frequencies"]
    table, picture = tmp_path / "node.csv", tmp_path / "node.png"
    shown = run("spot", out, "--node", "c", "--hands", "QQ", "--csv", table, "--plot", picture)
    assert shown.returncode == 0, shown.stderr
    assert "in position acts at 'c'" in shown.stdout
    assert shown.stdout.count("QdQc") == 1
    assert picture.read_bytes().startswith(b"\x89PNG")
    with table.open() as file:
        rows = list(csv.DictReader(file))
    data = answer("spot", out, "--node", "c")["node"]
    assert [row["hand"] for row in rows] == [hand["hand"] for hand in data["hands"]]
    assert float(rows[0]["value r90"]) == pytest.approx(data["hands"][0]["values"][-1], rel=1e-6)


def test_a_locked_node_is_solved_again_and_exploited(answer, turn, tmp_path):
    out, locked = tmp_path / "free", tmp_path / "locked"
    free = answer("spot", *turn, "--to", "0.2%", "--out", out)
    bound = answer("spot", out, "--lock", "r90: c=1", "--to", "0.2%", "--out", locked)
    assert bound["locks"] == ["r90: c=1"]
    assert bound["value"] > free["value"]
    node = answer("spot", locked, "--node", "r90")["node"]
    assert node["actions"] == ["f", "c"]
    assert node["frequencies"] == pytest.approx([0, 1], abs=1e-5)


def test_a_run_continues_where_it_stopped(answer, turn, tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    answer("spot", *turn, "--iterations", "60", "--out", whole)
    answer("spot", *turn, "--iterations", "25", "--out", parts)
    answer("spot", *turn, "--iterations", "40", "--out", parts, "--resume")
    answer("spot", parts, "--iterations", "60")
    assert_same(whole, parts)


def test_a_run_keeps_its_method_and_a_new_one_takes_the_default(answer, run, turn, tmp_path):
    """Spots that were saved when cfr+ was the default continue by cfr+."""
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    plus = ("--method", "cfr+")
    answer("spot", *turn, *plus, "--iterations", "30", "--out", whole)
    answer("spot", *turn, *plus, "--iterations", "10", "--out", parts)
    assert (
        answer("spot", *turn, "--iterations", "20", "--out", parts, "--resume")["method"] == "cfr+"
    )
    assert answer("spot", parts, "--iterations", "30")["method"] == "cfr+"
    assert_same(whole, parts)
    other = run("spot", *turn, "--method", "dcfr", "--iterations", "40", "--out", parts, "--resume")
    assert other.returncode == 2
    assert "method cfr+, not dcfr" in other.stderr
    assert answer("spot", *turn, "--iterations", "1")["method"] == "log-dcfr+"
    for option in (["--method", "dcfr"], ["--bits", "16"], ["--limit"]):
        ignored = run("spot", parts, *option, "--iterations", "40")
        assert ignored.returncode == 2
        assert f"{parts} already says what is solved and how: leave out {option[0]}\n" in (
            ignored.stderr
        )


def assert_same(first, second):
    one, other = open_artefact(first), open_artefact(second)
    assert one.info["iterations"] == other.info["iterations"]
    for name, array in one.arrays.items():
        if name != "trace":
            np.testing.assert_array_equal(array, other.arrays[name])


@pytest.mark.slow
def test_a_run_killed_at_random_ends_with_the_same_tables(answer, turn, tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    answer("spot", *turn, "--iterations", "20000", "--out", whole)
    command = [sys.executable, "-c", "from equilibrist.cli import main; main()", "spot"]
    command += [*map(str, turn), "--iterations", "20000", "--out", str(killed)]
    for attempt in range(3):
        resume = ["--resume"] if (killed / "manifest.json").exists() else []
        process = subprocess.Popen(
            [*command, *resume], env=os.environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        written = mtime(killed)
        while process.poll() is None and mtime(killed) == written:
            time.sleep(0.01)
        time.sleep(0.05 * attempt)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    answer("spot", *turn, "--iterations", "20000", "--out", killed, "--resume")
    assert_same(whole, killed)


def mtime(folder):
    path = folder / "manifest.json"
    return path.stat().st_mtime_ns if path.exists() else None


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"--oop": "AhAd", "--ip": "AhAd"}, "no hands of the ranges can meet"),
        ({"--board": "AsKsQhAs"}, "As"),
        ({"--board": "AsKs"}, "must start on a board of 3, 4, 5 cards"),
        ({"--bets": "2.5x"}, "nobody can bet on"),
        ({"--bets": "50"}, "is not a bet size"),
        ({"--pot": "0"}, "the pot must be above 0"),
        ({"--pot": "-41"}, "the pot must be an amount of at most three decimals"),
        ({"--pot": "4bb"}, "the stack, 90, is in chips, but other amounts are in big blinds"),
        ({"--stack": "90bb"}, "the stack, 90bb, is in big blinds, but other amounts are in chips"),
        ({"--rake": "100%"}, "from 0% to below 100%, such as 5%"),
        ({"--rake-cap": "3"}, "the cap of the rake, 3, needs a rake such as 5%"),
        ({"--to": "soon"}, "a number with a unit, such as 5mbb, 0.3% of the pot"),
        ({"--to": "5mbb"}, "the spot on AsKsQhTh has no big blind in which 5mbb could be counted"),
        ({"--bits": "8"}, "bits must be 16 or 32"),
        ({"--donks": "x"}, "'x' at character 1 of 'x' is not a bet size"),
        ({"--donks": "33% | a"}, "donks of a menu have no seats"),
        ({"--donks": "a / a / a"}, "the bet menu has 3 streets; 2 are left"),
        ({"--merge": "-5%"}, "merge must be a percentage from 0% to 1000000%, such as 20%"),
        ({"--add-all-in": "nan"}, "add_all_in must be a percentage"),
        ({"--force-all-in": "20"}, "force_all_in must be a percentage"),
        ({"--bets": "-"}, "nobody can bet on"),
        ({"--method": "lp"}, "log-dcfr+, dcfr+, dcfr, linear-cfr, cfr+, cfr, not 'lp'"),
        ({"--lock": "c: f=1"}, "not one of the actions"),
        ({"--node": "x"}, "not a node of this spot"),
        ({"--game": "kuhn"}, "a spot must be of hold'em"),
    ],
)
def test_bad_input_gives_one_sentence(run, turn, changes, complaint):
    options = dict(zip(turn[::2], turn[1::2], strict=True)) | {"--iterations": "1"} | changes
    result = run("spot", *(word for pair in options.items() for word in pair))
    assert result.returncode == 2
    assert complaint in result.stderr.splitlines()[-1]
    assert result.stdout == ""


def test_what_does_not_fit_says_what_would(run, turn, monkeypatch):
    monkeypatch.setattr("equilibrist.solving.suggestions.available_bytes", lambda: 10_000)
    result = run("spot", *turn)
    assert result.returncode == 2
    assert (
        "0.0 MiB are free: even --max-raises 1 --bets a --bits 16 (without 50%) needs"
        in result.stderr
    )
    assert "take fewer hands or a later street; --force tries it anyway" in result.stderr
    spot = Spot.of("Td9d6hQc", "QQ+", "AK", Chips(pot=20, stack=90), bets="a")
    sizes = [spot_forecast(spot, bits).bytes for bits in (16, 32)]
    free = sum(sizes) // 2
    monkeypatch.setattr("equilibrist.solving.suggestions.available_bytes", lambda: free)
    with pytest.raises(InvalidValueError, match=r"are free: bits=16 needs .*; force tries it"):
        check_fits(spot, spot_forecast(spot))
    check_fits(spot, spot_forecast(spot, 16))


def test_a_forecast_names_what_would_fit_without_solving(answer, run, turn, monkeypatch, tmp_path):
    out = tmp_path / "solved"
    fits = answer("spot", *turn, "--forecast", "--out", out)
    assert (fits["fits"], fits["suggestions"], out.exists()) == (True, [], False)
    assert fits["menu"] == answer("spot", *turn, "--iterations", "1")["menu"]
    monkeypatch.setattr("equilibrist.storage.memory.available_bytes", lambda: fits["bytes"] - 1)
    short = answer("spot", *turn, "--forecast")
    assert not short["fits"]
    assert short["suggestions"][0]["changes"] == {"bits": 16}
    for found in short["suggestions"]:
        assert found["fits"]
        changes = [
            (f"--{name.replace('_', '-')}", value) for name, value in found["changes"].items()
        ]
        changed = dict(zip(turn[::2], turn[1::2], strict=True)) | dict(changes)
        words = [str(word) for pair in changed.items() for word in pair]
        again = answer("spot", *words, "--forecast")
        assert (again["bytes"], again["actions"]) == (found["bytes"], found["actions"])
    text = run("spot", *turn, "--forecast").stdout
    assert "would fit, cheapest cut first:\n  --bits 16 needs" in text
    assert max(map(len, text.splitlines())) <= 80


def test_donks_and_thresholds_are_stored_with_a_spot(answer, run, turn, tmp_path):
    out = tmp_path / "solved"
    options = ["--donks", "-", "--merge", "10%", "--force-all-in", "20%", "--add-all-in", "150%"]
    solved = answer("spot", *turn, *options, "--iterations", "1", "--out", out)
    words = "; donks - / - / -; add all-in 150%; force all-in 20%; merge 10%"
    assert solved["menu"].endswith(words)
    assert answer("spot", out)["menu"] == solved["menu"]
    plain = run("spot", *turn, "--iterations", "2", "--out", out, "--resume")
    assert plain.returncode == 2
    assert "started with another spot" in plain.stderr
    same = run("spot", *turn, *options, "--iterations", "2", "--out", out, "--resume")
    assert same.returncode == 0
    described = run("spot", out, "--donks", "33%", "--pot", "40")
    assert described.returncode == 2
    assert "already says what is solved and how: leave out --pot and --donks" in described.stderr


def test_min_bet_is_another_name_of_blind(answer, turn):
    tiny = [*turn[:-4], "--bets", "1%", "--raises", "1%", "--iterations", "1"]
    shown = answer("spot", *tiny, "--min-bet", "20")
    assert shown["node"]["actions"] == ["c", "r20"]
    assert answer("spot", *tiny, "--blind", "20")["node"]["actions"] == ["c", "r20"]
    faced = answer("spot", *tiny, "--min-bet", "20", "--node", "r20")
    assert faced["node"]["actions"] == ["f", "c", "r40"]  # at least the last raise


def test_a_folder_with_a_solution_is_not_overwritten_nor_taken_for_another(run, turn, tmp_path):
    out = tmp_path / "solved"
    assert run("spot", *turn, "--iterations", "1", "--out", out).returncode == 0
    again = run("spot", *turn, "--iterations", "1", "--out", out)
    assert again.returncode == 2
    assert "holds a spot" in again.stderr
    other = [*turn[:-1], "2.5x"]
    resumed = run("spot", *other, "--iterations", "2", "--out", out, "--resume")
    assert resumed.returncode == 2
    assert "started with another spot" in resumed.stderr


def test_the_ranges_of_a_spot_are_wrapped(run):
    wide = "22+,A2s+,K2s+,Q2s+,J2s+,T2s+,92s+,82s+,A2o,A4o,A6o,A8o,K3o,K5o,K7o,Q2o,Q4o,Q6o,J3o"
    result = run(
        "spot", "--board", "Td9d6hQc2s", "--oop", wide, "--ip", wide, "--pot", 100, "--stack", 100,
        "--bets", "a", "--iterations", 1,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    lines = result.stderr.splitlines()
    assert lines[0].startswith("out of position: 22+, ")
    assert sum(line.endswith(" hands)") for line in lines) == 2
    assert all(len(line) <= 80 for line in lines[:6])
