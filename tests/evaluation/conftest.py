"""Distributions of results like poker's: mostly small, rarely large, skewed."""

import numpy as np
import pytest


class Outcomes:
    """Distribution of the chips won in a hand, with known mean."""

    def __init__(self, probabilities):
        self.chips = np.array(list(probabilities), np.float64)
        self.probabilities = np.array(list(probabilities.values()))
        self.mean = float(self.chips @ self.probabilities)
        apart = self.chips - self.mean
        self.deviation = float(np.sqrt(apart**2 @ self.probabilities))
        self.skewness = float(apart**3 @ self.probabilities) / self.deviation**3

    def draw(self, rng, num_hands):
        """Return results of hands in the order they were played."""
        places = np.searchsorted(np.cumsum(self.probabilities)[:-1], rng.random(num_hands))
        return self.chips[places]

    def draw_sorted(self, rng, num_hands):
        """Return results sorted by value; faster where the order does not matter."""
        return np.repeat(self.chips, rng.multinomial(num_hands, self.probabilities))


# Blinds of 5 and 10 chips, pots up to twelve big bets; skewness 1.9.
LIMIT = Outcomes(
    {-160: 0.005, -80: 0.02, -40: 0.05, -20: 0.09, -10: 0.16, -5: 0.24}
    | {5: 0.19, 10: 0.12, 30: 0.07, 60: 0.035, 120: 0.015, 240: 0.005}
)
# Blinds of 50 and 100 chips, stacks of 20,000 that one hand in a thousand wins; skewness 15.
NOLIMIT = Outcomes(
    {-4000: 0.004, -1000: 0.03, -300: 0.1, -100: 0.2, -50: 0.27}
    | {50: 0.2, 100: 0.12, 600: 0.06, 3000: 0.015, 20_000: 0.001}
)


@pytest.fixture
def limit():
    return LIMIT


@pytest.fixture
def nolimit():
    return NOLIMIT
