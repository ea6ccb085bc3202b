"""Compiled sums and products: NumPy's values in an order that the source fixes; one BLAS thread."""

import math
import threading
from fractions import Fraction

import numpy as np
import pytest
from numba import njit
from numpy.testing import assert_allclose
from threadpoolctl import threadpool_info, threadpool_limits

from noisylabels.blas_threads import SMALL, single_threaded_if_small
from noisylabels.classifiers.kernel_logistic import KernelLogisticRegression
from noisylabels.fixed_order import exp_and_log, lanes, linear_algebra

fused = njit(lambda a, b, c: lanes.fma(a, b, c))
total = njit(lambda a, i, n: lanes.sum_lanes(a, i, n))
inner = njit(lambda a, i, b, j, n: lanes.dot_lanes(a, i, b, j, n))


def test_fma_is_rounded_once():
    for a, b, c in np.random.default_rng(0).standard_normal((50, 3)):
        assert fused(a, b, c) == float(Fraction(a) * Fraction(b) + Fraction(c))
    tiny = 2.0**-30
    assert fused(1 + tiny, 1 - tiny, -1.0) == -(tiny**2)  # a product that is rounded first gives 0


def ordered_sum(terms):
    """32 partial sums, then 8, folded in halves, then one by one, in plain Python."""
    wide = len(terms) // 32 * 32
    whole = len(terms) // 8 * 8
    sums = np.zeros((4, 8))
    for k in range(whole):
        sums[k // 8 % 4 if k < wide else 0, k % 8] += terms[k]
    lanes = (sums[0] + sums[1]) + (sums[2] + sums[3])
    while len(lanes) > 1:
        lanes = lanes[::2] + lanes[1::2]
    result = lanes[0]
    for term in terms[whole:]:
        result += term
    return result


@pytest.mark.parametrize("n", [0, 1, 7, 8, 31, 32, 33, 64, 100, 129])
def test_sums_have_the_order_that_is_written_down(n):
    a = np.random.default_rng(n).standard_normal(n + 3)
    assert total(a, 3, n) == ordered_sum(list(a[3:]))
    padded = np.ones(n + 3)
    assert inner(a, 3, padded, 0, n) == ordered_sum(list(a[3:]))  # a product with 1 is exact
    assert inner(a, 3, a, 3, n) == pytest.approx(math.fsum(a[3:] ** 2), rel=1e-14)


@pytest.mark.parametrize("n", [1, 5, 16, 100])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_equal_those_of_numpy(n, dtype):
    rng = np.random.default_rng(n)
    A = rng.standard_normal((7, n)).astype(dtype)
    x = rng.standard_normal(n)
    c = rng.standard_normal(7)
    assert_allclose(linear_algebra.times(A, x), A.astype(float) @ x, atol=1e-13)
    assert_allclose(linear_algebra.combined(c, A), c @ A.astype(float), atol=1e-13)


@pytest.mark.parametrize("r", [1, 3, 4, 9])
def test_normal_equations_equal_those_of_numpy(r):
    rng = np.random.default_rng(r)
    ZT = rng.standard_normal((r, 45))
    slope = rng.standard_normal(45)
    curvature = rng.random(45)
    hessian = np.zeros((r, r))
    gradient = np.empty(r)
    f = np.empty(45)
    linear_algebra.normal_equations(ZT, slope, curvature, hessian, gradient)
    assert_allclose(hessian, np.tril((ZT * curvature) @ ZT.T), atol=1e-13)
    assert_allclose(gradient, ZT @ slope, atol=1e-13)
    theta = rng.standard_normal(r)
    linear_algebra.scores(ZT, theta, f)
    assert_allclose(f, theta @ ZT, atol=1e-13)


def test_compiled_exp_and_log_have_all_digits():
    x = -np.concatenate([np.linspace(0, 1, 500), np.linspace(1, 700, 500)])
    results = np.array([exp_and_log.exp_of_negative(value) for value in x])
    assert_allclose(results, np.exp(x), rtol=1e-15)
    logs = np.array([exp_and_log.log_of_positive(value) for value in results])
    assert_allclose(logs, np.log(results), rtol=2e-15, atol=1e-16)
    assert exp_and_log.exp_of_negative(0.0) == 1.0
    assert exp_and_log.log_of_positive(1.0) == 0.0


def blas():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@single_threaded_if_small
def threads_used(rows):
    return blas()


@pytest.mark.parametrize(("rows", "expected"), [(SMALL - 1, 1), (SMALL, 2)])
def test_only_small_problems_are_given_one_thread(rows, expected):
    with threadpool_limits(2, user_api="blas"):
        assert set(threads_used(np.zeros(rows))) == {expected}
        with pytest.raises(TypeError):
            threads_used(np.zeros(rows), "an error")
        assert set(blas()) == {2}


def test_calls_that_overlap_leave_no_limit_behind():
    inside = threading.Event()
    go = threading.Event()

    @single_threaded_if_small
    def waits(rows):
        inside.set()
        assert go.wait(30)

    with threadpool_limits(2, user_api="blas"):
        second_thread = threading.Thread(target=waits, args=([0],))
        second_thread.start()
        assert inside.wait(30)
        assert set(threads_used([0])) == {1}
        go.set()
        second_thread.join()
        assert set(blas()) == {2}


def test_a_small_fit_is_the_same_under_any_number_of_threads():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 10))
    y = rng.integers(0, 2, 300)
    results = set()
    for limit in (1, 2):
        with threadpool_limits(limit, user_api="blas"):
            results.add(KernelLogisticRegression().fit(X, y).objective_)
    assert len(results) == 1
