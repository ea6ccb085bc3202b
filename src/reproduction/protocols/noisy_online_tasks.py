"""What the experiments of noisy_online share: clean sequences, noisy copies, comparators, rows of regret."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from noisylabels.noise.features import FeatureNoise
from noisylabels.seeding import Seeds
from noisylabels.validation import Floats
from reproduction.protocols.settings import Count, Distinct, NonNegative, Positive
from reproduction.protocols.walk import At, Row

Horizons = Annotated[
    Distinct[Count],
    Field(description="rounds T, or passes over a base set; each is a run with its sequence, noise and step"),
]
ExponentHorizons = Annotated[
    list[Annotated[int, Field(ge=2)]],
    Field(description="numbers of last horizons over which growth exponents are fitted"),
]
Ball = Annotated[float, Field(gt=0, description="bound B_w of the squared norm")]
Factors = Annotated[Distinct[Positive], Field(description="multiples of the theorem's step")]
Components = Annotated[int, Field(ge=1, description="principal components kept")]
Shape = Literal["gaussian", "rademacher", "uniform"]
TargetNoise = Annotated[NonNegative, Field(description="standard deviation of the noise on targets")]
REGRET = ("regret", "regret_per_round", "bound", "bound_ratio", "exponent")
"""Metrics of `regret_rows`."""
STEPS = 200
"""Bisection steps; each halves the interval of the multiplier's logarithm."""


# Clean sequences


class Clean(NamedTuple):
    """A clean sequence: what the learner never sees. X: (T, d), y: (T,)."""

    X: Floats
    y: Floats


@dataclass(frozen=True)
class Task:
    """Where clean sequences come from, and what theory may know of them.

    draw : (T, generator) -> a clean sequence of T rounds.
    A, b : E xx' (d, d) and E yx (d,) of a round, so that the mean loss of w is w'Aw - 2b'w + E y^2.
    x_size, y_size : bounds of ||x_t|| and |y_t|.
    rounds : of one unit of the horizon, 1 or the number of rows of a base set that is passed over.
    """

    draw: Callable[[int, np.random.Generator], Clean]
    A: Floats
    b: Floats
    x_size: float
    y_size: float
    rounds: int = 1
    source: str = "synthetic"

    @property
    def d(self) -> int:
        """Entries of an instance."""
        return len(self.b)

    def excess(self, w: Floats, other: Floats) -> float:
        """Mean clean loss of w less that of another vector."""
        return float(w @ self.A @ w - 2 * self.b @ w - other @ self.A @ other + 2 * self.b @ other)


def sphere(w: Floats, spread: float) -> Task:
    """x_t uniform on the unit sphere, y_t = <w, x_t> + U[-spread, spread]; the second part is clean too."""
    d = len(w)

    def draw(T: int, rng: np.random.Generator) -> Clean:
        X = rng.standard_normal((T, d))
        X /= np.sqrt(np.einsum("ij,ij->i", X, X))[:, None]
        return Clean(X, X @ w + rng.uniform(-spread, spread, T))

    return Task(draw, np.eye(d) / d, w / d, 1.0, float(np.linalg.norm(w)) + spread)


