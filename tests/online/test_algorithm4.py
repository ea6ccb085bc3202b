"""Algorithm 4: the paper's list and the tensors are one algorithm; features, products, queries."""

import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from paper_list import (
    AnalyticKernelList,
    Feature,
    gradient_length,
    map_estimate,
    product,
    product_with,
)
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
    "polynomial, exponential": (
        tensor.polynomial(2, scale=0.25),
        analytic.exponential(),
        2,
        2.0,
        0.001,
    ),
    "gaussian, smoothed absolute": (
        tensor.gaussian(4.0),
        analytic.smoothed_absolute(0.5),
        1,
        1.5,
        0.02,
    ),
    "gaussian in the plane, hinge": (
        tensor.gaussian(4.0),
        analytic.smoothed_hinge(0.5),
        2,
        2.0,
        0.005,
    ),
    "exponential, hinge": (ENDLESS, analytic.smoothed_hinge(0.5), 3, 1.4, 0.001),
    "linear, hinge": (tensor.linear(), analytic.smoothed_hinge(0.5), 2, 1.5, 0.02),
    "cubic, no room for its largest tensor": (
        tensor.polynomial(3),
        analytic.squared(),
        20,
        2.0,
        0.001,
    ),
    "linear, no room for a single row": (tensor.linear(), analytic.squared(), 4097, 2.0, 0.001),
}


def sequence(loss, d, T):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (T, d)) / math.sqrt(d)
    if loss.classification:
        return X, np.where(X[:, 0] > 0, 1.0, -1.0)
    return X, 0.5 * X[:, 0]


def whole_run(case, T, B_w=1.0):
    """The learner after `run`, its result, and an oracle factory with the same copies."""
    kernel, loss, d, p, eta = CASES[case]
    X, y = sequence(loss, d, T)
    law = FeatureNoise(variances=np.full(d, 0.1))
    rng = np.random.default_rng(3)
    rounds_drawn = []
    copies_drawn = []

    def copies(rounds):
        noisy = X[rounds] + law.draw(rng, rounds)
        rounds_drawn.append(rounds)
        copies_drawn.append(noisy)
        return noisy

    def learner(kind):
        return kind(kernel, loss, eta, np.random.default_rng(5), p, B_w)

    run = learner(AnalyticKernel).run(X, copies, y)
    rounds = np.concatenate(rounds_drawn)
    drawn = np.concatenate(copies_drawn)
    items = [(drawn[rounds == t].reshape(-1, d), y[t]) for t in range(T)]

    def oracle():
        return StreamOracle(items, exact_targets=True)

    return X, run, learner, oracle


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("B_w", [0.05, 1.0])
def test_list_tensors_and_rounds_are_one_algorithm(case, B_w):
    T = 500 if case == "linear, squared" else 120
    X, run, learner, oracle = whole_run(case, T, B_w)
    for kind in (AnalyticKernelList, AnalyticKernel):
        listed_learner = learner(kind)
        view = oracle()
        predictions = []
        for x, now in zip(X, view, strict=True):
            predictions.append(listed_learner.predict(x))
            listed_learner.partial_fit(now)
            assert listed_learner.norm <= B_w * (1 + 1e-12)
        wanted = run.predictions
        assert_allclose(predictions, wanted, rtol=0, atol=1e-10, err_msg=kind.name)
        assert listed_learner.norm == pytest.approx(run.norm, abs=1e-12)
        assert view.queries == run.queries.sum()


def test_the_norm_that_is_carried_along_is_the_norm():
    _, run, learner, oracle = whole_run("gaussian, smoothed absolute", 150)
    listed = learner(AnalyticKernelList).fit(oracle())
    alpha = np.array(listed.alpha)
    Gram = np.empty((len(alpha), len(alpha)))
    for (row, a), (column, b) in itertools.product(enumerate(listed.features), repeat=2):
        Gram[row, column] = product(listed.kernel, 1.5, a, b)
    assert_allclose(Gram, Gram.T)
    assert alpha @ Gram @ alpha == pytest.approx(run.norm, rel=1e-8)


