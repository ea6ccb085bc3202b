"""Stochastic gradient descent on G(w) = (1/n) sum_i [lambda/2 ||w||^2 + r(y_i (x_i.w + b))].

w <- w - eta_t [lambda w + r'(z_i) y_i x_i],  z_i = y_i (x_i.w + b) before the step. The factors
1 - eta_t lambda are kept apart from the weights, w = s v, so that a step costs only the nonzero entries of
its example; the sum of the weights over the steps is kept in the same lazy way.

Step sizes by name. The paper says "learning rate eta" only; these interpretations of it are ours.

warm_inv_epoch   eta0 min(1, (t+1)/n) / (1 + t/n)   ramp-up over the first epoch, then 1/epoch (our default)
inv_sqrt_epoch   eta0 / sqrt(1 + t/n)
bottou           eta0 / (1 + lambda eta0 t)          Bottou, Neural Networks: Tricks of the Trade, 2012
asgd             eta0 / (1 + lambda eta0 t)^(3/4)    Xu, arXiv:1107.2490, for averaging
constant         eta0                                Algorithm 1 to the letter

t = 0, 1, ... counts the steps of the run, n the examples of an epoch.

Source: Han, Tsang, Chen, ECML PKDD 2016, Algorithm 1; lazy sums: W. Xu, arXiv:1107.2490, Section 6.
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

LINE = 64  # bytes of a cache line
Order = NDArray[np.uint32]


class DenseRows(NamedTuple):
    """values: (n d,), row i at i d; d: number of features."""

    values: Array
    d: int


class SparseRows(NamedTuple):
    """CSR: row i has values[k] in columns indices[k] (uint32), indptr[i] <= k < indptr[i+1] (int64)."""

    values: Array
    indices: Array
    indptr: Array


Rows = DenseRows | SparseRows


def as_rows(X: Any) -> Rows:
    """Rows of an ndarray (n, d) or a scipy.sparse matrix; C-contiguous and CSR values are not copied."""
    if isinstance(X, np.ndarray):
        return DenseRows(np.ascontiguousarray(X).reshape(-1), X.shape[1])
    csr = X.tocsr()
    # unsigned indices spare every access the test for negative ones
    return SparseRows(csr.data, csr.indices.astype(np.uint32), csr.indptr.astype(np.int64))


def largest_square(X: Any) -> float:
    """max_i ||x_i||^2 of an ndarray or a scipy.sparse matrix."""
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
        builder.call(function, [address, word(0), word(3), word(1)])  # read, keep, data
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


_prefetch: Any = _hint  # called without the typing context that numba adds


def _prefetch_indices(rows: Any, start: Any, count: Any) -> Any:
    for k in range(start, start + count, LINE // rows.indices.itemsize):
        _prefetch(rows.indices, k)


def _either(dense: Callable[..., Any], sparse: Callable[..., Any]) -> Any:
    """For compiled code: the one of two functions that suits the storage of their first argument, rows."""

    def function(rows: Rows, *rest: Any) -> Any:
        raise NotImplementedError

    @overload(function, inline="always", strict=False)
    def chosen(rows: Any, *rest: Any) -> Any:
        return dense if rows.instance_class is DenseRows else sparse

    return function


# Row i is values[start : start + count]; its j-th value is in column `_column(rows, start, j)`.
_span = _either(
    lambda rows, i: (np.intp(i) * rows.d, rows.d),
    lambda rows, i: (rows.indptr[i], rows.indptr[i + 1] - rows.indptr[i]),
)
_column = _either(lambda rows, start, j: j, lambda rows, start, j: rows.indices[start + j])
_fetch_columns = _either(lambda rows, start, count: None, _prefetch_indices)


@compile_kernel(inline="always")
def dot(rows: Rows, i: int, w: Floats) -> float:
    """x_i.w in four interleaved partial sums."""
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
    """w += c x_i."""
    start, count = _span(rows, i)
    for j in range(count):
        w[_column(rows, start, j)] += c * rows.values[start + j]


@compile_kernel(inline="always")
def energy(rows: Rows, i: int) -> float:
    """||x_i||^2."""
    start, count = _span(rows, i)
    total = 0.0
    for k in range(start, start + count):
        total += rows.values[k] * rows.values[k]
    return total


@compile_kernel(inline="always")
def dots(rows: Rows, i: int, W: Floats, z: Floats) -> None:
    """z = x_i W for the models in the columns of W (d, M)."""
    start, count = _span(rows, i)
    z[:] = 0.0
    for j in range(count):
        _gather(W[_column(rows, start, j)], rows.values[start + j], z)


@compile_kernel(inline="always")
def adds(rows: Rows, i: int, W: Floats, c: Floats) -> None:
    """W += x_i (outer) c for the models in the columns of W (d, M)."""
    start, count = _span(rows, i)
    for j in range(count):
        _gather(c, rows.values[start + j], W[_column(rows, start, j)])


@compile_kernel(inline="always")
def _gather(source: Floats, x: float, target: Floats) -> None:
    """target += x source, one entry per model."""
    for m in range(len(target)):
        target[m] += x * source[m]


@compile_kernel(inline="always")
def fetch(rows: Rows, y: Floats, i: int) -> None:
    """Ask the memory for row i and its label, which are needed a few steps later."""
    _prefetch(y, np.intp(i))
    start, count = _span(rows, i)
    for k in range(start, start + count, LINE // rows.values.itemsize):
        _prefetch(rows.values, k)
    _fetch_columns(rows, start, count)


AHEAD = 6  # rows between a read-ahead and its use
SMALLEST_SCALE = 1e-200  # the lazy weights are then 1e200 times too large, with all their digits
SMALLEST_SCALE_OF_SUM = 1e-4  # the lazy sum cancels by about 1/scale


class Schedule(NamedTuple):
    """eta_t = eta0 min(1, (t+1)/warm) / (1 + decay t)^power at the global step t = 0, 1, ...

    Of M models: eta0 and decay (M,).
    """

    eta0: Any
    decay: Any
    power: float
    warm: float


class Objective(NamedTuple):
    """The loss and what is added to it.

    lam : lambda.   bias : value of the constant feature (0: no bias).   bias_lam : lambda of its weight.
    positive, negative : (u, v) for the label +1 and -1: the loss is u r(z) + v r(-z); (1, 0) is r itself.
    """

    loss: Loss
    lam: float
    bias: float
    bias_lam: float
    positive: tuple[float, float] = (1.0, 0.0)
    negative: tuple[float, float] = (1.0, 0.0)


@compile_kernel(error_model="numpy")
def step_size(schedule: Schedule, t: int) -> float:
    """eta_t of `Schedule`."""
    eta = schedule.eta0
    if t + 1 < schedule.warm:
        eta *= (t + 1) / schedule.warm
    grown = 1.0 + schedule.decay * t
    if schedule.power == 1.0:
        return eta / grown
    if schedule.power == 0.75:
        return eta / (math.sqrt(grown) * math.sqrt(math.sqrt(grown)))
    return eta / grown**schedule.power


def epoch(
    rows: Rows, y: Floats, order: Order, w: Floats, total: Floats, averaged: bool,
    objective: Objective, schedule: Schedule, t: int,
) -> None:  # fmt: skip
    """Step through rows[order], changing w in place; if averaged, total += sum of the weights.

    y (n,) of -1.0 and +1.0; order: row numbers; w, total (d+1,), the bias last; t: steps done before.
    """
    loss, lam, bias, bias_lam, *mixed = objective
    terms = float(lam), float(bias), float(bias_lam), *mixed
    _epoch(rows, y, order, w, total, averaged, compiled_slope(loss), columns([loss]), terms, schedule, t)


@compile_kernel(error_model="numpy")
def _epoch(
    rows: Rows, y: Floats, order: Order, w: Floats, total: Floats, averaged: bool,
    slopes: int, parameters: Floats, terms: Any, schedule: Schedule, t: int,
) -> None:  # fmt: skip
    lam, constant, bias_lam, positive, negative = terms
    d = len(w) - 1
    scale, kappa, bias = 1.0, 0.0, w[d]  # lazily: weights = scale w, their sum = total + kappa w
    floor = SMALLEST_SCALE_OF_SUM if averaged else SMALLEST_SCALE
    last = len(order) - 1
    margin, slope = np.empty(1), np.empty(1)
    for k in range(len(order)):
        fetch(rows, y, order[min(k + AHEAD, last)])
        i = order[k]
        eta = step_size(schedule, t + k)
        margin[0] = y[i] * (scale * dot(rows, i, w) + constant * bias)
        u, v = positive if y[i] > 0 else negative
        over_arrays(slopes, margin.ctypes, parameters.ctypes, 1, slope.ctypes, 1)
        g = u * slope[0]
        if v != 0.0:
            margin[0] = -margin[0]
            over_arrays(slopes, margin.ctypes, parameters.ctypes, 1, slope.ctypes, 1)
            g -= v * slope[0]
        step = -eta * y[i] * g
        scale *= 1.0 - eta * lam
        bias *= 1.0 - eta * bias_lam
        if step != 0.0:
            add(rows, i, w, step / scale)
            bias += step * constant
            if averaged:
                add(rows, i, total, -kappa * step / scale)
        if scale < floor:
            _flush(w, total, scale, kappa)
            scale, kappa = 1.0, 0.0
        if averaged:
            kappa += scale
            total[d] += bias
    _flush(w, total, scale, kappa)
    w[d] = bias


@compile_kernel(error_model="numpy")
def softmax_epoch(
    rows: Rows, y: Ints, order: Order, W: Floats, total: Floats, averaged: bool,
    terms: tuple[float, float, float], schedule: Schedule, t: int,
) -> None:  # fmt: skip
    """`epoch` for (1/n) sum_i -log s_y(x_i.W^T) + lambda sum_k ||w_k||^2, s the softmax of K classes.

    y (n,) : in 0..K-1.   W, total (K, d+1).   terms : lambda, the constant feature, lambda of its weights.
    The step is eta_t / 2: w_1 - w_0 of two classes moves as w of the logistic loss does.
    """
    lam, constant, bias_lam = terms
    K, d = W.shape[0], W.shape[1] - 1
    scale, kappa = 1.0, 0.0
    floor = SMALLEST_SCALE_OF_SUM if averaged else SMALLEST_SCALE
    z = np.empty(K)
    for k in range(len(order)):
        i, eta = order[k], step_size(schedule, t + k)
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
            scale, kappa = 1.0, 0.0
        if averaged:
            kappa += scale
    for m in range(K):
        _flush(W[m], total[m], scale, kappa)


@compile_kernel()
def _flush(w: Floats, total: Floats, scale: float, kappa: float) -> None:
    """End the lazy form of the weights (but the bias) and of their sum."""
    for j in range(len(w) - 1):
        total[j] += kappa * w[j]
        w[j] *= scale


BLOCK = 64  # neighbours that an epoch reads together
_BUCKET = 8192  # rows whose numbers fit the first-level cache


def permutation(n: int, rng: np.random.Generator) -> Order:
    """Uniformly random permutation of 0..n-1: random buckets that fit the cache, each shuffled.

    Source: C. R. Rao, Sankhya A 23, 1961; M. Sandelius, J. Royal Stat. Soc. B 24, 1962.
    """
    order = np.empty(n, np.uint32)
    bucket = rng.integers(1 + n // _BUCKET, size=n, dtype=np.uint32)
    _fill(order, bucket, np.zeros(2 + n // _BUCKET, np.int64), rng.random(n))
    return order


def block_order(n: int, rng: np.random.Generator) -> Order:
    """0..n-1 in shuffled blocks of 64 consecutive numbers, each block shuffled inside too."""
    order = np.empty(n, np.uint32)
    _fill_blocks(order, permutation(-(-n // BLOCK), rng), rng.random(n))
    return order


@compile_kernel()
def _shuffle(order: Array, start: int, stop: int, u: Array) -> None:
    """Fisher-Yates on order[start:stop] with the uniform numbers u[start:stop]."""
    for i in range(stop - 1, start, -1):
        j = start + int(u[i] * (i - start + 1))
        order[i], order[j] = order[j], order[i]


@compile_kernel()
def _fill(order: Array, bucket: Array, ends: Array, u: Array) -> None:
    """Numbers sorted by their bucket, each bucket shuffled; ends: a zero per bucket and one more."""
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
    """The blocks one after the other, each shuffled."""
    at = np.int64(0)
    for block in blocks:
        start = at
        first = int(block) * BLOCK
        for i in range(first, min(first + BLOCK, len(order))):
            order[at] = i
            at += 1
        _shuffle(order, start, at, u)


ScheduleName = Literal["warm_inv_epoch", "inv_sqrt_epoch", "bottou", "asgd", "constant"]
SCHEDULES = get_args(ScheduleName)
_SAMPLE = 1000  # rows of Bottou's search


def schedule(name: str, eta0: float, lam: float, n: int) -> Schedule:
    """The schedule of that name.

    Raises ValueError : an unknown name; eta0 lambda >= 1, which would reverse the weights.
    """
    choice("schedule", name, SCHEDULES)
    if eta0 * lam >= 1:
        raise ValueError(f"eta0 lambda = {eta0:g} x {lam:g} must be < 1: such a step reverses the weights")
    decay = {"warm_inv_epoch": 1 / n, "inv_sqrt_epoch": 1 / n, "constant": 0.0}.get(name, lam * eta0)
    power = {"inv_sqrt_epoch": 0.5, "asgd": 0.75}.get(name, 1.0)
    return Schedule(float(eta0), float(decay), power, float(n if name == "warm_inv_epoch" else 1))


def scaled_step(multiplier: float, loss: Loss, size: float, lam: float) -> float:
    """eta0 = multiplier / (L max_i ||x_i||^2), or 1/(2 lambda) where that would make eta0 lambda >= 1.

    loss.curvature: L;  size: max_i ||x_i||^2, the constant feature included.
    """
    eta0 = multiplier / (loss.curvature * max(size, np.finfo(float).tiny))
    return eta0 if eta0 * lam < 1 else 0.5 / lam


def first_step(name: str, multiplier: float, X: Any, y: Floats, objective: Objective) -> float:
    """eta0 of a schedule: `scaled_step`, or for "bottou" multiplier x `searched_step`.

    "constant" : 1/(12 beta), beta = L max_i ||x_i||^2 + lambda, the best constant step of Theorem 1.
    """
    if name == "bottou":
        return multiplier * searched_step(X, y, objective)
    size = largest_square(X) + objective.bias
    if name == "constant":
        return 1.0 / (12.0 * (objective.loss.curvature * size + objective.lam))
    return scaled_step(multiplier, objective.loss, size, objective.lam)


def searched_step(X: Any, y: Floats, objective: Objective) -> float:
    """The power of two with the lowest objective after one "bottou" pass over (at most) the first 1000 rows.

    Doubles from 1 while that helps, else halves; y of -1 and +1.
    """
    n = min(_SAMPLE, X.shape[0])
    sample, labels, order = X[:n], y[:n], np.arange(n, dtype=np.uint32)
    rows = as_rows(sample)

    def cost(eta0: float) -> float:
        if eta0 * objective.lam >= 1:
            return np.inf
        w = np.zeros(X.shape[1] + 1)
        steps = schedule("bottou", eta0, objective.lam, n)
        epoch(rows, labels, order, w, np.zeros_like(w), False, objective, steps, 0)
        margins = labels * (sample @ w[:-1] + objective.bias * w[-1])
        value = 0.5 * objective.lam * float(w[:-1] @ w[:-1]) + float(objective.loss.value(margins).mean())
        return value if np.isfinite(value) else np.inf

    eta0, best, factor = 1.0, cost(1.0), 2.0
    if cost(2.0) >= best:
        factor = 0.5
    while (trial := cost(eta0 * factor)) < best or not np.isfinite(best):
        eta0, best = eta0 * factor, trial
        if not 2.0**-60 < eta0 < 2.0**60:
            break
    return eta0


# Many models in one pass over the rows: the grids of cross-validation. They see the same rows in the same
# order and differ in lambda, step size and the parameters of one loss. Their weights are the columns of
# W (d+1, M): each nonzero entry of an example is read once and used M times. Model m does what `epoch` does.

Average = Literal["none", "epoch", "run"]


class Candidate(NamedTuple):
    """One point of a grid."""

    loss: Loss
    lam: float
    multiplier: float


def fit_models(
    X: Any, y: Floats, train: NDArray[np.integer[Any]], candidates: Sequence[Candidate],
    rng: np.random.Generator, *, epochs: int, schedule: ScheduleName = "warm_inv_epoch",
    average: Average = "none",
) -> Floats:  # fmt: skip
    """Weights (d+1, M), the bias last, of `RobustSGDClassifier` for each candidate.

    X (n, d), dense or CSR; y (n,) of -1.0 and +1.0; train: the rows to learn from, never copied.
    The rows come in a new uniformly random order each epoch.
    A step size that makes weights overflow leaves NaN in its column.
    Raises ValueError : losses of different classes; a schedule that chooses its own first step.
    """
    kinds = {candidate.loss.name for candidate in candidates}
    if len(kinds) != 1:
        raise ValueError(f"the candidates of one pass must share the kind of loss, got {sorted(kinds)}")
    slopes = compiled_slope(candidates[0].loss)
    if schedule in ("constant", "bottou"):
        raise ValueError(f"the schedule {schedule!r} chooses its own step size, so it has no grid")
    steps = _steps(candidates, schedule, largest_square(X[train]) + 1.0, len(train))
    rows, lam = as_rows(X), np.array([candidate.lam for candidate in candidates], float)
    parameters = columns([candidate.loss for candidate in candidates])
    W = np.zeros((X.shape[1] + 1, len(candidates)))
    total = np.zeros_like(W)
    for number in range(epochs):
        order = train[permutation(len(train), rng)].astype(np.uint32)
        averaged = average == "epoch" or (average == "run" and number > 0)
        if average == "epoch":
            total[:] = 0.0
        _epochs(rows, y, order, W, total, averaged, slopes, parameters, lam, steps, number * len(train))
        if average == "epoch":
            W[:] = total / len(train)
    return total / ((epochs - 1) * len(train)) if average == "run" and epochs > 1 else W


def _steps(candidates: Sequence[Candidate], name: str, size: float, n: int) -> Schedule:
    steps = [schedule(name, scaled_step(c.multiplier, c.loss, size, c.lam), c.lam, n) for c in candidates]
    eta0, decay, _, _ = np.array(steps).T.copy()
    return steps[0]._replace(eta0=eta0, decay=decay)


@compile_kernel(error_model="numpy")
def _epochs(
    rows: Rows, y: Floats, order: Order, W: Floats, total: Floats, averaged: bool,
    slopes: int, parameters: Floats, lam: Floats, steps: Schedule, t: int,
) -> None:  # fmt: skip
    """`_epoch` for every model at once; slopes: where r' is; parameters (3, M); W, total (d+1, M)."""
    d, M = W.shape[0] - 1, W.shape[1]
    scale, kappa, eta = np.ones(M), np.zeros(M), np.empty(M)
    z, step = np.empty(M), np.empty(M)
    floor = SMALLEST_SCALE_OF_SUM if averaged else SMALLEST_SCALE
    last = len(order) - 1
    for k in range(len(order)):
        fetch(rows, y, order[min(k + AHEAD, last)])
        i = order[k]
        dots(rows, i, W, z)
        for m in range(M):
            eta[m] = step_size(Schedule(steps.eta0[m], steps.decay[m], steps.power, steps.warm), t + k)
        for m in range(M):
            z[m] = y[i] * (scale[m] * z[m] + W[d, m])
        over_arrays(slopes, z.ctypes, parameters.ctypes, M, step.ctypes, M)
        low = 0
        for m in range(M):
            moved = -eta[m] * y[i] * step[m]
            shrink = 1.0 - eta[m] * lam[m]
            scale[m] *= shrink
            low |= scale[m] < floor
            step[m] = moved / scale[m]
            W[d, m] = W[d, m] * shrink + moved
        adds(rows, i, W, step)
        if averaged:
            for m in range(M):
                step[m] *= -kappa[m]
                kappa[m] += scale[m]
                total[d, m] += W[d, m]
            adds(rows, i, total, step)
        if low:
            small = np.flatnonzero(scale < floor)
            _flush_all(W, total, small, scale, kappa)
            scale[small], kappa[small] = 1.0, 0.0
    _flush_all(W, total, np.arange(M), scale, kappa)


