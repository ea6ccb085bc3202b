"""The reference in the repository: complete in itself, small, and of the present settings and claims."""

import pytest
from finished_runs import CHECKOUT
from project import one_of_each_paper

from reproduction.judge import archived_run
from reproduction.judge.sentences import Sentences
from reproduction.plan import plan as plans
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
JOINED = ("kernel_boost/cv_vs_mkl", "kernel_boost/klr_vs_rklr")
"""Archived with a table each; the next full run archives one table, that of the run they share."""
AWAIT_A_RUN = {
    *JOINED,
    "kernel_boost/readings",  # has ten splits and four kinds of noise
    "kernel_boost/rivals",  # has the methods of the two that joined it
}
"""Results whose settings changed on purpose; the next full run replaces them, and this list ends."""
KEPT = sorted(str(file.parent.relative_to(FOLDER)) for file in FOLDER.glob("*/*/record.json"))


@pytest.fixture(scope="module")
def plan():
    return plans.planned(CHECKOUT, plans.configured(CHECKOUT, "full"), every=True)


@pytest.fixture(scope="module")
def verdicts():
    """Id -> verdict in the reference."""
    return {row["id"]: row["verdict"] for name in KEPT for row in archived_run.kept(name, CHECKOUT).verdicts}


@pytest.fixture(scope="module")
def kinds():
    """Id -> kind in the reference."""
    return {row["id"]: row["kind"] for name in KEPT for row in archived_run.kept(name, CHECKOUT).verdicts}


@pytest.mark.parametrize("name", one_of_each_paper(KEPT))
def test_the_reference_is_of_the_present_settings_and_claims(plan, name):
    lines, failed = archived_run.old(plan, [name], CHECKOUT)
    if name in AWAIT_A_RUN:
        assert [line.partition(";")[0] for line in lines] == [f"{name}: out of date, other settings"]
    else:
        assert not failed, "\n".join(lines)


def test_every_kept_result_has_its_artifact_and_its_files(plan):
    for name in KEPT:
        assert name in plan.artifacts, f"{name} has no artifact any more: remove results/reference/{name}"
        kept = archived_run.kept(name, CHECKOUT)
        assert kept.drawn, name
        if name not in JOINED:
            assert bool(kept.table) == ("protocol" in plan.artifacts[name].content), name
        assert not plan.artifacts[name].other_unit(kept.verdicts), name


def test_the_reference_is_small():
    folders = [CHECKOUT / "results/reference", CHECKOUT / "figures/reference"]
    sizes = {file: file.stat().st_size for folder in folders for file in folder.rglob("*") if file.is_file()}
    assert [file for file, size in sizes.items() if size > 2_000_000] == []
    assert sum(sizes.values()) <= archived_run.WHOLE


def test_headlines_are_claims_of_their_paper(plan):
    for paper in list_papers():
        contents = [each.content for each in plan.artifacts.values() if each.paper == paper]
        texts = list_short_texts(contents)
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
    claims = [{"id": "A", "statement": "With two copies it works"}, {"id": "B", "statement": "LMS wins"}]
    claims += [{"id": "C", "statement": "Onyx wins"}]
    texts = list_short_texts([{"claims": claims}])
    assert texts == {"A": "with two copies it works", "B": "LMS wins", "C": "Onyx wins"}


def test_an_inconclusive_claim_says_why_its_interval_does_not_decide():
    rows = [row for name in KEPT for row in archived_run.kept(name, CHECKOUT).verdicts if is_claim(row)]
    found = {row["id"]: Sentences().evidence(row) for row in rows if row["verdict"] == "inconclusive"}
    assert "over all tests of the claim p = 0.044 against it, which Holm's correction" in found["KB-B3"]
    assert "over all tests of the claim p = 0.13 for it" in found["KB-3"]
    assert "over all tests" not in found["KB-B1"]  # its interval contains the bound


def test_every_result_says_its_verdict_or_where_it_is_judged(plan, tmp_path):
    by_key = {page.key: page for page in pages.all_pages(plan, CHECKOUT, tmp_path)}
    for page in by_key.values():
        assert page.first.verdicts or pages.elsewhere(page, by_key) or not page.artifact.uses, page.key
    page = by_key["kernel_boost_klr_vs_rklr_high"]  # its values are judged with those at 10 and 20 %
    row, other = "<tr><td>{}</td></tr>".format, "99.99 ± 1.00"
    table = charts.marks(row("22.44 ± 11.01") + row(other), pages.elsewhere(page, by_key))
    assert table == '<tr><td class="cell bad" title="not reproduced">22.44 ± 11.01 <i>✕</i></td></tr>' + row(
        other
    )
    without_sd = charts.marks(row("5.71"), [by_key["robust_sgd_table1"]])
    assert 'title="not reproduced">5.71 <i>' in without_sd


def test_a_reference_says_whether_its_code_or_its_settings_have_changed(plan, tmp_path, monkeypatch):
    page = next(page for page in pages.all_pages(plan, CHECKOUT, tmp_path) if page.key == "ors_fig2")
    monkeypatch.setattr(archived_run, "other_code", lambda *_: "code ors/code.py was edited")
    assert page.aged.endswith("; code ors/code.py was edited.")
    monkeypatch.setattr(archived_run, "other_settings", lambda *_: True)
    del page.__dict__["aged"]
    assert page.aged.startswith("Out of date: the run at commit ")


def test_what_draws_tables_of_others_is_compared_with_the_settings_of_those_tables(plan, tmp_path):
    found = {page.key: page for page in pages.all_pages(plan, CHECKOUT, tmp_path)}
    provenance = found["ors_final_errors"].reference.provenance  # that of the first table, of fig2
    assert not archived_run.other_settings(plan, "ors/final_errors", provenance)
    methods = provenance["settings"]["methods"]
    label, method = next(iter(methods.items()))
    for change, other in [({"note": "another word"}, False), ({"method": "nlms"}, True)]:
        settings = provenance["settings"] | {"methods": methods | {label: method | change}}
        changed = provenance | {"settings": settings}
        assert archived_run.other_settings(plan, "ors/final_errors", changed) == other
