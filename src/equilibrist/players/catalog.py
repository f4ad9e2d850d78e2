"""The catalogue of players that can be made by name.

A player's text is its name, or its name, a colon and options: `mix:0.1,0.6,0.3`. A class in a file
is a player too: `mine.py:Careful`. A player is made for one game; making it raises an error if it
cannot play that game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, NamedTuple

from equilibrist.bots.bot import Bot
from equilibrist.bots.registry import BOTS
from equilibrist.catalogue import Catalogue, load_object
from equilibrist.errors import InvalidValueError, ParseError
from equilibrist.games.rules import GameRules
from equilibrist.players.own_player import is_file_text, load_player
from equilibrist.players.player import Player
from equilibrist.players.static import Mix, Shove, Uniform


class PlayerEntry(NamedTuple):
    """One player of the catalogue."""

    name: str
    description: str
    games: str  # the games that it plays, in words
    make: str | Callable[[GameRules, str], Player]  # function of the game and the text after the
    # colon, or the import path of one
    options: str = ""  # grammar of the options; "" if there are none
    kernels: tuple[str, ...] = ()  # kernels of `kernels/cpu` that it runs
    table_kernels: tuple[str, ...] = ()  # kernels that play it against another table, if it is one
    learns: bool = False  # whether it learns from hand to hand, so that hands are not independent


def player_entries() -> tuple[PlayerEntry, ...]:
    """Return the entries of all players, simplest first."""
    return tuple(PLAYERS.values())


def player_names() -> tuple[str, ...]:
    """Return the names of all players, simplest first.

    Example:
        >>> player_names()[:3]
        ('always-fold', 'always-call', 'always-raise')
    """
    return tuple(PLAYERS)


def make_player(text: str, rules: GameRules) -> Player:
    """Make the player that a text describes, for a game.

    Raises `UnknownNameError`, which suggests the nearest names, if no player has that name.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> make_player("mix:0.1,0.6,0.3", get_game("kuhn")).probabilities
        (0.1, 0.6, 0.3)
        >>> make_player("always-cal", get_game("kuhn"))
        Traceback (most recent call last):
          ...
        equilibrist.errors.UnknownNameError: no player is called 'always-cal'; did you mean
        always-call or always-fold or always-raise
    """
    if is_file_text(text):
        return load_player(text, rules)
    name, colon, options = text.partition(":")
    entry = PLAYERS[name]
    if colon and not entry.options:
        raise ParseError(f"{name} takes no options; write just {name}", value=text)
    if entry.options and not entry.options.startswith("[") and not options:
        raise ParseError(f"{name} needs options: {name}:{entry.options}", value=text)
    if rules.num_players != 2:
        raise InvalidValueError(
            f"{rules.name} has {rules.num_players} players, but {name} plays only heads-up",
            value=rules.name,
        )
    make = load_object(entry.make) if isinstance(entry.make, str) else entry.make
    return make(rules, options)


def player_kernels(*texts: str, tables: bool = False) -> set[str]:
    """Return the names of the compiled kernels that players run.

    With `tables`, also the kernels that play two tables against each other.
    """
    names = [text.partition(":")[0] for text in texts]
    entries = [PLAYERS[name] for name in names if name in PLAYERS]
    own = {kernel for entry in entries for kernel in entry.kernels}
    as_tables = [entry.table_kernels for entry in entries if entry.table_kernels]
    return own.union(*as_tables) if tables and len(as_tables) > 1 else own


def player_learns(text: str) -> bool:
    """Return whether the player that a text describes learns from earlier hands."""
    name = text.partition(":")[0]
    return name in PLAYERS and PLAYERS[name].learns


# --- the entries ----------------------------------------------------------------------------------

_LIMIT_HOLDEM = "limit hold'em"
_STRENGTH = ("hand_strength.hand_values", "hand_strength.meetings")
_SEARCH = (*_STRENGTH, "miximax.fold_up_mixed")
_TABLE = ("matches.deal_cards", "matches.play_hands", "ranking.rank_hands")
_LOOKED_UP = (*_TABLE, "rollout.locate_boards")


def _always(name: str, description: str, fold: float, call: float, raise_: float) -> PlayerEntry:
    def make(rules: GameRules, options: str) -> Player:
        return Mix(fold, call, raise_, name)

    return PlayerEntry(name, description, "every game", make, table_kernels=_TABLE)


def _make_mix(rules: GameRules, options: str) -> Player:
    words = options.split(",")
    try:
        fold, call, raise_ = map(float, words)
    except ValueError:
        raise ParseError(
            f"mix:{options[:40]} is not a mix; write the probabilities of fold, call and raise, "
            "such as mix:0.1,0.6,0.3",
            value=options,
        ) from None
    return Mix(fold, call, raise_)


def _make_aadapti(rules: GameRules, options: str) -> Player:
    from equilibrist.players.aadapti import Aadapti

    return Aadapti(rules)


def _make_vexbot(rules: GameRules, options: str) -> Player:
    from equilibrist.players.vexbot import Vexbot

    return Vexbot(rules, options or "miximax")


def _bot_entries() -> Iterator[PlayerEntry]:
    """Yield the entries of all bots, which play from the folders that they are trained into."""
    for bot in BOTS.values():
        _, options, kernels, table_kernels = bot.player
        yield PlayerEntry(
            bot.name,
            bot.description,
            bot.game,
            partial(_make_bot, bot),
            options,
            kernels,
            table_kernels,
        )


def _make_bot(bot: Bot, rules: GameRules, options: str) -> Player:
    return load_object(bot.player.make)(bot, rules, options)


def _holdem(name: str, description: str, make: Callable[[GameRules, str], Player]) -> PlayerEntry:
    return PlayerEntry(name, description, _LIMIT_HOLDEM, make, kernels=_STRENGTH)


def _make_poki(rules: GameRules, options: str) -> Player:
    from equilibrist.players.rule_based import Poki

    return Poki(rules)


def _make_anti_poki(rules: GameRules, options: str) -> Player:
    from equilibrist.players.rule_based import AntiPoki

    return AntiPoki(rules)


def _make_teddy(rules: GameRules, options: str) -> Player:
    from equilibrist.players.rule_based import Teddy

    return Teddy(rules)


def _make_monash(rules: GameRules, options: str) -> Player:
    from equilibrist.players.monash import Monash

    return Monash(rules)


PLAYERS: Final = Catalogue(
    "player",
    (
        _always("always-fold", "Folds to every bet, checks otherwise", 1, 0, 0),
        _always("always-call", "Calls every bet, checks otherwise", 0, 1, 0),
        _always("always-raise", "Raises, and calls at the raise cap", 0, 0, 1),
        PlayerEntry(
            "always-shove", "Goes all-in at every decision", "every game", lambda rules, _: Shove()
        ),
        PlayerEntry(
            "mix",
            "Folds, calls and raises with fixed probabilities",
            "every game",
            _make_mix,
            "FOLD,CALL,RAISE",
            table_kernels=_TABLE,
        ),
        PlayerEntry(
            "uniform",
            "Takes any legal action with equal probability",
            "every game",
            lambda rules, _: Uniform(),
            table_kernels=_TABLE,
        ),
        _holdem("poki", "Weighs hand strength, potential and pot odds", _make_poki)._replace(
            games="limit and no-limit hold'em"
        ),
        _holdem("anti-poki", "Bluffs poki where it folds", _make_anti_poki),
        _holdem("teddy", "Raises almost always", _make_teddy),
        _holdem("monash", "Weighs the opponent's hands by Bayes' rule", _make_monash),
        _holdem("aadapti", "Slowly learns the opponent's frequencies", _make_aadapti)._replace(
            learns=True
        ),
        PlayerEntry(
            "vexbot",
            "Learns the opponent's actions after every betting history, and searches",
            _LIMIT_HOLDEM,
            _make_vexbot,
            "[miximax|miximix]",
            _SEARCH,
            learns=True,
        ),
        PlayerEntry(
            "solution",
            "A stored solution; purify plays its most frequent action, threshold drops rarer ones",
            "the game it solves, or one with more raises and sizes",
            "equilibrist.players.strategy_player:make_solution_player",
            "DIR[,purify|,threshold=PROBABILITY]",
            table_kernels=_LOOKED_UP,
        ),
        PlayerEntry(
            "resolve",
            "A bot of buckets that solves turn and river again during play, safely",
            "the game of its bot",
            "equilibrist.players.resolving_player:make_resolving_player",
            "BOT[,SECONDS|,iterations=N][,unsafe]",
            (
                "sequence_form.gradient_team",
                "sequence_form.fold_up_team",
                "sequence_form.realize_team",
                "ranking.rank_hands",
            ),
        ),
        PlayerEntry(
            "portfolio",
            "Weighs stored strategies by what each would have won; loses little against the first",
            "limit games that its members play",
            "equilibrist.players.portfolio:make_portfolio",
            "DIR,DIR[,DIR …][,stop=CHIPS]",
            learns=True,
        ),
        PlayerEntry(
            "lbr",
            "Plays a local best response to another player, whose strategy it knows",
            "every game whose other player is known",
            "equilibrist.players.local_best_response:make_local_best_response",
            "PLAYER[,SETTING]",
            (
                "texture.strength_classes",
                "swapping.swap_places",
                "ranking.rank_hands",
                "hand_strength.add_shares",
            ),
        ),
    ),
    more=_bot_entries,
)
