"""Recorded times and memory of the jobs of a full run, and requests to a cluster that follow."""

import csv
import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

KEY = ["artifact", "cell", "job"]
CALIBRATION = "calibration_ms"
"""Column, and key of a record: time of a fixed piece of work where the result was made."""
COLUMNS = [*KEY, "jobs", "seconds", "longest", "mem_mb", CALIBRATION]

DEFAULT = {"mem_mb": 1000, "runtime": 60}
"""Megabytes and minutes for a job that nobody has measured."""
MARGIN = {"mem_mb": 1.5, "runtime": 3.0}
"""Factors on measured costs, because other machines are slower and other libraries larger."""
START = {"mem_mb": 400, "runtime": 2}
"""Megabytes and minutes that every job needs in addition.

Snakemake starts in each submission, on a node that may be busy.
"""
TYPICAL = {"fetch": 1.0, "prepare": 1.5, "draw": 5.0, "verdicts": 5.0, "site": 5.0}
"""First word of a rule -> seconds of its jobs where none was measured."""
TYPICAL_OF_OTHERS = 3.0

Cost = tuple[float, float]
"""Longest seconds and peak megabytes."""
Measured = Mapping[tuple[str, str, str], Cost]
"""(artifact, cell, kind of job) -> cost; kinds are ``tune``, ``run`` and others."""


def read(file: Path) -> Measured:
    """Read the table that ``src/scripts/generate.py --costs`` writes.

    Without the file nothing was measured.

    Raises
    ------
    ValueError
        If it has other columns, or a line that cannot be read.
    """
    if not file.is_file():
        return {}
    measured = {}
    rows = csv.DictReader(file.read_text(encoding="utf-8").splitlines())
    if rows.fieldnames != COLUMNS:
        columns = ", ".join(COLUMNS)
        remedy = "run src/scripts/generate.py --costs"
        raise ValueError(f"{file}: the columns are not {columns}; {remedy}")
    for row in rows:
        try:
            seconds = float(row["longest"])
            megabytes = float(row["mem_mb"])
        except (ValueError, TypeError):
            line = f"{file}, line {rows.line_num}"
            raise ValueError(f"{line}: longest, mem_mb must be numbers") from None
        measured[row["artifact"], row["cell"], row["job"]] = (seconds, megabytes)
    return measured


def estimate_resources(cost: Cost | None) -> dict[str, int]:
    """Estimate ``mem_mb`` and ``runtime`` (minutes) of a job of this cost, with a margin.

    Without a cost these are `DEFAULT`.
    """
    if cost is None:
        return dict(DEFAULT)
    seconds, peak = cost
    megabytes = peak * MARGIN["mem_mb"] + START["mem_mb"]
    minutes = seconds * MARGIN["runtime"] / 60
    return {
        "mem_mb": 100 * math.ceil(megabytes / 100),
        "runtime": math.ceil(minutes) + START["runtime"],
    }


def gathered(logs: Iterable[Path]) -> "pd.DataFrame":
    """Gather the rows of the table from folders ``logs/<scale>`` of runs.

    Where a job is in several, the last counts. The seconds are the processor's: a machine that is
    shared stretches the clock's. Where a job was too short to be sampled, the clock's are taken.
    Next to them is the time of a fixed piece of work, from the record of the result, NaN if it is
    not known: divide the seconds of two machines by it before they are compared.
    """
    import pandas as pd

    jobs: dict[tuple[str, ...], Cost] = {}
    calibrations: dict[str, float] = {}
    for folder in logs:
        for file in sorted(folder.glob("*/*/*.time.tsv")):
            artifact = file.relative_to(folder).parent.as_posix()
            cell, _, block = file.name.removesuffix(".time.tsv").rpartition(".")
            job = "run" if block.isdigit() else block
            jobs[artifact, cell, job, block] = times(file)
            record = folder.parents[1] / "results" / folder.name / artifact / "record.json"
            calibrations[artifact] = _read_calibration(record)
    rows = []
    for (artifact, cell, job, _), (seconds, megabytes) in jobs.items():
        rows.append((artifact, cell, job, seconds, megabytes))
    groups = pd.DataFrame(rows, columns=[*KEY, "seconds", "mem_mb"]).groupby(KEY)
    table = groups["seconds"].agg(jobs="size", seconds="mean", longest="max").round(1)
    peak = groups["mem_mb"].max().map(math.ceil)
    table = table.assign(mem_mb=peak).reset_index()
    return table.assign(**{CALIBRATION: table["artifact"].map(calibrations)})


def _read_calibration(record: Path) -> float:
    """Read the milliseconds of the fixed work from a record; NaN if it has none."""
    if not record.is_file():
        return math.nan
    informs = json.loads(record.read_bytes())["informs"]
    return float(informs.get(CALIBRATION, math.nan))


def updated(file: Path, new: "pd.DataFrame") -> "pd.DataFrame":
    """Add new rows to the table of the file, in place of all old rows of their artifacts."""
    import pandas as pd

    if not file.is_file():
        return new
    read(file)  # names the file if the table is damaged
    old = pd.read_csv(file, keep_default_na=False, na_values={CALIBRATION: [""]})
    is_replaced = old["artifact"].isin(new["artifact"])
    return pd.concat([old[~is_replaced], new]).sort_values(KEY)


def times(file: Path) -> Cost:
    """Read (seconds, megabytes at the peak) of a job from the file that Snakemake wrote.

    Snakemake writes NA where it took no sample.
    """
    header, row = file.read_text(encoding="utf-8").splitlines()[:2]
    sampled = {}
    for name, text in zip(header.split("\t"), row.split("\t"), strict=True):
        is_clock = ":" in name
        if not is_clock and text[:1].isdigit():
            sampled[name] = float(text)
    seconds = sampled.get("cpu_time") or sampled["s"]
    return seconds, sampled.get("max_rss", 0.0)
