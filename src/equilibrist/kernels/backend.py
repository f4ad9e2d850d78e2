"""Devices by name: which package of kernels plays a game, and how much memory it has.

`cpu/` and `gpu/` have modules and functions of the same names; a game carries the name of one.
"""

from __future__ import annotations

from typing import NamedTuple

from equilibrist.errors import DeviceError, InvalidValueError
from equilibrist.storage.memory import available_bytes

DEVICES = ("cpu", "gpu", "auto")
_GPU_SHARE = 0.75  # of the free memory of a GPU, for what must stay there; the rest is work space


class Backend(NamedTuple):
    """Package of kernels, and why it is not another one."""

    name: str  # cpu or gpu
    note: str = ""  # one sentence if there is no GPU and it was not demanded

    @property
    def free_bytes(self) -> int:
        """Bytes of free memory for the arrays of a game."""
        if self.name == "cpu":
            return available_bytes()
        from equilibrist.kernels.gpu import device

        return int(_GPU_SHARE * device.free_bytes())


def choose_backend(name: str) -> Backend:
    """Return the backend of a device: cpu, gpu, or auto, the GPU if there is one.

    Raises `DeviceError` if there is no GPU and `gpu` is demanded.

    Example:
        >>> choose_backend("cpu")
        Backend(name='cpu', note='')
    """
    if name not in DEVICES:
        raise InvalidValueError(f"device must be cpu, gpu or auto, not {name!r}", value=name)
    if name == "cpu":
        return Backend("cpu")
    from equilibrist.kernels.gpu import device

    try:
        device.cuda()
        if not device.is_simulated():
            device.cupy()
    except DeviceError as error:
        if name == "gpu":
            raise
        return Backend("cpu", f"{error}: the CPU is used")
    return Backend("gpu")
