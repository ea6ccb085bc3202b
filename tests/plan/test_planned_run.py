"""A run with nothing to do is recognised without Snakemake, by what Snakemake would see."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from snakemake.common.configfile import load_configfile
from snakemake.utils import update_config

from reproduction.paths import CHECKOUT
from reproduction.plan import planned_run, steps
from reproduction.plan.currency import Decisions, Step, key_of, write_keys
from reproduction.plan.plan import configured, planned
from reproduction.plan.planned_run import INCOMPLETE, PlannedRun, plan_run, search_first
from scripts import start

CONFIG = configured(CHECKOUT, "smoke")


@pytest.fixture(scope="module")
def plan():
    return planned(CHECKOUT, CONFIG)


@pytest.fixture
def finished(plan, tmp_path, monkeypatch) -> Iterator[PlannedRun]:
    """A run of everything whose files are there, and whose records are current."""
    files = [*plan.promised(""), *steps.list_page_marks(plan), "site/smoke/index.html"]
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    (tmp_path / INCOMPLETE).mkdir(parents=True)
    all_steps = list(steps.list_steps(plan))
    monkeypatch.chdir(tmp_path)
    records = [step.record for step in all_steps]
    return PlannedRun(CONFIG, plan, all_steps, Decisions(dict.fromkeys(records, "")))


@pytest.mark.parametrize("scale", ["smoke", "full"])
def test_ours_and_snakemakes_reading_of_the_configuration_are_the_same(scale):
    config = load_configfile(str(CHECKOUT / "config/config.yaml"))
    if scale != "full":
        update_config(config, load_configfile(str(CHECKOUT / f"config/{scale}.yaml")))
    assert configured(CHECKOUT, scale) == config


def test_a_run_is_finished_if_every_file_is_there_and_every_record_current(finished):
    assert finished.is_finished()


def test_each_missing_file_is_noticed(finished):
    plan = finished.plan
    files = [*plan.promised(""), *steps.list_page_marks(plan), "site/smoke/index.html"]
    for file in files:
        Path(file).unlink()
        assert not finished.is_finished(), file
        Path(file).touch()


def test_a_due_job_is_noticed_unless_it_is_a_verdict_that_only_a_target_requests(finished):
    plan = finished.plan
    requested = {f"{plan.results}/{page}verdicts.record.json" for page in plan.pages("")}
    unnoticed = set()
    of_verdicts = [name for name in finished.decisions if name.endswith("/verdicts.record.json")]
    other_results = [name for name in finished.decisions if name not in of_verdicts]
    for record in [*requested, *of_verdicts[::10], *other_results[::10]]:
        finished.decisions[record] = "seed: 1 -> 2"
        if finished.is_finished():
            unnoticed.add(record)
        finished.decisions[record] = ""
    assert unnoticed
    assert unnoticed <= set(of_verdicts)
    assert unnoticed.isdisjoint(requested)


def test_a_job_that_was_cut_off_is_noticed(finished):
    (INCOMPLETE / "cmVzdWx0cw==").touch()
    assert not finished.is_finished()


def test_a_plan_serves_the_configuration_from_which_it_was_made_alone(finished, monkeypatch):
    monkeypatch.setattr(planned_run, "READY", finished)
    assert plan_run(CHECKOUT, dict(CONFIG), [], None) is finished
    with pytest.raises(ValueError, match="seed"):
        plan_run(CHECKOUT, {**CONFIG, "seed": "none"}, [], None)


@pytest.mark.parametrize("typed", ["", "smoke", "full", "-n", "smoke -n -j 2", "-j4 --dry-run"])
def test_words_that_change_no_setting_are_plain(typed, monkeypatch):
    assert start.is_plain(typed.split())
    monkeypatch.setenv("SNAKEMAKE_PROFILE", "mine")
    assert not start.is_plain(typed.split())


@pytest.mark.parametrize(
    "typed",
    [
        "ors",
        "smoke ors_fig2 -n",
        "-n --forceall",
        "--config seed=7",
        "--configfile mine.yaml",
        "-n --verbose",
        "--unlock",
        "--cores",
        "--profile workflow/profiles/slurm",
        "quick",
        "--as-typed -n",
    ],
)
def test_other_words_are_left_to_snakemake(typed):
    assert not start.is_plain(typed.split())


def test_a_search_path_begins_with_the_folders_each_once(monkeypatch):
    monkeypatch.setenv("PLACES", os.pathsep.join(["/b", "/a", "/c"]))
    for _ in range(2):
        search_first("PLACES", ["/a", "/d"])
        assert os.environ["PLACES"].split(os.pathsep) == ["/a", "/d", "/b", "/c"]


def test_the_key_of_a_result_that_is_there_is_another_each_time(tmp_path, monkeypatch):
    """Otherwise Snakemake would pass over it; a result that is not there is made anyway."""
    monkeypatch.chdir(tmp_path)
    record = {"format": 1, "decides": {}, "outputs": {}, "informs": {}}
    Path("made.json").write_text(json.dumps(record))
    keys_seen = {"made.json": set(), "new.json": set()}
    for _ in range(2):
        write_keys([Step(name, {}) for name in keys_seen], dict.fromkeys(keys_seen, "not made yet"))
        for name, contents in keys_seen.items():
            contents.add(Path(key_of(name)).read_text())
    assert [len(contents) for contents in keys_seen.values()] == [2, 1]
