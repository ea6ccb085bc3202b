"""The ascent path of robust multi-kernel logistic regression, for L label columns on the same points.

L(w, u, Omega) = sum_n log P~_n - zeta ||w||^2 - sum_i xi_i u_i^2,  f = sum_i eta_i K_i w,  eta_i = u_i^2.
One round:

    w:     at most 10 conjugate-gradient steps, zeta fixed                    (`conjugate_gradient`)
    zeta = c (N/2 + 1) / (||w||^2 / 2 + beta)
    u:     one gradient step of length t = 1, halved until L grows by 1e-4 t ||g||
    xi_i = 2 / eta_i
    Omega: with the posterior q of the current f                              (`flip_matrix.updated`)

The marginal objective behind zeta and xi has its maximum where every kernel is off: the result is the end of
this path, not an optimum. A greedier optimiser ends elsewhere, and worse.

The path amplifies rounding (1e-16 grows to 1e-6 in f). Therefore every sum has a fixed order, and exp and log
are our own: no function of BLAS, NumPy or SciPy whose last bits depend on the processor.
Only `newton_steps` uses LAPACK.

Source: Kaban and Bootkrajang, LABELNOISE 2017, eq. (4)-(9) and the rMKLR box.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from noisylabels.fixed_order import combined, dot, times
from noisylabels.kernels.bank import Stack, mixed, responses
from noisylabels.noise import flip_matrix
from noisylabels.solvers.flipped_logistic.conjugate_gradient import conjugate_gradient
from noisylabels.solvers.flipped_logistic.likelihood import likelihood, posterior
from noisylabels.solvers.flipped_logistic.priors import marginal_zeta, prior_factor_value
from noisylabels.validation import choice, number, whole

Array = NDArray[np.float64]

W_SOLVERS = ("cg10", "newton")
LARGEST_ETA = 1e12
SMALLEST_ETA = 1e-100  # psi of the prior of eta
PRUNED = 1e-8  # of the largest eta
STILL = 1e-3  # changes of f and Omega below this end the path
HALVINGS = 14


@dataclass(frozen=True)
class Path:
    """Where the path of one label column ends.

    w : (n,).   eta : (S',) weights of the stacked kernels, pruned ones 0.   omega : (2, 2).
    rounds : done.   converged : f and Omega came to rest.   swapped : the classes changed names on the way.
    broken : a round was not finite.
    """

    w: Array
    eta: Array
    omega: Array
    rounds: int
    converged: bool
    swapped: bool
    broken: bool


@dataclass(frozen=True)
class Options:
    """T : most rounds.   w_solver : "cg10" or "newton".   prior_factor, beta : see `marginal_zeta`.

    Raises ValueError : anything else.
    """

    T: int = 10
    w_solver: str = "cg10"
    prior_factor: str = "slides"
    beta: float = 2.0

    def __post_init__(self) -> None:
        whole("T", self.T, 1)
        choice("w_solver", self.w_solver, W_SOLVERS)
        prior_factor_value(self.prior_factor)
        number("beta", self.beta, above=0)

    def zeta(self, w: Array) -> float:
        """`marginal_zeta` of w (N,)."""
        return marginal_zeta(dot(w, 0, w), len(w), prior_factor_value(self.prior_factor), self.beta)


def penalty_rates(eta: Array) -> Array:
    """xi_i = 2 / max(eta_i, 1e-100)."""
    return 2.0 / np.maximum(eta, SMALLEST_ETA)


def u_gradient(F: Array, residual: Array, u: Array, xi: Array) -> Array:
    """dL/du_i = 2 u_i [sum_n (q_n - sigma_n) F_in - xi_i] for F (S, n), residual q - sigma (n,): (S,)."""
    return 2.0 * u * (times(F, residual) - xi)


def u_step(F: Array, labels: Array, u: Array, xi: Array, omega: Array, copies: Array) -> Array:
    """u + t g/||g|| with the first t of 1, 1/2, ... 2^-14 that makes L grow by 1e-4 t ||g||; else u itself.

    F (S, n), labels (n,), u, xi (S,); kernel i stands for copies_i equal ones.
    """

    residual, zero = np.empty_like(labels), np.zeros_like(labels)

    def objective(v: Array) -> float:
        """L at v; leaves q - sigma in ``residual``."""
        f = combined(copies * v * v, F)
        fit = likelihood(f, zero, 0.0, labels, omega[0, 1], omega[1, 0], residual)[0]
        return float(fit - dot(copies * xi, 0, v * v))

    start = objective(u)
    g = u_gradient(F, residual, u, xi)
    norm = float(np.sqrt(dot(copies, 0, g * g)))
    if not (norm > 0.0 and np.isfinite(norm)):
        return u
    t = 1.0
    for _ in range(HALVINGS + 1):
        trial = np.clip(u + t * g / norm, -np.sqrt(LARGEST_ETA), np.sqrt(LARGEST_ETA))
        if objective(trial) >= start + 1e-4 * t * norm:
            return trial
        t *= 0.5
    return u


def newton_steps(
    K: Array, w: Array, y: Array, omega: Array, zeta: float, steps: int = 8
) -> tuple[Array, Array]:
    """w and f = K w after ``steps`` damped Newton steps with the curvature of the EM surrogate.

    d = (K diag(h) K + 2 zeta I)^-1 (K (q - sigma) - 2 zeta w),
    h = max(sigma (1 - sigma), 1e-6), halved until L grows.
    """

    def objective(w: Array, f: Array) -> float:
        return float(flip_matrix.log_likelihood(f, y, omega).sum()) - zeta * float(w @ w)

    f = K @ w
    value = objective(w, f)
    for _ in range(steps):
        sigma = expit(f)
        gradient = K @ (flip_matrix.posterior(f, y, omega) - sigma) - 2.0 * zeta * w
        curvature = (K * np.maximum(sigma * (1.0 - sigma), 1e-6)) @ K
        curvature[np.diag_indices_from(curvature)] += 2.0 * zeta
        d = cho_solve(cho_factor(curvature), gradient)
        Kd, t = K @ d, 1.0
        while not objective(w + t * d, f + t * Kd) >= value and t > 2.0**-HALVINGS:
            t *= 0.5
        reached = objective(w + t * d, f + t * Kd)
        if not reached > value:
            break
        w, f, value = w + t * d, f + t * Kd, reached
    return w, f


class _Column:
    """The state of one label column."""

    def __init__(self, labels: Array, kernels: int, options: Options) -> None:
        n = len(labels)
        self.y, self.options = labels, options
        self.w, self.f = np.zeros(n), np.zeros(n)
        self.u, self.xi = np.ones(kernels), np.zeros(kernels)
        self.zeta = options.zeta(self.w)
        self.omega = flip_matrix.START
        self.rounds, self.swapped, self.broken, self.done = 0, False, False, False

    def w_step(self, K: Array) -> Array:
        solver = conjugate_gradient if self.options.w_solver == "cg10" else newton_steps
        return solver(K, self.w, self.y, self.omega, self.zeta)[0]

    def finish(self, w: Array, F: Array, copies: Array) -> None:
        """zeta, u, xi and Omega of the round that ends with w (n,) and F_i = K_i w, (S, n)."""
        u = u_step(F, self.y, self.u, self.xi, self.omega, copies)
        f = combined(copies * u * u, F)
        if not np.isfinite(f).all():
            self.broken = self.done = True
            return
        q = posterior(f, self.y, self.omega[0, 1], self.omega[1, 0])
        omega = flip_matrix.updated(q, self.y, self.omega)
        swapped = flip_matrix.permuted(omega)
        if swapped:
            omega = flip_matrix.projected()
        self.rounds += 1
        self.done = bool(
            np.abs(f - self.f).max() <= STILL * (1.0 + np.abs(f).max())
            and np.abs(omega - self.omega).max() <= STILL
        )
        self.w, self.f, self.u, self.omega, self.swapped = w, f, u, omega, self.swapped or swapped
        self.zeta, self.xi = self.options.zeta(w), penalty_rates(u * u)

    def path(self) -> Path:
        eta = self.u * self.u
        eta[eta < PRUNED * eta.max()] = 0.0
        return Path(
            self.w, eta, self.omega, self.rounds, self.done and not self.broken, self.swapped, self.broken
        )


def ascend(stack: Stack, labels: Array, options: Options) -> list[Path]:
    """The paths of L label columns (n, L) of 0.0 and 1.0, each the same as if it were alone."""
    columns = [_Column(np.ascontiguousarray(y), len(stack.K), options) for y in labels.T]
    for _ in range(options.T):
        active = [column for column in columns if not column.done]
        if not active:
            break
        kernels = mixed(stack.K, np.stack([stack.copies * column.u**2 for column in active]))
        w = np.stack([column.w_step(K) for column, K in zip(active, kernels, strict=True)])
        for column, own, F in zip(active, w, responses(stack.K, w), strict=True):
            column.finish(own, F, stack.copies)
    return [column.path() for column in columns]
