"""Sixteen numbers at a time, for best responses in the real game; continues `lanes.py`."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from equilibrist.kernels.cpu.simd import repeat

SIXTEEN = 16


@intrinsic
def sixteen(context, number):
    """Sixteen times the same number."""
    return repeat(number, SIXTEEN)


@intrinsic
def larger(context, left, right):
    """The larger of two numbers, lane by lane."""

    def write(context, builder, signature, arguments):
        return builder.select(builder.fcmp_ordered(">", *arguments), *arguments)

    return left(left, right), write


@intrinsic
def convert(context, value, zero):
    """Numbers of the type of `zero`: whole ones from floats by cutting, floats from either."""

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
    """Half of even whole numbers, negative."""

    def write(context, builder, signature, arguments):
        one = ir.Constant(arguments[0].type, [1] * value.count)
        return builder.neg(builder.ashr(arguments[0], one))

    return value(value), write
