"""Spots, their forecasts and their results as JSON, for `spot --json` and the page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from equilibrist.models.spot import Spot
from equilibrist.solving.forecast import SpotForecast
from equilibrist.solving.spot_run import SolvedSpot
from equilibrist.solving.suggestions import Suggestion
from equilibrist.solving.target import NO_GOAL, Goal


def spot_data(spot: Spot) -> dict[str, Any]:
    """Return what defines a spot as JSON; amounts are in its unit."""
    amount = spot.money.amount
    return {
        "board": spot.board,
        "pot": amount(spot.pot),
        "stack": None if spot.stack is None else amount(spot.stack),
        "stacks": None if spot.stacks is None else [amount(own) for own in spot.stacks],
        "rake": spot.rake,
        "rake_cap": spot.rake_cap,
        "oop": spot.oop,
        "ip": spot.ip,
        "menu": str(spot.menu),
        "locks": list(spot.locks),
    }


def result_data(done: SolvedSpot, out: Path | None, goal: Goal | None = None) -> dict[str, Any]:
    """Return a solved spot as JSON; values are the shares of the pot that a seat expects."""
    spot, run = done.spot, done.run
    return {
        **spot_data(spot),
        "method": done.solver.name,
        "bits": done.solver.bits,
        "unit": run.evaluation.unit,
        **done.shares.data(),
        "iterations": int(run.state["iteration"]),
        "seconds": round(run.seconds, 6),
        "outcome": run.outcome.name.lower(),
        "out": None if out is None else str(out),
        **(goal.data() if goal else NO_GOAL),
    }


def forecast_data(
    spot: Spot, needed: SpotForecast, available: int, found: Sequence[Suggestion]
) -> dict[str, Any]:
    """Return the forecast of a spot as JSON, with smaller versions if it does not fit."""
    return {
        **spot_data(spot),
        "unit": spot.unit,
        "bits": needed.bits,
        "actions": needed.actions,
        "bytes": needed.bytes,
        "available_bytes": available,
        "fits": needed.bytes <= available,
        "seconds_per_iteration": needed.seconds_per_iteration,
        "suggestions": [suggestion.data() for suggestion in found],
    }
