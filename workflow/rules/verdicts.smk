"""the report judges it: verdicts of one artifact or of a paper."""


rule verdicts:
    input:
        key=f".cache/keys/{RESULTS}/{{scope}}verdicts.record.json",
        tables=settled(
            lambda wildcards: PLAN.judged_files(wildcards.scope, "table.csv")
        ),
        points=settled(
            lambda wildcards: PLAN.judged_files(wildcards.scope, "points.npz")
        ),
        data=settled(lambda wildcards: PLAN.published_data(wildcards.scope)),
    output:
        csv=in_report(f"{RESULTS}/{{scope}}verdicts.csv", "verdicts", "verdicts"),
        agreement=f"{RESULTS}/{{scope}}agreement.csv",
        record=f"{RESULTS}/{{scope}}verdicts.record.json",
    log:
        f"{LOGS}/{{scope}}verdicts.log",
    wildcard_constraints:
        scope="([^/]+/){1,2}",
    localrule: True
    message:
        "Judge {wildcards.scope} against what was published and claimed"
    shell:
        "python -P -m scripts.verdicts --key {input.key:q} --record {output.record:q} --tables {input.tables:q} --data {input.data:q} --scale {SCALE}"
        " --csv {output.csv:q} --agreement {output.agreement:q} > {log:q} 2>&1"
