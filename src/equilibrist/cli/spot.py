"""`equilibrist spot`: solves a hold'em hand exactly from a flop, turn or river on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equilibrist.cli.options import Json, Seed, Threads, emit, prepare_kernels
from equilibrist.errors import InvalidValueError

if TYPE_CHECKING:
    from equilibrist.models.spot import Spot
    from equilibrist.models.subgame import Subgame
    from equilibrist.solving.spot_run import SolvedSpot
    from equilibrist.solving.target import Goal

_KERNELS = ("table_sweeps.sweeps", "table_sweeps.root_value", "isomorphism.index_hands")


def spot(
    folder: Annotated[
        Path | None, typer.Argument(help="Folder of a solved spot, to show or to continue.")
    ] = None,
    board: Annotated[
        str, typer.Option(help="Three, four or five cards, for example Td9d6hQc.")
    ] = "",
    oop: Annotated[
        str, typer.Option(help="Range out of position, for example QQ+,AKs,T9s:0.5.")
    ] = "",
    ip: Annotated[str, typer.Option(help="Range in position.")] = "",
    pot: Annotated[int, typer.Option(help="Chips in the pot.")] = 0,
    stack: Annotated[
        int | None, typer.Option(help="Chips that each player has left to bet.")
    ] = None,
    bets: Annotated[
        str | None, typer.Option(help='Bet sizes by street and seat: "60%,a / 75% | 100%,a".')
    ] = None,
    raises: Annotated[
        str | None, typer.Option(help='Raise sizes ("2.5x,a"); default: the bet sizes.')
    ] = None,
    max_raises: Annotated[
        str | None, typer.Option(help='Raise caps per street, bets included: "3 2".')
    ] = None,
    blind: Annotated[int, typer.Option(help="Smallest bet in chips.")] = 1,
    limit: Annotated[
        bool, typer.Option("--limit", help="Use limit hold'em with bets of 10 and 20 chips.")
    ] = False,
    game: Annotated[
        str | None, typer.Option(help="Another hold'em game of the catalogue, or a .game file.")
    ] = None,
    lock: Annotated[
        list[str] | None,
        typer.Option(help='Fix a decision: "c: r120=QQ+,AK:0.5" or "r120: f=0.4; c=0.6".'),
    ] = None,
    method: Annotated[str, typer.Option(help="Method: cfr+, dcfr or cfr.")] = "cfr+",
    to: Annotated[
        str | None,
        typer.Option(help="Target exploitability: 0.3% of the pot (default), 0.5chips, 5mbb."),
    ] = None,
    iterations: Annotated[int | None, typer.Option(help="Maximum number of iterations.")] = None,
    seconds: Annotated[float | None, typer.Option(help="Maximum time in seconds.")] = None,
    bits: Annotated[
        int, typer.Option(help="Bits per stored number: 32 or 16 (half the memory).")
    ] = 32,
    out: Annotated[Path | None, typer.Option(help="Folder for the solution.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in --out.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Run even if the forecast exceeds memory.")
    ] = False,
    node: Annotated[
        str, typer.Option(help="Node to show: the betting so far, for example cr120c/.")
    ] = "",
    runout: Annotated[str, typer.Option(help="Cards dealt between the board and --node.")] = "",
    hands: Annotated[str, typer.Option(help="Hands to list at the node: AKs, random, …")] = "",
    runouts: Annotated[
        bool, typer.Option("--runouts", help="Report each possible next card after --node.")
    ] = False,
    to_csv: Annotated[
        Path | None, typer.Option("--csv", help="Write the hands of the node to this file.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the node's 13 × 13 grid to this PNG file.")
    ] = None,
    palette: Annotated[str, typer.Option(help="Colours: usual or colour-blind.")] = "usual",
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Solve a spot exactly, save it, and show the strategy of each hand.

    Examples: equilibrist spot --board Td9d6hQc --oop "QQ+,AK,T9s" --ip "88-22,AQ,JTs" --pot 200
    --stack 900 --bets "60%,a" --raises 2.5x --to 0.3% --out turn ·
    equilibrist spot turn --node cr120 --hands AK --csv node.csv ·
    equilibrist spot turn --node cc --runouts ·
    equilibrist spot turn --lock "c: r120=0.3; r900=0" --out locked
    """
    from equilibrist.cli import runs, spot_text
    from equilibrist.cli.interrupts import how_to_resume, leave
    from equilibrist.display.grid import PALETTES, draw_grid
    from equilibrist.games.catalog import get_game, load_game
    from equilibrist.models.spot import Spot
    from equilibrist.solving.solve import Outcome
    from equilibrist.solving.spot_run import KIND, USUAL_TARGET, SolvedSpot, solver, spot_goal
    from equilibrist.storage.ownership import owned

    if palette not in PALETTES:
        raise InvalidValueError(f"--palette must be {' or '.join(PALETTES)}, not {palette!r}")
    runs.check_plot(plot)
    if runouts and (plot is not None or to_csv is not None):
        raise InvalidValueError(
            "--runouts reports several boards, but --plot and --csv write one node: leave out "
            "--runouts, or --plot and --csv"
        )
    has_budget = not (to is None and iterations is None and seconds is None)
    by = solver(method, bits)
    done: SolvedSpot | None = None
    built: Subgame | None = None
    goal: Goal | None = None
    with owned(out or (folder if has_budget and not lock else None)):
        if folder is not None:
            if board or oop or ip:
                raise InvalidValueError(
                    f"{folder} already defines the spot: leave out --board, --oop and --ip"
                )
            done = SolvedSpot.open(folder, for_resume=has_budget and not lock)
            given, by = done.spot, done.solver
            if lock:
                given, done = _with_locks(given, lock), None
            elif has_budget:
                out = out or folder
        else:
            _check_given(board, oop, ip, pot)
            rules = get_game("holdem-limit") if limit else load_game(game) if game else None
            given = Spot.of(
                board, oop, ip, pot=pot, stack=stack, blind=blind, game=rules, bets=bets,
                raises=raises, max_raises=max_raises, locks=tuple(lock or ()),
            )  # fmt: skip
            if resume:
                runs.check_output(out, True, KIND)
                assert out is not None
                done = SolvedSpot.open(out, for_resume=True)
                done.check_same(given, by, out)
        prepare_kernels(threads, *_KERNELS)
        if done is None or has_budget or resume:
            goal = spot_goal(given, to if has_budget else USUAL_TARGET)
            if done is None:
                runs.check_output(out, False, KIND)
            done, built = _solve(given, by, done, (iterations, goal, seconds), out, force, json)
    is_stopped = done.run.outcome is Outcome.INTERRUPTED
    iteration = int(done.run.state["iteration"])
    if is_stopped and not iteration:
        leave(how_to_resume(out, iteration))
    answers = done.answers(built)
    data, text = spot_text.result(done, out or folder, goal), spot_text.result_text(done, goal)
    if runouts:
        reports = answers.runouts(node, runout)
        data["runouts"] = [spot_text.report_data(report) for report in reports]
        text += f"\n\n{spot_text.runouts_text(reports)}"
    else:
        report = answers.at(node, runout)
        data["node"] = spot_text.report_data(report, hands)
        text += f"\n\n{spot_text.report_text(report, hands, palette)}"
        if to_csv is not None:
            spot_text.write_csv(report, to_csv)
        if plot is not None:
            draw_grid(report, plot, palette)
    if folder is not None and not has_budget and not lock:
        data["checked"], words = spot_text.checks(done, folder)
        text += f"\n\n{words}"
    emit(data, text, as_json=json)
    if is_stopped:
        leave(how_to_resume(out, iteration))


