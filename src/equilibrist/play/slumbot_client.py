"""A client of Slumbot's API: plays a match of one of our players against a server.

A server is believed only as far as it follows the rules: actions, cards and winnings of every
answer are checked. If an answer does not arrive, the client asks for a new hand with its token,
which sends a hand in play again (our server) or begins another one; hands that ended unseen are
counted by the server's session totals.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from equilibrist.cards.card import Cards, parse_card
from equilibrist.cards.numbers import shown
from equilibrist.errors import CardError, InvalidValueError, NetworkError, RecordError
from equilibrist.games.betting import Betting
from equilibrist.games.records import HandRecord
from equilibrist.games.rules import GameRules
from equilibrist.games.state import Deal, HandState
from equilibrist.play import slumbot
from equilibrist.play.json_client import JsonClient, LostConnectionError
from equilibrist.play.slumbot_log import OPPONENT, ApiLog, ApiResults, Session
from equilibrist.play.wire import ShouldStop, never_stop
from equilibrist.players.player import Player, Result, View

_RETRIES = 5  # times that a lost request is followed by another one
_LONGEST_TOKEN = 200  # characters
_PAUSE = 0.2  # seconds before the first of them; each later pause is twice as long


class Reply(NamedTuple):
    """An answer of a server: a hand as the client sees it."""

    token: str  # "" if there is none
    player: int  # the client's player number
    hole: Cards
    board: Cards
    betting: Betting
    data: dict[str, Any]

    @classmethod
    def of(cls, rules: GameRules, data: dict[str, Any]) -> Reply:
        """Read an answer; raise `RecordError` if it is not a hand of this game.

        Example:
            >>> from equilibrist.games.catalog import get_game
            >>> data = {"client_pos": 0, "hole_cards": ["5d", "5c"], "board": [], "action": "b200"}
            >>> Reply.of(get_game("holdem-nolimit"), data).betting.text
            'r200'
        """
        player = slumbot.field(data, "client_pos", int, 0)
        if player not in (0, 1):
            raise RecordError(f"client_pos is {shown(player)}, not 0 or 1", value=player)
        game = data.get("game")
        if game not in (None, rules.name):
            raise RecordError(f"the server plays {shown(game)}", value=game)
        return cls(
            slumbot.field(data, "token", str, ""),
            player,
            _cards(data, "hole_cards"),
            _cards(data, "board"),
            slumbot.parse_actions(rules, slumbot.field(data, "action", str)),
            data,
        )

    @property
    def is_over(self) -> bool:
        """Return whether the hand has ended: then the answer says what the client has won."""
        return self.data.get("winnings") is not None

    def state(self, number: int) -> HandState:
        """Return the hand; the bot's cards are known only at its end."""
        other = _cards(self.data, "bot_hole_cards") if self.data.get("bot_hole_cards") else ()
        holes = (self.hole, other) if self.player == 0 else (other, self.hole)
        deal = Deal(holes, self.board)
        deal.check(self.betting.rules)
        state = HandState(self.betting, deal, ((), ()), number)
        if len(state.board) != len(self.board) or len(self.hole) != 2:
            raise RecordError(
                f"{len(self.board)} board and {len(self.hole)} hole cards do not fit the actions",
                value=self.data.get("action"),
            )
        if self.is_over != state.is_over:
            ends = "has winnings" if self.is_over else "has no winnings"
            raise RecordError(f"the hand {ends} after {slumbot.actions_text(self.betting)!r}")
        return state


def _cards(data: dict[str, Any], name: str) -> Cards:
    words = slumbot.field(data, name, list)
    if len(words) > 5 or not all(isinstance(word, str) and len(word) == 2 for word in words):
        raise RecordError(f"{name} is {shown(words)}, not a list of cards", value=name)
    return tuple(map(parse_card, words))


