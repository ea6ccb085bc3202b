"""Kernel classifiers whose training labels are partly flipped: errors, CPU times, kernels on single features.

Selection of kernel width and parameter: ``trusted``: a share V of the training rows keeps clean labels; the
rest R, with noisy labels, is cut into folds; fits on all folds but one, each judged on V.
``trusted_holdout``: one fit on R, judged on V. ``cv``: folds of all training rows, judged on the noisy labels
of the fold that was left out. The lowest number of wrong labels wins; ties: the lowest log-loss
sum_i log(1 + exp(-s_i f(x_i))), then the widest kernel, then the largest parameter. If the labels judged on
have one class only, the log-loss alone decides. The final fit is on all rows with their noisy labels:
trusted labels are never trained on.

Source: Kaban and Bootkrajang, LABELNOISE 2017, "CV (5 fold) with a trusted validation set"; this
interpretation, the rules for ties, and which random numbers are drawn where are ours.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveInt, model_validator

from noisylabels.classifiers.kernel import Fits
from noisylabels.kernels.bank import KernelBank
from noisylabels.kernels.gaussian import Gram, rate, rbf, squared_distances, useful_widths
from reproduction.protocols.settings import (
    Exponents,
    Flips,
    Folds,
    Method,
    Methods,
    Noise,
    OnDataSets,
    Share,
    SplitSettings,
    only,
)
from reproduction.protocols.walk import (
    At,
    Floats,
    Indices,
    Labels,
    Row,
    Split,
    Walk,
    noisy_labels,
    protocol,
    random_folds,
    share_split,
)

Selection = Literal["trusted", "trusted_holdout", "cv"]
SELECTIONS: tuple[Selection, ...] = ("trusted", "trusted_holdout", "cv")


class KernelMethod(Method):
    """A method with `fit_many`, which is selected, with `fit_distances`, or any scikit-learn classifier.

    Among its ``parameters``, ``widths`` replaces those of the settings.
    """

    selection: Selection | None = Field(None, description="how width and parameter are chosen")
    noise: Flips | None = Field(None, description="those of the settings that it is run on; default: all")
    grid: Exponents | None = Field(None, description="parameter, exponents of 2; default: the method's GRID")

    def check(self) -> None:
        """Check selection and grid against the class, and the parameters against the function that fits."""
        cls = self.cls
        if self.selection or self.grid is not None:
            self.require("fit_many", "selection by cross-validation", "drop `selection` and `grid`")
        if not hasattr(cls, "fit_many"):
            fit = cls.fit_distances if hasattr(cls, "fit_distances") else cls
            self.check_parameters(fit, also=["widths"])
            return
        if self.selection is None:
            raise ValueError(f"selection: {self.method} needs one of {', '.join(SELECTIONS)}")
        if self.grid is None and not hasattr(cls, "GRID"):
            raise ValueError(f"grid: {self.method} has no GRID; give it a grid")
        self.check_parameters(cls.fit_many, also=["widths"])


class TrainingSettings(OnDataSets):
    """Settings of an experiment that trains kernel methods as the kernel study does."""

    widths: Exponents = Field(description="of the Gaussian kernels, exponents of 2")
    parametrisation: Literal["sigma2", "sigma1", "gamma"] = Field(description="see kernels.gaussian.rate")
    folds: Folds
    trusted: Share | None = Field(None, description="share of clean labels, for the validation only")
    methods: Methods[KernelMethod]

    @model_validator(mode="after")
    def _trusted_rows(self) -> Self:
        for label, method in self.methods.items():
            if self.trusted is None and method.selection in ("trusted", "trusted_holdout"):
                raise ValueError(f"trusted: missing, and method {label} is selected by trusted labels")
        return self


class ErrorsSettings(SplitSettings, TrainingSettings):
    """Settings of `errors`."""

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


class BankMethod(Method):
    """A method with several kernels, `fit_bank`."""

    def check(self) -> None:
        """Check that the class takes a bank of kernels, and its parameters."""
        self.require("fit_bank", "a protocol with kernels on single features")
        super().check()


class FeaturesSettings(OnDataSets):
    """Settings of `features`."""

    noise: Annotated[Flips, only("independent")]
    train: Share = Field(description="share of the rows that are for training")
    widths: Exponents = Field(description="of the Gaussian kernels, exponents of 2")
    methods: Methods[BankMethod]


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
                yield from here.rows(_metrics(outcome, method, len(split.clean), settings))


def _metrics(outcome: Outcome, method: Candidate, n: int, settings: TrainingSettings) -> dict[str, float]:
    values: dict[str, float] = {}
    if outcome.choice is not None:
        size = n if method.selection == "cv" else _trusted_count(n, settings)
        values |= outcome.choice._asdict() | {"validation_size": size}
    values |= {"omega01": outcome.omega01, "omega10": outcome.omega10, "flagged": float(outcome.flagged)}
    return {metric: value for metric, value in values.items() if not np.isnan(value)}


@protocol(TimingSettings, labels=("cpu_seconds",))
def timing(settings: TimingSettings, walk: Walk) -> Iterator[Row]:
    """CPU time to train on one split: distances, selection, final fit; one test row only.

    Metric: cpu_seconds, median of ``timings`` runs. The first split of a block is also trained on once
    without being timed, which compiles. Unlike every other result table, this one differs from run to run.

    Source: table of CPU times.
    """
    methods = resolve(settings, settings.noise)
    compiled = False
    for at, split, noisy in walk.problems(settings):
        alone = dataclasses.replace(split, X_test=split.X_test[:1], truth=split.truth[:1])
        if not compiled:
            train(methods, alone, noisy, settings, at)
            compiled = True
        for k, noise in enumerate(settings.noise):
            for method in (m for m in methods if k in m.columns(noisy)):
                every = [dataclasses.replace(method, conditions=None)]
                seconds = [
                    cpu_seconds(train, every, alone, noisy[:, [k]], settings, at)
                    for _ in range(settings.timings)
                ]
                here = at.on(noise=noise.label, method=method.label, setting=method.selection or "")
                yield here.row("cpu_seconds", float(np.median(seconds)))


def cpu_seconds(function: Callable[..., object], *arguments: object) -> float:
    """Process time of one call."""
    start = time.process_time()
    function(*arguments)
    return time.process_time() - start


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
    widths = np.exp2(np.asarray(settings.widths, dtype=float))
    for at, dataset in walk.each(settings.datasets):
        split = Split.of(dataset.arrays, *share_split(dataset.arrays["y"], settings.train, at))
        noisy = noisy_labels(split.clean, settings.noise, at)
        D, D_out = feature_distances(split.X, split.X), feature_distances(split.X_test, split.X)
        bank = KernelBank.of_widths(widths, groups=len(D))
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


@dataclass(frozen=True)
class Candidate:
    """A method with the widths and values of its parameter that are tried.

    parameters : keyword arguments of `fit_many`, `fit_distances` or the class.
    conditions : numbers of the noise conditions that it is run on; None: all.
    """

    label: str
    cls: Any
    parameters: dict[str, Any]
    selection: Selection | None
    widths: Floats
    grid: Floats
    conditions: tuple[int, ...] | None = None

    def columns(self, noisy: Labels) -> list[int]:
        """Its columns of the labels (n, L)."""
        return list(range(noisy.shape[1]) if self.conditions is None else self.conditions)


def resolve(settings: TrainingSettings, noise: Iterable[Noise] = ()) -> list[Candidate]:
    """The methods of the settings; widths and grid in powers of 2, conditions as numbers of ``noise``."""
    listed, found = list(noise), []
    for label, m in settings.methods.items():
        parameters = dict(m.parameters)
        widths = np.exp2(np.asarray(parameters.pop("widths", settings.widths), dtype=float))
        grid = np.empty(0)
        if m.selection:
            grid = np.asarray(m.cls.GRID if m.grid is None else np.exp2(m.grid), dtype=float)
        conditions = None if m.noise is None else tuple(k for k, each in enumerate(listed) if each in m.noise)
        found.append(Candidate(label, m.cls, parameters, m.selection, widths, grid, conditions))
    return found


class Choice(NamedTuple):
    """A width and a value of the parameter."""

    width: float
    parameter: float


@dataclass(frozen=True)
class Outcome:
    """A method trained on one noise condition: decision values on the test rows, and what was chosen."""

    scores: Floats
    choice: Choice | None
    omega01: float
    omega10: float
    flagged: bool


def train(
    methods: list[Candidate], split: Split, noisy: Labels, settings: TrainingSettings, at: At
) -> dict[str, dict[int, Outcome]]:
    """Select and fit every method on its columns of ``noisy`` (n, L): label -> column -> outcome."""
    D, D_test = squared_distances(split.X), squared_distances(split.X_test, split.X)
    chosen: dict[str, dict[int, Choice]] = {}
    for selection in SELECTIONS:
        if users := [m for m in methods if m.selection == selection]:
            folds = validation(selection, split.clean, noisy, settings, at)
            chosen |= select(users, D, noisy, folds, settings.parametrisation)
    outcomes: dict[str, dict[int, Outcome]] = {m.label: {} for m in methods}
    for m in (m for m in methods if not m.selection):
        columns = m.columns(noisy)
        if hasattr(m.cls, "fit_distances"):
            kernel = {"parametrisation": settings.parametrisation} | m.parameters
            fits = m.cls.fit_distances(D, D_test, noisy[:, columns], m.widths, **kernel)
            outcomes[m.label] = {k: _outcome(fits, number, None) for number, k in enumerate(columns)}
        else:
            rng = at.rng(f"method {m.label}")
            outcomes[m.label] = {k: _plain(m, split, noisy[:, k], rng) for k in columns}
    for width in sorted({choice.width for choices in chosen.values() for choice in choices.values()}):
        gram = Gram(*(rbf(distances, width, settings.parametrisation) for distances in (D, D_test)))
        for m in (m for m in methods if m.selection):
            for k, choice in chosen[m.label].items():
                if choice.width == width:  # every column alone: no condition depends on another
                    fits = m.cls.fit_many(gram, noisy[:, [k]], np.array([choice.parameter]), **m.parameters)
                    outcomes[m.label][k] = _outcome(fits, 0, choice)
    return outcomes


def _outcome(fits: Fits, k: int, choice: Choice | None) -> Outcome:
    """Column k of fits with one value of the parameter."""
    omega01, omega10 = float(fits.omega01[k, 0]), float(fits.omega10[k, 0])
    return Outcome(fits.scores[k, 0], choice, omega01, omega10, bool(fits.flagged[k, 0]))


def _plain(method: Candidate, split: Split, observed: Labels, rng: np.random.Generator) -> Outcome:
    """Any scikit-learn classifier on the standardised features."""
    model = method.cls(**method.parameters)
    if "random_state" in model.get_params():
        model.set_params(random_state=int(rng.integers(2**31 - 1)))
    classes = model.fit(split.X, observed).predict(split.X_test)
    return Outcome(np.where(classes == 1, 1.0, -1.0), None, float("nan"), float("nan"), False)


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
    n, columns = noisy.shape
    count = settings.folds
    if selection == "cv":
        number = random_folds(n, count, at.rng("folds"))
        return [
            Fold(np.flatnonzero(number != k), np.flatnonzero(number == k), noisy[number == k])
            for k in range(count)
        ]
    trusted = np.zeros(n, dtype=bool)
    trusted[at.rng("trusted").permutation(n)[: _trusted_count(n, settings)]] = True
    held, rest = np.flatnonzero(trusted), np.flatnonzero(~trusted)
    labels = np.repeat(clean[held, np.newaxis], columns, axis=1)
    if selection == "trusted_holdout":
        return [Fold(rest, held, labels)]
    number = random_folds(len(rest), count, at.rng("folds"))
    return [Fold(rest[number != k], held, labels) for k in range(count)]


def _trusted_count(n: int, settings: TrainingSettings) -> int:
    """round(share n) rows, at least one."""
    assert settings.trusted is not None
    return max(1, round(settings.trusted * n))


class Judged(NamedTuple):
    """A candidate with its wrong labels and its log-loss per column of the method, (L,) each."""

    point: Choice
    wrong: NDArray[np.int64]
    loss: Floats


def select(
    methods: list[Candidate], D: Floats, noisy: Labels, folds: list[Fold], parametrisation: str
) -> dict[str, dict[int, Choice]]:
    """Every method's choice for its columns of ``noisy`` (n, L); D (n, n) are squared distances.

    Each kernel matrix and its basis serve all methods, noise conditions and values of the parameter.
    """
    tried: dict[str, list[Judged]] = {m.label: [] for m in methods}
    wanted = {m.label: set(useful_widths(D, m.widths, parametrisation)) for m in methods}
    for width in sorted(set().union(*wanted.values())):
        users = [m for m in methods if width in wanted[m.label]]
        K = rbf(D, width, parametrisation)
        grams = [Gram(K[np.ix_(fold.train, fold.train)], K[np.ix_(fold.held, fold.train)]) for fold in folds]
        for m in users:
            columns = m.columns(noisy)
            wrong = np.zeros((len(columns), len(m.grid)), dtype=np.int64)
            loss = np.zeros((len(columns), len(m.grid)))
            for fold, gram in zip(folds, grams, strict=True):
                observed = noisy[fold.train][:, columns]
                scores = m.cls.fit_many(gram, observed, m.grid, **m.parameters).scores
                for number, k in enumerate(columns):
                    f, truth = scores[number], fold.labels[:, k]
                    wrong[number] += ((f > 0) != truth).sum(axis=1)
                    loss[number] += np.logaddexp(0.0, (1 - 2 * truth) * f).sum(axis=1)
            for g, value in enumerate(m.grid):
                tried[m.label].append(Judged(Choice(float(width), float(value)), wrong[:, g], loss[:, g]))
    labels = np.concatenate([fold.labels for fold in folds])
    both = (labels.min(axis=0) == 0) & (labels.max(axis=0) == 1)
    return {
        m.label: {
            k: _best(tried[m.label], number, bool(both[k]), parametrisation)
            for number, k in enumerate(m.columns(noisy))
        }
        for m in methods
    }


def _best(candidates: list[Judged], k: int, both: bool, parametrisation: str) -> Choice:
    """The winner for column k of the method; ``both`` : the labels judged on have two classes."""

    def rank(tried: Judged) -> tuple[int, float, float, float]:
        wrong = int(tried.wrong[k]) if both else 0
        return wrong, tried.loss[k], rate(tried.point.width, parametrisation), -tried.point.parameter

    return min(candidates, key=rank).point
