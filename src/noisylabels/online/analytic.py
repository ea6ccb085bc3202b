"""Algorithm 4: kernels, analytic losses, noise of unknown law, a random number of copies; and its baseline.

In linear time: estimates of different degrees are orthogonal, so w is known by
W_n = sum_i alpha_i s_i x_i^(1) (x) ... (x) x_i^(n), d^n numbers for every degree n <= cut;
the rare estimates of higher degree are kept one by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from noisylabels.compilation import compile_kernel
from noisylabels.fixed_order.lanes import add, dot
from noisylabels.fixed_order.linear_algebra import put
from noisylabels.kernels.tensor import TensorKernel
from noisylabels.losses.analytic import DIFFERENCE, MARGIN_LESS_ONE, AnalyticLoss
from noisylabels.losses.compiling import compiled
from noisylabels.online.linear import LinearLearner, project
from noisylabels.online.oracles import OnlineLearner, Oracle
from noisylabels.online.theory import checked_p, largest_degree, log_inverse_probabilities, mean_queries
from noisylabels.validation import Floats, Ints, number, of_class, real, shown, whole

LARGEST_TENSOR = 4096  # numbers in a tensor; estimates of higher degree are kept one by one
BLOCK_QUERIES = 2**20  # copies drawn at once in a whole run


class AnalyticRun(NamedTuple):
    """predictions: (T,) f_t(x_t), each before its update.  queries: (T,) copies used.  norm: ||w||^2."""

    predictions: Floats
    queries: Ints
    norm: float


class AnalyticKernel(OnlineLearner):
    """f_t(x) = sum_{i<t} alpha_i <Psi~_i, Psi(x)>,  alpha_t = -eta g~_t.

    E Psi~_t = Psi(x_t) and E g~_t = l'(f_t(x_t)): both estimates are unbiased, whatever the noise.
    alpha is scaled back when ||w||^2 exceeds B_w. The estimates of one degree are summed up in one tensor, so
    that a round costs the same at any t.
    kernel: `kernels.tensor`.  loss: `losses.analytic`.  eta: step size, > 0.  p > 1: larger p, fewer queries.
    B_w: squared radius, > 0.  rng: for the degrees that are drawn.
    Raises ValueError: a parameter out of range; a label that is not -1 or 1 (classification); too few copies;
    divergence.
    Source: Cesa-Bianchi, Shalev-Shwartz, Shamir 2011, Algorithm 4 and Subroutine 1.
    """

    name = "analytic_kernel"

    def __init__(
        self, kernel: TensorKernel, loss: AnalyticLoss, eta: float, rng: np.random.Generator,
        p: float = 2.0, B_w: float = 1.0,
    ) -> None:  # fmt: skip
        self.kernel = of_class("kernel", kernel, TensorKernel)
        self.loss = of_class("loss", loss, AnalyticLoss)
        self.rng = of_class("rng", rng, np.random.Generator)
        self.eta = number("eta", eta, above=0)
        self.p = checked_p(p)
        self.B_w = number("B_w", B_w, above=0)

    @property
    def norm(self) -> float:
        """||w||^2, carried along."""
        return float(self._state.numbers[NORM])

    def run(self, X: ArrayLike, copies: Callable[[Ints], Floats], y: ArrayLike) -> AnalyticRun:
        """T rounds at once, the same numbers as `partial_fit` on the same copies and with the same coin.

        X: (T, d) instances to predict, never learnt from.  y: (T,) exact targets.
        copies(rounds): fresh copies (m, d) of the instances of these rounds, numbers from 0 to T - 1.
        Raises ValueError: wrong shape, not finite, a label that is not -1 or 1 (classification), divergence.
        """
        clean = real("X", X, (None, None))
        exact = real("y", y, (len(clean),))
        self.loss.check_labels(exact)
        if not callable(copies):
            raise ValueError(f"copies: must be a function, got {shown(copies)}")
        self._ready(clean.shape[1])
        block = max(1, int(BLOCK_QUERIES / mean_queries(self.p, gaussian=self.kernel.sigma2 is not None)))
        predictions, queries = np.empty(len(exact)), np.empty(len(exact), np.int64)
        for begin in range(0, len(exact), block):
            rows = slice(begin, min(begin + block, len(exact)))
            plan = self._plan(rows.stop - begin)
            queries[rows] = np.diff(plan.start[plan.first])
            asked = np.repeat(np.arange(begin, rows.stop), queries[rows])
            X_noisy = real("copies", copies(asked), (int(plan.start[-1]), clean.shape[1]))
            targets = np.repeat(exact[rows], np.diff(plan.first))
            self._rounds(plan, clean[rows], X_noisy, targets, predictions[rows])
        return AnalyticRun(predictions, queries, self.norm)

    def _plan(self, T: int) -> Plan:
        return draw_plan(self.rng, T, math.log(self.p), self.kernel.sigma2 is not None)

    def _rounds(self, plan: Plan, X: Floats, copies: Floats, y: Floats, predictions: Floats) -> None:
        self._reserve(plan)
        parameters = self.loss.kind, self.eta, self.B_w, predictions
        _run(self._state, self._tables, plan, X, copies, y, *parameters)
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
            y[1:] = [oracle.target() for _ in y[1:]]
        self._rounds(plan, np.empty((0, oracle.d)), copies, y, np.empty(0))

    def _values(self, X: Floats) -> Floats:
        rows = np.ascontiguousarray(X)
        return np.array([_predict(self._state, self._tables, z[None, :]) for z in rows])

    def _start(self, d: int) -> None:
        highest, sigma2 = largest_degree(self.p), self.kernel.sigma2
        inverse = log_inverse_probabilities(self.p, highest)
        beta = self.kernel.log_betas(highest)
        signs, logs = self.loss.series(highest)
        pairs = np.ones(1)
        if sigma2 is not None:
            n = np.arange(highest + 1)
            factorials = np.array([math.lgamma(k + 1.0) for k in n])
            pairs = (-1.0) ** n * np.exp(inverse - factorials - n * math.log(sigma2))
        slope, rate = signs * np.exp(logs + inverse), 0.0 if sigma2 is None else 1.0 / sigma2
        self._tables = Tables(np.exp(beta + 2.0 * inverse), np.exp(beta + inverse), pairs, slope, rate)
        cut = highest if d == 1 else int(math.log(LARGEST_TENSOR) / math.log(d))
        cut = min(cut, highest if self.kernel.degree is None else self.kernel.degree)
        offset = np.concatenate([[0], np.cumsum([d**n for n in range(cut + 1)])]).astype(np.int64)
        numbers, counts, none = np.array([1.0, 0.0]), np.zeros(3, np.int64), np.empty(0, np.int64)
        items = none, np.empty(0), none, np.empty((0, d))
        self._state = State(np.zeros(offset[-1]), offset, np.empty(d**cut), numbers, counts, *items)

    def _reserve(self, plan: Plan) -> None:
        """Room for the estimates of this plan that are kept one by one."""
        state = self._state
        n = plan.points[plan.first[:-1]]
        n = n[(n >= len(state.offset) - 1) & (self._tables.product[n] != 0.0)]
        items, points = int(state.counts[ITEMS]) + len(n), int(state.counts[POINTS] + n.sum())
        if items > len(state.item_weight) or points > len(state.item_points):
            self._state = state._replace(
                item_degree=np.resize(state.item_degree, 2 * items),
                item_weight=np.resize(state.item_weight, 2 * items),
                item_start=np.resize(state.item_start, 2 * items),
                item_points=np.resize(state.item_points, (2 * points, state.item_points.shape[1])),
            )


SCALE, NORM = 0, 1  # places in State.numbers
TOP, ITEMS, POINTS = 0, 1, 2  # places in State.counts
SMALL = 1e-150


class Plan(NamedTuple):
    """Which degrees are drawn in T rounds; it depends on p and the coin alone, never on data.

    first: (T + 1,) the estimates of round t are first[t], ..., first[t+1] - 1, the stored one first.
    pairs, points: (E,) n_1 and n_2 of each estimate.
    start: (E + 1,) where its copies begin, pairs before points.
    """

    first: Ints
    pairs: Ints
    points: Ints
    start: Ints


class Tables(NamedTuple):
    """Weights by degree: of Prod, of Prod with a known point, of the pairs, of the gradient length.

    rate: 1 / sigma2, 0 for dot-product kernels.
    """

    product: Floats
    point: Floats
    pairs: Floats
    slope: Floats
    rate: float


class State(NamedTuple):
    """W: the tensors, that of degree n from offset[n] on; buffer: room for one.  numbers: scale, ||w||^2.

    counts: highest degree in W, number of estimates kept one by one, number of their points.
    item_degree, item_weight, item_start: those estimates; item_points: their points, (.., d).
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
    """n = floor(log U / -log p), U = 1 - uniform on (0, 1]: P(n) = (p-1) / p^(n+1)."""
    return math.floor(math.log(1.0 - uniform) / -log_p)


