"""Preflop equities to the last integer.

Source of all figures: computed exactly by full enumeration, checked against a second program; one
hand of a class meets C(50,2)·C(48,5) deals, one pair of hands C(48,5) boards.
"""

import csv
import hashlib
import math
from pathlib import Path

import numpy as np
import pytest

from equilibrist.cards.equity import equity, preflop_equities, preflop_table
from equilibrist.cards.hand import class_name, class_table, parse_class

FIGURES = Path(__file__).parent / "preflop_equities.csv"
BOARDS = math.comb(48, 5)

# Class against class: wins, ties and losses over all pairs of hands that share no card.
CLASS_PAIRS = [
    ("AA", "KK", 50371344, 285228, 10986372),
    ("AKs", "QQ", 18834720, 178116, 22082460),
    ("22", "JTs", 18677004, 586476, 21831816),
    ("AKo", "AQo", 133255572, 8640456, 43032804),
    ("AA", "AA", 223260, 9827304, 223260),
    ("AA", "72o", 108477540, 520308, 14288040),
    ("AKs", "AKo", 2941344, 37260912, 893040),
    ("32o", "32o", 2167296, 139498944, 2167296),
    ("32s", "AA", 6877656, 206784, 34010856),
    ("76s", "JJ", 8858520, 155616, 32081160),
    ("T9s", "AKo", 33121920, 369564, 48699108),
    ("22", "AKo", 64528740, 760500, 57996648),
    ("Q9s", "33", 20790744, 404028, 19900524),
    ("64o", "53s", 39971328, 10284708, 31934556),
    ("64o", "Q7s", 27944724, 782976, 53462892),
    ("K5s", "99", 13240572, 185604, 27669120),
    ("82o", "43o", 131040684, 12875076, 102656016),
    ("66", "T7o", 66218184, 935892, 56131812),
    ("T2s", "84s", 15544300, 530228, 11322336),
    ("75o", "42s", 47095440, 6310332, 28784820),
    ("ATo", "J9s", 47858844, 357864, 33973884),
    ("72o", "83o", 85945356, 12780288, 147846132),
    ("K7o", "73s", 42003756, 2443512, 17195676),
    ("K9s", "J8o", 52772748, 541632, 28876212),
    ("77", "97o", 39559260, 1521192, 20562492),
    ("TT", "T9o", 52863612, 1739472, 7039860),
    ("54o", "J9s", 27982992, 1094100, 53113500),
    ("QJo", "A7s", 34213692, 360132, 47616768),
    ("Q4s", "J5o", 50548692, 794796, 30847104),
    ("64s", "T7s", 9757416, 516392, 17123056),
    ("T7s", "J2s", 11854196, 370872, 15171796),
    ("K5s", "Q5o", 45550440, 2436996, 13655508),
    ("A4s", "22", 20315028, 281364, 20498904),
    ("A2o", "ATs", 13715352, 6469464, 41458128),
    ("A5s", "K5o", 46424988, 1738332, 13479624),
    ("Q3o", "63s", 40280112, 2233104, 19129728),
    ("92o", "K9s", 13011060, 2222004, 46409880),
    ("T9s", "99", 7785792, 391908, 12369948),
    ("54s", "83s", 11983476, 1278536, 14134852),
    ("84o", "Q2s", 32145840, 825192, 49219560),
]
# Of all 28,561 lines "class class wins ties losses\n", classes by number, rows in order.
CLASS_TABLE_SHA256 = "9cb9dcf32f3fbdd69f9820f4369b265ae091a995d93f3188d11d09fdf72adc69"


def read_figures() -> dict[str, tuple[int, int]]:
    with FIGURES.open() as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return {row["class"]: (int(row["wins"]), int(row["ties"])) for row in rows}


def test_all_169_classes_against_a_random_hand() -> None:
    wins, ties, total = preflop_equities()
    computed = {class_name(c): (int(wins[c]), int(ties[c])) for c in range(169)}
    assert total == math.comb(50, 2) * BOARDS == 2_097_572_400
    assert computed == read_figures()


@pytest.mark.parametrize(
    ("name", "percent"),
    [
        ("AA", 85.203713),
        ("KK", 82.395680),
        ("AKs", 67.044632),
        ("22", 50.334019),
        ("72o", 34.583647),
        ("32o", 32.303228),
    ],
)
def test_published_equities_against_a_random_hand(name: str, percent: float) -> None:
    wins, ties = read_figures()[name]
    assert 100 * (wins + ties / 2) / 2_097_572_400 == pytest.approx(percent, abs=5e-7)


@pytest.mark.parametrize(
    ("first", "second", "percent"),
    [
        ("AA", "KK", 81.94605),
        ("AKs", "QQ", 46.04853),
        ("22", "JTs", 46.16159),
        ("AKo", "AQo", 74.39392),
    ],
)
def test_published_equities_of_class_against_class(first: str, second: str, percent: float) -> None:
    assert 100 * equity(first, second).equity == pytest.approx(percent, abs=5e-6)


@pytest.mark.parametrize(("first", "second", "wins", "ties", "losses"), CLASS_PAIRS)
def test_class_against_class(first: str, second: str, wins: int, ties: int, losses: int) -> None:
    result = equity(first, second)
    assert (result.wins, result.ties, result.losses) == (wins, ties, losses)
    assert result.total % BOARDS == 0


def test_one_hand_against_a_random_hand() -> None:
    result = equity("AhAd", "random")
    assert (result.wins, result.ties, result.total) == (1_781_508_418, 11_402_312, 2_097_572_400)


@pytest.mark.slow
def test_the_whole_class_table() -> None:
    table = preflop_table()
    for first, second, wins, ties, losses in CLASS_PAIRS:
        at = parse_class(first), parse_class(second)
        assert (table.wins[at], table.ties[at], table.losses[at]) == (wins, ties, losses)
    assert table.total.sum() == 1326 * 1225 * BOARDS
    text = "".join(
        f"{i} {j} {table.wins[i, j]} {table.ties[i, j]} {table.losses[i, j]}\n"
        for i in range(169)
        for j in range(169)
    )
    assert hashlib.sha256(text.encode()).hexdigest() == CLASS_TABLE_SHA256


@pytest.mark.slow
def test_the_class_table_adds_up_to_the_equities_against_a_random_hand() -> None:
    table = preflop_table()
    wins, ties, _ = preflop_equities()
    hands = np.bincount(class_table())
    assert (table.wins.sum(axis=1) == hands * wins).all()
    assert (table.ties.sum(axis=1) == hands * ties).all()
