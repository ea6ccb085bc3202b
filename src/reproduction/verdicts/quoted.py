"""What README and documentation quote of the reference, written where marks stand, from its tables.

``<!-- count inside: kernel_boost/rivals kernel_boost/boosters/boost_sym -->39``: rows with this verdict
in the named tables; what follows the artifact is how the ids begin, and a paper alone is all its tables.
``<!-- mean robust_sgd/table1: a7a, symmetric 0.4, rgomp, error -->18.2``: the mean of the row of the summary
with these labels, at the last x, with the decimals that are there.
``<!-- distances: kernel_boost/rivals -->``, ``<!-- verdicts: ors -->`` up to ``<!-- end -->``: a table of the
distances to the published values by method; a table of all claims of a paper, and the counts of its values.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean

from reproduction.reference.runs import Row, rows_of
from reproduction.verdicts.names import VERDICTS
from reproduction.verdicts.sentences import bound, number, value, with_interval

COUNT = re.compile(r"(<!-- count (?P<verdict>[a-z ]+):(?P<tables>[^>]*) -->)(?P<number>[0-9]+)")
MEAN = re.compile(
    r"(<!-- mean (?P<name>\S+): (?P<words>[^>]*) -->)(?P<number>-?[0-9]+(?:\.(?P<decimals>[0-9]+))?)"
)
TABLE = re.compile(
    r"(?P<start><!-- (?P<kind>distances|verdicts):(?P<tables>[^>]*) -->\n).*?(?P<end><!-- end -->)", re.S
)
LABELS = ("dataset", "noise", "setting", "method", "metric")
DISTANCES = """
| method | artifact | noise / % | sets | mean distance, points | mean absolute distance | largest |
|---|---|---|---|---|---|---|
"""
CLAIMS = """
| artifact | claim | verdict | statement | estimate [95 % interval] | asked |
|---|---|---|---|---|---|
"""


def filled(text: str, folder: Path) -> str:
    """A text with every mark as ``<folder>/<paper>/<artifact>/{verdicts,summary}.csv`` have it.

    What quotes an artifact without tables stays as it is.
    Raises ValueError : a mean whose labels name no rows, or rows of more than one kind.
    """
    text = COUNT.sub(lambda found: _count(found, folder), text)
    text = MEAN.sub(lambda found: _mean(found, folder), text)
    return TABLE.sub(lambda found: _table(found, folder), text)


def _count(found: re.Match[str], folder: Path) -> str:
    total = 0
    for name in found["tables"].split():
        paper, artifact, *prefix = [*name.split("/"), "*"][: max(2, name.count("/") + 1)]
        files = sorted((folder / paper).glob(f"{artifact}/verdicts.csv"))
        if not files:
            return found[0]
        rows = [row for file in files for row in rows_of(file) if row["id"].startswith("/".join(prefix))]
        total += sum(row["verdict"] == found["verdict"] for row in rows)
    return f"{found[1]}{total}"


def _mean(found: re.Match[str], folder: Path) -> str:
    file, words = folder / found["name"] / "summary.csv", found["words"].split(", ")
    if not file.exists():
        return found[0]
    rows = [row for row in rows_of(file) if all(word in (row[key] for key in LABELS) for word in words)]
    kinds = sorted({", ".join(filter(None, (row[key] for key in LABELS))) for row in rows})
    if len(kinds) != 1:
        several = f"{len(kinds)} kinds of rows, such as {' and '.join(kinds[:2])}" if kinds else "no row"
        raise ValueError(f"{file}: {', '.join(words)} names {several}; it must name one")
    last = max(rows, key=lambda row: float(row["x"] or 0))
    return f"{found[1]}{float(last['mean']):.{len(found['decimals'] or '')}f}"


def _table(found: re.Match[str], folder: Path) -> str:
    names = found["tables"].split()
    if found["kind"] == "verdicts":
        names = [
            f"{names[0]}/{file.parent.name}" for file in sorted((folder / names[0]).glob("*/verdicts.csv"))
        ]
    if not names or not all((folder / name / "verdicts.csv").exists() for name in names):
        return found[0]
    tables = {name.partition("/")[2]: rows_of(folder / name / "verdicts.csv") for name in names}
    if found["kind"] == "distances":
        body = DISTANCES + "".join(line for *_, line in sorted(_distances(tables)))
    else:
        body = CLAIMS + "".join(f"| {' | '.join(cells)} |\n" for cells in _verdicts(tables))
    return f"{found['start']}{body}\n{found['end']}"


def _verdicts(tables: Mapping[str, list[Row]]) -> Iterator[tuple[str, ...]]:
    """A line for each claim, and one for all published values of an artifact."""
    for artifact, rows in tables.items():
        counts = Counter(row["verdict"] for row in rows if row["kind"] == "published")
        if counts:
            each = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
            yield f"`{artifact}`", "", each, f"{counts.total()} published values", "", ""
        for row in rows:
            if row["kind"] == "claim":
                figure = with_interval(*(number(row[key]) for key in ("estimate", "ci_low", "ci_high")))
                check = value(row["check"])
                asked = (figure.replace("nan", ""), bound(check)) if check else ("", "")
                statement = row["statement"].replace("|", "\\|")
                yield f"`{artifact}`", row["id"], f"**{row['verdict']}**", statement, *asked


def _distances(tables: Mapping[str, list[Row]]) -> Iterator[tuple[str, str, int, str]]:
    """Artifact, method, noise and the line of the table."""
    for artifact, rows in tables.items():
        found: defaultdict[tuple[str, int], dict[str, float]] = defaultdict(dict)
        for row in rows:
            if row["kind"] == "published":
                where = value(row["where"])
                noise = where["noise"][-1] if isinstance(where["noise"], list) else where["noise"]
                percent = round(100 * float(noise.split()[-1]))
                found[where["method"], percent][where["dataset"]] = float(row["difference"])
        for (method, percent), distance in found.items():
            yield artifact, method, percent, _distance(artifact, method, percent, distance)


def _distance(artifact: str, method: str, percent: int, distance: Mapping[str, float]) -> str:
    values = list(distance.values())
    farthest = max(distance, key=lambda dataset: abs(distance[dataset]))
    where = farthest.removeprefix("ida_").replace("_", " ")
    cells = [method, f"`{artifact}`", str(percent), str(len(values)), f"{fmean(values):+.1f}"]
    cells += [f"{fmean(map(abs, values)):.1f}", f"{distance[farthest]:+.1f}, {where}"]
    return f"| {' | '.join(cells)} |\n"
