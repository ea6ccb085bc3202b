"""Experiments on robust losses for SGD: errors under label noise, and the bound of Theorem 1.

A method is ``{method: robust_sgd, losses: [{loss: ramp, s: -1}, ...], parameters: {...}}`` or,
without a list of losses, ``{method: pegasos | liblinear, parameters: {...}}``. The grid is losses x
lambdas x multipliers.

Source: Han, Tsang, Chen, ECML PKDD 2016.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import (
    Field,
    NonNegativeInt,
    PlainValidator,
    PositiveInt,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from scipy import sparse

from noisylabels.losses.margin import LOSSES, Log, Loss
from noisylabels.solvers.sgd import Candidate, Objective, Schedule, as_rows, epoch
from reproduction.data.loaders.formats import unpack
from reproduction.run.points import Scored
from reproduction.run.protocol_loop import Loop, Repetition, Row
from reproduction.run.splits import Floats, Indices, Labels, stratified_folds, stratified_mask
from reproduction.spec import settings as keys
from reproduction.spec.models import is_with_code
from reproduction.spec.protocol import protocol
from reproduction.spec.settings import Noise
from reproduction.spec.suggestions import near

Matrix = Any
"""Features (n, d), dense or CSR."""
SPARSE_BELOW = 0.25
"""Share of nonzero entries below which a matrix is stored as CSR."""
SHARED = "data"
"""Repetition of split and noise for trials that differ only in shuffling."""


def make_loss(content: object) -> Loss:
    """Make the loss of a setting such as ``{loss: ramp, s: -1}``."""
    if not isinstance(content, Mapping) or "loss" not in content:
        expected = "a loss with its parameters is expected, such as {loss: ramp, s: -1}"
        raise ValueError(f"{content!r}: {expected}")
    parameters = dict(content)
    name = parameters.pop("loss")
    if name not in LOSSES:
        raise ValueError(f"unknown loss {name!r}{near(name, LOSSES)}")
    keys.check_keywords(LOSSES[name], parameters)
    return LOSSES[name](**parameters)


LossChoice = Annotated[Loss, PlainValidator(make_loss), WithJsonSchema({"type": "object"})]


class Point(NamedTuple):
    """A point of the grid; loss is the index in the method's list, 0 without a list."""

    loss: int
    lam: float
    multiplier: float


class LinearMethod(keys.Method):
    """Settings of a linear classifier; with ``losses``, the loss is chosen as well."""

    losses: keys.Some[LossChoice] | None = Field(
        None,
        description="such as {loss: ramp, s: -1}; one is chosen",
    )

    def check(self) -> None:
        """Check the given parameters, and those that a grid tunes."""
        if self.losses is None:
            keys.check_keywords(self.cls, self.parameters, ("lam", "random_state"))
            return
        keys.check_keywords(
            self.cls, self.parameters, ("loss", "lam", "multiplier", "epochs", "random_state")
        )
        self.require("fit_grid", "the choice among `losses`", "drop `losses`")
        keys.check_keywords(self.cls.fit_grid, self.parameters)

    def model(self, point: Point, epochs: int, rng: np.random.Generator) -> Any:
        """Build the estimator at a point of its grid."""
        if self.losses is None:
            return self.build(random_state=int(rng.integers(2**31 - 1)), lam=point.lam)
        return self.build(
            epochs=epochs,
            random_state=rng,
            lam=point.lam,
            loss=self.losses[point.loss],
            multiplier=point.multiplier,
        )

    def grid(self, settings: ErrorsSettings) -> list[Point]:
        """List every point of the grid."""
        if self.losses is None:
            return [Point(0, lam, 1.0) for lam in settings.lambdas]
        losses = range(len(self.losses))
        points = itertools.product(losses, settings.lambdas, settings.multipliers)
        return list(itertools.starmap(Point, points))


NOISE = ("symmetric", "compound", "uniform", "class_conditional", "far_outliers")


