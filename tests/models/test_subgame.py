"""Subgames compared with linear programs, other symmetries and the whole games."""

from dataclasses import replace

import numpy as np
import pytest

from equilibrist.cards.card import cards_name, parse_cards
from equilibrist.cards.hand import hand_table
from equilibrist.errors import InvalidValueError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.catalog import get_game
from equilibrist.kernels.treeplex import block
from equilibrist.models.exact import exact_game
from equilibrist.models.subgame import subgame
from equilibrist.models.treeplex import player_rows
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import CFR
from equilibrist.solving.linear_program import LinearProgram
from equilibrist.solving.solve import Budget, solve

ONE_RAISE = BetMenu(max_raises=(1, 1, 1, 1))


def tiny(num_board_cards=(0, 1, 1)):
    """Hold'em with ten cards, and bets of 2 and 4."""
    rounds = len(num_board_cards)
    return replace(
        get_game("holdem-limit"), name="tiny", num_suits=2, num_ranks=5, blinds=(2, 1),
        raise_sizes=(2, 4, 4)[:rounds], max_raises=(1,) * rounds, discards=(),
        first_players=(1, 0, 0)[:rounds], num_board_cards=num_board_cards,
    )  # fmt: skip


def random_ranges(rules, random):
    hands = hand_table() if rules.num_hole_cards == 2 else np.arange(52)[:, None]
    in_deck = np.isin(hands, rules.deck.cards).all(axis=1)
    return tuple(np.where(in_deck, random.random(len(hands)), 0) for _ in (0, 1))


def brute_value(rules, board, ranges, pot):
    """Return what player 0 wins if both check to the end, by enumerating every deal."""
    from equilibrist.cards.ranking import rank_hands

    hands, total, won = hand_table(), 0.0, 0.0
    free = [c for c in rules.deck.cards if c not in board]
    for i in np.flatnonzero(ranges[0]):
        for j in np.flatnonzero(ranges[1]):
            cards = {*hands[i].tolist(), *hands[j].tolist()}
            if len(cards) < 4 or cards & set(board):
                continue
            rivers = [c for c in free if c not in cards]
            weight = ranges[0][i] * ranges[1][j] / len(rivers)
            for river in rivers:
                shown = np.array([[*hands[h], *board, river] for h in (i, j)], np.uint8)
                ranks = rank_hands(shown, rules.ranking).astype(int)
                won += weight * np.sign(ranks[0] - ranks[1]) * pot / 2
                total += weight
    return won / total


def test_ranges_and_blockers_agree_with_enumerated_deals():
    rules = tiny()
    ranges = random_ranges(rules, np.random.default_rng(0))
    board = parse_cards("As")
    only_checks = BetMenu(max_raises=(0, 0, 0))
    found = subgame(rules, board, ranges, only_checks, pot=8)
    plans = tuple(found.game.realize(p, found.game.uniform(p)) for p in (0, 1))
    value = evaluate(found.game, plans).value
    assert value == pytest.approx(brute_value(rules, board, ranges, 8), abs=1e-12)


@pytest.mark.parametrize("game", ["tiny", "leduc", "royal-holdem river"])
def test_cfr_plus_and_the_linear_program_agree_on_a_subgame(game):
    random = np.random.default_rng(1)
    if game == "tiny":
        rules, board = tiny(), parse_cards("As")
    elif game == "leduc":
        rules, board = get_game("leduc"), parse_cards("Qs")
    else:
        rules, board = get_game("royal-holdem"), parse_cards("AsKsQhTdTc")
    ranges = random_ranges(rules, random)
    found = subgame(rules, board, ranges, BetMenu(max_raises=(1,) * rules.num_rounds), pot=8)
    exact = LinearProgram().solve(found.game)
    run = solve(found.game, CFR(), Budget(target=1e-3, iterations=20_000))
    assert run.outcome.name == "TARGET_REACHED"
    assert run.evaluation.value == pytest.approx(exact.value, abs=2e-3)
    # Ranges do not change: row 1 of a plan is the weight of each hand.
    for player in (0, 1):
        plan = CFR().plans(found.game, run.state)[player]
        held = found.states.state_of_hand[0][0] >= 0
        weights = block(found.game.trees[player], 0, 0, plan)[1]
        given = ranges[player][held] / ranges[player][held].max()
        np.testing.assert_allclose(weights[found.states.state_of_hand[0][0][held]], given)


