"""Every page that shows a claim names the cases that its checks leave out."""

import pytest
from finished_runs import finish, plan_of

from reproduction.show.left_out_cases import describe_left_out_cases
from reproduction.show.site import run_page, sphinx_sources

NAME = "robust_sgd/table1"
MISSING = "We leave out: mnist38, PEGASOS."
"""What the paper's table lacks for RS-6."""


def claim_of(*checks):
    return {"id": "A-1", "checks": list(checks)}


def check_without(*selectors, **selector):
    return {"statistic": "value", "where": selector, "without": list(selectors)}


def test_a_claim_that_leaves_out_nothing_says_nothing():
    assert describe_left_out_cases(claim_of({"statistic": "value"}), {}) == ""


def test_labels_of_one_column_are_a_case_each_and_of_several_columns_one_case():
    one_column = claim_of(check_without({"method": ["a", "b"]}))
    assert describe_left_out_cases(one_column, {"a": "First"}) == "We leave out: First; b."
    several = claim_of(check_without({"method": ["a", "b", "c"], "dataset": "iris", "x": 5}))
    assert describe_left_out_cases(several, {}) == "We leave out: iris, a, b or c, x = 5."


def test_checks_that_leave_out_other_cases_name_their_noise():
    on_clean = check_without({"method": "a"}, noise="symmetric 0")
    on_flipped = check_without({"method": "b"}, noise=["symmetric 0.2", "symmetric 0.4"])
    described = describe_left_out_cases(claim_of(on_clean, on_flipped), {})
    assert described == "We leave out: no flips, a; 20 % flipped or 40 % flipped, b."
    same_twice = claim_of(on_clean, on_clean | {"statistic": "ratio"})
    assert describe_left_out_cases(same_twice, {}) == "We leave out: a."


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return a folder with a finished full run of one result, and its plan."""
    folder = tmp_path_factory.mktemp("left_out")
    plan = plan_of("full", ["robust_sgd"])
    finish(folder, plan, [NAME])
    return folder, plan


def claims_that_leave_out(plan):
    claims = plan.artifacts[NAME].content["claims"]
    return [claim["id"] for claim in claims if "'without'" in str(claim["checks"])]


def test_the_page_of_a_result_names_them_next_to_the_claim(finished):
    folder, plan = finished
    sphinx_sources.write_sources(plan, folder)
    page = (folder / "docs/results/robust_sgd_table1.rst").read_text(encoding="utf-8")
    assert f"RS-6, found after looking). \\ {MISSING}" in page
    assert page.count("We leave out: ") == len(claims_that_leave_out(plan)) > 0


def test_the_page_of_a_run_names_them_next_to_the_claim(finished, monkeypatch):
    folder, plan = finished
    monkeypatch.chdir(folder)
    page = run_page.begin(plan, folder).read_text(encoding="utf-8")
    assert f"(RS-6). {MISSING}" in page
    assert page.count("We leave out: ") == len(claims_that_leave_out(plan))
