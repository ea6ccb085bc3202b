"""results tabulate it: the blocks become one tidy table, with what was tested point by point and the provenance beside it.

Repetitions with other root seeds become a table of what differs between them.
"""


rule collect:
    input:
        parts=lambda wildcards: PLAN.parts(wildcards.artifact),
        tested=lambda wildcards: PLAN.parts(wildcards.artifact, "points.npz"),
        tuned=lambda wildcards: PLAN.tuned(wildcards.artifact),
        data=lambda wildcards: PLAN.all_data(wildcards.artifact),
    output:
        table=f"{RESULTS}/{{artifact}}/table.csv",
        points=f"{RESULTS}/{{artifact}}/points.npz",
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
        code=code_digest.stamped("scripts/collect.py"),
        about=lambda wildcards: PLAN.about(wildcards.artifact),
    message:
        "Collect the results of {wildcards.artifact}"
    shell:
        "python {SCRIPTS:q}/collect.py --parts {input.parts:q} --tested {input.tested:q} --tuned {input.tuned:q}"
        " --data {input.data:q} --about {params.about:q} --table {output.table:q} --points {output.points:q}"
        " --provenance {output.provenance:q} > {log:q} 2>&1"


rule seeds:
    input:
        tables=lambda wildcards: PLAN.replica_tables(wildcards.artifact),
        printed=lambda wildcards: plan.printed_values(
            [PLAN.artifact(wildcards.artifact)]
        ),
    output:
        spread=f"{RESULTS}/{{artifact}}/seeds.csv",
        verdicts=f"{RESULTS}/{{artifact}}/seeds_verdicts.csv",
        html=f"{RESULTS}/{{artifact}}/seeds.html",
    log:
        f"{LOGS}/{{artifact}}/seeds.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        packages=NUMERIC,
        code=code_digest.stamped("scripts/seeds.py"),
        file=lambda wildcards: PLAN.artifact(wildcards.artifact).file,
        seeds=lambda wildcards: [
            PLAN.seed(name) for name in PLAN.replicas(wildcards.artifact)
        ],
        expected=lambda wildcards: PLAN.expectations(f"{wildcards.artifact}/"),
    message:
        "Compare {wildcards.artifact} over {params.seeds}"
    shell:
        "python {SCRIPTS:q}/seeds.py --artifact {params.file:q} --seeds {params.seeds} --tables {input.tables:q} --scale {SCALE:q}"
        " --spread {output.spread:q} --verdicts {output.verdicts:q} --html {output.html:q} > {log:q} 2>&1"
