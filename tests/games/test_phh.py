"""Poker hand histories: examples, round trips, PokerKit in both directions, bad input."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pokerkit
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equilibrist.errors import RecordError, StorageError
from equilibrist.games.action import raise_to
from equilibrist.games.catalog import get_game
from equilibrist.games.dealing import Dealer
from equilibrist.games.match_log import read_log
from equilibrist.games.phh import parse_phh, phh_text, read_phh, write_phh
from equilibrist.games.records import HandRecord, log_line, parse_log_line
from equilibrist.games.rules import GameRules
from equilibrist.games.state import HandState

LOGS = Path(__file__).parent / "logs"
LIMIT, NOLIMIT = get_game("holdem-limit"), get_game("holdem-nolimit")
STEPS = tuple(
    getattr(pokerkit.Automation, name)
    for name in (
        "ANTE_POSTING", "BET_COLLECTION", "BLIND_OR_STRADDLE_POSTING", "CARD_BURNING",
        "HAND_KILLING", "CHIPS_PUSHING", "CHIPS_PULLING", "RUNOUT_COUNT_SELECTION",
    )
)  # fmt: skip

BETS = (pokerkit.Folding, pokerkit.CheckingOrCalling, pokerkit.CompletionBettingOrRaisingTo)


@st.composite
def holdem_games(draw: st.DrawFn) -> GameRules:
    """Limit and no-limit hold'em, with the catalogue's numbers or others, short stacks too."""
    rules = draw(st.sampled_from((LIMIT, NOLIMIT)))
    if draw(st.booleans()):
        return rules
    small = draw(st.integers(1, 50))
    big = draw(st.integers(small + 1, 100))
    stacks = draw(st.tuples(st.integers(big, 500), st.integers(small, 500)))
    sizes = (big, big, 2 * big, 2 * big) if rules.is_limit else ()
    return replace(rules, name="some", blinds=(big, small), stacks=stacks, raise_sizes=sizes)


@st.composite
def records(draw: st.DrawFn) -> HandRecord:
    rules = draw(holdem_games())
    deal = next(Dealer(rules, draw(st.integers(0, 2**32 - 1))))
    state = HandState.start(rules, deal, hand_number=draw(st.integers(0, 2**32 - 1)))
    while not state.is_over:
        legal = state.legal_actions()
        actions = [
            action for action in legal.actions for _ in range(3 if action.kind == "c" else 1)
        ]
        if legal.raise_to is not None:
            low, high = legal.raise_to
            amounts = (low, draw(st.integers(low, high)), min(high, 2 * low), high)
            actions += [raise_to(amount) for amount in amounts]
        state = state.apply(draw(st.sampled_from(actions)))
    names = draw(st.tuples(st.text(min_size=1, max_size=8), st.text(min_size=1, max_size=8)))
    return HandRecord.of(state, names)


def final_state(text: str) -> Any:
    """Replay a history in PokerKit: all states are played and no action is added."""
    history = pokerkit.HandHistory.loads(text)
    *_, state = history
    assert not state.status
    bets = [step for step in state.operations if isinstance(step, BETS)]
    assert len(bets) == sum(action.split()[1] in ("f", "cc", "cbr") for action in history.actions)
    return state


# --- examples -------------------------------------------------------------------------------------


def test_a_history_written_by_hand_with_a_muck_and_comments() -> None:
    record = parse_phh((LOGS / "muck.phh").read_text())
    betting = "r250c/cr550c/cr1450c/cr8000c"
    assert log_line(record) == (f"STATE:0:{betting}:KdTd|5h4h/Kc8h2h/9s/3c:8000|-8000:Carol|p2")
    assert record.rules.blinds == (100, 50)
    assert record.rules.stacks == (10_000, 8_000)
    assert record.rules.first_players == NOLIMIT.first_players


def test_a_limit_history_written_by_hand_with_a_hand_never_seen() -> None:
    text = (LOGS / "limit.phh").read_text()
    record = parse_phh(text)
    assert log_line(record) == "STATE:12:rrrc/crc/rrf:|AsAh/2c3d4h/9h:-70|70:Alice|Bob"
    assert record.rules == replace(LIMIT, name="FT", max_raises=(4, 4, 4, 4))
    assert parse_phh(text, LIMIT).rules == LIMIT
    assert final_state(text).payoffs == [-70, 70]


def test_player_one_is_the_big_blind_although_the_small_blind_is_written_first() -> None:
    line = "STATE:0:f:AhKh|QsQd:50|-50:Big|Small"
    text = phh_text(parse_log_line(NOLIMIT, line))
    assert "blinds_or_straddles = [50, 100]" in text
    assert '"p2 f"' in text
    start = pokerkit.HandHistory.loads(text).create_state()
    assert start.bets == [100, 50]
    assert final_state(text).payoffs == [50, -50]


def test_the_other_order_of_blinds_gives_player_one_the_small_one() -> None:
    text = phh_text(parse_log_line(NOLIMIT, "STATE:0:f:AhKh|QsQd:50|-50:A|B"))
    text = text.replace("[50, 100]", "[100, 50]").replace('"p2 f"', '"p1 f"')
    text = text.replace("20050, 19950", "19950, 20050")
    record = parse_phh(text)
    assert record.rules.blinds == (50, 100)
    assert record.rules.first_players == (0, 0, 0, 0)
    assert tuple(final_state(text).payoffs) == record.payoffs == (-50, 50)


def test_the_hands_of_a_log_are_the_same_hands_as_histories() -> None:
    for name, rules in (("limit", LIMIT), ("nolimit", NOLIMIT)):
        for record in read_log(rules, LOGS / f"{name}.log").hands:
            assert parse_phh(phh_text(record)) == record
            assert tuple(final_state(phh_text(record)).payoffs) == record.payoffs


def test_raises_are_written_as_chips_of_the_street() -> None:
    line = "STATE:2:r300c/cr700r1600f:8dJd|Td4d/As9d6s:700|-700:Alice|Bob"
    text = phh_text(parse_log_line(NOLIMIT, line))
    assert [word for word in text.split('"') if "cbr" in word] == [
        "p2 cbr 300", "p2 cbr 400", "p1 cbr 1300",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("stack", "betting", "written"), [(50, "c///", []), (70, "cc///", ["p2 cc"])]
)
def test_a_check_that_decides_nothing_is_not_an_action(
    stack: int, betting: str, written: list[str]
) -> None:
    rules = replace(NOLIMIT, stacks=(20_000, stack))  # the dealer is all-in for less than a call
    line = f"STATE:0:{betting}:AhKh|QsQd/2c3d4h/5h/9h:{stack}|-{stack}:A|B"
    record = parse_log_line(rules, line)
    text = phh_text(record)
    assert [word for word in text.split('"') if word.endswith(" cc")] == written
    assert parse_phh(text) == record
    assert tuple(final_state(text).payoffs) == record.payoffs


# --- round trips, PokerKit in both directions -----------------------------------------------------


@settings(deadline=None, max_examples=150)
@given(records())
def test_random_hands_round_trip(record: HandRecord) -> None:
    text = phh_text(record)
    again = parse_phh(text)
    assert again.rules == record.rules
    assert again.names == record.names
    assert again.payoffs == record.payoffs
    assert str(again.state) == str(record.state)
    assert phh_text(again) == text
    assert parse_phh(text, record.rules) == again


@settings(deadline=None, max_examples=150)
@given(records())
def test_pokerkit_reads_what_we_write(record: HandRecord) -> None:
    state = final_state(phh_text(record))
    assert tuple(state.payoffs) == record.payoffs
    if record.rules.stacks is not None:
        pairs = zip(record.rules.stacks, record.payoffs, strict=True)
        assert state.stacks == [stack + chips for stack, chips in pairs]


@settings(deadline=None, max_examples=80)
@given(st.booleans(), st.tuples(st.integers(2, 300), st.integers(2, 300)), st.data())
def test_we_read_what_pokerkit_writes(
    is_limit: bool, stacks: tuple[int, int], data: st.DataObject
) -> None:
    if is_limit:
        game: Any = pokerkit.FixedLimitTexasHoldem(STEPS, True, 0, (1, 2), 2, 4)
    else:
        game = pokerkit.NoLimitTexasHoldem(STEPS, True, 0, (1, 2), 2)
    state = game(stacks, 2)
    while state.status:
        choose_and_play(state, data)
    history = pokerkit.HandHistory.from_game_state(
        game, state, players=["A", "B"], hand=3, finishing_stacks=list(state.stacks)
    )
    record = parse_phh(history.dumps())
    assert record.payoffs == tuple(state.payoffs)
    assert record.names == ("A", "B")
    assert record.hand_number == 3


def choose_and_play(state: Any, data: st.DataObject) -> None:
    """Advance a state of PokerKit by one step."""
    if state.can_deal_hole():
        state.deal_hole()
    elif state.can_deal_board():
        state.deal_board()
    elif state.can_show_or_muck_hole_cards():
        state.show_or_muck_hole_cards(True)
    else:
        steps: list[Callable[[], object]] = [state.check_or_call] * 3
        if state.checking_or_calling_amount:
            steps.append(state.fold)
        if state.can_complete_bet_or_raise_to():
            low = state.min_completion_betting_or_raising_to_amount
            high = state.max_completion_betting_or_raising_to_amount
            amount = data.draw(st.sampled_from((low, (low + high) // 2, high)))
            steps += [lambda: state.complete_bet_or_raise_to(amount)] * 2
        data.draw(st.sampled_from(steps))()


# --- bad input ------------------------------------------------------------------------------------

HISTORY = """\
variant = "NT"
antes = [0, 0]
blinds_or_straddles = [50, 100]
min_bet = 100
starting_stacks = [20000, 20000]
actions = ["d dh p1 AhKh", "d dh p2 QsQd", "p2 cbr 300", "p1 cc", "d db 2c7d9h", "p1 cc", \
"p2 cbr 400", "p1 f"]
hand = 7
finishing_stacks = [19700, 20300]
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"NT"', '"PO"', "variant must be FT .* or NT .*, not 'PO'"),
        ('"NT"', "[1]", "variant must be FT"),
        ('variant = "NT"', "", "the history has no field variant"),
        ("antes = [0, 0]", "", "the history has no field antes"),
        ("antes = [0, 0]", "antes = [5, 5]", "antes must be zeros"),
        ("[50, 100]", "[50, 100, 0]", "the same length as stacks and antes"),
        ("[50, 100]", "[100, 100]", "two different blinds"),
        ("[50, 100]", "[]", "two different blinds"),
        ("[50, 100]", "50", "blinds_or_straddles must be a list"),
        ("[50, 100]", "[0.5, 1]", "whole chips"),
        ("[50, 100]", "[-50, 100]", "whole chips"),
        ("[50, 100]", "[true, 100]", "must contain numbers"),
        ("[50, 100]", "[50, 1_000_000_000_000]", "whole chips"),
        ("[50, 100]", "[50, 0x" + "f" * 9000 + "]", "not a huge number"),
        ("[50, 100]", "[50, 1" + "0" * 9000 + "]", "more digits than can be read"),
        ("[50, 100]", "[50, nan]", "whole chips"),
        ("min_bet = 100", "min_bet = 200", "min_bet must be the big blind, 100"),
        ("min_bet = 100", "small_bet = 100", "no field min_bet"),
        ("[20000, 20000]", "[20000, 40]", "do not describe a game: a blind of 50 is above"),
        ("hand = 7", "hand = -1", "hand must be a name or a number"),
        ("hand = 7", "hand = 1e9", "hand must be a name or a number"),
        ("hand = 7", "players = ['A']", "players must have 2 names"),
        ("hand = 7", "players = [1, 2]", "players must be a list of texts"),
        ("hand = 7", "_max_raises = 3", "do not describe a game"),
        ("hand = 7", "_game = 3", "do not describe a game"),
        ("hand = 7", "hand = [[[", "not TOML"),
        ("hand = 7", "hand = " + "[" * 5000, "nested too deeply"),
        ("[19700, 20300]", "[19800, 20200]", r"finishing_stacks must be \[19700, 20300\]"),
        ("AhKh", "AhKhQh", "action 1 'd dh p1 AhKhQh': p1 has at most 2 cards"),
        ("AhKh", "AhXh", "action 1 .*'Xh' .*is not a card"),
        ("AhKh", "Ah??", "action 1 .*known completely or not at all"),
        ("AhKh", "Ah", "Ah is not a hand"),
        ("AhKh", "AhAh", "action 1 .*Ah is dealt twice"),
        ("QsQd", "AhQd", "action 2 'd dh p2 AhQd': Ah is dealt twice"),
        ("2c7d9h", "2c7dQs", "action 5 'd db 2c7dQs': Qs is dealt twice"),
        ("2c7d9h", "2c7d", "action 6 .*the board has 3 cards in this round, not 2"),
        ("2c7d9h", "2c7d9hTh", "action 5 .*the board has 3 cards in this round, not 4"),
        ("2c7d9h", "2c7d??", "action 5 .*must be known"),
        ("p2 cbr 300", "p1 cbr 300", "action 3 'p1 cbr 300': p2 is to act"),
        ("p2 cbr 300", "p3 cbr 300", "action 3 .*players are p1 to p2"),
        ("p2 cbr 300", "p2 cbr 150", "action 3 .*below the smallest raise r200"),
        ("p2 cbr 400", "p2 cbr 19701", "action 7 .*above the largest raise r20000"),
        ("p2 cbr 300", "p2 cbr -300", "action 3 .*not a whole number"),
        ("p2 cbr 300", "p2 cbr 300.5", "action 3 .*not a whole number"),
        ("p2 cbr 300", "p2 cbr 1" + "0" * 50, "action 3 .*not a whole number"),
        ("p2 cbr 300", "p2 bets 300", "action 3 'p2 bets 300': unknown action"),
        ("p2 cbr 300", "p2 sd Qs", "action 3 .*sd is not an action of hold'em"),
        ("p2 cbr 300", "p2 sm QsQd", "action 3 .*after the last bet"),
        ("p2 cbr 400", "p2 f", "action 7 'p2 f': f folds without facing a bet"),
        ('"p1 f"]', '"p1 f", "p2 cc"]', "action 9 .*comes after the end"),
        ('"p1 f"]', '"p1 f", "d db 3c"]', "action 9 .*the board has 3 cards"),
        ('"p1 f"]', '"p1 f", "d dh p1 3c"]', "action 9 .*before the first bet"),
        ('"p1 f"]', '"p1 f", "p2 sm QsQc"]', "action 9 .*p2 was dealt QsQd"),
        ('"p1 f"]', '"p1 f", "p2 sm Qs"]', "action 9 .*must be shown"),
        (', "p1 f"]', "]", "the actions end before the hand does: p1 is to act"),
        (', "p1 f"]', ', "p1 cc"]', "the actions end before the hand does: p1 is to act"),
        ("actions = [", "actions = [1, ", "(not TOML|actions must be a list of texts)"),
    ],
)
def test_a_bad_history_is_refused_in_one_sentence(old: str, new: str, message: str) -> None:
    assert parse_phh(HISTORY).payoffs == (-300, 300)
    assert HISTORY.count(old) == 1
    with pytest.raises(RecordError, match=message) as caught:
        parse_phh(HISTORY.replace(old, new))
    assert len(str(caught.value)) < 400
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("shows", "hole", "message"),
    [
        (("p1 sm -", "p2 sm"), "QsQd", None),
        (("p1 sm AhKh", "p2 sm ????"), "QsQd", None),
        (("p1 sm KhAh", "p2 sm QsQd"), "????", None),
        (("p1 sm", "p2 sm QsQd"), "QsQd", "p1 mucks a hand that wins"),
        (("p1 sm AhKh", "p2 sm"), "????", "player 1's cards are not known"),
        ((), "????", "player 1's cards are not known"),
        (("p1 sm AhKh", "p2 sm AhQd"), "????", "action 6 'p2 sm AhQd': Ah is dealt twice"),
        (("p1 sm AhKh", "p2 sm 2h3h"), "????", "action 7 .*2h is dealt twice"),
    ],
)
def test_showdowns_need_hands_that_are_known(
    shows: tuple[str, ...], hole: str, message: str | None
) -> None:
    actions = [
        "d dh p1 AhKh",
        f"d dh p2 {hole}",
        "p2 cbr 20000",
        "p1 cc",
        *shows,
        "d db 2h3h9hTdJd",
    ]
    history = HISTORY.replace("[19700, 20300]", "[40000, 0]")
    start = history.index("actions"), history.index("hand")
    history = history[: start[0]] + f"actions = {actions!r}\n" + history[start[1] :]
    if message is None:
        assert parse_phh(history).payoffs == (20000, -20000)
    else:
        with pytest.raises(RecordError, match=message):
            parse_phh(history)


