"""The tests behind the verdicts: against SciPy where SciPy has them, by hand and by simulation elsewhere."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pools import drawn
from scipy import stats

from noisylabels.statistics import (
    Estimate,
    at_least,
    benjamini_hochberg,
    for_new_points,
    holm,
    mann_whitney,
    mean_se,
    outside,
    pool_error,
    ratio_above,
    ratio_below,
    ratio_interval,
    share_interval,
    signed_rank,
    t_above,
    t_below,
    t_interval,
    tost,
    welch,
)

finite = st.floats(-1e3, 1e3)
samples = st.lists(finite, min_size=2, max_size=12).filter(lambda x: np.std(x) > 1e-6)


@given(samples, finite)
def test_paired_t_tests_and_the_interval_are_scipys(x, bound):
    estimate = mean_se(x)
    for ours, theirs in {
        t_below: lambda: stats.ttest_1samp(x, bound, alternative="less"),
        t_above: lambda: stats.ttest_1samp(x, bound, alternative="greater"),
        lambda e, b: outside(e, b, b): lambda: stats.ttest_1samp(x, bound),
    }.items():
        assert ours(estimate, bound) == pytest.approx(theirs().pvalue, rel=1e-6, abs=1e-12)
    assert t_interval(estimate) == pytest.approx(stats.ttest_1samp(x, 0).confidence_interval(0.95))


@given(samples, samples)
def test_welch_is_scipys(x, y):
    gap = welch(mean_se(x), mean_se(y))
    theirs = stats.ttest_ind(x, y, equal_var=False, alternative="less")
    assert gap.df == pytest.approx(theirs.df)
    assert t_below(gap) == pytest.approx(theirs.pvalue, rel=1e-6, abs=1e-12)


def test_a_constant_keeps_the_degrees_of_freedom_and_a_known_error_is_normal():
    assert welch(Estimate(3, 0.5, 9), Estimate(1, 0, np.inf)) == pytest.approx(Estimate(2, 0.5, 9))
    assert t_below(Estimate(-1.96, 1, np.inf)) == pytest.approx(0.025, abs=1e-4)


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]) == pytest.approx([1, 1])
    assert holm([]).size == 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_at_least_all_is_the_maximum_and_at_least_one_is_bonferroni(p):
    assert at_least(p, len(p)) == max(p)
    assert at_least(p, 1) == pytest.approx(min(1, len(p) * min(p)))


@given(samples, st.floats(0, 10), st.floats(0.1, 10))
def test_inside_and_outside_are_never_both_shown(x, centre, half):
    estimate = mean_se(x)
    assert max(test(estimate, centre - half, centre + half) for test in (tost, outside)) >= 0.05


@pytest.mark.parametrize("half", [0.0, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("test", [tost, outside])
def test_size_at_the_border(test, half):
    """A true mean on the border of the interval is called inside, or outside, in 5 % of the runs at most."""
    rng = np.random.default_rng(7)
    n, runs = 8, 4000
    draws = rng.standard_normal((runs, n)) + half / np.sqrt(n)
    h = half / np.sqrt(n)
    rate = np.mean([test(mean_se(x), -h, h) < 0.05 for x in draws])
    assert rate <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


def test_one_repetition_proves_nothing():
    one = mean_se([3.0])
    assert [t_below(one, 5), t_above(one, 0), tost(one, 0, 5), outside(one, 8, 9)] == [1, 1, 1, 1]
    assert np.isnan(t_interval(one)).all()


def test_equal_repetitions_are_exact():
    same = mean_se([0.3, 0.1 + 0.2, 0.3])
    assert same.se == 0
    assert (t_below(same, 0.4), t_below(same, 0.2)) == (0, 1)
    assert (tost(same, 0.3, 0.4), outside(same, 0, 0.2)) == (0, 0)
    assert t_interval(same) == (same.mean, same.mean)


@pytest.mark.parametrize("values", [[], [1, np.nan], [[1, 2]], [np.inf]])
def test_bad_values_are_named(values):
    with pytest.raises(ValueError, match=r"^values: "):
        mean_se(values)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_benjamini_hochberg_is_scipys_and_not_above_holm(p):
    assert benjamini_hochberg(p) == pytest.approx(stats.false_discovery_control(p))
    assert (benjamini_hochberg(p) <= holm(p) + 1e-15).all()


@given(st.integers(1, 60), st.integers(0, 60))
def test_the_interval_of_a_share_is_scipys(n, k):
    k = min(k, n)
    exact = stats.binomtest(k, n).proportion_ci(0.95, method="exact")
    assert share_interval(k, n) == pytest.approx((exact.low, exact.high))


@given(st.integers(0, 10**6), st.floats(0.2, 3), st.sampled_from([0.9, 0.95]))
def test_the_ends_of_fiellers_interval_are_where_its_tests_turn(seed, ratio, level):
    rng = np.random.default_rng(seed)
    b = 5 + rng.standard_normal(15)
    a = ratio * b + rng.standard_normal(15)
    low, high = ratio_interval(a, b, level)
    assert low < a.mean() / b.mean() < high
    assert ratio_above(a, b, low) == pytest.approx((1 - level) / 2, rel=1e-6)
    assert ratio_below(a, b, high) == pytest.approx((1 - level) / 2, rel=1e-6)


def test_fiellers_interval_covers_and_is_unbounded_without_a_divisor():
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(1000):
        common = rng.standard_normal(12)
        b = 2 + common + rng.standard_normal(12)
        a = 3 + common + rng.standard_normal(12)
        low, high = ratio_interval(a, b)
        covered += np.isnan(low) or low <= 1.5 <= high
    assert covered / 1000 == pytest.approx(0.95, abs=0.02)
    assert np.isnan(ratio_interval([1.0, 2.0, 3.0], [-1.0, 0.1, 1.0])).all()
    assert np.isnan(ratio_interval([1.0], [1.0])).all()
    assert ratio_below([1.0, 2.0, 3.0], [-1.0, -2.0, -1.0], 5) > 0.5, "no positive divisor shows nothing"


def test_mann_whitney_is_symmetric_and_sees_a_shift():
    x, y = np.arange(10.0), np.arange(10.0) + 6
    assert mann_whitney(x, y) == pytest.approx(mann_whitney(y, x))
    assert mann_whitney(x, y) < 0.01
    assert mann_whitney(x, x) == pytest.approx(1)


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_signed_rank_counts_all_signs(n):
    rng = np.random.default_rng(n)
    difference = rng.normal(0.4, 1, n)
    ranks = np.argsort(np.argsort(np.abs(difference))) + 1
    sums = np.array([ranks[np.array(signs, dtype=bool)].sum() for signs in product([0, 1], repeat=n)])
    observed = ranks[difference > 0].sum()
    tail = min((sums <= observed).mean(), (sums >= observed).mean())
    assert signed_rank(difference, np.zeros(n)) == pytest.approx(min(1, 2 * tail))


def test_signed_rank_ignores_equal_pairs_and_wants_pairs():
    assert signed_rank([1, 4, 3, 3], [2, 2, 0, 3]) == pytest.approx(signed_rank([1, 4, 3], [2, 2, 0]))
    assert signed_rank([1, 2], [1, 2]) == 1
    assert signed_rank(range(9), range(1, 10)) < 0.01
    with pytest.raises(ValueError, match="paired"):
        signed_rank([1, 2], [1])


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
    assert for_new_points(Estimate(0.2, 0, 9), error) == pytest.approx((0.2, error.se, error.df, 0))
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
