r"""Learning of the weights of many kernels, by the ascent path of rMKLR.

The path of one label column ascends
:math:`L(w, u, \Omega) = \sum_n \log \tilde P_n - \zeta \lVert w \rVert^2 - \sum_i \xi_i u_i^2` with
:math:`f = \sum_i \eta_i K_i w` and :math:`\eta_i = u_i^2`. One round::

    w:     at most 10 conjugate-gradient steps, zeta fixed                    (`conjugate_gradient`)
    zeta = c (N/2 + 1) / (||w||^2 / 2 + beta)
    u:     one gradient step of length t = 1, halved until L grows by 1e-4 t ||g||
    xi_i = 2 / eta_i
    Omega: with the posterior q of the current f                              (`flips.updated`)

The marginal objective behind zeta and xi has its maximum where every kernel is off: the result is
the end of this path, not an optimum. A greedier optimiser ends elsewhere, and worse. The path
amplifies rounding (1e-16 grows to 1e-6 in f). Therefore every sum has a fixed order, and no
function of BLAS, NumPy or SciPy whose last bits depend on the processor is used; only
`newton_steps` uses LAPACK.

Sources: Kabán and Bootkrajang, LABELNOISE 2017, eq. (4)-(9) and the rMKLR box; Nocedal and Wright,
Numerical Optimization, 2006, Algorithms 3.5, 3.6 and 5.4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from noisylabels.compilation import compile_kernel
from noisylabels.fixed_order.lanes import dot
from noisylabels.fixed_order.linear_algebra import combined, times
from noisylabels.kernels.bank import Stack, mixed, responses
from noisylabels.noise import flip_matrix as flips
from noisylabels.solvers.flipped_logistic import likelihood, marginal_zeta, posterior
from noisylabels.validation import Floats, choice, number, whole

WSolver = Literal["cg10", "newton"]
LARGEST_ETA = 1e12
SMALLEST_ETA = 1e-100  # psi, the smallest value in the prior of eta
PRUNED = 1e-8  # share of the largest eta below which a kernel is dropped
STILL = 1e-3  # changes of f and Omega that end the path
HALVINGS = 14
DECREASE, CURVATURE = 1e-4, 0.4  # the two Wolfe constants
TRIALS = 40  # largest number of trials in a line search
STATIONARY = 1e-5  # largest entry of a gradient that counts as zero

Fit = Callable[[Floats, Floats], float]
"""Type of a function of f (p,) that writes its gradient and returns sum_n a_n log P~_n."""


def u_gradient(F: Floats, residual: Floats, u: Floats, xi: Floats) -> Floats:
    r"""Compute the gradient of the objective in the roots of the kernel weights.

    Parameters
    ----------
    F : ndarray of shape (S, n)
        What each kernel of weight 1 adds to f.
    residual : ndarray of shape (n,)
        :math:`q - \sigma`.
    u : ndarray of shape (S,)
        Roots of the kernel weights.
    xi : ndarray of shape (S,)
        Penalties of the kernel weights.

    Returns
    -------
    ndarray of shape (S,)
        :math:`2 u_i (\sum_n (q_n - \sigma_n) F_{in} - \xi_i)`.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.solvers.multi_kernel import u_gradient
    >>> u_gradient(np.ones((1, 2)), np.array([0.5, 0.25]), np.ones(1), np.zeros(1)).tolist()
    [1.5]
    """
    return 2.0 * u * (times(F, residual) - xi)


def u_step(F: Floats, fit: Fit, u: Floats, xi: Floats, copies: Floats) -> Floats:
    """Make one gradient step in the roots of the kernel weights.

    Parameters
    ----------
    F : ndarray of shape (S, p)
        What each kernel of weight 1 adds to f.
    fit : callable
        The log-likelihood of f, which writes its gradient to the second argument.
    u : ndarray of shape (S,)
        Roots of the kernel weights.
    xi : ndarray of shape (S,)
        Penalties of the kernel weights.
    copies : ndarray of shape (S,)
        For how many equal kernels each one stands.

    Returns
    -------
    ndarray of shape (S,)
        The roots after the first step of length 1, 1/2, ..., 2**-14 that makes the objective grow
        enough; unchanged if there is none.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.solvers.multi_kernel import u_step
    >>> def fit(f, gradient):
    ...     gradient[:] = 1.0
    ...     return float(f.sum())
    >>> u_step(np.ones((1, 1)), fit, np.ones(1), np.zeros(1), np.ones(1)).tolist()
    [2.0]
    """
    residual = np.empty(F.shape[1])

    def objective(v: Floats) -> float:
        """Compute the objective at v; leaves the gradient in f in ``residual``."""
        scores = combined(copies * v * v, F)
        log_likelihood = fit(scores, residual)
        penalty = dot(copies * xi, 0, v * v)
        return float(log_likelihood - penalty)

    start = objective(u)
    gradient = u_gradient(F, residual, u, xi)
    square = dot(copies, 0, gradient * gradient)
    norm = float(np.sqrt(square))
    if not (norm > 0.0 and np.isfinite(norm)):
        return u
    largest_root = np.sqrt(LARGEST_ETA)
    t = 1.0
    for _ in range(HALVINGS + 1):
        moved = u + t * gradient / norm
        trial = np.clip(moved, -largest_root, largest_root)
        wanted = start + 1e-4 * t * norm
        if objective(trial) >= wanted:
            return trial
        t *= 0.5
    return u


def newton_steps(
    K: Floats, w: Floats, y: Floats, omega: Floats, zeta: float, steps: int = 8
) -> tuple[Floats, Floats]:
    r"""Make damped Newton steps with the curvature of the EM surrogate.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel matrix.
    w : ndarray of shape (n,)
        Where to begin.
    y : ndarray of shape (n,)
        Observed labels, 0.0 and 1.0.
    omega : ndarray of shape (2, 2)
        Flip matrix.
    zeta : float
        Penalty on the squared norm of the weights.
    steps : int, default 8
        Largest number of steps.

    Returns
    -------
    w : ndarray of shape (n,)
        The weights.
    f : ndarray of shape (n,)
        Their product with the kernel matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.solvers.multi_kernel import newton_steps
    >>> w, f = newton_steps(np.eye(2), np.zeros(2), np.array([0.0, 1.0]), np.eye(2), 1.0)
    >>> bool(f[0] < 0.0 < f[1])
    True

    Notes
    -----
    A step is :math:`(K\, \mathrm{diag}(h) K + 2 \zeta I)^{-1} (K (q - \sigma) - 2 \zeta w)` with
    :math:`h = \max(\sigma (1 - \sigma), 10^{-6})`, halved until the objective grows.
    """

    def objective(w: Floats, f: Floats) -> float:
        log_likelihood = float(flips.log_likelihood(f, y, omega).sum())
        return log_likelihood - zeta * float(w @ w)

    f = K @ w
    value = objective(w, f)
    for _ in range(steps):
        sigma = expit(f)
        residual = flips.posterior(f, y, omega) - sigma
        gradient = K @ residual - 2.0 * zeta * w
        h = np.maximum(sigma * (1.0 - sigma), 1e-6)
        curvature = (K * h) @ K
        diagonal = np.diag_indices_from(curvature)
        curvature[diagonal] += 2.0 * zeta
        factor = cho_factor(curvature)
        d = cho_solve(factor, gradient)
        Kd = K @ d
        t = 1.0
        while not objective(w + t * d, f + t * Kd) >= value and t > 2.0**-HALVINGS:
            t *= 0.5
        new_value = objective(w + t * d, f + t * Kd)
        if not new_value > value:
            break
        w = w + t * d
        f = f + t * Kd
        value = new_value
    return w, f


class Path:
    """The ascent path of one column of labels of two classes, over stacked kernels.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Observed labels, 0.0 and 1.0.
    kernels : int
        Number of stacked kernels.
    prior_factor : {"slides", "exact"}
        See `noisylabels.solvers.flipped_logistic.marginal_zeta`.
    beta : float
        The same.

    Attributes
    ----------
    w : ndarray of shape (n,)
        Weights of the kernel functions at the training points.
    omega : ndarray of shape (2, 2)
        Flip matrix.
    rounds : int
        Number of rounds done.
    converged : bool
        Whether f and the flip matrix came to rest.
    swapped : bool
        Whether the classes changed names on the way.
    broken : bool
        Whether a round was not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.solvers.multi_kernel import Path
    >>> path = Path(np.array([0.0, 1.0]), 2, "slides", 2.0)
    >>> path.eta.tolist(), path.rounds
    ([1.0, 1.0], 0)
    """

    def __init__(self, labels: NDArray[Any], kernels: int, prior_factor: str, beta: float) -> None:
        n = len(labels)
        self.y = labels
        self._prior = (prior_factor, beta)
        self._zero = np.zeros(n)
        self.w = self._zero
        self.f = self._zero
        self.u = np.ones(kernels)
        self.xi = np.zeros(kernels)
        self.omega = flips.START
        self.rounds = 0
        self.converged = False
        self.swapped = False
        self.broken = False

    @property
    def zeta(self) -> float:
        """Penalty on the squared norm of the weights, which depends on the weights.

        Returns
        -------
        float
            The penalty.
        """
        return marginal_zeta(dot(self.w, 0, self.w), len(self.w), *self._prior)

    @property
    def eta(self) -> Floats:
        """Weights of the stacked kernels, 0 below 1e-8 of the largest.

        Returns
        -------
        ndarray of shape (S,)
            The weights.
        """
        eta = self.u * self.u
        return np.where(eta < PRUNED * eta.max(), 0.0, eta)

    def fit(self, f: Floats, slope: Floats) -> float:
        """Compute the log-likelihood and its gradient.

        Parameters
        ----------
        f : ndarray of shape (n,)
            Decision values.
        slope : ndarray of shape (n,)
            Overwritten with the gradient.

        Returns
        -------
        float
            The log-likelihood.
        """
        omega01 = self.omega[0, 1]
        omega10 = self.omega[1, 0]
        return likelihood(f, self._zero, 0.0, self.y, omega01, omega10, slope)[0]

    def solved(self, K: Floats, w_solver: str) -> Floats:
        """Compute the weights of the next round.

        Parameters
        ----------
        K : ndarray of shape (n, n)
            The mixed kernel matrix.
        w_solver : {"cg10", "newton"}
            The solver.

        Returns
        -------
        ndarray of shape (n,)
            The weights.
        """
        solver = conjugate_gradient if w_solver == "cg10" else newton_steps
        return solver(K, self.w, self.y, self.omega, self.zeta)[0]

    def flips(self, f: Floats) -> Floats:
        """Estimate the flip matrix by the posterior probabilities of the labels.

        Parameters
        ----------
        f : ndarray of shape (n,)
            Decision values.

        Returns
        -------
        ndarray of shape (2, 2)
            The flip matrix.
        """
        omega01 = self.omega[0, 1]
        omega10 = self.omega[1, 0]
        q = posterior(f, self.y, omega01, omega10)
        return flips.updated(q, self.y, self.omega)

    def finish(self, w: Floats, F: Floats, copies: Floats) -> None:
        """Finish the round that ends with given weights.

        Parameters
        ----------
        w : ndarray of shape (n,)
            The weights.
        F : ndarray of shape (S, n)
            What each kernel of weight 1 adds to f.
        copies : ndarray of shape (S,)
            For how many equal kernels each one stands.
        """
        u = u_step(F, self.fit, self.u, self.xi, copies)
        f = combined(copies * u * u, F)
        if not np.isfinite(f).all():
            self.broken = True
            return
        omega = self.flips(f)
        if flips.permuted(omega):
            self.swapped = True
            omega = flips.projected(len(omega))
        self.rounds += 1
        change_of_f = np.abs(f - self.f).max()
        size_of_f = np.abs(f).max()
        f_rests = change_of_f <= STILL * (1.0 + size_of_f)
        change_of_omega = np.abs(omega - self.omega).max()
        omega_rests = change_of_omega <= STILL
        self.converged = bool(f_rests and omega_rests)
        self.w = w
        self.f = f
        self.u = u
        self.xi = penalty_rates(u * u)
        self.omega = omega


def penalty_rates(eta: Floats) -> Floats:
    """Compute the penalties of kernel weights, 2 divided by the weight.

    Parameters
    ----------
    eta : ndarray of shape (S,)
        Kernel weights; below 1e-100 they count as that.

    Returns
    -------
    ndarray of shape (S,)
        The penalties.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.solvers.multi_kernel import penalty_rates
    >>> penalty_rates(np.array([0.5, 2.0])).tolist()
    [4.0, 1.0]
    """
    return 2.0 / np.maximum(eta, SMALLEST_ETA)


def ascend(
    stack: Stack,
    labels: NDArray[Any],
    T: int = 10,
    w_solver: str = "cg10",
    prior_factor: str = "slides",
    beta: float = 2.0,
    weights: Floats | None = None,
) -> list[Path]:
    """Follow the paths of columns of labels, each the same as if it were alone.

    Parameters
    ----------
    stack : Stack
        The kernel matrices.
    labels : ndarray of shape (n, L) or (n,)
        Columns of 0.0 and 1.0, each of which has a `Path`; or numbers of classes from 0, which have
        one `noisylabels.solvers.softmax_multi_kernel.SoftmaxPath`.
    T : int, default 10
        Largest number of rounds.
    w_solver : {"cg10", "newton"}, default "cg10"
        Solver for the weights of the kernel functions.
    prior_factor : {"slides", "exact"}, default "slides"
        See `noisylabels.solvers.flipped_logistic.marginal_zeta`.
    beta : float, default 2.0
        The same.
    weights : ndarray of shape (n,), optional
        Weights of the examples for labels (n,); None for 1.

    Returns
    -------
    list of Path
        The paths.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.kernels.bank import Stack
    >>> from noisylabels.solvers.multi_kernel import ascend
    >>> stack = Stack(np.eye(4)[np.newaxis], np.ones(1), np.zeros(1, int), np.zeros(1))
    >>> (path,) = ascend(stack, np.array([[0.0], [0.0], [1.0], [1.0]]), T=1)
    >>> path.rounds
    1
    """
    whole("T", T, 1)
    choice("w_solver", w_solver, get_args(WSolver))
    number("beta", beta, above=0)
    kernels = len(stack.K)
    paths: list[Path]
    if labels.ndim == 1:
        from noisylabels.solvers.softmax_multi_kernel import SoftmaxPath

        if weights is None:
            a = np.ones(len(labels))
        else:
            a = weights
        K = int(labels.max()) + 1
        paths = [SoftmaxPath(labels, K, a, kernels, prior_factor, beta)]
    else:
        columns = [np.ascontiguousarray(y) for y in labels.T]
        paths = [Path(y, kernels, prior_factor, beta) for y in columns]
    for _ in range(T):
        active = [path for path in paths if not (path.converged or path.broken)]
        if not active:
            break
        mixtures = mixed(stack.K, np.stack([stack.copies * path.u**2 for path in active]))
        w = [path.solved(K, w_solver) for path, K in zip(active, mixtures, strict=True)]
        all_columns = np.concatenate([np.atleast_2d(of_path) for of_path in w])
        F = responses(stack.K, all_columns)
        parts = np.split(F, len(active))  # the parts belong to all columns of each path
        for path, of_path, part in zip(active, w, parts, strict=True):
            by_kernel = np.ascontiguousarray(part.swapaxes(0, 1)).reshape(kernels, -1)
            path.finish(of_path, by_kernel, stack.copies)
    return paths


@compile_kernel(error_model="numpy")
def _cubic(t0: float, phi0: float, slope0: float, t1: float, phi1: float, slope1: float) -> float:
    """Find the minimum of the cubic through two points with slopes, inside the middle 80 %."""
    secant = phi0 - phi1
    d1 = slope0 + slope1 - 3.0 * secant / (t0 - t1)
    square = d1 * d1 - slope0 * slope1
    middle = 0.5 * (t0 + t1)
    if not square >= 0.0:
        return middle
    if t1 > t0:
        d2 = np.sqrt(square)
    else:
        d2 = -np.sqrt(square)
    span = t1 - t0
    t = t1 - span * (slope1 + d2 - d1) / (slope1 - slope0 + 2.0 * d2)
    if not np.isfinite(t):
        return middle
    low = min(t0, t1)
    high = max(t0, t1)
    margin = 0.1 * (high - low)
    inside = max(t, low + margin)
    return min(inside, high - margin)


Point = tuple[float, float, float]
"""A step t, with phi and its slope there."""


@compile_kernel(error_model="numpy")
def _bracketed(
    t: float,
    value: float,
    along: float,
    phi: float,
    slope: float,
    low: Point,
    high: Point,
) -> tuple[bool, float, Point, Point]:
    """Decide whether t meets the Wolfe conditions; if not, find the next t and the bracket.

    value, along: phi and its slope at t.
    phi, slope: the same at 0.
    high[0] < 0: there is no bracket yet.
    """
    decreases = value <= phi + DECREASE * t * slope
    if not decreases or (low[0] > 0.0 and not value < low[1]):
        high = (t, value, along)
    else:
        if abs(along) <= -CURVATURE * slope:
            return True, t, low, high
        if high[0] >= 0.0:
            width = high[0] - low[0]
        else:
            width = 1.0
        if along * width >= 0.0:
            high = low
        low = (t, value, along)
    if high[0] < 0.0:
        return False, 2.0 * t, low, high
    next_t = _cubic(low[0], low[1], low[2], high[0], high[1], high[2])
    return False, next_t, low, high


@compile_kernel(error_model="numpy")
def wolfe_step(
    f: Floats,
    Kd: Floats,
    y: Floats,
    omega01: float,
    omega10: float,
    zeta: float,
    ww: float,
    wd: float,
    dd: float,
    phi: float,
    slope: float,
    t: float,
    residual: Floats,
) -> tuple[float, float]:
    r"""Find a step that meets the strong Wolfe conditions.

    Parameters
    ----------
    f : ndarray of shape (n,)
        Decision values :math:`K w`.
    Kd : ndarray of shape (n,)
        Their change :math:`K d` along the direction d.
    y : ndarray of shape (n,)
        Observed labels, 0.0 and 1.0.
    omega01 : float
        Flip rate of class 0.
    omega10 : float
        Flip rate of class 1.
    zeta : float
        Penalty on the squared norm of w.
    ww : float
        Product of w with itself.
    wd : float
        Product of w and d.
    dd : float
        Product of d with itself.
    phi : float
        The objective at w.
    slope : float
        Its slope along d, below 0.
    t : float
        The first trial.
    residual : ndarray of shape (n,)
        Overwritten with :math:`q - \sigma` at the last trial, which is the step, if there is one.

    Returns
    -------
    t : float
        The step; 0 if none was found.
    phi : float
        The objective after the step.
    """
    low = (0.0, phi, slope)
    high = (-1.0, phi, slope)
    for _ in range(TRIALS):
        log_likelihood = likelihood(f, Kd, t, y, omega01, omega10, residual)[0]
        value = zeta * (ww + t * (2.0 * wd + t * dd)) - log_likelihood
        along = 2.0 * zeta * (wd + t * dd) - dot(residual, 0, Kd)
        done, t, low, high = _bracketed(t, value, along, phi, slope, low, high)
        if done:
            return t, value
    return 0.0, phi


@compile_kernel(error_model="numpy")
def conjugate_gradient(
    K: Floats,
    w: Floats,
    y: Floats,
    omega: Floats,
    zeta: float,
    iterations: int = 10,
) -> tuple[Floats, Floats]:
    r"""Make conjugate-gradient steps for a kernel logistic regression with known flip rates.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel matrix.
    w : ndarray of shape (n,)
        Where to begin.
    y : ndarray of shape (n,)
        Observed labels, 0.0 and 1.0.
    omega : ndarray of shape (2, 2)
        Flip matrix.
    zeta : float
        Penalty on the squared norm of the weights, above 0.
    iterations : int, default 10
        Largest number of steps.

    Returns
    -------
    w : ndarray of shape (n,)
        The weights.
    f : ndarray of shape (n,)
        Their product with the kernel matrix.

    Notes
    -----
    The steps lower :math:`\phi(w) = \zeta \lVert w \rVert^2 - \sum_n \log \tilde P_n(f_n)` with the
    gradient :math:`g = 2 \zeta w - K (q - \sigma)`,
    :math:`\beta = \max(0, (g - g_{old})^T g / g_{old}^T g_{old})` (Polak-Ribiere+) and a search for
    the strong Wolfe conditions. f is linear in w: a search costs one product :math:`K d`, its trial
    steps only O(n). The first trial step of a search expects the decrease of the previous one, and
    :math:`\lVert g \rVert / 2` at the start.
    """
    omega01 = omega[0, 1]
    omega10 = omega[1, 0]
    residual = np.empty(len(w))
    zero = np.zeros(len(w))
    f = times(K, w)
    log_likelihood = likelihood(f, zero, 0.0, y, omega01, omega10, residual)[0]
    phi = zeta * dot(w, 0, w) - log_likelihood
    gradient = 2.0 * zeta * w - times(K, residual)
    square = dot(gradient, 0, gradient)
    d = -gradient
    previous_phi = phi + 0.5 * np.sqrt(square)
    for _ in range(iterations):
        if not np.abs(gradient).max() > STATIONARY:
            break
        slope = dot(gradient, 0, d)
        if not slope < 0.0:
            d = -gradient
            slope = -square
        first_trial = min(1.0, 2.02 * (phi - previous_phi) / slope)
        if not first_trial > 0.0:
            first_trial = 1.0
        Kd = times(K, d)
        ww = dot(w, 0, w)
        wd = dot(w, 0, d)
        dd = dot(d, 0, d)
        t, new_phi = wolfe_step(
            f,
            Kd,
            y,
            omega01,
            omega10,
            zeta,
            ww,
            wd,
            dd,
            phi,
            slope,
            first_trial,
            residual,
        )
        if t == 0.0:
            break
        previous_phi = phi
        phi = new_phi
        w = w + t * d
        f = f + t * Kd
        new_gradient = 2.0 * zeta * w - times(K, residual)
        beta = max(0.0, dot(new_gradient - gradient, 0, new_gradient) / square)
        d = beta * d - new_gradient
        gradient = new_gradient
        square = dot(gradient, 0, gradient)
    return w, f
