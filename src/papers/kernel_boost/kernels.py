"""Kernel classifiers whose training labels are wrong: by flips, by several annotators, by a web search.

Selection of kernel width and parameter: ``trusted``: a share V of the training rows keeps clean labels; the
rest R, with noisy labels, is cut into folds; fits on all folds but one, each judged on V.
``trusted_holdout``: one fit on R, judged on V. ``cv``: folds of all training rows, judged on the noisy labels
of the fold that was left out. The lowest number of wrong labels wins; ties: the lowest log-loss
sum_i log(1 + exp(-s_i f(x_i))), then the widest kernel, then the largest parameter (of several, the first
counts first). Classifiers without a kernel: ties, the first in the grid. If the labels judged on
have one class only, the log-loss alone decides. The final fit is on all rows with their noisy labels:
trusted labels are never trained on.

Source: Kabán and Bootkrajang, LABELNOISE 2017, "CV (5 fold) with a trusted validation set"; this
interpretation, the rules for ties, and which random numbers are drawn where are ours, as are split, features
and what is compared of labels by people.
"""

from __future__ import annotations

import inspect
import itertools
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveInt, model_validator

from noisylabels.classifiers.kernel import Fits
from noisylabels.crowds import DawidSkene, MajorityVote, OneCoin
from noisylabels.kernels.bank import KernelBank
from noisylabels.kernels.gaussian import Gram, rate, rbf, squared_distances, useful_widths
from noisylabels.noise import flip_matrix
from noisylabels.noise.simulated_crowd import subset
from reproduction.run.protocol_loop import At, Row, Walk, noisy_labels, seeded
from reproduction.run.splits import Floats, Indices, Labels, Split, random_folds, zero_one
from reproduction.spec import settings as keys
from reproduction.spec.protocol import protocol

Selection = Literal["trusted", "trusted_holdout", "cv"]
SELECTIONS: tuple[Selection, ...] = ("trusted", "trusted_holdout", "cv")


class KernelMethod(keys.Method):
    """A method with `fit_many`, which is selected, with `fit_distances`, or any scikit-learn classifier.

    Among its ``parameters``, ``widths`` replaces those of the settings. A grid of several parameters reaches
    `fit_many` as an array (G, k), its columns in the order of the names; any other classifier is built with
    each combination.
    """

    selection: Selection | None = Field(None, description="how width and parameter are chosen")
    noise: keys.Flips | None = Field(
        None, description="those of the settings that it is run on; default: all"
    )
    grid: keys.Exponents | keys.Grid | None = Field(
        None,
        description="parameter, exponents of 2, or `{zeta: [1, 10], rho: [0, 0.2]}`, values of several; "
        "default: the method's GRID",
    )

    def check(self) -> None:
        """Check selection and grid against the class, and the parameters against the function that fits."""
        cls = self.cls
        named = self.grid if isinstance(self.grid, dict) else {}
        if named and not hasattr(cls, "fit_many"):
            keys.check_keywords(cls, {}, named)
            if self.selection is None:
                raise ValueError(f"selection: the grid needs one of {', '.join(SELECTIONS)}")
        elif self.selection or self.grid is not None:
            otherwise = "name the parameters in `grid`, or drop `selection` and `grid`"
            self.require("fit_many", "selection by cross-validation", otherwise)
        fit = next((getattr(cls, name) for name in ("fit_many", "fit_distances") if hasattr(cls, name)), cls)
        if hasattr(cls, "fit_many"):
            if self.selection is None:
                raise ValueError(f"selection: {self.method} needs one of {', '.join(SELECTIONS)}")
            if self.grid is None and not hasattr(cls, "GRID"):
                raise ValueError(f"grid: {self.method} has no GRID; give it a grid")
        keys.check_keywords(fit, self.parameters, also=["widths"])


