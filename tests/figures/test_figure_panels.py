import numpy as np
import pandas as pd
import pytest
from figure_inputs import ARTIFACTS, synthetic

from noisylabels import statistics
from reproduction.figures import panels


@pytest.fixture(scope="module")
def table():
    return synthetic(ARTIFACTS["fig2"])


@pytest.mark.parametrize(("rows", "found"), [(None, "found: clean"), (0, "the table is empty")])
def test_select_names_the_artifact_the_missing_value_and_what_there_is(table, rows, found):
    message = rf"fig2: the results hold no rows with (method nobody|metric mse); .*{found}"
    with pytest.raises(panels.RenderError, match=message):
        panels.select(table.iloc[:rows], "fig2", metric="mse", method=["noisy", "nobody"])


def test_interval_is_the_t_interval_of_the_statistics(table):
    few = panels.select(table, "fig2", metric="mse", setting="shared_r", method=["noisy"])
    rows = pd.concat([few, few.assign(repetition=few["repetition"] + 3, value=few["value"] * 1.1)])
    shown = panels.mean_interval(rows, ["method", "x"]).loc["noisy"]
    for x, values in rows.groupby("x")["value"]:
        low, high = statistics.t_interval(statistics.mean_se(values))
        assert shown.loc[x, "mean"] - shown.loc[x, "half_width"] == pytest.approx(low)
        assert shown.loc[x, "mean"] + shown.loc[x, "half_width"] == pytest.approx(high)
        assert shown.loc[x, "n"] == 6


@pytest.mark.parametrize("n", [1, 2, panels.FEW - 1])
def test_few_repetitions_have_no_interval(n):
    rows = pd.DataFrame({"method": ["a", "b"] * n, "value": np.arange(2.0 * n)})
    assert (panels.mean_interval(rows, ["method"])["half_width"] == 0).all()


def test_few_runs_are_drawn_themselves():
    repetitions, steps = np.divmod(np.arange(6), 2)
    rows = pd.DataFrame({"method": "a", "x": steps, "repetition": repetitions, "value": np.arange(6.0)})
    _figure, axes = panels.grid_of_panels([""], [""], x_label="", y_label="")
    panels.learning_curves(axes[0, 0], rows)
    assert [list(line.get_ydata()) for line in axes[0, 0].lines] == [[0, 1], [2, 3], [4, 5], [2, 3]]
    assert not axes[0, 0].collections  # no band


@pytest.mark.parametrize(("values", "expected"), [([0.03, 0.05], "0.05"), ([0.001, 10], "0.01")])
def test_log_axes_show_plain_numbers(values, expected):
    figure, axes = panels.grid_of_panels([""], [""], x_label="x", y_label="y")
    axes[0, 0].plot([0, 1], values)
    panels.log_axis(axes[0, 0].yaxis)
    figure.draw_without_rendering()
    assert expected in [label.get_text() for label in axes[0, 0].get_yticklabels()]


def test_bands_cover_the_interval():
    _, axes = panels.grid_of_panels([""], [""], x_label="x", y_label="y")
    panels.curve(axes[0, 0], [1, 2], [1.0, 2.0], [0.5, 0.25], "noisy")
    y = axes[0, 0].collections[0].get_paths()[0].vertices[:, 1]
    assert np.isclose([y.min(), y.max()], [0.5, 2.25]).all()


@pytest.mark.parametrize("count", [1, 4, 7, 12, 20])
def test_the_legend_fits_into_the_figure_and_the_panels_keep_their_size(count):
    figure, axes = panels.grid_of_panels(["a", "b"], ["c"], x_label="x", y_label="y", width=7.2)
    before = figure.get_size_inches()[1] * axes[0, 0].get_position().height
    panels.shared_legend(figure, panels.handles([f"method number {i}" for i in range(count)]))
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1
    assert box.y1 <= axes[1, 0].get_window_extent().y0
    assert figure.get_size_inches()[1] * axes[0, 0].get_position().height == pytest.approx(before)
