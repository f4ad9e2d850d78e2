"""The page in a real browser: Chromium, driven by Playwright.

Skipped where either is missing; `make browser` installs both and keeps screenshots in
`.screenshots/`. EQUILIBRIST_SCREENSHOTS names another folder.
"""

import os
import re
import shutil
import threading
import time
from pathlib import Path

import pytest
import uvicorn

from equilibrist.models.spot import Chips, Spot
from equilibrist.solving.solve import Budget, solve
from equilibrist.solving.spot_run import SolvedSpot
from equilibrist.solving.spot_run import solver as spot_solver
from equilibrist.web.app import create_app
from equilibrist.web.server import address, listen
from equilibrist.web.settings import Settings

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
playwright = pytest.importorskip(
    "playwright.sync_api", reason="Playwright is not installed: `make browser`"
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: `make browser`")
TOKEN = "token-of-the-test"
PHONE, DESKTOP = {"width": 360, "height": 740}, {"width": 1280, "height": 800}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address of a server whose folder has a solved spot."""
    folder, before = tmp_path_factory.mktemp("served"), Path.cwd()
    os.chdir(folder)
    spot = Spot.of("Td9d6hQc", "QQ+,AK,T9s", "88-22,AQ,JTs", Chips(200, 400), bets="60%,a")
    by, built = spot_solver("cfr+", 32), spot.build()
    SolvedSpot(spot, by, solve(built.game, by, Budget(iterations=20)), built).save("turn")
    door = listen("127.0.0.1", 0)
    app = create_app(Settings(tables=folder / "tables", token=TOKEN))
    running = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="websockets-sansio"))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [door]})
    thread.start()
    while not running.started:
        time.sleep(0.01)
    yield address(door, "127.0.0.1")
    running.should_exit = True
    thread.join(10)
    door.close()
    os.chdir(before)


@pytest.fixture(scope="module")
def browser():
    """Chromium."""
    with playwright.sync_playwright() as driver:
        options = ["--no-sandbox", "--disable-gpu"]
        running = driver.chromium.launch(executable_path=CHROMIUM, args=options)
        yield running
        running.close()


@pytest.fixture(scope="module")
def signed_in(server, browser):
    """The cookies of the owner."""
    context = browser.new_context()
    context.new_page().goto(f"{server}?token={TOKEN}")
    cookies = context.cookies()
    context.close()
    return cookies


@pytest.fixture
def open_page(server, browser, signed_in):
    """A function that opens an address in a new window; at the end nothing may have gone wrong."""
    problems, contexts = [], []

    def open_page(path, viewport=DESKTOP, scheme="light"):
        context = browser.new_context(viewport=viewport, color_scheme=scheme)
        context.add_cookies(signed_in)
        context.set_default_timeout(10_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda said: problems.append(said.text) if is_problem(said) else None)
        page.goto(server + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []


def is_problem(said):
    """Whether a line of the console is an error; refusals of bad input are expected answers."""
    return said.type == "error" and not re.search("status of 4(00|09)", said.text)


def picture(page, name):
    """Keep a screenshot, if a folder for them is given."""
    folder = os.environ.get("EQUILIBRIST_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(folder, f"{name}.png"))


def overflow(page):
    """Pixels by which the page is wider than its window."""
    return page.evaluate("() => document.documentElement.scrollWidth - innerWidth")


def play(page, hands):
    """Call everything by keys until a number of hands are over."""
    for number in range(1, hands + 1):
        page.wait_for_selector(f"h2:text-is('Hand {number}')")
        while not page.locator(".act.next").count():
            story = page.locator(".story").inner_text()
            page.keyboard.press("s")
            deadline = time.monotonic() + 10
            while page.locator(".story").inner_text() == story and time.monotonic() < deadline:
                page.wait_for_timeout(10)
        if number < hands:
            page.keyboard.press("f")


@pytest.mark.parametrize("game", ["holdem-limit", "discard-holdem"])
def test_hands_are_played_by_keys_and_survive_a_reload(open_page, game):
    page = open_page("play")
    page.select_option("select", game)
    page.locator(".tile", has_text="always-call").click()
    play(page, 4)
    assert page.locator(".felt .back").count() == 0  # a showdown
    page.keyboard.press("r")
    page.wait_for_selector(".review .bar")
    picture(page, f"review-{game}")
    page.keyboard.press("f")
    page.wait_for_selector("h2:text-is('Hand 5')")
    before = page.locator(".felt").inner_text()
    page.reload()
    page.wait_for_selector(".felt")
    assert page.locator(".felt").inner_text() == before
    assert page.locator(".felt .back").count() == 2
    picture(page, f"table-{game}")


def test_two_tabs_and_the_mouse(open_page):
    page = open_page("play")
    page.locator(".tile", has_text="always-call").click()
    page.wait_for_selector(".act.call")
    other = open_page(page.url.split("/", 3)[3])
    other.wait_for_selector(".act.call")
    page.locator(".act.call").click()
    page.wait_for_selector(".story dt:text-is('preflop')")
    page.wait_for_selector(".board .face >> nth=2")
    other.locator(".act.call").click()
    other.wait_for_selector(".board .face >> nth=2")


def test_a_spot_is_walked_to_the_river_and_a_link_restores_it(open_page):
    page = open_page("spot/turn")
    page.wait_for_selector(".grid")
    assert page.locator(".cell").count() == 169
    page.locator(".step.now .stepaction").first.click()
    page.wait_for_selector(".step >> nth=1")
    page.keyboard.press("1")  # check behind: the river needs a card
    page.locator(".pick", has_text="2♠").click()
    page.wait_for_selector(".grid")
    assert page.url.endswith("spot/turn#node=cc/&runout=2s")
    page.locator(".cell", has_text="AA").click()
    page.wait_for_selector(".detail h2:text-is('AA')")
    picture(page, "spot")
    before = page.locator(".facts").inner_text()
    again = open_page("spot/turn#node=cc/&runout=2s", scheme="dark")
    again.wait_for_selector(".grid")
    assert again.locator(".facts").inner_text() == before
    picture(again, "spot-dark")
    page.go_back()
    page.wait_for_selector(".picker")
    page.keyboard.press("Backspace")
    page.wait_for_selector(".grid")


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP, {"width": 3840, "height": 2160}])
def test_no_view_is_wider_than_the_window(open_page, viewport):
    page = open_page("play", viewport)
    page.wait_for_selector(".tile")
    assert overflow(page) <= 0
    picture(page, f"play-{viewport['width']}")
    page.locator(".tile", has_text="uniform").click()
    page.wait_for_selector(".felt")
    assert overflow(page) <= 0
    picture(page, f"table-{viewport['width']}")
    page.goto(page.url.split("/table")[0] + "/strategy/uniform#node=rc/&board=Kh8d3c")
    page.wait_for_selector(".grid")
    assert overflow(page) <= 0
    picture(page, f"strategy-{viewport['width']}")


def test_a_browser_without_the_cookie_is_told_what_to_do(server, browser):
    context = browser.new_context()
    page = context.new_page()
    page.goto(server)
    page.wait_for_selector(".problem:has-text('open the address that')")
    context.close()


# --- spots, jobs and bots -------------------------------------------------------------------------

RIVER = "board=Td9d6hQc2s&oop=AA%2C76s%2C54s&ip=KK%2CQQ&pot=200&stack=200&bets=a&raises=-"
ENDLESS = f"{RIVER}&to=0.0000001%25&out=endless"  # no number of 32 bits gets there


def test_a_spot_goes_from_the_form_to_its_grid(open_page):
    page = open_page("spots/new")
    for card in ("T♦", "9♦", "6♥", "Q♣", "2♠"):
        page.locator(".pick", has_text=card).click()
    grid = page.locator(".paint").first
    cells = [grid.get_by_role("button", name=f"{name}: ").bounding_box() for name in ("AA", "KK")]
    page.mouse.move(cells[0]["x"] + 5, cells[0]["y"] + 5)
    page.mouse.down()
    page.mouse.move(cells[0]["x"] + 5, cells[1]["y"] + 5, steps=4)  # down to AKo
    page.mouse.up()
    page.wait_for_function("() => document.querySelector('textarea').value === 'AA, AKo'")
    page.locator("textarea").nth(1).fill("QQ-99")
    page.locator("label", has_text="Behind").locator("input").fill("100")
    page.wait_for_selector(".needs:has-text('It fits')")
    picture(page, "spot-form")
    before = page.url
    page.locator(".act.next").click()
    page.wait_for_url("**/jobs/*")
    page.get_by_role("link", name="Look at the result").click(timeout=60_000)
    page.wait_for_selector(".grid")
    assert "/spot/td9d6hqc2s" in page.url
    again = open_page(before.split("/", 3)[3])
    again.wait_for_selector(".needs")
    assert again.locator("textarea").first.input_value() == "AA, AKo"
    assert again.locator(".paint .on").count() == 6
    assert again.locator("label", has_text="Behind").locator("input").input_value() == "100"


def test_a_job_shows_its_curve_and_is_paused_and_resumed(open_page):
    page = open_page(f"spots/new#{ENDLESS}")
    page.wait_for_selector(".needs")
    page.locator(".act.next").click()
    page.wait_for_selector(".plot .u-legend", timeout=60_000)
    picture(page, "job")
    page.get_by_role("button", name="Pause").click()
    page.wait_for_selector(".mark-state.paused", timeout=60_000)
    page.reload()  # all that is shown comes from the log of the job
    page.wait_for_selector(".plot .u-legend")
    page.get_by_role("button", name="Resume").click()
    page.wait_for_selector(".mark-state.running", timeout=60_000)
    other = open_page("jobs")
    other.locator(".row", has_text="endless").get_by_role("button", name="Cancel").click()
    page.wait_for_selector(".mark-state.cancelled", timeout=60_000)
    other.get_by_role("button", name="Forget").first.click()


def test_a_refused_form_says_why_and_keeps_everything(open_page):
    page = open_page(f"spots/new#{RIVER}&lock=c%3A+x%3D1&out=refused")
    page.wait_for_selector(".problem:has-text('not one of the actions')")
    assert page.locator(".act.next").is_disabled()
    page.locator("textarea").nth(2).fill("c: r200=0.5")
    page.wait_for_selector(".needs:has-text('It fits')")
    page.locator("textarea").first.fill("AA,Zz")
    page.wait_for_selector(".range:has-text('is not a hand')")
    assert page.locator(".paint .on").count() > 0


def test_runouts_lead_to_a_card_and_a_node_to_its_lock(open_page):
    page = open_page("spot/turn#node=cc/&runout=2s")
    page.get_by_role("link", name="Lock this decision").click()
    page.wait_for_selector(".needs")
    assert page.locator("textarea").nth(2).input_value().startswith("cc/: c=")
    page.go_back()
    page.get_by_role("link", name="All cards").click()
    page.wait_for_selector(".tilecard")
    assert page.locator(".tilecard").count() == 52
    assert page.locator(".tilecard.gone").count() == 4
    picture(page, "runouts")
    page.locator(".tilecard", has_text="J♠").click()
    page.wait_for_selector(".grid")
    assert page.url.endswith("node=cc/&runout=Js")


def test_bots_have_a_ladder_and_a_page_each(open_page):
    page = open_page("bots")
    page.wait_for_selector(".ladder")
    assert page.locator(".ladder li").last.inner_text().startswith("Cepheus 2015")
    picture(page, "bots")
    page.locator(".tile", has_text="gs3-small").click()
    page.wait_for_selector(".training code:has-text('equilibrist train gs3-small')")
    picture(page, "bot")


@pytest.mark.parametrize("viewport", [PHONE, {"width": 1600, "height": 1000}], ids=["phone", "80%"])
def test_no_view_of_spots_and_bots_is_wider_than_the_window(open_page, viewport):
    page = open_page(f"spots/new#{RIVER}", viewport)
    for path, shown in (
        ("", ".needs"),
        ("spots", ".library"),
        ("bots", ".ladder"),
        ("bots/ectomynx", ".training"),
        ("jobs", "h1"),
        ("runouts/turn#node=cc", ".cardmatrix"),
    ):
        if path:
            page.goto(page.url.split("/", 3)[0] + "//" + page.url.split("/", 3)[2] + "/" + path)
        page.wait_for_selector(shown)
        assert overflow(page) <= 0, path
        picture(page, f"{path.split('#')[0].replace('/', '-') or 'form'}-{viewport['width']}")
