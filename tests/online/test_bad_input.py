"""Bad input is named in one line: what is wrong, where, how to fix it."""

import inspect
import math
from functools import partial

import numpy as np
import pytest
from bad_values import check_answers
from layouts import check_layouts
from numpy.testing import assert_array_equal

import noisylabels
from noisylabels import METHODS
from noisylabels.checks import check_online_learner
from noisylabels.kernels import tensor
from noisylabels.kernels.surrogate import gaussian_pair, rational_pair, truncated_rational
from noisylabels.losses import analytic
from noisylabels.noise.additive import FeatureNoise
from noisylabels.online import theory
from noisylabels.online.analytic import AnalyticKernel
from noisylabels.online.kernel import SurrogateKernel
from noisylabels.online.linear import KnownCovariance, NaiveOGD, TwoCopy
from noisylabels.online.oracles import ArrayOracle, SimulatedOracle, StreamOracle

PATHS = [path for path in METHODS.values() if "online." in path]
LEARNERS = [getattr(noisylabels, path.partition(":")[2]) for path in PATHS]
each_class = pytest.mark.parametrize("cls", LEARNERS, ids=lambda cls: cls.name)
X = np.ones((4, 2))
Y = np.ones(4)
PAIR = gaussian_pair(1.0, [0.1, 0.1])


def make_learner(cls, **changed):
    """A learner with values for the parameters that have no default."""
    arguments = {"kernel": tensor.linear(), "loss": analytic.squared(), "eta": 0.1, "pair": PAIR}
    arguments |= {"rng": np.random.default_rng(0)} | changed
    names = inspect.signature(cls).parameters
    return cls(**{name: value for name, value in arguments.items() if name in names})


def refused(message, call, *arguments):
    with pytest.raises(ValueError, match=message):
        call(*arguments)


@each_class
def test_every_learner_keeps_the_contract_of_learners(cls):
    entries = PAIR.d if "pair" in inspect.signature(cls).parameters else 5
    check_online_learner(make_learner(cls), copies=200, entries=entries)


@each_class
def test_a_wrong_parameter_is_named_in_one_line(cls):
    check_answers(cls, lambda name, value: make_learner(cls, **{name: value}))


def positive_parameters():
    """List each positive parameter of each learner, and what makes a learner with a value of it."""
    cases = []
    for cls in LEARNERS:
        for name in ("eta", "B_w", "ball"):
            if name in inspect.signature(cls).parameters:
                cases.append((name, partial(make_with, cls, name)))
    return cases


def make_with(cls, name, value):
    return make_learner(cls, **{name: value})


@pytest.mark.parametrize("bad", [0.0, -1.0, math.inf, math.nan])
@pytest.mark.parametrize(
    ("name", "make"),
    [
        *positive_parameters(),
        ("s", analytic.smoothed_absolute),
        ("s", analytic.smoothed_hinge),
        ("sigma2", partial(gaussian_pair, variances=[0.0])),
        ("sigma2", tensor.gaussian),
        ("c", partial(truncated_rational, 1.0)),
        ("c", partial(rational_pair, variances=[0.0])),
        ("B_w", partial(theory.best_step, G=1.0, T=10)),
        ("eta", partial(theory.regret, 1.0, 1.0, 10)),
    ],
)
def test_parameters_must_be_positive_and_finite(name, make, bad):
    refused(rf"^{name}: must be a finite number > 0", make, bad)


@pytest.mark.parametrize("T", [0, -3, 2.5, "10", True, math.inf])
def test_the_horizon_is_whole(T):
    refused("T: must be a whole number >= 1", theory.best_step, 1.0, 1.0, T)


@pytest.mark.parametrize("p", [1.0, 0.5, math.inf, math.nan])
def test_p_must_exceed_1_and_near_1_it_warns(p):
    for make in (
        theory.checked_p,
        lambda v: make_learner(AnalyticKernel, p=v),
        lambda v: theory.pmf(v, 3),
    ):
        refused(r"^p: must be a finite number > 1", make, p)
    with pytest.warns(UserWarning, match=r"p = 1.02: a round takes about 2550 queries"):
        theory.checked_p(1.02)