class TrainingSettings(keys.OnDataSets):
    """Settings of an experiment that trains kernel methods as the kernel study does."""

    widths: keys.Exponents = Field(description="of the Gaussian kernels, exponents of 2")
    parametrisation: Literal["sigma2", "sigma1", "gamma"] = Field(description="see kernels.gaussian.rate")
    folds: keys.Folds
    trusted: keys.Share | None = Field(None, description="share of clean labels, for the validation only")
    methods: keys.Methods[KernelMethod]

    @model_validator(mode="after")
    def _trusted_rows(self) -> Self:
        for label, method in self.methods.items():
            if self.trusted is None and method.selection in ("trusted", "trusted_holdout"):
                raise ValueError(f"trusted: missing, and method {label} is selected by trusted labels")
        return self


class ErrorsSettings(keys.SplitSettings, TrainingSettings):
    """Settings of `errors`."""

    def setting_of(self, method: str) -> str | None:
        """How the method is selected."""
        return (self.methods[method].selection or "") if method in self.methods else None

    @model_validator(mode="after")
    def _conditions(self) -> Self:
        for label, method in self.methods.items():
            if method.noise is not None and not set(method.noise) & set(self.noise):
                own, known = ", ".join(map(str, method.noise)), ", ".join(map(str, self.noise))
                raise ValueError(f"methods.{label}.noise: none of {own} is in the settings: {known}")
        return self


class TimingSettings(ErrorsSettings):
    """Settings of `timing`."""

    timings: PositiveInt = Field(description="runs of which the median counts, after one that is not timed")


class BankMethod(keys.Method):
    """A method with several kernels, `fit_bank`."""

    def check(self) -> None:
        """Check that the class takes a bank of kernels, and its parameters."""
        self.require("fit_bank", "a protocol with kernels on single features")
        super().check()


class FeaturesSettings(keys.PartSettings):
    """Settings of `features`."""

    noise: Annotated[keys.Flips, keys.only("independent")]
    widths: keys.Exponents = Field(description="of the Gaussian kernels, exponents of 2")
    methods: keys.Methods[BankMethod]


class AnnotatorsSettings(TrainingSettings, keys.PartSettings):
    """Settings of `annotators`."""

    annotators: keys.Distinct[PositiveInt] = Field(description="labels per item")


class SearchSettings(TrainingSettings, keys.PartSettings):
    """Settings of `search`."""

    ranks: PositiveInt = Field(description="length of the list of the images that each method ranks first")


METRICS = ("error", "width", "parameter", "validation_size", "omega01", "omega10", "flagged")


@protocol(ErrorsSettings, labels=METRICS)
def errors(settings: ErrorsSettings, walk: Walk) -> Iterator[Row]:
    """Test errors; repetition = number of the split, setting = how the method was selected.

    Metrics: error, wrong test labels in %; width and parameter, what cross-validation chose, and
    validation_size, the number of rows it was judged on; omega01 and omega10, the estimated flip rates
    P(observed 1 | true 0) and P(observed 0 | true 1); flagged, 1 where the fit is a fallback or doubtful.

    Source: tables "KLR vs rKLR", "CV vs MKL", "rMKLR vs rKFD vs SVM".
    """
    methods = resolve(settings, settings.noise)
    for at, split, noisy in walk.problems(settings):
        outcomes = train(methods, split, noisy, settings, at)
        for k, noise in enumerate(settings.noise):
            for method in (m for m in methods if k in outcomes[m.label]):
                outcome = outcomes[method.label][k]
                here = at.on(noise=noise.label, method=method.label, setting=method.selection or "")
                yield here.row("error", split.scored(outcome.scores > 0))
                found: dict[str, Any] = {}
                if (choice := outcome.choice) is not None:
                    found = {"width": choice.width, **choice.parameters, "validation_size": choice.rows}
                found |= {each: getattr(outcome, each) for each in ("omega01", "omega10", "flagged")}
                yield from here.rows(
                    {k: n for k, n in found.items() if isinstance(n, int | float) and n == n}
                )


