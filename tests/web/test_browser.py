"""The table and the strategy browser in a real browser.

The short tests are a smoke test that runs with the suite; the long ones are marked `slow`, and run
with them by `make browser`.
"""

import time

import pytest

from equilibrist.bots.bot import BucketBot
from equilibrist.bots.train import train

PHONE, DESKTOP = {"width": 360, "height": 740}, {"width": 1280, "height": 800}
ZOOMED_OUT = {"width": 1600, "height": 1000}  # 80 % zoom of the desktop
BOTH_GAMES = pytest.mark.parametrize("game", ["holdem-limit", "discard-holdem"])
LIMIT_FIRST = pytest.mark.parametrize(
    "game", ["holdem-limit", pytest.param("discard-holdem", marks=pytest.mark.slow)]
)
TINY = BucketBot(
    "tiny", "Few buckets of few cards", recipe="percentile", buckets=(2, 4, 8, 16),
    max_raises="1 1 1 1", target=50.0, game="royal-holdem", dtype="float64",
)  # fmt: skip


def overflow(page):
    """Pixels by which the page is wider than its window."""
    return page.evaluate("() => document.documentElement.scrollWidth - innerWidth")


def sit(page, player, game="holdem-limit"):
    page.select_option("select", game)
    page.locator(".tile", has_text=player).first.click()
    page.wait_for_selector(".felt")


def play(page, hands, keys="s"):
    """Play until a number of hands are over: the keys in turn, or a swap where one is possible."""
    for number in range(1, hands + 1):
        page.wait_for_selector(f"h2:text-is('Hand {number}')")
        acted = 0
        while not page.locator(".act.next").count():
            story = page.locator(".story").inner_text()
            is_swap = page.locator(".act.swap").count() > 0
            page.keyboard.press("1" if is_swap else keys[acted % len(keys)])
            acted += 1
            deadline = time.monotonic() + 2  # a raise beyond the cap does nothing
            while page.locator(".story").inner_text() == story and time.monotonic() < deadline:
                page.wait_for_timeout(10)
        if number < hands:
            page.keyboard.press("f")


# --- the table ------------------------------------------------------------------------------------


@LIMIT_FIRST
def test_hands_are_played_by_keys_and_survive_a_reload(open_page, picture, game):
    page = open_page("play")
    sit(page, "always-call", game)
    play(page, 2)
    assert page.locator(".felt .back").count() == 0  # a showdown
    page.keyboard.press("r")
    page.wait_for_selector(".review .bar")
    picture(page, f"review-{game}")
    page.keyboard.press("f")
    page.wait_for_selector("h2:text-is('Hand 3')")
    before = page.locator(".felt").inner_text()
    page.reload()
    page.wait_for_selector(".felt")
    assert page.locator(".felt").inner_text() == before
    assert page.locator(".felt .back").count() == 2
    picture(page, f"table-{game}")


@pytest.mark.slow
@BOTH_GAMES
def test_twenty_hands_are_played(open_page, picture, game):
    page = open_page("play")
    sit(page, "uniform", game)
    play(page, 20, keys="sds")
    page.wait_for_selector(".score p:has-text('20 hands against uniform')")
    page.keyboard.press("r")
    page.wait_for_selector(".review .decisions")
    page.keyboard.press("c")
    page.wait_for_selector(".review .ask p:not([role=status])", timeout=300_000)
    picture(page, f"twenty-{game}")


@pytest.mark.slow
def test_two_tabs_and_the_mouse(open_page):
    page = open_page("play")
    sit(page, "always-call")
    page.wait_for_selector(".act.call")
    other = open_page(page.url.split("/", 3)[3])
    other.wait_for_selector(".act.call")
    page.locator(".act.call").click()
    page.wait_for_selector(".story dt:text-is('preflop')")
    page.wait_for_selector(".board .face >> nth=2")
    other.locator(".act.call").click()
    other.wait_for_selector(".problem:has-text('perhaps in another tab')")
    other.wait_for_selector(".board .face >> nth=2")


@pytest.mark.slow
def test_luck_and_costs_of_earlier_hands_have_an_address(open_page, picture):
    page = open_page("play")
    sit(page, "leduc-solution", "leduc")
    play(page, 4, keys="ds")
    page.get_by_text("Remove the luck").click()
    page.wait_for_selector(".curve", timeout=300_000)  # compiles kernels
    page.keyboard.press("r")
    page.keyboard.press("c")
    page.wait_for_selector(".review .total:has-text('Your decisions cost')")
    assert page.locator(".review .cost").count() > 0
    picture(page, "costs")
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector(".past h2:has-text('Hand 3 of 4')")
    assert page.url.endswith("#hand=3")
    page.wait_for_selector(".review .total")
    before = page.locator(".stage").inner_text()
    page.reload()
    page.wait_for_selector(".review .total")
    assert page.locator(".stage").inner_text() == before
    page.keyboard.press("f")
    page.wait_for_selector(".act.next")
    page.go_back()
    page.wait_for_selector(".past")


