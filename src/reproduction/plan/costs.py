"""What jobs of a full run took, hence what a cluster is asked for."""

import csv
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

KEY = ["artifact", "cell", "job"]
COLUMNS = [*KEY, "jobs", "seconds", "longest", "mem_mb"]

# Megabytes and minutes of a job that nobody has measured.
DEFAULT = {"mem_mb": 1000, "runtime": 60}
# What is asked for, over what was measured: other processors are slower, other libraries larger.
MARGIN = {"mem_mb": 1.5, "runtime": 3.0}
# What every job needs beside: Snakemake starts in each submission, on a node that may be busy.
START = {"mem_mb": 400, "runtime": 2}
# Seconds of a job of a rule (its first word) where none was measured; of others 3 s.
TYPICAL = {"fetch": 1.0, "prepare": 1.5, "draw": 5.0, "verdicts": 5.0, "site": 5.0}
# (artifact, cell, kind of job) -> longest seconds, peak megabytes; a kind is ``tune``, ``run`` ....
Measured = Mapping[tuple[str, str, str], tuple[float, float]]


def read(file: Path) -> Measured:
    """The table that ``src/scripts/generate.py --costs`` writes; without the file nothing was measured.

    Raises ValueError : other columns, or a line that cannot be read, named.
    """
    if not file.is_file():
        return {}
    found = {}
    rows = csv.DictReader(file.read_text(encoding="utf-8").splitlines())
    if rows.fieldnames != COLUMNS:
        known = ", ".join(COLUMNS)
        raise ValueError(f"{file}: the columns are not {known}; run src/scripts/generate.py --costs")
    for row in rows:
        try:
            numbers = float(row["longest"]), float(row["mem_mb"])
        except (ValueError, TypeError):
            raise ValueError(f"{file}, line {rows.line_num}: longest, mem_mb must be numbers") from None
        found[row["artifact"], row["cell"], row["job"]] = numbers
    return found


def asked(cost: tuple[float, float] | None) -> dict[str, int]:
    """``mem_mb`` and ``runtime`` (minutes) for a job that took so much, with a margin, else `DEFAULT`."""
    if cost is None:
        return dict(DEFAULT)
    megabytes, minutes = cost[1] * MARGIN["mem_mb"] + START["mem_mb"], cost[0] * MARGIN["runtime"] / 60
    return {"mem_mb": 100 * math.ceil(megabytes / 100), "runtime": math.ceil(minutes) + START["runtime"]}


def gathered(logs: Iterable[Path]) -> "pd.DataFrame":
    """Rows of the table from folders ``logs/<scale>`` of runs; where a job is in several, the last counts.

    The seconds are the processor's: a machine that is shared stretches the clock's.
    Where a job was too short to be sampled, the clock's are taken.
    """
    import pandas as pd

    jobs: dict[tuple[str, ...], tuple[float, float]] = {}
    for folder in logs:
        for file in sorted(folder.glob("*/*/*.time.tsv")):
            cell, _, block = file.name.removesuffix(".time.tsv").rpartition(".")
            job = "run" if block.isdigit() else block
            jobs[file.relative_to(folder).parent.as_posix(), cell, job, block] = times(file)
    rows = [(*key[:3], *numbers) for key, numbers in jobs.items()]
    groups = pd.DataFrame(rows, columns=[*KEY, "seconds", "mem_mb"]).groupby(KEY)
    found = groups["seconds"].agg(jobs="size", seconds="mean", longest="max").round(1)
    return found.assign(mem_mb=groups["mem_mb"].max().map(math.ceil)).reset_index()


def updated(file: Path, new: "pd.DataFrame") -> "pd.DataFrame":
    """The table in the file with new rows; of an artifact that has some no old one stays."""
    import pandas as pd

    if not file.is_file():
        return new
    read(file)  # a damaged table is named
    old = pd.read_csv(file, keep_default_na=False)
    return pd.concat([old[~old["artifact"].isin(new["artifact"])], new]).sort_values(KEY)


def times(file: Path) -> tuple[float, float]:
    """(seconds, megabytes at the peak) of a job; Snakemake writes NA where it took no sample."""
    header, row = (line.split("\t") for line in file.read_text(encoding="utf-8").splitlines()[:2])
    known = {key: value for key, value in zip(header, row, strict=True) if ":" not in key}
    sampled = {key: float(value) for key, value in known.items() if value[:1].isdigit()}
    return sampled.get("cpu_time") or sampled["s"], sampled.get("max_rss", 0.0)