@protocol(TimingSettings, labels=("cpu_seconds",))
def timing(settings: TimingSettings, walk: Walk) -> Iterator[Row]:
    """CPU time to train on one split: distances, selection, final fit; one test row only.

    Every fold of every candidate is fitted, as on the slides. Metric: cpu_seconds, median of ``timings``
    runs. The first split of a block is also trained on once without being timed, which compiles. Unlike every
    other result table, this one differs from run to run.

    Source: table of CPU times.
    """
    methods = resolve(settings, settings.noise)
    for number, (at, split, noisy) in enumerate(walk.problems(settings)):
        alone = replace(split, X_test=split.X_test[:1], truth=split.truth[:1])
        if number == 0:
            train(methods, alone, noisy, settings, at)
        for k, noise in enumerate(settings.noise):
            for method in (m for m in methods if k in m.columns(noisy)):
                seconds, every = [], replace(method, conditions=None, complete=True)
                for _ in range(settings.timings):
                    start = time.process_time()
                    train([every], alone, noisy[:, [k]], settings, at)
                    seconds.append(time.process_time() - start)
                here = at.on(noise=noise.label, method=method.label, setting=method.selection or "")
                yield here.row("cpu_seconds", float(np.median(seconds)))


@protocol(FeaturesSettings, labels=("accuracy", "flagged"))
def features(settings: FeaturesSettings, walk: Walk) -> Iterator[Row]:
    """Accuracy of multiple-kernel classifiers with kernels on single features, under symmetric label noise.

    Kernels: every width on each feature alone and on all features, 10 (d + 1) in the paper. Every repetition
    draws a share of the rows for training; its labels are flipped independently. A method that asks for the
    true flip rate (`FLIP_RATE`) is given it. Metrics: accuracy in [0, 1] on the clean labels of the other
    rows; flagged, 1 where the fit is doubtful.

    Source: "rMKLR vs StPMKL"; split, widths and StPMKL are our choice.
    """
    rates = [noise.parameters["rate"] for noise in settings.noise]
    for at, split, _ in walk.parts(settings):
        noisy = noisy_labels(split.clean, settings.noise, at)
        D, D_out = feature_distances(split.X, split.X), feature_distances(split.X_test, split.X)
        bank = KernelBank.of_widths(np.exp2(np.asarray(settings.widths, dtype=float)), groups=len(D))
        for label, method in settings.methods.items():
            known = {method.cls.FLIP_RATE: rates} if hasattr(method.cls, "FLIP_RATE") else {}
            fits = method.cls.fit_bank(bank, D, D_out, noisy, **(known | method.parameters))
            accuracy = ((fits.scores[:, 0] > 0) == split.truth).mean(axis=1)
            for noise, value, flag in zip(settings.noise, accuracy, fits.flagged[:, 0], strict=True):
                yield from at.rows({"accuracy": value, "flagged": flag}, noise=noise.label, method=label)


def feature_distances(A: Floats, B: Floats) -> Floats:
    """Squared distances of the rows of A (n, d) and B (m, d) in each feature, then in all: (d + 1, n, m)."""
    single = [squared_distances(A[:, [j]], B[:, [j]]) for j in range(A.shape[1])]
    return np.stack([*single, squared_distances(A, B)])


LABELLED, NEW, GOLD = "labelled items", "new items", "new items and gold labels"
MAJORITY = "majority vote"
EM = {"one-coin EM": OneCoin, "two-coin EM": DawidSkene}


