from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equilibrist.errors import BetMenuError
from equilibrist.games.action import CALL, FOLD, raise_to
from equilibrist.games.bet_menu import (
    THRESHOLDS,
    BetMenu,
    BetSize,
    parse_size,
    parse_sizes,
    sizes_text,
)
from equilibrist.games.betting import Betting
from equilibrist.games.betting_tree import BettingTree
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


def test_a_size_in_big_blinds_comes_on_top_of_a_call():
    flop = Betting.start(NOLIMIT, round=1, pot=400).apply(raise_to(500))  # the big blind is 100
    assert totals(BetMenu.parse(bets="a", raises="4.5bb"), flop) == [500 + 450]
    assert str(parse_size("4.50bb")) == "4.5bb"
    assert parse_size("22.5c").raise_total(flop) == 500 + 22  # halves round to even
    for text in ("bb", "0bb", "2.5555bb", "-1bb", "1e3bb", "2.5 bb"):
        with pytest.raises(BetMenuError, match="size"):
            parse_size(text)


def test_before_the_flop_a_multiple_refers_to_the_big_blind():
    assert totals(BetMenu.parse(bets="2.5x"), Betting.start(NOLIMIT)) == [250]


def test_a_multiple_does_not_apply_without_a_bet():
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


def test_caps_above_the_games_own_are_refused_in_the_rounds_of_the_tree():
    limit = get_game("holdem-limit")
    assert BetMenu.parse(max_raises="2 3").limit(limit).max_raises == (2, 3, 3, 3)
    assert BetMenu.parse(max_raises="3 4").limit(limit).max_raises == (3, 4, 4, 4)
    four, five = BetMenu.parse(max_raises="4"), BetMenu.parse(max_raises="3 4 4 5")
    with pytest.raises(BetMenuError, match="4 raises in round 1 is above the 3 of holdem-limit"):
        four.limit(limit)
    assert four.limit(limit, first_round=1).max_raises == (3, 4, 4, 4)
    with pytest.raises(BetMenuError, match="5 raises in round 4 is above the 4"):
        five.limit(limit, first_round=1)
    assert five.limit(limit, last_round=2).max_raises == (3, 4, 4, 4)
    with pytest.raises(BetMenuError, match="round 1"):
        BettingTree.build(limit, four)


def test_a_clipped_menu_has_the_games_caps_and_one_that_fits_stays_as_written():
    limit = get_game("holdem-limit")
    assert BetMenu.parse(max_raises="9").clipped(limit).max_raises == (3, 4, 4, 4)
    for menu in (BetMenu(), BetMenu.parse(max_raises="2"), BetMenu.parse(max_raises="3 4")):
        assert menu.clipped(limit) is menu


# Up to 15 digits, which a float holds, without zeros at either end.
decimals = st.tuples(st.integers(0, 10**7), st.integers(0, 10**7)).map(
    lambda parts: f"{parts[0]}.{parts[1]:08}".rstrip("0").rstrip(".")
).filter(lambda text: text != "0")  # fmt: skip
sizes = st.one_of(
    decimals.map(lambda text: f"{text}%"),
    decimals.map(lambda text: f"{text}x"),
    st.integers(1, 10**6).map(lambda n: f"{n}c"),
    st.sampled_from(["e", "2e", "3e", "a"]),
)


@settings(deadline=None)
@given(
    st.lists(
        st.lists(st.lists(sizes, min_size=1, max_size=4), min_size=1, max_size=2),
        min_size=1,
        max_size=4,
    )
)
def test_every_menu_has_a_text_that_reads_back(menu):
    text = " / ".join(" | ".join(",".join(seat) for seat in seats) for seats in menu)
    assert sizes_text(parse_sizes(text)) == text


@given(st.floats(0, 2**31, exclude_min=True), st.sampled_from(["percent", "times"]))
def test_every_size_reads_itself_to_the_last_bit(amount, kind):
    size = BetSize(kind, amount)
    assert parse_size(str(size)) == size


def test_an_all_in_beyond_what_the_opponent_can_match_puts_the_opponent_all_in():
    rules = replace(NOLIMIT, stacks=(20_000, 3_000))
    flop = Betting.start(rules, round=1, pot=400)
    assert totals(BetMenu.parse(bets="a,1000%,4000%"), flop) == [3_000]
    assert totals(BetMenu.parse(bets="e"), flop) == totals(
        BetMenu.parse(bets="e"), Betting.start(replace(rules, stacks=(3_000, 3_000)), 1, 400)
    )
    short = Betting.start(rules).apply(raise_to(2_900))  # the next full raise is to 5,700
    assert short.max_matched_to == 3_000
    assert totals(BetMenu.parse(bets="a,50%"), short) == [short.min_raise_to] == [5_700]


def test_the_largest_remaining_stack_limits_what_can_be_matched():
    rules = replace(NOLIMIT, blinds=(100, 50, 0), stacks=(9_000, 500, 2_000))
    start = Betting.start(rules)
    assert (start.actor, start.max_matched_to) == (1, 500)
    assert start.apply(CALL).max_matched_to == 2_000
    folded = start.apply(FOLD).apply(CALL)
    assert (folded.actor, folded.max_matched_to) == (0, 2_000)


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


@pytest.mark.parametrize(
    ("menu", "words"),
    [
        ({"bets": "a / a / a / a / a"}, "5 rounds of bets for the 4 rounds"),
        ({"bets": "a", "raises": "a / a / a / a / a"}, "5 rounds of raises for the 4 rounds"),
        ({"bets": "a", "donks": "a / a / a / a / a"}, "5 rounds of donks for the 4 rounds"),
        ({"bets": "a | a | a"}, "sizes of 3 seats for the 2 players"),
        ({"bets": "a", "raises": "a / a | a | a"}, "sizes of 3 seats for the 2 players"),
    ],
)
def test_a_menu_must_not_name_rounds_or_seats_that_the_game_lacks(menu, words):
    with pytest.raises(BetMenuError, match=words):
        BetMenu.parse(**menu).limit(NOLIMIT)


