"""Suggestions of smaller spots: each is checked by building what it suggests."""

from dataclasses import replace

import pytest

from equilibrist.cards.range import parse_range
from equilibrist.errors import InvalidValueError
from equilibrist.games.catalog import get_game
from equilibrist.models.spot import Chips, Spot
from equilibrist.solving.forecast import spot_forecast
from equilibrist.solving.suggestions import check_fits, refusal, suggestions

TURN = ("Td9d6hQc", "QQ+,AK,T9s", "88-22,AQ,JTs")
CHIPS = Chips(pot=60, stack=900)
LONG = "22+,A2s-AQs,K9s-KJs,QTs,J9s,T9s,98s,87s,76s,65s,ATo,KQo,JTo,AcKc:0.9"


def turn(**menu: str) -> Spot:
    return Spot.of(*TURN, CHIPS, **({"bets": "50%,100%", "raises": "3x"} | menu))


def found(spot: Spot, share: float, bits: int = 32):
    """Return the suggestions for a share of the memory that a spot needs."""
    needed = spot_forecast(spot, bits)
    return suggestions(spot, needed, int(share * needed.bytes))


def test_what_fits_needs_no_suggestion():
    assert found(turn(), 1) == []


@pytest.mark.parametrize("share", [0.95, 0.6, 0.3, 0.12])
def test_every_suggestion_fits_by_the_forecast_of_a_spot_written_with_its_changes(share):
    spot = turn(max_raises="3")
    free = int(share * spot_forecast(spot).bytes)
    for one in found(spot, share):
        changes = dict(one.changes)
        bits = changes.pop("bits", 32)
        again = turn(**({"max_raises": "3"} | changes))
        assert spot_forecast(again, bits) == one.forecast
        assert one.fits
        assert one.bytes <= free
        assert again == one.spot
        assert len(again.betting) <= len(spot.betting)


def test_the_cheapest_cut_comes_first():
    changes = [one.changes for one in found(turn(max_raises="3"), 0.95)]
    assert changes[0] == {"bits": 16}  # the same game
    sizes = [one.bytes for one in found(turn(max_raises="3"), 0.95)[1:]]
    assert sizes == sorted(sizes, reverse=True)
    assert {"max_raises": "2"} in changes
    assert {"max_raises": "1"} not in changes  # two raises fit
    assert {"bets": "50%"} in changes
    assert {"bets": "100%"} in changes
    assert {"force_all_in": "20%"} in changes


def test_more_changes_are_combined_if_fewer_than_two_suffice_alone():
    spot = turn(max_raises="3")
    assert [one.changes for one in found(spot, 0.2)] == [
        {"max_raises": "1", "bits": 16},
        {"max_raises": "2", "bets": "100%", "bits": 16},  # two raises, but one size less
    ]
    (least,) = found(spot, 0.12)
    assert least.fits
    assert (least.changes, least.forecast.bits) == (
        {"max_raises": "1", "bets": "100%", "bits": 16}, 16,
    )  # fmt: skip


def test_if_nothing_fits_the_smallest_version_is_named():
    (one,) = found(turn(bets="50%,100%,a"), 1e-4)
    assert (one.changes, one.fits) == ({"max_raises": "1", "bets": "a", "bits": 16}, False)
    needed = spot_forecast(turn())
    text = refusal(turn(), needed, 100, [one])
    assert "are free: even max_raises='1' bets='a' bits=16 needs" in text
    assert text.endswith("take fewer hands or a later street; force tries it anyway")
    assert "nothing smaller was found" in refusal(turn(), needed, 100, [])


def test_caps_by_street_are_lowered_street_by_street():
    changes = [one.changes for one in found(turn(max_raises="3 2"), 0.97)]
    assert {"max_raises": "2"} in changes
    changes = [one.changes for one in found(turn(max_raises="2 3"), 0.97)]
    assert {"max_raises": "2"} in changes


def test_limit_spots_are_told_of_caps_only():
    spot = Spot.of(*TURN, Chips(pot=60), game=get_game("holdem-limit"))
    changes = [one.changes for one in found(spot, 0.9)]
    assert changes == [{"bits": 16}, {"max_raises": "3"}]


def test_locked_decisions_stay_in_every_suggestion():
    spot = turn().with_locks(["r30: f=0.5; c=0.5; r90=0"])
    for one in found(spot, 0.9):
        assert one.spot.parsed_locks
        assert one.changes != {"bets": "100%"}  # there would be no bet of 30


def test_ranges_that_nearly_have_no_suits_are_averaged():
    # On this board clubs and spades are alike. AcKc gives 0.45 of 6 + 6 + 3 + 0.9 hands to AsKs.
    spot = Spot.of("Td9d6h", "AA,KK,T9s,AcKc:0.9", "QQ,AsQs,AcQc", Chips(60, 200), bets="50%,a")
    (one,) = (one for one in found(spot, 0.9) if "oop" in one.changes)
    assert one.note == "averaging the ranges over suits, which moves 2.8 % of the weight"
    weights = parse_range(str(one.changes["oop"])).weights
    hands = [parse_range(name).hands[0] for name in ("AcKc", "AsKs")]
    assert weights[hands] == pytest.approx(0.45)
    assert "ip" not in one.changes  # its suits are alike
    assert one.bytes < 0.7 * spot_forecast(spot).bytes
    assert one.forecast == spot_forecast(one.spot)
    one.spot.checked()
    uneven = replace(spot, oop="AA,AcKc")
    assert not [one for one in found(uneven, 0.9) if "oop" in one.changes]


def test_long_ranges_are_not_written_out_in_a_message():
    spot = Spot.of("Td9d6h", LONG, "QQ,JJ,KK,AcQc:0.9", Chips(60, 200), bets="50%,a")
    text = " | ".join(one.text(lambda name, value: f"{name}={value}") for one in found(spot, 0.9))
    assert "| averaging the ranges over suits, which moves" in text
    assert "oop=" not in text
    assert "ip=" not in text  # both are in the changes; one without the other would mislead


def test_a_spot_is_refused_from_one_byte_too_few_on(monkeypatch):
    spot = turn(bets="a")
    needed = spot_forecast(spot)
    monkeypatch.setattr("equilibrist.solving.suggestions.available_bytes", lambda: needed.bytes)
    check_fits(spot, needed)
    monkeypatch.setattr("equilibrist.solving.suggestions.available_bytes", lambda: needed.bytes - 1)
    with pytest.raises(InvalidValueError, match=r"the spot on Td9d6hQc needs .* are free: bits=16"):
        check_fits(spot, needed)


def test_suggestions_of_a_spot_in_big_blinds_keep_its_unit():
    chips = Chips("5.5bb", "97.25bb", rake="5%", rake_cap="0.6bb")
    menu = {"bets": "2.5bb,100%", "raises": "3x", "max_raises": "3"}
    for one in found(Spot.of(*TURN, chips, **menu), 0.95):
        changes = {name: value for name, value in one.changes.items() if name != "bits"}
        assert Spot.of(*TURN, chips, **(menu | changes)) == one.spot
        assert (one.spot.unit, one.spot.rake) == ("bb", "5%")