@compile_kernel()
def draw_plan(rng: np.random.Generator, T: int, log_p: float, gaussian: bool) -> Plan:
    """The plan of T rounds, from the coin `rng` in the order of the algorithm."""
    first, start, pairs, points = np.zeros(T + 1, np.int64), [0], [0] * 0, [0] * 0
    for t in range(T):
        wanted = 1
        while len(points) < first[t] + wanted:
            pairs.append(degree(rng.random(), log_p) if gaussian else 0)
            points.append(degree(rng.random(), log_p))
            start.append(start[-1] + 2 * pairs[-1] + points[-1])
            if len(points) == first[t] + 1:
                wanted += degree(rng.random(), log_p)
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
    """<W_n, x_1 (x) ... (x) x_n>, x_j = x[(j - 1) step]; step 0: x_1 n times."""
    W, at, buffer = state.W, state.offset[n], state.buffer
    if n == 0:
        return W[at]
    d = x.shape[1]
    size = d ** (n - 1)
    for i in range(size):
        buffer[i] = _dot(W[at + i * d : at + (i + 1) * d], x[(n - 1) * step])
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
    """weight prod_j <x_i^(j), x_j> for estimate i of those kept one by one; x, step: see `_contracted`."""
    for j in range(state.item_degree[i]):
        weight *= _dot(state.item_points[state.item_start[i] + j], x[j * step])
    return weight


