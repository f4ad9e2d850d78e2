"""`equilibrist solve`, `exploit`, `show`, `compare`, `verify` and `reproduce`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from equilibrist.cli.options import Json, Seed, Threads, emit, owning, prepare_kernels, table

if TYPE_CHECKING:
    from equilibrist.storage.artefact import Artefact

_KERNELS = ("sequence_form.gradient", "sequence_form.fold_up", "sequence_form.realize")
_WITHOUT_PLOT = "gs3", "ectomynx"  # papers that draw nothing
_NO_MATCHES = "cfr-plus", "ectomynx", "abstractions"
# What opens a kind of artefact and checks it by its schema; real-game responses have `verify_real`.
_OPENERS = {
    "abstraction": "abstraction.buckets:Abstraction.open",
    "joint": "abstraction.joint:Joint.open",
    "ends": "models.truncated:PlayedOut.open",
    "solution": "strategies.strategy:Solution.load",
    "strategy": "strategies.compact:CompactStrategy.open",
    "spot": "solving.spot_store:SolvedSpot.open",
    "level training": "solving.fixed_strategy:load_training",
    "decision training": "solving.decision_training:load_training",
}

Game: TypeAlias = Annotated[
    str, typer.Argument(help="A game of the catalogue, a .game file, or buckets (with --joint).")
]
Joint: TypeAlias = Annotated[
    Path | None, typer.Option(help="Play the buckets of folder GAME; their counts are here.")
]
Folder: TypeAlias = Annotated[Path, typer.Argument(help="A solution that `solve --out` wrote.")]
MaxRaises: TypeAlias = Annotated[
    str | None, typer.Option(help='Raise caps per round, such as "2 3 3 3".')
]
Bets: TypeAlias = Annotated[str | None, typer.Option(help='No-limit bet sizes, such as "50%,a".')]
Raises: TypeAlias = Annotated[str | None, typer.Option(help='No-limit raises, such as "2.5x,a".')]
Symmetry: TypeAlias = Annotated[
    str | None, typer.Option(help="cards, suits or ranks; the strongest lossless one unless told.")
]
Plot: TypeAlias = Annotated[
    Path | None, typer.Option(help="Draw exploitability against seconds into this PNG file.")
]


@owning("out")
def solve(
    game: Game,
    out: Annotated[Path | None, typer.Option(help="Folder for the solution.")] = None,
    method: Annotated[str, typer.Option(help="cfr+, dcfr, pcfr+, egt, lp, … (see docs).")] = "cfr+",
    iterations: Annotated[int | None, typer.Option(help="Stop after so many iterations.")] = None,
    to: Annotated[float | None, typer.Option(help="Stop at this exploitability.")] = None,
    seconds: Annotated[float | None, typer.Option(help="Stop after so many seconds.")] = None,
    every: Annotated[int | None, typer.Option(help="Best responses every so often.")] = None,
    joint: Joint = None,
    rounds: Annotated[
        str | None, typer.Option(help="Of buckets, these rounds alone: 2-4, or 1-3.")
    ] = None,
    pot: Annotated[int | None, typer.Option(help="Chips in the pot when the first opens.")] = None,
    last_bet: Annotated[
        float, typer.Option(help="Chips of each player that rounds left out at the end add.")
    ] = 0.0,
    max_raises: MaxRaises = None,
    bets: Bets = None,
    raises: Raises = None,
    symmetry: Symmetry = None,
    dtype: Annotated[str, typer.Option(help="float64 or float32.")] = "float64",
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Try what seems too large.")] = False,
    plot: Plot = None,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Solve a game, prove how well by best responses, and save the solution.

    Example: equilibrist solve leduc --method cfr+ --iterations 1000 --out leduc-solution
    """
    from equilibrist.cli import runs, skill
    from equilibrist.cli.interrupts import how_to_go_on, leave
    from equilibrist.cli.progress import Budget, shown
    from equilibrist.display.curves import draw_traces
    from equilibrist.papers.range_of_skill.solver import RangeOfSkill
    from equilibrist.solving.methods import get_method
    from equilibrist.solving.solution_run import Store
    from equilibrist.solving.solve import Outcome, check_budget
    from equilibrist.solving.solve import solve as run_solver
    from equilibrist.storage import stopping

    solver = get_method(method, dtype)
    if iterations is None and to is None and seconds is None:
        iterations = 1000
    budget = Budget(iterations, to, seconds, every or runs.usual_looks(solver))
    check_budget(iterations, to, seconds, every)
    runs.check_output(out, resume)
    runs.check_plot(plot)
    runs.warn_precision(to, dtype)
    prepare_kernels(threads, *_KERNELS)
    stopping.expect("preparation")
    model, description = runs.build(
        game,
        joint,
        bets,
        raises,
        max_raises,
        symmetry,
        dtype,
        [method],
        force,
        runs.Rounds.parse(rounds, pot, last_bet),
    )
    stopping.check()
    store = Store(out, model, description, solver, seed, dtype)
    hint = "Ctrl-C stops" if out is None else "Ctrl-C stops and saves"
    with shown(model.name, hint, plain=json) as view:
        earlier = store.resume() if resume else None
        view.begin(solver.name, budget)
        run = run_solver(
            model, solver, **budget._asdict(), seed=seed, run=earlier, watch=view, save=store.save
        )
    is_stopped, done = run.outcome is Outcome.INTERRUPTED, int(run.state["iteration"])
    if is_stopped and not done:
        leave(how_to_go_on(out, done))
    data, text = runs.result(model, solver, run, out), runs.result_text(model, solver, run)
    if isinstance(solver, RangeOfSkill):
        report = solver.report(model, run.state)
        epsilon = solver.epsilon if to is None else to
        data["skill"] = skill.report_data(report, epsilon)
        text += f"\n\n{skill.report_text(report, epsilon)}"
    emit(data, text, as_json=json)
    if plot is not None:
        draw_traces({method: run.trace_array()}, model, plot)
    if is_stopped:
        leave(how_to_go_on(out, done))


