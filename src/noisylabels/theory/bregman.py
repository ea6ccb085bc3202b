"""The Bregman divergence of F(w) = ||w||_q^2 / 2: the yardstick of progress of the p-norm algorithms."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from noisylabels.arrays import Floats
from noisylabels.theory.link import dual, link, norm


def potential(w: ArrayLike, q: float) -> Floats:
    """F(w) = ||w||_q^2 / 2; its conjugate is F*(theta) = ||theta||_p^2 / 2. w: (..., n) -> (...)."""
    return 0.5 * norm(w, q) ** 2


def divergence(u: ArrayLike, w: ArrayLike, q: float) -> Floats:
    """d(u, w) = F(u) - F(w) - f(w).(u - w); at least 0, and 0 only at u = w. u, w: (..., n) -> (...).

    q = 2: ||u - w||^2 / 2. Not symmetric for q != 2.
    Source: slides of Kivinen, Warmuth, Hassibi, "Bregman divergence".
    """
    return divergence_dual(u, link(w, q), dual(q))


def divergence_dual(u: ArrayLike, theta: ArrayLike, p: float) -> Floats:
    """d(u, w) = ||u||_q^2 / 2 + ||theta||_p^2 / 2 - u.theta with theta = f(w), the state of the algorithms.

    u, theta: (..., n) -> (...).
    """
    inner = np.sum(np.asarray(u) * np.asarray(theta), axis=-1)
    return potential(u, dual(p)) + potential(theta, p) - inner


def project(theta: ArrayLike, p: float, radius: float) -> Floats:
    """theta min(1, U / ||theta||_p): the Bregman projection of w = f^-1(theta) on the ball ||w||_q <= U.

    f is homogeneous and ||f(w)||_p = ||w||_q, so scaling w and scaling theta are the same;
    d(u, w) <= d(u, w') holds for the projection w of w' and every ||u||_q <= U.  theta: (..., n).
    Raises ValueError: U <= 0.
    """
    if not radius > 0:
        raise ValueError(f"radius: must be > 0, got {radius}")
    size = norm(theta, p)[..., None]
    return np.asarray(theta) * np.minimum(1.0, radius / np.where(size > 0, size, radius))
