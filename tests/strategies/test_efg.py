"""Gambit files, read back by OpenSpiel and compared with known lines."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyspiel
import pytest

from equilibrist.errors import InvalidValueError, ParseError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.catalog import get_game
from equilibrist.models.card_states import SYMMETRIES
from equilibrist.models.exact import exact_game, matrix_game
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.linear_program import LinearProgram
from equilibrist.strategies.efg import parse_profile, profile_text, to_efg

KUHN, LEDUC = get_game("kuhn"), get_game("leduc")
HOLDEM = replace(
    get_game("holdem-limit"), name="holdem 2×4", num_ranks=4, num_suits=2, raise_sizes=(10, 20),
    max_raises=(1, 1), first_players=(1, 0), num_board_cards=(0, 3), discards=(),
)  # fmt: skip
TOY = replace(
    LEDUC, name="toy", betting="nolimit", raise_sizes=(), max_raises=(), stacks=(5, 7)
)  # all-ins before the last round


def uniform_nash_conv(text: str) -> float:
    game = pyspiel.load_efg_game(text)
    return pyspiel.nash_conv(game, pyspiel.UniformRandomPolicy(game))


def test_kuhn_is_written_in_full():
    # 6 deals, each with 4 decisions and 5 ends.
    lines = to_efg(exact_game(KUHN)).splitlines()
    assert lines[0] == 'EFG 2 R "kuhn" { "player 0" "player 1" }'
    kinds = [line[0] for line in lines[2:]]
    assert (kinds.count("c"), kinds.count("p"), kinds.count("t")) == (1, 24, 30)
    assert len({tuple(line.split()[2:4]) for line in lines if line[0] == "p"}) == 12
    assert '"As cr"' in next(line for line in reversed(lines) if line[0] == "p" and " 1 6 " in line)


@pytest.mark.parametrize("symmetry", SYMMETRIES)
@pytest.mark.parametrize(
    ("rules", "nash_conv"), [(KUHN, 11 / 12), (LEDUC, 4.747222222222222)], ids=["kuhn", "leduc"]
)
def test_openspiel_reads_the_file_and_finds_the_known_nash_conv(rules, nash_conv, symmetry):
    text = to_efg(exact_game(rules, symmetry=symmetry))
    assert uniform_nash_conv(text) == pytest.approx(nash_conv, abs=1e-12)


@pytest.mark.parametrize(
    ("rules", "menu"),
    [(HOLDEM, BetMenu()), (TOY, BetMenu.parse(bets="100%,a"))],
    ids=["hold'em with merged suits", "no-limit with all-ins"],
)
def test_boards_and_all_ins_have_the_same_value_in_openspiel(rules, menu):
    game = exact_game(rules, menu)
    plans = tuple(game.realize(player, game.uniform(player)) for player in (0, 1))
    expected = evaluate(game, plans).nash_conv
    assert uniform_nash_conv(to_efg(game)) == pytest.approx(expected, abs=1e-9)


def test_a_solution_by_infoset_name_is_an_equilibrium_of_the_file():
    game = exact_game(KUHN)
    plans = LinearProgram().solve(game).plans
    probabilities = [game.behaviour(player, plans[player]) for player in (0, 1)]
    read = pyspiel.load_efg_game(to_efg(game))
    # Kuhn's plans are an entry, then two actions at each of two decisions, three cards each.
    rows = {"": (3, "cr"), "cr": (9, "fc"), "c": (3, "cr"), "r": (9, "fc")}
    table = {}
    for state in every_decision(read.new_initial_state()):
        key = state.information_state_string()
        name = key.split("-", 3)[-1]  # after the numbers of player, node and infoset
        card, betting = name.partition(" ")[::2]
        start, letters = rows[betting]
        at = start + ["Qs", "Ks", "As"].index(card)
        pair = dict(zip(letters, probabilities[state.current_player()][[at, at + 3]], strict=True))
        actions = state.legal_actions()
        table[key] = [(action, pair[state.action_to_string(action)]) for action in actions]
    assert len(table) == 12
    assert pyspiel.nash_conv(read, table) == pytest.approx(0, abs=1e-9)


def every_decision(state):
    if state.is_terminal():
        return
    if not state.is_chance_node():
        yield state
    for action in state.legal_actions():
        yield from every_decision(state.child(action))


def test_games_that_cannot_be_written_are_refused():
    with pytest.raises(InvalidValueError, match="more than 1,000 nodes"):
        to_efg(exact_game(LEDUC), most_nodes=1000)
    with pytest.raises(InvalidValueError, match="no betting tree"):
        to_efg(matrix_game([[1, 2], [3, 4]]))


def profile_of(text, numbers):
    """Return OpenSpiel's policy of a profile: infosets by player and number, as Gambit counts."""
    read = pyspiel.load_efg_game(text)
    sizes, states = {}, {}
    for state in every_decision(read.new_initial_state()):
        line = state.information_state_string()
        player, number = (int(word) for word in line.split("-")[1:3])
        sizes[player, number], states[player, number] = state.legal_actions(), line
    rest, table = list(numbers), {}
    for place in sorted(sizes):
        shares = [rest.pop(0) for _ in sizes[place]]
        table[states[place]] = list(zip(sizes[place], shares, strict=True))
    assert not rest
    return read, table


