"""The plan: which files an artifact promises and needs, and which jobs make them."""

import os
import re
from pathlib import Path

import pytest
from project import EXPERIMENTS, load_data_sets, load_project

from reproduction.plan import plan
from reproduction.run import console
from reproduction.spec.display_keys import DISPLAY

PAPERS = ["ors", "robust_sgd", "kernel_boost"]


def make(scale="full", **options):
    data = {"mirror": "", "source": "", "offline": False, "local": {}} | options
    config = {"scale": scale, "papers": PAPERS, "seed": 1, "formats": ["pdf", "png"], "data": data}
    artifacts = load_project(scale)
    chosen = {}
    for paper in PAPERS:
        names = [name for name in artifacts if name.startswith(f"{paper}/")]
        chosen |= {name: artifacts[name] for name in names}
    return plan.Plan(config, chosen, load_data_sets())


@pytest.fixture
def no_speech(monkeypatch):
    def lack(_, data_set):
        return "no speech" if data_set.startswith("speech") else ""

    monkeypatch.setattr(plan.Plan, "lack", lack)
    return make()


@pytest.mark.parametrize("scale", ["smoke", pytest.param("full", marks=pytest.mark.nightly)])
def test_an_experiment_is_one_job_or_several_but_never_both(scale):
    plan = make(scale)
    single = plan.experiments(single=True)
    split = plan.experiments(single=False)
    for name, artifact in plan.artifacts.items():
        is_single = bool(re.fullmatch(single, name))
        is_split = bool(re.fullmatch(split, name))
        assert is_single + is_split == bool(artifact.protocol)
        assert not is_single or len(plan.parts(name)) == 1


def test_one_experiment_of_each_paper_starts_before_all_others_that_of_a_large_one_first():
    planned = make("smoke")
    leads = {}
    for name, artifact in planned.artifacts.items():
        if artifact.protocol and planned.lead(name):
            leads[name] = planned.lead(name)
    assert [name.partition("/")[0] for name in leads] == PAPERS
    assert max(leads, key=lambda name: leads[name]).startswith("kernel_boost/")


def test_a_cell_needs_its_data_its_methods_and_its_tuned_parameters():
    planned = make(source="packaged")
    name = "robust_sgd/table1"
    cell = next(cell for cell in planned.artifact(name).cells if "a7a" in cell)
    assert planned.data(name, cell) == ["data/prepared/a7a.packaged.npz"]
    assert len(planned.data(name)) == 2
    assert planned.tuned(name, [cell]) == [f"results/full/{name}/cells/{cell}/tuned.json"]
    assert planned.tuned("kernel_boost/rivals") == []


def test_a_job_is_described_without_its_caption_and_labels():
    job = make("smoke").job("ors/fig2")
    assert set(job) == {"protocol", "experiment", "seed", "settings"}
    assert job["experiment"] == "ors-regression"
    declared = make("smoke").cell("kernel_boost/rivals").as_written["methods"]
    described = make("smoke").job("kernel_boost/rivals")["settings"]["methods"]
    assert any(set(method) & set(DISPLAY) for method in declared.values())
    assert not any(set(method) & set(DISPLAY) for method in described.values())


def test_a_table_shows_the_printed_values_of_what_it_draws():
    planned = make()
    drawn = {"rivals": "results/full/kernel_boost/rivals/table.csv"}
    assert planned.drawn("kernel_boost/rivals_high") == drawn
    assert planned.shown_with("kernel_boost/rivals_high")["rivals"].published
    assert planned.drawings("ors/fig2") == [
        "figures/full/ors/fig2.png",
        "figures/full/ors/fig2.pdf",
    ]
    assert planned.drawings("kernel_boost/rivals")[0] == "figures/full/kernel_boost/rivals.html"


def test_a_paper_is_drawn_by_one_job_and_an_artifact_asked_for_alone_by_another():
    planned = make()
    ors = {name for name in planned.shown if name.startswith("ors/")}
    for words in ([], ["ors"], ["ors", "ors_fig2"], ["-n", "pnorm"]):
        assert set(planned.drawn_together(words)["ors"]) == ors
    drawn_alone = planned.drawn_together(["--cores", "2", "ors_fig2"])
    assert drawn_alone["ors/fig2"] == ["ors/fig2"]
    assert set(drawn_alone["ors"]) == ors - {"ors/fig2"}


def test_a_scope_promises_figures_records_and_one_page_of_verdicts():
    planned = make("smoke")
    promised = planned.promised("ors/fig2/")
    assert {"figures/smoke/ors/fig2.png", "results/smoke/ors/fig2/record.json"} < set(promised)
    assert promised[-1] == "results/smoke/ors/fig2/verdicts.csv"
    whole = {*planned.promised(""), "results/smoke/ors/verdicts.csv"}
    assert set(promised[:-1]) < set(planned.promised("ors/")) < whole
    judged_of_ors = {name for name in planned.judged("") if name.startswith("ors/")}
    assert set(planned.judged("ors/")) == judged_of_ors
    assert "ors/fig3" not in planned.judged("ors/")


def test_measured_times_are_judged_on_a_page_of_their_own():
    planned = make()
    page = "results/full/kernel_boost/cpu_time/verdicts.csv"
    assert "kernel_boost/cpu_time" not in planned.judged("") | planned.judged("kernel_boost/")
    assert set(planned.judged("kernel_boost/cpu_time/")) == {"kernel_boost/cpu_time"}
    assert planned.pages("kernel_boost/") == ["kernel_boost/", "kernel_boost/cpu_time/"]
    assert page in planned.promised("")
    assert planned.promised("kernel_boost/cpu_time/").count(page) == 1


