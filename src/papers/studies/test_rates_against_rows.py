"""Distributions are as described, samples are nested, and errors are those of the rates."""

import numpy as np
import pytest
from running import table, values

from reproduction.spec.settings import Noise
from studies.rates_against_rows import ESTIMATES, LAWS, draw, measure

SETTINGS = {
    "laws": ["twonorm"],
    "rows": [200, 2000],
    "noise": ["class_conditional 0.3 0.1"],
    "folds": 2,
    "methods": {
        "rlr": {"method": "robust_logistic", "parameters": {"lam": 0.5}},
        "logistic": {"method": "sklearn.linear_model:LogisticRegression"},
    },
}


@pytest.mark.parametrize("law", LAWS)
def test_half_of_the_rows_are_of_each_class_in_random_order(law):
    X, y = draw(law, 1001, np.random.default_rng(0))
    assert len(X) == len(y) == 1001
    assert y.sum() == 500
    assert abs(y[:500].mean() - 0.5) < 0.1


def test_twonorm_is_split_by_the_sum_of_its_columns():
    X, y = draw("twonorm", 20_000, np.random.default_rng(0))
    wrong = ((X.sum(axis=1) > 0) != (y > 0)).mean()
    assert wrong == pytest.approx(0.0228, abs=0.004)  # Phi(-2)


def test_errors_are_those_of_both_rates():
    noise = Noise.parse("class_conditional 0.3 0.1")  # rates of class 1 and of class 0
    measured = measure(np.array([[0.9, 0.1], [0.3, 0.7]]), noise)
    assert measured["absolute_error"] == pytest.approx(0.0)
    measured = measure(np.array([[0.7, 0.3], [0.1, 0.9]]), noise)
    assert measured["absolute_error"] == pytest.approx(0.2)


def test_more_rows_bring_the_flip_rates_of_a_right_model_closer():
    frame = table("studies.rates_against_rows:against_rows", SETTINGS, None, range(3))
    selected = {"method": "rlr", "setting": "own", "metric": "absolute_error"}
    assert values(frame, x=2000, **selected).mean() < values(frame, x=200, **selected).mean()
    assert set(frame["setting"]) == set(ESTIMATES)
    assert set(frame[frame["method"] == "logistic"]["setting"]) == set(ESTIMATES[2:])
