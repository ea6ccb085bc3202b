"""results tabulate it: the blocks become one tidy table, with the points tested and the provenance beside it.

Repetitions with other root seeds become a table of what differs between them.
"""


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


rule seeds:
    input:
        tables=lambda wildcards: [
            f"{RESULTS}/{name}/table.csv" for name in PLAN.replicas(wildcards.artifact)
        ],
    output:
        spread=f"{RESULTS}/{{artifact}}/seeds.csv",
        verdicts=f"{RESULTS}/{{artifact}}/seeds_verdicts.csv",
        html=f"{RESULTS}/{{artifact}}/seeds.html",
    log:
        f"{LOGS}/{{artifact}}/seeds.log",
    localrule: True
    params:
        packages=NUMERIC,
        code=code_digest.stamped("scripts/verdicts.py"),
        expected=lambda wildcards: PLAN.expectations(f"{wildcards.artifact}/"),
        file=lambda wildcards: os.path.relpath(PLAN.artifact(wildcards.artifact).file),
        scale=SCALE,
        seeds=lambda wildcards: [
            PLAN.seed(name) for name in PLAN.replicas(wildcards.artifact)
        ],
    message:
        "Compare {wildcards.artifact} over {params.seeds}"
    shell:
        "python -P -m scripts.verdicts --artifacts {params.file:q} --seeds {params.seeds} --tables {input.tables:q} --scale {params.scale}"
        " --spread {output.spread:q} --csv {output.verdicts:q} --html {output.html:q} > {log:q} 2>&1"
