"""Answers about solved spots, compared with walks through every deal and with other suits."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from equilibrist.cards.card import cards_name, parse_cards
from equilibrist.cards.hand import hand_index, hand_table
from equilibrist.cards.ranking import rank_hands
from equilibrist.errors import EquilibristError
from equilibrist.games.catalog import get_game
from equilibrist.kernels.treeplex import block
from equilibrist.models.spot import Chips, Spot
from equilibrist.models.subgame import subgame
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import CFR
from equilibrist.strategies.spot_report import Answers, WholePlans

ROYAL = replace(get_game("holdem-nolimit"), name="royal-nolimit", num_ranks=5)
TURN, RIVER = "AsKsQhTh", "AsKsQhTdTc"


def royal(board, **options):
    options = {"bets": "50%,a", "raises": "a"} | options
    chips = Chips(options.pop("pot", 40), options.pop("stack", 90))
    options = {"game": ROYAL} | options
    ranges, locks = ("JJ,AK,KQs:0.5,QTo", "AQ,QQ,JTo:0.75,KJs"), options.pop("locks", ())
    return Spot.of(board, *ranges, chips, **options).with_locks(locks)


def solved(spot, found=None, iterations=200):
    found = found or spot.build()
    state = CFR().init(found.game)
    CFR().step(found.game, state, iterations)
    return Answers(spot, found, WholePlans(found.game, CFR().plans(found.game, state)))


def walk(answers, reports, node, hands, sign):
    """Return what player 0 wins from the start, by the reported probabilities of two hands."""
    spot, betting = answers.spot, answers.spot.betting
    v = spot.find(node)
    if betting.kind[v] == 1:
        lost = betting.spent[v, betting.player[v]]
        return lost if betting.player[v] == 1 else -lost
    if betting.kind[v] == 2:
        return sign * betting.spent[v].min()
    report = reports.setdefault(node, answers.at(node))
    probabilities = report.probabilities[np.flatnonzero(report.hands == hands[report.player])[0]]
    return sum(
        probability * walk(answers, reports, node + action, hands, sign)
        for action, probability in zip(report.actions, probabilities, strict=True)
        if probability > 0
    )


@pytest.fixture(scope="module")
def river():
    return solved(royal(RIVER))


def signs(spot, board, own, others):
    shown = [[*hand_table()[h].tolist(), *parse_cards(board)] for h in (own, *others)]
    ranks = rank_hands(np.array(shown, np.uint8), "standard").astype(int)
    return np.sign(ranks[0] - ranks[1:])


def test_the_value_of_a_hand_is_that_of_walks_by_the_reported_probabilities(river):
    report, reports = river.at(), {}
    theirs = river.spot.ranges[1].weights
    for place in range(0, len(report.hands), 3):
        own = int(report.hands[place])
        others = [
            h for h in np.flatnonzero(theirs) if not set(hand_table()[h]) & set(hand_table()[own])
        ]
        won = [
            walk(river, reports, "", (own, h), sign)
            for h, sign in zip(others, signs(river.spot, RIVER, own, others), strict=True)
        ]
        mean = np.average(won, weights=theirs[others])
        assert report.value[place] == pytest.approx(mean + 20, abs=1e-6)


def test_expectations_add_up_to_the_pot_and_a_fold_is_worth_zero(river):
    spot, game = river.spot, river.subgame.game
    first = river.at()
    found = evaluate(game, river.boards.plans)
    assert first.mean_value == pytest.approx(found.value + spot.pot / 2, abs=1e-6)
    assert first.share.sum() == pytest.approx(1)
    answered = river.at("r20")
    assert answered.actions[0] == "f"
    assert answered.values[:, 0] == pytest.approx(0, abs=1e-6)
    assert answered.to_call == 20
    assert answered.pot == 60
    # Seat 1 after a check: with seat 0's expectation of checking, the whole pot.
    checked = river.at("c")
    weight = first.share * first.probabilities[:, 0]
    expected = (weight @ first.values[:, 0]) / weight.sum()
    assert checked.mean_value + expected == pytest.approx(spot.pot, abs=1e-6)


def test_actions_that_are_taken_have_about_the_highest_value(river):
    river = solved(river.spot, river.subgame, 3000)
    for node in ("", "c", "r20"):
        report = river.at(node)
        lost = report.values.max(axis=1) - report.value
        assert report.share @ lost < 0.05  # chips


THREE = {"first_players": (1, 0, 0), "max_raises": (), "discards": ()}
SHORT = replace(ROYAL, name="royal-turn", num_board_cards=(0, 3, 1), **THREE)


def shown_down(spot, board, own, weights):
    """Return a hand's equity against weights [1326] by ranking every deal that is left."""
    cards, mine = parse_cards(board), set(hand_table()[own].tolist())
    others = [h for h in np.flatnonzero(weights) if not mine & set(hand_table()[h].tolist())]
    left = [card for card in spot.game.deck.cards if card not in cards and card not in mine]
    missing = spot.game.total_board_cards - len(cards)
    won = total = 0.0
    for more in itertools.combinations(left, missing):
        met = [h for h in others if not set(more) & set(hand_table()[h].tolist())]
        sign = signs(spot, board + cards_name(more), own, met)
        won += weights[met] @ (sign + 1) / 2
        total += weights[met].sum()
    return won / total


