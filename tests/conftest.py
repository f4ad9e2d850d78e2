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
from process_state import unchanged

# Files that take longest, in this order: they are begun first, so that no worker is left with one
# at the end. The first two have the longest of the slow proofs.
LONGEST = (
    "tests/papers/psopti/test_claims.py",
    "tests/oracles/test_real_game.py",
    "tests/oracles/test_two_round_games.py",
    "tests/contracts/test_recipes.py",
    "tests/parity/test_gpu_tables.py",
    "tests/evaluation/test_hand_views.py",
    "tests/evaluation/test_aivat.py",
    "tests/cli/test_cycles.py",
    "tests/parity/test_gpu_buckets.py",
    "docs/extending.md",
    "tests/cli/test_killed_abstraction.py",
    "tests/cli/test_sitting.py",
    "tests/evaluation/real_game/test_response.py",
    "tests/oracles/test_game_values.py",
    "tests/parity/test_equity_kernels.py",
    "tests/test_kernel_warmup.py",
    "tests/oracles/test_openspiel_rules.py",
    "tests/kernels/test_cache.py",
    "tests/web/test_serve.py",
    "tests/play/test_luck.py",
    "tests/cli/test_bots.py",
    "tests/papers/ectomynx/test_decision_training.py",
    "tests/play/test_compiled_match.py",
    "tests/abstraction/test_joint_counts.py",
    "tests/oracles/test_openspiel_cfr.py",
    "tests/cli/test_arena.py",
    "tests/contracts/test_forged_artefacts.py",
    "tests/web/test_page.py",
    "tests/cli/test_interrupts.py",
    "tests/papers/gs3/test_tables.py",
    "tests/display/test_grid.py",
    "docs/real-game-training.md",
    "docs/split.md",
    "docs/flops.md",
)

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


def pytest_collection_modifyitems(items):
    """Begin long files first; within a file, tests keep their order."""
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.nodeid.partition("::")[0], len(places)))


def pytest_terminal_summary(terminalreporter):
    """Say in one line why the page was not tried in a browser, if it was not."""
    skipped = terminalreporter.stats.get("skipped", ())
    reasons = {report.longrepr[2] for report in skipped if isinstance(report.longrepr, tuple)}
    for reason in sorted(reason for reason in reasons if "`make browser`" in reason):
        terminalreporter.write_line(f"The page was not tried: {reason.removeprefix('Skipped: ')}")


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


@pytest.fixture(autouse=True, scope="module")
def nothing_of_a_file_stays():
    """Fixtures that tests of a file share leave the process as they found it."""
    with unchanged():
        yield


@pytest.fixture(autouse=True)
def nothing_stays():
    """A variable or a handler of signals left behind would reach a later test."""
    with unchanged():
        yield


@pytest.fixture
def add_bot():
    """A function that adds a bot to the catalogue, or replaces one, until the test ends."""
    with contextlib.ExitStack() as stack:
        yield lambda bot: stack.enter_context(BOTS.added(bot))
