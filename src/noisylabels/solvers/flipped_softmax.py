"""Logistic regression of K >= 2 classes whose labels were flipped at random, and two solvers.

max_{W, Omega}  sum_n a_n log P~_n - 2 sum_i penalty_i ||W_i||^2,  F = Z W,  sum_j W_ij = 0.

The columns of W (r, K) sum to zero by themselves where they are penalised, and by choice where they are not.
No class is singled out, so that a permutation of the classes permutes W and Omega. With two classes
f = F_1 - F_0 = Z theta has the penalty penalty_i theta_i^2.

Source: Bootkrajang and Kabán, ECML PKDD 2012.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky, helmert, solve_triangular
from scipy.optimize import OptimizeResult, minimize
from scipy.special import expit, log_softmax, logsumexp

from noisylabels.blas_threads import single_threaded_if_small
from noisylabels.noise import flip_matrix as flips
from noisylabels.validation import Floats

EM_TOLERANCE = 1e-5  # of the changes of f and Omega
NEAR = 1e-2  # the same, below which rounds of more than two classes are extrapolated
SMALLEST_CURVATURE, SMALLEST_STEP = 1e-6, 2.0**-39
RIDGES = (0.0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2)  # of a Newton step, relative to the diagonal

# of `lbfgs`
CURVATURE = 0.6  # K times a typical s_j s_k over that of f = 0
BLOCK = 1024  # rows
MEMORY = 10  # pairs of L-BFGS
ROUNDS = 1000
TOLERANCE = 1e-9  # what is still to be gained, relative to the objective, but to no less than
SMALLEST_SHARE = 0.1  # of n log K, the objective of f = 0
SAFE = 1e-10  # added to the diagonal of the typical Hessian, relative to its mean
LARGEST = 500.0  # exponent of a ratio of probabilities
SILENT = 5e-4  # half of the smallest 1 - omega_01 - omega_10 of a weighted fit


@dataclass(frozen=True)
class Fit:
    """theta (r,) of two classes, or W (r, K) whose rows sum to zero; Omega (K, K); the last penalty (r,);
    the objective per round; converged.

    permuted : class names changed places on the way, and Omega was reset.
    """

    theta: Floats
    omega: Floats
    penalty: Floats
    objectives: list[float]
    converged: bool
    permuted: bool


@cache
def contrasts(K: int) -> Floats:
    """C (K, K-1) with orthonormal columns that sum to zero: W = V C^T and ||W|| = ||V||."""
    return np.ascontiguousarray(helmert(K).T)


@cache
def pairs(K: int) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """j < k of K classes, (K (K-1)/2,) each, and (c_j - c_k)(c_j - c_k)^T ((K-1)^2, K (K-1)/2)."""
    i, j = np.array(list(combinations(range(K), 2))).T
    between = contrasts(K)[i] - contrasts(K)[j]
    return i, j, (between[:, :, np.newaxis] * between[:, np.newaxis]).reshape(len(i), -1).T


@single_threaded_if_small
def em_newton(
    Z: Floats,
    labels: NDArray[np.intp],
    penalty: Floats,
    omega: Floats,
    *,
    learn_omega: bool = True,
    weights: Floats | None = None,
    penalty_of: Callable[[Floats], Floats] | None = None,
    rounds: int = 50,
) -> Fit:
    """The plain solver: a Newton step on the EM surrogate, an update of Omega, repeat; theta of two classes.

    Two classes: f = Z theta, h = a max(sigma (1 - sigma), 1e-6),
    d = (Z^T diag(h) Z + 2 diag(penalty))^-1 (Z^T (a (q - sigma)) - 2 penalty theta).
    More: F = Z V C^T (C of `contrasts`); the surrogate has the gradient Z^T (a (q - s)) C - 4 penalty V and
    the Hessian -sum_{j<k} (Z^T diag(h_jk) Z) (x) (c_j - c_k)(c_j - c_k)^T - 4 diag(penalty),
    h_jk = a max(s_j s_k, 1e-6). A round costs O(n r^2 K^2 + r^3 K^3): for few columns, or as a reference.
    Near the end every second round is followed by `_leap`, unless the objective decreases.
    The step is halved until the objective does not decrease.
    Z (n, r), labels (n,) in 0..K-1, penalty (r,) >= 0, omega (K, K) where to begin; weights a (n,).
    penalty_of : the penalty for the next round from theta, for penalties with a prior.
    Stops when the changes of all f_j - f_k are <= 1e-5 (1 + max|f_j - f_k|) and those of Omega <= 1e-5.
    """
    K = len(omega)
    a = np.ones(len(Z)) if weights is None else weights
    C, V = contrasts(K), np.zeros(Z.shape[1] if K == 2 else (Z.shape[1], K - 1))
    objectives: list[float] = []
    permuted = converged = False
    known: list[Any] = [None, None]

    def decisions(V: Floats) -> Floats:
        return Z @ V if K == 2 else (C @ (V.T @ Z.T)).T

    def norm(F: Floats) -> Floats | None:
        """`log_sum` of K > 2 columns, kept for the next call with the same array."""
        if K > 2 and known[0] is not F:
            known[:] = F, flips.log_sum(F)
        return known[1]

    def state(V: Floats, F: Floats) -> tuple[float, Floats]:
        """The objective and q."""
        log_P, q = flips.expected(F, labels, omega, norm(F))
        cost = penalty @ V**2 if K == 2 else 2.0 * penalty @ (V**2).sum(axis=1)
        return float(a @ log_P - cost), q

    F = decisions(V)
    value, q = state(V, F)
    trail: list[tuple[Floats, Floats, Floats]] = []
    for _ in range(rounds):
        if len(trail) == 3:
            here = V, F, omega, value, q
            V, F, omega = _leap(*trail)
            value, q = state(V, F)
            if flips.permuted(omega) or not value >= here[3]:
                V, F, omega, value, q = here
            trail = [(V, F, omega)]
        if (scale := norm(F)) is None:
            direction = _binary_step(Z, F, q, a, penalty, V)
        else:
            direction = _softmax_step(Z, np.exp(F - scale), q, a, penalty, V)
        along, old, t = decisions(direction), value, 1.0
        while True:
            there = F + t * along
            value, q = state(V + t * direction, there)
            if t == 0.0 or value >= old:
                break
            t = 0.5 * t if t > SMALLEST_STEP else 0.0
        V, F = V + t * direction, there
        moved = 0.0
        if learn_omega:
            after = flips.updated(q, labels, omega, a)
            if flips.permuted(after):
                permuted, after = True, flips.projected(K)
            moved = float(np.abs(after - omega).max())
            omega = after
            value, q = state(V, F)
        objectives.append(value)
        if penalty_of is not None:
            before, penalty = penalty, penalty_of(V)
            moved = max(moved, float(np.abs(penalty - before).max() / (1e-300 + before.max())))
            value = state(V, F)[0]
        moved = max(moved, t * _widest(along) / (1.0 + _widest(F)))
        if moved <= EM_TOLERANCE:
            converged = True
            break
        trail = [*trail, (V, F, omega)] if K > 2 and moved <= NEAR else []
    return Fit(V if K == 2 else V @ C.T, omega, penalty, objectives, converged, permuted)


def _leap(*points: tuple[Floats, ...]) -> list[Floats]:
    """x_0 + 2 l r + l^2 v of x = (V, F, Omega), r = x_1 - x_0, v = x_2 - x_1 - r, l = |r| / |v| of V, Omega.

    l >= 1, where this is x_2, is halved while an entry of Omega would lose 99 %.
    Source: SQUAREM, Varadhan and Roland, Scandinavian Journal of Statistics 35, 2008.
    """
    moves = [(x0, x1 - x0, x2 - x1 - (x1 - x0)) for x0, x1, x2 in zip(*points, strict=True)]
    square_r, square_v = (sum(float((moves[i][k] ** 2).sum()) for i in (0, 2)) for k in (1, 2))
    length = max(1.0, math.sqrt(square_r / max(square_v, 1e-300)))
    while True:
        x = [x0 + 2.0 * length * r + length**2 * v for x0, r, v in moves]
        if length == 1.0 or (x[2] >= 0.01 * points[2][2]).all():
            return x
        length = max(1.0, 0.5 * length)


def _widest(F: Floats) -> float:
    """The largest |f_nj - f_nk|."""
    return float(np.abs(F).max() if F.ndim == 1 else np.ptp(F, axis=1).max())


def _binary_step(Z: Floats, f: Floats, q: Floats, a: Floats, penalty: Floats, theta: Floats) -> Floats:
    """The direction in theta (r,)."""
    sigma = expit(f)
    h = a * np.maximum(sigma * (1.0 - sigma), SMALLEST_CURVATURE)
    hessian = (Z.T * h) @ Z
    hessian[np.diag_indices_from(hessian)] += 2.0 * penalty
    return solve_newton(hessian, Z.T @ (a * (q - sigma)) - 2.0 * penalty * theta)


def _softmax_step(Z: Floats, s: Floats, q: Floats, a: Floats, penalty: Floats, V: Floats) -> Floats:
    """The direction in V (r, K-1)."""
    (r, k), C = V.shape, contrasts(s.shape[1])
    gradient = Z.T @ (a[:, np.newaxis] * (q - s)) @ C - 4.0 * penalty[:, np.newaxis] * V
    i, j, outer = pairs(k + 1)
    h = a * np.maximum(s.T[i] * s.T[j], SMALLEST_CURVATURE)
    grams = (Z.T * h[:, np.newaxis]).reshape(-1, len(Z)) @ Z
    hessian = (outer @ grams.reshape(len(h), -1)).reshape(k, k, r, r)
    flat = hessian.transpose(2, 0, 3, 1).reshape(r * k, r * k)
    flat.flat[:: r * k + 1] += np.repeat(4.0 * penalty, k)
    return solve_newton(flat, gradient.reshape(-1)).reshape(r, k)


def solve_newton(hessian: Floats, gradient: Floats) -> Floats:
    """Solve H d = g for H (r, r) that is positive definite but for rounding, with as small a ridge as can be.

    Columns that depend on each other leave H singular where the penalty is far below their size. The ridge
    is relative to the diagonal, so that it does not depend on the units of the columns.
    """
    diagonal = np.diag(hessian).copy()
    for ridge in RIDGES:
        np.fill_diagonal(hessian, diagonal + ridge * diagonal)
        with suppress(LinAlgError):
            factor = cho_factor(hessian, check_finite=False)
            return np.asarray(cho_solve(factor, gradient, check_finite=False))
    return np.asarray(gradient / diagonal)


def gram(Z: Floats, weights: Floats | None = None) -> Floats:
    """Z^T diag(a) Z (r, r), block by block."""
    if weights is None:
        return Z.T @ Z
    total = np.zeros((Z.shape[1], Z.shape[1]))
    for at in range(0, len(Z), BLOCK):
        block = Z[at : at + BLOCK]
        total += (block.T * weights[at : at + BLOCK]) @ block
    return total


def likelihood(
    Z: Floats, W: Floats, labels: NDArray[np.intp], omega: Floats, weights: Floats | None = None
) -> tuple[float, Floats, Floats]:
    """sum_n a_n log P~_n, its gradient Z^T (a (q - s)) in W (r, K), and R (K, K), block by block."""
    value, slope, R = 0.0, np.zeros_like(W), np.zeros_like(omega)
    one_hot = np.eye(len(omega))
    with np.errstate(divide="ignore"):
        log_omega = np.log(omega)
    for at in range(0, len(Z), BLOCK):
        block, y = Z[at : at + BLOCK], labels[at : at + BLOCK]
        log_s = log_softmax(block @ W, axis=1)
        joint = log_s + log_omega.T[y]
        log_P = logsumexp(joint, axis=1, keepdims=True)
        a = np.ones((len(y), 1)) if weights is None else weights[at : at + BLOCK, np.newaxis]
        value += float((a * log_P).sum())
        slope += block.T @ (a * (np.exp(joint - log_P) - np.exp(log_s)))
        R += np.exp(np.minimum(log_s - log_P, LARGEST)).T @ (a * one_hot[y])
    return value, slope, R


@single_threaded_if_small
def lbfgs(
    Z: Floats,
    labels: NDArray[np.intp],
    penalty: Floats,
    omega: Floats,
    *,
    learn_omega: bool = True,
    weights: Floats | None = None,
    tolerance: float = TOLERANCE,
) -> Fit:
    """W and Omega together from W = 0 by L-BFGS, in passes over blocks of rows: for many columns or rows.

    omega_jk = A_jk^2 / (1 + sum_{l != j} A_jl^2), A_jj = 1: an entry is 0 at a finite A and smooth there.
    The gradient of sum_n a_n log P~_n is a (q - s) in f, and in A_jl, l != j,
    2 A_jl / (1 + sum A_j^2) (R_jl - sum_k R_jk omega_jk),  R_jk = sum_{n: y~_n = k} a_n s_nj / P~_n.
    W = L^-T U C^T is scaled by the Cholesky factor of (0.6 / K) Z^T Z + 4 diag(penalty), a typical Hessian,
    and A by 1/sqrt(n), so that the squared norm of the gradient is about twice what is left to gain.
    A pass reads Z once and needs memory for a block beside it.
    Z (n, r), labels (n,) in 0..K-1, penalty (r,) >= 0, omega (K, K) where to begin; weights a (n,).
    If the class names change places, Omega is reset and kept, and W is fitted to that.
    """
    fit = _Descent(Z, labels, penalty, omega, weights, learn_omega).run(tolerance)
    # weights can make a class vanish, after which the labels of two classes say nothing about f
    if learn_omega and flips.permuted(fit.omega if weights is None else fit.omega + SILENT):
        reset = flips.projected(len(omega))
        again = _Descent(Z, labels, penalty, reset, weights, False).run(tolerance)
        return replace(again, permuted=True)
    return fit


class _Descent:
    """The scaled objective of one fit as a function of one vector."""

    def __init__(
        self,
        Z: Floats,
        labels: NDArray[np.intp],
        penalty: Floats,
        omega: Floats,
        weights: Floats | None,
        learn_omega: bool,
    ) -> None:
        self.Z, self.labels, self.penalty, self.omega, self.weights = Z, labels, penalty, omega, weights
        self.learn_omega, self.K = learn_omega, len(omega)
        self.C, self.off = contrasts(self.K), ~np.eye(self.K, dtype=bool)
        self.size = float(len(Z) if weights is None else weights.sum())
        typical = CURVATURE / self.K * gram(Z, weights)
        diagonal = typical[np.diag_indices_from(typical)] + 4.0 * penalty
        typical[np.diag_indices_from(typical)] = diagonal + SAFE * diagonal.mean()
        self.L = cholesky(typical, lower=True, overwrite_a=True, check_finite=False)
        self.square = np.inf  # of the gradient of the last call

    def weights_of(self, U: Floats) -> Floats:
        return np.asarray(solve_triangular(self.L, U, lower=True, trans="T", check_finite=False)) @ self.C.T

    def omega_at(self, x: Floats) -> tuple[Floats, Floats]:
        """A and Omega."""
        A = np.eye(self.K)
        A[self.off] = x[-self.K * (self.K - 1) :] / math.sqrt(self.size)
        return A, A**2 / (A**2).sum(axis=1, keepdims=True)

    def __call__(self, x: Floats) -> tuple[float, Floats]:
        """The objective to be minimised, and its gradient."""
        U = x[: len(self.L) * (self.K - 1)].reshape(len(self.L), self.K - 1)
        W = self.weights_of(U)
        A, omega = self.omega_at(x) if self.learn_omega else (np.eye(self.K), self.omega)
        fit, slope, R = likelihood(self.Z, W, self.labels, omega, self.weights)
        value = 2.0 * float(self.penalty @ (W**2).sum(axis=1)) - fit
        back = (4.0 * self.penalty[:, np.newaxis] * W - slope) @ self.C
        gradient = solve_triangular(self.L, back, lower=True, check_finite=False).reshape(-1)
        if self.learn_omega:
            of_row = (R * omega).sum(axis=1, keepdims=True)
            turn = 2.0 * A / (A**2).sum(axis=1, keepdims=True) * (of_row - R)
            gradient = np.append(gradient, turn[self.off] / math.sqrt(self.size))
        self.square = float(gradient @ gradient)
        return value, gradient

    def run(self, tolerance: float) -> Fit:
        x = np.zeros(len(self.L) * (self.K - 1))
        if self.learn_omega:
            ratio = self.omega / np.diag(self.omega)[:, np.newaxis]
            x = np.append(x, np.sqrt(ratio[self.off] * self.size))
        objectives: list[float] = []
        least = SMALLEST_SHARE * math.log(self.K) * self.size

        def met() -> bool:
            return self.square <= 2.0 * tolerance * max(objectives[-1], least)

        def watch(intermediate_result: OptimizeResult) -> None:
            objectives.append(float(intermediate_result.fun))
            if met():
                raise StopIteration

        options: Any = {"maxcor": MEMORY, "maxiter": ROUNDS, "maxfun": 2 * ROUNDS, "ftol": 0.0, "gtol": 0.0}
        found = minimize(self, x, jac=True, method="L-BFGS-B", callback=watch, options=options)
        objectives.append(self(found.x)[0])
        omega = self.omega_at(found.x)[1] if self.learn_omega else self.omega
        W = self.weights_of(found.x[: len(self.L) * (self.K - 1)].reshape(len(self.L), self.K - 1))
        theta = W if self.K > 2 else W[:, 1] - W[:, 0]
        return Fit(theta, omega, self.penalty, [-value for value in objectives], met(), False)
