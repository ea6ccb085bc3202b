"""Shared parts of the experiments on copies: clean sequences, noisy copies, comparators, regret."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import Field

from noisylabels.kernels import tensor
from noisylabels.kernels.tensor import TensorKernel
from noisylabels.noise.additive import FeatureNoise
from noisylabels.validation import Floats
from reproduction.run.protocol_loop import Repetition, Row
from reproduction.spec.settings import Count, Distinct, Model, NonNegative, Positive

PER_HORIZON = "each is a run with its sequence, noise and step"
Horizons = Annotated[
    Distinct[Count],
    Field(description=f"rounds T, or passes over a base set; {PER_HORIZON}"),
]
ExponentHorizons = Annotated[
    list[Annotated[int, Field(ge=2)]],
    Field(description="numbers of last horizons over which growth exponents are fitted"),
]
Ball = Annotated[float, Field(gt=0, description="bound B_w of the squared norm")]
Factors = Annotated[Distinct[Positive], Field(description="multiples of the theorem's step")]
Powers = Annotated[Distinct[Annotated[float, Field(gt=1)]], Field(description="p")]
Components = Annotated[int, Field(ge=1, description="principal components kept")]
Shape = Literal["gaussian", "rademacher", "uniform"]
TargetNoise = Annotated[
    NonNegative,
    Field(description="standard deviation of the noise on targets"),
]
REGRET = ("regret", "regret_per_round", "bound", "bound_ratio", "exponent")
"""Metrics of `regret_rows`."""
STEPS = 200
"""Number of bisections; each halves the interval of the multiplier's logarithm."""
TOLERANCE = 1e-9
"""Length of a projected step, relative to its step size, below which a search ends."""


# Kernels of Algorithm 4


class PolynomialTensor(Model):
    """Settings of the kernel scale (1 + <x, x'>)^degree."""

    polynomial: int = Field(ge=1, description="degree")
    scale: Positive


class GaussianTensor(Model):
    """Settings of the kernel exp(-||x - x'||^2 / sigma^2)."""

    gaussian: Positive = Field(description="sigma^2, the whole denominator")


Tensor = Literal["linear"] | PolynomialTensor | GaussianTensor


def tensor_kernel(spec: Tensor) -> TensorKernel:
    """Make the kernel of the settings."""
    if isinstance(spec, GaussianTensor):
        return tensor.gaussian(spec.gaussian)
    if isinstance(spec, PolynomialTensor):
        return tensor.polynomial(spec.polynomial, scale=spec.scale)
    return tensor.linear()


# Clean sequences


class Clean(NamedTuple):
    """A clean sequence, which the learner never sees: X (T, d) and y (T,)."""

    X: Floats
    y: Floats


@dataclass(frozen=True)
class Task:
    """A source of clean sequences of d inputs.

    Parameters
    ----------
    draw : callable
        Draws a clean sequence, from a number of rounds T and a generator.
    d : int
        Number of inputs.
    y_size : float
        Bound of |y_t|.
    rounds : int, default 1
        Rounds of one unit of the horizon: 1, or the number of rows of a base set.
    source : str, default "synthetic"
        The column ``source`` of the result table.
    """

    draw: Callable[[int, np.random.Generator], Clean]
    d: int
    y_size: float
    rounds: int = 1
    source: str = "synthetic"


@dataclass(frozen=True, kw_only=True)
class LinearTask(Task):
    """A task with the facts about its instances that theory may use.

    Parameters
    ----------
    A : ndarray of shape (d, d)
        E xx' of a round.
    b : ndarray of shape (d,)
        E yx of a round, so that the mean loss of w is w'Aw - 2b'w + E y^2.
    x_size : float
        Bound of ||x_t||.
    """

    A: Floats
    b: Floats
    x_size: float

    def excess(self, w: Floats, reference: Floats) -> float:
        """Subtract the mean clean loss of the other vector from that of w."""
        of_w = w @ self.A @ w - 2 * self.b @ w
        return float(of_w - reference @ self.A @ reference + 2 * self.b @ reference)


