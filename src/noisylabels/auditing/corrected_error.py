"""The error on true labels of predictions that are judged by noisy ones.

With predictions that do not depend on the observed label given the true one (made by a model trained on other
rows), P(predicted, observed) = P(predicted, true) Omega. Hence P(predicted, true) = P(predicted, observed)
Omega^-1, and the error is 1 - its trace; with two classes and symmetric flips e = (e~ - rho) / (1 - 2 rho).

Sources: Natarajan et al., NIPS 2013 (the inverse); Menon et al., ICML 2015 (the balanced error).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noisylabels.auditing.confident_joint import Array, Classes
from noisylabels.auditing.flip_rates import Z

LARGEST_CONDITION = 20.0


@dataclass(frozen=True)
class Corrected:
    """Error and its 95 % interval for this Omega, in [0, 1]; clipped: whether the error had to be."""

    error: float
    low: float
    high: float
    clipped: bool


def corrected_error(predicted: NDArray[np.intp], y: Classes, omega: Array) -> Corrected:
    """e = 1 - mean of (Omega^-1)_{y_n predicted_n}, with the standard error of that mean.

    Omega is taken as known: what is not known of it is not in the interval.

    Raises ValueError : Omega with a condition number above 20, whose inverse blows up every chance deviation.
    """
    condition = float(np.linalg.cond(omega))
    if not condition <= LARGEST_CONDITION:
        raise ValueError(
            f"the flip matrix has the condition number {condition:.3g}, above {LARGEST_CONDITION:g}: with "
            "flips this frequent the observed labels say too little about the true ones to correct an error"
        )
    terms = np.linalg.inv(omega)[y, predicted]
    error = float(1.0 - terms.mean())
    half = Z * float(terms.std(ddof=1)) / len(y) ** 0.5
    low, high = np.clip([error - half, error + half], 0.0, 1.0)
    return Corrected(float(np.clip(error, 0.0, 1.0)), float(low), float(high), not 0.0 <= error <= 1.0)


def balanced_error(predicted: NDArray[np.intp], y: Classes) -> float:
    """Mean over the observed classes k of P(predicted != k | observed k).

    With two classes the order of two classifiers by it is that of their balanced errors on true labels,
    whatever the flip rates with omega_01 + omega_10 < 1.
    """
    wrong = predicted != y
    return float(np.mean([wrong[y == k].mean() for k in np.unique(y)]))
