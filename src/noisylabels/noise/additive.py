r"""Noise that is added to labels or samples, and other ways in which labels are corrupted.

Added noise is independent and of zero mean. Noisy labels are
:math:`\tilde{y}_t = y_t + \varepsilon_t` with :math:`E \varepsilon_t = 0` and
:math:`E \varepsilon_t^2 = v_t`. Noisy samples are :math:`\tilde{x}_t = x_t + n_t` with
:math:`n_t = L_t z_t`, covariance :math:`\Sigma_t = L_t L_t^\top` and :math:`z_t` of mean 0 and unit
covariance. Variances are known per sample; the shape and size of the noise may change in each
round.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate

import numpy as np
from numpy.typing import ArrayLike

from noisylabels.validation import Floats, as_array, choice, nonnegative, number, real, whole

RAMPS = {"constant": (1.0, 1.0), "decreasing": (1.0, 0.0), "increasing": (0.0, 1.0)}
"""First and last variance of the models without randomness, as shares of the largest."""

FIRST_BLOW_SECONDS = 0.3
SECONDS_BETWEEN_BLOWS = 0.5
DECAY_SECONDS = 0.03
BLOW_HEIGHT = 4.0
HAMMER_FLOOR = 1e-4
"""Noise variance before the first hammer blow."""


def variances(model: str, n: int, M: float, rng: np.random.Generator) -> Floats:
    r"""Make the noise variances of a sequence of labels.

    Parameters
    ----------
    model : {"uniform", "increasing", "decreasing", "constant"}
        How the variance changes over the rounds. Only "uniform" is random.
    n : int
        Number of rounds, at least 2.
    M : float
        Largest variance, at least 0.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    ndarray of shape (n,)
        The variances.

    Raises
    ------
    ValueError
        If the model is unknown or a number is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.additive import variances
    >>> variances("increasing", 3, 2.0, np.random.default_rng(0)).tolist()
    [0.0, 1.0, 2.0]

    Notes
    -----
    "uniform" draws :math:`v_t` from :math:`U[0, M]`, "increasing" is
    :math:`v_t = M (t - 1) / (n - 1)`.

    References
    ----------
    Moroshko and Crammer (2017), Online Regression with Controlled Label Noise Rate, Section 4.
    """
    n = whole("n", n, 2)
    M = number("M", M, least=0)
    choice("model", model, (*RAMPS, "uniform"))
    if model == "uniform":
        return rng.uniform(0.0, M, n)
    first, last = RAMPS[model]
    start = first * M
    stop = last * M
    return np.linspace(start, stop, n)


def hammer_variances(n: int, rate: int, rng: np.random.Generator) -> Floats:
    r"""Make the noise variances of a microphone next to hammer blows.

    Parameters
    ----------
    n : int
        Number of samples, at least 1.
    rate : int
        Sampling rate in Hz, at least 1.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    ndarray of shape (n,)
        The variances.

    Raises
    ------
    ValueError
        If a number is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.additive import hammer_variances
    >>> v = hammer_variances(1000, 1000, np.random.default_rng(0))
    >>> float(v[299]), bool(v[300] > 2)
    (0.0001, True)

    Notes
    -----
    :math:`v_t = 10^{-4} + \sum_j A_j \exp(-(t - t_j) / (0.03\, rate)) 1[t \ge t_j]`. Blows start at
    0.3 s and follow after 0.5 s times :math:`U[0.8, 1.2]`; their heights :math:`A_j` are 4 times
    :math:`U[0.5, 1.5]`.

    References
    ----------
    Our interpretation of the "hammer noise" of Moroshko and Crammer (2017), Section 4, Figure 5.
    """
    n = whole("n", n, 1)
    rate = whole("rate", rate, 1)
    blows = np.zeros(n)
    second = FIRST_BLOW_SECONDS
    while (start := round(second * rate)) < n:
        factor = rng.uniform(0.5, 1.5)
        height = BLOW_HEIGHT * factor
        blows[start] += height
        pause = rng.uniform(0.8, 1.2)
        wait = SECONDS_BETWEEN_BLOWS * pause
        second += wait
    decay_in_rows = DECAY_SECONDS * rate
    decay = np.exp(-1.0 / decay_in_rows)
    levels = accumulate(blows.tolist(), lambda level, blow: decay * level + blow)
    level_of_rows = np.fromiter(levels, float, n)
    return HAMMER_FLOOR + np.maximum(level_of_rows, 0.0)


def noisy_labels(y: Floats, v: Floats, rngs: list[np.random.Generator]) -> Floats:
    r"""Add Gaussian noise to labels, several times over.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Clean labels.
    v : ndarray of shape (n,)
        Noise variances.
    rngs : list of numpy.random.Generator
        One generator for each column of noisy labels.

    Returns
    -------
    ndarray of shape (n, n_generators)
        The noisy labels.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.additive import noisy_labels
    >>> noisy_labels(np.ones(3), np.zeros(3), [np.random.default_rng(0)] * 2).tolist()
    [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]

    Notes
    -----
    :math:`\tilde{y}_{tk} = y_t + \sqrt{v_t}\, g_{tk}` with :math:`g_{tk}` from :math:`N(0, 1)`.
    """
    return np.column_stack([y + np.sqrt(v) * rng.standard_normal(len(y)) for rng in rngs])


GIVEN_VARIANCE = 2.5
"""Variance that the filter is given where all labels are alike."""

STEP = 4.0
"""Distance between two values of quantised labels."""


def _multiplicative(y: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Multiply each label by 1 plus noise of variance 1/4."""
    factors = 1.0 + 0.5 * rng.standard_normal(len(y))
    variance = 0.25 * y**2
    return y * factors, variance


