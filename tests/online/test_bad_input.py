"""Bad input is named: what is wrong, where, how to mend it."""

import math

import numpy as np
import pytest
from layouts import check_layouts

from noisylabels.kernels import tensor
from noisylabels.kernels.surrogate import gaussian_pair, rational_pair, truncated_rational
from noisylabels.losses import analytic
from noisylabels.noise.features import FeatureNoise
from noisylabels.online.analytic import AnalyticKernel, NaiveFeatureOGD
from noisylabels.online.estimators import AnalyticKernelList
from noisylabels.online.kernel import NaiveKernelOGD, SurrogateKernel
from noisylabels.online.linear import KnownCovariance, NaiveOGD, TwoCopy
from noisylabels.online.oracles import ArrayOracle, SimulatedOracle, StreamOracle
from noisylabels.theory import regret_bounds
from noisylabels.theory.estimates import checked_p, feature_moment, pmf

X, Y = np.ones((4, 2)), np.ones(4)
PAIR = gaussian_pair(1.0, [0.1, 0.1])
BAD_NUMBERS = (0.0, -1.0, math.inf, math.nan)


def analytic_learner(loss=None, eta=0.1, p=2.0, B_w=1.0):
    return AnalyticKernel(tensor.linear(), loss or analytic.squared(), eta, np.random.default_rng(0), p, B_w)


@pytest.mark.parametrize("bad", BAD_NUMBERS)
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("eta", lambda v: TwoCopy(v)),
        ("B_w", lambda v: NaiveOGD(0.1, v)),
        ("eta", lambda v: SurrogateKernel(PAIR, v)),
        ("ball", lambda v: NaiveKernelOGD(PAIR, 0.1, v)),
        ("eta", lambda v: analytic_learner(eta=v)),
        ("B_w", lambda v: analytic_learner(B_w=v)),
        ("eta", lambda v: NaiveFeatureOGD(tensor.linear(), analytic.squared(), v)),
        ("s", lambda v: analytic.smoothed_absolute(v)),
        ("s", lambda v: analytic.smoothed_hinge(v)),
        ("sigma2", lambda v: gaussian_pair(v, [0.0])),
        ("sigma2", lambda v: tensor.gaussian(v)),
        ("c", lambda v: truncated_rational(1.0, v)),
        ("c", lambda v: rational_pair(v, [0.0])),
        ("B_w", lambda v: regret_bounds.best_step(v, 1.0, 10)),
        ("eta", lambda v: regret_bounds.regret(1.0, 1.0, 10, v)),
    ],
)
def test_parameters_must_be_positive_and_finite(name, make, bad):
    with pytest.raises(ValueError, match=rf"^{name}: must be a finite number > 0"):
        make(bad)


@pytest.mark.parametrize("T", [0, -3, 2.5, "10", True, math.inf])
def test_the_horizon_is_an_integer(T):
    with pytest.raises(ValueError, match="T: the number of rounds must be an integer >= 1"):
        regret_bounds.best_step(1.0, 1.0, T)


@pytest.mark.parametrize("p", [1.0, 0.5, math.inf, math.nan])
def test_p_must_exceed_1(p):
    for make in (checked_p, lambda v: analytic_learner(p=v), lambda v: pmf(v, 3)):
        with pytest.raises(ValueError, match=r"^p: must be a finite number > 1"):
            make(p)


