"""Slumbot's API: words, sessions and matches, against known transcripts and matches in process."""

import itertools
import random
import re
from statistics import pstdev

import pytest

from equilibrist.cards.card import card_name, parse_cards
from equilibrist.errors import InvalidValueError, NetworkError, RecordError
from equilibrist.games.catalog import get_game
from equilibrist.games.dealing import Dealer
from equilibrist.games.match_log import read_log, replay
from equilibrist.games.notation import parse_betting
from equilibrist.games.phh import phh_text
from equilibrist.games.records import HandRecord
from equilibrist.games.state import Deal, HandState
from equilibrist.play.json_client import LostConnectionError
from equilibrist.play.json_server import RequestError
from equilibrist.play.match import play_match, player_seed
from equilibrist.play.slumbot import (
    actions_text,
    check_rules,
    end_fields,
    hand_fields,
    increment,
    parse_actions,
    parse_increment,
)
from equilibrist.play.slumbot_client import ApiMatch, Reply
from equilibrist.play.slumbot_log import OPPONENT, ApiLog
from equilibrist.play.slumbot_server import CLIENT, ServedBot, SlumbotServer
from equilibrist.players.catalog import make_player
from equilibrist.players.player import View
from equilibrist.players.static import Mix, Uniform

GAME, SHORT = get_game("holdem-nolimit"), get_game("holdem-nolimit-100")


class Direct:
    """A server without a network: `post` as in a client, answers as over HTTP."""

    address = "http://direct"

    def __init__(self, server):
        self.server, self.answers = server, []

    def post(self, path, body):
        self.answers.append(self.server.answer(path, body))
        return self.answers[-1]


def served(text="uniform", rules=GAME, **settings):
    bot = ServedBot(rules, lambda: make_player(text, rules), **settings)
    return SlumbotServer(bot)


def challenge(server, text="uniform", hands=50, seed=1, rules=GAME, **settings):
    player = make_player(text, rules)
    player.reset(seed)
    match = ApiMatch(rules, player, Direct(server), hands, **settings)
    match.play()
    return match


# --- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        # Replies of slumbot.com in issues 23, 29 and 30 of slumbot2019 and its sample client.
        ("b200c/kb200f", "r200c/cr400f"),
        ("b200c/kk/kk/kk", "r200c/cc/cc/cc"),
        ("b200c/kk/kk/kb200", "r200c/cc/cc/cr400"),
        ("b20000c///", "r20000c///"),
        ("b200b1250c/kb750b18650b18750", "r200r1250c/cr2000r19900r20000"),
        ("b200b1103c/b940c/b778b6957b13136b17957",
         "r200r1103c/r2043c/r2821r9000r15179r20000"),
        ("b300b900c/kb1500b7200b18800b19100", "r300r900c/cr2400r8100r19700r20000"),
        ("ck/", "cc/"),
    ],
)  # fmt: skip
def test_actions_of_slumbot_are_those_of_acpc(theirs, ours):
    betting = parse_actions(GAME, theirs)
    assert betting.text == ours
    assert actions_text(betting) == theirs


def test_slashes_at_the_end_may_be_missing():
    assert parse_actions(GAME, "b20000c") == parse_actions(GAME, "b20000c///")
    assert parse_actions(GAME, "b200c") == parse_actions(GAME, "b200c/")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("b200k", "'k' is not legal after 'b200'; legal are f, c, b300 to b20000"),
        ("b200c/c", "'c' is not legal after 'b200c/'; legal are k, b100 to b19800"),
        ("b200c/f", "'f' is not legal"),
        ("b199", "'b199' is not legal after ''; legal are f, c, b200 to b20000"),
        ("b20001", "'b20001' is not legal"),
        ("b200c/b19801", "legal are k, b100 to b19800"),
        ("b20000cc", "legal are no actions: the hand is over"),
        ("b19999b20000b20000", "legal are f, c"),
        ("b200c//k", "do not end where they should"),
        ("b200/c", "do not end where they should"),
        ("x", "'x' in the actions '' is none of k, c, f, b<chips> and /"),
        ("b", "is none of"),
        ("b99999999999", "is none of|is not legal"),
        ("b-5", "is none of"),
        ("b200 c", "is none of"),
        ("b200b٣٠٠", "is none of"),
    ],
)
def test_actions_that_cannot_be_are_named(text, words):
    with pytest.raises(RecordError, match=words):
        parse_actions(GAME, text)


