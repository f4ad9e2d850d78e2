"""Strategies of 16 bits compared with the solutions they come from."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from equilibrist.abstraction.joint_counts import joint
from equilibrist.abstraction.recipes import build
from equilibrist.bots.bot import BucketBot, is_current
from equilibrist.bots.registry import strategy_of
from equilibrist.errors import InvalidValueError, StorageError
from equilibrist.evaluation.statistics import unit_chips
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.catalog import get_game
from equilibrist.games.dealing import Dealer
from equilibrist.games.state import HandState
from equilibrist.models.exact import exact_game
from equilibrist.play.match import play_match
from equilibrist.players.catalog import make_player
from equilibrist.players.player import View
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import CFR
from equilibrist.solving.solution_run import Store
from equilibrist.solving.solve import Budget, solve
from equilibrist.storage.artefact import open_artefact
from equilibrist.strategies.description import BucketDescription, GameDescription
from equilibrist.strategies.quantized import SURE, CompactStrategy
from equilibrist.strategies.solution import Solution, game_of

RULES = get_game("royal-holdem")
WORST = 1.5 / SURE  # with three actions


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A solution of buckets, and its strategy, in folders of their own."""
    home = tmp_path_factory.mktemp("bot")
    buckets = build("percentile", RULES, [2, 6, 12, 24])
    identity = buckets.save(home / "buckets")
    joint(buckets).save(home / "counts", {"first": identity})
    menu = BetMenu.parse(None, None, "2 3 3 3")
    description = BucketDescription.of(home / "buckets", home / "counts", menu)
    game, solver = description.build(), CFR(dtype="float32")
    store = Store(home / "solution", game, description, solver, 0, "float32")
    solve(game, solver, Budget(iterations=200), save=store.save)
    solution = Solution.load(home / "solution")
    made_of = {"solution": open_artefact(home / "solution").hash}
    CompactStrategy.of(solution, made_of).save(home / "strategy")
    return home


def decisions(tree):
    """Return rows and states of every decision, as places in a plan: [A, S]."""
    for r in range(len(tree.num_sequences)):
        start, width = int(tree.block_start[r]), int(tree.num_states[r])
        for d in range(int(tree.decision_start[r]), int(tree.decision_start[r + 1])):
            rows = int(tree.decision_first[d]) + np.arange(int(tree.decision_size[d]))
            yield start + rows[:, None] * width + np.arange(width)


def test_probabilities_of_a_decision_are_those_of_the_plan_and_sum_to_one(folder):
    solution, found = Solution.load(folder / "solution"), CompactStrategy.open(folder / "strategy")
    game = game_of(solution)
    for player in (0, 1):
        behaviour = game.behaviour(player, np.array(solution.plans[player]))
        probabilities = found.probabilities[player].astype(np.int64)
        assert np.abs(probabilities / SURE - behaviour).max() <= WORST + 1e-12
        for cells in decisions(game.trees[player]):
            assert (probabilities[cells].sum(axis=0) == SURE).all()
    assert found.solutions == {"solution": open_artefact(folder / "solution").hash}


def test_actions_are_equally_likely_where_a_plan_is_zero(folder):
    solution = Solution.load(folder / "solution")
    game = game_of(solution)
    nowhere = replace(solution, plans=(np.zeros(game.lengths[0]), solution.plans[1]))
    found = CompactStrategy.of(nowhere, {}).probabilities[0].astype(np.int64)
    for cells in decisions(game.trees[0]):
        assert np.ptp(found[cells], axis=0).max() <= 1


def test_a_rounded_strategy_is_as_exploitable(folder):
    solution, found = Solution.load(folder / "solution"), CompactStrategy.open(folder / "strategy")
    game = game_of(solution)
    first, second = (game.realize(p, found.probabilities[p] / np.float64(SURE)) for p in (0, 1))
    change = evaluate(game, (first, second)).exploitability - solution.certificate.exploitability
    assert abs(change) / unit_chips(RULES)["mbb/g"] < 0.05


