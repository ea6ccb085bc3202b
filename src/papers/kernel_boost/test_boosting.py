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
    assert model.gamma == rates
    assert not model.learn_gamma
    assert model.rounds == ROUNDS


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
    first = run("errors", range(1))
    second = run("errors", range(1, 2))
    together = pd.concat([first, second], ignore_index=True)
    pd.testing.assert_frame_equal(together, errors)


def test_the_last_round_of_a_curve_is_the_error(errors):
    drawn = {"noise": ["independent 0"], "methods": ["ada"]}
    rounds = run("curves", methods=BOOSTERS, drawn=drawn)
    for method in BOOSTERS:
        for noise in SETTINGS["noise"]:
            selected = {"method": method, "noise": noise}
            last = values(rounds, metric="test_error", x=ROUNDS, **selected)
            expected = values(errors, metric="error", **selected)
            assert np.array_equal(last, expected)
            of_training = values(rounds, metric="train_error", **selected)
            assert len(of_training) == 2 * ROUNDS
    learned = values(rounds, metric="gamma01", x=ROUNDS, method="learns")
    expected = values(errors, metric="gamma01")
    assert np.array_equal(np.sort(learned), np.sort(expected))


def with_rounds(rounds):
    """Give every booster, and boosted trees, so many rounds."""
    parameters = {"rounds": rounds}
    methods = {name: method | {"parameters": parameters} for name, method in BOOSTERS.items()}
    methods["tree"] = {"method": "gentle_boost", "parameters": parameters}
    return methods


def test_errors_after_some_rounds_of_a_run_are_those_of_shorter_runs():
    longer = run("errors", methods=with_rounds(9), rounds=[ROUNDS, 9])
    shorter = run("errors", methods=with_rounds(ROUNDS))
    for method in with_rounds(ROUNDS):
        selected = {"metric": "error", "method": method}
        after_some_rounds = values(longer, x=ROUNDS, **selected)
        at_the_end = values(shorter, **selected)
        assert np.array_equal(after_some_rounds, at_the_end)


@pytest.mark.parametrize(
    ("path", "first"),
    [
        ([50.0, 30.0, 11.0, 10.0, 10.0], 3),
        ([20.0, 20.0, 20.0], 1),
        ([20.0, 25.0, 10.0], 3),
        ([7.0], 1),
    ],
)
def test_the_training_error_has_fallen_in_the_first_round_within_a_twentieth(path, first):
    assert rounds_to_drop(np.array(path)) == first


def test_without_trusted_labels_the_calibration_is_that_of_the_table(errors):
    counts = run("calibration", methods=BOOSTERS, trusted=[0, 20])
    for method in BOOSTERS:
        selected = {"metric": "error", "method": method, "noise": "negative_only 0.3"}
        without_trusted = values(counts, x=0, **selected)
        of_table = values(errors, **selected)
        assert np.array_equal(without_trusted, of_table)


def test_trusted_labels_change_only_methods_that_learn_rates():
    counts = run("calibration", methods=BOOSTERS, trusted=[0, 20])
    for method in ("ada", "informed"):
        selected = {"metric": "error", "method": method}
        without_trusted = values(counts, x=0, **selected)
        with_trusted = values(counts, x=20, **selected)
        assert np.array_equal(without_trusted, with_trusted)
    learned = {"metric": "gamma01", "method": "learns"}
    without_trusted = values(counts, x=0, **learned)
    with_trusted = values(counts, x=20, **learned)
    assert not np.array_equal(without_trusted, with_trusted)
    is_distance = counts["metric"] == "gamma_error"
    assert set(counts.loc[is_distance, "method"]) == {"learns"}


def test_the_distance_of_the_rates_is_their_mean_absolute_error():
    methods = {"learns": METHODS["learns"]}
    counts = run("calibration", methods=methods, trusted=[10], noise=["negative_only 0.3"])
    error_of_negatives = np.abs(values(counts, metric="gamma01") - 0.3)
    error_of_positives = values(counts, metric="gamma10")
    mean_error = (error_of_negatives + error_of_positives) / 2
    assert values(counts, metric="gamma_error") == pytest.approx(mean_error)


def mixture(H):
    """Expect the loss of a label that is flipped with probability 0.3."""
    return 0.7 * np.exp(-H) + 0.3 * np.exp(H)


@pytest.mark.parametrize(("setting", "expected"), [("label +1", mixture), ("label -1", np.exp)])
def test_the_loss_is_a_mixture_of_two_exponentials(setting, expected):
    settings = {"largest": 1.0, "points": 5, "gammas": {"rBoost": [0.3, 0]}}
    frame = table("kernel_boost.boosting:loss", settings, repetitions=range(1))
    rows = frame[frame["setting"] == setting]
    np.testing.assert_allclose(rows["value"], expected(rows["x"]))


