r"""Stochastic gradient descent on a mean loss of margins with a quadratic penalty.

The objective is
:math:`G(w) = \frac{1}{n} \sum_i [\frac{\lambda}{2} \lVert w \rVert^2 + r(y_i (x_i \cdot w + b))]`
and a step is :math:`w \leftarrow w - \eta_t [\lambda w + r'(z_i) y_i x_i]`, where
:math:`z_i = y_i (x_i \cdot w + b)` is the margin before the step. The factors
:math:`1 - \eta_t \lambda` are kept apart from the weights, :math:`w = s v`, so that a step costs
only the nonzero entries of its example. The sum of the weights over the steps is kept in the same
lazy way.

The paper says "learning rate eta" only; these interpretations of it are ours. With the number t of
earlier steps of the run and n examples in an epoch, the step sizes are, by name::

    warm_inv_epoch   eta0 min(1, (t+1)/n) / (1 + t/n)   ramp in the first epoch, then 1/epoch
    inv_sqrt_epoch   eta0 / sqrt(1 + t/n)
    bottou           eta0 / (1 + lambda eta0 t)
    asgd             eta0 / (1 + lambda eta0 t)^(3/4)   for averaging
    constant         eta0                               Algorithm 1 to the letter

The default is "warm_inv_epoch".

Sources: Han, Tsang, Chen, ECML PKDD 2016, Algorithm 1; lazy sums and "asgd": W. Xu,
arXiv:1107.2490, Section 6; "bottou": Bottou, Neural Networks: Tricks of the Trade, 2012.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from noisylabels.compilation import compile_kernel
from noisylabels.losses.compiling import over_arrays
from noisylabels.losses.margin import Loss, columns, compiled_slope
from noisylabels.validation import Array, Floats, Ints, choice

LINE = 64  # bytes in a cache line
Order = NDArray[np.uint32]


class DenseRows(NamedTuple):
    """Rows of a dense matrix, one after the other.

    Attributes
    ----------
    values : ndarray of shape (n d,)
        The entries; row i begins at i d.
    d : int
        Number of features.
    """

    values: Array
    d: int


class SparseRows(NamedTuple):
    """Rows of a sparse matrix in CSR form.

    Attributes
    ----------
    values : ndarray of shape (nnz,)
        The stored entries, row after row.
    indices : ndarray of shape (nnz,)
        Their columns, as uint32.
    indptr : ndarray of shape (n + 1,)
        Where each row begins among the entries, as int64, and where the last one ends.
    """

    values: Array
    indices: Array
    indptr: Array


Rows = DenseRows | SparseRows


def as_rows(X: Any) -> Rows:
    """Make rows for the compiled passes of a dense or sparse matrix.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, d)
        The matrix. Values that are C-contiguous or in CSR form are not copied.

    Returns
    -------
    DenseRows or SparseRows
        The rows.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.solvers.sgd import as_rows
    >>> as_rows(np.eye(2)).values.tolist()
    [1.0, 0.0, 0.0, 1.0]
    """
    if isinstance(X, np.ndarray):
        return DenseRows(np.ascontiguousarray(X).reshape(-1), X.shape[1])
    csr = X.tocsr()
    # unsigned indices spare every access the test for negative ones
    return SparseRows(csr.data, csr.indices.astype(np.uint32), csr.indptr.astype(np.int64))


def largest_square(X: Any) -> float:
    """Compute the largest squared norm of a row.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, d)
        The rows.

    Returns
    -------
    float
        The largest squared norm.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.solvers.sgd import largest_square
    >>> largest_square(np.array([[3.0, 4.0], [1.0, 1.0]]))
    25.0
    """
    if isinstance(X, np.ndarray):
        return float(np.einsum("ij,ij->i", X, X).max())
    return float(X.multiply(X).sum(axis=1).max())


@intrinsic
def _hint(typing_context: Any, array: Any, k: Any) -> Any:
    """Hint that array[k] will be read soon."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(array)(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), cgutils.voidptr_t)
        word = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        read = word(0)
        keep = word(3)
        is_data = word(1)
        builder.call(function, [address, read, keep, is_data])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


_prefetch: Any = _hint  # the caller does not pass the typing context that numba adds


