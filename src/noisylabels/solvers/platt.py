"""Platt's calibration of scores: P(y = 1 | H) = 1 / (1 + exp(A H + B))."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]

STEPS = 50
GRADIENT = 1e-8
RIDGE = 1e-12
HALVINGS = 30


@njit(cache=True, error_model="numpy")
def _loss(H: Array, targets: Array, A: float, B: float) -> float:
    """-sum t log P + (1 - t) log(1 - P)."""
    total = 0.0
    for i in range(len(H)):
        u = A * H[i] + B
        total += targets[i] * u + (math.log1p(math.exp(-u)) if u > 0.0 else math.log1p(math.exp(u)) - u)
    return total


@njit(cache=True, error_model="numpy")
def _derivatives(H: Array, targets: Array, A: float, B: float) -> tuple[float, float, float, float, float]:
    """The gradient of `_loss` in A and B, and its Hessian with a small ridge: AA, AB, BB."""
    g1 = g2 = h12 = 0.0
    h11 = h22 = RIDGE
    for i in range(len(H)):
        u = A * H[i] + B
        e = math.exp(-abs(u))
        p = (e if u >= 0.0 else 1.0) / (1.0 + e)
        h = e / (1.0 + e) ** 2
        g1 += H[i] * (targets[i] - p)
        g2 += targets[i] - p
        h11 += h * H[i] * H[i]
        h12 += h * H[i]
        h22 += h
    return g1, g2, h11, h12, h22


@njit(cache=True, error_model="numpy")
def platt(H: Array, s: Array) -> tuple[float, float]:
    """(A, B) for scores H (n,) and labels s (n,) of -1 and +1, by damped Newton steps.

    Targets (n+ + 1) / (n+ + 2) and 1 / (n- + 2); starts at A = 0, B = log((n- + 1) / (n+ + 1)).
    With labels of one class (-1, 0).
    Source: Platt 1999; Lin, Lin and Weng, Machine Learning 68, 2007.
    """
    positive = float((s > 0.0).sum())
    negative = len(s) - positive
    if positive == 0.0 or negative == 0.0:
        return -1.0, 0.0
    targets = np.where(s > 0.0, (positive + 1.0) / (positive + 2.0), 1.0 / (negative + 2.0))
    A, B = 0.0, math.log((negative + 1.0) / (positive + 1.0))
    old = _loss(H, targets, A, B)
    for _ in range(STEPS):
        g1, g2, h11, h12, h22 = _derivatives(H, targets, A, B)
        if max(abs(g1), abs(g2)) < GRADIENT:
            break
        determinant = h11 * h22 - h12 * h12
        if not determinant > 0.0:
            break
        dA, dB = -(h22 * g1 - h12 * g2) / determinant, -(h11 * g2 - h12 * g1) / determinant
        t = 1.0
        for _ in range(HALVINGS):
            new = _loss(H, targets, A + t * dA, B + t * dB)
            if new < old:
                break
            t *= 0.5
        else:
            break
        A, B, old = A + t * dA, B + t * dB, new
    return A, B