# --- arguments ------------------------------------------------------------------------------------


def _check_given(board: str, oop: str, ip: str, pot: int) -> None:
    for name, value in (("--board", board), ("--oop", oop), ("--ip", ip), ("--pot", pot)):
        if not value:
            raise InvalidValueError(
                f"{name} is missing; give --board, --oop, --ip, --pot, --stack and --bets, or the "
                "folder of a solved spot"
            )


def _with_locks(given: Spot, locks: list[str]) -> Spot:
    import dataclasses

    spot = dataclasses.replace(given, locks=(*given.locks, *locks))
    _ = spot.parsed_locks
    return spot


def _solve(
    given: Spot, by: Any, done: SolvedSpot | None, budget: tuple[Any, Any, Any], out: Path | None,
    force: bool, plain: bool,
) -> tuple[SolvedSpot, Subgame]:  # fmt: skip
    from equilibrist.cli import spot_text
    from equilibrist.cli.progress import RunLimits, shown
    from equilibrist.solving.forecast import spot_forecast
    from equilibrist.solving.solve import Run, check_budget, solve
    from equilibrist.solving.spot_run import EVALUATE_EVERY, SolvedSpot
    from equilibrist.storage import stopping

    iterations, goal, seconds = budget
    target = None if goal is None else goal.chips
    check_budget(iterations, target, seconds)
    needed = spot_forecast(given, by.bits)
    if not force:
        needed.check(f"the spot on {given.board}")
    for seat, text, own in zip(spot_text.SEATS, (given.oop, given.ip), given.ranges, strict=True):
        print(f"{seat}: {text}, {own.num_combos:g} hands", file=sys.stderr)
    print(f"{needed}", file=sys.stderr, flush=True)
    stopping.check()
    stopping.expect("preparation")
    built = given.build()
    stopping.check()

    def save(run: Run) -> None:
        if out is not None:
            SolvedSpot(given, by, run).save(out)

    limits = RunLimits(iterations, target, seconds, EVALUATE_EVERY)
    hint = "Ctrl-C stops" if out is None else "Ctrl-C pauses and saves"
    with shown(f"spot on {given.board}", hint, plain=plain, pot=given.pot, goal=goal) as view:
        view.begin(by.name, limits)
        run = solve(
            built.game, by, **limits._asdict(), run=None if done is None else done.run,
            watch=view, save=save,
        )  # fmt: skip
    return SolvedSpot(given, by, run), built
