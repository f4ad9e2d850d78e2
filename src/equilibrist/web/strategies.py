"""The API of the strategy browser: any strategy at any node, with the way to it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from equilibrist.cards.card import Cards, card_name, cards_name, check_distinct, parse_cards
from equilibrist.cards.hand import class_table
from equilibrist.display.grid import PALETTES, class_at, colours, grid_cells
from equilibrist.errors import InvalidValueError
from equilibrist.games.rules import GameRules
from equilibrist.models.money import CHIPS
from equilibrist.strategies.browsing import LineStep, betting_line, report_at
from equilibrist.strategies.node_strategy import NodeStrategy
from equilibrist.strategies.played import IdentifiedStrategy
from equilibrist.strategies.spot_report import Answers, NodeReport
from equilibrist.web.kernels import KERNELS
from equilibrist.web.library import Library

_DECIMALS = 5
_MOST_ANSWERS = 200  # answers in memory
_CELLS = [class_at(row, column) for row in range(13) for column in range(13)]
_LAST_CLASS = 168


class StrategyEntry(BaseModel):
    """A strategy of the list; one with a command must be trained first."""

    name: str
    kind: str = Field(description="bot, spot, solution, strategy or mix")
    game: str
    description: str
    command: str | None
    minutes: float | None


class StepAction(BaseModel):
    """An action at a step of the betting line."""

    name: str
    words: str
    node: str = Field(description="the node to ask for next")
    ends: str = Field(description="fold, showdown or not solved if no decision follows, else empty")
    is_taken: bool


class Step(BaseModel):
    """A decision on the way to the node, the node's own last."""

    node: str
    round: str
    player: int
    seat: str
    pot: float
    num_board: int
    actions: list[StepAction]


class NodeAction(BaseModel):
    """An action at the node, with its frequency over all hands."""

    name: str
    words: str
    frequency: float
    colours: dict[str, str] = Field(description="by palette")


class Grid(BaseModel):
    """The 169 classes of hands, row by row from AA at the upper left; suited above the diagonal."""

    is_possible: list[bool] = Field(description="false: board or deck rule out all hands")
    level: list[float] = Field(description="reach beside that of the fullest cell, 0 to 1")
    frequency: list[list[float]] = Field(description="of each action")


class Hands(BaseModel):
    """The hands of the player to act; every list has one entry per hand."""

    names: list[str]
    cells: list[int] = Field(description="place in the grid, row by row; empty without a grid")
    reach: list[float] = Field(description="probability of holding the hand and playing it to here")
    probabilities: list[list[float]]
    values: list[list[float]] | None = Field(description="by action; spots only")
    equity: list[float] | None = Field(description="spots only")


class NodeData(BaseModel):
    """What a strategy does at a node."""

    player: int
    seat: str
    pot: float
    to_call: float
    unit: str = Field(description="of amounts and values: chips, or bb in some spots")
    actions: list[NodeAction]
    fullest: float = Field(description="reach of the fullest cell; 0: no hand arrives")
    grid: Grid | None = Field(description="null in games with one card per hand")
    hands: Hands
    value: float | None = Field(description="what the player expects; spots only")
    equity: float | None = Field(description="probability of winning, ties half; spots only")


class StrategyNode(BaseModel):
    """A strategy at a node; without `data`, `missing` board cards must be chosen first."""

    strategy: str
    kind: str
    game: str
    deck: list[str]
    node: str
    words: str
    start_board: str = Field(description="board of a spot; empty otherwise")
    board: str
    missing: int
    steps: list[Step]
    data: NodeData | None


def strategy_router(library: Library) -> APIRouter:
    """Return the part of the API that shows strategies."""
    router = APIRouter(prefix="/api", tags=["strategies"])
    answers = _Answers()

    @router.get("/strategies")
    def list_strategies() -> list[StrategyEntry]:
        """List bots, stored solutions and spots, and mixes."""
        return [StrategyEntry(**entry) for entry in library.listing()]

    @router.get("/strategy")
    def show_node(
        name: Annotated[str, Query(max_length=200, description="as on the command line")],
        node: Annotated[str, Query(max_length=400, description="betting so far, such as cr")] = "",
        board: Annotated[str, Query(max_length=40, description="all cards on the table")] = "",
        runout: Annotated[str, Query(max_length=40, description="cards since a spot began")] = "",
    ) -> StrategyNode:
        """Show a strategy at a node: the betting line, and what every hand does.

        A board that is longer than the node needs is cut; one that is too short is answered without
        `data`.
        """
        named = library.open(name)
        key = name, named.identity, node, board, runout
        found = answers.get(key)
        if found is None:
            found = node_of(named, node, board, runout)
            answers.put(key, found)
        return found

    return router


