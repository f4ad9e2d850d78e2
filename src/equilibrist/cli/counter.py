"""`equilibrist counter`: responses to a player, and how much they can lose."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equilibrist.cli.options import (
    SOLVING_KERNELS,
    Iterations,
    Json,
    Remaining,
    ResumeRun,
    Seconds,
    Seed,
    Threads,
    To,
    emit,
    owning,
    prepare_kernels,
    table,
)

if TYPE_CHECKING:
    from equilibrist.front_door.counters import Arena, Opponent, Response
    from equilibrist.solving.counter import Method as Responding
    from equilibrist.solving.solve import Budget
    from equilibrist.solving.target import Goal

CountedTarget = Annotated[
    str | None, typer.Argument(help="Player, bot, mix, or folder of a solution to respond to.")
]
Log = Annotated[
    Path | None, typer.Option(help="ACPC log, PHH file or folder to learn the opponent from.")
]
LogPlayer = Annotated[str | None, typer.Option("--player", help="Opponent's name in the log.")]
CounterGame = Annotated[
    str | None,
    typer.Option(
        help="Exact game, or bot or solution in whose buckets to respond; default: the target's."
    ),
]
Responses = Annotated[
    str,
    typer.Option(
        help="rnr: restricted Nash response; dbr: data-biased response; fbr: best response to "
        "the observed frequencies."
    ),
]
Trust = Annotated[
    float, typer.Option("--p", help="Probability that the opponent plays as its model, 0 to 1.")
]
Curve = Annotated[
    str | None,
    typer.Option(help="Several values of p instead of one, such as 0,0.3,0.6,0.9,0.97,1."),
]
Confidence = Annotated[
    str, typer.Option(help="dbr: trust by number of observations, N-step, N-linear or N-curve.")
]
Hands = Annotated[
    int | None,
    typer.Option(help="Model the target from N hands of play; default: 20000 if it is no table."),
]
HideMucked = Annotated[
    bool, typer.Option("--hide-mucked", help="Ignore cards that were not shown at a showdown.")
]
Out = Annotated[Path | None, typer.Option(help="Folder for the response, or one for each p in it.")]
Plot = Annotated[Path | None, typer.Option(help="Draw win against exploitability to this PNG.")]
InRealGame = Annotated[
    bool, typer.Option("--real-game", help="Evaluate in the full game, not only in its buckets.")
]
Flops = Annotated[
    int | None, typer.Option(help="Stratified sample of N flops of the real game; default: all.")
]
RealHands = Annotated[
    int, typer.Option(help="Hands of the match against the target in the real game.")
]


@owning("out")
def counter(
    target: CountedTarget = None,
    log: Log = None,
    player: LogPlayer = None,
    game: CounterGame = None,
    method: Responses = "rnr",
    p: Trust = 0.9,
    curve: Curve = None,
    confidence: Confidence = "10-curve",
    hands: Hands = None,
    hide_mucked: HideMucked = False,
    out: Out = None,
    to: To = None,
    iterations: Iterations = None,
    seconds: Seconds = None,
    resume: ResumeRun = False,
    plot: Plot = None,
    real_game: InRealGame = False,
    flops: Flops = None,
    match_hands: RealHands = 100_000,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Respond to a player or to a log of hands: win from it, and lose little to others.

    Each response is stored as a solution: match, exploit, verify, show and play open its folder.

    Example: equilibrist counter mix:0.3,0.5,0.2 --game leduc --out response

    Example: equilibrist counter psopti1 --game smallbot --curve 0,0.5,0.9,1

    Example: equilibrist counter --log match.log --player Alice --method dbr
    """
    from equilibrist import stopping
    from equilibrist.cli.real_game import check_measure
    from equilibrist.errors import InvalidValueError
    from equilibrist.front_door import counters
    from equilibrist.solving.counter import Method
    from equilibrist.solving.solve import Budget, Outcome

    _check(target, log, player, hands, hide_mucked=hide_mucked, real_game=real_game, flops=flops)
    if real_game:
        _check_real(out, match_hands)
    shares = [p] if curve is None else _shares(curve)
    methods = [Method(method, share, confidence) for share in shares]
    if method == "fbr" and curve is not None:
        raise InvalidValueError("fbr trusts its model completely: leave out --curve")
    folders = [counters.point_folder(out, share, curve is not None) for share in shares]
    _check_folders(folders, plot, resume=resume)
    name = counters.game_of(target, log, game)
    prepare_kernels(threads, *SOLVING_KERNELS)
    stopping.expect("preparation")
    arena = counters.Arena.open(name)
    if real_game:
        check_measure(arena.rules, flops, has_buckets=arena.buckets is not None)
    goal = arena.goal(to)
    budget = Budget(iterations, goal.chips, seconds)
    budget.check()
    opponent = _opponent(arena, target, log, player, hands, seed, hides=hide_mucked)
    stopping.check()
    done: list[Response] = []
    for own, folder in zip(methods, folders, strict=True):
        done.append(_computed(arena, opponent, own, budget, goal, folder, plain=json))
        if done[-1].outcome is Outcome.INTERRUPTED:
            break
    rows = [point.row() for point in done]
    if real_game:
        for row, point in zip(rows, done, strict=True):
            row["real_game"] = _real(point, target, flops, match_hands, seed, threads)
    _print(rows, done, opponent, plot, as_json=json)


