"""The protocol of the robust-SGD study on a small problem."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from noisylabels.losses import margin as losses
from noisylabels.seeding import Seeds
from reproduction import results
from reproduction.data.matrices import pack
from reproduction.data.prepare import Dataset
from reproduction.protocols.folds import stratified_folds
from reproduction.protocols.robust_sgd import data, methods, selection
from reproduction.protocols.robust_sgd import errors as robust_sgd
from reproduction.protocols.robust_sgd import theorem as robust_sgd_theorem
from reproduction.protocols.splits import stratified_mask

SETTINGS = {
    "experiment": "test", "repetitions": 2, "epochs": 4, "folds": 3, "rule": "one_se",
    "lambdas": [1e-4, 1e-2],
    "multipliers": [0.3, 1.0], "cv_rows": 10_000, "rows": 0, "stand_in_rows": 0, "resample_noise": False,
    "datasets": ["toy"], "official": [], "noise": ["symmetric 0", "symmetric 0.4", "symmetric 0.6"],
    "objectives": ["rgomp"], "families": {"robust": ["rgomp", "ramp"]},
    "methods": {
        "rgomp": {"method": "robust_sgd", "losses": [{"loss": "rgomp", "c": 2}]},
        "ramp": {"method": "robust_sgd", "losses": [{"loss": "ramp", "s": -1}, {"loss": "ramp", "s": -2}]},
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


@pytest.fixture(scope="module")
def frame():
    return whole_run(SETTINGS)


def whole_run(settings, dataset=None):
    seeds, sets = Seeds(1, "test"), {"toy": dataset or toy()}
    tuned = json.loads(json.dumps(robust_sgd.tune(settings, sets, seeds)))
    rows = robust_sgd.run(settings, sets, seeds, range(settings["repetitions"]), tuned)
    return pd.DataFrame([results.DEFAULTS | row for row in rows])[results.COLUMNS]


def test_rows_of_every_method(frame, tmp_path):
    assert not frame.duplicated([c for c in results.COLUMNS if c != "value"]).any()
    errors = frame[frame["metric"] == "error"].groupby("method").size()
    assert errors["rgomp"] == 3 * 2 * 4  # noise, repetitions, epochs
    assert errors["liblinear"] == 3 * 2
    assert set(frame["metric"]) == {"error", "reversed_error", "settled", "objective", "spread"}
    results.write_rows(frame.to_dict("records"), tmp_path / "table.csv")


def test_repetitions_differ_in_shuffling_only(frame):
    last = frame[(frame["metric"] == "error") & (frame["x"] == 4)]
    spread = last.groupby(["noise", "method"])["value"].std()
    assert (spread.xs("liblinear", level="method") == 0).all()
    assert (spread.xs("rgomp", level="method") > 0).any()


def test_rs_5_sixty_percent_flips_reverse_the_rule(frame):
    wide = frame[frame["x"] == 4].pivot_table(index=["metric", "noise"], columns="method", values="value")
    errors, mirrored = wide.loc["error"], wide.loc["reversed_error"]
    assert (errors.loc["symmetric 0"] < 15).all()
    assert (errors.loc["symmetric 0.6"] > 50).all()
    steady = ["asgd", "liblinear", "liblinear_dual"]  # the others vary from shuffle to shuffle
    assert (abs(mirrored.loc["symmetric 0.6"] - errors.loc["symmetric 0.4"])[steady] < 2).all()


def test_objective_starts_at_the_loss_of_zero(frame):
    first = frame[(frame["metric"] == "objective") & (frame["x"] == 0)]["value"]
    np.testing.assert_allclose(first, 1 / np.e)


def test_results_repeat(frame):
    pd.testing.assert_frame_equal(frame, whole_run(SETTINGS))


def test_noise_can_be_drawn_anew_in_each_repetition():
    settings = SETTINGS | {"resample_noise": True, "noise": ["symmetric 0.4"]}
    frame = whole_run(
        settings | {"methods": {"liblinear": {"method": "liblinear"}}, "families": {}, "objectives": []}
    )
    assert frame[frame["metric"] == "error"]["value"].std() > 0


def test_flips_beyond_one_half_are_the_complement_of_those_below():
    """RS-5b compares 60 % with 40 %: the same coins, so that all labels are each other's opposite."""
    clean = data.clean_problem(toy(), Seeds(1, "test", "toy"), official=False)
    sixty, forty = (data.with_noise(clean, f"symmetric {r}", Seeds(1, "test"), 0) for r in (0.6, 0.4))
    np.testing.assert_array_equal(sixty.noisy, -forty.noisy)
    assert np.mean(sixty.noisy != clean.clean) == pytest.approx(0.6, abs=1 / len(clean.clean))
    half = data.with_noise(clean, "symmetric 0.5", Seeds(1, "test"), 0)
    assert np.mean(half.noisy != clean.clean) == pytest.approx(0.5, abs=1 / len(clean.clean))


