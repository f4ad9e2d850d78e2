"""Does any text make a parser of Equilibrist fail otherwise than by an `EquilibristError`?

Every parser receives texts of its own grammar and random changes of them: characters cut,
doubled, swapped and replaced, pieces of other texts, numbers of thousands of digits, control
characters, digits and letters of other alphabets, texts a hundred thousand characters long. A
parser must return a value or raise an `EquilibristError`. A value with a text form must survive
being written and read again. An input that takes more than `--slow` seconds of processor time is
reported, one that takes more than `--limit` is stopped, and so is one that waits.

Run: python trials/fuzz_parsers.py [--trials 1000000] [--seed 0] [--seconds 900] [--only range,phh]

Prints a row per parser; the exit code is 1 if an exception, a round trip or a time was wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import io
import json
import os
import random
import resource
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from equilibrist.errors import EquilibristError

Random = random.Random
_MEMORY = 4 * 2**30  # bytes that parsing may take on top of what is loaded
_LONGEST = 100_000  # characters
_SHOWN = 160  # characters of an input in the report
_CLOCKS = (signal.SIGPROF, signal.SIGALRM)  # of processor time, and of waiting
_PATIENCE = 30  # a parser that waits is stopped after this many times the limit


@dataclass(frozen=True)
class Parser:
    """One parser: how to generate a text, how to parse it, and what must hold for the value."""

    name: str
    make: Callable[[Random], Any]  # an input, most often a text of the grammar
    read: Callable[[Any], Any]
    same: Callable[[Any, Any], bool] | None = None  # whether the value survives the round trip
    weight: float = 1.0  # weight among the parsers


@dataclass
class Tally:
    """The results of one parser."""

    trials: int = 0
    accepted: int = 0
    seconds: float = 0.0
    strays: dict[str, tuple[int, str]] = field(default_factory=dict)  # kind -> number, an example
    slow: list[tuple[float, str]] = field(default_factory=list)

    def stray(self, kind: str, given: Any) -> None:
        """Record an exception that is not ours, or a value that did not survive the round trip."""
        count, example = self.strays.get(kind, (0, ""))
        text = repr(given)
        self.strays[kind] = count + 1, text if not example or len(text) < len(example) else example


class TooSlowError(BaseException):
    """The error that the clock raises; no parser catches it."""


# --- random texts ---------------------------------------------------------------------------------

_SPECIAL = (
    *("", " ", "\t", "\n", "\r", "\x00", "\x1b[31m", "\ufeff", "\udc80", "é", "ſ", "\u212a", "²"),
    *("٣", "１", "𝟗", "½", "−1", "-1", "+1", "-0", "0x10", "1_0", "1e5", "1e999", "nan", "inf"),
    *("%s", "{0}", "{", "}", "[", "]", "(", ")", '"', "'", "\\", "/", "//", "..", ".", ",", ":"),
    *(";", "|", "~", "=", "#", "*", "?", "-", "+", "_", "%", "None", "true", "0", "00", "1"),
    *("255", "256", "2147483647", "2147483648", "9223372036854775808", "99999999999999999999"),
)
_ALPHABETS = (
    "0123456789",
    "abcdefghijklmnopqrstuvwxyz",
    "fckdr0123456789/",
    "23456789TJQKAcdhs",
    "AKQJT98765432so+-:.,% ",
    '[]{}",=.\n#',
)


def number(rng: Random) -> str:
    """Return a number in a usual or an unusual form."""
    kind = rng.random()
    if kind < 0.6:
        return str(rng.randrange(0, 12))
    if kind < 0.8:
        return str(rng.randrange(0, 30_000))
    if kind < 0.9:
        return f"{rng.uniform(0, 2):.{rng.randrange(0, 5)}f}"
    if kind < 0.97:
        return rng.choice(_SPECIAL)
    return rng.choice(("9", "0", "-9", "0.", "1")) + rng.choice("0179") * rng.choice(
        (30, 400, 5000)
    )


def mutate(rng: Random, text: str) -> str:
    """Return a text that differs from the given one in one to eight places."""
    for _ in range(1 + min(7, int(rng.expovariate(0.7)))):
        size = len(text)
        at = rng.randrange(size + 1)
        end = min(size, at + 1 + int(rng.expovariate(0.3)))
        kind = rng.randrange(10)
        if kind == 0:
            text = text[:at] + text[end:]
        elif kind == 1:
            text = text[:at] + rng.choice(_SPECIAL) + text[at:]
        elif kind == 2:
            text = text[:at] + rng.choice(_SPECIAL) + text[end:]
        elif kind == 3:
            text = text[:end] + text[at:end] * rng.choice((1, 2, 20)) + text[end:]
        elif kind == 4:
            text = text[:at] + rng.choice(rng.choice(_ALPHABETS)) + text[at + 1 :]
        elif kind == 5:
            other = rng.randrange(size + 1)
            text = text[:at] + text[other : other + end - at] + text[end:]
        elif kind == 6:
            text = text[:at] + number(rng) + text[end:]
        elif kind == 7:
            text = text[at:end] + text[:at] + text[end:]
        elif kind == 8:
            text = text[:at] + text[at:end].swapcase() + text[end:]
        else:
            text = text[:at] if rng.random() < 0.5 else text[at:]
    if rng.random() < 0.003 and text:
        text *= rng.randrange(1, 1 + max(1, _LONGEST // len(text)))
    return text[:_LONGEST]


def noise(rng: Random) -> str:
    """Return a text without a grammar."""
    if rng.random() < 0.02:
        return rng.choice(_SPECIAL) * rng.choice((1, 100, 5000))
    alphabet = rng.choice(_ALPHABETS)
    return "".join(rng.choices(alphabet, k=int(rng.expovariate(0.08))))


def texts(grammar: Callable[[Random], str]) -> Callable[[Random], str]:
    """Return a function that makes texts of a grammar, most of them changed."""

    def make(rng: Random) -> str:
        kind = rng.random()
        if kind < 0.04:
            return noise(rng)
        text = grammar(rng)
        return text if kind < 0.3 else mutate(rng, text)

    return make


def some(rng: Random, item: Callable[[Random], str], between: str, most: int = 5) -> str:
    """Return one to `most` items with separators between them."""
    return between.join(item(rng) for _ in range(rng.randint(1, most)))


# --- grammars -------------------------------------------------------------------------------------


def card(rng: Random) -> str:
    """Return a card, such as Td."""
    return rng.choice("23456789TJQKA") + rng.choice("cdhs")


def cards(rng: Random) -> str:
    """Return different cards, with or without spaces."""
    deck = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
    return rng.choice(("", "", " ")).join(rng.sample(deck, rng.randint(1, 8)))


def classes(rng: Random) -> str:
    """Return a pair, or suited or offsuit hands."""
    ranks = "23456789TJQKA"
    high, low = sorted((rng.randrange(13), rng.randrange(13)), reverse=True)
    suffix = rng.choice(("s", "o", "")) if high > low else ""
    return ranks[high] + ranks[low] + suffix


def header(rng: Random) -> str:
    """Return the first line of a log."""
    return f"# name/game/hands/seed match {game_name(rng)}.game {number(rng)} {number(rng)}"


def range_text(rng: Random) -> str:
    """Return a range, such as QQ+, A5s-A2s, AhKh:0.5."""

    def token(rng: Random) -> str:
        kind = rng.randrange(6)
        text = (
            classes(rng) if kind < 2
            else f"{classes(rng)}+" if kind == 2
            else rng.choice(("TT-77", "A5s-A2s", "JTs-87s", "KTo-K7o", "22-55")) if kind == 3
            else f"{classes(rng)}-{classes(rng)}" if kind == 4 and rng.random() < 0.2
            else "".join(rng.sample(("As", "Kh", "7d", "2c"), 2)) if kind == 4
            else rng.choice(("random", "*", "10s9s", "AA"))
        )  # fmt: skip
        weight = number(rng) if rng.random() < 0.1 else str(rng.randrange(11) / 10)
        return text + (f":{weight}" if rng.random() < 0.3 else "")

    return some(rng, token, rng.choice((",", ", ")), 6)


def game_name(rng: Random) -> str:
    """Return the name of a game of the catalogue."""
    return rng.choice(_names())


@functools.cache
def _names() -> tuple[str, ...]:
    from equilibrist.games.catalog import game_names

    return game_names()


@functools.cache
def rules(name: str) -> Any:
    """Return the rules of a game."""
    from equilibrist.games.catalog import get_game

    return get_game(name)


def definition(rng: Random) -> str:
    """Return a game definition of the catalogue with some numbers changed."""
    from equilibrist.games.rules import rules_text

    lines = rules_text(rules(game_name(rng))).split("\n")
    for _ in range(rng.randrange(4)):
        at = rng.randrange(len(lines))
        key, equals, value = lines[at].partition("=")
        if equals:
            words = value.split() or ["0"]
            words[rng.randrange(len(words))] = number(rng)
            lines[at] = f"{key}= {' '.join(words)}"
    if rng.random() < 0.2:
        rng.shuffle(lines)
    return "\n".join(lines)


def size(rng: Random) -> str:
    """Return one bet size."""
    kinds = ("", "e", "c", "bb", "%", "x")
    return rng.choice(("a", "e", *(number(rng) + kind for kind in kinds)))


def amount(rng: Random) -> str:
    """Return an amount of money of a spot."""
    return number(rng) + rng.choice(("", "chips", "bb", " bb", ".5", ".25bb", "%"))


def sizes(rng: Random) -> str:
    """Return bet sizes of rounds and seats."""

    def seat(rng: Random) -> str:
        return "-" if rng.random() < 0.1 else some(rng, size, rng.choice((",", ", ")), 3)

    def street(rng: Random) -> str:
        return some(rng, seat, " | ", 2)

    return some(rng, street, rng.choice((" / ", "/")), 4)


def threshold(rng: Random) -> str:
    """Return a threshold of a bet menu."""
    return rng.choice((number(rng), "0", "12.5", "150")) + rng.choice(("%", "%", "%", "", " %"))


def menu_texts(rng: Random) -> dict[str, str]:
    """Return the texts of a bet menu, by the names of its fields."""
    makers = {
        "bets": sizes, "raises": sizes, "max_raises": caps, "donks": sizes, "add_all_in": threshold,
        "force_all_in": threshold, "merge": threshold,
    }  # fmt: skip
    given = {name: make(rng) for name, make in makers.items() if rng.random() < 0.3}
    if given and rng.random() < 0.3:
        name = rng.choice(list(given))
        given[name] = mutate(rng, given[name])
    return given


def caps(rng: Random) -> str:
    """Return raise caps."""
    return some(rng, number, rng.choice((" ", ",", ", ")), 5)


def rising(rng: Random) -> str:
    """Return numbers of buckets, one per round."""
    return rng.choice((",", "-")).join(str(2 + 3 * n) for n in range(rng.randint(1, 4)))


def betting(rng: Random, game: str | None = None) -> str:
    """Return betting that follows the rules of a game for a while."""
    from equilibrist.games.betting import Betting

    state = Betting.start(rules(game or game_name(rng)))
    for _ in range(rng.randrange(14)):
        if state.is_over:
            break
        state = state.apply(_legal(rng, state))
    return state.text


def _legal(rng: Random, state: Any) -> Any:
    from equilibrist.games.action import FOLD, raise_to

    legal = state.legal_actions()
    actions = [action for action in legal.actions if action != FOLD or rng.random() < 0.2]
    if legal.raise_to is not None and (not actions or rng.random() < 0.4):
        low, high = legal.raise_to
        return raise_to(rng.choice((low, high, rng.randint(low, high))))
    return rng.choice(actions or list(legal.actions))


def hand(rng: Random, game: str, *, whole: bool = False) -> Any:
    """Return a hand of a game, played at random, perhaps to its end."""
    from equilibrist.games.action import Action
    from equilibrist.games.dealing import Dealer
    from equilibrist.games.state import HandState

    game_rules = rules(game)
    deal = next(Dealer(game_rules, rng.randrange(2**32)))
    state = HandState.start(game_rules, deal, rng.randrange(1000))
    for _ in range(100 if whole else rng.randrange(12)):
        if state.is_over:
            break
        action = _legal(rng, state.betting)
        if action.kind == "d":
            action = Action("d", card=rng.choice(state.holes[state.actor]))
        state = state.apply(action)
    return state


def state_text(rng: Random) -> tuple[str, str]:
    """Return a game and a state line of one of its hands."""
    from equilibrist.games.notation import state_line

    game = game_name(rng)
    line = state_line(hand(rng, game), rng.choice((None, 0, 1)))
    return game, mutate(rng, line) if rng.random() < 0.7 else line


def _record(rng: Random, game: str) -> Any:
    from equilibrist.games.records import HandRecord

    return HandRecord.of(hand(rng, game, whole=True), rng.sample(("Ann", "Bob", "p 3", "é"), 2))


def log_text(rng: Random) -> tuple[str, str]:
    """Return a game and a line of a log."""
    from equilibrist.games.records import log_line

    game = game_name(rng)
    line = log_line(_record(rng, game))
    return game, mutate(rng, line) if rng.random() < 0.7 else line


def log_lines(rng: Random) -> tuple[str, str]:
    """Return a game and a whole log."""
    from equilibrist.games.match_log import score_line
    from equilibrist.games.records import HandRecord, log_line

    game = rng.choice(("kuhn", "leduc", "holdem-limit"))
    hands = [hand(rng, game, whole=True) for _ in range(rng.randint(1, 3))]
    lines = [f"# name/game/hands/seed match {game}.game {len(hands)} {number(rng)}"]
    totals = [0, 0]
    for n, state in enumerate(hands):
        names = _SEATS if n % 2 == 0 else _SEATS[::-1]
        record = HandRecord.of(replace(state, hand_number=n), names)
        totals = [
            t + record.payoffs[names.index(who)] for t, who in zip(totals, _SEATS, strict=True)
        ]
        lines.append(log_line(record))
    lines.append(score_line(totals, _SEATS))
    if rng.random() < 0.4:
        lines = lines[1:]
    text = "\n".join(lines)
    return game, mutate(rng, text) if rng.random() < 0.7 else text


def history(rng: Random) -> str:
    """Return a hand history in PHH."""
    from equilibrist.games.phh import phh_text

    text = phh_text(_record(rng, rng.choice(("holdem-limit", "holdem-nolimit"))))
    if rng.random() < 0.3:
        lines = text.split("\n")
        key, equals, _ = lines[rng.randrange(len(lines))].partition("=")
        value = rng.choice(
            ('"x"', "[1, 2]", "0x" + "f" * 5000, "[" * 900, "{}", "1979-05-27", "inf")
        )
        lines.append(f"{key if rng.random() < 0.5 else 'x'}{equals or '='}{value}")
        text = "\n".join(lines)
    return text


def toml(rng: Random) -> str:
    """Return a tournament file."""
    players = ", ".join(f'"{player(rng)}"' for _ in range(rng.randint(1, 4)))
    lines = [
        f'game = "{game_name(rng)}"',
        f"players = [{players}]",
        f"hands = {number(rng)}",
        f"seed = {number(rng)}",
        f"duplicate = {rng.choice(('true', 'false', '1'))}",
        f"agreed_rounds = {number(rng)}",
    ]
    if rng.random() < 0.2:
        deep = rng.choice((3, 40, 2000))
        lines.append(rng.choice(("x = " + "[" * deep, "a." * deep + "a = 1", "[[a]]\n" * deep)))
    rng.shuffle(lines)
    return "\n".join(lines[: rng.randint(2, 7)])


def mix(rng: Random) -> str:
    """Return probabilities of fold, call and raise."""
    fold, call = sorted((rng.randrange(11) / 10, rng.randrange(11) / 10))
    given = [str(fold), repr(call - fold), repr(1 - call)]
    if rng.random() < 0.4:
        given[rng.randrange(3)] = number(rng)
    return f"mix:{','.join(given)}"


def player(rng: Random) -> str:
    """Return a player with its options."""
    name = rng.choice(_player_names())
    options = (
        "", "", "0.1,0.6,0.3", "miximix", "first",
        "no-such-folder,purify", "no-such-folder,threshold=" + number(rng), "x" * 300,
        "iterations=" + number(rng), number(rng), "from=x", "always-call", "ectomynx:first",
        "lbr:" * 9,
    )  # fmt: skip
    if rng.random() < 0.2:
        return mix(rng)
    return f"{name}:{rng.choice(options)}" if rng.random() < 0.6 else name


@functools.cache
def _player_names() -> tuple[str, ...]:
    from equilibrist.players.catalog import player_names

    return player_names()


def node(rng: Random) -> str:
    """Return a node of the spots below."""
    return rng.choice(_spot().names) if rng.random() < 0.7 else some(rng, size, "", 6)


def lock(rng: Random) -> str:
    """Return a locked decision."""
    name = node(rng)
    actions = ("c", size(rng))
    if name in _spot().names:
        actions = _spot().actions(_spot().find(name)) or actions
    often = rng.choice((number(rng), "0.5", "0", range_text(rng)))
    parts = [f"{action}={often}" for action in actions[: rng.randint(1, 3)]]
    return f"{name}: {'; '.join(parts)}"


@functools.cache
def _spot() -> Any:
    from equilibrist.models.spot import Chips, Spot

    return Spot.of(
        "AsKsQhTd2c", "QQ+", "JJ,AK", Chips(pot=40, stack=90), bets="60%,a", max_raises="2"
    )


def spot(rng: Random) -> dict[str, Any]:
    """Return the arguments of a spot."""

    def change(text: str) -> str:
        return mutate(rng, text) if rng.random() < 0.15 else text

    given = {
        "board": change("".join(rng.sample(("5s", "6s", "7h", "9d", "4c", "7d"), 5))),
        "oop": change(range_text(rng) if rng.random() < 0.3 else "QQ+,AK"),
        "ip": change(range_text(rng) if rng.random() < 0.3 else "88-22:0.5,T9s"),
        "pot": _money(rng, 40),
        "stack": _money(rng, 90),
        "bets": change(some(rng, size, ",", 2) if rng.random() < 0.3 else "50%,a"),
        "raises": change(size(rng)) if rng.random() < 0.3 else None,
        "max_raises": change(caps(rng)) if rng.random() < 0.2 else "1",
        "donks": change(size(rng)) if rng.random() < 0.2 else None,
        "merge": change(threshold(rng)) if rng.random() < 0.1 else None,
        "force_all_in": change(threshold(rng)) if rng.random() < 0.1 else None,
        "locks": [change(lock(rng))] if rng.random() < 0.15 else [],
    }
    if rng.random() < 0.2:
        given |= {"rake": change(f"{number(rng)}%"), "rake_cap": _money(rng, 3)}
    return given | ({"blind": _money(rng, 1)} if rng.random() < 0.2 else {})


def _build_spot(given: dict[str, Any]) -> Any:
    """Return the spot of the arguments of `spot`."""
    from equilibrist.models.spot import Chips, Spot

    given = dict(given)
    names = ("pot", "stack", "blind", "rake", "rake_cap")
    chips = Chips(**{name: given.pop(name) for name in names if name in given})
    locks = given.pop("locks")
    return Spot.of(chips=chips, **given).with_locks(locks)


def _integer(rng: Random, usual: int) -> int:
    if rng.random() < 0.93:
        return usual
    return rng.choice((0, -1, 1, 2, 3, 1000, 2**31, 2**63, 10**400, 10**5000, -(10**5000)))


def _money(rng: Random, usual: int) -> Any:
    """Return an amount of a spot as a number, or as text of one or two amounts."""
    if rng.random() < 0.8:
        return _integer(rng, usual)
    return rng.choice((some(rng, amount, ",", 2), f"{usual}bb", usual / 8, float("nan"), None))


_SEATS = ("Ann", "Bob")
_ENGINE = """\
NEWGAME Ann Bob 200 2 2 20.000000
NEWHAND 1 false 8s 2h 0 0 20.000000
GETACTION 4 0 3 POST:1:Bob POST:2:Ann CALL:Bob 2 CHECK RAISE:4:200 20.000000
GETACTION 4 3 7h Ad Td 2 CHECK:Ann DEAL:FLOP 3 CHECK DISCARD:8s DISCARD:2h 19.999989
GETACTION 4 3 7h Ad Td 2 DISCARD:2h:Kh:Ann CHECK:Bob 2 CHECK BET:2:198 19.999978
GETACTION 4 4 7h Ad Td 4s 3 CHECK:Ann CHECK:Bob DEAL:TURN 3 CHECK DISCARD:8s DISCARD:Kh 19.99
GETACTION 4 4 7h Ad Td 4s 2 DISCARD:8s:5s:Ann CHECK:Bob 2 CHECK BET:2:198 19.999956
GETACTION 4 5 7h Ad Td 4s Kc 3 CHECK:Ann CHECK:Bob DEAL:RIVER 2 CHECK BET:2:198 19.999929
HANDOVER 0 0 5 7h Ad Td 4s Kc 4 BET:196:Ann CALL:Bob SHOW:5s:Kh:Ann SHOW:Kd:5c:Bob 9
NEWHAND 2 true Ah 9s 0 0 19.992855
GETACTION 3 0 2 POST:1:Ann POST:2:Bob 3 FOLD CALL RAISE:4:200 19.992855
HANDOVER 192 -192 0 3 FOLD:Ann REFUND:1:Bob WIN:2:Bob 19.992847
REQUESTKEYVALUES
""".splitlines()  # lines that a Pokerbots engine sends to Ann over two hands


def pokerbots_lines(rng: Random) -> list[str]:
    """Return the lines of a Pokerbots engine over two hands, some of them changed."""
    lines = list(_ENGINE)
    for _ in range(rng.randrange(3)):
        at = rng.randrange(len(lines))
        lines[at] = mutate(rng, lines[at])[:4096]
    if rng.random() < 0.2:
        lines.insert(rng.randrange(len(lines)), noise(rng)[:4096])
    return lines


class Link:
    """One end of a socket pair, which unlike TCP has no options to set."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end

    def setsockopt(self, *_: object) -> None:
        """Ignore the option."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._end, name)


class Script:
    """A connection that sends a fixed list of lines."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = iter(lines)

    def receive(self, seconds: float | None = None) -> str | None:
        """Return the next line."""
        return next(self._lines, None)

    def send(self, line: str, seconds: float | None = None) -> None:
        """Receive an answer."""


