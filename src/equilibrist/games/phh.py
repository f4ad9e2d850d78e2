"""Reading and writing of poker hand histories (PHH) of fixed-limit (FT) and no-limit (NT) hold'em.

A history is a TOML file:

    variant = "NT"                        or "FT"
    ante_trimming_status = false
    antes = [0, 0]                        always zero: ACPC rules have no antes besides blinds
    blinds_or_straddles = [50, 100]       small blind first
    min_bet = 100                         NT: the big blind; FT has small_bet and big_bet
    starting_stacks = [20000, 20000]      inf if nobody runs out of chips
    actions = [
      "d dh p1 AhKh",                     hole cards, ???? if unknown
      "d dh p2 QsQd",
      "p2 cbr 300",                       bet or raise to this number of chips *of the street*
      "p1 cc",                            check or call
      "d db 2c7d9h",                      board cards
      "p1 cc",
      "p2 cbr 400",
      "p1 f",                             fold
    ]                                     at a showdown "p1 sm AhKh" shows, "p1 sm" mucks
    hand = 7
    players = ["Alice", "Bob"]            p1, p2
    finishing_stacks = [19700, 20300]

Text after `#` in an action is a comment. Player n of PHH is player n − 1 here. Heads-up, PHH
assigns the blinds *in reverse*: with `blinds_or_straddles = [50, 100]`, p1 is the big blind and p2
the dealer with the small blind, which acts first before the flop: ACPC's players 0 and 1.

Two facts for which PHH has no field are stored in fields of this package, which other programs
ignore: `_game` (name of the game; default: the variant) and `_max_raises` (raise caps per round;
default: 4 in FT and unlimited in NT, as in PokerKit). Chips are whole numbers. A hand is known
completely or not at all, and must be known if it goes to a showdown.

Source: the PHH specification (Kim, "Recording and describing poker hands", 2024), checked against
PokerKit in both directions.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

from equilibrist.errors import InvalidValueError, RecordError
from equilibrist.games.files import parse_toml, read_text
from equilibrist.games.phh_actions import action_texts, play_actions
from equilibrist.games.records import HandRecord
from equilibrist.games.rules import UNLIMITED_RAISES, UNLIMITED_STACK, GameRules
from equilibrist.games.state import MAX_HAND_NUMBER
from equilibrist.storage.output_file import write_output

_VARIANTS = {"FT": "fixed-limit hold'em", "NT": "no-limit hold'em"}
_HOLDEM: dict[str, Any] = {
    "num_suits": 4,
    "num_ranks": 13,
    "num_hole_cards": 2,
    "num_board_cards": (0, 3, 1, 1),
    "discards": (False,) * 4,
    "rollout_cards": 0,
    "ranking": "standard",
}


# --- writing --------------------------------------------------------------------------------------


def phh_text(record: HandRecord) -> str:
    """Return the history of a hand as text; the inverse of `parse_phh`.

    Raises `RecordError` if PHH has no variant for the game.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.games.records import parse_log_line
        >>> line = "STATE:7:r300f:AhKh|QsQd:-100|100:Alice|Bob"
        >>> print(phh_text(parse_log_line(get_game("holdem-nolimit"), line)))
        variant = "NT"
        ante_trimming_status = false
        antes = [0, 0]
        blinds_or_straddles = [50, 100]
        min_bet = 100
        starting_stacks = [20000, 20000]
        actions = [
          "d dh p1 AhKh",
          "d dh p2 QsQd",
          "p2 cbr 300",
          "p1 f",
        ]
        hand = 7
        players = ["Alice", "Bob"]
        finishing_stacks = [19900, 20100]
        _game = "holdem-nolimit"
    """
    rules = record.rules
    entries = _game_entries(rules)
    _check_describes(rules, entries)
    own = {name: entries.pop(name) for name in tuple(entries) if name.startswith("_")}
    entries["actions"] = tuple(action_texts(record.state))
    entries["hand"] = record.hand_number
    entries["players"] = list(record.names)
    if rules.stacks is not None and record.payoffs == record.state.payoffs():
        pairs = zip(rules.stacks, record.payoffs, strict=True)
        entries["finishing_stacks"] = [stack + chips for stack, chips in pairs]
    return "".join(f"{name} = {_toml(value)}\n" for name, value in (entries | own).items())


def write_phh(record: HandRecord, path: str | Path, *, replace: bool = True) -> None:
    """Write the history of a hand to a file atomically."""
    write_output(path, phh_text(record), replace=replace)


def _game_entries(rules: GameRules) -> dict[str, Any]:
    """Return the fields that describe a game; `_check_describes` finds what they cannot express."""
    entries: dict[str, Any] = {
        "variant": "FT" if rules.is_limit else "NT",
        "ante_trimming_status": False,
        "antes": [0] * rules.num_players,
        "blinds_or_straddles": _reversed_heads_up(rules.blinds),
    }
    if rules.is_limit:
        entries |= {"small_bet": rules.raise_sizes[0], "big_bet": rules.raise_sizes[-1]}
    else:
        entries |= {"min_bet": rules.big_blind}
    entries["starting_stacks"] = list(rules.stacks or [math.inf] * rules.num_players)
    entries["_game"] = rules.name
    if set(rules.max_raises) != {_default_cap(entries["variant"])}:
        entries["_max_raises"] = list(rules.max_raises)
    return entries


def _toml(value: object) -> str:
    """Return the TOML text of a value; a list takes one line, a tuple one line per item."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):  # TOML has JSON's escapes and requires one more
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, tuple):
        return "[\n" + "".join(f"  {_toml(item)},\n" for item in value) + "]"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return str(value)


