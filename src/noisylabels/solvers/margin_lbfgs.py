"""The minimiser of a smooth margin loss over linear classifiers, by L-BFGS from zero weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noisylabels.losses.margin import Loss

Array = NDArray[np.float64]


class Minimum(NamedTuple):
    """w (d+1,), the bias last;  iterations done;  converged: stopped by a tolerance, not by max_iter."""

    w: Array
    iterations: int
    converged: bool


def minimise(X: Any, y: Array, loss: Loss, lam: float, *, max_iter: int) -> Minimum:
    """min_v G(v) = (1/n) sum_i r(y_i (x_i.w + b)) + lambda/2 ||v||^2, v = (w, b), from v = 0.

    X (n, d), dense or CSR; y (n,) of -1.0 and +1.0; lam: lambda.
    A loss that is not convex can have several minima: this is the one that L-BFGS reaches from 0, where SGD
    starts as well. It stops when no entry of the gradient exceeds 1e-5, or when G falls by less than 1e-10
    of its value.
    Source: Byrd, Lu, Nocedal, Zhu, SIAM J. Sci. Comput. 16, 1995 (SciPy's L-BFGS-B, without bounds).
    """
    from scipy.optimize import minimize

    n, d = X.shape

    def objective(v: Array) -> tuple[float, Array]:
        margins = y * (X @ v[:d] + v[d])
        pull = loss.slope(margins) * y / n
        gradient = lam * v
        gradient[:d] += X.T @ pull
        gradient[d] += pull.sum()
        return float(loss.value(margins).mean() + 0.5 * lam * (v @ v)), gradient

    options: Any = {"maxiter": max_iter, "maxfun": 2 * max_iter, "gtol": 1e-5, "ftol": 1e-10}
    found = minimize(objective, np.zeros(d + 1), jac=True, method="L-BFGS-B", options=options)
    return Minimum(np.asarray(found.x), int(found.nit), bool(found.success))
