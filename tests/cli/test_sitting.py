"""`play` as its users meet it: piped, and at a terminal."""

import errno
import io
import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios

import pytest

from equilibrist.games.catalog import get_game
from equilibrist.games.match_log import read_log
from equilibrist.storage import output_file


@pytest.fixture
def sit(run, monkeypatch):
    """Plays with some keys piped in."""

    def sit(keys, *arguments):
        monkeypatch.setattr(sys, "stdin", io.StringIO(keys))
        return run("play", *arguments)

    return sit


def test_a_piped_sitting_prints_hands_and_the_running_result(sit):
    result = sit("ssss f ssss\n", "always-call", "--hands", 2, "--seed", 0)
    assert result.returncode == 0
    assert "\x1b" not in result.stdout
    # The published deal of seed 0: 5d5c against 9hQd on 8dAs8s 4h 6d.
    assert "you             5♦ 5♣" in result.stdout
    assert "you win 10: two pair, eights and fives against a pair of eights" in result.stdout
    assert "you +10 chips in 1 hand against always-call" in result.stdout
    assert result.stdout.count(" chips in 2 hands against always-call") == 1
    assert result.stdout.count("you +10 chips in 1 hand against") == 1
    assert "± " in result.stdout.splitlines()[-4]
    assert "nothing was saved" in result.stdout


def test_hidden_cards_are_not_printed_unless_revealed(sit):
    hidden = sit("a", "always-raise", "--hands", 1, "--seed", 0).stdout
    assert "9♥ Q♦" not in hidden
    shown = sit("a", "always-raise", "--hands", 1, "--seed", 0, "--reveal").stdout
    assert "always-raise had 9♥ Q♦" in shown
    assert "preflop: raises to 20 100%; it raises to 20" in shown


def test_hands_are_saved_and_resumed(sit, answer, tmp_path):
    path = tmp_path / "evening.log"
    assert sit("ssss f ssss q", "always-call", "--out", path).returncode == 0
    assert len(read_log(get_game("holdem-limit"), path).hands) == 2
    result = sit("ssss", "always-call", "--out", path, "--resume", "--hands", 1)
    assert result.returncode == 0
    assert "you are the big blind" in result.stdout
    assert "hand 3, " in result.stdout
    assert "hand 1, " not in result.stdout
    data = answer("log", path)
    assert (data["hands"], data["finished"], data["players"][0]) == (3, True, "you")
    assert sum("in 3 hands" in line for line in result.stdout.splitlines()) >= 1


def test_leaving_in_the_middle_of_a_hand_folds_and_keeps_it(sit, tmp_path):
    path = tmp_path / "evening.phhs"
    result = sit("s f s", "always-raise", "--out", path, "--game", "holdem-nolimit")
    assert result.returncode == 0
    assert path.read_text().count("variant") == 1
    assert '"p1 f"' in path.read_text()


def test_json_leaves_stdout_to_one_object(sit):
    result = sit("s", "always-call", "--game", "kuhn", "--hands", 1, "--json")
    assert result.stdout.count("\n") == 1
    assert '"chips": ' in result.stdout
    assert "hand 1, kuhn, you are first to act" in result.stderr


def test_every_session_has_cards_of_its_own_and_says_its_seed_last(sit, answer, run, tmp_path):
    seeds, deals = [], []
    for name in ("one.log", "two.phhs"):
        path = tmp_path / name
        lines = sit("ssss f ssss", "always-call", "--hands", 2, "--out", path).stdout.splitlines()
        assert lines[-1].startswith("seed ")
        seeds.append(int(lines[-1].split()[1]))
        assert not any(str(seeds[-1]) in line for line in lines[:-1])
        deals.append([line for line in lines if line.startswith("  you ")])
        data = answer("log", path, "--replay")
        assert (data["seed"], data["replayed"], data["hands"]) == (seeds[-1], True, 2)
    assert min(seeds) > 2**100
    assert seeds[0] != seeds[1]
    assert deals[0] != deals[1]
    again = sit("ssss", "always-call", "--hands", 1, "--seed", seeds[0]).stdout
    assert deals[0][0] in again


def test_phh_is_resumed_without_saying_its_seed_again(sit, tmp_path):
    path = tmp_path / "evening.phhs"
    sit("ssss", "always-call", "--hands", 1, "--out", path)
    result = sit("ssss", "always-call", "--hands", 1, "--out", path, "--resume")
    assert "hand 2, " in result.stdout
    assert path.read_text().count("variant") == 2


def test_nobody_plays_without_keys(run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)  # as Python has it where stdin is closed: <&-
    result = run("play", "always-call")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert "stdin is closed" in result.stderr


