"""The commands as they are typed: what they refuse is said in one line, what they make is where they say."""

import subprocess
import sys

import pytest
from command_lines import run_script
from finished_runs import CHECKOUT, finish, plan_of


def run(script, *arguments, folder):
    """Run a script in this process: (status, all that it printed)."""
    status, output, errors = run_script(script, folder, *map(str, arguments))
    return status, output + errors


@pytest.mark.parametrize(
    ("script", "arguments", "said"),
    [
        ("site", ["tiny"], "'tiny' is no scale; they are smoke, quick, part, full"),
        ("compare", [], "results/full is not there; a full run makes results/full: ./run full"),
        ("reference", ["ors_fig99"], "there is no target ors_fig99; did you mean ors_fig"),
    ],
)
def test_a_command_that_cannot_be_obeyed_is_refused_in_one_line(tmp_path, script, arguments, said):
    status, output = run(script, *arguments, folder=tmp_path)
    assert status
    assert said in output.splitlines()[-1]
    assert "Traceback" not in output


def test_the_pages_of_a_scale_replace_those_that_were_there(tmp_path):
    finish(tmp_path, plan_of("smoke", ["ors"]), ["ors/fig2"])
    (tmp_path / "site/smoke").mkdir(parents=True)
    (tmp_path / "site/smoke/old.html").write_text("old")
    status, output = run("site", folder=tmp_path)
    assert (status, output.split()[-1]) == (0, "site/smoke/index.html")
    assert (tmp_path / "site/smoke/ors_fig2.html").is_file()
    assert [entry.name for entry in (tmp_path / "site").iterdir()] == ["smoke"]
    assert not (tmp_path / "site/smoke/old.html").exists()


def test_a_run_is_compared_from_any_folder(tmp_path):
    finish(tmp_path, plan_of("full", ["ors"]), ["ors/fig2"])
    command = [sys.executable, "-P", str(CHECKOUT / "src/scripts/compare.py"), str(tmp_path / "results/full")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.startswith("ors/fig2 ")
    assert (done.returncode != 0) == ("different" in done.stdout)
