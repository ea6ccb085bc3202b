"""experiments run it: a small one in one job; of a larger one, a job tunes each cell, then each block of repetitions is a job."""


rule experiment:
    input:
        key=f".cache/keys/{RESULTS}/{{artifact}}/record.json",
        data=settled(lambda wildcards: PLAN.data(wildcards.artifact)),
    output:
        table=f"{RESULTS}/{{artifact}}/table.csv",
        points=f"{RESULTS}/{{artifact}}/points.npz",
        record=f"{RESULTS}/{{artifact}}/record.json",
    log:
        f"{LOGS}/{{artifact}}/experiment.log",
    benchmark:
        f"{LOGS}/{{artifact}}/experiment.time.tsv"
    wildcard_constraints:
        artifact=PLAN.experiments(single=True),
    priority: longest_first("experiment")
    threads: threads_of
    resources:
        mem_mb=request_of_job("mem_mb", "experiment"),
        runtime=request_of_job("runtime", "experiment"),
    params:
        environment=ONE_THREAD,
    message:
        "Run {wildcards.artifact}"
    shell:
        "env {params.environment} python -P -m scripts.job experiment --key {input.key:q} --record {output.record:q}"
        " --table {output.table:q} --points {output.points:q} --data {input.data:q} > {log:q} 2>&1"


rule tune:
    input:
        key=f".cache/keys/{RESULTS}/{{artifact}}/cells/{{cell}}/tuned.record.json",
        data=settled(lambda wildcards: PLAN.data(wildcards.artifact, wildcards.cell)),
    output:
        tuned=f"{RESULTS}/{{artifact}}/cells/{{cell}}/tuned.json",
        record=f"{RESULTS}/{{artifact}}/cells/{{cell}}/tuned.record.json",
    log:
        f"{LOGS}/{{artifact}}/{{cell}}.tune.log",
    benchmark:
        f"{LOGS}/{{artifact}}/{{cell}}.tune.time.tsv"
    priority: FIRST
    resources:
        mem_mb=request_of_job("mem_mb", "tune"),
        runtime=request_of_job("runtime", "tune"),
    message:
        "Tune {wildcards.artifact} ({wildcards.cell}) on sequences kept apart from the evaluation"
    shell:
        "python -P -m scripts.job tune --key {input.key:q} --record {output.record:q} --data {input.data:q}"
        " --out {output.tuned:q} > {log:q} 2>&1"


rule run:
    input:
        key=f".cache/keys/{RESULTS}/{{artifact}}/cells/{{cell}}/{{block}}.record.json",
        data=settled(lambda wildcards: PLAN.data(wildcards.artifact, wildcards.cell)),
        tuned=settled(
            lambda wildcards: PLAN.tuned(wildcards.artifact, [wildcards.cell])
        ),
    output:
        table=f"{RESULTS}/{{artifact}}/cells/{{cell}}/{{block}}.csv",
        points=f"{RESULTS}/{{artifact}}/cells/{{cell}}/{{block}}.points.npz",
        record=f"{RESULTS}/{{artifact}}/cells/{{cell}}/{{block}}.record.json",
    log:
        f"{LOGS}/{{artifact}}/{{cell}}.{{block}}.log",
    benchmark:
        f"{LOGS}/{{artifact}}/{{cell}}.{{block}}.time.tsv"
    priority: longest_first("run")
    threads: threads_of
    resources:
        mem_mb=request_of_job("mem_mb", "run"),
        runtime=request_of_job("runtime", "run"),
    params:
        environment=ONE_THREAD,
    message:
        "Run {wildcards.artifact} ({wildcards.cell}), block {wildcards.block}"
    shell:
        "env {params.environment} python -P -m scripts.job run --key {input.key:q} --record {output.record:q}"
        " --table {output.table:q} --points {output.points:q} --data {input.data:q} --tuned {input.tuned:q} > {log:q} 2>&1"
