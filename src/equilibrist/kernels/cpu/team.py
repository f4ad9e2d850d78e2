"""Two ways to use several cores: pieces of work that threads take, and teams of threads.

`in_pieces` calls a kernel for one range of boards, hands or chunks after the other; threads take
the next range when they have finished one, and Ctrl-C stops between two. It suits work that
consists of long independent pieces. `threaded` makes such a function of a kernel.

`together` lets a team of threads run one kernel phase by phase, for sweeps that take microseconds.
Every member calls the same function with the same arrays and its own number. The function takes
pieces of the work of a phase until there are no more (`take`), so a slow thread delays nobody, and
then waits for the other members (`meet`). A team of one takes all pieces at once and never waits:
the same function is the serial program. It must not raise or allocate, because the other members
would wait for ever. Members that wait offer their processor to other programs.

Numba's own `parallel=True` distributes equal numbers of pieces, waits without giving way, and
compiles every loop twice; see docs/decisions/0006.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, NamedTuple

import numpy as np
from numba import config, get_num_threads, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from equilibrist.kernels.parts import kernel, part

# Places in the array that members share, each in a pair of cache lines of its own.
# Pieces of this phase, waiting members, finished phases, and whether the team is given up.
_TAKEN, _WAITING, _FINISHED, _GIVEN_UP = 0, 16, 32, 48
_SHARED = 64
_ALL = 1 << 62  # more pieces than any phase has
_SPINS = 2000  # number of times that a waiting member looks before it offers its processor

_give_way = types.ExternalFunction("sched_yield", types.int32())


class Member(NamedTuple):
    """One thread of a team, as compiled functions see it."""

    shared: NDArray[np.int64]  # [64] counters of the whole team
    number: np.int64  # of this member, from 0
    size: np.int64  # number of members


_PIECES_EACH = 16  # number of ranges per thread that `in_pieces` divides work into


def in_pieces(work: Callable[..., Any], count: int, *arguments: Any, grain: int = 1) -> None:
    """Call `work(begin, end, *arguments)` on ranges that together are 0 … `count` − 1.

    Threads take ranges of at least `grain` numbers, of which there should be enough for about 0.1
    ms. Ranges must not write to the same place.
    """
    threads = max(1, min(get_num_threads(), count // grain))
    step = max(grain, -(-count // (_PIECES_EACH * threads)))
    begins = iter(range(0, count, step))

    def take_all() -> None:
        try:
            for begin in begins:
                work(begin, min(begin + step, count), *arguments)
        except BaseException:
            for _ in begins:  # the other threads find nothing left to do
                pass
            raise

    if threads == 1:
        take_all()
        return
    others: list[Future[None]] = []
    with contextlib.suppress(RuntimeError):  # "can't start new thread"
        others.extend(_helpers().submit(take_all) for _ in range(threads - 1))
    try:
        take_all()
    finally:  # nothing is left to do for those that have not begun
        begun = [other for other in others if not other.cancel()]
        wait(begun)
    for other in begun:
        other.result()


@functools.cache
def _helpers() -> ThreadPoolExecutor:
    """Return the threads that help `in_pieces`: starting some for each call takes a millisecond."""
    return ThreadPoolExecutor(max(1, config.NUMBA_NUM_THREADS - 1), "equilibrist")


def threaded(
    count: Callable[..., int], *, grain: int = 1, **options: Any
) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Decorate a function of (begin, end, *arguments): its kernel is run by `in_pieces`.

    The decorated function takes the arguments, of which `count` returns the number of pieces;
    `options` are those of `kernel`, and its attribute `kernel` is the compiled function.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., None]:
        compiled = kernel(function, **options)

        @functools.wraps(function)
        def run(*arguments: Any) -> None:
            in_pieces(compiled, count(*arguments), *arguments, grain=grain)

        run.kernel = compiled  # type: ignore[attr-defined]
        return run

    return decorate


def together(compiled: Callable[..., Any], *arguments: Any, threads: int = 1) -> None:
    """Run a kernel whose first argument is a `Member` by a team of threads, and wait for its end.

    Threads are started for each call, which takes about 0.1 ms per thread. If the system refuses
    some of them, the team is smaller.
    """
    if threads == 1:
        compiled(Member(np.zeros(_SHARED, np.int64), np.int64(0), np.int64(1)), *arguments)
        return
    members: list[Member] = []
    is_complete = threading.Event()

    def work(number: int) -> None:
        is_complete.wait()
        compiled(members[number], *arguments)

    others = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(1, threads)]
    with contextlib.suppress(RuntimeError):  # "can't start new thread"
        for thread in others:
            thread.start()
    others = [thread for thread in others if thread.ident is not None]
    shared, size = np.zeros(_SHARED, np.int64), np.int64(1 + len(others))
    members += [Member(shared, np.int64(number), size) for number in range(size)]
    is_complete.set()
    try:
        compiled(members[0], *arguments)
    except BaseException:  # Ctrl-C while the kernel is compiled: the others would wait for ever
        shared[_GIVEN_UP], shared[_TAKEN] = 1, _ALL
        raise
    for thread in others:
        thread.join()


@intrinsic
def _add(context, array, index, number):
    """Add to a number of an array at once, and return what it was before."""

    def write(context, builder, signature, arguments):
        place = _place(context, builder, array, arguments[0], arguments[1])
        return builder.atomic_rmw("add", place, arguments[2], "seq_cst")

    return types.int64(array, types.int64, types.int64), write


@intrinsic
def _read(context, array, index):
    """Return a number of an array that other threads change."""

    def write(context, builder, signature, arguments):
        place = _place(context, builder, array, arguments[0], arguments[1])
        return builder.load_atomic(place, "seq_cst", 8)

    return types.int64(array, types.int64), write


@intrinsic
def _write(context, array, index, number):
    """Write a number of an array that other threads read."""

    def write(context, builder, signature, arguments):
        place = _place(context, builder, array, arguments[0], arguments[1])
        builder.store_atomic(arguments[2], place, "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), write


def _place(context, builder, array, value, index):
    """Return a pointer to a number of an array."""
    data = context.make_array(array)(context, builder, value).data
    return builder.gep(data, [index])


@part
def take(member, begin, end, grain):
    """Return the next pieces of `begin` … `end` − 1 as (first, last + 1); equal if none are left.

    A team takes `grain` pieces at a time, a member without a team all of them.
    """
    share = grain if member.size > 1 else end - begin
    first = min(begin + _add(member.shared, _TAKEN, share), end)
    return first, min(first + share, end)


@part(forceinline=False)
def meet(member):
    """Wait until all members have come here; then the pieces of the next phase can be taken."""
    shared = member.shared
    phase = _read(shared, _FINISHED)
    if _add(shared, _WAITING, 1) == member.size - 1:
        _write(shared, _WAITING, 0)
        _write(shared, _TAKEN, 0)
        _add(shared, _FINISHED, 1)
        return
    looks = 0
    while _read(shared, _FINISHED) == phase and not _read(shared, _GIVEN_UP):
        looks += 1
        if looks > _SPINS:
            _give_way()
