"""Artefacts: whole or not there, and never believed when they were touched."""

import errno
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import tracemalloc

import numpy as np
import pytest

from equilibrist.errors import InvalidValueError, SolverError, StorageError
from equilibrist.storage import array_file
from equilibrist.storage import artefact as artefact_module
from equilibrist.storage.array_file import BLOCK_BYTES
from equilibrist.storage.artefact import Header, open_artefact, read_identity, write_artefact
from equilibrist.storage.manifest import FIELDS, digest
from equilibrist.storage.ownership import LockText
from equilibrist.version import __version__

ARRAYS = {
    "regret": np.arange(6.0).reshape(2, 3),
    "iteration": np.array(17, np.int64),
    "columns": np.asfortranarray(np.arange(6, dtype=np.float32).reshape(3, 2)),
    "empty": np.zeros((0, 4), np.int32),
    "mask": np.array([True, False]),
    "names": np.array(["a", "bcd"]),
    "every-2nd": np.arange(10, dtype=np.uint8)[::2],
}


def write(folder, generation=1, **changes):
    """One small artefact, all of whose content follows from a number."""
    arrays = {"x": np.full(1000, generation), "y": np.full((3, 4), generation / 2)}
    arguments = {"configuration": {"k": generation}, "seed": generation} | changes
    return write_artefact(folder, Header("thing", **arguments), arrays)


def generation_of(folder):
    """The number whose artefact the folder holds; fails if it holds anything but one artefact."""
    artefact = open_artefact(folder, "thing")
    artefact.verify()
    k = artefact.configuration["k"]
    assert artefact.seed == k
    assert (artefact.arrays["x"] == k).all()
    assert (artefact.arrays["y"] == k / 2).all()
    return k


def array_path(folder, name="x"):
    return folder / open_artefact(folder).files[name].file


def edit(folder, signed=True, **changes):
    """Edit a manifest, with a checksum that fits if `signed`."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text()) | changes
    manifest["sha256"] = digest(manifest) if signed else manifest["sha256"]
    path.write_text(json.dumps(manifest))


def snapshot(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "lock"}


def test_what_is_written_comes_back(tmp_path):
    folder = tmp_path / "new" / "folder"
    hash_of_it = write_artefact(
        folder,
        Header(
            "thing",
            configuration={"text": "50% ×", "pair": (1, 2), "count": np.int64(3)},
            info={"score": np.float64(0.1), "nothing": None},
            seed=7,
            parents={"cards": "ab" * 32},
            timings={"run": 1.5},
        ),
        ARRAYS,
    )
    artefact = open_artefact(folder, kind="thing")
    artefact.verify()
    assert artefact.configuration == {"text": "50% ×", "pair": [1, 2], "count": 3}
    assert artefact.info == {"score": 0.1, "nothing": None}
    assert (artefact.seed, artefact.parents) == (7, {"cards": "ab" * 32})
    assert (artefact.timings, artefact.generation) == ({"run": 1.5}, 1)
    assert (artefact.package_version, artefact.hash) == (__version__, hash_of_it)
    assert set(artefact.arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        stored = artefact.arrays[name]
        assert (stored.dtype, stored.shape) == (array.dtype, array.shape)
        assert type(stored) is np.ndarray
        np.testing.assert_array_equal(stored, array)


def test_maps_are_read_only_and_copies_are_not(tmp_path):
    write(tmp_path)
    mapped, copied = open_artefact(tmp_path), open_artefact(tmp_path, in_memory=True)
    with pytest.raises(ValueError, match="read-only"):
        mapped.arrays["x"][0] = 9
    copied.arrays["x"][0] = 9
    copied.verify()
    assert generation_of(tmp_path) == 1


def test_a_second_write_replaces_the_first_and_removes_its_arrays(tmp_path):
    write(tmp_path, 1)
    before = open_artefact(tmp_path)
    write(tmp_path, 2)
    assert generation_of(tmp_path) == 2
    names = ["lock", "manifest.json", "x-000002.npy", "y-000002.npy"]
    assert sorted(os.listdir(tmp_path)) == names
    assert (before.arrays["x"] == 1).all()  # the maps of removed files stay valid
    before.verify()


def test_the_hash_depends_on_content_and_configuration_only(tmp_path):
    same = {write(tmp_path / "a"), write(tmp_path / "a"), write(tmp_path / "b", info={"note": 1})}
    assert len(same) == 1
    assert write(tmp_path / "c", seed=2) not in same
    assert write(tmp_path / "c", configuration={}) not in same
    assert write(tmp_path / "c", parents={"p": "0"}) not in same


def test_a_huge_array_is_not_read_to_learn_what_it_is_or_a_part_of_it(tmp_path):
    write(tmp_path)
    path = array_path(tmp_path)
    length = 2**33  # 64 GiB of zeros that take no room on the disk
    with open(path, "wb") as stream:
        header = {"descr": "<i8", "fortran_order": False, "shape": (length,)}
        np.lib.format.write_array_header_1_0(stream, header)
        stream.truncate(stream.tell() + 8 * length)
    arrays = json.loads((tmp_path / "manifest.json").read_text())["arrays"]
    middle = hashlib.sha256(bytes(BLOCK_BYTES)).hexdigest()
    arrays["x"] |= {"shape": [length], "blocks": [middle] * (8 * length // BLOCK_BYTES + 1)}
    edit(tmp_path, arrays=arrays)
    tracemalloc.start()
    assert read_identity(tmp_path, "thing").seed == 1
    array = open_artefact(tmp_path, blockwise=True).large["x"]
    assert (array[length // 2 : length // 2 + 1000] == 0).all()
    assert tracemalloc.get_traced_memory()[1] < 1e7
    tracemalloc.stop()
    with pytest.raises(StorageError, match=r"x-000001\.npy was altered"):
        array[:1]  # the first block has the header


# Crashes

CRASHES = """
import os, random, signal, sys, time
from pathlib import Path
import numpy as np
from equilibrist.storage import artefact

