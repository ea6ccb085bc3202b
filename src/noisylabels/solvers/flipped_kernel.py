"""One kernel logistic regression of two classes, without the eigenvectors of its kernel matrix.

max_{w, b, Omega}  sum_n log P~_n - zeta ||w||^2,  f = K w + b,
P~^1 = omega01 (1 - sigma(f)) + omega11 sigma(f).

Source: Kabán and Bootkrajang, LABELNOISE 2017, eq. (1). Many models on one kernel: `flipped_logistic`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh, qr
from scipy.optimize import OptimizeResult, minimize

from noisylabels.blas_threads import single_threaded_if_small
from noisylabels.noise import flip_matrix
from noisylabels.seeding import generator
from noisylabels.solvers.flipped_logistic import START, likelihood
from noisylabels.validation import Floats

LEADING = 64  # eigenvectors that are found
LEADING_SHARE = 6  # at most one in so many
FEWEST_ROWS = 400  # below, the eigenvectors of K cost less
LOW_RANK = 1e-6  # the least of the leading eigenvalues over the largest, below which Cholesky is quicker
WORST_CONDITION = 100.0  # of the Hessian outside the leading eigenvectors
CURVATURE = 0.15  # a typical sigma (1 - sigma)
MEMORY = 10  # pairs of L-BFGS
ROUNDS = 1000
SMALLEST_SHARE = 0.1  # of n log 2, the objective of f = 0
SEED = 0  # of the directions in which eigenvectors are looked for


@dataclass(frozen=True)
class Model:
    """f = K w + bias: w (n,), the flip matrix, the objective (a maximum) and whether it was reached."""

    w: Floats
    bias: float
    omega: Floats
    objective: float
    converged: bool


def leading_eigenvectors(K: Floats, count: int) -> tuple[Floats, Floats]:
    """About the largest eigenvalues (count,) of K (n, n) and their vectors (n, count), by random directions.

    Source: Halko, Martinsson and Tropp, SIAM Review 53, 2011, algorithm 4.4 with one iteration.
    """
    directions = generator(SEED).standard_normal((len(K), count))
    Q = qr(K @ directions, mode="economic", check_finite=False, overwrite_a=True)[0]
    values, turn = eigh(Q.T @ (K @ Q), check_finite=False, overwrite_a=True)
    return np.maximum(values, 0.0), Q @ turn


class _Descent:
    """The scaled objective, to be minimised, as a function of one vector x.

    The Hessian in w is about 0.15 K^2 + 2 zeta I. With the leading eigenvectors of K its inverse root is
    known well enough: w = S u. The rest of x is the bias and, as in `flipped_logistic.fit_batch`, the roots
    of the odds of the flip rates, both scaled by how much the rows say about them.
    """

    def __init__(
        self, K: Floats, y: Floats, zeta: float, robust: bool, bias: str, values: Floats, Q: Floats
    ) -> None:
        self.K, self.y, self.zeta, self.robust, self.bias, self.Q = K, y, zeta, robust, bias, Q
        n = len(K)
        self.rest = 1.0 / math.sqrt(CURVATURE * values[0] ** 2 / 4.0 + 2.0 * zeta)
        self.extra = 1.0 / np.sqrt(CURVATURE * values**2 + 2.0 * zeta) - self.rest
        penalised = 2.0 * zeta if bias == "penalised" else 0.0
        self.bias_scale = 0.0 if bias == "none" else 1.0 / math.sqrt(CURVATURE * n + penalised)
        self.rate_scale = 1.0 / math.sqrt(n) if robust else 0.0
        self.unmoved, self.slope = np.zeros(n), np.empty(n)
        self.square = math.inf  # of the gradient of the last call

    def start(self) -> Floats:
        x = np.zeros(len(self.K) + 3)
        if self.robust:
            x[-2:] = math.sqrt(START / (1.0 - START)) / self.rate_scale
        return x

    def scaled(self, u: Floats) -> Floats:
        """S u, S symmetric."""
        return np.asarray(self.rest * u + self.Q @ (self.extra * (self.Q.T @ u)))

    def parameters(self, x: Floats) -> tuple[Floats, float, Floats, Floats]:
        """w, the bias, the roots of the odds and the flip rates."""
        roots = self.rate_scale * x[-2:]
        return self.scaled(x[:-3]), self.bias_scale * float(x[-3]), roots, roots**2 / (1.0 + roots**2)

    def __call__(self, x: Floats) -> tuple[float, Floats]:
        """The objective and its gradient."""
        w, b, roots, rates = self.parameters(x)
        f = self.K @ w + b
        fit, up, down = likelihood(f, self.unmoved, 0.0, self.y, rates[0], rates[1], self.slope)
        penalty = self.zeta * float(w @ w)
        gradient = np.zeros_like(x)
        gradient[:-3] = self.scaled(2.0 * self.zeta * w - self.K @ self.slope)
        pull = -float(self.slope.sum())
        if self.bias == "penalised":
            penalty += self.zeta * b**2
            pull += 2.0 * self.zeta * b
        gradient[-3] = self.bias_scale * pull
        gradient[-2:] = -2.0 * self.rate_scale * np.array([up, down]) * roots * (1.0 - rates) ** 2
        self.square = float(gradient @ gradient)
        return penalty - fit, gradient


@single_threaded_if_small
def fit_one(K: Floats, y: Floats, zeta: float, robust: bool, bias: str, tolerance: float) -> Model | None:
    """Fit by L-BFGS from w = 0 and flip rates of 0.2, two products with K for each evaluation.

    None if that does not pay, or would need many rounds: for few rows, for kernels of low rank, for penalties
    that are small beside the eigenvalues that are not looked for.
    K (n, n): kernel matrix.   y (n,): observed labels, 0.0 and 1.0.   bias: "none", "free" or "penalised".
    tolerance: of what is left to gain, relative to the objective.
    """
    if len(K) < FEWEST_ROWS:
        return None
    eigenvalues, Q = leading_eigenvectors(K, min(LEADING, len(K) // LEADING_SHARE))
    if eigenvalues[0] < LOW_RANK * eigenvalues[-1]:
        return None
    if CURVATURE * eigenvalues[0] ** 2 > WORST_CONDITION * 2.0 * zeta:
        return None
    descent = _Descent(K, y, zeta, robust, bias, eigenvalues, Q)
    least = SMALLEST_SHARE * math.log(2.0) * len(y)

    def is_near(value: float) -> bool:
        return descent.square <= 2.0 * tolerance * max(value, least)

    def stop_when_near(intermediate_result: OptimizeResult) -> None:
        if is_near(float(intermediate_result.fun)):
            raise StopIteration

    options: Any = {"maxcor": MEMORY, "maxiter": ROUNDS, "maxfun": 2 * ROUNDS, "ftol": 0.0, "gtol": 0.0}
    found = minimize(
        descent, descent.start(), jac=True, method="L-BFGS-B", callback=stop_when_near, options=options
    )
    value = descent(found.x)[0]
    w, b, _, rates = descent.parameters(found.x)
    omega = flip_matrix.from_rates(float(rates[0]), float(rates[1]))
    return Model(w, b, omega, -value, is_near(value))
