"""Experiments on the p-norm LMS algorithm (Kivinen, Warmuth and Hassibi): bounds and comparisons.

A loss above its bound is an error here, not a data point.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple, Self

import numpy as np
from pydantic import Field, model_validator

from noisylabels.filters import theory
from noisylabels.filters.base import Filter, Sliding, window_means, window_starts
from noisylabels.filters.lms import LMS
from noisylabels.filters.pnorm import EG, BoundedPNormLMS, EGPlusMinus, PNormLMS
from noisylabels.filters.theory import divergence_dual, dual, exponent, norm
from noisylabels.validation import Floats
from reproduction.run.protocol_loop import Loop, Repetition, Row
from reproduction.run.tuning import TunedFilter, check_grids, grid_values
from reproduction.spec import settings as keys
from reproduction.spec.protocol import protocol
from reproduction.spec.settings import (
    Count,
    Distinct,
    Label,
    Methods,
    Model,
    Positive,
    Some,
    Trials,
)

Inputs = Annotated[int, Field(ge=3, description="inputs")]
Rounds = Annotated[int, Field(ge=1, description="rounds")]
Noise = Annotated[float, Field(ge=0, description="standard deviation of the label noise")]
Ones = Annotated[int, Field(ge=1, description="non-zero entries of the target")]
Instances = Literal["signs", "unit", "unit vectors", "gaussian", "heavy"]
Number = int | float
"""A number that is part of a name, where 3 differs from 3.0."""
TUNING = "tuning"
BOUNDED = ("*_loss", "*_bound", "*_ratio")
"""Metrics of a loss and its bound."""


def instances(rng: np.random.Generator, kind: str, T: int, n: int) -> Floats:
    """Draw T rows of n entries.

    The entries are +-1 ("signs"), Gaussian, or Student's t with 3 degrees of freedom ("heavy"), or
    the rows are uniform on the sphere ("unit") or among the n unit vectors ("unit vectors").
    """
    if kind == "unit vectors":
        entries = rng.integers(0, n, T)
        return np.eye(n)[entries]
    if kind == "signs":
        bits = rng.integers(0, 2, (T, n), dtype=np.int8)
        return np.where(bits > 0, 1.0, -1.0)
    if kind == "heavy":
        return rng.standard_t(3, (T, n))
    X = rng.standard_normal((T, n))
    if kind == "unit":
        lengths = np.sqrt(np.einsum("ij,ij->i", X, X))
        return X / lengths[:, None]
    return X


def sum_squares(values: Floats) -> float:
    """Compute the sum of squares."""
    return float((values**2).sum())


def first_ones(n: int, k: int) -> Floats:
    """Make n weights: k ones, then zeros."""
    return np.where(np.arange(n) < k, 1.0, 0.0)


@dataclass(frozen=True)
class Theorem:
    """The norms, steps and bounds of the theorems.

    The rate of the filtering bound is eta = 1/((p-1) X_p^2).

    Parameters
    ----------
    p : float
        Power of the norm of the rows; q is its dual.
    x_size : float
        Largest norm X_p = max_t ||x_t||_p of a row.
    """

    p: float
    x_size: float

    @classmethod
    def measure(cls, p: float | str, X: Floats) -> "Theorem":
        """Measure X_p on all rows of the run, in two passes over the data."""
        p = exponent(p, X.shape[1])
        block = max(1, 2**16 // X.shape[1])
        starts = range(0, len(X), block)
        norms = [float(norm(X[start : start + block], p).max()) for start in starts]
        return cls(p, max(norms))

    @property
    def eta(self) -> float:
        """Compute the rate of the filtering bound."""
        return theory.rate(self.p, self.x_size)

    def filter(self, alpha: float = 1.0) -> PNormLMS:
        """Make p-norm LMS with alpha times this rate."""
        return PNormLMS(theory.rate(self.p, self.x_size, alpha), self.p)

    def penalty(self, u: Floats) -> float:
        """Compute the constant of the bounds, (p-1) X_p^2 ||u||_q^2."""
        return theory.penalty(self.p, self.x_size, float(norm(u, dual(self.p))))


def theorems_of(X: Floats) -> dict[str, Theorem]:
    """Make the theorems of LMS and of p-norm LMS with p = 2 ln n."""
    return {"lms": Theorem.measure(2.0, X), "pnorm_lms": Theorem.measure("auto", X)}


def checked(repetition: Repetition, name: str, loss: float, bound: float) -> float:
    """Compute loss / bound.

    Raises RuntimeError : the loss is above its bound; the message names the place.
    """
    columns = repetition.columns.items()
    description = " ".join(f"{key} {value}" for key, value in columns if value != "")
    return theory.checked_ratio(loss, bound, f"{name}, {description}")


def bounded(
    repetition: Repetition,
    name: str,
    loss: float,
    bound: float,
    x: float = float("nan"),
) -> Iterator[Row]:
    """Make the rows name_loss, name_bound and name_ratio.

    Raises RuntimeError : the loss is above its bound.
    """
    ratio = checked(repetition, f"{name} bound", loss, bound)
    metrics = {f"{name}_loss": loss, f"{name}_bound": bound, f"{name}_ratio": ratio}
    return repetition.rows(metrics, x=x)


def runs(loop: Loop, count: int) -> Iterator[Repetition]:
    """Yield ``count`` runs for each repetition, numbered through."""
    first = loop.repetitions.start * count
    for number in range(first, loop.repetitions.stop * count):
        yield Repetition(loop.seeds, number, {"repetition": number})


# The bounds


class Filtering(Model):
    """Settings of random configurations, with labels u.x + noise or unrelated to u."""

    configurations: Count = Field(description="random configurations of a repetition")
    largest_n: Inputs
    most_rounds: int = Field(ge=20)
    most_noise: Noise
    instances: Distinct[Instances]


class Prediction(Model):
    """Settings of the loss against labels, for a grid of alpha and the best alpha of the bound."""

    n: Inputs
    rounds: Rounds
    ones: Ones
    noises: Some[Noise]
    alphas: Some[keys.Share]


class Expected(Model):
    """Settings of the expected bound, for noise of variance eps."""

    runs: Count = Field(description="runs of a repetition")
    n: Inputs
    rounds: Rounds
    ones: Ones
    noise: Noise
    points: int = Field(ge=2, description="points of the curves, evenly on a log axis")


class BoundsSettings(Trials):
    """Settings of the filtering, prediction and expected bounds, next to their losses."""

    filtering: Filtering
    prediction: Prediction
    expected: Expected


@protocol(
    BoundsSettings,
    labels=(
        *("noisy", "adversarial", "sd *", "expected", "grid", "tuned", "lms", "pnorm_lms"),
        *(*BOUNDED, "smallest_step_slack", "difference_*", "mean_loss", "alpha"),
    ),
)
def bounds(settings: BoundsSettings, loop: Loop) -> Iterator[Row]:
    """Measure losses, bounds and their ratios.

    Filtering: one repetition per configuration; noise = kind of labels, setting = kind of rows,
    x = p.
    Prediction: noise = "sd ..", setting = grid | tuned, x = alpha.
    Expected: x = T, the rounds so far.
    """
    for repetition in runs(loop, settings.filtering.configurations):
        yield from _filtering(settings.filtering, repetition)
    for repetition in loop:
        yield from _prediction(settings.prediction, repetition)
    yield from _expected(settings.expected, loop)


def _filtering(s: Filtering, repetition: Repetition) -> Iterator[Row]:
    """Check the bound and its steps, LMS as the case p = 2, and rotated rows."""
    rng = repetition.rng("configuration")
    n = int(rng.integers(2, s.largest_n + 1))
    T = int(rng.integers(20, s.most_rounds + 1))
    kind = str(rng.choice(s.instances))
    labels = str(rng.choice(["noisy", "adversarial"]))
    X = instances(rng, kind, T, n)
    u = _draw_target(rng, n)
    clean = X @ u
    sd = rng.uniform(0, s.most_noise)
    noise = sd * rng.standard_normal(T)
    if labels == "noisy":
        y = clean + noise
    else:
        y = rng.standard_normal(T) * rng.uniform(0.1, 10)
    theorem = Theorem.measure(rng.uniform(2, 2 + 2 * np.log(n)), X)
    yhat = theorem.filter().run(X, y)
    repetition = repetition.with_columns(noise=labels, setting=kind)
    of_pnorm = repetition.with_columns(method="pnorm_lms")
    loss = sum_squares(clean - yhat)
    bound = sum_squares(y - clean) + theorem.penalty(u)
    yield from bounded(of_pnorm, "filtering", loss, bound, theorem.p)
    slack = smallest_slack(X, y, u, yhat, theorem)
    yield of_pnorm.row("smallest_step_slack", slack, x=theorem.p)
    matrix = rng.standard_normal((n, n))
    rotation = np.linalg.qr(matrix)[0]
    yield from _compare_filters(X, y, yhat, rotation, theorem, repetition)


def _compare_filters(
    X: Floats,
    y: Floats,
    yhat: Floats,
    rotation: Floats,
    theorem: Theorem,
    repetition: Repetition,
) -> Iterator[Row]:
    """Compare p-norm LMS at p = 2 with LMS, and both filters with themselves on rotated rows.

    yhat : predictions of p-norm LMS on the rows X.
    """
    eta = Theorem.measure(2.0, X).eta
    yhat_lms = LMS(eta).run(X, y)
    yhat_at_p_2 = PNormLMS(eta, 2.0).run(X, y)
    rotated = X @ rotation
    lms_rotated = LMS(eta).run(rotated, y)
    pnorm_rotated = theorem.filter().run(rotated, y)
    scale = float(np.abs(y).max())
    for method, metric, difference in (
        ("pnorm_lms", "difference_from_lms_at_p_2", yhat_at_p_2 - yhat_lms),
        ("lms", "difference_after_rotation", lms_rotated - yhat_lms),
        ("pnorm_lms", "difference_after_rotation", pnorm_rotated - yhat),
    ):
        largest = float(np.abs(difference).max())
        yield repetition.row(metric, largest / scale, method=method)


def _draw_target(rng: np.random.Generator, n: int) -> Floats:
    """Draw a Gaussian target, half of the time a sparse one, that is not zero."""
    weights = rng.standard_normal(n)
    uniform = rng.random(n)
    share = 0.1 if rng.random() < 0.5 else 1.0
    u = weights * (uniform < share)
    if not u.any():
        u[int(rng.integers(n))] = 1.0
    return u


def smallest_slack(X: Floats, y: Floats, u: Floats, yhat: Floats, theorem: Theorem) -> float:
    """Compute the smallest slack of a step, as a share of the initial divergence.

    It is the minimum over t of
    d(u, w_{t-1}) - d(u, w_t) - eta/2 [(u.x_t - yhat_t)^2 - (y_t - u.x_t)^2].

    Raises RuntimeError: a step below 0 (beyond rounding), which the theorem excludes.
    """
    clean = X @ u
    steps = theorem.eta * (y - yhat)[:, None] * X
    start = np.zeros(X.shape[1])
    theta = np.vstack([start, np.cumsum(steps, axis=0)])
    d = divergence_dual(u, theta, theorem.p)
    gained = (clean - yhat) ** 2
    lost = (y - clean) ** 2
    progress = 0.5 * theorem.eta * (gained - lost)
    slack = float((-np.diff(d) - progress).min()) / d[0]
    largest = max(1.0, d.max() / d[0])
    if slack < -theory.TOLERANCE * largest:
        progress_message = "a step of p-norm LMS makes less progress than the theorem says"
        raise RuntimeError(f"{progress_message}: slack {slack:.3g}")
    return slack


class _PredictionRun(NamedTuple):
    """Run p-norm LMS with alpha times the theorem's rate, on noisy labels."""

    repetition: Repetition
    theorem: Theorem
    noise: float
    alpha: float
    energy: float


