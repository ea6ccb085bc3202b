"""Experiments on online learning from noisy instances: regret of the learners.

Regret is on the clean data. Every horizon is a separate run; all learners of a repetition share the clean
sequence, its copies and its noisy targets. The protocols of the theorems are offered from here too.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple, Self

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

    def of(self, task: shared.LinearTask, T: int, rng: np.random.Generator | None = None) -> "Noise":
        """Make the noise of a sequence; with ``rng`` its covariance changes every round.

        The changing covariance is diagonal: a uniform share of the total, in random proportions.
        """
        total = float(np.trace(task.A)) if self.total == "instances" else self.total
        variances = np.full(task.d, total / task.d)
        if rng is not None:
            parts = rng.exponential(size=(T, task.d))
            variances = parts * (total * rng.random(T) / parts.sum(axis=1))[:, None]
        return Noise(variances, FeatureNoise(variances=variances, shapes=list(self.shapes), cycle=self.cycle))


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
        description="that of Algorithm 1 or 2, sqrt(B_w/T), or the best multiple of the first on pilots"
    )
    copies: Count = Field(1, description="copies that the naive learner averages")
    told: NonNegative | None = Field(None, description="the given covariance is this many times too large")
    changing: bool = Field(False, description="the covariance changes every round")


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
            base = shared.real(*shared.diabetes(), self.task.components, None)
            yield "diabetes", shared.base_set(base, "package"), loop.seeds
        else:
            for name, dataset, seeds in loop.data_sets(self.datasets):
                X, y = dataset.arrays["X"], dataset.arrays["y"]
                base = shared.real(np.asarray(X, dtype=float), y.astype(float), self.task.components, None)
                yield name, shared.base_set(base, dataset.source), seeds


class World:
    """A clean sequence of T rounds and its copies, shared by all learners of a repetition.

    T, clean, least: rounds, the sequence, and the clean loss of the best vector of the ball.
    """

    def __init__(
        self, settings: LinearSettings, task: shared.LinearTask, repetition: Repetition, T: int
    ) -> None:
        self.T, self._settings, self._task = T, settings, task
        self.clean: shared.Clean = task.draw(T, repetition.rng(f"clean {T}"))
        self.least = shared.best_linear(*self.clean, settings.ball).loss
        self._noises = {False: settings.noise.of(task, T)}
        if any(learner.changing for learner in settings.learners.values()):
            self._noises[True] = settings.noise.of(task, T, repetition.rng(f"covariances {T}"))
        self._copies = {
            key: shared.Copies(self.clean, n.law, repetition.rng) for key, n in self._noises.items()
        }
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
        M_4 = float((total**2 + 2 * (v**2).sum(axis=1) + 4 * size * v.max(axis=1)).max())
        return {
            "two_copy": theory.two_copy_moment(B_w, B_x, B_y),
            "known_covariance": theory.known_covariance_moment(B_w, M_4, B_x, B_y, float(v.max())),
        }

    def step(self, learner: Learner, factor: float = 1.0) -> tuple[float, float | None]:
        """Compute the step of the rule times a factor, and the bound where a theorem has one."""
        B_w = self._settings.ball
        G = self.gradients(learner)
        rules = {"agnostic": 1.0, "G2": G["known_covariance"]}
        eta = factor * theory.best_step(B_w, rules.get(learner.step, G["two_copy"]), self.T)
        if learner.method not in G or learner.told is not None:
            return eta, None
        return eta, theory.regret(B_w, G[learner.method], self.T, eta)

    def run(self, learner: Learner, eta: float, average_from: float) -> Run:
        """Run a learner through all rounds; its average begins after a share of them."""
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
        """Compute the total clean loss of a learner with a multiple of its step."""
        predictions = self.run(learner, self.step(learner, factor)[0], 0.0).predictions
        return float(((predictions - self.clean.y) ** 2).sum())


LINEAR_LABELS = (*shared.REGRET, "excess_*", "weight_ratio*", "regret_per_round_predicted")


@protocol(LinearSettings, labels=LINEAR_LABELS)
def linear(settings: LinearSettings, loop: Loop) -> Iterator[Row]:
    """Measure regret, excess risk and length of weights of linear learners.

    Regret rows, x = rounds T; weight_ratio <v, u> / ||u||^2 and excess_risk of the mean v of w_t.

    u is the best vector of the ball; the average is over the rounds after the share ``average_from``.
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
    best = shared.best_quadratic(task.A, task.b, settings.ball)
    runs: dict[str, shared.Runs] = {label: {} for label in settings.learners}
    measures: dict[str, dict[int, dict[str, float]]] = {label: {} for label in settings.learners}
    for horizon in settings.horizons:
        world = World(settings, task, repetition, horizon * task.rounds)
        for label, learner in settings.learners.items():
            eta, bound = world.step(learner, tuned[label][str(horizon)] if learner.step == "tuned" else 1.0)
            done = world.run(learner, eta, settings.average_from)
            runs[label][world.T] = float(((done.predictions - world.clean.y) ** 2).sum()) - world.least, bound
            excess = task.excess(done.average, best)
            found = {"weight_ratio": _along(done.average, best), "excess_risk": excess}
            if bound is not None:
                found["excess_bound_ratio"] = excess * world.T / bound
            limit = _predicted(learner, task, world.noise(learner), settings.ball)
            if limit is not None:
                found["weight_ratio_predicted"] = _along(limit, best)
                found["regret_per_round_predicted"] = task.excess(limit, best)
            measures[label][world.T] = found
    for label in settings.learners:
        here = repetition.with_columns(method=label)
        lasts = settings.exponent_horizons
        for T, found in measures[label].items():
            yield from here.rows(found, x=T)
        yield from shared.regret_rows(here, runs[label], lasts)
        excesses = {T: found["excess_risk"] for T, found in measures[label].items()}
        yield from shared.exponents(here, "excess_exponent", excesses, lasts)


