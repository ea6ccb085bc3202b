"""Names to ask for: `data`, each paper, and each artifact as <paper>_<artifact>."""


rule data:
    input:
        PLAN.prepared(PLAN.data_sets()),
    localrule: True
    message:
        "All data sets are in data/prepared; with data.offline=true the rest needs no network"


for target, scope in PLAN.targets.items():

    rule:
        name:
            target
        input:
            PLAN.promised(scope),
        localrule: True
        message:
            f"Done: {target}"


rule unknown:
    input:
        refuse,
    output:
        "{unknown}",
    wildcard_constraints:
        unknown="[A-Za-z0-9_-]+",
    localrule: True
    message:
        "Not possible: {wildcards.unknown}"
