"""LMS and its relatives, which step along the row, and RLS."""

from __future__ import annotations

import numpy as np

from noisylabels.compilation import compile_kernel
from noisylabels.filters.base import PASS, Filter, Rows, Side, known_variance
from noisylabels.fixed_order.lanes import add, bits, dot, energy, fma, from_bits, sum_lanes
from noisylabels.validation import Floats, flag, number, whole

DIVERGED = 1e6  # a filter with this many times the energy that a stable one can reach has diverged


class LMS(Filter):
    r"""Take a step of fixed size along each row, against its error.

    Parameters
    ----------
    mu : float, default 0.01
        Step size, above 0, in units of 1 / squared norm of a row. Smaller steps learn more slowly
        and end nearer to the optimum.

    Raises
    ------
    ValueError
        If a parameter is out of range, or if the filter diverges; the message names the row.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels import LMS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 3))
    >>> y = X @ [1.0, -2.0, 0.5] + 0.1 * rng.normal(size=2000)
    >>> LMS(mu=0.02).fit(X, y).w.round(1)
    array([ 1. , -2. ,  0.5])

    Notes
    -----
    :math:`w_t = w_{t-1} + \mu e_t x_t` with :math:`e_t = y_t - w_{t-1} \cdot x_t`. It is stable in
    the mean for mu below 2 / (largest eigenvalue of the mean of :math:`x x^\top`). As long as
    :math:`\mu \lVert x_t \rVert^2 \le 1`, the energy of the predictions is at most
    :math:`\lVert w_0 \rVert^2 / \mu` plus the energy of the labels. A million times that is
    reported as divergence.

    References
    ----------
    Widrow and Hoff (1960), Adaptive switching circuits, IRE WESCON Convention Record. The bound:
    Hassibi, Sayed and Kailath (1996), H-infinity optimality of the LMS algorithm, IEEE Trans. SP
    44.
    """

    name = "lms"

    def __init__(self, mu: float = 0.01) -> None:
        self.mu = number("mu", mu, above=0)

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        energy_at_start = float(w @ w) / self.mu
        _nlms(rows.flat, rows.step, w, y, yhat, self.mu, 1.0, False)
        with np.errstate(over="ignore", invalid="ignore"):
            total_energy = yhat @ yhat
            label_energy = y @ y
            largest = DIVERGED * (energy_at_start + label_energy)
            if not total_energy <= largest:
                energy_of_labels = np.cumsum(y * y)
                bound = DIVERGED * (energy_at_start + energy_of_labels)
                energy_of_predictions = np.cumsum(yhat * yhat)
                row = np.argmin(energy_of_predictions <= bound)
                yhat[row] = np.nan


class NLMS(Filter):
    r"""Take a step along each row that is normalised by the energy of the row.

    Parameters
    ----------
    mu : float, default 0.5
        Step size, above 0 and below 2 for stability. With 1 the error of the row would be 0 after
        the step.
    eps : float, default 1e-3
        Regularisation, at least 0, in units of a row's squared norm. With 0, rows of zeros are
        skipped.

    Raises
    ------
    ValueError
        If a parameter is out of range, or if the filter diverges; the message names the row.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels import NLMS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3))
    >>> y = X @ [1.0, -2.0, 0.5]
    >>> NLMS(mu=0.5).fit(X, y).w.round(3)
    array([ 1. , -2. ,  0.5])

    Notes
    -----
    :math:`w_t = w_{t-1} + \mu e_t x_t / (\epsilon + \lVert x_t \rVert^2)` with
    :math:`e_t = y_t - w_{t-1} \cdot x_t`. With mu = 1 and eps = r it is ``ORS(variant="noisy",
    r=r)``.

    References
    ----------
    Nagumo and Noda (1967), A learning method for system identification, IEEE Trans. AC 12.
    """

    name = "nlms"

    def __init__(self, mu: float = 0.5, eps: float = 1e-3) -> None:
        self.mu = number("mu", mu, above=0)
        self.eps = number("eps", eps, least=0)

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        _nlms(rows.flat, rows.step, w, y, yhat, self.mu, self.eps, True)


