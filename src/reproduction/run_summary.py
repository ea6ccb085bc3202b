"""The last lines of a run, for a person: what was made, judged and left out, and where to look."""

import csv
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from reproduction import targets
from reproduction.plan import Plan
from reproduction.verdicts.names import VERDICTS

CAUSE = re.compile(r"(?:error: |(?:\w+\.)*(?=\w+Error: ))(.+)")
"""The last line of the log of a failed job, and what of it is told."""

REFUSING = ("draw", "verdicts")
"""Logs of scripts that say nothing but why they refuse a table."""

MOST = 5
"""Causes that are told; the logs have all."""


def text(plan: Plan, words: Iterable[str], failed: bool = False, stopped: bool = False) -> str:
    """A few lines about the files that the targets promise (none: everything).

    failed: the run broke off, and what is missing is named.   stopped: by the user; it only is counted.
    """
    scopes = targets.asked(plan, words)
    if not scopes:
        return ""
    names = list(dict.fromkeys(name for scope in scopes for name in plan.below(scope)))
    made = [name for name in names if all(Path(file).is_file() for file in plan.outputs(name))]
    lines = [f"{plan.config['scale']} scale: {_counted(plan, made)} in {plan.figures}"]
    pages = dict.fromkeys(page for scope in scopes for page in plan.pages(scope))
    lines += [line for page in pages if (line := _verdicts(plan, page))]
    missing = [name for name in names if name not in made]
    if stopped:
        lines.append(f"stopped, {len(missing)} to go; what is finished is kept, the same command goes on")
    elif failed:
        lines.append(f"not made: {', '.join(missing) or 'verdicts'}; why: logs/{plan.config['scale']}")
    out = {name: why for name, why in plan.left_out.items() if f"{name}/".startswith(tuple(scopes))}
    return "\n".join([*lines, *(f"left out: {name}: {why}" for name, why in out.items())])


def causes(logs: Path, since: float) -> list[str]:
    """Why jobs failed after the time ``since``: the last lines of their logs, each once, with the file."""
    told: dict[str, Path] = {}
    for file in sorted(logs.rglob("*.log")):
        if file.stat().st_mtime >= since and (why := cause(file)):
            told.setdefault(why, file)
    return [f"why: {why} ({file})" for why, file in told.items()][:MOST]


def cause(log: Path) -> str:
    """The last line of a log where it says why the job failed."""
    if not log.is_file():
        return ""
    last = log.read_text(encoding="utf-8", errors="replace").strip().rpartition("\n")[2]
    found = CAUSE.match(last)
    return found[1] if found else last * (log.stem in REFUSING)


def _counted(plan: Plan, names: list[str]) -> str:
    kinds = Counter(plan.artifacts[name].kind for name in names)
    return " and ".join(f"{kinds[kind]} {kind}{'s' * (kinds[kind] != 1)}" for kind in ("figure", "table"))


def _verdicts(plan: Plan, scope: str) -> str:
    file = Path(f"{plan.results}/{scope}verdicts.csv")
    if not plan.judged(scope) or not file.is_file():
        return ""
    with file.open(encoding="utf-8", newline="") as lines:
        found = Counter(row["verdict"] for row in csv.DictReader(lines))
    counts = ", ".join(f"{found[verdict]} {verdict}" for verdict in VERDICTS if found[verdict])
    reduced = "" if plan.config["scale"] == "full" else " (a reduced scale judges nothing)"
    return f"verdicts: {counts}{reduced}; see {file}"
