"""Sums, products, exp, log and powers with the same bits on every processor: nothing is reordered or fused.

Sums run over 32 and then 8 partial sums of fused multiply-adds on vectors of 8 doubles: one AVX-512 register,
two of AVX2, four of NEON. They are written out because the compiler may not reorder a sum, and so makes no
vectors of it. exp, log, z^a and 2^y are polynomials, every step a correctly rounded operation; relative
errors 2e-16 (exp), 1e-15 (log), below 1e-12 (z^a). What is marked `intrinsic` is for compiled code only;
nothing is bounds-checked. BLAS is kept to one thread where problems are small.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import extending, types
from numba.core import cgutils
from numba.core.datamodel import models

from noisylabels.compilation import compile_kernel
from noisylabels.validation import Array, Floats

P = ParamSpec("P")
T = TypeVar("T")
intrinsic: Any = extending.intrinsic  # numba's own annotation hides that the first argument is not passed
LANES = 8
INT64, _DOUBLE = ir.IntType(64), ir.DoubleType()
_REGISTER = ir.VectorType(_DOUBLE, LANES)


class _Vector(types.Type):
    """Numba's type of eight doubles in a register; see `load`, `store`, `splat`, `fold`, `fma`, + - *."""


VECTOR = _Vector("Vector")


@extending.register_model(_Vector)
class _Register(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _REGISTER)  # type: ignore[no-untyped-call]


