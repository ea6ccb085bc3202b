"""Comparators against brute force and scikit-learn; regret rows; clean sequences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reproduction.protocols.noisy_online import comparators, sequences
from reproduction.protocols.noisy_online.regret import rows_of, slope


def problem(seed, n=40, d=3):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.standard_normal(n)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), B_w=st.floats(0.001, 100), d=st.integers(1, 6))
def test_no_random_vector_of_the_ball_beats_the_linear_comparator(seed, B_w, d):
    X, y = problem(seed, d=d)
    best = comparators.linear(X, y, B_w)
    assert best.coefficients @ best.coefficients <= B_w * (1 + 1e-9)
    W = np.random.default_rng(seed + 1).standard_normal((500, d))
    W *= np.sqrt(B_w) * np.random.default_rng(2).uniform(0, 1, (500, 1)) / np.linalg.norm(W, axis=1)[:, None]
    near = best.coefficients + 1e-3 * W
    near *= np.minimum(1, np.sqrt(B_w) / np.linalg.norm(near, axis=1))[:, None]
    losses = ((np.vstack([W, near]) @ X.T - y) ** 2).sum(axis=1)
    assert best.loss <= losses.min() * (1 + 1e-10)


def test_a_ball_that_is_large_enough_gives_least_squares_even_for_dependent_columns():
    X, y = problem(0)
    X = np.column_stack([X, X[:, 0] - X[:, 1]])
    best = comparators.linear(X, y, 1e6)
    assert np.isclose(best.loss, ((X @ np.linalg.lstsq(X, y, rcond=None)[0] - y) ** 2).sum())


def test_the_kernel_comparator_on_a_linear_kernel_is_the_linear_one():
    X, y = problem(1)
    K = X @ X.T
    for B_w in (0.01, 0.05, 50.0):
        assert np.isclose(comparators.kernel(K, y, B_w).loss, comparators.linear(X, y, B_w).loss, rtol=1e-8)


def test_the_kernel_comparator_is_kernel_ridge_at_its_multiplier():
    X, y = problem(2)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    gamma = comparators.kernel(K, y, 0.7).coefficients
    assert np.isclose(gamma @ K @ gamma, 0.7)
    multiplier = (y - K @ gamma) / gamma
    assert np.ptp(multiplier) < 1e-6 * multiplier.mean()


@pytest.mark.parametrize("B_w", [0.01, 0.3, 1e4])
def test_projected_gradient_finds_the_linear_comparator(B_w):
    X, y = problem(3)
    best = comparators.smooth(lambda a: (a - y) ** 2, lambda a: 2 * (a - y), X, B_w)
    assert np.isclose(best.loss, comparators.linear(X, y, B_w).loss, rtol=1e-12)


def test_projected_gradient_agrees_with_regularised_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    X, y = problem(4, n=200)
    y = np.sign(y + X[:, 0])
    model = LogisticRegression(C=0.05, fit_intercept=False, tol=1e-12, max_iter=10_000).fit(X, y)
    w = model.coef_[0]
    best = comparators.smooth(
        lambda a: np.logaddexp(0, -y * a), lambda a: -y / (1 + np.exp(y * a)), X, float(w @ w)
    )
    assert np.allclose(best.coefficients, w, atol=1e-5)


def test_a_search_that_has_not_arrived_is_no_comparator():
    X, y = problem(5)
    with pytest.raises(RuntimeError, match="regret cannot be reported"):
        comparators.smooth(lambda a: (a - y) ** 2, lambda a: 2 * (a - y), X, 1.0, most_steps=2)


def test_regret_rows_have_the_exponent_of_a_power_law():
    rows = rows_of(
        {"method": "m", "repetition": 0}, {T: 3 * T**0.5 for T in (4, 16, 64)}, {4: 8, 16: 9, 64: 30}
    )
    found = {(r["metric"], r.get("x")): r["value"] for r in rows}
    assert found["exponent", 3] == pytest.approx(0.5)
    assert found["bound_ratio", 64] == pytest.approx(0.8)
    assert found["regret_per_round", 4] == pytest.approx(1.5)


def test_a_regret_below_zero_has_no_exponent_and_its_logarithm_is_refused():
    assert not [r for r in rows_of({}, {1: 1.0, 2: -1.0, 4: 2.0}) if r["metric"] == "exponent"]
    with pytest.raises(ValueError, match="positive"):
        slope([1, 2], [1.0, -1.0])


def test_the_diabetes_data_have_the_norms_that_the_plan_states():
    X, y = sequences.diabetes()
    assert X.shape == (442, 10)
    base = sequences.real(X, y, 5, "norm")
    assert np.isclose((base.X**2).sum(axis=1).max(), 1)
    assert np.isclose((base.X**2).sum(axis=1).mean(), 0.181, atol=5e-4)
    assert np.abs(base.y).max() == 1
    assert np.isclose(sequences.real(X, y, 3, 0.5).X.std(), 0.5)


def test_the_diabetes_data_are_those_of_scikit_learn():
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True, scaled=False)
    assert np.array_equal(sequences.diabetes()[0], X)
    assert np.array_equal(sequences.diabetes()[1], y)


def test_passes_repeat_the_base_set_in_new_orders():
    base = sequences.Clean(np.arange(8.0)[:, None], np.arange(8.0))
    y = sequences.base_set(base, "made up").draw(24, np.random.default_rng(0)).y
    assert np.array_equal(np.sort(y.reshape(3, 8), axis=1), np.tile(base.y, (3, 1)))
    assert not np.array_equal(y[:8], y[8:16])


def test_instances_on_the_sphere_have_the_moments_and_sizes_that_the_task_says():
    w = sequences.target([0.6, -0.5, 0.4], 0.9)
    assert np.isclose(np.linalg.norm(w), 0.9)
    task = sequences.sphere(w, 0.1)
    X, y = task.draw(20_000, np.random.default_rng(0))
    assert np.allclose((X**2).sum(axis=1), task.x_size**2)
    assert np.abs(y - X @ w).max() <= 0.1
    assert np.abs(y).max() <= task.y_size
    assert np.allclose(X.T @ X / len(y), task.A, atol=0.02)
    assert np.allclose(X.T @ y / len(y), task.b, atol=0.02)


def test_the_excess_of_a_task_is_the_difference_of_mean_losses():
    X, y = problem(6)
    task = sequences.base_set(sequences.Clean(X, y), "made up")
    v, w = np.random.default_rng(0).standard_normal((2, 3))
    assert np.isclose(task.excess(v, w), ((X @ v - y) ** 2).mean() - ((X @ w - y) ** 2).mean())


def test_a_quadratic_that_is_not_convex_is_refused():
    with pytest.raises(ValueError, match="semi-definite"):
        comparators.quadratic(-np.eye(2), np.ones(2), 1.0)
