"""The error for new points: by hand, at its limits, and what its intervals cover in simulations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pools import drawn
from scipy import stats

from noisylabels.statistics import Estimate, for_new_points, mean_se, pool_error, t_interval


def test_of_points_tested_alike_it_is_the_standard_error_of_their_mean():
    d = np.random.default_rng(0).normal(size=50)
    error = pool_error(d, np.full(50, 7), 50)
    assert error.se == pytest.approx(stats.sem(d))
    assert error.mean == 0


def test_rows_that_share_a_number_count_each():
    d, copies = np.array([0.0, 3.0, -1.0, 0.5]), np.array([40, 3, 7, 20])
    assert pool_error(d, copies, 70) == pytest.approx(pool_error(np.repeat(d, copies), np.ones(70), 70))


def test_degrees_of_freedom_are_those_of_a_variance_of_such_points():
    normal = np.random.default_rng(0).normal(size=4000)
    assert pool_error(normal, np.ones(4000), 4000).df == pytest.approx(4000, rel=0.1)
    few = np.zeros(1000)
    few[:5] = 1  # five points that tell the rules apart
    assert pool_error(few, np.ones(1000), 1000).df == pytest.approx(10, rel=0.02)


@pytest.mark.parametrize("equal", [np.zeros(20), np.full(20, 1 / 3)])
def test_points_that_do_not_differ_say_nothing_of_others(equal):
    error = pool_error(equal, np.full(20, 4), 20)
    assert error.df == 0
    assert np.isnan(t_interval(for_new_points(Estimate(0.1, 0.2, 9), error))).all()


@given(
    st.lists(st.floats(-100, 100), min_size=2, max_size=9).filter(lambda x: np.std(x) > 1e-6),
    st.lists(st.floats(-100, 100), min_size=3, max_size=30).filter(lambda x: np.std(x) > 1e-6),
)
def test_the_interval_for_new_points_contains_that_for_these(splits, d):
    these = mean_se(splits)
    low, high = t_interval(for_new_points(these, pool_error(d, np.ones(len(d)), len(d))))
    inner = t_interval(these)
    assert low <= inner[0] <= inner[1] <= high


def test_splits_that_do_not_vary_leave_the_error_of_the_points():
    error = pool_error([0.0, 1.0, 0.0, -1.0, 1.0], np.ones(5), 5)
    assert for_new_points(Estimate(0.2, 0, 9), error) == pytest.approx((0.2, error.se, error.df))
    assert for_new_points(Estimate(0.2, np.nan, 0), error).df == 0  # one realisation


def intervals(seed, **law):
    """(mean difference in %, interval by the splits, interval for new points) of 250 pools."""
    rng = np.random.default_rng(seed)
    for _ in range(250):
        test, [(a, b)] = drawn(rng, **law)
        d = 100.0 * np.where(test, a.astype(float) - b, 0)
        splits = mean_se(d.sum(axis=1) / test.sum(axis=1))
        tests = test.sum(axis=0)
        seen = tests > 0
        pool = pool_error(d.sum(axis=0)[seen] / tests[seen], tests[seen], len(tests))
        yield splits.mean, t_interval(splits), t_interval(for_new_points(splits, pool))


@pytest.mark.parametrize(
    ("law", "naive", "most"),
    [
        ({}, 0.7, 0.985),
        ({"J": 100, "N": 120, "flips": (0.1,)}, 0.5, 0.985),
        ({"J": 20, "share": 0.9, "N": 300}, 0.92, 0.985),
        ({"J": 100, "N": 100, "separation": 2.0, "flips": (0.1,), "inputs": (6, 4)}, 0.8, 1),  # few errors
        ({"J": 10, "flips": (0.3,)}, 0.95, 1),  # noise of few splits, counted twice
    ],
)
def test_intervals_for_new_points_cover_and_those_by_splits_do_not(law, naive, most):
    means, by_splits, wider = zip(*intervals(0, **law), strict=True)
    truth = np.mean(means)

    def coverage(found):
        low, high = np.transpose(found)
        return np.mean((low <= truth) & (truth <= high))

    assert coverage(by_splits) < naive
    assert 0.93 <= coverage(wider) <= most


def test_the_correction_of_nadeau_and_bengio_is_far_too_wide_for_large_test_parts():
    rng, share, found = np.random.default_rng(0), 0.9, []
    for _ in range(100):
        test, [(a, b)] = drawn(rng, J=50, N=300, share=share)
        by_split = np.where(test, 100.0 * (a.astype(float) - b), 0).sum(axis=1) / test.sum(axis=1)
        found.append((by_split.mean(), by_split.var(ddof=1) * (1 / 50 + share / (1 - share))))
    means, variances = np.transpose(found)
    assert np.sqrt(variances.mean()) > 5 * means.std(ddof=1)
