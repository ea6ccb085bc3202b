"""Robust losses for stochastic gradient descent: errors under label noise, and the bound of Theorem 1.

A method is ``{method: robust_sgd, losses: [{loss: ramp, s: -1}, ...], parameters: {...}}`` or, without a list
of losses, ``{method: pegasos | liblinear, parameters: {...}}``. The grid is losses x lambdas x multipliers.

Source: Han, Tsang, Chen, ECML PKDD 2016.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeInt, PlainValidator, PositiveInt, WithJsonSchema, model_validator
from scipy import sparse

from noisylabels.losses.margin import LOSSES, Log, Loss
from noisylabels.solvers.sgd import Candidate, Objective, Schedule, as_rows, epoch
from reproduction.data.loaders.formats import unpack
from reproduction.run.points import Scored
from reproduction.run.protocol_loop import Loop, Repetition, Row
from reproduction.run.splits import Floats, Indices, Labels, stratified_folds, stratified_mask
from reproduction.spec import settings as keys
from reproduction.spec.protocol import protocol
from reproduction.spec.settings import Noise
from reproduction.spec.strict_yaml import near

Matrix = Any
"""Features (n, d), dense or CSR."""
SPARSE_BELOW = 0.25
"""Share of nonzero entries below which a matrix is stored as CSR."""
SHARED = "data"
"""The repetition under whose name split and noise are drawn for all trials, which differ in shuffling."""


def make_loss(content: object) -> Loss:
    """``{loss: ramp, s: -1}`` -> the loss.   Raises ValueError : an unknown loss or parameter."""
    if not isinstance(content, Mapping) or "loss" not in content:
        expected = "a loss with its parameters is expected, such as {loss: ramp, s: -1}"
        raise ValueError(f"{content!r}: {expected}")
    name, parameters = content["loss"], {key: value for key, value in content.items() if key != "loss"}
    if name not in LOSSES:
        raise ValueError(f"unknown loss {name!r}{near(name, LOSSES)}")
    keys.check_keywords(LOSSES[name], parameters)
    return LOSSES[name](**parameters)


LossChoice = Annotated[Loss, PlainValidator(make_loss), WithJsonSchema({"type": "object"})]


class Point(NamedTuple):
    """A point of the grid; loss: its index in the method's list, 0 without a list."""

    loss: int
    lam: float
    multiplier: float


class LinearMethod(keys.Method):
    """A linear classifier; with ``losses`` the loss is chosen with lambda and the step size."""

    losses: keys.Some[LossChoice] | None = Field(
        None, description="such as {loss: ramp, s: -1}; one is chosen"
    )

    def check(self) -> None:
        """Check the parameters and those that the grid chooses."""
        if self.losses is None:
            keys.check_keywords(self.cls, self.parameters, ("lam", "random_state"))
            return
        keys.check_keywords(
            self.cls, self.parameters, ("loss", "lam", "multiplier", "epochs", "random_state")
        )
        self.require("fit_grid", "the choice among `losses`", "drop `losses`")
        keys.check_keywords(self.cls.fit_grid, self.parameters)

    def model(self, point: Point, epochs: int, rng: np.random.Generator) -> Any:
        """The estimator at a point of its grid."""
        if self.losses is None:
            return self.build(random_state=int(rng.integers(2**31 - 1)), lam=point.lam)
        chosen = {"lam": point.lam, "loss": self.losses[point.loss], "multiplier": point.multiplier}
        return self.build(epochs=epochs, random_state=rng, **chosen)

    def grid(self, settings: ErrorsSettings) -> list[Point]:
        """Every point of the grid."""
        multipliers = settings.multipliers if self.losses else [1.0]
        losses = range(len(self.losses or [None]))
        return [Point(i, lam, m) for i in losses for lam in settings.lambdas for m in multipliers]


