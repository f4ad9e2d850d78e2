"""The fixtures that look after the process of the tests."""

import os
import signal

import numba
import pytest

from equilibrist.kernels.threads import use_threads
from process_state import must_stay, unchanged


def test_a_handler_of_signals_that_stays_is_reported_and_removed():
    before = must_stay()
    with (
        pytest.raises(AssertionError, match=r"handlers of signals: .* became"),
        unchanged(),
    ):
        signal.signal(signal.SIGHUP, lambda *_: None)
    assert must_stay() == before


def test_a_working_directory_that_stays_is_reported_and_left(tmp_path):
    before = os.getcwd()
    with pytest.raises(AssertionError, match=r"working directory: .* became"), unchanged():
        os.chdir(tmp_path)
    assert os.getcwd() == before


def test_variables_and_numbers_of_threads_are_set_back(monkeypatch):
    monkeypatch.setenv("EQUILIBRIST_PATIENCE", "7")
    threads = numba.get_num_threads()
    with unchanged():
        os.environ["EQUILIBRIST_PATIENCE"] = "8"
        os.environ["EQUILIBRIST_OTHER"] = "9"
        use_threads(1)
    assert os.environ["EQUILIBRIST_PATIENCE"] == "7"
    assert "EQUILIBRIST_OTHER" not in os.environ
    assert numba.get_num_threads() == threads
