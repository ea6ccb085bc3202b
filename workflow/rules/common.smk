"""What the rules share: the environment of the jobs, the checked configuration, and the plan made from it."""

import atexit
import json
import os
import sys
import time
from pathlib import Path

BEGAN = time.time()
ROOT = Path(workflow.basedir)
LIBRARY = ROOT / "src"
SCRIPTS = LIBRARY / "scripts"
EXPERIMENTS = ROOT / "config/experiments"
REGISTRY = ROOT / "config/datasets.yaml"
RECORDED = ROOT / "workflow/recorded/jobs.csv"
ENVIRONMENT = ROOT / "environment.yml"

sys.path.insert(0, str(LIBRARY))
from reproduction import artifact as artifacts
from reproduction import (
    code_digest,
    configuration,
    costs,
    plan,
    provenance,
    run_summary,
    targets,
)
from reproduction.data import fetch as fetching, registry
from reproduction.data_sources import DataSources

# What reaches the jobs: this library, this interpreter, one thread each (more threads change the last bits of results).
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [str(LIBRARY), os.environ.get("PYTHONPATH")])
)
os.environ["PATH"] = os.pathsep.join(
    [str(Path(sys.executable).parent), os.environ["PATH"]]
)
THREAD_VARIABLES = [
    f"{library}_NUM_THREADS"
    for library in ["OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB_MAXIMUM", "NUMEXPR"]
]
os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
# Again on the command line of a job that occupies several cores: Snakemake sets the variables to its `threads`.
ONE_THREAD = " ".join(f"{variable}=1" for variable in THREAD_VARIABLES)
os.environ["MPLBACKEND"] = "Agg"
os.environ["NUMBA_CACHE_DIR"] = str(ROOT / ".cache/numba" / code_digest.kernel_digest())
# Numbers in a list on the command line arrive as texts too.
if isinstance(config.get("seeds"), list):
    config["seeds"] = [int(s) if str(s).isdigit() else s for s in config["seeds"]]
# One name for the whole run: a host that one download found unreachable is not asked again by the next.
os.environ.setdefault("NOISYLABELS_RUN", f"{os.getpid()}-{time.time()}")

# Inside braces on the command line, as in --config 'data={offline: true}', true arrives as a text.
if isinstance(config.get("data"), dict) and config["data"].get("offline") in (
    "true",
    "false",
):
    config["data"]["offline"] = config["data"]["offline"] == "true"


def planned():
    """The plan of this configuration; a mistake in a file ends the run with one line that names it."""
    try:
        files = [ROOT / "config/config.yaml", *workflow.overwrite_configfiles]
        configuration.examine(config, files)
        loaded = artifacts.load_all(EXPERIMENTS, config["papers"], config["scale"])
        entries, local = registry.load_registry(REGISTRY), config["data"]["local"]
        configuration.examine_local(local, entries, EXPERIMENTS)
        configuration.examine_files(local)
        entries = registry.with_users(entries, local)
        supply = DataSources(entries, config["data"])
        made = plan.Plan(config, loaded, supply, costs.read(RECORDED))
        made.left_out  # names a data set that is not in the registry
        return made
    except (ValueError, OSError) as error:
        sys.exit(str(error))  # an error of Snakemake would add lines about its rules


PLAN = planned()
if workflow.is_main_process:
    atexit.register(code_digest.save)
SCALE = config["scale"]
CONFIG = json.dumps(config, sort_keys=True)
LOCK = ROOT / "runtime.lock"
# Parameters of rules: other versions of these packages make their outputs again.
NUMERIC = provenance.packages(provenance.NUMERIC, LOCK)
DRAWING = provenance.packages(provenance.DRAWING, LOCK)
RESULTS, FIGURES, LOGS = PLAN.results, PLAN.figures, f"logs/{SCALE}"


wildcard_constraints:
    artifact="[^/]+/[^/]+",
    cell="[^/]+",
    block="[0-9]+",
    dataset="[A-Za-z0-9_+][A-Za-z0-9._+-]*",


def threads_of(wildcards):
    """A job that measures time gets all cores, so that nothing runs beside it; it uses one of them."""
    measured = PLAN.artifact(wildcards.artifact).content.get("measured")
    return workflow.cores or 1 if measured else 1


# On a cluster


def asked(resource, job):
    """How much of a resource a job asks of a cluster for; the second attempt asks for twice as much."""

    def ask(wildcards, attempt):
        cell = getattr(wildcards, "cell", "")
        return PLAN.resources(wildcards.artifact, cell, job, attempt)[resource]

    return ask


def grouped(job):
    """With which others a job is submitted, so that ten minutes of work make one submission."""

    def group(wildcards):
        if workflow.local_exec or not workflow.is_main_process:
            return None
        name, size = PLAN.group(wildcards.artifact, wildcards.cell, job)
        # The name of a group says which jobs may be together; what the profile says of x40, x20 ... how many.
        workflow.parent_groupids[name] = f"x{size}"
        return name if size > 1 else None

    return group