def acpc_lines(rng: Random) -> tuple[str, list[str]]:
    """Return a game and the lines of an ACPC dealer."""
    from equilibrist.games.notation import state_line

    game = game_name(rng)
    lines = [state_line(hand(rng, game), rng.randrange(2)) for _ in range(rng.randint(1, 3))]
    at = rng.randrange(len(lines))
    lines[at] = mutate(rng, lines[at])[:4096]
    return game, lines


def answer(rng: Random) -> tuple[str, int, str]:
    """Return a game, a seed of a state, and the answer of an ACPC client."""
    return game_name(rng), rng.randrange(40), texts(_acpc_answer)(rng)


def _acpc_answer(rng: Random) -> str:
    return rng.choice((":f", ":c", ":r", ":k", ":d" + card(rng), ":r" + number(rng)))


@functools.cache
def _state(game: str, seed: int) -> Any:
    """Return a state in which a player acts."""
    rng = Random(seed)
    while True:
        state = hand(rng, game)
        if not state.is_over:
            return state


def command(rng: Random) -> list[str]:
    """Return a command line that runs quickly."""
    options = {
        "--seed": number, "--threads": number, "--json": None, "--pattern": caps, "--at": number,
        "--ranks": number, "--suits": number, "--ranking": noise, "--max-raises": caps,
        "--bets": sizes, "--raises": sizes, "--donks": sizes, "--merge": threshold,
        "--add-all-in": threshold, "--force-all-in": threshold,
        "--rounds": lambda r: f"{number(r)}-{number(r)}",
        "--pot": number, "--node": lambda r: betting(r, "leduc"), "--board": cards,
        "--dead": cards, "--samples": number, "--method": noise, "--wrong": None,
    }  # fmt: skip
    words = rng.choice(
        (
            ["rank", cards(rng)],
            ["index", cards(rng)],
            ["index"],
            ["tree", rng.choice(("kuhn", "leduc", noise(rng)))],
            ["games", "show", rng.choice(("kuhn", "leduc", noise(rng)))],
            ["games"],
            ["equity", range_text(rng)],
            [noise(rng)],
        )
    )
    for option in rng.sample(list(options), rng.choice((0, 0, 1, 1, 2, 3))):
        value = options[option]
        words += [option] if value is None else [option, value(rng)]
    return [mutate(rng, word)[:5000] if rng.random() < 0.1 else word for word in words]


