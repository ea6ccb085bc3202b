"""Compiled loops of ORS: one filter on any rows, eight filters on shared rows, a sliding window."""

from __future__ import annotations

import numpy as np
from numba import njit

from noisylabels.filters.arithmetic import add, dot
from noisylabels.filters.simd import LANES, add_windows, advance_lanes, dot_windows

CLEAN, ONE, MEAN, VARIANCE, SPREAD, ENERGY = range(6)
"""Columns of ``seen``, (n, 6): y_t, label 1, mean of labels 1 and 2, v_t, (label 1 - label 2)^2 / 4, X_t."""

RULE = np.dtype(
    [("label", "u8"), ("proxy", "u8")] + [(name, "f8") for name in ("delta", "v", "e", "spread", "r", "beta")]
)
"""One filter: columns used as label and as ybar; weights of delta^2, v_t, e_t^2 and the spread; r, beta."""

BLOCK = 8  # rounds of one block of the sliding window
TILE = 512  # taps that stay in the fastest cache while a block passes over them
REFRESH = 4096  # rounds between two exact recomputations of the lag products


@njit(inline="always", error_model="numpy")
def coefficient(rule, seen, X, yhat):  # type: ignore[no-untyped-def]
    """c_t of w_t = w_{t-1} + c_t x_t:  c = g e / (r (1 + beta v) + X),  g = delta^2 / (delta^2 + vbar).

    Nothing is divided by alpha or delta: 0/0 in g is 1, and a step with r = X = 0 is skipped.
    """
    e = seen[rule.label] - yhat
    delta = seen[rule.proxy] - yhat
    square = rule.delta * delta * delta
    total = square + (rule.v * seen[VARIANCE] + rule.e * e * e + rule.spread * seen[SPREAD])
    g = square / total if total > 0 else 1.0
    size = rule.r * (1 + rule.beta * seen[VARIANCE]) + X
    return g * e / size if size > 0 else 0.0


@njit(cache=True, error_model="numpy")
def run_rows(x, step, seen, rules, w, yhat):  # type: ignore[no-untyped-def]
    """One filter, row by row: the definition."""
    rule = rules[0]
    for t in range(len(yhat)):
        yhat[t] = dot(x, t * step, w)
        add(w, coefficient(rule, seen[t], seen[t, ENERGY], yhat[t]), x, t * step)


@njit(cache=True, error_model="numpy")
def losses_rows(x, step, d, seen, rules, bounds, losses):  # type: ignore[no-untyped-def]
    """Eight filters side by side: losses[f, i] = mean of (yhat_t - y_t)^2 for bounds[i] <= t < bounds[i+1].

    The update of round t-1 and the prediction of round t share one pass over the taps.
    """
    w, c, yhat, total = np.zeros((d, LANES)), np.zeros(LANES), np.zeros(LANES), np.zeros(LANES)
    old = x[:d]
    for i in range(len(bounds) - 1):
        total[:] = 0.0
        for t in range(bounds[i], bounds[i + 1]):
            new = x[t * step : t * step + d]
            advance_lanes(w, c, old, new, yhat, d)
            old, now = new, seen[t]
            for f in range(LANES):
                total[f] += (yhat[f] - now[CLEAN]) ** 2
                c[f] = coefficient(rules[f], now, now[ENERGY], yhat[f])
        losses[:, i] = total / (bounds[i + 1] - bounds[i])


@njit(cache=True)
def run_windows(s, d, seen, rules, w, yhat):  # type: ignore[no-untyped-def]
    """Filters on one sliding window, x_t = s[t : t+d], in blocks of 8 rounds; the same algebra as `run_rows`.

    With w fixed at the start of a block at t, and G_l(t) = x_t.x_{t+l}:
        yhat_{t+i} = w.x_{t+i} + sum_{j<i} c_{t+j} G_{i-j}(t+j),    w_new = w + sum_j c_{t+j} x_{t+j}.
    w: (F, D), F = 1 or 4, D = d rounded up to 8, zero beyond d.  s: n + D + 16 samples.  yhat: (F, n).
    """
    F, n = yhat.shape
    c, sums = np.zeros((F, BLOCK)), np.zeros((F, BLOCK, LANES))
    lags, G = np.zeros(BLOCK), np.zeros((BLOCK, BLOCK))
    refreshed, highest = -REFRESH, 0.0
    for t in range(0, n, BLOCK):
        _advance(w, d, c, s, max(t - BLOCK, 0), sums, t)
        if (
            t - refreshed >= REFRESH or lags[0] < 1e-3 * highest
        ):  # rounding errors are those of the loudest past
            for lag in range(BLOCK):
                lags[lag] = dot(s, t + lag, s[t : t + d])
            refreshed, highest = t, 0.0
        highest = max(highest, lags[0])
        _lag_products(s, d, t, lags, G)
        c[:] = 0.0
        for i in range(min(BLOCK, n - t)):
            for f in range(F):
                total = 0.0
                for lane in range(LANES):
                    total += sums[f, i, lane]
                for j in range(i):
                    total += c[f, j] * G[j, i - j]
                yhat[f, t + i] = total
                c[f, i] = coefficient(rules[f], seen[t + i], max(G[i, 0], 0.0), total)
    _advance(w, d, c, s, (n - 1) // BLOCK * BLOCK, sums, n)


@njit(cache=True)
def _advance(w, d, c, s, old, sums, new):  # type: ignore[no-untyped-def]
    """w += sum_j c_j x_{old+j}; sums[f, j] = w_f.x_{new+j} in 8 partial sums. One pass over the taps."""
    F, D = w.shape
    sums[:] = 0.0
    for start in range(0, D, TILE):
        stop = min(start + TILE, D)
        if F == 1:
            add_windows(1, 8, w, c, 0, s, old, start, stop)
        else:
            add_windows(4, 4, w, c, 0, s, old, start, stop)
            add_windows(4, 4, w, c, 4, s, old, start, stop)
        if stop == D:
            w[:, d:] = 0.0  # the taps that only round D up
        if F == 1:
            dot_windows(1, 8, w, sums, 0, s, new, start, stop)
        else:
            dot_windows(4, 4, w, sums, 0, s, new, start, stop)
            dot_windows(4, 4, w, sums, 4, s, new, start, stop)


@njit(cache=True)
def _lag_products(s, d, t, lags, G):  # type: ignore[no-untyped-def]
    """G[j, l] = x_{t+j}.x_{t+j+l} for one block; lags moves on to t+8, one product in and one out a step."""
    for j in range(BLOCK):
        first, last = s[t + j : t + j + BLOCK], s[t + j + d : t + j + d + BLOCK]
        for lag in range(BLOCK):
            G[j, lag] = lags[lag]
            lags[lag] += last[0] * last[lag] - first[0] * first[lag]
