"""How many copies a round of Algorithm 4 asks for: counted, against the law that depends on p alone."""

from typing import Any

import numpy as np

from noisylabels.kernels import tensor
from noisylabels.losses.analytic import squared
from noisylabels.online.analytic import AnalyticKernel
from noisylabels.seeding import Seeds
from noisylabels.theory.estimates import mean_queries, pmf
from reproduction.protocols.noisy_online.regret import Row

KERNELS = {"dot product": tensor.linear(), "gaussian": tensor.gaussian(4.0)}


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[Row]:
    """Rows; setting = kernel, method = "p = ..", x = number of copies (frequency, pmf) or rounds of a run.

    mean_z : mean against p/(p-1)^2 or three times that.
    pmf_error_ratio : largest error of a frequency over 4.5 sqrt(max pmf / rounds).
    difference_with_.. : of the counts for other noise and another dimension, with the same coin.
    """
    rows: list[Row] = []
    for repetition in repetitions:
        for name in KERNELS:
            for p in settings["powers"]:
                at = {"setting": name, "method": f"p = {p:g}", "repetition": repetition}
                rows += _counted(settings, name, p, seeds, at)
    return rows


def _counted(settings: dict[str, Any], name: str, p: float, seeds: Seeds, at: Row) -> list[Row]:
    gaussian, rows = name == "gaussian", []
    expected, highest = mean_queries(p, gaussian=gaussian), settings["most_copies"]
    law = pmf(p, 40 * int(np.ceil(expected)) + 40, gaussian=gaussian)
    k = np.arange(len(law))
    spread = float(np.sqrt(law @ k**2 - expected**2))
    for T in settings["rounds"]:
        runs = settings["rounds"][-1] // T  # short runs are repeated, so that all have as many rounds
        counts = np.concatenate(
            [_run(name, p, T, 1, 0.3, seeds, at["repetition"], part) for part in range(runs)]
        )
        z = (counts.mean() - expected) / (spread / np.sqrt(len(counts)))
        frequency = np.bincount(counts, minlength=len(law))[: len(law)] / len(counts)
        error = np.abs(frequency - law).max() / (4.5 * np.sqrt(law.max() / len(counts)))
        values = {"mean_z": z, "pmf_error_ratio": error, "mean": counts.mean(), "expected": expected}
        rows += [at | {"metric": m, "x": T, "value": float(v)} for m, v in values.items()]
    for metric, shown in (("frequency", frequency), ("pmf", law)):
        rows += [at | {"metric": metric, "x": i, "value": float(shown[i])} for i in range(highest + 1)]
    T = settings["rounds"][0]
    same = _run(name, p, T, 1, 0.3, seeds, at["repetition"], 0)
    for change, d, sd in (("noise", 1, 0.01), ("dimension", 3, 0.3)):
        other = _run(name, p, T, d, sd, seeds, at["repetition"], 0)
        worst = float(np.abs(other - same).max())
        rows.append(at | {"metric": f"difference_with_{change}", "value": worst})
    return rows


def _run(name: str, p: float, T: int, d: int, sd: float, seeds: Seeds, repetition: int, part: int) -> Any:
    """Copies asked for in every round of a run: (T,)."""
    coin = seeds.generator(repetition, f"coin {name} {p:g} {T} {part}")
    rng = seeds.generator(repetition, f"copies {name} {p:g} {T} {part} {d} {sd:g}")
    learner = AnalyticKernel(KERNELS[name], squared(), 1e-9, coin, p)
    X = np.zeros((T, d))
    return learner.run(X, lambda rounds: sd * rng.standard_normal((len(rounds), d)), np.zeros(T)).queries
