"""The theorems of noisy_online, checked: identities, laws, lemmas, and what no learner of one copy can do."""

from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator
from scipy.special import gammaln

from noisylabels.kernels import tensor
from noisylabels.kernels.surrogate import (
    SurrogatePair,
    gaussian_pair,
    rational,
    rational_pair,
    truncated_rational,
)
from noisylabels.losses.analytic import (
    AnalyticLoss,
    analytic_loss,
    smoothed_absolute,
    smoothed_hinge,
    smoothing_gap,
    squared,
)
from noisylabels.noise.features import FeatureNoise, rotation
from noisylabels.online.analytic import AnalyticKernel
from noisylabels.online.estimators import Feature, gradient_length, map_estimate, product, product_with
from noisylabels.online.linear import KnownCovariance, NaiveOGD, TwoCopy
from noisylabels.online.oracles import SimulatedOracle
from noisylabels.theory import regret_bounds
from noisylabels.theory.estimates import (
    degrees,
    estimates,
    feature_moment,
    mean_queries,
    pmf,
    second_moment,
    second_moment_bound,
)
from noisylabels.theory.regret_bounds import copies, scored_on_noise, worlds
from noisylabels.validation import Floats
from reproduction.protocols.noisy_online_kernel import Tensor, tensor_kernel
from reproduction.protocols.noisy_online_tasks import (
    REGRET,
    Ball,
    ExponentHorizons,
    Horizons,
    regret_rows,
    target,
)
from reproduction.protocols.settings import Count, Distinct, Positive, Repetitions, Settings, Some, Trials
from reproduction.protocols.walk import At, Row, Walk, protocol

FAMILY = "noisy_online"
"""The module that offers the protocols of this one."""

Powers = Annotated[Distinct[Annotated[float, Field(gt=1)]], Field(description="p")]
Found = tuple[str, Floats, float] | tuple[str, Floats, float, float]
"""Name, samples (n,), their predicted mean, and a bound of it where there is one."""


# Every identity that the algorithms rest on, measured with the functions that the learners use


class IdentitiesSettings(Trials):
    """Predicted and measured means."""

    groups: Distinct[Literal["gradients", "lemma 1", "surrogate kernels", "features"]]
    samples: int = Field(ge=2)
    list_samples: int = Field(ge=2, description="of the features, which are made one by one")


NAMES = (
    *(
        "* kernel: *",
        "surrogate of the *",
        "gradient *",
        "one copy: *",
        "two copies: *",
        "known covariance: *",
    ),
    *("full covariance: *", "P(copies >= *)", "*copies*", "estimate of exp(E X)", "fourth moment of a copy"),
    *("inner product with the second copy", "its second moment"),
)
"""Names of identities."""


@protocol(IdentitiesSettings, labels=(*NAMES, "predicted", "measured", "se", "z", "bound", "bound_ratio"))
def identities(settings: IdentitiesSettings, walk: Walk) -> Iterator[Row]:
    """Rows; setting = group, method = name; predicted, measured, se and z = (measured - predicted) / se.

    Where a bound is known: bound and bound_ratio = predicted / bound.
    """
    measured: dict[str, Callable[[int, np.random.Generator], Iterator[Found]]] = {
        "gradients": gradient_identities, "lemma 1": lemma1_identities,
        "surrogate kernels": kernel_identities, "features": feature_identities,
    }  # fmt: skip
    for at in walk.trials():
        for group in settings.groups:
            n = settings.list_samples if group == "features" else settings.samples
            for name, samples, predicted, *bound in measured[group](n, at.rng(group)):
                mean, se = float(samples.mean()), float(samples.std(ddof=1)) / np.sqrt(len(samples))
                values = {"predicted": predicted, "measured": mean, "se": se, "z": (mean - predicted) / se}
                values |= {"bound": bound[0], "bound_ratio": predicted / bound[0]} if bound else {}
                yield from at.rows(values, setting=group, method=name)


X = np.array([0.5, -0.3, 0.6])
W = np.array([0.4, 0.7, -0.2])
SIGMA = np.array([[0.30, 0.10, 0.00], [0.10, 0.25, -0.05], [0.00, -0.05, 0.20]])
Y, NOISE_Y = 0.8, 0.3


