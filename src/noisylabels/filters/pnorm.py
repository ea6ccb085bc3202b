"""p-norm LMS and exponentiated gradient, whose weights are a function of dual weights."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike

from noisylabels.compilation import compile_kernel
from noisylabels.filters.base import (
    Filter,
    NoisySequence,
    Rows,
    Side,
    Sliding,
    window_means,
    window_starts,
)
from noisylabels.filters.theory import Power, exponent, link, norm
from noisylabels.fixed_order.exp_and_log import exp2_inplace, power, power_inplace, wide
from noisylabels.fixed_order.lanes import (
    bits,
    dot_lanes,
    fma,
    from_bits,
    round_up_to_lanes,
    sum_lanes,
)
from noisylabels.fixed_order.linear_algebra import put
from noisylabels.validation import Floats, as_array, finite, number

TINY = 1e-290  # dual weights below this size count as 0


class _Dual(Filter):
    """Base of filters that update dual weights.

    A filter with a step size eta whose state is theta = f(w), (d,).
    """

    _taps = ("theta",)
    theta: Floats

    def __init__(self, eta: float, p: Power) -> None:
        self.eta = number("eta", eta, above=0)
        exponent(p, 3)
        self.p = p

    def _start(self, d: int) -> None:
        super()._start(d)
        self.theta = np.zeros(d)

    def _grow(self, d: int) -> None:
        super()._grow(d)
        # an empty row changes no dual weight, but computes w from them
        self.run(np.zeros((1, d)), np.zeros(1))


class PNormLMS(_Dual):
    r"""Learn a sparse target from dense rows: LMS on dual weights, read through the p-norm link.

    Parameters
    ----------
    eta : float, default 0.01
        Step size, above 0. The bounds ask for ``theory.rate(p, X_p)``, where X_p is the largest
        p-norm of a row.
    p : float or "auto", default "auto"
        Exponent of the norm, at least 2. 2 is LMS; "auto" is 2 ln d and suits sparse targets.

    Attributes
    ----------
    theta : ndarray of shape (d,)
        The dual weights. They are updated, and the weights are computed from them.

    Raises
    ------
    ValueError
        If a parameter is out of range, or if the filter diverges; the message names the row.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels import LMS, PNormLMS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.choice([-1.0, 1.0], size=(300, 500))
    >>> y = X[:, 0]
    >>> errors = [np.mean((f.run(X, y) - y) ** 2) for f in (PNormLMS(0.08), LMS(1 / 500))]
    >>> bool(errors[0] < 0.5 * errors[1])
    True

    Notes
    -----
    :math:`\theta_t = \theta_{t-1} + \eta (y_t - \hat y_t) x_t`, :math:`w_t = f^{-1}(\theta_t)` with
    the link ``theory.link``, :math:`\theta_0 = 0`.

    References
    ----------
    Kivinen, Warmuth and Hassibi (2006), The p-norm generalization of the LMS algorithm, IEEE Trans.
    SP 54(5).
    """

    name = "pnorm_lms"
    radius: float = np.inf

    def __init__(self, eta: float = 0.01, p: Power = "auto") -> None:
        super().__init__(eta, p)

    def _rates(self, rows: Rows, p: float) -> Floats:
        """Step sizes, (1,) for a constant one or (n,)."""
        return np.array([self.eta])

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        p = exponent(self.p, rows.d)
        rates = self._rates(rows, p)[None, :]
        powers = np.array([p])
        radii = np.array([self.radius])
        theta = self.theta[None, :]
        _pnorm(rows.flat, rows.step, theta, y[None, :], yhat[None, :], rates, powers, radii)
        # `run` reports NaN as an error
        if np.isfinite(self.theta).all():
            w[:] = link(self.theta, p)
        else:
            w[:] = np.nan

    @classmethod
    def run_many(cls, filters: Sequence[Self], X: ArrayLike | Sliding, Y: ArrayLike) -> Floats:
        """Run several filters from the start on the same rows, in one pass.

        Parameters
        ----------
        filters : sequence of PNormLMS
            They learn: afterwards each has the state of its run, or all are as they were if one
            diverged.
        X : array-like of shape (n, d) or Sliding
            The rows.
        Y : array-like of shape (n,) or (len(filters), n)
            Labels for all, or one sequence for each filter.

        Returns
        -------
        ndarray of shape (len(filters), n)
            The predictions.

        Raises
        ------
        ValueError
            As `run`.
        """
        rows = Rows.of(X)
        count = len(filters)
        dimensions = as_array("Y", Y).ndim
        checked = finite("Y", Y, (rows.n,) if dimensions < 2 else (count, rows.n))
        # a copy, because a broadcast array cannot be written to
        labels = np.broadcast_to(checked, (count, rows.n)).copy()
        powers = np.array([exponent(f.p, rows.d) for f in filters])
        filters_with_powers = zip(filters, powers, strict=True)
        rates = [f._rates(rows, p) for f, p in filters_with_powers]
        steps = np.stack(np.broadcast_arrays(*rates))
        theta = np.zeros((count, rows.d))
        yhat = np.empty((count, rows.n))
        radii = np.array([f.radius for f in filters])
        _pnorm(rows.flat, rows.step, theta, labels, yhat, steps, powers, radii)
        for f, state, values, p in zip(filters, theta, yhat, powers, strict=True):
            is_finite = np.isfinite(values).all() and np.isfinite(state).all()
            if not is_finite:
                fault = f"a filter with eta = {f.eta:g}, p = {p:g} diverged"
                raise ValueError(f"{f.name}: {fault}; use a smaller step size")
        for f, state, p in zip(filters, theta, powers, strict=True):
            if rows.reversed:
                f.theta = np.ascontiguousarray(state[::-1])
            else:
                f.theta = state.copy()
            f.w = link(f.theta, p)
        return yhat

    @classmethod
    def losses(cls, filters: Sequence[Filter], data: NoisySequence, windows: int) -> Floats:
        """Compute the losses of filters in one pass over the rows.

        Parameters
        ----------
        filters : sequence of PNormLMS
            Each starts from w = 0 and is left as it was.
        data : NoisySequence
            The sequence.
        windows : int
            Number of windows of equal length. The last one takes the remainder.

        Returns
        -------
        ndarray of shape (len(filters), windows)
            Mean of (prediction - clean target) squared.
        """
        fresh = [copy.copy(f) for f in filters]
        first_labels = data.labels[:, 0]
        yhat = cls.run_many(fresh, data.x, first_labels)  # type: ignore[arg-type]
        starts = window_starts(len(data), windows)
        return np.array([window_means((row - data.y) ** 2, starts) for row in yhat])


@compile_kernel(error_model="numpy")
def _step_dual(
    theta: Floats,
    keep: Floats,
    gain: Floats,
    x: Floats,
    z: Floats,
    top: Floats,
) -> None:
    """Update the dual weights of C filters, and scale their sizes to at most 1.

    theta_c <- keep_c theta_c + gain_c x, top_c = max_i |theta_ci|, z_c = |theta_c| / top_c.

    theta (C, d).
    """
    wide()
    for c in range(theta.shape[0]):
        largest = np.int64(0)
        k = keep[c]
        g = gain[c]
        for i in range(x.shape[0]):
            value = fma(k, theta[c, i], g * x[i])
            theta[c, i] = value
            size = bits(abs(value))
            largest = size if size > largest else largest
        top[c] = from_bits(largest)
        if top[c] > TINY:
            factor = 1.0 / top[c]
        else:
            factor = 0.0
        for i in range(x.shape[0]):
            z[c, i] = abs(theta[c, i]) * factor


@compile_kernel(error_model="numpy")
def _read_dual(theta: Floats, z: Floats, x: Floats, total: Floats, inner: Floats) -> None:
    """Compute the sums from which the predictions of C filters follow.

    total_c = sum_i z_ci |theta_ci|, inner_c = sum_i sign(theta_ci) z_ci x_i.

    z = (|theta| / top)^(p-1), which gets the signs of theta.
    """
    wide()
    d = x.shape[0]
    for c in range(theta.shape[0]):
        for i in range(d):
            z[c, i] = math.copysign(z[c, i], theta[c, i])
        row = z[c]
        total[c] = dot_lanes(row, 0, theta[c], 0, d)
        inner[c] = dot_lanes(z[c], 0, x, 0, d)


@compile_kernel(error_model="numpy")
def _pnorm(
    x: Floats,
    step: int,
    theta: Floats,
    y: Floats,
    yhat: Floats,
    rates: Floats,
    p: Floats,
    radius: Floats,
) -> None:
    """Run C filters over n rows.

    C filters over n rows. theta (C, d), y and yhat (C, n), rates (C, 1) or (C, n), p and radius
    (C,).

    One power per coordinate and step, z^(p-1) with z = |theta|/m: the norm needs z^p = z z^(p-1),
    and yhat = m (sum z^p)^((2-p)/p) sum sign z^(p-1) x never needs the weights themselves.
    The prediction of row t+1 is made in the pass that follows the update by row t.
    A ball ||w||_q <= radius scales theta in the next update.
    """
    count, d = theta.shape
    n = y.shape[1]
    width = lanes_of(d)
    z = np.zeros((count, width))
    flat = z.reshape(-1)
    power_of = np.repeat(p - 1.0, width)
    stride = 1 if rates.shape[1] > 1 else 0
    top = np.zeros(count)
    keep = np.ones(count)
    gain = np.zeros(count)
    total = np.zeros(count)
    inner = np.zeros(count)
    for t in range(-1, n):
        now = max(t, 0) * step
        after = min(t + 1, n - 1) * step
        first_row = x[now : now + d]
        _step_dual(theta, keep, gain, first_row, z, top)
        power_inplace(flat, power_of)
        next_row = x[after : after + d]
        _read_dual(theta, z, next_row, total, inner)
        for c in range(count):
            value = 0.0
            keep[c] = 1.0
            if total[c] > 0.0 and top[c] > TINY:
                sum_z = total[c] / top[c]
                exponent_of_sum = (2.0 - p[c]) / p[c]
                root = power(sum_z, exponent_of_sum)
                value = top[c] * root * inner[c]
                if radius[c] < np.inf:
                    size = top[c] * np.sqrt(sum_z * root)  # ||theta||_p = ||w||_q
                    if size > radius[c]:
                        keep[c] = radius[c] / size
                        value *= keep[c]
            elif not total[c] >= 0.0:
                value = np.nan
            if t + 1 < n:
                yhat[c, t + 1] = value
                label = y[c, t + 1]
                error = label - value
                gain[c] = rates[c, (t + 1) * stride] * error
    for c in range(count):
        for i in range(d):
            theta[c, i] *= keep[c]


lanes_of = compile_kernel()(round_up_to_lanes)


class BoundedPNormLMS(PNormLMS):
    r"""Track a moving target: p-norm LMS whose dual weights stay inside a ball.

    Parameters
    ----------
    eta : float, default 0.01
        Step size, above 0.
    p : float or "auto", default "auto"
        Exponent of the norm, at least 2. "auto" is 2 ln d.
    radius : float, default 1.0
        Largest q-norm of the weights, above 0, with 1/p + 1/q = 1.

    Raises
    ------
    ValueError
        If a parameter is out of range, or if the filter diverges; the message names the row.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels import BoundedPNormLMS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.choice([-1.0, 1.0], size=(500, 10))
    >>> y = 3.0 * X[:, 0]
    >>> w = BoundedPNormLMS(0.02, p=2.0, radius=1.0).fit(X, y).w
    >>> bool(np.linalg.norm(w) <= 1.0 + 1e-9)
    True

    Notes
    -----
    After each step both :math:`w_t` and :math:`\theta_t` are multiplied by
    :math:`\min(1, U_q / \lVert w_t \rVert_q)`, the Bregman projection on the ball of radius
    :math:`U_q`. It keeps :math:`w = f^{-1}(\theta)`, since f is homogeneous.

    References
    ----------
    Kivinen, Warmuth and Hassibi, slides, "time-varying targets". Herbster and Warmuth (2001),
    Tracking the best linear predictor, JMLR 1.
    """

    name = "bounded_pnorm_lms"

    def __init__(self, eta: float = 0.01, p: Power = "auto", radius: float = 1.0) -> None:
        super().__init__(eta, p)
        self.radius = number("radius", radius, above=0)


class NormalizedPNormLMS(PNormLMS):
    r"""Learn a sparse target from rows of unknown size: p-norm LMS with a normalised step.

    Parameters
    ----------
    eta : float, default 1.0
        Step size, above 0, without unit. With 1 no step makes more progress than the theorem
        counts.
    p : float or "auto", default "auto"
        Exponent of the norm, at least 2. 2 is NLMS; "auto" is 2 ln d.
    eps : float, default 0.0
        Regularisation, at least 0, in units of a row's squared norm. With 0, rows of zeros are
        skipped.

    Raises
    ------
    ValueError
        If a parameter is out of range, or if the filter diverges; the message names the row.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels import NormalizedPNormLMS
    >>> rng = np.random.default_rng(0)
    >>> X = 1000.0 * rng.normal(size=(500, 20))
    >>> NormalizedPNormLMS().fit(X, X[:, 3]).w.round(2)[2:5]
    array([-0.,  1.,  0.])

    Notes
    -----
    `PNormLMS` with :math:`\eta_t = \eta / (\epsilon + (p - 1) \lVert x_t \rVert_p^2)`.

    References
    ----------
    An extension of Kivinen, Warmuth and Hassibi (2006), which is not in their slides.
    """

    name = "normalized_pnorm_lms"

    def __init__(self, eta: float = 1.0, p: Power = "auto", eps: float = 0.0) -> None:
        super().__init__(eta, p)
        self.eps = number("eps", eps, least=0)

    def _rates(self, rows: Rows, p: float) -> Floats:
        # rows of a block, as a sliding window is never stored whole
        block = max(1, 2**16 // rows.d)
        starts = range(0, rows.n, block)
        if rows.step == 1:  # each sample of a sliding window is raised to p only once
            magnitudes = np.abs(rows.flat)
            top = max(float(magnitudes.max()), 1e-290)
            powers = (magnitudes / top) ** p
            windows = sliding_window_view(powers, rows.d)
            total = np.concatenate([windows[i : i + block].sum(axis=1) for i in starts])
            size = top * total ** (1.0 / p)
        else:
            windows = sliding_window_view(rows.flat, rows.d)[:: rows.step]
            size = np.concatenate([norm(windows[i : i + block], p) for i in starts])
        size_weight = (p - 1.0) * size**2
        energy = self.eps + size_weight
        zeros = np.zeros(rows.n)
        return np.divide(self.eta, energy, out=zeros, where=energy > 0)


class ImplicitPNormLMS(_Dual):
    r"""Take the p-norm step whose error is measured after the step: no step size is too large.

    Parameters
    ----------
    eta : float, default 1.0
        Step size, above 0, without an upper limit.
    p : float or "auto", default "auto"
        Exponent of the norm, at least 2. "auto" is 2 ln d.

    Attributes
    ----------
    theta : ndarray of shape (d,)
        The dual weights.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels import ImplicitPNormLMS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 4))
    >>> ImplicitPNormLMS(eta=100.0, p=2.0).fit(X, X @ [1.0, 2.0, 3.0, 4.0]).w.round(3)
    array([1., 2., 3., 4.])

    Notes
    -----
    :math:`\theta_t = \theta_{t-1} + \eta (y_t - w_t \cdot x_t) x_t`,
    :math:`w_t = f^{-1}(\theta_t)`: then :math:`w_t` minimises
    :math:`d(w, w_{t-1}) + \frac{\eta}{2} (y_t - w \cdot x_t)^2` with d of ``theory.divergence``.
    One equation in :math:`s = w_t \cdot x_t` is solved between :math:`\hat y_t` and :math:`y_t`. At
    p = 2 it is ``ORS(variant="noisy", r=1/eta)``, and for every eta and u,
    :math:`\sum (u \cdot x_t - w_t \cdot x_t)^2
    \le \sum (y_t - u \cdot x_t)^2 + \lVert u \rVert^2 / \eta`.

    References
    ----------
    Kivinen, Warmuth and Hassibi (2006), IEEE Trans. SP 54(5), implicit update.
    """

    name = "implicit_pnorm_lms"

    def __init__(self, eta: float = 1.0, p: Power = "auto") -> None:
        super().__init__(eta, p)

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        p = exponent(self.p, rows.d)
        _implicit(rows.flat, rows.step, self.theta, y, yhat, self.eta, p)
        w[:] = link(self.theta, p)


@compile_kernel(error_model="numpy")
def _read(theta: Floats, gain: float, x: Floats, p: float, trial: Floats, z: Floats) -> float:
    """Predict as if the dual weights had moved along the row, without moving them.

    f^-1(theta + gain x).x; theta does not change. trial: (1, d), z: (1, lanes) scratch.
    """
    put(trial[0], theta)
    keep = np.ones(1)
    step = np.full(1, gain)
    top = np.zeros(1)
    total = np.zeros(1)
    inner = np.zeros(1)
    _step_dual(trial, keep, step, x, z, top)
    powers = np.full(z.shape[1], p - 1.0)
    power_inplace(z[0], powers)
    _read_dual(trial, z, x, total, inner)
    if top[0] <= TINY:
        return 0.0
    exponent = (2.0 - p) / p
    sum_z = total[0] / top[0]
    root = power(sum_z, exponent)
    return top[0] * root * inner[0]


@compile_kernel(error_model="numpy")
def _implicit(
    x: Floats,
    step: int,
    theta: Floats,
    y: Floats,
    yhat: Floats,
    eta: float,
    p: float,
) -> None:
    d = theta.shape[0]
    trial = np.zeros((1, d))
    z = np.zeros((1, lanes_of(d)))
    for t in range(y.shape[0]):
        row = x[t * step : t * step + d]
        yhat[t] = _read(theta, 0.0, row, p, trial, z)
        # Root of g(s) = s - f^-1(theta + eta (y - s) x).x by regula falsi with the Illinois rule,
        # bisection as a guard.
        low = yhat[t]
        high = y[t]
        g_of_low = _read(theta, eta * (y[t] - low), row, p, trial, z)
        g_low = low - g_of_low
        g_high = high - yhat[t]
        s = high
        for k in range(200):
            if g_low == 0.0 or g_high == 0.0:
                break
            if abs(high - low) <= 1e-15 * (abs(high) + abs(low)):
                break
            if k % 4 < 3:
                slope = g_high - g_low
                s = (low * g_high - high * g_low) / slope
            else:
                s = 0.5 * (low + high)
            gain = eta * (y[t] - s)
            g_of_s = _read(theta, gain, row, p, trial, z)
            g = s - g_of_s
            if (g > 0.0) == (g_high > 0.0):
                high = s
                g_high = g
                g_low *= 0.5
            else:
                low = s
                g_low = g
                g_high *= 0.5
        if g_low == 0.0:
            s = low
        elif g_high == 0.0:
            s = high
        for i in range(d):
            theta[i] += eta * (y[t] - s) * row[i]


class EG(Filter):
    r"""Learn a target of positive weights that sum to 1, by multiplying the weights.

    Parameters
    ----------
    eta : float, default 0.1
        Step size, above 0.

    Attributes
    ----------
    logarithms : ndarray of shape (d,)
        Logarithms of the weights to base 2, up to a constant.

    Raises
    ------
    ValueError
        If eta is out of range, or if the filter diverges; the message names the row.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels import EG
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 4))
    >>> EG().fit(X, X @ [0.6, 0.2, 0.1, 0.1]).w.round(2)
    array([0.6, 0.2, 0.1, 0.1])

    Notes
    -----
    :math:`w_{t,i} = w_{t-1,i} \exp(-2 \eta (\hat y_t - y_t) x_{t,i}) / Z_t`, :math:`w_{0,i} = 1/d`.
    The bound :math:`\sum (\hat y_t - y_t)^2 \le \frac{3}{2} (Loss_u + R^2 \ln d)`, u in the
    simplex, asks for :math:`\eta = 2 / (3 R^2)` with R at least the largest difference of two
    entries of a row.

    References
    ----------
    Kivinen and Warmuth (1997), Exponentiated gradient versus gradient descent, Information and
    Computation 132.
    """

    name = "eg"
    _taps = ("logarithms",)
    logarithms: Floats

    def __init__(self, eta: float = 0.1) -> None:
        self.eta = number("eta", eta, above=0)

    def _start(self, d: int) -> None:
        self.logarithms = np.zeros(d)
        self.w = np.full(d, 1.0 / d)

    def _grow(self, d: int) -> None:
        """Widen the state; a further entry begins with the mean of the weights."""
        former = self.logarithms
        super()._grow(d)
        mean_weight = np.mean(np.exp2(former))
        self.logarithms[len(former) :] = np.log2(mean_weight)
        self.run(np.zeros((1, d)), np.zeros(1))  # an empty row computes w from the logarithms

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        rate = 2.0 * self.eta / math.log(2)
        _eg(rows.flat, rows.step, self.logarithms, y, yhat, rate, w)


@compile_kernel(error_model="numpy")
def _eg(
    x: Floats,
    step: int,
    logs: Floats,
    y: Floats,
    yhat: Floats,
    rate: float,
    w: Floats,
) -> None:
    d = len(logs)
    last = len(y) - 1
    gain = 0.0
    z = np.empty(d)
    for t in range(len(y) + 1):
        now = max(t - 1, 0) * step
        after = min(t, last) * step
        top = -np.inf
        for i in range(d):
            logs[i] = fma(gain, x[now + i], logs[i])
            top = logs[i] if logs[i] > top else top
        for i in range(d):
            logs[i] -= top
            z[i] = logs[i]
        exp2_inplace(z)
        if t < len(y):
            total = sum_lanes(z, 0, d)
            inner = dot_lanes(z, 0, x, after, d)
            yhat[t] = inner / total
            error = y[t] - yhat[t]
            gain = rate * error
    put(w, z / z.sum())


class EGPlusMinus(Filter):
    r"""Learn a sparse target of any sign, by multiplying positive and negative weights.

    Parameters
    ----------
    eta : float, default 0.1
        Step size, above 0. Kivinen and Warmuth ask for 1 / (3 budget^2 X^2), X the largest entry of
        a row.
    budget : float, default 1.0
        At least the sum of the absolute weights of the target, above 0.

    Attributes
    ----------
    logarithms : ndarray of shape (d,)
        Half the logarithm of positive over negative weight, in units of ln 2.

    Raises
    ------
    ValueError
        If a parameter is out of range, or if the filter diverges; the message names the row.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels import EGPlusMinus
    >>> rng = np.random.default_rng(0)
    >>> X = rng.choice([-1.0, 1.0], size=(1000, 20))
    >>> EGPlusMinus(eta=0.08, budget=1.0).fit(X, -0.9 * X[:, 2]).w.argmin().item()
    2

    Notes
    -----
    :math:`w_i = U \sinh a_i / \sum_j \cosh a_j`,
    :math:`a_t = a_{t-1} + 2 \eta U (y_t - \hat y_t) x_t`, :math:`a_0 = 0`, U the budget: `EG` on
    the rows :math:`(U x, -U x)`.

    References
    ----------
    Kivinen and Warmuth (1997), Exponentiated gradient versus gradient descent, Information and
    Computation 132.
    """

    name = "eg_pm"
    _taps = ("logarithms",)
    logarithms: Floats

    def __init__(self, eta: float = 0.1, budget: float = 1.0) -> None:
        self.eta = number("eta", eta, above=0)
        self.budget = number("budget", budget, above=0)

    def _start(self, d: int) -> None:
        super()._start(d)
        self.logarithms = np.zeros(d)

    def _grow(self, d: int) -> None:
        super()._grow(d)
        self.run(np.zeros((1, d)), np.zeros(1))  # an empty row computes w from the logarithms

    def _learn(self, rows: Rows, w: Floats, y: Floats, yhat: Floats, side: Side) -> None:
        doubled = 2.0 * self.eta * self.budget
        rate = doubled / math.log(2)
        _eg_pm(rows.flat, rows.step, self.logarithms, y, yhat, rate, self.budget, w)


@compile_kernel(error_model="numpy")
def _eg_pm(
    x: Floats,
    step: int,
    a: Floats,
    y: Floats,
    yhat: Floats,
    rate: float,
    budget: float,
    w: Floats,
) -> None:
    """Compute the exponents of positive and negative weights, at most 0.

    z = (a - m, -a - m) with m = max |a|, so that no power of 2 exceeds 1.
    """
    d = len(a)
    last = len(y) - 1
    gain = 0.0
    z = np.empty(2 * d)
    positive = z[:d]
    negative = z[d:]
    for t in range(len(y) + 1):
        now = max(t - 1, 0) * step
        after = min(t, last) * step
        top = 0.0
        for i in range(d):
            a[i] = fma(gain, x[now + i], a[i])
            size = abs(a[i])
            if size > top:
                top = size
        for i in range(d):
            positive[i] = a[i] - top
            negative[i] = -a[i] - top
        exp2_inplace(z)
        if t < len(y):
            total = sum_lanes(z, 0, 2 * d)
            for i in range(d):
                positive[i] -= negative[i]
            share = dot_lanes(z, 0, x, after, d) / total
            yhat[t] = budget * share
            error = y[t] - yhat[t]
            gain = rate * error
    difference = positive - negative
    put(w, budget * difference / z.sum())