def test_a_strategy_plays_as_its_solution(folder):
    one = make_player(f"solution:{folder / 'solution'}", RULES)
    two = make_player(f"solution:{folder / 'strategy'}", RULES)
    dealer, num_decisions = Dealer(RULES, 3), 0
    for number in range(40):
        state = HandState.start(RULES, next(dealer), number)
        rng = np.random.default_rng(number)
        while not state.is_over:
            view = View.of(state, state.actor)
            ours, theirs = (dict(player.mixture(view)) for player in (two, one))
            for action in ours.keys() | theirs.keys():
                assert ours.get(action, 0) == pytest.approx(theirs.get(action, 0), abs=2 * WORST)
            state = state.apply(list(theirs)[rng.integers(len(theirs))])
            num_decisions += 1
    assert num_decisions > 100


@pytest.mark.parametrize("options", ["", ",purify", ",threshold=0.2"])
def test_compiled_matches_of_strategies_and_solutions_are_the_same(folder, options):
    """Only a random number between two roundings could make the matches differ."""
    chips = []
    for part in ("solution", "strategy"):
        players = (
            make_player(f"solution:{folder / part}{options}", RULES),
            make_player("mix:0.1,0.5,0.4", RULES),
        )
        match = play_match(RULES, players, 4000, seed=1, runner="tables")
        chips.append(match.chips)
    assert (chips[0] != chips[1]).mean() < 0.002


def test_a_purified_strategy_does_the_same_by_views_and_by_tables(folder):
    players = [
        make_player(text, RULES)
        for text in (f"solution:{folder / 'strategy'},purify", "always-raise")
    ]
    found = [
        play_match(RULES, tuple(players), 300, seed=2, runner=runner).chips
        for runner in ("views", "tables")
    ]
    assert (found[0] == found[1]).all()


def test_buckets_and_strategy_are_enough(folder, tmp_path):
    for part in ("buckets", "strategy"):
        shutil.copytree(folder / part, tmp_path / part)
    assert make_player(f"solution:{tmp_path / 'strategy'}", RULES).name == "strategy"
    changed = build("percentile", RULES, [1, 6, 12, 24])
    changed.save(tmp_path / "buckets")
    with pytest.raises(StorageError, match=r"buckets has changed since .* its hash is"):
        make_player(f"solution:{tmp_path / 'strategy'}", RULES)


def test_a_bot_plays_its_strategy_unless_that_is_of_another_solution(
    add_bot, folder, tmp_path, monkeypatch
):
    settings = {"recipe": "percentile", "buckets": (2, 6, 12, 24), "max_raises": "2 3 3 3"}
    add_bot(BucketBot("tiny", "", target=1.0, game=RULES.name, **settings))
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "bots" / "tiny"
    shutil.copytree(folder, home)
    assert strategy_of("tiny").name == "strategy"
    solution = Solution.load(home / "solution", in_memory=True)
    replace(solution, iterations=1, plans=solution.plans[::-1]).save(home / "solution")
    assert not is_current(home / "strategy")
    assert strategy_of("tiny").name == "solution"
    shutil.rmtree(home / "solution")
    assert strategy_of("tiny").name == "strategy"
    shutil.rmtree(home / "strategy")
    with pytest.raises(StorageError, match="run `equilibrist train tiny`"):
        strategy_of("tiny")


def test_folders_without_a_strategy_of_buckets_are_refused(folder, tmp_path):
    game = exact_game(get_game("kuhn"))
    plans = tuple(game.realize(p, game.uniform(p)) for p in (0, 1))
    proof = evaluate(game, plans)
    found = Solution(GameDescription.of(game), plans, "none", 0, 0.0, proof, np.zeros((0, 3)))
    with pytest.raises(InvalidValueError, match="is not a game of buckets"):
        CompactStrategy.of(found, {})
    with pytest.raises(StorageError, match="describes a solution, but a strategy is wanted"):
        CompactStrategy.open(folder / "solution")
    with pytest.raises(StorageError, match="describes a strategy, but a solution is wanted"):
        Solution.load(folder / "strategy")
