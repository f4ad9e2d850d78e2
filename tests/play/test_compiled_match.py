"""Compiled matches of tables, compared with plain play of the same hands and with exact values."""

import functools
import itertools

import numba
import numpy as np
import pytest

from equilibrist.abstraction.features import Strengths
from equilibrist.abstraction.joint_counts import joint
from equilibrist.abstraction.recipes.percentile import percentile
from equilibrist.abstraction.streets import Streets
from equilibrist.cards.ranking import rank_hands
from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.expectation import expectation, fixed_mix
from equilibrist.games.action import CALL
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting import Betting
from equilibrist.games.betting_tree import NodeKind
from equilibrist.games.catalog import get_game
from equilibrist.games.dealing import Dealer
from equilibrist.games.match_log import log_lines, read_log, replay
from equilibrist.games.state import HandState
from equilibrist.models.bucketed import bucket_game
from equilibrist.models.exact import exact_game
from equilibrist.play import compiled_match
from equilibrist.play import match as matches
from equilibrist.play.compiled_match import TableMatch
from equilibrist.players.bucket_strategy import BucketStrategy
from equilibrist.players.catalog import make_player
from equilibrist.players.player import View
from equilibrist.players.static import Mix, Uniform
from equilibrist.players.strategy_player import (
    ExactStrategy,
    StrategyPlayer,
    thresholded,
)
from equilibrist.players.translation import find_node
from equilibrist.strategies.description import GameDescription
from equilibrist.strategies.evaluation import Evaluation
from equilibrist.strategies.solution import Solution

pytestmark = pytest.mark.kernels

LIMIT = get_game("holdem-limit")
play_match = functools.partial(matches.play_match, runner="auto")
WORD = 2**64 - 1
ALWAYS = ("always-fold", "always-call", "always-raise")


def pair(first, second, game=LIMIT):
    return make_player(first, game), make_player(second, game)


def random_plans(game, seed):
    random = np.random.default_rng(seed)
    plans = []
    for player in (0, 1):
        noise = random.random(game.lengths[player]) ** 4  # probabilities of all sizes
        plans.append(game.realize(player, game.behaviour(player, noise)))
    return tuple(plans)


def exact_player(name, seed, *, menu=None, symmetry=None, threshold=0.0):
    """Return a strategy of random probabilities in an exact game, or in one with fewer raises."""
    game = exact_game(get_game(name), *([menu] if menu else []), symmetry=symmetry)
    plans = random_plans(game, seed)
    proof = Evaluation(0, (0, 0), "chips")
    found = Solution(GameDescription.of(game), plans, "none", 0, 0.0, proof, np.zeros((0, 3)))
    return StrategyPlayer(ExactStrategy(found), get_game(name), f"random {seed}", threshold)


@functools.cache
def bucketed(name):
    rules = get_game(name)
    buckets = percentile(Strengths.of(Streets.of(rules)), [2**r for r in range(rules.num_rounds)])
    return bucket_game(buckets, joint(buckets)), buckets


def bucket_player(name, seed, threshold=0.0):
    game, buckets = bucketed(name)
    strategy = BucketStrategy(game.betting, random_plans(game, seed), buckets)
    return StrategyPlayer(strategy, get_game(name), f"buckets {seed}", threshold)


# --- a plain Python match -------------------------------------------------------------------------


def mixed(word):
    """Apply SplitMix64's finaliser to whole numbers (Steele, Lea and Flood 2014)."""
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & WORD
    return word ^ (word >> 31)


def chances_of(player, view):
    """Return the probability of each legal action, as in the player's own `act`."""
    legal = view.legal_actions().actions
    if isinstance(player, Uniform):
        return dict.fromkeys(legal, 1 / len(legal))
    found = dict.fromkeys(legal, 0.0)
    kinds = {action.kind: action for action in legal}
    if isinstance(player, Mix):
        for kind, probability in zip("fcr", player.probabilities, strict=True):
            found[kinds.get(kind, CALL)] += probability
        return found
    tree = player.strategy.tree
    node = find_node(tree, view.betting)
    if node is None:
        return found | {CALL: 1.0}
    probabilities = thresholded(player.strategy.probabilities(node, view), player.threshold)
    for child, probability in zip(tree.children(node), probabilities.tolist(), strict=True):
        found[tree.action(child)] = probability
    return found


