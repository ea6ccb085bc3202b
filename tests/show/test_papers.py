"""The figures and tables of all papers draw what is in the tables."""

import numpy as np
import pandas as pd
import pytest
from made_tables import Inputs
from project import archived_names, one_of_each_paper

from noisylabels import statistics
from reproduction.run.results import COLUMNS, DEFAULTS
from reproduction.show import stock


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", one_of_each_paper(archived_names("figure")))
def test_every_figure_is_drawn_at_full_scale_without_a_warning_and_fits_a_page(name):
    figure = Inputs(name).draw()
    figure.draw_without_rendering()
    width, height = figure.get_size_inches()
    assert 4 < width < 10.6
    assert 2 < height < 10.1
    assert max(len(ax.get_title()) for ax in figure.axes) < 42


@pytest.mark.parametrize("repetitions", [1, 6])
@pytest.mark.parametrize("name", one_of_each_paper(archived_names("table")))
def test_every_table_has_all_numbers_at_full_scale(name, repetitions):
    frame = Inputs(name, repetitions).draw()
    has_p_values = any(column.startswith("p ") for column in frame)
    if repetitions > 1 or not has_p_values:
        is_missing = frame.map(lambda cell: "nan" in str(cell).split())
        assert not is_missing.any(axis=None)


def test_a_table_of_any_methods_shows_the_mean_of_each():
    inputs = Inputs("kernel_boost/rivals")
    methods = inputs.settings["rivals"]["methods"]
    for name in ("klr", "rklr", "rkfd"):
        del methods[name]
    table = stock.errors(inputs.results())
    assert list(table.columns) == ["flips", *methods]
    assert list(table.index.unique())[:2] == ["banana", "breast cancer"]
    rows = inputs.rows(dataset="ida_banana", noise="independent 0.1")
    is_error_of_svm = (rows["method"] == "svm") & (rows["metric"] == "error")
    values = rows.loc[is_error_of_svm, "value"]
    rows_of_banana = table.loc["banana"].set_index("flips")
    cell = rows_of_banana.loc["10 % symmetric", "svm"].strip("*")
    assert cell == f"{values.mean():.2f} ± {values.std():.2f}"


def test_the_table_of_ones_own_set_says_which_methods_may_be_the_best():
    """B has errors 0.5 above A's, with noise, C always 2; the second noise sets A and B apart."""
    inputs = Inputs("kernel_boost/rivals")
    change = np.array([2, -1, 3, -2, 1, -1, 2, 0])
    noises = ["independent 0.1", "negative_only 0.3"]
    settings = inputs.settings["rivals"]
    settings["datasets"] = ["ida_heart"]
    settings["noise"] = noises
    settings["methods"] = dict.fromkeys("ABC", settings["methods"]["svm"])
    nearly_constant = change / 99
    gaps = {
        (noises[0], "A"): 0 * change,
        (noises[0], "B"): change,
        (noises[0], "C"): 2 + nearly_constant,
        (noises[1], "A"): 0 * change,
        (noises[1], "B"): 3 + nearly_constant,
        (noises[1], "C"): 2 + nearly_constant,
    }
    common = DEFAULTS | {"dataset": "ida_heart", "source": "genuine", "metric": "error"}
    rows = []
    for (noise, method), gaps_of_method in gaps.items():
        for repetition, gap in enumerate(gaps_of_method):
            keys = {"noise": noise, "method": method, "repetition": repetition}
            rows.append(common | keys | {"value": 10 + repetition + gap})
    inputs.tables["rivals"] = pd.DataFrame(rows)[COLUMNS]
    ranking = stock.ranked(inputs.results())
    cells = ranking.set_index("method")
    bold = cells.apply(lambda column: column.str.startswith("**"))
    assert bold.to_numpy().tolist() == [[True, True], [True, False], [False, False]]
    low, high = statistics.t_interval(statistics.mean_se(change), 0.975)
    interval = f"[{low:.2f}, {high:.2f}]"
    answer = (
        "A has the lowest error; not significantly different from it (95 %): "
        f"B (+0.50 {interval}). Test error in %"
    )
    assert answer in ranking.attrs["note"]
