"""The trials do what they say: forgeries have right checksums, damage has not."""

import contextlib
import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from equilibrist.errors import StorageError
from equilibrist.storage.artefact import Header, open_artefact, write_artefact
from equilibrist.storage.table_file import read_tables, write_tables

NEEDS_MORE = ("array of another",)  # forgeries that need another folder to take from
TRIALS = Path(__file__).parents[2] / "trials"


@pytest.fixture(autouse=True, scope="module")
def scripts():
    """The scripts import each other as they lie side by side."""
    sys.path.insert(0, str(TRIALS))
    yield
    sys.path.remove(str(TRIALS))


@pytest.fixture
def draft(tmp_path):
    """Makes a new draft of a small folder."""
    import forgery

    write_artefact(
        tmp_path / "genuine",
        Header(
            "specimen",
            configuration={"game": "GAMEDEF\nnumSuits = 2\n", "method": "cfr+"},
            info={"iterations": 3},
        ),
        {"plan0": np.arange(6.0), "plan1": np.ones((3, 2)), "first": np.arange(4, dtype=np.int32)},
    )

    tables = tmp_path / "genuine" / "subgames"
    tables.mkdir()
    write_tables(tables / "000000-0.tables", "run", 3, {"values": np.arange(4.0)})

    def draft(seed):
        place = tmp_path / f"draft-{seed}"
        shutil.copytree(tmp_path / "genuine", place / "it")
        (place / "outside").mkdir()
        (place / "outside" / "canary").write_text("sings")
        return forgery.Draft(place / "it", place / "outside", [], random.Random(seed))

    return draft


def test_the_format_written_down_twice_is_the_same(draft):
    import forgery

    found = draft(0)
    assert forgery.digest(found.manifest) == found.manifest["sha256"]
    assert forgery.identity(found.manifest) == open_artefact(found.folder).hash


def test_a_file_of_tables_is_read_and_written_twice_the_same(draft, tmp_path):
    import forgery

    path = draft(0).folder / "subgames" / "000000-0.tables"
    header, parts = forgery.read_tables(path)
    assert (header["run"], header["epoch"], np.frombuffer(parts[0]).tolist()) == (
        "run", 3, [0, 1, 2, 3],
    )  # fmt: skip
    before = path.read_bytes()
    forgery.write_tables(path, header, parts)
    assert path.read_bytes() == before


def test_another_valid_artefact_has_right_checksums(draft):
    import forgery

    hashes = set()
    for seed in range(20):
        found = draft(seed)
        forgery.FORGERIES["odd numbers"](found)
        found.sign()
        opened = open_artefact(found.folder)
        opened.verify()
        hashes.add(opened.hash)
    assert len(hashes) > 10


def test_every_forgery_changes_the_folder_and_nothing_outside(draft):
    import forgery

    for number, (name, recipe) in enumerate(forgery.FORGERIES.items()):
        changed = []
        for seed in range(3 * number, 3 * number + 3):
            found = draft(seed)
            before = content(found.folder)
            if recipe(found) is None:
                continue
            if name not in forgery.SIGNED_BY_THEMSELVES:
                found.sign()
            changed.append(content(found.folder) != before)
            assert (found.outside / "canary").read_text() == "sings"
        assert any(changed) or name in NEEDS_MORE, name


def content(folder):
    """Names, types and contents of the files of a folder."""
    return {
        path.name: path.read_bytes() if path.is_file() and path.stat().st_size < 2**30 else None
        for path in folder.rglob("*")
        if not path.is_symlink()
    } | {path.name: str(path.readlink()) for path in folder.rglob("*") if path.is_symlink()}


def test_damage_to_arrays_is_found(draft):
    import forgery

    refused = 0
    for seed in range(60):
        found = draft(seed)
        before = content(found.folder)
        forgery.damage(found)
        now = content(found.folder)
        harmed = {name for name in before if now.get(name) != before[name]} - {"lock"}
        if {name for name in harmed if name.endswith(".tables")}:
            harmed.remove("000000-0.tables")
            with contextlib.suppress(StorageError):
                assert read_tables(found.folder / "subgames" / "000000-0.tables") is None
        if harmed:
            with pytest.raises(StorageError):
                open_artefact(found.folder).verify()
            refused += 1
    assert refused > 30


