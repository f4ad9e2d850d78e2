"""Teams of threads: every piece of work is done once, and phases do not overlap."""

import threading

import numpy as np
import pytest
from numba import njit

from equilibrist.kernels.cpu.team import meet, take, together

pytestmark = pytest.mark.kernels


@njit(nogil=True)
def count_up(member, numbers, phases, early, grain):
    """Add 1 to every number in each phase; note a number that is behind when a phase begins."""
    for phase in range(phases):
        first, last = take(member, 0, len(numbers), grain)
        while first < last:
            for i in range(first, last):
                if numbers[i] != phase:
                    early[member.number] += 1
                numbers[i] += 1
            first, last = take(member, 0, len(numbers), grain)
        meet(member)
        for number in numbers:  # all members look at all numbers: nobody may be behind
            if number != phase + 1:
                early[member.number] += 1
        meet(member)


@pytest.mark.parametrize("grain", [1, 3, 100])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_piece_is_done_once_in_each_phase(threads, grain):
    numbers, early = np.zeros(47, np.int64), np.zeros(threads, np.int64)
    together(count_up, numbers, 300, early, grain, threads=threads)
    assert (numbers == 300).all()
    assert not early.any()


def test_a_phase_without_work_ends():
    numbers, early = np.zeros(0, np.int64), np.zeros(3, np.int64)
    together(count_up, numbers, 5, early, 1, threads=3)
    assert not early.any()


def test_teams_of_different_callers_do_not_disturb_each_other():
    results = [np.zeros(20, np.int64) for _ in range(4)]
    callers = [
        threading.Thread(
            target=together, args=(count_up, own, 200, np.zeros(3, np.int64), 1),
            kwargs={"threads": 3},
        )
        for own in results
    ]  # fmt: skip
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert all((own == 200).all() for own in results)


def test_a_team_is_smaller_if_the_system_refuses_threads(monkeypatch):
    start, started = threading.Thread.start, []

    def refuse(thread):
        if len(started) == 2:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    numbers, early = np.zeros(9, np.int64), np.zeros(8, np.int64)
    together(count_up, numbers, 50, early, 1, threads=8)
    assert (numbers == 50).all()
    assert len(started) == 2


def test_the_others_end_without_work_if_the_first_member_is_interrupted():
    numbers, early, members = np.zeros(9, np.int64), np.zeros(3, np.int64), []

    def interrupted(member, *arguments):
        if member.number == 0:
            raise KeyboardInterrupt
        members.append(threading.current_thread())
        count_up(member, *arguments)

    with pytest.raises(KeyboardInterrupt):
        together(interrupted, numbers, 1000, early, 1, threads=3)
    for thread in members:
        thread.join(timeout=60)
        assert not thread.is_alive()
    assert (numbers <= 1).all()  # no phase but the first
