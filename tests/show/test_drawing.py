"""Panels, looks, formats: what the figures and tables of all papers share."""

import itertools
import os
import subprocess
import sys

import matplotlib
import numpy as np
import pandas as pd
import pytest
from made_tables import Inputs
from project import archived_names, load_project

from noisylabels import statistics
from reproduction.run.results import COLUMNS, DEFAULTS
from reproduction.show import names, panels, stock, style, tables
from reproduction.show.panels import RenderError, Results, Shown
from reproduction.show.rendering import draw, find, render
from reproduction.spec.papers import HOME, list_papers


@pytest.fixture(scope="module")
def fig2():
    return Inputs("ors/fig2", repetitions=3).tables["fig2"]


def written(table, path):
    table.to_csv(path, index=False)
    return path


def written_tables(inputs, folder):
    paths = {}
    for name, table in inputs.tables.items():
        paths[name] = written(table, folder / f"{name}.csv")
    return paths


# Rows and intervals


@pytest.mark.parametrize(
    ("rows", "values_found"),
    [
        (None, "found: clean"),
        (0, "the table is empty"),
    ],
)
def test_select_names_the_artifact_the_missing_value_and_what_there_is(fig2, rows, values_found):
    message = rf"fig2: the results hold no rows with (method nobody|metric mse); .*{values_found}"
    with pytest.raises(RenderError, match=message):
        panels.select(fig2.iloc[:rows], "fig2", metric="mse", method=["noisy", "nobody"])


def test_interval_is_the_t_interval_of_the_statistics(fig2):
    keys = {"metric": "mse", "setting": "shared_r", "method": ["noisy"]}
    rows = panels.select(fig2, "fig2", **keys)
    further_rows = rows.copy()
    further_rows["repetition"] += 3
    further_rows["value"] *= 1.1
    rows = pd.concat([rows, further_rows])
    shown = panels.mean_interval(rows, ["method", "x"]).loc["noisy"]
    for x, values in rows.groupby("x")["value"]:
        mean, half_width, n = shown.loc[x]
        expected = statistics.t_interval(statistics.mean_se(values))
        assert (mean - half_width, mean + half_width) == pytest.approx(expected)
        assert n == len(values) >= panels.FEW


def test_few_repetitions_have_no_interval_and_are_drawn_themselves():
    columns = {
        "method": "a",
        "x": [0, 1, 0, 1, 0, 1],
        "repetition": [0, 0, 1, 1, 2, 2],
        "value": np.arange(6.0),
    }
    rows = pd.DataFrame(columns)
    intervals = panels.mean_interval(rows, ["method", "x"])
    assert (intervals["half_width"] == 0).all()
    _figure, axes = panels.grid_of_panels([""], [""], x_label="", y_label="")
    panel = axes[0, 0]
    panels.learning_curves(panel, rows)
    repetitions = [[0, 1], [2, 3], [4, 5]]
    mean = [2, 3]
    assert [list(line.get_ydata()) for line in panel.lines] == [*repetitions, mean]
    assert not panel.collections  # no band


# Panels


@pytest.mark.parametrize(("values", "expected"), [([0.03, 0.05], "0.05"), ([0.001, 10], "0.01")])
def test_log_axes_show_plain_numbers(values, expected):
    figure, axes = panels.grid_of_panels([""], [""], x_label="x", y_label="y")
    axes[0, 0].plot([0, 1], values)
    panels.log_axis(axes[0, 0].yaxis)
    figure.draw_without_rendering()
    assert expected in [label.get_text() for label in axes[0, 0].get_yticklabels()]


def numbers(axis):
    low, high = axis.get_view_interval()
    ticks = zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=True)
    return [label.get_text() for position, label in ticks if low <= position <= high]


@pytest.mark.parametrize("values", [(0.4, 1.2), (0.2, 0.9), (2.0, 80.0), (3.0, 9.0), (1e-7, 1e6)])
def test_a_logarithmic_axis_has_at_least_three_numbers(values):
    _figure, axes = panels.grid_of_panels([""], [""])
    ax = axes[0, 0]
    ax.plot([0, 1], values)
    panels.log_axis(ax.yaxis)
    assert len(numbers(ax.yaxis)) >= 3


@pytest.mark.parametrize(
    ("largest", "expected"),
    [
        (2e4, "10000"),
        (2e6, "$\\mathdefault{10^{4}}$"),
    ],
)
def test_the_logarithmic_axes_of_a_figure_write_a_number_in_one_way(largest, expected):
    _figure, axes = panels.grid_of_panels([""], ["", ""], share_y="none", share_x=False)
    first, second = axes[0]
    for panel, highest in ((first, 2e4), (second, largest)):
        panel.plot([0, 1], [1.0, highest])
        panels.log_axis(panel.yaxis)
    assert expected in numbers(first.yaxis)
    assert expected in numbers(second.yaxis)


def test_bands_cover_the_interval():
    _, axes = panels.grid_of_panels([""], [""], x_label="x", y_label="y")
    panels.curve(axes[0, 0], [1, 2], [1.0, 2.0], [0.5, 0.25], "noisy")
    y = axes[0, 0].collections[0].get_paths()[0].vertices[:, 1]
    assert np.isclose([y.min(), y.max()], [0.5, 2.25]).all()


@pytest.mark.parametrize("count", [1, 7, 20])
def test_the_legend_fits_into_the_figure_and_the_panels_keep_their_size(count):
    figure, axes = panels.grid_of_panels(["a", "b"], ["c"], x_label="x", y_label="y", width=7.2)

    def panel_height():
        return figure.get_size_inches()[1] * axes[0, 0].get_position().height

    before = panel_height()
    methods = [f"method number {i}" for i in range(count)]
    panels.shared_legend(figure, panels.handles(methods))
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1
    assert box.y1 <= axes[1, 0].get_window_extent().y0
    assert panel_height() == pytest.approx(before)


# From a name to a file


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("regression_curves", "not of the form module:function"),
        ("nobody:curves", "no module 'nobody'"),
        (
            "ors.drawing:regresion_curves",
            "no function 'regresion_curves'; close names: regression_curves",
        ),
        ("ors.drawing:_curves", "no function '_curves'"),
        ("ors:Path", "no function 'Path'"),
    ],
)
def test_a_wrong_render_name_is_explained(name, message):
    with pytest.raises(RenderError, match=message):
        find(name)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("method == 'nobody'", r"fig2: the result table of fig2 \(.*table.csv\) has no rows"),
        ("method != 'beta'", "fig2: the results hold no rows with method beta"),
    ],
)
def test_what_a_table_lacks_is_named(fig2, tmp_path, rows, message):
    paths = {"fig2": written(fig2.query(rows), tmp_path / "table.csv")}
    artifact = load_project("full")["ors/fig2"]
    shown = {"fig2": Shown(artifact.settings, artifact.protocol)}
    with pytest.raises(RenderError, match=message):
        render(artifact.render, "fig2", paths, shown)


def test_stand_ins_are_named_in_figures_and_tables(tmp_path):
    inputs = Inputs("ors/final_errors", repetitions=2)
    inputs.tables["fig5"] = inputs.tables["fig5"].assign(dataset="speech", source="stand-in")
    paths = written_tables(inputs, tmp_path)
    note = "stand-in data, not comparable: speech"
    figure = render("ors.drawing:speech_curves", "fig5", {"fig5": paths["fig5"]}, inputs.shown())
    assert note in [text.get_text() for text in figure.texts]
    drawn = render("ors.drawing:final_errors", "final_errors", paths, inputs.shown())
    assert drawn.attrs["note"].endswith(f"{note}.")


@pytest.mark.parametrize(
    ("name", "suffixes"),
    [
        ("fig3", [".png", ".pdf"]),
        ("final_errors", tables.SUFFIXES),
    ],
)
def test_every_format_is_drawn(name, suffixes, tmp_path):
    inputs = Inputs(f"ors/{name}", repetitions=2)
    paths = written_tables(inputs, tmp_path)
    folder = tmp_path / "out"
    folder.mkdir()
    files = [folder / f"{name}{suffix}" for suffix in suffixes]
    draw(inputs.artifact.render, name, paths, inputs.shown(), files)
    assert sorted(folder.iterdir()) == sorted(files)


DRAW = """
import sys
from reproduction.show import panels, style
with style.context():
    figure, axes = panels.grid_of_panels([""], ["a"], x_label="x", y_label=r"$\\epsilon$")
    panels.curve(axes[0, 0], [1, 2, 3], [1, 2, 4], [0.1, 0.2, 0.3], "noisy")
    panels.shared_legend(figure, panels.handles(["noisy", "somebody's own"]))
    style.save(figure, sys.argv[1:])
"""


def test_two_processes_write_the_same_bytes_and_nothing_else(tmp_path):
    """So the look of an unknown method depends on its label only, not on the seed of the hashes."""
    files = [f"figure.{suffix}" for suffix in ("pdf", "png", "svg")]
    for seed in ("0", "1"):
        folder = tmp_path / seed
        folder.mkdir()
        changes = {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-W", "error", "-c", DRAW]
        command += [str(folder / file) for file in files]
        subprocess.run(command, env=os.environ | changes, check=True, capture_output=True)
    first = sorted((tmp_path / "0").iterdir())
    second = sorted((tmp_path / "1").iterdir())
    assert [file.name for file in first] == files
    for first_file, second_file in zip(first, second, strict=True):
        assert first_file.read_bytes() == second_file.read_bytes()
        assert first_file.stat().st_size > 1000


def test_an_interrupted_save_leaves_nothing(tmp_path):
    class Broken:
        def savefig(self, path, **_):
            path.write_text("half")
            raise RuntimeError("disk full")

    with pytest.raises(RuntimeError, match="disk full"):
        style.save(Broken(), [tmp_path / "figure.png"])
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_suffix_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(ValueError, match=r"figure.jpeg: figures are written as .png, .pdf, .svg"):
        style.save(None, [tmp_path / "figure.png", tmp_path / "figure.jpeg"])
    with pytest.raises(ValueError, match=r"table\.xlsx"):
        tables.save(None, [tmp_path / "table.csv", tmp_path / "table.xlsx"])
    assert list(tmp_path.iterdir()) == []


# Looks


def test_unknown_methods_look_different():
    assert len({style.look_of(f"method {i}") for i in range(100)}) > 85


@pytest.mark.parametrize("paper", list_papers())
def test_listed_looks_use_known_colours_dashes_and_markers(paper):
    with names.using(HOME / paper):
        for look in map(style.look_of, names.listed("methods")):
            assert look.colour in style.COLOURS
            assert look.dash in style.DASHES
            assert look.marker in names.MARKERS


@pytest.mark.parametrize("name", archived_names("figure"))
def test_methods_shown_together_differ_even_without_colour(name):
    settings = load_project("full")[name].settings
    methods = list(settings.select_methods() or getattr(settings, "strategies", []))
    if name == "robust_sgd/optimiser_or_loss":  # a curve for each first word of a method, its loss
        methods = list(dict.fromkeys(method.partition(" ")[0] for method in methods))
    with names.using(load_project("full")[name].file.parent):
        looks = {method: style.look_of(method) for method in methods}
    for first, second in itertools.combinations(methods, 2):
        a = looks[first]
        b = looks[second]
        pair = f"{first} and {second}"
        assert a.marker != b.marker, f"{pair} share a marker: list one of them in names.yaml"
        assert (a.colour, a.dash) != (b.colour, b.dash), f"{pair} share a line"


def test_controls_step_back():
    with names.using(HOME / "ors"):
        assert style.line("clean")["linewidth"] < style.line("noisy")["linewidth"]
        assert style.line("clean")["marker"] == ""
        assert style.label("opt") == "rule (5) with the clean label (oracle)"


def test_the_users_own_settings_have_no_effect():
    with matplotlib.rc_context({"font.size": 30, "lines.linewidth": 9}):
        with style.context():
            assert matplotlib.rcParams["font.size"] == 9
        assert matplotlib.rcParams["font.size"] == 30


# Tables


WRITTEN = {
    "csv": ['section,method,"error, all"\nA & B,x_1,0.10 ± 0.01\nA & B,x_2,0.2 | 3\nC,x_1,5 % <\n'],
    "md": ["| A & B | x_1 | **0.10 ± 0.01** |\n|  | x_2 | 0.2 \\| 3 |\n| C | x_1 | 5 % < |\n"],
    "tex": [
        r"A \& B & x\_1 & \textbf{0.10 $\pm$ 0.01} \\",
        r"5 \% <",
        r"{l}{stand-in data: a\_b} \\",
    ],
    "html": [
        "<td><strong>0.10 ± 0.01</strong></td>",
        "<td>A &amp; B</td>",
        "<p>stand-in data: a_b</p>",
    ],
}


@pytest.mark.parametrize("suffix", WRITTEN)
def test_every_format_escapes_marks_bold_and_shows_sections_once(suffix, tmp_path):
    """But CSV, which has no markup and repeats the sections."""
    rows = [
        ("A & B", "x_1", "**0.10 ± 0.01**"),
        ("A & B", "x_2", "0.2 | 3"),
        ("C", "x_1", "5 % <"),
    ]
    frame = pd.DataFrame(rows, columns=["section", "method", "error, all"]).set_index("section")
    tables.save(tables.noted(frame, "stand-in data: a_b"), [tmp_path / f"table.{suffix}"])
    text = (tmp_path / f"table.{suffix}").read_text(encoding="utf-8")
    assert [part for part in WRITTEN[suffix] if part not in text] == []


def test_a_plain_index_is_not_shown_and_nothing_is_blanked(tmp_path):
    frame = pd.DataFrame({"a": ["1", "1"], "b": ["2", "3"]})
    tables.save(frame, [tmp_path / "table.csv", tmp_path / "table.md"])
    assert (tmp_path / "table.csv").read_text() == "a,b\n1,2\n1,3\n"
    assert (tmp_path / "table.md").read_text().splitlines()[3] == "| 1 | 3 |"


@pytest.mark.parametrize(
    ("mean", "se", "text"),
    [
        (0.11634, 0.00488, "0.1163 ± 0.0049"),
        (12.34, 1.26, "12.3 ± 1.3"),
        (1234.6, 23.4, "1235 ± 23"),
        (0.925, 0.00996, "0.925 ± 0.010"),
        (0.5, 0.0, "0.5"),
        (1.3e-16, 1.94e-17, "1.3e-16 ± 1.9e-17"),
        (0.1234567, float("nan"), "0.123"),
    ],
)
def test_the_error_has_two_digits(mean, se, text):
    assert tables.mean_se(mean, se) == text


def test_means_that_tie_are_all_the_lowest():
    assert tables.lowest(pd.Series({"a": 0.3, "b": 0.1 + 0.2, "c": 0.5})) == {"a", "b"}
    assert tables.lowest(pd.Series({"a": 0.0, "b": 0.0, "c": 1e-9})) == {"a", "b"}
    assert tables.lowest(pd.Series(dtype=float)) == set()
    values = pd.DataFrame({0: [1.0, 2.0, 0.5], 1: [3.0, 2.0, 0.5]}, ["a", "b", "free"])
    cells = tables.mean_se_cells(values, ["free"])
    assert [method for method, cell in cells.items() if cell.startswith("**")] == ["a", "b"]


# Any result table: a panel for each metric and condition, a curve for each method


def rows(metrics=("error",), noises=("a", "b"), xs=(1.0, 2.0)):
    """Method "better" has 10 x + repetition, "worse" one more."""
    rows = []
    shifts = {"better": 0, "worse": 1}
    cells = itertools.product(metrics, noises, shifts, range(3), xs)
    for metric, noise, method, repetition, x in cells:
        row = {
            "metric": metric,
            "noise": noise,
            "method": method,
            "repetition": repetition,
            "x": x,
            "value": shifts[method] + 10 * x + repetition,
        }
        rows.append(DEFAULTS | row)
    return pd.DataFrame(rows)[COLUMNS]


@pytest.mark.parametrize(
    ("metrics", "noises"),
    [
        (["error"], ["own"]),
        (["error", "cost"], ["own", "independent 0.1"]),
    ],
)
def test_a_panel_for_each_metric_and_condition(metrics, noises):
    figure = stock.curves(Results({"any": rows(metrics, noises)}, {}))
    assert len(figure.axes) == len(metrics) * len(noises)
    for axes in figure.axes:
        means = []
        for line in axes.lines:
            if len(line.get_xdata()) == 2 and line.get_alpha() is None:
                means.append(list(line.get_ydata()))
        assert means == [[11, 21], [12, 22]]
    titles = {axes.get_title() for axes in figure.axes} - {""}
    assert titles == ({"own", "10 % symmetric"} if len(noises) > 1 else set())


def test_the_table_of_any_table_holds_the_last_value_of_every_method():
    frame = stock.last_values(Results({"any": rows()}, {}))
    assert list(frame.index.names) == ["dataset", "noise", "setting", "metric"]
    assert frame.loc[("synthetic", "a", "", "error")].to_list() == [
        "**21.00 ± 0.58**",
        "22.00 ± 0.58",
    ]
    without_x = rows(xs=(float("nan"),)).assign(value=3.0)
    frame = stock.last_values(Results({"any": without_x}, {}))
    # no higher than the other, so bold too
    assert frame.loc[("synthetic", "b", "", "error"), "worse"] == "**3**"
