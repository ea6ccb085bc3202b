"""The theorems of noisy_online, checked: identities, laws, lemmas, and what no learner of one copy can do."""

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
"""Name, samples (n,) if it is measured, their predicted mean, and a bound of it where there is one."""


# Every identity that the algorithms rest on, measured with the functions that the learners use


class IdentitiesSettings(Trials):
    """Predicted and measured means."""

    groups: Distinct[
        Literal["gradients", "lemma 1", "surrogate kernels", "copies", "scored on noise", "bounds"]
    ]
    samples: int = Field(ge=2)


NAMES = (
    "* kernel: *", "* kernel at p = *", "* at v = *", "surrogate of the *", "gradient *", "one copy: *",
    "two copies: *", "known covariance: *", "full covariance: *", "P(copies >= *)", "*copies*",
    "fourth moment of a copy", "inner product with the second copy", "its second moment*", "estimate of *",
    "* kernel and smoothed *",
)  # fmt: skip
"""Names of identities."""


@protocol(IdentitiesSettings, labels=(*NAMES, "predicted", "measured", "se", "z", "bound", "bound_ratio"))
def identities(settings: IdentitiesSettings, loop: Loop) -> Iterator[Row]:
    """Rows; setting = group, method = name; predicted, measured, se and z = (measured - predicted) / se.

    Where a bound is known: bound and bound_ratio = predicted / bound.
    """
    measured: dict[str, Callable[[int, np.random.Generator], Iterator[Found]]] = {
        "gradients": gradient_identities, "lemma 1": lemma1_identities,
        "surrogate kernels": kernel_identities, "copies": copies_identities,
        "scored on noise": scoring_identities, "bounds": moment_identities,
    }  # fmt: skip
    for repetition in loop:
        for group in settings.groups:
            for name, samples, predicted, *bound in measured[group](settings.samples, repetition.rng(group)):
                values = {"predicted": predicted}
                if samples is not None:
                    mean, se = float(samples.mean()), float(samples.std(ddof=1)) / np.sqrt(len(samples))
                    values |= {"measured": mean, "se": se, "z": (mean - predicted) / se}
                values |= {"bound": bound[0], "bound_ratio": predicted / bound[0]} if bound else {}
                yield from repetition.rows(values, setting=group, method=name)


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
    G_1 = theory.two_copy_moment(B_w, B_x, B_y)
    yield "two copies: squared length", (two**2).sum(axis=1), float(exact), G_1
    M_4 = float(theory.gaussian_fourth_moment(X[None, :], SIGMA)[0])
    yield "fourth moment of a copy", (first**2).sum(axis=1) ** 2, M_4
    G_2 = theory.known_covariance_moment(B_w, M_4, B_x, B_y, float(np.linalg.eigvalsh(SIGMA)[-1]))
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
    """Lemma 1 at p = 2: means, second moments, number of copies, its tail.

    First f = exp and X ~ N(0.5, 0.5), then four f and three laws of X with E X^2 = 1.
    """
    p, gamma = 2.0, 1 / np.cumprod(np.concatenate([[1.0], np.arange(1.0, 61.0)]))
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
                bound = theory.second_moment_bound(gamma, p, 1.0)
                yield f"its second moment for {name}", theta**2, theory.second_moment(gamma, p, 1.0), bound


