"""Long-running kernels release Python's lock, so that other threads can respond meanwhile."""

import importlib
import pkgutil

from numba.core.dispatcher import Dispatcher

from equilibrist.kernels import cpu
from equilibrist.papers.ectomynx import kernels as ectomynx

# Players and servers call these with few hands at a time. They keep the lock, because parallel code
# called from several threads ends the process if Numba has only its own thread pool.
SHORT = {
    "isomorphism.index_deals", "matches.deal_cards", "ranking.first_bad_hand", "ranking.rank_hands",
    "rollout.locate_boards", "swapping.swap_places",
}  # fmt: skip
LONG_LOOPS = {
    "clustering.k_means", "clustering.k_means_table", "equity.canonical_boards",
    "external_sampling.external", "external_sampling.normalise", "histograms.unpack",
    "rollout.sum_intervals", "sampling.flush", "sampling.public_chance",
    "sequence_form.fold_up_team", "sequence_form.gradient_team", "sequence_form.normalize",
    "sequence_form.realize_team", "sequence_form.sweeps_team",
    "table_sweeps.match_trunk", "table_sweeps.pack_last", "table_sweeps.realize_last",
    "table_sweeps.halves_team", "table_sweeps.realize_trunk",
    "table_sweeps.unpack_last", "real_game.respond_last", "real_game.respond_round",
}  # fmt: skip


def kernels() -> dict[str, Dispatcher]:
    """Return the public kernels by module and name."""
    found = {}
    for package in (cpu, ectomynx):
        for module in pkgutil.iter_modules(package.__path__):
            content = vars(importlib.import_module(f"{package.__name__}.{module.name}"))
            for name, kernel in content.items():
                is_own = isinstance(kernel, Dispatcher) and kernel.__module__.endswith(module.name)
                if is_own and not name.startswith("_"):
                    found[f"{module.name}.{name}"] = kernel
    return found


def test_long_kernels_release_the_lock():
    found = kernels()
    parallel = {name for name, kernel in found.items() if kernel.targetoptions.get("parallel")}
    assert parallel >= SHORT
    assert found.keys() >= LONG_LOOPS
    for name in sorted(parallel | LONG_LOOPS):
        assert bool(found[name].targetoptions.get("nogil")) == (name not in SHORT), name
