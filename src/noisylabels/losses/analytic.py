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
from scipy.special import dawsn, erf, gammaln

from noisylabels.validation import Floats, choice, number

DIFFERENCE, MARGIN, MARGIN_LESS_ONE = range(3)
"""What b is: a - y, y a, y a - 1."""


SLOPES: dict[str, Callable[[float, float], float]] = {
    "squared": lambda b, s: 2.0 * b,
    "exponential": lambda b, s: -math.exp(-b),
    "smoothed absolute": lambda b, s: math.erf(s * b),
    "smoothed hinge": lambda b, s: 0.5 * (math.erf(s * b) - 1.0),
}
"""l'(b) of one number from b and s, for compiled loops: each is one function, so that it is compiled once."""


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
        if self.classification and len(bad := np.asarray(y)[~np.isin(y, (-1.0, 1.0))]):
            raise ValueError(f"labels: the {self.name} loss needs -1 or 1, got {bad[0]:g}")


def squared() -> AnalyticLoss:
    """(a - y)^2;  l'_+(r) = 2 r."""
    return AnalyticLoss(
        name="squared",
        kind=DIFFERENCE,
        value=np.square,
        slope=lambda b: 2.0 * b,
        series=lambda N: (np.ones(N + 1), np.where(np.arange(N + 1) == 1, math.log(2.0), -np.inf)),
        log_majorant=lambda r: math.log(2.0 * r),
        formula=SLOPES["squared"],
    )


def exponential() -> AnalyticLoss:
    """exp(-y a);  l'_+(r) = e^r."""
    return AnalyticLoss(
        name="exponential",
        kind=MARGIN,
        value=lambda b: np.exp(-b),
        slope=lambda b: -np.exp(-b),
        series=lambda N: (np.resize([-1.0, 1.0], N + 1), np.asarray(-gammaln(np.arange(N + 1) + 1.0))),
        log_majorant=lambda r: r,
        formula=SLOPES["exponential"],
    )


def smoothed_absolute(s: float = 1.0) -> AnalyticLoss:
    """b erf(s b) + exp(-s^2 b^2) / (s sqrt(pi)), b = a - y;  l'_+(r) = erfi(s r).

    At most 1/(s sqrt(pi)) above |b|, at b = 0. Raises ValueError: s not positive and finite.
    """
    return _smoothed("smoothed absolute", DIFFERENCE, s, scale=1.0, tilt=0.0)


def smoothed_hinge(s: float = 1.0) -> AnalyticLoss:
    """(1/2) [b erf(s b) + exp(-s^2 b^2) / (s sqrt(pi)) - b], b = y a - 1;  l'_+(r) = (1 + erfi(s r)) / 2.

    At most 1/(2 s sqrt(pi)) above the hinge, at b = 0. Raises ValueError: s not positive and finite.
    """
    return _smoothed("smoothed hinge", MARGIN_LESS_ONE, s, scale=0.5, tilt=1.0)


def _smoothed(name: str, kind: int, s: float, scale: float, tilt: float) -> AnalyticLoss:
    """scale [b erf(s b) + exp(-s^2 b^2) / (s sqrt(pi)) - tilt b];  l'_+(r) = scale (tilt + erfi(s r))."""
    s = number("s", s, above=0)

    def value(b: Floats) -> Floats:
        return scale * (b * erf(s * b) + np.exp(-((s * b) ** 2)) / (s * math.sqrt(math.pi)) - tilt * b)

    def series(N: int) -> tuple[Floats, Floats]:
        """scale 2/sqrt(pi) (-1)^j s^n / (j! n) at n = 2j + 1."""
        signs, logs = np.ones(N + 1), np.full(N + 1, -np.inf)
        if tilt:
            signs[0], logs[0] = -1.0, math.log(scale * tilt)
        n = np.arange(1, N + 1, 2)
        j = n // 2
        signs[1::2] = (-1.0) ** j
        factor = math.log(2.0 * scale / math.sqrt(math.pi))
        logs[1::2] = factor + n * math.log(s) - gammaln(j + 1.0) - np.log(n)
        return signs, logs

    def log_majorant(r: float) -> float:
        """Of any size: erfi(x) = 2/sqrt(pi) exp(x^2) dawson(x)."""
        x = s * r
        log_erfi = x * x + math.log(2.0 / math.sqrt(math.pi) * float(dawsn(x)))
        return math.log(scale) + float(np.logaddexp(0.0, log_erfi)) if tilt else log_erfi

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


PLAIN = {"squared": squared, "exponential": exponential}
SMOOTHED = {"smoothed_absolute": smoothed_absolute, "smoothed_hinge": smoothed_hinge}


def analytic_loss(name: str, s: float | None = None) -> AnalyticLoss:
    """The loss of that name; s for the smoothed ones.   Raises ValueError: a name that is not here."""
    if name in ("hinge", "absolute"):
        reason = f"the derivative of {name!r} is not analytic, so it has no unbiased estimate"
        raise ValueError(f"loss: {reason}; take 'smoothed_{name}' with a parameter s")
    if name in PLAIN:
        return PLAIN[name]()
    return SMOOTHED[choice("loss", name, sorted(PLAIN | SMOOTHED))](1.0 if s is None else s)


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