def gradient_identities(n: int, rng: np.random.Generator) -> Iterator[Found]:
    """Lemmas 2 and 3: gradient estimates of the squared loss from noisy copies, and their second moments."""
    root = np.linalg.cholesky(SIGMA)
    first, second = (X + rng.standard_normal((n, 3)) @ root.T for _ in range(2))
    y = Y + NOISE_Y * rng.standard_normal(n)
    gradient = 2 * (W @ X - Y) * X
    residual = first @ W - y
    one, two = 2 * residual[:, None] * first, 2 * residual[:, None] * second
    known = one - 2 * SIGMA @ W
    for i in range(3):
        yield f"two copies: gradient {i + 1}", two[:, i], float(gradient[i])
        yield f"one copy: gradient {i + 1} + 2 (Sigma w)", one[:, i], float(gradient[i] + 2 * (SIGMA @ W)[i])
        yield f"known covariance: gradient {i + 1}", known[:, i], float(gradient[i])
    B_w, B_x, B_y = float(W @ W), float(X @ X + np.trace(SIGMA)), Y**2 + NOISE_Y**2
    exact = 4 * ((W @ X - Y) ** 2 + W @ SIGMA @ W + NOISE_Y**2) * B_x
    G_1 = regret_bounds.two_copy_moment(B_w, B_x, B_y)
    yield "two copies: squared length", (two**2).sum(axis=1), float(exact), G_1
    M_4 = float(regret_bounds.gaussian_fourth_moment(X[None, :], SIGMA)[0])
    yield "fourth moment of a copy", (first**2).sum(axis=1) ** 2, M_4
    G_2 = regret_bounds.known_covariance_moment(B_w, M_4, B_x, B_y, float(np.linalg.eigvalsh(SIGMA)[-1]))
    z, mass = _gauss_hermite(6, 3)  # exact up to degree 11; here it is 4
    x = X + z @ np.linalg.cholesky(SIGMA).T
    lengths = ((2 * (x @ W - Y)[:, None] * x - 2 * SIGMA @ W) ** 2).sum(axis=1)
    exact = float(mass @ (lengths + 4 * NOISE_Y**2 * (x**2).sum(axis=1)))
    yield "known covariance: squared length", (known**2).sum(axis=1), exact, G_2


def _gauss_hermite(nodes: int, d: int) -> tuple[Floats, Floats]:
    """Points (nodes^d, d) and masses of the standard normal law."""
    z, weights = np.polynomial.hermite_e.hermegauss(nodes)
    weights = weights / weights.sum()
    points = np.stack([a.ravel() for a in np.meshgrid(*[z] * d)], axis=1)
    return points, np.prod(np.stack([a.ravel() for a in np.meshgrid(*[weights] * d)]), axis=0)


def lemma1_identities(n: int, rng: np.random.Generator) -> Iterator[Found]:
    """Lemma 1 for f = exp, X ~ N(0.5, 0.5), p = 2: mean, second moment, number of copies, its tail."""
    p, gamma = 2.0, 1 / np.cumprod(np.concatenate([[1.0], np.arange(1.0, 61.0)]))
    theta, counts = estimates(gamma, p, lambda g, m: 0.5 + np.sqrt(0.5) * g.standard_normal(m), rng, n)
    yield "estimate of exp(E X)", theta, float(np.exp(0.5))
    bound = second_moment_bound(gamma, p, 0.75)
    yield "its second moment", theta**2, second_moment(gamma, p, 0.75), bound
    yield "number of copies", counts.astype(float), 1 / (p - 1)
    for z in (2, 5):
        yield f"P(copies >= {z})", (degrees(rng, p, n) >= z).astype(float), p**-z


A, Z = np.array([[0.2, -0.4]]), np.array([[-0.1, 0.5]])
V = np.array([0.2, 0.1])
CENTRES = np.array([[0.3, 0.1], [-0.6, 0.2], [0.0, -0.5]])
ALPHA = np.array([0.7, -0.4, 0.9])


def kernel_identities(n: int, rng: np.random.Generator) -> Iterator[Found]:
    """Lemma 6, its blurred counterpart, a full covariance, equation (8), inner products of Algorithm 3."""
    noisy, again = (A + rng.standard_normal((n, 2)) * np.sqrt(V) for _ in range(2))
    gauss = gaussian_pair(1.0, V)
    exact = float(gauss.kernel(A, Z)[0, 0])
    yield "surrogate of the Gaussian kernel", gauss.surrogate(noisy, Z)[:, 0], exact
    blurred = float(gauss.blurred(A, Z, V)[0, 0])
    yield "plain Gaussian kernel: blurred", gauss.kernel(noisy, Z)[:, 0], blurred
    Sigma = np.array([[0.15, 0.08], [0.08, 0.20]])
    values, U = rotation(Sigma)
    full = A + rng.standard_normal((n, 2)) @ np.linalg.cholesky(Sigma).T
    yield "full covariance: rotated", gaussian_pair(1.0, values).surrogate(full @ U, Z @ U)[:, 0], exact
    for c in (1.5, 3.0):
        radial, z = rational_pair(c, V), float(((A - Z) ** 2).sum()) / 2
        name = f"surrogate of the radial kernel cut at {c:g}"
        yield name, radial.surrogate(noisy, Z)[:, 0], float(truncated_rational(z, c))
    inner = float(ALPHA @ gauss.kernel(CENTRES, A)[:, 0])
    found = gauss.surrogate(again, CENTRES) @ ALPHA
    yield "inner product with the second copy", found, inner
    length = 2 * (found - 0.3)
    gain = gauss.surrogate(noisy, CENTRES) @ ALPHA - gauss.surrogate(noisy, Z)[:, 0]
    plain = 2 * (inner - 0.3) * (inner - exact)
    yield "gradient times gap: two copies", length * gain, plain
    same = 2 * (gauss.surrogate(noisy, CENTRES) @ ALPHA - 0.3) * gain
    points, mass = _gauss_hermite(80, 2)
    points = A + points * np.sqrt(V)
    value = gauss.surrogate(points, CENTRES) @ ALPHA
    biased = float(mass @ (2 * (value - 0.3) * (value - gauss.surrogate(points, Z)[:, 0])))
    yield "gradient times gap: one copy twice", same, biased


