"""A silent command says what it does: a live line on a terminal, now and then a line elsewhere."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys

import pytest

from equilibrist import cli, phases
from equilibrist.cli import heartbeat
from equilibrist.cli.heartbeat import Compilations, Heartbeat, announce, status
from equilibrist.cli.options import Remaining
from equilibrist.cli.paper_rows import ProgressLines
from equilibrist.phases import Phase, phase

CLEAR = "\r\x1b[K"


class Shown:
    """A heartbeat whose clock is set by hand, and what it wrote."""

    def __init__(self, monkeypatch, *, is_terminal, width=80):
        self.now, self.stream = 0.0, io.StringIO()
        monkeypatch.setattr(phases, "clock", lambda: self.now)
        self.heart = Heartbeat(
            self.stream, is_terminal=is_terminal, width=lambda: width, clock=lambda: self.now
        )

    def after(self, seconds):
        """Let time pass in quarters of a second; return what was written meanwhile."""
        before = len(self.stream.getvalue())
        for _ in range(round(4 * seconds)):
            self.now += 0.25
            self.heart.tick()
        return self.stream.getvalue()[before:]

    def others_print(self, text):
        self.heart.pass_on(self.stream, text)


@pytest.fixture
def pipe(monkeypatch):
    return Shown(monkeypatch, is_terminal=False)


@pytest.fixture
def terminal(monkeypatch):
    return Shown(monkeypatch, is_terminal=True)


def test_a_pipe_gets_a_line_before_two_seconds_are_over_and_every_ten_seconds(pipe):
    with phase("building the game"):
        assert pipe.after(1.25) == ""
        assert pipe.after(0.5) == "building the game … (2 s so far)\n"
        assert pipe.after(9.5) == ""
        assert pipe.after(0.5) == "building the game … (12 s so far)\n"


def test_a_new_phase_has_its_line_and_short_ones_have_none(pipe):
    with phase("reading"):
        assert pipe.after(2) == "reading … (2 s so far)\n"
    with phase("checking"):
        assert pipe.after(0.75) == ""
    with phase("solving", total=4, unit="rounds") as work:
        work.advance()
        assert pipe.after(2) == "solving … (1 of 4 rounds, about 0 s left)\n"


def test_phases_that_alternate_do_not_flood_a_pipe(pipe):
    lines = ""
    for _ in range(10):
        for text in ("iterating", "computing best responses"):
            with phase(text):
                lines += pipe.after(2)
    assert len(lines.splitlines()) == 2 * 40 // 10  # each of the two every ten seconds


def test_nothing_is_said_without_a_phase_or_while_others_print(pipe):
    assert pipe.after(30) == ""
    with phase("solving"):
        for _ in range(10):
            pipe.others_print("cfr+ 100: exploitability 1\n")
            assert pipe.after(1) == ""


def test_what_others_said_of_a_phase_is_not_repeated_at_once(pipe):
    with phase("counting deals"):
        pipe.others_print("counting deals …\n")
        assert pipe.after(9) == ""
        assert "counting deals … (10 s so far)" in pipe.after(2)


def test_a_supervisor_gets_phases_as_json_every_two_seconds(pipe, monkeypatch):
    monkeypatch.setenv("EQUILIBRIST_PROGRESS", "json")
    with phase("counting deals", total=4) as counted, phase("sorting"):
        counted.update(1)
        said = [json.loads(text) for text in pipe.after(6).splitlines()]
    assert [(line["progress"], line["name"], line["share"]) for line in said] == [
        ("phase", "sorting", 0.25)
    ] * 3
    assert said[0]["text"].startswith("counting deals (25 %")


def test_a_terminal_has_one_line_that_counts_and_disappears(terminal):
    with phase("building the game"):
        assert terminal.after(1.25) == ""
        assert terminal.after(0.25) == f"{CLEAR}building the game … (2 s so far)"
        assert terminal.after(1.25) == f"{CLEAR}building the game … (3 s so far)"
    assert terminal.after(0.25) == CLEAR


def test_output_of_others_takes_the_place_of_the_live_line(terminal):
    with phase("building"):
        terminal.after(2)
        terminal.others_print("a result\n")
        assert terminal.stream.getvalue().endswith(f"so far){CLEAR}a result\n")
        assert terminal.after(1) == ""
        assert terminal.after(1).startswith(f"{CLEAR}building")


def test_the_live_line_does_not_overwrite_a_line_that_has_not_ended(terminal):
    with phase("building"):
        terminal.others_print("your name? ")
        assert terminal.after(5) == ""
        terminal.others_print("\n\x1b[?25h")
        assert terminal.after(5).startswith(CLEAR)


def test_a_line_that_is_too_wide_leaves_out_what_is_around_the_phase(monkeypatch):
    terminal = Shown(monkeypatch, is_terminal=True, width=50)
    with phase("measuring abstractions", total=8, unit="abstractions") as work:
        work.update(7)
        with phase("solving by cfr+"):
            shown = terminal.after(9).split(CLEAR)
    assert shown[-1] == "solving by cfr+ … (9 s so far)"
    assert len(shown) > 6  # it changes every second


def test_the_live_line_is_cut_to_the_width_of_the_terminal(monkeypatch):
    terminal = Shown(monkeypatch, is_terminal=True, width=20)
    with phase("a phase with a long name"):
        assert terminal.after(2) == f"{CLEAR}a phase with a long"


def test_a_counted_phase_around_the_current_one_is_shown_once_it_has_begun(pipe):
    with phase("4 best responses", total=4) as outer, phase("reading"):
        assert status(phases.under_way()) == "reading … (0 s so far)"
        pipe.now += 10
        outer.update(1)
        assert status(phases.under_way()) == (
            "4 best responses (25 %, about 30 s left): reading … (10 s so far)"
        )


def test_names_from_files_cannot_control_the_terminal():
    assert status([Phase("reading \x1b[2J")]) == "reading ?[2J … (0 s so far)"


def test_an_announced_step_is_the_current_phase_until_the_next(capsys):
    with phase("all"):
        announce("first step")
        assert phases.under_way()[-1].text == "first step"
        announce("second step")
        assert [each.text for each in phases.under_way()] == ["all", "second step"]
    assert capsys.readouterr().err == "first step …\nsecond step …\n"


def test_the_share_of_a_computation_is_its_phase():
    remaining = Remaining("counting deals")
    remaining(0.25)
    assert [(each.text, each.share) for each in phases.under_way()] == [("counting deals", 0.25)]
    remaining(1)
    assert phases.under_way() == ()


def test_tasks_of_a_paper_are_named_once_and_counted(capsys):
    lines = ProgressLines()
    with phase("all"):
        for share in (0.0, 0.3, 0.6):
            lines("a against b", share)
        assert phases.under_way()[-1].share == 0.6
        lines("a against c", 0.0)
    assert capsys.readouterr().err == "a against b …\na against c …\n"


def test_compilations_are_a_phase_whose_seconds_add_up(pipe):
    compilations = Compilations()
    compilations.on_start()
    compilations.on_start()  # a kernel that the first one calls
    assert len(phases.under_way()) == 1
    pipe.now += 5
    compilations.on_end()
    assert status(phases.under_way()) == "compiling kernels, first run only … (5 s so far)"
    compilations.on_end()
    assert phases.under_way() == ()
    compilations.on_start()
    pipe.now += 1
    assert "(6 s so far)" in status(phases.under_way())
    compilations.on_end()
    compilations.on_end()  # began before anybody listened
    assert phases.under_way() == ()


def test_numba_compiles_in_a_phase():
    import numba

    heartbeat.note_compilations()
    heard = []
    with phases.heard_phases(lambda each: heard.append(each.text)):
        numba.njit(lambda x: x + 1)(1)
    assert set(heard) == {"compiling kernels, first run only"}


@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        (["verify", "folder"], ["equilibrist verify"]),
        (["bots", "show", "smallbot"], ["equilibrist bots"]),
        ([], ["equilibrist"]),
        (["--help"], []),
        (["\x1b[2J"], []),
        *(([name], []) for name in ("play", "dealer", "connect", "serve")),
    ],
)
def test_a_command_is_a_phase_unless_it_waits_for_others(monkeypatch, arguments, texts):
    monkeypatch.setattr(sys, "argv", ["equilibrist", *arguments])
    with cli._whole_command():
        assert [each.text for each in phases.under_way()] == texts


def test_both_streams_are_restored_after_the_command():
    before = sys.stdout, sys.stderr
    with heartbeat.beating():
        assert sys.stderr is not before[1]
    assert (sys.stdout, sys.stderr) == before


# A command that computes in compiled code, where Python handles no signal.
PROGRAM = """
import sys
import numba
from equilibrist.cli.interrupts import abandonable

@numba.njit(nogil=True)
def spin(steps):
    total = 0.0
    for step in range(steps):
        total += 1 / (1 + step + total)
    return total

@abandonable
def work():
    spin(1)
    print("ready", flush=True)
    spin(10**13)

work()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_command_with_nothing_to_save_ends_even_inside_compiled_code(number):
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        assert process.stdout.readline() == "ready\n"
        os.kill(process.pid, number)
        _, error = process.communicate(timeout=600)
    finally:
        with contextlib.suppress(OSError):
            process.kill()
    assert (process.returncode, error) == (128 + number, "equilibrist: interrupted\n")
