r"""Logistic regression of several classes on randomly flipped labels, by two solvers.

The fit maximises :math:`\sum_n a_n \log \tilde P_n - 2 \sum_i p_i \lVert W_i \rVert^2` over
:math:`W` and :math:`\Omega`, with the penalties :math:`p`, :math:`F = Z W` and
:math:`\sum_j W_{ij} = 0`.

The columns of W (r, K) sum to zero by themselves where they are penalised, and by choice where
they are not. No class is singled out, so that a permutation of the classes permutes W and the flip
matrix. With two classes :math:`f = F_1 - F_0 = Z \theta` has the penalty :math:`p_i \theta_i^2`.

Source: Bootkrajang and Kabán, ECML PKDD 2012.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky, helmert, solve_triangular
from scipy.optimize import OptimizeResult, minimize
from scipy.special import expit, log_softmax, logsumexp

from noisylabels.blas_threads import single_threaded_if_small
from noisylabels.noise import flip_matrix as flips
from noisylabels.validation import Floats

EM_TOLERANCE = 1e-5  # changes of f and Omega that end EM
NEAR = 1e-2  # changes below which rounds of more than two classes are extrapolated
SMALLEST_CURVATURE = 1e-6
SMALLEST_STEP = 2.0**-39
RIDGES = (0.0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2)
"""Ridges of a Newton step that are tried in turn, relative to the diagonal."""

# of `lbfgs`
CURVATURE = 0.6  # typical value of K s_j s_k, relative to f = 0
BLOCK = 1024  # rows
MEMORY = 10  # pairs of steps that L-BFGS remembers
ROUNDS = 1000
TOLERANCE = 1e-9  # gain still possible at the end, relative to the objective
SMALLEST_SHARE = 0.1  # the objective counts as at least this share of n log K, its value at f = 0
SAFE = 1e-10  # added to the diagonal of the typical Hessian, relative to its mean
LARGEST = 500.0  # largest exponent of a ratio of probabilities
SILENT = 5e-4  # a weighted fit has 1 - omega_01 - omega_10 of at least twice this


@dataclass(frozen=True)
class Fit:
    """A fitted logistic regression and the flip matrix of its labels.

    Parameters
    ----------
    theta : ndarray of shape (r,) or (r, K)
        Weights of two classes, or of more classes, whose rows sum to zero.
    omega : ndarray of shape (K, K)
        Flip matrix, rows for the true classes.
    penalty : ndarray of shape (r,)
        The last penalty.
    objectives : list of float
        The objective after each round.
    converged : bool
        Whether the maximum was reached.
    permuted : bool
        Whether class names changed places on the way, and the flip matrix was reset.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.solvers.flipped_softmax import Fit
    >>> Fit(np.zeros(1), np.eye(2), np.ones(1), [-1.0], True, False).converged
    True
    """

    theta: Floats
    omega: Floats
    penalty: Floats
    objectives: list[float]
    converged: bool
    permuted: bool


class ClassPairs(NamedTuple):
    """List all pairs of classes, the smaller number first.

    Attributes
    ----------
    smaller : ndarray of shape (K (K - 1) / 2,)
        The class with the smaller number.
    larger : ndarray of shape (K (K - 1) / 2,)
        The other class.
    outer : ndarray of shape ((K - 1) squared, K (K - 1) / 2)
        Outer product of the difference of their rows of `contrasts` with itself, flat, by columns.
    """

    smaller: NDArray[np.intp]
    larger: NDArray[np.intp]
    outer: Floats


@cache
def contrasts(K: int) -> Floats:
    r"""Make orthonormal contrasts of classes.

    Parameters
    ----------
    K : int
        Number of classes.

    Returns
    -------
    ndarray of shape (K, K - 1)
        A matrix C with orthonormal columns that sum to zero, so that :math:`W = V C^T` has the norm
        of V.

    Examples
    --------
    >>> from noisylabels.solvers.flipped_softmax import contrasts
    >>> contrasts(3).shape
    (3, 2)
    """
    return np.ascontiguousarray(helmert(K).T)


@cache
def pairs(K: int) -> ClassPairs:
    """List the pairs of classes and the outer products of their contrasts.

    Parameters
    ----------
    K : int
        Number of classes.

    Returns
    -------
    ClassPairs
        The pairs.

    Examples
    --------
    >>> from noisylabels.solvers.flipped_softmax import pairs
    >>> pairs(3).smaller.tolist(), pairs(3).larger.tolist()
    ([0, 0, 1], [1, 2, 2])
    """
    couples = list(combinations(range(K), 2))
    smaller, larger = np.array(couples).T
    C = contrasts(K)
    difference = C[smaller] - C[larger]
    first_factor = difference[:, :, np.newaxis]
    outer = first_factor * difference[:, np.newaxis]
    flat = outer.reshape(len(smaller), -1)
    return ClassPairs(smaller, larger, flat.T)


class _Surrogate:
    """Decision values, objective and Newton steps of the EM surrogate of one fit."""

    def __init__(
        self,
        Z: Floats,
        labels: NDArray[np.intp],
        a: Floats,
        penalty: Floats,
        K: int,
    ) -> None:
        self.Z = Z
        self.labels = labels
        self.a = a
        self.penalty = penalty
        self.K = K
        self.C = contrasts(K)
        # `log_sum` of K > 2 columns, stored for the next call with the same array.
        self._last_F: Floats | None = None
        self._last_norm: Floats | None = None

    def start(self) -> Floats:
        r = self.Z.shape[1]
        return np.zeros(r if self.K == 2 else (r, self.K - 1))

    def decisions(self, V: Floats) -> Floats:
        if self.K == 2:
            return self.Z @ V
        return (self.C @ (V.T @ self.Z.T)).T

    def norm(self, F: Floats) -> Floats | None:
        if self.K > 2 and self._last_F is not F:
            self._last_F = F
            self._last_norm = flips.log_sum(F)
        return self._last_norm

    def evaluate(self, V: Floats, F: Floats, omega: Floats) -> tuple[float, Floats]:
        """Compute the objective and q."""
        norm = self.norm(F)
        log_P, q = flips.expected(F, self.labels, omega, norm)
        if self.K == 2:
            cost = self.penalty @ V**2
        else:
            squares = (V**2).sum(axis=1)
            cost = 2.0 * self.penalty @ squares
        return float(self.a @ log_P - cost), q

    def newton_step(self, V: Floats, F: Floats, q: Floats) -> Floats:
        norm = self.norm(F)
        if norm is None:
            return _binary_step(self.Z, F, q, self.a, self.penalty, V)
        s = np.exp(F - norm)
        return _softmax_step(self.Z, s, q, self.a, self.penalty, V)

    def weights(self, V: Floats) -> Floats:
        if self.K == 2:
            return V
        return V @ self.C.T


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
    r"""Fit by Newton steps on the EM surrogate and updates of the flip matrix in turn.

    This is the plain solver, for few columns, or as a reference.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
        Features.
    labels : ndarray of shape (n,)
        Observed labels, numbers of classes from 0.
    penalty : ndarray of shape (r,)
        Penalties on the squared weights, at least 0.
    omega : ndarray of shape (K, K)
        Flip matrix where to begin.
    learn_omega : bool, default True
        Whether the flip matrix is learned.
    weights : ndarray of shape (n,), optional
        Weights of the rows; None for 1.
    penalty_of : callable, optional
        The penalty of the next round as a function of the weights, for penalties with a prior.
    rounds : int, default 50
        Largest number of rounds.

    Returns
    -------
    Fit
        The fit.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise import flip_matrix
    >>> from noisylabels.solvers.flipped_softmax import em_newton
    >>> x = np.linspace(-1.0, 1.0, 60)
    >>> Z = np.column_stack([x, np.ones(60)])
    >>> fit = em_newton(Z, (x > 0.0).astype(int), np.array([0.1, 0.0]), flip_matrix.START)
    >>> bool(fit.converged and fit.theta[0] > 1.0)
    True

    Notes
    -----
    Two classes: :math:`f = Z \theta`, :math:`h = a \max(\sigma (1 - \sigma), 10^{-6})`
    and the step is
    :math:`H^{-1} (Z^T (a (q - \sigma)) - 2 p \theta)` with
    :math:`H = Z^T \mathrm{diag}(h) Z + 2\, \mathrm{diag}(p)`.

    More classes: :math:`F = Z V C^T` with C of `contrasts`. The surrogate has the gradient
    :math:`Z^T (a (q - s)) C - 4 p V` and the Hessian
    :math:`-\sum_{j<k} H_{jk} \otimes (c_j - c_k)(c_j - c_k)^T - 4\, \mathrm{diag}(p)` with
    :math:`H_{jk} = Z^T \mathrm{diag}(h_{jk}) Z` and :math:`h_{jk} = a \max(s_j s_k, 10^{-6})`. A
    round costs :math:`O(n r^2 K^2 + r^3 K^3)`. Near the end every second round is followed by an
    extrapolation, unless the objective decreases.

    A step is halved until the objective does not decrease. The fit stops when the changes of all
    :math:`f_j - f_k` are at most :math:`10^{-5} (1 + \max |f_j - f_k|)` and those of
    :math:`\Omega` at most :math:`10^{-5}`.
    """
    K = len(omega)
    if weights is None:
        a = np.ones(len(Z))
    else:
        a = weights
    surrogate = _Surrogate(Z, labels, a, penalty, K)
    V = surrogate.start()
    objectives: list[float] = []
    permuted = False
    converged = False
    F = surrogate.decisions(V)
    value, q = surrogate.evaluate(V, F, omega)
    trail: list[tuple[Floats, Floats, Floats]] = []
    for _ in range(rounds):
        if len(trail) == 3:
            before_leap = V, F, omega, value, q
            V, F, omega = _leap(*trail)
            value, q = surrogate.evaluate(V, F, omega)
            if flips.permuted(omega) or not value >= before_leap[3]:
                V, F, omega, value, q = before_leap
            trail = [(V, F, omega)]
        direction = surrogate.newton_step(V, F, q)
        along = surrogate.decisions(direction)
        old_value = value
        t = 1.0
        while True:
            trial_F = F + t * along
            value, q = surrogate.evaluate(V + t * direction, trial_F, omega)
            if t == 0.0 or value >= old_value:
                break
            t = 0.5 * t if t > SMALLEST_STEP else 0.0
        V = V + t * direction
        F = trial_F
        change = 0.0
        if learn_omega:
            new_omega = flips.updated(q, labels, omega, a)
            if flips.permuted(new_omega):
                permuted = True
                new_omega = flips.projected(K)
            change = float(np.abs(new_omega - omega).max())
            omega = new_omega
            value, q = surrogate.evaluate(V, F, omega)
        objectives.append(value)
        if penalty_of is not None:
            old_penalty = surrogate.penalty
            surrogate.penalty = penalty_of(V)
            largest_change = np.abs(surrogate.penalty - old_penalty).max()
            change = max(change, float(largest_change / (1e-300 + old_penalty.max())))
            value = surrogate.evaluate(V, F, omega)[0]
        change = max(change, t * _widest(along) / (1.0 + _widest(F)))
        if change <= EM_TOLERANCE:
            converged = True
            break
        if K > 2 and change <= NEAR:
            trail.append((V, F, omega))
        else:
            trail = []
    theta = surrogate.weights(V)
    return Fit(theta, omega, surrogate.penalty, objectives, converged, permuted)


def _leap(*points: tuple[Floats, ...]) -> list[Floats]:
    """Extrapolate the last two rounds.

    Extrapolate x_0 + 2 l r + l^2 v of x = (V, F, Omega), r = x_1 - x_0, v = x_2 - x_1 - r.

    l = |r| / |v| of V and Omega. l >= 1, where this is x_2, is halved while an entry of Omega would
    lose 99 %.
    Source: SQUAREM, Varadhan and Roland, Scandinavian Journal of Statistics 35, 2008.
    """
    moves = []
    for x0, x1, x2 in zip(*points, strict=True):
        r = x1 - x0
        moves.append((x0, r, x2 - x1 - r))
    square_r = 0.0
    square_v = 0.0
    for _, r, v in (moves[0], moves[2]):
        square_r += float((r**2).sum())
        square_v += float((v**2).sum())
    ratio = square_r / max(square_v, 1e-300)
    length = max(1.0, math.sqrt(ratio))
    smallest_omega = 0.01 * points[2][2]
    while True:
        x = [x0 + 2.0 * length * r + length**2 * v for x0, r, v in moves]
        if length == 1.0 or (x[2] >= smallest_omega).all():
            return x
        shrunk = 0.5 * length
        length = max(1.0, shrunk)


def _widest(F: Floats) -> float:
    """Compute the largest difference of two decision values, |f_nj - f_nk|."""
    if F.ndim == 1:
        return float(np.abs(F).max())
    return float(np.ptp(F, axis=1).max())


def _binary_step(
    Z: Floats,
    f: Floats,
    q: Floats,
    a: Floats,
    penalty: Floats,
    theta: Floats,
) -> Floats:
    """Compute the direction in theta (r,)."""
    sigma = expit(f)
    h = a * np.maximum(sigma * (1.0 - sigma), SMALLEST_CURVATURE)
    hessian = (Z.T * h) @ Z
    hessian[np.diag_indices_from(hessian)] += 2.0 * penalty
    gradient = Z.T @ (a * (q - sigma)) - 2.0 * penalty * theta
    return solve_newton(hessian, gradient)


def _softmax_step(
    Z: Floats,
    s: Floats,
    q: Floats,
    a: Floats,
    penalty: Floats,
    V: Floats,
) -> Floats:
    """Compute the direction in V (r, K-1)."""
    r, k = V.shape
    C = contrasts(s.shape[1])
    residual = a[:, np.newaxis] * (q - s)
    slope = Z.T @ residual @ C
    gradient = slope - 4.0 * penalty[:, np.newaxis] * V
    smaller, larger, outer = pairs(k + 1)
    products = s.T[smaller] * s.T[larger]
    h = a * np.maximum(products, SMALLEST_CURVATURE)
    weighted = Z.T * h[:, np.newaxis]
    grams = weighted.reshape(-1, len(Z)) @ Z
    blocks = outer @ grams.reshape(len(h), -1)
    hessian = blocks.reshape(k, k, r, r)
    flat = hessian.transpose(2, 0, 3, 1).reshape(r * k, r * k)
    penalties = np.repeat(4.0 * penalty, k)
    flat.flat[:: r * k + 1] += penalties
    step = solve_newton(flat, gradient.reshape(-1))
    return step.reshape(r, k)


def solve_newton(hessian: Floats, gradient: Floats) -> Floats:
    """Solve a linear system that is positive definite up to rounding, with the smallest ridge.

    Columns that depend on each other leave the matrix singular where the penalty is far below their
    size. The ridge is relative to the diagonal, so that it does not depend on the units of the
    columns.

    Parameters
    ----------
    hessian : ndarray of shape (r, r)
        The symmetric matrix; its diagonal is changed.
    gradient : ndarray of shape (r,)
        The right-hand side.

    Returns
    -------
    ndarray of shape (r,)
        The solution; that of the diagonal alone where no ridge is enough.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.solvers.flipped_softmax import solve_newton
    >>> solve_newton(np.diag([2.0, 4.0]), np.array([1.0, 1.0])).round(12).tolist()
    [0.5, 0.25]
    """
    diagonal = np.diag(hessian).copy()
    for ridge in RIDGES:
        np.fill_diagonal(hessian, diagonal + ridge * diagonal)
        with suppress(LinAlgError):
            factor = cho_factor(hessian, check_finite=False)
            return np.asarray(cho_solve(factor, gradient, check_finite=False))
    return np.asarray(gradient / diagonal)


def gram(Z: Floats, weights: Floats | None = None) -> Floats:
    """Compute the weighted products of all columns, block by block.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
        The columns.
    weights : ndarray of shape (n,), optional
        Weights of the rows; None for 1.

    Returns
    -------
    ndarray of shape (r, r)
        The products.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.solvers.flipped_softmax import gram
    >>> gram(np.array([[1.0], [2.0]]), np.array([1.0, 0.5])).tolist()
    [[3.0]]
    """
    if weights is None:
        return Z.T @ Z
    r = Z.shape[1]
    total = np.zeros((r, r))
    for start in range(0, len(Z), BLOCK):
        block = Z[start : start + BLOCK]
        total += (block.T * weights[start : start + BLOCK]) @ block
    return total


def likelihood(
    Z: Floats,
    W: Floats,
    labels: NDArray[np.intp],
    omega: Floats,
    weights: Floats | None = None,
) -> tuple[float, Floats, Floats]:
    r"""Compute the weighted log-likelihood and what its gradients need, block by block.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
        Features.
    W : ndarray of shape (r, K)
        Weights of the classes.
    labels : ndarray of shape (n,)
        Observed labels, numbers of classes from 0.
    omega : ndarray of shape (K, K)
        Flip matrix.
    weights : ndarray of shape (n,), optional
        Weights of the rows; None for 1.

    Returns
    -------
    value : float
        The log-likelihood :math:`\sum_n a_n \log \tilde P_n`.
    slope : ndarray of shape (r, K)
        Its gradient :math:`Z^T (a (q - s))` in W.
    R : ndarray of shape (K, K)
        Its gradient in the entries of the flip matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.solvers.flipped_softmax import likelihood
    >>> value, _, _ = likelihood(np.ones((1, 1)), np.zeros((1, 2)), np.array([0]), np.eye(2))
    >>> round(value, 4)
    -0.6931
    """
    value = 0.0
    slope = np.zeros_like(W)
    R = np.zeros_like(omega)
    one_hot = np.eye(len(omega))
    with np.errstate(divide="ignore"):
        log_omega = np.log(omega)
    for start in range(0, len(Z), BLOCK):
        rows = slice(start, start + BLOCK)
        block = Z[rows]
        y = labels[rows]
        if weights is None:
            a = np.ones((len(y), 1))
        else:
            a = weights[rows, np.newaxis]
        log_s = log_softmax(block @ W, axis=1)
        joint = log_s + log_omega.T[y]
        log_P = logsumexp(joint, axis=1, keepdims=True)
        q = np.exp(joint - log_P)
        ratio = np.exp(np.minimum(log_s - log_P, LARGEST))
        value += float((a * log_P).sum())
        slope += block.T @ (a * (q - np.exp(log_s)))
        R += ratio.T @ (a * one_hot[y])
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
    r"""Fit the weights and the flip matrix together by L-BFGS, in passes over blocks of rows.

    This is the solver for many columns or rows. If the class names change places, the flip matrix
    is reset and fixed, and the weights are fitted to that.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
        Features.
    labels : ndarray of shape (n,)
        Observed labels, numbers of classes from 0.
    penalty : ndarray of shape (r,)
        Penalties on the squared weights, at least 0.
    omega : ndarray of shape (K, K)
        Flip matrix where to begin.
    learn_omega : bool, default True
        Whether the flip matrix is learned.
    weights : ndarray of shape (n,), optional
        Weights of the rows; None for 1.
    tolerance : float, default 1e-9
        What may be left to gain, relative to the objective.

    Returns
    -------
    Fit
        The fit.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise import flip_matrix
    >>> from noisylabels.solvers.flipped_softmax import lbfgs
    >>> x = np.linspace(-1.0, 1.0, 60)
    >>> Z = np.column_stack([x, np.ones(60)])
    >>> fit = lbfgs(Z, (x > 0.0).astype(int), np.array([0.1, 0.0]), flip_matrix.START)
    >>> bool(fit.converged and fit.theta[0] > 1.0)
    True

    Notes
    -----
    :math:`\omega_{jk} = A_{jk}^2 / (1 + \sum_{l \ne j} A_{jl}^2)` with :math:`A_{jj} = 1`, so that
    an entry is 0 at a finite A and smooth there. The gradient of
    :math:`\sum_n a_n \log \tilde P_n` is :math:`a (q - s)` in f, and in :math:`A_{jl}`,
    :math:`l \ne j`, :math:`2 A_{jl} / (1 + \sum A_j^2) (R_{jl} - \sum_k R_{jk} \omega_{jk})` with
    :math:`R_{jk} = \sum_{n: \tilde y_n = k} a_n s_{nj} / \tilde P_n`.

    :math:`W = L^{-T} U C^T` is scaled by the Cholesky factor of
    :math:`(0.6 / K) Z^T Z + 4\, \mathrm{diag}(p)`, a typical Hessian, and A by
    :math:`1 / \sqrt{n}`, so that the squared norm of the gradient is about twice what is left to
    gain. A pass reads Z once, and needs memory for a block.
    """
    fit = _Descent(Z, labels, penalty, omega, weights, learn_omega).run(tolerance)
    if not learn_omega:
        return fit
    # weights can make a class vanish, after which the labels of two classes say nothing about f
    if weights is None:
        checked = fit.omega
    else:
        checked = fit.omega + SILENT
    if flips.permuted(checked):
        reset = flips.projected(len(omega))
        second_fit = _Descent(Z, labels, penalty, reset, weights, False).run(tolerance)
        return replace(second_fit, permuted=True)
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
        self.Z = Z
        self.labels = labels
        self.penalty = penalty
        self.omega = omega
        self.weights = weights
        self.learn_omega = learn_omega
        self.K = len(omega)
        self.C = contrasts(self.K)
        self.off_diagonal = ~np.eye(self.K, dtype=bool)
        self.size = float(len(Z) if weights is None else weights.sum())
        typical = CURVATURE / self.K * gram(Z, weights)
        diagonal = typical[np.diag_indices_from(typical)] + 4.0 * penalty
        typical[np.diag_indices_from(typical)] = diagonal + SAFE * diagonal.mean()
        self.L = cholesky(typical, lower=True, overwrite_a=True, check_finite=False)
        self.squared_gradient = np.inf  # squared gradient at the last call

    def weights_at(self, x: Floats) -> Floats:
        r = len(self.L)
        U = x[: r * (self.K - 1)].reshape(r, self.K - 1)
        V = np.asarray(solve_triangular(self.L, U, lower=True, trans="T", check_finite=False))
        return V @ self.C.T

    def omega_at(self, x: Floats) -> tuple[Floats, Floats]:
        """Compute A and Omega."""
        A = np.eye(self.K)
        if not self.learn_omega:
            return A, self.omega
        count = self.K * (self.K - 1)
        A[self.off_diagonal] = x[-count:] / math.sqrt(self.size)
        square = A**2
        return A, square / square.sum(axis=1, keepdims=True)

    def __call__(self, x: Floats) -> tuple[float, Floats]:
        """Compute the objective to be minimised, and its gradient."""
        W = self.weights_at(x)
        A, omega = self.omega_at(x)
        fit, slope, R = likelihood(self.Z, W, self.labels, omega, self.weights)
        squares = (W**2).sum(axis=1)
        cost = float(self.penalty @ squares)
        value = 2.0 * cost - fit
        slope_of_penalty = 4.0 * self.penalty[:, np.newaxis] * W
        slope_of_V = (slope_of_penalty - slope) @ self.C
        slope_of_U = solve_triangular(self.L, slope_of_V, lower=True, check_finite=False)
        gradient = slope_of_U.reshape(-1)
        if self.learn_omega:
            mean_of_row = (R * omega).sum(axis=1, keepdims=True)
            square_of_row = (A**2).sum(axis=1, keepdims=True)
            factor = 2.0 * A / square_of_row
            slope_of_A = factor * (mean_of_row - R)
            scaled = slope_of_A[self.off_diagonal] / math.sqrt(self.size)
            gradient = np.append(gradient, scaled)
        self.squared_gradient = float(gradient @ gradient)
        return value, gradient

    def start(self) -> Floats:
        x = np.zeros(len(self.L) * (self.K - 1))
        if not self.learn_omega:
            return x
        ratio = self.omega / np.diag(self.omega)[:, np.newaxis]
        return np.append(x, np.sqrt(ratio[self.off_diagonal] * self.size))

    def run(self, tolerance: float) -> Fit:
        objectives: list[float] = []
        smallest_objective = SMALLEST_SHARE * math.log(self.K) * self.size

        def is_near() -> bool:
            left_to_gain = 0.5 * self.squared_gradient
            return left_to_gain <= tolerance * max(objectives[-1], smallest_objective)

        def stop_when_near(intermediate_result: OptimizeResult) -> None:
            objectives.append(float(intermediate_result.fun))
            if is_near():
                raise StopIteration

        options: Any = {
            "maxcor": MEMORY,
            "maxiter": ROUNDS,
            "maxfun": 2 * ROUNDS,
            "ftol": 0.0,
            "gtol": 0.0,
        }
        result = minimize(
            self,
            self.start(),
            jac=True,
            method="L-BFGS-B",
            callback=stop_when_near,
            options=options,
        )
        x = result.x
        objectives.append(self(x)[0])
        _, omega = self.omega_at(x)
        W = self.weights_at(x)
        if self.K > 2:
            theta = W
        else:
            theta = W[:, 1] - W[:, 0]
        maximised = [-value for value in objectives]
        return Fit(theta, omega, self.penalty, maximised, is_near(), False)