# --- reading --------------------------------------------------------------------------------------


def parse_phh(text: str, rules: GameRules | None = None) -> HandRecord:
    """Parse the history of a hand; a `RecordError` names the invalid field or action.

    The rules are those of the history; `rules`, if given, must agree with its fields and add what
    these cannot express. A hand without a number, or with a name instead, is hand 0; a player
    without a name is called p1, p2, …

    Example:
        >>> record = parse_phh('''
        ...     variant = "NT"
        ...     antes = [0, 0]
        ...     blinds_or_straddles = [1, 2]
        ...     min_bet = 2
        ...     starting_stacks = [200, 200]
        ...     actions = ["d dh p1 ????", "d dh p2 AsAh", "p2 cbr 6", "p1 f"]
        ...     players = ["Alice", "Bob"]''')
        >>> record.rules.blinds, record.payoffs, str(record.state)
        ((2, 1), (-2, 2), 'STATE:0:r6f:|AsAh')
    """
    entries = parse_toml(text, "the history", RecordError)
    if rules is None:
        rules = _rules(entries)
    else:
        _check_describes(
            rules, entries | {"_game": rules.name, "_max_raises": list(rules.max_raises)}
        )
    state = play_actions(rules, _strings(entries, "actions"), _hand_number(entries))
    try:
        record = HandRecord.of(state, _names(entries, rules.num_players))
    except InvalidValueError as error:
        raise RecordError(f"the hand ends in a showdown: {error}", value=str(state)) from None
    _check_finish(record, entries)
    return record


def read_phh(path: str | Path, rules: GameRules | None = None) -> HandRecord:
    """Read a history from a file as `parse_phh` does; `RecordError` if it cannot be read."""
    return parse_phh(read_text(path, RecordError), rules)


def _rules(entries: dict[str, Any]) -> GameRules:
    """Return the rules of the game that the fields of a history describe."""
    variant = _field(entries, "variant")
    if not isinstance(variant, str) or variant not in _VARIANTS:
        choices = " or ".join(f"{code} ({name})" for code, name in _VARIANTS.items())
        raise _field_error("variant", variant, f"must be {choices}")
    blinds = _chip_list(entries, "blinds_or_straddles")
    stacks = _chip_list(entries, "starting_stacks", has_inf=True)
    if any(_chip_list(entries, "antes")):
        raise _field_error("antes", entries["antes"], "must be zeros (ACPC rules have no antes)")
    if len(set(blinds)) < 2 or not len(blinds) == len(stacks) == len(entries["antes"]):
        message = "must have two different blinds and the same length as stacks and antes"
        raise _field_error("blinds_or_straddles", blinds, message)
    blinds = _reversed_heads_up(blinds)
    big = max(range(len(blinds)), key=lambda player: (blinds[player], player))
    is_limit = variant == "FT"
    bets = [_chips(name, _field(entries, name)) for name in _bet_fields(is_limit)]
    if not is_limit and bets != [blinds[big]]:
        raise _field_error("min_bet", bets[0], f"must be the big blind, {blinds[big]}")
    try:
        return GameRules(
            name=entries.get("_game", variant),
            betting="limit" if is_limit else "nolimit",
            blinds=tuple(blinds),
            stacks=None if is_limit and set(stacks) == {UNLIMITED_STACK} else tuple(stacks),
            raise_sizes=(bets[0], bets[0], bets[1], bets[1]) if is_limit else (),
            max_raises=tuple(entries.get("_max_raises", [_default_cap(variant)] * 4)),
            first_players=((big + 1) % len(blinds), 0, 0, 0),
            **_HOLDEM,
        )
    except (ValueError, TypeError, AttributeError) as error:
        raise RecordError(f"the fields do not describe a game: {error}") from None


