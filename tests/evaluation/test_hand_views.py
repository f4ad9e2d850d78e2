"""AIVAT by vectors over hands: the same as by matrices over pairs, and without bias."""

import functools
import itertools

import numpy as np
import pytest

from equilibrist.abstraction.features import Strengths
from equilibrist.abstraction.joint_counts import joint
from equilibrist.abstraction.recipes.percentile import percentile
from equilibrist.abstraction.streets import Streets
from equilibrist.cards.hand import hand_index
from equilibrist.cards.ranking import rank_hands
from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.aivat import Aivat, Corrector
from equilibrist.evaluation.bucket_values import BucketValues, one_bucket_values, standings
from equilibrist.evaluation.decision_values import decision_values
from equilibrist.evaluation.expectation import pair_value
from equilibrist.evaluation.hand_views import FirstDeal, HandView, HandViews
from equilibrist.evaluation.history_values import ExactCards, PairValues
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.catalog import get_game
from equilibrist.games.dealing import Dealer
from equilibrist.games.notation import parse_state
from equilibrist.games.rules import GameRules
from equilibrist.games.state import Deal, HandState
from equilibrist.models.bucketed import bucket_game
from equilibrist.models.exact import exact_game
from equilibrist.strategies.played import (
    BucketColumns,
    FixedMix,
    StateColumns,
    TableStrategy,
)

# All four rounds and two hole cards, in a deck whose exact model fits: hands block each other.
FOUR = GameRules(
    name="four", betting="limit", blinds=(2, 1), raise_sizes=(2, 2, 4, 4), max_raises=(2, 1, 1, 1),
    first_players=(1, 0, 0, 0), num_suits=2, num_ranks=4, num_hole_cards=2,
    num_board_cards=(0, 1, 1, 1),
)  # fmt: skip
# Small enough to enumerate every hand: the first board is counted, the second enumerated.
THREE = GameRules(
    name="three", betting="limit", blinds=(1, 1), raise_sizes=(2, 2, 4), max_raises=(1, 1, 1),
    first_players=(0, 0, 0), num_suits=2, num_ranks=2, num_hole_cards=1, num_board_cards=(0, 1, 1),
)  # fmt: skip
TWO = GameRules(
    name="two", betting="limit", blinds=(2, 1), raise_sizes=(2, 4), max_raises=(1, 1),
    first_players=(1, 0), num_suits=2, num_ranks=3, num_hole_cards=2, num_board_cards=(0, 1),
)  # fmt: skip
GAMES = {"three": THREE, "two": TWO, "leduc": get_game("leduc")}
MODELS = GAMES | {"four": FOUR}


def random_plans(game, seed=7):
    rng = np.random.default_rng(seed)
    noise = [rng.uniform(0.05, 1, length) for length in game.lengths]
    behaviours = [game.behaviour(p, game.realize(p, noise[p])) for p in (0, 1)]
    return tuple(game.realize(p, behaviours[p]) for p in (0, 1))


# --- the same values, by hand and by pair ---------------------------------------------------------


class ValuesByHand:
    """Values of an exact game's histories, looked up by hands."""

    def __init__(self, game, strategy, values):
        self.game, self.strategy, self.values = game, strategy, values
        self.columns = StateColumns(game)

    def columns_of(self, r, board):
        return self.strategy.columns_of(r, board)

    def by_columns(self, node, known):
        tree = self.game.trees[0]
        blocks = [self.values(node, b) for b in range(*map(int, tree.board_start[1:3]))]
        size = sum(len(own) for own in blocks)
        out, start = np.zeros((size, size)), 0
        for own in blocks:
            both = slice(start, start + len(own))
            out[both, both] = own if known == 0 else own.T
            start += len(own)
        return out

    def __call__(self, node, known, boards, seen):
        rows = []
        for board in boards:
            r = int(self.game.betting.round[node])
            number, column = self.columns.locate(r, board)
            own = self.values(node, number)
            rows.append((own if known == 0 else own.T)[column, column[seen]])
        return np.stack(rows)


@functools.cache
def four():
    game = exact_game(FOUR, symmetry="suits")
    return game, random_plans(game), PairValues(game, random_plans(game, seed=8))


