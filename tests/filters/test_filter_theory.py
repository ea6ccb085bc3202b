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
    w = vectors(seed, 1, n)[0]
    theta = link(w, q)
    assert np.allclose(link(theta, p), w, rtol=1e-9, atol=1e-12)
    assert math.isclose(norm(theta, p), norm(w, q), rel_tol=1e-12, abs_tol=1e-300)
    assert math.isclose(w @ theta, norm(w, q) ** 2, rel_tol=1e-12, abs_tol=1e-300)
    assert np.allclose(link(3.7 * w, q), 3.7 * theta, rtol=1e-12)
    assert np.array_equal(link(-w, q), -theta)


@quick
@given(seeds, lengths, powers)
def test_link_is_the_gradient_of_the_potential(seed, n, p):
    q = dual(p)
    w = np.random.default_rng(seed).uniform(0.5, 2.0, n)
    h = 1e-6
    slopes = [(potential(w + h * e, q) - potential(w - h * e, q)) / (2 * h) for e in np.eye(n)]
    assert np.allclose(link(w, q), slopes, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("size", [1e25, 1e-25, 1e150, 1e-150])
@pytest.mark.parametrize("p", [2.0, 14.0, 50.0])
def test_link_neither_over_nor_underflows(size, p):
    theta = vectors(3, 1, 20)[0]
    assert np.allclose(link(size * theta, p) / size, link(theta, p), rtol=1e-12)
    assert not link(np.zeros(5), p).any()


@quick
@given(seeds, lengths, powers)
def test_divergence_is_positive_dual_and_obeys_the_three_point_identity(seed, n, p):
    q = dual(p)
    u, v, w = vectors(seed, 3, n)
    scale = float(sum(norm(a, q) ** 2 for a in (u, v, w))) + 1e-300
    assert divergence(u, w, q) >= -1e-12 * scale
    assert abs(divergence(w, w, q)) <= 1e-12 * scale
    definition = potential(u, q) - potential(w, q) - link(w, q) @ (u - w)
    assert abs(divergence(u, w, q) - definition) <= 1e-11 * scale
    assert abs(divergence(u, w, q) - divergence(link(w, q), link(u, q), p)) <= 1e-9 * scale
    three = divergence(u, v, q) + divergence(v, w, q) + (link(v, q) - link(w, q)) @ (u - v)
    assert abs(divergence(u, w, q) - three) <= 1e-11 * scale
    between = 0.3 * u + 0.7 * v
    average = 0.3 * divergence(u, w, q) + 0.7 * divergence(v, w, q)
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
    for x, label in zip(X, y, strict=True):
        w = f.w.copy()
        before = f.theta.copy()
        guess = f.run(x[None], [label])[0]
        gain = divergence_dual(u, before, p) - divergence_dual(u, f.theta, p)
        move = divergence_dual(w, f.theta, p)
        assert abs(gain - (eta * (label - guess) * (x @ (u - w)) - move)) <= 1e-10 * scale
        largest = (p - 1) / 2 * eta**2 * (label - guess) ** 2 * norm(x, p) ** 2
        assert move <= largest + 1e-10 * scale
        filtering = eta / 2 * ((u @ x - guess) ** 2 - (label - u @ x) ** 2)
        assert filtering <= gain + 1e-10 * scale
        if alpha < 0.99:
            prediction = eta / 2 * ((label - guess) ** 2 - (label - u @ x) ** 2 / (1 - alpha))
            assert prediction <= gain + 1e-10 * scale


def test_the_lemma_is_an_equality_at_two():
    rng = np.random.default_rng(5)
    x = rng.standard_normal(7)
    theta = rng.standard_normal(7)
    step = 0.3
    move = divergence_dual(theta, theta + step * x, 2.0)
    assert math.isclose(move, 0.5 * step**2 * (x @ x), rel_tol=1e-12)


@quick
@given(seeds, st.integers(2, 12), powers, st.floats(0.01, 50.0))
def test_the_implicit_update_minimises_its_objective(seed, n, p, eta):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((3, n))
    y = rng.standard_normal(3)
    f = ImplicitPNormLMS(eta=eta, p=p).fit(X[:2], y[:2])
    before = f.theta.copy()
    f.partial_fit(X[2:], y[2:])
    x, label = X[2], y[2]
    expected = before + eta * (label - f.w @ x) * x
    assert np.allclose(f.theta, expected, rtol=1e-9, atol=1e-9 * (1 + eta))

    def objective(w: np.ndarray) -> float:
        return float(divergence_dual(w, before, p)) + 0.5 * eta * (label - w @ x) ** 2

    best = objective(f.w)
    for direction in rng.standard_normal((10, n)):
        assert objective(f.w + 1e-3 * direction) >= best - 1e-12 * (1 + abs(best))


@quick
@given(seeds, st.integers(1, 20), powers, st.floats(0.1, 3.0))
def test_radial_scaling_is_the_bregman_projection(seed, n, p, radius):
    q = dual(p)
    theta, u = vectors(seed, 2, n)
    u *= radius * 0.999 / max(float(norm(u, q)), radius)
    near = project(theta, p, radius)
    assert norm(link(near, p), q) <= radius * (1 + 1e-12)
    rounding_error = 1e-10 * (1 + norm(theta, p) ** 2)
    assert divergence_dual(u, near, p) <= divergence_dual(u, theta, p) + rounding_error


# Worst cases: exact for LMS, never above 1 for the p-norm filters


def rows(T=12, n=4, seed=0):
    X = np.random.default_rng(seed).standard_normal((T, n))
    return X, float(norm(X, 2).max())


def test_transfer_matrix_predicts_the_errors_of_lms():
    X, size = rows()
    rng = np.random.default_rng(1)
    u = rng.standard_normal(4)
    noise = rng.standard_normal(12)
    errors = X @ u - LMS(0.07).run(X, X @ u + noise)
    M = theory.transfer_matrix(X, 0.07 * X, size)
    assert np.allclose(M @ np.concatenate([size * u, noise]), errors)


@pytest.mark.parametrize("T", [1, 5, 40])
def test_lms_has_worst_ratio_exactly_1(T):
    X, size = rows(T)
    assert np.isclose(theory.worst_ratio(X, 1 / size**2 * X, size), 1, rtol=1e-12)


def test_other_gains_exceed_1():
    X, size = rows(40)
    for gains in (1.5 / size**2 * X, 0.3 / size**2 * X):
        assert theory.worst_ratio(X, gains, size) > 1.01
    assert theory.worst_ratio(X, theory.rls_gains(X), size) > 1.01


def test_rls_gains_solve_regularised_least_squares():
    X, _ = rows()
    y = np.random.default_rng(2).standard_normal(12)
    w = np.zeros(4)
    for g, x, label in zip(theory.rls_gains(X), X, y, strict=True):
        w += g * (label - w @ x)
    assert np.allclose(w, np.linalg.solve(X.T @ X + np.eye(4), X.T @ y))


def test_worst_target_of_given_data_is_attained_and_not_beaten():
    X, size = rows()
    rng = np.random.default_rng(3)
    y = rng.standard_normal(12)
    yhat = LMS(1.5 / size**2).run(X, y)
    worst, u = theory.worst_target(X, yhat, y, size)
    assert np.isclose(theory.ratio(X, y, u, yhat, 2.0, size), worst, rtol=1e-6)
    for other in rng.standard_normal((50, 4)):
        assert theory.ratio(X, y, other, yhat, 2.0, size) <= worst * (1 + 1e-9)


@pytest.mark.parametrize("p", [2.0, 3.0, 8.0])
@pytest.mark.parametrize("T", [1, 7])
def test_adversaries_reach_their_ratios(p, T):
    for X, y, u in (theory.silent(5, T, 1.7, p), theory.silent(5, 1, 1.7, p, clean=True)):
        assert np.allclose(norm(X, p), 1.7)
        yhat = PNormLMS(rate(p, 1.7), p).run(X, y)
        expected = len(y) / (len(y) + p - 1) if not y.any() else 1 / (p - 1)
        assert np.isclose(theory.ratio(X, y, u, yhat, p, 1.7), expected)


@pytest.mark.parametrize("p", [2.0, 4.0])
def test_gradient_ascent_stays_below_1_and_agrees_with_the_filter(p):
    X, _ = rows(6, 3)
    size = float(norm(X, p).max())
    start = np.random.default_rng(4).standard_normal(9)
    start /= np.linalg.norm(start)
    value, u, y = theory.ascend(X, p, size, start)
    yhat = PNormLMS(rate(p, size), p).run(X, y)
    assert np.isclose(theory.ratio(X, y, u, yhat, p, size), value, rtol=1e-9)
    assert value <= 1 + 1e-9
    assert value > theory.ascend(X, p, size, start, steps=0)[0]
    if p == 2:
        assert value > 0.999
