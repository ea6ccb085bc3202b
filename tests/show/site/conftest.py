"""The pages of a finished full run, built once for all tests."""

import pytest
from built_pages import build_pages
from finished_runs import NAMES, finish, plan_of

from reproduction.judge import archived_run
from reproduction.show.site import exports, sphinx_sources

for package in ("sphinx_design", "sphinx_copybutton", "vl_convert"):
    pytest.importorskip(package, reason="needs the packages of dev.lock")


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """A folder with a full run of most of the artifacts, kept as the archived run."""
    folder = tmp_path_factory.mktemp("home")
    plan = plan_of("full")
    finish(folder, plan, NAMES)
    for name in NAMES:
        archived_run.archive_result(plan, name, folder, folder)
    return folder


@pytest.fixture(scope="session")
def papers(home):
    """The papers of the archived run, after the sources of their pages were written."""
    for name in ("results", "figures"):
        (home / name / "full").rename(home / name / "elsewhere")
    return sphinx_sources.write_sources(plan_of("full"), home)


@pytest.fixture(scope="session")
def site(home, papers, tmp_path_factory, request):
    """The pages that Sphinx makes of the sources, with charts at the nightly level."""
    out = tmp_path_factory.mktemp("pages") / "html"
    build_pages(home, out, draws_charts=not request.config.option.markexpr)
    exports.write_verdicts(sphinx_sources.list_pages(papers), out)
    return out
