"""Files of compressed tables: what is written is read, and damage is reported."""

import json
import struct
import sys
import zlib

import numpy as np
import pytest
import zstandard

from equilibrist.errors import InvalidValueError, StorageError
from equilibrist.storage.table_file import CODECS, check_codec, read_tables, write_tables

TABLES = {
    "regret": np.random.default_rng(1).random(1000).astype(np.float32),
    "packed": np.arange(-500, 500, dtype=np.int16),
    "values": np.linspace(-1, 1, 12).reshape(3, 4),
    "nothing": np.zeros(0),
}


@pytest.mark.parametrize("codec", CODECS)
def test_tables_are_read_as_they_were_written(tmp_path, codec):
    path = tmp_path / "a.tables"
    assert write_tables(path, "run", 7, TABLES, codec) == path.stat().st_size
    found = read_tables(path)
    assert (found.run, found.epoch, list(found.tables)) == ("run", 7, list(TABLES))
    for name, table in TABLES.items():
        assert found.tables[name].dtype == table.dtype
        np.testing.assert_array_equal(found.tables[name], table)
        found.tables[name][...] = 0  # they can be changed
    assert list(read_tables(path, ["values"]).tables) == ["values"]
    assert [file.name for file in tmp_path.iterdir()] == ["a.tables"]


def test_a_missing_file_is_none_and_a_missing_table_is_reported(tmp_path):
    path = tmp_path / "a.tables"
    assert read_tables(path) is None
    write_tables(path, "run", 1, TABLES)
    with pytest.raises(StorageError, match="lacks the table average"):
        read_tables(path, ["average"])


@pytest.mark.parametrize("place", [3, 23, 60, -5])
def test_every_altered_byte_is_noticed(tmp_path, place):
    path = tmp_path / "a.tables"
    write_tables(path, "run", 1, {"values": TABLES["values"]})
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    with pytest.raises(StorageError, match=r"a\.tables"):
        read_tables(path)


def test_a_header_that_still_makes_sense_after_damage_is_noticed(tmp_path):
    path = tmp_path / "a.tables"
    write_tables(path, "run", 1, {"values": TABLES["values"]})
    path.write_bytes(path.read_bytes().replace(b'"epoch": 1', b'"epoch": 3'))
    with pytest.raises(StorageError, match="the checksum of its header does not match"):
        read_tables(path)


@pytest.mark.parametrize("length", [0, 10, 25, 100])
def test_a_file_that_is_cut_off_is_noticed(tmp_path, length):
    path = tmp_path / "a.tables"
    write_tables(path, "run", 1, TABLES)
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(StorageError, match=r"a\.tables"):
        read_tables(path)


def forged(path, codec="raw", contents=None, **changes):
    """Write a file with matching checksums whose header has other entries."""
    contents = [np.arange(4.0).tobytes()] if contents is None else contents
    parts = [["values", "<f8", [4], len(text), zlib.crc32(text)] for text in contents]
    header = {"run": "run", "epoch": 1, "codec": codec, "parts": parts} | changes
    text = json.dumps(header).encode()
    lengths = struct.pack("<II", len(text), zlib.crc32(text))
    path.write_bytes(b"equilibrist tables 1\n" + lengths + text + b"".join(contents))


def test_two_tables_of_one_name_are_refused(tmp_path):
    path = tmp_path / "a.tables"
    forged(path, contents=[np.arange(4.0).tobytes(), np.ones(4).tobytes()])
    with pytest.raises(StorageError, match="has a header that is not one of a file of tables"):
        read_tables(path)


def part(*values):
    """An entry of the header, with some values replaced from the left."""
    text = np.arange(4.0).tobytes()
    entry = ["values", "<f8", [4], len(text), zlib.crc32(text)]
    return [[*values, *entry[len(values) :]]]


@pytest.mark.parametrize(
    "changes",
    [
        {"run": 1}, {"epoch": -1}, {"epoch": 1.5}, {"epoch": True}, {"codec": "gzip"}, {"parts": 1},
        {"parts": [1]}, {"parts": [[]]}, {"parts": part(1)}, {"parts": part("values", "|O")},
        {"parts": part("values", ">f8")}, {"parts": part("values", "<f8", 4)},
        {"parts": part("values", "<f8", [-4])}, {"parts": part("values", "<f8", [5])},
        {"parts": part("values", "<f8", [2, 1])}, {"parts": part("values", "<f8", [1 << 62])},
        {"parts": part("values", "<f4")}, {"parts": part("values", "<f8", [4], 31)},
        {"parts": part("values", "<f8", [4], -32)}, {"parts": part() * 2},
    ],
    ids=str,
)  # fmt: skip
def test_a_forged_header_is_refused(tmp_path, changes):
    forged(tmp_path / "a.tables")
    assert read_tables(tmp_path / "a.tables").tables["values"].tolist() == [0, 1, 2, 3]
    forged(tmp_path / "a.tables", **changes)
    with pytest.raises(StorageError, match=r"a\.tables"):
        read_tables(tmp_path / "a.tables")


@pytest.mark.parametrize("text", [b"null", b"[]", b"[" * 60_000, b"{", b"\xff"], ids=len)
def test_a_header_that_is_no_object_is_refused(tmp_path, text):
    path = tmp_path / "a.tables"
    lengths = struct.pack("<II", len(text), zlib.crc32(text))
    path.write_bytes(b"equilibrist tables 1\n" + lengths + text)
    with pytest.raises(StorageError, match="without a known compression"):
        read_tables(path)


def test_compressed_tables_of_another_length_are_refused(tmp_path):
    bomb = zstandard.ZstdCompressor().compress(bytes(1 << 24))
    short = zstandard.ZstdCompressor().compress(bytes(8))
    for content in (bomb, short, b"nothing of zstd"):
        forged(tmp_path / "a.tables", "zstd", [content])
        with pytest.raises(StorageError, match=r"another size|decompressed"):
            read_tables(tmp_path / "a.tables")


def test_a_link_is_refused(tmp_path):
    write_tables(tmp_path / "b.tables", "run", 1, TABLES)
    (tmp_path / "a.tables").symlink_to("b.tables")
    with pytest.raises(StorageError, match="a link"):
        read_tables(tmp_path / "a.tables")


def test_a_write_that_fails_keeps_the_older_file(tmp_path, monkeypatch):
    path = tmp_path / "a.tables"
    write_tables(path, "run", 1, TABLES)

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(StorageError, match="No space left on device"):
        write_tables(path, "run", 2, TABLES)
    assert read_tables(path).epoch == 1
    assert [file.name for file in tmp_path.iterdir()] == ["a.tables"]


def test_a_compression_that_is_unknown_or_not_installed_is_refused(monkeypatch):
    with pytest.raises(InvalidValueError, match="raw or zstd, not 'gzip'"):
        check_codec("gzip")
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(InvalidValueError, match="needs the package zstandard"):
        check_codec("zstd")
