"""One clean sequence with two noisy copies, the step of Theorems 3 and 5, and the kernel learners on it."""

from typing import Any

import numpy as np

from noisylabels.kernels.surrogate import SurrogatePair
from noisylabels.online.kernel import NaiveKernelOGD, SurrogateKernel
from noisylabels.seeding import Seeds
from noisylabels.theory import regret_bounds
from reproduction.protocols.noisy_online.kernel_tasks import KernelTask, Rival
from reproduction.protocols.noisy_online.sequences import Clean, Floats


def ball_of(settings: dict[str, Any], rival: Rival, pair: SurrogatePair) -> float:
    """B~: by the angle (Theorem 3), or the surrogate norm of the rival itself, which is sharper."""
    return rival.angle_ball(pair) if settings["radius"] == "angle" else rival.surrogate_norm


class Round:
    """A clean sequence of T rounds, its two copies and its targets, and the learners on it."""

    def __init__(
        self, settings: dict[str, Any], task: KernelTask, pair: SurrogatePair, seeds: Seeds,
        repetition: int | str, T: int,
    ) -> None:  # fmt: skip
        self.T, self.pair = T, pair
        self.clean: Clean = task.draw(T, seeds.generator(repetition, f"clean {T}"))
        scale = float(np.sqrt(settings["variance"]))
        self._copies = [
            self.clean.X + scale * seeds.generator(repetition, f"{T} copy {i}").standard_normal((T, task.d))
            for i in (1, 2)
        ]
        errors = seeds.generator(repetition, f"{T} targets").standard_normal(T)
        self._y = self.clean.y + settings["target"] * errors
        self._B_y = task.y_size**2 + settings["target"] ** 2

    def step(self, ball: float, factor: float) -> tuple[float, float]:
        """(eta, bound) of Theorems 3 and 5, the step times a factor."""
        G = regret_bounds.surrogate_moment(ball, self.pair.diagonal, self._B_y)
        eta = factor * regret_bounds.best_step(ball, G, self.T)
        return eta, regret_bounds.regret(ball, G, self.T, eta)

    def loss(self, method: str, eta: float, ball: float) -> float:
        """Total clean loss of a learner, predictions made before each update."""
        _, predictions = self.learn(method, eta, ball)
        return float(((predictions - self.clean.y) ** 2).sum())

    def learn(self, method: str, eta: float, ball: float) -> tuple[SurrogateKernel, Floats]:
        """The learner after the run and its predictions on the clean instances."""
        first, second = self._copies
        if method.startswith("naive_kernel"):
            naive = NaiveKernelOGD(self.pair, eta, ball)
            return naive, naive.run(self.clean.X, first, self._y).predictions
        learner = SurrogateKernel(self.pair, eta, ball)
        second = first if method == "same_copy" else second
        return learner, learner.run(self.clean.X, first, second, self._y).predictions
