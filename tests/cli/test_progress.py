"""Output during a run: numbers, forecasts, lines and the panel."""

import json
import os
import pty
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equilibrist.cli import progress
from equilibrist.cli.progress import Lines, details, iterations_to, line, shown, standing
from equilibrist.games.catalog import get_game
from equilibrist.solving.solve import Budget, Row, Run
from equilibrist.solving.target import Target
from equilibrist.strategies.evaluation import Evaluation

TARGET = Budget(target=1 / 400)
LEFT = re.compile(
    r"(at most )?about [\d,]+(\.\d)? (s|min|h|d)( \d+ (h|min|s))? (left|to the target)"
)


def make_run(evaluated, *, iteration=None, seconds=None, level=lambda t: 1 / t, **state) -> Run:
    """A run of one iteration per second, evaluated after some iterations."""
    rows = [
        Row(t, float(t), Evaluation(-0.1, (level(t) - 0.1, level(t) + 0.1), "chips"))
        for t in evaluated
    ]
    now = evaluated[-1] if iteration is None else iteration
    state = {"iteration": np.array(now)} | {name: np.array(v) for name, v in state.items()}
    return Run(state, rows, float(now if seconds is None else seconds))


# --- how long it still takes ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("budget", "run", "left"),
    [
        # By the budgets that are given, whichever ends first.
        (Budget(iterations=150), make_run([50, 100]), "about 50.0 s left"),
        (Budget(seconds=130), make_run([50, 100]), "about 30.0 s left"),
        (Budget(iterations=150, seconds=130), make_run([50, 100]), "about 30.0 s left"),
        (Budget(iterations=100_100), make_run([50, 100]), "about 1 d 3 h left"),
        # Methods that end by themselves may end sooner.
        (
            Budget(iterations=150),
            make_run([50, 100], finished=False),
            "at most about 50.0 s left",
        ),
        (Budget(iterations=150), make_run([50, 100], finished=True), ""),
        (Budget(seconds=150), make_run([50, 100], finished=True), ""),
        # By the trend: 1 / t is 1/400 at 400, and the next evaluation is after 500.
        (TARGET, make_run([20, 50, 100]), "about 6 min 40 s to the target"),
        (replace(TARGET, every=50), make_run([20, 50, 100]), "about 5 min 0 s to the target"),
        # Between evaluations the clock keeps running.
        (TARGET, make_run([20, 50, 100], iteration=300), "about 3 min 20 s to the target"),
        # The budget ends before the target is met; or nobody knows when that is.
        (Budget(150, 1 / 400), make_run([20, 50, 100]), "about 50.0 s left"),
        (Budget(150, 1 / 400), make_run([100]), "at most about 50.0 s left"),
        # Nothing is said where nothing is known: too few evaluations, no fall, too far, passed by.
        (Budget(target=0.1), make_run([1, 2]), ""),
        (Budget(target=0.1), make_run([20, 50, 100], level=lambda t: 1.0), ""),
        (Budget(target=0.1), make_run([20, 50, 100], level=lambda t: t), ""),
        (Budget(target=1e-9), make_run([20, 50, 100]), ""),
        (TARGET, make_run([20, 50, 100], iteration=600), ""),
        (Budget(target=0.1), make_run([20, 50, 100]), ""),
        (Budget(target=0.1), make_run([20, 50, 100], level=lambda t: 0.0), ""),
        (Budget(iterations=100), make_run([50, 100]), ""),
        (Budget(seconds=90), make_run([50, 100]), ""),
        (Budget(iterations=100), make_run([1], iteration=0, seconds=0), ""),
    ],
)  # fmt: skip
def test_what_is_left_is_printed_if_it_is_known(budget, run, left):
    assert standing(run, budget).left == left


