"""Numbers of verdicts in prose: marked where they stand, and written from the tables of verdicts.

``<!-- count inside: kernel_boost/rivals kernel_boost/boosters/boost_sym -->39`` is the number of rows with
this verdict in the named tables; what follows the artifact is how the ids must begin.
"""

import csv
import re
from pathlib import Path

MARK = re.compile(r"<!-- count (?P<verdict>[a-z ]+):(?P<tables>[^>]*) -->(?P<number>[0-9]+)")


def filled(text: str, folder: Path) -> str:
    """A text with every marked number as the tables ``<folder>/<paper>/<artifact>/verdicts.csv`` have it.

    A number stays as it is if one of its tables does not exist.
    """

    def number(found: re.Match[str]) -> str:
        counts = [_count(name, found["verdict"], folder) for name in found["tables"].split()]
        if None in counts:
            return found[0]
        return found[0][: -len(found["number"])] + str(sum(filter(None, counts)))

    return MARK.sub(number, text)


def _count(name: str, verdict: str, folder: Path) -> int | None:
    """Rows with a verdict in the table of an artifact, ``<paper>/<artifact>/<how ids begin>``."""
    paper, artifact, *prefix = name.split("/")
    file = folder / paper / artifact / "verdicts.csv"
    if not file.is_file():
        return None
    with file.open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["id"].startswith("/".join(prefix))]
    return sum(row["verdict"] == verdict for row in rows)
