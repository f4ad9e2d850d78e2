"""What memory this machine has, and sizes for people."""

from __future__ import annotations

import os


def gigabytes(number: float) -> str:
    """Bytes for people.

    Example:
        >>> gigabytes(3 * 2**30), gigabytes(5 * 2**20)
        ('3.0 GiB', '5.0 MiB')
    """
    return f"{number / 2**30:,.1f} GiB" if number >= 2**30 else f"{number / 2**20:,.1f} MiB"


def available_bytes() -> int:
    """Memory that is free now, or all there is where the system does not say."""
    try:
        with open("/proc/meminfo") as file:
            for line in file:
                if line.startswith("MemAvailable"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
