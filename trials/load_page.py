"""Load the page's server: many tables at once, a spot that is solved beside them, and the browser.

    python trials/load_page.py --folder DIR --player smallbot-quick        # a folder with that bot
    python trials/load_page.py --tables 50 --spot                          # beside a spot
    python trials/load_page.py --paint                                     # in Chromium

A server is started in the folder, on a free port of loopback. At every table a person acts, reads
the answer, and waits a while that varies (`--pause`, its mean in seconds); the next hand is dealt
when one is over. Each action is one request, timed from its first byte to the last byte of the
answer. The script prints the median, the 95th and the 99th percentile of the times, the actions per
second, and the processor time per action and the memory of the server. `--spot` queues a turn with
all hands, which is solved during all of the time. `--paint` measures in Chromium how long the page
takes to draw something, how much it loads, and how long a click on an action of a solved turn takes
until the grid has changed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).resolve().parent.parent / "src"
WARM = 8.0  # seconds of play at one table before anything is measured
KEPT = 4.0  # seconds for which a silent connection is kept; the server ends it after five
SOLVED = "load-turn"  # folder of the solved turn, with all hands
TURN = {
    "kind": "spot", "board": "Td9d6hQc", "oop": "random", "ip": "random", "pot": "60",
    "stack": "300", "bets": "50%,100%,a", "raises": "2.5x,a", "to": "0.0001%",
}  # fmt: skip


class Server:
    """`equilibrist serve` in a folder, and the owner's cookie."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "equilibrist", "serve", "--json"]
        environment = os.environ | {"PYTHONPATH": str(SOURCES)}
        self.process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        address = json.loads(self.process.stdout.readline())["address"]
        self.base, _, self.token = address.partition("?token=")
        self.host, self.port = self.base.split("/")[2].split(":")
        self.cookie = ""

    async def sign_in(self) -> None:
        """Exchange the token for the cookie."""
        reader, writer = await asyncio.open_connection(self.host, int(self.port))
        writer.write(f"GET /?token={self.token} HTTP/1.1\r\nhost: {self.name}\r\n\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        line = next(line for line in head.splitlines() if line.lower().startswith("set-cookie: "))
        self.cookie = line.partition(": ")[2].partition(";")[0]
        writer.close()

    @property
    def name(self) -> str:
        """Name in the Host header."""
        return f"{self.host}:{self.port}"

    def memory(self) -> float:
        """Return the megabytes of memory that the server uses."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1000
        return 0.0

    def processor(self) -> float:
        """Return the seconds of processor time that the server has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        """End the server; a background job of a shell ignores SIGINT."""
        self.process.terminate()
        self.process.wait(30)


class Connection:
    """One connection of a browser, which is kept while it is used."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self.used = 0.0

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Send a request; return the status and the JSON of its answer."""
        if self.streams is not None and time.monotonic() - self.used > KEPT:
            self.streams[1].close()
            self.streams = None
        if self.streams is None:
            self.streams = await asyncio.open_connection(self.server.host, int(self.server.port))
        reader, writer = self.streams
        data = b"" if body is None else json.dumps(body).encode()
        writer.write(
            f"{method} {path} HTTP/1.1\r\nhost: {self.server.name}\r\ncookie: {self.server.cookie}"
            f"\r\ncontent-type: application/json\r\ncontent-length: {len(data)}\r\n\r\n".encode()
            + data
        )
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(head.partition("content-length: ")[2].partition("\r\n")[0])
        data = await reader.readexactly(length)
        self.used = time.monotonic()
        return int(head.split()[1]), json.loads(data)


async def sit(server: Server, player: str) -> tuple[Connection, Any]:
    """Sit down at a new table."""
    connection = Connection(server)
    new = {"player": player, "game": "holdem-limit"}
    status, table = await connection.ask("POST", "/api/tables", new)
    assert status == 201, table
    return connection, table


async def play(
    connection: Connection, table: Any, until: float, pause: float, seconds: list[float]
) -> int:
    """Play at one table until a time; note the seconds of each action, return the failures."""
    chance, failures = random.Random(), 0
    path = f"/api/tables/{table['id']}/moves"
    while time.monotonic() < until:
        await asyncio.sleep(min(chance.expovariate(1 / pause), 4 * pause) if pause else 0)
        hand = table["hand"]
        choices = [button["action"] for button in hand["buttons"] if button["action"] != "f"]
        action = "next" if hand["is_over"] else chance.choice(choices)
        move = {"action": action, "hand": hand["number"], "actions": hand["actions"]}
        begin = time.monotonic()
        status, answer = await connection.ask("POST", path, move)
        seconds.append(time.monotonic() - begin)
        if status == 200:
            table = answer
        else:
            failures += 1
            print(status, answer, file=sys.stderr)
    return failures


async def load(server: Server, options: argparse.Namespace) -> int:
    """Let many people play; print how long actions took."""
    await server.sign_in()
    job = None
    if options.spot:
        name = f"load-{os.getpid()}"
        job = (await Connection(server).ask("POST", "/api/jobs", TURN | {"out": name}))[1]
        while (job["progress"] or {}).get("progress") != "iterations":
            await asyncio.sleep(0.5)
            job = (await Connection(server).ask("GET", f"/api/jobs/{job['id']}"))[1]
            assert job["state"] == "running", job
    before, seconds = server.memory(), []
    tables = [await sit(server, options.player) for _ in range(options.tables)]
    await play(*tables[0], time.monotonic() + WARM, 0.0, [])  # compiles kernels
    tables[0] = await sit(server, options.player)
    begin, used = time.monotonic(), server.processor()
    until = begin + options.seconds
    work = [play(*table, until, options.pause, seconds) for table in tables]
    failures = sum(await asyncio.gather(*work))
    rate = len(seconds) / (time.monotonic() - begin)
    cuts = statistics.quantiles(seconds, n=100)
    result = {
        "tables": options.tables, "player": options.player, "pause": options.pause,
        "spot": bool(options.spot), "actions": len(seconds), "per_second": round(rate, 1),
        "failures": failures, "median_ms": round(1000 * cuts[49], 1),
        "p95_ms": round(1000 * cuts[94], 1), "p99_ms": round(1000 * cuts[98], 1),
        "processor_ms_per_action": round(1000 * (server.processor() - used) / len(seconds), 2),
        "memory_before_mb": round(before), "memory_mb": round(server.memory()),
        "load": os.getloadavg()[0],
    }  # fmt: skip
    if job is not None:
        job = (await Connection(server).ask("GET", f"/api/jobs/{job['id']}"))[1]
        result["iterations_of_spot"] = job["progress"]["iteration"]
        await Connection(server).ask("POST", f"/api/jobs/{job['id']}", {"order": "cancel"})
    print(json.dumps(result))
    return failures


# --- the browser ----------------------------------------------------------------------------------

GRID = """async (place) => {
  const node = document.querySelector('.node');
  const isGrid = ({ target, removedNodes }) =>
    target.closest('.grid') || [...removedNodes].some((each) => each.classList?.contains('grid'));
  const changed = new Promise((done) => new MutationObserver((changes, watch) => {
    if (!changes.some(isGrid)) return;
    watch.disconnect();
    done();
  }).observe(node, { subtree: true, childList: true, attributeFilter: ['style'] }));
  const begin = performance.now();
  document.querySelectorAll('.step.now .stepaction')[place].click();
  await changed;
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const milliseconds = performance.now() - begin;
  return document.querySelector('.grid') ? milliseconds : null;
}"""
LOADED = """() => performance.getEntries().filter((entry) => 'transferSize' in entry)
  .reduce((sum, entry) => sum + entry.transferSize, 0)"""
PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0].startTime"


