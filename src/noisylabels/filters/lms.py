"""LMS and its relatives: a step along the row, its length by energy, known noise or past errors; and RLS."""

from __future__ import annotations

import numpy as np

from noisylabels.compilation import compile_kernel
from noisylabels.filters.base import PASS, Filter, Rows, Side, known_variance
from noisylabels.fixed_order.lanes import add, bits, dot, energy, fma, from_bits, sum_lanes
from noisylabels.validation import Floats, flag, number, whole

DIVERGED = 1e6  # times the energy that a stable filter can reach


class LMS(Filter):
    """w_t = w_{t-1} + mu e_t x_t,  e_t = y_t - w_{t-1}.x_t.

    mu: step size, > 0; stable in the mean for mu < 2 / (largest eigenvalue of E[x x']).
    Raises ValueError: mu <= 0; divergence, with its row. As long as mu ||x_t||^2 <= 1, the energy of the
    predictions is at most ||w_0||^2 / mu plus the energy of the labels; a million times that is divergence.
    Source: B. Widrow, M. E. Hoff, Adaptive switching circuits, IRE WESCON Convention Record, 1960; the bound:
    B. Hassibi, A. H. Sayed, T. Kailath, H-infinity optimality of the LMS algorithm, IEEE Trans. SP 44, 1996.
    """

    name = "lms"

    def __init__(self, mu: float = 0.01) -> None:
        self.mu = number("mu", mu, above=0)

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        energy_at_start = float(w @ w) / self.mu
        _nlms(rows.flat, rows.step, w, y, yhat, self.mu, 1.0, False)
        with np.errstate(over="ignore", invalid="ignore"):
            if not yhat @ yhat <= DIVERGED * (energy_at_start + y @ y):
                bound = DIVERGED * (energy_at_start + np.cumsum(y * y))
                yhat[np.argmin(np.cumsum(yhat * yhat) <= bound)] = np.nan


class NLMS(Filter):
    """w_t = w_{t-1} + mu e_t x_t / (eps + X_t),  e_t = y_t - w_{t-1}.x_t,  X_t = ||x_t||^2.

    mu: step size, 0 < mu < 2 for stability.
    eps: regularisation in units of X, >= 0; a row with eps + X_t = 0 is skipped.
    With mu = 1 and eps = r it is `ORS(variant="noisy", r=r)`.
    Raises ValueError: mu <= 0, eps < 0; divergence, with the first row that is not finite.
    Source: J. Nagumo, A. Noda, A learning method for system identification, IEEE Trans. AC 12, 1967.
    """

    name = "nlms"

    def __init__(self, mu: float = 0.5, eps: float = 1e-3) -> None:
        self.mu = number("mu", mu, above=0)
        self.eps = number("eps", eps, least=0)

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        _nlms(rows.flat, rows.step, w, y, yhat, self.mu, self.eps, True)


@compile_kernel()
def _nlms(
    x: Floats, step: int, w: Floats, y: Floats, yhat: Floats, mu: float, eps: float, normalised: bool
) -> None:
    for t in range(len(y)):
        yhat[t] = dot(x, t * step, w)
        size = eps + energy(x, t * step, len(w)) if normalised else eps
        if size > 0:
            add(w, mu * (y[t] - yhat[t]) / size, x, t * step)


class ZALMS(Filter):
    """w_t = w_{t-1} + mu (y_t - yhat_t) x_t - rho sign(w_{t-1}).

    Gradient steps on the squared error plus an l1 penalty.

    mu: step size, > 0.  rho: pull per step, >= 0; 0 is LMS.
    Raises ValueError: mu <= 0, rho < 0; divergence, with the first row that is not finite.
    Source: Y. Chen, Y. Gu, A. O. Hero, Sparse LMS for system identification, ICASSP 2009.
    """

    name = "za_lms"

    def __init__(self, mu: float = 0.01, rho: float = 1e-5) -> None:
        self.mu = number("mu", mu, above=0)
        self.rho = number("rho", rho, least=0)

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        _za(rows.flat, rows.step, w, y, yhat, self.mu, self.rho)


