"""Matches over TCP in one process: two clients in threads of their own."""

import contextlib
import socket
import threading

import pytest

from equilibrist.errors import NetworkError
from equilibrist.play.wire import Listener, Wire

NAMES = ("Ann", "Bob")


class Tapped(Wire):
    """A wire that keeps what it has received."""

    def __init__(self, link):
        super().__init__(link)
        self.lines = []

    def receive(self, seconds=None):
        line = super().receive(seconds)
        if line is not None:
            self.lines.append(line)
        return line


class Served:
    """What a match over TCP came to: the match, its log, warnings, what each client was sent."""

    def __init__(self):
        self.match, self.log, self.warnings, self.taps = None, [], [], []


@pytest.fixture
def over_tcp():
    """Plays a match of two clients, functions of a wire, by some `serve` function."""

    def play(serve, game, clients, hands, **settings):
        served, wires, threads = Served(), [], []
        with Listener() as door, contextlib.ExitStack() as stack:
            for client in clients:
                link = socket.create_connection(("127.0.0.1", door.port))
                wires.append(stack.enter_context(door.accept(5)))
                served.taps.append(Tapped(link))
                threads.append(threading.Thread(target=_run, args=(client, served.taps[-1])))
                threads[-1].start()
            told = {"log": served.log.append, "warn": served.warnings.append}
            served.match = serve(game, tuple(wires), NAMES, hands, **told, **settings)
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
