"""Identities and inequalities of the p-norm algorithms on random vectors; worst cases."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noisylabels.filters import theory
from noisylabels.filters.lms import LMS
from noisylabels.filters.pnorm import ImplicitPNormLMS, PNormLMS
from noisylabels.filters.theory import (
    divergence,
    divergence_dual,
    dual,
    link,
    norm,
    potential,
    project,
    rate,
)

powers = st.floats(2.0, 14.0)
seeds = st.integers(0, 2**32 - 1)
lengths = st.integers(1, 30)
quick = settings(max_examples=40, deadline=None)


def vectors(seed: int, count: int, n: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    directions = rng.standard_normal((count, n))
    scales = rng.choice([0.0, 1.0, 5.0], (count, n), p=[0.1, 0.6, 0.3])
    return directions * scales


@quick
@given(seeds, lengths, powers)
def test_link_inverts_its_dual_and_keeps_norms(seed, n, p):
    q = dual(p)
    (w,) = vectors(seed, 1, n)
    theta = link(w, q)
    size = norm(w, q)
    assert np.allclose(link(theta, p), w, rtol=1e-9, atol=1e-12)
    assert math.isclose(norm(theta, p), size, rel_tol=1e-12, abs_tol=1e-300)
    assert math.isclose(w @ theta, size**2, rel_tol=1e-12, abs_tol=1e-300)
    assert np.allclose(link(3.7 * w, q), 3.7 * theta, rtol=1e-12)
    assert np.array_equal(link(-w, q), -theta)


@quick
@given(seeds, lengths, powers)
def test_link_is_the_gradient_of_the_potential(seed, n, p):
    q = dual(p)
    w = np.random.default_rng(seed).uniform(0.5, 2.0, n)
    h = 1e-6
    slopes = []
    for direction in np.eye(n):
        forwards = potential(w + h * direction, q)
        backwards = potential(w - h * direction, q)
        slopes.append((forwards - backwards) / (2 * h))
    assert np.allclose(link(w, q), slopes, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("size", [1e25, 1e-25, 1e150, 1e-150])
@pytest.mark.parametrize("p", [2.0, 14.0, 50.0])
def test_link_neither_over_nor_underflows(size, p):
    theta = vectors(3, 1, 20)[0]
    scaled_back = link(size * theta, p) / size
    assert np.allclose(scaled_back, link(theta, p), rtol=1e-12)
    assert not link(np.zeros(5), p).any()


@quick
@given(seeds, lengths, powers)
def test_divergence_is_positive_dual_and_obeys_the_three_point_identity(seed, n, p):
    q = dual(p)
    u, v, w = vectors(seed, 3, n)
    squared_norms = [norm(vector, q) ** 2 for vector in (u, v, w)]
    scale = float(sum(squared_norms)) + 1e-300
    u_to_w = divergence(u, w, q)
    v_to_w = divergence(v, w, q)
    assert u_to_w >= -1e-12 * scale
    assert abs(divergence(w, w, q)) <= 1e-12 * scale
    gradient_at_w = link(w, q)
    definition = potential(u, q) - potential(w, q) - gradient_at_w @ (u - w)
    assert abs(u_to_w - definition) <= 1e-11 * scale
    dual_divergence = divergence(gradient_at_w, link(u, q), p)
    assert abs(u_to_w - dual_divergence) <= 1e-9 * scale
    change_of_gradient = link(v, q) - gradient_at_w
    three_points = divergence(u, v, q) + v_to_w + change_of_gradient @ (u - v)
    assert abs(u_to_w - three_points) <= 1e-11 * scale
    between = 0.3 * u + 0.7 * v
    average = 0.3 * u_to_w + 0.7 * v_to_w
    assert divergence(between, w, q) <= average + 1e-12 * scale


@quick
@given(seeds, lengths, powers, st.floats(0.1, 1.0))
def test_every_single_step_makes_the_progress_of_the_theorem(seed, n, p, alpha):
    """Progress identity, lemma, and the per-step inequalities for filtering and for prediction."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((25, n))
    u = rng.standard_normal(n)
    y = X @ u + rng.standard_normal(25)
    eta = rate(p, norm(X, p).max(), alpha)
    f = PNormLMS(eta=eta, p=p)
    f._start(n)
    scale = float(norm(u, dual(p)) ** 2) + 1.0
    rounding_error = 1e-10 * scale
    for x, label in zip(X, y, strict=True):
        w = f.w.copy()
        before = f.theta.copy()
        (guess,) = f.run(x[None], [label])
        error = label - guess
        clean = u @ x
        noise = label - clean
        gain = divergence_dual(u, before, p) - divergence_dual(u, f.theta, p)
        move = divergence_dual(w, f.theta, p)
        identity = eta * error * (clean - w @ x) - move
        assert abs(gain - identity) <= rounding_error
        step = eta * error * norm(x, p)
        largest_move = (p - 1) / 2 * step**2
        assert move <= largest_move + rounding_error
        filtering = eta / 2 * ((clean - guess) ** 2 - noise**2)
        assert filtering <= gain + rounding_error
        if alpha < 0.99:
            prediction = eta / 2 * (error**2 - noise**2 / (1 - alpha))
            assert prediction <= gain + rounding_error


def test_the_lemma_is_an_equality_at_two():
    rng = np.random.default_rng(5)
    x = rng.standard_normal(7)
    theta = rng.standard_normal(7)
    step = 0.3 * x
    move = divergence_dual(theta, theta + step, 2.0)
    assert math.isclose(move, 0.5 * (step @ step), rel_tol=1e-12)


