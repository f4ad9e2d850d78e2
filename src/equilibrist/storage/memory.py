"""The memory of this machine, and sizes as text."""

from __future__ import annotations

import os

from equilibrist.errors import InvalidValueError


def gigabytes(number: float) -> str:
    """Return a number of bytes as text in GiB or MiB.

    Example:
        >>> gigabytes(3 * 2**30), gigabytes(5 * 2**20)
        ('3.0 GiB', '5.0 MiB')
    """
    return f"{number / 2**30:,.1f} GiB" if number >= 2**30 else f"{number / 2**20:,.1f} MiB"


def check_fits(what: str, needed: int, available: int, advice: str) -> None:
    """Raise `InvalidValueError`, with advice, if more bytes are needed than available.

    Example:
        >>> check_fits("the table needs", 2**31, 2**30, "take fewer cards")
        Traceback (most recent call last):
        equilibrist.errors.InvalidValueError: the table needs 2.0 GiB and 1.0 GiB are free; take ...
    """
    if needed > available:
        raise InvalidValueError(
            f"{what} {gigabytes(needed)} and {gigabytes(available)} are free; {advice}",
            value=needed,
        )


def available_bytes() -> int:
    """Return the bytes of available memory, or of all memory if the system does not say."""
    try:
        with open("/proc/meminfo") as file:
            for line in file:
                if line.startswith("MemAvailable"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
