"""Runs checks of GPU kernels in a process of their own: in Numba's simulator, or on a GPU.

Numba simulates a GPU only if `NUMBA_ENABLE_CUDASIM` is set before it is imported. A script of
checks ends with `main(globals())`; `results` runs it and returns what failed, by name.
"""

import json
import os
import subprocess
import sys
import threading
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

_PREFIX = "check_"


def names(script: Path) -> list[str]:
    """Return the names of a script's checks, without running it."""
    lines = script.read_text().splitlines()
    found = [line.split("(")[0].removeprefix("def ") for line in lines if line.startswith("def ")]
    return [name for name in found if name.startswith(_PREFIX)]


def results(script: Path, *, simulated: bool) -> dict[str, str]:
    """Run a script; return the traceback of each check, "" if it passed."""
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1" if simulated else "0"}
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def prepare_simulator() -> None:
    """Let the simulator's threads take turns quickly, and share what a block shares.

    They wait actively for each other. Of two threads that come first at once, each would get an
    array of its own for the same shared memory, which is filled with whatever was there.
    """
    sys.setswitchinterval(1e-5)
    if os.environ.get("NUMBA_ENABLE_CUDASIM") != "1":
        return
    from numba.cuda.simulator import kernelapi

    lock, allocate = threading.Lock(), kernelapi.FakeCUDAShared.array

    def array(self: Any, shape: Any, dtype: Any) -> Any:
        if shape == 0:  # memory whose size the launch gives
            return allocate(self, shape, dtype)
        caller = sys._getframe(1)
        place = caller.f_code.co_filename, caller.f_lineno
        with lock:
            if place not in self._allocations:
                is_numba = isinstance(dtype, kernelapi.types.Type)
                numpy_type = kernelapi.numpy_support.as_dtype(dtype) if is_numba else dtype
                self._allocations[place] = np.empty(shape, numpy_type)
            return self._allocations[place]

    kernelapi.FakeCUDAShared.array = array


def main(found: Mapping[str, Any]) -> None:
    """Run all checks of a script; print what failed as one line of JSON."""
    failed = {}
    for name, check in found.items():
        if name.startswith(_PREFIX):
            try:
                check()
                failed[name] = ""
            except Exception:
                failed[name] = traceback.format_exc()
    print(json.dumps(failed))
