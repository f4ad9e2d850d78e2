"""What decisions cost by a solved spot, beside a recursion over every hand of the opponent."""

import dataclasses
import itertools

import pytest

from equilibrist.cards.hand import hand_cards, hand_index
from equilibrist.cards.ranking import rank_cards
from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.spot_decisions import spot_decisions, street_starts
from equilibrist.games.betting_tree import NodeKind
from equilibrist.games.catalog import get_game
from equilibrist.games.notation import parse_state
from equilibrist.models.spot import Chips, Spot
from equilibrist.solving.solve import Budget, solve
from equilibrist.solving.spot_run import SolvedSpot, solver

NOLIMIT, LIMIT = get_game("holdem-nolimit"), get_game("holdem-limit")
BOARD = "Td9d6h/Qc/2s"
OOP, IP = "AA,76s,54s,T9s", "KK,QJs,88"


def solved(board, chips, iterations=15, **menu):
    spot = Spot.of(board.replace("/", ""), OOP, IP, chips, **menu)
    by, built = solver("cfr+", 32), spot.build()
    return SolvedSpot(spot, by, solve(built.game, by, Budget(iterations=iterations)), built)


def hand_of(betting, holes="7s6s|KsKd", game=NOLIMIT, stack=None):
    """A finished hand, perhaps with other stacks."""
    rules = game if stack is None else dataclasses.replace(game, stacks=(stack, stack))
    dealt = "/".join(BOARD.split("/")[: betting.count("/")])
    return parse_state(rules, f"STATE:3:{betting}:{holes}{'/' if dealt else ''}{dealt}").state


@pytest.fixture(scope="module")
def river():
    return solved(BOARD, Chips(200, 900), bets="50%,a", raises="a").answers()


def worth(answers, v, player, own, weights):
    """Value from the start of the spot for one hand, by recursion over the opponent's hands."""
    tree, board = answers.spot.betting, answers.spot.cards
    children = list(tree.children(v))
    if not children:
        total, spent = 0.0, tree.spent[v].tolist()
        for hand, weight in weights.items():
            if tree.kind[v] == NodeKind.SHOWDOWN:
                mine, other = (rank_cards((*cards, *board)) for cards in (own, hand_cards(hand)))
                share = (mine > other) + 0.5 * (mine == other)
            else:  # who has folded has put in less
                share = float(spent[player] > spent[1 - player])
            matched = min(spent)
            got = share * 2 * matched + spent[player] - matched
            total += weight * (got - spent[player])
        return total
    probabilities = answers.probabilities(v, board)
    if tree.player[v] == player:
        mine = probabilities[:, hand_index(*own)]
        return sum(
            p * worth(answers, u, player, own, weights) for p, u in zip(mine, children, strict=True)
        )
    return sum(
        worth(answers, u, player, own, {hand: w * row[hand] for hand, w in weights.items()})
        for row, u in zip(probabilities, children, strict=True)
    )


def by_recursion(answers, path, player, own):
    """Values of the actions at a node from there on: a fold is worth 0."""
    tree, spot = answers.spot.betting, answers.spot
    blocked = {*own, *spot.cards}
    weights = {
        int(hand): float(spot.ranges[1 - player].weights[hand])
        for hand in spot.ranges[1 - player].hands
        if not blocked & {*hand_cards(int(hand))}
    }
    v = spot.find(path)
    for above, below in itertools.pairwise(tree.path(v)):
        if tree.player[above] != player:
            row = answers.probabilities(above, spot.cards)[below - tree.children(above).start]
            weights = {hand: weight * row[hand] for hand, weight in weights.items()}
    total, paid = sum(weights.values()), int(tree.spent[v, player])
    return [worth(answers, u, player, own, weights) / total + paid for u in tree.children(v)]


@pytest.mark.parametrize(
    ("betting", "player", "nodes"),
    [
        ("cc/cc/cc/r200r1000f", 0, [("", 1), ("r100r900", 0)]),
        ("cc/cc/cc/r200r1000c", 1, [("r100", 2)]),
        ("cc/cc/cc/cr1000c", 0, [("", 0), ("cr900", 1)]),
        ("cc/cc/cc/cr1000c", 1, [("c", 2)]),
    ],
)
def test_values_of_a_river(river, betting, player, nodes):
    # 100 chips each are in the pot, and the spot has 900 behind: so has this table.
    hand = hand_of(betting, stack=1000)
    [_, _, start] = street_starts(hand)
    found = spot_decisions(river, start, hand, player)
    assert found.missing == ""
    assert [(river.spot.names[own.node], own.taken) for own in found.decisions] == nodes
    for own in found.decisions:
        wanted = by_recursion(river, river.spot.names[own.node], player, hand.holes[player])
        assert own.values == pytest.approx(wanted, abs=2e-3)
        assert own.cost == pytest.approx(max(wanted) - wanted[own.taken], abs=4e-3)