class ErrorsSettings(keys.OnDataSets):
    """Settings of `errors`."""

    epochs: PositiveInt = Field(description="passes over the training rows")
    folds: keys.Folds = Field(description="of the cross-validation on the noisy training labels")
    rule: Literal["one_se", "minimum"] = Field(description="for the choice of lambda and step size")
    lambdas: keys.Some[keys.Positive]
    multipliers: keys.Some[keys.Positive] = Field(
        description="of 1/(L max ||x||^2), the first step size",
    )
    cv_rows: PositiveInt = Field(
        description="most rows for the cross-validation, classes in proportion",
    )
    rows: NonNegativeInt = Field(description="most training and test rows; 0: all")
    stand_in_rows: NonNegativeInt = Field(description="the same for stand-ins")
    resample_noise: bool = Field(description="new noise in every repetition, not only new shuffles")
    redraw: bool = Field(
        False,
        description="also trials with new flips and a new split: redrawn_error",
    )
    official: list[str] = Field(
        description="sets with their own test part; the others are split 4:1",
    )
    noise: Annotated[keys.Flips, keys.only(*NOISE)]
    methods: keys.Methods[LinearMethod]
    objectives: list[str] = Field(description="methods whose objective is recorded")
    families: dict[keys.Label, Annotated[list[str], Field(min_length=2)]] = Field(
        description="name -> methods whose spread is recorded"
    )

    def check_data(self, listed: Iterable[str]) -> None:
        """Check the settings."""
        keys.among("official", self.official, listed)

    @model_validator(mode="after")
    def _references(self, info: ValidationInfo) -> Self:
        keys.among("objectives", self.objectives, self.methods)
        for name, members in self.families.items():
            keys.among(f"families.{name}", members, self.methods)
            if name in self.methods:
                mixed = "a method has this name too; their rows would be mixed"
                raise ValueError(f"families.{name}: {mixed}")
        if is_with_code(info):
            self._check_objectives(custom=False)
        return self

    def check_custom(self) -> None:
        """Check the user's classes."""
        super().check_custom()
        self._check_objectives(custom=True)

    def _check_objectives(self, custom: bool) -> None:
        otherwise = "take the method off `objectives`"
        for label in self.objectives:
            method = self.methods[label]
            if method.custom == custom:
                for member in ("fit_epochs", "objective"):
                    method.require(member, "the record of its objective", otherwise)


class TheoremSettings(keys.Repeated):
    """Settings of `theorem`."""

    n: int = Field(ge=4, description="examples")
    d: PositiveInt = Field(description="features, without the constant one")
    T: int = Field(ge=2, description="steps")
    stride: int = Field(ge=2, description="steps between two evaluations of the objective")
    lam: keys.Positive
    steps: keys.Some[keys.Share] = Field(description="eta in units of 1/(6 beta)")
    noise: keys.Flips


Chosen = dict[str, float]
"""A point of the grid: loss, lam and multiplier, its mean error, and the lowest error."""


def tune(settings: ErrorsSettings, loop: Loop) -> dict[str, dict[str, dict[str, Chosen]]]:
    """Tune every method on each data set and noise by cross-validation."""
    tuned: dict[str, dict[str, dict[str, Chosen]]] = {}
    for shared, clean in problems(settings, loop):
        repetition = replace(shared, number="tuning")
        for noise in settings.noise:
            problem = with_noise(clean, noise, shared)
            share = settings.cv_rows / len(problem.noisy)
            rows = stratified_mask(problem.noisy, share, repetition.rng("rows"))
            problem = replace(problem, X=problem.X[rows], noisy=problem.noisy[rows])
            rng = repetition.rng(f"folds {noise}")
            fold = stratified_folds(problem.noisy, settings.folds, rng)
            chosen: dict[str, Chosen] = {}
            for label, method in settings.methods.items():
                wrong = validation_errors(method, problem, fold, settings, repetition, noise)
                chosen[label] = choose(method.grid(settings), wrong, settings.rule)
            tuned.setdefault(str(repetition.columns["dataset"]), {})[noise.label] = chosen
    return tuned


METRICS = ("error", "reversed_error", "redrawn_error", "settled", "objective", "spread")


@protocol(ErrorsSettings, tune=tune, labels=METRICS)
def errors(settings: ErrorsSettings, loop: Loop) -> Iterator[Row]:
    """Measure test errors of linear classifiers with robust and convex losses under label noise.

    Metrics: error, wrong test labels in % after epoch x (methods without epochs: at the last x);
    reversed_error, 100 - error at the last x; redrawn_error (if `redraw`), the last error of a
    trial with new flips and a new split, parameters as before; settled, the first epoch after which
    the error stays within a tenth of its last value; objective, G(w) on the noisy training data
    after epoch x, for the methods under `objectives`; spread, the largest minus the smallest last
    error within a family of methods.

    Source: Section 5.
    """
    for shared, clean in problems(settings, loop):
        for noise in settings.noise:
            problem = with_noise(clean, noise, shared)
            for number in loop.repetitions:
                columns = {"repetition": number, "noise": noise.label}
                repetition = replace(shared, number=number).with_columns(**columns)
                if settings.resample_noise:
                    problem = with_noise(clean, noise, repetition)
                yield from _trial(settings, loop.tuned, problem, repetition)
    if settings.redraw:
        yield from _redrawn_trials(settings, loop)


