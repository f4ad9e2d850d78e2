"""Tests of `ectomynx-frc` at the table: how it reads bets, and that its actions are legal."""

from dataclasses import replace

import numpy as np
import pytest

from equilibrist.cards.card import parse_cards
from equilibrist.errors import InvalidValueError, StorageError
from equilibrist.games.action import CALL, KEEP, Action, raise_to
from equilibrist.games.catalog import get_game
from equilibrist.games.notation import parse_betting, parse_state
from equilibrist.papers.ectomynx.decision_game import num_rows
from equilibrist.papers.ectomynx.decision_player import DecisionPlayer, position_of
from equilibrist.papers.ectomynx.decision_training import (
    Decisions,
    DecisionTraining,
    save_training,
    strategy_of_run,
)
from equilibrist.play.match import play_match
from equilibrist.players.catalog import make_player
from equilibrist.players.player import View
from equilibrist.players.static import Mix, Uniform

GAME = get_game("discard-holdem")
DRY, WET = parse_cards("9s6h2d"), parse_cards("QsJsTs")


def view(line: str) -> View:
    return View(*parse_state(GAME, line))


def always(action: int) -> np.ndarray:
    probabilities = np.zeros((num_rows(), 4), np.float32)
    probabilities[:, action] = 1
    return probabilities


@pytest.mark.parametrize(
    ("betting", "position"),
    [
        ("", 0),
        ("c", 1),
        ("r6", 5),
        ("r15", 5),  # nearer to 6 than to 46, of those that BB faces
        ("r60", 7),
        ("r100", 8),  # nearer to all chips than to 46
        ("r200", 8),
        ("cr6", 2),
        ("cr200", 9),
        ("r6r18", 6),
        ("r6r200", 8 + 5),
        ("r6r18r200", 8 + 6),
        ("r6c/kk", 0),
        ("r6c/kkc", 1),
        ("r6c/kkr8", 1),  # 2 into 12 is a check
        ("r6c/kkr13", 2),
        ("r6c/kkr13r31", 3),
        ("r6c/kkcr13", 5),
        ("r6c/kkr200", 8),
        ("r6c/kkcr200", 9),
        ("r6c/kkr8r200", 9),  # all chips over what is a check
        ("r6c/kkr13r200", 8 + 2),
        ("r6c/kkr150r200", 8 + 1),  # all chips over what was read as all chips
        ("r6c/kkcr13r31", 6),
    ],
)
def test_bets_are_read_as_the_nearest_position(betting: str, position: int) -> None:
    assert position_of(parse_betting(GAME, betting), DRY if "/" in betting else ()) == position


def test_bets_are_larger_on_wet_boards() -> None:
    # V: 1.0 · pot where wetness and volatility are highest, 0.6 on 962: low wetness, some change.
    raiser = DecisionPlayer(GAME, always(3))
    amounts = [
        raiser.act(view(f"MATCHSTATE:0:0:r6c/kk:Ah9s|/{board}")).amount - 6
        for board in ("QsJsTs", "9c6h2d")
    ]
    assert amounts == [12, 7]


def test_a_small_bet_into_a_large_pot_is_never_folded_to() -> None:
    seen = view("MATCHSTATE:1:0:r192c/kkcc/kkcc/r200:|Th9h/2c3d4s/7d/Kc")
    for action in range(4):
        assert DecisionPlayer(GAME, always(action)).act(seen) == CALL


def test_swaps_are_decisions() -> None:
    seen = view("MATCHSTATE:0:0:cc/:AcQh|/2c3c5c")
    ace, queen = parse_cards("AcQh")
    expected = (KEEP, Action("d", card=queen), Action("d", card=ace))
    assert tuple(DecisionPlayer(GAME, always(a)).act(seen) for a in range(3)) == expected
    all_in = view("MATCHSTATE:0:0:r200c/:AcQh|/2c3c5c")
    for action in range(3):  # as in training
        assert DecisionPlayer(GAME, always(action)).act(all_in) == expected[1]


def test_it_acts_by_its_mixture() -> None:
    probabilities = np.tile(np.array([0.2, 0.3, 0.1, 0.4], np.float32), (num_rows(), 1))
    player = DecisionPlayer(GAME, probabilities)
    assert dict(player.mixture(view("MATCHSTATE:1:0::|Th9h"))) == pytest.approx(
        {Action("f"): 0.2, CALL: 0.3, raise_to(200): 0.1, raise_to(6): 0.4}
    )
    assert dict(player.mixture(view("MATCHSTATE:0:0:c:Th9h|"))) == pytest.approx(
        {CALL: 3 / 8, raise_to(200): 1 / 8, raise_to(6): 4 / 8}
    )
    # A raise would be over 60 % of the chips behind: all-in or no raise.
    late = "MATCHSTATE:0:0:r80c/kk:Th9h|/2c3d4s"
    assert dict(player.mixture(view(late))) == pytest.approx({CALL: 3 / 4, raise_to(200): 1 / 4})


@pytest.mark.parametrize("other", [Uniform(), Mix(0, 1, 0), Mix(0, 0, 1), Mix(0.2, 0.4, 0.4)])
def test_its_actions_are_legal_and_repeatable(other) -> None:
    probabilities = np.random.default_rng(1).random((num_rows(), 4)).astype(np.float32)
    players = DecisionPlayer(GAME, probabilities), other
    first, again = (play_match(GAME, players, 60, seed=3) for _ in range(2))
    assert (first.chips == again.chips).all()


def test_it_plays_the_trained_strategy(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StorageError, match="run `equilibrist train ectomynx-frc`"):
        make_player("ectomynx-frc", GAME)
    settings = Decisions(seed=8)
    run = DecisionTraining.begin(settings)
    run.average[:] = np.random.default_rng(1).random(run.average.shape)
    save_training(tmp_path / "bots/ectomynx-frc", settings, run)
    player = make_player("ectomynx-frc", GAME)
    assert isinstance(player, DecisionPlayer)
    np.testing.assert_array_equal(player.probabilities, strategy_of_run(settings, run))


def test_games_it_was_not_trained_for_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="ectomynx-frc plays discard-holdem with stacks of"):
        DecisionPlayer(replace(GAME, stacks=(400, 400)))
