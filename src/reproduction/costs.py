"""What jobs of a full run took, hence what a cluster is asked for and how many jobs share a submission."""

import csv
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

COLUMNS = ("artifact", "cell", "job", "jobs", "seconds", "longest", "mem_mb")
DEFAULT = {"mem_mb": 1000, "runtime": 60}
"""Megabytes and minutes of a job that nobody has measured."""

MARGIN = {"mem_mb": 1.5, "runtime": 3.0}
"""What is asked for, over what was measured: other processors are slower, other libraries larger."""

START = {"mem_mb": 400, "runtime": 10}
"""What every submission needs beside: Snakemake starts twice in it, on a node that may be busy."""

SUBMISSION = 600
"""Seconds of measured work that one submission should hold: a queue costs a job half a minute or more."""

SIZES = (40, 20, 10, 5, 2)
"""Jobs in one submission; the profiles of clusters name the groups ``x40``, ``x20`` ..."""


@dataclass(frozen=True)
class Cost:
    """Jobs of one kind in one cell: how many were measured, mean and longest seconds, peak in megabytes."""

    jobs: int
    seconds: float
    longest: float
    mem_mb: int


@dataclass(frozen=True)
class Costs:
    """Measured jobs by (artifact, cell, kind of job); a kind is ``tune``, ``run`` or ``experiment``."""

    measured: Mapping[tuple[str, str, str], Cost]

    def of(self, artifact: str, cell: str, job: str) -> Cost | None:
        """What a job is expected to cost; of a cell that was not measured what the dearest other one did.

        None: no such job of the artifact was measured. A reduced scale has an experiment in one job that the
        full one cuts in several; it is expected to cost no more than the dearest of them.
        """
        exact = self.measured.get((artifact, cell, job))
        if exact:
            return exact
        near = [
            c for (a, _, kind), c in self.measured.items() if a == artifact and job in (kind, "experiment")
        ]
        return max(near, key=lambda cost: cost.longest, default=None)

    def resources(
        self, artifact: str, cell: str, job: str, declared: Mapping[str, int], attempt: int = 1
    ) -> dict[str, int]:
        """``mem_mb`` and ``runtime`` (minutes) to ask for: ``declared``, else measured with a margin, else
        `DEFAULT`; the second attempt asks for twice as much.
        """
        asked = DEFAULT | self._measured(artifact, cell, job) | dict(declared)
        return {key: value * attempt for key, value in asked.items()}

    def _measured(self, artifact: str, cell: str, job: str) -> dict[str, int]:
        cost = self.of(artifact, cell, job)
        if cost is None:
            return {}
        start = max(
            START["runtime"] / self.batch(artifact, cell, job), 2
        )  # minutes of a submission are added up
        return {
            "mem_mb": 100 * math.ceil((cost.mem_mb * MARGIN["mem_mb"] + START["mem_mb"]) / 100),
            "runtime": math.ceil(cost.longest * MARGIN["runtime"] / 60) + math.ceil(start),
        }

    def batch(self, artifact: str, cell: str, job: str) -> int:
        """How many jobs like this make one submission of at most `SUBMISSION` seconds.

        1 if none was measured, and of an experiment in one job: its artifact has no others.
        """
        cost = self.of(artifact, cell, job)
        if cost is None or job == "experiment":
            return 1
        return next((size for size in SIZES if size * cost.seconds <= SUBMISSION), 1)


def read(file: Path) -> Costs:
    """The table that ``python src/scripts/costs.py`` writes; without the file nothing was measured.

    Raises
    ------
    ValueError : a line that cannot be read, named.
    """
    if not file.is_file():
        return Costs({})
    with file.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines)
        if tuple(rows.fieldnames or ()) != COLUMNS:
            raise ValueError(
                f"{file}: the columns are not {', '.join(COLUMNS)}; make it anew: src/scripts/costs.py"
            )
        return Costs(
            {(row["artifact"], row["cell"], row["job"]): _cost(row, file, rows.line_num) for row in rows}
        )


def _cost(row: dict[str, str], file: Path, line: int) -> Cost:
    try:
        return Cost(int(row["jobs"]), float(row["seconds"]), float(row["longest"]), int(row["mem_mb"]))
    except (ValueError, TypeError):
        raise ValueError(f"{file}, line {line}: jobs, seconds, longest and mem_mb must be numbers") from None


def gathered(logs: Iterable[Path]) -> list[dict[str, str | int]]:
    """Rows of the table from folders ``logs/<scale>`` of runs; where a job is in several, the last counts.

    The seconds are the processor's: a machine that is shared stretches the clock's.
    Where a job was too short to be sampled, the clock's are taken.
    """
    found: dict[tuple[str, str, str], dict[str, tuple[float, float]]] = {}
    for folder in logs:
        for file in sorted(folder.glob("*/*/*.time.tsv")):
            cell, job, block = _place(file.name.removesuffix(".time.tsv"))
            key = (file.relative_to(folder).parent.as_posix(), cell, job)
            found.setdefault(key, {})[block] = times(file)
    return [_row(key, list(found[key].values())) for key in sorted(found)]


def updated(file: Path, rows: Iterable[Mapping[str, str | int]]) -> list[dict[str, str | int]]:
    """The table in the file with new rows; of an artifact that has some no old one stays."""
    new = [dict(row) for row in rows]
    old: list[dict[str, str | int]] = []
    if file.is_file():
        read(file)  # a damaged table is named
        with file.open(encoding="utf-8", newline="") as lines:
            old = [dict(row) for row in csv.DictReader(lines)]
    run = {row["artifact"] for row in new}
    kept = [row for row in old if row["artifact"] not in run]
    return sorted([*kept, *new], key=lambda row: (row["artifact"], row["cell"], row["job"]))


def _place(stem: str) -> tuple[str, str, str]:
    """(cell, job, block) of the name of a log: ``experiment``, ``<cell>.tune`` or ``<cell>.<block>``."""
    cell, _, last = stem.rpartition(".")
    if not cell:
        return "", "experiment", ""
    return (cell, "tune", "") if last == "tune" else (cell, "run", last)


def times(file: Path) -> tuple[float, float]:
    """(seconds, megabytes at the peak) of a job; Snakemake writes NA where it took no sample."""
    with file.open(encoding="utf-8", newline="") as lines:
        row = next(csv.DictReader(lines, delimiter="\t"))
    sampled = {key: float(row[key]) for key in ("s", "cpu_time", "max_rss") if row[key] not in ("NA", "-")}
    return sampled.get("cpu_time") or sampled["s"], sampled.get("max_rss", 0.0)


def _row(key: tuple[str, str, str], jobs: list[tuple[float, float]]) -> dict[str, str | int]:
    seconds, peaks = zip(*jobs, strict=True)
    numbers = (len(jobs), f"{sum(seconds) / len(jobs):.1f}", f"{max(seconds):.1f}", math.ceil(max(peaks)))
    return dict(zip(COLUMNS, (*key, *numbers), strict=True))
