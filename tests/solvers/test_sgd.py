"""SGD: the compiled learners against plain loops, scikit-learn and each other."""

import math
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
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
    X = rng.uniform(-1, 1, (300, 11)) * (rng.uniform(size=(300, 11)) < 0.6)
    y = np.where(X @ rng.standard_normal(11) + 0.3 > 0, 1, -1)
    y[:40] *= -1
    return X, y


def plain_sgd(X, y, loss, lam, eta, epochs, average="none", bias=1.0, bias_lam=None, mix=None):
    """Algorithm 1 typed literally, rows in the given order, the bias last."""
    Z = np.column_stack([X, np.full(len(X), bias)])
    penalty = np.full(Z.shape[1], lam)
    penalty[-1] = lam if bias_lam is None else bias_lam
    w = np.zeros(Z.shape[1])
    steps = []
    for t in range(epochs * len(Z)):
        x = Z[t % len(Z)]
        label = y[t % len(Z)]
        z = label * (x @ w)
        u, v = mix[label] if mix else (1.0, 0.0)
        slope = u * loss.slope(z) - (v * loss.slope(-z) if v else 0.0)
        w = w - eta(t) * (penalty * w + slope * label * x)
        steps.append(w)
        if (t + 1) % len(Z) == 0 and average == "epoch":
            w = np.mean(steps[-len(Z) :], axis=0)
    return np.mean(steps[len(Z) :], axis=0) if average == "run" else w


def weights(model):
    return np.append(model.coef_[0], model.intercept_)


def check(X, y, loss, eta, given=None, epochs=2, tolerance=1e-12, plain=None, **options):
    """The weights of given rows, X by default, are those of the plain loop over X with these step sizes."""
    model = RobustSGDClassifier(loss, epochs=epochs, shuffle=False, **options)
    found = weights(model.fit(X if given is None else given, y))
    expected = plain_sgd(X, y, losses.resolve(loss), options["lam"], eta, epochs, **plain or {})
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", SOME_LOSSES)
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix, np.float32])
def test_equals_a_plain_loop(problem, name, storage):
    X, y = problem
    n = len(X)
    given = storage(X)
    same = given.astype(float) if storage is np.float32 else X
    check(same, y, name, lambda t: 0.3 * min(1, (t + 1) / n) / (1 + t / n), given, lam=1e-2, eta0=0.3)


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
@pytest.mark.parametrize("eta0", [0.5, 20.0])  # 20 makes the lazy scale fall below its smallest value
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_averages_equal_a_plain_loop(problem, average, eta0, storage):
    options = {"lam": 0.045, "schedule": "constant", "eta0": eta0, "average": average}
    plain = {"average": average}
    given = storage(problem[0])
    check(*problem, "hinge", lambda t: eta0, given, 4, 1e-9, plain, **options)


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
    kept, flipped = (u * loss.value(a) + v * loss.value(-a)
                     for a, (u, v) in ((z, NATARAJAN[label]), (-z, NATARAJAN[-label])))  # fmt: skip
    np.testing.assert_allclose((1 - flip) * kept + flip * flipped, loss.value(z), rtol=1e-12)


