"""data feeds it: files from their sources, checked, then in one form."""


rule fetch:
    input:
        # The key has the digest of a user's file, whose time may be ahead of this machine's clock.
        key=".cache/keys/data/raw/{dataset}/record.json",
    output:
        "data/raw/{dataset}/source.json",
        record="data/raw/{dataset}/record.json",
    log:
        "logs/data/fetch.{dataset}.log",
    priority: FIRST
    localrule: True
    message:
        "Fetch the data set {wildcards.dataset}"
    shell:
        "python -P -m scripts.fetch --key {input.key:q} --dataset {wildcards.dataset:q}"
        " --out data/raw/{wildcards.dataset:q} > {log:q}"


rule prepare:
    input:
        key=".cache/keys/data/prepared/{dataset}.record.json",
        raw=settled("data/raw/{dataset}/source.json"),
    output:
        data="data/prepared/{dataset}.npz",
        record="data/prepared/{dataset}.record.json",
    log:
        "logs/data/prepare.{dataset}.log",
    priority: FIRST
    localrule: True
    message:
        "Prepare the data set {wildcards.dataset}"
    shell:
        "python -P -m scripts.prepare --key {input.key:q} --raw data/raw/{wildcards.dataset:q}"
        " --out {output.data:q} --record {output.record:q} > {log:q} 2>&1"
