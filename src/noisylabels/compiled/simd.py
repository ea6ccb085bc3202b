"""Eight-lane loops for the filters, written as vectors because the compiler does not find them by itself.

Everything is a fused multiply-add on vectors of 8 doubles: one AVX-512 register, two of AVX2, four of NEON.
Width and order of the sums are fixed here: results do not depend on the machine's vectors, and no fastmath.
Each function is a compiler intrinsic: call it from compiled code only. Nothing is bounds-checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import extending, types
from numba.core import cgutils

intrinsic: Any = extending.intrinsic  # numba's own annotation hides that the first argument is not passed
LANES = 8
INT64 = ir.IntType(64)
_DOUBLE, _SINGLE = ir.DoubleType(), ir.FloatType()


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


class Value:
    """A number or a vector of the code being emitted, so that a formula can be written as one."""

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder, self.value = builder, value

    def _same(self, other: Value | float) -> Any:
        if isinstance(other, Value):
            return other.value
        kind = self.value.type
        return ir.Constant(kind, [other] * kind.count if isinstance(kind, ir.VectorType) else other)

    def __add__(self, other: Value | float) -> Value:
        return Value(self.builder, self.builder.fadd(self.value, self._same(other)))

    def __sub__(self, other: Value | float) -> Value:
        return Value(self.builder, self.builder.fsub(self.value, self._same(other)))

    def __mul__(self, other: Value | float) -> Value:
        return Value(self.builder, self.builder.fmul(self.value, self._same(other)))

    def inverse(self, otherwise: float) -> Value:
        """1 / self where self > 0, else `otherwise`."""
        return Value(self.builder, self._same(1.0)).over(self, otherwise)

    def positive(self) -> Value:
        """self where self > 0, else 0."""
        positive = self.builder.fcmp_ordered(">", self.value, self._same(0.0))
        return Value(self.builder, self.builder.select(positive, self.value, self._same(0.0)))

    def over(self, other: Value, otherwise: float) -> Value:
        """self / other where other > 0, else `otherwise`."""
        positive = self.builder.fcmp_ordered(">", other.value, self._same(0.0))
        ratio = self.builder.fdiv(self.value, other.value)
        return Value(self.builder, self.builder.select(positive, ratio, self._same(otherwise)))


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


@intrinsic
def advance_lanes(typingctx, w, c, old, new, yhat, d):  # type: ignore[no-untyped-def]
    """Eight filters at once: w[k] += c old[k], then yhat = sum_k w[k] new[k]; w (d, 8), c and yhat (8,)."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        emit = Emit(context, builder)
        w, c, old, new, yhat = (emit.data(t, v) for t, v in zip(signature.args[:5], args[:5], strict=True))
        coefficient = emit.load(c)
        sums = [emit.variable(emit.zero()) for _ in range(4)]
        d = args[5]
        fours = builder.and_(d, INT64(-4))
        for start, stop, totals in ((INT64(0), fours, sums), (fours, d, sums[:1])):
            with emit.steps(start, stop, len(totals)) as k:
                for i, total in enumerate(totals):
                    at = builder.mul(builder.add(k, INT64(i)), INT64(LANES))
                    weights = emit.fma(coefficient, emit.one(old, k, i), emit.load(w, at))
                    emit.store(weights, w, at)
                    builder.store(emit.fma(weights, emit.one(new, k, i), builder.load(total)), total)
        a, b, x, y = (builder.load(total) for total in sums)
        emit.store(builder.fadd(builder.fadd(a, b), builder.fadd(x, y)), yhat)

    return types.void(w, c, old, new, yhat, types.int64), codegen


@intrinsic
def lag_lanes(typingctx, lags, s, t, d, G):  # type: ignore[no-untyped-def]
    """G[j] = lags, then lags[i] += s[t+j+d] s[t+j+d+i] - s[t+j] s[t+j+i], j = 0..15; lags (16,), G (16, 16).

    One round takes one product out and one in: from lags[i] = x_t.x_{t+i} to the same of t+1.
    """

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        emit = Emit(context, builder)
        lags, signal, G = (emit.data(signature.args[i], args[i]) for i in (0, 1, 4))
        first = emit.offset(signal, args[2])
        last = emit.offset(first, args[3])
        totals = [emit.variable(emit.load(lags, half)) for half in (0, LANES)]
        with emit.steps(INT64(0), INT64(2 * LANES), 1) as j:
            leaves, enters = builder.fneg(emit.one(first, j)), emit.one(last, j)
            for half, total in zip((0, LANES), totals, strict=True):
                value = builder.load(total)
                emit.store(value, G, builder.mul(j, INT64(2 * LANES)), half)
                value = emit.fma(enters, emit.load(last, j, half), value)
                builder.store(emit.fma(leaves, emit.load(first, j, half), value), total)
        for half, total in zip((0, LANES), totals, strict=True):
            emit.store(builder.load(total), lags, half)

    return types.void(lags, s, types.int64, types.int64, G), codegen


