"""Names to ask for: `data`, each paper, and each artifact as <paper>_<artifact>."""


localrules:
    all,
    data,


rule data:
    input:
        [f"data/prepared/{dataset}.npz" for dataset in PLAN.data_sets()],
    message:
        "All data sets are in data/prepared; with data.offline=true the rest needs no network"


for target, scope in targets.scopes(PLAN).items():

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
        raise WorkflowError(reason)

    return refuse


for target, reason in targets.refusals(PLAN, EXPERIMENTS).items():

    rule:
        name:
            target
        input:
            refused(reason),
        localrule: True
        message:
            f"Not possible: {target}"