def plain_match(rules, players, deals, seed, run=0, agreed_rounds=0):
    """Return the states in which hands end, computed by the rules."""
    (key,) = np.random.SeedSequence([seed, run, 2]).generate_state(1, np.uint64).tolist()
    dealer, ends = Dealer(rules, seed), []
    for number in range(deals):
        order = players if (number + run) % 2 == 0 else players[::-1]
        state = HandState.start(rules, next(dealer), number)
        word = mixed((key + number * 0x9E3779B97F4A7C15) & WORD)
        while (actor := state.actor) is not None:
            if state.betting.round < agreed_rounds:
                state = state.apply(CALL)
                continue
            probabilities = chances_of(order[actor], View.of(state, actor))
            word = (word + 0x9E3779B97F4A7C15) & WORD
            left = (mixed(word) >> 11) / 2**53 * sum(probabilities.values())
            for action, probability in probabilities.items():
                if probability > 0:
                    chosen = action
                    left -= probability
                    if left < 0:
                        break
            state = state.apply(chosen)
        ends.append(state)
    return ends


CAPPED = BetMenu.parse(None, None, "1 0")
MEETINGS = {
    "mixes": ("holdem-limit", lambda: pair("mix:0.1,0.5,0.4", "uniform")),
    "kuhn": ("kuhn", lambda: (exact_player("kuhn", 1), exact_player("kuhn", 2))),
    "ranks": ("leduc", lambda: (exact_player("leduc", 1), Mix(0.1, 0.5, 0.4))),
    "suits": (
        "leduc",
        lambda: (exact_player("leduc", 1, symmetry="suits"), exact_player("leduc", 2)),
    ),
    "caps": ("leduc", lambda: (exact_player("leduc", 3, menu=CAPPED), Mix(0.0, 0.4, 0.6))),
    "thresholds": (
        "leduc",
        lambda: (
            exact_player("leduc", 4, threshold=0.3),
            exact_player("leduc", 5, threshold=1.0),
        ),
    ),
    "three rounds": (
        "rhode-island",
        lambda: (exact_player("rhode-island", 1), exact_player("rhode-island", 2)),
    ),
    "rolled out": (
        "preflop-holdem",
        lambda: (exact_player("preflop-holdem", 1), Mix(0.1, 0.4, 0.5)),
    ),
    "buckets": (
        "royal-holdem",
        lambda: (bucket_player("royal-holdem", 1), bucket_player("royal-holdem", 2, 0.2)),
    ),
    "buckets of one card": (
        "rhode-island",
        lambda: (bucket_player("rhode-island", 1), exact_player("rhode-island", 3)),
    ),
}


@pytest.mark.parametrize(
    "meeting",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name == "rolled out" else [])  # 10 s
        for name in MEETINGS
    ],
)
def test_hands_are_those_of_plain_play_with_the_same_lots(meeting):
    game, make = MEETINGS[meeting]
    rules, players = get_game(game), make()
    deals = 150
    match = play_match(rules, players, 2 * deals, seed=5, duplicate=True, keep_log=True)
    assert match.runner == "tables"
    for run in (0, 1):
        ends = plain_match(rules, players, deals, 5, run)
        assert [str(end) for end in ends] == [str(hand.state) for hand in match.logs[run].hands]
        won = [end.payoffs()[(n + run) % 2] for n, end in enumerate(ends)]
        assert won == match.chips[run].tolist()
    assert len({end.betting.text for end in ends}) > 4


@pytest.mark.parametrize("names", list(itertools.permutations(ALWAYS, 2)))
@pytest.mark.parametrize("game", ["holdem-limit", "leduc", "royal-holdem"])
def test_players_without_lots_do_the_same_by_views(game, names):
    rules = get_game(game)
    played = [
        play_match(rules, pair(*names, rules), 60, seed=3, duplicate=True, runner=runner)
        for runner in ("tables", "views")
    ]
    assert [match.runner for match in played] == ["tables", "views"]
    assert (played[0].chips == played[1].chips).all()


# --- what is known of many hands ------------------------------------------------------------------


@pytest.mark.parametrize(("name", "hands"), [("kuhn", 400_000), ("leduc", 400_000)])
def test_long_matches_win_the_exact_expectation(name, hands):
    rules, game = get_game(name), exact_game(get_game(name))
    first, mix = exact_player(name, 6), (0.15, 0.5, 0.35)
    exact = expectation(game, random_plans(game, 6), fixed_mix(game, mix))
    chips = play_match(rules, (first, Mix(*mix)), hands, seed=8).chips[0]
    for seat in (0, 1):
        won = chips[seat::2]
        assert abs(won.mean() - exact.seats[seat]) < 4 * won.std() / np.sqrt(len(won))
    assert chips.std() > 1


