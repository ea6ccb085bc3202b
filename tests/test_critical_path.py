"""The simulation of a full run: its graph is the workflow's, and its times lie between their bounds."""

import importlib
import sys
from pathlib import Path

import pytest

from reproduction.frame import costs
from reproduction.frame.plan import Plan
from reproduction.reference.plans import configured, planned

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def simulation():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    yield importlib.import_module("critical_path")
    sys.path.remove(str(ROOT / "benchmarks"))


@pytest.fixture(scope="module")
def plan():
    made = planned(ROOT, configured(ROOT, "smoke") | {"papers": ["ors", "robust_sgd"], "scale": "full"})
    return Plan(made.config, made.loaded, made.supply, costs.read(ROOT / "workflow/recorded/jobs.csv"))


def test_a_known_graph(simulation):
    """Two jobs of 3 s side by side, then one of 2 s; apart from them one of 4 s."""
    jobs = {
        name: simulation.Job("run", seconds)
        for name, seconds in (("a", 3.0), ("b", 3.0), ("c", 2.0), ("d", 4.0))
    }
    jobs["c"].needs = ["a", "b"]
    assert [simulation.makespan(jobs, cores) for cores in (1, 2, 3)] == [12, 7, 5]
    assert simulation.critical_path(jobs) == ["a", "c"]


def test_every_job_is_known_by_those_that_need_it_and_no_time_beats_its_bounds(simulation, plan):
    jobs = simulation.graph(plan)
    assert {need for job in jobs.values() for need in job.needs} <= set(jobs)
    for graph in (jobs, simulation.submitted(jobs)):
        found = simulation.described(graph)
        total, chain = (found[key] for key in ("seconds", "critical_seconds"))
        for cores, seconds in found["makespan"].items():
            assert (
                max(total / int(cores), chain) - 1 <= seconds <= total / int(cores) + chain + 1
            )  # Graham (1969)
        assert found["makespan"]["1"] == total


def test_submissions_hold_every_job_once_and_only_their_queue_is_added(simulation, plan):
    jobs = simulation.graph(plan)
    merged = simulation.submitted(jobs)
    computed = [job for job in merged.values() if job.kind not in simulation.LIGHT]
    work = sum(job.seconds for job in jobs.values())
    assert sum(job.seconds for job in merged.values()) == pytest.approx(
        work + simulation.QUEUE * len(computed)
    )
    assert len(computed) < sum(job.kind not in simulation.LIGHT for job in jobs.values())
