"""Clean sequences: synthetic ones of the experiments, the diabetes data and UCI sets in a fixed scaling."""

import gzip
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Row = dict[str, Any]


@dataclass(frozen=True)
class Clean:
    """A clean sequence: what the learner never sees. X: (T, d), y: (T,)."""

    X: Floats
    y: Floats

    def __len__(self) -> int:
        return len(self.y)


def sphere(rng: np.random.Generator, T: int, w: Floats, spread: float) -> Clean:
    """x_t uniform on the unit sphere, y_t = <w, x_t> + U[-spread, spread]."""
    X = rng.standard_normal((T, len(w)))
    X /= np.sqrt(np.einsum("ij,ij->i", X, X))[:, None]
    return Clean(X, X @ w + rng.uniform(-spread, spread, T))


def target(direction: list[float], length: float) -> Floats:
    """The vector of that direction and length."""
    v = np.asarray(direction, dtype=float)
    return length * v / np.linalg.norm(v)


def passes(base: Clean, count: int, rng: np.random.Generator) -> Clean:
    """The base set ``count`` times, in a new random order each time."""
    order = np.concatenate([rng.permutation(len(base)) for _ in range(count)])
    return Clean(base.X[order], base.y[order])


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
    """The first principal components of centred rows, (n, count); each with its largest entry of V positive."""
    _, _, V = np.linalg.svd(X, full_matrices=False)
    V = V[:count]
    signs = np.sign(V[np.arange(len(V)), np.abs(V).argmax(axis=1)])
    return X @ (V * signs[:, None]).T


def real(X: Floats, y: Floats, count: int, scale: str | float) -> Clean:
    """Standardised, ``count`` principal components, scaled; targets centred and divided by their largest size.

    scale: "norm" makes the longest row 1 long; a number is the standard deviation over all entries.
    """
    Z = components(standardised(X), count)
    Z = Z / (np.sqrt((Z**2).sum(axis=1)).max() if scale == "norm" else Z.std() / float(scale))
    centred = y - y.mean()
    return Clean(Z, centred / np.abs(centred).max())
