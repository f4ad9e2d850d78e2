"""Call the whole API of the page with generated requests: the server must answer every one.

    pip install --target DIR schemathesis       # once; it needs a web stack of its own
    PYTHONPATH=src:DIR python trials/call_api.py --calls 10000 --seed 1

Schemathesis generates requests from `/api/openapi.json`: such that follow it, and such that break
it. In half of them, values are replaced by ones that exist: tables, jobs, strategies, nodes, cards
and whole bodies, so that they get behind the first check. They go over loopback to a server in this
process, which queues jobs but runs none. An answer is a failure if its status is 500 or more, if an
error is not one sentence under `error`, or if it does not come within a minute. The script prints
a table of calls by operation and status, and exits with 1 after a failure.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import http.client
import json
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import schemathesis
import uvicorn
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st
from schemathesis import GenerationMode

from equilibrist.models.spot import Chips, Spot
from equilibrist.solving.solve import Budget, solve
from equilibrist.solving.spot_run import SolvedSpot, solver
from equilibrist.web.app import create_app
from equilibrist.web.server import address, listen
from equilibrist.web.settings import Settings

TOKEN = "token-of-the-trial"
SECONDS = 60.0  # in which an answer must come
STREAM = "/api/jobs/{identity}/events"  # never ends by itself: tried apart
RIVER = {
    "kind": "spot", "out": "river", "board": "Td9d6hQc2s", "oop": "AA,76s", "ip": "KK,22",
    "pot": "200", "stack": "200", "bets": "a",
}  # fmt: skip
TEXTS = (
    "", "c", "cc/", "r120", "cr120c", "f", "/", "2s", "Td9d6hQc2s", "AhKh", "Zz", "QQ+,AKs:0.5",
    "random", "1e999", "-1", "0.3%", "5.5bb", "None", "../..", "a\0b", "%", "60%,a / 75%|a",
    "x" * 190, "０", "\n", "é",
)  # fmt: skip
NAMES = ("turn", "uniform", "always-call", "gs2", "ectomynx", "solution:turn", "tables", "jobs")
GAMES = ("kuhn", "leduc", "holdem-limit", "holdem-nolimit", "discard-holdem")


class Known:
    """Values that exist on the server, by the name of a field."""

    def __init__(self, client: Client) -> None:
        self.client, self.calls = client, 0
        self.tables: list[dict[str, Any]] = []
        self.jobs: list[dict[str, Any]] = []

    def refresh(self) -> None:
        """Ask for tables and jobs again, now and then: requests change and remove them."""
        if self.calls % 25 == 0:
            self.tables = self.client.get("/api/tables")[:20]
            self.jobs = self.client.get("/api/jobs")[:20]
        self.calls += 1

    def value(self, name: str, path: str, chance: random.Random) -> Any:
        """Return a value for a parameter or a field."""
        if name == "identity":
            rows = self.jobs if "/jobs/" in path else self.tables
            return chance.choice(rows)["id"] if rows else "x"
        if name in ("name", "player", "bot", "by"):
            return chance.choice(NAMES)
        if name == "game":
            return chance.choice(GAMES)
        if name in ("number", "hand", "actions", "after", "flops"):
            return chance.choice((0, 1, 2, 3, 10**12))
        return chance.choice(TEXTS)

    def body(self, path: str, chance: random.Random) -> Any:
        """Return a body that is right, or right but for one field."""
        bodies: dict[str, list[dict[str, Any]]] = {
            "/api/tables": [{"player": "always-call", "game": "kuhn"}, {"player": "uniform"}],
            "/api/tables/{identity}/moves": [
                {"action": action, "hand": hand, "actions": number}
                for action in ("c", "f", "r", "next", "r40", "k", "d0c")
                for hand in (0, 1, 2)
                for number in (0, 1, 2)
            ],
            "/api/range": [{"text": "QQ+,AKs"}, {"weights": [0.5] * 169}],
            "/api/jobs": [
                RIVER | {"out": f"river-{chance.randrange(10**6)}"},
                {"kind": "train", "bot": "gs2"},
                {"kind": "more", "name": "turn", "to": "0.1%"},
                {"kind": "solve", "game": "kuhn", "out": f"kuhn-{chance.randrange(10**6)}"},
            ],
            "/api/spots/forecast": [RIVER, RIVER | {"board": "Td9d6h", "bets": "50%"}],
            "/api/jobs/{identity}": [{"order": order} for order in ("pause", "resume", "cancel")],
        }
        body = dict(chance.choice(bodies.get(path, [{}])))
        if body and chance.random() < 0.6:
            name = chance.choice(list(body))
            body[name] = self.value(name, path, chance)
        return body


class Client:
    """A browser with the owner's cookie."""

    def __init__(self, base: str) -> None:
        self.base = base
        host = base.split("/")[2]
        connection = http.client.HTTPConnection(host)
        connection.request("GET", f"/?token={TOKEN}")
        answer = connection.getresponse()
        self.headers = {"cookie": (answer.getheader("set-cookie") or "").partition(";")[0]}
        self.host = host

    def get(self, path: str) -> Any:
        """Return the JSON of an address."""
        connection = http.client.HTTPConnection(self.host, timeout=SECONDS)
        connection.request("GET", path, headers=self.headers)
        return json.loads(connection.getresponse().read())

    def first_event(self, path: str) -> int:
        """Open a stream, read its first line and leave; return the status."""
        connection = http.client.HTTPConnection(self.host, timeout=SECONDS)
        connection.request("GET", path, headers=self.headers)
        answer = connection.getresponse()
        answer.fp.readline()
        connection.close()
        return answer.status


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder with a solved spot; yield the address."""
    os.chdir(folder)
    spot = Spot.of("Td9d6hQc", "QQ+,AK", "88-22,AQ", Chips(200, 400), bets="60%,a")
    by, built = solver("cfr+", 32), spot.build()
    SolvedSpot(spot, by, solve(built.game, by, Budget(iterations=20)), built).save("turn")
    door = listen("127.0.0.1", 0)
    app = create_app(Settings(token=TOKEN, most_running=0))
    running = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="websockets-sansio"))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [door]}, daemon=True)
    thread.start()
    while not running.started:
        time.sleep(0.01)
    yield address(door, "127.0.0.1").rstrip("/")
    app.state.jobs.end()
    running.should_exit = True
    thread.join(10)


def is_fault(status: int, body: bytes) -> bool:
    """Return whether an answer is a failure of the server."""
    if status < 400:
        return False
    if status >= 500:
        return True
    try:
        found = json.loads(body)
    except ValueError:
        return True
    return list(found) != ["error"] or not isinstance(found["error"], str) or "\n" in found["error"]


def main() -> int:
    """Run the trial."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    counts: collections.Counter[tuple[str, int]] = collections.Counter()
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as base:
        client = Client(base)
        known = Known(client)
        schema = schemathesis.openapi.from_url(f"{base}/api/openapi.json", headers=client.headers)
        operations = [found.ok() for found in schema.get_all_operations()]
        turn = 0
        while sum(counts.values()) < options.calls and not len(faults) > 20:
            for operation in operations:
                for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                    turn += 1
                    try_operation(operation, mode, options.seed + turn, known, counts, faults)
        for _ in range(20):
            path = STREAM.format(identity=chance_of(known.jobs))
            counts[f"GET {STREAM}", client.first_event(path)] += 1
        os.chdir("/")
    for (label, status), number in sorted(counts.items()):
        print(f"{number:7,}  {status}  {label}")
    print(f"{sum(counts.values()):,} calls, {len(faults)} failures")
    for fault in faults:
        print(fault)
    return 1 if faults else 0


