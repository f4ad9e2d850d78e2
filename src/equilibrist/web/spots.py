"""The API of spots: ranges as grids, forecasts, the library of solved spots, runouts and flops."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from equilibrist.bots.listing import num_bytes
from equilibrist.cards.hand import NUM_CLASSES, class_table
from equilibrist.cards.range import Range, parse_range
from equilibrist.display.grid import PALETTES, colours
from equilibrist.errors import EquilibristError, InvalidValueError
from equilibrist.games.catalog import GAMES
from equilibrist.games.words import action_labels
from equilibrist.models.spot import Spot
from equilibrist.solving import flop_study, spot_run
from equilibrist.solving.flop_study import FlopStudy
from equilibrist.solving.forecast import spot_forecast
from equilibrist.solving.spot_data import forecast_data, spot_data
from equilibrist.solving.suggestions import refusal, suggestions
from equilibrist.storage.artefact import Identity, read_identity
from equilibrist.storage.manifest import MANIFEST
from equilibrist.storage.memory import available_bytes
from equilibrist.storage.schema import Fields
from equilibrist.strategies.spot_report import Answers
from equilibrist.web.job_requests import (
    FlopsRequest,
    SpotRequest,
    check_name,
    games_to_solve,
    words_of_change,
)
from equilibrist.web.jobs import owner_only
from equilibrist.web.kernels import KERNELS, Turn
from equilibrist.web.library import Library, stored_of_kind
from equilibrist.web.settings import Settings

_MOST_REPORTS = 20  # reports on flops in memory
_LAST_CLASS = NUM_CLASSES - 1
_MENU = ("bets", "raises", "max_raises", "donks", "add_all_in", "force_all_in", "merge")


class RangeText(BaseModel):
    """A range as text, or as the weight of each of the 169 classes of hands, row by row from AA."""

    text: str | None = Field(None, max_length=20_000)
    weights: list[Annotated[float, Field(ge=0, le=1)]] | None = Field(
        None, min_length=NUM_CLASSES, max_length=NUM_CLASSES
    )


class RangeGrid(BaseModel):
    """A range in both forms."""

    text: str
    combos: float
    percent: float
    weights: list[float] = Field(description="mean weight of each class, row by row from AA")
    is_by_class: bool = Field(description="false: hands of one class differ, by their suits")


class Forecast(BaseModel):
    """Memory and time of a spot: the fields of `spot --forecast --json`, and advice."""

    model_config = {"extra": "allow"}

    board: str
    unit: str
    actions: int
    bytes: int
    available_bytes: int
    fits: bool
    seconds_per_iteration: float = Field(description="of one thread")
    refusal: str = Field(description="why it is refused, and what would fit; empty if it fits")
    suggestions: list[dict[str, Any]] = Field(
        description="`changes` of fields, `note`, `text`, `bytes`, `fits`, …"
    )


class StoredSpot(BaseModel):
    """A solved spot of the library."""

    name: str
    board: str
    oop: str
    ip: str
    pot: float
    stack: float | None
    unit: str
    menu: str
    locks: list[str]
    rake: str | None
    method: str
    bits: int
    iterations: int
    exploitability: float
    percent_of_pot: float
    seconds: float
    bytes: int
    solved_at: float = Field(description="seconds since 1970")


class Study(BaseModel):
    """A situation that is solved on many flops."""

    name: str
    oop: str
    ip: str
    pot: float
    stack: float | None
    unit: str
    menu: str
    flops: int
    solved: int
    solved_at: float


class SpotLibrary(BaseModel):
    """Solved spots and studies, the newest first."""

    spots: list[StoredSpot]
    studies: list[Study]


class Runouts(BaseModel):
    """The player to act after each card that can be dealt: nodes as `spot --json` has them."""

    name: str
    node: str
    runout: str
    cards: list[dict[str, Any]]
    colours: list[dict[str, str]] = Field(description="of each action, by palette")


def spot_router(settings: Settings, library: Library) -> APIRouter:
    """Return the part of the API about spots."""
    router = APIRouter(prefix="/api", tags=["spots"])
    own = [owner_only(settings)]
    _add_forms(router, own)
    _add_library(router, library)
    _add_reports(router, library)
    return router


def _add_forms(router: APIRouter, own: list[Any]) -> None:
    """Add what the form of a spot asks while it is filled in."""
    one_at_a_time = Turn()

    @router.post("/range", dependencies=own)
    def convert_range(given: RangeText) -> RangeGrid:
        """Read a range as text or as weights, and answer with both."""
        return range_grid(given)

    @router.post("/spots/forecast", dependencies=own)
    def forecast(
        request: Annotated[SpotRequest | FlopsRequest, Field(discriminator="kind")],
    ) -> Forecast:
        """Forecast memory and time before anything is solved; a flop stands for a study's flops."""
        with one_at_a_time:
            return forecast_of(request)

    @router.get("/games", dependencies=own)
    def list_games() -> list[str]:
        """List the games that can be solved whole in the memory of this machine."""
        return games_to_solve()


