"""`equilibrist spot`: solves a hold'em hand exactly from a flop, turn or river on."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from equilibrist.cli.option_groups import with_groups
from equilibrist.cli.options import (
    Common,
    Device,
    Palette,
    ResumeRun,
    SolutionOut,
    check_palette,
    emit,
    prepare_kernels,
)
from equilibrist.cli.situation import Situation, Solving, check_described, check_given
from equilibrist.errors import InvalidValueError

if TYPE_CHECKING:
    from equilibrist.models.spot import Spot
    from equilibrist.solving.forecast import SpotForecast
    from equilibrist.solving.lean_cfr import TableCFR
    from equilibrist.solving.solve import Budget
    from equilibrist.solving.spot_run import SolvedSpot
    from equilibrist.solving.target import Goal
    from equilibrist.strategies.spot_report import Answers

SPOT_KERNELS = ("table_sweeps.halves_team", "isomorphism.index_hands")


# Options of `spot`.
SpotFolder = Annotated[
    Path | None, typer.Argument(help="Folder of a solved spot, to show or to continue.")
]
SpotBoard = Annotated[str, typer.Option(help="Three, four or five cards, for example Td9d6hQc.")]
Forecast = Annotated[
    bool,
    typer.Option("--forecast", help="Print memory and time, and what would fit; do not solve."),
]
Node = Annotated[str, typer.Option(help="Node to show: the betting so far, for example cr120c/.")]
Runout = Annotated[str, typer.Option(help="Cards dealt between the board and --node.")]
NodeHands = Annotated[str, typer.Option(help="Hands to list at the node: AKs, random, …")]
Runouts = Annotated[
    bool, typer.Option("--runouts", help="Report each possible next card after --node.")
]
NodeCsv = Annotated[
    Path | None, typer.Option("--csv", help="Write the hands of the node to this file.")
]
GridPlot = Annotated[
    Path | None, typer.Option(help="Draw the node's 13 × 13 grid to this PNG file.")
]


class View(NamedTuple):
    """The node that is shown, and the files that it is written to."""

    node: Node = ""
    runout: Runout = ""
    hands: NodeHands = ""
    runouts: Runouts = False
    csv: NodeCsv = None
    plot: GridPlot = None
    palette: Palette = "usual"

    def check(self) -> None:
        """Raise an error, before any work, for options that do not go together."""
        from equilibrist.cli import runs

        check_palette(self.palette)
        runs.check_plot(self.plot)
        if self.runouts and (self.plot is not None or self.csv is not None):
            raise InvalidValueError(
                "--runouts reports several boards, but --plot and --csv write one node: leave out "
                "--runouts, or --plot and --csv"
            )

    def show(self, answers: Answers) -> tuple[dict[str, Any], str]:
        """Return the node, or its runouts, as JSON and as text; write the files."""
        from equilibrist.cli import spot_text
        from equilibrist.display.grid import draw_grid

        if self.runouts:
            reports = answers.runouts(self.node, self.runout)
            data = {"runouts": [spot_text.report_data(report) for report in reports]}
            return data, spot_text.runouts_text(reports)
        report = answers.at(self.node, self.runout)
        if self.csv is not None:
            spot_text.write_csv(report, self.csv)
        if self.plot is not None:
            draw_grid(report, self.plot, self.palette)
        text = spot_text.report_text(report, self.hands, self.palette)
        return {"node": spot_text.report_data(report, self.hands)}, text


@with_groups
def spot(
    *,
    folder: SpotFolder = None,
    board: SpotBoard = "",
    situation: Situation,
    solving: Solving,
    out: SolutionOut = None,
    resume: ResumeRun = False,
    forecast: Forecast = False,
    device: Device = "cpu",
    view: View,
    common: Common,
) -> None:
    """Solve a spot exactly, save it, and show the strategy of each hand.

    Examples: equilibrist spot --board Td9d6hQc --oop "QQ+,AK,T9s" --ip "88-22,AQ,JTs" --pot 200
    --stack 900 --bets "60%,a" --raises 2.5x --to 0.3% --out turn ·
    equilibrist spot --board Td9d6h --oop random --ip random --pot 60 --stack 970 --bets "50%,100%"
    --raises 3x --donks - --merge 10% --force-all-in 20% --forecast ·
    equilibrist spot turn --node cr120 --hands AK --csv node.csv ·
    equilibrist spot turn --node cc --runouts ·
    equilibrist spot turn --lock "c: r120=0.3; r900=0" --out locked ·
    equilibrist spot --board Td9d6hQc2s --oop "QQ+,AK" --ip "88-22,AQ" --pot 5.5bb --stack 97.25bb
    --bets "33%,2.5bb,a" --raises 2.5x --rake 5% --rake-cap 0.6bb --to 5mbb
    """
    from equilibrist.storage.ownership import owned

    view.check()
    by, locks, has_budget = solving.solver(), situation.locks, solving.has_budget
    goal: Goal | None = None
    with owned(out or (folder if has_budget and not locks else None)):
        if folder is not None:
            check_described(folder, situation, solving, board=board)
            work = _opened(folder, out, locks, has_budget)
        else:
            check_given(situation, "the folder of a solved spot", board=board)
            work = _Work(situation.spot(board), by, out)
            if resume:
                work = _resumed(work, keep_method=solving.method is None)
        if forecast:
            _print_forecast(work, device, as_json=common.json)
            return
        prepare_kernels(common.threads, *(() if device == "gpu" else SPOT_KERNELS))
        if work.done is None or has_budget or resume:
            goal, budget = solving.limits(work.spot)
            settings = _Settings(device, force=solving.force, plain=common.json)
            work = _solve(work, budget, goal, settings)
    is_only_shown = folder is not None and not has_budget and not locks
    _print(work, goal, view, folder, is_only_shown=is_only_shown, as_json=common.json)


class _Settings(NamedTuple):
    """How a spot is solved: on which device, whatever its size, with plain progress lines."""

    device: str
    force: bool
    plain: bool


class _Work(NamedTuple):
    """A spot, its solver, the folder of its run, and the run so far."""

    spot: Spot
    solver: TableCFR
    out: Path | None
    done: SolvedSpot | None = None


# --- arguments ------------------------------------------------------------------------------------


def _opened(folder: Path, out: Path | None, locks: tuple[str, ...], has_budget: bool) -> _Work:
    """Open a solved spot: to show it, to continue it in its folder, or to solve it with locks."""
    from equilibrist.solving.spot_run import SolvedSpot

    done = SolvedSpot.open(folder, for_resume=has_budget and not locks)
    if locks:
        return _Work(done.spot.with_locks(locks), done.solver, out)
    return _Work(done.spot, done.solver, out or (folder if has_budget else None), done)


def _resumed(work: _Work, *, keep_method: bool) -> _Work:
    """Open the run in a folder, which must be of the same spot by the same solver.

    With `keep_method` the run continues with its own method, whatever that is.
    """
    from equilibrist.cli import runs
    from equilibrist.solving.spot_run import KIND, SolvedSpot

    runs.check_output(work.out, True, KIND)
    assert work.out is not None
    done = SolvedSpot.open(work.out, for_resume=True)
    by = replace(work.solver, method=done.solver.method) if keep_method else work.solver
    done.check_same(work.spot, by, work.out)
    return work._replace(solver=by, done=done)


# --- solving and printing -------------------------------------------------------------------------


def _solve(work: _Work, budget: Budget, goal: Goal | None, settings: _Settings) -> _Work:
    """Solve a spot, or continue, and show the progress."""
    from equilibrist import stopping
    from equilibrist.cli import runs
    from equilibrist.cli.progress import shown
    from equilibrist.solving.forecast import count_states, spot_forecast
    from equilibrist.solving.spot_run import KIND, solve_spot, spot_budget

    given, by, out, done = work
    if done is None:
        runs.check_output(out, False, KIND)
    built = None if done is None else done.subgame  # old folders may merge fewer suits
    states = None if built is None else count_states(built.states, built.game.held)
    needed = spot_forecast(given, by.bits, states)
    device = _device_of(given, needed, settings)
    _print_header(given, needed)
    stopping.check()
    stopping.expect("preparation")
    built = (built or given.build()).on(device)
    stopping.check()
    hint = "Ctrl-C stops" if out is None else "Ctrl-C pauses and saves"
    pot = given.money.amount(given.pot)
    with shown(f"spot on {given.board}", hint, plain=settings.plain, pot=pot, goal=goal) as view:
        view.begin(by.name, spot_budget(budget, built))
        run = None if done is None else done.run
        found = solve_spot(given, by, built, budget, run=run, out=out, watch=view)
    return work._replace(done=found)


def _device_of(given: Spot, needed: SpotForecast, settings: _Settings) -> str:
    """Return where a spot is solved, cpu or gpu, after a check of the memory there."""
    from equilibrist.cli import runs
    from equilibrist.solving.devices import choose_device, gpu_room
    from equilibrist.solving.forecast import count_states, spot_forecast
    from equilibrist.solving.suggestions import check_fits

    def check_gpu() -> None:
        if not settings.force:  # the GPU has one list of hands for both seats
            on_gpu = spot_forecast(given, needed.bits, count_states(given.states))
            check_fits(given, on_gpu, spot_flag, gpu_room())

    device = runs.announced(choose_device(settings.device, check_gpu))
    if device == "cpu" and not settings.force:
        check_fits(given, needed, spot_flag)
    return device


def spot_flag(name: str, value: str | int | None = None) -> str:
    """Return an argument of a spot as a flag of the command: `--max-raises 2`."""
    flag = f"--{name.replace('_', '-')}"
    return flag if value is None else f"{flag} {shlex.quote(str(value))}"


def _print_forecast(work: _Work, device: str, *, as_json: bool) -> None:
    """Print the memory and time of a spot, and smaller versions if it does not fit."""
    from equilibrist.cli import spot_text
    from equilibrist.solving.devices import choose_device, gpu_room
    from equilibrist.solving.forecast import spot_forecast
    from equilibrist.solving.spot_data import forecast_data
    from equilibrist.solving.suggestions import suggestions
    from equilibrist.storage.memory import available_bytes

    on_gpu = choose_device(device, lambda: None).name == "gpu"
    free = gpu_room() if on_gpu else available_bytes()
    needed = spot_forecast(work.spot, work.solver.bits)
    found = suggestions(work.spot, needed, free)
    data = forecast_data(work.spot, needed, free, found)
    emit(data, spot_text.forecast_text(work.spot, needed, free, found, spot_flag), as_json=as_json)


def _print_header(given: Spot, needed: SpotForecast) -> None:
    """Print both ranges and the forecast on stderr."""
    from equilibrist.cli import spot_text
    from equilibrist.cli.node_text import wrapped

    for seat, text, own in zip(spot_text.SEATS, (given.oop, given.ip), given.ranges, strict=True):
        print(wrapped(f"{seat}: {text}", f"({own.num_combos:g} hands)"), file=sys.stderr)
    print(wrapped(f"{needed}"), file=sys.stderr, flush=True)


def _print(
    work: _Work,
    goal: Goal | None,
    view: View,
    folder: Path | None,
    *,
    is_only_shown: bool,
    as_json: bool,
) -> None:
    """Print a solved spot and the node that was asked for; leave if the run was stopped."""
    from equilibrist.cli import spot_text
    from equilibrist.cli.interrupts import how_to_resume, leave
    from equilibrist.solving.solve import Outcome
    from equilibrist.solving.spot_data import result_data

    done = work.done
    assert done is not None
    is_stopped = done.run.outcome is Outcome.INTERRUPTED
    iteration = int(done.run.state["iteration"])
    if is_stopped and not iteration:
        leave(how_to_resume(work.out, iteration))
    data = result_data(done, work.out or folder, goal)
    shown, words = view.show(done.answers())
    data, text = data | shown, f"{spot_text.result_text(done, goal)}\n\n{words}"
    if is_only_shown:
        assert folder is not None
        data["checked"], words = spot_text.checks(done, folder)
        text += f"\n\n{words}"
    emit(data, text, as_json=as_json)
    if is_stopped:
        leave(how_to_resume(work.out, iteration))
