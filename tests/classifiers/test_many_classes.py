"""Robust logistic regression with three classes and more: flips, posteriors, names, weights."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from problems import draw_classes
from sklearn.linear_model import LogisticRegression

from noisylabels.classifiers.kernel_logistic import RobustKernelLogisticRegression
from noisylabels.classifiers.linear import RobustSGDClassifier
from noisylabels.classifiers.logistic import RobustLogisticRegression
from noisylabels.classifiers.multi_kernel import RobustMultiKernelLogisticRegression
from noisylabels.kernels.bank import KernelBank
from noisylabels.kernels.gaussian import squared_distances
from noisylabels.losses import margin
from noisylabels.solvers import sgd
from noisylabels.solvers.multi_kernel import ascend
from noisylabels.solvers.softmax_multi_kernel import SoftmaxPath, softmax_fit

NAMES = np.array(["beech", "elm", "oak"])
OMEGA = np.array([[0.7, 0.3, 0.0], [0.0, 0.8, 0.2], [0.0, 0.0, 1.0]])
ROBUST = [
    RobustLogisticRegression(),
    RobustKernelLogisticRegression(2.0, 0.1, bias="free"),
    RobustMultiKernelLogisticRegression([1.0, 4.0, 16.0]),
]


CENTRES = np.array([[-3, 0], [3, 0], [0, 4]])


def trees(n=300, seed=0):
    """X (n, 2), true names, observed names."""
    rng = np.random.default_rng(seed)
    true = np.arange(n) % 3
    X = rng.standard_normal((n, 2)) + CENTRES[true]
    observed = [rng.choice(3, p=chances) for chances in OMEGA[true]]
    return X, NAMES[true], NAMES[observed]


def share_right(model, X, true):
    return np.mean(model.predict(X) == true)


@pytest.mark.parametrize("model", ROBUST, ids=lambda m: m.name)
def test_it_learns_the_flips_and_sees_through_them(model):
    X, true, observed = trees()
    unit_weights = np.ones(300)
    model.fit(X, observed)
    assert model.classes_.tolist() == NAMES.tolist()
    omega = model.flip_matrix_
    assert omega == pytest.approx(OMEGA, abs=0.12)
    assert omega.sum(axis=1) == pytest.approx(np.ones(3))
    assert share_right(model, X, true) > 0.97
    assert model.decision_function(X).shape == (300, 3)
    probabilities = model.predict_proba(X)
    assert probabilities.sum(axis=1) == pytest.approx(unit_weights)
    assert model.flags_ == ()
    assert not model.flagged_
    assert model.converged_
    q = model.true_label_posterior(X, observed)
    assert q.shape == (300, 3)
    assert q.sum(axis=1) == pytest.approx(unit_weights)
    likeliest = NAMES[q.argmax(axis=1)]
    assert np.mean(likeliest == true) > 0.95
    with pytest.raises(ValueError, match="outside the classes of fit"):
        model.true_label_posterior(X, np.full(300, "fir"))


def test_the_flips_of_five_classes_are_recovered_within_their_standard_errors():
    rng = np.random.default_rng(0)
    shares = [0.65, 0.15, 0.1, 0.06, 0.04]
    omega = np.array([np.roll(shares, j) for j in range(5)])
    true = np.arange(3000) % 5
    centres = 4.0 * np.eye(5)
    # the classes overlap by 1 %: omega_j is a share of 600 draws
    X = rng.standard_normal((3000, 5)) + centres[true]
    observed = draw_classes(rng, omega[true])
    model = RobustLogisticRegression().fit(X, observed)
    standard_errors = np.sqrt(omega * (1.0 - omega) / 600)
    deviations = np.abs(model.flip_matrix_ - omega) / standard_errors
    assert deviations.max() < 4.0  # of 25 shares, by chance once in 600 times
    root_mean_square = np.sqrt(np.mean(deviations**2))
    assert root_mean_square < 1.6  # 20 of them free: 1 +- 0.16 expected
    assert share_right(model, X, true) > 0.98


@pytest.mark.parametrize("penalty", ["weights", "rkhs"])
def test_the_solvers_of_the_kernel_model_agree(penalty):
    X, true, observed = trees(90)
    models = []
    for solver in ("lbfgs", "em_newton"):
        options = {"bias": "free", "penalty": penalty, "solver": solver}
        model = RobustKernelLogisticRegression(2.0, 0.1, **options)
        model.fit(X, observed)
        assert share_right(model, X, true) > 0.93
        models.append(model)
    lbfgs, em = models
    assert em.objective_ == pytest.approx(lbfgs.objective_, rel=1e-3)


def test_new_names_of_the_classes_change_nothing_else():
    X, _, observed = trees(120)
    new_names = {"beech": "c", "elm": "a", "oak": "b"}
    renamed = [new_names[name] for name in observed]
    first = RobustLogisticRegression().fit(X, observed)
    second = RobustLogisticRegression().fit(X, np.array(renamed))
    order = [2, 0, 1]  # of beech, elm, oak among a, b, c
    reordered = second.flip_matrix_[np.ix_(order, order)]
    assert reordered == pytest.approx(first.flip_matrix_, abs=1e-9)
    probabilities = second.predict_proba(X)
    assert probabilities[:, order] == pytest.approx(first.predict_proba(X), abs=1e-9)


def test_a_weight_of_two_is_two_examples():
    X, _, observed = trees(60)
    two_classes = np.where(observed == "oak", "elm", observed)
    times = np.random.default_rng(0).integers(0, 3, 60)
    times[:6] = 1
    rows = np.repeat(np.arange(60), times)
    for y in (observed, two_classes):
        weighted = RobustLogisticRegression().fit(X, y, sample_weight=times)
        repeated = RobustLogisticRegression().fit(X[rows], y[rows])
        wanted = repeated.decision_function(X)
        assert weighted.decision_function(X) == pytest.approx(wanted, abs=1e-6)


def test_what_cannot_be_said_is_refused():
    X, _, observed = trees(60)
    with pytest.raises(ValueError, match=r"Only binary.*; regularisation=.fixed. takes it"):
        RobustKernelLogisticRegression(regularisation="bayes").fit(X, observed)
    with pytest.raises(ValueError, match=r"must have shape \(3, 3\)"):
        RobustLogisticRegression(omega=np.eye(2)).fit(X, observed)
    without_oaks = (observed != "oak").astype(float)
    with pytest.raises(ValueError, match="leaves a class without examples"):
        RobustLogisticRegression().fit(X, observed, sample_weight=without_oaks)
    with pytest.raises(ValueError, match="one class only"):
        RobustLogisticRegression().fit(X, np.full(60, "oak"))


def test_two_classes_of_many_kernels_are_the_path_that_was_there():
    X, _, observed = trees(60)
    y = (observed == "oak").astype(np.intp)
    distances = squared_distances(X)[np.newaxis]
    stack = KernelBank.of_widths([1.0, 2.0, 4.0]).stack(distances)
    column = y[:, np.newaxis].astype(float)
    for T, tolerance in ((1, 1e-6), (2, 1e-4)):  # the path amplifies rounding
        old, *_ = ascend(stack, column, T)
        new, *_ = ascend(stack, y, T)
        assert isinstance(new, SoftmaxPath)
        margins = np.diff(new.classes(new.f))[:, 0]
        largest = np.abs(old.f).max()
        assert margins == pytest.approx(old.f, abs=tolerance * largest)
        assert new.omega == pytest.approx(old.omega, abs=tolerance)


def test_the_compiled_likelihood_and_its_gradient():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 20)
    a = rng.random(20)
    path = SoftmaxPath(np.arange(3), 3, np.ones(3), 1, "exact", 2.0)
    f = rng.normal(size=(2, 20))

    def value_and_slope(f):
        slope = np.empty((2, 20))
        value = softmax_fit(f, y, a, path.C, OMEGA, slope)
        return value, slope

    value, slope = value_and_slope(f)
    s = np.exp(f.T @ path.C.T)
    shares = s / s.sum(axis=1, keepdims=True)
    observed_shares = shares @ OMEGA
    shares_of_labels = observed_shares[np.arange(20), y]
    assert value == pytest.approx(a @ np.log(shares_of_labels))
    step = 1e-6 * rng.normal(size=f.shape)
    value_before, _ = value_and_slope(f - step)
    value_after, _ = value_and_slope(f + step)
    rise = 2 * (slope * step).sum()
    assert value_after - value_before == pytest.approx(rise, rel=1e-6)


@pytest.mark.parametrize("average", ["none", "epoch", "run"])
def test_sgd_sets_each_class_against_the_rest(average):
    X, true, observed = trees(120)
    several = RobustSGDClassifier(average=average, random_state=1).fit(X, observed)
    for name, coef, intercept in zip(NAMES, several.coef_, several.intercept_, strict=True):
        single = RobustSGDClassifier(average=average, random_state=1).fit(X, observed == name)
        assert_array_equal(coef, single.coef_[0])
        assert intercept == single.intercept_[0]
    assert share_right(several, X, true) > 0.9
    sum_of_objectives = 0.0
    for name in NAMES:
        is_class = observed == name
        single = RobustSGDClassifier(random_state=1).fit(X, is_class)
        sum_of_objectives += single.objective(X, is_class)
    default = RobustSGDClassifier(random_state=1).fit(X, observed)
    assert default.objective(X, observed) == pytest.approx(sum_of_objectives)
    times = np.arange(len(observed)) % 3
    rows = np.repeat(np.arange(len(observed)), times)
    of_weights = default.objective(X, observed, sample_weight=times)
    assert of_weights == pytest.approx(default.objective(X[rows], observed[rows]))
    with pytest.raises(ValueError, match="noise_rates: the two flip rates of two classes"):
        RobustSGDClassifier(noise_rates=(0.1, 0.1)).fit(X, observed)


@pytest.mark.parametrize("average", ["none", "epoch", "run"])
def test_sgd_with_the_logistic_loss_is_one_model_of_all_classes(average):
    X, _, observed = trees(240)
    lam = 0.05
    model = RobustSGDClassifier(
        "log",
        regularise_intercept=False,
        average=average,
        epochs=60,
        schedule="inv_sqrt_epoch",
        lam=lam,
        random_state=1,
    )
    model.fit(X, observed)
    exact = LogisticRegression(C=1 / (2 * lam * 240), tol=1e-8).fit(X, observed)
    probabilities = exact.predict_proba(X)
    assert model.predict_proba(X) == pytest.approx(probabilities, abs=0.04)
    numbers = np.searchsorted(NAMES, observed)
    of_labels = probabilities[np.arange(240), numbers]
    mean_loss = -np.log(of_labels).mean()
    penalty = lam * np.square(exact.coef_).sum()
    best = mean_loss + penalty
    assert best < model.objective(X, observed) < best + 2e-3


@pytest.mark.parametrize("averaged", [False, True])
def test_the_softmax_steps_of_two_classes_are_the_logistic_ones(averaged):
    X, _, observed = trees(90)
    classes = (observed == "oak").astype(int)
    signs = np.where(classes == 1, 1.0, -1.0)
    rows = sgd.as_rows(X)
    order = np.arange(90, dtype=np.uint32)
    loss = sgd.Objective(margin.Log(), 0.1, 1.0, 0.05)
    softmax_loss = (0.1, 1.0, 0.05)
    steps = sgd.schedule("constant", 0.3, 0.1, 90)
    w = np.zeros(3)
    total = np.zeros(3)
    W = np.zeros((2, 3))
    totals = np.zeros((2, 3))
    for done in (0, 90):
        sgd.epoch(rows, signs, order, w, total, averaged, loss, steps, done)
        sgd.softmax_epoch(rows, classes, order, W, totals, averaged, softmax_loss, steps, done)
    assert W[1] - W[0] == pytest.approx(w, rel=1e-9)
    assert totals[1] - totals[0] == pytest.approx(total, rel=1e-9)