@compile_kernel()
def _za(x: Floats, step: int, w: Floats, y: Floats, yhat: Floats, mu: float, rho: float) -> None:
    for t in range(len(y)):
        yhat[t] = dot(x, t * step, w)
        gain = mu * (y[t] - yhat[t])
        for k in range(len(w)):
            w[k] += gain * x[t * step + k] - rho * np.sign(w[k])


class PNLMS(Filter):
    """w_t = w_{t-1} + mu e_t G x_t / (x_t.G x_t + eps),  G = diag(g_i / mean g).

    g_i = max(rho max(delta, max_j |w_j|), |w_i|).

    mu: step size, 0 < mu < 2.  rho: smallest share of a tap, 0 < rho <= 1; rho = 1 is NLMS.
    delta: > 0, in units of the weights, starts the adaptation at w = 0.
    eps: regularisation in units of ||x||^2, >= 0; a row with a zero denominator is skipped.
    Raises ValueError: mu, rho, delta or eps outside these ranges; divergence.
    Source: D. L. Duttweiler, Proportionate normalized LMS adaptation in echo cancelers,
    IEEE Trans. SAP 8(5), 2000.
    """

    name = "pnlms"

    def __init__(self, mu: float = 0.5, rho: float = 0.01, delta: float = 0.01, eps: float = 1e-3) -> None:
        self.mu = number("mu", mu, above=0)
        self.rho = number("rho", rho, above=0, most=1)
        self.delta = number("delta", delta, above=0)
        self.eps = number("eps", eps, least=0)

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        _pnlms(rows.flat, rows.step, w, y, yhat, self.mu, self.rho, self.delta, self.eps)


@compile_kernel()
def _pnlms(
    x: Floats, step: int, w: Floats, y: Floats, yhat: Floats,
    mu: float, rho: float, delta: float, eps: float,
) -> None:  # fmt: skip
    d = len(w)
    top = np.abs(w).max()
    g, gx = np.empty(d), np.empty(d)
    for t in range(len(y)):
        at, floor = t * step, rho * max(delta, top)
        for i in range(d):
            g[i] = abs(w[i]) if abs(w[i]) > floor else floor
            gx[i] = g[i] * x[at + i]
        yhat[t] = dot(x, at, w)
        size = dot(x, at, gx) + eps * sum_lanes(g, 0, d) / d
        if size > 0:
            gain, largest = mu * (y[t] - yhat[t]) / size, np.int64(0)
            for i in range(d):
                w[i] = fma(gain, gx[i], w[i])
                largest = max(largest, bits(abs(w[i])))  # as bits: the compiler makes vectors of it
            top = from_bits(largest)


class SMNLMS(Filter):
    """w_t = w_{t-1} + (1 - gamma_t/|e_t|)_+ e_t x_t / (eps + X_t),  gamma_t = sqrt(tau v_t).

    After a step the error of the same row is gamma_t (at eps = 0); rows with |e_t| <= gamma_t are left alone.
    tau: width of the dead zone in noise variances, >= 0 (usual: 5).  eps: regularisation in units of X, >= 0.
    Side information of `run`: v, the variance of the label noise.
    Raises ValueError: tau < 0, eps < 0, missing v.
    Source: S. Gollamudi et al., Set-membership filtering and a set-membership normalized LMS algorithm with
    an adaptive step size, IEEE Signal Processing Letters 5, 1998.
    """

    name = "sm_nlms"

    def __init__(self, tau: float = 5.0, eps: float = 1e-6) -> None:
        self.tau = number("tau", tau, least=0)
        self.eps = number("eps", eps, least=0)

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        gamma = np.sqrt(self.tau * known_variance(self, side))
        _sm_nlms(rows.flat, rows.step, w, y, yhat, gamma, self.eps)


@compile_kernel()
def _sm_nlms(x: Floats, step: int, w: Floats, y: Floats, yhat: Floats, gamma: Floats, eps: float) -> None:
    for t in range(len(y)):
        at = t * step
        yhat[t] = dot(x, at, w)
        e = y[t] - yhat[t]
        size = eps + energy(x, at, len(w))
        if abs(e) > gamma[t] and size > 0:
            add(w, (1 - gamma[t] / abs(e)) * e / size, x, at)


