"""Small problems on which the kernel methods are tested."""

import numpy as np

from noisylabels.kernels.gaussian import Gram, rbf, squared_distances
from noisylabels.noise.flip_models import corrupt
from reproduction.data.prepared import Dataset


def two_moons(n=60, seed=0, spread=0.35):
    """Two curved classes in the plane: X (n, 2), y (n,) of 0 and 1."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.5).astype(np.int8)
    angle = np.pi * rng.random(n)
    side = np.where(y == 1, -1, 1)
    X = np.column_stack([np.cos(angle) + y, side * np.sin(angle) + 0.5 * y])
    return X + spread * rng.standard_normal((n, 2)), y


def draw_classes(rng, probabilities):
    """Draw a class for each row of probabilities."""
    cumulative = np.cumsum(probabilities, axis=1)[:, :-1]
    uniform = rng.random((len(probabilities), 1))
    return (uniform > cumulative).sum(axis=1)


def with_constant(X):
    """Append a column of ones."""
    return np.column_stack([X, np.ones(len(X))])


def central_difference(function, z, h):
    """Estimate the slope of a function at z."""
    return (function(z + h) - function(z - h)) / (2 * h)


def noisy_columns(y, labels=("independent 0.1", "negative_only 0.3"), seed=0):
    """Flipped labels (n, L) of 0 and 1."""
    signs = (2 * y - 1).astype(np.int8)
    columns = []
    for k, label in enumerate(labels):
        rng = np.random.default_rng([seed, k])
        columns.append(corrupt(signs, label, rng))
    return (np.stack(columns, axis=1) > 0).astype(np.int8)


def gram(X, X_out, width=1.0):
    K = rbf(squared_distances(X), width)
    K_out = rbf(squared_distances(X_out, X), width)
    return Gram(K, K_out)


def dataset(name="toy", splits=3, n=120, train=70):
    """Like a set of the IDA benchmark: X, y and index rows of the splits."""
    X, y = two_moons(n, spread=0.5)
    rng = np.random.default_rng(7)
    rows = np.array([rng.permutation(n) for _ in range(splits)], dtype=np.int32)
    signs = (2 * y - 1).astype(np.int8)
    arrays = {"X": X, "y": signs, "train": rows[:, :train], "test": rows[:, train:]}
    return Dataset(id=name, source="test", variant="synthetic", arrays=arrays, digest="")


SETTINGS = {
    "experiment": "test", "repetitions": 2, "datasets": ["toy"],
    "noise": ["independent 0", "independent 0.2", "negative_only 0.3"],
    "widths": [-2, 0, 2], "parametrisation": "sigma2", "folds": 3, "trusted": 0.2,
    "methods": {
        "klr": {"method": "kernel_logistic", "selection": "trusted", "grid": [-4, 0, 4]},
        "svm": {"method": "kernel_svm", "selection": "trusted", "grid": [-4, 0, 4]},
        "rkfd": {"method": "robust_kernel_fisher", "selection": "trusted"},
    },
}  # fmt: skip


class WithoutGrid:
    """A method that leaves its grid to the settings."""

    @classmethod
    def fit_many(cls, gram, labels, grid):
        raise NotImplementedError
