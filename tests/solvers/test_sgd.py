"""SGD: the compiled learners against plain loops, scikit-learn and each other."""

import itertools
import math
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import SGDClassifier

from noisylabels.classifiers.linear import PegasosClassifier, RobustSGDClassifier
from noisylabels.losses import margin as losses
from noisylabels.solvers.sgd import (
    SCHEDULES,
    Candidate,
    Schedule,
    block_order,
    fit_models,
    permutation,
    scaled_step,
    schedule,
    step_size,
)

SOME_LOSSES = ["log", "hinge", "ramp", "smooth_ramp", "rgomp", "squared_hinge", "savage"]


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(7)
    values = rng.uniform(-1, 1, (300, 11))
    is_stored = rng.uniform(size=(300, 11)) < 0.6
    X = values * is_stored
    f = X @ rng.standard_normal(11) + 0.3
    y = np.where(f > 0, 1, -1)
    y[:40] *= -1
    return X, y


def plain_sgd(X, y, loss, lam, eta, epochs, average="none", bias=1.0, bias_lam=None, mix=None):
    """Algorithm 1 typed literally, rows in the given order, the bias last."""
    n = len(X)
    Z = np.column_stack([X, np.full(n, bias)])
    penalty = np.full(Z.shape[1], lam)
    penalty[-1] = lam if bias_lam is None else bias_lam
    w = np.zeros(Z.shape[1])
    steps = []
    for t in range(epochs * n):
        x = Z[t % n]
        label = y[t % n]
        z = label * (x @ w)
        u, v = mix[label] if mix else (1.0, 0.0)
        slope = u * loss.slope(z)
        if v:
            slope = slope - v * loss.slope(-z)
        w = w - eta(t) * (penalty * w + slope * label * x)
        steps.append(w)
        if (t + 1) % n == 0 and average == "epoch":
            w = np.mean(steps[-n:], axis=0)
    if average == "run":
        return np.mean(steps[n:], axis=0)
    return w


def weights(model):
    return np.append(model.coef_[0], model.intercept_)


