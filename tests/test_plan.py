"""The plan: which files an artifact promises and needs, and which jobs make them."""

import json
import os
from pathlib import Path

import pytest

from noisylabels import METHODS
from reproduction import artifact as artifacts
from reproduction import plan, targets
from reproduction import run_summary as summary
from reproduction.costs import DEFAULT
from reproduction.data.registry import load_registry
from reproduction.data_sources import DataSources as Supply
from reproduction.methods import DISPLAY

ROOT = Path(__file__).resolve().parents[1]
EXPERIMENTS = ROOT / "config/experiments"
REGISTRY = load_registry(ROOT / "config/datasets.yaml")
PAPERS = ["ors", "robust_sgd", "kernel_boost"]


def supply(**options):
    return Supply(REGISTRY, {"mirror": "", "source": "", "offline": False, "local": {}} | options)


@pytest.fixture(scope="module")
def loaded():
    return {scale: artifacts.load_all(EXPERIMENTS, PAPERS, scale) for scale in ("smoke", "full")}


@pytest.fixture
def make(loaded, monkeypatch):
    monkeypatch.chdir(ROOT)

    def make(scale="full", **options):
        config = {"scale": scale, "papers": PAPERS, "seed": 1, "formats": ["pdf", "png"]}
        return plan.Plan(config, loaded[scale], supply(**options))

    return make


def test_an_experiment_is_one_job_or_several_but_never_both(make):
    import re

    for scale in ("smoke", "full"):
        here = make(scale)
        single, split = (here.experiments(single=flag) for flag in (True, False))
        for name, artifact in here.artifacts.items():
            found = [bool(re.fullmatch(pattern, name)) for pattern in (single, split)]
            assert sum(found) == ("protocol" in artifact.content)
            if found[0]:
                assert len(here.parts(name)) == 1


def test_a_cell_needs_its_data_its_methods_and_its_tuned_parameters(make):
    here = make(source="packaged")
    cell = next(cell for cell in here.artifact("robust_sgd/table1").cells if "a7a" in cell)
    assert here.data("robust_sgd/table1", cell) == ["data/prepared/a7a.packaged.npz"]
    assert len(here.all_data("robust_sgd/table1")) == 2
    roots = here.code("run", "robust_sgd/table1", cell).split()[1:]
    assert {"scripts/run.py", f"noisylabels.{METHODS['pegasos'].partition(':')[0]}"} <= set(roots)
    assert here.tuned("robust_sgd/table1", [cell]) == [
        f"results/full/robust_sgd/table1/cells/{cell}/tuned.json"
    ]
    assert here.tuned("kernel_boost/rivals") == []


def test_a_job_is_described_without_its_caption_and_labels(make):
    job = json.loads(make("smoke").job("ors/fig2"))
    assert set(job) == {"protocol", "experiment", "seed", "settings"}
    assert job["experiment"] == "ors-regression"
    methods = make().cell("kernel_boost/rivals", next(iter(make().artifact("kernel_boost/rivals").cells)))
    assert any(set(method) & set(DISPLAY) for method in methods["methods"].values())
    described = json.loads(make("smoke").job("kernel_boost/rivals"))["settings"]["methods"]
    assert not any(set(method) & set(DISPLAY) for method in described.values())
    assert make().repetitions("ors/vss", 0).startswith("0:")
    assert make().resources("ors/fig2", "all", "run") == DEFAULT


def test_a_table_shows_the_printed_values_of_what_it_draws(make):
    here = make()
    assert here.drawn("kernel_boost/rivals_high") == ["rivals"]
    assert here.tables("kernel_boost/rivals_high") == ["results/full/kernel_boost/rivals/table.csv"]
    assert here.settings_shown("kernel_boost/rivals_high")["rivals"]["published"]
    assert "reproduction.figures.ors" in here.drawing_code(["ors/fig2"]).split()


def test_a_paper_is_drawn_by_one_job_and_an_artifact_asked_for_alone_by_another(make):
    here = make()
    ors = {name for name in here.shown if name.startswith("ors/")}
    for words in ([], ["ors"], ["ors", "ors_fig2"], ["-n", "pnorm"]):
        assert set(targets.drawn_together(here, words)["ors"]) == ors
    apart = targets.drawn_together(here, ["--cores", "2", "ors_fig2"])
    assert apart["ors/fig2"] == ["ors/fig2"]
    assert set(apart["ors"]) == ors - {"ors/fig2"}


def test_pages_show_the_first_format(make):
    assert make().drawings("ors/fig2") == ["figures/full/ors/fig2.png", "figures/full/ors/fig2.pdf"]
    assert make().drawings("kernel_boost/rivals")[0] == "figures/full/kernel_boost/rivals.html"


def test_a_scope_promises_figures_provenance_and_one_page_of_verdicts(make):
    here = make("smoke")
    promised = here.promised("ors/fig2/")
    assert "figures/smoke/ors/fig2.png" in promised
    assert "results/smoke/ors/fig2/provenance.json" in promised
    assert promised[-1] == "results/smoke/ors/fig2/verdicts.csv"
    assert (
        set(promised[:-1])
        < set(here.promised("ors/"))
        < set(here.promised("")) | {"results/smoke/ors/verdicts.csv"}
    )
    assert set(here.judged("ors/")) == {name for name in here.judged("") if name.startswith("ors/")}
    assert "ors/fig3" not in here.judged("ors/")


