"""Fixtures that run commands in the process of the tests."""

import json
import sys
from typing import NamedTuple

import pytest

from equilibrist import cli


class Result(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def run(capsys, monkeypatch):
    """Runs a command line and returns its exit code and what it printed."""

    def run(*arguments) -> Result:
        monkeypatch.setattr(sys, "argv", ["equilibrist", *map(str, arguments)])
        return Result(cli.run(), *capsys.readouterr())

    return run


@pytest.fixture
def answer(run):
    """Runs a command line with --json and returns its one object."""

    def answer(*arguments) -> dict:
        result = run(*arguments, "--json")
        assert result.returncode == 0, result.stderr
        assert result.stdout.count("\n") == 1
        return json.loads(result.stdout)

    return answer