class NPVSSNLMS(Filter):
    """w_t = w_{t-1} + mu_t e_t x_t,  mu_t = (1 - sqrt(v_t) / (eps + s_t)) / (delta + X_t).

    mu_t = 0 where s_t < sqrt(v_t).
    s_t^2 = lambda s_{t-1}^2 + (1 - lambda) e_t^2 is the power of the error, lambda = 1 - 1/(K d), s_0 = 0.
    K: memory in filter lengths, K d >= 1 (usual: 2 to 10).  delta: regularisation, >= 0 (usual: 20 times the
    variance of an entry of x).  eps: avoids 0/0, >= 0.
    Side information of `run`: v, the variance of the label noise.
    Raises ValueError: K d < 1, delta < 0, eps < 0, missing v.
    Source: J. Benesty et al., A nonparametric VSS NLMS algorithm, IEEE Signal Processing Letters 13, 2006.
    """

    name = "npvss_nlms"
    power: Floats

    def __init__(self, K: float = 6.0, delta: float = 20.0, eps: float = 1e-8) -> None:
        self.K = number("K", K, above=0)
        self.delta = number("delta", delta, least=0)
        self.eps = number("eps", eps, least=0)

    def _start(self, d: int) -> None:
        super()._start(d)
        self.power = np.zeros(1)

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        memory = number("K", self.K, least=1 / rows.d) * rows.d
        deviation = np.sqrt(known_variance(self, side))
        _npvss(rows.flat, rows.step, w, y, yhat, deviation, 1 / memory, self.delta, self.eps, self.power)


@compile_kernel()
def _npvss(
    x: Floats, step: int, w: Floats, y: Floats, yhat: Floats,
    deviation: Floats, rate: float, delta: float, eps: float, power: Floats,
) -> None:  # fmt: skip
    for t in range(len(y)):
        at = t * step
        yhat[t] = dot(x, at, w)
        e = y[t] - yhat[t]
        power[0] += rate * (e * e - power[0])
        s = np.sqrt(power[0])
        size = delta + energy(x, at, len(w))
        if s >= deviation[t] and eps + s > 0 and size > 0:
            add(w, (1 - deviation[t] / (eps + s)) * e / size, x, at)


class JONLMS(Filter):
    """w_t = w_{t-1} + mu_t e_t x_t,  mu_t = p_t / (d v_t + (d + 2) p_t X_t / d),  p_t = m_{t-1} + d q_{t-1}.

    m_t = (1 - mu_t X_t / d) p_t estimates ||w_t - u||^2, m_0 = misalignment; q_t = ||w_t - w_{t-1}||^2 / d
    estimates the motion of the target u if tracking, else q = 0. A Kalman filter with P = (m/d) I, in effect:
    fed with the local v_t it weights every label.
    misalignment: expected ||u||^2 at the start, > 0.  tracking: does the target move?
    Side information of `run`: v, the variance of the label noise.
    Raises ValueError: misalignment <= 0, missing v.
    Source: S. Ciochina, C. Paleologu, J. Benesty, An optimized NLMS algorithm for system identification,
    Signal Processing 118, 2016.
    """

    name = "jo_nlms"
    m: Floats

    def __init__(self, misalignment: float = 1.0, tracking: bool = False) -> None:
        self.misalignment = number("misalignment", misalignment, above=0)
        self.tracking = flag("tracking", tracking)

    def _start(self, d: int) -> None:
        super()._start(d)
        self.m = np.array([self.misalignment, 0.0])  # m and q

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        _jo_nlms(rows.flat, rows.step, w, y, yhat, known_variance(self, side), self.m, self.tracking)


