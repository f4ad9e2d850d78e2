"""Choose the modules to change, and draw mutants from them."""

from __future__ import annotations

import fnmatch
import hashlib
import json
import random
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mutations import Mutation, sites

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "equilibrist"
EQUIVALENT = ROOT / "tests" / "mutants" / "equivalent.toml"

# What is tested; files that do not exist are left out.
MODULES = (
    "solving/best_response.py",
    "solving/certificate.py",
    "solving/solve.py",
    "strategies/evaluation.py",
    "evaluation/statistics.py",
    "evaluation/sequential.py",
    "evaluation/expectation.py",
    "evaluation/aivat.py",
    "evaluation/pair_views.py",
    "evaluation/hand_views.py",
    "evaluation/bucket_values.py",
    "evaluation/real_game/*.py",
    "bots/*.py",
    "strategies/played.py",
    "storage/*.py",
    "games/rules.py",
    "games/betting.py",
    "games/betting_tree.py",
    "games/state.py",
    "games/notation.py",
    "games/records.py",
    "models/leaves.py",
    "models/treeplex.py",
)
# Compiled code cannot be traced, so the tests of each kernel are listed.
_GAMES = (
    "tests/parity/test_sequence_form_kernels.py",
    "tests/parity/test_small_numbers.py",
    "tests/solving/test_best_response.py",
    "tests/solving/test_cfr.py",
    "tests/papers/ectomynx/test_level_training.py",
    "tests/oracles/test_game_values.py",
    "tests/oracles/test_sizes.py",
    "tests/models/test_subgame.py",
    "tests/models/test_spot.py",
)
_TABLES = ("tests/solving/test_lean_cfr.py", "tests/parity/test_small_numbers.py")
_REAL_GAME = (
    "tests/evaluation/real_game/test_reference.py",
    "tests/evaluation/real_game/test_response.py",
    "tests/oracles/test_real_game.py",
    "tests/cli/test_real_game.py",
)
KERNELS = {
    "kernels/cpu/sequence_form.py": _GAMES,
    "kernels/cpu/leaves.py": _GAMES,
    "kernels/cpu/board.py": (*_GAMES, *_TABLES),
    "kernels/cpu/tables.py": _TABLES,
    "kernels/cpu/table_sweeps.py": _TABLES,
    "kernels/cpu/real_game.py": _REAL_GAME,
    "kernels/cpu/real_game_lanes.py": _REAL_GAME,
}


@dataclass(frozen=True)
class Mutant:
    """One change to one module of the package."""

    module: str  # path below src/equilibrist
    mutation: Mutation
    before: str
    after: str

    @property
    def is_kernel(self) -> bool:
        """Return whether the module is compiled by Numba."""
        return self.module in KERNELS

    @property
    def key(self) -> str:
        """Return what identifies the mutant in a results file."""
        place = (self.module, self.mutation.line, self.mutation.start, self.before, self.after)
        return hashlib.sha256(json.dumps(place).encode()).hexdigest()[:16]

    @property
    def name(self) -> tuple[str, ...]:
        """Return what identifies it in the list of equivalent mutants: no line numbers."""
        return self.module, self.mutation.function, self.before, self.after


def modules(patterns: Iterable[str], only: Sequence[str] = ("*",)) -> list[str]:
    """Return the modules that exist and match, as paths below the package."""
    found = {
        path.relative_to(PACKAGE).as_posix()
        for pattern in patterns
        for path in PACKAGE.glob(pattern)
    }
    return sorted(name for name in found if any(fnmatch.fnmatch(name, one) for one in only))


def draw(names: Sequence[str], number: int, seed: int) -> list[Mutant]:
    """Draw sites uniformly from all sites of the modules, and one alternative for each."""
    sources = {name: (PACKAGE / name).read_text() for name in names}
    pool = [
        (name, site)
        for name, source in sources.items()
        for site in sites(source, compiled=name in KERNELS)
    ]
    dice = random.Random(seed)
    dice.shuffle(pool)
    drawn: list[Mutant] = []
    for name, site in pool:
        if len(drawn) == number:
            break
        mutation, source = dice.choice(site), sources[name]
        if mutation.is_valid(source):
            drawn.append(Mutant(name, mutation, *mutation.diff(source)))
    return drawn


def equivalent_mutants(file: Path = EQUIVALENT) -> dict[tuple[str, ...], str]:
    """Read the mutants that no test can notice, with the reason for each."""
    if not file.exists():
        return {}
    entries = tomllib.loads(file.read_text())["mutant"]
    return {(e["module"], e["function"], e["before"], e["after"]): e["reason"] for e in entries}
