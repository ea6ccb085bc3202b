"""Counts the files that are opened before the first test; `test_collection.py` looks at them."""

import sys
from collections import Counter
from pathlib import Path
from typing import Any

OPENED: Counter[Path] = Counter()
collecting = True


def count_opened(event: str, arguments: tuple[Any, ...]) -> None:
    """Count an opened file. Python cannot remove such a hook, so a variable stops it."""
    if collecting and event == "open" and isinstance(arguments[0], str) and not arguments[0].endswith(".pyc"):
        OPENED[Path(arguments[0])] += 1


sys.addaudithook(count_opened)
