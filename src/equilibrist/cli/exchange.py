"""`equilibrist export` and `import`: strategies in files of OpenSpiel and Gambit."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equilibrist.cli.options import (
    SOLVING_KERNELS,
    Bets,
    GameName,
    Json,
    MaxRaises,
    Raises,
    Seed,
    SolutionFolder,
    Symmetry,
    Threads,
    emit,
    owning,
    prepare_kernels,
)
from equilibrist.cli.outputs import Force, check_file
from equilibrist.errors import StorageError

if TYPE_CHECKING:
    from equilibrist.solving.exchange import ImportedStrategy

_VISIBLE = 1e-6  # differences of probabilities that are reported

Format = Annotated[
    str | None,
    typer.Option(
        "--format", help="openspiel, gambit or gambit-profile; default: by suffix .json, .efg, .ne."
    ),
]


# Options of `export`.
ExportFile = Annotated[Path, typer.Option(help="File to write: .json, .efg or .ne.")]


def export(
    folder: SolutionFolder,
    out: ExportFile,
    form: Format = None,
    force: Force = False,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Write a solution as an OpenSpiel policy, or its game or strategy as a Gambit file.

    Example: equilibrist export leduc-solution --out leduc.json

    Example: equilibrist export leduc-solution --out leduc.efg
    """
    from equilibrist.solving.exchange import export_solution, file_format

    found = file_format(out, form)
    check_file(out, force)
    prepare_kernels(threads, *SOLVING_KERNELS)
    game = export_solution(folder, out, found, replace=force)
    data = {"game": game.name, "format": found, "infosets": game.num_infosets, "out": str(out)}
    what = "the game" if found == "gambit" else "the strategy"
    text = f"{what} of {folder}, {game.name}, is written to {out} ({found})"
    emit(data, text, as_json=json)


# Options of `import`.
ImportFile = Annotated[
    Path, typer.Argument(help="OpenSpiel policy (.json) or Gambit profile (.ne).")
]
ImportFolder = Annotated[Path, typer.Option(help="Folder for the solution.")]


@owning("out")
def import_(
    file: ImportFile,
    game: GameName,
    out: ImportFolder,
    form: Format = None,
    max_raises: MaxRaises = None,
    bets: Bets = None,
    raises: Raises = None,
    symmetry: Symmetry = None,
    force: Force = False,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Read a strategy of OpenSpiel or Gambit, certify its exploitability, and save it.

    The folder can be used like one of `solve`: by exploit, show, match and play. Hands that the
    game merges play their mean; --symmetry cards keeps all hands apart.

    Example: equilibrist import leduc.json --game leduc --out leduc-imported
    """
    from equilibrist.cli import runs
    from equilibrist.solving.exchange import ImportedStrategy, file_format

    found = file_format(file, form)
    _check_folder(out, force)
    prepare_kernels(threads, *SOLVING_KERNELS)
    options = runs.GameOptions(game, None, bets, raises, max_raises, symmetry)
    model, _ = runs.build(options.problem(), "float64", [], force=False)
    strategy = ImportedStrategy.read(file, model, found)
    if strategy.spread > _VISIBLE:
        print(
            f"equilibrist: hands that {model.name} merges play differently in {file}, by up to "
            f"{strategy.spread:.3g}; their mean is saved (--symmetry cards keeps them apart)",
            file=sys.stderr,
        )
    strategy.save(out)
    data, text = _imported(strategy, file, out)
    emit(data, text, as_json=json)


def _imported(strategy: ImportedStrategy, file: Path, out: Path) -> tuple[dict[str, Any], str]:
    """Return an imported strategy and its certificate, as JSON and as text."""
    from equilibrist.cli import runs

    game, proof = strategy.game, strategy.certificate
    data = {
        "game": game.name,
        "format": strategy.form,
        **runs.evaluation_fields(game, proof),
        "merged_difference": strategy.spread,
        "out": str(out),
    }
    text = (
        f"{game.name} from {file} ({strategy.form}): value {proof.value:.9g} {proof.unit}, "
        f"exploitability {runs.amount(game, proof)}; saved in {out}"
    )
    return data, text


def _check_folder(out: Path, force: bool) -> None:
    """Raise `StorageError` if a solution cannot be saved, or exists and `force` is false."""
    from equilibrist.storage.artefact import check_target
    from equilibrist.storage.manifest import MANIFEST
    from equilibrist.strategies.solution import KIND

    check_target(out, KIND)
    if (out / MANIFEST).exists() and not force:
        raise StorageError(
            f"{out} holds a {KIND}; choose another folder, or replace it with --force",
            value=str(out),
        )
