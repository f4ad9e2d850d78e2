"""Sessions of a person: the screen, the keys and the saved file."""

import random

import numpy as np
import pytest

from equilibrist.cards.card import cards_symbols
from equilibrist.errors import RecordError
from equilibrist.games.action import CALL, FOLD, KEEP, RAISE, raise_to
from equilibrist.games.catalog import game_names, get_game
from equilibrist.games.dealing import Dealer
from equilibrist.games.log_file import LogFile
from equilibrist.games.match_log import log_lines, read_log
from equilibrist.games.state import HandState
from equilibrist.play.acpc import view_of
from equilibrist.play.keys import buttons, press, size_keys
from equilibrist.play.screen import result_line, revealed, story, table_lines
from equilibrist.play.session import Leave, Person, Session, check_form, resumed
from equilibrist.players.catalog import make_player
from equilibrist.players.player import Mixing, Result, View
from equilibrist.players.static import Mix, Uniform

LIMIT, NOLIMIT = get_game("holdem-limit"), get_game("holdem-nolimit")
SWAPS = get_game("discard-holdem")


class Learner(Mix):
    """A player that calls and records its results."""

    def __init__(self):
        super().__init__(0, 1, 0, "learner")

    def observe(self, result):
        self.results.append(result)

    def reset(self, seed):
        self.results = []
        super().reset(seed)


def calls(view):
    return KEEP if view.betting.is_discarding else CALL


def sat(game, player, hands, ask=calls, seed=3):
    sitting = Session(game, player, seed)
    for _ in range(hands):
        sitting.play(Person(ask))
    return sitting


# --- keys -----------------------------------------------------------------------------------------


def test_limit_keys():
    view = view_of(LIMIT, "MATCHSTATE:1:0::|9hQd")
    assert [press(view, "", key).action for key in "aSd"] == [FOLD, CALL, RAISE]
    assert buttons(view) == ["[A] fold  [S] call 5  [D] raise to 20  [Q] leave"]
    for key in "zxcvbn5?é":
        assert press(view, "", key).action is None
        assert press(view, "", key).remark
    checked = view_of(LIMIT, "MATCHSTATE:0:0:c:5d5c|")
    assert press(checked, "", "a") == (None, "", "there is no bet to fold to")
    capped = view_of(LIMIT, "MATCHSTATE:0:0:rrr:5d5c|")
    assert press(capped, "", "d") == (None, "", "no raise is allowed")
    assert "[D]" not in buttons(capped)[0]


def test_sizes_are_chips_of_the_street_and_shares_of_the_pot_after_calling():
    # 300 each before the flop: the pot is 600, and a bet of 300 makes it 900.
    view = view_of(NOLIMIT, "MATCHSTATE:0:0:r300c/:5d5c|/8dAs8s")
    sizes = {"z": 100, "x": 300, "c": 450, "v": 600, "b": 1200, "n": 19700}
    assert size_keys(view.betting) == sizes
    for key, chips in sizes.items():
        assert press(view, "", key).size == key
        assert press(view, key, "d").action == raise_to(300 + chips)
    # Facing 300 into 600, a pot raise calls 300 and adds the 1,200 that are then in the pot.
    view = view_of(NOLIMIT, "MATCHSTATE:1:0:r300c/r600:|9hQd/8dAs8s")
    assert size_keys(view.betting)["v"] == 300 + 1200
    assert buttons(view, "v")[0] == "[A] fold  [S] call 300  [D] raise to 1,500  [Q] leave"


def test_no_line_of_keys_is_wider_than_a_terminal():
    betting = view_of(NOLIMIT, "MATCHSTATE:0:0:r18825:4s9c|")
    lines = buttons(betting)
    assert max(map(len, lines)) < 80
    assert sum(line.count("[") for line in lines) == 4 + 6


def test_typed_sizes():
    view = view_of(NOLIMIT, "MATCHSTATE:1:0::|9hQd")
    size = ""
    for key in "z250":
        size = press(view, size, key).size
    assert size == "250"
    assert press(view, size, "d").action == raise_to(250)
    assert (
        press(view, "199", "d").remark == "199 is not a legal size; legal sizes are 200 to 20,000"
    )
    assert press(view, "9" * 9, "9").size == "9" * 9


def test_discard_keys():
    view = view_of(SWAPS, "MATCHSTATE:0:0:cc/:2cKh|/4s5s6s")
    assert [press(view, "", key).action for key in "s12"] == [
        KEEP,
        (("d", 0, 0)),
        (("d", 0, 46)),
    ]
    assert press(view, "", "3").action is None
    assert press(view, "", "a").action is None
    assert buttons(view) == ["[S] keep  [1] swap 2♣  [2] swap K♥  [Q] leave"]


