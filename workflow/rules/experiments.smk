"""experiments run it: one job tunes a cell, then each block of repetitions is a job of its own."""


rule tune:
    input:
        unpack(cell_inputs),
    output:
        f"{RESULTS}/{{paper}}/{{artifact}}/cells/{{cell}}/tuned.json",
    log:
        f"{LOGS}/{{paper}}/{{artifact}}/{{cell}}.tune.log",
    benchmark:
        f"{LOGS}/{{paper}}/{{artifact}}/{{cell}}.tune.time.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    params:
        job=job,
    message:
        "Tune {wildcards.paper} {wildcards.artifact} ({wildcards.cell}) on sequences kept apart from the evaluation"
    shell:
        "python {SCRIPTS}/tune.py --job {params.job:q} --data {input.data} --out {output} > {log} 2>&1"


rule run:
    input:
        unpack(run_inputs),
    output:
        f"{RESULTS}/{{paper}}/{{artifact}}/cells/{{cell}}/{{block,[0-9]+}}.csv",
    log:
        f"{LOGS}/{{paper}}/{{artifact}}/{{cell}}.{{block}}.log",
    benchmark:
        f"{LOGS}/{{paper}}/{{artifact}}/{{cell}}.{{block}}.time.tsv"
    conda:
        ENVIRONMENT
    threads: threads_of
    params:
        job=job,
        repetitions=block,
        tuned=lambda wildcards, input: (
            ["--tuned", input.tuned] if hasattr(input, "tuned") else []
        ),
    message:
        "Run {wildcards.paper} {wildcards.artifact} ({wildcards.cell}), repetitions {params.repetitions}"
    shell:
        "{ONE_THREAD} python {SCRIPTS}/run.py --job {params.job:q} --repetitions {params.repetitions} {params.tuned}"
        " --data {input.data} --out {output} > {log} 2>&1"
