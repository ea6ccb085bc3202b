"""The walk that every protocol takes, data set x split x noise x method, its rows, and what a job is given.

A protocol is a function of a module here, ``@protocol(ErrorsSettings)`` above ``def errors(settings, walk)``;
an artifact names it ``kernels.errors``. Its settings model alone declares what its artifacts may set.

    for at, split, observed, noise, method in walk.fits(settings, settings.methods):
        yield from at.rows({"error": ...})
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from noisylabels.seeding import Seeds
from reproduction.run.points import Scored
from reproduction.run.results import Row as Row
from reproduction.run.splits import Labels, Split, random_split, zero_one
from reproduction.spec.settings import Drawn, M, Noise, PartSettings, SplitSettings

if TYPE_CHECKING:
    from reproduction.data.prepared import Dataset


@dataclass(frozen=True)
class At:
    """A place of the walk: the columns that all rows from here have, and its streams of random numbers."""

    seeds: Seeds
    repetition: int | str
    columns: Row

    def rng(self, stream: str) -> np.random.Generator:
        """The generator of a stream in this repetition."""
        return self.seeds.generator(self.repetition, stream)

    def on(self, **columns: object) -> At:
        """The same place with more columns."""
        return replace(self, columns=self.columns | columns)

    def row(self, metric: str, value: float | Scored, **columns: object) -> Row:
        """One row; of `Scored` labels, the share of wrong ones in %, kept point by point as well."""
        found = value.row(metric) if isinstance(value, Scored) else {"metric": metric, "value": float(value)}
        return self.columns | columns | found

    def rows(self, metrics: Mapping[str, float | Scored], **columns: object) -> Iterator[Row]:
        """A row for each metric."""
        for metric, value in metrics.items():
            yield self.row(metric, value, **columns)

    def curve(self, metric: str, points: Iterable[tuple[float, float]], **columns: object) -> Iterator[Row]:
        """A row for each point (x, value)."""
        for x, value in points:
            yield self.row(metric, value, x=float(x), **columns)


@dataclass(frozen=True)
class Walk:
    """What a job is given beside its settings.

    data : id -> prepared data set.   repetitions : the block of this job.   tuned : by the tuning job.
    """

    data: Mapping[str, Dataset]
    seeds: Seeds
    repetitions: range = range(1)
    tuned: Mapping[str, Any] = field(default_factory=dict)

    def trials(self) -> Iterator[At]:
        """Every repetition of an experiment without data sets."""
        for repetition in self.repetitions:
            yield At(self.seeds, repetition, {"repetition": repetition})

    def data_sets(self, names: Iterable[str]) -> Iterator[tuple[str, Dataset, Seeds]]:
        """(name, data set, its seeds). Raises ValueError : a name that the artifact does not list."""
        by_name = {identifier.partition(".")[0]: dataset for identifier, dataset in self.data.items()}
        for name in names:
            if name not in by_name:
                known = ", ".join(sorted(by_name))
                raise ValueError(f"settings.datasets: {name!r} is not among the artifact's datasets: {known}")
            yield name, by_name[name], Seeds(self.seeds.seed, self.seeds.experiment, name)

    def each(self, names: Iterable[str], first: int = 0) -> Iterator[tuple[At, Dataset]]:
        """Data set x repetition, numbered from ``first``, but at most half of the official splits of a set.

        source = variant of the data set.
        """
        for name, dataset, seeds in self.data_sets(names):
            official = dataset.arrays.get("train")
            start = first if official is None else min(first, len(official) // 2)
            for number in range(start + self.repetitions.start, start + self.repetitions.stop):
                columns: Row = {"dataset": name, "source": dataset.variant, "repetition": number}
                yield At(seeds, number, columns), dataset

    def parts(self, settings: PartSettings) -> Iterator[tuple[At, Split, Dataset]]:
        """Data set x repetition with a random share of its rows for training, drawn again if of one class.

        Both parts are in random order.   Raises ValueError : one part would have no row.
        """
        for at, dataset in self.each(settings.datasets):
            y, share, rng = dataset.arrays["y"], settings.train, at.rng("split")
            if not 1 < (count := round(share * len(y))) < len(y):
                of = f"a share of {share:g} of the {len(y)} rows of {at.columns['dataset']}"
                raise ValueError(f"train: {of} leaves a part empty")
            order = rng.permutation(len(y))
            while len(np.unique(y[order[:count]] > 0)) < 2:
                order = rng.permutation(len(y))
            yield at, Split.of(dataset.arrays, order[:count], order[count:]), dataset

    def problems(self, settings: SplitSettings) -> Iterator[tuple[At, Split, Labels]]:
        """Data set x split with the flipped training labels (n, L), one column per noise of the settings.

        Repetition r is split first_split + r, official or drawn as the settings say; those beyond the last
        official split are left out. Of a data set with fewer than 2 first_split official splits, the first
        one is that at its half.
        """
        for at, dataset in self.each(settings.datasets, settings.first_split):
            if (split := split_of(dataset, at, settings.splits)) is not None:
                yield at, split, noisy_labels(split.clean, settings.noise, at)

    def fits(
        self, settings: SplitSettings, methods: Mapping[str, M]
    ) -> Iterator[tuple[At, Split, Labels, Noise, M]]:
        """Data set x split x noise x method: (place, split, observed labels (n,), noise, method)."""
        for at, split, noisy in self.problems(settings):
            for noise, observed in zip(settings.noise, noisy.T, strict=True):
                for label, method in methods.items():
                    yield at.on(noise=noise.label, method=label), split, observed, noise, method


def seeded(model: Any, rng: np.random.Generator) -> Any:
    """The estimator, its ``random_state``, if it has one, drawn from [0, 2^31 - 1)."""
    if "random_state" in model.get_params():
        model.set_params(random_state=int(rng.integers(2**31 - 1)))
    return model


def noisy_labels(clean: Labels, noise: Iterable[Noise], at: At) -> Labels:
    """One column of flipped 0/1 labels per noise: (n, L)."""
    signs = (2 * clean - 1).astype(np.int8)
    return zero_one(np.stack([each.corrupt(signs, at.rng(f"flips {each}")) for each in noise], axis=1))


def split_of(dataset: Dataset, at: At, drawn: Drawn | None = None) -> Split | None:
    """The official split of the repetition, None beyond the last; of a data set without any, a random one."""
    arrays = dataset.arrays
    if "train" in arrays:
        if (number := int(at.repetition)) >= len(arrays["train"]):
            return None
        return Split.of(arrays, arrays["train"][number], arrays["test"][number])
    if drawn is None:
        raise ValueError(
            f"{dataset.id} has no official splits (arrays train and test); say how to draw them: "
            "settings.splits, such as {test: 0.4, stratified: true}"
        )
    return Split.of(arrays, *random_split(arrays["y"], drawn.test, drawn.stratified, at.rng("split")))