@pytest.mark.parametrize("name", game_names())
def test_any_keys_lead_to_legal_actions(name):
    game, rng = get_game(name), random.Random(5)
    deals = Dealer(game, 1)
    for _ in range(30):
        state = HandState.start(game, next(deals))
        while (actor := state.actor) is not None:
            view, size, action = View.of(state, actor), "", None
            while action is None:
                action, size, _ = press(view, size, rng.choice("aassddzxcvbn0123456789?"))
                assert buttons(view, size)
            state = state.apply(action)


# --- the screen -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", game_names())
def test_the_table_shows_nothing_hidden(name):
    game = get_game(name)
    seen = []

    def ask(view):
        text = "\n".join(table_lines(view, "other"))
        other = view.state.holes[1 - view.player]
        assert other == ()
        assert text.count("▒▒") == game.num_hole_cards
        cards = game.num_hole_cards + len(view.board)
        assert sum(text.count(suit) for suit in "♣♦♥♠") == cards
        seen.append(text)
        return calls(view)

    sat(game, Uniform(), 20, ask)
    assert seen


def test_colours_are_those_of_the_four_colour_deck():
    line = "MATCHSTATE:0:4:rc/:5d5c|/8hAs8s"
    plain, coloured = (
        "\n".join(table_lines(view_of(LIMIT, line), "x", colour=colour)) for colour in (False, True)
    )
    assert "\x1b" not in plain
    styles = {part.split("m")[0] for part in coloured.split("\x1b[")[1:] if part[0] != "0"}
    assert len(styles) == 4


def test_a_story_has_verbs_for_both():
    betting = view_of(NOLIMIT, "MATCHSTATE:0:0:r300c/cr900f:5d5c|/8dAs8s").betting
    assert list(story(betting, 1, "Bob")) == [
        "preflop: you raise to 300, Bob calls",
        "flop: Bob checks, you bet 600, Bob folds",
    ]
    ante = view_of(get_game("leduc"), "MATCHSTATE:0:0:crc/r:Ks|/Qs").betting
    assert list(story(ante, 0, "Bob")) == [
        "round 1: you check, Bob bets 2, you call",
        "round 2: you bet 4",
    ]


def test_results_are_shown():
    end = view_of(LIMIT, "MATCHSTATE:0:0:cc/cc/cc/cc:5d5c|9hQd/8dAs8s/4h/6d")
    assert result_line(Result(end, 10)) == (
        "you win 10: two pair, eights and fives against a pair of eights"
    )
    assert result_line(Result(view_of(LIMIT, "MATCHSTATE:0:0:rf:5d5c|"), -10)) == "you lose 10"
    assert result_line(Result(end, 0)).startswith("a tie")
    same = view_of(LIMIT, "MATCHSTATE:0:0:cc/cc/cc/cc:KdKc|KhKs/8dAs7s/4h/6d")
    assert result_line(Result(same, 0)) == "a tie: both have a pair of kings"
    kicker = view_of(LIMIT, "MATCHSTATE:0:0:cc/cc/cc/cc:Ad9c|AhQs/8dAs7s/4h/2d")
    assert result_line(Result(kicker, -10)) == (
        "you lose 10: both have a pair of aces; the other cards decide"
    )


def test_a_mixed_strategy_is_revealed_and_sums_to_one():
    sitting = sat(LIMIT, Mix(0.25, 0.25, 0.5, "Bob"), 1)
    assert isinstance(sitting.player, Mixing)
    for decision in sitting.decisions:
        assert sum(probability for _, probability in decision.mixture) == pytest.approx(1)
        assert decision.action in [action for action, _ in decision.mixture]
    (hand, first, *_) = revealed(sitting.decisions, "Bob")
    hole = sitting.hands[0].state.holes[1]
    assert hand == f"Bob had {cards_symbols(hole)}"
    assert first.startswith("  preflop: folds 25%, calls 25%, raises to 20 50%; it ")


def test_a_player_without_a_mixed_strategy_is_reported():
    sitting = sat(LIMIT, Uniform(), 1)
    assert revealed(sitting.decisions, "uniform")[-1].endswith("no mixed strategy to show")


# --- hands that are kept --------------------------------------------------------------------------


def test_a_sitting_is_a_match_at_seat_0():
    sitting = sat(LIMIT, Mix(0, 1, 0, "caller"), 6)
    log = read_log(LIMIT, list(log_lines(sitting.log())))
    assert log.seats == ("you", "caller")
    assert [record.names[0] for record in log.hands] == ["you", "caller"] * 3
    assert log.score[0] == sum(sitting.chips)


def test_leaving_folds_the_hand():
    def leaves(view):
        raise Leave

    person = Person(leaves)
    sitting = Session(LIMIT, Mix(0, 0, 1), 0)
    record = sitting.play(person)
    assert person.has_left
    assert record.state.betting.text == "rf"
    swaps = Session(SWAPS, Mix(0, 1, 0), 0)
    assert swaps.play(Person(leaves)).state.betting.text == "cc/kkcc/kkcc/cc"


