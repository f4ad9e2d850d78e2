"""Clusters of hands in the plane of roll-out strength and positive potential.

"Clusters in the resulting scattergram suggest reasonable groups of hands to be treated similarly"
(Billings et al. 2003). The plane is divided into small cells, the cells that contain hands become
weighted points, and any rule may cluster these; both axes are in standard deviations.
"""

from __future__ import annotations

from collections.abc import Callable

import numba
import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.clustering import cluster
from equilibrist.abstraction.features import Ints, Strengths
from equilibrist.abstraction.potential import Potential
from equilibrist.errors import InvalidValueError

Floats = NDArray[np.float64]
Cluster = Callable[[Floats, Floats, int], NDArray[np.int64]]  # points [M, 2], weights [M], number

_CELLS = 128  # number of cells along each axis


def k_means(points: Floats, weights: Floats, number: int) -> NDArray[np.int64]:
    """Cluster different points by least squared distance and return their labels: [M].

    Example:
        >>> labels = k_means(np.array([[0.0, 0.0], [0.0, 1.0], [9.0, 0.0]]), np.ones(3), 2)
        >>> bool(labels[0] == labels[1] != labels[2])
        True
    """
    if number > len(points):
        raise InvalidValueError(
            f"{len(points)} different points cannot be divided into {number} clusters",
            value=number,
        )
    return cluster(points, weights, number).labels.astype(np.int64)


def cluster_hands(
    strengths: Strengths, potential: Potential, counted: Ints, number: int, rule: Cluster
) -> Ints:
    """Cluster all hands on the boards of a round, in order of increasing mean strength: [B, H].

    Hands whose `counted` [B, H] is not negative define the clusters; the others are assigned to the
    nearest. The labels of blocked hands are arbitrary.
    """
    from scipy.spatial import KDTree

    from equilibrist.kernels.cpu import rollout

    r = potential.r
    scale = np.float32(_CELLS / (strengths.scales[r] + 1))
    columns = np.floor(strengths.tables[r].astype(np.float32) * scale).astype(np.int16)
    rows = np.minimum(potential.positive() * _CELLS, _CELLS - 1).astype(np.int16)
    out = np.zeros((numba.get_num_threads(), _CELLS, _CELLS), np.int64)
    weights = strengths.streets[r].multiplicity
    rollout.tally(rows, np.where(counted >= 0, columns, -1), weights, out)
    load = out.sum(axis=0).ravel().astype(np.float64)
    met = np.flatnonzero(load)
    load = load[met]
    cells = np.stack(np.divmod(np.arange(_CELLS**2), _CELLS), axis=1).astype(np.float64)
    cells -= np.average(cells[met], axis=0, weights=load)
    cells /= np.maximum(np.sqrt(np.average(cells[met] ** 2, axis=0, weights=load)), 1e-9)
    labels = rule(cells[met], load, number)
    mean = np.bincount(labels, load * cells[met, 0], number) / np.bincount(labels, load, number)
    rank = np.argsort(np.argsort(mean))[labels]
    nearest = KDTree(cells[met]).query(cells)[1]
    return rank[nearest].reshape(_CELLS, _CELLS)[columns, rows]