@pytest.mark.parametrize("known", [0, 1])
def test_vectors_over_hands_give_what_matrices_over_pairs_give(known):
    game, plans, pairs = four()
    strategy = TableStrategy.of_game(game, plans)
    by_hand = ValuesByHand(game, strategy, pairs)
    views = HandViews(known, strategy, None, by_hand, FirstDeal.of(strategy, by_hand))
    tree, cards = game.betting, ExactCards(game)
    hands = np.flatnonzero(cards.states.state_of_hand[0][0] >= 0)
    a_hand = {int(cards.states.state_of_hand[0][0][hand]): hand for hand in hands}

    def values(node, board):
        if tree.round[node]:
            return pairs(node, board)
        seen = [a_hand[state] for state in range(len(a_hand))]
        row = [views.first_round(int(views.first_deal.class_of[hand]))[node] for hand in seen]
        return np.array(row)[None, :] if known == 0 else np.array(row)[:, None]

    matrices = Aivat(game, (plans[0], None) if known == 0 else (None, plans[1]), values)
    vectors = Corrector(views)
    assert vectors.expected == pytest.approx(matrices.expected, abs=1e-9)
    rng, dealer, rounds = np.random.default_rng(1), Dealer(FOUR, seed=2), set()
    for _ in range(150):
        hand = HandState.start(FOUR, next(dealer))
        while not hand.is_over:  # folds are rare, so that most hands see all boards
            actions = hand.legal_actions().actions
            weights = np.array([0.1 if action.kind == "f" else 1 for action in actions])
            hand = hand.apply(actions[rng.choice(len(actions), p=weights / weights.sum())])
        one, other = matrices.terms(hand), vectors.terms(hand)
        assert other.observed == pytest.approx(one.observed, abs=1e-9)
        assert other.cards == pytest.approx(one.cards, abs=1e-9)
        assert other.actions == pytest.approx(one.actions, abs=1e-9)
        costs = (
            decision_values(corrector.views, hand, 1 - known) for corrector in (matrices, vectors)
        )
        for pair, vector in zip(*costs, strict=True):
            assert (vector.node, vector.taken) == (pair.node, pair.taken)
            assert vector.values == pytest.approx(pair.values, abs=1e-9)
        rounds.add(int(tree.round[cards.node(hand)]))
    assert rounds == {0, 1, 2, 3}


# --- every hand of small games --------------------------------------------------------------------


def deals(rules):
    """Yield all deals; hole cards are sorted, as their order does not matter."""
    dealt = [()]
    for size in (rules.num_hole_cards,) * 2 + rules.num_board_cards:
        dealt = [
            (*groups, cards)
            for groups in dealt
            for cards in itertools.combinations(
                sorted(set(rules.deck.cards) - set(sum(groups, ()))), size
            )
        ]
    return [Deal((first, second), sum(board, ())) for first, second, *board in dealt]


def hands(tree, players):
    """Yield every finished hand and its probability, when players answer with probabilities."""
    every = deals(tree.rules)

    def play(node, hand, probability):
        if tree.kind[node] == NodeKind.ROUND_END:
            node = tree.children(node)[0]
        if hand.is_over:
            yield hand, probability
            return
        shares = players[hand.actor](node, hand)
        for child, share in zip(tree.children(node), shares, strict=True):
            if share > 0:
                yield from play(child, hand.apply(tree.action(child)), probability * float(share))

    for deal in every:
        yield from play(0, HandState.start(tree.rules, deal), 1 / len(every))


def follow(strategy):
    """Return a player that follows a strategy."""
    find = functools.lru_cache(None)(strategy.probabilities)

    def probabilities(node, hand):
        hole = hand.holes[hand.actor]
        return find(node, hand.board)[:, hand_index(*hole) if len(hole) == 2 else hole[0]]

    return probabilities


def by_suit(node, hand):
    """Return probabilities that depend on suits, which no strategy here describes."""
    key = sum(hand.holes[hand.actor]) + 3 * sum(hand.board) + len(hand.betting.text)
    weights = 1 + (key * np.arange(1, 4)) % 5
    size = len(hand.legal_actions().actions)
    return weights[:size] / weights[:size].sum()


@functools.cache
def buckets(name):
    """Return buckets of a game, coarser than its cards."""
    numbers = {"three": [1, 2, 4], "two": [2, 4], "leduc": [2, 4], "four": [1, 2, 4, 8]}[name]
    return percentile(Strengths.of(Streets.of(MODELS[name])), numbers)


@functools.cache
def bucket_model(name, caps=None):
    own = buckets(name)
    game = bucket_game(own, joint(own), BetMenu.parse(None, None, caps))
    return game, random_plans(game, seed=9)


@functools.cache
def bucket_strategy(name, caps=None):
    """Return a strategy of buckets, and its values against itself."""
    game, plans = bucket_model(name, caps)
    behaviour = tuple(game.behaviour(player, plans[player]) for player in (0, 1))
    columns = BucketColumns(buckets(name))
    real = BettingTree.build(MODELS[name])
    strategy = TableStrategy(real, game.betting, game.trees, behaviour, columns)
    rounds = range(MODELS[name].num_rounds)
    tables = tuple([strategy.table(player, r) for r in rounds] for player in (0, 1))
    return strategy, BucketValues(game, strategy, tables, strategy.columns_of)


