"""What a cluster is asked for comes from measured jobs."""

from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
import yaml
from project import load_plan

from reproduction.judge import archived_run
from reproduction.plan import costs
from reproduction.plan.plan import Plan
from reproduction.run import records
from reproduction.spec.artifact import Resources

ROOT = Path(__file__).parents[2]
MEASURED = {
    ("ors/fig2", "a", "run"): (20.0, 400.0),
    ("ors/fig2", "b", "run"): (90.0, 300.0),
    ("ors/fig2", "a", "tune"): (500.0, 210.0),
}


@pytest.mark.parametrize(
    ("key", "declared", "attempt", "requested"),
    [
        (("ors/fig2", "b", "run"), {}, 1, (900, 5 + 2)),
        (("ors/fig2", "a", "run"), {}, 2, (2000, 2 * (1 + 2))),
        (("ors/fig2", "a", "tune"), {"mem_mb": 9000}, 1, (9000, 27)),
        (("ors/fig2", "c", "run"), {}, 1, (900, 5 + 2)),
        (("ors/fig2", "", "experiment"), {}, 1, (800, 27)),
        (("ors/fig9", "a", "run"), {"runtime": 7}, 1, (1000, 7)),
    ],
    ids=[
        "measured, with a margin",
        "twice as much once more",
        "declared wins",
        "another cell: the dearest",
        "one job: the dearest of several",
        "never measured",
    ],
)
def test_a_job_asks_for_what_was_measured_with_a_margin(key, declared, attempt, requested):
    artifact = SimpleNamespace(resources=Resources(**declared))
    plan = SimpleNamespace(measured=MEASURED, artifact=lambda name: artifact)
    assert tuple(Plan.resources(plan, *key, attempt).values()) == requested


def test_a_profile_of_a_cluster_repeats_a_failed_job_once_and_knows_the_default():
    for name in ("slurm", "generic"):
        profile = yaml.safe_load((ROOT / f"workflow/profiles/{name}/config.yaml").read_text())
        assert profile["retries"] == 1
        assert profile["default-resources"]["mem_mb"] == costs.DEFAULT["mem_mb"]


def test_a_cell_reaches_a_submitted_job_whole():
    from snakemake.target_jobs import parse_target_jobs_cli_args
    from snakemake_interface_executor_plugins.utils import TargetSpec, encode_target_jobs_cli_args

    wildcards = {"artifact": "ors/fig2", "cell": "methods=nlms~tasks=M=5", "block": "0"}
    arguments = encode_target_jobs_cli_args([TargetSpec("run", wildcards)])
    (spec,) = parse_target_jobs_cli_args(arguments)
    assert spec.wildcards_dict == wildcards


def write(folder, name, seconds, cpu, peak):
    file = folder / f"{name}.time.tsv"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"s\tmax_rss\tcpu_time\n{seconds}\t{peak}\t{cpu}\n")


def test_logs_become_a_table_of_which_the_last_folder_counts(tmp_path):
    first = tmp_path / "first"
    second = tmp_path / "second"
    write(first, "ors/fig2/a=1.5~b=2.0", 30, 10, 200.2)
    write(first, "ors/fig2/a=1.5~b=2.1", 30, 20, 100)
    write(second, "ors/fig2/a=1.5~b=2.1", 30, 40, 300)
    write(first, "ors/fig2/a=1.5~b=2.tune", 7, "NA", "NA")
    write(first, "ors/fig3/experiment", 9, 8, 150)
    table = costs.gathered([first, second])
    columns_of_logs = costs.COLUMNS[:-1]
    assert table[columns_of_logs].to_numpy().tolist() == [
        ["ors/fig2", "a=1.5~b=2", "run", 2, 25.0, 40.0, 300],
        ["ors/fig2", "a=1.5~b=2", "tune", 1, 7.0, 7.0, 0],
        ["ors/fig3", "", "experiment", 1, 8.0, 8.0, 150],
    ]


def test_minutes_stand_next_to_what_a_fixed_piece_of_work_took_there(tmp_path):
    """Without it nobody can compare minutes of two machines; older runs have an empty cell."""
    logs = tmp_path / "logs/full"
    write(logs, "ors/fig2/experiment", 9, 8, 150)
    write(logs, "ors/fig3/experiment", 9, 8, 150)
    record = tmp_path / "results/full/ors/fig2/record.json"
    record.parent.mkdir(parents=True)
    record.write_text('{"informs": {"calibration_ms": 4.5}}')
    table = costs.gathered([logs]).set_index("artifact")
    assert table["calibration_ms"].isna().to_dict() == {"ors/fig2": False, "ors/fig3": True}
    assert table.loc["ors/fig2", "calibration_ms"] == 4.5


def test_the_fixed_piece_of_work_informs_and_never_decides():
    informs = records.describe_numbers({"settings": {}}, {}, [])
    assert 0 < informs["calibration_ms"] < 1000
    decides = records.decisive({"asked": {}, "inputs": []}, sources=False)
    assert "reproduction/run/results.py" in decides["read"]
    assert "calibration" not in str(decides)


def test_an_artifact_that_was_run_again_loses_its_old_rows_and_no_other_does(tmp_path):
    def rows(*keys):
        numbers = (1, 1.0, 1.0, 100, 4.5)
        return pd.DataFrame([(*key, "run", *numbers) for key in keys], columns=costs.COLUMNS)

    table = tmp_path / "jobs.csv"
    rows(("ors/fig2", "a"), ("ors/fig2", "b"), ("pnorm/room", "")).to_csv(table, index=False)
    new_table = costs.updated(table, rows(("ors/fig2", "c")))
    assert new_table[["artifact", "cell"]].to_numpy().tolist() == [
        ["ors/fig2", "c"],
        ["pnorm/room", ""],
    ]


def test_the_recorded_table_is_read_and_a_damaged_one_named(tmp_path):
    assert len(costs.read(ROOT / "workflow/recorded/jobs.csv")) > 100
    assert costs.read(tmp_path / "none.csv") == {}
    damaged = tmp_path / "jobs.csv"
    damaged.write_text("artifact,cell\n")
    with pytest.raises(ValueError, match=r"jobs.csv: the columns are not artifact, cell"):
        costs.read(damaged)
    damaged.write_text(",".join(costs.COLUMNS) + "\nors/fig2,a,run,1,1,fast,2,\n")
    with pytest.raises(ValueError, match=r"jobs.csv, line 2: longest, mem_mb must be numbers"):
        costs.read(damaged)


def test_starting_takes_at_most_a_twentieth_of_the_jobs_of_a_full_run():
    """Short blocks waste time: each loads packages and compiled functions before it computes."""
    seconds_to_start = 2.0
    full = load_plan("full", whole=True)
    for name, artifact in full.artifacts.items():
        cost = archived_run.read_archived(name, ROOT).cost
        if artifact.protocol and cost and len(artifact.blocks) > 1:
            jobs = len(artifact.cells) * len(artifact.blocks)
            seconds_of_job = cost["minutes"] * 60 / jobs
            assert seconds_of_job >= 20 * seconds_to_start, name
