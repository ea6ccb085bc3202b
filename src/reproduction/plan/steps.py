"""The jobs of a plan and what decides about each, in the order in which results are read.

The rules of the workflow say which script makes a result, from and into which files; a step says
what the script must do. It has the name of its record, which is next to the result.
"""

import os
from collections.abc import Iterable, Iterator, Sequence

from reproduction.paths import CHECKOUT
from reproduction.plan import currency, early_check
from reproduction.plan.currency import Decisions, Step
from reproduction.plan.plan import Plan, leave_out, without_wrong_code
from reproduction.spec.strict_yaml import Content

NOT_DRAWN = ("papers", "data")
"""Keys of the configuration that do not change a drawing."""


def list_steps(plan: Plan) -> Iterator[Step]:
    """Yield all steps of a plan."""
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


def decide(plan: Plan, scopes: Iterable[str] = ()) -> tuple[Plan, list[Step], Decisions]:
    """Decide which jobs run, and check the code that they import.

    Parameters
    ----------
    plan : Plan
        The plan.
    scopes : iterable of str
        Of what will run, see `Plan.find_scopes`: there the methods and the noise of users are
        tried. A dry run has none.

    Returns
    -------
    plan : Plan
        Without the papers whose code has a mistake.
    steps : list of Step
        Its steps.
    decisions : Decisions
        Why they run.
    """
    steps = list(list_steps(plan))
    decisions = currency.decide(steps)
    due = {step.artifact: None for step in steps if step.artifact and decisions[step.record]}
    for name in plan.shown:
        if not all(map(os.path.isfile, plan.drawings(name))):
            due[name] = None  # Snakemake makes this drawing
    checked = without_wrong_code(plan, due)
    computed = [name for name in due if _is_computed(name, steps, decisions)]
    requested = [name for name in computed if f"{name}/".startswith(tuple(scopes))]
    shown = [name for name in requested if name in checked.shown]
    mistakes = early_check.find_mistakes(checked, shown)
    if mistakes:
        checked = leave_out(checked, mistakes)
    if checked is plan:
        return plan, steps, decisions
    steps = list(list_steps(checked))
    return checked, steps, currency.decide(steps)


def _is_computed(name: str, steps: Iterable[Step], decisions: Decisions) -> bool:
    """Decide whether a job runs whose methods are of an artifact, and not its drawing alone."""
    for step in steps:
        if step.artifact == name and decisions[step.record] and "drawing" not in step.request:
            return True
    return False


def _of_data(plan: Plan, dataset: str) -> Iterator[Step]:
    entry = plan.entry(dataset)
    spec = plan.users(dataset)
    registry = os.path.relpath(entry.file)
    yield Step(
        record=f"data/raw/{dataset}/record.json",
        request={"dataset": dataset, "entry": entry.decisive(), "local": spec},
        inputs=tuple(plan.local(dataset)),
        context={"registry": registry, "options": plan.fetch_options(dataset)},
    )
    yield Step(
        record=f"data/prepared/{dataset}.record.json",
        request={"dataset": dataset},
        inputs=(f"data/raw/{dataset}/source.json",),
    )


def _of_experiment(plan: Plan, name: str) -> Iterator[Step]:
    """Yield the steps of an experiment: one, or those of its cells and one that collects them."""
    artifact = plan.artifact(name)
    folder = f"{plan.results}/{name}"
    description = plan.describe_result(name)
    if plan.is_single(name):
        (cell,) = artifact.cells
        yield Step(
            record=f"{folder}/record.json",
            request=plan.job(name) | {"repetitions": plan.repetitions(name)},
            inputs=tuple(plan.data(name)),
            context={"cell": cell} | _run_twice(plan, name) | {"about": description},
            artifact=name,
        )
        return
    for cell in artifact.cells:
        yield from _of_cell(plan, name, cell)
    inputs = [*plan.parts(name), *plan.parts(name, "points.npz")]
    inputs += plan.tuned(name)
    inputs += plan.data(name)
    yield Step(
        record=f"{folder}/record.json",
        request=plan.job(name),
        inputs=tuple(inputs),
        context={"about": description},
    )


