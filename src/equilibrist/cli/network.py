"""`equilibrist dealer` and `connect`: matches over TCP."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equilibrist.cli.interrupts import exit_if_requested
from equilibrist.cli.options import Json, SecretSeed, Threads, emit, prepare_players, watching
from equilibrist.cli.outputs import Force, check_file
from equilibrist.cli.unblocked_stderr import unblocked_stderr
from equilibrist.cli.winnings import winnings
from equilibrist.errors import NetworkError, ParseError, UnknownNameError
from equilibrist.stopping import noted_signals

if TYPE_CHECKING:
    from equilibrist.play.processes import BotProcess
    from equilibrist.play.server import ServedMatch

Port = Annotated[
    str, typer.Option(help="Port for both seats, or one per seat (4711,4712); 0: any free port.")
]
Protocol = Annotated[str, typer.Option("--protocol", help="acpc, or pokerbots (MIT 2017).")]
Game = Annotated[str, typer.Option(help="Game name, or a .game file.")]
_MOST_PORT = 2**16 - 1


def dealer(
    game: Annotated[str, typer.Argument(help="Game name, or a .game file.")],
    hands: Annotated[int, typer.Option(help="Number of hands.")] = 1000,
    port: Port = "0",
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    names: Annotated[str, typer.Option(help="Names of the seats in the log.")] = "seat1,seat2",
    bot: Annotated[
        list[str] | None, typer.Option(help="Command to start for the next seat (see docs).")
    ] = None,
    log: Annotated[Path | None, typer.Option(help="Write the ACPC log to this file.")] = None,
    force: Force = False,
    protocol: Protocol = "acpc",
    time_bank: Annotated[
        float, typer.Option(help="pokerbots: seconds per player for the whole match.")
    ] = 20.0,
    t_response: Annotated[int, typer.Option(help="Maximum milliseconds per response.")] = 600_000,
    t_hand: Annotated[int, typer.Option(help="Maximum milliseconds per hand.")] = 600_000,
    t_per_hand: Annotated[int, typer.Option(help="Maximum average milliseconds per hand.")] = 7_000,
    t_greeting: Annotated[
        int, typer.Option(min=1, help="acpc: maximum milliseconds from connecting to VERSION.")
    ] = 60_000,
    start_timeout: Annotated[
        float | None, typer.Option(min=0, help="Seconds to wait for players; default: no limit.")
    ] = None,
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

    rules, seats, ports = load_game(game), _names(names), _ports(port)
    match = NetworkMatch(rules, seats, hands, seed)
    hosted = HostedMatch(match, host, ports, tuple(bot or ()), start_timeout)
    limits = TimeLimits(t_response, t_hand, t_per_hand, t_greeting)
    way = hosted.acpc(limits) if _is_acpc(protocol) else hosted.pokerbots(time_bank)
    check_file(log, force)
    bots: list[BotProcess] = []
    # Written hand by hand, so that an interrupted match keeps its hands.
    file = None if log is None else functools.partial(OutputFile, log, replace=force)
    with unblocked_stderr(), noted_signals(_ending, lambda: _kill(bots)) as signals:
        watch = watching(f"{seats[0]} against {seats[1]}")
        played = hosted.play(
            way, bots, log=file, say=_say, watch=watch, should_stop=lambda: signals.is_requested
        )
        if played is None:
            _say("the dealer was stopped before the match started")
    if played is not None:
        data = _describe(*played) | {"log": str(log) if log else None}
        emit(data, _dealer_text(data), as_json=json)
    exit_if_requested(signals)
    if played is None or not played[0].is_finished:
        raise typer.Exit(1)


def _kill(bots: list[BotProcess]) -> None:
    for bot in bots:
        bot.send(signal.SIGKILL)


def _ending() -> None:
    _say("ending the match; a second signal ends it at once")


def connect(
    host: Annotated[str, typer.Argument(help="Address of the dealer.")],
    port: Annotated[
        int, typer.Argument(min=1, max=_MOST_PORT, help="Port of the dealer for this seat.")
    ],
    player: Annotated[str, typer.Argument(help="Player, for example always-call.")],
    game: Game = "holdem-limit",
    protocol: Protocol = "acpc",
    timeout: Annotated[
        float, typer.Option(min=0.001, help="Seconds to wait for each line from the dealer.")
    ] = 3600.0,
    json: Json = False,
    seed: SecretSeed = None,
    threads: Threads = None,
) -> None:
    """Connect a player to an ACPC dealer or a Pokerbots engine, until that disconnects.

    Example: equilibrist connect 127.0.0.1 4711 poki
    """
    from equilibrist.games.catalog import load_game
    from equilibrist.games.dealing import secret_seed
    from equilibrist.play.acpc import play_over
    from equilibrist.play.pokerbots_client import play_pokerbots
    from equilibrist.play.wire import connect as connect_to
    from equilibrist.players.catalog import make_player

    rules, is_acpc = load_game(game), _is_acpc(protocol)
    prepare_players(threads, player)
    seated = make_player(player, rules)
    seed = secret_seed() if seed is None else seed
    seated.reset(seed)
    with connect_to(host, port) as wire:
        chips, is_cut_off, comment = (play_over if is_acpc else play_pokerbots)(
            rules, wire, seated, timeout
        )
    if is_cut_off:
        raise NetworkError(
            f"the dealer disconnected in the middle of hand {len(chips)}; "
            f"{seated.name} had won {sum(chips)} chips in {len(chips)} complete hands"
        )
    data = {"game": rules.name, "player": seated.name, "chips": sum(chips), "seed": seed}
    data |= winnings(chips, rules, (seated.name, "the opponent"))
    text = f"{seated.name} won {sum(chips)} chips in {len(chips):,} hands, seed {seed}"
    emit(data, f"{text}\n{data['verdict']}", as_json=json)
    if not chips:
        sent = f" after sending {comment[:200]!r}" if comment else ""
        _say(
            f"equilibrist: the dealer disconnected before the first hand{sent}; "
            f"does it play {rules.name} by the protocol {protocol}?"
        )
        raise typer.Exit(1)


def _is_acpc(protocol: str) -> bool:
    if protocol not in ("acpc", "pokerbots"):
        raise UnknownNameError(
            f"--protocol must be acpc or pokerbots, not {protocol!r}", value=protocol
        )
    return protocol == "acpc"


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