def run_command(words: list[str]) -> int:
    """Run a command line in this process; its exit code must be one of ours."""
    from equilibrist.cli import run

    before, out, err = sys.argv, io.StringIO(), io.StringIO()
    try:
        sys.argv = ["equilibrist", *words]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run()
    finally:
        sys.argv = before
    if code not in (0, 2) or (code == 2 and err.getvalue().count("\n") != 1):
        raise AssertionError(f"exit code {code}, stderr {err.getvalue()[:200]!r}")
    if code == 2:
        raise EquilibristError(err.getvalue())
    return code


# --- folders of others ----------------------------------------------------------------------------


@functools.cache
def _manifest() -> dict[str, Any]:
    """Return the manifest of a small artefact."""
    import numpy as np

    from equilibrist.storage.artefact import Header, write_artefact
    from equilibrist.storage.manifest import read_manifest

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "specimen"
        arrays = {"plan0": np.arange(6.0), "first": np.ones((3, 2), np.int32)}
        settings = {"game": "GAMEDEF", "sizes": [1, 2.5, {"deep": [None]}]}
        write_artefact(
            place, Header("specimen", configuration=settings, info={"iterations": 3}), arrays
        )
        return read_manifest(place)


def manifest_text(rng: Random) -> str:
    """Return a manifest with other values, half of the time with a matching checksum."""
    from equilibrist.storage.manifest import digest

    manifest = json.loads(json.dumps(_manifest()))
    for _ in range(rng.randrange(3)):
        part = manifest
        while True:
            key = rng.choice(list(part)) if isinstance(part, dict) else rng.randrange(len(part))
            if isinstance(part[key], dict | list) and part[key] and rng.random() < 0.7:
                part = part[key]
                continue
            break
        if rng.random() < 0.2:
            del part[key]
            break
        part[key] = rng.choice(
            (None, True, 0, -1, 2**63, 10**300, 1.5, "", "x" * 300, [], {}, noise(rng), [[[]]] * 3)
        )
    if rng.random() < 0.5:
        manifest["sha256"] = digest(manifest)
    text = json.dumps(manifest)
    if rng.random() < 0.05:
        deep = rng.choice((30, 400, 900, 980, 2000, 100_000))
        text = text.replace("null", "[" * deep + "]" * deep, 1)
    return text


