"""EctomynX's classes of hands and textures of boards, compared with the published report."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.joint_counts import joint
from equilibrist.abstraction.streets import Streets
from equilibrist.cards.card import parse_cards
from equilibrist.cards.isomorphism import DealIndexer
from equilibrist.cards.ranking import category
from equilibrist.errors import CardError, InvalidValueError
from equilibrist.games.catalog import get_game
from equilibrist.papers.ectomynx.texture_recipe import street_classes, texture
from equilibrist.papers.ectomynx.textures import (
    CLASS_NAMES,
    VOLATILITY_BORDERS,
    WETNESS_BORDERS,
    flop_textures,
    strength_classes,
    volatility,
    volatility_bins,
    wetness,
    wetness_bins,
)


def class_of(hand: str, board: str) -> str:
    return CLASS_NAMES[strength_classes([parse_cards(hand)], [parse_cards(board)])[0]]


@pytest.mark.parametrize(
    ("hand", "board", "name"),
    [
        # Printed: I.a.2, and the situations of I.d and VI.a.
        ("As9h", "KhKd2c3s", "nothing"),
        ("Jh9h", "Ah8h4d", "strong draw"),
        ("Jh9h", "AhJd4h", "middle pair"),
        ("AcQh", "2c3c5c", "strong draw"),
        ("8h4c", "9c9d8c8d4s", "full house"),
        # Pairs by their place among the different ranks of the board.
        ("7h2s", "Kh9d7c", "weak pair"),
        ("9h2s", "Kh9d7c", "middle pair"),
        ("ThTs", "Kh9d7c", "middle pair"),
        ("8h8s", "Kh9d7c", "weak pair"),
        ("Ks2s", "Kh9d7c", "top pair"),
        ("AhAs", "Kh9d7c", "overpair"),
        ("9h2s", "KhKd9c", "middle pair"),
        ("QhQs", "KhKd9c", "middle pair"),
        ("7s2s", "KhKd9c9d7c", "weak pair"),
        # Pairs of the board are nobody's; those that a hole card joins are ours.
        ("Ah5s", "KhKd9c9d2c", "nothing"),
        ("Ah5s", "KhKdKc", "nothing"),
        ("8h8s", "KhKdKc", "middle pair"),
        ("AhAs", "KhKdKc2s", "overpair"),
        ("Ah5s", "KhKdKcKs2s", "nothing"),
        ("Ah5s", "KhKdKc2s2d", "nothing"),
        ("9h7s", "Kh9d7c", "two pair"),
        ("9h7s", "9dKhKd7c", "two pair"),
        ("KsQh", "KhKd9c", "three of a kind"),
        ("9h9s", "KhQd9c", "three of a kind"),
        ("9h9s", "KhKd9c", "full house"),
        ("Ks2h", "KhKd9c9d", "full house"),
        ("Ks9h", "KhKd9c", "full house"),
        ("KcKs", "KhKd9c", "quads or better"),
        ("Ks2h", "KhKdKc9c9d", "quads or better"),
        # Straights: ours if better than the board's own.
        ("8h6s", "9d7cTc", "straight"),
        ("Ah2s", "3d4c5c", "straight"),
        ("AhKs", "QdJcTc", "straight"),
        ("Jh2s", "6d7c8c9hTd", "straight"),
        ("5h2s", "6d7c8c9hTd", "nothing"),
        ("6h5s", "6d7c8c9hTd", "weak pair"),
        ("AhKs", "6d7c8c9hTd", "nothing"),
        # Flushes: by the cards of the suit that are not on the board.
        ("Ah2h", "Kh9h4h", "strong flush"),
        ("Qh2h", "Kh9h4h", "strong flush"),
        ("Jh2h", "Kh9h4h", "strong flush"),
        ("Th2h", "Kh9h4h", "weak flush"),
        ("Qh2s", "AhKh9h4h", "strong flush"),
        ("Th2s", "AhKh9h4h", "strong flush"),
        ("8h2s", "AhKh9h4h", "weak flush"),
        ("3h2s", "AhKh9h6h4h", "nothing"),
        ("5h2s", "AhKh9h6h4h", "weak flush"),
        ("Qh2s", "AhKh9h6h4h", "strong flush"),
        ("8h7h", "9hTh6h", "quads or better"),
        ("7h2s", "9hThJhQh8h", "nothing"),
        ("Kh7s", "9hThJhQh8h", "quads or better"),
        # Draws.
        ("8h7s", "9d6c2h", "strong draw"),
        ("Jh7s", "9d8c5h", "strong draw"),  # a double gutshot: a six or a ten
        ("8h7s", "9d5c2h", "weak draw"),
        ("Ah4s", "2d5cKh", "weak draw"),
        ("AhKs", "QdJc2h", "strong draw"),  # a gutshot and two overcards
        ("AhKs", "9d5c2h", "weak draw"),
        ("Ah8s", "9d5c2h", "nothing"),
        ("4h2h", "AhKh9c", "strong draw"),
        ("Ah2s", "KhTh9h4c", "strong draw"),
        ("3h2s", "KhTh9c4d", "nothing"),
        ("As2d", "Kh9h8h6h", "nothing"),  # the board's own flush draw
        ("As2d", "9h8c7d6s", "nothing"),  # and its own straight draw
        ("Ks2d", "9h8c7d6s", "nothing"),
        ("Js2d", "9h8c7d6s", "weak draw"),  # a ten makes a better straight than the board's
        ("AhKs", "9d5c2h3s8s", "nothing"),  # no draws on the river
        ("8h7h", "9h6h2c3sKd", "nothing"),
    ],
)
def test_class_of_a_hand(hand: str, board: str, name: str) -> None:
    assert class_of(hand, board) == name


@pytest.mark.parametrize("num_board", [3, 4, 5])
def test_where_the_board_holds_nothing_classes_are_categories(num_board: int) -> None:
    # On boards without a pair, straight or flush everything but high cards is made by hole cards.
    names = {
        "high card": ("nothing", "weak draw", "strong draw"),
        "pair": ("weak pair", "middle pair", "top pair", "overpair"),
        "two pair": ("two pair",),
        "three of a kind": ("three of a kind",),
        "straight": ("straight",),
        "flush": ("weak flush", "strong flush"),
        "straight flush": ("quads or better",),
    }
    random = np.random.default_rng(num_board)
    deals = np.argsort(random.random((6000, 52)), axis=1)[:, : 2 + num_board]
    met = set()
    for deal, found in zip(deals, strength_classes(deals[:, :2], deals[:, 2:]), strict=True):
        if category(deal[2:].tolist()) == "high card":
            name = category(deal.tolist())
            assert CLASS_NAMES[found] in names[name]
            met.add(name)
    assert met >= set(names) - {"straight flush"}


def test_nothing_on_the_river_is_what_the_board_is() -> None:
    random = np.random.default_rng(7)
    deals = np.argsort(random.random((6000, 52)), axis=1)[:, :7]
    found = strength_classes(deals[:, :2], deals[:, 2:])
    for deal in deals[found == 0]:
        assert category(deal.tolist()) == category(deal[2:].tolist())


@pytest.mark.parametrize("num_board", [3, 4])
def test_straight_draws_are_cards_that_make_a_straight(num_board: int) -> None:
    # Hands of low cards without flush draws or overcards: outs alone make the class.
    random = np.random.default_rng(num_board)
    deals = np.argsort(random.random((8000, 52)), axis=1)[:, : 2 + num_board]
    board = deals[:, 2:]
    plain = (deals[:, :2].min(axis=1) >> 2) <= (board.max(axis=1) >> 2)
    plain &= (deals[:, :, None] & 3 == np.arange(4)).sum(axis=1).max(axis=1) < 4
    found = strength_classes(deals[:, :2], board)
    checked = {0: 0, 1: 0, 2: 0}
    for deal, number in zip(deals[plain], found[plain], strict=True):
        if number > 2 or category(deal[2:].tolist()) != "high card":
            continue
        outs = 0
        for rank in range(13):
            free = [card for card in range(4 * rank, 4 * rank + 4) if card not in deal]
            ranks = {*(deal >> 2).tolist(), rank}
            shown = {*(deal[2:] >> 2).tolist(), rank}
            outs += bool(free) and best_straight(ranks) > best_straight(shown)
        assert number == min(outs, 2)
        checked[number] += 1
    assert min(checked.values()) > 20


def best_straight(ranks: set[int]) -> int:
    """Return the highest card of the best straight, or −1."""
    for high in range(12, 2, -1):
        if all((high - i if high - i >= 0 else 12) in ranks for i in range(5)):
            return high
    return -1


# --- textures -------------------------------------------------------------------------------------


def test_the_reports_examples_are_wet_dry_volatile_and_static() -> None:
    # I.a.3: QsJsTs is very wet, 962 rainbow is not; 6s5s3c is very volatile, A92 is not.
    assert wetness_bins([parse_cards("QsJsTs"), parse_cards("9s6h2d")]).tolist() == [4, 1]
    assert volatility_bins([parse_cards("6s5s3c"), parse_cards("As9h2d")]).tolist() == [3, 1]


@pytest.mark.parametrize(
    ("board", "parts"),
    [
        # Suitedness, connectivity, highness as printed in I.c, worked out by hand.
        ("QsJsTs", (3, 3 * (2 / 1.5 + 1 / 1.5**2), 33 / 12)),
        ("9s6h2d", (0, 3 * (1.5**-3 + 1.5**-4 + 1.5**-7), 17 / 12)),
        ("KsKh7s", (1, 3 * 1.5**-6, 33 / 12)),
        ("8s8h8d", (0, 0, 2)),
        ("As2h3d", (0, 3 * (1.5**-12 + 1.5**-11 + 1.5**-1), 19 / 12)),
        ("AsKsQhJh", (2, 2 * (3 / 1.5 + 2 / 1.5**2 + 1 / 1.5**3), 50 / 16)),
        ("AsKsQsJh", (3, 2 * (3 / 1.5 + 2 / 1.5**2 + 1 / 1.5**3), 50 / 16)),
        ("9s7s5s3s", (6, 2 * (3 / 1.5**2 + 2 / 1.5**4 + 1 / 1.5**6), 24 / 16)),
        ("9s9h5d5c", (0, 2 / 1.5**4, 28 / 16)),
        ("AsKsQsJhTd", (2, 1.5 * (4 / 1.5 + 3 / 1.5**2 + 2 / 1.5**3 + 1 / 1.5**4), 60 / 20)),
        ("AsKsQsJsTd", (5, 1.5 * (4 / 1.5 + 3 / 1.5**2 + 2 / 1.5**3 + 1 / 1.5**4), 60 / 20)),
        ("AsKsQsJsTs", (5, 1.5 * (4 / 1.5 + 3 / 1.5**2 + 2 / 1.5**3 + 1 / 1.5**4), 60 / 20)),
        ("2s2h2d7s7h", (0, 1.5 / 1.5**5, 20 / 20)),
    ],
)
def test_wetness_is_the_sum_of_its_parts(board: str, parts: tuple[float, ...]) -> None:
    assert wetness([parse_cards(board)])[0] == pytest.approx(sum(parts), abs=1e-12)


@pytest.mark.parametrize(
    ("flop", "parts"),
    [
        # Suitedness, connectivity, 7 − 1.15^highest, pair adjustment.
        ("6s5s3c", (1, 3 * (1.5**-1 + 1.5**-2 + 1.5**-3), 7 - 1.15**6, 0)),
        ("As9h2d", (0, 3 * (1.5**-5 + 1.5**-7 + 1.5**-12), 7 - 1.15**14, 0)),
        ("KsKh7s", (1, 3 * 1.5**-6, 7 - 1.15**13, -1)),
        ("2s2h2d", (0, 0, 7 - 1.15**2, -2)),
        ("5s4s3s", (3, 3 * (2 / 1.5 + 1 / 1.5**2), 7 - 1.15**5, 0)),
    ],
)
def test_volatility_is_the_sum_of_its_parts(flop: str, parts: tuple[float, ...]) -> None:
    assert volatility([parse_cards(flop)])[0] == pytest.approx(sum(parts), abs=1e-12)


@pytest.mark.parametrize("num_cards", [3, 4, 5])
def test_bins_of_all_boards_are_those_of_whole_numbers(num_cards: int) -> None:
    # Wetness times 60 · 3^12 is a whole number; borders are compared without rounding.
    indexer = DealIndexer((num_cards,))
    boards = indexer.unindex_array(np.arange(indexer.size)).astype(np.int64)
    ranks, unit = boards >> 2, 60 * 3**12
    factor = {3: 3 * 60, 4: 2 * 60, 5: 90}[num_cards]
    whole = ranks.sum(axis=1) + 2 * num_cards
    whole = whole * (unit // (4 * num_cards))
    shown = [(ranks == rank).any(axis=1) for rank in range(13)]
    for low, high in itertools.combinations(range(13), 2):
        distance = high - low
        whole += (shown[low] & shown[high]) * factor * 2**distance * 3 ** (12 - distance)
    points = {3: {2: 1, 3: 3}, 4: {2: 1, 3: 3, 4: 6}, 5: {3: 2, 4: 5, 5: 5}}[num_cards]
    for suit in range(4):
        in_suit = (boards & 3 == suit).sum(axis=1)
        for number, worth in points.items():
            whole += (in_suit == number) * worth * unit
    borders = [round(10 * border) * unit // 10 for border in WETNESS_BORDERS[num_cards]]
    expected = 1 + sum((whole >= border).astype(int) for border in borders)
    np.testing.assert_array_equal(wetness_bins(boards), expected)
    on_border = np.isin(whole, borders)
    assert on_border.sum() == (2 if num_cards == 3 else 0)
    # Where bins are printed as overlapping no board lies.
    assert not np.isin(whole, borders[1:]).any()


def test_bins_begin_at_their_lower_border() -> None:
    # 668 of two suits: 4/3 + 1 + 5/3; TTQ of three suits: 4/3 + 8/3. Printed: "Low: 4.0 <= w".
    flops = [parse_cards("6c6d8c"), parse_cards("TdThQc")]
    assert wetness(flops).tolist() == pytest.approx([4.0, 4.0], abs=1e-12)
    assert wetness_bins(flops).tolist() == [2, 2]
    assert VOLATILITY_BORDERS == (3.5, 7.0)
    assert WETNESS_BORDERS == {3: (4, 6, 8), 4: (5, 7.5, 10), 5: (5.5, 7, 8.5, 10)}


def test_flop_textures_are_wetness_times_three_and_volatility() -> None:
    # III.2: (wetness − 1) · 3 + volatility, 1 to 12.
    assert flop_textures([parse_cards("QsJsTs"), parse_cards("9s6h2d")]).tolist() == [12, 2]
    indexer = DealIndexer((3,))
    found = flop_textures(indexer.unindex_array(np.arange(indexer.size)))
    assert set(found.tolist()) == set(range(1, 13)) - {10}  # very wet flops are never static


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: wetness([(0, 1)]), "3, 4 or 5 cards"),
        (lambda: wetness([(0, 1, 1)]), "row 0 repeats a card"),
        (lambda: wetness([(0, 1, 52)]), "outside 0 … 51"),
        (lambda: wetness([(0.5, 1.0, 2.0)]), "integer array"),
        (lambda: volatility([(0, 1, 2, 3)]), "volatility needs flops"),
        (lambda: strength_classes([(0, 1)], [(1, 2, 3)]), "row 0 repeats a card"),
        (
            lambda: strength_classes([(0, 1, 2)], [(4, 5, 6)]),
            "hole cards of 1 boards must have shape",
        ),
    ],
)
def test_wrong_cards_are_named(ask, message: str) -> None:
    with pytest.raises(CardError, match=message):
        ask()


# --- the recipe -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def streets() -> Streets:
    return Streets.of(get_game("royal-holdem"))


@pytest.fixture(scope="module", params=[True, False], ids=["textures", "classes alone"])
def abstraction(request: pytest.FixtureRequest, streets: Streets) -> Abstraction:
    return texture(streets, textures=request.param)


def test_hands_are_in_one_bucket_if_they_were_alike_on_every_street(
    abstraction: Abstraction, streets: Streets
) -> None:
    random = np.random.default_rng(1)
    deck = np.array(streets.rules.deck.cards)
    with_textures = abstraction.configuration["textures"]
    bucket_of: dict[tuple[int, ...], int] = {}
    for _ in range(150):
        board = random.choice(deck, 5, replace=False)
        live = np.flatnonzero(abstraction.buckets(board.tolist()) >= 0)
        path = np.zeros((len(live), 0), int)
        for cards in (3, 4, 5):
            part = board[:cards]
            on_board = np.broadcast_to(part, (len(live), cards))
            found = strength_classes(streets.hands[live], on_board, num_ranks=5)
            kind = flop_textures([part]) if cards == 3 else wetness_bins([part])
            path = np.column_stack([path, np.full(len(live), kind[0] * with_textures), found])
            buckets = abstraction.buckets(part.tolist())[live]
            for key, bucket in zip(map(tuple, path.tolist()), buckets.tolist(), strict=True):
                assert bucket_of.setdefault(key, bucket) == bucket
    last = {bucket: key for key, bucket in bucket_of.items() if len(key) == 6}
    assert len(last) == len({key for key in bucket_of if len(key) == 6})


def test_every_bucket_occurs_and_all_deals_are_counted(abstraction: Abstraction) -> None:
    assert abstraction.num_buckets[0] == 1
    for r, table in enumerate(abstraction.tables):
        assert set(np.unique(table)) == {-1, *range(abstraction.num_buckets[r])}
    counts = joint(abstraction)
    # Hands, flop, turn and river of twenty cards.
    assert counts.total == 190 * 153 * 560 * 13 * 12
    assert (counts.met.sum(axis=1) > 0).all()
    np.testing.assert_array_equal(counts.wins, counts.losses.T)
    for r in range(1, 4):
        assert (np.diff(abstraction.parents[r]) >= 0).all()


def test_flat_classes_are_those_of_the_hands(streets: Streets) -> None:
    table = street_classes(streets, 2)
    for number in range(0, len(table), 50):
        board = streets[2].boards[number]
        live = np.flatnonzero(table[number] >= 0)
        expected = strength_classes(
            streets.hands[live], np.broadcast_to(board, (len(live), 4)), num_ranks=5
        )
        np.testing.assert_array_equal(table[number][live], expected)


def test_games_that_are_not_holdem_have_no_texture() -> None:
    with pytest.raises(InvalidValueError, match="leduc is dealt differently"):
        texture(Streets.of(get_game("leduc")))


@pytest.mark.slow
def test_holdem_has_as_many_sequences_as_the_docstring_says() -> None:
    holdem = Streets.of(get_game("holdem-limit"))
    assert texture(holdem).num_buckets == (1, 138, 1856, 27_586)
    assert texture(holdem, textures=False).num_buckets == (1, 14, 73, 395)
