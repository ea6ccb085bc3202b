"""What a job reads is seen, also what a guess from the source would miss."""

import json
import os
import subprocess
import sys

import pytest
from checkouts import ROOT

PAPER = """import importlib
import json
from pathlib import Path
HERE = Path(__file__).parent

def read():
    importlib.import_module("mine." + "late")
    list((HERE / "listed").iterdir())
    return json.loads((HERE / "two.dots.JSON").read_text())
"""
JOB = """
import json, sys
from reproduction.run import reading
reading.start()
import mine.code
mine.code.read()
open("written.txt", "w").close()
EDIT
print(json.dumps([reading.modules(), reading.data_files(), reading.folders(), reading.changed()]))
"""


@pytest.fixture
def observe(tmp_path):
    """Run a job of a small paper; names of its modules, files and folders, and what was edited."""
    for name, text in {
        "__init__.py": "",
        "code.py": PAPER,
        "late.py": "",
        "unread.py": "",
        "two.dots.JSON": "1",
        "listed/a.txt": "",
    }.items():
        file = tmp_path / "project/mine" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / "run").mkdir()

    def run(edit=""):
        paths = os.pathsep.join(map(str, [ROOT / "src", tmp_path / "project"]))
        done = subprocess.run(
            [sys.executable, "-P", "-c", JOB.replace("EDIT", edit)],
            cwd=tmp_path / "run",
            env=os.environ | {"PYTHONPATH": paths},
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(done.stdout)

    return run


def test_modules_and_files_of_a_paper_are_seen(observe):
    modules, files, folders, changed = observe()
    mine = [name for name in modules if name.startswith("mine/")]
    assert mine == ["mine/__init__.py", "mine/code.py", "mine/late.py"]
    assert not [name for name in modules if "site-packages" in name or "records" in name]
    assert files == ["mine/two.dots.JSON"]
    assert folders == ["mine/listed/"]
    assert changed == ""


@pytest.mark.parametrize("name", ["code.py", "late.py", "two.dots.JSON"])
def test_what_is_edited_while_a_job_runs_is_named(observe, name):
    edit = f"open(mine.code.HERE / {name!r}, 'a').write(' ')"
    assert observe(edit)[3].endswith(f"mine/{name}")


def test_the_code_of_downloads_is_not_among_what_a_job_read(observe):
    modules = observe("import reproduction.data.fetch")[0]
    assert "reproduction/data/fetch.py" in modules
    assert "reproduction/data/transport.py" not in modules