@pytest.mark.parametrize("name", ["sitting.log", "sitting.phhs"])
def test_a_resumed_sitting_continues_with_the_next_hand(name, tmp_path):
    path = tmp_path / name
    sat(LIMIT, Learner(), 3).save(path)
    again = resumed(LIMIT, Learner(), path)
    assert [result.chips for result in again.player.results] == [-chips for chips in again.chips]
    again.play(Person(calls))
    again.save(path)
    whole = sat(LIMIT, Learner(), 4)
    assert list(log_lines(again.log())) == list(log_lines(whole.log()))
    assert [str(record.state) for record in LogFile(path)] == [
        str(record.state) for record in whole.hands
    ]
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_file_of_something_else_cannot_be_resumed(tmp_path):
    path = tmp_path / "sitting.phhs"
    sat(LIMIT, Learner(), 3).save(path)
    with pytest.raises(RecordError, match="has the deals of seed 3, not 4"):
        resumed(LIMIT, Learner(), path, seed=4)
    with pytest.raises(RecordError, match="a match of you and learner, not of you and Bob"):
        resumed(LIMIT, Mix(0, 1, 0, "Bob"), path, seed=3)
    with pytest.raises(RecordError, match="is not"):
        resumed(NOLIMIT, Learner(), path, seed=3)


def test_a_file_that_does_not_say_its_seed_needs_one(tmp_path):
    path = tmp_path / "sitting.phhs"
    sat(LIMIT, Learner(), 3).save(path)
    path.write_text(path.read_text().replace('_seed = "3"\n', ""))
    with pytest.raises(RecordError, match="does not contain its seed"):
        resumed(LIMIT, Learner(), path)
    with pytest.raises(RecordError, match="seed 4 deals"):
        resumed(LIMIT, Learner(), path, seed=4)
    assert len(resumed(LIMIT, Learner(), path, seed=3).hands) == 3


def test_a_player_draws_from_a_seed_as_hard_to_guess_as_that_of_the_deals():
    seeds = []

    class Noted(Mix):
        def reset(self, seed):
            seeds.append(seed)
            super().reset(seed)

    for number in range(20):
        Session(LIMIT, Noted(0, 1, 0), 2**127 + number)
    assert max(seeds).bit_length() > 96
    Session(LIMIT, Noted(0, 1, 0), 3)
    assert seeds[-1] == int(np.random.SeedSequence([3, 0]).generate_state(1)[0])


def test_files_that_cannot_hold_the_hands_are_refused_before_the_first(tmp_path):
    check_form(LIMIT, tmp_path / "x.phhs")
    check_form(get_game("leduc"), tmp_path / "x.log")
    with pytest.raises(RecordError, match="is not hold'em"):
        check_form(get_game("leduc"), tmp_path / "x.phhs")
    with pytest.raises(RecordError, match="is not hold'em"):
        check_form(SWAPS, tmp_path / "x.phhs")
    with pytest.raises(RecordError, match=r"call it x\.phhs"):
        check_form(LIMIT, tmp_path / "x.phh")


def test_the_result_without_luck_is_that_of_aivat_with_one_known_player(tmp_path):
    from equilibrist.evaluation.aivat import corrected
    from equilibrist.evaluation.expectation import fixed_mix
    from equilibrist.models.exact import exact_game

    leduc = get_game("leduc")
    sitting = Session(leduc, make_player("mix:0.1,0.5,0.4", leduc), 5)
    person = Person(lambda view: view.legal_actions().actions[-1])  # always raises, if it can
    assert sitting.luck_adjusted() is None
    for _ in range(30):
        sitting.play(person)
    found = sitting.luck_adjusted()
    # The same by plans alone, without seats.
    game = exact_game(leduc, symmetry="suits")
    plans = {sitting.player.name: fixed_mix(game, (0.1, 0.5, 0.4))}
    chips = corrected(game, sitting.hands, plans, "you")
    assert found.chips.mean() == pytest.approx(chips.mean(), abs=1e-8)
    assert found.plain[0].tolist() == sitting.chips
    assert found.corrections == ("cards", "actions of mix 0.1,0.5,0.4", "seats")
    assert found.variance_factor > 1
    # A file of the session has all that is needed.
    sitting.save(tmp_path / "evening.log")
    again = resumed(leduc, make_player("mix:0.1,0.5,0.4", leduc), tmp_path / "evening.log")
    np.testing.assert_array_equal(again.luck_adjusted().chips, found.chips)


def test_luck_that_cannot_be_removed_is_not_reported():
    holdem, kuhn = get_game("holdem-limit"), get_game("kuhn")
    for rules, name in ((holdem, "poki"), (kuhn, "always-shove")):
        sitting = Session(rules, make_player(name, rules), 5)
        sitting.play(Person(lambda view: view.legal_actions().actions[0]))
        assert sitting.luck_adjusted() is None
