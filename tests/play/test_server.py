"""Matches over TCP: the same as in process, and safe from bad clients."""

import contextlib
import socket
import threading
import time
from dataclasses import replace

import pytest

from equilibrist.errors import InvalidValueError, NetworkError, RecordError
from equilibrist.games.catalog import get_game
from equilibrist.games.dealing import MOST_ACPC_SEED
from equilibrist.games.match_log import log_lines, read_log, replay
from equilibrist.games.notation import parse_state
from equilibrist.play.acpc import VERSION, play_over
from equilibrist.play.match import play_match
from equilibrist.play.server import MOST_IGNORED, NetworkMatch, TimeLimits, serve_match
from equilibrist.play.wire import LONGEST_LINE, Listener, connect
from equilibrist.players.static import Mix, Uniform

LIMIT, NOLIMIT = get_game("holdem-limit"), get_game("holdem-nolimit")


class Remembered(Uniform):
    """A uniform player with a name that knows the seed of its last reset."""

    def __init__(self, name):
        self.name = name
        super().__init__()

    def reset(self, seed):
        self.seed = seed
        super().reset(seed)


@pytest.fixture
def serve(over_tcp):
    """Return a function that plays a match at the ACPC dealer: match, log and warnings."""

    def serve(*arguments, **settings):
        served = over_tcp(serve_match, *arguments, **settings)
        return served.match, served.log, served.warnings

    serve.over_tcp = over_tcp
    return serve


def seated(game, player, seed=0):
    def client(wire):
        player.reset(seed)
        play_over(game, wire, player)

    return client


def calls():
    return Mix(0, 1, 0)


@pytest.mark.parametrize("name", ["holdem-limit", "holdem-nolimit", "leduc", "discard-holdem"])
def test_a_match_over_tcp_is_logged_as_in_process(serve, name):
    game = get_game(name)
    players = Remembered("Ann"), Remembered("Bob")
    inside = play_match(game, players, 60, seed=3, keep_log=True)
    clients = [seated(game, Remembered("x"), player.seed) for player in players]
    match, log, warnings = serve(game, clients, 60, seed=3)
    assert log == list(log_lines(replace(inside.logs[0], comments=TimeLimits().comments)))
    assert match.is_finished
    assert match.chips == inside.chips[0].tolist()
    assert warnings == []


def test_players_receive_their_winnings(serve):
    results = {}

    def client(wire):
        player = Uniform()
        player.reset(8)
        results["sitting"] = play_over(LIMIT, wire, player)

    match, _, _ = serve(LIMIT, [client, seated(LIMIT, calls())], 30)
    assert results["sitting"].chips == match.chips
    assert not results["sitting"].is_cut_off


@pytest.mark.parametrize("game", [LIMIT, NOLIMIT, get_game("discard-holdem")])
def test_hidden_cards_are_never_on_the_wire_before_the_showdown(serve, game):
    wires = []

    def client(wire):
        wires.append(wire)
        player = Uniform()
        player.reset(len(wires))
        play_over(game, wire, player)

    serve(game, [client, client], 40, seed=5)
    shown = 0
    for wire in wires:
        for line in wire.lines:
            state, viewer = parse_state(game, line)
            other = line.split(":")[4].split("/")[0].split("|")[1 - viewer]
            is_showdown = state.is_over and "f" not in line.split(":")[3]
            assert bool(other) == is_showdown
            shown += is_showdown
        assert len({line.split(":")[2] for line in wire.lines}) == 40
    assert shown > 10


