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


SETTINGS = SGD | {
    "noise": ["symmetric 0", "symmetric 0.4", "symmetric 0.6"],
    "objectives": ["rgomp"], "families": {"robust": ["rgomp", "ramp"]},
    "methods": {
        "rgomp": {"method": "robust_sgd", "losses": [{"loss": "rgomp", "c": 2}]},
        "ramp": {
            "method": "robust_sgd",
            "losses": [{"loss": "ramp", "s": -1}, {"loss": "ramp", "s": -2}],
        },
        "asgd": {
            "method": "robust_sgd", "losses": [{"loss": "log"}],
            "parameters": {"schedule": "asgd", "average": "run"},
        },
        "pegasos": {"method": "pegasos", "parameters": {"max_passes": 5}},
        "liblinear": {"method": "liblinear"},
        "liblinear_dual": {"method": "liblinear", "parameters": {"dual": True}},
    },
}  # fmt: skip


def toy(variant="canonical", n=1500):
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n) < 0.4, 1, -1).astype(np.int8)
    X = rng.standard_normal((n, 5)) + y[:, None] * np.array([1.5, 1.0, 0.0, 0.0, 0.5])
    return Dataset(id="toy", source="package", variant=variant, arrays=pack(X, y), digest="")


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
    assert not frame.duplicated([c for c in results.COLUMNS if c != "value"]).any()
    errors = frame[frame["metric"] == "error"].groupby("method").size()
    assert errors["rgomp"] == 3 * 2 * 4  # noise, repetitions, epochs
    assert errors["liblinear"] == 3 * 2
    assert set(frame["metric"]) == {"error", "reversed_error", "settled", "objective", "spread"}
    np.testing.assert_allclose(values(frame, metric="objective", x=0), 1 / np.e)  # the loss of zero


def test_repetitions_differ_in_shuffling_only(frame):
    last = frame[(frame["metric"] == "error") & (frame["x"] == 4)]
    spread = last.groupby(["noise", "method"])["value"].std()
    assert (spread.xs("liblinear", level="method") == 0).all()
    assert (spread.xs("rgomp", level="method") > 0).any()
    pd.testing.assert_frame_equal(frame, whole_run(SETTINGS))


def test_rs_5_sixty_percent_flips_reverse_the_rule(frame):
    last = frame[frame["x"] == 4]
    wide = last.pivot_table(index=["metric", "noise"], columns="method", values="value")
    errors, mirrored = wide.loc["error"], wide.loc["reversed_error"]
    assert (errors.loc["symmetric 0"] < 15).all()
    assert (errors.loc["symmetric 0.6"] > 50).all()
    steady = ["asgd", "liblinear", "liblinear_dual"]  # the other methods vary between shuffles
    assert (abs(mirrored.loc["symmetric 0.6"] - errors.loc["symmetric 0.4"])[steady] < 2).all()


ONE = SGD | {"noise": ["symmetric 0.4"], "methods": {"liblinear": {"method": "liblinear"}}}


def test_flips_beyond_one_half_are_the_complement_of_those_below():
    """RS-5b compares 60 % with 40 % flips: with the same coins all labels are opposite."""
    clean = clean_problem()
    sixty, forty = (with_noise(clean, f"symmetric {rate}") for rate in (0.6, 0.4))
    np.testing.assert_array_equal(sixty.noisy, -forty.noisy)
    assert np.mean(sixty.noisy != clean.clean) == pytest.approx(0.6, abs=1 / len(clean.clean))
    half = with_noise(clean, "symmetric 0.5")
    assert np.mean(half.noisy != clean.clean) == pytest.approx(0.5, abs=1 / len(clean.clean))


def test_redrawn_trials_have_flips_and_a_split_of_their_own():
    plain = whole_run(ONE)
    redrawn_run = whole_run(ONE | {"redraw": True})
    redrawn = redrawn_run[redrawn_run["metric"] == "redrawn_error"]
    other_rows = redrawn_run[redrawn_run["metric"] != "redrawn_error"].reset_index(drop=True)
    pd.testing.assert_frame_equal(plain, other_rows)
    assert len(redrawn) == 2
    assert redrawn["value"].nunique() == 2
    assert values(whole_run(ONE | {"resample_noise": True}), metric="error").std() > 0