def test_redrawn_trials_have_flips_and_a_split_of_their_own():
    liblinear = {"liblinear": {"method": "liblinear"}}
    settings = SETTINGS | {"noise": ["symmetric 0.4"], "methods": liblinear, "families": {}, "objectives": []}
    plain, both = whole_run(settings), whole_run(settings | {"redraw": True})
    redrawn = both[both["metric"] == "redrawn_error"]
    pd.testing.assert_frame_equal(plain, both[both["metric"] != "redrawn_error"].reset_index(drop=True))
    assert len(redrawn) == settings["repetitions"]
    assert redrawn["value"].nunique() == settings["repetitions"]


def test_a_redrawn_official_split_keeps_its_sizes():
    pooled = toy()
    official = Dataset("toy", "package", "canonical", pooled.arrays | _test_part(), "")
    given = data.clean_problem(official, Seeds(1, "test"), official=True)
    drawn = [data.clean_problem(official, Seeds(1, "test"), official=True, repetition=k) for k in (0, 1)]
    assert {len(p.y_test) for p in (given, *drawn)} == {len(given.y_test)}
    assert {len(p.clean) for p in (given, *drawn)} == {1500}
    assert not np.array_equal(drawn[0].X_test, drawn[1].X_test)


def _test_part():
    arrays = toy(n=500).arrays
    return {f"{name}_test": values for name, values in arrays.items()}


def test_stand_ins_keep_their_own_number_of_rows():
    settings = SETTINGS | {"stand_in_rows": 200}
    problems = [
        next(robust_sgd._problems(settings, {"toy.or_stand_in": toy(s)}, Seeds(1, "test")))
        for s in ("stand-in", "canonical")
    ]
    assert [len(problem.clean) for _, _, problem, _ in problems] == [200, 1200]
    with pytest.raises(ValueError, match="'toy' is not among the artifact's datasets: other"):
        next(robust_sgd._problems(SETTINGS, {"other": toy()}, Seeds(1, "test")))


def test_split_is_stratified_and_independent_of_everything_else():
    problem = data.clean_problem(toy(), Seeds(1, "test", "toy"), official=False)
    assert len(problem.clean) == 1200
    assert abs(problem.clean.mean() - problem.y_test.mean()) < 5e-3
    np.testing.assert_array_equal(
        problem.X, data.clean_problem(toy(), Seeds(1, "test", "toy"), official=False).X
    )
    with pytest.raises(ValueError, match="toy has no official test part"):
        data.clean_problem(toy(), Seeds(1, "test"), official=True)


def test_scaling_uses_training_rows_only():
    train, test = data.scaled(np.array([[0.0, 5.0], [2.0, 5.0]]), np.array([[3.0, 7.0]]))
    np.testing.assert_array_equal(train, [[0, 0], [1, 0]])
    np.testing.assert_array_equal(test, [[1.5, 0]])
    train, test = data.scaled(csr_matrix([[0.0, 4.0], [2.0, 0.0]]), csr_matrix([[3.0, 1.0]]))
    np.testing.assert_array_equal(train.toarray(), [[0, 1], [1, 0]])
    np.testing.assert_array_equal(test.toarray(), [[1.5, 0.25]])
    with pytest.raises(ValueError, match="sparse features must be >= 0"):
        data.scaled(csr_matrix([[-1.0, 1.0]]), csr_matrix([[1.0, 1.0]]))


