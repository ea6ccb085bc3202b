"""Fixtures for the tests of all papers, which can also import the helpers of tests/."""

import pytest

from reproduction.show import style


@pytest.fixture(autouse=True)
def look():
    """Draw figures in the style of the workflow."""
    with style.context():
        yield
