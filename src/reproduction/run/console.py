"""What `./run` shows: its progress, on a line or every ten seconds, and a summary.

A logger plugin of Snakemake, whose own messages stay in the file
`.snakemake/log/<time>.snakemake.log`.
"""

import csv
import logging
import os
import re
import shutil
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from reproduction.data.registry import REGISTRY
from reproduction.paths import CHECKOUT
from reproduction.plan.plan import Plan, passed_over
from reproduction.run.command_line import TYPED_IN
from reproduction.spec.papers import HOME
from reproduction.spec.verdict_words import count_verdicts, look_up

SECONDS: dict[int, float] = {}  # number of a job -> its expected seconds, which a run fills in
# file that marks a waiting result -> number of the job that was computed ahead
AHEAD: dict[Path, int] = {}
OLD: dict[str, int] = {}  # file of an earlier run that this run makes again -> its time (ns)
PLAN: Plan | None = None  # the plan of the run, for the preview
WHY: dict[str, str] = {}  # record of a result -> why its job runs; "" if it does not
TELL = {"told": True}  # ``extra`` of messages for people
# messages of Snakemake that are shown
KNOWN = ("Nothing to be done", "Unlocking working directory")
KILLED = "; killed, perhaps because memory ran out: try --cores 1"
LOCKED = "another run in this checkout works on the same files; wait until it ends"
# Errors that repeat, once jobs run, what is shown of the failed job.
OF_JOBS = ("RuleException", "WorkflowError")
# The last line of the log of a failed job, and the part that is shown.
CAUSE = re.compile(r"(?:error: |(?:\w+\.)*(?=\w+Error: ))(.+)")
ENOUGH = 0.05  # share of the expected seconds after which the pace of this machine is measured
MOST_FILES = 2
"""Number of files with verdicts that the end of a run lists by name."""
# scripts whose logs hold only the reason why they refuse a table
REFUSING = ("draw", "verdicts")


class Progress:
    """Progress of a run: what is done, what runs, and how long the rest will take.

    The rest takes (expected seconds of what is left) x pace. The pace is measured when a job has
    finished: (time so far) / (expected seconds so far). A job that runs counts with the time since
    it began, but at most with what is expected of it. So the estimate does not grow with the time
    while long jobs run.
    """

    def __init__(self, cores: int, seconds: Mapping[int, float]) -> None:
        self.cores = max(cores, 1)
        self.seconds = seconds
        self.running: dict[int, str] = {}
        self.started: dict[int, float] = {}  # job -> the second in which it started
        self.done = self.total = 0
        self.passed = 0.0
        self.measured_at = 0.0  # expected seconds of finished jobs when the pace was measured
        self.pace = 1.0 / self.cores
        self.began = time.monotonic()

    def start(self, job: int, name: str) -> None:
        """Count a job as running."""
        self.running[job] = name
        self.started[job] = time.monotonic() - self.began

    def finished(self, job: int) -> None:
        """Count a job as done."""
        self.running.pop(job, None)
        self.passed += self.seconds.get(job, 0.0)
        self.done += 1

    def line(self) -> str:
        """Write the progress as ``[37/212] 0:42 of about 2:10   ors/fig5; pnorm/room``."""
        elapsed = time.monotonic() - self.began
        expected = self.expected(elapsed)
        estimate = f" of about {clock(expected)}" if expected else ""
        total = f"/{self.total}" if self.total else ""
        running = "; ".join(self.running.values())
        return f"[{self.done}{total}] {clock(elapsed)}{estimate}  {running}"

    def expected(self, elapsed: float) -> float:
        """Estimate the seconds of the whole run; 0 if nothing is known of its jobs."""
        whole = sum(self.seconds.values())
        if not whole:
            return 0.0
        ahead = {job for file, job in AHEAD.items() if file.exists()}
        finished = self.passed + sum(self.seconds.get(job, 0.0) for job in ahead)
        passed = finished
        for job in self.running.keys() - ahead:
            since = elapsed - self.started.get(job, elapsed)
            passed += min(since, self.seconds.get(job, 0.0))
        if finished != self.measured_at and finished > ENOUGH * whole:
            self.measured_at = finished
            self.pace = elapsed / passed
        return elapsed + max(whole - passed, 0.0) * self.pace


