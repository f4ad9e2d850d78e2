import itertools
import warnings

import numpy as np
import pytest

from equilibrist.cards.card import card_name, cards_name, parse_cards
from equilibrist.cards.equity import Equity, equity, hand_equities
from equilibrist.cards.hand import hand_cards, hand_index
from equilibrist.cards.range import Range, parse_range
from equilibrist.errors import CardError, InvalidValueError, RangeError, UnknownNameError

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # eval7 uses deprecated names of pyparsing
    import eval7


def counts(result: Equity) -> tuple[float, float, float, float]:
    return result.wins, result.ties, result.losses, result.total


def by_eval7(first: str, second: str, board: str, dead: str = "") -> tuple[float, float, float]:
    """Wins, ties and losses counted by eval7 over every possible board."""
    wins = ties = losses = 0.0
    one, other = parse_range(first), parse_range(second)
    known = {*parse_cards(board), *parse_cards(dead)}
    cards = [eval7.Card(card_name(card)) for card in range(52)]
    fixed = [cards[card] for card in parse_cards(board)]
    for h, j in itertools.product(one.hands, other.hands):
        mine, theirs = hand_cards(int(h)), hand_cards(int(j))
        if len({*mine, *theirs, *known}) < 4 + len(known):
            continue
        weight = one.weights[h] * other.weights[j]
        deck = [cards[c] for c in range(52) if c not in {*mine, *theirs, *known}]
        my_cards, their_cards = [cards[c] for c in mine], [cards[c] for c in theirs]
        for rest in itertools.combinations(deck, 5 - len(fixed)):
            full = [*fixed, *rest]
            mine_value = eval7.evaluate(my_cards + full)
            their_value = eval7.evaluate(their_cards + full)
            wins += weight * (mine_value > their_value)
            ties += weight * (mine_value == their_value)
            losses += weight * (mine_value < their_value)
    return wins, ties, losses


@pytest.mark.parametrize(
    ("first", "second", "board", "dead"),
    [
        ("AhKh", "QsQd", "2h7h9c", ""),
        ("AhKh", "QsQd", "2h7h9c", "AcAd"),
        ("AhKh", "AcAd,QQ", "2h7h9c", ""),
        ("AhKh", "QQ+,AK", "Th7h9c2d", ""),
        ("JJ,T9s:0.25,AhKh", "99+,AKo:0.5,KhQh:0.125", "Th7h9c2d", "Ts"),
        ("22-44,AKs", "A5s-A2s,65s", "2c3d4h4s", ""),
        ("QQ+,AK", "TT+,AQs+", "2c7d9hJsQc", ""),
        ("AsKs", "random", "QsJsTs2c3d", ""),
        ("54o", "76s", "AcKcQcJcTc", ""),
    ],
)
def test_counts_agree_with_eval7(first: str, second: str, board: str, dead: str) -> None:
    result = equity(first, second, parse_cards(board), parse_cards(dead))
    wins, ties, losses = by_eval7(first, second, board, dead)
    assert counts(result) == pytest.approx((wins, ties, losses, wins + ties + losses))
    assert result.exact
    assert result.standard_error is None


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_hand_against_range_agrees_with_eval7_on_the_river() -> None:
    board, villain = "2c7d9hJsQc", "22+,A2s+,KTo+"
    shares = hand_equities("random", villain, parse_cards(board))
    theirs = eval7.HandRange(villain)
    full = [eval7.Card(name) for name in ("2c", "7d", "9h", "Js", "Qc")]
    for hand in np.flatnonzero(np.isfinite(shares))[::37]:
        mine = [eval7.Card(card_name(card)) for card in hand_cards(int(hand))]
        expected = eval7.py_hand_vs_range_exact(mine, theirs, full)
        assert shares[hand] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("board", ["", "2h", "2h7h", "2h7h9c", "2h7h9cTd", "2h7h9cTdJs"])
def test_sides_mirror_each_other_on_boards_of_any_size(board: str) -> None:
    cards = parse_cards(board)
    one, other = equity("AhKh", "QQ", cards), equity("QQ", "AhKh", cards)
    assert counts(one) == (other.losses, other.ties, other.wins, other.total)
    assert one.equity + other.equity == pytest.approx(1)
    assert all(isinstance(count, int) for count in counts(one))


def test_suits_make_no_difference() -> None:
    results = {
        counts(equity(first, second, parse_cards(board)))
        for first, second, board in [
            ("AhKh,QcJd", "QsQd,T9s", "2h7h9c"),
            ("AsKs,QdJc", "QhQc,T9s", "2s7s9d"),
            ("AcKc,QsJh", "QdQh,T9s", "2c7c9s"),
        ]
    }
    assert len(results) == 1


def test_a_range_is_the_sum_of_its_hands() -> None:
    board = parse_cards("2c7d9h")
    whole = equity("QQ+,T9s", "AKs,88", board)
    hands = parse_range("QQ+,T9s").without(board).hands
    parts = [counts(equity(int(hand), "AKs,88", board)) for hand in hands]
    assert counts(whole) == tuple(np.sum(parts, axis=0).tolist())


def test_the_four_ways_to_name_a_hand_agree() -> None:
    hand = hand_index(*parse_cards("AhKh"))
    board = parse_cards("2c7d9h")
    results = {
        equity(side, "QQ", board)
        for side in ("AhKh", hand, Range.of_hands([hand]), parse_range("KhAh"))
    }
    assert len(results) == 1


def test_weights_scale_the_counts_and_not_the_equity() -> None:
    board = parse_cards("2c7d9h")
    full, half = equity("QQ+", "AK", board), equity("QQ+:0.5", "AK:0.25", board)
    assert half.equity == pytest.approx(full.equity)
    assert half.total == full.total / 8
    assert isinstance(half.total, float)
    assert isinstance(full.total, int)