def _redrawn_trials(settings: ErrorsSettings, loop: Loop) -> Iterator[Row]:
    """Repeat trials with new flips and a new split."""
    for number in loop.repetitions:
        for drawn, clean in problems(settings, loop, number):
            for noise in settings.noise:
                problem = with_noise(clean, noise, drawn)
                repetition = drawn.with_columns(noise=noise.label)
                for labelled, model in _models(settings, loop.tuned, repetition):
                    error = _error(model.fit(problem.X, problem.noisy), problem)
                    yield labelled.row("redrawn_error", error, x=settings.epochs)


def _models(
    settings: ErrorsSettings, tuned: Mapping[str, Any], repetition: Repetition
) -> Iterator[tuple[Repetition, Any]]:
    """Build every method with its tuned parameters, and with the same shuffles."""
    dataset = str(repetition.columns["dataset"])
    noise = repetition.columns["noise"]
    for label, method in settings.methods.items():
        chosen = tuned[dataset][noise][label]
        point = Point(chosen["loss"], chosen["lam"], chosen["multiplier"])
        rng = repetition.rng(f"shuffle {noise}")
        yield repetition.with_columns(method=label), method.model(point, settings.epochs, rng)


def _trial(
    settings: ErrorsSettings,
    tuned: Mapping[str, Any],
    problem: Problem,
    repetition: Repetition,
) -> Iterator[Row]:
    """Train and test every method in one repetition."""
    last_epoch = float(settings.epochs)
    final_error: dict[str, float] = {}
    for labelled, model in _models(settings, tuned, repetition):
        label = str(labelled.columns["method"])
        is_watched = label in settings.objectives
        has_epochs = hasattr(model, "fit_epochs")
        if has_epochs:
            fitted_models = model.fit_epochs(problem.X, problem.noisy)
        else:
            fitted_models = [model.fit(problem.X, problem.noisy)]
        errors = []
        objective = []
        if is_watched:
            objective.append(float(model.loss.value(0.0)))
        for fitted in fitted_models:
            errors.append(_error(fitted, problem))
            if is_watched:
                objective.append(fitted.objective(problem.X, problem.noisy))
        final_error[label] = errors[-1]
        wrong = model.predict(problem.X_test) != problem.y_test
        rows = np.arange(len(wrong), dtype=np.int32)
        yield from labelled.curve("error", enumerate(errors[:-1], start=1))
        yield labelled.row("error", Scored(rows, wrong, len(wrong)), x=last_epoch)
        yield from labelled.curve("objective", enumerate(objective))
        if has_epochs:
            yield labelled.row("settled", _settled(errors), x=last_epoch)
        yield labelled.row("reversed_error", 100.0 - errors[-1], x=last_epoch)
    for family, members in settings.families.items():
        values = [final_error[member] for member in members]
        yield repetition.row("spread", max(values) - min(values), method=family)


def _settled(errors: list[float]) -> int:
    """Find the first epoch from which every error is within 10 % of the last one."""
    is_far = np.abs(np.array(errors) - errors[-1]) > 0.1 * errors[-1]
    return 1 + int(np.max(np.flatnonzero(is_far) + 1, initial=0))


def _error(model: Any, problem: Problem) -> float:
    """Compute the percentage of wrong test labels."""
    return 100.0 * float(np.mean(model.predict(problem.X_test) != problem.y_test))


# Problems: split, scaled to [0, 1], with noisy training labels


@dataclass(frozen=True)
class Problem:
    """Features X (n, d), and labels of -1 and +1, noisy for learners and clean."""

    X: Matrix
    clean: Labels
    noisy: Labels
    X_test: Matrix
    y_test: Labels


