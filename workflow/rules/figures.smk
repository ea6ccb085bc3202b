"""figures draw it: every artifact as a figure or as a table, from result tables only."""


rule figure:
    input:
        unpack(render_inputs),
    output:
        png=report(
            f"{FIGURES}/{{paper}}/{{artifact}}.png",
            caption="../report/artifact.rst",
            category=lambda wildcards: title(wildcards.paper),
            labels=lambda wildcards: {
                "what": of(wildcards).content["title"],
                "kind": "figure",
                "by": of(wildcards).content["origin"],
            },
        ),
        others=[
            f"{FIGURES}/{{paper}}/{{artifact}}.{suffix}"
            for suffix in config["formats"]
            if suffix != "png"
        ],
    log:
        f"{LOGS}/{{paper}}/{{artifact}}/figure.log",
    conda:
        ENVIRONMENT
    threads: 1
    params:
        render=lambda wildcards: of(wildcards).content["render"],
        names=lambda wildcards: drawn_tables(of(wildcards)),
        settings=render_settings,
        artifact=about,
        scale=SCALE,
    message:
        "Draw {wildcards.paper} {wildcards.artifact}"
    shell:
        "python {SCRIPTS}/figure.py --render {params.render} --artifact {wildcards.artifact} --settings {params.settings:q}"
        " --names {params.names} --tables {input.tables} --out {output} > {log} 2>&1"


rule table:
    input:
        unpack(render_inputs),
    output:
        csv=f"{FIGURES}/{{paper}}/{{artifact}}.csv",
        md=f"{FIGURES}/{{paper}}/{{artifact}}.md",
        tex=f"{FIGURES}/{{paper}}/{{artifact}}.tex",
        html=report(
            f"{FIGURES}/{{paper}}/{{artifact}}.html",
            caption="../report/artifact.rst",
            category=lambda wildcards: title(wildcards.paper),
            labels=lambda wildcards: {
                "what": of(wildcards).content["title"],
                "kind": "table",
                "by": of(wildcards).content["origin"],
            },
        ),
    log:
        f"{LOGS}/{{paper}}/{{artifact}}/table.log",
    conda:
        ENVIRONMENT
    threads: 1
    params:
        render=lambda wildcards: of(wildcards).content["render"],
        names=lambda wildcards: drawn_tables(of(wildcards)),
        settings=render_settings,
        artifact=about,
        scale=SCALE,
    message:
        "Write the table {wildcards.paper} {wildcards.artifact}"
    shell:
        "python {SCRIPTS}/table.py --render {params.render} --artifact {wildcards.artifact} --settings {params.settings:q}"
        " --names {params.names} --tables {input.tables} --out {output} > {log} 2>&1"
