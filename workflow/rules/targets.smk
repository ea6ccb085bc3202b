"""Names to ask for: `data`, each paper, and each artifact as <paper>_<artifact>."""


# Under the profile of a cluster these run beside Snakemake: they take seconds, a queue takes minutes, and `fetch`
# needs a network. Without a cluster all rules do.
localrules:
    all,
    data,
    fetch,
    prepare,
    collect,
    seeds,
    verdicts,
    site,


rule data:
    input:
        [f"data/prepared/{dataset}.npz" for dataset in PLAN.data_sets()],
    message:
        "All data sets are in data/prepared; with data.offline=true the rest needs no network"


SCOPES, REFUSALS = targets.scopes(PLAN), targets.refusals(PLAN, EXPERIMENTS)

for target, scope in SCOPES.items():

    rule:
        name:
            target
        input:
            PLAN.promised(scope),
        localrule: True
        message:
            f"Done: {target}"


def refused(reason):
    """Input of a target that cannot be made: asking for it, and only that, is an error."""

    def refuse(wildcards):
        sys.exit(reason)

    return refuse


for target, reason in REFUSALS.items():

    rule:
        name:
            target
        input:
            refused(reason),
        localrule: True
        message:
            f"Not possible: {target}"


def no_target(wildcards):
    """Input of a name that nothing has: an error with the nearest names."""
    sys.exit(targets.unknown(wildcards.unknown, ["all", "data", *SCOPES, *REFUSALS]))


rule unknown:
    input:
        no_target,
    output:
        "{unknown}",
    wildcard_constraints:
        unknown="[A-Za-z0-9_-]+",
    localrule: True
    message:
        "Not possible: {wildcards.unknown}"
