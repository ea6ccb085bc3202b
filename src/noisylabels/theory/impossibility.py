"""Two worlds that one copy per round cannot tell apart: the regret that no single-copy learner avoids.

World A: x is 3 or -1 with probability 1/2 each, no noise. World B: x = 1 always,
and the noise makes it 3 or -1.
The one observed copy has the same law in both, y = 1,
but F_A(w) = (l(3w) + l(-w)) / 2 and F_B(w) = l(w) have different minimisers.
Source: Cesa-Bianchi, Shalev-Shwartz, Shamir 2011, Theorems 8 and 9; the numbers are ours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from noisylabels.arrays import Floats

POINTS = (3.0, -1.0)
"""The support of the observed copy in both worlds; its mean is 1."""


class Worlds(NamedTuple):
    """argmin F_A, argmin F_B, min_w max(F_A(w) - min F_A, F_B(w) - min F_B), and the w that attains it."""

    best_A: float
    best_B: float
    unavoidable: float
    compromise: float


def worlds(loss: Callable[[Floats], Floats], radius: float = 3.0, points: int = 600_001) -> Worlds:
    """The constants for l(a, 1) = loss(a), convex, on |w| <= radius, by a grid of `points` values of w.

    By Jensen's inequality the time-averaged regret of any single-copy learner is, in expectation,
    at least `unavoidable` in the worse world.
    """
    w = np.linspace(-radius, radius, points)
    F_A, F_B = 0.5 * (loss(3.0 * w) + loss(-w)), loss(w)
    worse = np.maximum(F_A - F_A.min(), F_B - F_B.min())
    at = int(worse.argmin())
    return Worlds(float(w[F_A.argmin()]), float(w[F_B.argmin()]), float(worse[at]), float(w[at]))


def copies(rng: np.random.Generator, T: int) -> Floats:
    """The observed copies (T, 1), each 3 or -1: in world A they are the clean instances too."""
    return np.where(rng.random(T) < 0.5, POINTS[0], POINTS[1])[:, None]


def scored_on_noise(w: ArrayLike, v: float) -> float:
    """||w||^2 v / (1 + v): excess loss per round of the best fixed predictor when noisy inputs are scored.

    x_t = w / ||w||, y_t = ||w||, isotropic noise of variance v: nobody does better, even knowing w.
    """
    size = float(np.square(np.asarray(w, dtype=float)).sum())
    return size * v / (1.0 + v)