RUNS = {
    "two_copy, first": lambda bad: TwoCopy(0.1).run(X, bad, X.copy(), Y),
    "two_copy, second": lambda bad: TwoCopy(0.1).run(X, X.copy(), bad, Y),
    "naive_ogd": lambda bad: NaiveOGD(0.1).run(X, bad, Y),
    "known_covariance": lambda bad: KnownCovariance(0.1).run(X, bad, Y, variances=[0.1, 0.1]),
    "surrogate_kernel, first": lambda bad: SurrogateKernel(PAIR, 0.1).run(X, bad, X.copy(), Y),
    "surrogate_kernel, second": lambda bad: SurrogateKernel(PAIR, 0.1).run(X, X.copy(), bad, Y),
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.full((4, 2), np.nan), "is not finite"),
        (
            np.array([[1.0, 2.0], [1.0, np.inf], [0, 0], [0, 0]]),
            r"value at index \(1, 1\) is not finite",
        ),
        (np.ones((3, 2)), r"expected shape \(4, 2\), got \(3, 2\)"),
        (np.ones((4, 3)), r"expected shape \(4, 2\), got \(4, 3\)"),
        (np.ones(8), r"expected shape \(4, 2\), got \(8,\)"),
        (X.astype(complex), "needs real numbers, got an array of"),
        (X.astype(object), "needs real numbers, got an array of"),
    ],
)
def test_arrays_that_do_not_fit(run, bad, message):
    refused(message, run, bad)


@each_class
@pytest.mark.parametrize(
    "bad",
    [None, np.array([[1, "a"]], dtype=object), [[1.0], [1.0, 2.0]], "rows"],
)
def test_what_is_no_array_of_numbers_is_refused(cls, bad):
    learner = make_learner(cls)
    arguments = {
        "X": X,
        "X1": X,
        "X2": X.copy(),
        "y": Y,
        "copies": lambda rounds: X[rounds],
        "variances": [1, 1],
    }
    if hasattr(learner, "run"):
        names = inspect.signature(learner.run).parameters
        accepted = {name: value for name, value in arguments.items() if name in names}
        for name in {"X", "X1", "X2", "y"} & set(accepted):
            with pytest.raises(ValueError, match=r"^(X|X1|X2|y|copy \d): (expected|needs) [^\n]+$"):
                learner.run(**accepted | {name: bad})
    refused(r"^X: (expected|needs) [^\n]+$", learner.predict, bad)
    for learn in (learner.fit, learner.partial_fit):
        refused(r"^oracle: must be of the class Oracle, got [^\n]+$", learn, X)


def arrays(copies=X[:, None], targets=Y, **changed):
    return lambda: ArrayOracle(copies, targets, **changed)


def known_covariance(**changed):
    return lambda: KnownCovariance(0.1).run(X, X, Y, **changed)


def simulated(**changed):
    arguments = {
        "X": X,
        "y": Y,
        "noise": FeatureNoise(variances=[0.1, 0.1]),
        "rng": np.random.default_rng(0),
    }
    return lambda: SimulatedOracle(**arguments | changed)


def learns(cls, items=None, **changed):
    oracle = StreamOracle(items) if items else ArrayOracle(X[:, None], Y)
    return lambda: make_learner(cls, **changed).fit(oracle)


def naive(*arguments, parameters=(0.1,), **options):
    return lambda: NaiveOGD(*parameters).run(*arguments, **options)


def feature_noise(**law):
    return lambda: FeatureNoise(**law)


def radial(*arguments, **options):
    return lambda: rational_pair(*arguments, **options)


THREE_ROUNDS = np.stack([np.eye(2)] * 3)
HUGE = 1e10 * X
MASKED = np.ma.masked_equal([[1.0, 0]], 0)


