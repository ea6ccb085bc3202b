"""The command `noisylabels`: the audit, and in a checkout the experiments too."""

import os
import shutil
import subprocess
import sys
from itertools import cycle

import pytest
from project import ROOT

from noisylabels import command_line
from reproduction.run.command_line import COMMANDS

BEANS = "width,kind\n" + "".join(f"{i % 2 + i % 7 / 10},{'ab'[i % 2]}\n" for i in range(60))


@pytest.fixture
def library(tmp_path):
    """The library as a wheel installs it: without the engine beside it."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src/noisylabels", tmp_path / "site/noisylabels", ignore=ignored)
    return tmp_path / "site"


def run_alone(library, folder, *words):
    path = {"PYTHONPATH": str(library), "NUMBA_CACHE_DIR": str(ROOT / ".cache/numba")}
    set_path = "import sys; sys.path += sys.argv.pop(1).split(':')\n"
    command = [sys.executable, "-P", "-S", "-c", set_path]
    command[-1] += "from noisylabels.command_line import main; main()"
    packages = ":".join(path for path in sys.path if path.endswith("site-packages"))
    variables = {key: value for key, value in os.environ.items() if key != "NOISYLABELS_COMMAND"}
    command += [packages, *words]
    return subprocess.run(command, cwd=folder, env=variables | path, capture_output=True, text=True)


@pytest.mark.nightly
def test_the_library_alone_audits_a_table_and_writes_its_page(library, tmp_path):
    (tmp_path / "table.csv").write_text(BEANS)
    words = ("audit", "table.csv", "--label", "kind", "--model", "logistic")
    done = run_alone(library, tmp_path, *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "Look:   table_audit/index.html"
    page = (tmp_path / "table_audit/index.html").read_text()
    assert "noisylabels audit table.csv --label kind" in page
    assert (tmp_path / "table_audit/assets/style.css").is_file()


def test_the_library_alone_has_no_other_command(library, tmp_path):
    for words, message in (
        (["full"], "noisylabels: there is no command full; noisylabels help lists them"),
        (["audit", "table.csv"], "audit: "),
    ):
        done = run_alone(library, tmp_path, *words)
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1
        assert done.stderr.startswith(message)
    help_text = run_alone(library, tmp_path).stdout
    assert "noisylabels audit FILE" in help_text
    assert "full" not in help_text


def test_in_a_checkout_one_help_has_every_command(capsys):
    command_line.main(["help"])
    output = capsys.readouterr().out
    for name in [*COMMANDS, "audit"]:
        assert f" {name} " in output or f" {name}\n" in output


@pytest.mark.parametrize(
    ("words", "handed_on"),
    [
        ([], ["start.py"]),
        (["full", "ors", "--cores", "2"], ["start.py", "full", "ors", "--cores", "2"]),
        (["ors_fig2", "-n"], ["start.py", "ors_fig2", "-n"]),
        (["site", "full"], ["site.py", "full"]),
        (["new-paper", "x"], ["new.py", "new-paper", "x"]),
        (["try", "t.csv"], ["trial.py", "t.csv"]),
        (["settings", "stock:errors"], ["settings.py", "stock:errors"]),
    ],
)
def test_words_reach_the_script_of_their_command(words, handed_on, monkeypatch, tmp_path):
    started = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "execv", lambda program, arguments: started.extend(arguments))
    monkeypatch.setattr(os, "environ", os.environ.copy())
    command_line.main(words)
    assert [started[2].rpartition("/")[2], *started[3:]] == handed_on


OF_PYTHON = [name for name in COMMANDS if name not in ("lint", "test")]


PROGRAMS = [*zip(OF_PYTHON, cycle(["./run", "noisylabels"]), strict=False)]
FURTHER = [pytest.param(*case, marks=pytest.mark.nightly) for case in PROGRAMS[2:]]


@pytest.mark.parametrize(("name", "program"), [*PROGRAMS[:2], *FURTHER])
def test_each_command_says_how_it_is_typed_with_the_name_of_the_program(name, program, tmp_path):
    variables = os.environ | {"PYTHONPATH": str(ROOT / "src"), "NOISYLABELS_COMMAND": program}
    command = [sys.executable, "-P", "-m", "noisylabels", name, "--help"]
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"usage: {program} {name} ")
