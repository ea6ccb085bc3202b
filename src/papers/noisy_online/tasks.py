"""What the experiments of noisy_online share: clean sequences, noisy copies, comparators, rows of regret."""

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
Powers = Annotated[Distinct[Annotated[float, Field(gt=1)]], Field(description="p")]
Components = Annotated[int, Field(ge=1, description="principal components kept")]
Shape = Literal["gaussian", "rademacher", "uniform"]
TargetNoise = Annotated[NonNegative, Field(description="standard deviation of the noise on targets")]
REGRET = ("regret", "regret_per_round", "bound", "bound_ratio", "exponent")
"""Metrics of `regret_rows`."""
STEPS = 200
"""Bisection steps; each halves the interval of the multiplier's logarithm."""
TOLERANCE = 1e-9
"""Length of a projected step, over its step size, below which a search ends."""


# Kernels of Algorithm 4


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


# Clean sequences


class Clean(NamedTuple):
    """A clean sequence: what the learner never sees. X: (T, d), y: (T,)."""

    X: Floats
    y: Floats


@dataclass(frozen=True)
class Task:
    """Where clean sequences of d inputs come from.

    draw : (T, generator) -> a clean sequence of T rounds.
    y_size : bound of |y_t|.
    rounds : of one unit of the horizon, 1 or the number of rows of a base set that is passed over.
    """

    draw: Callable[[int, np.random.Generator], Clean]
    d: int
    y_size: float
    rounds: int = 1
    source: str = "synthetic"


@dataclass(frozen=True, kw_only=True)
class LinearTask(Task):
    """A task with what theory may know of its instances.

    A, b : E xx' (d, d) and E yx (d,) of a round, so that the mean loss of w is w'Aw - 2b'w + E y^2.
    x_size : bound of ||x_t||.
    """

    A: Floats
    b: Floats
    x_size: float

    def excess(self, w: Floats, other: Floats) -> float:
        """Mean clean loss of w less that of another vector."""
        return float(w @ self.A @ w - 2 * self.b @ w - other @ self.A @ other + 2 * self.b @ other)


def sphere(w: Floats, spread: float) -> LinearTask:
    """x_t uniform on the unit sphere, y_t = <w, x_t> + U[-spread, spread]; the second part is clean too."""
    d = len(w)

    def draw(T: int, rng: np.random.Generator) -> Clean:
        X = rng.standard_normal((T, d))
        X /= np.sqrt(np.einsum("ij,ij->i", X, X))[:, None]
        return Clean(X, X @ w + rng.uniform(-spread, spread, T))

    return LinearTask(draw, d, float(np.linalg.norm(w)) + spread, A=np.eye(d) / d, b=w / d, x_size=1.0)