@quick
@given(seeds, st.integers(2, 12), powers, st.floats(0.01, 50.0))
def test_the_implicit_update_minimises_its_objective(seed, n, p, eta):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((3, n))
    y = rng.standard_normal(3)
    f = ImplicitPNormLMS(eta=eta, p=p)
    f.fit(X[:2], y[:2])
    before = f.theta.copy()
    f.partial_fit(X[2:], y[2:])
    x = X[2]
    label = y[2]
    error = label - f.w @ x
    expected = before + eta * error * x
    assert np.allclose(f.theta, expected, rtol=1e-9, atol=1e-9 * (1 + eta))

    def objective(w: np.ndarray) -> float:
        distance = float(divergence_dual(w, before, p))
        squared_error = (label - w @ x) ** 2
        return distance + 0.5 * eta * squared_error

    best = objective(f.w)
    rounding_error = 1e-12 * (1 + abs(best))
    for direction in rng.standard_normal((10, n)):
        moved = objective(f.w + 1e-3 * direction)
        assert moved >= best - rounding_error


@quick
@given(seeds, st.integers(1, 20), powers, st.floats(0.1, 3.0))
def test_radial_scaling_is_the_bregman_projection(seed, n, p, radius):
    q = dual(p)
    theta, u = vectors(seed, 2, n)
    size = float(norm(u, q))
    u *= radius * 0.999 / max(size, radius)
    projected = project(theta, p, radius)
    assert norm(link(projected, p), q) <= radius * (1 + 1e-12)
    rounding_error = 1e-10 * (1 + norm(theta, p) ** 2)
    before = divergence_dual(u, theta, p)
    assert divergence_dual(u, projected, p) <= before + rounding_error


# Worst cases: exact for LMS, never above 1 for the p-norm filters


def rows(T=12, n=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((T, n))
    return X, float(norm(X, 2).max())


def test_transfer_matrix_predicts_the_errors_of_lms():
    X, size = rows()
    rng = np.random.default_rng(1)
    u = rng.standard_normal(4)
    noise = rng.standard_normal(12)
    clean = X @ u
    prediction = LMS(0.07).run(X, clean + noise)
    M = theory.transfer_matrix(X, 0.07 * X, size)
    disturbances = np.concatenate([size * u, noise])
    assert np.allclose(M @ disturbances, clean - prediction)


@pytest.mark.parametrize("T", [1, 5, 40])
def test_lms_has_worst_ratio_exactly_1(T):
    X, size = rows(T)
    gains = 1 / size**2 * X
    worst_ratio = theory.worst_ratio(X, gains, size)
    assert np.isclose(worst_ratio, 1, rtol=1e-12)


def test_other_gains_exceed_1():
    X, size = rows(40)
    too_large = 1.5 / size**2 * X
    too_small = 0.3 / size**2 * X
    for gains in (too_large, too_small, theory.rls_gains(X)):
        assert theory.worst_ratio(X, gains, size) > 1.01


def test_rls_gains_solve_regularised_least_squares():
    X, _ = rows()
    y = np.random.default_rng(2).standard_normal(12)
    w = np.zeros(4)
    for gain, x, label in zip(theory.rls_gains(X), X, y, strict=True):
        w += gain * (label - w @ x)
    wanted = np.linalg.solve(X.T @ X + np.eye(4), X.T @ y)
    assert np.allclose(w, wanted)


def test_worst_target_of_given_data_is_attained_and_not_beaten():
    X, size = rows()
    rng = np.random.default_rng(3)
    y = rng.standard_normal(12)
    yhat = LMS(1.5 / size**2).run(X, y)
    worst, u = theory.worst_target(X, yhat, y, size)
    attained = theory.ratio(X, y, u, yhat, 2.0, size)
    assert np.isclose(attained, worst, rtol=1e-6)
    for target in rng.standard_normal((50, 4)):
        ratio = theory.ratio(X, y, target, yhat, 2.0, size)
        assert ratio <= worst * (1 + 1e-9)


@pytest.mark.parametrize("p", [2.0, 3.0, 8.0])
@pytest.mark.parametrize("T", [1, 7])
def test_adversaries_reach_their_ratios(p, T):
    noisy = theory.silent(5, T, 1.7, p)
    clean = theory.silent(5, 1, 1.7, p, clean=True)
    for X, y, u in (noisy, clean):
        assert np.allclose(norm(X, p), 1.7)
        yhat = PNormLMS(rate(p, 1.7), p).run(X, y)
        ratio = theory.ratio(X, y, u, yhat, p, 1.7)
        if y.any():
            assert np.isclose(ratio, 1 / (p - 1))
        else:
            assert np.isclose(ratio, len(y) / (len(y) + p - 1))


@pytest.mark.parametrize("p", [2.0, 4.0])
def test_gradient_ascent_stays_below_1_and_agrees_with_the_filter(p):
    X, _ = rows(6, 3)
    size = float(norm(X, p).max())
    start = np.random.default_rng(4).standard_normal(9)
    start /= np.linalg.norm(start)
    value, u, y = theory.ascend(X, p, size, start)
    yhat = PNormLMS(rate(p, size), p).run(X, y)
    ratio = theory.ratio(X, y, u, yhat, p, size)
    assert np.isclose(ratio, value, rtol=1e-9)
    assert value <= 1 + 1e-9
    value_at_start, *_ = theory.ascend(X, p, size, start, steps=0)
    assert value > value_at_start
    if p == 2:
        assert value > 0.999
