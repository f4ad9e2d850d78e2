import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equilibrist.cards.card import parse_cards
from equilibrist.cards.hand import NUM_HANDS, class_name, class_table, hand_index
from equilibrist.cards.range import Range, blocked_hands, parse_range, range_text
from equilibrist.errors import RangeError

weights = st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 1e-5, 1.0]) | st.floats(0, 1)


def classes(text: str) -> set[str]:
    """Return the names of the classes that a text includes completely."""
    taken = parse_range(text).weights > 0
    return {class_name(c) for c in range(169) if taken[class_table() == c].all()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("AA", "AA"),
        ("AKs", "AKs"),
        ("AKo", "AKo"),
        ("AK", "AKs AKo"),
        ("QQ+", "QQ KK AA"),
        ("AA+", "AA"),
        ("A5s-A2s", "A5s A4s A3s A2s"),
        ("A2s-A5s", "A5s A4s A3s A2s"),
        ("TT-77", "TT 99 88 77"),
        ("77-TT", "TT 99 88 77"),
        ("KTo+", "KTo KJo KQo"),
        ("QT+", "QTs QTo QJs QJo"),
        ("AKs+", "AKs"),
        ("JTs-87s", "JTs T9s 98s 87s"),
        ("86o-QTo", "86o 97o T8o J9o QTo"),
        ("AK-AJ", "AKs AKo AQs AQo AJs AJo"),
        ("32s-A2s", ""),
        ("T9s, 87o", "T9s 87o"),
        ("10 9 s", "T9s"),
        ("kAs", "AKs"),
        ("ttto", ""),
    ],
)
def test_a_token_names_its_classes(text: str, expected: str) -> None:
    if expected:
        assert classes(text) == set(expected.split())
    else:
        with pytest.raises(RangeError):
            parse_range(text)


@pytest.mark.parametrize(
    ("text", "combos"),
    [("random", 1326), ("*", 1326), ("22+", 78), ("A2s+", 48), ("AhKh", 1), ("T9s:0.5", 2)],
)
def test_combos_add_up(text: str, combos: float) -> None:
    assert parse_range(text).num_combos == combos
    assert parse_range(text).percent == pytest.approx(100 * combos / 1326)


def test_one_hand_is_read_in_either_order_and_case() -> None:
    hand = hand_index(*parse_cards("AhKd"))
    for text in ("AhKd", "KdAh", "ahkd", "Ah Kd"):
        assert parse_range(text).hands.tolist() == [hand]


def test_a_later_token_overrides_an_earlier_one() -> None:
    assert parse_range("QQ+:0.5, KK").num_combos == 6 * 0.5 + 6 + 6 * 0.5
    assert parse_range("random, AA:0").num_combos == 1320
    assert parse_range("AA:0, AA") == parse_range("AA")