def random_hand(rules, rng, deal):
    """Play a hand of random sizes, small ones and all-ins among them."""
    state, player = HandState.start(rules, deal), Uniform()
    player.reset(rng.randrange(2**32))
    while state.actor is not None:
        action = player.act(View.of(state, state.actor))
        if action.kind == "f" and rng.random() < 0.8:
            continue
        low = state.betting.min_raise_to
        small = action._replace(amount=rng.choice([low, min(action.amount, low + 37)]))
        state = state.apply(small if action.kind == "r" and rng.random() < 0.7 else action)
    return state


@pytest.mark.parametrize("rules", [GAME, SHORT])
def test_amounts_are_those_of_phh_and_words_come_back(rules):
    # PHH counts chips of the street too; PokerKit reads the same histories in tests/oracles.
    rng, sizes = random.Random(4), 0
    for deal, _ in zip(Dealer(rules, 8), range(150), strict=False):
        state = random_hand(rules, rng, deal)
        text = actions_text(state.betting)
        assert parse_actions(rules, text) == state.betting
        theirs = re.findall(r"cbr ([0-9]+)", phh_text(HandRecord.of(state, ("Ann", "Bob"))))
        assert re.findall(r"b([0-9]+)", text) == theirs
        sizes += len(theirs)
    assert sizes > 300


def test_one_word_is_legal_exactly_if_the_rules_allow_it():
    # The rules themselves are compared with OpenSpiel's and PokerKit's in tests/oracles.
    rng, seen = random.Random(5), {True: 0, False: 0}
    for deal, _ in zip(Dealer(GAME, 8), range(60), strict=False):
        state = HandState.start(GAME, deal)
        player = Uniform()
        player.reset(rng.randrange(2**32))
        while state.actor is not None:
            legal = state.legal_actions()
            words = {increment(state.betting, action) for action in legal.actions}
            low, high = legal.raise_to or (1, 0)
            sizes = {0, 1, 99, 100, 10**9, rng.randrange(20001)} | {
                amount - state.betting.opening + more
                for amount in (low, high)
                for more in (-1, 0, 1)
            }
            for word in ["k", "c", "f", "", "kk", *(f"b{size}" for size in sizes if size >= 0)]:
                total = int(word[1:]) + state.betting.opening if word[:1] == "b" else 0
                expected = low <= total <= high if word[:1] == "b" else word in words
                try:
                    action = parse_increment(state.betting, word)
                    found = True
                    assert state.can(action)
                except RecordError:
                    found = False
                assert found == expected, (str(state), word)
                seen[found] += 1
            state = state.apply(player.act(View.of(state, state.actor)))
    assert min(seen.values()) > 200


@pytest.mark.parametrize(
    ("betting", "client", "holes", "board", "expected"),
    [
        # Both replies are quoted from slumbot.com: issue 23, and a page about the API.
        ("r200c/cr400f", 0, ("Kd2h", "Kh7h"), "Th9s4s", (-200, -600)),
        ("r200c/cc/cc/cc", 0, ("Ac5d", "Ad6h"), "Qs4s3hTh8c", (-200, -400)),
    ],
)
def test_ends_of_hands_are_slumbots(betting, client, holes, board, expected):
    deal = Deal(tuple(map(parse_cards, holes)), parse_cards(board))
    state = HandState.start(GAME, deal)
    for action in itertools.chain(*parse_betting(GAME, betting).history):
        state = state.apply(action)
    fields = end_fields(state, client)
    assert (fields["winnings"], fields["won_pot"]) == expected
    assert "".join(fields["bot_hole_cards"]) == holes[1 - client]
    assert "".join(hand_fields(state, client, "")["board"]) == board


@pytest.mark.parametrize(
    "name", ["holdem-limit", "leduc", "kuhn", "discard-holdem", "preflop-holdem"]
)
def test_other_games_are_refused(name):
    with pytest.raises(InvalidValueError, match=f"{name} is not no-limit hold'em of two equal"):
        check_rules(get_game(name))


