"""Storage of a run in a solution's folder: written at checkpoints and opened to resume."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from equilibrist.kernels.gpu.memory import download
from equilibrist.models.game import SequenceGame
from equilibrist.solving.solve import Row, Run
from equilibrist.solving.solver import Solver
from equilibrist.solving.state_schema import check_state
from equilibrist.storage.array_file import damaged
from equilibrist.storage.artefact import Artefact, open_artefact
from equilibrist.storage.checkpoint import another_run, check_same_run
from equilibrist.storage.schema import ArrayRule, check_arrays
from equilibrist.strategies.description import Description, same_game
from equilibrist.strategies.evaluation import Evaluation
from equilibrist.strategies.solution import KIND, RAKED_COLUMNS, TRACE_COLUMNS, Solution


class Store:
    """Store that saves a run as a solution and opens it again; without a folder it does nothing."""

    def __init__(
        self,
        out: Path | None,
        game: SequenceGame,
        description: Description,
        solver: Solver,
        seed: int,
        dtype: str,
    ) -> None:
        self.out = out
        self.game = game
        self.description = description
        self.solver = solver
        self.seed = seed
        self.settings = {"dtype": dtype}

    def save(self, run: Run) -> None:
        """Write the run so far; the folder holds the old one or the new one, never a part."""
        if self.out is None:
            return
        run.check_whole()
        plans = self.solver.plans(self.game, run.state)
        first, second = (download(plan).astype(np.float64, copy=False) for plan in plans)
        Solution(
            game=self.description,
            plans=(first, second),
            method=self.solver.name,
            iterations=int(run.state["iteration"]),
            seconds=run.seconds,
            certificate=run.evaluation,
            trace=run.trace_array(),
            seed=self.seed,
            settings=self.settings,
            state={name: download(array) for name, array in run.state.items()},
        ).save(self.out)

    def resume(self) -> Run:
        """Open the run in the folder; raise an error if its game, method or settings differ."""
        assert self.out is not None
        artefact = open_artefact(self.out, KIND, in_memory=True)
        solution = Solution.of(artefact)
        if not same_game(solution.game, self.description):
            raise another_run(self.out, "game", solution.game.name, self.description.name)
        stored = {"method": solution.method, "seed": solution.seed, **solution.settings}
        wanted = {"method": self.solver.name, "seed": self.seed, **self.settings}
        check_same_run(self.out, stored, dict.fromkeys(stored) | wanted)
        plans = {
            f"plan{player}": ArrayRule("float64", (length,))
            for player, length in enumerate(self.game.lengths)
        }
        check_arrays(artefact, plans, only="plan")
        first = self.solver.init(self.game, self.seed)
        check_state(artefact, self.solver.name, first)
        rows = read_trace(artefact, solution.certificate.unit)
        state = {  # on the game's device; the first state may lack arrays of answers
            name: np.asarray(array, like=first.get(name, self.game.prototype))
            for name, array in solution.state.items()
        }
        return Run(state, rows, solution.seconds, is_checked=True)


def read_trace(artefact: Artefact, unit: str) -> list[Row]:
    """Read the evaluations of a stored run; `StorageError` if there are none to resume from."""
    trace = artefact.arrays["trace"]
    if len(trace) == 0 or trace.shape[1] not in (len(TRACE_COLUMNS), len(RAKED_COLUMNS)):
        raise damaged(
            artefact.folder / artefact.files["trace"].file,
            f"has shape {list(trace.shape)}; the rows of a run must be {', '.join(TRACE_COLUMNS)}",
        )
    return [
        Row(int(t), seconds, Evaluation(value, (one, two), unit, *rake))
        for t, seconds, _, one, two, value, *rake in trace.tolist()
    ]
