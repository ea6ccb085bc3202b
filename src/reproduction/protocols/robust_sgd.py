"""Robust losses for stochastic gradient descent: errors under label noise, and the bound of Theorem 1.

A method is ``{method: robust_sgd, losses: [{loss: ramp, s: -1}, ...], parameters: {...}}`` or, without a list
of losses, ``{method: pegasos | liblinear, parameters: {...}}``. The grid is losses x lambdas x multipliers.

Source: Han, Tsang, Chen, ECML PKDD 2016.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from pydantic import Field, NonNegativeInt, PlainValidator, PositiveInt, WithJsonSchema, model_validator

from noisylabels.losses.margin import LOSSES, Log, Loss
from noisylabels.seeding import Seeds
from noisylabels.solvers.sgd import Objective, Schedule, as_rows, epoch
from noisylabels.solvers.sgd_grid import Candidate
from reproduction.data.formats import unpack
from reproduction.protocols.settings import (
    Flips,
    Folds,
    Label,
    Method,
    Methods,
    Noise,
    OnDataSets,
    Positive,
    Repeated,
    Share,
    Some,
    among,
    check_keywords,
    only,
)
from reproduction.protocols.walk import (
    At,
    Floats,
    Indices,
    Labels,
    Row,
    Walk,
    protocol,
    stratified_folds,
    stratified_mask,
)
from reproduction.strict_yaml import near
from reproduction.verdicts.per_point_errors import Scored

Matrix = Any
"""Features (n, d), dense or CSR."""
SPARSE_BELOW = 0.25
"""Share of nonzero entries below which a matrix is stored as CSR."""
SHARED = "data"
"""The repetition under whose name split and noise are drawn for all trials, which differ in shuffling."""


def make_loss(content: object) -> Loss:
    """``{loss: ramp, s: -1}`` -> the loss.   Raises ValueError : an unknown loss or parameter."""
    if not isinstance(content, Mapping) or "loss" not in content:
        raise ValueError(
            f"{content!r}: a loss with its parameters is expected, such as {{loss: ramp, s: -1}}"
        )
    parameters = dict(content)
    name = parameters.pop("loss")
    if name not in LOSSES:
        raise ValueError(f"unknown loss {name!r}{near(name, LOSSES)}")
    check_keywords(LOSSES[name], parameters)
    return LOSSES[name](**parameters)


LossChoice = Annotated[Loss, PlainValidator(make_loss), WithJsonSchema({"type": "object"})]


class LinearMethod(Method):
    """A linear classifier; with ``losses`` the loss is chosen with lambda and the step size."""

    losses: Some[LossChoice] | None = Field(None, description="such as {loss: ramp, s: -1}; one is chosen")

    def check(self) -> None:
        """Check the parameters and those that the grid chooses."""
        if self.losses is None:
            self.check_parameters(self.cls, ("lam", "random_state"))
            return
        self.check_parameters(self.cls, ("loss", "lam", "multiplier", "epochs", "random_state"))
        self.require("fit_grid", "the choice among `losses`", "drop `losses`")
        self.check_parameters(self.cls.fit_grid)

    def model(self, point: Point, epochs: int, rng: np.random.Generator) -> Any:
        """The estimator at a point of its grid."""
        if self.losses is None:
            return self.build(random_state=int(rng.integers(2**31 - 1)), lam=point.lam)
        loss = self.losses[point.loss]
        return self.build(
            epochs=epochs, random_state=rng, lam=point.lam, loss=loss, multiplier=point.multiplier
        )

    def grid(self, settings: ErrorsSettings) -> list[Point]:
        """Every point of the grid."""
        multipliers = settings.multipliers if self.losses else [1.0]
        losses = range(len(self.losses or [None]))
        return [Point(i, lam, m) for i in losses for lam in settings.lambdas for m in multipliers]


class Point(NamedTuple):
    """A point of the grid; loss: its index in the method's list, 0 without a list."""

    loss: int
    lam: float
    multiplier: float


Family = Annotated[list[str], Field(min_length=2)]


