"""What all tests share: signals as they expect them, and a way to add bots for one test.

A shell starts background work with SIGINT ignored, `nohup` with SIGHUP, and commands respect that.

Hypothesis draws the same examples in every run, so that a run fails because of a change and never
by luck. `make draws` draws new ones.
"""

import contextlib
import signal
import threading

import hypothesis
import pytest

from equilibrist import phases
from equilibrist.bots.registry import BOTS

hypothesis.settings.register_profile("fixed", derandomize=True, deadline=None)
hypothesis.settings.register_profile("fresh", deadline=None, print_blob=True)
hypothesis.settings.load_profile("fixed")


def pytest_configure():
    if threading.current_thread() is not threading.main_thread():
        return
    for number, handler in (
        (signal.SIGINT, signal.default_int_handler),
        (signal.SIGHUP, signal.SIG_DFL),
    ):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


@pytest.fixture(autouse=True, scope="session")
def patience():
    """Commands say nothing of their own accord, however busy the machine is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EQUILIBRIST_PATIENCE", "inf")
        yield


@pytest.fixture(autouse=True)
def no_phase_stays_under_way():
    """Parts of commands that a test calls alone may leave a phase to the command around them."""
    yield
    phases.end_all()


@pytest.fixture
def add_bot():
    """A function that adds a bot to the catalogue, or replaces one, until the test ends."""
    with contextlib.ExitStack() as stack:
        yield lambda bot: stack.enter_context(BOTS.added(bot))
