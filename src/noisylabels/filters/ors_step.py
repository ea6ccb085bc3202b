"""The step of ORS: one formula, written as vectors into the compiled loops, for one filter or eight of them.

A plain loop over the eight filters, or over the four of a block, keeps its sums in memory: 0.5 of this speed
at d = 20 and 0.7 on windows of 128 taps (benchmarks/filters.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types

from noisylabels.fixed_order import INT64, LANES, Emit, intrinsic


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


class Rule(NamedTuple):
    """What one filter puts into the step; as rows of an array (12, filters) in the compiled loops.

    The label is label_clean y_t + label_one (label 1) + label_mean (mean of labels 1 and 2), with two
    weights 0 and one weight 1; ybar_t likewise.  vbar_t = v v_t + e e_t^2 + spread (label 1 - label 2)^2 / 4.
    delta weighs (ybar_t - yhat_t)^2: it is 1/4 where ybar_t lies half way between label and prediction.
    """

    label_clean: Any = 0.0
    label_one: Any = 0.0
    label_mean: Any = 0.0
    ybar_clean: Any = 0.0
    ybar_one: Any = 0.0
    ybar_mean: Any = 0.0
    delta: Any = 1.0
    v: Any = 0.0
    e: Any = 0.0
    spread: Any = 0.0
    r: Any = 0.0
    beta: Any = 0.0


class Seen(NamedTuple):
    """What a round shows: y_t, label 1, mean of labels 1 and 2, v_t, (label 1 - label 2)^2 / 4, X_t."""

    clean: Any
    one: Any
    mean: Any
    v: Any
    spread: Any
    energy: Any


CLEAN, ONE, MEAN, VARIANCE, SPREAD, ENERGY = range(6)
"""Columns of the array ``seen``, (n, 6), in the order of `Seen`."""


def coefficient(rule: Rule, seen: Seen, yhat: Any) -> Any:
    """c_t of w_t = w_{t-1} + c_t x_t:  c = g e / (r (1 + beta v) + X),  g = delta^2 / (delta^2 + vbar).

    Nothing is divided by alpha or delta: 0/0 in g is 1, and a step with r = X = 0 is skipped.
    """
    e = rule.label_clean * seen.clean + rule.label_one * seen.one + rule.label_mean * seen.mean - yhat
    delta = rule.ybar_clean * seen.clean + rule.ybar_one * seen.one + rule.ybar_mean * seen.mean - yhat
    square = rule.delta * delta * delta
    vbar = rule.v * seen.v + rule.e * e * e + rule.spread * seen.spread
    size = rule.r * (rule.beta * seen.v + 1.0) + seen.energy
    return square.over(square + vbar, 1.0) * e * size.inverse(0.0)


@intrinsic
def step_one(typingctx, rules, f, seen, energy, yhat):  # type: ignore[no-untyped-def]
    """c_t of filter f; rules (12, F), seen (6,), X_t = energy instead of that in seen."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        emit = Emit(context, builder)
        data, row = emit.data(signature.args[0], args[0]), emit.data(signature.args[2], args[2])
        filters = emit.columns(signature.args[0], args[0])
        rule = [emit.number(data, builder.mul(filters, INT64(i)), args[1]) for i in range(len(Rule._fields))]
        shown = [emit.number(row, i) for i in range(ENERGY)] + [args[3]]
        wrap = [Value(builder, value) for value in (*rule, *shown, args[4])]
        return coefficient(Rule(*wrap[:12]), Seen(*wrap[12:18]), wrap[18]).value

    return types.float64(rules, types.int64, seen, types.float64, types.float64), codegen


@intrinsic
def step_lanes(typingctx, rules, seen, yhat, c, loss):  # type: ignore[no-untyped-def]
    """c_t of eight filters and loss += (yhat_t - y_t)^2; rules (12, 8), seen (6,), yhat, c and loss (8,)."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        emit = Emit(context, builder)
        rules, row, yhat, c, loss = (emit.data(t, v) for t, v in zip(signature.args, args, strict=True))
        rule = Rule(*(Value(builder, emit.load(rules, LANES * i)) for i in range(len(Rule._fields))))
        seen = Seen(*(Value(builder, emit.one(row, i)) for i in range(len(Seen._fields))))
        prediction = Value(builder, emit.load(yhat))
        error = prediction - seen.clean
        emit.store(coefficient(rule, seen, prediction).value, c)
        emit.store((Value(builder, emit.load(loss)) + error * error).value, loss)

    return types.void(rules, seen, yhat, c, loss), codegen


@intrinsic(prefer_literal=True)
def step_block(typingctx, F, rules, seen, G, sums, p, c):  # type: ignore[no-untyped-def]
    """p[i] = yhat_{t+i} and c[i] = c_{t+i}, i = 0..15, of F <= 4 filters; F is a number in the call.

    yhat_{t+i} = sum of the eight numbers sums[i, f] + sum_{j<i} c[j] G[j, i-j], the energy is G[i, 0].
    rules (12, 8), seen (16, 6), G (16, 16), sums (16, F, 8), p and c (16, 8). All p stay in registers.
    """
    n_filters, n_rows, n_shown = F.literal_value, 2 * LANES, len(Seen._fields)

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        emit, wide = Emit(context, builder, 4), Emit(context, builder)
        rules, seen, G, sums, p, c = (emit.data(signature.args[i], args[i]) for i in range(1, 7))
        rule = Rule(*(Value(builder, emit.load(rules, LANES * i)) for i in range(len(Rule._fields))))
        yhat = []
        for i in range(n_rows):
            parts = [wide.load(sums, (i * n_filters + min(f, n_filters - 1)) * LANES) for f in range(4)]
            yhat.append(_sum_four(wide, parts))
        for i in range(n_rows):
            shown = [Value(builder, emit.one(seen, i * n_shown + k)) for k in range(ENERGY)]
            energy = Value(builder, emit.one(G, i * n_rows)).positive()
            step = coefficient(rule, Seen(*(*shown, energy)), Value(builder, yhat[i])).value
            emit.store(yhat[i], p, i * LANES)
            emit.store(step, c, i * LANES)
            for j in range(i + 1, n_rows):
                yhat[j] = emit.fma(step, emit.one(G, i * n_rows + j - i), yhat[j])

    return types.void(F, rules, seen, G, sums, p, c), codegen


def _sum_four(emit: Emit, vectors: list[Any]) -> Any:
    """The sums of four vectors of 8 as one vector of 4: neighbours, then pairs, then halves."""
    add, pick = emit.builder.fadd, emit.pick
    a, b = (
        add(pick(x, y, [0, 8, 2, 10, 4, 12, 6, 14]), pick(x, y, [1, 9, 3, 11, 5, 13, 7, 15]))
        for x, y in (vectors[:2], vectors[2:])
    )
    a = add(pick(a, b, [0, 1, 8, 9, 4, 5, 12, 13]), pick(a, b, [2, 3, 10, 11, 6, 7, 14, 15]))
    return add(pick(a, a, [0, 1, 2, 3]), pick(a, a, [4, 5, 6, 7]))
