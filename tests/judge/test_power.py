"""How many repetitions a published value needs: counted again by simulation."""

from math import inf, nan

import numpy as np
import pytest

from noisylabels.statistics import Estimate, mean_se, outside, tost, welch
from reproduction.judge.verdicts import ALPHA, needed


@pytest.mark.parametrize(("gap", "se", "df"), [(0.2, 0.1, inf), (0.2, 0.1, 19), (-0.9, 0.05, inf)])
def test_with_so_many_repetitions_eighty_in_a_hundred_runs_decide(gap, se, df):
    margin, sd, n = 0.5, 1.0, 10
    ours = Estimate(gap, sd / np.sqrt(n), n - 1)
    published = Estimate(0.0, se, df)
    repetitions = needed(ours, published, n, margin)
    assert n < repetitions < 10_000
    rng = np.random.default_rng(1)
    decided = 0
    for _ in range(2000):
        ours = mean_se(gap + sd * rng.standard_normal(int(repetitions)))
        spread = se if df == inf else se * np.sqrt(rng.chisquare(df) / df)
        published = Estimate(se * rng.standard_normal(), spread, df)
        difference = welch(ours, published)
        p_inside = tost(difference, -margin, margin)
        p_outside = outside(difference, -margin, margin)
        decided += min(p_inside, p_outside) < ALPHA
    assert decided / 2000 == pytest.approx(0.8, abs=0.04)


def test_none_suffice_where_the_printed_mean_is_too_imprecise():
    assert needed(Estimate(0.2, 0.1, 9), Estimate(0.0, 0.3, 9), 10, 0.5) == inf
    assert needed(Estimate(0.5, 0.1, 9), Estimate(0.0, 0.1, 9), 10, 0.5) == inf


def test_one_realisation_says_nothing_of_its_spread():
    assert needed(Estimate(0.2, nan, 0), Estimate(0.0, 0.1, 9), 1, 0.5) is nan
