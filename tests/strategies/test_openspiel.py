"""Conversion of strategies to OpenSpiel and back; its best responses check ours.

Hold'em with two hole cards is in `tests/oracles/test_game_values.py`.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import expected_game_score
from open_spiel.python.policy import UniformRandomPolicy, python_policy_to_pyspiel_policy

from equilibrist.errors import EquilibristError, InvalidValueError, ParseError
from equilibrist.games.catalog import get_game
from equilibrist.models.card_states import SYMMETRIES
from equilibrist.models.exact import exact_game, matrix_game
from equilibrist.solving.best_response import evaluate
from equilibrist.strategies.openspiel import (
    from_openspiel,
    openspiel_game,
    parse_policy,
    policy_text,
    to_openspiel,
)

KUHN, LEDUC = get_game("kuhn"), get_game("leduc")
GAMES = {
    "kuhn": KUHN,
    "leduc": LEDUC,
    # Two rounds of betting before any card is shown, then one, and unequal antes.
    "blind": replace(
        LEDUC, name="blind", blinds=(2, 1), raise_sizes=(2, 2, 4), max_raises=(1, 1, 1),
        first_players=(1, 0, 0), num_ranks=3, num_board_cards=(0, 0, 1), discards=(),
    ),
    # A board of two cards at once, in three suits.
    "flop": replace(
        LEDUC, name="flop", max_raises=(1, 1), num_ranks=3, num_suits=3, num_board_cards=(0, 2)
    ),
    # A board from the start.
    "open": replace(LEDUC, name="open", num_board_cards=(1, 0)),
}  # fmt: skip


def nash_conv(policy) -> float:
    return pyspiel.nash_conv(policy.game, python_policy_to_pyspiel_policy(policy))


def random_plans(game, seed=0):
    rng = np.random.default_rng(seed)
    plans = []
    for player in (0, 1):
        weights = rng.random(game.lengths[player]) ** 4  # some actions hardly ever
        plan = game.realize(player, game.uniform(player) * weights)
        plans.append(game.realize(player, game.behaviour(player, plan)))
    return tuple(plans)


@pytest.mark.parametrize("symmetry", SYMMETRIES)
@pytest.mark.parametrize("name", GAMES)
def test_random_strategies_have_openspiels_nash_conv_and_come_back(name, symmetry):
    game = exact_game(GAMES[name], symmetry=symmetry)
    plans = random_plans(game)
    policy = to_openspiel(game, plans)
    assert nash_conv(policy) == pytest.approx(evaluate(game, plans).nash_conv, abs=1e-9)
    for plan, again in zip(plans, from_openspiel(game, policy), strict=True):
        np.testing.assert_allclose(again, plan, atol=1e-12)


@pytest.mark.parametrize(
    ("rules", "expected"), [(KUHN, 11 / 12), (LEDUC, 4.747222222222222)], ids=["kuhn", "leduc"]
)
def test_openspiels_uniform_policy_has_the_known_nash_conv_here(rules, expected):
    game = exact_game(rules)
    plans = from_openspiel(game, UniformRandomPolicy(openspiel_game(rules)))
    assert evaluate(game, plans).nash_conv == pytest.approx(expected, abs=1e-12)


def test_values_are_openspiels_values_seat_by_seat():
    rules = GAMES["blind"]
    game = exact_game(rules)
    plans = random_plans(game, seed=5)
    policy = to_openspiel(game, plans)
    root = policy.game.new_initial_state()
    values = expected_game_score.policy_value(root, [policy, policy])
    # The value is for the first player to act in round one: player 1.
    assert game.first_player == 1
    assert evaluate(game, plans).value == pytest.approx(values[1], abs=1e-12)


def test_merged_hands_are_averaged_by_the_probability_that_they_are_played():
    # By cards the two kings play differently; by ranks there is one king, with the mean plan.
    by_card, by_rank = exact_game(LEDUC, symmetry="cards"), exact_game(LEDUC, symmetry="ranks")
    plans = random_plans(by_card, seed=9)
    merged = from_openspiel(by_rank, to_openspiel(by_card, plans))
    first = by_card.trees[0]
    rows = plans[0][: first.block_start[1]].reshape(first.num_sequences[0], 6)
    means = rows.reshape(-1, 3, 2).mean(axis=2)  # the deck is Qh Qs Kh Ks Ah As
    np.testing.assert_allclose(merged[0][: means.size].reshape(means.shape), means, atol=1e-12)
    # Against an opponent that ignores suits the mean has the same value.
    answer = by_rank.realize(1, by_rank.uniform(1))
    wide = by_card.realize(1, by_card.uniform(1))
    expected = plans[0] @ by_card.gradient(0, wide)
    assert merged[0] @ by_rank.gradient(0, answer) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        (get_game("rhode-island"), "ranks hands"),
        (get_game("holdem-nolimit"), "no-limit"),
        (get_game("preflop-holdem"), "after its last round"),
        (get_game("holdem-limit"), "several rounds"),
        (replace(LEDUC, stacks=(5, 5)), "stacks"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_games_that_openspiel_plays_differently_are_refused(rules, reason):
    with pytest.raises(InvalidValueError, match=reason):
        openspiel_game(rules)


def test_a_matrix_game_is_not_poker():
    game = matrix_game([[1, 2], [3, 4]])
    with pytest.raises(InvalidValueError, match="no cards and rules"):
        to_openspiel(game, (game.uniform(0), game.uniform(1)))


def test_a_missing_openspiel_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(EquilibristError, match="pip install open-spiel"):
        openspiel_game(KUHN)


@pytest.mark.parametrize("symmetry", SYMMETRIES)
@pytest.mark.parametrize("name", GAMES)
def test_policy_files_load_in_openspiel_with_our_nash_conv_and_come_back(name, symmetry):
    game = exact_game(GAMES[name], symmetry=symmetry)
    plans = random_plans(game, seed=3)
    text = policy_text(game, plans)
    # What a user of OpenSpiel does with the file, without anything of ours.
    file = json.loads(text)
    table = {
        key: [(int(action), share) for action, share in shares.items()]
        for key, shares in file["policy"].items()
    }
    found = pyspiel.nash_conv(pyspiel.load_game(file["game"]), pyspiel.TabularPolicy(table))
    assert found == pytest.approx(evaluate(game, plans).nash_conv, abs=1e-9)
    again, spread = parse_policy(game, text)
    assert spread == 0
    for plan, read in zip(plans, again, strict=True):
        np.testing.assert_allclose(read, plan, atol=1e-12)


def test_the_dictionary_of_a_python_policy_is_read_too():
    game = exact_game(KUHN)
    plans = random_plans(game)
    text = json.dumps(to_openspiel(game, plans).to_dict())  # lists of action and probability
    for plan, read in zip(plans, parse_policy(game, text)[0], strict=True):
        np.testing.assert_allclose(read, plan, atol=1e-12)


def test_hands_that_are_merged_are_averaged_and_the_difference_is_stated():
    by_card, by_rank = exact_game(LEDUC, symmetry="cards"), exact_game(LEDUC, symmetry="ranks")
    plans = random_plans(by_card, seed=9)
    policy = to_openspiel(by_card, plans)
    merged, spread = parse_policy(by_rank, policy_text(by_card, plans))
    for plan, read in zip(from_openspiel(by_rank, policy), merged, strict=True):
        np.testing.assert_allclose(read, plan, atol=1e-12)
    assert 0.1 < spread <= 1


def changed(change):
    """Return the file of Kuhn's uniform policy after a change of its policy."""
    game = exact_game(KUHN)
    plans = game.realize(0, game.uniform(0)), game.realize(1, game.uniform(1))
    data = json.loads(policy_text(game, plans))
    first = next(iter(data["policy"]))
    change(data["policy"], first)
    return json.dumps(data)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ('{"policy": {', "not JSON"),
        ("[" * 100_000, "nested too deeply|not JSON"),
        ("[1, 2]", "must have a policy"),
        ('{"policy": 7}', "must have a policy"),
        ('{"policy": {"a": {}, "a": {}}}', "'a' twice"),
        ('{"policy": {}}', "cut short or of another game"),
        (changed(lambda policy, key: policy.pop(key)), "cut short or of another game"),
        (changed(lambda policy, key: policy.update(more={"1": 1})), "'more' is not an information"),
        (changed(lambda policy, key: policy.update({key: {"1": 0.5, "2": 0.4}})), "sum to 0.9"),
        (changed(lambda policy, key: policy.update({key: {"1": 1.5, "2": -0.5}})), "1.5 is not a"),
        (changed(lambda policy, key: policy.update({key: {"1": 1, "2": 1}})), "sum to 2"),
        (changed(lambda policy, key: policy.update({key: {"1": float("nan"), "2": 1}})), "nan is"),
        (changed(lambda policy, key: policy.update({key: {"1": float("inf"), "2": 1}})), "inf is"),
        (changed(lambda policy, key: policy.update({key: {"1": 10**400, "2": 1}})), "is not a"),
        (changed(lambda policy, key: policy.update({key: {"7": 1}})), "action 7 is not legal"),
        (changed(lambda policy, key: policy.update({key: {"fold": 1}})), "must be the probability"),
        (changed(lambda policy, key: policy.update({key: {"1": "1"}})), "must be the probability"),
        (changed(lambda policy, key: policy.update({key: [[1, 0.5], [1, 0.5]]})), "must be the"),
        (changed(lambda policy, key: policy.update({key: [[float("inf"), 1]]})), "must be the"),
        (changed(lambda policy, key: policy.update({key: 3})), "must be the probability"),
        (changed(lambda policy, key: policy.update({key: None})), "no entry for"),
    ],
)  # fmt: skip
def test_a_file_that_is_not_a_policy_of_the_game_gives_one_sentence(text, words):
    with pytest.raises(ParseError, match=words):
        parse_policy(exact_game(KUHN), text)


def test_every_beginning_of_a_policy_file_is_refused():
    game = exact_game(KUHN)
    text = policy_text(game, (game.realize(0, game.uniform(0)), game.realize(1, game.uniform(1))))
    for end in range(0, len(text.rstrip()), 37):
        with pytest.raises(ParseError):
            parse_policy(game, text[:end])


def test_a_policy_of_another_game_is_refused():
    leduc = exact_game(LEDUC)
    text = policy_text(leduc, random_plans(leduc))
    with pytest.raises(ParseError, match="of another game"):
        parse_policy(exact_game(KUHN), text)
    with pytest.raises(ParseError, match="action 2 is not legal"):
        parse_policy(exact_game(replace(LEDUC, name="short", max_raises=(1, 1))), text)
