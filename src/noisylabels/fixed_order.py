"""Sums and products that no compiler reorders: the same bits on every processor, and no fastmath.

Sums run over 32 and then 8 partial sums of fused multiply-adds on vectors of 8 doubles: one AVX-512 register,
two of AVX2, four of NEON. They are written out because the compiler may not reorder a sum, and so makes no
vectors of it. What is marked `intrinsic` is for compiled code only; nothing is bounds-checked.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import extending, njit, types
from numba.core import cgutils

from noisylabels.validation import Array, Floats

intrinsic: Any = extending.intrinsic  # numba's own annotation hides that the first argument is not passed
LANES = 8
INT64 = ir.IntType(64)
_DOUBLE, _SINGLE = ir.DoubleType(), ir.FloatType()


@intrinsic
def bits(typing_context: Any, x: Any) -> Any:
    """The 64 bits of a double as an integer; keeps the order of doubles >= 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], INT64)

    return types.int64(types.float64), generate


@intrinsic
def from_bits(typing_context: Any, k: Any) -> Any:
    """The double with these 64 bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


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


class Emit:
    """Short names for the few instructions used below."""

    def __init__(self, context: Any, builder: Any, lanes: int = LANES) -> None:
        self.context, self.builder, self.lanes = context, builder, lanes
        self.vector = ir.VectorType(_DOUBLE, lanes)
        kind = ir.FunctionType(self.vector, [self.vector] * 3)
        self._fma = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{lanes}f64")

    def data(self, array_type: Any, array: Any) -> Any:
        """Address of the first element."""
        return self.context.make_array(array_type)(self.context, self.builder, value=array).data

    def offset(self, data: Any, *offsets: Any) -> Any:
        """Address of data[offset]; several offsets are added up."""
        for offset in offsets:
            offset = INT64(offset) if isinstance(offset, int) else offset
            data = self.builder.gep(data, [offset])
        return data

    def columns(self, array_type: Any, array: Any) -> Any:
        """shape[1]."""
        shape = self.context.make_array(array_type)(self.context, self.builder, value=array).shape
        return self.builder.extract_value(shape, 1)

    def number(self, data: Any, *offsets: Any) -> Any:
        """data[offset], as a double."""
        value = self.builder.load(self.offset(data, *offsets))
        return self.builder.fpext(value, _DOUBLE) if value.type == _SINGLE else value

    def one(self, data: Any, *offsets: Any) -> Any:
        """data[offset], repeated in all lanes."""
        value = self.number(data, *offsets)
        undefined = ir.Constant(self.vector, ir.Undefined)
        vector = self.builder.insert_element(undefined, value, ir.IntType(32)(0))
        return self.pick(vector, undefined, [0] * self.lanes)

    def pick(self, a: Any, b: Any, lanes: list[int]) -> Any:
        """The given lanes of a and b laid end to end."""
        kind = ir.VectorType(ir.IntType(32), len(lanes))
        return self.builder.shuffle_vector(a, b, ir.Constant(kind, lanes))

    def load(self, data: Any, *offsets: Any) -> Any:
        """data[offset : offset+lanes], as doubles."""
        kind = data.type.pointee
        vector = self.builder.load(self._vector_at(data, *offsets), align=4 if kind == _SINGLE else 8)
        return self.builder.fpext(vector, self.vector) if kind == _SINGLE else vector

    def store(self, vector: Any, data: Any, *offsets: Any) -> None:
        """data[offset : offset+lanes] = vector."""
        self.builder.store(vector, self._vector_at(data, *offsets), align=8)

    def _vector_at(self, data: Any, *offsets: Any) -> Any:
        kind = ir.VectorType(data.type.pointee, self.lanes)
        return self.builder.bitcast(self.offset(data, *offsets), kind.as_pointer())

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        """a b + c, rounded once."""
        return self.builder.call(self._fma, [a, b, c])

    def zero(self) -> Any:
        """Zeros."""
        return ir.Constant(self.vector, [0.0] * self.lanes)

    def variable(self, value: Any) -> Any:
        """A vector that a loop changes; it ends up in a register."""
        return cgutils.alloca_once_value(self.builder, value)

    @contextmanager
    def steps(self, start: Any, stop: Any, step: int) -> Iterator[Any]:
        """for k in range(start, stop, step)."""
        with cgutils.for_range_slice(self.builder, start, stop, INT64(step), INT64) as (k, _):
            yield k


def _tree(builder: Any, parts: list[Any]) -> Any:
    """((p_0 + p_1) + (p_2 + p_3)) + ..."""
    while len(parts) > 1:
        parts = [builder.fadd(p, q) for p, q in zip(parts[::2], parts[1::2], strict=True)]
    return parts[0]


def _across(builder: Any, vector: Any) -> Any:
    """The sum of the eight lanes."""
    return _tree(builder, [builder.extract_element(vector, ir.IntType(32)(lane)) for lane in range(LANES)])


def _lane_sum(emit: Emit, n: Any, plus_vector: Any, plus_number: Any) -> Any:
    """A sum over k < n: 32, then 8 partial sums as far as they go, then one by one.

    plus_vector(total, k, lane) adds the terms k+lane .. k+lane+7, plus_number(total, k) the term k.
    """
    builder = emit.builder
    sums = [emit.variable(emit.zero()) for _ in range(4)]
    wide, whole = builder.and_(n, INT64(-4 * LANES)), builder.and_(n, INT64(-LANES))
    for start, stop, totals in ((INT64(0), wide, sums), (wide, whole, sums[:1])):
        with emit.steps(start, stop, len(totals) * LANES) as k:
            for i, total in enumerate(totals):
                builder.store(plus_vector(builder.load(total), k, i * LANES), total)
    vector = _tree(builder, [builder.load(total) for total in sums])
    rest = emit.variable(_across(builder, vector))
    with emit.steps(whole, n, 1) as k:
        builder.store(plus_number(builder.load(rest), k), rest)
    return builder.load(rest)


@intrinsic
def dot_lanes(typingctx, a, i, b, j, n):  # type: ignore[no-untyped-def]
    """sum of a[i+k] b[j+k] over k < n, in the order of `_lane_sum`; single precision is made double first."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        emit = Emit(context, builder)
        a = emit.offset(emit.data(signature.args[0], args[0]), args[1])
        b = emit.offset(emit.data(signature.args[2], args[2]), args[3])

        def plus_vector(total, k, lane):  # type: ignore[no-untyped-def]
            return emit.fma(emit.load(a, k, lane), emit.load(b, k, lane), total)

        def plus_number(total, k):  # type: ignore[no-untyped-def]
            return builder.fadd(total, builder.fmul(emit.number(a, k), emit.number(b, k)))

        return _lane_sum(emit, args[4], plus_vector, plus_number)

    return types.float64(a, types.int64, b, types.int64, types.int64), codegen