def test_what_the_pinned_source_does_not_have_is_left_out_with_its_reason(no_speech):
    assert no_speech.left_out["ors/fig5"] == "no speech"
    for name, artifact in no_speech.artifacts.items():
        if artifact.paper == "ors" and "fig5" in artifact.uses:
            assert no_speech.left_out[name] == "it draws ors/fig5: no speech"
    assert "figures/full/ors/fig5.png" not in no_speech.promised("")
    assert "speech" not in no_speech.data_sets()
    with pytest.raises(ValueError, match="ors/fig5 cannot run: no speech"):
        no_speech.artifact("ors/fig5")
    with pytest.raises(ValueError, match="there is no artifact ors/fig99"):
        no_speech.artifact("ors/fig99")
    assert no_speech.refusals(EXPERIMENTS)["ors_fig5"] == "ors/fig5 cannot run: no speech"
    assert "left out: ors/fig5: no speech" in console.summary(no_speech, [])
    assert "left out" not in console.summary(no_speech, ["robust_sgd"])


def test_a_plan_says_what_it_lacks():
    packaged = "rte has no source or variant 'packaged'; it has: "
    assert make(source="packaged").lack("rte").startswith(packaged)
    assert make().lack("rte") == ""
    assert make(source="packaged", local={"rte": "mine.csv"}).lack("rte") == ""
    with pytest.raises(ValueError, match="'speach' is not in the registry"):
        make().lack("speach")
    with pytest.raises(ValueError, match="rte has no source or variant 'nowhere'"):
        make().lack("rte.nowhere")


def test_a_fetch_gets_the_options_of_the_configuration():
    options = {"mirror": "/m", "offline": True, "local": {"speech": "talk.wav"}}
    assert make(**options).fetch_options("speech") == [
        "--mirror=/m",
        "--local",
        "talk.wav",
        "--offline",
    ]
    assert make().fetch_options("speech") == []
    assert make(**options).local("speech.packaged") == ["talk.wav"]


def test_a_paper_that_is_not_listed_has_targets_that_say_so():
    reasons = make().refusals(EXPERIMENTS)
    assert "`papers` in config/config.yaml does not list pnorm" in reasons["pnorm"]
    assert reasons["pnorm_room"] == reasons["pnorm"]
    assert "ors_fig2" not in reasons


def test_a_summary_counts_what_was_made_and_judged_and_says_what_is_missing(tmp_path, monkeypatch):
    planned = make("smoke")
    monkeypatch.chdir(tmp_path)
    for file in planned.promised("ors/fig2/"):
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).touch()
    csv = tmp_path / "results/smoke/ors/fig2/verdicts.csv"
    head = "paper,artifact,kind,id,origin,form_of,side,published,estimate,margin,verdict"
    rows = [
        "sentence,A-1,paper,,,,,,reproduced",
        "ours,A-2,ours,,,,,,ran",
        "published,t1,paper,,,0.18,18.1,1,ran",
    ]
    csv.write_text("\n".join([head, *(f"ors,fig2,{row}" for row in rows)]))
    # The published values of our papers are not questioned; those of users' papers are.
    assert len(console.summary(planned, ["ors_fig2"]).splitlines()) == 3
    monkeypatch.setattr(console, "HOME", tmp_path)
    results, file, judged, unit = console.summary(planned, ["ors_fig2"]).splitlines()
    nearer = "1 of 1 published values are much nearer to ours with"
    assert unit.startswith(f"ors/fig2.yaml: published: {nearer}")
    assert results == "smoke scale: 1 figure and 0 tables in figures/smoke"
    assert file == "made: figures/smoke/ors/fig2.png"
    assert judged.startswith("verdicts: 1 reproduced, 2 ran")
    assert judged.endswith("see results/smoke/ors/fig2/verdicts.csv")
    broken = console.summary(planned, ["ors_fig2", "ors_fig4"], failed=True)
    assert "not made: ors/fig4; why: logs/smoke" in broken
    assert console.summary(planned, ["data"]) == ""


def test_why_jobs_failed_is_told_from_the_ends_of_their_logs(tmp_path):
    logs = {
        "full/ors/fig2/a.log": "Traceback (most recent call last):\nValueError: row 3 diverged\n",
        "full/ors/fig2/b.log": "ValueError: row 3 diverged",
        "data/prepare.beans.local.log": "error: beans.csv: no column 'kin'\n",
        "full/ors/fig4/a.log": "all went well\n",
        "full/ors/fig6/a.log": "reproduction.data.errors.DataError: x.npz is damaged\n",
        "full/ors/draw.log": "table.csv is not that of record.json\n",
        "full/ors/fig4/old.log": "ValueError: yesterday",
    }
    for name, text in logs.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        os.utime(file, (10, 10) if "old" in name else (100, 100))
    assert console.causes(tmp_path, 50) == [
        f"why: beans.csv: no column 'kin' ({tmp_path / 'data/prepare.beans.local.log'})",
        f"why: table.csv is not that of record.json ({tmp_path / 'full/ors/draw.log'})",
        f"why: ValueError: row 3 diverged ({tmp_path / 'full/ors/fig2/a.log'})",
        f"why: DataError: x.npz is damaged ({tmp_path / 'full/ors/fig6/a.log'})",
    ]
