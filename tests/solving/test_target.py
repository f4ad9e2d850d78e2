"""Target exploitabilities with units: parsing, writing, and chips of a game."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import equilibrist as eq
from equilibrist.errors import EquilibristError, InvalidValueError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.catalog import get_game
from equilibrist.models.spot import Chips, Spot
from equilibrist.solving.problem import Problem
from equilibrist.solving.spot_run import spot_goal
from equilibrist.solving.target import CHIPS, MBB, PERCENT, Target

LIMIT = get_game("holdem-limit")
NUMBERS = st.floats(min_value=0, exclude_min=True, allow_infinity=False)


@given(
    number=NUMBERS, unit=st.sampled_from((CHIPS, MBB, PERCENT)), bare=st.sampled_from((CHIPS, MBB))
)
def test_a_written_target_is_parsed_to_itself(number, unit, bare):
    target = Target(number, unit)
    assert Target.parse(str(target), bare) == target
    assert Target.parse(number, bare) == Target(number, bare)
    assert Target.parse(repr(number), bare) == Target(number, bare)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("5mbb", Target(5, MBB)),
        ("5 mbb/g", Target(5, MBB)),
        ("0.3%", Target(0.3, PERCENT)),
        (" .3 % ", Target(0.3, PERCENT)),
        ("1e-2chips", Target(0.01, CHIPS)),
        ("2.", Target(2, CHIPS)),
        (3, Target(3, CHIPS)),
        (np.float32(0.5), Target(0.5, CHIPS)),
    ],
)
def test_units_may_be_written_in_these_ways(text, target):
    assert Target.parse(text) == target


BAD = [
    "", " ", "%", "mbb", "chips", "5 mb", "5MBB", "5 m bb", "5%%", "5,000", "1_000", "٥", "five",
    "0x10", "5mbb%", "--1", "1e", "9" * 5000, "0." + "0" * 5000 + "1", 10**5000, None, [1], "5\n6",
]  # fmt: skip
NOT_POSITIVE = ["-1%", "0", "0.0mbb", "-0%", "nan", "inf%", "-inf", "1e999mbb", "1e-999", math.nan]


@pytest.mark.parametrize(
    "given",
    BAD,
    ids=lambda value: str(type(value)) + repr(value)[:10] if value != 10**5000 else "huge",
)
def test_bad_input_gives_one_sentence(given):
    with pytest.raises(EquilibristError, match="number with a unit, such as 5mbb") as caught:
        Target.parse(given)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("given", NOT_POSITIVE)
def test_a_target_is_above_zero_and_finite(given):
    with pytest.raises(InvalidValueError, match="target must be above zero and finite"):
        Target.parse(given)


def test_targets_are_converted_to_chips():
    # 1 mbb is a thousandth of the big blind of 10 chips; 1 % of a pot of 60 is 0.6 chips.
    assert Target.parse("5mbb").of_game("limit", LIMIT).chips == pytest.approx(0.05)
    assert Target.parse("0.5%").of_game("a spot", None, 60).chips == pytest.approx(0.3)
    assert Target.parse("0.25chips").of_game("kuhn", None).chips == 0.25
    assert str(Target.parse("0.5%").of_game("a spot", None, 60)) == "0.3 chips (0.5 % of the pot)"
    assert Target.parse("5mbb").of_game("limit", LIMIT).data() == {"target": 0.05, "to": "5mbb"}


def test_models_of_later_rounds_have_a_pot_and_whole_games_do_not():
    later = BettingTree.build(LIMIT, BetMenu.parse(None, None, "1 1 1 1"), first_round=2, pot=60)
    problem = Problem("turn and river", LIMIT, later)
    assert problem.pot == 60
    assert problem.goal("0.5%").chips == pytest.approx(0.3)
    assert Problem.exact(get_game("kuhn")).pot is None


def test_a_unit_without_a_meaning_gives_one_sentence():
    with pytest.raises(InvalidValueError, match="leduc has no big blind in which 5mbb could be"):
        Problem.exact(get_game("leduc")).goal("5mbb")
    with pytest.raises(InvalidValueError, match=r"leduc starts without a pot of which 0\.3% could"):
        Problem.exact(get_game("leduc")).goal("0.3%")
    for text in ("1e308%", "1e-323%"):
        with pytest.raises(InvalidValueError, match=r"the target .* chips of a spot"):
            Target.parse(text).of_game("a spot", None, 20 if "-" in text else 2000)


def test_the_front_door_takes_targets_with_units():
    river = eq.spot("Td9d6hQc2s", oop="AA,76s,54s", ip="KK", pot=200, stack=200, bets="a")
    assert spot_goal(river.spot, "0.5%").chips == spot_goal(river.spot, "1chips").chips == 1
    loose, fine = river.solve(to="2chips"), river.solve(to="0.01%")
    assert loose.exploitability <= 2
    assert fine.exploitability <= 0.02 < loose.exploitability
    assert eq.solve("kuhn", to="0.01chips").iterations == eq.solve("kuhn", to=0.01).iterations
    with pytest.raises(InvalidValueError, match="kuhn has no big blind"):
        eq.solve("kuhn", to="5mbb")
    with pytest.raises(InvalidValueError, match="smallbot starts without a pot"):
        eq.train("smallbot", target="1%")


def test_a_spot_in_big_blinds_has_targets_in_big_blinds():
    def goal(to, pot="5.5bb", stack="40bb"):
        given = eq.spot("Td9d6hQc2s", oop="AA,76s,54s", ip="KK", pot=pot, stack=stack, bets="a")
        return spot_goal(given.spot, to)

    assert goal("5mbb").chips == goal("0.005bb").chips == goal(0.005).chips == 0.005
    assert goal("1%").chips == pytest.approx(0.055)
    assert str(goal("5mbb")) == "0.005 bb (5 mbb/g)"
    assert str(goal(0.005)) == "0.005 bb"
    assert str(goal("1%", 45, 100)) == "0.45 chips (1 % of the pot)"
    with pytest.raises(InvalidValueError, match="are in big blinds: give the target 1chips in bb"):
        goal("1chips")
    with pytest.raises(InvalidValueError, match="no big blind in which 1bb could be counted"):
        goal("1bb", 45, 100)


@pytest.mark.parametrize(("pot", "chips"), [(60, 0.05), (55, 0.05), ("5.5bb", 0.005)])
def test_milli_big_blinds_of_a_limit_spot_do_not_depend_on_its_smallest_chip(pot, chips):
    limit = Spot.of("Td9d6hQc2s", "AA", "KK", Chips(pot), game=get_game("holdem-limit"))
    assert spot_goal(limit, "5mbb").chips == pytest.approx(chips)
