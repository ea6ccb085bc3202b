"""Kernel expansions that grow by a point each round, compiled: values, steps and the norm of the surrogate.

f(x) = scale sum_i a_i k(s_i, x). The global `scale` makes a projection one multiplication;
the squared norm is carried along.
Support points are stored entry by entry, (d, capacity), so that every loop runs over points.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from noisylabels.compiled.exponential import LARGEST, exp_of_negative
from noisylabels.compiled.fma import fma
from noisylabels.compiled.simd import dot_lanes

BLOCK = 512  # points whose distances stay in the first-level cache
SMALL = 1e-150  # a smaller scale is multiplied into the coefficients
SCALE, NORM = 0, 1  # places in `state`


@njit(inline="always")
def _plus_square(total: float, rate: float, difference: float) -> float:
    """total + rate difference^2."""
    return fma(rate * difference, difference, total)


@njit(cache=True, error_model="numpy")
def _distances(S: np.ndarray, start: int, z: np.ndarray, rates: np.ndarray, out: np.ndarray) -> None:
    """out[i] = sum_k rates[k] (S[k, start + i] - z[k])^2, two entries at a time."""
    d, stop = len(z), start + len(out)
    last, c, w = S[d - 1, start:stop], z[d - 1], rates[d - 1]
    if d % 2:
        for i in range(len(out)):
            out[i] = w * (last[i] - c) ** 2
    else:
        row, b, v = S[d - 2, start:stop], z[d - 2], rates[d - 2]
        for i in range(len(out)):
            out[i] = _plus_square(v * (row[i] - b) ** 2, w, last[i] - c)
    for k in range(0, d - 2, 2):
        row, b, v = S[k, start:stop], z[k], rates[k]
        other, e, u = S[k + 1, start:stop], z[k + 1], rates[k + 1]
        for i in range(len(out)):
            out[i] = _plus_square(_plus_square(out[i], v, row[i] - b), u, other[i] - e)


@njit(cache=True, error_model="numpy")
def _weighted(a: np.ndarray, distances: np.ndarray) -> float:
    """sum_i a[i] exp(-distances[i]); the distances become these exponentials."""
    for i in range(len(a)):
        distances[i] = exp_of_negative(-min(distances[i], LARGEST))
    return dot_lanes(a, 0, distances, 0, len(a))


@njit(cache=True, error_model="numpy")
def value(
    S: np.ndarray,
    a: np.ndarray,
    n: int,
    z: np.ndarray,
    weights: np.ndarray,
    rates: np.ndarray,
    buffer: np.ndarray,
) -> float:
    """sum_{i < n} a_i k(s_i, z),  k = sum_q weights[q] exp(-sum_k rates[q, k] (..)_k^2); buffer: (BLOCK,)."""
    total = 0.0
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        distances = buffer[: stop - start]
        for q in range(len(weights)):
            _distances(S, start, z, rates[q], distances)
            total += weights[q] * _weighted(a[start:stop], distances)
    return total


@njit(cache=True, error_model="numpy")
def values(
    S: np.ndarray,
    a: np.ndarray,
    n: int,
    scale: float,
    Z: np.ndarray,
    weights: np.ndarray,
    rates: np.ndarray,
) -> np.ndarray:
    """scale times `value` at every row of Z (m, d): (m,)."""
    out, buffer = np.empty(len(Z)), np.empty(BLOCK)
    for j in range(len(Z)):
        out[j] = scale * value(S, a, n, Z[j], weights, rates, buffer)
    return out


@njit(cache=True, error_model="numpy")
def learn(
    S: np.ndarray,
    a: np.ndarray,
    n: int,
    first: np.ndarray,
    second: np.ndarray,
    twice: bool,
    y: float,
    eta: float,
    ball: float,
    weights: np.ndarray,
    rates: np.ndarray,
    state: np.ndarray,
    buffer: np.ndarray,
) -> None:
    """One round of Algorithm 3: the new point n is `first`, its coefficient comes from `second`.

    state: scale and squared norm.  weights, rates: of the surrogate.  twice: `second` is `first`.
    """
    g = 2.0 * (state[SCALE] * value(S, a, n, second, weights, rates, buffer) - y)
    alpha = -eta * g
    if twice:
        h = 0.5 * g + y
    else:
        h = state[SCALE] * value(S, a, n, first, weights, rates, buffer)
    for k in range(len(first)):
        S[k, n] = first[k]
    a[n] = alpha / state[SCALE]
    norm = state[NORM] + 2.0 * alpha * h + alpha * alpha * weights.sum()
    state[NORM] = max(norm, 0.0)
    if norm > ball:
        state[SCALE] *= math.sqrt(ball / norm)
        state[NORM] = ball
    if state[SCALE] < SMALL:
        for i in range(n + 1):
            a[i] *= state[SCALE]
        state[SCALE] = 1.0


@njit(cache=True, error_model="numpy")
def run(
    clean: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    twice: bool,
    y: np.ndarray,
    eta: float,
    ball: float,
    S: np.ndarray,
    a: np.ndarray,
    n: int,
    weights: np.ndarray,
    rates: np.ndarray,
    surrogate_weights: np.ndarray,
    surrogate_rates: np.ndarray,
    state: np.ndarray,
    predictions: np.ndarray,
) -> None:
    """predictions[t] = f_t(clean[t]) with the original kernel, then `learn`, for every t."""
    buffer = np.empty(BLOCK)
    for t in range(len(y)):
        predictions[t] = state[SCALE] * value(S, a, n + t, clean[t], weights, rates, buffer)
        learn(
            S, a, n + t, first[t], second[t], twice, y[t], eta, ball,
            surrogate_weights, surrogate_rates, state, buffer,
        )  # fmt: skip
