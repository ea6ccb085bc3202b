"""One artifact as it was run: its verdicts, provenance, cost, figure and table, read from finished files.

A result table without its repetitions is a summary: n, mean, standard error and quantiles of every row key.
"""

import csv
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reproduction import costs
from reproduction.plan import Plan
from reproduction.results import read_table

if TYPE_CHECKING:
    import pandas as pd

DRAWN = ("svg", "png", "html")
"""Formats that a page can show."""

Row = dict[str, str]


@dataclass(frozen=True)
class Run:
    """What is there of an artifact at a scale, or in the reference; what is missing is empty.

    table : its result table or the summary of one.   thumbnail : of a figure, for the reference only.
    drawn : the figure (SVG or PNG) or the table (HTML).   cost : ``minutes``, ``mem_mb`` and ``jobs``.
    """

    scale: str
    verdicts: list[Row] = field(default_factory=list)
    agreement: list[Row] = field(default_factory=list)
    estimates: list[Row] = field(default_factory=list)
    provenance: dict[str, Any] = field(default_factory=dict)
    cost: dict[str, float] = field(default_factory=dict)
    drawn: Path | None = None
    table: Path | None = None
    thumbnail: Path | None = None

    def __bool__(self) -> bool:
        return self.drawn is not None or bool(self.verdicts)


def own(plan: Plan, name: str, root: Path, source: str = "") -> Run:
    """The artifact as it was run at the scale of the plan.

    source : the artifact that the table and its provenance are of, if it is another.
    """
    scale, tables = plan.config["scale"], root / plan.results / (source or name)
    return Run(
        scale,
        verdicts=_newest(root / plan.results, name, "verdicts.csv"),
        agreement=_newest(root / plan.results, name, "agreement.csv"),
        estimates=_newest(root / plan.results, name, "estimates.csv"),
        provenance=json_of(tables / "provenance.json"),
        cost=cost(root / f"logs/{scale}/{name}"),
        drawn=smallest(root / plan.figures / f"{name}.{suffix}" for suffix in DRAWN),
        table=_there(tables / "table.csv"),
    )


def reference(name: str, root: Path, source: str = "") -> Run:
    """The artifact as the reference keeps it; ``source`` as in `own`."""
    tables = root / "results/reference" / (source or name)
    folder, drawn = root / "results/reference" / name, root / "figures/reference" / name
    provenance, kept = json_of(folder / "provenance.json"), json_of(tables / "provenance.json")
    return Run(
        "full",
        verdicts=rows_of(folder / "verdicts.csv"),
        agreement=rows_of(folder / "agreement.csv"),
        estimates=rows_of(folder / "estimates.csv"),
        provenance=kept | provenance,
        cost=provenance.get("cost", {}),
        drawn=smallest(drawn.with_name(f"{drawn.name}.{suffix}") for suffix in DRAWN),
        table=_there(tables / "summary.csv"),
        thumbnail=_there(drawn.with_name(f"{drawn.name}.thumb.webp")),
    )


def cost(logs: Path) -> dict[str, float]:
    """Minutes of a core of all jobs, the memory of the largest in MB, and their number; of no jobs: empty."""
    jobs = [costs.times(file) for file in sorted(logs.glob("*.time.tsv"))]
    if not jobs:
        return {}
    seconds, memory = zip(*jobs, strict=True)
    return {"minutes": round(sum(seconds) / 60, 2), "mem_mb": round(max(memory)), "jobs": len(jobs)}


def smallest(files: Iterable[Path]) -> Path | None:
    """The smallest of the files that exist."""
    there = [file for file in files if file.is_file()]
    return min(there, key=lambda file: file.stat().st_size) if there else None


def rows_of(file: Path, delimiter: str = ",") -> list[Row]:
    """Rows of a table of text; of none: empty."""
    if not file.is_file():
        return []
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter=delimiter))


def json_of(file: Path) -> dict[str, Any]:
    """A JSON object; of no file: empty. Raises ValueError: no JSON; names the file."""
    if not file.is_file():
        return {}
    try:
        found: dict[str, Any] = json.loads(file.read_bytes())
    except ValueError as error:
        raise ValueError(
            f"{file}: cannot be read ({error}); delete it and run again, it is made again"
        ) from None
    return found


def _newest(results: Path, name: str, file: str) -> list[Row]:
    """Rows of an artifact, of the file that was made last: for everything, for its paper, or for it alone."""
    paper, _, artifact = name.partition("/")
    files = [there for scope in (name, paper, "") if (there := results / scope / file).is_file()]
    for each in sorted(files, key=lambda each: each.stat().st_mtime_ns, reverse=True):
        rows = [row for row in rows_of(each) if (row["paper"], row["artifact"]) == (paper, artifact)]
        if rows:
            return rows
    return []


def _there(file: Path) -> Path | None:
    return file if file.is_file() else None


KEY = ["dataset", "source", "noise", "setting", "method", "metric", "x"]
"""What distinguishes the rows of a result table but for the repetition."""

QUANTILES = {"q10": 0.1, "median": 0.5, "q90": 0.9}
SUMMARY = [*KEY, "n", "mean", "se", *QUANTILES]


def summarised(table: "pd.DataFrame", quantiles: bool = True) -> "pd.DataFrame":
    """m = sum(v)/n, se = s/sqrt(n) with s^2 = sum((v-m)^2)/(n-1), and quantiles, for each `KEY` of a table.

    The keys are in the order of their first rows; a single repetition has no error and no quantiles.
    """
    groups = table.groupby(KEY, sort=False, dropna=False)["value"]
    found = groups.agg(n="size", mean="mean", se="sem")
    if quantiles:
        for name, share in QUANTILES.items():
            found[name] = groups.quantile(share)
        found.loc[found["n"] == 1, list(QUANTILES)] = float("nan")
    return found.reset_index()


def read_summary(path: Path) -> "pd.DataFrame":
    """The columns `SUMMARY` of a summary that was written, or of a result table."""
    import pandas as pd

    with path.open(encoding="utf-8") as lines:
        header = lines.readline().strip().split(",")
    if header != SUMMARY:
        return summarised(read_table(path))
    missing = {key: [""] for key in SUMMARY[6:]}
    return pd.read_csv(
        path, keep_default_na=False, na_values=missing, dtype=dict.fromkeys(KEY[:-1], "object")
    )


def write_summary(summary: "pd.DataFrame", path: Path) -> None:
    """Write as CSV, means with ten digits as in result tables, the rest with four; always the same bytes."""
    rough = {name: summary[name].map("{:.4g}".format, na_action="ignore") for name in ("se", *QUANTILES)}
    summary.assign(**rough).to_csv(
        path, index=False, columns=SUMMARY, float_format="%.10g", lineterminator="\n", encoding="utf-8"
    )
