"""Strategies by name: mixes, and folders with what they hold."""

import numpy as np
import pytest

from equilibrist.abstraction.joint_counts import joint
from equilibrist.abstraction.recipes.lossless import lossless
from equilibrist.bots.open import open_strategy
from equilibrist.cards.card import parse_cards
from equilibrist.errors import InvalidValueError, StorageError
from equilibrist.evaluation.expectation import fixed_mix
from equilibrist.evaluation.real_game import run as runs
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.catalog import get_game
from equilibrist.games.rules import rules_text
from equilibrist.models.exact import exact_game
from equilibrist.models.spot import Chips, Spot
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import CFR
from equilibrist.solving.solution_run import Store
from equilibrist.solving.solve import Budget, solve
from equilibrist.solving.spot_run import SolvedSpot
from equilibrist.solving.spot_run import solver as spot_solver
from equilibrist.strategies.behaviour_table import behaviour_table
from equilibrist.strategies.description import BucketDescription, GameDescription, ModelRounds
from equilibrist.strategies.node_strategy import bucket_behaviour, node_strategy
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
    solve(game, solver, Budget(iterations=5), save=store.save)
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


@pytest.mark.parametrize("name", ["solution", "strategy"])
def test_a_folder_has_one_strategy_by_all_its_names(folder, name):
    plain, prefixed = open_strategy(str(folder / name)), open_strategy(f"solution:{folder / name}")
    assert plain.identity == prefixed.identity
    assert plain.checked == ("checksums", "schema")
    bot = open_strategy(str(folder))  # the folder of a bot: its strategy comes first
    assert (bot.identity == plain.identity) == (name == "strategy")


def test_uniform_loses_what_it_loses_in_the_exact_model():
    named, game = open_strategy("uniform", get_game("kuhn")), exact_game(get_game("kuhn"))
    plans = tuple(game.realize(player, game.uniform(player)) for player in (0, 1))
    found = runs.reference_exploited(named)
    assert found.best_response == pytest.approx(evaluate(game, plans).best_response)
    assert named.checked == ()


def test_a_solution_of_the_game_itself_loses_what_its_certificate_says(tmp_path):
    game = exact_game(get_game("leduc"))
    plans = fixed_mix(game, (0.1, 0.6, 0.3))
    stated = evaluate(game, plans)
    exact = Solution(GameDescription.of(game), plans, "none", 0, 0.0, stated, np.zeros((0, 6)))
    exact.save(tmp_path / "exact")
    found = runs.reference_exploited(open_strategy(str(tmp_path / "exact")))
    assert found.best_response == pytest.approx(stated.best_response)


def test_a_model_of_some_rounds_opens_but_has_no_real_game(tmp_path):
    buckets = lossless(get_game("leduc"))
    joint(buckets).save(tmp_path / "counts", {"first": buckets.save(tmp_path / "buckets")})
    folders = tmp_path / "buckets", tmp_path / "counts"
    for name, rounds, node in (
        ("first", ModelRounds(last=0), "cr"),
        ("second", ModelRounds(first=1, pot=4), "cr"),
    ):
        description = BucketDescription.of(*folders, BetMenu(), rounds)
        game, solver = description.build(), CFR()
        store = Store(tmp_path / name, game, description, solver, 0, "float64")
        run = solve(game, solver, Budget(iterations=20), save=store.save)
        named = open_strategy(str(tmp_path / name))
        board = "Ks" if rounds.first else ""
        found = node_strategy(named.strategy, node, board)
        expected = behaviour_table(game, solver.plans(game, run.state), node)
        columns = buckets.buckets(parse_cards(board))[found.hands]
        np.testing.assert_allclose(found.probabilities, expected.probabilities[columns], atol=1e-9)
        np.testing.assert_allclose(found.weight, expected.reach[columns], atol=1e-9)
        by_bucket = bucket_behaviour(named.strategy, node)
        np.testing.assert_allclose(by_bucket.probabilities, expected.probabilities, atol=1e-9)
        np.testing.assert_allclose(by_bucket.reach, expected.reach, atol=1e-9)
        with pytest.raises(InvalidValueError, match="is a strategy of some rounds only"):
            runs.reference_exploited(named)


def test_a_spot_opens_and_plays_its_averages(tmp_path):
    spot = Spot.of("Td9d6hQc2s", "AA,76s", "KK,54s", Chips(pot=200, stack=200), bets="a")
    by, built = spot_solver("cfr+", 32), spot.build()
    solved = SolvedSpot(spot, by, solve(built.game, by, Budget(iterations=50)), built)
    solved.save(tmp_path / "spot")
    named = open_strategy(str(tmp_path / "spot"))
    assert named.strategy.tree.rules == spot.game
    for node in ("", "c", "r200"):
        report, v = solved.answers().at(node), spot.find(node)
        found = named.strategy.probabilities(v, spot.cards)[:, report.hands]
        np.testing.assert_allclose(found.T, report.probabilities, atol=1e-6)
        np.testing.assert_allclose(found.sum(axis=0), 1)
    assert named.strategy.on("c", "Td6h9dQc2s").board == spot.board
    with pytest.raises(InvalidValueError, match="the spot is on Td9d6hQc2s: give the whole board"):
        named.strategy.on("c", "Td9d6hQc3s")
    with pytest.raises(InvalidValueError, match="is not limit hold'em"):
        runs.responses_to(named)


def test_what_is_no_strategy_is_refused(folder, tmp_path):
    for text in ("always-cal", str(tmp_path), "x" * 300, "solution:nowhere"):
        with pytest.raises(StorageError, match=r"is not a strategy: give a bot \("):
            open_strategy(text)
    with pytest.raises(StorageError, match=r"did you mean smallbot$"):
        open_strategy("smalbot")
    with pytest.raises(StorageError, match="which cannot be played"):
        open_strategy(str(folder / "counts"))
    with pytest.raises(InvalidValueError, match="ectomynx stores no probabilities by hand"):
        open_strategy("ectomynx")


def test_only_games_of_few_boards_are_walked_plainly(monkeypatch):
    named = open_strategy("always-fold", get_game("kuhn"))
    monkeypatch.setattr(runs, "_MOST_BOARDS", 1)  # the empty one
    assert runs.reference_exploited(named).best_response == (1.0, 1.0)
    monkeypatch.setattr(runs, "_MOST_BOARDS", 0)
    with pytest.raises(InvalidValueError, match="kuhn has up to 1 boards"):
        runs.reference_exploited(named)
