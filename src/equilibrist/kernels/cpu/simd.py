"""Vectors of eight numbers, for the loops that Numba's compiler cannot vectorise.

Some loops read and write more places than the compiler can prove apart; others add to places that
depend on the cards. These few functions give LLVM the vector instructions directly:

    total = load(plan, i, zero) * load(behaviour, j, zero)
    store(plan, k, total)

`zero` selects the width: with `spread(0.0)` eight neighbours are read, added, compared and written
at once; with `spread_half(0.0)` four; with `spread_line(0.0)` those of 64 bytes; with a plain 0.0
one. So one function serves whole blocks of eight and the remainder. Arrays are contiguous; indices
are unsigned and unchecked.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, register_model

from equilibrist.kernels.decision_rules import LARGEST, SMALLEST

LANES = 8
WIDE = 128  # number of lanes of `spread_wide`
LINE = 64  # bytes of a cache line, and of the widest register


class Lanes(types.Type):
    """Numba type of a vector of numbers."""

    def __init__(self, dtype: types.Type, count: int = LANES) -> None:
        self.dtype, self.count = dtype, count
        super().__init__(name=f"Lanes({dtype}, {count})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Lanes) -> None:
        number = manager.lookup(kind.dtype).get_value_type()
        super().__init__(manager, kind, ir.VectorType(number, kind.count))


@intrinsic
def spread(context, number):
    """Return a vector of eight copies of a number."""
    return repeat(number, LANES)


@intrinsic
def spread_half(context, number):
    """Return a vector of four copies of a number."""
    return repeat(number, LANES // 2)


@intrinsic
def spread_wide(context, number):
    """Return a vector of `WIDE` copies of a number, in several registers."""
    return repeat(number, WIDE)


@intrinsic
def spread_line(context, number):
    """Return a vector of copies of a number that fills a cache line: 16 of 32 bits, 8 of 64."""
    return repeat(number, 8 * LINE // number.bitwidth)


@intrinsic
def width_of(context, value):
    """Return the number of lanes of a value."""

    def write(context, builder, signature, arguments):
        return context.get_constant(types.uint64, value.count)

    return types.uint64(value), write


@intrinsic
def add_product(context, total, left, right):
    """Return total + left · right, rounded once where the machine can."""

    def write(context, builder, signature, arguments):
        product = builder.fmul(*arguments[1:], flags=("contract",))
        return builder.fadd(arguments[0], product, flags=("contract",))

    return total(total, left, right), write


@intrinsic
def as_wide(context, number, zero):
    """Return a number, or a vector of copies of it, as wide as `zero`."""
    is_vector = isinstance(zero, Lanes)

    def write(context, builder, signature, arguments):
        return _spread(builder, arguments[0], zero.count) if is_vector else arguments[0]

    return zero(number, zero), write


@intrinsic
def load(context, array, index, zero):
    """Load numbers from an array, starting at an index, with the width and type of `zero`."""

    def write(context, builder, signature, arguments):
        place = _place(context, builder, array, arguments[0], arguments[1], zero)
        found = builder.load(place, align=array.dtype.bitwidth // 8)
        return _as_floats(context, builder, array, found, zero)

    return zero(array, index, zero), write


@intrinsic
def load_some(context, array, index, zero, count):
    """Run `load` for the first `count` lanes only, the others are 0; None: for all lanes."""

    def write(context, builder, signature, arguments):
        place = _place(context, builder, array, arguments[0], arguments[1], zero)
        if isinstance(count, types.NoneType):
            found = builder.load(place, align=array.dtype.bitwidth // 8)
        else:
            found = _masked(context, builder, array, place, arguments[3], zero.count, None)
        return _as_floats(context, builder, array, found, zero)

    return zero(array, index, zero, count), write


@intrinsic
def store(context, array, index, value):
    """Store the numbers of `value` into an array, starting at an index; integers are truncated."""

    def write(context, builder, signature, arguments):
        place = _place(context, builder, array, arguments[0], arguments[1], value)
        numbers = _as_stored(context, builder, array, arguments[2], value)
        builder.store(numbers, place, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, index, value), write


@intrinsic
def store_some(context, array, index, value, count):
    """Run `store` for the first `count` lanes only; None: for all lanes."""

    def write(context, builder, signature, arguments):
        place = _place(context, builder, array, arguments[0], arguments[1], value)
        numbers = _as_stored(context, builder, array, arguments[2], value)
        if isinstance(count, types.NoneType):
            builder.store(numbers, place, align=array.dtype.bitwidth // 8)
        else:
            _masked(context, builder, array, place, arguments[3], value.count, numbers)
        return context.get_dummy_value()

    return types.void(array, index, value, count), write


@intrinsic
def choose(context, value, positive, otherwise):
    """Return `positive` where `value` is above 0, and `otherwise` elsewhere."""

    def write(context, builder, signature, arguments):
        zero = _constant(arguments[0], 0.0)
        return builder.select(builder.fcmp_ordered(">", arguments[0], zero), *arguments[1:])

    return positive(value, positive, otherwise), write


@intrinsic
def if_counted(context, total, counted, otherwise):
    """Return `counted` where a sum is from SMALLEST to LARGEST, and `otherwise` elsewhere."""

    def write(context, builder, signature, arguments):
        least, most = (_constant(arguments[0], number) for number in (SMALLEST, LARGEST))
        is_enough = builder.fcmp_ordered(">=", arguments[0], least)
        is_bounded = builder.fcmp_ordered("<=", arguments[0], most)
        return builder.select(builder.and_(is_enough, is_bounded), *arguments[1:])

    return counted(total, counted, otherwise), write


@intrinsic
def turn(context, source, places, into, at, width, count):
    """Transpose eight rows of eight: into[at + width j + i] = source[places[i] + j].

    With a `count`, numbers of a row from j = `count` on count as 0; None: all are read.
    """

    def write(context, builder, signature, arguments):
        origin, begins, target, first, step, most = arguments
        lanes = Lanes(source.dtype)
        rows = []
        for begin in cgutils.unpack_tuple(builder, begins):
            place = _place(context, builder, source, origin, begin, lanes)
            rows.append(_row_of(context, builder, source, place, count, most))
        for j, row in enumerate(_transposed(builder, rows)):
            index = builder.add(first, builder.mul(step, step.type(j)))
            builder.store(row, _place(context, builder, into, target, index, lanes), align=4)
        return context.get_dummy_value()

    return types.void(source, places, into, at, width, count), write


@intrinsic
def add_turned(context, source, at, width, into, places, count):
    """Transpose back and add, row by row: into[places[i] + j] += source[at + width j + i].

    With a `count`, only for j below it.
    """

    def write(context, builder, signature, arguments):
        origin, first, step, target, begins, most = arguments
        lanes, rows = Lanes(source.dtype), []
        for j in range(LANES):
            index = builder.add(first, builder.mul(step, step.type(j)))
            place = _place(context, builder, source, origin, index, lanes)
            rows.append(builder.load(place, align=4))
        columns = _transposed(builder, rows)
        for begin, column in zip(cgutils.unpack_tuple(builder, begins), columns, strict=True):
            place = _place(context, builder, into, target, begin, lanes)
            total = builder.fadd(_row_of(context, builder, into, place, count, most), column)
            if isinstance(count, types.NoneType):
                builder.store(total, place, align=4)
            else:
                _masked(context, builder, into, place, most, LANES, total)
        return context.get_dummy_value()

    return types.void(source, at, width, into, places, count), write


def _row_of(context, builder, array, place, count, most):
    """Load eight numbers, or the first of them up to a count."""
    if isinstance(count, types.NoneType):
        return builder.load(place, align=4)
    return _masked(context, builder, array, place, most, LANES, None)


def _transposed(builder, rows):
    """Transpose eight rows of eight: halves, quarters and neighbours change places."""
    for width in (4, 2, 1):
        for i in (i for i in range(LANES) if not i & width):
            low, high = rows[i], rows[i + width]
            left = [j if not j & width else LANES + j - width for j in range(LANES)]
            right = [j + width if not j & width else LANES + j for j in range(LANES)]
            rows[i] = _shuffle(builder, low, high, left)
            rows[i + width] = _shuffle(builder, low, high, right)
    return rows


def _as_floats(context, builder, array, found, zero):
    """Convert what was loaded from an array to the type of `zero`."""
    wide = context.get_value_type(zero)
    if isinstance(array.dtype, types.Integer):
        return builder.sitofp(found, wide)
    return found if found.type == wide else builder.fpext(found, wide)


def _as_stored(context, builder, array, numbers, value):
    """Convert numbers to the type of an array's numbers."""
    if not isinstance(array.dtype, types.Integer):
        return numbers
    number = context.get_data_type(array.dtype)
    is_vector = isinstance(value, Lanes)
    return builder.fptosi(numbers, ir.VectorType(number, value.count) if is_vector else number)


