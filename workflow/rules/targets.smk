"""Names to ask for: `data`, each paper, and each artifact as <paper>_<artifact>."""


localrules:
    all,
    data,


rule data:
    input:
        [f"data/prepared/{dataset}.npz" for dataset in all_datasets()],
    message:
        "All data sets are in data/prepared; with data.offline=true the rest needs no network"


for paper in config["papers"]:

    rule:
        name:
            paper
        input:
            [
                file
                for artifact in ARTIFACTS.values()
                if artifact.paper == paper
                for file in outputs(artifact)
            ],
        localrule: True
        message:
            f"Done: {paper}"


for (paper, name), artifact in ARTIFACTS.items():

    rule:
        name:
            f"{paper}_{name}"
        input:
            outputs_and_verdict(artifact),
        localrule: True
        message:
            f"Done: {paper} {name}"
