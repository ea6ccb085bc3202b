"""Margin losses r(z), z = y f(x): robust ones, convex ones, and what is known about each.

A constructor such as ``rgomp(c=2)`` returns a `Loss`: the code and the parameters that the compiled learners
take, its curvature, its bound. The formulas themselves are in `noisylabels.losses.compiled`.

Source: Han, Tsang, Chen, ECML PKDD 2016, Sections 3-4; the other losses are named at their constructors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.arrays import choice
from noisylabels.losses import compiled

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Loss:
    """A margin loss: what the compiled learners need (`code`) and what is known about it.

    kind, parameters : arguments of the compiled `value` and `slope`.
    curvature : L = max |r''|, or 1 by convention for a loss with kinks; step sizes are scaled by it.
    bound : sup r, inf if unbounded.   smooth : r'' exists.   decreasing : r' <= 0 everywhere.
    """

    name: str
    kind: int
    parameters: tuple[float, float, float] = (0.0, 0.0, 0.0)
    curvature: float = 1.0
    bound: float = math.inf
    smooth: bool = False
    decreasing: bool = True

    @property
    def code(self) -> tuple[int, float, float, float]:
        """(kind, a, b, c), the leading arguments of `value` and `slope`."""
        return (self.kind, *self.parameters)

    def value(self, z: ArrayLike) -> Array:
        """r(z), elementwise."""
        margins = np.asarray(z, dtype=np.float64)
        return compiled.values(*self.code, margins.ravel()).reshape(margins.shape)

    def slope(self, z: ArrayLike) -> Array:
        """r'(z), elementwise."""
        margins = np.asarray(z, dtype=np.float64)
        return compiled.slopes(*self.code, margins.ravel()).reshape(margins.shape)

    def weight(self, z: ArrayLike) -> Array:
        """phi(z) = -r'(z) / (1 - z), z < 1: the weight of an example in the equivalent least-squares problem.

        Source: Theorem 2 of Han, Tsang, Chen; for a wrong label z = -|f(x)|.
        """
        margins = np.asarray(z, dtype=np.float64)
        return -self.slope(margins) / (1.0 - margins)


def _finite(name: str, number: float) -> float:
    if not math.isfinite(number):
        raise ValueError(f"{name} must be a finite number, got {number}")
    return float(number)


def log() -> Loss:
    """r(z) = ln(1 + e^-z), the logistic loss."""
    return Loss("log", compiled.LOG, curvature=0.25, smooth=True)


def hinge() -> Loss:
    """r(z) = max(0, 1 - z)."""
    return Loss("hinge", compiled.HINGE)


def ramp(s: float = -1.0) -> Loss:
    """r(z) = min(1 - s, max(0, 1 - z)) with s <= 0; the difference of two hinges.

    Raises ValueError : s > 0.
    """
    return Loss("ramp", compiled.RAMP, (_ramp_end(s), 0.0, 0.0), bound=1.0 - s)


PRESETS = {-0.7: (3.0, -0.15), -1.0: (2.0, -0.03), -2.0: (1.5, 0.5)}
"""s -> (alpha, beta) of the smooth ramp, as printed in Section 5.1 of Han, Tsang, Chen."""


def smooth_ramp(s: float = -1.0, alpha: float | None = None, beta: float | None = None) -> Loss:
    """r(z) = (1 - s) / (1 + e^(alpha (z + beta))), s <= 0 < alpha; without alpha and beta the preset for s.

    Raises ValueError : s > 0 or alpha <= 0; one of alpha and beta without the other; no preset for s.
    """
    end = _ramp_end(s)
    if alpha is None and beta is None:
        if s not in PRESETS:
            known = ", ".join(map(str, PRESETS))
            raise ValueError(f"smooth_ramp has presets for s = {known} only; for s = {s} give alpha and beta")
        alpha, beta = PRESETS[s]
    if alpha is None or beta is None:
        raise ValueError(f"smooth_ramp: give both alpha and beta, or neither; got {alpha} and {beta}")
    if not alpha > 0:
        raise ValueError(f"alpha, the steepness of the smooth ramp, must be > 0, got {alpha}")
    parameters = (end, _finite("alpha", alpha), _finite("beta", beta))
    curvature = (1.0 - s) * alpha**2 / (6.0 * math.sqrt(3.0))
    return Loss("smooth_ramp", compiled.SMOOTH_RAMP, parameters, curvature, bound=1.0 - s, smooth=True)


