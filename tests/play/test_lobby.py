"""Seats are given to clients that greet, and to nobody else."""

import contextlib
import functools
import re
import socket
import threading
import time

import pytest

from equilibrist.errors import NetworkError
from equilibrist.games.catalog import get_game
from equilibrist.play import acpc, pokerbots_engine
from equilibrist.play.acpc import VERSION, play_over
from equilibrist.play.lobby import MOST_WAITING, Lobby
from equilibrist.play.pokerbots_client import play_pokerbots
from equilibrist.play.wire import Listener, WaitingStopped, Wire, connect
from equilibrist.players.static import Uniform

GREET = {
    "acpc": functools.partial(acpc.is_greeting, patience=0.3),
    "pokerbots": pokerbots_engine.is_greeting,
}


class Street:
    """A lobby and the connections to its ports."""

    def __init__(self, stack, greeting, doors=1):
        listeners = [stack.enter_context(Listener()) for _ in range(doors)]
        self.warnings, self.links, self.stack = [], [], stack
        self.lobby = stack.enter_context(
            Lobby((listeners[0], listeners[-1]), GREET[greeting], warn=self.warnings.append)
        )

    def comes(self, said=b"", door=0):
        link = socket.create_connection(("127.0.0.1", self.lobby.doors[door].port))
        self.links.append(self.stack.enter_context(link))
        if said:
            link.sendall(said)
        return link


@pytest.fixture
def street():
    with contextlib.ExitStack() as stack:
        yield lambda *arguments, **settings: Street(stack, *arguments, **settings)


def is_same(wire, link):
    return wire._link.getpeername() == link.getsockname()


VERSION_LINE = f"{VERSION}\r\n".encode()


@pytest.mark.parametrize("greeting", ["acpc", "pokerbots"])
def test_a_connection_that_closes_at_once_takes_no_seat(street, greeting):
    here = street(greeting)
    for _ in range(3):
        here.comes().close()
    players = [here.comes(VERSION_LINE if greeting == "acpc" else b"") for _ in range(2)]
    wires = here.lobby.fill(2, 5)
    assert all(map(is_same, wires, players))
    assert len(here.warnings) == 3
    assert all("has hung up: it gets no seat" in warning for warning in here.warnings)


def test_silent_strangers_slow_ones_and_browsers_keep_nobody_out(street):
    here = street("acpc")
    here.comes()
    here.comes(b"VERSION:2")  # and never the rest
    here.comes(b"GET / HTTP/1.1\r\n")
    here.comes(b"\x00\xff" * 5000)  # no line at all
    players = [here.comes(VERSION_LINE) for _ in range(2)]
    assert all(map(is_same, here.lobby.fill(2, 5), players))
    # The browser and the stream of bytes are refused at once, the others have a time to greet.
    assert [warning.split(" at ")[0] for warning in here.warnings] == ["127.0.0.1"] * 2
    assert "speaks 'GET / HTTP/1.1'" in here.warnings[0]


def test_a_silent_client_is_refused_with_a_reason(street):
    here = street("acpc")
    stranger = here.comes()
    with pytest.raises(NetworkError, match="nobody connects to port"):
        here.lobby.fill(1, 0.6)
    assert "sends nothing for 0.3 s, while this dealer waits for VERSION:2.0.0" in here.warnings[0]
    assert "perhaps it speaks the protocol pokerbots" in here.warnings[0]
    stranger.settimeout(5)
    assert stranger.recv(4096).startswith(b"# no seat, because this client sends nothing for 0.3 s")
    assert stranger.recv(4096) == b""


def test_a_drop_of_bytes_does_not_buy_time(street):
    here = street("acpc")
    stranger = here.comes()
    done = threading.Event()

    def drip():
        with contextlib.suppress(OSError):
            while not done.wait(0.05):
                stranger.sendall(b"V")

    thread = threading.Thread(target=drip)
    thread.start()
    try:
        with pytest.raises(NetworkError, match="nobody connects"):
            here.lobby.fill(1, 0.6)
    finally:
        done.set()
        thread.join()
    assert "sends nothing for 0.3 s" in here.warnings[0]


