"""The preview of `./run -n`: what would run, in one screen, as a logger of Snakemake."""

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
"""Number of cores of the previewed run."""


class LogHandler(LogHandlerBase):
    """Collects the jobs of a dry run, and prints a line for each paper."""

    writes_to_stream = has_filter = has_formatter = True
    writes_to_file = needs_rulegraph = False

    def __post_init__(self) -> None:
        self.jobs: list[Mapping[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Read what Snakemake says of a job, and print the preview at the end."""
        fields = record.__dict__
        event = fields.get("event")
        text = record.getMessage().strip()
        is_known = bool(fields.get("told")) or text.startswith(console.KNOWN)
        if event == LogEvent.JOB_INFO:
            self.jobs.append(fields)
        elif text.startswith("This was a dry-run"):
            print(describe(self.jobs, CORES))
        elif fields.get("exception") == "LockException":
            print(console.LOCKED, file=sys.stderr)
        elif is_known or record.levelno >= logging.WARNING:
            print(text, file=sys.stderr)


def describe(jobs: list[Mapping[str, Any]], cores: int) -> str:
    """Write a table with results, jobs, minutes and reasons for each paper, and their sums."""
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
                reason = console.WHY.get(output, "") or FORCED
                if reason.startswith("follows"):
                    reason = FOLLOWS
                reasons[group][reason] += 1
    lines = [f"{'':16}{'results':>8}{'jobs':>7}{'minutes':>9}  why"]
    for group in counts:
        if len(reasons[group]) > 1:
            reasons[group].pop(FOLLOWS, None)
        main_reasons = [reason for reason, _ in reasons[group].most_common(3)]
        n_results = str(len(results[group]) or "")
        minutes = f"{seconds[group] / 60:.1f}"
        numbers = f"{n_results:>8}{counts[group]:>7}{minutes:>9}"
        lines.append(f"{group:16}{numbers}  {', '.join(main_reasons)}")
    n_results = str(len(set().union(*results.values())))
    minutes = f"{sum(seconds.values()) / 60 / cores:.1f}"
    numbers = f"{n_results:>8}{counts.total():>7}{minutes:>9}"
    plural = "s" if cores != 1 else ""
    lines.append(f"{'together':16}{numbers}  on {cores} core{plural}")
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
    """List the names ``<paper>/<artifact>`` of the results and drawings among the outputs."""
    names = set()
    for output in outputs:
        parts = output.split("/")
        if parts[0] == "figures" and len(parts) == 4:
            artifact, _, _ = parts[3].partition(".")
            names.add(f"{parts[2]}/{artifact}")
        elif parts[0] == "results" and len(parts) > 4:
            artifact, _, _ = parts[3].partition("@")
            names.add(f"{parts[2]}/{artifact}")
    return names
