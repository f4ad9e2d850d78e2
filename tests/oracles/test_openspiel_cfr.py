"""CFR and CFR+, iteration by iteration, beside OpenSpiel's, written in C++ and walking histories.

Both programs let one player answer the other and weigh the averages alike, so the averages must be
the same but for rounding; hands that are alike are merged only here. The games have no actions that
are worth the same, where rounding would decide what regret matching takes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyspiel
import pytest

from equilibrist.games.catalog import get_game
from equilibrist.models.card_states import SYMMETRIES
from equilibrist.models.exact import exact_game
from equilibrist.solving.cfr import CFR_VARIANTS
from equilibrist.strategies.openspiel import from_openspiel, openspiel_game

SOLVERS = {"cfr": pyspiel.CFRSolver, "cfr+": pyspiel.CFRPlusSolver}
LEDUC = get_game("leduc")
GAMES = {
    "kuhn": get_game("kuhn"),
    "leduc": LEDUC,
    "leduc with twelve cards": replace(LEDUC, name="leduc 2×6", num_ranks=6),
}


@pytest.mark.parametrize("symmetry", SYMMETRIES)
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("method", SOLVERS)
def test_averages_are_openspiels(method, name, symmetry):
    rules = GAMES[name]
    theirs, ours = SOLVERS[method](openspiel_game(rules)), CFR_VARIANTS[method]
    game = exact_game(rules, symmetry=symmetry)
    state = ours.init(game)
    for _ in range(8):
        theirs.evaluate_and_update_policy()
        ours.step(game, state, 1)
    expected = from_openspiel(game, theirs.average_policy())
    for player, plan in enumerate(ours.plans(game, state)):
        np.testing.assert_allclose(plan, expected[player], atol=1e-9)
