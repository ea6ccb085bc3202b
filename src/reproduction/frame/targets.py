"""Names to ask for: each paper, each artifact as ``<paper>_<artifact>``, and why some cannot be had."""

import difflib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from reproduction.artifact import allowed, check_name
from reproduction.frame.plan import Plan


def check_names(plan: Plan) -> None:
    """Every name that becomes part of a path or a command is a plain word, and cells have different ones.

    Raises
    ------
    ValueError : one line with the file, the name and what is allowed.
    """
    for artifact in plan.artifacts.values():
        check_name("the paper", artifact.paper, artifact.file.parent)
        check_name("the artifact", artifact.name, artifact.file)
        for dataset in artifact.datasets:
            check_name("the data set", dataset, artifact.file)
        if artifact.protocol:
            _ = artifact.cells  # raises if two have the same name


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
    for paper in sorted(filter(allowed, folders)):
        for_one_run = f"--config 'papers=[{','.join([*listed, paper])}]'"
        why = f"`papers` in config/config.yaml does not list {paper}; add it, or for one run: {for_one_run}"
        stems = [file.stem for file in sorted((folder / paper).glob("*.yaml"))]
        reasons |= dict.fromkeys([paper, *(f"{paper}_{stem}" for stem in stems if allowed(stem))], why)
    return reasons


COMMANDS = ("audit", "compare", "docs", "help", "reference", "site", "test")
"""What `./run` does beside making targets."""


def unknown(name: str, known: Iterable[str]) -> str:
    """The message for a name that is no target, with the nearest ones."""
    commands = [f"the command ./run {near}" for near in difflib.get_close_matches(name, COMMANDS, n=1)]
    near = commands + difflib.get_close_matches(name, known, n=3)
    hint = f"did you mean {', '.join(near)}?" if near else "it would be a paper, or <paper>_<artifact>"
    return f"there is no target {name}; {hint}"


WILDCARDS = ("artifact", "cell", "block", "dataset", "scope", "unknown")
"""Those of the rules."""


def rejoined(wildcards: dict[str, str]) -> dict[str, str]:
    """The wildcards, with the pieces of a value that was cut at its commas together again.

    Snakemake 9 tells a cluster job ``cell="datasets=a,noise=b"``, and reads there two wildcards, ``cell`` and
    ``noise``. What is no wildcard of the rules is a piece of the one before it.
    """
    whole: dict[str, str] = {}
    last = ""
    for key, value in wildcards.items():
        if key in WILDCARDS:
            whole[key], last = value, key
        else:
            whole[last] += f",{key}={value}"
    return whole


def rejoining(new_job: Callable[..., Any]) -> Callable[..., Any]:
    """`DAG.new_job` that is given `rejoined` wildcards."""

    def wrapped(self: Any, rule: Any, *rest: Any, **named: Any) -> Any:
        if named.get("wildcards_dict"):
            named["wildcards_dict"] = rejoined(named["wildcards_dict"])
        return new_job(self, rule, *rest, **named)

    return wrapped