def _hand_number(entries: dict[str, Any]) -> int:
    number = entries.get("hand", 0)
    if isinstance(number, str):
        return 0
    if type(number) is not int or not 0 <= number <= MAX_HAND_NUMBER:
        raise _field_error("hand", number, f"must be a name or a number 0 to {MAX_HAND_NUMBER}")
    return number


def _bet_fields(is_limit: bool) -> tuple[str, ...]:
    return ("small_bet", "big_bet") if is_limit else ("min_bet",)


def _names(entries: dict[str, Any], players: int) -> list[str]:
    names = _strings(entries, "players") if "players" in entries else [""] * players
    if len(names) != players:
        raise _field_error("players", names, f"must have {players} names")
    return [name or f"p{number}" for number, name in enumerate(names, start=1)]


def _check_finish(record: HandRecord, entries: dict[str, Any]) -> None:
    """Check the payoffs against the finishing stacks of the history, if it has them."""
    if "finishing_stacks" not in entries or record.rules.stacks is None:
        return
    finish = _chip_list(entries, "finishing_stacks", has_inf=True)
    right = [
        stack + chips for stack, chips in zip(record.rules.stacks, record.payoffs, strict=True)
    ]
    if finish != right:
        raise _field_error("finishing_stacks", finish, f"must be {right} after these actions")


def _field(entries: dict[str, Any], name: str) -> Any:
    if name not in entries:
        raise RecordError(f"the history has no field {name}", value=name)
    return entries[name]


def _strings(entries: dict[str, Any], name: str) -> list[str]:
    values = _field(entries, name)
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise _field_error(name, values, "must be a list of texts")
    return values


def _chip_list(entries: dict[str, Any], name: str, *, has_inf: bool = False) -> list[int]:
    values = _field(entries, name)
    if not isinstance(values, list):
        raise _field_error(name, values, "must be a list of chips, one number per player")
    return [
        UNLIMITED_STACK if has_inf and value == math.inf else _chips(name, value)
        for value in values
    ]


def _chips(name: str, value: object) -> int:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise _field_error(name, value, "must contain numbers")
    if 0 <= value <= UNLIMITED_STACK and value == int(value):
        return int(value)
    raise _field_error(name, value, f"must contain whole chips, 0 to {UNLIMITED_STACK}")


def _field_error(name: str, value: object, message: str) -> RecordError:
    try:
        shown = repr(str(value)[:60])
    except ValueError:  # Python refuses to print integers of more than 4,300 digits
        shown = "a huge number"
    return RecordError(f"{name} {message}, not {shown}", value=value)


# --- shared by reading and writing ----------------------------------------------------------------


def _reversed_heads_up(blinds: Iterable[int]) -> list[int]:
    """Convert blinds between the order of PHH and the order of the players."""
    chips = list(blinds)
    return chips[::-1] if len(chips) == 2 else chips


def _default_cap(variant: str) -> int:
    return 4 if variant == "FT" else UNLIMITED_RAISES


def _check_describes(rules: GameRules, entries: dict[str, Any]) -> None:
    """Raise `RecordError` if the entries of a history do not describe these rules."""
    _check_fields(rules, _HOLDEM, "hold'em, the game of PHH's FT and NT")
    described = _rules(entries)
    values = {field.name: getattr(described, field.name) for field in fields(GameRules)}
    _check_fields(rules, values, f"the game of this {entries['variant']} history")


def _check_fields(rules: GameRules, values: dict[str, Any], what: str) -> None:
    for name, value in values.items():
        ours = getattr(rules, name)
        if ours != value:
            message = f"{rules.name} is not {what}: {name} is {ours}, not {value}"
            raise RecordError(message, value=ours)