def check(X, y, loss, eta, rows=None, epochs=2, tolerance=1e-12, plain=None, **options):
    """The weights of the rows, X by default, are those of the plain loop over X with the steps."""
    model = RobustSGDClassifier(loss, epochs=epochs, shuffle=False, **options)
    model.fit(X if rows is None else rows, y)
    plain = plain or {}
    expected = plain_sgd(X, y, losses.resolve(loss), options["lam"], eta, epochs, **plain)
    assert_allclose(weights(model), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", SOME_LOSSES)
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix, np.float32])
def test_equals_a_plain_loop(problem, name, storage):
    X, y = problem
    n = len(X)
    rows = storage(X)
    if storage is np.float32:
        X = rows.astype(float)

    def step(t):
        return 0.3 * min(1, (t + 1) / n) / (1 + t / n)

    check(X, y, name, step, rows, lam=1e-2, eta0=0.3)


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_equal_their_formulas(problem, name):
    n = len(problem[1])
    lam = 0.02
    eta0 = 0.25
    formula = {
        "warm_inv_epoch": lambda t: eta0 * min(1, (t + 1) / n) / (1 + t / n),
        "inv_sqrt_epoch": lambda t: eta0 / math.sqrt(1 + t / n),
        "bottou": lambda t: eta0 / (1 + lam * eta0 * t),
        "asgd": lambda t: eta0 / (1 + lam * eta0 * t) ** 0.75,
        "constant": lambda t: eta0,
    }[name]
    rule = schedule(name, eta0, lam, n)
    for t in (0, 1, n // 2, n - 1, n, 17 * n):
        assert step_size(rule, t) == pytest.approx(formula(t), rel=1e-14)
    check(*problem, "log", formula, epochs=3, lam=lam, schedule=name, eta0=eta0)


@pytest.mark.parametrize("average", ["none", "epoch", "run"])
# 20 makes the lazy scale fall below its smallest value
@pytest.mark.parametrize("eta0", [0.5, 20.0])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_averages_equal_a_plain_loop(problem, average, eta0, storage):
    X, y = problem
    options = {"lam": 0.045, "schedule": "constant", "eta0": eta0, "average": average}
    plain = {"average": average}
    check(X, y, "hinge", lambda t: eta0, storage(X), 4, 1e-9, plain, **options)


NATARAJAN = {1: (0.9 / 0.6, -0.3 / 0.6), -1: (0.7 / 0.6, -0.1 / 0.6)}


@pytest.mark.parametrize(
    ("options", "plain"),
    [
        ({"regularise_intercept": False}, {"bias_lam": 0.0}),
        ({"fit_intercept": False}, {"bias": 0.0}),
        ({"noise_rates": (0.3, 0.1)}, {"mix": NATARAJAN}),
    ],
)
def test_intercepts_and_known_rates_equal_a_plain_loop(problem, options, plain):
    options |= {"lam": 0.05, "schedule": "constant", "eta0": 0.1}
    check(*problem, "log", lambda t: 0.1, tolerance=1e-11, plain=plain, **options)


@pytest.mark.parametrize(("label", "flip"), [(1, 0.3), (-1, 0.1)])
def test_the_corrected_loss_is_unbiased(label, flip):
    """Its mean over the flips of a label is the clean loss."""
    z = np.linspace(-2, 2, 9)
    loss = losses.Log()

    def corrected(label, z):
        u, v = NATARAJAN[label]
        return u * loss.value(z) + v * loss.value(-z)

    mean = (1 - flip) * corrected(label, z) + flip * corrected(-label, -z)
    assert_allclose(mean, loss.value(z), rtol=1e-12)


@pytest.mark.parametrize("rule", ["constant", "averaged", "invscaling", "optimal"])
@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_equals_scikit_learn_without_shuffling(problem, loss, rule):
    """Also Polyak and Ruppert's averages, of all steps after an epoch: average=n + 1."""
    X, y = problem
    lam = 1e-2
    is_averaged = rule == "averaged"
    Z = np.column_stack([X, np.ones(len(X))])  # scikit-learn does not regularise its own intercept
    theirs = SGDClassifier(
        loss="log_loss" if loss == "log" else loss,
        alpha=lam,
        power_t=0.5,
        average=len(y) + 1 if is_averaged else False,
        learning_rate="constant" if is_averaged else rule,
        eta0=0.1,
        fit_intercept=False,
        shuffle=False,
        max_iter=4,
        tol=None,
    )
    theirs.fit(Z, y)
    typical = math.sqrt(1 / math.sqrt(lam))
    slope = abs(float(losses.resolve(loss).slope(-typical)))
    t0 = max(1.0, slope) / (typical * lam)
    rules = {  # eta0 / t^p with t = 1, 2, ...; and 1/(lam (t0 + t - 1))
        "invscaling": Schedule(0.1, 1.0, 0.5, 1.0),
        "optimal": Schedule(1 / (lam * t0), 1 / t0, 1.0, 1.0),
    }

    class Scheduled(RobustSGDClassifier):
        def _start(self, X, labels, n):
            super()._start(X, labels, n)
            self.schedule_ = rules.get(rule, self.schedule_)

    options = {"schedule": "constant", "eta0": 0.1, "epochs": 4, "shuffle": False}
    model = Scheduled(loss, lam=lam, average="run" if is_averaged else "none", **options)
    model.fit(X, y)
    assert_allclose(weights(model), theirs.coef_[0], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("average", ["none", "epoch", "run"])
def test_many_models_equal_single_ones(problem, average):
    X, y = problem
    ramps = [losses.SmoothRamp(-0.7, 3.0, -0.15), losses.SmoothRamp(-2.0, 1.5, 0.5)]
    combinations = itertools.product(ramps, (0.0, 1e-3, 10.0), (0.3, 3.0))
    grid = [Candidate(*values) for values in combinations]
    train = np.arange(20, 280)
    largest_square = (X[train] ** 2).sum(axis=1).max() + 1
    for rows in (X, sp.csr_matrix(X)):
        rng = np.random.default_rng(5)
        W = fit_models(rows, y.astype(float), train, grid, rng, epochs=4, average=average)
        rng = np.random.default_rng(5)
        orders = [train[permutation(len(train), rng)] for _ in range(4)]
        for column, (loss, lam, m) in zip(W.T, grid, strict=True):
            eta0 = scaled_step(m, loss, largest_square, lam)
            model = RobustSGDClassifier(loss, lam=lam, eta0=eta0, average=average, shuffle=False)
            for order in orders:
                model.partial_fit(rows[order], y[order])
            assert_allclose(weights(model), column, rtol=1e-10, atol=1e-12)


def test_epochs_can_be_watched_and_objective_falls(problem):
    X, y = problem
    model = RobustSGDClassifier("smooth_ramp", lam=1e-3, epochs=8, random_state=0)
    values = [fitted.objective(X, y) for fitted in model.fit_epochs(X, y)]
    assert len(values) == model.n_iter_ == 8
    assert values[-1] < values[0]
    repeated = RobustSGDClassifier("smooth_ramp", lam=1e-3, epochs=8, random_state=0).fit(X, y)
    assert_array_equal(weights(model), weights(repeated))


def test_the_objective_is_that_of_the_fit_with_its_rates_and_weights(problem):
    X, y = problem
    rates = RobustSGDClassifier("log", lam=1e-3, noise_rates=(0.3, 0.1), random_state=0).fit(X, y)
    w = weights(rates)
    f = rates.decision_function(X)
    loss = losses.Log()
    unbiased = []
    for label, value in zip(y, f, strict=True):
        u, v = NATARAJAN[int(label)]
        unbiased.append(u * loss.value(label * value) + v * loss.value(-label * value))
    penalty = 0.5e-3 * w @ w
    assert rates.objective(X, y) == pytest.approx(np.mean(unbiased) + penalty)

    times = np.arange(len(y)) % 3
    repeated = np.repeat(np.arange(len(y)), times)
    balanced = RobustSGDClassifier(random_state=0, class_weight="balanced").fit(X, y)
    of_weights = balanced.objective(X, y, sample_weight=times)
    assert of_weights == pytest.approx(balanced.objective(X[repeated], y[repeated]))
    assert of_weights == pytest.approx(balanced.objective(X, y, sample_weight=1e9 * times))
    plain = RobustSGDClassifier(random_state=0).fit(X, y)
    of_shares = [plain.objective(X, y, sample_weight=y == label) for label in (-1, 1)]
    assert plain.objective(X, y) == pytest.approx(
        np.average(of_shares, weights=[sum(y < 0), sum(y > 0)])
    )


@pytest.mark.parametrize(
    ("y", "sample_weight", "message"),
    [
        (["no", "maybe"] * 20, None, "y has labels outside the classes of fit, \\['no', 'yes'\\]"),
        (["no"], None, "y: one label for each of the 40 samples is needed, got \\(1,\\)"),
        (["no", "yes"] * 20, np.zeros(40), "sample_weight: the weights of all samples are zero"),
        (["no", "yes"] * 20, [1.0], "sample_weight: expected shape \\(40\\), got \\(1,\\)"),
    ],
)
def test_an_objective_of_wrong_labels_or_weights_is_refused(y, sample_weight, message):
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = RobustSGDClassifier(random_state=0).fit(X, np.array(["no", "yes"] * 20))
    with pytest.raises(ValueError, match=message):
        model.objective(X, y, sample_weight)


def test_bottou_search_finds_a_good_power_of_two(problem):
    X, y = problem
    model = RobustSGDClassifier("log", schedule="bottou", lam=1e-3, epochs=1).fit(X, y)
    eta0 = model.schedule_.eta0
    assert math.log2(eta0) == int(math.log2(eta0))

    def cost(step):
        rule = schedule("bottou", step, 1e-3, len(X))
        w = plain_sgd(X, y, losses.Log(), 1e-3, lambda t: step_size(rule, t), 1)
        margins = y * (X @ w[:-1] + w[-1])
        return losses.Log().value(margins).mean() + 0.0005 * w[:-1] @ w[:-1]

    assert cost(eta0) <= min(cost(eta0 / 2), cost(eta0 * 2))


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 200, 40_000])
def test_orders_are_permutations(n):
    rng = np.random.default_rng(n)
    for order in (permutation(n, rng), block_order(n, rng)):
        assert_array_equal(np.sort(order), np.arange(n))


