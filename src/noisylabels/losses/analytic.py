"""Losses with an analytic derivative, which an unbiased estimator can reach by its Taylor series.

l'(a) = c sum_n gamma_n b^n with b = a - y, c = 1 (regression) or b = y a, y a - 1, c = y (classification).
l'_+(r) = sum_n |gamma_n| r^n bounds everything: at r = sqrt(p) R it is the price of the noise.
Source: Cesa-Bianchi, Shalev-Shwartz, Shamir 2011, Examples 1 to 4.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from noisylabels.validation import Floats, number

DIFFERENCE, MARGIN, MARGIN_LESS_ONE = range(3)
"""What b is: a - y, y a, y a - 1."""


def _squared_slope(b: float, s: float) -> float:
    return 2.0 * b


def _exponential_slope(b: float, s: float) -> float:
    return -math.exp(-b)


def _absolute_slope(b: float, s: float) -> float:
    return math.erf(s * b)


def _hinge_slope(b: float, s: float) -> float:
    return 0.5 * (math.erf(s * b) - 1.0)


def _hinge_at_0_slope(b: float, s: float) -> float:
    return 0.5 * (math.erf(s * (b - 1.0)) - 1.0)


@dataclass(frozen=True)
class AnalyticLoss:
    """value(b) and slope(b) = sum_n gamma_n b^n of the argument b, and the series as (signs, log |gamma_n|).

    kind: `DIFFERENCE`, `MARGIN` or `MARGIN_LESS_ONE`.  series(N): signs (N + 1,) and logs (N + 1,).
    log_majorant(r): log l'_+(r), r > 0.  formula: l'(b) from b and s, for compiled loops.
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
        """Is y a class, -1 or 1?"""
        return self.kind != DIFFERENCE

    def argument(self, a: ArrayLike, y: ArrayLike) -> Floats:
        """b of a prediction a and a label y."""
        a, y = np.asarray(a, dtype=float), np.asarray(y, dtype=float)
        return a - y if self.kind == DIFFERENCE else y * a - float(self.kind == MARGIN_LESS_ONE)

    def loss(self, a: ArrayLike, y: ArrayLike) -> Floats:
        """l(a, y); a, y of one shape."""
        return self.value(self.argument(a, y))

    def derivative(self, a: ArrayLike, y: ArrayLike) -> Floats:
        """The derivative of l(a, y) with respect to a."""
        slope = self.slope(self.argument(a, y))
        return np.asarray(y, dtype=float) * slope if self.classification else slope

    def coefficients(self, highest: int) -> Floats:
        """gamma_0, ..., gamma_highest; those below 1e-308 are 0 here, but not in `series`."""
        signs, logs = self.series(highest)
        return signs * np.exp(logs)

    def check_labels(self, y: Floats) -> None:
        """ValueError unless the labels are what the loss is for."""
        if self.classification and not np.isin(y, (-1.0, 1.0)).all():
            bad = np.asarray(y)[~np.isin(y, (-1.0, 1.0))].flat[0]
            raise ValueError(f"labels: the {self.name} loss needs -1 or 1, got {bad:g}")


def squared() -> AnalyticLoss:
    """(a - y)^2;  l'_+(r) = 2 r."""
    return AnalyticLoss(
        "squared",
        DIFFERENCE,
        np.square,
        lambda b: 2.0 * b,
        _squared_series,
        lambda r: math.log(2.0 * r),
        _squared_slope,
    )


def _squared_series(highest: int) -> tuple[Floats, Floats]:
    logs = np.full(highest + 1, -np.inf)
    logs[1:2] = math.log(2.0)
    return np.ones(highest + 1), logs


def exponential() -> AnalyticLoss:
    """exp(-y a);  l'_+(r) = e^r."""

    def series(highest: int) -> tuple[Floats, Floats]:
        n = np.arange(highest + 1)
        return -np.where(n % 2, -1.0, 1.0), -_log_factorial(n)

    return AnalyticLoss(
        "exponential",
        MARGIN,
        lambda b: np.exp(-b),
        lambda b: -np.exp(-b),
        series,
        lambda r: r,
        _exponential_slope,
    )


def smoothed_absolute(s: float = 1.0) -> AnalyticLoss:
    """b erf(s b) + exp(-s^2 b^2) / (s sqrt(pi)), b = a - y;  l'_+(r) = erfi(s r).

    At most 1/(s sqrt(pi)) above |b|, at b = 0. Raises ValueError: s not positive and finite.
    """
    from scipy.special import erf

    s = number("s", s, above=0)
    return AnalyticLoss(
        f"smoothed absolute, s = {s:g}",
        DIFFERENCE,
        lambda b: _smoothed_modulus(b, s),
        lambda b: erf(s * np.asarray(b)),
        lambda highest: _erf_series(highest, s, 1.0, 0.0),
        lambda r: _log_erfi(s * r),
        _absolute_slope,
        s,
    )


