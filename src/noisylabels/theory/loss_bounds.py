"""Loss bounds of the p-norm algorithms: for every target u and every data, no probability anywhere."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from noisylabels.arrays import Floats, number

TOLERANCE = 1e-9  # a loss may exceed its bound by this relative amount of rounding


def penalty(p: float, x_size: float, u_size: float) -> float:
    """K = (p - 1) X_p^2 ||u||_q^2, the price of not knowing the target u."""
    return (p - 1.0) * x_size**2 * u_size**2


def rate(p: float, x_size: float, alpha: float = 1.0) -> float:
    """eta = alpha / ((p - 1) X_p^2) with ||x_t||_p <= X_p; alpha = 1 filters, alpha < 1 predicts.

    p = 2 gives the rates of LMS. Raises ValueError: alpha not in (0, 1], X_p <= 0, p < 2.
    """
    number("p", p, least=2)
    number("x_size", x_size, above=0)
    return number("alpha", alpha, above=0, most=1) / ((p - 1.0) * x_size**2)


def filtering(noise: ArrayLike, p: float, x_size: float, u_size: ArrayLike, alpha: float = 1.0) -> Floats:
    """sum (u.x_t - yhat_t)^2 <= sum (y_t - u.x_t)^2 + (p-1) X_p^2 ||u||_q^2 / alpha, with the rate of `rate`.

    noise: sum (y_t - u.x_t)^2.  u_size: ||u||_q.  Source: the slides' filtering theorem (printed there
    for alpha = 1).
    """
    number("alpha", alpha, above=0, most=1)
    return np.asarray(noise, dtype=float) + (p - 1.0) * x_size**2 * np.square(u_size) / alpha


def prediction(noise: float, K: float, alpha: float) -> float:
    """sum (y_t - yhat_t)^2 <= Loss_u / (1 - alpha) + K / alpha, at eta = rate(p, X_p, alpha), 0 < alpha < 1.

    Loss_u = 0 and alpha = 1 is the limit K. Raises ValueError: alpha not in (0, 1).
    Source: Cesa-Bianchi, Long, Warmuth 1996 for p = 2; the same computation for other p.
    """
    if noise == 0 and alpha == 1:
        return K
    if not 0 < alpha < 1:
        raise ValueError(
            f"alpha: must be in (0, 1), got {alpha}; only a target without loss allows alpha = 1"
        )
    return noise / (1.0 - alpha) + K / alpha


def best_alpha(noise: float, K: float) -> float:
    """alpha* = sqrt(K) / (sqrt(K) + sqrt(Loss_u)); then `prediction` is (sqrt(Loss_u) + sqrt(K))^2."""
    return math.sqrt(number("K", K, above=0)) / (math.sqrt(K) + math.sqrt(number("noise", noise, least=0)))


def eg_plus_minus(noise: float, budget: float, x_top: float, n: int) -> float:
    """sum (y_t - yhat_t)^2 <= 3 (Loss_u + U^2 X^2 ln 2n), |x_{t,i}| <= X,
    ||u||_1 <= U, at eta = 1/(3 U^2 X^2).

    Source: J. Kivinen, M. K. Warmuth, Exponentiated gradient versus gradient descent, 1997, c = 4.
    """
    return 3.0 * (noise + (budget * x_top) ** 2 * math.log(2 * n))


def eg(noise: float, spread: float, n: int) -> float:
    """sum (y_t - yhat_t)^2 <= 3/2 (Loss_u + R^2 ln n), u in the simplex,
    max x - min x <= R, at eta = 2/(3 R^2).

    Source: J. Kivinen, M. K. Warmuth, Exponentiated gradient versus gradient descent, 1997, c = 1.
    """
    return 1.5 * (noise + spread**2 * math.log(n))


def moving(noise: float, p: float, x_size: float, radius: float, path: float) -> float:
    """sum (u_t.x_t - yhat_t)^2 <= Loss_u + (p-1) X_p^2 (U_q^2 + 2 U_q sum_t ||u_{t+1} - u_t||_q).

    Loss_u = sum (y_t - u_t.x_t)^2. For `bounded_pnorm_lms` with radius U_q >= ||u_t||_q for all t.  path:
    the sum of the moves.
    """
    return noise + (p - 1.0) * x_size**2 * (radius**2 + 2.0 * radius * path)


def checked_ratio(loss: float, bound: float, what: str) -> float:
    """loss / bound. A theorem cannot fail:
    a ratio above 1 (beyond rounding) is a RuntimeError that says where."""
    ratio = float(loss) / float(bound) if bound > 0 else float(loss > 0) * math.inf
    if math.isnan(ratio) or ratio > 1.0 + TOLERANCE:
        raise RuntimeError(
            f"{what}: loss {loss:.10g} exceeds its bound {bound:.10g}; the code or the data is wrong"
        )
    return ratio
