"""`equilibrist solve GAME --split …`, `exploit` on its folder, and `equilibrist plan`."""

from __future__ import annotations

import contextlib
import math
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Protocol

import typer

from equilibrist.cli.options import Json, MaxRaises, emit, prepare_kernels, table
from equilibrist.errors import InvalidValueError, StorageError

if TYPE_CHECKING:
    from equilibrist.models.game import SequenceGame
    from equilibrist.models.split import Split
    from equilibrist.solving.decomposed import DecomposedCFR
    from equilibrist.solving.problem import Problem
    from equilibrist.solving.solve import Budget, Run
    from equilibrist.solving.split_plan import Cluster, SplitPlan
    from equilibrist.solving.split_run import SplitRun, SplitSettings
    from equilibrist.solving.subgame_engine import Engine
    from equilibrist.solving.target import Goal

SPLIT_KERNELS = ("table_sweeps.halves_team", "table_sweeps.match_trunk")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?(?:/s)?", re.IGNORECASE)
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}

# Options of `solve`.
SplitAfter = Annotated[
    str | None,
    typer.Option("--split", help="Solve as a trunk and subgames, after preflop or flop."),
]
StoreFolder = Annotated[
    Path | None, typer.Option("--store", help="Folder for the tables of a split game.")
]
MemoryBound = Annotated[
    str | None,
    typer.Option("--memory", help="Memory for tables of a split game on disk, for example 4GB."),
]
Current = Annotated[
    bool, typer.Option("--current", help="Keep no averages: return the current strategy (split).")
]
Compress = Annotated[str, typer.Option(help="Compression of a split game's tables: raw or zstd.")]
SplitBits = Annotated[
    int | None,
    typer.Option("--bits", help="Bits per stored number of a split game: 64 (default), 32 or 16."),
]
EngineName = Annotated[
    str | None,
    typer.Option("--engine", help="Who sweeps subgames: threads (default), gpu or ray."),
]
Address = Annotated[
    str | None,
    typer.Option(help="Ray cluster, HOST:PORT or auto; default: one that starts on this machine."),
]


class Engines(Protocol):
    """What makes the engine of a split game."""

    def in_memory(self, split: Split, bits: int) -> Engine:
        """Return an engine with tables in memory."""

    def on_disks(self, run: SplitRun) -> Engine:
        """Return the engine of a stored run."""


class EngineOptions(NamedTuple):
    """The options of a command that say who computes."""

    name: str | None = None
    address: str | None = None
    threads: int | None = None

    def check(self) -> None:
        """Raise an error for an unknown engine, an address that it does not take, or no GPU."""
        if self.name not in (None, "threads", "gpu", "ray"):
            raise InvalidValueError(
                f"--engine must be threads, gpu or ray, not {self.name!r}", value=self.name
            )
        if self.address is not None and self.name != "ray":
            raise InvalidValueError("--address needs --engine ray: add it, or leave out --address")
        if self.name == "gpu":
            from equilibrist.solving.gpu_engine import GpuEngines

            GpuEngines.checked()
        if self.address not in (None, "auto"):
            from equilibrist.cluster.connection import parsed_address

            parsed_address(str(self.address))

    def check_real_game(self, device: str) -> None:
        """Raise an error unless best responses in the real game can be computed by the engine."""
        if self.name == "gpu":
            raise InvalidValueError("with --real-game, give --device gpu instead of --engine gpu")
        self.check()
        if self.name is not None and device != "cpu":
            raise InvalidValueError(
                "--engine and --device exclude each other: leave one of them out"
            )

    def check_unused(self) -> None:
        """Raise `InvalidValueError` if an engine or an address is given."""
        if self.name is not None or self.address is not None:
            raise InvalidValueError("--engine and --address are for split games: leave them out")

    @contextlib.contextmanager
    def started(self, table_bytes: int = 0) -> Iterator[Engines | None]:
        """Open the GPU, or connect to a cluster, and give what makes engines; None for threads.

        The GPU and nodes compare a forecast of the bytes of all tables with what they have.
        """
        self.check()
        if self.name == "gpu":
            from equilibrist.solving.gpu_engine import GpuEngines

            yield GpuEngines.checked(table_bytes)
            return
        if self.name != "ray":
            yield None
            return
        from equilibrist.cluster.connection import connected
        from equilibrist.cluster.engine import RayEngines

        with connected(self.address, self.threads):
            yield RayEngines(self.threads, table_bytes)