def test_keys_that_are_no_text_are_no_keys(run, monkeypatch):
    stdin = io.TextIOWrapper(io.BytesIO(b"\xff\xfes\x80sss"), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", stdin)
    result = run("play", "always-call", "--hands", 1)
    assert result.returncode == 0
    assert "is not a key" in result.stdout


def test_a_full_disk_keeps_the_hands_before(sit, tmp_path, monkeypatch):
    path = tmp_path / "evening.log"
    assert sit("ssss", "always-call", "--hands", 1, "--out", path).returncode == 0
    before = path.read_text()
    monkeypatch.setattr(output_file.os, "fsync", _full)
    result = sit("ssss", "always-call", "--out", path, "--resume")
    assert result.returncode == 2
    assert "No space left on device; existing files are unchanged" in result.stderr
    assert result.stderr.count("\n") == 1
    assert path.read_text() == before
    assert [file.name for file in tmp_path.iterdir()] == ["evening.log"]


def _full(number):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("always-call", "--out", "x" * 300), "File name too long"),
        (("always-call", "--out", "x.log", "--resume", "--force"), "give only one"),
        (("pokie",), "did you mean poki"),
        (("always-call", "--resume"), "--resume needs --out"),
        (("always-call", "--out", "no/such/x.log"), "is not a folder"),
        (("always-call", "--out", "x.phhs", "--game", "leduc"), "is not hold'em"),
    ],
)
def test_wrong_input_gives_one_sentence(sit, arguments, words):
    result = sit("", *arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert words in result.stderr


def test_a_file_is_not_overwritten(sit, tmp_path):
    path = tmp_path / "x.log"
    path.write_text("precious")
    result = sit("", "always-call", "--out", path)
    assert result.returncode == 2
    assert "--resume continues it" in result.stderr
    assert path.read_text() == "precious"
    result = sit("ssss", "always-call", "--out", path, "--force", "--hands", 1)
    assert result.returncode == 0
    assert len(read_log(get_game("holdem-limit"), path).hands) == 1


def test_at_a_terminal_keys_act_at_once_in_four_colours():
    master, slave = pty.openpty()
    program = "from equilibrist.cli import main; main()"
    words = ["play", "always-call", "--hands", "1", "--seed", "0"]
    environment = {**os.environ, "TERM": "xterm"}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(
        [sys.executable, "-c", program, *words],
        stdin=slave, stdout=slave, stderr=slave, env=environment,
    ) as child:  # fmt: skip
        os.close(slave)
        try:
            shown = _until(master, "[Q] leave")
            os.write(master, b"\x1b[A")  # an arrow, whose code ends in A, is no fold
            for _ in range(3):
                os.write(master, b"s")
                shown += _until(master, "[Q] leave")
            os.write(master, b"s")
            shown += _until(master, "nothing was saved")
            assert child.wait(600) == 0
        finally:
            os.close(master)
    assert "you win 10: two pair" in shown
    assert "\x1b[2J" in shown
    assert "you fold" not in shown
    assert len({part.split("m")[0] for part in shown.split("\x1b[")[1:] if "m" in part[:8]}) >= 4


def test_a_signal_leaves_the_table_saves_the_hand_and_gives_the_terminal_back(tmp_path):
    master, slave = pty.openpty()
    path = tmp_path / "evening.log"
    words = ["play", "always-raise", "--out", str(path)]
    before = termios.tcgetattr(slave)
    with subprocess.Popen(
        [sys.executable, "-c", "from equilibrist.cli import main; main()", *words],
        stdin=slave, stdout=slave, stderr=slave,
    ) as child:  # fmt: skip
        try:
            _until(master, "[Q] leave")
            assert termios.tcgetattr(slave)[3] != before[3]
            child.send_signal(signal.SIGTERM)
            shown = _until(master, "seed ")
            assert child.wait(600) == 143
            assert termios.tcgetattr(slave)[3] == before[3]
        finally:
            os.close(slave)
            os.close(master)
    assert "you fold" in shown
    (hand,) = read_log(get_game("holdem-limit"), path).hands
    assert hand.state.betting.text == "rf"


def _until(number, words):
    """Return what a terminal shows until some words appear."""
    text = b""
    while words.encode() not in text:
        assert select.select([number], [], [], 600)[0], text
        text += os.read(number, 4096)
    return text.decode(errors="replace")


def test_the_result_without_luck_is_beside_the_plain_one(sit):
    line = ("mix:0.1,0.5,0.4", "--game", "leduc", "--hands", 4, "--seed", 3)
    keys = "ssss" + "fssss" * 3
    result = sit(keys, *line)
    assert result.returncode == 0
    assert "\nluck-adjusted (AIVAT): " in result.stdout
    data = json.loads(sit(keys, *line, "--json").stdout)
    found = data["luck_adjusted"]
    assert found["hands"] == data["hands"] == 4
    assert found["win_rate"] != data["win_rate"]
    assert found["corrections"] == ["cards", "actions of mix 0.1,0.5,0.4", "seats"]
    assert len(found["ci95"]) == 2


def test_the_result_without_luck_is_known_in_limit_holdem(sit):
    result = sit("ssssssss" + "fssssssss" * 3, "always-call", "--hands", 4, "--seed", 3, "--json")
    data = json.loads(result.stdout)
    assert data["luck_adjusted"]["hands"] == 4
    assert data["luck_adjusted"]["win_rate"] != data["win_rate"]
    assert data["luck_adjusted"]["corrections"] == ["cards", "actions of always-call", "seats"]


def test_a_result_whose_luck_is_not_known_is_plain(sit):
    result = sit("ssss", "poki", "--hands", 1, "--json")
    assert json.loads(result.stdout)["luck_adjusted"] is None
