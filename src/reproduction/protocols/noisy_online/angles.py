"""Lemmas 7 and 8 on random expansions: the norm in the surrogate space against the bound by the angle."""

from typing import Any

import numpy as np
from reproduction.protocols.noisy_online.regret import Row
from reproduction.protocols.noisy_online.sequences import Floats

from noisylabels.kernels.surrogate import SurrogatePair, gaussian_pair, rational_pair
from noisylabels.seeding import Seeds
from noisylabels.theory import regret_bounds


def run(
    settings: dict[str, Any], data: dict[str, Any], seeds: Seeds, repetitions: range, tuned: dict[str, Any]
) -> list[Row]:
    """Rows; method = kernel, setting = "d = ..", x = number of the expansion.

    surrogate_norm gamma' K~ gamma, angle_bound and their ratio; the same for Lemma 7 in the space of k.
    """
    rows: list[Row] = []
    for repetition in repetitions:
        rng = seeds.generator(repetition, "expansions")
        for number in range(settings["expansions"]):
            d = int(rng.choice(settings["dimensions"]))
            for kernel, pair in _pairs(d, rng).items():
                centres, gamma = _expansion(settings, d, rng)
                columns = {"setting": f"d = {d}", "method": kernel, "repetition": repetition, "x": number}
                rows += _row(columns, pair, centres, gamma)
    return rows


def _pairs(d: int, rng: np.random.Generator) -> dict[str, SurrogatePair]:
    """A Gaussian and a truncated radial kernel with random noise, within the domain of their surrogates."""
    share = rng.uniform(0.05, 0.8, d)
    c = float(rng.uniform(0.5, 4))
    return {
        "gaussian": gaussian_pair(1.0, 0.5 * share / max(1.0, d / 4)),
        "radial": rational_pair(c, 0.5 * share * d / c / max(1.0, d / 4)),
    }


def _expansion(settings: dict[str, Any], d: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Centres of any spread; some expansions have positive coefficients only, or coinciding centres."""
    count = int(rng.integers(2, settings["most_centres"] + 1))
    centres = rng.standard_normal((count, d)) * np.exp(rng.uniform(np.log(0.01), np.log(3)))
    gamma = rng.standard_normal(count) * rng.exponential(size=count)
    kind = rng.random()
    if kind < 0.1:
        gamma = np.abs(gamma)
    if kind < 0.05:
        centres[:] = centres[0]
    return centres, gamma


def _row(columns: Row, pair: SurrogatePair, centres: Floats, gamma: Floats) -> list[Row]:
    K, K_tilde = pair.kernel(centres, centres), pair.surrogate(centres, centres)
    alpha, B_w = regret_bounds.angle(gamma, K), float(gamma @ K @ gamma)
    if np.cos(alpha) > 1 - 1e-6:  # the bound is over a million times the norm, and rounding decides
        return []
    absolute = float(np.abs(gamma) @ K @ np.abs(gamma))
    norm, bound = float(gamma @ K_tilde @ gamma), regret_bounds.surrogate_ball(B_w, alpha, pair.domination)
    values = {
        "surrogate_norm": norm,
        "angle_bound": bound,
        "lemma7_ratio": absolute / regret_bounds.surrogate_ball(B_w, alpha, 1.0),
        "lemma8_ratio": norm / bound,
    }
    return [columns | {"metric": metric, "value": value} for metric, value in values.items()]
