"""The flip probability f_k against simulation, its bounds, and what margins do to it.

setting "formula" (x = theta): f; gaussian_slack and sub_gaussian_slack, bound - f;
symmetry, |f(pi - theta) - (1 - f)|.
setting "gaussian" or "rademacher" (x = theta): share of random projections that flip the sign;
z, its distance to f in standard errors; sub_gaussian_slack, bound - share + 4 standard errors.
setting "margin" (x = smallest margin): flip_term, the mean of min(1, 2 f_k) over points whose margins
cos theta spread evenly from x to 1.
setting "some without margin": the same for points with the margin 0.9, of which 1 % have none.

Source: Kaban and Bootkrajang, LABELNOISE 2017, flip probability and its figure.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from noisylabels.seeding import Seeds
from noisylabels.theory.projections import flip_probability, gaussian_bound, simulated, sub_gaussian_bound

Row = dict[str, Any]
ENTRIES = ("gaussian", "rademacher")
POINTS = 1000  # of each set of margins


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[Row]:
    """Rows of all repetitions; only the simulations differ from one to the next."""
    rows: list[Row] = []
    for repetition in repetitions:
        for k in settings["ks"]:
            found = _formula(k, settings["angles"]) + _margins(k, settings["margins"])
            if k in settings["simulated"]:
                found += _simulations(k, settings, seeds, repetition)
            rows += [{"method": f"k={k}", "repetition": repetition} | row for row in found]
    return rows


def _formula(k: int, angles: int) -> list[Row]:
    theta = np.linspace(0, np.pi, angles)
    f, margin = flip_probability(theta, k), np.cos(theta)
    values = {
        "f": f,
        "gaussian_slack": gaussian_bound(margin, k) - f,
        "sub_gaussian_slack": sub_gaussian_bound(margin, k) - f,
        "symmetry": np.abs(flip_probability(np.pi - theta, k) - (1.0 - f)),
    }
    return [
        {"setting": "formula", "metric": metric, "x": float(x), "value": float(value)}
        for metric, column in values.items()
        for x, value in zip(theta, column, strict=True)
    ]


def _simulations(k: int, settings: dict[str, Any], seeds: Seeds, repetition: int) -> list[Row]:
    rows = []
    for entries in ENTRIES:
        rng = seeds.generator(repetition, f"projections {entries} {k}")
        for x in settings["simulated_angles"]:
            theta, n = x * np.pi, settings["trials"]
            margin = float(np.cos(theta))
            f = float(flip_probability(theta, k))
            se = float(np.sqrt(f * (1.0 - f) / n))
            share = simulated(margin, k, n, rng, entries)
            slack = float(sub_gaussian_bound(margin, k)) - share + 4.0 * se
            values = {"share": share, "z": (share - f) / se, "sub_gaussian_slack": slack}
            columns = {"setting": entries, "x": theta}
            rows += [columns | {"metric": metric, "value": value} for metric, value in values.items()]
    return rows


def _margins(k: int, smallest: list[float]) -> list[Row]:
    rows = []
    for x in smallest:
        spread = np.linspace(x, 1.0, POINTS)
        rows.append({"setting": "margin", "metric": "flip_term", "x": x, "value": _term(spread, k)})
    few = np.full(POINTS, 0.9)
    few[: POINTS // 100] = 0.0
    return [
        *rows,
        {"setting": "some without margin", "metric": "flip_term", "x": 0.0, "value": _term(few, k)},
    ]


def _term(margins: Any, k: int) -> float:
    """Mean of min(1, 2 f_k(theta)) over points with cos theta = margins."""
    return float(np.mean(np.minimum(1.0, 2.0 * flip_probability(np.arccos(margins), k))))
