"""Worst cases of linear and p-norm filters: how much of the noise energy can come out as filtering error?

The ratio is  rho = sum (u.x_t - yhat_t)^2 / (sum (y_t - u.x_t)^2 + K),  K = (p-1) X_p^2 ||u||_q^2.
LMS with step 1/X_2^2 has rho <= 1 for all u, all noise and all rows, and no filter has a smaller worst case:
it is optimal in the sense of H-infinity.
Source: B. Hassibi, A. H. Sayed, T. Kailath,
H-infinity optimality of the LMS algorithm, IEEE Trans. SP 44, 1996.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from noisylabels.fixed_order import put
from noisylabels.theory.pnorm import dual, link, norm
from noisylabels.validation import Floats


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


@njit(cache=True, error_model="numpy")
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


@njit(cache=True, error_model="numpy")
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
