"""AIVAT by full enumeration: every deal and every betting sequence, so that means are exact."""

import dataclasses
import functools
import itertools

import numpy as np
import pytest

from equilibrist.errors import InvalidValueError, RecordError
from equilibrist.evaluation.aivat import Aivat, corrected
from equilibrist.evaluation.expectation import expectation, fixed_mix, pair_value
from equilibrist.evaluation.history_values import ExactCards, PairValues
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.catalog import get_game
from equilibrist.games.dealing import Dealer
from equilibrist.games.notation import parse_state
from equilibrist.games.records import HandRecord
from equilibrist.games.rules import GameRules
from equilibrist.games.state import Deal, HandState
from equilibrist.kernels.treeplex import block
from equilibrist.models.exact import exact_game, matrix_game
from equilibrist.models.treeplex import player_rows
from equilibrist.solving.cfr import CFR

# Two suits, two hole cards, a board: suits matter little, but hands on boards must be renamed.
PAIRS = GameRules(
    name="pairs", betting="limit", blinds=(2, 1), raise_sizes=(2, 4), max_raises=(1, 1),
    first_players=(1, 0), num_suits=2, num_ranks=3, num_hole_cards=2, num_board_cards=(0, 1),
)  # fmt: skip
# Stacks of three chips: all-ins in the first round, after which nobody acts.
SHORT = GameRules(
    name="short", betting="nolimit", blinds=(1, 1), stacks=(3, 3), max_raises=(1, 1),
    num_suits=2, num_ranks=3, num_hole_cards=1, num_board_cards=(0, 1),
)  # fmt: skip
GAMES = {name: get_game(name) for name in ("kuhn", "leduc")} | {"pairs": PAIRS, "short": SHORT}


@functools.cache
def model(name):
    return exact_game(GAMES[name], BetMenu.parse("a") if name == "short" else BetMenu())


@functools.cache
def cards(name):
    return ExactCards(model(name))


@functools.cache
def plans(name, kind):
    """Return strategies of different strength: a plan for each seat."""
    game = model(name)
    if kind == "mixed":
        return fixed_mix(game, (0.3, 0.45, 0.25))
    if kind == "random":
        rng = np.random.default_rng(7)
        noise = [rng.uniform(0.05, 1, length) for length in game.lengths]
        behaviours = [game.behaviour(p, game.realize(p, noise[p])) for p in (0, 1)]
        return tuple(game.realize(p, behaviours[p]) for p in (0, 1))
    state = CFR().init(game)
    CFR().step(game, state, {"weak": 5, "near": 200, "strong": 2000}[kind])
    return CFR().plans(game, state)


class FollowPlan:
    """Probabilities of a plan in a real hand, looked up by cards."""

    def __init__(self, game, player, plan):
        self.game, self.player = game, player
        self.cards = cards(game.name)
        self.rows = player_rows(game.betting, player)
        self.behaviour = game.behaviour(player, np.asarray(plan, float))

    def __call__(self, hand):
        node = self.cards.node(hand)
        r = int(self.game.betting.round[node])
        board, state = self.cards.find(r, hand, self.player)
        tree = self.game.trees[self.player]
        first = tree.decision_first[self.rows.decision[node]]
        size = len(self.game.betting.children(node))
        return block(tree, r, board, self.behaviour)[first : first + size, state]


def by_suit(hand):
    """Return probabilities that depend on suits, which no plan of a symmetric game describes."""
    hole, board = hand.holes[hand.actor], hand.board
    key = sum(hole) + 3 * sum(board) + len(hand.betting.text)
    weights = 1 + (key * np.arange(1, 4)) % 5
    size = len(actions_of(hand))
    return weights[:size] / weights[:size].sum()


def actions_of(hand):
    game = model(hand.rules.name)
    node = cards(hand.rules.name).node(hand)
    return [game.betting.action(child) for child in game.betting.children(node)]


def deals(rules):
    """Yield all deals; sets of cards are sorted, as the model ignores their order."""
    deck, sizes = list(rules.deck.cards), (rules.num_hole_cards,) * 2 + rules.num_board_cards
    dealt = [()]
    for size in sizes:
        dealt = [
            (*groups, cards)
            for groups in dealt
            for cards in itertools.combinations(sorted(set(deck) - set(sum(groups, ()))), size)
        ]
    for first, second, *board in dealt:
        yield Deal((first, second), sum(board, ()))