def _masked(context, builder, array, place, count, width, numbers):
    """Load the first `count` lanes from a place, or store those of `numbers`."""
    lanes = ir.VectorType(context.get_data_type(array.dtype), width)
    order = ir.Constant(ir.VectorType(count.type, width), list(range(width)))
    mask = builder.icmp_unsigned("<", order, _spread(builder, count, width))
    size = ir.Constant(ir.IntType(32), array.dtype.bitwidth // 8)
    letter = "i" if isinstance(array.dtype, types.Integer) else "f"
    name, nothing = f"v{width}{letter}{array.dtype.bitwidth}.p0", ir.Constant(lanes, [0] * width)
    if numbers is None:
        kind = ir.FunctionType(lanes, [place.type, size.type, mask.type, lanes])
        read = cgutils.get_or_insert_function(builder.module, kind, f"llvm.masked.load.{name}")
        return builder.call(read, [place, size, mask, nothing])
    kind = ir.FunctionType(ir.VoidType(), [lanes, place.type, size.type, mask.type])
    write = cgutils.get_or_insert_function(builder.module, kind, f"llvm.masked.store.{name}")
    return builder.call(write, [numbers, place, size, mask])


def _place(context, builder, kind, array, index, width):
    """Return a pointer to one number of an array, or to a vector as wide as `width`."""
    place = builder.gep(context.make_array(kind)(context, builder, array).data, [index])
    if not isinstance(width, Lanes):
        return place
    lanes = ir.VectorType(context.get_data_type(kind.dtype), width.count)
    return builder.bitcast(place, lanes.as_pointer())


def _constant(like, number):
    """Return a constant of a value's type, in every lane."""
    is_vector = isinstance(like.type, ir.VectorType)
    return ir.Constant(like.type, [number] * like.type.count if is_vector else number)


def repeat(number, count):
    """Return the code generator of an intrinsic that copies a number `count` times."""

    def write(context, builder, signature, arguments):
        return _spread(builder, arguments[0], count)

    return Lanes(number, count)(number), write


def _spread(builder, number, count):
    none = ir.Constant(ir.VectorType(number.type, count), ir.Undefined)
    alone = builder.insert_element(none, number, ir.Constant(ir.IntType(32), 0))
    return _shuffle(builder, alone, alone, [0] * count)


def _shuffle(builder, first, second, places):
    mask = ir.Constant(ir.VectorType(ir.IntType(32), len(places)), places)
    return builder.shuffle_vector(first, second, mask)


def _arithmetic(operation: Any, instruction: str) -> None:
    """Register an operator of vectors with Numba, lane by lane.

    An `overload` would do the same, but Numba would then compile and inline a function at every use
    of the operator, which takes longer.
    """

    @infer_global(operation)
    class OfLanes(AbstractTemplate):
        def generic(self, arguments, keywords):
            left, right = arguments if len(arguments) == 2 else (None, None)
            return (
                signature(left, left, right) if isinstance(left, Lanes) and left == right else None
            )

    @lower_builtin(operation, Lanes, Lanes)
    def write(context, builder, signature, arguments):
        kind = "f" if isinstance(signature.return_type.dtype, types.Float) else ""
        return getattr(builder, kind + instruction)(*arguments)


for _operation, _instruction in (
    (operator.add, "add"),
    (operator.sub, "sub"),
    (operator.mul, "mul"),
    (operator.truediv, "div"),
):
    _arithmetic(_operation, _instruction)