def base_set(base: Clean, source: str) -> Task:
    """Passes over a base set, each in a new random order."""
    X, y = base

    def draw(T: int, rng: np.random.Generator) -> Clean:
        order = np.concatenate([rng.permutation(len(y)) for _ in range(T // len(y))])
        return Clean(X[order], y[order])

    sizes = float(np.sqrt((X**2).sum(axis=1)).max()), float(np.abs(y).max())
    return Task(draw, X.T @ X / len(y), X.T @ y / len(y), *sizes, rounds=len(y), source=source)


def target(direction: list[float], length: float) -> Floats:
    """The vector of that direction and length."""
    v = np.asarray(direction, dtype=float)
    return np.asarray(length * v / np.linalg.norm(v))


def diabetes() -> Clean:
    """(442, 10) measurements and (442,) progressions of the diabetes data of scikit-learn, unscaled."""
    from sklearn.datasets import load_diabetes

    return Clean(*load_diabetes(return_X_y=True, scaled=False))


def real(X: Floats, y: Floats, count: int, scale: float | None) -> Clean:
    """Standardised, ``count`` principal components, scaled; targets centred, the largest of size 1.

    Constant columns are left out; the largest loading of each component is positive.
    scale: standard deviation over all entries; None makes the longest row 1 long.
    """
    deviation = X.std(axis=0)
    kept = deviation > 0
    Z = (X[:, kept] - X[:, kept].mean(axis=0)) / deviation[kept]
    _, _, V = np.linalg.svd(Z, full_matrices=False)
    V = V[:count]
    signs = np.sign(V[np.arange(len(V)), np.abs(V).argmax(axis=1)])
    Z = Z @ (V * signs[:, None]).T
    Z = Z / (np.sqrt((Z**2).sum(axis=1)).max() if scale is None else Z.std() / scale)
    centred = y - y.mean()
    return Clean(Z, centred / np.abs(centred).max())


class Copies:
    """Noisy copies of a clean sequence, by number: the same number gives the same copy to every learner."""

    def __init__(
        self, clean: Clean, law: FeatureNoise, seeds: Seeds, repetition: int | str, stream: str
    ) -> None:
        self._clean, self._law, self._stream = clean, law, stream
        self._seeds, self._repetition = seeds, repetition
        self._total, self._count = np.zeros_like(clean.X), 0
        self._kept: dict[int, Floats] = {}

    def copy(self, number: int) -> Floats:
        """x~_1..x~_T (T, d), the copies of that number, from 1."""
        if number not in self._kept:
            rng = self._seeds.generator(self._repetition, f"{self._stream} copy {number}")
            copy = self._clean.X + self._law.draw(rng, len(self._clean.y))
            if number > 2:  # only the first two are asked for again
                return copy
            self._kept[number] = copy
        return self._kept[number]

    def mean(self, count: int) -> Floats:
        """Mean of the first ``count`` copies; ask for growing counts, they are added up once."""
        if count < self._count:
            self._total, self._count = np.zeros_like(self._total), 0
        while self._count < count:
            self._count += 1
            self._total += self.copy(self._count)
        return self._total / count

    def targets(self, deviation: float) -> Floats:
        """y~_1..y~_T with Gaussian noise."""
        rng = self._seeds.generator(self._repetition, f"{self._stream} targets")
        return self._clean.y + deviation * rng.standard_normal(len(self._clean.y))


# Comparators: the best fixed predictor on clean data. A solver that only nearly arrives would make regret
# look smaller, so every one checks that it has arrived.


class Comparator(NamedTuple):
    """Coefficients of the best predictor in the ball and its total loss on the clean sequence."""

    coefficients: Floats
    loss: float


def best_linear(X: Floats, y: Floats, B_w: float) -> Comparator:
    """min sum_t (<w, x_t> - y_t)^2 subject to ||w||^2 <= B_w; X: (T, d), y: (T,)."""
    w = best_quadratic(X.T @ X, X.T @ y, B_w)
    return Comparator(w, float(((X @ w - y) ** 2).sum()))


def best_quadratic(A: Floats, b: Floats, B_w: float) -> Floats:
    """argmin w'Aw - 2b'w subject to ||w||^2 <= B_w, by the eigenvalues of A and bisection of the multiplier.

    A: (d, d) symmetric, positive semi-definite.   b: (d,), in the range of A.
    Raises ValueError : A has a negative eigenvalue.
    RuntimeError : the multiplier of the constraint was not found to a relative 1e-10.
    """
    values, basis = np.linalg.eigh(A)
    if values[0] < -1e-10 * abs(values).max():
        raise ValueError(f"quadratic: A is not positive semi-definite, smallest eigenvalue {values[0]:.3g}")
    kept = values > 1e-13 * values[-1]
    z = np.where(kept, basis.T @ b, 0.0)
    values = np.where(kept, values, 1.0)  # z is 0 there, so that any divisor does

    def norm2(multiplier: float) -> float:
        return float(((z / (values + multiplier)) ** 2).sum())

    return np.asarray(basis @ (z / (values + _multiplier(norm2, B_w))))


def best_kernel(K: Floats, y: Floats, B_w: float) -> Comparator:
    """min sum_t (f(x_t) - y_t)^2, f = sum_j gamma_j k(x_j, .), subject to gamma' K gamma <= B_w.

    Kernel ridge, gamma = (K + lambda I)^-1 y, with the lambda at which the constraint is met.
    K: (n, n) Gram matrix of the clean points. Raises RuntimeError : see `best_quadratic`.
    """
    values, basis = np.linalg.eigh(K)
    values = np.maximum(values, 0.0)
    z = basis.T @ y

    def norm2(multiplier: float) -> float:
        return float((values * (z / (values + multiplier)) ** 2)[values > 0].sum())

    gamma = basis @ (z / (values + max(_multiplier(norm2, B_w), 1e-12 * float(values[-1]))))
    return Comparator(gamma, float(((K @ gamma - y) ** 2).sum()))


def _multiplier(norm2: Callable[[float], float], B_w: float) -> float:
    """The lambda >= 0 with norm2(lambda) = B_w, or 0 where norm2(0) is inside the ball already."""
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = norm2(0.0) <= B_w
    if inside:
        return 0.0
    low, high = 1e-300, 1.0
    while norm2(high) > B_w:
        high *= 2.0
    for _ in range(STEPS):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if norm2(middle) > B_w else (low, middle)
    if not abs(norm2(high) - B_w) <= 1e-10 * B_w:
        raise RuntimeError(
            f"comparator: norm {norm2(high):.12g} instead of {B_w:.12g} after {STEPS} bisections; "
            "its loss is not known, so that regret cannot be reported"
        )
    return high


def best_smooth(
    loss: Callable[[Floats], Floats],
    derivative: Callable[[Floats], Floats],
    features: Floats,
    B_w: float,
    *,
    tolerance: float = 1e-9,
    most_steps: int = 50_000,
) -> Comparator:
    """min mean_t loss_t(<w, phi_t>) subject to ||w||^2 <= B_w, by accelerated projected gradient.

    loss, derivative : of the vector of predictions a (n,): losses, and their derivatives in a.
    features : (n, D) clean feature vectors phi_t.
    tolerance : length of a projected step, over its step size, below which the search ends.
    The loss returned is the total. Raises RuntimeError : not there after ``most_steps``.
    """
    n, radius = len(features), float(np.sqrt(B_w))
    w = np.zeros(features.shape[1])
    ahead, momentum, rate = w, 1.0, 1.0

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
            if objective(following) <= value + gradient @ step + step @ step / (2 * rate) + 1e-15:
                break
            rate /= 2
        residual = float(np.linalg.norm(step)) / rate
        if residual < tolerance:
            return Comparator(following, float(loss(features @ following).sum()))
        if (ahead - following) @ (following - w) > 0:
            momentum = 1.0
        faster = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = following + (momentum - 1) / faster * (following - w)
        w, momentum = following, faster
    raise RuntimeError(
        f"comparator: residual {residual:.2g} after {most_steps} steps, asked {tolerance:g}; "
        "its loss is not known, so that regret cannot be reported"
    )


# Rows of regret


def regret_rows(
    at: At, regrets: Mapping[int, float], lasts: Iterable[int], bounds: Mapping[int, float] | None = None
) -> Iterator[Row]:
    """regret and regret_per_round at x = T; bound and bound_ratio where there are bounds; exponent.

    regrets, bounds : horizon T -> Reg_T and its bound.
    The theorems bound the expectation: single runs may exceed the bound, the mean of bound_ratio may not be
    above 1.
    """
    for T, regret in regrets.items():
        values = {"regret": regret, "regret_per_round": regret / T}
        if bounds is not None:
            values |= {"bound": bounds[T], "bound_ratio": regret / bounds[T]}
        yield from at.rows(values, x=T)
    yield from exponents(at, "exponent", regrets, lasts)


def exponents(at: At, metric: str, values: Mapping[int, float], lasts: Iterable[int]) -> Iterator[Row]:
    """Slopes of log value on log T over the last horizons, x = their number; none where a value is <= 0."""
    for last in lasts:
        horizons = sorted(values)[-last:]
        tail = [values[T] for T in horizons]
        if len(horizons) == last and min(tail) > 0:
            yield at.row(metric, slope(horizons, tail), x=last)


def slope(x: ArrayLike, y: ArrayLike) -> float:
    """Least-squares slope of log y on log x. Raises ValueError : a value that is not positive."""
    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if not ((a > 0).all() and (b > 0).all()):
        raise ValueError(f"slope: logarithms need positive values, got {min(a.min(), b.min()):g}")
    a, b = np.log(a), np.log(b)
    return float(((a - a.mean()) * (b - b.mean())).sum() / ((a - a.mean()) ** 2).sum())
