"""experiments run it: a small one in one job; of a larger one, a job tunes each cell, then each block of repetitions is a job."""


rule experiment:
    input:
        data=lambda wildcards: PLAN.data(wildcards.artifact),
    output:
        table=f"{RESULTS}/{{artifact}}/table.csv",
        points=f"{RESULTS}/{{artifact}}/points.npz",
        provenance=f"{RESULTS}/{{artifact}}/provenance.json",
    log:
        f"{LOGS}/{{artifact}}/experiment.log",
    benchmark:
        f"{LOGS}/{{artifact}}/experiment.time.tsv"
    wildcard_constraints:
        artifact=PLAN.experiments(single=True),
    priority: longest_first("experiment")
    threads: threads_of
    resources:
        mem_mb=asked("mem_mb", "experiment"),
        runtime=asked("runtime", "experiment"),
    params:
        packages=NUMERIC,
        words=lambda wildcards: PLAN.words(wildcards.artifact),
        repetitions=lambda wildcards: PLAN.repetitions(wildcards.artifact),
        environment=ONE_THREAD,
    message:
        "Run {wildcards.artifact}, repetitions {params.repetitions}"
    shell:
        "env {params.environment} python -P -m scripts.job {params.words:q} > {log:q} 2>&1"


rule tune:
    input:
        data=lambda wildcards: PLAN.data(wildcards.artifact, wildcards.cell),
    output:
        f"{RESULTS}/{{artifact}}/cells/{{cell}}/tuned.json",
    log:
        f"{LOGS}/{{artifact}}/{{cell}}.tune.log",
    benchmark:
        f"{LOGS}/{{artifact}}/{{cell}}.tune.time.tsv"
    priority: FIRST
    resources:
        mem_mb=asked("mem_mb", "tune"),
        runtime=asked("runtime", "tune"),
    params:
        packages=NUMERIC,
        code=lambda wildcards: PLAN.code(wildcards.artifact, wildcards.cell),
        job=lambda wildcards: PLAN.job(wildcards.artifact, wildcards.cell),
    message:
        "Tune {wildcards.artifact} ({wildcards.cell}) on sequences kept apart from the evaluation"
    shell:
        "python -P -m scripts.job tune --code {params.code:q} --job {params.job:q} --data {input.data:q}"
        " --out {output:q} > {log:q} 2>&1"


rule run:
    input:
        data=lambda wildcards: PLAN.data(wildcards.artifact, wildcards.cell),
        tuned=lambda wildcards: PLAN.tuned(wildcards.artifact, [wildcards.cell]),
    output:
        table=f"{RESULTS}/{{artifact}}/cells/{{cell}}/{{block}}.csv",
        points=f"{RESULTS}/{{artifact}}/cells/{{cell}}/{{block}}.points.npz",
    log:
        f"{LOGS}/{{artifact}}/{{cell}}.{{block}}.log",
    benchmark:
        f"{LOGS}/{{artifact}}/{{cell}}.{{block}}.time.tsv"
    priority: longest_first("run")
    threads: threads_of
    resources:
        mem_mb=asked("mem_mb", "run"),
        runtime=asked("runtime", "run"),
    params:
        packages=NUMERIC,
        code=lambda wildcards: PLAN.code(wildcards.artifact, wildcards.cell),
        job=lambda wildcards: PLAN.job(wildcards.artifact, wildcards.cell),
        repetitions=lambda wildcards: PLAN.repetitions(
            wildcards.artifact, int(wildcards.block)
        ),
        environment=ONE_THREAD,
    message:
        "Run {wildcards.artifact} ({wildcards.cell}), repetitions {params.repetitions}"
    shell:
        "env {params.environment} python -P -m scripts.job run --code {params.code:q} --job {params.job:q}"
        " --repetitions {params.repetitions:q} --tuned {input.tuned:q} --data {input.data:q}"
        " --table {output.table:q} --points {output.points:q} > {log:q} 2>&1"
