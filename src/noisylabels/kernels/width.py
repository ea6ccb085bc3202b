"""The width of a Gaussian kernel as users give it: a number, or "scale"."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from noisylabels.kernels.gaussian import PARAMETRISATIONS, rate
from noisylabels.validation import choice

Array = NDArray[np.float64]

SCALE = "scale"


def width_of(
    width: float | str, X: Array, parametrisation: str = "sigma2", weights: Array | None = None
) -> float:
    """``width``, or for "scale" the width whose kernel is exp(-||x - x'||^2 / (d Var(X))).

    Var(X) is the variance of all entries of X (n, d), 1 where they are all the same; weights (n,): of the
    rows. For standardised features it is the rule width = sqrt(d / 2) of "sigma2", scikit-learn's
    gamma="scale".
    Raises ValueError : another word; see `noisylabels.kernels.gaussian.rate`.
    """
    if isinstance(width, str):
        if width != SCALE:
            raise ValueError(f"width: must be a number or {SCALE!r}, got {width!r}")
        choice("parametrisation", parametrisation, PARAMETRISATIONS)
        a = None if weights is None else np.broadcast_to(weights[:, np.newaxis], X.shape)
        variance = float(np.average((X - np.average(X, weights=a)) ** 2, weights=a))
        spread = X.shape[1] * (variance if variance > 0 else 1.0)
        return {"sigma2": math.sqrt(spread / 2.0), "sigma1": math.sqrt(spread)}.get(
            parametrisation, 1.0 / spread
        )
    rate(width, parametrisation)  # its errors
    return float(width)