def _ramp_end(s: float) -> float:
    if not s <= 0:
        raise ValueError(f"s, the margin where the ramp becomes flat, must be <= 0, got {s}")
    return _finite("s", s)


def rgomp(c: float = 2.0) -> Loss:
    """r(z) = e^(-e^(c z)), the reversed Gompertz loss, c > 0.

    max |r''| = c^2 g^3 e^(-g^2) with the golden ratio g.  Raises ValueError : c <= 0.
    """
    if not c > 0:
        raise ValueError(f"c, the steepness of the reversed Gompertz loss, must be > 0, got {c}")
    golden = (1.0 + math.sqrt(5.0)) / 2.0
    curvature = _finite("c", c) ** 2 * golden**3 * math.exp(-(golden**2))
    return Loss("rgomp", compiled.RGOMP, (float(c), 0.0, 0.0), curvature, bound=1.0, smooth=True)


def squared_hinge() -> Loss:
    """r(z) = max(0, 1 - z)^2, LIBLINEAR's loss."""
    return Loss("squared_hinge", compiled.SQUARED_HINGE, curvature=2.0)


def modified_huber() -> Loss:
    """r(z) = max(0, 1 - z)^2 for z >= -1, else -4 z (T. Zhang, Annals of Statistics 32, 2004)."""
    return Loss("modified_huber", compiled.MODIFIED_HUBER, curvature=2.0)


def perceptron() -> Loss:
    """r(z) = max(0, -z)."""
    return Loss("perceptron", compiled.PERCEPTRON)


def sigmoid() -> Loss:
    """r(z) = 1 / (1 + e^z), the smooth ramp with s = 0, alpha = 1, beta = 0."""
    return smooth_ramp(0.0, 1.0, 0.0)


def savage() -> Loss:
    """r(z) = 1 / (1 + e^z)^2 (Masnadi-Shirazi, Vasconcelos, NIPS 2008)."""
    p = (15.0 - math.sqrt(33.0)) / 24.0  # 1 / (1 + e^z) where |r''| = 2 p^2 (1 - p) |2 - 3 p| is largest
    return Loss(
        "savage", compiled.SAVAGE, curvature=2.0 * p**2 * (1.0 - p) * (2.0 - 3.0 * p), bound=1.0, smooth=True
    )


def tangent() -> Loss:
    """r(z) = (2 arctan z - 1)^2; increases beyond z = tan(1/2).

    Source: Masnadi-Shirazi, Mahadevan, Vasconcelos, CVPR 2010.
    """
    # |r''| is largest at z = 0.12097934
    return Loss(
        "tangent",
        compiled.TANGENT,
        curvature=8.484612157278837,
        bound=(math.pi + 1.0) ** 2,
        smooth=True,
        decreasing=False,
    )


def unhinged() -> Loss:
    """r(z) = 1 - z, not bounded below (van Rooyen, Menon, Williamson, NIPS 2015)."""
    return Loss("unhinged", compiled.UNHINGED, curvature=1.0, smooth=True)


CONSTRUCTORS = {
    constructor.__name__: constructor
    for constructor in (
        log, hinge, ramp, smooth_ramp, rgomp, squared_hinge, modified_huber,
        perceptron, sigmoid, savage, tangent, unhinged,
    )
}  # fmt: skip
"""name -> constructor of a `Loss` with default parameters."""


def resolve(loss: str | Loss) -> Loss:
    """A `Loss` as it is, or the one of that name with its default parameters.

    Raises
    ------
    ValueError : an unknown name; the message lists the known ones.
    """
    if isinstance(loss, Loss):
        return loss
    return CONSTRUCTORS[choice("loss", loss, CONSTRUCTORS)]()