def hands(rules, players):
    """Yield every finished hand and its probability, when players answer with probabilities."""
    all_deals = list(deals(rules))

    def play(hand, probability):
        if hand.is_over:
            yield hand, probability
            return
        probabilities = players[hand.actor](hand)
        for action, share in zip(actions_of(hand), probabilities, strict=True):
            if share > 0:
                yield from play(hand.apply(action), probability * float(share))

    for deal in all_deals:
        yield from play(HandState.start(rules, deal), 1 / len(all_deals))


def moments(name, players, *estimators):
    """Return mean and standard deviation of player 0's chips, and of each estimate of them."""
    rows, probabilities = [], []
    for hand, probability in hands(GAMES[name], players):
        rows.append([hand.payoffs()[0], *(estimator.chips(hand) for estimator in estimators)])
        probabilities.append(probability)
    values, weights = np.array(rows), np.array(probabilities)
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    means = weights @ values
    return means, np.sqrt(weights @ (values - means) ** 2)


def zero(node, board):
    return np.zeros((1, 1))


def noise(node, board):
    """Return meaningless values, the same at every call."""
    return 10 * np.sin(1 + 7919 * node + 104729 * board) * np.ones((1, 1))


def noise_by_state(game):
    shapes = [tree.num_states for tree in game.trees]

    def values(node, board):
        rng = np.random.default_rng((node, board))
        return rng.normal(0, 10, (int(shapes[0][board]), int(shapes[1][board])))

    return values


VALUES = {
    "zero": lambda game, name: zero,
    "noise": lambda game, name: noise,
    "noise by state": lambda game, name: noise_by_state(game),
    "self-play": lambda game, name: PairValues(game, plans(name, "strong")),
    "another pair": lambda game, name: PairValues(game, plans(name, "random")),
}


@pytest.mark.parametrize("name", GAMES)
def test_the_mean_is_that_of_the_chips_whatever_the_values(name):
    game = model(name)
    pair = (plans(name, "mixed")[0], plans(name, "random")[1])
    players = [FollowPlan(game, player, pair[player]) for player in (0, 1)]
    tables = [
        Aivat(game, known, make(game, name))
        for known in ((pair[0], None), (None, pair[1]), pair)
        for make in VALUES.values()
    ]
    means, _ = moments(name, players, *tables)
    np.testing.assert_allclose(means[1:], means[0], rtol=0, atol=1e-12)
    assert means[0] == pytest.approx(pair_value(game, pair), abs=1e-12)


@pytest.mark.parametrize("name", GAMES)
def test_an_unknown_player_may_see_what_the_model_merges(name):
    game = model(name)
    for known in (0, 1):
        plan = plans(name, "random")[known]
        players = [by_suit, by_suit]
        players[known] = FollowPlan(game, known, plan)
        given = (plan, None) if known == 0 else (None, plan)
        kinds = ("noise by state", "self-play", "another pair")
        tables = [Aivat(game, given, VALUES[kind](game, name)) for kind in kinds]
        means, _ = moments(name, players, *tables)
        np.testing.assert_allclose(means[1:], means[0], rtol=0, atol=1e-12)


def test_a_strategy_that_was_not_played_gives_another_mean():
    # The test above can fail: with wrong plans the means differ.
    game = model("leduc")
    players = [FollowPlan(game, p, plans("leduc", "random")[p]) for p in (0, 1)]
    wrong = Aivat(game, (plans("leduc", "mixed")[0], None), VALUES["self-play"](game, "leduc"))
    means, _ = moments("leduc", players, wrong)
    assert abs(means[1] - means[0]) > 0.01


def test_both_strategies_known_leave_one_hundredth_of_leducs_deviation():
    # Values are those of strong play against itself; one of the players is another one. (Burch et
    # al. found almost 99.9 % removed.) With the values of the two themselves nothing is left.
    game = model("leduc")
    values = VALUES["self-play"](game, "leduc")
    pair = (plans("leduc", "strong")[0], plans("leduc", "near")[1])
    players = [FollowPlan(game, player, pair[player]) for player in (0, 1)]
    _, deviations = moments("leduc", players, Aivat(game, pair, values), Aivat(game, pair))
    assert 1e-6 < deviations[1] < 0.01 * deviations[0]
    assert deviations[2] < 1e-12


