"""data feeds it: files from their sources, checked, then in one form."""


rule fetch:
    input:
        local=lambda wildcards: PLAN.local(wildcards.dataset),
    output:
        "data/raw/{dataset}/source.json",
    log:
        "logs/data/fetch.{dataset}.log",
    priority: FIRST
    localrule: True
    params:
        entry=lambda wildcards: PLAN.entry(wildcards.dataset).model_dump_json(),
        options=lambda wildcards: PLAN.fetch_options(wildcards.dataset),
        registry=lambda wildcards: os.path.relpath(PLAN.entry(wildcards.dataset).file),
        record=VERSION,
    message:
        "Fetch the data set {wildcards.dataset}"
    shell:
        "python -P -m scripts.fetch --dataset {wildcards.dataset:q} --registry {params.registry:q}"
        " --out data/raw/{wildcards.dataset:q} {params.options:q} > {log:q}"


rule prepare:
    input:
        "data/raw/{dataset}/source.json",
    output:
        "data/prepared/{dataset}.npz",
    log:
        "logs/data/prepare.{dataset}.log",
    priority: FIRST
    localrule: True
    params:
        packages=NUMERIC,
        code=lambda wildcards: PLAN.reading_code(wildcards.dataset),
    message:
        "Prepare the data set {wildcards.dataset}"
    shell:
        "python -P -m scripts.prepare --code {params.code:q}"
        " --raw data/raw/{wildcards.dataset:q} --out {output:q} > {log:q} 2>&1"
