"""The robust-SGD experiments on a small problem, and Theorem 1."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from running import SGD, table, typed, values
from scipy.sparse import csr_matrix

from noisylabels.losses import margin as losses
from noisylabels.seeding import Seeds
from reproduction.data.loaders.formats import pack
from reproduction.data.prepared import Dataset
from reproduction.run import results
from reproduction.run.protocol_loop import Loop, Repetition
from reproduction.spec.settings import Noise
from robust_sgd import code as robust_sgd

SEEDS = Seeds(1, "test", "toy")


def shared(number=robust_sgd.SHARED):
    return Repetition(SEEDS, number, {})


METHODS = {
    "rgomp": {"method": "robust_sgd", "losses": [{"loss": "rgomp", "c": 2}]},
    "ramp": {
        "method": "robust_sgd",
        "losses": [{"loss": "ramp", "s": -1}, {"loss": "ramp", "s": -2}],
    },
    "asgd": {
        "method": "robust_sgd",
        "losses": [{"loss": "log"}],
        "parameters": {"schedule": "asgd", "average": "run"},
    },
    "pegasos": {"method": "pegasos", "parameters": {"max_passes": 5}},
    "liblinear": {"method": "liblinear"},
    "liblinear_dual": {"method": "liblinear", "parameters": {"dual": True}},
}
SETTINGS = SGD | {
    "noise": ["symmetric 0", "symmetric 0.4", "symmetric 0.6"],
    "objectives": ["rgomp"],
    "families": {"robust": ["rgomp", "ramp"]},
    "methods": METHODS,
}
MEANS = np.array([1.5, 1.0, 0.0, 0.0, 0.5])
"""Of the features of the positive class; those of the negative class are opposite."""


def toy(variant="canonical", n=1500):
    rng = np.random.default_rng(0)
    is_positive = rng.random(n) < 0.4
    y = np.where(is_positive, 1, -1).astype(np.int8)
    X = rng.standard_normal((n, 5)) + y[:, None] * MEANS
    arrays = pack(X, y)
    return Dataset("toy", "package", variant, arrays, digest="")


def whole_run(settings):
    return table("robust_sgd.code:errors", settings, toy())


@pytest.fixture(scope="module")
def frame():
    return whole_run(SETTINGS)


def clean_problem(repetition=None, data=None, official=False):
    return robust_sgd.clean_problem(data or toy(), repetition or shared(), official=official)


def with_noise(problem, label):
    return robust_sgd.with_noise(problem, Noise.parse(label), shared(0))


def test_rows_of_every_method(frame):
    keys = [column for column in results.COLUMNS if column != "value"]
    assert not frame.duplicated(keys).any()
    assert set(frame["metric"]) == {"error", "reversed_error", "settled", "objective", "spread"}
    of_rgomp = values(frame, metric="error", method="rgomp")
    assert len(of_rgomp) == 3 * 2 * 4  # noise, repetitions, epochs
    of_liblinear = values(frame, metric="error", method="liblinear")
    assert len(of_liblinear) == 3 * 2


def test_the_objective_begins_with_the_loss_of_zero(frame):
    at_start = values(frame, metric="objective", x=0)
    np.testing.assert_allclose(at_start, 1 / np.e)


def test_repetitions_differ_in_shuffling_only(frame):
    is_last = frame["x"] == 4
    errors = frame[is_last & (frame["metric"] == "error")]
    spread = errors.groupby(["method", "noise"])["value"].std()
    assert (spread["liblinear"] == 0).all()
    assert (spread["rgomp"] > 0).any()


def test_a_second_run_has_the_same_rows(frame):
    pd.testing.assert_frame_equal(frame, whole_run(SETTINGS))


def test_rs_5_sixty_percent_flips_reverse_the_rule(frame):
    last = frame[frame["x"] == 4]
    means = last.pivot_table(index=["metric", "noise"], columns="method", values="value")
    without_flips = means.loc["error", "symmetric 0"]
    at_forty = means.loc["error", "symmetric 0.4"]
    at_sixty = means.loc["error", "symmetric 0.6"]
    assert (without_flips < 15).all()
    assert (at_sixty > 50).all()
    reversed_at_sixty = means.loc["reversed_error", "symmetric 0.6"]
    distances = abs(reversed_at_sixty - at_forty)
    steady = ["asgd", "liblinear", "liblinear_dual"]  # the other methods vary between shuffles
    assert (distances[steady] < 2).all()


ONE = SGD | {"noise": ["symmetric 0.4"], "methods": {"liblinear": {"method": "liblinear"}}}


def test_flips_beyond_one_half_are_the_complement_of_those_below():
    """RS-5b compares 60 % with 40 % flips: with the same coins all labels are opposite."""
    problem = clean_problem()
    forty = with_noise(problem, "symmetric 0.4")
    sixty = with_noise(problem, "symmetric 0.6")
    np.testing.assert_array_equal(sixty.noisy, -forty.noisy)


@pytest.mark.parametrize("rate", [0.5, 0.6])
def test_as_many_labels_are_flipped_as_the_rate_says(rate):
    problem = clean_problem()
    noisy = with_noise(problem, f"symmetric {rate}").noisy
    is_flipped = noisy != problem.clean
    one_label = 1 / len(noisy)
    assert is_flipped.mean() == pytest.approx(rate, abs=one_label)


def test_redrawn_trials_have_flips_and_a_split_of_their_own():
    plain = whole_run(ONE)
    redrawn_run = whole_run(ONE | {"redraw": True})
    is_redrawn = redrawn_run["metric"] == "redrawn_error"
    other_rows = redrawn_run[~is_redrawn].reset_index(drop=True)
    pd.testing.assert_frame_equal(plain, other_rows)
    first, second = redrawn_run.loc[is_redrawn, "value"]
    assert first != second


def test_trials_with_new_flips_differ():
    new_flips = whole_run(ONE | {"resample_noise": True})
    errors = values(new_flips, metric="error")
    assert errors.std() > 0


def test_a_redrawn_official_split_keeps_its_sizes():
    training_rows = toy().arrays
    test_rows = {f"{name}_test": array for name, array in toy(n=500).arrays.items()}
    data = Dataset("toy", "package", "canonical", training_rows | test_rows, digest="")
    as_published = clean_problem(data=data, official=True)
    first = clean_problem(shared(0), data, official=True)
    second = clean_problem(shared(1), data, official=True)
    for problem in (as_published, first, second):
        assert len(problem.clean) == 1500
        assert len(problem.y_test) == len(as_published.y_test)
    assert not np.array_equal(first.X_test, second.X_test)


def test_stand_ins_keep_their_own_number_of_rows():
    settings = typed("robust_sgd.code:errors", SETTINGS | {"stand_in_rows": 200})
    sizes = []
    for variant in ("stand-in", "canonical"):
        loop = Loop({"toy.or_stand_in": toy(variant)}, SEEDS)
        _, problem = next(robust_sgd.problems(settings, loop))
        sizes.append(len(problem.clean))
    assert sizes == [200, 1200]


def test_split_is_stratified_and_independent_of_everything_else():
    problem = clean_problem()
    assert len(problem.clean) == 1200
    assert abs(problem.clean.mean() - problem.y_test.mean()) < 5e-3
    np.testing.assert_array_equal(problem.X, clean_problem().X)
    with pytest.raises(ValueError, match="toy has no official test part"):
        clean_problem(official=True)


def test_scaling_uses_training_rows_only():
    train = np.array([[0.0, 5.0], [2.0, 5.0]])
    test = np.array([[3.0, 7.0]])
    scaled_train, scaled_test = robust_sgd.scaled(train, test)
    np.testing.assert_array_equal(scaled_train, [[0, 0], [1, 0]])
    np.testing.assert_array_equal(scaled_test, [[1.5, 0]])


def test_sparse_features_are_scaled_by_their_largest_training_value():
    train = csr_matrix([[0.0, 4.0], [2.0, 0.0]])
    test = csr_matrix([[3.0, 1.0]])
    scaled_train, scaled_test = robust_sgd.scaled(train, test)
    np.testing.assert_array_equal(scaled_train.toarray(), [[0, 1], [1, 0]])
    np.testing.assert_array_equal(scaled_test.toarray(), [[1.5, 0.25]])
    negative = csr_matrix([[-1.0, 1.0]])
    with pytest.raises(ValueError, match="sparse features must be >= 0"):
        robust_sgd.scaled(negative, test)


def test_one_standard_error_rule_prefers_strong_penalties_then_small_steps():
    grid = itertools.product((1e-3, 1e-1), (0.3, 3.0))
    points = [robust_sgd.Point(0, lam, multiplier) for lam, multiplier in grid]
    errors = np.array(
        [
            [0.10, 0.20, 0.12, 0.12],
            [0.14, 0.20, 0.14, 0.13],
            [0.12, 0.20, 0.12, 0.13],
        ]
    )
    assert robust_sgd.choose(points, errors, "minimum")["lam"] == 1e-3
    chosen = robust_sgd.choose(points, errors, "one_se")
    assert chosen["lam"] == 1e-1
    assert chosen["multiplier"] == 0.3


@pytest.mark.filterwarnings("ignore:Liblinear failed to converge")
@pytest.mark.parametrize("label", ["pegasos", "liblinear_dual"])
def test_folds_that_are_left_out_change_no_choice(label):
    many_penalties = {"lambdas": [1e-6, 1e-4, 1e-2, 0.1, 1, 10], "folds": 5}
    settings = typed("robust_sgd.code:errors", SETTINGS | many_penalties)
    method = settings.methods[label]
    noise = Noise.parse("symmetric 0.1")
    problem = with_useless_features(with_noise(clean_problem(data=toy(n=200)), noise.label))
    fold = np.arange(len(problem.X)) % 5
    tuning = shared("tuning")
    errors = robust_sgd.validation_errors(method, problem, fold, settings, tuning, noise)
    points = method.grid(settings)
    errors_of_all = np.empty_like(errors)
    for k in range(5):
        is_held_out = fold == k
        rng = shared("tuning").rng(f"shuffle {noise} fold {k}")
        for j, point in enumerate(points):
            model = method.model(point, settings.epochs, rng)
            errors_of_all[k, j] = held_out_error(model, problem.X, problem.noisy, is_held_out)
    fitted = np.isfinite(errors)
    assert 0 < fitted.sum() < fitted.size
    np.testing.assert_array_equal(errors[fitted], errors_of_all[fitted])
    for rule in ("one_se", "minimum"):
        chosen = robust_sgd.choose(points, errors, rule)
        assert chosen == robust_sgd.choose(points, errors_of_all, rule)


def with_useless_features(problem):
    """Add 60 features that are independent of the labels."""
    rng = np.random.default_rng(1)
    useless = 0.2 * rng.standard_normal((len(problem.X), 60))
    X = np.hstack([problem.X, useless])
    return replace(problem, X=X)


def held_out_error(model, X, y, is_held_out):
    """Fit a model to the other rows; return the share of the held-out rows that it gets wrong."""
    model.fit(X[~is_held_out], y[~is_held_out])
    predicted = model.predict(X[is_held_out])
    return np.mean(predicted != y[is_held_out])


def test_theorem_1_needs_the_variance_at_the_optimum():
    settings = {
        "n": 200,
        "d": 5,
        "T": 4000,
        "stride": 20,
        "lam": 1e-2,
        "steps": [0.5],
        "noise": ["symmetric 0.2"],
    }
    rows = table("robust_sgd.code:theorem", settings, repetitions=range(3))
    wide = rows.pivot_table(index=["method", "repetition"], columns="metric", values="value")
    from_optimum = wide.loc["from the optimum"]
    assert (wide["excess_corrected"] < 0).all()
    assert (from_optimum["published"] == 0).all()
    assert (from_optimum["gap"] > 0).all()


def test_minimiser_has_no_gradient():
    lam = 0.01
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 4))
    y = rng.choice([-1.0, 1.0], 80)
    w = robust_sgd.minimiser(X, y, lam)
    margins = y * (X @ w)
    slopes = losses.Log().slope(margins)
    gradient_of_losses = X.T @ (slopes * y) / 80
    gradient = gradient_of_losses + lam * w
    assert np.abs(gradient).max() < 1e-14


def of_loss(**loss):
    return {"methods": {"m": {"method": "robust_sgd", "losses": [loss]}}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"objectives": ["rgom"]}, "objectives: 'rgom' is unknown here; did you mean rgomp"),
        ({"families": {"ramp": ["rgomp", "ramp"]}}, r"families\.ramp: a method has this name too"),
        (
            {"objectives": ["pegasos"]},
            "PegasosClassifier has no fit_epochs, which the record of its objective needs; "
            r"implement fit_epochs\(X, y\) -> Iterator\[Any\], or take the method off `objectives`",
        ),
        (of_loss(loss="rgomp", d=1), "no parameter 'd'; known: c"),
        (of_loss(loss="gomp"), "unknown loss 'gomp'; did you mean rgomp"),
        ({"noise": ["independent 0.2"]}, "noise 'independent 0.2': use symmetric or compound"),
    ],
)
def test_mistakes_are_named_before_anything_runs(change, message):
    settings = SETTINGS | {"objectives": [], "families": {}} | change
    with pytest.raises(ValueError, match=message):
        typed("robust_sgd.code:errors", settings)
