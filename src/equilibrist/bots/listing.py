"""The list of bots: the settings of each, and what its folder holds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from equilibrist.bots.bot import BUCKETS, COUNTS, ENDS, Bot, BucketBot, is_current
from equilibrist.bots.registry import BOTS
from equilibrist.catalogue import load_object
from equilibrist.errors import StorageError
from equilibrist.evaluation.statistics import mbb_per_game
from equilibrist.games.catalog import load_game
from equilibrist.storage.artefact import read_identity
from equilibrist.storage.manifest import MANIFEST
from equilibrist.storage.schema import Fields
from equilibrist.strategies.description import BucketDescription
from equilibrist.strategies.quantized import CompactStrategy
from equilibrist.strategies.solution import read_summary


def bot_row(bot: Bot, folder: Path) -> dict[str, Any]:
    """Return a bot's row of the list: its settings, and its training in a folder if there is one.

    A folder that cannot be read is a row with its problem; it does not hide the other bots.
    """
    row: dict[str, Any] = {
        "name": bot.name,
        "description": bot.description,
        "paper": bot.paper,
        **bot.settings,
        "minutes": bot.minutes,
        "needs_gpu": bot.needs_gpu,
    }
    try:
        return row | load_object(bot.status)(bot, folder)
    except StorageError as error:
        problem = {"folder": str(folder), "problem": str(error)}
        return row | {"trained": False, "state": "unreadable", **problem}


def folder_status(bot: Bot, folder: Path) -> dict[str, Any]:
    """Return the fields of a bot's row that its folder decides: trained if there are any files."""
    size = num_bytes(folder)
    if not size:
        return {"trained": False, "state": "not trained"}
    found = {"folder": str(folder), "bytes": size, "problem": None}
    return {"trained": True, "state": "trained", **found}


def bucket_status(bot: BucketBot, folder: Path) -> dict[str, Any]:
    """Return the fields of a row that the folder of a bot of buckets decides."""
    solutions = _solutions(bot, folder)
    trained = bool(solutions)
    row: dict[str, Any] = {"trained": trained, "state": _state(bot, folder, trained)}
    if not trained:
        return row
    found = [read_summary(folder / name) for name in solutions]
    worst = max(found, key=lambda solution: solution.certificate.exploitability)
    parts = BUCKETS, COUNTS, ENDS, *solutions, bot.strategy
    row |= {
        "folder": str(folder),
        "bytes": sum(num_bytes(folder / part) for part in parts),
        "method": worst.method,
        "iterations": worst.iterations,
        "problem": None,
        **mbb_per_game(load_game(bot.game), worst.certificate),
        **known_response(bot, folder),
    }
    try:
        for name, solution in zip(solutions, found, strict=True):
            if not isinstance(solution.game, BucketDescription):
                own = f"{folder / name} is a solution of {solution.game.name}, not of the bot's"
                raise StorageError(f"{own} buckets; train the bot again", value=name)
            solution.game.check()
    except StorageError as changed:
        row["problem"] = str(changed)
    return row


def _solutions(bot: BucketBot, folder: Path) -> list[str]:
    """Return the folder names of a bot's solutions, one per model; [] if it is not trained."""
    names = [bot.solution]
    if bot.is_glued and (folder / bot.strategy / MANIFEST).exists():
        names = list(CompactStrategy.open(folder / bot.strategy).solutions)
    return names if all((folder / name / MANIFEST).exists() for name in names) else []


def _state(bot: BucketBot, folder: Path, trained: bool) -> str:
    """Return the state of a bot; a shared folder counts only for the bot that it is named after."""
    if trained:
        return "trained"
    if is_current(folder / bot.strategy):
        return "playable"
    return "begun" if folder.exists() and not bot.family else "not trained"


def num_bytes(folder: Path) -> int:
    """Return the total size of a folder's files in bytes."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def known_response(bot: Bot, folder: Path) -> dict[str, Any]:
    """Return a bot's stored exploitability in the real game as fields of its row, {} if none."""
    certificate = bot.response_folder(folder)
    if not (certificate / MANIFEST).exists():
        return {}
    stored = read_identity(certificate)
    info, identity = Fields.info(stored), Fields.configuration(stored).lines("identity")
    plays = [folder / part for part in bot.strategies]
    hashes = [read_identity(part).hash for part in plays if (part / MANIFEST).exists()]
    if identity not in hashes or "exploitability" not in info:
        return {}
    return {
        "real_game": info.number("exploitability"),
        "real_game_unit": info.text("unit"),
        "real_game_flops": info.whole("flops"),
        "real_game_estimate": info.flag("estimate"),
    }


def ranked(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of bots, the least exploitable in the real game first, then those not measured.

    Example:
        >>> rows = [{"name": "a"}, {"name": "b", "real_game": 9.0}, {"name": "c", "real_game": 2.0}]
        >>> [row["name"] for row in ranked(rows)]
        ['c', 'b', 'a']
    """
    return sorted(rows, key=lambda row: row.get("real_game", math.inf))


def known_responses() -> list[dict[str, Any]]:
    """Return the rows of all bots with a stored exploitability in the real game."""
    found: dict[Path, dict[str, Any]] = {}
    for bot in BOTS.values():
        fields = known_response(bot, bot.folder)
        if fields:  # bots that share a solution share its certificate
            found.setdefault(bot.response_folder(bot.folder), {"name": bot.name, **fields})
    return list(found.values())
