"""Reports on one situation solved on many flops: a row per flop, weighted means, and groups.

A mean weighs every flop by its probability; frequencies at a later node also by the probability
that the play gets there, so that they are those of all hands that reach it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from equilibrist.cards.card import RANKS, parse_cards
from equilibrist.cards.flops import TEXTURES, FlopSubset, Texture, texture
from equilibrist.errors import InvalidValueError

_ORDER = {
    "suits": ("monotone", "two-tone", "rainbow"),
    "pairs": ("unpaired", "paired", "trips"),
    "high": tuple(reversed(RANKS)),
}


@dataclass(frozen=True)
class NodeFrequencies:
    """How often each action is taken at a node."""

    node: str  # "": the first decision
    player: int
    actions: tuple[str, ...]
    frequencies: tuple[float, ...]
    reach: float  # probability that the play gets there

    @property
    def name(self) -> str:
        """Name of the node in columns."""
        return self.node or "first"


@dataclass(frozen=True)
class FlopResult:
    """Result on one flop, or the mean over some; amounts are shares of the pot."""

    name: str  # a flop, a texture or "mean"
    weight: float  # probability; those of all flops sum to 1
    equity: float  # of the seat out of position
    values: tuple[float, float]  # chips that each seat expects
    exploitability: float  # chips
    iterations: float
    nodes: tuple[NodeFrequencies, ...]
    rake: float | None = None  # chips that the house takes

    @property
    def pot(self) -> float:
        """The pot in chips, which the seats and the house share."""
        return sum(self.values) + (self.rake or 0.0)

    @property
    def texture(self) -> Texture:
        """Texture of the flop."""
        return texture(parse_cards(self.name))

    def row(self) -> dict[str, Any]:
        """Return the numbers by name: equity and EV of both seats, frequencies by node."""
        numbers: dict[str, Any] = {
            "weight": self.weight,
            "equity_oop": self.equity,
            "equity_ip": 1 - self.equity,
            "ev_oop": self.values[0],
            "ev_ip": self.values[1],
            **({} if self.rake is None else {"expected_rake": self.rake}),
            "exploitability": self.exploitability,
            "percent_of_pot": 100 * self.exploitability / self.pot,
            "iterations": self.iterations,
        }
        for at in self.nodes:
            if at.node:
                numbers[f"{at.name} reach"] = at.reach
            for action, frequency in zip(at.actions, at.frequencies, strict=True):
                numbers[f"{at.name} {action}"] = frequency
        return numbers


@dataclass(frozen=True, eq=False)
class FlopReport:
    """Results on all flops of a subset, the most likely first."""

    subset: FlopSubset
    results: tuple[FlopResult, ...]
    unit: str = "chips"  # of all amounts

    @property
    def mean(self) -> FlopResult:
        """Weighted mean over all flops."""
        return mean_result("mean", self.results)

    def groups(self, by: str) -> list[FlopResult]:
        """Return the weighted mean of each group of flops: by suits, pairs or high (card)."""
        check_grouping(by)
        return [
            mean_result(name, [own for own in self.results if getattr(own.texture, by) == name])
            for name in _ORDER[by]
            if any(getattr(own.texture, by) == name for own in self.results)
        ]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per flop: its texture, weight, equities, EVs and action frequencies."""
        return [{"flop": own.name, **own.texture._asdict(), **own.row()} for own in self.results]


def check_grouping(by: str) -> None:
    """Raise `InvalidValueError` unless flops can be grouped by this."""
    if by not in TEXTURES:
        raise InvalidValueError(
            f"flops can be grouped by {', '.join(TEXTURES)}, not {by!r}", value=by
        )


def mean_result(name: str, results: Sequence[FlopResult]) -> FlopResult:
    """Return the mean of results by their weights; frequencies also by the reach of their node."""
    weights = np.array([own.weight for own in results])
    shares = weights / weights.sum()

    def mean(numbers: Sequence[float]) -> float:
        return float(shares @ np.array(numbers))

    nodes = []
    for place, at in enumerate(results[0].nodes):
        reach = np.array([own.nodes[place].reach for own in results])
        often = np.array([own.nodes[place].frequencies for own in results])
        total = float(shares @ reach)
        by_reach = shares * reach / total if total > 0 else shares
        mixed = tuple((by_reach @ often).tolist())
        nodes.append(replace(at, frequencies=mixed, reach=total))
    return FlopResult(
        name=name,
        weight=float(weights.sum()),
        equity=mean([own.equity for own in results]),
        values=(mean([own.values[0] for own in results]), mean([own.values[1] for own in results])),
        exploitability=mean([own.exploitability for own in results]),
        iterations=mean([own.iterations for own in results]),
        nodes=tuple(nodes),
        rake=None if results[0].rake is None else mean([own.rake or 0.0 for own in results]),
    )
