"""Translated strategies as behaviour: the same as what players of those strategies do."""

from dataclasses import replace

import numpy as np
import pytest

from equilibrist.cards.card import parse_cards
from equilibrist.errors import InvalidValueError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.catalog import get_game
from equilibrist.games.state import Deal, HandState
from equilibrist.kernels.treeplex import block
from equilibrist.models.exact import exact_game
from equilibrist.models.treeplex import player_rows
from equilibrist.players.player import View
from equilibrist.players.strategy_player import RealTree, StrategyPlayer
from equilibrist.players.translated_plan import with_more_sizes
from equilibrist.strategies.played import TableStrategy

RULES = replace(
    get_game("leduc"), name="leduc-nolimit", betting="nolimit", blinds=(10, 10), stacks=(200, 200),
    raise_sizes=(), max_raises=(),
)  # fmt: skip


def game(bets):
    return exact_game(RULES, BetMenu.parse(bets=bets, max_raises="2 2"), symmetry="cards")


def random_plans(found, seed=0):
    random = np.random.default_rng(seed)
    return tuple(
        found.realize(p, found.behaviour(p, random.random(found.lengths[p]))) for p in (0, 1)
    )


SMALL, LARGE = game("100%,a"), game("50%,100%,200%,a")
HANDS = ["", "r20", "r50", "cr50", "cr20c/", "r30c/cr60", "cr50r150c/", "r200"]


@pytest.mark.parametrize("name", HANDS)
def test_behaviour_is_what_players_do_that_read_bets_at_random(name):
    plans, betting = random_plans(SMALL), LARGE.betting
    node = betting.parse(name)
    path = [v for v in betting.path(node) if betting.action(v) is not None]
    player = int(betting.player[node])
    deal = Deal((parse_cards("Ks"), parse_cards("As")), parse_cards("Qs"))
    table = StrategyPlayer(RealTree(TableStrategy.of_game(SMALL, plans)), RULES, "table")
    counts = dict.fromkeys(betting.children(node), 0)
    for seed in range(3000):
        table.reset(seed)
        now, is_on_path = HandState.start(RULES, deal, 0), True
        for v in path:  # hands in which the player itself plays another action do not count
            if now.betting.actor == player:
                is_on_path &= table.act(View.of(now, player)) == betting.action(v)
            if is_on_path:
                now = now.apply(betting.action(v))
        if is_on_path:
            action = table.act(View.of(now, player))
            counts[next(c for c in counts if betting.action(c) == action)] += 1
    found = with_more_sizes(SMALL, LARGE, player, plans[player])
    r, rows = int(betting.round[node]), player_rows(betting, player).row
    boards = [tuple(board) for board in LARGE.states.boards[r].tolist()]
    b = boards.index(now.deal.board[:r])
    tree, column = LARGE.trees[player], int(LARGE.states.state_of_hand[r][b, deal.holes[player][0]])
    own = block(tree, r, int(tree.board_start[r]) + b, found)[:, column]
    total = sum(counts.values())
    assert total > 100
    for child, count in counts.items():
        deviation = np.sqrt(own[rows[child]] * (1 - own[rows[child]]) / total)
        assert abs(own[rows[child]] - count / total) <= 3.5 * deviation


def test_bets_that_the_strategy_knows_are_played_as_they_are():
    plans = random_plans(SMALL)
    found = with_more_sizes(SMALL, SMALL, 0, plans[0])
    assert SMALL.realize(0, found) == pytest.approx(plans[0])


def test_games_of_other_cards_are_refused():
    with pytest.raises(InvalidValueError, match="different cards"):
        with_more_sizes(exact_game(get_game("kuhn")), SMALL, 0, np.zeros(3))
