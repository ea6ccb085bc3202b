"""Which p for which sparsity? Filtering loss over p and the number of non-zero entries of the target.

Dense +-1 instances, u = k entries 1/sqrt(k): the energy of the target is the same for every k.
"""

from typing import Any

import numpy as np

from noisylabels.filters.pnorm import PNormLMS
from noisylabels.seeding import Seeds
from reproduction.protocols.pnorm.data import Row, Theorem, bounded, instances


def rows_of(settings: dict[str, Any], seeds: Seeds, repetitions: range) -> list[Row]:
    """Rows; setting = "k=..", x = p; metric best_p: the p of the smallest loss of each repetition."""
    n, T, rows = settings["n"], settings["rounds"], []
    for repetition in repetitions:
        X = instances(seeds.generator(repetition, "x"), "signs", T, n)
        noise = settings["noise"] * seeds.generator(repetition, "noise").standard_normal(T)
        energy = float(noise @ noise)
        theorems = [Theorem.of(p, X) for p in settings["powers"]]
        targets = {k: (np.arange(n) < k) / np.sqrt(k) for k in settings["ones"]}
        labels = np.repeat([X @ u + noise for u in targets.values()], len(theorems), axis=0)
        filters = [PNormLMS(theorem.eta, theorem.p) for _ in targets for theorem in theorems]
        guesses = PNormLMS.run_many(filters, X, labels)
        losses = ((labels - noise - guesses) ** 2).sum(axis=1).reshape(len(targets), len(theorems))
        for (k, u), line in zip(targets.items(), losses, strict=True):
            columns: Row = {"setting": f"k={k}", "method": "pnorm_lms", "repetition": repetition}
            for theorem, loss in zip(theorems, line, strict=True):
                rows += bounded(columns, "filtering", float(loss), energy + theorem.penalty(u), theorem.p)
            rows.append(columns | {"metric": "best_p", "value": theorems[int(np.argmin(line))].p})
    return rows
