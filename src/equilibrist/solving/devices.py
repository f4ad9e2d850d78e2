"""Where to compute: on the CPU, or on a GPU if there is one and the work fits into its memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from equilibrist.errors import DeviceError, InvalidValueError
from equilibrist.kernels.gpu import device
from equilibrist.solving.solver import RunsOnGpu, Solver
from equilibrist.storage.devices import DEVICES

_ROOM = 0.75  # share of a GPU's free memory for the arrays of a run


class Chosen(NamedTuple):
    """The device that is used, and why `auto` did not choose the GPU."""

    name: str  # cpu or gpu
    why: str = ""

    @property
    def text(self) -> str:
        """Return where the work is done, in one line."""
        if self.name == "gpu":
            return f"computing on {device.device_name()}"
        return f"computing on the CPU: {self.why}" if self.why else "computing on the CPU"


def choose_device(wanted: str, check: Callable[[], None]) -> Chosen:
    """Return the device for some work: the one that is wanted, or the GPU if `auto` can use it.

    `check` raises an error if the work cannot be done on a GPU, or if its memory is too small.

    Example:
        >>> choose_device("cpu", lambda: None)
        Chosen(name='cpu', why='')
    """
    check_device(wanted)
    if wanted == "cpu":
        return Chosen("cpu")
    try:
        device.cuda()
        if not device.is_simulated():
            device.cupy()
        check()
    except DeviceError as error:
        if wanted == "gpu":
            raise DeviceError(f"{error}; or use the device cpu", value=error.value) from None
        return Chosen("cpu", str(error))
    except InvalidValueError as error:
        if wanted == "gpu":
            raise
        return Chosen("cpu", str(error))
    return Chosen("gpu")


def gpu_room() -> int:
    """Return the bytes of a GPU's free memory for the arrays of a run; the rest is work space."""
    return int(_ROOM * device.free_bytes())


def check_runs_on_gpu(solver: Solver) -> None:
    """Raise `InvalidValueError` if a method computes on the CPU only."""
    if not (isinstance(solver, RunsOnGpu) and solver.runs_on_gpu):
        raise InvalidValueError(
            f"{solver.name} computes on the CPU only; variants of cfr, and egt, use a GPU too",
            value=solver.name,
        )


def check_device(wanted: str) -> None:
    """Raise `InvalidValueError` if a device has another name than auto, cpu or gpu."""
    if wanted not in DEVICES:
        raise InvalidValueError(
            f"the device must be {', '.join(DEVICES[:-1])} or {DEVICES[-1]}, not {wanted!r}",
            value=wanted,
        )
