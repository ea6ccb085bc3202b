"""The commands as they are typed: one line says what they refuse, and where their files are."""

import pytest
from command_lines import run_script
from finished_runs import finish, plan_of


def run(script, *arguments, folder):
    """Run a script in this process: (status, all that it printed)."""
    status, output, errors = run_script(script, folder, *map(str, arguments))
    return status, output + errors


@pytest.mark.parametrize(
    ("script", "arguments", "message"),
    [
        ("site", ["smoke"], "the page of a run is written by the run: site/smoke/index.html"),
        ("compare", [], "results/full does not exist; make it with ./run full"),
        ("reference", ["ors_fig99"], "there is no target ors_fig99; did you mean ors_fig"),
    ],
)
def test_a_command_that_cannot_be_obeyed_is_refused_in_one_line(
    tmp_path,
    script,
    arguments,
    message,
):
    status, output = run(script, *arguments, folder=tmp_path)
    assert status
    assert message in output.splitlines()[-1]
    assert "Traceback" not in output


def test_a_run_is_compared_from_any_folder(tmp_path):
    finish(tmp_path, plan_of("full", ["ors"]), ["ors/fig2"])
    status, output, _ = run_script("compare", tmp_path, str(tmp_path / "results/full"))
    assert output.startswith("ors/fig2 ")
    assert (status != 0) == ("different" in output)
