r"""Losses with an analytic derivative, which an unbiased estimator can reach by its Taylor series.

The derivative of the loss of a prediction :math:`a` is :math:`l'(a) = c \sum_n \gamma_n b^n`. For
regression :math:`b = a - y` and :math:`c = 1`, for classification :math:`b = y a` or
:math:`b = y a - 1` and :math:`c = y`. The majorant :math:`l'_+(r) = \sum_n |\gamma_n| r^n` bounds
everything: at :math:`r = \sqrt{p} R` it is the price of the noise.

Source: Cesa-Bianchi, Shalev-Shwartz and Shamir 2011, Examples 1 to 4.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import dawsn, erf, gammaln

from noisylabels.validation import Floats, choice, number

DIFFERENCE, MARGIN, MARGIN_LESS_ONE = range(3)
"""Meanings of the argument b of a loss.

What the argument b is: a - y, y a, y a - 1.
"""

LONGEST_SERIES = 2_000_000
"""Number of terms after which a series counts as divergent."""

NEGLIGIBLE_LOG = 42.0
"""Difference of logarithms at which a term is 1e-18 of the largest one."""


SLOPES: dict[str, Callable[[float, float], float]] = {
    "squared": lambda b, s: 2.0 * b,
    "exponential": lambda b, s: -math.exp(-b),
    "smoothed absolute": lambda b, s: math.erf(s * b),
    "smoothed hinge": lambda b, s: 0.5 * (math.erf(s * b) - 1.0),
}
"""Derivatives of one number for compiled loops, each a single function that is compiled once."""


@dataclass(frozen=True)
class AnalyticLoss:
    r"""A loss whose derivative is a power series.

    Parameters
    ----------
    name : str
        What messages call the loss.
    kind : int
        What its argument is: `DIFFERENCE`, `MARGIN` or `MARGIN_LESS_ONE`.
    value : callable
        The loss as a function of the arguments, an array.
    slope : callable
        Its derivative.
    series : callable
        Gives for N the signs and the logarithms of the coefficients 0 to N, two arrays of shape (N
        + 1,).
    log_majorant : callable
        Logarithm of the sum of all coefficients' sizes times powers of a radius above 0.
    formula : callable
        The derivative as a function of one argument and ``s``, for compiled loops.
    s : float, default 1.0
        Parameter of the formula.

    Examples
    --------
    >>> from noisylabels.losses.analytic import squared
    >>> squared().loss([1.0, 3.0], [0.0, 1.0]).tolist()
    [1.0, 4.0]

    Notes
    -----
    The derivative is :math:`\sum_n \gamma_n b^n` of the argument :math:`b`.
    """

    name: str
    kind: int
    value: Callable[[Floats], Floats]
    slope: Callable[[Floats], Floats]
    series: Callable[[int], tuple[Floats, Floats]]
    log_majorant: Callable[[float], float]
    formula: Callable[[float, float], float]
    s: float = 1.0

    @property
    def classification(self) -> bool:
        """Whether labels are classes, -1 or 1."""
        return self.kind != DIFFERENCE

    def argument(self, a: ArrayLike, y: ArrayLike) -> Floats:
        """Compute the argument of the loss from predictions and labels.

        Parameters
        ----------
        a : array_like
            Predictions.
        y : array_like
            Labels, of the same shape.

        Returns
        -------
        ndarray
            Arguments, of the same shape.
        """
        a = np.asarray(a, dtype=float)
        y = np.asarray(y, dtype=float)
        if self.kind == DIFFERENCE:
            return a - y
        return y * a - float(self.kind == MARGIN_LESS_ONE)

    def loss(self, a: ArrayLike, y: ArrayLike) -> Floats:
        """Compute the losses of predictions.

        Parameters
        ----------
        a : array_like
            Predictions.
        y : array_like
            Labels, of the same shape.

        Returns
        -------
        ndarray
            Losses, of the same shape.
        """
        return self.value(self.argument(a, y))

    def derivative(self, a: ArrayLike, y: ArrayLike) -> Floats:
        """Compute the derivatives of the losses with respect to the predictions.

        Parameters
        ----------
        a : array_like
            Predictions.
        y : array_like
            Labels, of the same shape.

        Returns
        -------
        ndarray
            Derivatives, of the same shape.
        """
        slope = self.slope(self.argument(a, y))
        if self.classification:
            return np.asarray(y, dtype=float) * slope
        return slope

    def coefficients(self, highest: int) -> Floats:
        """Compute the coefficients of the series.

        Parameters
        ----------
        highest : int
            Highest degree.

        Returns
        -------
        ndarray of shape (highest + 1,)
            Coefficients. Those below 1e-308 are 0 here, but not in ``series``.
        """
        signs, logs = self.series(highest)
        return signs * np.exp(logs)

    def check_labels(self, y: Floats) -> None:
        """Refuse labels that the loss is not made for.

        Parameters
        ----------
        y : ndarray of shape (n,)
            Labels.

        Raises
        ------
        ValueError
            If the loss is for classification and a label is neither -1 nor 1.
        """
        if not self.classification:
            return
        bad = np.asarray(y)[~np.isin(y, (-1.0, 1.0))]
        if len(bad):
            raise ValueError(f"labels: the {self.name} loss needs -1 or 1, got {bad[0]:g}")


def squared() -> AnalyticLoss:
    """Make the squared loss.

    Returns
    -------
    AnalyticLoss
        The loss.

    Examples
    --------
    >>> from noisylabels.losses.analytic import squared
    >>> squared().coefficients(3).tolist()
    [0.0, 2.0, 0.0, 0.0]

    Notes
    -----
    The loss is :math:`(a - y)^2` with the majorant :math:`l'_+(r) = 2 r`.
    """

    def series(highest: int) -> tuple[Floats, Floats]:
        logs = np.where(np.arange(highest + 1) == 1, math.log(2.0), -np.inf)
        return np.ones(highest + 1), logs

    return AnalyticLoss(
        name="squared",
        kind=DIFFERENCE,
        value=np.square,
        slope=lambda b: 2.0 * b,
        series=series,
        log_majorant=lambda r: math.log(2.0 * r),
        formula=SLOPES["squared"],
    )


def exponential() -> AnalyticLoss:
    """Make the exponential loss.

    Returns
    -------
    AnalyticLoss
        The loss.

    Examples
    --------
    >>> from noisylabels.losses.analytic import exponential
    >>> exponential().coefficients(2).tolist()
    [-1.0, 1.0, -0.5]

    Notes
    -----
    The loss is :math:`e^{-y a}` with the majorant :math:`l'_+(r) = e^r`.
    """

    def series(highest: int) -> tuple[Floats, Floats]:
        signs = np.resize([-1.0, 1.0], highest + 1)
        return signs, np.asarray(-gammaln(np.arange(highest + 1) + 1.0))

    return AnalyticLoss(
        name="exponential",
        kind=MARGIN,
        value=lambda b: np.exp(-b),
        slope=lambda b: -np.exp(-b),
        series=series,
        log_majorant=lambda r: r,
        formula=SLOPES["exponential"],
    )


def smoothed_absolute(s: float = 1.0) -> AnalyticLoss:
    r"""Make a smooth form of the absolute loss.

    Parameters
    ----------
    s : float, default 1.0
        Sharpness, above 0. Larger values come nearer to the absolute loss.

    Returns
    -------
    AnalyticLoss
        The loss.

    Raises
    ------
    ValueError
        If ``s`` is not positive and finite.

    Examples
    --------
    >>> from noisylabels.losses.analytic import smoothed_absolute
    >>> smoothed_absolute(2.0).loss([0.0, 3.0], [0.0, 0.0]).round(3).tolist()
    [0.282, 3.0]

    Notes
    -----
    With :math:`b = a - y` the loss is
    :math:`b\, \mathrm{erf}(s b) + e^{-s^2 b^2} / (s \sqrt{\pi})`, at most
    :math:`1 / (s \sqrt{\pi})` above :math:`|b|`. Its majorant is
    :math:`l'_+(r) = \mathrm{erfi}(s r)`.
    """
    return _smoothed("smoothed absolute", DIFFERENCE, s, scale=1.0, tilt=0.0)


def smoothed_hinge(s: float = 1.0) -> AnalyticLoss:
    r"""Make a smooth form of the hinge loss.

    Parameters
    ----------
    s : float, default 1.0
        Sharpness, above 0. Larger values come nearer to the hinge loss.

    Returns
    -------
    AnalyticLoss
        The loss.

    Raises
    ------
    ValueError
        If ``s`` is not positive and finite.

    Examples
    --------
    >>> from noisylabels.losses.analytic import smoothed_hinge
    >>> smoothed_hinge(2.0).loss([1.0, -2.0], [1.0, 1.0]).round(3).tolist()
    [0.141, 3.0]

    Notes
    -----
    With :math:`b = y a - 1` the loss is
    :math:`\frac{1}{2} [b\, \mathrm{erf}(s b) + e^{-s^2 b^2} / (s \sqrt{\pi}) - b]`, at most
    :math:`1 / (2 s \sqrt{\pi})` above the hinge loss. Its majorant is
    :math:`l'_+(r) = (1 + \mathrm{erfi}(s r)) / 2`.
    """
    return _smoothed("smoothed hinge", MARGIN_LESS_ONE, s, scale=0.5, tilt=1.0)


def _smoothed(name: str, kind: int, s: float, scale: float, tilt: float) -> AnalyticLoss:
    """Make a loss that is smooth at its kink.

    Make ``scale (b erf(s b) + exp(-s^2 b^2) / (s sqrt(pi)) - tilt b)``.
    """
    s = number("s", s, above=0)

    def value(b: Floats) -> Floats:
        exponent = -((s * b) ** 2)
        normaliser = s * math.sqrt(math.pi)
        bell = np.exp(exponent) / normaliser
        smooth = b * erf(s * b)
        return scale * (smooth + bell - tilt * b)

    def series(highest: int) -> tuple[Floats, Floats]:
        """Compute the logarithms and signs of the coefficients.

        scale 2/sqrt(pi) (-1)^j s^n / (j! n) at n = 2j + 1.
        """
        signs = np.ones(highest + 1)
        logs = np.full(highest + 1, -np.inf)
        if tilt:
            signs[0] = -1.0
            logs[0] = math.log(scale * tilt)
        n = np.arange(1, highest + 1, 2)
        j = n // 2
        signs[1::2] = (-1.0) ** j
        root = math.sqrt(math.pi)
        factor = math.log(2.0 * scale / root)
        log_powers = n * math.log(s)
        log_factorials = gammaln(j + 1.0)
        logs[1::2] = factor + log_powers - log_factorials - np.log(n)
        return signs, logs

    def log_majorant(r: float) -> float:
        # erfi(x) = 2/sqrt(pi) exp(x^2) dawson(x), whose logarithm cannot overflow
        x = s * r
        dawson = float(dawsn(x))
        constant = 2.0 / math.sqrt(math.pi)
        log_dawson = math.log(constant * dawson)
        log_erfi = x * x + log_dawson
        if tilt:
            log_sum = float(np.logaddexp(0.0, log_erfi))
            return math.log(scale) + log_sum
        return log_erfi

    return AnalyticLoss(
        name=f"{name}, s = {s:g}",
        kind=kind,
        value=value,
        slope=lambda b: scale * (erf(s * b) - tilt),
        series=series,
        log_majorant=log_majorant,
        formula=SLOPES[name],
        s=s,
    )


WITHOUT_PARAMETER = {"squared": squared, "exponential": exponential}
SMOOTHED = {"smoothed_absolute": smoothed_absolute, "smoothed_hinge": smoothed_hinge}


def analytic_loss(name: str, s: float | None = None) -> AnalyticLoss:
    """Make the loss of a given name.

    Parameters
    ----------
    name : {"squared", "exponential", "smoothed_absolute", "smoothed_hinge"}
        The name.
    s : float, optional
        Sharpness of a smoothed loss, 1 if not given.

    Returns
    -------
    AnalyticLoss
        The loss.

    Raises
    ------
    ValueError
        If there is no such loss.

    Examples
    --------
    >>> from noisylabels.losses.analytic import analytic_loss
    >>> analytic_loss("smoothed_hinge", s=2.0).name
    'smoothed hinge, s = 2'
    """
    if name in ("hinge", "absolute"):
        reason = f"the derivative of {name!r} is not analytic, so it has no unbiased estimate"
        raise ValueError(f"loss: {reason}; take 'smoothed_{name}' with a parameter s")
    if name in WITHOUT_PARAMETER:
        return WITHOUT_PARAMETER[name]()
    names = sorted(WITHOUT_PARAMETER | SMOOTHED)
    make = SMOOTHED[choice("loss", name, names)]
    return make(1.0 if s is None else s)


def log_second_moment(loss: AnalyticLoss, r: float) -> float:
    r"""Sum the squared coefficients of a loss, weighted by powers of a radius.

    Parameters
    ----------
    loss : AnalyticLoss
        The loss.
    r : float
        The radius, above 0.

    Returns
    -------
    float
        Logarithm of the sum.

    Raises
    ------
    ValueError
        If the series does not converge at this radius.

    Examples
    --------
    >>> import math
    >>> from noisylabels.losses.analytic import log_second_moment, squared
    >>> round(math.exp(log_second_moment(squared(), 3.0)), 6)
    36.0

    Notes
    -----
    The sum is :math:`\sum_n \gamma_n^2 r^{2n}`, the tight counterpart of the squared majorant. It
    is summed until the terms are 1e-18 of the sum.
    """
    highest = 128
    while highest <= LONGEST_SERIES:
        logs = loss.series(highest)[1]
        log_powers = np.arange(highest + 1) * math.log(r)
        terms = 2.0 * (logs + log_powers)
        largest = float(terms.max())
        last = max(terms[-1], terms[-2])
        if last < largest - NEGLIGIBLE_LOG:
            scaled = np.exp(terms - largest)
            return largest + math.log(float(scaled.sum()))
        highest *= 2
    raise ValueError("loss: the series of its derivative does not converge at this radius")


def smoothing_gap(s: float, *, hinge: bool = False) -> float:
    r"""Compute by how much a smoothed loss exceeds its limit at most.

    Parameters
    ----------
    s : float
        Sharpness, above 0.
    hinge : bool, default False
        The smoothed hinge loss, not the smoothed absolute loss.

    Returns
    -------
    float
        The largest difference.

    Examples
    --------
    >>> from noisylabels.losses.analytic import smoothing_gap
    >>> round(smoothing_gap(2.0), 3)
    0.282

    Notes
    -----
    The difference is :math:`1 / (s \sqrt{\pi})`, half of it for the hinge loss.
    """
    factor = 0.5 if hinge else 1.0
    return factor / (number("s", s, above=0) * math.sqrt(math.pi))
