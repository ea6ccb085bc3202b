r"""Logistic regression on randomly flipped labels, for many models on one kernel at once.

With the flip rates :math:`\omega_{01}` and :math:`\omega_{10}` the probability of an observed
label is :math:`\tilde P^1 = \omega_{01} (1 - \sigma) + \omega_{11} \sigma`,
:math:`\tilde P^0 = 1 - \tilde P^1`. The slope of :math:`\log \tilde P` in f is :math:`q - \sigma`
with :math:`q = P(y = 1 \mid f, \tilde y)`.

Source: Kabán and Bootkrajang, LABELNOISE 2017, eq. (1)-(6).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from noisylabels.blas_threads import single_threaded_if_small
from noisylabels.compilation import compile_kernel
from noisylabels.fixed_order.exp_and_log import LARGEST, exp_of_negative, log_of_positive
from noisylabels.fixed_order.lanes import fma, sum_lanes
from noisylabels.fixed_order.linear_algebra import put
from noisylabels.kernels.gaussian import Basis
from noisylabels.validation import Floats, choice

BLOCK = 128  # terms that are computed before they are summed
Bias = Literal["none", "free", "penalised"]
Penalty = Literal["weights", "rkhs"]
PriorFactor = Literal["slides", "exact"]
BETA = 2.0  # rate of the exponential prior of zeta
PRIOR_FACTORS = {"slides": 1.0, "exact": 0.5}
START = 0.2  # starting value of both flip rates
MEMORY = 5  # pairs of steps that L-BFGS remembers
CURVATURE = 0.15  # typical value of sigma (1 - sigma)
TOLERANCE = 1e-6  # gain still possible at the end, relative to the objective
SMALLEST_SHARE = 0.1  # the objective counts as at least this share of n log 2, its value at f = 0
ROUNDS = 300
LONGEST = 0.5  # largest step of a and b
HALVINGS = 25
SPARSE = 0.03  # share of nonzero entries below which only these are listed


@compile_kernel(error_model="numpy")
def _weights(omega01: float, omega10: float, y: float) -> tuple[float, float]:
    """Compute omega_0y and omega_1y of an observed label y, 0.0 or 1.0."""
    omega00 = 1.0 - omega01
    omega11 = 1.0 - omega10
    w0 = omega00 + y * (omega01 - omega00)
    w1 = omega10 + y * (omega11 - omega10)
    return w0, w1


@compile_kernel(error_model="numpy")
def _terms(
    f: Floats,
    step: Floats,
    t: float,
    y: Floats,
    omega01: float,
    omega10: float,
    out: Floats,
) -> None:
    """Write the terms of the sums of `likelihood`, then q - sigma, in four blocks of out."""
    for n in range(len(f)):
        u = fma(t, step[n], f[n])
        e = exp_of_negative(-min(abs(u), LARGEST))
        w0, w1 = _weights(omega01, omega10, y[n])
        e1 = 1.0 if u > 0.0 else e  # so that sigma = e1 / (1 + e)
        e0 = e if u > 0.0 else 1.0
        joint_one = w1 * e1
        numerator = fma(w0, e0, joint_one)
        inverse = 1.0 / (numerator * (1.0 + e))
        over = inverse * (1.0 + e)  # the reciprocal of the numerator
        sign = 2.0 * y[n] - 1.0
        sigma = e1 * inverse * numerator
        out[n] = log_of_positive(numerator * numerator * inverse)
        out[BLOCK + n] = sign * e0 * over
        out[2 * BLOCK + n] = sign * e1 * over
        out[3 * BLOCK + n] = joint_one * over - sigma


@compile_kernel(error_model="numpy")
def likelihood(
    f: Floats,
    step: Floats,
    t: float,
    y: Floats,
    omega01: float,
    omega10: float,
    slope: Floats,
) -> tuple[float, float, float]:
    r"""Compute the log-likelihood after a step, and its derivatives.

    Parameters
    ----------
    f : ndarray of shape (n,)
        Decision values.
    step : ndarray of shape (n,)
        Direction of the step.
    t : float
        Length of the step.
    y : ndarray of shape (n,)
        Observed labels, 0.0 and 1.0.
    omega01 : float
        Flip rate of class 0.
    omega10 : float
        Flip rate of class 1.
    slope : ndarray of shape (n,)
        Overwritten with :math:`q - \sigma`.

    Returns
    -------
    value : float
        The log-likelihood.
    slope01 : float
        Its derivative in the flip rate of class 0,
        :math:`\sum (2 y - 1)(1 - \sigma) / \tilde P`.
    slope10 : float
        Its derivative in the flip rate of class 1, :math:`-\sum (2 y - 1) \sigma / \tilde P`.
    """
    block = np.empty(4 * BLOCK)  # a single array shows the compiler that nothing overlaps
    value = 0.0
    slope01 = 0.0
    slope10 = 0.0
    for start in range(0, len(f), BLOCK):
        stop = min(start + BLOCK, len(f))
        count = stop - start
        _terms(f[start:stop], step[start:stop], t, y[start:stop], omega01, omega10, block)
        put(slope[start:stop], block[3 * BLOCK : 3 * BLOCK + count])
        value += sum_lanes(block, 0, count)
        slope01 += sum_lanes(block, BLOCK, count)
        slope10 -= sum_lanes(block, 2 * BLOCK, count)
    return value, slope01, slope10


@compile_kernel(error_model="numpy")
def posterior(f: Floats, y: Floats, omega01: float, omega10: float) -> Floats:
    """Compute the probabilities that the true labels are 1.

    Parameters
    ----------
    f : ndarray of shape (n,)
        Decision values.
    y : ndarray of shape (n,)
        Observed labels, 0.0 and 1.0.
    omega01 : float
        Flip rate of class 0.
    omega10 : float
        Flip rate of class 1.

    Returns
    -------
    ndarray of shape (n,)
        The probabilities, for known decision values and observed labels.
    """
    q = np.empty(len(f))
    for n in range(len(f)):
        e = exp_of_negative(-min(abs(f[n]), LARGEST))
        w0, w1 = _weights(omega01, omega10, y[n])
        if f[n] > 0.0:
            joint_zero = w0 * e
            joint_one = w1
        else:
            joint_zero = w0
            joint_one = w1 * e
        q[n] = joint_one / (joint_zero + joint_one)
    return q


def marginal_zeta(square: float, n: float, prior_factor: str, beta: float = BETA) -> float:
    r"""Compute the penalty on the squared norm of weights from their marginal prior.

    Parameters
    ----------
    square : float
        Squared norm of the weights.
    n : float
        Number of the weights.
    prior_factor : {"slides", "exact"}
        Factor of the penalty. "slides" is 1, what the paper uses. "exact" is 1/2, with which
        :math:`2 \zeta w` is the gradient of :math:`-\log p(w)`.
    beta : float, default 2.0
        Rate of the exponential prior.

    Returns
    -------
    float
        The penalty :math:`\zeta`.

    Raises
    ------
    ValueError
        If `prior_factor` is another word.

    Examples
    --------
    >>> from noisylabels.solvers.flipped_logistic import marginal_zeta
    >>> marginal_zeta(0.0, 10, "slides")
    3.0

    Notes
    -----
    :math:`\zeta = c_\zeta (n/2 + 1) / (\lVert w \rVert^2 / 2 + \beta)`.

    References
    ----------
    Kabán and Bootkrajang, LABELNOISE 2017, marginal prior of w.
    """
    factor = PRIOR_FACTORS[choice("prior_factor", prior_factor, PRIOR_FACTORS)]
    return factor * (n / 2.0 + 1.0) / (square / 2.0 + beta)


@dataclass(frozen=True)
class Columns:
    r"""The columns of a linear model that is equal to a kernel model.

    Parameters
    ----------
    Z : ndarray of shape (n, r) or (n, r + 1)
        The columns, the one of the bias last.
    norms : ndarray of shape (r,) or (r + 1,)
        Norms of the columns.
    penalised : int
        How many columns are penalised, from the first.
    factors : ndarray of shape (r,)
        Factors that turn weights of the columns into weights of the eigenvectors.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.solvers.flipped_logistic import Columns
    >>> Columns(np.eye(2), np.ones(2), 1, np.ones(2)).mask.tolist()
    [1.0, 0.0]

    Notes
    -----
    :math:`f = K w + b = Z \theta` with the penalty :math:`\zeta \sum_{j \le p} \theta_j^2` and
    :math:`w = Q\, \mathrm{diag}(factors)\, \theta`.
    """

    Z: Floats
    norms: Floats
    penalised: int
    factors: Floats

    @property
    def mask(self) -> Floats:
        """Mask of the penalised columns.

        Returns
        -------
        ndarray of shape (r,) or (r + 1,)
            1.0 for penalised columns, else 0.0.
        """
        return (np.arange(len(self.norms)) < self.penalised).astype(float)

    def weights(self, theta: Floats) -> tuple[Floats, Floats]:
        """Turn weights of the columns into weights of the eigenvectors.

        Parameters
        ----------
        theta : ndarray of shape (C, r) or (C, r + 1)
            Weights of the columns of each model.

        Returns
        -------
        v : ndarray of shape (C, r)
            Weights of the eigenvectors.
        b : ndarray of shape (C,)
            The biases.
        """
        r = len(self.factors)
        if theta.shape[1] > r:
            b = theta[:, r]
        else:
            b = np.zeros(len(theta))
        return theta[:, :r] * self.factors, b


def columns(basis: Basis, bias: str, penalty: str, smallest: float = 0.0) -> Columns:
    r"""Make the columns of a variant of kernel logistic regression.

    Parameters
    ----------
    basis : Basis
        Eigenvalues and eigenvectors of the kernel matrix.
    bias : {"none", "free", "penalised"}
        Whether there is a last column of ones, and whether it is penalised as if the bias was one
        more weight. With the penalty "rkhs" that is the kernel plus 1 without a bias.
    penalty : {"weights", "rkhs"}
        Whether the squared norm of the weights is penalised, with :math:`Z = Q \Lambda` and
        :math:`w = Q \theta`, or that of the function, :math:`w^T K w`, with
        :math:`Z = Q \Lambda^{1/2}` and :math:`w = Q \Lambda^{-1/2} \theta`.
    smallest : float, default 0.0
        Columns are left out where n times the squared norm is at most this.

    Returns
    -------
    Columns
        The columns.

    Raises
    ------
    ValueError
        If `bias` or `penalty` is another word.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.kernels.gaussian import Basis
    >>> from noisylabels.solvers.flipped_logistic import columns
    >>> basis = Basis(np.eye(2), np.array([4.0, 1.0]))
    >>> columns(basis, "free", "rkhs").Z.tolist()
    [[2.0, 0.0, 1.0], [0.0, 1.0, 1.0]]

    Notes
    -----
    The paper's eq. (1) is "none" with "weights"; the others are ours.
    """
    check_variant(bias, penalty)
    if penalty == "weights":
        root = basis.lam
    else:
        root = np.sqrt(basis.lam)
    r = int(np.count_nonzero(root**2 * len(basis.Q) > smallest))
    norms = root[:r]
    Z = basis.Q[:, :r] * norms
    factors = norms / basis.lam[:r]
    if bias == "none":
        return Columns(Z, norms, r, factors)
    n = len(Z)
    penalised = r + 1 if bias == "penalised" else r
    with_ones = np.column_stack([Z, np.ones(n)])
    return Columns(with_ones, np.append(norms, np.sqrt(n)), penalised, factors)


def check_variant(bias: str, penalty: str) -> None:
    """Refuse unknown words for a variant.

    Parameters
    ----------
    bias : {"none", "free", "penalised"}
        See `columns`.
    penalty : {"weights", "rkhs"}
        See `columns`.

    Raises
    ------
    ValueError
        If one is another word.

    Examples
    --------
    >>> from noisylabels.solvers.flipped_logistic import check_variant
    >>> check_variant("free", "rkhs")
    """
    choice("bias", bias, get_args(Bias))
    choice("penalty", penalty, get_args(Penalty))


@dataclass(frozen=True)
class Solution:
    """Logistic models that share one basis.

    Parameters
    ----------
    v : ndarray of shape (C, r)
        Weights of the eigenvectors.
    bias : ndarray of shape (C,)
        The biases.
    omega01 : ndarray of shape (C,)
        Flip rates of class 0.
    omega10 : ndarray of shape (C,)
        Flip rates of class 1.
    objective : ndarray of shape (C,)
        The objectives, which are minimised.
    converged : ndarray of shape (C,)
        Whether the minima were reached.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.solvers.flipped_logistic import Solution
    >>> zero = np.zeros(1)
    >>> Solution(np.zeros((1, 2)), zero, zero, zero, zero, zero == 0).converged.tolist()
    [True]
    """

    v: Floats
    bias: Floats
    omega01: Floats
    omega10: Floats
    objective: Floats
    converged: NDArray[np.bool_]


class _Batch:
    """The models that are still being fitted, each in one row of every array."""

    def __init__(
        self,
        reading: Columns,
        column: NDArray[np.int64],
        zeta: Floats,
        robust: bool,
    ) -> None:
        C = len(zeta)
        n, r = reading.Z.shape
        self.r = r
        self.penalised = reading.penalised
        self.robust = robust
        self.number = np.arange(C)  # the number of each model
        self.column = column
        self.zeta = zeta
        self.x = np.zeros((C, r + 2))
        if robust:
            self.x[:, r:] = math.sqrt(START / (1.0 - START))
        else:
            self.x[:, r:] = 0.0
        self.scale = np.empty((C, r + 2))
        self.scale[:, :r] = 1.0 / (CURVATURE * reading.norms**2 + 2.0 * zeta[:, np.newaxis])
        self.scale[:, self.penalised : r] = 1.0 / (CURVATURE * n)
        self.scale[:, r:] = 1.0 / n
        self.F = np.zeros((C, n))
        self.slope = np.empty((C, n))
        self.step = np.zeros((C, n))
        self.d = np.zeros((C, r + 2))
        self.g = np.zeros((C, r + 2))
        self.old = np.zeros((C, r + 2))
        self.S = np.zeros((C, MEMORY, r + 2))
        self.Y = np.zeros((C, MEMORY, r + 2))
        self.rho = np.zeros((C, MEMORY))
        self.value = np.full(C, np.inf)
        self.state = np.zeros(C, np.int64)
        self.product = np.empty((C, r))

    def search(self, labels: Floats) -> None:
        search(
            self.x,
            self.d,
            self.F,
            self.step,
            self.slope,
            self.g,
            labels,
            self.column,
            self.zeta,
            self.penalised,
            self.value,
            self.state,
            self.robust,
        )

    def choose_direction(self, round_: int, tolerance: float) -> None:
        direction(
            self.x,
            self.d,
            self.g,
            self.old,
            self.product,
            self.scale,
            self.S,
            self.Y,
            self.rho,
            self.zeta,
            self.penalised,
            self.value,
            self.state,
            round_,
            tolerance,
            self.F,
        )

    def keep(self, mask: NDArray[np.bool_]) -> None:
        """Drop the models outside the mask."""
        self.number = self.number[mask]
        self.column = self.column[mask]
        self.zeta = self.zeta[mask]
        self.value = self.value[mask]
        self.state = self.state[mask]
        for name in ("x", "d", "g", "old", "scale", "F", "S", "Y", "rho"):
            setattr(self, name, _front(getattr(self, name), mask))
        remaining = len(self.number)  # slope and step are written before anything reads them
        self.slope = self.slope[:remaining]
        self.step = self.step[:remaining]


@single_threaded_if_small
def fit_batch(
    basis: Basis,
    labels: Floats,
    column: NDArray[np.int64],
    zeta: Floats,
    robust: bool,
    tolerance: float = TOLERANCE,
    bias: str = "none",
    penalty: str = "weights",
) -> Solution:
    r"""Fit many models on one kernel by L-BFGS in lockstep.

    Each model starts from weights of 0 and flip rates of 0.2, and does not depend on the others.

    Parameters
    ----------
    basis : Basis
        Eigenvalues and eigenvectors of the kernel matrix.
    labels : ndarray of shape (L, n)
        Rows of observed labels, 0.0 and 1.0.
    column : ndarray of shape (C,)
        To which row of labels each model is fitted.
    zeta : ndarray of shape (C,)
        Penalty of each model.
    robust : bool
        Whether the flip rates are learned; else they are 0.
    tolerance : float, default 1e-6
        What may be left to gain, relative to the objective.
    bias : {"none", "free", "penalised"}, default "none"
        See `columns`.
    penalty : {"weights", "rkhs"}, default "weights"
        See `columns`.

    Returns
    -------
    Solution
        The models.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.kernels.gaussian import Basis
    >>> from noisylabels.solvers.flipped_logistic import fit_batch
    >>> basis = Basis(np.eye(2), np.ones(2))
    >>> column = np.zeros(1, np.int64)
    >>> fit = fit_batch(basis, np.array([[0.0, 1.0]]), column, np.array([0.1]), False)
    >>> bool(fit.converged[0] and fit.v[0, 0] < 0.0 < fit.v[0, 1])
    True

    Notes
    -----
    :math:`\min_{\theta, a, b} -\sum_n \log \tilde P_n + \zeta \sum_{j \le p} \theta_j^2` with
    :math:`f = Z \theta`, :math:`\omega_{01} = a^2 / (1 + a^2)` and
    :math:`\omega_{10} = b^2 / (1 + b^2)`.

    One model is one row of each array, so that a step of all models is two matrix products,
    :math:`F = \Theta Z^T` and :math:`(q - \sigma) Z`; what is between is one compiled pass.
    Because :math:`Z^T Z` is diagonal (a bias apart), the Hessian in :math:`\theta` is nearly
    :math:`\mathrm{diag}(h\, norms^2 + 2 \zeta)`, and L-BFGS starts from its inverse. f is linear
    along a search direction: the line search costs no matrix product. A model that has converged
    leaves the batch. Directions with :math:`n\, norms^2 / (4 \zeta)` at most the tolerance, which
    together cannot gain more than that, are left out: their v is 0.
    """
    C = len(zeta)
    reading = columns(basis, bias, penalty, smallest=4.0 * tolerance * zeta.min())
    r = len(reading.norms)
    times_Z = _product(reading.Z)
    times_ZT = _product(np.ascontiguousarray(reading.Z.T))
    theta = np.zeros((C, r))
    omega = np.zeros((C, 2))
    objective = np.zeros(C)
    converged = np.zeros(C, bool)
    batch = _Batch(reading, column, zeta, robust)
    for round_ in range(ROUNDS):
        batch.search(labels)
        times_Z(batch.slope, batch.product[: len(batch.number)])
        batch.choose_direction(round_, tolerance)
        done = batch.state != 0
        if round_ == ROUNDS - 1:
            done[:] = True
        if done.any():
            number = batch.number[done]
            theta[number] = batch.x[done, :r]
            objective[number] = batch.value[done]
            converged[number] = batch.state[done] == 1
            square = batch.x[done, r:] ** 2
            omega[number] = square / (1.0 + square)
            batch.keep(~done)
        if len(batch.number) == 0:
            break
        times_ZT(batch.d[:, :r], batch.step)
    v = np.zeros((C, len(basis.lam)))
    v[:, : len(reading.factors)], b = reading.weights(theta)
    return Solution(v, b, omega[:, 0], omega[:, 1], objective, converged)


def _front(array: Floats, mask: NDArray[np.bool_]) -> Floats:
    """Move the rows of the mask to the front, which is faster than new memory."""
    move(array.reshape(len(array), -1), mask)
    return array[: np.count_nonzero(mask)]


@compile_kernel(error_model="numpy")
def move(rows: Floats, mask: NDArray[np.bool_]) -> None:
    """Move some rows to the front, in their order.

    Parameters
    ----------
    rows : ndarray of shape (C, p)
        The rows, changed in place.
    mask : ndarray of shape (C,)
        Which of them are moved.
    """
    target = 0
    for c in range(len(rows)):
        if mask[c]:
            if target < c:
                for i in range(rows.shape[1]):
                    rows[target, i] = rows[c, i]
            target += 1


def _product(M: Floats) -> Callable[[Floats, Floats], object]:
    """Make a function that multiplies an array by M, through the listed entries if M has few."""
    if np.count_nonzero(M) > SPARSE * M.size:
        return lambda A, out: np.matmul(A, M, out=out)
    columns = csc_array(M)

    def multiply(A: Floats, out: Floats) -> None:
        sparse_product(A, columns.indptr, columns.indices, columns.data, out)

    return multiply


@compile_kernel(error_model="numpy")
def sparse_product(A, start, index, entry, out):  # type: ignore[no-untyped-def]
    """Multiply a matrix by a sparse matrix.

    Parameters
    ----------
    A : ndarray of shape (C, m)
        The matrix.
    start : ndarray of shape (k + 1,)
        Where each column of the sparse matrix begins among its entries.
    index : ndarray of shape (nnz,)
        Rows of the entries.
    entry : ndarray of shape (nnz,)
        The entries.
    out : ndarray of shape (C, k)
        Overwritten with the product.
    """
    for c in range(len(A)):
        for j in range(len(start) - 1):
            total = 0.0
            for k in range(start[j], start[j + 1]):
                total += A[c, index[k]] * entry[k]
            out[c, j] = total


@compile_kernel(error_model="numpy")
def rate(a: float) -> float:
    r"""Convert the root of the odds into a flip rate.

    Parameters
    ----------
    a : float
        The root.

    Returns
    -------
    float
        :math:`a^2 / (1 + a^2)`, which is 0 at a finite a and smooth there.
    """
    return a * a / (1.0 + a * a)


@compile_kernel(error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
def dot(x: Floats, y: Floats) -> float:
    """Compute the scalar product of two vectors, with sums in any order.

    Parameters
    ----------
    x : ndarray of shape (n,)
        One vector.
    y : ndarray of shape (n,)
        The other one.

    Returns
    -------
    float
        The product.
    """
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


@compile_kernel(error_model="numpy")
def search(  # type: ignore[no-untyped-def]
    x,
    d,
    F,
    step,
    slope,
    g,
    labels,
    column,
    zeta,
    penalised,
    value,
    state,
    robust,
):
    r"""Search along the directions of all models by backtracking.

    Parameters
    ----------
    x : ndarray of shape (C, r + 2)
        Weights and roots of the odds of the flip rates of each model, moved in place.
    d : ndarray of shape (C, r + 2)
        Directions, overwritten with the steps.
    F : ndarray of shape (C, n)
        Decision values, moved in place.
    step : ndarray of shape (C, n)
        Change of the decision values along the directions.
    slope : ndarray of shape (C, n)
        Overwritten with :math:`q - \sigma`.
    g : ndarray of shape (C, r + 2)
        Gradients; the slopes of the flip rates are overwritten.
    labels : ndarray of shape (L, n)
        Rows of observed labels.
    column : ndarray of shape (C,)
        The row of labels of each model.
    zeta : ndarray of shape (C,)
        Penalties.
    penalised : int
        How many weights are penalised.
    value : ndarray of shape (C,)
        The objectives, overwritten.
    state : ndarray of shape (C,)
        Set to 2 where no step lowers the objective.
    robust : bool
        Whether flip rates are learned.
    """
    r = x.shape[1] - 2
    p = penalised
    for c in range(len(x)):
        y = labels[column[c]]
        xx = dot(x[c, :p], x[c, :p])
        xd = dot(x[c, :p], d[c, :p])
        dd = dot(d[c, :p], d[c, :p])
        gd = dot(g[c], d[c])
        t = 1.0
        if robust:
            longest = max(abs(d[c, r]), abs(d[c, r + 1]))
            if longest > LONGEST:
                t = LONGEST / longest
        omega01 = 0.0
        omega10 = 0.0
        new = 0.0
        slope01 = 0.0
        slope10 = 0.0
        for k in range(HALVINGS):
            if robust:
                end01 = x[c, r] + t * d[c, r]
                omega01 = rate(end01)
                end10 = x[c, r + 1] + t * d[c, r + 1]
                omega10 = rate(end10)
            fit, slope01, slope10 = likelihood(F[c], step[c], t, y, omega01, omega10, slope[c])
            square_of_end = xx + 2.0 * t * xd + t * t * dd
            new = zeta[c] * square_of_end - fit
            wanted = value[c] + 1e-4 * t * gd
            if new <= wanted:
                break
            if k == HALVINGS - 1:
                state[c] = 2
                t = 0.0
                break
            excess = new - value[c] - gd * t
            guess = -0.5 * gd * t * t / excess
            t = min(max(guess, 0.1 * t), 0.5 * t)
        if state[c] == 2:
            continue
        value[c] = new
        for i in range(len(F[c])):
            F[c, i] += t * step[c, i]
        for i in range(r + 2):
            d[c, i] *= t
            x[c, i] += d[c, i]
        if robust:
            g[c, r] = -slope01 * 2.0 * x[c, r] * (1.0 - omega01) ** 2
            g[c, r + 1] = -slope10 * 2.0 * x[c, r + 1] * (1.0 - omega10) ** 2


@compile_kernel(error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
def direction(  # type: ignore[no-untyped-def]
    x,
    d,
    g,
    old,
    product,
    scale,
    S,
    Y,
    rho,
    zeta,
    penalised,
    value,
    state,
    round_,
    tolerance,
    F,
):
    r"""Compute the gradients, store the last steps, and choose the next directions by L-BFGS.

    Parameters
    ----------
    x : ndarray of shape (C, r + 2)
        Weights and roots of the odds of the flip rates of each model.
    d : ndarray of shape (C, r + 2)
        The steps just done, overwritten with the next directions.
    g : ndarray of shape (C, r + 2)
        Gradients; those of the weights are overwritten.
    old : ndarray of shape (C, r + 2)
        Gradients before the steps, overwritten with the gradients.
    product : ndarray of shape (at least C, r)
        :math:`(q - \sigma) Z`.
    scale : ndarray of shape (C, r + 2)
        Diagonal of the inverse Hessian to start from.
    S : ndarray of shape (C, 5, r + 2)
        Stored steps.
    Y : ndarray of shape (C, 5, r + 2)
        Stored changes of the gradients.
    rho : ndarray of shape (C, 5)
        Inverses of their products, 0 for a pair that is not used.
    zeta : ndarray of shape (C,)
        Penalties.
    penalised : int
        How many weights are penalised.
    value : ndarray of shape (C,)
        The objectives.
    state : ndarray of shape (C,)
        0 for models that go on; set to 1 where a model has converged.
    round_ : int
        Number of rounds before this one.
    tolerance : float
        What may be left to gain, relative to the objective.
    F : ndarray of shape (C, n)
        Decision values.
    """
    size = x.shape[1]
    r = size - 2
    memory = S.shape[1]
    alpha = np.empty(memory)
    for c in range(len(x)):
        if state[c] != 0:
            continue
        for i in range(penalised):
            pull = 2.0 * zeta[c] * x[c, i]
            g[c, i] = pull - product[c, i]
        for i in range(penalised, r):
            g[c, i] = -product[c, i]
        newton = 1.0
        if round_ > 0:
            k = (round_ - 1) % memory
            for i in range(size):
                S[c, k, i] = d[c, i]
                Y[c, k, i] = g[c, i] - old[c, i]
            sy = dot(S[c, k], Y[c, k])
            ss = dot(S[c, k], S[c, k])
            yy = dot(Y[c, k], Y[c, k])
            if sy > 1e-10 * math.sqrt(ss * yy):
                rho[c, k] = 1.0 / sy
            else:
                rho[c, k] = 0.0
        for i in range(size):
            old[c, i] = g[c, i]
            d[c, i] = -g[c, i]
        plain = 0.0
        for i in range(size):
            plain += g[c, i] * g[c, i] * scale[c, i]
        pairs = min(round_, memory)
        for j in range(pairs):
            k = (round_ - 1 - j) % memory
            inner = dot(S[c, k], d[c])
            alpha[k] = rho[c, k] * inner
            if rho[c, k] != 0.0:
                if newton == 1.0:
                    yhy = 0.0
                    for i in range(size):
                        yhy += Y[c, k, i] * Y[c, k, i] * scale[c, i]
                    newton = 1.0 / (rho[c, k] * yhy)
                for i in range(size):
                    d[c, i] -= alpha[k] * Y[c, k, i]
        for i in range(size):
            d[c, i] *= newton * scale[c, i]
        for j in range(pairs - 1, -1, -1):
            k = (round_ - 1 - j) % memory
            if rho[c, k] != 0.0:
                share = rho[c, k] * dot(Y[c, k], d[c])
                beta = alpha[k] - share
                for i in range(size):
                    d[c, i] += beta * S[c, k, i]
        gd = dot(g[c], d[c])
        smallest_objective = SMALLEST_SHARE * math.log(2.0) * F.shape[1]
        size_of_gradient = max(-gd, plain)
        size_of_value = max(value[c], smallest_objective)
        if size_of_gradient <= 2.0 * tolerance * size_of_value:
            state[c] = 1
