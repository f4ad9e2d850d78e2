"""The pytest plugin of the runner's processes: run chosen tests in order, or trace them.

Tests are measured in seconds of processor time, which other work on the machine does not lengthen.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from changed_import import JOB, enter


def pytest_configure(config: Any) -> None:
    """Register the observer of this process; pytest loads this file as a plugin."""
    if JOB in os.environ:
        enter()  # again: the import hook of pytest is now before ours
        job = json.loads(Path(os.environ[JOB]).read_text())
        config.pluginmanager.register(_Tracer(job) if job.get("trace") else _Chooser(job))


class _Chooser:
    """Runs the chosen tests in the given order and writes what happened, line by line."""

    def __init__(self, job: dict[str, Any]) -> None:
        self._limits: dict[str, float] = job["tests"]
        self._out = Path(job["out"]).open("a", buffering=1)  # noqa: SIM115

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        order = {test: place for place, test in enumerate(self._limits)}
        items[:] = sorted(
            (item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid]
        )

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._say(started=nodeid)
        # A watchdog in C: it also ends a loop in compiled code.
        faulthandler.dump_traceback_later(self._limits[nodeid], exit=True, file=self._out)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self._say(failed=report.nodeid, why=_last_line(report))

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self._say(failed=report.nodeid, why=_last_line(report))

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        faulthandler.cancel_dump_traceback_later()
        self._say(finished=int(exitstatus))
        self._out.close()

    def _say(self, **what: Any) -> None:
        self._out.write(json.dumps(what) + "\n")


def _last_line(report: Any) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash else str(report.longrepr)
    return " ".join(text.split())[:200]


def _processor_time() -> float:
    """Return the seconds that this process and its ended children have computed."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class _Tracer:
    """Writes for every test whether it passed, its seconds and the functions it called."""

    def __init__(self, job: dict[str, Any]) -> None:
        self._out = Path(job["out"]).open("a", buffering=1)  # noqa: SIM115
        self._names = {str(Path(job["package"]) / name): name for name in job["modules"]}
        self._called: set[Any] = set()
        self._by_fixture: dict[int, set[Any]] = {}
        self._passed: dict[str, bool] = {}

    def _see(self, frame: Any, event: str, argument: object) -> None:
        self._called.add(frame.f_code)

    def pytest_runtest_logreport(self, report: Any) -> None:
        before = self._passed.get(report.nodeid, True)
        self._passed[report.nodeid] = before and report.passed

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, Any, Any]:
        """Remember what a shared fixture calls: every test that uses it depends on that."""
        outer, self._called = self._called, set()
        try:
            return (yield)
        finally:
            self._by_fixture[id(fixturedef)] = self._called
            self._called = outer | self._called

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Generator[None, Any, Any]:
        """Trace one test with its fixtures."""
        self._called, begin = set(), _processor_time()
        threading.settrace(self._see)
        sys.settrace(self._see)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)
            self._write(item, _processor_time() - begin)

    def _write(self, item: Any, seconds: float) -> None:
        definitions = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
        for fixture in (one for several in definitions.values() for one in several):
            self._called |= self._by_fixture.get(id(fixture), set())
        functions = {
            f"{self._names[code.co_filename]}:{code.co_qualname.split('.<locals>')[0]}"
            for code in self._called
            if code.co_filename in self._names
        }
        line = {
            "test": item.nodeid,
            "passed": self._passed.get(item.nodeid, False),
            "seconds": round(seconds, 3),
            "functions": sorted(functions),
        }
        self._out.write(json.dumps(line) + "\n")