# --- sessions -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "two", "rules", "hands"),
    [
        ("uniform", "uniform", GAME, 1000),
        ("uniform", "uniform", SHORT, 500),
        ("always-raise", "mix:0.2,0.5,0.3", GAME, 300),
        ("always-shove", "always-call", GAME, 200),
    ],
)
def test_a_match_over_the_api_is_the_match_in_process(one, two, rules, hands):
    seed = 6
    players = make_player(one, rules), make_player(two, rules)
    players[0].name, players[1].name = CLIENT, "bot"
    inside = play_match(rules, players, hands, seed=seed, keep_log=True)
    server = served(two, rules, seed=seed, has_baseline=False)
    match = challenge(server, one, hands, player_seed(seed, 0, 0), rules)
    assert match.results.chips == inside.chips[0].tolist() == list(server.chips)
    assert match.results.session == (hands, sum(server.chips))
    assert match.results.num_lost == 0


def test_hidden_cards_are_in_no_answer_before_the_end():
    server, seed = served("uniform", seed=3), 3
    match = challenge(server, "uniform", 150)
    deals, number, early = Dealer(GAME, seed), 0, 0
    deal = next(deals)
    for answer in match.server.answers:
        client = answer["client_pos"]
        assert client == number % 2
        known = {card_name(card) for card in deal.holes[client]} | set(answer["board"])
        hidden = {card_name(c) for c in (*deal.holes[1 - client], *deal.board)} - known
        said = set(re.findall(r"\b[2-9TJQKA][cdhs]\b", str(answer)))
        if "winnings" in answer:
            assert said - known == {card_name(card) for card in deal.holes[1 - client]}
            number, deal = number + 1, next(deals)
        else:
            early += 1
            assert not said & hidden
            assert "bot_hole_cards" not in answer
            assert len(answer["board"]) == (0, 3, 4, 5)[answer["action"].count("/")]
    assert number == 150
    assert early > 150


def test_illegal_actions_change_nothing_and_say_what_is_legal():
    server = served("always-call", seed=0)
    hand = server.answer("/api/new_hand", {})
    token = hand["token"]
    for word in (
        "",
        "c",
        "f",
        "b99",
        "b20001",
        "b300f",
        "kk",
        "/",
        "0k",
        "b1e3",
        "call",
        "x" * 900,
    ):
        refused = server.answer("/api/act", {"token": token, "incr": word})
        assert list(refused) == ["error_msg"], word
        assert "legal are k, b200 to b20000" in refused["error_msg"]
        assert len(refused["error_msg"]) < 200
    again = server.answer("/api/new_hand", {"token": token})
    assert again == hand
    assert server.answer("/api/act", {"token": token, "incr": "k"})["action"] == "ck/"


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("/api/act", {}, "there is no token"),
        ("/api/act", {"token": 5, "incr": "k"}, "token is 5, not a text"),
        ("/api/act", {"token": "x", "incr": "k"}, "the token 'x' is not of a session here"),
        ("/api/act", {"token": "x" * 4000, "incr": "k"}, "is not of a session here"),
        ("/api/new_hand", {"token": "x"}, "is not of a session here; ask for /api/new_hand with"),
        ("/api/new_hand", {"token": True}, "token is True, not a text"),
        ("/api/new_hand", {"token": ["x"] * 500}, "not a text"),
    ],
)
def test_requests_without_a_session_are_refused_in_a_sentence(path, body, words):
    server = served()
    refused = server.answer(path, body)
    assert words in refused["error_msg"]
    assert len(refused["error_msg"]) < 200
    assert server.num_sessions == 0


def test_acting_out_of_turn_is_refused_and_the_session_goes_on():
    server = served("always-fold", seed=0)
    hand = server.answer("/api/new_hand", {})  # the bot folds its small blind at once
    assert (hand["winnings"], hand["action"]) == (50, "f")
    token = hand["token"]
    for body in ({"token": token, "incr": "k"}, {"token": token, "incr": "b300"}):
        assert "no hand is in play" in server.answer("/api/act", body)["error_msg"]
    assert "there is no incr" in server.answer("/api/act", {"token": token})["error_msg"]
    assert server.answer("/api/new_hand", {"token": token})["action"] == ""


def test_other_paths_are_not_found():
    with pytest.raises(RequestError, match="'/api/login' is not here") as error:
        served().answer("/api/login", {})
    assert error.value.status == 404