@compile_kernel()
def _inner(state: State, tables: Tables, scalar: float, x: Floats) -> float:
    """<w, Psi~> for an estimate with points x (n, d)."""
    n, value = len(x), 0.0
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
    """<w, Psi(z)>; z: (1, d)."""
    total = 0.0
    for n in range(state.counts[TOP] + 1):
        if tables.point[n] != 0.0:
            total += tables.point[n] * _contracted(state, n, z, 0)
    for i in range(state.counts[ITEMS]):
        total += _with_item(state, i, state.item_weight[i] * tables.point[state.item_degree[i]], z, 0)
    if tables.rate > 0.0:
        total *= math.exp(-tables.rate * _dot(z[0], z[0]))
    return state.numbers[SCALE] * total


@compile_kernel()
def _scalar(pairs: int, start: int, copies: Floats, tables: Tables) -> float:
    """The estimate of exp(-||x||^2 / sigma2) from `pairs` pairs of copies; 1 for dot products."""
    value = tables.pairs[pairs]
    for j in range(pairs):
        value *= _dot(copies[start + 2 * j], copies[start + 2 * j + 1])
    return value


@compile_kernel()
def _slope(state: State, tables: Tables, plan: Plan, t: int, copies: Floats, y: Floats, kind: int) -> float:
    """Subroutine 1 for round t; y: the targets of the estimates, y[e]."""
    first, last = plan.first[t] + 1, plan.first[t + 1]
    g = tables.slope[last - first]
    label = y[first - 1]
    if kind != DIFFERENCE:
        g *= label
    if g == 0.0:
        return 0.0
    for e in range(first, last):
        at = plan.start[e] + 2 * plan.pairs[e]
        scalar = _scalar(plan.pairs[e], plan.start[e], copies, tables)
        value = _inner(state, tables, scalar, copies[at : at + plan.points[e]])
        if kind == DIFFERENCE:
            g *= value - y[e]
        elif kind == MARGIN_LESS_ONE:
            g *= label * value - 1.0
        else:
            g *= label * value
    return g


@compile_kernel()
def _store(state: State, weight: float, x: Floats) -> None:
    """w += weight times the estimate with points x (n, d): in its tensor, or by itself if there is none."""
    n, d = x.shape
    if n < len(state.offset) - 1:
        buffer, at, size = state.buffer, state.offset[n], 1
        buffer[0] = weight
        for j in range(n):
            for i in range(size - 1, -1, -1):
                value = buffer[i]
                for k in range(d):
                    buffer[i * d + k] = value * x[j, k]
            size *= d
        for i in range(size):
            state.W[at + i] += buffer[i]
        state.counts[TOP] = max(state.counts[TOP], n)
        return
    i, at = state.counts[ITEMS], state.counts[POINTS]
    state.item_degree[i], state.item_weight[i], state.item_start[i] = n, weight, at
    for j in range(n):
        put(state.item_points[at + j], x[j])
    state.counts[ITEMS] += 1
    state.counts[POINTS] += n


