"""Identities of the random features and of Subroutine 1, made one by one as in the algorithm."""

from collections.abc import Iterator

import numpy as np

from noisylabels.kernels import tensor
from noisylabels.losses.analytic import analytic_loss
from noisylabels.noise.features import FeatureNoise
from noisylabels.online.estimators import Feature, gradient_length, map_estimate, product, product_with
from noisylabels.online.oracles import SimulatedOracle
from noisylabels.theory.estimates import feature_moment
from reproduction.protocols.noisy_online.sequences import Floats

X, Z = np.array([0.5, -0.4]), np.array([0.3, 0.6])
VARIANCE, P = 0.1, 2.0
Found = tuple[str, Floats, float]


class Fountain:
    """An oracle that stays in one round: fresh copies of X and exact targets y without end."""

    def __init__(self, y: float, rng: np.random.Generator) -> None:
        noise = FeatureNoise(variances=np.full(2, VARIANCE))
        self._oracle = SimulatedOracle(X[None, :], np.array([y]), noise, rng)
        self._oracle.next_round()
        self.instance, self.target = self._oracle.instance, self._oracle.target

    @property
    def queries(self) -> int:
        """Copies handed out so far."""
        return self._oracle.queries


def measured(n: int, rng: np.random.Generator) -> Iterator[Found]:
    """Equations (9) and (10): mean, squared norm and copies of MapEstimate; Lemma 4 for four losses."""
    B_x = float(X @ X) + 2 * VARIANCE
    m_2 = float(((np.outer(X, X) + VARIANCE * np.eye(2)) ** 2).sum())
    kernels = {"polynomial": tensor.polynomial(2, scale=0.25), "Gaussian": tensor.gaussian(4.0)}
    for name, kernel in kernels.items():
        yield from _features(name, kernel, n, rng, feature_moment(kernel, P, B_x, m_2))
    yield from _lengths(kernels["polynomial"], n, rng)
    yield "copies of a gradient length", _copies(kernels["polynomial"], n, rng), 1 / (P - 1) ** 2


def _lengths(kernel: tensor.TensorKernel, n: int, rng: np.random.Generator) -> Iterator[Found]:
    """Lemma 4: the mean of Subroutine 1 for four losses, at a fixed predictor."""
    w = Feature(0.1, np.array([[0.5, -0.5]]))  # one stored estimate
    truth = product_with(kernel, P, w, X)

    def inner(feature: Feature) -> float:
        return product(kernel, P, w, feature)

    cases = [("squared", None, 0.4), ("exponential", None, 1.0)]
    cases += [("smoothed_absolute", 0.5, 0.4), ("smoothed_hinge", 0.5, -1.0)]  # type: ignore[list-item]
    for name, s, y in cases:
        loss, oracle = analytic_loss(name, s), Fountain(y, rng)
        lengths = [gradient_length(loss, kernel, P, inner, oracle, rng) for _ in range(n)]  # type: ignore[arg-type]
        title = f"gradient length: {name.replace('_', ' ')}"
        yield title, np.array(lengths), float(loss.derivative(truth, y))


def _features(
    name: str, kernel: tensor.TensorKernel, n: int, rng: np.random.Generator, moment: float
) -> Iterator[Found]:
    oracle, values, norms, copies = Fountain(0.0, rng), np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        before = oracle.queries
        feature = map_estimate(kernel, P, oracle, rng)  # type: ignore[arg-type]
        values[i], norms[i] = product_with(kernel, P, feature, Z), product(kernel, P, feature, feature)
        copies[i] = oracle.queries - before
    yield f"{name} kernel: feature times Psi(z)", values, float(kernel.kernel(X[None], Z[None])[0, 0])
    yield f"{name} kernel: squared norm of a feature", norms, moment
    yield f"{name} kernel: copies of a feature", copies, (3.0 if kernel.sigma2 else 1.0) / (P - 1)


def _copies(kernel: tensor.TensorKernel, n: int, rng: np.random.Generator) -> Floats:
    """Copies that Subroutine 1 takes, which is the whole round less the stored feature."""
    oracle, counts, loss = Fountain(0.4, rng), np.empty(n), analytic_loss("squared")
    for i in range(n):
        before = oracle.queries
        gradient_length(loss, kernel, P, lambda f: 0.0, oracle, rng)  # type: ignore[arg-type]
        counts[i] = oracle.queries - before
    return counts
