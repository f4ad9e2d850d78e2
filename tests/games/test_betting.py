"""Betting without cards, against the ACPC rules."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from equilibrist.errors import IllegalActionError, InvalidValueError, RecordError
from equilibrist.games.action import (
    CALL,
    FOLD,
    KEEP,
    RAISE,
    SWAP,
    Action,
    action_name,
    parse_action,
    raise_to,
)
from equilibrist.games.betting import Betting
from equilibrist.games.catalog import get_game
from equilibrist.games.rules import GameRules

NOLIMIT = get_game("holdem-nolimit")
LIMIT = get_game("holdem-limit")
THREE_HANDED = replace(
    NOLIMIT,
    name="three",
    blinds=(50, 100, 0),
    stacks=(1000, 1000, 1000),
    first_players=(2, 0, 0, 0),
)


def play(rules: GameRules, *names: str) -> Betting:
    betting = Betting.start(rules)
    for name in names:
        betting = betting.apply(parse_action(name))
    return betting


def legal(rules: GameRules, *names: str) -> str:
    return str(play(rules, *names).legal_actions())


def test_a_round_opens_with_what_those_still_in_have_put_in() -> None:
    # The first player folds its small blind; the others see the flop for a big blind each.
    betting = play(THREE_HANDED, "c", "f", "c")
    assert (betting.spent, betting.opening) == ((50, 100, 100), 100)
    over = betting.apply(raise_to(1000)).apply(CALL)
    assert over.is_showdown
    assert (over.spent, over.opening) == ((50, 1000, 1000), 1000)


# --- the size of the tree -------------------------------------------------------------------------


def count_nodes(betting: Betting, counts: Counter[tuple[str, int]]) -> None:
    if betting.is_over:
        counts["showdown" if betting.is_showdown else "fold", betting.round] += 1
        return
    counts["decision", betting.round] += 1
    for action in betting.legal_actions().actions:
        after = betting.apply(action)
        counts["continuation", betting.round] += after.round > betting.round
        count_nodes(after, counts)


def per_round(counts: Counter[tuple[str, int]], kind: str) -> list[int]:
    return [counts[kind, number] for number in range(4)]


def test_limit_holdem_tree_has_the_published_counts() -> None:
    # 8 decisions / 7 folds / 7 continuations before the flop, then 10 / 8 / 9 a round.
    counts: Counter[tuple[str, int]] = Counter()
    count_nodes(Betting.start(LIMIT), counts)
    assert per_round(counts, "decision") == [8, 70, 630, 5670]
    assert per_round(counts, "fold") == [7, 7 * 8, 63 * 8, 567 * 8]
    assert per_round(counts, "continuation") == [7, 63, 567, 0]
    assert per_round(counts, "showdown") == [0, 0, 0, 5103]


def test_one_later_round_by_itself_has_ten_decisions() -> None:
    counts: Counter[tuple[str, int]] = Counter()
    count_nodes(Betting.start(LIMIT, round=3, pot=40), counts)
    assert per_round(counts, "decision")[3] == 10
    assert per_round(counts, "fold")[3] == 8
    assert per_round(counts, "showdown")[3] == 9


def test_range_of_skill_caps_leave_3425_leaves_without_preflop_folds() -> None:
    # Range of Skill, caps 2 3 3 3: 245 · 13 + 35 · 6 + 5 · 6 leaves.
    counts: Counter[tuple[str, int]] = Counter()
    count_nodes(Betting.start(replace(LIMIT, max_raises=(2, 3, 3, 3))), counts)
    folds = per_round(counts, "fold")
    assert sum(folds[1:]) + counts["showdown", 3] == 3425


# --- limit ----------------------------------------------------------------------------------------


def test_blinds_do_not_count_as_raises() -> None:
    assert legal(LIMIT, "r", "r") == "f, c, r"
    assert legal(LIMIT, "r", "r", "r") == "f, c"
    assert play(LIMIT, "r", "r", "r", "c").spent == (40, 40)


def test_the_big_blind_may_raise_after_a_call() -> None:
    betting = play(LIMIT, "c")
    assert betting.actor == 0
    assert str(betting.legal_actions()) == "c, r"


def test_a_limit_raise_beyond_the_stack_is_all_in() -> None:
    short = replace(LIMIT, stacks=(200, 24))
    betting = play(short, "r")
    assert betting.spent == (10, 20)
    assert betting.to_call == 10
    betting = betting.apply(RAISE)
    assert betting.spent == (30, 20)
    assert betting.to_call == 4
    assert str(betting.legal_actions()) == "f, c"
    assert betting.apply(CALL).text == "rrc///"


# --- no-limit -------------------------------------------------------------------------------------


def test_smallest_raise_is_the_big_blind_or_the_last_raise() -> None:
    assert legal(NOLIMIT) == "f, c, r200–r20000"
    assert legal(NOLIMIT, "r300") == "f, c, r500–r20000"
    assert legal(NOLIMIT, "r300", "r900") == "f, c, r1500–r20000"
    assert legal(NOLIMIT, "r300", "c") == "c, r400–r20000"  # a new round: one big blind again
    assert legal(NOLIMIT, "r300", "c", "r1000") == "f, c, r1700–r20000"


def test_a_raise_below_the_smallest_or_above_the_stack_is_illegal() -> None:
    betting = play(NOLIMIT, "r300")
    for amount in (-5, 0, 299, 300, 499, 20001, 2**40):
        action = Action("r", amount)
        assert not betting.can(action)
        with pytest.raises(IllegalActionError) as caught:
            betting.apply(action)
        assert caught.value.value == action_name(action)
        assert caught.value.position == 1
        assert "legal are f, c, r500–r20000" in str(caught.value)
    assert betting.can(raise_to(500))
    assert betting.can(raise_to(20000))


def test_short_all_in_is_a_legal_raise() -> None:
    short = replace(NOLIMIT, stacks=(20000, 400))
    assert legal(short, "r300", "r500") == "f, c"  # 500 is above the stack: call all-in for 400
    assert play(short, "r300", "r500").to_call == 100
    short = replace(NOLIMIT, stacks=(650, 20000))
    assert legal(short, "r300", "r500") == "f, c, r700–r20000"
    assert legal(short, "r400") == "f, c, r650"  # a full raise would be to 700
    assert legal(short, "r400", "r650") == "f, c"


def test_nobody_raises_an_all_in_opponent() -> None:
    assert legal(NOLIMIT, "r20000") == "f, c"
    unequal = replace(NOLIMIT, stacks=(1000, 20000))
    assert legal(unequal, "c", "r1000") == "f, c"


def test_an_all_in_call_leaves_the_remaining_rounds_without_betting() -> None:
    betting = play(NOLIMIT, "r20000", "c")
    assert betting.text == "r20000c///"
    assert betting.round == 3
    assert betting.is_showdown
    assert play(NOLIMIT, "c", "c", "r20000", "c").text == "cc/r20000c//"


def test_unmatched_chips_go_back() -> None:
    betting = play(replace(NOLIMIT, stacks=(20000, 700)), "c", "r5000", "c")
    assert betting.spent == (5000, 700)
    assert betting.payoffs((1, 2)) == (-700, 700)
    assert betting.payoffs((2, 1)) == (700, -700)
    assert betting.payoffs((1, 1)) == (0, 0)


def test_a_blind_may_take_the_whole_stack() -> None:
    rules = replace(NOLIMIT, stacks=(100, 50))
    assert Betting.start(rules).is_showdown
    assert Betting.start(rules).payoffs((0, 1)) == (-50, 50)
    lone = Betting.start(replace(NOLIMIT, stacks=(100, 20000)))
    assert str(lone.legal_actions()) == "f, c"
    assert lone.apply(CALL).text == "c///"


# --- folding, the end, discards -------------------------------------------------------------------


def test_fold_is_legal_only_when_it_saves_money() -> None:
    assert not play(LIMIT, "c").can(FOLD)
    assert not play(LIMIT, "c", "c").can(FOLD)
    with pytest.raises(
        IllegalActionError, match=r"f folds without facing a bet in holdem-limit 'c'"
    ):
        play(LIMIT, "c", "f")
    assert play(LIMIT, "f").payoffs() == (5, -5)


@pytest.mark.parametrize("action", [FOLD, CALL, RAISE, raise_to(300), SWAP, KEEP])
def test_nothing_is_legal_after_the_end(action: Action) -> None:
    betting = play(LIMIT, "r", "f")
    assert betting.actor is None
    assert betting.to_call == betting.min_raise_to == betting.max_raise_to == 0
    with pytest.raises(IllegalActionError, match="comes after the end"):
        betting.apply(action)


def test_each_kind_of_betting_refuses_the_raises_of_the_other() -> None:
    with pytest.raises(IllegalActionError, match="limit raises have no amount"):
        play(LIMIT, "r20")
    with pytest.raises(IllegalActionError, match="below the smallest raise r200"):
        play(NOLIMIT, "r")


def test_discard_turns_open_flop_and_turn_big_blind_first() -> None:
    rules = get_game("discard-holdem")
    betting = play(rules, "c", "c")
    assert betting.actor == 0
    assert betting.is_discarding
    assert betting.legal_actions().actions == (KEEP, SWAP)
    assert not betting.can(CALL)
    betting = betting.apply(SWAP)
    assert betting.actor == 1
    betting = betting.apply(KEEP)
    assert (betting.actor, betting.is_discarding) == (0, False)
    assert not betting.can(SWAP)
    river = play(rules, "c", "c", "d", "k", "c", "c", "k", "d", "c", "c")
    assert (river.text, river.is_discarding) == ("cc/dkcc/kdcc/", False)


def test_all_in_players_still_discard() -> None:
    betting = play(get_game("discard-holdem"), "r200", "c")
    assert betting.is_discarding
    for action in (SWAP, KEEP, KEEP, SWAP):
        betting = betting.apply(action)
    assert betting.is_showdown
    assert betting.text == "r200c/dk/kd/"


# --- more than two players ------------------------------------------------------------------------


def test_three_players_act_in_turn_and_a_raise_asks_everyone_again() -> None:
    betting = play(THREE_HANDED, "c", "c")
    assert betting.to_act == (1,)
    betting = betting.apply(raise_to(300))
    assert betting.to_act == (2, 0)
    betting = betting.apply(FOLD).apply(CALL)
    assert (betting.round, betting.to_act, betting.spent) == (1, (0, 1), (300, 300, 100))


def test_a_short_all_in_may_be_raised_again_by_the_third_player() -> None:
    rules = replace(THREE_HANDED, stacks=(150, 1000, 1000))
    betting = play(rules, "c", "r150")
    assert str(betting.legal_actions()) == "f, c, r200–r1000"
    assert betting.apply(raise_to(400)).to_act == (2,)


def test_side_pots_are_contested_by_the_players_that_paid_for_them() -> None:
    rules = replace(THREE_HANDED, stacks=(200, 500, 1000))
    betting = play(rules, "r1000", "c", "c")
    assert betting.is_showdown
    assert betting.spent == (200, 500, 1000)
    assert betting.payoffs((3, 2, 1)) == (400, 100, -500)
    assert betting.payoffs((1, 2, 2)) == (-200, 100, 100)
    assert betting.payoffs((2, 1, 2)) == (100, -500, 400)


def test_odd_chips_of_a_split_go_to_the_lowest_player() -> None:
    rules = replace(THREE_HANDED, blinds=(1, 2, 0))
    betting = play(rules, "c", "c", "c", "c", "c", "r5", "f", "c", "c", "c", "c", "c")
    assert betting.spent == (2, 5, 5)
    assert betting.payoffs((9, 1, 1)) == (-2, 1, 1)
    betting = play(rules, "r4", "f", "c", "c", "c", "c", "c", "c", "c")
    assert betting.spent == (1, 4, 4)
    assert betting.payoffs((0, 1, 1)) == (-1, 1, 0)


# --- starting later, text, values -----------------------------------------------------------------


def test_a_later_round_starts_with_an_equal_share_of_the_pot() -> None:
    river = Betting.start(NOLIMIT, round=3, pot=200)
    assert (river.spent, river.actor, river.pot) == ((100, 100), 0, 200)
    assert str(river.legal_actions()) == "c, r200–r20000"
    assert Betting.start(LIMIT, round=1).spent == (10, 10)


@pytest.mark.parametrize(("round", "pot"), [(4, 20), (-1, 20), (3, 21), (3, -2), (3, 50000)])
def test_an_impossible_start_is_refused(round: int, pot: int) -> None:
    with pytest.raises(InvalidValueError) as caught:
        Betting.start(NOLIMIT, round=round, pot=pot)
    assert caught.value.value in (round, pot)


def test_payoffs_need_the_end_and_strengths() -> None:
    with pytest.raises(InvalidValueError, match="not over"):
        play(LIMIT, "c").payoffs()
    with pytest.raises(InvalidValueError, match="strengths"):
        play(get_game("kuhn"), "c", "c").payoffs()


@pytest.mark.parametrize("text", ["f", "c", "r", "r1", "r2147483647", "d", "dAs", "k"])
def test_actions_round_trip_through_their_text(text: str) -> None:
    assert action_name(parse_action(text)) == text


@pytest.mark.parametrize(
    "text", ["", "x", "F", "cc", "r-5", "r5.5", "r 5", "c5", "dd", "d2", "r" + "9" * 5000, "r٥"]
)
def test_text_that_is_not_an_action_is_refused(text: str) -> None:
    with pytest.raises(RecordError, match="is not an action") as caught:
        parse_action(text)
    assert caught.value.value == text
    assert len(str(caught.value)) < 200


def donk(betting: Betting) -> tuple[int | None, int | None, bool]:
    """Return the actor, the aggressor, and whether a bet would be a donk bet."""
    return betting.actor, betting.aggressor, betting.is_donk


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", (1, None, False)),
        ("c c /", (0, None, False)),
        ("r200 c /", (0, 1, True)),
        ("r200 c / c", (1, 1, False)),
        ("r200 c / r400", (1, None, False)),
        ("c r200 c /", (0, 0, False)),
        ("c r200 c / c", (1, 0, False)),
        ("r200 c / c c /", (0, None, False)),
        ("r200 c / r400 c /", (0, 0, False)),
        ("r200 c / r400 r900 c /", (0, 1, True)),
    ],
)
def test_a_donk_bet_is_a_callers_bet_before_the_last_raiser_acts(text, expected) -> None:
    assert donk(play(NOLIMIT, *text.replace("/", "").split())) == expected


def test_discard_turns_come_before_a_donk_bet_and_do_not_end_it() -> None:
    rules = get_game("discard-holdem")
    assert donk(play(rules, "r4", "c")) == (0, 1, False)
    assert donk(play(rules, "r4", "c", "k", "d")) == (0, 1, True)


def test_with_three_players_a_donk_bet_is_into_a_raiser_who_is_still_in() -> None:
    betting = play(THREE_HANDED, "r300", "c", "c")
    assert donk(betting) == (0, 2, True)
    assert donk(betting.apply(CALL)) == (1, 2, True)
    assert donk(betting.apply(CALL).apply(CALL)) == (2, 2, False)
    assert donk(play(THREE_HANDED, "c", "c", "r300", "c", "c", "c", "c")) == (2, 1, False)
