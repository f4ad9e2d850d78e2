"""Tests of EctomynX's bet levels: the report's worked examples, and its bugs."""

import pytest

from equilibrist.papers.ectomynx.bet_levels import (
    CALL,
    FOLD,
    IDEAL_SIZES,
    PREFLOP_THRESHOLDS,
    RAISE,
    BettingView,
    bet_level,
    decide,
)


def test_preflop_sizes_and_thresholds_are_the_printed_table() -> None:
    assert list(zip(IDEAL_SIZES, PREFLOP_THRESHOLDS, strict=True)) == [
        (0, 0), (2, 2), (6, 8), (18, 24), (46, 72), (200, 200),
    ]  # fmt: skip
    # "a raise to 8 … should be treated as a single raise", "a raise to 15 is treated as a 3-bet".
    read = {2: 1, 3: 2, 8: 2, 9: 3, 15: 3, 24: 3, 25: 4, 72: 4, 73: 5, 200: 5}
    assert {amount: bet_level(amount, 0) for amount in read} == read


def test_postflop_thresholds_are_the_printed_ones() -> None:
    # 8 into 10 is a single bet, 15 into 10 a 2-bet, 2 into 10 a check.
    read = {0: 0, 2: 0, 3: 1, 8: 1, 10: 1, 11: 2, 15: 2, 30: 2, 31: 3, 90: 3, 91: 4, 271: 5}
    assert {bet: bet_level(bet, 10) for bet in read} == read


def test_bets_under_two_thirds_of_the_pot_are_bets() -> None:
    # V: "a small typo recognized any bet under 2/3pot as a check".
    for pot in range(4, 300):
        for bet in range(1, pot + 1):
            assert bet_level(bet, pot) == (1 if bet > pot / 5 else 0)


def test_a_small_bet_into_a_large_pot_is_called() -> None:
    # V: "Folding to a bet of 8 when the pot is 384".
    spot = BettingView(pot=384, bet=8, own=0, behind=8, num_bets=1, can_raise=False)
    assert [decide(level, spot) for level in range(6)] == [CALL] * 6
    # I.c: a bet of 2 into 10 "will be called if we intend to play to level 0".
    assert decide(0, BettingView(pot=10, bet=2, own=0, behind=100, num_bets=1)) == CALL


@pytest.mark.parametrize(
    ("level", "actions"),
    [
        # BU unopened, BU facing a 3-bet to 18, BB facing a raise to 6, BB facing a limp.
        (0, (FOLD, FOLD, FOLD, CALL)),
        (1, (CALL, FOLD, FOLD, CALL)),  # "limp … (and fold to a raise)"
        (2, (RAISE, FOLD, CALL, RAISE)),  # "raise … (and fold to a reraise)"
        (3, (RAISE, CALL, RAISE, RAISE)),  # "raise and call a 3-bet, but … not 4-bet"
        (4, (RAISE, RAISE, RAISE, RAISE)),
    ],
)
def test_actions_of_levels_before_the_flop(level: int, actions: tuple[int, ...]) -> None:
    spots = (
        BettingView(pot=0, bet=2, own=1, behind=199, num_bets=1),
        BettingView(pot=0, bet=18, own=6, behind=194, num_bets=3),
        BettingView(pot=0, bet=6, own=2, behind=198, num_bets=2),
        BettingView(pot=0, bet=2, own=2, behind=198, num_bets=1),
    )
    assert tuple(decide(level, spot) for spot in spots) == actions
    assert [spot.raise_to for spot in spots] == [6, 46, 18, 6]


def test_abnormally_large_raises_are_raised_three_times() -> None:
    # A raise to 15 is read as a 3-bet, one to 8 is an ordinary raise.
    assert BettingView(pot=0, bet=15, own=2, behind=198, num_bets=2).raise_to == 45
    assert BettingView(pot=0, bet=8, own=2, behind=198, num_bets=2).raise_to == 18


def test_bets_are_two_thirds_and_raises_three_times() -> None:
    assert BettingView(pot=12, bet=0, own=0, behind=194, num_bets=0).raise_to == 8
    assert BettingView(pot=12, bet=8, own=0, behind=194, num_bets=1).raise_to == 24
    assert BettingView(pot=12, bet=24, own=8, behind=186, num_bets=2).raise_to == 72


@pytest.mark.parametrize(("behind", "amount"), [(20, 12), (19, 19), (12, 12), (5, 5)])
def test_bets_over_sixty_per_cent_of_the_stack_become_all_in(behind: int, amount: int) -> None:
    # A bet of 12 into 18: exactly 60 % of 20 is not more than 60 %.
    assert BettingView(pot=18, bet=0, own=0, behind=behind, num_bets=0).raise_to == amount


def test_a_player_that_cannot_raise_calls() -> None:
    spot = BettingView(pot=12, bet=194, own=0, behind=194, num_bets=1, can_raise=False)
    assert decide(5, spot) == CALL
    assert decide(1, spot) == FOLD
