"""Figures and tables show the numbers of their results."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from made_tables import Inputs

from reproduction.show.panels import Results
from robust_sgd import drawing as robust_sgd


def test_stand_ins_are_named_and_noise_is_in_words():
    inputs = Inputs("robust_sgd/table1", repetitions=3)
    table = inputs.tables["table1"]
    table.loc[table["dataset"] == "ijcnn1", "source"] = "a stand-in"
    results = inputs.results()
    by_noise = robust_sgd.errors_by_noise(results)
    assert "ijcnn1 (stand-in)" in visible_titles(by_noise)
    curves = robust_sgd.error_curves(results)
    assert "40 % flipped" in [ax.get_title() for ax in curves.axes]
    figure = robust_sgd.objectives(results)
    (legend,) = figure.legends
    assert "no flips" in [text.get_text() for text in legend.get_texts()]


def visible_titles(figure):
    return [ax.get_title() for ax in figure.axes if ax.get_visible()]


def one_set():
    """Draw Table 1 with its first data set alone."""
    inputs = Inputs("robust_sgd/table1", repetitions=3)
    settings = inputs.settings["table1"]
    settings["datasets"] = settings["datasets"][:1]
    inputs.tables = {"table1": inputs.rows(dataset=settings["datasets"][0])}
    return inputs


def test_what_differs_by_rounding_alone_has_no_variance():
    inputs = one_set()
    table = inputs.tables["table1"]
    inputs.tables["table1"] = table.assign(value=9.7 + 1e-13 * table["repetition"])
    (ax, *_) = robust_sgd.variances(inputs.results()).axes
    lines = ax.get_lines()
    for curve, mark in zip(lines[::2], lines[1::2], strict=True):  # an open triangle at every rate
        assert mark.get_markerfacecolor() == "white"
        assert np.array_equal(curve.get_xdata(), mark.get_xdata())
        assert np.isnan(curve.get_ydata()).all()  # without variance the line is broken


def test_rates_above_one_half_have_a_panel_beside_the_others():
    inputs = one_set()
    table = inputs.tables["table1"]
    settings = inputs.settings["table1"]
    low = settings["noise"][0]
    high = "symmetric 0.9"
    is_low = table["noise"] == low
    high_rates = table[is_low].assign(noise=high, value=800.0)
    settings["noise"] = [low, high]
    inputs.tables["table1"] = pd.concat([table, high_rates])
    figure = robust_sgd.errors_by_noise(inputs.results())
    main, side = (ax for ax in figure.axes if ax.get_visible())
    assert [tick.get_text() for tick in side.get_xticklabels()] == ["90"]
    assert main.get_ylim()[1] < 100 < side.get_ylim()[0]


def test_tables_have_means_and_deviations_beside_printed_ones_and_redrawn_trials_below():
    inputs = Inputs("robust_sgd/table1", repetitions=30)
    cell = {"dataset": "a7a", "noise": "symmetric 0", "method": "log", "metric": "error"}
    selected = cell | {"x": "last"}
    published = {"table1": [{"id": "p", "value": 15.16, "sd": 0.06, "where": selected}]}
    results = dataclasses.replace(inputs.results(), published_of=published)
    table = robust_sgd.clean_errors(results)
    assert table.index.names == ["method", "error"]
    methods = list(dict.fromkeys(table.index.get_level_values("method")))
    assert methods[:2] == ["liblinear_primal", "liblinear_dual"]
    assert methods[-1] == "rgomp"
    theirs = table.xs("published", level="error")["a7a"]
    assert set(theirs) == {"-", "15.16 ± 0.06"}
    assert theirs["log"] == "15.16 ± 0.06"
    rows = inputs.rows(**cell)
    last = rows.loc[rows["x"] == rows["x"].max(), "value"]
    ours = table.loc[("log", "ours"), "a7a"]
    assert ours.strip("*") == f"{last.mean():.2f} ± {last.std():.2f}"
    errors = inputs.rows(metric="error")
    redrawn = errors.assign(metric="redrawn_error", value=errors["value"] + 1)
    two_metrics = pd.concat([errors, redrawn])
    with_redrawn = dataclasses.replace(results, tables={"table1": two_metrics})
    table = robust_sgd.redrawn_errors(with_redrawn)
    assert table.index.names == ["data set", "training labels", "trials differ in"]
    ways = table.index.get_level_values(2)
    assert ways.tolist()[:4] == ["orders", "redrawn", "orders", "redrawn"]
    means = []
    for cell in table["log"].iloc[:2]:
        written_mean, *_ = cell.strip("*").split()
        means.append(float(written_mean))
    orders, redrawn_trials = means
    assert redrawn_trials - orders == pytest.approx(1, abs=0.02)


def test_every_loss_is_drawn_for_every_way_of_training():
    inputs = Inputs("robust_sgd/optimiser_or_loss", repetitions=3)
    methods = inputs.settings["optimiser_or_loss"]["methods"]
    losses = {method.partition(" ")[0] for method in methods}
    axes = inputs.draw().axes
    assert {len(ax.containers) for ax in axes} == {len(losses)}
    ways = [tick.get_text() for tick in axes[-1].get_xticklabels()]
    assert ways == list(robust_sgd.WAYS.values())


def test_theorem_table():
    cell = {"noise": "symmetric 0", "setting": "0.5", "method": "from zero"}
    means = [("gap", 0.1), ("published", 0.2), ("corrected", 0.3)]
    rows = []
    for metric, mean in means:
        rows.append(cell | {"metric": metric, "value": mean - 0.01})
        rows.append(cell | {"metric": metric, "value": mean + 0.01})
    table = robust_sgd.theorem_bounds(Results({"theorem1": pd.DataFrame(rows)}, {}))
    assert table.iloc[0].tolist() == ["0.5", "0.1", "0.2", "0.3"]