def test_a_lost_connection_leaves_the_hand_as_it_was(open_page, problems):
    page = open_page("play")
    sit(page, "always-call")
    page.wait_for_selector(".act.call")
    cards = page.locator(".felt").inner_text()
    page.context.set_offline(True)
    page.keyboard.press("s")
    page.wait_for_selector(".problem:has-text('Your hand is saved; trying again')")
    assert page.locator(".felt").inner_text() == cards
    page.context.set_offline(False)
    page.wait_for_selector(".problem", state="detached")
    page.keyboard.press("s")
    page.wait_for_selector(".board .face >> nth=2")
    assert problems
    assert all("ERR_INTERNET_DISCONNECTED" in problem for problem in problems)
    problems.clear()


@pytest.mark.slow
def test_an_expired_session_is_explained_and_the_hand_continues(open_page, signed_in, problems):
    page = open_page("play")
    sit(page, "always-call")
    page.wait_for_selector(".act.call")
    cards = page.locator(".felt").inner_text()
    page.context.clear_cookies()
    page.keyboard.press("s")
    page.wait_for_selector(".problem:has-text('open the address that')")
    assert page.locator(".felt").inner_text() == cards
    assert page.locator(".act.call").is_enabled()
    page.context.add_cookies(signed_in)
    page.keyboard.press("s")
    page.wait_for_selector(".board .face >> nth=2")
    assert [problem for problem in problems if "status of 401" not in problem] == []
    problems.clear()


@pytest.mark.slow
def test_an_illegal_raise_and_the_back_button_leave_the_hand_as_it_was(open_page):
    page = open_page("play")
    sit(page, "always-call", "discard-holdem")
    cards = page.locator(".felt").inner_text()
    page.get_by_label("Chips of a raise").fill("3")
    page.keyboard.press("Enter")
    page.wait_for_selector(".problem:has-text('not possible here; you can')")
    assert page.locator(".felt").inner_text() == cards
    page.go_back()
    page.wait_for_selector(".tile")
    page.locator(".rows a").first.click()  # continue
    page.wait_for_selector(".felt")
    assert page.locator(".felt").inner_text() == cards


@pytest.mark.slow
def test_no_limit_is_played_by_keys_and_mouse_and_bad_amounts_do_nothing(open_page, picture):
    page = open_page("play")
    sit(page, "always-call", "holdem-nolimit")
    sizes = {"z": "200", "x": "200", "c": "250", "v": "300", "b": "500", "n": "20,000"}
    for number, (key, chips) in enumerate(sizes.items()):
        size = page.locator(".size", has=page.locator(f"kbd:text-is('{key.upper()}')"))
        if number % 2:
            size.click()
        else:
            page.keyboard.press(key)
        page.wait_for_selector(f".act.raise:has-text('Raise to {chips}')")
        assert size.get_attribute("aria-pressed") == "true"
        assert chips in size.inner_text()
    before = page.locator(".stage .felt").inner_text()
    field = page.get_by_label("Chips of a raise")
    for amount in ("150", "20001"):
        field.fill(amount)
        page.keyboard.press("Enter")
        words = (
            f"a raise to {int(amount):,} is not possible here; you can check, raise to 200 – 20,000"
        )
        page.wait_for_selector(f".problem:has-text('{words}')")
        assert page.locator(".felt").inner_text() == before
    picture(page, "bad-amount")
    field.fill("260")
    page.keyboard.press("d")  # letters are keys in the field, too
    page.wait_for_selector(".story dd:has-text('you raise to 260')")
    page.wait_for_selector(".board .face >> nth=2")
    page.keyboard.press("v")
    page.keyboard.press("d")
    page.wait_for_selector(".story dd:has-text('you bet 520')")
    page.wait_for_selector(".board .face >> nth=3")
    page.keyboard.press("n")
    page.keyboard.press("d")
    page.wait_for_selector(".act.next")
    page.keyboard.press("r")
    page.keyboard.press("c")
    page.wait_for_selector(".review .ask:has-text('not known: a strategy of a no-limit game')")
    assert page.locator(".byspot a").all_inner_texts() == ["flop", "turn"]
    picture(page, "no-limit")


@pytest.mark.slow
def test_a_slow_opponent_is_said_to_think(open_page):
    page = open_page("play")
    sit(page, "always-call")
    page.route("**/moves", lambda route: (time.sleep(3.5), route.continue_()))
    page.keyboard.press("s")
    page.wait_for_selector(".did:has-text('thinks …')")
    page.wait_for_selector(".board .face >> nth=2")


@pytest.mark.slow
def test_an_untrained_bot_has_its_command(open_page, problems):
    page = open_page("play")
    page.locator(".untrained summary").click()
    page.wait_for_selector("code:text-is('equilibrist train smallbot')")
    page = open_page("strategy/smallbot")
    page.wait_for_selector(".problem:has-text('run equilibrist train smallbot')")
    page.get_by_role("link", name="Train it here").click()
    page.wait_for_selector(".training code:has-text('equilibrist train smallbot')")
    page.goto(page.url.split("/bots")[0] + "/nowhere")
    page.wait_for_selector("h1:has-text('No such page')")
    assert ["status of 404" in problem for problem in problems] == [True, True]
    problems.clear()


