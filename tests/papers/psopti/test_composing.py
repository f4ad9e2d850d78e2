"""Tests of players glued from models: the strategy of each part, and the beliefs of later ones."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.conditioning import LaterClasses, conditioned
from equilibrist.abstraction.joint_counts import Joint, joint
from equilibrist.abstraction.recipes import build
from equilibrist.abstraction.streets import Boards
from equilibrist.bots import training
from equilibrist.bots.bot import BUCKETS, COUNTS, GluedBot
from equilibrist.errors import InvalidValueError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.catalog import get_game
from equilibrist.models.bucketed import bucket_game
from equilibrist.models.treeplex import player_rows
from equilibrist.papers.psopti import composing
from equilibrist.play.luck import LuckAdjuster
from equilibrist.play.match import play_match
from equilibrist.players.bucket_strategy import BucketStrategy
from equilibrist.players.catalog import make_player
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.solve import Budget, solve
from equilibrist.strategies.composition import GluedBuckets, Part, glue, openings
from equilibrist.strategies.quantized import SURE, CompactStrategy
from equilibrist.strategies.solution import Solution, game_of

TINY = GluedBot(
    "tiny", "Few buckets of few cards", recipe="strength-potential", buckets=(3, 2, 2, 2),
    max_raises="2 1 1 1", target=5.0, game="royal-holdem", dtype="float64", opening="model",
)  # fmt: skip
POTS = replace(
    TINY, name="pots", family="tiny", solution="solution-call", opening="call", pots=(2, 4)
)
WAYS = ["cc", "rc", "crc", "rrc", "crrc"]


def solved(bot: GluedBot, folder: Path) -> list[str]:
    """Solve a bot's models and glue them; return what was reported."""
    reported: list[str] = []
    for model in composing.models(bot, folder, reported.append):
        prepared = training.open_or_start(model.bot, folder / model.name, model.description, seed=0)
        training.run(prepared, training.budget_of(bot, prepared[0]))
    composing.save_glued(bot, folder, reported.append)
    return reported


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Return the folders of both trained bots."""
    folder = tmp_path_factory.mktemp("bots") / "tiny"
    rules = get_game("royal-holdem")
    buckets = training.make_buckets(rules, TINY.recipe, TINY.buckets, folder)
    training.count_deals(TINY, folder, buckets)
    assert not solved(TINY, folder)
    assert solved(POTS, folder) == [
        f"after {name} the pot is 6 bets: played as a pot of 4" for name in ("rrc", "crrc")
    ]
    return folder


def probabilities(part: Part, name: str, player: int, column: int) -> list[float]:
    """Return the probabilities of a part at a betting of its own tree, given by name."""
    node = part.betting.parse(name)
    behaviour = part.behaviour[player]
    tree, r = part.trees[player], int(part.betting.round[node]) - part.betting.first_round
    rows = [
        int(row) for row in player_rows(part.betting, player).row[list(part.betting.children(node))]
    ]
    width, start = int(tree.num_states[r]), int(tree.block_start[r])
    return [float(behaviour[start + row * width + column]) for row in rows]


def test_every_decision_is_that_of_the_model_it_belongs_to(folder):
    glued = BucketStrategy.of(CompactStrategy.open(folder / TINY.strategy))
    tree, buckets = glued.tree, Abstraction.open(folder / BUCKETS)
    parts = {}
    for name in ("preflop", *(f"postflop-{way}" for way in WAYS)):
        solution = Solution.load(folder / name)
        parts[name] = Part.of(game_of(solution), solution.plans)
    board = buckets.streets[3].boards[7].tolist()
    dealt = np.cumsum(tree.rules.num_board_cards)
    hands = np.flatnonzero(buckets.buckets(board) >= 0)[::40]
    nodes = tree.nodes(NodeKind.DECISION)
    for node in [*nodes[tree.round[nodes] < 2], *nodes[tree.round[nodes] >= 2][::7]]:
        player, r = int(tree.player[node]), int(tree.round[node])
        way, _, rest = tree.name(int(node)).partition("/")
        part = parts["preflop"] if r == 0 else parts[f"postflop-{way}"]
        seat = glued.seat(player)
        for hand in hands.tolist():
            seen = tuple(board[: dealt[r]])
            nested = buckets.bucket(hand, seen)
            column = nested if r == 0 else nested % 2**r
            assert seat.columns.bucket(hand, seen) == column
            rows = player_rows(tree, player).row[list(tree.children(int(node)))]
            width, start = int(seat.tree.num_states[r]), int(seat.tree.block_start[r])
            found = [
                seat.probabilities[start + row * width + column] / SURE for row in rows.tolist()
            ]
            np.testing.assert_allclose(
                found, probabilities(part, way if r == 0 else rest, player, column), atol=2e-5
            )


def test_beliefs_are_the_reach_probabilities_of_the_opening(folder):
    opening = Solution.load(folder / "preflop")
    game = game_of(opening)
    behaviour = [game.behaviour(player, plan) for player, plan in enumerate(opening.plans)]
    part = Part(game.betting, game.trees, (behaviour[0], behaviour[1]))
    priors = Solution.load(folder / "postflop-crc").game.priors
    # The dealer, player 1, calls and then calls the raise; player 0 raises after the call.
    calls = [
        probabilities(part, "", 1, a)[1] * probabilities(part, "cr", 1, a)[1] for a in range(3)
    ]
    raises = [probabilities(part, "c", 0, a)[-1] for a in range(3)]
    np.testing.assert_allclose(priors, [raises, calls], atol=1e-12)


def test_later_models_are_played_from_the_pot_the_betting_left(folder):
    tree = game_of(Solution.load(folder / "postflop-rrc")).betting
    assert tree.spent[0].tolist() == [30, 30]
    assert game_of(Solution.load(folder / "postflop-4")).betting.spent[0].tolist() == [20, 20]


def test_uniform_beliefs_are_those_of_the_cards_alone(folder):
    classes = build("strength-potential", get_game("royal-holdem"), [1, 2, 2, 2])
    menu = BetMenu.parse(None, None, "2 1 1 1")
    alone = bucket_game(classes, joint(classes), menu, first_round=1, pot=20)
    solution = Solution.load(folder / "postflop-2")
    game = game_of(solution)
    assert game.lengths == alone.lengths
    for r in range(3):
        for ours, theirs in zip(game.matrices(r), alone.matrices(r), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-12)
    found = evaluate(alone, solution.plans)
    assert found.exploitability == pytest.approx(solution.certificate.exploitability, abs=1e-9)


def test_an_opening_that_calls_always_calls(folder):
    glued = BucketStrategy.of(CompactStrategy.open(folder / POTS.strategy))
    for player in (0, 1):
        seat = glued.seat(player)
        assert seat.tree.num_states[0] == 1
        rows = player_rows(glued.tree, player).row
        first = glued.tree.nodes(NodeKind.DECISION, 0)
        for node in first[glued.tree.player[first] == player].tolist():
            steps = [glued.tree.step(child) for child in glued.tree.children(node)]
            played = [seat.probabilities[rows[child]] / SURE for child in glued.tree.children(node)]
            assert dict(zip(steps, played, strict=True))["c"] == 1


def test_columns_of_many_hands_are_those_of_each(folder):
    buckets = Abstraction.open(folder / BUCKETS)
    opening = np.arange(len(buckets.streets.hands), dtype=np.int16)
    columns = GluedBuckets(opening, buckets)
    board = buckets.streets[3].boards[11]
    hands = np.flatnonzero(buckets.buckets(tuple(board.tolist())) >= 0)[:50]
    found = columns.follow(hands, Boards(np.tile(board, (len(hands), 1))))
    dealt = np.cumsum(buckets.rules.num_board_cards)
    for r in range(4):
        seen = tuple(board[: dealt[r]].tolist())
        assert found[r].tolist() == [columns.bucket(hand, seen) for hand in hands.tolist()]
        assert found[r].tolist() == columns.buckets(seen)[hands].tolist()


def test_a_model_without_the_raises_of_the_game_is_refused_by_name(folder):
    buckets, counts = Abstraction.open(folder / BUCKETS), Joint.open(folder / COUNTS)
    menu = BetMenu.parse(None, None, "2 1 1 1")
    tree = BettingTree.build(buckets.rules, menu)
    solution = Solution.load(folder / "preflop")
    opening = Part.of(game_of(solution), solution.plans)
    columns = GluedBuckets(buckets.tables[0][0], buckets)
    counts = conditioned(buckets, counts, ((1, 1, 1), (1, 1, 1)))
    fewer = bucket_game(
        LaterClasses.of(buckets),
        counts,
        BetMenu.parse(None, None, "2 1 0 1"),
        first_round=1,
        pot=20,
    )
    part = Part.of(fewer, tuple(fewer.realize(i, fewer.uniform(i)) for i in (0, 1)))
    with pytest.raises(InvalidValueError, match=r"no model covers the betting '.*/.*/'"):
        glue(tree, columns, opening, dict.fromkeys(openings(tree), part))
    with pytest.raises(InvalidValueError, match="no model covers the betting 'cc/'"):
        glue(tree, columns, opening, {})
    with pytest.raises(InvalidValueError, match="the model of round 1 has 3 columns, not 5"):
        glue(tree, GluedBuckets(columns.opening + 2, buckets), opening, {})


def test_betting_that_is_never_played_gives_uniform_beliefs(folder, tmp_path):
    opening = Solution.load(folder / "preflop")
    game = game_of(opening)
    never = [game.uniform(player) for player in (0, 1)]
    rows = player_rows(game.betting, 1).row
    width = int(game.trees[1].num_states[0])
    for child in game.betting.children(0):  # the dealer always folds
        row = int(rows[child])
        never[1][row * width : (row + 1) * width] = game.betting.step(child) == "f"
    plans = tuple(game.realize(player, probabilities) for player, probabilities in enumerate(never))
    reported: list[str] = []
    priors = composing.beliefs(game, plans, "rc", reported.append)
    assert priors[1] == (1, 1, 1)
    assert reported == ["player 1 never plays rc: any hand is assumed there"]


def test_a_better_opening_makes_later_models_out_of_date(folder):
    models = {model.name: model for model in composing.models(TINY, folder)}
    model = models["postflop-cc"]
    assert not composing.has_other_beliefs(folder / model.name, model.description)
    other = replace(model.description, priors=((1.0, 1.0, 1.0), (1.0, 1.0, 1.0)))
    assert composing.has_other_beliefs(folder / model.name, other)
    assert not composing.has_other_beliefs(folder / "nowhere", other)
    assert not composing.has_other_beliefs(folder / model.name, replace(other, pot=22))
    game, solver, store, run = training.open_or_start(
        TINY, folder / model.name, other, 0, afresh=True
    )
    assert run is None
    assert solve(game, solver, Budget(iterations=1)).evaluation.unit == "chips"
    assert store.out == folder / model.name


@pytest.mark.parametrize("name", ["strategy", "strategy-call"])
def test_the_luck_of_a_glued_strategy_is_removed(folder, name):
    # Its first round may have other columns than the buckets that its values come from.
    rules = get_game("royal-holdem")
    players = make_player(f"solution:{folder / name}", rules), make_player("mix:0.1,0.4,0.5", rules)
    match = play_match(rules, players, 400, seed=2, duplicate=True, keep_log=True)
    found = LuckAdjuster(rules, players).match(match)
    long = play_match(rules, players, 400_000, runner="tables").statistics("chips").estimate
    estimate = found.statistics("chips").estimate
    error = np.hypot(estimate.standard_error, long.standard_error)
    assert abs(estimate.mean - long.mean) < 4 * error
    assert found.variance_factor > 1.5
