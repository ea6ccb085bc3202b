"""The tasks that the settings name: where clean sequences come from, their noise, their noisy copies."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from noisylabels.noise.features import FeatureNoise
from noisylabels.seeding import Seeds
from reproduction.protocols.noisy_online import sequences
from reproduction.protocols.noisy_online.sequences import Clean, Floats, Task


def tasks(settings: dict[str, Any], data: dict[str, Any], seeds: Seeds) -> Iterator[tuple[str, Task, Seeds]]:
    """(name, task, seeds of its own): one for synthetic data or diabetes, else one for each data set."""
    spec = settings["task"]
    if spec["kind"] == "sphere":
        w = sequences.target(spec["direction"], spec["length"])
        yield "synthetic", sequences.sphere(w, spec["spread"]), seeds
    elif spec["kind"] == "diabetes":
        base = sequences.real(*sequences.diabetes(), spec["components"], "norm")
        yield "diabetes", sequences.base_set(base, "package"), seeds
    else:
        from reproduction.protocols.data_sets import data_sets

        for name, dataset, own in data_sets(settings, data, seeds):
            X, y = dataset.arrays["X"], dataset.arrays["y"]
            base = sequences.real(np.asarray(X, dtype=float), y.astype(float), spec["components"], "norm")
            yield name, sequences.base_set(base, dataset.source), own


class Noise(NamedTuple):
    """Noise on instances: its variances (d,), or (T, d) if they change every round, and its law."""

    variances: Floats
    law: FeatureNoise

    @property
    def total(self) -> float:
        """The largest total variance of a round."""
        return float(np.atleast_2d(self.variances).sum(axis=1).max())


def noise(settings: dict[str, Any], task: Task, T: int, rng: np.random.Generator | None = None) -> Noise:
    """Total variance spread evenly over the inputs, the shape cycling; with ``rng``, changing every round.

    The changing covariance is diagonal: a uniform share of the total, in random proportions.
    The total is ``settings.total``, or with "instances" the mean squared length of an instance.
    """
    total = float(np.trace(task.A)) if settings["total"] == "instances" else float(settings["total"])
    variances = np.full(task.d, total / task.d)
    if rng is not None:
        parts = rng.exponential(size=(T, task.d))
        variances = parts * (total * rng.random(T) / parts.sum(axis=1))[:, None]
    law = FeatureNoise(variances=variances, shapes=settings["shapes"], cycle=settings["cycle"])
    return Noise(variances, law)


class Copies:
    """Noisy copies of a clean sequence, by number: the same number gives the same copy to every learner."""

    def __init__(
        self, clean: Clean, law: FeatureNoise, seeds: Seeds, repetition: int | str, stream: str
    ) -> None:
        self._clean, self._law, self._stream = clean, law, stream
        self._seeds, self._repetition = seeds, repetition
        self._total, self._count = np.zeros_like(clean.X), 0
        self._kept: dict[int, Floats] = {}

    def copy(self, number: int) -> Floats:
        """x~_1..x~_T (T, d), the copies of that number, from 1."""
        if number not in self._kept:
            rng = self._seeds.generator(self._repetition, f"{self._stream} copy {number}")
            copy = self._clean.X + self._law.draw(rng, len(self._clean.y))
            if number > 2:  # only the first two are asked for again
                return copy
            self._kept[number] = copy
        return self._kept[number]

    def mean(self, count: int) -> Floats:
        """Mean of the first ``count`` copies; ask for growing counts, they are added up once."""
        if count < self._count:
            self._total, self._count = np.zeros_like(self._total), 0
        while self._count < count:
            self._count += 1
            self._total += self.copy(self._count)
        return self._total / count

    def targets(self, deviation: float) -> Floats:
        """y~_1..y~_T with Gaussian noise."""
        rng = self._seeds.generator(self._repetition, f"{self._stream} targets")
        return self._clean.y + deviation * rng.standard_normal(len(self._clean.y))