@pytest.mark.parametrize("name", ["leduc", "tiny"])
def test_equilibrium_beliefs_give_the_equilibrium_value_of_the_subgame(name):
    """A pair of optimal plans is also optimal in a subgame from its own beliefs."""
    rules = get_game("leduc") if name == "leduc" else tiny((0, 1))
    whole = exact_game(rules, symmetry="cards", leaves="sorted")
    plans = LinearProgram().solve(whole).plans
    checked = 0
    for node in np.flatnonzero((whole.betting.round == 1) & (whole.betting.action_kind == 0)):
        node = int(node)
        rows = [int(player_rows(whole.betting, p).row[whole.betting.parent[node]]) for p in (0, 1)]
        states = whole.states
        beliefs = []
        for player in (0, 1):
            reach = block(whole.trees[player], 0, 0, plans[player])[rows[player]]
            of_hand = states.state_of_hand[0][0]
            beliefs.append(np.where(of_hand >= 0, reach[of_hand], 0))
        for board in range(0, len(states.boards[1]), 3):
            cards = tuple(states.boards[1][board].tolist())
            truth, probability = value_below(whole, plans, node, board)
            if probability < 1e-3 * 1 / len(states.boards[1]):
                continue
            pot = int(whole.betting.spent[node].sum())
            found = subgame(rules, cards, tuple(beliefs), pot=pot)
            solved = LinearProgram().solve(found.game)
            sign = 1 if found.game.first_player == 0 else -1
            assert sign * solved.value == pytest.approx(truth / probability, abs=1e-5)
            checked += 1
    assert checked >= 4


def value_below(game, plans, node, board):
    """Return player 0's winnings below the opening of a round, and the probability of arriving."""
    tree = game.betting
    below = np.zeros(len(tree), bool)
    below[node] = True
    for v in range(node + 1, len(tree)):
        below[v] = below[tree.parent[v]]
    place = int(game.trees[0].board_start[1]) + board
    x, y = (block(t, 1, place, plan) for t, plan in zip(game.trees, plans, strict=True))
    rows = [player_rows(tree, p).row for p in (0, 1)]
    joint, win = game.matrices(place)
    total = 0.0
    for v in np.flatnonzero(below):
        reach = x[rows[0][v]], y[rows[1][v]]
        if tree.kind[v] == 1:
            lost = tree.spent[v, tree.player[v]] * (1 if tree.player[v] == 1 else -1)
            total += lost * (reach[0] @ joint @ reach[1])
        elif tree.kind[v] == 2:
            total += tree.spent[v].min() * (reach[0] @ win @ reach[1])
    return total, x[rows[0][node]] @ joint @ y[rows[1][node]]


def test_hands_that_differ_by_suits_are_merged_only_if_ranges_do_not_distinguish_them():
    rules = get_game("royal-holdem")
    board = parse_cards("AsKsQhTh")
    random = np.random.default_rng(2)
    of_hand = subgame(
        rules, board, (np.ones(1326), np.ones(1326)), ONE_RAISE, pot=40
    ).states.state_of_hand[0][0]
    weights = [random.random(of_hand.max() + 1) for _ in (0, 1)]
    ranges = tuple(np.where(of_hand >= 0, weight[of_hand], 0) for weight in weights)
    merged, apart = (
        subgame(rules, board, ranges, ONE_RAISE, pot=40, symmetry=symmetry)
        for symmetry in (None, "cards")
    )
    assert merged.states.symmetry == "suits"
    assert sum(merged.game.lengths) < 0.8 * sum(apart.game.lengths)
    values = [
        evaluate(found.game, tuple(found.game.realize(p, found.game.uniform(p)) for p in (0, 1)))
        for found in (merged, apart)
    ]
    assert values[0].value == pytest.approx(values[1].value, abs=1e-9)
    assert values[0].best_response == pytest.approx(values[1].best_response, abs=1e-9)
    runs = [
        solve(found.game, CFR(), Budget(iterations=100)).evaluation for found in (merged, apart)
    ]
    assert runs[0].value == pytest.approx(runs[1].value, abs=runs[0].nash_conv + runs[1].nash_conv)
    uneven = np.array(ranges[0])
    twins = next(s for s in range(of_hand.max() + 1) if (of_hand == s).sum() > 1)
    uneven[np.flatnonzero(of_hand == twins)[0]] += 0.5
    found = subgame(rules, board, (uneven, ranges[1]), ONE_RAISE, pot=40)
    assert found.states.symmetry == "cards"
    with pytest.raises(InvalidValueError, match="use the symmetry cards"):
        subgame(rules, board, (uneven, ranges[1]), ONE_RAISE, pot=40, symmetry="suits")


def test_invalid_subgames_are_refused():
    rules, ones = get_game("holdem-limit"), (np.ones(1326), np.ones(1326))
    with pytest.raises(InvalidValueError, match="0 or 3 or 4 or 5 cards, not 'AsKs'"):
        subgame(rules, parse_cards("AsKs"), ones, pot=40)
    only_aces = np.zeros(1326)
    only_aces[np.flatnonzero((hand_table() == parse_cards("AsAh")[::-1]).all(axis=1))] = 1
    board = parse_cards("2c3c4c5d7d")
    with pytest.raises(InvalidValueError, match=f"can meet on {cards_name(board)}"):
        subgame(rules, board, (only_aces, only_aces), pot=40)
    with pytest.raises(InvalidValueError, match="finite and not negative"):
        subgame(rules, board, (-only_aces, only_aces), pot=40)