def _prediction(s: Prediction, repetition: Repetition) -> Iterator[Row]:
    """Check the prediction bound on a grid of alpha, and at the best alpha of the bound."""
    u = first_ones(s.n, s.ones)
    X = instances(repetition.rng("prediction x"), "gaussian", s.rounds, s.n)
    standard = repetition.rng("prediction noise").standard_normal(s.rounds)
    planned: list[_PredictionRun] = []
    for method, theorem in theorems_of(X).items():
        penalty = theorem.penalty(u)
        for noise in s.noises:
            scaled = noise * standard
            energy = float(scaled @ scaled)
            of_method = repetition.with_columns(noise=f"sd {noise:g}", method=method)
            on_grid = of_method.with_columns(setting="grid")
            for alpha in s.alphas:
                planned.append(_PredictionRun(on_grid, theorem, noise, alpha, energy))
            best = theory.best_alpha(energy, penalty)
            tuned = of_method.with_columns(setting="tuned")
            planned.append(_PredictionRun(tuned, theorem, noise, best, energy))
    clean = X @ u
    labels = np.array([clean + run.noise * standard for run in planned])
    filters = [run.theorem.filter(run.alpha) for run in planned]
    residuals = PNormLMS.run_many(filters, X, labels) - labels
    losses = (residuals**2).sum(axis=1)
    for run, loss in zip(planned, losses, strict=True):
        bound = theory.prediction(run.energy, run.theorem.penalty(u), run.alpha)
        if run.repetition.columns["setting"] == "tuned":
            yield from bounded(run.repetition, "prediction", float(loss), bound)
            yield run.repetition.row("alpha", run.alpha)
        else:
            yield from bounded(run.repetition, "prediction", float(loss), bound, run.alpha)