def exploit(
    strategy: Annotated[
        str, typer.Argument(help="A solution or spot; with --real-game, a bot, a mix or a folder.")
    ],
    real_game: Annotated[
        bool, typer.Option("--real-game", help="In limit hold'em itself, not in its buckets.")
    ] = False,
    game: Annotated[
        str | None, typer.Option(help="The real game of a mix; holdem-limit unless told.")
    ] = None,
    flops: Annotated[
        int | None, typer.Option(help="Estimate from so many flops of the real game.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the flops of the real game as they are done.")
    ] = None,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Recompute the best responses of a solution or spot from its arrays, or find them in hold'em.

    With --real-game, a bot, a folder or a mix such as always-call is met in limit hold'em with all
    its cards and raises; a run that was stopped goes on where it was.

    Example: equilibrist exploit leduc-solution
    """
    from equilibrist.errors import InvalidValueError

    if real_game:
        from equilibrist.cli.real_game import exploit_real

        exploit_real(strategy, game, flops, out, json=json, seed=seed, threads=threads)
        return
    for option, given in (("--game", game), ("--flops", flops), ("--out", out)):
        if given is not None:
            raise InvalidValueError(f"{option} is for --real-game: add that, or leave it out")
    _exploit_model(Path(strategy), json, threads)


def _exploit_model(folder: Path, json: bool, threads: int | None) -> None:
    """The best responses of a solution or a solved spot in its own game."""
    from equilibrist.cli import runs
    from equilibrist.solving.certificate import check

    prepare_kernels(threads, *_KERNELS)
    proof = check(folder)
    game, found = proof.game, proof.found
    data = {
        "game": game.name,
        "method": proof.method,
        "iterations": proof.iterations,
        "value": found.value,
        "exploitability": found.exploitability,
        "nash_conv": found.nash_conv,
        "best_response": list(found.best_response),
        "unit": found.unit,
        **runs.thousandths(game.rules, found),
        "certificate": proof.stated.exploitability,
        "plan_error": proof.plan_error,
        "matches": proof.matches,
        "faults": list(proof.faults),
        "checked": ["checksums", "schema", "certificate"],
        "seconds": round(proof.seconds, 3),
    }
    verdict = "matches" if proof.matches else "DOES NOT match"
    text = (
        f"{game.name} by {proof.method}: exploitability {runs.amount(game, found)}, "
        f"best responses {found.best_response[0]:.6g} and "
        f"{found.best_response[1]:.6g}, value {found.value:.9g}; this {verdict} the certificate "
        "(every checksum is right)"
    )
    emit(data, "\n".join([text, *(f"- {fault}" for fault in proof.faults)]), as_json=json)
    if not proof.matches:
        raise typer.Exit(1)


def show(
    folder: Folder,
    node: Annotated[str, typer.Option(help="Betting so far, such as cr or cc/r.")] = "",
    board: Annotated[str, typer.Option(help="Board cards, where some are dealt.")] = "",
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """The strategy at a node: hands × actions.

    Example: equilibrist show leduc-solution --node cc/r --board Ks
    """
    from equilibrist.strategies.behaviour_table import behaviour_table
    from equilibrist.strategies.solution import Solution, game_of

    prepare_kernels(threads, *_KERNELS)
    solution = Solution.load(folder, in_memory=True)
    found = behaviour_table(game_of(solution), solution.plans, node, board)
    data = {
        "game": solution.game.name,
        "node": found.node,
        "board": found.board,
        "player": found.player,
        "actions": list(found.actions),
        "hands": list(found.hands),
        "probabilities": found.probabilities.tolist(),
        "reach": found.reach.tolist(),
        "checked": ["checksums", "schema"],
    }
    rows = [
        (hand, *(f"{chance:.4f}" for chance in chances), f"{reach:.4f}")
        for hand, chances, reach in zip(found.hands, found.probabilities, found.reach, strict=True)
    ]
    where = f"{found.node or 'start'!r}" + (f" on {found.board}" if found.board else "")
    text = f"{solution.game.name}, player {found.player} at {where} (every checksum is right)\n"
    emit(data, text + table(rows, header=("hand", *found.actions, "reach")), as_json=json)


def compare(
    game: Game,
    methods: Annotated[str, typer.Option(help="Methods apart by commas.")] = "cfr+,dcfr,egt,lp",
    seconds: Annotated[float, typer.Option(help="Seconds for each method.")] = 10.0,
    to: Annotated[float | None, typer.Option(help="Stop at this exploitability.")] = None,
    joint: Joint = None,
    max_raises: MaxRaises = None,
    bets: Bets = None,
    raises: Raises = None,
    symmetry: Symmetry = None,
    dtype: Annotated[str, typer.Option(help="float64 or float32.")] = "float64",
    plot: Plot = None,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """The same game by several methods, each as long: exploitability and time side by side.

    Example: equilibrist compare leduc --methods cfr+,egt,lp --seconds 5 --plot leduc.png
    """
    from equilibrist.cli import runs
    from equilibrist.cli.interrupts import leave
    from equilibrist.cli.progress import Budget, shown
    from equilibrist.display.curves import draw_traces
    from equilibrist.solving.methods import get_method
    from equilibrist.solving.solve import Outcome, check_budget
    from equilibrist.solving.solve import solve as run_solver
    from equilibrist.storage import stopping

    names = [name.strip() for name in methods.split(",")]
    solvers = [get_method(name, dtype) for name in names]
    check_budget(target=to, seconds=seconds)
    runs.check_plot(plot)
    prepare_kernels(threads, *_KERNELS)
    model, _ = runs.build(
        game, joint, bets, raises, max_raises, symmetry, dtype, names, force=False
    )
    stopping.check()
    header = ("method", "iterations", "seconds", f"exploitability, {model.unit}", "value")
    is_stopped, traces, results = False, {}, []
    rows: list[tuple[object, ...]] = []
    with shown(model.name, "Ctrl-C stops", plain=json) as view:
        for solver in solvers:
            budget = Budget(None, to, seconds, runs.usual_looks(solver))
            view.begin(solver.name, budget, table(rows, header=header) if rows else "")
            run = run_solver(model, solver, **budget._asdict(), seed=seed, watch=view)
            traces[solver.name] = run.trace_array()
            results.append(runs.result(model, solver, run, None))
            rows.append(runs.compare_row(solver, run))
            is_stopped = run.outcome is Outcome.INTERRUPTED
            if is_stopped:
                break
    text = f"{model.name}: {model.num_infosets:,} information sets\n{table(rows, header=header)}"
    emit({"game": model.name, "rows": results}, text, as_json=json)
    if plot is not None:
        draw_traces(traces, model, plot)
    if is_stopped:
        leave(f"stopped at {solver.name}; methods after it did not run")


def verify(
    folder: Folder,
    flops: Annotated[int, typer.Option(min=1, help="Of a real-game response, computed again.")] = 2,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Compare the checksum of every array of an artefact, and check flops of a real-game response.

    Checksums find damage, not forgery: whoever made the folder may have made it up. What a solution
    states of itself is computed again by `exploit`.

    Example: equilibrist verify leduc-solution
    """
    from equilibrist.cli.real_game import verify_real
    from equilibrist.storage.artefact import open_artefact

    artefact = open_artefact(folder)  # reads every array
    fits = _fits_its_kind(artefact)
    data = {
        "kind": artefact.kind,
        "arrays": sorted(artefact.arrays),
        "hash": artefact.hash,
        "checked": ["checksums", *(["schema"] if fits else [])],
    }
    names = ", ".join(sorted(artefact.arrays))
    text = f"{folder}: a whole {artefact.kind}, every checksum right ({names})"
    text += ", every array of the right form and range" if fits else ""
    text += "; checksums find damage, not forgery"
    if artefact.kind == "real-game response":
        more, words = verify_real(artefact, flops, seed)
        data, text = data | more, f"{text}\n{words}"
    emit(data, text, as_json=json)


def _fits_its_kind(artefact: Artefact) -> bool:
    """Open an artefact as its kind is opened, which checks it; False where no command opens it."""
    opener = _OPENERS.get(artefact.kind)
    if opener is None or {"unfinished", "done"} & artefact.configuration.keys():
        return False
    module, _, name = opener.partition(":")
    found: Any = importlib.import_module(f"equilibrist.{module}")
    for part in name.split("."):
        found = getattr(found, part)
    found(artefact.folder)
    return True


def reproduce(
    paper: Annotated[
        str,
        typer.Argument(help="psopti, gs3, range-of-skill, cfr-plus, ectomynx or abstractions."),
    ],
    plot: Plot = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small games or sizes only.")] = False,
    hands: Annotated[
        int | None, typer.Option(help="Of each match, where the paper has matches.")
    ] = None,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """A paper's claims and numbers, published beside ours.

    Example: equilibrist reproduce cfr-plus --plot cfr-plus.png
    """
    from equilibrist.cli import runs
    from equilibrist.cli.abstraction import reproduce_abstractions
    from equilibrist.cli.gs3 import reproduce_gs3
    from equilibrist.cli.psopti import reproduce_psopti
    from equilibrist.cli.range_of_skill import reproduce_range_of_skill
    from equilibrist.cli.real_game import known_responses
    from equilibrist.errors import InvalidValueError, UnknownNameError
    from equilibrist.papers.cfr_plus import claims

    papers = ("psopti", "gs3", "range-of-skill", "cfr-plus", "ectomynx", "abstractions")
    if paper not in papers:
        raise UnknownNameError(
            f"no paper is called {paper!r}; there are {', '.join(papers)}", value=paper
        )
    for option, given, those in (("--plot", plot, _WITHOUT_PLOT), ("--hands", hands, _NO_MATCHES)):
        if given is not None and paper in those:
            raise InvalidValueError(f"reproduce {paper} has no use for {option}: leave it out")
    runs.check_plot(plot)
    if paper == "ectomynx":
        from equilibrist.cli.discards import reproduce_ectomynx

        reproduce_ectomynx(threads, quick=quick, seed=seed, as_json=json)
        return
    prepare_kernels(threads, *_KERNELS)
    if paper == "range-of-skill":
        reproduce_range_of_skill(plot, hands, quick=quick, seed=seed, as_json=json)
        return
    if paper == "psopti":
        reproduce_psopti(plot, hands, quick=quick, seed=seed, as_json=json)
        return
    if paper == "gs3":
        reproduce_gs3(hands=hands, quick=quick, seed=seed, as_json=json)
        return
    if paper == "abstractions":
        reproduce_abstractions(plot, quick=quick, seed=seed, as_json=json)
        return
    known = known_responses()  # first: one that cannot be read is told before the games are solved
    games = {k: v for k, v in claims.GAMES.items() if not quick or k != "rhode-island"}
    rows, curves = claims.reproduce(games, lambda text: print(text, "…", file=sys.stderr))
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
    emit(data, f"{table(lines, header=header)}\n\n{_figure_text(figure)}", as_json=json)
    if plot is not None:
        runs.draw_curves(curves, plot)


def _figure_text(rows: list[dict[str, Any]]) -> str:
    """Figure S1 of Cepheus' supplement, our bots among its programs."""
    lines = [
        (
            row["name"],
            f"{row['real_game']:.5g}",
            "" if not row["ours"] else "ours, an estimate" if row["real_game_estimate"] else "ours",
        )
        for row in rows
    ]
    text = table(lines, header=("best responses in limit hold'em win (Figure S1)", "mbb/g", ""))
    if any(row["ours"] for row in rows):
        return text
    return f"{text}\nnone of ours is here yet: equilibrist exploit smallbot --real-game"