def test_a_client_that_leaves_before_the_match_frees_its_seat(street):
    here = street("acpc")
    first = here.comes(VERSION_LINE)
    here.lobby.fill(1, 5)
    first.close()
    second, third = here.comes(VERSION_LINE), here.comes(VERSION_LINE)
    assert all(map(is_same, here.lobby.fill(2, 5), (second, third)))
    assert here.warnings == ["seat 1 has left before the match; its seat is free again"]


def test_each_seat_has_its_door(street):
    here = street("acpc", doors=2)
    second = here.comes(VERSION_LINE, door=1)
    first = here.comes(VERSION_LINE, door=0)
    assert all(map(is_same, here.lobby.fill(2, 5), (first, second)))


def test_a_crowd_is_not_let_in(street):
    here = street("pokerbots")
    for _ in range(MOST_WAITING + 5):
        here.comes()
    here.lobby.fill(2, 5)
    assert len(here.warnings) == 5
    assert f"comes after {MOST_WAITING} others that wait for a seat" in here.warnings[0]


def test_waiting_can_be_stopped(street):
    here = street("acpc")
    here.lobby.should_stop = lambda: True
    with pytest.raises(WaitingStopped):
        here.lobby.fill(2)


@pytest.mark.parametrize("spoken", ["acpc", "pokerbots"])
def test_both_ends_name_the_mistake_of_two_protocols(street, spoken):
    """The lobby speaks one protocol and the client the other: neither waits for ever."""
    here = street(spoken)
    game, found = get_game("discard-holdem"), []

    def client():
        play = play_pokerbots if spoken == "acpc" else play_over
        with connect("127.0.0.1", here.lobby.doors[0].port) as wire:
            found.append(play(game, wire, Uniform(), patience=5))

    thread = threading.Thread(target=client)
    thread.start()
    with pytest.raises(NetworkError, match="nobody connects"):
        here.lobby.fill(1, 0.7)
    thread.join(10)
    other = {"acpc": "pokerbots", "pokerbots": "acpc"}[spoken]
    assert re.search(f"it speaks (the protocol )?{other}", here.warnings[0])
    assert found[0].chips == []
    assert found[0].comment.startswith("# no seat, because this client sends")


@pytest.mark.parametrize(
    ("play", "line", "words"),
    [
        (play_over, "NEWGAME me you 200 2 10 20.0", "it speaks the protocol pokerbots, not acpc"),
        (play_pokerbots, "MATCHSTATE:0:0::5d5c|", "the dealer does not speak pokerbots"),
        (play_over, "MATCHSTATE", "is that the game"),
        (play_pokerbots, "NEWGAME", "is truncated"),
        (play_over, "\x00\xff" * 3000, "is that the game"),
        (play_pokerbots, "NEWHAND " * 600, "instead of a number"),
    ],
)
def test_a_client_reports_what_is_wrong_with_its_dealer(play, line, words):
    ours, theirs = socket.socketpair()
    with Wire(ours) as wire, Wire(theirs) as dealer:
        dealer.send(line)
        with pytest.raises(NetworkError, match=words):
            play(get_game("discard-holdem"), wire, Uniform(), patience=5)


@pytest.mark.parametrize("play", [play_over, play_pokerbots])
def test_a_client_does_not_wait_for_ever(play):
    ours, theirs = socket.socketpair()
    with Wire(ours) as wire, theirs:
        theirs.sendall(b"half a li")
        with pytest.raises(NetworkError, match=r"the dealer sends nothing for 0\.05 s; perhaps"):
            play(get_game("discard-holdem"), wire, Uniform(), patience=0.05)


def test_a_wire_stops_waiting_on_request():
    ours, theirs = socket.socketpair()
    start = time.monotonic()
    with theirs, Wire(ours, should_stop=lambda: time.monotonic() > start + 0.15) as wire:
        with pytest.raises(WaitingStopped):
            wire.receive()
        with pytest.raises(WaitingStopped):
            wire.send("x" * 10_000_000)
