"""Grids of threads: the states of a round along x, and its entries or rows along y."""

from __future__ import annotations

from typing import Any

from equilibrist.kernels.gpu.device import is_simulated

_BLOCK = 128  # threads of a block
_MOST_BLOCKS = 65_535  # along y


def launch(kernel: Any, states: int, rows: int, *arguments: Any) -> None:
    """Run a kernel with a thread per state, in `rows` rows of blocks.

    The kernel strides over rows by `gridDim.y`, since there may be more rows than blocks; the
    simulator, which starts a thread of Python for each thread, has one row of blocks.
    """
    if states == 0 or rows == 0:
        return
    block = min(_BLOCK, states) if is_simulated() else _BLOCK
    grid = (-(-states // block), 1 if is_simulated() else min(rows, _MOST_BLOCKS))
    kernel[grid, block](*arguments)
