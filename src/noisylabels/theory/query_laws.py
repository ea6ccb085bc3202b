"""How many copies a round of Algorithm 4 asks for: a law that depends on p alone, not on T, d, data or noise.

Total = N_0 + N_1 + ... + N_M: the stored feature, and M features in the gradient length, M geometric. Ours.
"""

from __future__ import annotations

import numpy as np

from noisylabels.arrays import Floats, number


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


def tail(p: float, z: int) -> float:
    """P(total >= z) = rho^z, rho = p / (p^2 - p + 1), for a dot-product kernel."""
    return (p / (p * p - p + 1.0)) ** z
