"""Clean sequences: synthetic ones of the experiments, the diabetes data and UCI sets in a fixed scaling."""

import gzip
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


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
    return length * v / np.linalg.norm(v)


def diabetes() -> tuple[Floats, Floats]:
    """(442, 10) measurements and (442,) progressions of the diabetes data that scikit-learn ships, unscaled.

    Read from the package's folder: importing scikit-learn takes longer than the experiment's smallest jobs.

    Raises
    ------
    RuntimeError : scikit-learn is not there, or ships another file.
    """
    spec = find_spec("sklearn")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("the diabetes data come with scikit-learn, which is not installed")
    folder = Path(spec.submodule_search_locations[0]) / "datasets/data"
    arrays = []
    for name in ("diabetes_data_raw.csv.gz", "diabetes_target.csv.gz"):
        file = folder / name
        if not file.is_file():
            raise RuntimeError(
                f"{file} is missing: this version of scikit-learn keeps the diabetes data elsewhere"
            )
        with gzip.open(file, "rt", encoding="utf-8") as text:
            arrays.append(np.loadtxt(text))
    return arrays[0], arrays[1]


def standardised(X: Floats) -> Floats:
    """Columns with mean 0 and variance 1; constant columns are left out."""
    deviation = X.std(axis=0)
    kept = deviation > 0
    return (X[:, kept] - X[:, kept].mean(axis=0)) / deviation[kept]


def components(X: Floats, count: int) -> Floats:
    """The first principal components of centred rows, (n, count); the largest loading of each is positive."""
    _, _, V = np.linalg.svd(X, full_matrices=False)
    V = V[:count]
    signs = np.sign(V[np.arange(len(V)), np.abs(V).argmax(axis=1)])
    return X @ (V * signs[:, None]).T


def real(X: Floats, y: Floats, count: int, scale: str | float) -> Clean:
    """Standardised, ``count`` principal components, scaled; targets centred, the largest of size 1.

    scale: "norm" makes the longest row 1 long; a number is the standard deviation over all entries.
    """
    Z = components(standardised(X), count)
    Z = Z / (np.sqrt((Z**2).sum(axis=1)).max() if scale == "norm" else Z.std() / float(scale))
    centred = y - y.mean()
    return Clean(Z, centred / np.abs(centred).max())
