"""The expectations behind Algorithm 4: estimated features, gradient lengths, numbers of queries."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numba import njit

from noisylabels.arrays import Floats
from noisylabels.kernels import tensor
from noisylabels.losses import analytic
from noisylabels.noise.features import FeatureNoise
from noisylabels.online import tensors
from noisylabels.online.analytic_kernel import AnalyticKernel
from noisylabels.theory.query_laws import mean_queries, pmf
from noisylabels.theory.randomised_estimates import feature_moment

Samples = Iterator[tuple[str, float, Floats]]

P, SD = 2.0, 0.2
POINTS = {1: (np.array([0.6]), np.array([0.5])), 2: (np.array([0.5, -0.4]), np.array([0.3, 0.6]))}
"""Dimension -> the instance x, whose copies are noisy, and a known point z."""
KERNELS = {
    "linear": (tensor.linear(), 2),
    "(1 + a)^2": (tensor.polynomial(2), 2),
    "exponential": (tensor.exponential(), 1),
    "Gaussian": (tensor.gaussian(4.0), 1),
}
LOSSES = (
    analytic.squared(),
    analytic.exponential(),
    analytic.smoothed_absolute(0.5),
    analytic.smoothed_hinge(0.5),
    analytic.smoothed_hinge(0.5, centred=False),
)


def _learner(name: str, loss: analytic.AnalyticLoss, rng: np.random.Generator) -> AnalyticKernel:
    """A learner whose hypothesis is w = Psi(z)."""
    kernel, d = KERNELS[name]
    learner = AnalyticKernel(kernel, loss, eta=1.0, rng=rng, p=P, B_w=1e300)
    learner._ready(d)
    z, tables, state = POINTS[d][1], learner._tables, learner._state
    factor = 1.0 if kernel.sigma2 is None else math.exp(-float(z @ z) / kernel.sigma2)
    power = np.ones(1)
    for n in range(len(state.offset) - 1):
        if tables.point[n] > 0.0:  # <W_n, .> product[n] = point[n] <z, .> ... <z, .>
            state.W[state.offset[n] : state.offset[n + 1]] = (
                factor * tables.point[n] / tables.product[n] * power
            )
            state.counts[tensors.TOP] = n
        power = np.outer(power, z).ravel()
    return learner


def _copies(rng: np.random.Generator, d: int, m: int) -> Floats:
    return POINTS[d][0] + FeatureNoise(variances=np.full(d, SD**2)).draw(rng, m)


@njit(cache=True)
def _inner(
    state: tensors.State,
    tables: tensors.Tables,
    plan: tensors.Plan,
    copies: np.ndarray,
    values: np.ndarray,
    sizes: np.ndarray,
    buffer: np.ndarray,
) -> None:
    """values[t] = <w, Psi~_t> and sizes[t] = ||Psi~_t||^2 for the stored estimate of every round."""
    for t in range(len(values)):
        e = plan.first[t]
        scalar = tensors._scalar(plan.pairs[e], plan.start[e], copies, tables)
        x = copies[plan.start[e] + 2 * plan.pairs[e] : plan.start[e + 1]]
        values[t] = tensors.inner(state, tables, scalar, x, buffer)
        sizes[t] = tables.product[len(x)] * scalar * scalar
        for j in range(len(x)):
            sizes[t] *= tensors._dot(x[j], x[j])


def features(rng: np.random.Generator, n: int) -> Samples:
    """E <Psi~, Psi(z)> = k(x, z), and E ||Psi~||^2 exactly, for every kernel."""
    for name, (kernel, d) in KERNELS.items():
        learner = _learner(name, LOSSES[0], rng)
        plan = learner._plan(n)
        copies = _copies(rng, d, int(plan.start[-1]))
        values, sizes = np.empty(n), np.empty(n)
        _inner(learner._state, learner._tables, plan, copies, values, sizes, learner._buffer)
        x, z = POINTS[d]
        yield f"feature, {name} kernel: <Psi~, Psi(z)>", float(kernel.kernel(x[None], z[None])[0, 0]), values
        size = float(x @ x)
        m_2 = size**2 + 2.0 * SD**2 * size + d * SD**4
        exact = feature_moment(kernel, P, size + d * SD**2, m_2)
        yield f"feature, {name} kernel: squared norm", exact, sizes


@njit(cache=True)
def _slopes(
    state: tensors.State,
    tables: tensors.Tables,
    plan: tensors.Plan,
    copies: np.ndarray,
    y: np.ndarray,
    kind: int,
    buffer: np.ndarray,
    out: np.ndarray,
) -> None:
    for t in range(len(out)):
        out[t] = tensors._slope(state, tables, plan, t, copies, y, kind, buffer)


def gradient_lengths(rng: np.random.Generator, n: int) -> Samples:
    """Lemma 4: E g~ is the derivative of the clean loss, for every loss and two kernels."""
    for name in ("linear", "Gaussian"):
        kernel, d = KERNELS[name]
        x, z = POINTS[d]
        a = float(kernel.kernel(x[None], z[None])[0, 0])
        for loss in LOSSES:
            y = -1.0 if loss.classification else 0.4
            learner = _learner(name, loss, rng)
            plan = learner._plan(n)
            copies, slopes = _copies(rng, d, int(plan.start[-1])), np.empty(n)
            targets = np.full(len(plan.points), y)
            data = learner._state, learner._tables, plan, copies, targets
            _slopes(*data, loss.kind, learner._buffer, slopes)
            yield f"gradient length, {loss.name}, {name} kernel", float(loss.derivative(a, y)), slopes


def queries(rng: np.random.Generator, n: int) -> Samples:
    """Queries of a round: mean, and the share of rounds without any."""
    for name in ("linear", "Gaussian"):
        gaussian = name == "Gaussian"
        plan = tensors.draw_plan(rng, n, math.log(P), gaussian)
        used = np.diff(plan.start[plan.first])
        yield f"queries per round, {name} kernel", mean_queries(P, gaussian=gaussian), used.astype(float)
        none = float(pmf(P, 0, gaussian=gaussian)[0])
        yield f"rounds without queries, {name} kernel", none, (used == 0).astype(float)
