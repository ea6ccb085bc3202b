"""Figures and tables show the numbers of their results."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from made_tables import Inputs

from reproduction.show.panels import Results
from robust_sgd import drawing as robust_sgd

pytestmark = pytest.mark.usefixtures("house_style")


def test_stand_ins_are_named_and_noise_is_in_words():
    inputs = Inputs("robust_sgd/table1", repetitions=3)
    table = inputs.tables["table1"]
    table.loc[table["dataset"] == "ijcnn1", "source"] = "a stand-in"
    results = inputs.results()
    by_noise = robust_sgd.errors_by_noise(results)
    titles = [ax.get_title() for ax in visible_panels(by_noise)]
    assert "ijcnn1 (stand-in)" in titles
    curves = robust_sgd.error_curves(results)
    titles = [ax.get_title() for ax in curves.axes]
    assert "40 % flipped" in titles
    objectives = robust_sgd.objectives(results)
    (legend,) = objectives.legends
    assert "no flips" in written(legend.get_texts())


def visible_panels(figure):
    return [ax for ax in figure.axes if ax.get_visible()]


def written(texts):
    return [text.get_text() for text in texts]


def one_set():
    """Make results of Table 1 with its first data set alone."""
    inputs = Inputs("robust_sgd/table1", repetitions=3)
    settings = inputs.settings["table1"]
    first, *_ = settings["datasets"]
    settings["datasets"] = [first]
    inputs.tables = {"table1": inputs.rows(dataset=first)}
    return inputs


def test_what_differs_by_rounding_alone_has_no_variance():
    inputs = one_set()
    table = inputs.tables["table1"]
    inputs.tables["table1"] = table.assign(value=9.7 + 1e-13 * table["repetition"])
    figure = robust_sgd.variances(inputs.results())
    lines = figure.axes[0].get_lines()
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
    main, side = visible_panels(figure)
    assert written(side.get_xticklabels()) == ["90"]
    _, highest_of_main = main.get_ylim()
    lowest_of_side, _ = side.get_ylim()
    assert highest_of_main < 100 < lowest_of_side


def test_table_1_has_means_and_deviations_next_to_the_published_ones():
    inputs = Inputs("robust_sgd/table1", repetitions=30)
    cell = {"dataset": "a7a", "noise": "symmetric 0", "method": "log", "metric": "error"}
    entry = {"id": "p", "value": 15.16, "sd": 0.06, "where": cell | {"x": "last"}}
    results = dataclasses.replace(inputs.results(), published_of={"table1": [entry]})
    table = robust_sgd.clean_errors(results)
    assert table.index.names == ["method", "error"]
    theirs = table.xs("published", level="error")["a7a"]
    assert set(theirs) == {"-", "15.16 ± 0.06"}
    assert theirs["log"] == "15.16 ± 0.06"
    rows = inputs.rows(**cell)
    is_last = rows["x"] == rows["x"].max()
    last = rows.loc[is_last, "value"]
    ours = table.xs("ours", level="error")["a7a"]
    assert ours["log"].strip("*") == f"{last.mean():.2f} ± {last.std():.2f}"


def test_table_1_has_the_methods_in_the_order_of_the_paper():
    inputs = Inputs("robust_sgd/table1", repetitions=3)
    table = robust_sgd.clean_errors(inputs.results())
    methods = table.index.unique("method")
    assert list(methods[:2]) == ["liblinear_primal", "liblinear_dual"]
    assert methods[-1] == "rgomp"


def test_redrawn_trials_are_below_those_of_the_paper():
    inputs = Inputs("robust_sgd/table1", repetitions=30)
    errors = inputs.rows(metric="error")
    redrawn = errors.assign(metric="redrawn_error", value=errors["value"] + 1)
    inputs.tables = {"table1": pd.concat([errors, redrawn])}
    table = robust_sgd.redrawn_errors(inputs.results())
    assert table.index.names == ["data set", "training labels", "trials differ in"]
    ways = table.index.get_level_values("trials differ in")
    assert list(ways[:4]) == ["orders", "redrawn", "orders", "redrawn"]
    means = []
    for cell in table["log"].iloc[:2]:
        mean, *_ = cell.strip("*").split()
        means.append(float(mean))
    mean_of_orders, mean_of_redrawn = means
    assert mean_of_redrawn - mean_of_orders == pytest.approx(1, abs=0.02)


def test_every_loss_is_drawn_for_every_way_of_training():
    inputs = Inputs("robust_sgd/optimiser_or_loss", repetitions=3)
    methods = inputs.settings["optimiser_or_loss"]["methods"]
    losses = {method.partition(" ")[0] for method in methods}
    axes = inputs.draw().axes
    for ax in axes:
        assert len(ax.containers) == len(losses)
    ways = written(axes[-1].get_xticklabels())
    assert ways == list(robust_sgd.WAYS.values())


def test_the_table_of_theorem_1_has_the_means_over_steps_and_runs():
    cell = {"noise": "symmetric 0", "setting": "0.5", "method": "from zero"}
    means = {"gap": 0.1, "published": 0.2, "corrected": 0.3}
    rows = []
    for metric, mean in means.items():
        rows.append(cell | {"metric": metric, "value": mean - 0.01})
        rows.append(cell | {"metric": metric, "value": mean + 0.01})
    results = Results({"theorem1": pd.DataFrame(rows)}, {})
    (row,) = robust_sgd.theorem_bounds(results).to_numpy()
    assert list(row) == ["0.5", "0.1", "0.2", "0.3"]