@compile_kernel()
def _flush_all(W: Floats, total: Floats, chosen: Ints, scale: Floats, kappa: Floats) -> None:
    """`_flush` for the chosen models."""
    for j in range(W.shape[0] - 1):
        for m in chosen:
            total[j, m] += kappa[m] * W[j, m]
            W[j, m] *= scale[m]


@compile_kernel(error_model="numpy")
def pegasos(
    rows: Rows, y: Floats, order: Order, state: Floats, lam: float, project: bool, constant: float
) -> None:
    """Steps of 1/(lambda t) over rows[order]; `project`: then w <- min(1, 1/(sqrt(lambda) ||w||)) w.

    state (d + 3,) : w, b, ||(w, b)||^2, kept from step to step, and the steps done; changed in place.
    """
    d = len(state) - 3
    w, b, square, done = state[:d], state[d], state[d + 1], state[d + 2]
    scale = 1.0
    last = len(order) - 1
    for k in range(len(order)):
        fetch(rows, y, order[min(k + AHEAD, last)])
        i = order[k]
        t = done + k + 1.0
        f = scale * dot(rows, i, w) + constant * b
        step = y[i] / (lam * t) if y[i] * f < 1.0 else 0.0  # of the hinge loss
        shrink = 1.0 - 1.0 / t  # 0 at t = 1, where w = 0 anyway
        if t > 1.0:
            scale *= shrink
        b *= shrink
        if step != 0.0:
            size = constant * constant + energy(rows, i)
            square = shrink * shrink * square + 2.0 * shrink * step * f + step * step * size
            add(rows, i, w, step / scale)
            b += step * constant
        else:
            square *= shrink * shrink
        if project and square * lam > 1.0:
            back = 1.0 / math.sqrt(square * lam)
            scale *= back
            b *= back
            square = 1.0 / lam
        if scale < SMALLEST_SCALE:
            for j in range(d):
                w[j] *= scale
            scale = 1.0
    for j in range(d):
        w[j] *= scale
    state[d], state[d + 1], state[d + 2] = b, square, done + len(order)
