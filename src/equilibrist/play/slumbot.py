"""The words of Slumbot's API, which server and client share: actions, cards and replies as JSON.

A client sends POST requests with JSON to `/api/new_hand` and `/api/act`:

    {"token": "a2f4…"}                        deal a hand; without a token, begin a session
    {"token": "a2f4…", "incr": "b300"}        act

and receives the hand as it stands when it is the client's turn again, or when the hand is over:

    {"token": "a2f4…", "client_pos": 0, "hole_cards": ["Ac", "9d"], "board": [],
     "old_action": "", "action": "b200"}

An action is `k` (check), `c` (call), `f` (fold) or `b<chips of the street>`, blinds included; `/`
ends a street, so an all-in that is called may be `b20000c///`. `client_pos` is 0 for the big blind
and 1 for the dealer, `action` all actions so far, `old_action` those that the client had seen. At
the end of a hand there are also `bot_hole_cards`, `winnings` (of the client), `won_pot`,
`session_num_hands`, `session_total`, and `baseline_winnings` and `session_baseline_total`: what the
bot itself would have won in the client's place with the same cards. A request that cannot be
answered has `error_msg` instead. All hands have the stacks of the game: Slumbot plays
`holdem-nolimit`, 200 big blinds.

Sources: the sample client and the issues of github.com/ericgjackson/slumbot2019. Unconfirmed, and
so our choice: `won_pot` is 0 in a tie; a hand that is in play when a new one is requested is sent
again; an illegal action changes nothing. Our server adds the field `game`.
"""

from __future__ import annotations

import re
from typing import Any

from equilibrist.cards.card import Cards, card_name
from equilibrist.cards.numbers import shown
from equilibrist.errors import InvalidValueError, RecordError
from equilibrist.games.action import CALL, FOLD, Action, raise_to
from equilibrist.games.amounts import hand_total, street_total
from equilibrist.games.betting import Betting
from equilibrist.games.rules import GameRules
from equilibrist.games.state import HandState

NEW_HAND, ACT = "/api/new_hand", "/api/act"
MOST_CHIP_DIGITS = 10  # of a bet; no stack has more

_INCREMENT = re.compile(rf"([kcf])|b([0-9]{{1,{MOST_CHIP_DIGITS}}})")
_WORD = re.compile(rf"{_INCREMENT.pattern}|(/)")


def check_rules(rules: GameRules) -> None:
    """Raise `InvalidValueError` if the API does not support this game."""
    is_holdem = rules.num_board_cards == (0, 3, 1, 1) and rules.num_hole_cards == 2
    is_plain = not any(rules.discards) and not rules.rollout_cards and rules.num_players == 2
    if not (is_holdem and is_plain) or rules.is_limit or len(set(rules.stack_chips)) > 1:
        raise InvalidValueError(
            f"{rules.name} is not no-limit hold'em of two equal stacks, as Slumbot's API needs",
            value=rules.name,
        )


def increment(betting: Betting, action: Action) -> str:
    """Return the word of an action.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.games.notation import parse_betting
        >>> betting = parse_betting(get_game("holdem-nolimit"), "r200c/c")
        >>> increment(betting, raise_to(600)), increment(betting, CALL)
        ('b400', 'k')
    """
    if action.kind == "r":
        return f"b{street_total(betting, action.amount)}"
    if action.kind == "c":
        return "c" if betting.to_call else "k"
    return action.kind


def actions_text(betting: Betting) -> str:
    """Return all actions of a hand in the words of the API.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.games.notation import parse_betting
        >>> game = get_game("holdem-nolimit")
        >>> actions_text(parse_betting(game, "r200c/cr600c/cc/"))
        'b200c/kb400c/kk/'
        >>> actions_text(parse_betting(game, "r20000c///"))
        'b20000c///'
    """
    now, rounds = Betting.start(betting.rules), []
    for actions in betting.history:
        words = []
        for action in actions:
            words.append(increment(now, action))
            now = now.apply(action)
        rounds.append("".join(words))
    return "/".join(rounds)