def sphere(w: Floats, spread: float) -> LinearTask:
    """Make the task with x_t uniform on the unit sphere and targets near a plane.

    The uniform part of y_t is clean too.
    """
    d = len(w)

    def draw(T: int, rng: np.random.Generator) -> Clean:
        X = rng.standard_normal((T, d))
        X /= np.sqrt(np.einsum("ij,ij->i", X, X))[:, None]
        return Clean(X, X @ w + rng.uniform(-spread, spread, T))

    y_size = float(np.linalg.norm(w)) + spread
    return LinearTask(draw, d, y_size, A=np.eye(d) / d, b=w / d, x_size=1.0)


def base_set(base: Clean, source: str) -> LinearTask:
    """Make the task of passing over a base set, in a new random order each time."""
    X, y = base

    def draw(T: int, rng: np.random.Generator) -> Clean:
        passes = T // len(y)
        order = np.concatenate([rng.permutation(len(y)) for _ in range(passes)])
        return Clean(X[order], y[order])

    return LinearTask(
        draw,
        d=X.shape[1],
        y_size=float(np.abs(y).max()),
        rounds=len(y),
        source=source,
        A=X.T @ X / len(y),
        b=X.T @ y / len(y),
        x_size=float(np.sqrt((X**2).sum(axis=1)).max()),
    )


def target(direction: list[float], length: float) -> Floats:
    """Make a vector from its direction and length."""
    v = np.asarray(direction, dtype=float)
    return np.asarray(length * v / np.linalg.norm(v))


def diabetes() -> Clean:
    """Load scikit-learn's diabetes data unscaled, 442 rows of 10 measurements."""
    from sklearn.datasets import load_diabetes

    return Clean(*load_diabetes(return_X_y=True, scaled=False))


def real(X: Floats, y: Floats, count: int, scale: float | None) -> Clean:
    """Make a base set of real data from its first principal components.

    Columns are standardised; constant ones are left out. The largest loading of each component is
    positive. Targets are centred, and the largest has size 1.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Inputs.
    y : ndarray of shape (n,)
        Targets.
    count : int
        Number of components.
    scale : float or None
        Standard deviation over all entries; None makes the longest row 1 long.
    """
    deviation = X.std(axis=0)
    varies = deviation > 0
    Z = (X[:, varies] - X[:, varies].mean(axis=0)) / deviation[varies]
    _, _, V = np.linalg.svd(Z, full_matrices=False)
    V = V[:count]
    largest_loading = np.abs(V).argmax(axis=1)
    signs = np.sign(V[np.arange(len(V)), largest_loading])
    Z = Z @ (V * signs[:, None]).T
    if scale is None:
        lengths = np.sqrt((Z**2).sum(axis=1))
        Z = Z / lengths.max()
    else:
        Z = Z / (Z.std() / scale)
    centred = y - y.mean()
    return Clean(Z, centred / np.abs(centred).max())


class Copies:
    """Noisy copies of a clean sequence, of which each number gives all learners the same copy.

    Parameters
    ----------
    clean : Clean
        The clean sequence.
    law : FeatureNoise
        The noise of the copies.
    rng : callable
        Makes the generator of a stream, such as ``512 copy 1`` and ``512 targets`` for 512 rounds.
    """

    def __init__(
        self,
        clean: Clean,
        law: FeatureNoise,
        rng: Callable[[str], np.random.Generator],
    ) -> None:
        self._clean = clean
        self._law = law
        self._rng = rng
        self._total = np.zeros_like(clean.X)
        self._count = 0
        self._stored: dict[int, Floats] = {}

    def copy(self, number: int) -> Floats:
        """Return the copies (T, d) with a number, from 1."""
        if number not in self._stored:
            T = len(self._clean.y)
            copy = self._clean.X + self._law.draw(self._rng(f"{T} copy {number}"), T)
            if number > 2:  # only the first two are used again
                return copy
            self._stored[number] = copy
        return self._stored[number]

    def mean(self, count: int) -> Floats:
        """Return the mean of the first ``count`` copies.

        Ask for growing counts: then every copy is added once.
        """
        if count < self._count:
            self._total = np.zeros_like(self._total)
            self._count = 0
        while self._count < count:
            self._count += 1
            self._total += self.copy(self._count)
        return self._total / count

    def targets(self, deviation: float) -> Floats:
        """Draw the targets y~_1..y~_T with Gaussian noise."""
        T = len(self._clean.y)
        return self._clean.y + deviation * self._rng(f"{T} targets").standard_normal(T)


