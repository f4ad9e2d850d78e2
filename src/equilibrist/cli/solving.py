"""`equilibrist solve`, `exploit`, `compare` and `verify`."""

from __future__ import annotations

import difflib
import importlib
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equilibrist.cli.options import (
    SOLVING_KERNELS,
    Bets,
    Device,
    IgnoreForecast,
    Iterations,
    Json,
    MaxRaises,
    Raises,
    ResumeRun,
    Seconds,
    Seed,
    SolutionFolder,
    SolutionOut,
    Symmetry,
    Threads,
    To,
    TracePlot,
    emit,
    owning,
    prepare_kernels,
    table,
)
from equilibrist.cli.split import (
    SPLIT_KERNELS,
    Address,
    Compress,
    Current,
    EngineName,
    EngineOptions,
    MemoryBound,
    SplitAfter,
    SplitBits,
    SplitOptions,
    StoreFolder,
    exploit_split,
    solve_split,
)

if TYPE_CHECKING:
    from equilibrist.models.game import SequenceGame
    from equilibrist.solving.certificate import Proof
    from equilibrist.solving.solution_run import Store
    from equilibrist.solving.solve import Budget, Run
    from equilibrist.solving.solver import Solver
    from equilibrist.solving.target import Goal
    from equilibrist.storage.artefact import Artefact

# The function that opens and checks each kind of artefact; real-game responses: `verify_real`.
_OPENERS = {
    "abstraction": "abstraction.buckets:Abstraction.open",
    "joint": "abstraction.joint_counts:Joint.open",
    "ends": "models.endings:PlayedOut.open",
    "solution": "strategies.solution:Solution.load",
    "strategy": "strategies.quantized:CompactStrategy.open",
    "spot": "solving.spot_run:SolvedSpot.open",
    "flops": "solving.flop_study:FlopStudy.load",
    "split run": "solving.split_run:SplitRun.verified",
    "level training": "papers.ectomynx.level_training:load_training",
    "decision training": "papers.ectomynx.decision_training:load_training",
}

Game = Annotated[
    str,
    typer.Argument(help="Game of the catalogue, .game file, or (with --joint) folder of buckets."),
]
Joint = Annotated[
    Path | None, typer.Option(help="Folder of joint counts; GAME is then a folder of buckets.")
]


# Options of `solve`.
Method = Annotated[str, typer.Option(help="Method: cfr+, dcfr, pcfr+, egt, lp, … (see docs).")]
EvaluateEvery = Annotated[int | None, typer.Option(help="Evaluate every N iterations.")]
SolvedRounds = Annotated[
    str | None, typer.Option(help="Rounds to solve (buckets only), for example 2-4; default: all.")
]
StartPot = Annotated[
    int | None, typer.Option(help="Chips in the pot at the start of the first round solved.")
]
LastBet = Annotated[
    float, typer.Option(help="Chips per player that omitted rounds at the end add.")
]
Dtype = Annotated[str, typer.Option(help="float64 or float32.")]


