"""Contract of every recipe of the catalogue."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.joint_counts import joint, marginals
from equilibrist.abstraction.recipes import RECIPES, build
from equilibrist.errors import InvalidValueError, UnknownNameError
from equilibrist.games.catalog import get_game
from equilibrist.games.rules import GameRules
from equilibrist.models.bucketed import bucket_game
from equilibrist.storage.artefact import open_artefact

# Three suits of four ranks, a flop of two cards and a turn.
SMALL = GameRules(
    name="small", betting="limit", blinds=(1, 1), raise_sizes=(2, 2, 4), max_raises=(1, 1, 1),
    num_suits=3, num_ranks=4, num_hole_cards=2, num_board_cards=(0, 2, 1),
)  # fmt: skip
# All four streets of hold'em with twelve cards, for the recipe that knows no other boards.
TINY_HOLDEM = replace(get_game("holdem-limit"), name="tiny hold'em", num_suits=2, num_ranks=6)
NUMBERS = {"small": [3, 6, 12], "rhode-island": [4, 12, 36], "leduc": [3, 6]}
PARTS = {"small": [3, 2, 2], "rhode-island": [4, 3, 3], "leduc": [3, 2]}  # of each bucket
GAMES = {
    "small": SMALL,
    "rhode-island": get_game("rhode-island"),
    "leduc": get_game("leduc"),
    "tiny hold'em": TINY_HOLDEM,
}
SLOW = {("lossless", "rhode-island")}
CASES = [
    pytest.param((recipe, game), marks=[pytest.mark.slow] if (recipe, game) in SLOW else [])
    for recipe in RECIPES
    for game in NUMBERS
    if recipe != "texture"
]
CASES.append(("texture", "tiny hold'em"))


def numbers(recipe, game):
    if recipe in ("texture", "lossless"):
        return None
    return (PARTS if recipe == "strength-potential" else NUMBERS)[game]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0]} on {case[1]}")
def case(request):
    recipe, game = request.param
    return recipe, GAMES[game], build(recipe, GAMES[game], numbers(recipe, game))


@pytest.fixture(scope="module")
def counts(case):
    return joint(case[2])


def deals(rules, count=60):
    """Some hands on some boards, the board in its order."""
    random = np.random.default_rng(5)
    deck = np.array(rules.deck.cards)
    for _ in range(count):
        cards = random.choice(deck, rules.num_hole_cards + rules.total_board_cards, replace=False)
        hand = sorted(cards[: rules.num_hole_cards].tolist())
        number = hand[0] if len(hand) == 1 else hand[1] * (hand[1] - 1) // 2 + hand[0]
        yield hand, number, tuple(cards[rules.num_hole_cards :].tolist())


def prefixes(rules, board):
    return [board[:end] for end in itertools.accumulate(rules.num_board_cards)]


def test_buckets_are_nested_and_contiguous(case):
    _, rules, found = case
    for parents in found.parents[1:]:
        assert (np.diff(parents) >= 0).all()
    for r, parents in enumerate(found.parents):
        assert parents.min() >= (0 if r else -1)
    for _, number, board in deals(rules):
        path = [found.bucket(number, seen) for seen in prefixes(rules, board)]
        for r in range(1, len(path)):
            assert found.parents[r][path[r]] == path[r - 1]


def test_parts_are_the_fewest_and_most_children_of_a_bucket(case):
    _, _, found = case
    for (fewest, most), parents, before in zip(
        found.parts, found.parents[1:], found.num_buckets[:-1], strict=True
    ):
        children = [parents.tolist().count(bucket) for bucket in range(before)]
        assert (fewest, most) == (min(children), max(children))
        assert fewest >= 1


def test_no_more_buckets_than_asked_for(case):
    recipe, rules, found = case
    if recipe not in ("texture", "lossless"):
        for ours, wanted in zip(found.num_buckets, NUMBERS[rules.name], strict=True):
            assert 1 <= ours <= wanted


def test_suits_do_not_matter(case):
    _, rules, found = case
    suits = range(4 - rules.num_suits, 4)
    random = np.random.default_rng(6)
    for hand, number, board in deals(rules, 20):
        names = dict(zip(suits, random.permutation(list(suits)).tolist(), strict=True))
        other = [4 * (card >> 2) + names[card & 3] for card in hand]
        renamed = other[0] if len(other) == 1 else (
            max(other) * (max(other) - 1) // 2 + min(other)
        )  # fmt: skip
        there = tuple(4 * (card >> 2) + names[card & 3] for card in board)
        assert found.bucket(number, board) == found.bucket(renamed, there)


def test_joint_counts(case, counts):
    _, rules, found = case
    cards, hole = len(rules.deck), rules.num_hole_cards
    total, left = 1, cards
    for num_new in (*rules.num_board_cards, hole, hole):
        total *= math.comb(left, num_new)
        left -= num_new
    assert counts.total == total
    np.testing.assert_array_equal(counts.met, counts.met.T)
    np.testing.assert_array_equal(counts.wins, counts.losses.T)
    probabilities = marginals(found)[0]
    np.testing.assert_allclose(
        counts.met.sum(axis=1) / counts.total, probabilities / probabilities.sum(), atol=1e-15
    )


def test_earlier_rounds_are_sums_over_children(case, counts):
    """Chance of every pair of first buckets, by all pairs of hands."""
    _, _, found = case
    game = bucket_game(found, counts)
    first = found.num_buckets[0]
    ours = game.pairs.joint[: first * first].reshape(first, first)
    buckets, hands = found.buckets(()), found.streets.hands[found.streets.in_deck].tolist()
    numbers = found.streets.in_deck.tolist()
    expected = np.zeros((first, first))
    for (a, i), (b, j) in itertools.permutations(zip(hands, numbers, strict=True), 2):
        if not set(a) & set(b):
            expected[buckets[i], buckets[j]] += 1
    np.testing.assert_allclose(ours, expected / expected.sum(), atol=1e-14)


def test_the_same_again_and_from_disk(case, tmp_path):
    recipe, rules, found = case
    again = build(recipe, rules, numbers(recipe, rules.name))
    hashes = [part.save(tmp_path / name) for part, name in ((found, "one"), (again, "two"))]
    assert hashes[0] == hashes[1] == open_artefact(tmp_path / "one").hash
    opened = Abstraction.open(tmp_path / "two")
    assert opened.num_buckets == found.num_buckets
    for _, number, board in deals(rules, 10):
        assert opened.bucket(number, board) == found.bucket(number, board)


@pytest.mark.parametrize("recipe", ["percentile", "expectation", "moments", "potential-aware"])
def test_bad_numbers_are_refused(recipe):
    rules = get_game("leduc")
    with pytest.raises(InvalidValueError, match="2 rounds"):
        build(recipe, rules, [3, 6, 9])
    with pytest.raises(InvalidValueError, match="cannot be nested"):
        build(recipe, rules, [3, 2])
    with pytest.raises(InvalidValueError, match="at least one"):
        build(recipe, rules, [0, 2])
    with pytest.raises(InvalidValueError, match="needs numbers"):
        build(recipe, rules)


def test_more_buckets_than_classes():
    with pytest.raises(InvalidValueError, match="cannot be cut into"):
        build("percentile", get_game("leduc"), [6, 6])


@pytest.mark.parametrize("recipe", ["texture", "lossless"])
def test_some_recipes_take_no_numbers(recipe):
    with pytest.raises(InvalidValueError, match="give no numbers"):
        build(recipe, get_game("leduc"), [3, 6])


def test_unknown_recipes_get_the_nearest_name():
    with pytest.raises(UnknownNameError, match="did you mean potential-aware"):
        build("potential", get_game("leduc"), [3, 6])
    with pytest.raises(InvalidValueError, match="2,428,287,420 classes"):
        build("lossless", get_game("holdem-limit"))
