"""How far the printed values are away, method by method: a table in prose, written from the verdicts.

It stands between ``<!-- distances: kernel_boost/rivals kernel_boost/cv_vs_mkl -->`` and ``<!-- end -->``.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean

from reproduction.verdicts import counts

MARK = re.compile(r"(?P<start><!-- distances:(?P<tables>[^>]*) -->\n).*?(?P<end><!-- end -->)", re.S)
HEAD = """
| method | artifact | noise / % | sets | mean distance to print, points | mean absolute distance | largest |
|---|---|---|---|---|---|---|
"""


def filled(text: str, folder: Path) -> str:
    """A text with every marked table as ``<folder>/<paper>/<artifact>/verdicts.csv`` have it.

    A table stays as it is if one of its artifacts has no verdicts.
    """

    def table(found: re.Match[str]) -> str:
        names = found["tables"].split()
        if not all((folder / name / "verdicts.csv").exists() for name in names):
            return found[0]
        rows = sorted(row for name in names for row in _rows(name, folder))
        return found["start"] + HEAD + "".join(line for *_, line in rows) + "\n" + found["end"]

    return MARK.sub(table, text)


def _rows(name: str, folder: Path) -> Iterator[tuple[str, str, int, str]]:
    """Artifact, method, noise and the line of the table."""
    artifact = name.partition("/")[2]
    found: defaultdict[tuple[str, int], dict[str, float]] = defaultdict(dict)
    for row in counts.rows(folder / name / "verdicts.csv"):
        if row["kind"] == "published":
            dataset, noise, method, _ = row["statement"].split(", ")
            found[method, _percent(noise)][dataset] = float(row["estimate"]) - float(row["published"])
    for (method, percent), distance in found.items():
        yield artifact, method, percent, _line(artifact, method, percent, distance)


def _line(artifact: str, method: str, percent: int, distance: Mapping[str, float]) -> str:
    values = list(distance.values())
    farthest = max(distance, key=lambda dataset: abs(distance[dataset]))
    where = farthest.removeprefix("ida_").replace("_", " ")
    cells = [
        method,
        f"`{artifact}`",
        str(percent),
        str(len(values)),
        f"{fmean(values):+.1f}",
        f"{fmean(map(abs, values)):.1f}",
        f"{distance[farthest]:+.1f}, {where}",
    ]
    return f"| {' | '.join(cells)} |\n"


def _percent(noise: str) -> int:
    """``independent 0.1 or negative_only 0.1`` -> 10."""
    return round(100 * float(noise.split()[-1]))
