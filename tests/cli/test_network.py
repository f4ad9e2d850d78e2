"""`dealer` and `connect` as their users meet them: in processes of their own."""

import json
import shlex
import socket
import subprocess
import sys
from dataclasses import replace

import pytest

from equilibrist.games.catalog import get_game
from equilibrist.games.match_log import log_lines, read_log
from equilibrist.play.match import play_match
from equilibrist.play.server import TimeLimits
from equilibrist.players.catalog import make_player

COMMAND = (sys.executable, "-c", "from equilibrist.cli import main; main()")
BOT = f"{shlex.join(COMMAND)} connect {{host}} {{port}}"


def test_a_match_of_three_processes_is_logged_as_in_process(tmp_path):
    log = tmp_path / "match.log"
    dealer = subprocess.Popen(
        shlex.split(
            f"{shlex.join(COMMAND)} dealer holdem-limit --hands 30 --seed 0 --json --port 0,0 "
            f"--names always-raise,always-call --log {log} --start-timeout 60"
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
    told = json.loads(dealer.communicate(timeout=60)[0])
    seen = [json.loads(client.communicate(timeout=60)[0]) for client in clients]

    game = get_game("holdem-limit")
    players = make_player("always-raise", game), make_player("always-call", game)
    inside = play_match(game, players, 30, seed=0, keep_log=True).logs[0]
    lines = log_lines(replace(inside, comments=TimeLimits().comments))
    assert log.read_bytes() == "".join(f"{line}\n" for line in lines).encode()
    assert told["finished"]
    assert told["hands"] == 30
    assert told["score"] == list(inside.score) == [client["chips"] for client in seen]


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


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("dealer", "ludec"), "did you mean leduc"),
        (("dealer", "leduc", "--hands", "0"), "the number of hands"),
        (("dealer", "leduc", "--port", "1,2,3"), "one port or two"),
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
        (("connect", "127.0.0.1", "1", "uniform"), "nobody answers at 127.0.0.1 port 1"),
        (("connect", "127.0.0.1", "1", "unform"), "did you mean uniform"),
    ],
)
def test_wrong_input_is_one_sentence(run, arguments, words):
    result = run(*arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert words in result.stderr.splitlines()[-1]
    assert sum(line.startswith("equilibrist: ") for line in result.stderr.splitlines()) == 1


def test_a_port_in_use_is_one_sentence(run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = run("dealer", "leduc", "--port", port)
    assert result.returncode == 2
    assert result.stderr.startswith(f"equilibrist: cannot listen at 127.0.0.1 port {port}: Address")