def test_orders_are_uniform():
    rng = np.random.default_rng(0)
    counts = np.zeros((5, 5))
    for _ in range(5000):
        counts[permutation(5, rng), np.arange(5)] += 1
    chi_square = ((counts - 1000) ** 2 / 1000).sum()
    assert chi_square < 40  # 16 degrees of freedom, p < 0.001
    first_rows = np.array([permutation(30_000, rng)[0] for _ in range(300)])  # several buckets
    standard_error = 30_000 / math.sqrt(12 * 300)
    assert abs(first_rows.mean() - 15_000) < 3 * standard_error * 1.5


@pytest.mark.parametrize("project", [True, False])
def test_pegasos_equals_a_plain_loop(problem, project):
    X, y = problem
    lam = 0.05
    model = PegasosClassifier(lam, project=project, random_state=4).fit(sp.csr_matrix(X), y)
    Z = np.column_stack([X, np.ones(len(X))])
    w = np.zeros(12)
    seed = np.random.RandomState(4).randint(2**31 - 1)
    draws = np.random.default_rng(seed).integers(300, size=300, dtype=np.uint32)
    for t, i in enumerate(draws, start=1):
        eta = 1 / (lam * t)
        z = y[i] * (Z[i] @ w)
        w = (1 - eta * lam) * w
        if z < 1:
            w = w + eta * y[i] * Z[i]
        if project and w.any():
            w *= min(1, 1 / (math.sqrt(lam) * np.linalg.norm(w)))
    assert model.t_ == 300
    assert_allclose(weights(model), w, rtol=1e-12)


