"""Tests of rule-based players: their actions in simple spots, and the players they beat."""

import numpy as np
import pytest

from equilibrist.cards.card import parse_cards
from equilibrist.cards.equity import equity
from equilibrist.cards.hand import hand_index
from equilibrist.errors import InvalidValueError
from equilibrist.games.action import CALL, action_name
from equilibrist.games.betting import Betting
from equilibrist.games.catalog import get_game
from equilibrist.games.notation import parse_state
from equilibrist.play.match import play_match
from equilibrist.players.catalog import make_player
from equilibrist.players.hand_strength import outlook
from equilibrist.players.monash import action_probabilities, posterior
from equilibrist.players.player import View

LIMIT = get_game("holdem-limit")
RULE_BASED = ["poki", "anti-poki", "teddy", "monash"]


def view(line):
    state, viewer = parse_state(LIMIT, line)
    return View(state, viewer)


def act(name, line):
    return make_player(name, LIMIT).act(view(line)).kind


@pytest.mark.parametrize("name", RULE_BASED)
def test_the_best_hand_raises_and_never_folds(name):
    assert act(name, "MATCHSTATE:0:0:cc/cc/cc/cr:AhKh|/QhJhTh/2c/3d") == "r"
    assert act(name, "MATCHSTATE:1:0::|AhAd") == "r"


def test_poki_goes_by_strength_potential_and_odds():
    assert act("poki", "MATCHSTATE:0:0:cc/cc/cc/cr:4h3d|/QcJcTc/9c/2s") == "f"
    assert act("poki", "MATCHSTATE:0:0:cc/:4h3d|/QcJcTc") == "c"
    # Nine cards make the flush, and the pot odds are five to one.
    assert act("poki", "MATCHSTATE:0:0:rrrc/cr:4h3h|/QhJc8h") == "c"
    assert act("poki", "MATCHSTATE:1:0::|7h2d") == "f"


# Poki's actions with and without a bet to face, on a river without draws: strength is equity.
RIVER = [
    ("3d3c", 0.487, "f", "c"),  # just below the middle
    ("4d3c", 0.532, "c", "r"),
    ("Qd5c", 0.844, "c", "r"),  # just below 0.85
    ("Qd6c", 0.853, "r", "r"),
]


@pytest.mark.parametrize(("hole", "strength", "facing", "first"), RIVER)
def test_poki_bets_the_better_half_and_raises_a_bet_with_the_best_15_percent(
    hole, strength, facing, first
):
    board = "Qc9h7d4s2c"
    assert equity(hole, "random", parse_cards(board)).equity == pytest.approx(strength, abs=6e-4)
    assert act("poki", f"MATCHSTATE:0:0:cc/cc/cc/cr:{hole}|/Qc9h7d/4s/2c") == facing
    assert act("poki", f"MATCHSTATE:0:0:cc/cc/cc/:{hole}|/Qc9h7d/4s/2c") == first


# Equities before the flop are those of tests/oracles/preflop_equities.csv.
@pytest.mark.parametrize(
    ("hole", "opening", "facing"),
    [
        ("8h4h", "f", "f"),  # 0.427
        ("7h6h", "c", "c"),  # 0.454
        ("Kh4h", "c", "c"),  # 0.549
        ("Qh9h", "r", "c"),  # 0.577
        ("Ah9h", "r", "c"),  # 0.628
        ("AhJh", "r", "r"),  # 0.654
    ],
)
def test_poki_opens_with_56_percent_and_reraises_with_64(hole, opening, facing):
    assert act("poki", f"MATCHSTATE:1:0::|{hole}") == opening
    assert act("poki", f"MATCHSTATE:0:0:r:{hole}|") == facing


def test_poki_bets_a_draw_that_the_pot_would_pay_for():
    # A bet of ten into twenty is a quarter of the pot after a call, into sixty an eighth.
    open_ended = outlook(parse_cards("4h3s"), parse_cards("Ks6c5d")).positive
    gutshot = outlook(parse_cards("7h6s"), parse_cards("KsTc9d")).positive
    assert 0.2 < open_ended < 10 / (20 + 2 * 10)
    assert 10 / (60 + 2 * 10) < gutshot < 0.142
    assert act("poki", "MATCHSTATE:0:0:cc/:4h3s|/Ks6c5d") == "c"
    assert act("poki", "MATCHSTATE:0:0:rrc/:7h6s|/KsTc9d") == "r"


def test_anti_poki_bets_into_weakness_and_believes_strength():
    assert act("anti-poki", "MATCHSTATE:1:0:cc/c:|4h3d/QcJcTc") == "r"
    assert act("anti-poki", "MATCHSTATE:1:0:cc/crr:|4h3d/QcJcTc") == "f"