def test_lines_out_of_turn_and_nonsense_change_nothing(serve):
    def noisy(wire):
        """Call in its turn, after sending various lines; answer also when not asked."""
        wire.send(VERSION)
        while (line := wire.receive()) is not None:
            state, viewer = parse_state(LIMIT, line)
            for said in ("# a comment", "nonsense", "", f"{line}x"[1:], "\x00\xff" * 50):
                wire.send(said)
            wire.send(line.replace(f"MATCHSTATE:{viewer}", f"MATCHSTATE:{1 - viewer}") + ":f")
            if state.actor == viewer:
                wire.send(f"{line}:c")
            else:
                wire.send(f"{line}:r")

    other = seated(LIMIT, Uniform(), 4)
    quiet = serve(LIMIT, [seated(LIMIT, calls()), other], 20, seed=1)
    noise = serve(LIMIT, [noisy, other], 20, seed=1)
    assert noise[1] == quiet[1]
    assert len(noise[2]) > 100


def test_an_answer_is_taken_once(serve):
    def twice(wire):
        """Send every answer twice: the second is not the answer of the next turn."""
        wire.send(VERSION)
        while (line := wire.receive()) is not None:
            state, viewer = parse_state(LIMIT, line)
            if state.actor == viewer:
                wire.send(f"{line}:r")
                wire.send(f"{line}:r")

    raises = seated(LIMIT, Mix(0, 0, 1))
    one = serve(LIMIT, [raises, seated(LIMIT, calls())], 10, seed=0)
    two = serve(LIMIT, [twice, seated(LIMIT, calls())], 10, seed=0)
    assert one[1] == two[1]


def whole_hands(game, log):
    """Return the hands of an incomplete log, which must be readable."""
    read = read_log(game, log)
    assert not read.is_finished
    return read.hands


def leaves_after(hands, farewell):
    """Return a client that calls for some hands, then does something else in its turn."""

    def client(wire):
        wire.send(VERSION)
        while (line := wire.receive()) is not None:
            state, viewer = parse_state(LIMIT, line)
            if state.actor == viewer:
                if state.hand_number == hands:
                    farewell(wire, line)
                    return
                wire.send(f"{line}:c")

    return client


def test_a_client_that_hangs_up_ends_its_match_and_the_log_is_whole(serve):
    match, log, _ = serve(
        LIMIT, [seated(LIMIT, calls()), leaves_after(3, lambda wire, line: None)], 9
    )
    assert match.ending == "Bob has hung up, in hand 3: the match is over"
    assert not match.is_finished
    assert len(whole_hands(LIMIT, log)) == len(match.chips) == 3


def test_a_client_that_stalls_ends_its_match(serve):
    start = time.monotonic()
    match, log, _ = serve(
        LIMIT,
        [leaves_after(2, lambda wire, line: wire.receive(5)), seated(LIMIT, calls())],
        9,
        limits=TimeLimits(response=500),
    )
    assert match.ending.startswith("Ann gave no answer in the 0.5 s it had left, in hand 2")
    assert time.monotonic() - start < 5
    assert len(whole_hands(LIMIT, log)) == 2
    assert log[1] == "#--t_response 500"


@pytest.mark.parametrize("limits", [TimeLimits(hand=400), TimeLimits(mean_hand=100)])
def test_time_adds_up_over_a_hand_and_over_a_match(serve, limits):
    def slow(wire):
        wire.send(VERSION)
        while (line := wire.receive()) is not None:
            state, viewer = parse_state(LIMIT, line)
            if state.actor == viewer:
                time.sleep(0.15)
                wire.send(f"{line}:c")

    match, _, _ = serve(LIMIT, [slow, seated(LIMIT, calls())], 4, limits=limits)
    assert match.ending.startswith("Ann gave no answer in the 0.")
    assert len(match.chips) < 4


@pytest.mark.parametrize("junk", ["nonsense\r\n", "x" * 5000, "# comment\r\n", "\r\n"])
def test_a_client_that_floods_ends_its_match(serve, junk):
    def flood(wire, line):
        with contextlib.suppress(OSError):
            for _ in range(200):
                wire._link.sendall(junk.encode() * 100)

    match, log, warnings = serve(LIMIT, [seated(LIMIT, calls()), leaves_after(1, flood)], 9)
    assert match.ending == (
        f"Bob sent {MOST_IGNORED:,} lines that are not answers, in hand 1: the match is over"
    )
    assert len(whole_hands(LIMIT, log)) == 1
    assert len(warnings) <= MOST_IGNORED