@pytest.mark.parametrize("rule", ["constant", "averaged", "invscaling", "optimal"])
@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_equals_scikit_learn_without_shuffling(problem, loss, rule):
    """Also Polyak and Ruppert's averages, SGDClassifier(average=n + 1): all steps after the first epoch."""
    X, y = problem
    lam, average = 1e-2, rule == "averaged"
    Z = np.column_stack([X, np.ones(len(X))])  # scikit-learn does not regularise its own intercept
    theirs = SGDClassifier(
        loss="log_loss" if loss == "log" else loss, alpha=lam, power_t=0.5, average=average and len(y) + 1,
        learning_rate="constant" if average else rule, eta0=0.1, fit_intercept=False, shuffle=False,
        max_iter=4, tol=None,
    ).fit(Z, y)  # fmt: skip
    typical = math.sqrt(1 / math.sqrt(lam))
    t0 = max(1.0, abs(float(losses.resolve(loss).slope(-typical)))) / (typical * lam)
    rules = {  # eta0 / t^p with t = 1, 2, ...; and 1/(lam (t0 + t - 1))
        "invscaling": Schedule(0.1, 1.0, 0.5, 1.0),
        "optimal": Schedule(1 / (lam * t0), 1 / t0, 1.0, 1.0),
    }

    class Scheduled(RobustSGDClassifier):
        def _start(self, X, labels, n):
            super()._start(X, labels, n)
            self.schedule_ = rules.get(rule, self.schedule_)

    options = {"schedule": "constant", "eta0": 0.1, "epochs": 4, "shuffle": False}
    model = Scheduled(loss, lam=lam, average="run" if average else "none", **options)
    np.testing.assert_allclose(weights(model.fit(X, y)), theirs.coef_[0], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("average", ["none", "epoch", "run"])
def test_many_models_equal_single_ones(problem, average):
    X, y = problem
    grid = [
        Candidate(losses.SmoothRamp(s, *preset), lam, m)
        for s, preset in ((-0.7, (3.0, -0.15)), (-2.0, (1.5, 0.5)))
        for lam in (0.0, 1e-3, 10.0)
        for m in (0.3, 3.0)
    ]
    train = np.arange(20, 280)
    for given in (X, sp.csr_matrix(X)):
        W = fit_models(
            given, y.astype(float), train, grid, np.random.default_rng(5), epochs=4, average=average
        )
        rng = np.random.default_rng(5)
        orders = [train[permutation(len(train), rng)] for _ in range(4)]
        for column, (loss, lam, m) in zip(W.T, grid, strict=True):
            size = (X[train] ** 2).sum(axis=1).max() + 1
            eta0 = scaled_step(m, loss, size, lam)
            model = RobustSGDClassifier(loss, lam=lam, eta0=eta0, average=average, shuffle=False)
            for order in orders:
                model.partial_fit(given[order], y[order])
            np.testing.assert_allclose(weights(model), column, rtol=1e-10, atol=1e-12)


def test_epochs_can_be_watched_and_objective_falls(problem):
    X, y = problem
    model = RobustSGDClassifier("smooth_ramp", lam=1e-3, epochs=8, random_state=0)
    values = [fitted.objective(X, y) for fitted in model.fit_epochs(X, y)]
    assert len(values) == model.n_iter_ == 8
    assert values[-1] < values[0]
    again = RobustSGDClassifier("smooth_ramp", lam=1e-3, epochs=8, random_state=0).fit(X, y)
    np.testing.assert_array_equal(weights(model), weights(again))


def test_bottou_search_finds_a_good_power_of_two(problem):
    X, y = problem
    eta0 = RobustSGDClassifier("log", schedule="bottou", lam=1e-3, epochs=1).fit(X, y).schedule_.eta0
    assert math.log2(eta0) == int(math.log2(eta0))

    def cost(step):
        rule = schedule("bottou", step, 1e-3, len(X))
        w = plain_sgd(X, y, losses.Log(), 1e-3, lambda t: step_size(rule, t), 1)
        return losses.Log().value(y * (X @ w[:-1] + w[-1])).mean() + 0.0005 * w[:-1] @ w[:-1]

    assert cost(eta0) <= min(cost(eta0 / 2), cost(eta0 * 2))


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 200, 40_000])
def test_orders_are_permutations(n):
    rng = np.random.default_rng(n)
    for order in (permutation(n, rng), block_order(n, rng)):
        np.testing.assert_array_equal(np.sort(order), np.arange(n))


def test_orders_are_uniform():
    rng = np.random.default_rng(0)
    counts = np.zeros((5, 5))
    for _ in range(5000):
        counts[permutation(5, rng), np.arange(5)] += 1
    assert ((counts - 1000) ** 2 / 1000).sum() < 40  # chi-square, 16 degrees of freedom, p < 0.001
    first = np.array([permutation(30_000, rng)[0] for _ in range(300)])  # several buckets
    assert abs(first.mean() - 15_000) < 3 * 30_000 / math.sqrt(12 * 300) * 1.5


