"""`./run export`: what was finished, in the best format, and nothing that no record describes."""

import json
import os
import subprocess

import pytest
from finished_runs import CHECKOUT, finish, plan_of

from reproduction.plan import steps
from scripts import export

NAMES = ["ors/fig2", "ors/final_errors"]


@pytest.fixture
def finished(tmp_path, monkeypatch):
    """A finished full run of a figure and a table, and a claimed folder for the export."""
    plan = plan_of("full", ["ors"])
    finish(tmp_path, plan, NAMES)
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "out"
    export.claim(out)
    return plan, out


def test_a_result_is_copied_and_named_with_its_title(finished):
    plan, out = finished
    plan.config["formats"] = ["png"]
    file, title, _ = export.copy_result(plan, "ors/fig2", out)
    assert file == "figures/ors_fig2.png"
    assert title == plan.artifact("ors/fig2").content["title"]
    assert (out / file).read_bytes() == (out.parent / "figures/full/ors/fig2.png").read_bytes()


def test_a_figure_that_was_changed_by_hand_is_refused(finished):
    plan, out = finished
    plan.config["formats"] = ["png"]
    picture = out.parent / "figures/full/ors/fig2.png"
    picture.write_bytes(picture.read_bytes() + b"x")
    with pytest.raises(ValueError, match=r"fig2.png is not the file that .* records"):
        export.copy_result(plan, "ors/fig2", out)


def test_what_is_not_finished_is_named_with_the_command(finished):
    plan, _ = finished
    with pytest.raises(ValueError, match=r"ors/\w+ is not finished .*; ./run full ors_fig3"):
        export.list_results(plan, ["ors_fig3"])


def test_what_was_edited_since_is_refused_with_the_reason(finished, monkeypatch):
    plan, _ = finished
    current = {"results/full/ors/fig2/record.json": "", "figures/full/ors/fig2.record.json": ""}
    reason = "settings.repetitions: 20, was 10"
    monkeypatch.setattr(steps, "decide", lambda plan: (plan, [], decisions))
    decisions = current
    export.refuse_outdated(plan, ["ors/fig2"], ["ors_fig2"])
    for record in current:
        decisions = current | {record: reason}
        message = rf"ors/fig2 is out of date \({reason}\); ./run full ors_fig2"
        with pytest.raises(ValueError, match=message):
            export.refuse_outdated(plan, ["ors/fig2"], ["ors_fig2"])


def test_verdicts_are_those_of_the_exported_results_alone(finished):
    plan, out = finished
    pages = export.find_pages(plan, ["ors/fig2"])
    export.write_verdicts(pages, out)
    verdicts = json.loads((out / "verdicts.json").read_text())
    assert {verdict["artifact"] for verdict in verdicts} == {"fig2"}


def test_an_earlier_export_is_replaced_and_another_folder_is_not(finished):
    _, out = finished
    (out / "figures/old.pdf").touch()
    export.claim(out)
    assert not (out / "figures/old.pdf").exists()
    (out.parent / "mine").mkdir()
    (out.parent / "mine/thesis.tex").touch()
    with pytest.raises(ValueError, match="holds files that are not from an export"):
        export.claim(out.parent / "mine")


@pytest.mark.nightly
def test_the_command_exports_a_run_with_the_report_of_snakemake(tmp_path):
    environment = {key: os.environ[key] for key in os.environ if key != "PYTHONPATH"}
    run = str(CHECKOUT / "run")
    target = ["smoke", "ors_fig2"]
    subprocess.run([run, *target], check=True, env=environment, capture_output=True)
    command = [run, "export", *target, "--out", "out"]
    subprocess.run(command, check=True, cwd=tmp_path, env=environment, capture_output=True)
    exported = {file.relative_to(tmp_path / "out").as_posix() for file in tmp_path.rglob("*.*")}
    assert {"README.md", "figures/ors_fig2.png", "report.html"} <= exported
    assert "figures/ors_fig2.png" in (tmp_path / "out/README.md").read_text()
