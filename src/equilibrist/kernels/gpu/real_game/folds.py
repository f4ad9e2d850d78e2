"""The value of all betting of a round, found backwards from its ends."""

from __future__ import annotations

from typing import Any

from equilibrist.kernels.gpu import device
from equilibrist.kernels.gpu.real_game.products import times, times_double


def _fold_with(product: Any) -> Any:
    """Return `fold` of the CPU for single numbers; `product` multiplies."""

    @device.part
    def fold(ends, spent, bet, is_last, raises, is_first, zero):
        passed, there = ends[0], ends[1]
        if is_last:
            passed = product(passed, spent)
        if is_first:
            there = there + ends[2 * (raises + 1) + 1]
        for _ in range(raises):
            spent = spent + bet
        faced, given = 0, raises
        if is_first == (raises % 2 == 1):
            faced, given = raises, 0
        worth, other, above = zero, zero, zero
        for back in range(raises):
            k = raises - back
            mine, theirs = 2 * (faced + k), 2 * (given + k)
            called, met = ends[mine], ends[mine + 1]
            shown, kept = ends[theirs], ends[theirs + 1]
            before = there if k == 1 else ends[theirs - 1]
            if is_last:
                called, shown = product(called, spent), product(shown, spent)
            spent = spent - bet
            best = max(called, -product(spent, met))
            if back > 0:
                best = max(best, worth)
            worth = shown + other + product(spent, before - kept - above)
            other, above = best, met
            faced, given = given, faced
        if is_first:
            return max(passed + other, worth)
        return max(passed, worth) + other

    return fold


fold = _fold_with(times)
fold_double = _fold_with(times_double)
