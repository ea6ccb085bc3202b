"""noisylabels: five papers on learning with noisy labels, from data to verdict.

config says what, data feeds it, experiments run it, results tabulate it, figures draw it, the report judges it.
"""

from snakemake.utils import min_version

min_version("9.0")


configfile: f"{workflow.basedir}/config/config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"


rule all:
    default_target: True
    input:
        everything(),
    message:
        "Done: figures in figures/{SCALE}, verdicts in results/{SCALE}/verdicts.html"


include: "workflow/rules/data.smk"
include: "workflow/rules/experiments.smk"
include: "workflow/rules/results.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/targets.smk"