class _Answers:
    """The last answers, so that a step back is immediate."""

    def __init__(self) -> None:
        self._found: OrderedDict[tuple[str, ...], StrategyNode] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: tuple[str, ...]) -> StrategyNode | None:
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
            return self._found.get(key)

    def put(self, key: tuple[str, ...], found: StrategyNode) -> None:
        with self._lock:
            self._found[key] = found
            while len(self._found) > _MOST_ANSWERS:
                self._found.popitem(last=False)


def node_of(named: IdentifiedStrategy, node: str, board: str, runout: str = "") -> StrategyNode:
    """Return a strategy at a node as JSON."""
    strategy = named.strategy
    rules = strategy.tree.rules
    spot = strategy.spot if isinstance(strategy, Answers) else None
    steps = betting_line(strategy, node)
    cards = _board(rules, spot.cards if spot else (), board, runout, steps[-1].num_board)
    missing = steps[-1].num_board - len(cards)
    data, words, text = None, "", cards_name(cards)
    if missing == 0:
        with KERNELS:
            report = report_at(strategy, steps[-1].node, text)
            data = _data(report)
        words, text = report.words, report.board
    return StrategyNode(
        strategy=named.name,
        kind="spot" if spot else "strategy",
        game=rules.name,
        deck=[card_name(card) for card in reversed(rules.deck.cards)],
        node=steps[-1].node,
        words=words,
        start_board=spot.board if spot else "",
        board=text,
        missing=missing,
        steps=[_step(step) for step in steps],
        data=data,
    )


def _board(rules: GameRules, start: Cards, board: str, runout: str, needed: int) -> Cards:
    """Return the board cards that a node needs, as far as they are given."""
    cards = parse_cards(board) if board else (*start, *parse_cards(runout))
    check_distinct(cards)
    for card in cards:
        if card not in rules.deck:
            raise InvalidValueError(
                f"{card_name(card)} is not in the deck of {rules.name}", value=card_name(card)
            )
    return tuple(cards[:needed])


def _step(step: LineStep) -> Step:
    actions = [StepAction(**action._asdict()) for action in step.actions]
    return Step(**step._asdict() | {"actions": actions})


def _data(report: NodeStrategy) -> NodeData:
    """Return the numbers of a node, rounded for a page."""
    shades = {palette: colours(report.actions, palette) for palette in PALETTES}
    has_grid = report.rules.num_hole_cards == 2
    cells = grid_cells(report) if has_grid else None
    value = equity = None
    if isinstance(report, NodeReport) and len(report.hands):
        value, equity = report.mean_value, report.mean_equity
    return NodeData(
        player=report.player,
        seat=report.seat,
        pot=report.pot,
        to_call=report.to_call,
        unit=report.unit if isinstance(report, NodeReport) else CHIPS,
        actions=[
            NodeAction(
                name=name,
                words=words,
                frequency=float(frequency),
                colours={palette: own[place] for palette, own in shades.items()},
            )
            for place, (name, words, frequency) in enumerate(
                zip(report.actions, report.action_words, report.frequencies, strict=True)
            )
        ],
        fullest=float(report.weight.max(initial=0.0)) if cells is None else cells.fullest,
        grid=None
        if cells is None
        else Grid(
            is_possible=cells.is_possible[_CELLS].tolist(),
            level=_rounded(cells.level[_CELLS]),
            frequency=_rounded(cells.frequency[_CELLS]),
        ),
        hands=_hands(report, has_grid=has_grid),
        value=value,
        equity=equity,
    )


def _hands(report: NodeStrategy, *, has_grid: bool) -> Hands:
    order = list(range(len(report.hands)))[::-1]  # the highest hand first
    values = equity = None
    if isinstance(report, NodeReport):
        values, equity = _rounded(report.values[order]), _rounded(report.equity[order])
    return Hands(
        names=[report.hand_name(place) for place in order],
        cells=(_LAST_CLASS - class_table()[report.hands[order]]).tolist() if has_grid else [],
        reach=_rounded(report.weight[order]),
        probabilities=_rounded(report.probabilities[order]),
        values=values,
        equity=equity,
    )


def _rounded(numbers: NDArray[Any]) -> Any:
    """Return numbers as lists with five decimals, none of them −0."""
    return (np.round(numbers, _DECIMALS) + 0.0).tolist()