def test_more_knowledge_never_widened_the_deviation_on_leduc():
    game = model("leduc")
    values = VALUES["self-play"](game, "leduc")
    pair = (plans("leduc", "strong")[0], plans("leduc", "weak")[1])
    players = [FollowPlan(game, player, pair[player]) for player in (0, 1)]
    tables = [
        Aivat(game, (pair[0], None), zero),
        Aivat(game, (pair[0], None), values),
        Aivat(game, pair, values),
    ]
    _, (chips, imaginary, one, both) = moments("leduc", players, *tables)
    assert chips > imaginary > one > both


@pytest.mark.parametrize("name", GAMES)
def test_values_of_a_pair_are_the_results_of_play_from_there(name):
    game = model(name)
    pair = (plans(name, "mixed")[0], plans(name, "random")[1])
    values, table = PairValues(game, pair), cards(name)
    root = sum(
        float((table.joint(board) * values(0, board)).sum())
        for board in range(int(game.trees[0].board_start[1]))
    )
    assert root == pytest.approx(pair_value(game, pair), abs=1e-12)
    # On average over the hands that pass a node, its value is their result.
    players = [FollowPlan(game, player, pair[player]) for player in (0, 1)]
    passed = {}
    for hand, probability in hands(GAMES[name], players):
        for node in game.betting.path(table.node(hand)):
            r = int(game.betting.round[node])
            board, first = table.find(r, hand, 0)
            sums = passed.setdefault((node, board, first, table.find(r, hand, 1)[1]), [0.0, 0.0])
            sums[0] += probability
            sums[1] += probability * hand.payoffs()[0]
    assert len(passed) > 20
    for (node, board, first, second), (mass, chips) in passed.items():
        assert values(node, board)[first, second] == pytest.approx(chips / mass, abs=1e-9)


def test_values_of_the_last_round_are_computed_again_if_not_cached(monkeypatch):
    whole = PairValues(model("leduc"), plans("leduc", "random"))
    monkeypatch.setattr("equilibrist.evaluation.history_values._CACHED_NUMBERS", 1)
    forgetful = PairValues(model("leduc"), plans("leduc", "random"))
    betting = model("leduc").betting
    for node in range(len(betting)):
        for board in (0,) if betting.round[node] == 0 else (1, 2, 3):
            np.testing.assert_array_equal(whole(node, board), forgetful(node, board))


def test_a_kuhn_hand_by_hand():
    # Player 0 raises with Q, K or A: a third each before the cards, x = 0.2 whatever they are.
    # Player 1 held Q, so player 0 held K or A, and the showdown is worth 2 for certain.
    game = model("kuhn")
    mix = fixed_mix(game, (0.5, 0.3, 0.2))
    hand = parse_state(GAMES["kuhn"], "STATE:0:rc:|Qs").state
    terms = Aivat(game, (mix[0], None), PairValues(game, mix)).terms(hand)
    assert terms.observed == 2
    # A showdown between equals of Q against K or A costs player 1 its stake: 1 after c c; one fold
    # in two wins the antes. V by hand of the mix above:
    after_raise = 0.5 * 1 + 0.5 * 2  # folded to, or called and won
    after_check = 0.8 * 1 + 0.2 * (0.5 * -1 + 0.5 * 2)  # checked behind, or raised: fold or call
    before = 0.2 * after_raise + 0.8 * after_check
    assert terms.actions == pytest.approx(before - after_raise)
    # The deal of Q to player 1 is lucky for player 0: over all deals the value of the mix against
    # itself is the difference of the two seats.
    assert terms.cards == pytest.approx(pair_value(game, mix) - before)


def test_records_of_a_match_are_corrected_in_both_seats():
    game, rng = model("leduc"), np.random.default_rng(3)
    strategies = {"Ann": plans("leduc", "strong"), "Bob": plans("leduc", "weak")}
    players = {
        (name, seat): FollowPlan(game, seat, side[seat])
        for name, side in strategies.items()
        for seat in (0, 1)
    }
    records, dealer = [], Dealer(GAMES["leduc"], seed=1)
    for number in range(400):
        names = ("Ann", "Bob") if number % 2 == 0 else ("Bob", "Ann")
        hand = HandState.start(GAMES["leduc"], next(dealer), number)
        while not hand.is_over:
            probabilities = players[names[hand.actor], hand.actor](hand)
            hand = hand.apply(actions_of(hand)[rng.choice(len(probabilities), p=probabilities)])
        records.append(HandRecord.of(hand, names))
    truth = expectation(game, strategies["Ann"], strategies["Bob"])
    # Both known: every hand has exactly the value of its seat.
    both = corrected(game, records, strategies, "Ann")
    np.testing.assert_allclose(both[::2], truth.seats[0], atol=1e-12)
    np.testing.assert_allclose(both[1::2], truth.seats[1], atol=1e-12)
    np.testing.assert_array_equal(corrected(game, records, strategies, "Bob"), -both)
    # One known: an interval that holds the truth, and is narrower than that of the chips.
    one = corrected(game, records, {"Ann": strategies["Ann"]}, "Ann")
    chips = np.array([record.payoffs[record.names.index("Ann")] for record in records])
    assert abs(one.mean() - truth.mean) < 4 * one.std() / 20
    assert one.std() < 0.7 * chips.std()


