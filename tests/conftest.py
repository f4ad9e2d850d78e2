"""Signals as the tests expect them, also if the suite runs in the background of a shell.

A shell starts background work with SIGINT ignored, `nohup` with SIGHUP, and commands respect that.
"""

import signal
import threading


def pytest_configure():
    if threading.current_thread() is not threading.main_thread():
        return
    for number, handler in (
        (signal.SIGINT, signal.default_int_handler),
        (signal.SIGHUP, signal.SIG_DFL),
    ):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)