def test_sessions_are_bounded_and_old_ones_make_room():
    server = served(most_sessions=2, idle=1000.0)
    tokens = [server.answer("/api/new_hand", {})["token"] for _ in range(2)]
    with pytest.raises(RequestError, match="2 sessions, the most") as error:
        server.answer("/api/new_hand", {})
    assert error.value.status == 503
    server._sessions[tokens[0]].used_at -= 2000
    third = server.answer("/api/new_hand", {})["token"]
    assert "not of a session" in server.answer("/api/new_hand", {"token": tokens[0]})["error_msg"]
    assert "error_msg" not in server.answer("/api/new_hand", {"token": tokens[1]})
    assert len({*tokens, third}) == 3


def test_sessions_have_secret_cards_of_their_own():
    server = served("always-call")
    cards = [tuple(server.answer("/api/new_hand", {})["hole_cards"]) for _ in range(6)]
    assert len(set(cards)) > 1


def test_a_player_that_fails_leaves_the_hand_as_it_was():
    class Failing(Uniform):
        fails = False

        def act(self, view):
            if Failing.fails:
                raise RuntimeError("no idea")
            return Mix(0, 1, 0).act(view)

    server = SlumbotServer(ServedBot(GAME, Failing, seed=0, has_baseline=False))
    token = server.answer("/api/new_hand", {})["token"]
    Failing.fails = True
    with pytest.raises(RuntimeError):
        server.answer("/api/act", {"token": token, "incr": "b300"})
    Failing.fails = False
    assert server.answer("/api/new_hand", {"token": token})["action"] == "c"
    assert server.answer("/api/act", {"token": token, "incr": "b300"})["action"] == "cb300c/"


def test_the_baseline_is_what_the_bot_wins_in_the_clients_place():
    # always-call against itself shows down every hand for one big blind.
    server = served("always-call", seed=9)
    match = challenge(server, "always-raise", 200)
    plain = play_match(GAME, (Mix(0, 1, 0), Mix(0, 1, 0)), 200, seed=9).chips[0]
    assert match.results.baselines == plain.tolist()
    assert set(plain.tolist()) <= {-100, 0, 100}
    differences = match.results.differences
    assert sum(differences) == sum(match.results.chips) - plain.sum()


def test_baselines_of_both_seats_cancel():
    server = served("mix:0.1,0.6,0.3", seed=9)
    match = challenge(server, "mix:0.1,0.6,0.3", 300)
    plain, less = match.results.chips, match.results.differences
    assert len(less) == 300
    assert abs(sum(match.results.baselines)) < 4 * 300**0.5 * pstdev(plain)


def test_each_session_has_a_log_that_its_seed_deals(tmp_path):
    server = served("uniform", logs=tmp_path)
    results = [challenge(server, "uniform", hands, seed=hands).results for hands in (20, 30)]
    server.close()
    logs = sorted(tmp_path.iterdir())
    assert [path.name for path in logs] == ["000001.log", "000002.log"]
    for path, found in zip(logs, results, strict=True):
        log = read_log(GAME, path)
        replay(log)
        assert log.score[log.seats.index(CLIENT)] == sum(found.chips)
        assert path.stat().st_mode & 0o777 == 0o600


# --- the client -----------------------------------------------------------------------------------


class Flaky(Direct):
    """A connection that loses some requests, and some answers after the server has acted."""

    def __init__(self, server, rng):
        super().__init__(server)
        self.rng, self.has_begun = rng, False

    def post(self, path, body):
        chance = self.rng.random() if self.has_begun else 1.0
        if chance < 0.05:
            raise LostConnectionError("the request is lost")
        answer = super().post(path, body)
        self.has_begun = True
        if chance < 0.1:
            raise LostConnectionError("the answer is lost")
        return answer


@pytest.mark.parametrize("has_log", [True, False])
def test_lost_connections_lose_no_result(tmp_path, monkeypatch, has_log):
    monkeypatch.setattr("equilibrist.play.slumbot_client._PAUSE", 0.0)
    server, player = served("uniform", seed=5), make_player("uniform", GAME)
    player.reset(3)
    log = ApiLog.create(tmp_path / "m.log", GAME, "uniform", 300, "x") if has_log else None
    match = ApiMatch(GAME, player, Flaky(server, random.Random(2)), 300, log)
    found = match.play()
    assert found.num_lost > 5  # hands that ended with a lost answer
    assert len(found.chips) in (300, 301)  # the last of them may be seen late
    assert round(sum(found.chips)) == sum(list(server.chips)[: len(found.chips)])
    if has_log:
        log.close()
        again = read_log(GAME, tmp_path / "m.log")
        assert len(again.hands) == len(found.chips) - found.num_lost


