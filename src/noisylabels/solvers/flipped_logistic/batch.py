"""Many (robust) kernel logistic regressions on one kernel at once: L-BFGS in lockstep.

min_{theta, a, b}  -sum_n log P~_n + zeta ||theta_1..p||^2,  f = Z theta,
omega01 = a^2 / (1 + a^2),  omega10 = b^2 / (1 + b^2),

with the columns Z of a reading (`readings.columns`), by default Z = Q diag(lam) in the basis of
`noisylabels.kernels.gaussian.Basis`, for all label columns and all zeta. One model is one row of each
array, so that a step of all models is two matrix products, F = Theta Z^T and (q - sigma) Z; what lies
between is one compiled pass. Because Z^T Z is diagonal (a bias apart), the Hessian in theta is nearly
diag(h norms^2 + 2 zeta), and L-BFGS starts from its inverse. f is linear along a search direction: the
line search costs no matrix product. A model that has converged leaves the batch. Each model starts from
theta = 0 and omega01 = omega10 = 0.2 and does not depend on the others.

Source: Kaban and Bootkrajang, LABELNOISE 2017, eq. (1)-(6).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csc_array

from noisylabels.kernels.gaussian import Basis
from noisylabels.solvers.flipped_logistic.likelihood import likelihood
from noisylabels.solvers.flipped_logistic.readings import columns

Array = NDArray[np.float64]

START = 0.2  # omega01 and omega10 at the start
MEMORY = 5  # pairs of L-BFGS
CURVATURE = 0.15  # a typical sigma (1 - sigma)
TOLERANCE = 1e-6  # what is still to be gained, relative to the objective, but to no less than
SMALLEST_SHARE = 0.1  # of n log 2, the objective of f = 0
ROUNDS = 300
LONGEST = 0.5  # largest step of a and b
HALVINGS = 25
SPARSE = 0.03  # share of entries below which the entries are listed


@dataclass(frozen=True)
class Solution:
    """C models f = K Q v + bias: v (C, r), and bias, omega01, omega10, objective (to be minimised),
    converged, rounds (C,).
    """

    v: Array
    bias: Array
    omega01: Array
    omega10: Array
    objective: Array
    converged: NDArray[np.bool_]
    rounds: NDArray[np.int64]


def fit_batch(
    basis: Basis,
    labels: Array,
    column: NDArray[np.int64],
    zeta: Array,
    robust: bool,
    tolerance: float = TOLERANCE,
    bias: str = "none",
    penalty: str = "weights",
) -> Solution:
    """Model c is fitted to the labels of row column[c] of labels (L, n), 0.0 or 1.0, with penalty zeta[c].

    bias, penalty : the reading, see `readings.columns`.
    Directions with norms^2 n / (4 zeta) <= ``tolerance``, which together cannot gain more than that, are left
    out: their v is 0.
    """
    n, C = len(basis.Q), len(zeta)
    reading = columns(basis, bias, penalty, least=4.0 * tolerance * zeta.min())
    penalised, r = reading.penalised, len(reading.norms)
    times_Z, times_ZT = _product(reading.Z), _product(np.ascontiguousarray(reading.Z.T))
    x = np.zeros((C, r + 2))
    x[:, r:] = math.sqrt(START / (1.0 - START)) if robust else 0.0
    theta = np.zeros((C, r))
    omega = np.zeros((C, 2))
    objective, converged, rounds = np.zeros(C), np.zeros(C, bool), np.full(C, ROUNDS)
    scale = np.empty((C, r + 2))
    scale[:, :r] = 1.0 / (CURVATURE * reading.norms**2 + 2.0 * zeta[:, np.newaxis])
    scale[:, penalised:r] = 1.0 / (CURVATURE * n)
    scale[:, r:] = 1.0 / n
    here = np.arange(C)  # the models that are still in the batch
    F, slope = np.zeros((C, n)), np.empty((C, n))
    d, g, old = np.zeros((C, r + 2)), np.zeros((C, r + 2)), np.zeros((C, r + 2))
    S, Y, rho = np.zeros((C, MEMORY, r + 2)), np.zeros((C, MEMORY, r + 2)), np.zeros((C, MEMORY))
    value, state = np.full(C, np.inf), np.zeros(C, np.int64)
    step = np.zeros((C, n))
    product = np.empty((C, r))
    for round_ in range(ROUNDS):
        search(x, d, F, step, slope, g, labels, column, zeta, penalised, value, state, robust)
        times_Z(slope, product[: len(here)])
        direction(
            x, d, g, old, product, scale, S, Y, rho, zeta, penalised, value, state, round_, tolerance, F
        )
        done = state != 0
        if done.any():
            index = here[done]
            theta[index], objective[index], rounds[index] = x[done, :r], value[done], round_
            converged[index] = state[done] == 1
            for k, i in enumerate(np.flatnonzero(done)):
                omega[index[k]] = [rate(x[i, r]), rate(x[i, r + 1])]
            keep = ~done
            here, column, zeta, value, state = here[keep], column[keep], zeta[keep], value[keep], state[keep]
            x, d, g, old, scale, F, S, Y, rho = (
                _front(array, keep) for array in (x, d, g, old, scale, F, S, Y, rho)
            )
            slope, step = slope[: len(here)], step[: len(here)]  # both are written before they are read
        if len(here) == 0:
            break
        times_ZT(d[:, :r], step)
    if len(here):
        theta[here], objective[here] = x[:, :r], value
        for k, i in enumerate(here):
            omega[i] = [rate(x[k, r]), rate(x[k, r + 1])]
    v = np.zeros((C, len(basis.lam)))
    v[:, : len(reading.back)], b = reading.weights(theta)
    return Solution(v, b, omega[:, 0], omega[:, 1], objective, converged, rounds)


def _front(array: Array, keep: NDArray[np.bool_]) -> Array:
    """The rows to keep, moved to the front of their memory: new memory would cost more than a step."""
    move(array.reshape(len(array), -1), keep)
    return array[: np.count_nonzero(keep)]


@njit(cache=True, error_model="numpy")
def move(rows: np.ndarray, keep: np.ndarray) -> None:
    """Rows (C, p) to keep, in order, in the place of the first ones."""
    to = 0
    for c in range(len(rows)):
        if keep[c]:
            if to < c:
                for i in range(rows.shape[1]):
                    rows[to, i] = rows[c, i]
            to += 1


def _product(M: Array) -> Callable[[Array, Array], object]:
    """(A, out) -> out = A M; narrow kernels have M with few entries."""
    if np.count_nonzero(M) > SPARSE * M.size:
        return lambda A, out: np.matmul(A, M, out=out)
    columns = csc_array(M)
    return lambda A, out: sparse_product(A, columns.indptr, columns.indices, columns.data, out)


@njit(cache=True, error_model="numpy")
def sparse_product(A, start, index, entry, out):  # type: ignore[no-untyped-def]
    """out = A M for the columns of M: entry[start[j]:start[j + 1]] in the rows index[...]."""
    for c in range(len(A)):
        for j in range(len(start) - 1):
            total = 0.0
            for k in range(start[j], start[j + 1]):
                total += A[c, index[k]] * entry[k]
            out[c, j] = total


@njit(cache=True, error_model="numpy")
def rate(a: float) -> float:
    """omega = a^2 / (1 + a^2), which is 0 at a finite a and smooth there."""
    return a * a / (1.0 + a * a)


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
def dot(x: np.ndarray, y: np.ndarray) -> float:
    """sum_i x_i y_i."""
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


@njit(cache=True, error_model="numpy")
def search(x, d, F, step, slope, g, labels, column, zeta, penalised, value, state, robust):  # type: ignore[no-untyped-def]
    """Backtracking along d; moves x, F and value; leaves q - sigma in slope and the slopes of a, b in g."""
    r, p = x.shape[1] - 2, penalised
    for c in range(len(x)):
        y = labels[column[c]]
        xx, xd, dd = dot(x[c, :p], x[c, :p]), dot(x[c, :p], d[c, :p]), dot(d[c, :p], d[c, :p])
        gd = dot(g[c], d[c])
        t = 1.0
        if robust:
            longest = max(abs(d[c, r]), abs(d[c, r + 1]))
            if longest > LONGEST:
                t = LONGEST / longest
        omega01 = omega10 = 0.0
        new = up = down = 0.0
        for k in range(HALVINGS):
            if robust:
                omega01, omega10 = rate(x[c, r] + t * d[c, r]), rate(x[c, r + 1] + t * d[c, r + 1])
            fit, up, down = likelihood(F[c], step[c], t, y, omega01, omega10, slope[c])
            new = zeta[c] * (xx + 2.0 * t * xd + t * t * dd) - fit
            if new <= value[c] + 1e-4 * t * gd:
                break
            if k == HALVINGS - 1:
                state[c] = 2
                t = 0.0
                break
            guess = -0.5 * gd * t * t / (new - value[c] - gd * t)
            t = min(max(guess, 0.1 * t), 0.5 * t)
        if state[c] == 2:
            continue
        value[c] = new
        for i in range(len(F[c])):
            F[c, i] += t * step[c, i]
        for i in range(r):
            d[c, i] *= t
            x[c, i] += d[c, i]
        if robust:
            for i in range(r, r + 2):
                d[c, i] *= t
                x[c, i] += d[c, i]
            g[c, r] = -up * 2.0 * x[c, r] * (1.0 - omega01) ** 2
            g[c, r + 1] = -down * 2.0 * x[c, r + 1] * (1.0 - omega10) ** 2


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
def direction(x, d, g, old, product, scale, S, Y, rho, zeta, penalised, value, state, round_, tolerance, F):  # type: ignore[no-untyped-def]
    """The gradient at x, the pair (step just done, change of the gradient), and the next direction in d."""
    size = x.shape[1]
    r = size - 2
    memory = S.shape[1]
    alpha = np.empty(memory)
    for c in range(len(x)):
        if state[c] != 0:
            continue
        for i in range(penalised):
            g[c, i] = 2.0 * zeta[c] * x[c, i] - product[c, i]
        for i in range(penalised, r):
            g[c, i] = -product[c, i]
        newton = 1.0
        if round_ > 0:
            k = (round_ - 1) % memory
            for i in range(size):
                S[c, k, i] = d[c, i]
                Y[c, k, i] = g[c, i] - old[c, i]
            sy = dot(S[c, k], Y[c, k])
            ss, yy = dot(S[c, k], S[c, k]), dot(Y[c, k], Y[c, k])
            rho[c, k] = 1.0 / sy if sy > 1e-10 * math.sqrt(ss * yy) else 0.0
        for i in range(size):
            old[c, i] = g[c, i]
            d[c, i] = -g[c, i]
        plain = 0.0
        for i in range(size):
            plain += g[c, i] * g[c, i] * scale[c, i]
        pairs = min(round_, memory)
        for j in range(pairs):
            k = (round_ - 1 - j) % memory
            alpha[k] = rho[c, k] * dot(S[c, k], d[c])
            if rho[c, k] != 0.0:
                if newton == 1.0:
                    yhy = 0.0
                    for i in range(size):
                        yhy += Y[c, k, i] * Y[c, k, i] * scale[c, i]
                    newton = 1.0 / (rho[c, k] * yhy)
                for i in range(size):
                    d[c, i] -= alpha[k] * Y[c, k, i]
        for i in range(size):
            d[c, i] *= newton * scale[c, i]
        for j in range(pairs - 1, -1, -1):
            k = (round_ - 1 - j) % memory
            if rho[c, k] != 0.0:
                beta = alpha[k] - rho[c, k] * dot(Y[c, k], d[c])
                for i in range(size):
                    d[c, i] += beta * S[c, k, i]
        gd = dot(g[c], d[c])
        if max(-gd, plain) <= 2.0 * tolerance * max(value[c], SMALLEST_SHARE * math.log(2.0) * F.shape[1]):
            state[c] = 1
