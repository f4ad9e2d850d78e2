"""Runs on split games in folders: the same bits as in memory, also after a kill at any moment."""

import os
import shutil
import subprocess
import sys
import textwrap
from dataclasses import replace

import numpy as np
import pytest

from equilibrist.errors import StorageError
from equilibrist.games.catalog import get_game
from equilibrist.models.game import REGRET
from equilibrist.models.split import Split
from equilibrist.solving import disk_tables
from equilibrist.solving.cfr import CFR_VARIANTS
from equilibrist.solving.decomposed import DecomposedCFR
from equilibrist.solving.disk_tables import DiskTables
from equilibrist.solving.solve import Budget, solve
from equilibrist.solving.split_run import SplitRun, SplitSettings
from equilibrist.solving.subgame_engine import REGRETS, STILL, Order
from equilibrist.storage.memory import available_bytes
from equilibrist.storage.table_file import read_tables, write_tables
from split_runs import assert_same, go_on

RHODE = replace(
    get_game("rhode-island"), name="rhode", num_ranks=3, num_suits=2, max_raises=(2, 1, 1)
)


def in_memory(settings, iterations):
    split = Split.of(RHODE, settings.after)
    method = CFR_VARIANTS[settings.method]
    solver = DecomposedCFR.of(split, method, bits=settings.bits, current=settings.current)
    return solve(split.trunk, solver, Budget(iterations=iterations))


@pytest.mark.parametrize(
    "settings",
    [
        SplitSettings("flop"),
        SplitSettings("preflop"),
        SplitSettings("flop", current=True),
        SplitSettings("flop", "dcfr", 16),
    ],
    ids=str,
)
def test_a_run_in_a_folder_has_the_bits_of_one_in_memory(tmp_path, settings):
    stored = SplitRun.begin(tmp_path / "run", Split.of(RHODE, settings.after), settings, memory=1)
    go_on(stored, 3)
    again = SplitRun.open(tmp_path / "run")
    again.check_same(stored.split, settings)
    assert_same(go_on(again, 6), in_memory(settings, 6))
    found = SplitRun.open(tmp_path / "run")
    assert found.solver.evaluate(found.split.trunk, found.run().state) == found.run().evaluation


class KilledError(Exception):
    """Stands for the end of the process."""


@pytest.mark.parametrize("writes", [0, 1, 7, 44, 45, 46, 60, 89])
def test_a_run_continues_to_the_same_bits_wherever_it_was_cut_off(tmp_path, monkeypatch, writes):
    settings = SplitSettings("flop")
    stored = SplitRun.begin(tmp_path / "run", Split.of(RHODE, "flop"), settings)
    go_on(stored, 2)
    write, left = DiskTables.write, [writes]

    def cut_off(self, *arguments):
        if not left[0]:
            raise KilledError
        left[0] -= 1
        write(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(DiskTables, "write", cut_off)
        opened = SplitRun.open(tmp_path / "run")
        with pytest.raises(KilledError):
            opened.solver.step(opened.split.trunk, opened.run().state, 5)
    if writes:
        with pytest.raises(StorageError, match="was stopped within iteration"):
            SplitRun.open(tmp_path / "run")
    opened = SplitRun.open(tmp_path / "run", for_resume=True)
    assert_same(go_on(opened, 5), in_memory(settings, 5))


def test_a_killed_process_continues_to_the_same_bits(tmp_path):
    folder, settings = tmp_path / "run", SplitSettings("flop")
    go_on(SplitRun.begin(folder, Split.of(RHODE, "flop"), settings), 1)
    script = f"""
        import os, time, threading
        from equilibrist.solving.split_run import SplitRun
        from pathlib import Path
        run = SplitRun.open(Path({str(folder)!r}), for_resume=True)
        state = run.run().state
        print("ready", flush=True)
        while True:
            run.solver.step(run.split.trunk, state, 1)
    """
    arguments = [sys.executable, "-c", textwrap.dedent(script)]
    for pause in (0.05, 0.21):
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
            process.stdout.readline()
            try:
                process.wait(pause)
            except subprocess.TimeoutExpired:
                process.kill()
    found = SplitRun.open(folder, for_resume=True)
    done = int(found.run().state["iteration"]) + 2
    assert_same(go_on(found, done), in_memory(settings, done))


def test_a_run_that_was_killed_before_its_first_table_continues(tmp_path):
    begun = SplitRun.begin(tmp_path / "run", Split.of(RHODE, "flop"), SplitSettings("flop"))
    assert not (tmp_path / "run" / "subgames").exists()
    found = SplitRun.open(tmp_path / "run", for_resume=True)
    assert_same(go_on(found, 2), in_memory(begun.settings, 2))


def test_a_new_run_replaces_no_other(tmp_path):
    old = small_run(tmp_path / "run")
    with pytest.raises(StorageError, match="holds a run already"):
        SplitRun.begin(tmp_path / "run", old.split, old.settings)
    assert SplitRun.open(tmp_path / "run").name == old.name


def test_names_of_tables_are_synced_before_the_trunk_is_written(tmp_path, monkeypatch):
    stored, calls = small_run(tmp_path / "run"), []

    def note(what, function):
        def noted(*arguments):
            calls.append(what)
            return function(*arguments)

        return noted

    monkeypatch.setattr(DiskTables, "write", note("table", DiskTables.write))
    monkeypatch.setattr(
        "equilibrist.solving.disk_tables.sync_folder", note("names", disk_tables.sync_folder)
    )
    monkeypatch.setattr(SplitRun, "_write", note("trunk", SplitRun._write))
    stored.solver.step(stored.split.trunk, stored.run().state, 1)
    half = ["table"] * stored.split.num_subgames + ["names"]
    assert calls == [*half, *half, "trunk"]


def test_memory_is_bounded_even_if_nobody_says_how(tmp_path):
    stored = SplitRun.begin(tmp_path / "run", Split.of(RHODE, "flop"), SplitSettings("flop"))
    assert 0 < stored.solver.engine.memory < available_bytes()


def small_run(folder):
    stored = SplitRun.begin(folder, Split.of(RHODE, "flop"), SplitSettings("flop"))
    go_on(stored, 1)
    return stored


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (SplitSettings("flop", bits=32), "started with bits 64, not 32"),
        (SplitSettings("flop", "dcfr"), r"method cfr\+, not dcfr"),
        (SplitSettings("preflop"), "after flop, not preflop"),
    ],
)
def test_a_run_continues_only_with_its_own_settings(tmp_path, settings, words):
    stored = small_run(tmp_path / "run")
    with pytest.raises(StorageError, match=words):
        stored.check_same(stored.split, settings)
    other = Split.of(replace(RHODE, max_raises=(1, 1, 1)), "flop")
    with pytest.raises(StorageError, match="another game"):
        stored.check_same(other, stored.settings)


