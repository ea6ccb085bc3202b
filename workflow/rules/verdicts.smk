"""the report judges it: verdicts of one artifact, of a paper, or of all."""


rule verdicts:
    input:
        tables=lambda wildcards: PLAN.judged_files(wildcards.scope, "table.csv"),
        points=lambda wildcards: PLAN.judged_files(wildcards.scope, "points.npz"),
        data=lambda wildcards: PLAN.published_data(wildcards.scope),
    output:
        csv=f"{RESULTS}/{{scope}}verdicts.csv",
        agreement=f"{RESULTS}/{{scope}}agreement.csv",
    log:
        f"{LOGS}/{{scope}}verdicts.log",
    wildcard_constraints:
        scope="([^/]+/){0,2}",
    localrule: True
    params:
        packages=NUMERIC,
        code=code_digest.stamped("scripts/verdicts.py"),
        expected=lambda wildcards: PLAN.expectations(wildcards.scope),
        files=lambda wildcards: [
            os.path.relpath(artifact.file)
            for artifact in PLAN.judged(wildcards.scope).values()
        ],
        scale=SCALE,
    message:
        "Judge {wildcards.scope} against what was published and claimed"
    shell:
        "python -P -m scripts.verdicts --artifacts {params.files:q} --tables {input.tables:q}"
        " --data {input.data:q} --scale {params.scale} --csv {output.csv:q}"
        " --agreement {output.agreement:q} > {log:q} 2>&1"
