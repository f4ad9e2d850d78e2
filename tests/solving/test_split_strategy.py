"""Strategies of split games by a second way: plain recursion over the real game."""

from dataclasses import replace

import numpy as np
import pytest

from equilibrist.evaluation.real_game.reference import PublicTree, reference_response
from equilibrist.games.betting_tree import NodeKind
from equilibrist.games.catalog import get_game
from equilibrist.models.split import Split
from equilibrist.solving.cfr import CFR_VARIANTS
from equilibrist.solving.decomposed import DecomposedCFR
from equilibrist.solving.solve import Budget, solve
from equilibrist.solving.split_strategy import SplitStrategy

LEDUC = get_game("leduc")
RHODE = replace(
    get_game("rhode-island"), name="rhode", num_ranks=3, num_suits=3, max_raises=(1, 1, 1)
)
HOLDEM = replace(
    get_game("holdem-limit"), name="seven", num_ranks=4, num_suits=2, max_raises=(1, 1, 1),
    raise_sizes=(10, 10, 20), first_players=(1, 0, 0), num_board_cards=(0, 2, 1), discards=(),
)  # fmt: skip


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("rules", "after", "options"),
    [
        (LEDUC, "preflop", {}),
        (LEDUC, "preflop", {"current": True}),
        (RHODE, "preflop", {}),
        (RHODE, "flop", {}),
        (RHODE, "flop", {"bits": 16}),
        (HOLDEM, "preflop", {}),
        (HOLDEM, "flop", {}),
    ],
    ids=str,
)
def test_a_plain_recursion_finds_the_same_value_and_best_responses(rules, after, options):
    solver = DecomposedCFR.of(Split.of(rules, after), CFR_VARIANTS["cfr+"], **options)
    run = solve(solver.split.trunk, solver, Budget(iterations=7))
    strategy = SplitStrategy(solver, run.state, solver.engine.tables)
    found, near = run.evaluation, 2e-5 if "bits" in options else 1e-9
    for seat in (0, 1):
        assert reference_response(strategy, seat) == pytest.approx(
            found.best_response[seat], abs=near
        )
    first = rules.first_players[0]
    walk = PublicTree(strategy, first, is_best=False)
    values = walk.values(0, (), np.ones(len(walk.hands)))
    assert values.sum() / walk.meetings.sum() == pytest.approx(found.value, abs=near)


def test_every_decision_has_probabilities_also_before_the_first_iteration():
    solver = DecomposedCFR.of(Split.of(LEDUC, "preflop"))
    strategy = SplitStrategy(solver, solver.init(solver.split.trunk), solver.engine.tables)
    tree = strategy.tree
    for node in tree.nodes(NodeKind.DECISION).tolist():
        board = (51,) if tree.round[node] else ()
        found = strategy.probabilities(node, board)
        assert found == pytest.approx(np.full_like(found, 1 / len(found)))
