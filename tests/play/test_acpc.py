"""The meaning of lines of the ACPC protocol, without a network."""

import itertools
import random
import time
from pathlib import Path

import pytest

from equilibrist.errors import EquilibristError, NetworkError
from equilibrist.games.action import (
    CALL,
    FOLD,
    KEEP,
    RAISE,
    Action,
    action_name,
    parse_action,
    raise_to,
)
from equilibrist.games.catalog import get_game
from equilibrist.games.dealing import Dealer
from equilibrist.games.notation import parse_state, state_line
from equilibrist.games.state import HandState
from equilibrist.play.acpc import check_version, play_over, read_answer, view_of
from equilibrist.play.pokerbots_client import play_pokerbots
from equilibrist.players.player import View
from equilibrist.players.static import Uniform

LIMIT, NOLIMIT = get_game("holdem-limit"), get_game("holdem-nolimit")
SWAPS = get_game("discard-holdem")

# The examples of the specification of protocol 2.0.0: S-> from the dealer, <-C from the client.
TRANSCRIPTS = Path(__file__).parent / "transcripts"


def transcript(name):
    """Return the speaker and the text of every line."""
    lines = (TRANSCRIPTS / f"{name}.txt").read_text().splitlines()
    return [(line[:3], line[4:]) for line in lines]


def played(game, seed, texts=()):
    state = HandState.start(game, next(Dealer(game, seed)))
    for action in texts:
        state = state.apply(action)
    return state


def answer(state, action):
    return read_answer(state, state_line(state, state.actor) + action)


@pytest.mark.parametrize(("name", "game"), [("limit", LIMIT), ("nolimit", NOLIMIT)])
def test_transcripts_of_the_specification_are_read_and_written_the_same(name, game):
    sent = None
    for speaker, line in transcript(name):
        if speaker == "S->":
            view = view_of(game, line)
            assert str(view) == line
            assert state_line(*parse_state(game, line + "\r\n")) == line
            if sent is not None and sent.state.hand_number == view.state.hand_number:
                # One action apart: the state before is what the rules make of it.
                (action,) = list(itertools.chain(*view.betting.history))[sent.betting.num_actions :]
                assert sent.betting.apply(action) == view.betting
            sent = view
        else:
            action, warning = read_answer(sent.state, line)
            assert warning == ""
            assert line == f"{sent}:{action_name(action)}"


@pytest.mark.parametrize(("name", "game"), [("limit", LIMIT), ("nolimit", NOLIMIT)])
def test_a_client_says_what_the_transcripts_say(name, game):
    lines = transcript(name)
    asked = [line for speaker, line in lines if speaker == "<-C"]

    class Script(Uniform):
        name = "script"

        def act(self, view):
            return parse_action(asked[len(said) - 1].rpartition(":")[2])

    class Recording:
        """A wire whose dealer sends the transcript, whatever it receives."""

        dealer = iter([line for speaker, line in lines if speaker == "S->"])

        def receive(self, seconds):
            return next(self.dealer, None)

        def send(self, line, seconds):
            said.append(line)

    said = []
    match = play_over(game, Recording(), Script())
    assert said == ["VERSION:2.0.0", *asked]
    # Limit: lost to a pair of eights, 30 + 10 + 20 + 20 chips; folded after 40; after 20.
    # No-limit: trip eights hold up; a straight to the king beats two pair.
    assert not match.is_cut_off
    assert match.chips == {"limit": [-80, -40, -20], "nolimit": [1250, 20000]}[name]


class Commenting:
    """A wire whose dealer sends nothing but comments, one in a tenth of a second."""

    def __init__(self):
        self.waited = 0.0

    def receive(self, seconds):
        if seconds <= 0 or self.waited > 5:
            raise NetworkError("says nothing")
        time.sleep(0.1)
        self.waited += 0.1
        return "# the other player is late"

    def send(self, line, seconds):
        pass


@pytest.mark.parametrize(("play", "game"), [(play_over, LIMIT), (play_pokerbots, SWAPS)])
def test_comments_do_not_make_a_client_wait_longer(play, game):
    dealer = Commenting()
    with pytest.raises(NetworkError, match="nothing but comments such as '# the other player") as e:
        play(game, dealer, Uniform(), 0.35)
    assert "perhaps the other player is missing" in str(e.value)
    assert dealer.waited < 1


