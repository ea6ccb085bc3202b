"""Kernel learners on noisy instances: Algorithm 3 for the squared loss, Algorithm 4 for analytic losses.

Every horizon is a run of its own; all learners of a repetition share the clean sequence, copies and targets.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from noisylabels.kernels import tensor
from noisylabels.kernels.surrogate import SurrogatePair, gaussian_pair, rational_pair
from noisylabels.kernels.tensor import TensorKernel
from noisylabels.losses.analytic import AnalyticLoss, analytic_loss
from noisylabels.noise.features import FeatureNoise
from noisylabels.online.analytic import AnalyticKernel, AnalyticRun, NaiveFeatureOGD
from noisylabels.online.estimators import AnalyticKernelList
from noisylabels.online.kernel import NaiveKernelOGD, SurrogateKernel
from noisylabels.online.oracles import SimulatedOracle
from noisylabels.seeding import Seeds
from noisylabels.theory import regret_bounds
from noisylabels.theory.estimates import feature_moment, feature_moment_bound, mean_queries
from noisylabels.validation import Floats
from reproduction.protocols.noisy_online_tasks import (
    REGRET,
    Ball,
    Clean,
    Components,
    ExponentHorizons,
    Factors,
    Horizons,
    TargetNoise,
    base_set,
    best_kernel,
    best_smooth,
    diabetes,
    real,
    regret_rows,
)
from reproduction.protocols.settings import (
    Count,
    Distinct,
    Label,
    Model,
    NonNegative,
    Positive,
    Some,
    Trials,
    among,
)
from reproduction.protocols.walk import At, Row, Walk, protocol

FAMILY = "noisy_online"
"""The module that offers the protocols of this one."""

HIGHEST = 40
"""Degree at which explicit features of a Gaussian kernel are cut off, for |x| <= 1."""


# Algorithm 3


@dataclass(frozen=True)
class Rival:
    """u = sum_j gamma_j Psi(c_j), which the regret is against.

    norm, surrogate_norm, alpha : gamma' K gamma, gamma' K~ gamma, and the angle between its two parts.
    loss : its mean clean loss of a round.
    """

    centres: Floats
    gamma: Floats
    norm: float
    surrogate_norm: float
    alpha: float
    loss: float

    @classmethod
    def of(cls, centres: Floats, gamma: Floats, pair: SurrogatePair, loss: float) -> "Rival":
        """Norms and angle from the Gram matrices of the centres."""
        K, K_tilde = pair.kernel(centres, centres), pair.surrogate(centres, centres)
        alpha = regret_bounds.angle(gamma, K)
        return cls(centres, gamma, float(gamma @ K @ gamma), float(gamma @ K_tilde @ gamma), alpha, loss)

    def angle_ball(self, pair: SurrogatePair) -> float:
        """B~ of Theorem 3, for all predictors of this norm and angle."""
        return regret_bounds.surrogate_ball(self.norm, self.alpha, pair.domination)


@dataclass(frozen=True)
class KernelTask:
    """Clean sequences of d inputs and the rivals to compare with; ``rounds`` of one unit of the horizon."""

    name: str
    source: str
    d: int
    rounds: int
    y_size: float
    draw: Callable[[int, np.random.Generator], Clean]
    rivals: Callable[[SurrogatePair], dict[str, Rival]]


class GaussianKernel(Model):
    """exp(-||x - x'||^2 / sigma2)."""

    kind: Literal["gaussian"]
    sigma2: Positive = Field(description="the whole denominator")

    def pair(self, d: int, variance: float) -> SurrogatePair:
        """Kernel and surrogate for noise of that variance on each of d inputs."""
        return gaussian_pair(self.sigma2, np.full(d, variance))


class RationalKernel(Model):
    """1 / (1 + r^2/d), truncated."""

    kind: Literal["rational"]
    c: Positive
    nodes: Count = Field(description="Gauss-Legendre nodes")

    def pair(self, d: int, variance: float) -> SurrogatePair:
        """Kernel and surrogate for noise of that variance on each of d inputs."""
        return rational_pair(self.c, np.full(d, variance), nodes=self.nodes)


Kernel = Annotated[GaussianKernel | RationalKernel, Field(discriminator="kind")]


class Expansion(Model):
    """x uniform on [-1, 1]^d, y = f*(x) for a given expansion f*: it is the best, with loss 0."""

    kind: Literal["expansion"]
    centres: Some[Some[float]]
    coefficients: Some[float]

    @model_validator(mode="after")
    def _lengths(self) -> Self:
        if len({len(centre) for centre in self.centres}) > 1 or len(self.centres) != len(self.coefficients):
            raise ValueError("centres: all need one length, and coefficients one number for each")
        return self

    def task(self, kernel: Kernel) -> KernelTask:
        """Its sequences; the rival is f*."""
        centres, gamma = np.array(self.centres, dtype=float), np.array(self.coefficients, dtype=float)
        d = centres.shape[1]
        plain = kernel.pair(d, 0.0)

        def draw(T: int, rng: np.random.Generator) -> Clean:
            X = rng.uniform(-1, 1, (T, d))
            return Clean(X, plain.kernel(X, centres) @ gamma)

        def rivals(pair: SurrogatePair) -> dict[str, Rival]:
            return {"": Rival.of(centres, gamma, pair, 0.0)}

        size = max(gamma[gamma > 0].sum(), -gamma[gamma < 0].sum())  # k <= 1
        return KernelTask("synthetic", "synthetic", d, 1, float(size), draw, rivals)


class Diabetes(Model):
    """Passes over the diabetes data; rivals are the best functions of balls of given squared norms."""

    kind: Literal["diabetes"]
    components: Components
    deviation: Positive = Field(description="standard deviation over all entries")
    balls: Distinct[Ball]

    def task(self, kernel: Kernel) -> KernelTask:
        """Its sequences, and a rival for each ball."""
        base = real(*diabetes(), self.components, self.deviation)
        passes = base_set(base, "package")

        def rivals(pair: SurrogatePair) -> dict[str, Rival]:
            K, found = pair.kernel(base.X, base.X), {}
            for B_w in self.balls:
                best = best_kernel(K, base.y, B_w)
                found[f"B = {B_w:g}"] = Rival.of(base.X, best.coefficients, pair, best.loss / len(base.y))
            return found

        size = float(np.abs(base.y).max())
        return KernelTask("diabetes", "package", self.components, len(base.y), size, passes.draw, rivals)


class Sweep(Model):
    """Algorithm 3 against the variance of the noise on each input."""

    values: Some[NonNegative]
    horizon: Count
    factor: Positive


class Surface(Model):
    """Functions after one run on a square grid."""

    side: int = Field(ge=2, description="points along each axis")
    horizon: Count
    factor: Positive


class KernelSettings(Trials):
    """Algorithm 3, its ablation, and the naive learner."""

    task: Annotated[Expansion | Diabetes, Field(discriminator="kind")]
    kernel: Kernel
    variance: NonNegative = Field(description="of the Gaussian noise on each input")
    target: TargetNoise
    radius: Literal["angle", "rival"] = Field(
        description="B~ of Theorem 3, or the surrogate norm of the rival itself, which is sharper"
    )
    factors: Factors
    learners: Distinct[Literal["surrogate", "same_copy", "naive_kernel"]]
    horizons: Horizons
    exponent_horizons: ExponentHorizons
    variances: Sweep | None = None
    truncations: Some[Positive] | None = Field(None, description="c of a radial kernel")
    surface: Surface | None = None

    def ball(self, rival: Rival, pair: SurrogatePair) -> float:
        """B~."""
        return rival.angle_ball(pair) if self.radius == "angle" else rival.surrogate_norm


class Round:
    """A clean sequence of T rounds, its two copies and its targets, and the learners on it."""

    def __init__(
        self, settings: KernelSettings, task: KernelTask, pair: SurrogatePair, variance: float,
        seeds: Seeds, repetition: int | str, T: int,
    ) -> None:  # fmt: skip
        self.T, self.pair = T, pair
        self.clean: Clean = task.draw(T, seeds.generator(repetition, f"clean {T}"))
        scale = float(np.sqrt(variance))
        self._copies = [
            self.clean.X + scale * seeds.generator(repetition, f"{T} copy {i}").standard_normal((T, task.d))
            for i in (1, 2)
        ]
        errors = seeds.generator(repetition, f"{T} targets").standard_normal(T)
        self._y = self.clean.y + settings.target * errors
        self._B_y = task.y_size**2 + settings.target**2

    def step(self, ball: float, factor: float) -> tuple[float, float]:
        """(eta, bound) of Theorems 3 and 5, the step times a factor."""
        G = regret_bounds.surrogate_moment(ball, self.pair.diagonal, self._B_y)
        eta = factor * regret_bounds.best_step(ball, G, self.T)
        return eta, regret_bounds.regret(ball, G, self.T, eta)

    def loss(self, method: str, eta: float, ball: float) -> float:
        """Total clean loss of a learner, predictions made before each update."""
        _, predictions = self.learn(method, eta, ball)
        return float(((predictions - self.clean.y) ** 2).sum())

    def learn(self, method: str, eta: float, ball: float) -> tuple[SurrogateKernel, Floats]:
        """The learner after the run and its predictions on the clean instances."""
        first, second = self._copies
        if method.startswith("naive_kernel"):
            naive = NaiveKernelOGD(self.pair, eta, ball)
            return naive, naive.run(self.clean.X, first, self._y).predictions
        learner = SurrogateKernel(self.pair, eta, ball)
        second = first if method == "same_copy" else second
        return learner, learner.run(self.clean.X, first, second, self._y).predictions


LABELS = (
    *(*REGRET, "m = *", "B = *", "rival", "truth", "truncation", "sweep", "naive_kernel_tuned", "tuned"),
    *("cos_alpha", "norm", "surrogate_norm", "angle_ball", "constant", "surface", "sweep_*"),
    *("truncation_error", "bound_over_root_T"),
)


@protocol(KernelSettings, labels=LABELS)
def kernel(settings: KernelSettings, walk: Walk) -> Iterator[Row]:
    """Regret rows; setting = "m = ..", the multiple of the theorem's step, after "B = .." of a rival.

    The naive learner with its own best step has the setting "tuned". Repetition 0 also has the geometry of
    the rivals (method "rival") and the learned functions on a grid, if asked for.
    """
    task = settings.task.task(settings.kernel)
    pair = settings.kernel.pair(task.d, settings.variance)
    rivals = task.rivals(pair)
    for trial in walk.trials():
        at = trial.on(dataset=task.name, source=task.source)
        for name, rival in rivals.items():
            yield from _curves(settings, task, pair, name, rival, at, walk.tuned)
        yield from _sweeps(settings, task, at)
        if at.repetition == 0:
            for name, rival in rivals.items():
                values = {
                    "cos_alpha": float(np.cos(rival.alpha)), "norm": rival.norm,
                    "surrogate_norm": rival.surrogate_norm, "angle_ball": rival.angle_ball(pair),
                    "constant": pair.diagonal,
                }  # fmt: skip
                yield from at.rows(values, method="rival", setting=name)
            if settings.surface is not None:
                yield from _surface(settings, settings.surface, task, pair, rivals[""], at)


def _curves(
    settings: KernelSettings, task: KernelTask, pair: SurrogatePair, name: str, rival: Rival, at: At,
    tuned: Mapping[str, float],
) -> Iterator[Row]:  # fmt: skip
    ball = settings.ball(rival, pair)
    regrets: dict[tuple[str, str], dict[int, float]] = {}
    bounds: dict[tuple[str, str], dict[int, float]] = {}
    for horizon in settings.horizons:
        T = horizon * task.rounds
        sequence = Round(settings, task, pair, settings.variance, at.seeds, at.repetition, T)
        jobs: list[tuple[str, float]] = [
            (m, factor) for factor in settings.factors for m in settings.learners
        ]
        for method, factor in jobs + ([("naive_kernel_tuned", tuned[str(horizon)])] if tuned else []):
            eta, bound = sequence.step(ball, factor)
            multiple = "tuned" if method == "naive_kernel_tuned" else f"m = {factor:g}"
            key = method, " ".join(filter(None, [name, multiple]))
            regrets.setdefault(key, {})[T] = sequence.loss(method, eta, ball) - rival.loss * T
            bounds.setdefault(key, {})[T] = bound
    for (method, setting), found in regrets.items():
        limits = bounds[method, setting] if method == "surrogate" else None
        yield from regret_rows(
            at.on(method=method, setting=setting), found, settings.exponent_horizons, limits
        )


def _surface(
    settings: KernelSettings, surface: Surface, task: KernelTask, pair: SurrogatePair, rival: Rival, at: At
) -> Iterator[Row]:
    """x = number of the point, line by line from the lower left."""
    side = np.linspace(-1, 1, surface.side)
    grid = np.column_stack([a.ravel() for a in np.meshgrid(side, side)])
    sequence = Round(settings, task, pair, settings.variance, at.seeds, at.repetition, surface.horizon)
    ball = settings.ball(rival, pair)
    eta, _ = sequence.step(ball, surface.factor)
    shown = {"truth": pair.kernel(grid, rival.centres) @ rival.gamma}
    for method in ("surrogate", "naive_kernel"):
        shown[method] = sequence.learn(method, eta, ball)[0].predict(grid)
    for method, values in shown.items():
        yield from at.curve("surface", enumerate(values), method=method)


def _sweeps(settings: KernelSettings, task: KernelTask, at: At) -> Iterator[Row]:
    """Over variances: regret at one horizon, bound, constant C of the surrogate.

    Over truncations, x = c: the largest error e^-c of the kernel, and sqrt(B~ G_5), the bound over sqrt T.
    """
    if sweep := settings.variances:
        for variance in sweep.values:
            pair = settings.kernel.pair(task.d, variance)
            ball = settings.ball(task.rivals(pair)[""], pair)
            name = f"sweep {at.repetition}"
            sequence = Round(settings, task, pair, variance, at.seeds, name, sweep.horizon)
            eta, bound = sequence.step(ball, sweep.factor)
            here = at.on(setting="sweep", x=variance)
            for method in ("surrogate", "naive_kernel"):
                yield here.row("sweep_regret", sequence.loss(method, eta, ball), method=method)
            values = {"sweep_bound": bound, "sweep_constant": pair.diagonal}
            yield from here.rows(values, method="surrogate")
    for c in settings.truncations or []:
        B_y = task.y_size**2 + settings.target**2
        pair = settings.kernel.model_copy(update={"c": c}).pair(task.d, settings.variance)
        ball = task.rivals(pair)[""].angle_ball(pair)
        price = float(np.sqrt(ball * regret_bounds.surrogate_moment(ball, pair.diagonal, B_y)))
        values = {"truncation_error": float(np.exp(-c)), "bound_over_root_T": price}
        yield from at.rows(values, method="rival", setting="truncation", x=c)


class TunedKernelSettings(KernelSettings):
    """The same, and the naive learner with the best multiple of the theorem's step."""

    pilots: Count = Field(description="sequences on which steps are tuned, never evaluated")
    pilot_horizon: Count = Field(description="longest pilot; one of the horizons")
    pilot_factors: Factors


def tune_kernel(settings: TunedKernelSettings, walk: Walk) -> dict[str, float]:
    """``{T: factor}`` of the least loss on pilot sequences; above ``pilot_horizon`` the one found there."""
    task = settings.task.task(settings.kernel)
    pair = settings.kernel.pair(task.d, settings.variance)
    ball = settings.ball(task.rivals(pair)[""], pair)
    chosen: dict[str, float] = {}
    for T in settings.horizons:
        if settings.pilot_horizon < T:
            chosen[str(T)] = chosen[str(settings.pilot_horizon)]
            continue
        names = [f"pilot {i}" for i in range(settings.pilots)]
        pilots = [Round(settings, task, pair, settings.variance, walk.seeds, name, T) for name in names]
        losses = [
            sum(pilot.loss("naive_kernel", pilot.step(ball, factor)[0], ball) for pilot in pilots)
            for factor in settings.pilot_factors
        ]
        chosen[str(T)] = settings.pilot_factors[int(np.argmin(losses))]
    return chosen


@protocol(TunedKernelSettings, tune=tune_kernel, labels=LABELS)
def kernel_tuned(settings: TunedKernelSettings, walk: Walk) -> Iterator[Row]:
    """Rows of `kernel`."""
    return iter(kernel(settings, walk))


# Algorithm 4


class PolynomialTensor(Model):
    """scale (1 + <x, x'>)^degree."""

    polynomial: int = Field(ge=1, description="degree")
    scale: Positive


class GaussianTensor(Model):
    """exp(-||x - x'||^2 / sigma^2)."""

    gaussian: Positive = Field(description="sigma^2, the whole denominator")


Tensor = Literal["linear"] | PolynomialTensor | GaussianTensor


def tensor_kernel(spec: Tensor) -> TensorKernel:
    """The kernel of the settings."""
    if isinstance(spec, GaussianTensor):
        return tensor.gaussian(spec.gaussian)
    return tensor.linear() if spec == "linear" else tensor.polynomial(spec.polynomial, scale=spec.scale)


class AnalyticProblem(Model):
    """A small base set with kernel, loss and Gaussian noise."""

    kernel: Tensor
    loss: Literal["squared", "exponential", "smoothed_absolute", "smoothed_hinge"]
    s: Positive | None = Field(None, description="of a smoothed loss")
    data: Literal["line", "classes", "product", "xor", "hills", "sides"]
    scale: Positive = Field(1.0, description="of the targets")
    ball: Ball
    sd: NonNegative | list[NonNegative] = Field(description="standard deviations of the noise on the inputs")


class WithP(AnalyticProblem):
    """The same with the parameter p of the algorithm."""

    p: float = Field(gt=1)


@dataclass(frozen=True)
class AnalyticTask:
    """A base set, passed over in order; Gaussian noise of standard deviations sd (d,); kernel and loss."""

    base: Clean
    sd: Floats
    kernel: TensorKernel
    loss: AnalyticLoss
    B_w: float
    p: float

    @classmethod
    def of(cls, spec: AnalyticProblem, p: float, n: int, rng: np.random.Generator) -> "AnalyticTask":
        """The task of the settings with n instances."""
        base = analytic_base(spec.data, n, spec.scale, rng)
        sd = np.broadcast_to(np.asarray(spec.sd, dtype=float), base.X.shape[1:]).copy()
        return cls(base, sd, tensor_kernel(spec.kernel), analytic_loss(spec.loss, spec.s), spec.ball, p)

    def passes(self, T: int) -> Clean:
        """T rounds of passes over the base set."""
        X, y = self.base
        return Clean(np.tile(X, (T // len(y), 1)), np.tile(y, T // len(y)))

    def log_nu(self, *, tight: bool) -> float:
        """log of the bound of E ||g~ Psi~||^2; the tight one has the exact moments of feature and series."""
        moment = feature_moment if tight else feature_moment_bound
        B_x = float((self.base.X**2).sum(axis=1).max() + (self.sd**2).sum())  # max_t E ||x~_t||^2
        B_y, B_psi = float(np.abs(self.base.y).max()), moment(self.kernel, self.p, B_x)
        return regret_bounds.log_gradient_moment(self.loss, self.p, self.B_w, B_psi, B_y=B_y, tight=tight)

    def least(self) -> float:
        """Loss of one pass of the best predictor of the ball, on clean data."""
        highest = HIGHEST if self.kernel.degree is None else self.kernel.degree
        features, y = self.kernel.features(self.base.X, highest), self.base.y
        return best_smooth(
            lambda a: self.loss.loss(a, y), lambda a: self.loss.derivative(a, y), features, self.B_w
        ).loss

    def step(self, T: int, factor: float) -> tuple[float, float]:
        """(eta, bound) with the tight moment, the step times a factor."""
        log_nu = self.log_nu(tight=True)
        eta = factor * regret_bounds.best_step_of_log(self.B_w, log_nu, T)
        bound = (factor + 1 / factor) / 2 * np.exp((np.log(self.B_w) + log_nu + np.log(T)) / 2)
        return eta, float(bound)

    def learn(self, at: At, name: str, eta: float, T: int) -> AnalyticRun:
        """Algorithm 4 for T rounds; noise and coin are the same for every step."""
        rng, coin = at.rng(f"{name} copies {T}"), at.rng(f"{name} coin {T}")

        def copies(rounds: NDArray[np.int64]) -> Floats:
            noise = rng.standard_normal((len(rounds), len(self.sd)))
            return np.asarray(self.base.X[rounds % len(self.base.y)] + self.sd * noise)

        X, y = self.passes(T)
        return AnalyticKernel(self.kernel, self.loss, eta, coin, self.p, self.B_w).run(X, copies, y)

    def plug_in(self, at: At, name: str, eta: float, T: int) -> Floats:
        """Predictions of the naive learner for T rounds."""
        X, y = self.passes(T)
        noisy = X + self.sd * at.rng(f"{name} one copy {T}").standard_normal(X.shape)
        return NaiveFeatureOGD(self.kernel, self.loss, eta, self.B_w, HIGHEST).run(X, noisy, y)


def analytic_base(data: str, n: int, scale: float, rng: np.random.Generator) -> Clean:
    """n clean examples; line, classes, product, xor: x uniform in the unit disc; hills, sides: x in [-1, 1].

    line : y = scale (<(0.7, -0.5), x> + U[-0.1, 0.1]).   classes : y = sign <(0.8, -0.6), x>, 5 % flipped.
    product : y = 1.2 x_1 x_2 + 0.3 x_1 + U[-0.1, 0.1].    xor : y = sign x_1 x_2, 5 % flipped.
    hills : y = scale f(x) + U[-0.05, 0.05], f = exp(-(x - .6)^2 / 4) - exp(-(x + .6)^2 / 4).
    sides : y = sign f(x), 5 % flipped.
    """
    uniform, flips = rng.uniform(-1, 1, n), np.where(rng.random(n) < 0.05, -1.0, 1.0)
    if data in ("hills", "sides"):
        x = rng.uniform(-1, 1, n)
        f = np.exp(-((x - 0.6) ** 2) / 4) - np.exp(-((x + 0.6) ** 2) / 4)
        return Clean(x[:, None], np.sign(f) * flips if data == "sides" else scale * f + 0.05 * uniform)
    radius, angle = np.sqrt(rng.random(n)), rng.uniform(0, 2 * np.pi, n)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    targets = {
        "line": scale * (X @ np.array([0.7, -0.5]) + 0.1 * uniform),
        "classes": np.sign(X @ np.array([0.8, -0.6])) * flips,
        "product": 1.2 * X[:, 0] * X[:, 1] + 0.3 * X[:, 0] + 0.1 * uniform,
        "xor": np.sign(X[:, 0] * X[:, 1]) * flips,
    }
    return Clean(X, targets[data])


class AnalyticSettings(Trials):
    """Algorithm 4 for kernels and analytic losses, beside tight and loose bounds."""

    instances: Count = Field(description="of each base set")
    tasks: dict[Label, WithP] = Field(min_length=1)
    horizons: Horizons
    most: dict[str, Count] = Field(description="task -> largest number of passes")
    factors: Factors
    exponent_horizons: ExponentHorizons
    list_rounds: Count = Field(description="rounds on which fast path and list are compared")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        among("tasks", self.tasks, self.most)
        return self

    def check_data(self, listed: object) -> None:
        """See `Settings.check_data`; a job's part of the tasks has the whole of ``most``."""
        among("most", self.most, self.tasks)


@protocol(
    AnalyticSettings,
    labels=(*REGRET, "m = *", "analytic", "plug_in", "queries_per_round", "loose_ratio", "log10_*", "fast_*"),
)
def analytic(settings: AnalyticSettings, walk: Walk) -> Iterator[Row]:
    """Regret rows; noise = task, setting = "m = ..", the multiple of the step of the tight moment, x = T.

    loose_ratio : regret over the bound with the moment of the theorem, for m = 1.
    log10_nu, log10_nu_loose : of the moments.
    fast_path_difference : from the list of the paper, in repetition 0.
    """
    for name, spec in settings.tasks.items():
        task = AnalyticTask.of(spec, spec.p, settings.instances, walk.seeds.generator("base", name))
        least = task.least()
        for trial in walk.trials():
            at = trial.on(noise=name)
            yield from _analytic_curves(settings, task, least, name, at)
            if at.repetition == 0:
                lists = [
                    _one_by_one(learner, task, walk.seeds, name, settings.list_rounds)
                    for learner in (AnalyticKernel, AnalyticKernelList)
                ]
                values = {
                    "log10_nu": task.log_nu(tight=True) / np.log(10),
                    "log10_nu_loose": task.log_nu(tight=False) / np.log(10),
                    "fast_path_difference": float(np.abs(lists[0] - lists[1]).max()),
                }
                yield from at.rows(values, method="analytic")


def _analytic_curves(
    settings: AnalyticSettings, task: AnalyticTask, least: float, name: str, at: At
) -> Iterator[Row]:
    n = len(task.base.y)
    horizons = [n * passes for passes in settings.horizons if passes <= settings.most[name]]
    for factor in settings.factors:
        regrets: dict[str, dict[int, float]] = {"analytic": {}, "plug_in": {}}
        bounds: dict[int, float] = {}
        here = at.on(setting=f"m = {factor:g}")
        for T in horizons:
            eta, bounds[T] = task.step(T, factor)
            done = task.learn(at, name, eta, T)
            y = np.tile(task.base.y, T // n)
            for method, found in (
                ("analytic", done.predictions),
                ("plug_in", task.plug_in(at, name, eta, T)),
            ):
                regrets[method][T] = float(task.loss.loss(found, y).sum()) - least * (T // n)
            yield here.row("queries_per_round", done.queries.mean(), method="analytic", x=T)
            if factor == 1:
                loose = np.exp((np.log(task.B_w) + task.log_nu(tight=False) + np.log(T)) / 2)
                ratio = regrets["analytic"][T] / float(loose)
                yield here.row("loose_ratio", ratio, method="analytic", x=T)
        lasts = settings.exponent_horizons
        yield from regret_rows(here.on(method="analytic"), regrets["analytic"], lasts, bounds)
        yield from regret_rows(here.on(method="plug_in"), regrets["plug_in"], lasts)


def _one_by_one(learner: Any, task: AnalyticTask, seeds: Seeds, name: str, T: int) -> Floats:
    """Predictions of a learner that is fed round by round, on the same copies and coin."""
    X, y = (values[:T] for values in task.base)
    coin, rng = (seeds.generator("list", f"{name} {stream}") for stream in ("coin", "copies"))
    oracle = SimulatedOracle(X, y, FeatureNoise(variances=task.sd**2), rng)
    eta, _ = task.step(T, 8.0)
    f, predictions = learner(task.kernel, task.loss, eta, coin, task.p, task.B_w), np.empty(len(y))
    for t, view in enumerate(oracle):
        predictions[t] = f.predict(X[t])
        f.partial_fit(view)
    return predictions


class ParameterSettings(Trials):
    """Algorithm 4 and its parameter p: few copies with wild estimates, or many copies with tame ones."""

    instances: Count = Field(description="of the base set")
    powers: Distinct[Annotated[float, Field(gt=1)]] = Field(description="p")
    rounds: Count = Field(description="T at equal rounds")
    queries: Count = Field(description="copies in total at equal queries")
    task: AnalyticProblem


@protocol(
    ParameterSettings,
    labels=(
        *REGRET,
        "analytic",
        "equal rounds",
        "equal queries",
        "queries_per_round",
        "query_ratio",
        "log10_nu",
    ),
)
def parameter_p(settings: ParameterSettings, walk: Walk) -> Iterator[Row]:
    """Rows; setting = "equal rounds" or "equal queries", x = p, with the step of the tight moment.

    query_ratio : measured copies per round over their expectation. log10_nu : of the tight moment.
    """
    n = settings.instances
    for p in settings.powers:
        task = AnalyticTask.of(settings.task, p, n, walk.seeds.generator("base", "p"))
        least, expected = task.least(), mean_queries(p, gaussian=task.kernel.sigma2 is not None)
        lengths = {"equal rounds": settings.rounds, "equal queries": settings.queries / expected}
        for setting, length in lengths.items():
            T = n * max(1, round(length / n))
            y = np.tile(task.base.y, T // n)
            eta, bound = task.step(T, 1.0)
            for at in walk.trials():
                done = task.learn(at, f"p = {p:g}", eta, T)
                regret = float(task.loss.loss(done.predictions, y).sum()) - least * (T // n)
                values = {
                    "regret": regret,
                    "regret_per_round": regret / T,
                    "bound_ratio": regret / bound,
                    "queries_per_round": float(done.queries.mean()),
                    "query_ratio": float(done.queries.mean()) / expected,
                    "log10_nu": task.log_nu(tight=True) / np.log(10),
                }
                yield from at.rows(values, method="analytic", setting=setting, x=p)
