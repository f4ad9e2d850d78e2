"""Text files that people name: whole, or not there, and never over another one."""

import errno
import multiprocessing
import os
import resource
import stat

import pytest

from equilibrist.errors import StorageError
from equilibrist.storage import output_file
from equilibrist.storage.output_file import OutputFile, check_output, is_taken, write_output


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "match.log"
    path.write_text("precious\n")
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_only_if_that_is_wanted(old):
    with pytest.raises(StorageError, match=r"match\.log exists; choose another name"):
        write_output(old, "new\n", replace=False)
    with pytest.raises(StorageError, match="exists"):
        check_output(old)
    assert old.read_text() == "precious\n"
    old.chmod(0o640)
    write_output(old, "new ♠\n")
    assert old.read_text(encoding="utf-8") == "new ♠\n"
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    assert names(old.parent) == ["match.log"]


def test_a_file_that_appears_while_another_is_written_is_not_replaced(tmp_path):
    path = tmp_path / "match.log"
    with OutputFile(path) as file:
        file.write("ours\n")
        path.write_text("theirs\n")
        with pytest.raises(StorageError, match=r"this output is in .*match\.log\.part"):
            file.finish()
    assert path.read_text() == "theirs\n"
    assert (tmp_path / "match.log.part").read_text() == "ours\n"


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_a_full_disk_leaves_the_old_file(old, monkeypatch, step):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(output_file.os, step, full)
    with pytest.raises(StorageError, match=r"cannot write .*: No space left on device; existing"):
        write_output(old, "new\n")
    monkeypatch.undo()
    assert old.read_text() == "precious\n"
    assert names(old.parent) == ["match.log"]


def refuse_links(monkeypatch, number):
    def fail(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(output_file.os, "link", fail)


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOTSUP, errno.ENOSYS])
def test_a_disk_without_links_takes_new_files_and_keeps_old_ones(tmp_path, monkeypatch, number):
    refuse_links(monkeypatch, number)
    path = tmp_path / "match.log"
    write_output(path, "ours\n", replace=False)
    assert path.read_text() == "ours\n"
    assert names(tmp_path) == ["match.log"]
    with OutputFile(tmp_path / "second.log") as file:
        file.write("ours\n")
        (tmp_path / "second.log").write_text("theirs\n")
        with pytest.raises(StorageError, match=r"second\.log exists"):
            file.finish()
    assert (tmp_path / "second.log").read_text() == "theirs\n"


def test_other_failures_to_link_are_reported(tmp_path, monkeypatch):
    refuse_links(monkeypatch, errno.EIO)
    with pytest.raises(StorageError, match=r"cannot write .*match\.log: Input/output error"):
        write_output(tmp_path / "match.log", "ours\n", replace=False)
    assert not (tmp_path / "match.log").exists()


def _write_too_much(path, pipe):
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    try:
        with OutputFile(path, replace=True) as file:
            for _ in range(100):
                file.write("x" * 99 + "\n")
    except StorageError as error:
        pipe.send(str(error))


def test_a_disk_that_fills_up_line_by_line_leaves_the_lines_before(old):
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    child = context.Process(target=_write_too_much, args=(old, theirs))
    child.start()
    assert ours.recv().endswith(f"File too large; the text written so far is in {old}.part")
    child.join()
    assert old.read_text() == "precious\n"
    lines = (old.parent / "match.log.part").read_text().splitlines()
    assert lines[:40] == ["x" * 99] * 40


def test_what_a_killed_process_leaves_is_not_overwritten(tmp_path):
    path, part = tmp_path / "match.log", tmp_path / "match.log.part"
    context = multiprocessing.get_context("fork")
    child = context.Process(target=_write_and_die, args=(path,))
    child.start()
    child.join()
    assert part.read_text() == "one hand\n"
    with pytest.raises(StorageError, match=r"match\.log\.part was left by a process .* killed"):
        OutputFile(path)
    assert part.read_text() == "one hand\n"
    write_output(path, "new\n", replace=True)
    assert (path.read_text(), names(tmp_path)) == ("new\n", ["match.log"])


def _write_and_die(path):
    OutputFile(path).write("one hand\n")
    os._exit(9)


@pytest.mark.parametrize("replace", [False, True])
def test_two_writers_do_not_share_a_file(tmp_path, replace):
    path = tmp_path / "match.log"
    with OutputFile(path) as file:
        file.write("ours\n")
        with pytest.raises(StorageError, match="another process is writing"):
            OutputFile(path, replace=replace)
        file.finish()
    assert path.read_text() == "ours\n"


def test_the_first_line_may_be_known_last(tmp_path):
    path = tmp_path / "match.log"
    with OutputFile(path) as file:
        file.write("# seed ???\n")
        file.write("hand\n")
        file.finish("# seed 123\n")
    assert path.read_text() == "# seed 123\nhand\n"


def test_nothing_written_leaves_nothing(tmp_path):
    with OutputFile(tmp_path / "match.log"):
        assert names(tmp_path) == ["match.log.part"]
    check_output(tmp_path / "match.log")
    assert names(tmp_path) == []


def test_names_may_be_as_long_as_the_system_takes_them(tmp_path):
    longest = tmp_path / ("x" * 251 + ".log")
    write_output(longest, "text", replace=False)
    assert longest.read_text() == "text"
    for name in ("x" * 252 + ".log", "ü" * 200, "x" * 100_000):
        with pytest.raises(StorageError, match=r"cannot write .*: File name too long"):
            check_output(tmp_path / name)
        with pytest.raises(StorageError, match="File name too long"):
            is_taken(tmp_path / name)
    with pytest.raises(StorageError, match="null"):
        check_output("\0")


def test_places_that_hold_no_file_are_refused(tmp_path):
    with pytest.raises(StorageError, match="is a folder"):
        check_output(tmp_path)
    with pytest.raises(StorageError, match="is not a folder: cannot write"):
        check_output(tmp_path / "none" / "x.log")


def test_devices_and_pipes_get_the_text_and_stay(tmp_path):
    assert not is_taken("/dev/null")
    check_output("/dev/null")
    write_output("/dev/null", "text")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    with pytest.raises(StorageError, match="cannot write /dev/full: No space left"):
        write_output("/dev/full", "text")
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    with OutputFile(fifo) as file:
        file.write("# ?\n")
        file.finish("# 7\n")
    assert os.read(reader, 100) == b"# ?\n# 7\n"
    os.close(reader)


def test_a_link_is_followed(old):
    link = old.with_name("link.log")
    link.symlink_to(old)
    with pytest.raises(StorageError, match=r"link\.log exists"):
        check_output(link)
    write_output(link, "new\n", replace=True)
    assert link.is_symlink()
    assert old.read_text() == "new\n"