def test_values_that_are_given_are_used_instead_of_the_pairs():
    game, strong = model("leduc"), plans("leduc", "strong")
    state = parse_state(GAMES["leduc"], "STATE:0:cc/rc:Ks|Qs/As").state
    record = HandRecord.of(state, ("Ann", "Bob"))
    found = corrected(game, [record], {"Ann": strong}, "Ann", zero)
    assert found == [Aivat(game, (strong[0], None), zero).chips(state)]
    assert found != corrected(game, [record], {"Ann": strong}, "Ann")
    with pytest.raises(InvalidValueError, match="at least one player"):
        corrected(game, [record], {}, "Ann")


def test_what_cannot_be_corrected_gives_one_sentence():
    game, rules = model("kuhn"), GAMES["kuhn"]
    mix, never = fixed_mix(game, (0.5, 0.3, 0.2)), fixed_mix(game, (0, 1, 0))
    hand = parse_state(rules, "STATE:0:rc:As|Qs").state
    with pytest.raises(InvalidValueError, match="at least one player"):
        Aivat(game, (None, None))
    with pytest.raises(InvalidValueError, match="values of histories must be given"):
        Aivat(game, (mix[0], None))
    with pytest.raises(InvalidValueError, match="never play 'r'"):
        Aivat(game, (never[0], None), zero).chips(hand)
    with pytest.raises(InvalidValueError, match="player 1's cards are hidden"):
        Aivat(game, (mix[0], None), zero).chips(parse_state(rules, "STATE:0:rf:As|").state)
    with pytest.raises(InvalidValueError, match="not over"):
        Aivat(game, mix).chips(parse_state(rules, "STATE:0:r:As|Qs").state)
    with pytest.raises(InvalidValueError, match="has no cards"):
        Aivat(matrix_game([[1, -1], [-1, 1]]), mix, zero)
    with pytest.raises(InvalidValueError, match="numbers"):
        Aivat(game, (mix[0][:-1], None), zero)
    with pytest.raises(InvalidValueError, match="Cleo did not play hand 0"):
        corrected(game, [HandRecord.of(hand, ("Ann", "Bob"))], {"Ann": mix}, "Cleo")
    leduc = parse_state(GAMES["leduc"], "STATE:0:rf:As|Qs").state
    with pytest.raises(InvalidValueError, match="a hand of leduc cannot be found in kuhn"):
        Aivat(game, mix).chips(leduc)
    capped = exact_game(dataclasses.replace(GAMES["leduc"], max_raises=(1, 1)))
    raised = parse_state(GAMES["leduc"], "STATE:0:rrf:As|Qs").state
    with pytest.raises(RecordError, match="leads nowhere"):
        Aivat(capped, fixed_mix(capped, (0, 0, 1))).chips(raised)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["preflop-holdem", "rhode-island"])
def test_large_games_are_corrected_too(name):
    rules = get_game(name)
    game = exact_game(rules)
    mix = fixed_mix(game, (0.2, 0.5, 0.3))
    truth, values = pair_value(game, mix), PairValues(game, mix)
    one, both = Aivat(game, (mix[0], None), values), Aivat(game, mix, values)
    rng, dealer, corrections, chips = np.random.default_rng(1), Dealer(rules, seed=1), [], []
    for _ in range(1000):
        hand = HandState.start(rules, next(dealer))
        while not hand.is_over:
            actions = {action.kind: action for action in hand.legal_actions().actions}
            kind = rng.choice(list("fcr"), p=[0.2, 0.5, 0.3])
            hand = hand.apply(actions.get(kind, actions["c"]))
        assert both.chips(hand) == pytest.approx(truth, abs=1e-9)
        corrections.append(one.chips(hand))
        chips.append(hand.payoffs()[0])
    error = np.std(corrections) / np.sqrt(len(corrections))
    assert abs(np.mean(corrections) - truth) < 4 * error
    assert np.std(corrections) < 0.6 * np.std(chips)
