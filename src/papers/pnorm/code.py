"""The p-norm LMS algorithm (Kivinen, Warmuth and Hassibi): its bounds, and who wins where.

A loss above its bound is an error here, not a data point.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal, Self

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
from reproduction.spec.settings import Count, Distinct, Label, Methods, Model, Positive, Some, Trials

Inputs = Annotated[int, Field(ge=3, description="inputs")]
Rounds = Annotated[int, Field(ge=1, description="rounds")]
Noise = Annotated[float, Field(ge=0, description="standard deviation of the label noise")]
Ones = Annotated[int, Field(ge=1, description="non-zero entries of the target")]
Instances = Literal["signs", "unit", "gaussian", "heavy"]
Number = int | float
"""A number that is part of a name: 3 is not 3.0."""
TUNING = "tuning"
BOUNDED = ("*_loss", "*_bound", "*_ratio")
"""Metrics of a loss and its bound."""


def instances(rng: np.random.Generator, kind: str, T: int, n: int) -> Floats:
    """T rows of n entries: +-1, uniform on the sphere ("unit"), Gaussian, or Student t of 3 df ("heavy")."""
    if kind == "signs":
        return np.where(rng.integers(0, 2, (T, n), dtype=np.int8) > 0, 1.0, -1.0)
    if kind == "heavy":
        return rng.standard_t(3, (T, n))
    X = rng.standard_normal((T, n))
    return X / np.sqrt(np.einsum("ij,ij->i", X, X))[:, None] if kind == "unit" else X


def ones(n: int, k: int) -> Floats:
    """n weights, the first k of them 1, the others 0."""
    return np.where(np.arange(n) < k, 1.0, 0.0)


@dataclass(frozen=True)
class Theorem:
    """What the theorems ask for and promise: p, q, X_p = max_t ||x_t||_p, eta = 1/((p-1) X_p^2)."""

    p: float
    x_size: float

    @classmethod
    def of(cls, p: float | str, X: Floats) -> "Theorem":
        """X_p measured on all rows of the run (two passes over the data)."""
        p = exponent(p, X.shape[1])
        block = max(1, 2**16 // X.shape[1])
        return cls(p, max(float(norm(X[i : i + block], p).max()) for i in range(0, len(X), block)))

    @property
    def eta(self) -> float:
        """The rate of the filtering bound."""
        return theory.rate(self.p, self.x_size)

    def filter(self, alpha: float = 1.0) -> PNormLMS:
        """p-norm LMS with alpha times this rate."""
        return PNormLMS(theory.rate(self.p, self.x_size, alpha), self.p)

    def penalty(self, u: Floats) -> float:
        """K = (p-1) X_p^2 ||u||_q^2."""
        return theory.penalty(self.p, self.x_size, float(norm(u, dual(self.p))))


def theorems_of(X: Floats) -> dict[str, Theorem]:
    """LMS and p-norm LMS with p = 2 ln n."""
    return {"lms": Theorem.of(2.0, X), "pnorm_lms": Theorem.of("auto", X)}


def checked(repetition: Repetition, name: str, loss: float, bound: float) -> float:
    """loss / bound. Raises RuntimeError : the loss is above its bound; with the place."""
    place = " ".join(f"{key} {value}" for key, value in repetition.columns.items() if value != "")
    return theory.checked_ratio(loss, bound, f"{name}, {place}")


def bounded(
    repetition: Repetition, name: str, loss: float, bound: float, x: float = float("nan")
) -> Iterator[Row]:
    """Rows name_loss, name_bound, name_ratio. Raises RuntimeError : the loss is above its bound."""
    ratio = checked(repetition, f"{name} bound", loss, bound)
    return repetition.rows({f"{name}_loss": loss, f"{name}_bound": bound, f"{name}_ratio": ratio}, x=x)


def runs(loop: Loop, count: int) -> Iterator[Repetition]:
    """``count`` runs for each repetition, numbered through."""
    for number in range(loop.repetitions.start * count, loop.repetitions.stop * count):
        yield Repetition(loop.seeds, number, {"repetition": number})


# The bounds


class Filtering(Model):
    """Random configurations, labels u.x + noise or unrelated to u ("adversarial")."""

    configurations: Count = Field(description="random configurations of a repetition")
    largest_n: Inputs
    most_rounds: int = Field(ge=20)
    most_noise: Noise
    instances: Distinct[Instances]


class Prediction(Model):
    """Loss against y_t for a grid of alpha and for the alpha* of the bound."""

    n: Inputs
    rounds: Rounds
    ones: Ones
    noises: Some[Noise]
    alphas: Some[keys.Share]


class Expected(Model):
    """1/T E sum (u.x - yhat)^2 <= eps + (p-1) X_p^2 ||u||_q^2 / T for noise of variance eps."""

    runs: Count = Field(description="runs of a repetition")
    n: Inputs
    rounds: Rounds
    ones: Ones
    noise: Noise
    points: int = Field(ge=2, description="points of the curves, evenly on a log axis")


class BoundsSettings(Trials):
    """The filtering, prediction and expected bounds beside the losses that they bound."""

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
    """Losses, bounds and their ratios.

    Filtering: one repetition per configuration; noise = kind of labels, setting = kind of rows, x = p.
    Prediction: noise = "sd ..", setting = grid | tuned, x = alpha. Expected: x = T, the rounds so far.
    """
    for repetition in runs(loop, settings.filtering.configurations):
        yield from _filtering(settings.filtering, repetition)
    for repetition in loop:
        yield from _prediction(settings.prediction, repetition)
    yield from _expected(settings.expected, loop)


def _filtering(s: Filtering, repetition: Repetition) -> Iterator[Row]:
    """The bound and its steps; p = 2 against LMS; rotated rows."""
    rng = repetition.rng("configuration")
    n = int(rng.integers(2, s.largest_n + 1))
    T = int(rng.integers(20, s.most_rounds + 1))
    kind, labels = str(rng.choice(s.instances)), str(rng.choice(["noisy", "adversarial"]))
    X = instances(rng, kind, T, n)
    u = rng.standard_normal(n) * (rng.random(n) < (0.1 if rng.random() < 0.5 else 1.0))
    if not u.any():
        u[int(rng.integers(n))] = 1.0
    noise = rng.uniform(0, s.most_noise) * rng.standard_normal(T)
    y = X @ u + noise if labels == "noisy" else rng.standard_normal(T) * rng.uniform(0.1, 10)
    theorem = Theorem.of(rng.uniform(2, 2 + 2 * np.log(n)), X)
    yhat = theorem.filter().run(X, y)
    repetition = repetition.with_columns(noise=labels, setting=kind)
    named = repetition.with_columns(method="pnorm_lms")
    loss, energy = float(((X @ u - yhat) ** 2).sum()), float(((y - X @ u) ** 2).sum())
    yield from bounded(named, "filtering", loss, energy + theorem.penalty(u), theorem.p)
    yield named.row("smallest_step_slack", smallest_slack(X, y, u, yhat, theorem), x=theorem.p)
    eta = Theorem.of(2.0, X).eta
    lms, two = LMS(eta).run(X, y), PNormLMS(eta, 2.0).run(X, y)
    rotated = X @ np.linalg.qr(rng.standard_normal((n, n)))[0]
    scale = float(np.abs(y).max())
    for method, metric, difference in (
        ("pnorm_lms", "difference_from_lms_at_p_2", two - lms),
        ("lms", "difference_after_rotation", LMS(eta).run(rotated, y) - lms),
        ("pnorm_lms", "difference_after_rotation", theorem.filter().run(rotated, y) - yhat),
    ):
        yield repetition.row(metric, float(np.abs(difference).max()) / scale, method=method)


def smallest_slack(X: Floats, y: Floats, u: Floats, yhat: Floats, theorem: Theorem) -> float:
    """min over t of d(u, w_{t-1}) - d(u, w_t) - eta/2 [(u.x_t - yhat_t)^2 - (y_t - u.x_t)^2], over d(u, 0).

    Raises RuntimeError: a step below 0 (beyond rounding), which the theorem excludes.
    """
    steps = theorem.eta * (y - yhat)[:, None] * X
    theta = np.vstack([np.zeros(X.shape[1]), np.cumsum(steps, axis=0)])
    d = divergence_dual(u, theta, theorem.p)
    progress = 0.5 * theorem.eta * ((X @ u - yhat) ** 2 - (y - X @ u) ** 2)
    slack = float((-np.diff(d) - progress).min()) / d[0]
    if slack < -theory.TOLERANCE * max(1.0, d.max() / d[0]):
        raise RuntimeError(
            f"a step of p-norm LMS makes less progress than the theorem says: slack {slack:.3g}"
        )
    return slack


def _prediction(s: Prediction, repetition: Repetition) -> Iterator[Row]:
    u = ones(s.n, s.ones)
    X = instances(repetition.rng("prediction x"), "gaussian", s.rounds, s.n)
    standard = repetition.rng("prediction noise").standard_normal(s.rounds)
    jobs: list[tuple[Repetition, Theorem, float, float, float]] = []
    for method, theorem in theorems_of(X).items():
        for sd in s.noises:
            energy = float((sd * standard) @ (sd * standard))
            here = repetition.with_columns(noise=f"sd {sd:g}", method=method)
            best = theory.best_alpha(energy, theorem.penalty(u))
            jobs += [(here.with_columns(setting="grid"), theorem, sd, alpha, energy) for alpha in s.alphas]
            jobs.append((here.with_columns(setting="tuned"), theorem, sd, best, energy))
    labels = np.array([X @ u + sd * standard for _, _, sd, _, _ in jobs])
    filters = [theorem.filter(alpha) for _, theorem, _, alpha, _ in jobs]
    losses = ((PNormLMS.run_many(filters, X, labels) - labels) ** 2).sum(axis=1)
    for (here, theorem, _, alpha, energy), loss in zip(jobs, losses, strict=True):
        bound = theory.prediction(energy, theorem.penalty(u), alpha)
        tuned = here.columns["setting"] == "tuned"
        yield from bounded(here, "prediction", float(loss), bound, float("nan") if tuned else alpha)
        if tuned:
            yield here.row("alpha", alpha)


def _expected(s: Expected, loop: Loop) -> Iterator[Row]:
    """Rows and target are fixed; only the noise differs between runs.

    Every run also obeys the bound with the noise that it has seen, which is checked.
    """
    X = instances(loop.seeds.generator("shared", "expected x"), "unit", s.rounds, s.n) * np.sqrt(s.n)
    u = ones(s.n, s.ones) / np.sqrt(s.ones)
    clean, eps = X @ u, s.noise**2
    marks = np.unique(np.geomspace(1, s.rounds, s.points).round().astype(int))
    theorems = theorems_of(X)
    for repetition in runs(loop, s.runs):
        noise = s.noise * repetition.rng("expected noise").standard_normal(s.rounds)
        guesses = PNormLMS.run_many([each.filter() for each in theorems.values()], X, clean + noise)
        seen = np.cumsum(noise**2)
        for (method, theorem), guess in zip(theorems.items(), guesses, strict=True):
            K = theorem.penalty(u)
            total = np.cumsum((clean - guess) ** 2)
            here = repetition.with_columns(noise=f"sd {s.noise:g}", method=method, setting="expected")
            yield from bounded(here, "filtering", float(total[-1]), float(seen[-1] + K), s.rounds)
            for t in marks:
                loss, bound = total[t - 1] / t, eps + K / t
                found = {"mean_loss": loss, "expected_bound": bound, "expected_ratio": loss / bound}
                yield from here.rows(found, x=int(t))


# Sparse and dense targets


class Task(Model):
    """Rows and target of a comparison."""

    instances: Instances
    ones: Ones | Literal["all"]
    most_rounds: Rounds


class Comparison(Model):
    """Sparse target with dense instances, dense target with sparse instances: which geometry wins."""

    sizes: Distinct[Inputs]
    rounds_per_input: Count = Field(description="T = min(this times n, most_rounds)")
    noise: Noise
    tasks: dict[Label, Task] = Field(min_length=1)


class Interpolation(Model):
    """Which p for which sparsity? Dense +-1 instances, u = k entries 1/sqrt(k): equal energy for every k."""

    n: Inputs
    rounds: Rounds
    noise: Noise
    ones: Distinct[Ones]
    powers: Some[Annotated[float, Field(ge=2)] | Literal["auto"]] = Field(description="p; auto = 2 ln n")


class SparsitySettings(Trials):
    """LMS, p-norm LMS and EG+- against n, and the best p in between."""

    comparison: Comparison
    interpolation: Interpolation


@protocol(
    SparsitySettings,
    labels=("k=*", "lms", "pnorm_lms", "eg_pm", "target", *BOUNDED, "noise_energy", "best_p"),
)
def sparsity(settings: SparsitySettings, loop: Loop) -> Iterator[Row]:
    """Filtering loss; setting = name of the task, x = n; then setting = "k=..", x = p, best_p."""
    s = settings.comparison
    for repetition in loop:
        for (name, task), n in itertools.product(s.tasks.items(), s.sizes):
            T = min(s.rounds_per_input * n, task.most_rounds)
            X = instances(repetition.rng(f"x {name} {n}"), task.instances, T, n)
            u = ones(n, n if task.ones == "all" else task.ones)
            noise = s.noise * repetition.rng(f"noise {name} {n}").standard_normal(T)
            yield from _compared(X, u, noise, repetition.with_columns(setting=name))
    for repetition in loop:
        yield from _interpolated(settings.interpolation, repetition)


def _compared(X: Floats, u: Floats, noise: Floats, repetition: Repetition) -> Iterator[Row]:
    n = X.shape[1]
    clean = X @ u
    y, energy = clean + noise, float(noise @ noise)
    yield repetition.row("noise_energy", energy, method="target", x=n)
    for method, theorem in theorems_of(X).items():
        f = LMS(theorem.eta) if method == "lms" else theorem.filter()
        yhat = f.run(X, y)
        loss, bound = float(((clean - yhat) ** 2).sum()), energy + theorem.penalty(u)
        yield from bounded(repetition.with_columns(method=method), "filtering", loss, bound, n)
        yield repetition.row("prediction_loss", ((y - yhat) ** 2).sum(), method=method, x=n)
    budget, top = float(np.abs(u).sum()), float(np.abs(X).max())
    yhat = EGPlusMinus(1.0 / (3.0 * (budget * top) ** 2), budget).run(X, y)
    repetition = repetition.with_columns(method="eg_pm")
    bound = theory.eg_plus_minus(energy, budget, top, n)
    yield from bounded(repetition, "prediction", float(((y - yhat) ** 2).sum()), bound, n)
    yield repetition.row("filtering_loss", ((clean - yhat) ** 2).sum(), x=n)


def _interpolated(s: Interpolation, repetition: Repetition) -> Iterator[Row]:
    X = instances(repetition.rng("x"), "signs", s.rounds, s.n)
    noise = s.noise * repetition.rng("noise").standard_normal(s.rounds)
    energy = float(noise @ noise)
    theorems = [Theorem.of(p, X) for p in s.powers]
    targets = {k: ones(s.n, k) / np.sqrt(k) for k in s.ones}
    labels = np.repeat([X @ u + noise for u in targets.values()], len(theorems), axis=0)
    guesses = PNormLMS.run_many([each.filter() for _ in targets for each in theorems], X, labels)
    losses = ((labels - noise - guesses) ** 2).sum(axis=1).reshape(len(targets), len(theorems))
    for (k, u), line in zip(targets.items(), losses, strict=True):
        here = repetition.with_columns(setting=f"k={k}", method="pnorm_lms")
        for theorem, loss in zip(theorems, line, strict=True):
            yield from bounded(here, "filtering", float(loss), energy + theorem.penalty(u), theorem.p)
        yield here.row("best_p", theorems[int(np.argmin(line))].p)


# Rows of a Hadamard matrix


class HadamardSettings(Trials):
    """Rows of a Hadamard matrix, one of its columns as target: rotation invariant filters need all n rows."""

    sizes: Distinct[int] = Field(description="powers of two, at least 4")

    @model_validator(mode="after")
    def _powers_of_two(self) -> Self:
        for size in self.sizes:
            if size < 4 or size & (size - 1):
                raise ValueError(f"sizes: {size} is not a power of two of at least 4")
        return self


def marks(n: int) -> list[int]:
    """Numbers of rows seen at which errors are kept: all to 16, then about 12 per doubling, n/4 and n."""
    fine = {round(2 ** (i / 12)) for i in range(12 * 4, 12 * int(math.log2(n)) + 1)}
    return sorted({k for k in {*range(min(16, n) + 1), *fine, n // 4, n} if k <= n})


@protocol(
    HadamardSettings,
    labels=("n=*", "lms", "pnorm_lms", "eg", *BOUNDED, "error*", "largest_error_k_over_ln_n"),
)
def hadamard(settings: HadamardSettings, loop: Loop) -> Iterator[Row]:
    """error = 1/n sum_i (H_i.(w_k - u))^2 = ||w_k - u||^2 after k rows of one pass; setting = "n=..", x = k.

    LMS with eta = 1/n has error 1 - k/n whatever the order of the rows.
    """
    from scipy.linalg import hadamard as sylvester

    for n in settings.sizes:
        H = sylvester(n, dtype=float)
        theorem = Theorem.of("auto", H[:1])  # all rows have the norm n^(1/p)
        filters: dict[str, tuple[Filter, float]] = {
            "lms": (LMS(1.0 / n), float(n)),
            "pnorm_lms": (theorem.filter(), (theorem.p - 1.0) * theorem.x_size**2),
            "eg": (EG(2.0 / (3.0 * 2.0**2)), theory.eg(0.0, 2.0, n)),
        }
        for repetition in loop:
            rng = repetition.rng(f"order {n}")
            order, column = rng.permutation(n), int(rng.integers(n))
            for method, (f, bound) in filters.items():
                yield from _one_pass(
                    f, bound, H[order], column, repetition.with_columns(setting=f"n={n}", method=method)
                )


def _one_pass(f: Filter, bound: float, X: Floats, column: int, repetition: Repetition) -> Iterator[Row]:
    n = len(X)
    u = np.eye(n)[column]
    f._start(n)
    loss, scaled = 0.0, 0.0
    for seen, k in itertools.pairwise([0, *marks(n)]):
        if k > seen:
            y = X[seen:k, column]
            loss += float(((f.run(X[seen:k], y) - y) ** 2).sum())
        error = float(((f.w - u) ** 2).sum())
        if repetition.columns["method"] == "lms" and abs(error - (1 - k / n)) > 1e-9:
            raise RuntimeError(f"LMS error {error:.12g} after {k} of {n} Hadamard rows is not 1 - k/n")
        yield repetition.row("error", error, x=k)
        yield from bounded(repetition, "online", loss, bound, k)
        if k >= 2 * math.log(n):
            scaled = max(scaled, error * k / math.log(n))
        if k == n // 4:
            yield repetition.row("error_at_quarter", error)
    yield repetition.row("largest_error_k_over_ln_n", scaled)


# The worst case


class HInfinitySettings(Trials):
    """Largest ratio of filtering error to noise energy plus initial uncertainty."""

    n: Inputs
    rounds: Distinct[Count] = Field(description="numbers of rows T; memory grows with T^2")
    steps: Some[Positive] = Field(description="LMS steps, times 1/X^2")
    powers: Some[Annotated[Number, Field(gt=2)]] = Field(description="p of the adversaries and of the ascent")
    silent_rounds: Distinct[Count]
    ascent_rounds: Rounds
    starts: Count
    climbs: Count = Field(description="gradient steps")


@protocol(
    HInfinitySettings, labels=("p=*", "lms*", "rls", "ascent", "silent *", "one-shot *", "worst u *", "ratio")
)
def hinfinity(settings: HInfinitySettings, loop: Loop) -> Iterator[Row]:
    """rho = sum (u.x - yhat)^2 / (sum (y - u.x)^2 + (p-1) X_p^2 ||u||_q^2): exact, by adversary, by ascent.

    setting = how u and y are chosen, x = T; see `noisylabels.filters.theory`.
    """
    n = settings.n
    for repetition in loop:
        if repetition.number == 0:
            yield from _adversaries(settings, repetition)
    for repetition in loop:
        for T in settings.rounds:
            X, y = (
                repetition.rng(f"x {T}").standard_normal((T, n)),
                repetition.rng(f"y {T}").standard_normal(T),
            )
            yield from _exact(X, y, repetition.with_columns(x=T), settings.steps)
        T = settings.ascent_rounds
        for p in settings.powers:
            X = repetition.rng(f"ascent x {p}").standard_normal((T, n))
            rng, size = repetition.rng(f"starts {p}"), Theorem.of(p, X).x_size
            points = (rng.standard_normal(n + T) for _ in range(settings.starts))
            units = (point / np.linalg.norm(point) for point in points)
            found = max(theory.ascend(X, p, size, unit, settings.climbs)[0] for unit in units)
            yield _ratio(repetition.with_columns(setting="ascent", method=f"p={p:g}", x=T), found)


def _ratio(repetition: Repetition, value: float) -> Row:
    """A row with a ratio that the theorem bounds by 1. Raises RuntimeError : it is above."""
    return repetition.row("ratio", checked(repetition, "ratio", value, 1.0))


def _exact(X: Floats, y: Floats, repetition: Repetition, steps: list[float]) -> Iterator[Row]:
    """Worst u for random labels (pencil), and worst u and noise (transfer matrix), for LMS steps and RLS."""
    size = Theorem.of(2.0, X).x_size
    filters = {("lms" if s == 1 else f"lms x {s:g}"): s / size**2 * X for s in steps}
    for method, gains in (filters | {"rls": theory.rls_gains(X)}).items():
        worst = theory.worst_ratio(X, gains, size)
        if method == "lms" and abs(worst - 1) > theory.TOLERANCE:
            raise RuntimeError(f"LMS: the worst case over u and noise is {worst:.12g}, not exactly 1")
        given = theory.worst_target(X, _predictions(X, gains, y), y, size)[0]
        for setting, value in ("worst u and noise", worst), ("worst u for given labels", given):
            here = repetition.with_columns(method=method, setting=setting)
            yield _ratio(here, value) if method == "lms" else here.row("ratio", value)


def _predictions(X: Floats, gains: Floats, y: Floats) -> Floats:
    w, yhat = np.zeros(X.shape[1]), np.empty(len(X))
    for t, (x, g) in enumerate(zip(X, gains, strict=True)):
        yhat[t] = w @ x
        w += g * (y[t] - yhat[t])
    return yhat


def _adversaries(settings: HInfinitySettings, repetition: Repetition) -> Iterator[Row]:
    """The one-shot and the silent adversary, run against the filters themselves."""
    silent, one_shot = "silent adversary", "one-shot adversary"
    for p in (2.0, *settings.powers):
        here = repetition.with_columns(method="lms" if p == 2 else f"p={p:g}")
        f = LMS(1.0) if p == 2 else PNormLMS(theory.rate(p, 1.0), p)
        for setting, T in [*((silent, T) for T in settings.silent_rounds), (one_shot, 1)]:
            X, y, u = theory.silent(settings.n, T, 1.0, p, clean=setting == one_shot)
            f._start(settings.n)
            yield _ratio(here.with_columns(setting=setting, x=T), theory.ratio(X, y, u, f.run(X, y), p, 1.0))


# Moving targets

Factor = Annotated[Number, Field(gt=0)]


class MovingSettings(Trials):
    """A jump, a drift, and several jumps of the same size."""

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
    """u_1..u_T (T, n) between a (1 at 1-3) and b (-1 at three in the middle): "drift", or "jumps K"."""
    a, b = np.zeros(n), np.zeros(n)
    a[:3], b[n // 2 : n // 2 + 3] = 1.0, -1.0
    share = np.arange(T) / (T - 1)
    if scenario != "drift":
        share = np.floor(np.arange(T) * (int(scenario.split()[1]) + 1) / T) % 2
    return np.outer(1 - share, a) + np.outer(share, b)


def path_length(u: Floats, q: float) -> float:
    """sum_t ||u_{t+1} - u_t||_q; u: (T, n)."""
    moves = np.diff(u, axis=0)
    return float(norm(moves[moves.any(axis=1)], q).sum())


@protocol(
    MovingSettings,
    labels=("U=*", "lms", "pnorm_lms", *BOUNDED, "*_error", "path_price", "excess_loss", "loss_slope"),
)
def moving(settings: MovingSettings, loop: Loop) -> Iterator[Row]:
    """noise = scenario, setting = "U=.. eta=..", x: round (tracking_error) or share of the run.

    +-1 instances, y_t = u_t.x_t + noise. settled_error is the mean error in the last eighth of T up to there;
    loss_slope of "jumps K" the added loss over the added price of the path, from the next smaller number of
    jumps. Where the theorem applies (eta as it says, U_q large enough), the loss has a bound.
    """
    T, n = settings.rounds, settings.n
    paths = {scenario: targets(scenario, T, n) for scenario in settings.scenarios}
    prices: dict[tuple[str, str, int | str], dict[int, tuple[float, float]]] = {}
    for repetition in loop:
        X = instances(repetition.rng("x"), "signs", T, n)
        noise = settings.noise * repetition.rng("noise").standard_normal(T)
        energy, theorems = float(noise @ noise), theorems_of(X)
        tried = [
            (scenario, method, theorem, U, eta)
            for scenario in settings.scenarios
            for method, theorem in theorems.items()
            for U in settings.radius_factors
            for eta in settings.rate_factors
            if (U, eta) == (1, 1) or scenario in settings.all_factors
        ]
        clean = {scenario: np.einsum("tn,tn->t", X, u) for scenario, u in paths.items()}
        radii = [  # the largest ||u_t||_q is that of the first, the middle or the last target
            float(U) * max(float(norm(paths[s][t], dual(theorem.p))) for t in (0, T - 1, T // 2))
            for s, _, theorem, U, _ in tried
        ]
        filters = [  # radius inf: no bound
            BoundedPNormLMS(eta * theorem.eta, theorem.p, radius)
            if np.isfinite(radius)
            else PNormLMS(eta * theorem.eta, theorem.p)
            for radius, (_, _, theorem, _, eta) in zip(radii, tried, strict=True)
        ]
        guesses = PNormLMS.run_many(filters, X, np.array([clean[scenario] + noise for scenario, *_ in tried]))
        for (scenario, method, theorem, U, eta), radius, guess in zip(tried, radii, guesses, strict=True):
            setting = f"U={U} eta={eta:g}"
            here = repetition.with_columns(noise=scenario, setting=setting, method=method)
            errors = (clean[scenario] - guess) ** 2
            loss = float(errors.sum())
            if U == "inf" or float(U) < 1 or eta != 1:
                yield here.row("filtering_loss", loss)
            else:
                path = path_length(paths[scenario], dual(theorem.p))
                bound = theory.moving(energy, theorem.p, theorem.x_size, radius, path)
                price = 2 * (theorem.p - 1) * theorem.x_size**2 * radius * path
                yield from bounded(here, "filtering", loss, bound)
                yield from here.rows({"path_price": price, "excess_loss": loss - energy})
                if scenario.startswith("jumps"):
                    jumps = prices.setdefault((method, setting, repetition.number), {})
                    jumps[int(scenario.split()[1])] = (price, loss - energy)
            for x, part in ((0.5, errors[: T // 2]), (1.0, errors)):
                yield here.row("settled_error", part[-T // 8 :].mean(), x=x)
            if scenario in settings.all_factors and (U, eta) in ((1, 1), (1, 0.2), ("inf", 1)):
                starts = window_starts(T, settings.windows)
                means = zip(np.append(starts[1:], T), window_means(errors, starts), strict=True)
                yield from here.curve("tracking_error", means)
    for (method, setting, number), by_jumps in prices.items():
        for fewer, more in itertools.pairwise(sorted(by_jumps)):
            (price, loss), (higher, larger) = by_jumps[fewer], by_jumps[more]
            columns: Row = {"method": method, "setting": setting, "repetition": number}
            here = Repetition(loop.seeds, number, columns)
            yield here.row("loss_slope", (larger - loss) / (higher - price), noise=f"jumps {more}")


# A room response from speech


class RoomSettings(Trials):
    """Identify a sparse room response from speech: p-norm LMS, NLMS, PNLMS and RLS."""

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
    """A piece of speech with d - 1 zeros before it, what the microphone hears, response, noise variance."""

    padded: Floats
    heard: Floats
    response: Floats
    variance: float

    def misalignment(self, f: Filter, points: int) -> tuple[Floats, Floats]:
        """20 log10 ||w - h|| in dB after each of `points` equal parts of the piece; (samples seen, dB)."""
        d, T = len(self.response), len(self.heard)
        ends = np.linspace(0, T, points + 1).astype(int)
        f._start(d)
        levels = np.empty(points)
        for i, (start, stop) in enumerate(itertools.pairwise(ends)):
            rows = Sliding(self.padded[start : stop + d - 1], d, delay=d - 1, n=stop - start)
            f.run(rows, self.heard[start:stop])
            levels[i] = 20 * np.log10(np.linalg.norm(f.w - self.response))
        return ends[1:], levels

    def filter(self, method: TunedFilter, chosen: dict[str, float]) -> Filter:
        """A filter of the settings; RLS knows the variance of the noise and that ||h|| = 1."""
        known = {"prior": 1 / len(self.response), "noise": self.variance} if method.cls.name == "rls" else {}
        built: Filter = method.build(**(chosen | known))
        return built


def echo(settings: RoomSettings, reflection: float, loop: Loop, number: int | str) -> Echo:
    """The piece of a repetition, a random one of the recording; the tuning piece is shorter."""
    from reproduction.data.loaders import audio

    speech = loop.data["speech"].arrays
    signal, rate = np.asarray(speech["signal"], dtype=float), int(speech["rate"])
    seconds = settings.tuning_seconds if number == TUNING else settings.seconds
    T = min(len(signal), round(seconds * rate))
    rng = loop.seeds.generator(number, "piece")
    signal = (signal - signal.mean()) / signal.std()
    first = int(rng.integers(len(signal) - T + 1))
    padded = np.concatenate([np.zeros(settings.taps - 1), signal[first : first + T]])
    h = audio.simulated(taps=settings.taps, rate=rate, reflection=reflection)
    clean = np.convolve(padded, h, "valid")
    variance = float(clean.var()) * 10 ** (-settings.snr / 10)
    noise = loop.seeds.generator(number, "noise").standard_normal(T)
    return Echo(padded, clean + np.sqrt(variance) * noise, h, variance)


def tune_room(settings: RoomSettings, loop: Loop) -> dict[str, dict[str, dict[str, float]]]:
    """``{room: {method: parameters}}``, those with the smallest mean misalignment on the tuning piece."""
    tuned: dict[str, dict[str, dict[str, float]]] = {}
    for room, reflection in settings.rooms.items():
        task = echo(settings, reflection, loop, TUNING)
        tuned[room] = {}
        for label, method in settings.methods.items():
            values = itertools.product(*(grid_values(method.grids[name]) for name in method.tune))
            points = [dict(zip(method.tune, point, strict=True)) for point in values]
            scores = [_score(task, method, p, settings.points) for p in points] if len(points) > 1 else [0.0]
            tuned[room][label] = points[int(np.argmin(scores))]
    return tuned


def _score(task: Echo, method: TunedFilter, chosen: dict[str, float], points: int) -> float:
    try:
        with np.errstate(over="ignore"):
            return float(task.misalignment(task.filter(method, chosen), points)[1].mean())
    except ValueError:  # diverged
        return np.inf


@protocol(RoomSettings, tune=tune_room, labels=("response", "tap", "misalignment", "mean_misalignment"))
def room(settings: RoomSettings, loop: Loop) -> Iterator[Row]:
    """Misalignment 20 log10 ||w_t - h|| of y = h * s + noise; noise = room, x = seconds of speech heard.

    s is speech of unit variance, h the response of a simulated room, as long as the filter, ||h|| = 1. Each
    repetition has another piece of the recording and other noise. Metric tap: the response, x = tap.
    """
    speech = loop.data["speech"]
    rate = int(speech.arrays["rate"])
    for name, reflection in settings.rooms.items():
        for repetition in loop:
            task = echo(settings, reflection, loop, repetition.number)
            if repetition.number == 0:
                yield from repetition.curve("tap", enumerate(task.response), noise=name, method="response")
            for label, method in settings.methods.items():
                f = task.filter(method, loop.tuned[name][label])
                seen, levels = task.misalignment(f, settings.points)
                here = repetition.with_columns(
                    dataset="speech", source=speech.variant, noise=name, method=label
                )
                times = (float(t) / rate for t in seen)
                yield from here.curve("misalignment", zip(times, levels, strict=True))
                yield here.row("mean_misalignment", levels.mean())
