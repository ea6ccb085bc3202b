"""Kernels whose features are tensor powers, block by block: dot-product kernels, and the Gaussian kernel.

Psi(x) has the blocks e(x) sqrt(beta_n) x^(tensor n), n >= 0, so that
k(x, x') = e(x) e(x') Q(<x, x'>),  Q(a) = sum_n beta_n a^n,  beta_n >= 0.
A dot-product kernel has e = 1; the Gaussian kernel exp(-||x - x'||^2 / sigma2) has
e(x) = exp(-||x||^2 / sigma2), beta_n = (2 / sigma2)^n / n!.
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
    """name; Q; n -> log beta_n; the highest degree (None: infinite).

    sigma2: the Gaussian kernel's, None for dot-product kernels.
    """

    name: str
    Q: Callable[[Floats], Floats]
    log_beta: Callable[[int], float]
    degree: int | None
    sigma2: float | None = None

    def log_betas(self, highest: int) -> Floats:
        """log beta_0, ..., log beta_highest; -inf where beta_n = 0."""
        return np.array([self.log_beta(n) for n in range(highest + 1)])

    def kernel(self, X: ArrayLike, Z: ArrayLike) -> Floats:
        """k(x, z) for the rows of X (n, d) and Z (m, d): (n, m)."""
        rows = real("X", X, (None, None))
        columns = real("Z", Z, (None, rows.shape[1]))
        K = self.Q(rows @ columns.T)
        if self.sigma2 is None:
            return K
        return K * np.exp(-np.add.outer((rows**2).sum(1), (columns**2).sum(1)) / self.sigma2)

    def features(self, X: ArrayLike, highest: int) -> Floats:
        """The blocks 0..highest of Psi(x), one after the other: (n, 1 + d + ... + d^highest)."""
        rows = real("X", X, (None, None))
        factor = np.ones(len(rows))
        if self.sigma2 is not None:
            factor = np.exp(-(rows**2).sum(1) / self.sigma2)
        blocks, power = [], np.ones((len(rows), 1))
        for n in range(highest + 1):
            if n:
                power = (power[:, :, None] * rows[:, None, :]).reshape(len(rows), -1)
            blocks.append((factor * math.exp(0.5 * self.log_beta(n)))[:, None] * power)
        return np.hstack(blocks)


def linear() -> TensorKernel:
    """k = <x, x'>."""
    return TensorKernel("linear", lambda a: a, lambda n: 0.0 if n == 1 else -math.inf, 1)


def polynomial(degree: int, offset: float = 1.0, scale: float = 1.0) -> TensorKernel:
    """k = scale (offset + <x, x'>)^degree; offset 0 is the homogeneous polynomial.

    Raises ValueError: degree < 1, offset < 0 (then some beta_n < 0), scale <= 0.
    """
    degree = whole("degree", degree, 1)
    offset, scale = number("offset", offset, least=0), number("scale", scale, above=0)
    beta = [scale * math.comb(degree, n) * offset ** (degree - n) for n in range(degree + 1)]
    return power_series(beta, f"{scale:g} ({offset:g} + a)^{degree}")


def power_series(beta: ArrayLike, name: str = "power series") -> TensorKernel:
    """k = sum_n beta_n <x, x'>^n with finitely many coefficients.

    Raises ValueError: some beta_n < 0, which is no kernel; all of them 0.
    """
    betas = real("beta", beta, (None,))
    if betas.min() < 0:
        least = f"beta_{betas.argmin()} = {betas.min():g}"
        raise ValueError(f"beta: {least} is negative, so this is no kernel in every dimension")
    if not betas.any():
        raise ValueError("beta: all coefficients are 0")
    highest = int(np.flatnonzero(betas)[-1])
    logs = [math.log(b) if b > 0 else -math.inf for b in betas[: highest + 1]]
    return TensorKernel(
        name,
        lambda a: np.asarray(np.polynomial.polynomial.polyval(a, betas), dtype=float),
        lambda n: logs[n] if n <= highest else -math.inf,
        highest,
    )


def gaussian(sigma2: float) -> TensorKernel:
    """k = exp(-||x - x'||^2 / sigma2), the whole denominator. Raises ValueError: sigma2 <= 0."""
    sigma2 = number("sigma2", sigma2, above=0)
    return TensorKernel(
        f"gaussian {sigma2:g}",
        lambda a: np.exp(2.0 * a / sigma2),
        lambda n: n * math.log(2.0 / sigma2) - math.lgamma(n + 1.0),
        None,
        sigma2=sigma2,
    )
