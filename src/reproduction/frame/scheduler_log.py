"""Which jobs the scheduler of a cluster ended, for their time or their memory, and what helps."""

import re
from collections.abc import Iterable
from pathlib import Path

FOLDER = Path("logs/slurm")
"""Where the profiles for Slurm put its logs; those of jobs that went well are deleted."""

SIGNS = {
    "runtime": re.compile(r"DUE TO TIME LIMIT", re.IGNORECASE),
    "mem_mb": re.compile(r"exceeded.* memory limit|oom.?kill|out of memory", re.IGNORECASE),
}
"""What Slurm writes into the log of a job before it ends it."""

TOLD = {
    "runtime": ("took longer than the minutes it had asked for", "minutes"),
    "mem_mb": ("needed more memory than it had asked for", "megabytes"),
}
JOB = re.compile(r"^Job \d+: ((?:Run|Tune) ([^ ,]+).*)$", re.MULTILINE)


def ended(folder: Path, since: float, names: Iterable[str] = ()) -> list[str]:
    """A line for every job that was ended after the time ``since``, with its remedy; [] without such logs.

    names : of the artifacts, ``ors/fig2``: a job that was ended before it said its name is known by its log.
    """
    logs = [file for file in folder.rglob("*.log") if file.stat().st_mtime >= since]
    told = (_told(file, list(names)) for file in sorted(logs, key=lambda file: file.stat().st_mtime))
    return list(dict.fromkeys(line for line in told if line))


def _told(file: Path, names: list[str]) -> str:
    text = file.read_text(encoding="utf-8", errors="replace")
    resource = next((name for name, sign in SIGNS.items() if sign.search(text)), "")
    if not resource:
        return ""
    jobs = JOB.findall(text)
    what, artifact = jobs[-1] if jobs else (f"the job of {file}", _of_folder(file.parent.name, names))
    why, unit = TOLD[resource]
    return (
        f"ended by the scheduler: {what}: it {why}; give it more {unit}: `resources: {{{resource}: ...}}` in "
        f"config/experiments/{artifact}.yaml"
    )


def _of_folder(folder: str, names: list[str]) -> str:
    """The artifact with which the name of a log's folder begins, ``ors_fig2_<cell>_<block>``."""
    fitting = [name for name in names if folder.startswith(name.replace("/", "_"))]
    return max(fitting, key=len, default="<paper>/<artifact>")
