"""noisylabels: five papers on learning with noisy labels, from data to verdict.

config says what, data feeds it, experiments run it, results tabulate it, figures draw it, the report judges it, the site shows it.
"""

from snakemake.utils import min_version

min_version("9.0")


configfile: f"{workflow.basedir}/config/config.yaml"


include: "workflow/rules/common.smk"


onstart:
    code_digest.save()
    # TERM stops a run as Ctrl-C does: it ends the jobs, where Snakemake would wait for them.
    signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGINT))
    if workflow.local_exec:
        # Its timers, one more with every job, would wake the scheduler all through a run.
        workflow.scheduler.job_rate_limiter = None
    # Classes of the user's are imported here at the earliest: a dry run imports none.
    try:
        PLAN.check_custom(PLAN.asked(workflow.dag_settings.targets))
    except ValueError as error:
        sys.exit(str(error))
    if SCALE == "smoke" and workflow.local_exec:
        waiting = [
            job.wildcards.artifact
            for job in workflow.dag.needrun_jobs()
            if job.rule.name == "experiment" and job.threads == 1
        ]
        together.offer(
            Path(LOGS, "together"), {name: PLAN.words(name) for name in waiting}
        )
    console.SECONDS |= {
        workflow.dag.jobid(job): PLAN.seconds(job.rule.name, job.wildcards_dict)
        for job in workflow.dag.needrun_jobs()
    }


onsuccess:
    tell(console.summary(PLAN, workflow.dag_settings.targets))


onerror:
    stopped = os.environ.get("NOISYLABELS_STOPPED") == NOISYLABELS_RUN
    tell(
        console.summary(
            PLAN, workflow.dag_settings.targets, failed=True, stopped=stopped
        )
    )
    if not stopped:
        tell(*console.causes(Path("logs"), BEGAN))
    if damaged := results.damaged():
        tell(
            f"a package of the environment is damaged: {damaged}; remove {sys.prefix} and start ./run again"
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
include: "workflow/rules/verdicts.smk"
include: "workflow/rules/site.smk"
include: "workflow/rules/targets.smk"
