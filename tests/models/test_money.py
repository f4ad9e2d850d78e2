"""Money of spots: amounts and units, stacks of two sizes, and the names of nodes in their unit."""

import dataclasses

import numpy as np
import pytest

from equilibrist.errors import EquilibristError, InvalidValueError
from equilibrist.games.catalog import get_game
from equilibrist.models.money import Amount, Chips, Unit
from equilibrist.models.spot import Spot
from equilibrist.solving.best_response import evaluate

RIVER, OOP, IP = "Td9d6hQc2s", "QQ+,AK,T9s", "88-22,AQ,JTs"


def spot(pot, stack, bets="50%,a", raises="2.5x", **money):
    return Spot.of(RIVER, OOP, IP, Chips(pot, stack, **money), bets=bets, raises=raises)


def uniform(given):
    game = given.build().game
    plans = tuple(game.realize(player, game.uniform(player)) for player in (0, 1))
    return evaluate(game, plans)


@pytest.mark.parametrize(
    ("given", "number", "unit"),
    [
        (45, 45, "chips"), ("45", 45, "chips"), ("45chips", 45, "chips"), (22.5, 22.5, "chips"),
        ("5.5bb", 5.5, "bb"), (" 0.125 bb ", 0.125, "bb"), (np.int64(7), 7, "chips"),
        (np.float64(7.25), 7.25, "chips"), (8.0, 8, "chips"),
    ],
)  # fmt: skip
def test_amounts_are_numbers_or_text_with_a_unit(given, number, unit):
    found = Amount.parse(given, "the pot")
    assert (found.number, found.unit) == (number, unit)
    assert Amount.parse(str(found), "the pot") == found


@pytest.mark.parametrize(
    "given",
    ["", "bb", "5,5bb", "-1", "+1", "1e3", "nan", "inf", "5.5555", "5..5", "٥", "5 b b", "5.5mbb",
     None, [], True, float("nan"), float("inf"), 1e20, 0.1 + 0.2, [10**5000], "9" * 5000, b"5"],
)  # fmt: skip
def test_anything_else_is_refused(given):
    with pytest.raises(InvalidValueError, match="the pot must be an amount of at most three"):
        Amount.parse(given, "the pot")


@pytest.mark.parametrize(
    ("pot", "stack", "size"),
    [
        (44, 200, 1),
        (45, 200, 2),  # half a chip from each player
        (45, "200,301", 2),
        ("22.5", 200, 100),
        (44, "97.25", 100),
        ("6bb", "97bb", 100),  # so that a share of the pot is not rounded to a whole blind
        ("5.555bb", "97bb", 400),  # half of it is 2.7775
        ("6bb", "97.125bb", 200),
    ],
)
def test_the_chips_of_the_game_are_as_small_as_the_amounts_need(pot, stack, size):
    found = spot(pot, stack)
    assert found.chips_per_unit == size
    given = Amount.parse(pot, "the pot")
    assert found.money.amount(found.pot) == float(given.number)
    assert found.money.text(found.pot) + found.unit.removeprefix("chips") == str(given)


def test_a_unit_shows_its_amounts_with_all_digits():
    assert Unit().text(1_000_000) == "1000000"
    assert Unit().words(1_000_000) == "1,000,000"
    assert Unit("bb", 100).text(10_000_000) == "100000"
    assert Unit("bb", 400).text(1) == "0.0025"
    assert Unit("bb", 100).words(123_456_789) == "1,234,567.89"
    assert isinstance(Unit(size=2).amount(90), int)


def test_names_of_nodes_and_bet_sizes_are_in_the_unit_that_was_given():
    found = spot("5.5bb", "97.25bb", bets="2.5bb,33%,a", raises="2.5x")
    assert found.actions(0) == ("c", "r1.82", "r2.5", "r97.25")
    assert found.actions(found.find("r2.5")) == ("f", "c", "r6.25")
    assert found.find("cr1.82") > 0
    half = spot(45, 200, bets="50%,22.5c,a")
    assert half.actions(0) == ("c", "r22.5", "r200")
    with pytest.raises(EquilibristError, match=r"c, r22\.5, r200 can follow ''"):
        half.find("r45")


