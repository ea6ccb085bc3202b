r"""Algorithm 4: kernel learning from a random number of copies of every sample.

A round takes the same time however many rounds came before. Estimates of different degrees are
orthogonal, so the hypothesis is known by the tensors
:math:`W_n = \sum_i \alpha_i s_i x_i^{(1)} \otimes \ldots \otimes x_i^{(n)}`, with :math:`d^n`
numbers for every degree up to a limit. The rare estimates of higher degree are kept one by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from noisylabels.compilation import compile_kernel
from noisylabels.fixed_order.linear_algebra import put
from noisylabels.kernels.tensor import TensorKernel
from noisylabels.losses.analytic import DIFFERENCE, MARGIN_LESS_ONE, AnalyticLoss
from noisylabels.online.oracles import OnlineLearner, Oracle
from noisylabels.online.theory import (
    checked_p,
    largest_degree,
    log_inverse_probabilities,
    mean_queries,
)
from noisylabels.validation import Floats, Ints, number, of_class, real, shown

LARGEST_TENSOR = 4096
"""Largest tensor that is stored; estimates of higher degree are kept one by one."""

BLOCK_QUERIES = 2**20
"""Number of copies that are drawn at once in a whole run."""


class AnalyticRun(NamedTuple):
    """The predictions and the numbers of copies of a whole run of `AnalyticKernel`.

    Attributes
    ----------
    predictions : ndarray of shape (n_rounds,)
        Predictions of the clean samples, each before its update.
    queries : ndarray of shape (n_rounds,)
        Copies used in each round.
    norm : float
        Squared norm of the hypothesis.
    """

    predictions: Floats
    queries: Ints
    norm: float


class AnalyticKernel(OnlineLearner):
    r"""Kernel learning on samples seen through unknown noise, from a random number of copies.

    Estimates of the feature and of the gradient are unbiased, whatever the noise. Those of one
    degree are summed up in one tensor, so that a round costs the same at any time.

    Parameters
    ----------
    kernel : TensorKernel
        The kernel, from `noisylabels.kernels.tensor`.
    loss : AnalyticLoss
        The loss, from `noisylabels.losses.analytic`.
    eta : float
        Step size, above 0.
    rng : numpy.random.Generator
        Source of the degrees that are drawn.
    p : float, default 2.0
        Base of their distribution, above 1. A larger base needs fewer copies, of larger variance.
    B_w : float, default 1.0
        Squared radius of the ball that holds the hypothesis, above 0.

    Raises
    ------
    ValueError
        If a parameter is out of range, a label does not fit the loss, a round has too few copies,
        or the hypothesis diverges.

    Warns
    -----
    UserWarning
        If ``p`` is so small that a round takes more than 400 copies.

    Examples
    --------
    >>> import numpy as np
    >>> from noisylabels import AnalyticKernel
    >>> from noisylabels.kernels.tensor import linear
    >>> from noisylabels.losses.analytic import squared
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(20000, 2))
    >>> learner = AnalyticKernel(linear(), squared(), eta=0.002, rng=rng)
    >>> run = learner.run(X, lambda rounds: X[rounds], X @ [0.6, -0.3])
    >>> round(learner.predict([1.0, 0.0]), 1)
    0.6

    Notes
    -----
    The hypothesis is :math:`f_t(x) = \sum_{i<t} \alpha_i \langle \tilde{\Psi}_i, \Psi(x) \rangle`
    with :math:`\alpha_t = -\eta \tilde{g}_t`, :math:`E \tilde{\Psi}_t = \Psi(x_t)` and
    :math:`E \tilde{g}_t = l'(f_t(x_t))`. It is scaled back when its squared norm exceeds ``B_w``.

    References
    ----------
    Cesa-Bianchi, Shalev-Shwartz and Shamir 2011, Algorithm 4 and Subroutine 1.
    """

    name = "analytic_kernel"

    def __init__(
        self,
        kernel: TensorKernel,
        loss: AnalyticLoss,
        eta: float,
        rng: np.random.Generator,
        p: float = 2.0,
        B_w: float = 1.0,
    ) -> None:
        self.kernel = of_class("kernel", kernel, TensorKernel)
        self.loss = of_class("loss", loss, AnalyticLoss)
        self.rng = of_class("rng", rng, np.random.Generator)
        self.eta = number("eta", eta, above=0)
        self.p = checked_p(p)
        self.B_w = number("B_w", B_w, above=0)

    @property
    def norm(self) -> float:
        """Squared norm of the hypothesis, carried along."""
        return float(self._state.numbers[NORM])

    def run(self, X: ArrayLike, copies: Callable[[Ints], Floats], y: ArrayLike) -> AnalyticRun:
        """Run many rounds at once, with the same numbers as `partial_fit` on the same draws.

        Parameters
        ----------
        X : array_like of shape (n_rounds, d)
            Samples to predict. The learner never learns from them.
        copies : callable
            Gives, for an array of m numbers of rounds from 0, fresh copies of their samples, of
            shape (m, d).
        y : array_like of shape (n_rounds,)
            Exact targets.

        Returns
        -------
        AnalyticRun
            The run.

        Raises
        ------
        ValueError
            If a shape is wrong, a value is not finite, a label does not fit the loss, or the
            hypothesis diverges.
        """
        clean = real("X", X, (None, None))
        n_rounds, d = clean.shape
        exact = real("y", y, (n_rounds,))
        self.loss.check_labels(exact)
        if not callable(copies):
            raise ValueError(f"copies: must be a function, got {shown(copies)}")
        self._ready(d)
        is_gaussian = self.kernel.sigma2 is not None
        queries_per_round = mean_queries(self.p, gaussian=is_gaussian)
        block = max(1, int(BLOCK_QUERIES / queries_per_round))
        predictions = np.empty(n_rounds)
        queries = np.empty(n_rounds, np.int64)
        for begin in range(0, n_rounds, block):
            last = min(begin + block, n_rounds)
            rows = slice(begin, last)
            n_rows = rows.stop - begin
            plan = self._plan(n_rows)
            queries[rows] = np.diff(plan.start[plan.first])
            round_of_copy = np.repeat(np.arange(begin, rows.stop), queries[rows])
            copies_of_round = copies(round_of_copy)
            shape = (int(plan.start[-1]), d)
            X_noisy = real("copies", copies_of_round, shape)
            estimates = np.diff(plan.first)
            targets = np.repeat(exact[rows], estimates)
            self._rounds(plan, clean[rows], X_noisy, targets, predictions[rows])
        return AnalyticRun(predictions, queries, self.norm)

    def _plan(self, n_rounds: int) -> Plan:
        return draw_plan(self.rng, n_rounds, math.log(self.p), self.kernel.sigma2 is not None)

    def _rounds(
        self,
        plan: Plan,
        X: Floats,
        copies: Floats,
        y: Floats,
        predictions: Floats,
    ) -> None:
        self._reserve(plan)
        _run(
            self._state,
            self._tables,
            plan,
            X,
            copies,
            y,
            self.loss.kind,
            self.eta,
            self.B_w,
            predictions,
        )
        self._check(self._state.numbers, predictions)

    def _learn(self, oracle: Oracle) -> None:
        self._ready(oracle.d)
        plan = self._plan(1)
        copies = np.empty((int(plan.start[-1]), oracle.d))
        for i in range(len(copies)):
            copies[i] = real("instance", oracle.instance(), (oracle.d,))
        y = np.zeros(len(plan.points))
        if self.loss.classification:
            y[:] = oracle.target()
            self.loss.check_labels(y)
        else:
            # The first estimate is the stored feature, which needs no target.
            y[1:] = [oracle.target() for _ in y[1:]]
        self._rounds(plan, np.empty((0, oracle.d)), copies, y, np.empty(0))

    def _values(self, X: Floats) -> Floats:
        rows = np.ascontiguousarray(X)
        return np.array([_predict(self._state, self._tables, row[None, :]) for row in rows])

    def _start(self, d: int) -> None:
        highest = largest_degree(self.p)
        self._tables = self._weights_by_degree(highest)
        highest_tensor = highest
        if d > 1:
            highest_tensor = int(math.log(LARGEST_TENSOR) / math.log(d))
        if self.kernel.degree is not None:
            highest = self.kernel.degree
        highest_tensor = min(highest_tensor, highest)
        sizes = [d**n for n in range(highest_tensor + 1)]
        offset = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self._state = State(
            W=np.zeros(offset[-1]),
            offset=offset,
            buffer=np.empty(d**highest_tensor),
            numbers=np.array([1.0, 0.0]),
            counts=np.zeros(3, np.int64),
            item_degree=np.empty(0, np.int64),
            item_weight=np.empty(0),
            item_start=np.empty(0, np.int64),
            item_points=np.empty((0, d)),
        )

    def _weights_by_degree(self, highest: int) -> Tables:
        sigma2 = self.kernel.sigma2
        inverse = log_inverse_probabilities(self.p, highest)
        beta = self.kernel.log_betas(highest)
        signs, logs = self.loss.series(highest)
        pairs = np.ones(1)
        rate = 0.0
        if sigma2 is not None:
            n = np.arange(highest + 1)
            factorials = np.array([math.lgamma(k + 1.0) for k in n])
            pairs = (-1.0) ** n * np.exp(inverse - factorials - n * math.log(sigma2))
            rate = 1.0 / sigma2
        return Tables(
            product=np.exp(beta + 2.0 * inverse),
            point=np.exp(beta + inverse),
            pairs=pairs,
            slope=signs * np.exp(logs + inverse),
            rate=rate,
        )

    def _reserve(self, plan: Plan) -> None:
        """Make room for the estimates of a plan that are kept one by one."""
        state = self._state
        degrees = plan.points[plan.first[:-1]]
        is_high = degrees >= len(state.offset) - 1
        has_weight = self._tables.product[degrees] != 0.0
        is_item = is_high & has_weight
        degrees = degrees[is_item]
        items = int(state.counts[ITEMS]) + len(degrees)
        new_points = degrees.sum()
        points = int(state.counts[POINTS] + new_points)
        if items > len(state.item_weight) or points > len(state.item_points):
            width = state.item_points.shape[1]
            self._state = state._replace(
                item_degree=np.resize(state.item_degree, 2 * items),
                item_weight=np.resize(state.item_weight, 2 * items),
                item_start=np.resize(state.item_start, 2 * items),
                item_points=np.resize(state.item_points, (2 * points, width)),
            )


SCALE, NORM = 0, 1  # positions in State.numbers
TOP, ITEMS, POINTS = 0, 1, 2  # positions in State.counts
SMALL = 1e-150
"""Scale below which the scale is multiplied into the tensors."""


class Plan(NamedTuple):
    """The degrees that are drawn in several rounds. They never depend on data.

    Attributes
    ----------
    first : ndarray of shape (n_rounds + 1,)
        Number of the first estimate of each round, the one of the stored feature, and of the end.
    pairs : ndarray of shape (n_estimates,)
        Pairs of copies of each estimate, for the factor of a Gaussian kernel.
    points : ndarray of shape (n_estimates,)
        Further copies of each estimate: its degree.
    start : ndarray of shape (n_estimates + 1,)
        Where the copies of each estimate begin, pairs before points.
    """

    first: Ints
    pairs: Ints
    points: Ints
    start: Ints


class Tables(NamedTuple):
    """Weights of estimates by their degree.

    Attributes
    ----------
    product : ndarray of shape (highest + 1,)
        Weights of the scalar product of two estimates.
    point : ndarray of shape (highest + 1,)
        Weights of the scalar product of an estimate and a known point.
    pairs : ndarray of shape (highest + 1,)
        Weights of the factor of a Gaussian kernel, by its number of pairs.
    slope : ndarray of shape (highest + 1,)
        Weights of the gradient length, by its number of factors.
    rate : float
        Rate of the factor of a Gaussian kernel, 0 for other kernels.
    """

    product: Floats
    point: Floats
    pairs: Floats
    slope: Floats
    rate: float


class State(NamedTuple):
    """The hypothesis of `AnalyticKernel`.

    Attributes
    ----------
    W : ndarray
        The tensors, one after the other.
    offset : ndarray of shape (n_degrees + 1,)
        Where the tensor of each degree begins, and where they end.
    buffer : ndarray
        Room for a tensor of the highest degree.
    numbers : ndarray of shape (2,)
        Scale and squared norm.
    counts : ndarray of shape (3,)
        Highest degree in ``W``, number of estimates kept one by one, and number of their points.
    item_degree : ndarray
        Degree of each of those estimates.
    item_weight : ndarray
        Their weights.
    item_start : ndarray
        Where their points begin.
    item_points : ndarray of shape (n_points, d)
        Their points.
    """

    W: Floats
    offset: Ints
    buffer: Floats
    numbers: Floats
    counts: Ints
    item_degree: Ints
    item_weight: Floats
    item_start: Ints
    item_points: Floats


@compile_kernel()
def degree(uniform: float, log_p: float) -> int:
    r"""Turn a uniform random number into a random degree.

    Parameters
    ----------
    uniform : float
        A random number from 0 to below 1.
    log_p : float
        Logarithm of the base of the distribution.

    Returns
    -------
    int
        The degree n, with probability :math:`(p - 1) / p^{n + 1}`.
    """
    return math.floor(math.log(1.0 - uniform) / -log_p)


@compile_kernel()
def draw_plan(rng: np.random.Generator, T: int, log_p: float, gaussian: bool) -> Plan:
    """Draw the degrees of several rounds, in the order of the algorithm.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of the draws.
    T : int
        Number of rounds.
    log_p : float
        Logarithm of the base of the distribution.
    gaussian : bool
        Whether the kernel is Gaussian, so that estimates need pairs.

    Returns
    -------
    Plan
        The degrees.
    """
    first = np.zeros(T + 1, np.int64)
    start = [0]
    pairs = [0] * 0  # empty lists whose type, integer, Numba can infer
    points = [0] * 0
    for t in range(T):
        n_estimates = 1
        while len(points) < first[t] + n_estimates:
            pairs.append(degree(rng.random(), log_p) if gaussian else 0)
            points.append(degree(rng.random(), log_p))
            start.append(start[-1] + 2 * pairs[-1] + points[-1])
            if len(points) == first[t] + 1:
                n_estimates += degree(rng.random(), log_p)
        first[t + 1] = len(points)
    return Plan(first, np.array(pairs), np.array(points), np.array(start))


@compile_kernel()
def _dot(x: Floats, z: Floats) -> float:
    total = 0.0
    for k in range(len(x)):
        total += x[k] * z[k]
    return total


@compile_kernel()
def _contracted(state: State, n: int, x: Floats, step: int) -> float:
    """Contract the tensor of degree n with n points.

    <W_n, x_1 (x) ... (x) x_n>, x_j = x[(j - 1) step]; step 0: x_1 n times.
    """
    W = state.W
    start = state.offset[n]
    buffer = state.buffer
    if n == 0:
        return W[start]
    d = x.shape[1]
    size = d ** (n - 1)
    for i in range(size):
        begin = start + i * d
        row = W[begin : start + (i + 1) * d]
        buffer[i] = _dot(row, x[(n - 1) * step])
    for j in range(n - 2, -1, -1):
        size //= d
        for i in range(size):
            total = 0.0
            for k in range(d):
                total += buffer[i * d + k] * x[j * step, k]
            buffer[i] = total
    return buffer[0]


@compile_kernel(forceinline=True)
def _with_item(state: State, i: int, weight: float, x: Floats, step: int) -> float:
    """Multiply one of the stored estimates by points.

    weight prod_j <x_i^(j), x_j> for estimate i of those kept one by one; see `_contracted`.
    """
    for j in range(state.item_degree[i]):
        weight *= _dot(state.item_points[state.item_start[i] + j], x[j * step])
    return weight


@compile_kernel()
def _inner(state: State, tables: Tables, scalar: float, x: Floats) -> float:
    """Compute the scalar product of the hypothesis and an estimate.

    <w, Psi~> for an estimate with points x (n, d).
    """
    n = len(x)
    value = 0.0
    weight = tables.product[n]
    if weight == 0.0:
        return 0.0
    if n < len(state.offset) - 1:
        value = _contracted(state, n, x, 1)
    else:
        for i in range(state.counts[ITEMS]):
            if state.item_degree[i] == n:
                value += _with_item(state, i, state.item_weight[i], x, 1)
    return state.numbers[SCALE] * weight * scalar * value


@compile_kernel()
def _predict(state: State, tables: Tables, z: Floats) -> float:
    """Predict at a point.

    <w, Psi(z)>; z: (1, d).
    """
    total = 0.0
    for n in range(state.counts[TOP] + 1):
        if tables.point[n] != 0.0:
            inner = _contracted(state, n, z, 0)
            total += tables.point[n] * inner
    for i in range(state.counts[ITEMS]):
        point_weight = tables.point[state.item_degree[i]]
        weight = state.item_weight[i] * point_weight
        total += _with_item(state, i, weight, z, 0)
    if tables.rate > 0.0:
        square = _dot(z[0], z[0])
        total *= math.exp(-tables.rate * square)
    return state.numbers[SCALE] * total


@compile_kernel()
def _scalar(pairs: int, start: int, copies: Floats, tables: Tables) -> float:
    """Estimate exp(-||x||^2 / sigma2) from pairs of copies; 1 for dot products."""
    value = tables.pairs[pairs]
    for j in range(pairs):
        value *= _dot(copies[start + 2 * j], copies[start + 2 * j + 1])
    return value


@compile_kernel()
def _slope(
    state: State,
    tables: Tables,
    plan: Plan,
    t: int,
    copies: Floats,
    y: Floats,
    kind: int,
) -> float:
    """Estimate the slope of the loss in one round (Subroutine 1)."""
    first = plan.first[t] + 1
    last = plan.first[t + 1]
    g = tables.slope[last - first]
    label = y[first - 1]
    if kind != DIFFERENCE:
        g *= label
    if g == 0.0:
        return 0.0
    for e in range(first, last):
        start = plan.start[e] + 2 * plan.pairs[e]
        scalar = _scalar(plan.pairs[e], plan.start[e], copies, tables)
        value = _inner(state, tables, scalar, copies[start : start + plan.points[e]])
        if kind == DIFFERENCE:
            g *= value - y[e]
        elif kind == MARGIN_LESS_ONE:
            g *= label * value - 1.0
        else:
            g *= label * value
    return g


@compile_kernel()
def _store(state: State, weight: float, x: Floats) -> None:
    """Add a weighted estimate to the hypothesis: to its tensor, or alone without one."""
    n, d = x.shape
    if n < len(state.offset) - 1:
        buffer = state.buffer
        start = state.offset[n]
        size = 1
        buffer[0] = weight
        for j in range(n):
            for i in range(size - 1, -1, -1):
                value = buffer[i]
                for k in range(d):
                    buffer[i * d + k] = value * x[j, k]
            size *= d
        for i in range(size):
            state.W[start + i] += buffer[i]
        state.counts[TOP] = max(state.counts[TOP], n)
        return
    item = state.counts[ITEMS]
    start = state.counts[POINTS]
    state.item_degree[item] = n
    state.item_weight[item] = weight
    state.item_start[item] = start
    for j in range(n):
        put(state.item_points[start + j], x[j])
    state.counts[ITEMS] += 1
    state.counts[POINTS] += n


@compile_kernel()
def _run(
    state: State,
    tables: Tables,
    plan: Plan,
    clean: Floats,
    copies: Floats,
    y: Floats,
    kind: int,
    eta: float,
    B_w: float,
    predictions: Floats,
) -> None:
    """Run rounds of Algorithm 4; predict the clean sample first, if there is one."""
    for t in range(len(plan.first) - 1):
        if len(predictions):
            predictions[t] = _predict(state, tables, clean[t : t + 1])
        alpha = -eta * _slope(state, tables, plan, t, copies, y, kind)
        e = plan.first[t]
        x = copies[plan.start[e] + 2 * plan.pairs[e] : plan.start[e + 1]]
        weight = tables.product[len(x)]
        if alpha == 0.0 or weight == 0.0:
            continue
        scalar = _scalar(plan.pairs[e], plan.start[e], copies, tables)
        square = weight * scalar * scalar
        for j in range(len(x)):
            square *= _dot(x[j], x[j])
        inner = _inner(state, tables, scalar, x)
        norm = state.numbers[NORM] + 2.0 * alpha * inner + alpha * alpha * square
        _store(state, alpha / state.numbers[SCALE] * scalar, x)
        state.numbers[NORM] = max(norm, 0.0)
        if norm > B_w:
            state.numbers[SCALE] *= math.sqrt(B_w / norm)
            state.numbers[NORM] = B_w
        if state.numbers[SCALE] < SMALL:
            put(state.W, state.W * state.numbers[SCALE])
            put(state.item_weight, state.item_weight * state.numbers[SCALE])
            state.numbers[SCALE] = 1.0