def uneven_plans(game):
    """Return plans without symmetry: probabilities that differ from action to action."""
    rng = np.random.default_rng(2)
    behaviour = [
        game.behaviour(p, game.realize(p, rng.uniform(0.1, 1, n)))
        for p, n in enumerate(game.lengths)
    ]
    return tuple(game.realize(player, behaviour[player]) for player in (0, 1))


@pytest.mark.parametrize("symmetry", SYMMETRIES)
@pytest.mark.parametrize("rules", [KUHN, LEDUC], ids=["kuhn", "leduc"])
def test_a_profile_has_our_nash_conv_in_openspiels_reading_of_the_game(rules, symmetry):
    game = exact_game(rules, symmetry=symmetry)
    plans = uneven_plans(game)
    text = profile_text(game, plans)
    numbers = [float(word) for word in text.strip().split(",")[1:]]
    read, table = profile_of(to_efg(game), numbers)
    assert pyspiel.nash_conv(read, table) == pytest.approx(
        evaluate(game, plans).nash_conv, abs=1e-9
    )
    for plan, again in zip(plans, parse_profile(game, text), strict=True):
        np.testing.assert_allclose(again, plan, atol=1e-12)


def test_a_profile_of_gambit_is_read_with_fractions_and_further_lines():
    # Kuhn's equilibrium with a third of bluffs, as gambit-lcp writes equilibria.
    game = exact_game(KUHN)
    plans = LinearProgram().solve(game).plans
    text = profile_text(game, plans)
    assert parse_profile(game, f"\n{text}NE,1,0\n")[0] == pytest.approx(plans[0])
    halves = "NE," + ",".join(["1/2", "0.5"] * 12)
    assert evaluate(game, parse_profile(game, halves)).nash_conv == pytest.approx(11 / 12)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ([], "must be a line NE"),
        (["EFG 2 R"], "must be a line NE"),
        (["NE"], "0 probabilities, but kuhn has 24 actions"),
        (["NE", *["0.5"] * 23], "23 probabilities, but kuhn has 24 actions"),
        (["NE", *["0.5"] * 384], "of another game"),
        (["NE", *["0.5"] * 23, "0.4"], "information set 12 of the file sum to 0.9"),
        (["NE", "nan", *["0.5"] * 23], "nan is not a probability"),
        (["NE", "inf", *["0.5"] * 23], "inf is not a probability"),
        (["NE", "-0.5", "1.5", *["0.5"] * 22], "-0.5 is not a probability"),
        (["NE", "1/0", *["0.5"] * 23], "nan is not a probability"),
        (["NE", "half", *["0.5"] * 23], "nan is not a probability"),
        (["NE", "9" * 5000, *["0.5"] * 23], "nan is not a probability"),
    ],
)
def test_a_text_that_is_not_a_profile_of_the_game_gives_one_sentence(words, reason):
    with pytest.raises(ParseError, match=reason):
        parse_profile(exact_game(KUHN), ",".join(words))