def test_locks_name_actions_in_the_unit_that_was_given():
    locked = spot("5.5bb", "97.25bb").with_locks([": c=0.5; r2.75=0.5; r97.25=0"])
    assert locked.parsed_locks[0].probabilities[:, 0].tolist() == [0.5, 0.5, 0.0]


@pytest.mark.parametrize(
    ("pot", "stack", "blind", "unit"),
    [
        ("5.5bb", "97bb", None, 10),
        ("5.5", "97", 1, 10),
        ("2.75", "48.5", 0.5, 20),
    ],
)
def test_the_unit_changes_no_share_of_the_pot(pot, stack, blind, unit):
    """All sizes are whole in the smallest chip of each, so nothing is rounded."""
    chips = uniform(spot(550, 9700, blind=100, bets="20%,a", raises="a"))
    other = uniform(spot(pot, stack, blind=blind, bets="20%,a", raises="a"))
    scale = 10 * unit
    assert other.value * scale == pytest.approx(chips.value, rel=1e-12)
    assert np.array(other.best_response) * scale == pytest.approx(chips.best_response, rel=1e-12)
    assert other.unit == ("bb" if "bb" in pot else "chips")


def test_an_odd_pot_is_half_of_twice_the_spot():
    twice = uniform(spot(90, 400, raises="3x", blind=2))
    odd = uniform(spot(45, 200, raises="3x"))
    assert odd.value * 2 == pytest.approx(twice.value, rel=1e-12)


def test_limit_spots_take_odd_pots_and_big_blinds():
    limit = get_game("holdem-limit")
    given = [Spot.of(RIVER, OOP, IP, Chips(pot), game=limit) for pot in (110, 55, "5.5bb", "11bb")]
    values = [uniform(one) for one in given]
    assert [value.unit for value in values] == ["chips", "chips", "bb", "bb"]
    assert values[1].value == pytest.approx(10 * values[2].value, rel=1e-12)
    assert values[0].value == pytest.approx(10 * values[3].value, rel=1e-12)
    assert given[1].betting.spent[given[1].betting.parse("r")].tolist() == [95, 55]  # half chips


# --- stacks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("stacks", [(900, 1200), (1200, 900), "900,5000"])
def test_only_the_smaller_of_two_stacks_can_be_bet(stacks):
    menu = {"bets": "60%,300%,1000c,e,a", "raises": "2.5x,a"}
    unequal, equal = spot(200, stacks, **menu), spot(200, 900, **menu)
    assert unequal.stack == 900
    assert max(unequal.stacks) > 900
    assert unequal.names == equal.names
    for ours, theirs in zip(unequal.build().game.leaves, equal.build().game.leaves, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_unequal_stacks_hold_on_every_street():
    given = [
        Spot.of("Td9d6h", "QQ", "88", Chips(20, stack), bets="75%,a", raises="a")
        for stack in ("100,150", "150,100", 100)
    ]
    assert given[0].names == given[1].names == given[2].names


# --- text form ------------------------------------------------------------------------------------


def test_a_spot_keeps_what_was_given_as_text_and_numbers():
    found = dataclasses.asdict(spot("5.5bb", "97.25bb,120bb", rake="5%", rake_cap="3bb"))
    names = ("pot", "unit", "chips_per_unit", "rake", "rake_cap")
    assert [found[name] for name in names] == [550, "bb", 100, "5%", "3bb"]
    assert found["behind"] == (9725, 12000)
    assert "stack = 10000 10000" in found["rules"]
    assert Spot(**found).checked().stacks == (9725, 12000)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"unit": "euro"}, "the unit must be chips or bb, not 'euro'"),
        ({"unit": "bb"}, "the cap of the rake, 3, is in chips, but other amounts are in big"),
        ({"rake": "x"}, "such as 5%, not 'x'"),
        ({"bets": "2bb"}, "the bet size 2bb must be in chips"),
        ({"behind": (100, 300)}, "must be that of the rules, 200 chips, not 100 and 300"),
        ({"behind": (200,)}, "must be that of the rules"),
    ],
)
def test_a_stored_spot_with_impossible_money_is_refused(changes, complaint):
    found = spot(40, 200, rake="5%", rake_cap=3)
    with pytest.raises(EquilibristError, match=complaint):
        dataclasses.replace(found, **changes).checked()
