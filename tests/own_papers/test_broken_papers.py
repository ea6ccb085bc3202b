"""A paper with a mistake stops only itself, and the status of a run says what was not made."""

import re
import sys
import zlib

import pytest
from small_paper import ROOT, change, write_paper

from reproduction.plan import plan
from reproduction.show.site.run_page import name_project


@pytest.fixture
def project(tmp_path, request, monkeypatch):
    """A folder with two papers, whose data sets have different names."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    number = f"{zlib.crc32(request.node.name.encode()):x}"
    for name in ("first", "second"):
        folder = write_paper(tmp_path / f"mine/{name}_{number}")
        for file in ("datasets.yaml", "tab.yaml", "tab.published.csv"):
            change(folder / file, "tumours", f"{name}s")
        (folder / "tumours.csv").rename(folder / f"{name}s.csv")
    return tmp_path / "mine"


def planned(project):
    papers = [str(file.parent) for file in sorted(project.glob("*/TITLE"))]
    config = plan.configured(ROOT, "smoke") | {"papers": papers}
    return plan.planned(ROOT, config, run=True)


def folders(project):
    return sorted(file.parent for file in project.glob("*/TITLE"))


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("tab.yaml", "repetitions: 3", "repetition: 3", "did you mean repetitions"),
        ("code.py", "import numpy as np", "import numpyy as np", "No module named 'numpyy'"),
        ("datasets.yaml", "loader:", "lader:", "did you mean loader"),
        ("datasets.yaml", "task: binary", "task: regression", "has real values"),
        ("tab.yaml", "methods:Plain", "method:Plain", "did you mean methods"),
        ("methods.py", "def fit(self", "def fit(self:", "methods.py, line"),
    ],
)
def test_a_paper_with_a_mistake_stops_only_itself(project, file, old, new, message):
    first, second = folders(project)
    change(second / file, old, new)
    project_plan = planned(project)
    assert {*project_plan.artifacts} == {f"{first.name}/tab"}
    assert re.search(message, project_plan.broken[second.name])
    refusals = project_plan.refusals(ROOT / "src/papers")
    assert refusals[second.name] == project_plan.broken[second.name]
    assert {*project_plan.faults([])} == {second.name}
    assert project_plan.faults([first.name]) == {}


def test_a_project_of_nothing_but_mistakes_is_refused(project):
    for folder in folders(project):
        change(folder / "tab.yaml", "repetitions: 3", "repetition: 3")
    with pytest.raises(ValueError, match="did you mean repetitions"):
        planned(project)


def test_a_class_that_is_not_found_is_a_fault(project):
    first, second = folders(project)
    change(first / "tab.yaml", "methods:Plain", "elsewhere.nets:Plain")
    project_plan = planned(project)
    assert {*project_plan.left_out} == {*project_plan.faults([])} == {f"{first.name}/tab"}
    assert project_plan.faults([second.name]) == {}


def test_data_that_cannot_be_had_are_no_fault(monkeypatch):
    monkeypatch.delenv("NOISYLABELS_MIRROR", raising=False)
    config = plan.configured(ROOT, "smoke") | {"papers": ["audit"]}
    project_plan = plan.planned(ROOT, config, run=True)
    assert "audit/court_probabilities" in project_plan.left_out
    assert project_plan.faults([]) == {}


def test_a_run_of_ones_own_papers_has_its_own_title(project):
    project_plan = planned(project)
    assert {artifact.file.parents[1] for artifact in project_plan.artifacts.values()} == {project}
    assert name_project(project_plan) == "mine"
    change(folders(project)[1] / "tab.yaml", "repetitions: 3", "repetition: 3")
    assert name_project(planned(project)) == "mine"


def test_a_class_that_cannot_be_imported_stops_only_its_paper(project):
    first, second = folders(project)
    change(second / "methods.py", "import numpy as np", "import no_such_library as np")
    project_plan = planned(project)
    unusable = project_plan.find_unusable([""])
    assert {*unusable} == {second.name}
    assert "no_such_library" in unusable[second.name]
    assert project_plan.find_unusable([f"{first.name}/"]) == {}
    with pytest.raises(ValueError, match="no_such_library"):
        project_plan.find_unusable([f"{second.name}/"])
