"""a b + c rounded once, also where the processor has no instruction for it: the same bits everywhere."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types

from noisylabels.compiled.bits import intrinsic


@intrinsic
def fma(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    """a b + c, rounded once.

    For compiled code only, where loops over it become vectors.
    Left to the compiler ("contract"), a product and a sum are fused or not by what the processor can do.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        operation = builder.module.declare_intrinsic(
            "llvm.fma", [ir.DoubleType()], ir.FunctionType(ir.DoubleType(), [ir.DoubleType()] * 3)
        )
        return builder.call(operation, arguments)

    return types.float64(types.float64, types.float64, types.float64), generate
