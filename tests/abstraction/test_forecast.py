"""Forecasts of abstractions follow what the recipe's entry says."""

from equilibrist.abstraction.forecast import forecast
from equilibrist.games.catalog import get_game


def test_lossless_buckets_are_forecast_over_ordered_boards():
    rules = get_game("rhode-island")
    ordered, unordered = (forecast(rules, name).hands for name in ("lossless", "percentile"))
    assert ordered[:2] == unordered[:2]
    assert ordered[2] > unordered[2]
