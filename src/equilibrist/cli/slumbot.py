"""`equilibrist serve-api`, and `connect URL PLAYER`: matches over Slumbot's API."""

from __future__ import annotations

import contextlib
import functools
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

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
from equilibrist.cli.outputs import check_file
from equilibrist.cli.unblocked_stderr import unblocked_stderr
from equilibrist.errors import InvalidValueError, NetworkError
from equilibrist.stopping import noted_signals

if TYPE_CHECKING:
    from equilibrist.games.rules import GameRules
    from equilibrist.play.slumbot_log import ApiLog, ApiResults
    from equilibrist.play.slumbot_server import SlumbotServer

_MOST_PORT = 2**16 - 1
_HANDS = 1000

# Options of `serve-api`.
ServedPlayer = Annotated[str, typer.Argument(help="Player that waits for challengers.")]
ServedGame = Annotated[
    str | None, typer.Option(help="Game; default: the bot's, or holdem-nolimit.")
]
ApiPort = Annotated[
    int, typer.Option(min=0, max=_MOST_PORT, help="Port to listen on; 0: any free port.")
]
ApiHost = Annotated[str, typer.Option(help="Address to listen on.")]
ApiNames = Annotated[
    str, typer.Option(help="More names of this server, separated by commas: poker.example.org.")
]
ApiLogs = Annotated[
    Path | None, typer.Option("--logs", help="Folder for an ACPC log of each session.")
]
MostSessions = Annotated[int, typer.Option(min=1, max=10**6, help="Number of sessions at once.")]
IdleTime = Annotated[
    float, typer.Option(min=0, help="Seconds after which an unused session may end.")
]
Baseline = Annotated[
    bool,
    typer.Option(
        "--baseline/--no-baseline",
        help="Play each hand against itself too, so that clients can subtract luck.",
    ),
]


def serve_api(
    player: ServedPlayer,
    game: ServedGame = None,
    port: ApiPort = 0,
    host: ApiHost = "127.0.0.1",
    allowed_hosts: ApiNames = "",
    logs: ApiLogs = None,
    sessions: MostSessions = 100,
    idle: IdleTime = 3600.0,
    baseline: Baseline = True,
    json: Json = False,
    seed: SecretSeed = None,
    threads: Threads = None,
) -> None:
    """Let a player wait for programs that speak Slumbot's API, until Ctrl-C.

    Each client has its own session and secret cards; --seed deals the same cards to all of them,
    for matches in which knowing the cards gives no advantage.

    Example: equilibrist serve-api nolimit-quick --port 8081
    """
    from equilibrist.cli.network import own_game
    from equilibrist.games.catalog import load_game
    from equilibrist.play.json_server import JsonServer
    from equilibrist.play.slumbot_server import ServedBot, SlumbotServer, shared
    from equilibrist.players.catalog import make_player, player_learns

    rules = load_game(game or own_game(player) or "holdem-nolimit")
    prepare_players(threads, player)
    make = shared(functools.partial(make_player, player, rules))
    _make_folder(logs)
    has_baseline = baseline and not player_learns(player)
    bot = ServedBot(rules, make, seed, has_baseline, sessions, idle, logs)
    with unblocked_stderr(), noted_signals(_ending) as signals:
        served = SlumbotServer(bot)
        names = tuple(name.strip().lower() for name in allowed_hosts.split(",") if name.strip())
        with JsonServer(served.answer, host, port, names=names, warn=_say) as server:
            _say(f"{player} plays {rules.name} at {server.address}; Ctrl-C ends it")
            server.serve(lambda: signals.is_requested)
        served.close()
    _print_served(served, player, json)
    exit_if_requested(signals)


def _make_folder(folder: Path | None) -> None:
    if folder is not None:
        from equilibrist.storage.output_file import writing_errors

        with writing_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)


def _print_served(served: SlumbotServer, player: str, json: bool) -> None:
    """Print what the player won from all clients together."""
    from equilibrist.evaluation.winnings import winnings

    rules, chips = served.bot.rules, [-won for won in served.chips]
    data: dict[str, Any] = {
        "game": rules.name,
        "player": player,
        "sessions": served.num_sessions,
        "chips": sum(chips),
    }
    data |= winnings(chips, rules, (player, "the challenger"))
    text = f"{player} {_won(chips)} in {len(chips):,} hands of {served.num_sessions:,} sessions"
    emit(data, f"{text}\n{data['verdict']}", as_json=json)


def _ending() -> None:
    _say("ending the server; a second signal ends it at once")


# --- connect URL PLAYER ---------------------------------------------------------------------------


