"""Reading and writing of the actions of a poker hand history (PHH).

    d dh p1 AhKh       hole cards of a player; ???? if they are unknown
    d db 2c7d9h        board cards
    p1 cc              check or call
    p1 cbr 600         bet or raise to this number of chips of the street
    p1 f               fold
    p1 sm AhKh         show; `-` means the cards dealt, ???? cards not shown
    p1 sm              muck

Words are separated by spaces. Text after `#` is a comment; an action may consist of a comment only.

ACPC requires a check that changes nothing when all opponents are all-in. PHH does not have this
action: it is omitted in writing and inserted in reading.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator

from equilibrist.cards.card import Card, Cards, card_name, cards_name, parse_card
from equilibrist.errors import CardError, IllegalActionError, RecordError
from equilibrist.games.action import CALL, FOLD, RAISE, Action, raise_to
from equilibrist.games.amounts import hand_total, street_total
from equilibrist.games.betting import Betting
from equilibrist.games.rules import GameRules
from equilibrist.games.state import Deal, HandState, board_sizes

_PLAYER = re.compile(r"p([1-9][0-9]?)")
_AMOUNT = re.compile(r"([0-9]{1,10})(\.0+)?")


def action_texts(state: HandState) -> Iterator[str]:
    """Yield the actions of a finished hand as text; hands at a showdown are shown.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.games.notation import parse_state
        >>> line = "STATE:0:r300c/r900f:AhKh|QsQd/2c7d9h"
        >>> ", ".join(action_texts(parse_state(get_game("holdem-nolimit"), line).state))
        'd dh p1 AhKh, d dh p2 QsQd, p2 cbr 300, p1 cc, d db 2c7d9h, p1 cbr 600, p2 f'
    """
    rules, betting, board = state.rules, Betting.start(state.rules), iter(state.board)
    for player, hole in enumerate(state.deal.holes, start=1):
        yield f"d dh p{player} {cards_name(hole) or '??' * rules.num_hole_cards}"
    # Board cards are dealt before the next action; those after an all-in when hands are shown.
    num_dealt = 0  # rounds whose board cards are on the table
    for action in itertools.chain(*state.betting.history):
        if not _is_formality(betting):
            yield from _board_texts(board, rules.num_board_cards[num_dealt : betting.round + 1])
            num_dealt = betting.round + 1
            yield _action_text(betting, action)
        betting = betting.apply(action)
    if betting.is_showdown:
        for player, hole in enumerate(state.deal.holes):
            if not betting.folded[player]:
                yield f"p{player + 1} sm {cards_name(hole)}"
        yield from _board_texts(board, rules.num_board_cards[num_dealt:])


def play_actions(rules: GameRules, texts: Iterable[str], hand_number: int = 0) -> HandState:
    """Replay a list of actions to the end of the hand; a `RecordError` names an invalid action.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> str(play_actions(get_game("holdem-limit"), ["d dh p1 7c2d", "d dh p2 AsAh", "p2 f"]))
        'STATE:0:f:7c2d|AsAh'
    """
    table = _Table(rules)
    for number, text in enumerate(texts, start=1):
        try:
            table.play(text.split("#")[0].split())
        except (RecordError, CardError) as error:
            message = f"action {number} {text[:60]!r}: {error}"
            raise RecordError(message, value=text, position=number) from None
    return table.finish(hand_number)


def _board_texts(board: Iterator[Card], sizes: Iterable[int]) -> Iterator[str]:
    for size in sizes:
        if size:
            yield f"d db {cards_name(itertools.islice(board, size))}"


def _action_text(betting: Betting, action: Action) -> str:
    player = f"p{betting.to_act[0] + 1}"
    if action.kind == "r":
        return f"{player} cbr {street_total(betting, action.amount or betting.min_raise_to)}"
    return f"{player} {'cc' if action.kind == 'c' else 'f'}"


def _is_formality(betting: Betting) -> bool:
    """Return whether the actor has nothing to call and nobody to bet against."""
    if betting.actor is None or betting.to_call:
        return False
    left = zip(range(len(betting.spent)), betting.stacks_left, betting.folded, strict=True)
    return not any(chips and not out for player, chips, out in left if player != betting.actor)


class _Table:
    """A hand in progress, advanced one action at a time."""

    def __init__(self, rules: GameRules) -> None:
        self.rules = rules
        self.betting = Betting.start(rules)
        self.holes: list[list[Card | None]] = [[] for _ in range(rules.num_players)]
        self.board: list[Card | None] = []
        self.mucked: set[int] = set()

    def play(self, words: list[str]) -> None:
        """Apply one action, given by its words."""
        if words[:2] != ["d", "dh"]:
            self._skip_formality()
        match words:
            case []:
                pass
            case ["d", "dh", player, cards]:
                self._deal_hole(self._player(player), self._cards(cards))
            case ["d", "db", cards]:
                self._deal_board(self._cards(cards))
            case [player, "f"]:
                self._act(player, FOLD)
            case [player, "cc"]:
                self._act(player, CALL)
            case [player, "cbr", amount]:
                self._act(player, self._raise(amount))
            case [player, "sm"]:
                self._check_is_over()
                self.mucked.add(self._player(player))
            case [player, "sm", cards]:
                self._check_is_over()
                self._show(self._player(player), cards)
            case [_, ("sd" | "pb") as verb, *_]:
                raise RecordError(
                    f"{verb} is not an action of hold'em, which has no draws or bring-ins"
                )
            case _:
                raise RecordError("unknown action; actions are d dh, d db, f, cc, cbr and sm")

    def finish(self, hand_number: int) -> HandState:
        """Return the finished hand; raise `RecordError` if it is not finished."""
        self._skip_formality()
        if not self.betting.is_over:
            raise RecordError(
                f"the actions end before the hand does: p{self.betting.to_act[0] + 1} is to act"
            )
        missing = sum(board_sizes(self.betting)) - len(self.board)
        if missing:
            raise RecordError(
                f"the actions end before the hand does: {missing} board cards are missing"
            )
        holes = tuple(map(_known, self.holes))
        deal = Deal(holes, _known(self.board))
        try:
            deal.check(self.rules)
        except CardError as error:
            raise RecordError(str(error), value=error.value) from None
        state = HandState(self.betting, deal, ((),) * len(holes), hand_number)
        for player in self.mucked if self.betting.is_showdown and all(holes) else ():
            self._check_muck(player, state.payoffs()[player])
        return state

    def _skip_formality(self) -> None:
        if _is_formality(self.betting):
            self.betting = self.betting.apply(CALL)

    def _player(self, word: str) -> int:
        match = _PLAYER.fullmatch(word)
        if match is None or int(match[1]) > self.rules.num_players:
            raise RecordError(f"players are p1 to p{self.rules.num_players}, not {word[:40]!r}")
        return int(match[1]) - 1

    def _cards(self, word: str) -> list[Card | None]:
        """Parse cards that have not been dealt before; None stands for an unknown card."""
        names = [word[at : at + 2] for at in range(0, len(word), 2)]
        cards = [None if name == "??" else parse_card(name) for name in names]
        seen = {card for pile in (*self.holes, self.board) for card in pile}
        for card in cards:
            if card is not None and (card in seen or cards.count(card) > 1):
                raise RecordError(f"{card_name(card)} is dealt twice")
        return cards

    def _deal_hole(self, player: int, cards: list[Card | None]) -> None:
        hole = self.holes[player]
        hole += cards
        if self.betting.num_actions:
            raise RecordError("hole cards must be dealt before the first bet")
        if len(hole) > self.rules.num_hole_cards:
            raise RecordError(f"p{player + 1} has at most {self.rules.num_hole_cards} cards")
        if len(hole) == self.rules.num_hole_cards and 0 < hole.count(None) < len(hole):
            raise RecordError("a hand must be known completely or not at all")

    def _deal_board(self, cards: list[Card | None]) -> None:
        self.board += cards
        most = sum(board_sizes(self.betting))
        if len(self.board) > most:
            raise RecordError(f"the board has {most} cards in this round, not {len(self.board)}")
        if None in cards:
            raise RecordError("board cards must be known")

    def _act(self, player: str, action: Action) -> None:
        actor, wanted = self.betting.actor, self.rules.board_cards_by(self.betting.round)
        if actor is not None and self._player(player) != actor:
            raise RecordError(f"p{actor + 1} is to act")
        if actor is not None and len(self.board) != wanted:
            raise RecordError(f"the board has {wanted} cards in this round, not {len(self.board)}")
        try:
            self.betting = self.betting.apply(action)
        except IllegalActionError as error:
            raise RecordError(f"{error} (chips of the whole hand)") from None

    def _raise(self, word: str) -> Action:
        match = _AMOUNT.fullmatch(word)
        if match is None:
            raise RecordError(f"{word[:40]!r} is not a whole number of chips")
        amount = int(match[1])
        if not self.rules.is_limit:
            return raise_to(hand_total(self.betting, amount))
        right = street_total(self.betting, self.betting.min_raise_to)
        if self.betting.can_raise and amount != right:
            raise RecordError(f"the raise must be to {right}, not {amount}")
        return RAISE

    def _check_is_over(self) -> None:
        if not self.betting.is_over:
            raise RecordError("hands may be shown only after the last bet")

    def _show(self, player: int, word: str) -> None:
        hole = self.holes[player]
        if word == "-" or not word.strip("?"):
            return
        self.holes[player] = []
        shown = self._cards(word)
        if len(shown) != self.rules.num_hole_cards or None in shown:
            raise RecordError(
                f"all {self.rules.num_hole_cards} cards of a hand must be shown, not {word[:40]!r}"
            )
        if _known(hole) and set(hole) != set(shown):
            raise RecordError(f"p{player + 1} was dealt {cards_name(_known(hole))}")
        self.holes[player] = hole if _known(hole) else shown

    def _check_muck(self, player: int, payoff: int) -> None:
        """Raise `RecordError` if a player mucks a hand that would have won chips of others."""
        spent = self.betting.spent
        others = max(chips for other, chips in enumerate(spent) if other != player)
        if not self.betting.folded[player] and payoff > -min(spent[player], others):
            raise RecordError(f"p{player + 1} mucks a hand that wins; its payoffs are undefined")


def _known(cards: list[Card | None]) -> Cards:
    """Return the known cards; unknown ones are left out."""
    return tuple(card for card in cards if card is not None)