def read_manifest_text(text: str) -> Any:
    """Read the manifest of a folder with a given text."""
    from equilibrist.storage.manifest import read_manifest

    folder = Path("folder")
    folder.mkdir(exist_ok=True)
    (folder / "manifest.json").write_bytes(text.encode(errors="surrogatepass"))
    return read_manifest(folder)


def lock_text(rng: Random) -> str:
    """Return the text of a folder's lock."""
    from equilibrist.storage.ownership import LockText

    others = (noise(rng).encode(errors="replace").decode() for _ in range(rng.randrange(3)))
    names = frozenset({"plan0-1.npy", *others})
    held = LockText(rng.randrange(10**7), rng.randrange(10**9) / 8, rng.random() < 0.5, names)
    return held.encode().decode(errors="surrogateescape")


# --- the parsers ----------------------------------------------------------------------------------


@functools.cache
def _uniform_kuhn() -> tuple[Any, Any]:
    """Return Kuhn's exact game, and plans that take every action with the same probability."""
    from equilibrist.models.exact import exact_game

    game = exact_game(rules("kuhn"))
    return game, tuple(game.realize(player, game.uniform(player)) for player in (0, 1))


def parsers() -> list[Parser]:
    """Return all parsers."""
    from equilibrist.bots.open import open_strategy
    from equilibrist.bots.registry import BOTS
    from equilibrist.cards.card import card_name, cards_name, parse_card, parse_cards
    from equilibrist.cards.hand import class_name, parse_class
    from equilibrist.cards.numbers import parse_whole, whole_number
    from equilibrist.cards.range import parse_range
    from equilibrist.cards.range import range_text as range_name
    from equilibrist.cards.ranking import hand_description, rank_cards
    from equilibrist.errors import ParseError
    from equilibrist.evaluation.statistics import chips_of_unit
    from equilibrist.games.action import action_name, parse_action
    from equilibrist.games.bet_menu import BetMenu, parse_size, parse_sizes, sizes_text
    from equilibrist.games.betting_tree import BettingTree
    from equilibrist.games.catalog import load_game
    from equilibrist.games.files import parse_toml
    from equilibrist.games.match_log import parse_header, read_log
    from equilibrist.games.notation import parse_betting, parse_state, state_line
    from equilibrist.games.phh import parse_phh
    from equilibrist.games.records import log_line, parse_log_line
    from equilibrist.games.rules import parse_rules, rules_text
    from equilibrist.models.card_states import card_states
    from equilibrist.models.money import Amount
    from equilibrist.models.spot import parse_lock
    from equilibrist.play import acpc, pokerbots
    from equilibrist.play.keys import press
    from equilibrist.play.pokerbots_client import play_pokerbots
    from equilibrist.play.tournament import parse_tournament
    from equilibrist.play.wire import Wire
    from equilibrist.players.catalog import make_player
    from equilibrist.players.player import View
    from equilibrist.players.static import Uniform
    from equilibrist.solving.methods import get_method
    from equilibrist.solving.target import Target
    from equilibrist.storage.ownership import LockText
    from equilibrist.strategies.behaviour_table import find_board
    from equilibrist.strategies.efg import parse_profile, profile_text
    from equilibrist.strategies.openspiel import parse_policy, policy_text

    trees = {
        name: BettingTree.build(rules(name))
        for name in ("kuhn", "leduc", "rhode-island", "preflop-holdem")
    } | {
        "holdem-nolimit": BettingTree.build(
            rules("holdem-nolimit"), BetMenu.parse("50%,a"), last_round=0
        )
    }
    states = {name: card_states(rules(name)) for name in ("leduc", "rhode-island")}
    seated = {name: Uniform() for name in _names()}

    def comes_back(write: Callable[[Any], str], read: Callable[[str], Any]) -> Any:
        return lambda _, value: read(write(value)) == value

    def named_tree(rng: Random) -> tuple[str, str]:
        name = rng.choice(list(trees))
        return name, texts(lambda rng: _tree_name(rng, trees[name]))(rng)

    def whole(rng: Random) -> Any:
        return rng.choice(
            (number(rng), 7, _integer(rng, 10**9), 1.5, None, [], float("nan"), True, b"1")
        )

    def state_same(given: tuple[str, str], value: Any) -> bool:
        return state_line(*value) == given[1].rstrip("\r\n")

    def game_and(grammar: Callable[[Random], str]) -> Callable[[Random], tuple[str, str]]:
        return lambda rng: (game_name(rng), texts(grammar)(rng))

    def press_key(given: tuple[str, int, str, str]) -> Any:
        game, seed, size, key = given
        state = _state(game, seed)
        return press(View.of(state, state.actor), size, key)

    def policy(rng: Random) -> str:
        return policy_text(*_uniform_kuhn())

    def profile(rng: Random) -> str:
        halves = ["0.5,0.5", "1/2,1/2", "1,0", f"{number(rng)},{number(rng)}"]
        return "NE," + ",".join(rng.choice(halves) for _ in range(12))

    def plans_come_back(write: Callable[..., str], read: Callable[..., Any]) -> Any:
        def same(_: str, value: Any) -> bool:
            kuhn, _ = _uniform_kuhn()
            again = read(kuhn, write(kuhn, value))
            return all(abs(a - b).max() < 1e-9 for a, b in zip(value, again, strict=True))

        return same

    def menu(text: tuple[str, str]) -> Any:
        return BetMenu.parse(max_raises=text[1]).limit(rules(text[0]))

    def rounds(text: str) -> Any:
        from equilibrist.cli.games import parse_rounds
        from equilibrist.cli.runs import Rounds

        with contextlib.suppress(EquilibristError):
            Rounds.parse(text, None, 0.0).of(rules("leduc"))
        return parse_rounds(text)

    def pattern(text: str) -> Any:
        from equilibrist.cli.cards import _parse_pattern

        return _parse_pattern(text)

    def indexer(text: str) -> Any:
        from equilibrist.cards.isomorphism import DealIndexer

        return DealIndexer(pattern(text)).size

    def ports(text: str) -> Any:
        from equilibrist.cli.network import _names, _ports

        with contextlib.suppress(EquilibristError):
            _names(text)
        return _ports(text)

    def buckets(given: tuple[str, str, str]) -> Any:
        from equilibrist.abstraction.recipes import check_request
        from equilibrist.cli.abstraction import _numbers

        game, recipe, numbers = given
        check_request(recipe, rules(game), _numbers(numbers))

    def recipe(rng: Random) -> str:
        from equilibrist.abstraction.recipes import RECIPES

        return rng.choice(list(RECIPES))

    def starts(text: str) -> Any:
        from equilibrist.abstraction.flop_subsets import chosen_boards, parse_starts
        from equilibrist.abstraction.streets import Streets

        streets = Streets.of(rules("rhode-island"))
        return chosen_boards(streets, parse_starts(streets, text))

    def target(rng: Random) -> str:
        return number(rng) + rng.choice(("", "%", "mbb", "mbb/g", "bb", "chips", " %"))

    def parse_amount(text: str) -> Any:
        return Amount.parse(text, "the pot")

    def log_file(given: tuple[str, str]) -> Any:
        from equilibrist.games.log_file import LogFile

        suffix, text = given
        path = Path(f"log{suffix}")
        path.write_text(text, encoding="utf-8", errors="surrogateescape", newline="")
        return len(list(LogFile(path)))

    def log_files(rng: Random) -> tuple[str, str]:
        suffix = rng.choice((".log", ".phh", ".phhs"))
        if suffix == ".log":
            return suffix, log_lines(rng)[1]
        many = "\n".join(f"[{n}]\n{history(rng)}" for n in range(rng.randint(1, 3)))
        return suffix, texts(lambda _: many)(rng)

    def files(rng: Random) -> tuple[str, bytes]:
        grammar = {"game": definition, "toml": toml, "phh": history}
        suffix = rng.choice(list(grammar))
        content = texts(grammar[suffix])(rng).encode(errors="surrogatepass")
        if rng.random() < 0.2:
            at = rng.randrange(len(content) + 1)
            content = content[:at] + rng.randbytes(rng.randrange(9)) + content[at:]
        return suffix, content

    def read_file(given: tuple[str, bytes]) -> Any:
        from equilibrist.games.phh import read_phh
        from equilibrist.games.rules import read_rules
        from equilibrist.play.tournament import read_tournament

        suffix, content = given
        path = Path(f"file.{suffix}")
        path.write_bytes(content)
        return {"game": read_rules, "toml": read_tournament, "phh": read_phh}[suffix](path)

    def boards(given: tuple[str, str]) -> Any:
        name, text = given
        return [find_board(rules(name), states[name], r, text)[1] for r in range(1, 2)]

    def wire(given: bytes) -> Any:
        here, there = socket.socketpair()
        with contextlib.closing(there), Wire(Link(here)) as own:
            there.sendall(given[:60_000])
            there.shutdown(socket.SHUT_WR)
            lines = []
            while (line := own.receive(1.0)) is not None:
                lines.append(line)
        return lines

    def equity_of(text: str) -> Any:
        from equilibrist.cards.equity import equity

        first, _, second = text.partition(" against ")
        return equity(first, second, parse_cards("2c7d9h3s4d"))

    return [
        Parser("card", texts(card), parse_card, comes_back(card_name, parse_card), 1.5),
        Parser("cards, boards", texts(cards), parse_cards, comes_back(cards_name, parse_cards), 2),
        Parser("class of hands", texts(classes), parse_class, comes_back(class_name, parse_class)),
        Parser("range", texts(range_text), parse_range, weight=2),
        Parser("range, written", texts(range_text), parse_range,
               comes_back(range_name, parse_range), 0.15),
        Parser("rank", texts(cards), lambda t: (rank_cards(parse_cards(t)), hand_description(
            parse_cards(t))), weight=0.3),
        Parser("equity", texts(lambda r: f"{range_text(r)} against {range_text(r)}"), equity_of,
               weight=0.05),
        Parser("whole number", whole, lambda v: whole_number(v, "a number", 0, 9)),
        Parser("digits", texts(number), lambda t: parse_whole(t, 99_999)),
        Parser("pattern", texts(caps), pattern),
        Parser("deal index", texts(lambda r: rng_pattern(r)), indexer, weight=0.02),
        Parser("game definition", texts(definition), parse_rules,
               lambda _, v: parse_rules(rules_text(v)) == v, 1.5),
        Parser("game name", texts(game_name), load_game, weight=0.7),
        Parser("bet sizes", texts(sizes), parse_sizes, comes_back(sizes_text, parse_sizes), 1.5),
        Parser("raise caps", game_and(caps), menu),
        Parser("bet menu", menu_texts, lambda t: BetMenu.parse(**t),
               lambda _, v: BetMenu.parse(**v.texts()) == v and bool(str(v))),
        Parser("rounds", texts(lambda r: f"{number(r)}-{number(r)}"), rounds),
        Parser("action", texts(lambda r: "r" + number(r)), parse_action,
               comes_back(action_name, parse_action)),
        Parser("betting", lambda r: (g := game_name(r), texts(lambda r: betting(r, g))(r)),
               lambda v: parse_betting(rules(v[0]), v[1]), lambda v, b: b.text == v[1], 0.7),
        Parser("node name", named_tree, lambda v: (v[0], trees[v[0]].parse(v[1])),
               lambda v, n: trees[n[0]].name(n[1]) == v[1]),
        Parser("state line", state_text, lambda v: parse_state(rules(v[0]), v[1]), state_same, 0.7),
        Parser("log line", log_text, lambda v: parse_log_line(rules(v[0]), v[1]),
               lambda v, r: log_line(r) == v[1].rstrip("\r\n"), 0.5),
        Parser("log", log_lines, lambda v: read_log(rules(v[0]), v[1].splitlines(True)),
               weight=0.2),
        Parser("log header", texts(header), parse_header, comes_back(str, parse_header)),
        Parser("log file", log_files, log_file, weight=0.1),
        Parser("PHH", texts(history), parse_phh, _phh_same, 0.3),
        Parser("TOML", texts(toml), lambda t: parse_toml(t, "it", ParseError), weight=0.7),
        Parser("OpenSpiel policy", texts(policy), lambda t: parse_policy(_uniform_kuhn()[0], t)[0],
               plans_come_back(policy_text, lambda g, t: parse_policy(g, t)[0]), 0.05),
        Parser("Gambit profile", texts(profile), lambda t: parse_profile(_uniform_kuhn()[0], t),
               plans_come_back(profile_text, parse_profile), 0.3),
        Parser("tournament", texts(toml), parse_tournament, weight=0.7),
        Parser("player", lambda r: (r.choice(_PLAYED), texts(player)(r)),
               lambda v: make_player(v[1], rules(v[0])), weight=0.5),
        Parser("strategy", texts(mix),
               lambda t: open_strategy(t, rules("kuhn")), weight=0.7),
        Parser("spot", spot, _build_spot, weight=0.03),
        Parser("spot's node", texts(node), _spot().find, lambda t, n: _spot().names[n] == t),
        Parser("lock", texts(lock), lambda t: parse_lock(t, _spot()), weight=0.3),
        Parser("target", texts(target), Target.parse, comes_back(str, Target.parse)),
        Parser("ACPC answer", answer, lambda v: acpc.read_answer(
            _state(*v[:2]), state_line(_state(*v[:2]), _state(*v[:2]).actor) + v[2])),
        Parser("ACPC version", texts(lambda r: f"VERSION:2.0.{number(r)}"),
               acpc.check_version),
        Parser("ACPC match", acpc_lines, lambda v: acpc.play_over(
            rules(v[0]), Script(v[1]), seated[v[0]]), weight=0.4),
        Parser("Pokerbots answer", lambda r: ("discard-holdem", r.randrange(40), texts(
            _pokerbots_answer)(r)), lambda v: pokerbots.read_answer(_state(*v[:2]), v[2])),
        Parser("Pokerbots match", pokerbots_lines, lambda lines: play_pokerbots(
            rules("discard-holdem"), Script(lines), seated["discard-holdem"]), weight=0.3),
        Parser("wire", lambda r: mutate(r, noise(r)).encode(errors="surrogatepass") * r.choice(
            (1, 1, 50)), wire, weight=0.1),
        Parser("key", lambda r: (game_name(r), r.randrange(40), r.choice(("", "v", "30", "9" * 9)),
               (noise(r) or "s")[:1]), press_key),
        Parser("ports", texts(lambda r: f"{number(r)},{number(r)}"), ports),
        Parser("recipe and buckets", lambda r: (game_name(r), texts(recipe)(r), texts(rising)(r)),
               buckets),
        Parser("flops", texts(lambda r: some(r, card, ",") if r.random() < 0.7 else number(r)),
               starts, weight=0.1),
        Parser("method", texts(lambda r: r.choice(("cfr+", "dcfr", "lp", "egt"))), get_method),
        Parser("bot", texts(lambda r: r.choice(list(BOTS))), BOTS.__getitem__),
        Parser("unit", game_and(lambda r: r.choice(("mbb/g", "sb/h", "chips"))),
               lambda v: chips_of_unit(rules(v[0]), v[1])),
        Parser("bet size", texts(size), parse_size),
        Parser("amount", texts(amount), parse_amount, comes_back(str, parse_amount)),
        Parser("file", files, read_file, weight=0.2),
        Parser("board to show", lambda r: (r.choice(list(states)), texts(
            lambda r: card(r) if r.random() < 0.6 else cards(r))(r)), boards, weight=0.5),
        Parser("manifest", texts(manifest_text), read_manifest_text, weight=0.2),
        Parser("lock file", texts(lock_text), lambda t: LockText.decode(
            t.encode(errors="surrogatepass"))),
        Parser("command line", command, run_command, weight=0.02),
    ]  # fmt: skip