@compile_kernel()
def _nlms(
    x: Floats,
    step: int,
    w: Floats,
    y: Floats,
    yhat: Floats,
    mu: float,
    eps: float,
    normalised: bool,
) -> None:
    for t in range(len(y)):
        start = t * step
        yhat[t] = dot(x, start, w)
        if normalised:
            size = eps + energy(x, start, len(w))
        else:
            size = eps
        if size > 0:
            error = y[t] - yhat[t]
            gain = mu * error / size
            add(w, gain, x, start)


class ZALMS(Filter):
    r"""Learn a sparse target: LMS with a constant pull of every weight towards zero.

    Parameters
    ----------
    mu : float, default 0.01
        Step size, above 0.
    rho : float, default 1e-5
        Pull of each weight per row, at least 0. With 0 the filter is LMS.

    Raises
    ------
    ValueError
        If a parameter is out of range, or if the filter diverges; the message names the row.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels import LMS, ZALMS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(3000, 20))
    >>> y = X[:, 0] + rng.normal(size=3000)
    >>> sparse, plain = ZALMS(mu=0.01, rho=5e-4).fit(X, y), LMS(mu=0.01).fit(X, y)
    >>> bool(np.abs(sparse.w[1:]).mean() < np.abs(plain.w[1:]).mean())
    True

    Notes
    -----
    :math:`w_t = w_{t-1} + \mu (y_t - \hat y_t) x_t - \rho\, \mathrm{sign}(w_{t-1})`: gradient steps
    on the squared error plus an l1 penalty.

    References
    ----------
    Chen, Gu and Hero (2009), Sparse LMS for system identification, ICASSP.
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
        start = t * step
        yhat[t] = dot(x, start, w)
        error = y[t] - yhat[t]
        gain = mu * error
        for k in range(len(w)):
            pull = rho * np.sign(w[k])
            w[k] += gain * x[start + k] - pull


class PNLMS(Filter):
    r"""Learn a sparse target: NLMS whose step of each weight is in proportion to its size.

    Parameters
    ----------
    mu : float, default 0.5
        Step size, above 0 and below 2 for stability.
    rho : float, default 0.01
        Smallest share of a weight in the step, relative to the largest, above 0 and at most 1. With
        1 the filter is NLMS.
    delta : float, default 0.01
        Size, above 0, from which weights count. It starts the adaptation at w = 0.
    eps : float, default 1e-3
        Regularisation, at least 0, in units of a row's squared norm.

    Raises
    ------
    ValueError
        If a parameter is out of range, or if the filter diverges; the message names the row.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels import NLMS, PNLMS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 50))
    >>> y = X[:, 7]
    >>> errors = [np.mean((f.run(X, y) - y)[50:] ** 2) for f in (PNLMS(), NLMS())]
    >>> bool(errors[0] < 0.1 * errors[1])
    True

    Notes
    -----
    :math:`w_t = w_{t-1} + \mu e_t G x_t / (x_t^\top G x_t + \epsilon)`, :math:`G` diagonal with
    :math:`g_i / \mathrm{mean}(g)` and :math:`g_i = \max(\rho \max(\delta, \max_j |w_j|), |w_i|)`. A
    row with a zero denominator is skipped.

    References
    ----------
    Duttweiler (2000), Proportionate normalized LMS adaptation in echo cancelers, IEEE Trans. SAP
    8(5).
    """

    name = "pnlms"

    def __init__(
        self,
        mu: float = 0.5,
        rho: float = 0.01,
        delta: float = 0.01,
        eps: float = 1e-3,
    ) -> None:
        self.mu = number("mu", mu, above=0)
        self.rho = number("rho", rho, above=0, most=1)
        self.delta = number("delta", delta, above=0)
        self.eps = number("eps", eps, least=0)

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        _pnlms(rows.flat, rows.step, w, y, yhat, self.mu, self.rho, self.delta, self.eps)


@compile_kernel()
def _pnlms(
    x: Floats,
    step: int,
    w: Floats,
    y: Floats,
    yhat: Floats,
    mu: float,
    rho: float,
    delta: float,
    eps: float,
) -> None:
    d = len(w)
    top = np.abs(w).max()
    g = np.empty(d)
    gx = np.empty(d)
    for t in range(len(y)):
        start = t * step
        floor = rho * max(delta, top)
        for i in range(d):
            size_of_weight = abs(w[i])
            if size_of_weight > floor:
                g[i] = size_of_weight
            else:
                g[i] = floor
            gx[i] = g[i] * x[start + i]
        yhat[t] = dot(x, start, w)
        regulariser = eps * sum_lanes(g, 0, d) / d
        size = dot(x, start, gx) + regulariser
        if size > 0:
            error = y[t] - yhat[t]
            gain = mu * error / size
            largest = np.int64(0)
            for i in range(d):
                w[i] = fma(gain, gx[i], w[i])
                # compared as bits, which the compiler turns into vectors
                bits_of_weight = bits(abs(w[i]))
                largest = max(largest, bits_of_weight)
            top = from_bits(largest)


class SMNLMS(Filter):
    r"""Take a step only if the error is larger than the noise of the label explains.

    Parameters
    ----------
    tau : float, default 5.0
        Squared width of the dead zone in noise variances, at least 0.
    eps : float, default 1e-6
        Regularisation, at least 0, in units of a row's squared norm.

    Raises
    ------
    ValueError
        If a parameter is out of range, or if `run` is not given ``v``, the variance of the label
        noise.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels import SMNLMS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3))
    >>> y = X @ [1.0, -2.0, 0.5] + 0.1 * rng.normal(size=500)
    >>> SMNLMS().fit(X, y, v=0.01).w.round(1)
    array([ 1. , -2. ,  0.5])

    Notes
    -----
    :math:`w_t = w_{t-1} + (1 - \gamma_t / |e_t|)_+\, e_t x_t / (\epsilon + \lVert x_t \rVert^2)`
    with :math:`\gamma_t = \sqrt{\tau v_t}`. After a step the error of the same row is
    :math:`\gamma_t` (at eps = 0).

    References
    ----------
    Gollamudi et al. (1998), Set-membership filtering and a set-membership normalized LMS algorithm
    with an adaptive step size, IEEE Signal Processing Letters 5.
    """

    name = "sm_nlms"

    def __init__(self, tau: float = 5.0, eps: float = 1e-6) -> None:
        self.tau = number("tau", tau, least=0)
        self.eps = number("eps", eps, least=0)

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        variance = known_variance(self, side)
        gamma = np.sqrt(self.tau * variance)
        _sm_nlms(rows.flat, rows.step, w, y, yhat, gamma, self.eps)


@compile_kernel()
def _sm_nlms(
    x: Floats,
    step: int,
    w: Floats,
    y: Floats,
    yhat: Floats,
    gamma: Floats,
    eps: float,
) -> None:
    for t in range(len(y)):
        start = t * step
        yhat[t] = dot(x, start, w)
        e = y[t] - yhat[t]
        size = eps + energy(x, start, len(w))
        size_of_error = abs(e)
        if size_of_error > gamma[t] and size > 0:
            scaled_error = (1 - gamma[t] / abs(e)) * e
            gain = scaled_error / size
            add(w, gain, x, start)


class NPVSSNLMS(Filter):
    r"""Take a step that shrinks as the power of the errors falls to that of the label noise.

    Parameters
    ----------
    K : float, default 6.0
        Memory of the power in filter lengths; K times the length is at least 1. Usual: 2 to 10.
    delta : float, default 20.0
        Regularisation, at least 0. Usual: 20 times the variance of an entry of a row.
    eps : float, default 1e-8
        Added to the root of the power, at least 0.

    Raises
    ------
    ValueError
        If a parameter is out of range, or if `run` is not given ``v``, the variance of the label
        noise.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels import NPVSSNLMS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 3))
    >>> y = X @ [1.0, -2.0, 0.5] + 0.1 * rng.normal(size=2000)
    >>> NPVSSNLMS().fit(X, y, v=0.01).w.round(1)
    array([ 1. , -2. ,  0.5])

    Notes
    -----
    :math:`w_t = w_{t-1} + \mu_t e_t x_t` with
    :math:`\mu_t = (1 - \sqrt{v_t} / (\epsilon + s_t)) / (\delta + \lVert x_t \rVert^2)`, and 0
    where :math:`s_t < \sqrt{v_t}`. The power of the error is
    :math:`s_t^2 = \lambda s_{t-1}^2 + (1 - \lambda) e_t^2` with :math:`\lambda = 1 - 1/(K d)`.

    References
    ----------
    Benesty et al. (2006), A nonparametric VSS NLMS algorithm, IEEE Signal Processing Letters 13.
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
        variance = known_variance(self, side)
        deviation = np.sqrt(variance)
        rate = 1 / memory
        _npvss(rows.flat, rows.step, w, y, yhat, deviation, rate, self.delta, self.eps, self.power)


