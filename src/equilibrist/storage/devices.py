"""The names of devices, where commands can check them without loading NumPy or Numba."""

from __future__ import annotations

from typing import Final

DEVICES: Final = ("auto", "cpu", "gpu")
