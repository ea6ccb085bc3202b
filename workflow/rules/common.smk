"""What the rules share: the environment of the jobs, the checked configuration, and the plan made from it."""

import os
import re
import signal
import sys
import time
from pathlib import Path

BEGAN = time.time()
ROOT = Path(workflow.current_basedir).parents[1]

sys.path.insert(0, str(ROOT / "src"))
from reproduction.plan import (
    code_digest,
    currency,
    early_check,
    plan,
    planned_run,
    steps,
)
from reproduction.run import compute_ahead, console, records
from reproduction.show.site import run_page
from reproduction.spec.papers import list_code_folders

# The jobs get this library, this interpreter and one thread each; more threads change the last bits of results.
THREADS = [
    f"{library}_NUM_THREADS"
    for library in ["OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB_MAXIMUM", "NUMEXPR"]
]
# With this variable each job would compile its imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ |= dict.fromkeys(THREADS, "1") | {
    "MPLBACKEND": "Agg",
    "NUMBA_CACHE_DIR": str(ROOT / ".cache/numba"),
}
PAPERS = map(str, config.get("papers", []))
planned_run.search_first("PYTHONPATH", list_code_folders(PAPERS))
planned_run.search_first("PATH", [str(Path(sys.executable).parent)])
# Repeated on the command line of a job with several cores, because Snakemake sets the variables to its `threads`.
ONE_THREAD = " ".join(f"{variable}=1" for variable in THREADS)
# One name for the whole run: a host that one download found unreachable is not tried again by the next.
NOISYLABELS_RUN = os.environ.setdefault("NOISYLABELS_RUN", f"{os.getpid()}-{BEGAN}")


def as_number(text):
    """A whole number that arrived as text; anything else unchanged."""
    return int(text) if re.fullmatch("[0-9]{1,18}", str(text)) else text


# On the command line, numbers and the words true and false inside braces arrive as texts.
if isinstance(config.get("only"), dict):
    config["only"] = {key: as_number(value) for key, value in config["only"].items()}
if isinstance(config.get("data"), dict):
    offline = config["data"].get("offline")
    if offline in ("true", "false"):
        config["data"]["offline"] = offline == "true"

CONFIG_FILES = [ROOT / "config/config.yaml", *workflow.overwrite_configfiles]
try:
    if workflow.is_main_process:
        # `./run` hands its targets over, because Snakemake does not know them yet.
        RUN = planned_run.plan_run(ROOT, config, CONFIG_FILES, early_check.TARGETS)
        PLAN, WHY = RUN.plan, RUN.decisions
        currency.write_keys(RUN.steps, WHY)
        code_digest.save()
    else:
        PLAN = plan.of_run(ROOT, config, CONFIG_FILES)
        # Empty in jobs, which must not change the keys.
        WHY = currency.Decisions()
except (ValueError, OSError) as error:
    # One line; Snakemake's own error would add lines about its rules.
    sys.exit(str(error))
console.PLAN = PLAN
console.WHY = WHY
SCALE = PLAN.config["scale"]
RESULTS, FIGURES, LOGS = PLAN.results, PLAN.figures, f"logs/{PLAN.folder}"
# `onstart` writes what the page of the run needs of the plan, so that no job has to make a plan.
PAGE_RECORD = f"{LOGS}/{run_page.RECORD}"


wildcard_constraints:
    artifact="[^/]+/[^/]+",
    cell="[^/]+",
    block="[0-9]+",
    dataset="[A-Za-z0-9_+][A-Za-z0-9._+-]*",


def settled(files):
    """Inputs that no clock makes newer, unless this run makes them again: records decide, not times.

    files: paths with wildcards, or a function of the wildcards.
    """

    def inputs(wildcards):
        found = files(wildcards) if callable(files) else files
        found = expand(found, **wildcards, allow_missing=True)
        forced = workflow.dag_settings.forcerun or workflow.dag_settings.forceall
        return [
            file if forced or WHY.follows(file) else ancient(file) for file in found
        ]

    return inputs


def in_report(file, caption, category):
    """An output that `snakemake --report` shows, with a caption of `workflow/report`."""
    return report(
        file, caption=f"{ROOT}/workflow/report/{caption}.rst", category=category
    )


def shown_in_report(name):
    """The files of a figure or table; `snakemake --report` shows the first, with the caption of its artifact."""
    artifact = PLAN.artifact(name)
    caption = Path(LOGS, name, "caption.rst")
    if "--report" in sys.argv:
        caption.parent.mkdir(parents=True, exist_ok=True)
        text = artifact.content["caption"]
        caption.write_text(f"{{% raw %}}{text}{{% endraw %}}\n", encoding="utf-8")
    first, *others = PLAN.drawings(name)
    labels = {"result": artifact.name, "title": artifact.content["title"]}
    shown = report(
        first, caption=caption.absolute(), category=artifact.paper, labels=labels
    )
    return [shown, *others]


def import_classes_of_user(targets):
    """Import classes of the user's at the earliest when a run starts: a dry run imports none."""
    try:
        for paper, why in PLAN.find_unusable(PLAN.find_scopes(targets)).items():
            tell(f"will fail: {paper}: {why}")
    except ValueError as error:
        sys.exit(str(error))


def stop_timers(scheduler):
    """Take away the timers, one more with every job, that would wake the scheduler all through a run."""
    scheduler.job_rate_limiter = None


def compute_small_jobs_together(due):
    """Let small experiments of a paper, each one job, share a process and its imports."""
    numbers = {
        job.wildcards.artifact: workflow.dag.jobid(job)
        for job in due
        if job.rule.name == "experiment" and job.threads == 1
    }
    words = {name: PLAN.words(name) for name in numbers}
    folder = compute_ahead.offer(Path(LOGS, "ahead"), words)
    for name, number in numbers.items():
        console.AHEAD[folder / name / compute_ahead.PLACES["record"]] = number


def tell(*lines):
    """Say something to a person, in order with what the console shows, and in the log."""
    logger.info("\n".join(lines), extra=console.TELL)


def show_page(write, *arguments):
    """Write the page of the run. A run goes on without it, as where the disk is full."""
    try:
        return write(*arguments)
    except OSError as error:
        tell(f"the page of the run cannot be written: {error}")


FIRST = 1_000_000  # priority of jobs for which others wait, above that of any long job


def longest_first(rule):
    """The priority of a job: its expected seconds, so that no long one is left for the end.

    At smoke scale, where one job computes others of its paper ahead, one of each paper comes before all others.
    """
    return lambda wildcards: round(PLAN.seconds(rule, dict(wildcards))) + (
        PLAN.lead(wildcards.artifact) if SCALE == "smoke" else 0
    )


def threads_of(wildcards):
    """A job that measures time gets all cores, so that nothing runs next to it, where its times are judged; it uses one."""
    alone = PLAN.artifact(wildcards.artifact).measured and SCALE != "smoke"
    return workflow.cores or 1 if alone else 1


def request_of_job(resource, job):
    """How much of a resource a job requests of a cluster; the second attempt requests twice as much."""

    def ask(wildcards, attempt):
        cell = getattr(wildcards, "cell", "")
        return PLAN.resources(wildcards.artifact, cell, job, attempt)[resource]

    return ask


REFUSALS = PLAN.refusals(ROOT / "src/papers")


def refuse(wildcards):
    """End the run with why a target cannot be made, or with the names that come near to it."""
    name, known = wildcards.unknown, ["all", "data", *PLAN.targets, *REFUSALS]
    sys.exit(REFUSALS.get(name) or plan.unknown_target(name, known))
