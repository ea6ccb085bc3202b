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

from noisylabels.validation import Floats, choice, number

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

    def series(highest: int) -> tuple[Floats, Floats]:
        logs = np.full(highest + 1, -np.inf)
        logs[1:2] = math.log(2.0)
        return np.ones(highest + 1), logs

    return AnalyticLoss(
        name="squared", kind=DIFFERENCE, value=np.square, slope=lambda b: 2.0 * b, series=series,
        log_majorant=lambda r: math.log(2.0 * r), formula=_squared_slope,
    )  # fmt: skip


def exponential() -> AnalyticLoss:
    """exp(-y a);  l'_+(r) = e^r."""

    def series(highest: int) -> tuple[Floats, Floats]:
        n = np.arange(highest + 1)
        return -np.where(n % 2, -1.0, 1.0), -_log_factorial(n)

    return AnalyticLoss(
        name="exponential", kind=MARGIN, value=lambda b: np.exp(-b), slope=lambda b: -np.exp(-b),
        series=series, log_majorant=lambda r: r, formula=_exponential_slope,
    )  # fmt: skip


def smoothed_absolute(s: float = 1.0) -> AnalyticLoss:
    """b erf(s b) + exp(-s^2 b^2) / (s sqrt(pi)), b = a - y;  l'_+(r) = erfi(s r).

    At most 1/(s sqrt(pi)) above |b|, at b = 0. Raises ValueError: s not positive and finite.
    """
    from scipy.special import erf

    s = number("s", s, above=0)
    return AnalyticLoss(
        name=f"smoothed absolute, s = {s:g}", kind=DIFFERENCE, value=lambda b: _smoothed_modulus(b, s),
        slope=lambda b: erf(s * np.asarray(b)), series=lambda highest: _erf_series(highest, s, 1.0, 0.0),
        log_majorant=lambda r: _log_erfi(s * r), formula=_absolute_slope, s=s,
    )  # fmt: skip


def smoothed_hinge(s: float = 1.0) -> AnalyticLoss:
    """(1/2) [b erf(s b) + exp(-s^2 b^2) / (s sqrt(pi)) - b], b = y a - 1;  l'_+(r) = (1 + erfi(s r)) / 2.

    At most 1/(2 s sqrt(pi)) above the hinge, at b = 0. Raises ValueError: s not positive and finite.
    """
    from scipy.special import erf

    s = number("s", s, above=0)
    return AnalyticLoss(
        name=f"smoothed hinge, s = {s:g}", kind=MARGIN_LESS_ONE,
        value=lambda b: 0.5 * (_smoothed_modulus(b, s) - b),
        slope=lambda b: 0.5 * (erf(s * np.asarray(b)) - 1.0),
        series=lambda highest: _erf_series(highest, s, 0.5, -0.5),
        log_majorant=lambda r: math.log(0.5) + float(np.logaddexp(0.0, _log_erfi(s * r))),
        formula=_hinge_slope, s=s,
    )  # fmt: skip


PLAIN = {"squared": squared, "exponential": exponential}
SMOOTHED = {"smoothed_absolute": smoothed_absolute, "smoothed_hinge": smoothed_hinge}


def analytic_loss(name: str, s: float | None = None) -> AnalyticLoss:
    """The loss of that name; s for the two smoothed ones.

    Raises ValueError: unknown name; "hinge" or "absolute", whose derivative jumps:
    no unbiased estimate of it exists.
    """
    if name in ("hinge", "absolute"):
        raise ValueError(
            f"loss: the derivative of {name!r} is not analytic, so it has no unbiased estimate; "
            f"take 'smoothed_{name}' with a parameter s"
        )
    if name in PLAIN:
        return PLAIN[name]()
    return SMOOTHED[choice("loss", name, sorted(PLAIN | SMOOTHED))](1.0 if s is None else s)


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


def _log_erfi(x: float) -> float:
    """log erfi(x), x > 0, of any size: erfi(x) = 2/sqrt(pi) exp(x^2) dawson(x)."""
    from scipy.special import dawsn

    return x * x + math.log(2.0 / math.sqrt(math.pi) * float(dawsn(x)))


def log_second_moment(loss: AnalyticLoss, r: float) -> float:
    """log sum_n gamma_n^2 r^(2n), r > 0: the tight counterpart of 2 log l'_+(r).

    Summed until the terms are 1e-18 of the sum. Raises ValueError: the series does not converge at r.
    """
    highest = 128
    while highest <= 2_000_000:
        terms = 2.0 * (loss.series(highest)[1] + np.arange(highest + 1) * math.log(r))
        top = float(terms.max())
        if max(terms[-1], terms[-2]) < top - 42.0:
            return top + math.log(float(np.exp(terms - top).sum()))
        highest *= 2
    raise ValueError("loss: the series of its derivative does not converge at this radius")


def smoothing_gap(s: float, *, hinge: bool = False) -> float:
    """The largest excess of a smoothed loss over its limit: 1/(s sqrt(pi)), half of it for the hinge."""
    return (0.5 if hinge else 1.0) / (number("s", s, above=0) * math.sqrt(math.pi))
