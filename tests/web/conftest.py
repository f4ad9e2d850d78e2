"""A server in this process, and its owner: as a client of the API, and in a real browser.

The browser is Chromium, driven by Playwright. Its tests are skipped where either is missing; `make
browser` installs both and keeps screenshots in `.screenshots/`. EQUILIBRIST_SCREENSHOTS names
another folder.
"""

import os
import re
import shutil
import threading
import time
from pathlib import Path

import pytest
import uvicorn
from fastapi.testclient import TestClient

import equilibrist as eq
from equilibrist.models.spot import Chips, Spot
from equilibrist.solving.solve import Budget, solve
from equilibrist.solving.spot_run import SolvedSpot
from equilibrist.solving.spot_run import solver as spot_solver
from equilibrist.web.app import create_app
from equilibrist.web.server import address, listen
from equilibrist.web.settings import Settings

ADDRESS = "http://127.0.0.1:8000"
TOKEN = "token-of-the-test"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
SCREENSHOTS = os.environ.get("EQUILIBRIST_SCREENSHOTS")
SCREENSHOTS = SCREENSHOTS and Path(SCREENSHOTS).absolute()  # tests change the working directory
DESKTOP = {"width": 1280, "height": 800}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The served folder, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def serve(folder):
    """A function that starts a server and returns a client without a cookie."""
    running = []

    def serve(**settings):
        app = create_app(Settings(tables=folder / "tables", token=TOKEN, **settings))
        client = TestClient(app, base_url=ADDRESS, raise_server_exceptions=False)
        running.append(client.__enter__())
        return client

    yield serve
    for client in running:
        client.__exit__(None, None, None)


@pytest.fixture
def stranger(serve):
    """A client that has not seen the token."""
    return serve()


@pytest.fixture
def owner(stranger):
    """A client with the cookie of the owner."""
    assert stranger.get("/", params={"token": TOKEN}).status_code == 200
    return stranger


@pytest.fixture
def public(serve):
    """A visitor of a public server, who has loaded the page."""
    client = serve(is_public=True)
    assert client.get("/").status_code == 200
    return client


# --- a real browser -------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def browser():
    """Chromium."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="Playwright is not installed; `make browser` installs it"
    )
    if CHROMIUM is None:
        pytest.skip("there is no Chromium; `make browser` installs it")
    with playwright.sync_playwright() as driver:
        options = ["--no-sandbox", "--disable-gpu"]
        running = driver.chromium.launch(executable_path=CHROMIUM, args=options)
        yield running
        running.close()


def save_spot(name, iterations):
    spot = Spot.of("Td9d6hQc", "QQ+,AK,T9s", "88-22,AQ,JTs", Chips(200, 400), bets="60%,a")
    by, built = spot_solver("cfr+", 32), spot.build()
    SolvedSpot(spot, by, solve(built.game, by, Budget(iterations=iterations)), built).save(name)


@pytest.fixture(scope="session")
def served(tmp_path_factory, browser):
    """The address and the folder of a server with two solved spots and a solution of Leduc."""
    folder, before = tmp_path_factory.mktemp("served"), Path.cwd()
    os.chdir(folder)
    save_spot("turn", 20)
    save_spot("turn-rough", 4)
    eq.solve("leduc", iterations=30).save("leduc-solution")
    door = listen("127.0.0.1", 0)
    app = create_app(Settings(tables=folder / "tables", jobs=folder / "jobs", token=TOKEN))
    running = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="websockets-sansio"))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [door]})
    thread.start()
    while not running.started:
        time.sleep(0.01)
    os.chdir(before)
    yield address(door, "127.0.0.1"), folder
    running.should_exit = True
    thread.join(10)
    door.close()


@pytest.fixture
def server(served, monkeypatch):
    """The address of the server, whose folder is the working directory."""
    found, folder = served
    monkeypatch.chdir(folder)
    return found


@pytest.fixture(scope="session")
def signed_in(served, browser):
    """The cookies of the owner."""
    context = browser.new_context()
    context.new_page().goto(f"{served[0]}?token={TOKEN}")
    cookies = context.cookies()
    context.close()
    return cookies


@pytest.fixture
def problems():
    """Errors of the page and its console; a test removes those that it expects."""
    return []


@pytest.fixture
def open_page(server, browser, signed_in, problems):
    """A function that opens an address in a new tab; at the end nothing may have gone wrong."""
    contexts = {}

    def open_page(path, viewport=DESKTOP, scheme="light"):
        looks = (*viewport.items(), scheme)
        if looks not in contexts:
            contexts[looks] = context = browser.new_context(
                viewport=viewport, color_scheme=scheme, reduced_motion="reduce"
            )
            context.add_cookies(signed_in)
            context.set_default_timeout(60_000)  # a machine with other work is slow
        page = contexts[looks].new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda said: problems.append(said.text) if is_problem(said) else None)
        page.goto(server + path)
        return page

    yield open_page
    for context in contexts.values():
        context.close()
    assert problems == []


def is_problem(said):
    """Whether a line of the console is an error; refusals of bad input are expected answers."""
    return said.type == "error" and not re.search("status of 4(00|09)", said.text)


@pytest.fixture
def picture():
    """A function that keeps a screenshot, if a folder for them is given."""

    def picture(page, name):
        if SCREENSHOTS:
            SCREENSHOTS.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=SCREENSHOTS / f"{name}.png")

    return picture
