"""Potential-aware buckets without a limit: what they can and cannot distinguish.

The GS3 paper's sanity check: "If no limit is imposed on the fineness of the abstraction …, then our
algorithm finds a lossless abstraction" (note 5). With no limit every different histogram has a
cluster of its own, on all streets, so two hands share a bucket exactly where all that may become of
them is the same, as far as the *bottom* of the pass can see:

- Where the bottom is strength, as in GS3's fourth round and in our recipe, the future of a hand is
  a tree of numbers. Hands on different boards whose trees are equal fall together, though against
  an opponent who does not hold a random hand they are not equal: equal equity on different boards
  is not equal. Such buckets are fewer than the classes of hands up to suits, and their game has
  another value than the exact one.
- Where the bottom is the class of (hand, board) itself nothing is lost on the way up. The buckets
  are the classes, and the game has the exact value. It is the bottom that loses, not the passes.
"""

import functools
import itertools
from collections import Counter

import pytest

from equilibrist.abstraction.features import Strengths
from equilibrist.abstraction.joint_counts import joint
from equilibrist.abstraction.recipes.lossless import lossless
from equilibrist.abstraction.recipes.potential_aware import potential_aware
from equilibrist.abstraction.streets import Streets
from equilibrist.cards.ranking import rank_cards
from equilibrist.errors import InvalidValueError
from equilibrist.games.rules import GameRules
from equilibrist.models.bucketed import bucket_game
from equilibrist.models.exact import exact_game
from equilibrist.solving.linear_program import LinearProgram
from equilibrist.solving.solve import Budget, solve


def small(suits, ranks, hole):
    """Return a game of three streets with one card each, which is solved exactly in no time."""
    return GameRules(
        name="small", betting="limit", blinds=(1, 1), raise_sizes=(2, 2, 4), max_raises=(1, 1, 1),
        num_suits=suits, num_ranks=ranks, num_hole_cards=hole, num_board_cards=(0, 1, 1),
    )  # fmt: skip


GAMES = [small(2, 3, 1), small(2, 3, 2), small(3, 3, 1)]
GAME_NAMES = [f"{g.num_suits}x{g.num_ranks}, {g.num_hole_cards} in hand" for g in GAMES]


def without_limit(strengths):
    """Build the abstraction with the largest useful numbers of clusters and buckets."""
    most = 2 * strengths.streets[-1].boards.shape[0] * len(strengths.streets.in_deck)
    clusters = [most] * 3
    return potential_aware(strengths, [most] * len(strengths.streets), clusters=clusters)


def classes(rules):
    """Return artificial strengths: the number of a hand's class."""
    exact = lossless(rules)
    scales = tuple(int(number) for number in exact.num_buckets)
    return Strengths(exact.streets, (*exact.tables, exact.values), scales)


def value(game):
    return solve(game, LinearProgram(), Budget(iterations=1)).evaluation.value


def futures(rules):
    """Return the tree of strengths of every deal: the buckets that a recipe can distinguish."""
    deck = rules.deck.cards
    hands = list(itertools.combinations(deck, rules.num_hole_cards))

    @functools.cache
    def future(hand, board):
        free = [card for card in deck if card not in {*hand, *board}]
        if len(board) == rules.total_board_cards:
            own = rank_cards([*hand, *board])
            others = [
                rank_cards([*other, *board])
                for other in itertools.combinations(free, rules.num_hole_cards)
            ]
            return sum(2 * (own > other) + (own == other) for other in others)
        return frozenset(Counter(future(hand, (*board, card)) for card in free).items())

    found = [set(), set(), set()]
    for hand in hands:
        for board in itertools.permutations([card for card in deck if card not in hand], 2):
            path = [future(hand, board[:end]) for end in range(3)]
            for r in range(3):
                found[r].add(tuple(path[: r + 1]))
    return tuple(map(len, found))


@pytest.mark.parametrize("rules", GAMES, ids=GAME_NAMES)
def test_every_different_future_has_a_bucket(rules):
    found = without_limit(Strengths.of(Streets.of(rules)))
    assert found.num_buckets == futures(rules)
    assert found.num_buckets[-1] < lossless(rules).num_buckets[-1]


@pytest.mark.parametrize("rules", GAMES, ids=GAME_NAMES)
def test_from_classes_upwards_the_buckets_are_the_classes(rules):
    found, exact = without_limit(classes(rules)), lossless(rules)
    assert found.num_buckets == exact.num_buckets
    for ours, theirs in zip(found.tables, exact.tables, strict=True):
        pairs = set(zip(ours.ravel().tolist(), theirs.ravel().tolist(), strict=True))
        assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


@pytest.mark.parametrize("rules", GAMES[:2], ids=GAME_NAMES[:2])
def test_only_classes_have_the_value_of_the_exact_game(rules):
    exact = value(exact_game(rules))
    fine, coarse = without_limit(classes(rules)), without_limit(Strengths.of(Streets.of(rules)))
    assert value(bucket_game(fine, joint(fine))) == pytest.approx(exact, abs=1e-8)
    assert abs(value(bucket_game(coarse, joint(coarse))) - exact) > 1e-3


def test_equal_equity_on_different_boards_is_not_equal():
    """Some bucket of a six-card game holds hands of many classes, on boards of different ranks."""
    rules = GAMES[0]
    coarse = without_limit(Strengths.of(Streets.of(rules)))
    shared = {}
    for card, *board in itertools.permutations(rules.deck.cards, 3):
        ranks = tuple(sorted(shown >> 2 for shown in board))
        shared.setdefault(coarse.bucket(card, board), set()).add(ranks)
    assert max(map(len, shared.values())) > 2


def test_histograms_that_do_not_fit_into_memory_are_refused(monkeypatch):
    monkeypatch.setattr("equilibrist.abstraction.histograms._MOST_COUNTS", 1000)
    with pytest.raises(InvalidValueError, match="are too large; use at most 21 clusters"):
        without_limit(classes(GAMES[0]))