def test_limit_raises_have_one_size_and_a_cap() -> None:
    text = (LOGS / "limit.phh").read_text()
    with pytest.raises(RecordError, match="action 3 'p2 cbr 25': the raise must be to 20, not 25"):
        parse_phh(text.replace("p2 cbr 20", "p2 cbr 25"))
    capped = text + "_max_raises = [2, 4, 4, 4]\n"
    with pytest.raises(RecordError, match=r"action 5 .*exceeds the 2 raises allowed"):
        parse_phh(capped)


def test_a_history_of_another_game_than_expected_is_refused() -> None:
    text = (LOGS / "limit.phh").read_text()
    with pytest.raises(RecordError, match="holdem-nolimit is not the game of this FT history"):
        parse_phh(text, NOLIMIT)
    with pytest.raises(RecordError, match=r"stacks is \(100, 100\), not None"):
        parse_phh(text, replace(LIMIT, stacks=(100, 100)))


@pytest.mark.parametrize(
    ("game", "line", "message"),
    [
        ("kuhn", "STATE:3:rc:As|Qs:2|-2:A|B", "kuhn is not hold'em.*num_suits is 1, not 4"),
        ("discard-holdem", "STATE:0:f:2cKh|4s5s:1|-1:A|B", "discard-holdem .*discards is"),
        ("royal-holdem", "STATE:0:f:AhKh|QsQd:5|-5:A|B", "royal-holdem .*num_ranks is 5, not 13"),
        ("preflop-holdem", "STATE:0:f:AhKh|QsQd:5|-5:A|B", "preflop-holdem .*num_board_cards"),
    ],
)
def test_games_without_a_variant_are_refused(game: str, line: str, message: str) -> None:
    record = parse_log_line(get_game(game), line)
    with pytest.raises(RecordError, match=message):
        phh_text(record)