def test_teddy_raises_nearly_always():
    hands = play_match(
        LIMIT, (make_player("teddy", LIMIT), make_player("always-call", LIMIT)), 200, keep_log=True
    )
    done = [
        action.kind
        for record in hands.logs[0].hands
        for r, actions in enumerate(record.state.betting.history)
        for place, action in enumerate(actions)
        if record.names[(LIMIT.first_players[r] + place) % 2] == "teddy"
    ]
    assert done.count("r") > 0.6 * len(done)


def test_the_posterior_prefers_good_hands_after_raises():
    # The opponent, player 1, raised twice on a board of threes: a three is more likely than before.
    raised = posterior(view("MATCHSTATE:0:0:cc/crc/cr:AhKd|/3h3c8d/2s"))
    checked = posterior(view("MATCHSTATE:0:0:cc/cc/:AhKd|/3h3c8d/2s"))
    three, nothing = hand_index(*parse_cards("Ks3s")), hand_index(*parse_cards("7c4d"))
    assert raised[three] / raised[nothing] > 3 * checked[three] / checked[nothing]


def test_probabilities_of_actions_sum_to_one():
    places = np.linspace(0, 1, 11)
    opening = Betting.start(LIMIT)
    for betting, kinds in ((opening, "fcr"), (opening.apply(CALL), "cr")):
        probabilities = np.array(
            [action_probabilities(betting, places, places, kind) for kind in kinds]
        )
        assert np.allclose(probabilities.sum(axis=0), 1)
        assert (probabilities >= 0).all()
        assert (np.diff(probabilities[-1]) > 0).all()  # better hands raise more


@pytest.mark.parametrize("name", [*RULE_BASED])
@pytest.mark.parametrize("game", ["kuhn", "holdem-nolimit", "discard-holdem"])
def test_other_games_are_refused(name, game):
    if (name, game) == ("poki", "holdem-nolimit"):
        return
    with pytest.raises(InvalidValueError, match=f"{name} plays limit hold'em"):
        make_player(name, get_game(game))


# Actions of Poki in no-limit hold'em with stacks of 20,000: it bets and raises the pot, goes all-in
# where that is more than half of its chips, and needs better hands to call larger bets.
NO_LIMIT = [
    ("MATCHSTATE:1:0::|AhAd", "r300"),
    ("MATCHSTATE:1:0::|7h2d", "f"),
    ("MATCHSTATE:0:0:r300:AhKd|", "r900"),
    ("MATCHSTATE:0:0:r300:Qh4d|", "c"),
    ("MATCHSTATE:0:0:r20000:Qh4d|", "f"),
    ("MATCHSTATE:0:0:r20000:AhKd|", "f"),
    ("MATCHSTATE:0:0:r20000:AhAd|", "c"),
    ("MATCHSTATE:0:0:r6000:AhAd|", "r20000"),
    ("MATCHSTATE:0:0:r300c/:Qd5c|/Qc9h7d", "r900"),
    ("MATCHSTATE:0:0:r300c/cc/cc/r900:4d3c|/Qc9h7d/4s/2c", "c"),
    ("MATCHSTATE:0:0:r300c/cc/cc/r20000:4d3c|/Qc9h7d/4s/2c", "f"),
]


@pytest.mark.parametrize(("line", "action"), NO_LIMIT)
def test_poki_sizes_its_bets_in_no_limit_holdem(line, action):
    rules = get_game("holdem-nolimit")
    player = make_player("poki", rules)
    assert action_name(player.act(View(*parse_state(rules, line)))) == action


def rate(first, second, hands, seed=1):
    """Return the first player's win rate in standard errors above zero."""
    players = make_player(first, LIMIT), make_player(second, LIMIT)
    samples = play_match(LIMIT, players, hands, seed=seed, duplicate=True).results.rates
    return samples.mean() / (samples.std(ddof=1) / np.sqrt(len(samples)))


@pytest.mark.slow
@pytest.mark.parametrize("other", ["always-call", "always-raise"])
@pytest.mark.parametrize("name", RULE_BASED)
def test_rule_based_players_beat_the_static_ones(name, other):
    assert rate(name, other, 3000) > 1.96


@pytest.mark.slow
def test_anti_poki_beats_poki():
    # These are not the deals on which its thresholds were chosen.
    assert rate("anti-poki", "poki", 10_000, seed=5100) > 1.96


@pytest.mark.slow
def test_monash_beats_teddy_as_in_the_2006_competition():
    assert rate("monash", "teddy", 2000) > 1.96  # there by 1.168 sb/h (Range of Skill, Table 2)