def _add_library(router: APIRouter, library: Library) -> None:
    """Add the list of what is solved, and the way back to its form."""

    @router.get("/spots")
    def list_spots() -> SpotLibrary:
        """List solved spots, and studies of flops."""
        return SpotLibrary(
            spots=_newest(stored_spots(), "solved_at"),
            studies=_newest(studies(), "solved_at"),
        )

    @router.get("/spots/form")
    def show_form(name: Annotated[str, Query(max_length=200)]) -> SpotRequest:
        """Show the request of a solved spot, to solve it again with a lock or another menu."""
        library.check(name)
        return form_of(name)


def _add_reports(router: APIRouter, library: Library) -> None:
    """Add the reports over cards and over flops."""
    reports = _Reports()

    @router.get("/runouts")
    def show_runouts(
        name: Annotated[str, Query(max_length=200, description="a solved spot")],
        node: Annotated[str, Query(max_length=400, description="before the card")],
        runout: Annotated[str, Query(max_length=40, description="cards since the spot")] = "",
    ) -> Runouts:
        """Report on the next player to act, on every card that can be dealt after a node."""
        strategy = library.open(name).strategy
        if not isinstance(strategy, Answers):
            raise InvalidValueError(f"{name[:60]} is no spot; only spots have runouts", value=name)
        with KERNELS:
            found = strategy.runouts(node, runout)
        cards = [{"card": report.board[-2:], **report.summary()} for report in found]
        shades = _shades(found[0].actions)
        return Runouts(name=name, node=node, runout=runout, cards=cards, colours=shades)

    @router.get("/flops")
    def show_flops(
        name: Annotated[str, Query(max_length=200, description="a study")],
        node: Annotated[str, Query(max_length=400, description="betting on the flop")] = "",
        by: Annotated[Literal["", "suits", "pairs", "high"], Query()] = "",
    ) -> dict[str, Any]:
        """Report on a study whose flops are all solved: the object of `flops --json`.

        With `nodes`: name, player, actions and colours of the nodes that it reports.
        """
        library.check(name)
        return reports.find(name, node, by)


def range_grid(given: RangeText) -> RangeGrid:
    """Return a range in both forms."""
    classes = _LAST_CLASS - class_table().astype(np.int64)  # row by row from AA, as the page has it
    if given.weights is not None:
        found = Range(np.round(np.array(given.weights), 4)[classes])
    else:
        found = parse_range(given.text or "")
    counts = np.bincount(classes, minlength=NUM_CLASSES)
    means = np.bincount(classes, found.weights, NUM_CLASSES) / counts
    return RangeGrid(
        text=str(found),
        combos=round(found.num_combos, 4),
        percent=round(found.percent, 4),
        weights=np.round(means, 6).tolist(),
        is_by_class=bool(np.abs(means[classes] - found.weights).max() < 1e-9),
    )


def forecast_of(request: SpotRequest | FlopsRequest) -> Forecast:
    """Return the forecast of a request, with smaller versions if it does not fit."""
    spot, bits, free = request.spot(), request.solver.bits, available_bytes()
    request.check_budget(spot)
    needed = spot_forecast(spot, bits)
    found = suggestions(spot, needed, free)
    data = forecast_data(spot, needed, free, found)
    for row, suggestion in zip(data["suggestions"], found, strict=True):
        row["text"] = suggestion.text(words_of_change)
    fits = data["fits"]
    words = "" if fits else refusal(spot, needed, free, found, words_of_change)
    return Forecast(**data, refusal=words)


def stored_spots() -> list[StoredSpot]:
    """Return the solved spots directly in the served folder."""
    found = []
    for stored in stored_of_kind(spot_run.KIND):
        try:
            found.append(_stored_spot(stored))
        except EquilibristError:
            continue  # damaged: `equilibrist verify` says what is wrong
    return found