def test_unequal_raise_sizes_have_no_variant() -> None:
    rules = replace(LIMIT, raise_sizes=(10, 20, 20, 20))
    record = parse_log_line(rules, "STATE:0:f:AhKh|QsQd:5|-5:A|B")
    with pytest.raises(RecordError, match=r"raise_sizes is \(10, 20, 20, 20\)"):
        phh_text(record)


def test_hands_of_six_players_are_read_in_their_order() -> None:
    actions = [f"d dh p{player} ????" for player in range(1, 7)]
    actions += [f"p{player} f" for player in (3, 4, 5, 6, 1)]
    history = HISTORY.replace("[0, 0]", str([0] * 6)).replace("[50, 100]", "[50, 100, 0, 0, 0, 0]")
    history = history.replace("[20000, 20000]", str([20000] * 6)).replace("finishing", "_")
    start = history.index("actions"), history.index("hand")
    history = history[: start[0]] + f"actions = {actions!r}\n" + history[start[1] :]
    record = parse_phh(history)
    assert record.payoffs == (-50, 50, 0, 0, 0, 0)
    assert parse_phh(phh_text(record)) == record
    assert tuple(final_state(history).payoffs) == record.payoffs


@settings(deadline=None, max_examples=200)
@given(st.integers(0, len(HISTORY)), st.integers(0, 6), st.text(max_size=4))
def test_any_text_is_a_history_or_a_record_error(at: int, cut: int, text: str) -> None:
    with contextlib.suppress(RecordError):
        parse_phh(HISTORY[:at] + text + HISTORY[at + cut :])
    with contextlib.suppress(RecordError):
        parse_phh(HISTORY[:at])


def test_a_history_is_written_to_a_file_and_read_back(tmp_path: Path) -> None:
    record = read_phh(LOGS / "limit.phh")
    write_phh(record, tmp_path / "hand.phh")
    assert read_phh(tmp_path / "hand.phh") == record
    assert read_phh(str(tmp_path / "hand.phh"), record.rules) == record


@pytest.mark.parametrize("path", ["missing.phh", "a\0b", "x" * 5000])
def test_a_history_that_cannot_be_read_or_written_names_its_file(tmp_path: Path, path: str) -> None:
    with pytest.raises(RecordError, match="cannot read"):
        read_phh(tmp_path / path)
    with pytest.raises(StorageError, match="cannot write"):
        write_phh(read_phh(LOGS / "limit.phh"), tmp_path / "no folder" / path)
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(RecordError, match="not a text file"):
        read_phh(tmp_path / "binary")
