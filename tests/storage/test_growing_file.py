"""Files that grow line by line."""

import os
import stat

import pytest

from equilibrist.errors import StorageError
from equilibrist.storage.growing_file import GrowingFile


def test_lines_are_on_disk_before_append_returns(tmp_path, monkeypatch):
    synced, real = [], os.fsync
    with GrowingFile.create(tmp_path / "a") as file:
        monkeypatch.setattr(os, "fsync", lambda number: synced.append(number) or real(number))
        file.append("one", "two")
        assert synced
        assert (tmp_path / "a").read_text() == "one\ntwo\n"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600


def test_an_existing_file_is_not_replaced_and_a_link_not_followed(tmp_path):
    GrowingFile.create(tmp_path / "a").close()
    with pytest.raises(StorageError, match="File exists"):
        GrowingFile.create(tmp_path / "a")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    with pytest.raises(StorageError, match="cannot write"):
        GrowingFile.open(tmp_path / "link")
    with pytest.raises(StorageError, match="No such file"):
        GrowingFile.open(tmp_path / "nowhere")


def test_a_closed_file_takes_no_lines(tmp_path):
    file = GrowingFile.create(tmp_path / "a")
    file.close()
    file.close()
    with pytest.raises(StorageError, match="is closed"):
        file.append("x")
