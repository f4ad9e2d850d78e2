"""Tests of action translation: the mapping's known properties, and hands played with it."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equilibrist.evaluation.expectation import expectation
from equilibrist.games.action import CALL, FOLD, raise_to
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting import Betting
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.catalog import get_game
from equilibrist.models.exact import exact_game
from equilibrist.play.match import play_match
from equilibrist.players.player import Player
from equilibrist.players.static import Uniform
from equilibrist.players.strategy_player import ExactStrategy, StrategyPlayer
from equilibrist.players.translation import (
    find_node,
    nearest_raise,
    pot_share,
    pseudo_harmonic,
    read_raise,
    real_action,
)
from equilibrist.strategies.description import GameDescription
from equilibrist.strategies.evaluation import Evaluation
from equilibrist.strategies.solution import Solution

HOLDEM = get_game("holdem-nolimit")  # blinds 50 and 100, stacks 20,000
MENU = BetMenu.parse("50%,100%,a", None, "2")
LEDUC = replace(
    get_game("leduc"), name="leduc no-limit", betting="nolimit", raise_sizes=(),
    blinds=(10, 10), stacks=(200, 200), max_raises=(3, 3),
)  # fmt: skip
SIZES = st.floats(0, 20)


@pytest.fixture(scope="module")
def tree():
    return BettingTree.build(HOLDEM, MENU, last_round=1)


def bettings(*totals):
    """Return the betting after some raises, in hold'em."""
    betting = Betting.start(HOLDEM)
    for total in totals:
        betting = betting.apply(CALL if total is None else raise_to(total))
    return betting


# --- the mapping ----------------------------------------------------------------------------------


@given(st.lists(SIZES, min_size=3, max_size=3, unique=True).map(sorted))
def test_the_mapping_leaves_a_bluffer_nothing_to_gain(sizes):
    # One street, and the bettor knows the winner: a bet of s pots is called with 1 / (1 + s).
    small, share, large = sizes
    if large - small < 1e-6:
        return
    probability = pseudo_harmonic(share, small, large)
    assert 0 <= probability <= 1
    called = probability / (1 + small) + (1 - probability) / (1 + large)
    assert called == pytest.approx(1 / (1 + share))


@pytest.mark.parametrize(("small", "large"), [(0, 0.5), (0.01, 0.5), (0.5, 1), (1, 20)])
def test_the_mapping_keeps_its_ends_and_falls_between_them(small, large):
    assert pseudo_harmonic(small, small, large) == 1
    assert pseudo_harmonic(large, small, large) == 0
    shares = np.linspace(small, large, 50)
    assert (np.diff([pseudo_harmonic(share, small, large) for share in shares]) < 0).all()
    # Ganzfried and Sandholm 2013: the size that is read either way with equal probability.
    median = (small + large + 2 * small * large) / (small + large + 2)
    assert pseudo_harmonic(median, small, large) == pytest.approx(0.5)


def test_the_mapping_moves_little_with_its_sizes():
    # The geometric mapping jumps where the smaller size nears a check; this one does not.
    for share, small in itertools.product((0.1, 0.3), (0.0, 1e-6, 1e-3)):
        near = pseudo_harmonic(share, small, 0.5)
        assert near == pytest.approx(pseudo_harmonic(share, 0.0, 0.5), abs=4e-3)
        assert near == pytest.approx(pseudo_harmonic(share, small, 0.501), abs=5e-3)


def test_shares_do_not_depend_on_the_worth_of_a_chip():
    large = replace(HOLDEM, blinds=(1000, 500), stacks=(200_000, 200_000))
    ones = Betting.start(HOLDEM), Betting.start(large)
    for total in (250, 700, 2100):
        shares = [pot_share(b, raise_to(total * k)) for b, k in zip(ones, (1, 10), strict=True)]
        assert shares[0] == shares[1]
        ones = tuple(b.apply(raise_to(total * k)) for b, k in zip(ones, (1, 10), strict=True))


