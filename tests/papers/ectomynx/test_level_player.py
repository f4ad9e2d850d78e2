"""Tests of EctomynX at the table, against the actions that the report asks for."""

from dataclasses import replace

import numpy as np
import pytest

from equilibrist.cards.card import parse_cards
from equilibrist.errors import InvalidValueError, StorageError
from equilibrist.games.action import CALL, Action
from equilibrist.games.catalog import get_game
from equilibrist.games.notation import parse_state
from equilibrist.papers.ectomynx.betting_lines import BB, BU, all_lines, line_numbers
from equilibrist.papers.ectomynx.level_player import LevelPlayer, history_of, spot_of
from equilibrist.papers.ectomynx.level_training import FixedStrategy, Training, save_training
from equilibrist.papers.ectomynx.level_weights import line_block, num_weights, report_start
from equilibrist.play.match import play_match
from equilibrist.players.catalog import make_player
from equilibrist.players.player import View
from equilibrist.players.static import Mix, Uniform

GAME = get_game("discard-holdem")


def view(line: str) -> View:
    return View(*parse_state(GAME, line))


def slots(slot: int) -> np.ndarray:
    """Return weights of both seats that choose one slot everywhere, if a line has it."""
    weights = np.zeros((2, num_weights()))
    for number, line in enumerate(all_lines()):
        for seat in (BB, BU):
            block = line_block(weights[seat], number)
            block[:, min(slot, line.num_levels - 1)] = 1
            if seat == BU and line.street > 0:
                block[:, line.num_levels + min(slot, line.num_levels - 1)] = 1
    return weights


def test_its_own_bets_lead_only_to_lines_that_exist() -> None:
    match = play_match(GAME, (LevelPlayer(GAME), LevelPlayer(GAME)), 300, seed=1, keep_log=True)
    streets = set()
    for record in match.logs[0].hands:
        betting = record.state.betting
        history = history_of(betting)
        if not betting.is_over or betting.folded != (False, False):
            assert history in line_numbers()
            spot, line = spot_of(betting, BB), all_lines()[line_numbers()[history]]
            assert spot.pot == line.pot
        streets.add(betting.round)
    assert streets == {0, 1, 2, 3}


@pytest.mark.parametrize("level", [0, 5])
def test_a_small_bet_into_a_large_pot_is_called(level: int) -> None:
    # V: "Folding to a bet of 8 when the pot is 384": 192 each before the river, 8 behind.
    seen = view("MATCHSTATE:1:0:r192c/kkcc/kkcc/r200:|Th9h/2c3d4s/7d/Kc")
    assert seen.betting.pot == 392
    assert LevelPlayer(GAME, slots(level)).act(seen) == CALL


def test_it_swaps_by_the_rule() -> None:
    seen = view("MATCHSTATE:0:0:cc/:AcQh|/2c3c5c")
    assert LevelPlayer(GAME).act(seen) == Action("d", card=parse_cards("Qh")[0])


def test_levels_two_and_nine_play_as_printed() -> None:
    # I.c: BB leads, BU raises with the intention of calling a reraise, BB calls.
    flop = "MATCHSTATE:{}:0:r6c/kk{}:{}/Kd7c2s"
    big_blind, button = LevelPlayer(GAME, slots(2)), LevelPlayer(GAME, slots(3))
    assert big_blind.act(view(flop.format(0, "", "Ah9s|"))).amount == 6 + 8
    assert button.act(view(flop.format(1, "r14", "|QhJs"))).amount == 6 + 24
    assert big_blind.act(view(flop.format(0, "r14r30", "Ah9s|"))) == CALL
    assert button.act(view(flop.format(1, "r14r30r78", "|QhJs"))) == CALL


def test_other_sizes_are_read_by_their_level() -> None:
    # 15 into 12 counts as a raise; the turn is looked up in the nearest line.
    seen = view("MATCHSTATE:1:0:r6c/kkr21c/kkc:|QhJs/Kd7c2s/3h")
    assert [mark.level for mark in history_of(seen.betting)] == [2, 2]
    LevelPlayer(GAME).act(seen)


@pytest.mark.parametrize("other", [Uniform(), Mix(0, 1, 0), Mix(0, 0, 1), Mix(0.2, 0.4, 0.4)])
def test_its_actions_are_legal_and_repeatable(other) -> None:
    first, again = (play_match(GAME, (LevelPlayer(GAME), other), 60, seed=3) for _ in range(2))
    assert (first.chips == again.chips).all()


def test_it_plays_the_trained_weights(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    settings = FixedStrategy(hands=1, start="random", seed=8)
    run = Training.begin(settings)
    with pytest.raises(StorageError, match=r"`equilibrist train ectomynx`.*; ectomynx:first"):
        make_player("ectomynx", GAME)
    first = make_player("ectomynx:first", GAME)
    assert isinstance(first, LevelPlayer)
    np.testing.assert_array_equal(first.weights[BU], report_start(BU))
    for folder, text in (("bots/ectomynx", "ectomynx"), ("mine", "ectomynx:mine")):
        save_training(tmp_path / folder, settings, run)
        player = make_player(text, GAME)
        assert isinstance(player, LevelPlayer)
        np.testing.assert_array_equal(player.weights, run.weights)


def test_games_it_was_not_trained_for_are_refused() -> None:
    deep = replace(GAME, stacks=(400, 400))
    for rules in (deep, get_game("holdem-nolimit"), get_game("holdem-limit")):
        with pytest.raises(InvalidValueError, match="stacks of 200 and blinds of 1 and 2, not"):
            LevelPlayer(rules)
