"""Ordinary and outlying runs are tested apart."""

import numpy as np
import pandas as pd
import pytest
from synthetic_tables import curve, table
from verdict_inputs import MARGIN, printed

from noisylabels.statistics import Estimate, share_interval, tost, welch
from reproduction.judge.outlying_runs import Outlying, compare_in_two_parts
from reproduction.judge.verdicts import judge

EXACT = Estimate(10.0, 0.0, np.inf)


def outlying(far, runs, highest=0.0, lowest=0.0):
    is_far = pd.Series([True] * far + [False] * (runs - far))
    return Outlying(is_far, highest, lowest, vary=True)


def test_without_a_distance_it_is_the_plain_test_at_half_the_level():
    values = 10.2 + 0.1 * np.random.default_rng(0).standard_normal(10)
    no_run_is_far = np.zeros(10, bool)
    agree, contra = compare_in_two_parts(values, no_run_is_far, EXACT, MARGIN, outlying(1, 80))
    gap = welch(Estimate(values.mean(), values.std(ddof=1) / np.sqrt(10), 9), EXACT)
    assert agree == pytest.approx(2 * tost(gap, -MARGIN, MARGIN))
    assert contra == 1


@pytest.mark.parametrize("sign", [1, -1])
def test_a_run_in_the_other_direction_does_not_rescue_a_miss(sign):
    """The mean is beyond the tolerance; runs further out in this direction make it worse."""
    values = 10 + sign * (3 * MARGIN + 0.01 * np.arange(10))
    no_run_is_far = np.zeros(10, bool)
    far = {"highest": 1.0} if sign > 0 else {"lowest": -1.0}
    _, contra = compare_in_two_parts(values, no_run_is_far, EXACT, MARGIN, outlying(2, 80, **far))
    assert contra < 0.05
    other_direction = {"lowest": -40.0 * MARGIN} if sign > 0 else {"highest": 40.0 * MARGIN}
    far_runs = outlying(2, 80, **other_direction)
    _, contra = compare_in_two_parts(values, no_run_is_far, EXACT, MARGIN, far_runs)
    assert contra == 1, "runs that far back could bring the mean into the tolerance"


def test_the_share_is_widened_by_the_runs_of_the_value_itself():
    values = np.append(10 + 0.001 * np.arange(9), 10 + 2 * MARGIN)
    is_far = np.arange(10) == 9
    few_elsewhere = outlying(1, 800, highest=2 * MARGIN)
    agree, _ = compare_in_two_parts(values, is_far, EXACT, MARGIN, few_elsewhere)
    _, upper = share_interval(1, 10)
    expected = "within" if upper * 2 * MARGIN < MARGIN else "open"
    assert (agree < 0.05) == (expected == "within")
    no_run_is_far = np.zeros(9, bool)
    agree, _ = compare_in_two_parts(values[:9], no_run_is_far, EXACT, MARGIN, few_elsewhere)
    assert agree < 0.05


def test_a_far_run_that_cannot_move_the_mean_decides_nothing():
    """One run of another data set lies far from runs that hardly differ, by little."""
    rng = np.random.default_rng(1)
    runs = np.append(5 + 1e-6 * rng.standard_normal(9), 5.001)
    ours = 10 + 0.05 * rng.standard_normal(10)
    frame = pd.concat([table(curve(ours, dataset="a")), table(curve(runs, dataset="b"))])
    value = printed(where={"method": "ours", "metric": "error", "dataset": "a"})
    row = judge({"published": [value]}, frame, "full").iloc[0]
    assert row["verdict"] == "reproduced"
    assert row["remark"] == "far"
    assert row["flags"] == ""


def test_two_ordinary_runs_show_nothing():
    values = np.array([10.0, 10.0, 30.0, 30.0])
    is_far = np.array([False, False, True, True])
    assert compare_in_two_parts(values, is_far, EXACT, MARGIN, outlying(2, 40, 20.0)) == (1.0, 1.0)
