"""All methods in the study of the audit see the same rows, flips and folds."""

import numpy as np
import pytest
from running import make_repetition, table, typed, values

from audit.code import ESTIMATES, observed_labels, on_splits, review, scores_of_list
from noisylabels.noise.simulated_crowd import simulate
from noisylabels.seeding import Seeds
from reproduction.data.prepared import Dataset
from reproduction.run.protocol_loop import Loop

ROBUST = {"method": "robust_logistic", "parameters": {"lam": 0.5}}
PLAIN = {"method": "sklearn.linear_model:LogisticRegression"}
SETTINGS = {
    "datasets": ["clouds"],
    "noise": ["independent 0.2", "negative_only 0.4"],
    "splits": {"test": 0.2, "stratified": True},
    "cross_fits": 1,
    "folds": 5,
    "methods": {"rlr": ROBUST, "logistic": PLAIN},
}
PEOPLE = {
    "datasets": ["clouds"],
    "cross_fits": 1,
    "folds": 5,
    "methods": SETTINGS["methods"],
    "share": 0.8,
    "annotators": [1, 5],
}


def clouds(n=160, distance=4.0, **added):
    """Draw two Gaussian classes whose means are a distance apart in both features."""
    rng = np.random.default_rng(0)
    is_positive = np.arange(n) % 2 == 1
    y = np.where(is_positive, 1, -1).astype(np.int8)
    means = y[:, None] * distance / 2
    X = rng.normal(means, 1, (n, 2))
    arrays = {"X": X, "y": y} | added
    return Dataset("clouds", "test", "v", arrays, "")


def run(protocol, data, repetitions=range(2), **changes):
    settings = PEOPLE if protocol == "finding_errors" else SETTINGS
    return table(f"audit.code:{protocol}", settings | changes, data, repetitions)


def mean_value(frame, **selected):
    selected_values = values(frame, **selected)
    return np.mean(selected_values)


def lowest_value(frame, **selected):
    selected_values = values(frame, **selected)
    return min(selected_values)


def test_every_method_sees_the_same_rows_flips_and_folds():
    twins = SETTINGS | {"methods": {"one": PLAIN, "two": PLAIN}}
    settings = typed("audit.code:finding_flips", twins)
    loop = Loop({"clouds": clouds()}, Seeds(1, "audit"), range(2))
    rows_of_splits = list(on_splits(settings, loop))
    of_first_method = rows_of_splits[::2]
    of_second_method = rows_of_splits[1::2]
    assert len(rows_of_splits) == 2 * 2 * 2
    for first, second in zip(of_first_method, of_second_method, strict=True):
        np.testing.assert_array_equal(first.observed, second.observed)
        np.testing.assert_array_equal(first.cross.p, second.cross.p)
    first_repetition, _, second_repetition, _ = of_first_method
    assert (first_repetition.observed != second_repetition.observed).any()


def test_flips_of_separate_clouds_are_found():
    frame = run("finding_flips", clouds())
    symmetric = {"noise": "independent 0.2"}
    assert lowest_value(frame, metric="average_precision", **symmetric) > 0.9
    assert lowest_value(frame, metric="precision", **symmetric) > 0.8
    flipped = mean_value(frame, metric="flipped", noise="negative_only 0.4")
    assert flipped == pytest.approx(0.2, abs=0.06)
    assert frame.equals(run("finding_flips", clouds()))


def test_the_scores_are_those_of_the_labels_found():
    no_row = np.zeros(5, bool)
    listed = np.array([True, True, True, False, False])
    flipped = np.array([True, True, False, True, False])
    suspicion = np.array([5, 4, 3, 2, 1])
    scores = scores_of_list(listed, suspicion, flipped)
    assert scores["precision"] == pytest.approx(2 / 3)
    assert scores["recall"] == scores["precision"]
    assert scores["f1"] == scores["precision"]
    precisions_at_flips = (1, 1, 3 / 4)
    assert scores["average_precision"] == pytest.approx(np.mean(precisions_at_flips))
    only_third = listed & ~flipped
    without_flips = scores_of_list(only_third, np.arange(5.0), no_row)
    assert without_flips == {"found": 0.2, "flipped": 0.0}
    empty_list = scores_of_list(no_row, np.arange(5.0), flipped)
    assert empty_list["precision"] == 0


