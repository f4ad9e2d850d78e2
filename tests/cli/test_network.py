"""`dealer` and `connect` as their users meet them: in processes of their own."""

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest

from equilibrist.cli.network import _names
from equilibrist.errors import NetworkError
from equilibrist.games.catalog import get_game
from equilibrist.games.match_log import log_lines, read_log
from equilibrist.games.notation import parse_state
from equilibrist.play.acpc import VERSION
from equilibrist.play.match import play_match
from equilibrist.play.server import TimeLimits
from equilibrist.play.wire import Listener, connect
from equilibrist.players.catalog import make_player

COMMAND = (sys.executable, "-c", "from equilibrist.cli import main; main()")
BOT = f"{shlex.join(COMMAND)} connect {{host}} {{port}}"


def test_a_match_of_three_processes_is_logged_as_in_process(tmp_path):
    log = tmp_path / "match.log"
    dealer = subprocess.Popen(
        shlex.split(
            f"{shlex.join(COMMAND)} dealer holdem-limit --hands 30 --seed 0 --json --port 0,0 "
            f"--names always-raise,always-call --log {log} --start-timeout 600"
        ),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    words = dealer.stderr.readline().replace(",", " ").split()
    ports = [words[i + 1] for i, word in enumerate(words) if word == "port"]
    clients = [
        subprocess.Popen([*COMMAND, "connect", "127.0.0.1", port, player, "--json"], stdout=-1)
        for port, player in zip(ports, ("always-raise", "always-call"), strict=True)
    ]
    result = json.loads(dealer.communicate(timeout=600)[0])
    seen = [json.loads(client.communicate(timeout=600)[0]) for client in clients]

    game = get_game("holdem-limit")
    players = make_player("always-raise", game), make_player("always-call", game)
    inside = play_match(game, players, 30, seed=0, keep_log=True).logs[0]
    lines = log_lines(replace(inside, comments=TimeLimits().comments))
    assert log.read_bytes() == "".join(f"{line}\n" for line in lines).encode()
    assert result["finished"]
    assert result["hands"] == 30
    assert result["score"] == list(inside.score) == [client["chips"] for client in seen]


def test_the_dealer_starts_bots_and_sees_them_out(answer, tmp_path):
    log = tmp_path / "match.log"
    data = answer(
        "dealer", "leduc", "--hands", 5, "--names", "Ann,Bob", "--log", log,
        "--bot", f"{BOT} always-call --game leduc", "--bot", f"{BOT} uniform --game leduc",
    )  # fmt: skip
    assert data["finished"]
    assert data["players"] == ["Ann", "Bob"]
    assert read_log(get_game("leduc"), log).score == tuple(data["score"])


def test_pokerbots_play_by_their_own_protocol(answer, tmp_path):
    log = tmp_path / "match.log"
    bot = f"{BOT} uniform --game discard-holdem --protocol pokerbots --seed"
    data = answer(
        "dealer", "discard-holdem", "--hands", 8, "--protocol", "pokerbots", "--log", log,
        "--time-bank", 60, "--bot", f"{bot} 1", "--bot", f"{bot} 2",
    )  # fmt: skip
    assert data["finished"]
    assert data["hands"] == 8
    assert read_log(get_game("discard-holdem"), log).score == tuple(data["score"])


def test_a_match_that_breaks_off_says_so_and_exits_with_1(run, tmp_path):
    log = tmp_path / "match.log"
    script = (
        "import socket, sys; s = socket.create_connection((sys.argv[1], int(sys.argv[2]))); "
        "s.sendall(b'VERSION:2.0.0\\r\\n'); s.recv(9)"
    )
    quitter = f'{sys.executable} -c "{script}"'
    result = run(
        "dealer", "leduc", "--hands", 5, "--log", log, "--json",
        "--bot", f"{BOT} always-call --game leduc", "--bot", quitter,
    )  # fmt: skip
    data = json.loads(result.stdout)
    assert result.returncode == 1
    assert not data["finished"]
    assert data["ending"].startswith("seat2 has hung up, in hand 0")
    assert data["win_rate"] is None
    assert len(log.read_text().splitlines()) == 4


# A bot of ACPC with a child of its own: it calls, and from hand 2 on says nothing. The processes
# ignore SIGTERM, as bots may. Says who they are in a file.
STUBBORN = """
import os, signal, socket, subprocess, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(["sleep", "60"])
link = socket.create_connection((sys.argv[2], int(sys.argv[3])))
link.sendall(b"VERSION:2.0.0\\n")
for line in link.makefile():
    if line.split(":")[2] == "2":
        open(sys.argv[1], "a").write(f"{os.getpid()} {child.pid} ")
        signal.pause()
    link.sendall(f"{line.strip()}:c\\n".encode())
"""


def _is_running(number):
    try:
        with open(f"/proc/{number}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_dealer_its_bots_and_their_children(run, tmp_path, monkeypatch, number):
    monkeypatch.setattr("equilibrist.play.processes._GRACE", 0.2)
    script, listing, log = tmp_path / "bot.py", tmp_path / "processes", tmp_path / "match.log"
    script.write_text(STUBBORN)
    log.write_text("an old log")
    bot = f"{sys.executable} {script} {listing} {{host}} {{port}}"
    done = threading.Event()

    def interrupt():
        while not done.wait(0.02):
            if listing.exists() and len(listing.read_text().split()) == 4:
                break
        os.kill(os.getpid(), number)

    thread = threading.Thread(target=interrupt)
    thread.start()
    result = run("dealer", "leduc", "--hands", 9, "--log", log, "--force", "--json",
                 "--bot", bot, "--bot", bot)  # fmt: skip
    done.set()
    thread.join()
    assert result.returncode == 128 + number
    assert "ending the match" in result.stderr
    data = json.loads(result.stdout)
    assert (data["hands"], data["ending"]) == (2, "the dealer was stopped in hand 2")
    found = read_log(get_game("leduc"), log)
    assert (len(found.hands), found.is_finished, found.header.seed) == (2, False, data["seed"])
    processes = listing.read_text().split()
    assert len(processes) == 4
    assert not any(map(_is_running, processes))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bot.py", "match.log", "processes"]


def test_a_dealer_stopped_before_its_match_leaves_the_old_log(run, tmp_path):
    log = tmp_path / "match.log"
    log.write_text("an old log")
    before = signal.getsignal(signal.SIGTERM)

    def interrupt():
        while signal.getsignal(signal.SIGTERM) == before:
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=interrupt)
    thread.start()
    result = run("dealer", "leduc", "--log", log, "--force")
    thread.join()
    assert (result.returncode, result.stdout) == (143, "")
    assert "stopped before the match started" in result.stderr
    assert log.read_text() == "an old log"
    assert [path.name for path in tmp_path.iterdir()] == ["match.log"]


def test_a_log_is_replaced_only_by_force(run, tmp_path):
    log = tmp_path / "match.log"
    log.write_text("precious")
    result = run("dealer", "leduc", "--log", log)
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert "exists; choose another name, or replace it with --force" in result.stderr
    assert log.read_text() == "precious"


def test_a_full_stderr_does_not_stop_the_clocks():
    """Nobody reads what the dealer says, and a client makes it say much."""
    program = [*COMMAND, "dealer", "leduc", "--hands", "4", "--json"]
    with subprocess.Popen(program, stdout=-1, stderr=-1, text=True) as dealer:
        port = int(dealer.stderr.readline().split()[-1])
        threads = [threading.Thread(target=_noisy_client, args=(port,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            assert dealer.wait(600) == 0
            assert json.loads(dealer.stdout.read())["finished"]
        finally:
            dealer.kill()
            for thread in threads:
                thread.join()


def _noisy_client(port):
    """Calls, after 900 lines of nonsense in each turn."""
    with _connect_later(port) as wire:
        wire.send(VERSION)
        while (line := wire.receive(600)) is not None:
            state, viewer = parse_state(get_game("leduc"), line)
            if state.actor == viewer:
                wire._link.sendall(b"nonsense that nobody reads\n" * 900 + f"{line}:c\n".encode())


def _connect_later(port):
    """Connect as soon as somebody listens, which may take a while on a busy machine."""
    end = time.monotonic() + 600
    while True:
        try:
            return connect("127.0.0.1", port)
        except NetworkError:
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


def test_deals_are_secret_unless_a_seed_is_given(answer, run, tmp_path):
    log = tmp_path / "match.log"
    with Listener() as door:
        port = door.port
    line = ("dealer", "leduc", "--hands", 3, "--port", port, "--log", log,
            "--start-timeout", 600)  # fmt: skip
    players = [threading.Thread(target=_noisy_client, args=(port,)) for _ in range(2)]
    for player in players:
        player.start()
    data = answer(*line)
    assert data["seed"] > 2**100
    assert str(data["seed"]) in log.read_text().splitlines()[0]
    replayed = run("log", log, "--replay")
    assert f"all deals match seed {data['seed']}" in replayed.stdout
    log.write_text(log.read_text().replace(str(data["seed"]), str(data["seed"] ^ 1)))
    assert run("log", log, "--replay").returncode == 2
    for player in players:
        player.join()


def _hangs_up(door):
    door.accept(600).close()


def test_a_client_that_plays_no_hand_exits_with_1(run):
    with Listener() as door:
        thread = threading.Thread(target=_hangs_up, args=(door,))
        thread.start()
        result = run("connect", "127.0.0.1", door.port, "always-call", "--game", "leduc")
        thread.join()
    assert result.returncode == 1
    assert result.stderr == (
        "equilibrist: the dealer disconnected before the first hand; "
        "does it play leduc by the protocol acpc?\n"
    )
    assert "0 hands" in result.stdout


def test_a_player_over_tcp_draws_numbers_that_nobody_can_guess(run):
    seeds = []
    for _ in range(2):
        with Listener() as door:
            thread = threading.Thread(target=_hangs_up, args=(door,))
            thread.start()
            line = ("connect", "127.0.0.1", door.port, "uniform", "--game", "leduc", "--json")
            seeds.append(json.loads(run(*line).stdout)["seed"])
            thread.join()
    assert seeds[0] != seeds[1]
    assert min(seeds) > 2**100


def test_names_that_an_ascii_locale_could_not_read_are_logged_as_they_are():
    typed = "Zoë,Bob".encode().decode("ascii", "surrogateescape")  # as Python has it there
    assert _names(typed) == _names("Zoë,Bob") == ("Zoë", "Bob")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("dealer", "leduc", "--log", "x" * 300), "File name too long"),
        (("dealer", "leduc", "--seed", str(2**128)), "--seed must be 0 to 2**128 - 1"),
        (("dealer", "ludec"), "did you mean leduc"),
        (("dealer", "leduc", "--hands", "0"), "the number of hands"),
        (("dealer", "leduc", "--port", "1,2,3"), "--port must be one port"),
        (("dealer", "leduc", "--port", "99999"), "0 to 65535"),
        (("dealer", "leduc", "--names", "Ann"), "two names"),
        (("dealer", "leduc", "--names", "Ann,B|b"), "without : and |"),
        (("dealer", "leduc", "--t-response", "0"), "response time in milliseconds"),
        (("dealer", "leduc", "--protocol", "pokerbots"), "not no-limit hold'em"),
        (("dealer", "leduc", "--protocol", "smoke"), "acpc or pokerbots, not 'smoke'"),
        (("dealer", "leduc", "--bot", "no-such-bot"), "'no-such-bot' does not start: No such file"),
        (("dealer", "leduc", "--bot", "false"), "bot 'false' ended with code 1"),
        (("dealer", "leduc", "--bot", ""), "does not start: the command is empty"),
        (("dealer", "leduc", "--log", "no/such/folder.log"), "cannot write"),
        (("dealer", "leduc", "--start-timeout", "0.05"), "nobody connects to port"),
        (("dealer", "leduc", "--start-timeout", "nan"), "--start-timeout"),
        (("dealer", "leduc", "--start-timeout", "-1"), "--start-timeout"),
        (("connect", "127.0.0.1", "1", "uniform"), "nobody answers at 127.0.0.1 port 1"),
        (("connect", "127.0.0.1", "1", "unform"), "did you mean uniform"),
    ],
)
def test_wrong_input_gives_one_sentence(run, arguments, words):
    result = run(*arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert words in result.stderr.splitlines()[-1]
    assert sum(line.startswith("equilibrist: ") for line in result.stderr.splitlines()) == 1


def test_a_port_in_use_gives_one_sentence(run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = run("dealer", "leduc", "--port", port)
    assert result.returncode == 2
    assert result.stderr.startswith(f"equilibrist: cannot listen at 127.0.0.1 port {port}: Address")
