"""Spots merged by some renamings of suits, compared with brute-force orbits and separate cards.

Only a board of one suit or of trips leaves more than one swap of suits alone, so only there can
ranges leave some of the renamings alone and not all.
"""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from equilibrist.cards.card import cards_name
from equilibrist.cards.hand import hand_table
from equilibrist.errors import InvalidValueError
from equilibrist.games.catalog import get_game
from equilibrist.models.spot import Chips, Spot
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import CFR
from equilibrist.solving.forecast import count_states, spot_forecast
from equilibrist.solving.solve import Budget, solve
from equilibrist.solving.spot_run import solver
from equilibrist.strategies.behaviour_table import find_board
from equilibrist.strategies.spot_report import Answers, WholePlans

ROYAL = replace(get_game("holdem-nolimit"), name="royal-nolimit", num_ranks=5)
# Odd weights and sizes: rounding errors would break exact ties differently in the two games.
SWAP = ("AcKc:0.371,AA:0.83,JJ:0.617,QJs:0.291,KTo:0.517", "AQ:0.413,KK:0.973,JTo:0.7519")
ROTATION = ("AcKd:0.371,AdKh:0.371,AhKc:0.371,QJs:0.291,JJ:0.617", SWAP[1])
EVEN = ("AA:0.83,JJ:0.617,QJs:0.291,KTo:0.517,AKs:0.37", SWAP[1])
TRIPS = ("AcQc:0.371,AsQs:0.6,AJ:0.83,QJs:0.291", "AQ:0.413,JTo:0.7519")
TURN = "AsKsQsTs"


def royal(board, ranges, *locks):
    chips = Chips(38, 87)
    spot = Spot.of(board, *ranges, chips, game=ROYAL, bets="57%", raises="a")
    return spot.with_locks(locks)


SPOTS = {
    "swap": royal(TURN, SWAP),  # diamonds and hearts may be swapped
    "rotation": royal(TURN, ROTATION),  # clubs, diamonds and hearts may change in a circle
    "locks": royal(TURN, EVEN, "c: r22=QJs:0.37,JcJh:0.519,JdJh:0.519", "r22: f=0.31; r87=KQ:0.3"),
    "flop": royal("KsKhKd", TRIPS),
}


