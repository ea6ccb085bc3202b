"""Checks of the paper's theorems: identities, lemmas, and what no learner of one copy can do."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Literal, NamedTuple, Self

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
from noisylabels.validation import Floats, Ints
from reproduction.run.protocol_loop import Loop, Repetition, Row
from reproduction.spec.protocol import protocol
from reproduction.spec.settings import Distinct, Positive, Settings, Some, Trials

Found = tuple[str, Floats | None, float] | tuple[str, Floats | None, float, float]
"""Name of an identity, its samples (n,) if measured, their predicted mean, and a bound if any."""


# Every identity behind the algorithms: Most are measured with functions that the learners use;
# the gradients are written out


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
        "gradients": gradient_identities,
        "lemma 1": lemma1_identities,
        "surrogate kernels": kernel_identities,
        "copies": copies_identities,
        "scored on noise": scoring_identities,
        "bounds": moment_identities,
    }
    for repetition in loop:
        for group in settings.groups:
            rng = repetition.rng(group)
            for name, samples, predicted, *bound in measured[group](settings.samples, rng):
                values = _measure(samples, predicted)
                if bound:
                    values["bound"] = bound[0]
                    values["bound_ratio"] = predicted / bound[0]
                yield from repetition.rows(values, setting=group, method=name)


def _measure(samples: Floats | None, predicted: float) -> dict[str, float]:
    """Compare the mean of the samples, if there are any, with its prediction."""
    values = {"predicted": predicted}
    if samples is not None:
        mean = float(samples.mean())
        se = float(samples.std(ddof=1)) / np.sqrt(len(samples))
        values["measured"] = mean
        values["se"] = se
        values["z"] = (mean - predicted) / se
    return values


X = np.array([0.5, -0.3, 0.6])
W = np.array([0.4, 0.7, -0.2])
SIGMA = np.array([[0.30, 0.10, 0.00], [0.10, 0.25, -0.05], [0.00, -0.05, 0.20]])
Y = 0.8
NOISE_Y = 0.3


def gradient_identities(n: int, rng: np.random.Generator) -> Iterator[Found]:
    """Measure Lemmas 2 and 3: gradient estimates from noisy copies, and their second moments."""
    root = np.linalg.cholesky(SIGMA)
    first = X + rng.standard_normal((n, 3)) @ root.T
    second = X + rng.standard_normal((n, 3)) @ root.T
    y = Y + NOISE_Y * rng.standard_normal(n)
    residual = first @ W - y
    one_copy = 2 * residual[:, None] * first
    two_copies = 2 * residual[:, None] * second
    known_covariance = one_copy - 2 * SIGMA @ W
    gradient = 2 * (W @ X - Y) * X
    bias = 2 * (SIGMA @ W)
    for i in range(3):
        number = i + 1
        exact = float(gradient[i])
        yield f"two copies: gradient {number}", two_copies[:, i], exact
        biased = float(gradient[i] + bias[i])
        yield f"one copy: gradient {number} + 2 (Sigma w)", one_copy[:, i], biased
        yield f"known covariance: gradient {number}", known_covariance[:, i], exact
    B_w = float(W @ W)
    B_x = float(X @ X + np.trace(SIGMA))
    label_variance = NOISE_Y**2
    B_y = Y**2 + label_variance
    clean_residual = W @ X - Y
    prediction_variance = W @ SIGMA @ W
    squared_residual = clean_residual**2 + prediction_variance + label_variance
    second_moment = float(4 * squared_residual * B_x)
    G_1 = theory.two_copy_moment(B_w, B_x, B_y)
    lengths = _squared_lengths(two_copies)
    yield "two copies: squared length", lengths, second_moment, G_1
    fourth_moments = theory.gaussian_fourth_moment(X[None, :], SIGMA)
    M_4 = float(fourth_moments[0])
    lengths = _squared_lengths(first)
    yield "fourth moment of a copy", lengths**2, M_4
    variances = np.linalg.eigvalsh(SIGMA)
    largest_variance = float(variances[-1])
    G_2 = theory.known_covariance_moment(B_w, M_4, B_x, B_y, largest_variance)
    second_moment = _exact_moment_of_known_covariance()
    lengths = _squared_lengths(known_covariance)
    yield "known covariance: squared length", lengths, second_moment, G_2
    yield from _hardest_worlds(rng.spawn(1)[0])


TRIED_WORLDS = 1000
"""Random worlds in which a bound on a second moment is computed."""


class World(NamedTuple):
    """A weight, an example, and Gaussian noise on it and on its label."""

    w: Floats  # (d,)
    x: Floats  # (d,)
    y: float
    Sigma: Floats  # (d, d), covariance of the noise on x
    label_variance: float

    def squares(self) -> tuple[float, float, float]:
        """Compute B_w, B_x and B_y."""
        B_w = float(self.w @ self.w)
        B_x = float(self.x @ self.x + np.trace(self.Sigma))
        return B_w, B_x, self.y**2 + self.label_variance

    def squared_residual(self) -> float:
        """Compute the mean of (w . noisy x - noisy y)^2."""
        residual = self.w @ self.x - self.y
        return float(residual**2 + self.w @ self.Sigma @ self.w + self.label_variance)

    def two_copies(self) -> tuple[float, float]:
        """Compute the second moment of the gradient from two copies, and its bound."""
        B_w, B_x, B_y = self.squares()
        return 4 * self.squared_residual() * B_x, theory.two_copy_moment(B_w, B_x, B_y)

    def known_covariance(self) -> tuple[float, float]:
        """Compute the second moment of the gradient with a known covariance, and its bound."""
        B_w, B_x, B_y = self.squares()
        shift = self.Sigma @ self.w
        residual = self.w @ self.x - self.y
        crossed = 2 * residual * (shift @ self.x)
        moment = 4 * float(self.squared_residual() * B_x + crossed + shift @ shift)
        M_4 = float(theory.gaussian_fourth_moment(self.x[None, :], self.Sigma)[0])
        largest_variance = float(np.linalg.eigvalsh(self.Sigma)[-1])
        return moment, theory.known_covariance_moment(B_w, M_4, B_x, B_y, largest_variance)


def draw_world(rng: np.random.Generator, d: int) -> World:
    """Draw a world whose parts have lengths between 0.01 and 100.

    In every second one the weight and the example point the same way and the label is on the other
    side; in every second one the noise is one thousandth of its size.
    """
    lengths = 10.0 ** rng.uniform(-2, 2, 5)
    w = rng.standard_normal(d)
    x = rng.standard_normal(d)
    y = rng.standard_normal()
    root = rng.standard_normal((d, d))
    if rng.random() < 0.5:
        x = w.copy()
        y = -abs(y)
    noise = 1e-3 if rng.random() < 0.5 else 1.0
    Sigma = (noise * lengths[3]) ** 2 * (root @ root.T)
    return World(lengths[0] * w, lengths[1] * x, lengths[2] * y, Sigma, (noise * lengths[4]) ** 2)


def _hardest_worlds(rng: np.random.Generator) -> Iterator[Found]:
    """Give the second moments and bounds of Lemmas 2 and 3 where their ratio is largest."""
    lemmas = {"two copies": World.two_copies, "known covariance": World.known_covariance}
    for d in (1, 3, 10):
        worlds = [draw_world(rng, d) for _ in range(TRIED_WORLDS)]
        for name, compute in lemmas.items():
            pairs = [compute(world) for world in worlds]
            moment, bound = max(pairs, key=lambda pair: pair[0] / pair[1])
            yield f"{name}: largest of {TRIED_WORLDS} worlds in d = {d}", None, moment, bound


def _squared_lengths(rows: Floats) -> Floats:
    return (rows**2).sum(axis=1)


def _exact_moment_of_known_covariance() -> float:
    """Integrate the squared length of the estimate with a known covariance."""
    z, mass = _gauss_hermite(6, 3)  # exact up to degree 11, and 4 is needed here
    root = np.linalg.cholesky(SIGMA)
    x = X + z @ root.T
    residual = x @ W - Y
    one_copy = 2 * residual[:, None] * x
    gradients = one_copy - 2 * SIGMA @ W
    by_label_noise = 4 * NOISE_Y**2 * _squared_lengths(x)
    lengths = _squared_lengths(gradients) + by_label_noise
    return float(mass @ lengths)


def _gauss_hermite(nodes: int, d: int) -> tuple[Floats, Floats]:
    """Make the points (nodes^d, d) and masses of the standard normal distribution."""
    z, weights = np.polynomial.hermite_e.hermegauss(nodes)
    masses = weights / weights.sum()
    points = _grid(z, d)
    factors = _grid(masses, d)
    return points, np.prod(factors, axis=1)


def _grid(values: Floats, d: int) -> Floats:
    """Make all points (len(values)^d, d) with coordinates from the values."""
    axes = [values] * d
    coordinates = np.meshgrid(*axes)
    columns = [coordinate.ravel() for coordinate in coordinates]
    return np.stack(columns, axis=1)


Law = Callable[[np.random.Generator, int], Floats]
"""Draws a number of independent copies."""


HALF_ROOT = np.sqrt(0.5)


def _draw_narrow_normal(rng: np.random.Generator, count: int) -> Floats:
    return 0.5 + HALF_ROOT * rng.standard_normal(count)


def _draw_normal(rng: np.random.Generator, count: int) -> Floats:
    return HALF_ROOT + HALF_ROOT * rng.standard_normal(count)


def _draw_bernoulli(rng: np.random.Generator, count: int) -> Floats:
    return 2 * HALF_ROOT * rng.integers(0, 2, count)


def _draw_student(rng: np.random.Generator, count: int) -> Floats:
    return np.sqrt(3 / 5) * rng.standard_t(5, count)


LAWS: dict[str, tuple[float, Law]] = {
    "normal": (HALF_ROOT, _draw_normal),
    "Bernoulli": (HALF_ROOT, _draw_bernoulli),
    "Student": (0.0, _draw_student),
}
"""Laws of X with E X^2 = 1, with their means."""


def lemma1_identities(n: int, rng: np.random.Generator) -> Iterator[Found]:
    """Measure Lemma 1 at p = 2: means, second moments, and the number of copies with its tail.

    First f = exp and X ~ N(0.5, 0.5), then four f and three laws of X with E X^2 = 1. Then the same
    at other p, with the normal law and second moments by their formula alone.
    """
    p = 2.0
    factorials = np.cumprod(np.concatenate([[1.0], np.arange(1.0, 61.0)]))
    gamma = 1 / factorials
    theta, counts = theory.estimates(gamma, p, _draw_narrow_normal, rng, n)
    yield "estimate of exp(E X)", theta, float(np.exp(0.5))
    moment = theory.second_moment(gamma, p, 0.75)
    bound = theory.second_moment_bound(gamma, p, 0.75)
    yield "its second moment", theta**2, moment, bound
    yield "number of copies", counts.astype(float), 1 / (p - 1)
    for z in (2, 5):
        counts = theory.degrees(rng, p, n)
        has_copies = counts >= z
        yield f"P(copies >= {z})", has_copies.astype(float), p**-z
    for other_p in (1.25, 4.0):
        counts = theory.degrees(rng, other_p, n)
        expected = 1 / (other_p - 1)
        yield f"number of copies at p = {other_p:g}", counts.astype(float), expected
    for name, gamma in taylor().items():
        moment = theory.second_moment(gamma, p, 1.0)
        bound = theory.second_moment_bound(gamma, p, 1.0)
        for law, (mean, draw) in LAWS.items():
            theta, _ = theory.estimates(gamma, p, draw, rng, n)
            truth = _evaluate_series(gamma, mean)
            yield f"estimate of f(E X) for {name} and the {law} law", theta, truth
            if law == "normal":
                yield f"its second moment for {name}", theta**2, moment, bound
    yield from _lemma1_at_other_p(n, rng)


def _evaluate_series(gamma: Floats, x: float) -> float:
    """Evaluate a function by its Taylor coefficients."""
    value = np.polynomial.polynomial.polyval(x, gamma)
    return float(value)


def _lemma1_at_other_p(n: int, rng: np.random.Generator) -> Iterator[Found]:
    """Measure Lemma 1 at p = 1.25, 1.5, 3 and 4, for four f and normal X."""
    mean, draw = LAWS["normal"]
    for p in (1.25, 1.5, 3.0, 4.0):
        counts = theory.degrees(rng, p, n)
        if p in (1.5, 3.0):  # the numbers at 1.25 and 4 are measured above
            yield f"number of copies at p = {p:g}", counts.astype(float), 1 / (p - 1)
        has_copies = counts >= 2
        yield f"P(copies >= 2) at p = {p:g}", has_copies.astype(float), p**-2
        for name, gamma in taylor().items():
            theta, _ = theory.estimates(gamma, p, draw, rng, n)
            truth = _evaluate_series(gamma, mean)
            yield f"estimate of f(E X) for {name} at p = {p:g}", theta, truth
            moment = theory.second_moment(gamma, p, 1.0)
            bound = theory.second_moment_bound(gamma, p, 1.0)
            yield f"its second moment for {name} at p = {p:g}", None, moment, bound


def taylor(degree: int = 160) -> dict[str, Floats]:
    """List the first Taylor coefficients of four functions.

    Terms beyond the degree are below 1e-100 here.
    """
    n = np.arange(degree + 1)
    is_even = n % 2 == 0
    half = n // 2
    signs = np.where(half % 2, -1.0, 1.0)
    log_factorials = gammaln(n + 1)
    inverse_factorials = np.exp(-log_factorials)
    log_factorials_of_half = gammaln(half + 1)
    inverse_factorials_of_half = np.exp(-log_factorials_of_half)
    scale = 2 / np.sqrt(np.pi)
    positive_n = np.maximum(n, 1)
    erf = scale * signs * inverse_factorials_of_half / positive_n
    erf_of_half = erf * 0.5**n
    gaussian = signs * inverse_factorials_of_half
    return {
        "exp(a)": inverse_factorials,
        "erf(a / 2)": np.where(is_even, 0.0, erf_of_half),
        "erf(a)": np.where(is_even, 0.0, erf),
        "exp(-a^2)": np.where(is_even, gaussian, 0.0),
    }


def copies_identities(n: int, rng: np.random.Generator) -> Iterator[Found]:
    """Measure how many copies a round of Algorithm 4 needs, by p alone."""
    n = max(n // 10, 1000)

    def draw_noise(rounds: Ints) -> Floats:
        return 0.3 * rng.standard_normal((len(rounds), 1))

    loss = analytic_loss("squared")
    X = np.zeros((n, 1))
    y = np.zeros(n)
    kernels = {"dot-product": tensor.linear(), "Gaussian": tensor.gaussian(4.0)}
    for name, kernel in kernels.items():
        is_gaussian = name == "Gaussian"
        for p in (1.25, 1.5, 2.0, 4.0):
            learner = AnalyticKernel(kernel, loss, 1e-9, rng, p)
            run = learner.run(X, draw_noise, y)
            counts = run.queries
            expected = theory.mean_queries(p, gaussian=is_gaussian)
            rounded_up = int(np.ceil(expected))
            largest_number = 40 * rounded_up + 40
            law = theory.pmf(p, largest_number, gaussian=is_gaussian)
            mode = int(law.argmax())
            is_mode = counts == mode
            case = f"{name} kernel at p = {p:g}"
            yield f"{case}: copies of a round", counts.astype(float), expected
            probability = float(law[mode])
            yield f"{case}: P({mode} copies)", is_mode.astype(float), probability


A = np.array([[0.2, -0.4]])
Z = np.array([[-0.1, 0.5]])
V = np.array([0.2, 0.1])
CENTRES = np.array([[0.3, 0.1], [-0.6, 0.2], [0.0, -0.5]])
ALPHA = np.array([0.7, -0.4, 0.9])


def kernel_identities(n: int, rng: np.random.Generator) -> Iterator[Found]:
    """Measure Lemma 6 and its blurred counterpart, also with a full covariance.

    Then equation (8), and the inner products of Algorithm 3. Last, Lemma 6 at more pairs of points.
    """
    sd = np.sqrt(V)
    noisy = A + rng.standard_normal((n, 2)) * sd
    second = A + rng.standard_normal((n, 2)) * sd
    gauss = surrogate.gaussian_pair(1.0, V)
    exact_matrix = gauss.kernel(A, Z)
    exact = float(exact_matrix[0, 0])
    estimates = gauss.surrogate(noisy, Z)
    yield "surrogate of the Gaussian kernel", estimates[:, 0], exact
    blurred_matrix = gauss.blurred(A, Z, V)
    blurred = float(blurred_matrix[0, 0])
    plain = gauss.kernel(noisy, Z)
    yield "plain Gaussian kernel: blurred", plain[:, 0], blurred
    rotated = _draw_rotated_surrogate(n, rng)
    yield "full covariance: rotated", rotated, exact
    squared_difference = (A - Z) ** 2
    half_distance = float(squared_difference.sum()) / 2
    for c in (1.5, 3.0):
        radial = surrogate.rational_pair(c, V)
        estimates = radial.surrogate(noisy, Z)[:, 0]
        truncated = float(surrogate.truncated_rational(half_distance, c))
        yield f"surrogate of the radial kernel cut at {c:g}", estimates, truncated
    yield from _inner_product_identities(gauss, noisy, second)
    yield from _lemma6_at_other_pairs(n, rng)


def _lemma6_at_other_pairs(n: int, rng: np.random.Generator) -> Iterator[Found]:
    """Measure Lemma 6 in 1, 2 and 5 dimensions, at three widths, for three random pairs each.

    Each pair has its own variances, drawn between 0.05 and 0.35 of sigma^2 (below one half).
    """
    for d, sigma2, number in product((1, 2, 5), (0.5, 1.0, 4.0), (1, 2, 3)):
        clean = 0.5 * rng.standard_normal((1, d))
        other = 0.5 * rng.standard_normal((1, d))
        variances = sigma2 * rng.uniform(0.05, 0.35, d)
        pair = surrogate.gaussian_pair(sigma2, variances)
        sd = np.sqrt(variances)
        noisy = clean + rng.standard_normal((n, d)) * sd
        exact_matrix = pair.kernel(clean, other)
        exact = float(exact_matrix[0, 0])
        case = f"pair {number} at d = {d} and sigma^2 = {sigma2:g}"
        estimates = pair.surrogate(noisy, other)
        yield f"surrogate of the Gaussian kernel: {case}", estimates[:, 0], exact


def _draw_rotated_surrogate(n: int, rng: np.random.Generator) -> Floats:
    """Draw the surrogate of the Gaussian kernel on noise with a full covariance."""
    Sigma = np.array([[0.15, 0.08], [0.08, 0.20]])
    values, U = rotation(Sigma)
    root = np.linalg.cholesky(Sigma)
    noisy = A + rng.standard_normal((n, 2)) @ root.T
    pair = surrogate.gaussian_pair(1.0, values)
    rotated = noisy @ U
    estimates = pair.surrogate(rotated, Z @ U)
    return estimates[:, 0]


def _inner_product_identities(
    pair: surrogate.SurrogatePair,
    first: Floats,
    second: Floats,
) -> Iterator[Found]:
    """Measure the inner products of Algorithm 3, and the gradient along a gap of the kernel."""
    y = 0.3
    exact_matrix = pair.kernel(A, Z)
    exact_kernel = float(exact_matrix[0, 0])
    kernel_at_centres = pair.kernel(CENTRES, A)
    inner = float(ALPHA @ kernel_at_centres[:, 0])
    by_second = pair.surrogate(second, CENTRES) @ ALPHA
    yield "inner product with the second copy", by_second, inner
    by_first = pair.surrogate(first, CENTRES) @ ALPHA
    kernel_of_first = pair.surrogate(first, Z)
    gap = by_first - kernel_of_first[:, 0]
    clean_slope = 2 * (inner - y)
    clean_gap = inner - exact_kernel
    slope_of_second = 2 * (by_second - y)
    yield "gradient times gap: two copies", slope_of_second * gap, clean_slope * clean_gap
    slope_of_first = 2 * (by_first - y)
    points, mass = _gauss_hermite(80, 2)
    copies = A + points * np.sqrt(V)
    value = pair.surrogate(copies, CENTRES) @ ALPHA
    kernel_of_copies = pair.surrogate(copies, Z)
    gap_of_copies = value - kernel_of_copies[:, 0]
    slope_of_copies = 2 * (value - y)
    biased = float(mass @ (slope_of_copies * gap_of_copies))
    yield "gradient times gap: one copy twice", slope_of_first * gap, biased


def moment_identities(n: int, rng: np.random.Generator) -> Iterator[Found]:
    """Compute log10 of the rounds before which the bounds of Theorems 6 and 7 exceed T.

    The bounds are sqrt(B_w nu T), for copies of mean squared length 1.2, B_w = 1, p = 1.5: with the
    exact moments and, as the bound, those of the theorems. There are no samples.
    """
    kernels = {
        "linear": tensor.linear(),
        "polynomial": tensor.polynomial(2, scale=0.25),
        "Gaussian": tensor.gaussian(4.0),
    }
    p = 1.5
    losses = ("absolute", "hinge")
    for (name, kernel), loss, s in product(kernels.items(), losses, (0.25, 0.5, 1.0, 2.0)):
        smooth = analytic_loss(f"smoothed_{loss}", s)
        moment = theory.feature_moment(kernel, p, 1.2)
        log_nu = theory.log_gradient_moment(smooth, p, 1.0, moment, tight=True)
        loose_moment = theory.feature_moment_bound(kernel, p, 1.2)
        log_loose_nu = theory.log_gradient_moment(smooth, p, 1.0, loose_moment, tight=False)
        case = f"{name} kernel and smoothed {loss} s = {s:g}"
        exact = log_nu / np.log(10)
        bound = log_loose_nu / np.log(10)
        yield f"{case}: log10 of the rounds", None, exact, bound


def scoring_identities(n: int, rng: np.random.Generator) -> Iterator[Found]:
    """Measure losses that are scored on noisy inputs (Appendix A).

    The instance is x = w*/||w*||, y = ||w*||. w* itself loses ||w*||^2 v, the best fixed vector
    ||w*||^2 v / (1 + v), Algorithm 1 more than that floor.
    """
    w = tasks.target([0.6, -0.5, 0.4], 0.9)
    length = float(np.linalg.norm(w))
    x = w / length
    y = np.full(n, length)
    for v in (0.1, 0.25, 1.0):
        sd = np.sqrt(v)
        first = x + sd * rng.standard_normal((n, 3))
        second = x + sd * rng.standard_normal((n, 3))
        prediction = first @ w
        losses = (prediction - y) ** 2
        yield f"w* itself at v = {v:g}", losses, length**2 * v
        floor = theory.scored_on_noise(w, v)
        best_prediction = prediction / (1 + v)
        losses = (best_prediction - y) ** 2
        yield f"best fixed vector at v = {v:g}", losses, floor
        B_x = 1 + 3 * v
        G_1 = theory.two_copy_moment(1.0, B_x, length**2)
        eta = theory.best_step(1.0, G_1, n)
        learner = TwoCopy(eta, 1.0)
        run = learner.run(first, first.copy(), second, y)
        losses = (run.predictions - y) ** 2
        mean_loss = float(losses.mean())
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
    squares = x**2
    k = surrogate.rational(squares)
    for c in cuts:
        k_c = surrogate.truncated_rational(squares, c)
        of_cut = repetition.with_columns(setting=f"c = {c:g}")
        yield from of_cut.curve("kernel", zip(x, k, strict=True), method="k")
        yield from of_cut.curve("kernel", zip(x, k_c, strict=True), method="k_c")
        gap = np.exp(-c)
        largest_gap = np.abs(k - k_c).max()
        yield of_cut.row("gap_error", largest_gap - gap, method="k_c")
        smallest_ratio = (k_c / k).min()
        yield of_cut.row("smallest_ratio_error", smallest_ratio - (1 - gap), method="k_c")


def _smoothed_losses(x: Floats, sharpness: list[float], repetition: Repetition) -> Iterator[Row]:
    """Compute the exact losses and their smoothings at every sharpness s."""
    margin = x - 1.0
    absolute = np.abs(x)
    hinge = np.maximum(1.0 - x, 0)
    exact_losses = {"absolute": (x, absolute), "hinge": (margin, hinge)}
    for setting, (b, exact) in exact_losses.items():
        points = zip(x, exact, strict=True)
        yield from repetition.curve("loss", points, setting=setting, method="exact")
        for s in sharpness:
            smoothed = analytic_loss(f"smoothed_{setting}", s).value(b)
            excess = smoothed - exact
            gap = smoothing_gap(s, hinge=setting == "hinge")
            of_loss = repetition.with_columns(setting=setting, method=f"s = {s:g}")
            yield from of_loss.curve("loss", zip(x, smoothed, strict=True))
            yield of_loss.row("gap_error", excess.max() - gap)
            yield of_loss.row("smallest_excess", excess.min())


# Two worlds that look the same with one noisy copy (Theorems 8 and 9)

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
    """Measure regret against T in two worlds that look the same with one noisy copy.

    The regret is the expected one, with the weights fixed: sum_t F(w_t) - T min F.
    World A: x_t = 3 or -1 by a fair coin, no noise. World B: x_t = 1, noise 2 or -2. y_t = 1 in
    both. A single copy is 3 or -1 by a fair coin either way, so a learner of one copy plays the
    same weights in both worlds. No weight is good in both: 0.3056 per round is lost in one of
    them. Two copies differ in B.

    "worse": the larger regret of the two worlds. largest_difference: between the weights of the two
    worlds. The constants of other losses and the test of the two streams are rows of repetition 0.
    """
    for repetition in loop:
        runs: dict[tuple[str, str], tasks.Runs] = {}
        for T in settings.horizons:
            for method, weights in _weights(T, repetition).items():
                for world, regret in _regrets(weights).items():
                    by_horizon = runs.setdefault((method, world), {})
                    by_horizon[T] = (regret, None)
                differences = np.abs(weights["A"] - weights["B"])
                largest = float(differences.max())
                yield repetition.row("largest_difference", largest, method=method, x=T)
        for (method, world), by_horizon in runs.items():
            of_method = repetition.with_columns(method=method, noise=world)
            yield from tasks.regret_rows(of_method, by_horizon, settings.exponent_horizons)
        if repetition.number == 0:
            yield _compare_streams(settings.horizons[-1], repetition)
            for name, loss in one_copy_losses().items():
                constants = theory.worlds(loss, points=settings.grid)._asdict()
                yield from repetition.rows(constants, method="constants", setting=name)


def _regrets(weights: dict[str, Floats]) -> dict[str, float]:
    """Compute the regret of the weights (T,) in each world, and in the worse one."""
    regrets = {}
    for world, (F, best) in WORLDS.items():
        excess = F(weights[world]) - F(best)
        regrets[world] = float(excess.sum())
    regrets["worse"] = max(regrets.values())
    return regrets


def _compare_streams(T: int, repetition: Repetition) -> Row:
    """Test whether T copies of A and T independent ones of B have the same distribution."""
    from scipy.stats import ks_2samp

    copies_of_A = theory.copies(repetition.seeds.generator("streams", "A"), T)
    copies_of_B = theory.copies(repetition.seeds.generator("streams", "B"), T)
    test = ks_2samp(copies_of_A[:, 0], copies_of_B[:, 0], method="asymp")
    return repetition.row("ks_p_value", float(test.pvalue), method="streams", x=T)


def _weights(T: int, repetition: Repetition) -> dict[str, dict[str, Floats]]:
    """Compute the weights (T,) of each method in each world.

    All learners see the same first copy, in both worlds.
    """
    first = theory.copies(repetition.rng(f"copy 1 {T}"), T)
    second = theory.copies(repetition.rng(f"copy 2 {T}"), T)
    shifted = 1 + (first - 1)  # the clean instance of B and its noise
    weights_of_worlds = {
        "A": _play(first, first.copy(), 0.0),
        "B": _play(shifted, second, 4.0),
    }
    weights: dict[str, dict[str, Floats]] = {}
    for world, played in weights_of_worlds.items():
        for method, w in played.items():
            weights.setdefault(method, {})[world] = w
    return weights


def _play(first: Floats, second: Floats, variance: float) -> dict[str, Floats]:
    """Compute the weights (T,) of each method from two copies (T, 1) and the true variance."""
    T = len(first)
    y = np.ones(T)
    instance = np.ones((T, 1))  # the weight is the prediction on x = 1
    G_1 = theory.two_copy_moment(RADIUS2, 9.0, 1.0)
    eta = theory.best_step(RADIUS2, G_1, T)
    naive = NaiveOGD(eta, RADIUS2).run(instance, first, y)
    two_copy = TwoCopy(eta, RADIUS2).run(instance, first, second, y)
    played = {
        "naive": naive.predictions,
        "constant": np.full(T, 1 / np.sqrt(5)),
        "running_mean": _running_mean(first[:, 0]),
        "two_copy": two_copy.predictions,
    }
    for method, assumed in (("told_0", 0.0), ("told_4", 4.0), ("told_truth", variance)):
        learner = KnownCovariance(eta, RADIUS2)
        run = learner.run(instance, first, y, variances=np.array([assumed]))
        played[method] = run.predictions
    return played


def _running_mean(x: Floats) -> Floats:
    """Compute the weight w_t = 1 / mean of earlier copies, cut to [-1.5, 1.5].

    It is the best weight if the mean were the instance.
    """
    counts = np.arange(1, len(x))
    sums = np.cumsum(x)
    mean = sums[:-1] / counts
    with np.errstate(divide="ignore"):
        weights = np.clip(1 / mean, -1.5, 1.5)
    return np.concatenate([[0.0], weights])


def one_copy_losses() -> dict[str, Function]:
    """List the losses of a prediction a at label 1 for which constants are computed."""

    def at_label_1(loss: AnalyticLoss) -> Function:
        return lambda a: loss.loss(a, np.ones_like(a))

    losses = {name: at_label_1(analytic_loss(name)) for name in ("squared", "exponential")}
    for name in ("hinge", "absolute"):
        smoothed = analytic_loss(f"smoothed_{name}", 1.0)
        losses[f"smoothed {name} s = 1"] = at_label_1(smoothed)
    losses["logistic"] = lambda a: np.logaddexp(0, -a)
    losses["hinge"] = lambda a: np.maximum(0, 1 - a)
    return losses