@intrinsic
def dot_four_rows(typingctx, A, i, x, out):  # type: ignore[no-untyped-def]
    """out = A[i : i+4] x for A (m, n), x (n,), out (4,): 16, then 8 partial sums each, then one by one."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        emit = Emit(context, builder)
        n = emit.columns(signature.args[0], args[0])
        first = emit.offset(emit.data(signature.args[0], args[0]), builder.mul(args[1], n))
        rows = [emit.offset(first, builder.mul(n, INT64(row))) for row in range(4)]
        x, out = (emit.data(signature.args[k], args[k]) for k in (2, 3))
        sums = [[emit.variable(emit.zero()) for _ in range(2)] for _ in rows]
        wide, whole = builder.and_(n, INT64(-2 * LANES)), builder.and_(n, INT64(-LANES))
        for start, stop, count in ((INT64(0), wide, 2), (wide, whole, 1)):
            with emit.steps(start, stop, count * LANES) as k:
                for part in range(count):
                    factor = emit.load(x, k, part * LANES)
                    for row, totals in zip(rows, sums, strict=True):
                        total = builder.load(totals[part])
                        builder.store(emit.fma(emit.load(row, k, part * LANES), factor, total), totals[part])
        for number, (row, totals) in enumerate(zip(rows, sums, strict=True)):
            rest = emit.variable(_across(builder, _tree(builder, [builder.load(part) for part in totals])))
            with emit.steps(whole, n, 1) as k:
                product = builder.fmul(emit.number(row, k), emit.number(x, k))
                builder.store(builder.fadd(builder.load(rest), product), rest)
            builder.store(builder.load(rest), emit.offset(out, number))
        return context.get_dummy_value()

    return types.void(A, types.int64, x, out), codegen


@intrinsic
def sum_lanes(typingctx, a, i, n):  # type: ignore[no-untyped-def]
    """sum of a[i+k] over k < n, in the order of `_lane_sum`."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        emit = Emit(context, builder)
        a = emit.offset(emit.data(signature.args[0], args[0]), args[1])

        def plus_vector(total, k, lane):  # type: ignore[no-untyped-def]
            return builder.fadd(total, emit.load(a, k, lane))

        def plus_number(total, k):  # type: ignore[no-untyped-def]
            return builder.fadd(total, emit.number(a, k))

        return _lane_sum(emit, args[2], plus_vector, plus_number)

    return types.float64(a, types.int64, types.int64), codegen