@pytest.mark.parametrize(("game", "board"), [(ROYAL, TURN), (ROYAL, RIVER), (SHORT, TURN)])
@pytest.mark.parametrize("node", ["", "c", "r20"])
def test_equities_are_those_of_all_showdowns_that_are_left(game, board, node):
    answers = solved(royal(board, game=game), iterations=20)
    report = answers.at(node)
    theirs = np.zeros(1326)
    if report.player == 0:
        theirs[:] = answers.spot.ranges[1].weights
    else:
        before = answers.at()
        taken = before.probabilities[:, before.actions.index(node)]
        theirs[before.hands] = before.weight * taken
    assert len(report.hands) > 10
    for place in range(0, len(report.hands), 7):
        expected = shown_down(answers.spot, board, int(report.hands[place]), theirs)
        assert report.equity[place] == pytest.approx(expected, abs=1e-9)


def test_a_node_that_no_hand_reaches_is_reported_without_hands():
    answers = solved(royal(RIVER, locks=[": c=1; r20=0"]), iterations=5)
    report = answers.at("r20")
    assert len(report.hands) == 0
    assert report.reach == 0
    assert report.frequencies.tolist() == [0] * len(report.actions)


def renamed(hand, swap):
    return hand_index(*(int(swap[card]) for card in hand_table()[hand]))


def test_runouts_that_differ_by_suits_have_the_same_answers_in_other_suits():
    """Clubs and diamonds can be exchanged on As Ks Qh Th."""
    answers = solved(royal(TURN))
    assert answers.subgame.states.symmetry == "suits"
    swap = np.arange(52)
    swap[0::4], swap[1::4] = np.arange(1, 52, 4), np.arange(0, 52, 4)
    one, other = answers.at("cc/", "Jc"), answers.at("cc/", "Jd")
    assert one.board.endswith("Jc")
    assert other.board.endswith("Jd")
    places = {int(hand): place for place, hand in enumerate(other.hands)}
    moved = [places[renamed(int(hand), swap)] for hand in one.hands]
    assert sorted(moved) == list(range(len(other.hands)))
    np.testing.assert_array_equal(one.probabilities, other.probabilities[moved])
    np.testing.assert_allclose(one.values, other.values[moved], atol=1e-9)
    np.testing.assert_allclose(one.equity, other.equity[moved], atol=1e-9)
    assert any(one.hands != other.hands)


def with_separate_suits(answers):
    """Return the same plans with every suit by itself, each board and hand by its swap."""
    spot, merged = answers.spot, answers.subgame
    weights = tuple(own.weights for own in spot.ranges)
    apart = subgame(
        spot.game, spot.cards, weights, spot.menu, pot=40, symmetry="cards", only_held=True
    )
    swap = np.arange(52)
    swap[0::4], swap[1::4] = np.arange(1, 52, 4), np.arange(0, 52, 4)
    swapped = np.array([renamed(hand, swap) for hand in range(1326)])
    plans = []
    for player in (0, 1):
        tree, raw = merged.game.trees[player], apart.game.trees[player]
        plan = np.zeros(apart.game.lengths[player])
        for r in (0, 1):
            stored = [set(board) for board in merged.states.boards[r].tolist()]
            for b, board in enumerate(apart.states.boards[r].tolist()):
                is_stored = set(board) in stored
                at = stored.index(set(board) if is_stored else {int(swap[c]) for c in board})
                hands = np.flatnonzero(apart.states.state_of_hand[r][b] >= 0)
                others = hands if is_stored else swapped[hands]
                from_block = answers.boards.plan(player, int(tree.board_start[r]) + at)
                into = block(raw, r, int(raw.board_start[r]) + b, plan)
                columns = apart.states.state_of_hand[r][b][hands]
                into[:, columns] = from_block[:, merged.states.state_of_hand[r][at][others]]
        plans.append(plan)
    return Answers(spot, apart, WholePlans(apart.game, tuple(plans)))