@compile_kernel()
def _run(
    state: State, tables: Tables, plan: Plan, clean: Floats, copies: Floats, y: Floats, kind: int,
    eta: float, B_w: float, predictions: Floats,
) -> None:  # fmt: skip
    """predictions[t] = <w_t, Psi(clean[t])>, if wanted, then one round of Algorithm 4; for every t."""
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
        norm = state.numbers[NORM] + 2.0 * alpha * _inner(state, tables, scalar, x) + alpha * alpha * square
        _store(state, alpha / state.numbers[SCALE] * scalar, x)
        state.numbers[NORM] = max(norm, 0.0)
        if norm > B_w:
            state.numbers[SCALE] *= math.sqrt(B_w / norm)
            state.numbers[NORM] = B_w
        if state.numbers[SCALE] < SMALL:
            put(state.W, state.W * state.numbers[SCALE])
            put(state.item_weight, state.item_weight * state.numbers[SCALE])
            state.numbers[SCALE] = 1.0


BLOCK = 16_384  # rows whose features are in memory at once


class NaiveFeatureOGD(LinearLearner):
    """w_{t+1} = P(w_t - eta l'(<w_t, Psi(x~_t)>, y_t) Psi(x~_t)),  one copy, Psi up to the degree `highest`.

    On clean instances it is the noise-free control.
    kernel: `kernels.tensor`.  loss: `losses.analytic`.  eta: step size, > 0.  B_w: squared radius, > 0.
    highest: degree at which the features of an infinite kernel are cut off.
    Raises ValueError: eta or B_w not positive and finite; a label that is not -1 or 1 (classification).
    """

    name = "naive_feature_ogd"

    def __init__(
        self, kernel: TensorKernel, loss: AnalyticLoss, eta: float, B_w: float = 1.0, highest: int = 30
    ) -> None:
        super().__init__(eta, B_w)
        self.kernel = of_class("kernel", kernel, TensorKernel)
        self.loss = of_class("loss", loss, AnalyticLoss)
        highest = whole("highest", highest, 0)
        self.highest = highest if kernel.degree is None else kernel.degree

    def run(self, X: ArrayLike, X1: ArrayLike, y: ArrayLike) -> Floats:
        """Predictions <w_t, Psi(x_t)> (T,), each before its update, from the present w.

        X: (T, d) instances to predict, never learnt from.  X1: (T, d) one copy each.  y: (T,) targets.
        Raises ValueError: wrong shape, not finite, a label that is not -1 or 1 (classification), divergence.
        """
        clean = real("X", X, (None, None))
        noisy, targets = real("X1", X1, clean.shape), real("y", y, (len(clean),))
        self.loss.check_labels(targets)
        self._ready(clean.shape[1])
        predictions = np.empty(len(targets))
        for begin in range(0, len(targets), BLOCK):
            rows = slice(begin, begin + BLOCK)
            self._steps(clean[rows], noisy[rows], targets[rows], predictions[rows])
        return predictions

    def _start(self, d: int) -> None:
        self.w = np.zeros(sum(d**n for n in range(self.highest + 1)))

    def _values(self, X: Floats) -> Floats:
        return self.kernel.features(X, self.highest) @ self.w

    def _learn(self, oracle: Oracle) -> None:
        x = self._copy(oracle)[None, :]
        y = np.array([oracle.target()])
        self.loss.check_labels(y)
        self._steps(x, x, y, np.empty(1))

    def _steps(self, clean: Floats, noisy: Floats, y: Floats, predictions: Floats) -> None:
        Psi = self.kernel.features(clean, self.highest).ravel()
        noisy_Psi = Psi if noisy is clean else self.kernel.features(noisy, self.highest).ravel()
        loss = self.loss.kind, compiled(self.loss.formula), np.array([self.loss.s])
        _steps(Psi, noisy_Psi, y, *loss, self.eta, self.B_w, self.w, predictions)
        self._check(predictions, self.w)


@compile_kernel()
def _steps(
    clean: Floats, noisy: Floats, y: Floats, kind: int, slope: Any, s: Floats, eta: float, B_w: float,
    w: Floats, predictions: Floats,
) -> None:  # fmt: skip
    d = len(w)
    b, g = np.empty(1), np.empty(1)
    for t in range(len(y)):
        predictions[t] = dot(clean, t * d, w)
        a = dot(noisy, t * d, w)
        b[0] = a - y[t] if kind == DIFFERENCE else y[t] * a - (kind == MARGIN_LESS_ONE)
        slope(b.ctypes, s.ctypes, 1, g.ctypes, 1)
        add(w, -eta * (g[0] if kind == DIFFERENCE else y[t] * g[0]), noisy, t * d)
        project(w, B_w)