@njit(cache=True)
def dot(x: Floats, at: int, w: Floats) -> float:
    """sum_k x[at+k] w[k] over the entries of w."""
    return dot_lanes(x, at, w, 0, len(w))


@njit(cache=True)
def energy(x: Floats, at: int, d: int) -> float:
    """sum_k x[at+k]^2 over d entries."""
    return dot_lanes(x, at, x, at, d)


@njit(cache=True)
def add(w: Floats, c: float, x: Floats, at: int) -> None:
    """w += c x_t, in place; x_t = x[at : at+d]."""
    row = x[at : at + len(w)]
    for k in range(len(w)):
        w[k] += c * row[k]


@njit(cache=True, error_model="numpy")
def put(out: Array, values: Array) -> None:
    """out[:] = values for arrays of one length, at a tenth of the two seconds that this takes to compile."""
    for i in range(len(out)):
        out[i] = values[i]


@njit(cache=True, error_model="numpy")
def times(A: Floats, x: Floats) -> Floats:
    """A x for A (m, n) with contiguous rows, in double or single precision, and x (n,): (m,)."""
    out = np.empty(len(A))
    for i in range(len(A)):
        out[i] = dot_lanes(A[i], 0, x, 0, len(x))
    return out


@njit(cache=True, error_model="numpy")
def combined(c: Floats, A: Floats) -> Floats:
    """sum_i c_i A_i for c (m,) and the rows A_i of A (m, n): (n,)."""
    out = np.zeros(A.shape[1])
    for i in range(len(A)):
        weight, row = c[i], A[i]
        for j in range(len(out)):
            out[j] = fma(weight, row[j], out[j])
    return out


@njit(cache=True, error_model="numpy")
def scores(ZT: Floats, theta: Floats, f: Floats) -> None:
    """Write f = theta . z for the columns z of ZT (r, n)."""
    put(f, theta[0] * ZT[0])
    for j in range(1, len(theta)):
        row, weight = ZT[j], theta[j]
        for n in range(len(f)):
            f[n] = fma(weight, row[n], f[n])


@njit(cache=True, error_model="numpy")
def normal_equations(ZT: Floats, slope: Floats, curvature: Floats, hessian: Floats, gradient: Floats) -> None:
    """Write ZT diag(curvature) Z (lower half) and ZT slope; the sums have one order, on every machine."""
    r, n = ZT.shape
    weighted, four = np.empty(n), np.empty(4)
    for i in range(r):
        gradient[i] = dot_lanes(slope, 0, ZT[i], 0, n)
        for m in range(n):
            weighted[m] = curvature[m] * ZT[i, m]
        whole = (i + 1) // 4 * 4
        for j in range(0, whole, 4):  # four rows at a time: fewer loads
            dot_four_rows(ZT, j, weighted, four)
            for k in range(4):
                hessian[i, j + k] = four[k]
        for j in range(whole, i + 1):
            hessian[i, j] = dot_lanes(weighted, 0, ZT[j], 0, n)


@njit(cache=True, error_model="numpy")
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
