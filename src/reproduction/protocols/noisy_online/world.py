"""One clean sequence with its noisy copies, the steps that theory asks for, and runs of linear learners."""

from typing import Any

import numpy as np

from noisylabels.online.base import Run
from noisylabels.online.linear import KnownCovariance, NaiveOGD, OracleOGD, TwoCopy
from noisylabels.seeding import Seeds
from noisylabels.theory import regret_bounds
from reproduction.protocols.noisy_online import comparators
from reproduction.protocols.noisy_online.sequences import Clean, Floats, Task
from reproduction.protocols.noisy_online.tasks import Copies, Noise, noise

Spec = dict[str, Any]


class World:
    """A clean sequence of T rounds and its copies, shared by all learners of a repetition.

    T, clean, least: rounds, the sequence, and the clean loss of the best vector of the ball.
    """

    def __init__(
        self, settings: dict[str, Any], task: Task, seeds: Seeds, repetition: int | str, T: int
    ) -> None:
        self.T, self._B_w, self._task, self._settings = T, settings["ball"], task, settings["noise"]
        self.clean: Clean = task.draw(T, seeds.generator(repetition, f"clean {T}"))
        self.least = comparators.linear(*self.clean, self._B_w).loss
        self._noises: dict[bool, Noise] = {False: noise(self._settings, task, T)}
        if any(spec.get("changing") for spec in settings["learners"].values()):
            rng = seeds.generator(repetition, f"covariances {T}")
            self._noises[True] = noise(self._settings, task, T, rng)
        self._copies = {
            changing: Copies(self.clean, each.law, seeds, repetition, f"{T}")
            for changing, each in self._noises.items()
        }
        self._targets = self._copies[False].targets(self._settings["target"])

    def noise(self, spec: Spec) -> Noise:
        """The noise that a learner meets."""
        return self._noises[spec.get("changing", False)]

    def gradients(self, spec: Spec) -> dict[str, float]:
        """G of Algorithms 1 and 2: bounds of the squared length of their gradient estimates."""
        B_y = self._task.y_size**2 + self._settings["target"] ** 2
        variances = self.noise(spec).variances
        B_x = self._task.x_size**2 + self.noise(spec).total
        M_4 = _fourth_moment(self._task.x_size**2, np.atleast_2d(variances))
        largest = float(variances.max())
        return {
            "two_copy": regret_bounds.two_copy_moment(self._B_w, B_x, B_y),
            "known_covariance": regret_bounds.known_covariance_moment(self._B_w, M_4, B_x, B_y, largest),
        }

    def step(self, spec: Spec, factor: float = 1.0) -> tuple[float, float | None]:
        """(eta, bound): the step of the rule times a factor, and the bound where a theorem has one."""
        G = self.gradients(spec)
        rule = 1.0 if spec["step"] == "agnostic" else G[_RULES[spec["step"]]]
        eta = factor * regret_bounds.best_step(self._B_w, rule, self.T)
        if spec["method"] not in G or "told" in spec:
            return eta, None
        return eta, regret_bounds.regret(self._B_w, G[spec["method"]], self.T, eta)

    def run(self, spec: Spec, eta: float, average_from: float) -> Run:
        """The whole run of a learner; its average begins at that share of the rounds."""
        X, y, copies = self.clean.X, self._targets, self._copies[spec.get("changing", False)]
        since = {"average_from": int(average_from * self.T)}
        match spec["method"]:
            case "oracle_ogd":
                return OracleOGD(eta, self._B_w).run(X, self.clean.y, **since)
            case "two_copy":
                return TwoCopy(eta, self._B_w).run(X, copies.copy(1), copies.copy(2), y, **since)
            case "known_covariance":
                told = spec.get("told", 1.0) * self.noise(spec).variances
                return KnownCovariance(eta, self._B_w).run(X, copies.copy(1), y, variances=told, **since)
            case _:
                m = spec.get("copies", 1)
                return NaiveOGD(eta, self._B_w, m).run(X, copies.mean(m), y, **since)


def _fourth_moment(size: float, v: Floats) -> float:
    """max_t (size + tr S_t)^2 + 2 tr S_t^2 + 4 size max S_t: bounds E ||x + n_t||^4 for ||x||^2 <= size.

    S_t = diag v_t. Exact for Gaussian noise along its largest axis; Rademacher and uniform noise have less.
    """
    total = size + v.sum(axis=1)
    return float((total**2 + 2 * (v**2).sum(axis=1) + 4 * size * v.max(axis=1)).max())


_RULES = {"G1": "two_copy", "G2": "known_covariance", "tuned": "two_copy"}
