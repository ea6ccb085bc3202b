"""results tabulate it: the blocks become one tidy table, with its provenance beside it."""


rule collect:
    input:
        parts=lambda wildcards: PLAN.parts(wildcards.artifact),
        tuned=lambda wildcards: PLAN.tuned(wildcards.artifact),
        data=lambda wildcards: PLAN.all_data(wildcards.artifact),
        library=plan.script("collect"),
    output:
        table=f"{RESULTS}/{{artifact}}/table.csv",
        provenance=f"{RESULTS}/{{artifact}}/provenance.json",
    log:
        f"{LOGS}/{{artifact}}/collect.log",
    wildcard_constraints:
        artifact=PLAN.experiments(single=False),
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=500,
        runtime=10,
    params:
        about=lambda wildcards: PLAN.about(wildcards.artifact),
    message:
        "Collect the results of {wildcards.artifact}"
    shell:
        "python {SCRIPTS:q}/collect.py --parts {input.parts:q} --tuned {input.tuned:q} --data {input.data:q}"
        " --about {params.about:q} --table {output.table:q} --provenance {output.provenance:q} > {log:q} 2>&1"
