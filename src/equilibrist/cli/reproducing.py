"""`equilibrist reproduce`: the published numbers of a paper beside ours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from equilibrist.cli.heartbeat import announce
from equilibrist.cli.options import (
    SOLVING_KERNELS,
    Json,
    Seed,
    Threads,
    TracePlot,
    emit,
    prepare_kernels,
    table,
)

_WITHOUT_PLOT = "gs3", "ectomynx"  # papers that draw nothing
_NO_MATCHES = "cfr-plus", "ectomynx", "abstractions"

Paper = Annotated[
    str, typer.Argument(help="psopti, gs3, range-of-skill, cfr-plus, ectomynx or abstractions.")
]
Quick = Annotated[bool, typer.Option("--quick", help="Use small games or sizes only.")]
PaperHands = Annotated[
    int | None, typer.Option(help="Number of hands per match, if the paper has matches.")
]


def reproduce(
    paper: Paper,
    plot: TracePlot = None,
    quick: Quick = False,
    hands: PaperHands = None,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Reproduce a paper: print its published numbers beside ours.

    Example: equilibrist reproduce cfr-plus --plot cfr-plus.png
    """
    from equilibrist.cli import runs
    from equilibrist.cli.abstraction import reproduce_abstractions
    from equilibrist.cli.discards import reproduce_ectomynx
    from equilibrist.cli.gs3 import reproduce_gs3
    from equilibrist.cli.psopti import reproduce_psopti
    from equilibrist.cli.range_of_skill import reproduce_range_of_skill
    from equilibrist.errors import InvalidValueError, UnknownNameError

    given: dict[str, Any] = {"quick": quick, "seed": seed, "as_json": json}
    papers: dict[str, Callable[[], None]] = {
        "psopti": lambda: reproduce_psopti(plot, hands, **given),
        "gs3": lambda: reproduce_gs3(hands=hands, **given),
        "range-of-skill": lambda: reproduce_range_of_skill(plot, hands, **given),
        "cfr-plus": lambda: _reproduce_cfr_plus(plot, quick=quick, as_json=json),
        "ectomynx": lambda: reproduce_ectomynx(threads, **given),
        "abstractions": lambda: reproduce_abstractions(plot, **given),
    }
    if paper not in papers:
        raise UnknownNameError(
            f"no paper is called {paper!r}; choose one of {', '.join(papers)}", value=paper
        )
    for option, value, those in (("--plot", plot, _WITHOUT_PLOT), ("--hands", hands, _NO_MATCHES)):
        if value is not None and paper in those:
            raise InvalidValueError(f"reproduce {paper} does not use {option}: leave it out")
    runs.check_plot(plot)
    if paper != "ectomynx":  # which prepares kernels of its own
        prepare_kernels(threads, *SOLVING_KERNELS)
    papers[paper]()


def _reproduce_cfr_plus(plot: Path | None, *, quick: bool, as_json: bool) -> None:
    """Print the claims of the CFR+ papers beside our numbers, and Figure S1 with our bots."""
    from equilibrist.bots.listing import known_responses
    from equilibrist.cli import runs
    from equilibrist.papers.cfr_plus import claims

    known = known_responses()  # first, so that an unreadable one is reported before solving
    games = {k: v for k, v in claims.GAMES.items() if not quick or k != "rhode-island"}
    rows, curves = claims.reproduce(games, announce)
    figure = claims.figure_s1(known)
    data: dict[str, Any] = {"rows": [vars(row) for row in rows], "figure_s1": figure}
    lines = [
        (
            row.name,
            "" if row.paper is None else f"{row.paper:,}",
            "not yet" if row.ours is None else f"{row.ours:.3e}",
            row.unit,
            "" if row.iterations is None else f"{row.iterations:,}",
            "" if row.regret is None else f"{row.regret:.4g} ≤ {row.bound:.4g}",
        )
        for row in rows
    ]
    header = ("what", "paper", "ours", "unit", "iterations", "Σ regret ≤ bound (7)")
    emit(data, f"{table(lines, header=header)}\n\n{_figure_text(figure)}", as_json=as_json)
    if plot is not None:
        runs.draw_curves(curves, figure, plot)


def _figure_text(rows: list[dict[str, Any]]) -> str:
    """Return Figure S1 of the Cepheus supplement as a table, with our bots among its programs."""
    lines = [
        (
            row["name"],
            f"{row['real_game']:.5g}",
            "" if not row["ours"] else "ours, an estimate" if row["real_game_estimate"] else "ours",
        )
        for row in rows
    ]
    text = table(lines, header=("exploitability in limit hold'em (Figure S1)", "mbb/g", ""))
    if any(row["ours"] for row in rows):
        return text
    return f"{text}\nto add our bots, run: equilibrist exploit smallbot --real-game"