class ErrorsSettings(keys.OnDataSets):
    """Settings of `errors`."""

    epochs: PositiveInt = Field(description="passes over the training rows")
    folds: keys.Folds = Field(description="of the cross-validation on the noisy training labels")
    rule: Literal["one_se", "minimum"] = Field(description="for the choice of lambda and step size")
    lambdas: keys.Some[keys.Positive]
    multipliers: keys.Some[keys.Positive] = Field(description="of 1/(L max ||x||^2), the first step size")
    cv_rows: PositiveInt = Field(description="most rows for the cross-validation, classes in proportion")
    rows: NonNegativeInt = Field(description="most training and test rows; 0: all")
    stand_in_rows: NonNegativeInt = Field(description="the same for stand-ins")
    resample_noise: bool = Field(description="new noise in every repetition, not only new shuffles")
    redraw: bool = Field(False, description="also trials with new flips and a new split: redrawn_error")
    official: list[str] = Field(description="sets with their own test part; the others are split 4:1")
    noise: Annotated[
        keys.Flips, keys.only("symmetric", "compound", "uniform", "class_conditional", "far_outliers")
    ]
    methods: keys.Methods[LinearMethod]
    objectives: list[str] = Field(description="methods whose objective is recorded")
    families: dict[keys.Label, Annotated[list[str], Field(min_length=2)]] = Field(
        description="name -> methods whose spread is recorded"
    )

    def check_data(self, listed: Iterable[str]) -> None:
        """See `Settings.check_data`."""
        keys.among("official", self.official, listed)

    @model_validator(mode="after")
    def _references(self) -> Self:
        keys.among("objectives", self.objectives, self.methods)
        for name, members in self.families.items():
            keys.among(f"families.{name}", members, self.methods)
            if name in self.methods:
                raise ValueError(f"families.{name}: a method has this name too; their rows would be mixed")
        self._check_objectives(custom=False)
        return self

    def check_custom(self) -> None:
        """Check the user's classes."""
        super().check_custom()
        self._check_objectives(custom=True)

    def _check_objectives(self, custom: bool) -> None:
        for method in (self.methods[label] for label in self.objectives):
            for member in ("fit_epochs", "objective") if method.custom == custom else ():
                method.require(member, "the record of its objective", "take the method off `objectives`")


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
"""A point of the grid, loss, lam and multiplier, with its mean error and the lowest one."""


def tune(settings: ErrorsSettings, loop: Loop) -> dict[str, dict[str, dict[str, Chosen]]]:
    """``{data set: {noise: {method: chosen}}}``, by cross-validation."""
    tuned: dict[str, dict[str, dict[str, Chosen]]] = {}
    for shared, clean in problems(settings, loop):
        repetition = replace(shared, number="tuning")
        for noise in settings.noise:
            problem = with_noise(clean, noise, shared)
            share = settings.cv_rows / len(problem.noisy)
            some = stratified_mask(problem.noisy, share, repetition.rng("rows"))
            problem = replace(problem, X=problem.X[some], noisy=problem.noisy[some])
            fold = stratified_folds(problem.noisy, settings.folds, repetition.rng(f"folds {noise}"))
            found = tuned.setdefault(str(repetition.columns["dataset"]), {})[noise.label] = {}
            for label, method in settings.methods.items():
                wrong = validation_errors(method, problem, fold, settings, repetition, noise)
                found[label] = choose(method.grid(settings), wrong, settings.rule)
    return tuned


METRICS = ("error", "reversed_error", "redrawn_error", "settled", "objective", "spread")


@protocol(ErrorsSettings, tune=tune, labels=METRICS)
def errors(settings: ErrorsSettings, loop: Loop) -> Iterator[Row]:
    """Test error of linear classifiers with robust and convex losses under label noise.

    Metrics: error, wrong test labels in % after epoch x (methods without epochs: at the last x);
    reversed_error, 100 - error at the last x; redrawn_error (if `redraw`), the last error of a trial with new
    flips and a new split, parameters as before; settled, the first epoch after which the error stays within a
    tenth of its last value; objective, G(w) on the noisy training data after epoch x, for the methods under
    `objectives`; spread, the largest minus the smallest last error within a family of methods.

    Source: Section 5.
    """
    for shared, clean in problems(settings, loop):
        for noise in settings.noise:
            problem = with_noise(clean, noise, shared)
            for number in loop.repetitions:
                repetition = replace(shared, number=number).with_columns(repetition=number, noise=noise.label)
                if settings.resample_noise:
                    problem = with_noise(clean, noise, repetition)
                yield from _trial(settings, loop.tuned, problem, repetition)
    for number in loop.repetitions if settings.redraw else ():
        for drawn, clean in problems(settings, loop, number):
            for noise in settings.noise:
                problem, repetition = with_noise(clean, noise, drawn), drawn.with_columns(noise=noise.label)
                for here, model in _models(settings, loop.tuned, repetition):
                    error = _error(model.fit(problem.X, problem.noisy), problem)
                    yield here.row("redrawn_error", error, x=settings.epochs)


def _models(
    settings: ErrorsSettings, tuned: Mapping[str, Any], repetition: Repetition
) -> Iterator[tuple[Repetition, Any]]:
    """Every method with its tuned parameters, all with the same shuffles."""
    for label, method in settings.methods.items():
        found = tuned[str(repetition.columns["dataset"])][repetition.columns["noise"]][label]
        point = Point(found["loss"], found["lam"], found["multiplier"])
        rng = repetition.rng(f"shuffle {repetition.columns['noise']}")
        yield repetition.with_columns(method=label), method.model(point, settings.epochs, rng)


