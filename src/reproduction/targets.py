"""Names to ask for: each paper, each artifact as ``<paper>_<artifact>``, and why some cannot be had."""

import difflib
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NoReturn

from reproduction.artifact import NAME
from reproduction.plan import Plan


def scopes(plan: Plan) -> dict[str, str]:
    """Target -> the scope (see `Plan.below`) of the files that it asks for."""
    papers = {artifact.paper: f"{artifact.paper}/" for artifact in plan.artifacts.values()}
    return papers | {name.replace("/", "_"): f"{name}/" for name in plan.shown}


def refusals(plan: Plan, folder: Path) -> dict[str, str]:
    """Target -> why it cannot be made: it lacks a data set, or ``papers`` does not list its paper.

    folder: of the experiments, one folder per paper; the files of papers that are not listed are not read.
    """
    reasons = {name.replace("/", "_"): f"{name} cannot run: {why}" for name, why in plan.left_out.items()}
    listed = plan.config["papers"]
    folders = (path.name for path in folder.iterdir() if path.is_dir() and path.name not in listed)
    for paper in sorted(filter(NAME.fullmatch, folders)):
        for_one_run = f"--config 'papers=[{','.join([*listed, paper])}]'"
        why = f"`papers` in config/config.yaml does not list {paper}; add it, or for one run: {for_one_run}"
        stems = [file.stem for file in sorted((folder / paper).glob("*.yaml"))]
        reasons |= dict.fromkeys([paper, *(f"{paper}_{stem}" for stem in stems if NAME.fullmatch(stem))], why)
    return reasons


COMMANDS = ("audit", "compare", "docs", "help", "reference", "site", "test")
"""What `./run` does beside making targets."""


def refuse(name: str, known: Iterable[str], reasons: Mapping[str, str]) -> NoReturn:
    """End the run with why a target cannot be made, or with the names that come near to it."""
    sys.exit(reasons.get(name) or unknown(name, ["all", "data", *known, *reasons]))


def unknown(name: str, known: Iterable[str]) -> str:
    """The message for a name that is not a target, with the nearest ones."""
    commands = [f"the command ./run {near}" for near in difflib.get_close_matches(name, COMMANDS, n=1)]
    near = commands + difflib.get_close_matches(name, known, n=3)
    hint = f"did you mean {', '.join(near)}?" if near else "it would be a paper, or <paper>_<artifact>"
    return f"there is no target {name}; {hint}"


def asked(plan: Plan, words: Iterable[str]) -> list[str]:
    """The scopes of some targets; of none, or of ``all``, the one of everything. Files have none."""
    known, given = scopes(plan), list(words)
    return [""] if not given or "all" in given else [known[word] for word in given if word in known]


def drawn_together(plan: Plan, words: Iterable[str]) -> dict[str, list[str]]:
    """Scope -> the artifacts that one job draws: all of a paper, or one that the command line asks for alone.

    words : of the command line. Whatever they are, every artifact is drawn by one job.
    """
    known = scopes(plan)
    asked = {known[word].strip("/") for word in words if word in known}
    alone = [name for name in plan.shown if name in asked and name.partition("/")[0] not in asked]
    together: dict[str, list[str]] = {name: [name] for name in alone}
    for name in plan.shown:
        if name not in alone:
            together.setdefault(name.partition("/")[0], []).append(name)
    return together
