"""What tests leave in their process: the next test of the same worker would meet it.

Some things a test must leave as they were. Others are set back silently, because commands that
tests run in this process set them, and libraries when they are imported.
"""

import contextlib
import os
import resource
import signal
import threading

import numba
from numba.np.ufunc import parallel

from equilibrist.kernels.threads import product_threads, use_threads

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)
LIMITS = (resource.RLIMIT_FSIZE, resource.RLIMIT_AS, resource.RLIMIT_CPU)
KEPT_VARIABLES = ("PYTEST_", "RAY_", "KMP_", "NUMBA_", "GRPC_")  # set by pytest and by libraries


def must_stay():
    """Return what a test must leave as it was, by name."""
    return {
        "handlers of signals": [signal.getsignal(number) for number in SIGNALS],
        "working directory": os.getcwd(),
        "limits": [resource.getrlimit(limit) for limit in LIMITS],
    }


def restore(before):
    """Set back the working directory and the handlers of signals."""
    os.chdir(before["working directory"])
    if threading.current_thread() is threading.main_thread():
        for number, handler in zip(SIGNALS, before["handlers of signals"], strict=True):
            signal.signal(number, handler)


@contextlib.contextmanager
def variables_restored():
    """Set back the variables of the environment, except those of libraries."""
    before = dict(os.environ)
    yield
    after = dict(os.environ)
    if after == before:
        return
    for name in before.keys() | after.keys():
        if before.get(name) == after.get(name) or name.startswith(KEPT_VARIABLES):
            continue
        if name in before:
            os.environ[name] = before[name]
        else:
            del os.environ[name]


@contextlib.contextmanager
def threads_restored():
    """Set back the numbers of threads of kernels and of products of matrices."""
    kernels, products = kernel_threads(), product_threads()
    yield
    if (kernel_threads(), product_threads()) != (kernels, products):
        use_threads(products or kernels)
        numba.set_num_threads(kernels)


def kernel_threads():
    """Return the number of threads of kernels, without starting any."""
    return numba.get_num_threads() if parallel._is_initialized else numba.config.NUMBA_NUM_THREADS


@contextlib.contextmanager
def unchanged():
    """Raise an AssertionError if the work inside changes what must stay."""
    before = must_stay()
    with variables_restored(), threads_restored():
        yield
    after = must_stay()
    changed = [
        f"{name}: {before[name]} became {after[name]}"
        for name in before
        if before[name] != after[name]
    ]
    if changed:
        restore(before)
    assert not changed, "; ".join(changed)
