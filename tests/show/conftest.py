import pytest

from reproduction.show import style


@pytest.fixture(autouse=True)
def look():
    """Draw as the workflow does."""
    with style.context():
        yield