def _check(
    target: str | None,
    log: Path | None,
    player: str | None,
    hands: int | None,
    *,
    hide_mucked: bool,
    real_game: bool,
    flops: int | None,
) -> None:
    """Raise `InvalidValueError` for options that do not belong together."""
    from equilibrist.errors import InvalidValueError

    if (target is None) == (log is None):
        raise InvalidValueError("give either a target or --log FILE with --player NAME")
    if log is None and (player is not None or hide_mucked):
        raise InvalidValueError("--player and --hide-mucked need --log: add it or leave them out")
    if log is not None and (hands is not None or real_game):
        raise InvalidValueError("--hands and --real-game need a target instead of --log")
    if flops is not None and not real_game:
        raise InvalidValueError("--flops needs --real-game: add --real-game or leave it out")
    if hands is not None and hands < 1:
        raise InvalidValueError(f"--hands must be at least 1, not {hands}", value=hands)


def _check_real(out: Path | None, hands: int) -> None:
    """Raise `InvalidValueError` for options with which nothing can be measured in the game."""
    from equilibrist.errors import InvalidValueError

    if out is None:
        raise InvalidValueError("--real-game needs --out, the folder of the response")
    if hands < 4 or hands % 2:
        raise InvalidValueError(
            f"--match-hands must be even and at least 4, because each deal is played twice, not "
            f"{hands}",
            value=hands,
        )


def _shares(text: str) -> list[float]:
    """Return the values of p in a text, in its order."""
    from equilibrist.errors import ParseError

    try:
        found = [float(word) for word in text.split(",")]
    except ValueError:
        found = []
    if not found or len(set(found)) < len(found):
        raise ParseError(
            f"--curve must be different numbers from 0 to 1, such as 0,0.5,0.9, not {text[:40]!r}",
            value=text,
        )
    return found


def _check_folders(folders: list[Path | None], plot: Path | None, *, resume: bool) -> None:
    """Raise an error if a folder would be overwritten, or if there is no run to resume.

    Of a curve that is resumed some responses may not have begun.
    """
    from equilibrist.cli import runs
    from equilibrist.storage.manifest import MANIFEST

    runs.check_plot(plot)
    begun = [folder is not None and (folder / MANIFEST).exists() for folder in folders]
    for folder, has_begun in zip(folders, begun, strict=True):
        runs.check_output(folder, resume=resume and (has_begun or not any(begun)))


def _opponent(
    arena: Arena,
    target: str | None,
    log: Path | None,
    player: str | None,
    hands: int | None,
    seed: int,
    *,
    hides: bool,
) -> Opponent:
    from equilibrist.front_door.counters import Opponent
    from equilibrist.stopping import Stopped

    if log is not None:
        return Opponent.of_log(log, player, arena, hides)
    assert target is not None
    remaining: list[Remaining] = []

    def watch(share: float) -> None:
        if not remaining:  # a strategy that is known is not observed
            remaining.append(Remaining(f"observing {target[:40]}"))
        remaining[0](share)

    try:
        return Opponent.of_player(target, arena, hands, seed, watch)
    except Stopped:
        raise KeyboardInterrupt from None


