"""data feeds it: files from their sources, checked, then in one form."""


rule fetch:
    input:
        local_file,
    output:
        "data/raw/{dataset}/source.json",
    log:
        "logs/data/fetch.{dataset}.log",
    conda:
        ENVIRONMENT
    threads: 1
    params:
        entry=lambda wildcards: json.dumps(entry_of(wildcards), sort_keys=True),
        options=fetch_options,
    message:
        "Fetch the data set {wildcards.dataset}"
    shell:
        "python {SCRIPTS}/fetch.py --dataset {wildcards.dataset} --registry {REGISTRY}"
        " --out data/raw/{wildcards.dataset} {params.options:q} > {log}"


rule prepare:
    input:
        source="data/raw/{dataset}/source.json",
        library=lambda wildcards: library(
            "datasets.prepare", *loader_modules(wildcards)
        ),
    output:
        "data/prepared/{dataset}.npz",
    log:
        "logs/data/prepare.{dataset}.log",
    conda:
        ENVIRONMENT
    threads: 1
    message:
        "Prepare the data set {wildcards.dataset}"
    shell:
        "python {SCRIPTS}/prepare.py --raw data/raw/{wildcards.dataset} --out {output} > {log} 2>&1"
