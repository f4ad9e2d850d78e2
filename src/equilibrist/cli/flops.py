"""`equilibrist flops`: solves one situation on many flops and reports on all of them."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equilibrist.cli.options import (
    IgnoreForecast,
    Iterations,
    Json,
    Palette,
    ResumeRun,
    Seconds,
    Seed,
    Threads,
    check_palette,
    emit,
    prepare_kernels,
    table,
)
from equilibrist.cli.spot import (
    SPOT_KERNELS,
    Bits,
    Blind,
    IpRange,
    Limit,
    Locks,
    OopRange,
    Pot,
    SpotBets,
    SpotGame,
    SpotMaxRaises,
    SpotMethod,
    SpotRaises,
    SpotTarget,
    Stack,
)
from equilibrist.errors import InvalidValueError

if TYPE_CHECKING:
    from equilibrist.models.spot import Spot
    from equilibrist.solving.flop_study import FlopProgress, FlopStudy
    from equilibrist.solving.solve import Budget
    from equilibrist.strategies.flop_report import FlopReport, FlopResult

FLOP_KERNELS = (*SPOT_KERNELS, "equity.showdown_boards")

# Options of `flops`.
FlopsFolder = Annotated[
    Path | None, typer.Argument(help="Folder of solved flops, to show or to continue.")
]
WhichFlops = Annotated[
    str,
    typer.Option(
        "--flops",
        help="Number of representative flops, a list such as AsKd2c:12,Td9d6h:24, or a .txt file.",
    ),
]
FlopsOut = Annotated[Path | None, typer.Option(help="Folder for the flops, one folder each.")]
Nodes = Annotated[
    list[str] | None,
    typer.Option("--node", help="Report this decision too, as betting on the flop: c, cr40, …"),
]
GroupBy = Annotated[str | None, typer.Option("--by", help="Group flops by suits, pairs or high.")]
FlopsCsv = Annotated[Path | None, typer.Option("--csv", help="Write the flops to this file.")]
FlopsPlot = Annotated[
    Path | None,
    typer.Option(help="Draw a bar per flop at the last --node (default: first decision)."),
]


def flops(
    folder: FlopsFolder = None,
    which: WhichFlops = "10",
    oop: OopRange = "",
    ip: IpRange = "",
    pot: Pot = None,
    stack: Stack = None,
    bets: SpotBets = None,
    raises: SpotRaises = None,
    max_raises: SpotMaxRaises = None,
    blind: Blind = None,
    limit: Limit = False,
    game: SpotGame = None,
    lock: Locks = None,
    method: SpotMethod = None,
    to: SpotTarget = None,
    iterations: Iterations = None,
    seconds: Seconds = None,
    bits: Bits = 32,
    out: FlopsOut = None,
    resume: ResumeRun = False,
    force: IgnoreForecast = False,
    node: Nodes = None,
    by: GroupBy = None,
    to_csv: FlopsCsv = None,
    plot: FlopsPlot = None,
    palette: Palette = "usual",
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Solve the same ranges, pot and bets on many flops, and report frequencies and EVs.

    Examples: equilibrist flops --flops 10 --oop "22+,A2s+,KTs+" --ip "TT-22,AQs-A2s" --pot 60
    --stack 200 --bets "50% / a / a" --to 0.5% --out study ·
    equilibrist flops study --node c --by suits --plot study.png ·
    equilibrist flops study --to 0.1%
    """
    from equilibrist.cli import runs
    from equilibrist.games.catalog import get_game, load_game
    from equilibrist.models.spot import Chips, Spot
    from equilibrist.solving.flop_study import (
        KIND,
        FlopStudy,
        check_nodes,
        flop_list,
        sample_flop,
    )
    from equilibrist.solving.lean_cfr import DEFAULT_METHOD
    from equilibrist.solving.spot_run import USUAL_TARGET, solver
    from equilibrist.storage.ownership import owned
    from equilibrist.strategies.flop_report import check_grouping

    check_palette(palette)
    runs.check_plot(plot)
    if by is not None:
        check_grouping(by)
    nodes = tuple(node or ())
    has_budget = not (to is None and iterations is None and seconds is None)
    limits = (to if has_budget else USUAL_TARGET, iterations, seconds)
    place = folder or out
    with owned(place if out is not None or has_budget else None):
        if folder is not None:
            _check_without_situation(folder, oop, ip, out)
            study = FlopStudy.load(folder)
            prepare_kernels(threads, *FLOP_KERNELS)
        else:
            _check_given(oop, ip, pot)
            runs.check_output(out, resume, KIND)
            rules = get_game("holdem-limit" if limit else "holdem-nolimit")
            rules, text = load_game(game) if game else rules, flop_list(which)
            given = Spot.of(
                sample_flop(text, (oop, ip), rules.deck), oop, ip, Chips(pot or 0, stack, blind),
                game=rules, bets=bets, raises=raises, max_raises=max_raises,
            ).with_locks(tuple(lock or ()))  # fmt: skip
            check_nodes(given, nodes)
            _budget(given, *limits)
            prepare_kernels(threads, *FLOP_KERNELS)
            study = FlopStudy.of(given, solver(method or DEFAULT_METHOD, bits), text)
            if out is not None:
                study.open_or_start(out)
        if folder is not None and not has_budget:
            report = study.read(folder, nodes)
        else:
            report = _solve(study, _budget(study.spot, *limits), nodes, place, force=force)
    if to_csv is not None:
        _write_csv(report, to_csv)
    if plot is not None:
        from equilibrist.display.flops import draw_flops

        draw_flops(report, plot, nodes[-1] if nodes else "", palette)
    emit(study.data(report, by, place), _text(study, report, by), as_json=json)


