"""Protocols that resample a pool say which points they tested, and which of them were wrong."""

import numpy as np
import pytest
from problems import SETTINGS, dataset

from noisylabels.seeding import Seeds
from reproduction.protocols.boosting import calibration, curves, errors
from reproduction.protocols.kernels import errors as kernel_errors
from reproduction.protocols.robust_sgd import errors as robust_sgd
from reproduction.verdicts.per_point_errors import KEY, Points

BOOSTERS = {
    "ada": {"method": "adaboost", "parameters": {"rounds": 4}},
    "learns": {"method": "rboost", "parameters": {"rounds": 4}},
}
BOOSTING = SETTINGS | {"methods": BOOSTERS, "trusted": [0, 20]}
KERNELS = SETTINGS | {"methods": {"svm": SETTINGS["methods"]["svm"]}}
LINEAR = SETTINGS | {
    "epochs": 2, "folds": 2, "rule": "one_se", "lambdas": [1e-3], "multipliers": [1.0], "cv_rows": 100,
    "rows": 0, "stand_in_rows": 0, "resample_noise": False, "official": [],
    "noise": ["symmetric 0.2"], "objectives": [], "families": {},
    "methods": {
        "hinge": {"method": "robust_sgd", "losses": [{"loss": "hinge"}]}, "svm": {"method": "liblinear"},
    },
}  # fmt: skip


def run(protocol, settings, repetitions=range(3)):
    data, seeds = {"toy": dataset(splits=3)}, Seeds(1, "test")
    tuned = protocol.tune(settings, data, seeds) if hasattr(protocol, "tune") else {}
    return protocol.run(settings, data, seeds, repetitions, tuned)


@pytest.mark.parametrize(
    ("protocol", "settings", "metric"),
    [
        (kernel_errors, KERNELS, "error"),
        (errors, BOOSTING, "error"),
        (calibration, BOOSTING, "error"),
        (curves, BOOSTING, "test_error"),
        (robust_sgd, LINEAR, "error"),
    ],
)
def test_the_points_of_a_row_have_its_error(protocol, settings, metric):
    rows = run(protocol, settings)
    scored = [row for row in rows if KEY in row]
    assert {row["metric"] for row in scored} == {metric}
    ends = {(row["method"], row["noise"], row["repetition"], row.get("x")) for row in scored}
    assert len(ends) == len(scored)
    assert {end[:3] for end in ends} == {
        (row["method"], row["noise"], row["repetition"]) for row in rows if row["metric"] == metric
    }
    for row in scored:
        assert row["value"] == 100 * np.mean(row[KEY].wrong)
        assert len(row[KEY].rows) == len(row[KEY].wrong)


def test_points_are_the_test_rows_of_the_splits():
    points, toy = Points(), dataset(splits=3)
    points.take(run(kernel_errors, KERNELS))
    assert len(points.curves) == 3  # noise levels of one method
    for curve in points.curves.values():
        tests = np.bincount(toy.arrays["test"].ravel(), minlength=120)
        np.testing.assert_array_equal(curve.tests, tests[: len(curve.tests)])
        assert tests[len(curve.tests) :].sum() == 0
        assert (curve.errors <= curve.tests).all()
        assert curve.pool == 120


def test_the_mean_over_equal_splits_is_that_over_the_points():
    points = Points()
    rows = points.take(run(errors, BOOSTING))
    for curve, (method, noise) in zip(
        points.curves.values(), [(m, n) for n in BOOSTING["noise"] for m in BOOSTERS], strict=True
    ):
        found = [
            r["value"] for r in rows if (r["method"], r["noise"], r["metric"]) == (method, noise, "error")
        ]
        assert np.mean(found) == pytest.approx(100 * curve.errors.sum() / curve.tests.sum())
