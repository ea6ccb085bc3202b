"""Algorithm 4 as the paper writes it, a list of estimated features; `analytic_kernel` is the fast form."""

from __future__ import annotations

import math

import numpy as np

from noisylabels.arrays import Floats, number, of_class
from noisylabels.kernels.tensor import TensorKernel
from noisylabels.losses.analytic import AnalyticLoss
from noisylabels.online.base import OnlineLearner
from noisylabels.online.estimators import Feature, gradient_length, map_estimate, product, product_with
from noisylabels.online.oracles import Oracle
from noisylabels.theory.randomised_estimates import checked_p


class AnalyticKernelList(OnlineLearner):
    """f_t(x) = sum_{i<t} alpha_i <Psi~_i, Psi(x)>,  alpha_t = -eta g~_t.

    E Psi~_t = Psi(x_t) and E g~_t = l'(f_t(x_t)): both estimates are unbiased, whatever the noise.
    alpha is scaled back when ||w||^2 exceeds B_w.
    kernel: `kernels.tensor`.  loss: `losses.analytic`.  eta: step size, > 0.  p > 1: larger p, fewer queries.
    B_w: squared radius, > 0.  rng: the learner's own coin.
    Raises ValueError: a parameter out of range; a label that is not -1 or 1 (classification); too few copies.
    Source: Cesa-Bianchi, Shalev-Shwartz, Shamir 2011, Algorithm 4 and Subroutine 1.
    """

    name = "analytic_kernel_list"

    def __init__(
        self,
        kernel: TensorKernel,
        loss: AnalyticLoss,
        eta: float,
        rng: np.random.Generator,
        p: float = 2.0,
        B_w: float = 1.0,
    ) -> None:
        self.kernel = of_class("kernel", kernel, TensorKernel)
        self.loss = of_class("loss", loss, AnalyticLoss)
        self.rng = of_class("rng", rng, np.random.Generator)
        self.eta = number("eta", eta, above=0)
        self.p = checked_p(p)
        self.B_w = number("B_w", B_w, above=0)

    def _start(self, d: int) -> None:
        self.features: list[Feature] = []
        self.alpha: list[float] = []
        self.norm = 0.0

    def _values(self, X: Floats) -> Floats:
        return np.array([self._value(z) for z in X])

    def _value(self, z: Floats) -> float:
        return self._weighted([product_with(self.kernel, self.p, f, z) for f in self.features])

    def _weighted(self, products: list[float]) -> float:
        return float(np.dot(self.alpha, products)) if products else 0.0

    def inner(self, feature: Feature) -> float:
        """<w_t, Psi~>."""
        return self._weighted([product(self.kernel, self.p, f, feature) for f in self.features])

    def _learn(self, oracle: Oracle) -> None:
        self._ready(oracle.d)
        feature = map_estimate(self.kernel, self.p, oracle, self.rng)
        alpha = -self.eta * gradient_length(self.loss, self.kernel, self.p, self.inner, oracle, self.rng)
        norm = self.norm + 2.0 * alpha * self.inner(feature)
        norm += alpha**2 * product(self.kernel, self.p, feature, feature)
        self.features.append(feature)
        self.alpha.append(alpha)
        self.norm = max(norm, 0.0)
        if norm > self.B_w:
            shrink = math.sqrt(self.B_w / norm)
            self.alpha = [shrink * a for a in self.alpha]
            self.norm = self.B_w