class ErrorsSettings(OnDataSets):
    """Settings of `errors`."""

    epochs: PositiveInt = Field(description="passes over the training rows")
    folds: Folds = Field(description="of the cross-validation on the noisy training labels")
    rule: Literal["one_se", "minimum"] = Field(description="for the choice of lambda and step size")
    lambdas: Some[Positive]
    multipliers: Some[Positive] = Field(description="of 1/(L max ||x||^2), the first step size")
    cv_rows: PositiveInt = Field(description="most rows for the cross-validation, classes in proportion")
    rows: NonNegativeInt = Field(description="most training and test rows; 0: all")
    stand_in_rows: NonNegativeInt = Field(description="the same for stand-ins")
    resample_noise: bool = Field(description="new noise in every repetition, not only new shuffles")
    redraw: bool = Field(False, description="also trials with new flips and a new split: redrawn_error")
    official: list[str] = Field(description="sets with their own test part; the others are split 4:1")
    noise: Annotated[Flips, only("symmetric", "compound", "uniform", "class_conditional", "far_outliers")]
    methods: Methods[LinearMethod]
    objectives: list[str] = Field(description="methods whose objective is recorded")
    families: dict[Label, Family] = Field(description="name -> methods whose spread is recorded")

    def check_data(self, listed: Iterable[str]) -> None:
        """See `Settings.check_data`."""
        among("official", self.official, listed)

    @model_validator(mode="after")
    def _references(self) -> Self:
        among("objectives", self.objectives, self.methods)
        for name, members in self.families.items():
            among(f"families.{name}", members, self.methods)
            if name in self.methods:
                raise ValueError(f"families.{name}: a method has this name too; their rows would be mixed")
        self._check_objectives(custom=False)
        return self

    def check_custom(self) -> None:
        """Check the user's classes."""
        super().check_custom()
        self._check_objectives(custom=True)

    def _check_objectives(self, custom: bool) -> None:
        for label in self.objectives:
            for member in ("fit_epochs", "objective") if self.methods[label].custom == custom else ():
                user = "the record of its objective"
                self.methods[label].require(member, user, "take the method off `objectives`")


class TheoremSettings(Repeated):
    """Settings of `theorem`."""

    n: int = Field(ge=4, description="examples")
    d: PositiveInt = Field(description="features, without the constant one")
    T: int = Field(ge=2, description="steps")
    stride: int = Field(ge=2, description="steps between two evaluations of the objective")
    lam: Positive
    steps: Some[Share] = Field(description="eta in units of 1/(6 beta)")
    noise: Flips


def tune(settings: ErrorsSettings, walk: Walk) -> dict[str, Any]:
    """``{data set: {noise: {method: {loss, lam, multiplier, error, lowest}}}}``, by cross-validation."""
    tuned: dict[str, Any] = {}
    for name, _, clean, seeds in problems(settings, walk):
        tuned[name] = {}
        for noise in settings.noise:
            problem = with_noise(clean, noise, seeds, SHARED)
            problem = tuning_rows(problem, settings.cv_rows, seeds.generator("tuning", "rows"))
            rng = seeds.generator("tuning", f"folds {noise}")
            fold = stratified_folds(problem.noisy, settings.folds, rng)
            tuned[name][noise.label] = {}
            for label, method in settings.methods.items():
                wrong = validation_errors(method, problem, fold, settings, seeds, noise)
                tuned[name][noise.label][label] = choose(method.grid(settings), wrong, settings.rule)
    return tuned


def _chosen(walk: Walk, name: str, noise: Noise, method: str) -> Point:
    found = walk.tuned[name][noise.label][method]
    return Point(found["loss"], found["lam"], found["multiplier"])


METRICS = ("error", "reversed_error", "redrawn_error", "settled", "objective", "spread")


@protocol(ErrorsSettings, tune=tune, labels=METRICS)
def errors(settings: ErrorsSettings, walk: Walk) -> Iterator[Row]:
    """Test error of linear classifiers with robust and convex losses under label noise.

    Metrics: error, wrong test labels in % after epoch x (methods without epochs: at the last x);
    reversed_error, 100 - error at the last x; redrawn_error (if `redraw`), the last error of a trial with new
    flips and a new split, parameters as before; settled, the first epoch after which the error stays within a
    tenth of its last value; objective, G(w) on the noisy training data after epoch x, for the methods under
    `objectives`; spread, the largest minus the smallest last error within a family of methods.

    Source: Section 5.
    """
    for name, source, clean, seeds in problems(settings, walk):
        for noise in settings.noise:
            problem = with_noise(clean, noise, seeds, SHARED)
            points = {label: _chosen(walk, name, noise, label) for label in settings.methods}
            for repetition in walk.repetitions:
                if settings.resample_noise:
                    problem = with_noise(clean, noise, seeds, repetition)
                yield from _trial(settings, points, problem, _at(seeds, repetition, name, source, noise))
    for repetition in walk.repetitions if settings.redraw else ():
        for name, source, clean, seeds in problems(settings, walk, repetition):
            for noise in settings.noise:
                problem = with_noise(clean, noise, seeds, repetition)
                at = _at(seeds, repetition, name, source, noise)
                for label, method in settings.methods.items():
                    rng = at.rng(f"shuffle {noise}")
                    model = method.model(_chosen(walk, name, noise, label), settings.epochs, rng)
                    error = _error(model.fit(problem.X, problem.noisy), problem)
                    yield at.row("redrawn_error", error, method=label, x=settings.epochs)


