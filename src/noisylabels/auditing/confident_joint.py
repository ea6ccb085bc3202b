"""Counts of observed against confidently found classes, and the wrong labels that they point at.

p (n, K) are out-of-sample probabilities of the observed label, y (n,) its class 0..K-1, and
Q_kj = P(observed k, true j), omega_jk = P(observed k | true j) = Q_kj / sum_k Q_kj.

Source: Northcutt, Jiang and Chuang, Confident learning, JAIR 2021, Section 3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Classes = NDArray[np.intp]

SLACK = 1e-6  # a probability this far below a threshold meets it
LEAST = 0.005  # no class of a row is less probable: models are surer of themselves than they should be


def thresholds(p: Array, y: Classes) -> Array:
    """t_j = mean of p_j over the rows with the observed class j: (K,)."""
    return np.array([p[y == j, j].mean() for j in range(p.shape[1])])


def counts(p: Array, y: Classes) -> Array:
    """C_kj = #{n: y_n = k, p_nj >= t_j, j the most probable class whose threshold is met}, C_kk >= 1: (K, K).

    A row that meets no threshold is not counted.
    """
    K = p.shape[1]
    confident = p >= thresholds(p, y) - SLACK
    found = np.where(confident, p, -1.0).argmax(axis=1)
    cells = (y * K + found)[confident.any(axis=1)]
    C = np.bincount(cells, minlength=K * K).reshape(K, K).astype(float)
    np.fill_diagonal(C, np.maximum(C.diagonal(), 1.0))
    return C


def joint(p: Array, y: Classes) -> Array:
    """Q (K, K): the rows of `counts` rescaled to the numbers of the observed labels, then the sum to 1."""
    C = counts(p, y)
    observed = np.bincount(y, minlength=p.shape[1]) / len(y)
    return np.asarray(C / C.sum(axis=1, keepdims=True) * observed[:, np.newaxis])


def flip_matrix(Q: Array) -> Array:
    """Omega (K, K), rows = true classes: omega_jk = Q_kj / sum_k Q_kj."""
    return np.asarray((Q / Q.sum(axis=0)).T)


def margins(p: Array, y: Classes) -> Array:
    """p_y - max_{j != y} p_j per row, in [-1, 1]; the lower, the more doubtful the label: (n,)."""
    return np.asarray(p[np.arange(len(y)), y] - _others(p, y).max(axis=1))


def likely_wrong(p: Array, y: Classes, Q: Array) -> NDArray[np.bool_]:
    """In every cell k != j of Q, the round(n Q_kj) rows of class k with the largest p_j - p_k: (n,).

    Of these only rows in which another class than the observed one is the most probable.
    """
    n, K = p.shape
    wrong = np.zeros(n, dtype=bool)
    for k in range(K):
        members = np.flatnonzero(y == k)
        for j in range(K):
            wanted = round(n * Q[k, j]) if j != k else 0
            if wanted:
                gap = p[members, j] - p[members, k]
                wrong[members[np.argsort(-gap, kind="stable")[:wanted]]] = True
    return wrong & (margins(p, y) < 0)


def suggested(p: Array, y: Classes) -> Classes:
    """The most probable class beside the observed one: (n,)."""
    return np.asarray(_others(p, y).argmax(axis=1))


def _others(p: Array, y: Classes) -> Array:
    others = p.copy()
    others[np.arange(len(y)), y] = -np.inf
    return others


def wrongness(p: Array, y: Classes, omega: Array) -> Array:
    """P(true != y_n | x_n, observed y_n) = 1 - omega_{y y} g_y / sum_j omega_{j y} g_j, g ~ p Omega^-1: (n,).

    g is clipped to [0.005, 1]. Where no class can have the label, 1.
    """
    g = np.clip(p @ np.linalg.pinv(omega), LEAST, 1.0)
    shares = omega.T[y] * g
    total = shares.sum(axis=1)
    kept = shares[np.arange(len(y)), y]
    return 1.0 - kept / np.where(total > 0, total, 1.0)