FEATURE_X, FEATURE_Z = np.array([0.5, -0.4]), np.array([0.3, 0.6])
VARIANCE, P = 0.1, 2.0


class Fountain:
    """An oracle that stays in one round: fresh copies of x and exact targets y without end."""

    def __init__(self, y: float, rng: np.random.Generator) -> None:
        noise = FeatureNoise(variances=np.full(2, VARIANCE))
        self._oracle = SimulatedOracle(FEATURE_X[None, :], np.array([y]), noise, rng)
        self._oracle.next_round()
        self.instance, self.target = self._oracle.instance, self._oracle.target

    def counted(self, ask: Callable[["Fountain"], Any]) -> tuple[Any, int]:
        """What ``ask`` finds, and how many copies it took."""
        before = self._oracle.queries
        return ask(self), self._oracle.queries - before


def feature_identities(n: int, rng: np.random.Generator) -> Iterator[Found]:
    """Equations (9) and (10): mean, squared norm and copies of MapEstimate; Lemma 4 for four losses."""
    B_x = float(FEATURE_X @ FEATURE_X) + 2 * VARIANCE
    m_2 = float(((np.outer(FEATURE_X, FEATURE_X) + VARIANCE * np.eye(2)) ** 2).sum())
    kernels = {"polynomial": tensor.polynomial(2, scale=0.25), "Gaussian": tensor.gaussian(4.0)}
    for name, kernel in kernels.items():
        oracle, values, norms, counts = Fountain(0.0, rng), np.empty(n), np.empty(n), np.empty(n)
        for i in range(n):
            feature, counts[i] = oracle.counted(lambda o, k=kernel: map_estimate(k, P, o, rng))  # type: ignore[misc]
            values[i] = product_with(kernel, P, feature, FEATURE_Z)
            norms[i] = product(kernel, P, feature, feature)
        exact = float(kernel.kernel(FEATURE_X[None], FEATURE_Z[None])[0, 0])
        yield f"{name} kernel: feature times Psi(z)", values, exact
        yield f"{name} kernel: squared norm of a feature", norms, feature_moment(kernel, P, B_x, m_2)
        yield f"{name} kernel: copies of a feature", counts, (3.0 if kernel.sigma2 else 1.0) / (P - 1)
    polynomial, w = kernels["polynomial"], Feature(0.1, np.array([[0.5, -0.5]]))  # one stored estimate
    truth = product_with(polynomial, P, w, FEATURE_X)
    losses: list[tuple[str, float | None, float]] = [("squared", None, 0.4), ("exponential", None, 1.0)]
    losses += [("smoothed_absolute", 0.5, 0.4), ("smoothed_hinge", 0.5, -1.0)]
    for name, s, y in losses:
        loss, oracle = analytic_loss(name, s), Fountain(y, rng)
        inner = lambda feature: product(polynomial, P, w, feature)  # noqa: E731
        lengths = [gradient_length(loss, polynomial, P, inner, oracle, rng) for _ in range(n)]  # type: ignore[arg-type]
        yield (
            f"gradient length: {name.replace('_', ' ')}",
            np.array(lengths),
            float(loss.derivative(truth, y)),
        )
    oracle, squares = Fountain(0.4, rng), analytic_loss("squared")  # the round less the stored feature
    one = lambda o: gradient_length(squares, polynomial, P, lambda f: 0.0, o, rng)  # noqa: E731
    counts = np.array([float(oracle.counted(one)[1]) for _ in range(n)])
    yield "copies of a gradient length", counts, 1 / (P - 1) ** 2


# Lemma 1: an unbiased estimate of f(E X) from a random number of copies, and the price of p

SERIES = 160
"""Degree at which the Taylor series are cut off; the terms beyond are below 1e-100 here."""
TAME = 8.0
"""Monte Carlo second moments are compared up to this p E X^2: above it their own variance is too large."""


