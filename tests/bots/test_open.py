"""Strategies by name: mixes, and folders with what they hold."""

import numpy as np
import pytest

from equilibrist.abstraction.joint_counts import joint
from equilibrist.abstraction.recipes.lossless import lossless
from equilibrist.bots.open import open_strategy
from equilibrist.errors import InvalidValueError, StorageError
from equilibrist.evaluation.expectation import fixed_mix
from equilibrist.evaluation.real_game import run as runs
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.catalog import get_game
from equilibrist.games.rules import rules_text
from equilibrist.models.exact import exact_game
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import CFR
from equilibrist.solving.solution_run import Store
from equilibrist.solving.solve import solve
from equilibrist.strategies.description import BucketDescription, GameDescription
from equilibrist.strategies.quantized import CompactStrategy
from equilibrist.strategies.solution import Solution

pytestmark = pytest.mark.kernels


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A poor solution of Kuhn poker in buckets that keep all that matters, and its strategy."""
    home = tmp_path_factory.mktemp("kuhn")
    buckets = lossless(get_game("kuhn"))
    joint(buckets).save(home / "counts", {"first": buckets.save(home / "buckets")})
    description = BucketDescription.of(home / "buckets", home / "counts", BetMenu())
    game, solver = description.build(), CFR()
    store = Store(home / "solution", game, description, solver, 0, "float64")
    solve(game, solver, iterations=5, save=store.save)
    CompactStrategy.of(Solution.load(home / "solution"), {}).save(home / "strategy")
    return home


@pytest.mark.parametrize("kind", ["fold", "call", "raise"])
def test_a_named_mix_always_does_what_its_name_says(kind):
    strategy = open_strategy(f"always-{kind}", get_game("leduc")).strategy
    node = strategy.tree.parse("r")
    actions = [chr(strategy.tree.action_kind[child]) for child in strategy.tree.children(node)]
    probabilities = strategy.probabilities(node, ())
    for action, row in zip(actions, probabilities, strict=True):
        assert (row == (action == kind[0])).all()


def test_a_mix_is_of_limit_hold_em_by_default_and_of_no_other_betting():
    assert rules_text(open_strategy("always-call").strategy.tree.rules) == rules_text(
        get_game("holdem-limit")
    )
    with pytest.raises(InvalidValueError, match="holdem-nolimit is not a limit game"):
        open_strategy("always-call", get_game("holdem-nolimit"))


@pytest.mark.parametrize("mix", ["always-call", "always-raise", "mix:0.1,0.6,0.3"])
def test_a_named_mix_loses_what_it_loses_in_the_exact_model(mix):
    named, game = open_strategy(mix, get_game("kuhn")), exact_game(get_game("kuhn"))
    proof = evaluate(game, fixed_mix(game, named.strategy.mix))
    found = runs.reference_exploited(named)
    assert found.best_response == pytest.approx(proof.best_response)
    assert found.exploitability == pytest.approx(proof.exploitability)


@pytest.mark.parametrize("name", ["solution", "strategy"])
def test_a_stored_strategy_loses_what_its_certificate_says(folder, name):
    # The buckets are lossless, so responses in the buckets are those of the real game.
    stated = Solution.load(folder / "solution").certificate
    found = runs.reference_exploited(open_strategy(str(folder / name)))
    rounding = 1e-12 if name == "solution" else 1e-3  # 16 bits
    assert found.best_response == pytest.approx(stated.best_response, rel=rounding)


def test_a_stored_strategy_is_of_one_game(folder):
    with pytest.raises(InvalidValueError, match="is a strategy for kuhn, not for leduc"):
        open_strategy(str(folder / "solution"), get_game("leduc"))


def test_what_is_no_strategy_of_buckets_is_refused(folder, tmp_path):
    for text in ("always-cal", str(tmp_path), "x" * 300):
        with pytest.raises(StorageError, match=r"is not a strategy: give a bot \("):
            open_strategy(text)
    with pytest.raises(StorageError, match="which cannot be played"):
        open_strategy(str(folder / "counts"))
    game = exact_game(get_game("kuhn"))
    plans = fixed_mix(game, (0, 1, 0))
    exact = Solution(
        GameDescription.of(game), plans, "none", 0, 0.0, evaluate(game, plans), np.zeros((0, 6))
    )
    exact.save(tmp_path / "exact")
    with pytest.raises(InvalidValueError, match="is a solution of kuhn itself"):
        open_strategy(str(tmp_path / "exact"))


def test_only_games_of_few_boards_are_walked_plainly(monkeypatch):
    named = open_strategy("always-fold", get_game("kuhn"))
    monkeypatch.setattr(runs, "_MOST_BOARDS", 1)  # the empty one
    assert runs.reference_exploited(named).best_response == (1.0, 1.0)
    monkeypatch.setattr(runs, "_MOST_BOARDS", 0)
    with pytest.raises(InvalidValueError, match="kuhn has up to 1 boards"):
        runs.reference_exploited(named)
