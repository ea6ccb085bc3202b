"""Shapes flip equal numbers of labels where they say, and the audit's numbers are right."""

import numpy as np
import pytest
from running import table, two_classes, values

from studies.instance_noise import choose_flips, measure_audit

LOGISTIC = {"method": "sklearn.linear_model:LogisticRegression"}
SETTINGS = {
    "datasets": ["toy"],
    "shapes": ["near", "random", "far"],
    "rates": [0.1, 0.3],
    "strength": 4,
    "methods": {"logistic": LOGISTIC},
}
AUDIT = SETTINGS | {"folds": 3, "reviewed": 40}
TOY = two_classes(n=400, train=200)


def test_all_shapes_flip_as_many_labels_in_different_places():
    distance = np.random.default_rng(0).random(1000)
    means = {}
    for shape in ("near", "random", "far"):
        chosen = choose_flips(distance, shape, 0.2, 4.0, np.random.default_rng(1))
        assert len(set(chosen.tolist())) == 200
        means[shape] = distance[chosen].mean()
    assert means["near"] < 0.35 < means["random"] < 0.65 < means["far"]


def test_the_weights_are_those_of_the_strength():
    """Draw one row of two: the farther one with odds e^s."""
    rng = np.random.default_rng(0)
    distance = np.array([0.2, 0.9])
    chosen = []
    for _ in range(4000):
        (row,) = choose_flips(distance, "far", 0.5, 2.0, rng)
        chosen.append(row)
    odds = np.exp(2)
    assert np.mean(chosen) == pytest.approx(odds / (1 + odds), abs=0.02)


def test_rows_at_one_distance_are_equally_likely():
    rng = np.random.default_rng(0)
    distance = np.array([0.5, 0.5, 0.5, 0.9])
    counts = np.zeros(4)
    for _ in range(4000):
        chosen = choose_flips(distance, "far", 0.25, 4.0, rng)
        counts[chosen] += 1
    at_one_distance = counts[:3]
    np.testing.assert_allclose(at_one_distance, at_one_distance.mean(), rtol=0.25)


def test_more_flips_contain_fewer():
    distance = np.random.default_rng(0).random(50)
    flips_of_10 = choose_flips(distance, "near", 0.1, 4.0, np.random.default_rng(5))
    flips_of_30 = choose_flips(distance, "near", 0.3, 4.0, np.random.default_rng(5))
    assert set(flips_of_10) < set(flips_of_30)


def test_flips_far_from_the_boundary_do_the_most_harm():
    frame = table("studies.instance_noise:errors", SETTINGS, TOY, range(2))
    far = values(frame, noise="far 0.3").mean()
    assert far > values(frame, noise="random 0.3").mean()
    assert far > values(frame, noise="near 0.3").mean()


def test_the_audit_has_every_metric_for_every_noise():
    frame = table("studies.instance_noise:audit", AUDIT, TOY, range(2))
    assert len(frame) == 7 * 6 * 2
    assert set(values(frame, metric="covers")) <= {0.0, 1.0}
    assert frame.equals(table("studies.instance_noise:audit", AUDIT, TOY, range(2)))


def test_labels_that_a_perfect_model_doubts_are_ranked_perfectly():
    true = np.repeat([0, 1], 50)
    observed = true.copy()
    observed[[3, 60]] = 1 - observed[[3, 60]]
    is_true_class = true[:, None] == [0, 1]
    p = np.where(is_true_class, 0.9, 0.1)
    measured = measure_audit(p, observed, observed != true, np.arange(100))
    for metric in ("average_precision", "precision", "recall", "covers"):
        assert measured[metric] == 1.0
    assert measured["joint_bias"] == pytest.approx(0.0, abs=1e-9)
