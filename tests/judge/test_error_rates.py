"""How often a verdict is wrong, over many simulated artifacts."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from synthetic_tables import curve, table
from verdict_inputs import MARGIN, around, claim, difference_check, printed, two_methods

from reproduction.judge.sentences import Sentences
from reproduction.judge.verdicts import judge


def rates(entries, make, runs=200):
    """Share of simulated artifacts in which each verdict occurs at least once."""
    rng = np.random.default_rng(11)
    counts = Counter()
    for _ in range(runs):
        rows = judge(entries, make(rng), "full")
        counts.update(set(rows["verdict"]))
    return {verdict: count / runs for verdict, count in counts.items()}


def limit(runs):
    """Largest share of wrong verdicts at a true rate of 5 %, three standard errors up."""
    return 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


FIVE = [printed(id=f"v{i}", where={"noise": f"n{i}"}, se=0.1, n=10) for i in range(5)]


def five_values(rng, truth):
    """Printed value 10 with standard error 0.1; ours from the same truth plus an offset."""
    n = 10
    sd = 0.1 * np.sqrt(n)
    means = 10 + truth + 0.1 * rng.standard_normal(5)
    curves = []
    for number, mean in enumerate(means):
        values = mean + sd * rng.standard_normal(n)
        curves.append(curve(values, noise=f"n{number}"))
    return table(*curves)


def verdict_rates(truth, runs):
    """Simulate artifacts of five published values.

    Returns
    -------
    shares : dict
        Share of the values with each verdict.
    marked : float
        Share of the artifacts in which a verdict survives Holm's correction.
    """
    rng = np.random.default_rng(11)
    frames = []
    for _ in range(runs):
        frames.append(judge({"published": FIVE}, five_values(rng, truth), "full"))
    shares = pd.concat(frames)["verdict"].value_counts(normalize=True)
    marked = [(frame["holm"] != "").any() for frame in frames]
    return shares.to_dict(), float(np.mean(marked))


@pytest.mark.nightly
def test_a_verdict_is_wrong_in_five_percent_of_the_cells_and_after_holm_of_the_artifacts():
    """On the border of the margin both verdicts are wrong, and no verdict is wrong more often."""
    shares, marked = verdict_rates(MARGIN, 100)
    assert shares["reproduced"] <= limit(500)
    assert shares["not_reproduced"] <= limit(500)
    assert marked <= 2 * limit(100), "two families, within and outside, of 5 % each"


@pytest.mark.nightly
def test_equal_truths_are_never_refuted_and_mostly_reproduced():
    shares, marked = verdict_rates(0.0, 40)
    assert shares.get("not_reproduced", 0) == 0
    assert shares["reproduced"] > 0.9
    assert marked > 0.9
    shares, _ = verdict_rates(3 * MARGIN, 10)
    assert shares["not_reproduced"] > 0.9


@pytest.mark.nightly
def test_error_of_claims_between_equal_methods():
    entries = {"claims": [claim(difference_check())]}
    shares = rates(entries, lambda rng: two_methods(rng, 0))
    assert shares.get("reproduced", 0) <= limit(200)
    assert shares.get("not_reproduced", 0) <= limit(200)


@pytest.mark.nightly
def test_at_least_keeps_its_level():
    """Two of four groups truly differ: three are rarely found, two nearly always."""

    def four_groups(rng):
        parts = []
        for number, gap in enumerate((1, 1, 0, 0)):
            parts.append(two_methods(rng, gap).assign(noise=f"n{number}"))
        return pd.concat(parts)

    def at_least(needed):
        check = difference_check(for_each=["noise"], at_least=needed)
        return {"claims": [claim(check)]}

    shares = rates(at_least(3), four_groups, 150)
    assert shares.get("reproduced", 0) <= limit(150)
    shares = rates(at_least(2), four_groups, 20)
    assert shares["reproduced"] > 0.9


STUCK = {"published": [printed(value=10.0, margin=1.0, se=0.003, n=10, where={"noise": "n0"})]}


def one_run_in_ten_gets_stuck(rng, n, curves, mean, sd=0.05, far=10.0):
    """Make runs near a level, and every tenth ``far`` above it; their expectation is ``mean``."""
    stuck = far * (rng.random((curves, n)) < 0.1)
    level = mean - far / 10
    values = level + sd * rng.standard_normal((curves, n)) + stuck
    return table(*(curve(runs, noise=f"n{i}") for i, runs in enumerate(values)))


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("n", "curves", "far"),
    [(10, 1, 10), (10, 8, 10), (10, 8, 0.4), (10, 8, 0.3), (28, 2, 10), (30, 1, 10), (100, 1, 10)],
)
def test_runs_that_get_stuck_are_judged_wrongly_in_five_percent(n, curves, far):
    """On a border of the margin, the plain t-test gives a wrong verdict in 35 % at n = 10."""
    simulations = 300
    for border, wrong in ((11.0, "reproduced"), (9.0, "not_reproduced")):
        rng = np.random.default_rng(11)
        count = 0
        for _ in range(simulations):
            frame = one_run_in_ten_gets_stuck(rng, n, curves, border, far=far)
            row = judge(STUCK, frame, "full").iloc[0]
            count += row["verdict"] == wrong
        assert count / simulations <= limit(simulations), (n, border)


def test_far_runs_leave_few_repetitions_inconclusive_and_many_are_judged_with_their_skewness():
    rng = np.random.default_rng(3)
    few_repetitions = one_run_in_ten_gets_stuck(rng, 28, 1, 10.0, far=10)
    many_repetitions = one_run_in_ten_gets_stuck(rng, 200, 1, 10.0, far=1)
    row = judge(STUCK, few_repetitions, "full").iloc[0]
    assert row["verdict"] == "inconclusive"
    assert row["remark"] == "far"
    assert row["n_needed"] >= 29
    assert "a run of this method lies far from the others" in Sentences().evidence(row)
    assert judge(STUCK, many_repetitions, "full").loc[0, "verdict"] == "reproduced"
    alone = table(curve(around(10, n=10), noise="n0"))
    row = judge(STUCK, alone, "full").iloc[0]
    assert row["verdict"] == "inconclusive"
    assert row["remark"] == "few"
    assert "fewer than 29 repetitions may have missed it" in Sentences().evidence(row)