def orbit_names(group, deals, hand):
    """Return all images of the deals of a board and a hand, as sets of cards."""
    images = set()
    for suits in group:
        move = [4 * (card // 4) + suits[card % 4] for card in range(52)]
        images.add(tuple(frozenset(move[card] for card in part) for part in (*deals, hand)))
    return frozenset(images)


def brute_group(spot):
    """Return the renamings of all 24 that keep the board, both ranges and the locks."""
    cards, hands = spot.cards, hand_table().tolist()
    tables = [own.weights for own in spot.ranges]
    tables += [row for lock in spot.parsed_locks for row in lock.probabilities]
    deck = set(spot.game.deck.cards) - set(cards)
    live = {frozenset(hand): i for i, hand in enumerate(hands) if set(hand) <= deck}
    found = []
    for suits in itertools.permutations(range(4)):
        move = [4 * (card // 4) + suits[card % 4] for card in range(52)]
        if any({move[c] for c in deal} != set(deal) for deal in (cards[:3], cards[3:])):
            continue
        images = [(i, live[frozenset(move[c] for c in hand)]) for hand, i in live.items()]
        if all(table[i] == table[j] for table in tables for i, j in images):
            found.append(suits)
    return found


@pytest.mark.parametrize("name", SPOTS)
def test_boards_and_hands_are_merged_exactly_by_the_orbits_of_the_group(name):
    spot = SPOTS[name]
    states, group = spot.states, brute_group(spot)
    assert list(states.group) == group
    assert 1 < len(group) < 6
    deck, held = spot.game.deck.cards, np.logical_or(*(own.weights for own in spot.ranges))
    hands = hand_table().tolist()
    for r in range(min(2, len(states.boards))):
        left = [card for card in deck if card not in spot.cards]
        found = {}  # (stored board, state) of every orbit of raw boards and hands
        for dealt in itertools.combinations(left, r):
            cards = (*spot.cards, *dealt)
            b, asked, renaming = find_board(
                spot.game, states, r, cards_name(cards), spot.first_round
            )
            assert asked == cards
            back = np.argsort(renaming)
            for h in np.flatnonzero(held):
                if set(hands[h]) & set(cards) or not set(hands[h]) <= set(deck):
                    continue
                low, high = sorted(int(back[card]) for card in hands[h])
                state = int(states.state_of_hand[r][b][high * (high - 1) // 2 + low])
                deals = (cards[:3], cards[3:4], cards[4:])
                found.setdefault(orbit_names(group, deals, hands[h]), set()).add((b, state))
        assert all(len(places) == 1 for places in found.values())
        places = [next(iter(places)) for places in found.values()]
        assert len(set(places)) == len(places) == states.num_states[r].sum()
        assert states.multiplicity[r].sum() == len(list(itertools.combinations(left, r)))


@pytest.mark.parametrize("name", SPOTS)
def test_every_state_has_one_parent(name):
    states = SPOTS[name].states
    for r in range(1, len(states.boards)):
        start = np.cumsum([0, *states.num_states[r]])
        for b, above in enumerate(states.board_parent[r]):
            assert set(states.boards[r][b].tolist()) > set(states.boards[r - 1][above].tolist())
            own, parent = states.state_of_hand[r][b], states.state_of_hand[r - 1][above]
            live = own >= 0
            np.testing.assert_array_equal(
                states.state_parent[r][start[b] + own[live]], parent[live]
            )


@pytest.mark.parametrize("name", ["swap", "rotation", "locks"])
def test_merged_and_separate_suits_have_the_same_curve(name):
    spot = SPOTS[name]
    curves = []
    for found in (spot.build(), spot.build("cards")):
        run = solve(found.game, CFR(), Budget(iterations=30, every=10))
        curves.append([(row.evaluation.value, *row.evaluation.best_response) for row in run.trace])
    np.testing.assert_allclose(curves[0], curves[1], rtol=1e-9, atol=1e-9)
    assert sum(spot.build().game.lengths) < 0.7 * sum(spot.build("cards").game.lengths)


def test_table_cfr_has_the_same_curve_with_merged_and_separate_suits():
    """In float64, because rounding errors of float32 grow from iteration to iteration."""
    spot, curves, by = SPOTS["swap"], [], replace(solver("cfr+", 32), bits=64)
    for found in (spot.build(), spot.build("cards")):
        state = by.init(found.game)
        curves.append([])
        for _ in range(2):
            by.step(found.game, state, 20)
            row = by.evaluate(found.game, state)
            curves[-1].append((row.value, *row.best_response))
    np.testing.assert_allclose(curves[0], curves[1], atol=1e-9)


def test_uniform_play_on_a_flop_has_the_same_value_with_merged_and_separate_suits():
    spot, found = SPOTS["flop"], []
    for built in (spot.build(), spot.build("cards")):
        game = built.game
        found.append(evaluate(game, tuple(game.realize(p, game.uniform(p)) for p in (0, 1))))
    assert found[0].value == pytest.approx(found[1].value, abs=1e-9)
    assert found[0].best_response == pytest.approx(found[1].best_response, abs=1e-9)


def test_answers_are_in_the_suits_of_the_question():
    """Both games are in step, so that every answer must be the same on each river."""
    spot, answers = SPOTS["swap"], []
    for found in (spot.build(), spot.build("cards")):
        state = CFR().init(found.game)
        CFR().step(found.game, state, 20)
        plans = CFR().plans(found.game, state)
        answers.append(Answers(spot, found, WholePlans(found.game, plans)))
    assert len(answers[0].subgame.states.boards[1]) == 11  # of 16: diamonds and hearts are merged
    for runout in ("Jd", "Jh", "Jc", "Td", "Th"):
        one, other = (own.at("r22c/", runout) for own in answers)
        assert one.board == other.board == TURN + runout
        np.testing.assert_array_equal(one.hands, other.hands)
        np.testing.assert_allclose(one.probabilities, other.probabilities, atol=1e-9)
        np.testing.assert_allclose(one.values, other.values, atol=1e-6)
        np.testing.assert_allclose(one.equity, other.equity, atol=1e-6)


def test_the_forecast_counts_merged_states():
    spot = SPOTS["swap"]
    apart = spot_forecast(spot, num_states=count_states(spot.build("cards").states))
    assert spot_forecast(spot).actions < 0.7 * apart.actions


def test_all_suits_cannot_be_demanded_if_ranges_distinguish_some():
    with pytest.raises(InvalidValueError, match="use the symmetry cards"):
        SPOTS["swap"].build("suits")