class MatchOptions(NamedTuple):
    """How `connect` plays a match over the API."""

    player: str
    hands: int | None
    log: Path | None
    resumes: bool
    force: bool
    seconds: float  # for each answer
    seed: int | None


def challenge(url: str, rules: GameRules, options: MatchOptions, json: bool) -> None:
    """Play a match against a server and print its result."""
    from equilibrist.games.dealing import secret_seed
    from equilibrist.play.json_client import JsonClient
    from equilibrist.play.slumbot import check_rules
    from equilibrist.play.slumbot_client import ApiMatch
    from equilibrist.players.catalog import make_player

    check_rules(rules)
    _check_options(options)
    player = make_player(options.player, rules)
    seed = secret_seed() if options.seed is None else options.seed
    player.reset(seed)
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(JsonClient(url, options.seconds))
        server.connect()  # before an old log is replaced
        log = _open_log(rules, player.name, server.address, options)
        hands = options.hands or _HANDS
        if log is not None:
            stack.enter_context(log)
            hands = log.hands
        signals = stack.enter_context(noted_signals(_stopping))
        match = ApiMatch(rules, player, server, hands, log, _say, lambda: signals.is_requested)
        try:
            match.play(Remaining(f"{player.name} against {server.address}"))
        except NetworkError as error:
            raise NetworkError(f"{error}{_so_far(match.results, options)}") from None
    data = {"game": rules.name, "player": player.name, "server": server.address, "seed": seed}
    _print_match(data | {"log": str(options.log) if options.log else None}, rules, match, json)
    exit_if_requested(signals)


def _check_options(options: MatchOptions) -> None:
    from equilibrist.cards.numbers import whole_number
    from equilibrist.games.state import MAX_HAND_NUMBER

    hands = _HANDS if options.hands is None else options.hands
    whole_number(hands, "the number of hands", 1, MAX_HAND_NUMBER)
    if options.resumes and options.log is None:
        raise InvalidValueError("--resume needs --log FILE, the match to continue")
    if not options.resumes:
        check_file(options.log, options.force)


def _open_log(rules: GameRules, player: str, server: str, options: MatchOptions) -> ApiLog | None:
    """Open the log of a match, new or continued; None without one."""
    from equilibrist.play.slumbot_log import ApiLog

    path, hands = options.log, options.hands
    if path is None:
        return None
    if options.resumes:
        log = ApiLog.resume(path, rules, player, server)
        if hands not in (None, log.hands):
            log.close()
            raise InvalidValueError(
                f"{path} is of a match of {log.hands:,} hands; leave --hands out", value=hands
            )
        _say(f"{log.results.num_hands:,} of {log.hands:,} hands are in {path}")
        return log
    if options.force:
        path.unlink(missing_ok=True)
    return ApiLog.create(path, rules, player, _HANDS if hands is None else hands, server)


def _so_far(results: ApiResults, options: MatchOptions) -> str:
    """Return the end of an error: what was won before, and how to continue."""
    if not results.num_hands:
        return ""
    text = f"; before, {options.player} {_won(results.chips)} in {results.num_hands:,} hands"
    return text + ("" if options.log is None else "; --resume continues the match")


def _print_match(data: dict[str, Any], rules: GameRules, match: Any, json: bool) -> None:
    """Print the result of a match over the API, plain and less the baseline."""
    from equilibrist.evaluation.winnings import winnings

    results: ApiResults = match.results
    names = (match.player.name, "the opponent")
    data |= {
        "chips": round(sum(results.chips)),
        "lost_hands": results.num_lost,
        "duplicate": False,
        "finished": results.num_hands >= match.hands,
    }
    data |= winnings(results.chips, rules, names)
    less = results.differences
    data["baseline"] = None
    lines = [
        f"{names[0]} {_won(results.chips)} in {results.num_hands:,} hands, seed {data['seed']}",
        str(data["verdict"]),
    ]
    if less is not None and len(less) > 1:
        found = winnings(less, rules, names)
        data["baseline"] = {"chips": sum(results.baselines)} | found
        low, high = found["ci95"]
        lines.append(
            f"less the baseline: {found['win_rate']:+,.1f} {found['unit']}, "
            f"95 % interval {low:+,.1f} to {high:+,.1f}"
        )
    if results.num_lost:
        lines.append(f"{results.num_lost:,} hands ended without an answer and are not in the log")
    emit(data, "\n".join(lines), as_json=json)


def _stopping() -> None:
    _say("stopping after this hand; a second signal stops at once")


def _won(chips: Any) -> str:
    total = round(sum(chips))
    return f"{'lost' if total < 0 else 'won'} {abs(total):,} chips"


def _say(text: str) -> None:
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)
