"""The points are those of Long and Servedio, and exact errors agree with errors of many points."""

import numpy as np
import pytest
from running import table, values

from kernel_boost.linear_against_rows import BAYES, CENTRE, DIMENSIONS, true_error
from kernel_boost.long_servedio import draw_points

POINTS = {
    "train": 400,
    "test": 400,
    "noise": ["independent 0", "independent 0.3"],
    "methods": {"GentleBoost": {"method": "gentle_boost", "parameters": {"splits": 1}}},
}
LINEAR = {
    "rows": [200, 6400],
    "noise": ["independent 0.3", "negative_only 0.3"],
    "methods": {"logistic": {"method": "sklearn.linear_model:LogisticRegression"}},
}


def test_the_sum_of_the_features_separates_the_points():
    X, y = draw_points(3000, np.random.default_rng(0))
    margin = X.sum(axis=1) * (2 * y - 1)
    assert set(np.unique(margin)) == {1.0, 21.0}
    assert np.mean(margin == 21) == pytest.approx(0.25, abs=0.03)


def test_points_of_the_three_kinds_have_the_published_shares():
    X, y = draw_points(8000, np.random.default_rng(1))
    signs = 2.0 * y - 1.0
    agrees = X * signs[:, np.newaxis] > 0
    of_first_11 = agrees[:, :11].sum(axis=1)
    of_other_10 = agrees[:, 11:].sum(axis=1)
    shares = {(11, 10): 0.25, (11, 0): 0.25, (5, 6): 0.5}
    for (count_of_first, count_of_others), share in shares.items():
        is_of_kind = (of_first_11 == count_of_first) & (of_other_10 == count_of_others)
        assert is_of_kind.mean() == pytest.approx(share, abs=0.02)


def test_flips_cost_stumps_more_than_chance():
    frame = table("kernel_boost.long_servedio:boosters_on_points", POINTS, None, range(2))
    clean = values(frame, noise="independent 0")
    assert clean.max() < 15
    harm = values(frame, noise="independent 0.3") - clean
    assert harm.min() > 5


@pytest.mark.parametrize("bias", [0.0, 0.7])
def test_the_exact_error_is_that_of_many_points(bias):
    rng = np.random.default_rng(2)
    is_positive = rng.random(200_000) < 0.5
    y = np.where(is_positive, 1.0, -1.0)
    X = rng.standard_normal((len(y), DIMENSIONS)) + CENTRE * y[:, np.newaxis]
    w = np.linspace(0.5, 1.5, DIMENSIONS)
    scores = X @ w + bias
    is_wrong = (scores > 0) != is_positive
    assert true_error(w, bias) == pytest.approx(is_wrong.mean(), abs=0.002)
    assert true_error(w, bias) > BAYES


def test_equal_weights_have_the_lowest_error():
    assert true_error(np.ones(DIMENSIONS), 0.0) == pytest.approx(BAYES)


def test_more_rows_lower_the_excess_under_symmetric_flips():
    frame = table("kernel_boost.linear_against_rows:linear_against_rows", LINEAR, None, range(3))
    at_200_rows = values(frame, x=200, noise="independent 0.3").mean()
    at_6400_rows = values(frame, x=6400, noise="independent 0.3").mean()
    assert 0 < at_6400_rows < at_200_rows / 3
