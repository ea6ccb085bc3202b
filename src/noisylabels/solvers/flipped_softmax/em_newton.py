"""The plain solver: a Newton step on the EM surrogate, an update of Omega, repeat.

With F = Z V C^T (C of `contrasts`) the surrogate has the gradient Z^T (a (q - s)) C - 4 penalty V and the
Hessian -sum_{j<k} (Z^T diag(h_jk) Z) (x) (c_j - c_k)(c_j - c_k)^T - 4 diag(penalty),
h_jk = a max(s_j s_k, 1e-6); the step is halved until the objective does not decrease.
For K = 2 every iterate is that of `noisylabels.solvers.flipped_logistic.em_newton`.
A round costs O(n r^2 K^2 + r^3 K^3): for few columns, or as a reference.

Source: Bootkrajang and Kaban, ECML PKDD 2012.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve
from scipy.special import softmax

from noisylabels.noise import flip_matrix
from noisylabels.solvers.flipped_logistic.em_newton import SMALLEST_CURVATURE, TOLERANCE, longest_step
from noisylabels.solvers.flipped_softmax.fits import SoftmaxFit, contrasts

Array = NDArray[np.float64]


def em_newton(
    Z: Array,
    labels: NDArray[np.intp],
    penalty: Array,
    omega: Array,
    *,
    learn_omega: bool = True,
    weights: Array | None = None,
    rounds: int = 50,
) -> SoftmaxFit:
    """Maximise sum_n a_n log P~_n - 2 sum_i penalty_i ||W_i||^2 for F = Z W.

    Z (n, r), labels (n,) in 0..K-1, penalty (r,) >= 0, omega (K, K) where to begin; weights a (n,).
    Stops when the changes of all f_j - f_k are <= 1e-5 (1 + max|f_j - f_k|) and those of Omega <= 1e-5.
    """
    K = len(omega)
    a = np.ones(len(Z)) if weights is None else weights
    C, V = contrasts(K), np.zeros((Z.shape[1], K - 1))
    objectives: list[float] = []
    permuted = converged = False

    def objective(V: Array, F: Array) -> float:
        return float(a @ flip_matrix.log_likelihood(F, labels, omega) - 2.0 * penalty @ (V**2).sum(axis=1))

    F = Z @ V @ C.T
    for _ in range(rounds):
        direction = _newton_step(Z, F, labels, a, penalty, omega, V, C)
        along = Z @ direction @ C.T
        t = longest_step(objective, V, F, direction, along)
        V, F = V + t * direction, F + t * along
        moved = 0.0
        if learn_omega:
            after = flip_matrix.updated(flip_matrix.posterior(F, labels, omega), labels, omega, a)
            if flip_matrix.permuted(after):
                permuted, after = True, flip_matrix.projected(K)
            moved = float(np.abs(after - omega).max())
            omega = after
        objectives.append(objective(V, F))
        change = t * float(np.ptp(along, axis=1).max())
        if change <= TOLERANCE * (1.0 + float(np.ptp(F, axis=1).max())) and moved <= TOLERANCE:
            converged = True
            break
    return SoftmaxFit(V @ C.T, omega, objectives, converged, permuted)


def _newton_step(
    Z: Array,
    F: Array,
    labels: NDArray[np.intp],
    a: Array,
    penalty: Array,
    omega: Array,
    V: Array,
    C: Array,
) -> Array:
    """The direction in V (r, K-1)."""
    (r, k), s = V.shape, softmax(F, axis=1)
    q = flip_matrix.posterior(F, labels, omega)
    gradient = Z.T @ (a[:, np.newaxis] * (q - s)) @ C - 4.0 * penalty[:, np.newaxis] * V
    hessian = np.zeros((r, k, r, k))
    for i, j in combinations(range(k + 1), 2):
        h = a * np.maximum(s[:, i] * s[:, j], SMALLEST_CURVATURE)
        between = C[i] - C[j]
        hessian += np.einsum("xy,ij->xiyj", (Z.T * h) @ Z, np.outer(between, between))
    flat = hessian.reshape(r * k, r * k)
    flat[np.diag_indices(r * k)] += np.repeat(4.0 * penalty, k)
    return np.asarray(solve(flat, gradient.reshape(-1), assume_a="pos")).reshape(r, k)