@pytest.mark.parametrize(
    ("text", "token", "position"),
    [
        ("", "", 0),
        ("  ", "  ", 0),
        ("AA,,KK", "", 3),
        ("AA,", "", 3),
        ("AA, AhAh", "AhAh", 4),
        ("QQ+, AXs", "AXs", 5),
        ("AAs", "AAs", 0),
        ("AA,KK:1.5", "KK:1.5", 3),
        ("AA,KK:-0.5", "KK:-0.5", 3),
        ("KK:nan", "KK:nan", 0),
        ("KK:", "KK:", 0),
        ("KK:0.5:0.5", "KK:0.5:0.5", 0),
        ("A5s-K2s", "A5s-K2s", 0),
        ("A5s-A2o", "A5s-A2o", 0),
        ("AA-AKs", "AA-AKs", 0),
        ("A5-A2s", "A5-A2s", 0),
        ("AhKh+", "AhKh+", 0),
        ("AhKh-AhQh", "AhKh-AhQh", 0),
        ("AA KK", "AAKK", 0),
        ("+", "+", 0),
        ("-", "-", 0),
        ("AA-", "AA-", 0),
        ("randomly", "randomly", 0),
        ("AA:0", "AA:0", 0),
        ("٣٣", "٣٣", 0),
    ],
)
def test_a_bad_token_is_named_with_its_place(text: str, token: str, position: int) -> None:
    with pytest.raises(RangeError) as caught:
        parse_range(text)
    assert caught.value.value == token
    assert caught.value.position == position
    assert token.strip() in str(caught.value)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("AA,KK,QQ", "QQ+"),
        ("KK,QQ", "KK-QQ"),
        ("AKo,AKs", "AK"),
        ("AQs,AKs,AKo", "AQs+, AKo"),
        ("T9s,98s,87s", "T9s-87s"),
        ("T9s,98s", "T9s, 98s"),
        ("A5s,A4s,A3s,A2s:0.5", "A5s-A3s, A2s:0.5"),
        ("*", "random"),
        ("random:0.5", "random:0.5"),
        ("AcAd, AcAh, AcAs, AdAh, AdAs, AhAs", "AA"),
        ("AcAd, 22", "22, AdAc"),
        ("KQ,QJ,JT,72o:0.25", "KQ-JT, 72o:0.25"),
        ("22+,A2+,K2+,Q2+", "22+, A2+, K2+, Q2+"),
    ],
)
def test_text_is_normalised(text: str, normal: str) -> None:
    assert range_text(parse_range(text)) == normal


@given(st.lists(weights, min_size=169, max_size=169).filter(any))
def test_ranges_of_classes_survive_the_round_trip(class_weights: list[float]) -> None:
    original = Range(np.array(class_weights)[class_table()])
    assert parse_range(range_text(original)) == original


@given(
    st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=169, max_size=169),
    st.dictionaries(st.integers(0, NUM_HANDS - 1), weights, max_size=40),
)
def test_ranges_with_single_hands_survive_the_round_trip(
    class_weights: list[float], changes: dict[int, float]
) -> None:
    array = np.array(class_weights)[class_table()]
    for hand, weight in changes.items():
        array[hand] = weight
    array[1325] = 1.0
    assert parse_range(range_text(Range(array))) == Range(array)


@given(st.text(alphabet="AKQT972soch+-:,.01 *random", max_size=20))
def test_any_text_is_a_range_or_a_range_error(text: str) -> None:
    try:
        parsed = parse_range(text)
    except RangeError:
        return
    assert parse_range(range_text(parsed)) == parsed


def test_board_cards_take_hands_out() -> None:
    board = parse_cards("Ah7d2c")
    left = Range.random().without(board)
    assert left.num_combos == 49 * 48 / 2
    assert not left.weights[blocked_hands(board)].any()
    assert Range.random().without(()) == Range.random()
    with pytest.raises(RangeError, match="AA"):
        parse_range("AA").without(parse_cards("AcAdAh"))


def test_describe_counts_combos() -> None:
    assert parse_range("AKs,QQ+").describe() == "QQ+, AKs  22 combos (1.66 %)"
    assert parse_range("AA:0.25").describe() == "AA:0.25  1.5 combos (0.11 %)"
    assert parse_range("*").describe() == "random  1326 combos (100.00 %)"


def test_describe_counts_neither_hands_nor_combos_that_the_board_blocks() -> None:
    board = parse_cards("Ah7d2c")
    assert parse_range("AA,76s").describe(board) == "AA, 76s  6 combos (0.51 %)"
    assert parse_range("*").describe(board) == "random  1176 combos (100.00 %)"


def test_ranges_are_immutable_values() -> None:
    one = parse_range("AA,KK")
    with pytest.raises(ValueError, match="read-only"):
        one.weights[0] = 1.0
    assert one == parse_range("KK+")
    assert len({one, parse_range("KK+"), parse_range("AA")}) == 2
    assert one != "KK+"


@pytest.mark.parametrize(
    "array", [np.zeros(1326), np.ones(1325), np.full(1326, 1.01), np.full(1326, np.nan)]
)
def test_impossible_weights_are_refused(array: np.ndarray) -> None:
    with pytest.raises(RangeError):
        Range(array)
