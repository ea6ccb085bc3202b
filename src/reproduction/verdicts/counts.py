"""Numbers of verdicts in prose: marked where they stand, and written from the tables of verdicts.

``<!-- count inside: kernel_boost/rivals kernel_boost/boosters/boost_sym -->39`` is the number of rows with
this verdict in the named tables; what follows the artifact is how the ids must begin.
A paper alone stands for all its tables.
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
    """Rows with a verdict in the tables of ``<paper>`` or ``<paper>/<artifact>/<how ids begin>``."""
    paper, artifact, *prefix = [*name.split("/"), "*"][: max(2, name.count("/") + 1)]
    files = sorted((folder / paper).glob(f"{artifact}/verdicts.csv"))
    found = [row["verdict"] for file in files for row in rows(file) if row["id"].startswith("/".join(prefix))]
    return found.count(verdict) if files else None


def rows(file: Path) -> list[dict[str, str]]:
    """The rows of a table of verdicts."""
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def page(folder: Path) -> str:
    """The Markdown page of all verdicts and agreements below a folder ``<paper>/<artifact>``."""
    import pandas as pd

    from reproduction.verdicts.page import markdown

    def joined(name: str) -> pd.DataFrame:
        files = sorted(folder.glob(f"*/*/{name}.csv"))
        return pd.concat([pd.read_csv(file, keep_default_na=False, na_values={}) for file in files])

    agreement = joined("agreement")
    figures = ["estimate", "low", "high"]
    agreement[figures] = agreement[figures].apply(pd.to_numeric)
    return markdown(joined("verdicts"), agreement)
