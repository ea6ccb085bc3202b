"""The archive in the repository: complete in itself, small, of the present settings and claims."""

import json
from pathlib import Path
from shutil import copytree

import pytest
from finished_runs import CHECKOUT
from project import load_plan, one_of_each_paper

from reproduction.judge import archived_run
from reproduction.judge.sentences import Sentences
from reproduction.show.headlines import (
    group_headlines,
    list_short_texts,
    read_findings,
    write_summary,
)
from reproduction.show.site import charts, pages
from reproduction.spec.papers import HOME, list_papers
from reproduction.spec.verdict_words import is_claim

FOLDER = CHECKOUT / "results/reference"
ARCHIVED = sorted(str(file.parent.relative_to(FOLDER)) for file in FOLDER.glob("*/*/record.json"))


@pytest.fixture(scope="module")
def plan():
    return load_plan("full", whole=True)


@pytest.fixture(scope="module")
def by_key(plan, tmp_path_factory):
    """Key -> page of all archived results."""
    folder = tmp_path_factory.mktemp("pages")
    return {page.key: page for page in pages.all_pages(plan, CHECKOUT, folder)}


@pytest.mark.parametrize("name", one_of_each_paper(ARCHIVED))
def test_the_reference_is_of_the_present_settings_and_claims(plan, name):
    lines, failed = archived_run.find_outdated(plan, [name], CHECKOUT)
    assert not failed, "\n".join(lines)


def test_an_edit_of_code_that_only_draws_is_not_reported(plan, tmp_path):
    name = "noisy_online/losses_summary"
    for folder in {name, plan.computed(name)}:
        archived = Path("results/reference") / folder
        copytree(CHECKOUT / archived, tmp_path / archived)
    record = tmp_path / "results/reference" / name / "record.json"
    content = json.loads(record.read_text())
    assert "noisy_online/drawing.py" in content["decides"]["read"]
    content["decides"]["read"]["noisy_online/drawing.py"] = "0" * 16
    record.write_text(json.dumps(content))
    lines, failed = archived_run.find_outdated(plan, [name], tmp_path)
    assert lines == ["the archived results are up to date with the files here"]
    assert not failed


def test_every_kept_result_has_its_artifact_and_its_files(plan):
    for name in ARCHIVED:
        remedy = f"remove results/reference/{name}"
        assert name in plan.artifacts, f"{name} has no artifact any more: {remedy}"
        artifact = plan.artifacts[name]
        archived = archived_run.read_archived(name, CHECKOUT)
        assert archived.drawn, name
        assert bool(archived.table) == ("protocol" in artifact.content), name
        assert not artifact.other_unit(archived.verdicts), name


def test_the_reference_is_small():
    sizes = {}
    for folder in ("results/reference", "figures/reference"):
        for file in (CHECKOUT / folder).rglob("*"):
            if file.is_file():
                sizes[file] = file.stat().st_size
    assert [file for file, size in sizes.items() if size > 2_000_000] == []
    assert sum(sizes.values()) <= archived_run.LARGEST_ARCHIVE


def test_headlines_are_claims_of_their_paper(plan):
    for paper in list_papers():
        artifacts = [artifact for artifact in plan.artifacts.values() if artifact.paper == paper]
        texts = list_short_texts([artifact.content for artifact in artifacts])
        findings = read_findings(HOME / paper)
        for name in [*findings.summary, *findings.headlines]:
            assert name in texts, f"{paper}: findings.yaml names {name}, which is not a claim of it"


def test_a_headline_is_the_text_of_its_claim_under_its_verdict():
    claims = [
        {"id": "A", "statement": "Ours: it works on everything", "short": "it works"},
        {"id": "B", "statement": "Never"},
    ]
    rows = [
        {"id": "A", "kind": "ours", "verdict": "reproduced", "side": "inside"},
        {"id": "B", "kind": "sentence", "verdict": "reproduced", "side": "inside"},
        {"id": "B", "kind": "sentence", "verdict": "not_reproduced", "side": "above"},
    ]
    groups = group_headlines(["A", "B", "C"], rows, list_short_texts([{"claims": claims}]))
    assert write_summary(groups) == "Not reproduced: Never. Our claim, reproduced: it works."


def test_a_statement_after_a_colon_begins_small_unless_with_a_name():
    claims = [
        {"id": "A", "statement": "With two copies it works"},
        {"id": "B", "statement": "LMS wins"},
        {"id": "C", "statement": "Onyx wins"},
    ]
    texts = list_short_texts([{"claims": claims}])
    assert texts == {"A": "with two copies it works", "B": "LMS wins", "C": "Onyx wins"}


def test_an_inconclusive_claim_says_why_its_interval_does_not_decide():
    evidence = {}
    for name in ARCHIVED:
        for row in archived_run.read_archived(name, CHECKOUT).verdicts:
            if is_claim(row) and row["verdict"] == "inconclusive":
                evidence[row["id"]] = Sentences().evidence(row)
    reason = "over all tests of the claim"
    assert f"{reason} p = 0.044 against it, which Holm's correction" in evidence["KB-B3"]
    assert f"{reason} p = 0.13 for it" in evidence["KB-3"]
    assert "over all tests" not in evidence["KB-B1"]  # its interval contains the bound


def test_every_result_says_its_verdict_or_where_it_is_judged(by_key):
    for page in by_key.values():
        is_judged = page.first.verdicts or pages.elsewhere(page, by_key)
        assert is_judged or not page.artifact.uses, page.key
    # The values of this one are judged with those at 10 and 20 %.
    page = by_key["kernel_boost_klr_vs_rklr_high"]
    without_mark = "<tr><td>99.99 ± 1.00</td></tr>"
    table = f"<tr><td>22.44 ± 11.01</td></tr>{without_mark}"
    marked = '<tr><td class="cell bad" title="not reproduced">22.44 ± 11.01 <i>✕</i></td></tr>'
    marked_table = charts.marks(table, pages.elsewhere(page, by_key))
    assert marked_table == f"{marked}{without_mark}"
    row = "<tr><td>{}</td></tr>".format
    without_sd = charts.marks(row("5.71"), [by_key["robust_sgd_table1"]])
    assert 'title="not reproduced">5.71 <i>' in without_sd


def test_a_reference_says_whether_code_or_settings_have_changed(by_key, monkeypatch):
    page = by_key["ors_fig2"]
    change = "code ors/code.py was edited"
    monkeypatch.setattr(archived_run, "describe_code_change", lambda *_: change)
    page.__dict__.pop("aged", None)
    assert page.aged.endswith(f"; {change}.")
    monkeypatch.setattr(archived_run, "has_other_settings", lambda *_: True)
    del page.__dict__["aged"]
    assert page.aged.startswith("Out of date: the run at commit ")
    del page.__dict__["aged"]


def test_what_draws_tables_of_others_is_compared_with_the_settings_of_those_tables(plan, by_key):
    provenance = by_key["ors_final_errors"].reference.provenance  # that of the first table, of fig2
    assert not archived_run.has_other_settings(plan, "ors/final_errors", provenance)
    methods = provenance["settings"]["methods"]
    label, method = next(iter(methods.items()))
    for change, is_other in [({"note": "another word"}, False), ({"method": "nlms"}, True)]:
        changed_methods = methods | {label: method | change}
        settings = provenance["settings"] | {"methods": changed_methods}
        changed = provenance | {"settings": settings}
        answer = archived_run.has_other_settings(plan, "ors/final_errors", changed)
        assert answer == is_other
