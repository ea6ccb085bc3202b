"""Which jobs the scheduler of a cluster ended, for their time or their memory, and what helps."""

import re
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


def ended(folder: Path, since: float) -> list[str]:
    """A line for every job that was ended after the time ``since``, with its remedy; [] without such logs."""
    logs = [file for file in folder.rglob("*.log") if file.stat().st_mtime >= since]
    told = (_told(file) for file in sorted(logs, key=lambda file: file.stat().st_mtime))
    return list(dict.fromkeys(line for line in told if line))


def _told(file: Path) -> str:
    text = file.read_text(encoding="utf-8", errors="replace")
    resource = next((name for name, sign in SIGNS.items() if sign.search(text)), "")
    if not resource:
        return ""
    jobs = JOB.findall(text)
    what, artifact = jobs[-1] if jobs else (str(file), "<paper>/<artifact>")
    why, unit = TOLD[resource]
    return (
        f"ended by the scheduler: {what}: it {why}; give it more {unit}: `resources: {{{resource}: ...}}` in "
        f"config/experiments/{artifact}.yaml"
    )
