"""Algorithm 4 and its parameter p: few copies with wild estimates, or many copies with tame ones."""

from typing import Any

import numpy as np

from noisylabels.seeding import Seeds
from noisylabels.theory.estimates import mean_queries
from reproduction.protocols.noisy_online.analytic import Draws, step
from reproduction.protocols.noisy_online.analytic_tasks import AnalyticTask
from reproduction.protocols.noisy_online.regret import Row


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[Row]:
    """Rows; setting = "equal rounds" or "equal queries", x = p, with the step of the tight moment.

    query_ratio : measured copies per round over their expectation. log10_nu : of the tight moment.
    """
    n, rows = settings["instances"], []
    for p in settings["powers"]:
        task = AnalyticTask.of(settings["task"] | {"p": p}, n, seeds.generator("base", "p"))
        least, expected = task.least(), mean_queries(p, gaussian=task.kernel.sigma2 is not None)
        lengths = {"equal rounds": settings["rounds"], "equal queries": settings["queries"] / expected}
        for setting, length in lengths.items():
            T = n * max(1, round(length / n))
            y = np.tile(task.base.y, T // n)
            eta, bound = step(task, T, 1.0)
            for repetition in repetitions:
                done = Draws(task, seeds, f"p = {p:g}", repetition).analytic(eta, T)
                regret = float(task.loss.loss(done.predictions, y).sum()) - least * (T // n)
                values = {
                    "regret": regret,
                    "regret_per_round": regret / T,
                    "bound_ratio": regret / bound,
                    "queries_per_round": float(done.queries.mean()),
                    "query_ratio": float(done.queries.mean()) / expected,
                    "log10_nu": task.log_nu(tight=True) / np.log(10),
                }
                at = {"method": "analytic", "setting": setting, "repetition": repetition, "x": p}
                rows += [at | {"metric": m, "value": float(v)} for m, v in values.items()]
    return rows