def _expected(s: Expected, loop: Loop) -> Iterator[Row]:
    """Measure the mean loss; rows and target are fixed, only the noise differs between runs.

    Every run also obeys the bound with the noise that it has seen, which is checked.
    """
    rng = loop.seeds.generator("shared", "expected x")
    X = instances(rng, "unit", s.rounds, s.n) * np.sqrt(s.n)
    u = first_ones(s.n, s.ones) / np.sqrt(s.ones)
    clean = X @ u
    eps = s.noise**2
    spaced = np.geomspace(1, s.rounds, s.points)
    rounds = np.unique(spaced.round().astype(int))
    theorems = theorems_of(X)
    for repetition in runs(loop, s.runs):
        of_run = repetition.with_columns(noise=f"sd {s.noise:g}", setting="expected")
        noise = s.noise * repetition.rng("expected noise").standard_normal(s.rounds)
        filters = [theorem.filter() for theorem in theorems.values()]
        predictions = PNormLMS.run_many(filters, X, clean + noise)
        energy = float(np.cumsum(noise**2)[-1])
        for (method, theorem), yhat in zip(theorems.items(), predictions, strict=True):
            K = theorem.penalty(u)
            total = np.cumsum((clean - yhat) ** 2)
            of_method = of_run.with_columns(method=method)
            bound = energy + K
            yield from bounded(of_method, "filtering", float(total[-1]), bound, s.rounds)
            for t in rounds:
                mean_loss = total[t - 1] / t
                expected_bound = eps + K / t
                metrics = {
                    "mean_loss": mean_loss,
                    "expected_bound": expected_bound,
                    "expected_ratio": mean_loss / expected_bound,
                }
                yield from of_method.rows(metrics, x=int(t))


# Sparse and dense targets


class Task(Model):
    """Settings of the rows and the target of a comparison."""

    instances: Instances
    ones: Ones | Literal["all"]
    most_rounds: Rounds


class Comparison(Model):
    """Settings of sparse targets with dense instances, and the other way round."""

    sizes: Distinct[Inputs]
    rounds_per_input: Count = Field(description="T = min(this times n, most_rounds)")
    noise: Noise
    tasks: dict[Label, Task] = Field(min_length=1)


class Interpolation(Model):
    """Settings of p and sparsity on dense +-1 instances.

    The target u has k entries 1/sqrt(k), so that every k has the same energy.
    """

    n: Inputs
    rounds: Rounds
    noise: Noise
    ones: Distinct[Ones]
    powers: Some[Annotated[float, Field(ge=2)] | Literal["auto"]] = Field(
        description="p; auto = 2 ln n",
    )


class SparsitySettings(Trials):
    """Settings of a comparison of LMS, p-norm LMS and EG+- against n."""

    comparison: Comparison
    interpolation: Interpolation