@compile_kernel()
def _jo_nlms(
    x: Floats, step: int, w: Floats, y: Floats, yhat: Floats, v: Floats, m: Floats, tracking: bool
) -> None:
    d = len(w)
    for t in range(len(y)):
        at = t * step
        yhat[t] = dot(x, at, w)
        e, X = y[t] - yhat[t], energy(x, at, d)
        p = m[0] + d * m[1]
        size = d * v[t] + (d + 2) * p * X / d
        mu = p / size if size > 0 else 0.0
        add(w, mu * e, x, at)
        m[0] = (1 - mu * X / d) * p
        m[1] = mu * mu * e * e * X / d if tracking else 0.0


class INLMS(Filter):
    """w_t = w_{t-1} + mu_t e_t x_t / X_t,  mu_t = min(eta_t P(yhat) / P(e), mu_max).

    P is a running power with rate 1/memory. eta, the estimated misalignment, moves multiplicatively with the
    agreement of successive gradients: eta <- eta exp(rho cos(e_t x_t, psi)), within [1e-6, 1], and then
    psi <- (1 - 1/memory) psi + e_t x_t. Silent rows (x_t = 0) change nothing. The first `start` rows with
    x_t != 0 and e_t != 0 take the step mu_max, and so does every row while P(yhat) = 0, as at w = 0.

    Written from memory of Valin and Collings,
    Interference-normalised least mean square algorithm, IEEE Signal Processing Letters 14, 2007:
    it follows the recalled form and is *not verified* against the published one.

    eta: at the start, 0 < eta <= 1.  rho: >= 0.  mu_max: 0 < mu_max <= 2.  memory: rows, >= 1.
    start: rows, >= 0.
    No side information. Raises ValueError: a hyperparameter outside its range.
    """

    name = "inlms"
    _taps = ("psi",)
    psi: Floats
    scalars: Floats

    def __init__(
        self, eta: float = 0.1, rho: float = 0.01, mu_max: float = 0.5, memory: float = 100.0,
        start: int = 100,
    ) -> None:  # fmt: skip
        self.eta = number("eta", eta, above=0, most=1)
        self.rho = number("rho", rho, least=0)
        self.mu_max = number("mu_max", mu_max, above=0, most=2)
        self.memory = number("memory", memory, least=1)
        self.start = whole("start", start, 0)

    def _start(self, d: int) -> None:
        super()._start(d)
        self.psi = np.zeros(d)
        self.scalars = np.array([0.0, 0.0, self.eta, 0.0])  # P(yhat), P(e), eta, rows that could teach

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        options = (self.rho, self.mu_max, 1 / self.memory, self.start)
        _inlms(rows.flat, rows.step, w, y, yhat, self.psi, self.scalars, *options)


@compile_kernel()
def _inlms(
    x: Floats, step: int, w: Floats, y: Floats, yhat: Floats,
    psi: Floats, state: Floats, rho: float, mu_max: float, rate: float, start: int,
) -> None:  # fmt: skip
    for t in range(len(y)):
        at = t * step
        yhat[t] = dot(x, at, w)
        e = y[t] - yhat[t]
        X = energy(x, at, len(w))
        if X == 0:
            continue
        state[0] += rate * (yhat[t] ** 2 - state[0])
        state[1] += rate * (e * e - state[1])
        norms = abs(e) * np.sqrt(X * energy(psi, 0, len(psi)))
        if norms > 0:
            agreement = e * dot(x, at, psi) / norms
            state[2] = min(max(state[2] * np.exp(rho * agreement), 1e-6), 1.0)
        mu = mu_max
        if state[3] >= start and state[0] > 0 and state[1] > 0:
            mu = min(state[2] * state[0] / state[1], mu_max)
        if e != 0:
            state[3] += 1
        add(w, mu * e / X, x, at)
        for k in range(len(psi)):
            psi[k] *= 1 - rate
        add(psi, e, x, at)


