"""The terms of the bounds by random projections."""

import math

import numpy as np
import pytest

from noisylabels.theory.projections import (
    deviation,
    flip_probability,
    flip_terms,
    margins,
    sub_gaussian_bound,
    sufficient_k,
    uniform_bound,
)


def test_margins_are_cosines_whatever_the_scale():
    rng = np.random.default_rng(0)
    X, h, s = rng.standard_normal((30, 4)), rng.standard_normal(4), rng.choice([-1, 1], 30)
    c = margins(h, X, s)
    np.testing.assert_allclose(c, margins(3 * h, X * rng.uniform(0.1, 9, (30, 1)), s))
    assert c[0] == pytest.approx(s[0] * X[0] @ h / np.linalg.norm(X[0]) / np.linalg.norm(h))


def test_a_zero_row_has_no_angle():
    assert margins([1.0, 0.0], [[0.0, 0.0], [2.0, 0.0]], [1, -1]).tolist() == [-1.0]


def test_the_terms_of_the_uniform_bound():
    c = np.array([0.9, 0.2, -0.5])
    bound = uniform_bound(c, 5, 0.05)
    f = flip_probability(np.arccos(c), 5)
    assert bound.risk == pytest.approx((2 * f[0] + 2 * f[1] + 1) / 3)
    assert bound.complexity == pytest.approx(2 * math.sqrt(2 / math.pi) * math.sqrt(5 / 3))
    assert bound.confidence == pytest.approx(3 * math.sqrt(math.log(40) / 6))
    assert bound.total == bound.risk + bound.complexity + bound.confidence


def test_the_risk_bounds_the_training_error_and_tends_to_it():
    c = np.random.default_rng(1).uniform(-1, 1, 200)
    c = c[np.abs(c) > 0.1]
    risks = [uniform_bound(c, k, 0.1).risk for k in (1, 10, 100, 5000)]
    assert risks == sorted(risks, reverse=True)
    assert risks[0] >= np.mean(c <= 0)
    assert risks[-1] == pytest.approx(np.mean(c <= 0), abs=1e-9)


def test_a_wrong_prediction_has_no_flip_term():
    terms = flip_terms([-0.3, 0.0, 0.4], 3)
    assert (terms[:2] == 0).all()
    assert terms[2] == pytest.approx(float(flip_probability(math.acos(0.4), 3)))


def test_a_small_flip_term_needs_no_margin_of_the_worst_point():
    # the converse of "margin makes the flip term small" is false: one point of a thousand at a right angle
    c = np.r_[np.full(999, 0.95), 1e-9]
    assert flip_terms(c, 20).mean() < 1e-3


def test_the_price_of_a_projection_is_the_smaller_of_two():
    assert deviation(0.0, 0.05) == 0.0
    assert deviation(0.5, 0.05) == math.sqrt(0.5 * math.log(20))
    assert deviation(0.01, 0.05) == pytest.approx(19 * 0.01)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.05), (0.01, 0.2)])
def test_the_sufficient_dimension_suffices_on_separable_data(epsilon, delta):
    rng = np.random.default_rng(3)
    h = np.eye(8)[0]
    X = rng.standard_normal((400, 8))
    X = X[np.abs(X[:, 0]) > 0.25 * np.linalg.norm(X, axis=1)]
    c = margins(h, X, np.sign(X[:, 0]))
    k = sufficient_k(float(c.min()), epsilon, delta)
    assert sub_gaussian_bound(c, k).max() / delta <= epsilon * (1 + 1e-9)
    assert deviation(float(flip_terms(c, k).mean()), delta) < epsilon
    assert sub_gaussian_bound(c, k - 1).max() / delta > epsilon


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: margins([0.0], [[1.0]], [1]), "h is the zero vector"),
        (lambda: margins([1.0], [[0.0]], [1]), "every row of X is zero"),
        (lambda: uniform_bound([], 2, 0.1), "at least one"),
        (lambda: uniform_bound([1.2], 2, 0.1), "numbers in"),
        (lambda: uniform_bound([0.2], 0, 0.1), "k, the dimension"),
        (lambda: uniform_bound([0.2], 2, 1.0), "delta must lie in"),
        (lambda: deviation(0.1, 0.0), "delta must lie in"),
        (lambda: sufficient_k(0.0, 0.1, 0.1), "margin, the smallest cosine"),
        (lambda: sufficient_k(0.5, 2.0, 0.1), "epsilon must lie in"),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