def test_rates_of_separate_clouds_are_right_by_every_estimate():
    data = clouds(1500, 6.0)
    frame = run("flip_rates", data, methods={"rlr": ROBUST})
    assert set(frame["setting"]) == set(ESTIMATES)
    for metric in ("bias", "absolute_error"):
        errors = values(frame, metric=metric)
        assert np.abs(errors).max() < 0.1
    one_class = {"noise": "negative_only 0.4"}
    rate_of_negatives = mean_value(frame, metric="omega01", **one_class)
    assert rate_of_negatives == pytest.approx(0.4, abs=0.08)
    assert mean_value(frame, metric="omega10", **one_class) < 0.08


def test_a_model_without_flip_matrix_has_no_own_estimate():
    frame = run("flip_rates", clouds(), range(1), methods={"logistic": PLAIN})
    assert set(frame["setting"]) == {"confident joint", "anchor", "surest rows"}


def crowd():
    """Let five of 20 people label each row of the clouds."""
    rng = np.random.default_rng(1)
    simulated = simulate(clouds().arrays["y"], rng, workers=20, per_item=5)
    return clouds(item=simulated.item, worker=simulated.worker, response=simulated.response)


def test_wrong_votes_of_a_crowd_are_found_and_more_votes_are_wrong_less_often():
    frame = run("finding_errors", crowd(), range(3))
    one_vote = {"noise": "vote of 1"}
    five_votes = {"noise": "vote of 5"}
    assert lowest_value(frame, metric="average_precision", **one_vote) > 0.8
    wrong_of_one = mean_value(frame, metric="flipped", **one_vote)
    wrong_of_five = mean_value(frame, metric="flipped", **five_votes)
    assert wrong_of_five < wrong_of_one - 0.1
    assert frame.equals(run("finding_errors", crowd(), range(3)))


def test_labels_that_come_with_a_set_are_taken_as_they_are():
    y = clouds().arrays["y"]
    is_seventh = np.arange(len(y)) % 7 == 0
    y_noisy = np.where(is_seventh, -1, y)
    data = clouds(y_noisy=y_noisy)
    labels = dict(observed_labels(data.arrays, [1], make_repetition()))
    np.testing.assert_array_equal(labels["as they come"], y_noisy > 0)
    frame = run("finding_errors", data, range(1))
    flipped = values(frame, metric="flipped")
    assert len(flipped) == len(PEOPLE["methods"])
    assert flipped == pytest.approx(1 / 14, abs=0.02)


def test_finders_stand_in_place_of_classifiers_and_their_doubts_narrow_a_review():
    finder = {"method": "noisylabels.auditing.finders:EnsembleFilter"}
    methods = {"ensemble": finder, "logistic": PLAIN}
    options = {"methods": methods, "annotators": [1], "reviewed": 50}
    frame = run("finding_errors", crowd(), range(6), **options)
    # 0.3 is what chance gives
    assert lowest_value(frame, metric="average_precision", method="ensemble") > 0.6
    assert mean_value(frame, metric="covers") > 0.7
    assert mean_value(frame, metric="width") < 0.9
    is_of_review = frame["metric"].isin(["covers", "width"])
    assert set(frame.loc[is_of_review, "method"]) == {"ensemble"}


def test_a_review_that_finds_no_wrong_label_covers_their_share_and_narrows_nothing():
    wrong = np.zeros(100)
    suspicion = np.arange(100.0)
    reviewed = np.arange(50)
    _, effort = review(wrong, suspicion, reviewed)
    assert effort == {"covers": 1.0, "width": 1.0}


def test_a_set_without_labels_of_people_is_refused():
    with pytest.raises(ValueError, match=r"settings\.datasets: a data set with labels by people"):
        run("finding_errors", clouds())


def test_corrections_see_the_same_flips_and_mend_what_a_forest_learns():
    forest = {
        "method": "sklearn.ensemble:RandomForestClassifier",
        "parameters": {"n_estimators": 10},
    }
    settings = {
        "datasets": SETTINGS["datasets"],
        "splits": SETTINGS["splits"],
        "folds": SETTINGS["folds"],
        "noise": ["independent 0.3"],
        "methods": {"forest": forest},
        "ways": ["plain", "prune", "forward"],
    }
    frame = table("audit.code:correcting", settings, clouds(400), range(2))
    errors = {}
    for way in settings["ways"]:
        errors[way] = mean_value(frame, metric="error", setting=way)
    assert min(errors["prune"], errors["forward"]) < errors["plain"] - 5
    only_plain = settings | {"ways": ["plain"]}
    table_of_plain = table("audit.code:correcting", only_plain, clouds(400), range(2))
    next_to_others = values(frame, metric="error", setting="plain")
    alone = values(table_of_plain, metric="error")
    np.testing.assert_array_equal(alone, next_to_others)