def _stored_spot(stored: Identity) -> StoredSpot:
    spot, by, info = spot_run.read_spot(stored), spot_run.read_solver(stored), Fields.info(stored)
    data = spot_data(spot) | {"menu": str(spot.written_menu)}
    exploitability = info.number("exploitability")
    return StoredSpot(
        **_fields(data, StoredSpot),
        name=stored.folder.name,
        unit=spot.unit,
        method=by.name,
        bits=by.bits,
        iterations=info.whole("iterations", 0),
        exploitability=exploitability,
        percent_of_pot=100 * exploitability / data["pot"],
        seconds=Fields.timings(stored).number("seconds", 0),
        bytes=num_bytes(stored.folder),
        solved_at=(stored.folder / MANIFEST).stat().st_mtime,
    )


def studies() -> list[Study]:
    """Return the studies of flops directly in the served folder."""
    found = []
    for stored in stored_of_kind(flop_study.KIND):
        try:
            study = FlopStudy.load(stored.folder)
        except EquilibristError:
            continue
        data = spot_data(study.spot) | {"menu": str(study.spot.written_menu)}
        names = study.subset.names
        found.append(
            Study(
                **_fields(data, Study),
                name=stored.folder.name,
                unit=study.spot.unit,
                flops=len(names),
                solved=sum((stored.folder / name / MANIFEST).is_file() for name in names),
                solved_at=(stored.folder / MANIFEST).stat().st_mtime,
            )
        )
    return found


def form_of(name: str) -> SpotRequest:
    """Return the request that solves a stored spot again."""
    stored = read_identity(Path(check_name(name)), spot_run.KIND)
    spot, by = spot_run.read_spot(stored), spot_run.read_solver(stored)
    unit = spot.money
    ending = "" if unit.name == "chips" else unit.name

    def amounts(chips: tuple[int, ...]) -> str:
        return ",".join(f"{unit.text(each)}{ending}" for each in dict.fromkeys(chips))

    return SpotRequest(
        out="",
        board=spot.board,
        oop=spot.oop,
        ip=spot.ip,
        pot=amounts((spot.pot,)),
        stack=None if spot.stacks is None else amounts(spot.stacks),
        blind=None if spot.game.is_limit else amounts((spot.game.big_blind,)),
        game=_game_of(spot),
        lock=list(spot.locks),
        rake=spot.rake,
        rake_cap=spot.rake_cap,
        method=by.name,
        bits=16 if by.bits == 16 else 32,
        **{field: getattr(spot, field) for field in _MENU},
    )


def _game_of(spot: Spot) -> str:
    """Return the game of the catalogue that a spot is of."""
    own = spot.game
    money: dict[str, Any] = {
        "stacks": own.stacks,
        "blinds": own.blinds,
        "raise_sizes": own.raise_sizes,
    }
    for name, entry in GAMES.items():
        is_alike = len(entry.rules.raise_sizes) == len(own.raise_sizes)
        if is_alike and replace(entry.rules, name=own.name, **money) == own:
            return name
    raise InvalidValueError("the game of this spot is not in the catalogue; use the command line")


class _Reports:
    """The last reports on flops: reading one opens every flop."""

    def __init__(self) -> None:
        self._found: OrderedDict[tuple[str, ...], dict[str, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, name: str, node: str, by: str) -> dict[str, Any]:
        """Return a report, read now unless it is known for what the folder holds."""
        folder = Path(check_name(name))
        study = FlopStudy.load(folder)
        flops = [folder / flop for flop in study.subset.names]
        known = [read_identity(each).hash for each in flops if (each / MANIFEST).is_file()]
        key = name, node, by, *known
        with self._lock:
            if key in self._found:
                return self._found[key]
        with KERNELS:
            report = study.read(folder, [node] if node else [])
        nodes = [
            {
                "node": at.node,
                "name": at.name,
                "player": at.player,
                "actions": list(at.actions),
                "words": _words(study.spot, at.node),
                "colours": _shades(at.actions),
            }
            for at in report.results[0].nodes
        ]
        found = study.data(report, by or None, folder) | {"nodes": nodes}
        with self._lock:
            self._found[key] = found
            while len(self._found) > _MOST_REPORTS:
                self._found.popitem(last=False)
        return found


def _words(spot: Spot, node: str) -> list[str]:
    """Return the actions of a node in words."""
    return list(action_labels(spot.betting, spot.find(node), spot.money.words))


def _shades(actions: Sequence[str]) -> list[dict[str, str]]:
    """Return the colours of each action by palette."""
    shades = {palette: colours(actions, palette) for palette in PALETTES}
    return [{palette: own[i] for palette, own in shades.items()} for i in range(len(actions))]


def _fields(data: dict[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """Return the fields of a model that are in the data."""
    return {name: data[name] for name in model.model_fields if name in data}


def _newest(rows: list[Any], name: str) -> list[Any]:
    return sorted(rows, key=lambda row: -getattr(row, name))
