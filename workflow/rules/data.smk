"""data feeds it: files from their sources, checked, then in one form."""


rule fetch:
    input:
        local=lambda wildcards: PLAN.supply.local(wildcards.dataset),
    output:
        "data/raw/{dataset}/source.json",
    log:
        "logs/data/fetch.{dataset}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=500,
        runtime=60,
    params:
        entry=lambda wildcards: PLAN.supply.entry(wildcards.dataset).model_dump_json(),
        options=lambda wildcards: PLAN.supply.fetch_options(wildcards.dataset),
        record=fetching.VERSION,
    message:
        "Fetch the data set {wildcards.dataset}"
    shell:
        "python {SCRIPTS:q}/fetch.py --dataset {wildcards.dataset:q} --registry {REGISTRY:q}"
        " --out data/raw/{wildcards.dataset:q} {params.options:q} > {log:q}"


rule prepare:
    input:
        "data/raw/{dataset}/source.json",
    output:
        "data/prepared/{dataset}.npz",
    log:
        "logs/data/prepare.{dataset}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        packages=NUMERIC,
        code=lambda wildcards: PLAN.supply.code(wildcards.dataset),
    message:
        "Prepare the data set {wildcards.dataset}"
    shell:
        "python {SCRIPTS:q}/prepare.py --code {params.code:q} --raw data/raw/{wildcards.dataset:q} --out {output:q} > {log:q} 2>&1"
