"""Eight numbers at a time: the few vector instructions that Numba's compiler does not find itself.

Sums over hands that block each other go to places that only the cards tell, so no loop over hands
can be vectorised; a loop over eight leaves can, but the compiler must prove that no two places
overlap, and cannot. These functions say it in LLVM's words. An index is where eight neighbours in
an array begin; arrays are contiguous and of one type.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

LANES = 8


@intrinsic
def add_lanes(context, into, at, source, begin):
    """into[at : at + 8] += source[begin : begin + 8]."""

    def write(context, builder, signature, arguments):
        place = _place(context, builder, signature.args[0], *arguments[:2])
        added = _load(builder, _place(context, builder, signature.args[2], *arguments[2:]))
        _store(builder, builder.fadd(_load(builder, place), added), place)
        return context.get_dummy_value()

    return types.void(into, at, source, begin), write


@intrinsic
def add_rest(context, into, at, sums, total, first, second):
    """into[at :] += sums[total :] - sums[first :] - sums[second :], eight numbers of each."""
    return types.void(into, at, sums, total, first, second), _change_by_rest("fadd")


@intrinsic
def take_rest(context, into, at, sums, total, first, second):
    """into[at :] -= sums[total :] - sums[first :] - sums[second :], eight numbers of each."""
    return types.void(into, at, sums, total, first, second), _change_by_rest("fsub")


def _change_by_rest(change):
    def write(context, builder, signature, arguments):
        kind = signature.args[2]
        place = _place(context, builder, signature.args[0], *arguments[:2])
        total, first, second = (
            _load(builder, _place(context, builder, kind, arguments[2], index))
            for index in arguments[3:]
        )
        rest = builder.fsub(builder.fsub(total, first), second)
        _store(builder, getattr(builder, change)(_load(builder, place), rest), place)
        return context.get_dummy_value()

    return write


def _place(context, builder, kind, array, index):
    """Pointer to eight neighbours of an array."""
    data = context.make_array(kind)(context, builder, array).data
    lanes = ir.VectorType(context.get_data_type(kind.dtype), LANES)
    return builder.bitcast(builder.gep(data, [index]), lanes.as_pointer())


def _load(builder, place):
    return builder.load(place, align=4)


def _store(builder, value, place):
    builder.store(value, place, align=4)
