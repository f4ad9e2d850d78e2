"""The protocol of MIT Pokerbots 2017: lines of words between an engine and the players of a match.

    NEWGAME me opp stack bb hands bank              once
    NEWHAND id button c1 c2 mine theirs bank        from 1; true or false; chips won so far
    GETACTION pot n [board] n [last] n [legal] bank      a question to the actor
    HANDOVER mine theirs n [board] n [last] bank
    REQUESTKEYVALUES                                after the last hand

`bank` is the number of seconds that a client has left for all its answers. `last` is the list of
events since the last line, `POST:n:P DEAL:FLOP CHECK:P CALL:P BET:n:P RAISE:n:P FOLD:P REFUND:n:P
SHOW:c1:c2:P TIE:n:P WIN:n:P`, a discard being `DISCARD:old:new:P` for its player and `DISCARD:P`
for the other; `legal` is the list of legal actions, `CHECK CALL FOLD BET:min:max RAISE:min:max
DISCARD:card`. Amounts are chips of the street. A client answers GETACTION with `CHECK`, `CALL`,
`FOLD`, `BET:n`, `RAISE:n` or `DISCARD:card` (CHECK means no discard), and REQUESTKEYVALUES with any
number of `PUT key value` lines, then `FINISH`.

This module contains what engine and client share: words and their meanings. Sources: public bots of
2017. Where they are unspecified, this package decides: the big blind discards first; a discarded
card does not return to the deck; uncalled chips are a REFUND before WIN or TIE, whose amounts cover
the called chips only.
"""

from __future__ import annotations

from collections.abc import Iterator

from equilibrist.cards.card import card_name, parse_card
from equilibrist.errors import CardError, InvalidValueError
from equilibrist.games.action import CALL, FOLD, KEEP, Action, raise_to
from equilibrist.games.amounts import hand_total, street_total
from equilibrist.games.betting import Betting
from equilibrist.games.rules import GameRules
from equilibrist.games.state import HandState
from equilibrist.play.acpc import Answer

STREETS = ("PREFLOP", "FLOP", "TURN", "RIVER")


def check_rules(rules: GameRules) -> None:
    """Raise `InvalidValueError` if the protocol does not support this game."""
    is_holdem = rules.num_board_cards == (0, 3, 1, 1) and rules.num_hole_cards == 2
    if not is_holdem or rules.is_limit or len(set(rules.stack_chips)) > 1:
        raise InvalidValueError(
            f"{rules.name} is not no-limit hold'em with equal stacks, as Pokerbots needs",
            value=rules.name,
        )


def answer_text(betting: Betting, action: Action) -> str:
    """Return the text of an action as a client sends it.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.games.notation import parse_betting
        >>> betting = parse_betting(get_game("discard-holdem"), "r6c/kkr16")
        >>> answer_text(betting, raise_to(40)), answer_text(betting, CALL)
        ('RAISE:34', 'CALL')
    """
    if action.kind == "r":
        verb = "RAISE" if max(betting.spent) > betting.opening else "BET"
        return f"{verb}:{street_total(betting, action.amount)}"
    if action.kind == "d":
        return "DISCARD" if action.card is None else f"DISCARD:{card_name(action.card)}"
    if action.kind == "c" and betting.to_call:
        return "CALL"
    return "FOLD" if action.kind == "f" else "CHECK"


def read_answer(state: HandState, line: str) -> Answer:
    """Interpret a client's line; an illegal action becomes a check or else a fold.

    BET and RAISE are interchangeable; words after a call are ignored.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.play.acpc import view_of
        >>> state = view_of(get_game("discard-holdem"), "MATCHSTATE:1:0::|9hQd").state
        >>> read_answer(state, "RAISE:6").action
        Action(kind='r', amount=6, card=None)
        >>> read_answer(state, "RAISE:3").warning
        "'RAISE:3' is illegal, changed to FOLD"
    """
    word, *rest = line.strip().upper().split(":")
    betting, requested = state.betting, None
    if word == "DISCARD":
        requested = _discard(rest)
    elif word == "CHECK" and betting.is_discarding:
        requested = KEEP
    elif word == "FOLD":
        requested = FOLD
    elif (word == "CALL" and betting.to_call) or (word == "CHECK" and not betting.to_call):
        requested = CALL
    elif word in ("BET", "RAISE") and len(rest) == 1 and _is_number(rest[0]):
        requested = raise_to(hand_total(betting, int(rest[0])))
    if requested is not None and state.can(requested):
        return Answer(requested)
    instead = KEEP if betting.is_discarding else FOLD if betting.can_fold else CALL
    name = answer_text(betting, instead)
    return Answer(instead, f"{line[:40]!r} is illegal, changed to {name}")


def _discard(words: list[str]) -> Action | None:
    try:
        return Action("d", card=parse_card(words[0][:1] + words[0][1:].lower() if words else ""))
    except CardError:
        return None


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 10


def legal_words(state: HandState) -> list[str]:
    """Return the legal actions of the actor as words of GETACTION.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.play.acpc import view_of
        >>> legal_words(view_of(get_game("discard-holdem"), "MATCHSTATE:1:0::|9hQd").state)
        ['FOLD', 'CALL', 'RAISE:4:200']
    """
    betting, legal = state.betting, state.legal_actions()
    words = [answer_text(betting, action) for action in legal.actions]
    if legal.raise_to is not None:
        low, high = legal.raise_to
        smallest = answer_text(betting, raise_to(low))
        words.append(f"{smallest}:{street_total(betting, high)}")
    return words


def posts(rules: GameRules, names: tuple[str, str]) -> list[str]:
    """Return the words of the blinds, the dealer's first."""
    pairs = sorted(zip(rules.blinds, names, strict=True))
    return [f"POST:{chips}:{name}" for chips, name in pairs]


def happened(
    before: HandState, action: Action, after: HandState, names: tuple[str, str], viewer: int
) -> list[str]:
    """Return the words of an action and of the cards dealt after it, as one player sees them."""
    actor = before.betting.to_act[0]
    text = answer_text(before.betting, action)
    if action.kind == "d":
        old, new = after.swaps[actor][-1]
        text = f"DISCARD:{card_name(old)}:{card_name(new)}" if viewer == actor else "DISCARD"
    rounds = range(before.betting.round + 1, after.betting.round + 1)
    return [f"{text}:{names[actor]}", *(f"DEAL:{STREETS[round]}" for round in rounds)]


def ending(state: HandState, names: tuple[str, str]) -> Iterator[str]:
    """Yield the words at the end of a hand, the same for both players."""
    spent = state.betting.spent
    called = min(spent)
    for player, chips in enumerate(spent):
        if chips > called:
            yield f"REFUND:{chips - called}:{names[player]}"
    if state.betting.is_showdown:
        for player, hole in enumerate(state.holes):
            yield f"SHOW:{card_name(hole[0])}:{card_name(hole[1])}:{names[player]}"
    payoffs = state.payoffs()
    if not any(payoffs):
        for name in names:
            yield f"TIE:{called}:{name}"
    else:
        yield f"WIN:{2 * called}:{names[payoffs.index(max(payoffs))]}"
