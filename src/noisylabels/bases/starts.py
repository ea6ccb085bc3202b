"""Where searches for a linear classifier with many local minima begin."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noisylabels.solvers import weighted_logistic
from noisylabels.solvers.margin_distribution import interior_point
from noisylabels.validation import whole

Array = NDArray[np.float64]

RIDGE = 1e-3
STEPS = 50


def start_points(U: Array, random: int, rng: np.random.Generator) -> list[Array]:
    """Directions of norm 1 (d,) for signed rows u_n = s_n x_n of U (n, d), the last feature of x_n being 1.

    The linear SVM with C = 1, logistic regression, the mean of u_n / ||u_n||, `random` Gaussian draws. One
    that gets every point wrong is turned round. Raises ValueError : random < 0.
    """
    random = whole("starts", random, 0)
    d = U.shape[1]
    svm = interior_point(np.ascontiguousarray(U.T), np.eye(d), np.zeros(d), 1.0, 1e-6, 100)[0]
    mean = (U / np.linalg.norm(U, axis=1, keepdims=True)).mean(axis=0)
    points = [svm, _logistic(U), mean, *rng.standard_normal((random, d))]
    return [_directed(U, h) for h in points if np.abs(h).max() > 0.0]


def _logistic(U: Array) -> Array:
    """Logistic regression with a small ridge on all features but the constant."""
    s = U[:, -1]
    ZT = np.ascontiguousarray((s[:, np.newaxis] * U).T[::-1])  # the constant first
    theta = np.zeros(len(ZT))
    weighted_logistic.fit(ZT, s, np.ones(len(s)), theta, RIDGE, np.zeros(2), False, STEPS)
    return theta[::-1].copy()


def _directed(U: Array, h: Array) -> Array:
    h = h / np.linalg.norm(h)
    return h if (U @ h > 0.0).any() else -h
