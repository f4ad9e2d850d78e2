"""`equilibrist serve` as a process: its address, its end, and what survives a kill."""

import asyncio
import contextlib
import json
import logging
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from http.cookiejar import CookieJar

import pytest

from equilibrist.web.server import _WithoutCutOff, listen


class Server:
    """A server in a process of its own, with a client that has its cookie."""

    def __init__(self, folder, *options):
        command = [sys.executable, "-m", "equilibrist", "serve", "--json", *options]
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        self.data = json.loads(line)
        self.address = self.data["address"].partition("?")[0]
        jar = urllib.request.HTTPCookieProcessor(CookieJar())
        self.opener = urllib.request.build_opener(jar)
        assert b"<title>Equilibrist</title>" in self.opener.open(self.data["address"]).read()

    def ask(self, path, body=None):
        headers = {"content-type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, headers)
        with self.opener.open(request) as answer:
            return json.loads(answer.read())

    def end(self, number):
        self.process.send_signal(number)
        self.process.communicate(timeout=20)
        return self.process.returncode


@pytest.fixture
def start(tmp_path):
    """A function that starts a server in a new folder."""
    servers = []

    def start(*options):
        servers.append(Server(tmp_path, *options))
        return servers[-1]

    yield start
    for server in servers:
        if server.process.poll() is None:
            server.end(signal.SIGKILL)


def test_a_killed_server_continues_every_hand(start, tmp_path):
    first = start()
    assert first.address.startswith("http://127.0.0.1:")
    tables = [
        first.ask("api/tables", {"player": player, "game": "leduc"})
        for player in ("always-call", "uniform", "always-raise")
    ]
    second = subprocess.run(
        [sys.executable, "-m", "equilibrist", "serve"], cwd=tmp_path, capture_output=True, text=True
    )
    assert second.returncode == 2
    assert "has been working on tables for" in second.stderr
    assert second.stderr.count("\n") == 1
    first.end(signal.SIGKILL)
    again = start()
    for table in tables:
        assert again.ask(f"api/tables/{table['id']}") == table
        hand = table["hand"]
        move = {"action": "c", "hand": hand["number"], "actions": hand["actions"]}
        if not hand["is_over"]:
            after = again.ask(f"api/tables/{table['id']}/moves", move)
            assert after["hand"]["actions"] > hand["actions"]
    assert again.end(signal.SIGINT) == 130


def test_a_killed_server_continues_every_job(start):
    """The command of a job notices that its server is gone, saves, and continues with the next."""
    first = start()
    job = first.ask("api/jobs", ENDLESS)
    waiting = first.ask("api/jobs", ENDLESS | {"out": "later"})
    before = wait_for_iteration(first, job, 0)
    first.end(signal.SIGKILL)
    again = start()
    found = {row["id"]: row for row in again.ask("api/jobs")}
    assert found[job["id"]]["state"] == "running"
    assert found[waiting["id"]]["state"] == "waiting"
    assert wait_for_iteration(again, job, before) > before
    assert again.end(signal.SIGINT) == 130


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_server_with_its_code_and_one_sentence(start, number):
    """Also while it computes an answer and a page follows a job."""
    server = start()
    table = server.ask("api/tables", {"player": "uniform", "game": "leduc"})
    job = server.ask("api/jobs", ENDLESS)
    wait_for_iteration(server, job, 0)
    stream = server.opener.open(f"{server.address}api/jobs/{job['id']}/events")
    stream.readline()
    slow = threading.Thread(target=ask_in_vain, args=(server,))
    slow.start()
    time.sleep(0.3)
    server.process.send_signal(number)
    _, said = server.process.communicate(timeout=30)
    assert server.process.returncode == 128 + number
    assert said.splitlines() == [said.rstrip("\n")], said
    assert "hands are saved, and jobs continue with the next one" in said
    slow.join(10)
    again = start()
    assert again.ask(f"api/tables/{table['id']}") == table
    assert again.ask(f"api/jobs/{job['id']}")["state"] == "running"


def ask_in_vain(server):
    with contextlib.suppress(OSError):
        server.ask("api/strategy/values?name=uniform")  # takes seconds before the flop


ENDLESS = {
    "kind": "spot", "out": "endless", "board": "Td9d6hQc2s", "oop": "AA,76s,54s", "ip": "KK",
    "pot": "200", "stack": "200", "bets": "a", "iterations": 10**9,
}  # fmt: skip


def wait_for_iteration(server, job, above):
    """Wait until a job has done more iterations; return their number."""
    until = time.monotonic() + 300
    while time.monotonic() < until:
        found = server.ask(f"api/jobs/{job['id']}")
        if (found["progress"] or {}).get("iteration", 0) > above:
            return found["progress"]["iteration"]
        time.sleep(0.1)
    raise AssertionError(found)


def test_a_missing_package_is_one_sentence(tmp_path):
    program = (
        "import sys; sys.modules['fastapi'] = None; sys.argv = ['equilibrist', 'serve']; "
        "from equilibrist.cli import main; main()"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True
    )
    assert found.returncode == 2
    wanted = "equilibrist: serve needs the package fastapi: pip install 'equilibrist[web]'\n"
    assert found.stderr == wanted


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--port", "70000"), "65535"),
        (("--host", "nowhere.invalid"), "cannot listen on nowhere.invalid"),
        (("--host", "203.0.113.7"), "cannot listen on 203.0.113.7"),
    ],
)
def test_wrong_options_are_one_sentence(tmp_path, options, words):
    found = subprocess.run(
        [sys.executable, "-m", "equilibrist", "serve", *options],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert found.returncode == 2
    assert words in found.stderr
    assert found.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "is_logged"), [(asyncio.CancelledError(), False), (OSError(), True)]
)
def test_requests_that_the_end_of_the_server_cuts_off_leave_no_traceback(error, is_logged):
    failed = logging.makeLogRecord({"msg": "Exception in ASGI application"})
    failed.exc_info = (type(error), error, None)
    assert _WithoutCutOff().filter(failed) == is_logged


def test_answers_do_not_wait_for_the_browser_to_acknowledge_their_beginning():
    with (
        listen("127.0.0.1", 0) as door,
        socket.create_connection(door.getsockname()),
        door.accept()[0] as link,
    ):
        assert link.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