@owning("out", "store")
def solve(
    game: Game,
    out: SolutionOut = None,
    method: Method = "cfr+",
    iterations: Iterations = None,
    to: To = None,
    seconds: Seconds = None,
    every: EvaluateEvery = None,
    joint: Joint = None,
    rounds: SolvedRounds = None,
    pot: StartPot = None,
    last_bet: LastBet = 0.0,
    max_raises: MaxRaises = None,
    bets: Bets = None,
    raises: Raises = None,
    symmetry: Symmetry = None,
    dtype: Dtype = "float64",
    device: Device = "cpu",
    split: SplitAfter = None,
    store: StoreFolder = None,
    memory: MemoryBound = None,
    current: Current = False,
    compress: Compress = "raw",
    bits: SplitBits = None,
    engine: EngineName = None,
    address: Address = None,
    resume: ResumeRun = False,
    force: IgnoreForecast = False,
    plot: TracePlot = None,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Solve a game, certify the exploitability by best responses, and save the solution.

    With --split, a limit game is solved as a trunk and subgames whose tables may be on a disk.

    Examples: equilibrist solve leduc --method cfr+ --iterations 1000 --out leduc-solution ·
    equilibrist solve royal-holdem --max-raises "1 1 1 1" --split flop --store royal --bits 32
    """
    from equilibrist import stopping
    from equilibrist.cli import runs
    from equilibrist.solving.methods import get_method
    from equilibrist.solving.solution_run import Store
    from equilibrist.solving.solve import Budget

    solver = get_method(method, dtype)
    if iterations is None and to is None and seconds is None:
        iterations = 1000
    parsed = runs.Rounds.parse(rounds, pot, last_bet)
    problem = runs.GameOptions(game, joint, bets, raises, max_raises, symmetry, parsed).problem()
    goal = problem.goal(to)
    every = runs.default_evaluate_every(solver) if every is None else every
    budget = Budget(iterations, None if goal is None else goal.chips, seconds, every)
    budget.check()
    who = EngineOptions(engine, address, threads)
    pieces = SplitOptions(split, store, memory, current, compress, bits, who)
    if split is not None:
        _check_split(out, joint, device, plot)
        who.check()
        prepare_kernels(threads, *SPLIT_KERNELS)
        settings = pieces.settings(method, dtype)
        solve_split(
            problem, pieces, settings, budget, goal, resume=resume, force=force, as_json=json
        )
        return
    pieces.check_unused()
    runs.check_output(out, resume)
    runs.check_plot(plot)
    runs.warn_precision(budget.target, dtype)
    prepare_kernels(threads, *SOLVING_KERNELS)
    stopping.expect("preparation")
    device = runs.device_of(device, problem, solver, dtype, force=force)
    model, description = runs.build(problem, dtype, [method], force=force, device=device)
    stopping.check()
    saved = Store(out, model, description, solver, seed, dtype)
    run = _run_stored(saved, budget, goal, resume=resume, plain=json)
    _print_solved(model, solver, run, out, goal, plot=plot, as_json=json)


def _check_split(out: Path | None, joint: Path | None, device: str, plot: Path | None) -> None:
    """Raise `InvalidValueError` for options of `solve` that a split game does not take."""
    from equilibrist.errors import InvalidValueError

    on_gpu = None if device == "cpu" else device
    for option, given, instead in (
        ("--out", out, "use --store, a folder for its tables"),
        ("--joint", joint, "its cards are exact"),
        ("--device", on_gpu, "use --engine gpu"),
        ("--plot", plot, "leave it out"),
    ):
        if given is not None:
            raise InvalidValueError(f"a split game takes no {option}: {instead}")


def _run_stored(
    store: Store, budget: Budget, goal: Goal | None, *, resume: bool, plain: bool
) -> Run:
    """Solve a game, or continue its stored run, and show the progress."""
    from equilibrist.cli.progress import shown
    from equilibrist.solving.solve import solve as run_solver

    game, solver = store.game, store.solver
    hint = "Ctrl-C stops" if store.out is None else "Ctrl-C stops and saves"
    with shown(game.name, hint, plain=plain, goal=goal) as view:
        earlier = store.resume() if resume else None
        view.begin(solver.name, budget)
        return run_solver(
            game, solver, budget, seed=store.seed, run=earlier, watch=view, save=store.save
        )


def _print_solved(
    game: SequenceGame,
    solver: Solver,
    run: Run,
    out: Path | None,
    goal: Goal | None,
    *,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Print and draw the result of a run; leave if it was stopped."""
    from equilibrist.cli import runs, skill
    from equilibrist.cli.interrupts import how_to_resume, leave
    from equilibrist.display.curves import draw_traces
    from equilibrist.papers.range_of_skill.solver import RangeOfSkill
    from equilibrist.solving.solve import Outcome

    is_stopped, done = run.outcome is Outcome.INTERRUPTED, int(run.state["iteration"])
    if is_stopped and not done:
        leave(how_to_resume(out, done))
    data = runs.result(game, solver, run, out, goal)
    text = runs.result_text(game, solver, run, goal)
    if isinstance(solver, RangeOfSkill):
        report = solver.report(game, run.state)
        epsilon = solver.epsilon if goal is None else goal.chips
        data["skill"] = skill.report_data(report, epsilon)
        text += f"\n\n{skill.report_text(report, epsilon)}"
    emit(data, text, as_json=as_json)
    if plot is not None:
        draw_traces({solver.name: run.trace_array()}, game, plot)
    if is_stopped:
        leave(how_to_resume(out, done))


# Options of `exploit`.
ExploitedStrategy = Annotated[
    str, typer.Argument(help="Folder of a solution or spot; with --real-game also a bot or mix.")
]
InRealGame = Annotated[
    bool, typer.Option("--real-game", help="Evaluate in the full game, not in its buckets.")
]
RealGame = Annotated[str | None, typer.Option(help="Real game of a mix; default: holdem-limit.")]
FlopSample = Annotated[
    int | None, typer.Option(help="Stratified sample of N flops of the real game; default: all.")
]
FlopsOut = Annotated[Path | None, typer.Option(help="Folder for finished flops of the real game.")]


def exploit(
    strategy: ExploitedStrategy,
    real_game: InRealGame = False,
    game: RealGame = None,
    flops: FlopSample = None,
    out: FlopsOut = None,
    device: Device = "cpu",
    engine: EngineName = None,
    address: Address = None,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Recompute the best responses to a solution or spot, in its own game or in the real game.

    With --real-game, a bot, a folder or a mix such as always-call is evaluated in limit hold'em
    with all cards and raises; a stopped run continues where it was.

    Example: equilibrist exploit leduc-solution
    """
    from equilibrist.errors import InvalidValueError

    who = EngineOptions(engine, address, threads)
    if real_game:
        from equilibrist.cli.real_game import exploit_real

        who.check_real_game(device)
        exploit_real(strategy, game, flops, out, json=json, seed=seed, device=device, who=who)
        return
    on_gpu = None if device == "cpu" else device
    for option, given in (
        ("--game", game), ("--flops", flops), ("--out", out), ("--device", on_gpu)
    ):  # fmt: skip
        if given is not None:
            raise InvalidValueError(f"{option} needs --real-game: add --real-game or leave it out")
    _check_folder(strategy)
    _exploit_model(Path(strategy), json, who)


def _check_folder(text: str) -> None:
    """Raise `StorageError` for a missing folder whose name is like that of a bot."""
    from equilibrist.bots.registry import BOTS
    from equilibrist.errors import StorageError

    nearest = difflib.get_close_matches(text, list(BOTS), n=1, cutoff=0.7)
    if nearest and not os.path.exists(text):
        raise StorageError(
            f"{text[:60]} is not a folder; add --real-game to evaluate the bot {nearest[0]}",
            value=text,
        )


def _exploit_model(folder: Path, json: bool, engine: EngineOptions) -> None:
    """Print the best responses to a solution or a solved spot in its own game."""
    from equilibrist.cli import runs
    from equilibrist.solving.certificate import check
    from equilibrist.solving.split_run import KIND as SPLIT_RUN
    from equilibrist.storage.artefact import read_identity

    # A folder that cannot be opened is refused before anything is compiled.
    if read_identity(folder).kind == SPLIT_RUN:
        exploit_split(folder, engine, as_json=json)
        return
    engine.check_unused()
    prepare_kernels(engine.threads, *SOLVING_KERNELS)
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
        **runs.mbb_per_game(game.rules, found),
        "certificate": proof.stated.exploitability,
        "plan_error": proof.plan_error,
        "matches": proof.matches,
        "faults": list(proof.faults),
        "checked": ["checksums", "schema", "certificate"],
        "seconds": round(proof.seconds, 3),
    }
    if proof.shares is not None:
        data |= {"pot": proof.pot, **proof.shares.data()}
    verdict = "matches" if proof.matches else "DOES NOT match"
    text = (
        f"{game.name} by {proof.method}: {_responses_text(proof)}; this {verdict} the "
        "certificate (all checksums match)"
    )
    emit(data, "\n".join([text, *(f"- {fault}" for fault in proof.faults)]), as_json=json)
    if not proof.matches:
        raise typer.Exit(1)


def _responses_text(proof: Proof) -> str:
    """Return the gains, the value and the best responses; of a spot as shares of the pot."""
    from equilibrist.cli import runs

    found, shares = proof.found, proof.shares
    gains = f"exploitability {runs.amount(proof.game, found)}"
    if shares is None:
        first, second = found.best_response
        return f"{gains}, best responses {first:.6g} and {second:.6g}, value {found.value:.9g}"
    first, second = shares.best_response
    gains = f"{gains}, {shares.percent_of_pot:.3g} % of the pot"
    if found.rake is not None:
        gains = shares.proof()
    return f"{gains}; {shares}, with a best response {first:.6g} and {second:.6g}"


# Options of `compare`.
Methods = Annotated[str, typer.Option(help="Methods, separated by commas.")]
SecondsEach = Annotated[float, typer.Option(help="Maximum time in seconds per method.")]


def compare(
    game: Game,
    methods: Methods = "cfr+,dcfr,egt,lp",
    seconds: SecondsEach = 10.0,
    to: To = None,
    joint: Joint = None,
    max_raises: MaxRaises = None,
    bets: Bets = None,
    raises: Raises = None,
    symmetry: Symmetry = None,
    dtype: Dtype = "float64",
    plot: TracePlot = None,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Solve a game by several methods for equal time, and compare their exploitability.

    Example: equilibrist compare leduc --methods cfr+,egt,lp --seconds 5 --plot leduc.png
    """
    from equilibrist import stopping
    from equilibrist.cli import runs
    from equilibrist.solving.methods import get_method
    from equilibrist.solving.solve import Budget

    names = [name.strip() for name in methods.split(",")]
    solvers = [get_method(name, dtype) for name in names]
    problem = runs.GameOptions(game, joint, bets, raises, max_raises, symmetry).problem()
    goal = problem.goal(to)
    budget = Budget(target=None if goal is None else goal.chips, seconds=seconds)
    budget.check()
    runs.check_plot(plot)
    prepare_kernels(threads, *SOLVING_KERNELS)
    model, _ = runs.build(problem, dtype, names, force=False)
    stopping.check()
    done = _run_all(model, solvers, budget, goal, seed, plain=json)
    _print_compared(model, done, goal, plot=plot, as_json=json)


def _print_compared(
    game: SequenceGame,
    done: list[tuple[Solver, Run]],
    goal: Goal | None,
    *,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Print and draw the results of several methods; leave if the last one was stopped."""
    from equilibrist.cli import runs
    from equilibrist.cli.interrupts import leave
    from equilibrist.display.curves import draw_traces
    from equilibrist.solving.solve import Outcome

    results = [runs.result(game, solver, run, None, goal) for solver, run in done]
    text = f"{game.name}: {game.num_infosets:,} information sets"
    text += f"{'' if goal is None else f', target {goal}'}\n{_compare_table(game, done)}"
    emit({"game": game.name, "rows": results}, text, as_json=as_json)
    if plot is not None:
        draw_traces({solver.name: run.trace_array() for solver, run in done}, game, plot)
    solver, run = done[-1]
    if run.outcome is Outcome.INTERRUPTED:
        leave(f"stopped at {solver.name}; methods after it did not run")


def _run_all(
    game: SequenceGame,
    solvers: list[Solver],
    budget: Budget,
    goal: Goal | None,
    seed: int,
    *,
    plain: bool,
) -> list[tuple[Solver, Run]]:
    """Solve a game by one method after the other, until one of the runs is stopped."""
    from equilibrist.cli import runs
    from equilibrist.cli.progress import shown
    from equilibrist.solving.solve import Outcome
    from equilibrist.solving.solve import solve as run_solver

    done: list[tuple[Solver, Run]] = []
    with shown(game.name, "Ctrl-C stops", plain=plain, goal=goal) as view:
        for solver in solvers:
            own = replace(budget, every=runs.default_evaluate_every(solver))
            view.begin(solver.name, own, _compare_table(game, done) if done else "")
            run = run_solver(game, solver, own, seed=seed, watch=view)
            done.append((solver, run))
            if run.outcome is Outcome.INTERRUPTED:
                break
    return done


def _compare_table(game: SequenceGame, done: list[tuple[Solver, Run]]) -> str:
    """Return one line per method: how far it came in how much time."""
    from equilibrist.cli import runs

    header = ("method", "iterations", "seconds", f"exploitability, {game.unit}", "value")
    return table([runs.compare_row(solver, run) for solver, run in done], header=header)


# Options of `verify`.
CheckedFlops = Annotated[
    int, typer.Option(min=1, help="Number of flops to recompute (real-game responses only).")
]


def verify(
    folder: SolutionFolder,
    flops: CheckedFlops = 2,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Verify the checksums of an artefact, and recompute flops of a real-game response.

    Checksums detect damage, not forgery: the author of a folder can write any manifest. Use
    `exploit` to recompute the exploitability that a solution states.

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
    text = f"{folder}: a complete {artefact.kind}, all checksums match ({names})"
    text += ", all arrays have the right shape and range" if fits else ""
    text += "; checksums detect damage, not forgery"
    if artefact.kind == "real-game response":
        more, words = verify_real(artefact, flops, seed)
        data, text = data | more, f"{text}\n{words}"
    emit(data, text, as_json=json)


def _fits_its_kind(artefact: Artefact) -> bool:
    """Check an artefact by opening it as its kind; return False if no command opens this kind."""
    opener = _OPENERS.get(artefact.kind)
    if opener is None or {"unfinished", "done"} & artefact.configuration.keys():
        return False
    module, _, name = opener.partition(":")
    found: Any = importlib.import_module(f"equilibrist.{module}")
    for part in name.split("."):
        found = getattr(found, part)
    found(artefact.folder)
    return True