class LogHandler(LogHandlerBase):
    """The handler of Snakemake's messages for ``--logger console``."""

    writes_to_stream = has_filter = has_formatter = True
    writes_to_file = needs_rulegraph = False

    def __post_init__(self) -> None:
        self.live = sys.stderr.isatty()
        self.coloured = self.live and "NO_COLOR" not in os.environ
        self.progress: Progress | None = None
        self.jobs = False
        threading.Thread(target=self._tick, daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Handle a message of Snakemake, and show what a person needs."""
        fields = record.__dict__
        event = fields.get("event")
        job = fields.get("jobid", -1)
        if event == LogEvent.RESOURCES_INFO and fields.get("cores"):
            self.progress = Progress(int(fields["cores"]), SECONDS)
        elif event == LogEvent.RUN_INFO and self.progress:
            self.progress.total = int(fields.get("stats", {}).get("total", 0))
        elif event == LogEvent.JOB_INFO and self.progress:
            self.jobs = True
            self.progress.start(job, _short(fields))
        elif event == LogEvent.JOB_FINISHED and self.progress:
            self.progress.finished(fields["job_id"])
        elif event == LogEvent.JOB_ERROR and "NOISYLABELS_STOPPED" not in os.environ:
            description = _short(fields)
            log = next(iter(fields.get("log") or []), "")
            if self.progress:
                description = self.progress.running.pop(job, description)
            red, plain = ("\x1b[31m", "\x1b[0m") if self.coloured else ("", "")
            log_hint = f" ({path_to_show(log)})" if log else ""
            killed = KILLED if _ends_without_cause(log) else ""
            # `causes` shows the reason
            self._print(f"{red}failed{plain}: {description}{log_hint}{killed}")
        elif fields.get("exception") == "LockException":
            self._print(LOCKED)
        else:
            text = record.getMessage().strip()
            repeated = self.jobs and fields.get("exception", "WorkflowError") in OF_JOBS
            warns = record.levelno >= logging.WARNING and not repeated
            if fields.get("told") or text.startswith(KNOWN) or warns:
                self._print(text)

    def _print(self, text: str, end: str = "\n") -> None:
        print("\r\x1b[K" * self.live + text, end=end, file=sys.stderr, flush=True)

    def _tick(self) -> None:
        while True:
            time.sleep(1.0 if self.live else 10.0)
            with self.lock or threading.Lock():
                if self.progress and self.progress.running:
                    line = self.progress.line()
                    width = shutil.get_terminal_size().columns - 1
                    if self.live and len(line) > width:
                        line = line[: width - 3] + "..."
                    self._print(line, end="" if self.live else "\n")


def clock(seconds: float) -> str:
    """Write seconds as ``0:42`` or ``2:05:00``."""
    minutes, remainder = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}:{remainder:02}"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{remainder:02}"


def _short(fields: Mapping[str, Any]) -> str:
    """Name a job by its artifact, or by the message of its rule without details."""
    message = fields.get("rule_msg") or fields.get("rule_name", "")
    words = str(message)
    for detail in (",", " (", " against", " apart"):
        words = words.partition(detail)[0]
    words = words.removeprefix("Run ")
    return words.strip()


def summary(plan: Plan, words: Iterable[str], failed: bool = False, stopped: bool = False) -> str:
    """Summarise in a few lines the files of the targets, or of everything.

    failed: the run broke off, and what is missing is named.
    stopped: the user stopped it; what is missing is only counted.
    """
    if not (scopes := plan.find_scopes(words)):
        return ""
    names: dict[str, None] = {}
    judged_scopes: dict[str, None] = {}
    for scope in scopes:
        names |= dict.fromkeys(plan.artifacts_below(scope))
        judged_scopes |= dict.fromkeys(plan.pages(scope))
    finished = []
    for name in names:
        if all(_is_there(file) for file in plan.outputs(name)):
            finished.append(name)
    lines = [_count_finished(plan, finished)]
    for scope in scopes:
        if scope.strip("/") in finished:  # the user named this result alone
            lines.append(f"made: {path_to_show(plan.drawings(scope.strip('/'))[0])}")
    lines += _verdicts(plan, judged_scopes)
    missing = [name for name in names if name not in finished]
    if stopped:
        remedy = "finished results are kept, run the same command to continue"
        lines.append(f"stopped with {len(missing)} results to go; {remedy}")
    elif failed:
        logs = path_to_show(f"logs/{plan.folder}")
        lines.append(f"not made: {', '.join(missing) or 'verdicts'}; why: {logs}")
    for name, reason in plan.left_out.items():
        if f"{name}/".startswith(tuple(scopes)):
            lines.append(f"left out: {name}: {reason}")
    if "" in scopes:
        lines.append(passed_over(plan, CHECKOUT, Path()))
        lines += [f"not run: {paper}: {reason}" for paper, reason in plan.broken.items()]
    lines += _notes(plan, names)
    return "\n".join(line for line in lines if line)


def _count_finished(plan: Plan, names: Iterable[str]) -> str:
    """Count figures and tables: ``smoke scale: 1 figure and 2 tables in figures/smoke``."""
    kinds = Counter(plan.artifacts[name].kind for name in names)
    counts = []
    for kind in ("figure", "table"):
        count = kinds[kind]
        plural = "s" if count != 1 else ""
        counts.append(f"{count} {kind}{plural}")
    scale = plan.config["scale"]
    folder = path_to_show(plan.figures)
    return f"{scale} scale: {' and '.join(counts)} in {folder}"


def _notes(plan: Plan, names: Iterable[str]) -> list[str]:
    """List warnings of `./run check` about data sets, methods and noise of the user."""
    lines = plan.read_warnings(names)
    data_sets: set[str] = set()
    for name in names:
        artifact = plan.artifact(name)
        data_sets.update(artifact.data_sets(artifact.settings))
    for dataset in sorted(data_sets):
        (file,) = plan.prepared([dataset])
        registry = plan.entry(dataset).file
        is_of_paper = registry != REGISTRY and not registry.is_relative_to(HOME)
        if (plan.users(dataset) or is_of_paper) and Path(file).is_file():
            lines += [f"note: {dataset}: {doubt}" for doubt in _doubts(plan, dataset, file)]
    return lines


def _doubts(plan: Plan, dataset: str, file: str) -> list[str]:
    """List doubts about a prepared data set of the user."""
    from reproduction.data.prepared import load_prepared
    from reproduction.run import data_check

    entry = plan.entry(dataset)
    names = partial(data_check.read_column_names, entry)
    try:
        return data_check.describe_data(load_prepared(file).arrays, entry.task, names)
    except (ValueError, OSError) as error:
        return [f"warning: it was not looked at: {error}"]


def path_to_show(file: str | Path) -> str:
    """Write the path of a file of the run relative to where the command was typed."""
    typed_in = os.environ.get(TYPED_IN)
    return os.path.relpath(file, typed_in) if typed_in else str(file)


def expect(plan: Plan, jobs: Iterable[Any], number_of: Callable[[Any], int]) -> None:
    """Note the expected seconds of Snakemake's jobs, and their outputs from an earlier run."""
    for job in jobs:
        SECONDS[number_of(job)] = plan.seconds(job.rule.name, job.wildcards_dict)
        for file in map(str, job.output):
            if os.path.exists(file):
                OLD[file] = os.stat(file).st_mtime_ns


def _is_there(file: str) -> bool:
    return Path(file).is_file() and Path(file).stat().st_mtime_ns != OLD.get(file)


def _ends_without_cause(log: str) -> bool:
    """Decide whether the log of a failed job names no cause, as when the system ended it."""
    file = Path(log)
    if not log or not file.is_file() or file.stem in REFUSING:
        return False
    last = file.read_text(encoding="utf-8", errors="replace").strip().rpartition("\n")[2]
    return CAUSE.match(last) is None


def causes(logs: Path, since: float) -> list[str]:
    """List why jobs failed after the time ``since``, by the last lines of their logs."""
    log_of_reason: dict[str, Path] = {}
    for file in sorted(log for log in logs.rglob("*.log") if log.stat().st_mtime >= since):
        last = file.read_text(encoding="utf-8", errors="replace").strip().rpartition("\n")[2]
        match = CAUSE.match(last)
        reason = last if file.stem in REFUSING else ""
        if match:
            reason = match[1]
        if reason:
            log_of_reason.setdefault(reason, file)
    lines = []
    for reason, file in log_of_reason.items():
        lines.append(f"why: {reason} ({path_to_show(file)})")
    return lines[:5]  # all causes are in the logs


def _verdicts(plan: Plan, scopes: Iterable[str]) -> list[str]:
    """Count what was judged, and name published values that seem to be in another unit."""
    files = [Path(plan.results, scope, "verdicts.csv") for scope in scopes]
    files = [file for file in files if _is_there(str(file))]
    if not files:
        return []
    rows: list[dict[str, str]] = []
    for file in files:
        with file.open(encoding="utf-8", newline="") as lines_of_file:
            rows += csv.DictReader(lines_of_file)
    counts = []
    for verdict, count in count_verdicts(rows).items():
        counts.append(f"{count} {look_up(verdict).label}")
    notes = {"full": "", "part": " (of a part)"}
    scale_note = notes.get(plan.config["scale"], " (no verdicts at reduced scale)")
    locations = ", ".join(path_to_show(file) for file in files)
    if len(files) > MOST_FILES:
        locations = f"{path_to_show(plan.results)}/<paper>/verdicts.csv"
    lines = [f"verdicts: {', '.join(counts)}{scale_note}; see {locations}"]
    for name, artifact in plan.artifacts.items():
        if artifact.file.is_relative_to(HOME):
            continue  # mistakes are expected only in papers of users
        its_rows = [row for row in rows if f"{row['paper']}/{row['artifact']}" == name]
        lines.append(artifact.other_unit(its_rows))
        lines += artifact.unmatched(its_rows)
    return [line for line in lines if line]
