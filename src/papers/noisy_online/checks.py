"""Checks of the paper's theorems: identities, lemmas, and what no learner of one copy can do."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Literal, Self

import numpy as np
from pydantic import Field, model_validator
from scipy.special import gammaln

from noisy_online import tasks
from noisylabels.kernels import surrogate, tensor
from noisylabels.losses.analytic import AnalyticLoss, analytic_loss, smoothing_gap
from noisylabels.noise.additive import rotation
from noisylabels.online import theory
from noisylabels.online.analytic import AnalyticKernel
from noisylabels.online.linear import KnownCovariance, NaiveOGD, TwoCopy
from noisylabels.validation import Floats
from reproduction.run.protocol_loop import Loop, Repetition, Row
from reproduction.spec.protocol import protocol
from reproduction.spec.settings import Distinct, Positive, Settings, Some, Trials

Found = tuple[str, Floats | None, float] | tuple[str, Floats | None, float, float]
"""Name of an identity, its samples (n,) if measured, their predicted mean, and a bound if any."""


# Every identity behind the algorithms, measured with the functions that the learners use


class IdentitiesSettings(Trials):
    """Predicted and measured means."""

    groups: Distinct[
        Literal["gradients", "lemma 1", "surrogate kernels", "copies", "scored on noise", "bounds"]
    ]
    samples: int = Field(ge=2)


NAMES = (
    "* kernel: *", "* kernel at p = *", "* at v = *", "surrogate of the *", "gradient *",
    "one copy: *",
    "two copies: *", "known covariance: *", "full covariance: *", "P(copies >= *)", "*copies*",
    "fourth moment of a copy", "inner product with the second copy", "its second moment*",
    "estimate of *",
    "* kernel and smoothed *",
)  # fmt: skip
"""Names of the identities."""


@protocol(
    IdentitiesSettings,
    labels=(*NAMES, "predicted", "measured", "se", "z", "bound", "bound_ratio"),
)
def identities(settings: IdentitiesSettings, loop: Loop) -> Iterator[Row]:
    """Measure every identity, with its group as setting and its name as method.

    Metrics: predicted, measured, se and z = (measured - predicted) / se. Where a bound is known:
    bound and bound_ratio = predicted / bound.
    """
    measured: dict[str, Callable[[int, np.random.Generator], Iterator[Found]]] = {
        "gradients": gradient_identities, "lemma 1": lemma1_identities,
        "surrogate kernels": kernel_identities, "copies": copies_identities,
        "scored on noise": scoring_identities, "bounds": moment_identities,
    }  # fmt: skip
    for repetition in loop:
        for group in settings.groups:
            results = measured[group](settings.samples, repetition.rng(group))
            for name, samples, predicted, *bound in results:
                values = {"predicted": predicted}
                if samples is not None:
                    mean = float(samples.mean())
                    se = float(samples.std(ddof=1)) / np.sqrt(len(samples))
                    values |= {"measured": mean, "se": se, "z": (mean - predicted) / se}
                if bound:
                    values |= {"bound": bound[0], "bound_ratio": predicted / bound[0]}
                yield from repetition.rows(values, setting=group, method=name)


X = np.array([0.5, -0.3, 0.6])
W = np.array([0.4, 0.7, -0.2])
SIGMA = np.array([[0.30, 0.10, 0.00], [0.10, 0.25, -0.05], [0.00, -0.05, 0.20]])
Y, NOISE_Y = 0.8, 0.3


def gradient_identities(n: int, rng: np.random.Generator) -> Iterator[Found]:
    """Measure Lemmas 2 and 3: gradient estimates from noisy copies, and their second moments."""
    root = np.linalg.cholesky(SIGMA)
    first = X + rng.standard_normal((n, 3)) @ root.T
    second = X + rng.standard_normal((n, 3)) @ root.T
    y = Y + NOISE_Y * rng.standard_normal(n)
    gradient = 2 * (W @ X - Y) * X
    residual = first @ W - y
    one_copy = 2 * residual[:, None] * first
    two_copies = 2 * residual[:, None] * second
    known_covariance = one_copy - 2 * SIGMA @ W
    bias = 2 * (SIGMA @ W)
    for i in range(3):
        exact_i = float(gradient[i])
        yield f"two copies: gradient {i + 1}", two_copies[:, i], exact_i
        biased_i = float(gradient[i] + bias[i])
        yield f"one copy: gradient {i + 1} + 2 (Sigma w)", one_copy[:, i], biased_i
        yield f"known covariance: gradient {i + 1}", known_covariance[:, i], exact_i
    B_w = float(W @ W)
    B_x = float(X @ X + np.trace(SIGMA))
    B_y = Y**2 + NOISE_Y**2
    exact = 4 * ((W @ X - Y) ** 2 + W @ SIGMA @ W + NOISE_Y**2) * B_x
    G_1 = theory.two_copy_moment(B_w, B_x, B_y)
    yield "two copies: squared length", (two_copies**2).sum(axis=1), float(exact), G_1
    M_4 = float(theory.gaussian_fourth_moment(X[None, :], SIGMA)[0])
    yield "fourth moment of a copy", (first**2).sum(axis=1) ** 2, M_4
    largest_variance = float(np.linalg.eigvalsh(SIGMA)[-1])
    G_2 = theory.known_covariance_moment(B_w, M_4, B_x, B_y, largest_variance)
    z, mass = _gauss_hermite(6, 3)  # exact up to degree 11, and 4 is needed here
    x = X + z @ np.linalg.cholesky(SIGMA).T
    gradients = 2 * (x @ W - Y)[:, None] * x - 2 * SIGMA @ W
    lengths = (gradients**2).sum(axis=1)
    exact = float(mass @ (lengths + 4 * NOISE_Y**2 * (x**2).sum(axis=1)))
    yield "known covariance: squared length", (known_covariance**2).sum(axis=1), exact, G_2


def _gauss_hermite(nodes: int, d: int) -> tuple[Floats, Floats]:
    """Make the points (nodes^d, d) and masses of the standard normal law."""
    z, weights = np.polynomial.hermite_e.hermegauss(nodes)
    weights = weights / weights.sum()
    points = np.stack([a.ravel() for a in np.meshgrid(*[z] * d)], axis=1)
    factors = np.stack([a.ravel() for a in np.meshgrid(*[weights] * d)])
    return points, np.prod(factors, axis=0)


def lemma1_identities(n: int, rng: np.random.Generator) -> Iterator[Found]:
    """Measure Lemma 1 at p = 2: means, second moments, and the number of copies with its tail.

    First f = exp and X ~ N(0.5, 0.5), then four f and three laws of X with E X^2 = 1. Then the same
    at other p, with the normal law and second moments by their formula alone.
    """
    p = 2.0
    gamma = 1 / np.cumprod(np.concatenate([[1.0], np.arange(1.0, 61.0)]))
    normal = lambda g, m: 0.5 + np.sqrt(0.5) * g.standard_normal(m)  # noqa: E731
    theta, counts = theory.estimates(gamma, p, normal, rng, n)
    yield "estimate of exp(E X)", theta, float(np.exp(0.5))
    bound = theory.second_moment_bound(gamma, p, 0.75)
    yield "its second moment", theta**2, theory.second_moment(gamma, p, 0.75), bound
    yield "number of copies", counts.astype(float), 1 / (p - 1)
    for z in (2, 5):
        yield f"P(copies >= {z})", (theory.degrees(rng, p, n) >= z).astype(float), p**-z
    for other in (1.25, 4.0):
        counts = theory.degrees(rng, other, n)
        yield f"number of copies at p = {other:g}", counts.astype(float), 1 / (other - 1)
    root = np.sqrt(0.5)
    laws: dict[str, tuple[float, Callable[[np.random.Generator, int], Floats]]] = {
        "normal": (root, lambda g, m: root + root * g.standard_normal(m)),
        "Bernoulli": (root, lambda g, m: 2 * root * g.integers(0, 2, m)),
        "Student": (0.0, lambda g, m: np.sqrt(3 / 5) * g.standard_t(5, m)),
    }
    for name, gamma in taylor().items():
        for law, (mean, draw) in laws.items():
            theta, _ = theory.estimates(gamma, p, draw, rng, n)
            truth = float(np.polynomial.polynomial.polyval(mean, gamma))
            yield f"estimate of f(E X) for {name} and the {law} law", theta, truth
            if law == "normal":
                moment = theory.second_moment(gamma, p, 1.0)
                bound = theory.second_moment_bound(gamma, p, 1.0)
                yield f"its second moment for {name}", theta**2, moment, bound
    yield from _lemma1_at_other_p(n, rng, *laws["normal"])


def _lemma1_at_other_p(
    n: int,
    rng: np.random.Generator,
    mean: float,
    draw: Callable[[np.random.Generator, int], Floats],
) -> Iterator[Found]:
    """Measure Lemma 1 at p = 1.25, 1.5, 3 and 4, for four f and one law of X with E X^2 = 1."""
    for p in (1.25, 1.5, 3.0, 4.0):
        counts = theory.degrees(rng, p, n)
        if p in (1.5, 3.0):  # the numbers at 1.25 and 4 are measured above
            yield f"number of copies at p = {p:g}", counts.astype(float), 1 / (p - 1)
        yield f"P(copies >= 2) at p = {p:g}", (counts >= 2).astype(float), p**-2
        for name, gamma in taylor().items():
            theta, _ = theory.estimates(gamma, p, draw, rng, n)
            truth = float(np.polynomial.polynomial.polyval(mean, gamma))
            yield f"estimate of f(E X) for {name} at p = {p:g}", theta, truth
            moment = theory.second_moment(gamma, p, 1.0)
            bound = theory.second_moment_bound(gamma, p, 1.0)
            yield f"its second moment for {name} at p = {p:g}", None, moment, bound


def taylor(degree: int = 160) -> dict[str, Floats]:
    """List the first Taylor coefficients of four functions.

    Terms beyond the degree are below 1e-100 here.
    """
    n = np.arange(degree + 1)
    even = n % 2 == 0
    signs = np.where(n // 2 % 2, -1.0, 1.0)
    half = np.exp(-gammaln(n // 2 + 1))  # 1 / (n/2)!
    erf = 2 / np.sqrt(np.pi) * signs * half / np.maximum(n, 1)
    return {
        "exp(a)": np.exp(-gammaln(n + 1)),
        "erf(a / 2)": np.where(even, 0.0, erf * 0.5**n),
        "erf(a)": np.where(even, 0.0, erf),
        "exp(-a^2)": np.where(even, signs * half, 0.0),
    }


def copies_identities(n: int, rng: np.random.Generator) -> Iterator[Found]:
    """Measure how many copies a round of Algorithm 4 needs, by p alone."""
    n = max(n // 10, 1000)
    for name, kernel in {"dot-product": tensor.linear(), "Gaussian": tensor.gaussian(4.0)}.items():
        for p in (1.25, 1.5, 2.0, 4.0):
            learner = AnalyticKernel(kernel, analytic_loss("squared"), 1e-9, rng, p)
            noise = lambda rounds: 0.3 * rng.standard_normal((len(rounds), 1))  # noqa: E731
            counts = learner.run(np.zeros((n, 1)), noise, np.zeros(n)).queries
            expected = theory.mean_queries(p, gaussian=name == "Gaussian")
            largest_number = 40 * int(np.ceil(expected)) + 40
            law = theory.pmf(p, largest_number, gaussian=name == "Gaussian")
            mode = int(law.argmax())
            is_mode = (counts == mode).astype(float)
            case = f"{name} kernel at p = {p:g}"
            yield f"{case}: copies of a round", counts.astype(float), expected
            yield f"{case}: P({mode} copies)", is_mode, float(law[mode])


A = np.array([[0.2, -0.4]])
Z = np.array([[-0.1, 0.5]])
V = np.array([0.2, 0.1])
CENTRES = np.array([[0.3, 0.1], [-0.6, 0.2], [0.0, -0.5]])
ALPHA = np.array([0.7, -0.4, 0.9])


def kernel_identities(n: int, rng: np.random.Generator) -> Iterator[Found]:
    """Measure Lemma 6 and its blurred counterpart, also with a full covariance.

    Then equation (8), and the inner products of Algorithm 3.
    """
    noisy = A + rng.standard_normal((n, 2)) * np.sqrt(V)
    second = A + rng.standard_normal((n, 2)) * np.sqrt(V)
    gauss = surrogate.gaussian_pair(1.0, V)
    exact = float(gauss.kernel(A, Z)[0, 0])
    yield "surrogate of the Gaussian kernel", gauss.surrogate(noisy, Z)[:, 0], exact
    blurred = float(gauss.blurred(A, Z, V)[0, 0])
    yield "plain Gaussian kernel: blurred", gauss.kernel(noisy, Z)[:, 0], blurred
    Sigma = np.array([[0.15, 0.08], [0.08, 0.20]])
    values, U = rotation(Sigma)
    full = A + rng.standard_normal((n, 2)) @ np.linalg.cholesky(Sigma).T
    rotated = surrogate.gaussian_pair(1.0, values).surrogate(full @ U, Z @ U)[:, 0]
    yield "full covariance: rotated", rotated, exact
    for c in (1.5, 3.0):
        radial = surrogate.rational_pair(c, V)
        z = float(((A - Z) ** 2).sum()) / 2
        name = f"surrogate of the radial kernel cut at {c:g}"
        yield name, radial.surrogate(noisy, Z)[:, 0], float(surrogate.truncated_rational(z, c))
    inner = float(ALPHA @ gauss.kernel(CENTRES, A)[:, 0])
    by_second = gauss.surrogate(second, CENTRES) @ ALPHA
    yield "inner product with the second copy", by_second, inner
    by_first = gauss.surrogate(noisy, CENTRES) @ ALPHA
    gap = by_first - gauss.surrogate(noisy, Z)[:, 0]
    clean = 2 * (inner - 0.3) * (inner - exact)
    yield "gradient times gap: two copies", 2 * (by_second - 0.3) * gap, clean
    from_one_copy = 2 * (by_first - 0.3) * gap
    points, mass = _gauss_hermite(80, 2)
    points = A + points * np.sqrt(V)
    value = gauss.surrogate(points, CENTRES) @ ALPHA
    biased = float(mass @ (2 * (value - 0.3) * (value - gauss.surrogate(points, Z)[:, 0])))
    yield "gradient times gap: one copy twice", from_one_copy, biased


def moment_identities(n: int, rng: np.random.Generator) -> Iterator[Found]:
    """Compute log10 of the rounds before which the bounds of Theorems 6 and 7 exceed T.

    The bounds are sqrt(B_w nu T), for copies of mean squared length 1.2, B_w = 1, p = 1.5: with the
    exact moments and, as the bound, those of the theorems. There are no samples.
    """
    kernels = {
        "linear": tensor.linear(), "polynomial": tensor.polynomial(2, scale=0.25),
        "Gaussian": tensor.gaussian(4.0),
    }  # fmt: skip
    p = 1.5
    losses = ("absolute", "hinge")
    for (name, kernel), loss, s in product(kernels.items(), losses, (0.25, 0.5, 1.0, 2.0)):
        smooth = analytic_loss(f"smoothed_{loss}", s)
        moment = theory.feature_moment(kernel, p, 1.2)
        exact = theory.log_gradient_moment(smooth, p, 1.0, moment, tight=True) / np.log(10)
        moment = theory.feature_moment_bound(kernel, p, 1.2)
        bound = theory.log_gradient_moment(smooth, p, 1.0, moment, tight=False) / np.log(10)
        case = f"{name} kernel and smoothed {loss} s = {s:g}"
        yield f"{case}: log10 of the rounds", None, exact, bound


def scoring_identities(n: int, rng: np.random.Generator) -> Iterator[Found]:
    """Measure losses that are scored on noisy inputs (Appendix A).

    The instance is x = w*/||w*||, y = ||w*||. w* itself loses ||w*||^2 v, the best fixed vector
    ||w*||^2 v / (1 + v), Algorithm 1 more than that floor.
    """
    w = tasks.target([0.6, -0.5, 0.4], 0.9)
    length = float(np.linalg.norm(w))
    for v in (0.1, 0.25, 1.0):
        first = w / length + np.sqrt(v) * rng.standard_normal((n, 3))
        second = w / length + np.sqrt(v) * rng.standard_normal((n, 3))
        floor = theory.scored_on_noise(w, v)
        y = np.full(n, length)
        yield f"w* itself at v = {v:g}", (first @ w - y) ** 2, length**2 * v
        yield f"best fixed vector at v = {v:g}", (first @ w / (1 + v) - y) ** 2, floor
        step = theory.best_step(1.0, theory.two_copy_moment(1.0, 1 + 3 * v, length**2), n)
        played = TwoCopy(step, 1.0).run(first, first.copy(), second, y).predictions
        mean_loss = float(((played - y) ** 2).mean())
        yield f"floor beside Algorithm 1 at v = {v:g}", None, floor, mean_loss


# The two figures of the paper: a radial kernel and its truncation, losses and their smoothings


class CurvesSettings(Settings):
    """Settings of curves of a kernel, by truncation, or of losses, by sharpness."""

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
    labels=(
        *("c = *", "k*", "s = *", "exact", "absolute", "hinge"),
        *("loss", "gap_error", "smallest_*"),
    ),
)
def curves(settings: CurvesSettings, loop: Loop) -> Iterator[Row]:
    """Compute a kernel or losses against x; nothing is random.

    Kernels: setting = "c = ..", method k or k_c, x = ||x - x'|| in one dimension; gap_error =
    max |k - k_c| - e^-c, which the mathematics makes 0, attained at x = 0.
    Losses: setting absolute (x = a - y) or hinge (x = y a), method "exact" or "s = .."; gap_error =
    max (smoothed - exact) - its formula; smallest_excess = min (smoothed - exact), never below 0.
    """
    low, high = settings.range
    x = np.linspace(low, high, settings.points)
    repetition = Repetition(loop.seeds, 0, {"repetition": 0})
    if settings.truncations:
        yield from _truncated_kernels(x, settings.truncations, repetition)
    if settings.sharpness:
        yield from _smoothed_losses(x, settings.sharpness, repetition)


def _truncated_kernels(x: Floats, cuts: list[float], repetition: Repetition) -> Iterator[Row]:
    """Compute the radial kernel and its truncations at every cut c."""
    k = surrogate.rational(x**2)
    for c in cuts:
        k_c = surrogate.truncated_rational(x**2, c)
        here = repetition.with_columns(setting=f"c = {c:g}")
        yield from here.curve("kernel", zip(x, k, strict=True), method="k")
        yield from here.curve("kernel", zip(x, k_c, strict=True), method="k_c")
        yield here.row("gap_error", np.abs(k - k_c).max() - np.exp(-c), method="k_c")
        yield here.row("smallest_ratio_error", (k_c / k).min() - (1 - np.exp(-c)), method="k_c")


def _smoothed_losses(x: Floats, sharpness: list[float], repetition: Repetition) -> Iterator[Row]:
    """Compute the exact losses and their smoothings at every sharpness s."""
    exact_losses = {"absolute": (x, np.abs(x)), "hinge": (x - 1.0, np.maximum(1.0 - x, 0))}
    for setting, (b, exact) in exact_losses.items():
        points = zip(x, exact, strict=True)
        yield from repetition.curve("loss", points, setting=setting, method="exact")
        for s in sharpness:
            smoothed = analytic_loss(f"smoothed_{setting}", s).value(b)
            excess = smoothed - exact
            here = repetition.with_columns(setting=setting, method=f"s = {s:g}")
            yield from here.curve("loss", zip(x, smoothed, strict=True))
            yield here.row("gap_error", excess.max() - smoothing_gap(s, hinge=setting == "hinge"))
            yield here.row("smallest_excess", excess.min())


# Two worlds that one noisy copy cannot tell apart (Theorems 8 and 9)

RADIUS2 = 2.25
"""Squared length B_w of the weights [-1.5, 1.5]."""
Function = Callable[[Floats], Floats]
WORLDS: dict[str, tuple[Function, Floats]] = {
    "A": (lambda w: ((3 * w - 1) ** 2 + (w + 1) ** 2) / 2, np.array(0.2)),
    "B": (lambda w: (w - 1) ** 2, np.array(1.0)),
}
"""World -> its expected loss F(w), and its best weight."""


class ImpossibilitySettings(Trials):
    """Settings of `two_worlds`: horizons, and a grid for the constants of other losses."""

    horizons: tasks.Horizons
    exponent_horizons: tasks.ExponentHorizons
    grid: int = Field(ge=3, description="weights on [-3, 3] for the constants of other losses")


@protocol(
    ImpossibilitySettings,
    labels=(
        *tasks.REGRET, "A", "B", "worse", "compromise", "naive", "told_*", "constant*",
        "running_mean", "two_copy", "streams", "largest_difference", "ks_p_value", "unavoidable",
        "squared", "exponential", "smoothed *", "logistic", "hinge", "best_*", "single*", "loss*",
    ),
)  # fmt: skip
def impossibility(settings: ImpossibilitySettings, loop: Loop) -> Iterator[Row]:
    """Measure regret in two worlds that one noisy copy cannot tell apart, against T.

    The regret is the expected one, with the weights fixed: sum_t F(w_t) - T min F.
    World A: x_t = 3 or -1 by a fair coin, no noise. World B: x_t = 1, noise 2 or -2. y_t = 1 in
    both. A single copy is 3 or -1 by a fair coin either way, so a learner of one copy plays the
    same weights in both worlds. No weight is good in both: 0.3056 per round is lost in one of
    them. Two
    copies differ in B.

    "worse": the larger regret of the two worlds. largest_difference: between the weights of the two
    worlds. The constants of other losses and the test of the two streams are rows of repetition 0.
    """
    from scipy.stats import ks_2samp

    for repetition in loop:
        runs: dict[tuple[str, str], tasks.Runs] = {}
        for T in settings.horizons:
            for method, weights in _weights(T, repetition).items():
                regrets = {}
                for world, (F, best) in WORLDS.items():
                    regrets[world] = float((F(weights[world]) - F(best)).sum())
                regrets["worse"] = max(regrets.values())
                for world, regret in regrets.items():
                    runs.setdefault((method, world), {})[T] = (regret, None)
                difference = float(np.abs(weights["A"] - weights["B"]).max())
                yield repetition.row("largest_difference", difference, method=method, x=T)
        for (method, world), by_horizon in runs.items():
            of_method = repetition.with_columns(method=method, noise=world)
            yield from tasks.regret_rows(of_method, by_horizon, settings.exponent_horizons)
        if repetition.number == 0:
            T = settings.horizons[-1]
            # T copies of A, and T independent ones of B.
            a = theory.copies(repetition.seeds.generator("streams", "A"), T)[:, 0]
            b = theory.copies(repetition.seeds.generator("streams", "B"), T)[:, 0]
            p = float(ks_2samp(a, b, method="asymp").pvalue)
            yield repetition.row("ks_p_value", p, method="streams", x=T)
            for name, loss in one_copy_losses().items():
                constants = theory.worlds(loss, points=settings.grid)._asdict()
                yield from repetition.rows(constants, method="constants", setting=name)


def _weights(T: int, repetition: Repetition) -> dict[str, dict[str, Floats]]:
    """Compute the weights (T,) of each method in each world.

    All learners see the same first copy, in both worlds.
    """
    first = theory.copies(repetition.rng(f"copy 1 {T}"), T)
    second = theory.copies(repetition.rng(f"copy 2 {T}"), T)
    y = np.ones(T)
    one = np.ones((T, 1))  # the weight is the prediction on x = 1
    eta = theory.best_step(RADIUS2, theory.two_copy_moment(RADIUS2, 9.0, 1.0), T)
    weights: dict[str, dict[str, Floats]] = {}
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
            weights.setdefault(method, {})[world] = w
    return weights


def _running_mean(x: Floats) -> Floats:
    """Compute the weight w_t = 1 / mean of earlier copies, cut to [-1.5, 1.5].

    It is the best weight if the mean were the instance.
    """
    mean = np.cumsum(x)[:-1] / np.arange(1, len(x))
    with np.errstate(divide="ignore"):
        return np.concatenate([[0.0], np.clip(1 / mean, -1.5, 1.5)])


def one_copy_losses() -> dict[str, Function]:
    """List the losses of a prediction a at label 1 for which constants are computed."""

    def at_one(loss: AnalyticLoss) -> Function:
        return lambda a: loss.loss(a, np.ones_like(a))

    losses = {name: at_one(analytic_loss(name)) for name in ("squared", "exponential")}
    for name in ("hinge", "absolute"):
        losses[f"smoothed {name} s = 1"] = at_one(analytic_loss(f"smoothed_{name}", 1.0))
    losses["logistic"] = lambda a: np.logaddexp(0, -a)
    losses["hinge"] = lambda a: np.maximum(0, 1 - a)
    return losses
