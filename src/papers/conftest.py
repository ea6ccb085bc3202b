"""What the tests of all papers share; the helpers of tests/ can be imported as well."""

import pytest

from reproduction.show import style


@pytest.fixture(autouse=True)
def look():
    """Draw as the workflow does."""
    with style.context():
        yield
