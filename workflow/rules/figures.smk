"""figures draw it: from result tables only, all of a paper in one job, as loading takes longer than drawing."""

for scope, names in PLAN.drawn_together(sys.argv).items():

    rule:
        name:
            "_".join(["draw", *Path(scope).parts])
        input:
            key=[f".cache/keys/{FIGURES}/{name}.record.json" for name in names],
            tables=settled(
                sorted(
                    {table for name in names for table in PLAN.drawn(name).values()}
                )
            ),
        output:
            [file for name in names for file in shown_in_report(name)],
            records=[f"{FIGURES}/{name}.record.json" for name in names],
        log:
            f"{LOGS}/{scope}/draw.log",
        localrule: True
        message:
            f"Draw {scope}"
        shell:
            "python -P -m scripts.draw --keys {input.key:q} --records {output.records:q} > {log:q} 2>&1"
