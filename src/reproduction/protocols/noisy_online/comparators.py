"""The best fixed predictor on clean data, which regret is measured against.

min sum_t loss(<w, x_t>, y_t) over ||w||^2 <= B_w. Every solver checks that it has arrived:
a comparator that is only nearly the best would make regret look smaller.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

STEPS = 200
"""Bisection steps; each halves the interval of the multiplier's logarithm."""


class Comparator(NamedTuple):
    """Coefficients of the best predictor in the ball and its total loss on the clean sequence."""

    coefficients: Floats
    loss: float


def linear(X: Floats, y: Floats, B_w: float) -> Comparator:
    """min sum_t (<w, x_t> - y_t)^2 subject to ||w||^2 <= B_w.

    Parameters
    ----------
    X : (T, d) clean instances.   y : (T,) clean targets.   B_w : bound on the squared norm.

    Raises
    ------
    RuntimeError : see `quadratic`.
    """
    w = quadratic(X.T @ X, X.T @ y, B_w)
    return Comparator(w, float(((X @ w - y) ** 2).sum()))


def quadratic(A: Floats, b: Floats, B_w: float) -> Floats:
    """argmin w'Aw - 2b'w subject to ||w||^2 <= B_w, by the eigenvalues of A and bisection of the multiplier.

    Parameters
    ----------
    A : (d, d) symmetric, positive semi-definite.   b : (d,), in the range of A.

    Raises
    ------
    ValueError : A has a negative eigenvalue.
    RuntimeError : the multiplier of the constraint was not found to a relative 1e-10.
    """
    values, basis = np.linalg.eigh(A)
    if values[0] < -1e-10 * abs(values).max():
        raise ValueError(f"quadratic: A is not positive semi-definite, smallest eigenvalue {values[0]:.3g}")
    kept = values > 1e-13 * values[-1]
    z = np.where(kept, basis.T @ b, 0.0)
    values = np.where(kept, values, 1.0)  # z is 0 there, so that any divisor does

    def norm2(multiplier: float) -> float:
        return float(((z / (values + multiplier)) ** 2).sum())

    return basis @ (z / (values + _multiplier(norm2, B_w)))


def kernel(K: Floats, y: Floats, B_w: float) -> Comparator:
    """min sum_t (f(x_t) - y_t)^2, f = sum_j gamma_j k(x_j, .), subject to gamma' K gamma <= B_w.

    Kernel ridge, gamma = (K + lambda I)^-1 y, with the lambda at which the constraint is met.
    K: (n, n) Gram matrix of the clean points.

    Raises
    ------
    RuntimeError : see `quadratic`.
    """
    values, basis = np.linalg.eigh(K)
    values = np.maximum(values, 0.0)
    z = basis.T @ y

    def norm2(multiplier: float) -> float:
        return float((values * (z / (values + multiplier)) ** 2)[values > 0].sum())

    gamma = basis @ (z / (values + max(_multiplier(norm2, B_w), 1e-12 * float(values[-1]))))
    return Comparator(gamma, float(((K @ gamma - y) ** 2).sum()))


def _multiplier(norm2: Callable[[float], float], B_w: float) -> float:
    """The lambda >= 0 with norm2(lambda) = B_w, or 0 where norm2(0) is inside the ball already."""
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = norm2(0.0) <= B_w
    if inside:
        return 0.0
    low, high = 1e-300, 1.0
    while norm2(high) > B_w:
        high *= 2.0
    for _ in range(STEPS):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if norm2(middle) > B_w else (low, middle)
    if not abs(norm2(high) - B_w) <= 1e-10 * B_w:
        raise RuntimeError(
            f"comparator: norm {norm2(high):.12g} instead of {B_w:.12g} after {STEPS} bisections; "
            "its loss is not known, so that regret cannot be reported"
        )
    return high


def smooth(
    loss: Callable[[Floats], Floats],
    derivative: Callable[[Floats], Floats],
    features: Floats,
    B_w: float,
    *,
    tolerance: float = 1e-9,
    most_steps: int = 50_000,
) -> Comparator:
    """min mean_t loss_t(<w, phi_t>) subject to ||w||^2 <= B_w, by accelerated projected gradient.

    Parameters
    ----------
    loss, derivative : of the vector of predictions a (n,): losses, and their derivatives in a.
    features : (n, D) clean feature vectors phi_t.
    tolerance : length of a projected step, over its step size, below which the search ends.

    Returns
    -------
    The total, not the mean, loss.

    Raises
    ------
    RuntimeError : not there after ``most_steps``; says the residual.
    """
    n, radius = len(features), float(np.sqrt(B_w))
    w = np.zeros(features.shape[1])
    ahead, momentum, rate = w, 1.0, 1.0

    def objective(v: Floats) -> float:
        return float(loss(features @ v).mean())

    residual = np.inf
    for _ in range(most_steps):
        gradient = features.T @ derivative(features @ ahead) / n
        value = objective(ahead)
        while True:
            following = _projected(ahead - rate * gradient, radius)
            step = following - ahead
            if objective(following) <= value + gradient @ step + step @ step / (2 * rate) + 1e-15:
                break
            rate /= 2
        residual = float(np.linalg.norm(step)) / rate
        if residual < tolerance:
            return Comparator(following, float(loss(features @ following).sum()))
        if (ahead - following) @ (following - w) > 0:
            momentum = 1.0
        faster = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = following + (momentum - 1) / faster * (following - w)
        w, momentum = following, faster
    raise RuntimeError(
        f"comparator: residual {residual:.2g} after {most_steps} steps, asked {tolerance:g}; "
        "its loss is not known, so that regret cannot be reported"
    )


def _projected(w: Floats, radius: float) -> Floats:
    norm = float(np.linalg.norm(w))
    return w * (radius / norm) if norm > radius else w
