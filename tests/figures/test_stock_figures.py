"""Any result table can be drawn: a panel for each metric and condition, a curve for each method."""

import pandas as pd
import pytest

from reproduction.figures import stock
from reproduction.figures.panels import Results
from reproduction.results import COLUMNS, DEFAULTS


def rows(metrics=("error",), noises=("a", "b"), xs=(1.0, 2.0)):
    return pd.DataFrame(
        [
            DEFAULTS
            | {"noise": noise, "method": method, "repetition": repetition, "metric": metric, "x": x}
            | {"value": shift + 10 * x + repetition}
            for metric in metrics
            for noise in noises
            for shift, method in enumerate(["better", "worse"])
            for repetition in range(3)
            for x in xs
        ]
    )[COLUMNS]


@pytest.mark.parametrize(
    ("metrics", "noises"), [(["error"], ["own"]), (["error", "cost"], ["own", "independent 0.1"])]
)
def test_a_panel_for_each_metric_and_condition(metrics, noises):
    figure = stock.curves(Results({"any": rows(metrics, noises)}, {}))
    assert len(figure.axes) == len(metrics) * len(noises)
    for axes in figure.axes:
        curves = [line for line in axes.lines if len(line.get_xdata()) == 2 and line.get_alpha() is None]
        assert [list(line.get_ydata()) for line in curves] == [[11, 21], [12, 22]]
    titles = {axes.get_title() for axes in figure.axes} - {""}
    assert titles == ({"own", "10 % symmetric"} if len(noises) > 1 else set())


def test_the_table_holds_the_last_value_of_every_method():
    frame = stock.last_values(Results({"any": rows()}, {}))
    assert list(frame.index.names) == ["dataset", "noise", "setting", "metric"]
    assert list(frame.columns) == ["better", "worse"]
    assert frame.loc[("synthetic", "a", "", "error")].to_list() == ["**21.00 ± 0.58**", "22.00 ± 0.58"]


def test_a_table_without_x_is_shown_as_it_is():
    frame = stock.last_values(Results({"any": rows(xs=(float("nan"),)).assign(value=3.0)}, {}))
    assert frame.loc[("synthetic", "b", "", "error"), "worse"] == "**3**"  # as low as the other
