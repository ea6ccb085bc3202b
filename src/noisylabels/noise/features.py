"""Noise on instances: independent, zero mean, of known covariance; shape and size may change each round.

n_t = L_t z_t,  Sigma_t = L_t L_t^T,  E z_t = 0,  E z_t z_t^T = I.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from noisylabels.validation import Floats, as_array, choice, finite, nonnegative, whole

SHAPES = ("gaussian", "rademacher", "uniform")
TOLERANCE = 1e-12  # eigenvalues above -TOLERANCE times the largest count as 0


def real(name: str, values: ArrayLike, shape: tuple[int | None, ...], *, empty: bool = False) -> Floats:
    """`finite`, and no objects, and not empty unless `empty`; else a ValueError."""
    given = as_array(name, values)
    if given.dtype.kind not in "biuf":
        raise ValueError(f"{name}: needs real numbers, got an array of {given.dtype}")
    array = np.ascontiguousarray(given, dtype=np.float64)
    fits = array.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, array.shape, strict=True))
    fits = fits and not isinstance(given, np.ma.MaskedArray)
    if not (fits and np.isfinite(np.dot(array.ravel(), array.ravel()))):  # one fast pass; overflow is rare
        array = finite(name, given, shape)
    if array.size == 0 and not empty:
        raise ValueError(f"{name}: is empty")
    return array


def checked_covariance(name: str, values: ArrayLike, d: int | None = None) -> Floats:
    """A symmetric positive semi-definite (d, d), or a stack (T, d, d) of them; else a ValueError.

    Entries may differ from their mirror image by 1e-9 of the largest entry; the mean is returned.
    """
    given = as_array(name, values)
    shape: tuple[int | None, ...] = (d, d) if given.ndim < 3 else (None, d, d)
    Sigma = real(name, given, shape)
    if Sigma.shape[-1] != Sigma.shape[-2]:
        raise ValueError(f"{name}: must be square, got shape {Sigma.shape}")
    mirrored = np.swapaxes(Sigma, -1, -2)
    if np.abs(Sigma - mirrored).max() > 1e-9 * np.abs(Sigma).max():
        raise ValueError(f"{name}: is not symmetric")
    Sigma = 0.5 * (Sigma + mirrored)
    smallest = float(np.linalg.eigvalsh(Sigma)[..., 0].min())
    if smallest < -TOLERANCE * float(np.abs(Sigma).max()) * Sigma.shape[-1]:
        raise ValueError(f"{name}: is not positive semi-definite, smallest eigenvalue {smallest:.3g}")
    return Sigma


def rotation(Sigma: ArrayLike) -> tuple[Floats, Floats]:
    """Eigenvalues v (d,) >= 0 and eigenvectors U (d, d) of a covariance Sigma = U diag(v) U^T.

    The noise of U^T x~ has independent entries. Radial kernels do not change under U^T, so learners and test
    points are rotated alike: X @ U.
    Raises ValueError: not symmetric, not positive semi-definite.
    """
    values, U = np.linalg.eigh(checked_covariance("covariance", Sigma))
    return np.maximum(values, 0.0), U


def standard(shape: str, rng: np.random.Generator, size: tuple[int, ...]) -> Floats:
    """Independent entries of mean 0 and variance 1: N(0, 1), +-1, or U[-sqrt 3, sqrt 3]."""
    if choice("shape", shape, SHAPES) == "gaussian":
        return rng.standard_normal(size)
    if shape == "rademacher":
        return 2.0 * rng.integers(0, 2, size).astype(float) - 1.0
    return (rng.random(size) - 0.5) * np.sqrt(12.0)


class FeatureNoise:
    """The law of n_t, round by round.

    variances: (d,) or (T, d), independent entries; or covariance: (d, d) or (T, d, d). Exactly one of them.
    shapes: the law of z_t goes through these shapes, changing every `cycle` rounds.
    Raises ValueError: both or neither, negative variance, covariance not symmetric or not positive
    semi-definite, unknown shape, cycle < 1.
    """

    def __init__(
        self, *, variances: ArrayLike | None = None, covariance: ArrayLike | None = None,
        shapes: tuple[str, ...] | list[str] = ("gaussian",), cycle: int = 64,
    ) -> None:  # fmt: skip
        if (variances is None) == (covariance is None):
            raise ValueError("noise: give either variances or covariance")
        self._diagonal = covariance is None
        if variances is not None:
            some = (None,) if as_array("variances", variances).ndim < 2 else (None, None)
            self._root = np.sqrt(nonnegative("variances", real("variances", variances, some), some))
        else:
            values, U = np.linalg.eigh(checked_covariance("covariance", covariance))  # type: ignore[arg-type]
            self._root = U * np.sqrt(np.maximum(values, 0.0))[..., None, :]  # a singular Sigma has one too
        unknown = [shape for shape in shapes if shape not in SHAPES]
        if unknown or not shapes:
            raise ValueError(f"shapes: {unknown} unknown; known: {', '.join(SHAPES)}")
        self.shapes, self.cycle = tuple(shapes), whole("cycle", cycle, 1)

    @property
    def d(self) -> int:
        """Entries of an instance."""
        return self._root.shape[-1]

    @property
    def changes(self) -> bool:
        """Does the covariance change from round to round?"""
        return self._root.ndim > (1 if self._diagonal else 2)

    def covariance(self, t: int = 0) -> Floats:
        """Sigma_t: (d, d)."""
        root = self._root[t] if self.changes else self._root
        return np.diag(root**2) if self._diagonal else root @ root.T

    def draw(self, rng: np.random.Generator, rounds: ArrayLike) -> Floats:
        """One vector of noise per entry of `rounds` (n,), the number of its round from 0: (n, d).

        An int n means rounds 0..n-1. Copies of a round are independent; the same generator, shapes and rounds
        give the same numbers.
        """
        t = np.asarray(rounds, dtype=np.int64)
        t = np.arange(int(t)) if t.ndim == 0 else t
        if len(self.shapes) == 1:
            noise = standard(self.shapes[0], rng, (len(t), self.d))
        else:
            noise, which = np.empty((len(t), self.d)), (t // self.cycle) % len(self.shapes)
            for number, shape in enumerate(self.shapes):
                rows = which == number
                noise[rows] = standard(shape, rng, (int(rows.sum()), self.d))
        root = self._root[t] if self.changes else self._root
        if self._diagonal:
            noise *= root
            return noise
        return np.einsum("nij,nj->ni", root, noise) if self.changes else noise @ root.T
