"""Runs of whole best responses: flop by flop, stored on the disk on the way, and verifiable.

The folder of a run is an artefact: for every finished flop, what the responder wins there from each
position, by class of hands. That is the certificate: everything else follows from it within a
second, and any flop can be computed again and compared. A run that was killed resumes from its
folder with the same numbers: flops do not depend on each other, and are summed in their order.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from equilibrist import stopping
from equilibrist.cards.flops import allotted, flop_kinds
from equilibrist.cards.isomorphism import DealIndexer
from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.real_game.batches import BatchedResponses
from equilibrist.evaluation.real_game.reference import reference_response
from equilibrist.evaluation.real_game.response import Flops, Response, board_cards, check_game
from equilibrist.evaluation.statistics import chips_of_unit
from equilibrist.games.rules import GameRules, rules_text
from equilibrist.kernels.cpu.real_game import HANDS
from equilibrist.models.game import Floats
from equilibrist.phases import phase
from equilibrist.solving.certificate import is_same
from equilibrist.solving.devices import Chosen, choose_device
from equilibrist.stopping import Stopped
from equilibrist.storage.artefact import Artefact, Header, open_artefact, write_artefact
from equilibrist.storage.checkpoint import CheckpointClock, another_run
from equilibrist.storage.manifest import MANIFEST
from equilibrist.storage.schema import ArrayRule, Fields, check_arrays
from equilibrist.strategies.played import FixedMix, IdentifiedStrategy, TableStrategy

KIND = "real-game response"
_PAUSE = 10.0  # minimum number of seconds between two checkpoints
_SAMPLE = 4  # flops that forecasts of the GPU measure
_MOST_BOARDS = 3_000  # maximum number of boards of a game that is not hold'em
Report = Callable[["RealGameRun"], None]


@dataclass(eq=False)
class RealGameRun:
    """Flops of a best response in both seats, filled in as they are finished; F flops."""

    name: str
    identity: str  # identity of the strategy
    rules: GameRules
    flops: Flops
    is_done: NDArray[np.bool_]  # [F]
    values: tuple[Floats, Floats]  # by seat of the responder: [F, P, 169], see `flop_values`
    seconds: float = 0.0  # time that the flops took
    result: dict[str, Any] = field(default_factory=dict)  # of the last completed continuation

    @property
    def weight(self) -> Floats:
        """Number of raw flops that each finished one represents: [F]; 0 for the others.

        If some are left out, each counts for its stratum's share (`stratified`).
        """
        many = self.flops.multiplicity.astype(np.float64)
        if self.is_done.all():
            return many
        kinds = flop_kinds(self.flops.boards)
        weight = np.where(self.is_done, many, 0.0)
        for kind in np.unique(kinds):
            own = kinds == kind
            if weight[own].any():
                weight[own] *= many[own].sum() / weight[own].sum()
        return weight * many.sum() / weight.sum()

    @property
    def is_whole(self) -> bool:
        """Return whether all flops are finished; otherwise values are estimates."""
        return bool(self.is_done.all())


class FlopEngine(Protocol):
    """What computes flops in place of the threads of this process."""

    def computed(self, flops: Sequence[tuple[int, ...]]) -> Iterator[tuple[int, list[Floats]]]:
        """Yield the place of each flop and its values by seat, as they are ready."""

    def seconds_per_flop(self, flops: Sequence[tuple[int, ...]]) -> float:
        """Measure how long a flop takes, on some of them."""


@dataclass(frozen=True)
class Exploited:
    """Winnings of best responses against a strategy, in a unit per hand."""

    best_response: tuple[float, float]  # as player 0 and as player 1
    unit: str

    @property
    def exploitability(self) -> float:
        """Mean of both seats."""
        return sum(self.best_response) / 2


def exploited(run: RealGameRun, responses: tuple[Response, Response]) -> Exploited:
    """Return the winnings that follow from the flops of a run.

    With some flops only, the estimate assumes that the responder knows that no others come: it is
    neither a lower nor an upper bound.
    """
    unit, chips = chips_of_unit(run.rules, None)
    won = [
        response.win(np.tensordot(run.weight, values, 1)) / chips
        for response, values in zip(responses, run.values, strict=True)
    ]
    return Exploited((won[0], won[1]), unit)


@phase("computing best responses in the real game")
def reference_exploited(named: IdentifiedStrategy) -> Exploited:
    """Return the winnings in other limit games with few boards, by the reference recursion.

    Example:
        >>> from equilibrist.bots.open import open_strategy
        >>> from equilibrist.games.catalog import get_game
        >>> reference_exploited(open_strategy("always-fold", get_game("leduc")))
        Exploited(best_response=(1.0, 1.0), unit='chips')
    """
    strategy = whole_strategy(named)
    rules = strategy.tree.rules
    boards = math.prod(math.comb(len(rules.deck), many) for many in rules.num_board_cards)
    if boards > _MOST_BOARDS:
        raise InvalidValueError(
            f"{rules.name} has up to {boards:,} boards and is not limit hold'em: the "
            f"plain best response supports at most {_MOST_BOARDS:,} boards",
            value=boards,
        )
    unit, chips = chips_of_unit(rules, None)
    first, second = (reference_response(strategy, seat) / chips for seat in (0, 1))
    return Exploited((first, second), unit)


@phase("preparing best responses in the real game")
def responses_to(named: IdentifiedStrategy) -> tuple[Response, Response]:
    """Return the best responses in both seats."""
    check_game(named.strategy.tree.rules)
    strategy = whole_strategy(named)
    return Response(strategy, 0), Response(strategy, 1)


def whole_strategy(named: IdentifiedStrategy) -> FixedMix | TableStrategy:
    """Return a strategy of all rounds; raise `InvalidValueError` for one that lacks some."""
    strategy, tree = named.strategy, named.strategy.tree
    has_all = tree.first_round == 0 and tree.last_round == tree.rules.num_rounds - 1
    if not has_all or not isinstance(strategy, FixedMix | TableStrategy):
        raise InvalidValueError(
            f"{named.name} is a strategy of some rounds only; the real game needs one of all "
            "rounds",
            value=named.name,
        )
    return strategy


def open_or_start(
    named: IdentifiedStrategy,
    responses: tuple[Response, Response],
    folder: Path | None,
    *,
    replaces: bool = False,
) -> RealGameRun:
    """Return the run that a folder holds, or a new one.

    If that is a run of another strategy, `StorageError` is raised, or with `replaces` a new run is
    begun, which takes its place when it is saved.
    """
    rules = named.strategy.tree.rules
    flops = Flops.of(rules)
    if folder is not None and (folder / MANIFEST).exists():
        is_same_strategy = _identity(open_artefact(folder, KIND)) == named.identity
        if is_same_strategy or not replaces:
            return _load(named, flops, responses, folder)
    first, second = (
        np.zeros((len(flops.boards), len(response.positions[0].nodes), 169))
        for response in responses
    )
    is_done = np.zeros(len(flops.boards), np.bool_)
    return RealGameRun(named.name, named.identity, rules, flops, is_done, (first, second))


def _identity(stored: Artefact) -> str:
    """Return the identity of the strategy that a stored run responds to."""
    return Fields.configuration(stored).lines("identity")


def _load(
    named: IdentifiedStrategy, flops: Flops, responses: tuple[Response, Response], folder: Path
) -> RealGameRun:
    """Open the run in a folder and compare its checksums, because the next write signs it again."""
    stored = open_artefact(folder, KIND, in_memory=True)
    fields, number = Fields.configuration(stored), len(flops.boards)
    if _identity(stored) != named.identity:
        raise another_run(folder, "strategy", fields.path("strategy"), named.name)
    shapes = [(number, len(response.positions[0].nodes), 169) for response in responses]
    check_arrays(
        stored,
        {
            "done": ArrayRule("uint8", (number,), high=1),
            "values0": ArrayRule("float64", shapes[0]),
            "values1": ArrayRule("float64", shapes[1]),
        },
    )
    arrays = stored.arrays
    return RealGameRun(
        named.name,
        named.identity,
        named.strategy.tree.rules,
        flops,
        np.array(arrays["done"], np.bool_),
        (arrays["values0"], arrays["values1"]),
        Fields.timings(stored).number("seconds", 0),
        _result(stored),
    )


def _result(stored: Artefact) -> dict[str, Any]:
    """Return the result that a folder states, as of the last completed continuation."""
    info = Fields.info(stored)
    if "exploitability" not in info:
        return {}
    return {
        "exploitability": info.number("exploitability"),
        "unit": info.text("unit"),
        "flops": info.whole("flops"),
        "estimate": info.flag("estimate"),
    }


def save(run: RealGameRun, folder: Path, found: Exploited | None = None) -> str:
    """Write a run, replacing an earlier state of it, with its result if that is known.

    While more flops are being computed, the result of the earlier ones remains.
    """
    now = {"flops": int(run.is_done.sum()), "estimate": not run.is_whole}
    if found is not None:
        run.result = {"exploitability": found.exploitability, "unit": found.unit, **now}
    header = Header(
        KIND,
        configuration={
            "strategy": run.name,
            "identity": run.identity,
            "game": rules_text(run.rules),
            "name": run.rules.name,
        },
        info=now | run.result,
        timings={"seconds": run.seconds},
    )
    done = run.is_done.astype(np.uint8)
    arrays = {"done": done, "values0": run.values[0], "values1": run.values[1]}
    return write_artefact(folder, header, arrays)


def run_flops(
    run: RealGameRun,
    responses: tuple[Response, Response],
    chosen: NDArray[np.int64],
    *,
    threads: int = 1,
    engine: FlopEngine | None = None,
    folder: Path | None = None,
    report: Report | None = None,
) -> None:
    """Compute the chosen flops that are missing, `threads` at a time; write them as they come.

    With an `engine`, the GPU (see `on_device`) or a cluster computes them: the same numbers. If a
    stop is requested, it finishes the flops that have started, writes them and raises `Stopped`.
    """
    left = [int(f) for f in chosen if not run.is_done[f]]
    start, clock = time.perf_counter(), CheckpointClock(pause=_PAUSE)
    before, done = run.seconds, 0
    try:
        with contextlib.closing(_computed(run, responses, left, threads, engine)) as computed:
            for f, found in computed:
                for values, own in zip(run.values, found, strict=True):
                    values[f] = own
                now = time.perf_counter()
                run.is_done[f], run.seconds = True, before + now - start
                done += 1
                at_once = threads if engine is None else 1  # the GPU answers within a batch
                stopping.expect("flop", (now - start) * at_once / done)
                if folder is not None and clock.is_due():
                    with clock.writing():
                        save(run, folder)
                if report is not None:
                    report(run)
    finally:
        if folder is not None and left:
            save(run, folder)
    if any(not run.is_done[f] for f in left):
        raise Stopped(partial=run)


def _computed(
    run: RealGameRun,
    responses: tuple[Response, Response],
    left: list[int],
    threads: int,
    engine: FlopEngine | None,
) -> Generator[tuple[int, list[Floats]]]:
    """Yield flops and their values in both seats, as they are ready; few wait at a time.

    No flop is started after a stop has been requested.
    """
    if engine is not None:
        boards = [tuple(run.flops.boards[f].tolist()) for f in left]
        yield from ((left[place], found) for place, found in engine.computed(boards))
        return
    waiting: dict[Future[list[Floats]], int] = {}
    upcoming = iter(left)
    with ThreadPoolExecutor(threads) as pool:
        while True:
            for f in itertools.takewhile(lambda f: not stopping.is_requested(), upcoming):
                board = tuple(run.flops.boards[f].tolist())
                waiting[pool.submit(flop_values, responses, board)] = f
                if len(waiting) >= threads:
                    break
            if not waiting:
                return
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                yield waiting.pop(future), future.result()


def on_device(
    wanted: str, responses: tuple[Response, Response]
) -> tuple[Chosen, BatchedResponses | None]:
    """Return where best responses are computed, and what computes them if it is the GPU.

    `wanted` is cpu, gpu or auto: the GPU if there is one with enough memory.
    """
    found: list[BatchedResponses] = []
    chosen = choose_device(wanted, lambda: found.append(BatchedResponses(responses)))
    return chosen, found[0] if found else None


def flop_values(responses: tuple[Response, Response], board: tuple[int, ...]) -> list[Floats]:
    """Return what both responses win on a flop: [P, 169] each; they share the cards of turns."""
    turns = [np.zeros((len(response.positions[1].nodes), HANDS)) for response in responses]
    for card, many in board_cards(responses[0].rules, board).following:
        for response, total in zip(responses, turns, strict=True):
            if len(total):
                total += many * response.values((*board, card))
    return [
        response.flop_values(board, total) for response, total in zip(responses, turns, strict=True)
    ]


def check(
    run: RealGameRun, responses: tuple[Response, Response], number: int, seed: int = 0
) -> list[int]:
    """Compute a sample of the finished flops again; return those whose stored values differ."""
    done = np.flatnonzero(run.is_done)
    if not len(done):
        raise InvalidValueError(
            f"the response to {run.name} has no finished flop yet", value=run.name
        )
    sample = np.random.default_rng(seed).choice(done, min(number, len(done)), replace=False)
    wrong = []
    with phase("computing flops again", total=len(sample), unit="flops") as work:
        for f in sample.tolist():
            stopping.check()
            found = flop_values(responses, tuple(run.flops.boards[f].tolist()))
            if not all(
                np.allclose(values[f], own, rtol=1e-9, atol=1e-9)
                for values, own in zip(run.values, found, strict=True)
            ):
                wrong.append(f)
            work.advance()
    return wrong


def states(info: Mapping[str, Any], run: RealGameRun, found: Exploited) -> bool:
    """Return whether the result that a folder states follows from its flops.

    True if it states none yet, or one of fewer flops than there are by now.
    """
    if "exploitability" not in info or info["flops"] != run.is_done.sum():
        return True
    stated = info["exploitability"], info["unit"], info["estimate"]
    given = found.exploitability, found.unit, not run.is_whole
    return is_same(stated[0], given[0]) and stated[1:] == given[1:]


def stratified(flops: Flops, number: int | None, seed: int = 0) -> NDArray[np.int64]:
    """Return a stratified sample of `number` flops; default: all of them.

    Strata are by suits and paired ranks: rainbow, two suits or one; no pair, pair or trips.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> flops = Flops.of(get_game("holdem-limit"))
        >>> len(stratified(flops, 40)), len(stratified(flops, None))
        (40, 1755)
    """
    total = len(flops.boards)
    if number is None:
        return np.arange(total)
    kinds = flop_kinds(flops.boards)
    names = np.unique(kinds)
    if not len(names) <= number <= total:
        raise InvalidValueError(
            f"the number of flops must be {len(names)} (one of each kind) to {total:,}, "
            f"not {number:,}",
            value=number,
        )
    rng = np.random.default_rng(seed)
    chosen = [
        rng.choice(np.flatnonzero(kinds == kind), count, replace=False)
        for kind, count in allotted(kinds, flops.multiplicity, number).items()
    ]
    return np.sort(np.concatenate(chosen))


@phase("measuring how long a flop takes")
def forecast(
    responses: tuple[Response, Response],
    run: RealGameRun,
    chosen: NDArray[np.int64],
    threads: int,
    engine: FlopEngine | None = None,
) -> float:
    """Estimate the seconds that the chosen flops will take, from those of some rivers or flops."""
    left = [int(f) for f in chosen if not run.is_done[f]]
    if engine is not None:
        some = left[:: -(-len(left) // _SAMPLE)]
        boards = [tuple(run.flops.boards[f].tolist()) for f in some]
        return engine.seconds_per_flop(boards) * len(left)
    rivers = DealIndexer((3, 1, 1), run.rules.deck).size * len(left) / len(run.flops.boards)
    turn = (*run.flops.boards[-1].tolist(), run.rules.deck.cards[0])
    for response in responses:  # compiles what is not compiled yet
        response.turn_values(turn)
    start = time.perf_counter()
    many = sum(response.turn_values(turn) for response in responses) / 2
    return (time.perf_counter() - start) / max(many, 1) * rivers / threads