def _computed(
    arena: Arena,
    opponent: Opponent,
    method: Responding,
    budget: Budget,
    goal: Goal,
    folder: Path | None,
    *,
    plain: bool,
) -> Response:
    """Compute a response, or continue its stored run, and show the progress."""
    from equilibrist.cli.progress import shown
    from equilibrist.front_door.counters import compute

    hint = "Ctrl-C stops" if folder is None else "Ctrl-C stops and saves"
    if folder is not None:
        folder.parent.mkdir(parents=True, exist_ok=True)
    with shown(arena.game.name, hint, plain=plain, goal=goal) as view:
        return compute(arena, opponent, method, budget, folder, view)


def _real(
    point: Response,
    target: str | None,
    flops: int | None,
    hands: int,
    seed: int,
    threads: int | None,
) -> dict[str, Any]:
    """Return what a response wins from the target and can lose in the game itself."""
    from equilibrist.cli.real_game import exploited_in
    from equilibrist.front_door.matches import match

    assert target is not None
    assert point.folder is not None
    found, is_whole = exploited_in(point.folder, flops, seed, threads)
    played = match(
        f"solution:{point.folder}",
        _playing(target),
        hands=hands,
        duplicate=True,
        game=point.arena.rules,
        seed=seed,
    ).statistics()
    return {
        "win": played.win_rate,
        "win_ci95": list(played.estimate.ci95),
        "hands": hands,
        "exploitability": found.exploitability,
        "estimate": not is_whole,
        "unit": found.unit,
    }


def _playing(target: str) -> str:
    from equilibrist.front_door.counters import player_text

    return player_text(target)


def _print(
    rows: list[dict[str, Any]],
    done: list[Response],
    opponent: Opponent,
    plot: Path | None,
    *,
    as_json: bool,
) -> None:
    """Print and draw responses; leave if the last one was stopped."""
    from equilibrist.cli.interrupts import how_to_resume, leave
    from equilibrist.display.exploitation import draw_exploitation
    from equilibrist.front_door.counters import Responses as Points
    from equilibrist.solving.solve import Outcome

    game, model = done[0].arena.game, opponent.model
    data = {
        "game": game.name,
        "target": opponent.name,
        "model_hands": model.hands,
        "points": [row | {"outcome": point.outcome.name.lower()} for row, point in
                   zip(rows, done, strict=True)],
    }  # fmt: skip
    seen = "" if model.hands is None else f", modelled from {model.hands:,} hands"
    text = f"responses to {opponent.name}{seen} in {game.name}\n{_table(rows)}"
    emit(data, text, as_json=as_json)
    if plot is not None:
        mixtures = Points(tuple(done)).mixtures() if len(done) > 1 else ()
        draw_exploitation(rows, opponent.name, plot, mixtures)
    last = done[-1]
    if last.outcome is Outcome.INTERRUPTED:
        leave(how_to_resume(last.folder, last.seats.iterations))


def _table(rows: list[dict[str, Any]]) -> str:
    """Return one line per response: what it wins, and what it can lose at most."""
    unit = rows[0]["unit"]
    header = ["method", "p", f"wins, {unit}", f"can lose, {unit}", "iterations", "seconds"]
    real = "real_game" in rows[0]
    if real:
        header += ["wins, game itself", "can lose, game itself"]
    lines = []
    for row in rows:
        line = [row["method"], f"{row.get('p', 1):g}", f"{row['win']:.4f}"]
        line += [f"{row['exploitability']:.4f}", row["iterations"], f"{row['seconds']:.1f}"]
        if real:
            found = row["real_game"]
            low, high = found["win_ci95"]
            line.append(f"{found['win']:.4g} ± {(high - low) / 2:.2g}")
            about = "about " if found["estimate"] else ""
            line.append(f"{about}{found['exploitability']:.4g}")
        lines.append(line)
    return table(lines, header=header)
