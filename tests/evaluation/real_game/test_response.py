"""Fast best responses in the real game: the same numbers as from plainer programs."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from equilibrist.abstraction.joint_counts import joint
from equilibrist.abstraction.recipes import build
from equilibrist.cards.card import parse_cards
from equilibrist.cards.hand import class_table, hand_table
from equilibrist.cards.ranking import rank_hands
from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.expectation import fixed_mix
from equilibrist.evaluation.real_game.positions import Lanes, find_positions, sequences_of
from equilibrist.evaluation.real_game.reference import PublicTree, meetings
from equilibrist.evaluation.real_game.response import Flops, Response
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.catalog import get_game
from equilibrist.kernels.cpu.sequence_form import normalize
from equilibrist.models.bucketed import bucket_game, bucket_tree, lift
from equilibrist.models.exact import exact_game
from equilibrist.solving.best_response import best_response, evaluate
from equilibrist.strategies.composition import GluedBuckets
from equilibrist.strategies.played import BucketColumns, FixedMix, TableStrategy
from equilibrist.strategies.raise_cap_rule import with_more_raises

pytestmark = pytest.mark.kernels

NINE_CARDS = replace(
    get_game("holdem-limit"), name="nine cards", num_ranks=3, num_suits=3, max_raises=(2, 1, 3, 2)
)


def won(strategy):
    """Return what best responses in both seats win, from all flops."""
    flops = Flops.of(strategy.tree.rules)
    found = []
    for seat in (0, 1):
        response = Response(strategy, seat)
        sums = sum(
            many * response.flop_values(tuple(board.tolist()))
            for board, many in zip(flops.boards, flops.multiplicity, strict=True)
        )
        found.append(response.win(sums))
    return found


@pytest.fixture(scope="module")
def nine_cards():
    return exact_game(NINE_CARDS)


@pytest.mark.parametrize(
    "mix", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.15, 0.5, 0.35)]
)
def test_mixes_lose_what_they_lose_in_the_exact_model(nine_cards, mix):
    strategy = FixedMix(BettingTree.build(NINE_CARDS), mix)
    proof = evaluate(nine_cards, fixed_mix(nine_cards, mix))
    assert won(strategy) == pytest.approx(proof.best_response, rel=1e-7)


def test_hands_of_one_suit_all_differ_on_a_low_board():
    rules = replace(NINE_CARDS, name="one suit", num_ranks=9, num_suits=1, max_raises=(1, 1, 1, 1))
    strategy = FixedMix(BettingTree.build(rules), (0.15, 0.5, 0.35))
    game = exact_game(rules)
    proof = evaluate(game, fixed_mix(game, (0.15, 0.5, 0.35)))
    assert won(strategy) == pytest.approx(proof.best_response, rel=1e-7)


@pytest.fixture(scope="module")
def buckets():
    return build("strength-potential", NINE_CARDS, [2, 2, 2, 2])


def random_table(buckets, caps, seed):
    """Return a random strategy of buckets with fewer raises."""
    known = BettingTree.build(buckets.rules, BetMenu.parse(None, None, caps))
    trees = bucket_tree(known, 0, buckets), bucket_tree(known, 1, buckets)
    rng, behaviour = np.random.default_rng(seed), []
    for tree in trees:
        numbers = rng.random(int(tree.block_start[-1])) ** 3
        numbers[rng.random(len(numbers)) < 0.2] = 0
        behaviour.append(np.empty_like(numbers))
        normalize(tree, numbers, behaviour[-1])
    real = BettingTree.build(buckets.rules)
    return TableStrategy(real, known, trees, tuple(behaviour), BucketColumns(buckets))


def test_buckets_lose_what_they_lose_in_the_exact_model(nine_cards, buckets):
    # The exact model's side is made by `lift` and `with_more_raises`, which do not use rows.
    caps = "1 1 2 1"
    strategy, menu = random_table(buckets, caps, 1), BetMenu.parse(None, None, caps)
    small, abstract = exact_game(NINE_CARDS, menu), bucket_game(buckets, joint(buckets), menu)
    plans = []
    for player in (0, 1):
        plan = abstract.realize(player, strategy.behaviour[player])
        exact = small.realize(player, lift(small, abstract, buckets, player, plan))
        plans.append(nine_cards.realize(player, with_more_raises(small, nine_cards, player, exact)))
    proof = evaluate(nine_cards, tuple(plans))
    assert won(strategy) == pytest.approx(proof.best_response, rel=1e-6)
    # A responder in the abstraction sees less.
    own = [abstract.realize(player, strategy.behaviour[player]) for player in (0, 1)]
    for seat, chips in enumerate(won(strategy)):
        assert chips > best_response(abstract, seat, own[1 - seat])[0]


@pytest.fixture(scope="module")
def glued():
    """A strategy glued from an opening of ranks and later classes."""
    abstraction = build("strength-potential", NINE_CARDS, [1, 2, 2, 2])
    opening = (np.arange(1326) % 5).astype(np.int16)
    return random_table(GluedBuckets(opening, abstraction), "2 1 3 2", 2)


@pytest.mark.parametrize("kind", ["mix", "buckets", "glued"])
@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("board", ["QdKhAsAd", "QdKdAsKs"])
def test_a_turn_has_the_value_of_the_plain_recursion(kind, seat, board, buckets, request):
    if kind == "glued":
        strategy = request.getfixturevalue("glued")
    elif kind == "buckets":
        strategy = random_table(buckets, "1 1 2 1", 3)
    else:
        strategy = FixedMix(BettingTree.build(NINE_CARDS), (0.2, 0.5, 0.3))
    cards = parse_cards(board)
    response, walk = Response(strategy, seat), PublicTree(strategy, seat)
    values = response.values(cards)[:, walk.numbers]
    free = ~np.isin(walk.hands, cards).any(axis=1)
    for position in (0, len(values) // 2, len(values) - 1):
        node = response.positions[1].nodes[position]
        reach = own_reach(strategy, walk, node, cards, opens=kind == "mix")
        expected = free * walk.values(node, cards, reach)
        assert values[position] == pytest.approx(expected, rel=1e-5, abs=1e-5)


def own_reach(strategy, walk, node, cards, opens):
    """Return the opponent's probabilities of reaching an opening by hand; 1 if all are the same."""
    reach = (~np.isin(walk.hands, cards).any(axis=1)).astype(float)
    path = [] if opens else list(strategy.tree.path(node))
    for above, below in itertools.pairwise(path):
        if strategy.tree.kind[above] == 0 and strategy.tree.player[above] != walk.seat:
            dealt = (0, 3, 4, 5)[int(strategy.tree.round[above])]
            action = below - strategy.tree.children(above).start
            reach *= strategy.probabilities(above, cards[:dealt])[action, walk.numbers]
    return reach


