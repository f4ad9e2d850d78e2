"""Parts of an abstraction: what a signal between them is answered with."""

import itertools

import numpy as np
import pytest

from equilibrist import stopping
from equilibrist.abstraction import resume


@pytest.fixture
def slow_clock(monkeypatch):
    """A clock on which ten seconds pass between two looks."""
    times = itertools.count(0.0, 10.0)
    monkeypatch.setattr(resume.time, "perf_counter", lambda: next(times))


def test_the_time_left_is_that_of_the_last_bucket(slow_clock):
    with stopping.on_signals() as stop:
        parts = resume.load_or_compute_series(
            None, "group", lambda first: ((np.zeros(1),) for _ in range(3))
        )
        next(parts)
        assert "stopping after this bucket, about 10 s;" in stop.announcement()


def test_the_time_left_is_the_one_that_is_given():
    said = []

    def work():
        said.append(stop.announcement())
        return (np.zeros(1),)

    with stopping.on_signals() as stop:
        resume.load_or_compute(None, "round1", work)
        resume.load_or_compute(None, "pass1-0", work, whole=False, seconds=30.0)
    assert "stopping after this round;" in said[0]
    assert "stopping after this bucket, about 30 s;" in said[1]
