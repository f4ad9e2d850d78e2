"""The tables of a server: one saved session each, opened when it is needed."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from equilibrist.errors import EquilibristError, InvalidValueError, RecordError, StorageError
from equilibrist.games.catalog import get_game
from equilibrist.games.dealing import secret_seed
from equilibrist.play.session_file import SavedSession, read_head
from equilibrist.web.errors import DamagedTableError, NotFoundError, SavingError
from equilibrist.web.identity import is_identity, new_identity
from equilibrist.web.opponents import Opponents
from equilibrist.web.settings import Settings

_LOG = logging.getLogger(__name__)
_SUFFIX = ".log"


@dataclass(eq=False)
class _Open:
    """A table in memory; `lock` is held while a request uses it."""

    saved: SavedSession | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)


class TableStore:
    """Saved sessions by identity; requests to one table wait for each other.

    The tables of the owner are directly in the folder, those of a visitor in one of its own.
    """

    def __init__(self, settings: Settings, opponents: Opponents) -> None:
        self.settings, self.opponents = settings, opponents
        self._open: OrderedDict[Path, _Open] = OrderedDict()
        self._lock = threading.Lock()

    def create(self, owner: str, game: str, player: str) -> str:
        """Begin a table and return its identity."""
        rules = get_game(game)
        folder = self._folder(owner)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            number = len(list(folder.glob(f"*{_SUFFIX}")))
        except OSError as error:
            reason = f"cannot use {folder}: {error.strerror}"
            raise StorageError(reason, value=str(folder)) from None
        if self.settings.is_public and number >= self.settings.most_tables:
            raise InvalidValueError(
                f"you have {number} tables, the most that this server saves; continue one of them",
                value=number,
            )
        identity = new_identity()
        path = folder / f"{identity}{_SUFFIX}"
        saved = SavedSession.start(path, rules, player, secret_seed(), self.opponents.make)
        with self._lock:
            self._open[path] = _Open(saved)
            self._close_old()
        return identity

    @contextlib.contextmanager
    def using(self, owner: str, identity: str) -> Iterator[SavedSession]:
        """Open a table for one request; another request to it waits.

        If the request cannot be saved, the table is read from its file again next time.
        """
        if not is_identity(identity):
            raise _unknown(identity)
        path = self._folder(owner) / f"{identity}{_SUFFIX}"
        with self._held(path) as held:
            if held.saved is None:
                held.saved = self._resume(path)
            try:
                yield held.saved
            except StorageError as error:
                held.saved.close()
                held.saved = None
                raise SavingError(str(error), value=error.value) from None

    @contextlib.contextmanager
    def _held(self, path: Path) -> Iterator[_Open]:
        """Hold the lock of a table that is in memory."""
        while True:
            with self._lock:
                if path not in self._open and not path.is_file():
                    raise _unknown(path.name.removesuffix(_SUFFIX))
                held = self._open.setdefault(path, _Open())
                self._open.move_to_end(path)
                self._close_old()
            with held.lock:
                if self._open.get(path) is held:  # else it was closed in the meantime
                    yield held
                    return

    def _resume(self, path: Path) -> SavedSession:
        """Read a table from its file; errors are logged, because they may name hidden cards."""
        try:
            return SavedSession.resume(path, self.opponents.make)
        except RecordError as error:
            _LOG.error("%s: %s", path, error)
            raise DamagedTableError(
                f"the file {path.name} of this table is damaged; the server's terminal says where"
            ) from None

    def listing(self, owner: str) -> list[dict[str, Any]]:
        """Return the tables of an owner, the one that was played last first."""
        found = []
        for path in self._folder(owner).glob(f"*{_SUFFIX}"):
            identity = path.name.removesuffix(_SUFFIX)
            if not is_identity(identity):
                continue
            with contextlib.suppress(OSError, EquilibristError):
                head = read_head(path)
                lines = path.read_bytes().count(b"\nSTATE:")
                row = {"id": identity, "game": head.game, "player": head.player, "hands": lines}
                found.append(row | {"played_at": path.stat().st_mtime})
        return sorted(found, key=lambda row: -row["played_at"])

    def close(self) -> None:
        """Close all files; the tables can be resumed from them."""
        with self._lock:
            for held in self._open.values():
                if held.saved is not None:
                    held.saved.close()
            self._open.clear()

    def _folder(self, owner: str) -> Path:
        return self.settings.tables / "visitors" / owner if owner else self.settings.tables

    def _close_old(self) -> None:
        """Close the tables that were not used for longest, down to the maximum number."""
        for path in list(self._open)[: max(0, len(self._open) - self.settings.most_open)]:
            held = self._open[path]
            if held.lock.acquire(blocking=False):
                try:
                    if held.saved is not None:
                        held.saved.close()
                    del self._open[path]
                finally:
                    held.lock.release()


def _unknown(identity: str) -> NotFoundError:
    return NotFoundError(f"there is no table {identity[:40]!r} here", value=identity)
