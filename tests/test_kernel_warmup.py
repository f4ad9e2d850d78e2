"""Warming up: tasks run in processes of their own and leave compiled kernels behind."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import equilibrist as eq
from equilibrist import kernel_warmup
from equilibrist.cli import app
from equilibrist.errors import EquilibristError, InvalidValueError, UnknownNameError
from equilibrist.kernel_warmup import TASKS, Task


def test_every_command_of_a_task_can_be_parsed():
    for task in TASKS:
        for command in task.commands:
            found = CliRunner().invoke(app, [command.split()[0], "--help"])
            options = [word for word in command.split() if word.startswith("--")]
            assert [option for option in options if option not in found.stdout] == []


def test_a_task_leaves_the_kernels_of_its_work_compiled(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(
        kernel_warmup, "TASKS", (Task("ranks", "rank a hand", ("index 7s7h 3dJdAh",)),)
    )
    seen = []
    (done,) = eq.warmup(report=seen.append)
    assert seen == [done]
    assert done.seconds > 0
    assert list(tmp_path.glob("*/*/isomorphism.index_deal-*.nbi"))


def test_a_task_that_fails_is_named(monkeypatch):
    monkeypatch.setattr(kernel_warmup, "TASKS", (Task("bad", "fails", ("rank Zz",)),))
    with pytest.raises(EquilibristError, match=r"the task bad failed: .*Zz"):
        eq.warmup()


def test_an_unknown_task_and_a_number_of_processes_below_one_are_refused():
    with pytest.raises(UnknownNameError, match="the tasks are spots, buckets"):
        eq.warmup(["rivers"])
    with pytest.raises(InvalidValueError, match="at least 1, not 0"):
        eq.warmup(processes=0)


def test_the_command_prints_one_json_object(tmp_path):
    found = subprocess.run(
        [sys.executable, "-m", "equilibrist", "warmup", "equities", "--json"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    data = json.loads(found.stdout)
    assert [task["name"] for task in data["tasks"]] == ["equities"]
    assert data["seconds"] >= data["tasks"][0]["seconds"]
