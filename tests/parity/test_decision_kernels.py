"""Compiled hands of `ectomynx-frc` compared with its player at a table with the game's rules."""

import numpy as np
import pytest

from equilibrist.cards.card import parse_cards
from equilibrist.games.action import CALL, FOLD
from equilibrist.games.catalog import get_game
from equilibrist.games.notation import parse_betting
from equilibrist.games.state import Deal, HandState
from equilibrist.kernels.array_structs import SwapDeal
from equilibrist.kernels.parts import kernel
from equilibrist.papers.ectomynx.betting_lines import BB, BU
from equilibrist.papers.ectomynx.decision_game import bet_row, decision_game, even, num_rows
from equilibrist.papers.ectomynx.decision_lines import SHOVES, actor_of, decision_lines
from equilibrist.papers.ectomynx.decision_player import DecisionPlayer
from equilibrist.papers.ectomynx.kernels import decision_matches, decisions, swap_deals
from equilibrist.players.player import View

pytestmark = pytest.mark.kernels

GAME = get_game("discard-holdem")
GOLDEN, WORD = 0x9E3779B97F4A7C15, 2**64
COUNT = 250


# Python cannot call parts, so each gets a kernel of its own here.


@kernel(cache=False)
def deal_hand(*arguments):
    swap_deals.deal_hand(*arguments)


@kernel(cache=False)
def play_hand(*arguments):
    return decision_matches.play_hand(*arguments)


@kernel(cache=False)
def walk(*arguments):
    return decisions.walk(*arguments)


def mix(word: int) -> int:
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % WORD
    return word ^ (word >> 31)


def cards_of(word: int) -> list[int]:
    """Return the thirteen cards of a deal, in the order of `deal_hand`."""
    cards: list[int] = []
    while len(cards) < 13:
        word = (word + GOLDEN) % WORD
        card = (mix(word) >> 32) * 52 >> 32
        if card not in cards:
            cards.append(card)
    return cards


def nearly_pure(seed: int) -> np.ndarray:
    """Return scores [R, 4] of one action and almost never another; a call where it is illegal."""
    random = np.random.default_rng(seed)
    scores = np.full((num_rows(), 4), 1e-24, np.float32)
    scores[:, 1] = 1e-12
    # Folds and all-ins are rare, so that hands continue; a swap may be any.
    scores[np.arange(num_rows()), random.choice(4, num_rows(), p=(0.1, 0.45, 0.1, 0.35))] = 1
    return scores


class Hands:
    """Deals and scratch of the kernels."""

    def __init__(self) -> None:
        self.game = decision_game()
        shapes = (2, 4, 9), (2, 4, 3), (2, 9), (4,)
        self.deal = SwapDeal(*(np.zeros(shape, np.int64) for shape in shapes))
        self.trace = np.empty((32, 2), np.int64)
        self.queue = np.empty((decisions.QUEUE, 10), np.int64)
        self.worth = np.empty((decisions.QUEUE, 9))

    def dealt(self, word: int):
        scratch = np.empty((2, 9, 2), np.int64), np.empty(13, np.int64), np.empty(4, np.int64)
        deal_hand(*self.game, np.uint64(word), self.deal, *scratch)
        return self.deal

    def played(self, bb, bu, word: int) -> int:
        deal = self.dealt(word)
        return play_hand(self.game.lines, deal, bb, bu, np.uint64(word), self.trace)


def at_table(scores: tuple[np.ndarray, np.ndarray], word: int) -> int:
    """Return BB's profit by the game's own rules."""
    cards = cards_of(word)
    board = (*cards[4:7], cards[9], cards[12])
    draws = (*cards[7:9], *cards[10:12])
    deal = Deal((tuple(cards[:2]), tuple(cards[2:4])), board, draws)
    players = [DecisionPlayer(GAME, probabilities) for probabilities in scores]
    state = HandState.start(GAME, deal)
    while not state.is_over:
        state = state.apply(players[state.actor].act(View.of(state, state.actor)))
    return state.payoffs()[BB]


def test_hands_end_as_at_the_table() -> None:
    hands, scores = Hands(), nearly_pure(1)
    streets = set()
    for number in range(COUNT):
        word = mix(number)
        assert hands.played(scores, scores, word) == at_table((scores, scores), word), number
        streets.add(int((hands.trace[:, 0] >= 0).sum()))
    assert max(streets) >= 10  # with swaps on two streets


def alike(*probabilities: float) -> np.ndarray:
    return np.tile(np.array(probabilities, np.float32), (num_rows(), 1))


