"""Radial kernels as truncated mixtures of Gaussian kernels, the general case of the surrogate kernel.

f(r) is a kernel in every dimension if and only if f(r) = int_0^inf exp(-u r^2) dmu(u),
mu >= 0 (Schoenberg).
Noise of variances v_i allows a surrogate for u < 1 / (2 max v) only, so the integral stops there.
The case study is (1 + r^2/d)^(-beta), with dmu = u^(beta-1) e^-u / Gamma(beta) at the rate u/d.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from noisylabels.kernels.surrogate import SurrogatePair, pair, variances_of
from noisylabels.validation import Floats, number, whole

NODES = 10


def rational(z: ArrayLike, beta: float = 1.0) -> Floats:
    """k = (1 + z)^-beta, z = ||x - x'||^2 / d."""
    return (1.0 + np.asarray(z, dtype=float)) ** -number("beta", beta, above=0)


def truncated_rational(z: ArrayLike, c: float, beta: float = 1.0) -> Floats:
    """k_c = (1 + z)^-beta P(beta, c (1 + z)), P the regularised lower incomplete gamma function.

    beta = 1: (1 - exp(-c (1 + z))) / (1 + z); then 1 - e^-c <= k_c / k <= 1,
    and max |k - k_c| = e^-c at z = 0.
    Source: Cesa-Bianchi, Shalev-Shwartz, Shamir 2011, equation (7).
    """
    from scipy.special import gammainc

    c = number("c", c, above=0)
    reach = c * (1.0 + np.asarray(z, dtype=float))
    share = -np.expm1(-reach) if beta == 1.0 else gammainc(beta, reach)
    return rational(z, beta) * share


def rational_pair(c: float, variances: ArrayLike, beta: float = 1.0, nodes: int = NODES) -> SurrogatePair:
    """k_c of `truncated_rational`, z = r^2 / d, d = len(variances), and its surrogate.

    Gauss-Legendre nodes replace the integral. Kernel and surrogate share them,
    so they are an exact pair with any number of nodes.
    10 nodes give k_c (beta = 1) to 3e-9 for c (1 + z) <= 16, 24 to 1e-12 for c (1 + z) <= 80.
    variances: (d,) of independent Gaussian noise.  beta >= 1.
    Raises ValueError: c not positive and finite, c >= d / (2 max v), negative variances, nodes < 1.
    Warns: C_max > 100.
    Source: Cesa-Bianchi, Shalev-Shwartz, Shamir 2011, equations (7) and (8).
    """
    c, v = number("c", c, above=0), variances_of(variances)
    beta, d = number("beta", beta, least=1), len(v)
    if 2.0 * c * v.max() >= d:
        raise ValueError(
            f"c: the surrogate kernel exists only below d / (2 max(variances)) = {d / (2 * v.max()):g}, "
            f"got {c:g}; "
            f"truncate earlier"
        )
    x, weight = np.polynomial.legendre.leggauss(whole("nodes", nodes, 1))
    u = 0.5 * c * (x + 1.0)
    density = np.exp((beta - 1.0) * np.log(u) - u - math.lgamma(beta))
    return pair(0.5 * c * weight * density, u / d, v)


def largest_constants(c: float, variances: ArrayLike) -> tuple[float, float]:
    """D_0 = k~_c(x, x) and C_max = prod_i (1 - 2 c v_i / d)^(-1/2), for beta = 1: k~_c <= C_max k_c.

    Raises ValueError: as `rational_pair`.
    """
    v = variances_of(variances)
    D_0 = rational_pair(c, v, nodes=64).diagonal
    return D_0, float(np.exp(-0.5 * np.log1p(-2.0 * c * v / len(v)).sum()))


def exponential_density(u: ArrayLike, a: float) -> Floats:
    """Density of mu for exp(-a r): a / (2 sqrt(pi)) u^(-3/2) exp(-a^2 / (4 u)), u > 0."""
    u = np.asarray(u, dtype=float)
    return number("a", a, above=0) / (2.0 * math.sqrt(math.pi)) * u**-1.5 * np.exp(-(a**2) / (4.0 * u))
