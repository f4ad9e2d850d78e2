"""Spots, jobs and bots in a real browser."""

import pytest

PHONE = {"width": 360, "height": 740}


def overflow(page):
    """Pixels by which the page is wider than its window."""
    return page.evaluate("() => document.documentElement.scrollWidth - innerWidth")


RIVER = "board=Td9d6hQc2s&oop=AA%2C76s%2C54s&ip=KK%2CQQ&pot=200&stack=200&bets=a&raises=-"
ENDLESS = f"{RIVER}&to=0.0000001%25&out=endless"  # no number of 32 bits gets there


def test_a_spot_goes_from_the_form_to_its_grid(open_page, picture):
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
    page.get_by_role("link", name="Look at the result").click(timeout=300_000)
    page.wait_for_selector(".grid")
    assert "/spot/td9d6hqc2s" in page.url
    again = open_page(before.split("/", 3)[3])
    again.wait_for_selector(".needs")
    assert again.locator("textarea").first.input_value() == "AA, AKo"
    assert again.locator(".paint .on").count() == 6
    assert again.locator("label", has_text="Behind").locator("input").input_value() == "100"


@pytest.mark.slow
def test_a_hand_is_solved_from_its_river_on_and_its_decisions_have_costs(open_page, picture):
    page = open_page("play")
    page.select_option("select", "holdem-nolimit")
    page.locator(".tile", has_text="always-call").first.click()
    page.wait_for_selector(".felt")
    while not page.locator(".act.next").count():
        story = page.locator(".story").inner_text()
        is_river = page.locator(".board .face").count() == 5
        page.keyboard.press("v" if is_river else "s")
        if is_river:
            page.keyboard.press("d")
        page.wait_for_function(
            "(text) => document.querySelector('.story').innerText !== text", arg=story
        )
    table = page.url.split("/", 3)[3]
    page.keyboard.press("r")
    page.keyboard.press("c")
    page.wait_for_selector(".review .ask:has-text('not known: a strategy of a no-limit game')")
    page.locator(".byspot").get_by_role("link", name="river").click()
    page.wait_for_selector("h1:has-text('New spot')")
    page.locator("textarea").first.fill("random")
    page.locator("textarea").nth(1).fill("random")
    page.locator("label", has_text="Bets").first.locator("input").fill("100%,a")
    page.locator("label", has_text="Save as").locator("input").fill("this-river")
    page.wait_for_selector(".needs:has-text('It fits')")
    picture(page, "spot-of-a-hand")
    page.locator(".act.next").click()
    page.get_by_role("link", name="Look at the result").click(timeout=300_000)
    page.wait_for_selector(".grid")
    again = open_page(f"{table}#hand=1")  # the browser remembers that costs are shown
    again.get_by_role("button", name="this-river").click()
    again.wait_for_selector(".review .total:has-text('Your decisions cost')")
    assert again.url.endswith("#hand=1&by=this-river")
    assert again.locator(".review .cost").count() > 0
    picture(again, "costs-by-a-spot")
    again.reload()
    again.wait_for_selector(".review .total:has-text('Your decisions cost')")


@pytest.mark.slow
def test_a_job_shows_its_curve_and_is_paused_and_resumed(open_page, picture, problems):
    page = open_page(f"spots/new#{ENDLESS}")
    page.wait_for_selector(".needs")
    page.locator(".act.next").click()
    page.wait_for_selector(".plot .u-legend", timeout=300_000)
    picture(page, "job")
    page.get_by_role("button", name="Pause").click()
    page.wait_for_selector(".mark-state.paused", timeout=300_000)
    page.reload()  # all that is shown comes from the log of the job
    page.wait_for_selector(".plot .u-legend")
    page.route("**/events", lambda route: route.abort())
    page.reload()
    page.wait_for_selector(".problem:has-text('the connection to the server is lost')")
    page.unroute("**/events")
    page.wait_for_selector(".plot .u-legend")  # the browser connects again by itself
    assert page.locator(".problem").count() == 0
    assert {"ERR_FAILED" in problem for problem in problems} == {True}
    problems.clear()
    page.get_by_role("button", name="Resume").click()
    page.wait_for_selector(".mark-state.running", timeout=300_000)
    other = open_page("jobs")
    other.locator(".row", has_text="endless").get_by_role("button", name="Cancel").click()
    page.wait_for_selector(".mark-state.cancelled", timeout=300_000)
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


@pytest.mark.slow
def test_runouts_lead_to_a_card_and_a_node_to_its_lock(open_page, picture):
    page = open_page("spot/turn#node=cc/&runout=2s")
    page.get_by_role("link", name="Lock this decision").click()
    page.wait_for_selector(".needs")
    assert page.locator("textarea").nth(2).input_value().startswith("cc/: c=")
    page.go_back()
    page.get_by_role("link", name="All cards").click()
    page.wait_for_selector(".tilecard")
    assert page.locator(".tilecard").count() == 52
    assert page.locator(".tilecard.gone").count() == 4
    inside = "(matrix) => matrix.scrollWidth <= matrix.clientWidth"
    assert page.locator(".cardmatrix").evaluate(inside)  # no column is cut off
    picture(page, "runouts")
    page.locator(".tilecard", has_text="J♠").click()
    page.wait_for_selector(".grid")
    assert page.url.endswith("node=cc/&runout=Js")


def test_bots_have_a_ladder_and_a_page_each(open_page, picture):
    page = open_page("bots")
    page.wait_for_selector(".ladder")
    assert page.locator(".ladder li").last.inner_text().startswith("Cepheus 2015")
    picture(page, "bots")
    page.locator(".tile", has_text="gs3-small").click()
    page.wait_for_selector(".training code:has-text('equilibrist train gs3-small')")
    picture(page, "bot")


@pytest.mark.parametrize(
    "viewport",
    [PHONE, pytest.param({"width": 1600, "height": 1000}, marks=pytest.mark.slow)],
    ids=["phone", "80%"],
)
def test_no_view_of_spots_and_bots_is_wider_than_the_window(open_page, picture, viewport):
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
