"""Numbers that Python itself cannot parse or print."""

import pytest

from equilibrist.cards.numbers import parse_whole, shown, whole_number
from equilibrist.errors import InvalidValueError


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("007", 7),
        ("0" * 5000, 0),
        ("0" * 5000 + "99", 99),  # more digits than Python reads
        ("100", None),
        ("9" * 5000, None),
        ("", None),
        ("-1", None),
        ("+1", None),
        ("1_0", None),
        ("²", None),
        ("٣", None),
    ],
)
def test_any_number_of_digits_is_parsed(text, number):
    assert parse_whole(text, 99) == number


def test_values_that_python_cannot_print_are_described():
    nested = []
    for _ in range(100_000):
        nested = [nested]
    assert shown(10**5000) == shown(-(10**5000)) == "a huge number"
    assert shown([10**5000]) == shown(nested) == "a huge value"
    assert shown("ab") == "'ab'"
    assert len(shown("a" * 1000)) == 60
    with pytest.raises(InvalidValueError, match="from 0 to 9, not a huge number"):
        whole_number(10**5000, "a number", 0, 9)
