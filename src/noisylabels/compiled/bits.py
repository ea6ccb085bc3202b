"""A double as its 64 bits and back, for compiled code: exponents are read and set without a division."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import extending, types

intrinsic: Any = extending.intrinsic  # numba's own annotation hides that the first argument is not passed


@intrinsic
def bits(typing_context: Any, x: Any) -> Any:
    """The 64 bits of a double as an integer; keeps the order of doubles >= 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def from_bits(typing_context: Any, k: Any) -> Any:
    """The double with these 64 bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate
