"""Snakemake in a scratch folder: on the files of this checkout, or on a copy that a test may edit."""

import pytest
from runs import Run, copied


@pytest.fixture
def run(tmp_path):
    """Make runs of this checkout: run("name")."""
    return lambda name: Run(tmp_path / name)


@pytest.fixture
def copy(tmp_path_factory):
    """A copy of the checkout that may be edited, and is run in its own folder."""
    return copied(tmp_path_factory.getbasetemp() / "copy")
