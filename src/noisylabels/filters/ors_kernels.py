"""Compiled loops of ORS: its step, one filter on any rows, eight filters on shared rows, a sliding window.

The step is one formula, emitted for one filter or for eight side by side. The passes over the taps are
emitted as well: they keep up to 32 sums in registers. Plain loops over the filters keep their sums in memory:
0.5 of this speed at d = 20 and 0.7 on windows of 128 taps (benchmarks/filters.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types

from noisylabels.fixed_order import INT64, LANES, Emit, add, dot, energy, fma, intrinsic, put
from noisylabels.validation import Floats, Ints

BLOCK = 16  # rounds of one block of the sliding window
TILE = 512  # taps that stay in the fastest cache while a block passes over them
REFRESH = 4096  # rounds between two exact computations of the lag products
QUIET = 1e-3  # a fall of the energy to this share of its past calls for one, too


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


@njit(cache=True)
def look(labels: Any, t: int, seen: Floats) -> None:
    """seen[i] = what round t+i shows, but its energy, which the loops know.

    labels: y_t, label 1, label 2 and v_t, four arrays (n,).
    """
    clean, one, two, v = labels
    for i in range(min(len(seen), len(clean) - t)):
        seen[i, CLEAN], seen[i, ONE], seen[i, MEAN] = clean[t + i], one[t + i], (one[t + i] + two[t + i]) / 2
        seen[i, VARIANCE], seen[i, SPREAD] = v[t + i], (one[t + i] - two[t + i]) ** 2 / 4


@njit(cache=True)
def run_rows(x: Floats, step: int, seen: Floats, rules: Floats, w: Floats, yhat: Floats) -> None:
    """One filter, row by row: the definition."""
    for t in range(len(yhat)):
        yhat[t] = dot(x, t * step, w)
        X = energy(x, t * step, len(w))
        add(w, step_one(rules, 0, seen[t], X, yhat[t]), x, t * step)


@njit(cache=True)
def losses_rows(
    x: Floats, step: int, d: int, seen: Floats, rules: Floats, bounds: Ints, losses: Floats
) -> None:
    """Eight filters side by side: losses[f, i] = mean of (yhat_t - y_t)^2 for bounds[i] <= t < bounds[i+1].

    The update of round t-1 and the prediction of round t share one pass over the taps.
    """
    w, c, yhat, total = np.zeros((d, LANES)), np.zeros(LANES), np.zeros(LANES), np.zeros(LANES)
    old = x[:d]
    for i in range(len(bounds) - 1):
        total[:] = 0.0
        for t in range(bounds[i], bounds[i + 1]):
            new = x[t * step : t * step + d]
            seen[t, ENERGY] = energy(x, t * step, d)
            advance_lanes(w, c, old, new, yhat, d)
            step_lanes(rules, seen[t], yhat, c, total)
            old = new
        put(losses[:, i], total / (bounds[i + 1] - bounds[i]))


@njit(cache=True)
def run_windows(
    s: Floats, d: int, labels: Any, rules: Floats, w: Floats, bounds: Ints, losses: Floats, yhat: Floats
) -> None:
    """Filters on one sliding window, x_t = s[t : t+d], in blocks of 16 rounds; the algebra of `run_rows`.

    With w fixed at the start of a block at t, and G_l(t) = x_t.x_{t+l}:
        yhat_{t+i} = w.x_{t+i} + sum_{j<i} c_{t+j} G_{i-j}(t+j),    w_new = w + sum_j c_{t+j} x_{t+j}.
    w: (D/8, F, 8), eight taps of each filter in turn; F = 1 or 4, D is d rounded up to 16, zero beyond d.
    s: n + D + 32 samples.  labels: see `look`.
    rules: (12, 8), the first F columns count.  losses: (8, windows), as in `losses_rows`.
    yhat: (F, n), or (F, 0) where predictions are not wanted.
    """
    F, n = w.shape[1], bounds[-1]
    seen, G, lags = np.zeros((BLOCK, 6)), np.zeros((BLOCK, BLOCK)), np.zeros(BLOCK)
    sums, p, c = np.zeros((BLOCK, F, LANES)), np.zeros((BLOCK, LANES)), np.zeros((BLOCK, LANES))
    loss, window = np.zeros(LANES), 0
    refreshed, highest = -REFRESH, 0.0
    for t in range(0, n, BLOCK):
        _advance(w, d, c, s, max(t - BLOCK, 0), sums, t)
        if t - refreshed >= REFRESH:
            refreshed, highest = t, 0.0
            _exact_lags(s, d, t, lags)
        _lag_products(lags, s, t, d, G)
        low, high = G[0, 0], G[0, 0]
        for i in range(1, BLOCK):
            low, high = min(low, G[i, 0]), max(high, G[i, 0])
        highest = max(highest, high)
        if low < QUIET * highest:
            refreshed, highest = t, _exact_block(s, d, t, lags, G)
        look(labels, t, seen)
        if F == 1:
            step_block(1, rules, seen, G, sums, p, c)
        else:
            step_block(4, rules, seen, G, sums, p, c)
        left, i = min(BLOCK, n - t), 0
        c[left:] = 0.0
        while i < left:
            stop = min(bounds[window + 1] - t, left)
            for f in range(F):
                total = loss[f]
                for j in range(i, stop):
                    total += (p[j, f] - seen[j, CLEAN]) ** 2
                loss[f] = total
            if t + stop == bounds[window + 1]:
                put(losses[:, window], loss / (bounds[window + 1] - bounds[window]))
                loss[:] = 0.0
                window += 1
            i = stop
        if yhat.shape[1]:
            for f in range(F):
                put(yhat[f, t : t + left], p[:left, f])
    _advance(w, d, c, s, (n - 1) // BLOCK * BLOCK, sums, n)


@njit(cache=True)
def _lag_products(lags: Floats, s: Floats, t: int, d: int, G: Floats) -> None:
    """G[j] = lags, then lags[i] += s[t+j+d] s[t+j+d+i] - s[t+j] s[t+j+i], j = 0..15; lags (16,), G (16, 16).

    One round takes one product out and one in: from lags[i] = x_t.x_{t+i} to the same of t+1.
    """
    for j in range(BLOCK):
        leaves, enters = -s[t + j], s[t + j + d]
        for i in range(BLOCK):
            G[j, i] = lags[i]
            lags[i] = fma(leaves, s[t + j + i], fma(enters, s[t + j + d + i], lags[i]))


@njit(cache=True)
def _advance(w: Floats, d: int, c: Floats, s: Floats, old: int, sums: Floats, new: int) -> None:
    """w += sum_j c_j x_{old+j}; sums[j, f] = w_f.x_{new+j} in 8 partial sums. Once over the taps.

    Every other block goes from the last tile to the first: it begins with the taps still in the cache.
    """
    F, D = w.shape[1], len(w) * LANES
    sums[:] = 0.0
    tiles = (D + TILE - 1) // TILE
    for i in range(tiles):
        start = TILE * (i if new // BLOCK % 2 else tiles - 1 - i)
        stop = min(start + TILE, D)
        if F == 1:
            add_windows(1, 8, w, c, 0, s, old, start, stop)
        else:
            for j in range(0, LANES, 2):
                add_windows(4, 2, w, c, j, s, old, start, stop)
        for k in range(max(d, start), stop):  # the taps that only round d up
            w[k // LANES, :, k % LANES] = 0.0
        if F == 1:
            dot_windows(1, 8, w, sums, 0, s, new, start, stop)
        else:
            for j in range(0, LANES, 2):
                dot_windows(4, 2, w, sums, j, s, new, start, stop)


@njit(cache=True)
def _exact_lags(s: Floats, d: int, t: int, lags: Floats) -> None:
    """lags[l] = x_t.x_{t+l}, free of the errors of `_lag_products`: those of the loudest past."""
    for lag in range(BLOCK):
        lags[lag] = dot(s, t + lag, s[t : t + d])


@njit(cache=True)
def _exact_block(s: Floats, d: int, t: int, lags: Floats, G: Floats) -> Any:
    """All of G, and lags for the next block; returns the last energy."""
    for j in range(BLOCK):
        _exact_lags(s, d, t + j, lags)
        put(G[j], lags)
    _exact_lags(s, d, t + BLOCK, lags)
    return G[-1, 0]
