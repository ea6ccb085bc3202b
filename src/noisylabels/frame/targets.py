"""Names to ask for: each paper, each artifact as ``<paper>_<artifact>``, and why some cannot be had."""

from pathlib import Path

from noisylabels.frame.plan import Plan


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
    for paper in sorted(path.name for path in folder.iterdir() if path.is_dir() and path.name not in listed):
        for_one_run = f"--config 'papers=[{','.join([*listed, paper])}]'"
        why = (
            f"config/config.yaml does not list {paper} under `papers`; add it, or for one run: {for_one_run}"
        )
        names = [f"{paper}_{file.stem}" for file in sorted((folder / paper).glob("*.yaml"))]
        reasons |= dict.fromkeys([paper, *names], why)
    return reasons
