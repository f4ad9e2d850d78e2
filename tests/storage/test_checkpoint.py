"""Times at which a checkpoint is due, and runs that may be continued."""

import pytest

from equilibrist.errors import StorageError
from equilibrist.storage import checkpoint
from equilibrist.storage.checkpoint import CheckpointClock, another_run, check_same_run


@pytest.fixture
def now(monkeypatch):
    """Seconds on the clock, which a test changes."""
    found = [100.0]
    monkeypatch.setattr(checkpoint.time, "perf_counter", lambda: found[0])
    return found


def test_a_checkpoint_takes_at_most_a_twentieth_of_the_time(now):
    clock = CheckpointClock()
    assert clock.is_due()
    with clock.writing():
        now[0] += 3
    assert clock.cost == 3
    now[0] += 59.9
    assert not clock.is_due()
    now[0] += 0.2
    assert clock.is_due()


def test_an_estimate_and_a_pause_delay_the_first_checkpoint(now):
    slow, rare = CheckpointClock(cost=1.0), CheckpointClock(pause=10.0)
    now[0] += 9.9
    assert not rare.is_due()
    now[0] += 0.2
    assert rare.is_due()
    assert not slow.is_due()
    now[0] += 10
    assert slow.is_due()
    with slow.writing():
        now[0] += 0.1
    now[0] += 2.1
    assert slow.is_due()  # the estimate counts for the first only


def test_a_checkpoint_that_fails_is_still_due(now):
    clock = CheckpointClock()
    now[0] += 1

    def write():
        with clock.writing():
            now[0] += 5
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        write()
    assert clock.cost == 0
    assert clock.is_due()


def test_a_run_with_the_wanted_settings_is_accepted():
    check_same_run("a", {"seed": 1, "more": 2}, {"seed": 1})
    check_same_run("a", {}, {})


@pytest.mark.parametrize(
    ("stored", "wanted", "words"),
    [
        (0, 1, "seed 0, not 1"),
        (0.25, 0.5, "seed 0.25, not 0.5"),
        ([4, 12], [4, 13], "seed 4-12, not 4-13"),
        ("cfr+", "cfr", "seed cfr+, not cfr"),
        (None, 1, "another seed"),
        ("two\nlines", "one", "another seed"),
        ("\x1b[2J", "one", "another seed"),
        ("x" * 101, "one", "another seed"),
        (["a"], ["b"], "another seed"),
        ({"a": 1}, {"a": 2}, "another seed"),
    ],
)
def test_values_are_shown_if_they_are_short(stored, wanted, words):
    with pytest.raises(StorageError) as caught:
        check_same_run("runs/a", {"method": "x", "seed": stored}, {"method": "x", "seed": wanted})
    assert str(caught.value) == (
        f"runs/a was started with {words}; resume with the same, or choose another folder"
    )
    assert caught.value.value == "runs/a"


def test_equal_names_of_different_things_are_not_shown():
    assert "with another strategy;" in str(another_run("a", "strategy", "mine", "mine"))
    assert "with another a?b;" in str(another_run("a", "a\nb"))
