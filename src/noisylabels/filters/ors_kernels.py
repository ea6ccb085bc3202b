"""Compiled loops of ORS: one filter on any rows, eight filters on shared rows, a sliding window."""

from __future__ import annotations

import numpy as np
from numba import njit

from noisylabels.compiled.arithmetic import add, dot, energy
from noisylabels.compiled.simd import LANES, add_windows, advance_lanes, dot_windows, lag_lanes
from noisylabels.filters.ors_step import (
    CLEAN,
    ENERGY,
    MEAN,
    ONE,
    SPREAD,
    VARIANCE,
    step_block,
    step_lanes,
    step_one,
)

BLOCK = 16  # rounds of one block of the sliding window
TILE = 512  # taps that stay in the fastest cache while a block passes over them
REFRESH = 4096  # rounds between two exact computations of the lag products
QUIET = 1e-3  # a fall of the energy to this share of its past calls for one, too


@njit(cache=True)
def look(told, t, seen):  # type: ignore[no-untyped-def]
    """seen[i] = the columns of `ors_step.Seen` for round t+i; the loops know the energies.

    told: y_t, label 1, label 2 and v_t, four arrays (n,).
    """
    clean, one, two, v = told
    for i in range(min(len(seen), len(clean) - t)):
        seen[i, CLEAN], seen[i, ONE], seen[i, MEAN] = clean[t + i], one[t + i], (one[t + i] + two[t + i]) / 2
        seen[i, VARIANCE], seen[i, SPREAD] = v[t + i], (one[t + i] - two[t + i]) ** 2 / 4


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
def run_windows(s, d, told, rules, w, bounds, losses, yhat):  # type: ignore[no-untyped-def]
    """Filters on one sliding window, x_t = s[t : t+d], in blocks of 16 rounds; the algebra of `run_rows`.

    With w fixed at the start of a block at t, and G_l(t) = x_t.x_{t+l}:
        yhat_{t+i} = w.x_{t+i} + sum_{j<i} c_{t+j} G_{i-j}(t+j),    w_new = w + sum_j c_{t+j} x_{t+j}.
    w: (D/8, F, 8), eight taps of each filter in turn; F = 1 or 4, D is d rounded up to 16, zero beyond d.
    s: n + D + 32 samples.  told: see `look`.
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
        lag_lanes(lags, s, t, d, G)
        low, high = G[0, 0], G[0, 0]
        for i in range(1, BLOCK):
            low, high = min(low, G[i, 0]), max(high, G[i, 0])
        highest = max(highest, high)
        if low < QUIET * highest:
            refreshed, highest = t, _exact_block(s, d, t, lags, G)
        look(told, t, seen)
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
                losses[:, window] = loss / (bounds[window + 1] - bounds[window])
                loss[:] = 0.0
                window += 1
            i = stop
        if yhat.shape[1]:
            yhat[:, t : t + left] = p[:left, :F].T
    _advance(w, d, c, s, (n - 1) // BLOCK * BLOCK, sums, n)


@njit(cache=True)
def _advance(w, d, c, s, old, sums, new):  # type: ignore[no-untyped-def]
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
def _exact_lags(s, d, t, lags):  # type: ignore[no-untyped-def]
    """lags[l] = x_t.x_{t+l}, free of the errors of `lag_lanes`: those of the loudest past."""
    for lag in range(BLOCK):
        lags[lag] = dot(s, t + lag, s[t : t + d])


@njit(cache=True)
def _exact_block(s, d, t, lags, G):  # type: ignore[no-untyped-def]
    """All of G, and lags for the next block; returns the last energy."""
    for j in range(BLOCK):
        _exact_lags(s, d, t + j, lags)
        G[j] = lags
    _exact_lags(s, d, t + BLOCK, lags)
    return G[-1, 0]
