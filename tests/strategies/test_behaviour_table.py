"""Tables of hands × actions, at any node and on any board."""

import itertools

import numpy as np
import pytest

from equilibrist.cards.card import cards_name, parse_cards
from equilibrist.errors import CardError, InvalidValueError, RecordError
from equilibrist.games.betting_tree import NodeKind
from equilibrist.games.catalog import get_game
from equilibrist.games.rules import GameRules
from equilibrist.models.card_states import card_states
from equilibrist.models.exact import exact_game, matrix_game
from equilibrist.strategies.behaviour_table import behaviour_table, find_board

# Two board rounds, one of two cards, in three suits: renamings matter, and order does not.
SMALL_HOLDEM = GameRules(
    name="small-holdem",
    betting="limit",
    blinds=(1, 1),
    raise_sizes=(2, 2, 2),
    max_raises=(1, 1, 1),
    num_suits=3,
    num_ranks=3,
    num_hole_cards=2,
    num_board_cards=(0, 2, 1),
)


def random_plans(game, seed=0):
    """Return plans of random behaviour, and that behaviour."""
    random = np.random.default_rng(seed)
    plans, behaviours = [], []
    for player in (0, 1):
        noise = game.uniform(player) * random.uniform(0.1, 1, game.lengths[player])
        plan = game.realize(player, noise)  # not normalised: behaviour() makes it a strategy
        behaviours.append(game.behaviour(player, plan))
        plans.append(game.realize(player, behaviours[-1]))
    return tuple(plans), behaviours


def test_kuhn_tables_are_the_behaviour():
    game = exact_game(get_game("kuhn"))
    plans, behaviours = random_plans(game)
    table = behaviour_table(game, plans)
    assert (table.node, table.board, table.player) == ("", "", 0)
    assert table.hands == ("Qs", "Ks", "As")
    assert table.actions == ("c", "r")
    np.testing.assert_array_equal(table.reach, 1)
    np.testing.assert_allclose(table.probabilities, behaviours[0].reshape(-1, 3)[1:3].T)


@pytest.mark.parametrize("symmetry", ["ranks", "suits", "cards"])
def test_tables_of_all_nodes_and_boards_hold_the_whole_behaviour(symmetry):
    game = exact_game(get_game("leduc"), symmetry=symmetry)
    plans, behaviours = random_plans(game)
    found = [[], []]
    for node in game.betting.nodes(NodeKind.DECISION):
        for board in game.states.boards[int(game.betting.round[node])]:
            table = behaviour_table(game, plans, game.betting.name(int(node)), cards_name(board))
            np.testing.assert_allclose(table.probabilities.sum(axis=1), 1)
            assert table.probabilities.shape == (len(table.hands), len(table.actions))
            found[table.player].append(table.probabilities.ravel())
    for player in (0, 1):
        frequencies = np.sort(np.concatenate(found[player]))
        entries = game.lengths[player] - len(frequencies)
        everything = np.sort(np.concatenate([frequencies, np.ones(entries)]))
        np.testing.assert_allclose(everything, np.sort(behaviours[player]), atol=1e-12)


def test_unreached_hands_are_uniform_with_no_reach():
    game = exact_game(get_game("leduc"))
    plans = tuple(game.realize(player, game.uniform(player)) for player in (0, 1))
    plans[1][3:] = 0  # only the entry of three states is left; no action is ever taken
    table = behaviour_table(game, plans, "rc/r", "Qh")
    np.testing.assert_array_equal(table.reach, 0)
    np.testing.assert_allclose(table.probabilities, 1 / 3)


def test_suits_of_a_board_do_not_matter_but_hands_are_named_in_them():
    game = exact_game(get_game("leduc"))
    plans, _ = random_plans(game)
    hearts, spades = (behaviour_table(game, plans, "cc/", board) for board in ("Qh", "qs"))
    np.testing.assert_array_equal(hearts.probabilities, spades.probabilities)
    assert hearts.hands == ("Qs", "Ks ×2", "As ×2")
    assert spades.hands == ("Qh", "Ks ×2", "As ×2")
    assert (hearts.board, spades.board) == ("Qh", "Qs")


@pytest.mark.parametrize("symmetry", ["suits", "cards"])
@pytest.mark.parametrize("r", [1, 2])
def test_every_board_is_found_and_its_renaming_is_a_symmetry(symmetry, r):
    states = card_states(SMALL_HOLDEM, symmetry)
    counts = np.zeros(len(states.boards[r]), int)
    deck = SMALL_HOLDEM.deck.cards
    for flop in itertools.combinations(deck, 2):
        for turn in [()] if r == 1 else [(card,) for card in deck if card not in flop]:
            # Cards of a deal may be written in any order.
            b, asked, renaming = find_board(
                SMALL_HOLDEM, states, r, cards_name(flop[::-1]) + "/" + cards_name(turn)
            )
            counts[b] += 1
            assert asked == flop + turn
            renamed = renaming[states.boards[r][b]].tolist()
            assert (sorted(renamed[:2]), tuple(renamed[2:])) == (list(flop), turn)
            assert sorted(renaming.tolist()) == list(range(52))
            assert (renaming >> 2 == np.arange(52) >> 2).all()
    np.testing.assert_array_equal(counts, states.multiplicity[r])


def test_rank_renamings_keep_ranks_and_avoid_the_board():
    game = exact_game(get_game("leduc"))
    for card in get_game("leduc").deck.cards:
        _, asked, renaming = find_board(game.betting.rules, game.states, 1, cards_name([card]))
        assert asked == (card,)
        assert sorted(renaming.tolist()) == list(range(52))
        assert (renaming >> 2 == np.arange(52) >> 2).all()


def test_hands_never_share_a_card_with_the_board_asked_for():
    game = exact_game(SMALL_HOLDEM)
    plans = tuple(game.realize(player, game.uniform(player)) for player in (0, 1))
    table = behaviour_table(game, plans, "cc/cc/", "KhQd As")
    for hand in table.hands:
        assert not set(parse_cards(hand.split()[0])) & set(parse_cards("KhQdAs"))


@pytest.mark.parametrize(
    ("node", "board", "error", "complaint"),
    [
        ("x", "", RecordError, "leads nowhere"),
        ("rrr", "", RecordError, "leads nowhere"),
        ("rf", "", InvalidValueError, "the hand is over after 'rf'"),
        ("cc", "", InvalidValueError, "the next decision is 'cc/'"),
        ("cc/cc", "Qh", InvalidValueError, "the hand is over after 'cc/cc'"),
        ("cc/", "", InvalidValueError, "0 board cards .* has 1, such as Qh"),
        ("cc/", "QhKs", InvalidValueError, "2 board cards .* has 1, such as Qh"),
        ("", "Qh", InvalidValueError, "1 board cards .* which has 0"),
        ("cc/", "Qd", CardError, "Qd is not in the deck"),
        ("cc/", "Zz", CardError, "is not a card"),
    ],
)
def test_invalid_nodes_and_boards_are_refused(node, board, error, complaint):
    game = exact_game(get_game("leduc"))
    with pytest.raises(error, match=complaint):
        behaviour_table(game, random_plans(game)[0], node, board)


def test_games_without_cards_have_no_tables():
    game = matrix_game([[1, -1], [-1, 1]])
    half = np.array([1, 0.5, 0.5])
    with pytest.raises(InvalidValueError, match="has no betting tree"):
        behaviour_table(game, (half, half))