def test_files_that_are_missing_or_of_another_time_or_run_are_named(tmp_path):
    stored = small_run(tmp_path / "run")
    path = tmp_path / "run" / "subgames" / "000003-1.tables"
    old = path.read_bytes()
    go_on(SplitRun.open(tmp_path / "run"), 2)
    new = path.read_bytes()

    def evaluate():
        found = SplitRun.open(tmp_path / "run")
        return found.solver.evaluate(stored.split.trunk, found.run().state)

    path.write_bytes(old)
    with pytest.raises(StorageError, match=r"000003-1\.tables.* half iteration 2, but that of 4"):
        evaluate()
    path.unlink()
    with pytest.raises(StorageError, match=r"000003-1\.tables is missing"):
        evaluate()
    path.write_bytes(new[:-20])
    with pytest.raises(StorageError, match=r"000003-1\.tables is damaged"):
        evaluate()
    other = small_run(tmp_path / "other")
    go_on(other, 2)
    shutil.copy(tmp_path / "other" / "subgames" / path.name, path)
    with pytest.raises(StorageError, match=r"000003-1\.tables is of another run"):
        evaluate()
    path.write_bytes(new)
    assert evaluate().exploitability > 0


def test_a_full_disk_ends_a_run_that_continues_later(tmp_path, monkeypatch):
    small_run(tmp_path / "run")
    opened, sync = SplitRun.open(tmp_path / "run"), os.fsync

    def full(descriptor):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("equilibrist.storage.table_file.os.fsync", full)
        with pytest.raises(StorageError, match="No space left on device"):
            opened.solver.step(opened.split.trunk, opened.run().state, 1)
    assert os.fsync is sync
    found = SplitRun.open(tmp_path / "run", for_resume=True)
    assert_same(go_on(found, 3), in_memory(found.settings, 3))


def rewritten(folder, part, change):
    """Change one array of a subgame's file, whose checksum matches again."""
    path = min((folder / "subgames").iterdir())
    found = read_tables(path)
    name = next(name for name in found.tables if part in name and len(found.tables[name]))
    tables = found.tables | {name: change(found.tables[name])}
    write_tables(path, found.run, found.epoch, tables)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda array: array * np.nan, "not finite"),
        (lambda array: array[:-1], "another size"),
        (lambda array: array.astype(np.float32), "another size"),
    ],
    ids=["nan", "short", "narrow"],
)
def test_verify_reads_the_tables_of_all_subgames(tmp_path, change, words):
    small_run(tmp_path / "run")
    SplitRun.verified(tmp_path / "run")
    rewritten(tmp_path / "run", "regret", change)
    with pytest.raises(StorageError, match=words):
        SplitRun.verified(tmp_path / "run")


def test_values_of_another_size_are_refused_where_a_run_continues(tmp_path):
    stored = small_run(tmp_path / "run")
    order = Order(1, ((1, REGRET),), STILL, REGRETS)  # as if the half before had been stopped
    found = stored.tables.finished(0, order)
    assert found.shape == (1, stored.split.start[1])
    path = sorted((tmp_path / "run" / "subgames").iterdir())[1]
    contents = read_tables(path)
    tables = contents.tables | {"values": contents.tables["values"][:, :-1]}
    write_tables(path, contents.run, contents.epoch, tables)
    with pytest.raises(StorageError, match="values of another size"):
        stored.tables.finished(0, order)
