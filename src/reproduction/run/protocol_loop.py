"""The loop of every protocol over data sets, splits, noise and methods, and its rows.

A protocol is a function of a paper's module, ``@protocol(ErrorsSettings)`` above
``def errors(settings, loop)``; an artifact names it ``code:errors``. Its settings model alone
declares what its artifacts may set.

    for repetition, split, observed, noise, method in loop.fits(settings, settings.methods):
        yield repetition.row("error", ...)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noisylabels.seeding import Seeds
from reproduction.data.prepared import read_only
from reproduction.run.points import Scored
from reproduction.run.results import Row as Row
from reproduction.run.splits import Split, random_split
from reproduction.spec.noise_kinds import Target
from reproduction.spec.settings import Drawn, M, Method, Noise, PartSettings, SplitSettings

if TYPE_CHECKING:
    from reproduction.data.prepared import Dataset

RENAMED = {
    "Walk": "Loop",
    "At": "Repetition",
    "trials": "for repetition in loop",
    "each": "on_data_sets",
    "parts": "random_splits",
    "problems": "noisy_splits",
    "on": "with_columns",
    "repetition": "number",
}
"""Name in version 1 -> the name to write now."""


def __getattr__(name: str) -> Any:
    """Refuse names of version 1, and say which names replace them."""
    if name in ("Walk", "At"):
        raise ImportError(f"{__name__}.{name} is now called {RENAMED[name]}; import that")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _refuse_old_name(instance: object, name: str) -> AttributeError:
    """Refuse an attribute of version 1, and say which name replaces it."""
    kind = type(instance).__name__
    if name in RENAMED:
        return AttributeError(f"{kind}.{name} is now called `{RENAMED[name]}`; write that")
    return AttributeError(f"{kind!r} object has no attribute {name!r}")


@dataclass(frozen=True)
class Repetition:
    """One repetition of an experiment, on one of its data sets, if any.

    It draws random numbers and makes rows, which all have its columns.

    Parameters
    ----------
    seeds : Seeds
        The seeds of the experiment, of the data set if it has any.
    number : int or str
        Number of the repetition or of the split; a word for what is shared, such as the tuning.
    columns : dict
        The columns that all its rows have.
    place : dict
        Shared with the loop: the columns of the repetition that was made last. An error names them.
    """

    seeds: Seeds
    number: int | str
    columns: Row
    place: Row = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.place.clear()
        self.place.update(self.columns)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise _refuse_old_name(self, name)

    def build(self, method: Method, **chosen: object) -> Any:
        """Build a method with the chosen parameters.

        Its ``random_state``, if it has one and neither the settings nor ``chosen`` give it, is
        drawn from a stream of the repetition, so that a run can be repeated.
        """
        model = method.build(**chosen)
        if "random_state" in method.parameters or "random_state" in chosen:
            return model
        return seeded(model, self.rng(f"method {self.columns.get('method', method.method)}"))

    def rng(self, stream: str) -> np.random.Generator:
        """Make the generator of a stream, always from its start."""
        return self.seeds.generator(self.number, stream)

    def with_columns(self, **columns: object) -> Repetition:
        """Return the same repetition with more columns, which errors also name."""
        return replace(self, columns=self.columns | columns)

    def row(self, metric: str, value: float | Scored, **columns: object) -> Row:
        """Make one row of a value, or of `Scored` labels with the share of wrong ones in %."""
        if isinstance(value, Scored):
            return self.columns | columns | value.row(metric)
        return self.columns | columns | {"metric": metric, "value": float(value)}

    def rows(self, metrics: Mapping[str, float | Scored], **columns: object) -> Iterator[Row]:
        """Make a row for each metric."""
        for metric, value in metrics.items():
            yield self.row(metric, value, **columns)

    def curve(
        self,
        metric: str,
        points: Iterable[tuple[float, float]],
        **columns: object,
    ) -> Iterator[Row]:
        """Make a row for each point (x, value)."""
        for x, value in points:
            yield self.row(metric, value, x=float(x), **columns)


@dataclass(frozen=True)
class Loop:
    """The inputs of a job next to its settings, and the repetitions that it runs.

    Iterating yields every `Repetition` of an experiment without data sets.

    Parameters
    ----------
    data : dict
        Id -> prepared data set.
    seeds : Seeds
        The seeds of the experiment.
    repetitions : range
        Numbers of the repetitions of this job.
    tuned : dict
        What the tuning job found.
    place : dict
        What is computed now: columns that messages name.
    """

    data: Mapping[str, Dataset]
    seeds: Seeds
    repetitions: range = range(1)
    tuned: Mapping[str, Any] = field(default_factory=dict)
    place: Row = field(default_factory=dict, repr=False, compare=False)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise _refuse_old_name(self, name)

    def __iter__(self) -> Iterator[Repetition]:
        for number in self.repetitions:
            yield Repetition(self.seeds, number, {"repetition": number}, self.place)

    def data_sets(self, names: Iterable[str]) -> Iterator[tuple[str, Dataset, Seeds]]:
        """Yield (name, data set, its seeds).

        Raises ValueError : a name that the artifact does not list.
        """
        by_name = {}
        for identifier, dataset in self.data.items():
            by_name[identifier.partition(".")[0]] = dataset
        for name in names:
            if name not in by_name:
                names_listed = ", ".join(sorted(by_name))
                problem = f"settings.datasets: {name!r} is not among"
                raise ValueError(f"{problem} the artifact's datasets: {names_listed}")
            yield name, by_name[name], Seeds(self.seeds.seed, self.seeds.experiment, name)

    def on_data_sets(
        self,
        names: Iterable[str],
        first: int = 0,
    ) -> Iterator[tuple[Repetition, Dataset]]:
        """Yield every repetition on every data set, with numbers from ``first``.

        ``first`` is at most half of the official splits of a set. The column ``source`` is the
        variant of the data set.
        """
        for name, dataset, seeds in self.data_sets(names):
            official = dataset.arrays.get("train")
            start = first if official is None else min(first, len(official) // 2)
            for number in self.repetitions:
                columns: Row = {"dataset": name, "source": dataset.variant}
                columns["repetition"] = start + number
                yield Repetition(seeds, start + number, columns, self.place), dataset

    def random_splits(self, settings: PartSettings) -> Iterator[tuple[Repetition, Split, Dataset]]:
        """Yield every repetition on every data set, with a random share of its rows for training.

        Both parts are in random order; they are drawn again if the training rows have one class.

        Raises ValueError : one part would have no row.
        """
        for repetition, dataset in self.on_data_sets(settings.datasets):
            y = dataset.arrays["y"]
            count = round(settings.train * len(y))
            if not 1 < count < len(y):
                rows = f"the {len(y)} rows of {repetition.columns['dataset']}"
                share = f"a share of {settings.train:g} of {rows}"
                raise ValueError(f"train: {share} leaves a part empty")
            rng = repetition.rng("split")
            order = rng.permutation(len(y))
            while len(np.unique(y[order[:count]] > 0)) < 2:
                order = rng.permutation(len(y))
            yield repetition, Split.of(dataset.arrays, order[:count], order[count:]), dataset

    def noisy_splits(
        self, settings: SplitSettings, target: Target = "two classes"
    ) -> Iterator[tuple[Repetition, Split, NDArray[Any]]]:
        """Yield every split of every data set with its observed training targets (n, L).

        The labels have one column per noise of the settings. Repetition r is split first_split + r,
        official or drawn as the settings say; those beyond the last official split are left out. Of
        a data set with fewer than 2 first_split official splits, the first one is that at its half.
        """
        for repetition, dataset in self.on_data_sets(settings.datasets, settings.first_split):
            split = split_of(dataset, repetition, settings.splits, target)
            if split is not None:
                noisy = noisy_labels(split.clean, settings.noise, repetition, target)
                yield repetition, split, noisy

    def fits(
        self,
        settings: SplitSettings,
        methods: Mapping[str, M],
        target: Target = "two classes",
    ) -> Iterator[tuple[Repetition, Split, NDArray[Any], Noise, M]]:
        """Yield the inputs of a fit for every method, split and kind of noise.

        (repetition, split, observed targets (n,), noise, method); the repetition has the columns
        ``noise`` and ``method``. The target says what is learned: two classes (0 and 1), K classes
        (0 to K - 1) or real values.
        """
        for repetition, split, noisy in self.noisy_splits(settings, target):
            for noise, observed in zip(settings.noise, noisy.T, strict=True):
                for label, method in methods.items():
                    labelled = repetition.with_columns(noise=noise.label, method=label)
                    yield labelled, split, observed, noise, method


def seeded(model: Any, rng: np.random.Generator) -> Any:
    """Draw the ``random_state`` of an estimator, if it has one, from [0, 2^31 - 1)."""
    if hasattr(model, "get_params") and "random_state" in model.get_params():
        model.set_params(random_state=int(rng.integers(2**31 - 1)))
    return model


def noisy_labels(
    clean: NDArray[Any],
    noise: Iterable[Noise],
    repetition: Repetition,
    target: Target = "two classes",
) -> NDArray[Any]:
    """Draw the observed targets, a read-only column for each noise, (n, L)."""
    columns = [kind.observe(clean, repetition.rng(f"flips {kind}"), target) for kind in noise]
    return read_only(np.stack(columns, axis=1))


def split_of(
    dataset: Dataset,
    repetition: Repetition,
    drawn: Drawn | None = None,
    target: Target = "two classes",
) -> Split | None:
    """Return the official split of the repetition; None beyond the last one.

    Of a data set without official splits, a random one.
    """
    arrays = dataset.arrays
    if "train" in arrays:
        number = int(repetition.number)
        if number >= len(arrays["train"]):
            return None
        return Split.of(arrays, arrays["train"][number], arrays["test"][number], target)
    if drawn is None:
        raise ValueError(
            f"{dataset.id} has no official splits (arrays train and test); say how to draw them: "
            "settings.splits, such as {test: 0.4, stratified: true}"
        )
    rng = repetition.rng("split")
    stratified = drawn.stratified and target != "real"
    train, test = random_split(arrays["y"], drawn.test, stratified, rng)
    return Split.of(arrays, train, test, target)