def test_what_the_pinned_source_does_not_have_is_left_out_with_its_reason(make, monkeypatch):
    monkeypatch.setattr(Supply, "lack", lambda self, name: "no speech" if name.startswith("speech") else "")
    here = make()
    assert here.left_out["ors/fig5"] == "no speech"
    users = {
        name for name, a in here.artifacts.items() if "fig5" in a.content.get("uses", []) and a.paper == "ors"
    }
    assert all(here.left_out[name] == "it draws ors/fig5: no speech" for name in users)
    assert "figures/full/ors/fig5.png" not in here.promised("")
    assert "speech" not in here.data_sets()
    with pytest.raises(ValueError, match="ors/fig5 cannot run: no speech"):
        here.artifact("ors/fig5")
    assert targets.refusals(here, EXPERIMENTS)["ors_fig5"] == "ors/fig5 cannot run: no speech"


def test_a_supply_says_what_it_lacks():
    assert (
        supply(source="packaged").lack("rte").startswith("rte has no source or variant 'packaged'; it has: ")
    )
    assert supply().lack("rte") == ""
    assert supply(source="packaged", local={"rte": "mine.csv"}).lack("rte") == ""
    with pytest.raises(ValueError, match="'speach' is not in the registry"):
        supply().lack("speach")
    with pytest.raises(ValueError, match="rte has no source or variant 'nowhere'"):
        supply().lack("rte.nowhere")


def test_a_fetch_gets_the_options_of_the_configuration():
    options = {"mirror": "/m", "offline": True, "local": {"speech": "talk.wav"}}
    assert supply(**options).fetch_options("speech") == ["--mirror", "/m", "--local", "talk.wav", "--offline"]
    assert supply().fetch_options("speech") == []
    assert supply(**options).local("speech.packaged") == ["talk.wav"]
    assert supply().code("heart").split()[1:] == ["reproduction.data.uci", "scripts/prepare.py"]


def test_an_unknown_artifact_is_named(make):
    with pytest.raises(ValueError, match="there is no artifact ors/fig99"):
        make().artifact("ors/fig99")


def test_a_paper_that_is_not_listed_has_targets_that_say_so(make):
    reasons = targets.refusals(make(), EXPERIMENTS)
    assert "`papers` in config/config.yaml does not list pnorm" in reasons["pnorm"]
    assert reasons["pnorm_room"] == reasons["pnorm"]
    assert "ors_fig2" not in reasons
    assert targets.scopes(make())["ors_fig2"] == "ors/fig2/"


def test_a_summary_counts_what_was_made_and_judged_and_says_what_is_missing(make, tmp_path, monkeypatch):
    here = make("smoke")
    monkeypatch.chdir(tmp_path)
    for file in here.promised("ors/fig2/"):
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).touch()
    csv = tmp_path / "results/smoke/ors/fig2/verdicts.csv"
    csv.write_text("id,verdict\na,holds\nb,ran\nc,ran\n")
    made, judged = summary.text(here, ["ors_fig2"]).splitlines()
    assert made == "smoke scale: 1 figure and 0 tables in figures/smoke"
    assert judged.startswith("verdicts: 1 holds, 2 ran")
    assert judged.endswith("see results/smoke/ors/fig2/verdicts.csv")
    broken = summary.text(here, ["ors_fig2", "ors_fig4"], failed=True)
    assert "not made: ors/fig4; why: logs/smoke" in broken
    assert summary.text(here, ["data"]) == ""


def test_a_summary_says_what_was_left_out(make, monkeypatch):
    monkeypatch.setattr(Supply, "lack", lambda self, name: "no speech" if name.startswith("speech") else "")
    here = make()
    assert "left out: ors/fig5: no speech" in summary.text(here, [])
    assert "left out" not in summary.text(here, ["robust_sgd"])


def test_measured_times_are_judged_on_a_page_of_their_own(make):
    here = make()
    page = "results/full/kernel_boost/cpu_time/verdicts.csv"
    assert "kernel_boost/cpu_time" not in here.judged("") | here.judged("kernel_boost/")
    assert set(here.judged("kernel_boost/cpu_time/")) == {"kernel_boost/cpu_time"}
    assert here.pages("kernel_boost/") == ["kernel_boost/", "kernel_boost/cpu_time/"]
    assert page in here.promised("")
    assert here.promised("kernel_boost/cpu_time/").count(page) == 1


def test_why_jobs_failed_is_told_from_the_ends_of_their_logs(tmp_path):
    logs = {
        "full/ors/fig2/a.log": "Traceback (most recent call last):\nValueError: row 3 diverged\n",
        "full/ors/fig2/b.log": "ValueError: row 3 diverged",
        "data/prepare.beans.local.log": "error: beans.csv: no column 'kin'\n",
        "full/ors/fig4/a.log": "all went well\n",
        "full/ors/fig6/a.log": "reproduction.data.errors.DataError: x.npz is damaged\n",
        "full/ors/draw.log": "table.csv is not that of provenance.json\n",
        "full/ors/fig4/old.log": "ValueError: yesterday",
    }
    for name, text in logs.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        os.utime(file, (10, 10) if "old" in name else (100, 100))
    assert summary.causes(tmp_path, 50) == [
        f"why: beans.csv: no column 'kin' ({tmp_path / 'data/prepare.beans.local.log'})",
        f"why: table.csv is not that of provenance.json ({tmp_path / 'full/ors/draw.log'})",
        f"why: ValueError: row 3 diverged ({tmp_path / 'full/ors/fig2/a.log'})",
        f"why: DataError: x.npz is damaged ({tmp_path / 'full/ors/fig6/a.log'})",
    ]
