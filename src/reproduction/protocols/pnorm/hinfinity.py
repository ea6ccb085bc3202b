"""Largest ratio of filtering error to noise energy plus initial uncertainty:
exact, by adversary, by ascent.

rho = sum (u.x - yhat)^2 / (sum (y - u.x)^2 + (p-1) X_p^2 ||u||_q^2); see `noisylabels.theory.hinfinity`.
"""

from typing import Any

import numpy as np

from noisylabels.filters.lms import LMS
from noisylabels.filters.pnorm import PNormLMS
from noisylabels.seeding import Seeds
from noisylabels.theory import hinfinity
from noisylabels.theory.pnorm import TOLERANCE, rate
from noisylabels.validation import Floats
from reproduction.protocols.pnorm.data import Row, Theorem


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[Row]:
    """Rows of metric ratio; setting = how u and y are chosen, x = T."""
    rows = _adversaries(settings) if 0 in repetitions else []
    n = settings["n"]
    for repetition in repetitions:
        for T in settings["rounds"]:
            X = seeds.generator(repetition, f"x {T}").standard_normal((T, n))
            y = seeds.generator(repetition, f"y {T}").standard_normal(T)
            rows += _exact(X, y, {"repetition": repetition, "metric": "ratio", "x": T}, settings["steps"])
        T = settings["ascent_rounds"]
        for p in settings["powers"]:
            X = seeds.generator(repetition, f"ascent x {p}").standard_normal((T, n))
            rng = seeds.generator(repetition, f"starts {p}")
            found = [
                hinfinity.ascend(
                    X, p, Theorem.of(p, X).x_size, rng.standard_normal(n + T), settings["climbs"]
                )[0]
                for _ in range(settings["starts"])
            ]
            rows.append(
                _row("ascent", f"p={p:g}", T, repetition, _at_most_one(max(found), f"ascent, p = {p}"))
            )
    return rows


def _row(setting: str, method: str, x: float, repetition: int, value: float) -> Row:
    named = {"setting": setting, "method": method, "repetition": repetition}
    return named | {"metric": "ratio", "x": x, "value": value}


def _at_most_one(value: float, what: str) -> float:
    if value > 1 + TOLERANCE:
        raise RuntimeError(f"{what}: the ratio {value:.12g} exceeds 1, which the theorem excludes")
    return value


def _exact(X: Floats, y: Floats, columns: Row, steps: list[float]) -> list[Row]:
    """Worst u for random labels (pencil), and worst u and noise (transfer matrix), for LMS steps and RLS."""
    size = Theorem.of(2.0, X).x_size
    rows = []
    filters = {("lms" if s == 1 else f"lms x {s:g}"): hinfinity.lms_gains(X, s / size**2) for s in steps}
    for method, gains in (filters | {"rls": hinfinity.rls_gains(X)}).items():
        worst = hinfinity.worst_ratio(X, gains, size)
        given = hinfinity.worst_target(X, _predictions(X, gains, y), y, size)[0]
        if method == "lms":
            _at_most_one(given, "LMS, worst u for given labels")
            if abs(_at_most_one(worst, "LMS, worst case") - 1) > TOLERANCE:
                raise RuntimeError(f"LMS: the worst case over u and noise is {worst:.12g}, not exactly 1")
        rows += [
            columns | {"method": method, "setting": "worst u and noise", "value": worst},
            columns | {"method": method, "setting": "worst u for given labels", "value": given},
        ]
    return rows


def _predictions(X: Floats, gains: Floats, y: Floats) -> Floats:
    w, yhat = np.zeros(X.shape[1]), np.empty(len(X))
    for t, (x, g) in enumerate(zip(X, gains, strict=True)):
        yhat[t] = w @ x
        w += g * (y[t] - yhat[t])
    return yhat


def _adversaries(settings: dict[str, Any]) -> list[Row]:
    """The one-shot and the silent adversary, run against the filters themselves."""
    rows = []
    for p in (2.0, *settings["powers"]):
        method = "lms" if p == 2 else f"p={p:g}"
        for T in settings["silent_rounds"]:
            X, y, u = hinfinity.silent(settings["n"], T, 1.0, p)
            f = LMS(1.0) if p == 2 else PNormLMS(rate(p, 1.0), p)
            value = hinfinity.ratio(X, y, u, f.run(X, y), p, 1.0)
            rows.append(
                _row("silent adversary", method, T, 0, _at_most_one(value, f"silent adversary, p = {p}"))
            )
        X, y, u = hinfinity.one_shot(settings["n"], 1.0, p)
        f = LMS(1.0) if p == 2 else PNormLMS(rate(p, 1.0), p)
        value = hinfinity.ratio(X, y, u, f.run(X, y), p, 1.0)
        rows.append(
            _row("one-shot adversary", method, 1, 0, _at_most_one(value, f"one-shot adversary, p = {p}"))
        )
    return rows
