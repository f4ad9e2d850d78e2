"""Tests of the local best response: its ranges, its actions in simple spots, and bounds."""

import itertools
from collections import Counter

import numpy as np
import pytest

from equilibrist.cards.card import parse_cards
from equilibrist.cards.hand import hand_index, hand_table, parse_class
from equilibrist.errors import InvalidValueError, ParseError
from equilibrist.games.action import CALL, KEEP, Action, action_name, raise_to
from equilibrist.games.catalog import get_game
from equilibrist.games.notation import parse_state
from equilibrist.papers.ectomynx.betting_lines import BB, BU
from equilibrist.papers.ectomynx.decision_game import num_rows
from equilibrist.papers.ectomynx.decision_player import DecisionPlayer
from equilibrist.papers.ectomynx.level_player import LevelPlayer
from equilibrist.papers.ectomynx.level_weights import line_block, random_start
from equilibrist.papers.ectomynx.local_best_response import LocalBestResponse
from equilibrist.play.match import play_match
from equilibrist.players.catalog import make_player
from equilibrist.players.player import View

GAME = get_game("discard-holdem")
SPOTS = [
    "MATCHSTATE:1:0::|{}",
    "MATCHSTATE:0:0:c:{}|",
    "MATCHSTATE:1:0:r6r18:|{}",
    "MATCHSTATE:0:0:r6c/kk:{}|/3d3hTs",
    "MATCHSTATE:0:0:r6c/kkcr14:{}|/3d3hTs",
    "MATCHSTATE:1:0:r6c/kkr14:|{}/3d3hTs",
    "MATCHSTATE:1:0:r6c/kkcr14c/kkr34:|{}/3d3hTs/Ac",
    "MATCHSTATE:0:0:cc/kkcc/kkcc/cr4:{}|/3d3hTs/Ac/4d",
]


def view(line: str) -> View:
    return View(*parse_state(GAME, line))


def even(*probabilities: float) -> np.ndarray:
    return np.tile(np.array(probabilities, np.float32), (num_rows(), 1))


@pytest.mark.parametrize("spot", SPOTS)
@pytest.mark.parametrize("hand", ["Jh5c", "QcQd", "9c8c"])
def test_bet_probabilities_equal_the_mixture_of_the_player(spot: str, hand: str) -> None:
    probabilities = np.random.default_rng(1).random((num_rows(), 4)).astype(np.float32)
    player, seen = DecisionPlayer(GAME, probabilities), view(spot.format(hand))
    holes = np.array([parse_cards(hand), parse_cards("KcKd")], np.uint8)
    found = player.bet_probabilities(seen.betting, seen.board, holes)
    assert {action: probability[0] for action, probability in found} == pytest.approx(
        dict(player.mixture(seen)), abs=1e-6
    )
    assert sum(probability for _, probability in found) == pytest.approx(np.ones(2))


@pytest.mark.parametrize("hand", ["Jh5c", "QcQd", "9c8c", "Th4h"])
def test_swap_probabilities_equal_the_mixture_of_the_player(hand: str) -> None:
    probabilities = np.random.default_rng(1).random((num_rows(), 4)).astype(np.float32)
    for line in ("MATCHSTATE:0:0:r6c/:{}|/3d3hTs", "MATCHSTATE:1:0:r6c/kkcr14c/k:|{}/3d3hTs/Ac"):
        player, seen = DecisionPlayer(GAME, probabilities), view(line.format(hand))
        holes = np.array([parse_cards(hand)], np.uint8)
        found = player.swap_probabilities(seen.betting, seen.board, holes)[0]
        expected = dict(player.mixture(seen))
        swaps = [KEEP, *(Action("d", card=int(card)) for card in holes[0])]
        assert found == pytest.approx([expected.get(action, 0) for action in swaps], abs=1e-6)


@pytest.mark.parametrize("spot", SPOTS)
def test_probabilities_of_levels_are_their_frequencies(spot: str) -> None:
    """Count only draws whose level agrees with the street's earlier actions."""
    weights = np.array([random_start(BB, 1), random_start(BU, 1)])
    player, seen = LevelPlayer(GAME, weights), view(spot.format("QcQd"))
    earlier = [cut for cut in ("r6r18", "cr14", "cr4") if seen.betting.text.endswith(cut)]
    holes = np.array([parse_cards("QcQd")], np.uint8)
    found = {a: c[0] for a, c in player.bet_probabilities(seen.betting, seen.board, holes)}
    drawn: Counter[Action] = Counter()
    for _ in range(1500):
        player._key = None
        if earlier:  # the street's first action, by the level that holds for the whole street
            start = spot.format("QcQd").replace(earlier[0], "")
            first = view(start)
            taken = {"r6r18": raise_to(6)}.get(earlier[0], CALL)
            if player.act(first) != taken:
                continue
        drawn[player.act(seen)] += 1
    total = sum(drawn.values())
    for action, probability in found.items():
        assert drawn[action] / total == pytest.approx(probability, abs=4.5 * 0.5 / total**0.5)
    assert sum(found.values()) == pytest.approx(1)