def _along(w: Floats, best: Floats) -> float:
    """Compute the length of w along u, as a share of the length of u."""
    return float(w @ best / (best @ best))


def _predicted(learner: Learner, task: shared.LinearTask, noise: Noise, B_w: float) -> Floats | None:
    """Find the weights to which a biased learner tends; None for an unbiased one.

    Where a biased learner goes, argmin w'(A + S)w - 2b'w in the ball; None for one that is
    unbiased.

    S is the rest of the covariance: all of it over the number of copies, or 1 - c of it if c Sigma is given.
    """
    biased = learner.method == "naive_ogd" or (
        learner.method == "known_covariance" and learner.told is not None
    )
    if not biased or noise.variances.ndim > 1:
        return None
    left = 1 / learner.copies if learner.told is None else 1 - learner.told
    return shared.best_quadratic(task.A + left * np.diag(noise.variances), task.b, B_w)


class TunedSettings(LinearSettings):
    """Settings of `linear` for learners at the best multiple of the theorem's step.

    The naive learner is compared at its own best step too, so that no loss is owed to the step of another.
    """

    pilots: Count = Field(description="sequences on which steps are tuned, never evaluated")
    factors: shared.Factors


def tune_linear(settings: TunedSettings, loop: Loop) -> dict[str, dict[str, dict[str, float]]]:
    """Tune the step of each learner at every horizon by the mean regret over pilot sequences."""
    chosen: dict[str, dict[str, dict[str, float]]] = {}
    for name, task, seeds in settings.tasks(loop):
        tuned = {label: each for label, each in settings.learners.items() if each.step == "tuned"}
        chosen[name] = {label: {} for label in tuned}
        for horizon in settings.horizons:
            pilots = [Repetition(seeds, f"pilot {i}", {}) for i in range(settings.pilots)]
            worlds = [World(settings, task, pilot, horizon * task.rounds) for pilot in pilots]
            for label, learner in tuned.items():
                chosen[name][label][str(horizon)] = min(
                    settings.factors, key=lambda f: sum(world.loss(learner, f) for world in worlds)
                )
    return chosen


@protocol(TunedSettings, tune=tune_linear, labels=LINEAR_LABELS)
def linear_tuned(settings: TunedSettings, loop: Loop) -> Iterator[Row]:
    """Measure the rows of `linear` with tuned steps."""
    return iter(linear(settings, loop))


# Algorithm 3: kernels and their surrogates


