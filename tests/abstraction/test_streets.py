import numpy as np
import pytest

from equilibrist.abstraction.streets import Streets
from equilibrist.cards.card import parse_cards
from equilibrist.cards.hand import hand_index
from equilibrist.errors import CardError, InvalidValueError
from equilibrist.games.catalog import get_game
from equilibrist.games.rules import GameRules

pytestmark = pytest.mark.kernels

# Two suits of four ranks, a flop of two cards and a turn: every street small enough to enumerate.
SMALL = GameRules(
    name="small", betting="limit", blinds=(1, 1), raise_sizes=(2, 2, 4), max_raises=(1, 1, 1),
    num_suits=2, num_ranks=4, num_hole_cards=2, num_board_cards=(0, 2, 1),
)  # fmt: skip


@pytest.mark.parametrize("game", ["holdem-limit", "rhode-island", "leduc"])
def test_classes_stand_for_every_board(game):
    rules = get_game(game)
    streets = Streets.of(rules)
    cards = len(rules.deck)
    boards = {"holdem-limit": [1, 22_100, 1_082_900, 2_598_960],
              "rhode-island": [1, 52, 1_326], "leduc": [1, 6]}[game]  # fmt: skip
    assert [int(street.multiplicity.sum()) for street in streets.streets] == boards
    assert cards == len(set(rules.deck.cards))


def test_holdem_has_the_published_numbers_of_boards():
    # Oracle: 1,755 flops, 63,193 flops with turns, 134,459 sets of five cards.
    streets = Streets.of(get_game("holdem-limit"))
    assert [len(street.boards) for street in streets.streets] == [1, 1_755, 63_193, 134_459]


@pytest.mark.parametrize("ordered", [False, True])
def test_links_lead_to_the_board_that_renaming_makes(ordered):
    streets = Streets.of(SMALL, ordered)
    deck = set(SMALL.deck.cards)
    for r in range(len(streets) - 1):
        street, following = streets[r], streets[r + 1]
        for b, board in enumerate(street.boards.tolist()):
            deals = set()
            for child, renaming in zip(street.child[b], street.renaming[b], strict=True):
                # Undo the renaming of the child's cards: the old board must be among them.
                back = {int(image): h for h, image in enumerate(_cards(renaming))}
                cards = {back[card] for card in following.boards[child].tolist()}
                assert set(board) <= cards <= deck
                deals.add(frozenset(cards - set(board)))
            assert len(deals) == street.child.shape[1]  # every deal once


def _cards(renaming: int) -> np.ndarray:
    """Return the image of each card under a renaming, from the one-card hands of another game."""
    return Streets.of(get_game("rhode-island")).renamed[renaming]


def test_a_board_and_a_renaming_of_it_give_the_same_rows():
    streets = Streets.of(get_game("holdem-limit"))
    one = streets.locate(parse_cards("7s8s9d2c"))
    two = streets.locate(parse_cards("9h7d8d2s"))
    assert one[:2] == two[:2]
    hands = hand_index(*parse_cards("AsKd")), hand_index(*parse_cards("AdKh"))
    assert one[2][hands[0]] == two[2][hands[1]]
    assert one[2][hand_index(*parse_cards("AsKs"))] != two[2][hands[1]]


def test_parents_are_prefixes():
    streets = Streets.of(SMALL, ordered=True)
    for r in (1, 2):
        before = streets[r - 1].boards
        assert (streets[r].boards[:, : before.shape[1]] == before[streets.parents(r)]).all()


def test_bad_boards_are_refused():
    streets = Streets.of(get_game("holdem-limit"))
    with pytest.raises(CardError, match="0 or 3 or 4 or 5 cards, not 2"):
        streets.locate(parse_cards("7s8s"))
    with pytest.raises(CardError):
        streets.locate((5, 5, 6))
    with pytest.raises(CardError, match="outside the deck"):
        Streets.of(get_game("leduc")).locate(parse_cards("2c"))
    with pytest.raises(InvalidValueError, match="no unique previous board"):
        streets.parents(3)