folder, step = Path(sys.argv[1]), int(sys.argv[2])
# A killed process loses nothing the system has: not waiting for the disk, more kills fall between.
os.fsync = lambda descriptor: None
sources = str(Path(artefact.__file__).parent)

def write(k, size):
    arrays = {"x": np.full(size, k), "y": np.full((3, 4), k / 2)}
    header = artefact.Header("thing", configuration={"k": k}, seed=k)
    artefact.write_artefact(folder, header, arrays)

def check(allowed):
    found = artefact.open_artefact(folder, "thing")
    found.verify()
    k = found.configuration["k"]
    assert found.seed == k and (found.arrays["x"] == k).all() and (found.arrays["y"] == k / 2).all()
    assert k in allowed, (k, allowed)
    return k

def in_child(work):
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(0)
    return pid

def write_and_die(k, line):
    left = line
    def trace(frame, event, argument):
        nonlocal left
        if not frame.f_code.co_filename.startswith(sources):
            return None
        left -= event == "line"
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace
    sys.settrace(trace)
    write(k, 50)

def write_on(k):
    while True:
        k += 1
        write(k, 50_000)

if step:  # die after every `step` lines of a first write, and of a write over another
    for first in (True, False):
        line = 0
        while True:
            if first:
                os.system(f"rm -rf '{folder}'")
            else:
                write(1, 50)
            _, status = os.waitpid(in_child(lambda: write_and_die(2, line)), 0)
            if not first or (folder / "manifest.json").exists():
                check({1, 2})
            write(3, 50)  # whatever was left is no obstacle, and is gone afterwards
            check({3})
            assert len(os.listdir(folder)) == 4, os.listdir(folder)
            if not os.WIFSIGNALED(status):
                break
            line += step
        print(line)
else:
    k = 0
    write(0, 50_000)
    for kill in range(30):
        pid = in_child(lambda: write_on(k))
        time.sleep(random.Random(kill).uniform(0, 0.03))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        k = check(range(k, 10**9))
    print(k)