def problems(
    settings: ErrorsSettings, loop: Loop, number: int | str = SHARED
) -> Iterator[tuple[Repetition, Problem]]:
    """Yield the clean problem of every data set that the settings name; see `clean_problem`."""
    for name, dataset, seeds in loop.data_sets(settings.datasets):
        rows = settings.stand_in_rows if "stand-in" in dataset.variant else settings.rows
        columns: Row = {"dataset": name, "source": dataset.variant, "repetition": number}
        repetition = Repetition(seeds, number, columns)
        is_official = name in settings.official
        yield repetition, clean_problem(dataset, repetition, official=is_official, rows=rows)


def clean_problem(
    data: Any,
    repetition: Repetition,
    *,
    official: bool,
    rows: int = 0,
) -> Problem:
    """Split and scale a prepared data set.

    repetition : with the number `SHARED`, or a trial, for which all rows are pooled and split
        again, as large as before.
    official : use the set's own test part, else pool all rows and split them 4:1, classes in
        proportion.
    rows : keep that many training and test rows at most, classes in proportion; 0: all.

    Raises ValueError : no official test part, or a class that would be empty in one of the parts.
    """
    rng = repetition.rng("split")
    share = 0.8
    train, labels = unpack(data.arrays)
    has_test = "y_test" in data.arrays
    if official and not has_test:
        raise ValueError(f"data set {data.id} has no official test part; take it off `official`")
    if has_test:
        test, test_labels = unpack(data.arrays, "test")
    if not official or repetition.number != SHARED:
        if has_test:
            if official:
                share = len(labels) / (len(labels) + len(test_labels))
            parts: Any = [train, test]
            if isinstance(train, np.ndarray):
                train = np.vstack(parts)
            else:
                train = sparse.vstack(parts, format="csr")
            labels = np.concatenate([labels, test_labels])
        is_train = stratified_mask(labels, share, rng)
        test = train[~is_train]
        test_labels = labels[~is_train]
        train = train[is_train]
        labels = labels[is_train]
    if rows:
        chosen = stratified_mask(labels, rows / len(labels), rng)
        train = train[chosen]
        labels = labels[chosen]
        chosen = stratified_mask(test_labels, rows / len(test_labels), rng)
        test = test[chosen]
        test_labels = test_labels[chosen]
    train, test = scaled(_stored(train), _stored(test))
    return Problem(train, labels, labels, test, test_labels)


def with_noise(problem: Problem, noise: Noise, repetition: Repetition) -> Problem:
    """Flip the training labels, in the same way for all trials that share the noise.

    Symmetric flips of more than one half are those of the complementary rate reversed: who keeps
    the label at 40 % is flipped at 60 %, so that the labels of the two are each other's opposite.
    """
    if noise.model == "symmetric" and noise.parameters["rate"] > 0.5:
        complement = Noise.parse(f"symmetric {1 - noise.parameters['rate']:g}")
        return replace(problem, noisy=-with_noise(problem, complement, repetition).noisy)
    f = None
    # far from the boundary of a linear classifier that has seen the clean labels
    if noise.model == "far_outliers":
        from noisylabels.classifiers.linear import LiblinearClassifier

        model = LiblinearClassifier(1e-4).fit(problem.X, problem.clean)
        f = model.decision_function(problem.X)
    noisy = noise.corrupt(problem.clean, repetition.rng(f"noise {noise}"), f)
    return replace(problem, noisy=noisy)


def scaled(train: Matrix, test: Matrix) -> tuple[Matrix, Matrix]:
    """Scale each feature to [0, 1] by the training rows; test rows may leave it.

    (x - min) / (max - min), min and max of the training rows. Constant features become 0. Sparse
    matrices are divided by max, and must have min = 0.

    Raises ValueError : a sparse matrix with negative training entries.
    """
    if isinstance(train, np.ndarray):
        low = train.min(axis=0)
        high = train.max(axis=0)
        factor = np.divide(1, high - low, out=np.zeros_like(low), where=high > low)
        return (train - low) * factor, (test - low) * factor
    if train.min() < 0:
        needed = "sparse features must be >= 0 to be scaled by their maximum"
        raise ValueError(f"{needed}; store the data densely")
    high = np.asarray(train.max(axis=0).todense(), dtype=float).ravel()
    factor = np.divide(1, high, out=np.zeros_like(high), where=high > 0)
    return train.multiply(factor).tocsr(), test.multiply(factor).tocsr()


def _stored(X: Matrix) -> Matrix:
    """Store a matrix dense, or as CSR if few entries differ from 0."""
    dense = isinstance(X, np.ndarray) and np.count_nonzero(X) >= SPARSE_BELOW * X.size
    return X if dense else sparse.csr_matrix(X, dtype=np.float64)


