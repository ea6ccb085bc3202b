"""The walk that every protocol takes, data set x split x noise x method, its rows, and what a job is given.

A protocol is a function of a module here, ``@protocol(ErrorsSettings)`` above ``def errors(settings, walk)``;
an artifact names it ``kernels.errors``. Its settings model alone declares what its artifacts may set.

    for at, split, observed, noise, method in walk.fits(settings, settings.methods):
        yield from at.rows({"error": ...})
"""

from __future__ import annotations

import difflib
import json
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from noisylabels.seeding import Seeds
from reproduction.code_digest import check_declared, imported, raised
from reproduction.points import KEY, Points, Scored
from reproduction.protocols.settings import Drawn, M, Noise, PartSettings, Settings, SplitSettings
from reproduction.results import COLUMNS
from reproduction.results import Row as Row
from reproduction.strict_yaml import near, texts

if TYPE_CHECKING:
    from reproduction.data.prepared import Dataset

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]
Indices = NDArray[np.int64]


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
class Split:
    """One split of a data set, standardised; labels are 0 and 1.

    X (n, d), X_test (m, d); clean (n,) and truth (m,): true labels of the training and of the test rows.
    train (n,), test (m,) : numbers of the rows in the data set.
    """

    X: Floats
    X_test: Floats
    clean: Labels
    truth: Labels
    train: Indices
    test: Indices

    def scored(self, found: NDArray[Any]) -> Scored:
        """The test rows as points of the pool, wrong where the ``found`` labels (m,) are not true.

        Raises ValueError : what was found is no label of the training rows, as NaN is not, or -1 of 0 and 1.
        """
        if not (known := np.isin(found, self.clean)).all():
            labels = ", ".join(map(str, np.unique(self.clean)))
            raise ValueError(f"a method predicts {found[~known][0]}; the labels are {labels}")
        return Scored(self.test, found != self.truth, len(self.clean) + len(self.truth))

    @classmethod
    def of(cls, arrays: Mapping[str, Any], train: Indices, test: Indices) -> Split:
        """Rows ``train`` and ``test`` of arrays X (N, d) and y (N,)."""
        y = zero_one(arrays["y"])
        return cls(*standardised(arrays["X"][train], arrays["X"][test]), y[train], y[test], train, test)


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


def zero_one(signs: NDArray[Any]) -> Labels:
    """1 where positive, else 0."""
    return (signs > 0).astype(np.int8)


def seeded(model: Any, rng: np.random.Generator) -> Any:
    """The estimator, its ``random_state``, if it has one, drawn from [0, 2^31 - 1)."""
    if "random_state" in model.get_params():
        model.set_params(random_state=int(rng.integers(2**31 - 1)))
    return model


def noisy_labels(clean: Labels, noise: Iterable[Noise], at: At) -> Labels:
    """One column of flipped 0/1 labels per noise: (n, L)."""
    signs = (2 * clean - 1).astype(np.int8)
    return zero_one(np.stack([each.corrupt(signs, at.rng(f"flips {each}")) for each in noise], axis=1))


def standardised(train: Floats, test: Floats) -> tuple[Floats, Floats]:
    """(x - mean) / std per feature, both of the training rows, std of a population; constant features: 0."""
    mean, std = train.mean(axis=0), train.std(axis=0)
    varies = train.max(axis=0) > train.min(axis=0)  # the std of a constant feature may be rounded above 0
    factor = np.divide(1.0, std, out=np.zeros_like(std), where=varies)
    return (train - mean) * factor, (test - mean) * factor


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


def random_split(
    y: NDArray[Any], test: float, stratified: bool, rng: np.random.Generator
) -> tuple[Indices, Indices]:
    """Rows (training, test), each ascending; round(test n) of them are for the test, at least one.

    stratified : the same share of every class.
    Raises ValueError : no row, or none of a class, would be left on one of the sides.
    """
    held = stratified_mask(y if stratified else np.zeros(len(y)), test, rng)
    return np.flatnonzero(~held), np.flatnonzero(held)


