"""`play` as its users meet it: piped, and at a terminal."""

import io
import os
import pty
import select
import subprocess
import sys

import pytest

from equilibrist.games.catalog import get_game
from equilibrist.games.match_log import read_log


@pytest.fixture
def sit(run, monkeypatch):
    """Plays with some keys piped in."""

    def sit(keys, *arguments):
        monkeypatch.setattr(sys, "stdin", io.StringIO(keys))
        return run("play", *arguments)

    return sit


def test_a_piped_sitting_tells_hands_and_the_running_result(sit):
    result = sit("ssss f ssss\n", "always-call", "--hands", 2, "--seed", 0)
    assert result.returncode == 0
    assert "\x1b" not in result.stdout
    # The published deal of seed 0: 5d5c against 9hQd on 8dAs8s 4h 6d.
    assert "you             5♦ 5♣" in result.stdout
    assert "you win 10: two pair, eights and fives against pair, eights" in result.stdout
    assert "you +10 chips in 1 hand against always-call" in result.stdout
    assert "± " in result.stdout.splitlines()[-4]
    assert "nothing was saved" in result.stdout


def test_hidden_cards_are_not_printed_unless_revealed(sit):
    keys = "a" + "fa" * 9
    hidden = sit(keys, "always-raise", "--hands", 10, "--seed", 0).stdout
    assert "9♥ Q♦" not in hidden
    shown = sit(keys, "always-raise", "--hands", 10, "--seed", 0, "--reveal").stdout
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
    assert "in 3 hands" in result.stdout.splitlines()[-4]


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


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("pokie",), "did you mean poki"),
        (("always-call", "--resume"), "name the file"),
        (("always-call", "--out", "no/such/x.log"), "is no folder"),
        (("always-call", "--out", "x.phhs", "--game", "leduc"), "is not hold'em"),
    ],
)
def test_wrong_input_is_one_sentence(sit, arguments, words):
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
    assert "--resume goes on with it" in result.stderr
    assert path.read_text() == "precious"


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
            assert child.wait(30) == 0
        finally:
            os.close(master)
    assert "you win 10: two pair" in shown
    assert "\x1b[2J" in shown
    assert "you fold" not in shown
    assert len({part.split("m")[0] for part in shown.split("\x1b[")[1:] if "m" in part[:8]}) >= 4


def _until(number, words):
    """What a terminal shows until some words."""
    text = b""
    while words.encode() not in text:
        assert select.select([number], [], [], 60)[0], text
        text += os.read(number, 4096)
    return text.decode(errors="replace")
