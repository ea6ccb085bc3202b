"""Algorithm 4: the list of the paper and the tensors are one algorithm; features, products, queries."""

import math

import numpy as np
import pytest
from paper_list import AnalyticKernelList, Feature, gradient_length, map_estimate, product, product_with
from scipy.spatial.distance import cdist
from scipy.stats import chisquare

from noisylabels.kernels import tensor
from noisylabels.losses import analytic
from noisylabels.noise.additive import FeatureNoise
from noisylabels.online.analytic import AnalyticKernel, draw_plan
from noisylabels.online.oracles import ArrayOracle, SimulatedOracle, StreamOracle
from noisylabels.online.theory import degrees, feature_moment, largest_degree, mean_queries, pmf

ENDLESS = tensor.TensorKernel("exp", np.exp, lambda n: -math.lgamma(n + 1.0), None)  # of any degree
CASES = {
    "linear, squared": (tensor.linear(), analytic.squared(), 2, 2.0, 0.02),
    "polynomial, exponential": (tensor.polynomial(2, scale=0.25), analytic.exponential(), 2, 2.0, 0.001),
    "gaussian, smoothed absolute": (tensor.gaussian(4.0), analytic.smoothed_absolute(0.5), 1, 1.5, 0.02),
    "gaussian in the plane, hinge": (tensor.gaussian(4.0), analytic.smoothed_hinge(0.5), 2, 2.0, 0.005),
    "exponential, hinge": (ENDLESS, analytic.smoothed_hinge(0.5), 3, 1.4, 0.001),
    "linear, hinge": (tensor.linear(), analytic.smoothed_hinge(0.5), 2, 1.5, 0.02),
    "cubic, no room for its largest tensor": (tensor.polynomial(3), analytic.squared(), 20, 2.0, 0.001),
    "linear, no room for a single row": (tensor.linear(), analytic.squared(), 4097, 2.0, 0.001),
}


def sequence(loss, d, T):
    X = np.random.default_rng(0).uniform(-1, 1, (T, d)) / math.sqrt(d)
    return X, np.where(X[:, 0] > 0, 1.0, -1.0) if loss.classification else 0.5 * X[:, 0]


def whole_run(case, T, B_w=1.0):
    """The learner after `run`, its result, and an oracle factory with the same copies."""
    kernel, loss, d, p, eta = CASES[case]
    X, y = sequence(loss, d, T)
    law = FeatureNoise(variances=np.full(d, 0.1))
    rng = np.random.default_rng(3)
    tape = []

    def copies(rounds):
        tape.append((rounds, X[rounds] + law.draw(rng, rounds)))
        return tape[-1][1]

    def learner(kind):
        return kind(kernel, loss, eta, np.random.default_rng(5), p, B_w)

    fast = learner(AnalyticKernel)
    run = fast.run(X, copies, y)
    rounds = np.concatenate([r for r, _ in tape])
    drawn = np.concatenate([c for _, c in tape])
    items = [(drawn[rounds == t].reshape(-1, d), y[t]) for t in range(T)]
    return X, run, learner, lambda: StreamOracle(items, exact_targets=True)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("B_w", [0.05, 1.0])
def test_list_tensors_and_rounds_are_one_algorithm(case, B_w):
    T = 500 if case == "linear, squared" else 120
    X, run, learner, oracle = whole_run(case, T, B_w)
    for kind in (AnalyticKernelList, AnalyticKernel):
        one = learner(kind)
        view = oracle()
        predictions = []
        for x, now in zip(X, view, strict=True):
            predictions.append(one.predict(x))
            one.partial_fit(now)
            assert one.norm <= B_w * (1 + 1e-12)
        np.testing.assert_allclose(predictions, run.predictions, rtol=0, atol=1e-10, err_msg=kind.name)
        assert one.norm == pytest.approx(run.norm, abs=1e-12)
        assert view.queries == run.queries.sum()


def test_the_norm_that_is_carried_along_is_the_norm():
    _, run, learner, oracle = whole_run("gaussian, smoothed absolute", 150)
    listed = learner(AnalyticKernelList).fit(oracle())
    alpha = np.array(listed.alpha)
    features = listed.features
    Gram = np.array([[product(listed.kernel, 1.5, a, b) for b in features] for a in features])
    np.testing.assert_allclose(Gram, Gram.T)
    assert alpha @ Gram @ alpha == pytest.approx(run.norm, rel=1e-8)


