"""The jobs of a plan with what decides about each, those first whose results others read.

The rules of the workflow say which script makes a result, from and into which files; a step says
what the script is asked for. It has the name of its record, which is next to the result.
"""

import os
from collections.abc import Iterator, Sequence

from reproduction.paths import CHECKOUT
from reproduction.plan.currency import Step
from reproduction.plan.plan import Plan

NOT_DRAWN = ("papers", "data")
"""Keys of the configuration that change no drawing."""


def list_steps(plan: Plan) -> Iterator[Step]:
    """All steps of a plan."""
    for dataset in plan.data_sets():
        yield from _of_data(plan, dataset)
    for name, artifact in plan.shown.items():
        if artifact.protocol:
            yield from _of_experiment(plan, name)
    for name in plan.shown:
        yield _of_drawing(plan, name)
    for scope in list_scopes(plan):
        yield _of_verdicts(plan, scope)
    yield _of_site(plan)


def _of_data(plan: Plan, dataset: str) -> Iterator[Step]:
    entry = plan.entry(dataset)
    spec = plan.users(dataset)
    registry = os.path.relpath(entry.file)
    asked = {"dataset": dataset, "entry": entry.decisive(), "local": spec}
    given = {"registry": registry, "options": plan.fetch_options(dataset)}
    yield Step(f"data/raw/{dataset}/record.json", asked, tuple(plan.local(dataset)), given)
    raw = f"data/raw/{dataset}/source.json"
    yield Step(f"data/prepared/{dataset}.record.json", {"dataset": dataset}, (raw,))


def _of_experiment(plan: Plan, name: str) -> Iterator[Step]:
    artifact = plan.artifact(name)
    folder = f"{plan.results}/{name}"
    about = {"about": plan.about(name)}
    twice = {"is_run_twice": True} if plan.is_run_twice(name) else {}
    if plan.is_single(name):
        cell = "".join(artifact.cells)
        asked = plan.job(name) | {"repetitions": plan.repetitions(name)}
        given = {"cell": cell, **twice, **about}
        yield Step(f"{folder}/record.json", asked, tuple(plan.data(name)), given)
        return
    for cell in artifact.cells:
        job = plan.job(name, cell)
        data = plan.data(name, cell)
        tuned = plan.tuned(name, [cell])
        if tuned:
            yield Step(f"{folder}/cells/{cell}/tuned.record.json", job, tuple(data), {"cell": cell})
        for block in range(len(artifact.blocks)):
            asked = job | {"repetitions": plan.repetitions(name, block)}
            record = f"{folder}/cells/{cell}/{block}.record.json"
            yield Step(record, asked, (*data, *tuned), {"cell": cell, **twice})
    parts = [*plan.parts(name), *plan.parts(name, "points.npz")]
    parts += [*plan.tuned(name), *plan.data(name)]
    yield Step(f"{folder}/record.json", plan.job(name), tuple(parts), about)


def _of_drawing(plan: Plan, name: str) -> Step:
    artifact = plan.artifact(name)
    config = {key: value for key, value in plan.config.items() if key not in NOT_DRAWN}
    asked = {"drawing": plan.drawing(name), "config": config}
    given = {
        "files": [str(each.file) for each in plan.artifacts_shown(artifact)],
        "tables": plan.drawn(name),
        "drawings": plan.drawings(name),
        "scale": plan.config["scale"],
        "only": plan.config.get("only"),
    }
    tables = tuple(plan.drawn(name).values())
    return Step(f"{plan.figures}/{name}.record.json", asked, tables, given)


def list_scopes(plan: Plan) -> Sequence[str]:
    """What is judged together: everything, each paper and each artifact with something to judge."""
    papers = [f"{artifact.paper}/" for artifact in plan.shown.values()]
    scopes = dict.fromkeys(["", *papers, *(f"{name}/" for name in plan.shown)])
    return [scope for scope in scopes if plan.judged(scope)]


def _of_verdicts(plan: Plan, scope: str) -> Step:
    judged = plan.judged(scope)
    files = [*plan.judged_files(scope, "table.csv"), *plan.judged_files(scope, "points.npz")]
    expected = {name: plan.expectations(f"{name}/") for name in judged}
    given = {"artifacts": [os.path.relpath(artifact.file) for artifact in judged.values()]}
    asked = {"claims and published values": expected, "scale": plan.config["scale"]}
    inputs = (*files, *plan.published_data(scope))
    return Step(f"{plan.results}/{scope}verdicts.record.json", asked, inputs, given)


def archived_drawings() -> list[str]:
    """The archived figures and tables, which the page of a run shows where it has none."""
    return sorted(os.path.relpath(file) for file in CHECKOUT.glob("figures/reference/*/*.*"))


def _of_site(plan: Plan) -> Step:
    inputs = (*plan.promised(""), *archived_drawings())
    asked = {"texts": plan.texts_digest(), "scale": plan.config["scale"]}
    return Step(f"site/{plan.folder}/record.json", asked, inputs)
