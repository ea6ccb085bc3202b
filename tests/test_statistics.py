"""The tests behind the verdicts: against SciPy where it has them, else by hand and simulation."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pools import drawn
from scipy import stats

from noisylabels import statistics as ours

finite = st.floats(-1e3, 1e3)
samples = st.lists(finite, min_size=2, max_size=12).filter(lambda x: np.std(x) > 1e-6)


def equal_probability(p):
    """A p-value that is the same but for rounding."""
    return pytest.approx(p, rel=1e-6, abs=1e-12)


@given(samples, finite)
def test_paired_t_tests_and_the_interval_are_scipys(x, bound):
    estimate = ours.mean_se(x)
    less = stats.ttest_1samp(x, bound, alternative="less")
    assert ours.t_below(estimate, bound) == equal_probability(less.pvalue)
    greater = stats.ttest_1samp(x, bound, alternative="greater")
    assert ours.t_above(estimate, bound) == equal_probability(greater.pvalue)
    two_sided = stats.ttest_1samp(x, bound)
    assert ours.outside(estimate, bound, bound) == equal_probability(two_sided.pvalue)
    interval = stats.ttest_1samp(x, 0).confidence_interval(0.95)
    assert ours.t_interval(estimate) == pytest.approx(interval)


@given(samples, samples)
def test_welch_is_scipys_and_a_constant_keeps_the_degrees_of_freedom(x, y):
    gap = ours.welch(ours.mean_se(x), ours.mean_se(y))
    theirs = stats.ttest_ind(x, y, equal_var=False, alternative="less")
    assert gap.df == pytest.approx(theirs.df)
    assert ours.t_below(gap) == equal_probability(theirs.pvalue)
    constant = ours.Estimate(1, 0, np.inf)
    difference = ours.welch(ours.Estimate(3, 0.5, 9), constant)
    assert difference == pytest.approx(ours.Estimate(2, 0.5, 9))
    normal = ours.Estimate(-1.96, 1, np.inf)
    assert ours.t_below(normal) == pytest.approx(0.025, abs=1e-4)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_many_p_values(p):
    assert ours.at_least(p, len(p)) == max(p)
    bonferroni = min(1, len(p) * min(p))
    assert ours.at_least(p, 1) == pytest.approx(bonferroni)
    false_discovery = ours.benjamini_hochberg(p)
    assert false_discovery == pytest.approx(stats.false_discovery_control(p))
    assert (false_discovery <= ours.holm(p) + 1e-15).all()
    assert ours.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert ours.holm([0.6, 0.7]) == pytest.approx([1, 1])
    assert ours.holm([]).size == 0


@given(samples, st.floats(0, 10), st.floats(0.1, 10))
def test_inside_and_outside_are_never_both_shown(x, centre, half):
    estimate = ours.mean_se(x)
    low = centre - half
    high = centre + half
    p_inside = ours.tost(estimate, low, high)
    p_outside = ours.outside(estimate, low, high)
    assert max(p_inside, p_outside) >= 0.05


@pytest.mark.parametrize("half", [0.0, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("test", [ours.tost, ours.outside])
def test_a_mean_on_the_border_is_called_inside_or_outside_in_5_percent_of_the_runs_at_most(
    test,
    half,
):
    runs = 2000
    h = half / np.sqrt(8)
    draws = np.random.default_rng(7).standard_normal((runs, 8)) + h
    estimates = [ours.mean_se(x) for x in draws]
    p_values = np.array([test(estimate, -h, h) for estimate in estimates])
    rate = np.mean(p_values < 0.05)
    standard_error = np.sqrt(0.05 * 0.95 / runs)
    assert rate <= 0.05 + 3 * standard_error


def test_one_repetition_proves_nothing_and_equal_repetitions_are_exact():
    single = ours.mean_se([3.0])
    assert ours.t_below(single, 5) == 1
    assert ours.t_above(single, 0) == 1
    assert ours.tost(single, 0, 5) == 1
    assert ours.outside(single, 8, 9) == 1
    assert np.isnan(ours.t_interval(single)).all()
    equal = ours.mean_se([0.3, 0.1 + 0.2, 0.3])
    assert equal.se == 0
    assert ours.t_below(equal, 0.4) == 0
    assert ours.t_below(equal, 0.2) == 1
    assert ours.tost(equal, 0.3, 0.4) == 0
    assert ours.outside(equal, 0, 0.2) == 0
    assert ours.t_interval(equal) == (equal.mean, equal.mean)


@pytest.mark.parametrize("values", [[], [1, np.nan], [[1, 2]], [np.inf]])
def test_bad_values_are_named(values):
    with pytest.raises(ValueError, match=r"^values: "):
        ours.mean_se(values)


@given(st.integers(1, 60), st.integers(0, 60))
def test_the_interval_of_a_share_is_scipys(n, k):
    k = min(k, n)
    exact = stats.binomtest(k, n).proportion_ci(0.95, method="exact")
    assert ours.share_interval(k, n) == pytest.approx((exact.low, exact.high))


@given(st.integers(0, 10**6), st.floats(0.2, 3), st.sampled_from([0.9, 0.95]))
def test_the_ends_of_fiellers_interval_are_where_its_tests_turn(seed, ratio, level):
    rng = np.random.default_rng(seed)
    b = 5 + rng.standard_normal(15)
    a = ratio * b + rng.standard_normal(15)
    low, high = ours.ratio_interval(a, b, level)
    assert low < a.mean() / b.mean() < high
    probability_of_each_end = (1 - level) / 2
    assert ours.ratio_above(a, b, low) == pytest.approx(probability_of_each_end, rel=1e-6)
    assert ours.ratio_below(a, b, high) == pytest.approx(probability_of_each_end, rel=1e-6)


def test_fiellers_interval_covers_and_is_unbounded_without_a_divisor():
    rng = np.random.default_rng(3)
    common, of_dividend, of_divisor = rng.standard_normal((3, 1000, 12))
    dividends = 3 + common + of_dividend
    divisors = 2 + common + of_divisor
    pairs = zip(dividends, divisors, strict=True)
    limits = np.array([ours.ratio_interval(*pair) for pair in pairs])
    low, high = limits.T
    is_unbounded = np.isnan(low)
    holds = (low <= 1.5) & (high >= 1.5)
    covered = is_unbounded | holds
    assert covered.mean() == pytest.approx(0.95, abs=0.02)
    divisors_of_both_signs = ours.ratio_interval([1.0, 2.0, 3.0], [-1.0, 0.1, 1.0])
    assert np.isnan(divisors_of_both_signs).all()
    single_pair = ours.ratio_interval([1.0], [1.0])
    assert np.isnan(single_pair).all()
    # no positive divisor shows nothing
    assert ours.ratio_below([1.0, 2.0, 3.0], [-1.0, -2.0, -1.0], 5) > 0.5


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_signed_rank_counts_all_signs_of_the_pairs_that_differ(n):
    difference = np.random.default_rng(n).normal(0.4, 1, n)
    ranks = stats.rankdata(np.abs(difference))
    all_signs = product([False, True], repeat=n)
    sums = np.array([ranks[list(is_positive)].sum() for is_positive in all_signs])
    observed = ranks[difference > 0].sum()
    share_at_most = np.mean(sums <= observed)
    share_at_least = np.mean(sums >= observed)
    two_sided = min(1, 2 * share_at_most, 2 * share_at_least)
    assert ours.signed_rank(difference, np.zeros(n)) == pytest.approx(two_sided)
    with_an_equal_pair = ours.signed_rank([1, 4, 3, 3], [2, 2, 0, 3])
    without_it = ours.signed_rank([1, 4, 3], [2, 2, 0])
    assert with_an_equal_pair == pytest.approx(without_it)
    assert ours.signed_rank([1, 2], [1, 2]) == 1
    with pytest.raises(ValueError, match="paired"):
        ours.signed_rank([1, 2], [1])


def test_the_error_of_a_pool_is_that_of_the_mean_of_its_points():
    d = np.random.default_rng(0).normal(size=50)
    mean, standard_error, *_ = ours.pool_error(d, np.full(50, 7), 50)
    assert mean == pytest.approx(0)
    assert standard_error == pytest.approx(stats.sem(d))
    # rows that share a number
    d = np.array([0.0, 3.0, -1.0, 0.5])
    copies = np.array([40, 3, 7, 20])
    written_out = ours.pool_error(np.repeat(d, copies), np.ones(70), 70)
    assert ours.pool_error(d, copies, 70) == pytest.approx(written_out)


def test_degrees_of_freedom_are_those_of_a_variance_of_such_points():
    normal = np.random.default_rng(0).normal(size=4000)
    error = ours.pool_error(normal, np.ones(4000), 4000)
    assert error.df == pytest.approx(4000, rel=0.1)
    five_points = np.arange(1000.0) < 5  # five points that tell the rules apart
    error = ours.pool_error(five_points, np.ones(1000), 1000)
    assert error.df == pytest.approx(10, rel=0.02)


@pytest.mark.parametrize("equal", [0.0, 1 / 3])
def test_points_that_do_not_differ_say_nothing_of_others(equal):
    error = ours.pool_error(np.full(20, equal), np.full(20, 4), 20)
    assert error.df == 0
    estimate = ours.for_new_points(ours.Estimate(0.1, 0.2, 9), error)
    assert np.isnan(ours.t_interval(estimate)).all()


@given(samples, samples.filter(lambda x: len(x) > 2))
def test_the_interval_for_new_points_contains_that_for_these(splits, d):
    for_these_points = ours.mean_se(splits)
    error = ours.pool_error(d, np.ones(len(d)), len(d))
    low, high = ours.t_interval(ours.for_new_points(for_these_points, error))
    inner_low, inner_high = ours.t_interval(for_these_points)
    assert low <= inner_low <= inner_high <= high


def test_splits_that_do_not_vary_leave_the_error_of_the_points():
    error = ours.pool_error([0.0, 1.0, 0.0, -1.0, 1.0], np.ones(5), 5)
    estimate = ours.for_new_points(ours.Estimate(0.2, 0, 9), error)
    assert estimate == pytest.approx((0.2, error.se, error.df, 0))
    single_realisation = ours.Estimate(0.2, np.nan, 0)
    assert ours.for_new_points(single_realisation, error).df == 0


def differences_in_percent(test, wrong):
    """Points of each split (J, N) that the first rule alone has wrong, less those of the second."""
    first, second = wrong.astype(float)
    return np.where(test, 100 * (first - second), 0)


def intervals(**law):
    """(mean difference in %, interval by the splits, interval for new points) of 250 pools."""
    rng = np.random.default_rng(0)
    for _ in range(250):
        test, [wrong] = drawn(rng, **law)
        d = differences_in_percent(test, wrong)
        by_split = d.sum(axis=1) / test.sum(axis=1)
        splits = ours.mean_se(by_split)
        tests = test.sum(axis=0)
        is_tested = tests > 0
        mean_of_points = d.sum(axis=0)[is_tested] / tests[is_tested]
        pool = ours.pool_error(mean_of_points, tests[is_tested], len(tests))
        for_new_points = ours.for_new_points(splits, pool)
        yield splits.mean, ours.t_interval(splits), ours.t_interval(for_new_points)


FEW_ERRORS = {"J": 100, "N": 100, "separation": 2.0, "flips": (0.1,), "inputs": (6, 4)}


@pytest.mark.parametrize(
    ("law", "naive", "highest"),
    [
        ({}, 0.7, 0.985),
        ({"J": 100, "N": 120, "flips": (0.1,)}, 0.5, 0.985),
        ({"J": 20, "share": 0.9, "N": 300}, 0.92, 0.985),
        (FEW_ERRORS, 0.8, 1),
        ({"J": 10, "flips": (0.3,)}, 0.95, 1),  # noise of few splits, counted twice
    ],
)
def test_intervals_for_new_points_cover_and_those_by_splits_do_not(law, naive, highest):
    means, by_splits, for_new_points = zip(*intervals(**law), strict=True)
    mean = np.mean(means)

    def coverage(limits):
        low, high = np.transpose(limits)
        return np.mean((low <= mean) & (mean <= high))

    assert coverage(by_splits) < naive
    assert 0.93 <= coverage(for_new_points) <= highest


def test_the_correction_of_nadeau_and_bengio_is_far_too_wide_for_large_test_parts():
    rng = np.random.default_rng(0)
    share = 0.9
    correction = 1 / 50 + share / (1 - share)
    means = []
    variances = []
    for _ in range(100):
        test, [wrong] = drawn(rng, J=50, N=300, share=share)
        difference = differences_in_percent(test, wrong)
        by_split = difference.sum(axis=1) / test.sum(axis=1)
        means.append(by_split.mean())
        variances.append(by_split.var(ddof=1) * correction)
    standard_error_by_correction = np.sqrt(np.mean(variances))
    assert standard_error_by_correction > 5 * np.std(means, ddof=1)