@protocol(AnnotatorsSettings, labels=(LABELLED, NEW, GOLD, MAJORITY, *EM, "accuracy", "gain", "flagged"))
def annotators(settings: AnnotatorsSettings, walk: Walk) -> Iterator[Row]:
    """Accuracy of aggregated labels, and of classifiers trained on them, by the number of annotators x = m.

    A repetition splits the items into a training and a test part and draws m labels of every item.

    setting "labelled items" (training part): labels by majority vote (ties by coins); by Dawid and Skene's EM
    with one or two error rates per worker, over all items; the classes that a classifier trained on the
    majority vote predicts or, if it has learned a flip matrix, the more probable true label given features
    and vote.
    setting "new items" (test part): predictions from the features alone.
    setting "new items and gold labels": the same after training on true labels, the same at every m.

    Metrics: accuracy against gold, in [0, 1]; flagged; gain, the accuracy minus that of majority vote, on the
    labelled items.

    Source: textual entailment.
    """
    methods = resolve(settings)
    for at, split, dataset in walk.parts(settings):
        n = len(split.clean)
        labels = [aggregated(dataset.arrays, m, at) for m in settings.annotators]
        votes = np.stack([each[MAJORITY][split.train] for each in labels], axis=1)
        both = replace(split, X_test=np.vstack([split.X, split.X_test]))
        noisy = np.column_stack([votes, split.clean])  # the last column: trained on gold labels
        outcomes = train(methods, both, noisy, settings, at)
        for k, m in enumerate(settings.annotators):
            right = {(LABELLED, name): each[split.train] == split.clean for name, each in labels[k].items()}
            for method in methods:
                found = outcomes[method.label]
                right |= {
                    (LABELLED, method.label): completed(found[k], votes[:, k]) == split.clean,
                    (NEW, method.label): (found[k].scores[n:] > 0) == split.truth,
                    (GOLD, method.label): (found[votes.shape[1]].scores[n:] > 0) == split.truth,
                }
                yield at.row("flagged", found[k].flagged, setting=NEW, method=method.label, x=m)
            base = float(np.mean(right[LABELLED, MAJORITY]))
            for (setting, name), each in right.items():
                here, accuracy = at.on(setting=setting, method=name, x=m), float(np.mean(each))
                yield here.row("accuracy", accuracy)
                if setting == LABELLED:
                    yield here.row("gain", accuracy - base)


def aggregated(arrays: Mapping[str, Any], m: int, at: At) -> dict[str, Labels]:
    """Labels 0 or 1 of all items from m labels each, by every way of aggregating them.

    Raises ValueError : an item with fewer than m labels.
    """
    item, n = arrays["item"], len(arrays["y"])
    if m > (fewest := int(np.bincount(item, minlength=n).min())):
        raise ValueError(f"annotators: {m} labels per item asked, but some item has only {fewest}")
    chosen = subset(item, m, at.rng("annotators"))
    item, worker, response = (arrays[key][chosen] for key in ("item", "worker", "response"))
    crowd = {"item": item, "annotator": worker, "label": response}
    methods = {MAJORITY: MajorityVote, **EM}
    found = {name: method(random_state=at.rng("ties")).fit(crowd) for name, method in methods.items()}
    return {name: zero_one(each.labels_) for name, each in found.items()}


def completed(outcome: Outcome, votes: Labels) -> NDArray[np.bool_]:
    """Is the true class of each labelled item rather 1? From f and, with a flip matrix, from its vote too."""
    f = outcome.scores[: len(votes)]
    if np.isnan(outcome.omega01):
        return np.asarray(f > 0)
    omega = flip_matrix.from_rates(outcome.omega01, outcome.omega10)
    return np.asarray(flip_matrix.posterior(f, votes.astype(float), omega) > 0.5)


@protocol(SearchSettings, labels=("search", "error", "positive", "noise_share", "flagged"))
def search(settings: SearchSettings, walk: Walk) -> Iterator[Row]:
    """Classifiers trained on what a search returned: the test error, and the images that each ranks first.

    A repetition draws a share of the rows for training with their noisy labels; the others are judged by
    their true ones. A data set without noisy labels is trained on its labels as they are. Metrics: error,
    wrong test labels in %; positive, 1 where the test image at rank x (the largest decision value has rank 1)
    is truly of the positive class; noise_share, wrong training labels in %; flagged.

    Raises ValueError : too few rows for a share, or one noisy class among the training rows.
    Source: Bike / NotBike.
    """
    methods = resolve(settings)
    for at, split, dataset in walk.parts(settings):
        observed = zero_one(dataset.arrays.get("y_noisy", dataset.arrays["y"]))[split.train]
        if len(np.unique(observed)) < 2:
            share = f"a share of {settings.train:g} of {dataset.id}"
            raise ValueError(f"train: {share} leaves one class for training")
        outcomes = train(methods, split, observed[:, np.newaxis], settings, at)
        yield at.row("noise_share", 100.0 * float(np.mean(observed != split.clean)), method="search")
        for method in methods:
            here, outcome = at.on(method=method.label), outcomes[method.label][0]
            yield here.row("error", 100.0 * float(np.mean((outcome.scores > 0) != split.truth)))
            yield here.row("flagged", outcome.flagged)
            first = split.truth[np.argsort(-outcome.scores, kind="stable")[: settings.ranks]]
            yield from here.curve("positive", enumerate(first, start=1))