def _at(seeds: Seeds, repetition: int, name: str, source: str, noise: Noise) -> At:
    columns: Row = {"dataset": name, "source": source, "noise": noise.label, "repetition": repetition}
    return At(seeds, repetition, columns)


def _trial(settings: ErrorsSettings, points: dict[str, Point], problem: Problem, at: At) -> Iterator[Row]:
    """Rows of one repetition: every method with the same shuffles."""
    final: dict[str, float] = {}
    everywhere = np.arange(len(problem.y_test), dtype=np.int32)
    for label, method in settings.methods.items():
        here = at.on(method=label)
        model = method.model(points[label], settings.epochs, at.rng(f"shuffle {at.columns['noise']}"))
        curves = _curves(model, problem, settings.epochs, label in settings.objectives)
        final[label] = curves["error"].pop(settings.epochs)
        yield from here.curve("error", curves.pop("error").items())
        wrong = model.predict(problem.X_test) != problem.y_test
        yield here.row("error", Scored(everywhere, wrong, len(wrong)), x=settings.epochs)
        for metric, curve in curves.items():
            yield from here.curve(metric, curve.items())
    for family, members in settings.families.items():
        values = [final[member] for member in members]
        yield at.row("spread", max(values) - min(values), method=family)


def _curves(model: Any, problem: Problem, epochs: int, watched: bool) -> dict[str, dict[int, float]]:
    """metric -> {epoch: value}."""
    errors: dict[int, float] = {}
    curves = {"error": errors}
    start = {0: float(model.loss.value(0.0))} if watched else {}
    if hasattr(model, "fit_epochs"):
        objective = {}
        for number, fitted in enumerate(model.fit_epochs(problem.X, problem.noisy), start=1):
            errors[number] = _error(fitted, problem)
            if watched:
                objective[number] = fitted.objective(problem.X, problem.noisy)
        if watched:
            curves["objective"] = start | objective
        curves["settled"] = {epochs: _first_settled(list(errors.values()))}
    else:
        errors[epochs] = _error(model.fit(problem.X, problem.noisy), problem)
    return curves | {"reversed_error": {epochs: 100.0 - errors[epochs]}}


def _first_settled(errors: list[float]) -> float:
    """The first epoch (from 1) from which every error is within 10 % of the last one."""
    far = [
        number for number, error in enumerate(errors, start=1) if abs(error - errors[-1]) > 0.1 * errors[-1]
    ]
    return float(far[-1] + 1 if far else 1)


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

    @property
    def labels(self) -> Floats:
        """The noisy labels as floats, for the compiled learners."""
        return self.noisy.astype(np.float64)


def problems(
    settings: ErrorsSettings, walk: Walk, repetition: int | str = SHARED
) -> Iterator[tuple[str, str, Problem, Seeds]]:
    """(name, source, clean problem, seeds) of the data sets that the settings name; see `clean_problem`."""
    for name, dataset, seeds in walk.data_sets(settings.datasets):
        rows = settings.stand_in_rows if "stand-in" in dataset.variant else settings.rows
        official = name in settings.official
        problem = clean_problem(dataset, seeds, official=official, rows=rows, repetition=repetition)
        yield name, dataset.variant, problem, seeds


def clean_problem(
    data: Any, seeds: Seeds, *, official: bool, rows: int = 0, repetition: int | str = SHARED
) -> Problem:
    """The split and scaled problem of a prepared data set.

    official : use the set's own test part, else pool all rows and split them 4:1, classes in proportion.
    repetition : `SHARED`, or the trial for which all rows are pooled and split again, as large as before.
    rows : keep that many training and test rows at most, classes in proportion; 0: all.

    Raises ValueError : no official test part, or a class that would be empty in one of the parts.
    """
    rng = seeds.generator(repetition, "split")
    train, labels = unpack(data.arrays)
    has_test, share = "y_test" in data.arrays, 0.8
    if official and not has_test:
        raise ValueError(f"data set {data.id} has no official test part; take it off `official`")
    if official and repetition == SHARED:
        test, test_labels = unpack(data.arrays, "test")
    else:
        if has_test:
            extra, extra_labels = unpack(data.arrays, "test")
            share = len(labels) / (len(labels) + len(extra_labels)) if official else share
            train, labels = _stack(train, extra), np.concatenate([labels, extra_labels])
        kept = stratified_mask(labels, share, rng)
        test, test_labels, train, labels = train[~kept], labels[~kept], train[kept], labels[kept]
    if rows:
        some = stratified_mask(labels, rows / len(labels), rng)
        train, labels = train[some], labels[some]
        some = stratified_mask(test_labels, rows / len(test_labels), rng)
        test, test_labels = test[some], test_labels[some]
    train, test = scaled(_stored(train), _stored(test))
    return Problem(train, labels, labels, test, test_labels)


