"""Ordinary and outlying runs are tested apart."""

import numpy as np
import pandas as pd
import pytest
from synthetic_tables import curve, table
from verdict_inputs import MARGIN, printed

from noisylabels.statistics import Estimate, mean_se, share_interval, tost, welch
from reproduction.judge.outlying_runs import Outlying, compare_in_two_parts
from reproduction.judge.verdicts import judge

EXACT = Estimate(10.0, 0.0, np.inf)


def outlying(far, runs, highest=0.0, lowest=0.0):
    is_far = pd.Series([True] * far + [False] * (runs - far))
    return Outlying(is_far, highest, lowest, vary=True)


def compare(values, far_runs, is_far=None):
    """Compare values with the published 10; no run is far unless told."""
    if is_far is None:
        is_far = np.zeros(len(values), bool)
    return compare_in_two_parts(values, is_far, EXACT, MARGIN, far_runs)


def test_without_a_distance_it_is_the_plain_test_at_half_the_level():
    values = 10.2 + 0.1 * np.random.default_rng(0).standard_normal(10)
    agree, contra = compare(values, outlying(1, 80))
    gap = welch(mean_se(values), EXACT)
    assert agree == pytest.approx(2 * tost(gap, -MARGIN, MARGIN))
    assert contra == 1


@pytest.mark.parametrize("sign", [1, -1])
def test_a_run_in_the_other_direction_does_not_rescue_a_miss(sign):
    """The mean is beyond the tolerance; runs further out in this direction make it worse."""
    distances = sign * (3 * MARGIN + 0.01 * np.arange(10))
    values = 10 + distances
    if sign > 0:
        further_out = outlying(2, 80, highest=1.0)
        far_back = outlying(2, 80, lowest=-40.0 * MARGIN)
    else:
        further_out = outlying(2, 80, lowest=-1.0)
        far_back = outlying(2, 80, highest=40.0 * MARGIN)
    _, contra = compare(values, further_out)
    assert contra < 0.05
    _, contra = compare(values, far_back)
    assert contra == 1, "runs that far back could bring the mean into the tolerance"


def test_the_share_is_widened_by_the_runs_of_the_value_itself():
    values = np.append(10 + 0.001 * np.arange(9), 10 + 2 * MARGIN)
    is_far = np.arange(10) == 9
    few_elsewhere = outlying(1, 800, highest=2 * MARGIN)
    agree, _ = compare(values, few_elsewhere, is_far)
    _, largest_share = share_interval(1, 10)
    is_within = largest_share * 2 * MARGIN < MARGIN
    assert (agree < 0.05) == is_within
    agree, _ = compare(values[:9], few_elsewhere)
    assert agree < 0.05


def test_a_far_run_that_cannot_move_the_mean_decides_nothing():
    """One run of another data set lies far from runs that hardly differ, by little."""
    rng = np.random.default_rng(1)
    one_far_run = np.append(5 + 1e-6 * rng.standard_normal(9), 5.001)
    ours = 10 + 0.05 * rng.standard_normal(10)
    frame = table(curve(ours, dataset="a"), curve(one_far_run, dataset="b"))
    value = printed(where={"method": "ours", "metric": "error", "dataset": "a"})
    row = judge({"published": [value]}, frame, "full").iloc[0]
    assert row["verdict"] == "reproduced"
    assert row["remark"] == "far"
    assert row["flags"] == ""


def test_two_ordinary_runs_show_nothing():
    values = np.array([10.0, 10.0, 30.0, 30.0])
    is_far = np.array([False, False, True, True])
    agree, contra = compare(values, outlying(2, 40, 20.0), is_far)
    assert agree == 1
    assert contra == 1
