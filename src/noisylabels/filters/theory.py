"""Theory of the p-norm filters: link, divergence, loss bounds for every target and all data; worst cases.

How much of the noise energy can come out as filtering error? The ratio is
rho = sum (u.x_t - yhat_t)^2 / (sum (y_t - u.x_t)^2 + K),  K = (p-1) X_p^2 ||u||_q^2.
LMS with step 1/X_2^2 has rho <= 1 for all u, all noise and all rows, and no filter has a smaller worst case:
it is optimal in the sense of H-infinity.
Source: B. Hassibi, A. H. Sayed, T. Kailath,
H-infinity optimality of the LMS algorithm, IEEE Trans. SP 44, 1996.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
from numpy.typing import ArrayLike

from noisylabels.compilation import compile_kernel
from noisylabels.fixed_order.linear_algebra import put
from noisylabels.validation import Floats, number

Power = float | str  # a number, or "auto"


def exponent(p: Power, n: int) -> float:
    """p itself, or max(2, 2 ln n) for p = "auto": the exponent that suits a sparse target of n entries.

    n: length of the instances; "auto" wants n >= 3 (2 ln n >= 2), below it warns and takes p = 2.
    Raises ValueError: p < 2, p infinite or not a number.
    """
    if isinstance(p, str) and p == "auto":
        if n < 3:
            warnings.warn(f'p="auto" is 2 ln n and needs n >= 3; p = 2 is used for n = {n}', stacklevel=2)
        return max(2.0, 2.0 * math.log(n)) if n >= 1 else 2.0
    return number('p, if not "auto"', p, least=2)


def dual(p: float) -> float:
    """q with 1/p + 1/q = 1; then (p - 1)(q - 1) = 1. Raises ValueError: p <= 1 or infinite."""
    return number("p", p, above=1) / (p - 1.0)


def _scaled(v: Floats) -> tuple[Floats, Floats]:
    """z = |v| / m and m = max_i |v_i| along the last axis (kept); m = 1 where v = 0."""
    size = np.abs(v)
    top = size.max(axis=-1, keepdims=True)
    top = np.where(top > 0, top, 1.0)
    return size / top, top


def norm(v: ArrayLike, s: float) -> Floats:
    """||v||_s = m (sum_i z_i^s)^(1/s),  z = |v|/m,  m = max_i |v_i|; (..., n) -> (...)."""
    z, top = _scaled(np.asarray(v, dtype=np.float64))
    return np.asarray(top[..., 0] * np.sum(z**s, axis=-1) ** (1.0 / s))


def link(v: ArrayLike, s: float) -> Floats:
    """f_i(v) = sign(v_i) |v_i|^(s-1) / ||v||_s^(s-2), the gradient of ||v||_s^2 / 2; f(0) = 0.

    link(w, q) is the map f from weights to their dual theta, link(theta, p) its inverse, with 1/p + 1/q = 1.
    v: (..., n), every vector along the last axis.  s > 1.
    Computed as m sign(v_i) z_i^(s-1) (sum z^s)^((2-s)/s) with z = |v|/m, m = max_i |v_i|, which neither
    over- nor underflows. Near s = 1 the power z^(s-1) is about 1 for every z > 0: round-off in w is
    amplified, so an algorithm keeps theta as its state and never recomputes it from w.
    Raises ValueError: s <= 1 or infinite, values that are not finite.
    Source: slides of Kivinen, Warmuth, Hassibi, "link function";
    Gentile, The robustness of the p-norm algorithms, 2003.
    """
    dual(s)
    v = np.asarray(v, dtype=np.float64)
    if not np.isfinite(v).all():
        raise ValueError("v: values must be finite")
    z, top = _scaled(v)
    total = np.sum(z**s, axis=-1, keepdims=True)
    safe = np.where(total > 0, total, 1.0)
    return top * np.copysign(z ** (s - 1.0), v) * safe ** ((2.0 - s) / s)


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
    number("radius", radius, above=0)
    size = norm(theta, p)[..., None]
    return np.asarray(theta) * np.minimum(1.0, radius / np.where(size > 0, size, radius))


TOLERANCE = 1e-9  # a loss may exceed its bound by this relative amount of rounding


def penalty(p: float, x_size: float, u_size: float) -> float:
    """K = (p - 1) X_p^2 ||u||_q^2, the price of not knowing the target u."""
    return (p - 1.0) * x_size**2 * u_size**2


def rate(p: float, x_size: float, alpha: float = 1.0) -> float:
    """eta = alpha / ((p - 1) X_p^2) with ||x_t||_p <= X_p; alpha = 1 filters, alpha < 1 predicts.

    p = 2 gives the rates of LMS. Raises ValueError: alpha not in (0, 1], X_p <= 0, p < 2.
    """
    number("p", p, least=2)
    number("x_size", x_size, above=0)
    return number("alpha", alpha, above=0, most=1) / ((p - 1.0) * x_size**2)


def prediction(noise: float, K: float, alpha: float) -> float:
    """sum (y_t - yhat_t)^2 <= Loss_u / (1 - alpha) + K / alpha, at eta = rate(p, X_p, alpha), 0 < alpha < 1.

    Loss_u = 0 and alpha = 1 is the limit K. Raises ValueError: alpha not in (0, 1).
    Source: Cesa-Bianchi, Long, Warmuth 1996 for p = 2; the same computation for other p.
    """
    if noise == 0 and alpha == 1:
        return K
    number("alpha, which is 1 only for a target without loss", alpha, above=0, below=1)
    return noise / (1.0 - alpha) + K / alpha


def best_alpha(noise: float, K: float) -> float:
    """alpha* = sqrt(K) / (sqrt(K) + sqrt(Loss_u)); then `prediction` is (sqrt(Loss_u) + sqrt(K))^2."""
    return math.sqrt(number("K", K, above=0)) / (math.sqrt(K) + math.sqrt(number("noise", noise, least=0)))


def eg_plus_minus(noise: float, budget: float, x_top: float, n: int) -> float:
    """sum (y_t - yhat_t)^2 <= 3 (Loss_u + U^2 X^2 ln 2n), |x_{t,i}| <= X, ||u||_1 <= U, eta = 1/(3 U^2 X^2).

    Source: J. Kivinen, M. K. Warmuth, Exponentiated gradient versus gradient descent, 1997, c = 4.
    """
    return 3.0 * (noise + (budget * x_top) ** 2 * math.log(2 * n))


def eg(noise: float, spread: float, n: int) -> float:
    """sum (y_t - yhat_t)^2 <= 3/2 (Loss_u + R^2 ln n), u in the simplex, max x - min x <= R, eta = 2/(3 R^2).

    Source: J. Kivinen, M. K. Warmuth, Exponentiated gradient versus gradient descent, 1997, c = 1.
    """
    return 1.5 * (noise + spread**2 * math.log(n))


def moving(noise: float, p: float, x_size: float, radius: float, path: float) -> float:
    """sum (u_t.x_t - yhat_t)^2 <= Loss_u + (p-1) X_p^2 (U_q^2 + 2 U_q sum_t ||u_{t+1} - u_t||_q).

    Loss_u = sum (y_t - u_t.x_t)^2. For `bounded_pnorm_lms` with radius U_q >= ||u_t||_q; path: the last sum.
    """
    return noise + (p - 1.0) * x_size**2 * (radius**2 + 2.0 * radius * path)


def checked_ratio(loss: float, bound: float, what: str) -> float:
    """loss / bound. A theorem cannot fail: a ratio above 1 (beyond rounding) is a RuntimeError."""
    ratio = float(loss) / float(bound) if bound > 0 else float(loss > 0) * math.inf
    if not ratio <= 1.0 + TOLERANCE:
        broken = f"loss {loss:.10g} exceeds its bound {bound:.10g}"
        raise RuntimeError(f"{what}: {broken}; the code or the data is wrong")
    return ratio


def rls_gains(X: Floats) -> Floats:
    """g_t = P_{t-1} x_t / (1 + x_t.P_{t-1} x_t),  P_t = P_{t-1} - g_t x_t'P_{t-1},  P_0 = I; (T, n).

    Those of LMS are eta x_t.
    """
    P, gains = np.eye(X.shape[1]), np.empty_like(X)
    for g, x in zip(gains, X, strict=True):
        g[:] = P @ x / (1.0 + x @ P @ x)
        P -= np.outer(g, x @ P)
    return gains


def transfer_matrix(X: Floats, gains: Floats, x_size: float) -> Floats:
    """The matrix of (X_2 u, nu_1..nu_T) -> (u.x_t - yhat_t)_t
    for the filter w_t = w_{t-1} + g_t (y_t - yhat_t).

    The error z = u - w obeys z_t = z_{t-1} - g_t (x_t.z_{t-1} + nu_t), y_t = u.x_t + nu_t.
    The worst ratio over all u and all noise is the square of the largest singular value.
    X, gains: (T, n).  x_size: X_2.  -> (T, n + T).
    """
    T, n = X.shape
    Z = np.hstack([np.eye(n) / x_size, np.zeros((n, T))])
    M = np.empty((T, n + T))
    for t in range(T):
        M[t] = X[t] @ Z
        noisy = M[t].copy()
        noisy[n + t] += 1.0
        Z -= np.outer(gains[t], noisy)
    return M


def worst_ratio(X: Floats, gains: Floats, x_size: float) -> float:
    """sup of rho over all u and all noise, for these rows:
    the squared spectral norm of the transfer matrix."""
    return float(np.linalg.norm(transfer_matrix(X, gains, x_size), 2)) ** 2


def worst_target(X: Floats, yhat: Floats, y: Floats, x_size: float) -> tuple[float, Floats]:
    """sup over u of rho for given rows, labels and predictions, and a u that attains it (p = 2).

    Both sums are quadratic forms of (u, 1):
    N = [X, -yhat]'[X, -yhat], D = [X, -y]'[X, -y] + diag(X_2^2 I, 0);
    the ratio is the largest eigenvalue of the pencil (N, D).
    D gets 1e-12 of its trace, for it is singular where u = 0 fits the labels exactly.
    """
    n = X.shape[1]
    A, B = np.column_stack([X, -yhat]), np.column_stack([X, -y])
    D = B.T @ B + np.diag(np.append(np.full(n, x_size**2), 0.0))
    root = np.linalg.cholesky(D + 1e-12 * np.trace(D) * np.eye(n + 1))
    C = np.linalg.solve(root, A.T)
    values, vectors = np.linalg.eigh(C @ C.T)
    worst = np.linalg.solve(root.T, vectors[:, -1])
    if abs(worst[-1]) < 1e-9 * np.abs(worst).max():  # attained in the limit of a long u only
        worst[-1] = 1e-9 * np.abs(worst).max()
    return float(values[-1]), worst[:-1] / worst[-1]


def silent(n: int, T: int, x_size: float, p: float, *, clean: bool = False) -> tuple[Floats, Floats, Floats]:
    """Labels equal to the predictions, so nothing is learnt,
    and rows x_t = x along f(u): rho = T/(T + p - 1).

    Every filter that starts at 0 predicts 0 for ever, so y = 0 (`clean`: y = u.x instead). Against a filter
    that predicts anything, the adversary answers y_t = yhat_t and takes u or -u: no filter has sup rho < 1.
    One clean row (T = 1) is the one-shot adversary: rho = 1/(p - 1), at p = 2 exactly 1.
    Returns X (T, n), y (T,), u (n,) with ||u||_q = 1.
    """
    q = dual(p)
    u = np.linspace(1.0, 2.0, n)
    u /= norm(u, q)
    x = link(u, q)
    X = np.repeat(x_size * x[None, :] / norm(x, p), T, axis=0)
    return X, X @ u if clean else np.zeros(T), u


def ratio(X: Floats, y: Floats, u: Floats, yhat: Floats, p: float, x_size: float) -> float:
    """rho of one run."""
    weight = (p - 1.0) * (x_size * float(norm(u, dual(p)))) ** 2
    return float(((X @ u - yhat) ** 2).sum() / (((y - X @ u) ** 2).sum() + weight))


@compile_kernel(error_model="numpy")
def _rho(X: Floats, p: float, x_size: float, point: Floats) -> float:
    """rho of p-norm LMS for u = point[:n], y = point[n:], written out without tricks."""
    T, n = X.shape
    eta, q = 1.0 / ((p - 1.0) * x_size * x_size), p / (p - 1.0)
    theta, w = np.zeros(n), np.zeros(n)
    error = noise = size = 0.0
    for t in range(T):
        guess = target = 0.0
        for i in range(n):
            guess += w[i] * X[t, i]
            target += point[i] * X[t, i]
        error += (target - guess) ** 2
        noise += (point[n + t] - target) ** 2
        top = 0.0
        for i in range(n):
            theta[i] += eta * (point[n + t] - guess) * X[t, i]
            top = max(top, abs(theta[i]))
        if top > 0.0:
            total = 0.0
            for i in range(n):
                total += (abs(theta[i]) / top) ** p
            for i in range(n):
                w[i] = np.sign(theta[i]) * top * (abs(theta[i]) / top) ** (p - 1.0) * total ** ((2.0 - p) / p)
    for i in range(n):
        size += abs(point[i]) ** q
    return error / (noise + size ** (2.0 / q) / eta)


@compile_kernel(error_model="numpy")
def ascend(
    X: Floats, p: float, x_size: float, start: Floats, steps: int = 200
) -> tuple[float, Floats, Floats]:
    """Projected gradient ascent on rho over (u, y) for p-norm LMS at eta = 1/((p-1) X_p^2); X: (T, n).

    rho does not change when (u, y) is scaled, so each step is followed by a projection on the sphere.
    The gradient is a central difference; a step is taken only if rho grows (then the next is 1.5 times as
    long, else half).  start: (n + T,), of norm 1.  Returns rho, u, y.
    """
    n, m, point = X.shape[1], start.shape[0], start.copy()
    value, step, h = _rho(X, p, x_size, point), 0.3, 1e-6
    gradient = np.empty(m)
    for _ in range(steps):
        for i in range(m):
            kept = point[i]
            point[i] = kept + h
            up = _rho(X, p, x_size, point)
            point[i] = kept - h
            gradient[i] = (up - _rho(X, p, x_size, point)) / (2.0 * h)
            point[i] = kept
        size = np.sqrt(np.sum(gradient * gradient))
        while size > 0.0 and step > 1e-9:
            trial = point + step / size * gradient
            trial /= np.sqrt(np.sum(trial * trial))
            found = _rho(X, p, x_size, trial)
            if found > value:
                put(point, trial)
                value = found
                step *= 1.5
                break
            step *= 0.5
        if size == 0.0 or step <= 1e-9:
            break
    return value, point[:n], point[n:]
