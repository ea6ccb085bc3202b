"""noisylabels: five papers on learning with noisy labels, from data to verdict.

config says what, data feeds it, experiments run it, results tabulate it, figures draw it, the report judges it, the site shows it.
"""

from snakemake.utils import min_version

min_version("9.0")


configfile: f"{workflow.basedir}/config/config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"


# A lock that a killed run left behind is no lock: see frame/owner.py.
if workflow.is_main_process:
    OWNED = owner.claim(Path(".snakemake"))
STARTED = []


onstart:
    if workflow.local_exec:
        STARTED.append(warm.start(SCRIPTS / "warm.py"))
        # Snakemake limits the jobs per second, and to that end every finished job leaves one more timer that wakes the
        # scheduler each second until the run ends: 40 % of a core after 60 jobs. Jobs on this machine need no such limit.
        workflow.scheduler.job_rate_limiter = None


onsuccess:
    print(summary.text(PLAN, workflow.dag_settings.targets), file=sys.stderr)


onerror:
    print(
        summary.text(PLAN, workflow.dag_settings.targets, failed=True),
        file=sys.stderr,
    )
    why = summary.causes(Path("logs"), BEGAN)
    for line in why + scheduler_log.ended(
        scheduler_log.FOLDER, BEGAN, PLAN.artifacts
    ):
        print(line, file=sys.stderr)
    if damaged := packages.damaged():
        print(
            f"a package of the environment is damaged: {damaged}; remove {sys.prefix} and start ./run again",
            file=sys.stderr,
        )


rule all:
    default_target: True
    input:
        PLAN.promised(""),
        f"site/{SCALE}/index.html",
    message:
        "Done: figures in figures/{SCALE}, pages in site/{SCALE}/index.html"


include: "workflow/rules/data.smk"
include: "workflow/rules/experiments.smk"
include: "workflow/rules/results.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/site.smk"
include: "workflow/rules/targets.smk"
