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
    assert left == [*(f"{number:012x}" for number in range(4, 10)), "somebody-elses"]


@pytest.fixture
def places(tmp_path, monkeypatch):
    """A home and a temporary directory of one's own, and a Numba that no host has set up."""
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tmp").chmod(0o1777)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    monkeypatch.setattr("numba.config.CACHE_DIR", "")
    monkeypatch.setattr(cache, "refusal", "")
    monkeypatch.setattr(cache, "folder", None)
    monkeypatch.setattr(cache.event, "register", lambda *_: None)
    return tmp_path


def test_the_cache_is_a_folder_that_only_its_user_can_open(places):
    folder = cache.use_fingerprinted_folder()
    assert folder.parent == places / "home" / "equilibrist" / "kernels"
    for path in (folder, folder.parent, folder.parent.parent):
        assert path.stat().st_mode & 0o777 == 0o700
    assert folder == cache.folder
    assert cache.numba.config.CACHE_DIR == ""  # Numba's setting is the host program's
    assert cache.refusal == ""


def test_a_cache_that_others_could_read_is_closed_to_them(places):
    folder = cache.use_fingerprinted_folder()
    folder.chmod(0o755)
    assert cache.use_fingerprinted_folder() == folder
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_home_that_cannot_be_written_falls_back_to_the_temporary_folder(places, monkeypatch):
    (places / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(places / "file"))
    assert cache.use_fingerprinted_folder().parent == cache._temporary_cache()
    assert cache._temporary_cache().stat().st_mode & 0o777 == 0o700


def test_a_user_without_a_home_gets_the_temporary_folder(places, monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", no_home)
    assert cache.use_fingerprinted_folder().parent == cache._temporary_cache()


def test_kernels_are_never_cached_beside_their_sources(places, monkeypatch):
    """Numba would do so, without a warning, if the folder that it is given cannot be written."""
    (places / "file").write_text("in the way")
    monkeypatch.setattr("numba.config.CACHE_DIR", str(places / "file"))
    assert cache.use_fingerprinted_folder().parent == cache._temporary_cache()


def _plant(places, monkeypatch, name=None):
    """A folder in the place of the one in the temporary directory, and no home."""
    (places / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(places / "file"))
    folder = cache._temporary_cache()
    if name is not None:
        folder /= cache.fingerprint(Path(cache.__file__).parent)
    folder.mkdir(parents=True)
    return folder


@pytest.mark.parametrize("name", [None, "the folder of the present sources"])
def test_a_folder_that_others_can_write_to_is_not_used(places, monkeypatch, name):
    folder = _plant(places, monkeypatch, name)
    folder.chmod(0o770)
    assert cache.use_fingerprinted_folder() is None
    assert f"other users can write to {folder}" in cache.refusal
    assert cache.folder is None
    assert cache.is_cold()
    assert folder.stat().st_mode & 0o777 == 0o770
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("name", [None, "the folder of the present sources"])
def test_a_folder_of_another_user_is_not_used(places, monkeypatch, name):
    folder = _plant(places, monkeypatch, name)
    lstat = os.lstat

    def of_another(path):
        found = list(lstat(path))
        if Path(path) == folder:
            found[4] += 1000  # the user
        return os.stat_result(found)

    monkeypatch.setattr(os, "lstat", of_another)
    assert cache.use_fingerprinted_folder() is None
    assert f"{folder} belongs to another user" in cache.refusal


def test_a_link_in_the_place_of_the_cache_is_not_followed(places, monkeypatch):
    folder = _plant(places, monkeypatch, "the folder of the present sources")
    folder.rmdir()
    (places / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(places / "elsewhere")
    assert cache.use_fingerprinted_folder() is None
    assert f"{folder} is no folder" in cache.refusal


def test_a_folder_below_one_that_others_can_write_to_is_not_used(places, monkeypatch):
    shared = places / "shared"
    (shared / "mine").mkdir(parents=True)
    shared.chmod(0o777)
    monkeypatch.setattr("numba.config.CACHE_DIR", str(shared / "mine"))
    assert cache.use_fingerprinted_folder().parent == cache._temporary_cache()
    shared.chmod(0o1777)  # where only owners can rename and remove
    monkeypatch.setattr("numba.config.CACHE_DIR", str(shared / "mine"))
    assert cache.use_fingerprinted_folder().parent == shared / "mine"


def test_without_a_safe_folder_nothing_is_kept_and_a_sentence_says_so(places):
    """Shown by the whole program: a folder planted in the temporary directory is not touched."""
    (places / "file").write_text("in the way")
    planted = places / "tmp" / f"equilibrist-kernels-{os.geteuid()}"
    planted.mkdir()
    planted.chmod(0o777)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA")}
    environment |= {"XDG_CACHE_HOME": str(places / "file"), "TMPDIR": str(places / "tmp")}
    program = "from equilibrist.cli import main; main()"
    result = subprocess.run(
        [sys.executable, "-c", program, "index", "AhKh2c7d9h"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    first, second = result.stderr.splitlines()
    assert first == "compiling kernels …"
    assert second.startswith("compiled kernels are not kept for the next run because ")
    assert f"other users can write to {planted}" in second
    assert list(planted.iterdir()) == []
    assert not list(Path(cache.__file__).parent.rglob("*.nbi"))


def test_a_kernel_is_cold_until_its_own_index_is_there(tmp_path, monkeypatch):
    monkeypatch.setattr("numba.config.DISABLE_JIT", 0)
    monkeypatch.setattr(cache, "folder", tmp_path)
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
    monkeypatch.setattr(cache, "folder", None)
    assert cache.use_fingerprinted_folder().parent == tmp_path


def test_a_host_that_changes_numbas_variables_changes_nothing_here(tmp_path):
    """Numba reads all its settings again when one variable has changed, and forgets the folder."""
    program = (
        "import os, numba, equilibrist.kernels\n"
        "os.environ['NUMBA_LOG_LEVEL'] = 'ERROR'\n"
        "numba.core.config.reload_config()\n"
        "from equilibrist.kernels import cache\n"
        "from equilibrist.kernels.cpu.ranking import first_bad_hand\n"
        "print(cache.folder, first_bad_hand._cache.cache_path, repr(numba.config.CACHE_DIR))\n"
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA")}
    environment["XDG_CACHE_HOME"] = str(tmp_path)
    result = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    folder, kept, setting = result.stdout.split()
    assert Path(kept).parent == Path(folder)
    assert setting == "''"
