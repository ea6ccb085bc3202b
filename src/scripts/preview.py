"""What `./run -n` shows: what would run, in one screen; a logger plugin of Snakemake."""

import logging
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from reproduction.run import console

FORCED, FOLLOWS = "forced", "follows"
CORES = 1
"""Of the run that is previewed."""


class LogHandler(LogHandlerBase):
    """Collects the jobs of a dry run and prints a line for each paper."""

    writes_to_stream = has_filter = has_formatter = True
    writes_to_file = needs_rulegraph = False

    def __post_init__(self) -> None:
        self.jobs: list[Mapping[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Read what Snakemake says of a job, and print the preview at the end."""
        said = record.__dict__
        event = said.get("event")
        text = record.getMessage().strip()
        if event == LogEvent.JOB_INFO:
            self.jobs.append(said)
        elif text.startswith("This was a dry-run"):
            print(describe(self.jobs, CORES))
        elif said.get("exception") == "LockException":
            print(console.LOCKED, file=sys.stderr)
        elif said.get("told") or text.startswith(console.KNOWN) or record.levelno >= logging.WARNING:
            print(text, file=sys.stderr)


def describe(jobs: list[Mapping[str, Any]], cores: int) -> str:
    """A table with results, jobs, minutes and reasons for each paper, and their sums."""
    plan = console.PLAN
    counts: Counter[str] = Counter()
    seconds: dict[str, float] = defaultdict(float)
    results: dict[str, set[str]] = defaultdict(set)
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    for job in jobs:
        outputs = [str(file) for file in job.get("output") or []]
        if not outputs:
            continue  # a target; it only collects
        group = _group_of(outputs[0])
        counts[group] += 1
        wildcards = dict(job.get("wildcards") or {})
        if plan is not None:
            seconds[group] += plan.seconds(str(job["rule_name"]), wildcards)
        results[group] |= _results_of(outputs)
        for output in outputs:
            if output.endswith("record.json"):
                why = console.WHY.get(output, "")
                reasons[group][FOLLOWS if why.startswith("follows") else why or FORCED] += 1
    lines = [f"{'':16}{'results':>8}{'jobs':>7}{'minutes':>9}  why"]
    for group in counts:
        if len(reasons[group]) > 1:
            reasons[group].pop(FOLLOWS, None)
        why = ", ".join(reason for reason, _ in reasons[group].most_common(3))
        shown = str(len(results[group])) if results[group] else ""
        minutes = f"{seconds[group] / 60:.1f}"
        lines.append(f"{group:16}{shown:>8}{counts[group]:>7}{minutes:>9}  {why}")
    whole = len(set().union(*results.values())) if results else 0
    minutes = f"{sum(seconds.values()) / 60 / cores:.1f}"
    plural = "s" if cores != 1 else ""
    lines.append(f"{'together':16}{whole:>8}{counts.total():>7}{minutes:>9}  on {cores} core{plural}")
    scale = f"{plan.config['scale']} scale; " if plan is not None else ""
    lines.append(f"\n{scale}nothing was run. Every job with its reason: add --verbose")
    return "\n".join(lines)


def _group_of(output: str) -> str:
    """Name the paper of an output, or the kind of output."""
    parts = output.split("/")
    if parts[0] == "data":
        return "data sets"
    if parts[0] == "site":
        return "pages"
    return parts[2] if len(parts) > 3 else "all papers"


def _results_of(outputs: list[str]) -> set[str]:
    """Names <paper>/<artifact> of the results and drawings among the outputs."""
    found = set()
    for output in outputs:
        parts = output.split("/")
        if parts[0] == "figures" and len(parts) == 4:
            found.add(f"{parts[2]}/{parts[3].partition('.')[0]}")
        elif parts[0] == "results" and len(parts) > 4:
            found.add(f"{parts[2]}/{parts[3].partition('@')[0]}")
    return found