def corrector(known, strategy, values, other=None):
    return Corrector(HandViews(known, strategy, other, values, FirstDeal.of(strategy, values)))


def moments(tree, players, *correctors):
    """Return mean and standard deviation of player 0's chips, and of each correction of them."""
    rows, weights = [], []
    for hand, probability in hands(tree, players):
        rows.append([hand.payoffs()[0], *(own.chips(hand) for own in correctors)])
        weights.append(probability)
    values, weights = np.array(rows), np.array(weights)
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    means = weights @ values
    return means, np.sqrt(weights @ (values - means) ** 2)


@pytest.mark.parametrize(("name", "known"), [("three", 0), ("three", 1), ("two", 1), ("leduc", 0)])
def test_the_mean_is_that_of_the_chips(name, known):
    # The other player sees suits and is unknown, or follows another strategy that is known.
    strategy, values = bucket_strategy(name)
    tree = strategy.tree
    mix = FixedMix(tree, (0.2, 0.5, 0.3))
    players = [by_suit, by_suit]
    players[known] = follow(strategy)
    coarse = one_bucket_values(strategy)
    tables = [corrector(known, strategy, own) for own in (values, coarse)]
    means, deviations = moments(tree, players, *tables)
    np.testing.assert_allclose(means[1:], means[0], rtol=0, atol=1e-9)
    assert deviations[0] > deviations[2] > deviations[1]
    players[1 - known] = follow(mix)
    tables = [corrector(known, strategy, values, other) for other in (None, mix)]
    tables.append(corrector(1 - known, mix, one_bucket_values(mix), strategy))
    means, deviations = moments(tree, players, *tables)
    np.testing.assert_allclose(means[1:], means[0], rtol=0, atol=1e-9)
    assert deviations[0] > deviations[1] > deviations[2]  # the mix's own actions are corrected too


@pytest.mark.parametrize("known", [0, 1])
def test_raises_beyond_the_caps_leave_the_mean_as_it_is(known):
    strategy, values = bucket_strategy("leduc", "1 1")
    assert len(strategy.known) < len(strategy.tree)
    players = [by_suit, by_suit]
    players[known] = follow(strategy)
    table = corrector(known, strategy, values)
    means, deviations = moments(strategy.tree, players, table)
    assert means[1] == pytest.approx(means[0], abs=1e-9)
    assert deviations[1] < deviations[0]


def test_a_strategy_that_was_not_played_gives_another_mean():
    # The tests above can fail: with a wrong strategy the means differ.
    strategy, values = bucket_strategy("leduc")
    mix = FixedMix(strategy.tree, (0.2, 0.5, 0.3))
    means, _ = moments(strategy.tree, [follow(mix), by_suit], corrector(0, strategy, values))
    assert abs(means[1] - means[0]) > 0.01


# --- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_values_by_bucket_sum_to_the_value_of_the_game_of_buckets(name):
    game, plans = bucket_model(name)
    _, values = bucket_strategy(name)
    every = tuple(range(buckets(name).num_buckets[0]))
    whole = values._fold_up(0, 0, every)[0]
    assert whole.sum() == pytest.approx(pair_value(game, plans), abs=1e-6)
    np.testing.assert_allclose(values._fold_up(0, 1, every)[0], whole.T, atol=1e-6)
    opening = int(np.flatnonzero(values.tree.round == 1)[0])
    one, other = (values.by_columns(opening, known) for known in (0, 1))
    np.testing.assert_allclose(other, one.T, atol=1e-6)
    assert one.any()


@pytest.mark.parametrize("known", [0, 1])
def test_the_opening_of_the_last_round_is_worth_what_its_nodes_are(known):
    # The opening is a product over leaves, the nodes after it are folded up from them.
    strategy, values = bucket_strategy("four")
    tree, board, seen = strategy.tree, (38, 46, 50), hand_index(42, 51)
    opening = tree.parse("rc/crc/cc/")
    found = values(opening, known, [(47, 46, 50), board], seen)[1]
    live = [hand_index(*hand) for hand in ((39, 43), (39, 47), (43, 47))]
    children = [values(child, known, [board], seen)[0] for child in tree.children(opening)]
    own = strategy.probabilities(opening, board)
    shares = own if tree.player[opening] == known else own[:, [seen]]
    np.testing.assert_allclose(found[live], (shares * children).sum(axis=0)[live], atol=1e-12)
    assert len(set(found[live])) > 1


