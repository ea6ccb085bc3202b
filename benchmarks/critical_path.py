"""How long a full run of every paper takes on 1 to 1,024 cores: ``python benchmarks/critical_path.py``.

The graph is the workflow's own (the files that `frame.plan` names), the seconds are those of
``workflow/recorded/jobs.csv``. Jobs are scheduled as a list: whenever a core is free it takes, of the jobs
whose inputs are there, the one with the longest way to the end before it. On a cluster a submission
(the jobs that `Plan.group` puts together) is one job, and costs `QUEUE` seconds more than its work.
Writes ``benchmarks/recorded/critical_path.json``, and picture and table of ``docs/cluster.md``.
"""

import heapq
import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pages

from reproduction.frame import costs
from reproduction.frame.plan import Plan
from reproduction.reference.plans import configured, planned

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parents[1]
CORES = (1, 2, 16, 128, 1024)
LIGHT = {"fetch": 10.0, "prepare": 3.0, "collect": 1.0, "draw": 3.0, "judge": 3.0, "site": 30.0}
"""Seconds of the light rules, nobody's record: imports are most of it."""

QUEUE = 30.0
"""Seconds that a submission waits, starts Snakemake and waits to be seen, on a cluster with free nodes."""


@dataclass
class Job:
    """A node of the graph: its seconds, the names of those before it, and with whom it is submitted."""

    kind: str
    seconds: float
    needs: list[str] = field(default_factory=list)
    group: tuple[str, int] = ("", 1)
    measured: bool = True


def graph(plan: Plan) -> dict[str, Job]:
    """Every job of a full run by its name, each after those that it needs."""
    jobs: dict[str, Job] = {}
    for dataset in plan.data_sets():
        jobs[f"fetch {dataset}"] = Job("fetch", LIGHT["fetch"])
        jobs[f"data/prepared/{dataset}.npz"] = Job("prepare", LIGHT["prepare"], [f"fetch {dataset}"])
    experiments = [name for name, a in plan.shown.items() if "protocol" in a.content]
    for name in experiments:
        _experiment(plan, name, jobs)
    for name in plan.shown:
        jobs[f"draw {name}"] = Job("draw", LIGHT["draw"], plan.tables(name))
    for scope in plan.pages(""):
        tables = [f"{plan.results}/{name}/table.csv" for name in plan.judged(scope)]
        jobs[f"judge {scope}"] = Job("judge", LIGHT["judge"], tables)
    ends = [name for name, job in jobs.items() if job.kind in ("draw", "judge")]
    jobs["site"] = Job("site", LIGHT["site"], ends)
    return jobs


def _experiment(plan: Plan, name: str, jobs: dict[str, Job]) -> None:
    artifact, table = plan.artifact(name), f"{plan.results}/{name}/table.csv"
    if len(artifact.cells) * len(artifact.blocks) == 1:
        jobs[table] = _measured(plan, name, plan.only_cell(name), "experiment", plan.all_data(name))
        return
    for cell in artifact.cells:
        tuned = plan.tuned(name, [cell])
        for file in tuned:
            jobs[file] = _measured(plan, name, cell, "tune", plan.data(name, cell))
        for block in range(len(artifact.blocks)):
            needs = plan.data(name, cell) + tuned
            jobs[f"{name} {cell} {block}"] = _measured(plan, name, cell, "run", needs)
    parts = [job for job in jobs if job.startswith(f"{name} ")]
    jobs[table] = Job("collect", LIGHT["collect"], parts)


def _measured(plan: Plan, name: str, cell: str, kind: str, needs: list[str]) -> Job:
    """A job with its recorded seconds; without a record, the mean of the artifact's, or else the paper's."""
    group = (f"experiment-{name}", 1) if kind == "experiment" else plan.group(name, cell, kind)
    records = plan.costs.measured
    kinds = (
        ("experiment", "run") if kind == "experiment" else (kind,)
    )  # a run without tuning is an experiment
    for exact in kinds:
        if cost := records.get((name, cell, exact)) or (
            exact == "experiment" and records.get((name, "", exact))
        ):
            return Job(kind, max(cost.seconds, 1.0), needs, group)
    paper = f"{name.partition('/')[0]}/"
    same = [cost for (artifact, _, k), cost in records.items() if artifact == name and k in kinds]
    other = [cost for (artifact, _, k), cost in records.items() if artifact.startswith(paper) and k in kinds]
    known = same or other or list(records.values())
    seconds = sum(c.seconds * c.jobs for c in known) / sum(c.jobs for c in known)
    return Job(kind, seconds, needs, group, measured=False)


def submitted(jobs: dict[str, Job]) -> dict[str, Job]:
    """The graph in which those that are submitted together are one job, as the profile for Slurm cuts it."""
    where: dict[str, str] = {}
    members: dict[str, list[str]] = {}
    filled: Counter[str] = Counter()
    for name, job in jobs.items():
        group, size = job.group
        where[name] = f"{group} {filled[group] // size}" if size > 1 else name
        filled[group] += 1
        members.setdefault(where[name], []).append(name)
    merged = {}
    for name, inside in members.items():
        first = jobs[inside[0]]
        queue = QUEUE if first.kind not in LIGHT else 0.0
        needs = {where[before] for each in inside for before in jobs[each].needs}
        merged[name] = Job(first.kind, queue + sum(jobs[each].seconds for each in inside), sorted(needs))
    return merged


def longest(jobs: dict[str, Job]) -> tuple[dict[str, float], dict[str, list[str]]]:
    """(seconds from the start of a job to the end of the run, who follows it) for every job."""
    after: dict[str, list[str]] = {name: [] for name in jobs}
    for name, job in jobs.items():
        for before in job.needs:
            after[before].append(name)
    way: dict[str, float] = {}

    def walk(name: str) -> float:
        if name not in way:
            way[name] = jobs[name].seconds + max(map(walk, after[name]), default=0.0)
        return way[name]

    for name in jobs:
        walk(name)
    return way, after