def test_the_deal_of_seed_0_is_the_published_one():
    # The dealer's own log for seed 0: hand 0 is 5d5c|9hQd/8dAs8s/4h/6d.
    state = played(LIMIT, 0)
    assert state_line(state, 0) == "MATCHSTATE:0:0::5d5c|"
    assert state_line(state, 1) == "MATCHSTATE:1:0::|9hQd"


def test_versions():
    check_version("VERSION:2.0.0")
    check_version("VERSION:2.0.7 and more")
    for line in ("VERSION:1.0.0", "VERSION:2.1.0", "version:2.0.0", "", "MATCHSTATE:0:0::5d5c|"):
        with pytest.raises(NetworkError, match=r"this dealer speaks VERSION:2\.0\.0"):
            check_version(line)


@pytest.mark.parametrize(
    ("said", "action"),
    [
        (":f", FOLD),
        (":c", CALL),
        (":r", RAISE),
        (":r200", RAISE),  # the size of a limit raise does not matter
        (":c and more", CALL),
        ("", CALL),  # an action that is missing or cannot be read is a call
        (":", CALL),
        (":x", CALL),
        (":F", FOLD),
        (":C", CALL),
        (":K", CALL),
        (":b", RAISE),
        (":R", RAISE),
        (": f", CALL),
        ("f", CALL),
        (":k", CALL),
    ],
)
def test_limit_actions_as_the_reference_dealer_takes_them(said, action):
    assert answer(played(LIMIT, 0), said).action == action


@pytest.mark.parametrize(
    ("before", "said", "action"),
    [
        ([], ":r300", raise_to(300)),
        ([], ":r150", raise_to(200)),  # sizes are moved to the nearest legal one
        ([], ":r-5", raise_to(200)),
        ([], ":r99999", raise_to(20000)),
        ([], ":r" + "9" * 4000, raise_to(20000)),
        ([], ":r" + "9" * 9000, raise_to(20000)),  # more digits than Python reads
        ([], ":r-" + "9" * 9000, raise_to(200)),
        ([], ":r+" + "0" * 9000 + "300", raise_to(300)),
        ([], ":R300", raise_to(300)),
        ([], ":b300", raise_to(300)),
        ([], ":B99999", raise_to(20000)),
        ([], ":r 300x", raise_to(300)),
        ([raise_to(300)], ":r499", raise_to(500)),
        ([raise_to(19950)], ":r19960", raise_to(20000)),  # the least raise is above the stack
        ([], ":r", CALL),  # a no-limit raise without a size cannot be read
        ([CALL], ":f", CALL),  # a fold that saves nothing
        ([raise_to(20000)], ":r20000", CALL),  # nobody is left to raise
        ([raise_to(20000)], ":f", FOLD),
    ],
)
def test_nolimit_actions_as_the_reference_dealer_takes_them(before, said, action):
    assert answer(played(NOLIMIT, 0, before), said).action == action


def test_a_limit_raise_at_the_cap_is_a_call():
    state = played(LIMIT, 0, [RAISE, RAISE, RAISE])
    assert answer(state, ":r") == (CALL, "':r' is illegal, changed to c")


def test_in_a_discard_turn_keeping_takes_the_place_of_calling():
    state = played(SWAPS, 0, [CALL, CALL])
    mine = state_line(state, 0).split(":")[4][:2]
    assert answer(state, f":d{mine}").action.kind == "d"
    for said in (":c", ":r10", ":dXx", ":d2c", ":", ":d"):
        if said != f":d{mine}":
            assert answer(state, said).action == KEEP


@pytest.mark.parametrize(
    "line",
    [
        "MATCHSTATE:0:0::5d5c|:c",  # the other's view
        "MATCHSTATE:1:1::|9hQd:c",  # another hand
        "MATCHSTATE:1:0:c:|9hQd:c",  # another state
        "MATCHSTATE:1:0::|Qd9h:c",
        " MATCHSTATE:1:0::|9hQd:c",
        "matchstate:1:0::|9hQd:c",
        "nonsense",
        "",
    ],
)
def test_lines_that_do_not_answer_the_state_are_ignored_with_a_warning(line):
    action, warning = read_answer(played(LIMIT, 0), line)
    assert action is None
    assert "ignored" in warning