def _quantised(y: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Round to multiples of the step, with variance step^2 / 12 if y spans many steps."""
    rounded = STEP * np.round(y / STEP)
    variance = np.full(len(y), 16.0 / 12.0)
    return rounded, variance


def _clipped(y: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Cut at the 20 % and 80 % quantiles, and return the squared errors as variances."""
    limits = np.quantile(y, [0.2, 0.8])
    clipped = np.clip(y, *limits)
    variance = (clipped - y) ** 2
    return clipped, variance


def _heavy_tailed(y: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Add noise of Student's t distribution (3 degrees of freedom) with the given variance."""
    scale = np.sqrt(GIVEN_VARIANCE / 3.0)
    noise = scale * rng.standard_t(3, len(y))
    variance = np.full(len(y), GIVEN_VARIANCE)
    return y + noise, variance


def _with_gross_errors(y: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Add noise of variance 50 to 5 % of the labels, without saying to which."""
    is_bad = rng.random(len(y)) < 0.05
    scale = np.sqrt(50.0)
    normals = rng.standard_normal(len(y))
    noise = is_bad * scale * normals
    variance = np.full(len(y), GIVEN_VARIANCE)
    return y + noise, variance


def _biased(y: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Add noise of mean 1 and variance 1.5, so that the second moment about y is 2.5."""
    normals = rng.standard_normal(len(y))
    noise = np.sqrt(1.5) * normals
    variance = np.full(len(y), GIVEN_VARIANCE)
    return y + 1.0 + noise, variance


OTHER_LABELS: dict[str, Callable[[Floats, np.random.Generator], tuple[Floats, Floats]]] = {
    "multiplicative": _multiplicative,
    "quantised": _quantised,
    "clipped": _clipped,
    "heavy tails": _heavy_tailed,
    "gross errors": _with_gross_errors,
    "biased": _biased,
}
"""Name -> function (y, rng) -> (noisy labels, the variance given to the filter)."""

SHAPES = ("gaussian", "rademacher", "uniform")

TOLERANCE = 1e-12
"""Share of the largest eigenvalue down to minus which eigenvalues count as 0."""

ASYMMETRY = 1e-9
"""Difference of mirrored entries, relative to the largest entry, that counts as rounding."""


def checked_covariance(name: str, values: ArrayLike, d: int | None = None) -> Floats:
    """Check that a matrix, or each matrix of a stack, is symmetric and positive semi-definite.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    values : array_like of shape (d, d) or (n_rounds, d, d)
        The covariance.
    d : int, optional
        Number of rows that it must have.

    Returns
    -------
    ndarray of shape (d, d) or (n_rounds, d, d)
        The mean of the matrix and its mirror image.

    Raises
    ------
    ValueError
        If the shape is wrong, or a matrix is not symmetric or not positive semi-definite.

    Examples
    --------
    >>> from noisylabels.noise.additive import checked_covariance
    >>> checked_covariance("covariance", [[1.0, 2.0], [2.0, 1.0]])
    Traceback (most recent call last):
    ValueError: covariance: is not positive semi-definite, smallest eigenvalue -1
    """
    array = as_array(name, values)
    shape: tuple[int | None, ...]
    if array.ndim < 3:
        shape = (d, d)
    else:
        shape = (None, d, d)
    Sigma = real(name, array, shape)
    if Sigma.shape[-1] != Sigma.shape[-2]:
        raise ValueError(f"{name}: must be square, got shape {Sigma.shape}")
    mirrored = np.swapaxes(Sigma, -1, -2)
    asymmetry = np.abs(Sigma - mirrored).max()
    largest_entry = np.abs(Sigma).max()
    if asymmetry > ASYMMETRY * largest_entry:
        raise ValueError(f"{name}: is not symmetric")
    Sigma = 0.5 * (Sigma + mirrored)
    eigenvalues = np.linalg.eigvalsh(Sigma)
    lowest_eigenvalues = eigenvalues[..., 0]
    smallest = float(lowest_eigenvalues.min())
    largest = float(np.abs(Sigma).max())
    limit = -TOLERANCE * largest * Sigma.shape[-1]
    if smallest < limit:
        fault = f"is not positive semi-definite, smallest eigenvalue {smallest:.3g}"
        raise ValueError(f"{name}: {fault}")
    return Sigma


def rotation(Sigma: ArrayLike) -> tuple[Floats, Floats]:
    """Find the rotation after which noise of a given covariance has independent entries.

    Radial kernels do not change under the rotation, so learners and test points are rotated alike.

    Parameters
    ----------
    Sigma : array_like of shape (d, d) or (n_rounds, d, d)
        Covariance of the noise.

    Returns
    -------
    variances : ndarray of shape (d,) or (n_rounds, d)
        Eigenvalues of the covariance, at least 0.
    U : ndarray of shape (d, d) or (n_rounds, d, d)
        Its eigenvectors, as columns. ``X @ U`` are the rotated samples.

    Raises
    ------
    ValueError
        See `checked_covariance`.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.additive import rotation
    >>> variances, U = rotation([[2.0, 1.0], [1.0, 2.0]])
    >>> variances.round(6).tolist()
    [1.0, 3.0]
    >>> np.allclose(U @ np.diag(variances) @ U.T, [[2, 1], [1, 2]])
    True
    """
    values, U = np.linalg.eigh(checked_covariance("covariance", Sigma))
    return np.maximum(values, 0.0), U


def standard(shape: str, rng: np.random.Generator, size: tuple[int, ...]) -> Floats:
    r"""Draw independent numbers of mean 0 and variance 1.

    Parameters
    ----------
    shape : {"gaussian", "rademacher", "uniform"}
        Their distribution: :math:`N(0, 1)`, -1 or +1, or :math:`U[-\sqrt{3}, \sqrt{3}]`.
    rng : numpy.random.Generator
        Source of the draws.
    size : tuple of int
        Shape of the array.

    Returns
    -------
    ndarray
        The numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.additive import standard
    >>> np.abs(standard("rademacher", np.random.default_rng(0), (2, 2))).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    if choice("shape", shape, SHAPES) == "gaussian":
        return rng.standard_normal(size)
    if shape == "rademacher":
        signs = rng.integers(0, 2, size).astype(float)
        return 2.0 * signs - 1.0
    centred = rng.random(size) - 0.5
    return centred * np.sqrt(12.0)


class FeatureNoise:
    """The distribution of the noise on samples in each round.

    Parameters
    ----------
    variances : array_like of shape (d,) or (n_rounds, d), optional
        Variances of independent entries, at least 0.
    covariance : array_like of shape (d, d) or (n_rounds, d, d), optional
        Covariance of the entries. Give either ``variances`` or ``covariance``.
    shapes : sequence of str, default ("gaussian",)
        Distributions that the noise goes through: "gaussian", "rademacher" or "uniform".
    cycle : int, default 64
        Rounds after which the next shape follows, at least 1.

    Raises
    ------
    ValueError
        If both or neither of the first two are given, or an argument is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.additive import FeatureNoise
    >>> noise = FeatureNoise(variances=[4.0, 0.0])
    >>> int(np.count_nonzero(noise.draw(np.random.default_rng(0), 3)[:, 1]))
    0
    >>> noise.covariance().tolist()
    [[4.0, 0.0], [0.0, 0.0]]
    """

    def __init__(
        self,
        *,
        variances: ArrayLike | None = None,
        covariance: ArrayLike | None = None,
        shapes: tuple[str, ...] | list[str] = ("gaussian",),
        cycle: int = 64,
    ) -> None:
        if (variances is None) == (covariance is None):
            raise ValueError("noise: give either variances or covariance")
        self._is_diagonal = covariance is None
        if variances is not None:
            any_shape: tuple[int | None, ...]
            if as_array("variances", variances).ndim < 2:
                any_shape = (None,)
            else:
                any_shape = (None, None)
            checked = nonnegative("variances", real("variances", variances, any_shape), any_shape)
            self._root = np.sqrt(checked)
        else:
            # A root by eigenvalues, because a singular covariance has one too.
            values, U = rotation(covariance)  # type: ignore[arg-type]
            self._root = U * np.sqrt(values)[..., None, :]
        unknown = [shape for shape in shapes if shape not in SHAPES]
        if unknown or not shapes:
            raise ValueError(f"shapes: {unknown} unknown; known: {', '.join(SHAPES)}")
        self.shapes = tuple(shapes)
        self.cycle = whole("cycle", cycle, 1)

    @property
    def d(self) -> int:
        """Number of entries of a sample."""
        return self._root.shape[-1]

    @property
    def changes(self) -> bool:
        """Whether the covariance changes from round to round."""
        return self._root.ndim > (1 if self._is_diagonal else 2)

    def covariance(self, t: int = 0) -> Floats:
        """Return the covariance of the noise in one round.

        Parameters
        ----------
        t : int, default 0
            Number of the round, from 0.

        Returns
        -------
        ndarray of shape (d, d)
            The covariance.
        """
        root = self._root[t] if self.changes else self._root
        if self._is_diagonal:
            return np.diag(root**2)
        return root @ root.T

    def draw(self, rng: np.random.Generator, rounds: ArrayLike) -> Floats:
        """Draw one vector of noise for each of the given rounds, independently.

        Parameters
        ----------
        rng : numpy.random.Generator
            Source of the draws. The same generator, shapes and rounds give the same numbers.
        rounds : int or array_like of int of shape (n,)
            Numbers of the rounds, from 0. A number n means rounds 0 to n - 1.

        Returns
        -------
        ndarray of shape (n, d)
            The noise.
        """
        t = np.asarray(rounds, dtype=np.int64)
        if t.ndim == 0:
            t = np.arange(int(t))
        noise = np.empty((len(t), self.d))
        shape_of_round = (t // self.cycle) % len(self.shapes)
        for i, shape in enumerate(self.shapes):
            rows = shape_of_round == i
            noise[rows] = standard(shape, rng, (int(rows.sum()), self.d))
        root = self._root[t] if self.changes else self._root
        if self._is_diagonal:
            noise *= root
            return noise
        if self.changes:
            return np.einsum("nij,nj->ni", root, noise)
        return noise @ root.T
