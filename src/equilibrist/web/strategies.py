"""The API of the strategy browser: any strategy at any node, with the way to it."""

from __future__ import annotations

import functools
import gc
import threading
from collections import OrderedDict
from typing import Annotated, Any, Generic, TypeVar

import numpy as np
from fastapi import APIRouter, Query
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from equilibrist.cards.card import Cards, card_name, cards_name, check_distinct, parse_cards
from equilibrist.cards.hand import class_table, hand_name, hand_table
from equilibrist.cards.range import parse_range
from equilibrist.cards.ranking import category_bounds, rank_hands
from equilibrist.display.grid import PALETTES, class_at, colours, grid_cells
from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.node_values import node_equities, node_values
from equilibrist.games.rules import GameRules
from equilibrist.models.money import CHIPS
from equilibrist.strategies.browsing import LineStep, betting_line, report_at
from equilibrist.strategies.node_strategy import NodeStrategy
from equilibrist.strategies.played import IdentifiedStrategy, RealStrategy
from equilibrist.strategies.spot_report import Answers, NodeReport
from equilibrist.web.kernels import KERNELS, VALUES
from equilibrist.web.library import Library

_DECIMALS = 5
_FEWEST_BOARD = 3  # cards with which two cards make a hand
_MOST_ANSWERS = 200  # answers in memory
_CELLS = [class_at(row, column) for row in range(13) for column in range(13)]
_LAST_CLASS = 168
_Answer = TypeVar("_Answer", bound=BaseModel)


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
    made: list[int] | None = Field(description="place in `made_names`; null before the flop")
    made_names: list[str] = Field(description="what hands are with the board, weakest first")


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


class NodeNumbers(BaseModel):
    """Values and equities at a node; lists are in the order of the node's hands."""

    values: list[list[float]] | None = Field(
        description="of each action if both play the strategy after it, from the node on"
    )
    best: list[list[float]] | None = Field(
        description="of each action if the player plays a best response after it"
    )
    gain: float | None = Field(description="what a best response wins more from the node on")
    value: float | None = Field(description="what the player expects from the node on")
    equity: list[float | None] | None = Field(description="null: meets no hand of the opponent")
    mean_equity: float | None
    reason: str = Field(description="why there are no values; empty if there are")


class HandWeights(BaseModel):
    """The hands of a range, by name, with their weights."""

    weights: dict[str, float]


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


@functools.cache
def _settle() -> None:
    """Leave modules and kernels, all loaded by now, out of later collections of garbage: 70 ms."""
    gc.collect()
    gc.freeze()


def strategy_router(library: Library) -> APIRouter:
    """Return the part of the API that shows strategies."""
    router = APIRouter(prefix="/api", tags=["strategies"])
    answers: _Answers[StrategyNode] = _Answers()
    numbers: _Answers[NodeNumbers] = _Answers()

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
        _settle()
        return found

    @router.get("/strategy/values")
    def show_values(
        name: Annotated[str, Query(max_length=200)],
        node: Annotated[str, Query(max_length=400)] = "",
        board: Annotated[str, Query(max_length=40)] = "",
        runout: Annotated[str, Query(max_length=40)] = "",
    ) -> NodeNumbers:
        """Show what the actions at a node are worth, as played and for a best response.

        Equities before the flop take seconds.
        """
        named = library.open(name)
        key = name, named.identity, node, board, runout
        found = numbers.get(key)
        if found is None:
            with VALUES:
                found = numbers.get(key) or numbers_of(named, node, board, runout)
            numbers.put(key, found)
        return found

    @router.get("/hands")
    def show_hands(
        range_: Annotated[str, Query(alias="range", max_length=4000, description="66+, A5s, AhKh")],
    ) -> HandWeights:
        """Show the hands of a range."""
        parsed = parse_range(range_)
        names = {hand_name(int(hand)): float(parsed.weights[hand]) for hand in parsed.hands}
        return HandWeights(weights=names)

    return router