# The choice of parameters by cross-validation on the noisy labels


def validation_errors(
    method: LinearMethod,
    problem: Problem,
    fold: Indices,
    settings: ErrorsSettings,
    repetition: Repetition,
    noise: Noise,
) -> Floats:
    """Cross-validate on the noisy labels, and return shares of wrong ones (folds, points).

    Every fold is shuffled by its own stream. A share is infinite at a point that `choose` cannot
    take, see `_errors_one_by_one`.
    """
    n_folds = int(fold.max()) + 1
    streams = [repetition.rng(f"shuffle {noise} fold {k}") for k in range(n_folds)]
    points = method.grid(settings)
    if method.losses is None:
        return _errors_one_by_one(method, problem, fold, points, settings.epochs, streams)
    signs = problem.noisy.astype(np.float64)
    candidates = [Candidate(method.losses[p.loss], p.lam, p.multiplier) for p in points]
    options = {"epochs": settings.epochs} | method.parameters
    errors = np.empty((n_folds, len(points)))
    for k, rng in enumerate(streams):
        train = np.flatnonzero(fold != k)
        held = np.flatnonzero(fold == k)
        W = method.cls.fit_grid(problem.X, signs, train, candidates, rng, **options)
        is_positive = problem.X[held] @ W[:-1] + W[-1] >= 0
        is_wrong = is_positive != (signs[held] > 0)[:, np.newaxis]
        errors[k] = np.where(np.isfinite(W).all(axis=0), is_wrong.mean(axis=0), 1.0)
    return errors


def _errors_one_by_one(
    method: LinearMethod,
    problem: Problem,
    fold: Indices,
    points: list[Point],
    epochs: int,
    streams: list[np.random.Generator],
) -> Floats:
    """Cross-validate a method that fits one point at a time, the largest lambda first.

    The folds of a point stop once they have more errors than all folds of a larger lambda.
    """
    errors = np.full((len(streams), len(points)), np.inf)
    models = []
    for rng in streams:
        models.append([method.model(point, epochs, rng) for point in points])
    lowest = np.inf
    for j in sorted(range(len(points)), key=lambda j: -points[j].lam):
        of_folds: list[float] = []
        while len(of_folds) < len(streams) and sum(of_folds) <= lowest + 1e-9:
            k = len(of_folds)
            train = np.flatnonzero(fold != k)
            held = np.flatnonzero(fold == k)
            model = models[k][j].fit(problem.X[train], problem.noisy[train])
            is_wrong = model.predict(problem.X[held]) != problem.noisy[held]
            of_folds.append(float(np.mean(is_wrong)))
        if len(of_folds) == len(streams):
            errors[:, j] = of_folds
            lowest = min(lowest, sum(of_folds))
    return errors


def choose(points: list[Point], errors: Floats, rule: str) -> Chosen:
    """Choose a point of a grid by its errors (folds, points).

    "one_se": among points within one standard error of the lowest mean, the largest lambda, then
    the smallest multiplier, then the lowest mean. "minimum": the lowest mean, ties as above.
    """
    mean = errors.mean(axis=0)
    best = int(mean.argmin())
    slack = 0.0
    if rule == "one_se" and len(errors) > 1:
        slack = float(errors[:, best].std(ddof=1) / np.sqrt(len(errors)))
    candidates = np.flatnonzero(mean <= mean[best] + slack).tolist()

    def rank(j: int) -> tuple[float, float, float, int]:
        return -points[j].lam, points[j].multiplier, mean[j], j

    chosen = min(candidates, key=rank)
    of_point = {"error": float(mean[chosen]), "lowest": float(mean[best])}
    return points[chosen]._asdict() | of_point


# Theorem 1

TERMS = ("gap", "published", "corrected", "excess_published", "excess_corrected")


