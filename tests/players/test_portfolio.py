"""A portfolio wins more than its anchor from the weak, and loses at most its bound."""

import itertools
import random

import numpy as np
import pytest

import equilibrist as eq
from equilibrist.errors import EquilibristError
from equilibrist.evaluation.observation import mix_behaviour
from equilibrist.games.action import CALL, FOLD, RAISE
from equilibrist.games.catalog import get_game
from equilibrist.games.state import Deal, HandState
from equilibrist.kernels.treeplex import block
from equilibrist.models.exact import exact_game
from equilibrist.models.treeplex import player_rows
from equilibrist.play.match import play_match
from equilibrist.players.catalog import make_player
from equilibrist.players.known_plans import known_plans
from equilibrist.players.player import Player, Result, View
from equilibrist.players.portfolio import LEAST, Portfolio
from equilibrist.players.static import Mix
from equilibrist.solving.best_response import best_response

KUHN = get_game("kuhn")
WEAK = "mix:0.9,0.1,0", "mix:0,0.1,0.9"  # folds to every bet; bets and calls with everything


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    home = tmp_path_factory.mktemp("portfolio")
    eq.solve("kuhn", method="lp").save(home / "nash")
    for number, target in enumerate(WEAK):
        eq.counter(target, game="kuhn", p=0.95, folder=home / f"response{number}")
    return [str(home / name) for name in ("nash", "response0", "response1")]


def portfolio(folders, stop=None):
    options = ",".join(folders) + ("" if stop is None else f",stop={stop}")
    return make_player(f"portfolio:{options}", KUHN)


class Switching(Player):
    """Plays one mix for half a match, another in the second half."""

    name = "switching"

    def __init__(self, hands):
        self.mixes, self.half = [make_player(text, KUHN) for text in WEAK], hands // 2

    def reset(self, seed):
        for mix in self.mixes:
            mix.reset(seed)

    def act(self, view):
        return self.mixes[view.state.hand_number >= self.half].act(view)


@pytest.mark.parametrize("target", WEAK)
def test_it_wins_more_than_its_anchor_from_the_weak_and_learns(folders, target):
    own, other = portfolio(folders), make_player(target, KUHN)
    anchor = make_player(f"solution:{folders[0]}", KUHN)
    hands = 4000
    learnt = play_match(KUHN, (own, other), hands, seed=3)
    alone = play_match(KUHN, (anchor, other), hands, seed=3)
    assert learnt.rate() > alone.rate() + 0.03
    assert own.weights.argmax() == 1 + WEAK.index(target)  # at first the anchor has most
    assert not own.is_stopped


def test_it_follows_an_opponent_that_switches(folders):
    hands = 8000
    own, other = portfolio(folders), Switching(hands)
    anchor = make_player(f"solution:{folders[0]}", KUHN)
    learnt = play_match(KUHN, (own, other), hands, seed=5)
    alone = play_match(KUHN, (anchor, other), hands, seed=5)
    assert learnt.rate() > alone.rate() + 0.02
    assert learnt.rate(0.1) > alone.rate(0.1)


def test_it_loses_at_most_the_bound_against_the_strongest(folders):
    """The opponent plays best responses to the two responses; the anchor would lose nothing."""
    worst = eq.counter(f"solution:{folders[2]}", game="kuhn", p=1)
    stop, lost = 10.0, []
    for seed in range(3):
        own = portfolio(folders, stop)
        other = _player_of(worst)
        lost.append(-play_match(KUHN, (own, other), 1000, seed=seed).chips.sum())
    bound = stop + 2 * (1 / LEAST - 1)
    assert own.bound() == pytest.approx(bound)
    # The anchor loses at most 1/18 a hand as first player and wins as much as second: 0 in all.
    error = 4 * np.sqrt(1000 * 1.6 / len(lost))
    assert np.mean(lost) <= bound + error