_THREADS = EngineOptions()


class SplitOptions(NamedTuple):
    """The options of `solve` that are about split games."""

    after: str | None
    store: Path | None = None
    memory: str | None = None
    current: bool = False
    codec: str = "raw"
    bits: int | None = None
    engine: EngineOptions = _THREADS

    def check_unused(self) -> None:
        """Raise `InvalidValueError` for options that need --split."""
        used = zip(
            ("--store", "--memory", "--current", "--compress", "--bits", "--engine", "--address"),
            (self.store, self.memory, self.current or None,
             None if self.codec == "raw" else self.codec, self.bits, self.engine.name,
             self.engine.address),
            strict=True,
        )  # fmt: skip
        for option, value in used:
            if value is not None:
                raise InvalidValueError(
                    f"{option} needs --split: add --split flop or leave it out", value=option
                )

    def settings(self, method: str, dtype: str) -> SplitSettings:
        """Return the settings of a run."""
        from equilibrist.solving.split_run import SplitSettings
        from equilibrist.storage.table_file import check_codec

        if (self.codec != "raw" or self.memory is not None) and self.store is None:
            raise InvalidValueError("--memory and --compress need --store, a folder for the tables")
        check_codec(self.codec)
        bits = self.bits or (32 if dtype == "float32" else 64)
        assert self.after is not None
        return SplitSettings(self.after, method, bits, self.current, self.codec)


def parse_bytes(text: str, option: str) -> int:
    """Return a number of bytes written such as 4GB, 500MB or 1.5TB, in powers of 1,000.

    Example:
        >>> parse_bytes("1.5GB", "--memory"), parse_bytes("500MB/s", "--disk")
        (1500000000, 500000000)
    """
    found = _SIZE.fullmatch(text.strip())
    number = float(found[1]) * 1000 ** _POWERS[found[2].upper()] if found else 0.0
    if not 1 <= number < 1e18:
        raise InvalidValueError(
            f"{option} must be a size such as 4GB or 500MB, not {text[:40]!r}", value=text
        )
    return int(number)