def test_streets_of_a_hand():
    starts = street_starts(hand_of("cc/r200c/cc/r400f"))
    assert [(s.name, s.betting.pot, s.stack, len(s.board)) for s in starts] == [
        ("flop", 200, 19900, 3), ("turn", 400, 19800, 4), ("river", 400, 19800, 5),
    ]  # fmt: skip
    assert street_starts(hand_of("r300f")) == []
    assert street_starts(hand_of("r20000c///")) == []  # nobody acts after an all-in
    limit = street_starts(hand_of("cc/rc/crf", game=LIMIT))
    assert [(s.name, s.betting.pot, s.stack) for s in limit] == [
        ("flop", 20, None), ("turn", 40, None),
    ]  # fmt: skip
    swaps = parse_state(get_game("discard-holdem"), "STATE:0:cc/kkcr4f:AhKh|QsQd/2c7d9h").state
    assert street_starts(swaps) == []


@pytest.mark.parametrize(
    ("betting", "holes", "player", "num_known", "words"),
    [
        ("cc/cc/cc/r300f", "7s6s|KsKd", 0, 0, "it has no size for you to bet 200 on the river"),
        ("cc/cc/cc/r300f", "7s6s|KsKd", 1, 0, "it has no size for the opponent to bet 200"),
        ("cc/cc/cc/r200r500f", "7s6s|KsKd", 0, 1, "for the opponent to raise to 400"),
        ("cc/cc/cc/r200f", "7s6c|KsKd", 0, 0, "in it nobody out of position plays 7s6c like this"),
        ("cc/cc/cc/r200f", "7s6s|KsKd", 0, 1, ""),
    ],
)
def test_what_a_spot_does_not_cover_is_said(river, betting, holes, player, num_known, words):
    hand = hand_of(betting, holes, stack=1000)
    found = spot_decisions(river, street_starts(hand)[2], hand, player)
    assert len(found.decisions) == num_known
    assert words in found.missing
    assert bool(words) == bool(found.missing)


def test_a_spot_begins_only_where_cards_and_money_are_the_same(river):
    starts = [street_starts(hand_of("cc/cc/cc/cc", stack=chips))[2] for chips in (1000, 1100)]
    assert [start.is_start_of(river.spot) for start in starts] == [True, False]
    raised = street_starts(hand_of("cc/r200c/cc/cc", stack=1000))
    assert [start.is_start_of(river.spot) for start in raised] == [False, False, False]
    with pytest.raises(InvalidValueError, match="is not where the spot on Td9d6hQc2s begins"):
        spot_decisions(river, starts[1], hand_of("cc/cc/cc/cc", stack=1100), 0)


def test_big_blinds_are_chips_of_the_hand(river):
    """The same spot in big blinds of 100 chips has the same values."""
    blinds = solved(BOARD, Chips("2bb", "9bb"), bets="50%,a", raises="a").answers()
    hand = hand_of("cc/cc/cc/r200r1000c", stack=1000)
    start = street_starts(hand)[2]
    for player in (0, 1):
        own, other = (spot_decisions(by, start, hand, player) for by in (river, blinds))
        assert [found.taken for found in own.decisions] == [
            found.taken for found in other.decisions
        ]
        for one, two in zip(own.decisions, other.decisions, strict=True):
            assert one.values == pytest.approx(two.values, abs=1e-2)


def test_a_turn_of_limit_hold_em_goes_on_to_the_river():
    answers = solved(BOARD.rpartition("/")[0], Chips(40), game=LIMIT).answers()
    hand = hand_of("cc/rc/cc/crc", game=LIMIT)
    _, turn, river = street_starts(hand)
    assert turn.is_start_of(answers.spot)
    assert not river.is_start_of(answers.spot)
    first, second = (spot_decisions(answers, turn, hand, player) for player in (0, 1))
    assert first.missing == second.missing == ""
    names = answers.spot.names
    assert [names[own.node] for own in first.decisions] == ["", "cc/", "cc/cr"]
    assert [names[own.node] for own in second.decisions] == ["c", "cc/c"]
    report = answers.at("cc/cr", "2s")
    row = report.hands.tolist().index(hand_index(*hand.holes[0]))
    assert first.decisions[-1].values == pytest.approx(tuple(report.values[row]), abs=1e-6)