class Killed(BaseException):
    pass


class Mortal(Uniform):
    """A player that is killed at some of its decisions."""

    def __init__(self, rng):
        self.rng = rng
        super().__init__()

    def act(self, view):
        if self.rng.random() < 0.02:
            raise Killed
        return super().act(view)


def test_a_killed_client_continues_with_the_same_totals(tmp_path):
    path, server, rng = tmp_path / "m.log", served("uniform", seed=5), random.Random(1)
    log = ApiLog.create(path, GAME, "uniform", 200, Direct.address)
    kills = 0
    while True:
        player = Mortal(rng)
        player.reset(rng.randrange(2**32))
        try:
            found = ApiMatch(GAME, player, Direct(server), 200, log).play()
            break
        except Killed:
            kills += 1
            if kills % 2:  # a crash of the machine may leave half a line
                path.write_text(path.read_text() + "STATE:9:cc/c")
            log = ApiLog.resume(path, GAME, "uniform", Direct.address)
    assert kills > 3
    assert found.chips == list(server.chips)
    assert found.num_lost == 0
    assert len(found.baselines) == 200
    assert server.num_sessions == 1
    whole = read_log(GAME, path)
    assert whole.is_finished
    assert whole.score[whole.seats.index("uniform")] == sum(server.chips)
    with pytest.raises(InvalidValueError, match="has all its 200 hands"):
        ApiLog.resume(path, GAME, "uniform", Direct.address)


def test_a_hand_that_ended_between_kill_and_resume_counts(tmp_path):
    path, server = tmp_path / "m.log", served("always-call", seed=5)
    log = ApiLog.create(path, GAME, "uniform", 4, Direct.address)

    class Fatal(Direct):
        def post(self, path, body):
            answer = super().post(path, body)
            if "winnings" in answer and len(self.server.chips) == 2:
                raise Killed
            return answer

    with pytest.raises(Killed):
        ApiMatch(GAME, make_player("uniform", GAME), Fatal(server), 4, log).play()
    assert len(server.chips) == 2
    log = ApiLog.resume(path, GAME, "uniform", Direct.address)
    assert log.results.num_hands == 1
    found = ApiMatch(GAME, make_player("uniform", GAME), Direct(server), 4, log).play()
    assert found.chips == list(server.chips)
    assert found.num_lost == 1
    assert "# lost hands 1: " in path.read_text()
    assert "SCORE" not in path.read_text()


def test_a_server_that_forgot_the_session_gets_a_new_one(tmp_path):
    path = tmp_path / "m.log"
    log = ApiLog.create(path, GAME, "uniform", 10, Direct.address)
    first, said = served("always-call", seed=5), []
    match = ApiMatch(GAME, make_player("uniform", GAME), Direct(first), 10, log, said.append)
    match.should_stop = lambda: match.results.num_hands == 4
    match.play()
    log.close()
    log = ApiLog.resume(path, GAME, "uniform", Direct.address)
    second = served("always-call", seed=6)
    found = ApiMatch(
        GAME, make_player("uniform", GAME), Direct(second), 10, log, said.append
    ).play()
    assert found.chips == [*first.chips, *second.chips]
    assert len(said) == 1
    assert "a new session begins" in said[0]


def test_logs_of_other_matches_are_not_continued(tmp_path):
    path = tmp_path / "m.log"
    log = ApiLog.create(path, GAME, "uniform", 10, "http://a")
    log.close()
    assert ApiLog.resume(path, GAME, "uniform", "http://a").hands == 10
    for arguments, words in [
        ((GAME, "always-call", "http://a"), "not of 'always-call.opponent holdem-nolimit.game'"),
        ((SHORT, "uniform", "http://a"), "not of 'uniform.opponent holdem-nolimit-100.game'"),
        ((GAME, "uniform", "http://b"), "is of 'http://a', not of 'http://b'"),
    ]:
        with pytest.raises(RecordError, match=re.escape(words)):
            ApiLog.resume(path, *arguments)
    path.write_text("# name/game/hands/seed a.b kuhn.game 3 7\nSTATE:0:cc:Ks|Qs:1|-1:a|b\n")
    with pytest.raises(RecordError, match="is not the log of a match over Slumbot's API"):
        ApiLog.resume(path, GAME, "uniform", "http://a")
    with pytest.raises(RecordError, match="No such file"):
        ApiLog.resume(tmp_path / "none", GAME, "uniform", "http://a")


