"""What the workflow promises: the same bytes however it runs, no needless work, one-line errors."""

import re
import signal
import subprocess
import time

import pytest

pytestmark = pytest.mark.workflow
SYNTHETIC = ["ors_fig2", "ors_fig4", "ors_fig6"]


def jobs(output: str) -> dict[str, int]:
    """Job counts of a dry run."""
    table = output.partition("Job stats:")[2].partition("total")[0]
    return {name: int(count) for name, count in re.findall(r"^(\w+)\s+(\d+)\s*$", table, re.M)}


def test_any_number_of_cores_and_any_interruption_give_the_same_bytes(new_checkout):
    one, two, killed = new_checkout("one"), new_checkout("two"), new_checkout("killed")
    one.snakemake(*SYNTHETIC, cores=1)
    two.snakemake(*SYNTHETIC, cores=2)
    process = subprocess.Popen(
        killed.command(*SYNTHETIC, cores=2),
        cwd=killed.path,
        env=killed.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while (
        not list(killed.path.glob("results/smoke/ors/*/cells/*/tuned.json")) and time.monotonic() < deadline
    ):
        time.sleep(0.02)
    import os

    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert 0 < len(killed.files()) < len(one.files())
    killed.snakemake("--unlock")
    killed.snakemake(*SYNTHETIC, "--rerun-incomplete", cores=2)
    assert one.files()
    assert one.files() == two.files() == killed.files()


def test_an_edit_reruns_what_depends_on_it_and_nothing_else(checkout):
    checkout.snakemake("ors_vss", "ors_fig6")
    assert "Nothing to be done" in checkout.snakemake("ors_vss", "ors_fig6", "-n")

    checkout.edit("src/noisylabels/filters/sm_nlms.py", '"""', '"""Edited. ')
    planned = checkout.snakemake("ors_vss", "ors_fig6", "-n")
    assert jobs(planned)["run"] == 1
    assert "methods=sm_nlms" in planned
    assert "fig6" not in planned
    checkout.snakemake("ors_vss", "ors_fig6")

    checkout.edit("src/noisylabels/figures/ors.py", '"""', '"""Edited. ')
    assert set(jobs(checkout.snakemake("ors_vss", "ors_fig6", "-n"))) == {"figure", "ors_vss", "ors_fig6"}
    checkout.snakemake("ors_vss", "ors_fig6")

    checkout.edit("config/experiments/ors/fig6.yaml", "caption: >", "caption: >\n  Edited.")
    assert "run" not in jobs(checkout.snakemake("ors_vss", "ors_fig6", "-n"))

    checkout.edit("config/experiments/ors/fig6.yaml", "tuning_rounds: 3000", "tuning_rounds: 2000")
    assert {"tune", "run", "collect", "figure", "verdict"} <= set(jobs(checkout.snakemake("ors_fig6", "-n")))


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("config/config.yaml", "seed:", "sed:", "'sed' was unexpected"),
        ("config/config.yaml", "papers: [ors]", "papers: [orz]", "'orz' has no artifacts"),
        ("config/experiments/ors/fig2.yaml", "windows: 100", "windws: 100", "'windws' was unexpected"),
        (
            "config/experiments/ors/fig2.yaml",
            "clean: {method: ors",
            "clean: {method: orz",
            "unknown method 'orz'",
        ),
        ("config/experiments/ors/fig5.yaml", "[speech,", "[speach,", "data set 'speach' is not in"),
    ],
)
def test_a_mistake_in_a_file_stops_before_any_job(checkout, file, old, new, message):
    checkout.edit("tiny.yaml", "papers: [ors]", "")
    checkout.edit(file, old, new)
    output = checkout.snakemake("-n", fail=True)
    assert message in output
    assert not (checkout.path / "results").exists()


def test_a_failing_job_leaves_no_partial_table_and_names_its_cause(checkout):
    checkout.edit(
        "src/noisylabels/protocols/budget_trace.py", '"metric": metric,', '"metric": metric, "extra": 1,'
    )
    output = checkout.snakemake("ors_fig7", fail=True)
    assert "unknown columns ['extra']" in output
    assert not list(checkout.path.glob("results/smoke/ors/fig7/cells/*/0.csv"))


def test_the_dry_run_of_the_full_configuration_is_quick(checkout):
    start = time.monotonic()
    checkout.snakemake("-n", "--config", "scale=full")
    assert time.monotonic() - start < 15  # 5 s on an idle machine; see benchmarks/
