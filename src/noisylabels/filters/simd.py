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
_DOUBLE = ir.DoubleType()
_VECTOR = ir.VectorType(_DOUBLE, LANES)


class Emit:
    """Short names for the few instructions used below."""

    def __init__(self, context: Any, builder: Any) -> None:
        self.context, self.builder = context, builder
        kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
        self._fma = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{LANES}f64")

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
        """data[offset]."""
        return self.builder.load(self.offset(data, *offsets))

    def one(self, data: Any, *offsets: Any) -> Any:
        """data[offset], repeated in all lanes."""
        value = self.number(data, *offsets)
        vector = self.builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), value, ir.IntType(32)(0))
        mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return self.builder.shuffle_vector(vector, ir.Constant(_VECTOR, ir.Undefined), mask)

    def load(self, data: Any, *offsets: Any) -> Any:
        """data[offset : offset+8]."""
        return self.builder.load(self._vector_at(data, *offsets), align=8)

    def store(self, vector: Any, data: Any, *offsets: Any) -> None:
        """data[offset : offset+8] = vector."""
        self.builder.store(vector, self._vector_at(data, *offsets), align=8)

    def _vector_at(self, data: Any, *offsets: Any) -> Any:
        return self.builder.bitcast(self.offset(data, *offsets), _VECTOR.as_pointer())

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        """a b + c, rounded once."""
        return self.builder.call(self._fma, [a, b, c])

    def zero(self) -> Any:
        """Eight zeros."""
        return ir.Constant(_VECTOR, [0.0] * LANES)

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
        return ir.Constant(kind, [other] * LANES if isinstance(kind, ir.VectorType) else other)

    def __add__(self, other: Value | float) -> Value:
        return Value(self.builder, self.builder.fadd(self.value, self._same(other)))

    def __sub__(self, other: Value | float) -> Value:
        return Value(self.builder, self.builder.fsub(self.value, self._same(other)))

    def __mul__(self, other: Value | float) -> Value:
        return Value(self.builder, self.builder.fmul(self.value, self._same(other)))

    def inverse(self, otherwise: float) -> Value:
        """1 / self where self > 0, else `otherwise`."""
        return Value(self.builder, self._same(1.0)).over(self, otherwise)

    def over(self, other: Value, otherwise: float) -> Value:
        """self / other where other > 0, else `otherwise`."""
        positive = self.builder.fcmp_ordered(">", other.value, self._same(0.0))
        ratio = self.builder.fdiv(self.value, other.value)
        return Value(self.builder, self.builder.select(positive, ratio, self._same(otherwise)))


@intrinsic
def dot_lanes(typingctx, a, i, b, j, n):  # type: ignore[no-untyped-def]
    """sum of a[i+k] b[j+k] over k < n: 32, then 8 partial sums as far as they go, then one by one."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        emit = Emit(context, builder)
        a = emit.offset(emit.data(signature.args[0], args[0]), args[1])
        b = emit.offset(emit.data(signature.args[2], args[2]), args[3])
        n = args[4]
        sums = [emit.variable(emit.zero()) for _ in range(4)]
        wide, whole = builder.and_(n, INT64(-4 * LANES)), builder.and_(n, INT64(-LANES))
        for start, stop, totals in ((INT64(0), wide, sums), (wide, whole, sums[:1])):
            with emit.steps(start, stop, len(totals) * LANES) as k:
                for lane, total in enumerate(totals):
                    p, q = emit.load(a, k, lane * LANES), emit.load(b, k, lane * LANES)
                    builder.store(emit.fma(p, q, builder.load(total)), total)
        parts = [builder.load(total) for total in sums]
        vector = builder.fadd(builder.fadd(parts[0], parts[1]), builder.fadd(parts[2], parts[3]))
        lanes = [builder.extract_element(vector, ir.IntType(32)(lane)) for lane in range(LANES)]
        while len(lanes) > 1:
            lanes = [builder.fadd(p, q) for p, q in zip(lanes[::2], lanes[1::2], strict=True)]
        rest = emit.variable(lanes[0])
        with emit.steps(whole, n, 1) as k:
            product = builder.fmul(emit.number(a, k), emit.number(b, k))
            builder.store(builder.fadd(builder.load(rest), product), rest)
        return builder.load(rest)

    return types.float64(a, types.int64, b, types.int64, types.int64), codegen


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
def add_lanes(typingctx, w, c, x, n):  # type: ignore[no-untyped-def]
    """w[k] += c x[k], k < n, in eight lanes; w (n, 8), c (8,)."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        emit = Emit(context, builder)
        w, c, x = (emit.data(t, v) for t, v in zip(signature.args[:3], args[:3], strict=True))
        c = emit.load(c)
        with emit.steps(INT64(0), args[3], 1) as k:
            at = builder.mul(k, INT64(LANES))
            emit.store(emit.fma(c, emit.one(x, k), emit.load(w, at)), w, at)

    return types.void(w, c, x, types.int64), codegen


