"""Sessions that are saved action by action."""

import random

import pytest

from equilibrist.errors import IllegalActionError, RecordError, StorageError
from equilibrist.games.action import CALL, FOLD, KEEP
from equilibrist.games.catalog import get_game
from equilibrist.games.log_file import LogFile
from equilibrist.games.rules import parse_rules, rules_text
from equilibrist.play.session import Person, Session, decisions_in
from equilibrist.play.session_file import SavedSession, read_head
from equilibrist.players.catalog import make_player

GAMES = ("holdem-limit", "discard-holdem", "kuhn")


def random_action(rng, view):
    """A legal action of the person, small raises only."""
    legal = view.legal_actions()
    return rng.choice(legal.actions)


def begin(tmp_path, game="holdem-limit", player="uniform", seed=5):
    return SavedSession.start(tmp_path / "s.log", get_game(game), player, seed, make_player)


@pytest.mark.parametrize("game", GAMES)
def test_a_session_by_actions_deals_what_a_session_by_hands_deals(tmp_path, game):
    rng, saved = random.Random(1), begin(tmp_path, game, "always-call")
    while len(saved.session.hands) < 8:
        if saved.session.hand is None:
            saved.deal()
        else:
            saved.act(random_action(rng, saved.session.view))
    saved.close()
    rng = random.Random(1)
    whole = Session(get_game(game), make_player("always-call", get_game(game)), 5)
    for _ in range(8):
        whole.play(Person(lambda view: random_action(rng, view)))
    assert [str(hand.state) for hand in whole.hands] == [
        str(hand.state) for hand in saved.session.hands
    ]


@pytest.mark.parametrize("game", GAMES)
def test_a_session_is_resumed_after_every_action(tmp_path, game):
    rng, saved = random.Random(2), begin(tmp_path, game)
    for _ in range(60):
        if saved.session.hand is None:
            saved.deal()
        else:
            saved.act(random_action(rng, saved.session.view))
        saved.close()
        again = SavedSession.resume(saved.path, make_player)
        assert again.session.hand == saved.session.hand
        assert again.session.hands == saved.session.hands
        assert again.session.summary() == saved.session.summary()
        saved = again
    saved.close()
    assert len(saved.session.hands) > 5


def test_a_file_that_is_cut_anywhere_is_resumed_at_its_last_whole_line(tmp_path):
    saved = begin(tmp_path, "kuhn")
    while len(saved.session.hands) < 3:
        saved.deal() if saved.session.hand is None else saved.act(CALL)
    saved.deal()
    saved.close()
    data = saved.path.read_bytes()
    head = data.index(b"\n", data.index(b"# player")) + 1
    for end in range(head, len(data) + 1, 5):
        saved.path.write_bytes(data[:end])
        again = SavedSession.resume(saved.path, make_player)
        kept = data[: data.rfind(b"\n", 0, end) + 1]
        assert saved.path.read_bytes() == kept
        assert len(again.session.hands) == kept.count(b"\nSTATE:")
        again.deal() if again.session.hand is None else again.act(CALL)
        again.close()


def test_the_file_is_a_log_that_other_programs_read(tmp_path):
    saved = begin(tmp_path, "holdem-limit", "always-call")
    for _ in range(3):
        saved.deal()
        saved.act(FOLD if saved.session.view.betting.can_fold else CALL)
        while saved.session.hand is not None:
            saved.act(CALL)
    saved.deal()
    saved.close()
    file = LogFile(saved.path)
    assert [str(hand.state) for hand in file] == [str(hand.state) for hand in saved.session.hands]
    assert file.seed == 5
    assert read_head(saved.path) == ("holdem-limit", "always-call", 5)
    public = saved.public()
    assert public.header.seed is None
    assert len(public.hands) == 3


def test_illegal_actions_show_no_hidden_card_and_change_nothing(tmp_path):
    saved = begin(tmp_path, "holdem-limit", "always-call")
    with pytest.raises(IllegalActionError, match="no hand is in play"):
        saved.act(CALL)
    saved.deal()
    with pytest.raises(IllegalActionError, match="hand 1 is still in play"):
        saved.deal()
    before = saved.path.read_bytes()
    hidden = str(saved.session.hand).rpartition("|")[2]
    with pytest.raises(IllegalActionError) as caught:
        saved.act(KEEP)
    assert hidden not in str(caught.value)
    assert saved.path.read_bytes() == before
    saved.close()
    with pytest.raises(StorageError, match="is closed"):
        saved.act(CALL)


def test_wrong_files_are_refused(tmp_path):
    saved = begin(tmp_path, "kuhn")
    saved.deal()
    saved.close()
    text = saved.path.read_text()
    with pytest.raises(StorageError, match="exists"):
        begin(tmp_path, "kuhn")
    for wrong, words in (
        ("", "is not a session"),
        ("hello\nworld\n", "is not a session"),
        (text.replace("# player uniform\n", ""), "is not a session"),
        (text.replace(" 5\n", " 6\n"), "seed 6 deals"),
        (text.replace("STATE:0", "STATE:9"), None),
    ):
        saved.path.write_text(wrong)
        if words is None:
            SavedSession.resume(saved.path, make_player).close()  # not the next hand: ignored
            continue
        with pytest.raises(RecordError, match=words):
            SavedSession.resume(saved.path, make_player)
    with pytest.raises(RecordError, match="cannot read"):
        read_head(tmp_path / "nowhere")
    own = parse_rules(rules_text(get_game("leduc")).replace("2 4", "2 6"), "leduc")
    with pytest.raises(RecordError, match="not the catalogue's game"):
        SavedSession.start(tmp_path / "own.log", own, "uniform", 1, make_player)


def test_decisions_are_computed_again_from_the_record():
    rules = get_game("leduc")
    session = Session(rules, make_player("mix:0.1,0.6,0.3", rules), 3)
    for _ in range(20):
        record = session.play(Person(lambda view: CALL))
        assert decisions_in(record, session.player) == session.decisions
