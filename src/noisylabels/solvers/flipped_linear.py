r"""Logistic regression of two classes on many rows with labels that were flipped at random.

The fit maximises :math:`\sum_n a_n \log \tilde P_n - \sum_j p_j \theta_j^2` over :math:`\theta` and
:math:`\Omega`, with the penalties :math:`p`, :math:`f = \theta^T z` and
:math:`\tilde P^k = \omega_{0k} (1 - \sigma(f)) + \omega_{1k} \sigma(f)`.

Source: Bootkrajang and Kabán, ECML PKDD 2012, whose own solver is
`noisylabels.solvers.flipped_softmax.em_newton`.
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
TYPICAL_CURVATURE = 0.15  # typical sigma (1 - sigma) of a row
SMALLEST_CURVATURE = 1e-6  # smallest sigma (1 - sigma) of a row
STAGE = 25  # number of rounds with one scale
SAFE = 1e-10  # added to the diagonal of the typical Hessian, relative to its mean
MEMORY = 10  # pairs of steps that L-BFGS remembers
AIMED = 1e-12
"""Gain still possible, relative to the objective, at which a fit aims."""
ENOUGH = 1e-9
"""Gain still possible, relative to the objective, with which a fit may end."""
SMALLEST_SHARE = 0.1  # the objective counts as at least this share of n log 2, its value at f = 0


@compile_kernel(error_model="numpy")
def likelihood(
    ZT: Floats,
    theta: Floats,
    y: Floats,
    a: Floats,
    omega01: float,
    omega10: float,
    gradient: Floats,
) -> tuple[float, float, float, float, float]:
    """Compute the weighted log-likelihood and its gradient, in one pass over the rows.

    Parameters
    ----------
    ZT : ndarray of shape (r, n)
        Features by columns.
    theta : ndarray of shape (r,)
        Weights of the features.
    y : ndarray of shape (n,)
        Observed labels, 0.0 and 1.0.
    a : ndarray of shape (n,)
        Weights of the rows.
    omega01 : float
        Flip rate of class 0.
    omega10 : float
        Flip rate of class 1.
    gradient : ndarray of shape (r,)
        Overwritten with the gradient in `theta`.

    Returns
    -------
    value : float
        The weighted log-likelihood.
    class_one : float
        Expected weight of the rows of true class 1.
    flipped_one : float
        Expected weight of those among them that are labelled 0.
    class_zero : float
        Expected weight of the rows of true class 0.
    flipped_zero : float
        Expected weight of those among them that are labelled 1.
    """
    r, n = ZT.shape
    work = np.empty((3, BLOCK))
    f = work[0]
    slope = work[1]
    curvature = work[2]
    gradient[:] = 0.0
    value = 0.0
    class_one = 0.0
    flipped_one = 0.0
    class_zero = 0.0
    flipped_zero = 0.0
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        count = stop - start
        f[:] = 0.0
        for j in range(r):
            column = ZT[j, start:stop]
            weight = theta[j]
            for i in range(count):
                f[i] = fma(weight, column[i], f[i])
        sums = _evaluate(
            f[:count],
            y[start:stop],
            a[start:stop],
            omega01,
            omega10,
            slope[:count],
            curvature[:count],
        )
        value += sums[0]
        class_one += sums[1]
        flipped_one += sums[2]
        class_zero += sums[3]
        flipped_zero += sums[4]
        for j in range(r):
            gradient[j] += dot_lanes(slope, 0, ZT[j], start, count)
    return value, class_one, flipped_one, class_zero, flipped_zero


class _Descent:
    """The scaled objective of one fit as a function of one vector x, for L-BFGS.

    theta = L^-T u for the Cholesky factor L of Z^T diag(h) Z + 2 diag(penalty), a typical Hessian,
    and omega_01 = A^2 / (1 + A^2), A = x / sqrt(sum a), so that an entry is 0 at a finite A and
    smooth there; the same for omega_10. The squared norm of the gradient is then about twice what
    is left to gain.
    """

    def __init__(
        self,
        ZT: Floats,
        y: Floats,
        a: Floats,
        penalty: Floats,
        omega: Floats,
        learn_omega: bool,
    ) -> None:
        self.ZT = ZT
        self.y = y
        self.a = a
        self.penalty = penalty
        self.omega = omega
        self.learn_omega = learn_omega
        self.size = float(a.sum())
        self.L = self.factor(TYPICAL_CURVATURE * a)
        self.squared_gradient = math.inf  # squared gradient at the last call

    def factor(self, h: Floats) -> Floats:
        """Compute L for the curvatures h (n,) of the rows."""
        r = len(self.ZT)
        typical = np.zeros((r, r))
        unused = np.empty(r)
        normal_equations(self.ZT, h, h, typical, unused)  # this fills the lower half
        diagonal = np.diag(typical) + 2.0 * self.penalty
        np.fill_diagonal(typical, diagonal + SAFE * diagonal.mean())
        return np.asarray(cholesky(typical, lower=True, overwrite_a=True, check_finite=False))

    def start(self) -> Floats:
        x = np.zeros(len(self.L) + 2)
        flipped = self.omega[[0, 1], [1, 0]]
        unflipped = self.omega[[0, 1], [0, 1]]
        odds = flipped / unflipped
        x[-2:] = np.sqrt(odds * self.size)
        return x

    def rescale(self, x: Floats) -> Floats:
        """Compute L again for the curvatures at x, and return x in the new scale."""
        theta = self.theta_at(x)
        sigma = expit(theta @ self.ZT)
        curvature = np.maximum(sigma * (1.0 - sigma), SMALLEST_CURVATURE)
        self.L = self.factor(self.a * curvature)
        return np.append(self.L.T @ theta, x[-2:])

    def theta_at(self, x: Floats) -> Floats:
        u = x[: len(self.L)]
        return np.asarray(solve_triangular(self.L, u, lower=True, trans="T", check_finite=False))

    def omega_at(self, x: Floats) -> Floats:
        if not self.learn_omega:
            return self.omega
        odds = x[-2:] ** 2 / self.size
        omega01, omega10 = odds / (1.0 + odds)
        return flips.from_rates(float(omega01), float(omega10))

    def __call__(self, x: Floats) -> tuple[float, Floats]:
        """Compute the objective and its gradient."""
        theta = self.theta_at(x)
        omega = self.omega_at(x)
        slope = np.empty_like(theta)
        value, class_one, flipped_one, class_zero, flipped_zero = likelihood(
            self.ZT,
            theta,
            self.y,
            self.a,
            omega[0, 1],
            omega[1, 0],
            slope,
        )
        gradient = np.zeros_like(x)
        slope_of_theta = 2.0 * self.penalty * theta - slope
        slope_of_u = solve_triangular(self.L, slope_of_theta, lower=True, check_finite=False)
        gradient[: len(theta)] = slope_of_u
        if self.learn_omega:
            A = x[-2:] / math.sqrt(self.size)
            flipped = np.array([flipped_zero, flipped_one])
            all_of_class = np.array([class_zero, class_one])
            learned = np.divide(flipped, A, out=np.zeros(2), where=A != 0.0)
            slope_of_A = 2.0 * (all_of_class * A / (1.0 + A**2) - learned)
            gradient[-2:] = slope_of_A / math.sqrt(self.size)
        self.squared_gradient = float(gradient @ gradient)
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
    """Fit the weights and the flip matrix together by L-BFGS, with one pass for each evaluation.

    After every stage of some rounds the scale is computed again, so that it fits where the decision
    values are large.

    Parameters
    ----------
    ZT : ndarray of shape (r, n)
        Features by columns.
    y : ndarray of shape (n,)
        Observed labels, 0.0 and 1.0.
    a : ndarray of shape (n,)
        Weights of the rows, above 0.
    penalty : ndarray of shape (r,)
        Penalties on the squared weights, at least 0.
    omega : ndarray of shape (2, 2)
        Flip matrix where to begin, or the matrix itself where it is not learned.
    learn_omega : bool, default True
        Whether the flip matrix is learned.
    rounds : int, default 500
        Largest number of rounds.

    Returns
    -------
    Fit
        The fit.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise import flip_matrix
    >>> from noisylabels.solvers.flipped_linear import fit_two_classes
    >>> x = np.linspace(-1.0, 1.0, 60)
    >>> ZT = np.stack([x, np.ones(60)])
    >>> labels = (x > 0.0).astype(float)
    >>> fit = fit_two_classes(ZT, labels, np.ones(60), np.array([0.1, 0.0]), flip_matrix.START)
    >>> bool(fit.converged and fit.theta[0] > 1.0)
    True
    """
    descent = _Descent(np.ascontiguousarray(ZT), y, a, penalty, omega, learn_omega)
    smallest_objective = SMALLEST_SHARE * math.log(2.0) * descent.size
    objectives: list[float] = []

    def is_near(tolerance: float) -> bool:
        left_to_gain = 0.5 * descent.squared_gradient
        return left_to_gain <= tolerance * max(-objectives[-1], smallest_objective)

    def stop_when_near(intermediate_result: OptimizeResult) -> None:
        objectives.append(-float(intermediate_result.fun))
        if is_near(AIMED):
            raise StopIteration

    x = descent.start()
    while len(objectives) < rounds:
        before = len(objectives)
        options: Any = {
            "maxcor": MEMORY,
            "maxiter": min(STAGE, rounds - before),
            "maxfun": 2 * STAGE,
            "ftol": 0.0,
            "gtol": 0.0,
        }
        result = minimize(
            descent,
            x,
            jac=True,
            method="L-BFGS-B",
            callback=stop_when_near,
            options=options,
        )
        x = descent.rescale(result.x)
        value, _ = descent(x)
        if len(objectives) == before or is_near(AIMED):
            break
    objectives.append(-value)
    converged = math.isfinite(value) and is_near(ENOUGH)
    theta = descent.theta_at(x)
    final = descent.omega_at(x)
    return Fit(theta, final, penalty, objectives, converged, flips.permuted(final))
