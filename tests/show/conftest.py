import sys
from pathlib import Path

import pytest

from reproduction.show import style

sys.path.insert(0, str(Path(__file__).parent))  # made_tables


@pytest.fixture(autouse=True)
def look():
    """Draw as the workflow does."""
    with style.context():
        yield