def critical_path(jobs: dict[str, Job]) -> list[str]:
    """The names of the longest chain."""
    way, after = longest(jobs)
    path = [max(way, key=lambda name: way[name])]
    while after[path[-1]]:
        path.append(max(after[path[-1]], key=lambda name: way[name]))
    return path


def makespan(jobs: dict[str, Job], cores: int) -> float:
    """Seconds until the last job ends on so many cores, the longest way to the end first."""
    way, after = longest(jobs)
    waiting = {name: len(job.needs) for name, job in jobs.items()}
    ready = [(-way[name], name) for name, count in waiting.items() if not count]
    heapq.heapify(ready)
    running: list[tuple[float, str]] = []
    now = 0.0
    while ready or running:
        while ready and len(running) < cores:
            _, name = heapq.heappop(ready)
            heapq.heappush(running, (now + jobs[name].seconds, name))
        now, ended = heapq.heappop(running)
        for follower in after[ended]:
            waiting[follower] -= 1
            if not waiting[follower]:
                heapq.heappush(ready, (-way[follower], follower))
    return now


def described(jobs: dict[str, Job]) -> dict[str, Any]:
    """What is known of a graph: how many jobs, their seconds, its longest chain, its time on every size."""
    total, path = sum(job.seconds for job in jobs.values()), critical_path(jobs)
    chain = sum(jobs[name].seconds for name in path)
    times = {cores: makespan(jobs, cores) for cores in CORES}
    return {
        "jobs": len(jobs),
        "of_computation": sum(job.kind not in LIGHT for job in jobs.values()),
        "seconds": round(total),
        "critical_path": [{"job": name, "seconds": round(jobs[name].seconds, 1)} for name in path],
        "critical_seconds": round(chain),
        "makespan": {str(cores): round(seconds) for cores, seconds in times.items()},
        "limit": {str(c): "work" if total / c > chain else "longest chain" for c in CORES},
    }


def result(plan: Plan) -> dict[str, Any]:
    """The run as single jobs on one machine, and as submissions to a cluster."""
    jobs = graph(plan)
    computed = [job for job in jobs.values() if job.kind not in LIGHT]
    by_paper: dict[str, float] = defaultdict(float)
    for name, job in jobs.items():
        if job.kind not in LIGHT:
            by_paper[name.removeprefix(f"{plan.results}/").partition("/")[0]] += job.seconds
    return {
        "measured_jobs": sum(job.measured for job in computed),
        "measured_share": round(
            sum(j.seconds for j in computed if j.measured) / sum(j.seconds for j in computed), 3
        ),
        "seconds_by_paper": {paper: round(seconds) for paper, seconds in sorted(by_paper.items())},
        "queue_seconds": QUEUE,
        "single": described(jobs),
        "submitted": described(submitted(jobs)),
    }


def block(found: dict[str, Any]) -> str:
    """The page's table: minutes on every number of cores, and what the longest chain is."""
    single, together = found["single"], found["submitted"]
    times = [
        [
            cores,
            *(f"{run['makespan'][str(cores)] / 60:,.0f} min" for run in (single, together)),
            together["limit"][str(cores)],
        ]
        for cores in CORES
    ]
    head = (
        "cores",
        f"{single['of_computation']} jobs on one machine",
        f"{together['of_computation']} submissions",
        "limited by",
    )
    chain = ", then ".join(f"{step['job']} ({step['seconds']:.0f} s)" for step in single["critical_path"])
    measured = f"{found['measured_jobs']} of {single['of_computation']} jobs"
    share = f"{100 * found['measured_share']:.0f} % of the computing time"
    return (
        f"{pages.table(head, times)}\n\n{measured}, {share}, are measured; "
        f"the others are given the mean of their artifact, or else their paper. The longest chain is {chain}."
    )


def drawn(found: dict[str, Any]) -> "Figure":
    """Minutes against cores for both, with the two bounds: the work shared out, and the longest chain."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.6), layout="constrained")
    axes = figure.subplots()
    for key, colour, label in (
        ("single", "#0072B2", "jobs one by one"),
        ("submitted", "#D55E00", "submissions to a cluster"),
    ):
        run = found[key]
        minutes = [run["makespan"][str(cores)] / 60 for cores in CORES]
        axes.plot(CORES, minutes, "o-", color=colour, label=label)
        axes.axhline(run["critical_seconds"] / 60, color=colour, linewidth=0.8, linestyle=":")
    shared = [found["single"]["seconds"] / 60 / cores for cores in CORES]
    axes.plot(CORES, shared, "--", color="#777777", linewidth=0.8, label="the work, shared out evenly")
    axes.set(xscale="log", yscale="log", xlabel="cores", ylabel="minutes", xticks=CORES, xticklabels=CORES)
    axes.set_ylim(bottom=0.5)
    axes.minorticks_off()
    axes.legend(frameon=False, title="dotted: the longest chain")
    return figure


def main() -> None:
    from reproduction.figures.style import context, save

    plan = planned(ROOT, configured(ROOT, "full"))
    plan = Plan(plan.config, plan.loaded, plan.supply, costs.read(ROOT / "workflow/recorded/jobs.csv"))
    found = result(plan)
    recorded = ROOT / "benchmarks/recorded"
    recorded.mkdir(exist_ok=True)
    (recorded / "critical_path.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    with context():
        save(drawn(found), [ROOT / "docs/_static/critical_path.svg"])
    pages.write(ROOT / "docs/cluster.md", "critical path", block(found))
    print(block(found))


if __name__ == "__main__":
    main()
