"""Rows of the boosting experiments: errors, curves, calibration, the loss, and bounds."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from running import make_repetition, table, two_classes, typed, values
from scipy.special import betainc

from kernel_boost.boosting import flip_rates, rounds_to_drop
from noisylabels.classifiers.projections import sub_gaussian_bound
from reproduction.spec.settings import Noise

ROUNDS = 6
METHODS = {
    "ada": {"method": "adaboost", "parameters": {"rounds": ROUNDS}},
    "informed": {"method": "rboost", "parameters": {"rounds": ROUNDS}, "gamma": "known"},
    "learns": {"method": "rboost", "parameters": {"rounds": ROUNDS}},
    "stump": {"method": "sklearn.tree:DecisionTreeClassifier", "parameters": {"max_depth": 1}},
}
SETTINGS = {
    "datasets": ["toy"],
    "noise": ["independent 0", "negative_only 0.3"],
    "methods": METHODS,
}
BOOSTERS = {name: METHODS[name] for name in ("ada", "informed", "learns")}


def run(protocol, repetitions=range(2), **changes):
    data = two_classes(train=60)
    return table(f"kernel_boost.boosting:{protocol}", SETTINGS | changes, data, repetitions)


@pytest.fixture(scope="module")
def errors():
    return run("errors")


@pytest.mark.parametrize(
    ("noise", "rates"),
    [
        ("independent 0.3", (0.3, 0.3)),
        ("negative_only 0.2", (0.2, 0.0)),
        ("positive_only 0.1", (0.0, 0.1)),
    ],
)
def test_the_rates_that_a_method_is_given_are_those_of_the_noise(noise, rates):
    noise = Noise.parse(noise)
    assert flip_rates(noise) == rates
    settings = typed("kernel_boost.boosting:errors", SETTINGS)
    model = settings.methods["informed"].model(noise, make_repetition())
    assert (model.gamma, model.learn_gamma, model.rounds) == (rates, False, ROUNDS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"methods": {"ada": {"method": "adaboost", "gamma": "known"}}}, "no parameter 'gamma'"),
        ({"noise": ["uniform 0.2"]}, r"noise 'uniform 0\.2': use independent or negative_only or"),
    ],
)
def test_who_takes_no_rates_is_not_given_any_and_other_noise_has_none(change, message):
    with pytest.raises(ValueError, match=message):
        typed("kernel_boost.boosting:errors", SETTINGS | change)


def test_on_clean_labels_a_booster_that_knows_it_is_adaboost(errors):
    selected = {"noise": "independent 0", "metric": "error"}
    ada = values(errors, method="ada", **selected)
    informed = values(errors, method="informed", **selected)
    assert np.array_equal(ada, informed)


def test_only_methods_that_learn_rates_have_rows_of_them(errors):
    learned = errors[errors["metric"].isin(["gamma01", "gamma10"])]
    assert set(learned["method"]) == {"learns"}
    assert learned["value"].between(0, 0.5).all()
    assert set(errors["method"]) == set(METHODS)


def test_rows_do_not_depend_on_how_the_repetitions_are_cut(errors):
    parts = [run("errors", range(r, r + 1)) for r in (0, 1)]
    pd.testing.assert_frame_equal(pd.concat(parts, ignore_index=True), errors)


def test_the_last_round_of_a_curve_is_the_error(errors):
    drawn = {"noise": ["independent 0"], "methods": ["ada"]}
    rounds = run("curves", methods=BOOSTERS, drawn=drawn)
    for method in BOOSTERS:
        for noise in SETTINGS["noise"]:
            selected = {"method": method, "noise": noise}
            last = values(rounds, metric="test_error", x=ROUNDS, **selected)
            assert np.array_equal(last, values(errors, metric="error", **selected))
            assert len(values(rounds, metric="train_error", **selected)) == 2 * ROUNDS
    learned = values(rounds, metric="gamma01", x=ROUNDS, method="learns")
    assert np.array_equal(np.sort(learned), np.sort(values(errors, metric="gamma01")))


def test_errors_after_some_rounds_of_a_run_are_those_of_shorter_runs(errors):
    longer = {name: {**METHODS[name], "parameters": {"rounds": 9}} for name in BOOSTERS}
    longer |= {"tree": {"method": "gentle_boost", "parameters": {"rounds": 9}}}
    grid = run("errors", methods=longer, rounds=[ROUNDS, 9])
    short = {"tree": {"method": "gentle_boost", "parameters": {"rounds": ROUNDS}}}
    shorter_runs = dict.fromkeys(BOOSTERS, errors)
    shorter_runs["tree"] = run("errors", methods=short)
    for method, shorter in shorter_runs.items():
        selected = {"metric": "error", "method": method}
        assert np.array_equal(values(grid, x=ROUNDS, **selected), values(shorter, **selected))


@pytest.mark.parametrize(
    ("path", "first"), [([50, 30, 11, 10, 10], 3), ([20, 20, 20], 1), ([20, 25, 10], 3), ([7], 1)]
)
def test_the_training_error_has_fallen_in_the_first_round_within_a_twentieth(path, first):
    assert rounds_to_drop(np.array(path, dtype=float)) == first


def test_without_trusted_labels_the_calibration_is_that_of_the_table(errors):
    counts = run("calibration", methods=BOOSTERS, trusted=[0, 20])
    for method in BOOSTERS:
        selected = {"metric": "error", "method": method, "noise": "negative_only 0.3"}
        assert np.array_equal(values(counts, x=0, **selected), values(errors, **selected))
    for method in ("ada", "informed"):
        selected = {"metric": "error", "method": method}
        assert np.array_equal(values(counts, x=0, **selected), values(counts, x=20, **selected))
    assert set(counts.loc[counts["metric"] == "gamma_error", "method"]) == {"learns"}


def test_the_distance_of_the_rates_is_their_mean_absolute_error():
    methods = {"learns": METHODS["learns"]}
    counts = run("calibration", methods=methods, trusted=[10], noise=["negative_only 0.3"])
    gamma01 = values(counts, metric="gamma01")
    gamma10 = values(counts, metric="gamma10")
    mean_error = (np.abs(gamma01 - 0.3) + gamma10) / 2
    assert values(counts, metric="gamma_error") == pytest.approx(mean_error)


def test_the_loss_is_a_mixture_of_two_exponentials():
    settings = {"largest": 1.0, "points": 5, "gammas": {"rBoost": [0.3, 0]}}
    frame = table("kernel_boost.boosting:loss", settings, repetitions=range(1))

    def mixture(H):
        return 0.7 * np.exp(-H) + 0.3 * np.exp(H)

    for setting, expected in (("label +1", mixture), ("label -1", np.exp)):
        rows = frame[frame["setting"] == setting]
        assert rows["value"].to_numpy() == pytest.approx(expected(rows["x"].to_numpy()))


# Flip probabilities and bounds

HALVES = {"datasets": ["toy"], "train": 0.5}
CURVES = {
    "ks": [1, 5], "angles": 9, "simulated": [5], "simulated_angles": [0.4, 0.5], "trials": 2000,
    "margins": [0, 0.5],
}  # fmt: skip
POINTS = two_classes(n=80, distance=0.8, d=3)


def test_the_bound_is_the_sum_of_its_terms():
    settings = HALVES | {"ks": [2, 20], "delta": 0.05}
    rows = table("kernel_boost.boosting:bounds", settings, POINTS)
    wide = rows.pivot_table(index=["repetition", "x"], columns="metric", values="value")
    assert len(wide) == 4
    terms = wide["risk"] + wide["complexity"] + wide["confidence"]
    assert terms.to_numpy() == pytest.approx(wide["bound"])
    assert (wide["error"] - wide["bound"]).to_numpy() == pytest.approx(wide["excess"])
    assert wide["risk"].between(0, 1).all()
    complexity_at_2 = wide["complexity"].xs(2, level="x").iloc[0]
    assert complexity_at_2 == pytest.approx(2 * np.sqrt(2 / np.pi * 2 / 40))


def test_choices_of_cross_validation_stand_beside_the_errors():
    methods = {
        "new": {
            "method": "bound_minimiser",
            "parameters": {"ks": [5, 50], "folds": 2, "starts": 1},
        },
        "svm": {
            "method": "large_margin_distribution",
            "parameters": {"C": [1, 10], "lam1": 0, "lam2": 0},
        },
        "zero_one": {"method": "zero_one_loss", "parameters": {"starts": 0}},
    }
    rows = table("kernel_boost.boosting:bound_minimisers", HALVES | {"methods": methods}, POINTS)
    assert set(values(rows, metric="k")) <= {5.0, 50.0}
    assert set(values(rows, metric="C")) <= {1.0, 10.0}
    errors = rows[rows["metric"] == "error"]
    assert list(errors["method"]) == [*methods, *methods]
    assert errors["value"].between(0, 0.45).all()


def test_features_as_they_are_keep_their_scale():
    parameters = {"C": 1, "lam1": 0, "lam2": 0}
    methods = {"svm": {"method": "large_margin_distribution", "parameters": parameters}}
    tiny = replace(POINTS, arrays=POINTS.arrays | {"X": 1e-6 * POINTS.arrays["X"]})

    def errors_on(data, standardise):
        settings = HALVES | {"methods": methods, "standardise": standardise}
        rows = table("kernel_boost.boosting:bound_minimisers", settings, data)
        return values(rows, metric="error")

    scaled = errors_on(POINTS, standardise=True)
    standardised = errors_on(tiny, standardise=True)
    raw = errors_on(POINTS, standardise=False)
    shrunk = errors_on(tiny, standardise=False)
    np.testing.assert_allclose(standardised, scaled)
    # Weights that are large enough for tiny features cost more than the errors.
    assert raw.mean() < 0.2 < shrunk.mean()


def test_curves_simulations_and_margins_of_the_flip_probability():
    frame = table("kernel_boost.boosting:flip_probability", CURVES)
    rows = frame.set_index(["setting", "method", "metric"])["value"]
    theta = np.linspace(0, np.pi, 9)
    expected = betainc(2.5, 2.5, (1 - np.cos(theta)) / 2)
    assert rows["formula", "k=5", "f"].to_numpy()[:9] == pytest.approx(expected)
    assert rows["formula", "k=1", "f"].to_numpy()[:9] == pytest.approx(theta / np.pi)
    assert rows["gaussian", "k=5", "z"].abs().max() < 4.5
    assert ("gaussian", "k=1", "z") not in rows.index
    slack = rows["mostly zero", "k=5", "sub_gaussian_slack"]
    assert slack.to_numpy() == pytest.approx([np.exp(-5 / 8) - 0.95**5] * 2)
    small, large = rows["margin", "k=5", "flip_term"].to_numpy()[:2]
    assert large < small
    probability = 0.99 * 2 * betainc(2.5, 2.5, 0.05) + 0.01
    assert rows["some without margin", "k=5", "flip_term"].to_numpy() == pytest.approx(
        [probability, probability]
    )


@pytest.mark.parametrize("k", [1, 5, 20])
def test_sparse_projections_flip_signs_more_often_than_the_lemma_allows(k):
    """Entries that are mostly 0 are sub-Gaussian; h = x is an axis, so one column decides."""
    rng = np.random.default_rng(0)
    column = rng.choice([-1, 0, 1], size=(20_000, k), p=[0.025, 0.95, 0.025])
    inner_products = (column**2).sum(axis=1)
    share = np.mean(inner_products <= 0)
    error = np.sqrt(share * (1 - share) / len(column))
    assert share - 5 * error > sub_gaussian_bound(1.0, k)


def test_simulations_differ_from_repetition_to_repetition_and_nothing_else_does():
    rows = table("kernel_boost.boosting:flip_probability", CURVES)
    spread = rows.groupby(["setting", "method", "metric", "x"])["value"].std()
    assert (spread.drop(["gaussian", "rademacher"], level="setting") == 0).all()
    assert (spread.loc[["gaussian", "rademacher"]] > 0).any()


def test_only_dimensions_of_the_curves_are_simulated():
    with pytest.raises(ValueError, match="simulated: '7' is unknown here; known: 1, 5"):
        typed("kernel_boost.boosting:flip_probability", CURVES | {"simulated": [7]})