@dataclass(eq=False)
class ApiMatch:
    """A match of a player against a server; `play` plays it to its end.

    With a `log`, every hand is saved when it ends, and the hands that it has already count.
    """

    rules: GameRules
    player: Player  # reset
    server: JsonClient
    hands: int
    log: ApiLog | None = None
    warn: Callable[[str], None] = lambda line: None
    should_stop: ShouldStop = never_stop
    results: ApiResults = field(default_factory=ApiResults)

    def __post_init__(self) -> None:
        slumbot.check_rules(self.rules)
        if self.log is not None:
            self.results = self.log.results

    def play(self, watch: Callable[[float], None] = lambda share: None) -> ApiResults:
        """Play the hands that are missing; raise `NetworkError` if the server ends the match."""
        while self.results.num_hands < self.hands and not self.should_stop():
            self._play_hand()
            watch(min(1.0, self.results.num_hands / self.hands))
        if self.log is not None and self.results.num_hands >= self.hands:
            self.log.finish()
        return self.results

    def _play_hand(self) -> None:
        reply = self._new_hand()
        number = self.results.next_number
        while not reply.is_over:
            state = self._state(reply, number)
            if state.actor != reply.player:
                raise self._error("it is not this client's turn", reply.data)
            action = self.player.act(View.of(state, reply.player))
            after = state.betting.apply(action)
            word = slumbot.increment(state.betting, action)
            try:
                answer = self._ask(slumbot.ACT, {"token": self.results.token, "incr": word})
            except LostConnectionError as error:
                answer = self._again(str(error))
                number += answer[1:3] != reply[1:3]  # that hand has ended unseen
            else:
                self._check_same_hand(reply, after, answer)
            reply = answer
        self._end(reply, number)

    def _new_hand(self) -> Reply:
        """Ask for a hand; begin a new session if the server does not know the old one."""
        token = self.results.token
        try:
            return self._ask(slumbot.NEW_HAND, {"token": token} if token else {})
        except _RefusedError as error:
            if not token:
                raise
            self.warn(f"{error}; a new session begins")
            return self._ask(slumbot.NEW_HAND, {})
        except LostConnectionError as error:
            if not token:
                raise
            return self._again(str(error))

    def _again(self, reason: str) -> Reply:
        """Ask for the hand again after an answer was lost, with pauses; raise the last error."""
        for retry in range(_RETRIES):
            self.warn(f"{reason}; asking again")
            time.sleep(_PAUSE * 2**retry)
            try:
                return self._ask(slumbot.NEW_HAND, {"token": self.results.token})
            except LostConnectionError as error:
                reason = str(error)
        raise NetworkError(f"{reason}, {_RETRIES} times in a row", value=self.server.address)

    def _ask(self, path: str, body: dict[str, Any]) -> Reply:
        data = self.server.post(path, body)
        if "error_msg" in data:
            said = data["error_msg"]
            said = said[:300] if isinstance(said, str) else shown(said)
            raise _RefusedError(f"{self.server.address} refuses: {said}", value=said)
        try:
            reply = Reply.of(self.rules, data)
        except (RecordError, CardError) as error:
            raise self._error(str(error), error.value) from None
        if reply.token and reply.token != self.results.token:
            self._take_token(reply.token, is_new="token" not in body)
        return reply

    def _take_token(self, token: str, *, is_new: bool) -> None:
        if not token.isprintable() or len(token) > _LONGEST_TOKEN:
            raise self._error(f"its token is {shown(token)}", token)
        if self.log is not None:
            self.log.take_token(token, is_new=is_new)
        else:
            self.results.take_token(token, is_new=is_new)

    def _check_same_hand(self, earlier: Reply, after: Betting, reply: Reply) -> None:
        """Raise `NetworkError` unless an answer continues the hand that was played."""
        sent = slumbot.actions_text(after).rstrip("/")
        is_next = slumbot.actions_text(reply.betting).startswith(sent)
        same_cards = reply.board[: len(earlier.board)] == earlier.board
        if not is_next or not same_cards or reply[1:3] != earlier[1:3]:
            raise self._error(f"after {sent!r} it continues another hand", reply.data)

    def _end(self, reply: Reply, number: int) -> None:
        """Check and save a finished hand, and report it to the player."""
        state = self._state(reply, number)
        names = [OPPONENT, OPPONENT]
        names[reply.player] = self.player.name
        try:
            record = HandRecord.of(state, names)
        except InvalidValueError as error:  # the bot's cards are missing
            raise self._error(str(error), error.value) from None
        won = int(record.payoffs[reply.player])
        if won != reply.data["winnings"]:
            said = shown(reply.data["winnings"])
            raise self._error(f"it says {said} chips were won, but by the rules {won}", said)
        self.player.observe(Result(View.of(state, reply.player), won))
        baseline, hands, total = (
            _number(reply.data, name)
            for name in ("baseline_winnings", "session_num_hands", "session_total")
        )
        session = None if hands is None or total is None else Session(hands, total)
        if self.log is not None:
            self.log.add(record, won, baseline, session)
        else:
            self.results.add(number, won, baseline, session)

    def _state(self, reply: Reply, number: int) -> HandState:
        try:
            return reply.state(number)
        except (RecordError, CardError) as error:
            raise self._error(str(error), error.value) from None

    def _error(self, problem: str, value: object) -> NetworkError:
        return NetworkError(
            f"{self.server.address} sends a hand that is not one of {self.rules.name}: {problem}; "
            "is that the game, and its stacks?",
            value=value,
        )


class _RefusedError(NetworkError):
    """An answer with `error_msg`."""


def _number(data: dict[str, Any], name: str) -> int | None:
    """Return a whole number of an answer, None if it has none."""
    value = data.get(name)
    is_number = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**15
    return value if is_number else None