def test_a_run_in_pieces_is_the_same_run():
    kernel, loss, d, p, eta = CASES["gaussian in the plane, hinge"]
    X, y = sequence(loss, d, 300)
    rng = np.random.default_rng(1)
    noise = {}

    def copies(rounds, shift=0):  # the same copies whatever the pieces
        noisy = []
        for t in rounds:
            factor = 1 + 0.1 * noise.setdefault(t + shift, rng.normal())
            noisy.append(X[t + shift] * factor)
        return np.array(noisy)

    def later_copies(rounds):
        return copies(rounds, 100)

    whole = AnalyticKernel(kernel, loss, eta, np.random.default_rng(5), p)
    run = whole.run(X, copies, y)
    in_pieces = AnalyticKernel(kernel, loss, eta, np.random.default_rng(5), p)
    start = in_pieces.run(X[:100], copies, y[:100])
    end = in_pieces.run(X[100:], later_copies, y[100:])
    predictions = np.append(start.predictions, end.predictions)
    assert_array_equal(predictions, run.predictions)
    queries = np.append(start.queries, end.queries)
    assert_array_equal(queries, run.queries)


KERNELS = [tensor.polynomial(3, 0.5), ENDLESS, tensor.gaussian(2.0)]


@pytest.mark.parametrize("kernel", [tensor.linear(), *KERNELS], ids=lambda kernel: kernel.name)
def test_explicit_features_give_the_kernel(kernel):
    X = np.random.default_rng(0).uniform(-0.3, 0.3, (5, 2))
    K = kernel.kernel(X, X)
    Psi = kernel.features(X, 12)
    assert_allclose(Psi @ Psi.T, K, atol=1e-8)
    if kernel.sigma2 is not None:
        distances = cdist(X, X, "sqeuclidean")
        assert_allclose(K, np.exp(-distances / 2.0))


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("p", [1.25, 2.0, 4.0])
def test_the_number_of_queries_has_the_law_it_should(p, gaussian):
    n = 100_000
    plan = draw_plan(np.random.default_rng(7), n, math.log(p), gaussian)
    queries_of_terms = np.diff(plan.start[plan.first])
    law = pmf(p, 1000, gaussian=gaussian)
    if not gaussian:
        tail = (p / (p * p - p + 1)) ** 3
        assert law[3:].sum() == pytest.approx(tail)
    mean = mean_queries(p, gaussian=gaussian)
    assert law @ np.arange(1001) == pytest.approx(mean, rel=1e-3)
    assert queries_of_terms.mean() == pytest.approx(mean, rel=0.03)
    bins = np.flatnonzero(law * n > 20)
    gaps = np.flatnonzero(np.diff(bins) > 1)
    largest = bins[gaps[0]] if gaps.size else bins[-1]
    counts = np.bincount(np.minimum(queries_of_terms, largest + 1), minlength=largest + 2)
    shares = law[: largest + 1]
    expected = np.append(shares, 1 - shares.sum()) * n
    expected = expected * counts.sum() / expected.sum()
    assert chisquare(counts, expected).pvalue > 1e-4


def test_no_degree_exceeds_the_tables():
    for p in (1.05, 1.5, 3.0):
        largest = largest_degree(p)
        assert degrees(np.random.default_rng(0), p, 100_000).max() <= largest
        assert math.floor(53 * math.log(2) / math.log(p)) <= largest


def test_with_a_deterministic_oracle_it_is_unbiased_over_its_own_coin():
    """One step from w = Psi(z) on exact copies moves w by -eta times the gradient, on average."""
    kernel = tensor.linear()
    loss = analytic.exponential()
    x = np.array([0.6, -0.3])
    z = np.array([0.5, 0.4])
    exact_copies = np.tile(x, (60, 1))
    moves = []
    for seed in range(4000):
        learner = AnalyticKernel(kernel, loss, 1.0, np.random.default_rng(seed), 2.0, 1e9)
        learner._ready(2)
        state = learner._state
        tables = learner._tables
        state.W[1:3] = z * tables.point[1] / tables.product[1]
        state.counts[0] = 1
        before = learner.predict(np.eye(2))
        first_round = next(iter(StreamOracle([(exact_copies, 1.0)])))
        learner.partial_fit(first_round)
        moves.append(learner.predict(np.eye(2)) - before)
    expected = math.exp(-(0.5 * 0.6 - 0.4 * 0.3)) * x
    standard_error = np.std(moves, axis=0) / math.sqrt(len(moves))
    deviation = np.mean(moves, axis=0) - expected
    assert (np.abs(deviation) < 4.5 * standard_error).all()