# --- strategies -----------------------------------------------------------------------------------


def test_a_spot_is_walked_to_the_river_and_a_link_restores_it(open_page, picture):
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
    assert page.url.endswith("&hand=AA")
    assert page.locator(".suits > span").count() == 6
    picture(page, "spot")
    before = page.locator(".node").inner_text()
    again = open_page(page.url.split("/", 3)[3], scheme="dark")
    again.wait_for_selector(".detail h2:text-is('AA')")
    assert again.locator(".node").inner_text() == before
    picture(again, "spot-dark")
    page.go_back()
    page.wait_for_selector(".picker")
    page.keyboard.press("Backspace")
    page.wait_for_selector(".grid")


def test_tabs_filter_and_comparison_have_an_address(open_page, picture):
    page = open_page("spot/turn")
    page.wait_for_selector(".grid")
    page.keyboard.press("v")
    page.wait_for_selector(".cell small")
    page.keyboard.press("e")
    page.wait_for_selector("[aria-selected=true]:has-text('Equity')")
    page.keyboard.press("b")
    page.wait_for_selector(".summary:has-text('A best response')")
    picture(page, "best-response")
    page.keyboard.press("/")
    page.keyboard.type("QQ+, AKs")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelectorAll('.cell.full').length === 4")
    page.get_by_label("Compare with").select_option("turn-rough")
    page.wait_for_selector(".side .grid >> nth=1")
    page.keyboard.press("a")
    page.keyboard.press("d")
    page.wait_for_selector(".about:has-text('They act differently in')")
    picture(page, "difference")
    address = page.url.split("/", 3)[3]
    assert address == "spot/turn#filter=QQ%2B,%20AKs&with=turn-rough&view=difference"
    again = open_page(address)
    again.wait_for_selector(".about:has-text('They act differently in')")
    again.wait_for_selector(".cell.unreached:has-text('JTs')")
    assert again.locator(".node").inner_text() == page.locator(".node").inner_text()
    again.locator(".filter input").fill("QQ+,zz")
    again.keyboard.press("Enter")
    again.wait_for_selector(".filter .bad:has-text('zz')")


@pytest.mark.slow
def test_a_bot_is_browsed_to_the_river(open_page, add_bot, picture, problems):
    add_bot(TINY)
    page = open_page("strategy/tiny")
    page.wait_for_selector(".problem:has-text('train tiny')")
    problems.clear()
    train("tiny")
    page.reload()
    page.wait_for_selector(".grid")
    for cards in (3, 4, 5):
        for _ in range(2):
            step = page.locator(".step").count()
            page.locator(".step.now .stepaction:has-text('c'):not([disabled])").first.click()
            page.wait_for_function(f"() => document.querySelectorAll('.step').length > {step}")
        page.get_by_text("Deal at random").click()
        page.wait_for_selector(".grid")
        assert page.locator(".boardbar .face").count() == cards
    page.keyboard.press("b")
    page.wait_for_selector(".summary:has-text('A best response')")
    picture(page, "bot-river")


@pytest.mark.parametrize(
    "viewport",
    [
        PHONE,
        pytest.param(DESKTOP, marks=pytest.mark.slow),
        pytest.param({"width": 3840, "height": 2160}, marks=pytest.mark.slow),
        pytest.param(ZOOMED_OUT, marks=pytest.mark.slow),
    ],
    ids=lambda viewport: str(viewport["width"]),
)
def test_no_view_is_wider_than_the_window(open_page, picture, viewport):
    page = open_page("play", viewport)
    page.wait_for_selector(".tile")
    assert overflow(page) <= 0
    picture(page, f"play-{viewport['width']}")
    sit(page, "uniform")
    assert overflow(page) <= 0
    picture(page, f"table-{viewport['width']}")
    base = page.url.split("/table")[0]
    page.goto(base + "/strategy/uniform#node=rc/&board=Kh8d3c&hand=AKo")
    page.wait_for_selector(".suits")
    assert overflow(page) <= 0
    picture(page, f"strategy-{viewport['width']}")
    page.goto(base + "/spot/turn#with=turn-rough&tab=ev")
    page.wait_for_selector(".side .grid >> nth=1")
    assert overflow(page) <= 0
    picture(page, f"compare-{viewport['width']}")


@pytest.mark.slow
def test_colours_for_colour_blind_readers_are_kept(open_page, picture):
    page = open_page("strategy/uniform")
    page.wait_for_selector(".grid")
    page.get_by_label("Colour-blind palette").click()
    page.wait_for_function(
        "() => document.querySelector('.legend i').style.background.includes('0, 114, 178')"
    )
    page.reload()
    page.wait_for_function(
        "() => document.querySelector('.legend i')?.style.background.includes('0, 114, 178')"
    )
    picture(page, "colour-blind")


def test_a_browser_without_the_cookie_is_told_what_to_do(server, browser):
    context = browser.new_context()
    page = context.new_page()
    page.goto(server)
    page.wait_for_selector(".problem:has-text('open the address that')")
    context.close()