def test_chips_that_cannot_be_matched_are_not_part_of_a_raise():
    uneven = replace(HOLDEM, stacks=(20_000, 1000))
    betting = Betting.start(uneven).apply(CALL)
    assert pot_share(betting, raise_to(20_000)) == pot_share(betting, raise_to(1000)) == 4.5


# --- reading --------------------------------------------------------------------------------------


@pytest.mark.parametrize("drawn", [0.0, 0.5, 0.999])
def test_sizes_of_the_tree_are_read_as_themselves(tree, drawn):
    for name in ("r200", "r300", "r20000"):
        action = raise_to(int(name[1:]))
        assert tree.name(read_raise(tree, 0, Betting.start(HOLDEM), action, drawn)) == name
    before = bettings(300)
    for name in ("r300r600", "r300r900"):
        action = raise_to(int(name[5:]))
        assert tree.name(read_raise(tree, tree.parse("r300"), before, action, drawn)) == name


def test_a_raise_between_two_sizes_is_read_by_its_probability(tree):
    # To 250: 150 more into 200, between a half (A) and one pot (B): f = 0.25·1.5 / (0.5·1.75).
    probability, action = 0.25 * 1.5 / (0.5 * 1.75), raise_to(250)
    read = [
        read_raise(tree, 0, bettings(), action, drawn)
        for drawn in (probability - 1e-9, probability)
    ]
    assert [tree.name(node) for node in read] == ["r200", "r300"]


def test_raises_below_and_above_all_sizes(tree):
    flop, node = bettings(300, None), tree.parse("r300c/")
    small = raise_to(400)  # a sixth of the pot, below a half: with A = 0, a check
    probability = (1 / 2 - 1 / 6) / (1 / 2 * 7 / 6)
    assert read_raise(tree, node, flop, small, probability - 1e-9) is None
    assert tree.name(read_raise(tree, node, flop, small, probability)) == "r300c/r600"
    capped = BettingTree.build(HOLDEM, BetMenu.parse("50%", None, "1"), last_round=0)
    assert capped.name(read_raise(capped, 0, bettings(), raise_to(5000), 0.99)) == "r200"
    assert read_raise(capped, capped.parse("r200"), bettings(200), raise_to(700), 0.5) is None
    assert nearest_raise(capped, capped.parse("r200"), bettings(200), raise_to(700)) is None
    assert tree.name(nearest_raise(tree, 0, bettings(), raise_to(240))) == "r200"


def test_a_raise_read_as_a_call_is_called_and_ignored(tree):
    betting = bettings(300, None, 400)
    assert find_node(tree, betting, lambda *_: None) is None

    def first_only(node, before, action, place):
        return tree.parse("r300") if place == 0 else None

    assert find_node(tree, betting, first_only) is None
    after = bettings(300, None, None)
    assert tree.name(find_node(tree, after, first_only)) == "r300c/c"


def test_a_tree_that_is_all_in_while_the_table_is_not_calls(tree):
    betting = bettings(9000, None)
    all_in = tree.parse("r20000")
    assert find_node(tree, bettings(9000), lambda *_: all_in) == all_in
    assert find_node(tree, betting, lambda *_: all_in) is None


# --- acting ---------------------------------------------------------------------------------------


def test_a_raise_is_the_same_share_of_the_pot_at_the_table(tree):
    flop = tree.parse("r300c/")
    pot_bet, all_in = tree.parse("r300c/r900"), tree.parse("r300c/r20000")
    assert real_action(tree, pot_bet, bettings(300, None)) == raise_to(900)
    assert real_action(tree, pot_bet, bettings(250, None)) == raise_to(750)
    assert real_action(tree, all_in, bettings(250, None)) == raise_to(20_000)
    # Half of a small pot is below the smallest raise.
    half = tree.children(flop)[1]
    short = Betting.start(replace(HOLDEM, blinds=(100, 50)), 1, 100)
    assert tree.name(half) == "r300c/r600"
    assert real_action(tree, half, short) == raise_to(short.min_raise_to)