def _prefetch_indices(rows: Any, start: Any, count: Any) -> Any:
    for k in range(start, start + count, LINE // rows.indices.itemsize):
        _prefetch(rows.indices, k)


def _either(dense: Callable[..., Any], sparse: Callable[..., Any]) -> Any:
    """Choose for compiled code the function that suits the storage of the first argument, rows."""

    def function(rows: Rows, *arguments: Any) -> Any:
        raise NotImplementedError

    @overload(function, inline="always", strict=False)
    def chosen(rows: Any, *arguments: Any) -> Any:
        return dense if rows.instance_class is DenseRows else sparse

    return function


# Row i is values[start : start + count]; its j-th value is in column `_column(rows, start, j)`.
_span = _either(
    lambda rows, i: (np.intp(i) * rows.d, rows.d),
    lambda rows, i: (rows.indptr[i], rows.indptr[i + 1] - rows.indptr[i]),
)
_column = _either(
    lambda rows, start, j: j,
    lambda rows, start, j: rows.indices[start + j],
)
_fetch_columns = _either(
    lambda rows, start, count: None,
    _prefetch_indices,
)


@compile_kernel(inline="always")
def dot(rows: Rows, i: int, w: Floats) -> float:
    """Compute the product of a row and the weights, in four interleaved partial sums.

    Parameters
    ----------
    rows : DenseRows or SparseRows
        The rows.
    i : int
        Number of the row.
    w : ndarray of shape (at least d,)
        Weights.

    Returns
    -------
    float
        The product.
    """
    x = rows.values
    start, count = _span(rows, i)
    a = b = c = e = 0.0
    for j in range(0, count - 3, 4):
        a += x[start + j] * w[_column(rows, start, j)]
        b += x[start + j + 1] * w[_column(rows, start, j + 1)]
        c += x[start + j + 2] * w[_column(rows, start, j + 2)]
        e += x[start + j + 3] * w[_column(rows, start, j + 3)]
    for j in range(count - count % 4, count):
        a += x[start + j] * w[_column(rows, start, j)]
    return (a + b) + (c + e)


@compile_kernel(inline="always")
def add(rows: Rows, i: int, w: Floats, c: float) -> None:
    """Add a multiple of a row to the weights.

    Parameters
    ----------
    rows : DenseRows or SparseRows
        The rows.
    i : int
        Number of the row.
    w : ndarray of shape (at least d,)
        Weights, changed in place.
    c : float
        Factor.
    """
    start, count = _span(rows, i)
    for j in range(count):
        w[_column(rows, start, j)] += c * rows.values[start + j]


@compile_kernel(inline="always")
def energy(rows: Rows, i: int) -> float:
    """Compute the squared norm of a row.

    Parameters
    ----------
    rows : DenseRows or SparseRows
        The rows.
    i : int
        Number of the row.

    Returns
    -------
    float
        The squared norm.
    """
    start, count = _span(rows, i)
    total = 0.0
    for k in range(start, start + count):
        total += rows.values[k] * rows.values[k]
    return total


@compile_kernel(inline="always")
def dots(rows: Rows, i: int, W: Floats, z: Floats) -> None:
    """Compute the products of a row and the weights of many models.

    Parameters
    ----------
    rows : DenseRows or SparseRows
        The rows.
    i : int
        Number of the row.
    W : ndarray of shape (at least d, M)
        Weights of the models, by columns.
    z : ndarray of shape (M,)
        Overwritten with the products.
    """
    start, count = _span(rows, i)
    z[:] = 0.0
    for j in range(count):
        _gather(W[_column(rows, start, j)], rows.values[start + j], z)


@compile_kernel(inline="always")
def adds(rows: Rows, i: int, W: Floats, c: Floats) -> None:
    """Add multiples of a row to the weights of many models.

    Parameters
    ----------
    rows : DenseRows or SparseRows
        The rows.
    i : int
        Number of the row.
    W : ndarray of shape (at least d, M)
        Weights of the models, by columns, changed in place.
    c : ndarray of shape (M,)
        Factor of each model.
    """
    start, count = _span(rows, i)
    for j in range(count):
        _gather(c, rows.values[start + j], W[_column(rows, start, j)])


@compile_kernel(inline="always")
def _gather(source: Floats, x: float, target: Floats) -> None:
    """Add x times the source to the target, one entry per model."""
    for m in range(len(target)):
        target[m] += x * source[m]


@compile_kernel(inline="always")
def fetch(rows: Rows, y: Floats, i: int) -> None:
    """Ask the memory for a row and its label, which are needed a few steps later.

    Parameters
    ----------
    rows : DenseRows or SparseRows
        The rows.
    y : ndarray of shape (n,)
        Labels.
    i : int
        Number of the row.
    """
    _prefetch(y, np.intp(i))
    start, count = _span(rows, i)
    for k in range(start, start + count, LINE // rows.values.itemsize):
        _prefetch(rows.values, k)
    _fetch_columns(rows, start, count)


AHEAD = 6  # rows between a read-ahead and its use
# lazy weights are 1e200 times too large at this scale, without loss of digits
SMALLEST_SCALE = 1e-200
SMALLEST_SCALE_OF_SUM = 1e-4  # the lazy sum loses about 1/scale to cancellation


class Schedule(NamedTuple):
    r"""The step size as a function of the number of earlier steps, for one model or M models.

    Attributes
    ----------
    eta0 : float or ndarray of shape (M,)
        Factor of all steps.
    decay : float or ndarray of shape (M,)
        How fast the steps get smaller.
    power : float
        Power of the decrease.
    warm : float
        Number of the first steps that are shorter; 1 for none.

    Notes
    -----
    :math:`\eta_t = \eta_0 \min(1, (t + 1) / \mathrm{warm}) / (1 + \mathrm{decay}\, t)^{power}`.
    """

    eta0: Any
    decay: Any
    power: float
    warm: float


class Objective(NamedTuple):
    """The loss and its penalties.

    For labels +1 and -1 the loss is :math:`u r(z) + v r(-z)` with a pair (u, v) for each label;
    (1, 0) is the loss itself.

    Attributes
    ----------
    loss : Loss
        The loss r of a margin.
    lam : float
        Penalty on the squared norm of the weights.
    bias : float
        Value of the constant feature, 0 for none.
    bias_lam : float
        Penalty on the square of its weight.
    positive : tuple of two floats
        The pair of label +1.
    negative : tuple of two floats
        The pair of label -1.
    """

    loss: Loss
    lam: float
    bias: float
    bias_lam: float
    positive: tuple[float, float] = (1.0, 0.0)
    negative: tuple[float, float] = (1.0, 0.0)


@compile_kernel(error_model="numpy")
def step_size(schedule: Schedule, t: int) -> float:
    """Compute the size of a step.

    Parameters
    ----------
    schedule : Schedule
        The schedule of one model.
    t : int
        Number of earlier steps.

    Returns
    -------
    float
        The step size.
    """
    eta = schedule.eta0
    if t + 1 < schedule.warm:
        eta *= (t + 1) / schedule.warm
    grown = 1.0 + schedule.decay * t
    if schedule.power == 1.0:
        return eta / grown
    if schedule.power == 0.75:
        root = math.sqrt(grown)
        return eta / (root * math.sqrt(root))
    return eta / grown**schedule.power


def epoch(
    rows: Rows,
    y: Floats,
    order: Order,
    w: Floats,
    total: Floats,
    averaged: bool,
    objective: Objective,
    schedule: Schedule,
    t: int,
) -> None:
    """Step through rows in an order, and change the weights in place.

    Parameters
    ----------
    rows : DenseRows or SparseRows
        The rows.
    y : ndarray of shape (n,)
        Labels, -1.0 and +1.0.
    order : ndarray of uint32
        Numbers of the rows, in the order of the steps.
    w : ndarray of shape (d + 1,)
        Weights, the bias last.
    total : ndarray of shape (d + 1,)
        Sum of the weights over the steps, added to if `averaged`.
    averaged : bool
        Whether the weights are summed.
    objective : Objective
        Loss and penalties.
    schedule : Schedule
        Step sizes.
    t : int
        Number of earlier steps.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.losses.margin import Log
    >>> from noisylabels.solvers import sgd
    >>> w, order = np.zeros(2), np.zeros(1, np.uint32)
    >>> rows, labels = sgd.as_rows(np.ones((1, 1))), np.ones(1)
    >>> objective = sgd.Objective(Log(), 0.0, 1.0, 0.0)
    >>> steps = sgd.schedule("constant", 1.0, 0.0, 1)
    >>> sgd.epoch(rows, labels, order, w, np.zeros(2), False, objective, steps, 0)
    >>> w.tolist()
    [0.5, 0.5]
    """
    loss, lam, bias, bias_lam, *mixed = objective
    slopes = compiled_slope(loss)
    parameters = columns([loss])
    terms = float(lam), float(bias), float(bias_lam), *mixed
    _epoch(rows, y, order, w, total, averaged, slopes, parameters, terms, schedule, t)


@compile_kernel(error_model="numpy")
def _epoch(
    rows: Rows,
    y: Floats,
    order: Order,
    w: Floats,
    total: Floats,
    averaged: bool,
    slopes: int,
    parameters: Floats,
    terms: Any,
    schedule: Schedule,
    t: int,
) -> None:
    lam, constant, bias_lam, positive, negative = terms
    d = len(w) - 1
    scale = 1.0  # lazy form: the weights are scale w, and their sum is total + kappa w
    kappa = 0.0
    bias = w[d]
    floor = SMALLEST_SCALE_OF_SUM if averaged else SMALLEST_SCALE
    last = len(order) - 1
    margin = np.empty(1)
    slope = np.empty(1)
    for k in range(len(order)):
        fetch(rows, y, order[min(k + AHEAD, last)])
        i = order[k]
        label = y[i]
        eta = step_size(schedule, t + k)
        margin[0] = label * (scale * dot(rows, i, w) + constant * bias)
        u, v = positive if label > 0 else negative
        over_arrays(slopes, margin.ctypes, parameters.ctypes, 1, slope.ctypes, 1)
        g = u * slope[0]
        if v != 0.0:
            margin[0] = -margin[0]
            over_arrays(slopes, margin.ctypes, parameters.ctypes, 1, slope.ctypes, 1)
            g -= v * slope[0]
        step = -eta * label * g
        scale *= 1.0 - eta * lam
        bias *= 1.0 - eta * bias_lam
        if step != 0.0:
            add(rows, i, w, step / scale)
            bias += step * constant
            if averaged:
                add(rows, i, total, -kappa * step / scale)
        if scale < floor:
            _flush(w, total, scale, kappa)
            scale = 1.0
            kappa = 0.0
        if averaged:
            kappa += scale
            total[d] += bias
    _flush(w, total, scale, kappa)
    w[d] = bias


@compile_kernel(error_model="numpy")
def softmax_epoch(
    rows: Rows,
    y: Ints,
    order: Order,
    W: Floats,
    total: Floats,
    averaged: bool,
    terms: tuple[float, float, float],
    schedule: Schedule,
    t: int,
) -> None:
    r"""Step through rows in an order as `epoch` does, for the softmax of several classes.

    Parameters
    ----------
    rows : DenseRows or SparseRows
        The rows.
    y : ndarray of shape (n,)
        Labels, numbers of classes from 0.
    order : ndarray of uint32
        Numbers of the rows, in the order of the steps.
    W : ndarray of shape (K, d + 1)
        Weights of the classes, the biases last, changed in place.
    total : ndarray of shape (K, d + 1)
        Sum of the weights over the steps, added to if `averaged`.
    averaged : bool
        Whether the weights are summed.
    terms : tuple of three floats
        The penalty, the constant feature, and the penalty on its weights.
    schedule : Schedule
        Step sizes.
    t : int
        Number of earlier steps.

    Notes
    -----
    The objective is
    :math:`\frac{1}{n} \sum_i -\log s_{y_i}(W x_i) + \lambda \sum_k \lVert w_k \rVert^2` with the
    softmax s. The step is :math:`\eta_t / 2`, so that :math:`w_1 - w_0` of two classes moves as w
    of the logistic loss does.
    """
    lam, constant, bias_lam = terms
    K = W.shape[0]
    d = W.shape[1] - 1
    scale = 1.0
    kappa = 0.0
    floor = SMALLEST_SCALE_OF_SUM if averaged else SMALLEST_SCALE
    z = np.empty(K)
    for k in range(len(order)):
        i = order[k]
        eta = step_size(schedule, t + k)
        for m in range(K):
            z[m] = scale * dot(rows, i, W[m]) + constant * W[m, d]
        z[:] = np.exp(z - z.max())
        z /= z.sum()
        scale *= 1.0 - eta * lam
        for m in range(K):
            step = 0.5 * eta * ((m == y[i]) - z[m])
            add(rows, i, W[m], step / scale)
            W[m, d] = W[m, d] * (1.0 - eta * bias_lam) + step * constant
            if averaged:
                add(rows, i, total[m], -kappa * step / scale)
                total[m, d] += W[m, d]
        if scale < floor:
            for m in range(K):
                _flush(W[m], total[m], scale, kappa)
            scale = 1.0
            kappa = 0.0
        if averaged:
            kappa += scale
    for m in range(K):
        _flush(W[m], total[m], scale, kappa)


@compile_kernel()
def _flush(w: Floats, total: Floats, scale: float, kappa: float) -> None:
    """Bring the weights (but the bias) and their sum from the lazy form into the plain one."""
    for j in range(len(w) - 1):
        total[j] += kappa * w[j]
        w[j] *= scale


BLOCK = 64  # neighbouring rows that an epoch reads together
_BUCKET = 8192  # number of rows whose numbers fit into the first-level cache


def permutation(n: int, rng: np.random.Generator) -> Order:
    """Draw a uniformly random permutation, in buckets that fit the cache.

    Parameters
    ----------
    n : int
        Length.
    rng : numpy.random.Generator
        Source of random numbers.

    Returns
    -------
    ndarray of uint32 and shape (n,)
        The numbers 0 to n - 1.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.solvers.sgd import permutation
    >>> sorted(permutation(4, np.random.default_rng(0)).tolist())
    [0, 1, 2, 3]

    Notes
    -----
    Each number gets a random bucket, and each bucket is shuffled.

    References
    ----------
    C. R. Rao, Sankhya A 23 (1961); M. Sandelius, J. Royal Stat. Soc. B 24 (1962).
    """
    order = np.empty(n, np.uint32)
    buckets = 1 + n // _BUCKET
    bucket = rng.integers(buckets, size=n, dtype=np.uint32)
    ends = np.zeros(buckets + 1, np.int64)
    _fill(order, bucket, ends, rng.random(n))
    return order


def block_order(n: int, rng: np.random.Generator) -> Order:
    """Shuffle blocks of 64 neighbours, and the numbers in each block.

    Parameters
    ----------
    n : int
        Length.
    rng : numpy.random.Generator
        Source of random numbers.

    Returns
    -------
    ndarray of uint32 and shape (n,)
        The numbers 0 to n - 1.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.solvers.sgd import block_order
    >>> sorted(block_order(3, np.random.default_rng(0)).tolist())
    [0, 1, 2]
    """
    order = np.empty(n, np.uint32)
    blocks = permutation(-(-n // BLOCK), rng)
    _fill_blocks(order, blocks, rng.random(n))
    return order


@compile_kernel()
def _shuffle(order: Array, start: int, stop: int, u: Array) -> None:
    """Shuffle order[start:stop] by Fisher and Yates with the uniform numbers u[start:stop]."""
    for i in range(stop - 1, start, -1):
        j = start + int(u[i] * (i - start + 1))
        order[i], order[j] = order[j], order[i]


@compile_kernel()
def _fill(order: Array, bucket: Array, ends: Array, u: Array) -> None:
    """Sort numbers by their bucket and shuffle each; ends has a zero per bucket and one more."""
    for k in bucket:
        ends[k + 1] += 1
    for k in range(1, len(ends)):
        ends[k] += ends[k - 1]
    for i in range(len(bucket)):  # ends[k] moves from the start of bucket k to its end
        order[ends[bucket[i]]] = i
        ends[bucket[i]] += 1
    start = np.int64(0)
    for stop in ends[:-1]:
        _shuffle(order, start, stop, u)
        start = stop


@compile_kernel()
def _fill_blocks(order: Array, blocks: Array, u: Array) -> None:
    """Write the blocks one after the other, each shuffled."""
    stop = np.int64(0)
    for block in blocks:
        start = stop
        first = int(block) * BLOCK
        for i in range(first, min(first + BLOCK, len(order))):
            order[stop] = i
            stop += 1
        _shuffle(order, start, stop, u)


ScheduleName = Literal["warm_inv_epoch", "inv_sqrt_epoch", "bottou", "asgd", "constant"]
SCHEDULES = get_args(ScheduleName)
_SAMPLE = 1000  # number of rows in Bottou's search


def schedule(name: str, eta0: float, lam: float, n: int) -> Schedule:
    """Make the schedule of a name.

    Parameters
    ----------
    name : str
        One of `SCHEDULES`; see the module.
    eta0 : float
        Factor of all steps.
    lam : float
        Penalty on the squared norm of the weights.
    n : int
        Number of steps of an epoch.

    Returns
    -------
    Schedule
        The schedule.

    Raises
    ------
    ValueError
        If the name is unknown, or the product of `eta0` and `lam` is not below 1, which would
        reverse the weights.

    Examples
    --------
    >>> from noisylabels.solvers.sgd import schedule
    >>> schedule("asgd", 0.5, 0.1, 100).power
    0.75
    """
    choice("schedule", name, SCHEDULES)
    if eta0 * lam >= 1:
        product = f"eta0 lambda = {eta0:g} x {lam:g}"
        raise ValueError(f"{product} must be < 1: such a step reverses the weights")
    if name in ("warm_inv_epoch", "inv_sqrt_epoch"):
        decay = 1 / n
    elif name == "constant":
        decay = 0.0
    else:
        decay = lam * eta0
    power = {"inv_sqrt_epoch": 0.5, "asgd": 0.75}.get(name, 1.0)
    warm = n if name == "warm_inv_epoch" else 1
    return Schedule(float(eta0), float(decay), power, float(warm))


def scaled_step(multiplier: float, loss: Loss, size: float, lam: float) -> float:
    r"""Scale the first step by the curvature of the loss and the size of the rows.

    Parameters
    ----------
    multiplier : float
        Factor.
    loss : Loss
        The loss, with its curvature L.
    size : float
        Largest squared norm of a row, the constant feature included.
    lam : float
        Penalty on the squared norm of the weights.

    Returns
    -------
    float
        The factor :math:`\eta_0` of the steps.

    Examples
    --------
    >>> from noisylabels.losses.margin import Log
    >>> from noisylabels.solvers.sgd import scaled_step
    >>> scaled_step(1.0, Log(), 4.0, 0.01)
    1.0

    Notes
    -----
    :math:`\eta_0` is the multiplier divided by :math:`L \max_i \lVert x_i \rVert^2`, or
    :math:`1 / (2 \lambda)` where that would make :math:`\eta_0 \lambda \ge 1`.
    """
    eta0 = multiplier / (loss.curvature * max(size, np.finfo(float).tiny))
    if eta0 * lam < 1:
        return eta0
    return 0.5 / lam


def first_step(name: str, multiplier: float, X: Any, y: Floats, objective: Objective) -> float:
    r"""Choose the factor of the steps for a schedule.

    Parameters
    ----------
    name : str
        Name of the schedule.
    multiplier : float
        Factor, not used by "constant".
    X : ndarray or sparse matrix of shape (n, d)
        The rows.
    y : ndarray of shape (n,)
        Labels, -1 and +1.
    objective : Objective
        Loss and penalties.

    Returns
    -------
    float
        `multiplier` times `searched_step` for "bottou", the constant step for "constant", else
        `scaled_step`.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.losses.margin import Log
    >>> from noisylabels.solvers.sgd import Objective, first_step
    >>> objective = Objective(Log(), lam=0.0, bias=1.0, bias_lam=0.0)
    >>> first_step("asgd", 1.0, np.ones((2, 3)), np.array([-1.0, 1.0]), objective)
    1.0

    Notes
    -----
    The constant step is :math:`1 / (12 \beta)` with
    :math:`\beta = L \max_i \lVert x_i \rVert^2 + \lambda`, the best one of Theorem 1.
    """
    if name == "bottou":
        return multiplier * searched_step(X, y, objective)
    size = largest_square(X) + objective.bias
    if name == "constant":
        beta = objective.loss.curvature * size + objective.lam
        return 1.0 / (12.0 * beta)
    return scaled_step(multiplier, objective.loss, size, objective.lam)


def searched_step(X: Any, y: Floats, objective: Objective) -> float:
    """Search for the power of two with the lowest objective after one "bottou" pass.

    The pass is over at most the first 1000 rows. The step doubles from 1 while that lowers the
    objective, and halves otherwise.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, d)
        The rows.
    y : ndarray of shape (n,)
        Labels, -1 and +1.
    objective : Objective
        Loss and penalties.

    Returns
    -------
    float
        The power of two.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.losses.margin import Log
    >>> from noisylabels.solvers.sgd import Objective, searched_step
    >>> objective = Objective(Log(), lam=0.1, bias=1.0, bias_lam=0.1)
    >>> X = np.array([[-1.0], [1.0]])
    >>> float(np.log2(searched_step(X, X[:, 0], objective))).is_integer()
    True
    """
    n = min(_SAMPLE, X.shape[0])
    sample = X[:n]
    labels = y[:n]
    order = np.arange(n, dtype=np.uint32)
    rows = as_rows(sample)
    lam = objective.lam

    def cost(eta0: float) -> float:
        if eta0 * lam >= 1:
            return np.inf
        w = np.zeros(X.shape[1] + 1)
        unused = np.zeros_like(w)
        steps = schedule("bottou", eta0, lam, n)
        epoch(rows, labels, order, w, unused, False, objective, steps, 0)
        margins = labels * (sample @ w[:-1] + objective.bias * w[-1])
        mean_loss = float(objective.loss.value(margins).mean())
        value = 0.5 * lam * float(w[:-1] @ w[:-1]) + mean_loss
        return value if np.isfinite(value) else np.inf

    eta0 = 1.0
    best = cost(1.0)
    factor = 2.0
    if cost(2.0) >= best:
        factor = 0.5
    while True:
        trial = cost(eta0 * factor)
        if not trial < best and np.isfinite(best):
            break
        eta0 *= factor
        best = trial
        if not 2.0**-60 < eta0 < 2.0**60:
            break
    return eta0


# Many models in one pass over the rows: the grids of cross-validation. They see the same rows in
# the same order and differ in lambda, step size and the parameters of one loss. Their weights are
# the columns of W (d+1, M): each nonzero entry of an example is read once and used M times. Model
# m does what `epoch` does.

Average = Literal["none", "epoch", "run"]


class Candidate(NamedTuple):
    """One point of a grid.

    Attributes
    ----------
    loss : Loss
        The loss of a margin.
    lam : float
        Penalty on the squared norm of the weights.
    multiplier : float
        Factor of the step size; see `scaled_step`.
    """

    loss: Loss
    lam: float
    multiplier: float


def fit_models(
    X: Any,
    y: Floats,
    train: NDArray[np.integer[Any]],
    candidates: Sequence[Candidate],
    rng: np.random.Generator,
    *,
    epochs: int,
    schedule: ScheduleName = "warm_inv_epoch",
    average: Average = "none",
) -> Floats:
    """Fit `RobustSGDClassifier` for all points of a grid, with one pass for each epoch.

    The rows come in a new uniformly random order in each epoch. A step size that makes weights
    overflow leaves NaN in its column.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
        The rows.
    y : ndarray of shape (n,)
        Labels, -1.0 and +1.0.
    train : ndarray of integers
        Numbers of the rows to learn from, which are not copied.
    candidates : sequence of Candidate
        The M points of the grid.
    rng : numpy.random.Generator
        Source of the orders.
    epochs : int
        Number of passes.
    schedule : str, default "warm_inv_epoch"
        Name of the step sizes.
    average : {"none", "epoch", "run"}, default "none"
        Over which steps the weights are averaged.

    Returns
    -------
    ndarray of shape (d + 1, M)
        The weights of each model, the bias last.

    Raises
    ------
    ValueError
        If the losses are of different classes, or the schedule chooses its own first step.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels.losses.margin import Log
    >>> from noisylabels.solvers.sgd import Candidate, fit_models
    >>> X = np.linspace(-1.0, 1.0, 20)[:, np.newaxis]
    >>> grid = [Candidate(Log(), lam, 1.0) for lam in (0.01, 1.0)]
    >>> labels, rows = np.sign(X[:, 0]), np.arange(20)
    >>> W = fit_models(X, labels, rows, grid, np.random.default_rng(0), epochs=5)
    >>> bool(W[0, 0] > W[0, 1] > 0.0)
    True
    """
    losses = [candidate.loss for candidate in candidates]
    kinds = {loss.name for loss in losses}
    if len(kinds) != 1:
        reason = f"got {sorted(kinds)}"
        raise ValueError(f"the candidates of one pass must share the kind of loss, {reason}")
    slopes = compiled_slope(losses[0])
    if schedule in ("constant", "bottou"):
        raise ValueError(f"the schedule {schedule!r} chooses its own step size, so it has no grid")
    n = len(train)
    steps = _steps(candidates, schedule, largest_square(X[train]) + 1.0, n)
    rows = as_rows(X)
    lam = np.array([candidate.lam for candidate in candidates], float)
    parameters = columns(losses)
    W = np.zeros((X.shape[1] + 1, len(candidates)))
    total = np.zeros_like(W)
    for number in range(epochs):
        order = train[permutation(n, rng)].astype(np.uint32)
        averaged = average == "epoch" or (average == "run" and number > 0)
        if average == "epoch":
            total[:] = 0.0
        t = number * n
        _epochs(rows, y, order, W, total, averaged, slopes, parameters, lam, steps, t)
        if average == "epoch":
            W[:] = total / n
    if average == "run" and epochs > 1:
        return total / ((epochs - 1) * n)
    return W


def _steps(candidates: Sequence[Candidate], name: str, size: float, n: int) -> Schedule:
    steps = []
    for candidate in candidates:
        lam = candidate.lam
        eta0 = scaled_step(candidate.multiplier, candidate.loss, size, lam)
        steps.append(schedule(name, eta0, lam, n))
    factors, decays, _, _ = np.array(steps).T.copy()
    return steps[0]._replace(eta0=factors, decay=decays)


@compile_kernel(error_model="numpy")
def _epochs(
    rows: Rows,
    y: Floats,
    order: Order,
    W: Floats,
    total: Floats,
    averaged: bool,
    slopes: int,
    parameters: Floats,
    lam: Floats,
    steps: Schedule,
    t: int,
) -> None:
    """Run `_epoch` for every model at once; parameters (3, M), W and total (d + 1, M)."""
    d = W.shape[0] - 1
    M = W.shape[1]
    scale = np.ones(M)
    kappa = np.zeros(M)
    eta = np.empty(M)
    z = np.empty(M)
    step = np.empty(M)
    floor = SMALLEST_SCALE_OF_SUM if averaged else SMALLEST_SCALE
    last = len(order) - 1
    for k in range(len(order)):
        fetch(rows, y, order[min(k + AHEAD, last)])
        i = order[k]
        label = y[i]
        dots(rows, i, W, z)
        for m in range(M):
            of_model = Schedule(steps.eta0[m], steps.decay[m], steps.power, steps.warm)
            eta[m] = step_size(of_model, t + k)
        for m in range(M):
            z[m] = label * (scale[m] * z[m] + W[d, m])
        over_arrays(slopes, z.ctypes, parameters.ctypes, M, step.ctypes, M)
        any_small = 0
        for m in range(M):
            change = -eta[m] * label * step[m]
            shrink = 1.0 - eta[m] * lam[m]
            scale[m] *= shrink
            any_small |= scale[m] < floor
            step[m] = change / scale[m]
            W[d, m] = W[d, m] * shrink + change
        adds(rows, i, W, step)
        if averaged:
            for m in range(M):
                step[m] *= -kappa[m]
                kappa[m] += scale[m]
                total[d, m] += W[d, m]
            adds(rows, i, total, step)
        if any_small:
            small = np.flatnonzero(scale < floor)
            _flush_all(W, total, small, scale, kappa)
            scale[small] = 1.0
            kappa[small] = 0.0
    _flush_all(W, total, np.arange(M), scale, kappa)


@compile_kernel()
def _flush_all(W: Floats, total: Floats, chosen: Ints, scale: Floats, kappa: Floats) -> None:
    """Run `_flush` for the chosen models."""
    for j in range(W.shape[0] - 1):
        for m in chosen:
            total[j, m] += kappa[m] * W[j, m]
            W[j, m] *= scale[m]


@compile_kernel(error_model="numpy")
def pegasos(
    rows: Rows,
    y: Floats,
    order: Order,
    state: Floats,
    lam: float,
    project: bool,
    constant: float,
) -> None:
    r"""Step through rows in an order by Pegasos, whose steps need no size.

    Parameters
    ----------
    rows : DenseRows or SparseRows
        The rows.
    y : ndarray of shape (n,)
        Labels, -1.0 and +1.0.
    order : ndarray of uint32
        Numbers of the rows, in the order of the steps.
    state : ndarray of shape (d + 3,)
        The weights, the bias, the squared norm of both and the number of steps done; changed in
        place.
    lam : float
        Penalty on the squared norm of weights and bias.
    project : bool
        Whether every step is followed by a projection.
    constant : float
        The constant feature, 0 for no bias.

    Notes
    -----
    Step t has the size :math:`1 / (\lambda t)`. The projection is
    :math:`w \leftarrow \min(1, 1 / (\sqrt{\lambda} \lVert w \rVert)) w`.
    """
    d = len(state) - 3
    w = state[:d]
    b = state[d]
    square = state[d + 1]
    done = state[d + 2]
    scale = 1.0
    last = len(order) - 1
    for k in range(len(order)):
        fetch(rows, y, order[min(k + AHEAD, last)])
        i = order[k]
        label = y[i]
        t = done + k + 1.0
        f = scale * dot(rows, i, w) + constant * b
        step = label / (lam * t) if label * f < 1.0 else 0.0  # the step of the hinge loss
        shrink = 1.0 - 1.0 / t  # 0 at t = 1, where w = 0 in any case
        if t > 1.0:
            scale *= shrink
        b *= shrink
        if step != 0.0:
            size = constant * constant + energy(rows, i)
            cross_term = 2.0 * shrink * step * f
            square = shrink * shrink * square + cross_term + step * step * size
            add(rows, i, w, step / scale)
            b += step * constant
        else:
            square *= shrink * shrink
        if project and square * lam > 1.0:
            shortening = 1.0 / math.sqrt(square * lam)
            scale *= shortening
            b *= shortening
            square = 1.0 / lam
        if scale < SMALLEST_SCALE:
            for j in range(d):
                w[j] *= scale
            scale = 1.0
    for j in range(d):
        w[j] *= scale
    state[d] = b
    state[d + 1] = square
    state[d + 2] = done + len(order)
