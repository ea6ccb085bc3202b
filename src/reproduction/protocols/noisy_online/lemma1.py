"""Lemma 1: an unbiased estimate of f(E X) from a random number of copies, and the price of p."""

from typing import Any

import numpy as np
from scipy.special import gammaln

from noisylabels.seeding import Seeds
from noisylabels.theory.estimates import estimates, second_moment, second_moment_bound
from reproduction.protocols.noisy_online.regret import Row
from reproduction.protocols.noisy_online.sequences import Floats

HIGHEST = 160
"""Degree at which the Taylor series are cut off; the terms beyond are below 1e-100 here."""
TAME = 8.0
"""Monte Carlo second moments are compared up to this p E X^2: above it their own variance is out of hand."""


def coefficients(function: str) -> Floats:
    """Taylor coefficients gamma_0.. of exp a, erf(s a) ("erf s") or exp(-a^2) ("bell")."""
    n = np.arange(HIGHEST + 1)
    if function == "exp":
        return np.exp(-gammaln(n + 1))
    j, gamma = n // 2, np.zeros(HIGHEST + 1)
    signs = np.where(j % 2, -1.0, 1.0)
    if function == "bell":
        gamma[::2] = (signs * np.exp(-gammaln(j + 1)))[::2]
        return gamma
    s = float(function.split()[1])
    logs = np.log(2 / np.sqrt(np.pi)) + n * np.log(s) - gammaln(j + 1) - np.log(np.maximum(n, 1))
    gamma[1::2] = (signs * np.exp(logs))[1::2]
    return gamma


def sampler(law: str, EX2: float) -> tuple[float, Any]:
    """(E X, draw) with that E X^2: normal and Bernoulli have (E X)^2 = E X^2 / 2, student has E X = 0."""
    root = np.sqrt(EX2 / 2)
    if law == "normal":
        return root, lambda rng, m: root + root * rng.standard_normal(m)
    if law == "bernoulli":
        return root, lambda rng, m: 2 * root * rng.integers(0, 2, m)
    return 0.0, lambda rng, m: np.sqrt(EX2 * 3 / 5) * rng.standard_t(5, m)


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[Row]:
    """Rows; setting = function, noise = "E X^2 = ..", method = law of X, or "series" (exact), x = p."""
    rows: list[Row] = []
    powers, sizes = ([float(v) for v in settings[key]] for key in ("powers", "second_moments"))
    for function in settings["functions"]:
        gamma = coefficients(function)
        for EX2 in sizes:
            place = {"setting": function, "noise": f"E X^2 = {EX2:g}"}
            exact = {p: second_moment(gamma, p, EX2) for p in powers}
            for p, value in exact.items() if 0 in repetitions else ():
                bound = second_moment_bound(gamma, p, EX2)
                values = {"second_moment": value, "bound": bound, "bound_ratio": value / bound}
                values |= {"cost": value / (p - 1)}
                at = place | {"method": "series", "repetition": 0, "x": p}
                rows += [at | {"metric": m, "value": v} for m, v in values.items()]
            if 0 in repetitions:
                best = powers[int(np.argmin(list(exact.values())))]
                at = place | {"method": "series", "repetition": 0}
                rows.append(at | {"metric": "best_p", "value": best})
            for law in settings["laws"]:
                for p in powers:
                    for repetition in repetitions:
                        rng = seeds.generator(repetition, f"{function} {EX2:g} {law} {p:g}")
                        found = _measured(gamma, law, EX2, p, settings["samples"], rng)
                        at = place | {"method": law, "repetition": repetition, "x": p}
                        rows += [at | {"metric": m, "value": v} for m, v in found.items()]
    return rows


def _measured(
    gamma: Floats, law: str, EX2: float, p: float, samples: int, rng: np.random.Generator
) -> dict[str, float]:
    """z of the mean (where the variance is tame enough for one), second moment, z of the number of copies."""
    mean, draw = sampler(law, EX2)
    theta, n = estimates(gamma, p, draw, rng, samples)
    truth = float(np.polynomial.polynomial.polyval(mean, gamma))
    spread = np.sqrt(p) / (p - 1)  # standard deviation of a geometric number of mean 1/(p-1)
    found = {"copies_z": (float(n.mean()) - 1 / (p - 1)) / (spread / np.sqrt(samples))}
    if p * EX2 <= TAME:
        found["second_moment"] = float((theta**2).mean())
    if p * EX2 <= TAME / 2:
        found["mean_z"] = (float(theta.mean()) - truth) / (float(theta.std()) / np.sqrt(samples))
    return found