# Selection and training


@dataclass(frozen=True)
class Candidate:
    """A method with the widths and values of its parameter that are tried.

    parameters : keyword arguments of `fit_many`, `fit_distances` or the class.
    grid : (G,) or, of several parameters, (G, k).   names : of the parameters.
    conditions : numbers of the noise conditions that it is run on; None: all.
    complete : whether every fold is fitted, also by what can no longer be chosen.
    """

    label: str
    cls: Any
    parameters: Mapping[str, Any]
    selection: Selection | None
    widths: Floats
    grid: NDArray[Any]
    names: tuple[str, ...] = ("parameter",)
    conditions: tuple[int, ...] | None = None
    complete: bool = False

    def columns(self, noisy: Labels) -> list[int]:
        """Its columns of the labels (n, L)."""
        return list(range(noisy.shape[1]) if self.conditions is None else self.conditions)


def resolve(settings: TrainingSettings, noise: Iterable[keys.Noise] = ()) -> list[Candidate]:
    """The methods of the settings; widths and grid in powers of 2, conditions as numbers of ``noise``."""
    listed, found = list(noise), []
    for label, m in settings.methods.items():
        parameters = dict(m.parameters)
        widths = np.exp2(np.asarray(parameters.pop("widths", settings.widths), dtype=float))
        names, given = ("parameter",), m.grid or (m.cls.GRID if m.selection else ())
        if isinstance(given, dict):
            names, combined = tuple(given), list(itertools.product(*given.values()))
            grid = np.array(combined, dtype=float if hasattr(m.cls, "fit_many") else object)
        else:
            grid = np.asarray(given if m.grid is None else np.exp2(given), dtype=float)
        conditions = None if m.noise is None else tuple(k for k, each in enumerate(listed) if each in m.noise)
        found.append(Candidate(label, m.cls, parameters, m.selection, widths, grid, names, conditions))
    return found


class Choice(NamedTuple):
    """A width, a place in the grid with its values, and the number of rows that they were judged on."""

    width: float
    number: int
    parameters: dict[str, float]
    rows: int


@dataclass(frozen=True)
class Outcome:
    """A method trained on one noise condition: decision values on the test rows, and what was chosen."""

    scores: Floats
    choice: Choice | None
    omega01: float = float("nan")
    omega10: float = float("nan")
    flagged: bool = False

    @classmethod
    def of(cls, fits: Fits, k: int, choice: Choice | None = None) -> Self:
        """Column k of fits with one value of the parameter."""
        omega01, omega10 = float(fits.omega01[k, 0]), float(fits.omega10[k, 0])
        return cls(fits.scores[k, 0], choice, omega01, omega10, bool(fits.flagged[k, 0]))


