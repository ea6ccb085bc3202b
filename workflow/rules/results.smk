"""results tabulate it: the blocks become one tidy table, with the points tested and the provenance beside it."""


rule collect:
    input:
        parts=lambda wildcards: PLAN.parts(wildcards.artifact),
        tested=lambda wildcards: PLAN.parts(wildcards.artifact, "points.npz"),
        tuned=lambda wildcards: PLAN.tuned(wildcards.artifact),
        data=lambda wildcards: PLAN.data(wildcards.artifact),
    output:
        table=f"{RESULTS}/{{artifact}}/table.csv",
        points=f"{RESULTS}/{{artifact}}/points.npz",
        provenance=f"{RESULTS}/{{artifact}}/provenance.json",
    log:
        f"{LOGS}/{{artifact}}/collect.log",
    wildcard_constraints:
        artifact=PLAN.experiments(single=False),
    localrule: True
    params:
        code=code_digest.stamped("scripts/job.py"),
        about=lambda wildcards: PLAN.about(wildcards.artifact),
    message:
        "Collect the results of {wildcards.artifact}"
    shell:
        "python -P -m scripts.job collect --parts {input.parts:q} --tested {input.tested:q} --tuned {input.tuned:q}"
        " --data {input.data:q} --about {params.about:q} --table {output.table:q} --points {output.points:q}"
        " --provenance {output.provenance:q} > {log:q} 2>&1"