def test_pegasos_length_is_ten_over_lambda_and_capped(problem):
    X, y = problem
    ten_over_lambda = PegasosClassifier(1e-3, random_state=0).fit(X, y)
    assert ten_over_lambda.t_ == 10_000
    capped = PegasosClassifier(1e-6, max_passes=2, random_state=0).fit(X, y)
    assert capped.t_ == 600


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lam": 0.5, "eta0": 2.0}, "eta0 lambda = 2 x 0.5 must be < 1"),
        (
            {"loss": "squared_hinge", "eta0": 1e9, "lam": 0.0, "schedule": "constant"},
            "weights are not finite after epoch 1",
        ),
    ],
)
def test_steps_that_are_too_large_are_refused(problem, options, message):
    with pytest.raises(ValueError, match=message):
        RobustSGDClassifier(**options).fit(*problem)


def test_a_class_that_comes_later_is_refused(problem):
    X, y = problem
    model = RobustSGDClassifier(random_state=0).fit(X, y)
    with_a_new_class = np.where(y > 0, 7, -1)
    with pytest.raises(ValueError, match="outside the classes of the first call"):
        model.partial_fit(X, with_a_new_class)


@pytest.mark.parametrize(
    ("second_loss", "schedule", "message"),
    [
        (losses.Hinge(), "asgd", "must share the kind of loss"),
        (losses.Log(), "bottou", "'bottou' chooses its own step size"),
    ],
)
def test_grids_refuse_what_they_cannot_share(problem, second_loss, schedule, message):
    X, y = problem
    grid = [Candidate(loss, 0.1, 1.0) for loss in (losses.Log(), second_loss)]
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=message):
        fit_models(X, y.astype(float), np.arange(9), grid, rng, epochs=1, schedule=schedule)


def test_zero_decision_is_the_second_class():
    X = np.zeros((4, 2))
    y = np.array(["a", "b", "a", "b"])
    model = RobustSGDClassifier(fit_intercept=False).fit(X, y)
    assert list(model.predict(X)) == ["b"] * 4


def test_a_loss_of_another_file_is_learnt(problem, monkeypatch):
    monkeypatch.setattr(losses, "LOSSES", dict(losses.LOSSES))

    @dataclass(frozen=True)
    class Logistic(losses.Loss):
        """ln(1 + e^(-c z)) / c."""

        name = "logistic_of_this_test"
        c: float = 1.0

        @staticmethod
        def _value(z, c):
            return math.log(1.0 + math.exp(-c * z)) / c

        @staticmethod
        def _slope(z, c):
            return -1.0 / (1.0 + math.exp(c * z))

    X, y = problem
    options = {"lam": 1e-2, "epochs": 2, "eta0": 0.3, "shuffle": False}
    of_library = RobustSGDClassifier("log", **options).fit(X, y)
    of_this_file = RobustSGDClassifier(Logistic(1.0), **options).fit(X, y)
    assert_allclose(weights(of_library), weights(of_this_file), rtol=1e-12)
    assert losses.resolve("logistic_of_this_test") == Logistic()


def test_the_name_of_a_loss_and_the_number_of_its_parameters_are_checked():
    taken_by = r"noisylabels\.losses\.margin\.RGomp"
    message = rf"^Other: 'rgomp' is already the name of the loss {taken_by}; choose"
    with pytest.raises(ValueError, match=message):
        type("Other", (losses.Loss,), {"name": "rgomp", "__qualname__": "Other"})
    assert losses.LOSSES["rgomp"] is losses.RGomp
    with pytest.raises(ValueError, match="takes z and at most three parameters"):
        losses.compiled(lambda z, a, b, c, d: z)


def define_loss(module, name="savage", class_name="Savage"):
    return type(class_name, (losses.Loss,), {"name": name, "__module__": module})


def test_a_loss_of_the_library_is_never_replaced():
    ours = losses.LOSSES["savage"]
    message = r"^Savage: 'savage' is already the name of the loss .*Savage;"
    with pytest.raises(ValueError, match=message):
        define_loss(ours.__module__)
    assert losses.LOSSES["savage"] is ours


def test_a_loss_of_a_notebook_can_be_defined_again(monkeypatch):
    monkeypatch.setattr(losses, "LOSSES", dict(losses.LOSSES))
    define_loss("__main__", "mine", "Mine")
    second = define_loss("__main__", "mine", "Mine")
    assert losses.LOSSES["mine"] is second
    message = r"Mine: 'mine' is already the name of the loss __main__\.Mine"
    with pytest.raises(ValueError, match=message):
        define_loss("elsewhere", "mine", "Mine")


def test_a_fitted_model_goes_on_after_a_copy_through_a_file(problem):
    X, y = problem
    model = RobustSGDClassifier("rgomp", random_state=0).fit(X, y)
    copied = pickle.loads(pickle.dumps(model))
    model.partial_fit(X, y)
    copied.partial_fit(X, y)
    assert_array_equal(weights(model), weights(copied))
