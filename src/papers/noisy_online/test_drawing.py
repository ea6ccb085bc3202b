"""Figures and tables show the numbers of their results."""

import itertools

import numpy as np
import pandas as pd
import pytest

from noisy_online import drawing as noisy_online
from noisy_online.code import AnalyticProblem
from reproduction.show import panels
from reproduction.show.panels import Results

pytestmark = pytest.mark.usefixtures("house_style")


def growing_rows(metric, horizons, factor=1):
    """Make three repetitions of a metric of the two-copy learner that grows as √T."""
    rows = []
    for T, repetition in itertools.product(horizons, range(3)):
        value = factor * np.sqrt(T) + repetition
        columns = {"method": "two_copy", "metric": metric, "repetition": repetition}
        rows.append(columns | {"x": T, "value": value})
    return pd.DataFrame(rows)


def test_regret_panels_have_bounds_and_reference_slopes():
    _, (ax,) = panels.side_by_side([""])
    horizons = (10.0, 100.0, 1000.0)
    regret = growing_rows("regret", horizons)
    bound = growing_rows("bound", horizons, factor=5)
    noisy_online.regret_panel(ax, pd.concat([regret, bound]), ["two_copy", "naive"])
    texts = {text.get_text() for text in ax.texts}
    assert {"√T", "T"} <= texts
    assert len(ax.lines) == 4  # bound, regret, two slopes


def test_regret_panels_that_share_an_axis_keep_the_last_point_of_the_longer_one():
    _, axes = panels.grid_of_panels(["", ""], [""])
    upper, lower = axes[:, 0]
    noisy_online.regret_panel(upper, growing_rows("regret", (10.0, 1000.0)), ["two_copy"])
    noisy_online.regret_panel(lower, growing_rows("regret", (10.0, 8e5)), ["two_copy"])
    for ax in (upper, lower):
        _, largest = ax.get_xlim()
        assert largest > 8e5


def test_the_table_of_identities_has_the_largest_z_in_its_note():
    rows = []
    for name, z in (("a", -1.5), ("b", 0.25)):
        common = {"method": name, "setting": "gradients", "repetition": 0}
        values_of_metrics = {"predicted": 1.0, "measured": 1.1, "se": 0.1, "z": z}
        for metric, value in values_of_metrics.items():
            rows.append(common | {"metric": metric, "value": value})
    results = Results({"identities": pd.DataFrame(rows)}, {})
    frame = noisy_online.identities(results)
    assert "1.50" in frame.attrs["note"]
    assert list(frame["z"]) == ["-1.50", "0.25"]


LINEAR = {"kernel": "linear", "loss": "squared", "data": "line", "ball": 1, "sd": 0}
GAUSSIAN = LINEAR | {"kernel": {"gaussian": 4}, "loss": "smoothed_hinge", "s": 0.5}


@pytest.mark.parametrize(
    ("settings", "title"),
    [(LINEAR, "k: linear, squared"), (GAUSSIAN, "k: Gaussian, smooth hinge s = 0.5")],
)
def test_the_title_of_a_panel_names_kernel_and_loss(settings, title):
    problem = AnalyticProblem.model_validate(settings)
    assert noisy_online.title("k", problem) == title
