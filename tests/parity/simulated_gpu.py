"""Cases of `test_gpu_tables.py`, run in a process of their own: in Numba's simulator, or on a GPU.

`python simulated_gpu.py "sweep turn 32" resume` raises an AssertionError if kernels of the GPU
differ from the CPU's.
With `NUMBA_ENABLE_CUDASIM=0` a GPU runs them. The games are tiny because
the simulator runs every thread of a GPU as a thread of Python.
"""

import os
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ.setdefault("NUMBA_ENABLE_CUDASIM", "1")

import numpy as np
import pytest

from equilibrist.errors import DeviceError
from equilibrist.games.catalog import get_game
from equilibrist.kernels.decision_rules import BEST, EXPECTATION
from equilibrist.kernels.gpu import table_sweeps
from equilibrist.kernels.gpu.resident import Resident
from equilibrist.kernels.treeplex import block, boards
from equilibrist.models.exact import exact_game
from equilibrist.models.spot import Chips, Spot
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.lean_cfr import TABLE_METHODS, TableCFR, table_lengths
from equilibrist.solving.solve import Budget, check_finite, solve
from equilibrist.solving.spot_run import solve_spot
from gpu import prepare_simulator

prepare_simulator()
SMALL = replace(get_game("holdem-nolimit"), name="small-nolimit", num_ranks=3)


def small(board="AsKsQh", locks=(), **options):
    """A spot with 12 cards; from the flop on 9 are left, and a board has 21 hands or fewer."""
    options = {"bets": "a", "raises": "a"} | options
    chips = Chips(40, 30, rake=options.pop("rake", None))
    spot = Spot.of(board, "QQ,KK,AQ", "AK,QQ,AA:0.5,KQ", chips, game=SMALL, **options)
    return spot.with_locks(locks)


GAMES = {
    "river": lambda: small("AsKsQhKdAd", bets="50%,a"),
    "turn": lambda: small("AsKsQhKd"),
    "flop": lambda: small("AsKsQh", bets="a", raises="-"),
    "locked": lambda: small("AsKsQhKd", locks=("c: r30=0.25",)),
    "raked": lambda: small("AsKsQhKd", rake="5%"),
}


def built(name):
    """Return a game whose tables have the same hands for both seats, as those of the GPU."""
    return replace(GAMES[name]().build().game, held=None)


def started(game, bits, iterations=1):
    """Return a solver and a state after some iterations on the CPU, so that tables are not zero."""
    solver = TableCFR(bits=bits)
    state = solver.init(game)
    solver.step(game, state, iterations)
    return solver, state


def copied(state):
    return {name: np.array(array) for name, array in state.items()}


def sweep(name, bits, segments=None, batch_bytes=None):
    """Iterations on the GPU give the CPU's tables and values."""
    if batch_bytes is not None:
        table_sweeps._WORK_BYTES = int(batch_bytes)
    game = built(name)
    if segments is not None:
        table_sweeps._ENOUGH_THREADS = 0 if segments == "1" else 10**9
    solver, state = started(game, int(bits))
    on_cpu, on_gpu, far = copied(state), copied(state), replace(game, backend="gpu")
    solver.step(game, on_cpu, 1)
    solver.step(far, on_gpu, 1)
    assert all(isinstance(array, Resident) for key, array in on_gpu.items() if key != "iteration")
    check_finite(on_gpu)
    atol = 1e-5 if bits == "32" else 2e-4
    for key, array in copied(on_gpu).items():
        assert array.dtype == on_cpu[key].dtype
        assert array.shape == on_cpu[key].shape
        if array.dtype.kind == "f" and not key.startswith(("average", "regret")):
            np.testing.assert_allclose(array, on_cpu[key], atol=atol, err_msg=key)
    plans = solver.plans(game, copied(on_gpu)), solver.plans(game, on_cpu)
    for ours, theirs in zip(*plans, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5 if bits == "32" else 1e-3)
    found, expected = solver.evaluate(far, on_gpu), solver.evaluate(game, on_cpu)
    close = {"rtol": 1e-5, "atol": 1e-4} if bits == "32" else {"rtol": 1e-3, "atol": 1e-2}
    np.testing.assert_allclose(found.value, expected.value, **close)
    np.testing.assert_allclose(found.best_response, expected.best_response, **close)
    if expected.rake is not None:
        np.testing.assert_allclose(found.rake, expected.rake, **close)


