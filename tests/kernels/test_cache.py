import os
import subprocess
import sys
from pathlib import Path

import pytest

from equilibrist.kernels import cache

HELPER = "from numba import njit\n\n@njit(cache=True)\ndef helper(x):\n    return x + {step}\n"
CALLER = (
    "from numba import njit\nfrom sandbox.helper import helper\n\n"
    "@njit(cache=True)\ndef caller(x):\n    return helper(x)\n"
)
PROGRAM = (
    "from pathlib import Path\nfrom equilibrist.kernels import cache\n"
    "import numba, sandbox\n"
    "numba.config.CACHE_DIR = {base!r}\n"
    "if {fingerprinted}:\n"
    "    folder = Path({base!r}) / cache.fingerprint(Path(sandbox.__file__).parent)\n"
    "    numba.config.CACHE_DIR = str(folder)\n"
    "from sandbox.caller import caller\nprint(caller(1))\n"
)


def run(folder: Path, *, fingerprinted: bool) -> int:
    program = PROGRAM.format(base=str(folder / "cache"), fingerprinted=fingerprinted)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA")}
    environment["PYTHONPATH"] = str(folder)
    result = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    return int(result.stdout)


@pytest.fixture
def sandbox(tmp_path):
    package = tmp_path / "sandbox"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "helper.py").write_text(HELPER.format(step=1))
    (package / "caller.py").write_text(CALLER)
    return tmp_path


def test_an_edit_in_one_kernel_file_reaches_a_caller_in_another(sandbox):
    assert run(sandbox, fingerprinted=True) == 2
    assert run(sandbox, fingerprinted=True) == 2  # from the cache
    (sandbox / "sandbox" / "helper.py").write_text(HELPER.format(step=10))
    assert run(sandbox, fingerprinted=True) == 11


def test_without_the_fingerprint_numba_would_keep_the_stale_caller(sandbox):
    """Why the fingerprint exists; if this ever fails, Numba has learnt to look further."""
    assert run(sandbox, fingerprinted=False) == 2
    (sandbox / "sandbox" / "helper.py").write_text(HELPER.format(step=10))
    assert run(sandbox, fingerprinted=False) == 2


def test_the_fingerprint_depends_on_names_and_contents(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n")
    first = cache.fingerprint(tmp_path)
    (tmp_path / "a.py").write_text("x = 2\n")
    second = cache.fingerprint(tmp_path)
    (tmp_path / "a.py").rename(tmp_path / "b.py")
    third = cache.fingerprint(tmp_path)
    assert len({first, second, third}) == 3


def test_bounds_checking_has_a_cache_of_its_own(tmp_path, monkeypatch):
    plain = cache.fingerprint(tmp_path)
    monkeypatch.setattr("numba.config.BOUNDSCHECK", not cache.numba.config.BOUNDSCHECK)
    assert cache.fingerprint(tmp_path) != plain


def test_old_fingerprints_are_forgotten_and_strangers_are_left_alone(tmp_path):
    for number in range(10):
        folder = tmp_path / f"{number:012x}"
        folder.mkdir()
        os.utime(folder, (number, number))
    (tmp_path / "somebody-elses").mkdir()
    cache._forget_old_folders(tmp_path)
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == [*(f"{number:012x}" for number in range(5, 10)), "somebody-elses"]


def test_a_home_that_cannot_be_written_falls_back_to_the_temporary_folder(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert cache._user_cache() == cache._temporary_cache()


def test_a_user_without_a_home_gets_the_temporary_folder(monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    assert cache._user_cache() == cache._temporary_cache()


def test_kernels_are_never_cached_beside_their_sources(tmp_path, monkeypatch):
    """Numba would do so, without a word, where the folder it is told cannot be written."""
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path / "file"))
    assert cache.use_fingerprinted_folder().parent == cache._temporary_cache()


def test_a_kernel_is_cold_until_its_own_index_is_there(tmp_path, monkeypatch):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("numba.config.DISABLE_JIT", 0)
    assert cache.is_cold()
    folder = tmp_path / "cpu_0123456789abcdef"
    folder.mkdir()
    (folder / "ranking.rank_hands-30.py311.nbi").touch()
    assert not cache.is_cold()
    assert not cache.is_cold("ranking.rank_hands")
    assert cache.is_cold("ranking.rank_hand")
    assert cache.is_cold("ranking.rank_hands", "equity.showdown_boards")
    monkeypatch.setattr("numba.config.DISABLE_JIT", 1)
    assert not cache.is_cold("equity.showdown_boards")


def test_folders_that_another_process_removes_are_no_error(tmp_path, monkeypatch):
    for number in range(10):
        (tmp_path / f"{number:012x}").mkdir()
    # Each folder goes away right after it has been seen.
    monkeypatch.setattr(cache, "_is_fingerprint", lambda name: not (tmp_path / name).rmdir())
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    assert cache.use_fingerprinted_folder().parent == tmp_path
