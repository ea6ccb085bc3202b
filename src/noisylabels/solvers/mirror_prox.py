"""Mirror-prox for kernel weights p on the simplex and two boxes of dual variables:

    min_{p in simplex} max_{0 <= a <= (1 - rho) C, 0 <= b <= rho C}  1.(a + b) - v.K_p v / 2,  v = s (a - b),

K_p = sum_i p_i K_i, s = +-1. It is the dual of the expected hinge loss of labels that are wrong with
probability rho: for fixed p the maximum is that of

    P(p, f) = v.K_p v / 2 + C sum_n [(1 - rho) max(0, 1 - s_n f_n) + rho max(0, 1 + s_n f_n)],  f = K_p v,

and for fixed (a, b) the minimum over p is 1.(a + b) - max_i v.K_i v / 2: their difference is the duality gap.

Source: Nemirovski, SIAM J. Optim. 15, 2004; the problem is our reconstruction, after Yang et al., 2012.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from noisylabels.validation import Floats

LOST = 1e-10  # largest diagonal entry of K_i - G_i G_i^T
BOX_SCALE = 0.01  # of the steps in (a, b) against those in p: on heart faster than 0.001, 0.1, 1 and 10
CHECK = 10  # iterations between two looks at the gap
SHRINK, GROW = 0.5, 1.2


@dataclass(frozen=True)
class Factors:
    """K_i = G_i G_i^T up to 1e-10, G_i (n, r_i) side by side in G (n, R); first (S,): where each begins."""

    G: Floats
    first: NDArray[np.intp]

    @classmethod
    def of(cls, K: NDArray[np.floating]) -> Factors:
        """By pivoted Cholesky of every K_i of K (S, n, n): Gaussian kernels on one feature have low ranks."""
        parts = []
        for matrix in K:
            factor, pivots, rank, _ = lapack.dpstrf(np.asarray(matrix, dtype=float), tol=LOST, lower=1)
            G = np.empty((len(matrix), rank))
            G[pivots - 1] = np.tril(factor)[:, :rank]
            parts.append(G)
        first = np.cumsum([0, *(part.shape[1] for part in parts[:-1])])
        return cls(np.ascontiguousarray(np.concatenate(parts, axis=1)), first)

    def forms(self, p: Floats, v: Floats) -> tuple[Floats, Floats]:
        """v.K_i v (S,), and K_p v (n,)."""
        inner = v @ self.G
        sizes = np.diff([*self.first, self.G.shape[1]])
        return np.add.reduceat(inner * inner, self.first), self.G @ (inner * np.repeat(p, sizes))


@dataclass(frozen=True)
class SaddlePoint:
    """p (S,) kernel weights, v (n,) = s (a - b), the relative duality gap and the iterations done."""

    p: Floats
    v: Floats
    gap: float
    iterations: int


@dataclass(frozen=True)
class _Point:
    """p (S,), z = (a, b) (2, n), and the slopes of the objective there."""

    p: Floats
    z: Floats
    slope_p: Floats
    slope_z: Floats


class _SaddlePoint:
    """The saddle-point problem of one label column, in the geometry of entropy and squares."""

    def __init__(self, factors: Factors, s: Floats, rho: float, C: float) -> None:
        self.factors, self.s, self.rho, self.C = factors, s, rho, C
        self.box = C * np.array([[1.0 - rho], [rho]])
        self.scale_p = np.log(max(len(factors.first), 2))
        self.scale_z = BOX_SCALE * 0.5 * len(s) * float((self.box**2).sum())

    def point(self, p: Floats, z: Floats) -> _Point:
        square, f = self.factors.forms(p, self.s * (z[0] - z[1]))
        margin = self.s * f
        return _Point(p, z, -0.5 * square, np.stack([margin - 1.0, -margin - 1.0]))

    def step(self, start: _Point, slopes: _Point, t: float) -> tuple[Floats, Floats]:
        """p exp(-t scale_p slope_p), normalised, and z - t scale_z slope_z, clipped to the boxes."""
        exponent = np.log(np.maximum(start.p, 1e-300)) - t * self.scale_p * slopes.slope_p
        p = np.exp(exponent - exponent.max())
        return p / p.sum(), np.clip(start.z - t * self.scale_z * slopes.slope_z, 0.0, self.box)

    def divergence(self, p: Floats, z: Floats, start: _Point) -> float:
        """KL(p, p') / scale_p + ||z - z'||^2 / (2 scale_z)."""
        ratio = np.log(np.maximum(p, 1e-300) / np.maximum(start.p, 1e-300))
        return float(p @ ratio) / self.scale_p + 0.5 * float(((z - start.z) ** 2).sum()) / self.scale_z

    def gap(self, p: Floats, z: Floats) -> float:
        """(primal - dual) / |primal| >= 0."""
        v = self.s * (z[0] - z[1])
        square, f = self.factors.forms(p, v)
        margin = self.s * f
        hinges = np.maximum(1.0 - margin, 0.0), np.maximum(1.0 + margin, 0.0)
        loss = self.C * float(((1.0 - self.rho) * hinges[0] + self.rho * hinges[1]).sum())
        primal = 0.5 * float(v @ f) + loss
        return (primal - float(z.sum() - 0.5 * square.max())) / max(abs(primal), 1e-300)


def mirror_prox(
    factors: Factors, s: Floats, rho: float, C: float, *, tolerance: float = 1e-3, iterations: int = 2000
) -> SaddlePoint:
    """The saddle point up to a relative gap of ``tolerance``; s (n,) = +-1, 0 <= rho < 1/2, C > 0.

    A step of length t goes from (p, z) along the slopes there to (p', z'), and again from (p, z) along those
    at (p', z'). t is halved until the theory's condition for 1/L holds, and then tried 1.2 times as long.
    Looked at are the mean of all (p', z') weighted with t, and the last point;
    the one with the smaller gap is returned.
    """
    problem = _SaddlePoint(factors, s, rho, C)
    S = len(factors.first)
    here = problem.point(np.full(S, 1.0 / S), np.zeros((2, len(s))))
    sum_p, sum_z, length, t = np.zeros(S), np.zeros((2, len(s))), 0.0, 1.0
    best = SaddlePoint(here.p, np.zeros(len(s)), np.inf, 0)
    for k in range(1, iterations + 1):
        while True:
            middle = problem.point(*problem.step(here, here, t))
            p, z = problem.step(here, middle, t)
            error = (middle.slope_p - here.slope_p) @ (middle.p - p)
            error += ((middle.slope_z - here.slope_z) * (middle.z - z)).sum()
            room = problem.divergence(middle.p, middle.z, here) + problem.divergence(p, z, middle)
            if t * error <= room + 1e-15:
                break
            t *= SHRINK
        sum_p += t * middle.p
        sum_z += t * middle.z
        length += t
        t *= GROW
        if k % CHECK == 0 or k == iterations:
            for weights, duals in ((sum_p / length, sum_z / length), (p, z)):
                gap = problem.gap(weights, duals)
                if gap < best.gap:
                    best = SaddlePoint(weights, s * (duals[0] - duals[1]), gap, k)
            if best.gap < tolerance:
                return best
        here = problem.point(p, z)
    return best
