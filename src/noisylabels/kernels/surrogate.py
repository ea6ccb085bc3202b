"""Kernels and their surrogates: E k~(x + n, x') = k(x, x') for Gaussian noise n of known variances.

k(x, x') = sum_q a_q exp(-u_q ||x - x'||^2),
k~(x, x') = sum_q a_q c_q exp(-sum_i u_q / (1 - 2 u_q v_i) (x_i - x'_i)^2),
c_q = prod_i (1 - 2 u_q v_i)^(-1/2):
each Gaussian component is made narrower and higher than it is, and the noise blurs it back.

f(r) is a kernel in every dimension if and only if f(r) = int_0^inf exp(-u r^2) dmu(u), mu >= 0 (Schoenberg):
a mixture of Gaussian kernels. Noise of variances v_i allows a surrogate for u < 1 / (2 max v) only, so the
integral ends there. The case study is (1 + r^2/d)^-beta, dmu = u^(beta-1) e^-u / Gamma(beta) at the rate u/d.
Source: Cesa-Bianchi, Shalev-Shwartz, Shamir 2011, Lemma 6 and equations (7) and (8).
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammainc

from noisylabels.validation import Floats, nonnegative, number, real, whole

NODES = 10  # of the quadrature of a mixture
LARGE = 100.0  # a constant C above this makes the estimates too wild to learn from


@dataclass(frozen=True)
class SurrogatePair:
    """A kernel and its surrogate as mixtures of Q Gaussians in d dimensions.

    weights, rates: (Q,) a_q > 0 and u_q.  surrogate_weights: (Q,) a_q c_q.  surrogate_rates: (Q, d).
    """

    weights: Floats
    rates: Floats
    surrogate_weights: Floats
    surrogate_rates: Floats

    @property
    def d(self) -> int:
        """Entries of an instance."""
        return self.surrogate_rates.shape[1]

    @property
    def diagonal(self) -> float:
        """k~(x, x): C of a Gaussian kernel, D_0 of a mixture."""
        return float(self.surrogate_weights.sum())

    @property
    def domination(self) -> float:
        """The least c with k~ <= c k everywhere: C of a Gaussian kernel, at most C_max of a mixture."""
        return float((self.surrogate_weights / self.weights).max())

    def without_noise(self) -> SurrogatePair:
        """The same kernel as its own surrogate, right for clean instances and naive for noisy ones."""
        return pair(self.weights, self.rates, np.zeros(self.d))

    def kernel(self, X: ArrayLike, Z: ArrayLike) -> Floats:
        """k(x, z) for the rows of X (n, d) and Z (m, d): (n, m)."""
        return self.without_noise().surrogate(X, Z)

    def surrogate(self, X: ArrayLike, Z: ArrayLike) -> Floats:
        """k~(x, z) for the rows of X (n, d) and Z (m, d): (n, m)."""
        return _mixture(X, Z, self.surrogate_weights, self.surrogate_rates)

    def blurred(self, X: ArrayLike, Z: ArrayLike, variances: ArrayLike) -> Floats:
        """E k(x + n, z), n ~ N(0, diag(variances)): what a learner sees that takes x + n for x; (n, m)."""
        v = variances_of(variances, self.d)
        shrink = 1.0 + 2.0 * np.outer(self.rates, v)
        return _mixture(X, Z, self.weights / np.sqrt(shrink).prod(axis=1), self.rates[:, None] / shrink)


def gaussian_pair(sigma2: float, variances: ArrayLike) -> SurrogatePair:
    """k(x, x') = exp(-||x - x'||^2 / sigma2), the whole denominator, and its surrogate.

    k~(x, x') = C exp(-sum_i (x_i - x'_i)^2 / (sigma2 - 2 v_i)),  C = prod_i (1 - 2 v_i / sigma2)^(-1/2).
    variances: (d,) of independent Gaussian noise on the entries; for others see `noise.additive.rotation`.
    Raises ValueError: sigma2 not positive and finite, sigma2 <= 2 max v, negative variances. Warns: C > 100.
    """
    sigma2, v = number("sigma2", sigma2, above=0), variances_of(variances)
    if sigma2 <= 2.0 * v.max():
        limit = f"exists only above 2 max(variances) = {2 * v.max():g}"
        raise ValueError(f"sigma2: the surrogate kernel {limit}, got {sigma2:g}; take a wider kernel")
    return pair(np.ones(1), np.array([1.0 / sigma2]), v)


def pair(weights: Floats, rates: Floats, v: Floats) -> SurrogatePair:
    """The mixture sum_q a_q exp(-u_q r^2) and its surrogate; 2 u_q v_i < 1 is not checked."""
    shares = 2.0 * np.outer(rates, v)
    log_c = -0.5 * np.log1p(-shares).sum(axis=1)
    if log_c.max() > math.log(LARGE):
        reason = "the noise is almost as wide as the kernel, and the estimates will be wild"
        constant = math.exp(min(log_c.max(), 700.0))
        warnings.warn(f"surrogate kernel: its constant is {constant:.3g}; {reason}", stacklevel=3)
    return SurrogatePair(weights, rates, weights * np.exp(log_c), rates[:, None] / (1.0 - shares))


def variances_of(values: ArrayLike, d: int | None = None) -> Floats:
    """Variances (d,) of the entries of the noise, checked."""
    return nonnegative("variances", real("variances", values, (d,)), (d,))


def _mixture(X: ArrayLike, Z: ArrayLike, weights: Floats, rates: Floats) -> Floats:
    d = rates.shape[1]
    rows, columns = real("X", X, (None, d)), real("Z", Z, (None, d))
    K = np.zeros((len(rows), len(columns)))
    for weight, rate in zip(weights, rates, strict=True):
        distance = np.zeros_like(K)
        for i in range(d):
            distance += rate[i] * np.subtract.outer(rows[:, i], columns[:, i]) ** 2
        K += weight * np.exp(-distance)
    return K


def rational(z: ArrayLike, beta: float = 1.0) -> Floats:
    """k = (1 + z)^-beta, z = ||x - x'||^2 / d."""
    return (1.0 + np.asarray(z, dtype=float)) ** -number("beta", beta, above=0)


