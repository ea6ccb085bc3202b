"""Means in prose: marked where they stand, and written from the summaries of a run.

``<!-- mean robust_sgd/table1: a7a, symmetric 0.4, rgomp, error -->18.2`` is the mean of those rows of the
artifact's summary whose data set, noise, setting, method and metric are named; of several x the last. It has
the decimals that stand there.
"""

import re
from pathlib import Path

from reproduction.verdicts import counts

MARK = re.compile(
    r"<!-- mean (?P<name>\S+): (?P<words>[^>]*) -->(?P<number>-?[0-9]+(?:\.(?P<decimals>[0-9]+))?)"
)
KEYS = ("dataset", "noise", "setting", "method", "metric")


def filled(text: str, folder: Path) -> str:
    """A text with every marked mean as ``<folder>/<paper>/<artifact>/summary.csv`` has it.

    A number stays as it is if its artifact has no summary. Raises ValueError : a mark that names no rows, or
    rows of more than one method, data set, noise, setting or metric.
    """

    def number(found: re.Match[str]) -> str:
        file = folder / found["name"] / "summary.csv"
        if not file.exists():
            return found[0]
        mean = _mean(file, found["words"].split(", "))
        return found[0][: -len(found["number"])] + f"{mean:.{len(found['decimals'] or '')}f}"

    return MARK.sub(number, text)


def _mean(file: Path, words: list[str]) -> float:
    rows = [row for row in counts.rows(file) if all(word in (row[key] for key in KEYS) for word in words)]
    kinds = sorted({", ".join(filter(None, (row[key] for key in KEYS))) for row in rows})
    if len(kinds) != 1:
        several = f"{len(kinds)} kinds of rows, such as {' and '.join(kinds[:2])}" if kinds else "no row"
        raise ValueError(f"{file}: {', '.join(words)} names {several}; it must name one")
    return float(max(rows, key=lambda row: float(row["x"] or 0))["mean"])
