import itertools
import os
import subprocess
import sys

import matplotlib
import pytest
import yaml
from figure_inputs import EXPERIMENTS

from reproduction.figures import names, style, tables

DRAW = """
import sys
from reproduction.figures import panels, style
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
        (tmp_path / seed).mkdir()
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [
            sys.executable,
            "-W",
            "error",
            "-c",
            DRAW,
            *(str(tmp_path / seed / file) for file in files),
        ]
        subprocess.run(command, env=environment, check=True, capture_output=True)
    first, second = (sorted((tmp_path / seed).iterdir()) for seed in ("0", "1"))
    assert [file.name for file in first] == files
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()
        assert one.stat().st_size > 1000


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


def test_unknown_methods_look_different():
    assert len({style.look_of(f"method {i}") for i in range(100)}) > 85


def test_listed_looks_use_known_colours_dashes_and_markers():
    for look in map(style.look_of, names.listed("methods")):
        assert look.colour in style.COLOURS
        assert look.dash in style.DASHES
        assert look.marker in names.MARKERS


BY_LOSS = {"optimiser_or_loss"}
"""Figures that draw a curve for each first word of a method, its loss."""


def _shown_together():
    for file in sorted(EXPERIMENTS.glob("*/*.yaml")):
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
        if content["kind"] == "table":
            continue
        settings = content.get("settings", {})
        methods = list(settings.get("methods", settings.get("strategies", [])))
        if file.stem in BY_LOSS:
            methods = list(dict.fromkeys(method.partition(" ")[0] for method in methods))
        yield pytest.param(methods, id=f"{file.parent.name}/{file.stem}")


@pytest.mark.parametrize("methods", list(_shown_together()))
def test_methods_shown_together_differ_even_without_colour(methods):
    for one, other in itertools.combinations(methods, 2):
        a, b = style.look_of(one), style.look_of(other)
        assert a.marker != b.marker, f"{one} and {other} share a marker: list one of them in names.yaml"
        assert (a.colour, a.dash) != (b.colour, b.dash), f"{one} and {other} share a line"


def test_controls_step_back():
    assert style.line("clean")["linewidth"] < style.line("noisy")["linewidth"]
    assert style.line("clean")["marker"] == ""
    assert style.label("opt") == "optimal step (v and clean label) (oracle)"


def test_the_users_own_settings_have_no_effect():
    with matplotlib.rc_context({"font.size": 30, "lines.linewidth": 9}):
        with style.context():
            assert matplotlib.rcParams["font.size"] == 9
        assert matplotlib.rcParams["font.size"] == 30
