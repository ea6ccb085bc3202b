"""Fixtures for the tests of all papers, which can also import the helpers of tests/."""

import pytest


@pytest.fixture
def house_style():
    """Draw figures in the style of the workflow; only tests that draw load Matplotlib."""
    from reproduction.show import style

    with style.context():
        yield
