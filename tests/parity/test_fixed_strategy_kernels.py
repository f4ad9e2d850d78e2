"""Compiled hands of level players compared with hands played card by card in Python."""

import numpy as np
import pytest

from equilibrist.cards.hand import class_table, hand_index
from equilibrist.cards.isomorphism import DealIndexer
from equilibrist.cards.ranking import rank_cards
from equilibrist.papers.ectomynx.betting_lines import (
    BB,
    BU,
    STACK,
    Mark,
    all_lines,
    line_numbers,
    play_street,
)
from equilibrist.papers.ectomynx.kernels.fixed_strategy import hand_state, play_cycle, play_results
from equilibrist.papers.ectomynx.kernels.texture import board_textures
from equilibrist.papers.ectomynx.level_game import level_game
from equilibrist.papers.ectomynx.level_weights import (
    line_starts,
    num_weights,
    random_start,
    report_start,
    state_of,
)
from equilibrist.papers.ectomynx.swap_rule import card_to_swap
from equilibrist.papers.ectomynx.textures import (
    flop_textures,
    straight_tables,
    strength_classes,
    texture_tables,
    wetness_bins,
)

pytestmark = pytest.mark.kernels

GOLDEN, WORD = 0x9E3779B97F4A7C15, 2**64
KEY, COUNT = 0x123456789ABCDEF, 1500


def mix(word: int) -> int:
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % WORD
    return word ^ (word >> 31)


class Words:
    """The two random streams of a hand."""

    def __init__(self, number: int) -> None:
        self.cards = mix((KEY + number * GOLDEN) % WORD)
        self.choices = mix(self.cards ^ 0xD1B54A32D192ED03)
        self.gone: set[int] = set()

    def card(self) -> int:
        while True:
            self.cards = (self.cards + GOLDEN) % WORD
            card = (mix(self.cards) >> 32) * 52 >> 32
            if card not in self.gone:
                self.gone.add(card)
                return card

    def choice(self, weights: np.ndarray) -> int:
        self.choices = (self.choices + GOLDEN) % WORD
        left = (mix(self.choices) >> 11) / 2**53 * sum(weights.tolist())
        chosen = 0
        for i, weight in enumerate(weights.tolist()):
            if weight > 0:
                chosen, left = i, left - weight
                if left < 0:
                    break
        return chosen


def play(weights: tuple[np.ndarray, np.ndarray], number: int) -> tuple[int, list]:
    """Return BB's profit and (seat, first place, end) of every choice: by the rules, not tables."""
    words, trace = Words(number), []
    holes = [[words.card(), words.card()], [words.card(), words.card()]]
    board: list[int] = []
    history: tuple[Mark, ...] = ()
    textures: list[int] = []
    pot, spent, is_betting = 0, 0, True
    for street in range(4):
        board += [words.card() for _ in range((0, 3, 1, 1)[street])]
        if street in (1, 2):
            for hole in holes:
                swap = card_to_swap(tuple(hole), tuple(board))
                if swap is not None:
                    hole[hole.index(swap)] = words.card()
        if not is_betting:
            continue
        if street == 0:
            states = [int(class_table()[hand_index(*hole)]) for hole in holes]
        else:
            found = flop_textures([board]) if street == 1 else wetness_bins([board])
            textures.append(int(found[0]))
            states = [state_of(int(strength_classes([h], [board])[0]), *textures) for h in holes]
        number_of_line = line_numbers()[history]
        line = all_lines()[number_of_line]
        levels, slots = line.num_levels, line.num_slots
        starts = [int(line_starts()[number_of_line]) + state * slots for state in states]
        slot = words.choice(weights[BB][starts[BB] : starts[BB] + slots])
        kind = levels * line.leads[slot]
        bu_start = starts[BU] + kind
        level = words.choice(weights[BU][bu_start : bu_start + levels])
        end = play_street(pot, STACK - spent, slot, (level, level))
        meant, played = slot % levels, end.played
        first = starts[BB] + slot - meant
        trace += [
            (first + min(meant, played[BB]), first + max(meant, played[BB]) + 1)
            if played[BB] >= 0
            else (first, first),  # BU folded first
            (bu_start + min(level, played[BU]), bu_start + max(level, played[BU]) + 1),
        ]
        if end.folder is not None:
            lost = spent + end.amounts[end.folder]
            return (-lost if end.folder == BB else lost), trace
        pot, spent = pot + 2 * end.amounts[BB], spent + end.amounts[BB]
        history = (*history, Mark(end.is_led, end.level))
        is_betting = spent < STACK
    ours, theirs = (rank_cards([*hole, *board]) for hole in holes)
    return (spent if ours > theirs else -spent if ours < theirs else 0), trace


