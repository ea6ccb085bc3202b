"""All methods in the study of the audit see the same rows, flips and folds."""

import dataclasses

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
PEOPLE = {key: SETTINGS[key] for key in ("datasets", "cross_fits", "folds", "methods")} | {
    "share": 0.8,
    "annotators": [1, 5],
}


def clouds(n=160, distance=4.0, **added):
    y = np.where(np.arange(n) % 2, 1, -1).astype(np.int8)
    X = np.random.default_rng(0).normal(y[:, None] * distance / 2, 1, (n, 2))
    return Dataset("clouds", "test", "v", {"X": X, "y": y} | added, "")


def run(protocol, data, repetitions=range(2), **changes):
    settings = (PEOPLE if protocol == "finding_errors" else SETTINGS) | changes
    return table(f"audit.code:{protocol}", settings, data, repetitions)


def test_every_method_sees_the_same_rows_flips_and_folds():
    twins = SETTINGS | {"methods": {"one": PLAIN, "two": PLAIN}}
    settings = typed("audit.code:finding_flips", twins)
    loop = Loop({"clouds": clouds()}, Seeds(1, "audit"), range(2))
    rows_of_splits = list(on_splits(settings, loop))
    assert len(rows_of_splits) == 2 * 2 * 2
    for first, second in zip(rows_of_splits[::2], rows_of_splits[1::2], strict=True):
        np.testing.assert_array_equal(first.observed, second.observed)
        np.testing.assert_array_equal(first.cross.p, second.cross.p)
    assert (rows_of_splits[0].observed != rows_of_splits[4].observed).any()


def test_flips_of_separate_clouds_are_found():
    frame = run("finding_flips", clouds())
    symmetric = frame[frame["noise"] == "independent 0.2"]
    assert min(values(symmetric, metric="average_precision")) > 0.9
    assert min(values(symmetric, metric="precision")) > 0.8
    flipped = values(frame, metric="flipped", noise="negative_only 0.4")
    assert np.mean(flipped) == pytest.approx(0.2, abs=0.06)
    assert frame.equals(run("finding_flips", clouds()))


def test_the_scores_are_those_of_the_labels_found():
    nobody = np.zeros(5, bool)
    wrong = np.array([True, True, True, False, False])
    flipped = np.array([True, True, False, True, False])
    suspicion = np.array([5, 4, 3, 2, 1])
    scores = scores_of_list(wrong, suspicion, flipped)
    assert scores["precision"] == pytest.approx(2 / 3)
    assert scores["recall"] == scores["precision"]
    assert scores["f1"] == scores["precision"]
    precisions_at_flips = (1, 1, 3 / 4)
    assert scores["average_precision"] == pytest.approx(np.mean(precisions_at_flips))
    only_third = wrong & ~flipped
    without_flips = scores_of_list(only_third, np.arange(5.0), nobody)
    assert without_flips == {"found": 0.2, "flipped": 0.0}
    empty_list = scores_of_list(nobody, np.arange(5.0), flipped)
    assert empty_list["precision"] == 0


def test_rates_of_separate_clouds_are_right_by_every_estimate():
    frame = run("flip_rates", clouds(1500, 6.0), methods={"rlr": ROBUST})
    assert set(frame["setting"]) == set(ESTIMATES)
    of_errors = frame[frame["metric"].isin(["bias", "absolute_error"])]
    assert (of_errors["value"].abs() < 0.1).all()
    one_class = frame[frame["noise"] == "negative_only 0.4"]
    assert np.mean(values(one_class, metric="omega01")) == pytest.approx(0.4, abs=0.08)
    assert np.mean(values(one_class, metric="omega10")) < 0.08


def test_a_model_without_flip_matrix_has_no_own_estimate():
    frame = run("flip_rates", clouds(), range(1), methods={"logistic": PLAIN})
    assert set(frame["setting"]) == {"confident joint", "anchor", "surest rows"}


def crowd():
    plain = clouds()
    simulated = simulate(plain.arrays["y"], np.random.default_rng(1), workers=20, per_item=5)
    labels = {"item": simulated.item, "worker": simulated.worker, "response": simulated.response}
    return dataclasses.replace(plain, arrays=plain.arrays | labels)


def test_wrong_votes_of_a_crowd_are_found_and_more_votes_are_wrong_less_often():
    frame = run("finding_errors", crowd(), range(3))
    assert min(values(frame, metric="average_precision", noise="vote of 1")) > 0.8
    one_vote = np.mean(values(frame, metric="flipped", noise="vote of 1"))
    five_votes = np.mean(values(frame, metric="flipped", noise="vote of 5"))
    assert five_votes < one_vote - 0.1
    assert frame.equals(run("finding_errors", crowd(), range(3)))


def test_labels_that_come_with_a_set_are_taken_as_they_are():
    y = clouds().arrays["y"]
    data = clouds(y_noisy=np.where(np.arange(len(y)) % 7 == 0, -1, y))
    labels = dict(observed_labels(data.arrays, [1], make_repetition()))
    np.testing.assert_array_equal(labels["as they come"], data.arrays["y_noisy"] > 0)
    frame = run("finding_errors", data, range(1))
    assert values(frame, metric="flipped") == pytest.approx([1 / 14] * 2, abs=0.02)


def test_finders_stand_in_place_of_classifiers_and_their_doubts_narrow_a_review():
    finder = {"method": "noisylabels.auditing.finders:EnsembleFilter"}
    methods = {"ensemble": finder, "logistic": PLAIN}
    options = {"methods": methods, "annotators": [1], "reviewed": 50}
    frame = run("finding_errors", crowd(), range(6), **options)
    # 0.3 is what chance gives
    assert min(values(frame, metric="average_precision", method="ensemble")) > 0.6
    assert np.mean(values(frame, metric="covers")) > 0.7
    assert np.mean(values(frame, metric="width")) < 0.9
    assert set(frame[frame["metric"].isin(["covers", "width"])]["method"]) == {"ensemble"}
    effort = review(np.zeros(100), np.arange(100.0), np.arange(50))[1]
    assert effort == {"covers": 1.0, "width": 1.0}


def test_a_set_without_labels_of_people_is_refused():
    with pytest.raises(ValueError, match=r"settings\.datasets: a data set with labels by people"):
        run("finding_errors", clouds())


def test_corrections_see_the_same_flips_and_mend_what_a_forest_learns():
    ways = {"ways": ["plain", "prune", "forward"], "noise": ["independent 0.3"]}
    forest = {"method": "sklearn.ensemble:RandomForestClassifier"}
    forest |= {"parameters": {"n_estimators": 10}}
    settings = {key: SETTINGS[key] for key in ("datasets", "splits", "folds")} | ways
    settings |= {"methods": {"forest": forest}}
    frame = table("audit.code:correcting", settings, clouds(400), range(2))
    errors = {way: np.mean(values(frame, metric="error", setting=way)) for way in ways["ways"]}
    assert min(errors["prune"], errors["forward"]) < errors["plain"] - 5
    alone = settings | {"ways": ["plain"]}
    other_table = table("audit.code:correcting", alone, clouds(400), range(2))
    of_other_range = values(other_table, metric="error")
    np.testing.assert_array_equal(of_other_range, values(frame, metric="error", setting="plain"))
