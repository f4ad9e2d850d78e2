"""A session that is saved action by action, and resumed in the middle of a hand.

The file is an ACPC log that only grows, so that other programs can read it at any time:

    # name/game/hands/seed you.poki holdem-limit.game 0 302475…
    # player poki
    STATE:0:rc/cc/cc/cc:5d5c|9hQd/8dAs8s/4h/6d:10|-10:you|poki
    # in play STATE:1:r:8d2s|Ts4c

The second line is the text that makes the player. A hand in play is a comment, written again after
every action; only the last one counts, and only if its hand is not finished. The number of hands in
the header is 0, because it is not known. Every line is on disk before the session goes on: after a
crash the file ends with what the person has seen, or in the middle of a line, which is dropped. The
file contains the seed and hidden cards, so it must not be shown before the session ends; `public`
is what may be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

from equilibrist.errors import RecordError
from equilibrist.games.action import Action
from equilibrist.games.catalog import get_game
from equilibrist.games.files import file_errors
from equilibrist.games.match_log import HEADER_KEY, LogReader, MatchHeader, MatchLog, parse_header
from equilibrist.games.notation import parse_state
from equilibrist.games.records import log_line
from equilibrist.games.rules import GameRules
from equilibrist.play.session import YOU, Session, replayed
from equilibrist.players.player import Player
from equilibrist.storage.growing_file import GrowingFile

MakePlayer: TypeAlias = Callable[[str, GameRules], Player]

_PLAYER = "# player "
_IN_PLAY = "# in play "
_LONGEST_HEAD = 4096  # bytes of the first two lines


class SessionHead(NamedTuple):
    """What the first lines of a file say about its session."""

    game: str
    player: str  # the text that makes the player
    seed: int


def read_head(path: Path) -> SessionHead:
    """Read the first two lines of a file; raise `RecordError` if they are not of a session."""
    with file_errors("read", path, RecordError), open(path, "rb") as file:
        lines = file.read(_LONGEST_HEAD).decode(errors="replace").split("\n")
    first, second = lines[0], lines[1] if len(lines) > 2 else ""
    if not first.startswith(HEADER_KEY) or not second.startswith(_PLAYER):
        raise RecordError(f"{path} is not a session that was saved by actions", value=str(path))
    header = parse_header(first)
    if header.seed is None:
        raise RecordError(f"{path} does not contain its seed", value=str(path))
    return SessionHead(header.game.removesuffix(".game"), second.removeprefix(_PLAYER), header.seed)


class SavedSession:
    """A session with its file; every action is on disk when the method that takes it returns.

    `start` begins a session, `resume` continues one; `close` closes the file.

    Example:
        >>> import tempfile
        >>> from equilibrist.games.action import CALL
        >>> from equilibrist.players.catalog import make_player
        >>> folder = tempfile.TemporaryDirectory()
        >>> path, kuhn = Path(folder.name, "evening.log"), get_game("kuhn")
        >>> saved = SavedSession.start(path, kuhn, "always-raise", 3, make_player)
        >>> saved.deal()
        >>> saved.close()  # you act first in the first hand, and leave
        >>> again = SavedSession.resume(path, make_player)
        >>> again.act(CALL)  # check; the player bets
        >>> again.act(CALL)
        >>> again.session.chips
        [2]
        >>> again.close()
        >>> folder.cleanup()
    """

    def __init__(self, path: Path, session: Session, text: str, file: GrowingFile) -> None:
        self.path, self.session, self.text, self._file = path, session, text, file

    @classmethod
    def start(
        cls, path: Path, rules: GameRules, text: str, seed: int, make: MakePlayer
    ) -> SavedSession:
        """Begin a session in a new file; `text` makes the player, `seed` the deals.

        The game must be of the catalogue, because the file has only its name.
        """
        if get_game(rules.name) != rules:
            raise RecordError(f"{rules.name} is not the catalogue's game", value=rules.name)
        if not text.isprintable():
            raise RecordError(f"{text[:40]!r} does not make a player", value=text)
        session = Session(rules, make(text, rules), seed)
        header = MatchHeader.of(rules, (YOU, session.player.name), 0, seed)
        file = GrowingFile.create(path)
        file.append(str(header), _PLAYER + text)
        return cls(path, session, text, file)

    @classmethod
    def resume(cls, path: Path, make: MakePlayer) -> SavedSession:
        """Continue the session of a file, in the middle of a hand if it was left there."""
        head = read_head(path)
        rules = get_game(head.game)
        file = GrowingFile.open(path)
        with file_errors("read", path, RecordError):
            lines = path.read_text(encoding="utf-8").splitlines()
        hands = []
        if any(line.startswith("STATE:") for line in lines):
            hands = list(LogReader(rules, lines))
        session = replayed(rules, make(head.player, rules), hands, head.seed)
        begun = [line for line in lines if line.startswith(_IN_PLAY)]
        if begun:
            state = parse_state(rules, begun[-1].removeprefix(_IN_PLAY)).state
            if state.hand_number == len(hands):
                session.resume_hand(state)
        return cls(path, session, head.player, file)

    def deal(self) -> None:
        """Deal the next hand, and save it."""
        self.session.deal()
        self._save()

    def act(self, action: Action) -> None:
        """Take an action of the person, let the player act, and save both."""
        self.session.act(action)
        self._save()

    def public(self) -> MatchLog:
        """Return the finished hands as a log without the seed, which would show future cards."""
        log = self.session.log()
        assert log.header is not None
        return replace(log, header=log.header._replace(seed=None))

    def close(self) -> None:
        """Close the file; the session can be resumed from it."""
        self._file.close()

    def _save(self) -> None:
        hand = self.session.hand
        done = log_line(self.session.hands[-1]) if hand is None else f"{_IN_PLAY}{hand}"
        self._file.append(done)
