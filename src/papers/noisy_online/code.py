"""Experiments on online learning from noisy instances: regret of the learners.

Regret is on the clean data. Every horizon is a separate run; all learners of a repetition share the
clean sequence, its copies and its noisy targets. The protocols of the theorems are offered from
here too.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from pydantic import Field, model_validator

from noisy_online import tasks as shared
from noisy_online.naive import NaiveFeatureOGD, NaiveKernelOGD
from noisylabels.kernels.surrogate import SurrogatePair, gaussian_pair, rational_pair
from noisylabels.kernels.tensor import TensorKernel
from noisylabels.losses.analytic import AnalyticLoss, analytic_loss
from noisylabels.noise.additive import FeatureNoise
from noisylabels.online import theory
from noisylabels.online.analytic import AnalyticKernel, AnalyticRun
from noisylabels.online.kernel import SurrogateKernel
from noisylabels.online.linear import KnownCovariance, NaiveOGD, OracleOGD, Run, TwoCopy
from noisylabels.online.theory import feature_moment, feature_moment_bound, mean_queries
from noisylabels.seeding import Seeds
from noisylabels.validation import Floats, Ints
from reproduction.run.protocol_loop import Loop, Repetition, Row
from reproduction.spec import settings as keys
from reproduction.spec.protocol import protocol
from reproduction.spec.settings import (
    Count,
    Distinct,
    Label,
    Model,
    NonNegative,
    Positive,
    Repeated,
    Some,
    Trials,
)

HIGHEST = 40
"""Degree at which features of a Gaussian kernel are cut off, for |x| <= 1."""


# Algorithms 1 and 2: linear learners


class Sphere(Model):
    """Settings of instances on the unit sphere with targets near a plane."""

    kind: Literal["sphere"]
    direction: list[float] = Field(min_length=1, description="of the target w*")
    length: Positive = Field(description="of the target w*")
    spread: NonNegative = Field(description="clean targets lie this far from the plane at most")


class Sets(Model):
    """Settings of passes over real data."""

    kind: Literal["diabetes", "datasets"] = Field(
        description="diabetes comes with scikit-learn; datasets: those of the artifact"
    )
    components: shared.Components


class NoiseSettings(Model):
    """Settings of noise on instances, spread evenly over the inputs, and on targets."""

    total: Positive | Literal["instances"] = Field(
        description="trace of the covariance, or the mean squared length of an instance"
    )
    shapes: Distinct[shared.Shape]
    cycle: Count = Field(description="rounds after which the shape changes")
    target: shared.TargetNoise

    def make(
        self,
        task: shared.LinearTask,
        T: int,
        rng: np.random.Generator | None = None,
    ) -> "Noise":
        """Make the noise of a sequence; with ``rng`` its covariance changes every round.

        The changing covariance is diagonal: a uniform share of the total, in random proportions.
        """
        total = self.total
        if total == "instances":
            total = float(np.trace(task.A))
        variances = np.full(task.d, total / task.d)
        if rng is not None:
            parts = rng.exponential(size=(T, task.d))
            totals = total * rng.random(T)
            scale = totals / parts.sum(axis=1)
            variances = parts * scale[:, None]
        law = FeatureNoise(variances=variances, shapes=list(self.shapes), cycle=self.cycle)
        return Noise(variances, law)


class Noise(NamedTuple):
    """Noise on instances: its variances, constant or by round, and its distribution."""

    variances: Floats
    law: FeatureNoise

    @property
    def total(self) -> float:
        """Compute the largest total variance of a round."""
        return float(np.atleast_2d(self.variances).sum(axis=1).max())


class Learner(Model):
    """Settings of a linear learner and its step."""

    method: Literal["two_copy", "known_covariance", "naive_ogd", "oracle_ogd"]
    step: Literal["G1", "G2", "agnostic", "tuned"] = Field(
        description="of Algorithm 1 or 2, sqrt(B_w/T), or the best multiple of the first on pilots"
    )
    copies: Count = Field(1, description="copies that the naive learner averages")
    told: NonNegative | None = Field(
        None,
        description="the given covariance is this many times too large",
    )
    changing: bool = Field(False, description="the covariance changes every round")

    @property
    def covariance_factor(self) -> float:
        """Return the given covariance as a multiple of the true one."""
        return 1.0 if self.told is None else self.told

    def has_theorem(self) -> bool:
        """Decide whether a theorem bounds the regret: an unbiased method, the true covariance."""
        return self.method in ("two_copy", "known_covariance") and self.told is None


class LinearSettings(Trials):
    """Settings of linear learners against the number of rounds."""

    datasets: Distinct[str] = Field([])
    task: Annotated[Sphere | Sets, Field(discriminator="kind")]
    ball: shared.Ball
    noise: NoiseSettings
    horizons: shared.Horizons
    exponent_horizons: shared.ExponentHorizons
    average_from: float = Field(
        ge=0, lt=1, description="share of the rounds after which weights are averaged"
    )
    learners: dict[Label, Learner] = Field(min_length=1)

    def tasks(self, loop: Loop) -> Iterator[tuple[str, shared.LinearTask, Seeds]]:
        """List name, task and seeds, once for synthetic data or for each data set."""
        if isinstance(self.task, Sphere):
            w = shared.target(self.task.direction, self.task.length)
            yield "synthetic", shared.sphere(w, self.task.spread), loop.seeds
        elif self.task.kind == "diabetes":
            X, y = shared.diabetes()
            base = shared.real(X, y, self.task.components, None)
            yield "diabetes", shared.base_set(base, "package"), loop.seeds
        else:
            for name, dataset, seeds in loop.data_sets(self.datasets):
                X = np.asarray(dataset.arrays["X"], dtype=float)
                y = dataset.arrays["y"].astype(float)
                base = shared.real(X, y, self.task.components, None)
                yield name, shared.base_set(base, dataset.source), seeds


class World:
    """A clean sequence of T rounds and its copies, shared by all learners of a repetition.

    T, clean, best_loss: rounds, the sequence, and the clean loss of the best vector of the ball.
    """

    def __init__(
        self,
        settings: LinearSettings,
        task: shared.LinearTask,
        repetition: Repetition,
        T: int,
    ) -> None:
        self.T = T
        self._settings = settings
        self._task = task
        self.clean: shared.Clean = task.draw(T, repetition.rng(f"clean {T}"))
        self.best_loss = shared.best_linear(*self.clean, settings.ball).loss
        self._best = shared.best_quadratic(task.A, task.b, settings.ball)
        self._noises = {False: settings.noise.make(task, T)}
        if any(learner.changing for learner in settings.learners.values()):
            rng = repetition.rng(f"covariances {T}")
            self._noises[True] = settings.noise.make(task, T, rng)
        self._copies = {}
        for is_changing, noise in self._noises.items():
            self._copies[is_changing] = shared.Copies(self.clean, noise.law, repetition.rng)
        self._targets = self._copies[False].targets(settings.noise.target)

    def noise(self, learner: Learner) -> Noise:
        """Make the noise that a learner meets."""
        return self._noises[learner.changing]

    def gradients(self, learner: Learner) -> dict[str, float]:
        """Bound the squared length of the gradient estimates of Algorithms 1 and 2."""
        B_w = self._settings.ball
        noise = self.noise(learner)
        size = self._task.x_size**2
        B_y = self._task.y_size**2 + self._settings.noise.target**2
        B_x = size + noise.total
        v = np.atleast_2d(noise.variances)
        # bound of the fourth moment for Gaussian noise; Rademacher and uniform noise have less
        total = size + v.sum(axis=1)
        sum_of_squares = (v**2).sum(axis=1)
        fourth_moments = total**2 + 2 * sum_of_squares + 4 * size * v.max(axis=1)
        M_4 = float(fourth_moments.max())
        largest_variance = float(v.max())
        G_1 = theory.two_copy_moment(B_w, B_x, B_y)
        G_2 = theory.known_covariance_moment(B_w, M_4, B_x, B_y, largest_variance)
        return {"two_copy": G_1, "known_covariance": G_2}

    def step(self, learner: Learner, factor: float = 1.0) -> tuple[float, float | None]:
        """Compute the step of the rule times a factor, and the bound where a theorem has one."""
        B_w = self._settings.ball
        moments = self.gradients(learner)
        if learner.step == "agnostic":
            G = 1.0
        elif learner.step == "G2":
            G = moments["known_covariance"]
        else:
            G = moments["two_copy"]
        eta = factor * theory.best_step(B_w, G, self.T)
        if not learner.has_theorem():
            return eta, None
        return eta, theory.regret(B_w, moments[learner.method], self.T, eta)

    def run(self, learner: Learner, eta: float, average_from: float) -> Run:
        """Run a learner through all rounds; its average begins after a share of them."""
        X = self.clean.X
        y = self._targets
        copies = self._copies[learner.changing]
        B_w = self._settings.ball
        first_averaged = int(average_from * self.T)
        match learner.method:
            case "oracle_ogd":
                oracle = OracleOGD(eta, B_w)
                return oracle.run(X, self.clean.y, average_from=first_averaged)
            case "two_copy":
                two_copy = TwoCopy(eta, B_w)
                first = copies.copy(1)
                second = copies.copy(2)
                return two_copy.run(X, first, second, y, average_from=first_averaged)
            case "known_covariance":
                known = KnownCovariance(eta, B_w)
                variances = learner.covariance_factor * self.noise(learner).variances
                options: dict[str, Any] = {"variances": variances, "average_from": first_averaged}
                return known.run(X, copies.copy(1), y, **options)
            case "naive_ogd":
                naive = NaiveOGD(eta, B_w, learner.copies)
                mean = copies.mean(learner.copies)
                return naive.run(X, mean, y, average_from=first_averaged)

    def loss(self, learner: Learner, factor: float) -> float:
        """Compute the total clean loss of a learner with a multiple of its step."""
        eta, _ = self.step(learner, factor)
        return self.clean_loss(self.run(learner, eta, 0.0))

    def clean_loss(self, run: Run) -> float:
        """Compute the total clean loss of the predictions of a run."""
        return float(((run.predictions - self.clean.y) ** 2).sum())

    def measure(self, learner: Learner, run: Run, bound: float | None) -> dict[str, float]:
        """Compare the mean weights of a run with the best vector, and their limit if known."""
        excess = self._task.excess(run.average, self._best)
        values = {"weight_ratio": _along(run.average, self._best), "excess_risk": excess}
        if bound is not None:
            values["excess_bound_ratio"] = excess * self.T / bound
        limit = _predicted(learner, self._task, self.noise(learner), self._settings.ball)
        if limit is not None:
            values["weight_ratio_predicted"] = _along(limit, self._best)
            values["regret_per_round_predicted"] = self._task.excess(limit, self._best)
        return values


LINEAR_LABELS = (*shared.REGRET, "excess_*", "weight_ratio*", "regret_per_round_predicted")


@protocol(LinearSettings, labels=LINEAR_LABELS)
def linear(settings: LinearSettings, loop: Loop) -> Iterator[Row]:
    """Measure regret, excess risk and length of weights of linear learners.

    Regret rows, x = rounds T; weight_ratio <v, u> / ||u||^2 and excess_risk of the mean v of w_t.

    u is the best vector of the ball; the average is over the rounds after the share
    ``average_from``.
    The rows .._predicted are the limits that theory has for the biased learners.
    """
    for name, task, seeds in settings.tasks(loop):
        for trial in loop:
            repetition = Repetition(
                seeds, trial.number, {"dataset": name, "source": task.source, **trial.columns}
            )
            yield from _repetition(settings, task, repetition, loop.tuned.get(name, {}))


def _repetition(
    settings: LinearSettings,
    task: shared.LinearTask,
    repetition: Repetition,
    tuned: Mapping[str, Mapping[str, float]],
) -> Iterator[Row]:
    """Make the rows of all learners on the sequences of a repetition."""
    runs: dict[str, shared.Runs] = {label: {} for label in settings.learners}
    measures: dict[str, dict[int, dict[str, float]]] = {label: {} for label in settings.learners}
    for horizon in settings.horizons:
        world = World(settings, task, repetition, horizon * task.rounds)
        for label, learner in settings.learners.items():
            factor = tuned[label][str(horizon)] if learner.step == "tuned" else 1.0
            eta, bound = world.step(learner, factor)
            run = world.run(learner, eta, settings.average_from)
            regret = world.clean_loss(run) - world.best_loss
            runs[label][world.T] = (regret, bound)
            measures[label][world.T] = world.measure(learner, run, bound)
    horizons = settings.exponent_horizons
    for label in settings.learners:
        of_learner = repetition.with_columns(method=label)
        excesses = {}
        for T, values in measures[label].items():
            yield from of_learner.rows(values, x=T)
            excesses[T] = values["excess_risk"]
        yield from shared.regret_rows(of_learner, runs[label], horizons)
        yield from shared.exponents(of_learner, "excess_exponent", excesses, horizons)


def _along(w: Floats, best: Floats) -> float:
    """Compute the length of w along u, as a share of the length of u."""
    return float(w @ best / (best @ best))


def _predicted(
    learner: Learner,
    task: shared.LinearTask,
    noise: Noise,
    B_w: float,
) -> Floats | None:
    """Find the weights to which a biased learner tends; None for an unbiased one.

    Where a biased learner goes, argmin w'(A + S)w - 2b'w in the ball; None for one that is
    unbiased.

    S is the rest of the covariance: all of it over the number of copies, or 1 - c of it if c Sigma
    is given.
    """
    is_misled = learner.method == "known_covariance" and learner.told is not None
    is_biased = learner.method == "naive_ogd" or is_misled
    if not is_biased or noise.variances.ndim > 1:
        return None
    if learner.told is None:
        share = 1 / learner.copies
    else:
        share = 1 - learner.told
    rest_of_covariance = share * np.diag(noise.variances)
    return shared.best_quadratic(task.A + rest_of_covariance, task.b, B_w)


class TunedSettings(LinearSettings):
    """Settings of `linear` for learners at the best multiple of the theorem's step.

    The naive learner is compared at its own best step too, so that no loss is owed to the step of
    another.
    """

    pilots: Count = Field(description="sequences on which steps are tuned, never evaluated")
    factors: shared.Factors


def tune_linear(settings: TunedSettings, loop: Loop) -> dict[str, dict[str, dict[str, float]]]:
    """Tune the step of each learner at every horizon by the mean regret over pilot sequences."""
    tuned = {}
    for label, learner in settings.learners.items():
        if learner.step == "tuned":
            tuned[label] = learner
    chosen: dict[str, dict[str, dict[str, float]]] = {}
    for name, task, seeds in settings.tasks(loop):
        pilots = [Repetition(seeds, f"pilot {i}", {}) for i in range(settings.pilots)]
        chosen[name] = {label: {} for label in tuned}
        for horizon in settings.horizons:
            T = horizon * task.rounds
            worlds = [World(settings, task, pilot, T) for pilot in pilots]
            for label, learner in tuned.items():
                factor = _choose_factor(worlds, learner, settings.factors)
                chosen[name][label][str(horizon)] = factor
    return chosen


def _choose_factor(worlds: list[World], learner: Learner, factors: list[float]) -> float:
    """Choose the multiple of the step with the smallest loss on all sequences."""

    def sum_losses(factor: float) -> float:
        return sum(world.loss(learner, factor) for world in worlds)

    return min(factors, key=sum_losses)


@protocol(TunedSettings, tune=tune_linear, labels=LINEAR_LABELS)
def linear_tuned(settings: TunedSettings, loop: Loop) -> Iterator[Row]:
    """Measure the rows of `linear` with tuned steps."""
    return iter(linear(settings, loop))


# Algorithm 3: kernels and their surrogates


class Rival:
    """A competitor of the learner, u = sum_j gamma_j Psi(c_j), with its mean clean loss.

    norm, surrogate_norm, alpha : gamma' K gamma, gamma' K~ gamma, and the angle between its two
    parts.
    angle_ball : B~ of Theorem 3, for all predictors of this norm and angle.
    """

    def __init__(self, centres: Floats, gamma: Floats, pair: SurrogatePair, loss: float) -> None:
        self.centres = centres
        self.gamma = gamma
        self.pair = pair
        self.loss = loss
        K = pair.kernel(centres, centres)
        K_tilde = pair.surrogate(centres, centres)
        self.norm = float(gamma @ K @ gamma)
        self.surrogate_norm = float(gamma @ K_tilde @ gamma)
        self.alpha = theory.angle(gamma, K)
        self.angle_ball = theory.surrogate_ball(self.norm, self.alpha, pair.domination)

    def describe(self) -> dict[str, float]:
        """List the metrics that describe the geometry of the task."""
        return {
            "cos_alpha": float(np.cos(self.alpha)),
            "norm": self.norm,
            "surrogate_norm": self.surrogate_norm,
            "angle_ball": self.angle_ball,
            "constant": self.pair.diagonal,
        }


class GaussianKernel(Model):
    """Settings of the Gaussian kernel exp(-||x - x'||^2 / sigma2)."""

    kind: Literal["gaussian"]
    sigma2: Positive = Field(description="the whole denominator")


class RationalKernel(Model):
    """Settings of the truncated rational kernel 1 / (1 + r^2/d)."""

    kind: Literal["rational"]
    c: Positive
    nodes: Count = Field(description="Gauss-Legendre nodes")


Kernel = Annotated[GaussianKernel | RationalKernel, Field(discriminator="kind")]


def pair_of(kernel: Kernel, d: int, variance: float) -> SurrogatePair:
    """Make kernel and surrogate for noise of equal variance on each of d inputs."""
    variances = np.full(d, variance)
    if isinstance(kernel, GaussianKernel):
        return gaussian_pair(kernel.sigma2, variances)
    return rational_pair(kernel.c, variances, nodes=kernel.nodes)


class Expansion(Model):
    """Settings of uniform x whose targets are values of a known expansion, which has loss 0."""

    kind: Literal["expansion"]
    centres: Some[Some[float]]
    coefficients: Some[float]

    @model_validator(mode="after")
    def _lengths(self) -> Self:
        lengths = {len(centre) for centre in self.centres}
        if len(lengths) > 1 or len(self.centres) != len(self.coefficients):
            rule = "all need one length, and coefficients one number for each"
            raise ValueError(f"centres: {rule}")
        return self

    def base(self, kernel: Kernel) -> shared.Task:
        """Make the task from which the sequences come."""
        centres, gamma = self._arrays()
        d = centres.shape[1]
        plain = pair_of(kernel, d, 0.0)

        def draw(T: int, rng: np.random.Generator) -> shared.Clean:
            X = rng.uniform(-1, 1, (T, d))
            return shared.Clean(X, plain.kernel(X, centres) @ gamma)

        highest = gamma[gamma > 0].sum()  # k <= 1
        lowest = gamma[gamma < 0].sum()
        return shared.Task(draw, d, float(max(highest, -lowest)))

    def rivals(self, pair: SurrogatePair) -> dict[str, Rival]:
        """List the one rival, which made the labels."""
        centres, gamma = self._arrays()
        return {"": Rival(centres, gamma, pair, 0.0)}

    def _arrays(self) -> tuple[Floats, Floats]:
        centres = np.array(self.centres, dtype=float)
        return centres, np.array(self.coefficients, dtype=float)


class Diabetes(Model):
    """Settings of passes over the diabetes data, compared with the best functions of balls."""

    kind: Literal["diabetes"]
    components: shared.Components
    deviation: Positive = Field(description="standard deviation over all entries")
    balls: Distinct[shared.Ball]

    def _data(self) -> shared.Clean:
        X, y = shared.diabetes()
        return shared.real(X, y, self.components, self.deviation)

    def base(self, kernel: Kernel) -> shared.Task:
        """Make the task from which the sequences come."""
        return shared.base_set(self._data(), "package")

    def rivals(self, pair: SurrogatePair) -> dict[str, Rival]:
        """Find the best function of each ball."""
        X, y = self._data()
        K = pair.kernel(X, X)
        rivals = {}
        for B_w in self.balls:
            best = shared.best_kernel(K, y, B_w)
            mean_loss = best.loss / len(y)
            rivals[f"B = {B_w:g}"] = Rival(X, best.coefficients, pair, mean_loss)
        return rivals


class Sweep(Model):
    """Settings of Algorithm 3 against the variance of the noise on each input."""

    values: Some[NonNegative]
    horizon: Count
    factor: Positive


class Surface(Model):
    """Settings of the functions after one run, on a square grid."""

    side: int = Field(ge=2, description="points along each axis")
    horizon: Count
    factor: Positive


class KernelSettings(Repeated):
    """Settings of Algorithm 3, its ablation, and the naive learner."""

    task: Annotated[Expansion | Diabetes, Field(discriminator="kind")]
    kernel: Kernel
    variance: NonNegative = Field(description="of the Gaussian noise on each input")
    target: shared.TargetNoise
    radius: Literal["angle", "rival"] = Field(
        description="B~ of Theorem 3, or the surrogate norm of the rival itself, which is sharper"
    )
    factors: shared.Factors
    learners: Distinct[Literal["surrogate", "same_copy", "naive_kernel"]]
    horizons: shared.Horizons
    exponent_horizons: shared.ExponentHorizons
    variances: Sweep | None = None
    truncations: Some[Positive] | None = Field(None, description="c of a radial kernel")
    surface: Surface | None = None

    def ball(self, rival: Rival) -> float:
        """Bound the squared norm in the space of the surrogate kernel."""
        return rival.angle_ball if self.radius == "angle" else rival.surrogate_norm


class Round:
    """A clean sequence of T rounds with two copies and targets, and the learners on it."""

    def __init__(
        self,
        settings: KernelSettings,
        task: shared.Task,
        pair: SurrogatePair,
        repetition: Repetition,
        T: int,
        variance: float | None = None,
    ) -> None:
        self.T = T
        self.pair = pair
        self.clean: shared.Clean = task.draw(T, repetition.rng(f"clean {T}"))
        if variance is None:
            variance = settings.variance
        law = FeatureNoise(variances=np.full(task.d, variance))
        self._copies = shared.Copies(self.clean, law, repetition.rng)
        self._y = self._copies.targets(settings.target)
        self._B_y = task.y_size**2 + settings.target**2

    def step(self, ball: float, factor: float) -> tuple[float, float]:
        """Compute the step of Theorems 3 and 5 times a factor, and their bound."""
        G = theory.surrogate_moment(ball, self.pair.diagonal, self._B_y)
        eta = factor * theory.best_step(ball, G, self.T)
        return eta, theory.regret(ball, G, self.T, eta)

    def loss(self, method: str, eta: float, ball: float) -> float:
        """Compute the total clean loss of a learner, which predicts before each update."""
        _, predictions = self.learn(method, eta, ball)
        return float(((predictions - self.clean.y) ** 2).sum())

    def learn(self, method: str, eta: float, ball: float) -> tuple[SurrogateKernel, Floats]:
        """Run the learner; return it and its predictions on the clean instances."""
        X = self.clean.X
        first = self._copies.copy(1)
        if method.startswith("naive_kernel"):
            naive = NaiveKernelOGD(self.pair, eta, ball)
            return naive, naive.run(X, first, self._y).predictions
        learner = SurrogateKernel(self.pair, eta, ball)
        second = first if method == "same_copy" else self._copies.copy(2)
        return learner, learner.run(X, first, second, self._y).predictions


KERNEL_LABELS = (
    *shared.REGRET,
    *("m = *", "B = *", "rival", "truth", "truncation", "sweep", "naive_kernel_tuned", "tuned"),
    *("cos_alpha", "norm", "surrogate_norm", "angle_ball", "constant", "surface"),
    *("sweep_*", "truncation_error", "bound_over_root_T"),
)


@protocol(KernelSettings, labels=KERNEL_LABELS)
def kernel(settings: KernelSettings, loop: Loop) -> Iterator[Row]:
    """Measure the regret of kernel learners.

    Regret rows; setting = "m = ..", the multiple of the theorem's step, after "B = .." of a rival.

    The naive learner with its own best step has the setting "tuned". Repetition 0 also has the
    geometry of the rivals (method "rival") and the learned functions on a grid, if requested.
    """
    task = settings.task.base(settings.kernel)
    pair = pair_of(settings.kernel, task.d, settings.variance)
    rivals = settings.task.rivals(pair)
    dataset = "diabetes" if isinstance(settings.task, Diabetes) else "synthetic"
    for trial in loop:
        repetition = trial.with_columns(dataset=dataset, source=task.source)
        for name, rival in rivals.items():
            yield from _curves(settings, task, rival, name, repetition, loop.tuned)
        yield from _sweeps(settings, task, repetition)
        if repetition.number == 0:
            for name, rival in rivals.items():
                yield from repetition.rows(rival.describe(), method="rival", setting=name)
            if settings.surface is not None:
                yield from _surface(settings, settings.surface, task, rivals[""], repetition)


def _curves(
    settings: KernelSettings,
    task: shared.Task,
    rival: Rival,
    name: str,
    repetition: Repetition,
    tuned: Mapping[str, float],
) -> Iterator[Row]:
    """Make the rows of regret of all learners against a rival."""
    ball = settings.ball(rival)
    runs: dict[tuple[str, str], shared.Runs] = {}
    for horizon in settings.horizons:
        T = horizon * task.rounds
        sequence = Round(settings, task, rival.pair, repetition, T)
        for method, multiple, factor in _list_steps(settings, tuned, horizon):
            eta, bound = sequence.step(ball, factor)
            regret = sequence.loss(method, eta, ball) - rival.loss * T
            has_bound = method == "surrogate"
            setting = f"{name} {multiple}".lstrip()
            by_horizon = runs.setdefault((method, setting), {})
            by_horizon[T] = (regret, bound if has_bound else None)
    for (method, setting), by_horizon in runs.items():
        of_learner = repetition.with_columns(method=method, setting=setting)
        yield from shared.regret_rows(of_learner, by_horizon, settings.exponent_horizons)


def _list_steps(
    settings: KernelSettings,
    tuned: Mapping[str, float],
    horizon: int,
) -> list[tuple[str, str, float]]:
    """List method, setting and multiple of the step of the learners, the tuned one last."""
    steps: list[tuple[str, str, float]] = []
    for factor in settings.factors:
        for method in settings.learners:
            steps.append((method, f"m = {factor:g}", factor))
    if tuned:
        steps.append(("naive_kernel_tuned", "tuned", tuned[str(horizon)]))
    return steps


def _surface(
    settings: KernelSettings,
    surface: Surface,
    task: shared.Task,
    rival: Rival,
    repetition: Repetition,
) -> Iterator[Row]:
    """Make rows of the learned functions; x is the number of a point, from the lower left."""
    side = np.linspace(-1, 1, surface.side)
    coordinates = np.meshgrid(side, side)
    grid = np.column_stack([coordinate.ravel() for coordinate in coordinates])
    sequence = Round(settings, task, rival.pair, repetition, surface.horizon)
    ball = settings.ball(rival)
    eta, _ = sequence.step(ball, surface.factor)
    truth = rival.pair.kernel(grid, rival.centres) @ rival.gamma
    yield from repetition.curve("surface", enumerate(truth), method="truth")
    for method in ("surrogate", "naive_kernel"):
        learner, _ = sequence.learn(method, eta, ball)
        values = learner.predict(grid)
        yield from repetition.curve("surface", enumerate(values), method=method)


def _sweeps(settings: KernelSettings, task: shared.Task, repetition: Repetition) -> Iterator[Row]:
    """Make rows over variances and over truncations, where the settings have them."""
    if settings.variances:
        for variance in settings.variances.values:
            yield from _sweep(settings, settings.variances, variance, task, repetition)
    for c in settings.truncations or []:
        yield from _truncate(settings, c, task, repetition)


def _sweep(
    settings: KernelSettings,
    sweep: Sweep,
    variance: float,
    task: shared.Task,
    repetition: Repetition,
) -> Iterator[Row]:
    """Make rows of one variance: regret at one horizon, bound, constant of the surrogate."""
    pair = pair_of(settings.kernel, task.d, variance)
    ball = settings.ball(settings.task.rivals(pair)[""])
    drawn = Repetition(repetition.seeds, f"sweep {repetition.number}", {})
    sequence = Round(settings, task, pair, drawn, sweep.horizon, variance)
    eta, bound = sequence.step(ball, sweep.factor)
    of_variance = repetition.with_columns(setting="sweep", x=variance)
    for method in ("surrogate", "naive_kernel"):
        loss = sequence.loss(method, eta, ball)
        yield of_variance.row("sweep_regret", loss, method=method)
    values = {"sweep_bound": bound, "sweep_constant": pair.diagonal}
    yield from of_variance.rows(values, method="surrogate")


def _truncate(
    settings: KernelSettings,
    c: float,
    task: shared.Task,
    repetition: Repetition,
) -> Iterator[Row]:
    """Make rows of one truncation, x = c.

    They are the largest error e^-c of the kernel, and sqrt(B~ G_5), the bound over sqrt T.
    """
    B_y = task.y_size**2 + settings.target**2
    truncated = settings.kernel.model_copy(update={"c": c})
    pair = pair_of(truncated, task.d, settings.variance)
    ball = settings.task.rivals(pair)[""].angle_ball
    G_5 = theory.surrogate_moment(ball, pair.diagonal, B_y)
    values = {
        "truncation_error": float(np.exp(-c)),
        "bound_over_root_T": float(np.sqrt(ball * G_5)),
    }
    yield from repetition.rows(values, method="rival", setting="truncation", x=c)


class TunedKernelSettings(KernelSettings):
    """Settings of `kernel` with the naive learner also at its best multiple of the step."""

    pilots: Count = Field(description="sequences on which steps are tuned, never evaluated")
    pilot_horizon: Count = Field(description="longest pilot; one of the horizons")
    pilot_factors: shared.Factors


def tune_kernel(settings: TunedKernelSettings, loop: Loop) -> dict[str, float]:
    """Tune the step by the loss on pilot sequences; long horizons use that of ``pilot_horizon``."""
    task = settings.task.base(settings.kernel)
    pair = pair_of(settings.kernel, task.d, settings.variance)
    ball = settings.ball(settings.task.rivals(pair)[""])
    repetitions = [Repetition(loop.seeds, f"pilot {i}", {}) for i in range(settings.pilots)]
    chosen: dict[str, float] = {}
    for T in settings.horizons:
        if settings.pilot_horizon < T:
            chosen[str(T)] = chosen[str(settings.pilot_horizon)]
            continue
        pilots = [Round(settings, task, pair, repetition, T) for repetition in repetitions]
        chosen[str(T)] = _choose_pilot_factor(pilots, ball, settings.pilot_factors)
    return chosen


def _choose_pilot_factor(pilots: list[Round], ball: float, factors: list[float]) -> float:
    """Choose the multiple of the step with which the naive learner has the smallest loss."""

    def sum_losses(factor: float) -> float:
        losses = []
        for pilot in pilots:
            eta, _ = pilot.step(ball, factor)
            losses.append(pilot.loss("naive_kernel", eta, ball))
        return sum(losses)

    return min(factors, key=sum_losses)


@protocol(TunedKernelSettings, tune=tune_kernel, labels=KERNEL_LABELS)
def kernel_tuned(settings: TunedKernelSettings, loop: Loop) -> Iterator[Row]:
    """Measure the rows of `kernel` with tuned steps."""
    return iter(kernel(settings, loop))


# Algorithm 4: analytic losses


class AnalyticProblem(Model):
    """Settings of a small base set with kernel, loss and Gaussian noise."""

    kernel: shared.Tensor
    loss: Literal["squared", "exponential", "smoothed_absolute", "smoothed_hinge"]
    s: Positive | None = Field(None, description="of a smoothed loss")
    data: Literal["line", "classes", "product", "xor", "hills", "sides"]
    scale: Positive = Field(1.0, description="of the targets")
    ball: shared.Ball
    sd: NonNegative | list[NonNegative] = Field(
        description="standard deviations of the noise on the inputs",
    )


class WithP(AnalyticProblem):
    """Settings of a task for the parameter p of the algorithm."""

    p: float = Field(gt=1)


@dataclass(frozen=True)
class AnalyticTask:
    """A base set, passed over in order, with Gaussian noise, kernel and loss."""

    base: shared.Clean
    sd: Floats
    kernel: TensorKernel
    loss: AnalyticLoss
    B_w: float
    p: float

    @classmethod
    def make(
        cls,
        spec: AnalyticProblem,
        p: float,
        n: int,
        rng: np.random.Generator,
    ) -> "AnalyticTask":
        """Make the task of the settings with n instances."""
        base = analytic_base(spec.data, n, spec.scale, rng)
        deviations = np.asarray(spec.sd, dtype=float)
        sd = np.broadcast_to(deviations, base.X.shape[1:]).copy()
        kernel = shared.tensor_kernel(spec.kernel)
        loss = analytic_loss(spec.loss, spec.s)
        return cls(base, sd, kernel, loss, spec.ball, p)

    def passes(self, T: int) -> shared.Clean:
        """Make T rounds of passes over the base set."""
        X, y = self.base
        passes = T // len(y)
        return shared.Clean(np.tile(X, (passes, 1)), np.tile(y, passes))

    def log_nu(self, *, tight: bool) -> float:
        """Compute the log of the bound of E ||g~ Psi~||^2, tight or loose."""
        moment = feature_moment if tight else feature_moment_bound
        largest = (self.base.X**2).sum(axis=1).max()
        B_x = float(largest + (self.sd**2).sum())  # max_t E ||x~_t||^2
        B_y = float(np.abs(self.base.y).max())
        B_psi = moment(self.kernel, self.p, B_x)
        return theory.log_gradient_moment(self.loss, self.p, self.B_w, B_psi, B_y=B_y, tight=tight)

    def best_loss(self) -> float:
        """Compute the loss of one pass of the best predictor of the ball on clean data."""
        highest = HIGHEST if self.kernel.degree is None else self.kernel.degree
        features = self.kernel.features(self.base.X, highest)
        y = self.base.y

        def measure_loss(predicted: Floats) -> Floats:
            return self.loss.loss(predicted, y)

        def measure_slope(predicted: Floats) -> Floats:
            return self.loss.derivative(predicted, y)

        return shared.best_smooth(measure_loss, measure_slope, features, self.B_w).loss

    def regret(self, predictions: Floats, best_loss: float) -> float:
        """Compute the loss of T predictions less that of the best predictor."""
        passes = len(predictions) // len(self.base.y)
        losses = self.loss.loss(predictions, np.tile(self.base.y, passes))
        return float(losses.sum()) - best_loss * passes

    def step(self, T: int, factor: float) -> tuple[float, float]:
        """Compute the step with the tight moment times a factor, and the bound."""
        log_nu = self.log_nu(tight=True)
        eta = factor * theory.best_step_of_log(self.B_w, log_nu, T)
        log_bound = (np.log(self.B_w) + log_nu + np.log(T)) / 2
        bound = (factor + 1 / factor) / 2 * np.exp(log_bound)
        return eta, float(bound)

    def learn(self, repetition: Repetition, name: str, eta: float, T: int) -> AnalyticRun:
        """Run Algorithm 4 for T rounds; noise and coin are the same for every step size."""
        rng = repetition.rng(f"{name} copies {T}")
        coin = repetition.rng(f"{name} coin {T}")

        def copies(rounds: Ints) -> Floats:
            noise = rng.standard_normal((len(rounds), len(self.sd)))
            clean = self.base.X[rounds % len(self.base.y)]
            return np.asarray(clean + self.sd * noise)

        X, y = self.passes(T)
        learner = AnalyticKernel(self.kernel, self.loss, eta, coin, self.p, self.B_w)
        return learner.run(X, copies, y)

    def plug_in(self, repetition: Repetition, name: str, eta: float, T: int) -> Floats:
        """Predict T rounds with the naive learner."""
        X, y = self.passes(T)
        rng = repetition.rng(f"{name} one copy {T}")
        noisy = X + self.sd * rng.standard_normal(X.shape)
        learner = NaiveFeatureOGD(self.kernel, self.loss, eta, self.B_w, HIGHEST)
        return learner.run(X, noisy, y)


def analytic_base(data: str, n: int, scale: float, rng: np.random.Generator) -> shared.Clean:
    """Make n clean examples of a shape such as line, classes, product, xor, hills or sides.

    line : y = scale (<(0.7, -0.5), x> + U[-0.1, 0.1]).
    classes : y = sign <(0.8, -0.6), x>, 5 % flipped.
    product : y = 1.2 x_1 x_2 + 0.3 x_1 + U[-0.1, 0.1].
    xor : y = sign x_1 x_2, 5 % flipped.
    hills : y = scale f(x) + U[-0.05, 0.05], f = exp(-(x - .6)^2 / 4) - exp(-(x + .6)^2 / 4).
    sides : y = sign f(x), 5 % flipped.
    """
    uniform = rng.uniform(-1, 1, n)
    flips = np.where(rng.random(n) < 0.05, -1.0, 1.0)
    if data in ("hills", "sides"):
        x = rng.uniform(-1, 1, n)
        right_hill = np.exp(-((x - 0.6) ** 2) / 4)
        left_hill = np.exp(-((x + 0.6) ** 2) / 4)
        f = right_hill - left_hill
        if data == "sides":
            return shared.Clean(x[:, None], np.sign(f) * flips)
        return shared.Clean(x[:, None], scale * f + 0.05 * uniform)
    X = _draw_in_disc(n, rng)
    if data == "line":
        y = scale * (X @ np.array([0.7, -0.5]) + 0.1 * uniform)
    elif data == "classes":
        y = np.sign(X @ np.array([0.8, -0.6])) * flips
    elif data == "product":
        y = 1.2 * X[:, 0] * X[:, 1] + 0.3 * X[:, 0] + 0.1 * uniform
    else:
        y = np.sign(X[:, 0] * X[:, 1]) * flips
    return shared.Clean(X, y)


def _draw_in_disc(n: int, rng: np.random.Generator) -> Floats:
    """Draw n points uniformly in the unit disc."""
    radius = np.sqrt(rng.random(n))
    angle = rng.uniform(0, 2 * np.pi, n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


class AnalyticSettings(Trials):
    """Settings of Algorithm 4 for kernels and analytic losses, next to tight and loose bounds."""

    instances: Count = Field(description="of each base set")
    tasks: dict[Label, WithP] = Field(min_length=1)
    horizons: shared.Horizons
    most: dict[str, Count] = Field(description="task -> largest number of passes")
    factors: shared.Factors
    exponent_horizons: shared.ExponentHorizons

    @model_validator(mode="after")
    def _complete(self) -> Self:
        keys.among("tasks", self.tasks, self.most)
        return self

    def check_data(self, listed: object) -> None:
        """Check data sets; the tasks of a job have ``most`` of all tasks."""
        keys.among("most", self.most, self.tasks)


@protocol(
    AnalyticSettings,
    labels=(
        *shared.REGRET,
        *("m = *", "analytic", "plug_in", "queries_*", "loose_ratio", "log10_*"),
    ),
)
def analytic(settings: AnalyticSettings, loop: Loop) -> Iterator[Row]:
    """Measure the regret of Algorithm 4 on all tasks.

    Regret rows; noise = task, setting = "m = ..", the multiple of the step of the tight moment, x =
    T.

    loose_ratio : regret over the bound with the moment of the theorem, for m = 1.
    log10_nu, log10_nu_loose : of the moments.
    """
    for name, spec in settings.tasks.items():
        rng = loop.seeds.generator("base", name)
        task = AnalyticTask.make(spec, spec.p, settings.instances, rng)
        best_loss = task.best_loss()
        n = len(task.base.y)
        largest = settings.most[name]
        lengths = [n * passes for passes in settings.horizons if passes <= largest]
        for trial in loop:
            repetition = trial.with_columns(noise=name)
            for factor in settings.factors:
                yield from _run_step(settings, task, repetition, name, best_loss, factor, lengths)
            if repetition.number == 0:
                logs = {
                    "log10_nu": task.log_nu(tight=True) / np.log(10),
                    "log10_nu_loose": task.log_nu(tight=False) / np.log(10),
                }
                yield from repetition.rows(logs, method="analytic")


def _run_step(
    settings: AnalyticSettings,
    task: AnalyticTask,
    repetition: Repetition,
    name: str,
    best_loss: float,
    factor: float,
    lengths: list[int],
) -> Iterator[Row]:
    """Make the rows of both learners on a task with a multiple of the step."""
    of_step = repetition.with_columns(setting=f"m = {factor:g}")
    runs: dict[str, shared.Runs] = {"analytic": {}, "plug_in": {}}
    log_nu_loose = task.log_nu(tight=False)
    for T in lengths:
        eta, bound = task.step(T, factor)
        run = task.learn(repetition, name, eta, T)
        regret = task.regret(run.predictions, best_loss)
        runs["analytic"][T] = (regret, bound)
        predictions = task.plug_in(repetition, name, eta, T)
        runs["plug_in"][T] = (task.regret(predictions, best_loss), None)
        values = {"queries_per_round": float(run.queries.mean())}
        if factor == 1:
            log_bound = (np.log(task.B_w) + log_nu_loose + np.log(T)) / 2
            values["loose_ratio"] = regret / float(np.exp(log_bound))
        yield from of_step.rows(values, method="analytic", x=T)
    for method, by_length in runs.items():
        of_method = of_step.with_columns(method=method)
        yield from shared.regret_rows(of_method, by_length, settings.exponent_horizons)


class ParameterSettings(Trials):
    """Settings of Algorithm 4 by p: few copies with wild estimates, or many with tame ones."""

    instances: Count = Field(description="of the base set")
    powers: shared.Powers
    rounds: Count = Field(description="T at equal rounds")
    queries: Count = Field(description="copies in total at equal queries")
    task: AnalyticProblem


@protocol(
    ParameterSettings,
    labels=(
        *(*shared.REGRET, "theorem_bound_per_round"),
        *("analytic", "equal *", "queries_per_round", "query_ratio", "log10_nu"),
    ),
)
def parameter_p(settings: ParameterSettings, loop: Loop) -> Iterator[Row]:
    """Measure the regret of Algorithm 4 against p, at equal rounds and at equal copies.

    Rows; setting = "equal rounds" or "equal queries", x = p, with the step of the tight moment.

    query_ratio : measured copies per round over their expectation. log10_nu : of the tight moment.
    theorem_bound_per_round : the bound with the moment and the step of the theorem, over T.
    """
    n = settings.instances
    for p in settings.powers:
        rng = loop.seeds.generator("base", "p")
        task = AnalyticTask.make(settings.task, p, n, rng)
        best_loss = task.best_loss()
        is_gaussian = task.kernel.sigma2 is not None
        expected = mean_queries(p, gaussian=is_gaussian)
        log_nu = task.log_nu(tight=True)
        log_loose = np.log(task.B_w) + task.log_nu(tight=False)
        lengths = {
            "equal rounds": settings.rounds,
            "equal queries": settings.queries / expected,
        }
        for setting, length in lengths.items():
            T = n * max(1, round(length / n))
            eta, bound = task.step(T, 1.0)
            theorem_bound = float(np.exp((log_loose - np.log(T)) / 2))
            for repetition in loop:
                run = task.learn(repetition, f"p = {p:g}", eta, T)
                regret = task.regret(run.predictions, best_loss)
                queries = float(run.queries.mean())
                values = {
                    "regret": regret,
                    "regret_per_round": regret / T,
                    "bound_ratio": regret / bound,
                    "queries_per_round": queries,
                    "query_ratio": queries / expected,
                    "log10_nu": log_nu / np.log(10),
                    "theorem_bound_per_round": theorem_bound,
                }
                yield from repetition.rows(values, method="analytic", setting=setting, x=p)