class _Answers(Generic[_Answer]):
    """The last answers, so that a step back is immediate."""

    def __init__(self) -> None:
        self._found: OrderedDict[tuple[str, ...], _Answer] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: tuple[str, ...]) -> _Answer | None:
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
            return self._found.get(key)

    def put(self, key: tuple[str, ...], found: _Answer) -> None:
        with self._lock:
            self._found[key] = found
            while len(self._found) > _MOST_ANSWERS:
                self._found.popitem(last=False)


def node_of(named: IdentifiedStrategy, node: str, board: str, runout: str = "") -> StrategyNode:
    """Return a strategy at a node as JSON."""
    strategy = named.strategy
    rules, steps, cards = _place(strategy, node, board, runout)
    missing = steps[-1].num_board - len(cards)
    data, words, text = None, "", cards_name(cards)
    if missing == 0:
        with KERNELS:
            report = report_at(strategy, steps[-1].node, text)
            data = _data(report)
        words, text = report.words, report.board
    spot = strategy.spot if isinstance(strategy, Answers) else None
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


def numbers_of(named: IdentifiedStrategy, node: str, board: str, runout: str = "") -> NodeNumbers:
    """Return the values and equities of a strategy at a node as JSON."""
    strategy = named.strategy
    _, steps, cards = _place(strategy, node, board, runout)
    report = report_at(strategy, steps[-1].node, cards_name(cards))
    order, reason, found = _order(report), "", None
    try:
        found = node_values(strategy, report)
    except InvalidValueError as error:
        reason = str(error)
    if isinstance(report, NodeReport):
        equities: NDArray[Any] | None = report.equity
    else:
        equities = node_equities(strategy, report)
    mean = value = gain = None
    if equities is not None and np.isfinite(equities).any():
        share = np.where(np.isfinite(equities), report.share, 0.0)
        mean = float(share @ np.nan_to_num(equities) / max(share.sum(), 1e-300))
    if found is not None and len(report.hands):
        value = float(report.share @ (report.probabilities * found.played).sum(axis=1))
        gain = float(report.share @ found.gain(report.probabilities))
    return NodeNumbers(
        values=None if found is None else _rounded(found.played[order]),
        best=None if found is None else _rounded(found.best[order]),
        gain=gain,
        value=value,
        equity=None
        if equities is None
        else [None if np.isnan(each) else round(each, _DECIMALS) for each in equities[order]],
        mean_equity=mean,
        reason=reason,
    )


def _place(
    strategy: RealStrategy, node: str, board: str, runout: str
) -> tuple[GameRules, tuple[LineStep, ...], Cards]:
    """Return the rules, the betting line to a node, and the board cards that are given."""
    rules = strategy.tree.rules
    start = strategy.spot.cards if isinstance(strategy, Answers) else ()
    steps = betting_line(strategy, node)
    return rules, steps, _board(rules, start, board, runout, steps[-1].num_board)


def _order(report: NodeStrategy) -> list[int]:
    """Return the places of hands as they are sent: the highest first."""
    return list(range(len(report.hands)))[::-1]


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
    order = _order(report)
    made, made_names = _made(report, order)
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
        made=made,
        made_names=made_names,
    )


def _made(report: NodeStrategy, order: list[int]) -> tuple[list[int] | None, list[str]]:
    """Return what each hand is with the board: its place in a list of names."""
    rules, board = report.rules, parse_cards(report.board)
    if rules.num_hole_cards != 2 or len(board) < _FEWEST_BOARD:
        return None, []
    tables = category_bounds(2 + len(board), rules.ranking)
    shown = np.tile(np.array(board, np.uint8), (len(order), 1))
    hands = np.hstack([hand_table()[report.hands[order]], shown])
    places = rank_hands(hands, rules.ranking).astype(np.int64)
    ends = np.array([end for _, end in tables.values()])
    return np.searchsorted(ends, places, side="right").tolist(), list(tables)


def _rounded(numbers: NDArray[Any]) -> Any:
    """Return numbers as lists with five decimals, none of them −0."""
    return (np.round(numbers, _DECIMALS) + 0.0).tolist()
