"""How long does the exact best response in limit hold'em take, per flop and in total?

Correctness first: with twenty cards instead of 52, a flop's values must be those of the plain
recursion. Then flops of every kind, both seats, for a mix that sees no cards and for bots that are
trained here (`equilibrist train smallbot`); the whole run is projected from the rivers they have.

On a machine with a GPU, `--device gpu` computes all flops there, compares some of them with the
CPU's to the last bit, and then the CPU computes the sample as its rival.

Run: python benchmarks/bench_real_game.py [--flops 40] [--strategies mix:0.1,0.6,0.3 smallbot]
     [--threads 1] [--device gpu]
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np
from harness import Report

from equilibrist.bots.open import open_strategy
from equilibrist.cards.isomorphism import DealIndexer
from equilibrist.errors import StorageError
from equilibrist.evaluation.real_game.reference import PublicTree
from equilibrist.evaluation.real_game.response import Response
from equilibrist.evaluation.real_game.run import (
    RealGameRun,
    exploited,
    on_device,
    open_or_start,
    responses_to,
    run_flops,
    stratified,
)
from equilibrist.games.catalog import get_game


def check() -> None:
    """Check one turn of royal hold'em by both programs."""
    named = open_strategy("mix:0.1,0.6,0.3", get_game("royal-holdem"))
    turn = (51, 46, 41, 36)
    for seat in (0, 1):
        response, plain = Response(named.strategy, seat), PublicTree(named.strategy, seat)
        free = ~np.isin(plain.hands, turn).any(axis=1)
        node = response.positions[1].nodes[0]
        expected = free * plain.values(node, turn, free.astype(float))
        found = response.values(turn)[0, plain.numbers]
        assert np.allclose(found, expected, rtol=1e-5, atol=1e-4)


def main() -> None:
    parser = argparse.ArgumentParser(description="Best responses in the real game.")
    parser.add_argument("--flops", type=int, default=40)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--strategies", nargs="*", default=["mix:0.1,0.6,0.3", "smallbot"])
    options = parser.parse_args()
    check()
    report = Report(f"real-game best responses, {options.threads} threads", "")
    for text in options.strategies:
        try:
            named = open_strategy(text)
        except StorageError as missing:
            print(missing)
            continue
        responses = responses_to(named)
        run = open_or_start(named, responses, None)
        on_gpu = whole_on_gpu(text, run, responses, report) if options.device == "gpu" else None
        chosen = stratified(run.flops, options.flops)
        for response in responses:
            response.turn_values((0, 5, 10, 15))  # compiles
        start = time.perf_counter()
        run_flops(run, responses, chosen, threads=options.threads)
        seconds = time.perf_counter() - start
        for one, two in zip(run.values, on_gpu.values if on_gpu else run.values, strict=True):
            np.testing.assert_array_equal(one[chosen], two[chosen])
        rivers = DealIndexer((3, 1, 1))
        sizes = np.bincount(_flop_of_rivers(rivers), minlength=len(run.flops.boards))
        whole = seconds * rivers.size / sizes[chosen].sum()
        report.figure(f"{text}: a flop, both seats", seconds / len(chosen), "s")
        report.figure(f"{text}: all flops, projected", whole / 60, "minutes")


def whole_on_gpu(
    text: str, empty: RealGameRun, responses: tuple[Response, Response], report: Report
) -> RealGameRun:
    """Compute all flops on the GPU, with the tables that are copied there first."""
    values = np.zeros_like(empty.values[0]), np.zeros_like(empty.values[1])
    run = replace(empty, is_done=np.zeros_like(empty.is_done), values=values)
    start = time.perf_counter()
    _, gpu = on_device("gpu", responses)
    run_flops(run, responses, np.arange(len(run.flops.boards)), engine=gpu)
    report.figure(f"{text}: all flops, GPU", time.perf_counter() - start, "s")
    found = exploited(run, responses)
    report.figure(f"{text}: exploitability", found.exploitability, found.unit)
    return run


def _flop_of_rivers(rivers: DealIndexer) -> np.ndarray:
    """Return the flop of each class of rivers; children are contiguous."""
    starts = [rivers.children(flop, 0).start for flop in range(rivers.sizes[0])]
    turns = np.repeat(np.arange(len(starts)), np.diff([*starts, rivers.sizes[1]]))
    firsts = [rivers.children(turn, 1).start for turn in range(rivers.sizes[1])]
    return np.repeat(turns, np.diff([*firsts, rivers.sizes[2]]))


if __name__ == "__main__":
    main()