def test_an_action_that_is_illegal_at_the_table_becomes_a_call(tree):
    raised = tree.parse("r300r900")
    assert real_action(tree, raised, bettings(20_000)) == CALL
    assert real_action(tree, tree.parse("r300f"), bettings(300)) == FOLD
    assert real_action(tree, tree.parse("r300f"), bettings(None)) == CALL


def random_strategy(seed, menu=MENU):
    game = exact_game(LEDUC, menu)
    random = np.random.default_rng(seed)
    plans = []
    for player in (0, 1):
        noise = random.random(game.lengths[player]) ** 2
        plans.append(game.realize(player, game.behaviour(player, noise)))
    proof = Evaluation(0, (0, 0), "chips")
    description = GameDescription.of(game)
    found = Solution(description, tuple(plans), "none", 0, 0.0, proof, np.zeros((0, 3)))
    return game, tuple(plans), ExactStrategy(found)


class Watched(ExactStrategy):
    """A strategy that records the nodes at which it was queried, by hand."""

    def __init__(self, strategy):
        self.__dict__.update(strategy.__dict__)
        self.asked = {}

    def probabilities(self, node, view):
        assert self.tree.player[node] == view.player
        assert self.tree.round[node] == view.betting.round
        self.asked.setdefault(view.state.hand_number, []).append(node)
        return super().probabilities(node, view)


def test_within_its_sizes_a_strategy_wins_its_value():
    game, first, one = random_strategy(1)
    _, second, two = random_strategy(2)
    exact = expectation(game, first, second)
    players = (StrategyPlayer(one, LEDUC, "A"), StrategyPlayer(two, LEDUC, "B"))
    won = play_match(LEDUC, players, 8000, seed=4).chips[0]
    for seat in (0, 1):
        own = won[seat::2]
        assert abs(own.mean() - exact.seats[seat]) < 4 * own.std() / np.sqrt(len(own))


def test_any_sizes_are_answered_legally_and_read_the_same_at_every_decision():
    strategy = Watched(random_strategy(3)[2])
    player = StrategyPlayer(strategy, LEDUC, "A")
    match = play_match(LEDUC, (player, Uniform()), 1500, seed=2, keep_log=True)
    assert match.num_hands == 1500
    tree, deeper = strategy.tree, 0
    for nodes in strategy.asked.values():
        for above, below in itertools.pairwise(nodes):
            # A raise that was read before an earlier decision is read the same at a later one.
            assert above in tree.path(below)
            deeper += 1
    assert deeper > 200
    sizes = {a.amount for h in match.logs[0].hands for r in h.state.betting.history for a in r}
    assert len(sizes) > 50


class Bettor(Player):
    """A player that bets one size whenever it is legal, and calls otherwise."""

    name = "bettor"

    def __init__(self, more):
        self.more = more

    def act(self, view):
        betting = view.betting
        return raise_to(betting.spent[0] + self.more) if not betting.num_actions else CALL

    def reset(self, seed):
        return


def test_draws_follow_the_mapping_over_many_hands():
    strategy = Watched(random_strategy(5)[2])
    player = StrategyPlayer(strategy, LEDUC, "A")
    bettor = Bettor(14)  # into 20: seven tenths, between a half and one pot
    play_match(LEDUC, (bettor, player), 4000, seed=6)
    tree = strategy.tree
    first = [tree.name(nodes[0]) for nodes in strategy.asked.values()]
    read = [name for name in first if name.startswith("r")]
    assert set(read) == {"r20", "r30"}
    share, probability = read.count("r20") / len(read), pseudo_harmonic(0.7, 0.5, 1.0)
    assert abs(share - probability) < 4 * np.sqrt(probability * (1 - probability) / len(read))
