"""The prediction bound: loss against y_t for a grid of alpha and for the alpha* of the bound."""

from typing import Any

import numpy as np

from noisylabels.filters.pnorm import PNormLMS
from noisylabels.seeding import Seeds
from noisylabels.theory import pnorm as loss_bounds
from reproduction.protocols.pnorm.data import Row, Theorem, bounded, instances


def rows_of(settings: dict[str, Any], seeds: Seeds, repetitions: range) -> list[Row]:
    """Rows; noise = "sd ..", setting = grid | tuned, x = alpha (grid)."""
    n, T, rows = settings["n"], settings["rounds"], []
    u = (np.arange(n) < settings["ones"]).astype(float)
    for repetition in repetitions:
        X = instances(seeds.generator(repetition, "prediction x"), "gaussian", T, n)
        standard = seeds.generator(repetition, "prediction noise").standard_normal(T)
        jobs: list[tuple[Row, Theorem, float, float, float]] = []
        for method, p in (("lms", 2.0), ("pnorm_lms", "auto")):
            theorem = Theorem.of(p, X)
            K = theorem.penalty(u)
            for sd in settings["noises"]:
                energy = float((sd * standard) @ (sd * standard))
                columns = {"noise": f"sd {sd:g}", "method": method, "repetition": repetition}
                best = loss_bounds.best_alpha(energy, K)
                jobs += [(columns | {"setting": "grid"}, theorem, sd, a, energy) for a in settings["alphas"]]
                jobs.append((columns | {"setting": "tuned"}, theorem, sd, best, energy))
        labels = np.array([X @ u + sd * standard for _, _, sd, _, _ in jobs])
        filters = [
            PNormLMS(loss_bounds.rate(theorem.p, theorem.x_size, a), theorem.p)
            for _, theorem, _, a, _ in jobs
        ]
        losses = ((PNormLMS.run_many(filters, X, labels) - labels) ** 2).sum(axis=1)
        for (columns, theorem, _, alpha, energy), loss in zip(jobs, losses, strict=True):
            bound = loss_bounds.prediction(energy, theorem.penalty(u), alpha)
            x = alpha if columns["setting"] == "grid" else float("nan")
            rows += bounded(columns, "prediction", float(loss), bound, x)
            if columns["setting"] == "tuned":
                rows.append(columns | {"metric": "alpha", "value": alpha})
    return rows