class Suitless:
    """Buckets of the full deck without a table: classes of hands, the same on every board."""

    rules = get_game("holdem-limit")
    num_buckets = (169,) * 4
    parents = (np.full(169, -1, np.int32), *(np.arange(169, dtype=np.int32) for _ in range(3)))

    def buckets(self, board):
        blocked = np.isin(hand_table(), board).any(axis=1)
        return np.where(blocked, -1, class_table().astype(np.int32))


@pytest.mark.parametrize("seat", [0, 1])
def test_a_river_of_the_full_deck_has_the_value_of_the_plain_recursion(seat):
    # Probabilities of the river are rounded to units: the error is in parts of the pot.
    strategy = random_table(Suitless(), "2 3 3 3", 4)
    response, walk = Response(strategy, seat), PublicTree(strategy, seat)
    river = parse_cards("2c7d9sTsQh")
    values = response.last_values(river[:4], [(river[4], 1)])[:, :1326]
    free = ~np.isin(walk.hands, river).any(axis=1)
    for position in (0, 100, len(values) - 1):
        node = response.positions[2].nodes[position]
        reach = own_reach(strategy, walk, node, river, opens=False)
        expected = free * walk.values(node, river, reach)
        pot = 2 * response.positions[2].spent[position] * reach.sum()
        assert np.abs(values[position] - expected).max() < 2e-6 * pot


@pytest.mark.parametrize("seat", [0, 1])
def test_always_call_loses_a_bet_per_round_to_every_favourite(seat):
    # Nobody ever raises the responder, who bets with all hands that win more often than they lose.
    strategy = FixedMix(BettingTree.build(get_game("holdem-limit")), (0.0, 1.0, 0.0))
    response, turn = Response(strategy, seat), parse_cards("2c7d9sTs")
    hands = np.flatnonzero(~np.isin(hand_table(), turn).any(axis=1))
    cards = hand_table()[hands].astype(np.int64)
    met, ahead, bets = meetings(cards), np.zeros(len(hands)), np.zeros(len(hands))
    for river in set(range(52)) - set(turn):
        free = ~(cards == river).any(axis=1)
        shown = np.hstack([cards, np.tile((*turn, river), (len(cards), 1))])[free]
        strength = rank_hands(shown.astype(np.uint8)).astype(np.int64)
        won = (np.sign(strength[:, None] - strength) * met[np.ix_(free, free)]).sum(axis=1)
        ahead[free] += won / 44
        bets[free] += 20 * np.maximum(won, 0) / 44
    positions = response.positions[1]
    for spent, values in zip(positions.spent, response.values(turn), strict=True):
        expected = spent * ahead + 20 * np.maximum(ahead, 0) + bets
        assert values[hands] == pytest.approx(expected, rel=2e-7, abs=1e-3)


def test_a_strategy_of_exact_hands_has_no_seat_here(nine_cards):
    strategy = TableStrategy.of_game(nine_cards, fixed_mix(nine_cards, (0.1, 0.6, 0.3)))
    with pytest.raises(InvalidValueError, match="compute best responses in its exact model"):
        strategy.seat(0)


def test_probabilities_of_the_river_use_whole_units_and_sure_ones_powers_of_two():
    # Sums of units over the 1,081 hands of a river stay below 2**30; a power of two keeps
    # probabilities of 0 and 1 exact in float32.
    seat = random_table(Suitless(), "1 1 1 1", 5).seat(0)
    pure = replace(seat, rows=[*seat.rows[:-1], np.round(seat.rows[-1])])
    assert 0 < pure.rows[-1].mean() < 1
    for strategy, least, most in ((seat, 0.999 * 2**30, 2**30), (pure, 2**19 * 1081, 2**19 * 1081)):
        lanes = Lanes.of(strategy, find_positions(strategy)[-1], 16)
        largest = sequences_of(strategy, lanes, 1081).table.max(axis=2)  # of each row in each lane
        sums = 1081 * largest[largest > 0].astype(float)
        assert least <= sums.min()
        assert sums.max() <= most
