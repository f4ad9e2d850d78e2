"""Pokerbots over TCP: the same match as in process, and safe from bad clients."""

import contextlib
import functools
import random
import time

import numpy as np
import pytest

from equilibrist.cards.card import parse_cards
from equilibrist.errors import InvalidValueError, NetworkError
from equilibrist.games.action import CALL, FOLD, KEEP, Action, raise_to
from equilibrist.games.catalog import get_game
from equilibrist.games.dealing import Dealer
from equilibrist.games.match_log import log_lines, read_log, replay
from equilibrist.games.state import Deal, HandState
from equilibrist.papers.ectomynx.decision_game import num_rows
from equilibrist.papers.ectomynx.decision_player import DecisionPlayer
from equilibrist.papers.ectomynx.level_player import LevelPlayer
from equilibrist.play.match import play_match
from equilibrist.play.pokerbots import answer_text, ending, legal_words, read_answer
from equilibrist.play.pokerbots_client import play_pokerbots
from equilibrist.play.pokerbots_engine import check_engine, serve_pokerbots
from equilibrist.play.server import NetworkMatch
from equilibrist.players.player import View
from equilibrist.players.static import Mix, Uniform

SWAPS, NOLIMIT = get_game("discard-holdem"), get_game("holdem-nolimit")
NAMES = ("Ann", "Bob")


class Remembered(Uniform):
    """A uniform player that records the seed of its last reset and its results."""

    def __init__(self, name="x"):
        self.name = name
        super().__init__()

    def observe(self, result):
        self.results.append(result)

    def reset(self, seed):
        self.seed, self.results = seed, []
        super().reset(seed)


@pytest.fixture
def serve(over_tcp):
    """Return a function that plays a match: returns match, log, warnings and lines received."""

    def serve(*arguments, **settings):
        served = over_tcp(serve_pokerbots, *arguments, **settings)
        return served.match, served.log, served.warnings, served.taps

    return serve


def seated(game, player, seed=0):
    def client(wire):
        player.reset(seed)
        play_pokerbots(game, wire, player)

    return client


def started(game=SWAPS, actions=()):
    state = HandState.start(game, next(Dealer(game, 0)))
    for action in actions:
        state = state.apply(action)
    return state


@pytest.mark.parametrize("game", [SWAPS, NOLIMIT])
def test_a_match_over_tcp_is_logged_as_in_process(serve, game):
    players = Remembered("Ann"), Remembered("Bob")
    inside = play_match(game, players, 80, seed=3, keep_log=True)
    remote = Remembered(), Remembered()
    clients = [seated(game, r, p.seed) for r, p in zip(remote, players, strict=True)]
    match, log, warnings, _ = serve(game, clients, 80, seed=3)
    assert log == list(log_lines(inside.logs[0]))
    assert match.is_finished
    assert warnings == []
    # They receive the same as in process, except the other's swapped cards.
    for one, other in zip(remote, players, strict=True):
        assert [r.chips for r in one.results] == [r.chips for r in other.results]
        assert [r.view.hole for r in one.results] == [r.view.hole for r in other.results]
        assert [r.view.board for r in one.results] == [r.view.board for r in other.results]
        assert [set(map(frozenset, r.view.state.holes)) for r in one.results] == [
            set(map(frozenset, r.view.state.holes)) for r in other.results
        ]
        assert [r.view.betting for r in one.results] == [r.view.betting for r in other.results]


def test_ectomynx_plays_over_the_protocol_what_it_plays_in_process(serve, monkeypatch):
    probabilities = np.random.default_rng(1).random((num_rows(), 4)).astype(np.float32)
    players = LevelPlayer(SWAPS, name="Ann"), DecisionPlayer(SWAPS, probabilities, name="Bob")
    seeds = {}
    for player in players:
        reset = player.reset
        monkeypatch.setattr(
            player, "reset", lambda seed, p=player, r=reset: (seeds.update({p: seed}), r(seed))
        )
    inside = play_match(SWAPS, players, 40, seed=3, keep_log=True)
    clients = [seated(SWAPS, player, seeds[player]) for player in players]
    _, log, warnings, _ = serve(SWAPS, clients, 40, seed=3)
    assert log == list(log_lines(inside.logs[0]))
    assert warnings == []


