"""Figures and tables on boosting show the numbers of their results."""

import numpy as np
import pandas as pd
import pytest
from made_tables import Inputs

from kernel_boost import boosting_drawing as boosting

pytestmark = pytest.mark.usefixtures("house_style")


def test_the_last_rows_are_means_over_the_sets_beside_the_published_ones():
    inputs = Inputs("kernel_boost/boosters")
    selected = {"noise": "independent 0.3", "method": "GentleBoost"}
    all_sets = inputs.settings["boosters"]["datasets"]
    inputs.published["boosters"] = [
        {"value": 21.12, "where": selected | {"dataset": all_sets}},
        {"value": 20.62, "sd": 1.6, "where": selected | {"dataset": "ida_banana"}},
    ]
    frame = inputs.draw()
    rows = inputs.rows(metric="error", **selected)
    errors = rows.groupby("dataset")["value"]
    mean = errors.mean().mean()
    deviation = errors.std().mean()
    cells = _cells(frame, boosting.ALL, "GentleBoost")
    assert cells["ours"].strip("*") == f"{mean:.2f} ± {deviation:.2f}"
    assert cells["published"] == "21.12"
    banana = _cells(frame, "banana", "GentleBoost")
    assert banana["published"] == "20.62 ± 1.60"
    assert "rBoost/LR 0." in frame.attrs["note"]


def _cells(frame, name, method):
    """Select what is written in the column of a method for a data set."""
    of_set = frame.loc[name].set_index("error")
    return of_set[method]


def test_the_table_of_asymmetric_flips_has_our_means():
    inputs = Inputs("kernel_boost/boosters_asymmetric")
    selected = {"noise": "negative_only 0.3", "dataset": "ida_heart", "method": "AdaBoost/LR"}
    cells = _cells(inputs.draw(), "heart", "AdaBoost/LR")
    written_mean, *_ = cells["ours"].strip("*").split()
    errors = inputs.rows(metric="error", **selected)
    mean = errors["value"].mean()
    assert written_mean == f"{mean:.2f}"


def test_the_choice_of_rounds_and_flips_is_the_symmetric_row_nearest_on_the_choosing_cells():
    inputs = Inputs("kernel_boost/boosters_grid")
    published = {}
    for entry in inputs.published["boosters"]:
        cell = entry["where"]
        if isinstance(cell["dataset"], str):
            key = (cell["noise"], cell["dataset"], cell["method"])
            published[key] = entry["value"]
    assert len(published) == 2 * 7 * 8
    table = inputs.tables["boosters_grid"]
    table = table[table["metric"] == "error"].copy()
    inputs.tables["boosters_grid"] = table
    noise = table["noise"]
    flips = noise.where(noise == "negative_only 0.3", "independent 0.3")
    keys = zip(flips, table["dataset"], table["method"], strict=True)
    published_errors = np.array([published[key] for key in keys])
    is_plain = table["method"] == "AdaBoost/LR"
    is_image = table["dataset"] == "ida_image"
    is_choosing = is_plain | is_image
    is_symmetric = noise == "independent 0.15"
    has_200_rounds = table["x"] == 200
    is_nearest = is_choosing & is_symmetric & has_200_rounds
    distance = np.where(is_choosing, 2.0, 3.0)
    distance[is_nearest] = 1.0
    table["value"] = published_errors + distance
    frame = inputs.draw()
    is_chosen = frame["chosen on"].str.startswith("**")
    chosen = frame[is_chosen]
    assert list(chosen.index) == ["15 % symmetric"]
    rounds, *distances = chosen.iloc[0]
    assert rounds == "200"
    assert distances == ["**1.00**", "**3.00**", "**1.00**", *["**3.00**"] * 7]
    other_distances = frame["all others"].str.strip("*")
    assert set(other_distances) == {"3.00"}


def test_a_clear_difference_is_marked_and_a_constant_one_too():
    rng = np.random.default_rng(0)
    noise, other_noise = rng.normal(0, 0.01, (2, 20))
    worse = pd.Series(0.1 + noise)
    equal = pd.Series(other_noise - other_noise.mean())
    for sign, mark in ((1, " (+)"), (-1, " (-)")):
        columns = {("a", "svm"): sign * worse, ("a", "ldm"): equal}
        signs = boosting._mark_significant(columns)
        assert signs == {("a", "svm"): mark}


def test_the_grey_lines_are_the_true_rates():
    figure = Inputs("kernel_boost/boost_gamma").draw()
    levels = []
    for ax in figure.axes:
        grey_line = ax.lines[0]
        levels.append(grey_line.get_ydata()[0])
    assert levels == [0.3, 0.3, 0.0, 0.0]