class Lemma1Settings(Trials):
    """Functions, sizes and laws of X, and powers."""

    functions: Distinct[Annotated[str, Field(pattern=r"^(exp|bell|erf [0-9.]+)$")]] = Field(
        description="exp a, exp(-a^2), erf(s a)"
    )
    second_moments: Distinct[Positive] = Field(description="E X^2")
    powers: Powers
    laws: Distinct[Literal["normal", "bernoulli", "student"]]
    samples: int = Field(ge=2, description="estimates of each kind")


def taylor(function: str) -> Floats:
    """Taylor coefficients gamma_0.. of exp a, erf(s a) ("erf s") or exp(-a^2) ("bell")."""
    n = np.arange(SERIES + 1)
    if function == "exp":
        return np.exp(-gammaln(n + 1))
    j, gamma = n // 2, np.zeros(SERIES + 1)
    signs = np.where(j % 2, -1.0, 1.0)
    if function == "bell":
        gamma[::2] = (signs * np.exp(-gammaln(j + 1)))[::2]
        return gamma
    s = float(function.split()[1])
    logs = np.log(2 / np.sqrt(np.pi)) + n * np.log(s) - gammaln(j + 1) - np.log(np.maximum(n, 1))
    gamma[1::2] = (signs * np.exp(logs))[1::2]
    return gamma


def sampler(law: str, EX2: float) -> tuple[float, Callable[[np.random.Generator, int], Floats]]:
    """(E X, draw) with that E X^2: normal and Bernoulli have (E X)^2 = E X^2 / 2, student has E X = 0."""
    root = float(np.sqrt(EX2 / 2))
    if law == "normal":
        return root, lambda rng, m: root + root * rng.standard_normal(m)
    if law == "bernoulli":
        return root, lambda rng, m: 2 * root * rng.integers(0, 2, m)
    return 0.0, lambda rng, m: np.sqrt(EX2 * 3 / 5) * rng.standard_t(5, m)


@protocol(Lemma1Settings, labels=("E X^2 = *", "series", "second_moment", "bound*", "cost", "best_p", "*_z"))
def lemma1(settings: Lemma1Settings, walk: Walk) -> Iterator[Row]:
    """Rows; setting = function, noise = "E X^2 = ..", method = law of X, or "series" (exact), x = p.

    z of the mean (where the variance is tame enough for one), second moment, z of the number of copies.
    """
    for function in settings.functions:
        gamma = taylor(function)
        for EX2 in settings.second_moments:
            place: Row = {"setting": function, "noise": f"E X^2 = {EX2:g}"}
            exact = {p: second_moment(gamma, p, EX2) for p in settings.powers}
            for at in walk.trials() if 0 in walk.repetitions else ():
                if at.repetition:
                    continue
                here = at.on(**place, method="series")
                for p, value in exact.items():
                    bound = second_moment_bound(gamma, p, EX2)
                    values = {"second_moment": value, "bound": bound, "bound_ratio": value / bound}
                    yield from here.rows(values | {"cost": value / (p - 1)}, x=p)
                yield here.row("best_p", settings.powers[int(np.argmin(list(exact.values())))])
            for law in settings.laws:
                for p in settings.powers:
                    for at in walk.trials():
                        rng = at.rng(f"{function} {EX2:g} {law} {p:g}")
                        found = _lemma1(gamma, law, EX2, p, settings.samples, rng)
                        yield from at.rows(found, **place, method=law, x=p)


def _lemma1(
    gamma: Floats, law: str, EX2: float, p: float, samples: int, rng: np.random.Generator
) -> dict[str, float]:
    mean, draw = sampler(law, EX2)
    theta, n = estimates(gamma, p, draw, rng, samples)
    truth = float(np.polynomial.polynomial.polyval(mean, gamma))
    spread = np.sqrt(p) / (p - 1)  # standard deviation of a geometric number of mean 1/(p-1)
    found = {"copies_z": (float(n.mean()) - 1 / (p - 1)) / (spread / np.sqrt(samples))}
    if p * EX2 <= TAME:
        found["second_moment"] = float((theta**2).mean())
    if p * EX2 <= TAME / 2:
        found["mean_z"] = (float(theta.mean()) - truth) / (float(theta.std()) / np.sqrt(samples))
    return found


# The copies of a round of Algorithm 4, counted, against the law that depends on p alone

COUNTED = {"dot product": tensor.linear(), "gaussian": tensor.gaussian(4.0)}


class QueriesSettings(Trials):
    """Powers and lengths of runs."""

    powers: Powers
    rounds: Some[Count] = Field(description="T, rising; short runs are repeated up to the last")
    most_copies: Count = Field(description="end of the histogram")


