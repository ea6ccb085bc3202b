"""A planned run: a plan, and which of its jobs are due.

`./run` plans a run of everything before it loads Snakemake, which takes longer than planning. If
nothing is due, Snakemake is not needed. Otherwise the workflow uses this plan.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reproduction.plan import plan, steps
from reproduction.plan.currency import Decisions, Step
from reproduction.plan.plan import Plan

NOTHING_DUE = "Nothing to be done (all requested files are present and up to date)."
"""The words of Snakemake."""
INCOMPLETE = Path(".snakemake/incomplete")
"""Folder in which Snakemake notes the files of jobs that were cut off, which it makes again."""


@dataclass(frozen=True)
class PlannedRun:
    """A plan with its steps and the decisions about them.

    Attributes
    ----------
    config : dict
        The configuration from which it was planned.
    plan : Plan
        Without the papers whose code has a mistake.
    steps : list of Step
        The steps of the plan.
    decisions : Decisions
        Why they run.
    """

    config: Mapping[str, Any]
    plan: Plan
    steps: list[Step]
    decisions: Decisions

    def is_finished(self) -> bool:
        """Decide whether a run of everything has nothing to do."""
        if INCOMPLETE.is_dir() and any(INCOMPLETE.iterdir()):
            return False
        site = f"site/{self.plan.folder}/index.html"
        files = [*self.plan.promised(""), *steps.list_page_marks(self.plan), site]
        if not all(map(os.path.isfile, files)):
            return False
        not_requested = set()
        for scope in steps.list_scopes(self.plan):
            if scope not in self.plan.pages(""):
                not_requested.add(steps.record_of_verdicts(self.plan, scope))
        due = {record for record, reason in self.decisions.items() if reason}
        return due <= not_requested


READY: PlannedRun | None = None
"""The run that `./run` has planned, if it has planned one."""


def plan_run(
    root: Path,
    config: Mapping[str, Any],
    files: Iterable[Path],
    targets: Iterable[str] | None,
) -> PlannedRun:
    """Plan a run, unless `./run` has planned one from the same configuration.

    Parameters
    ----------
    root : Path
        The checkout.
    config : dict
        The merged configuration.
    files : iterable of Path
        The files from which it was merged.
    targets : iterable of str or None
        Targets of the run, see `early_check.TARGETS`.

    Raises
    ------
    ValueError
        If a file has a mistake; one line.
    """
    if READY is not None and READY.config == config:
        return READY
    fresh = plan.of_run(root, config, files)
    scopes = [] if targets is None else fresh.find_scopes(targets)
    return PlannedRun(config, *steps.decide(fresh, scopes))


def search_first(variable: str, folders: Iterable[str]) -> None:
    """Put folders at the front of a search path in the environment, each once."""
    before = os.environ.get(variable, "")
    path = dict.fromkeys(folders)
    for folder in before.split(os.pathsep):
        if folder:
            path[folder] = None
    os.environ[variable] = os.pathsep.join(path)
