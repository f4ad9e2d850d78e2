"""Phases say what is done, how much of it, and how long the rest takes."""

import pytest

from equilibrist import phases
from equilibrist.phases import Phase, heard_phases, phase, under_way


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is set."""
    now = [100.0]
    monkeypatch.setattr(phases, "clock", lambda: now[0])
    return now


def test_phases_are_under_way_while_their_work_runs():
    assert under_way() == ()
    with phase("outer"), phase("inner"):
        assert [each.text for each in under_way()] == ["outer", "inner"]
    assert under_way() == ()


def test_a_phase_ends_with_an_error_and_takes_those_inside_along():
    def fail():
        phases.begin(Phase("never ended"))
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"), phase("outer"):
        fail()
    assert under_way() == ()
    phases.end(Phase("not under way"))  # does nothing


def test_a_function_can_be_a_phase_every_time_it_is_called():
    @phase("counting")
    def texts():
        return [each.text for each in under_way()]

    assert texts() == texts() == ["counting"]


def test_listeners_receive_the_phases_that_begin_while_they_listen():
    heard = []
    listener = heard_phases(lambda each: heard.append((each.text, each.total)))
    with listener, phase("reading", total=3):
        pass
    with phase("later"):
        pass
    assert heard == [("reading", 3)]


def test_the_remaining_time_follows_from_the_speed(clock):
    work = Phase("counting", total=100, unit="boards")
    assert (work.share, work.left) == (0, None)
    clock[0] += 8
    work.advance(20)
    assert (work.share, work.left, work.elapsed) == (0.2, 32, 8)
    clock[0] += 2
    assert work.left == 30  # it counts down between two pieces
    clock[0] += 100
    assert work.left == 0  # never negative


def test_the_first_piece_does_not_count_once_there_are_more(clock):
    work = Phase("counting", total=100)
    clock[0] += 50  # warming up
    work.update(10)
    clock[0] += 9
    work.update(19)
    assert work.left == pytest.approx(81)


def test_what_was_done_before_the_start_says_nothing_of_the_speed(clock):
    work = Phase("solving", total=100, done=60)  # resumed
    assert (work.share, work.left) == (0.6, None)
    clock[0] += 10
    work.update(70)
    assert work.left == 30


def test_a_tiny_first_piece_gives_no_forecast(clock):
    work = Phase("writing", total=1e9)
    clock[0] += 1
    work.advance(128)  # the header of a file
    assert work.left is None


def test_work_that_cannot_be_counted_may_have_a_forecast(clock):
    work = Phase("iterating", seconds=30)
    clock[0] += 10
    assert (work.share, work.left) == (None, 20)
    assert Phase("unknown").left is None
