"""Noise that is added to labels or instances, independent and of zero mean, and labels corrupted otherwise.

Labels: y~_t = y_t + eps_t,  E eps_t = 0,  E eps_t^2 = v_t.
Instances: x~_t = x_t + n_t,  n_t = L_t z_t,  Sigma_t = L_t L_t^T,  E z_t = 0,  E z_t z_t^T = I.
Variances are known per example; shape and size of n_t may change each round.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate

import numpy as np
from numpy.typing import ArrayLike

from noisylabels.validation import Floats, as_array, choice, nonnegative, number, real, whole

RAMPS = {"constant": (1.0, 1.0), "decreasing": (1.0, 0.0), "increasing": (0.0, 1.0)}
"""First and last variance of the models without randomness, in units of the largest."""


def variances(model: str, n: int, M: float, rng: np.random.Generator) -> Floats:
    """Noise variances v_t in [0, M] of n rounds (ORS paper, Section 4).

    "uniform": v_t ~ U[0, M];  "increasing": v_t = M (t-1)/(n-1);  "decreasing": the reverse;  "constant":
    v_t = M. Only "uniform" uses the generator.   Raises ValueError : an unknown model, n < 2 or a negative M.
    """
    n, M = whole("n", n, 2), number("M", M, least=0)
    choice("model", model, (*RAMPS, "uniform"))
    if model == "uniform":
        return rng.uniform(0.0, M, n)
    first, last = RAMPS[model]
    return np.linspace(first * M, last * M, n)


def hammer_variances(n: int, rate: int, rng: np.random.Generator) -> Floats:
    """Variance of hammer blows: v_t = 1e-4 + sum_j A_j exp(-(t - t_j) / (0.03 rate)) 1[t >= t_j].

    Blows start at 0.3 s, then follow after 0.5 s x U[0.8, 1.2]; A_j = 4 x U[0.5, 1.5].
    rate: in Hz.  Raises ValueError : n < 1 or rate < 1.
    Source: our interpretation of the ORS paper's "hammer noise" (Section 4, Fig. 5).
    """
    n, rate = whole("n", n, 1), whole("rate", rate, 1)
    blows = np.zeros(n)
    second = 0.3
    while (start := round(second * rate)) < n:
        blows[start] += 4.0 * rng.uniform(0.5, 1.5)
        second += 0.5 * rng.uniform(0.8, 1.2)
    decay = np.exp(-1.0 / (0.03 * rate))
    levels = accumulate(blows.tolist(), lambda level, blow: decay * level + blow)
    return 1e-4 + np.maximum(np.fromiter(levels, float, n), 0.0)


def noisy_labels(y: Floats, v: Floats, rngs: list[np.random.Generator]) -> Floats:
    """y~_{t,k} = y_t + sqrt(v_t) g_{t,k} with g ~ N(0, 1): (n, K), one of the K generators a column."""
    return np.column_stack([y + np.sqrt(v) * rng.standard_normal(len(y)) for rng in rngs])


def _clipped(y: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    cut = np.clip(y, *np.quantile(y, [0.2, 0.8]))
    return cut, (cut - y) ** 2


OTHER_LABELS: dict[str, Callable[[Floats, np.random.Generator], tuple[Floats, Floats]]] = {
    # y~ = y (1 + eps), eps ~ N(0, 1/4), so v_t = y_t^2 / 4
    "multiplicative": lambda y, rng: (y * (1.0 + 0.5 * rng.standard_normal(len(y))), 0.25 * y**2),
    # y~ = 4 round(y / 4): a step of 4 has the variance 16/12 if y is spread over many steps
    "quantised": lambda y, rng: (4.0 * np.round(y / 4.0), np.full(len(y), 16.0 / 12.0)),
    # y~ = y cut at its 20 % and 80 % quantiles; v_t = (y~_t - y_t)^2, which only an oracle knows
    "clipped": _clipped,
    # y~ = y + eps, eps Student t with 3 degrees of freedom, scaled to variance 2.5
    "heavy tails": lambda y, rng: (y + np.sqrt(2.5 / 3.0) * rng.standard_t(3, len(y)), np.full(len(y), 2.5)),
    # 5 % of the labels carry N(0, 50), the rest none; v_t = 2.5 for all: which ones are bad is not known
    "gross errors": lambda y, rng: (
        y + (rng.random(len(y)) < 0.05) * np.sqrt(50.0) * rng.standard_normal(len(y)), np.full(len(y), 2.5)
    ),
    # y~ = y + 1 + eps, eps ~ N(0, 1.5): second moment 2.5 about y, mean not 0
    "biased": lambda y, rng: (y + 1.0 + np.sqrt(1.5) * rng.standard_normal(len(y)), np.full(len(y), 2.5)),
}  # fmt: skip
"""name -> function (y, rng) -> (noisy labels, the variance given to the filter)."""

SHAPES = ("gaussian", "rademacher", "uniform")
TOLERANCE = 1e-12  # eigenvalues above -TOLERANCE times the largest count as 0


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
    """Eigenvalues v (d,) >= 0 and eigenvectors U (d, d) of a covariance Sigma = U diag(v) U^T, or of a stack.

    The noise of U^T x~ has independent entries. Radial kernels do not change under U^T, so learners and test
    points are rotated alike: X @ U.   Raises ValueError: see `checked_covariance`.
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

    variances: (d,) or (T, d), independent entries; or covariance: (d, d) or (T, d, d).
    shapes: the law of z_t goes through these shapes, changing every `cycle` rounds.
    Raises ValueError: both or neither of the first two, negative variance, see `checked_covariance`,
    unknown shape, cycle < 1.
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
            values, U = rotation(covariance)  # type: ignore[arg-type]
            self._root = U * np.sqrt(values)[..., None, :]  # a singular Sigma has one too
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
        noise, which = np.empty((len(t), self.d)), (t // self.cycle) % len(self.shapes)
        for i, shape in enumerate(self.shapes):
            rows = which == i
            noise[rows] = standard(shape, rng, (int(rows.sum()), self.d))
        root = self._root[t] if self.changes else self._root
        if self._diagonal:
            noise *= root
            return noise
        return np.einsum("nij,nj->ni", root, noise) if self.changes else noise @ root.T