def test_a_bad_client_loses_only_its_own_match(serve):
    found = {}

    def good():
        clients = [seated(LIMIT, Uniform(), 1), seated(LIMIT, calls())]
        found["good"] = serve(LIMIT, clients, 100)[0]

    thread = threading.Thread(target=good)
    thread.start()
    bad = leaves_after(0, lambda wire, line: wire.receive(5))
    stalled = serve(LIMIT, [seated(LIMIT, calls()), bad], 9, limits=TimeLimits(response=100))[0]
    thread.join(20)
    assert stalled.ending
    assert found["good"].is_finished


def test_the_cards_are_a_secret_until_the_match_is_over(serve):
    clients = [seated(LIMIT, calls()), seated(LIMIT, calls())]
    (one, first, _), (two, second, _) = (serve(LIMIT, clients, 4) for _ in range(2))
    assert one.seed != two.seed
    assert min(one.seed, two.seed) > MOST_ACPC_SEED  # nobody can try them all
    assert [line.split(":")[3] for line in first[4:8]] != [x.split(":")[3] for x in second[4:8]]
    assert first[0] == second[0] == "# name/game/hands/seed Ann.Bob holdem-limit.game 4 " + "?" * 39
    assert not any(str(one.seed) in line for line in first)
    log = read_log(LIMIT, [str(one.header), *first[1:]])
    assert len(replay(log).hands) == 4


def test_a_match_that_is_stopped_keeps_its_whole_hands(serve):
    """The dealer receives a stop request while it waits for a silent client."""
    stopped = threading.Event()

    def stalls(wire, line):
        stopped.set()
        wire.receive(5)

    def stoppable(match, wires, **settings):
        for wire in wires:
            wire.should_stop = stopped.is_set
        return serve_match(match, wires, **settings)

    served = serve.over_tcp(stoppable, LIMIT, [seated(LIMIT, calls()), leaves_after(2, stalls)], 9)
    assert served.match.ending == "the dealer was stopped in hand 2"
    assert len(whole_hands(LIMIT, served.log)) == len(served.match.chips) == 2


def stalls(wire, line):
    wire._link.sendall(f"{line}:c".encode())  # all but its end
    wire.receive(5)


def drips(wire, line):
    with contextlib.suppress(OSError):
        for _ in range(200):
            wire._link.sendall(b"MATCHSTATE"[:1])
            time.sleep(0.01)


def pours(wire, line):
    with contextlib.suppress(OSError):
        wire._link.sendall(b"x" * 10_000_000)


def spits(wire, line):
    with contextlib.suppress(OSError):
        wire._link.sendall(bytes(range(256)) * 4000)
        wire.receive(5)


@pytest.mark.parametrize("hand", [0, 1])
@pytest.mark.parametrize("misbehaves", [stalls, drips, pours, spits, lambda wire, line: None])
def test_any_misbehaviour_of_a_client_ends_the_match_with_one_sentence(serve, hand, misbehaves):
    clients = [leaves_after(hand, misbehaves), seated(LIMIT, calls())]
    match, log, _ = serve(LIMIT, clients, 9, limits=TimeLimits(response=200))
    assert match.ending.startswith("Ann ")
    assert match.ending.endswith(f", in hand {hand}: the match is over")
    assert len(read_log(LIMIT, log).hands if hand else []) == len(match.chips) == hand