def test_a_p_near_1_warns():
    with pytest.warns(UserWarning, match=r"p = 1.02: a round takes about 2550 queries"):
        checked_p(1.02)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.full((4, 2), np.nan), "is not finite"),
        (np.array([[1.0, 2.0], [1.0, np.inf], [0, 0], [0, 0]]), r"value at index \(1, 1\) is not finite"),
        (np.ones((3, 2)), r"expected shape \(4, 2\), got \(3, 2\)"),
        (np.ones((4, 3)), r"expected shape \(4, 2\), got \(4, 3\)"),
        (np.ones(8), r"expected shape \(4, 2\), got \(8,\)"),
    ],
)
def test_arrays_that_do_not_fit(bad, message):
    good = X.copy()
    for call in (
        lambda: TwoCopy(0.1).run(X, bad, good, Y),
        lambda: TwoCopy(0.1).run(X, good, bad, Y),
        lambda: NaiveOGD(0.1).run(X, bad, Y),
        lambda: KnownCovariance(0.1).run(X, bad, Y, variances=[0.1, 0.1]),
        lambda: SurrogateKernel(PAIR, 0.1).run(X, bad, good, Y),
        lambda: SurrogateKernel(PAIR, 0.1).run(X, good, bad, Y),
        lambda: NaiveFeatureOGD(tensor.linear(), analytic.squared(), 0.1).run(X, bad, Y),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_empty_arrays_lengths_and_types():
    with pytest.raises(ValueError, match="X: is empty"):
        TwoCopy(0.1).run(np.empty((0, 2)), np.empty((0, 2)), np.empty((0, 2)), [])
    with pytest.raises(ValueError, match=r"y: expected shape \(4\), got \(3,\)"):
        NaiveOGD(0.1).run(X, X, np.ones(3))
    for bad in (X.astype(complex), X.astype(object)):
        with pytest.raises(ValueError, match="needs real numbers, got an array of"):
            TwoCopy(0.1).run(X, bad, X.copy(), Y)
        with pytest.raises(ValueError, match="needs real numbers"):
            ArrayOracle(bad[:, None], Y)
    with pytest.raises(ValueError, match=r"copies: expected shape \(\*, \*, \*\)"):
        ArrayOracle(X, Y)
    with pytest.raises(ValueError, match=r"targets: expected shape \(4\)"):
        ArrayOracle(X[:, None], np.ones(5))
    with pytest.raises(ValueError, match="average_from: must be a whole number >= 0 and <= 3, got 4"):
        NaiveOGD(0.1).run(X, X, Y, average_from=4)


def test_the_surrogate_kernel_has_a_domain():
    with pytest.raises(ValueError, match=r"exists only above 2 max\(variances\) = 1, got 1; take a wider"):
        gaussian_pair(1.0, [0.5, 0.1])
    with pytest.raises(ValueError, match="variances: value at index 1 is negative"):
        gaussian_pair(1.0, [0.1, -0.1])
    with pytest.warns(UserWarning, match="the noise is almost as wide as the kernel"):
        gaussian_pair(1.0, [0.49999, 0.1])
    with pytest.raises(
        ValueError, match=r"only below d / \(2 max\(variances\)\) = 5, got 5; truncate earlier"
    ):
        rational_pair(5.0, [0.2, 0.2])
    with pytest.raises(ValueError, match="nodes: must be a whole number >= 1, got 0"):
        rational_pair(1.0, [0.2, 0.2], nodes=0)


@pytest.mark.parametrize(
    ("Sigma", "message"),
    [
        ([[1.0, 0.5], [0.0, 1.0]], "is not symmetric"),
        ([[1.0, 2.0], [2.0, 1.0]], "is not positive semi-definite, smallest eigenvalue -1"),
        (np.eye(3), r"expected shape \(2, 2\)"),
        (np.full((2, 2), np.nan), "is not finite"),
    ],
)
def test_covariances_that_are_none(Sigma, message):
    for call in (
        lambda: KnownCovariance(0.1).run(X, X, Y, covariance=Sigma),
        lambda: ArrayOracle(X[:, None], Y, Sigma),
        lambda: KnownCovariance(0.1, covariance=Sigma).fit(ArrayOracle(X[:, None], Y)),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_algorithm_2_needs_a_covariance_and_only_one():
    with pytest.raises(ValueError, match=r"known_covariance needs the covariance of the noise"):
        KnownCovariance(0.1).run(X, X, Y)
    with pytest.raises(ValueError, match="give covariance or variances, not both"):
        KnownCovariance(0.1).run(X, X, Y, covariance=np.eye(2), variances=[1.0, 1.0])
    with pytest.raises(ValueError, match="does not know the covariance of its noise; give it one"):
        KnownCovariance(0.1).fit(ArrayOracle(X[:, None], Y))
    with pytest.raises(ValueError, match="has 3 rounds, X has 4"):
        KnownCovariance(0.1).run(X, X, Y, covariance=np.stack([np.eye(2)] * 3))


def test_noise_that_is_none():
    with pytest.raises(ValueError, match="give either variances or covariance"):
        FeatureNoise()
    with pytest.raises(ValueError, match=r"shapes: \['cauchy'\] unknown; known: gaussian, rademacher"):
        FeatureNoise(variances=[1.0], shapes=("cauchy",))
    with pytest.raises(ValueError, match="variances: value at index 0 is negative"):
        FeatureNoise(variances=[-1.0])
    with pytest.raises(ValueError, match="cycle: must be a whole number >= 1, got 0"):
        FeatureNoise(variances=[1.0], cycle=0)


def test_kernels_that_are_none():
    with pytest.raises(ValueError, match=r"beta_1 = -0.5 is negative, so this is no kernel"):
        tensor.power_series([1.0, -0.5])
    with pytest.raises(ValueError, match="offset: must be a finite number >= 0"):
        tensor.polynomial(2, -1.0)
    with pytest.raises(ValueError, match=r"below its radius of convergence 1, got 1.6; scale the instances"):
        feature_moment(tensor.binomial(0.5), 2.0, 0.8)


def test_labels_of_a_classification_are_signs():
    learner = analytic_learner(analytic.exponential())
    with pytest.raises(ValueError, match="the exponential loss needs -1 or 1, got 0"):
        learner.run(X, lambda rounds: X[rounds], np.array([1.0, -1.0, 0.0, 1.0]))
    listed = AnalyticKernelList(tensor.linear(), analytic.exponential(), 0.1, np.random.default_rng(0))
    naive = NaiveFeatureOGD(tensor.linear(), analytic.exponential(), 0.1)
    for one in (analytic_learner(analytic.exponential()), listed, naive):
        with pytest.raises(ValueError, match=r"needs -1 or 1, got 0.5"):
            one.fit(StreamOracle([(np.ones((100, 2)), 0.5)]))


@pytest.mark.parametrize("alpha", [0.0, -1.0, 3.2, math.nan])
def test_angles(alpha):
    with pytest.raises(ValueError, match=r"alpha: the angle must be in \(0, pi\]"):
        regret_bounds.surrogate_ball(1.0, alpha, 1.0)


def test_an_infinite_majorant_is_refused():
    with pytest.raises(ValueError, match=r"l'_\+ of the exponential loss is infinite at sqrt\(p\) R"):
        regret_bounds.log_gradient_moment(analytic.exponential(), 2.0, math.inf, 1.0)


@pytest.mark.parametrize(
    "learner", [TwoCopy(0.1), SurrogateKernel(PAIR, 0.1)], ids=["two_copy", "surrogate_kernel"]
)
def test_two_copies_are_needed_and_one_is_never_used_twice(learner):
    with pytest.raises(ValueError, match="no further independent copy of its instance"):
        learner.fit(ArrayOracle(X[:, None], Y))


def test_one_array_is_not_two_copies():
    with pytest.raises(ValueError, match="X1 and X2 must be independent copies, got one array twice"):
        TwoCopy(0.1).run(X, X, X, Y)


@pytest.mark.parametrize(
    "make",
    [
        lambda: TwoCopy(0.1),
        lambda: KnownCovariance(0.1),
        lambda: NaiveOGD(0.1),
        lambda: SurrogateKernel(PAIR, 0.1),
        lambda: NaiveKernelOGD(PAIR, 0.1),
        lambda: analytic_learner(),
        lambda: AnalyticKernelList(tensor.linear(), analytic.squared(), 0.1, np.random.default_rng(0)),
        lambda: NaiveFeatureOGD(tensor.linear(), analytic.squared(), 0.1),
    ],
)
def test_predicting_before_learning_gives_0_and_dimensions_may_not_change(make):
    learner = make()
    assert learner.predict([1.0, 2.0]) == 0.0
    np.testing.assert_array_equal(learner.predict(X), np.zeros(4))

    def oracle(d):
        noise = FeatureNoise(variances=np.full(d, 0.1))
        return SimulatedOracle(np.ones((5, d)), np.ones(5), noise, np.random.default_rng(0))

    learner.fit(oracle(2))
    with pytest.raises(ValueError, match="X: rows have 3 entries, the learner has 2"):
        learner.predict(np.ones((1, 3)))
    other = oracle(3)
    other.next_round()
    with pytest.raises(ValueError, match="instance: has 3 entries, the learner has 2; use fit to restart"):
        learner.partial_fit(other)


@pytest.mark.parametrize(
    "make",
    [
        lambda: TwoCopy(0.1),
        lambda: KnownCovariance(0.1),
        lambda: NaiveOGD(0.1),
        lambda: SurrogateKernel(PAIR, 0.1),
        lambda: NaiveKernelOGD(PAIR, 0.1),
        lambda: analytic_learner(),
        lambda: NaiveFeatureOGD(tensor.linear(), analytic.squared(), 0.01),
    ],
)
def test_the_form_of_the_arrays_changes_no_bit(make):
    rng = np.random.default_rng(1)
    copies, y = rng.integers(-2, 3, (12, 40, 2)).astype(float), rng.integers(-3, 4, (12, 40)).astype(float)

    def compute(copies, y, Sigma):
        learner = make().fit(ArrayOracle(copies, y, covariance=Sigma))
        return learner.predict(X), np.array([learner.predict(row) for row in 3 * X])

    check_layouts(compute, [copies, y, np.eye(2)], refused=["objects"])


def test_divergence_is_an_error():
    with pytest.raises(ValueError, match="diverged; take a smaller step"):
        NaiveOGD(1e300, 1e300).run(1e10 * X, 1e10 * X, 1e10 * Y)
