r"""Theory of learning from noisy copies: unbiased estimates, and bounds on the regret.

An estimate is :math:`\theta = \gamma_n \frac{p^{n+1}}{p-1} X_1 \cdots X_n` with a random degree of
:math:`P(n) = (p - 1) / p^{n+1}`. Its mean is :math:`\sum_n \gamma_n (E X)^n = f(E X)`. A round of
Algorithm 4 needs :math:`N_0 + N_1 + \ldots + N_M` copies: the stored feature, and M features in
the gradient length, with M geometric. The law of that number depends on p alone.

The regret
:math:`E \sum_t l(\langle w_t, x_t \rangle, y_t) - \min_w \sum_t l(\langle w, x_t \rangle, y_t)`,
both on clean data, is bounded for gradient descent with unbiased estimates of the gradient, by one
function per constant. :math:`B_w` bounds the squared norm of w; :math:`B_x` and :math:`B_y` bound
:math:`E \lVert \tilde{x}_t \rVert^2` and :math:`E \tilde{y}_t^2` in every round; :math:`G` bounds
the second moment of the estimated gradient. The constants are ours: complete, valid, perhaps not
those of the paper. At the end is what no learner with a single copy can do.

Source: Cesa-Bianchi, Shalev-Shwartz and Shamir 2011, Lemma 1, Theorems 1 to 3 and 5 to 9. Exact
second moments and the law of the number of copies are ours.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.kernels.tensor import TensorKernel
from noisylabels.losses.analytic import (
    DIFFERENCE,
    MARGIN_LESS_ONE,
    AnalyticLoss,
    log_second_moment,
)
from noisylabels.noise.additive import checked_covariance
from noisylabels.validation import Floats, number, real, whole

MANY_QUERIES = 1.05
"""Base below which a round of Algorithm 4 takes more than 400 copies."""

BITS = 53.0
"""Bits of a uniform random number, which is at most 1 - 2^-BITS."""


def mean_queries(p: float, *, gaussian: bool = False) -> float:
    r"""Compute the mean number of copies that a round of Algorithm 4 takes.

    Parameters
    ----------
    p : float
        Base of the distribution of degrees, above 1.
    gaussian : bool, default False
        Whether the kernel is Gaussian.

    Returns
    -------
    float
        The mean, :math:`p / (p - 1)^2`, and three times that for a Gaussian kernel.

    Examples
    --------
    >>> from noisylabels.online.theory import mean_queries
    >>> mean_queries(2.0), mean_queries(2.0, gaussian=True)
    (2.0, 6.0)
    """
    p = number("p", p, above=1)
    second = 3.0 if gaussian else 1.0
    return second * p / (p - 1.0) ** 2


def pmf(p: float, highest: int, *, gaussian: bool = False) -> Floats:
    r"""Compute the distribution of the number of copies that a round takes.

    Parameters
    ----------
    p : float
        Base of the distribution of degrees, above 1.
    highest : int
        Highest number, at least 0.
    gaussian : bool, default False
        Whether the kernel is Gaussian.

    Returns
    -------
    ndarray of shape (highest + 1,)
        Probability of each number from 0.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> from noisylabels.online.theory import pmf
    >>> round(float(pmf(2.0, 100).sum()), 6)
    1.0

    Notes
    -----
    For a kernel of the scalar product :math:`P(k) = (1 - \rho) \rho^k` with
    :math:`\rho = p / (p^2 - p + 1)`. For a Gaussian kernel, with :math:`q = (p - 1) / p`,
    :math:`g(z) = q / (1 - z / p)` and :math:`H(z) = g(z^2) g(z)`, the probabilities are the series
    of :math:`q H(z) / (1 - H(z) / p)`.
    """
    p = number("p", p, above=1)
    if highest < 0:
        raise ValueError(f"highest: must be at least 0, got {highest}")
    if not gaussian:
        rho = p / (p * p - p + 1.0)
        powers = np.arange(highest + 1.0)
        return (1.0 - rho) * rho**powers
    H = _one_estimate(p, highest)
    q = (p - 1.0) / p
    total = np.empty(highest + 1)
    for k in range(highest + 1):  # F (1 - H/p) = q H
        latest = total[k - 1 :: -1][:k]
        convolved = H[1 : k + 1] @ latest
        numerator = q * H[k] + convolved / p
        first_share = H[0] / p
        total[k] = numerator / (1.0 - first_share)
    return total


def _one_estimate(p: float, highest: int) -> Floats:
    """Compute the distribution of a sum of two geometric numbers.

    P(2 n_1 + n_2 = k) for independent geometric n_1, n_2: k = 0..highest.
    """
    q = (p - 1.0) / p
    k = np.arange(highest + 1)
    powers = p ** -k.astype(float)
    single = q * powers
    half = -(k / 2.0)
    is_even = k % 2 == 0
    double = np.where(is_even, q * p**half, 0.0)
    return np.convolve(single, double)[: highest + 1]


def checked_p(p: float) -> float:
    """Check the base of the distribution of degrees.

    Parameters
    ----------
    p : float
        The base.

    Returns
    -------
    float
        The base.

    Raises
    ------
    ValueError
        If it is not above 1 and finite.

    Warns
    -----
    UserWarning
        If it is below 1.05, so that a round takes many copies.

    Examples
    --------
    >>> from noisylabels.online.theory import checked_p
    >>> checked_p(2)
    2.0
    """
    p = number("p", p, above=1)
    if p < MANY_QUERIES:
        queries = p / (p - 1) ** 2
        warnings.warn(f"p = {p:g}: a round takes about {queries:.0f} queries", stacklevel=3)
    return p


def degrees(rng: np.random.Generator, p: float, size: int) -> NDArray[np.int64]:
    r"""Draw random degrees.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of the draws.
    p : float
        Base of their distribution, above 1.
    size : int
        How many.

    Returns
    -------
    ndarray of shape (size,)
        Degrees n with probability :math:`(p - 1) / p^{n + 1}`.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.online.theory import degrees
    >>> 0.48 < float(np.mean(degrees(np.random.default_rng(0), 2.0, 10_000) == 0)) < 0.52
    True
    """
    U = 1.0 - rng.random(size)
    log_p = math.log(p)
    logs = np.log(U)
    return np.floor(logs / -log_p).astype(np.int64)


def largest_degree(p: float) -> int:
    """Compute a degree that no draw of `degrees` exceeds.

    Parameters
    ----------
    p : float
        Base of the distribution, above 1.

    Returns
    -------
    int
        The degree.

    Examples
    --------
    >>> from noisylabels.online.theory import largest_degree
    >>> largest_degree(2.0)
    54
    """
    bits_in_nats = BITS * math.log(2.0)
    return int(bits_in_nats / math.log(p)) + 1


def log_inverse_probabilities(p: float, highest: int) -> Floats:
    r"""Compute the logarithm of one over the probability of each degree.

    Parameters
    ----------
    p : float
        Base of the distribution, above 1.
    highest : int
        Highest degree.

    Returns
    -------
    ndarray of shape (highest + 1,)
        :math:`\log(p^{n + 1} / (p - 1))` for each degree n from 0.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.online.theory import log_inverse_probabilities
    >>> np.exp(log_inverse_probabilities(2.0, 2)).round(6).tolist()
    [2.0, 4.0, 8.0]
    """
    degree = np.arange(1.0, highest + 2.0)
    return degree * math.log(p) - math.log(p - 1.0)


def estimates(
    coefficients: ArrayLike,
    p: float,
    draw: Callable[[np.random.Generator, int], ArrayLike],
    rng: np.random.Generator,
    size: int,
) -> tuple[Floats, NDArray[np.int64]]:
    """Draw unbiased estimates of a power series of a mean.

    Parameters
    ----------
    coefficients : array_like of shape (n_coefficients,)
        Coefficients of the series, 0 beyond the last.
    p : float
        Base of the distribution of degrees, above 1.
    draw : callable
        Gives for a generator and a number m that many copies of the random number, of shape (m,).
    rng : numpy.random.Generator
        Source of the draws.
    size : int
        Number of independent estimates.

    Returns
    -------
    theta : ndarray of shape (size,)
        The estimates.
    n : ndarray of shape (size,)
        How many copies each one took.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.online.theory import estimates
    >>> rng = np.random.default_rng(0)
    >>> theta, _ = estimates([1, 1, 1], 2.0, lambda rng, m: rng.uniform(0, 1, m), rng, 100_000)
    >>> abs(float(theta.mean()) - 1.75) < 0.1  # the series at 0.5 is 1.75
    True
    """
    gamma = real("coefficients", coefficients, (None,))
    n = degrees(rng, p, size)
    last = len(gamma) - 1
    index = np.minimum(n, last)
    chosen = gamma[index]
    theta = np.where(n < len(gamma), chosen, 0.0)
    degree = (n + 1.0) * math.log(p)
    log_weights = degree - math.log(p - 1.0)
    theta *= np.exp(log_weights)
    largest = int(n.max(initial=0))
    for k in range(largest):
        rows = np.flatnonzero(n > k)
        factors = draw(rng, len(rows))
        theta[rows] *= np.asarray(factors, dtype=float)
    return np.asarray(theta, dtype=float), n


def second_moment(coefficients: ArrayLike, p: float, EX2: float) -> float:
    r"""Compute the second moment of an estimate, exactly.

    Parameters
    ----------
    coefficients : array_like of shape (n_coefficients,)
        Coefficients of the series.
    p : float
        Base of the distribution of degrees, above 1.
    EX2 : float
        Second moment of the random number.

    Returns
    -------
    float
        :math:`E \theta^2 = \frac{p}{p - 1} \sum_n \gamma_n^2 (p\, E X^2)^n`.

    Examples
    --------
    >>> from noisylabels.online.theory import second_moment
    >>> second_moment([1.0, 1.0], 2.0, EX2=0.5)
    4.0
    """
    gamma = real("coefficients", coefficients, (None,))
    base = p * EX2
    powers = base ** np.arange(len(gamma))
    terms = gamma**2 * powers
    weight = p / (p - 1.0)
    return weight * float(terms.sum())


def second_moment_bound(coefficients: ArrayLike, p: float, EX2: float) -> float:
    r"""Compute the paper's bound on the second moment of an estimate.

    Parameters
    ----------
    coefficients : array_like of shape (n_coefficients,)
        Coefficients of the series.
    p : float
        Base of the distribution of degrees, above 1.
    EX2 : float
        Second moment of the random number.

    Returns
    -------
    float
        :math:`\frac{p}{p - 1} f_+(\sqrt{p\, E X^2})^2` with :math:`f_+(r) = \sum_n |\gamma_n| r^n`.

    Examples
    --------
    >>> from noisylabels.online.theory import second_moment_bound
    >>> second_moment_bound([1.0, 1.0], 2.0, EX2=0.5)
    8.0
    """
    checked = real("coefficients", coefficients, (None,))
    gamma = np.abs(checked)
    base = math.sqrt(p * EX2)
    powers = base ** np.arange(len(gamma))
    terms = gamma * powers
    weight = p / (p - 1.0)
    total = float(terms.sum())
    return weight * total**2


def feature_moment(kernel: TensorKernel, p: float, B_x: float, m_2: float | None = None) -> float:
    r"""Compute the second moment of the estimated feature.

    Parameters
    ----------
    kernel : TensorKernel
        The kernel.
    p : float
        Base of the distribution of degrees, above 1.
    B_x : float
        Second moment of the norm of a copy. With a bound on it, the result is a bound too.
    m_2 : float, optional
        Second moment of the scalar product of two copies, for a Gaussian kernel. At most the square
        of ``B_x``, which is taken if it is not given.

    Returns
    -------
    float
        The second moment.

    Raises
    ------
    ValueError
        If p is not above 1.

    Examples
    --------
    >>> from noisylabels.kernels.tensor import linear
    >>> from noisylabels.online.theory import feature_moment
    >>> feature_moment(linear(), 2.0, B_x=3.0)
    12.0

    Notes
    -----
    For a kernel of the scalar product it is :math:`\frac{p}{p - 1} Q(p B_x)`, for a Gaussian kernel
    :math:`(\frac{p}{p - 1})^2 I_0(2 \sqrt{p\, m_2} / \sigma^2) \exp(2 p B_x / \sigma^2)`.
    """
    from scipy.special import i0

    p = number("p", p, above=1)
    if kernel.sigma2 is None:
        weight = p / (p - 1.0)
        point = np.asarray(p * B_x)
        value = float(kernel.Q(point))
        return weight * value
    m_2 = B_x**2 if m_2 is None else m_2
    root = math.sqrt(p * m_2)
    argument = 2.0 * root / kernel.sigma2
    bessel = float(i0(argument))
    exponent = 2.0 * p * B_x / kernel.sigma2
    growth = math.exp(exponent)
    return (p / (p - 1.0)) ** 2 * bessel * growth


def feature_moment_bound(kernel: TensorKernel, p: float, B_x: float) -> float:
    r"""Compute the bound of the theorems on the second moment of the estimated feature.

    Parameters
    ----------
    kernel : TensorKernel
        The kernel.
    p : float
        Base of the distribution of degrees, above 1.
    B_x : float
        Bound on the second moment of the norm of a copy.

    Returns
    -------
    float
        `feature_moment`, for a Gaussian kernel
        :math:`(\frac{p}{p - 1})^2 \exp(2 (\sqrt{p} + p) B_x / \sigma^2)`.

    Examples
    --------
    >>> from noisylabels.kernels.tensor import linear
    >>> from noisylabels.online.theory import feature_moment_bound
    >>> feature_moment_bound(linear(), 2.0, B_x=3.0)
    12.0
    """
    if kernel.sigma2 is None:
        return feature_moment(kernel, p, B_x)
    p = number("p", p, above=1)
    scale = math.sqrt(p) + p
    exponent = 2.0 * scale * B_x / kernel.sigma2
    weight = p / (p - 1.0)
    return weight**2 * math.exp(exponent)


def regret(B_w: float, G: float, T: int, eta: float | None = None) -> float:
    r"""Compute the bound on the regret.

    Parameters
    ----------
    B_w : float
        Squared radius of the ball.
    G : float
        Bound on the second moment of the gradient.
    T : int
        Number of rounds.
    eta : float, optional
        Step size, above 0; the best one if not given.

    Returns
    -------
    float
        The bound.

    Examples
    --------
    >>> from noisylabels.online.theory import best_step, regret
    >>> regret(1.0, 4.0, 100)
    20.0
    >>> round(regret(1.0, 4.0, 100, eta=2 * best_step(1.0, 4.0, 100)), 6)
    25.0

    Notes
    -----
    It is :math:`B_w / (2 \eta) + \eta G T / 2` for every step, and :math:`\sqrt{B_w G T}` for the
    best one. A step m times the best costs the factor :math:`(m + 1/m) / 2`.
    """
    if eta is None:
        return math.sqrt(B_w * G * T)
    step = number("eta", eta, above=0)
    start = B_w / (2.0 * step)
    gradients = eta * G * T / 2.0
    return start + gradients


def best_step(B_w: float, G: float, T: int) -> float:
    r"""Compute the step size with the smallest bound on the regret.

    Parameters
    ----------
    B_w : float
        Squared radius of the ball, above 0.
    G : float
        Bound on the second moment of the gradient, above 0.
    T : int
        Number of rounds, at least 1.

    Returns
    -------
    float
        The step size, :math:`\sqrt{B_w / (G T)}`.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> from noisylabels.online.theory import best_step
    >>> round(best_step(1.0, 4.0, 100), 6)
    0.05
    """
    return best_step_of_log(B_w, math.log(number("G", G, above=0)), T)


def best_step_of_log(B_w: float, log_G: float, T: int) -> float:
    """Compute the best step size where the bound on the second moment would overflow.

    Parameters
    ----------
    B_w : float
        Squared radius of the ball, above 0.
    log_G : float
        Logarithm of the bound on the second moment of the gradient.
    T : int
        Number of rounds, at least 1.

    Returns
    -------
    float
        The step size, see `best_step`.

    Examples
    --------
    >>> from noisylabels.online.theory import best_step_of_log
    >>> 0 < best_step_of_log(1.0, 1000.0, 100) < 1e-200
    True
    """
    largest_norm = number("B_w", B_w, above=0)
    log_B_w = math.log(largest_norm)
    log_T = math.log(whole("T", T, 1))
    return math.exp(0.5 * (log_B_w - log_G - log_T))


def two_copy_moment(B_w: float, B_x: float, B_y: float) -> float:
    r"""Bound the second moment of the gradient from two copies of the sample.

    Parameters
    ----------
    B_w : float
        Squared radius of the ball.
    B_x : float
        Bound on the second moment of the norm of a copy.
    B_y : float
        Bound on the second moment of a target.

    Returns
    -------
    float
        :math:`G_1 = 4 B_x (\sqrt{B_w B_x} + \sqrt{B_y})^2`.

    Examples
    --------
    >>> from noisylabels.online.theory import two_copy_moment
    >>> two_copy_moment(1.0, 1.0, 1.0)
    16.0

    References
    ----------
    Theorem 1.
    """
    size_of_prediction = math.sqrt(B_w * B_x)
    largest = size_of_prediction + math.sqrt(B_y)
    return 4.0 * B_x * largest**2


def known_covariance_moment(
    B_w: float,
    M_4: float,
    B_x: float,
    B_y: float,
    B_Sigma: float,
) -> float:
    r"""Bound the second moment of the gradient from one copy and the covariance of its noise.

    Parameters
    ----------
    B_w : float
        Squared radius of the ball.
    M_4 : float
        Bound on the fourth moment of the norm of a copy, see `gaussian_fourth_moment`.
    B_x : float
        Bound on the second moment of the norm of a copy.
    B_y : float
        Bound on the second moment of a target.
    B_Sigma : float
        Bound on the largest eigenvalue of the covariance.

    Returns
    -------
    float
        :math:`G_2 = 4 (\sqrt{B_w M_4} + \sqrt{B_y B_x} + B_\Sigma \sqrt{B_w})^2`.

    Examples
    --------
    >>> from noisylabels.online.theory import known_covariance_moment
    >>> known_covariance_moment(1.0, 1.0, 1.0, 1.0, 1.0)
    36.0

    References
    ----------
    Theorem 2.
    """
    return 4.0 * (math.sqrt(B_w * M_4) + math.sqrt(B_y * B_x) + B_Sigma * math.sqrt(B_w)) ** 2


def gaussian_fourth_moment(X: ArrayLike, covariance: ArrayLike) -> Floats:
    r"""Compute the fourth moment of the norm of each sample with Gaussian noise.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Clean samples.
    covariance : array_like of shape (d, d)
        Covariance of the noise.

    Returns
    -------
    ndarray of shape (n,)
        The moments.

    Examples
    --------
    >>> from noisylabels.online.theory import gaussian_fourth_moment
    >>> gaussian_fourth_moment([[0.0]], [[1.0]]).tolist()
    [3.0]

    Notes
    -----
    :math:`(\lVert x \rVert^2 + \mathrm{tr}\, S)^2 + 2\, \mathrm{tr}\, S^2 + 4 x^\top S x` is the
    fourth moment of :math:`\lVert x + n \rVert` for :math:`n` from :math:`N(0, S)`.
    """
    S = checked_covariance("covariance", covariance)
    rows = real("X", X, (None, len(S)))
    squares = (rows**2).sum(1)
    second = squares + np.trace(S)
    forms = np.einsum("ti,ij,tj->t", rows, S, rows)
    trace_of_square = np.trace(S @ S)
    return second**2 + 2.0 * trace_of_square + 4.0 * forms


def surrogate_moment(ball: float, diagonal: float, B_y: float) -> float:
    r"""Bound the second moment of the gradient from a surrogate kernel.

    Parameters
    ----------
    ball : float
        Squared radius of the ball in the space of the surrogate.
    diagonal : float
        The surrogate of a sample with itself.
    B_y : float
        Bound on the second moment of a target.

    Returns
    -------
    float
        :math:`G_3 = 4 C (\sqrt{C \tilde{B}} + \sqrt{B_y})^2` with the diagonal :math:`C`.

    Examples
    --------
    >>> from noisylabels.online.theory import surrogate_moment
    >>> surrogate_moment(1.0, 1.0, 1.0)
    16.0

    References
    ----------
    Theorem 3; Theorem 5 for a radial kernel.
    """
    size_of_prediction = math.sqrt(diagonal * ball)
    largest = size_of_prediction + math.sqrt(B_y)
    return 4.0 * diagonal * largest**2


def surrogate_ball(B_w: float, alpha: float, domination: float) -> float:
    r"""Compute the ball that holds the surrogates of all hypotheses in a ball.

    Parameters
    ----------
    B_w : float
        Squared radius of the ball of the hypotheses.
    alpha : float
        Their smallest `angle`, above 0 and at most pi.
    domination : float
        Largest factor between surrogate and kernel.

    Returns
    -------
    float
        Squared radius :math:`\tilde{B} = 2 C B_w / (1 - \cos \alpha)`.

    Raises
    ------
    ValueError
        If the angle is out of range.

    Examples
    --------
    >>> import math
    >>> from noisylabels.online.theory import surrogate_ball
    >>> surrogate_ball(1.0, math.pi, domination=2.0)
    2.0

    References
    ----------
    Lemma 8.
    """
    if not 0.0 < alpha <= math.pi:
        raise ValueError(f"alpha: the angle must be in (0, pi], got {alpha:g}")
    drop = 1.0 - math.cos(alpha)
    return 2.0 * domination * B_w / drop


def angle(gamma: ArrayLike, K: ArrayLike) -> float:
    """Compute the angle between the positive and the negative part of a hypothesis.

    Parameters
    ----------
    gamma : array_like of shape (n,)
        Coefficients of the hypothesis.
    K : array_like of shape (n, n)
        Kernel matrix of its points.

    Returns
    -------
    float
        The angle, from 0 to pi; pi if one of the parts is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.online.theory import angle
    >>> round(angle([1.0, -1.0], np.eye(2)), 3)
    1.571
    """
    weights = real("gamma", gamma, (None,))
    matrix = real("K", K, (len(weights), len(weights)))
    plus = np.maximum(weights, 0.0)
    minus = np.maximum(-weights, 0.0)
    plus_square = plus @ matrix @ plus
    minus_square = minus @ matrix @ minus
    if plus_square <= 0.0 or minus_square <= 0.0:
        return math.pi
    inner = float(plus @ matrix @ minus)
    size = math.sqrt(plus_square * minus_square)
    cosine = inner / size
    clipped = min(1.0, max(-1.0, cosine))
    return math.acos(clipped)


def log_gradient_moment(
    loss: AnalyticLoss,
    p: float,
    B_w: float,
    B_psi: float,
    *,
    B_y: float = 1.0,
    tight: bool = False,
) -> float:
    r"""Bound the second moment of the estimated gradient of Algorithm 4.

    Parameters
    ----------
    loss : AnalyticLoss
        The loss.
    p : float
        Base of the distribution of degrees, above 1.
    B_w : float
        Squared radius of the ball.
    B_psi : float
        Bound on the second moment of the estimated feature.
    B_y : float, default 1.0
        Bound on the size of a target, for regression.
    tight : bool, default False
        Sum the squared coefficients, which gives at most the bound of the paper.

    Returns
    -------
    float
        Logarithm of the bound.

    Raises
    ------
    ValueError
        If p is not above 1, or the majorant of the loss is infinite.

    Examples
    --------
    >>> import math
    >>> from noisylabels.losses.analytic import squared
    >>> from noisylabels.online.theory import log_gradient_moment
    >>> round(math.exp(log_gradient_moment(squared(), 2.0, B_w=1.0, B_psi=1.0)), 6)
    64.0

    Notes
    -----
    The bound is :math:`\nu = \frac{p}{p - 1} l'_+(\sqrt{p} R)^2 B_\Psi`. The second moment of a
    factor of the gradient length is at most :math:`R^2`, where :math:`R` is
    :math:`\sqrt{B_w B_\Psi}`, plus ``B_y`` for regression, plus 1 for the argument :math:`y a - 1`
    (Lemma 4). The tight form is :math:`\frac{p}{p - 1} \sum_n \gamma_n^2 (p R^2)^n B_\Psi`.

    References
    ----------
    Theorems 6 and 7.
    """
    p = number("p", p, above=1)
    shift = {DIFFERENCE: B_y, MARGIN_LESS_ONE: 1.0}.get(loss.kind, 0.0)
    r = math.sqrt(p) * (math.sqrt(B_w * B_psi) + shift)
    if tight:
        log_square = log_second_moment(loss, r)
    else:
        log_square = 2.0 * loss.log_majorant(r)
    if not math.isfinite(log_square):
        fault = f"l'_+ of the {loss.name} loss is infinite at sqrt(p) R = {r:g}"
        raise ValueError(f"loss: {fault}; take a smaller ball")
    return math.log(p / (p - 1.0)) + log_square + math.log(B_psi)


# Two worlds that one copy per round cannot distinguish. A: x is 3 or -1 with probability 1/2 each,
# no noise. B: x = 1 always, and the noise makes it 3 or -1. The one observed copy has the same law
# in both, y = 1, but F_A(w) = (l(3w) + l(-w)) / 2 and F_B(w) = l(w) have different minimisers. The
# numbers are ours.
POINTS = (3.0, -1.0)
"""The two values of the observed copy in both worlds; their mean is 1."""


class Worlds(NamedTuple):
    """Two worlds that look the same with one copy per round, and the losses of the best learners.

    Attributes
    ----------
    best_A : float
        Best weight in world A.
    best_B : float
        Best weight in world B.
    unavoidable : float
        Smallest excess loss in the worse world of any weight.
    compromise : float
        The weight with that excess loss.
    """

    best_A: float
    best_B: float
    unavoidable: float
    compromise: float


def worlds(
    loss: Callable[[Floats], Floats],
    radius: float = 3.0,
    points: int = 600_001,
) -> Worlds:
    """Compute the loss that no learner with a single copy per round can avoid.

    By Jensen's inequality the regret per round of any such learner is, in expectation, at least
    ``unavoidable`` in the worse world.

    Parameters
    ----------
    loss : callable
        The convex loss of predictions for the target 1, as a function of an array.
    radius : float, default 3.0
        Largest size of the weight.
    points : int, default 600001
        Number of weights on the grid.

    Returns
    -------
    Worlds
        The constants.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.online.theory import worlds
    >>> constants = worlds(lambda a: (a - 1) ** 2, points=3001)
    >>> round(constants.best_A, 2), round(constants.best_B, 2)
    (0.2, 1.0)
    """
    w = np.linspace(-radius, radius, points)
    F_A = 0.5 * (loss(3.0 * w) + loss(-w))
    F_B = loss(w)
    worse = np.maximum(F_A - F_A.min(), F_B - F_B.min())
    compromise = int(worse.argmin())
    return Worlds(
        best_A=float(w[F_A.argmin()]),
        best_B=float(w[F_B.argmin()]),
        unavoidable=float(worse[compromise]),
        compromise=float(w[compromise]),
    )


def copies(rng: np.random.Generator, T: int) -> Floats:
    """Draw the observed copies of the two worlds.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of the draws.
    T : int
        Number of rounds.

    Returns
    -------
    ndarray of shape (T, 1)
        The copies, each 3 or -1. In world A they are the clean samples too.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.online.theory import copies
    >>> sorted(set(copies(np.random.default_rng(0), 100)[:, 0].tolist()))
    [-1.0, 3.0]
    """
    first_drawn = rng.random(T) < 0.5
    points = np.where(first_drawn, POINTS[0], POINTS[1])
    return points[:, None]


def scored_on_noise(w: ArrayLike, v: float) -> float:
    r"""Compute the excess loss of the best predictor when noisy samples are scored.

    Parameters
    ----------
    w : array_like of shape (d,)
        The true weights.
    v : float
        Variance of the isotropic noise.

    Returns
    -------
    float
        Excess loss per round, :math:`\lVert w \rVert^2 v / (1 + v)`. It is that of samples
        :math:`w / \lVert w \rVert` with the target :math:`\lVert w \rVert`. Nobody does better,
        even knowing w.

    Examples
    --------
    >>> from noisylabels.online.theory import scored_on_noise
    >>> scored_on_noise([2.0], v=1.0)
    2.0
    """
    weights = np.asarray(w, dtype=float)
    square = float(np.square(weights).sum())
    return square * v / (1.0 + v)
