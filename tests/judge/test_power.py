"""How many repetitions a published value needs: counted again by simulation."""

from math import inf, nan

import numpy as np
import pytest

from noisylabels.statistics import Estimate, mean_se, outside, tost, welch
from reproduction.judge.verdicts import ALPHA, needed


@pytest.mark.parametrize(("gap", "se", "df"), [(0.2, 0.1, inf), (0.2, 0.1, 19), (-0.9, 0.05, inf)])
def test_with_so_many_repetitions_eighty_in_a_hundred_runs_decide(gap, se, df):
    margin = 0.5
    n = 10
    ours = Estimate(gap, 1 / np.sqrt(n), n - 1)  # runs have a standard deviation of 1
    published = Estimate(0.0, se, df)
    repetitions = needed(ours, published, n, margin)
    assert n < repetitions < 10_000
    rng = np.random.default_rng(1)
    decided = 0
    for _ in range(2000):
        ours = mean_se(gap + rng.standard_normal(int(repetitions)))
        estimated_se = se
        if df < inf:
            estimated_se = se * np.sqrt(rng.chisquare(df) / df)
        published = Estimate(se * rng.standard_normal(), estimated_se, df)
        difference = welch(ours, published)
        p_inside = tost(difference, -margin, margin)
        p_outside = outside(difference, -margin, margin)
        decided += min(p_inside, p_outside) < ALPHA
    assert decided / 2000 == pytest.approx(0.8, abs=0.04)


def test_none_suffice_where_the_printed_mean_is_too_imprecise():
    ours = Estimate(0.2, 0.1, 9)
    imprecise = Estimate(0.0, 0.3, 9)
    assert needed(ours, imprecise, 10, 0.5) == inf
    on_the_border = Estimate(0.5, 0.1, 9)
    precise = Estimate(0.0, 0.1, 9)
    assert needed(on_the_border, precise, 10, 0.5) == inf


def test_one_realisation_says_nothing_of_its_spread():
    single = Estimate(0.2, nan, 0)
    published = Estimate(0.0, 0.1, 9)
    assert needed(single, published, 1, 0.5) is nan