_PLAYED = ("kuhn", "leduc", "holdem-limit", "holdem-nolimit", "discard-holdem")


def rng_pattern(rng: Random) -> str:
    """Return the number of cards dealt in each round, not too large."""
    return ",".join(str(rng.randrange(0, 4)) for _ in range(rng.randint(1, 4)))


def _pokerbots_answer(rng: Random) -> str:
    return rng.choice(
        (
            "CHECK",
            "CALL",
            "FOLD",
            f"BET:{number(rng)}",
            f"RAISE:{number(rng)}",
            f"DISCARD:{card(rng)}",
        )
    )


def _tree_name(rng: Random, tree: Any) -> str:
    return tree.name(rng.randrange(len(tree)))


def _phh_same(_: str, record: Any) -> bool:
    """Return whether a hand survives being written and read as PHH, if PHH can express it."""
    from equilibrist.games.phh import parse_phh, phh_text

    try:
        text = phh_text(record)
    except EquilibristError:
        return True
    return parse_phh(text) == record


# --- running --------------------------------------------------------------------------------------


def fuzz(
    chosen: list[Parser], trials: int, seed: int, seconds: float, *, slow: float, limit: float
) -> dict[str, Tally]:
    """Try parsers in turn by their weights; the same trials for the same seed."""
    rng, tallies = Random(seed), {parser.name: Tally() for parser in chosen}
    order = rng.choices(chosen, [parser.weight for parser in chosen], k=trials)
    end = time.monotonic() + seconds
    for parser in order:
        if time.monotonic() > end:
            break
        try_once(parser, rng, tallies[parser.name], slow, limit)
    return tallies


