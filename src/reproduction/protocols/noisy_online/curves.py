"""The two figures of the paper: a radial kernel beside its truncation, and losses beside their smoothings.

No randomness: the repetition is 0.
"""

from typing import Any

import numpy as np
from reproduction.protocols.noisy_online.regret import Row

from noisylabels.kernels.surrogate import rational, truncated_rational
from noisylabels.losses.analytic import smoothed_absolute, smoothed_hinge, smoothing_gap
from noisylabels.seeding import Seeds


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[Row]:
    """Rows of `kernels` if the settings have ``truncations``, of `losses` if they have ``sharpness``."""
    low, high = settings["range"]
    x = np.linspace(low, high, settings["points"])
    if "truncations" in settings:
        return kernels(x, settings["truncations"])
    return losses(x, settings["sharpness"])


def kernels(x: Any, truncations: list[float]) -> list[Row]:
    """Rows; setting = "c = ..", method k or k_c, x = ||x - x'|| in one dimension.

    gap_error = max |k - k_c| - e^-c, which the mathematics makes 0, attained at x = 0.
    """
    rows = []
    k = rational(x**2)
    for c in truncations:
        k_c = truncated_rational(x**2, c)
        columns = {"setting": f"c = {c:g}", "repetition": 0}
        rows += _curve(columns | {"method": "k", "metric": "kernel"}, x, k)
        rows += _curve(columns | {"method": "k_c", "metric": "kernel"}, x, k_c)
        error = float(np.abs(k - k_c).max() - np.exp(-c))
        rows.append(columns | {"method": "k_c", "metric": "gap_error", "value": error})
        ratio = float((k_c / k).min() - (1 - np.exp(-c)))
        rows.append(columns | {"method": "k_c", "metric": "smallest_ratio_error", "value": ratio})
    return rows


def losses(x: Any, sharpness: list[float]) -> list[Row]:
    """Rows; setting absolute (x = a - y) or hinge (x = y a), method "exact" or "s = ..".

    gap_error = max (smoothed - exact) - its formula; smallest_excess = min (smoothed - exact), never below 0.
    """
    rows = []
    for setting, shift, smoothed in (("absolute", 0.0, smoothed_absolute), ("hinge", 1.0, smoothed_hinge)):
        b = x - shift
        exact = np.abs(b) if setting == "absolute" else np.maximum(-b, 0)
        columns = {"setting": setting, "repetition": 0}
        rows += _curve(columns | {"method": "exact", "metric": "loss"}, x, exact)
        for s in sharpness:
            above = smoothed(s).value(b)
            own = columns | {"method": f"s = {s:g}"}
            rows += _curve(own | {"metric": "loss"}, x, above)
            error = float((above - exact).max() - smoothing_gap(s, hinge=setting == "hinge"))
            rows.append(own | {"metric": "gap_error", "value": error})
            rows.append(own | {"metric": "smallest_excess", "value": float((above - exact).min())})
    return rows


def _curve(columns: Row, x: Any, y: Any) -> list[Row]:
    return [columns | {"x": float(a), "value": float(b)} for a, b in zip(x, y, strict=True)]
