"""`equilibrist export` and `import`: strategies in files of OpenSpiel and Gambit."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from equilibrist.cli.options import Json, Seed, Threads, emit, owning, prepare_kernels
from equilibrist.cli.outputs import Force, check_file
from equilibrist.cli.solving import Bets, Folder, MaxRaises, Raises, Symmetry
from equilibrist.errors import StorageError

_KERNELS = (
    "sequence_form.gradient_team",
    "sequence_form.fold_up_team",
    "sequence_form.realize_team",
)
_VISIBLE = 1e-6  # differences of probabilities that are reported

Format: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--format", help="openspiel, gambit or gambit-profile; default: by suffix .json, .efg, .ne."
    ),
]


def export(
    folder: Folder,
    out: Annotated[Path, typer.Option(help="File to write: .json, .efg or .ne.")],
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
    prepare_kernels(threads, *_KERNELS)
    game = export_solution(folder, out, found, replace=force)
    data = {"game": game.name, "format": found, "infosets": game.num_infosets, "out": str(out)}
    what = "the game" if found == "gambit" else "the strategy"
    text = f"{what} of {folder}, {game.name}, is written to {out} ({found})"
    emit(data, text, as_json=json)


@owning("out")
def import_(
    file: Annotated[Path, typer.Argument(help="OpenSpiel policy (.json) or Gambit profile (.ne).")],
    game: Annotated[str, typer.Option(help="Game name, or a .game file.")],
    out: Annotated[Path, typer.Option(help="Folder for the solution.")],
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
    prepare_kernels(threads, *_KERNELS)
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
    proof = strategy.certificate
    data = {
        "game": model.name,
        "format": found,
        **runs.evaluation_fields(model, proof),
        "merged_difference": strategy.spread,
        "out": str(out),
    }
    text = (
        f"{model.name} from {file} ({found}): value {proof.value:.9g} {proof.unit}, exploitability "
        f"{runs.amount(model, proof)}; saved in {out}"
    )
    emit(data, text, as_json=json)


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