def test_a_bucket_strategy_wins_its_value_among_buckets():
    game, buckets = bucketed("rhode-island")
    rules, plans = get_game("rhode-island"), random_plans(game, 7)
    players = (
        StrategyPlayer(BucketStrategy(game.betting, plans, buckets), rules, "A"),
        Mix(0.1, 0.5, 0.4),
    )
    exact = expectation(game, plans, fixed_mix(game, (0.1, 0.5, 0.4)))
    won = play_match(rules, players, 300_000, seed=1).results.rates
    assert abs(won.mean() - exact.mean) < 4 * won.std() / np.sqrt(len(won))
    assert abs(exact.mean) > 8 * won.std() / np.sqrt(len(won))


def test_always_fold_loses_750_to_always_raise_in_every_pair():
    match = play_match(LIMIT, pair("always-fold", "always-raise"), 200_000, duplicate=True)
    assert (match.results.rates == -7.5).all()
    calls = play_match(LIMIT, pair("always-call", "always-raise"), 200_000, duplicate=True)
    assert not calls.results.rates.any()


def test_cards_come_equally_often_to_every_place():
    cards = Dealer(LIMIT, seed=2).cards(100_000)
    counts = np.stack([np.bincount(column, minlength=52) for column in cards.T])
    chi = (((counts - 100_000 / 52) ** 2) / (100_000 / 52)).sum(axis=1)
    assert ((chi > 20) & (chi < 100)).all()  # 51 degrees of freedom: 51 ± 10
    assert (np.sort(cards, axis=1)[:, 1:] > np.sort(cards, axis=1)[:, :-1]).all()


def test_a_hand_does_not_depend_on_threads_batches_or_later_hands(monkeypatch):
    players = pair("mix:0.1,0.5,0.4", "uniform")
    whole = play_match(LIMIT, players, 5000, seed=4, duplicate=True)
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        assert (play_match(LIMIT, players, 5000, seed=4, duplicate=True).chips == whole.chips).all()
    finally:
        numba.set_num_threads(threads)
    monkeypatch.setattr(compiled_match, "BATCH", 64)
    assert (play_match(LIMIT, players, 2000, seed=4).chips[0] == whole.chips[0, :2000]).all()
    assert (play_match(LIMIT, players, 5000, seed=5).chips[0, :2500] != whole.chips[0]).any()


def test_runs_and_matches_draw_lots_of_their_own():
    players = pair("uniform", "mix:0.1,0.5,0.4")
    match = play_match(LIMIT, players, 2000, duplicate=True)
    # Were lots shared, the second run of players who ignore their cards would mirror the first.
    assert (match.chips[0] != -match.chips[1]).mean() > 0.5
    played = matches.play_matches(LIMIT, players, matches.MatchSettings(hands=200, matches=2))
    assert {match.runner for match in played} == {"tables"}
    assert (played[0].chips != played[1].chips).any()


def test_agreed_rounds_are_called():
    match = play_match(
        LIMIT, pair("always-fold", "always-raise"), 10, agreed_rounds=1, keep_log=True
    )
    assert {record.state.betting.text for record in match.logs[0].hands} == {"cc/rf", "cc/crf"}
    assert (match.chips == -10).all()
    ends = plain_match(LIMIT, players := pair("uniform", "mix:0.1,0.5,0.4"), 60, 2, 0, 2)
    found = play_match(LIMIT, players, 60, seed=2, agreed_rounds=2, keep_log=True)
    assert [str(end) for end in ends] == [str(hand.state) for hand in found.logs[0].hands]


def test_logs_of_tables_replay_from_their_seed():
    match = play_match(LIMIT, pair("uniform", "always-call"), 50, seed=11, keep_log=True)
    back = read_log(LIMIT, list(log_lines(match.logs[0])))
    assert back.score[0] == match.chips.sum()
    assert len(replay(back).hands) == 50


def test_a_match_says_how_far_it_is(monkeypatch):
    monkeypatch.setattr(compiled_match, "BATCH", 10)
    shares = []
    settings = matches.MatchSettings(hands=60, duplicate=True)
    matches.run_match(LIMIT, pair("always-call", "uniform"), settings, shares.append)
    assert shares == pytest.approx([1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6, 1])


