"""Names to ask for: `data`, each paper, and each artifact as <paper>_<artifact>."""


rule data:
    input:
        PLAN.supply.prepared(PLAN.data_sets()),
    localrule: True
    message:
        "All data sets are in data/prepared; with data.offline=true the rest needs no network"


SCOPES = targets.scopes(PLAN)
REFUSALS = targets.refusals(PLAN, ROOT / "config/experiments")

for target, scope in SCOPES.items():

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
        lambda wildcards: targets.refuse(wildcards.unknown, SCOPES, REFUSALS),
    output:
        "{unknown}",
    wildcard_constraints:
        unknown="[A-Za-z0-9_-]+",
    localrule: True
    message:
        "Not possible: {wildcards.unknown}"