@pytest.fixture(scope="module", params=["report", "random"])
def weights(request) -> tuple[np.ndarray, np.ndarray]:
    if request.param == "report":
        return report_start(BB), report_start(BU)
    return random_start(BB, 1), random_start(BU, 1)


@pytest.fixture(scope="module")
def played(weights):
    """Profits, traces and streets of the first hands, compiled."""
    results = np.zeros(COUNT, np.int64), np.zeros((COUNT, 4, 2, 2), np.int64)
    streets = np.zeros(COUNT, np.int64)
    play_results(level_game(), *weights, np.uint64(KEY), 0, *results, streets)
    return *results, streets


def test_hands_are_the_same_card_by_card(weights, played):
    for number, (profit, trace, streets) in enumerate(zip(*played, strict=True)):
        expected = play(weights, number)
        assert (profit, trace[:streets].reshape(-1, 2).tolist()) == (
            expected[0],
            [list(pair) for pair in expected[1]],
        )
    assert set(played[2].tolist()) == {1, 2, 3, 4}


@pytest.mark.parametrize("lanes", [1, 3])
def test_sums_are_of_all_slots_between_played_and_meant(weights, played, lanes):
    sums = np.zeros((lanes, 2, num_weights(), 2), np.int64)
    play_cycle(*level_game(), *weights, (np.uint64(KEY), 0, COUNT), sums)
    expected = np.zeros((2, num_weights(), 2))
    for profit, trace, streets in zip(*played, strict=True):
        share = 1.0
        for street in reversed(range(streets)):
            for seat, sign in ((BB, 1), (BU, -1)):
                first, end = trace[street, seat]
                expected[seat, first:end] += (sign * profit * share, 1)
            share *= 0.8
    np.testing.assert_allclose(sums.sum(axis=0) / (125, 1), expected, atol=1e-6)


@pytest.mark.parametrize("num_cards", [3, 4, 5])
def test_states_of_hands_are_strengths_and_textures(num_cards):
    random = np.random.default_rng(num_cards)
    for deal in np.argsort(random.random((300, 52)), axis=1)[:, : 2 + num_cards]:
        hole, board = deal[:2], deal[2:]
        textures = [flop_textures([board[:3]])[0]]
        textures += [wetness_bins([board[:size]])[0] for size in range(4, num_cards + 1)]
        expected = state_of(int(strength_classes([hole], [board])[0]), *map(int, textures))
        game = level_game()
        assert hand_state(game.swaps, game.textures, *hole.tolist(), board) == expected


@pytest.mark.parametrize("num_cards", [3, 4, 5])
def test_textures_of_all_boards_agree(num_cards):
    indexer = DealIndexer((num_cards,))
    boards = indexer.unindex_array(np.arange(indexer.size)).astype(np.uint8)
    found = np.empty(len(boards), np.int64)
    board_textures(texture_tables(), straight_tables()[1], boards, found)
    expected = flop_textures(boards) if num_cards == 3 else wetness_bins(boards)
    np.testing.assert_array_equal(found + 1, expected)