async def paint(server: Server, folder: Path) -> int:
    """Print the milliseconds to the first paint and to a new grid, and what the page loads."""
    from playwright.async_api import async_playwright

    solve_turn(folder)
    await server.sign_in()
    name, _, value = server.cookie.partition("=")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        paints, sizes = [], []
        for path in ("", "spots", "bots", "spots/new", f"spot/{SOLVED}"):
            context = await browser.new_context()
            await context.add_cookies([{"name": name, "value": value, "url": server.base}])
            page = await context.new_page()
            await page.goto(server.base + path)
            await page.wait_for_selector("main")
            paints.append(await page.evaluate(PAINT))
            sizes.append(await page.evaluate(LOADED))
        await page.wait_for_selector(".grid")
        grids = await new_grids(page, depth=3)
        await browser.close()
    result = {
        "first_paint_ms": [round(number) for number in paints],
        "loaded_bytes": sizes, "grid_ms": [round(number, 1) for number in grids],
        "load": os.getloadavg()[0],
    }  # fmt: skip
    print(json.dumps(result))
    return 0


async def new_grids(page: Any, depth: int) -> list[float]:
    """Return the milliseconds to each grid below the one shown; each node is asked for once."""
    found: list[float] = []
    for place in range(await page.locator(".step.now .stepaction").count()):
        if await page.locator(".step.now .stepaction").nth(place).is_disabled():
            continue  # the hand ends
        before = page.url
        milliseconds = await page.evaluate(GRID, place)
        await page.wait_for_timeout(300)
        if milliseconds is not None:  # else a card must be chosen first
            found.append(milliseconds)
            found += await new_grids(page, depth - 1) if depth > 1 else []
        await page.go_back()
        await page.wait_for_url(before)
        await page.wait_for_selector(".grid")
        await page.wait_for_timeout(300)
    return found


def solve_turn(folder: Path) -> None:
    """Solve a turn with all hands into the folder, unless it is there."""
    if not (folder / SOLVED).exists():
        words = [f"--{name}={TURN[name]}" for name in ("board", "oop", "ip", "pot", "stack")]
        words += ["--bets=60%,a", "--raises=2.5x", "--to=1%", f"--out={SOLVED}", "--json"]
        command = [sys.executable, "-m", "equilibrist", "spot", *words]
        environment = os.environ | {"PYTHONPATH": str(SOURCES)}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(command, cwd=folder, env=environment, check=True, **quiet)


def main() -> int:
    """Run the trial."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, help="folder with trained bots; default: a new one")
    parser.add_argument("--player", default="always-call")
    parser.add_argument("--tables", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--pause", type=float, default=3.0, help="mean seconds between actions")
    parser.add_argument("--spot", action="store_true", help="solve a spot beside the tables")
    parser.add_argument("--paint", action="store_true", help="measure the page in Chromium")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = (options.folder or Path(scratch)).resolve()
        server = Server(folder)
        try:
            work = paint(server, folder) if options.paint else load(server, options)
            return 1 if asyncio.run(work) else 0
        finally:
            server.end()


if __name__ == "__main__":
    sys.exit(main())
