"""Figures and tables on boosting show the numbers of their results."""

import numpy as np
import pandas as pd
from made_tables import Inputs

from kernel_boost import boosting_drawing as boosting


def test_the_last_rows_are_means_over_the_sets_beside_the_published_ones():
    inputs = Inputs("kernel_boost/boosters")
    selected = {"noise": "independent 0.3", "method": "GentleBoost"}
    inputs.published["boosters"] = [
        {"value": 21.12, "where": selected | {"dataset": inputs.settings["boosters"]["datasets"]}},
        {"value": 20.62, "sd": 1.6, "where": selected | {"dataset": "ida_banana"}},
    ]
    frame = inputs.draw()
    by_set = inputs.rows(metric="error", **selected).groupby("dataset")["value"]
    cells = frame.loc[boosting.ALL].set_index("error")["GentleBoost"]
    assert cells["ours"].strip("*") == f"{by_set.mean().mean():.2f} ± {by_set.std().mean():.2f}"
    assert cells["published"] == "21.12"
    assert frame.loc["banana"].set_index("error").loc["published", "GentleBoost"] == "20.62 ± 1.60"
    assert "rBoost/LR 0." in frame.attrs["note"]
    asymmetric = Inputs("kernel_boost/boosters_asymmetric")
    selected = {"noise": "negative_only 0.3", "dataset": "ida_heart", "method": "AdaBoost/LR"}
    cell = asymmetric.draw().loc["heart"].set_index("error").loc["ours", "AdaBoost/LR"]
    errors = asymmetric.rows(metric="error", **selected)["value"]
    assert cell.strip("*").split()[0] == f"{errors.mean():.2f}"


def test_the_choice_of_rounds_and_flips_is_the_symmetric_row_nearest_on_the_choosing_cells():
    inputs = Inputs("kernel_boost/boosters_grid")
    table = inputs.tables["boosters_grid"]
    cells = [entry["where"] for entry in inputs.published["boosters"]]
    printed = {
        (cell["noise"], cell["dataset"], cell["method"]): entry["value"]
        for entry, cell in zip(inputs.published["boosters"], cells, strict=True)
        if isinstance(cell["dataset"], str)
    }
    assert len(printed) == 2 * 7 * 8
    inputs.tables["boosters_grid"] = table = table[table["metric"] == "error"].copy()
    flips = table["noise"].where(table["noise"] == "negative_only 0.3", "independent 0.3")
    keys = zip(flips, table["dataset"], table["method"], strict=True)
    choosing = (table["method"] == "AdaBoost/LR") | (table["dataset"] == "ida_image")
    is_nearest = choosing & (table["noise"] == "independent 0.15") & (table["x"] == 200)
    far = np.where(is_nearest, 1.0, np.where(choosing, 2.0, 3.0))
    table["value"] = np.array([printed[key] for key in keys]) + far
    frame = inputs.draw()
    chosen = frame[frame["chosen on"].str.startswith("**")]
    assert list(chosen.index) == ["15 % symmetric"]
    assert chosen.iloc[0].tolist() == ["200", "**1.00**", "**3.00**", "**1.00**", *["**3.00**"] * 7]
    assert set(frame["all others"].str.strip("*")) == {"3.00"}


def test_a_clear_difference_is_marked_and_a_constant_one_too():
    worse, equal = np.random.default_rng(0).normal(0, 0.01, (2, 20))
    for sign, mark in ((1, " (+)"), (-1, " (-)")):
        differences = {("a", "svm"): sign * (0.1 + worse), ("a", "ldm"): equal - equal.mean()}
        columns = {pair: pd.Series(values) for pair, values in differences.items()}
        signs = boosting._mark_significant(columns)
        assert signs == {("a", "svm"): mark}


def test_the_grey_lines_are_the_true_rates():
    levels = [ax.lines[0].get_ydata()[0] for ax in Inputs("kernel_boost/boost_gamma").draw().axes]
    assert levels == [0.3, 0.3, 0.0, 0.0]