def test_its_range_is_what_the_strategy_allows() -> None:
    # BU raises with aces and kings, twice as often with aces; all other hands fold.
    weights = np.array([random_start(BB, 1), random_start(BU, 1)])
    rows = line_block(weights[BU], 0)
    rows[:] = (1, 0, 0, 0, 0, 0)
    rows[parse_class("AA")] = (0.2, 0, 0.8, 0, 0, 0)
    rows[parse_class("KK")] = (0.6, 0, 0.4, 0, 0, 0)
    response = LocalBestResponse(GAME, LevelPlayer(GAME, weights))
    found = response.hands_of_other(view("MATCHSTATE:0:0:r6:AhKd|"))
    assert np.count_nonzero(found) == 3 + 3  # an ace and a king are ours
    ratio = found[hand_index(*parse_cards("AcAs"))] / found[hand_index(*parse_cards("KcKs"))]
    assert ratio == pytest.approx(2)
    assert found.sum() == pytest.approx(1)


def test_a_swap_leaves_the_other_card_and_any_new_one() -> None:
    # Only 72 offsuit continues, and swaps the deuce on a flop without either card.
    weights = np.array([random_start(BB, 1), random_start(BU, 1)])
    rows = line_block(weights[BU], 0)
    rows[:] = (1, 0, 0, 0, 0, 0)
    rows[parse_class("72o")] = (0, 1, 0, 0, 0, 0)
    response = LocalBestResponse(GAME, LevelPlayer(GAME, weights))
    found = response.hands_of_other(view("MATCHSTATE:0:0:cc/kd:AhKd|/JdTh4s"))
    # Every 72 offsuit, with every unseen card except the discarded deuce.
    seen, expected = {*parse_cards("AhKd"), *parse_cards("JdTh4s")}, np.zeros(len(hand_table()))
    for seven, deuce in itertools.product(parse_cards("7c7d7h7s"), parse_cards("2c2d2h2s")):
        if seven % 4 != deuce % 4:
            for card in set(range(52)) - seen - {seven, deuce}:
                expected[hand_index(seven, card)] += 1
    np.testing.assert_allclose(found, expected / expected.sum(), atol=1e-15)


def test_discarded_cards_do_not_come_again() -> None:
    # Kings full against queens: only the ace of spades could split the pot, and it was discarded.
    seen = view("MATCHSTATE:0:0:r6c/dkcc/kk:AsKh~AsKd|/AhAdAc/Ks")
    theirs = np.tile(np.array(parse_cards("QcQd"), np.uint8), (2000, 1))
    response = LocalBestResponse(GAME, LevelPlayer(GAME))
    assert (response._play_out(seen, theirs) == 1).all()


RIVER = "MATCHSTATE:0:0:r6c/kkcc/kkcc/{}:{}|/AsKsQs/Js/2d"


@pytest.mark.parametrize(
    ("probabilities", "hand", "betting", "action"),
    [
        ((0, 1, 0, 0), "Ts9d", "", "r200"),  # the nuts against a calling player
        ((0, 1, 0, 0), "Ts9d", "cr12", "r200"),
        ((0, 1, 0, 0), "3c4d", "", "c"),  # nothing, against a calling player
        ((0, 1, 0, 0), "3c4d", "cr12", "f"),
        ((1, 0, 0, 0), "3c4d", "", "r12"),  # nothing, against a folding player: any raise works
    ],
)
def test_actions_in_spots_with_a_known_answer(probabilities, hand, betting, action) -> None:
    response = LocalBestResponse(GAME, DecisionPlayer(GAME, even(*probabilities)))
    assert action_name(response.act(view(RIVER.format(betting, hand)))) == action


@pytest.mark.parametrize("probabilities", [(1, 0, 0, 0), (0, 1, 0, 0)])
def test_it_bluffs_folding_players_and_beats_calling_ones(probabilities) -> None:
    other = DecisionPlayer(GAME, even(*probabilities))
    match = play_match(GAME, (LocalBestResponse(GAME, other), other), 150, seed=1)
    assert match.chips.mean() > 1  # a big blind is two chips, a pot of blinds three


def test_opponents_must_report_their_probabilities() -> None:
    assert isinstance(make_player("lbr:ectomynx:first", GAME), LocalBestResponse)
    with pytest.raises(InvalidValueError, match="ectomynx and ectomynx-frc, not to uniform"):
        make_player("lbr:uniform", GAME)
    with pytest.raises(InvalidValueError, match="plays discard-holdem"):
        make_player("lbr:ectomynx:first", get_game("holdem-limit"))
    for name in ("lbr:lbr:ectomynx:first", "lbr:" * 50_000):
        with pytest.raises(InvalidValueError, match="not to lbr; write lbr:ectomynx"):
            make_player(name, GAME)
    with pytest.raises(ParseError, match="lbr needs options: lbr:PLAYER"):
        make_player("lbr", GAME)