def float64():
    """With float64 the GPU's kernels are exact: best responses of the CPU's plans to 1e-9."""
    game = built("turn")
    _, state = started(game, 32, 3)
    wide = {key: array.astype(float) if array.dtype.kind == "f" else array
            for key, array in state.items()}  # fmt: skip
    held = table_sweeps.open_tables(game.in_sections, wide)
    plans = []
    for player, tree in enumerate(game.trees):
        average = np.zeros(game.lengths[player])
        trunk = np.asarray(state[f"average{player}"], float)
        average[: len(trunk)] = trunk
        place, last = 0, len(tree.num_sequences) - 1
        entries = int(tree.entry_start[-1] - tree.entry_start[-2])
        for board in boards(tree, last):
            own = block(tree, last, board, average)[entries:]
            own[:] = state[f"last_average{player}"][place : place + own.size].reshape(own.shape)
            place += own.size
        behaviour = game.uniform(player)
        for r in range(last + 1):
            for board in boards(tree, r):
                rows, out = block(tree, r, board, average), block(tree, r, board, behaviour)
                for d in range(int(tree.decision_start[r]), int(tree.decision_start[r + 1])):
                    first, size = int(tree.decision_first[d]), int(tree.decision_size[d])
                    total = rows[first : first + size].sum(axis=0)
                    share = np.where(total > 0, rows[first : first + size], 1)
                    out[first : first + size] = share / share.sum(axis=0)
        plans.append(game.realize(player, behaviour))
    locked = (game.uniform(0), game.uniform(1))
    exact = evaluate(game, (plans[0], plans[1]), locked)
    roots, _ = held.worth([(game.first_player, EXPECTATION), (0, BEST), (1, BEST)])
    np.testing.assert_allclose(roots, (exact.value, *exact.best_response), rtol=0, atol=1e-9)


def resume():
    """A run may begin on the GPU and end on the CPU, and the other way round."""
    game = built("river")
    far, solver = replace(game, backend="gpu"), TableCFR()
    whole = solver.init(game)
    solver.step(game, whole, 4)
    for order in ((far, game), (game, far)):
        state = solver.init(game)
        for played in order:
            solver.step(played, state, 2)
            state = copied(state)
        for player in (0, 1):
            np.testing.assert_allclose(
                solver.plans(game, state)[player], solver.plans(game, whole)[player], atol=1e-4
            )


def moved():
    """A run of the CPU, where each seat has its own hands, goes on with those of both."""
    spot, by = GAMES["river"](), TableCFR()
    built, found = spot.build(), []
    first = solve_spot(spot, by, built, Budget(iterations=2, every=2))
    assert len(first.run.state["last_regret0"]) == table_lengths(built.game)[0]
    for played, run in ((built.on("gpu"), first.run), (built, None)):
        done = solve_spot(spot, by, played, Budget(iterations=4, every=2), run=run)
        found.append((done.run.evaluation.value, *done.run.evaluation.best_response))
    assert table_lengths(built.on("gpu").game)[0] > table_lengths(built.game)[0]
    np.testing.assert_allclose(found[0], found[1], atol=1e-4)


def solved():
    """`solve` on the GPU ends at a target, and its state is read board by board."""
    spot = GAMES["turn"]()
    far = spot.build().on("gpu")
    solver = TABLE_METHODS["log-dcfr+"]
    run = solve(far.game, solver, Budget(iterations=2, every=1))
    part = run.state["last_average0"]
    np.testing.assert_array_equal(part[3:11], np.asarray(part)[3:11])
    assert len(part[5:5]) == 0
    exact = evaluate(far.on("cpu").game, solver.plans(far.game, copied(run.state)))
    np.testing.assert_allclose(run.evaluation.best_response, exact.best_response, atol=1e-4)


def damage():
    """A number that is not finite is found on the GPU."""
    game = built("river")
    _, state = started(game, 32)
    state["last_average1"][7] = np.nan
    held = table_sweeps.open_tables(game.in_sections, state)
    assert np.isnan(held.arrays["last_average1"].max())
    assert np.isfinite(held.arrays["last_average0"].max())


def small_numbers():
    """Denormal, zero and huge regrets are matched as on the CPU."""
    game = built("river")
    solver, state = started(game, 32)
    random = np.random.default_rng(3)
    for player in (0, 1):
        for name in ("regret", "average"):
            table = state[f"last_{name}{player}"]
            picks = np.array([0.0, 1e-45, 2.3e-40, 1e-30, 1.0, 1e20, 3e30], np.float32)
            free = np.flatnonzero(np.abs(table) != 1)  # ranges are given by ones and zeros
            table[free] = random.choice(picks, len(free))
    on_cpu, on_gpu = copied(state), copied(state)
    for played, own in ((game, on_cpu), (replace(game, backend="gpu"), on_gpu)):
        solver.step(played, own, 1)
        check_finite(own)
    for player in (0, 1):
        theirs, ours = on_cpu[f"last_regret{player}"], np.asarray(on_gpu[f"last_regret{player}"])
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-3)


def refused():
    """Games of one-card hands are refused in one sentence."""
    game = replace(exact_game(get_game("leduc"), leaves="sorted"), backend="gpu")
    with pytest.raises(DeviceError, match="two-card hands"):
        TableCFR().step(game, TableCFR().init(game), 1)


if __name__ == "__main__":
    for each in sys.argv[1:]:
        case, *arguments = each.split()
        globals()[case](*arguments)
        print(f"{each}: passed", flush=True)