def test_comments_are_ignored_without_a_warning():
    for line in ("# hello", ";", "#MATCHSTATE:1:0::|9hQd:c"):
        assert read_answer(played(LIMIT, 0), line) == (None, "")


# --- fuzzing --------------------------------------------------------------------------------------

ALPHABET = "MATCHSTATE:0123456789fcrkd/|#;~ 5d5c9hQdAs\x00é\t-+"


def mutated(rng, line):
    """Return a line with some characters changed, removed, inserted, truncated or doubled."""
    for _ in range(rng.randrange(4)):
        at = rng.randrange(len(line) + 1)
        kind = rng.randrange(5)
        if kind == 0:
            line = line[:at] + rng.choice(ALPHABET) + line[at:]
        elif kind == 1:
            line = line[:at] + line[at + 1 :]
        elif kind == 2:
            line = line[:at] + rng.choice(ALPHABET) + line[at + 1 :]
        elif kind == 3:
            line = line[:at]
        else:
            line = line + line[at:]
    return line


def said_lines(rng, game, count):
    """Yield random states of random hands, each with a possible line of a client."""
    endings = [":f", ":c", ":r", ":r250", ":r20000", ":k", ":d5d", "", ":", ":r0", ":rr", ":-1"]
    player = Uniform()
    player.reset(rng.randrange(2**32))
    hands = Dealer(game, rng.randrange(2**32))
    lines = ["nonsense"]
    while True:
        state = HandState.start(game, next(hands), rng.randrange(3))
        while (actor := state.actor) is not None:
            lines = lines[-9:] + [state_line(state, viewer) for viewer in (0, 1)]
            for _ in range(5):
                base = rng.choice([state_line(state, actor), rng.choice(lines)])
                yield state, mutated(rng, base + rng.choice(endings))
                count -= 1
                if not count:
                    return
            state = state.apply(player.act(View.of(state, actor)))


def fuzz(count, seed):
    rng = random.Random(seed)
    seen = dict.fromkeys(("ignored", "taken", "changed", "unreadable"), 0)
    for game in (LIMIT, NOLIMIT, SWAPS, get_game("leduc")):
        for state, line in said_lines(rng, game, count // 4):
            action, warning = read_answer(state, line)
            if action is None:
                seen["ignored"] += 1
            else:
                # Only the actor's own view of this very state lets anybody act, and legally.
                assert line.startswith(state_line(state, state.actor))
                assert state.can(action)
                seen["changed" if warning else "taken"] += 1
            try:
                view = view_of(game, line)
            except EquilibristError:
                seen["unreadable"] += 1
            else:
                assert str(view) == line
    return seen


def test_no_line_crashes_the_dealer_or_acts_out_of_turn():
    seen = fuzz(8000, seed=1)
    assert sum(seen.values()) >= 8000
    assert min(seen.values()) > 100


@pytest.mark.slow
def test_a_million_lines_crash_nothing():
    seen = fuzz(1_000_000, seed=2)
    assert min(seen.values()) > 10_000


def test_logs_of_the_suite_show_each_player_only_its_own_cards():
    # Every state on the way to a logged hand, as each player is sent it.
    for name, game in (("limit", LIMIT), ("nolimit", NOLIMIT)):
        log = (Path(__file__).parent.parent / "games" / "logs" / f"{name}.log").read_text()
        for line in log.splitlines():
            if not line.startswith("STATE"):
                continue
            _, number, _, cards, *_ = line.split(":")
            deal = parse_state(game, ":".join(line.split(":")[:4])).state
            state = HandState.start(game, deal.deal, int(number))
            holes = cards.split("/")[0].split("|")
            for action in itertools.chain(*deal.betting.history):
                assert [state_line(state, p).split(":")[4].split("/")[0] for p in (0, 1)] == [
                    f"{holes[0]}|",
                    f"|{holes[1]}",
                ]
                state = state.apply(Action(*action))
