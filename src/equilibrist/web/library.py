"""The strategies that the page can open: bots, mixes, and folders of the served folder."""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from equilibrist.bots.listing import bot_row
from equilibrist.bots.open import MIXES, is_mix, open_strategy
from equilibrist.bots.registry import BOTS
from equilibrist.errors import EquilibristError, StorageError
from equilibrist.players.catalog import PLAYERS
from equilibrist.solving import flop_study, spot_run
from equilibrist.storage.artefact import Identity, read_identity
from equilibrist.storage.manifest import MANIFEST
from equilibrist.strategies import quantized, solution
from equilibrist.strategies.played import IdentifiedStrategy
from equilibrist.strategies.solution import read_summary
from equilibrist.web.errors import NotFoundError
from equilibrist.web.kernels import KERNELS

_KINDS = (spot_run.KIND, solution.KIND, quantized.KIND)
_FLOP = re.compile("(?:[2-9TJQKA][cdhs]){3}")
_MOST_OPEN = 4  # strategies in memory
_LONGEST_NAME = 200  # characters


class Library:
    """Opens strategies by the names of the command line, and keeps the last ones open.

    Folders are relative to the working directory and must be inside it; a public server opens only
    those that it lists.
    """

    def __init__(self, *, is_public: bool = False) -> None:
        self.is_public = is_public
        self._open: OrderedDict[str, tuple[str, IdentifiedStrategy]] = OrderedDict()
        self._lock = threading.Lock()

    def listing(self) -> list[dict[str, Any]]:
        """Return all strategies that have a name: bots, folders of this folder, and mixes."""
        bots = [_bot_entry(name) for name, bot in BOTS.items() if bot.strategies]
        mixes = [_entry(name, "mix", "holdem-limit", PLAYERS[name].description) for name in MIXES]
        if self.is_public:
            bots = [entry for entry in bots if not entry["command"]]
        return [*bots, *self.stored(), *mixes]

    def stored(self) -> list[dict[str, Any]]:
        """Return the solutions, strategies and spots directly in the working directory."""
        found = []
        for stored in stored_of_kind(*_KINDS):
            with contextlib.suppress(EquilibristError):  # damaged
                found.append(_stored_entry(stored))
        return found

    def check(self, name: str) -> None:
        """Raise an error if a name is a folder that this server does not open."""
        folder = name.removeprefix("solution:")
        if name in BOTS or is_mix(name):
            return
        is_inside = (
            0 < len(folder) <= _LONGEST_NAME
            and folder.isprintable()
            and not os.path.isabs(folder)
            and Path(os.path.realpath(folder)).is_relative_to(os.path.realpath("."))
        )
        if is_inside and self.is_public:
            is_inside = _is_listed(folder)
        if not is_inside:
            raise NotFoundError(
                f"no strategy is called {name[:60]!r}; give a bot, a mix such as always-call, or "
                "a folder inside the one that is served",
                value=name,
            )

    def open(self, name: str) -> IdentifiedStrategy:
        """Open a strategy; what is stored under its name is compared with what is in memory."""
        self.check(name)
        identity = self._identity(name)
        if (known := self._known(name, identity)) is not None:
            return known
        with KERNELS:
            if (known := self._known(name, identity)) is not None:  # opened while this one waited
                return known
            found = open_strategy(name)
        with self._lock:
            self._open[name] = identity, found
            while len(self._open) > _MOST_OPEN:
                self._open.popitem(last=False)
        return found

    def _known(self, name: str, identity: str) -> IdentifiedStrategy | None:
        """Return a strategy that is in memory as it is stored now; None if it is not."""
        with self._lock:
            if name not in self._open or self._open[name][0] != identity:
                return None
            self._open.move_to_end(name)
            return self._open[name][1]

    def _identity(self, name: str) -> str:
        """Return the hash of what is stored under a name now; "" for a mix."""
        if is_mix(name):
            return ""
        if name in BOTS:
            return read_identity(BOTS[name].stored_strategy()).hash
        folder = Path(name.removeprefix("solution:"))
        try:
            return read_identity(folder).hash
        except StorageError:
            return ""  # a folder of a bot, or nothing: `open_strategy` decides


def stored_of_kind(*kinds: str) -> Iterator[Identity]:
    """Yield the artefacts of some kinds directly in the served folder, without links."""
    for path in sorted(Path().iterdir()):
        if path.name.startswith(".") or path.is_symlink() or not (path / MANIFEST).is_file():
            continue
        try:
            stored = read_identity(path)
        except EquilibristError:
            continue  # not ours, or damaged: `equilibrist verify` says what is wrong
        if stored.kind in kinds:
            yield stored


def _is_listed(folder: str) -> bool:
    """Return whether a folder is on the lists of strategies and spots, or a flop of a study."""
    first, slash, flop = folder.partition("/")
    kinds = (flop_study.KIND,) if slash else (*_KINDS, flop_study.KIND)
    names = {stored.folder.name for stored in stored_of_kind(*kinds)}
    return first in names and (not slash or _FLOP.fullmatch(flop) is not None)


def _entry(name: str, kind: str, game: str, description: str) -> dict[str, Any]:
    return {
        "name": name,
        "kind": kind,
        "game": game,
        "description": description,
        "command": None,
        "minutes": None,
    }


def _bot_entry(name: str) -> dict[str, Any]:
    """Return a bot's entry; an untrained one has the command that trains it."""
    bot = BOTS[name]
    entry = _entry(name, "bot", bot.game, bot.description)
    if bot_row(bot, bot.folder)["state"] not in ("trained", "playable"):
        entry |= {"command": f"equilibrist train {name}", "minutes": bot.minutes}
    return entry


def _stored_entry(stored: Identity) -> dict[str, Any]:
    """Return the entry of a folder: a spot with its board, a solution with its game."""
    path, kind = stored.folder, stored.kind
    game, text = "", "A strategy in compact form"
    if kind == spot_run.KIND:
        spot = spot_run.read_spot(stored)
        unit = spot.money
        behind = "" if spot.stack is None else f", {unit.words(spot.stack)} behind"
        game = "spot"
        text = f"{spot.board}, pot {unit.words(spot.pot)}{behind} ({unit.name})"
    elif kind == solution.KIND:
        found = read_summary(path)
        game = found.game.name
        text = (
            f"Solved by {found.method} in {found.iterations:,} iterations: exploitability "
            f"{found.certificate.exploitability:.3g} {found.certificate.unit}"
        )
    return _entry(path.name, kind, game, text)
