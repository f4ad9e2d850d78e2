import pytest
from hypothesis import given
from hypothesis import strategies as st

from equilibrist.errors import BetMenuError
from equilibrist.games.action import CALL, raise_to
from equilibrist.games.bet_menu import BetMenu, parse_size, parse_sizes, sizes_text
from equilibrist.games.betting import Betting
from equilibrist.games.catalog import get_game

NOLIMIT = get_game("holdem-nolimit")


def totals(menu: BetMenu, betting: Betting) -> list[int]:
    return [action.amount for action in menu.raise_actions(betting)]


def test_a_pot_sized_raise_calls_first_and_then_adds_the_new_pot():
    # Pot 150 with 50 to call: after the call the pot is 200, so a pot raise goes to 100 + 200.
    assert totals(BetMenu.parse(bets="100%"), Betting.start(NOLIMIT)) == [300]


def test_a_pot_sized_raise_against_a_bet_counts_the_outstanding_bet():
    flop = Betting.start(NOLIMIT, round=1, pot=400).apply(raise_to(600))  # bets 400 into 400
    # Call 400: the pot is 1,200; the raise goes to 600 + 1,200 chips of the whole hand.
    assert totals(BetMenu.parse(bets="100%"), flop) == [1800]


def test_a_multiple_refers_to_the_bet_of_this_round():
    flop = Betting.start(NOLIMIT, round=1, pot=400).apply(raise_to(500))  # a bet of 300
    assert totals(BetMenu.parse(bets="a", raises="2.5x"), flop) == [200 + 750]


def test_before_the_flop_a_multiple_refers_to_the_big_blind():
    assert totals(BetMenu.parse(bets="2.5x"), Betting.start(NOLIMIT)) == [250]


def test_a_multiple_says_nothing_where_there_is_no_bet():
    assert totals(BetMenu.parse(bets="2.5x"), Betting.start(NOLIMIT, round=1, pot=400)) == []


def test_geometric_bets_end_all_in_on_the_last_round():
    menu = BetMenu.parse(bets="e")
    betting = Betting.start(NOLIMIT, round=1, pot=200)
    while not betting.is_over:
        (bet,) = menu.raise_actions(betting)
        betting = betting.apply(bet).apply(CALL)
    assert betting.spent == pytest.approx((20000, 20000), abs=2)


def test_sizes_below_the_minimum_become_the_minimum_and_equal_ones_are_one():
    flop = Betting.start(NOLIMIT, round=1, pot=200)
    assert totals(BetMenu.parse(bets="1%,10%,1c,a,100000%"), flop) == [200, 20000]


def test_menus_may_differ_by_round_and_seat():
    menu = BetMenu.parse(bets="a / 50% | 100%,a / a")
    flop = Betting.start(NOLIMIT, round=1, pot=400)
    assert totals(menu, flop) == [400]
    assert totals(menu, flop.apply(CALL)) == [600, 20000]
    assert totals(menu, Betting.start(NOLIMIT, round=3, pot=400)) == [20000]


def test_caps_never_exceed_the_games_own():
    limit = get_game("holdem-limit")
    assert BetMenu.parse(max_raises="9").limit(limit).max_raises == (3, 4, 4, 4)
    assert BetMenu.parse(max_raises="2 3").limit(limit).max_raises == (2, 3, 3, 3)


sizes = st.one_of(
    st.integers(1, 1000).map(lambda n: f"{n}%"),
    st.integers(2, 40).map(lambda n: f"{n / 4:g}x"),
    st.integers(1, 10**6).map(lambda n: f"{n}c"),
    st.sampled_from(["e", "2e", "3e", "a"]),
)


@given(st.lists(st.lists(st.lists(sizes, min_size=1), min_size=1), min_size=1))
def test_every_menu_has_a_text_that_reads_back(menu):
    text = " / ".join(" | ".join(",".join(seat) for seat in seats) for seats in menu)
    assert sizes_text(parse_sizes(text)) == text


@pytest.mark.parametrize(
    ("text", "value", "position"),
    [
        ("50%,ten", "ten", 4),
        ("", "", 0),
        ("50%,,a", "", 4),
        ("-5%", "-5%", 0),
        ("0%", "0%", 0),
        ("50% / 2y", "2y", 5),
        ("99999999999c", "99999999999c", 0),
    ],
)
def test_a_bad_size_is_named_with_its_place(text, value, position):
    with pytest.raises(BetMenuError) as caught:
        parse_sizes(text)
    assert (caught.value.value, caught.value.position) == (value, position)


@pytest.mark.parametrize("text", ["", "x", "3 -1", "256", "99999999999999999999"])
def test_bad_caps_are_refused(text):
    with pytest.raises(BetMenuError):
        BetMenu.parse(max_raises=text)


def test_more_caps_than_rounds_are_refused():
    with pytest.raises(BetMenuError, match="5 raise caps for the 4 rounds"):
        BetMenu.parse(max_raises="1 2 3 4 5").limit(get_game("holdem-limit"))


def test_a_no_limit_game_needs_sizes():
    with pytest.raises(BetMenuError, match="say which bets"):
        BetMenu().raise_actions(Betting.start(NOLIMIT))


def test_size_reads_itself():
    assert [str(parse_size(text)) for text in ("33.5%", "3x", "e", "a")] == [
        "33.5%",
        "3x",
        "e",
        "a",
    ]


@pytest.mark.parametrize(
    "text",
    ["33333.39%", "3373373%", "33.3333333333%", "0.00001%", "1234567.5x", "10000000e", "50%", "2e"],
)
def test_sizes_are_written_with_all_their_digits(text: str) -> None:
    assert sizes_text(parse_sizes(text)) == text
