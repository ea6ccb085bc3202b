"""The rows of the boosting experiments: errors, curves by rounds, calibration, the loss."""

import numpy as np
import pandas as pd
import pytest
from running import here, table, two_classes, typed, values

from reproduction.protocols.boosting import flip_rates, rounds_to_drop
from reproduction.protocols.settings import Noise

ROUNDS = 6
METHODS = {
    "ada": {"method": "adaboost", "parameters": {"rounds": ROUNDS}},
    "informed": {"method": "rboost", "parameters": {"rounds": ROUNDS}, "gamma": "known"},
    "learns": {"method": "rboost", "parameters": {"rounds": ROUNDS}},
    "stump": {"method": "sklearn.tree:DecisionTreeClassifier", "parameters": {"max_depth": 1}},
}
SETTINGS = {"datasets": ["toy"], "noise": ["independent 0", "negative_only 0.3"], "methods": METHODS}
BOOSTERS = {name: METHODS[name] for name in ("ada", "informed", "learns")}


def run(protocol, repetitions=range(2), **changes):
    return table(f"boosting.{protocol}", SETTINGS | changes, two_classes(train=60), repetitions)


@pytest.fixture(scope="module")
def errors():
    return run("errors")


@pytest.mark.parametrize(
    ("noise", "rates"),
    [("independent 0.3", (0.3, 0.3)), ("negative_only 0.2", (0.2, 0.0)), ("positive_only 0.1", (0.0, 0.1))],
)
def test_the_rates_that_a_method_is_given_are_those_of_the_noise(noise, rates):
    noise = Noise.parse(noise)
    assert flip_rates(noise) == rates
    model = typed("boosting.errors", SETTINGS).methods["informed"].model(noise, here())
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
        typed("boosting.errors", SETTINGS | change)


def test_on_clean_labels_a_booster_that_knows_it_is_adaboost(errors):
    same = [values(errors, noise="independent 0", metric="error", method=m) for m in ("ada", "informed")]
    assert np.array_equal(*same)


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
            where = {"method": method, "noise": noise}
            last = values(rounds, metric="test_error", x=ROUNDS, **where)
            assert np.array_equal(last, values(errors, metric="error", **where))
            assert len(values(rounds, metric="train_error", **where)) == 2 * ROUNDS
    learned = values(rounds, metric="gamma01", x=ROUNDS, method="learns")
    assert np.array_equal(np.sort(learned), np.sort(values(errors, metric="gamma01")))


def test_errors_after_some_rounds_of_a_run_are_those_of_shorter_runs(errors):
    longer = {name: {**METHODS[name], "parameters": {"rounds": 9}} for name in BOOSTERS}
    longer |= {"tree": {"method": "gentle_boost", "parameters": {"rounds": 9}}}
    grid = run("errors", methods=longer, rounds=[ROUNDS, 9])
    short = {"tree": {"method": "gentle_boost", "parameters": {"rounds": ROUNDS}}}
    for method, own in [*((m, errors) for m in BOOSTERS), ("tree", run("errors", methods=short))]:
        where = {"metric": "error", "method": method}
        assert np.array_equal(values(grid, x=ROUNDS, **where), values(own, **where))


@pytest.mark.parametrize(
    ("path", "first"), [([50, 30, 11, 10, 10], 3), ([20, 20, 20], 1), ([20, 25, 10], 3), ([7], 1)]
)
def test_the_training_error_has_fallen_in_the_first_round_within_a_twentieth(path, first):
    assert rounds_to_drop(np.array(path, dtype=float)) == first


def test_without_trusted_labels_the_calibration_is_that_of_the_table(errors):
    counts = run("calibration", methods=BOOSTERS, trusted=[0, 20])
    for method in BOOSTERS:
        where = {"metric": "error", "method": method, "noise": "negative_only 0.3"}
        assert np.array_equal(values(counts, x=0, **where), values(errors, **where))
    for method in ("ada", "informed"):
        assert np.array_equal(*(values(counts, metric="error", method=method, x=x) for x in (0, 20)))
    assert set(counts.loc[counts["metric"] == "gamma_error", "method"]) == {"learns"}


def test_the_distance_of_the_rates_is_their_mean_absolute_error():
    methods = {"learns": METHODS["learns"]}
    counts = run("calibration", methods=methods, trusted=[10], noise=["negative_only 0.3"])
    rates = [values(counts, metric=metric) for metric in ("gamma01", "gamma10", "gamma_error")]
    assert rates[2] == pytest.approx((np.abs(rates[0] - 0.3) + rates[1]) / 2)


def test_the_loss_is_a_mixture_of_two_exponentials():
    settings = {"largest": 1.0, "points": 5, "gammas": {"rBoost": [0.3, 0]}}
    frame = table("boosting.loss", settings, repetitions=range(1))
    mixture = lambda H: 0.7 * np.exp(-H) + 0.3 * np.exp(H)  # noqa: E731
    for setting, expected in (("label +1", mixture), ("label -1", np.exp)):
        own = frame[frame["setting"] == setting]
        assert own["value"].to_numpy() == pytest.approx(expected(own["x"].to_numpy()))