def with_noise(problem: Problem, noise: Noise, seeds: Seeds, repetition: int | str) -> Problem:
    """The problem with corrupted training labels; ``repetition`` is `SHARED` if all trials share the noise.

    Symmetric flips of more than one half are those of the complementary rate reversed: who keeps the label at
    40 % is flipped at 60 %, so that the labels of the two are each other's opposite.
    """
    if noise.model == "symmetric" and noise.parameters["rate"] > 0.5:
        complement = Noise.parse(f"symmetric {1 - noise.parameters['rate']:g}")
        return replace(problem, noisy=-with_noise(problem, complement, seeds, repetition).noisy)
    f = _reference(problem) if noise.model == "far_outliers" else None
    noisy = noise.corrupt(problem.clean, seeds.generator(repetition, f"noise {noise}"), f)
    return replace(problem, noisy=noisy)


def _reference(problem: Problem) -> Floats:
    """Decision values of a linear classifier that has seen the clean labels."""
    from noisylabels.classifiers.linear import LiblinearClassifier

    return LiblinearClassifier(1e-4).fit(problem.X, problem.clean).decision_function(problem.X)


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
    from scipy.sparse import csr_matrix

    if isinstance(X, np.ndarray) and np.count_nonzero(X) >= SPARSE_BELOW * X.size:
        return X
    return csr_matrix(X, dtype=np.float64)


def _stack(first: Matrix, second: Matrix) -> Matrix:
    from scipy.sparse import vstack

    if isinstance(first, np.ndarray):
        return np.vstack([first, second])
    return vstack([first, second], format="csr")


# The choice of parameters by cross-validation on the noisy labels


def validation_errors(
    method: LinearMethod,
    problem: Problem,
    fold: Indices,
    settings: ErrorsSettings,
    seeds: Seeds,
    noise: Noise,
) -> Floats:
    """Misclassification of the noisy labels, (folds, points); every fold is shuffled by its own stream."""
    points, epochs = method.grid(settings), settings.epochs
    wrong = np.empty((int(fold.max()) + 1, len(points)))
    for k in range(len(wrong)):
        train, held = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        rng = seeds.generator("tuning", f"shuffle {noise} fold {k}")
        if method.losses is None:
            for j, point in enumerate(points):
                model = method.model(point, epochs, rng).fit(problem.X[train], problem.noisy[train])
                wrong[k, j] = np.mean(model.predict(problem.X[held]) != problem.noisy[held])
        else:
            candidates = [Candidate(method.losses[p.loss], p.lam, p.multiplier) for p in points]
            W = method.cls.fit_grid(
                problem.X, problem.labels, train, candidates, rng, epochs=epochs, **method.parameters
            )
            f = problem.X[held] @ W[:-1] + W[-1]
            misses = (f >= 0) != (problem.noisy[held] > 0)[:, np.newaxis]
            wrong[k] = np.where(np.isfinite(W).all(axis=0), misses.mean(axis=0), 1.0)
    return wrong


def choose(points: list[Point], errors: Floats, rule: str) -> dict[str, Any]:
    """The chosen point, its mean error and the lowest one; errors (folds, points).

    "one_se": among points within one standard error of the lowest mean, the largest lambda, then the smallest
    multiplier, then the lowest mean. "minimum": the lowest mean, ties as above.
    """
    mean = errors.mean(axis=0)
    best = int(mean.argmin())
    slack = 0.0
    if rule == "one_se" and len(errors) > 1:
        slack = float(errors[:, best].std(ddof=1) / np.sqrt(len(errors)))
    near = np.flatnonzero(mean <= mean[best] + slack)
    chosen = min(near, key=lambda j: (-points[j].lam, points[j].multiplier, mean[j], j))
    return points[chosen]._asdict() | {"error": float(mean[chosen]), "lowest": float(mean[best])}


