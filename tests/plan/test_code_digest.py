"""The digest of code follows its meaning, in every version of Python."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from checkouts import ROOT

from reproduction.plan import code_digest

STEPS = """from noisylabels import NLMS

def step(mu):
    if mu > 1:
        raise ValueError(f"{mu} is too large")

class A:
    def f(self, x=1):
        return x
"""


@pytest.fixture
def steps(tmp_path):
    file = tmp_path / "steps.py"
    file.write_text(STEPS)
    return file


@pytest.mark.parametrize(
    ("before", "after", "counts"),
    [
        ("def step", "# a comment\n\ndef step", False),
        ("def step(mu)", "def step(\n    mu,\n)", False),
        ("class A:\n", "class A:\n    'Doc.'\n\n", False),
        ("too large", "above 1", False),
        ("ValueError", "OSError", True),
        ("> 1", "> 2", True),
        ("x=1", "x=True", True),
        ("x=1", "x=None", True),
        ("return x", "return", True),
    ],
)
def test_comments_docstrings_messages_and_formatting_do_not_count_but_edits_with_an_old_time_do(
    steps, before, after, counts
):
    digest = code_digest.digest_code(steps)
    times = steps.stat().st_atime_ns, steps.stat().st_mtime_ns
    steps.write_text(STEPS.replace(before, after))
    os.utime(steps, ns=times)
    assert (code_digest.digest_code(steps) != digest) == counts


def test_the_function_that_changed_is_named(steps, tmp_path, monkeypatch):
    monkeypatch.setattr(code_digest, "DEFINITIONS", tmp_path / "definitions")
    digest = code_digest.digest_code(steps)
    assert code_digest.changed_definition(digest, steps) == ""
    code_digest.save_definitions(steps)
    for before, after, name in (
        ("> 1", "> 2", "step"),
        ("x=1", "x=2", "A.f"),
        ("NLMS", "LMS", code_digest.UNTITLED),
    ):
        steps.write_text(STEPS.replace(before, after))
        assert code_digest.changed_definition(digest, steps) == name


def test_a_line_that_cannot_be_parsed_is_named(steps):
    steps.write_text("a = 1\nb = = 2\n")
    with pytest.raises(ValueError, match=r"steps\.py, line 2: invalid syntax; correct it"):
        code_digest.digest_code(steps)


DESCRIBE = """
import hashlib, json, pathlib, sys, types
for name in ("reproduction.run", "reproduction.run.atomic_files"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["reproduction.run.atomic_files"].replacing = None
from reproduction.plan import code_digest as digests
files = sorted(pathlib.Path(sys.argv[1]).rglob("*.py"))
print(json.dumps([digests.describe(digests._parse(file)) for file in files]))
"""


def other_pythons():
    """Interpreters of other versions on this machine."""
    pythons = [shutil.which(f"python3.{minor}") for minor in (11, 12, 13)]
    pythons += map(str, Path.home().glob(".pyenv/versions/3.1[123].*/bin/python"))
    return [python for python in pythons if python]


@pytest.mark.skipif(not other_pythons(), reason="no further Python on this machine")
@pytest.mark.nightly
def test_every_version_of_python_describes_code_in_the_same_words():
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    texts = set()
    for python in dict.fromkeys([sys.executable, *other_pythons()]):
        command = [python, "-c", DESCRIBE, str(ROOT / "src/reproduction")]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode == 0:  # one without the packages of the engine cannot say
            texts.add(done.stdout)
            assert len(json.loads(done.stdout)) > 50
    assert len(texts) == 1