class Rival:
    """A competitor of the learner, u = sum_j gamma_j Psi(c_j), with its mean clean loss.

    norm, surrogate_norm, alpha : gamma' K gamma, gamma' K~ gamma, and the angle between its two parts.
    angle_ball : B~ of Theorem 3, for all predictors of this norm and angle.
    """

    def __init__(self, centres: Floats, gamma: Floats, pair: SurrogatePair, loss: float) -> None:
        self.centres, self.gamma, self.pair, self.loss = centres, gamma, pair, loss
        K = pair.kernel(centres, centres)
        K_tilde = pair.surrogate(centres, centres)
        self.norm = float(gamma @ K @ gamma)
        self.surrogate_norm = float(gamma @ K_tilde @ gamma)
        self.alpha = theory.angle(gamma, K)
        self.angle_ball = theory.surrogate_ball(self.norm, self.alpha, pair.domination)


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
        if len({len(centre) for centre in self.centres}) > 1 or len(self.centres) != len(self.coefficients):
            raise ValueError("centres: all need one length, and coefficients one number for each")
        return self

    def base(self, kernel: Kernel) -> shared.Task:
        """Make the task from which the sequences come."""
        centres, gamma = self._arrays()
        d = centres.shape[1]
        plain = pair_of(kernel, d, 0.0)

        def draw(T: int, rng: np.random.Generator) -> shared.Clean:
            X = rng.uniform(-1, 1, (T, d))
            return shared.Clean(X, plain.kernel(X, centres) @ gamma)

        size = max(gamma[gamma > 0].sum(), -gamma[gamma < 0].sum())  # k <= 1
        return shared.Task(draw, d, float(size))

    def rivals(self, pair: SurrogatePair) -> dict[str, Rival]:
        """List the one rival, which made the labels."""
        return {"": Rival(*self._arrays(), pair, 0.0)}

    def _arrays(self) -> tuple[Floats, Floats]:
        return np.array(self.centres, dtype=float), np.array(self.coefficients, dtype=float)


class Diabetes(Model):
    """Settings of passes over the diabetes data, compared with the best functions of balls."""

    kind: Literal["diabetes"]
    components: shared.Components
    deviation: Positive = Field(description="standard deviation over all entries")
    balls: Distinct[shared.Ball]

    def _data(self) -> shared.Clean:
        return shared.real(*shared.diabetes(), self.components, self.deviation)

    def base(self, kernel: Kernel) -> shared.Task:
        """Make the task from which the sequences come."""
        return shared.base_set(self._data(), "package")

    def rivals(self, pair: SurrogatePair) -> dict[str, Rival]:
        """Find the best function of each ball."""
        (X, y), found = self._data(), {}
        K = pair.kernel(X, X)
        for B_w in self.balls:
            best = shared.best_kernel(K, y, B_w)
            found[f"B = {B_w:g}"] = Rival(X, best.coefficients, pair, best.loss / len(y))
        return found


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
        self.T, self.pair = T, pair
        self.clean: shared.Clean = task.draw(T, repetition.rng(f"clean {T}"))
        law = FeatureNoise(variances=np.full(task.d, settings.variance if variance is None else variance))
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
        first = self._copies.copy(1)
        if method.startswith("naive_kernel"):
            naive = NaiveKernelOGD(self.pair, eta, ball)
            return naive, naive.run(self.clean.X, first, self._y).predictions
        learner = SurrogateKernel(self.pair, eta, ball)
        second = self._copies.copy(1 if method == "same_copy" else 2)
        return learner, learner.run(self.clean.X, first, second, self._y).predictions


KERNEL_LABELS = (
    *shared.REGRET, "m = *", "B = *", "rival", "truth", "truncation", "sweep", "naive_kernel_tuned", "tuned",
    "cos_alpha", "norm", "surrogate_norm", "angle_ball", "constant", "surface", "sweep_*", "truncation_error",
    "bound_over_root_T",
)  # fmt: skip


@protocol(KernelSettings, labels=KERNEL_LABELS)
def kernel(settings: KernelSettings, loop: Loop) -> Iterator[Row]:
    """Measure the regret of kernel learners.

    Regret rows; setting = "m = ..", the multiple of the theorem's step, after "B = .." of a rival.

    The naive learner with its own best step has the setting "tuned". Repetition 0 also has the geometry of
    the rivals (method "rival") and the learned functions on a grid, if requested.
    """
    task = settings.task.base(settings.kernel)
    rivals = settings.task.rivals(pair_of(settings.kernel, task.d, settings.variance))
    dataset = "diabetes" if isinstance(settings.task, Diabetes) else "synthetic"
    for trial in loop:
        repetition = trial.with_columns(dataset=dataset, source=task.source)
        for name, rival in rivals.items():
            yield from _curves(settings, task, rival, name, repetition, loop.tuned)
        yield from _sweeps(settings, task, repetition)
        if repetition.number == 0:
            for name, rival in rivals.items():
                values = {
                    "cos_alpha": float(np.cos(rival.alpha)), "norm": rival.norm,
                    "surrogate_norm": rival.surrogate_norm, "angle_ball": rival.angle_ball,
                    "constant": rival.pair.diagonal,
                }  # fmt: skip
                yield from repetition.rows(values, method="rival", setting=name)
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
    ball = settings.ball(rival)
    runs: dict[tuple[str, str], shared.Runs] = {}
    jobs = [(method, f"m = {m:g}", m) for m in settings.factors for method in settings.learners]
    for horizon in settings.horizons:
        T = horizon * task.rounds
        sequence = Round(settings, task, rival.pair, repetition, T)
        best = [("naive_kernel_tuned", "tuned", tuned[str(horizon)])] if tuned else []
        for method, multiple, factor in jobs + best:
            eta, bound = sequence.step(ball, factor)
            regret = sequence.loss(method, eta, ball) - rival.loss * T
            run = regret, bound if method == "surrogate" else None
            runs.setdefault((method, f"{name} {multiple}".lstrip()), {})[T] = run
    for (method, setting), found in runs.items():
        here = repetition.with_columns(method=method, setting=setting)
        yield from shared.regret_rows(here, found, settings.exponent_horizons)


def _surface(
    settings: KernelSettings, surface: Surface, task: shared.Task, rival: Rival, repetition: Repetition
) -> Iterator[Row]:
    """Make rows of the learned functions; x is the number of a point, from the lower left."""
    side = np.linspace(-1, 1, surface.side)
    grid = np.column_stack([a.ravel() for a in np.meshgrid(side, side)])
    sequence = Round(settings, task, rival.pair, repetition, surface.horizon)
    ball = settings.ball(rival)
    eta, _ = sequence.step(ball, surface.factor)
    shown = {"truth": rival.pair.kernel(grid, rival.centres) @ rival.gamma}
    for method in ("surrogate", "naive_kernel"):
        shown[method] = sequence.learn(method, eta, ball)[0].predict(grid)
    for method, values in shown.items():
        yield from repetition.curve("surface", enumerate(values), method=method)