@pytest.mark.parametrize("project", [True, False])
def test_pegasos_equals_a_plain_loop(problem, project):
    X, y = problem
    lam = 0.05
    model = PegasosClassifier(lam, project=project, random_state=4).fit(sp.csr_matrix(X), y)
    Z = np.column_stack([X, np.ones(len(X))])
    w = np.zeros(12)
    draws = np.random.default_rng(np.random.RandomState(4).randint(2**31 - 1)).integers(
        300, size=300, dtype=np.uint32
    )
    for t, i in enumerate(draws, start=1):
        eta = 1 / (lam * t)
        z = y[i] * (Z[i] @ w)
        w = (1 - eta * lam) * w + (eta * y[i] * Z[i] if z < 1 else 0)
        if project:
            w *= min(1, 1 / (math.sqrt(lam) * np.linalg.norm(w))) if w.any() else 1
    assert model.t_ == 300
    np.testing.assert_allclose(weights(model), w, rtol=1e-12)


def test_pegasos_length_is_ten_over_lambda_and_capped(problem):
    X, y = problem
    assert PegasosClassifier(1e-3, random_state=0).fit(X, y).t_ == 10_000
    assert PegasosClassifier(1e-6, max_passes=2, random_state=0).fit(X, y).t_ == 600


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
    with pytest.raises(ValueError, match="outside the classes of the first call"):
        RobustSGDClassifier(random_state=0).fit(X, y).partial_fit(X, np.where(y > 0, 7, -1))


@pytest.mark.parametrize(
    ("other", "schedule", "message"),
    [
        (losses.Hinge(), "asgd", "must share the kind of loss"),
        (losses.Log(), "bottou", "'bottou' chooses its own step size"),
    ],
)
def test_grids_refuse_what_they_cannot_share(problem, other, schedule, message):
    X, y = problem
    grid = [Candidate(loss, 0.1, 1.0) for loss in (losses.Log(), other)]
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
    given, ours = (RobustSGDClassifier(loss, **options).fit(X, y) for loss in ("log", Logistic(1.0)))
    np.testing.assert_allclose(weights(given), weights(ours), rtol=1e-12)
    assert losses.resolve("logistic_of_this_test") == Logistic()


def test_the_name_of_a_loss_and_the_number_of_its_parameters_are_checked():
    taken = r"^Other: 'rgomp' is already the name of the loss noisylabels\.losses\.margin\.RGomp; choose"
    with pytest.raises(ValueError, match=taken):
        type("Other", (losses.Loss,), {"name": "rgomp", "__qualname__": "Other"})
    assert losses.LOSSES["rgomp"] is losses.RGomp
    with pytest.raises(ValueError, match="takes z and at most three parameters"):
        losses.compiled(lambda z, a, b, c, d: z)


def define_loss(module, name="savage", class_name="Savage"):
    return type(class_name, (losses.Loss,), {"name": name, "__module__": module})


def test_a_loss_of_the_library_is_never_replaced():
    ours = losses.LOSSES["savage"]
    with pytest.raises(ValueError, match=r"^Savage: 'savage' is already the name of the loss .*Savage;"):
        define_loss(ours.__module__)
    assert losses.LOSSES["savage"] is ours


def test_a_loss_of_a_notebook_can_be_defined_again(monkeypatch):
    monkeypatch.setattr(losses, "LOSSES", dict(losses.LOSSES))
    define_loss("__main__", "mine", "Mine")
    second = define_loss("__main__", "mine", "Mine")
    assert losses.LOSSES["mine"] is second
    with pytest.raises(ValueError, match=r"Mine: 'mine' is already the name of the loss __main__\.Mine"):
        define_loss("elsewhere", "mine", "Mine")


def test_a_fitted_model_goes_on_after_a_copy_through_a_file(problem):
    X, y = problem
    model = RobustSGDClassifier("rgomp", random_state=0).fit(X, y)
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(weights(model.partial_fit(X, y)), weights(copied.partial_fit(X, y)))
