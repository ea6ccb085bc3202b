"""figures draw it: every artifact as a figure or as a table, from result tables only."""

for kind in ("figure", "table"):

    rule:
        name:
            f"render_{kind}"
        input:
            tables=lambda wildcards: PLAN.tables(wildcards.artifact),
            printed=lambda wildcards: PLAN.printed_shown(wildcards.artifact),
            library=lambda wildcards: PLAN.drawing_code(wildcards.artifact),
        output:
            report(
                f"{FIGURES}/{{artifact}}.{PLAN.suffixes(kind)[0]}",
                caption="../report/artifact.rst",
                category=lambda wildcards: PLAN.title(wildcards.artifact),
                labels=lambda wildcards: PLAN.labels(wildcards.artifact),
            ),
            *[f"{FIGURES}/{{artifact}}.{suffix}" for suffix in PLAN.suffixes(kind)[1:]],
        log:
            f"{LOGS}/{{artifact}}/render_{kind}.log",
        conda:
            ENVIRONMENT
        threads: 1
        resources:
            mem_mb=1000,
            runtime=10,
        params:
            packages=DRAWING,
            render=lambda wildcards: PLAN.artifact(wildcards.artifact).content["render"],
            names=lambda wildcards: PLAN.drawn(wildcards.artifact),
            settings=lambda wildcards: PLAN.settings_shown(wildcards.artifact),
            artifact=lambda wildcards: PLAN.caption(wildcards.artifact),
            scale=SCALE,
        message:
            "Draw {wildcards.artifact}"
        shell:
            "{WARM} render.py --render {params.render:q} --artifact {wildcards.artifact:q} --settings {params.settings:q}"
            " --names {params.names:q} --tables {input.tables:q} --out {output:q} > {log:q} 2>&1"
