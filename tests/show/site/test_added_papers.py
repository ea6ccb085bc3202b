"""Papers added by the recipe: kept and shown like all others, and counted apart from them."""

import subprocess
import sys

import pytest
from finished_runs import CHECKOUT, finish

from reproduction.judge import archived_run
from reproduction.plan import plan as plans
from reproduction.show import panels, rendering
from reproduction.show.site import build

NAME, OURS = "added_paper", "pnorm/bounds"


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout with one added paper."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    for part in ("config", "workflow"):
        (tmp_path / part).symlink_to(CHECKOUT / part)
    new = [sys.executable, CHECKOUT / "src/scripts/new.py", "new-paper", tmp_path / plans.ADDED / NAME]
    subprocess.run(new, check=True, capture_output=True)
    return tmp_path


def planned(checkout, added=True, **more):
    config = plans.configured(CHECKOUT, "full") | {"papers": ["pnorm"]} | more
    return plans.planned(checkout, config, added=added)


def test_an_added_paper_is_planned_where_asked_and_refused_elsewhere_with_its_place(checkout):
    name = f"{NAME}/table1"
    assert name in planned(checkout).artifacts
    assert name in planned(checkout, added=False, project=str(checkout / plans.ADDED)).artifacts
    alone = planned(checkout, added=False)
    assert name not in alone.artifacts
    why = alone.refusals(checkout / "config/experiments")[f"{NAME}_table1"]
    assert why == f"{NAME} is one of the papers in {plans.ADDED}; add --config project={plans.ADDED}"


def test_a_folder_of_ones_own_comes_before_an_added_paper_of_the_same_name(checkout, tmp_path):
    mine = tmp_path / "mine"
    (checkout / plans.ADDED).rename(mine)
    (checkout / plans.ADDED / NAME).mkdir(parents=True)
    (checkout / plans.ADDED / NAME / "TITLE").write_text("Another")
    assert planned(checkout, project=str(mine)).artifacts[f"{NAME}/table1"].file.parents[1] == mine


def test_it_is_kept_and_shown_apart_and_in_no_total(checkout):
    plan, names = planned(checkout), [OURS, f"{NAME}/table1"]
    finish(checkout, plan, names)
    for name in names:
        archived_run.keep(plan, name, checkout, checkout)
    assert build.write(plan, checkout, checkout, checkout / "pages") == 2
    front = (checkout / "pages/index.html").read_text()
    page = (checkout / f"pages/{NAME}_table1.html").read_text()
    assert front.index("Added by the recipe") < front.index(f'href="#{NAME}"')
    build.write(planned(checkout, added=False), checkout, checkout, checkout / "alone")
    alone = (checkout / "alone/index.html").read_text()
    counted, others = (
        text.partition('<dl class="totals">')[2].partition("</dl>")[0] for text in (front, alone)
    )
    assert counted == others != ""
    assert f"{len(plan.below('pnorm/')) - 1} more results have not been run yet" in front
    assert "added by the recipe" in page
    assert f"./run full {NAME}_table1 --config project={checkout / plans.ADDED}" in page
    assert "added by the recipe" not in (checkout / f"pages/{OURS.replace('/', '_')}.html").read_text()


@pytest.mark.parametrize(("drawing", "curves"), [(panels.figure, True), (panels.picture, False)])
def test_a_picture_has_no_curves_to_read_off(checkout, monkeypatch, drawing, curves):
    plan, name = planned(checkout), f"{NAME}/table1"
    finish(checkout, plan, [name])
    offered = rendering.find(plan.artifact(name).render)
    monkeypatch.setattr(rendering, "find", lambda _: drawing(lambda results: offered(results)))
    build.write(plan, checkout, checkout, checkout / "pages")
    assert ("The curves, to read off" in (checkout / f"pages/{NAME}_table1.html").read_text()) == curves


def test_results_of_a_paper_that_no_page_shows_are_named_in_one_line(checkout):
    plan = planned(checkout)
    finish(checkout, plan, [OURS, f"{NAME}/table1"])
    assert plans.passed_over(plan, checkout, checkout) == ""
    (checkout / "results/full/pnorm").rename(checkout / "results/full/natarajan")
    line = plans.passed_over(plan, checkout, checkout)
    assert line.startswith("not shown on the pages: natarajan (")
    assert "\n" not in line
