"""Algorithm 4: kernels, analytic losses, noise of unknown law; a random number of copies per round."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisylabels.arrays import Floats, number, of_class, shown
from noisylabels.kernels.tensor import TensorKernel
from noisylabels.losses.analytic import AnalyticLoss
from noisylabels.noise.features import real
from noisylabels.online import tensors
from noisylabels.online.base import OnlineLearner
from noisylabels.online.oracles import Oracle
from noisylabels.theory.query_laws import mean_queries
from noisylabels.theory.randomised_estimates import checked_p, largest_degree, log_inverse_probabilities

LARGEST_TENSOR = 4096  # numbers in a tensor; estimates of higher degree are kept one by one
BLOCK_QUERIES = 2**20  # copies drawn at once in a whole run

Rounds = NDArray[np.int64]


class AnalyticRun(NamedTuple):
    """predictions: (T,) f_t(x_t), each before its update.  queries: (T,) copies used.  norm: ||w||^2."""

    predictions: Floats
    queries: Rounds
    norm: float


class AnalyticKernel(OnlineLearner):
    """f_t(x) = sum_{i<t} alpha_i <Psi~_i, Psi(x)>,  alpha_t = -eta g~_t.

    E Psi~_t = Psi(x_t) and E g~_t = l'(f_t(x_t)): both estimates are unbiased, whatever the noise.
    The algorithm of `analytic_kernel_list` with the same coin,
    but the estimates of one degree are summed up in one tensor, so that a round costs the same at any t.
    kernel: `kernels.tensor`.  loss: `losses.analytic`.  eta: step size, > 0.  p > 1: larger p, fewer queries.
    B_w: squared radius, > 0.  rng: the learner's own coin.
    Raises ValueError: a parameter out of range; a label that is not -1 or 1 (classification); too few copies;
    divergence.
    Source: Cesa-Bianchi, Shalev-Shwartz, Shamir 2011, Algorithm 4 and Subroutine 1.
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
        """||w||^2, carried along."""
        return float(self._state.numbers[tensors.NORM])

    def run(
        self,
        X: ArrayLike,
        copies: Callable[[Rounds], Floats],
        y: ArrayLike,
        *,
        targets: Callable[[Rounds], Floats] | None = None,
    ) -> AnalyticRun:
        """T rounds at once, the same numbers as `partial_fit` on the same copies and with the same coin.

        X: (T, d) instances to predict, never learnt from.  copies(rounds): fresh copies (m,
        d) of the instances of
        these rounds, numbers from 0 to T - 1.  y: (T,) exact targets.
        targets(rounds): fresh noisy targets (m,),
        one per factor of the gradient length, instead of y (regression).
        Raises ValueError: wrong shape, not finite, a label that is not -1 or 1 (classification), divergence.
        """
        clean = real("X", X, (None, None))
        exact = real("y", y, (len(clean),))
        self.loss.check_labels(exact)
        for name, draw in (("copies", copies), ("targets", targets)):
            if not (callable(draw) or (name == "targets" and draw is None)):
                raise ValueError(f"{name}: must be a function, got {shown(draw)}")
        self._ready(clean.shape[1])
        block = max(1, int(BLOCK_QUERIES / mean_queries(self.p, gaussian=self._gaussian)))
        predictions, queries = np.empty(len(exact)), np.empty(len(exact), np.int64)
        for begin in range(0, len(exact), block):
            rows = slice(begin, min(begin + block, len(exact)))
            plan = self._plan(rows.stop - begin)
            queries[rows] = np.diff(plan.start[plan.first])
            t = np.arange(begin, rows.stop)
            X_noisy = real(
                "copies", copies(np.repeat(t, queries[rows])), (int(plan.start[-1]), clean.shape[1])
            )
            noisy = self._targets(plan, t, exact[rows], targets)
            self._rounds(plan, clean[rows], X_noisy, noisy, predictions[rows])
        return AnalyticRun(predictions, queries, self.norm)

    def _targets(
        self, plan: tensors.Plan, t: Rounds, y: Floats, draw: Callable[[Rounds], Floats] | None
    ) -> Floats:
        """The target of every estimate of the plan."""
        estimates = np.diff(plan.first)
        if draw is None:
            return np.repeat(y, estimates)
        factors = np.repeat(t, estimates - 1)
        values = np.zeros(len(plan.points))
        values[np.delete(np.arange(len(values)), plan.first[:-1])] = real(
            "targets", draw(factors), factors.shape
        )
        return values

    @property
    def _gaussian(self) -> bool:
        return self.kernel.sigma2 is not None

    def _plan(self, T: int) -> tensors.Plan:
        return tensors.draw_plan(self.rng, T, math.log(self.p), self._gaussian)

    def _rounds(self, plan: tensors.Plan, X: Floats, copies: Floats, y: Floats, predictions: Floats) -> None:
        self._reserve(plan)
        rate = 0.0 if self.kernel.sigma2 is None else 1.0 / self.kernel.sigma2
        parameters = self.loss.kind, self.eta, self.B_w, rate, predictions, self._buffer
        tensors.run(self._state, self._tables, plan, X, copies, y, *parameters)
        if not (np.isfinite(self._state.numbers).all() and np.isfinite(predictions).all()):
            raise ValueError(f"{self.name}: diverged; take a smaller step eta")

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
        rate = 0.0 if self.kernel.sigma2 is None else 1.0 / self.kernel.sigma2
        rows = np.ascontiguousarray(X)
        return np.array(
            [tensors.predict(self._state, self._tables, z[None, :], rate, self._buffer) for z in rows]
        )

    def _start(self, d: int) -> None:
        highest = largest_degree(self.p)
        self._tables = _tables(self.kernel, self.loss, self.p, highest)
        cut = highest if d == 1 else int(math.log(LARGEST_TENSOR) / math.log(d))
        cut = min(cut, highest if self.kernel.degree is None else self.kernel.degree)
        offset = np.concatenate([[0], np.cumsum([d**n for n in range(cut + 1)])]).astype(np.int64)
        self._buffer = np.empty(d**cut)
        numbers, counts = np.array([1.0, 0.0]), np.zeros(3, np.int64)
        none = np.empty(0, np.int64)
        self._state = tensors.State(
            np.zeros(offset[-1]), offset, numbers, counts, none, np.empty(0), none, np.empty((0, d))
        )

    def _reserve(self, plan: tensors.Plan) -> None:
        """Room for the estimates of this plan that are kept one by one."""
        n = plan.points[plan.first[:-1]]
        n = n[(n >= len(self._state.offset) - 1) & (self._tables.product[n] != 0.0)]
        items = int(self._state.counts[tensors.ITEMS]) + len(n)
        points = int(self._state.counts[tensors.POINTS]) + int(n.sum())
        state = self._state
        if items > len(state.item_weight) or points > len(state.item_points):
            self._state = state._replace(
                item_degree=_grown(state.item_degree, 2 * items),
                item_weight=_grown(state.item_weight, 2 * items),
                item_start=_grown(state.item_start, 2 * items),
                item_points=_grown(state.item_points, 2 * points),
            )


def _grown(values: NDArray, length: int) -> NDArray:
    longer = np.zeros((length, *values.shape[1:]), values.dtype)
    longer[: len(values)] = values
    return longer


def _tables(kernel: TensorKernel, loss: AnalyticLoss, p: float, highest: int) -> tensors.Tables:
    inverse = log_inverse_probabilities(p, highest)
    beta = kernel.log_betas(highest)
    signs, logs = loss.series(highest)
    pairs = np.ones(1)
    if kernel.sigma2 is not None:
        n = np.arange(highest + 1)
        factorials = np.array([math.lgamma(k + 1.0) for k in n])
        pairs = (-1.0) ** n * np.exp(inverse - factorials - n * math.log(kernel.sigma2))
    return tensors.Tables(
        np.exp(beta + 2.0 * inverse), np.exp(beta + inverse), pairs, signs * np.exp(logs + inverse)
    )
