"""Tasks of Algorithm 4: small base sets with kernel, loss and noise; their moments and best predictors."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from noisylabels.kernels import tensor
from noisylabels.kernels.tensor import TensorKernel
from noisylabels.losses.analytic import AnalyticLoss, analytic_loss
from noisylabels.theory import regret_bounds
from noisylabels.theory.estimates import feature_moment, feature_moment_bound
from reproduction.protocols.noisy_online import comparators
from reproduction.protocols.noisy_online.sequences import Clean, Floats

HIGHEST = 40
"""Degree at which explicit features of a Gaussian kernel are cut off, for |x| <= 1."""


@dataclass(frozen=True)
class AnalyticTask:
    """A base set, passed over in order; Gaussian noise of standard deviations sd (d,); kernel and loss."""

    base: Clean
    sd: Floats
    kernel: TensorKernel
    loss: AnalyticLoss
    B_w: float
    p: float

    @classmethod
    def of(cls, spec: dict[str, Any], n: int, rng: np.random.Generator) -> "AnalyticTask":
        """The task of the settings with n instances."""
        base = base_set(spec["data"], n, spec.get("scale", 1.0), rng)
        sd = np.broadcast_to(np.asarray(spec["sd"], dtype=float), base.X.shape[1:]).copy()
        loss = analytic_loss(spec["loss"], spec.get("s"))
        return cls(base, sd, kernel_of(spec["kernel"]), loss, spec["ball"], spec["p"])

    @property
    def B_x(self) -> float:
        """max_t E ||x~_t||^2."""
        return float((self.base.X**2).sum(axis=1).max() + (self.sd**2).sum())

    def log_nu(self, *, tight: bool) -> float:
        """log of the bound of E ||g~ Psi~||^2; the tight one has the exact moments of feature and series."""
        moment = feature_moment if tight else feature_moment_bound
        B_y = float(np.abs(self.base.y).max())
        B_psi = moment(self.kernel, self.p, self.B_x)
        return regret_bounds.log_gradient_moment(self.loss, self.p, self.B_w, B_psi, B_y=B_y, tight=tight)

    def least(self) -> float:
        """Loss of one pass of the best predictor of the ball, on clean data."""
        features, y = self.kernel.features(self.base.X, _highest(self.kernel)), self.base.y
        best = comparators.smooth(
            lambda a: self.loss.loss(a, y), lambda a: self.loss.derivative(a, y), features, self.B_w
        )
        return best.loss


def _highest(kernel: TensorKernel) -> int:
    return HIGHEST if kernel.degree is None else kernel.degree


def kernel_of(spec: str | dict[str, Any]) -> TensorKernel:
    """linear; {polynomial: degree, scale: ..}: scale (1 + <x, x'>)^degree; {gaussian: sigma^2}."""
    if spec == "linear" or isinstance(spec, str):
        return tensor.linear()
    if "gaussian" in spec:
        return tensor.gaussian(spec["gaussian"])
    return tensor.polynomial(spec["polynomial"], scale=spec["scale"])


def base_set(data: str, n: int, scale: float, rng: np.random.Generator) -> Clean:
    """n clean examples; line, classes, product, xor: x uniform in the unit disc; hills, sides: x in [-1, 1].

    line : y = scale (<(0.7, -0.5), x> + U[-0.1, 0.1]).   classes : y = sign <(0.8, -0.6), x>, 5 % flipped.
    product : y = 1.2 x_1 x_2 + 0.3 x_1 + U[-0.1, 0.1].    xor : y = sign x_1 x_2, 5 % flipped.
    hills : y = scale f(x) + U[-0.05, 0.05], f = exp(-(x - .6)^2 / 4) - exp(-(x + .6)^2 / 4).
    sides : y = sign f(x), 5 % flipped.
    """
    uniform, flips = rng.uniform(-1, 1, n), np.where(rng.random(n) < 0.05, -1.0, 1.0)
    if data in ("hills", "sides"):
        x = rng.uniform(-1, 1, n)
        f = np.exp(-((x - 0.6) ** 2) / 4) - np.exp(-((x + 0.6) ** 2) / 4)
        return Clean(x[:, None], np.sign(f) * flips if data == "sides" else scale * f + 0.05 * uniform)
    radius, angle = np.sqrt(rng.random(n)), rng.uniform(0, 2 * np.pi, n)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    targets = {
        "line": scale * (X @ np.array([0.7, -0.5]) + 0.1 * uniform),
        "classes": np.sign(X @ np.array([0.8, -0.6])) * flips,
        "product": 1.2 * X[:, 0] * X[:, 1] + 0.3 * X[:, 0] + 0.1 * uniform,
        "xor": np.sign(X[:, 0] * X[:, 1]) * flips,
    }
    return Clean(X, targets[data])