def _panel(emit, literals, signature, args):  # type: ignore[no-untyped-def]
    """F, A, and the addresses of the weights, of the coefficients or sums, and of the signal at lag j."""
    n_filters, n_lags = (literal.literal_value for literal in literals)
    weights, table, signal = (emit.data(signature.args[i], args[i]) for i in (2, 3, 5))
    j, at = args[4], args[6]
    return n_filters, n_lags, weights, table, emit.offset(signal, at, j)


@contextmanager
def _vectors(emit: Emit, signal: Any, n_lags: int, start: Any, stop: Any) -> Iterator[Any]:
    """Steps of two vectors of taps: yields k and, for each of the two, the windows of lags i and i+8.

    Lag i+8 at taps k is lag i at taps k+8, so each window is loaded once and kept for one step.
    """
    kept = [emit.variable(emit.load(signal, start, i)) for i in range(n_lags)]
    with emit.steps(start, stop, 2 * LANES) as k:
        rows = [[emit.builder.load(window) for window in kept]]
        rows += [[emit.load(signal, k, i + LANES * u) for i in range(n_lags)] for u in (1, 2)]
        yield k, [rows[0] + rows[1], rows[1] + rows[2]]
        for window, value in zip(kept, rows[2], strict=True):
            emit.builder.store(value, window)


@intrinsic(prefer_literal=True)
def add_windows(typingctx, F, A, w, c, j, s, at, start, stop):  # type: ignore[no-untyped-def]
    """w_f[k] += sum_i c[i, f] s[at+i+k], start <= k < stop, over the lags i = j..j+A-1 and j+8..j+A+7.

    w (D/8, F, 8): eight taps of each filter in turn.  c (16, 8).  start and stop are multiples of 16.
    F and A are written as numbers in the call, 2 F A coefficients stay in registers.
    """

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        emit = Emit(context, builder)
        n_filters, n_lags, weights, c, signal = _panel(emit, (F, A), signature, args)
        c = emit.offset(c, builder.mul(args[4], INT64(LANES)))
        lags = [i + half for half in (0, LANES) for i in range(n_lags)]
        c = [[emit.one(c, i * LANES + f) for i in lags] for f in range(n_filters)]
        with _vectors(emit, signal, n_lags, args[7], args[8]) as (k, pairs):
            line = emit.offset(weights, builder.mul(k, INT64(n_filters)))
            for u, windows in enumerate(pairs):
                for f in range(n_filters):
                    at = LANES * (u * n_filters + f)
                    total = emit.load(line, at)
                    for coefficient, window in zip(c[f], windows, strict=True):
                        total = emit.fma(coefficient, window, total)
                    emit.store(total, line, at)

    int64 = types.int64
    return types.void(F, A, w, c, int64, s, int64, int64, int64), codegen


@intrinsic(prefer_literal=True)
def dot_windows(typingctx, F, A, w, sums, j, s, at, start, stop):  # type: ignore[no-untyped-def]
    """sums[i, f] += w_f.x_{at+i} over start <= k < stop for the lags i of `add_windows`; sums (16, F, 8)."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        emit = Emit(context, builder)
        n_filters, n_lags, weights, sums, signal = _panel(emit, (F, A), signature, args)
        sums = emit.offset(sums, builder.mul(args[4], INT64(LANES * n_filters)))
        lags = [i + half for half in (0, LANES) for i in range(n_lags)]
        cells = {(f, n): (i * n_filters + f) * LANES for f in range(n_filters) for n, i in enumerate(lags)}
        totals = {cell: emit.variable(emit.load(sums, place)) for cell, place in cells.items()}
        with _vectors(emit, signal, n_lags, args[7], args[8]) as (k, pairs):
            line = emit.offset(weights, builder.mul(k, INT64(n_filters)))
            for u, windows in enumerate(pairs):
                taps = [emit.load(line, LANES * (u * n_filters + f)) for f in range(n_filters)]
                for (f, n), total in totals.items():
                    builder.store(emit.fma(taps[f], windows[n], builder.load(total)), total)
        for cell, place in cells.items():
            emit.store(builder.load(totals[cell]), sums, place)

    int64 = types.int64
    return types.void(F, A, w, sums, int64, s, int64, int64, int64), codegen