def test_packets_of_a_hand_by_hand(serve):
    # Seed 0 deals 5d5c to the big blind and 9hQd to the dealer, then 8dAs8s 4h 6d.
    actions = [CALL, CALL, Action("d", card=13), KEEP, raise_to(6), FOLD]
    state = started()
    swap = next(Dealer(SWAPS, 0)).draws[0]

    def scripted(wire):
        while (line := wire.receive()) is not None:
            if line.startswith("GETACTION"):
                wire.send(answers.pop(0))
            elif line == "REQUESTKEYVALUES":
                wire.send("PUT a b")
                wire.send("FINISH")

    texts = []
    for action in actions:
        texts.append(answer_text(state.betting, action))
        state = state.apply(action)
    answers = list(texts)
    assert texts == ["CALL", "CHECK", "DISCARD:5d", "CHECK", "BET:4", "FOLD"]
    match, _, warnings, taps = serve(SWAPS, [scripted, scripted], 1, time_bank=9, seed=0)
    assert match.chips == [2]
    assert warnings == []
    bank = " 9.000000"
    ann = [line.rpartition(" ")[0] for line in taps[0].lines[:-1]]
    new = f"{'23456789TJQKA'[swap >> 2]}{'cdhs'[swap & 3]}"
    assert taps[0].lines[0] == "NEWGAME Ann Bob 200 2 1" + bank
    assert taps[0].lines[1] == "NEWHAND 1 false 5d 5c 0 0" + bank
    assert taps[1].lines[1] == "NEWHAND 1 true 9h Qd 0 0" + bank
    assert ann[2:] == [
        "GETACTION 4 0 3 POST:1:Bob POST:2:Ann CALL:Bob 2 CHECK RAISE:4:200",
        "GETACTION 4 3 8d As 8s 2 CHECK:Ann DEAL:FLOP 3 CHECK DISCARD:5d DISCARD:5c",
        f"GETACTION 4 3 8d As 8s 2 DISCARD:5d:{new}:Ann CHECK:Bob 2 CHECK BET:2:198",
        "HANDOVER 2 -2 3 8d As 8s 4 BET:4:Ann FOLD:Bob REFUND:4:Ann WIN:4:Ann",
    ]
    bob = [line.rpartition(" ")[0] for line in taps[1].lines[:-1]]
    assert bob[2] == "GETACTION 3 0 2 POST:1:Bob POST:2:Ann 3 FOLD CALL RAISE:4:200"
    assert bob[3].startswith("GETACTION 4 3 8d As 8s 4 CALL:Bob CHECK:Ann DEAL:FLOP DISCARD:Ann 3")
    assert taps[0].lines[-1] == "REQUESTKEYVALUES"


def test_hidden_cards_are_never_on_the_wire(serve):
    players = Remembered(), Remembered()
    clients = [seated(SWAPS, player, 5 + i) for i, player in enumerate(players)]
    _, log, _, taps = serve(SWAPS, clients, 60)
    hands = read_log(SWAPS, log).hands
    swapped = shown = 0
    for place, tap in enumerate(taps):
        record = None
        for line in tap.lines:
            words = line.split()
            if words[0] == "NEWHAND":
                record = hands[int(words[1]) - 1]
                me = record.names.index(NAMES[place])
                mine = {*record.state.deal.holes[me], *(new for _, new in record.state.swaps[me])}
                theirs = {
                    *record.state.deal.holes[1 - me],
                    *(card for swap in record.state.swaps[1 - me] for card in swap),
                }
                final = set(record.state.holes[1 - me])
                hidden = {_name(card) for card in theirs - mine - set(record.state.board)}
            if record is None:
                continue
            cards = {w for word in words[1:] for w in word.split(":") if w in DECK}
            if words[0] == "HANDOVER" and record.state.betting.is_showdown:
                shown += 1
                assert cards & hidden == {_name(card) for card in final}
            else:
                assert not cards & hidden
            swapped += line.count("DISCARD")
    assert shown > 10
    assert swapped > 50


def _name(card):
    return f"{'23456789TJQKA'[card >> 2]}{'cdhs'[card & 3]}"


DECK = {_name(card) for card in range(52)}


@pytest.mark.parametrize(
    ("actions", "said", "action"),
    [
        ([], "FOLD", FOLD),
        ([], "call", CALL),
        ([], "CALL:1", CALL),
        ([], "RAISE:10", raise_to(10)),
        ([], "BET:10", raise_to(10)),
        ([], "CHECK", FOLD),  # illegal: check or else fold
        ([], "RAISE:3", FOLD),
        ([], "RAISE:201", FOLD),
        ([], "RAISE:٣٣", FOLD),
        ([], "DISCARD:9h", FOLD),
        ([], "", FOLD),
        ([CALL], "FOLD", CALL),
        ([CALL], "CALL", CALL),
        ([CALL, CALL], "CHECK", KEEP),
        ([CALL, CALL], "DISCARD:5d", Action("d", card=13)),
        ([CALL, CALL], "DISCARD:9h", KEEP),
        ([CALL, CALL], "DISCARD", KEEP),
        ([CALL, CALL], "FOLD", KEEP),
        ([CALL, CALL, KEEP, KEEP], "BET:198", raise_to(200)),
    ],
)
def test_legal_answers_and_replacements_of_illegal_ones(actions, said, action):
    assert read_answer(started(SWAPS, actions), said).action == action


