"""The expected bound: 1/T E sum (u.x - yhat)^2 <= eps + (p-1) X_p^2 ||u||_q^2 / T
for noise of variance eps.

Rows and target are fixed; only the noise differs between repetitions.
Every run also obeys the bound with the noise it has seen, which is checked.
"""

from typing import Any

import numpy as np

from noisylabels.filters.pnorm import PNormLMS
from noisylabels.seeding import Seeds
from reproduction.protocols.pnorm.data import Row, Theorem, bounded, instances


def rows_of(settings: dict[str, Any], seeds: Seeds, repetitions: range) -> list[Row]:
    """Rows, one repetition for each run; setting = expected, x = T, the rounds so far."""
    n, T, rows = settings["n"], settings["rounds"], []
    X = instances(seeds.generator("shared", "expected x"), "unit", T, n) * np.sqrt(n)
    u = (np.arange(n) < settings["ones"]) / np.sqrt(settings["ones"])
    clean, eps = X @ u, settings["noise"] ** 2
    marks = np.unique(np.geomspace(1, T, settings["points"]).round().astype(int))
    theorems = {"lms": Theorem.of(2.0, X), "pnorm_lms": Theorem.of("auto", X)}
    count = settings["runs"]
    for repetition in range(repetitions.start * count, repetitions.stop * count):
        noise = settings["noise"] * seeds.generator(repetition, "expected noise").standard_normal(T)
        filters = [PNormLMS(theorem.eta, theorem.p) for theorem in theorems.values()]
        guesses = PNormLMS.run_many(filters, X, clean + noise)
        seen = np.cumsum(noise**2)
        for (method, theorem), guess in zip(theorems.items(), guesses, strict=True):
            K = theorem.penalty(u)
            total = np.cumsum((clean - guess) ** 2)
            columns: Row = {"noise": f"sd {settings['noise']:g}", "method": method}
            columns |= {"setting": "expected", "repetition": repetition}
            rows += bounded(columns, "filtering", float(total[-1]), float(seen[-1] + K), T)
            for t in marks:
                loss, bound = total[t - 1] / t, eps + K / t
                values = {"mean_loss": loss, "expected_bound": bound, "expected_ratio": loss / bound}
                rows += [
                    columns | {"metric": key, "x": int(t), "value": float(v)} for key, v in values.items()
                ]
    return rows