def test_empty_classes_are_refused():
    y = np.array([1, -1, -1, -1])
    with pytest.raises(ValueError, match="class 1 has 1 rows only"):
        stratified_mask(y, 0.5, np.random.default_rng(0))
    with pytest.raises(ValueError, match="class 1 has 1 rows, fewer than the 2 folds"):
        stratified_folds(y, 2, np.random.default_rng(0))


def test_one_standard_error_rule_prefers_strong_penalties_then_small_steps():
    points = [methods.Point(0, lam, m) for lam in (1e-3, 1e-1) for m in (0.3, 3.0)]
    errors = np.array([[0.10, 0.20, 0.12, 0.12], [0.14, 0.20, 0.14, 0.13], [0.12, 0.20, 0.12, 0.13]])
    assert selection.choose(points, errors, "minimum")["lam"] == 1e-3
    chosen = selection.choose(points, errors, "one_se")
    assert (chosen["lam"], chosen["multiplier"]) == (1e-1, 0.3)


def test_unknown_losses_and_parameters_are_named():
    with pytest.raises(ValueError, match="unknown loss 'gomp'"):
        methods.make_loss({"loss": "gomp"})
    with pytest.raises(ValueError, match=r"the loss rgomp has no parameters \['s'\]"):
        methods.make_loss({"loss": "rgomp", "s": -1})


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
    rows = pd.DataFrame(robust_sgd_theorem.run(settings, {}, Seeds(1, "test"), range(3), {}))
    wide = rows.pivot_table(index=["method", "repetition"], columns="metric", values="value")
    assert (wide["excess_corrected"] < 0).all()
    assert (wide.loc["from the optimum", "published"] == 0).all()
    assert (wide.loc["from the optimum", "gap"] > 0).all()


def test_minimiser_has_no_gradient():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 4)), np.where(rng.random(80) < 0.5, 1.0, -1.0)
    w = robust_sgd_theorem.minimiser(X, y, 0.01)
    gradient = X.T @ (losses.Log().slope(y * (X @ w)) * y) / 80 + 0.01 * w
    assert np.abs(gradient).max() < 1e-14


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"objectives": ["rgom"]}, "settings.objectives: 'rgom' is no method of the settings: rgomp, ramp"),
        ({"families": {"all": ["x", "ramp"]}}, r"settings\.families\.all: 'x' is no method of the settings"),
        (
            {"objectives": ["pegasos"]},
            "method pegasos: PegasosClassifier has no fit_epochs, which the record of its objective needs; "
            r"implement fit_epochs\(X, y\) -> Iterator\[Any\], or take the method off `objectives`",
        ),
        (
            {"methods": {"rgomp": {"method": "robust_sgd", "losses": [{"loss": "rgomp", "d": 1}]}}},
            "the loss rgomp has no parameters",
        ),
        (
            {
                "methods": {
                    "rgomp": {
                        "method": "robust_sgd",
                        "losses": [{"loss": "log"}],
                        "parameters": {"fit_intercept": False},
                    }
                }
            },
            "method rgomp: no parameter 'fit_intercept'; known: schedule, average",
        ),
        (
            {"methods": {"m": {"method": "sklearn.svm:LinearSVC"}}},
            "method m: no parameter 'lam'; known: penalty",
        ),
    ],
)
def test_mistakes_are_named_before_anything_runs(change, message):
    settings = SETTINGS | {"objectives": [], "families": {}} | change
    with pytest.raises(ValueError, match=message):
        robust_sgd.tune(settings, {}, Seeds(1, "test"))
