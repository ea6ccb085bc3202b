"""Sparse target with dense instances, dense target with sparse instances: which geometry wins.

y_t = u.x_t + noise; filtering loss sum (u.x_t - yhat_t)^2 of LMS,
p-norm LMS with p = 2 ln n and EG+- against n.
"""

from typing import Any

import numpy as np

from noisylabels.filters.exponentiated import EGPlusMinus
from noisylabels.filters.lms import LMS
from noisylabels.filters.pnorm import PNormLMS
from noisylabels.seeding import Seeds
from noisylabels.theory import pnorm as loss_bounds
from noisylabels.validation import Floats
from reproduction.protocols.pnorm.data import Row, Theorem, bounded, instances


def rows_of(settings: dict[str, Any], seeds: Seeds, repetitions: range) -> list[Row]:
    """Rows; setting = name of the task, x = n."""
    rows = []
    for repetition in repetitions:
        for name, task in settings["tasks"].items():
            for n in settings["sizes"]:
                T = min(settings["rounds_per_input"] * n, task["most_rounds"])
                X = instances(seeds.generator(repetition, f"x {name} {n}"), task["instances"], T, n)
                u = np.zeros(n)
                u[: task["ones"] if task["ones"] != "all" else n] = 1.0
                noise = settings["noise"] * seeds.generator(repetition, f"noise {name} {n}").standard_normal(
                    T
                )
                rows += _filters(X, u, noise, {"setting": name, "repetition": repetition})
    return rows


def _filters(X: Floats, u: Floats, noise: Floats, columns: Row) -> list[Row]:
    n = X.shape[1]
    clean = X @ u
    y, energy = clean + noise, float(noise @ noise)
    rows = [columns | {"method": "target", "metric": "noise_energy", "x": n, "value": energy}]
    for method, p in (("lms", 2.0), ("pnorm_lms", "auto")):
        theorem = Theorem.of(p, X)
        f = LMS(theorem.eta) if method == "lms" else PNormLMS(theorem.eta, theorem.p)
        yhat = f.run(X, y)
        named = columns | {"method": method}
        loss, bound = float(((clean - yhat) ** 2).sum()), energy + theorem.penalty(u)
        rows += bounded(named, "filtering", loss, bound, n)
        rows.append(named | {"metric": "prediction_loss", "x": n, "value": float(((y - yhat) ** 2).sum())})
    budget, top = float(np.abs(u).sum()), float(np.abs(X).max())
    yhat = EGPlusMinus(1.0 / (3.0 * (budget * top) ** 2), budget).run(X, y)
    named = columns | {"method": "eg_pm"}
    bound = loss_bounds.eg_plus_minus(energy, budget, top, n)
    rows += bounded(named, "prediction", float(((y - yhat) ** 2).sum()), bound, n)
    loss = float(((clean - yhat) ** 2).sum())
    return [*rows, named | {"metric": "filtering_loss", "x": n, "value": loss}]
