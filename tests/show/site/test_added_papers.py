"""Papers added by the recipe: kept and shown like all others, and counted apart from them."""

import re
import shutil
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
    for part in ("config", "workflow", "src/papers/pnorm", "src/papers/_templates"):
        (tmp_path / part).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / part).symlink_to(CHECKOUT / part)
    new = [sys.executable, CHECKOUT / "src/scripts/new.py", "new-paper", tmp_path / "src/papers" / NAME]
    subprocess.run(new, check=True, capture_output=True)
    return tmp_path


def planned(checkout, every=True, papers=("pnorm",)):
    config = plans.configured(CHECKOUT, "full") | {"papers": [*papers]}
    return plans.planned(checkout, config, every=every)


def test_an_added_paper_is_planned_where_asked_and_refused_elsewhere_with_its_place(checkout):
    name = f"{NAME}/table1"
    assert name in planned(checkout).artifacts
    assert name in planned(checkout, every=False, papers=[NAME]).artifacts
    alone = planned(checkout, every=False)
    assert name not in alone.artifacts
    why = alone.refusals(checkout / "src/papers")[f"{NAME}_table1"]
    assert why.endswith(f"does not list {NAME}; add it, or for one run: --config 'papers=[pnorm,{NAME}]'")


def test_a_folder_of_ones_own_that_has_the_name_of_a_paper_here_is_to_be_renamed(checkout, tmp_path):
    mine = tmp_path / "mine" / NAME
    mine.parent.mkdir()
    shutil.copytree(checkout / "src/papers" / NAME, mine)
    with pytest.raises(ValueError, match=f"papers: {mine}: the repository has a paper of this name; rename"):
        planned(checkout, every=False, papers=[str(mine)])


def test_it_is_kept_and_shown_apart_and_in_no_total(checkout):
    plan, names = planned(checkout), [OURS, f"{NAME}/table1"]
    finish(checkout, plan, names)
    for name in names:
        archived_run.keep(plan, name, checkout, checkout)
    assert build.write(plan, checkout, checkout, checkout / "pages") == 2
    front = (checkout / "pages/index.html").read_text()
    page = (checkout / f"pages/{NAME}_table1.html").read_text()
    assert front.index("Added by the recipe") < front.index(f'href="#{NAME}"')
    build.write(planned(checkout, every=False), checkout, checkout, checkout / "alone")
    alone = (checkout / "alone/index.html").read_text()
    counted, others = (
        text.partition('<dl class="totals">')[2].partition("</dl>")[0] for text in (front, alone)
    )
    assert counted == others != ""
    assert f"{len(plan.below('pnorm/')) - 1} more results have not been run yet" in front
    assert "added by the recipe" in page
    assert re.search(rf"run full {NAME}_table1 --config .{{1,5}}papers=\[{NAME}\]", page)
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
