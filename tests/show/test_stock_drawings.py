"""The drawings for everyone: curves and last values of any result table."""

import pandas as pd
import pytest

from reproduction.run.results import COLUMNS, DEFAULTS
from reproduction.show import names, stock, style
from reproduction.show.panels import RenderError, Results


def table(metrics, methods=("a", "b"), repetitions=6):
    """Rows of metrics, name -> places on x (None: a single number); method b has higher values."""
    rows = []
    for metric, places in metrics.items():
        for entry in places:
            for number, method in enumerate(methods):
                for repetition in range(repetitions):
                    value = 1 + number + 0.01 * repetition
                    row = {"method": method, "repetition": repetition, "metric": metric}
                    if entry is not None:
                        row["x"] = entry
                    rows.append(DEFAULTS | row | {"value": value})
    return pd.DataFrame(rows)[COLUMNS]


def results(*tables, protocol="mine.code:errors"):
    named = {f"table{number}": table for number, table in enumerate(tables, start=1)}
    return Results(named, dict.fromkeys(named), protocol=protocol)


@pytest.fixture
def paper(tmp_path):
    """A paper whose names say what is better."""
    text = "metrics: {gain: {name: gain / dB, better: higher}, loss: {better: lower}, size: size}\n"
    (tmp_path / "names.yaml").write_text(text, encoding="utf-8")
    with names.using(tmp_path):
        yield


def bold(frame):
    """Map each metric to the method whose cell is bold."""
    bold_cells = {}
    for keys, cells in frame.iterrows():
        marked = [method for method, cell in cells.items() if cell.startswith("**")]
        bold_cells[keys[-1]] = ", ".join(marked)
    return bold_cells


def test_the_best_is_bold_by_what_the_names_say_and_nothing_where_they_say_nothing(paper):
    metrics = {key: [None] for key in ("gain", "loss", "size", "roc_auc", "error")}
    frame = stock.last_values(results(table(metrics)))
    assert bold(frame) == {"gain / dB": "b", "loss": "a", "size": "", "roc auc": "b", "error": "a"}
    assert frame.attrs["note"].endswith("bold where the metric says which is better.")


@pytest.mark.parametrize(
    ("metric", "note"),
    [
        ("gain", "; the highest mean is bold."),
        ("loss", "; the lowest mean is bold."),
        ("size", "over the repetitions."),
    ],
)
def test_the_note_says_what_bold_means(paper, metric, note):
    assert stock.last_values(results(table({metric: [None]}))).attrs["note"].endswith(note)


def test_curves_are_drawn_of_a_table_that_also_has_single_numbers(paper):
    with style.context():
        figure = stock.curves(results(table({"gain": [1, 2, 3], "size": [None]})))
    assert len(figure.axes) == 1
    assert figure.axes[0].get_ylabel() == "gain / dB"
    assert "without an x, and not drawn: size" in [text.get_text() for text in figure.texts]


def test_several_tables_are_drawn_in_panels_of_their_own(paper):
    with style.context():
        figure = stock.curves(results(table({"gain": [1, 2]}), table({"gain": [1, 2]}, ("b", "c"))))
    assert [ax.get_title() for ax in figure.axes] == ["table1", "table2"]


def test_a_table_without_an_x_names_the_drawing_to_use(paper):
    with pytest.raises(RenderError, match="there is no curve; use stock:last_values"):
        stock.curves(results(table({"size": [None]})))


def test_a_table_takes_the_last_x_of_a_curve_and_single_numbers(paper):
    frame = stock.last_values(results(table({"gain": [1, 2, 9], "size": [None]})))
    assert list(frame.index.get_level_values("metric")) == ["gain / dB", "size"]


def drawn(values):
    """Draw curves through values, x -> value, and return the axes."""
    rows = table({"loss": list(values)})
    rows["value"] = rows["x"].map(values)
    with style.context():
        return stock.curves(results(rows)).axes[0]


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ({1: 1.0, 2: 1e-2, 3: 1e-4}, "log"),
        ({1: 1.0, 2: 0.5, 3: 0.1}, "linear"),
        ({1: 1.0, 2: 0.0, 3: 1e-4}, "linear"),
        ({1: 1.0, 2: -1.0, 3: 1e-4}, "linear"),
    ],
)
def test_values_that_span_decades_are_drawn_on_a_logarithmic_axis(paper, values, scale):
    assert drawn(values).get_yscale() == scale


@pytest.mark.parametrize(
    ("places", "scale"),
    [
        ([1, 10, 100, 1000], "log"),
        ([1, 500, 1000, 1500], "linear"),
        ([0, 10, 100, 1000], "linear"),
        ([1, 2, 4, 8], "linear"),
    ],
)
def test_places_in_equal_factors_are_drawn_on_a_logarithmic_axis(paper, places, scale):
    assert drawn(dict.fromkeys(places, 1.0)).get_xscale() == scale


@pytest.mark.parametrize("scale", ["log", "linear"])
def test_the_names_of_a_paper_choose_the_scale(tmp_path, scale):
    text = f"metrics: {{loss: {{name: a loss, scale: {scale}}}}}\n"
    (tmp_path / "names.yaml").write_text(text, encoding="utf-8")
    with names.using(tmp_path):
        for values in ({1: 1.0, 2: 0.5}, {1: 1.0, 2: 1e-5}):
            assert drawn(values).get_yscale() == scale


def test_a_logarithmic_scale_of_values_that_have_no_logarithm_is_refused(tmp_path):
    text = "metrics: {loss: {scale: log}}\n"
    (tmp_path / "names.yaml").write_text(text, encoding="utf-8")
    message = "metrics.loss.scale: log, and the lowest mean is -1; write scale: linear"
    with names.using(tmp_path), pytest.raises(RenderError, match=message):
        drawn({1: 1.0, 2: -1.0})
