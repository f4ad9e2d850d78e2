"""Teams of threads: every piece of work is done once, and phases do not overlap."""

import threading

import numpy as np
import pytest
from numba import njit

from equilibrist.kernels.cpu import team
from equilibrist.kernels.cpu.team import in_pieces, meet, take, threaded, together

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
        thread.join(timeout=600)
        assert not thread.is_alive()
    assert (numbers <= 1).all()  # no phase but the first


# --- pieces ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize(("count", "grain"), [(0, 1), (1, 1), (5, 1), (1000, 1), (1000, 300)])
def test_pieces_cover_every_number_once(monkeypatch, threads, count, grain):
    monkeypatch.setattr(team, "get_num_threads", lambda: threads)
    seen = np.zeros(count, np.int64)
    ranges = []

    def work(begin, end, out):
        ranges.append((begin, end))
        out[begin:end] += 1

    in_pieces(work, count, seen, grain=grain)
    assert (seen == 1).all()
    assert all(end - begin >= min(grain, count) or end == count for begin, end in ranges)


def test_one_thread_also_works_in_several_pieces_so_that_it_can_be_interrupted(monkeypatch):
    monkeypatch.setattr(team, "get_num_threads", lambda: 1)
    begins = []
    in_pieces(lambda begin, end: begins.append(begin), 1000)
    assert len(begins) > 10


@pytest.mark.parametrize("fault", [KeyboardInterrupt, ValueError])
def test_a_fault_in_a_piece_ends_the_work_and_is_raised(monkeypatch, fault):
    monkeypatch.setattr(team, "get_num_threads", lambda: 2)
    done = []

    def work(begin, end):
        if begin > 100:
            raise fault
        done.append(begin)

    with pytest.raises(fault):
        in_pieces(work, 100_000)
    assert len(done) < 20


def test_a_threaded_function_takes_its_arguments_without_a_range():
    @threaded(lambda numbers, out: len(numbers), grain=3, cache=False)
    def square(begin, end, numbers, out):
        """Square numbers."""
        for i in range(begin, end):
            out[i] = numbers[i] * numbers[i]

    out = np.empty(10)
    square(np.arange(10.0), out)
    assert out.tolist() == [i * i for i in range(10)]
    assert square.__doc__ == "Square numbers."
