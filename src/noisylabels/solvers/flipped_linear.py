"""Logistic regression of two classes on many rows, when labels of each class were flipped at random.

max_{theta, Omega}  sum_n a_n log P~_n - sum_j penalty_j theta_j^2,  f = theta . z,
P~^k = omega_0k (1 - sigma(f)) + omega_1k sigma(f).

Source: Bootkrajang and Kabán, ECML PKDD 2012, whose own solver is `flipped_softmax.em_newton`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import OptimizeResult, minimize
from scipy.special import expit

from noisylabels.blas_threads import single_threaded_if_small
from noisylabels.compilation import compile_kernel
from noisylabels.fixed_order.lanes import dot_lanes, fma
from noisylabels.fixed_order.linear_algebra import normal_equations
from noisylabels.noise import flip_matrix as flips
from noisylabels.solvers.flipped_softmax import Fit
from noisylabels.solvers.weighted_logistic import _evaluate
from noisylabels.validation import Floats

BLOCK = 1024  # rows whose columns stay in the processor's cache
TYPICAL_CURVATURE, SMALLEST_CURVATURE = 0.15, 1e-6  # sigma (1 - sigma) of a row
STAGE = 25  # rounds with one scale
SAFE = 1e-10  # added to the diagonal of the typical Hessian, relative to its mean
MEMORY = 10  # pairs of L-BFGS
AIMED, ENOUGH = 1e-12, 1e-9  # what is still to be gained, relative to the objective, but to no less than
SMALLEST_SHARE = 0.1  # of n log 2, the objective of f = 0


@compile_kernel(error_model="numpy")
def likelihood(
    ZT: Floats, theta: Floats, y: Floats, a: Floats, omega01: float, omega10: float, gradient: Floats
) -> tuple[float, float, float, float, float]:
    """Write the gradient of sum_n a_n log P~_n in theta (r,), in one pass over the columns of ZT (r, n).

    y (n,) : the observed labels, 0.0 and 1.0.   a (n,) : weights.
    Returns the sum, and with q_n = P(y_n = 1 | x_n, y~_n) the sums of a q, of a q where y~ = 0, of a (1 - q),
    of a (1 - q) where y~ = 1.
    """
    r, n = ZT.shape
    work = np.empty((3, BLOCK))
    f, slope, curvature = work[0], work[1], work[2]
    gradient[:] = 0.0
    value = one = one_flipped = zero = zero_flipped = 0.0
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        count = stop - start
        f[:] = 0.0
        for j in range(r):
            column, weight = ZT[j, start:stop], theta[j]
            for i in range(count):
                f[i] = fma(weight, column[i], f[i])
        sums = _evaluate(
            f[:count], y[start:stop], a[start:stop], omega01, omega10, slope[:count], curvature[:count]
        )
        value += sums[0]
        one += sums[1]
        one_flipped += sums[2]
        zero += sums[3]
        zero_flipped += sums[4]
        for j in range(r):
            gradient[j] += dot_lanes(slope, 0, ZT[j], start, count)
    return value, one, one_flipped, zero, zero_flipped


class _Descent:
    """The scaled objective of one fit, to be minimised, as a function of one vector x.

    theta = L^-T u for the Cholesky factor L of Z^T diag(h) Z + 2 diag(penalty), a typical Hessian, and
    omega_01 = A^2 / (1 + A^2), A = x / sqrt(sum a), so that an entry is 0 at a finite A and smooth there; the
    same for omega_10. The squared norm of the gradient is then about twice what is left to gain.
    """

    def __init__(
        self, ZT: Floats, y: Floats, a: Floats, penalty: Floats, omega: Floats, learn_omega: bool
    ) -> None:
        self.ZT, self.y, self.a, self.penalty = ZT, y, a, penalty
        self.omega, self.learn_omega = omega, learn_omega
        self.size = float(a.sum())
        self.L = self.factor(TYPICAL_CURVATURE * a)
        self.square = math.inf  # of the gradient of the last call

    def factor(self, h: Floats) -> Floats:
        """L of the curvatures h (n,) of the rows."""
        r = len(self.ZT)
        typical, unused = np.zeros((r, r)), np.empty(r)
        normal_equations(self.ZT, h, h, typical, unused)  # the lower half
        diagonal = np.diag(typical) + 2.0 * self.penalty
        np.fill_diagonal(typical, diagonal + SAFE * diagonal.mean())
        return np.asarray(cholesky(typical, lower=True, overwrite_a=True, check_finite=False))

    def start(self) -> Floats:
        x = np.zeros(len(self.L) + 2)
        odds = self.omega[[0, 1], [1, 0]] / self.omega[[0, 1], [0, 1]]
        x[-2:] = np.sqrt(odds * self.size)
        return x

    def rescale(self, x: Floats) -> Floats:
        """The same point x after L has been computed again, of the curvatures at this point."""
        theta = self.theta_at(x)
        sigma = expit(theta @ self.ZT)
        self.L = self.factor(self.a * np.maximum(sigma * (1.0 - sigma), SMALLEST_CURVATURE))
        return np.append(self.L.T @ theta, x[-2:])

    def theta_at(self, x: Floats) -> Floats:
        u = x[: len(self.L)]
        return np.asarray(solve_triangular(self.L, u, lower=True, trans="T", check_finite=False))

    def omega_at(self, x: Floats) -> Floats:
        if not self.learn_omega:
            return self.omega
        square = x[-2:] ** 2 / self.size
        up, down = square / (1.0 + square)
        return flips.from_rates(float(up), float(down))

    def __call__(self, x: Floats) -> tuple[float, Floats]:
        """The objective and its gradient."""
        theta, omega = self.theta_at(x), self.omega_at(x)
        slope = np.empty_like(theta)
        value, one, one_flipped, zero, zero_flipped = likelihood(
            self.ZT, theta, self.y, self.a, omega[0, 1], omega[1, 0], slope
        )
        gradient = np.zeros_like(x)
        back = 2.0 * self.penalty * theta - slope
        gradient[: len(theta)] = solve_triangular(self.L, back, lower=True, check_finite=False)
        if self.learn_omega:
            A = x[-2:] / math.sqrt(self.size)
            flipped, all_of_class = np.array([zero_flipped, one_flipped]), np.array([zero, one])
            learned = np.divide(flipped, A, out=np.zeros(2), where=A != 0.0)
            turn = 2.0 * (all_of_class * A / (1.0 + A**2) - learned)
            gradient[-2:] = turn / math.sqrt(self.size)
        self.square = float(gradient @ gradient)
        return float(self.penalty @ theta**2 - value), gradient


@single_threaded_if_small
def fit_two_classes(
    ZT: Floats,
    y: Floats,
    a: Floats,
    penalty: Floats,
    omega: Floats,
    *,
    learn_omega: bool = True,
    rounds: int = 500,
) -> Fit:
    """theta and Omega together by L-BFGS from theta = 0, one pass over the rows for each evaluation.

    After every stage of some rounds the scale is computed again, so that it fits where f is large.
    ZT (r, n): the features by columns.   y (n,): observed labels, 0.0 and 1.0.   a (n,): weights > 0.
    penalty (r,) >= 0.   omega (2, 2): where to begin, or the matrix itself where it is not learned.
    """
    descent = _Descent(np.ascontiguousarray(ZT), y, a, penalty, omega, learn_omega)
    least = SMALLEST_SHARE * math.log(2.0) * descent.size
    objectives: list[float] = []

    def is_near(tolerance: float) -> bool:
        return descent.square <= 2.0 * tolerance * max(-objectives[-1], least)

    def stop_when_near(intermediate_result: OptimizeResult) -> None:
        objectives.append(-float(intermediate_result.fun))
        if is_near(AIMED):
            raise StopIteration

    x = descent.start()
    while len(objectives) < rounds:
        most = min(STAGE, rounds - len(objectives))
        options: Any = {"maxcor": MEMORY, "maxiter": most, "maxfun": 2 * STAGE, "ftol": 0.0, "gtol": 0.0}
        before = len(objectives)
        found = minimize(descent, x, jac=True, method="L-BFGS-B", callback=stop_when_near, options=options)
        x = descent.rescale(found.x)
        value, _ = descent(x)
        if len(objectives) == before or is_near(AIMED):
            break
    objectives.append(-value)
    converged = math.isfinite(value) and is_near(ENOUGH)
    final = descent.omega_at(x)
    return Fit(descent.theta_at(x), final, penalty, objectives, converged, flips.permuted(final))