@protocol(
    SparsitySettings,
    labels=("k=*", "lms", "pnorm_lms", "eg_pm", "target", *BOUNDED, "noise_energy", "best_p"),
)
def sparsity(settings: SparsitySettings, loop: Loop) -> Iterator[Row]:
    """Measure filtering losses of each task against n.

    Then the losses for each sparsity: setting = "k=..", x = p; and best_p.
    """
    s = settings.comparison
    for repetition in loop:
        for (name, task), n in itertools.product(s.tasks.items(), s.sizes):
            T = min(s.rounds_per_input * n, task.most_rounds)
            X = instances(repetition.rng(f"x {name} {n}"), task.instances, T, n)
            count = n if task.ones == "all" else task.ones
            u = first_ones(n, count)
            noise = s.noise * repetition.rng(f"noise {name} {n}").standard_normal(T)
            yield from _compared(X, u, noise, repetition.with_columns(setting=name))
    for repetition in loop:
        yield from _interpolated(settings.interpolation, repetition)


def _compared(X: Floats, u: Floats, noise: Floats, repetition: Repetition) -> Iterator[Row]:
    """Compare LMS, p-norm LMS and EG+- on one sequence."""
    n = X.shape[1]
    clean = X @ u
    y = clean + noise
    energy = float(noise @ noise)
    yield repetition.row("noise_energy", energy, method="target", x=n)
    for method, theorem in theorems_of(X).items():
        of_method = repetition.with_columns(method=method)
        f = LMS(theorem.eta) if method == "lms" else theorem.filter()
        yhat = f.run(X, y)
        bound = energy + theorem.penalty(u)
        yield from bounded(of_method, "filtering", sum_squares(clean - yhat), bound, n)
        yield of_method.row("prediction_loss", sum_squares(y - yhat), x=n)
    budget = float(np.abs(u).sum())
    largest_entry = float(np.abs(X).max())
    rate = 1.0 / (3.0 * (budget * largest_entry) ** 2)
    yhat = EGPlusMinus(rate, budget).run(X, y)
    of_eg = repetition.with_columns(method="eg_pm")
    bound = theory.eg_plus_minus(energy, budget, largest_entry, n)
    yield from bounded(of_eg, "prediction", sum_squares(y - yhat), bound, n)
    yield of_eg.row("filtering_loss", sum_squares(clean - yhat), x=n)


def _interpolated(s: Interpolation, repetition: Repetition) -> Iterator[Row]:
    """Measure the loss of every p for every sparsity of the target."""
    X = instances(repetition.rng("x"), "signs", s.rounds, s.n)
    noise = s.noise * repetition.rng("noise").standard_normal(s.rounds)
    energy = float(noise @ noise)
    theorems = [Theorem.measure(p, X) for p in s.powers]
    targets_of_k = {k: first_ones(s.n, k) / np.sqrt(k) for k in s.ones}
    labels_of_k = [X @ u + noise for u in targets_of_k.values()]
    labels = np.repeat(labels_of_k, len(theorems), axis=0)
    filters = []
    for _ in targets_of_k:
        filters += [theorem.filter() for theorem in theorems]
    predictions = PNormLMS.run_many(filters, X, labels)
    errors = labels - noise - predictions
    losses = (errors**2).sum(axis=1)
    losses_of_k = losses.reshape(len(targets_of_k), len(theorems))
    for (k, u), losses_of_target in zip(targets_of_k.items(), losses_of_k, strict=True):
        of_target = repetition.with_columns(setting=f"k={k}", method="pnorm_lms")
        for theorem, loss in zip(theorems, losses_of_target, strict=True):
            bound = energy + theorem.penalty(u)
            yield from bounded(of_target, "filtering", float(loss), bound, theorem.p)
        best = int(np.argmin(losses_of_target))
        yield of_target.row("best_p", theorems[best].p)


# Rows of a Hadamard matrix


class HadamardSettings(Trials):
    """Settings of the rows of a Hadamard matrix, with one of its columns as target.

    Rotation invariant filters need all n rows.
    """

    sizes: Distinct[int] = Field(description="powers of two, at least 4")

    @model_validator(mode="after")
    def _powers_of_two(self) -> Self:
        for size in self.sizes:
            if size < 4 or size & (size - 1):
                raise ValueError(f"sizes: {size} is not a power of two of at least 4")
        return self