def train(
    methods: list[Candidate], split: Split, noisy: Labels, settings: TrainingSettings, at: At
) -> dict[str, dict[int, Outcome]]:
    """Select and fit every method on its columns of ``noisy`` (n, L): label -> column -> outcome."""
    D, D_test = squared_distances(split.X), squared_distances(split.X_test, split.X)
    with_kernel = [m for m in methods if hasattr(m.cls, "fit_many")]
    others = [m for m in methods if not hasattr(m.cls, "fit_many")]
    chosen: dict[str, dict[int, Choice]] = {}
    for selection in SELECTIONS:
        users, searching = ([m for m in part if m.selection == selection] for part in (with_kernel, others))
        if users or searching:
            folds = validation(selection, split.clean, noisy, settings, at)
            if users:
                chosen |= select(users, D, noisy, folds, settings.parametrisation)
            chosen |= {m.label: searched(m, split.X, noisy, folds, at) for m in searching}
    outcomes: dict[str, dict[int, Outcome]] = {m.label: {} for m in methods}
    for m in others:
        columns = m.columns(noisy)
        if hasattr(m.cls, "fit_distances"):
            kernel = {"parametrisation": settings.parametrisation, **m.parameters}
            fits = m.cls.fit_distances(D, D_test, noisy[:, columns], m.widths, **kernel)
            outcomes[m.label] = {k: Outcome.of(fits, number) for number, k in enumerate(columns)}
        else:
            rng, choices = at.rng(f"method {m.label}"), chosen.get(m.label, {})
            outcomes[m.label] = {k: _plain(m, split, noisy[:, k], rng, choices.get(k)) for k in columns}
    for width in sorted({choice.width for m in with_kernel for choice in chosen[m.label].values()}):
        gram = Gram(*(rbf(distances, width, settings.parametrisation) for distances in (D, D_test)))
        for m in with_kernel:
            for k, choice in chosen[m.label].items():
                if choice.width == width:  # every column alone: no condition depends on another
                    fits = m.cls.fit_many(gram, noisy[:, [k]], m.grid[[choice.number]], **m.parameters)
                    outcomes[m.label][k] = Outcome.of(fits, 0, choice)
    return outcomes


def _plain(
    method: Candidate, split: Split, observed: Labels, rng: np.random.Generator, choice: Choice | None
) -> Outcome:
    """Any scikit-learn classifier on the standardised features; without decision values, they are +-1."""
    parameters = {**method.parameters, **(choice.parameters if choice else {})}
    model = seeded(method.cls(**parameters), rng).fit(split.X, observed)
    if hasattr(model, "decision_function"):
        scores = model.decision_function(split.X_test)
    else:
        scores = np.where(model.predict(split.X_test) == 1, 1.0, -1.0)
    return Outcome(scores, choice, flagged=not getattr(model, "converged_", True))


class Fold(NamedTuple):
    """Rows to train on, rows to judge on, and the labels of the latter (h, L)."""

    train: Indices
    held: Indices
    labels: Labels


def validation(
    selection: Selection, clean: Labels, noisy: Labels, settings: TrainingSettings, at: At
) -> list[Fold]:
    """The folds of a kind of selection for true labels ``clean`` (n,) and observed ones ``noisy`` (n, L).

    Raises ValueError : fewer rows than folds.
    """
    n, count, every = len(noisy), settings.folds, np.arange(len(noisy))
    if selection == "cv":
        number = random_folds(n, count, at.rng("folds"))
        return [Fold(every[number != k], every[number == k], noisy[number == k]) for k in range(count)]
    assert settings.trusted is not None
    trusted = np.zeros(n, dtype=bool)
    trusted[at.rng("trusted").permutation(n)[: max(1, round(settings.trusted * n))]] = True
    held, rest = every[trusted], every[~trusted]
    labels = np.repeat(clean[held, np.newaxis], noisy.shape[1], axis=1)
    if selection == "trusted_holdout":
        return [Fold(rest, held, labels)]
    number = random_folds(len(rest), count, at.rng("folds"))
    return [Fold(rest[number != k], held, labels) for k in range(count)]