# Flip probabilities and bounds

HALVES = {"datasets": ["toy"], "train": 0.5}
CURVES = {
    "ks": [1, 5],
    "angles": 9,
    "simulated": [5],
    "simulated_angles": [0.4, 0.5],
    "trials": 2000,
    "margins": [0, 0.5],
}
POINTS = two_classes(n=80, distance=0.8, d=3)


def test_the_bound_is_the_sum_of_its_terms():
    settings = HALVES | {"ks": [2, 20], "delta": 0.05}
    rows = table("kernel_boost.boosting:bounds", settings, POINTS)
    wide = rows.pivot_table(index=["repetition", "x"], columns="metric", values="value")
    assert len(wide) == 4
    terms = wide["risk"] + wide["complexity"] + wide["confidence"]
    np.testing.assert_allclose(terms, wide["bound"])
    excess = wide["error"] - wide["bound"]
    np.testing.assert_allclose(excess, wide["excess"])
    assert wide["risk"].between(0, 1).all()
    k = 2
    half_of_rows = 40
    expected = 2 * np.sqrt(2 / np.pi * k / half_of_rows)
    complexities = wide["complexity"].xs(k, level="x")
    assert complexities.iloc[0] == pytest.approx(expected)


def test_choices_of_cross_validation_are_listed_with_the_errors():
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


@pytest.fixture(scope="module")
def flip_probability():
    """Make the values by setting, method and metric."""
    frame = table("kernel_boost.boosting:flip_probability", CURVES)
    return frame.set_index(["setting", "method", "metric"])["value"]


def test_curves_of_the_flip_probability(flip_probability):
    theta = np.linspace(0, np.pi, 9)
    share_of_sphere = (1 - np.cos(theta)) / 2
    of_one_dimension = flip_probability["formula", "k=1", "f"]
    np.testing.assert_allclose(of_one_dimension[:9], theta / np.pi, rtol=1e-6)
    of_five_dimensions = flip_probability["formula", "k=5", "f"]
    expected = betainc(2.5, 2.5, share_of_sphere)
    np.testing.assert_allclose(of_five_dimensions[:9], expected, rtol=1e-6)


def test_simulations_of_the_flip_probability_are_on_its_curve(flip_probability):
    assert flip_probability["gaussian", "k=5", "z"].abs().max() < 4.5
    assert ("gaussian", "k=1", "z") not in flip_probability.index


def test_the_sub_gaussian_bound_has_the_slack_of_entries_that_are_mostly_zero(flip_probability):
    slack = flip_probability["mostly zero", "k=5", "sub_gaussian_slack"]
    assert len(slack) == 2
    np.testing.assert_allclose(slack, np.exp(-5 / 8) - 0.95**5)


def test_rows_with_a_margin_flip_less_often(flip_probability):
    small, large = flip_probability["margin", "k=5", "flip_term"][:2]
    assert large < small
    of_some_without_margin = flip_probability["some without margin", "k=5", "flip_term"]
    assert len(of_some_without_margin) == 2
    probability = 0.99 * 2 * betainc(2.5, 2.5, 0.05) + 0.01
    np.testing.assert_allclose(of_some_without_margin, probability)


@pytest.mark.parametrize("k", [1, 5, 20])
def test_sparse_projections_flip_signs_more_often_than_the_lemma_allows(k):
    """Entries that are mostly 0 are sub-Gaussian; h = x is an axis, so one column decides."""
    rng = np.random.default_rng(0)
    columns = rng.choice([-1, 0, 1], size=(20_000, k), p=[0.025, 0.95, 0.025])
    inner_products = (columns**2).sum(axis=1)
    share = np.mean(inner_products <= 0)
    variance = share * (1 - share) / len(columns)
    lowest_share = share - 5 * np.sqrt(variance)
    assert lowest_share > sub_gaussian_bound(1.0, k)


def test_simulations_differ_from_repetition_to_repetition_and_nothing_else_does():
    rows = table("kernel_boost.boosting:flip_probability", CURVES)
    spread = rows.groupby(["setting", "method", "metric", "x"])["value"].std()
    simulated = ["gaussian", "rademacher"]
    of_formulas = spread.drop(simulated, level="setting")
    assert (of_formulas == 0).all()
    assert (spread.loc[simulated] > 0).any()


def test_only_dimensions_of_the_curves_are_simulated():
    with pytest.raises(ValueError, match="simulated: '7' is unknown here; known: 1, 5"):
        typed("kernel_boost.boosting:flip_probability", CURVES | {"simulated": [7]})