def test_verdicts():
    import forge_folders
    from children import Ending
    from forgery import FORBIDDEN, IMPOSSIBLE, Forged
    from specimens import Reader

    genuine = {".value": 1.5, ".matches": True, ".exploitability": 0.5, "exit code": 0}
    same = {"value": 1.5, "matches": True, "exploitability": 0.5}
    complaint = "equilibrist: it/manifest.json was edited\n"

    def verdict(code=0, out=same, error="", *, late=False, damage=True, stated=0.5, **forged):
        text = out if isinstance(out, str) else json.dumps(out)
        ending = Ending(code, text, error, 0.1, late)
        forged = Forged("recipe", "words", **forged)
        return forge_folders.judge(
            ending, genuine, Reader("exploit"), forged, is_damage=damage, stated=stated
        )

    assert verdict() == "same"
    assert verdict(2, "", complaint) == "refused"
    assert verdict(2, "", "something") == "exit"
    assert verdict(2, "", complaint * 2) == "exit"
    assert verdict(1, same | {"matches": False}) == "reported"
    assert verdict(1, "", "Traceback (most recent call last):\n…\nKeyError: 'x'") == "traceback"
    assert verdict(1, "", "Traceback (most recent call last):\n…\nMemoryError") == "memory"
    assert verdict(-11, "") == "signal"
    assert verdict(-9, "", late=True) == "hang"
    assert verdict(0, same | {"value": 2.5}) == "silent"
    assert verdict(0, same | {"value": 2.5}, damage=False) == "other"
    assert verdict(0, same | {"value": 2.5}, damage=False, allowed=IMPOSSIBLE) == "accepted"
    assert verdict(0, damage=False, allowed=FORBIDDEN) == "accepted"
    assert verdict(0, damage=False, stated=0.4) == "silent"
    assert verdict(0, same | {"value": float("nan")}) == "not finite"
    assert verdict(2, "", complaint.replace("was", "\x1b[31m")) == "controls"


def test_differences_of_a_killed_run():
    import kill_runs

    clean = {"it plan0": ["<f8", [3], "ab"], "it trace": {1: [0.5], 2: [0.25]}}
    more = clean | {"it trace": {1: [0.5], 2: [0.25], 3: [0.2]}}
    assert kill_runs.differences(clean, dict(clean), extra_rows=False) == []
    assert kill_runs.differences(clean, more, extra_rows=True) == []
    assert kill_runs.differences(clean, more, extra_rows=False) == ["it trace"]
    assert kill_runs.differences(clean, {}, extra_rows=True) == ["it plan0", "it trace"]
    other = clean | {"it plan0": ["<f8", [3], "ac"], "it trace": {1: [0.5]}}
    assert kill_runs.differences(clean, other, extra_rows=True) == ["it plan0", "it trace"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "script", [("forge_folders.py", "--trials", "120"), ("kill_runs.py", "--trials", "30")]
)
def test_no_trial_of_a_small_number_fails(script):
    name, *options = script
    process = subprocess.run(
        [sys.executable, TRIALS / name, *options], capture_output=True, text=True
    )
    assert process.returncode == 0, process.stdout[-3000:] + process.stderr[-3000:]


def test_the_longest_silence_is_found_with_the_line_before_it():
    import silence

    watch = silence.Watch()
    for seconds, data in (
        (1.0, b"first line\n"),
        (1.5, b"\r\x1b[Klive line"),
        (5.5, b"\r\x1b[Kresult\n"),
        (7.0, b""),
    ):
        watch.hear(seconds, data)
    assert (watch.longest, watch.begin, watch.before) == (4.0, 1.5, "live line")


@pytest.mark.parametrize("terminal", [True, False])
def test_a_program_is_measured_to_its_end(tmp_path, terminal):
    import silence

    program = [sys.executable, "-c", "import sys; print(sys.stdout.isatty()); sys.exit(3)"]
    found = silence.measure(program, tmp_path, terminal=terminal, limit=60)
    assert found.code == 3
    assert 0 < found.longest <= found.total


def test_a_program_that_takes_too_long_is_killed(tmp_path):
    import silence

    program = [sys.executable, "-c", "import time; time.sleep(60)"]
    assert silence.measure(program, tmp_path, limit=0.2).code < 0
