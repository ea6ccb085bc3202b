"""figures draw it: from result tables only, all of a paper in one job, as loading takes longer than drawing."""

for scope, names in PLAN.drawn_together(sys.argv).items():

    rule:
        name:
            "_".join(["draw", *Path(scope).parts])
        input:
            sorted({table for name in names for table in PLAN.drawn(name).values()}),
        output:
            [file for name in names for file in PLAN.drawings(name)],
        log:
            f"{LOGS}/{scope}/draw.log",
        localrule: True
        params:
            packages=DRAWING,
            code=PLAN.drawing_code(names),
            shown=PLAN.shown_digest(names),
            names=names,
            paper=PLAN.listed_as(scope.partition("/")[0]),
            config=DRAWN,
        message:
            f"Draw {scope}"
        shell:
            "python -P -m scripts.draw --code {params.code:q} --paper {params.paper:q} --config {params.config:q} {params.names:q} > {log:q} 2>&1"
