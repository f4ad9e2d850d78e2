"""Products that the compiler does not fuse with a sum that follows, as the CPU computes them."""

from __future__ import annotations

from typing import Any

from equilibrist.kernels.gpu import device

cuda = device.cuda()


def _times_on_device(one: Any, two: Any) -> Any:
    return cuda.libdevice.fmul_rn(one, two)


def _times_double_on_device(one: Any, two: Any) -> Any:
    return cuda.libdevice.dmul_rn(one, two)


def _times_simulated(one: Any, two: Any) -> Any:
    return one * two


# Products that the compiler does not fuse with a sum that follows.
times = device.part(_times_simulated if device.is_simulated() else _times_on_device)
times_double = device.part(_times_simulated if device.is_simulated() else _times_double_on_device)
