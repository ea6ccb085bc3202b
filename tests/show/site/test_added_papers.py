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
from reproduction.show.site import sphinx_sources

NAME, OURS = "added_paper", "pnorm/bounds"


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout with one added paper."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    for part in ("config", "workflow", "src/papers/pnorm", "src/papers/_templates"):
        (tmp_path / part).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / part).symlink_to(CHECKOUT / part)
    new = [
        sys.executable,
        CHECKOUT / "src/scripts/new.py",
        "new-paper",
        tmp_path / "src/papers" / NAME,
    ]
    subprocess.run(new, check=True, capture_output=True)
    return tmp_path


def planned(checkout, whole=True, papers=("pnorm",)):
    config = plans.configured(CHECKOUT, "full") | {"papers": [*papers]}
    return plans.planned(checkout, config, every=whole)


def test_an_added_paper_is_planned_where_asked_and_refused_elsewhere_with_its_place(checkout):
    name = f"{NAME}/table1"
    assert name in planned(checkout).artifacts
    assert name in planned(checkout, whole=False, papers=[NAME]).artifacts
    alone = planned(checkout, whole=False)
    assert name not in alone.artifacts
    refusal = alone.refusals(checkout / "src/papers")[f"{NAME}_table1"]
    option = f"--config 'papers=[pnorm,{NAME}]'"
    assert refusal.endswith(f"does not list {NAME}; add it, or for one run: {option}")


def test_a_folder_of_ones_own_that_has_the_name_of_a_paper_here_is_to_be_renamed(
    checkout,
    tmp_path,
):
    mine = tmp_path / "mine" / NAME
    mine.parent.mkdir()
    shutil.copytree(checkout / "src/papers" / NAME, mine)
    message = f"papers: {mine}: the repository has a paper of this name; rename"
    with pytest.raises(ValueError, match=message):
        planned(checkout, whole=False, papers=[str(mine)])


def test_it_is_kept_and_shown_apart_and_in_no_total(checkout):
    plan = planned(checkout)
    names = [OURS, f"{NAME}/table1"]
    finish(checkout, plan, names)
    for name in names:
        archived_run.archive_result(plan, name, checkout, checkout)
    papers = sphinx_sources.write_sources(plan, checkout)
    assert [len(paper.pages) for paper in papers] == [1, 1]
    front = (checkout / "docs/index.rst").read_text()
    assert f"paper_{NAME}.html" not in front
    listed = (checkout / "docs/results/index.rst").read_text()
    assert listed.count("An additional paper, not included in the counts above.") == 1
    sphinx_sources.write_sources(planned(checkout, whole=False), checkout)
    alone = (checkout / "docs/results/index.rst").read_text()
    counts, counts_alone = (re.findall(r"^:\w[^:]*: .+$", text, re.M) for text in (listed, alone))
    assert counts == counts_alone != []
    assert not (checkout / f"docs/results/{NAME}_table1.rst").exists()


def test_its_page_has_the_command_that_names_it(checkout):
    plan = planned(checkout)
    name = f"{NAME}/table1"
    finish(checkout, plan, [name])
    sphinx_sources.write_sources(plan, checkout)
    page = (checkout / f"docs/results/{NAME}_table1.rst").read_text()
    assert re.search(rf"run full {NAME}_table1 --config .{{0,5}}papers=\[{NAME}\]", page)


@pytest.mark.parametrize(("drawing", "curves"), [(panels.figure, True), (panels.picture, False)])
def test_a_picture_has_no_interactive_plot(checkout, monkeypatch, drawing, curves):
    plan = planned(checkout)
    name = f"{NAME}/table1"
    finish(checkout, plan, [name])
    offered = rendering.find(plan.artifact(name).render)
    monkeypatch.setattr(rendering, "find", lambda _: drawing(lambda results: offered(results)))
    sphinx_sources.write_sources(plan, checkout)
    page = (checkout / f"docs/results/{NAME}_table1.rst").read_text()
    assert ("Interactive plot" in page) == curves


def test_results_of_a_paper_that_no_page_shows_are_named_in_one_line(checkout):
    plan = planned(checkout)
    finish(checkout, plan, [OURS, f"{NAME}/table1"])
    assert plans.passed_over(plan, checkout, checkout) == ""
    (checkout / "results/full/pnorm").rename(checkout / "results/full/natarajan")
    line = plans.passed_over(plan, checkout, checkout)
    assert line.startswith("left out of the pages: natarajan (")
    assert "\n" not in line