@protocol(TheoremSettings, labels=(*TERMS, "from zero", "from the optimum", "[0-9]*"))
def theorem(settings: TheoremSettings, loop: Loop) -> Iterator[Row]:
    """Compare constant steps with Theorem 1, as published and with the term missing in its proof.

    For a convex, beta-smooth G, eta < 1/(6 beta) and i uniform, with D = ||w_0 - w*||^2:
    published   D / ((2 eta - 12 eta^2 beta) T)
    corrected   published + 3 eta sigma^2 / (2 - 12 eta beta),  sigma^2 = E ||grad g_i(w*)||^2,
    both against the mean of E G(w_t) - G(w*) over the T steps. Metrics: gap (that mean, over every
    `stride`-th step), published, corrected, and excess_published = gap - published,
    excess_corrected.
    noise = flips, setting = eta in units of 1/(6 beta), method = where w starts.
    """
    loss = Log()
    lam = settings.lam
    for repetition in loop:
        for noise in settings.noise:
            X, y = _points(settings, noise, repetition)
            optimum = minimiser(X, y, lam)
            slopes = loss.slope(y * (X @ optimum)) * y
            gradients = slopes[:, np.newaxis] * X + lam * optimum
            sigma2 = float(np.mean(np.sum(gradients**2, axis=1)))
            beta = loss.curvature * float(np.max(np.sum(X**2, axis=1))) + lam
            for share in settings.steps:
                eta = share / (6 * beta)
                starts = {"from zero": np.zeros_like(optimum), "from the optimum": optimum}
                for method, start in starts.items():
                    rng = repetition.rng(f"order {noise}")
                    order = rng.integers(len(y), size=settings.T, dtype=np.uint32)
                    values = []
                    for w in _weights(X, y, settings, eta, start, order):
                        values.append(_objective(X, y, lam, w))
                    gap = float(np.mean(np.array(values) - _objective(X, y, lam, optimum)))
                    free = 2 * eta - 12 * eta**2 * beta
                    published = float(np.sum((start - optimum) ** 2)) / (free * settings.T)
                    corrected = published + 3 * eta**2 * sigma2 / free
                    labelled = repetition.with_columns(
                        noise=noise.label,
                        setting=f"{share:g}",
                        method=method,
                        x=settings.T,
                    )
                    terms = (gap, published, corrected, gap - published, gap - corrected)
                    yield from labelled.rows(dict(zip(TERMS, terms, strict=True)))


def _points(
    settings: TheoremSettings,
    noise: Noise,
    repetition: Repetition,
) -> tuple[Floats, Floats]:
    """Draw two Gaussian classes, +-m along the diagonal with |m| = 1, and a constant feature."""
    n = settings.n
    d = settings.d
    y = np.where(np.arange(n) % 2 == 0, 1, -1).astype(np.int8)
    spread = repetition.rng("points").standard_normal((n, d))
    X = spread / np.sqrt(d) + y[:, np.newaxis] / np.sqrt(d)
    noisy = noise.corrupt(y, repetition.rng(f"noise {noise}"))
    return np.column_stack([X, np.ones(n)]), noisy.astype(np.float64)


def _objective(X: Floats, y: Floats, lam: float, w: Floats) -> float:
    return float(Log().value(y * (X @ w)).mean() + 0.5 * lam * (w @ w))


def minimiser(X: Floats, y: Floats, lam: float) -> Floats:
    """Find w* by Newton's method.

    w* = argmin (1/n) sum_i ln(1 + e^(-y_i x_i.w)) + lambda/2 ||w||^2.
    """
    loss = Log()
    w = np.zeros(X.shape[1])
    for _ in range(100):
        p = -loss.slope(y * (X @ w))  # r'' = p (1 - p)
        gradient = lam * w - X.T @ (p * y) / len(y)
        if np.linalg.norm(gradient) < 1e-14:
            break
        hessian = (X.T * (p * (1 - p))) @ X / len(y) + lam * np.eye(len(w))
        w = w - np.linalg.solve(hessian, gradient)
    return w


def _weights(
    X: Floats,
    y: Floats,
    settings: TheoremSettings,
    eta: float,
    start: Floats,
    order: NDArray[np.uint32],
) -> Iterator[Floats]:
    """Yield the weights of constant steps at t = 1, 1 + stride, ..., in place."""
    rows = as_rows(X)
    w = np.append(start, 0.0)
    unused = np.zeros(len(start) + 1)
    objective = Objective(Log(), settings.lam, 0.0, 0.0)
    schedule = Schedule(eta, 0.0, 1.0, 1.0)

    def step(examples: NDArray[np.uint32]) -> None:
        epoch(rows, y, examples, w, unused, False, objective, schedule, 0)

    for first in range(0, len(order), settings.stride):
        step(order[first : first + 1])
        yield w[:-1]
        step(order[first + 1 : first + settings.stride])