@intrinsic(prefer_literal=True)
def add_windows(typingctx, F, B, w, c, j, s, at, start, stop):  # type: ignore[no-untyped-def]
    """w[f, k] += sum_{i<B} c[j+i, f] s[at+j+i+k], start <= k < stop, for F filters; w (F, D), c (8, 8).

    F and B are written as numbers in the call: B rows of the window stay in registers for F filters.
    """
    n_filters, n_rows = F.literal_value, B.literal_value

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        emit = Emit(context, builder)
        weights, c = (emit.data(signature.args[i], args[i]) for i in (2, 3))
        taps = emit.columns(signature.args[2], args[2])
        j, at, start, stop = args[4], args[6], args[7], args[8]
        signal = emit.offset(emit.data(signature.args[5], args[5]), at, j)
        c = emit.offset(c, builder.mul(j, INT64(LANES)))
        c = [[emit.one(c, i * LANES + f) for i in range(n_rows)] for f in range(n_filters)]
        lines = [emit.offset(weights, builder.mul(taps, INT64(f))) for f in range(n_filters)]
        with emit.steps(start, stop, LANES) as k:
            windows = [emit.load(signal, k, i) for i in range(n_rows)]
            for f, line in enumerate(lines):
                total = emit.load(line, k)
                for i, window in enumerate(windows):
                    total = emit.fma(c[f][i], window, total)
                emit.store(total, line, k)

    int64 = types.int64
    return types.void(F, B, w, c, int64, s, int64, int64, int64), codegen


@intrinsic(prefer_literal=True)
def dot_windows(typingctx, F, B, w, sums, j, s, at, start, stop):  # type: ignore[no-untyped-def]
    """sums[f, j+i] += w[f].x_{at+j+i} over start <= k < stop, i < B, in 8 partial sums; sums (F, 8, 8)."""
    n_filters, n_rows = F.literal_value, B.literal_value

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        emit = Emit(context, builder)
        weights, sums = (emit.data(signature.args[i], args[i]) for i in (2, 3))
        taps = emit.columns(signature.args[2], args[2])
        j, at, start, stop = args[4], args[6], args[7], args[8]
        signal = emit.offset(emit.data(signature.args[5], args[5]), at, j)
        sums = emit.offset(sums, builder.mul(j, INT64(LANES)))
        cells = [(f, i) for f in range(n_filters) for i in range(n_rows)]
        totals = {cell: emit.variable(emit.load(sums, (cell[0] * LANES + cell[1]) * LANES)) for cell in cells}
        lines = [emit.offset(weights, builder.mul(taps, INT64(f))) for f in range(n_filters)]
        with emit.steps(start, stop, LANES) as k:
            windows = [emit.load(signal, k, i) for i in range(n_rows)]
            taps_now = [emit.load(line, k) for line in lines]
            for (f, i), total in totals.items():
                builder.store(emit.fma(taps_now[f], windows[i], builder.load(total)), total)
        for (f, i), total in totals.items():
            emit.store(builder.load(total), sums, (f * LANES + i) * LANES)

    int64 = types.int64
    return types.void(F, B, w, sums, int64, s, int64, int64, int64), codegen