# --- arguments ------------------------------------------------------------------------------------


def _check_given(oop: str, ip: str, pot: str | None) -> None:
    for name, value in (("--oop", oop), ("--ip", ip), ("--pot", pot)):
        if value in ("", None):
            raise InvalidValueError(
                f"{name} is missing; give --oop, --ip, --pot, --stack and --bets, or the folder of "
                "solved flops"
            )


def _check_without_situation(folder: Path, oop: str, ip: str, out: Path | None) -> None:
    if oop or ip or out is not None:
        raise InvalidValueError(
            f"{folder} already defines the flops: leave out --oop, --ip and --out"
        )


def _budget(spot: Spot, to: str | None, iterations: int | None, seconds: float | None) -> Budget:
    """Return the budget of each flop; raise an error if it is invalid."""
    from equilibrist.solving.solve import Budget
    from equilibrist.solving.spot_run import spot_goal

    goal = spot_goal(spot, to)
    budget = Budget(iterations, None if goal is None else goal.chips, seconds)
    budget.check()
    return budget


# --- solving --------------------------------------------------------------------------------------


def _solve(
    study: FlopStudy, budget: Budget, nodes: tuple[str, ...], out: Path | None, *, force: bool
) -> FlopReport:
    """Solve the flops and print a line for each on stderr."""
    from equilibrist.cli.interrupts import leave
    from equilibrist.stopping import Stopped

    if not force:
        study.check_memory()
    print(study.subset, file=sys.stderr, flush=True)
    try:
        return study.run(budget, nodes=nodes, out=out, report=_print_progress)
    except Stopped as stopped:
        again = (
            "nothing is saved without --out"
            if out is None
            else f"what is solved is saved in {out}; run the same command with --resume to continue"
        )
        leave(f"{stopped}; {again}")


def _print_progress(progress: FlopProgress) -> None:
    from equilibrist.cli.supervised import is_supervised, report

    solved = progress.solved
    if is_supervised():
        report("flop", progress.data())
        return
    left = ""
    if progress.seconds_left:
        seconds = progress.seconds_left
        left = (
            f"; about {seconds:.0f} s left"
            if seconds < 100
            else f"; about {seconds / 60:.0f} min left"
        )
    print(
        f"{progress.number}/{progress.total} {solved.spot.board}: "
        f"{solved.shares.percent_of_pot:.3g} % of the pot after "
        f"{int(solved.run.state['iteration']):,} iterations{left}",
        file=sys.stderr,
        flush=True,
    )


# --- results --------------------------------------------------------------------------------------


def _text(study: FlopStudy, report: FlopReport, by: str | None) -> str:
    """Return the report as tables: the first decision with EVs, then each node."""
    from equilibrist.cli.node_text import wrapped

    spot = study.spot
    behind = "" if spot.stack is None else f", {spot.money.words(spot.stack)} behind"
    pot = f"{spot.money.words(spot.pot)} {spot.money.name}"
    parts = [wrapped(f"pot {pot}{behind}; {report.subset}")]
    results = list(report.results)
    parts.append(_table("flop", [*results, report.mean], 0))
    parts += [_table("flop", [*results, report.mean], i) for i in range(1, len(results[0].nodes))]
    if by is not None:
        groups = [*report.groups(by), report.mean]
        parts += [_table(by, groups, i) for i in range(len(results[0].nodes))]
    return "\n\n".join(parts)


def _table(label: str, results: list[FlopResult], place: int) -> str:
    """Return a table of a node; that of the first decision has weights, equities and EVs too."""
    from equilibrist.strategies.spot_report import SEATS

    at = results[0].nodes[place]
    seat = SEATS[at.player]
    actions = [f"{action} %" for action in at.actions]
    rows = []
    for own in results:
        often = [f"{100 * share:.1f}" for share in own.nodes[place].frequencies]
        if place:
            rows.append([own.name, f"{100 * own.nodes[place].reach:.1f}", *often])
            continue
        numbers = own.row()
        rows.append([
            own.name, f"{100 * own.weight:.2f}", f"{100 * own.equity:.2f}",
            f"{own.values[0]:.2f}", f"{own.values[1]:.2f}", f"{numbers['percent_of_pot']:.2g}",
            *often,
        ])  # fmt: skip
    if place:
        head = f"{seat} after {at.node}:\n"
        return head + _aligned([label, "reach %", *actions], rows)
    return f"{seat} acts first:\n" + _aligned(
        [label, "weight %", "equity %", "EV oop", "EV ip", "expl. %", *actions], rows
    )


def _aligned(header: list[str], rows: list[list[str]]) -> str:
    """Return columns of text, numbers right-aligned."""
    widths = [max(len(line[i]) for line in (header, *rows)) for i in range(len(header))]
    cells = [
        [name.ljust(widths[0]), *map(str.rjust, numbers, widths[1:])]
        for name, *numbers in (header, *rows)
    ]
    return table(cells)


def _write_csv(report: FlopReport, path: Path) -> None:
    """Write a line per flop."""
    from equilibrist.storage.output_file import write_output

    text = io.StringIO()
    rows = report.rows()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    for row in rows:
        numbers = {k: f"{v:.9g}" if isinstance(v, float) else v for k, v in row.items()}
        writer.writerow(numbers)
    write_output(path, text.getvalue())