@pytest.mark.parametrize("menu", [{"max_raises": ()}, {"bets": ()}, {"bets": ((),)}])
def test_a_menu_that_says_nothing_is_refused(menu):
    with pytest.raises(BetMenuError, match="at least one round"):
        BetMenu(**menu)


@pytest.mark.parametrize("name", ["donks", "add_all_in", "force_all_in", "merge"])
def test_limit_games_have_no_donk_sizes_and_no_thresholds(name):
    menu = BetMenu.parse(**{name: "50%"})
    with pytest.raises(BetMenuError, match=f"limit game with fixed bets: leave out {name}"):
        menu.limit(get_game("holdem-limit"))


def test_donk_bets_have_no_seats():
    with pytest.raises(BetMenuError, match="no seats"):
        BetMenu.parse("a", donks="33% | 50%")


@pytest.mark.parametrize(
    "text", ["", "20", "-20%", "nan", "nan%", "inf%", "1e2%", "20 %", "٣%", "1000001%", "%"]
)
@pytest.mark.parametrize("name", THRESHOLDS)
def test_a_threshold_that_is_no_percentage_is_refused(name, text):
    with pytest.raises(BetMenuError, match=f"{name} must be a percentage from 0% to 1000000%"):
        BetMenu.parse("a", **{name: text})


@pytest.mark.parametrize("value", [Decimal("nan"), Decimal("inf"), Decimal(0), Decimal(-1), 10.0])
def test_a_threshold_that_is_no_positive_decimal_is_refused(value):
    with pytest.raises(BetMenuError, match="merge must be a Decimal above 0"):
        BetMenu(merge=value)


def test_zero_per_cent_is_no_threshold():
    assert BetMenu.parse("a", merge="0%", add_all_in="0.0%") == BetMenu.parse("a")


def spot_totals(pot: int, stack: int, **menu: str) -> list[int]:
    """Return the bets in chips of the first player on a flop."""
    rules = replace(NOLIMIT, blinds=(1, 1), stacks=(pot // 2 + stack,) * 2)
    flop = Betting.start(rules, round=1, pot=pot)
    return [total - pot // 2 for total in totals(BetMenu.parse(**menu), flop)]


def test_all_in_is_added_up_to_a_share_of_the_pot():
    assert spot_totals(100, 150, bets="50%", add_all_in="150%") == [50, 150]
    assert spot_totals(100, 150, bets="50%", add_all_in="149.9%") == [50]
    assert spot_totals(100, 150, bets="-", add_all_in="150%") == []  # no bets stay no bets
    assert spot_totals(100, 150, bets="2x", add_all_in="150%") == []  # no size applies


def test_the_pot_of_an_all_in_raise_includes_the_call():
    rules = replace(NOLIMIT, blinds=(1, 1), stacks=(650, 650))
    raised = Betting.start(rules, round=1, pot=100).apply(raise_to(150))  # bets 100 into 100
    # After a call the pot is 300 and 500 chips are behind.
    assert totals(BetMenu.parse("50%", add_all_in="166.6%"), raised) == [300]
    assert totals(BetMenu.parse("50%", add_all_in="166.7%"), raised) == [300, 650]


def test_a_bet_that_leaves_little_becomes_all_in():
    # A bet of 50 and a call make a pot of 200 and leave 100 chips, 50 % of it.
    assert spot_totals(100, 150, bets="50%", force_all_in="50%") == [150]
    assert spot_totals(100, 150, bets="50%", force_all_in="49.9%") == [50]
    assert spot_totals(100, 150, bets="10%,50%,100%", force_all_in="50%") == [10, 150]


def test_close_bets_are_merged_from_the_largest_down():
    # Pots after the bets: 200, 180, 160, 150; 200 / 160 is exactly 1.25.
    menu = {"bets": "50%,60%,80%,100%"}
    assert spot_totals(100, 900, **menu, merge="11%") == [60, 80, 100]
    assert spot_totals(100, 900, **menu, merge="12%") == [60, 100]
    assert spot_totals(100, 900, **menu, merge="25%") == [60, 100]
    assert spot_totals(100, 900, **menu, merge="25.1%") == [50, 100]
    # With 110 chips behind, all-in drops the pot bet: 210, 200, 180, 160, 150.
    assert spot_totals(100, 110, bets="50%,60%,80%,100%,a", merge="12%") == [60, 80, 110]


def test_thresholds_add_then_force_then_merge():
    menu = {"bets": "50%,75%", "add_all_in": "150%", "force_all_in": "30%"}
    assert spot_totals(100, 150, **menu) == [50, 150]  # 75 leaves 75 of a pot of 250: 30 %
    assert spot_totals(100, 150, **menu, merge="70%") == [150]


@pytest.mark.parametrize(
    "menu",
    [
        {},
        {"bets": "50%,a / 75% | 100%,a / -", "raises": "2.5x", "max_raises": "3 2"},
        {"bets": "a", "donks": "- / 33%", "add_all_in": "150%", "force_all_in": "12.5%"},
        {"bets": "e", "merge": "0.000000001%"},
    ],
)
def test_the_texts_of_a_menu_give_the_menu_back(menu):
    assert BetMenu.parse(**menu).texts() == menu
    assert BetMenu.parse(**BetMenu.parse(**menu).texts()) == BetMenu.parse(**menu)


def test_a_no_limit_game_needs_sizes():
    with pytest.raises(BetMenuError, match="specify which bets"):
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