def smoothed_hinge(s: float = 1.0, *, centred: bool = True) -> AnalyticLoss:
    """(1/2) [b erf(s b) + exp(-s^2 b^2) / (s sqrt(pi)) - b], b = y a - 1;  l'_+(r) = (1 + erfi(s r)) / 2.

    At most 1/(2 s sqrt(pi)) above the hinge, at b = 0.
    centred: expand the derivative at b = 0, y a = 1; otherwise at y a = 0,
    with Hermite polynomials as coefficients.
    Raises ValueError: s not positive and finite.
    """
    from scipy.special import erf

    s = number("s", s, above=0)
    if centred:
        return AnalyticLoss(
            f"smoothed hinge, s = {s:g}",
            MARGIN_LESS_ONE,
            lambda b: 0.5 * (_smoothed_modulus(b, s) - b),
            lambda b: 0.5 * (erf(s * np.asarray(b)) - 1.0),
            lambda highest: _erf_series(highest, s, 0.5, -0.5),
            lambda r: math.log(0.5) + float(np.logaddexp(0.0, _log_erfi(s * r))),
            _hinge_slope,
            s,
        )
    return AnalyticLoss(
        f"smoothed hinge at 0, s = {s:g}",
        MARGIN,
        lambda b: 0.5 * (_smoothed_modulus(b - 1.0, s) - (b - 1.0)),
        lambda b: 0.5 * (erf(s * (np.asarray(b) - 1.0)) - 1.0),
        lambda highest: _hermite_series(highest, s),
        lambda r: _log_sum(lambda highest: _hermite_series(highest, s)[1], math.log(r)),
        _hinge_at_0_slope,
        s,
    )


def analytic_loss(name: str, s: float | None = None, *, centred: bool = True) -> AnalyticLoss:
    """The loss of that name; s for the two smoothed ones.

    Raises ValueError: unknown name; "hinge" or "absolute", whose derivative jumps:
    no unbiased estimate of it exists.
    """
    if name in ("hinge", "absolute"):
        raise ValueError(
            f"loss: the derivative of {name!r} is not analytic, so it has no unbiased estimate; "
            f"take 'smoothed_{name}' with a parameter s"
        )
    if name in ("squared", "exponential"):
        return squared() if name == "squared" else exponential()
    if name == "smoothed_absolute":
        return smoothed_absolute(1.0 if s is None else s)
    if name == "smoothed_hinge":
        return smoothed_hinge(1.0 if s is None else s, centred=centred)
    raise ValueError(
        f"loss: {name!r} is unknown; known: exponential, smoothed_absolute, smoothed_hinge, squared"
    )


def _smoothed_modulus(b: ArrayLike, s: float) -> Floats:
    from scipy.special import erf

    b = np.asarray(b, dtype=float)
    return b * erf(s * b) + np.exp(-((s * b) ** 2)) / (s * math.sqrt(math.pi))


def _log_factorial(n: ArrayLike) -> Floats:
    from scipy.special import gammaln

    return np.asarray(gammaln(np.asarray(n) + 1.0))


def _erf_series(highest: int, s: float, scale: float, constant: float) -> tuple[Floats, Floats]:
    """Taylor series of constant + scale erf(s b): scale 2/sqrt(pi) (-1)^j s^n / (j! n) at n = 2j + 1."""
    signs, logs = np.ones(highest + 1), np.full(highest + 1, -np.inf)
    if constant:
        signs[0], logs[0] = math.copysign(1.0, constant), math.log(abs(constant))
    n = np.arange(1, highest + 1, 2)
    j = n // 2
    signs[1::2] = np.where(j % 2, -1.0, 1.0)
    logs[1::2] = math.log(2.0 * scale / math.sqrt(math.pi)) + n * math.log(s) - _log_factorial(j) - np.log(n)
    return signs, logs


def _hermite_series(highest: int, s: float) -> tuple[Floats, Floats]:
    """Taylor series at 0 of (erf(s (b - 1)) - 1) / 2, by the recurrence of the Hermite polynomials.

    Its derivative g = s/sqrt(pi) exp(-s^2 (b-1)^2) obeys g' = 2 s^2 (1 - b) g, so
    (n + 1) g_{n+1} = 2 s^2 (g_n - g_{n-1}); the pair is rescaled at every step,
    so that nothing under- or overflows.
    """
    signs, logs = np.ones(highest + 1), np.full(highest + 1, -np.inf)
    signs[0], logs[0] = -1.0, math.log(0.5 * math.erfc(-s))
    before, now, size = 0.0, 1.0, math.log(s / math.sqrt(math.pi)) - s * s
    for n in range(1, highest + 1):
        if now != 0.0:
            signs[n], logs[n] = math.copysign(1.0, now), size + math.log(abs(now)) - math.log(n)
        before, now = now, 2.0 * s * s * (now - before) / n
        largest = max(abs(now), abs(before))
        before, now, size = before / largest, now / largest, size + math.log(largest)
    return signs, logs


def _log_erfi(x: float) -> float:
    """log erfi(x), x > 0, of any size: erfi(x) = 2/sqrt(pi) exp(x^2) dawson(x)."""
    from scipy.special import dawsn

    return x * x + math.log(2.0 / math.sqrt(math.pi) * float(dawsn(x)))


def _log_sum(logs: Callable[[int], Floats], log_r: float, power: float = 1.0) -> float:
    """log sum_n (|gamma_n| r^n)^power, summed until the terms are 1e-18 of the sum."""
    highest = 128
    while True:
        terms = power * (logs(highest) + np.arange(highest + 1) * log_r)
        top = float(terms.max())
        if max(terms[-1], terms[-2]) < top - 42.0:
            return top + math.log(float(np.exp(terms - top).sum()))
        if highest > 1_000_000:
            raise ValueError("loss: the series of its derivative does not converge at this radius")
        highest *= 2


def log_second_moment(loss: AnalyticLoss, r: float) -> float:
    """log sum_n gamma_n^2 r^(2n), r > 0: the tight counterpart of 2 log l'_+(r)."""
    return _log_sum(lambda highest: loss.series(highest)[1], math.log(r), 2.0)


def smoothing_gap(s: float, *, hinge: bool = False) -> float:
    """The largest excess of a smoothed loss over its limit: 1/(s sqrt(pi)), half of it for the hinge."""
    return (0.5 if hinge else 1.0) / (number("s", s, above=0) * math.sqrt(math.pi))
