"""On a real Slurm of two nodes: the bytes of a local run, even if jobs or the controller fail."""

import re
import subprocess
import time

import pytest
import yaml
from one_machine import NODES
from runs import ROOT, Run, copied

pytestmark = [pytest.mark.workflow, pytest.mark.nightly]
SLURM = ["--profile", str(ROOT / "workflow/profiles/slurm")]
SLURM += ["--slurm-no-account", "--slurm-status-command", "squeue"]
THREE = ["ors_fig2", "ors_fig7", "pnorm_hadamard"]
"""Artifacts that need no data."""


def scratch(folder):
    """A run of this checkout, of two papers."""
    run = Run(folder)
    (folder / "overlay.yaml").write_text("scale: smoke\npapers: [ors, pnorm]\nformats: [png]\n")
    return run


def submissions(output):
    return output.count("has been submitted with SLURM jobid")


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """The files of a local run of the three artifacts."""
    run = scratch(tmp_path_factory.mktemp("local"))
    run.snakemake(*THREE, cores=2)
    return run.files()


@pytest.fixture(scope="module")
def overdue(slurm, tmp_path_factory):
    """A run whose job does not end within its minute; other tests do not wait for it."""
    run = copied(tmp_path_factory.mktemp("overdue"))
    run.edit("src/scripts/job.py", "parser = ", "import time; time.sleep(600)\nparser = ")
    options = [*SLURM, "--set-resources", "experiment:runtime=1", "--retries", "0"]
    file = run.folder / "output"
    with file.open("w") as output:
        process = subprocess.Popen(
            run.command(["ors_fig7"], options), env=run.environment(), stdout=output, stderr=output
        )
    yield process, file, run.folder / "logs/slurm"
    process.kill()
    process.wait()


def test_two_nodes_give_the_bytes_of_a_local_run(slurm, local, tmp_path):
    """Only experiments are submitted."""
    run = scratch(tmp_path)
    started = time.monotonic()
    output = run.snakemake(*THREE, options=SLURM)
    print(f"three artifacts: {time.monotonic() - started:.0f} s")
    assert submissions(output) == 3
    assert slurm.used_nodes() == {*NODES}
    assert run.files() == local


def test_a_controller_that_is_away_for_ten_seconds_loses_nothing(slurm, local, tmp_path):
    run = scratch(tmp_path)
    with (tmp_path / "output").open("w") as output:
        process = subprocess.Popen(
            run.command(THREE, SLURM),
            cwd=tmp_path,
            env=run.environment(),
            stdout=output,
            stderr=output,
        )
        while process.poll() is None and not slurm.runs():
            time.sleep(0.2)
        slurm.stop_controller()
        time.sleep(10)
        slurm.start_controller()
        assert process.wait() == 0, (tmp_path / "output").read_text()
    assert run.files() == local


def test_cells_arrive_whole_and_blocks_of_repetitions_share_a_submission(slurm, overdue, copy):
    """Four runs and two tunings, in cells of two settings."""
    experiments = copy.folder / "src/papers/ors"
    content = yaml.safe_load((experiments / "vss.yaml").read_text())
    del content["reductions"], content["claims"]
    content["settings"] |= {"repetitions": 2, "windows": 5, "grids": {"mu": [0.1]}}
    content["settings"]["tasks"]["M=5"]["T"] = 500
    content["settings"]["methods"] = {name: {"method": name} for name in ("nlms", "sm_nlms")}
    content["shards"] = {"by": ["methods", "tasks"], "repetitions": 1}
    (experiments / "cells.yaml").write_text(yaml.safe_dump(content))

    output = copy.snakemake("ors_cells", options=SLURM)
    assert submissions(output) == 3  # the tunings, one by one, and the runs
    assert len(list(copy.folder.glob("results/smoke/ors/cells/cells/*~*/?.csv"))) == 4
    submitted = copy.files()
    subprocess.run(["rm", "-r", copy.folder / "results", copy.folder / "figures"], check=True)
    copy.snakemake("ors_cells", cores=2)
    assert submitted == copy.files()


def test_a_job_that_fails_once_is_repeated_with_twice_the_memory(slurm, copy):
    once = 'if not Path("once").exists():\n    Path("once").touch()\n    raise SystemExit("lost")\n'
    copy.edit("src/scripts/job.py", "parser = ", f"{once}parser = ")
    output = copy.snakemake("ors_fig7", options=[*SLURM, "--verbose"])
    memory = [int(number) for number in re.findall(r"sbatch call: .*--mem (\d+)", output)]
    assert len(memory) == submissions(output) == 2
    assert memory[1] == 2 * memory[0]


def test_the_generic_profile_runs_with_its_submit_script(slurm, local, tmp_path):
    run = scratch(tmp_path)
    (tmp_path / "workflow").symlink_to(ROOT / "workflow")
    output = run.snakemake(*THREE, options=["--profile", "workflow/profiles/generic"])
    assert output.count("external jobid") == 3
    assert run.files() == local


def test_a_job_that_takes_too_long_is_ended_and_its_log_says_why(overdue):
    process, output, logs = overdue
    assert process.wait() == 1
    assert "Run ors/fig7" in output.read_text()
    assert any("DUE TO TIME LIMIT" in log.read_text() for log in logs.rglob("*.log"))
