"""Compiled loops of ORS: one filter on any rows, eight filters on shared rows, a sliding window."""

from __future__ import annotations

import numpy as np
from numba import njit

from noisylabels.filters.arithmetic import add, dot, energy
from noisylabels.filters.ors_step import CLEAN, ENERGY, MEAN, ONE, SPREAD, VARIANCE, step_lanes, step_one
from noisylabels.filters.simd import LANES, add_lanes, add_windows, advance_lanes, dot_windows

BLOCK = 8  # rounds of one block of the sliding window
TILE = 512  # taps that stay in the fastest cache while a block passes over them
REFRESH = 4096  # rounds between two exact computations of the lag products
QUIET = 1e-3  # a fall of the energy to this share of its past calls for one, too


@njit(cache=True)
def table(clean, one, two, v):  # type: ignore[no-untyped-def]
    """The array ``seen`` of `ors_step.Seen`, one row a round; the loops fill in the energies."""
    n = len(one)
    seen = np.empty((n, 6))
    for t in range(n):
        seen[t, CLEAN], seen[t, ONE], seen[t, MEAN] = clean[t], one[t], (one[t] + two[t]) / 2
        seen[t, VARIANCE], seen[t, SPREAD] = v[t], (one[t] - two[t]) ** 2 / 4
        seen[t, ENERGY] = 0.0
    return seen


@njit(cache=True)
def run_rows(x, step, seen, rules, w, yhat):  # type: ignore[no-untyped-def]
    """One filter, row by row: the definition."""
    for t in range(len(yhat)):
        yhat[t] = dot(x, t * step, w)
        X = energy(x, t * step, len(w))
        add(w, step_one(rules, 0, seen[t], X, yhat[t]), x, t * step)


@njit(cache=True)
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
            seen[t, ENERGY] = energy(x, t * step, d)
            advance_lanes(w, c, old, new, yhat, d)
            step_lanes(rules, seen[t], yhat, c, total)
            old = new
        losses[:, i] = total / (bounds[i + 1] - bounds[i])


@njit(cache=True)
def run_windows(s, d, seen, rules, w, bounds, losses, yhat):  # type: ignore[no-untyped-def]
    """Filters on one sliding window, x_t = s[t : t+d], in blocks of 8 rounds; the same algebra as `run_rows`.

    With w fixed at the start of a block at t, and G_l(t) = x_t.x_{t+l}:
        yhat_{t+i} = w.x_{t+i} + sum_{j<i} c_{t+j} G_{i-j}(t+j),    w_new = w + sum_j c_{t+j} x_{t+j}.
    w: (F, D), F = 1 or 4, D at least d rounded up to 8, zero beyond d.  s: n + D + 16 samples.
    rules: (12, 8), the first F columns count.  losses: (8, windows), as in `losses_rows`.
    yhat: (F, n), or (F, 0) where predictions are not wanted.
    """
    F, n = w.shape[0], len(seen)
    c, p, sums = np.zeros((BLOCK, LANES)), np.zeros((BLOCK, LANES)), np.zeros((F, BLOCK, LANES))
    loss, window = np.zeros(LANES), 0
    lags, G = np.zeros(BLOCK), np.zeros((BLOCK, BLOCK))
    refreshed, highest = -REFRESH, 0.0
    for t in range(0, n, BLOCK):
        _advance(w, d, c, s, max(t - BLOCK, 0), sums, t)
        exact = t - refreshed >= REFRESH
        low, high = _lag_products(s, d, t, lags, G, exact)
        if low < QUIET * max(highest, high) and not exact:
            exact = True
            low, high = _lag_products(s, d, t, lags, G, exact)
        refreshed, highest = (t, G[-1, 0]) if exact else (refreshed, max(highest, high))
        for i in range(BLOCK):
            for f in range(F):
                q = sums[f, i]
                p[i, f] = ((q[0] + q[1]) + (q[2] + q[3])) + ((q[4] + q[5]) + (q[6] + q[7]))
        c[:] = 0.0
        for i in range(min(BLOCK, n - t)):
            seen[t + i, ENERGY] = max(G[i, 0], 0.0)
            step_lanes(rules, seen[t + i], p[i], c[i], loss)
            add_lanes(p[i + 1 :], c[i], G[i, 1:], BLOCK - i - 1)  # p[j] += c[i] G[i, j-i]
            if yhat.shape[1]:
                for f in range(F):
                    yhat[f, t + i] = p[i, f]
            if t + i + 1 == bounds[window + 1]:
                losses[:, window] = loss / (bounds[window + 1] - bounds[window])
                loss[:] = 0.0
                window += 1
    _advance(w, d, c, s, (n - 1) // BLOCK * BLOCK, sums, n)


@njit(cache=True)
def _advance(w, d, c, s, old, sums, new):  # type: ignore[no-untyped-def]
    """w += sum_j c_j x_{old+j}; sums[f, j] = w_f.x_{new+j} in 8 partial sums. One pass over the taps."""
    F, D = w.shape[0], (d + LANES - 1) // LANES * LANES
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
def _lag_products(s, d, t, lags, G, exact):  # type: ignore[no-untyped-def]
    """G[j, l] = x_{t+j}.x_{t+j+l} for one block, from lags = G[0], which moves on to round t+8.

    A round takes one product out and one in; the error stays that of the loudest past, unless exact.
    Returns the smallest and the largest energy of the block.
    """
    low, high = np.inf, 0.0
    for j in range(BLOCK):
        first, last = s[t + j : t + j + BLOCK], s[t + j + d : t + j + d + BLOCK]
        for lag in range(BLOCK):
            G[j, lag] = dot(s, t + j + lag, s[t + j : t + j + d]) if exact else lags[lag]
            lags[lag] = G[j, lag] + last[0] * last[lag] - first[0] * first[lag]
        low, high = min(low, G[j, 0]), max(high, G[j, 0])
    return low, high
