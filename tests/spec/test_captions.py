"""Captions hold plain markup only, and what an artifact names is a declared function of a paper."""

import os
import subprocess
import sys

import pytest
import yaml
from project import EXPERIMENTS, ROOT, artifact_names

from reproduction.spec.artifact import load
from reproduction.spec.captions import check_caption, check_summary, render_caption

HOSTILE = {
    "embedded file": ".. image:: /etc/passwd\n   :loading: embed",
    "script as link": "`x <javascript:alert(1)>`_",
    "script in capitals": "`x <JavaScript:alert(1)>`_",
    "data as link": "`x <data:text/html,hi>`_",
    "path as link": "`x <../../etc/passwd>`_",
    "raw": ".. raw:: html\n\n   <script>1</script>",
    "raw role": ".. role:: h(raw)\n   :format: html\n\n:h:`<b>`",
    "include": ".. include:: /etc/passwd",
    "table from a file": ".. csv-table::\n   :file: /etc/passwd",
    "literalinclude of Sphinx": ".. literalinclude:: /etc/passwd",
    "download of Sphinx": ":download:`/etc/passwd`",
    "only of Sphinx": ".. only:: html\n\n   x",
    "graphviz": ".. graphviz::\n\n   digraph {}",
    "target of a file": ".. _x: file:///etc/passwd\n\nx_",
    "anonymous target": "x__\n\n__ javascript:alert(1)",
    "picture as substitution": "|x|\n\n.. |x| image:: http://e.x/a.png",
    "figure": ".. figure:: http://e.x/a.png",
    "meta": ".. meta::\n   :refresh: 0",
    "title": "A\n=\n\nx",
    "container": ".. container:: x\n\n   y",
    "class": ".. class:: x\n\ny",
    "mail address": "a@b.example",
    "footnote": "x [1]_\n\n.. [1] y",
    "comment": "x\n\n.. y",
    "slip in the markup": "a *b",
}
PLAIN = {
    "formula with HTML": ":math:`<script>alert(1)</script>`",
    "all that is allowed": (
        "A *b* **c** ``d`` :math:`x^2` and `e <https://e.example>`_."  # every form in a line
        "\n\n- f\n- g"  # and a list
    ),
    "HTML as text": "<script>alert(1)</script>",
    "fragment": "`x <#ORS-1>`_",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_anything_but_plain_markup_is_refused_in_one_line(text):
    for function in (check_caption, render_caption):
        with pytest.raises(ValueError, match=r"^caption: (a|the) .* not allowed") as error:
            function(text)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", PLAIN.values(), ids=PLAIN)
def test_plain_markup_is_rendered_and_obeyed_nowhere(text):
    assert "<script" not in render_caption(text)


@pytest.mark.parametrize("name", artifact_names())
def test_every_result_has_a_summary_in_plain_words(name):
    summary = yaml.safe_load((EXPERIMENTS / f"{name}.yaml").read_text(encoding="utf-8"))["summary"]
    check_summary(summary)
    assert len(summary.split()) >= 4


@pytest.mark.parametrize(
    ("summary", "message"),
    [
        ("word " * 21, "has 21 words; use at most 20"),
        ("Error of :math:`x`.", "is mathematics or markup"),
        ("Error for n = 5.", "is mathematics or markup"),
        ("Errors of the filter", "end it with a full stop"),
    ],
)
def test_a_summary_with_formulas_or_many_words_is_refused(summary, message):
    with pytest.raises(ValueError, match=f"^summary: .*{message}"):
        check_summary(summary)


@pytest.mark.parametrize("name", artifact_names())
def test_every_caption_and_its_formulas_are_rendered(name):
    text = (EXPERIMENTS / f"{name}.yaml").read_text(encoding="utf-8")
    caption = yaml.safe_load(text)["caption"]
    html = render_caption(caption)
    assert html.count("<math") == caption.count(":math:")
    assert 'class="math"' not in html  # how docutils shows what it cannot read
    assert "system-message" not in html


def test_an_index_is_beside_an_accented_letter():
    assert "munderover" not in render_caption(r":math:`\sum_t(\hat y_t-\tilde{w}_s^2)^2`")


# What an artifact names


ARTIFACT = {
    "title": "t",
    "source": "Figure 1",
    "origin": "ours",
    "kind": "figure",
    "caption": "c",
    "render": "drawing:bars",
}
DRAWING = """
import pathlib
from reproduction.show import panels
pathlib.Path(r"{mark}").touch()

def plain(results): ...

@panels.figure
def bars(results): ...

lines = panels.figure(plain)
"""


@pytest.fixture
def paper(tmp_path, monkeypatch):
    """A paper of a user's whose module leaves a file when it is imported."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "TITLE").write_text("Mine")
    (folder / "drawing.py").write_text(DRAWING.format(mark=tmp_path / "imported"))
    monkeypatch.syspath_prepend(str(tmp_path))
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "mine"]:
        del sys.modules[name]


def artifact(folder, **changes):
    (folder / "one.yaml").write_text(yaml.safe_dump(ARTIFACT | changes))
    return load(folder / "one.yaml", "full")


def test_a_dangerous_caption_is_refused_when_its_artifact_is_loaded(paper):
    with pytest.raises(ValueError, match=r"one\.yaml: caption: a image is not allowed") as error:
        artifact(paper, caption=HOSTILE["embedded file"])
    assert "\n" not in str(error.value)


FOREIGN = ("unittest.__main__", "idlelib.idle", "pip.__main__", "antigravity.x", "this.x")
"""Modules that do something when they are imported."""

LOAD_EACH = """
import sys
from pathlib import Path
from reproduction.spec.artifact import ArtifactError, load

for file in map(Path, sys.argv[1:]):
    try:
        load(file, "full")
    except ArtifactError:
        print(file.name, "is refused")
"""


def test_a_module_of_python_or_of_a_package_is_not_imported(paper):
    files = []
    for module in FOREIGN:
        for key in ("render", "protocol"):
            file = paper / f"{module.partition('.')[0]}_{key}.yaml"
            file.write_text(yaml.safe_dump(ARTIFACT | {key: f"{module}:main"}))
            files.append(file)
    command = [sys.executable, "-X", "importtime", "-c", LOAD_EACH, *files]
    folders = f"{ROOT / 'src'}{os.pathsep}{paper.parent}"
    environment = os.environ | {"PYTHONPATH": folders}
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=paper.parent, env=environment, check=True
    )
    assert done.stdout.splitlines() == [f"{file.name} is refused" for file in files]
    for module in FOREIGN:
        assert f"| {module}\n" not in done.stderr


def test_a_module_of_a_paper_is_imported_only_for_a_function_that_it_declares(paper):
    for function, message in (
        ("plain", "declares no function 'plain'"),
        ("pathlib", "declares no function"),
        ("barrs", "close names: bars"),
    ):
        with pytest.raises(ValueError, match=message):
            artifact(paper, render=f"drawing:{function}")
    assert not (paper.parent / "imported").exists()
    for function in ("bars", "lines"):
        assert artifact(paper, render=f"drawing:{function}").name == "one"
    assert (paper.parent / "imported").exists()


def test_a_folder_without_a_paper_is_no_project(paper):
    (paper / "TITLE").unlink()
    with pytest.raises(ValueError, match=r"is in no paper: .* has no paper, a folder with"):
        artifact(paper)
    assert not (paper.parent / "imported").exists()


def test_a_module_that_ends_python_is_told_in_one_line(paper):
    file = paper / "drawing.py"
    file.write_text(file.read_text() + "\nraise SystemExit(3)\n")
    message = r"drawing\.py, line \d+: SystemExit: 3; the module"
    with pytest.raises(ValueError, match=message) as error:
        artifact(paper)
    assert "\n" not in str(error.value)
