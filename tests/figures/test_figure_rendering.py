import pytest
from figure_inputs import ARTIFACTS, inputs, synthetic

from reproduction.figures import tables
from reproduction.figures.panels import RenderError
from reproduction.figures.rendering import draw, find, render
from reproduction.results import COLUMNS


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("regression_curves", "not of the form module:function"),
        ("nobody:curves", "has no module 'nobody'"),
        ("ors:regresion_curves", "no function 'regresion_curves'; close names: regression_curves"),
        ("ors:_curves", "no function '_curves'"),
        ("ors:Path", "no function 'Path'"),
    ],
)
def test_a_wrong_render_name_is_explained(name, message):
    with pytest.raises(RenderError, match=message):
        find(name)


def _write(table, path):
    table.to_csv(path, index=False)
    return path


def test_an_empty_table_is_named(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(",".join(COLUMNS) + "\n")
    with pytest.raises(RenderError, match=r"fig2: the result table of fig2 \(.*table.csv\) has no rows"):
        render("ors:regression_curves", "fig2", {"fig2": path}, {})


def test_a_missing_method_is_named(tmp_path):
    table = synthetic(ARTIFACTS["fig2"])
    path = _write(table[table["method"] != "beta"], tmp_path / "table.csv")
    with pytest.raises(RenderError, match=r"fig2: the results hold no rows with method beta"):
        render("ors:regression_curves", "fig2", {"fig2": path}, {"fig2": ARTIFACTS["fig2"].shown(False)})


def test_stand_ins_are_named_in_figures_and_tables(tmp_path):
    paths = {}
    for name in ("fig2", "fig4", "fig5"):
        table = synthetic(ARTIFACTS[name])
        if name == "fig5":
            table = table.assign(dataset="speech", source="stand-in")
        paths[name] = _write(table, tmp_path / f"{name}.csv")
    settings = {name: ARTIFACTS[name].shown(False) for name in paths}
    note = "stand-in data, not comparable: speech"
    figure = render("ors:speech_curves", "fig5", {"fig5": paths["fig5"]}, settings)
    assert note in [text.get_text() for text in figure.texts]
    assert render("ors:final_errors", "final_errors", paths, settings).attrs["note"].endswith(f"{note}.")


@pytest.mark.parametrize(("name", "suffixes"), [("fig3", ["png", "pdf"]), ("final_errors", tables.SUFFIXES)])
def test_every_format_is_drawn(name, suffixes, tmp_path):
    results = inputs(name)
    paths = {used: _write(table, tmp_path / f"{used}.csv") for used, table in results.tables.items()}
    settings = {used: ARTIFACTS[used].shown(False) for used in results.settings_of}
    (tmp_path / "out").mkdir()
    out = [tmp_path / "out" / f"{name}.{suffix.removeprefix('.')}" for suffix in suffixes]
    draw(ARTIFACTS[name].content["render"], name, paths, settings, out)
    assert sorted((tmp_path / "out").iterdir()) == sorted(out)