def test_ends_are_reported_with_refunds_and_ties():
    state = started(NOLIMIT, [raise_to(300), CALL, CALL, raise_to(900), FOLD])
    assert list(ending(state, NAMES)) == ["REFUND:600:Bob", "WIN:600:Bob"]
    state = started(NOLIMIT, [CALL] * 8)
    assert list(ending(state, NAMES)) == ["SHOW:5d:5c:Ann", "SHOW:9h:Qd:Bob", "WIN:200:Ann"]
    deal = Deal((parse_cards("2c3d"), parse_cards("2d3c")), parse_cards("AhKhQhJhTh"))
    state = HandState.start(NOLIMIT, deal)
    for _ in range(8):
        state = state.apply(CALL)
    assert list(ending(state, NAMES))[2:] == ["TIE:100:Ann", "TIE:100:Bob"]


def fuzz(count, seed):
    """Send random lines to random states: all become legal actions, and no client crashes."""
    rng, player = random.Random(seed), Uniform()
    deals = Dealer(SWAPS, seed)
    pieces = ["CHECK", "CALL", "FOLD", "BET", "RAISE", "DISCARD", ":", ":5", ":200", ":5d", "é", ""]
    refused = 0
    while count:
        state = HandState.start(SWAPS, next(deals))
        while (actor := state.actor) is not None and count:
            line = "".join(rng.choices(pieces, k=rng.randrange(5)))
            if rng.random() < 0.3:
                line = rng.choice(legal_words(state))
            action, warning = read_answer(state, line)
            assert state.can(action)
            refused += bool(warning)
            count -= 1
            state = state.apply(player.act(View.of(state, actor)))
    return refused


def test_no_line_crashes_the_engine():
    assert fuzz(5000, 1) > 1000


@pytest.mark.slow
def test_a_million_lines_crash_nothing():
    assert fuzz(1_000_000, 2) > 100_000


class Script:
    """A fake engine that sends lines one after the other."""

    def __init__(self, lines):
        self.lines, self.said = list(lines), []

    def receive(self, seconds=None):
        return self.lines.pop(0) if self.lines else None

    def send(self, line, seconds=None):
        self.said.append(line)


def test_invalid_lines_raise_only_network_errors(serve):
    _, _, _, (tap, _) = serve(SWAPS, [seated(SWAPS, Uniform(), i) for i in (1, 2)], 6)
    rng = random.Random(3)
    outcomes = {"played": 0, "refused": 0}
    for _ in range(1500):
        lines = list(tap.lines)
        for _ in range(rng.randrange(3)):
            at = rng.randrange(len(lines))
            words = lines[at].split(" ")
            place = rng.randrange(len(words))
            words[place : place + rng.randrange(3)] = rng.choice(
                [[], ["x"], ["-5"], ["9" * 20], ["As"], ["RAISE:5:Bob"], ["SHOW:As:As:Bob"], ["é"]]
            )
            lines[at] = " ".join(words)
        try:
            play_pokerbots(SWAPS, Script(lines), Uniform())
            outcomes["played"] += 1
        except NetworkError:
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 100


def calls():
    return seated(SWAPS, Mix(0, 1, 0))


def leaves_in_hand(number, farewell):
    def client(wire):
        hand = 0
        while (line := wire.receive()) is not None:
            if line.startswith("NEWHAND"):
                hand += 1
            if line.startswith("GETACTION"):
                if hand == number:
                    farewell(wire)
                    return
                wire.send("CHECK")

    return client


def test_a_client_that_hangs_up_ends_its_match_and_the_log_is_whole(serve):
    match, log, _, _ = serve(SWAPS, [calls(), leaves_in_hand(3, lambda wire: None)], 9)
    assert match.ending == "Bob has hung up, in hand 2: the match is over"
    assert len(read_log(SWAPS, log).hands) == len(match.chips) == 2


