"""Every kernel releases Python's lock, so that other threads can respond meanwhile."""

import importlib
import pkgutil

from numba.core.dispatcher import Dispatcher

from equilibrist.kernels import cpu
from equilibrist.kernels.parts import kernel, part
from equilibrist.papers.ectomynx import kernels as ectomynx

# The one loop that Numba divides among threads itself; kernels call it.
PARALLEL = {"cluster_points._do_parallel"}


def dispatchers() -> dict[str, Dispatcher]:
    """Return all compiled functions by module and name, those of threaded functions included."""
    found = {}
    for package in (cpu, ectomynx):
        for module in pkgutil.iter_modules(package.__path__):
            content = vars(importlib.import_module(f"{package.__name__}.{module.name}"))
            for name, value in content.items():
                compiled = getattr(value, "kernel", value)
                if isinstance(compiled, Dispatcher) and value.__module__.endswith(module.name):
                    found[f"{module.name}.{name}"] = compiled
    return found


FOUND = dispatchers()
PART, KERNEL = (kind(lambda x: x, cache=False)._compiler.pipeline_class for kind in (part, kernel))


def test_all_compiled_functions_are_found():
    assert {"ranking.rank_hands", "table_sweeps.halves_team", "rollout.strengths"} <= FOUND.keys()
    assert len(FOUND) > 150


def test_compiled_functions_are_parts_or_kernels_that_release_the_lock():
    kinds = {name: found._compiler.pipeline_class for name, found in FOUND.items()}
    others = {name for name, kind in kinds.items() if kind not in (PART, KERNEL)}
    assert others == PARALLEL
    kernels = [name for name, kind in kinds.items() if kind is KERNEL]
    assert [name for name in kernels if not FOUND[name].targetoptions["nogil"]] == []