def _trial(
    settings: ErrorsSettings, tuned: Mapping[str, Any], problem: Problem, repetition: Repetition
) -> Iterator[Row]:
    """Rows of one repetition."""
    final, last = dict[str, float](), float(settings.epochs)
    for here, model in _models(settings, tuned, repetition):
        label, training, errors = str(here.columns["method"]), (problem.X, problem.noisy), []
        watched, epochs = label in settings.objectives, hasattr(model, "fit_epochs")
        objective = [float(model.loss.value(0.0))] if watched else []
        for fitted in model.fit_epochs(*training) if epochs else [model.fit(*training)]:
            errors.append(_error(fitted, problem))
            if watched:
                objective.append(fitted.objective(*training))
        *before, final[label] = errors
        wrong = model.predict(problem.X_test) != problem.y_test
        yield from here.curve("error", enumerate(before, start=1))
        yield here.row("error", Scored(np.arange(len(wrong), dtype=np.int32), wrong, len(wrong)), x=last)
        yield from here.curve("objective", enumerate(objective))
        if epochs:  # the first from which every error is within 10 % of the last one
            far = np.abs(np.array(errors) - errors[-1]) > 0.1 * errors[-1]
            yield here.row("settled", 1 + int(np.max(np.flatnonzero(far) + 1, initial=0)), x=last)
        yield here.row("reversed_error", 100.0 - errors[-1], x=last)
    for family, members in settings.families.items():
        values = [final[member] for member in members]
        yield repetition.row("spread", max(values) - min(values), method=family)


def _error(model: Any, problem: Problem) -> float:
    """Percentage of wrong test labels."""
    return 100.0 * float(np.mean(model.predict(problem.X_test) != problem.y_test))


# Problems: split, scaled to [0, 1], with noisy training labels


@dataclass(frozen=True)
class Problem:
    """Features X (n, d) and labels of -1 and +1; ``noisy`` is what learners see, ``clean`` what is true."""

    X: Matrix
    clean: Labels
    noisy: Labels
    X_test: Matrix
    y_test: Labels


def problems(
    settings: ErrorsSettings, loop: Loop, number: int | str = SHARED
) -> Iterator[tuple[Repetition, Problem]]:
    """The clean problem of every data set that the settings name; see `clean_problem`."""
    for name, dataset, seeds in loop.data_sets(settings.datasets):
        rows = settings.stand_in_rows if "stand-in" in dataset.variant else settings.rows
        repetition = Repetition(
            seeds, number, {"dataset": name, "source": dataset.variant, "repetition": number}
        )
        yield repetition, clean_problem(dataset, repetition, official=name in settings.official, rows=rows)


def clean_problem(data: Any, repetition: Repetition, *, official: bool, rows: int = 0) -> Problem:
    """The split and scaled problem of a prepared data set.

    at : in the repetition `SHARED`, or a trial, for which all rows are pooled and split again, as large as
        before.
    official : use the set's own test part, else pool all rows and split them 4:1, classes in proportion.
    rows : keep that many training and test rows at most, classes in proportion; 0: all.

    Raises ValueError : no official test part, or a class that would be empty in one of the parts.
    """
    rng, share = repetition.rng("split"), 0.8
    train, labels = unpack(data.arrays)
    has_test = "y_test" in data.arrays
    if official and not has_test:
        raise ValueError(f"data set {data.id} has no official test part; take it off `official`")
    if has_test:
        test, test_labels = unpack(data.arrays, "test")
    if not official or repetition.number != SHARED:
        if has_test:
            share = len(labels) / (len(labels) + len(test_labels)) if official else share
            stack: Any = np.vstack if isinstance(train, np.ndarray) else partial(sparse.vstack, format="csr")
            train, labels = stack([train, test]), np.concatenate([labels, test_labels])
        kept = stratified_mask(labels, share, rng)
        test, test_labels, train, labels = train[~kept], labels[~kept], train[kept], labels[kept]
    if rows:
        some = stratified_mask(labels, rows / len(labels), rng)
        train, labels = train[some], labels[some]
        some = stratified_mask(test_labels, rows / len(test_labels), rng)
        test, test_labels = test[some], test_labels[some]
    train, test = scaled(_stored(train), _stored(test))
    return Problem(train, labels, labels, test, test_labels)


def with_noise(problem: Problem, noise: Noise, repetition: Repetition) -> Problem:
    """The problem with corrupted training labels, in the repetition `SHARED` if all trials share the noise.

    Symmetric flips of more than one half are those of the complementary rate reversed: who keeps the label at
    40 % is flipped at 60 %, so that the labels of the two are each other's opposite.
    """
    if noise.model == "symmetric" and noise.parameters["rate"] > 0.5:
        complement = Noise.parse(f"symmetric {1 - noise.parameters['rate']:g}")
        return replace(problem, noisy=-with_noise(problem, complement, repetition).noisy)
    f = None
    if noise.model == "far_outliers":  # decision values of a linear classifier that has seen the clean labels
        from noisylabels.classifiers.linear import LiblinearClassifier

        f = LiblinearClassifier(1e-4).fit(problem.X, problem.clean).decision_function(problem.X)
    return replace(problem, noisy=noise.corrupt(problem.clean, repetition.rng(f"noise {noise}"), f))


def scaled(train: Matrix, test: Matrix) -> tuple[Matrix, Matrix]:
    """(x - min) / (max - min) per feature, min and max of the training rows; test rows may leave [0, 1].

    Constant features become 0. Sparse matrices are divided by max, and must have min = 0.

    Raises ValueError : a sparse matrix with negative training entries.
    """
    if isinstance(train, np.ndarray):
        low, high = train.min(axis=0), train.max(axis=0)
        factor = np.divide(1, high - low, out=np.zeros_like(low), where=high > low)
        return (train - low) * factor, (test - low) * factor
    if train.min() < 0:
        raise ValueError("sparse features must be >= 0 to be scaled by their maximum; store the data densely")
    high = np.asarray(train.max(axis=0).todense(), dtype=float).ravel()
    factor = np.divide(1, high, out=np.zeros_like(high), where=high > 0)
    return train.multiply(factor).tocsr(), test.multiply(factor).tocsr()


def _stored(X: Matrix) -> Matrix:
    """Dense, or CSR (float64) where few entries differ from 0."""
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
    """Misclassification of the noisy labels, (folds, points); every fold is shuffled by its own stream.

    Infinite at a point that `choose` cannot take: where one fits at a time, the folds stop once they have
    more errors than all folds of a larger lambda.
    """
    points, epochs, X, y = method.grid(settings), settings.epochs, problem.X, problem.noisy
    streams = [repetition.rng(f"shuffle {noise} fold {k}") for k in range(int(fold.max()) + 1)]
    wrong = np.full((len(streams), len(points)), np.inf)
    if method.losses is None:
        models = [[method.model(point, epochs, rng) for point in points] for rng in streams]
        lowest = np.inf
        for j in sorted(range(len(points)), key=lambda j: -points[j].lam):
            found: list[float] = []
            while len(found) < len(streams) and sum(found) <= lowest + 1e-9:
                train, held = np.flatnonzero(fold != len(found)), np.flatnonzero(fold == len(found))
                model = models[len(found)][j].fit(X[train], y[train])
                found.append(float(np.mean(model.predict(X[held]) != y[held])))
            if len(found) == len(streams):
                wrong[:, j], lowest = found, min(lowest, sum(found))
        return wrong
    for k, rng in enumerate(streams):
        train, held = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        tried = [Candidate(method.losses[p.loss], p.lam, p.multiplier) for p in points]
        signs, more = y.astype(np.float64), {"epochs": epochs} | method.parameters
        W = method.cls.fit_grid(X, signs, train, tried, rng, **more)
        misses = (X[held] @ W[:-1] + W[-1] >= 0) != (signs[held] > 0)[:, np.newaxis]
        wrong[k] = np.where(np.isfinite(W).all(axis=0), misses.mean(axis=0), 1.0)
    return wrong


def choose(points: list[Point], errors: Floats, rule: str) -> Chosen:
    """The chosen point of a grid; errors (folds, points).

    "one_se": among points within one standard error of the lowest mean, the largest lambda, then the smallest
    multiplier, then the lowest mean. "minimum": the lowest mean, ties as above.
    """
    mean, slack = errors.mean(axis=0), 0.0
    best = int(mean.argmin())
    if rule == "one_se" and len(errors) > 1:
        slack = float(errors[:, best].std(ddof=1) / np.sqrt(len(errors)))
    near = np.flatnonzero(mean <= mean[best] + slack)
    chosen = min(near, key=lambda j: (-points[j].lam, points[j].multiplier, mean[j], j))
    return points[chosen]._asdict() | {"error": float(mean[chosen]), "lowest": float(mean[best])}


# Theorem 1

TERMS = ("gap", "published", "corrected", "excess_published", "excess_corrected")


