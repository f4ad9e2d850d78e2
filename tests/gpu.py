"""Runs checks of GPU kernels in a process of their own: in Numba's simulator, or on a GPU.

Numba simulates a GPU only if `NUMBA_ENABLE_CUDASIM` is set before it is imported. A script of
checks ends with `main(globals())`; `results` runs it and returns what failed, by name.
"""

import json
import os
import subprocess
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