def test_a_run_in_pieces_is_the_same_run():
    kernel, loss, d, p, eta = CASES["gaussian in the plane, hinge"]
    X, y = sequence(loss, d, 300)
    rng = np.random.default_rng(1)
    noise = {}

    def copies(rounds, shift=0):  # the same copies whatever the pieces
        rounds = [t + shift for t in rounds]
        return np.array([X[t] * (1 + 0.1 * noise.setdefault(t, rng.normal())) for t in rounds])

    whole, pieces = (AnalyticKernel(kernel, loss, eta, np.random.default_rng(5), p) for _ in range(2))
    run = whole.run(X, copies, y)
    first = pieces.run(X[:100], copies, y[:100])
    last = pieces.run(X[100:], lambda rounds: copies(rounds, 100), y[100:])
    np.testing.assert_array_equal(np.append(first.predictions, last.predictions), run.predictions)
    np.testing.assert_array_equal(np.append(first.queries, last.queries), run.queries)


KERNELS = [tensor.polynomial(3, 0.5), ENDLESS, tensor.gaussian(2.0)]


@pytest.mark.parametrize("kernel", [tensor.linear(), *KERNELS], ids=lambda kernel: kernel.name)
def test_explicit_features_give_the_kernel(kernel):
    X = np.random.default_rng(0).uniform(-0.3, 0.3, (5, 2))
    Psi = kernel.features(X, 12)
    np.testing.assert_allclose(Psi @ Psi.T, kernel.kernel(X, X), atol=1e-8)
    if kernel.sigma2 is not None:
        np.testing.assert_allclose(kernel.kernel(X, X), np.exp(-cdist(X, X, "sqeuclidean") / 2.0))


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("p", [1.25, 2.0, 4.0])
def test_the_number_of_queries_has_the_law_it_should(p, gaussian):
    n = 100_000
    plan = draw_plan(np.random.default_rng(7), n, math.log(p), gaussian)
    used = np.diff(plan.start[plan.first])
    law = pmf(p, 1000, gaussian=gaussian)
    assert gaussian or law[3:].sum() == pytest.approx((p / (p * p - p + 1)) ** 3)
    assert law @ np.arange(1001) == pytest.approx(mean_queries(p, gaussian=gaussian), rel=1e-3)
    assert used.mean() == pytest.approx(mean_queries(p, gaussian=gaussian), rel=0.03)
    bins = np.flatnonzero(law * n > 20)
    last = bins[np.flatnonzero(np.diff(bins) > 1)[0]] if (np.diff(bins) > 1).any() else bins[-1]
    counts = np.bincount(np.minimum(used, last + 1), minlength=last + 2)
    expected = np.append(law[: last + 1], 1 - law[: last + 1].sum()) * n
    assert chisquare(counts, expected * counts.sum() / expected.sum()).pvalue > 1e-4


def test_no_degree_exceeds_the_tables():
    for p in (1.05, 1.5, 3.0):
        assert degrees(np.random.default_rng(0), p, 100_000).max() <= largest_degree(p)
        assert math.floor(53 * math.log(2) / math.log(p)) <= largest_degree(p)


def test_with_a_deterministic_oracle_it_is_unbiased_over_its_own_coin():
    """One step from w = Psi(z) on noise-free copies moves w by -eta times the clean gradient, on average."""
    kernel = tensor.linear()
    loss = analytic.exponential()
    x = np.array([0.6, -0.3])
    moves = []
    for seed in range(4000):
        learner = AnalyticKernel(kernel, loss, 1.0, np.random.default_rng(seed), 2.0, 1e9)
        learner._ready(2)
        state, tables = learner._state, learner._tables
        state.W[1:3] = np.array([0.5, 0.4]) * tables.point[1] / tables.product[1]
        state.counts[0] = 1
        before = learner.predict(np.eye(2))
        learner.partial_fit(next(iter(StreamOracle([(np.tile(x, (60, 1)), 1.0)]))))
        moves.append(learner.predict(np.eye(2)) - before)
    expected = math.exp(-(0.5 * 0.6 - 0.4 * 0.3)) * x
    error = np.std(moves, axis=0) / math.sqrt(len(moves))
    assert (np.abs(np.mean(moves, axis=0) - expected) < 4.5 * error).all()