def marks(n: int) -> list[int]:
    """List the numbers of rows at which errors are measured.

    These are all to 16, then about 12 per doubling, n/4 and n.
    """
    first = range(min(16, n) + 1)
    twelfths = range(12 * 4, 12 * int(math.log2(n)) + 1)
    fine = [round(2 ** (i / 12)) for i in twelfths]
    numbers = {*first, *fine, n // 4, n}
    return sorted(k for k in numbers if k <= n)


@protocol(
    HadamardSettings,
    labels=("n=*", "lms", "pnorm_lms", "eg", *BOUNDED, "error*", "largest_error_k_over_ln_n"),
)
def hadamard(settings: HadamardSettings, loop: Loop) -> Iterator[Row]:
    """Measure the error over all rows after k rows of one pass, for each n.

    error = 1/n sum_i (H_i.(w_k - u))^2 = ||w_k - u||^2.
    LMS with eta = 1/n has error 1 - k/n whatever the order of the rows.
    """
    from scipy.linalg import hadamard as sylvester

    for n in settings.sizes:
        H = sylvester(n, dtype=float)
        theorem = Theorem.measure("auto", H[:1])  # all rows have the norm n^(1/p)
        filters: dict[str, tuple[Filter, float]] = {
            "lms": (LMS(1.0 / n), float(n)),
            "pnorm_lms": (theorem.filter(), (theorem.p - 1.0) * theorem.x_size**2),
            "eg": (EG(2.0 / (3.0 * 2.0**2)), theory.eg(0.0, 2.0, n)),
        }
        for repetition in loop:
            rng = repetition.rng(f"order {n}")
            order = rng.permutation(n)
            column = int(rng.integers(n))
            for method, (f, bound) in filters.items():
                of_method = repetition.with_columns(setting=f"n={n}", method=method)
                yield from _one_pass(f, bound, H[order], column, of_method)


def _one_pass(
    f: Filter,
    bound: float,
    X: Floats,
    column: int,
    repetition: Repetition,
) -> Iterator[Row]:
    """Run a filter over all rows once, and measure its error on the way."""
    n = len(X)
    log_n = math.log(n)
    u = np.eye(n)[column]
    is_lms = repetition.columns["method"] == "lms"
    f._start(n)
    loss = 0.0
    largest_scaled_error = 0.0
    for n_seen, k in itertools.pairwise([0, *marks(n)]):
        if k > n_seen:
            rows = X[n_seen:k]
            y = X[n_seen:k, column]
            loss += sum_squares(f.run(rows, y) - y)
        error = sum_squares(f.w - u)
        exact = 1 - k / n
        if is_lms and abs(error - exact) > 1e-9:
            seen_rows = f"after {k} of {n} Hadamard rows"
            raise RuntimeError(f"LMS error {error:.12g} {seen_rows} is not 1 - k/n")
        yield repetition.row("error", error, x=k)
        yield from bounded(repetition, "online", loss, bound, k)
        if k >= 2 * log_n:
            scaled_error = error * k / log_n
            largest_scaled_error = max(largest_scaled_error, scaled_error)
        if k == n // 4:
            yield repetition.row("error_at_quarter", error)
    yield repetition.row("largest_error_k_over_ln_n", largest_scaled_error)


# The worst case


class HInfinitySettings(Trials):
    """Settings of the largest ratio of filtering error to noise energy plus initial uncertainty."""

    n: Inputs
    rounds: Distinct[Count] = Field(description="numbers of rows T; memory grows with T^2")
    steps: Some[Positive] = Field(description="LMS steps, times 1/X^2")
    powers: Some[Annotated[Number, Field(gt=2)]] = Field(
        description="p of the adversaries and of the ascent",
    )
    silent_rounds: Distinct[Count]
    ascent_rounds: Rounds
    starts: Count
    climbs: Count = Field(description="gradient steps")


@protocol(
    HInfinitySettings,
    labels=("p=*", "lms*", "rls", "ascent", "silent *", "one-shot *", "worst u *", "ratio"),
)
def hinfinity(settings: HInfinitySettings, loop: Loop) -> Iterator[Row]:
    """Measure the worst ratio in three ways: exactly, by adversaries and by gradient ascent.

    rho = sum (u.x - yhat)^2 / (sum (y - u.x)^2 + (p-1) X_p^2 ||u||_q^2).
    setting = how u and y are chosen, x = T; see `noisylabels.filters.theory`.
    """
    n = settings.n
    for repetition in loop:
        if repetition.number == 0:
            yield from _adversaries(settings, repetition)
    for repetition in loop:
        for T in settings.rounds:
            X = repetition.rng(f"x {T}").standard_normal((T, n))
            y = repetition.rng(f"y {T}").standard_normal(T)
            yield from _exact(X, y, repetition.with_columns(x=T), settings.steps)
        for p in settings.powers:
            yield _ascend(settings, p, repetition)


def _ascend(settings: HInfinitySettings, p: Number, repetition: Repetition) -> Row:
    """Measure the largest ratio that gradient ascent reaches from several starts."""
    T = settings.ascent_rounds
    n = settings.n
    X = repetition.rng(f"ascent x {p}").standard_normal((T, n))
    rng = repetition.rng(f"starts {p}")
    size = Theorem.measure(p, X).x_size
    ratios = []
    for _ in range(settings.starts):
        point = rng.standard_normal(n + T)
        start = point / np.linalg.norm(point)
        ratio, *_ = theory.ascend(X, p, size, start, settings.climbs)
        ratios.append(ratio)
    of_ascent = repetition.with_columns(setting="ascent", method=f"p={p:g}", x=T)
    return _ratio(of_ascent, max(ratios))


def _ratio(repetition: Repetition, value: float) -> Row:
    """Make a row with a ratio that the theorem bounds by 1.

    Raises RuntimeError : it is above.
    """
    return repetition.row("ratio", checked(repetition, "ratio", value, 1.0))


def _exact(X: Floats, y: Floats, repetition: Repetition, steps: list[float]) -> Iterator[Row]:
    """Compute the exact worst cases for LMS steps and RLS.

    These are the worst u for random labels (by a pencil of matrices), and the worst u and noise (by
    the transfer matrix).
    """
    size = Theorem.measure(2.0, X).x_size
    gains_of_filters = {}
    for step in steps:
        method = "lms" if step == 1 else f"lms x {step:g}"
        gains_of_filters[method] = step / size**2 * X
    gains_of_filters["rls"] = theory.rls_gains(X)
    for method, gains in gains_of_filters.items():
        is_lms = method == "lms"
        worst = theory.worst_ratio(X, gains, size)
        if is_lms and abs(worst - 1) > theory.TOLERANCE:
            worst_case = f"the worst case over u and noise is {worst:.12g}"
            raise RuntimeError(f"LMS: {worst_case}, not exactly 1")
        yhat = _predictions(X, gains, y)
        worst_of_labels, *_ = theory.worst_target(X, yhat, y, size)
        ratios = {"worst u and noise": worst, "worst u for given labels": worst_of_labels}
        for setting, value in ratios.items():
            of_method = repetition.with_columns(method=method, setting=setting)
            if is_lms:
                yield _ratio(of_method, value)
            else:
                yield of_method.row("ratio", value)


def _predictions(X: Floats, gains: Floats, y: Floats) -> Floats:
    """Predict each label before the weights move along its gain."""
    w = np.zeros(X.shape[1])
    yhat = np.empty(len(X))
    for t, (x, g) in enumerate(zip(X, gains, strict=True)):
        yhat[t] = w @ x
        w += g * (y[t] - yhat[t])
    return yhat


def _adversaries(settings: HInfinitySettings, repetition: Repetition) -> Iterator[Row]:
    """Run the one-shot and the silent adversary against the filters themselves."""
    n = settings.n
    one_shot = "one-shot adversary"
    games = [("silent adversary", T) for T in settings.silent_rounds]
    games.append((one_shot, 1))
    for p in (2.0, *settings.powers):
        f: Filter
        if p == 2:
            of_method = repetition.with_columns(method="lms")
            f = LMS(1.0)
        else:
            of_method = repetition.with_columns(method=f"p={p:g}")
            f = PNormLMS(theory.rate(p, 1.0), p)
        for setting, T in games:
            X, y, u = theory.silent(n, T, 1.0, p, clean=setting == one_shot)
            f._start(n)
            yhat = f.run(X, y)
            ratio = theory.ratio(X, y, u, yhat, p, 1.0)
            of_game = of_method.with_columns(setting=setting, x=T)
            yield _ratio(of_game, ratio)


# Moving targets

Factor = Annotated[Number, Field(gt=0)]


class MovingSettings(Trials):
    """Settings of targets with a jump, a drift, or several jumps of the same size."""

    n: int = Field(ge=6, description="inputs")
    rounds: Rounds
    noise: Noise
    windows: Count = Field(description="points of the tracking curves")
    scenarios: Distinct[Annotated[str, Field(pattern=r"^(drift|jumps [1-9][0-9]*)$")]]
    all_factors: list[str] = Field(
        description="scenarios with every combination of factors; the others have 1 and 1"
    )
    radius_factors: Some[Factor | Literal["inf"]] = Field(
        description="times the largest |u_t|_q; inf: no bound"
    )
    rate_factors: Some[Factor] = Field(description="times the step of the theorem")

    @model_validator(mode="after")
    def _known_scenarios(self) -> Self:
        keys.among("all_factors", self.all_factors, self.scenarios)
        return self


def targets(scenario: str, T: int, n: int) -> Floats:
    """Make the targets u_1..u_T (T, n) of the scenario "drift" or "jumps K".

    They move between a, which is 1 at the first three inputs, and b, which is -1 at three in the
    middle.
    """
    a = np.zeros(n)
    a[:3] = 1.0
    middle = n // 2
    b = np.zeros(n)
    b[middle : middle + 3] = -1.0
    rounds = np.arange(T)
    share = rounds / (T - 1)
    if scenario != "drift":
        n_parts = _count_jumps(scenario) + 1
        share = np.floor(rounds * n_parts / T) % 2
    return np.outer(1 - share, a) + np.outer(share, b)


def path_length(u: Floats, q: float) -> float:
    """Compute sum_t ||u_{t+1} - u_t||_q of targets u (T, n)."""
    moves = np.diff(u, axis=0)
    return float(norm(moves[moves.any(axis=1)], q).sum())


@protocol(
    MovingSettings,
    labels=(
        *("U=*", "lms", "pnorm_lms", *BOUNDED),
        *("*_error", "path_price", "excess_loss", "loss_slope"),
    ),
)
def moving(settings: MovingSettings, loop: Loop) -> Iterator[Row]:
    """Measure how filters track moving targets.

    noise = scenario, setting = "U=.. eta=..", x: round (tracking_error) or share of the run. The
    instances are +-1, y_t = u_t.x_t + noise. settled_error is the mean error in the last eighth of
    T up to there. loss_slope of "jumps K" is the added loss over the added price of the path, from
    the next smaller number of jumps. Where the theorem applies (eta as it says, U_q large enough),
    the loss has a bound.
    """
    T = settings.rounds
    n = settings.n
    paths = {scenario: targets(scenario, T, n) for scenario in settings.scenarios}
    prices: _Prices = {}
    for repetition in loop:
        X = instances(repetition.rng("x"), "signs", T, n)
        noise = settings.noise * repetition.rng("noise").standard_normal(T)
        energy = float(noise @ noise)
        clean = {scenario: np.einsum("tn,tn->t", X, u) for scenario, u in paths.items()}
        trackers = _list_trackers(settings, theorems_of(X), paths)
        labels = np.array([clean[tracker.scenario] + noise for tracker in trackers])
        filters = [tracker.filter() for tracker in trackers]
        predictions = PNormLMS.run_many(filters, X, labels)
        for tracker, yhat in zip(trackers, predictions, strict=True):
            of_tracker = repetition.with_columns(
                noise=tracker.scenario,
                setting=tracker.setting(),
                method=tracker.method,
            )
            errors = (clean[tracker.scenario] - yhat) ** 2
            u = paths[tracker.scenario]
            yield from _check_tracking(tracker, of_tracker, errors, u, energy, prices)
            yield from _measure_tracking(settings, tracker, of_tracker, errors)
    yield from _loss_slopes(loop, prices)


def _check_tracking(
    tracker: "_Tracker",
    repetition: Repetition,
    errors: Floats,
    u: Floats,
    energy: float,
    prices: "_Prices",
) -> Iterator[Row]:
    """Check the loss against the bound where there is one, and store the price of the path.

    errors : squared errors of the rounds; u : targets (T, n); energy : of the noise.
    """
    loss = float(errors.sum())
    if not tracker.has_bound():
        yield repetition.row("filtering_loss", loss)
        return
    path = path_length(u, dual(tracker.theorem.p))
    yield from bounded(repetition, "filtering", loss, tracker.bound(energy, path))
    price = _PathPrice(tracker.price(path), loss - energy)
    metrics = {"path_price": price.price, "excess_loss": price.excess_loss}
    yield from repetition.rows(metrics)
    if tracker.scenario.startswith("jumps"):
        key = (tracker.method, tracker.setting(), repetition.number)
        by_jumps = prices.setdefault(key, {})
        by_jumps[_count_jumps(tracker.scenario)] = price


def _measure_tracking(
    settings: MovingSettings,
    tracker: "_Tracker",
    repetition: Repetition,
    errors: Floats,
) -> Iterator[Row]:
    """Measure settled errors, and for some trackers the error over time."""
    T = settings.rounds
    eighth = -T // 8
    first_half = errors[: T // 2]
    yield repetition.row("settled_error", first_half[eighth:].mean(), x=0.5)
    yield repetition.row("settled_error", errors[eighth:].mean(), x=1.0)
    factors = (tracker.radius_factor, tracker.rate_factor)
    if tracker.scenario in settings.all_factors and factors in SHOWN_FACTORS:
        starts = window_starts(T, settings.windows)
        means = window_means(errors, starts)
        ends = np.append(starts[1:], T)
        yield from repetition.curve("tracking_error", zip(ends, means, strict=True))


class _PathPrice(NamedTuple):
    """Terms of the tracking bound: the path of the targets, and the loss above the noise."""

    price: float
    excess_loss: float


_Prices = dict[tuple[str, str, int | str], dict[int, _PathPrice]]
"""Method, setting and repetition -> number of jumps -> terms of the bound."""


SHOWN_FACTORS = ((1, 1), (1, 0.2), ("inf", 1))
"""Factors of radius and rate for which the tracking error is stored over time."""


@dataclass(frozen=True)
class _Tracker:
    """A filter in a scenario, with its ball and its rate as multiples of the theorem's.

    radius : of the ball of weights; inf where they have no bound.
    """

    scenario: str
    method: str
    theorem: Theorem
    radius_factor: int | float | str
    rate_factor: float
    radius: float

    def setting(self) -> str:
        """Write the factors as a setting of the result table."""
        return f"U={self.radius_factor} eta={self.rate_factor:g}"

    def filter(self) -> PNormLMS:
        """Make the filter."""
        eta = self.rate_factor * self.theorem.eta
        if np.isfinite(self.radius):
            return BoundedPNormLMS(eta, self.theorem.p, self.radius)
        return PNormLMS(eta, self.theorem.p)

    def has_bound(self) -> bool:
        """Decide whether the theorem covers the filter: its rate, and a ball with all targets."""
        if self.radius_factor == "inf":
            return False
        return float(self.radius_factor) >= 1 and self.rate_factor == 1

    def bound(self, energy: float, path: float) -> float:
        """Compute the theorem's bound on the loss."""
        return theory.moving(energy, self.theorem.p, self.theorem.x_size, self.radius, path)

    def price(self, path: float) -> float:
        """Compute the bound's term for the path."""
        return 2 * (self.theorem.p - 1) * self.theorem.x_size**2 * self.radius * path


def _list_trackers(
    settings: MovingSettings,
    theorems: dict[str, Theorem],
    paths: dict[str, Floats],
) -> list[_Tracker]:
    """List the filters of all scenarios, with every combination of factors if required."""
    all_factors = list(itertools.product(settings.radius_factors, settings.rate_factors))
    trackers = []
    for scenario in settings.scenarios:
        factors = [(U, eta) for U, eta in all_factors if (U, eta) == (1, 1)]
        if scenario in settings.all_factors:
            factors = all_factors
        for method, theorem in theorems.items():
            size = _largest_norm(paths[scenario], dual(theorem.p))
            for U, eta in factors:
                radius = float(U) * size
                trackers.append(_Tracker(scenario, method, theorem, U, eta, radius))
    return trackers


def _largest_norm(u: Floats, q: float) -> float:
    """Compute the largest ||u_t||_q: that of the first, the middle or the last target."""
    T = len(u)
    norms = [float(norm(u[t], q)) for t in (0, T - 1, T // 2)]
    return max(norms)


def _count_jumps(scenario: str) -> int:
    """Read the number of jumps of a scenario "jumps K"."""
    return int(scenario.split()[1])


def _loss_slopes(loop: Loop, prices: _Prices) -> Iterator[Row]:
    """Divide the loss that a further jump adds by the price that it adds."""
    for (method, setting, number), by_jumps in prices.items():
        columns: Row = {"method": method, "setting": setting, "repetition": number}
        repetition = Repetition(loop.seeds, number, columns)
        for n_before, n_jumps in itertools.pairwise(sorted(by_jumps)):
            before = by_jumps[n_before]
            after = by_jumps[n_jumps]
            added_loss = after.excess_loss - before.excess_loss
            added_price = after.price - before.price
            slope = added_loss / added_price
            yield repetition.row("loss_slope", slope, noise=f"jumps {n_jumps}")


# A room response from speech


class RoomSettings(Trials):
    """Settings of finding a sparse room response from speech, with four filters."""

    taps: int = Field(ge=6, description="length of filter and response; RLS costs taps^2 a sample")
    seconds: Positive = Field(description="length of the piece of speech of a repetition")
    tuning_seconds: Positive
    snr: float = Field(description="power of the echo over that of the noise, dB")
    points: Count = Field(description="points of the curves")
    rooms: dict[Label, Annotated[float, Field(ge=0, lt=1)]] = Field(
        min_length=1, description="name -> pressure reflection of the walls"
    )
    methods: Methods[TunedFilter]

    @model_validator(mode="after")
    def _every_tuned_parameter_has_a_grid(self) -> Self:
        check_grids(self.methods, {})
        return self


@dataclass(frozen=True)
class Echo:
    """A piece of speech in a room.

    Parameters
    ----------
    padded : ndarray of shape (T + d - 1,)
        The piece with d - 1 zeros before it.
    heard : ndarray of shape (T,)
        What the microphone hears.
    response : ndarray of shape (d,)
        The response of the room.
    variance : float
        Variance of the noise of the microphone.
    """

    padded: Floats
    heard: Floats
    response: Floats
    variance: float

    def misalignment(self, f: Filter, points: int) -> tuple[Floats, Floats]:
        """Measure 20 log10 ||w - h|| in dB after each of `points` equal parts of the piece.

        Returns the numbers of samples heard, and the levels in dB.
        """
        d = len(self.response)
        T = len(self.heard)
        ends = np.linspace(0, T, points + 1).astype(int)
        f._start(d)
        levels = np.empty(points)
        for i in range(points):
            start = ends[i]
            stop = ends[i + 1]
            rows = Sliding(self.padded[start : stop + d - 1], d, delay=d - 1, n=stop - start)
            f.run(rows, self.heard[start:stop])
            levels[i] = 20 * np.log10(np.linalg.norm(f.w - self.response))
        return ends[1:], levels

    def filter(self, method: TunedFilter, chosen: dict[str, float]) -> Filter:
        """Make a filter of the settings; RLS gets the noise variance and ||h|| = 1."""
        parameters = dict(chosen)
        if method.cls.name == "rls":
            parameters |= {"prior": 1 / len(self.response), "noise": self.variance}
        built: Filter = method.build(**parameters)
        return built


def echo(settings: RoomSettings, reflection: float, loop: Loop, number: int | str) -> Echo:
    """Draw a piece of the recording for a repetition; the piece for tuning is shorter."""
    from reproduction.data.loaders import audio

    speech = loop.data["speech"].arrays
    signal = np.asarray(speech["signal"], dtype=float)
    signal = (signal - signal.mean()) / signal.std()
    rate = int(speech["rate"])
    seconds = settings.tuning_seconds if number == TUNING else settings.seconds
    T = min(len(signal), round(seconds * rate))
    rng = loop.seeds.generator(number, "piece")
    first = int(rng.integers(len(signal) - T + 1))
    piece = signal[first : first + T]
    silence = np.zeros(settings.taps - 1)
    padded = np.concatenate([silence, piece])
    h = audio.simulated(taps=settings.taps, rate=rate, reflection=reflection)
    clean = np.convolve(padded, h, "valid")
    ratio = 10 ** (-settings.snr / 10)
    variance = float(clean.var()) * ratio
    noise = loop.seeds.generator(number, "noise").standard_normal(T)
    heard = clean + np.sqrt(variance) * noise
    return Echo(padded, heard, h, variance)


def tune_room(settings: RoomSettings, loop: Loop) -> dict[str, dict[str, dict[str, float]]]:
    """Find the parameters with the smallest mean misalignment on the tuning piece.

    Returns ``{room: {method: parameters}}``.
    """
    tuned: dict[str, dict[str, dict[str, float]]] = {}
    for name, reflection in settings.rooms.items():
        task = echo(settings, reflection, loop, TUNING)
        tuned[name] = {}
        for label, method in settings.methods.items():
            candidates = _list_candidates(method)
            scores = [0.0]
            if len(candidates) > 1:
                scores = [_score(task, method, c, settings.points) for c in candidates]
            best = int(np.argmin(scores))
            tuned[name][label] = candidates[best]
    return tuned


def _list_candidates(method: TunedFilter) -> list[dict[str, float]]:
    """List every combination of the values of the tuned parameters."""
    grids = [grid_values(method.grids[name]) for name in method.tune]
    candidates = []
    for values in itertools.product(*grids):
        candidates.append(dict(zip(method.tune, values, strict=True)))
    return candidates


def _score(task: Echo, method: TunedFilter, chosen: dict[str, float], points: int) -> float:
    try:
        with np.errstate(over="ignore"):
            _, levels = task.misalignment(task.filter(method, chosen), points)
            return float(levels.mean())
    except ValueError:  # diverged
        return np.inf


@protocol(
    RoomSettings,
    tune=tune_room,
    labels=("response", "tap", "misalignment", "mean_misalignment"),
)
def room(settings: RoomSettings, loop: Loop) -> Iterator[Row]:
    """Measure the misalignment 20 log10 ||w_t - h|| of filters that hear speech in a room.

    noise = room, x = seconds of speech heard. s is speech of unit variance, h the response of a
    simulated room, as long as the filter, ||h|| = 1. Each repetition has another piece of the
    recording and other noise. Metric tap: the response, x = tap.
    """
    speech = loop.data["speech"]
    rate = int(speech.arrays["rate"])
    for name, reflection in settings.rooms.items():
        for repetition in loop:
            task = echo(settings, reflection, loop, repetition.number)
            if repetition.number == 0:
                taps = enumerate(task.response)
                yield from repetition.curve("tap", taps, noise=name, method="response")
            for label, method in settings.methods.items():
                f = task.filter(method, loop.tuned[name][label])
                samples, levels = task.misalignment(f, settings.points)
                of_method = repetition.with_columns(
                    dataset="speech",
                    source=speech.variant,
                    noise=name,
                    method=label,
                )
                seconds = (float(t) / rate for t in samples)
                yield from of_method.curve("misalignment", zip(seconds, levels, strict=True))
                yield of_method.row("mean_misalignment", levels.mean())
