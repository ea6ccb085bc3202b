"""Worst cases: exact for LMS, never above 1 for the p-norm filters."""

import numpy as np
import pytest

from noisylabels.filters.lms import LMS
from noisylabels.filters.pnorm import PNormLMS
from noisylabels.theory import hinfinity
from noisylabels.theory.pnorm import norm, rate


def rows(T=12, n=4, seed=0):
    X = np.random.default_rng(seed).standard_normal((T, n))
    return X, float(norm(X, 2).max())


def test_transfer_matrix_predicts_the_errors_of_lms():
    X, size = rows()
    rng = np.random.default_rng(1)
    u, noise = rng.standard_normal(4), rng.standard_normal(12)
    errors = X @ u - LMS(0.07).run(X, X @ u + noise)
    M = hinfinity.transfer_matrix(X, 0.07 * X, size)
    assert np.allclose(M @ np.concatenate([size * u, noise]), errors)


@pytest.mark.parametrize("T", [1, 5, 40])
def test_lms_has_worst_ratio_exactly_1(T):
    X, size = rows(T)
    assert np.isclose(hinfinity.worst_ratio(X, 1 / size**2 * X, size), 1, rtol=1e-12)


def test_other_gains_exceed_1():
    X, size = rows(40)
    for gains in (1.5 / size**2 * X, 0.3 / size**2 * X):
        assert hinfinity.worst_ratio(X, gains, size) > 1.01
    assert hinfinity.worst_ratio(X, hinfinity.rls_gains(X), size) > 1.01


def test_rls_gains_solve_regularised_least_squares():
    X, _ = rows()
    y = np.random.default_rng(2).standard_normal(12)
    w = np.zeros(4)
    for g, x, label in zip(hinfinity.rls_gains(X), X, y, strict=True):
        w += g * (label - w @ x)
    assert np.allclose(w, np.linalg.solve(X.T @ X + np.eye(4), X.T @ y))


def test_worst_target_of_given_data_is_attained_and_not_beaten():
    X, size = rows()
    rng = np.random.default_rng(3)
    y = rng.standard_normal(12)
    yhat = LMS(1.5 / size**2).run(X, y)
    worst, u = hinfinity.worst_target(X, yhat, y, size)
    assert np.isclose(hinfinity.ratio(X, y, u, yhat, 2.0, size), worst, rtol=1e-6)
    for other in rng.standard_normal((50, 4)):
        assert hinfinity.ratio(X, y, other, yhat, 2.0, size) <= worst * (1 + 1e-9)


@pytest.mark.parametrize("p", [2.0, 3.0, 8.0])
@pytest.mark.parametrize("T", [1, 7])
def test_adversaries_reach_their_ratios(p, T):
    for X, y, u in (hinfinity.silent(5, T, 1.7, p), hinfinity.silent(5, 1, 1.7, p, clean=True)):
        assert np.allclose(norm(X, p), 1.7)
        yhat = PNormLMS(rate(p, 1.7), p).run(X, y)
        expected = len(y) / (len(y) + p - 1) if not y.any() else 1 / (p - 1)
        assert np.isclose(hinfinity.ratio(X, y, u, yhat, p, 1.7), expected)


@pytest.mark.parametrize("p", [2.0, 4.0])
def test_gradient_ascent_stays_below_1_and_agrees_with_the_filter(p):
    X, _ = rows(6, 3)
    size = float(norm(X, p).max())
    start = np.random.default_rng(4).standard_normal(9)
    start /= np.linalg.norm(start)
    value, u, y = hinfinity.ascend(X, p, size, start)
    yhat = PNormLMS(rate(p, size), p).run(X, y)
    assert np.isclose(hinfinity.ratio(X, y, u, yhat, p, size), value, rtol=1e-9)
    assert value <= 1 + 1e-9
    assert value > hinfinity.ascend(X, p, size, start, steps=0)[0]
    if p == 2:
        assert value > 0.999
