"""the report judges it: all verdicts in one table, the first page of `snakemake --report`."""


rule verdict_table:
    input:
        verdicts=[
            f"{RESULTS}/{a.paper}/{a.name}/verdicts.csv" for a in verdict_artifacts()
        ],
        library=library("verdicts"),
    output:
        csv=f"{RESULTS}/verdicts.csv",
        html=report(
            f"{RESULTS}/verdicts.html",
            caption="../report/verdicts.rst",
            category=" Verdicts",
            labels={
                "what": "Every claim and every published value",
                "kind": "table",
                "by": "all papers",
            },
        ),
    log:
        f"{LOGS}/verdict_table.log",
    conda:
        ENVIRONMENT
    threads: 1
    params:
        names=[f"{a.paper}/{a.name}" for a in verdict_artifacts()],
    message:
        "Put all verdicts into one table"
    shell:
        "python src/scripts/verdict_table.py --inputs {input.verdicts} --names {params.names}"
        " --csv {output.csv} --html {output.html} > {log} 2>&1"
