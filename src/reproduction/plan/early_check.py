"""The check of users' methods and noise before their jobs run, in a separate process.

It is what `./run check` does without the repetition. What it warns of is kept next to the logs, for
the end of this run and of later ones in which the result is current.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from reproduction.paths import SOURCES
from reproduction.plan.plan import Plan
from reproduction.spec.papers import HOME
from reproduction.spec.strict_yaml import Content

TARGETS: list[str] | None = None
"""Targets of the run, [] for all, set by `./run`; None in a preview, which tries nothing."""
PATIENCE = 120
"""Seconds after which a paper is run without this check."""


def find_mistakes(plan: Plan, names: Iterable[str]) -> dict[str, str]:
    """Try what users' artifacts name, and keep the warnings.

    Parameters
    ----------
    plan : Plan
        The plan.
    names : iterable of str
        Artifacts that will run; those of the repository are passed over.

    Returns
    -------
    dict
        Paper -> the first fault, and how many more there are.
    """
    papers: dict[Path, list[str]] = {}
    for name in names:
        artifact = plan.artifacts[name]
        if artifact.protocol and not artifact.file.is_relative_to(HOME):
            papers.setdefault(artifact.file.parent, []).append(name)
    mistakes = {}
    for folder, tried in papers.items():
        answer = _ask(plan, folder, tried)
        faults: list[str] = []
        for name in tried:
            faults += answer["faults"].get(name, [])
            file = plan.warnings_file(name)
            file.parent.mkdir(parents=True, exist_ok=True)
            text = "".join(f"{line}\n" for line in answer["remarks"].get(name, []))
            file.write_text(text, encoding="utf-8")
        if faults:
            mistakes[folder.name] = faults[0]
            if len(faults) > 1:
                mistakes[folder.name] += f" ({len(faults) - 1} more: ./run check {folder})"
    return mistakes


def _ask(plan: Plan, folder: Path, names: Sequence[str]) -> Content:
    """Ask the other process, and return a remark about every artifact if it gives no answer."""
    files = [str(plan.artifacts[name].file) for name in names]
    paths = [str(SOURCES), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable, "-P", "-m", "scripts.check", plan.config["scale"], "--before-run"]
    try:
        done = subprocess.run(
            [*command, *files],
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
        )
        answer: Content = json.loads(done.stdout)
    except (subprocess.SubprocessError, ValueError) as error:
        reason = " ".join(str(error).split())[-200:]
        if isinstance(error, subprocess.TimeoutExpired):
            reason = f"no answer in {PATIENCE} s"
        elif isinstance(error, subprocess.CalledProcessError):
            last = (error.stderr or "").strip().rpartition("\n")[2]
            reason = last or f"exit status {error.returncode}"
        remark = f"{folder}: warning: methods and noise were not tried before the run: {reason}"
        answer = {"faults": {}, "remarks": {name: [remark] for name in names}}
    return answer
