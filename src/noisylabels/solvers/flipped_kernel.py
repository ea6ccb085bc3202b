r"""Fit of one kernel logistic regression of two classes without eigenvectors of the kernel matrix.

The fit maximises :math:`\sum_n \log \tilde P_n - \zeta \lVert w \rVert^2` over :math:`w`, :math:`b`
and :math:`\Omega`, with :math:`f = K w + b` and
:math:`\tilde P^1 = \omega_{01} (1 - \sigma(f)) + \omega_{11} \sigma(f)`.

Source: Kabán and Bootkrajang, LABELNOISE 2017, eq. (1). Many models on one kernel:
`noisylabels.solvers.flipped_logistic`.
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

LEADING = 64  # number of eigenvectors that are computed
LEADING_SHARE = 6  # rows for each of these eigenvectors, at least
FEWEST_ROWS = 400  # with fewer rows, all eigenvectors of K cost less
LOW_RANK = 1e-6
"""Ratio of the smallest to the largest computed eigenvalue below which Cholesky is faster."""
WORST_CONDITION = 100.0  # largest condition number of the Hessian outside the leading eigenvectors
CURVATURE = 0.15  # typical value of sigma (1 - sigma)
MEMORY = 10  # pairs of steps that L-BFGS remembers
ROUNDS = 1000
SMALLEST_SHARE = 0.1  # the objective counts as at least this share of n log 2, its value at f = 0
SEED = 0  # seed of the random directions in which eigenvectors are sought


@dataclass(frozen=True)
class Model:
    """A kernel logistic regression.

    Parameters
    ----------
    w : ndarray of shape (n,)
        Weights of the kernel functions at the training points.
    bias : float
        Constant that is added to their sum.
    omega : ndarray of shape (2, 2)
        Flip matrix, rows for the true classes.
    objective : float
        The objective, which is maximised.
    converged : bool
        Whether the maximum was reached.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.solvers.flipped_kernel import Model
    >>> Model(np.zeros(2), 0.0, np.eye(2), -1.4, True).converged
    True
    """

    w: Floats
    bias: float
    omega: Floats
    objective: float
    converged: bool


def leading_eigenvectors(K: Floats, count: int) -> tuple[Floats, Floats]:
    """Approximate the largest eigenvalues of a kernel matrix by random directions.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel matrix.
    count : int
        Number of eigenvalues.

    Returns
    -------
    values : ndarray of shape (count,)
        About the largest eigenvalues, ascending.
    vectors : ndarray of shape (n, count)
        Their eigenvectors.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.solvers.flipped_kernel import leading_eigenvectors
    >>> values, vectors = leading_eigenvectors(np.diag([4.0, 2.0, 0.0, 0.0]), 2)
    >>> values.round(6).tolist()
    [2.0, 4.0]

    References
    ----------
    Halko, Martinsson and Tropp, SIAM Review 53 (2011), algorithm 4.4 with one iteration.
    """
    directions = generator(SEED).standard_normal((len(K), count))
    image = K @ directions
    Q = qr(image, mode="economic", check_finite=False, overwrite_a=True)[0]
    projected = Q.T @ (K @ Q)
    values, turn = eigh(projected, check_finite=False, overwrite_a=True)
    return np.maximum(values, 0.0), Q @ turn


class _Descent:
    """The scaled objective as a function of one vector x, for L-BFGS.

    The Hessian in w is about 0.15 K^2 + 2 zeta I. With the leading eigenvectors of K its inverse
    root is known well enough: w = S u. The rest of x is the bias and, as in
    `flipped_logistic.fit_batch`, the roots of the odds of the flip rates, both scaled by how much
    the rows say about them.
    """

    def __init__(
        self,
        K: Floats,
        y: Floats,
        zeta: float,
        robust: bool,
        bias: str,
        values: Floats,
        Q: Floats,
    ) -> None:
        self.K = K
        self.y = y
        self.zeta = zeta
        self.robust = robust
        self.bias = bias
        self.Q = Q
        n = len(K)
        smallest_squared = values[0] ** 2
        self.remaining_scale = 1.0 / math.sqrt(CURVATURE * smallest_squared / 4.0 + 2.0 * zeta)
        leading_scale = 1.0 / np.sqrt(CURVATURE * values**2 + 2.0 * zeta)
        self.extra_scale = leading_scale - self.remaining_scale
        penalised = 2.0 * zeta if bias == "penalised" else 0.0
        self.bias_scale = 0.0
        if bias != "none":
            self.bias_scale = 1.0 / math.sqrt(CURVATURE * n + penalised)
        self.rate_scale = 1.0 / math.sqrt(n) if robust else 0.0
        self.zero_step = np.zeros(n)
        self.slope = np.empty(n)
        self.squared_gradient = math.inf  # squared gradient at the last call

    def start(self) -> Floats:
        x = np.zeros(len(self.K) + 3)
        if self.robust:
            x[-2:] = math.sqrt(START / (1.0 - START)) / self.rate_scale
        return x

    def scaled(self, u: Floats) -> Floats:
        """Multiply a vector by the symmetric S."""
        leading = self.Q @ (self.extra_scale * (self.Q.T @ u))
        return np.asarray(self.remaining_scale * u + leading)

    def parameters(self, x: Floats) -> tuple[Floats, float, Floats, Floats]:
        """Compute w, the bias, the roots of the odds and the flip rates."""
        w = self.scaled(x[:-3])
        bias = self.bias_scale * float(x[-3])
        roots = self.rate_scale * x[-2:]
        odds = roots**2
        return w, bias, roots, odds / (1.0 + odds)

    def __call__(self, x: Floats) -> tuple[float, Floats]:
        """Compute the objective and its gradient."""
        w, b, roots, rates = self.parameters(x)
        f = self.K @ w + b
        fit, slope01, slope10 = likelihood(
            f,
            self.zero_step,
            0.0,
            self.y,
            rates[0],
            rates[1],
            self.slope,
        )
        penalty = self.zeta * float(w @ w)
        slope_of_w = 2.0 * self.zeta * w - self.K @ self.slope
        slope_of_bias = -float(self.slope.sum())
        if self.bias == "penalised":
            penalty += self.zeta * b**2
            slope_of_bias += 2.0 * self.zeta * b
        slope_of_rates = np.array([slope01, slope10])
        gradient = np.zeros_like(x)
        gradient[:-3] = self.scaled(slope_of_w)
        gradient[-3] = self.bias_scale * slope_of_bias
        gradient[-2:] = -2.0 * self.rate_scale * slope_of_rates * roots * (1.0 - rates) ** 2
        self.squared_gradient = float(gradient @ gradient)
        return penalty - fit, gradient


def _pays(eigenvalues: Floats, zeta: float) -> bool:
    """Decide whether descent with these leading eigenvalues needs only few rounds."""
    smallest = eigenvalues[0]
    if smallest < LOW_RANK * eigenvalues[-1]:
        return False
    return not CURVATURE * smallest**2 > WORST_CONDITION * 2.0 * zeta


@single_threaded_if_small
def fit_one(
    K: Floats,
    y: Floats,
    zeta: float,
    robust: bool,
    bias: str,
    tolerance: float,
) -> Model | None:
    """Fit one model by L-BFGS, with two products with the kernel matrix for each evaluation.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel matrix.
    y : ndarray of shape (n,)
        Observed labels, 0.0 and 1.0.
    zeta : float
        Penalty on the squared norm of the weights.
    robust : bool
        Whether the flip rates are learned, from 0.2; else they are 0.
    bias : {"none", "free", "penalised"}
        Whether there is a constant, and whether it is penalised.
    tolerance : float
        What may be left to gain, relative to the objective.

    Returns
    -------
    Model or None
        The model. None where descent does not pay or would need many rounds: for few rows, for
        kernels of low rank, and for penalties that are small next to the eigenvalues that are not
        computed.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.solvers.flipped_kernel import fit_one
    >>> fit_one(np.eye(3), np.array([0.0, 1.0, 1.0]), 1.0, True, "none", 1e-6) is None
    True
    """
    if len(K) < FEWEST_ROWS:
        return None
    count = min(LEADING, len(K) // LEADING_SHARE)
    eigenvalues, Q = leading_eigenvectors(K, count)
    if not _pays(eigenvalues, zeta):
        return None
    descent = _Descent(K, y, zeta, robust, bias, eigenvalues, Q)
    smallest_objective = SMALLEST_SHARE * math.log(2.0) * len(y)

    def is_near(value: float) -> bool:
        left_to_gain = 0.5 * descent.squared_gradient
        return left_to_gain <= tolerance * max(value, smallest_objective)

    def stop_when_near(intermediate_result: OptimizeResult) -> None:
        if is_near(float(intermediate_result.fun)):
            raise StopIteration

    options: Any = {
        "maxcor": MEMORY,
        "maxiter": ROUNDS,
        "maxfun": 2 * ROUNDS,
        "ftol": 0.0,
        "gtol": 0.0,
    }
    result = minimize(
        descent,
        descent.start(),
        jac=True,
        method="L-BFGS-B",
        callback=stop_when_near,
        options=options,
    )
    value, _ = descent(result.x)
    w, b, _, rates = descent.parameters(result.x)
    omega = flip_matrix.from_rates(float(rates[0]), float(rates[1]))
    return Model(w, b, omega, -value, is_near(value))
