"""Schemas: what does not fit is refused by name, before anybody uses it."""

import numpy as np
import pytest

from equilibrist.errors import StorageError
from equilibrist.storage import array_file
from equilibrist.storage.artefact import Header, open_artefact, write_artefact
from equilibrist.storage.schema import ArrayRule, Fields, check_arrays

RULES = {
    "index": ArrayRule("int32", ("n",), low=-1, high=9),
    "value": ArrayRule(("float32", "float64"), ("n", 2)),
    "more": ArrayRule("float64", (None,), is_optional=True, may_be_infinite=True),
    "offset": ArrayRule("int64", (3,), low=0, is_ascending=True),
}
GOOD = {
    "index": np.array([0, -1, 9, 3], np.int32),
    "value": np.zeros((4, 2)),
    "offset": np.array([0, 2, 2]),
}


def opened(folder, **changes):
    arrays = {name: array for name, array in (GOOD | changes).items() if array is not None}
    write_artefact(
        folder, Header("thing", configuration={"a": 1}), arrays, may_be_infinite={"more", "value"}
    )
    return open_artefact(folder, blockwise=True)


def test_arrays_that_fit_are_accepted(tmp_path):
    for changes in ({}, {"value": np.ones((4, 2), np.float32)}, {"more": np.array([np.inf])}):
        check_arrays(opened(tmp_path, **changes), RULES)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"index": None}, r"manifest\.json lacks the array index"),
        ({"other": np.zeros(1)}, r"manifest\.json has an unknown array other for a thing"),
        ({"index": np.zeros(4, np.int64)}, r"index-000001\.npy holds int64, but int32 is wanted"),
        ({"index": np.zeros(4, ">i4")}, r"index-000001\.npy holds >i4, but int32 is wanted"),
        ({"value": np.zeros((4, 2), "i4")}, r"holds int32, but float32 or float64 is wanted"),
        ({"value": np.zeros((5, 2))}, r"value-000001\.npy has shape \[5, 2\], but \[4, 2\]"),
        ({"value": np.zeros((4, 2, 1))}, r"has shape \[4, 2, 1\], but \[4, 2\] is wanted"),
        ({"value": np.zeros(4)}, r"has shape \[4\], but \[4, 2\] is wanted"),
        ({"index": np.array([0, -2, 1, 2], "i4")}, r"holds -2, which is not at least -1 and at mo"),
        ({"index": np.array([0, 10, 1, 2], "i4")}, r"holds 10, which is not at least -1 and at mo"),
        ({"value": np.full((4, 2), np.inf)}, r"value-000001\.npy holds a number that is not finit"),
        ({"offset": np.array([0, 3, 2])}, r"offset-000001\.npy holds a number that is less"),
    ],
)
def test_arrays_that_do_not_fit_are_refused_by_name(tmp_path, changes, complaint):
    artefact = opened(tmp_path, **changes)
    with pytest.raises(StorageError, match=complaint):
        check_arrays(artefact, RULES)


def test_values_are_looked_at_in_blocks(monkeypatch, tmp_path):
    monkeypatch.setattr(array_file, "_TOGETHER", 3)
    rule = ArrayRule("int64", (None,), high=99, is_ascending=True)
    rule.check_values(tmp_path, np.arange(100))
    for place in (2, 3, 50, 99):
        falls, rises = np.arange(100), np.arange(100)
        falls[place], rises[place] = -1, 100
        with pytest.raises(StorageError, match="less than the previous one"):
            rule.check_values(tmp_path, falls)
        with pytest.raises(StorageError, match="holds 100"):
            rule.check_values(tmp_path, rises)


def test_values_of_large_arrays_are_checked_when_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(array_file, "LARGE_BYTES", 100)
    monkeypatch.setattr(array_file, "BLOCK_BYTES", 64)
    numbers = np.zeros(1000, np.int32)
    numbers[700] = 10
    artefact = opened(tmp_path, index=numbers, value=None)
    check_arrays(artefact, {"index": RULES["index"], "offset": RULES["offset"]})
    assert not artefact.large["index"][:700].any()
    with pytest.raises(StorageError, match="holds 10, which is not"):
        artefact.large["index"][650:]


def test_fields_are_read_by_type(tmp_path):
    values = {"n": 3, "x": 0.5, "yes": True, "text": "é", "list": [1, 2], "part": {"a": [0.5]}}
    fields = Fields(tmp_path, "configuration", values | {"names": ["a"], "lines": "a\nb"})
    assert (fields.whole("n"), fields.number("x"), fields.number("n")) == (3, 0.5, 3)
    assert (fields.flag("yes"), fields.text("text"), fields.lines("lines")) == (True, "é", "a\nb")
    assert (fields.wholes("list"), fields.texts("names")) == ((1, 2), ("a",))
    assert fields.part("part").numbers("a") == (0.5,)
    assert fields.optional("absent", fields.whole) is None
    assert "n" in fields
    assert "absent" not in fields


@pytest.mark.parametrize("method", ["whole", "number", "flag", "text", "texts", "wholes", "part"])
@pytest.mark.parametrize(
    "value", [None, "a\x1b[2J", "a" * 300, [None], [[]], 10**400, -(10**400), float("nan")]
)
def test_fields_of_other_types_are_refused_by_name(tmp_path, method, value):
    fields = Fields(tmp_path / "manifest.json", "info", {"field": value})
    with pytest.raises(StorageError, match=r"manifest\.json has info\.field") as caught:
        getattr(fields, method)("field")
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300 + len(str(tmp_path))


def test_numbers_out_of_range_are_refused(tmp_path):
    fields = Fields(tmp_path, "info", {"n": 3, "x": 1.5, "yes": 1, "is": True})
    for attempt in (
        lambda: fields.whole("n", 4),
        lambda: fields.whole("n", 0, 2),
        lambda: fields.whole("x"),
        lambda: fields.whole("is"),
        lambda: fields.number("x", 2),
        lambda: fields.number("x", 0, 1),
        lambda: fields.number("is"),
        lambda: fields.flag("yes"),
    ):
        with pytest.raises(StorageError, match=r"has info\."):
            attempt()
