r"""Kernels and their surrogates, which give the kernel of clean samples on average over the noise.

For Gaussian noise :math:`n` of known variances :math:`v_i`,
:math:`E\, \tilde{k}(x + n, x') = k(x, x')` with
:math:`k(x, x') = \sum_q a_q \exp(-u_q \lVert x - x' \rVert^2)`,
:math:`\tilde{k}(x, x') = \sum_q a_q c_q \exp(-\sum_i \frac{u_q}{1 - 2 u_q v_i} (x_i - x'_i)^2)` and
:math:`c_q = \prod_i (1 - 2 u_q v_i)^{-1/2}`. Each Gaussian component is made narrower and higher
than it is, and the noise blurs it back.

A function of the distance is a kernel in every dimension exactly if it is a mixture of Gaussian
kernels (Schoenberg): :math:`f(r) = \int_0^\infty e^{-u r^2} d\mu(u)` with :math:`\mu \ge 0`. Noise
allows a surrogate for :math:`u < 1 / (2 \max_i v_i)` only, so the integral ends there. The case
study is :math:`(1 + r^2 / d)^{-\beta}` with :math:`d\mu = u^{\beta - 1} e^{-u} / \Gamma(\beta)` at
the rate :math:`u / d`.

Source: Cesa-Bianchi, Shalev-Shwartz and Shamir 2011, Lemma 6 and equations (7) and (8).
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammainc

from noisylabels.validation import Floats, nonnegative, number, real, whole

NODES = 10
"""Number of nodes of the quadrature of a mixture."""

LARGE = 100.0
"""Constant above which the estimates are too wild to learn from."""

LARGEST_EXPONENT = 700.0  # exp of a larger number overflows


@dataclass(frozen=True)
class SurrogatePair:
    """A kernel and its surrogate, both mixtures of Gaussian kernels.

    Parameters
    ----------
    weights : ndarray of shape (n_components,)
        Weights of the kernel's components, above 0.
    rates : ndarray of shape (n_components,)
        Their rates.
    surrogate_weights : ndarray of shape (n_components,)
        Weights of the surrogate's components.
    surrogate_rates : ndarray of shape (n_components, d)
        Their rates for every entry of a sample.

    Examples
    --------
    >>> from noisylabels.kernels.surrogate import gaussian_pair
    >>> pair = gaussian_pair(2.0, variances=[0.5])
    >>> round(pair.diagonal, 3)
    1.414
    >>> pair.kernel([[0.0]], [[1.0]]).round(3).tolist()
    [[0.607]]
    """

    weights: Floats
    rates: Floats
    surrogate_weights: Floats
    surrogate_rates: Floats

    @property
    def d(self) -> int:
        """Number of entries of a sample."""
        return self.surrogate_rates.shape[1]

    @property
    def diagonal(self) -> float:
        """The surrogate of a sample with itself."""
        return float(self.surrogate_weights.sum())

    @property
    def domination(self) -> float:
        """Smallest factor by which the surrogate is nowhere larger than the kernel."""
        return float((self.surrogate_weights / self.weights).max())

    def without_noise(self) -> SurrogatePair:
        """Take the kernel as its own surrogate, right for clean samples and naive for noisy ones.

        Returns
        -------
        SurrogatePair
            The kernel with itself.
        """
        return pair(self.weights, self.rates, np.zeros(self.d))

    def kernel(self, X: ArrayLike, Z: ArrayLike) -> Floats:
        """Compute the kernel matrix of two sets of samples.

        Parameters
        ----------
        X : array_like of shape (n, d)
            Samples of the rows.
        Z : array_like of shape (m, d)
            Samples of the columns.

        Returns
        -------
        ndarray of shape (n, m)
            The matrix.
        """
        return self.without_noise().surrogate(X, Z)

    def surrogate(self, X: ArrayLike, Z: ArrayLike) -> Floats:
        """Compute the matrix of the surrogate of two sets of samples.

        Parameters
        ----------
        X : array_like of shape (n, d)
            Samples of the rows, seen through noise.
        Z : array_like of shape (m, d)
            Samples of the columns.

        Returns
        -------
        ndarray of shape (n, m)
            The matrix.
        """
        return _mixture(X, Z, self.surrogate_weights, self.surrogate_rates)

    def blurred(self, X: ArrayLike, Z: ArrayLike, variances: ArrayLike) -> Floats:
        """Compute the kernel that a learner sees on average if it ignores the noise.

        Parameters
        ----------
        X : array_like of shape (n, d)
            Clean samples of the rows, to which the noise is added.
        Z : array_like of shape (m, d)
            Samples of the columns.
        variances : array_like of shape (d,)
            Variances of the independent Gaussian noise.

        Returns
        -------
        ndarray of shape (n, m)
            The expected kernel matrix.
        """
        v = variances_of(variances, self.d)
        widening = 1.0 + 2.0 * np.outer(self.rates, v)
        shrink = np.sqrt(widening).prod(axis=1)
        weights = self.weights / shrink
        rates = self.rates[:, None] / widening
        return _mixture(X, Z, weights, rates)


def gaussian_pair(sigma2: float, variances: ArrayLike) -> SurrogatePair:
    r"""Make a Gaussian kernel and its surrogate.

    Parameters
    ----------
    sigma2 : float
        The whole denominator of the exponent, more than twice the largest variance.
    variances : array_like of shape (d,)
        Variances of independent Gaussian noise on the entries. For other noise see
        `noisylabels.noise.additive.rotation`.

    Returns
    -------
    SurrogatePair
        Kernel and surrogate.

    Raises
    ------
    ValueError
        If ``sigma2`` is too small, or a variance is negative.

    Warns
    -----
    UserWarning
        If the constant of the surrogate is above 100.

    Examples
    --------
    >>> from noisylabels.kernels.surrogate import gaussian_pair
    >>> gaussian_pair(2.0, variances=[0.5]).surrogate([[0.0]], [[1.0]]).round(3).tolist()
    [[0.52]]

    Notes
    -----
    :math:`k(x, x') = \exp(-\lVert x - x' \rVert^2 / \sigma^2)` and
    :math:`\tilde{k}(x, x') = C \exp(-\sum_i (x_i - x'_i)^2 / (\sigma^2 - 2 v_i))` with
    :math:`C = \prod_i (1 - 2 v_i / \sigma^2)^{-1/2}`.
    """
    sigma2 = number("sigma2", sigma2, above=0)
    v = variances_of(variances)
    largest = 2.0 * v.max()
    if sigma2 <= largest:
        limit = f"exists only above 2 max(variances) = {2 * v.max():g}"
        fault = f"the surrogate kernel {limit}, got {sigma2:g}"
        raise ValueError(f"sigma2: {fault}; take a wider kernel")
    return pair(np.ones(1), np.array([1.0 / sigma2]), v)


def pair(weights: Floats, rates: Floats, v: Floats) -> SurrogatePair:
    """Make a mixture of Gaussian kernels and its surrogate.

    Parameters
    ----------
    weights : ndarray of shape (n_components,)
        Weights of the components.
    rates : ndarray of shape (n_components,)
        Their rates. That twice a rate times a variance is below 1 is not checked.
    v : ndarray of shape (d,)
        Variances of the noise.

    Returns
    -------
    SurrogatePair
        Kernel and surrogate.

    Warns
    -----
    UserWarning
        If the constant of the surrogate is above 100.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.kernels.surrogate import pair
    >>> pair(np.ones(1), np.ones(1), np.array([0.375])).surrogate_weights.tolist()
    [2.0]
    """
    shares = 2.0 * np.outer(rates, v)
    logs = np.log1p(-shares)
    log_c = -0.5 * logs.sum(axis=1)
    largest = log_c.max()
    if largest > math.log(LARGE):
        reason = "the noise is almost as wide as the kernel, and the estimates will be wild"
        exponent = min(largest, LARGEST_EXPONENT)
        constant = math.exp(exponent)
        message = f"surrogate kernel: its constant is {constant:.3g}; {reason}"
        warnings.warn(message, stacklevel=3)
    scaled = weights * np.exp(log_c)
    widened = rates[:, None] / (1.0 - shares)
    return SurrogatePair(weights, rates, scaled, widened)


def variances_of(values: ArrayLike, d: int | None = None) -> Floats:
    """Check the variances of the noise on the entries of a sample.

    Parameters
    ----------
    values : array_like of shape (d,)
        The variances.
    d : int, optional
        How many there must be.

    Returns
    -------
    ndarray of shape (d,)
        The variances.

    Raises
    ------
    ValueError
        If a variance is negative or not finite, or their number is wrong.

    Examples
    --------
    >>> from noisylabels.kernels.surrogate import variances_of
    >>> variances_of([1, 2]).tolist()
    [1.0, 2.0]
    """
    return nonnegative("variances", real("variances", values, (d,)), (d,))


def _mixture(X: ArrayLike, Z: ArrayLike, weights: Floats, rates: Floats) -> Floats:
    d = rates.shape[1]
    rows = real("X", X, (None, d))
    columns = real("Z", Z, (None, d))
    K = np.zeros((len(rows), len(columns)))
    for weight, rate in zip(weights, rates, strict=True):
        distance = np.zeros_like(K)
        for i in range(d):
            differences = np.subtract.outer(rows[:, i], columns[:, i])
            distance += rate[i] * differences**2
        K += weight * np.exp(-distance)
    return K


def rational(z: ArrayLike, beta: float = 1.0) -> Floats:
    r"""Compute the rational kernel from distances.

    Parameters
    ----------
    z : array_like
        Squared distances divided by the number of entries of a sample.
    beta : float, default 1.0
        Exponent, above 0.

    Returns
    -------
    ndarray
        The kernel :math:`(1 + z)^{-\beta}`.

    Examples
    --------
    >>> from noisylabels.kernels.surrogate import rational
    >>> rational([0.0, 1.0]).tolist()
    [1.0, 0.5]
    """
    base = 1.0 + np.asarray(z, dtype=float)
    exponent = number("beta", beta, above=0)
    return base**-exponent


def truncated_rational(z: ArrayLike, c: float, beta: float = 1.0) -> Floats:
    r"""Compute the rational kernel whose mixture ends at a given rate.

    Parameters
    ----------
    z : array_like
        Squared distances divided by the number of entries of a sample.
    c : float
        Rate, times the number of entries, at which the mixture ends; above 0.
    beta : float, default 1.0
        Exponent, above 0.

    Returns
    -------
    ndarray
        The kernel.

    Examples
    --------
    >>> from noisylabels.kernels.surrogate import truncated_rational
    >>> truncated_rational([0.0, 1.0], c=4.0).round(3).tolist()
    [0.982, 0.5]

    Notes
    -----
    :math:`k_c = (1 + z)^{-\beta} P(\beta, c (1 + z))` with the regularised lower incomplete gamma
    function :math:`P`. For :math:`\beta = 1` it is :math:`(1 - e^{-c (1 + z)}) / (1 + z)`. Then
    :math:`1 - e^{-c} \le k_c / k \le 1`, and the largest difference is :math:`e^{-c}` at
    :math:`z = 0`.
    """
    c = number("c", c, above=0)
    scaled = c * (1.0 + np.asarray(z, dtype=float))
    if beta == 1.0:
        share = -np.expm1(-scaled)
    else:
        share = gammainc(beta, scaled)
    return rational(z, beta) * share


def rational_pair(
    c: float,
    variances: ArrayLike,
    beta: float = 1.0,
    nodes: int = NODES,
) -> SurrogatePair:
    r"""Make a truncated rational kernel and its surrogate.

    Parameters
    ----------
    c : float
        Where the mixture ends, see `truncated_rational`. Above 0, and below the number of entries
        divided by twice the largest variance.
    variances : array_like of shape (d,)
        Variances of independent Gaussian noise on the entries.
    beta : float, default 1.0
        Exponent, at least 1.
    nodes : int, default 10
        Number of Gaussian kernels that replace the integral, at least 1.

    Returns
    -------
    SurrogatePair
        Kernel and surrogate.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Warns
    -----
    UserWarning
        If the constant of the surrogate is above 100.

    Examples
    --------
    >>> from noisylabels.kernels.surrogate import rational_pair
    >>> rational_pair(4.0, variances=[0.1, 0.1]).kernel([[0, 0]], [[1, 1]]).round(3).tolist()
    [[0.5]]

    Notes
    -----
    Gauss-Legendre nodes replace the integral. Kernel and surrogate share them, so they are an exact
    pair with any number of nodes. For :math:`\beta = 1`, 10 nodes give the kernel to 3e-9 for
    :math:`c (1 + z) \le 16`, and 24 nodes to 1e-12 for :math:`c (1 + z) \le 80`.
    """
    c = number("c", c, above=0)
    v = variances_of(variances)
    beta = number("beta", beta, least=1)
    d = len(v)
    largest = v.max()
    if 2.0 * c * largest >= d:
        limit = f"exists only below d / (2 max(variances)) = {d / (2 * v.max()):g}"
        raise ValueError(f"c: the surrogate kernel {limit}, got {c:g}; truncate earlier")
    n_nodes = whole("nodes", nodes, 1)
    x, weight = np.polynomial.legendre.leggauss(n_nodes)
    u = 0.5 * c * (x + 1.0)
    log_density = (beta - 1.0) * np.log(u) - u - math.lgamma(beta)
    density = np.exp(log_density)
    weights = 0.5 * c * weight * density
    return pair(weights, u / d, v)