def stratified_mask(y: NDArray[Any], share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Mask of round(share n_c) members (at least one) of every class c; everything if share >= 1.

    Raises ValueError : a class would be empty on one of the sides.
    """
    mask = np.full(len(y), share >= 1)
    for label in np.unique(y) if share < 1 else ():
        members = rng.permutation(np.flatnonzero(y == label))
        count = max(1, round(share * len(members)))
        if count == len(members):
            raise ValueError(f"class {label} has {count} rows only: none would be left for the other part")
        mask[members[:count]] = True
    return mask


def random_folds(n: int, count: int, rng: np.random.Generator) -> Indices:
    """The fold of each of n rows, at random, sizes differing by at most one.

    Raises ValueError : fewer rows than folds.
    """
    if n < count:
        raise ValueError(f"{n} rows cannot make {count} folds; lower the setting folds")
    return stratified_folds(np.zeros(n), count, rng)


def stratified_folds(y: NDArray[Any], count: int, rng: np.random.Generator) -> Indices:
    """The fold of each row, at random within the classes of y (n,): every fold has its share of each.

    Raises ValueError : a class with fewer rows than folds.
    """
    fold = np.empty(len(y), dtype=np.int64)
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        if len(members) < count:
            few = f"class {label} has {len(members)} rows, fewer than the {count} folds"
            raise ValueError(f"{few}; lower the setting folds")
        fold[members] = np.arange(len(members)) % count
    return fold


S = TypeVar("S", bound=Settings)
Run = Callable[[S, Walk], Iterable[Row]]
Tune = Callable[[S, Walk], dict[str, Any]]


@dataclass(frozen=True)
class Protocol:
    """A protocol by its name ``module.function``: its settings model, how it runs and how it tunes, if so.

    labels : patterns (`fnmatch`) of the labels in its rows that are not words of the settings.
    """

    name: str
    settings: type[Settings]
    run: Run[Any]
    tune: Tune[Any] | None = None
    labels: tuple[str, ...] = ()


def protocol(
    settings: type[S], tune: Tune[S] | None = None, labels: tuple[str, ...] = ()
) -> Callable[[Run[S]], Run[S]]:
    """Declare a function a protocol; ``tune`` finds its parameters, on data kept apart, in an earlier job."""

    def declared(run: Run[S]) -> Run[S]:
        module = run.__globals__.get("FAMILY", run.__module__.removeprefix("reproduction.protocols."))
        ours = run.__module__.startswith("reproduction.")
        name = f"{module}{'.' if ours else ':'}{run.__name__}"
        run.protocol = Protocol(name, settings, run, tune, labels)  # type: ignore[attr-defined]
        return run

    return declared


def module_of(name: str) -> str:
    """The module of a protocol ``module.function`` of this project or ``package.module:function``."""
    return name.partition(":")[0] if ":" in name else f"reproduction.protocols.{name.rpartition('.')[0]}"


def find(name: str) -> Protocol:
    """The protocol ``module.function``, or ``package.module:function`` of one's own.

    Raises ValueError : no such module, or no protocol of that name in it; with the nearest names.
    """
    module_name, _, function = name.rpartition(":" if ":" in name else ".")
    place = module_of(name)
    try:
        check_declared(place, function, ("protocol",))
        module = imported(place)
    except ModuleNotFoundError as error:
        if not place.startswith(error.name or "-"):
            raise
        raise ValueError(f"protocol: no protocol {name!r}: no module {module_name!r}") from None
    except ValueError as error:
        raise ValueError(f"protocol: {error}") from error
    known = {key: member.protocol for key, member in vars(module).items() if hasattr(member, "protocol")}
    if function not in known:
        close = difflib.get_close_matches(function, known) or sorted(known)
        there = f"has {', '.join(close)}" if close else "has none; put @protocol(Settings) above its function"
        raise ValueError(f"protocol: no protocol {name!r}; module {module_name} {there}")
    found: Protocol = known[function]
    return found


@dataclass(frozen=True)
class Job:
    """Protocol, narrowed settings, seeds and prepared data of one job of the workflow."""

    protocol: Protocol
    settings: Settings
    seeds: Seeds
    data: dict[str, Dataset]
    words: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, text: str, data_files: Sequence[str | Path]) -> Job:
        """From JSON with protocol, experiment, seed, settings (`Plan.job`), and the prepared data files."""
        given = json.loads(text)
        data = {}
        if data_files:
            from reproduction.data.prepared import load_prepared

            data = {dataset.id: dataset for dataset in map(load_prepared, data_files)}
        found = find(given["protocol"])
        settings = found.settings.model_validate(given["settings"])
        settings.check_custom()
        return cls(
            found, settings, Seeds(given["seed"], given["experiment"]), data, [*texts(given["settings"])]
        )

    def tune(self) -> dict[str, Any]:
        """Tuned parameters as they come back from a file; {} if the protocol does not tune."""
        tune = self.protocol.tune
        tuned = tune(self.settings, Walk(self.data, self.seeds)) if tune else {}
        return dict(json.loads(json.dumps(tuned, sort_keys=True)))

    def run(self, repetitions: str, tuned: Mapping[str, Any]) -> tuple[list[Row], Points]:
        """Rows of the result table for a half-open range of repetitions, ``0:5``, and the points tested."""
        points = Points()
        handed = Walk(self.data, self.seeds, range(*map(int, repetitions.split(":"))), tuned)
        rows = self.protocol.run(self.settings, handed)
        return points.take(self._checked(rows) if ":" in self.protocol.name else rows), points

    def _checked(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Rows of one's own protocol, the first mistake named at once. Raises ValueError."""
        place, seen = self.protocol.name, set[object]()
        declared = [*self.protocol.labels, *self.words]
        try:
            for number, row in enumerate(rows):
                if unknown := sorted(set(row) - {*COLUMNS, KEY}):
                    said = f"row {number} has the columns {unknown}; a row has {', '.join(COLUMNS)}"
                    raise ValueError(f"protocol {place}: {said}")
                if (metric := row.get("metric")) not in seen:
                    seen.add(metric)
                    if not any(fnmatchcase(str(metric), each) for each in declared):
                        said = f"row {number} has the metric {metric!r}{near(metric, self.protocol.labels)}"
                        raise ValueError(f"protocol {place}: {said}; declare it: @protocol(..., labels=...)")
                yield row
        except Exception as error:
            if str(error).startswith(f"protocol {place}: "):
                raise
            traceback.print_exc()
            raise ValueError(f"protocol {place}: {raised(error)}") from None
