"""noisylabels: five papers on learning with noisy labels, from data to verdict.

config says what, data feeds it, experiments run it, results tabulate it, figures draw it, the report judges it, the site shows it.
"""

from snakemake.utils import min_version

min_version("9.0")


configfile: f"{workflow.basedir}/config/config.yaml"


include: "workflow/rules/common.smk"


onstart:
    code_digest.save()
    # Classes of the user's are imported here at the earliest: a dry run imports none.
    try:
        PLAN.check_custom(targets.asked(PLAN, workflow.dag_settings.targets))
    except ValueError as error:
        sys.exit(str(error))


onsuccess:
    print(run_summary.text(PLAN, workflow.dag_settings.targets), file=sys.stderr)


onerror:
    print(
        run_summary.text(PLAN, workflow.dag_settings.targets, failed=True),
        *run_summary.causes(Path("logs"), BEGAN),
        sep="\n",
        file=sys.stderr,
    )
    if damaged := results.damaged():
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
include: "workflow/rules/verdicts.smk"
include: "workflow/rules/site.smk"
include: "workflow/rules/targets.smk"
