"""A client that plays at an engine of MIT Pokerbots 2017.

The engine sends events, not states: the client replays the hand and builds the same view that a
table of this package gives. Two things differ: the opponent's dealt cards stay unknown if it has
swapped (a showdown shows the cards it holds), and so does the card that it gave away.
"""

from __future__ import annotations

from equilibrist.cards.card import Card, Cards, parse_card
from equilibrist.errors import CardError, IllegalActionError, InvalidValueError, NetworkError
from equilibrist.games.action import CALL, FOLD, KEEP, SWAP, Action, raise_to
from equilibrist.games.amounts import hand_total
from equilibrist.games.betting import Betting
from equilibrist.games.rules import GameRules
from equilibrist.games.state import Deal, HandState, Swap, board_sizes
from equilibrist.play.acpc import PATIENCE, ClientMatch, receive_line
from equilibrist.play.pokerbots import answer_text, check_rules
from equilibrist.play.wire import Wire
from equilibrist.players.player import Player, Result, View


def play_pokerbots(
    rules: GameRules, wire: Wire, player: Player, patience: float = PATIENCE
) -> ClientMatch:
    """Play a match at an engine until it hangs up; `NetworkError` if it sends an invalid line.

    The player must have been reset. It is an error if the engine sends nothing for `patience`
    seconds.
    """
    check_rules(rules)
    chips: list[int] = []
    hand: _Hand | None = None
    comments: list[str] = []  # not Pokerbots, but what our dealers say to a client without a seat
    while (line := receive_line(wire, patience, comments)) is not None:
        words = _Words(line)
        kind = words.text()
        if kind.startswith("MATCHSTATE:"):
            raise words.error("is a state of acpc: the dealer does not speak pokerbots")
        if kind == "NEWGAME":
            _check_game(rules, words)
        elif kind == "NEWHAND":
            hand = _Hand(rules, words)
        elif kind == "GETACTION" and hand is not None:
            words.number()  # the pot
            view = hand.update(words)
            if view.state.actor != view.player:
                raise words.error("asks for an action out of turn")
            wire.send(answer_text(view.betting, player.act(view)), patience)
        elif kind == "HANDOVER" and hand is not None:
            bank = words.number()
            words.number()  # the opponent's chips
            view = hand.update(words)
            if not view.state.is_over:
                raise words.error("ends a hand that is not over")
            chips.append(bank - hand.bank)
            hand = None
            player.observe(Result(view, chips[-1]))
        elif kind == "REQUESTKEYVALUES":
            wire.send("FINISH", patience)
        elif kind != "KEYVALUE":
            raise words.error("is not what an engine says now")
    return ClientMatch(chips, hand is not None, *comments)


def _check_game(rules: GameRules, words: _Words) -> None:
    for _ in range(2):
        words.text()  # the names
    stack, blind = words.number(), words.number()
    if (stack, blind) != (rules.stack_chips[0], rules.big_blind):
        raise NetworkError(
            f"the engine plays stacks of {stack} and a big blind of {blind}, "
            f"not {rules.stack_chips[0]} and {rules.big_blind} as {rules.name} does",
            value=(stack, blind),
        )


class _Words:
    """A reader of the words of a line, one after the other."""

    def __init__(self, line: str) -> None:
        self.line = line
        self._words = iter(line.split())

    def error(self, problem: str) -> NetworkError:
        return NetworkError(f"the engine's line {self.line[:200]!r} {problem}", value=self.line)

    def text(self) -> str:
        word = next(self._words, None)
        if word is None:
            raise self.error("is truncated")
        return word

    def number(self) -> int:
        return self.as_number(self.text())

    def as_number(self, word: str) -> int:
        if not word.removeprefix("-").isdecimal() or not word.isascii() or len(word) > 12:
            raise self.error(f"has {word[:40]!r} instead of a number")
        return int(word)

    def card(self) -> Card:
        return self.as_card(self.text())

    def as_card(self, word: str) -> Card:
        try:
            return parse_card(word)
        except CardError:
            raise self.error(f"has {word[:40]!r} instead of a card") from None

    def many(self) -> list[str]:
        count = self.number()
        if not 0 <= count <= 1000:
            raise self.error(f"has a list of {count} words")
        return [self.text() for _ in range(count)]


class _Hand:
    """A hand as known to one client."""

    def __init__(self, rules: GameRules, words: _Words) -> None:
        self.rules = rules
        self.number = words.number() - 1
        button = words.text()
        if button not in ("true", "false") or self.number < 0:
            raise words.error("does not start a hand")
        dealer = rules.first_players[0]
        self.me = dealer if button == "true" else 1 - dealer
        self.hole: Cards = (words.card(), words.card())
        self.bank = words.number()
        self.shown: Cards = ()  # the opponent's hand at a showdown
        self.board: Cards = ()
        self.swaps: list[Swap] = []
        self.betting = Betting.start(rules)

    def update(self, words: _Words) -> View:
        """Apply the board and the events of a line, and return the view of the hand."""
        self.board = tuple(map(words.as_card, words.many()))
        try:
            for word in words.many():
                self._take(words, word)
            if len(self.board) != sum(board_sizes(self.betting)):
                raise words.error(f"has {len(self.board)} board cards")
            return self._view()
        except (IllegalActionError, CardError, InvalidValueError) as error:
            raise words.error(f"does not fit the earlier lines: {error}") from None

    def _take(self, words: _Words, word: str) -> None:
        verb, *rest = word.split(":")
        if verb == "SHOW" and len(rest) == 3:
            cards = words.as_card(rest[0]), words.as_card(rest[1])
            if set(cards) != set(self._held()):
                self.shown = cards
        elif verb == "DISCARD":
            if len(rest) == 3:
                self.swaps.append((words.as_card(rest[0]), words.as_card(rest[1])))
            self.betting = self.betting.apply(SWAP)
        elif verb in ("CHECK", "CALL", "FOLD", "BET", "RAISE"):
            self.betting = self.betting.apply(self._action(words, verb, rest))
        elif verb not in ("POST", "DEAL", "REFUND", "WIN", "TIE"):
            raise words.error(f"has an unknown event {word[:40]!r}")

    def _action(self, words: _Words, verb: str, rest: list[str]) -> Action:
        if verb in ("BET", "RAISE"):
            amount = words.as_number(rest[0] if rest else "")
            return raise_to(max(0, hand_total(self.betting, amount)))
        if verb == "FOLD":
            return FOLD
        return KEEP if self.betting.is_discarding else CALL

    def _held(self) -> Cards:
        hole = self.hole
        for old, new in self.swaps:
            hole = tuple(new if card == old else card for card in hole)
        return hole

    def _view(self) -> View:
        holes, swaps = [self.shown, self.shown], [tuple[Swap, ...](), tuple[Swap, ...]()]
        holes[self.me], swaps[self.me] = self.hole, tuple(self.swaps)
        deal = Deal((holes[0], holes[1]), self.board)
        deal.check(self.rules)
        state = HandState(self.betting, deal, (swaps[0], swaps[1]), self.number)
        return View.of(state, self.me)
