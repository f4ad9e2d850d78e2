"""A server of Slumbot's API: a player waits for programs that challenge it over HTTP.

Every client has a session of its own: a token, a player that remembers only this session, and
secret cards. The client is the big blind in the first hand, the dealer in the second, and so on, as
the first player of a match. Nothing about the bot's cards or the board to come is sent before the
end of a hand; at the end the bot shows its cards, as Slumbot does.

The same deal cannot be played twice against a client that remembers, so that matches are not
duplicate. Instead the bot plays each finished hand against itself, with the same cards and seats,
and the client learns what the bot won in its place: the *baseline*. It is 0 on average over both
seats, so subtracting it removes luck and changes no expected value.

A session that nobody has used for `idle` seconds ends when its place is needed. With a folder of
logs, each session is an ACPC log of its own, written hand by hand. It contains the seed: nobody may
read it before the session has ended.
"""

from __future__ import annotations

import time
import uuid
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from equilibrist.cards.numbers import shown, whole_number
from equilibrist.errors import RecordError, StorageError
from equilibrist.games.dealing import MOST_ACPC_SEED, Dealer, secret_seed
from equilibrist.games.match_log import MatchHeader
from equilibrist.games.records import HandRecord, log_line
from equilibrist.games.rules import GameRules
from equilibrist.games.state import MAX_HAND_NUMBER, Deal, HandState
from equilibrist.play import slumbot
from equilibrist.play.json_server import Json, RequestError
from equilibrist.play.match import player_seed
from equilibrist.play.table import play_hand, play_on
from equilibrist.players.player import Player, Result, View
from equilibrist.players.strategy_player import StrategyPlayer
from equilibrist.storage.growing_file import GrowingFile

MakePlayer: TypeAlias = Callable[[], Player]

CLIENT = "client"
_OURS = 1  # the bot's place in a match: the client is its first player


@dataclass(frozen=True)
class ServedBot:
    """The player of a server, and how its sessions are held."""

    rules: GameRules
    make: MakePlayer  # makes the player of a session
    seed: int | None = None  # of the deals of every session; None: a secret one for each
    has_baseline: bool = True  # whether the bot also plays every hand against itself
    most_sessions: int = 100
    idle: float = 3600.0  # seconds after which a session may end
    logs: Path | None = None  # folder of an ACPC log for each session

    def __post_init__(self) -> None:
        slumbot.check_rules(self.rules)
        whole_number(self.most_sessions, "the number of sessions", 1, 10**6)


def shared(make: MakePlayer) -> MakePlayer:
    """Return a maker whose players share one strategy in memory, where players can do that."""
    first = make()

    def twin() -> Player:
        return first.twin() if isinstance(first, StrategyPlayer) else make()

    return twin


class SlumbotServer:
    """Answers the requests of all clients, one after another; see `json_server.JsonServer`.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.players.static import Mix
        >>> bot = ServedBot(get_game("holdem-nolimit"), lambda: Mix(0, 1, 0), seed=0)
        >>> server = SlumbotServer(bot)
        >>> hand = server.answer("/api/new_hand", {})
        >>> hand["client_pos"], hand["hole_cards"], hand["action"]
        (0, ['5d', '5c'], 'c')
        >>> server.answer("/api/act", {"token": hand["token"], "incr": "b300"})["action"]
        'cb300c/'
    """

    def __init__(self, bot: ServedBot) -> None:
        self.bot = bot
        self.chips = array("q")  # won by the clients in each finished hand
        self.num_sessions = 0
        self._sessions: dict[str, _Session] = {}
        self._baseline = (bot.make(), bot.make()) if bot.has_baseline else None

    def answer(self, path: str, body: Json) -> Json:
        """Answer a request; raise `RequestError` for an unknown path.

        What a client may not do is an answer with `error_msg`.
        """
        if path not in (slumbot.NEW_HAND, slumbot.ACT):
            raise RequestError(
                404, f"{path[:40]!r} is not here; use {slumbot.NEW_HAND} or {slumbot.ACT}"
            )
        try:
            return self._new_hand(body) if path == slumbot.NEW_HAND else self._act(body)
        except RecordError as error:
            return {"error_msg": str(error)}

    def close(self) -> None:
        """Close the logs of all sessions."""
        for session in self._sessions.values():
            session.close()

    def _new_hand(self, body: Json) -> Json:
        session = self._begin() if body.get("token") is None else self._find(body)
        if session.hand is None:
            session.deal()
            self._end(session)
        return session.reply()

    def _act(self, body: Json) -> Json:
        session = self._find(body)
        text = slumbot.field(body, "incr", str)
        if session.hand is None:
            raise RecordError(
                f"no hand is in play; ask for {slumbot.NEW_HAND} first", value=text[:40]
            )
        session.act(text)
        self._end(session)
        return session.reply()

    def _find(self, body: Json) -> _Session:
        token = slumbot.field(body, "token", str)
        session = self._sessions.get(token)
        if session is None:
            raise RecordError(
                f"the token {shown(token[:40])} is not of a session here; "
                f"ask for {slumbot.NEW_HAND} without one",
                value=token,
            )
        session.used_at = time.monotonic()
        return session

    def _begin(self) -> _Session:
        """Begin a session; one that was not used for long makes room for it."""
        if len(self._sessions) >= self.bot.most_sessions:
            oldest = min(self._sessions.values(), key=lambda session: session.used_at)
            if time.monotonic() - oldest.used_at < self.bot.idle:
                raise RequestError(
                    503,
                    f"this server has {len(self._sessions)} sessions, the most it holds; "
                    "come back later",
                )
            oldest.close()
            del self._sessions[oldest.token]
        session = _Session(self.bot, self._log_path())
        self._sessions[session.token] = session
        self.num_sessions += 1
        return session

    def _end(self, session: _Session) -> None:
        """Add a finished hand to the totals, with what the bot wins in the client's place."""
        state = session.finished
        if state is None or session.hand is not None:
            return
        self.chips.append(session.winnings)
        if self._baseline is not None:
            session.baseline = self._baseline_of(session, state)
            session.baseline_total += session.baseline

    def _baseline_of(self, session: _Session, state: HandState) -> int:
        assert self._baseline is not None
        for place, player in enumerate(self._baseline):
            player.reset(player_seed(session.seed, 2 + state.hand_number, place))
        start = HandState.start(state.rules, state.deal, state.hand_number)
        return int(play_hand(start, self._baseline).payoffs[session.client])

    def _log_path(self) -> Path | None:
        """Return the name of the next log, with a number that is free."""
        if self.bot.logs is None:
            return None
        try:
            numbers = [int(p.stem) for p in self.bot.logs.glob("*.log") if p.stem.isdecimal()]
        except OSError as error:
            raise StorageError(f"cannot read {self.bot.logs}: {error.strerror}") from None
        return self.bot.logs / f"{max(numbers, default=0) + 1:06}.log"