def select(
    methods: list[Candidate], D: Floats, noisy: Labels, folds: list[Fold], parametrisation: str
) -> dict[str, dict[int, Choice]]:
    """Every method's choice for its columns of ``noisy`` (n, L); D (n, n) are squared distances.

    Each kernel matrix and its basis serve all methods, noise conditions and values of the parameter. Wrong
    labels and losses only grow from fold to fold: what is already worse than the best of all folds of another
    width is fitted on no further fold. Widths near the typical distance come first.
    """
    labels = np.concatenate([fold.labels for fold in folds])
    two_classes = labels.min(axis=0) < labels.max(axis=0)
    size = len(set().union(*(fold.held.tolist() for fold in folds)))
    tried: dict[str, dict[float, NDArray[Any]]] = {m.label: {} for m in methods}
    wanted = {m.label: set(useful_widths(D, m.widths, parametrisation)) for m in methods}
    best = {m.label: np.full((2, len(m.columns(noisy)), 1), np.inf) for m in methods}
    typical = max(float(D.mean()), 1e-300)
    ordered = sorted(set().union(*wanted.values()))
    for width in sorted(ordered, key=lambda each: abs(np.log(rate(each, parametrisation) * typical))):
        K = rbf(D, width, parametrisation)
        users = [m for m in methods if width in wanted[m.label]]
        for m in users:
            tried[m.label][width] = np.zeros((2, len(m.columns(noisy)), len(m.grid)))
        for fold in folds:
            users = [m for m in users if np.isfinite(tried[m.label][width]).any()]
            if not users:
                break
            gram = Gram(K[np.ix_(fold.train, fold.train)], K[np.ix_(fold.held, fold.train)])
            for m in users:
                found, columns = tried[m.label][width], m.columns(noisy)
                skips = "wanted" in inspect.signature(m.cls.fit_many).parameters
                left = {"wanted": np.isfinite(found[0])} if skips else {}
                f = m.cls.fit_many(gram, noisy[fold.train][:, columns], m.grid, **m.parameters, **left).scores
                truth = fold.labels[:, columns].T[:, np.newaxis]
                wrong = ((f > 0) != truth).sum(axis=2) * two_classes[columns, np.newaxis]
                found += wrong, np.logaddexp(0.0, (1 - 2 * truth) * f).sum(axis=2)
                if not m.complete:
                    found[:, _beyond(found, best[m.label])] = np.inf
        for m in users:
            each, bound = tried[m.label][width], best[m.label]
            lowest = np.lexsort((each[1], each[0]))[:, :1]
            candidate = np.take_along_axis(each, lowest[np.newaxis], axis=2)
            np.copyto(bound, candidate, where=_beyond(bound, candidate))
    return {m.label: _lowest(m, tried[m.label], m.columns(noisy), size, parametrisation) for m in methods}


def _lowest(
    m: Candidate, tried: dict[float, NDArray[Any]], columns: list[int], size: int, parametrisation: str
) -> dict[int, Choice]:
    """The choice for each column, by the rule of ties; tried : width -> (wrong labels, loss) (2, L, G)."""
    width = np.repeat(list(tried), len(m.grid))
    place = np.tile(np.arange(len(m.grid)), len(tried))
    rank = np.argsort(np.lexsort(m.grid.reshape(len(m.grid), -1).T[::-1]))
    wrong, loss = np.concatenate(list(tried.values()), axis=2)
    narrow = np.array([rate(each, parametrisation) for each in width])
    chosen: dict[int, Choice] = {}
    for number, k in enumerate(columns):
        first = np.lexsort((-rank[place], narrow, loss[number], wrong[number]))[0]
        values = np.atleast_1d(m.grid[place[first]]).tolist()
        parameters = dict(zip(m.names, values, strict=True))
        chosen[k] = Choice(float(width[first]), int(place[first]), parameters, size)
    return chosen


def searched(method: Candidate, X: Floats, noisy: Labels, folds: list[Fold], at: At) -> dict[int, Choice]:
    """Choice of any classifier for its columns: the fewest wrong labels in the folds, then the first."""
    size, found = len(set().union(*(fold.held.tolist() for fold in folds))), {}
    options = [dict(zip(method.names, each, strict=True)) for each in method.grid.tolist()]
    for k in method.columns(noisy):
        wrong = np.zeros(len(options))
        for fold in folds:
            for number, parameters in enumerate(options):
                rng = at.rng(f"method {method.label} folds")
                model = seeded(method.cls(**{**method.parameters, **parameters}), rng)
                predicted = model.fit(X[fold.train], noisy[fold.train, k]).predict(X[fold.held])
                wrong[number] += np.count_nonzero(predicted != fold.labels[:, k])
        best = int(np.argmin(wrong))
        found[k] = Choice(float("nan"), best, options[best], size)
    return found


def _beyond(found: Floats, best: Floats) -> NDArray[np.bool_]:
    """Where (wrong labels, loss) comes after the best in lexicographic order."""
    return np.asarray((found[0] > best[0]) | ((found[0] == best[0]) & (found[1] > best[1])))