class RLS(Filter):
    """w_t = w_{t-1} + k_t e_t,  k_t = P x_t / s_t,  s_t = v_t + noise + x_t'P x_t.

    Then P <- P - k_t x_t'P + drift I; P_0 = prior I.

    With drift = 0, w_t minimises sum_s (y_s - w.x_s)^2 / (v_s + noise) + ||w||^2 / prior over the rows so
    far: the best linear estimate when the variances are right. With drift > 0 it is the Kalman filter of a
    target that takes a random step of variance drift per entry and row.
    prior: variance of an entry of the target, P_0 = prior I, > 0.
    noise: variance on top of v (the process noise of the clean label, or all of it), >= 0; None: 0 beside v,
    1 without v. drift: >= 0.
    Side information of `run`: v, which may be left out unless noise = 0.  O(d^2) a row; s_t = 0 is skipped.
    Raises ValueError: a hyperparameter outside its range, neither v nor noise; P with a negative eigenvalue,
    with the row.
    With drift = 0 a square root S of P = S S' is updated, so that P never loses its sign (Potter's form).
    Source: R. E. Kalman, A new approach to linear filtering and prediction problems,
    J. Basic Engineering 82, 1960; G. J. Bierman, Factorization methods for discrete sequential estimation,
    1977, Section II.
    """

    name = "rls"
    _taps = ("_state",)
    _remedy = "raise noise, or lower prior"
    _state: Floats  # S, or P if drift > 0
    _is_root: bool

    def __init__(self, prior: float = 1.0, noise: float | None = None, drift: float = 0.0) -> None:
        self.prior = number("prior", prior, above=0)
        self.noise = None if noise is None else number("noise", noise, least=0)
        self.drift = number("drift", drift, least=0)

    @property
    def P(self) -> Floats:
        """The covariance of the error of the weights, (d, d)."""
        return self._state @ self._state.T if self._is_root else self._state

    def _start(self, d: int) -> None:
        super()._start(d)
        self._is_root = self.drift == 0
        self._state = np.eye(d) * (np.sqrt(self.prior) if self._is_root else self.prior)

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        if side.v is None and self.noise == 0:
            raise ValueError("v: rls needs the noise variance of every row, or noise > 0; " + PASS)
        if side.v is None:
            variance = np.full(rows.n, 1.0 if self.noise is None else self.noise)
        else:
            variance = side.v + (self.noise or 0.0)
        if self._is_root != (self.drift == 0):  # drift was changed since the last row
            self._state = np.linalg.cholesky(self.P) if self.drift == 0 else self.P
            self._is_root = self.drift == 0
        if self._is_root:
            _rls(rows.flat, rows.step, w, y, yhat, variance, self._state)
        else:
            _rls_with_drift(rows.flat, rows.step, w, y, yhat, variance, self._state, self.drift)


@compile_kernel()
def _rls(x: Floats, step: int, w: Floats, y: Floats, yhat: Floats, variance: Floats, S: Floats) -> None:
    d = len(w)
    f = np.empty(d)  # S'x
    for t in range(len(y)):
        at = t * step
        yhat[t] = dot(x, at, w)
        f[:] = 0.0
        for i in range(d):
            add(f, x[at + i], S[i], 0)
        s = variance[t] + energy(f, 0, d)
        if s > 0:
            gain = (y[t] - yhat[t]) / s
            shrink = 1.0 / (s + np.sqrt(variance[t] * s))
            for i in range(d):  # S - shrink S f f'
                Px = dot(S[i], 0, f)
                w[i] += gain * Px
                add(S[i], -shrink * Px, f, 0)


@compile_kernel()
def _rls_with_drift(
    x: Floats, step: int, w: Floats, y: Floats, yhat: Floats, variance: Floats, P: Floats, drift: float
) -> None:
    d = len(w)
    Px = np.empty(d)
    for t in range(len(y)):
        at = t * step
        yhat[t] = dot(x, at, w)
        for i in range(d):
            Px[i] = dot(x, at, P[i])
        s = variance[t] + dot(x, at, Px)
        if s < variance[t]:  # x'Px < 0: rounding has cost P its sign
            yhat[t] = np.nan
            return
        if s > 0:
            add(w, (y[t] - yhat[t]) / s, Px, 0)
            Px /= np.sqrt(s)
            for i in range(d):  # P - Px Px'/s, symmetric to the last bit
                add(P[i], -Px[i], Px, 0)
        for i in range(d):
            P[i, i] += drift
