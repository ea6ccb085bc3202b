r"""Kernels whose features are tensor powers: polynomials, and the Gaussian kernel.

The feature :math:`\Psi(x)` has the blocks :math:`e(x) \sqrt{\beta_n}\, x^{\otimes n}` for
:math:`n \ge 0`, so that :math:`k(x, x') = e(x) e(x') Q(\langle x, x' \rangle)` with
:math:`Q(a) = \sum_n \beta_n a^n` and :math:`\beta_n \ge 0`. A kernel of the scalar product has
:math:`e = 1`. The Gaussian kernel :math:`\exp(-\lVert x - x' \rVert^2 / \sigma^2)` has
:math:`e(x) = \exp(-\lVert x \rVert^2 / \sigma^2)` and :math:`\beta_n = (2 / \sigma^2)^n / n!`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from noisylabels.validation import Floats, number, real, whole


@dataclass(frozen=True)
class TensorKernel:
    r"""A kernel whose features are tensor powers of the sample.

    Parameters
    ----------
    name : str
        What messages call the kernel.
    Q : callable
        The power series of the scalar product, as a function of an array.
    log_beta : callable
        Logarithm of the coefficient of degree n, -inf where it is 0.
    degree : int or None
        Highest degree, None if there is none.
    sigma2 : float, optional
        Denominator of a Gaussian kernel; None for a kernel of the scalar product.

    Examples
    --------
    >>> from noisylabels.kernels.tensor import polynomial
    >>> kernel = polynomial(2)
    >>> kernel.kernel([[1.0, 2.0]], [[3.0, -1.0]]).tolist()
    [[4.0]]
    """

    name: str
    Q: Callable[[Floats], Floats]
    log_beta: Callable[[int], float]
    degree: int | None
    sigma2: float | None = None

    def log_betas(self, highest: int) -> Floats:
        """Compute the logarithms of the coefficients.

        Parameters
        ----------
        highest : int
            Highest degree.

        Returns
        -------
        ndarray of shape (highest + 1,)
            The logarithms, -inf where a coefficient is 0.
        """
        return np.array([self.log_beta(n) for n in range(highest + 1)])

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
        rows = real("X", X, (None, None))
        columns = real("Z", Z, (None, rows.shape[1]))
        products = rows @ columns.T
        K = self.Q(products)
        if self.sigma2 is None:
            return K
        row_squares = (rows**2).sum(1)
        column_squares = (columns**2).sum(1)
        squares = np.add.outer(row_squares, column_squares)
        return K * np.exp(-squares / self.sigma2)

    def features(self, X: ArrayLike, highest: int) -> Floats:
        """Compute the features up to a degree.

        Parameters
        ----------
        X : array_like of shape (n, d)
            Samples.
        highest : int
            Highest degree.

        Returns
        -------
        ndarray of shape (n, 1 + d + ... + d^highest)
            The blocks of the degrees, one after the other.
        """
        rows = real("X", X, (None, None))
        factor = np.ones(len(rows))
        if self.sigma2 is not None:
            row_squares = (rows**2).sum(1)
            factor = np.exp(-row_squares / self.sigma2)
        blocks = []
        shape = (len(rows), 1)
        power = np.ones(shape)
        for n in range(highest + 1):
            if n:
                products = power[:, :, None] * rows[:, None, :]
                power = products.reshape(len(rows), -1)
            root_of_beta = math.exp(0.5 * self.log_beta(n))
            weight = factor * root_of_beta
            blocks.append(weight[:, None] * power)
        return np.hstack(blocks)


def linear() -> TensorKernel:
    """Make the kernel that is the scalar product.

    Returns
    -------
    TensorKernel
        The kernel.

    Examples
    --------
    >>> from noisylabels.kernels.tensor import linear
    >>> linear().kernel([[1.0, 2.0]], [[3.0, -1.0]]).tolist()
    [[1.0]]
    """
    return TensorKernel("linear", lambda a: a, lambda n: 0.0 if n == 1 else -math.inf, 1)


def polynomial(degree: int, offset: float = 1.0, scale: float = 1.0) -> TensorKernel:
    r"""Make a polynomial kernel.

    Parameters
    ----------
    degree : int
        Degree, at least 1.
    offset : float, default 1.0
        Number added to the scalar product, at least 0. 0 gives the homogeneous polynomial.
    scale : float, default 1.0
        Factor, above 0.

    Returns
    -------
    TensorKernel
        The kernel.

    Raises
    ------
    ValueError
        If a parameter is out of range. With a negative offset it would not be a kernel.

    Examples
    --------
    >>> from noisylabels.kernels.tensor import polynomial
    >>> polynomial(3).kernel([[1.0]], [[1.0]]).tolist()
    [[8.0]]

    Notes
    -----
    The kernel is :math:`scale\, (offset + \langle x, x' \rangle)^{degree}`.
    """
    degree = whole("degree", degree, 1)
    offset = number("offset", offset, least=0)
    scale = number("scale", scale, above=0)
    beta = [scale * math.comb(degree, n) * offset ** (degree - n) for n in range(degree + 1)]
    return power_series(beta, f"{scale:g} ({offset:g} + a)^{degree}")


def power_series(beta: ArrayLike, name: str = "power series") -> TensorKernel:
    r"""Make a kernel that is a polynomial of the scalar product.

    Parameters
    ----------
    beta : array_like of shape (highest + 1,)
        Coefficients, at least 0 and not all 0.
    name : str, default "power series"
        What messages call the kernel.

    Returns
    -------
    TensorKernel
        The kernel.

    Raises
    ------
    ValueError
        If a coefficient is negative, or all are 0.

    Examples
    --------
    >>> from noisylabels.kernels.tensor import power_series
    >>> power_series([1.0, 0.0, 0.5]).kernel([[2.0]], [[1.0]]).tolist()
    [[3.0]]

    Notes
    -----
    The kernel is :math:`\sum_n \beta_n \langle x, x' \rangle^n`.
    """
    betas = real("beta", beta, (None,))
    if betas.min() < 0:
        coefficient = f"beta_{betas.argmin()} = {betas.min():g}"
        fault = f"{coefficient} is negative, so this is not a kernel in every dimension"
        raise ValueError(f"beta: {fault}")
    if not betas.any():
        raise ValueError("beta: all coefficients are 0")
    highest = int(np.flatnonzero(betas)[-1])
    positive = betas[: highest + 1]
    logs = [math.log(b) if b > 0 else -math.inf for b in positive]
    return TensorKernel(
        name,
        lambda a: np.asarray(np.polynomial.polynomial.polyval(a, betas), dtype=float),
        lambda n: logs[n] if n <= highest else -math.inf,
        highest,
    )


def gaussian(sigma2: float) -> TensorKernel:
    r"""Make a Gaussian kernel.

    Parameters
    ----------
    sigma2 : float
        The whole denominator of the exponent, above 0.

    Returns
    -------
    TensorKernel
        The kernel.

    Raises
    ------
    ValueError
        If ``sigma2`` is not positive.

    Examples
    --------
    >>> from noisylabels.kernels.tensor import gaussian
    >>> gaussian(2.0).kernel([[0.0]], [[2.0]]).round(3).tolist()
    [[0.135]]

    Notes
    -----
    The kernel is :math:`\exp(-\lVert x - x' \rVert^2 / \sigma^2)`.
    """
    sigma2 = number("sigma2", sigma2, above=0)
    return TensorKernel(
        f"gaussian {sigma2:g}",
        lambda a: np.exp(2.0 * a / sigma2),
        lambda n: n * math.log(2.0 / sigma2) - math.lgamma(n + 1.0),
        None,
        sigma2=sigma2,
    )
