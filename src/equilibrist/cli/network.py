"""`equilibrist dealer` and `connect`: matches over TCP."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equilibrist.cli.options import Json, Seed, Threads, emit, prepare_players, watching
from equilibrist.cli.winnings import winnings
from equilibrist.errors import InvalidValueError, NetworkError, ParseError, UnknownNameError

if TYPE_CHECKING:
    from equilibrist.play.server import Say, ServedMatch

Port = Annotated[str, typer.Option(help="One port for both seats, or one each: 4711,4712.")]
Spoken = Annotated[str, typer.Option("--protocol", help="acpc, or pokerbots (MIT 2017).")]
Game = Annotated[str, typer.Option(help="A game or a .game file.")]
_MOST_PORT = 2**16 - 1


def dealer(
    game: Annotated[str, typer.Argument(help="A game or a .game file.")],
    hands: Annotated[int, typer.Option(help="Hands of the match.")] = 1000,
    port: Port = "0",
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    names: Annotated[str, typer.Option(help="Names of the seats in the log.")] = "seat1,seat2",
    bot: Annotated[
        list[str] | None, typer.Option(help="Start this command for the next seat; see the docs.")
    ] = None,
    log: Annotated[Path | None, typer.Option(help="Write the ACPC log into this file.")] = None,
    protocol: Spoken = "acpc",
    time_bank: Annotated[
        float, typer.Option(help="pokerbots: seconds of a player for the whole match.")
    ] = 20.0,
    t_response: Annotated[int, typer.Option(help="Milliseconds for an answer.")] = 600_000,
    t_hand: Annotated[int, typer.Option(help="Milliseconds for a hand.")] = 600_000,
    t_per_hand: Annotated[int, typer.Option(help="Milliseconds a hand, on average.")] = 7_000,
    start_timeout: Annotated[
        float | None, typer.Option(help="Seconds to wait for players; for ever unless told.")
    ] = None,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Deal a match to two players who connect by the ACPC protocol, or that of Pokerbots.

    Example: equilibrist dealer holdem-limit --hands 3000 --seed 7 --port 4711 --log match.log
    """
    from equilibrist.games.catalog import load_game
    from equilibrist.play.bots import Bot, seen_out
    from equilibrist.play.pokerbots_engine import check_engine, serve_pokerbots
    from equilibrist.play.server import TimeLimits, check_match, serve_match
    from equilibrist.play.wire import Listener

    rules, seats, ports = load_game(game), _names(names), _ports(port)
    limits = TimeLimits(t_response, t_hand, t_per_hand)
    check_match(rules, seats, hands)
    is_acpc = _is_acpc(protocol)
    if not is_acpc:
        check_engine(rules, seats, time_bank)
    commands = bot or []
    if len(commands) > 2:
        raise InvalidValueError(f"two seats take two bots, not {len(commands)}", value=commands)
    bots: list[Bot] = []
    with contextlib.ExitStack() as stack:
        doors = [stack.enter_context(Listener(host, number)) for number in ports]
        write = stack.enter_context(_log_file(log))
        _say(f"{seats[0]} at port {doors[0].port}, {seats[1]} at port {doors[-1].port}")
        stack.enter_context(seen_out(bots))
        wires = []
        for seat, door in enumerate((doors[0], doors[-1])):
            if seat < len(commands):
                bots.append(Bot(commands[seat], host, door.port))
            check = bots[seat].check if seat < len(commands) else None
            wires.append(stack.enter_context(door.accept(start_timeout, check)))
        start = time.perf_counter()
        pair = wires[0], wires[1]
        settings: dict[str, Any] = {
            "seed": seed,
            "log": write,
            "warn": _say,
            "watch": watching(f"{seats[0]} against {seats[1]}"),
        }
        if is_acpc:
            played = serve_match(rules, pair, seats, hands, limits=limits, **settings)
        else:
            played = serve_pokerbots(rules, pair, seats, hands, time_bank=time_bank, **settings)
        seconds = time.perf_counter() - start
    data = _describe(played) | {"seconds": round(seconds, 3), "log": str(log) if log else None}
    emit(data, f"{_score_text(data)}\n{data['verdict']}", as_json=json)
    if not played.is_finished:
        raise typer.Exit(1)


