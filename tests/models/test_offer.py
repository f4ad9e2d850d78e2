"""Offers and gadget games: payoffs, solvers, and the coin-toss game of the literature."""

import numpy as np
import pytest

from equilibrist.cards.card import parse_cards
from equilibrist.errors import InvalidValueError
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.catalog import get_game
from equilibrist.kernels.array_structs import LeafTables, Treeplex
from equilibrist.models.exact import simplex
from equilibrist.models.game import Given, Offer, SequenceGame
from equilibrist.models.leaves import matrix_pairs
from equilibrist.models.sequence_matrix import payoff_matrix
from equilibrist.models.subgame import Alternative, subgame_of
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import RISING_CFR_PLUS
from equilibrist.solving.lean_cfr import TableCFR
from equilibrist.solving.linear_program import LinearProgram
from equilibrist.solving.sampling import PublicChanceSampling
from equilibrist.solving.solve import Budget, solve


def coin_toss(offer=None, plays=None):
    """Return the subgame of the coin-toss game after Play; player 0 knows heads (0) or tails (1).

    Player 1 guesses; player 0 wins 1 if the guess is wrong, else loses 1. Player 0 may Sell the
    coin instead, for the `offer` of each side, or Plays with given probabilities `plays`. Brown and
    Sandholm, "Safe and Nested Subgame Solving", 2017, figure 1.
    """
    one = np.zeros(1, np.int32)
    first = Treeplex(
        num_sequences=np.array([3]), board_start=np.array([0, 1]), block_start=np.array([0, 6]),
        num_states=np.array([2]), board_parent=np.array([-1]), child_start=np.array([1, 1]),
        state_start=np.array([0, 2]), state_parent=np.zeros(2, np.int32),
        entry_start=np.array([0, 1]), entry_parent=one - 1, decision_start=np.array([0, 1]),
        decision_parent=one, decision_first=one + 1, decision_size=one + 2,
        locked=np.array([plays is not None]),
    )  # fmt: skip
    leaves = LeafTables(
        fold_start=np.zeros(2, np.int64), fold_rows=np.zeros((0, 2), np.int32),
        fold_payoff=np.zeros((0, 2)), showdown_start=np.array([0, 2]),
        showdown_rows=np.array([[1, 1], [1, 2]], np.int32),  # Play, and a guess of heads or tails
        showdown_stake=np.array([1.0, -1.0]),
    )  # fmt: skip
    nothing = Given(np.zeros(0, np.int64), np.zeros(0))
    given = None
    if plays is not None:
        given = Given(np.arange(2, 6), np.concatenate([plays, 1 - np.array(plays)])), nothing
    return SequenceGame(
        name="coin toss", unit="chips", trees=(first, simplex(2)), leaves=leaves, given=given,
        pairs=matrix_pairs([np.full((2, 1), 0.5)], [np.array([[-0.5], [0.5]])]),
        offer=None if offer is None else Offer(0, np.array([4, 5]), 0.5 * np.array(offer)),
    )  # fmt: skip


def guesses_heads(game, solver, iterations=3_000):
    return float(solver.plans(game, run(game, solver, iterations))[1][1])


def run(game, solver, iterations):
    return solve(game, solver, Budget(iterations=iterations, every=iterations)).state


@pytest.mark.parametrize("solver", [RISING_CFR_PLUS, LinearProgram()])
def test_the_gadget_finds_the_only_safe_guess_of_the_coin_toss_game(solver):
    # Selling heads brings 0.5 and selling tails costs 0.5: heads must be guessed in 1 of 4 games.
    game = coin_toss(offer=(0.5, -0.5))
    assert guesses_heads(game, solver) == pytest.approx(0.25, abs=2e-3)
    assert evaluate(game, solver.plans(game, run(game, solver, 3_000))).value == pytest.approx(
        0.0, abs=2e-3
    )


def test_solving_the_coin_toss_game_from_ranges_alone_is_exploitable():
    # Heads plays always, tails half of the time: guessing heads always is the best reply.
    game = coin_toss(plays=(1.0, 0.5))
    assert guesses_heads(game, RISING_CFR_PLUS) == pytest.approx(1.0, abs=1e-3)
    # Against it tails plays and wins 1, heads sells for 0.5: 0.75 instead of the value 0.
    told = coin_toss(offer=(0.5, -0.5))
    always_heads = np.array([1.0, 1.0, 0.0])
    plan = told.realize(0, told.uniform(0))
    assert evaluate(told, (plan, always_heads)).best_response[0] == pytest.approx(0.75)


def gadget(values=None, player=0):
    rules, board = get_game("leduc"), parse_cards("Qs")
    betting = BettingTree.build(rules, first_round=1, pot=6, runs_out=True)
    random = np.random.default_rng(3)
    ranges = random.random(52), random.random(52)
    values = random.normal(size=52) if values is None else values
    return subgame_of(betting, board, ranges, alternative=Alternative(player, values)).game


@pytest.mark.parametrize("player", [0, 1])
def test_gradients_of_an_offer_are_those_of_the_payoff_matrix(player):
    game, random = gadget(player=player), np.random.default_rng(5)
    payoff = payoff_matrix(game)
    plans = [game.realize(p, game.behaviour(p, random.random(game.lengths[p]))) for p in (0, 1)]
    won = plans[0] @ payoff @ plans[1]
    assert plans[0] @ game.gradient(0, plans[1]) == pytest.approx(won, abs=1e-12)
    assert plans[1] @ game.gradient(1, plans[0]) == pytest.approx(-won, abs=1e-12)


@pytest.mark.parametrize("player", [0, 1])
def test_cfr_and_the_linear_program_agree_on_a_gadget_game(player):
    game = gadget(player=player)
    exact = evaluate(game, LinearProgram().plans(game, run(game, LinearProgram(), 1)))
    found = evaluate(game, RISING_CFR_PLUS.plans(game, run(game, RISING_CFR_PLUS, 500)))
    assert exact.exploitability < 1e-7
    assert found.exploitability < 1e-3
    assert found.value == pytest.approx(exact.value, abs=2e-3)


@pytest.mark.parametrize("player", [0, 1])
def test_everybody_stays_out_for_more_than_the_pot_can_bring(player):
    # Nobody can win more than 13 chips, so everybody takes 20, whatever the opponent holds.
    game = gadget(np.full(52, 20.0), player)
    value = evaluate(game, LinearProgram().plans(game, run(game, LinearProgram(), 1))).value
    assert value == pytest.approx(20.0 if player == 0 else -20.0)


def test_methods_without_offers_refuse_gadget_games():
    game = gadget()
    with pytest.raises(InvalidValueError, match="staying out"):
        PublicChanceSampling().init(game)
    lean = TableCFR()
    with pytest.raises(InvalidValueError, match="staying out"):
        lean.step(game, lean.init(game), 1)