def test_noisy_targets_are_fresh_in_every_factor():
    kernel = tensor.linear()
    loss = analytic.squared()
    X, y = sequence(loss, 2, 50)
    run = AnalyticKernel(kernel, loss, 0.02, np.random.default_rng(5)).run(X, lambda rounds: X[rounds], y)
    oracle = SimulatedOracle(X, y, FeatureNoise(variances=np.zeros(2)), np.random.default_rng(0))
    c = AnalyticKernel(kernel, loss, 0.02, np.random.default_rng(5)).fit(oracle)
    plan = draw_plan(np.random.default_rng(5), len(y), math.log(2.0), False)
    assert oracle.target_queries == len(plan.points) - len(y) > 0  # all estimates but the stored ones
    assert c.norm == run.norm


def test_queries_are_counted_where_the_coefficient_is_zero():
    """The squared loss has no coefficient beyond n = 1, the queries are those of the law all the same."""
    X, y = sequence(analytic.squared(), 2, 20_000)
    runs = []
    for loss in (analytic.squared(), analytic.exponential()):
        learner = AnalyticKernel(tensor.linear(), loss, 1e-4, np.random.default_rng(5))
        runs.append(learner.run(X, lambda rounds: X[rounds], np.sign(y)))
    np.testing.assert_array_equal(runs[0].queries, runs[1].queries)
    assert runs[0].queries.mean() == pytest.approx(2.0, rel=0.05)


@pytest.mark.parametrize("kind", [AnalyticKernel, AnalyticKernelList])
def test_a_round_that_runs_out_of_copies_is_refused(kind):
    learner = kind(tensor.linear(), analytic.squared(), 0.1, np.random.default_rng(0), 1.2)
    with pytest.raises(ValueError, match="no further independent copy of its instance"):
        learner.fit(ArrayOracle(np.ones((50, 1, 2)), np.ones(50), exact_targets=True))


def fountain(y, rng, x=(0.5, -0.4), variance=0.1):
    """An oracle that stays in one round: fresh copies of x and exact targets y without end."""
    oracle = SimulatedOracle([x], [y], FeatureNoise(variances=np.full(2, variance)), rng)
    oracle.next_round()
    return oracle


def agrees(samples, expected):
    samples = np.asarray(samples, dtype=float)
    return abs(samples.mean() - expected) < 4.5 * samples.std() / math.sqrt(len(samples))


@pytest.mark.parametrize(
    "kernel", [tensor.polynomial(2, scale=0.25), tensor.gaussian(4.0)], ids=["(1+a)^2/4", "Gaussian"]
)
def test_estimated_features_are_unbiased_and_have_the_derived_moment(kernel):
    """Equations (9) and (10): <Psi~, Psi(z)>, ||Psi~||^2, and the copies that a feature takes."""
    rng = np.random.default_rng(1)
    p = 2.0
    n = 4000
    x = np.array([0.5, -0.4])
    z = np.array([0.3, 0.6])
    oracle = fountain(0.0, rng)
    features = [map_estimate(kernel, p, oracle, rng) for _ in range(n)]
    assert agrees([product_with(kernel, p, f, z) for f in features], kernel.kernel(x[None], z[None])[0, 0])
    m_2 = ((np.outer(x, x) + 0.1 * np.eye(2)) ** 2).sum()
    norms = [product(kernel, p, f, f) for f in features]
    assert agrees(norms, feature_moment(kernel, p, float(x @ x) + 0.2, float(m_2)))
    assert oracle.queries / n == pytest.approx(3.0 if kernel.sigma2 else 1.0, rel=0.1)


@pytest.mark.parametrize(("loss", "y"), [
    (analytic.squared(), 0.4), (analytic.exponential(), 1.0),
    (analytic.smoothed_absolute(0.5), 0.4), (analytic.smoothed_hinge(0.5), -1.0),
], ids=lambda value: getattr(value, "name", value))  # fmt: skip
def test_the_gradient_length_is_unbiased(loss, y):
    """Lemma 4: E g~ is the derivative of the clean loss at <w, Psi(x)>; it takes 1/(p-1)^2 copies."""
    rng = np.random.default_rng(2)
    kernel = tensor.polynomial(2, scale=0.25)
    p = 2.0
    n = 8000
    oracle = fountain(y, rng)
    w = Feature(0.1, np.array([[0.5, -0.5]]))
    inner = lambda feature: product(kernel, p, w, feature)  # noqa: E731
    lengths = [gradient_length(loss, kernel, p, inner, oracle, rng) for _ in range(n)]
    assert agrees(lengths, loss.derivative(product_with(kernel, p, w, np.array([0.5, -0.4])), y))
    assert oracle.queries / n == pytest.approx(1.0, rel=0.1)
