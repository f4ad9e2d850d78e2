"""Arrays on the GPU that stand where NumPy arrays are expected, until somebody reads them.

Downloading takes seconds per gigabyte, so the state of a run stays on the GPU between checkpoints.
A `Resident` knows the form of the array that it stands for, computes its least and largest number
on the GPU, and becomes a NumPy array, in the layout of `kernels/cpu`, when NumPy asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Resident:
    """Array on the GPU.

    Example:
        >>> zeros = np.zeros((2, 3), np.float32)
        >>> array = Resident(None, (2, 3), zeros.dtype, lambda: zeros, lambda: (0.0, 0.0))
        >>> np.asarray(array).tolist() == zeros.tolist(), array.nbytes, array.min()
        (True, 24, 0.0)
    """

    owner: Any  # the tables that hold it
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fetch: Callable[[], NDArray[Any]]  # downloads it, in the layout of the CPU
    extremes: Callable[[], tuple[float, float]]  # least and largest number; NaN if any is NaN
    # Downloads the numbers from one place to another, if that is quicker than all of them.
    fetch_part: Callable[[int, int], NDArray[Any]] | None = None

    @property
    def size(self) -> int:
        """Number of numbers."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        """Bytes of the array that it stands for."""
        return self.size * self.dtype.itemsize

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def min(self) -> float:
        """Return the least number, NaN if any is NaN."""
        return self.extremes()[0]

    def max(self) -> float:
        """Return the largest number, NaN if any is NaN."""
        return self.extremes()[1]

    def copy(self) -> NDArray[Any]:
        """Return a copy in the memory of the CPU."""
        return np.array(self.fetch())

    def __getitem__(self, index: Any) -> NDArray[Any]:
        """Return part of the array, downloading what is needed."""
        if self.fetch_part is not None and isinstance(index, slice) and index.step is None:
            begin, end, _ = index.indices(len(self))
            return self.fetch_part(begin, end)
        return self.fetch()[index]

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        found = self.fetch()
        return found if dtype is None else found.astype(dtype, copy=False)