def _sweeps(settings: KernelSettings, task: shared.Task, repetition: Repetition) -> Iterator[Row]:
    """Make rows over variances: regret at one horizon, bound, constant of the surrogate.

    Over truncations, x = c: the largest error e^-c of the kernel, and sqrt(B~ G_5), the bound over sqrt T.
    """
    if sweep := settings.variances:
        for variance in sweep.values:
            pair = pair_of(settings.kernel, task.d, variance)
            ball = settings.ball(settings.task.rivals(pair)[""])
            place = Repetition(repetition.seeds, f"sweep {repetition.number}", {})
            sequence = Round(settings, task, pair, place, sweep.horizon, variance)
            eta, bound = sequence.step(ball, sweep.factor)
            here = repetition.with_columns(setting="sweep", x=variance)
            for method in ("surrogate", "naive_kernel"):
                yield here.row("sweep_regret", sequence.loss(method, eta, ball), method=method)
            values = {"sweep_bound": bound, "sweep_constant": pair.diagonal}
            yield from here.rows(values, method="surrogate")
    for c in settings.truncations or []:
        B_y = task.y_size**2 + settings.target**2
        pair = pair_of(settings.kernel.model_copy(update={"c": c}), task.d, settings.variance)
        ball = settings.task.rivals(pair)[""].angle_ball
        price = float(np.sqrt(ball * theory.surrogate_moment(ball, pair.diagonal, B_y)))
        values = {"truncation_error": float(np.exp(-c)), "bound_over_root_T": price}
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
    places = [Repetition(loop.seeds, f"pilot {i}", {}) for i in range(settings.pilots)]
    chosen: dict[str, float] = {}
    for T in settings.horizons:
        if settings.pilot_horizon < T:
            chosen[str(T)] = chosen[str(settings.pilot_horizon)]
            continue
        pilots = [Round(settings, task, pair, place, T) for place in places]
        chosen[str(T)] = min(
            settings.pilot_factors,
            key=lambda m: sum(pilot.loss("naive_kernel", pilot.step(ball, m)[0], ball) for pilot in pilots),
        )
    return chosen


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
    sd: NonNegative | list[NonNegative] = Field(description="standard deviations of the noise on the inputs")


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
    def of(cls, spec: AnalyticProblem, p: float, n: int, rng: np.random.Generator) -> "AnalyticTask":
        """Make the task of the settings with n instances."""
        base = analytic_base(spec.data, n, spec.scale, rng)
        sd = np.broadcast_to(np.asarray(spec.sd, dtype=float), base.X.shape[1:]).copy()
        kernel = shared.tensor_kernel(spec.kernel)
        loss = analytic_loss(spec.loss, spec.s)
        return cls(base, sd, kernel, loss, spec.ball, p)

    def passes(self, T: int) -> shared.Clean:
        """Make T rounds of passes over the base set."""
        X, y = self.base
        return shared.Clean(np.tile(X, (T // len(y), 1)), np.tile(y, T // len(y)))

    def log_nu(self, *, tight: bool) -> float:
        """Compute the log of the bound of E ||g~ Psi~||^2, tight or loose."""
        moment = feature_moment if tight else feature_moment_bound
        B_x = float((self.base.X**2).sum(axis=1).max() + (self.sd**2).sum())  # max_t E ||x~_t||^2
        B_y = float(np.abs(self.base.y).max())
        B_psi = moment(self.kernel, self.p, B_x)
        return theory.log_gradient_moment(self.loss, self.p, self.B_w, B_psi, B_y=B_y, tight=tight)

    def least(self) -> float:
        """Compute the loss of one pass of the best predictor of the ball on clean data."""
        highest = HIGHEST if self.kernel.degree is None else self.kernel.degree
        features = self.kernel.features(self.base.X, highest)
        y = self.base.y

        def measure_loss(predicted: Floats) -> Floats:
            return self.loss.loss(predicted, y)

        def measure_slope(predicted: Floats) -> Floats:
            return self.loss.derivative(predicted, y)

        return shared.best_smooth(measure_loss, measure_slope, features, self.B_w).loss

    def regret(self, predictions: Floats, least: float) -> float:
        """Compute the loss of T predictions less that of the best predictor."""
        passes = len(predictions) // len(self.base.y)
        return float(self.loss.loss(predictions, np.tile(self.base.y, passes)).sum()) - least * passes

    def step(self, T: int, factor: float) -> tuple[float, float]:
        """Compute the step with the tight moment times a factor, and the bound."""
        log_nu = self.log_nu(tight=True)
        eta = factor * theory.best_step_of_log(self.B_w, log_nu, T)
        bound = (factor + 1 / factor) / 2 * np.exp((np.log(self.B_w) + log_nu + np.log(T)) / 2)
        return eta, float(bound)

    def learn(self, repetition: Repetition, name: str, eta: float, T: int) -> AnalyticRun:
        """Run Algorithm 4 for T rounds; noise and coin are the same for every step size."""
        rng = repetition.rng(f"{name} copies {T}")
        coin = repetition.rng(f"{name} coin {T}")

        def copies(rounds: Ints) -> Floats:
            noise = rng.standard_normal((len(rounds), len(self.sd)))
            return np.asarray(self.base.X[rounds % len(self.base.y)] + self.sd * noise)

        X, y = self.passes(T)
        return AnalyticKernel(self.kernel, self.loss, eta, coin, self.p, self.B_w).run(X, copies, y)

    def plug_in(self, repetition: Repetition, name: str, eta: float, T: int) -> Floats:
        """Predict T rounds with the naive learner."""
        X, y = self.passes(T)
        noisy = X + self.sd * repetition.rng(f"{name} one copy {T}").standard_normal(X.shape)
        return NaiveFeatureOGD(self.kernel, self.loss, eta, self.B_w, HIGHEST).run(X, noisy, y)


def analytic_base(data: str, n: int, scale: float, rng: np.random.Generator) -> shared.Clean:
    """Make n clean examples of a shape such as line, classes, product, xor, hills or sides.

    line : y = scale (<(0.7, -0.5), x> + U[-0.1, 0.1]).   classes : y = sign <(0.8, -0.6), x>, 5 % flipped.
    product : y = 1.2 x_1 x_2 + 0.3 x_1 + U[-0.1, 0.1].    xor : y = sign x_1 x_2, 5 % flipped.
    hills : y = scale f(x) + U[-0.05, 0.05], f = exp(-(x - .6)^2 / 4) - exp(-(x + .6)^2 / 4).
    sides : y = sign f(x), 5 % flipped.
    """
    uniform = rng.uniform(-1, 1, n)
    flips = np.where(rng.random(n) < 0.05, -1.0, 1.0)
    if data in ("hills", "sides"):
        x = rng.uniform(-1, 1, n)
        f = np.exp(-((x - 0.6) ** 2) / 4) - np.exp(-((x + 0.6) ** 2) / 4)
        return shared.Clean(x[:, None], np.sign(f) * flips if data == "sides" else scale * f + 0.05 * uniform)
    radius = np.sqrt(rng.random(n))
    angle = rng.uniform(0, 2 * np.pi, n)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    targets = {
        "line": scale * (X @ np.array([0.7, -0.5]) + 0.1 * uniform),
        "classes": np.sign(X @ np.array([0.8, -0.6])) * flips,
        "product": 1.2 * X[:, 0] * X[:, 1] + 0.3 * X[:, 0] + 0.1 * uniform,
        "xor": np.sign(X[:, 0] * X[:, 1]) * flips,
    }
    return shared.Clean(X, targets[data])


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
    labels=(*shared.REGRET, "m = *", "analytic", "plug_in", "queries_*", "loose_ratio", "log10_*"),
)
def analytic(settings: AnalyticSettings, loop: Loop) -> Iterator[Row]:
    """Measure the regret of Algorithm 4 on all tasks.

    Regret rows; noise = task, setting = "m = ..", the multiple of the step of the tight moment, x =
    T.

    loose_ratio : regret over the bound with the moment of the theorem, for m = 1.
    log10_nu, log10_nu_loose : of the moments.
    """
    for name, spec in settings.tasks.items():
        task = AnalyticTask.of(spec, spec.p, settings.instances, loop.seeds.generator("base", name))
        least = task.least()
        n = len(task.base.y)
        lengths = [n * passes for passes in settings.horizons if passes <= settings.most[name]]
        log_nu, log_nu_loose = (task.log_nu(tight=tight) for tight in (True, False))
        for trial in loop:
            repetition = trial.with_columns(noise=name)
            for factor in settings.factors:
                runs: dict[str, shared.Runs] = {"analytic": {}, "plug_in": {}}
                here = repetition.with_columns(setting=f"m = {factor:g}")
                for T in lengths:
                    eta, bound = task.step(T, factor)
                    done = task.learn(repetition, name, eta, T)
                    runs["analytic"][T] = task.regret(done.predictions, least), bound
                    runs["plug_in"][T] = task.regret(task.plug_in(repetition, name, eta, T), least), None
                    values = {"queries_per_round": float(done.queries.mean())}
                    if factor == 1:
                        loose = float(np.exp((np.log(task.B_w) + log_nu_loose + np.log(T)) / 2))
                        values["loose_ratio"] = runs["analytic"][T][0] / loose
                    yield from here.rows(values, method="analytic", x=T)
                for method, found in runs.items():
                    yield from shared.regret_rows(
                        here.with_columns(method=method), found, settings.exponent_horizons
                    )
            if repetition.number == 0:
                logs = {"log10_nu": log_nu / np.log(10), "log10_nu_loose": log_nu_loose / np.log(10)}
                yield from repetition.rows(logs, method="analytic")


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
        task = AnalyticTask.of(settings.task, p, n, loop.seeds.generator("base", "p"))
        least = task.least()
        expected = mean_queries(p, gaussian=task.kernel.sigma2 is not None)
        lengths = {"equal rounds": settings.rounds, "equal queries": settings.queries / expected}
        for setting, length in lengths.items():
            T = n * max(1, round(length / n))
            eta, bound = task.step(T, 1.0)
            for repetition in loop:
                done = task.learn(repetition, f"p = {p:g}", eta, T)
                regret = task.regret(done.predictions, least)
                queries = float(done.queries.mean())
                log_nu = task.log_nu(tight=True) / np.log(10)
                log_loose = np.log(task.B_w) + task.log_nu(tight=False)
                values = {"regret": regret, "regret_per_round": regret / T, "bound_ratio": regret / bound}
                values |= {
                    "queries_per_round": queries,
                    "query_ratio": queries / expected,
                    "log10_nu": log_nu,
                    "theorem_bound_per_round": float(np.exp((log_loose - np.log(T)) / 2)),
                }
                yield from repetition.rows(values, method="analytic", setting=setting, x=p)
