"""Moving targets: a jump, a drift, and several jumps of the same size.

+-1 instances, y_t = u_t.x_t + noise; bounded p-norm LMS, ||w||_q <= U_q,
for factors on U_q and on the theorem's eta.
"""

from itertools import pairwise
from typing import Any

import numpy as np

from noisylabels.filters.base import window_means, window_starts
from noisylabels.filters.pnorm import BoundedPNormLMS, PNormLMS
from noisylabels.seeding import Seeds
from noisylabels.theory import pnorm as loss_bounds
from noisylabels.theory.pnorm import dual, norm
from noisylabels.validation import Floats
from reproduction.protocols.pnorm.data import Row, Theorem, bounded, instances


def targets(scenario: str, T: int, n: int) -> Floats:
    """u_1..u_T (T, n): a = three ones at 1-3, b = three -1 at the middle;
    "drift", or "jumps K" between a and b."""
    a, b = np.zeros(n), np.zeros(n)
    a[:3], b[n // 2 : n // 2 + 3] = 1.0, -1.0
    share = np.arange(T) / (T - 1)
    if scenario != "drift":
        share = np.floor(np.arange(T) * (int(scenario.split()[1]) + 1) / T) % 2
    return np.outer(1 - share, a) + np.outer(share, b)


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[Row]:
    """Rows; noise = scenario, setting = "U=.. eta=..", x: round (tracking_error) or share of the run.

    settled_error is the mean error in the last eighth of T up to there; loss_slope is explained in `_slopes`.
    """
    n, T, rows = settings["n"], settings["rounds"], []
    lengths: dict[tuple[str, str], float] = {}
    paths = {scenario: targets(scenario, T, n) for scenario in settings["scenarios"]}
    for repetition in repetitions:
        X = instances(seeds.generator(repetition, "x"), "signs", T, n)
        noise = settings["noise"] * seeds.generator(repetition, "noise").standard_normal(T)
        theorems = {"lms": Theorem.of(2.0, X), "pnorm_lms": Theorem.of("auto", X)}
        jobs = [
            (scenario, method, theorem, U, eta)
            for scenario in settings["scenarios"]
            for method, theorem in theorems.items()
            for U in settings["radius_factors"]
            for eta in settings["rate_factors"]
            if (U, eta) == (1, 1) or scenario in settings["all_factors"]
        ]
        clean = {scenario: np.einsum("tn,tn->t", X, u) for scenario, u in paths.items()}
        filters = [_filter(theorem, U, eta, paths[scenario]) for scenario, _, theorem, U, eta in jobs]
        guesses = PNormLMS.run_many(filters, X, np.array([clean[job[0]] + noise for job in jobs]))
        for (scenario, method, theorem, U, eta), guess in zip(jobs, guesses, strict=True):
            setting = f"U={U} eta={eta:g}"
            columns = {"noise": scenario, "setting": setting, "method": method, "repetition": repetition}
            errors = (clean[scenario] - guess) ** 2
            if (scenario, method) not in lengths:
                lengths[scenario, method] = path_length(paths[scenario], dual(theorem.p))
            path = lengths[scenario, method]
            rows += _measures(errors, float(noise @ noise), theorem, paths[scenario], path, U, eta, columns)
            rows += [
                columns | {"metric": "settled_error", "x": x, "value": float(part[-T // 8 :].mean())}
                for x, part in ((0.5, errors[: T // 2]), (1.0, errors))
            ]
            if scenario in settings["all_factors"] and (U, eta) in ((1, 1), (1, 0.2), ("inf", 1)):
                starts = window_starts(T, settings["windows"])
                ends = np.append(starts[1:], T)
                rows += [
                    columns | {"metric": "tracking_error", "x": int(t), "value": float(value)}
                    for t, value in zip(ends, window_means(errors, starts), strict=True)
                ]
    return rows + _slopes(rows)


def path_length(u: Floats, q: float) -> float:
    """sum_t ||u_{t+1} - u_t||_q; u: (T, n)."""
    moves = np.diff(u, axis=0)
    return float(norm(moves[moves.any(axis=1)], q).sum())


def _radius(theorem: Theorem, u: Floats) -> float:
    return max(float(norm(u[t], dual(theorem.p))) for t in (0, len(u) - 1, len(u) // 2))


def _filter(theorem: Theorem, U: float | str, eta: float, u: Floats) -> PNormLMS:
    if U == "inf":
        return PNormLMS(eta * theorem.eta, theorem.p)
    return BoundedPNormLMS(eta * theorem.eta, theorem.p, float(U) * _radius(theorem, u))


def _measures(
    errors: Floats, energy: float, theorem: Theorem, u: Floats, path: float,
    U: float | str, eta: float, columns: Row,
) -> list[Row]:  # fmt: skip
    """Filtering loss; where the theorem applies (eta its own, U_q large enough) with bound,
    ratio and path length."""
    loss = float(errors.sum())
    if U == "inf" or float(U) < 1 or eta != 1:
        return [columns | {"metric": "filtering_loss", "value": loss}]
    radius = float(U) * _radius(theorem, u)
    bound = loss_bounds.moving(energy, theorem.p, theorem.x_size, radius, path)
    price = 2 * (theorem.p - 1) * theorem.x_size**2 * radius * path
    more = {"path_price": price, "excess_loss": loss - energy}
    return bounded(columns, "filtering", loss, bound) + [
        columns | {"metric": metric, "value": value} for metric, value in more.items()
    ]


def _slopes(rows: list[Row]) -> list[Row]:
    """loss_slope of "jumps K": added loss over added price of the path,
    from the next smaller number of jumps."""
    found: dict[tuple[Any, ...], dict[int, dict[str, float]]] = {}
    for row in rows:
        if row["noise"].startswith("jumps") and row["metric"] in ("path_price", "excess_loss"):
            key = (row["method"], row["setting"], row["repetition"])
            jumps = found.setdefault(key, {}).setdefault(int(row["noise"].split()[1]), {})
            jumps[row["metric"]] = row["value"]
    slopes = []
    for (method, setting, repetition), by_jumps in found.items():
        for fewer, more in pairwise(sorted(by_jumps)):
            a, b = by_jumps[fewer], by_jumps[more]
            value = (b["excess_loss"] - a["excess_loss"]) / (b["path_price"] - a["path_price"])
            columns = {
                "noise": f"jumps {more}",
                "setting": setting,
                "method": method,
                "repetition": repetition,
            }
            slopes.append(columns | {"metric": "loss_slope", "value": value})
    return slopes