"""


def crash(folder, step):
    done = subprocess.run(
        [sys.executable, "-c", CRASHES, str(folder), str(step)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [int(number) for number in done.stdout.split()]


def test_a_writer_killed_at_some_lines_leaves_the_old_or_the_new(tmp_path):
    first, second = crash(tmp_path / "a", 13)
    assert min(first, second) > 150  # lines of a write


@pytest.mark.slow
def test_a_writer_killed_at_any_line_leaves_the_old_or_the_new(tmp_path):
    first, second = crash(tmp_path / "a", 1)
    assert min(first, second) > 150  # lines of a write


def test_thirty_random_kills_leave_one_of_the_written_generations(tmp_path):
    (generations,) = crash(tmp_path / "a", 0)
    assert generations > 10  # writes did happen between the kills


def test_readers_see_the_old_or_the_new_while_a_writer_replaces(tmp_path):
    write(tmp_path, 1)
    seen = []
    writer = threading.Thread(target=lambda: [write(tmp_path, k) for k in range(2, 30)])
    writer.start()
    while writer.is_alive():
        seen.append(generation_of(tmp_path))
    writer.join()
    assert seen == sorted(seen)
    assert generation_of(tmp_path) == 29


def test_files_that_only_look_like_ours_stay(tmp_path):
    write(tmp_path)
    for name in ("x-000002.npy", "results-123456.npy", "plot.png"):
        (tmp_path / name).write_bytes(b"mine")
    (tmp_path / "manifest.json.new").write_text("{")
    write(tmp_path, 2)
    assert generation_of(tmp_path) == 2
    mine = {"x-000002.npy", "results-123456.npy", "plot.png"}
    assert set(os.listdir(tmp_path)) == mine | {
        "lock", "manifest.json", "x-000003.npy", "y-000003.npy"
    }  # fmt: skip
    assert {(tmp_path / name).read_bytes() for name in mine} == {b"mine"}


def test_leftovers_named_in_the_lock_are_removed_and_nothing_outside_is(tmp_path):
    folder = tmp_path / "a"
    write(folder)
    secret = tmp_path / "secret-000001.npy"
    for path in (folder / "x-000007.npy", secret):
        path.write_bytes(b"half")
    names = frozenset({"x-000007.npy", "../secret-000001.npy"})
    (folder / "lock").write_bytes(LockText(1, 1.0, names=names).encode())
    write(folder, 2)
    assert len(os.listdir(folder)) == 4
    assert secret.exists()


# Damage


def test_a_cut_array_is_refused_by_name_at_opening(tmp_path):
    write(tmp_path)
    path = array_path(tmp_path)
    for size in (path.stat().st_size - 1, 128, 100, 3, 0):
        os.truncate(path, size)
        with pytest.raises(StorageError, match=r"x-000001\.npy .*altered or cut"):
            open_artefact(tmp_path)


def test_a_longer_array_is_refused_by_name_at_opening(tmp_path):
    write(tmp_path)
    with open(array_path(tmp_path), "ab") as stream:
        stream.write(b"more")
    with pytest.raises(StorageError, match=r"x-000001\.npy has 8,132 bytes instead of 8,128"):
        open_artefact(tmp_path)


def flip_last_bit(path):
    with open(path, "r+b") as stream:
        stream.seek(-1, os.SEEK_END)
        last = stream.read(1)[0]
        stream.seek(-1, os.SEEK_END)
        stream.write(bytes([last ^ 1]))


@pytest.mark.parametrize("options", [{}, {"in_memory": True}, {"blockwise": True}])
def test_one_altered_bit_is_refused_by_name_at_opening(tmp_path, options):
    write(tmp_path)
    artefact = open_artefact(tmp_path, **options)
    flip_last_bit(array_path(tmp_path, "y"))
    for attempt in (artefact.verify, lambda: open_artefact(tmp_path, **options)):
        with pytest.raises(StorageError, match=r"y-000001\.npy was altered") as caught:
            attempt()
        assert caught.value.value == str(tmp_path / "y-000001.npy")
    assert read_identity(tmp_path).hash == artefact.hash  # which does not look at arrays


def test_arrays_larger_than_memory_are_not_copied_to_it(tmp_path, monkeypatch):
    """A file of holes takes no room on a disk, but filling memory would end the process."""
    write(tmp_path)
    monkeypatch.setattr(artefact_module, "available_bytes", lambda: 20)
    with pytest.raises(StorageError, match="memory are free"):
        open_artefact(tmp_path, in_memory=True)
    assert set(open_artefact(tmp_path).arrays) == {"x", "y"}


@pytest.fixture
def small_blocks(monkeypatch):
    """Files of more than 1,000 bytes are large, and have blocks of 512."""
    monkeypatch.setattr(array_file, "LARGE_BYTES", 1000)
    monkeypatch.setattr(array_file, "BLOCK_BYTES", 512)


def test_large_arrays_are_checked_block_by_block(tmp_path, small_blocks):
    rows = np.arange(4000, dtype=np.float32).reshape(1000, 4)
    write_artefact(tmp_path, Header("thing", configuration={}), {"rows": rows, "few": rows[:3]})
    found = open_artefact(tmp_path, blockwise=True)
    assert (set(found.arrays), set(found.large)) == ({"few"}, {"rows"})
    assert len(found.files["rows"].blocks) == -(-(16_000 + 128) // 512)
    large = found.large["rows"]
    assert (large.shape, large.dtype, len(large)) == (rows.shape, rows.dtype, 1000)
    np.testing.assert_array_equal(large[17:60], rows[17:60])
    np.testing.assert_array_equal(large[999], rows[999])
    np.testing.assert_array_equal(np.array(large), rows)
    assert open_artefact(tmp_path).large == {}
    flip_last_bit(tmp_path / found.files["rows"].file)
    damaged = open_artefact(tmp_path, blockwise=True).large["rows"]
    np.testing.assert_array_equal(damaged[:900], rows[:900])
    for attempt in (lambda: damaged[999], lambda: damaged[800:], lambda: np.array(damaged)):
        with pytest.raises(StorageError, match=r"rows-000001\.npy was altered"):
            attempt()
    with pytest.raises(StorageError, match=r"rows-000001\.npy was altered"):
        open_artefact(tmp_path)


def test_large_arrays_of_earlier_versions_are_checked_whole(tmp_path, small_blocks):
    write(tmp_path)
    arrays = json.loads((tmp_path / "manifest.json").read_text())["arrays"]
    assert arrays["x"].pop("blocks")
    edit(tmp_path, arrays=arrays)
    assert set(open_artefact(tmp_path, blockwise=True).arrays) == {"x", "y"}
    flip_last_bit(array_path(tmp_path))
    with pytest.raises(StorageError, match=r"x-000001\.npy was altered"):
        open_artefact(tmp_path, blockwise=True)


def test_an_array_cut_after_opening_is_refused_by_verification(tmp_path):
    write(tmp_path)
    artefact = open_artefact(tmp_path)
    os.truncate(array_path(tmp_path), 10)
    with pytest.raises(StorageError, match=r"x-000001\.npy was altered"):
        artefact.verify()


def test_a_missing_array_is_refused_by_name(tmp_path):
    write(tmp_path)
    artefact = open_artefact(tmp_path)
    array_path(tmp_path).unlink()
    with pytest.raises(StorageError, match=r"x-000001\.npy is missing"):
        artefact.verify()
    with pytest.raises(StorageError, match=r"x-000001\.npy is missing"):
        open_artefact(tmp_path)


def test_an_array_of_another_shape_or_type_is_refused_by_name(tmp_path):
    write(tmp_path)
    path = array_path(tmp_path)
    for other in (np.zeros(1000, np.float64), np.zeros(999, np.int64)):
        np.save(path, other)
        with pytest.raises(StorageError, match=r"x-000001\.npy does not start like an array"):
            open_artefact(tmp_path)


def test_a_header_that_numpy_would_not_write_is_refused(tmp_path):
    write(tmp_path)
    path = array_path(tmp_path)
    whole = path.read_bytes()
    for old, new in (
        (b"'descr': '<i8'", b"'descr': '<i9'"),
        (b"(1000,)", b"(10**3)"),
        (b"False", b"True "),
        (b"}  ", b"}#x"),
        (b" \n", b"\n\n"),
        (b"\x93NUMPY\x01", b"\x93NUMPY\x02"),
    ):
        assert whole.count(old) == 1 or old == b"}  "
        path.write_bytes(whole.replace(old, new, 1))
        with pytest.raises(StorageError, match=r"x-000001\.npy does not start like an array"):
            open_artefact(tmp_path)


def test_a_manifest_without_one_of_its_fields_is_refused(tmp_path):
    write(tmp_path)
    path = tmp_path / "manifest.json"
    whole = json.loads(path.read_text())
    for field in FIELDS:
        rest = {name: value for name, value in whole.items() if name != field}
        path.write_text(json.dumps(rest | {"sha256": digest(rest)}))
        with pytest.raises(StorageError, match=f"has no {field}, or one of the wrong type"):
            read_identity(tmp_path)


def test_headers_of_other_versions_of_numpy_differ_in_a_few_spaces_only(tmp_path):
    write(tmp_path)
    path = array_path(tmp_path)
    content = path.read_bytes()
    text = content[10:128].rstrip()

    def pad(length):
        size = (length - 10).to_bytes(2, "little")
        path.write_bytes(content[:8] + size + text.ljust(length - 11) + b"\n" + content[128:])
        arrays = json.loads((tmp_path / "manifest.json").read_text())["arrays"]
        arrays["x"]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
        edit(tmp_path, arrays=arrays)

    pad(192)
    assert generation_of(tmp_path) == 1
    pad(256)
    with pytest.raises(StorageError, match=r"x-000001\.npy does not start like an array"):
        open_artefact(tmp_path)


@pytest.mark.parametrize("kind", ["link", "pipe", "device"])
def test_an_array_file_that_is_no_plain_file_is_refused(tmp_path, kind):
    write(tmp_path / "a")
    path = array_path(tmp_path / "a")
    path.rename(tmp_path / "elsewhere")
    if kind == "link":
        path.symlink_to(tmp_path / "elsewhere")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    wanted = {"device": "link"}.get(kind, kind)
    for options in ({}, {"in_memory": True}, {"blockwise": True}):
        with pytest.raises(StorageError, match=rf"x-000001\.npy is a {wanted}; it must be a reg"):
            open_artefact(tmp_path / "a", **options)


def test_an_array_file_that_cannot_be_opened_is_named(tmp_path):
    write(tmp_path)
    path = array_path(tmp_path)
    artefact = open_artefact(tmp_path)
    path.unlink()
    path.mkdir()
    with pytest.raises(StorageError, match=r"x-000001\.npy is a folder; it must be a regular file"):
        open_artefact(tmp_path)
    with pytest.raises(StorageError, match=r"x-000001\.npy is a folder; it must be a regular file"):
        artefact.verify()


@pytest.mark.parametrize("options", [{}, {"in_memory": True}, {"blockwise": True}])
def test_an_array_file_that_the_disk_does_not_give_is_named(tmp_path, monkeypatch, options):
    def fail(path, *_):
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))

    write(tmp_path)
    monkeypatch.setattr(array_file, "open_regular", fail)
    with pytest.raises(StorageError, match=r"\.npy cannot be read: Input/output error"):
        open_artefact(tmp_path, **options)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (b"", "is not JSON"),
        (b'{"format": "equilibrist-artefact", "vers', "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b'{"format": "equilibrist-artefact", "version": NaN}', "is not JSON"),
        (b'{"format": "equilibrist-artefact", "version": 1e999}', "is not JSON"),
        (b'{"version": ' + b"1" * 5000 + b"}", "is not JSON"),
        (b" " * (2**24 + 1), "has more than 16,777,216 bytes"),
        (b"[1, 2]", "is not the manifest of an artefact"),
        (b'{"name": "somebody else\'s"}', "is not the manifest of an artefact"),
        (b'{"format": "equilibrist-artefact"}', "has version None"),
        (b'{"format": "equilibrist-artefact", "version": 1}', "was edited or damaged"),
    ],
)
def test_a_broken_manifest_is_refused_and_not_overwritten(tmp_path, text, complaint):
    write(tmp_path)
    (tmp_path / "manifest.json").write_bytes(text)
    before = snapshot(tmp_path)
    for attempt in (open_artefact, write):
        with pytest.raises(StorageError, match=rf"manifest\.json {complaint}"):
            attempt(tmp_path)
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"seed": 2**128}, "its seed"),
        ({"parents": {"first": "x" * 300}}, "its parents"),
        ({"timings": {"a\x1bb": 1.0}}, "its timings"),
        ({"info": {"text": "x" * 2**24}}, "a manifest of 16,7.* bytes"),
    ],
)
def test_what_could_not_be_read_back_is_not_written(tmp_path, fields, complaint):
    write(tmp_path)
    before = snapshot(tmp_path)
    with pytest.raises(StorageError, match=f"cannot hold {complaint}: the manifest could not"):
        write(tmp_path, 2, **fields)
    assert snapshot(tmp_path) == before


def test_a_manifest_edited_by_hand_is_refused(tmp_path):
    write(tmp_path)
    edit(tmp_path, signed=False, configuration={"k": 2})
    with pytest.raises(StorageError, match=r"manifest\.json was edited or damaged"):
        open_artefact(tmp_path)


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a": ', "}")])
def test_a_manifest_that_is_nested_too_deeply_is_refused(tmp_path, opening, closing):
    """Manifests at a certain depth can be read but not written, which their checksum needs."""
    write(tmp_path / "a", configuration={"k": None})
    path = tmp_path / "a" / "manifest.json"
    text = path.read_text()
    for depth in (45, 100, *range(940, 1000), 5000, 200_000):
        deep = opening * depth + "1" + closing * depth
        path.write_text(text.replace('"k": null', f'"k": {deep}'))
        with pytest.raises(StorageError, match=r"nested more than 40 levels|is not JSON"):
            open_artefact(tmp_path / "a")


def test_an_unknown_version_is_refused_and_not_overwritten(tmp_path):
    write(tmp_path)
    edit(tmp_path, version=2)
    for attempt in (open_artefact, write):
        with pytest.raises(StorageError, match=r"has version 2; this program reads version 1"):
            attempt(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        {"file": "../secret-000001.npy"},
        {"file": "/etc/passwd"},
        {"file": 3},
        {"dtype": "|O"},
        {"dtype": "<f8,<f8"},
        {"shape": [-1]},
        {"shape": [True]},
        {"shape": 5},
        {"sha256": "short"},
        {"more": 1},
        {"shape": [2**40, 2**40]},
        {"shape": [2**45]},
        {"shape": [0, 2**60]},
        {"shape": [1] * 9},
        {"dtype": "<i3"},
        {"dtype": "|S0"},
        {"blocks": ["short"]},
        {"blocks": "short"},
    ],
)
def test_a_manifest_that_points_elsewhere_or_to_objects_is_refused(tmp_path, change):
    write(tmp_path)
    arrays = json.loads((tmp_path / "manifest.json").read_text())["arrays"]
    arrays["x"] |= change
    edit(tmp_path, arrays=arrays)
    with pytest.raises(StorageError, match=r"manifest\.json does not describe its arrays"):
        open_artefact(tmp_path)


def test_an_array_may_have_64_tebibytes():
    entry = {"file": "x-000001.npy", "dtype": "<f8", "shape": [2**43], "sha256": "0" * 64}
    assert array_file.ArrayFile.from_json(entry).num_bytes == 2**46
    for shape in ([2**43 + 1], [2**44], [2**20, 2**23, 2]):
        with pytest.raises(ValueError, match="a shape too large for an array"):
            array_file.ArrayFile.from_json(entry | {"shape": shape})


@pytest.mark.parametrize(
    "change",
    [
        {"kind": 1}, {"kind": ""}, {"kind": "a\x1b[2J"}, {"kind": "a\u202eb"}, {"kind": "a" * 300},
        {"seed": "x"}, {"seed": True}, {"seed": 10**50}, {"arrays": []}, {"info": None},
        {"generation": 0}, {"generation": True}, {"generation": 10**12},
        {"timings": {"seconds": "x"}}, {"timings": {"seconds": 10**30}}, {"parents": {"a": 1}},
        {"package_version": "\n"}, {"written": "\ud800"},
    ],
)  # fmt: skip
def test_a_manifest_with_fields_of_other_types_is_refused(tmp_path, change):
    write(tmp_path)
    edit(tmp_path, **change)
    with pytest.raises(StorageError, match=rf"manifest\.json has no {next(iter(change))}"):
        open_artefact(tmp_path)


# Wrong places


def test_another_kind_is_refused_and_not_overwritten(tmp_path):
    write(tmp_path)
    before = snapshot(tmp_path)
    with pytest.raises(StorageError, match="describes a thing, but a solution is wanted"):
        open_artefact(tmp_path, kind="solution")
    with pytest.raises(StorageError, match="holds a thing, which a solution does not overwrite"):
        write_artefact(tmp_path, Header("solution", configuration={}), {})
    assert snapshot(tmp_path) == before


def test_what_is_no_artefact_cannot_be_opened(tmp_path):
    (tmp_path / "file").write_text("text")
    for path in (tmp_path, tmp_path / "file", tmp_path / "absent", tmp_path / "file" / "below"):
        with pytest.raises(StorageError, match=r"is not an artefact: it has no manifest\.json"):
            open_artefact(path)


def test_a_half_written_artefact_is_called_so(tmp_path):
    write(tmp_path)
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(StorageError, match="is half-written"):
        open_artefact(tmp_path)
    write(tmp_path, 4)
    assert generation_of(tmp_path) == 4


@pytest.mark.parametrize("name", ["thesis.tex", "x-000001.npy", "lock", "manifest.json.new"])
def test_a_folder_that_is_something_else_is_left_alone(tmp_path, name):
    (tmp_path / name).write_text("mine")
    with pytest.raises(StorageError, match=f"exists and is not an artefact .it holds {name}"):
        write(tmp_path)
    assert os.listdir(tmp_path) == [name]
    assert (tmp_path / name).read_text() == "mine"


def test_a_file_in_the_place_of_the_folder_is_left_alone(tmp_path):
    path = tmp_path / "file"
    path.write_text("mine")
    for folder in (path, path / "below"):
        with pytest.raises(StorageError, match=r"cannot write .*file.*: Not a directory"):
            write(folder)
    assert path.read_text() == "mine"


def test_an_empty_folder_may_be_filled(tmp_path):
    write(tmp_path)
    assert generation_of(tmp_path) == 1


def test_a_folder_without_permission_gives_one_sentence(tmp_path):
    write(tmp_path)
    before = snapshot(tmp_path)
    is_root = os.geteuid() == 0
    try:
        tmp_path.chmod(0o500)
        if is_root:
            os.seteuid(65534)  # permissions do not bind root
        with pytest.raises(StorageError, match=r"Permission denied"):
            write(tmp_path, 2)
        with pytest.raises(StorageError, match=r"cannot write .*: Permission denied"):
            write(tmp_path / "below", 2)
    finally:
        if is_root:
            os.seteuid(0)
        tmp_path.chmod(0o700)
    assert snapshot(tmp_path) == before
    assert generation_of(tmp_path) == 1


def test_a_disk_that_is_full_keeps_the_old_artefact(tmp_path):
    write(tmp_path)
    before = snapshot(tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, limits[1]))  # a file has no room for more
    try:
        with pytest.raises(
            StorageError, match=r"cannot write .*: File too large; existing files are"
        ):
            write(tmp_path, 2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
@pytest.mark.parametrize("call", range(6))
def test_a_failure_at_any_flush_keeps_one_whole_artefact(tmp_path, monkeypatch, call, error):
    write(tmp_path)
    flush, calls = os.fsync, []

    def fail(descriptor):
        calls.append(descriptor)
        if len(calls) == call + 1:
            raise error
        flush(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises((StorageError, KeyboardInterrupt)):
            write(tmp_path, 2)
    assert generation_of(tmp_path) in ((1,) if call < 5 else (2,))
    assert not (tmp_path / "manifest.json.new").exists()
    write(tmp_path, 3)
    assert len(os.listdir(tmp_path)) == 4


def test_arrays_are_added_without_writing_the_others_again(tmp_path):
    write(tmp_path)
    before = open_artefact(tmp_path).files
    write_artefact(
        tmp_path,
        Header("thing", configuration={"k": 2}),
        {"z": np.arange(3)},
        keep={"x", "y", "absent"},
    )
    found = open_artefact(tmp_path)
    found.verify()
    assert {name: found.files[name] for name in before} == dict(before)
    assert found.arrays["z"].tolist() == [0, 1, 2]
    assert found.configuration == {"k": 2}
    write_artefact(
        tmp_path, Header("thing", configuration={"k": 3}), {"x": np.arange(5)}, keep={"x", "z"}
    )
    assert open_artefact(tmp_path).arrays["x"].tolist() == [0, 1, 2, 3, 4]
    assert len(list(tmp_path.glob("*.npy"))) == 2  # the old x and y are gone
    write(tmp_path)
    assert sorted(open_artefact(tmp_path).arrays) == ["x", "y"]


def test_two_writers_at_once_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("equilibrist.storage.ownership._WAIT_SECONDS", 0.1)
    write(tmp_path)
    script = (
        "import fcntl, os, sys, time; d = os.open(sys.argv[1], os.O_RDWR);"
        "fcntl.flock(d, fcntl.LOCK_EX); print(flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "lock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        holder.stdout.readline()
        with pytest.raises(StorageError, match=rf"process {os.getpid()} is writing .*; wait until"):
            write(tmp_path, 2)
        assert generation_of(tmp_path) == 1  # readers need no lock
        holder.send_signal(signal.SIGKILL)
    write(tmp_path, 2)  # the lock went with its holder
    assert generation_of(tmp_path) == 2


def test_a_copied_folder_is_the_same_artefact(tmp_path):
    first = write(tmp_path / "a")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    assert open_artefact(tmp_path / "b").hash == first
    write(tmp_path / "b", 2)
    assert (generation_of(tmp_path / "a"), generation_of(tmp_path / "b")) == (1, 2)


# Bad values


@pytest.mark.parametrize(
    "changes",
    [
        {"configuration": {"x": {1, 2}}},
        {"configuration": {"x": np.zeros(3)}},
        {"timings": {("a", "b"): 1}},
    ],
)
def test_what_json_cannot_hold_is_refused_before_anything_is_written(tmp_path, changes):
    with pytest.raises(InvalidValueError, match="a manifest cannot hold this"):
        write(tmp_path / "new", **changes)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("number", [float("nan"), np.float64("inf"), np.float32("-inf")])
def test_a_manifest_never_holds_a_number_that_is_not_finite(tmp_path, number):
    for changes, place in (
        ({"info": {"rows": [1.0, {"x": number}]}}, "info.rows[1].x"),
        ({"timings": {"seconds": number}}, "timings.seconds"),
        ({"configuration": {"rate": number}}, "configuration.rate"),
    ):
        with pytest.raises(SolverError, match="nothing was written") as caught:
            write(tmp_path / "new", **changes)
        assert caught.value.value == place
        assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("name", "array", "complaint"),
    [
        ("a/b", np.zeros(1), "is not an array name"),
        ("", np.zeros(1), "is not an array name"),
        ("..", np.zeros(1), "is not an array name"),
        ("x", np.array([None]), "has type object"),
        ("x", np.zeros(1, "f8,f8"), "has type "),
        ("x", [1, 2], "has type list"),
    ],
)
def test_arrays_that_no_file_can_hold_are_refused(tmp_path, name, array, complaint):
    with pytest.raises(InvalidValueError, match=complaint):
        write_artefact(tmp_path / "new", Header("thing", configuration={}), {name: array})
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_numbers_that_are_not_finite_are_not_written(tmp_path, number, dtype):
    write(tmp_path)
    bad = np.zeros((3, 2**20), dtype, order="F")
    bad[1, 5000] = number
    with pytest.raises(SolverError, match=r"array bad of the thing for .* is not finite"):
        write_artefact(tmp_path, Header("thing", configuration={}), {"bad": bad})
    assert generation_of(tmp_path) == 1
    given = tmp_path, Header("thing", configuration={}), {"bad": bad}
    if np.isnan(number):
        with pytest.raises(SolverError, match="is not finite"):
            write_artefact(*given, may_be_infinite=["bad"])
    else:
        write_artefact(*given, may_be_infinite=["bad"])
        np.testing.assert_array_equal(open_artefact(tmp_path).arrays["bad"], bad)
