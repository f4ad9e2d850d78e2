"""What a node of a cluster does, in one process and without Ray: lost tables have the same bits."""

import math
import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from equilibrist.cluster import engine
from equilibrist.cluster.connection import Node, check_answers, own_version
from equilibrist.cluster.reach_log import ReachLog
from equilibrist.cluster.worker import Job, Worker, free_bytes
from equilibrist.errors import InvalidValueError, NetworkError, StorageError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.catalog import get_game
from equilibrist.models.split import Split
from equilibrist.solving.cfr import CFR_VARIANTS
from equilibrist.solving.decomposed import DecomposedCFR
from equilibrist.solving.subgame_engine import MemoryTables, Threads

RHODE = replace(
    get_game("rhode-island"), name="rhode", num_ranks=3, num_suits=2, max_raises=(2, 1, 1)
)
SPLIT = Split.of(RHODE, "flop", BetMenu.parse(max_raises="1 1 1"))
OWN = range(9, 20)  # of the subgames
HALVES = 7


@pytest.fixture(scope="module")
def halves():
    """Orders of a run by DCFR, whose factors change, with their reaches and values."""
    found = []

    class Recorded(Threads):
        def sweep(self, order, reaches, only=None):
            values = super().sweep(order, reaches, only)
            found.append((order, reaches.copy(), values.copy()))
            return values

    recorded = Recorded(MemoryTables(SPLIT, 64), SPLIT, 1)
    solver = DecomposedCFR(SPLIT, recorded, CFR_VARIANTS["dcfr"])
    solver.step(SPLIT.trunk, solver.init(SPLIT.trunk), math.ceil(HALVES / 2))
    return found[:HALVES]


def own_part(array):
    return array[:, SPLIT.start[OWN.start] : SPLIT.start[OWN.stop]]


def job_on(folder):
    job = Job.of(SPLIT, 64)
    return job if folder is None else replace(job, folder=folder, run="a run", memory=1)


def run_all(worker, halves):
    for order, reaches, values in halves:
        np.testing.assert_array_equal(worker.sweep(order, own_part(reaches)), own_part(values))


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("where", ["memory", "disk"])
def test_a_worker_returns_the_values_of_its_subgames(halves, tmp_path, where):
    worker = Worker(job_on(None if where == "memory" else tmp_path / "t"), OWN, 1)
    assert worker.done() == (0, 0)
    run_all(worker, halves)
    assert worker.done() == (HALVES, HALVES)
    order, reaches, values = halves[-1]
    np.testing.assert_array_equal(worker.sweep(order, own_part(reaches)), own_part(values))


def test_lost_tables_are_computed_again_from_the_log(halves, tmp_path):
    log, folder = ReachLog(tmp_path / "reaches", "a run"), tmp_path / "tables"
    worker = Worker(job_on(folder), OWN, 1)
    for order, reaches, _ in halves:
        log.write(order, reaches)
        worker.sweep(order, own_part(reaches))
    expected = files(folder)
    (folder / "000012-0.tables").unlink()
    (folder / "000013-1.tables").unlink()
    for half in (0, 1):
        (folder / f"000014-{half}.tables").unlink()
    again = Worker(job_on(folder), OWN, 1)
    assert again.done() == (0, HALVES)
    for epoch in range(1, HALVES + 1):
        order, reaches = log.read(epoch)
        assert order == halves[epoch - 1][0]
        again.replay(order, own_part(reaches))
    assert again.done() == (HALVES, HALVES)
    assert files(folder) == expected


def test_a_replay_begins_where_the_tables_are(halves, tmp_path):
    folder = tmp_path / "tables"
    worker = Worker(job_on(folder), OWN, 1)
    run_all(worker, halves[:4])
    early = {name: content for name, content in files(folder).items() if name < "000015"}
    run_all(worker, halves[4:])
    expected = files(folder)
    for name, content in early.items():
        (folder / name).write_bytes(content)
    again = Worker(job_on(folder), OWN, 1)
    assert again.done() == (4, HALVES)
    for order, reaches, _ in halves[4:]:
        again.replay(order, own_part(reaches))
    assert files(folder) == expected


def test_a_worker_leaves_tables_of_another_run_alone(halves, tmp_path):
    job = job_on(tmp_path / "t")
    run_all(Worker(job, OWN, 1), halves[:1])
    with pytest.raises(StorageError, match=r"000009-0\.tables is of another run"):
        Worker(replace(job, run="another"), OWN, 1).done()


@pytest.mark.parametrize("where", ["in memory", "on the disk"])
def test_nodes_compare_their_share_with_what_they_have(halves, tmp_path, monkeypatch, where):
    folder = None if where == "in memory" else tmp_path / "t"
    there = [Node("a", "10.0.0.6", 1), Node("b", "10.0.0.7", 1)]
    monkeypatch.setattr(engine, "nodes", lambda: there)
    monkeypatch.setattr(engine, "ask", lambda nodes, function, *given: {nodes[1]: function(*given)})
    free = free_bytes(folder)
    engine.check_room(free, folder)
    with pytest.raises(InvalidValueError, match=rf"node 10\.0\.0\.7 needs {where} .* are free"):
        engine.check_room(4 * free, folder)
    assert not list(tmp_path.iterdir())


def test_tables_that_are_replaced_count_as_free(halves, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1000))
    run_all(Worker(job_on(tmp_path / "t"), OWN, 1), halves[:2])
    stored = sum(map(len, files(tmp_path / "t").values()))
    assert free_bytes(tmp_path / "t") == 1000 + stored
    assert free_bytes(tmp_path / "other") == 1000


def test_a_log_names_what_it_lacks(halves, tmp_path):
    log = ReachLog(tmp_path, "a run")
    assert log.read_cuts() is None
    log.write_cuts(np.array([0, 9, 20]))
    assert log.read_cuts().tolist() == [0, 9, 20]
    log.write(*halves[0][:2])
    with pytest.raises(StorageError, match=r"00000002\.tables, from which .* is missing"):
        log.read(2)
    with pytest.raises(StorageError, match=r"00000001\.tables is of another run"):
        ReachLog(tmp_path, "another").read(1)


def test_versions_are_compared_by_their_sources():
    ours = own_version()
    check_answers({"10.0.0.1": ours, "10.0.0.2": ours}, ours)
    for found, words in (
        ({}, "no node with cores"),
        ({"10.0.0.1": ours, "10.0.0.2": None}, r"node 10\.0\.0\.2 .* does not answer"),
        ({"10.0.0.1": "0.0.1"}, r"node 10\.0\.0\.1 has the version 0\.0\.1 of equilibrist"),
    ):
        with pytest.raises(NetworkError, match=words):
            check_answers(found, ours)
