"""What continuous integration names is there: files, folders, steps and options."""

import itertools
import re

import pytest
import yaml
from project import ROOT

SCRIPTS = ["run", ".ci/run", ".ci/wheel", ".ci/lock"]
FILES = sorted(ROOT.glob(".github/workflows/*.yml"))
WORKFLOWS = [file.relative_to(ROOT).as_posix() for file in FILES]
FOLDERS = "tests|src|docs|workflow|config|benchmarks|examples|packaging|.ci|.github"
NAMED = re.compile(rf"(?<![\w/$.~}}\"-])(?:{FOLDERS.replace('.', '[.]')})/[\w./{{}},*-]*[\w}}*]")


def alternatives(path):
    """Write out a path with alternatives in braces as the shell does."""
    parts = re.split(r"\{([^{}]*)\}", path)
    choices = [part.split(",") if position % 2 else [part] for position, part in enumerate(parts)]
    return ["".join(chosen) for chosen in itertools.product(*choices)]


def missing_paths(text):
    """List the paths in a text that name nothing of this checkout."""
    paths = itertools.chain(*map(alternatives, NAMED.findall(text)))
    return sorted(path for path in set(paths) if not any(ROOT.glob(path)))


@pytest.mark.parametrize("file", [*SCRIPTS, *WORKFLOWS])
def test_every_path_that_continuous_integration_names_exists(file):
    assert missing_paths((ROOT / file).read_text(encoding="utf-8")) == []


def test_a_path_that_does_not_exist_is_found():
    line = "python -m pytest tests/{filters,theory} src/noisylabels tests/*/none_of_this.py"
    assert missing_paths(line) == ["tests/*/none_of_this.py", "tests/theory"]


def test_every_step_of_a_workflow_is_one_of_the_command():
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))["jobs"]
    steps = jobs["check"]["strategy"]["matrix"]["step"]
    command = (ROOT / "run").read_text(encoding="utf-8")
    steps_of_command = re.findall(r"^        (\w+)\) (?:lint|step )", command, re.M)
    assert set(steps) - {"wheel"} <= set(steps_of_command)
    assert {"lint", "types", "default", "smoke", "docs", "all"} <= set(steps_of_command)
