"""`equilibrist flops`: solves one situation on many flops and reports on all of them."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from equilibrist.cli.option_groups import with_groups
from equilibrist.cli.options import (
    Common,
    Palette,
    ResumeRun,
    check_palette,
    emit,
    prepare_kernels,
    table,
)
from equilibrist.cli.situation import Situation, Solving, check_described, check_given
from equilibrist.cli.spot import SPOT_KERNELS

if TYPE_CHECKING:
    from equilibrist.solving.flop_study import FlopProgress, FlopStudy
    from equilibrist.strategies.flop_report import FlopReport, FlopResult

FLOP_KERNELS = (*SPOT_KERNELS, "equity.showdown_boards")

# Options of `flops`.
FlopsFolder = Annotated[
    Path | None, typer.Argument(help="Folder of solved flops, to show or to continue.")
]
WhichFlops = Annotated[
    str | None,
    typer.Option(
        "--flops",
        help="Number of representative flops (default: 10), a list such as AsKd2c:12,Td9d6h:24, or "
        "a .txt file.",
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


class View(NamedTuple):
    """What is reported, and the files that it is written to."""

    node: Nodes = None
    by: GroupBy = None
    csv: FlopsCsv = None
    plot: FlopsPlot = None
    palette: Palette = "usual"

    @property
    def nodes(self) -> tuple[str, ...]:
        """Decisions that are reported besides the first."""
        return tuple(self.node or ())

    def check(self) -> None:
        """Raise an error, before any work, for options that cannot be followed."""
        from equilibrist.cli import runs
        from equilibrist.strategies.flop_report import check_grouping

        check_palette(self.palette)
        runs.check_plot(self.plot)
        if self.by is not None:
            check_grouping(self.by)

    def write(self, report: FlopReport) -> None:
        """Write the files that are asked for."""
        if self.csv is not None:
            _write_csv(report, self.csv)
        if self.plot is not None:
            from equilibrist.display.flops import draw_flops

            draw_flops(report, self.plot, self.nodes[-1] if self.nodes else "", self.palette)


@with_groups
def flops(
    *,
    folder: FlopsFolder = None,
    which: WhichFlops = None,
    situation: Situation,
    solving: Solving,
    out: FlopsOut = None,
    resume: ResumeRun = False,
    view: View,
    common: Common,
) -> None:
    """Solve the same ranges, pot and bets on many flops, and report frequencies and EVs.

    Examples: equilibrist flops --flops 10 --oop "22+,A2s+,KTs+" --ip "TT-22,AQs-A2s" --pot 60
    --stack 200 --bets "50% / a / a" --to 0.5% --out study ·
    equilibrist flops --flops 10 --oop "22+,A2s+" --ip "TT-22" --pot 5.5bb --stack 20bb --bets a
    --rake 5% --rake-cap 3bb ·
    equilibrist flops study --node c --by suits --plot study.png ·
    equilibrist flops study --to 0.1%
    """
    from equilibrist.cli import runs
    from equilibrist.solving.flop_study import (
        KIND,
        FlopStudy,
        check_nodes,
        flop_list,
        sample_flop,
    )
    from equilibrist.storage.ownership import owned

    view.check()
    place = folder or out
    with owned(place if out is not None or solving.has_budget else None):
        if folder is not None:
            others = {"flops": which, "out": out, "lock": situation.locks}
            check_described(folder, situation, solving, **others)
            study = FlopStudy.load(folder)
            prepare_kernels(common.threads, *FLOP_KERNELS)
        else:
            check_given(situation, "the folder of solved flops")
            runs.check_output(out, resume, KIND)
            text = flop_list("10" if which is None else which)
            ranges, deck = (situation.oop, situation.ip), situation.rules().deck
            given = situation.spot(sample_flop(text, ranges, deck))
            check_nodes(given, view.nodes)
            solving.limits(given)
            prepare_kernels(common.threads, *FLOP_KERNELS)
            study = FlopStudy.of(given, solving.solver(), text)
            if out is not None:
                study.open_or_start(out)
        if folder is not None and not solving.has_budget:
            report = study.read(folder, view.nodes)
        else:
            report = _solve(study, solving, view.nodes, place)
    view.write(report)
    emit(study.data(report, view.by, place), _text(study, report, view.by), as_json=common.json)


# --- solving --------------------------------------------------------------------------------------


def _solve(
    study: FlopStudy, solving: Solving, nodes: tuple[str, ...], out: Path | None
) -> FlopReport:
    """Solve the flops and print a line for each on stderr."""
    from equilibrist.cli.interrupts import leave
    from equilibrist.cli.node_text import wrapped
    from equilibrist.stopping import Stopped

    _, budget = solving.limits(study.spot)
    if not solving.force:
        study.check_memory()
    print(wrapped(f"{study.subset}"), file=sys.stderr, flush=True)
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
        f"{solved.run.evaluation.measure} {solved.shares.percent_of_pot:.3g} % of the pot after "
        f"{int(solved.run.state['iteration']):,} iterations{left}",
        file=sys.stderr,
        flush=True,
    )


# --- results --------------------------------------------------------------------------------------


def _text(study: FlopStudy, report: FlopReport, by: str | None) -> str:
    """Return the report as tables: the first decision with EVs, then each node."""
    from equilibrist.cli.node_text import wrapped
    from equilibrist.cli.spot_text import money_text

    parts = [wrapped(f"{money_text(study.spot)}; {report.subset}")]
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
    measure = "expl. %" if results[0].rake is None else "gain %"
    return f"{seat} acts first:\n" + _aligned(
        [label, "weight %", "equity %", "EV oop", "EV ip", measure, *actions], rows
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