@pytest.mark.parametrize("node", ["cc/", "r20c/"])
def test_suits_are_swapped_back_on_every_runout(node):
    merged = solved(royal(TURN))
    raw = with_separate_suits(merged)
    exact = [evaluate(found.subgame.game, found.boards.plans) for found in (merged, raw)]
    assert exact[0].value == pytest.approx(exact[1].value, abs=1e-9)
    assert exact[0].best_response == pytest.approx(exact[1].best_response, abs=1e-9)
    pairs = list(zip(merged.runouts(node), raw.runouts(node), strict=True))
    assert len(pairs) == 16
    for one, other in pairs:
        assert (one.board, one.actions) == (other.board, other.actions)
        np.testing.assert_array_equal(one.hands, other.hands)
        np.testing.assert_allclose(one.weight, other.weight, atol=1e-12)
        np.testing.assert_allclose(one.probabilities, other.probabilities, atol=1e-9)
        np.testing.assert_allclose(one.values, other.values, atol=1e-6)
        np.testing.assert_allclose(one.equity, other.equity, atol=1e-9)


def test_runouts_together_have_the_value_of_the_street_before():
    answers = solved(royal(TURN))
    reports = answers.runouts("cc")
    # The value of checking behind for seat 1 is the pot less what seat 0 expects on the river.
    checked = answers.at("c")
    weight = checked.share * checked.probabilities[:, 0]
    behind = (weight @ checked.values[:, 0]) / weight.sum()
    met = np.array([runout_weight(answers, report) for report in reports])
    river = np.average([report.mean_value for report in reports], weights=met)
    assert river + behind == pytest.approx(40, abs=1e-6)


def runout_weight(answers, report):
    """Return the probability of a river card given the ranges: pairs without that card."""
    own = np.zeros(1326)
    own[report.hands] = report.weight
    other = np.zeros(1326)
    behind = answers.at("c")
    weights = behind.weight * behind.probabilities[:, 0]
    free = ~np.isin(hand_table()[behind.hands], parse_cards(report.board)).any(axis=1)
    other[behind.hands[free]] = weights[free]
    apart = ~(hand_table()[:, None, :, None] == hand_table()[None, :, None, :]).any(axis=(2, 3))
    return own @ apart @ other


def test_nodes_without_a_decision_are_refused(river):
    turn = solved(royal(TURN), iterations=1)
    for ask, complaint in (
        (lambda: river.at("x"), "is not a node of this spot: c, r20, r90 can follow ''"),
        (lambda: river.at("cc"), "the hand is over after 'cc'"),
        (lambda: turn.at("cc"), "a card is dealt after 'cc': ask for 'cc/'"),
        (lambda: turn.at("cc/"), "1 cards are dealt after .* not 0"),
        (lambda: turn.at("cc/", "As"), "As"),
        (lambda: river.runouts("c"), "no card is dealt after 'c'"),
    ):
        with pytest.raises(EquilibristError, match=complaint):
            ask()


def test_boards_are_named_as_they_were_asked_for():
    turn = solved(royal(TURN), iterations=1)
    assert [cards_name(parse_cards(r.board)[-1:]) for r in turn.runouts("cc")][:2] == ["Ah", "Ad"]


def test_a_report_in_big_blinds_is_the_report_in_chips_by_the_big_blind():
    """A pot of 400 chips with 900 behind and a smallest bet of 100, and the same in big blinds."""
    ranges = ("JJ,AK,KQs:0.5,QTo", "AQ,QQ,JTo:0.75,KJs")
    amounts = (Chips(400, 900, 100), Chips("4bb", "9bb"))
    chips, blinds = (
        solved(Spot.of(RIVER, *ranges, one, game=ROYAL, bets="50%,a", raises="a"))
        for one in amounts
    )
    for node, other in (("", ""), ("r200", "r2"), ("cr900", "cr9")):
        whole, part = chips.at(node), blinds.at(other)
        assert (whole.unit, part.unit) == ("chips", "bb")
        assert (whole.pot, whole.to_call) == (100 * part.pot, 100 * part.to_call)
        np.testing.assert_allclose(part.probabilities, whole.probabilities, atol=1e-9)
        np.testing.assert_allclose(100 * part.values, whole.values, atol=1e-6)
    assert blinds.at("r2").words == "bet 2"
    assert blinds.at("r2").action_words == ("fold", "call 2", "raise to 9")
