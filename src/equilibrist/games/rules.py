"""The rules of a game, and reading and writing of ACPC game definitions.

A definition is the input format of the Annual Computer Poker Competition's dealer:

    GAMEDEF
    limit                       or `nolimit`
    numPlayers = 2
    numRounds = 2
    blind = 1 1                 chips each player puts in before the first action
    raiseSize = 2 4             limit only, chips, per round
    stack = 200 200             chips per player; required in no-limit
    firstPlayer = 1 1           per round, counted from 1; default 1
    maxRaises = 2 2             per round, blinds not counted; default 255
    numSuits = 2
    numRanks = 3
    numHoleCards = 1
    numBoardCards = 0 1         new board cards, per round
    END GAMEDEF

Keys may be written in any case and any order; `#` starts a comment. Four facts that ACPC files
cannot express are comments with a key, so that other programs can still read the file:

    # equilibrist: ranking = three-card     Rhode Island's hand ranking instead of `standard`
    # equilibrist: discards = 0 1 1 0       rounds that open with a discard turn for each player
    # equilibrist: rolloutCards = 5         board cards dealt after the last betting round
    # equilibrist: name = preflop-holdem    name of the game

Source: the ACPC protocol 2.0.0 and its game definition files.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from equilibrist.cards.card import Deck
from equilibrist.cards.numbers import shown
from equilibrist.errors import GameFileError, InvalidValueError
from equilibrist.games.files import read_text

UNLIMITED_RAISES = 255  # ACPC's default cap
UNLIMITED_STACK = 2**31 - 1  # ACPC's default stack; no amount of chips exceeds it
MAX_PLAYERS = 10
MAX_ROUNDS = 16

# A problem in a set of rules: field, value and message.
_Problem = tuple[str, object, str]


class _RulesError(InvalidValueError):
    """Error for invalid rules; `field` names the invalid field of `GameRules`."""

    def __init__(self, message: str, *, field: str, value: object) -> None:
        super().__init__(message, value=value)
        self.field = field


@dataclass(frozen=True, kw_only=True)
class GameRules:
    """The rules of one poker game: chips, cards and the order of play.

    Amounts are chips; players and rounds are counted from 0. Tuples are per player (`blinds`,
    `stacks`) or per round (`raise_sizes`, `max_raises`, `first_players`, `num_board_cards`,
    `discards`). Antes of toy games are represented as blinds of both players.

    Example:
        >>> rules = GameRules(name="tiny", betting="limit", blinds=(1, 1), raise_sizes=(2,),
        ...                   num_suits=1, num_ranks=4, num_hole_cards=1, num_board_cards=(0,))
        >>> rules.num_players, rules.max_raises, rules.deck.names
        (2, (255,), 'JsQsKsAs')
    """

    name: str
    betting: Literal["limit", "nolimit"]
    blinds: tuple[int, ...]
    stacks: tuple[int, ...] | None = None  # None: nobody runs out of chips (limit only)
    raise_sizes: tuple[int, ...] = ()  # empty in no-limit
    max_raises: tuple[int, ...] = ()  # default: 255 in every round
    first_players: tuple[int, ...] = ()  # default: player 0 in every round
    num_suits: int
    num_ranks: int
    num_hole_cards: int
    num_board_cards: tuple[int, ...]  # new cards of each round
    ranking: Literal["standard", "three-card"] = "standard"
    discards: tuple[bool, ...] = ()  # default: never
    rollout_cards: int = 0  # board cards after the last betting round

    def __post_init__(self) -> None:
        rounds = len(self.num_board_cards)
        defaults = {"max_raises": UNLIMITED_RAISES, "first_players": 0, "discards": False}
        for field, default in defaults.items():
            if not getattr(self, field):
                object.__setattr__(self, field, (default,) * rounds)
        for field, value, message in _problems(self):
            raise _RulesError(message, field=field, value=value)

    @property
    def is_limit(self) -> bool:
        """Return whether raises have a fixed size."""
        return self.betting == "limit"

    @property
    def num_players(self) -> int:
        """Number of players."""
        return len(self.blinds)

    @property
    def num_rounds(self) -> int:
        """Number of betting rounds."""
        return len(self.num_board_cards)

    @property
    def big_blind(self) -> int:
        """The largest blind in chips."""
        return max(self.blinds)

    @property
    def has_big_blind(self) -> bool:
        """Whether one blind is larger than another; otherwise everybody antes the same."""
        return len(set(self.blinds)) > 1

    @functools.cached_property
    def stack_chips(self) -> tuple[int, ...]:
        """Stack of each player in chips; `UNLIMITED_STACK` if the rules have no stacks."""
        return self.stacks or (UNLIMITED_STACK,) * self.num_players

    @property
    def deck(self) -> Deck:
        """The deck that the game is played with."""
        return Deck(num_ranks=self.num_ranks, num_suits=self.num_suits)

    @property
    def total_board_cards(self) -> int:
        """Number of board cards at a showdown."""
        return sum(self.num_board_cards) + self.rollout_cards

    @property
    def num_draws(self) -> int:
        """Number of replacement cards for the discard turns: one per player and turn."""
        return self.num_players * sum(self.discards)

    def board_cards_by(self, round: int) -> int:
        """Return the number of board cards on the table while `round` is played.

        Example:
            >>> from equilibrist.games.catalog import get_game
            >>> [get_game("holdem-limit").board_cards_by(round) for round in range(4)]
            [0, 3, 4, 5]
        """
        return sum(self.num_board_cards[: round + 1])


def _problems(rules: GameRules) -> Iterator[_Problem]:
    """Yield the problems of a set of rules, most basic first; checks rely on earlier ones."""
    yield from _name_problems(rules)
    yield from _number_problems(rules)
    yield from _chip_problems(rules)
    yield from _card_problems(rules)


def _name_problems(rules: GameRules) -> Iterator[_Problem]:
    name = rules.name
    if not 0 < len(name) <= 64 or not name.isprintable() or "#" in name or name != name.strip():
        message = f"a game's name must be 1 to 64 printable characters without #, not {name!r}"
        yield "name", name, message
    for field, choices in (
        ("betting", ("limit", "nolimit")),
        ("ranking", ("standard", "three-card")),
    ):
        value = getattr(rules, field)
        if value not in choices:
            yield field, value, f"{field} must be {' or '.join(choices)}, not {value!r}"


def _number_problems(rules: GameRules) -> Iterator[_Problem]:
    """Yield the problems of single fields: wrong lengths and numbers out of range."""
    players, rounds = rules.num_players, rules.num_rounds
    if not 2 <= players <= MAX_PLAYERS:
        yield "blinds", players, f"a game has 2 to {MAX_PLAYERS} players, not {players}"
    if not 1 <= rounds <= MAX_ROUNDS:
        yield "num_board_cards", rounds, f"a game has 1 to {MAX_ROUNDS} rounds, not {rounds}"
    checks: tuple[tuple[str, int, int, int], ...] = (  # field, length, least, most
        ("blinds", players, 0, UNLIMITED_STACK),
        ("stacks", players, 1, UNLIMITED_STACK),
        ("raise_sizes", rounds if rules.is_limit else 0, 1, UNLIMITED_STACK),
        ("max_raises", rounds, 0, UNLIMITED_RAISES),
        ("first_players", rounds, 0, players - 1),
        ("num_board_cards", rounds, 0, 7),
        ("discards", rounds, 0, 1),
        ("num_suits", 1, 1, 4),
        ("num_ranks", 1, 1, 13),
        ("num_hole_cards", 1, 1, 7),
        ("rollout_cards", 1, 0, 7),
    )
    for field, length, least, most in checks:
        value = getattr(rules, field)
        values = value if isinstance(value, tuple) else (value,)
        if field == "stacks" and value is None:
            continue
        if len(values) != length:
            yield field, value, f"{field} needs {length} values, not {len(values)}"
        for number in values:
            if not isinstance(number, int) or not least <= number <= most:
                yield (
                    field,
                    number,
                    f"{field} must contain whole numbers {least} to {most}, not {shown(number)}",
                )


def _chip_problems(rules: GameRules) -> Iterator[_Problem]:
    if not rules.is_limit and rules.stacks is None:
        yield "stacks", None, "no-limit betting needs a stack for each player"
    for blind, stack in zip(rules.blinds, rules.stack_chips, strict=True):
        if blind > stack:
            yield "blinds", blind, f"a blind of {blind} is above its player's stack of {stack}"
    raises = sum(size * cap for size, cap in zip(rules.raise_sizes, rules.max_raises, strict=False))
    if rules.big_blind + raises > UNLIMITED_STACK:
        most = rules.big_blind + raises
        yield "raise_sizes", most, f"a player could put in {most} chips; 2147483647 is the limit"


def _card_problems(rules: GameRules) -> Iterator[_Problem]:
    hand = rules.num_hole_cards + rules.total_board_cards
    if rules.ranking == "three-card" and hand != 3:
        yield "ranking", hand, f"three-card ranking needs 3 cards at a showdown, not {hand}"
    if hand > 7:
        yield "num_board_cards", hand, f"at most 7 cards are ranked at a showdown, not {hand}"
    needed = rules.num_players * rules.num_hole_cards + rules.total_board_cards + rules.num_draws
    if needed > len(rules.deck):
        message = f"a deal needs {needed} cards, but the deck has {len(rules.deck)}"
        yield "num_hole_cards", needed, message


# --- game definitions as text ---------------------------------------------------------------------

# Key in a file -> field of GameRules and its number of values.
_KEYS = {
    "blind": ("blinds", "players"),
    "raiseSize": ("raise_sizes", "rounds"),
    "stack": ("stacks", "players"),
    "firstPlayer": ("first_players", "rounds"),
    "maxRaises": ("max_raises", "rounds"),
    "numSuits": ("num_suits", "one"),
    "numRanks": ("num_ranks", "one"),
    "numHoleCards": ("num_hole_cards", "one"),
    "numBoardCards": ("num_board_cards", "rounds"),
}
_COUNTS = ("numPlayers", "numRounds")
_OPTIONAL = ("firstPlayer", "maxRaises", "stack", "raiseSize")
# Keys inside `# equilibrist:` comments.
_OWN_KEYS = {
    "name": ("name", "text"),
    "ranking": ("ranking", "text"),
    "discards": ("discards", "rounds"),
    "rolloutCards": ("rollout_cards", "one"),
}
_OWN_COMMENT = re.compile(r"#\s*equilibrist:\s*(.*)", re.IGNORECASE)
_ASSIGNMENT = re.compile(r"([A-Za-z]+)\s*=?\s*(.*)")
_NUMBER = re.compile(r"[0-9]{1,10}")


class _Entry(NamedTuple):
    line: int  # counted from 1
    key: str
    text: str  # right of the equals sign

    def error(self, message: str, value: object = None) -> GameFileError:
        return GameFileError(
            f"line {self.line}, {self.key}: {message}", value=value, position=self.line
        )


def parse_rules(text: str, name: str = "game") -> GameRules:
    """Parse a game definition; `name` is used if the text has no name.

    Raises `GameFileError`, which names the line and the key.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> leduc = get_game("leduc")
        >>> parse_rules(rules_text(leduc)) == leduc
        True
    """
    entries = _read_entries(text)
    counts = {"one": 1}
    for key in _COUNTS:
        if key not in entries:
            raise _missing(key)
        counts[key[3:].lower()] = _numbers(entries[key], 1)[0]
    fields: dict[str, Any] = {"name": name}
    if "betting" not in entries:
        raise GameFileError("the definition has neither limit nor nolimit; write one of them")
    fields["betting"] = entries["betting"].text
    for key, (field, count) in (_KEYS | _OWN_KEYS).items():
        if key in entries:
            fields[field] = _field_value(entries[key], count, counts)
        elif key in _KEYS and key not in _OPTIONAL:
            raise _missing(key)
    try:
        return GameRules(**fields)
    except _RulesError as error:
        raise _located(error, entries) from None


def read_rules(path: str | Path) -> GameRules:
    """Read a game definition file; the default name of the game is the name of the file.

    Raises `GameFileError` also if the file cannot be read.
    """
    text = read_text(path, GameFileError)
    return parse_rules(text, name=Path(path).stem)


def rules_text(rules: GameRules) -> str:
    """Return the game definition of a set of rules; the inverse of `parse_rules`."""
    defaults: dict[str, object] = {  # values that are omitted
        "stacks": None,
        "raise_sizes": (),
        "ranking": "standard",
        "discards": (False,) * rules.num_rounds,
        "rollout_cards": 0,
    }
    lines = ["GAMEDEF", rules.betting]
    lines += [f"numPlayers = {rules.num_players}", f"numRounds = {rules.num_rounds}"]
    for key, (field, count) in (_KEYS | _OWN_KEYS).items():
        value = getattr(rules, field)
        if field in defaults and value == defaults[field]:
            continue
        if key == "firstPlayer":
            value = tuple(player + 1 for player in value)
        words = str(value) if count in ("one", "text") else " ".join(str(int(v)) for v in value)
        lines.append(f"{'' if key in _KEYS else '# equilibrist: '}{key} = {words}")
    return "\n".join([*lines, "END GAMEDEF", ""])


def _read_entries(text: str) -> dict[str, _Entry]:
    """Read the entries of a definition by key; `betting` is the word limit or nolimit."""
    entries: dict[str, _Entry] = {}
    inside = False
    number = 0
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.strip()
        own = _OWN_COMMENT.match(line)
        line = own.group(1) if own else line.split("#")[0].strip()
        if not line:
            continue
        if not inside and not own:
            if line.lower() != "gamedef":
                raise _Entry(number, "GAMEDEF", "").error(
                    f"a definition must start with GAMEDEF, not {line[:40]!r}", line
                )
            inside = True
        elif line.lower() == "end gamedef" and not own:
            return entries
        else:
            entry = _read_entry(number, line, _OWN_KEYS if own else (*_KEYS, *_COUNTS))
            if entry.key in entries:
                first = entries[entry.key].line
                raise entry.error(f"given twice, first in line {first}", entry.key)
            entries[entry.key] = entry
    raise GameFileError(
        f"line {number}: the definition ends without END GAMEDEF", value="", position=number
    )


def _read_entry(number: int, line: str, keys: Sequence[str] | dict[str, tuple[str, str]]) -> _Entry:
    if line.lower() in ("limit", "nolimit") and keys is not _OWN_KEYS:
        return _Entry(number, "betting", line.lower())
    match = _ASSIGNMENT.fullmatch(line)
    word = match.group(1) if match else line[:40]
    spelling = {key.lower(): key for key in keys}
    if match is None or word.lower() not in spelling:
        nearest = difflib.get_close_matches(word.lower(), spelling, n=1, cutoff=0.4)
        hint = f"did you mean {spelling[nearest[0]]}?" if nearest else f"keys are {', '.join(keys)}"
        raise _Entry(number, word, "").error(f"unknown key; {hint}", word)
    return _Entry(number, spelling[word.lower()], match.group(2).strip())


def _field_value(entry: _Entry, count: str, counts: dict[str, int]) -> object:
    if count == "text":
        return entry.text
    numbers = _numbers(entry, counts[count])
    if entry.key == "firstPlayer":
        return tuple(number - 1 for number in numbers)
    if entry.key == "discards":
        return tuple(bool(number) if number in (0, 1) else number for number in numbers)
    return numbers[0] if count == "one" else numbers


def _numbers(entry: _Entry, count: int) -> tuple[int, ...]:
    words = entry.text.split()
    for word in words:
        if word[0] == "-":
            raise entry.error(f"{word[:40]} is negative; numbers must be at least 0", word)
        if not _NUMBER.fullmatch(word):
            raise entry.error(f"{word[:40]!r} is not a whole number up to 2147483647", word)
    if len(words) != count:
        many = "many" if len(words) > count else "few"
        raise entry.error(f"too {many} values; {count} expected, not {len(words)}", entry.text)
    return tuple(int(word) for word in words)


def _missing(key: str) -> GameFileError:
    return GameFileError(f"the definition has no {key}; add a line `{key} = …`", value=key)


def _located(error: _RulesError, entries: dict[str, _Entry]) -> GameFileError:
    """Return the error with the line of the key that caused it."""
    for key, entry in entries.items():
        if (_KEYS | _OWN_KEYS).get(key, (key,))[0] == error.field:
            return entry.error(str(error), error.value)
    return GameFileError(str(error), value=error.value)