@pytest.mark.parametrize(
    ("message", "act"),
    [
        ("X: is empty", naive(np.empty((0, 2)), np.empty((0, 2)), [])),
        (r"X: expected shape \(\*, \*\), got \(2,\); reshape", naive(X[0], X[0], 1.0)),
        (r"y: expected shape \(4\), got \(3,\)", naive(X, X, np.ones(3))),
        ("average_from: must be .* >= 0 and <= 3", naive(X, X, Y, average_from=4)),
        ("copies: must be a whole number >= 1, got 2.5", lambda: NaiveOGD(0.1, copies=2.5)),
        ("X1 and X2 must be independent copies", lambda: TwoCopy(0.1).run(X, X, X, Y)),
        ("X: value at index .* is masked", lambda: TwoCopy(0.1).predict(MASKED)),
        ("copies: must be a function, got", lambda: make_learner(AnalyticKernel).run(X, X, Y)),
        ("diverged; take a smaller", naive(HUGE, HUGE, 1e10 * Y, parameters=(1e300, 1e300))),
        (r"copies: expected shape \(\*, \*, \*\)", arrays(X)),
        (r"targets: expected shape \(4\)", arrays(targets=np.ones(5))),
        ("targets: expected an array of real numbers", arrays(targets=[[1.0], [1.0, 2.0]])),
        ("has 3 rounds, the copies have 4", arrays(covariance=THREE_ROUNDS)),
        ("noise: must be of the class FeatureNoise, got 0.1", simulated(noise=0.1)),
        ("target_sd: must be a finite number >= 0", simulated(target_sd=-1.0)),
        ("known_covariance needs the covariance of the noise", known_covariance()),
        (
            "covariance or variances, not both",
            known_covariance(covariance=np.eye(2), variances=[1.0, 1.0]),
        ),
        ("has 3 rounds, X has 4", known_covariance(covariance=THREE_ROUNDS)),
        ("does not know the covariance of its noise; give it one", learns(KnownCovariance)),
        ("no further independent copy of its instance", learns(SurrogateKernel)),
        (
            r"only above 2 max\(variances\) = 1, got 1; take a wider",
            partial(gaussian_pair, 1.0, [0.5, 0]),
        ),
        (
            r"only below d / \(2 max\(variances\)\) = 5, got 5; trunc",
            radial(5.0, [0.2, 0.2]),
        ),
        ("nodes: must be a whole number >= 1, got 0", radial(1.0, [0.2, 0.2], nodes=0)),
        ("give either variances or covariance", FeatureNoise),
        (
            r"\['cauchy'\] unknown; known: gaussian",
            feature_noise(variances=[1.0], shapes=("cauchy",)),
        ),
        ("variances: value at index 0 is negative", feature_noise(variances=[-1.0])),
        ("cycle: must be a whole number >= 1, got 0", feature_noise(variances=[1.0], cycle=0)),
        (
            "beta_1 = -0.5 is negative, so this is not a kernel",
            lambda: tensor.power_series([1.0, -0.5]),
        ),
        ("offset: must be a finite number >= 0", lambda: tensor.polynomial(2, -1.0)),
        (
            r"l'_\+ of the exponential loss is infinite at sqrt\(p\) R",
            lambda: theory.log_gradient_moment(analytic.exponential(), 2.0, math.inf, 1.0),
        ),
    ],
)
def test_what_is_wrong_is_said(message, act):
    refused(message, act)


def test_a_surrogate_almost_as_wild_as_the_noise_warns():
    with pytest.warns(UserWarning, match="the noise is almost as wide as the kernel"):
        gaussian_pair(1.0, [0.49999, 0.1])


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
    for act in (known_covariance, arrays, partial(learns, KnownCovariance)):
        refused(message, act(covariance=Sigma))


def test_labels_of_a_classification_are_signs():
    loss = analytic.exponential()
    run = make_learner(AnalyticKernel, loss=loss).run
    labels = np.array([1.0, -1.0, 0.0, 1.0])
    refused("the exponential loss needs -1 or 1, got 0", run, X, lambda t: X[t], labels)
    for cls in LEARNERS:
        if "loss" not in inspect.signature(cls).parameters:
            continue
        refused("needs -1 or 1, got 0.5", learns(cls, [(np.ones((100, 2)), 0.5)], loss=loss))


@pytest.mark.parametrize("alpha", [0.0, -1.0, 3.2, math.nan])
def test_what_is_no_angle_is_refused(alpha):
    refused(r"alpha: the angle must be in \(0, pi\]", theory.surrogate_ball, 1.0, alpha, 1.0)


@each_class
def test_predicting_before_learning_gives_0_and_dimensions_may_not_change(cls):
    learner = make_learner(cls)
    assert learner.predict([1.0, 2.0]) == 0.0
    assert_array_equal(learner.predict(X), np.zeros(4))
    learner.fit(simulated()())
    refused("X: rows have 3 entries, the learner has 2", learner.predict, np.ones((1, 3)))
    wider = simulated(X=np.ones((4, 3)), noise=FeatureNoise(variances=[0.1] * 3))()
    wider.next_round()
    message = "instance: has 3 entries, the learner has 2; use fit to restart"
    refused(message, learner.partial_fit, wider)


@each_class
def test_the_form_of_the_arrays_changes_no_bit(cls):
    rng = np.random.default_rng(1)
    copies = rng.integers(-2, 3, (12, 60, 2)).astype(float)
    y = rng.integers(-3, 4, (12, 60)).astype(float)

    def compute(copies, y, Sigma):
        learner = make_learner(cls, eta=0.01).fit(ArrayOracle(copies, y, covariance=Sigma))
        return learner.predict(X), np.array([learner.predict(row) for row in 3 * X])

    check_layouts(compute, [copies, y, np.eye(2)], refused=["objects"])