def try_once(parser: Parser, rng: Random, tally: Tally, slow: float, limit: float) -> None:
    """Give one input to one parser."""
    given = parser.make(rng)
    tally.trials += 1
    start = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, limit)
    signal.setitimer(signal.ITIMER_REAL, _PATIENCE * limit)
    try:
        value = parser.read(given)
        tally.accepted += 1
        if parser.same is not None and not parser.same(given, value):
            tally.stray("does not come back", given)
    except EquilibristError:
        pass
    except TooSlowError:
        tally.stray(f"stopped after {limit:g} s", given)
    except Exception as error:
        tally.stray(f"{type(error).__name__}: {str(error)[:100]}", given)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    taken = time.process_time() - start
    tally.seconds += taken
    if taken > slow:
        tally.slow.append((taken, repr(given)))


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Provide a clock that raises, an empty working folder, and a limit on memory."""

    def ring(*_: object) -> None:
        raise TooSlowError

    before = [signal.signal(number, ring) for number in _CLOCKS]
    here = os.getcwd()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    with tempfile.TemporaryDirectory() as folder:
        try:
            os.chdir(folder)
            resource.setrlimit(resource.RLIMIT_AS, (_mapped() + _MEMORY, hard))
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
            os.chdir(here)
            for number, handler in zip(_CLOCKS, before, strict=True):
                signal.signal(number, handler)


def _mapped() -> int:
    """Return the bytes of address space in use."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def report(tallies: dict[str, Tally]) -> str:
    """Print a row per parser, then each failure with its shortest example."""
    lines = [
        f"{'parser':20} {'trials':>9} {'accepted':>9} {'strays':>7} {'slow':>5} {'µs each':>8}"
    ]
    for name, tally in tallies.items():
        strays = sum(count for count, _ in tally.strays.values())
        each = 1e6 * tally.seconds / max(1, tally.trials)
        lines.append(
            f"{name:20} {tally.trials:9,} {tally.accepted:9,} {strays:7,} {len(tally.slow):5,} "
            f"{each:8,.0f}"
        )
    lines.append(
        f"{'all':20} {sum(tally.trials for tally in tallies.values()):9,} "
        f"{sum(tally.accepted for tally in tallies.values()):9,}"
    )
    for name, tally in tallies.items():
        for kind, (count, example) in tally.strays.items():
            lines.append(f"{name}: {count} × {kind}\n    {example[:_SHOWN]}")
        for taken, example in sorted(tally.slow, reverse=True)[:3]:
            lines.append(f"{name}: {taken:.1f} s\n    {example[:_SHOWN]}")
    return "\n".join(lines)


def is_clean(tallies: dict[str, Tally]) -> bool:
    """Return whether every input gave a value or one of our errors, in time."""
    return not any(tally.strays or tally.slow for tally in tallies.values())


def main() -> None:
    """Run with the arguments of the command line."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--trials", type=int, default=1_000_000)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--seconds", type=float, default=900, help="stop after this time")
    arguments.add_argument("--only", default="", help="names of parsers, with commas")
    arguments.add_argument("--slow", type=float, default=1.0, help="report inputs that take longer")
    arguments.add_argument("--limit", type=float, default=10.0, help="stop inputs that take longer")
    given = arguments.parse_args()
    chosen = [p for p in parsers() if not given.only or p.name in given.only.split(",")]
    with guarded():
        for parser in chosen:  # building and compiling must not count as the time of an input
            for seed in range(20):
                with contextlib.suppress(Exception):
                    parser.read(parser.make(Random(seed)))
        tallies = fuzz(
            chosen, given.trials, given.seed, given.seconds, slow=given.slow, limit=given.limit
        )
    print(report(tallies))
    sys.exit(0 if is_clean(tallies) else 1)


if __name__ == "__main__":
    main()