@protocol(TheoremSettings, labels=(*TERMS, "from zero", "from the optimum", "[0-9]*"))
def theorem(settings: TheoremSettings, loop: Loop) -> Iterator[Row]:
    """Constant steps and Theorem 1: the published bound, and with the term that its proof drops.

    For a convex, beta-smooth G, eta < 1/(6 beta) and i uniform, with D = ||w_0 - w*||^2:
    published   D / ((2 eta - 12 eta^2 beta) T)
    corrected   published + 3 eta sigma^2 / (2 - 12 eta beta),  sigma^2 = E ||grad g_i(w*)||^2,
    both against the mean of E G(w_t) - G(w*) over the T steps. Metrics: gap (that mean, over every
    `stride`-th step), published, corrected, and excess_published = gap - published, excess_corrected.
    noise = flips, setting = eta in units of 1/(6 beta), method = where w starts.
    """
    loss, lam = Log(), settings.lam
    for repetition in loop:
        for noise in settings.noise:
            X, y = _points(settings, noise, repetition)
            optimum = minimiser(X, y, lam)
            gradients = (loss.slope(y * (X @ optimum)) * y)[:, np.newaxis] * X + lam * optimum
            sigma2 = float(np.mean(np.sum(gradients**2, axis=1)))
            beta = loss.curvature * float(np.max(np.sum(X**2, axis=1))) + lam
            for share in settings.steps:
                eta = share / (6 * beta)
                for method, start in (("from zero", np.zeros_like(optimum)), ("from the optimum", optimum)):
                    order = repetition.rng(f"order {noise}").integers(
                        len(y), size=settings.T, dtype=np.uint32
                    )
                    found = [_objective(X, y, lam, w) for w in _weights(X, y, settings, eta, start, order)]
                    gap = float(np.mean(np.array(found) - _objective(X, y, lam, optimum)))
                    free = 2 * eta - 12 * eta**2 * beta
                    published = float(np.sum((start - optimum) ** 2)) / (free * settings.T)
                    corrected = published + 3 * eta**2 * sigma2 / free
                    values = (gap, published, corrected, gap - published, gap - corrected)
                    here = repetition.with_columns(
                        noise=noise.label, setting=f"{share:g}", method=method, x=settings.T
                    )
                    yield from here.rows(dict(zip(TERMS, values, strict=True)))


def _points(settings: TheoremSettings, noise: Noise, repetition: Repetition) -> tuple[Floats, Floats]:
    """Two Gaussian classes, +-m along the diagonal with |m| = 1, and a constant feature."""
    n, d = settings.n, settings.d
    y = np.where(np.arange(n) % 2 == 0, 1, -1).astype(np.int8)
    X = repetition.rng("points").standard_normal((n, d)) / np.sqrt(d) + y[:, np.newaxis] / np.sqrt(d)
    noisy = noise.corrupt(y, repetition.rng(f"noise {noise}"))
    return np.column_stack([X, np.ones(n)]), noisy.astype(np.float64)


def _objective(X: Floats, y: Floats, lam: float, w: Floats) -> float:
    return float(Log().value(y * (X @ w)).mean() + 0.5 * lam * (w @ w))


def minimiser(X: Floats, y: Floats, lam: float) -> Floats:
    """w* = argmin (1/n) sum_i ln(1 + e^(-y_i x_i.w)) + lambda/2 ||w||^2, by Newton's method."""
    loss, w = Log(), np.zeros(X.shape[1])
    for _ in range(100):
        p = -loss.slope(y * (X @ w))  # r'' = p (1 - p)
        gradient = lam * w - X.T @ (p * y) / len(y)
        if np.linalg.norm(gradient) < 1e-14:
            break
        hessian = (X.T * (p * (1 - p))) @ X / len(y) + lam * np.eye(len(w))
        w = w - np.linalg.solve(hessian, gradient)
    return w


def _weights(
    X: Floats, y: Floats, settings: TheoremSettings, eta: float, start: Floats, order: NDArray[np.uint32]
) -> Iterator[Floats]:
    """w_t at t = 1, 1 + stride, ... of constant steps on the examples of the order; it changes in place."""
    rows, w, unused = as_rows(X), np.append(start, 0.0), np.zeros(len(start) + 1)
    objective, steps = Objective(Log(), settings.lam, 0.0, 0.0), Schedule(eta, 0.0, 1.0, 1.0)
    for first in range(0, len(order), settings.stride):
        epoch(rows, y, order[first : first + 1], w, unused, False, objective, steps, 0)
        yield w[:-1]
        epoch(rows, y, order[first + 1 : first + settings.stride], w, unused, False, objective, steps, 0)
