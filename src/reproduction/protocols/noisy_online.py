"""Online learning on noisy instances (Cesa-Bianchi, Shalev-Shwartz and Shamir 2011): the linear learners.

Squared loss, regret on the clean data against the number of rounds. All learners of a repetition share the
sequence, its copies and its noisy targets. The protocols of kernels and of the theorems are offered from here
too, under the name of this family.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import Field

from noisylabels.noise.features import FeatureNoise
from noisylabels.online.linear import KnownCovariance, NaiveOGD, OracleOGD, Run, TwoCopy
from noisylabels.seeding import Seeds
from noisylabels.theory import regret_bounds
from noisylabels.validation import Floats
from reproduction.protocols.noisy_online_checks import (
    curves,
    identities,
    impossibility,
    moments,
    noisy_scoring,
)
from reproduction.protocols.noisy_online_kernel import analytic, kernel, kernel_tuned, parameter_p
from reproduction.protocols.noisy_online_tasks import (
    REGRET,
    Ball,
    Clean,
    Components,
    Copies,
    ExponentHorizons,
    Factors,
    Horizons,
    Shape,
    TargetNoise,
    Task,
    base_set,
    best_linear,
    best_quadratic,
    diabetes,
    exponents,
    real,
    regret_rows,
    sphere,
    target,
)
from reproduction.protocols.settings import Count, Distinct, Label, Model, NonNegative, Positive, Trials
from reproduction.protocols.walk import At, Row, Walk, protocol

__all__ = [
    "analytic", "curves", "identities", "impossibility", "kernel", "kernel_tuned", "linear", "linear_tuned",
    "moments", "noisy_scoring", "parameter_p",
]  # fmt: skip


class Sphere(Model):
    """Instances on the unit sphere, targets near a plane."""

    kind: Literal["sphere"]
    direction: list[float] = Field(min_length=1, description="of the target w*")
    length: Positive = Field(description="of the target w*")
    spread: NonNegative = Field(description="clean targets lie this far from the plane at most")


class Sets(Model):
    """Passes over real data."""

    kind: Literal["diabetes", "datasets"] = Field(
        description="diabetes comes with scikit-learn; datasets: those of the artifact"
    )
    components: Components


class NoiseSettings(Model):
    """Noise on instances, spread evenly over the inputs, and on targets."""

    total: Positive | Literal["instances"] = Field(
        description="trace of the covariance, or the mean squared length of an instance"
    )
    shapes: Distinct[Shape]
    cycle: Count = Field(description="rounds after which the shape changes")
    target: TargetNoise

    def of(self, task: Task, T: int, rng: np.random.Generator | None = None) -> "Noise":
        """The noise of a sequence; with ``rng``, its covariance changes every round.

        The changing covariance is diagonal: a uniform share of the total, in random proportions.
        """
        total = float(np.trace(task.A)) if self.total == "instances" else self.total
        variances = np.full(task.d, total / task.d)
        if rng is not None:
            parts = rng.exponential(size=(T, task.d))
            variances = parts * (total * rng.random(T) / parts.sum(axis=1))[:, None]
        return Noise(variances, FeatureNoise(variances=variances, shapes=list(self.shapes), cycle=self.cycle))


class Noise(NamedTuple):
    """Noise on instances: its variances (d,), or (T, d) if they change every round, and its law."""

    variances: Floats
    law: FeatureNoise

    @property
    def total(self) -> float:
        """The largest total variance of a round."""
        return float(np.atleast_2d(self.variances).sum(axis=1).max())


class Learner(Model):
    """A linear learner and its step."""

    method: Literal["two_copy", "known_covariance", "naive_ogd", "oracle_ogd"]
    step: Literal["G1", "G2", "agnostic", "tuned"] = Field(
        description="that of Algorithm 1 or 2, sqrt(B_w/T), or the best multiple of the first on pilots"
    )
    copies: Count = Field(1, description="copies that the naive learner averages")
    told: NonNegative | None = Field(None, description="the given covariance is this many times too large")
    changing: bool = Field(False, description="the covariance changes every round")


class LinearSettings(Trials):
    """Linear learners against the number of rounds."""

    datasets: Distinct[str] = Field([])
    task: Annotated[Sphere | Sets, Field(discriminator="kind")]
    ball: Ball
    noise: NoiseSettings
    horizons: Horizons
    exponent_horizons: ExponentHorizons
    average_from: float = Field(
        ge=0, lt=1, description="share of the rounds after which weights are averaged"
    )
    learners: dict[Label, Learner] = Field(min_length=1)

    def tasks(self, walk: Walk) -> Iterator[tuple[str, Task, Seeds]]:
        """(name, task, its seeds): one for synthetic data or diabetes, else one for each data set."""
        if isinstance(self.task, Sphere):
            w = target(self.task.direction, self.task.length)
            yield "synthetic", sphere(w, self.task.spread), walk.seeds
        elif self.task.kind == "diabetes":
            yield "diabetes", base_set(real(*diabetes(), self.task.components, None), "package"), walk.seeds
        else:
            for name, dataset, seeds in walk.data_sets(self.datasets):
                X, y = dataset.arrays["X"], dataset.arrays["y"]
                base = real(np.asarray(X, dtype=float), y.astype(float), self.task.components, None)
                yield name, base_set(base, dataset.source), seeds


class World:
    """A clean sequence of T rounds and its copies, shared by all learners of a repetition.

    T, clean, least: rounds, the sequence, and the clean loss of the best vector of the ball.
    """

    def __init__(
        self, settings: LinearSettings, task: Task, seeds: Seeds, repetition: int | str, T: int
    ) -> None:
        self.T, self._settings, self._task = T, settings, task
        self.clean: Clean = task.draw(T, seeds.generator(repetition, f"clean {T}"))
        self.least = best_linear(*self.clean, settings.ball).loss
        self._noises = {False: settings.noise.of(task, T)}
        if any(learner.changing for learner in settings.learners.values()):
            rng = seeds.generator(repetition, f"covariances {T}")
            self._noises[True] = settings.noise.of(task, T, rng)
        self._copies = {
            changing: Copies(self.clean, each.law, seeds, repetition, f"{T}")
            for changing, each in self._noises.items()
        }
        self._targets = self._copies[False].targets(settings.noise.target)

    def noise(self, learner: Learner) -> Noise:
        """The noise that a learner meets."""
        return self._noises[learner.changing]

    def gradients(self, learner: Learner) -> dict[str, float]:
        """G of Algorithms 1 and 2: bounds of the squared length of their gradient estimates."""
        B_w, noise, size = self._settings.ball, self.noise(learner), self._task.x_size**2
        B_y = self._task.y_size**2 + self._settings.noise.target**2
        B_x = size + noise.total
        v = np.atleast_2d(noise.variances)
        # bounds E ||x + n_t||^4, ||x||^2 <= size, for Gaussian noise; Rademacher and uniform noise have less
        total = size + v.sum(axis=1)
        M_4 = float((total**2 + 2 * (v**2).sum(axis=1) + 4 * size * v.max(axis=1)).max())
        return {
            "two_copy": regret_bounds.two_copy_moment(B_w, B_x, B_y),
            "known_covariance": regret_bounds.known_covariance_moment(B_w, M_4, B_x, B_y, float(v.max())),
        }

    def step(self, learner: Learner, factor: float = 1.0) -> tuple[float, float | None]:
        """(eta, bound): the step of the rule times a factor, and the bound where a theorem has one."""
        B_w, G = self._settings.ball, self.gradients(learner)
        rules = {"agnostic": 1.0, "G2": G["known_covariance"]}
        eta = factor * regret_bounds.best_step(B_w, rules.get(learner.step, G["two_copy"]), self.T)
        if learner.method not in G or learner.told is not None:
            return eta, None
        return eta, regret_bounds.regret(B_w, G[learner.method], self.T, eta)

    def run(self, learner: Learner, eta: float, average_from: float) -> Run:
        """The whole run of a learner; its average begins at that share of the rounds."""
        X, y, copies, B_w = self.clean.X, self._targets, self._copies[learner.changing], self._settings.ball
        since = {"average_from": int(average_from * self.T)}
        match learner.method:
            case "oracle_ogd":
                return OracleOGD(eta, B_w).run(X, self.clean.y, **since)
            case "two_copy":
                return TwoCopy(eta, B_w).run(X, copies.copy(1), copies.copy(2), y, **since)
            case "known_covariance":
                told = (1.0 if learner.told is None else learner.told) * self.noise(learner).variances
                return KnownCovariance(eta, B_w).run(X, copies.copy(1), y, variances=told, **since)
            case "naive_ogd":
                return NaiveOGD(eta, B_w, learner.copies).run(X, copies.mean(learner.copies), y, **since)

    def loss(self, learner: Learner, factor: float) -> float:
        """Total clean loss of a learner with a multiple of its step."""
        predictions = self.run(learner, self.step(learner, factor)[0], 0.0).predictions
        return float(((predictions - self.clean.y) ** 2).sum())


class Point(NamedTuple):
    """One run of a learner: its regret, the bound if a theorem has one, and further measures."""

    regret: float
    bound: float | None
    measures: dict[str, float]


LABELS = (*REGRET, "excess_*", "weight_ratio*", "regret_per_round_predicted")


@protocol(LinearSettings, labels=LABELS)
def linear(settings: LinearSettings, walk: Walk) -> Iterator[Row]:
    """Regret rows; x = rounds T. Beside: weight_ratio <v, u> / ||u||^2 and excess_risk of the mean v of w_t.

    u is the best vector of the ball; the average is over the rounds after the share ``average_from``.
    The rows .._predicted are the limits that theory has for the biased learners.
    """
    for name, task, seeds in settings.tasks(walk):
        for trial in walk.trials():
            at = At(seeds, trial.repetition, {"dataset": name, "source": task.source, **trial.columns})
            yield from _repetition(settings, task, at, walk.tuned.get(name, {}))


def _repetition(
    settings: LinearSettings, task: Task, at: At, tuned: Mapping[str, Mapping[str, float]]
) -> Iterator[Row]:
    best = best_quadratic(task.A, task.b, settings.ball)
    points: dict[str, dict[int, Point]] = {label: {} for label in settings.learners}
    for horizon in settings.horizons:
        world = World(settings, task, at.seeds, at.repetition, horizon * task.rounds)
        for label, learner in settings.learners.items():
            factor = tuned[label][str(horizon)] if learner.step == "tuned" else 1.0
            points[label][world.T] = _point(settings, task, world, best, learner, factor)
    for label, found in points.items():
        here, lasts = at.on(method=label), settings.exponent_horizons
        for T, point in found.items():
            yield from here.rows(point.measures, x=T)
        bounds = {T: point.bound for T, point in found.items() if point.bound is not None}
        yield from regret_rows(here, {T: p.regret for T, p in found.items()}, lasts, bounds or None)
        excesses = {T: point.measures["excess_risk"] for T, point in found.items()}
        yield from exponents(here, "excess_exponent", excesses, lasts)


def _point(
    settings: LinearSettings, task: Task, world: World, best: Floats, learner: Learner, factor: float
) -> Point:
    eta, bound = world.step(learner, factor)
    done = world.run(learner, eta, settings.average_from)
    regret = float(((done.predictions - world.clean.y) ** 2).sum()) - world.least
    excess = task.excess(done.average, best)
    measures = {"weight_ratio": _along(done.average, best), "excess_risk": excess}
    if bound is not None:
        measures["excess_bound_ratio"] = excess * world.T / bound
    limit = _predicted(learner, task, world.noise(learner), settings.ball)
    if limit is not None:
        measures["weight_ratio_predicted"] = _along(limit, best)
        measures["regret_per_round_predicted"] = task.excess(limit, best)
    return Point(regret, bound, measures)


def _along(w: Floats, best: Floats) -> float:
    """<w, u> / ||u||^2."""
    return float(w @ best / (best @ best))


def _predicted(learner: Learner, task: Task, noise: Noise, B_w: float) -> Floats | None:
    """Where a biased learner goes, argmin w'(A + S)w - 2b'w in the ball; None for one that is unbiased.

    S is the rest of the covariance: all of it over the number of copies, or 1 - c of it if c Sigma is given.
    """
    left = 1 / learner.copies if learner.told is None else 1 - learner.told
    if learner.method not in ("naive_ogd", "known_covariance") or noise.variances.ndim > 1:
        return None
    if learner.method == "known_covariance" and learner.told is None:
        return None
    return best_quadratic(task.A + left * np.diag(noise.variances), task.b, B_w)


class TunedSettings(LinearSettings):
    """The same with learners at the best multiple of the theorem's step.

    The naive learner is compared at its own best step too, so that no loss is owed to the step of another.
    """

    pilots: Count = Field(description="sequences on which steps are tuned, never evaluated")
    factors: Factors


def tune_linear(settings: TunedSettings, walk: Walk) -> dict[str, dict[str, dict[str, float]]]:
    """``{task: {learner: {T: factor}}}``: the smallest mean regret over pilot sequences, at every horizon."""
    chosen: dict[str, dict[str, dict[str, float]]] = {}
    for name, task, seeds in settings.tasks(walk):
        tuned = {label: each for label, each in settings.learners.items() if each.step == "tuned"}
        chosen[name] = {label: {} for label in tuned}
        for horizon in settings.horizons:
            names = [f"pilot {i}" for i in range(settings.pilots)]
            worlds = [World(settings, task, seeds, pilot, horizon * task.rounds) for pilot in names]
            for label, learner in tuned.items():
                losses = [sum(world.loss(learner, f) for world in worlds) for f in settings.factors]
                chosen[name][label][str(horizon)] = settings.factors[int(np.argmin(losses))]
    return chosen


@protocol(TunedSettings, tune=tune_linear, labels=LABELS)
def linear_tuned(settings: TunedSettings, walk: Walk) -> Iterator[Row]:
    """Rows of `linear`."""
    return iter(linear(settings, walk))