def test_a_client_that_spends_its_time_bank_ends_its_match(serve):
    stall = leaves_in_hand(2, lambda wire: wire.receive(5))
    match, log, _, _ = serve(SWAPS, [stall, calls()], 9, time_bank=1.0)
    assert match.ending == "Ann has used up its time bank of 1 s, in hand 1: the match is over"
    assert len(read_log(SWAPS, log).hands) == 1


def slow_caller(wire):
    """Call after a moment, when the lines of the other client have arrived."""
    while (line := wire.receive()) is not None:
        if line.startswith("GETACTION"):
            time.sleep(0.03)
            wire.send(next(word for word in line.split() if word in ("CHECK", "CALL")))
        elif line == "REQUESTKEYVALUES":
            wire.send("FINISH")


def test_lines_out_of_turn_do_not_act(serve):
    def noisy(wire):
        """Call, but send raises and folds whenever the other client is asked."""
        while (line := wire.receive()) is not None:
            if line.startswith("GETACTION"):
                wire.send(next(word for word in line.split() if word in ("CHECK", "CALL")))
            elif line.startswith("NEWHAND") and line.split()[2] == "false":
                wire.send("RAISE:50")
                wire.send("FOLD")
            elif line == "REQUESTKEYVALUES":
                wire.send("FINISH")

    quiet = serve(SWAPS, [calls(), calls()], 6, seed=1)
    noise = serve(SWAPS, [noisy, slow_caller], 6, seed=1)
    assert noise[1] == quiet[1]
    assert noise[2] == []


def test_a_client_that_floods_ends_its_match(serve):
    def flood(wire):
        with contextlib.suppress(OSError):
            for _ in range(300):
                wire._link.sendall(b"\x00" * 100_000)

    match, log, _, _ = serve(SWAPS, [calls(), leaves_in_hand(2, flood)], 9)
    assert match.ending.startswith("Bob ")
    assert not match.is_finished
    assert len(read_log(SWAPS, log).hands) == len(match.chips) >= 1


def test_a_client_that_stores_without_end_does_not_block_the_engine(serve):
    def hoards(wire):
        """Call, and after the last hand store values from time to time for twenty seconds."""
        player = Mix(0, 1, 0)
        player.reset(0)
        with contextlib.suppress(OSError, NetworkError):
            wire.send = functools.partial(store, wire, wire.send)
            play_pokerbots(SWAPS, wire, player)

    def store(wire, send, line, seconds=None):
        if line != "FINISH":
            send(line, seconds)
            return
        for number in range(1000):
            send(f"PUT key {number}")
            time.sleep(0.02)

    match, log, warnings, _ = serve(SWAPS, [hoards, calls()], 2, farewell=0.3)
    assert match.is_finished
    assert read_log(SWAPS, log).is_finished
    assert warnings == ["Ann does not send FINISH after the last hand"]


class SlowReader:
    """A wire to a client that calls and reads every line slowly."""

    def send(self, line, seconds):
        time.sleep(0.15)
        if seconds < 0.15:
            raise NetworkError("does not read")

    def receive(self, seconds):
        return "CALL"

    def drop_pending(self):
        pass


def test_the_time_to_send_counts_against_the_client_that_does_not_read():
    match = serve_pokerbots(
        NetworkMatch(SWAPS, NAMES, 9), (SlowReader(), SlowReader()), time_bank=0.35
    )
    assert "does not read, in hand " in match.ending


def test_the_cards_of_an_engine_are_a_secret_until_the_match_is_over(serve):
    (one, first, *_), (two, *_) = (serve(SWAPS, [calls(), calls()], 3) for _ in range(2))
    assert one.seed != two.seed
    assert first[0].endswith("?" * 39)
    assert len(replay(read_log(SWAPS, [str(one.header), *first[1:]])).hands) == 3


def test_matches_that_the_protocol_does_not_support_are_refused():
    with pytest.raises(InvalidValueError, match="not no-limit hold'em"):
        check_engine(NetworkMatch(get_game("holdem-limit"), NAMES, 9), 20)
    with pytest.raises(InvalidValueError, match="one word"):
        check_engine(NetworkMatch(SWAPS, ("a b", "c"), 9), 20)
    with pytest.raises(InvalidValueError, match="both players"):
        check_engine(NetworkMatch(SWAPS, ("a", "a"), 9), 20)
    with pytest.raises(InvalidValueError, match="seconds above zero"):
        check_engine(NetworkMatch(SWAPS, NAMES, 9), 0)
    with pytest.raises(NetworkError, match="stacks of 100 and a big blind of 2"):
        play_pokerbots(SWAPS, Script(["NEWGAME me you 100 2 10 20.0"]), Uniform())