@pytest.mark.parametrize("said", [b"", b"VERSION:2", b"VERSION:2.0.0", b"\xff" * 9000, b"\n"])
def test_a_client_that_does_not_greet_ends_the_match(serve, said):
    def client(wire):
        wire._link.sendall(said)
        wire.receive(5)

    match, _, _ = serve(LIMIT, [seated(LIMIT, calls()), client], 9, limits=TimeLimits(greeting=200))
    assert match.ending.startswith("Bob s")
    assert match.ending.endswith(", before the first hand: the match is over")


class SlowReader:
    """A wire to a client that calls and reads every line slowly."""

    def __init__(self):
        self.line = VERSION

    def send(self, line, seconds):
        time.sleep(0.15)
        if seconds < 0.15:
            raise NetworkError("does not read")
        self.line = f"{line}:c"

    def receive(self, seconds):
        return self.line


def test_the_time_to_send_counts_against_the_client_that_does_not_read():
    wires = SlowReader(), SlowReader()
    match = serve_match(NetworkMatch(LIMIT, ("Ann", "Bob"), 9), wires, limits=TimeLimits(hand=300))
    assert match.ending == "Ann does not read, in hand 0: the match is over"


def test_another_version_is_refused(serve):
    def old(wire):
        wire.send("VERSION:1.0.0")
        wire.receive()

    match, log, _ = serve(LIMIT, [old, seated(LIMIT, calls())], 5)
    assert match.ending == (
        "Ann speaks 'VERSION:1.0.0'; this dealer speaks VERSION:2.0.0, before the first hand: "
        "the match is over"
    )
    assert len(log) == 4


def test_a_client_leaves_a_dealer_that_sends_another_game(serve):
    errors = []

    def client(wire):
        try:
            play_over(get_game("leduc"), wire, Uniform())
        except NetworkError as error:
            errors.append(str(error))

    match, _, _ = serve(LIMIT, [client, seated(LIMIT, calls())], 5)
    assert errors[0].startswith("the dealer sends a line that is not a state of leduc: ")
    assert "has hung up" in match.ending


def test_lines_are_cut_where_they_are_too_long_and_end_with_the_connection():
    with Listener() as door:
        link = socket.create_connection(("127.0.0.1", door.port))
        with door.accept(5) as wire:
            link.sendall(b"one\r\ntwo\n" + b"x" * LONGEST_LINE + b"\nunfinished")
            link.close()
            lines = []
            while (line := wire.receive(5)) is not None:
                lines.append(line)
    assert lines == ["one", "two", "x" * LONGEST_LINE, ""]


def test_nobody_waits_for_a_client_that_does_not_read():
    def send_much(wire):
        for _ in range(100_000):  # 400 MB, more than any system keeps for somebody
            wire.send("x" * 4000, 0.1)

    with (
        Listener() as door,
        socket.create_connection(("127.0.0.1", door.port)),
        door.accept(5) as wire,
        pytest.raises(NetworkError, match="does not read"),
    ):
        send_much(wire)


def test_a_port_in_use_and_a_missing_dealer_are_reported_in_one_sentence():
    with Listener() as door, pytest.raises(NetworkError, match=f"port {door.port}.*choose another"):
        Listener(port=door.port)
    with pytest.raises(NetworkError, match=f"nobody answers at 127.0.0.1 port {door.port}"):
        connect("127.0.0.1", door.port)
    with Listener() as door, pytest.raises(NetworkError, match=r"nobody connects .* in 0.05 s"):
        door.accept(0.05)


@pytest.mark.parametrize(
    ("names", "hands"), [(("a:b", "c"), 5), (("a", "b"), 0), (("a", "b"), 2**32)]
)
def test_matches_that_cannot_be_are_refused(names, hands):
    with pytest.raises((InvalidValueError, RecordError)):
        NetworkMatch(LIMIT, names, hands)


def test_impossible_times_are_refused():
    with pytest.raises(InvalidValueError, match="mean hand time in milliseconds"):
        TimeLimits(mean_hand=0)
    with pytest.raises(InvalidValueError, match="greeting time in milliseconds"):
        TimeLimits(greeting=0)
