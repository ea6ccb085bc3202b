"""Whatever a filter predicts, one of two targets gives it the ratio of the slide."""

import numpy as np
import pytest
from running import table, values

from noisylabels.filters import theory
from pnorm.every_filter import RANDOM, SILENT, larger_ratio

SETTINGS = {
    "n": 3,
    "rounds": [1, 20],
    "methods": {
        "lms": {"method": "lms", "parameters": {"mu": 1}},
        "fast": {"method": "lms", "parameters": {"mu": 1.5}},
        "eg": {"method": "eg"},
    },
}


@pytest.mark.parametrize("seed", range(20))
def test_any_predictions_lose_at_least_the_bound(seed):
    T = 7
    X, y, u = theory.silent(3, T, 1.0, 2.0)
    predictions = np.random.default_rng(seed).standard_normal(T)
    assert larger_ratio(X, y, u, predictions) >= T / (T + 1)
    assert larger_ratio(X, y, u, 0 * predictions) == pytest.approx(T / (T + 1))


def test_the_step_of_the_theorem_stays_at_one_and_a_larger_one_does_not():
    frame = table("pnorm.every_filter:every_filter", SETTINGS, None, range(5))
    at_one = values(frame, setting=RANDOM, metric="ratio", method="lms")
    assert at_one.max() <= 1 + 1e-9
    assert values(frame, setting=RANDOM, metric="ratio", method="fast").max() > 1.01
    assert values(frame, setting=SILENT, metric="distance").min() >= -1e-9
