"""Kernels and their parts: what Python may call, what is compiled, and by which process."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from numba import types
from numba.core import event

from equilibrist.kernels.parts import kernel, part, part_by_type

pytestmark = pytest.mark.kernels


@part
def twice(x):
    return 2 * x


@part(forceinline=False)
def twice_and_one(x):
    return twice(x) + 1


@kernel(cache=False)
def write_odd(numbers, out):
    for i in range(len(numbers)):
        out[i] = twice_and_one(numbers[i])


def _of_floats(x):
    return twice(x) + 0.5


def _of_integers(x):
    return twice_and_one(x)


def choose(x):
    raise NotImplementedError


@part_by_type(choose)
def _by_type(x):
    return _of_floats if isinstance(x, types.Float) else _of_integers


@kernel(cache=False)
def chosen(x):
    return choose(x)


class Compiled(event.Listener):
    """Listener that records the names of functions that are compiled."""

    def __init__(self):
        self.names = []

    def on_start(self, found):
        self.names.append(found.data["dispatcher"].py_func.__name__)

    def on_end(self, _):
        pass


def test_a_kernel_computes_with_its_parts():
    numbers, out = np.arange(5), np.empty(5, np.int64)
    write_odd(numbers, out)
    assert out.tolist() == [1, 3, 5, 7, 9]


def test_python_cannot_call_a_part():
    write_odd(np.arange(2), np.empty(2, np.int64))
    with pytest.raises(TypeError):
        twice_and_one(3)


def test_a_part_has_no_machine_code_of_its_own():
    write_odd(np.arange(2), np.empty(2, np.int64))
    (compiled,) = twice.overloads.values()
    assert not compiled.library._codegen._engine.is_symbol_defined(compiled.fndesc.mangled_name)


def test_only_the_part_for_the_type_is_compiled():
    with event.install_listener("numba:compile", Compiled()) as seen:
        assert chosen(1.5) == 3.5
    assert "_of_floats" in seen.names
    assert "_of_integers" not in seen.names
    assert chosen(1) == 3


SLOW_KERNEL = """
    import sys, time
    from pathlib import Path
    from numba.core import event
    from equilibrist.kernels.parts import kernel

    class Slow(event.Listener):
        def on_start(self, found):
            if found.data["dispatcher"].py_func.__name__ == "one_more":
                print("compiled", flush=True)
                time.sleep(1)
        def on_end(self, _):
            pass

    @kernel
    def one_more(x):
        return x + 1

    event.register("numba:compile", Slow())
    ready, both = Path(sys.argv[1]), [Path("ready0"), Path("ready1")]
    ready.touch()
    while not all(path.exists() for path in both):
        time.sleep(0.01)
    print(one_more(int(sys.argv[2])), flush=True)
"""


def test_one_of_two_processes_compiles_and_the_other_waits_for_it(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "slow.py").write_text(textwrap.dedent(SLOW_KERNEL))
    runs = [
        subprocess.Popen(
            [sys.executable, "slow.py", f"ready{i}", "41"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            text=True,
        )
        for i in (0, 1)
    ]
    found = [run.communicate(timeout=600)[0].split() for run in runs]
    assert sorted(found, key=len) == [["42"], ["compiled", "42"]]


def test_a_process_compiles_after_one_that_was_killed_while_it_compiled(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "slow.py").write_text(textwrap.dedent(SLOW_KERNEL))
    (tmp_path / "ready1").touch()
    command = [sys.executable, "slow.py", "ready0", "41"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout.readline() == "compiled\n"
        first.kill()
    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert again.stdout.split() == ["compiled", "42"]
