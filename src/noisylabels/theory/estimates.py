"""Unbiased estimates of analytic functions from copies of unknown law: sampler, moments, number of copies.

theta = gamma_n p^(n+1) / (p-1) X_1 ... X_n with P(n) = (p-1) / p^(n+1):  E theta = sum_n gamma_n (E X)^n =
f(E X). A round of Algorithm 4 asks for N_0 + N_1 + ... + N_M copies: the stored feature, and M features in
the gradient length, M geometric. The law of that number depends on p alone.
Source: Cesa-Bianchi, Shalev-Shwartz, Shamir 2011, Lemma 1; exact second moments and law are ours.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.kernels.tensor import TensorKernel
from noisylabels.validation import Floats, number, real


def mean_queries(p: float, *, gaussian: bool = False) -> float:
    """p / (p-1)^2 for a dot-product kernel, three times that for the Gaussian kernel."""
    p = number("p", p, above=1)
    return (3.0 if gaussian else 1.0) * p / (p - 1.0) ** 2


def pmf(p: float, highest: int, *, gaussian: bool = False) -> Floats:
    """P(total = k), k = 0..highest: (highest + 1,).

    Dot product: (1 - rho) rho^k, rho = p / (p^2 - p + 1).
    Gaussian: with q = (p-1)/p, g(z) = q / (1 - z/p), H(z) = g(z^2) g(z), the series of H(z) q / (1 - H(z)/p).
    """
    p = number("p", p, above=1)
    if highest < 0:
        raise ValueError(f"highest: must be at least 0, got {highest}")
    if not gaussian:
        rho = p / (p * p - p + 1.0)
        return (1.0 - rho) * rho ** np.arange(highest + 1.0)
    H = _one_estimate(p, highest)
    total = np.empty(highest + 1)
    for k in range(highest + 1):  # F (1 - H/p) = q H
        total[k] = ((p - 1.0) / p * H[k] + (H[1 : k + 1] @ total[k - 1 :: -1][:k]) / p) / (1.0 - H[0] / p)
    return total


def _one_estimate(p: float, highest: int) -> Floats:
    """P(2 n_1 + n_2 = k) for independent geometric n_1, n_2: k = 0..highest."""
    q = (p - 1.0) / p
    k = np.arange(highest + 1)
    single = q * p ** -k.astype(float)
    double = np.where(k % 2 == 0, q * p ** -(k / 2.0), 0.0)
    return np.convolve(single, double)[: highest + 1]


MANY_QUERIES = 1.05  # below this p a round of Algorithm 4 takes more than 400 queries


def checked_p(p: float) -> float:
    """p as a float. Raises ValueError: p <= 1 or not finite. Warns: p < 1.05."""
    p = number("p", p, above=1)
    if p < MANY_QUERIES:
        warnings.warn(f"p = {p:g}: a round takes about {p / (p - 1) ** 2:.0f} queries", stacklevel=3)
    return p


def degrees(rng: np.random.Generator, p: float, size: int) -> NDArray[np.int64]:
    """n = floor(log U / -log p), U uniform on (0, 1]: P(n) = (p-1) / p^(n+1); (size,)."""
    U = 1.0 - rng.random(size)
    return np.floor(np.log(U) / -math.log(p)).astype(np.int64)


def largest_degree(p: float) -> int:
    """No draw of `degrees` is larger: U >= 2^-53."""
    return int(53.0 * math.log(2.0) / math.log(p)) + 1


def log_inverse_probabilities(p: float, highest: int) -> Floats:
    """log(p^(n+1) / (p-1)) for n = 0..highest."""
    return np.arange(1.0, highest + 2.0) * math.log(p) - math.log(p - 1.0)


def estimates(
    coefficients: ArrayLike, p: float, draw: Callable[[np.random.Generator, int], ArrayLike],
    rng: np.random.Generator, size: int,
) -> tuple[Floats, NDArray[np.int64]]:  # fmt: skip
    """`size` independent theta and their numbers of copies n; draw(rng, m) gives m copies of X (m,).

    coefficients: gamma_0.., 0 beyond the last.
    """
    gamma = real("coefficients", coefficients, (None,))
    n = degrees(rng, p, size)
    theta = np.where(n < len(gamma), gamma[np.minimum(n, len(gamma) - 1)], 0.0)
    theta *= np.exp((n + 1.0) * math.log(p) - math.log(p - 1.0))
    for k in range(int(n.max(initial=0))):
        rows = np.flatnonzero(n > k)
        theta[rows] *= np.asarray(draw(rng, len(rows)), dtype=float)
    return np.asarray(theta, dtype=float), n


def second_moment(coefficients: ArrayLike, p: float, EX2: float) -> float:
    """E theta^2 = p/(p-1) sum_n gamma_n^2 (p E X^2)^n, exactly."""
    gamma = real("coefficients", coefficients, (None,))
    return p / (p - 1.0) * float((gamma**2 * (p * EX2) ** np.arange(len(gamma))).sum())


def second_moment_bound(coefficients: ArrayLike, p: float, EX2: float) -> float:
    """E theta^2 <= p/(p-1) f_+(sqrt(p E X^2))^2,  f_+(r) = sum_n |gamma_n| r^n."""
    gamma = np.abs(real("coefficients", coefficients, (None,)))
    return p / (p - 1.0) * float((gamma * math.sqrt(p * EX2) ** np.arange(len(gamma))).sum()) ** 2


def feature_moment(kernel: TensorKernel, p: float, B_x: float, m_2: float | None = None) -> float:
    """E ||Psi~||^2 of the estimated feature, E ||x~||^2 = B_x; with B_x a bound, a bound too.

    Dot product: p/(p-1) Q(p B_x).  Gaussian: (p/(p-1))^2 I_0(2 sqrt(p m_2) / sigma2) exp(2 p B_x / sigma2),
    m_2 = E <x~, x~'>^2 for two copies, at most B_x^2, which is taken if m_2 is not given.
    Raises ValueError: p <= 1.
    """
    from scipy.special import i0

    p = number("p", p, above=1)
    if kernel.sigma2 is None:
        return p / (p - 1.0) * float(kernel.Q(np.asarray(p * B_x)))
    m_2 = B_x**2 if m_2 is None else m_2
    bessel = float(i0(2.0 * math.sqrt(p * m_2) / kernel.sigma2))
    return (p / (p - 1.0)) ** 2 * bessel * math.exp(2.0 * p * B_x / kernel.sigma2)


def feature_moment_bound(kernel: TensorKernel, p: float, B_x: float) -> float:
    """B_psi of the theorems: `feature_moment`; Gaussian: (p/(p-1))^2 exp(2 (sqrt p + p) B_x / sigma2)."""
    if kernel.sigma2 is None:
        return feature_moment(kernel, p, B_x)
    p = number("p", p, above=1)
    return (p / (p - 1.0)) ** 2 * math.exp(2.0 * (math.sqrt(p) + p) * B_x / kernel.sigma2)
