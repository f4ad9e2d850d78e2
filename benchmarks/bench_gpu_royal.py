"""How long does an iteration of CFR+ take on Royal Rhode Island hold'em, on a GPU and on the CPU?

The game is solved with all cards apart, which has 6,756,800 actions at information sets, and up to
suits, which loses nothing. On the GPU its hands on all boards of a round are the states of one
board, so gradients are products of matrices, mostly zeros. Correctness first: after some iterations
both forms have the value and the best responses of the CPU's, in float64.

Published, and not measured here: a Python library for GPUs takes 28.4 ms per iteration (4.2 ns per
action); a solver in Rust and CUDA takes 0.2 ns per action of hold'em on a consumer card, 1.9 ns on
16 cores.

Run: python benchmarks/bench_gpu_royal.py [--dtype float32] [--iterations 200]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from harness import Report

from equilibrist.abstraction.joint_counts import joint
from equilibrist.abstraction.recipes.lossless import lossless
from equilibrist.games.catalog import get_game
from equilibrist.kernels.gpu.device import has_gpu
from equilibrist.models.bucketed import BucketStates, bucket_game
from equilibrist.models.exact import exact_game
from equilibrist.models.game import SequenceGame
from equilibrist.models.leaves import matrix_pairs
from equilibrist.models.treeplex import leaf_tables, player_rows, treeplex
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.methods import get_method
from equilibrist.solving.solver import Solver

ROYAL = get_game("royal-rhode-island")
PUBLISHED = 28.4  # ms per iteration


def on_one_board(game: SequenceGame) -> SequenceGame:
    """Return an equal game in which a round's hands on all boards are the states of one board."""
    assert game.states is not None
    assert game.betting is not None
    cards, places, numbers, parents = game.states, [], [], []
    joints, wins, first = [], [], 0
    for r, counts in enumerate(cards.num_states):
        start = np.append(0, np.cumsum(counts))
        parent = np.zeros(start[-1], np.int64)
        if r > 0:
            above = np.append(0, np.cumsum(cards.num_states[r - 1]))[cards.board_parent[r]]
            parent = places[r - 1][np.repeat(above, counts) + cards.state_parent[r]]
        order = np.argsort(parent, kind="stable")  # children of a state beside each other
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        both = np.zeros((2, len(order), len(order)))
        for board, number in enumerate(counts):
            own = place[start[board] : start[board + 1]]
            begin = int(game.pairs.matrix_start[first + board])
            for out, flat in zip(both, (game.pairs.joint, game.pairs.win), strict=True):
                out[np.ix_(own, own)] = flat[begin : begin + number**2].reshape(number, number)
        places.append(place)
        numbers.append(np.array([len(order)]))
        parents.append(parent[order].astype(np.int32))
        joints.append(both[0])
        wins.append(both[1])
        first += len(counts)
    ups = [np.array([-1 if r == 0 else 0]) for r in range(len(numbers))]
    rows = (player_rows(game.betting, 0), player_rows(game.betting, 1))
    states = BucketStates(numbers, ups, parents)
    return SequenceGame(
        name=f"{game.name} on one board", unit=game.unit,
        trees=(treeplex(rows[0], states), treeplex(rows[1], states)),
        leaves=leaf_tables(game.betting, rows), pairs=matrix_pairs(joints, wins),
        first_player=game.first_player, betting=game.betting,
    )  # fmt: skip


def check(game: SequenceGame, other: SequenceGame, solver: Solver, iterations: int = 3) -> None:
    """Check that a method finds the same in both forms of a game."""
    found = []
    for one in (game, other):
        state = solver.init(one)
        solver.step(one, state, iterations)
        proof = evaluate(one, solver.plans(one, state))
        found.append((proof.value, *proof.best_response))
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-6)


def milliseconds(game: SequenceGame, solver: Solver, steps: int) -> float:
    """Return the time of an iteration, after two that compile."""
    state = solver.init(game)
    solver.step(game, state, 2)
    wait = float(state["average0"][0])  # kernels of a GPU may still run
    start = time.perf_counter()
    solver.step(game, state, steps)
    wait += float(state["average0"][0])
    assert np.isfinite(wait)
    return 1e3 * (time.perf_counter() - start) / steps


def main() -> None:
    parser = argparse.ArgumentParser(description="Royal Rhode Island hold'em, iterations of CFR+.")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--iterations", type=int, default=200, help="that are timed on the GPU")
    parser.add_argument("--few", type=int, default=10, help="that are timed on the CPU")
    given = parser.parse_args()
    exact, solver = get_method("cfr+"), get_method("cfr+", given.dtype)
    classes = lossless(ROYAL)
    forms = {
        "all cards apart": (
            exact_game(ROYAL, symmetry="cards"),
            lambda: on_one_board(exact_game(ROYAL, symmetry="cards", leaves="dense")),
        ),
        "up to suits": (
            exact_game(ROYAL),
            lambda: bucket_game(classes, joint(classes)),
        ),
    }
    report = Report(f"royal-rhode-island, CFR+ in {given.dtype}")
    for name, (game, turned) in forms.items():
        form = turned()
        check(game, form.on("gpu") if has_gpu() else form, exact)
        actions, theirs = game.num_infoset_actions, milliseconds(game, solver, given.few)
        report.figure(f"{name}, CPU: {actions:,} actions", theirs, "ms")
        if has_gpu():
            ours = milliseconds(form.on("gpu"), solver, given.iterations)
            report.row(name, ours, f"CPU, {given.few} iterations", theirs, "ms")
            report.row(name, ours, "published, a Python library", PUBLISHED, "ms")
            report.figure(f"{name}: per action", 1e6 * ours / actions, "ns")


if __name__ == "__main__":
    main()
