"""Algorithm 4 as the paper writes it, a list of estimated features: `online.analytic` equals it.

Unbiased features from copies of unknown law, their products, and the unbiased gradient length.
Source: Cesa-Bianchi, Shalev-Shwartz, Shamir 2011, Section V.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from noisylabels.kernels.tensor import TensorKernel
from noisylabels.losses.analytic import DIFFERENCE, MARGIN_LESS_ONE, AnalyticLoss
from noisylabels.online.analytic import AnalyticKernel, degree
from noisylabels.online.oracles import Oracle
from noisylabels.validation import Floats


class Feature(NamedTuple):
    """scalar sqrt(beta_n) p^(n+1)/(p-1) x^(1) (x) ... (x) x^(n) in block n, else 0.

    The points are (n, d).
    """

    scalar: float
    points: Floats


def log_inverse_chance(n: int, p: float) -> float:
    """ln p^(n+1) / (p-1): one over the chance of n in the geometric law."""
    return (n + 1) * math.log(p) - math.log(p - 1.0)


def map_estimate(
    kernel: TensorKernel,
    p: float,
    oracle: Oracle,
    rng: np.random.Generator,
) -> Feature:
    """An estimate of Psi(x), E Psi~ = Psi(x), from fresh copies of x.

    Dot product: n geometric, n copies.
    Gaussian: n_1 and n_2 geometric, n_2 copies for the tensor and 2 n_1 for exp(-||x||^2 / sigma2):
    (-1)^n p^(n+1) / ((p-1) n! sigma^(2n)) times n pairs with E <a, b> = ||x||^2.
    """
    log_p = math.log(p)
    scalar = 1.0
    if kernel.sigma2 is None:
        n_2 = degree(rng.random(), log_p)
    else:
        n_1 = degree(rng.random(), log_p)
        n_2 = degree(rng.random(), log_p)
        log = log_inverse_chance(n_1, p)
        log -= math.lgamma(n_1 + 1.0)
        log -= n_1 * math.log(kernel.sigma2)
        scalar = (-1.0) ** n_1 * math.exp(log)
        for _ in range(n_1):
            scalar *= float(oracle.instance() @ oracle.instance())
    points = [oracle.instance() for _ in range(n_2)]
    return Feature(scalar, np.array(points))


def product(kernel: TensorKernel, p: float, a: Feature, b: Feature) -> float:
    """Prod: <Psi~, Psi~'> = 1[n = n'] s s' beta_n p^(2(n+1)) / (p-1)^2 prod_j <x^(j), x'^(j)>."""
    n = len(a.points)
    if n != len(b.points) or kernel.log_beta(n) == -math.inf:
        return 0.0
    weight = math.exp(kernel.log_beta(n) + 2.0 * log_inverse_chance(n, p))
    inner_products = [x @ z for x, z in zip(a.points, b.points, strict=True)]
    return float(a.scalar * b.scalar * weight * np.prod(inner_products))


def product_with(kernel: TensorKernel, p: float, a: Feature, z: Floats) -> float:
    """Prod with a known point: <Psi~, Psi(z)> = s e(z) beta_n p^(n+1) / (p-1) prod_j <x^(j), z>."""
    n = len(a.points)
    if kernel.log_beta(n) == -math.inf:
        return 0.0
    log = kernel.log_beta(n) + log_inverse_chance(n, p)
    if kernel.sigma2 is not None:
        log -= float(z @ z) / kernel.sigma2
    inner_products = [x @ z for x in a.points]
    return float(a.scalar * math.exp(log) * np.prod(inner_products))


def gradient_length(
    loss: AnalyticLoss,
    kernel: TensorKernel,
    p: float,
    inner: Callable[[Feature], float],
    oracle: Oracle,
    rng: np.random.Generator,
) -> float:
    """Subroutine 1: g~ with E g~ = the derivative of the clean loss at <w, Psi(x)>.

    inner(Psi~) = <w, Psi~>. n geometric; g~ = gamma_n p^(n+1)/(p-1) X_1 ... X_n, each X_j from a
    fresh feature.
    Regression: X_j = <w, Psi~> - y~ with a fresh target in each.
    Classification: X_j = y <w, Psi~>, or y <w, Psi~> - 1, and the whole times y.
    All n features are queried, also where gamma_n = 0.
    """
    n = degree(rng.random(), math.log(p))
    features = [map_estimate(kernel, p, oracle, rng) for _ in range(n)]
    signs, logs = loss.series(n)
    g = float(signs[n] * math.exp(logs[n] + log_inverse_chance(n, p)))
    if loss.kind == DIFFERENCE:
        factors = [inner(feature) - oracle.target() for feature in features]
        return g * float(np.prod(factors))
    y = oracle.target()
    loss.check_labels(np.array([y]))
    shift = float(loss.kind == MARGIN_LESS_ONE)
    factors = [y * inner(feature) - shift for feature in features]
    return y * g * float(np.prod(factors))


class AnalyticKernelList(AnalyticKernel):
    """`AnalyticKernel` as the paper writes it: the same numbers of the same coin, O(t) a round."""

    name = "analytic_kernel_list"

    @property
    def norm(self) -> float:
        return self._norm

    def _start(self, d: int) -> None:
        self.features: list[Feature] = []
        self.alpha: list[float] = []
        self._norm = 0.0

    def _values(self, X: Floats) -> Floats:
        return np.array([self._value(z) for z in X])

    def _value(self, z: Floats) -> float:
        products = [product_with(self.kernel, self.p, f, z) for f in self.features]
        return self._weighted(products)

    def _weighted(self, products: list[float]) -> float:
        return float(np.dot(self.alpha, products)) if products else 0.0

    def inner(self, feature: Feature) -> float:
        """<w_t, Psi~>."""
        products = [product(self.kernel, self.p, f, feature) for f in self.features]
        return self._weighted(products)

    def _learn(self, oracle: Oracle) -> None:
        self._ready(oracle.d)
        feature = map_estimate(self.kernel, self.p, oracle, self.rng)
        length = gradient_length(self.loss, self.kernel, self.p, self.inner, oracle, self.rng)
        alpha = -self.eta * length
        norm = self._norm + 2.0 * alpha * self.inner(feature)
        norm += alpha**2 * product(self.kernel, self.p, feature, feature)
        self.features.append(feature)
        self.alpha.append(alpha)
        self._norm = max(norm, 0.0)
        if norm > self.B_w:
            shrink = math.sqrt(self.B_w / norm)
            self.alpha = [shrink * a for a in self.alpha]
            self._norm = self.B_w
