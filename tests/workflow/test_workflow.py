"""What the workflow promises: the same bytes however it runs, no needless work, one-line errors."""

import re

import pytest
import yaml

pytestmark = pytest.mark.workflow


def jobs(output: str) -> dict[str, int]:
    """Job counts of a dry run."""
    table = output.partition("Job stats:")[2].partition("total")[0]
    return {name: int(count) for name, count in re.findall(r"^(\w+)\s+(\d+)\s*$", table, re.M)}


@pytest.mark.nightly
def test_any_number_of_cores_gives_the_same_bytes(run):
    one_core = run("one")
    two = run("two")
    one_core.snakemake("ors_fig7", cores=1)
    two.snakemake("ors_fig7", cores=2)
    assert one_core.files() == two.files()
    assert "Nothing to be done" in two.snakemake("ors_fig7", options=["-n"])


@pytest.fixture
def two_experiments(copy):
    """Write two small artifacts: `first` with two methods, a cell each, and `second` with one."""
    content = yaml.safe_load((copy.checkout / "src/papers/ors/vss.yaml").read_text())
    content.pop("reductions")
    check = {
        "statistic": "value",
        "where": {"metric": "mse_tail"},
        "above": 0,
        "for_each": ["method"],
    }
    content["claims"] = [{"id": "C", "kind": "ours", "statement": "s", "checks": [check]}]
    content["settings"] |= {"repetitions": 2, "windows": 5, "grids": {"mu": [0.1]}}
    content["settings"]["tasks"]["M=5"]["T"] = 500
    content["shards"] = {"by": ["methods"]}
    for name, methods in (("first", ("nlms", "pnorm_lms")), ("second", ("nlms",))):
        content["settings"]["methods"] = {method: {"method": method} for method in methods}
        (copy.checkout / f"src/papers/ors/{name}.yaml").write_text(yaml.safe_dump(content))
    return copy


@pytest.mark.nightly
def test_a_run_tells_what_was_made_and_an_edit_reruns_what_depends_on_it_and_nothing_else(
    two_experiments,
):
    copy, targets = two_experiments, ["ors_first", "ors_second"]

    def planned():
        return copy.snakemake(*targets, options=["-n"])

    output = copy.snakemake(*targets, cores=2)
    assert "smoke scale: 2 figures and 0 tables in figures/smoke" in output
    judged = "1 ran (no verdicts at reduced scale); see results/smoke/ors/first/verdicts.csv"
    assert f"verdicts: {judged}" in output

    copy.edit("src/noisylabels/filters/pnorm.py", '"""', '"""Edited. ')  # a docstring
    # only pages show this text
    copy.edit("src/papers/ors/second.yaml", "caption: ", "caption: Edited. ")
    assert "Nothing to be done" in planned()
    copy.edit("src/papers/ors/drawing.py", "\nMODES = ", "\nEDITED = True\nMODES = ")
    draws = {"draw_ors_first": 1, "draw_ors_second": 1}
    assert jobs(planned()) == draws | {"ors_first": 1, "ors_second": 1}
    copy.snakemake(*targets, cores=2)

    copy.edit("src/papers/ors/second.yaml", "above: 0", "above: 0.01")
    assert jobs(planned()) == {"verdicts": 1, "ors_second": 1}
    copy.edit("src/papers/ors/second.yaml", "above: 0.01", "above: 0")
    copy.edit("src/noisylabels/filters/pnorm.py", "\nclass ", "\nEDITED = True\n\n\nclass ")
    output = planned()
    assert jobs(output)["tune"] == 1
    assert jobs(output)["run"] == 1
    assert "methods=pnorm_lms" in output
    assert "ors_second" not in jobs(output)
    copy.edit("src/papers/ors/second.yaml", "T: 500", "T: 600")
    assert {"experiment", "draw_ors_second", "verdicts"} <= set(jobs(planned()))


def test_a_mistake_in_a_file_stops_before_any_job(copy):
    for file, old, message in (
        ("src/papers/ors/fig2.yaml", "windows: ", "no key 'qwindows'; did you mean windows?"),
        ("config/config.yaml", "seed:", "there is no key 'qseed'; did you mean seed"),
    ):
        copy.edit(file, old, f"q{old}")
        output = copy.snakemake(options=["-n"], fail=True)
        assert message in output.strip().splitlines()[-1]  # one line, and the last
    assert not copy.files()


def test_a_failing_job_names_its_cause_and_leaves_no_table(two_experiments):
    two_experiments.edit(
        "src/papers/ors/code.py",
        "repetition.with_columns(**columns, **task",
        "repetition.with_columns(extra=1, **columns, **task",
    )
    two_experiments.snakemake("ors_second", fail=True)
    log = two_experiments.folder / "logs/smoke/ors/second/experiment.log"
    assert "has the columns ['extra']; a row has dataset" in log.read_text().splitlines()[-1]
    assert not list(two_experiments.folder.glob("results/smoke/ors/second/table.csv"))


@pytest.mark.nightly
def test_a_measured_job_has_the_machine_to_itself_and_uses_one_thread(two_experiments):
    two_experiments.edit("src/papers/ors/second.yaml", "protocol:", "measured: true\nprotocol:")
    one_thread = 'import argparse\nimport os\nassert os.environ["OMP_NUM_THREADS"] == "1"\n'
    two_experiments.edit("src/scripts/job.py", "import argparse\n", one_thread)
    for _ in ("experiment", "run"):
        two_experiments.edit("workflow/rules/experiments.smk", '"Run {', '"{threads} threads: {')
    full = [
        "--config",
        "scale=full",
    ]  # at smoke scale no times are judged, and nothing waits for them
    output = two_experiments.snakemake("ors_first", "ors_second", options=["-n", *full], cores=2)
    assert set(re.findall(r"(\d) threads: ors/(\w+)", output)) == {("2", "second"), ("1", "first")}
    two_experiments.snakemake("results/full/ors/second/table.csv", options=full, cores=2)


def test_the_full_configuration_can_be_planned_and_a_wrong_target_is_answered(run):
    planned = run("planned")
    assert jobs(planned.snakemake(options=["-n", "--config", "scale=full"]))["run"] > 10
    unknown = planned.snakemake("ors_fig99", options=["-n"], fail=True).strip().splitlines()[-1]
    assert unknown.startswith("there is no target ors_fig99; did you mean ors_fig")
    output = planned.snakemake("pnorm_room", options=["-n"], fail=True)
    assert "`papers` in config/config.yaml does not list pnorm" in output
    assert "papers=[ors,pnorm]" in output
