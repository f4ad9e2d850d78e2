"""One owner per folder: for a whole run, or for a single write."""

import contextlib
import fcntl
import os
import signal
import socket
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest

from equilibrist.errors import StorageError
from equilibrist.storage import ownership
from equilibrist.storage.artefact import Header, open_artefact, write_artefact
from equilibrist.storage.ownership import LockText, owned, read_lock

HOLD = """
import sys
from equilibrist.storage.ownership import owned
with owned(sys.argv[1]):
    print("owned", flush=True)
    sys.stdin.read()
"""


def write(folder, k=1):
    write_artefact(folder, Header("thing", configuration={"k": k}), {"x": np.full(10, k)})


def k_of(folder):
    return open_artefact(folder, "thing").configuration["k"]


@contextlib.contextmanager
def another_owner(folder):
    command = [sys.executable, "-c", HOLD, str(folder)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdout.readline() == b"owned\n"
        yield process


def test_another_process_is_refused_at_once_until_the_owner_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(ownership.time, "sleep", lambda _: pytest.fail("waited for a run"))
    folder = tmp_path / "new" / "run"
    with another_owner(folder) as process:
        sentence = (
            rf"process {process.pid} has been working on {folder} for \d+ s; "
            "wait until it ends or choose another folder"
        )
        for attempt in (write, lambda folder: owned(folder).__enter__()):
            with pytest.raises(StorageError, match=sentence):
                attempt(folder)
        process.send_signal(signal.SIGSTOP)  # a stopped run is still the owner
        with pytest.raises(StorageError, match=sentence):
            write(folder)
        process.kill()
        process.wait()
        with owned(folder):
            write(folder)
    assert k_of(folder) == 1


def test_a_run_writes_to_its_folder_and_may_own_it_twice(tmp_path):
    with owned(tmp_path), owned(str(tmp_path)), owned(None):
        write(tmp_path, 1)
        write(tmp_path, 2)
        write(tmp_path / "below", 3)
    assert (k_of(tmp_path), k_of(tmp_path / "below")) == (2, 3)
    assert not read_lock(tmp_path).is_run  # given back: nobody is refused now
    assert not ownership._held
    with another_owner(tmp_path) as process:
        process.stdin.close()


def test_the_lock_stays_beside_what_was_written_before_a_failure(tmp_path, monkeypatch):
    def fail(descriptor):
        raise KeyboardInterrupt

    with owned(tmp_path / "run"):
        write(tmp_path / "run", 1)
        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(KeyboardInterrupt):
            write(tmp_path / "run", 2)
    assert k_of(tmp_path / "run") == 1
    lock = read_lock(tmp_path / "run")
    assert lock is not None
    assert not lock.is_run


def test_the_lock_may_be_read_by_whom_the_user_allows_and_never_executed(tmp_path):
    earlier = os.umask(0o002)
    try:
        write(tmp_path / "run")
    finally:
        os.umask(earlier)
    assert stat.S_IMODE((tmp_path / "run" / "lock").stat().st_mode) == 0o664


def test_an_unused_folder_leaves_no_trace(tmp_path):
    with owned(tmp_path / "a" / "b"):
        pass
    with pytest.raises(ZeroDivisionError), owned(tmp_path / "a" / "b"):
        raise ZeroDivisionError
    (tmp_path / "there").mkdir()
    with owned(tmp_path / "there"):
        pass
    assert [path.name for path in tmp_path.rglob("*")] == ["there"]


def test_what_is_beside_an_unused_lock_stays(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "thesis.tex").write_text("mine")
    with owned(tmp_path / "a"), pytest.raises(StorageError, match=r"it holds thesis\.tex"):
        write(tmp_path / "a")
    assert os.listdir(tmp_path / "a") == ["thesis.tex"]


def test_a_forked_process_does_not_own_what_its_parent_owns(tmp_path):
    with owned(tmp_path):
        pid = os.fork()
        if pid == 0:
            try:
                write(tmp_path)
            except StorageError:
                os._exit(3)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3


def hold(folder, text):
    """Lock a folder as another process would; returns the descriptor."""
    (folder / "lock").write_bytes(text)
    descriptor = os.open(folder / "lock", os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


@pytest.mark.parametrize("take", [write, lambda folder: owned(folder).__enter__()])
@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"equilibrist artefact, last written by process       4711\n",  # of earlier versions
        LockText(4711, 1e9).encode(),
    ],
)
def test_a_single_write_is_waited_for(tmp_path, take, text):
    descriptor = hold(tmp_path, text)
    timer = threading.Timer(0.1, os.close, [descriptor])
    timer.start()
    take(tmp_path)
    timer.join()
    assert read_lock(tmp_path).process == os.getpid()
    ownership._held.clear()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"", "process unknown is writing"),
        (b"equilibrist artefact, last written by process       4711\n", "process 4711 is writing"),
        (LockText(os.getpid(), 1e9, True).encode(), "has been working on .* for [0-9]+ days"),
    ],
)
def test_a_lock_held_too_long_is_refused(tmp_path, monkeypatch, text, sentence):
    monkeypatch.setattr(ownership, "_WAIT_SECONDS", 0.05)
    with os.fdopen(hold(tmp_path, text)), pytest.raises(StorageError, match=sentence):
        write(tmp_path)


