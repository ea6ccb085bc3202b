"""What a cluster is asked for, and how many jobs share a submission, comes from measured jobs."""

from pathlib import Path

import pytest
import yaml

from reproduction import costs
from reproduction.costs import Cost, Costs

ROOT = Path(__file__).parents[1]
MEASURED = Costs(
    {
        ("ors/fig2", "a", "run"): Cost(10, 14.0, 20.0, 400),
        ("ors/fig2", "b", "run"): Cost(10, 70.0, 90.0, 300),
        ("ors/fig2", "a", "tune"): Cost(1, 500.0, 500.0, 210),
    }
)


def test_measured_peaks_get_a_margin_and_the_second_attempt_twice_as_much():
    assert MEASURED.resources("ors/fig2", "b", "run", {}) == {"mem_mb": 900, "runtime": 5 + 2}
    assert MEASURED.resources("ors/fig2", "a", "run", {}) == {"mem_mb": 1000, "runtime": 1 + 2}
    assert MEASURED.resources("ors/fig2", "a", "run", {}, attempt=2) == {"mem_mb": 2000, "runtime": 6}


def test_what_an_artifact_declares_wins_and_what_nobody_measured_gets_the_default():
    assert MEASURED.resources("ors/fig2", "a", "tune", {"mem_mb": 9000}) == {
        "mem_mb": 9000,
        "runtime": 25 + 10,
    }
    assert MEASURED.resources("ors/fig9", "a", "run", {}) == costs.DEFAULT
    assert Costs({}).resources("ors/fig2", "a", "run", {"runtime": 7}) == costs.DEFAULT | {"runtime": 7}


def test_an_unknown_cell_is_asked_for_like_the_dearest_and_an_experiment_like_the_dearest_job():
    assert MEASURED.of("ors/fig2", "c", "run") == MEASURED.of("ors/fig2", "b", "run")
    assert MEASURED.of("ors/fig2", "all", "experiment") == MEASURED.of("ors/fig2", "a", "tune")
    assert MEASURED.of("ors/fig2", "c", "experiment").longest == 500


def test_a_submission_holds_at_most_ten_measured_minutes():
    assert [MEASURED.batch("ors/fig2", cell, "run") for cell in "ab"] == [40, 5]
    assert MEASURED.batch("ors/fig2", "a", "tune") == 1
    assert MEASURED.batch("ors/fig2", "a", "experiment") == 1
    assert Costs({}).batch("ors/fig2", "a", "run") == 1


@pytest.mark.parametrize("name", ["slurm", "slurm-no-accounting", "generic"])
def test_every_profile_of_a_cluster_knows_the_sizes_of_submissions(name):
    profile = yaml.safe_load((ROOT / f"workflow/profiles/{name}/config.yaml").read_text())
    assert profile["group-components"] == [f"x{size}={size}" for size in costs.SIZES]
    assert profile["retries"] == 1
    assert profile["default-resources"]["mem_mb"] == costs.DEFAULT["mem_mb"]


def test_the_profiles_for_slurm_differ_by_the_accounting_only():
    read = [
        yaml.safe_load((ROOT / f"workflow/profiles/{name}/config.yaml").read_text())
        for name in ("slurm", "slurm-no-accounting")
    ]
    assert read[1] == read[0] | {"slurm-no-account": True, "slurm-status-command": "squeue"}


def write(folder, name, seconds, cpu, peak):
    file = folder / f"{name}.time.tsv"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"s\tmax_rss\tcpu_time\n{seconds}\t{peak}\t{cpu}\n")


def test_logs_become_a_table_of_which_the_last_folder_counts(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    write(first, "ors/fig2/a=1.5,b=2.0", 30, 10, 200.2)
    write(first, "ors/fig2/a=1.5,b=2.1", 30, 20, 100)
    write(second, "ors/fig2/a=1.5,b=2.1", 30, 40, 300)
    write(first, "ors/fig2/a=1.5,b=2.tune", 7, "NA", "NA")
    write(first, "ors/fig3/experiment", 9, 8, 150)
    rows = [list(row.values()) for row in costs.gathered([first, second])]
    assert rows == [
        ["ors/fig2", "a=1.5,b=2", "run", 2, "25.0", "40.0", 300],
        ["ors/fig2", "a=1.5,b=2", "tune", 1, "7.0", "7.0", 0],
        ["ors/fig3", "", "experiment", 1, "8.0", "8.0", 150],
    ]


def test_an_artifact_that_was_run_again_loses_its_old_rows_and_no_other_does(tmp_path):
    def row(artifact, cell, seconds):
        return dict(zip(costs.COLUMNS, (artifact, cell, "run", "1", seconds, seconds, "100"), strict=True))

    table = tmp_path / "jobs.csv"
    old = [row("ors/fig2", "a", "1.0"), row("ors/fig2", "b", "1.0"), row("pnorm/room", "", "2.0")]
    lines = [",".join(costs.COLUMNS), *(",".join(line.values()) for line in old)]
    table.write_text("\n".join(lines) + "\n")
    again = row("ors/fig2", "c", "3.0")
    assert costs.updated(table, [again]) == [again, old[2]]
    assert costs.updated(tmp_path / "none.csv", [again]) == [again]


def test_the_recorded_table_is_read_and_a_damaged_one_named(tmp_path):
    assert len(costs.read(ROOT / "workflow/recorded/jobs.csv").measured) > 100
    assert costs.read(tmp_path / "none.csv") == Costs({})
    damaged = tmp_path / "jobs.csv"
    damaged.write_text("artifact,cell\n")
    with pytest.raises(ValueError, match=r"jobs.csv: the columns are not artifact, cell"):
        costs.read(damaged)
    damaged.write_text(",".join(costs.COLUMNS) + "\nors/fig2,a,run,1,fast,2,3\n")
    with pytest.raises(ValueError, match=r"jobs.csv, line 2: jobs, seconds, longest and"):
        costs.read(damaged)