class Adversary(Player):
    """Knows the weights of a portfolio in every hand, and takes as much as it can from it.

    It maximises what the portfolio loses against its anchor. One that lures first plays badly, as a
    mix, whenever the anchor has most of the weight, so that the responses get it.
    """

    name = "adversary"

    def __init__(self, own, folders, lure=None):
        self.own, self.game = own, exact_game(KUHN)
        players = [make_player(f"solution:{folder}", KUHN) for folder in folders]
        self.plans = [known_plans(one, self.game) for one in players]
        self.lure = lure

    def reset(self, seed):
        self.random, self.hand, self.cost = random.Random(seed), None, 0.0

    def start(self, hand, seat):
        """Choose a strategy for the hand, and add what it is expected to cost."""
        self.hand = hand
        if self.own.is_stopped:
            return  # the anchor plays: any strategy costs 0
        weights = self.own.weights
        other = [plans[1 - seat] for plans in self.plans]
        less = sum(w * plan for w, plan in zip(weights, other, strict=True)) - other[0]
        if self.lure is not None and weights[0] > 0.4:
            self.behaviour = mix_behaviour(self.game, seat, self.lure)
        else:
            self.behaviour = best_response(self.game, seat, less)[1]
        plan = self.game.realize(seat, self.behaviour)
        self.cost -= float(less @ self.game.gradient(1 - seat, plan))

    def act(self, view):
        if self.hand != view.state.hand_number:
            self.start(view.state.hand_number, view.player)
        betting, node = self.game.betting, 0
        for letter in view.betting.text:
            node = betting.child(node, letter)
        shares = block(self.game.trees[view.player], 0, 0, self.behaviour)
        rows = player_rows(betting, view.player).row
        children = list(betting.children(node))
        weights = [shares[rows[child], view.hole[0] // 4 - 10] for child in children]
        return betting.action(self.random.choices(children, weights)[0])


@pytest.mark.parametrize(
    ("lure", "seeds"),
    [
        (None, 3),
        pytest.param((0.9, 0.1, 0.0), 4, marks=pytest.mark.slow),
        pytest.param((0.0, 0.1, 0.9), 4, marks=pytest.mark.slow),
    ],
)
def test_an_adversary_that_knows_the_weights_takes_at_most_the_bound(folders, lure, seeds):
    """Costs are expectations given the past, so no luck hides what the adversary takes."""
    costs, hands = [], 300 if lure is None else 1500
    for seed in range(seeds):
        own = portfolio(folders, stop=4)
        other = Adversary(own, folders, lure)
        play_match(KUHN, (own, other), hands, seed=seed)
        assert own.cost <= own.bound() == 12
        costs.append(other.cost)
    assert np.mean(costs) > 1  # it does take something, and single matches take more
    assert np.mean(costs) <= own.bound() + 3 * np.std(costs, ddof=1) / np.sqrt(seeds)


def _every_hand(rules, own, other, seat):
    """Yield the probability of every deal and betting, chips and result of a portfolio's seat."""
    deals = list(itertools.permutations(rules.deck.cards, 2 + rules.total_board_cards))
    for number, cards in enumerate(deals):
        state = HandState.start(rules, Deal(((cards[0],), (cards[1],)), cards[2:]), number)
        yield from _continuations(state, own, other, seat, 1 / len(deals), [])


def _continuations(state, own, other, seat, probability, acted):
    actor = state.actor
    if actor is None:
        yield probability, acted, Result(View.of(state, seat), state.payoffs()[seat])
        return
    view = View.of(state, actor)
    if actor != seat:
        for action, share in other.mixture(view):
            yield from _continuations(
                state.apply(action), own, other, seat, probability * share, acted
            )
        return
    for action in view.legal_actions().actions + ((RAISE,) if view.betting.can_raise else ()):
        yield from _continuations(
            state.apply(action), own, other, seat, probability, [*acted, (view, action)]
        )


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("name", ["kuhn", pytest.param("leduc", marks=pytest.mark.slow)])
def test_estimates_have_the_expectation_of_what_each_member_wins(name, seat):
    """Over all deals and actions, with their probabilities: importance sampling has no bias."""
    rules = get_game(name)
    other = Mix(0.2, 0.3, 0.5)
    members = RandomPlayer(1), Mix(0.1, 0.5, 0.4), RandomPlayer(2)
    own = Portfolio(rules, members, stop=1e9)
    drawn = own.weights
    mean, cost, truth, spread = np.zeros(3), 0.0, np.zeros(3), {}
    for probability, acted, result in _every_hand(rules, own, other, seat):
        own._start(result.view if not acted else acted[0][0])
        for view, action in acted:
            own._note(view, action, [dict(m.mixture(view)).get(action, 0.0) for m in members])
        reached = own._reached.copy()
        truth += probability * result.chips * reached
        won, alike = own._alike(result)
        assert abs(won).max() <= own.most
        chance = probability * float(drawn @ reached)
        gains = alike @ won / float((drawn @ alike).sum())
        mean += chance * gains
        cost += chance * (gains[0] - drawn @ gains)
        worst = float(won @ (alike[0] - drawn @ alike)) / float((drawn @ alike).sum())
        assert worst <= own.most * (1 / LEAST - 1) + 1e-9
        spread[len(won)] = spread.get(len(won), 0) + 1
        own._hand = None
    assert max(spread) == len(rules.deck) - 1 - rules.total_board_cards  # showdowns were joined
    np.testing.assert_allclose(mean, truth, atol=1e-12)
    assert cost == pytest.approx(truth[0] - drawn @ truth, abs=1e-12)


class RandomPlayer(Player):
    """A player with probabilities of its own for every hand and betting, drawn by a seed."""

    def __init__(self, seed):
        self.name, self.seed = f"random {seed}", seed

    def reset(self, seed):
        pass

    def mixture(self, view):
        actions = view.legal_actions().actions + ((RAISE,) if view.betting.can_raise else ())
        drawn = random.Random(f"{self.seed} {view.hole} {view.board} {view.betting.text}")
        weights = [drawn.random() ** 3 for _ in actions]
        return tuple((a, w / sum(weights)) for a, w in zip(actions, weights, strict=True))


def test_strategies_tell_the_probabilities_of_all_hands_as_of_each(folders):
    player = make_player(f"solution:{folders[1]},threshold=0.2", KUHN)
    for deal in itertools.permutations(KUHN.deck.cards, 2):
        state = HandState.start(KUHN, Deal(((deal[0],), (deal[1],))), 0)
        for betting in ("", "c", "r", "cr"):
            now = state
            for letter in betting:
                now = now.apply({"c": CALL, "r": RAISE}[letter])
            view = View.of(now, now.actor)
            hands = np.array(KUHN.deck.cards)
            for action in (CALL, RAISE, FOLD):
                shares = player.shares(view, action, hands)
                for card, share in zip(hands.tolist(), shares, strict=True):
                    mixture = dict(player.mixture(view.holding((card,))))
                    assert share == pytest.approx(mixture.get(action, 0.0))


def _player_of(responses):
    from tempfile import mkdtemp

    from equilibrist.solving.counter import ResponseStore

    (point,) = responses
    folder = mkdtemp()
    store = ResponseStore(folder, point.arena.description, point.opponent.settings)
    store.save(point.seats, is_finished=True)
    return make_player(f"solution:{folder}", KUHN)


def test_the_cost_is_an_unbiased_estimate_and_stops_the_bandit():
    """Against always-call the anchor folds never; the other member gives its blinds away."""
    members = Mix(0, 1, 0), Mix(0, 0, 1)
    estimates, truths = [], []
    for seed in range(12):
        own = Portfolio(KUHN, members, stop=1e6)
        match = play_match(KUHN, (own, make_player("mix:0.5,0,0.5", KUHN)), 300, seed=seed)
        estimates.append(own.cost)
        anchor = play_match(KUHN, (members[0], make_player("mix:0.5,0,0.5", KUHN)), 300, seed=seed)
        truths.append(anchor.chips.sum() - match.chips.sum())
    error = np.std(np.subtract(estimates, truths)) / np.sqrt(12)
    assert abs(np.mean(estimates) - np.mean(truths)) < 4 * error
    stopped = Portfolio(KUHN, members, stop=0)
    assert stopped.is_stopped
    assert stopped.weights.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("portfolio:always-raise", "needs an anchor and at least one other"),
        ("portfolio:always-raise,always-call,stop=x", "is a number of chips"),
        ("portfolio:always-raise,always-call,stop=-3", "must be at least 0 chips"),
        ("portfolio:always-raise,nowhere", "nowhere"),
        ("portfolio", "portfolio needs options"),
    ],
)
def test_bad_portfolios_are_refused(text, words):
    with pytest.raises(EquilibristError, match=words):
        make_player(text, KUHN)
