"""Tests of equity with discards against exact equities, hands at the table, and plain Python."""

import itertools

import numpy as np
import pytest

from equilibrist.cards.card import parse_cards
from equilibrist.cards.equity import equity
from equilibrist.cards.ranking import rank_cards
from equilibrist.errors import InvalidValueError, RangeError
from equilibrist.games.action import CALL, KEEP, Action
from equilibrist.games.catalog import get_game
from equilibrist.games.dealing import Dealer
from equilibrist.games.state import HandState
from equilibrist.papers.ectomynx.discard_equity import DiscardEquity, class_equities, discard_equity
from equilibrist.papers.ectomynx.swap_rule import card_to_swap

pytestmark = pytest.mark.kernels


def test_pairs_never_swap_so_their_equity_is_that_without_discards() -> None:
    # 81.94605 %, and the report's "overpair has ~81% equity".
    found = discard_equity("AA", "KK", samples=400_000, seed=1)
    plain = equity("AA", "KK").equity
    assert plain == pytest.approx(0.8194605, abs=1e-7)
    assert abs(found.equity - plain) < 4 * found.standard_error
    assert found.standard_error < 0.001


def test_equity_equals_the_winnings_of_calling_players_that_swap() -> None:
    dealer, total, hands = Dealer(get_game("discard-holdem"), seed=3), 0.0, 0
    by_ace = {True: [0.0, 0], False: [0.0, 0]}
    for deal in itertools.islice(dealer, 4000):
        state = HandState.start(dealer.rules, deal)
        while not state.is_over:
            action = CALL
            if state.betting.is_discarding:
                card = card_to_swap(state.holes[state.betting.to_act[0]], state.board)
                action = KEEP if card is None else Action("d", card=card)
            state = state.apply(action)
        score = (state.payoffs()[0] / 2 + 1) / 2
        total, hands = total + score, hands + 1
        tally = by_ace[max(deal.holes[0]) >= 48]
        tally[0], tally[1] = tally[0] + score, tally[1] + 1
    assert total / hands == pytest.approx(0.5, abs=0.03)
    aces = "A2+, AA"
    found = discard_equity(aces, samples=200_000, seed=2)
    share, count = by_ace[True][0] / by_ace[True][1], by_ace[True][1]
    error = np.hypot(0.5 / np.sqrt(count), found.standard_error)
    assert abs(share - found.equity) < 4 * error
    assert found.equity > 0.55


GOLDEN, WORD = 0x9E3779B97F4A7C15, 2**64


def mix(word: int) -> int:
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % WORD
    return word ^ (word >> 31)


class Deck:
    """Cards of one hand, drawn with its random words."""

    def __init__(self, state: int, gone: set[int]) -> None:
        self.state, self.gone = state, gone

    def draw(self) -> int:
        while True:
            self.state = (self.state + GOLDEN) % WORD
            card = (mix(self.state) >> 32) * 52 >> 32
            if card not in self.gone:
                self.gone.add(card)
                return card


def play_in_words(first: str, second: str, seed: int, count: int) -> tuple[int, int]:
    """Return wins and ties of hand against hand, in plain Python."""
    key = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
    wins = ties = 0
    for number in range(count):
        hands = [list(parse_cards(first)), list(parse_cards(second))]
        state = mix((key + number * GOLDEN) % WORD) + 2 * GOLDEN  # two words choose the hands
        deck, board = Deck(state, {*hands[0], *hands[1]}), list[int]()
        for num_cards in (3, 4, 5):
            board += [deck.draw() for _ in range(num_cards - len(board))]
            for hand in hands:
                card = card_to_swap(tuple(hand), tuple(board)) if num_cards < 5 else None
                if card is not None:
                    hand[hand.index(card)] = deck.draw()
        ours, theirs = (rank_cards([*hand, *board]) for hand in hands)
        wins, ties = wins + (ours > theirs), ties + (ours == theirs)
    return wins, ties


def test_the_kernel_plays_the_hands_that_python_plays() -> None:
    for seed, (first, second) in enumerate([("3c2c", "AdKd"), ("9h8h", "AsTc"), ("7d7s", "QhJc")]):
        found = discard_equity(second, first, samples=400, seed=seed)
        assert (found.wins, found.ties) == play_in_words(second, first, seed, 400)


def test_samples_are_the_same_whichever_blocks_and_lanes_play_them(monkeypatch) -> None:
    whole = discard_equity("AK", "QJ", samples=10_000, seed=5)
    monkeypatch.setattr("equilibrist.papers.ectomynx.discard_equity._BLOCK", 777)
    monkeypatch.setattr("equilibrist.papers.ectomynx.discard_equity._LANES", 3)
    assert discard_equity("AK", "QJ", samples=10_000, seed=5) == whole
    assert discard_equity("AK", "QJ", samples=10_000, seed=6) != whole


def test_sides_mirror_and_weights_count() -> None:
    one = discard_equity("AK:0.5, 32", "QQ", samples=300_000, seed=8)
    parts = [discard_equity(part, "QQ", samples=300_000, seed=9).equity for part in ("AK", "32")]
    assert one.equity == pytest.approx((parts[0] + 2 * parts[1]) / 3, abs=0.006)
    other = discard_equity("QQ", "AK:0.5, 32", samples=300_000, seed=10)
    assert other.equity == pytest.approx(1 - one.equity, abs=0.006)


def test_standard_errors_are_those_of_the_results() -> None:
    results = np.repeat([1.0, 0.5, 0.0], [30, 10, 60])
    found = DiscardEquity(wins=30, ties=10, total=100)
    assert found.equity == results.mean()
    assert found.standard_error == pytest.approx(results.std() / 10)


def test_a_random_hand_against_a_random_hand_is_even_over_all_classes() -> None:
    # Classes in proportion to their combos average ½ by symmetry.
    found = class_equities(samples=2000, seed=4)
    combos = np.array(
        [6 if n // 13 == n % 13 else 4 if n // 13 > n % 13 else 12 for n in range(169)]
    )
    mean = sum(c * f.equity for c, f in zip(combos, found, strict=True)) / 1326
    assert mean == pytest.approx(0.5, abs=0.005)


def test_invalid_arguments_are_refused() -> None:
    with pytest.raises(RangeError, match="nearly always share a card"):
        discard_equity("AhKh", "AhQh")
    with pytest.raises(InvalidValueError, match="the number of samples"):
        discard_equity("AhKh", samples=0)