def base_set(base: Clean, source: str) -> LinearTask:
    """Passes over a base set, each in a new random order."""
    X, y = base

    def draw(T: int, rng: np.random.Generator) -> Clean:
        order = np.concatenate([rng.permutation(len(y)) for _ in range(T // len(y))])
        return Clean(X[order], y[order])

    x_size, y_size = float(np.sqrt((X**2).sum(axis=1)).max()), float(np.abs(y).max())
    moments = {"A": X.T @ X / len(y), "b": X.T @ y / len(y)}
    return LinearTask(draw, X.shape[1], y_size, len(y), source, x_size=x_size, **moments)


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
    """Noisy copies of a clean sequence, by number: the same number gives the same copy to every learner.

    rng : name -> generator, of streams such as ``512 copy 1`` and ``512 targets`` for 512 rounds.
    """

    def __init__(self, clean: Clean, law: FeatureNoise, rng: Callable[[str], np.random.Generator]) -> None:
        self._clean, self._law, self._rng = clean, law, rng
        self._total, self._count = np.zeros_like(clean.X), 0
        self._kept: dict[int, Floats] = {}

    def copy(self, number: int) -> Floats:
        """x~_1..x~_T (T, d), the copies of that number, from 1."""
        if number not in self._kept:
            T = len(self._clean.y)
            copy = self._clean.X + self._law.draw(self._rng(f"{T} copy {number}"), T)
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
        T = len(self._clean.y)
        return self._clean.y + deviation * self._rng(f"{T} targets").standard_normal(T)


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

    multiplier = _multiplier(lambda m: float(((z / (values + m)) ** 2).sum()), B_w)
    return np.asarray(basis @ (z / (values + multiplier)))


def best_kernel(K: Floats, y: Floats, B_w: float) -> Comparator:
    """min sum_t (f(x_t) - y_t)^2, f = sum_j gamma_j k(x_j, .), subject to gamma' K gamma <= B_w.

    Kernel ridge, gamma = (K + lambda I)^+ y, with the lambda at which the constraint is met. Eigenvalues of K
    that rounding cannot tell from 0 are 0.
    K: (n, n) Gram matrix of the clean points. Raises RuntimeError : see `best_quadratic`.
    """
    values, basis = np.linalg.eigh(K)
    values[values <= len(K) * np.finfo(float).eps * values[-1]] = 0.0
    z = basis.T @ y
    scale = values + _multiplier(lambda m: float((values * (z / (values + m)) ** 2)[values > 0].sum()), B_w)
    gamma = basis @ np.divide(z, scale, out=np.zeros_like(z), where=scale > 0)
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
        raise _not_there(f"norm {norm2(high):.12g} instead of {B_w:.12g} after {STEPS} bisections")
    return high


def _not_there(state: str) -> RuntimeError:
    return RuntimeError(f"comparator: {state}; its loss is not known, so that regret cannot be reported")


def best_smooth(
    loss: Callable[[Floats], Floats],
    derivative: Callable[[Floats], Floats],
    features: Floats,
    B_w: float,
    most_steps: int = 50_000,
) -> Comparator:
    """min mean_t loss_t(<w, phi_t>) subject to ||w||^2 <= B_w, by accelerated projected gradient.

    loss, derivative : of the vector of predictions a (n,): losses, and their derivatives in a.
    features : (n, D) clean feature vectors phi_t.
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
        if residual < TOLERANCE:
            return Comparator(following, float(loss(features @ following).sum()))
        if (ahead - following) @ (following - w) > 0:
            momentum = 1.0
        faster = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = following + (momentum - 1) / faster * (following - w)
        w, momentum = following, faster
    raise _not_there(f"residual {residual:.2g} after {most_steps} steps, tolerance {TOLERANCE:g}")


# Rows of regret

Runs = dict[int, tuple[float, float | None]]
"""Horizon T -> regret of a learner, and its bound where a theorem has one."""


def regret_rows(repetition: Repetition, runs: Runs, lasts: Iterable[int]) -> Iterator[Row]:
    """regret and regret_per_round at x = T; bound and bound_ratio where there is a bound; exponent.

    The theorems bound the expectation: single runs may exceed the bound, the mean of bound_ratio may not be
    above 1.
    """
    for T, (regret, bound) in runs.items():
        values = {"regret": regret, "regret_per_round": regret / T}
        if bound is not None:
            values |= {"bound": bound, "bound_ratio": regret / bound}
        yield from repetition.rows(values, x=T)
    yield from exponents(repetition, "exponent", {T: regret for T, (regret, _) in runs.items()}, lasts)


def exponents(
    repetition: Repetition, metric: str, values: Mapping[int, float], lasts: Iterable[int]
) -> Iterator[Row]:
    """Least-squares slopes of log value on log T over the last horizons, x = their number.

    None where a value is <= 0.
    """
    for last in lasts:
        horizons = sorted(values)[-last:]
        tail = [values[T] for T in horizons]
        if len(horizons) == last and min(tail) > 0:
            a, b = np.log(np.asarray(horizons, dtype=float)), np.log(tail)
            a -= a.mean()
            yield repetition.row(metric, float((a * (b - b.mean())).sum() / (a**2).sum()), x=last)