@protocol(
    QueriesSettings, labels=(*COUNTED, "p = *", "mean*", "pmf*", "expected", "frequency", "difference_with_*")
)
def queries(settings: QueriesSettings, walk: Walk) -> Iterator[Row]:
    """Rows; setting = kernel, method = "p = ..", x = number of copies (frequency, pmf) or rounds of a run.

    mean_z : mean against p/(p-1)^2 or three times that.
    pmf_error_ratio : largest error of a frequency over 4.5 sqrt(max pmf / rounds).
    difference_with_.. : of the counts for other noise and another dimension, with the same coin.
    """
    for at in walk.trials():
        for name in COUNTED:
            for p in settings.powers:
                yield from _counted(settings, name, p, at.on(setting=name, method=f"p = {p:g}"))


def _counted(settings: QueriesSettings, name: str, p: float, at: At) -> Iterator[Row]:
    gaussian, longest = name == "gaussian", settings.rounds[-1]
    expected = mean_queries(p, gaussian=gaussian)
    law = pmf(p, 40 * int(np.ceil(expected)) + 40, gaussian=gaussian)
    k = np.arange(len(law))
    spread = float(np.sqrt(law @ k**2 - expected**2))
    for T in settings.rounds:
        parts = range(longest // T)  # short runs are repeated, so that all have as many rounds
        counts = np.concatenate([_count(name, p, T, 1, 0.3, at, part) for part in parts])
        z = (counts.mean() - expected) / (spread / np.sqrt(len(counts)))
        frequency = np.bincount(counts, minlength=len(law))[: len(law)] / len(counts)
        error = np.abs(frequency - law).max() / (4.5 * np.sqrt(law.max() / len(counts)))
        values = {"mean_z": z, "pmf_error_ratio": error, "mean": counts.mean(), "expected": expected}
        yield from at.rows(values, x=T)
    for metric, shown in (("frequency", frequency), ("pmf", law)):
        yield from at.curve(metric, enumerate(shown[: settings.most_copies + 1]))
    T = settings.rounds[0]
    same = _count(name, p, T, 1, 0.3, at, 0)
    for change, d, sd in (("noise", 1, 0.01), ("dimension", 3, 0.3)):
        other = _count(name, p, T, d, sd, at, 0)
        yield at.row(f"difference_with_{change}", np.abs(other - same).max())


def _count(name: str, p: float, T: int, d: int, sd: float, at: At, part: int) -> NDArray[np.int64]:
    """Copies asked for in every round of a run: (T,)."""
    coin = at.rng(f"coin {name} {p:g} {T} {part}")
    rng = at.rng(f"copies {name} {p:g} {T} {part} {d} {sd:g}")
    learner = AnalyticKernel(COUNTED[name], squared(), 1e-9, coin, p)
    done = learner.run(
        np.zeros((T, d)), lambda rounds: sd * rng.standard_normal((len(rounds), d)), np.zeros(T)
    )
    return done.queries


# Lemmas 7 and 8 on random expansions: the norm in the surrogate space against the bound by the angle


class AnglesSettings(Trials):
    """Random expansions."""

    expansions: Count = Field(description="random expansions of a repetition, for each of two kernels")
    dimensions: Distinct[Count]
    most_centres: int = Field(ge=2)


@protocol(
    AnglesSettings, labels=("gaussian", "radial", "d = *", "surrogate_norm", "angle_bound", "lemma*_ratio")
)
def angles(settings: AnglesSettings, walk: Walk) -> Iterator[Row]:
    """Rows; method = kernel, setting = "d = ..", x = number of the expansion.

    surrogate_norm gamma' K~ gamma, angle_bound and their ratio; the same for Lemma 7 in the space of k.
    """
    for at in walk.trials():
        rng = at.rng("expansions")
        for number in range(settings.expansions):
            d = int(rng.choice(settings.dimensions))
            share, c = rng.uniform(0.05, 0.8, d), float(rng.uniform(0.5, 4))
            pairs = {  # random noise, within the domain of the surrogates
                "gaussian": gaussian_pair(1.0, 0.5 * share / max(1.0, d / 4)),
                "radial": rational_pair(c, 0.5 * share * d / c / max(1.0, d / 4)),
            }
            for name, pair in pairs.items():
                values = _angle(pair, *_expansion(settings.most_centres, d, rng))
                yield from at.rows(values, setting=f"d = {d}", method=name, x=number)


def _expansion(most: int, d: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Centres of any spread; some expansions have positive coefficients only, or coinciding centres."""
    count = int(rng.integers(2, most + 1))
    centres = rng.standard_normal((count, d)) * np.exp(rng.uniform(np.log(0.01), np.log(3)))
    gamma = rng.standard_normal(count) * rng.exponential(size=count)
    kind = rng.random()
    if kind < 0.1:
        gamma = np.abs(gamma)
    if kind < 0.05:
        centres[:] = centres[0]
    return centres, gamma


def _angle(pair: SurrogatePair, centres: Floats, gamma: Floats) -> dict[str, float]:
    K, K_tilde = pair.kernel(centres, centres), pair.surrogate(centres, centres)
    alpha, B_w = regret_bounds.angle(gamma, K), float(gamma @ K @ gamma)
    if np.cos(alpha) > 1 - 1e-6:  # the bound is over a million times the norm, and rounding decides
        return {}
    absolute = float(np.abs(gamma) @ K @ np.abs(gamma))
    norm, bound = float(gamma @ K_tilde @ gamma), regret_bounds.surrogate_ball(B_w, alpha, pair.domination)
    lemma7 = absolute / regret_bounds.surrogate_ball(B_w, alpha, 1.0)
    return {
        "surrogate_norm": norm,
        "angle_bound": bound,
        "lemma7_ratio": lemma7,
        "lemma8_ratio": norm / bound,
    }


# The two figures of the paper: a radial kernel beside its truncation, losses beside their smoothings


class CurvesSettings(Settings):
    """Curves of a kernel (truncations) or of losses (sharpness)."""

    truncations: Some[Positive] | None = Field(None, description="c")
    sharpness: Some[Positive] | None = Field(None, description="s")
    range: list[float] = Field(min_length=2, max_length=2, description="low, high")
    points: int = Field(ge=2)

    @model_validator(mode="after")
    def _sensible(self) -> Self:
        if (self.truncations is None) == (self.sharpness is None):
            raise ValueError("give truncations (a kernel) or sharpness (losses), one of them")
        if not self.range[0] < self.range[1]:
            raise ValueError(f"range: {self.range} is not [low, high] with low < high")
        return self


@protocol(
    CurvesSettings,
    labels=("c = *", "k*", "s = *", "exact", "absolute", "hinge", "loss", "gap_error", "smallest_*"),
)
def curves(settings: CurvesSettings, walk: Walk) -> Iterator[Row]:
    """kernel or loss against x, without randomness.

    Kernels: setting = "c = ..", method k or k_c, x = ||x - x'|| in one dimension; gap_error =
    max |k - k_c| - e^-c, which the mathematics makes 0, attained at x = 0.
    Losses: setting absolute (x = a - y) or hinge (x = y a), method "exact" or "s = .."; gap_error =
    max (smoothed - exact) - its formula; smallest_excess = min (smoothed - exact), never below 0.
    """
    low, high = settings.range
    x, at = np.linspace(low, high, settings.points), At(walk.seeds, 0, {"repetition": 0})
    k = rational(x**2)
    for c in settings.truncations or []:
        k_c, here = truncated_rational(x**2, c), at.on(setting=f"c = {c:g}")
        yield from here.curve("kernel", zip(x, k, strict=True), method="k")
        yield from here.curve("kernel", zip(x, k_c, strict=True), method="k_c")
        yield here.row("gap_error", float(np.abs(k - k_c).max() - np.exp(-c)), method="k_c")
        ratio = float((k_c / k).min() - (1 - np.exp(-c)))
        yield here.row("smallest_ratio_error", ratio, method="k_c")
    for setting, shift, smoothed in (("absolute", 0.0, smoothed_absolute), ("hinge", 1.0, smoothed_hinge)):
        if settings.sharpness is None:
            break
        b = x - shift
        exact = np.abs(b) if setting == "absolute" else np.maximum(-b, 0)
        yield from at.curve("loss", zip(x, exact, strict=True), setting=setting, method="exact")
        for s in settings.sharpness:
            above, here = smoothed(s).value(b), at.on(setting=setting, method=f"s = {s:g}")
            yield from here.curve("loss", zip(x, above, strict=True))
            yield here.row(
                "gap_error", float((above - exact).max() - smoothing_gap(s, hinge=setting == "hinge"))
            )
            yield here.row("smallest_excess", (above - exact).min())


# The price nu of the noise in Theorems 6 and 7, E ||g~ Psi~||^2 <= nu: where the bounds say nothing


class MomentsSettings(Settings):
    """Kernels, balls, powers and losses."""

    repetitions: Repetitions = 1
    kernels: dict[str, Tensor] = Field(min_length=1)
    balls: Distinct[Ball]
    powers: Powers
    losses: Distinct[Literal["smoothed_absolute", "smoothed_hinge"]]
    sharpness: Distinct[Positive] = Field(description="s")
    B_x: Positive = Field(description="bound of the mean squared length of a copy")


@protocol(MomentsSettings, labels=("B = *", "* p = *", "log10_rounds", "gap"))
def moments(settings: MomentsSettings, walk: Walk) -> Iterator[Row]:
    """Rows; setting = kernel, noise = "B = ..", method = "loss p = ..", x = s: log10 of the rounds nu B_w.

    A bound sqrt(B_w nu T) is below T only after nu B_w rounds. gap : largest excess of the smoothed loss.
    """
    for name, kernel in settings.kernels.items():
        for B_w in settings.balls:
            for p in settings.powers:
                B_psi = feature_moment(tensor_kernel(kernel), p, settings.B_x)
                for loss in settings.losses:
                    columns: Row = {"setting": name, "noise": f"B = {B_w:g}", "method": f"{loss} p = {p:g}"}
                    at = At(walk.seeds, 0, columns | {"repetition": 0})
                    for s in settings.sharpness:
                        log_nu = regret_bounds.log_gradient_moment(
                            analytic_loss(loss, s), p, B_w, B_psi, tight=True
                        )
                        rounds = float((log_nu + np.log(B_w)) / np.log(10))
                        gap = smoothing_gap(s, hinge=loss == "smoothed_hinge")
                        yield from at.rows({"log10_rounds": rounds, "gap": gap}, x=s)


# Another regret: the learner scored on noisy inputs against the best clean predictor. It cannot be small


class ScoringSettings(Trials):
    """x_t = w*/||w*||, y_t = ||w*||, isotropic noise of variance v."""

    direction: list[float] = Field(min_length=1, description="of the target")
    length: Positive = Field(description="of the target")
    rounds: Count
    variances: Distinct[Positive] = Field(description="of the noise on each input")


@protocol(
    ScoringSettings,
    labels=("two_copy", "target", "best_fixed", "floor", "noisy", "clean", "mean_loss", "floor_ratio"),
)
def noisy_scoring(settings: ScoringSettings, walk: Walk) -> Iterator[Row]:
    """Rows; x = v, setting = noisy or clean inputs: mean loss of the best fixed vector, w*, Algorithm 1.

    Even w known, the best fixed vector loses ||w*||^2 v / (1 + v) a round (Appendix A; the example is ours).
    """
    length, d, T = settings.length, len(settings.direction), settings.rounds
    w = target(settings.direction, length)
    clean, y = np.tile(w / length, (T, 1)), np.full(T, length)
    for trial in walk.trials():
        for v in settings.variances:
            at, rng = trial.on(x=v), trial.rng(f"copies {v:g}")
            X1, X2 = (clean + np.sqrt(v) * rng.standard_normal((T, d)) for _ in range(2))
            G = regret_bounds.two_copy_moment(1.0, 1 + d * v, length**2)
            learner = TwoCopy(regret_bounds.best_step(1.0, G, T), 1.0)
            played = {
                "two_copy": {
                    "noisy": learner.run(X1, X1.copy(), X2, y).predictions,
                    "clean": TwoCopy(learner.eta, 1.0).run(clean, X1, X2, y).predictions,
                },
                "target": {"noisy": X1 @ w, "clean": clean @ w},
                "best_fixed": {"noisy": X1 @ w / (1 + v), "clean": clean @ w / (1 + v)},
            }
            floor = scored_on_noise(w, v)
            for method, guesses in played.items():
                for setting, guess in guesses.items():
                    loss = float(((guess - y) ** 2).mean())
                    values = {"mean_loss": loss} | (
                        {"floor_ratio": loss / floor} if setting == "noisy" else {}
                    )
                    yield from at.rows(values, method=method, setting=setting)
            yield at.row("mean_loss", floor, method="floor")


# Two worlds that one noisy copy cannot tell apart (Theorems 8 and 9): who can be good in both?

RADIUS2 = 2.25
"""B_w of the weights [-1.5, 1.5]."""
WORLDS: dict[str, tuple[Callable[[Any], Any], float]] = {
    "A": (lambda w: ((3 * w - 1) ** 2 + (w + 1) ** 2) / 2, 0.2),
    "B": (lambda w: (w - 1) ** 2, 1.0),
}
"""World -> F(w), the expected loss of a round, and its best weight."""


class ImpossibilitySettings(Trials):
    """Horizons, and a grid for the constants of other losses."""

    horizons: Horizons
    exponent_horizons: ExponentHorizons
    grid: int = Field(ge=3, description="weights on [-3, 3] for the constants of other losses")


@protocol(
    ImpossibilitySettings,
    labels=(
        *(
            *REGRET,
            "A",
            "B",
            "worse",
            "compromise",
            "naive",
            "told_*",
            "constant*",
            "running_mean",
            "two_copy",
            "streams",
        ),
        *(
            "largest_difference",
            "ks_p_value",
            "unavoidable",
            "squared",
            "exponential",
            "smoothed *",
            "logistic",
        ),
        *("hinge", "best_*", "single*", "loss*"),
    ),
)
def impossibility(settings: ImpossibilitySettings, walk: Walk) -> Iterator[Row]:
    """Rows; noise = world, x = T. The regret is the expected one given the weights, sum_t F(w_t) - T min F.

    World A: x_t = 3 or -1 by a fair coin, no noise. World B: x_t = 1, noise 2 or -2. y_t = 1 in both. A
    single copy is 3 or -1 by a fair coin either way, so a learner of one copy plays the same weights in both
    worlds, and no weight is good in both: 0.3056 per round is lost in one of them. Two copies differ in B.

    "worse": the larger regret of the two worlds. largest_difference: between the weights of the two worlds.
    The constants of other losses and the test of the two streams are rows of repetition 0.
    """
    from scipy.stats import ks_2samp

    for at in walk.trials():
        regrets: dict[str, dict[str, dict[int, float]]] = {}
        for T in settings.horizons:
            for method, weights in _weights(T, at).items():
                found = regrets.setdefault(method, {"A": {}, "B": {}, "worse": {}})
                for world, w in weights.items():
                    loss, best = WORLDS[world]
                    found[world][T] = float((loss(w) - loss(best)).sum())
                found["worse"][T] = max(found["A"][T], found["B"][T])
                apart = float(np.abs(weights["A"] - weights["B"]).max())
                yield at.row("largest_difference", apart, method=method, x=T)
        for method, by_world in regrets.items():
            for world, values in by_world.items():
                yield from regret_rows(at.on(method=method, noise=world), values, settings.exponent_horizons)
        if at.repetition == 0:
            T = settings.horizons[-1]
            a, b = (copies(at.seeds.generator("streams", world), T)[:, 0] for world in "AB")
            p = float(ks_2samp(a, b, method="asymp").pvalue)  # of T copies of A and T independent ones of B
            yield at.row("ks_p_value", p, method="streams", x=T)
            for name, loss in one_copy_losses().items():
                constants = worlds(loss, points=settings.grid)._asdict()
                yield from at.rows(constants, method="constants", setting=name)


def _weights(T: int, at: At) -> dict[str, dict[str, Floats]]:
    """Method -> world -> (T,) weights; all learners see the same first copy, in both worlds."""
    first, second = copies(at.rng(f"copy 1 {T}"), T), copies(at.rng(f"copy 2 {T}"), T)
    y, one = np.ones(T), np.ones((T, 1))  # predictions on x = 1 are the weights
    eta = regret_bounds.best_step(RADIUS2, regret_bounds.two_copy_moment(RADIUS2, 9.0, 1.0), T)
    found: dict[str, dict[str, Floats]] = {}
    for world, truth in (("A", 0.0), ("B", 4.0)):
        x = first if world == "A" else 1 + (first - 1)  # the clean instance and its noise
        other = x.copy() if world == "A" else second
        played = {
            "naive": NaiveOGD(eta, RADIUS2).run(one, x, y).predictions,
            "constant": np.full(T, 1 / np.sqrt(5)),
            "running_mean": _running_mean(x[:, 0]),
            "two_copy": TwoCopy(eta, RADIUS2).run(one, x, other, y).predictions,
        }
        for method, variance in (("told_0", 0.0), ("told_4", 4.0), ("told_truth", truth)):
            learner = KnownCovariance(eta, RADIUS2)
            played[method] = learner.run(one, x, y, variances=np.array([variance])).predictions
        for method, w in played.items():
            found.setdefault(method, {})[world] = w
    return found


def _running_mean(x: Floats) -> Floats:
    """w_t = 1 / mean(x~_1..x~_{t-1}), cut to [-1.5, 1.5]; the best weight if the mean were the instance."""
    mean = np.cumsum(x)[:-1] / np.arange(1, len(x))
    with np.errstate(divide="ignore"):
        return np.concatenate([[0.0], np.clip(1 / mean, -1.5, 1.5)])


def one_copy_losses() -> dict[str, Callable[[Any], Any]]:
    """Losses of a prediction a with label 1, for what no learner of one copy avoids with |w| <= 3."""
    analytic = {
        "squared": analytic_loss("squared"),
        "exponential": analytic_loss("exponential"),
        "smoothed hinge s = 1": analytic_loss("smoothed_hinge", 1.0),
        "smoothed absolute s = 1": analytic_loss("smoothed_absolute", 1.0),
    }

    def at_one(loss: AnalyticLoss) -> Callable[[Any], Any]:
        return lambda a: loss.loss(a, np.ones_like(a))

    losses = {name: at_one(each) for name, each in analytic.items()}
    return losses | {"logistic": lambda a: np.logaddexp(0, -a), "hinge": lambda a: np.maximum(0, 1 - a)}