def solve_split(
    problem: Problem,
    options: SplitOptions,
    settings: SplitSettings,
    budget: Budget,
    goal: Goal | None,
    *,
    resume: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Solve a game as a trunk and subgames, or continue the run in its folder."""
    from equilibrist.cli.interrupts import how_to_resume, leave
    from equilibrist.cli.progress import shown
    from equilibrist.models.split import Split
    from equilibrist.solving.decomposed import check_split_method
    from equilibrist.solving.solve import Outcome
    from equilibrist.solving.solve import solve as run_solver

    check_split_method(settings.method)
    plan = _plan(problem, settings)
    is_elsewhere = options.engine.name == "ray" or (
        options.engine.name == "gpu" and not options.store
    )
    if not force and not is_elsewhere:
        _check_room(problem.name, plan, options.store)
    _check_store(options.store, resume=resume)
    with contextlib.ExitStack() as stack:
        on_cluster = stack.enter_context(options.engine.started(0 if force else plan.table_bytes))
        split = Split.of(problem.rules, settings.after, problem.betting.menu, problem.symmetry)
        if options.store is None:
            stored = None
            solver = _solver_in_memory(split, settings, on_cluster)
        else:
            stored = _stored(split, settings, options, on_cluster, resume=resume)
            solver = stored.solver
        stack.enter_context(contextlib.closing(solver.engine))
        hint = "Ctrl-C stops" if stored is None else "Ctrl-C stops and saves"
        view = stack.enter_context(shown(split.trunk.name, hint, plain=as_json, goal=goal))
        view.begin(solver.name, budget)
        run = run_solver(
            split.trunk, solver, budget, watch=view,
            run=None if stored is None else stored.run(),
            save=None if stored is None else stored.save,
        )  # fmt: skip
    _print_solved(split.trunk, plan, settings, run, goal, options, as_json=as_json)
    if run.outcome is Outcome.INTERRUPTED:
        leave(how_to_resume(options.store, int(run.state["iteration"])).replace("--out", "--store"))


def _check_store(store: Path | None, *, resume: bool) -> None:
    """Raise an error unless a run can begin, or continue, in the folder of --store."""
    from equilibrist.cli import runs
    from equilibrist.solving.split_run import KIND

    if store is not None:
        runs.check_output(store, resume, KIND)
    elif resume:
        raise InvalidValueError("--resume needs --store, the folder of the run to continue")


def _solver_in_memory(
    split: Split, settings: SplitSettings, engines: Engines | None
) -> DecomposedCFR:
    """Return a solver with tables in memory, of this process or of the nodes of a cluster."""
    from equilibrist.solving.cfr import CFR_VARIANTS
    from equilibrist.solving.decomposed import DecomposedCFR

    method, bits, current = CFR_VARIANTS[settings.method], settings.bits, settings.current
    if engines is None:
        return DecomposedCFR.of(split, method, bits=bits, current=current)
    return DecomposedCFR(split, engines.in_memory(split, bits), method, bits, current)


def _stored(
    split: Split,
    settings: SplitSettings,
    options: SplitOptions,
    engines: Engines | None,
    *,
    resume: bool,
) -> SplitRun:
    """Begin a run in the folder of --store, or open the one that is there."""
    from equilibrist.solving.split_run import SplitRun

    memory = None if options.memory is None else parse_bytes(options.memory, "--memory")
    make = None if engines is None else engines.on_disks
    assert options.store is not None
    if not resume:
        return SplitRun.begin(options.store, split, settings, memory, make)
    return SplitRun.open(
        options.store, memory, for_resume=True, same=(split, settings), make_engine=make
    )


def _plan(problem: Problem, settings: SplitSettings) -> SplitPlan:
    from equilibrist.solving.split_plan import SplitPlan

    return SplitPlan.of(
        problem.rules,
        settings.after,
        problem.betting.menu,
        bits=settings.bits,
        current=settings.current,
        compressed=settings.codec == "zstd",
    )


def _check_room(name: str, plan: SplitPlan, store: Path | None) -> None:
    """Raise `InvalidValueError` if the tables do not fit into memory or onto the disk."""
    from equilibrist.storage.memory import available_bytes, check_fits

    if store is None:
        advice = "give --store, fewer raises, --bits 16 or --current; --force tries it anyway"
        check_fits(f"{name} needs", plan.table_bytes, available_bytes(), advice)
        return
    there = next(path for path in (store, *store.absolute().parents) if path.exists())
    stored = sum(file.stat().st_size for file in store.glob("subgames/*.tables"))
    check_fits(
        f"{name} needs on the disk",
        plan.table_bytes,
        shutil.disk_usage(there).free + stored,
        "give another --store, --bits 16, --compress zstd or --current; --force tries it anyway",
    )


def _print_solved(
    trunk: SequenceGame,
    plan: SplitPlan,
    settings: SplitSettings,
    run: Run,
    goal: Goal | None,
    options: SplitOptions,
    *,
    as_json: bool,
) -> None:
    from equilibrist.cli import runs
    from equilibrist.storage.memory import gigabytes

    store = options.store
    done = int(run.state["iteration"])
    data = {
        "game": trunk.name,
        "method": settings.method,
        **runs.evaluation_fields(trunk, run.evaluation),
        "iterations": done,
        "seconds": round(run.seconds, 6),
        "infosets": plan.infosets,
        "actions": plan.actions,
        "split": settings.after,
        "subgames": plan.subgames,
        "bits": settings.bits,
        "current": settings.current,
        "engine": options.engine.name or "threads",
        "outcome": run.outcome.name.lower(),
        "store": None if store is None else str(store),
        "target": None if goal is None else str(goal),
    }
    text = (
        f"{trunk.name} by {settings.method}, split after {settings.after} into "
        f"{plan.subgames:,} subgames: value {run.evaluation.value:.9g} {trunk.unit}, "
        f"exploitability {runs.amount(trunk, run.evaluation)} after {done:,} iterations in "
        f"{run.seconds:.2f} s; "
        f"{runs.outcome_words(run, goal)}"
    )
    if store is not None:
        size = sum(file.stat().st_size for file in store.glob("subgames/*.tables"))
        data |= {"bytes": size, "bytes_per_action": round(size / plan.actions, 3)}  # here only
        text += f"\n{store}: {gigabytes(size)}, {size / plan.actions:.2f} bytes per action"
    emit(data, text, as_json=as_json)


def exploit_split(folder: Path, engine: EngineOptions, *, as_json: bool) -> None:
    """Print the best responses to the strategy in the folder of a split game."""
    prepare_kernels(engine.threads, *SPLIT_KERNELS)
    with engine.started() as engines:
        _exploit_stored(folder, engines, as_json=as_json)


def _exploit_stored(folder: Path, engines: Engines | None, *, as_json: bool) -> None:
    from equilibrist.cli import runs
    from equilibrist.solving.certificate import EXACT, ROUNDED, agree
    from equilibrist.solving.linear_program import largest_payoff
    from equilibrist.solving.split_run import SplitRun

    stored = SplitRun.open(folder, make_engine=None if engines is None else engines.on_disks)
    run, trunk, settings = stored.run(), stored.split.trunk, stored.settings
    done = int(run.state["iteration"])
    if not run.trace or run.trace[-1].iteration != done:
        raise StorageError(
            f"{folder} was stopped before iteration {done} was evaluated; resume it first",
            value=str(folder),
        )
    with contextlib.closing(stored.engine):
        found = stored.solver.evaluate(trunk, run.state)
    allowed = (EXACT if settings.bits == 64 else ROUNDED) * largest_payoff(trunk)
    faults = agree(found, run.evaluation, allowed)
    data = {
        "game": trunk.name,
        "method": settings.method,
        "iterations": done,
        **runs.evaluation_fields(trunk, found),
        "certificate": run.evaluation.exploitability,
        "matches": not faults,
        "faults": faults,
        "checked": ["checksums", "schema", "certificate"],
    }
    first, second = found.best_response
    text = (
        f"{trunk.name} by {settings.method}, split after {settings.after}: exploitability "
        f"{runs.amount(trunk, found)}, best responses {first:.6g} and {second:.6g}, value "
        f"{found.value:.9g}; this {'DOES NOT match' if faults else 'matches'} the certificate "
        "(the checksums of its tables match)"
    )
    emit(data, "\n".join([text, *(f"- {fault}" for fault in faults)]), as_json=as_json)
    if faults:
        raise typer.Exit(1)


# --- plan -----------------------------------------------------------------------------------------

PlannedGame = Annotated[str, typer.Argument(help="Game of the catalogue, or .game file.")]
PlannedSplit = Annotated[str, typer.Option("--split", help="Split after preflop or flop.")]
Nodes = Annotated[int, typer.Option(help="Number of machines.")]
Cores = Annotated[int, typer.Option(help="Cores of a machine.")]
DiskRate = Annotated[str, typer.Option(help="Bytes per second of a machine's disk.")]
NetworkRate = Annotated[str, typer.Option(help="Bytes per second of the network at the trunk.")]
PlannedIterations = Annotated[int, typer.Option(help="Number of iterations to the target.")]
PlannedBits = Annotated[int, typer.Option(help="Bits per stored number: 64, 32 or 16.")]


def plan(
    game: PlannedGame,
    split: PlannedSplit = "flop",
    nodes: Nodes = 1,
    cores: Cores = 1,
    disk: DiskRate = "500MB",
    network: NetworkRate = "1.25GB",
    iterations: PlannedIterations = 1579,
    bits: PlannedBits = 32,
    current: Current = False,
    compress: Compress = "raw",
    max_raises: MaxRaises = None,
    json: Json = False,
) -> None:
    """Forecast the bytes and the time of a split game on one machine or a cluster.

    Example: equilibrist plan holdem-limit --split flop --nodes 200 --cores 24 --bits 16 --current
    """
    from equilibrist.cli.games import menu_of
    from equilibrist.games.catalog import load_game
    from equilibrist.solving.split_plan import CEPHEUS, Cluster, SplitPlan
    from equilibrist.storage.table_file import CODECS

    if compress not in CODECS:
        raise InvalidValueError(
            f"--compress must be {' or '.join(CODECS)}, not {compress!r}", value=compress
        )
    if bits not in (16, 32, 64):
        raise InvalidValueError(f"--bits must be 16, 32 or 64, not {bits}", value=bits)
    if iterations < 1:
        raise InvalidValueError(f"--iterations must be at least 1, not {iterations}")
    rates = parse_bytes(disk, "--disk"), parse_bytes(network, "--network")
    cluster = Cluster(nodes, cores, *rates)
    rules = load_game(game)
    found = SplitPlan.of(
        rules, split, menu_of(rules, max_raises=max_raises), bits=bits, current=current,
        compressed=compress == "zstd",
    )  # fmt: skip
    data = _plan_data(rules.name, found, cluster, iterations)
    is_cepheus = (found.subgames, len(rules.deck)) == (110_565, 52)
    data["cepheus"] = dict(CEPHEUS) if is_cepheus else None
    emit(data, _plan_text(data, CEPHEUS if is_cepheus else None), as_json=json)


def _plan_data(name: str, plan: SplitPlan, cluster: Cluster, iterations: int) -> dict[str, Any]:
    seconds = plan.seconds(cluster)
    return {
        "game": name,
        "subgames": plan.subgames,
        "actions": plan.actions,
        "infosets": plan.infosets,
        "bytes": plan.table_bytes,
        "bytes_per_node": math.ceil(plan.table_bytes / cluster.nodes),
        "bytes_per_iteration": plan.transferred_bytes,
        "network_bytes_per_iteration": plan.network_bytes if cluster.nodes > 1 else 0,
        "seconds_per_iteration": seconds["iteration"],
        "compute_seconds": seconds["compute"],
        "disk_seconds": seconds["disk"],
        "network_seconds": seconds["network"],
        "nodes": cluster.nodes,
        "cores": cluster.cores,
        "iterations": iterations,
        "days": plan.days(cluster, iterations),
        "core_years": plan.core_years(cluster, iterations),
    }


def _plan_text(data: dict[str, Any], cepheus: dict[str, Any] | None) -> str:
    def terabytes(number: float) -> str:
        return f"{number / 1e12:,.3g} TB" if number >= 1e12 else f"{number / 1e9:,.3g} GB"

    rows = [
        ("subgames", f"{data['subgames']:,}", "110,565"),
        ("actions of information sets", f"{data['actions']:,}", ""),
        ("tables", terabytes(data["bytes"]), "10.9 TB (262 TB raw)"),
        ("tables on each node", terabytes(data["bytes_per_node"]), ""),
        ("disks, each iteration", terabytes(data["bytes_per_iteration"]), ""),
        ("network, each iteration", terabytes(data["network_bytes_per_iteration"]), ""),
        ("seconds computing", f"{data['compute_seconds']:,.3g}", ""),
        ("seconds of the disks", f"{data['disk_seconds']:,.3g}", ""),
        ("seconds per iteration", f"{data['seconds_per_iteration']:,.3g}", "3,660"),
        ("nodes × cores", f"{data['nodes']:,} × {data['cores']:,}", "200 × 24"),
        ("iterations", f"{data['iterations']:,}", "1,579"),
        ("days", f"{data['days']:,.3g}", "68.5"),
        ("core-years", f"{data['core_years']:,.3g}", "900"),
    ]
    if cepheus is None:
        return table([row[:2] for row in rows], header=(data["game"], "plan"))
    return table(rows, header=(data["game"], "plan", "Cepheus"))
