"""Counts the files that are opened before the first test; `test_collection.py` looks at them."""

import sys
from collections import Counter
from pathlib import Path
from typing import Any

OPENED: Counter[Path] = Counter()
collecting = True


def count_opened(event: str, arguments: tuple[Any, ...]) -> None:
    """Count an opened file. Python cannot remove such a hook, so a variable stops it."""
    if not collecting or event != "open":
        return
    name = arguments[0]
    if isinstance(name, str) and not name.endswith(".pyc"):
        OPENED[Path(name)] += 1


sys.addaudithook(count_opened)