def test_values_beyond_the_caps_are_those_before_them_in_a_larger_pot():
    strategy, values = bucket_strategy("leduc", "1 1")
    tree, board = strategy.tree, (50,)
    raised, called = tree.parse("rc/rrc"), tree.parse("rc/rc")
    assert strategy.place(0, tree.parse("rc/rr")) == -1  # player 0 faces a raise beyond its caps
    ratio = tree.spent[raised].max() / tree.spent[called].max()
    found = [values(node, 0, [board], 51)[0] for node in (raised, called)]
    np.testing.assert_allclose(found[0], ratio * found[1])
    assert ratio > 1
    assert found[1].any()


@pytest.mark.parametrize("rest", ["/", "/cr", "/cc/", "/cc/cc/", "/cc/cc/r"])
def test_the_larger_pot_is_that_of_every_later_round(rest):
    strategy, values = bucket_strategy("four", "1 1 1 1")
    tree, seen, known = strategy.tree, hand_index(42, 51), 1  # who calls the second raise
    board = (38, 46, 50)[: rest.count("/")]
    nodes = [tree.parse(way + rest) for way in ("rrc", "rc")]
    raised, called = (values(node, known, [board], seen)[0] for node in nodes)
    ratio = tree.spent[nodes[0]].max() / tree.spent[nodes[1]].max()
    live = hand_index(39, 43)
    assert raised[live] == pytest.approx(ratio * called[live])
    assert abs(called[live]) > 1e-3
    assert ratio > 1
    if rest == "/":
        found = [values.by_columns(node, known) for node in nodes]
        np.testing.assert_allclose(found[0], ratio * found[1])


def test_standings_compare_complete_hands():
    rules = get_game("holdem-limit")
    boards = [(0, 5, 10, 20, 30), (51, 50, 49, 48, 3)]
    seen = hand_index(8, 9)
    found = standings(rules, boards, seen)
    for board, own in zip(boards, found, strict=True):
        for first, second in ((40, 41), (12, 13), (1, 2), (8, 9)):
            values = rank_hands([[first, second, *board], [8, 9, *board]]).astype(int)
            assert own[hand_index(first, second)] == np.sign(values[0] - values[1])
        assert own[hand_index(board[0], 25)] == 0


def test_first_deals_count_every_flop():
    # In a count by hand: of C(50, 3) flops, those that miss the other hand are C(48, 3).
    mix = FixedMix(BettingTree.build(get_game("royal-holdem")), (0.2, 0.5, 0.3))
    deal = FirstDeal.of(mix, one_bucket_values(mix))
    assert len(deal.size) == 25  # pairs, suited and offsuit hands of five ranks
    assert deal.size.sum() == 190
    every = deal.counts.sum(axis=(1, 2)) / deal.size
    np.testing.assert_array_equal(every, 153 * 560)  # C(18, 2) hands, C(16, 3) flops


# --- errors ---------------------------------------------------------------------------------------


def test_what_cannot_be_corrected_is_one_sentence():
    tree = BettingTree.build(get_game("leduc"))
    calls = FixedMix(tree, (0.0, 1.0, 0.0))
    table = corrector(0, calls, one_bucket_values(calls))
    with pytest.raises(InvalidValueError, match="never play 'r'"):
        table.chips(parse_state(tree.rules, "STATE:0:rf:As|Qs").state)
    with pytest.raises(InvalidValueError, match="player 1's cards are hidden"):
        table.chips(parse_state(tree.rules, "STATE:0:crf:As|").state)
    with pytest.raises(InvalidValueError, match="not over"):
        table.chips(parse_state(tree.rules, "STATE:0:cr:As|Qs").state)
    kuhn = parse_state(get_game("kuhn"), "STATE:0:rf:As|Qs").state
    with pytest.raises(InvalidValueError, match="a hand of kuhn cannot be found in leduc"):
        table.chips(kuhn)
    no_board = FixedMix(BettingTree.build(get_game("kuhn")), None)
    with pytest.raises(InvalidValueError, match="first board cards before the second round"):
        FirstDeal.of(no_board, one_bucket_values(no_board))
    both = corrector(0, calls, one_bucket_values(calls), FixedMix(tree, (0.0, 0.0, 1.0)))
    with pytest.raises(InvalidValueError, match="never play 'cc'"):
        both.chips(parse_state(tree.rules, "STATE:0:cc/cc:As|Qs/Qh").state)


def test_a_view_is_a_hand_and_a_board():
    tree = BettingTree.build(get_game("leduc"))
    mix = FixedMix(tree, None)
    views = HandViews(1, mix, None, values := one_bucket_values(mix), FirstDeal.of(mix, values))
    hand = parse_state(tree.rules, "STATE:0:cc/cc:As|Qs/Qh").state
    found = views.of_hand(views.node(hand), hand)
    assert found == (HandView(51, ()), HandView(51, hand.board))
    assert views.mass(0, found[0]) == 5
    assert views.mass(tree.parse("cc/"), found[1]) == 2.0
