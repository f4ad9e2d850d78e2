"""Tests of streets of players with levels: the report's examples and the rules of the game."""

import itertools

import pytest

from equilibrist.games.action import CALL, KEEP, raise_to
from equilibrist.games.betting import Betting
from equilibrist.games.catalog import get_game
from equilibrist.papers.ectomynx.bet_levels import bet_level
from equilibrist.papers.ectomynx.betting_lines import (
    BB,
    BU,
    STACK,
    Mark,
    StreetEnd,
    all_lines,
    highest_level,
    play_street,
)


def test_level_two_against_level_nine_plays_as_printed() -> None:
    # I.c: "BB selects bet level 2 and BU selects bet level 9 (corresponds to bet level 3, but in
    # the case BB bets)": BB leads, BU raises, BB calls.
    end = play_street(12, 194, bb_slot=2, bu_levels=(0, 9 - 6))
    assert end == StreetEnd(None, (24, 24), played=(2, 2), is_led=True)


def test_the_level_recorded_is_the_level_played() -> None:
    # I.c: BU intended level 4, BB only called the raise: recorded as 2.
    end = play_street(0, STACK, bb_slot=2, bu_levels=(4, 4))
    assert (end.folder, end.amounts, end.played) == (None, (6, 6), (2, 2))
    # IV: BU raises to 6, BB calls; BB checks, BU bets 8, BB folds. BB's slot 5 is check, level 0.
    end = play_street(12, 194, bb_slot=5, bu_levels=(2, 0))
    assert (end.folder, end.amounts, end.played) == (BB, (0, 8), (0, 1))


@pytest.mark.parametrize(
    ("bb", "bu", "folder", "amounts", "played"),
    [
        (3, 0, BU, (2, 1), (-1, 0)),  # BU folds at once: BB has not acted
        (0, 1, None, (2, 2), (1, 1)),  # a limp is checked even by a player that would fold
        (2, 1, BU, (6, 2), (2, 1)),  # raised after a limp
        (1, 2, BB, (2, 6), (0, 2)),
        (3, 3, None, (18, 18), (3, 3)),
        (3, 4, BB, (18, 46), (3, 4)),
        (5, 5, None, (200, 200), (5, 5)),
        (4, 5, None, (46, 46), (4, 4)),
    ],
)
def test_preflop_streets(bb: int, bu: int, folder, amounts, played) -> None:
    end = play_street(0, STACK, bb, (bu, bu))
    assert (end.folder, end.amounts, end.played) == (folder, amounts, played)


def test_there_are_four_hundred_histories_to_the_river() -> None:
    # I.c: "approximately 400 betting histories".
    rivers = [line for line in all_lines() if line.street == 3]
    marks = [
        {Mark(end.is_led, end.level) for end in line.ends.values() if end.folder is None}
        for line in rivers
    ]
    assert sum(map(len, marks)) == 400
    assert [sum(line.street == s for line in all_lines()) for s in range(4)] == [1, 4, 24, 84]


def test_a_mark_says_how_many_chips_went_in() -> None:
    for line in all_lines():
        amounts: dict[Mark, int] = {}
        for end in line.ends.values():
            if end.folder is None:
                assert end.played[BB] == end.played[BU]
                assert end.amounts[BB] == end.amounts[BU]
                mark = Mark(end.is_led, end.level)
                assert amounts.setdefault(mark, end.amounts[BB]) == end.amounts[BB]


def test_no_player_exceeds_the_intended_level() -> None:
    for line in all_lines():
        for (slot, level), end in line.ends.items():
            is_free = line.street == 0 and end.amounts == (2, 2)  # BB sees the flop for free
            assert end.played[BB] <= slot % line.num_levels or is_free
            assert end.played[BU] <= level
            assert end.is_led == line.leads[slot]  # whatever BU intends
            assert not line.leads[slot] or slot in range(1, line.num_levels)


def test_all_bets_are_legal_in_the_game() -> None:
    # The amounts of every street are replayed by the rules of discard-holdem.
    rules = get_game("discard-holdem")
    for line in all_lines():
        betting = Betting.start(rules)
        for mark in line.history:
            betting = _replay(betting, line, mark)
        assert betting.round == line.street
        if line.street:
            assert (betting.pot, betting.stacks_left[0]) == (line.pot, line.behind)
    assert len({line.history for line in all_lines()}) == len(all_lines())


def _replay(betting: Betting, line, mark: Mark) -> Betting:
    """Return bets and raises up to a mark, in the sizes of levels."""
    while betting.is_discarding:
        betting = betting.apply(KEEP)
    street, opening = betting.round, betting.opening
    pot = 0 if street == 0 else betting.pot
    behind = STACK if street == 0 else betting.stacks_left[0]
    top = highest_level(pot, behind)
    end = play_street(
        pot, behind, mark.level + (not mark.is_led and street > 0) * (top + 1), (mark.level,) * 2
    )
    assert end.folder is None
    if street > 0 and not mark.is_led:
        betting = betting.apply(CALL)
    sizes = _sizes(pot, behind, end.amounts[0])
    for size in sizes:
        betting = betting.apply(raise_to(opening + size))
    while betting.round == street and not betting.is_over:
        betting = betting.apply(CALL)
    return betting


def _sizes(pot: int, behind: int, last: int) -> list[int]:
    """Return the bets that lead to a last one."""
    ladder = [6, 18, 46, 200] if pot == 0 else [(2 * pot + 1) // 3 * 3**k for k in range(6)]
    below = [size for size in ladder if size < last]
    own = [2, 1, *below] if pot == 0 else [0, 0, *below]
    kept = [
        s for s, mine in zip(below, own, strict=False) if 10 * (s - mine) <= 6 * (behind - mine)
    ]
    return [*kept, last] if last > (2 if pot == 0 else 0) else []


@pytest.mark.parametrize(("pot", "behind"), [(4, 198), (12, 194), (36, 20), (92, 154), (10, 11)])
def test_streets_end_for_any_pair_of_choices(pot: int, behind: int) -> None:
    top = highest_level(pot, behind)
    for slot, check, bet in itertools.product(range(2 * top + 2), range(top + 1), range(top + 1)):
        end = play_street(pot, behind, slot, (check, bet))
        assert max(end.amounts) <= behind
        assert bet_level(max(end.amounts), pot) <= top
        if end.folder is None:
            assert end.amounts[BB] == end.amounts[BU]
        else:
            assert end.amounts[end.folder] < end.amounts[1 - end.folder]
        if slot > top:
            assert not end.is_led