def tuning_rows(problem: Problem, limit: int, rng: np.random.Generator) -> Problem:
    """The problem with at most ``limit`` training rows, classes (of the noisy labels) in proportion."""
    mask = stratified_mask(problem.noisy, limit / len(problem.noisy), rng)
    if mask.all():
        return problem
    return replace(problem, X=problem.X[mask], clean=problem.clean[mask], noisy=problem.noisy[mask])


# Theorem 1

TERMS = ("gap", "published", "corrected", "excess_published", "excess_corrected")


@protocol(TheoremSettings, labels=(*TERMS, "from zero", "from the optimum", "[0-9]*"))
def theorem(settings: TheoremSettings, walk: Walk) -> Iterator[Row]:
    """Constant steps and Theorem 1: the published bound, and with the term that its proof drops.

    For a convex, beta-smooth G, eta < 1/(6 beta) and i uniform, with D = ||w_0 - w*||^2:
    published   D / ((2 eta - 12 eta^2 beta) T)
    corrected   published + 3 eta sigma^2 / (2 - 12 eta beta),  sigma^2 = E ||grad g_i(w*)||^2,
    both against the mean of E G(w_t) - G(w*) over the T steps. Metrics: gap (that mean, over every
    `stride`-th step), published, corrected, and excess_published = gap - published, excess_corrected.
    noise = flips, setting = eta in units of 1/(6 beta), method = where w starts.
    """
    loss, lam = Log(), settings.lam
    for at in walk.trials():
        for noise in settings.noise:
            X, y = _points(settings, noise, at)
            optimum = minimiser(X, y, lam)
            gradients = (loss.slope(y * (X @ optimum)) * y)[:, np.newaxis] * X + lam * optimum
            sigma2 = float(np.mean(np.sum(gradients**2, axis=1)))
            beta = loss.curvature * float(np.max(np.sum(X**2, axis=1))) + lam
            for share in settings.steps:
                eta = share / (6 * beta)
                for method, start in (("from zero", np.zeros_like(optimum)), ("from the optimum", optimum)):
                    gap = _mean_gap(X, y, settings, eta, start, optimum, at.rng(f"order {noise}"))
                    free = 2 * eta - 12 * eta**2 * beta
                    published = float(np.sum((start - optimum) ** 2)) / (free * settings.T)
                    corrected = published + 3 * eta**2 * sigma2 / free
                    values = (gap, published, corrected, gap - published, gap - corrected)
                    here = at.on(noise=noise.label, setting=f"{share:g}", method=method, x=settings.T)
                    yield from here.rows(dict(zip(TERMS, values, strict=True)))


def _points(settings: TheoremSettings, noise: Noise, at: At) -> tuple[Floats, Floats]:
    """Two Gaussian classes, +-m along the diagonal with |m| = 1, and a constant feature."""
    n, d = settings.n, settings.d
    y = np.where(np.arange(n) % 2 == 0, 1, -1).astype(np.int8)
    X = at.rng("points").standard_normal((n, d)) / np.sqrt(d) + y[:, np.newaxis] / np.sqrt(d)
    noisy = noise.corrupt(y, at.rng(f"noise {noise}"))
    return np.column_stack([X, np.ones(n)]), noisy.astype(np.float64)


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


def _mean_gap(
    X: Floats,
    y: Floats,
    settings: TheoremSettings,
    eta: float,
    start: Floats,
    optimum: Floats,
    rng: np.random.Generator,
) -> float:
    """Mean of G(w_t) - G(w*) over t = 1, 1 + stride, ... of one run of T constant steps."""
    loss, lam = Log(), settings.lam
    rows, w = as_rows(X), np.append(start, 0.0)
    objective = Objective(loss, lam, 0.0, 0.0)
    order = rng.integers(len(y), size=settings.T, dtype=np.uint32)
    steps = Schedule(eta, 0.0, 1.0, 1.0)
    unused = np.zeros_like(w)

    def G(v: Floats) -> float:
        return float(loss.value(y * (X @ v)).mean() + 0.5 * lam * (v @ v))

    gaps = []
    for first in range(0, settings.T, settings.stride):
        epoch(rows, y, order[first : first + 1], w, unused, False, objective, steps, 0)
        gaps.append(G(w[:-1]) - G(optimum))
        epoch(rows, y, order[first + 1 : first + settings.stride], w, unused, False, objective, steps, 0)
    return float(np.mean(gaps))
