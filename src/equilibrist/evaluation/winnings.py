"""The fields of a match report, shared by local, network and interactive play."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from equilibrist.evaluation.statistics import chips_of_unit, match_statistics
from equilibrist.games.rules import GameRules


def winnings(
    chips: Sequence[float], rules: GameRules, names: tuple[str, str], hands_each: int = 1
) -> dict[str, Any]:
    """Return the fields of a match report from the first player's results; `chips` may be []."""
    if len(chips) > 1:
        return match_statistics(chips, rules=rules, names=names, hands_each=hands_each).to_json()
    unit, scale = chips_of_unit(rules, None)
    return {
        "win_rate": chips[0] / (scale * hands_each) if chips else None,
        "unit": unit,
        "standard_deviation": None,
        "standard_error": None,
        "ci95": None,
        "p_value": None,
        "hands": len(chips) * hands_each,
        "hands_each": hands_each,
        "verdict": "one hand is no evidence" if chips else "no hand was completed",
    }