def _place(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Address of eight elements of an array, by the first two arguments."""
    data = context.make_array(signature.args[0])(context, builder, value=arguments[0]).data
    kind = ir.VectorType(data.type.pointee, LANES)
    return builder.bitcast(builder.gep(data, [arguments[1]]), kind.as_pointer())


@intrinsic
def load(typing_context: Any, a: Any, i: Any) -> Any:
    """The vector a[i : i+8] of a contiguous array, flat; single precision is made double."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = builder.load(_place(context, builder, signature, arguments), align=a.dtype.bitwidth // 8)
        return vector if a.dtype == types.float64 else builder.fpext(vector, _REGISTER)

    return VECTOR(a, types.int64), generate


@intrinsic
def store(typing_context: Any, a: Any, i: Any, vector: Any) -> Any:
    """a[i : i+8] = vector for a contiguous array of doubles, flat."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _place(context, builder, signature, arguments), align=8)
        return context.get_dummy_value()

    return types.void(a, types.int64, VECTOR), generate


def _repeated(builder: Any, number: Any) -> Any:
    undefined, lane = ir.Constant(_REGISTER, ir.Undefined), ir.IntType(32)
    first = builder.insert_element(undefined, number, lane(0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(lane, LANES), [0] * LANES))


@intrinsic
def splat(typing_context: Any, x: Any) -> Any:
    """The vector of eight times x."""
    return VECTOR(types.float64), lambda _, builder, __, arguments: _repeated(builder, arguments[0])


@intrinsic
def spread(typing_context: Any, a: Any, i: Any) -> Any:
    """The vector of eight times a[i], i >= 0, of a contiguous array of doubles, flat."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, value=arguments[0]).data
        return _repeated(builder, builder.load(builder.gep(data, [arguments[1]])))

    return VECTOR(a, types.int64), generate


@intrinsic
def fold(typing_context: Any, vector: Any) -> Any:
    """((p_0 + p_1) + (p_2 + p_3)) + ((p_4 + p_5) + (p_6 + p_7))."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        parts = [builder.extract_element(arguments[0], ir.IntType(32)(lane)) for lane in range(LANES)]
        while len(parts) > 1:
            parts = [builder.fadd(p, q) for p, q in zip(parts[::2], parts[1::2], strict=True)]
        return parts[0]

    return types.float64(VECTOR), generate


@intrinsic
def bits(typing_context: Any, x: Any) -> Any:
    """The 64 bits of a double as an integer; keeps the order of doubles >= 0."""
    return types.int64(types.float64), lambda _, builder, __, arguments: builder.bitcast(arguments[0], INT64)


@intrinsic
def from_bits(typing_context: Any, k: Any) -> Any:
    """The double with these 64 bits."""
    return types.float64(types.int64), lambda _, builder, __, words: builder.bitcast(words[0], _DOUBLE)


@intrinsic
def fma(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    """a b + c, rounded once, of numbers or vectors; loops over it become vectors.

    Left to the compiler ("contract"), a product and a sum are fused or not by what the processor can do.
    """
    kind, register, name = (VECTOR, _REGISTER, "v8f64") if a == VECTOR else (types.float64, _DOUBLE, "f64")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        of_three = ir.FunctionType(register, [register] * 3)
        function = cgutils.get_or_insert_function(builder.module, of_three, f"llvm.fma.{name}")
        return builder.call(function, arguments)

    return kind(kind, kind, kind), generate


@intrinsic
def ratio(typing_context: Any, a: Any, b: Any, otherwise: Any) -> Any:
    """a / b where b > 0, else `otherwise`; of numbers or vectors."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a, b, otherwise = arguments
        positive = builder.fcmp_ordered(">", b, ir.Constant(b.type, None))
        return builder.select(positive, builder.fdiv(a, b), otherwise)

    return a(a, a, a), generate


def _arithmetic(operation: Any, instruction: str) -> None:
    @intrinsic
    def emit(typing_context: Any, a: Any, b: Any) -> Any:
        return VECTOR(VECTOR, VECTOR), lambda _, builder, __, both: getattr(builder, instruction)(*both)

    @extending.overload(operation)
    def overloaded(a, b):  # type: ignore[no-untyped-def]
        return (lambda a, b: emit(a, b)) if a == VECTOR and b == VECTOR else None


for _operation, _instruction in (operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul"):
    _arithmetic(_operation, _instruction)


@compile_kernel(error_model="numpy", forceinline=True)
def dot_lanes(a: Array, i: int, b: Array, j: int, n: int) -> float:
    """sum of a[i+k] b[j+k] over k < n; single precision is made double first.

    32, then 8 partial sums as far as they go, then one by one.
    """
    t0 = t1 = t2 = t3 = splat(0.0)
    wide, whole = n & -32, n & -8
    for k in range(0, wide, 32):
        t0 = fma(load(a, i + k), load(b, j + k), t0)
        t1 = fma(load(a, i + k + 8), load(b, j + k + 8), t1)
        t2 = fma(load(a, i + k + 16), load(b, j + k + 16), t2)
        t3 = fma(load(a, i + k + 24), load(b, j + k + 24), t3)
    for k in range(wide, whole, 8):
        t0 = fma(load(a, i + k), load(b, j + k), t0)
    total = fold((t0 + t1) + (t2 + t3))
    for k in range(whole, n):
        total += np.float64(a[i + k]) * np.float64(b[j + k])
    return total


@compile_kernel(error_model="numpy", forceinline=True)
def sum_lanes(a: Floats, i: int, n: int) -> float:
    """sum of a[i+k] over k < n, in the order of `dot_lanes`."""
    t0 = t1 = t2 = t3 = splat(0.0)
    wide, whole = n & -32, n & -8
    for k in range(i, i + wide, 32):
        t0, t1, t2, t3 = t0 + load(a, k), t1 + load(a, k + 8), t2 + load(a, k + 16), t3 + load(a, k + 24)
    for k in range(i + wide, i + whole, 8):
        t0 = t0 + load(a, k)
    total = fold((t0 + t1) + (t2 + t3))
    for k in range(i + whole, i + n):
        total += a[k]
    return total


@compile_kernel(error_model="numpy", forceinline=True)
def dot_two_rows(A: Floats, i: int, x: Floats) -> tuple[float, float]:
    """A_i.x and A_{i+1}.x for A (m, n), x (n,): 16, then 8 partial sums each, then one by one."""
    n = len(x)
    a0 = a1 = b0 = b1 = splat(0.0)
    wide, whole, a, b = n & -16, n & -8, i * n, (i + 1) * n
    for k in range(0, wide, 16):
        u, v = load(x, k), load(x, k + 8)
        a0, a1 = fma(load(A, a + k), u, a0), fma(load(A, a + k + 8), v, a1)
        b0, b1 = fma(load(A, b + k), u, b0), fma(load(A, b + k + 8), v, b1)
    for k in range(wide, whole, 8):
        a0, b0 = fma(load(A, a + k), load(x, k), a0), fma(load(A, b + k), load(x, k), b0)
    p, q = fold(a0 + a1), fold(b0 + b1)
    for k in range(whole, n):
        p += A[i, k] * x[k]
        q += A[i + 1, k] * x[k]
    return p, q


@compile_kernel(forceinline=True)
def dot(x: Floats, at: int, w: Floats) -> float:
    """sum_k x[at+k] w[k] over the entries of w."""
    return dot_lanes(x, at, w, 0, len(w))


@compile_kernel(forceinline=True)
def energy(x: Floats, at: int, d: int) -> float:
    """sum_k x[at+k]^2 over d entries."""
    return dot_lanes(x, at, x, at, d)


@compile_kernel(forceinline=True)
def add(w: Floats, c: float, x: Floats, at: int) -> None:
    """w += c x_t, in place; x_t = x[at : at+d]."""
    row = x[at : at + len(w)]
    for k in range(len(w)):
        w[k] += c * row[k]


@compile_kernel(error_model="numpy")
def put(out: Array, values: Array) -> None:
    """out[:] = values for arrays of one length, at a tenth of the two seconds that this takes to compile."""
    for i in range(len(out)):
        out[i] = values[i]


@compile_kernel(error_model="numpy")
def times(A: Floats, x: Floats) -> Floats:
    """A x for A (m, n) with contiguous rows, in double or single precision, and x (n,): (m,)."""
    out = np.empty(len(A))
    for i in range(len(A)):
        out[i] = dot_lanes(A[i], 0, x, 0, len(x))
    return out


@compile_kernel(error_model="numpy")
def combined(c: Floats, A: Floats) -> Floats:
    """sum_i c_i A_i for c (m,) and the rows A_i of A (m, n): (n,)."""
    out = np.zeros(A.shape[1])
    for i in range(len(A)):
        weight, row = c[i], A[i]
        for j in range(len(out)):
            out[j] = fma(weight, row[j], out[j])
    return out


@compile_kernel(error_model="numpy")
def scores(ZT: Floats, theta: Floats, f: Floats) -> None:
    """Write f = theta . z for the columns z of ZT (r, n)."""
    put(f, theta[0] * ZT[0])
    for j in range(1, len(theta)):
        row, weight = ZT[j], theta[j]
        for n in range(len(f)):
            f[n] = fma(weight, row[n], f[n])


@compile_kernel(error_model="numpy")
def normal_equations(ZT: Floats, slope: Floats, curvature: Floats, hessian: Floats, gradient: Floats) -> None:
    """Write ZT diag(curvature) Z (lower half) and ZT slope; the sums have one order, on every machine."""
    r, n = ZT.shape
    weighted = np.empty(n)
    for i in range(r):
        gradient[i] = dot_lanes(slope, 0, ZT[i], 0, n)
        for m in range(n):
            weighted[m] = curvature[m] * ZT[i, m]
        whole = (i + 1) // 4 * 4
        for j in range(0, whole, 2):  # two rows at a time: fewer loads
            hessian[i, j], hessian[i, j + 1] = dot_two_rows(ZT, j, weighted)
        for j in range(whole, i + 1):
            hessian[i, j] = dot_lanes(weighted, 0, ZT[j], 0, n)


@compile_kernel(error_model="numpy")
def solve(hessian: Floats, x: Floats) -> None:
    """Cholesky in place on the lower half, x <- hessian^-1 x; a direction without curvature gets no step."""
    r = len(x)
    smallest = 0.0
    for i in range(r):
        smallest = max(smallest, hessian[i, i])
    smallest *= 1e-14
    for i in range(r):
        for j in range(i + 1):
            total = hessian[i, j]
            for k in range(j):
                total -= hessian[i, k] * hessian[j, k]
            if i == j:
                hessian[i, i] = math.sqrt(total) if total > smallest else np.inf
            else:
                hessian[i, j] = total / hessian[j, j]
        for k in range(i):
            x[i] -= hessian[i, k] * x[k]
        x[i] /= hessian[i, i]
    for i in range(r - 1, -1, -1):
        for k in range(i + 1, r):
            x[i] -= hessian[k, i] * x[k]
        x[i] /= hessian[i, i]


# Elementary functions

LARGEST = 700.0  # exp(-700) is still a normal number
_LOG2E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_LN2 = 0.6931471805599453
_SHIFTER = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to an integer, kept in the low bits
_SHIFTER_BITS = 0x4338000000000000
_SQRT_HALF_BITS = 0x3FE6A09E667F3BCD


@compile_kernel(error_model="numpy")
def exp_of_negative(x: float) -> float:
    """exp(x) for -700 <= x <= 0."""
    shifted = fma(x, _LOG2E, _SHIFTER)
    k = shifted - _SHIFTER
    z = fma(k, -_LN2_LOW, fma(k, -_LN2_HIGH, x))
    p = fma(z, fma(z, 1 / 6227020800, 1 / 479001600), 1 / 39916800)
    p = fma(z, fma(z, p, 1 / 3628800), 1 / 362880)
    p = fma(z, fma(z, p, 1 / 40320), 1 / 5040)
    p = fma(z, fma(z, p, 1 / 720), 1 / 120)
    p = fma(z, fma(z, p, 1 / 24), 1 / 6)
    p = fma(z, fma(z, fma(z, p, 0.5), 1.0), 1.0)
    return from_bits(bits(p) + (bits(shifted) << 52))


@compile_kernel(error_model="numpy")
def log_of_positive(x: float) -> float:
    """log(x) for normal x > 0."""
    k = (bits(x) - _SQRT_HALF_BITS) >> 52
    m = from_bits(bits(x) - (k << 52))
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    p = fma(z, fma(z, fma(z, 1 / 19, 1 / 17), 1 / 15), 1 / 13)
    p = fma(z, fma(z, fma(z, fma(z, p, 1 / 11), 1 / 9), 1 / 7), 1 / 5)
    exponent = from_bits(_SHIFTER_BITS + k) - _SHIFTER
    return fma(exponent, _LN2, 2.0 * s * fma(z, fma(z, p, 1 / 3), 1.0))


FLOOR = -1020.0  # 2^y is taken as 0 below: no denormal numbers


@intrinsic
def nearest(typing_context: Any, x: Any) -> Any:
    """The nearest whole number, as a float."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.call(builder.module.declare_intrinsic("llvm.nearbyint", [_DOUBLE]), arguments)

    return types.float64(types.float64), generate


@intrinsic
def wide(typing_context: Any) -> Any:
    """Allow 512-bit vectors in the calling function."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), generate


# log2 m = s g(s^2) with s = (m - 1)/(m + 1) and g(t) = 2/ln 2 (1 + t/3 + t^2/5 + ...), 1/2 <= m^2 <= 2;
# g and 2^r, |r| <= 1/2, through their Chebyshev points, lowest power first. The last digits of a computed
# interpolation would depend on the processor.
L0, L1, L2, L3 = 2.8853900817779268, 0.9617966939245807, 0.5770780172522434, 0.412198395708273
L4, L5, L6 = 0.3206169851220956, 0.26142239092850283, 0.24320128754698006
E0, E1, E2, E3 = 1.000000000000014, 0.6931471805599526, 0.24022650695631514, 0.05550410866428854
E4, E5, E6 = 0.009618129195951041, 0.001333355825801874, 0.00015403432339553542
E7, E8, E9 = 1.5252640059770786e-05, 1.3259945262689143e-06, 1.0212097549811005e-07


@compile_kernel(inline="always")
def log2(z: float) -> float:
    """log2 z for a normal number z > 0, absolute error about 1e-14; -1023 for z = 0.

    z = 2^k m; polynomials are split in halves (Estrin) to shorten the chain of dependent multiplications.
    """
    b = bits(z)
    k = (b - _SQRT_HALF_BITS) >> 52
    m = from_bits(b - (k << 52))
    s = (m - 1.0) / (m + 1.0)
    t = s * s
    t2 = t * t
    high = fma(t2, fma(t2, L6, fma(t, L5, L4)), fma(t, L3, L2))
    return fma(s, fma(t2, high, fma(t, L1, L0)), np.float64(k))


@compile_kernel(inline="always")
def exp2(y: float) -> float:
    """2^y for y < 1020, relative error about 2e-14; 0 for y <= -1020."""
    j = nearest(y)
    r = y - j
    r2 = r * r
    r4 = r2 * r2
    low = fma(r2, fma(r, E3, E2), fma(r, E1, E0))
    high = fma(r4, fma(r, E9, E8), fma(r2, fma(r, E7, E6), fma(r, E5, E4)))
    return from_bits(bits(fma(r4, high, low)) + (np.int64(j) << 52)) if y > FLOOR else 0.0


@compile_kernel(error_model="numpy")
def power_inplace(z: Floats, a: Floats) -> None:
    """z_i <- z_i^(a_i) for 0 <= z_i <= 1 and a_i >= 1; z, a: (n,). Relative error below 1e-12 for a <= 100.

    Two passes: each has a short chain of dependent operations, so the processor overlaps several vectors.
    """
    wide()
    for i in range(z.shape[0]):
        z[i] = a[i] * log2(z[i])
    for i in range(z.shape[0]):
        z[i] = exp2(z[i])


@compile_kernel(error_model="numpy")
def exp2_inplace(y: Floats) -> None:
    """y_i <- 2^(y_i), y_i < 1020; y: (n,)."""
    wide()
    for i in range(y.shape[0]):
        y[i] = exp2(y[i])


@compile_kernel(error_model="numpy")
def power(z: float, a: float) -> float:
    """z^a of one number z > 0, by the same polynomials."""
    return exp2(a * log2(z))


def lanes(n: int) -> int:
    """n rounded up to whole vectors of 8: the width of a scratch row that needs no leftover loop."""
    return -(-n // 8) * 8


# Threads of BLAS

SMALL = 1000  # rows; one thread is faster up to 800, more were not measured: benchmarks/README.md


@cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def single_threaded_if_small(solve: Callable[P, T]) -> Callable[P, T]:
    """``solve`` with BLAS on one thread, if its first argument, or the Q of it, has fewer than 1000 rows.

    Where there is one thread already nothing is set: calls that overlap leave no limit behind.
    """

    @wraps(solve)
    def limited(*args: P.args, **kwargs: P.kwargs) -> T:
        small = len(getattr(args[0], "Q", args[0])) < SMALL  # type: ignore[arg-type]
        several = small and any(library.num_threads > 1 for library in _blas().lib_controllers)
        with _blas().limit(limits=1) if several else nullcontext():
            return solve(*args, **kwargs)

    return limited
