"""Vectors of sixteen numbers, for best responses in the real game; continues `simd.py`."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from equilibrist.kernels.cpu.simd import repeat

SIXTEEN = 16


@intrinsic
def sixteen(context, number):
    """Return a vector of sixteen copies of a number."""
    return repeat(number, SIXTEEN)


@intrinsic
def larger(context, left, right):
    """Return the larger of two numbers, lane by lane."""

    def write(context, builder, signature, arguments):
        return builder.select(builder.fcmp_ordered(">", *arguments), *arguments)

    return left(left, right), write


@intrinsic
def convert(context, value, zero):
    """Convert numbers to the type of `zero`: floats to integers by truncation, either to floats."""

    def write(context, builder, signature, arguments):
        wanted = context.get_value_type(zero)
        if not isinstance(value.dtype, types.Float):
            return builder.sitofp(arguments[0], wanted)
        if not isinstance(zero.dtype, types.Float):
            return builder.fptosi(arguments[0], wanted)
        return builder.fpext(arguments[0], wanted)

    return zero(value, zero), write


@intrinsic
def minus_half(context, value):
    """Return minus half of even whole numbers."""

    def write(context, builder, signature, arguments):
        one = ir.Constant(arguments[0].type, [1] * value.count)
        return builder.neg(builder.ashr(arguments[0], one))

    return value(value), write