def test_a_redrawn_official_split_keeps_its_sizes():
    test = {f"{name}_test": values for name, values in toy(n=500).arrays.items()}
    official = Dataset("toy", "package", "canonical", toy().arrays | test, "")
    official_problem = clean_problem(None, official, True)
    drawn = [clean_problem(shared(k), official, True) for k in (0, 1)]
    assert {len(p.y_test) for p in (official_problem, *drawn)} == {len(official_problem.y_test)}
    assert {len(p.clean) for p in (official_problem, *drawn)} == {1500}
    assert not np.array_equal(drawn[0].X_test, drawn[1].X_test)


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
    train, test = robust_sgd.scaled(np.array([[0.0, 5.0], [2.0, 5.0]]), np.array([[3.0, 7.0]]))
    np.testing.assert_array_equal(train, [[0, 0], [1, 0]])
    np.testing.assert_array_equal(test, [[1.5, 0]])
    train, test = robust_sgd.scaled(csr_matrix([[0.0, 4.0], [2.0, 0.0]]), csr_matrix([[3.0, 1.0]]))
    np.testing.assert_array_equal(train.toarray(), [[0, 1], [1, 0]])
    np.testing.assert_array_equal(test.toarray(), [[1.5, 0.25]])
    with pytest.raises(ValueError, match="sparse features must be >= 0"):
        robust_sgd.scaled(csr_matrix([[-1.0, 1.0]]), csr_matrix([[1.0, 1.0]]))


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
    settings = typed(
        "robust_sgd.code:errors", SETTINGS | {"lambdas": [1e-6, 1e-4, 1e-2, 0.1, 1, 10], "folds": 5}
    )
    method = settings.methods[label]
    noise = Noise.parse("symmetric 0.1")
    problem = with_noise(clean_problem(data=toy(n=200)), noise.label)
    X = np.hstack([problem.X, 0.2 * np.random.default_rng(1).standard_normal((len(problem.X), 60))])
    problem = replace(problem, X=X)
    y = problem.noisy
    fold = np.arange(len(X)) % 5
    errors = robust_sgd.validation_errors(method, problem, fold, settings, shared("tuning"), noise)
    points = method.grid(settings)
    errors_of_all = np.empty_like(errors)
    for k in range(5):
        rng = shared("tuning").rng(f"shuffle {noise} fold {k}")
        for j, point in enumerate(points):
            model = method.model(point, settings.epochs, rng).fit(X[fold != k], y[fold != k])
            errors_of_all[k, j] = np.mean(model.predict(X[fold == k]) != y[fold == k])
    fitted = np.isfinite(errors)
    assert 0 < fitted.sum() < fitted.size
    np.testing.assert_array_equal(errors[fitted], errors_of_all[fitted])
    for rule in ("one_se", "minimum"):
        chosen = robust_sgd.choose(points, errors, rule)
        assert chosen == robust_sgd.choose(points, errors_of_all, rule)


def test_theorem_1_needs_the_variance_at_the_optimum():
    settings = {"n": 200, "d": 5, "T": 4000, "stride": 20, "lam": 1e-2, "steps": [0.5]}
    settings["noise"] = ["symmetric 0.2"]
    rows = table("robust_sgd.code:theorem", settings, repetitions=range(3))
    wide = rows.pivot_table(index=["method", "repetition"], columns="metric", values="value")
    assert (wide["excess_corrected"] < 0).all()
    assert (wide.loc["from the optimum", "published"] == 0).all()
    assert (wide.loc["from the optimum", "gap"] > 0).all()


def test_minimiser_has_no_gradient():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 4))
    y = np.where(rng.random(80) < 0.5, 1.0, -1.0)
    w = robust_sgd.minimiser(X, y, 0.01)
    gradient = X.T @ (losses.Log().slope(y * (X @ w)) * y) / 80 + 0.01 * w
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
