"""`serve-api` and `connect URL PLAYER` as their users meet them."""

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from equilibrist.cli.network import own_game
from equilibrist.games.catalog import get_game
from equilibrist.games.match_log import read_log
from equilibrist.play.json_client import JsonClient
from equilibrist.play.json_server import JsonServer
from equilibrist.play.slumbot_server import ServedBot, SlumbotServer
from equilibrist.players.catalog import make_player

GAME = get_game("holdem-nolimit")
COMMAND = (sys.executable, "-c", "from equilibrist.cli import main; main()")


@contextlib.contextmanager
def serving(text="always-call", rules=GAME, answer=None):
    """A server in a thread; yields it and its address."""
    done = threading.Event()
    bot = SlumbotServer(ServedBot(rules, lambda: make_player(text, rules), seed=7))
    with JsonServer(answer or bot.answer) as door:
        thread = threading.Thread(target=door.serve, args=(done.is_set,))
        thread.start()
        try:
            yield bot, door.address
        finally:
            done.set()
            thread.join(10)


def test_a_match_is_reported_plain_and_less_the_baseline(run, answer, tmp_path):
    log = tmp_path / "match.log"
    with serving() as (bot, url):
        data = answer("connect", url, "always-raise", "--hands", 40, "--log", log, "--seed", 1)
        text = run("connect", url, "always-raise", "--hands", 40).stdout
    assert data["chips"] == sum(list(bot.chips)[:40])
    assert (data["hands"], data["finished"], data["duplicate"]) == (40, True, False)
    assert (data["game"], data["player"], data["server"]) == ("holdem-nolimit", "always-raise", url)
    assert data["baseline"]["hands"] == 40
    assert data["lost_hands"] == 0
    assert "95 % interval" in text.splitlines()[-1]
    read = answer("log", log)
    assert (read["hands"], read["score"], read["finished"]) == (
        40, [data["chips"], -data["chips"]], True,
    )  # fmt: skip


def test_host_and_port_may_be_given_instead_of_a_url(answer):
    with serving() as (bot, url):
        port = url.rpartition(":")[2]
        data = answer(
            "connect", "127.0.0.1", port, "uniform", "--protocol", "slumbot", "--hands", 5
        )
    assert data["chips"] == sum(bot.chips)


@pytest.mark.slow
def test_a_client_killed_at_any_moment_goes_on_with_its_totals(answer, tmp_path):
    log, rounds = tmp_path / "match.log", 0
    with serving("uniform") as (bot, url):
        line = [*COMMAND, "connect", url, "uniform", "--log", str(log)]
        first = subprocess.Popen([*line, "--hands", "20000"], stderr=subprocess.DEVNULL)
        while rounds < 3:
            begun = len(bot.chips)
            while len(bot.chips) < begun + 30:
                time.sleep(0.01)
            first.send_signal(signal.SIGKILL)
            first.wait()
            rounds += 1
            first = subprocess.Popen([*line, "--resume"], stderr=subprocess.DEVNULL)
        begun = len(bot.chips)
        while len(bot.chips) < begun + 30:
            time.sleep(0.01)
        first.send_signal(signal.SIGTERM)
        assert first.wait() == 143
    chips = [int(x) for x in bot.chips]
    lines = log.read_text().splitlines()
    logged = sum(line.startswith("STATE:") for line in lines)
    lost = sum(int(line.split()[3][:-1]) for line in lines if line.startswith("# lost hands"))
    last = re.search(r"session (\d+) hands (-?\d+) chips", lines[-2])
    assert logged + lost == int(last[1]) == len(chips)
    assert int(last[2]) == sum(chips)
    assert lost <= 3


def test_the_server_says_where_it_is_and_what_it_won_when_it_ends(tmp_path):
    logs = tmp_path / "logs"
    line = f"{shlex.join(COMMAND)} serve-api always-call --json --logs {logs}"
    with subprocess.Popen(shlex.split(line), stdout=-1, stderr=-1, text=True) as server:
        url = re.search(r"http://127\.0\.0\.1:\d+", server.stderr.readline())[0]
        with JsonClient(url) as client:
            token = client.post("/api/new_hand", {})["token"]
            while "winnings" not in (
                last := client.post("/api/act", {"token": token, "incr": "k"})
            ):
                pass
        server.send_signal(signal.SIGTERM)
        data = json.loads(server.stdout.read())
        assert server.wait(20) == 143
    assert (data["sessions"], data["hands"], data["chips"]) == (1, 1, -last["winnings"])
    assert len(read_log(GAME, logs / "000001.log").hands) == 1


def test_a_log_is_replaced_only_by_force_and_only_if_somebody_answers(run, tmp_path):
    log = tmp_path / "match.log"
    log.write_text("precious")
    with serving() as (_, url):
        refused = run("connect", url, "uniform", "--log", log)
        assert (refused.returncode, log.read_text()) == (2, "precious")
        assert "exists; choose another name, or replace it with --force" in refused.stderr
        gone = run("connect", "http://127.0.0.1:1", "uniform", "--log", log, "--force")
        assert (gone.returncode, log.read_text()) == (2, "precious")
        assert run("connect", url, "uniform", "--log", log, "--force", "--hands", 2).returncode == 0
    assert read_log(GAME, log).is_finished