def chance_of(rows: list[dict[str, Any]]) -> str:
    """Return the identity of a job, or of none."""
    return rows[0]["id"] if rows else "x"


def try_operation(
    operation: Any,
    mode: GenerationMode,
    seed: int,
    known: Known,
    counts: collections.Counter[tuple[str, int]],
    faults: list[str],
) -> None:
    """Call an operation some twenty times."""
    path = operation.path

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=20, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @hypothesis.given(operation.as_strategy(generation_mode=mode), st.integers(0, 2**32))
    def call(case: Any, number: int) -> None:
        known.refresh()
        chance = random.Random(number)
        if chance.random() < 0.5 and path != STREAM:
            for fields in (case.path_parameters, case.query):
                for name in list(fields or {}):
                    if chance.random() < 0.8:
                        fields[name] = known.value(name, path, chance)
            if case.method in ("POST", "PUT") and chance.random() < 0.9:
                case.body = known.body(path, chance)
                case.media_type = "application/json"
        # A DELETE has no body, but must say that it is not a form's.
        sent = {"content-type": "application/json"} if case.method == "DELETE" else {}
        begin = time.monotonic()
        try:
            answer = case.call(headers=known.client.headers | sent, timeout=SECONDS)
        except Exception as error:  # a request that cannot be sent is not the server's
            counts[f"{case.method} {path} ({type(error).__name__})", 0] += 1
            if "Timeout" in type(error).__name__:
                faults.append(f"no answer in {time.monotonic() - begin:.0f} s: {describe(case)}")
            return
        counts[f"{case.method} {path}", answer.status_code] += 1
        if is_fault(answer.status_code, answer.content):
            faults.append(f"{answer.status_code} {answer.content[:200]!r}: {describe(case)}")

    with contextlib.suppress(hypothesis.errors.Unsatisfiable):
        call()


def describe(case: Any) -> str:
    """Return a request in one line."""
    return f"{case.method} {case.path} {case.path_parameters} {case.query} {case.body!r}"[:600]


if __name__ == "__main__":
    sys.exit(main())