@compile_kernel()
def _npvss(
    x: Floats,
    step: int,
    w: Floats,
    y: Floats,
    yhat: Floats,
    deviation: Floats,
    rate: float,
    delta: float,
    eps: float,
    power: Floats,
) -> None:
    for t in range(len(y)):
        start = t * step
        yhat[t] = dot(x, start, w)
        e = y[t] - yhat[t]
        change = e * e - power[0]
        rate_of_change = rate * change
        power[0] += rate_of_change
        s = np.sqrt(power[0])
        size = delta + energy(x, start, len(w))
        if s >= deviation[t] and eps + s > 0 and size > 0:
            excess = 1 - deviation[t] / (eps + s)
            gain = excess * e / size
            add(w, gain, x, start)


class JONLMS(Filter):
    r"""Take the step that minimises the expected distance to the target, from known label noise.

    Parameters
    ----------
    misalignment : float, default 1.0
        Expected squared norm of the target, above 0.
    tracking : bool, default False
        Whether the target moves.

    Raises
    ------
    ValueError
        If a parameter is out of range, or if `run` is not given ``v``, the variance of the label
        noise.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels import JONLMS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 3))
    >>> variance = rng.uniform(0, 2, size=1000)
    >>> y = X @ [1.0, -2.0, 0.5] + np.sqrt(variance) * rng.normal(size=1000)
    >>> JONLMS(misalignment=5.0).fit(X, y, v=variance).w.round(1)
    array([ 1. , -2. ,  0.5])

    Notes
    -----
    :math:`w_t = w_{t-1} + \mu_t e_t x_t`,
    :math:`\mu_t = p_t / (d v_t + (d + 2) p_t X_t / d)`, :math:`p_t = m_{t-1} + d q_{t-1}`, with
    :math:`X_t = \lVert x_t \rVert^2`. :math:`m_t = (1 - \mu_t X_t / d) p_t` estimates
    :math:`\lVert w_t - u \rVert^2`; :math:`q_t = \lVert w_t - w_{t-1} \rVert^2 / d` estimates the
    motion of the target u if tracking, else it is 0. In effect it is a Kalman filter with
    :math:`P = (m/d) I`.

    References
    ----------
    Ciochina, Paleologu and Benesty (2016), An optimized NLMS algorithm for system identification,
    Signal Processing 118.
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
        variance = known_variance(self, side)
        _jo_nlms(rows.flat, rows.step, w, y, yhat, variance, self.m, self.tracking)


@compile_kernel()
def _jo_nlms(
    x: Floats, step: int, w: Floats, y: Floats, yhat: Floats, v: Floats, m: Floats, tracking: bool
) -> None:
    d = len(w)
    for t in range(len(y)):
        start = t * step
        yhat[t] = dot(x, start, w)
        e = y[t] - yhat[t]
        X = energy(x, start, d)
        p = m[0] + d * m[1]
        noise_power = d * v[t]
        signal_power = (d + 2) * p * X / d
        size = noise_power + signal_power
        mu = p / size if size > 0 else 0.0
        add(w, mu * e, x, start)
        step_energy = mu * X / d
        left = 1 - step_energy
        m[0] = left * p
        if tracking:
            m[1] = mu * mu * e * e * X / d
        else:
            m[1] = 0.0


class INLMS(Filter):
    r"""Take a step that shrinks if the prediction is small next to the error; it needs no variance.

    Parameters
    ----------
    eta : float, default 0.1
        Estimated misalignment at the start, above 0 and at most 1.
    rho : float, default 0.01
        How fast the estimate moves, at least 0.
    mu_max : float, default 0.5
        Largest step, above 0 and at most 2.
    memory : float, default 100.0
        Rows over which powers are averaged, at least 1.
    start : int, default 100
        Rows that take the largest step, at least 0. Only rows that are not 0, with an error that is
        not 0, count.

    Raises
    ------
    ValueError
        If a parameter is out of range, or if the filter diverges; the message names the row.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels import INLMS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(3000, 3))
    >>> X[:1000] = 0.0  # silence
    >>> y = X @ [1.0, -2.0, 0.5] + 0.1 * rng.normal(size=3000)
    >>> INLMS().fit(X, y).w.round(1)
    array([ 1. , -2. ,  0.5])

    Notes
    -----
    :math:`w_t = w_{t-1} + \mu_t e_t x_t / \lVert x_t \rVert^2` with
    :math:`\mu_t = \min(\eta P(\hat y) / P(e), \mu_{max})` and running powers P of rate 1/memory.
    eta moves by the agreement of successive gradients:
    :math:`\eta \leftarrow \eta \exp(\rho \cos(e_t x_t, \psi))`, within [1e-6, 1], and then
    :math:`\psi \leftarrow (1 - 1/memory) \psi + e_t x_t`. Rows of zeros change nothing.
    While :math:`P(\hat y) = 0`, as at w = 0, the step is the largest one.

    References
    ----------
    Written from memory of Valin and Collings (2007), Interference-normalised least mean square
    algorithm, IEEE Signal Processing Letters 14. It follows the recalled form and is *not verified*
    against the published one.
    """

    name = "inlms"
    _taps = ("psi",)
    psi: Floats
    scalars: Floats

    def __init__(
        self,
        eta: float = 0.1,
        rho: float = 0.01,
        mu_max: float = 0.5,
        memory: float = 100.0,
        start: int = 100,
    ) -> None:
        self.eta = number("eta", eta, above=0, most=1)
        self.rho = number("rho", rho, least=0)
        self.mu_max = number("mu_max", mu_max, above=0, most=2)
        self.memory = number("memory", memory, least=1)
        self.start = whole("start", start, 0)

    def _start(self, d: int) -> None:
        super()._start(d)
        self.psi = np.zeros(d)
        # P(yhat), P(e), eta, and the number of rows that could teach
        self.scalars = np.array([0.0, 0.0, self.eta, 0.0])

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        options = (self.rho, self.mu_max, 1 / self.memory, self.start)
        _inlms(rows.flat, rows.step, w, y, yhat, self.psi, self.scalars, *options)


@compile_kernel()
def _inlms(
    x: Floats,
    step: int,
    w: Floats,
    y: Floats,
    yhat: Floats,
    psi: Floats,
    state: Floats,
    rho: float,
    mu_max: float,
    rate: float,
    start: int,
) -> None:
    for t in range(len(y)):
        begin = t * step
        yhat[t] = dot(x, begin, w)
        e = y[t] - yhat[t]
        X = energy(x, begin, len(w))
        if X == 0:
            continue
        power_of_prediction = yhat[t] ** 2
        change_of_prediction = power_of_prediction - state[0]
        state[0] += rate * change_of_prediction
        change_of_error = e * e - state[1]
        state[1] += rate * change_of_error
        energy_of_psi = energy(psi, 0, len(psi))
        root = np.sqrt(X * energy_of_psi)
        size_of_error = abs(e)
        norms = size_of_error * root
        if norms > 0:
            inner = dot(x, begin, psi)
            agreement = e * inner / norms
            grown = state[2] * np.exp(rho * agreement)
            state[2] = min(max(grown, 1e-6), 1.0)
        mu = mu_max
        if state[3] >= start and state[0] > 0 and state[1] > 0:
            share = state[2] * state[0] / state[1]
            mu = min(share, mu_max)
        if e != 0:
            state[3] += 1
        gain = mu * e / X
        add(w, gain, x, begin)
        for k in range(len(psi)):
            psi[k] *= 1 - rate
        add(psi, e, x, begin)


class RLS(Filter):
    r"""Find the weighted least squares estimate after every row.

    Parameters
    ----------
    prior : float, default 1.0
        Variance of an entry of the target, above 0.
    noise : float, optional
        Variance of the labels on top of ``v``, at least 0. If it is left out, it is 0 with ``v``
        and 1 without.
    drift : float, default 0.0
        Variance, at least 0, of the random step that each entry of the target takes per row.

    Raises
    ------
    ValueError
        If a parameter is out of range; if noise is 0 and `run` is not given ``v``, the variance of
        the label noise; with drift, if rounding has made the covariance negative. The message names
        the row.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels import RLS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 3))
    >>> y = X @ [1.0, -2.0, 0.5]
    >>> ridge = np.linalg.solve(X.T @ X + np.eye(3) / 10, X.T @ y)
    >>> bool(np.allclose(RLS(prior=10.0).fit(X, y).w, ridge))
    True

    Notes
    -----
    :math:`w_t = w_{t-1} + P x_t e_t / s_t` with :math:`s_t = v_t + noise + x_t^\top P x_t`; then
    :math:`P \leftarrow P - P x_t x_t^\top P / s_t + drift\, I`, from :math:`P_0 = prior\, I`.
    Without drift, :math:`w_t` minimises
    :math:`\sum_s (y_s - w \cdot x_s)^2 / (v_s + noise) + \lVert w \rVert^2 / prior`: the best
    linear estimate when the variances are right. With drift it is the Kalman filter of a target
    that walks at random. A row takes :math:`O(d^2)`; one with :math:`s_t = 0` is skipped. Without
    drift a square root S of :math:`P = S S^\top` is updated, so that P never loses its sign
    (Potter's form).

    References
    ----------
    Kalman (1960), A new approach to linear filtering and prediction problems, J. Basic Engineering
    82. Bierman (1977), Factorization methods for discrete sequential estimation, Section II.
    """

    name = "rls"
    _taps = ("_state",)
    _remedy = "raise noise, or lower prior"
    _state: Floats  # S, or P if drift > 0
    _is_root: bool

    def __init__(self, prior: float = 1.0, noise: float | None = None, drift: float = 0.0) -> None:
        self.prior = number("prior", prior, above=0)
        if noise is None:
            self.noise = None
        else:
            self.noise = number("noise", noise, least=0)
        self.drift = number("drift", drift, least=0)

    @property
    def P(self) -> Floats:
        """Covariance of the error of the weights, of shape (d, d)."""
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
            if self.drift == 0:
                self._state = np.asarray(np.linalg.cholesky(self.P))
            else:
                self._state = self.P
            self._is_root = self.drift == 0
        if self._is_root:
            _rls(rows.flat, rows.step, w, y, yhat, variance, self._state)
        else:
            _rls_with_drift(rows.flat, rows.step, w, y, yhat, variance, self._state, self.drift)


@compile_kernel()
def _rls(
    x: Floats,
    step: int,
    w: Floats,
    y: Floats,
    yhat: Floats,
    variance: Floats,
    S: Floats,
) -> None:
    d = len(w)
    f = np.empty(d)  # S'x
    for t in range(len(y)):
        start = t * step
        yhat[t] = dot(x, start, w)
        f[:] = 0.0
        for i in range(d):
            add(f, x[start + i], S[i], 0)
        f_energy = energy(f, 0, d)
        s = variance[t] + f_energy
        if s > 0:
            error = y[t] - yhat[t]
            gain = error / s
            product = variance[t] * s
            root = np.sqrt(product)
            shrink = 1.0 / (s + root)
            for i in range(d):  # S - shrink S f f'
                Px = dot(S[i], 0, f)
                w[i] += gain * Px
                add(S[i], -shrink * Px, f, 0)


@compile_kernel()
def _rls_with_drift(
    x: Floats,
    step: int,
    w: Floats,
    y: Floats,
    yhat: Floats,
    variance: Floats,
    P: Floats,
    drift: float,
) -> None:
    d = len(w)
    Px = np.empty(d)
    for t in range(len(y)):
        start = t * step
        yhat[t] = dot(x, start, w)
        for i in range(d):
            Px[i] = dot(x, start, P[i])
        s = variance[t] + dot(x, start, Px)
        if s < variance[t]:  # rounding has made x'Px negative
            yhat[t] = np.nan
            return
        if s > 0:
            add(w, (y[t] - yhat[t]) / s, Px, 0)
            Px /= np.sqrt(s)
            for i in range(d):  # P - Px Px'/s, symmetric to the last bit
                add(P[i], -Px[i], Px, 0)
        for i in range(d):
            P[i, i] += drift
