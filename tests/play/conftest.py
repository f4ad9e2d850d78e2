"""Matches over TCP in one process: two clients in separate threads."""

import contextlib
import socket
import threading

import pytest

from equilibrist.errors import NetworkError
from equilibrist.play.server import NetworkMatch
from equilibrist.play.wire import Listener, Wire

NAMES = ("Ann", "Bob")


class Tapped(Wire):
    """A wire that records the lines it receives."""

    def __init__(self, link):
        super().__init__(link)
        self.lines = []

    def receive(self, seconds=None):
        line = super().receive(seconds)
        if line is not None:
            self.lines.append(line)
        return line


class Served:
    """The result of a match over TCP: match, log, warnings and the lines each client received."""

    def __init__(self):
        self.match, self.log, self.warnings, self.taps = None, [], [], []


@pytest.fixture
def over_tcp():
    """Return a function that plays a match of two clients (functions of a wire) with `serve`."""

    def play(serve, game, clients, hands, seed=None, **settings):
        served, wires, threads = Served(), [], []
        with Listener() as door, contextlib.ExitStack() as stack:
            for client in clients:
                link = socket.create_connection(("127.0.0.1", door.port))
                wires.append(stack.enter_context(door.accept(5)))
                served.taps.append(Tapped(link))
                threads.append(threading.Thread(target=_run, args=(client, served.taps[-1])))
                threads[-1].start()
            callbacks = {"log": served.log.append, "warn": served.warnings.append}
            match = NetworkMatch(game, NAMES, hands, seed)
            served.match = serve(match, tuple(wires), **callbacks, **settings)
            for wire in wires:
                wire.close()
            for thread in threads:
                thread.join(10)
                assert not thread.is_alive()
        return served

    return play


def _run(client, wire):
    with wire, contextlib.suppress(NetworkError):
        client(wire)
