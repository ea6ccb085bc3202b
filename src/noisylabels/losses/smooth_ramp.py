"""Parameters of the smooth ramp loss: the paper's presets, and the best fit to the ramp.

Source: Han, Tsang, Chen, ECML PKDD 2016, Sections 3.2 and 5.1.
"""

from __future__ import annotations

import math

from noisylabels.losses.margin import Loss, smooth_ramp

PRESETS = {-0.7: (3.0, -0.15), -1.0: (2.0, -0.03), -2.0: (1.5, 0.5)}
"""s -> (alpha, beta) as printed; a rounding of the least-squares fit for s = -0.7 only."""


def preset_smooth_ramp(s: float) -> Loss:
    """The smooth ramp with the paper's alpha and beta for s.

    Raises
    ------
    ValueError : an s without a preset.
    """
    if s not in PRESETS:
        known = ", ".join(map(str, PRESETS))
        raise ValueError(
            f"the paper has no smooth ramp for s = {s}, only for {known}; use fit_smooth_ramp({s})"
        )
    return smooth_ramp(s, *PRESETS[s])


def fit_smooth_ramp(s: float, criterion: str = "l2") -> Loss:
    """The smooth ramp nearest to the ramp: beta = -(1+s)/2, alpha = k/(1-s).

    By symmetry about the ramp's centre (1+s)/2 every criterion gives this beta, and by scaling a constant k:
    5.301 for "l2" (integrated square), 5.36 for "l1" (integrated modulus), 5.648 for "sup" (largest gap),
    4 for "slope" (same slope at the centre).

    Raises
    ------
    ValueError : s > 0, or an unknown criterion.
    """
    if criterion == "slope":
        k = 4.0
    elif criterion in _DISTANCES:
        from scipy.optimize import minimize_scalar

        # On v = (z - centre) / (1 - s) the ramp is clip(1/2 - v, 0, 1), the smooth ramp 1 / (1 + e^(k v)).
        k = float(
            minimize_scalar(
                _DISTANCES[criterion], bounds=(3.0, 8.0), method="bounded", options={"xatol": 1e-10}
            ).x
        )
    else:
        raise ValueError(f"unknown criterion {criterion!r}; known: {', '.join([*_DISTANCES, 'slope'])}")
    return smooth_ramp(s, k / (1.0 - s), -(1.0 + s) / 2.0)


def _excess(k: float, v: float) -> float:
    """Smooth ramp minus ramp at the scaled margin v >= 0; odd in v."""
    return 1.0 / (1.0 + math.exp(k * v)) - max(0.5 - v, 0.0)


def _l2(k: float) -> float:
    from scipy.integrate import quad

    return float(
        quad(lambda v: _excess(k, v) ** 2, 0.0, 0.5)[0] + quad(lambda v: _excess(k, v) ** 2, 0.5, 20.0)[0]
    )


def _l1(k: float) -> float:
    """Beyond v = 1/2 the difference is one-signed and integrates to ln(1 + e^(-k/2)) / k."""
    from scipy.integrate import quad
    from scipy.optimize import brentq

    zero = float(brentq(lambda v: _excess(k, v), 1e-6, 0.5)) if k > 4.0 else 1e-6
    inside = sum(abs(quad(lambda v: _excess(k, v), *part)[0]) for part in ((0.0, zero), (zero, 0.5)))
    return float(inside + math.log1p(math.exp(-k / 2.0)) / k)


def _sup(k: float) -> float:
    """The largest excess is at the corner v = 1/2; the largest deficit where k p (1 - p) = 1."""
    corner = _excess(k, 0.5)
    p = (1.0 - math.sqrt(max(1.0 - 4.0 / k, 0.0))) / 2.0
    return max(corner, abs(_excess(k, math.log((1.0 - p) / p) / k)))


_DISTANCES = {"l2": _l2, "l1": _l1, "sup": _sup}