def test_players_that_are_not_tables_are_asked():
    class Stubborn(Mix):
        def act(self, view):
            return CALL

    stubborn = Stubborn(0, 0, 1, "stubborn")
    assert TableMatch.of(LIMIT, (stubborn, Uniform())) is None
    assert play_match(LIMIT, (stubborn, Uniform()), 10).runner == "views"
    with pytest.raises(InvalidValueError, match="stubborn and uniform are not both tables"):
        play_match(LIMIT, (stubborn, Uniform()), 10, runner="tables")
    for name in ("holdem-nolimit", "discard-holdem"):
        assert play_match(get_game(name), (Uniform(), Mix(0, 1, 0)), 10).runner == "views"
    cards = exact_player("leduc", 1, symmetry="cards")
    assert play_match(get_game("leduc"), (cards, Uniform()), 10).runner == "views"


def test_a_bucket_strategy_fits_its_game():
    game, buckets = bucketed("rhode-island")
    other = bucketed("royal-holdem")[1]
    with pytest.raises(InvalidValueError, match="of royal-holdem, not of rhode-island"):
        BucketStrategy(game.betting, random_plans(game, 1), other)
    with pytest.raises(InvalidValueError, match="made for another game"):
        BucketStrategy(game.betting, tuple(plan[1:] for plan in random_plans(game, 1)), buckets)
    strategy = BucketStrategy(game.betting, random_plans(game, 1), buckets)
    with pytest.raises(InvalidValueError, match="not for leduc"):
        StrategyPlayer(strategy, get_game("leduc"), "A")


# --- chips ----------------------------------------------------------------------------------------


def payoffs_of_leaves(tree):
    """Return both players' payoffs at every leaf for a win, tie and loss of player 0: [V, 3, 2]."""
    bettings, found = [Betting.start(tree.rules)], np.zeros((len(tree), 3, 2), np.int64)
    for node in range(len(tree)):
        if node:
            action, above = tree.action(node), bettings[tree.parent[node]]
            bettings.append(above if action is None else above.apply(action))
        if tree.kind[node] == NodeKind.SHOWDOWN:
            for outcome, strengths in enumerate([(1, 0), (0, 0), (0, 1)]):
                found[node, outcome] = bettings[node].payoffs(strengths)
        elif tree.kind[node] == NodeKind.FOLD:
            found[node] = bettings[node].payoffs()
    return found


def check_chips(rules, players, deals, seed):
    """Check that the chips of every hand agree with the rules and sum to zero."""
    match = TableMatch.of(rules, players)
    chips, leaves = match.play(deals, seed=seed)
    known = payoffs_of_leaves(match.tree)
    assert not known.sum(axis=2).any()
    dealer, hole = Dealer(rules, seed), rules.num_hole_cards
    total = np.zeros(2, np.int64)
    for begin in range(0, deals, 2**18):
        cards = dealer.cards(min(2**18, deals - begin)).astype(np.int64)
        board = cards[:, 2 * hole :]
        values = [
            rank_hands(np.hstack([cards[:, p * hole : (p + 1) * hole], board]), rules.ranking)
            for p in (0, 1)
        ]
        outcome = 1 - np.sign(values[0].astype(np.int64) - values[1])
        number = np.arange(begin, begin + len(cards))
        won = known[leaves[number], outcome]  # of both players of the hands
        assert (chips[number] == won[np.arange(len(cards)), number % 2]).all()
        assert not won.sum(axis=1).any()
        total += [chips[number].sum(), won[np.arange(len(cards)), 1 - number % 2].sum()]
    assert total.sum() == 0
    assert chips.any()


@pytest.mark.parametrize("name", ["holdem-limit", "royal-holdem", "leduc"])
def test_chips_are_those_of_the_rules(name):
    check_chips(get_game(name), pair("uniform", "mix:0.05,0.5,0.45", get_game(name)), 20_000, 1)


@pytest.mark.slow
def test_chips_are_conserved_over_ten_million_hands():
    check_chips(LIMIT, pair("mix:0.05,0.5,0.45", "uniform"), 10_000_000, 9)
    leduc = get_game("leduc")
    check_chips(leduc, (exact_player("leduc", 1), Mix(0.1, 0.4, 0.5)), 1_000_000, 9)