def parse_increment(betting: Betting, text: str) -> Action:
    """Parse one action; raise `RecordError` with what would be legal.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> parse_increment(Betting.start(get_game("holdem-nolimit")), "b300").amount
        300
        >>> parse_increment(Betting.start(get_game("holdem-nolimit")), "k")
        Traceback (most recent call last):
          ...
        equilibrist.errors.RecordError: 'k' is not legal after ''; legal are f, c, b200 to b20000
    """
    match = _INCREMENT.fullmatch(text)
    action = None if match is None else _action(betting, match)
    if action is None or not betting.can(action):
        raise RecordError(
            f"{text[:40]!r} is not legal after {_end(actions_text(betting))!r}; "
            f"legal are {_legal_words(betting)}",
            value=text,
        )
    return action


def parse_actions(rules: GameRules, text: str) -> Betting:
    """Parse all actions of a hand; `/` may be missing at the end.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> parse_actions(get_game("holdem-nolimit"), "b200c/kb400c").text
        'r200c/cr600c/'
    """
    betting, at = Betting.start(rules), 0
    while at < len(text):
        match = _WORD.match(text, at)
        if match is None:
            raise RecordError(
                f"{text[at : at + 40]!r} in the actions {_end(text[:at])!r} is none of "
                "k, c, f, b<chips> and /",
                value=text,
                position=at,
            )
        if match[3] is None:
            betting = betting.apply(parse_increment(betting, match[0]))
        at = match.end()
    if actions_text(betting).rstrip("/") != text.rstrip("/"):
        raise RecordError(f"the streets of {_end(text)!r} do not end where they should", value=text)
    return betting


def _action(betting: Betting, match: re.Match[str]) -> Action | None:
    """Return the action of a word, None if a check is called a call or a call a check."""
    if match[2] is not None:
        return raise_to(hand_total(betting, int(match[2])))
    if match[1] == "f":
        return FOLD
    return CALL if (match[1] == "c") == bool(betting.to_call) else None


def _legal_words(betting: Betting) -> str:
    if betting.is_over:
        return "no actions: the hand is over"
    words = ["f", "c"] if betting.can_fold else ["k"]
    if betting.can_raise:
        low = street_total(betting, betting.min_raise_to)
        high = street_total(betting, betting.max_raise_to)
        words.append(f"b{low}" if low == high else f"b{low} to b{high}")
    return ", ".join(words)


def _end(text: str) -> str:
    """Return the end of a long text."""
    return text if len(text) <= 80 else f"…{text[-80:]}"


# --- replies --------------------------------------------------------------------------------------


def cards_list(cards: Cards) -> list[str]:
    """Return cards as the API names them.

    Example:
        >>> cards_list((51, 0))
        ['As', '2c']
    """
    return [card_name(card) for card in cards]


def hand_fields(state: HandState, client: int, old_action: str) -> dict[str, Any]:
    """Return the fields of a hand that a client may see; `client` is its player number."""
    return {
        "old_action": old_action,
        "action": actions_text(state.betting),
        "client_pos": client,
        "hole_cards": cards_list(state.deal.holes[client]),
        "board": cards_list(state.board),
    }


def end_fields(state: HandState, client: int) -> dict[str, Any]:
    """Return the fields that a finished hand has in addition.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.games.notation import parse_state
        >>> hand = parse_state(get_game("holdem-nolimit"), "STATE:0:r300f:5d5c|9hQd").state
        >>> end_fields(hand, client=0)
        {'bot_hole_cards': ['9h', 'Qd'], 'winnings': -100, 'won_pot': -400}
    """
    won = state.payoffs()[client]
    pot = state.betting.pot
    return {
        "bot_hole_cards": cards_list(state.deal.holes[1 - client]),
        "winnings": won,
        "won_pot": pot if won > 0 else -pot if won < 0 else 0,
    }


def field(reply: dict[str, Any], name: str, kind: type, default: Any = None) -> Any:
    """Return a field of a reply; raise `RecordError` if it is missing or of another type.

    Example:
        >>> field({"client_pos": 1}, "client_pos", int)
        1
        >>> field({"board": "AhKh"}, "board", list)
        Traceback (most recent call last):
          ...
        equilibrist.errors.RecordError: board is 'AhKh', not a list
    """
    value = reply.get(name, default)
    if value is None:
        raise RecordError(f"there is no {name}", value=name)
    if not isinstance(value, kind) or isinstance(value, bool):
        what = {str: "a text", list: "a list", int: "a whole number"}.get(kind, kind.__name__)
        raise RecordError(f"{name} is {shown(value)}, not {what}", value=name)
    return value