def test_a_row_that_only_raises_calls_all_chips() -> None:
    # If no legal action of a row has positive probability, it calls: compiled and at the table.
    raiser, shover, hands = alike(0, 0, 0, 1), alike(0, 0, 1, 0), Hands()
    for number in range(10):
        for pair in ((raiser, shover), (shover, raiser)):
            won = hands.played(*pair, mix(number))
            assert won == at_table(pair, mix(number))
            assert abs(won) in (0, 200)
    betting = parse_betting(GAME, "r200")
    holes = np.array([parse_cards("7c2d")], np.uint8)
    found = dict(DecisionPlayer(GAME, raiser).bet_probabilities(betting, (), holes))
    assert {action: share[0] for action, share in found.items()} == {FOLD: 0, CALL: 1}


def test_probabilities_of_illegal_actions_go_to_the_others_equally() -> None:
    mixed, shover, hands = alike(0.165, 0.648, 0.087, 0.1), alike(0, 0, 1, 0), Hands()
    folds = sum(hands.played(mixed, shover, mix(number)) == -2 for number in range(4000))
    holes = np.array([parse_cards("7c2d")], np.uint8)
    probabilities = dict(
        DecisionPlayer(GAME, mixed).bet_probabilities(parse_betting(GAME, "r200"), (), holes)
    )
    assert probabilities[FOLD][0] == pytest.approx(0.165 / 0.813)
    assert folds / 4000 == pytest.approx(0.165 / 0.813, abs=4 * 0.4 / 4000**0.5)


@pytest.mark.parametrize("seat", [BB, BU])
def test_both_seats_learn_at_every_position_that_faces_all_chips(seat: int) -> None:
    hands, scores = Hands(), even()
    gains, chosen = np.zeros((2, num_rows(), 4), np.int64)
    visits = np.zeros(num_rows(), np.int64)
    for number in range(300):
        hands.dealt(mix(number))
        walk(
            hands.game.lines, hands.deal, scores, gains, chosen, visits, np.uint64(number), seat,
            hands.queue, hands.worth,
        )  # fmt: skip
    for number, line in enumerate(decision_lines()[:5]):  # before the flop and on it
        for position in line.positions:
            if position >= SHOVES and actor_of(line.street, position) == seat:
                rows = [bet_row(number, position, state) for state in range(168)]
                assert visits[rows].any(), (line, position)
                assert not gains[rows, 2:].any()


def test_a_walk_gives_the_value_of_every_deviation() -> None:
    """A walk of nearly pure strategies has the value of the hand, and the right regrets.

    A regret is what changing one action of one row wins; rows with one hand in a walk are checked.
    """
    hands, scores = Hands(), nearly_pure(2)
    rows = num_rows()
    gains, chosen = np.zeros((2, rows, 4), np.int64)
    visits = np.zeros(rows, np.int64)
    asked = 0
    for number in range(60):
        word, seat = mix(1000 + number), number % 2
        won = hands.played(scores, scores, word)
        path = [(int(row), int(action)) for row, action in hands.trace if row >= 0]
        found = walk(
            hands.game.lines, hands.deal, scores, gains, chosen, visits, np.uint64(word), seat,
            hands.queue, hands.worth,
        )  # fmt: skip
        assert found == pytest.approx(won if seat == BB else -won, abs=1e-6)
        for row, action in path:
            if visits[row] != 1:
                continue
            for other in np.flatnonzero(gains[row]):
                changed = scores.copy()
                changed[row] = 0
                changed[row, other] = 1
                both = (changed, scores) if seat == BB else (scores, changed)
                gained = hands.played(*both, word) - won
                gained = gained if seat == BB else -gained
                assert gains[row, other] / decisions.GAIN_UNIT == pytest.approx(gained, abs=0.01)
                asked += other != action
        gains[:], visits[:] = 0, 0
    assert asked > 60


@pytest.mark.parametrize("lanes", [2, 3])
def test_sums_do_not_depend_on_the_number_of_threads(lanes: int) -> None:
    scores, rows = nearly_pure(3), num_rows()
    found = []
    for number in (1, lanes):
        gains, chosen = np.zeros((2, number, rows, 4), np.int64)
        visits = np.zeros((number, rows), np.int64)
        decisions.walk_hands(
            *decision_game(), scores, (np.uint64(9), 5, 205), (gains, chosen, visits)
        )
        found.append([sums.sum(axis=0) for sums in (gains, chosen, visits)])
    for one, many in zip(*found, strict=True):
        np.testing.assert_array_equal(one, many)
        assert one.any()