@dataclass(eq=False)
class _Session:
    """The session of one client: its player, deals, hand in play and totals."""

    bot: ServedBot
    path: Path | None = None  # of its log
    token: str = field(default_factory=lambda: str(uuid.uuid4()))
    used_at: float = field(default_factory=time.monotonic)
    hand: HandState | None = None  # in play, with all its cards; None between hands
    finished: HandState | None = None  # the last finished hand
    num_hands: int = 0
    winnings: int = 0  # of the client in the last hand
    total: int = 0
    baseline: int = 0
    baseline_total: int = 0
    old_action: str = ""

    def __post_init__(self) -> None:
        given = self.bot.seed
        self.seed = secret_seed() if given is None else given
        self._player = self.bot.make()
        self._player.reset(
            secret_seed() if self.seed > MOST_ACPC_SEED else player_seed(self.seed, 0, _OURS)
        )
        self._dealer = Dealer(self.bot.rules, self.seed)
        self._upcoming: Deal | None = None  # dealt, but the player failed
        self._log: GrowingFile | None = None
        if self.path is not None:
            self._log = GrowingFile.create(self.path)
            names = (CLIENT, self._player.name)
            self._log.append(str(MatchHeader.of(self.bot.rules, names, 0, self.seed)))

    @property
    def client(self) -> int:
        """The client's player number in the current or last hand: 0 is the big blind."""
        return (self.num_hands - (self.hand is None)) % 2

    def deal(self) -> None:
        """Deal the next hand; the player acts until it is the client's turn, or to the end."""
        if self.num_hands > MAX_HAND_NUMBER:
            raise RecordError("this session has its most hands; begin another without the token")
        if self._upcoming is None:
            self._upcoming = next(self._dealer)
        state = HandState.start(self.bot.rules, self._upcoming, self.num_hands)
        self._go_on(state, "")
        self._upcoming = None

    def act(self, text: str) -> None:
        """Take an action of the client; raise `RecordError` if it is not legal."""
        assert self.hand is not None
        action = slumbot.parse_increment(self.hand.betting, text)
        self._go_on(self.hand.apply(action), slumbot.actions_text(self.hand.betting))

    def _go_on(self, state: HandState, old_action: str) -> None:
        """Let the player act where it can; then wait for the client, or end the hand.

        If the player fails, the hand stays as it was.
        """
        client = self.num_hands % 2
        order = (self._player, self._player)  # the client's place is never asked
        state = play_on(state, order, waits_for=client)
        self.old_action = old_action
        self.hand = state
        if state.is_over:
            self._end(state, client)

    def _end(self, state: HandState, client: int) -> None:
        names = [self._player.name] * 2
        names[client] = CLIENT
        record = HandRecord.of(state, names)
        if self._log is not None:
            self._log.append(log_line(record))
        won = int(record.payoffs[client])
        self._player.observe(Result(View.of(state, 1 - client), -won))
        self.hand, self.finished = None, state
        self.num_hands += 1
        self.winnings, self.total = won, self.total + won

    def reply(self) -> Json:
        """Return what the client may see."""
        state = self.finished if self.hand is None else self.hand
        assert state is not None
        fields = slumbot.hand_fields(state, self.client, self.old_action)
        data = {"token": self.token, "game": self.bot.rules.name} | fields
        if self.hand is not None:
            return data
        data |= slumbot.end_fields(state, self.client)
        data |= {"session_num_hands": self.num_hands, "session_total": self.total}
        if self.bot.has_baseline:
            data["baseline_winnings"] = self.baseline
            data["session_baseline_total"] = self.baseline_total
        return data

    def close(self) -> None:
        """Close the log."""
        if self._log is not None:
            self._log.close()