def test_a_match_that_breaks_off_says_what_was_won_and_how_to_go_on(run, tmp_path, monkeypatch):
    monkeypatch.setattr("equilibrist.play.slumbot_client._PAUSE", 0.0)
    bot = SlumbotServer(ServedBot(GAME, lambda: make_player("always-call", GAME), seed=7))

    def answer(path, body):
        return {"error_msg": "enough"} if len(bot.chips) == 3 else bot.answer(path, body)

    log = tmp_path / "match.log"
    with serving(answer=answer) as (_, url):
        result = run("connect", url, "always-raise", "--log", log)
    assert result.returncode == 2
    total = sum(bot.chips)
    won = f"{'lost' if total < 0 else 'won'} {abs(total):,} chips in 3 hands"
    last = result.stderr.splitlines()[-1]
    assert f"refuses: enough; before, always-raise {won}; --resume continues the match" in last
    assert len(read_log(GAME, log).hands) == 3


def test_a_bot_plays_its_own_game_by_default():
    assert own_game("nolimit-quick-100") == "holdem-nolimit-100"
    assert own_game("resolve:nolimit-quick,0.5") == "holdem-nolimit"
    assert own_game("smallbot") == "holdem-limit"
    assert own_game("mix:0.1,0.6,0.3") is None


def test_other_stacks_are_named(run):
    with serving(rules=get_game("holdem-nolimit-100")) as (_, url):
        result = run("connect", url, "uniform")
    assert result.returncode == 2
    assert "the server plays 'holdem-nolimit-100'" in result.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("connect", "ftp://x", "uniform"), "'ftp://x' is not an address of a server, such as"),
        (("connect", "http://127.0.0.1:1", "uniform"), "nobody answers at http://127.0.0.1:1"),
        (("connect", "http://no.such.host.invalid", "uniform"), "nobody answers at http://no.su"),
        (("connect", "http://127.0.0.1:1", "unform"), "did you mean uniform"),
        (("connect", "http://127.0.0.1:1", "4711", "uniform"), "not a URL and '4711'"),
        (("connect", "http://127.0.0.1:1", "uniform", "--protocol", "acpc"), "is HOST PORT, such"),
        (("connect", "http://127.0.0.1:1", "uniform", "--game", "leduc"), "leduc is not no-limit"),
        (("connect", "http://127.0.0.1:1", "uniform", "--hands", "0"), "the number of hands"),
        (("connect", "http://127.0.0.1:1", "uniform", "--resume"), "--resume needs --log FILE"),
        (("connect", "127.0.0.1", "uniform"), "PORT must be 1 to 65535, not 'uniform'"),
        (("connect", "127.0.0.1", "1"), "the player is missing"),
        (("connect", "127.0.0.1", "0", "uniform"), "PORT must be 1 to 65535"),
        (("connect", "127.0.0.1", "9" * 5000, "uniform"), "PORT must be 1 to 65535"),
        (("connect", "127.0.0.1", "1", "uniform", "--protocol", "smoke"),
         "--protocol must be acpc, pokerbots or slumbot, not 'smoke'"),
        (("connect", "127.0.0.1", "1", "uniform", "--log", "x"), "--log is for --protocol slumbot"),
        (("connect", "127.0.0.1", "1", "uniform", "--hands", "5"), "--hands is for --protocol"),
        (("serve-api", "unform"), "did you mean uniform"),
        (("serve-api", "uniform", "--game", "leduc"), "leduc is not no-limit hold'em of two"),
        (("serve-api", "uniform", "--game", "hodlem"), "did you mean"),
        (("serve-api", "uniform", "--host", "no.such.host.invalid"), "cannot listen at no.such"),
        (("serve-api", "uniform", "--logs", "/dev/null/x"), "cannot write"),
        (("serve-api", "uniform", "--sessions", "0"), "--sessions"),
        (("serve-api", "nolimit-quick"), "nolimit-quick is not trained here; run `equilibrist"),
    ],
)  # fmt: skip
def test_wrong_input_gives_one_sentence(run, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert words in result.stderr.splitlines()[-1]
    assert sum(line.startswith("equilibrist: ") for line in result.stderr.splitlines()) == 1
    assert os.listdir(tmp_path) == []


def test_a_server_that_answers_html_is_named(run):
    class Page(BaseHTTPRequestHandler):
        def do_POST(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<html>hello</html>")

        def log_message(self, *arguments):
            pass

    with HTTPServer(("127.0.0.1", 0), Page) as page:
        thread = threading.Thread(target=page.handle_request)
        thread.start()
        result = run("connect", f"http://127.0.0.1:{page.server_port}", "uniform")
        thread.join()
    assert result.returncode == 2
    assert "answers with status 200 and 'text/html' instead of a JSON object" in result.stderr