def test_equity_of_a_range_is_the_mean_of_its_hands() -> None:
    board = parse_cards("Td9d6h")
    shares = hand_equities("22+,A2s+", "random", board)
    held = parse_range("22+,A2s+").without(board).hands
    assert np.flatnonzero(np.isfinite(shares)).tolist() == held.tolist()
    # Against a random hand every hand meets the same number of deals.
    assert shares[held].mean() == pytest.approx(equity("22+,A2s+", "random", board).equity)


@pytest.mark.parametrize(
    ("first", "second", "board"),
    [("AhKh", "QsQd", ""), ("QQ+,AK", "random", "2c7d9h"), ("AA:0.5,76s", "JJ,AKs:0.25", "")],
)
def test_monte_carlo_is_close_and_marked_inexact(first: str, second: str, board: str) -> None:
    cards = parse_cards(board)
    exact = equity(first, second, cards, method="exact")
    drawn = equity(first, second, cards, method="monte-carlo", samples=20_000, seed=3)
    assert not drawn.exact
    assert drawn.standard_error is not None
    assert 0 < drawn.standard_error < 0.01
    assert abs(drawn.equity - exact.equity) < 4 * drawn.standard_error


def test_monte_carlo_standard_error_matches_the_spread() -> None:
    exact = equity("AhKh", "QsQd").equity
    drawn = [
        equity("AhKh", "QsQd", method="monte-carlo", samples=2000, seed=seed) for seed in range(100)
    ]
    spread = np.std([result.equity - exact for result in drawn])
    assert spread == pytest.approx(np.mean([result.standard_error for result in drawn]), rel=0.25)


def test_monte_carlo_is_the_same_for_the_same_seed_and_any_threads() -> None:
    import numba

    settings = {"method": "monte-carlo", "samples": 5000}
    one = equity("AA:0.3,T9s", "QQ:0.7", seed=1, **settings)
    threads = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        again = equity("AA:0.3,T9s", "QQ:0.7", seed=1, **settings)
    finally:
        numba.set_num_threads(threads)
    assert one == again
    assert one != equity("AA:0.3,T9s", "QQ:0.7", seed=2, **settings)


@pytest.mark.parametrize("method", ["exact", "monte-carlo"])
def test_boards_are_played_block_by_block(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    board, shares = parse_cards("2c7d9h"), []
    settings = {"method": method, "samples": 1000, "seed": 4}
    whole = equity("QQ+,76s:0.5", "AK", board, **settings)
    monkeypatch.setattr("equilibrist.cards.equity._BLOCK", 300)
    parts = equity("QQ+,76s:0.5", "AK", board, **settings, progress=shares.append)
    assert parts.exact == whole.exact == (method == "exact")
    assert len(shares) > 3
    assert shares == sorted(shares)
    assert shares[-1] == 1
    if method == "exact":
        assert counts(parts) == pytest.approx(counts(whole))


@pytest.mark.parametrize("samples", [5, 99, 10**9 + 1, 9_000_000_000_000, 1e5, "many"])
def test_the_number_of_samples_has_a_minimum_and_a_maximum(samples: int) -> None:
    with pytest.raises(InvalidValueError, match="samples is a whole number from 100 to 1000000000"):
        equity("AA", "KK", method="monte-carlo", samples=samples)


@pytest.mark.parametrize(
    ("first", "second", "board", "dead", "error", "match"),
    [
        ("AhKh", "AhQh", "", "", CardError, "Ah is dealt twice"),
        ("AhKh", "QQ", "Ah7d2c", "", CardError, "Ah is dealt twice"),
        ("QQ", "AhKh", "9c7d2c", "Kh", CardError, "Kh is dealt twice"),
        ("AhKh", "QQ", "9c7d2c", "9c", CardError, "9c is dealt twice"),
        ("AhKh", "QQ", "9c7d2c3c4c5c", "", CardError, "at most 5 cards, not 6"),
        ("AA", "KK", "AhAdAc", "", RangeError, "no hand of the range AA"),
        ("AA", "KK", "2c3c4c", "KhKdKcKs", RangeError, "no hand of the range KK"),
        ("AhKh,AhQh", "AhJh,AhTh", "", "", RangeError, "shares a card"),
        ("AhKh", "", "", "", RangeError, "empty"),
        ("AhKh", "XX", "", "", RangeError, "'XX' at character 1"),
    ],
)
def test_impossible_questions_are_refused(
    first: str, second: str, board: str, dead: str, error: type, match: str
) -> None:
    with pytest.raises(error, match=match):
        equity(first, second, parse_cards(board), parse_cards(dead))


def test_other_bad_input_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="guess"):
        equity("AA", "KK", method="guess")
    with pytest.raises(CardError, match="1326 is not a hand"):
        equity(1326, "KK")
    with pytest.raises(CardError, match="-1 is not a hand"):
        equity(-1, "KK")
    with pytest.raises(CardError, match="52 is not a card"):
        equity("AA", "KK", (52, 0, 1))
    with pytest.raises(CardError, match="8 cards are left and 9"):
        equity("AA", "KK", (), tuple(range(44)))


def test_the_last_nine_cards_of_a_deck_are_enough() -> None:
    dead = tuple(range(43))
    result = equity("AhAs", "KhKs", (), dead)
    assert cards_name(range(43, 52)) == "QsKcKdKhKsAcAdAhAs"
    assert counts(result) == (1, 0, 0, 1)


def test_weights_whose_product_is_zero_are_refused():
    with pytest.raises(InvalidValueError, match="so small that their product is zero"):
        equity("AA:1e-200", "KK:1e-200", parse_cards("2c3c4d5d"))
