"""the report judges it: verdicts of one artifact, of a paper, or of all."""


rule verdicts:
    input:
        tables=lambda wildcards: [
            f"{RESULTS}/{name}/table.csv" for name in PLAN.judged(wildcards.scope)
        ],
        points=lambda wildcards: [
            f"{RESULTS}/{name}/points.npz" for name in PLAN.judged(wildcards.scope)
        ],
        printed=lambda wildcards: plan.printed_values(
            PLAN.judged(wildcards.scope).values()
        ),
        data=lambda wildcards: PLAN.printed_data(wildcards.scope),
    output:
        csv=f"{RESULTS}/{{scope}}verdicts.csv",
        estimates=f"{RESULTS}/{{scope}}estimates.csv",
        agreement=f"{RESULTS}/{{scope}}agreement.csv",
    log:
        f"{LOGS}/{{scope}}verdicts.log",
    wildcard_constraints:
        scope="([^/]+/){0,2}",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        packages=NUMERIC,
        code=code_digest.stamped("scripts/verdicts.py"),
        files=lambda wildcards: plan.paths(
            artifact.file for artifact in PLAN.judged(wildcards.scope).values()
        ),
        expected=lambda wildcards: PLAN.expectations(wildcards.scope),
    message:
        "Judge {wildcards.scope} against what was published and claimed"
    shell:
        "python {SCRIPTS:q}/verdicts.py --artifacts {params.files:q} --tables {input.tables:q}"
        " --data {input.data:q} --scale {SCALE:q} --csv {output.csv:q} --estimates {output.estimates:q} --agreement {output.agreement:q} > {log:q} 2>&1"
