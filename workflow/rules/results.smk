"""results tabulate it: the blocks become one tidy table, with the points tested and its record next to it."""


rule collect:
    input:
        key=f".cache/keys/{RESULTS}/{{artifact}}/record.json",
        parts=settled(lambda wildcards: PLAN.parts(wildcards.artifact)),
        tested=settled(lambda wildcards: PLAN.parts(wildcards.artifact, "points.npz")),
        tuned=settled(lambda wildcards: PLAN.tuned(wildcards.artifact)),
        data=settled(lambda wildcards: PLAN.data(wildcards.artifact)),
    output:
        table=f"{RESULTS}/{{artifact}}/table.csv",
        points=f"{RESULTS}/{{artifact}}/points.npz",
        record=f"{RESULTS}/{{artifact}}/record.json",
    log:
        f"{LOGS}/{{artifact}}/collect.log",
    wildcard_constraints:
        artifact=PLAN.experiments(single=False),
    localrule: True
    message:
        "Collect the results of {wildcards.artifact}"
    shell:
        "python -P -m scripts.job collect --key {input.key:q} --record {output.record:q} --parts {input.parts:q}"
        " --tested {input.tested:q} --tuned {input.tuned:q} --data {input.data:q}"
        " --table {output.table:q} --points {output.points:q} > {log:q} 2>&1"
