"""The plain solver of robust logistic regression:
a Newton step on the EM surrogate, an update of Omega, repeat.

d = (Z^T diag(h) Z + 2 diag(penalty))^-1 (Z^T (q - sigma) - 2 penalty v),  h = max(sigma (1 - sigma), 1e-6);
the step is halved until sum_n a_n log P~_n - sum_j penalty_j v_j^2 does not decrease.

Source: Kaban and Bootkrajang, LABELNOISE 2017, eq. (1)-(6).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve
from scipy.special import expit

from noisylabels.noise import flip_matrix

Array = NDArray[np.float64]

TOLERANCE = 1e-5
SMALLEST_CURVATURE = 1e-6
HALVINGS = 40


@dataclass(frozen=True)
class EMFit:
    """v (r,), Omega (2, 2), the penalties of the last round, the objective per round, what happened."""

    v: Array
    omega: Array
    penalty: Array
    objectives: list[float]
    converged: bool
    label_swap: bool


def em_newton(
    Z: Array,
    labels: Array,
    penalty: Array,
    omega: Array,
    *,
    start: Array | None = None,
    learn_omega: bool = True,
    weights: Array | None = None,
    reread: Callable[[Array], Array] | None = None,
    rounds: int = 50,
) -> EMFit:
    """Maximise sum_n a_n log P~_n - sum_j penalty_j v_j^2 for f = Z v.

    Z (n, r), labels (n,) of 0 and 1, penalty (r,) >= 0, omega (2, 2) and start (r,), where to begin;
    weights a (n,). reread : the penalty for the next round from v, for penalties that are read off a prior.
    Stops when max|change of f| <= 1e-5 (1 + max|f|) and max|change of Omega| <= 1e-5.
    """
    a = np.ones(len(Z)) if weights is None else weights
    v = np.zeros(Z.shape[1]) if start is None else start
    objectives: list[float] = []
    label_swap = converged = False

    def objective(v: Array, f: Array) -> float:
        return float(a @ flip_matrix.log_likelihood(f, labels, omega) - penalty @ v**2)

    f = Z @ v
    for _ in range(rounds):
        sigma = expit(f)
        q = flip_matrix.posterior(f, labels, omega)
        h = a * np.maximum(sigma * (1.0 - sigma), SMALLEST_CURVATURE)
        hessian = (Z.T * h) @ Z
        hessian[np.diag_indices_from(hessian)] += 2.0 * penalty
        direction = solve(hessian, Z.T @ (a * (q - sigma)) - 2.0 * penalty * v, assume_a="pos")
        along = Z @ direction
        t = longest_step(objective, v, f, direction, along)
        v, f = v + t * direction, f + t * along
        change = t * float(np.abs(along).max(initial=0.0))
        moved = 0.0
        if learn_omega:
            q = flip_matrix.posterior(f, labels, omega)
            after = flip_matrix.updated(q, labels, omega, a)
            if flip_matrix.permuted(after):
                label_swap, after = True, flip_matrix.projected()
            moved = float(np.abs(after - omega).max())
            omega = after
        objectives.append(objective(v, f))
        if reread is not None:
            before, penalty = penalty, reread(v)
            moved = max(moved, float(np.abs(penalty - before).max() / (1e-300 + before.max())))
        if change <= TOLERANCE * (1.0 + float(np.abs(f).max())) and moved <= TOLERANCE:
            converged = True
            break
    return EMFit(v, omega, penalty, objectives, converged, label_swap)


def longest_step(
    objective: Callable[[Array, Array], float], v: Array, f: Array, direction: Array, along: Array
) -> float:
    """The first t of 1, 1/2, 1/4, ... with objective(v + t direction, f + t along) not lower, else 0."""
    old, t = objective(v, f), 1.0
    for _ in range(HALVINGS):
        if objective(v + t * direction, f + t * along) >= old:
            return t
        t *= 0.5
    return 0.0
