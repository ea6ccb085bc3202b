"""Logistic regression whose labels were flipped at random: its likelihood, and many models on one kernel.

P~^1 = omega01 (1 - sigma) + omega11 sigma,  P~^0 = 1 - P~^1,  q = P(y = 1 | f, y~);
d log P~ / d f = q - sigma.

Source: Kabán and Bootkrajang, LABELNOISE 2017, eq. (1)-(6).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from noisylabels.blas_threads import single_threaded_if_small
from noisylabels.compilation import compile_kernel
from noisylabels.fixed_order.exp_and_log import LARGEST, exp_of_negative, log_of_positive
from noisylabels.fixed_order.lanes import fma, sum_lanes
from noisylabels.fixed_order.linear_algebra import put
from noisylabels.kernels.gaussian import Basis
from noisylabels.validation import Floats, choice

BLOCK = 128  # terms that are computed before they are summed
Bias = Literal["none", "free", "penalised"]
Penalty = Literal["weights", "rkhs"]
PriorFactor = Literal["slides", "exact"]
BETA = 2.0  # rate of the exponential prior of zeta
PRIOR_FACTORS = {"slides": 1.0, "exact": 0.5}
START = 0.2  # omega01 and omega10 at the start
MEMORY = 5  # pairs of L-BFGS
CURVATURE = 0.15  # a typical sigma (1 - sigma)
TOLERANCE = 1e-6  # what is still to be gained, relative to the objective, but to no less than
SMALLEST_SHARE = 0.1  # of n log 2, the objective of f = 0
ROUNDS = 300
LONGEST = 0.5  # largest step of a and b
HALVINGS = 25
SPARSE = 0.03  # share of entries below which the entries are listed


@compile_kernel(error_model="numpy")
def _weights(omega01: float, omega10: float, y: float) -> tuple[float, float]:
    """omega_0y and omega_1y of an observed label y, 0.0 or 1.0."""
    omega00, omega11 = 1.0 - omega01, 1.0 - omega10
    return omega00 + y * (omega01 - omega00), omega10 + y * (omega11 - omega10)


@compile_kernel(error_model="numpy")
def _terms(f: Floats, step: Floats, t: float, y: Floats, omega01: float, omega10: float, out: Floats) -> None:
    """The terms of the three sums of `likelihood`, then q - sigma, from 0, BLOCK, 2 BLOCK, 3 BLOCK of out."""
    for n in range(len(f)):
        here = fma(t, step[n], f[n])
        e = exp_of_negative(-min(abs(here), LARGEST))
        w0, w1 = _weights(omega01, omega10, y[n])
        e1 = 1.0 if here > 0.0 else e  # sigma = e1 / (1 + e)
        e0 = e if here > 0.0 else 1.0
        numerator = fma(w0, e0, w1 * e1)
        both = 1.0 / (numerator * (1.0 + e))
        over = both * (1.0 + e)  # 1 / numerator
        sign = 2.0 * y[n] - 1.0
        out[n] = log_of_positive(numerator * numerator * both)
        out[BLOCK + n] = sign * e0 * over
        out[2 * BLOCK + n] = sign * e1 * over
        out[3 * BLOCK + n] = w1 * e1 * over - e1 * both * numerator


@compile_kernel(error_model="numpy")
def likelihood(
    f: Floats,
    step: Floats,
    t: float,
    y: Floats,
    omega01: float,
    omega10: float,
    slope: Floats,
) -> tuple[float, float, float]:
    """sum_n log P~_n at f + t step, and its derivatives.

    f, step, y (n,), y the observed labels 0.0 and 1.0. Writes q - sigma to slope (n,).
    Returns the sum and its derivatives with respect to omega01, sum (2y - 1)(1 - sigma) / P~,
    and omega10, -sum (2y - 1) sigma / P~.
    """
    block = np.empty(4 * BLOCK)  # one array, so that the compiler sees that nothing overlaps
    value = up = down = 0.0
    for start in range(0, len(f), BLOCK):
        stop = min(start + BLOCK, len(f))
        count = stop - start
        _terms(f[start:stop], step[start:stop], t, y[start:stop], omega01, omega10, block)
        put(slope[start:stop], block[3 * BLOCK : 3 * BLOCK + count])
        value += sum_lanes(block, 0, count)
        up += sum_lanes(block, BLOCK, count)
        down -= sum_lanes(block, 2 * BLOCK, count)
    return value, up, down


@compile_kernel(error_model="numpy")
def posterior(f: Floats, y: Floats, omega01: float, omega10: float) -> Floats:
    """q_n = P(y_n = 1 | f_n, y~_n) for f, y (n,), y the observed labels 0.0 and 1.0: (n,)."""
    q = np.empty(len(f))
    for n in range(len(f)):
        e = exp_of_negative(-min(abs(f[n]), LARGEST))
        w0, w1 = _weights(omega01, omega10, y[n])
        zero, one = (w0 * e, w1) if f[n] > 0.0 else (w0, w1 * e)
        q[n] = one / (zero + one)
    return q


def marginal_zeta(square: float, n: float, prior_factor: str, beta: float = BETA) -> float:
    """zeta = c_zeta (n/2 + 1) / (||w||^2 / 2 + beta), from the marginal prior of n weights w.

    square = ||w||^2. c_zeta = 1 ("slides") is what the paper uses; with 1/2 ("exact"), 2 zeta w is the
    gradient of -log p(w).
    Raises ValueError: another prior_factor.
    Source: Kabán and Bootkrajang, LABELNOISE 2017, marginal prior of w.
    """
    factor = PRIOR_FACTORS[choice("prior_factor", prior_factor, PRIOR_FACTORS)]
    return factor * (n / 2.0 + 1.0) / (square / 2.0 + beta)


@dataclass(frozen=True)
class Columns:
    """f = K w + b = Z theta with the penalty zeta ||theta_1..p||^2; Z (n, r) or, with a bias, (n, r + 1).

    norms : of its columns.   penalised : how many of them, from the first.   back (r,) : w = Q (back theta).
    """

    Z: Floats
    norms: Floats
    penalised: int
    back: Floats

    @property
    def mask(self) -> Floats:
        """1.0 for penalised columns, else 0.0."""
        return (np.arange(len(self.norms)) < self.penalised).astype(float)

    def weights(self, theta: Floats) -> tuple[Floats, Floats]:
        """v (C, r) and b (C,) of theta (C, r) or (C, r + 1): f = K Q v + b."""
        r = len(self.back)
        b = theta[:, r] if theta.shape[1] > r else np.zeros(len(theta))
        return theta[:, :r] * self.back, b


def columns(basis: Basis, bias: str, penalty: str, least: float = 0.0) -> Columns:
    """The columns of a variant of kernel logistic regression, but those of w with n norms^2 <= ``least``.

    penalty "weights" : zeta ||w||^2, with Z = Q diag(lam) and w = Q theta.
            "rkhs"    : zeta w^T K w, the norm of the function space, with Z = Q diag(lam)^1/2 and
                        w = Q diag(lam)^-1/2 theta.
    bias "none"; "free" : a last column of ones, not penalised;
         "penalised"    : the same column, with zeta b^2 in the penalty, as if b was one more weight. With
                          "rkhs" that is the penalty of the kernel kappa + 1 without a bias.
    The paper's eq. (1) is "none" with "weights"; the others are ours.
    Raises ValueError: unknown bias or penalty.
    """
    check_variant(bias, penalty)
    root = basis.lam if penalty == "weights" else np.sqrt(basis.lam)
    r = int(np.count_nonzero(root**2 * len(basis.Q) > least))
    norms = root[:r]
    Z, back = basis.Q[:, :r] * norms, norms / basis.lam[:r]
    if bias == "none":
        return Columns(Z, norms, r, back)
    n = len(Z)
    penalised = r + (bias == "penalised")
    return Columns(np.column_stack([Z, np.ones(n)]), np.append(norms, np.sqrt(n)), penalised, back)


def check_variant(bias: str, penalty: str) -> None:
    """ValueError: a bias or a penalty that is not known."""
    choice("bias", bias, get_args(Bias))
    choice("penalty", penalty, get_args(Penalty))


@dataclass(frozen=True)
class Solution:
    """C models f = K Q v + bias: v (C, r); bias, omega01, omega10, objective (minimised), converged (C,)."""

    v: Floats
    bias: Floats
    omega01: Floats
    omega10: Floats
    objective: Floats
    converged: NDArray[np.bool_]


@single_threaded_if_small
def fit_batch(
    basis: Basis,
    labels: Floats,
    column: NDArray[np.int64],
    zeta: Floats,
    robust: bool,
    tolerance: float = TOLERANCE,
    bias: str = "none",
    penalty: str = "weights",
) -> Solution:
    """min_{theta, a, b}  -sum_n log P~_n + zeta ||theta_1..p||^2,  f = Z theta, by L-BFGS in lockstep,

    omega01 = a^2 / (1 + a^2),  omega10 = b^2 / (1 + b^2).
    Model c is fitted to the labels of row column[c] of labels (L, n), 0.0 or 1.0, with penalty zeta[c].
    bias, penalty : see `columns`, which defines Z.

    One model is one row of each array, so that a step of all models is two matrix products, F = Theta Z^T
    and (q - sigma) Z; what lies between is one compiled pass. Because Z^T Z is diagonal (a bias apart), the
    Hessian in theta is nearly diag(h norms^2 + 2 zeta), and L-BFGS starts from its inverse. f is linear along
    a search direction: the line search costs no matrix product. A model that has converged leaves the batch.
    Each model starts from theta = 0 and omega01 = omega10 = 0.2 and does not depend on the others.
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
    objective, converged = np.zeros(C), np.zeros(C, bool)
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
        done = state != 0 if round_ < ROUNDS - 1 else np.ones(len(here), bool)
        if done.any():
            index = here[done]
            theta[index], objective[index] = x[done, :r], value[done]
            converged[index] = state[done] == 1
            omega[index] = x[done, r:] ** 2 / (1.0 + x[done, r:] ** 2)
            keep = ~done
            here, column, zeta, value, state = here[keep], column[keep], zeta[keep], value[keep], state[keep]
            x, d, g, old, scale, F, S, Y, rho = (
                _front(array, keep) for array in (x, d, g, old, scale, F, S, Y, rho)
            )
            slope, step = slope[: len(here)], step[: len(here)]  # both are written before they are read
        if len(here) == 0:
            break
        times_ZT(d[:, :r], step)
    v = np.zeros((C, len(basis.lam)))
    v[:, : len(reading.back)], b = reading.weights(theta)
    return Solution(v, b, omega[:, 0], omega[:, 1], objective, converged)


