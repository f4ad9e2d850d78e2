"""The catalogue of games that can be selected by name.

Player 0 is the big blind in hold'em (ACPC's reverse blinds: the dealer, player 1, posts the small
blind, acts first before the flop and last after it). In the toy games player 0 acts first.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from equilibrist.catalogue import Catalogue
from equilibrist.games.rules import GameRules, read_rules

_KUHN = GameRules(
    name="kuhn",
    betting="limit",
    blinds=(1, 1),
    raise_sizes=(1,),
    max_raises=(1,),
    num_suits=1,
    num_ranks=3,
    num_hole_cards=1,
    num_board_cards=(0,),
)
_LEDUC = GameRules(
    name="leduc",
    betting="limit",
    blinds=(1, 1),
    raise_sizes=(2, 4),
    max_raises=(2, 2),
    num_suits=2,
    num_ranks=3,
    num_hole_cards=1,
    num_board_cards=(0, 1),
)
_RHODE_ISLAND = GameRules(
    name="rhode-island",
    betting="limit",
    blinds=(5, 5),
    raise_sizes=(10, 20, 20),
    max_raises=(3, 3, 3),
    num_suits=4,
    num_ranks=13,
    num_hole_cards=1,
    num_board_cards=(0, 1, 1),
    ranking="three-card",
)
_ROYAL_RHODE_ISLAND = replace(_RHODE_ISLAND, name="royal-rhode-island", num_ranks=5)
_HOLDEM_LIMIT = GameRules(
    name="holdem-limit",
    betting="limit",
    blinds=(10, 5),
    raise_sizes=(10, 10, 20, 20),
    max_raises=(3, 4, 4, 4),
    first_players=(1, 0, 0, 0),
    num_suits=4,
    num_ranks=13,
    num_hole_cards=2,
    num_board_cards=(0, 3, 1, 1),
)
_HOLDEM_NOLIMIT = replace(
    _HOLDEM_LIMIT,
    name="holdem-nolimit",
    betting="nolimit",
    blinds=(100, 50),
    stacks=(20_000, 20_000),
    raise_sizes=(),
    max_raises=(),
)
_HOLDEM_NOLIMIT_100 = replace(_HOLDEM_NOLIMIT, name="holdem-nolimit-100", stacks=(10_000, 10_000))
_PREFLOP_HOLDEM = replace(
    _HOLDEM_LIMIT,
    name="preflop-holdem",
    raise_sizes=(10,),
    max_raises=(3,),
    first_players=(1,),
    num_board_cards=(0,),
    discards=(),
    rollout_cards=5,
)
_ROYAL_HOLDEM = replace(_HOLDEM_LIMIT, name="royal-holdem", num_ranks=5)
_DISCARD_HOLDEM = replace(
    _HOLDEM_NOLIMIT,
    name="discard-holdem",
    blinds=(2, 1),
    stacks=(200, 200),
    discards=(False, True, True, False),
)


@dataclass(frozen=True)
class GameEntry:
    """A game of the catalogue: name, one-line summary and rules."""

    name: str
    summary: str
    rules: GameRules


def _game(rules: GameRules, summary: str) -> GameEntry:
    return GameEntry(rules.name, summary, rules)


GAMES: Final = Catalogue(
    "game",
    (
        _game(_KUHN, "Kuhn poker: three cards, one card each, one bet of one chip"),
        _game(_LEDUC, "Leduc hold'em: six cards, one card each, one board card, two rounds"),
        _game(
            _RHODE_ISLAND, "Rhode Island hold'em: one card each, two board cards, three-card hands"
        ),
        _game(_ROYAL_RHODE_ISLAND, "Rhode Island hold'em with the twenty cards from ten to ace"),
        _game(_HOLDEM_LIMIT, "Heads-up limit Texas hold'em, as played at the ACPC"),
        _game(
            _HOLDEM_NOLIMIT,
            "Heads-up no-limit Texas hold'em, 200 big blinds, as played at the ACPC",
        ),
        _game(_HOLDEM_NOLIMIT_100, "Heads-up no-limit Texas hold'em, 100 big blinds"),
        _game(_PREFLOP_HOLDEM, "Limit hold'em before the flop only, then five board cards (Selby)"),
        _game(_ROYAL_HOLDEM, "Limit hold'em with the twenty cards from ten to ace"),
        _game(
            _DISCARD_HOLDEM, "No-limit hold'em, one swap after flop and turn (MIT Pokerbots 2017)"
        ),
    ),
)


def game_names() -> tuple[str, ...]:
    """Return the names of all games, simplest first.

    Example:
        >>> game_names()[:3]
        ('kuhn', 'leduc', 'rhode-island')
    """
    return tuple(GAMES)


def get_game(name: str) -> GameRules:
    """Return the rules of a game of the catalogue; `UnknownNameError` lists similar names.

    Example:
        >>> get_game("holdem-nolimit").stacks
        (20000, 20000)
    """
    return GAMES[name].rules


def describe_game(name: str) -> str:
    """Return the one-line summary of a game of the catalogue.

    Example:
        >>> describe_game("kuhn")
        'Kuhn poker: three cards, one card each, one bet of one chip'
    """
    return GAMES[name].summary


def load_game(name_or_path: str | Path) -> GameRules:
    """Load the rules of a game of the catalogue or of a game definition file.

    A text is a path if it ends in `.game`, contains a folder or exists as a file.
    """
    text = os.fspath(name_or_path)
    is_path = isinstance(name_or_path, Path) or text.endswith(".game") or os.sep in text
    if text not in GAMES and (is_path or os.path.isfile(text)):
        return read_rules(text)
    return get_game(text)
