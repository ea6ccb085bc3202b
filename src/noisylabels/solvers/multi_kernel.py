"""Learning the weights of many kernels: the ascent path of rMKLR.

Path of L label columns: L(w, u, Omega) = sum_n log P~_n - zeta ||w||^2 - sum_i xi_i u_i^2,
f = sum_i eta_i K_i w,  eta_i = u_i^2.  One round:

    w:     at most 10 conjugate-gradient steps, zeta fixed                    (`conjugate_gradient`)
    zeta = c (N/2 + 1) / (||w||^2 / 2 + beta)
    u:     one gradient step of length t = 1, halved until L grows by 1e-4 t ||g||
    xi_i = 2 / eta_i
    Omega: with the posterior q of the current f                              (`flips.updated`)

The marginal objective behind zeta and xi has its maximum where every kernel is off: the result is the end of
this path, not an optimum. A greedier optimiser ends elsewhere, and worse. The path amplifies rounding (1e-16
grows to 1e-6 in f). Therefore every sum has a fixed order, and no function of BLAS, NumPy or SciPy whose last
bits depend on the processor is used; only `newton_steps` uses LAPACK.

Source: Kabán and Bootkrajang, LABELNOISE 2017, eq. (4)-(9) and the rMKLR box; Nocedal and Wright, Numerical
Optimization, 2006, Algorithms 3.5, 3.6 and 5.4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from noisylabels.compilation import compile_kernel
from noisylabels.fixed_order.exp_and_log import LARGEST, exp_of_negative, log_of_positive
from noisylabels.fixed_order.lanes import dot
from noisylabels.fixed_order.linear_algebra import combined, times
from noisylabels.kernels.bank import Stack, mixed, responses
from noisylabels.noise import flip_matrix as flips
from noisylabels.solvers.flipped_logistic import likelihood, marginal_zeta, posterior
from noisylabels.solvers.flipped_softmax import contrasts
from noisylabels.validation import Floats, choice, number, whole

WSolver = Literal["cg10", "newton"]
LARGEST_ETA = 1e12
SMALLEST_ETA = 1e-100  # psi of the prior of eta
PRUNED = 1e-8  # of the largest eta
STILL = 1e-3  # changes of f and Omega below this end the path
HALVINGS = 14
DECREASE, CURVATURE = 1e-4, 0.4  # the two Wolfe constants
TRIALS = 40  # of a line search
STATIONARY = 1e-5  # largest entry of a gradient that counts as zero


def u_gradient(F: Floats, residual: Floats, u: Floats, xi: Floats) -> Floats:
    """dL/du_i = 2 u_i [sum_n (q_n - sigma_n) F_in - xi_i] for F (S, n), residual q - sigma (n,): (S,)."""
    return 2.0 * u * (times(F, residual) - xi)


Fit = Callable[[Floats, Floats], float]  # f (p,) and where to write its gradient (p,) -> sum_n a_n log P~_n


def u_step(F: Floats, fit: Fit, u: Floats, xi: Floats, copies: Floats) -> Floats:
    """u + t g/||g|| with the first t of 1, 1/2, ... 2^-14 that makes L grow by 1e-4 t ||g||; else u itself.

    F (S, p) : of every kernel what it adds to f.   u, xi (S,).   Kernel i stands for copies_i equal ones.
    """

    residual = np.empty(F.shape[1])

    def objective(v: Floats) -> float:
        """L at v; leaves the gradient in f in ``residual``."""
        return float(fit(combined(copies * v * v, F), residual) - dot(copies * xi, 0, v * v))

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
    K: Floats, w: Floats, y: Floats, omega: Floats, zeta: float, steps: int = 8
) -> tuple[Floats, Floats]:
    """w and f = K w after ``steps`` damped Newton steps with the curvature of the EM surrogate.

    d = (K diag(h) K + 2 zeta I)^-1 (K (q - sigma) - 2 zeta w),
    h = max(sigma (1 - sigma), 1e-6), halved until L grows.
    """

    def objective(w: Floats, f: Floats) -> float:
        return float(flips.log_likelihood(f, y, omega).sum()) - zeta * float(w @ w)

    f = K @ w
    value = objective(w, f)
    for _ in range(steps):
        sigma = expit(f)
        gradient = K @ (flips.posterior(f, y, omega) - sigma) - 2.0 * zeta * w
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


class Path:
    """The path of one label column (n,) of 0.0 and 1.0 over S' stacked kernels.

    w : (n,).   eta : (S',) weights of the stacked kernels, pruned ones 0.   omega : (2, 2).
    rounds : done.   converged : f and Omega came to rest.   swapped : the classes changed names on the way.
    broken : a round was not finite.
    """

    def __init__(self, labels: NDArray[Any], kernels: int, prior_factor: str, beta: float) -> None:
        self.y, self._prior = labels, (prior_factor, beta)
        self.w = self.f = self._zero = np.zeros(len(labels))
        self.u, self.xi = np.ones(kernels), np.zeros(kernels)
        self.omega = flips.START
        self.rounds, self.converged, self.swapped, self.broken = 0, False, False, False

    @property
    def zeta(self) -> float:
        """`marginal_zeta` of w."""
        return marginal_zeta(dot(self.w, 0, self.w), len(self.w), *self._prior)

    @property
    def eta(self) -> Floats:
        """u_i^2, 0 below 1e-8 of the largest."""
        eta = self.u * self.u
        return np.where(eta < PRUNED * eta.max(), 0.0, eta)

    def fit(self, f: Floats, slope: Floats) -> float:
        """sum_n log P~_n at f; writes q - sigma to slope."""
        return likelihood(f, self._zero, 0.0, self.y, self.omega[0, 1], self.omega[1, 0], slope)[0]

    def solved(self, K: Floats, w_solver: str) -> Floats:
        """w of the next round, for the kernel K (n, n)."""
        solver = conjugate_gradient if w_solver == "cg10" else newton_steps
        return solver(K, self.w, self.y, self.omega, self.zeta)[0]

    def flips(self, f: Floats) -> Floats:
        """Omega by the posteriors at f."""
        q = posterior(f, self.y, self.omega[0, 1], self.omega[1, 0])
        return flips.updated(q, self.y, self.omega)

    def finish(self, w: Floats, F: Floats, copies: Floats) -> None:
        """u, xi and Omega of the round that ends with w and F_i = K_i w, (S', n)."""
        u = u_step(F, self.fit, self.u, self.xi, copies)
        f = combined(copies * u * u, F)
        if not np.isfinite(f).all():
            self.broken = True
            return
        omega = self.flips(f)
        if flips.permuted(omega):
            self.swapped, omega = True, flips.projected(len(omega))
        self.rounds += 1
        self.converged = bool(
            np.abs(f - self.f).max() <= STILL * (1.0 + np.abs(f).max())
            and np.abs(omega - self.omega).max() <= STILL
        )
        self.w, self.f, self.u, self.xi, self.omega = w, f, u, penalty_rates(u * u), omega


@compile_kernel(error_model="numpy")
def softmax_fit(f: Floats, y: NDArray[np.intp], a: Floats, C: Floats, omega: Floats, slope: Floats) -> float:
    """sum_n a_n log P~_n of the softmax of C f_n for f (K-1, n), y (n,), a (n,); its gradient to slope."""
    K, value = len(omega), 0.0
    s = np.empty(K)
    for n in range(len(y)):
        top = -np.inf
        for k in range(K):
            s[k] = 0.0
            for j in range(K - 1):
                s[k] += C[k, j] * f[j, n]
            top = max(top, s[k])
        total = likely = 0.0
        for k in range(K):
            s[k] = exp_of_negative(max(s[k] - top, -LARGEST))
            total += s[k]
            likely += s[k] * omega[k, y[n]]
        value += a[n] * log_of_positive(likely / total)
        for j in range(K - 1):
            slope[j, n] = 0.0
            for k in range(K):
                slope[j, n] += a[n] * s[k] * (omega[k, y[n]] / likely - 1.0 / total) * C[k, j]
    return value


class SoftmaxPath(Path):
    """The path of K >= 2 classes with weights a (n,) of the examples, labels (n,) in 0..K-1.

    L = sum_n a_n log P~_n - zeta sum_n a_n ||v_n||^2 - sum_i xi_i u_i^2,  f = sum_i eta_i K_i diag(a) V,
    P~ by the softmax of f C^T / 2^(1/2), C the contrasts of the classes (K, K-1): for two classes without
    weights it is L of a `Path`. w (K-1, n) holds a_n v_n, and f is flat, (K-1) n. "newton" is
    conjugate-gradient steps to the end here.
    """

    def __init__(
        self, labels: NDArray[np.intp], K: int, weights: Floats, kernels: int, prior_factor: str, beta: float
    ) -> None:
        super().__init__(labels, kernels, prior_factor, beta)
        self.C, self.a, self.root = contrasts(K) / np.sqrt(2.0), weights, np.sqrt(weights)
        self.w, self.f = np.zeros((K - 1, len(labels))), np.zeros((K - 1) * len(labels))
        self.omega = flips.start(K)

    @property
    def zeta(self) -> float:
        """`marginal_zeta` of V, n (K-1) weights."""
        v = (self.w / self.root).reshape(-1)
        return marginal_zeta(dot(v, 0, v), len(self.w) * float(self.a.sum()), *self._prior)

    def classes(self, w: Floats) -> Floats:
        """(n, K) of w or f (K-1, n)."""
        return w.reshape(len(self.w), -1).T @ self.C.T

    def fit(self, f: Floats, slope: Floats) -> float:
        """sum_n a_n log P~_n at f; writes its gradient to slope."""
        shape = self.w.shape
        return softmax_fit(f.reshape(shape), self.y, self.a, self.C, self.omega, slope.reshape(shape))

    def solved(self, K: Floats, w_solver: str) -> Floats:
        """w of the next round, for the kernel K (n, n): `conjugate_gradient` in V diag(a)^1/2."""
        zeta, v = self.zeta, self.w / self.root

        def times_K(x: Floats) -> Floats:
            return np.stack([times(K, row) for row in x])

        def inner(x: Floats, y: Floats) -> float:
            return dot(x.reshape(-1), 0, y.reshape(-1))

        f, residual = times_K(self.w), np.empty_like(v)
        phi = zeta * inner(v, v) - self.fit(f, residual)
        g = 2.0 * zeta * v - times_K(residual) * self.root
        d, square = -g, inner(g, g)
        before = phi + 0.5 * np.sqrt(square)
        steps, still = (10, STATIONARY) if w_solver == "cg10" else (1000, 1e-4 * STATIONARY)
        for _ in range(steps):
            if not np.abs(g).max() > still:
                break
            slope = inner(g, d)
            if not slope < 0.0:
                d, slope = -g, -square
            t, Kd = min(1.0, 2.02 * (phi - before) / slope), times_K(d * self.root)
            t, done = t if t > 0.0 else 1.0, False
            low, high = (0.0, phi, slope), (-1.0, phi, slope)
            vv, vd, dd = inner(v, v), inner(v, d), inner(d, d)
            for _ in range(TRIALS):
                here = zeta * (vv + t * (2.0 * vd + t * dd)) - self.fit(f + t * Kd, residual)
                along = 2.0 * zeta * (vd + t * dd) - inner(residual, Kd)
                done, t, low, high = _bracketed(t, here, along, phi, slope, low, high)
                if done:
                    break
            if not done:
                break
            before, phi, v, f = phi, here, v + t * d, f + t * Kd
            new = 2.0 * zeta * v - times_K(residual) * self.root
            d, g = max(0.0, inner(new - g, new) / square) * d - new, new
            square = inner(g, g)
        return np.asarray(v * self.root)

    def flips(self, f: Floats) -> Floats:
        """Omega by the posteriors at f."""
        q = flips.posterior(self.classes(f), self.y, self.omega)
        return flips.updated(q, self.y, self.omega, self.a)


def penalty_rates(eta: Floats) -> Floats:
    """xi_i = 2 / max(eta_i, 1e-100)."""
    return 2.0 / np.maximum(eta, SMALLEST_ETA)


def ascend(
    stack: Stack, labels: NDArray[Any], T: int = 10, w_solver: str = "cg10", prior_factor: str = "slides",
    beta: float = 2.0, weights: Floats | None = None,
) -> list[Path]:  # fmt: skip
    """The paths of L label columns (n, L) of 0.0 and 1.0, each the same as if it were alone.

    Labels (n,) in 0..K-1 have one `SoftmaxPath`, weights (n,) of the examples then 1 if not given.
    T : most rounds.   w_solver : "cg10" or "newton".   prior_factor, beta : see `marginal_zeta`.
    Raises ValueError: anything else.
    """
    whole("T", T, 1)
    choice("w_solver", w_solver, get_args(WSolver))
    number("beta", beta, above=0)
    paths: list[Path]
    if labels.ndim == 1:
        a = np.ones(len(labels)) if weights is None else weights
        paths = [SoftmaxPath(labels, int(labels.max()) + 1, a, len(stack.K), prior_factor, beta)]
    else:
        paths = [Path(np.ascontiguousarray(y), len(stack.K), prior_factor, beta) for y in labels.T]
    for _ in range(T):
        active = [path for path in paths if not (path.converged or path.broken)]
        if not active:
            break
        kernels = mixed(stack.K, np.stack([stack.copies * path.u**2 for path in active]))
        w = [path.solved(K, w_solver) for path, K in zip(active, kernels, strict=True)]
        F = responses(stack.K, np.concatenate([np.atleast_2d(own) for own in w]))
        parts = np.split(F, len(active))  # of all columns of each path
        for path, own, part in zip(active, w, parts, strict=True):
            path.finish(
                own, np.ascontiguousarray(part.swapaxes(0, 1)).reshape(len(stack.K), -1), stack.copies
            )
    return paths


@compile_kernel(error_model="numpy")
def _cubic(t0: float, phi0: float, slope0: float, t1: float, phi1: float, slope1: float) -> float:
    """Where the cubic through two points with slopes has its minimum, kept inside the middle 80 %."""
    d1 = slope0 + slope1 - 3.0 * (phi0 - phi1) / (t0 - t1)
    square = d1 * d1 - slope0 * slope1
    middle = 0.5 * (t0 + t1)
    if not square >= 0.0:
        return middle
    d2 = np.sqrt(square) if t1 > t0 else -np.sqrt(square)
    t = t1 - (t1 - t0) * (slope1 + d2 - d1) / (slope1 - slope0 + 2.0 * d2)
    low, high = min(t0, t1), max(t0, t1)
    margin = 0.1 * (high - low)
    if not low + margin <= t <= high - margin:
        return middle if not np.isfinite(t) else min(max(t, low + margin), high - margin)
    return t


Place = tuple[float, float, float]


@compile_kernel(error_model="numpy")
def _bracketed(
    t: float, here: float, along: float, phi: float, slope: float, low: Place, high: Place
) -> tuple[bool, float, Place, Place]:
    """Whether t meets the Wolfe conditions; else the next t and the ends (t, phi, slope) of the bracket.

    here, along : phi and its slope at t; phi, slope : at 0.   high[0] < 0 : no bracket yet.
    """
    if not here <= phi + DECREASE * t * slope or (low[0] > 0.0 and not here < low[1]):
        high = (t, here, along)
    else:
        if abs(along) <= -CURVATURE * slope:
            return True, t, low, high
        if along * (high[0] - low[0] if high[0] >= 0.0 else 1.0) >= 0.0:
            high = low
        low = (t, here, along)
    if high[0] < 0.0:
        return False, 2.0 * t, low, high
    return False, _cubic(low[0], low[1], low[2], high[0], high[1], high[2]), low, high


@compile_kernel(error_model="numpy")
def wolfe_step(
    f: Floats, Kd: Floats, y: Floats, omega01: float, omega10: float, zeta: float,
    ww: float, wd: float, dd: float, phi: float, slope: float, t: float, residual: Floats,
) -> tuple[float, float]:  # fmt: skip
    """A step t > 0 along d that meets the strong Wolfe conditions, and phi(w + t d); (0, phi): no such step.

    f = K w, Kd = K d, y (n,); ww, wd, dd: products of w and d; phi, slope < 0: at t = 0; t: first trial.
    Writes q - sigma at the last trial, which is the returned one unless t = 0, to residual (n,).
    """
    low, high = (0.0, phi, slope), (-1.0, phi, slope)
    for _ in range(TRIALS):
        value = likelihood(f, Kd, t, y, omega01, omega10, residual)[0]
        here = zeta * (ww + t * (2.0 * wd + t * dd)) - value
        along = 2.0 * zeta * (wd + t * dd) - dot(residual, 0, Kd)
        done, t, low, high = _bracketed(t, here, along, phi, slope, low, high)
        if done:
            return t, here
    return 0.0, phi


@compile_kernel(error_model="numpy")
def conjugate_gradient(
    K: Floats, w: Floats, y: Floats, omega: Floats, zeta: float, iterations: int = 10
) -> tuple[Floats, Floats]:
    """w and f = K w after at most ``iterations`` conjugate-gradient steps from w (n,); K (n, n) symmetric.

    Makes phi(w) = zeta ||w||^2 - sum_n log P~_n(f_n) smaller, grad phi = 2 zeta w - K (q - sigma), with
    beta = max(0, (g - g_old).g / g_old.g_old) (Polak-Ribiere+) and a search for the strong Wolfe conditions.
    f is linear in w: a search costs one product K d, its trial steps only O(n).
    y : (n,) observed labels 0.0 and 1.0.   omega : (2, 2) flip matrix.   zeta : > 0.
    The first trial step of a search expects the decrease of the previous one, and ||g||/2 at the start.
    """
    omega01, omega10 = omega[0, 1], omega[1, 0]
    residual, zero = np.empty(len(w)), np.zeros(len(w))
    f = times(K, w)
    phi = zeta * dot(w, 0, w) - likelihood(f, zero, 0.0, y, omega01, omega10, residual)[0]
    gradient = 2.0 * zeta * w - times(K, residual)
    square = dot(gradient, 0, gradient)
    d = -gradient
    before = phi + 0.5 * np.sqrt(square)
    for _ in range(iterations):
        if not np.abs(gradient).max() > STATIONARY:
            break
        slope = dot(gradient, 0, d)
        if not slope < 0.0:
            d, slope = -gradient, -square
        t = min(1.0, 2.02 * (phi - before) / slope)
        Kd = times(K, d)
        t, reached = wolfe_step(
            f, Kd, y, omega01, omega10, zeta, dot(w, 0, w), dot(w, 0, d), dot(d, 0, d), phi, slope,
            t if t > 0.0 else 1.0, residual,
        )  # fmt: skip
        if t == 0.0:
            break
        before, phi = phi, reached
        w, f = w + t * d, f + t * Kd
        new = 2.0 * zeta * w - times(K, residual)
        beta = max(0.0, dot(new - gradient, 0, new) / square)
        d, gradient = beta * d - new, new
        square = dot(gradient, 0, gradient)
    return w, f
