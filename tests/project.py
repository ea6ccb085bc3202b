"""What tests know of the project's own files: names without reading a file, contents read once.

A test module does no work when it is imported, since every worker imports all of them before its
first test. So cases are named by functions that only list files, and read within the test
(`tests/test_collection.py`).
"""

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXPERIMENTS = ROOT / "src/papers"
REGISTRY = ROOT / "config/datasets.yaml"


def paper_names() -> list[str]:
    """Name the papers that a run makes, in alphabetical order."""
    (listed,) = re.findall(
        r"^papers: \[(.*)\]", (ROOT / "config/config.yaml").read_text(encoding="utf-8"), re.M
    )
    return sorted(listed.split(", "))


def artifact_names() -> list[str]:
    """Name every artifact as <paper>/<artifact>."""
    return sorted(f"{file.parent.name}/{file.stem}" for file in artifact_paths())


def artifact_paths() -> list[Path]:
    """List the files of all artifacts."""
    files = []
    for paper in paper_names():
        files += (EXPERIMENTS / paper).glob("*.yaml")
    further_files = ("names.yaml", "datasets.yaml", "findings.yaml")
    return sorted(file for file in files if file.name not in further_files)


@cache
def dataset_names() -> list[str]:
    """Name the data sets of the registry, by the indentation of its file: parsing takes longer."""
    _, _, datasets = REGISTRY.read_text(encoding="utf-8").partition("\ndatasets:\n")
    return re.findall(r"^  (\w+):", datasets, re.M)


def archived_names(kind: str) -> list[str]:
    """Name the figures, or the tables, of the archived run, by the files that only they have."""
    ending = {"figure": ".thumb.webp", "table": ".md"}[kind]
    files = (ROOT / "figures/reference").glob(f"*/*{ending}")
    names = {f"{file.parent.name}/{file.name.removesuffix(ending)}" for file in files}
    return sorted(names & set(artifact_names()))


def one_of_each_paper(names: list[str]) -> list[Any]:
    """The names as cases of which the default level has the first one of each paper."""
    first = set({name.partition("/")[0]: name for name in reversed(names)}.values())
    cases = []
    for name in names:
        marks = [] if name in first else [pytest.mark.nightly]
        cases.append(pytest.param(name, marks=marks))
    return cases


@cache
def load_project(scale: str):
    """Load all artifacts at a scale. They are shared by all tests: copy what you change."""
    from reproduction.spec.artifact import load_all

    return load_all(EXPERIMENTS, paper_names(), scale)


@cache
def load_plan(scale: str, whole: bool = False):
    """Plan a run, or with ``whole`` all papers. It is shared by all tests: copy what you change."""
    from reproduction.plan.plan import configured, planned

    return planned(ROOT, configured(ROOT, scale), every=whole)


@cache
def load_data_sets():
    """Load the registry of data sets, shared by all tests."""
    from reproduction.data.registry import load_registry

    return load_registry(REGISTRY)
