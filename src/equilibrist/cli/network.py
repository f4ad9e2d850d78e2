"""`equilibrist dealer` and `connect`: matches over TCP."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, NoReturn

import typer

from equilibrist.cli.interrupts import exit_if_requested
from equilibrist.cli.options import (
    Json,
    Remaining,
    SecretSeed,
    Threads,
    emit,
    prepare_players,
)
from equilibrist.cli.outputs import Force, check_file
from equilibrist.cli.unblocked_stderr import unblocked_stderr
from equilibrist.errors import InvalidValueError, NetworkError, ParseError, UnknownNameError
from equilibrist.stopping import noted_signals

if TYPE_CHECKING:
    from equilibrist.games.rules import GameRules
    from equilibrist.play.host import HostedMatch, NetworkProtocol
    from equilibrist.play.processes import BotProcess
    from equilibrist.play.server import ServedMatch
    from equilibrist.storage.output_file import OutputFile

Port = Annotated[
    str, typer.Option(help="Port for both seats, or one per seat (4711,4712); 0: any free port.")
]
Protocol = Annotated[str, typer.Option("--protocol", help="acpc, or pokerbots (MIT 2017).")]
_MOST_PORT = 2**16 - 1


# Options of `dealer`.
DealtGame = Annotated[str, typer.Argument(help="Game name, or a .game file.")]
NumHands = Annotated[int, typer.Option(help="Number of hands.")]
ListenHost = Annotated[str, typer.Option(help="Address to listen on.")]
SeatNames = Annotated[str, typer.Option(help="Names of the seats in the log.")]
BotCommands = Annotated[
    list[str] | None, typer.Option(help="Command to start for the next seat (see docs).")
]
LogOut = Annotated[Path | None, typer.Option(help="Write the ACPC log to this file.")]
TimeBank = Annotated[float, typer.Option(help="pokerbots: seconds per player for the whole match.")]
ResponseTime = Annotated[int, typer.Option(help="Maximum milliseconds per response.")]
HandTime = Annotated[int, typer.Option(help="Maximum milliseconds per hand.")]
MeanHandTime = Annotated[int, typer.Option(help="Maximum average milliseconds per hand.")]
GreetingTime = Annotated[
    int, typer.Option(min=1, help="acpc: maximum milliseconds from connecting to VERSION.")
]
StartTimeout = Annotated[
    float | None, typer.Option(min=0, help="Seconds to wait for players; default: no limit.")
]


def dealer(
    game: DealtGame,
    hands: NumHands = 1000,
    port: Port = "0",
    host: ListenHost = "127.0.0.1",
    names: SeatNames = "seat1,seat2",
    bot: BotCommands = None,
    log: LogOut = None,
    force: Force = False,
    protocol: Protocol = "acpc",
    time_bank: TimeBank = 20.0,
    t_response: ResponseTime = 600_000,
    t_hand: HandTime = 600_000,
    t_per_hand: MeanHandTime = 7_000,
    t_greeting: GreetingTime = 60_000,
    start_timeout: StartTimeout = None,
    json: Json = False,
    seed: SecretSeed = None,
    threads: Threads = None,
) -> None:
    """Deal a match to two players that connect by the ACPC or the Pokerbots protocol.

    The cards come from a secret seed, printed at the end; --seed deals the same cards as the ACPC
    dealer.

    Example: equilibrist dealer holdem-limit --hands 3000 --port 4711 --log match.log
    """
    from equilibrist.games.catalog import load_game
    from equilibrist.play.host import HostedMatch
    from equilibrist.play.server import NetworkMatch, TimeLimits
    from equilibrist.storage.output_file import OutputFile

    _check_protocol(protocol, ("acpc", "pokerbots"))
    rules, seats, ports = load_game(game), _names(names), _ports(port)
    match = NetworkMatch(rules, seats, hands, seed)
    hosted = HostedMatch(match, host, ports, tuple(bot or ()), start_timeout)
    limits = TimeLimits(t_response, t_hand, t_per_hand, t_greeting)
    way = hosted.acpc(limits) if protocol == "acpc" else hosted.pokerbots(time_bank)
    check_file(log, force)
    # Written hand by hand, so that an interrupted match keeps its hands.
    file = None if log is None else functools.partial(OutputFile, log, replace=force)
    _host(hosted, way, file, {"log": str(log) if log else None}, json)


def _host(
    hosted: HostedMatch,
    way: NetworkProtocol,
    file: Callable[[], OutputFile] | None,
    more: dict[str, Any],
    json: bool,
) -> None:
    """Play a hosted match and print its result with more fields; exit with 1 if it is not whole."""
    bots: list[BotProcess] = []
    names = hosted.match.names
    with unblocked_stderr(), noted_signals(_ending, lambda: _kill(bots)) as signals:
        watch = Remaining(f"{names[0]} against {names[1]}")
        played = hosted.play(
            way, bots, log=file, say=_say, watch=watch, should_stop=lambda: signals.is_requested
        )
        if played is None:
            _say("the dealer was stopped before the match started")
    if played is not None:
        data = _describe(*played) | more
        emit(data, _dealer_text(data), as_json=json)
    exit_if_requested(signals)
    if played is None or not played[0].is_finished:
        raise typer.Exit(1)


def _kill(bots: list[BotProcess]) -> None:
    for bot in bots:
        bot.send(signal.SIGKILL)


def _ending() -> None:
    _say("ending the match; a second signal ends it at once")


# Options of `connect`.
DealerHost = Annotated[
    str, typer.Argument(metavar="HOST|URL", help="Address of the dealer, or URL of a server.")
]
DealerPort = Annotated[
    str, typer.Argument(metavar="PORT|PLAYER", help="Port of the dealer; after URL, the player.")
]
ClientPlayer = Annotated[
    str | None,
    typer.Argument(metavar="PLAYER", help="Player, for example always-call.", show_default=False),
]
ClientGame = Annotated[
    str | None,
    typer.Option(
        help="Game name or .game file; default: the bot's, else limit, Slumbot: no-limit."
    ),
]
LineTimeout = Annotated[
    float | None,
    typer.Option(
        min=0.001, help="Seconds to wait for each line or answer; default: 3600, slumbot: 60."
    ),
]
ClientProtocol = Annotated[
    str | None,
    typer.Option(
        "--protocol", help="acpc, pokerbots (MIT 2017) or slumbot; default: acpc, of a URL slumbot."
    ),
]
ApiHands = Annotated[
    int | None, typer.Option(help="slumbot: number of hands of the match; default: 1000.")
]
ApiLogPath = Annotated[
    Path | None, typer.Option("--log", help="slumbot: write an ACPC log that can be continued.")
]
ApiResume = Annotated[bool, typer.Option("--resume", help="slumbot: continue the match in --log.")]


def connect(
    host: DealerHost,
    port: DealerPort,
    player: ClientPlayer = None,
    game: ClientGame = None,
    protocol: ClientProtocol = None,
    timeout: LineTimeout = None,
    hands: ApiHands = None,
    log: ApiLogPath = None,
    resume: ApiResume = False,
    force: Force = False,
    json: Json = False,
    seed: SecretSeed = None,
    threads: Threads = None,
) -> None:
    """Connect a player to an ACPC dealer, a Pokerbots engine or a server of Slumbot's API.

    A dealer plays until it disconnects. At a server, given as URL PLAYER, the player asks for
    --hands hands; a match with --log that was interrupted goes on with --resume.

    Example: equilibrist connect 127.0.0.1 4711 poki

    Example: equilibrist connect http://127.0.0.1:8081 uniform --hands 1000 --log match.log
    """
    from equilibrist.games.catalog import load_game

    place = _Place.of(host, port, player, protocol)
    if place.protocol == "slumbot":
        from equilibrist.cli.slumbot import MatchOptions, challenge

        rules = load_game(game or own_game(place.player) or "holdem-nolimit")
        prepare_players(threads, place.player)
        match = MatchOptions(place.player, hands, log, resume, force, timeout or 60.0, seed)
        challenge(place.url, rules, match, json)
        return
    for name, is_given in (("hands", hands), ("log", log), ("resume", resume), ("force", force)):
        if is_given:
            raise InvalidValueError(f"--{name} is for --protocol slumbot; the dealer keeps the log")
    rules = load_game(game or own_game(place.player) or "holdem-limit")
    prepare_players(threads, place.player)
    _sit_down(rules, place, timeout or 3600.0, seed, json)


class _Place(NamedTuple):
    """Where a player connects to, and how."""

    host: str
    port: int
    player: str
    protocol: str
    url: str = ""  # of a server of Slumbot's API

    @classmethod
    def of(cls, host: str, port: str, player: str | None, protocol: str | None) -> _Place:
        """Read the arguments HOST PORT PLAYER or URL PLAYER."""
        is_url = "://" in host
        if protocol is None:
            protocol = "slumbot" if is_url else "acpc"
        _check_protocol(protocol, ("acpc", "pokerbots", "slumbot"))
        if is_url and protocol != "slumbot":
            raise ParseError(
                f"a dealer of {protocol} is HOST PORT, such as 127.0.0.1 4711, not the URL {host}",
                value=host,
            )
        if is_url and player is not None:
            raise ParseError(
                f"write URL PLAYER or HOST PORT PLAYER, not a URL and {port!r}", value=port
            )
        if is_url:
            return cls(host, 0, port, protocol, host)
        from equilibrist.cards.numbers import parse_whole

        number = parse_whole(port, _MOST_PORT)
        if not number:
            raise ParseError(
                f"PORT must be 1 to {_MOST_PORT}, not {port[:40]!r}; a server of Slumbot's API is "
                "a URL, such as http://127.0.0.1:8081",
                value=port,
            )
        if player is None:
            raise ParseError("the player is missing: write HOST PORT PLAYER, or URL PLAYER")
        name = f"[{host}]" if ":" in host else host
        return cls(host, number, player, protocol, f"http://{name}:{number}")


def own_game(player: str) -> str | None:
    """Return the game of the bot that a player's text names, None if it names no bot.

    Example:
        >>> own_game("resolve:nolimit-quick,0.5"), own_game("uniform")
        ('holdem-nolimit', None)
    """
    from equilibrist.bots.registry import BOTS

    words = player.replace(":", ",").split(",")
    return next((BOTS[word].game for word in words if word in BOTS), None)


def _sit_down(
    rules: GameRules, place: _Place, timeout: float, seed: int | None, json: bool
) -> None:
    """Play at a dealer until it disconnects, and print the result."""
    from equilibrist.games.dealing import secret_seed
    from equilibrist.play.acpc import play_over
    from equilibrist.play.pokerbots_client import play_pokerbots
    from equilibrist.play.wire import connect as connect_to
    from equilibrist.players.catalog import make_player

    seated = make_player(place.player, rules)
    seed = secret_seed() if seed is None else seed
    seated.reset(seed)
    with connect_to(place.host, place.port) as wire:
        chips, is_cut_off, comment = (play_over if place.protocol == "acpc" else play_pokerbots)(
            rules, wire, seated, timeout
        )
    if is_cut_off:
        raise NetworkError(
            f"the dealer disconnected in the middle of hand {len(chips)}; "
            f"before, {seated.name} {_won(chips)} in {len(chips):,} complete hands"
        )
    _print_winnings(rules, seated.name, chips, seed, json)
    if not chips:
        _refused(rules.name, place.protocol, comment)


def _refused(game: str, protocol: str, comment: str) -> NoReturn:
    """Exit with 1 because the dealer has disconnected, after a comment, before the first hand."""
    sent = f" after sending {comment[:200]!r}" if comment else ""
    _say(
        f"equilibrist: the dealer disconnected before the first hand{sent}; "
        f"does it play {game} by the protocol {protocol}?"
    )
    raise typer.Exit(1)


def _print_winnings(rules: GameRules, name: str, chips: list[int], seed: int, json: bool) -> None:
    """Print what a connected player won."""
    from equilibrist.evaluation.winnings import winnings

    data = {"game": rules.name, "player": name, "chips": sum(chips), "seed": seed}
    data |= winnings(chips, rules, (name, "the opponent"))
    text = f"{name} {_won(chips)} in {len(chips):,} hands, seed {seed}"
    emit(data, f"{text}\n{data['verdict']}", as_json=json)


def _won(chips: list[int]) -> str:
    total = sum(chips)
    return f"{'lost' if total < 0 else 'won'} {abs(total):,} chips"


def _check_protocol(protocol: str, known: tuple[str, ...]) -> None:
    if protocol not in known:
        names = f"{', '.join(known[:-1])} or {known[-1]}"
        raise UnknownNameError(f"--protocol must be {names}, not {protocol!r}", value=protocol)


def _names(text: str) -> tuple[str, str]:
    text = os.fsencode(text).decode(errors="replace")  # for bytes that an ASCII locale cannot read
    names = text.split(",")
    if len(names) != 2:
        raise ParseError(
            f"--names must be two names separated by a comma, not {text!r}", value=text
        )
    return names[0], names[1]


def _ports(text: str) -> tuple[int, ...]:
    from equilibrist.cards.numbers import parse_whole

    words = text.split(",")
    ports = [number for word in words if (number := parse_whole(word, _MOST_PORT)) is not None]
    if len(words) > 2 or len(ports) < len(words):
        raise ParseError(
            f"--port must be one port from 0 to {_MOST_PORT}, or two separated by a comma, "
            f"not {text[:40]!r}",
            value=text,
        )
    return tuple(ports)


def _say(text: str) -> None:
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def _describe(played: ServedMatch, seconds: float) -> dict[str, Any]:
    """Return a served match as JSON; `seconds` is the time that it took."""
    from equilibrist.evaluation.winnings import winnings

    total, match = sum(played.chips), played.match
    return {
        "game": match.rules.name,
        "players": list(match.names),
        "seed": played.seed,
        "score": [total, -total],
        "finished": played.is_finished,
        "ending": played.ending,
        **winnings(played.chips, match.rules, match.names),
        "seconds": round(seconds, 3),
    }


def _dealer_text(data: dict[str, Any]) -> str:
    (first, second), (won, lost) = data["players"], data["score"]
    lines = [f"{first} {won:+,}, {second} {lost:+,} chips in {data['hands']:,} hands"]
    lines += [data["ending"]] if data["ending"] else []
    return "\n".join([*lines, data["verdict"], f"seed {data['seed']}"])