def truncated_rational(z: ArrayLike, c: float, beta: float = 1.0) -> Floats:
    """k_c = (1 + z)^-beta P(beta, c (1 + z)), P the regularised lower incomplete gamma function.

    beta = 1: (1 - exp(-c (1 + z))) / (1 + z), 1 - e^-c <= k_c / k <= 1, max |k - k_c| = e^-c at z = 0.
    """
    c = number("c", c, above=0)
    reach = c * (1.0 + np.asarray(z, dtype=float))
    share = -np.expm1(-reach) if beta == 1.0 else gammainc(beta, reach)
    return rational(z, beta) * share


def rational_pair(c: float, variances: ArrayLike, beta: float = 1.0, nodes: int = NODES) -> SurrogatePair:
    """k_c of `truncated_rational`, z = r^2 / d, d = len(variances), and its surrogate.

    Gauss-Legendre nodes replace the integral. Kernel and surrogate share them, so they are an exact pair with
    any number of nodes; 10 give k_c (beta = 1) to 3e-9 for c (1 + z) <= 16, 24 to 1e-12 for c (1 + z) <= 80.
    variances: (d,) of independent Gaussian noise.  beta >= 1.   Warns: C_max > 100.
    Raises ValueError: c not positive and finite, c >= d / (2 max v), negative variances, nodes < 1.
    """
    c, v = number("c", c, above=0), variances_of(variances)
    beta, d = number("beta", beta, least=1), len(v)
    if 2.0 * c * v.max() >= d:
        limit = f"exists only below d / (2 max(variances)) = {d / (2 * v.max()):g}"
        raise ValueError(f"c: the surrogate kernel {limit}, got {c:g}; truncate earlier")
    x, weight = np.polynomial.legendre.leggauss(whole("nodes", nodes, 1))
    u = 0.5 * c * (x + 1.0)
    density = np.exp((beta - 1.0) * np.log(u) - u - math.lgamma(beta))
    return pair(0.5 * c * weight * density, u / d, v)
