"""The site of a reduced run with the reference beside it, made once for all tests."""

import pytest
from finished_runs import NAMES, finish, plan_of

from reproduction.judge import archived_run
from reproduction.show.site import build


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A folder with a reduced run."""
    root = tmp_path_factory.mktemp("finished")
    finish(root, plan_of("smoke"), NAMES)
    return root


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """A folder with a full run of most of the artifacts, kept as the reference."""
    folder = tmp_path_factory.mktemp("home")
    plan = plan_of("full")
    finish(folder, plan, NAMES[:-1])
    for name in NAMES[:-1]:
        archived_run.keep(plan, name, folder, folder)
    return folder


@pytest.fixture(scope="session")
def site(finished, home, tmp_path_factory):
    """The pages of the reduced run, with the reference first."""
    out = tmp_path_factory.mktemp("pages") / "smoke"
    assert build.write(plan_of("smoke"), home, finished, out) == len(NAMES)
    return out