@given(
    levels=st.lists(st.floats(-1e-9, 1e3, allow_subnormal=False), min_size=0, max_size=12),
    later=st.integers(0, 10**6),
    pace=st.floats(1e-9, 1e6),
    budget=st.builds(
        Budget,
        st.none() | st.integers(1, 10**9),
        st.none() | st.floats(1e-12, 1e3),
        st.none() | st.floats(1e-3, 1e9),
        st.none() | st.integers(1, 10**6),
    ),
)
def test_no_forecast_is_negative_or_absurd(levels, later, pace, budget):
    evaluated = [10 ** (i // 3) * (1, 2, 5)[i % 3] for i in range(len(levels))]
    rows = [
        Row(t, t * pace, Evaluation(0, (2 * level, 0.0), "chips"))
        for t, level in zip(evaluated, levels, strict=True)
    ]
    now = (evaluated[-1] if evaluated else 0) + later
    left = standing(Run({"iteration": np.array(now)}, rows, now * pace), budget).left
    assert left == "" or LEFT.fullmatch(left)
    if "target" in left:  # no trend is followed to more than a hundred times the iterations
        goal = iterations_to(budget.target, rows, budget.every)
        assert now < goal <= 250 * evaluated[-1] + (budget.every or 0)


def test_the_rate_is_that_of_late():
    run = make_run([1, 2, 5, 10])
    run.trace.append(Row(20, 110.0, run.trace[-1].evaluation))  # ten times slower since 10
    run.state["iteration"], run.seconds = np.array(20), 110.0
    assert standing(run, Budget()).rate == pytest.approx(0.1)


# --- words ----------------------------------------------------------------------------------------


def test_a_line_has_units_and_both_best_responses():
    now = standing(make_run([20, 50, 100]), Budget(iterations=150))
    assert line("cfr+", now) == (
        "cfr+ 100: exploitability 1.000e-02 chips (-0.09, 0.11), 1.0 iterations/s, 1 min 40 s, "
        "about 50.0 s left"
    )


def test_with_a_rake_lines_and_panel_say_what_is_measured():
    run = Run({"iteration": np.array(40)}, [], 2.0)
    run.trace.append(Row(40, 2.0, Evaluation(-1.0, (-0.5, 0.5), "bb", rake=0.4)))
    now = standing(run, Budget())
    assert line("dcfr", now, 5.0).startswith(
        "dcfr 40: mean gain by deviating 2.000e-01 bb (4 % of the pot) (-0.5, 0.5), "
    )
    assert ("mean gain by deviating", "2.000e-01 bb (4 % of the pot)") in details(
        now, Budget(), 1.0, None, 5.0
    )


def test_the_panel_says_what_is_known():
    now = standing(make_run([20, 50, 100], iteration=120), Budget(150, 0.001))
    goal = Target.parse("0.1mbb").of_game("limit", get_game("holdem-limit"))
    limits = Budget(150, goal.chips)
    assert details(now, limits, elapsed=130.0, memory=3 * 2**30, goal=goal) == [
        ("iteration", "120 of 150"),
        ("exploitability", "1.000e-02 chips at 100"),
        ("target", "0.001 chips (0.1 mbb/g)"),
        ("best responses", "-0.09 and 0.11 chips"),
        ("speed", "1.0 iterations/s"),
        ("time", "2 min 10 s, about 30.0 s left"),
        ("memory", "3.0 GiB"),
    ]


def test_lines_begin_with_the_target_and_its_unit(capsys):
    goal = Target.parse("0.3%").of_game("a spot", None, pot=200)
    Lines(200, goal).begin("dcfr", Budget(target=goal.chips))
    assert capsys.readouterr().err == "dcfr: target 0.6 chips (0.3 % of the pot)\n"


def test_before_the_first_evaluation_the_panel_says_so():
    run = Run({"iteration": np.array(3)}, [], 0.0)
    assert details(standing(run, Budget()), Budget(), 1.0, None) == [
        ("iteration", "3"),
        ("evaluation", "not yet"),
        ("time", "1.0 s"),
    ]


def test_the_memory_in_use_is_that_of_this_process():
    before = progress.memory_in_use()
    if before is None:
        pytest.skip("this system does not say")
    block = np.ones(2**24)
    assert progress.memory_in_use() - before > 0.9 * block.nbytes


# --- showing it -----------------------------------------------------------------------------------


def test_lines_come_after_evaluations_and_not_too_often(capsys, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    lines, run = Lines(), make_run([1, 2])
    lines.begin("egt", Budget())
    for seconds, evaluated in ((0, [1]), (1, [1, 2]), (5, [1, 2]), (6, [1, 2, 5])):
        clock[0] = 100.0 + seconds
        run.trace[:] = make_run(evaluated).trace
        lines(run)
    said = capsys.readouterr().err.splitlines()
    assert [text.count("egt") for text in said] == [1, 1]  # not at 1 s, and nothing new at 5 s
    clock[0], run.state["iteration"] = 100.0 + 70, np.array(7)
    lines(run)  # nothing new, but a minute is over
    said = capsys.readouterr().err
    assert said.startswith("egt 7: exploitability ")
    assert "at 5, " in said


def test_a_supervisor_gets_every_evaluation_as_json(capsys, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    monkeypatch.setenv("EQUILIBRIST_PROGRESS", "json")
    goal, numbers = Target.parse("0.3%").of_game("a spot", None, pot=200), range(1, 300)
    with shown("spot", "", plain=True, pot=200, goal=goal) as view:
        view.begin("dcfr", Budget(target=goal.chips))
        for seconds, evaluated in ((0, [1]), (0.1, [1, 2]), (1, [1, 2, 5]), (1.1, numbers)):
            clock[0] = 100.0 + seconds
            view(make_run(evaluated))
    said = [json.loads(text) for text in capsys.readouterr().err.splitlines()]
    assert said[0] == {
        "progress": "run", "method": "dcfr", "pot": 200, "target": 0.6, "to": "0.3%"
    }  # fmt: skip
    at = [[point[0] for point in line["points"]] for line in said[1:]]
    assert at[:2] == [[1], [2, 5]]  # nothing at 0.1 s
    assert len(at) == 3  # and the end, at 1.1 s
    assert len(at[2]) <= 100
    assert at[2][-1] == 299
    assert {line["unit"] for line in said[1:]} == {"chips"}


def on_a_terminal(*arguments: str) -> tuple[str, str]:
    """Return stdout, and what a terminal at stderr receives."""
    terminal, end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", "from equilibrist.cli import main; main()", *arguments],
        stdout=subprocess.PIPE, stderr=end, text=True, env=os.environ | {"TERM": "xterm"},
    )  # fmt: skip
    os.close(end)
    drawn = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        drawn += part
    os.close(terminal)
    out = process.communicate()[0]
    assert process.returncode == 0
    return out, drawn.decode()


def test_a_terminal_sees_a_panel_that_goes_away():
    out, drawn = on_a_terminal("solve", "kuhn", "--iterations", "2000")
    assert out.startswith("kuhn by cfr+: value -0.055")
    for words in ("kuhn by cfr+", "2,000 of 2,000", "exploitability", "best responses", "memory"):
        assert words in drawn
    assert drawn.rstrip().endswith("\x1b[2K")  # every line of it is erased at the end


def test_a_comparison_shows_what_earlier_methods_came_to():
    out, drawn = on_a_terminal("compare", "kuhn", "--methods", "cfr+,lp", "--seconds", "0.5")
    assert "kuhn by lp" in drawn
    assert drawn.index("exploitability, chips") < drawn.index("kuhn by lp")
    assert len(out.splitlines()) == 4


def test_json_is_never_beside_a_panel():
    out, drawn = on_a_terminal("solve", "kuhn", "--iterations", "20", "--json")
    assert out.startswith("{")
    assert "╭" not in drawn
    assert drawn.startswith("cfr+ 1: exploitability")