def _of_cell(plan: Plan, name: str, cell: str) -> Iterator[Step]:
    """Yield the steps of a cell: its tuning, if the protocol tunes, then its blocks."""
    folder = f"{plan.results}/{name}/cells/{cell}"
    job = plan.job(name, cell)
    data = plan.data(name, cell)
    tuned = plan.tuned(name, [cell])
    context = {"cell": cell}
    if tuned:
        yield Step(
            record=f"{folder}/tuned.record.json",
            request=job,
            inputs=tuple(data),
            context=context,
            artifact=name,
        )
    for block in range(len(plan.artifact(name).blocks)):
        yield Step(
            record=f"{folder}/{block}.record.json",
            request=job | {"repetitions": plan.repetitions(name, block)},
            inputs=(*data, *tuned),
            context=context | _run_twice(plan, name, block),
            artifact=name,
        )


def _run_twice(plan: Plan, name: str, block: int = 0) -> Content:
    """Mark a job that runs its first repetition twice; other jobs get no mark."""
    if plan.is_run_twice(name) and block == 0:
        return {"is_run_twice": True}
    return {}


def _of_drawing(plan: Plan, name: str) -> Step:
    artifact = plan.artifact(name)
    config = {key: value for key, value in plan.config.items() if key not in NOT_DRAWN}
    context = {
        "name": name,
        "files": [str(shown.file) for shown in plan.artifacts_shown(artifact)],
        "tables": plan.drawn(name),
        "drawings": plan.drawings(name),
        "scale": plan.config["scale"],
        "only": plan.config.get("only"),
    }
    return Step(
        record=f"{plan.figures}/{name}.record.json",
        request={"drawing": plan.drawing(name), "config": config},
        inputs=tuple(plan.drawn(name).values()),
        context=context,
        artifact=name,
    )


def list_scopes(plan: Plan) -> Sequence[str]:
    """List what is judged together: each paper, and each artifact with something to judge."""
    candidates = []
    for artifact in plan.shown.values():
        candidates.append(f"{artifact.paper}/")
    for name in plan.shown:
        candidates.append(f"{name}/")
    scopes = []
    for scope in dict.fromkeys(candidates):
        if plan.judged(scope):
            scopes.append(scope)
    return scopes


def record_of_verdicts(plan: Plan, scope: str) -> str:
    """Name the record of the verdicts of a scope."""
    return f"{plan.results}/{scope}verdicts.record.json"


def _of_verdicts(plan: Plan, scope: str) -> Step:
    judged = plan.judged(scope)
    inputs = plan.judged_files(scope, "table.csv")
    inputs += plan.judged_files(scope, "points.npz")
    inputs += plan.published_data(scope)
    expected = {name: plan.expectations(f"{name}/") for name in judged}
    return Step(
        record=record_of_verdicts(plan, scope),
        request={"claims and published values": expected, "scale": plan.config["scale"]},
        inputs=tuple(inputs),
        context={"artifacts": [os.path.relpath(artifact.file) for artifact in judged.values()]},
    )


def list_page_marks(plan: Plan) -> list[str]:
    """List the files that mark that the page of the run shows a paper, one for each paper."""
    papers = {artifact.paper for artifact in plan.shown.values()}
    logs = f"logs/{plan.folder}"
    files = []
    for paper in sorted(papers):
        files.append(f"{logs}/{paper}/page.txt")
    return files


def archived_drawings() -> list[str]:
    """List the archived figures and tables, which the page of a run shows until it has new ones."""
    return sorted(os.path.relpath(file) for file in CHECKOUT.glob("figures/reference/*/*.*"))


def _of_site(plan: Plan) -> Step:
    return Step(
        record=f"site/{plan.folder}/record.json",
        request={"texts": plan.texts_digest(), "scale": plan.config["scale"]},
        inputs=(*plan.promised(""), *archived_drawings()),
    )