# Comparators: the best fixed predictor on clean data. A solver that only nearly arrives would make
# regret look smaller, so every one checks that it has arrived.


class Comparator(NamedTuple):
    """Coefficients of the best predictor in the ball, and its total loss on the clean sequence."""

    coefficients: Floats
    loss: float


def best_linear(X: Floats, y: Floats, B_w: float) -> Comparator:
    """Find the best linear predictor of a sequence in the ball.

    It solves min sum_t (<w, x_t> - y_t)^2 subject to ||w||^2 <= B_w; X: (T, d), y: (T,).
    """
    w = best_quadratic(X.T @ X, X.T @ y, B_w)
    return Comparator(w, float(((X @ w - y) ** 2).sum()))


def best_quadratic(A: Floats, b: Floats, B_w: float) -> Floats:
    """Minimise a quadratic function in the ball.

    It solves min w'Aw - 2b'w subject to ||w||^2 <= B_w, by the eigenvalues of A and bisection of
    the multiplier.

    Parameters
    ----------
    A : ndarray of shape (d, d)
        Symmetric, positive semi-definite.
    b : ndarray of shape (d,)
        A vector in the range of A.
    B_w : float
        Bound of the squared norm.

    Returns
    -------
    ndarray of shape (d,)
        The minimiser w.

    Raises
    ------
    ValueError
        If A has a negative eigenvalue.
    RuntimeError
        If the multiplier of the constraint was not found to a relative 1e-10.
    """
    values, basis = np.linalg.eigh(A)
    if values[0] < -1e-10 * abs(values).max():
        smallest = f"smallest eigenvalue {values[0]:.3g}"
        raise ValueError(f"quadratic: A is not positive semi-definite, {smallest}")
    is_positive = values > 1e-13 * values[-1]
    z = np.where(is_positive, basis.T @ b, 0.0)
    values = np.where(is_positive, values, 1.0)  # z is 0 there, so the divisor does not matter

    def squared_norm(m: float) -> float:
        return float(((z / (values + m)) ** 2).sum())

    multiplier = _find_multiplier(squared_norm, B_w)
    return np.asarray(basis @ (z / (values + multiplier)))


def best_kernel(K: Floats, y: Floats, B_w: float) -> Comparator:
    """Find the best predictor in the ball of a kernel's function space.

    It solves min sum_t (f(x_t) - y_t)^2, f = sum_j gamma_j k(x_j, .), subject to
    gamma' K gamma <= B_w. The solution is kernel ridge, gamma = (K + lambda I)^+ y, with the lambda
    at which the constraint is met. Eigenvalues of K that rounding cannot tell from 0 are 0.
    K: (n, n) Gram matrix of the clean points. Raises RuntimeError : see `best_quadratic`.
    """
    values, basis = np.linalg.eigh(K)
    values[values <= len(K) * np.finfo(float).eps * values[-1]] = 0.0
    z = basis.T @ y

    def squared_norm(m: float) -> float:
        terms = values * (z / (values + m)) ** 2
        return float(terms[values > 0].sum())

    scale = values + _find_multiplier(squared_norm, B_w)
    gamma = basis @ np.divide(z, scale, out=np.zeros_like(z), where=scale > 0)
    return Comparator(gamma, float(((K @ gamma - y) ** 2).sum()))


def _find_multiplier(squared_norm: Callable[[float], float], B_w: float) -> float:
    """Find lambda >= 0 with squared_norm(lambda) = B_w, or 0 if that of 0 is in the ball."""
    with np.errstate(divide="ignore", invalid="ignore"):
        is_inside = squared_norm(0.0) <= B_w
    if is_inside:
        return 0.0
    low = 1e-300
    high = 1.0
    while squared_norm(high) > B_w:
        high *= 2.0
    for _ in range(STEPS):
        middle = float(np.sqrt(low * high))
        if squared_norm(middle) > B_w:
            low = middle
        else:
            high = middle
    reached = squared_norm(high)
    if not abs(reached - B_w) <= 1e-10 * B_w:
        raise _not_there(f"norm {reached:.12g} instead of {B_w:.12g} after {STEPS} bisections")
    return high