class Scripted:
    """A server that sends given answers."""

    address = "http://scripted"

    def __init__(self, *answers):
        self.answers = list(answers)

    def post(self, path, body):
        return self.answers.pop(0)


HAND = {"token": "t", "client_pos": 0, "hole_cards": ["5d", "5c"], "board": [], "action": "b200"}
FOLDED = HAND | {"action": "b200f", "winnings": -100, "bot_hole_cards": ["9h", "Qd"]}


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ([{}], "there is no action|there is no hole_cards"),
        ([HAND | {"client_pos": 2}], "client_pos is 2, not 0 or 1"),
        ([HAND | {"client_pos": "0"}], "client_pos is '0', not a whole number"),
        ([HAND | {"hole_cards": "5d5c"}], "hole_cards is '5d5c', not a list"),
        ([HAND | {"hole_cards": ["5d", "5d"]}], "5d"),
        ([HAND | {"hole_cards": ["5d"]}], "1 cards, not 2|hole cards do not fit"),
        ([HAND | {"hole_cards": ["5d", "Xx"]}], "Xx"),
        ([HAND | {"hole_cards": [["5d"], "5c"]}], "not a list of cards"),
        ([HAND | {"board": ["2c", "2d", "2h"]}], "3 board and 2 hole cards do not fit"),
        ([HAND | {"action": "b20001"}], "'b20001' is not legal"),
        ([HAND | {"action": 7}], "action is 7, not a text"),
        ([HAND | {"action": ""}], "it is not this client's turn"),
        ([HAND | {"game": "holdem-nolimit-100"}], "the server plays 'holdem-nolimit-100'"),
        ([HAND | {"token": "x" * 300}], "its token is"),
        ([HAND | {"token": "x\ny"}], "its token is"),
        ([HAND | {"winnings": 5}], "has winnings after 'b200'"),
        ([HAND, HAND], "after 'b200f' it continues another hand"),
        ([HAND, FOLDED | {"hole_cards": ["5d", "6c"]}], "it continues another hand"),
        ([HAND, FOLDED | {"client_pos": 1}], "it continues another hand"),
        ([HAND, FOLDED | {"winnings": -200}], "it says -200 chips were won, but by the rules -100"),
        ([HAND, FOLDED | {"winnings": "-100"}], "it says '-100' chips"),
        ([HAND, {**FOLDED, "winnings": None}], "has no winnings after 'b200f'"),
        ([HAND, FOLDED | {"bot_hole_cards": ["5d", "Qd"]}], "5d"),
        ([{"error_msg": "go away"}], "http://scripted refuses: go away"),
        ([{"error_msg": {"a": [1]}}], "refuses: {'a': "),
    ],
)
def test_a_server_that_breaks_the_rules_ends_the_match_with_a_sentence(answers, words):
    with pytest.raises(NetworkError, match=words) as error:
        ApiMatch(GAME, make_player("always-fold", GAME), Scripted(*answers), 1).play()
    assert len(str(error.value)) < 400


def test_a_whole_hand_of_a_server_without_totals():
    match = ApiMatch(GAME, make_player("always-fold", GAME), Scripted(HAND, FOLDED), 1)
    assert match.play().chips == [-100]
    assert match.results.session is None
    assert match.results.differences is None


def test_a_missing_position_is_the_big_blind_and_a_token_may_change():
    first = {name: value for name, value in HAND.items() if name != "client_pos"}
    assert Reply.of(GAME, first).player == 0
    last = FOLDED | {"token": "u", "session_num_hands": 1, "session_total": -100}
    player = make_player("always-fold", GAME)
    later = [
        HAND | {"token": "u"},
        last | {"session_num_hands": 2, "session_total": -200},
    ]
    match = ApiMatch(GAME, player, Scripted(HAND, last, *later), 2)
    found = match.play()
    assert (found.chips, found.token, found.num_lost) == ([-100, -100], "u", 0)
    assert OPPONENT == "opponent"
