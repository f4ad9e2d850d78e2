"""`equilibrist transitions`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equilibrist.cli.abstraction import Flops, Folder, check_output
from equilibrist.cli.options import Json, Seed, Threads, emit, owning, prepare_kernels, table

if TYPE_CHECKING:
    from equilibrist.abstraction.buckets import Abstraction
    from equilibrist.abstraction.joint_counts import Joint
    from equilibrist.papers.psopti.transitions import Memory, Transitions


# Options of `transitions`.
CountsFolder = Annotated[
    Path | None, typer.Argument(help="Folder of its joint counts (from `joint`).")
]
NetworkOut = Annotated[Path | None, typer.Option(help="Folder for P, T and w.")]
ProductOut = Annotated[
    Path | None, typer.Option(help="Folder for P·T₁·T₂ as joint counts, for `solve --joint`.")
]


@owning("out", "product")
def transitions(
    folder: Folder,
    counts: CountsFolder = None,
    flops: Flops = None,
    out: NetworkOut = None,
    product: ProductOut = None,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Compute PsOpti's transition probabilities between bucket pairs, and their error.

    Example: equilibrist transitions psopti-buckets --flops Td9d6h,AsKsQs
    """
    from equilibrist import stopping
    from equilibrist.abstraction.buckets import Abstraction
    from equilibrist.abstraction.joint_counts import KIND as COUNTS
    from equilibrist.errors import InvalidValueError
    from equilibrist.papers.psopti import transitions as library
    from equilibrist.storage.artefact import read_identity

    found, parents = Abstraction.open(folder), {"buckets": read_identity(folder).hash}
    library.check_recipe(found)
    if (counts is None) == (flops is None):
        raise InvalidValueError("give either a folder from `equilibrist joint`, or --flops")
    for target, kind in ((out, library.KIND), (product, COUNTS)):
        if target is not None:
            check_output(target, kind, resume=None)
    prepare_kernels(threads, "joint.bucket_showdowns")
    stopping.check()
    met = _joint_counts(found, folder, counts, flops or "", seed, parents)
    stopping.check()
    network = library.transitions(found, met)
    memory = library.compare(network, found, met)
    stopping.check()
    if out is not None:
        network.save(out, parents)
    if product is not None:
        _save_product(network, found, met, product, parents["buckets"])
    data, text = _report(found, met, network, memory)
    data |= {"out": None if out is None else str(out)}
    emit(data | {"product": None if product is None else str(product)}, text, as_json=json)


def _save_product(
    network: Transitions, found: Abstraction, met: Joint, folder: Path, identity: str
) -> None:
    """Save the product of a network as joint counts of the buckets with this hash."""
    from equilibrist.papers.psopti import transitions as library

    counted = replace(library.product_counts(network, found), flops=met.flops)
    counted.save(folder, {"first": identity})


def _joint_counts(
    found: Abstraction,
    folder: Path,
    counts: Path | None,
    flops: str,
    seed: int,
    parents: dict[str, str],
) -> Joint:
    """Open the counts of these buckets, whose hash joins `parents`, or count deals of flops."""
    from equilibrist.abstraction.flop_subsets import flop_counts, parse_starts
    from equilibrist.abstraction.joint_counts import Joint
    from equilibrist.errors import StorageError
    from equilibrist.storage.artefact import read_identity

    if counts is None:
        return flop_counts(found, parse_starts(found.streets, flops, seed))
    artefact = read_identity(counts)
    if artefact.parents != {"first": parents["buckets"]}:
        raise StorageError(
            f"{counts} holds counts of other buckets than those in {folder}", value=str(counts)
        )
    parents["counts"] = artefact.hash
    return Joint.open(counts)


def _report(
    found: Abstraction, met: Joint, network: Transitions, memory: Memory
) -> tuple[dict[str, Any], str]:
    """Return the size of a network and its distance from the exact counts, as JSON and as text."""
    sizes = [int(labels.max()) + 1 for labels in network.classes[0]]
    data = {
        "game": found.rules.name,
        "recipe": found.recipe,
        "classes": sizes,
        "total": int(met.total),
        "distances": list(memory.distances),
        "showdown_distance": memory.showdown,
        "flops": list(met.flops),
    }
    rows = [
        (r + 1, size, number, f"{share:.4f}")
        for r, (size, number, share) in enumerate(
            zip(sizes, found.num_buckets, memory.distances, strict=True)
        )
    ]
    header = ("round", "buckets", "sequences", "½‖P·T − J‖₁")
    text = f"{table(rows, header=header)}\nshowdowns of the last round: {memory.showdown:.4f}"
    return data, f"{found.rules.name}: {found.recipe}\n{text}"
