"""Lines between dealer and clients, against PokerKit's ACPC transcript of the same hands."""

import contextlib
import socket
import threading

import pytest
from pokerkit import HandHistory

from equilibrist.games.catalog import get_game
from equilibrist.games.match_log import read_log
from equilibrist.games.phh import phh_text
from equilibrist.play.acpc import play_over
from equilibrist.play.server import NetworkMatch, serve_match
from equilibrist.play.wire import Listener, Wire
from equilibrist.players.static import Mix, Uniform


class Recorded(Wire):
    """A client's wire that keeps both directions as PokerKit writes them, by hand."""

    def __init__(self, link):
        super().__init__(link)
        self.said = {}

    def receive(self, seconds=None):
        line = super().receive(seconds)
        if line is not None:
            self._keep("S->", line)
        return line

    def send(self, line, seconds=None):
        super().send(line, seconds)
        if line.startswith("MATCHSTATE"):
            self._keep("<-C", line)

    def _keep(self, speaker, line):
        self.said.setdefault(int(line.split(":")[2]), []).append((speaker, f"{line}\r\n"))


@pytest.mark.parametrize("name", ["holdem-limit", "holdem-nolimit"])
def test_the_lines_of_a_match_are_pokerkits(name):
    game, log, wires = get_game(name), [], []

    def client(wire, player):
        player.reset(1)
        with wire:
            play_over(game, wire, player)

    with Listener() as door, contextlib.ExitStack() as stack:
        threads = []
        for player in (Uniform(), Mix(0, 0.6, 0.4)):
            link = Recorded(socket.create_connection(("127.0.0.1", door.port)))
            wires.append((stack.enter_context(door.accept(600)), link))
            threads.append(threading.Thread(target=client, args=(link, player)))
            threads[-1].start()
        ours = tuple(wire for wire, _ in wires)
        serve_match(NetworkMatch(game, ("Ann", "Bob"), 40, seed=9), ours, log=log.append)
        for wire in ours:
            wire.close()
        for thread in threads:
            thread.join(600)
    hands = read_log(game, log).hands
    # Some no-limit hands are all-in before the river, so that rounds without betting are sent too.
    assert any("c/" in hand.state.betting.text[-3:] for hand in hands) != game.is_limit
    for record in hands:
        theirs = HandHistory.loads(phh_text(record))
        for seat, (_, link) in enumerate(wires):
            position = record.names.index(("Ann", "Bob")[seat])
            number = record.hand_number
            assert link.said[number] == list(theirs.to_acpc_protocol(position, number))
