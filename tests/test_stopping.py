"""Signals ask work to stop; a second one ends the process, whatever the first thread is doing."""

import contextlib
import os
import pty
import signal
import subprocess
import sys
import threading

import pytest

from equilibrist import stopping
from equilibrist.stopping import Stopped

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}

# Work that looks at the flag only when a line arrives on stdin.
PROGRAM = """
import sys
from equilibrist import stopping

stopping._PATIENCE = 600.0  # a busy machine may not show the cursor at once
with stopping.on_signals() as stop:
    stopping.expect("iteration", {seconds})
    print("ready", flush=True)
    sys.stdin.readline()
    print("whole", stop.is_requested, flush=True)
    sys.exit(stop.exit_code if stop.is_requested else 0)
"""


@pytest.fixture
def started():
    """Starts the program; it is killed if a test waits for a line that never comes."""
    timers = []

    def started(seconds="None", **options):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        program = PROGRAM.format(seconds=seconds)
        process = subprocess.Popen([sys.executable, "-c", program], text=True, **(pipes | options))
        timers.append(threading.Timer(600, process.kill))
        timers[-1].start()
        assert process.stdout.readline() == "ready\n"
        return process

    yield started
    for timer in timers:
        timer.cancel()


@pytest.mark.parametrize("number", CODES)
def test_the_first_signal_is_announced_while_work_continues(started, number):
    process = started(seconds="4200")
    process.send_signal(number)
    line = process.stderr.readline()  # before the work has looked at the flag
    assert line.startswith("stopping after this iteration, about 70 min")
    assert ("Ctrl-C again" in line) == (number == signal.SIGINT)
    output, _ = process.communicate("\n", timeout=600)
    assert (output, process.returncode) == ("whole True\n", CODES[number])


def test_a_second_signal_ends_the_process_at_once(started):
    process = started()
    process.send_signal(signal.SIGINT)
    assert "stopping after this iteration; press" in process.stderr.readline()
    for _ in range(6000):  # the first of them may still be taken for the same request
        process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.1)
            break
    assert process.returncode == 143
    assert process.communicate()[0] == ""


def test_a_second_signal_gives_a_terminal_its_cursor_back(started):
    master, slave = pty.openpty()
    process = started(stderr=slave)
    os.close(slave)
    process.send_signal(signal.SIGINT)
    shown = os.read(master, 1000)
    for _ in range(6000):
        process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.1)
            break
    with contextlib.suppress(OSError):  # the end of what a terminal shows
        while text := os.read(master, 1000):
            shown += text
    os.close(master)
    assert b"stopping after this iteration" in shown
    assert shown.endswith(b"\x1b[?25h\r\n")
    assert process.communicate()[0] == ""


def test_signals_that_were_ignored_stay_so(started):
    process = started(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    process.send_signal(signal.SIGHUP)
    assert process.communicate("\n", timeout=600) == ("whole False\n", "")
    assert process.returncode == 0


def test_the_flag_is_that_of_the_outermost_handlers_and_ends_with_them():
    before = signal.getsignal(signal.SIGINT)
    stopping.check()
    with stopping.on_signals(say=lambda text: None) as outer, stopping.on_signals() as inner:
        assert inner is outer
        os.kill(os.getpid(), signal.SIGINT)
        assert stopping.is_requested()
        with pytest.raises(Stopped):
            stopping.check()
    assert not stopping.is_requested()
    assert signal.getsignal(signal.SIGINT) is before
    assert not any(thread.name.endswith("(_watch)") for thread in threading.enumerate())


def test_only_the_main_thread_can_wait_for_signals_and_others_leave_nothing_open():
    found = []

    def fail():
        before = set(os.listdir("/dev/fd")), threading.active_count()
        try:
            with stopping.on_signals():
                pass
        except ValueError as error:
            found.append(str(error))
        found.append((set(os.listdir("/dev/fd")), threading.active_count()) == before)

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    assert "main thread" in found[0]
    assert found[1]


def test_a_pause_is_requested_before_the_next_piece_would_be_late(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(stopping.time, "monotonic", lambda: now[0])
    with stopping.on_signals(say=lambda text: None) as stop:
        stopping.pause_after(None)
        stopping.pause_after(10)
        stopping.expect("iteration", 3.0)
        now[0] = 106.9
        assert not stopping.is_requested()
        now[0] = 107.1
        assert stopping.is_requested()
        assert stopping.is_pause()
        stopping.expect("writing", 0.1)  # a shorter piece does not take the request back
        with pytest.raises(Stopped):
            stopping.check()
        assert stop.exit_code == 0
        stop.request(signal.SIGTERM)
        assert not stopping.is_pause()
        assert stop.exit_code == 143
    assert not stopping.is_pause()
