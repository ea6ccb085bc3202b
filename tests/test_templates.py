"""The templates of papers: short, right, and with a method that their own test tries."""

import contextlib
import io
import os
import runpy
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

from reproduction.judge import paper_check

ROOT = Path(__file__).parents[1]
TEMPLATES = ROOT / "src/papers/_templates"
WORDS = ("classifier", "filter", "online")
LONGEST = 60
"""Lines of a template, with its test."""


def new(*words):
    """What `./run WORDS` prints."""
    printed = io.StringIO()
    with mock.patch("sys.argv", ["run", *map(str, words)]), contextlib.redirect_stdout(printed):
        runpy.run_path(str(ROOT / "src/scripts/new.py"))
    return printed.getvalue()


@pytest.fixture(params=WORDS)
def paper(request, tmp_path, monkeypatch):
    """A paper that was written from each template."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    folder = tmp_path / f"new_{request.param}"
    new("new-paper", folder, request.param)
    yield folder
    for name in [name for name in sys.modules if name.startswith(folder.name)]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("numpy", "numpy is an installed package; rename the folder"),
        ("test", "test is a module of Python; rename the folder"),
        ("results", "results is a folder that a run writes; rename the folder"),
    ],
)
def test_a_name_that_a_run_would_refuse_is_refused_at_once(tmp_path, name, reason):
    with pytest.raises(SystemExit, match=reason):
        new("new-paper", tmp_path / name)
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("word", WORDS)
def test_a_template_is_short(word):
    files = [file for file in (TEMPLATES / word).iterdir() if file.is_file()]
    assert any(file.name.startswith("test_") for file in files)
    assert sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files) <= LONGEST


def test_a_new_paper_has_no_fault_and_runs_one_repetition(paper):
    report = paper_check.read_paper(paper)
    assert report.faults == []
    paper_check.run_paper(paper, report)
    assert report.faults == []
    for artifact in report.artifacts.values():
        assert artifact.title
        assert artifact.caption
        assert artifact.source.endswith(": title, authors, year")


NIGHTLY = [pytest.param(word, marks=pytest.mark.nightly) for word in WORDS[1:]]


@pytest.mark.parametrize("paper", [WORDS[0], *NIGHTLY], indirect=True)
def test_its_own_test_passes(paper):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(paper)]
    path = os.pathsep.join([str(paper.parent), str(ROOT / "src")])
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, cwd=paper, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_another_method_and_artifact_are_of_the_kind_of_the_paper(paper):
    output = new("new-method", paper / "other")
    code = (paper / "other.py").read_text(encoding="utf-8")
    member = {"filter": "_learn", "online": "partial_fit", "classifier": "def fit("}
    assert member[paper.name.removeprefix("new_")] in code
    class_name = output.partition('"other:')[2].partition('"')[0]
    assert f"class {class_name}(" in code
    new("new-artifact", paper / "second")
    assert paper_check.read_paper(paper, "second").faults == []
    with pytest.raises(SystemExit, match="module of Python; rename the folder"):
        new("new-paper", paper.parent / "queue")


def renamed(text, names):
    for old, name in names.items():
        text = text.replace(old, name)
    return text


CHANGED = {"identification": "tracked", "progress": "learned", "NearestMean": "Method"}
CHANGED |= {"code:": "experiments:", "sign_lms": "mine", "SignLMS": "Mine", "Perceptron": "Other"}


def test_an_artifact_fits_a_paper_whose_code_was_changed(paper):
    for file in [*paper.glob("*.yaml"), *paper.glob("*.py")]:
        file.write_text(renamed(file.read_text(encoding="utf-8"), CHANGED), encoding="utf-8")
    (paper / "code.py").rename(paper / "experiments.py")
    new("new-artifact", paper / "second")
    report = paper_check.read_paper(paper)
    assert report.faults == []
    assert "second" in report.artifacts
    paper_check.run_paper(paper, report)
    assert report.faults == []


def test_a_copied_artifact_has_no_claims_and_published_values(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    new("new-paper", tmp_path / "copied_from", "complete")
    new("new-artifact", tmp_path / "copied_from/table2")
    report = paper_check.read_paper(tmp_path / "copied_from")
    assert report.faults == []
    copied = report.artifacts["table2"]
    assert copied.as_written == report.artifacts["table1"].as_written
    assert not copied.claims
    assert copied.published is None
    assert copied.title == "table2"


def test_an_artifact_of_a_paper_without_one_is_of_a_stock_protocol(paper):
    for file in paper.glob("*.yaml"):
        file.unlink()
    new("new-artifact", paper / "first")
    assert paper_check.read_paper(paper).faults == []


def test_an_artifact_of_a_paper_that_cannot_be_read_says_what_to_do(paper):
    for file in paper.glob("*.py"):
        file.unlink()
    with pytest.raises(SystemExit, match=r"can be read and copied; (\./run|noisylabels) check"):
        new("new-artifact", paper / "second")
