"""Tasks of Algorithm 3: clean sequences, what the regret is against, and the balls and bounds that follow."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from reproduction.protocols.noisy_online.sequences import Clean, Floats

from noisylabels.kernels.surrogate import SurrogatePair, gaussian_pair, rational_pair
from noisylabels.theory import regret_bounds
from reproduction.protocols.noisy_online import comparators, sequences


@dataclass(frozen=True)
class Rival:
    """u = sum_j gamma_j Psi(c_j), which the regret is against.

    norm, surrogate_norm, alpha : gamma' K gamma, gamma' K~ gamma, and the angle between its two parts.
    loss : its mean clean loss of a round.
    """

    centres: Floats
    gamma: Floats
    norm: float
    surrogate_norm: float
    alpha: float
    loss: float

    @classmethod
    def of(cls, centres: Floats, gamma: Floats, pair: SurrogatePair, loss: float) -> "Rival":
        """Norms and angle from the Gram matrices of the centres."""
        K, K_tilde = pair.kernel(centres, centres), pair.surrogate(centres, centres)
        alpha = regret_bounds.angle(gamma, K)
        return cls(centres, gamma, float(gamma @ K @ gamma), float(gamma @ K_tilde @ gamma), alpha, loss)

    def angle_ball(self, pair: SurrogatePair) -> float:
        """B~ of Theorem 3, for all predictors of this norm and angle."""
        return regret_bounds.surrogate_ball(self.norm, self.alpha, pair.domination)


@dataclass(frozen=True)
class KernelTask:
    """Clean sequences of d inputs and the rivals to compare with; ``rounds`` of one unit of the horizon."""

    name: str
    source: str
    d: int
    rounds: int
    y_size: float
    draw: Callable[[int, np.random.Generator], Clean]
    rivals: Callable[[SurrogatePair], dict[str, Rival]]


def pair_of(kernel: dict[str, Any], d: int, variance: float) -> SurrogatePair:
    """Kernel and surrogate of the settings for noise of that variance on each of d inputs."""
    v = np.full(d, variance)
    if kernel["kind"] == "gaussian":
        return gaussian_pair(kernel["sigma2"], v)
    return rational_pair(kernel["c"], v, nodes=kernel["nodes"])


def task_of(settings: dict[str, Any]) -> KernelTask:
    """The task of the settings: a known expansion on the square, or the diabetes data."""
    return _expansion(settings) if settings["task"]["kind"] == "expansion" else _diabetes(settings)


def _expansion(settings: dict[str, Any]) -> KernelTask:
    """x uniform on [-1, 1]^d, y = f*(x) for a given f*: it is the best, with loss 0."""
    centres = np.array(settings["task"]["centres"], dtype=float)
    gamma = np.array(settings["task"]["coefficients"], dtype=float)
    d = centres.shape[1]
    plain = pair_of(settings["kernel"], d, 0.0)

    def draw(T: int, rng: np.random.Generator) -> Clean:
        X = rng.uniform(-1, 1, (T, d))
        return Clean(X, plain.kernel(X, centres) @ gamma)

    size = max(gamma[gamma > 0].sum(), -gamma[gamma < 0].sum())  # k <= 1

    def rivals(pair: SurrogatePair) -> dict[str, Rival]:
        return {"": Rival.of(centres, gamma, pair, 0.0)}

    return KernelTask("synthetic", "synthetic", d, 1, float(size), draw, rivals)


def _diabetes(settings: dict[str, Any]) -> KernelTask:
    """Passes over the diabetes data; rivals are the best functions of balls of given squared norms."""
    spec = settings["task"]
    base = sequences.real(*sequences.diabetes(), spec["components"], spec["deviation"])
    passes = sequences.base_set(base, "package")

    def rivals(pair: SurrogatePair) -> dict[str, Rival]:
        K, found = pair.kernel(base.X, base.X), {}
        for B_w in spec["balls"]:
            best = comparators.kernel(K, base.y, B_w)
            found[f"B = {B_w:g}"] = Rival.of(base.X, best.coefficients, pair, best.loss / len(base.y))
        return found

    size = float(np.abs(base.y).max())
    return KernelTask("diabetes", "package", spec["components"], len(base.y), size, passes.draw, rivals)