def _front(array: Floats, keep: NDArray[np.bool_]) -> Floats:
    """The rows to keep, moved to the front of their memory: new memory would cost more than a step."""
    move(array.reshape(len(array), -1), keep)
    return array[: np.count_nonzero(keep)]


@compile_kernel(error_model="numpy")
def move(rows: Floats, keep: NDArray[np.bool_]) -> None:
    """Rows (C, p) to keep, in order, in the place of the first ones."""
    to = 0
    for c in range(len(rows)):
        if keep[c]:
            if to < c:
                for i in range(rows.shape[1]):
                    rows[to, i] = rows[c, i]
            to += 1


def _product(M: Floats) -> Callable[[Floats, Floats], object]:
    """(A, out) -> out = A M; narrow kernels have M with few entries."""
    if np.count_nonzero(M) > SPARSE * M.size:
        return lambda A, out: np.matmul(A, M, out=out)
    columns = csc_array(M)
    return lambda A, out: sparse_product(A, columns.indptr, columns.indices, columns.data, out)


@compile_kernel(error_model="numpy")
def sparse_product(A, start, index, entry, out):  # type: ignore[no-untyped-def]
    """out = A M for the columns of M: entry[start[j]:start[j + 1]] in the rows index[...]."""
    for c in range(len(A)):
        for j in range(len(start) - 1):
            total = 0.0
            for k in range(start[j], start[j + 1]):
                total += A[c, index[k]] * entry[k]
            out[c, j] = total


@compile_kernel(error_model="numpy")
def rate(a: float) -> float:
    """omega = a^2 / (1 + a^2), which is 0 at a finite a and smooth there."""
    return a * a / (1.0 + a * a)


@compile_kernel(error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
def dot(x: Floats, y: Floats) -> float:
    """sum_i x_i y_i."""
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


@compile_kernel(error_model="numpy")
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
        for i in range(r + 2):
            d[c, i] *= t
            x[c, i] += d[c, i]
        if robust:
            g[c, r] = -up * 2.0 * x[c, r] * (1.0 - omega01) ** 2
            g[c, r + 1] = -down * 2.0 * x[c, r + 1] * (1.0 - omega10) ** 2


@compile_kernel(error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
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