def taylor(degree: int = 160) -> dict[str, Floats]:
    """Taylor coefficients gamma_0.. of four functions; terms beyond the degree are below 1e-100 here."""
    n = np.arange(degree + 1)
    even, signs, half = n % 2 == 0, np.where(n // 2 % 2, -1.0, 1.0), np.exp(-gammaln(n // 2 + 1))
    erf = 2 / np.sqrt(np.pi) * signs * half / np.maximum(n, 1)
    return {
        "exp(a)": np.exp(-gammaln(n + 1)),
        "erf(a / 2)": np.where(even, 0.0, erf * 0.5**n),
        "erf(a)": np.where(even, 0.0, erf),
        "exp(-a^2)": np.where(even, signs * half, 0.0),
    }


def copies_identities(n: int, rng: np.random.Generator) -> Iterator[Found]:
    """Copies that a round of Algorithm 4 asks for: their mean and most probable number, by p alone."""
    n = max(n // 10, 1000)
    for name, kernel in {"dot-product": tensor.linear(), "Gaussian": tensor.gaussian(4.0)}.items():
        for p in (1.25, 1.5, 2.0, 4.0):
            learner = AnalyticKernel(kernel, analytic_loss("squared"), 1e-9, rng, p)
            noise = lambda rounds: 0.3 * rng.standard_normal((len(rounds), 1))  # noqa: E731
            counts = learner.run(np.zeros((n, 1)), noise, np.zeros(n)).queries
            expected = theory.mean_queries(p, gaussian=name == "Gaussian")
            law = theory.pmf(p, 40 * int(np.ceil(expected)) + 40, gaussian=name == "Gaussian")
            k = int(law.argmax())
            yield f"{name} kernel at p = {p:g}: copies of a round", counts.astype(float), expected
            yield f"{name} kernel at p = {p:g}: P({k} copies)", (counts == k).astype(float), float(law[k])


A, Z = np.array([[0.2, -0.4]]), np.array([[-0.1, 0.5]])
V = np.array([0.2, 0.1])
CENTRES = np.array([[0.3, 0.1], [-0.6, 0.2], [0.0, -0.5]])
ALPHA = np.array([0.7, -0.4, 0.9])


def kernel_identities(n: int, rng: np.random.Generator) -> Iterator[Found]:
    """Lemma 6, its blurred counterpart, a full covariance, equation (8), inner products of Algorithm 3."""
    noisy, again = (A + rng.standard_normal((n, 2)) * np.sqrt(V) for _ in range(2))
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
        radial, z = surrogate.rational_pair(c, V), float(((A - Z) ** 2).sum()) / 2
        name = f"surrogate of the radial kernel cut at {c:g}"
        yield name, radial.surrogate(noisy, Z)[:, 0], float(surrogate.truncated_rational(z, c))
    inner = float(ALPHA @ gauss.kernel(CENTRES, A)[:, 0])
    found = gauss.surrogate(again, CENTRES) @ ALPHA
    yield "inner product with the second copy", found, inner
    once = gauss.surrogate(noisy, CENTRES) @ ALPHA
    gain = once - gauss.surrogate(noisy, Z)[:, 0]
    plain = 2 * (inner - 0.3) * (inner - exact)
    yield "gradient times gap: two copies", 2 * (found - 0.3) * gain, plain
    same = 2 * (once - 0.3) * gain
    points, mass = _gauss_hermite(80, 2)
    points = A + points * np.sqrt(V)
    value = gauss.surrogate(points, CENTRES) @ ALPHA
    biased = float(mass @ (2 * (value - 0.3) * (value - gauss.surrogate(points, Z)[:, 0])))
    yield "gradient times gap: one copy twice", same, biased


def moment_identities(n: int, rng: np.random.Generator) -> Iterator[Found]:
    """log10 of the rounds nu B_w before which the bounds of Theorems 6 and 7, sqrt(B_w nu T), exceed T.

    Copies of mean squared length 1.2, B_w = 1, p = 1.5: with the exact moments and, as the bound, those of
    the theorems. Computed, without samples.
    """
    kernels = {
        "linear": tensor.linear(), "polynomial": tensor.polynomial(2, scale=0.25),
        "Gaussian": tensor.gaussian(4.0),
    }  # fmt: skip
    for (name, kernel), loss, s in product(kernels.items(), ("absolute", "hinge"), (0.25, 0.5, 1.0, 2.0)):
        smooth = analytic_loss(f"smoothed_{loss}", s)
        tight, loose = (
            theory.log_gradient_moment(smooth, 1.5, 1.0, moment(kernel, 1.5, 1.2), tight=tight) / np.log(10)
            for moment, tight in ((theory.feature_moment, True), (theory.feature_moment_bound, False))
        )
        yield f"{name} kernel and smoothed {loss} s = {s:g}: log10 of the rounds", None, tight, loose


def scoring_identities(n: int, rng: np.random.Generator) -> Iterator[Found]:
    """Appendix A: losses of x = w*/||w*||, y = ||w*||, scored on inputs with noise of variance v.

    w* itself loses ||w*||^2 v, the best fixed vector ||w*||^2 v / (1 + v), Algorithm 1 more than that floor.
    """
    w = tasks.target([0.6, -0.5, 0.4], 0.9)
    length = float(np.linalg.norm(w))
    for v in (0.1, 0.25, 1.0):
        first, second = (w / length + np.sqrt(v) * rng.standard_normal((n, 3)) for _ in range(2))
        floor, y = theory.scored_on_noise(w, v), np.full(n, length)
        yield f"w* itself at v = {v:g}", (first @ w - y) ** 2, length**2 * v
        yield f"best fixed vector at v = {v:g}", (first @ w / (1 + v) - y) ** 2, floor
        step = theory.best_step(1.0, theory.two_copy_moment(1.0, 1 + 3 * v, length**2), n)
        played = TwoCopy(step, 1.0).run(first, first.copy(), second, y).predictions
        yield f"floor beside Algorithm 1 at v = {v:g}", None, floor, float(((played - y) ** 2).mean())


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
def curves(settings: CurvesSettings, loop: Loop) -> Iterator[Row]:
    """kernel or loss against x, without randomness.

    Kernels: setting = "c = ..", method k or k_c, x = ||x - x'|| in one dimension; gap_error =
    max |k - k_c| - e^-c, which the mathematics makes 0, attained at x = 0.
    Losses: setting absolute (x = a - y) or hinge (x = y a), method "exact" or "s = .."; gap_error =
    max (smoothed - exact) - its formula; smallest_excess = min (smoothed - exact), never below 0.
    """
    low, high = settings.range
    x, repetition = np.linspace(low, high, settings.points), Repetition(loop.seeds, 0, {"repetition": 0})
    k = surrogate.rational(x**2)
    for c in settings.truncations or []:
        k_c, here = surrogate.truncated_rational(x**2, c), repetition.with_columns(setting=f"c = {c:g}")
        yield from here.curve("kernel", zip(x, k, strict=True), method="k")
        yield from here.curve("kernel", zip(x, k_c, strict=True), method="k_c")
        yield here.row("gap_error", np.abs(k - k_c).max() - np.exp(-c), method="k_c")
        yield here.row("smallest_ratio_error", (k_c / k).min() - (1 - np.exp(-c)), method="k_c")
    exact_losses = {"absolute": (x, np.abs(x)), "hinge": (x - 1.0, np.maximum(1.0 - x, 0))}
    for setting, (b, exact) in exact_losses.items() if settings.sharpness else ():
        yield from repetition.curve("loss", zip(x, exact, strict=True), setting=setting, method="exact")
        for s in settings.sharpness or []:
            above = analytic_loss(f"smoothed_{setting}", s).value(b)
            here, excess = repetition.with_columns(setting=setting, method=f"s = {s:g}"), above - exact
            yield from here.curve("loss", zip(x, above, strict=True))
            yield here.row("gap_error", excess.max() - smoothing_gap(s, hinge=setting == "hinge"))
            yield here.row("smallest_excess", excess.min())


# Two worlds that one noisy copy cannot tell apart (Theorems 8 and 9): who can be good in both?

RADIUS2 = 2.25
"""B_w of the weights [-1.5, 1.5]."""
Function = Callable[[Floats], Floats]
WORLDS: dict[str, tuple[Function, Floats]] = {
    "A": (lambda w: ((3 * w - 1) ** 2 + (w + 1) ** 2) / 2, np.array(0.2)),
    "B": (lambda w: (w - 1) ** 2, np.array(1.0)),
}
"""World -> F(w), the expected loss of a round, and its best weight."""


class ImpossibilitySettings(Trials):
    """Horizons, and a grid for the constants of other losses."""

    horizons: tasks.Horizons
    exponent_horizons: tasks.ExponentHorizons
    grid: int = Field(ge=3, description="weights on [-3, 3] for the constants of other losses")


@protocol(
    ImpossibilitySettings,
    labels=(
        *tasks.REGRET, "A", "B", "worse", "compromise", "naive", "told_*", "constant*", "running_mean",
        "two_copy", "streams", "largest_difference", "ks_p_value", "unavoidable", "squared", "exponential",
        "smoothed *", "logistic", "hinge", "best_*", "single*", "loss*",
    ),
)  # fmt: skip
def impossibility(settings: ImpossibilitySettings, loop: Loop) -> Iterator[Row]:
    """Rows; noise = world, x = T. The regret is the expected one given the weights, sum_t F(w_t) - T min F.

    World A: x_t = 3 or -1 by a fair coin, no noise. World B: x_t = 1, noise 2 or -2. y_t = 1 in both. A
    single copy is 3 or -1 by a fair coin either way, so a learner of one copy plays the same weights in both
    worlds, and no weight is good in both: 0.3056 per round is lost in one of them. Two copies differ in B.

    "worse": the larger regret of the two worlds. largest_difference: between the weights of the two worlds.
    The constants of other losses and the test of the two streams are rows of repetition 0.
    """
    from scipy.stats import ks_2samp

    for repetition in loop:
        runs: dict[tuple[str, str], tasks.Runs] = {}
        for T in settings.horizons:
            for method, weights in _weights(T, repetition).items():
                regrets = {w: float((F(weights[w]) - F(best)).sum()) for w, (F, best) in WORLDS.items()}
                for world, regret in (regrets | {"worse": max(regrets.values())}).items():
                    runs.setdefault((method, world), {})[T] = regret, None
                apart = float(np.abs(weights["A"] - weights["B"]).max())
                yield repetition.row("largest_difference", apart, method=method, x=T)
        for (method, world), found in runs.items():
            yield from tasks.regret_rows(
                repetition.with_columns(method=method, noise=world), found, settings.exponent_horizons
            )
        if repetition.number == 0:
            T = settings.horizons[-1]
            a, b = (theory.copies(repetition.seeds.generator("streams", world), T)[:, 0] for world in "AB")
            p = float(ks_2samp(a, b, method="asymp").pvalue)  # of T copies of A and T independent ones of B
            yield repetition.row("ks_p_value", p, method="streams", x=T)
            for name, loss in one_copy_losses().items():
                constants = theory.worlds(loss, points=settings.grid)._asdict()
                yield from repetition.rows(constants, method="constants", setting=name)


def _weights(T: int, repetition: Repetition) -> dict[str, dict[str, Floats]]:
    """Method -> world -> (T,) weights; all learners see the same first copy, in both worlds."""
    first, second = (theory.copies(repetition.rng(f"copy {i} {T}"), T) for i in (1, 2))
    y, one = np.ones(T), np.ones((T, 1))  # predictions on x = 1 are the weights
    eta = theory.best_step(RADIUS2, theory.two_copy_moment(RADIUS2, 9.0, 1.0), T)
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


def one_copy_losses() -> dict[str, Function]:
    """Losses of a prediction a with label 1, for what no learner of one copy avoids with |w| <= 3."""

    def at_one(loss: AnalyticLoss) -> Function:
        return lambda a: loss.loss(a, np.ones_like(a))

    losses = {name: at_one(analytic_loss(name)) for name in ("squared", "exponential")}
    for name in ("hinge", "absolute"):
        losses[f"smoothed {name} s = 1"] = at_one(analytic_loss(f"smoothed_{name}", 1.0))
    return losses | {"logistic": lambda a: np.logaddexp(0, -a), "hinge": lambda a: np.maximum(0, 1 - a)}