def test_two_threads_write_in_turn(tmp_path):
    with owned(tmp_path):
        threads = [threading.Thread(target=write, args=(tmp_path, k)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert open_artefact(tmp_path).generation == 4


def test_without_locks_an_update_is_refused_rather_than_lost(tmp_path, monkeypatch):
    def no_locks(*_):
        raise OSError(ownership.errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with owned(tmp_path):
        write(tmp_path, 1)
        held = dict(ownership._held)
        ownership._held.clear()  # what follows is done by another process
        write(tmp_path, 2)
        ownership._held.update(held)
        with pytest.raises(StorageError, match=r"has written to .* during this run"):
            write(tmp_path, 3)
    assert k_of(tmp_path) == 2


@pytest.mark.parametrize("kind", ["link", "dangling link", "pipe", "socket", "folder", "device"])
@pytest.mark.parametrize("name", ["lock", "manifest.json"])
def test_a_file_of_another_kind_is_refused_and_not_written_through(tmp_path, kind, name):
    folder, target = tmp_path / "a", tmp_path / "target"
    write(folder)
    path = folder / name
    path.unlink()
    if kind == "link":
        target.write_bytes(b"")
        path.symlink_to(target)
    elif kind == "dangling link":
        path.symlink_to(target)
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as listening, contextlib.chdir(folder):
            listening.bind(name)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/null")
    wanted = {"dangling link": "link", "device": "link"}.get(kind, kind)
    for attempt in (write, lambda folder: owned(folder).__enter__()):
        with pytest.raises(StorageError, match=rf"{name} is a {wanted}; it must be a regular file"):
            attempt(folder)
    assert not target.exists() or target.read_bytes() == b""


def test_a_lock_that_is_not_ours_is_left_alone(tmp_path):
    (tmp_path / "lock").write_text("mine")
    with pytest.raises(StorageError, match="lock was not written by this program"), owned(tmp_path):
        pass
    assert (tmp_path / "lock").read_text() == "mine"


def test_a_half_written_lock_names_no_files():
    text = LockText(12, 34.5, True, frozenset({"x-000001.npy", "y-000001.npy"}))
    whole = text.encode()
    assert LockText.decode(whole) == text
    for end in range(len(whole) - 1):
        assert not LockText.decode(whole[:end]).names
    assert LockText.decode(b"somebody else's") is None


def test_the_text_of_a_lock_survives_a_kill_before_the_rest_of_a_longer_one_is_cut():
    longer = LockText(12, 34.5, True, frozenset(f"x{n}-000001.npy" for n in range(4))).encode()
    text = LockText(12, 34.5, False, frozenset({"x0-000001.npy"}))
    assert LockText.decode(text.encode() + longer[len(text.encode()) :]) == text
