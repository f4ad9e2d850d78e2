"""Values at nodes: sums that are known elsewhere, and best responses of other code."""

import itertools

import numpy as np
import pytest

import equilibrist as eq
from equilibrist.cards.card import parse_cards
from equilibrist.cards.equity import equity
from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.expectation import fixed_mix
from equilibrist.evaluation.node_values import node_equities, node_values
from equilibrist.evaluation.real_game.reference import PublicTree
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.catalog import get_game
from equilibrist.models.exact import exact_game
from equilibrist.models.spot import Chips, Spot
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.solve import Budget, solve
from equilibrist.solving.spot_run import SolvedSpot
from equilibrist.solving.spot_run import solver as spot_solver
from equilibrist.strategies.node_strategy import node_strategy
from equilibrist.strategies.played import FixedMix, TableStrategy


@pytest.fixture(scope="module")
def leduc():
    """A weak solution of Leduc."""
    solved = eq.solve("leduc", iterations=10)
    return solved, TableStrategy.of_game(solved.game, solved.plans)


@pytest.fixture(scope="module")
def turn():
    """A weak solution of a turn."""
    spot = Spot.of("Td9d6hQc", "AA,76s,KJ", "KK,54s,T9s", Chips(pot=200, stack=300), bets="60%,a")
    by, built = spot_solver("cfr+", 32), spot.build()
    return SolvedSpot(spot, by, solve(built.game, by, Budget(iterations=8)), built)


def test_the_best_response_at_the_root_is_that_of_the_exploitability(leduc):
    solved, strategy = leduc
    report = node_strategy(strategy)
    found = node_values(strategy, report)
    paid = 1  # the ante, which values count as gone
    exact = evaluate(solved.game, solved.plans)
    best = exact.best_response
    assert report.share @ found.best.max(axis=1) - paid == pytest.approx(best[0], abs=1e-9)
    own = report.share @ (report.probabilities * found.played).sum(axis=1)
    assert own - paid == pytest.approx(exact.value, abs=1e-9)
    gains = report.share @ found.gain(report.probabilities)
    assert gains == pytest.approx(best[0] - exact.value, abs=1e-9)


@pytest.mark.parametrize("is_best", [True, False], ids=["best", "played"])
@pytest.mark.parametrize(
    ("node", "board"), [("", ""), ("c", ""), ("cr", ""), ("cc/r", "Ks"), ("rc/cr", "Qh")]
)
def test_exact_values_are_those_of_a_walk_through_the_public_tree(leduc, node, board, is_best):
    """The walk deals every board card by card and asks for probabilities; it has no plans."""
    _, strategy = leduc
    tree, cards = strategy.tree, parse_cards(board)
    v = tree.parse(node)
    player = int(tree.player[v])
    report = node_strategy(strategy, node, board)
    found = node_values(strategy, report)
    walk = PublicTree(strategy, player, is_best)
    other = np.ones(len(walk.hands))
    for number in cards:
        other[walk.hands[:, 0] == number] = 0
    for above, below in itertools.pairwise(tree.path(v)):
        if tree.kind[above] == NodeKind.DECISION and tree.player[above] != player:
            seen = cards[: tree.rules.board_cards_by(int(tree.round[above]))]
            shares = strategy.probabilities(above, seen)[below - tree.children(above).start]
            other = other * shares[walk.numbers]
    met = walk.meetings @ other
    for place, child in enumerate(tree.children(v)):
        chips = walk.values(child, cards, other) / np.where(met > 0, met, np.inf)
        wanted = chips[np.searchsorted(walk.numbers, report.hands)] + tree.spent[v, player]
        ours = (found.best if is_best else found.played)[:, place]
        reached = met[np.searchsorted(walk.numbers, report.hands)] > 1e-9
        assert ours[reached] == pytest.approx(wanted[reached], abs=1e-6)
        assert reached.any()


def test_best_responses_in_a_spot_add_up_to_those_of_its_certificate(turn):
    answers, pot = turn.answers(), turn.spot.pot
    best = turn.run.evaluation.best_response
    report = answers.at()
    found = node_values(answers, report)
    assert report.share @ found.best.max(axis=1) == pytest.approx(best[0] + pot / 2, abs=1e-3)
    # The other player answers each action of the first; together that is its best response.
    total = 0.0
    for action, own in zip(report.actions, report.frequencies, strict=True):
        reply = answers.at(action)
        values = node_values(answers, reply)
        assert (values.best >= values.played - 1e-4).all()
        mean = reply.share @ values.best.max(axis=1)
        total += reply.reach * mean
        assert own == pytest.approx(reply.reach, abs=1e-6)
    assert total == pytest.approx(best[1] + pot / 2, abs=1e-3)


def test_a_best_response_on_the_river_of_a_spot_is_that_of_a_walk(turn):
    answers = turn.answers()
    tree, report = answers.tree, answers.at("cc/c", "2s")
    player, v = report.player, turn.spot.find("cc/c")
    before = answers.at("cc/", "2s")  # the opponent checked here
    checked = np.zeros(1326)
    checked[before.hands] = before.weight * before.probabilities[:, before.actions.index("c")]
    walk = PublicTree(answers, player)
    other = checked[walk.numbers]
    board, hands = parse_cards(report.board), np.searchsorted(walk.numbers, report.hands)
    chips = np.stack([walk.values(child, board, other) for child in tree.children(v)])[:, hands]
    wanted = chips / (walk.meetings @ other)[hands] + tree.spent[v, player]
    assert node_values(answers, report).best == pytest.approx(wanted.T, abs=1e-3)


def test_values_by_enumeration_are_those_of_the_exact_model():
    mix = (0.2, 0.5, 0.3)
    game = exact_game(get_game("leduc"))
    table = TableStrategy.of_game(game, fixed_mix(game, mix))
    plain = FixedMix(table.tree, mix)
    for node in ("rc/cr", "cc/c", "cc/"):
        report = node_strategy(plain, node, "Ks")
        found, wanted = node_values(plain, report), node_values(table, report)
        assert found.played == pytest.approx(wanted.played)
        assert found.best == pytest.approx(wanted.best)
    assert (found.best > found.played + 1e-6).any()  # they differ, so none stands for the other


def test_bots_of_limit_holdem_have_values_on_the_river():
    tree = BettingTree.build(get_game("royal-holdem"))
    mix = FixedMix(tree, (0.0, 1.0, 0.0))
    river = node_strategy(mix, "cc/cc/cc/", "AsKdThJcQd")
    found = node_values(mix, river)
    equities = node_equities(mix, river)
    # Always called and never raised: a check is worth the equity of the pot, a bet that of the bet.
    pot, bet = river.pot, tree.rules.raise_sizes[-1]
    assert river.action_words == ("check", f"bet {bet}")
    assert found.played[:, 0] == pytest.approx(equities * pot)
    assert found.best[:, 1] == pytest.approx(equities * (pot + 2 * bet) - bet)
    with pytest.raises(InvalidValueError, match="known on the river only"):
        node_values(mix, node_strategy(mix, "cc/cc/", "AsKdThJc"))


def test_equities_are_against_the_hands_that_the_opponent_plays_to_the_node():
    tree = BettingTree.build(get_game("holdem-limit"))
    mix = FixedMix(tree, None)
    report = node_strategy(mix, "cc/", "2c7d9h")
    found = node_equities(mix, report)
    wanted = equity("AhKh", "random", parse_cards("2c7d9h")).equity
    assert found[report.place_of("AhKh")] == pytest.approx(wanted)
    leduc = FixedMix(BettingTree.build(get_game("leduc")), None)
    assert node_equities(leduc, node_strategy(leduc)) is None
