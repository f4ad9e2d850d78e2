"""A split game by the threads of one process and by two local nodes of a Ray cluster.

    python benchmarks/bench_split.py                        # 4 ranks, 1 raise: seconds
    python benchmarks/bench_split.py --ranks 5 --iterations 5

Both engines have the same number of threads in all, run in turn, and must give the same bits before
a figure is printed. The bytes that cross the network are counted, and compared with `plan`'s.
Needs the extra `cluster`.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from harness import Report

from equilibrist.cluster.connection import connected, load_ray
from equilibrist.cluster.engine import RayEngines
from equilibrist.games.catalog import get_game
from equilibrist.models.split import Split
from equilibrist.solving.decomposed import DecomposedCFR
from equilibrist.solving.solver import State
from equilibrist.solving.split_plan import SplitPlan
from equilibrist.solving.subgame_engine import MemoryTables, Threads


def measure(ranks: int, raises: int, iterations: int, rounds: int, bits: int) -> None:
    caps = (raises,) * 4
    rules = replace(
        get_game("holdem-limit"), name=f"hold'em, {ranks} ranks", num_ranks=ranks, max_raises=caps
    )
    split, plan = Split.of(rules, "flop"), SplitPlan.of(rules, "flop", bits=bits)
    title = f"{rules.name}, caps {raises}, {plan.actions:,} actions, {split.num_subgames} subgames"
    report = Report(f"Two Ray nodes and two threads: {title}", header="")
    with two_nodes(), contextlib.closing(RayEngines(threads=1).in_memory(split, bits)) as engine:
        by_threads = DecomposedCFR(split, Threads(MemoryTables(split, bits), split, 2), bits=bits)
        by_nodes = DecomposedCFR(split, engine, bits=bits)
        solvers = {"threads": by_threads, "ray": by_nodes}
        states = {name: solver.init(split.trunk) for name, solver in solvers.items()}
        best = dict.fromkeys(solvers, float("inf"))
        for name, solver in solvers.items():
            solver.step(split.trunk, states[name], 1)  # builds boards, compiles, starts workers
        for _ in range(rounds):
            for name, solver in solvers.items():
                start = time.perf_counter()
                solver.step(split.trunk, states[name], iterations)
                best[name] = min(best[name], (time.perf_counter() - start) / iterations)
        check_same(states["threads"], states["ray"])
        crossed = (engine.bytes_sent + engine.bytes_received) / int(states["ray"]["iteration"])
    assert crossed == plan.network_bytes, (crossed, plan.network_bytes)
    load = os.getloadavg()[0]
    report.figure("an iteration, two threads", best["threads"], "s")
    report.figure("an iteration, two nodes of one thread", best["ray"], "s")
    report.figure("overhead", (best["ray"] / best["threads"] - 1) * 100, "%")
    report.figure("bytes over the network per iteration", crossed, "B")
    report.figure("load of the machine at the end", load, "")


def check_same(one: State, other: State) -> None:
    for name, array in one.items():
        assert np.array_equal(array, other[name]), name


@contextlib.contextmanager
def two_nodes() -> Iterator[None]:
    """Start a cluster of two nodes on this machine; its head has no cores."""
    load_ray()
    from ray.cluster_utils import Cluster

    scratch = tempfile.mkdtemp(prefix="ray-", dir="/tmp")  # names of sockets must be short
    head = {"num_cpus": 0, "include_dashboard": False, "temp_dir": scratch}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        for _ in range(2):
            cluster.add_node(num_cpus=1)
        with connected(cluster.address):
            yield
    finally:
        cluster.shutdown()
        shutil.rmtree(scratch, ignore_errors=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--ranks", type=int, default=4)
    options.add_argument("--raises", type=int, default=1)
    options.add_argument("--iterations", type=int, default=5, help="in each round")
    options.add_argument("--rounds", type=int, default=3, help="the best of these is printed")
    options.add_argument("--bits", type=int, default=32)
    given = options.parse_args()
    measure(given.ranks, given.raises, given.iterations, given.rounds, given.bits)


if __name__ == "__main__":
    main()