def test_noisy_targets_are_fresh_in_every_factor():
    kernel = tensor.linear()
    loss = analytic.squared()
    X, y = sequence(loss, 2, 50)
    exact = AnalyticKernel(kernel, loss, 0.02, np.random.default_rng(5))
    run = exact.run(X, lambda rounds: X[rounds], y)
    no_noise = FeatureNoise(variances=np.zeros(2))
    oracle = SimulatedOracle(X, y, no_noise, np.random.default_rng(0))
    learner = AnalyticKernel(kernel, loss, 0.02, np.random.default_rng(5)).fit(oracle)
    plan = draw_plan(np.random.default_rng(5), len(y), math.log(2.0), False)
    estimates = len(plan.points) - len(y)
    assert oracle.target_queries == estimates > 0  # all estimates but the stored ones
    assert learner.norm == run.norm


def test_queries_are_counted_where_the_coefficient_is_zero():
    """The squared loss has no coefficient beyond n = 1; the queries follow the law all the same."""
    X, y = sequence(analytic.squared(), 2, 20_000)
    runs = []
    for loss in (analytic.squared(), analytic.exponential()):
        learner = AnalyticKernel(tensor.linear(), loss, 1e-4, np.random.default_rng(5))
        runs.append(learner.run(X, lambda rounds: X[rounds], np.sign(y)))
    of_squared, of_exponential = runs
    assert_array_equal(of_squared.queries, of_exponential.queries)
    assert of_squared.queries.mean() == pytest.approx(2.0, rel=0.05)


@pytest.mark.parametrize("kind", [AnalyticKernel, AnalyticKernelList])
def test_a_round_that_runs_out_of_copies_is_refused(kind):
    learner = kind(tensor.linear(), analytic.squared(), 0.1, np.random.default_rng(0), 1.2)
    single_copies = ArrayOracle(np.ones((50, 1, 2)), np.ones(50), exact_targets=True)
    with pytest.raises(ValueError, match="no further independent copy of its instance"):
        learner.fit(single_copies)


def fountain(y, rng, x=(0.5, -0.4), variance=0.1):
    """An oracle that stays in one round: fresh copies of x and exact targets y without end."""
    law = FeatureNoise(variances=np.full(2, variance))
    oracle = SimulatedOracle([x], [y], law, rng)
    oracle.next_round()
    return oracle


def agrees(samples, expected):
    samples = np.asarray(samples, dtype=float)
    standard_error = samples.std() / math.sqrt(len(samples))
    return abs(samples.mean() - expected) < 4.5 * standard_error


@pytest.mark.parametrize(
    "kernel",
    [tensor.polynomial(2, scale=0.25), tensor.gaussian(4.0)],
    ids=["(1+a)^2/4", "Gaussian"],
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
    products = [product_with(kernel, p, feature, z) for feature in features]
    exact_product = kernel.kernel(x[None], z[None])[0, 0]
    assert agrees(products, exact_product)
    norms = [product(kernel, p, feature, feature) for feature in features]
    second_moments = np.outer(x, x) + 0.1 * np.eye(2)
    m_2 = float((second_moments**2).sum())
    assert agrees(norms, feature_moment(kernel, p, float(x @ x) + 0.2, m_2))
    copies_of_a_feature = 3.0 if kernel.sigma2 else 1.0
    assert oracle.queries / n == pytest.approx(copies_of_a_feature, rel=0.1)


LOSSES_AND_LABELS = [
    (analytic.squared(), 0.4),
    (analytic.exponential(), 1.0),
    (analytic.smoothed_absolute(0.5), 0.4),
    (analytic.smoothed_hinge(0.5), -1.0),
]


def name_of(value):
    return getattr(value, "name", value)


@pytest.mark.parametrize(("loss", "y"), LOSSES_AND_LABELS, ids=name_of)
def test_the_gradient_length_is_unbiased(loss, y):
    """Lemma 4: E g~ is the slope of the clean loss at <w, Psi(x)>; it takes 1/(p-1)^2 copies."""
    rng = np.random.default_rng(2)
    kernel = tensor.polynomial(2, scale=0.25)
    p = 2.0
    n = 8000
    x = np.array([0.5, -0.4])
    oracle = fountain(y, rng)
    w = Feature(0.1, np.array([[0.5, -0.5]]))

    def inner(feature):
        return product(kernel, p, w, feature)

    lengths = [gradient_length(loss, kernel, p, inner, oracle, rng) for _ in range(n)]
    prediction = product_with(kernel, p, w, x)
    assert agrees(lengths, loss.derivative(prediction, y))
    assert oracle.queries / n == pytest.approx(1.0, rel=0.1)
