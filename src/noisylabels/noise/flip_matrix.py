r"""The flip matrix: the probability of each observed class given each true class.

Rows are true classes and sum to one, columns are observed classes:
:math:`\omega_{jk} = P(\text{observed } k \mid \text{true } j)`. With the softmax :math:`s_j` of the
decision values :math:`f_n`, the probability of an observed label is
:math:`\tilde{P}_n^k = \sum_j \omega_{jk} s_j(f_n)`. For two classes there may be one decision value
per sample, with :math:`s_1` its logistic function.

A likelihood does not know the names of the classes. They are taken to be right where
:math:`\omega_{01} + \omega_{10} < 1`, and for more than two classes where each diagonal entry is
the largest of its row and of its column.

Sources: Kabán and Bootkrajang, LABELNOISE 2017, equations (1) to (6); for more than two classes
Bootkrajang and Kabán, ECML PKDD 2012, Section 3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, log_expit

from noisylabels.validation import Array, Floats, finite

STARTING_FLIP_RATE = 0.2
"""Flip rate of every class at the start of a fit."""

SMALLEST_MASS = 1e-12
"""Number of samples below which a class keeps its row of the matrix."""

RESET_FLIP_RATE = 0.49
"""Flip rate of both classes after they have changed names."""


def start(K: int) -> Floats:
    """Make the flip matrix where fits begin: every class is right with probability 0.8.

    Parameters
    ----------
    K : int
        Number of classes.

    Returns
    -------
    ndarray of shape (K, K)
        The matrix. The rest of each row is in equal parts.

    Examples
    --------
    >>> from noisylabels.noise.flip_matrix import start
    >>> start(3).tolist()
    [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
    """
    is_diagonal = np.eye(K, dtype=bool)
    return np.where(is_diagonal, 1.0 - STARTING_FLIP_RATE, STARTING_FLIP_RATE / (K - 1))


START = start(2)
"""Flip matrix of two classes at the start of a fit."""


def from_rates(omega01: float, omega10: float) -> Floats:
    """Make the flip matrix of two classes from its two flip rates.

    Parameters
    ----------
    omega01 : float
        Probability that the true class 0 is observed as 1.
    omega10 : float
        Probability that the true class 1 is observed as 0.

    Returns
    -------
    ndarray of shape (2, 2)
        The matrix.

    Examples
    --------
    >>> from noisylabels.noise.flip_matrix import from_rates
    >>> from_rates(0.25, 0.5).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """
    return np.array([[1.0 - omega01, omega01], [omega10, 1.0 - omega10]])


def checked(omega: ArrayLike, K: int = 2) -> Floats:
    """Check a flip matrix that a user gives.

    Parameters
    ----------
    omega : array_like of shape (K, K)
        The matrix. For more than two classes, `START` stands for `start` of that many.
    K : int, default 2
        Number of classes.

    Returns
    -------
    ndarray of shape (K, K)
        The matrix as a new array.

    Raises
    ------
    ValueError
        If the shape is wrong, rows do not hold probabilities that sum to 1, or class names are
        permuted.

    Examples
    --------
    >>> from noisylabels.noise.flip_matrix import checked
    >>> checked([[0.4, 0.6], [0.5, 0.5]])
    Traceback (most recent call last):
    ValueError: omega: the flip rates omega_01 + omega_10 must be less than 1, ... got 0.6 + 0.5
    """
    shape = (2, 2) if K == 2 else (None, None)
    matrix = finite("omega", omega, shape).copy()
    if K > 2 and matrix.shape == (2, 2) and np.array_equal(matrix, START):
        return start(K)
    if matrix.shape != (K, K):
        fault = f"flip matrix of {K} classes must have shape ({K}, {K}), got {matrix.shape}"
    elif not (np.all(matrix >= 0) and np.allclose(matrix.sum(axis=1), 1.0)):
        rule = "flip matrix must have entries >= 0 and rows that sum to 1"
        fault = f"{rule}, got {matrix.tolist()}"
    elif not permuted(matrix):
        return matrix
    elif K == 2:
        rule = "flip rates omega_01 + omega_10 must be less than 1, else the classes change names"
        fault = f"{rule}; got {matrix[0, 1]:g} + {matrix[1, 0]:g}"
    else:
        rule = "diagonal of the flip matrix must hold the largest entry of each row and column"
        fault = f"{rule}, else the classes change names; got {matrix.tolist()}"
    raise ValueError(f"omega: the {fault}")


def log_sum(F: Floats) -> Floats:
    """Add up exponentials in every row, and take the logarithm, without overflow.

    Parameters
    ----------
    F : ndarray of shape (n, K)
        Decision values. Contiguous columns are fastest.

    Returns
    -------
    ndarray of shape (n, 1)
        The logarithms.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.flip_matrix import log_sum
    >>> log_sum(np.array([[1000.0, 1000.0]])).round(3).tolist()
    [[1000.693]]
    """
    largest = F.max(axis=1, keepdims=True)
    shifted = np.exp(F - largest)
    return np.asarray(largest + np.log(shifted.sum(axis=1, keepdims=True)))


def expected(
    f: Floats,
    labels: Array,
    omega: Floats,
    norm: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Compute `log_likelihood` and `posterior` at once.

    Parameters
    ----------
    f : ndarray of shape (n,) or (n, K)
        Decision values.
    labels : ndarray of shape (n,)
        Observed labels, 0 to K - 1.
    omega : ndarray of shape (K, K)
        The flip matrix.
    norm : ndarray of shape (n, 1), optional
        `log_sum` of f, if it is known.

    Returns
    -------
    log_likelihood : ndarray of shape (n,)
        Log-probability of each observed label.
    posterior : ndarray of shape (n,) or (n, K)
        Probability of the true classes, of class 1 if f has one value per sample.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.flip_matrix import expected, from_rates
    >>> log_likelihood, q = expected(np.zeros(1), np.array([1]), from_rates(0.25, 0.25))
    >>> round(float(np.exp(log_likelihood[0])), 2), round(float(q[0]), 2)
    (0.5, 0.75)
    """
    with np.errstate(divide="ignore"):  # the logarithm is -inf where the matrix has a zero
        log_omega = np.log(omega)[:, np.asarray(labels).astype(np.intp)]
    if f.ndim == 1:
        zero = log_omega[0] + log_expit(-f)
        one = log_omega[1] + log_expit(f)
        return np.logaddexp(zero, one), np.asarray(expit(one - zero))
    joint = f + log_omega.T
    log_total = log_sum(joint)
    if norm is None:
        norm = log_sum(f)
    return (log_total - norm)[:, 0], np.exp(joint - log_total)


def log_likelihood(f: Floats, labels: Array, omega: Floats) -> Floats:
    """Compute the log-probability of observed labels.

    Parameters
    ----------
    f : ndarray of shape (n,) or (n, K)
        Decision values.
    labels : ndarray of shape (n,)
        Observed labels, 0 to K - 1.
    omega : ndarray of shape (K, K)
        The flip matrix.

    Returns
    -------
    ndarray of shape (n,)
        The log-probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.flip_matrix import log_likelihood
    >>> log_likelihood(np.zeros(2), np.array([0, 1]), np.eye(2)).round(3).tolist()
    [-0.693, -0.693]
    """
    return expected(f, labels, omega)[0]


def posterior(f: Floats, labels: Array, omega: Floats) -> Floats:
    r"""Compute the probability of each true class, given the features and the observed label.

    Parameters
    ----------
    f : ndarray of shape (n,) or (n, K)
        Decision values.
    labels : ndarray of shape (n,)
        Observed labels, 0 to K - 1.
    omega : ndarray of shape (K, K)
        The flip matrix.

    Returns
    -------
    ndarray of shape (n,) or (n, K)
        The probabilities, those of class 1 if f has one value per sample.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.flip_matrix import from_rates, posterior
    >>> posterior(np.zeros(2), np.array([0, 1]), from_rates(0.25, 0.25)).round(2).tolist()
    [0.25, 0.75]

    Notes
    -----
    The probability is :math:`q_{nj} = \omega_{j \tilde{y}_n} s_j(f_n) / \tilde{P}_n`, computed in
    logarithms.
    """
    return expected(f, labels, omega)[1]


def updated(
    q: Floats,
    labels: Array,
    omega: Floats,
    weights: Floats | None = None,
) -> Floats:
    r"""Estimate the flip matrix from the probabilities of the true classes.

    Parameters
    ----------
    q : ndarray of shape (n,) or (n, K)
        Probabilities of the true classes, see `posterior`.
    labels : ndarray of shape (n,)
        Observed labels, 0 to K - 1.
    omega : ndarray of shape (K, K)
        Flip matrix so far. A class without samples keeps its row.
    weights : ndarray of shape (n,), optional
        Weights of the samples.

    Returns
    -------
    ndarray of shape (K, K)
        The new flip matrix. It never has a smaller likelihood.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.noise.flip_matrix import START, updated
    >>> true = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 1.0])
    >>> updated(true, np.array([0, 0, 0, 1, 1, 1]), START).tolist()
    [[0.75, 0.25], [0.0, 1.0]]

    Notes
    -----
    With weights :math:`a_n`, the new entries are
    :math:`\omega_{jk} = \sum_n a_n q_{nj} 1[\tilde{y}_n = k] / \sum_n a_n q_{nj}`.
    """
    if q.ndim == 2:
        if weights is None:
            share = q
        else:
            share = q * weights[:, np.newaxis]
        counts = share.T @ np.eye(q.shape[1])[labels]
        mass = counts.sum(axis=1, keepdims=True)
        has_mass = mass > SMALLEST_MASS
        return np.where(has_mass, counts / np.where(has_mass, mass, 1.0), omega)
    sample_weights = np.ones_like(q) if weights is None else weights
    is_observed_one = np.asarray(labels) == 1
    result = omega.copy()
    zero_share = sample_weights * (1.0 - q)
    zero_mass = zero_share.sum()
    if zero_mass > SMALLEST_MASS:
        flip_rate = min(zero_share[is_observed_one].sum() / zero_mass, 1.0)
        result[0] = 1.0 - flip_rate, flip_rate
    one_share = sample_weights * q
    one_mass = one_share.sum()
    if one_mass > SMALLEST_MASS:
        flip_rate = min(one_share[~is_observed_one].sum() / one_mass, 1.0)
        result[1] = flip_rate, 1.0 - flip_rate
    return result


def permuted(omega: Floats) -> bool:
    """Decide whether class names have changed places, see the top of this page.

    Parameters
    ----------
    omega : ndarray of shape (K, K)
        The flip matrix.

    Returns
    -------
    bool
        True if they have.

    Examples
    --------
    >>> from noisylabels.noise.flip_matrix import from_rates, permuted
    >>> permuted(from_rates(0.3, 0.6)), permuted(from_rates(0.6, 0.6))
    (False, True)
    """
    if len(omega) == 2:
        flips = omega[0, 1] + omega[1, 0]
        return bool(flips >= 1.0)
    diagonal = np.diag(omega)
    exceeds_in_row = diagonal < omega.max(axis=1)
    exceeds_in_column = diagonal < omega.max(axis=0)
    return bool(exceeds_in_row.any() or exceeds_in_column.any())


def projected(K: int = 2) -> Floats:
    """Make the flip matrix with which a fit goes on after class names have changed places.

    Parameters
    ----------
    K : int, default 2
        Number of classes.

    Returns
    -------
    ndarray of shape (K, K)
        The matrix. It holds almost no information: all entries off the diagonal are 0.98 / K.

    Examples
    --------
    >>> from noisylabels.noise.flip_matrix import projected
    >>> projected().tolist()
    [[0.51, 0.49], [0.49, 0.51]]
    """
    flip_rate = 2.0 * RESET_FLIP_RATE / K
    is_diagonal = np.eye(K, dtype=bool)
    diagonal = 1.0 - (K - 1) * flip_rate
    return np.where(is_diagonal, diagonal, flip_rate)