def _not_there(state: str) -> RuntimeError:
    consequence = "its loss is not known, so that regret cannot be reported"
    return RuntimeError(f"comparator: {state}; {consequence}")


def best_smooth(
    loss: Callable[[Floats], Floats],
    derivative: Callable[[Floats], Floats],
    features: Floats,
    B_w: float,
    most_steps: int = 50_000,
) -> Comparator:
    """Find the best linear predictor in the ball under a smooth loss.

    It solves min mean_t loss_t(<w, phi_t>) subject to ||w||^2 <= B_w, by accelerated projected
    gradient.

    Parameters
    ----------
    loss : callable
        Losses (n,) of the predictions a (n,).
    derivative : callable
        Their derivatives in a.
    features : ndarray of shape (n, D)
        Clean feature vectors phi_t.
    B_w : float
        Bound of the squared norm.
    most_steps : int, default 50,000
        Largest number of steps.

    Returns
    -------
    Comparator
        The predictor, and its total loss.

    Raises
    ------
    RuntimeError
        If the minimum was not found after ``most_steps``.
    """
    n = len(features)
    radius = float(np.sqrt(B_w))
    w = np.zeros(features.shape[1])
    ahead = w
    momentum = 1.0
    rate = 1.0

    def objective(v: Floats) -> float:
        return float(loss(features @ v).mean())

    def projected(v: Floats) -> Floats:
        norm = float(np.linalg.norm(v))
        return v * (radius / norm) if norm > radius else v

    residual = np.inf
    for _ in range(most_steps):
        gradient = features.T @ derivative(features @ ahead) / n
        value = objective(ahead)
        while True:
            following = projected(ahead - rate * gradient)
            step = following - ahead
            quadratic_bound = value + gradient @ step + step @ step / (2 * rate)
            if objective(following) <= quadratic_bound + 1e-15:
                break
            rate /= 2
        residual = float(np.linalg.norm(step)) / rate
        if residual < TOLERANCE:
            return Comparator(following, float(loss(features @ following).sum()))
        goes_uphill = (ahead - following) @ (following - w) > 0
        if goes_uphill:
            momentum = 1.0
        next_momentum = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = following + (momentum - 1) / next_momentum * (following - w)
        w = following
        momentum = next_momentum
    raise _not_there(f"residual {residual:.2g} after {most_steps} steps, tolerance {TOLERANCE:g}")


# Rows of regret

Runs = dict[int, tuple[float, float | None]]
"""Horizon T -> regret of a learner, and its bound where a theorem has one."""


def regret_rows(repetition: Repetition, runs: Runs, lasts: Iterable[int]) -> Iterator[Row]:
    """Make rows of regret, of its bound if there is one, and of exponents.

    The theorems bound the expectation: single runs may exceed the bound, but the mean of
    bound_ratio may not be above 1.
    """
    for T, (regret, bound) in runs.items():
        values = {"regret": regret, "regret_per_round": regret / T}
        if bound is not None:
            values |= {"bound": bound, "bound_ratio": regret / bound}
        yield from repetition.rows(values, x=T)
    regrets = {T: regret for T, (regret, _) in runs.items()}
    yield from exponents(repetition, "exponent", regrets, lasts)


def exponents(
    repetition: Repetition,
    metric: str,
    values: Mapping[int, float],
    lasts: Iterable[int],
) -> Iterator[Row]:
    """Make rows of the slope of log value on log T, x = number of last horizons.

    There is no row where a value is 0 or less.
    """
    for last in lasts:
        horizons = sorted(values)[-last:]
        tail = [values[T] for T in horizons]
        if len(horizons) == last and min(tail) > 0:
            log_T = np.log(np.asarray(horizons, dtype=float))
            log_T -= log_T.mean()
            log_value = np.log(tail)
            covariance = (log_T * (log_value - log_value.mean())).sum()
            yield repetition.row(metric, float(covariance / (log_T**2).sum()), x=last)
