"""Reaching a Ray cluster, and what is refused before; none of this needs Ray."""

import contextlib
import re
import socket
import sys
import threading
from dataclasses import replace
from typing import NamedTuple
from unittest.mock import ANY

import pytest

from equilibrist.cluster import connection, engine
from equilibrist.cluster.engine import divided
from equilibrist.errors import InvalidValueError, NetworkError
from equilibrist.games.catalog import get_game
from equilibrist.models.split import Split
from equilibrist.solving.subgame_engine import MemoryTables, Threads

RHODE = replace(
    get_game("rhode-island"), name="rhode", num_ranks=3, num_suits=2, max_raises=(2, 1, 1)
)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--engine", "ray"), "--engine needs --split"),
        (("--address", "10.0.0.1:6379"), "--address needs --split"),
        (("--split", "preflop", "--engine", "mpi"), "--engine must be threads, gpu or ray"),
        (("--split", "preflop", "--address", "auto"), "--address needs --engine ray"),
        (("--split", "preflop", "--engine", "ray", "--address", "here"), "is HOST:PORT"),
    ],
)
def test_options_that_do_not_fit_are_refused(run, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    result = run("solve", "leduc", "--iterations", "2", *arguments)
    assert (result.returncode, words in result.stderr) == (2, True), result.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--engine", "gpu"), "give --device gpu instead of --engine gpu"),
        (("--engine", "ray", "--device", "gpu"), "--engine and --device exclude each other"),
        (("--address", "auto"), "--address needs --engine ray"),
        (("--engine", "ray", "--game", "leduc"), "has no flops: leave out .* and --engine"),
    ],
)
def test_options_that_do_not_fit_a_real_game_are_refused(run, arguments, words):
    result = run("exploit", "always-call", "--real-game", *arguments)
    assert result.returncode == 2
    assert re.search(words, result.stderr), result.stderr


def test_the_engine_gpu_needs_a_gpu_and_hands_of_two_cards(run, tmp_path):
    game = ("solve", "leduc", "--split", "preflop", "--iterations", "2", "--engine", "gpu")
    for more in ((), ("--store", tmp_path / "it")):
        result = run(*game, *more)
        assert result.returncode == 2
        assert "use the engine threads" in result.stderr
        assert not (tmp_path / "it").exists()


def test_the_command_asks_the_cluster_for_its_engines(answer, tmp_path, monkeypatch):
    calls = []

    class Engines(NamedTuple):
        """Engines of this process in place of those of a cluster."""

        threads: int | None
        table_bytes: int

        def in_memory(self, split, bits):
            calls.append((self.threads, self.table_bytes, bits))
            return Threads(MemoryTables(split, bits), split, self.threads)

        def on_disks(self, run):
            calls.append((self.threads, self.table_bytes, run.memory))
            return Threads(run.tables, run.split, self.threads, committed=run.commit)

    @contextlib.contextmanager
    def connected(address, threads):
        calls.append((address, threads))
        yield

    monkeypatch.setattr(connection, "connected", connected)
    monkeypatch.setattr(engine, "RayEngines", Engines)
    game = ("solve", "leduc", "--split", "preflop", "--iterations", "2")
    on_nodes = ("--engine", "ray", "--address", "10.0.0.1:6379", "--threads", "1")
    expected = answer(*game)
    assert answer(*game, *on_nodes) == expected | {"engine": "ray", "seconds": ANY}
    size = 1092 * 2 * 8
    assert calls == [("10.0.0.1:6379", 1), (1, size, 64)]
    calls.clear()
    store = ("--store", tmp_path / "run")
    answer(*game, *on_nodes, *store, "--memory", "1MB", "--force")
    assert calls == [("10.0.0.1:6379", 1), (1, 0, 10**6)]
    calls.clear()
    assert answer("exploit", tmp_path / "run", *on_nodes)["matches"] is True
    assert calls == [("10.0.0.1:6379", 1), (1, 0, None)]


def test_addresses_where_no_cluster_is_are_refused():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with pytest.raises(NetworkError, match=f"cannot reach a Ray cluster at 127.0.0.1:{port}"):
            connection._check_reachable("127.0.0.1", port)
    for wrong in ("host", "host:0", "host:99999", "ray://host:1", ":6379", "a b:1"):
        with pytest.raises(InvalidValueError, match="is HOST:PORT"):
            connection.parsed_address(wrong)


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b""])
def test_a_server_that_is_not_ray_is_refused(answer):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            stream, _ = server.accept()
            stream.recv(100)
            stream.sendall(answer)
            stream.close()

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(NetworkError, match="what listens there is not Ray"):
            connection._check_reachable(*server.getsockname())
        thread.join()


def test_a_missing_ray_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InvalidValueError, match=r"pip install 'equilibrist\[cluster\]'"):
        connection.load_ray()


def test_subgames_are_divided_by_boards_without_gaps():
    split = Split.of(RHODE, "flop")
    for workers in range(1, 12):
        cuts = divided(split, workers).tolist()
        assert (cuts[0], cuts[-1]) == (0, split.num_subgames)
        assert all(cut % len(split.ways) == 0 for cut in cuts)
        assert len(cuts) - 1 <= min(workers, len(split.boards))
