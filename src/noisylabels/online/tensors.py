"""Algorithm 4 in linear time, compiled: the features of one degree are summed up in one tensor.

Estimates of different degrees are orthogonal, so w is known by
W_n = sum_i alpha_i s_i x_i^(1) (x) ... (x) x_i^(n), d^n numbers for every degree n <= cut;
the rare estimates of higher degree are kept one by one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from noisylabels.losses.analytic import DIFFERENCE, MARGIN_LESS_ONE
from noisylabels.online.estimators import degree

SCALE, NORM = 0, 1  # places in State.numbers
TOP, ITEMS, POINTS = 0, 1, 2  # places in State.counts
SMALL = 1e-150


class Plan(NamedTuple):
    """Which degrees are drawn in T rounds; it depends on p and the coin alone, never on data.

    first: (T + 1,) the estimates of round t are first[t], ..., first[t+1] - 1, the stored one first.
    pairs, points: (E,) n_1 and n_2 of each estimate.
    start: (E + 1,) where its copies begin, pairs before points.
    """

    first: np.ndarray
    pairs: np.ndarray
    points: np.ndarray
    start: np.ndarray


class Tables(NamedTuple):
    """Weights by degree: of Prod, of Prod with a known point, of the pairs, of the gradient length."""

    product: np.ndarray
    point: np.ndarray
    pairs: np.ndarray
    slope: np.ndarray


class State(NamedTuple):
    """W: the tensors, that of degree n from offset[n] on.  numbers: scale, squared norm.

    counts: highest degree in W, number of estimates kept one by one, number of their points.
    item_degree, item_weight, item_start: those estimates; item_points: their points, (.., d).
    """

    W: np.ndarray
    offset: np.ndarray
    numbers: np.ndarray
    counts: np.ndarray
    item_degree: np.ndarray
    item_weight: np.ndarray
    item_start: np.ndarray
    item_points: np.ndarray


@njit(cache=True)
def _longer(values: np.ndarray) -> np.ndarray:
    longer = np.empty(2 * len(values), values.dtype)
    longer[: len(values)] = values
    return longer


@njit(cache=True)
def draw_plan(rng: np.random.Generator, T: int, log_p: float, gaussian: bool) -> Plan:
    """The plan of T rounds, from the coin `rng` in the order of the algorithm."""
    first = np.empty(T + 1, np.int64)
    pairs, points = np.empty(4 * T + 4, np.int64), np.empty(4 * T + 4, np.int64)
    estimates = 0
    for t in range(T):
        first[t] = estimates
        wanted = 1
        while estimates < first[t] + wanted:
            if estimates == len(points):
                pairs, points = _longer(pairs), _longer(points)
            pairs[estimates] = degree(rng.random(), log_p) if gaussian else 0
            points[estimates] = degree(rng.random(), log_p)
            if estimates == first[t]:
                wanted += degree(rng.random(), log_p)
            estimates += 1
    first[T] = estimates
    start = np.empty(estimates + 1, np.int64)
    start[0] = 0
    for e in range(estimates):
        start[e + 1] = start[e] + 2 * pairs[e] + points[e]
    return Plan(first, pairs[:estimates], points[:estimates], start)


@njit(cache=True)
def _dot(x: np.ndarray, z: np.ndarray) -> float:
    total = 0.0
    for k in range(len(x)):
        total += x[k] * z[k]
    return total


@njit(cache=True)
def _contracted(W: np.ndarray, at: int, n: int, x: np.ndarray, step: int, buffer: np.ndarray) -> float:
    """<W_n, x_1 (x) ... (x) x_n>, W_n = W[at : at + d^n], x_j = x[(j - 1) step]; step 0: x_1 n times."""
    if n == 0:
        return W[at]
    d = x.shape[1]
    size = d ** (n - 1)
    for i in range(size):
        buffer[i] = _dot(W[at + i * d : at + (i + 1) * d], x[(n - 1) * step])
    for j in range(n - 2, -1, -1):
        size //= d
        for i in range(size):
            total = 0.0
            for k in range(d):
                total += buffer[i * d + k] * x[j * step, k]
            buffer[i] = total
    return buffer[0]


@njit(cache=True)
def _add(W: np.ndarray, at: int, n: int, weight: float, x: np.ndarray, buffer: np.ndarray) -> None:
    """W_n += weight x_1 (x) ... (x) x_n."""
    d = x.shape[1]
    size = 1
    buffer[0] = weight
    for j in range(n):
        for i in range(size - 1, -1, -1):
            value = buffer[i]
            for k in range(d):
                buffer[i * d + k] = value * x[j, k]
        size *= d
    for i in range(size):
        W[at + i] += buffer[i]


@njit(cache=True)
def _item_products(state: State, n: int, x: np.ndarray, step: int) -> float:
    """sum over the estimates of degree n that are kept one by one of weight prod_j <x_i^(j), x_j>."""
    total = 0.0
    for i in range(state.counts[ITEMS]):
        if state.item_degree[i] == n:
            value = state.item_weight[i]
            for j in range(n):
                value *= _dot(state.item_points[state.item_start[i] + j], x[j * step])
            total += value
    return total


@njit(cache=True)
def inner(state: State, tables: Tables, scalar: float, x: np.ndarray, buffer: np.ndarray) -> float:
    """<w, Psi~> for an estimate with points x (n, d)."""
    n = len(x)
    weight = tables.product[n]
    if weight == 0.0:
        return 0.0
    if n < len(state.offset) - 1:
        value = _contracted(state.W, state.offset[n], n, x, 1, buffer)
    else:
        value = _item_products(state, n, x, 1)
    return state.numbers[SCALE] * weight * scalar * value


@njit(cache=True)
def predict(state: State, tables: Tables, z: np.ndarray, rate: float, buffer: np.ndarray) -> float:
    """<w, Psi(z)>; z: (1, d); rate: 1 / sigma2, 0 for dot-product kernels."""
    total = 0.0
    for n in range(state.counts[TOP] + 1):
        if tables.point[n] != 0.0:
            total += tables.point[n] * _contracted(state.W, state.offset[n], n, z, 0, buffer)
    for i in range(state.counts[ITEMS]):
        n = state.item_degree[i]
        value = state.item_weight[i] * tables.point[n]
        for j in range(n):
            value *= _dot(state.item_points[state.item_start[i] + j], z[0])
        total += value
    if rate > 0.0:
        total *= math.exp(-rate * _dot(z[0], z[0]))
    return state.numbers[SCALE] * total


@njit(cache=True)
def _scalar(pairs: int, start: int, copies: np.ndarray, tables: Tables) -> float:
    """The estimate of exp(-||x||^2 / sigma2) from `pairs` pairs of copies; 1 for dot products."""
    value = tables.pairs[pairs]
    for j in range(pairs):
        value *= _dot(copies[start + 2 * j], copies[start + 2 * j + 1])
    return value


@njit(cache=True)
def _slope(
    state: State,
    tables: Tables,
    plan: Plan,
    t: int,
    copies: np.ndarray,
    y: np.ndarray,
    kind: int,
    buffer: np.ndarray,
) -> float:
    """Subroutine 1 for round t; y: the targets of the estimates, y[e]."""
    first, last = plan.first[t] + 1, plan.first[t + 1]
    g = tables.slope[last - first]
    label = y[first - 1]
    if kind != DIFFERENCE:
        g *= label
    if g == 0.0:
        return 0.0
    for e in range(first, last):
        at = plan.start[e] + 2 * plan.pairs[e]
        scalar = _scalar(plan.pairs[e], plan.start[e], copies, tables)
        value = inner(state, tables, scalar, copies[at : at + plan.points[e]], buffer)
        if kind == DIFFERENCE:
            g *= value - y[e]
        elif kind == MARGIN_LESS_ONE:
            g *= label * value - 1.0
        else:
            g *= label * value
    return g


@njit(cache=True)
def _store(state: State, weight: float, x: np.ndarray, buffer: np.ndarray) -> None:
    n = len(x)
    if n < len(state.offset) - 1:
        _add(state.W, state.offset[n], n, weight, x, buffer)
        state.counts[TOP] = max(state.counts[TOP], n)
        return
    i, at = state.counts[ITEMS], state.counts[POINTS]
    state.item_degree[i], state.item_weight[i], state.item_start[i] = n, weight, at
    for j in range(n):
        for k in range(x.shape[1]):
            state.item_points[at + j, k] = x[j, k]
    state.counts[ITEMS] += 1
    state.counts[POINTS] += n


@njit(cache=True)
def _learn(
    state: State,
    tables: Tables,
    plan: Plan,
    t: int,
    copies: np.ndarray,
    y: np.ndarray,
    kind: int,
    eta: float,
    B_w: float,
    buffer: np.ndarray,
) -> None:
    alpha = -eta * _slope(state, tables, plan, t, copies, y, kind, buffer)
    e = plan.first[t]
    x = copies[plan.start[e] + 2 * plan.pairs[e] : plan.start[e + 1]]
    weight = tables.product[len(x)]
    if alpha == 0.0 or weight == 0.0:
        return
    scalar = _scalar(plan.pairs[e], plan.start[e], copies, tables)
    square = weight * scalar * scalar
    for j in range(len(x)):
        square *= _dot(x[j], x[j])
    h = inner(state, tables, scalar, x, buffer)
    norm = state.numbers[NORM] + 2.0 * alpha * h + alpha * alpha * square
    _store(state, alpha / state.numbers[SCALE] * scalar, x, buffer)
    state.numbers[NORM] = max(norm, 0.0)
    if norm > B_w:
        state.numbers[SCALE] *= math.sqrt(B_w / norm)
        state.numbers[NORM] = B_w
    if state.numbers[SCALE] < SMALL:
        state.W[:] *= state.numbers[SCALE]
        state.item_weight[:] *= state.numbers[SCALE]
        state.numbers[SCALE] = 1.0


@njit(cache=True)
def run(
    state: State,
    tables: Tables,
    plan: Plan,
    clean: np.ndarray,
    copies: np.ndarray,
    y: np.ndarray,
    kind: int,
    eta: float,
    B_w: float,
    rate: float,
    predictions: np.ndarray,
    buffer: np.ndarray,
) -> None:
    """predictions[t] = <w_t, Psi(clean[t])>, if wanted, then one round of Algorithm 4; for every t."""
    for t in range(len(plan.first) - 1):
        if len(predictions):
            predictions[t] = predict(state, tables, clean[t : t + 1], rate, buffer)
        _learn(state, tables, plan, t, copies, y, kind, eta, B_w, buffer)