def connect(
    host: Annotated[str, typer.Argument(help="Where the dealer is.")],
    port: Annotated[int, typer.Argument(min=1, max=_MOST_PORT, help="Its port for this seat.")],
    player: Annotated[str, typer.Argument(help="A player, such as always-call.")],
    game: Game = "holdem-limit",
    protocol: Spoken = "acpc",
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Let a player play at an ACPC dealer, or a Pokerbots engine, until that hangs up.

    Example: equilibrist connect 127.0.0.1 4711 poki
    """
    from equilibrist.games.catalog import load_game
    from equilibrist.play.acpc import play_over
    from equilibrist.play.pokerbots_client import play_pokerbots
    from equilibrist.play.wire import connect as connect_to
    from equilibrist.players.catalog import make_player

    rules, is_acpc = load_game(game), _is_acpc(protocol)
    prepare_players(threads, player)
    seated = make_player(player, rules)
    seated.reset(seed)
    with connect_to(host, port) as wire:
        chips, is_cut_off = (play_over if is_acpc else play_pokerbots)(rules, wire, seated)
    if is_cut_off:
        raise NetworkError(
            f"the dealer hung up in the middle of hand {len(chips)}; "
            f"{seated.name} had won {sum(chips)} chips in {len(chips)} whole hands"
        )
    data = {"game": rules.name, "player": seated.name, "chips": sum(chips), "seed": seed}
    data |= winnings(chips, rules, (seated.name, "the other"))
    text = f"{seated.name} won {sum(chips)} chips in {len(chips):,} hands\n{data['verdict']}"
    emit(data, text, as_json=json)


def _is_acpc(protocol: str) -> bool:
    if protocol not in ("acpc", "pokerbots"):
        raise UnknownNameError(f"--protocol is acpc or pokerbots, not {protocol!r}", value=protocol)
    return protocol == "acpc"


def _names(text: str) -> tuple[str, str]:
    names = text.split(",")
    if len(names) != 2:
        raise ParseError(f"--names is two names apart by a comma, not {text!r}", value=text)
    return names[0], names[1]


def _ports(text: str) -> list[int]:
    from equilibrist.cards.numbers import parse_whole

    words = text.split(",")
    ports = [number for word in words if (number := parse_whole(word, _MOST_PORT)) is not None]
    if len(words) > 2 or len(ports) < len(words):
        raise ParseError(
            f"--port is one port or two apart by a comma, 0 to {_MOST_PORT}, not {text[:40]!r}",
            value=text,
        )
    return ports


@contextlib.contextmanager
def _log_file(path: Path | None) -> Iterator[Say]:
    """Writes lines into a file as they come, so that a match that breaks off leaves its hands."""
    from equilibrist.games.files import file_errors

    with contextlib.ExitStack() as stack:
        file = None
        if path is not None:
            with file_errors("write", path, ParseError):
                file = open(path, "w", encoding="utf-8", newline="\n", buffering=1)  # noqa: SIM115
            stack.enter_context(file)
        yield lambda line: None if file is None else print(line, file=file)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _describe(played: ServedMatch) -> dict[str, Any]:
    total = sum(played.chips)
    return {
        "game": played.rules.name,
        "players": list(played.names),
        "seed": played.seed,
        "score": [total, -total],
        "finished": played.is_finished,
        "ending": played.ending,
    } | winnings(played.chips, played.rules, played.names)


def _score_text(data: dict[str, Any]) -> str:
    (first, second), (won, lost) = data["players"], data["score"]
    text = f"{first} {won:+,}, {second} {lost:+,} chips in {data['hands']:,} hands"
    return f"{text}\n{data['ending']}" if data["ending"] else text
